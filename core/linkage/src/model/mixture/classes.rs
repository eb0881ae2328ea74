//! The classes of pairs that agree in some fields and are no matches.

use super::Shares;

/// A class of pairs. The first class of a fit is that of the matches.
#[derive(Clone, Debug)]
pub struct ClassFit {
    /// The fields that agree by chance only, as bits.
    pub chance: u32,
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

/// Most personal fields whose subsets have classes of their own.
const MOST_PERSONAL: usize = 5;

/// The sets of fields that agree by chance in each class, as bits. Families and twins differ in what is personal. Where
/// nothing is known to be personal, they are pairs that differ in what tells most, and agree in the rest.
///
/// `personal`: numbers of fields. `information`, `filled`: of each field, in bits and as a share of the records.
pub fn class_sets(personal: &[usize], information: &[f64], filled: &[f64]) -> Vec<u32> {
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
        return sets;
    }
    let mut most_telling = personal.to_vec();
    most_telling.sort_by(|&a, &b| information[b].total_cmp(&information[a]).then(a.cmp(&b)));
    most_telling.truncate(MOST_PERSONAL);
    let all = bits(personal);
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
    sets.retain(|&set| set != all);
    sets.extend([all, all]);
    for set in subsets {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::class_sets;

    #[test]
    fn sets_of_persons_and_of_others() {
        let (information, filled) = ([9.0, 8.0, 3.0, 9.5], [1.0; 4]);
        assert_eq!(
            class_sets(&[0, 3], &information, &filled),
            [0b1011, 0b1001, 0b1001]
        );
        assert_eq!(
            class_sets(&[0, 1, 3], &information, &filled),
            [0b1011, 0b1011, 0b0011, 0b1001, 0b1010]
        );
        assert_eq!(
            class_sets(&[], &information, &filled),
            [0b1011, 0b1010, 0b1001, 0b0011]
        );
        assert_eq!(
            class_sets(&[2], &information, &filled),
            [0b1011, 0b0100, 0b0100]
        );
    }
}
