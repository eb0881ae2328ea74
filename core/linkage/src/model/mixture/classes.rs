//! The classes of pairs that agree in some fields and are no matches.

use super::Shares;
use crate::model::pattern::Pattern;

/// How the shares of a class are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// By itself: in `chance` as random pairs have them, in the others as its own pairs have them.
    Plain,
    /// Two people of one household: they differ in all that is personal, and agree in the rest. Relatives resemble each
    /// other in what is personal, too, an e-mail address by the surname for one; so these shares are learned from pairs
    /// that are two people for sure, and not taken from random pairs.
    Family,
    /// Two people of one household who agree in some of what is personal, such as twins in their birthday. In everything
    /// else its shares are those of the family.
    Household,
}

/// What makes a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSet {
    /// The fields in which its pairs agree by chance only, or as relatives do, as bits.
    pub chance: u32,
    /// How its shares are learned.
    pub kind: ClassKind,
}

impl ClassSet {
    fn plain(chance: u32) -> ClassSet {
        let kind = ClassKind::Plain;
        ClassSet { chance, kind }
    }
}

/// A class of pairs. The first class of a fit is that of the matches.
#[derive(Clone, Debug)]
pub struct ClassFit {
    /// What makes it.
    pub set: ClassSet,
    /// Expected pairs.
    pub pairs: f64,
    /// The share of each level, for every field.
    pub shares: Vec<Shares>,
}

impl ClassFit {
    /// The expected pairs, and the share of each level, field by field.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.pairs).chain(self.shares.iter().flatten().copied())
    }
}

/// Logarithms of a class of pairs.
pub struct ClassLogs {
    /// Of the expected pairs.
    pairs: f64,
    /// Of the share of each level, for every field.
    shares: Vec<Shares>,
}

impl ClassLogs {
    /// Of so many pairs.
    pub fn new(pairs: f64, shares: &[Shares]) -> ClassLogs {
        let logs = |shares: &Shares| shares.map(|share| share.max(1e-12).ln());
        ClassLogs {
            pairs: pairs.max(1e-9).ln(),
            shares: shares.iter().map(logs).collect(),
        }
    }

    /// Logarithm of the pairs of a pattern that are expected if the fields are independent.
    pub fn log(&self, pattern: Pattern) -> f64 {
        let shares = self.shares.iter().enumerate();
        self.pairs + shares.map(|(k, logs)| logs[pattern.level(k)]).sum::<f64>()
    }
}

/// Most personal fields whose subsets have classes of their own.
const MOST_PERSONAL: usize = 5;

/// The sets of fields that agree by chance in each class, as bits. Families and twins differ in what is personal. Where
/// nothing is known to be personal, they are pairs that differ in what tells most, and agree in the rest. Where several
/// fields are personal, households have classes of their own besides.
///
/// `personal`: numbers of fields. `information`, `filled`: of each field, in bits and as a share of the records.
/// `compounds`: each field whose values hold those of others, with these, as bits. Strangers may agree in them.
pub fn class_sets(
    personal: &[usize],
    information: &[f64],
    filled: &[f64],
    compounds: &[u32],
) -> Vec<ClassSet> {
    let fields = 0..information.len();
    let half_filled = || fields.clone().filter(|&k| filled[k] >= 0.5);
    let greatest = half_filled().map(|k| information[k]).fold(0.0, f64::max);
    let telling: Vec<usize> = half_filled()
        .filter(|&k| information[k] >= greatest / 2.0)
        .collect();
    let bits = |fields: &[usize]| fields.iter().fold(0u32, |set, &k| set | 1 << k);
    let mut sets = Vec::new();
    if telling.len() >= 2 && telling.len() < information.len() {
        sets.push(bits(&telling));
    }
    if personal.is_empty() {
        for left_out in &telling {
            let rest: Vec<usize> = telling.iter().copied().filter(|k| k != left_out).collect();
            if rest.len() > 1 {
                sets.push(bits(&rest));
            }
        }
        // each set once
        let mut once: Vec<u32> = Vec::new();
        sets.retain(|set| {
            !once.contains(set) && {
                once.push(*set);
                true
            }
        });
        return sets.into_iter().map(ClassSet::plain).collect();
    }
    let mut most_telling = personal.to_vec();
    most_telling.sort_by(|&a, &b| information[b].total_cmp(&information[a]).then(a.cmp(&b)));
    most_telling.truncate(MOST_PERSONAL);
    let all = bits(personal);
    sets.retain(|&set| set != all);
    if personal.len() < 2 {
        // two begin apart
        sets.extend([all, all]);
        return sets.into_iter().map(ClassSet::plain).collect();
    }
    // Beside a class of families a second one of the same fields ends in a worse optimum, and so does one that is plain
    // and has the fields of a household: it takes the families that live in streets of common names.
    sets.push(all);
    let every = bits(&(0..information.len()).collect::<Vec<usize>>());
    for strangers in compounds.iter().map(|compound| every & !compound) {
        let differs_much = strangers & all != 0 && strangers.count_ones() >= 2;
        if differs_much && !sets.contains(&strangers) {
            sets.push(strangers);
        }
    }
    let mut subsets: Vec<u32> = (1u32..1 << most_telling.len())
        .map(|chosen| {
            let of = most_telling
                .iter()
                .enumerate()
                .filter(|&(i, _)| chosen >> i & 1 == 1);
            of.fold(0u32, |set, (_, &k)| set | 1 << k)
        })
        .filter(|&set| set != all && set.count_ones() >= 2)
        .collect();
    subsets.sort_by_key(|set| (set.count_ones(), *set));
    let of = |kind| move |chance| ClassSet { chance, kind };
    let plain = sets.into_iter().map(ClassSet::plain);
    let families = std::iter::once(all).map(of(ClassKind::Family));
    let households = subsets.into_iter().map(of(ClassKind::Household));
    plain.chain(families).chain(households).collect()
}

#[cfg(test)]
mod tests {
    use super::{class_sets, ClassKind, ClassSet};

    #[test]
    fn sets_of_persons_and_of_others() {
        let of_compounds = |personal: &[usize], compounds: &[u32]| {
            let sets = class_sets(personal, &[9.0, 8.0, 3.0, 9.5], &[1.0; 4], compounds);
            let (plain, households) = sets.split_at(
                sets.iter()
                    .position(|set| set.kind != ClassKind::Plain)
                    .unwrap_or(sets.len()),
            );
            let bits = |sets: &[ClassSet]| sets.iter().map(|set| set.chance).collect::<Vec<_>>();
            (bits(plain), bits(households))
        };
        let sets_of = |personal: &[usize]| of_compounds(personal, &[]);
        assert_eq!(sets_of(&[0, 3]), (vec![0b1011, 0b1001], vec![0b1001]));
        // the last one holds the first one; one that holds all but one, or all that is personal, makes no class
        let strangers = of_compounds(&[0, 3], &[0b1001, 0b0111, 0b1101, 0b0110]);
        assert_eq!(strangers, (vec![0b1011, 0b1001], vec![0b1001]));
        let strangers = of_compounds(&[0, 3], &[0b0011]);
        assert_eq!(strangers, (vec![0b1011, 0b1001, 0b1100], vec![0b1001]));
        let households = vec![0b1011, 0b0011, 0b1001, 0b1010];
        assert_eq!(sets_of(&[0, 1, 3]), (vec![0b1011], households));
        assert_eq!(sets_of(&[]), (vec![0b1011, 0b1010, 0b1001, 0b0011], vec![]));
        assert_eq!(sets_of(&[2]), (vec![0b1011, 0b0100, 0b0100], vec![]));
    }
}
