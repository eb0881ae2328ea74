//! Keys: what records have in common that a search brings together. The records of a block have one key.
//!
//! A key is a number of 64 bits, a hash: two blocks of a search have the same in a case of 2^64. It depends on nothing
//! but the values and the search.

use signature::mix;

use super::values::sketch::{part, parts_at_once, Sketch, PARTS};
use super::{FieldModel, MatchModel, Search};

/// Version of how a record's keys follow from a model and its values. Registers store keys, so another way is another version.
pub const VERSION: u8 = 1;

/// What gives the keys of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchKeys {
    /// Values that are equal.
    Equal(EqualKeys),
    /// Values that are similar.
    Similar(SimilarKeys),
}

/// The keys of records that are equal in some fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualKeys {
    /// Whose identities they are made of, in this order.
    pub fields: Vec<usize>,
    of: Together,
}

/// Which of the identities go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Together {
    /// All, each of its field.
    All,
    /// All, whichever field each is of.
    InAnyOrder,
    /// The first or the second one, whichever field it is of, and all others.
    EitherOfTwo,
}

/// The keys of records that are similar in one field or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarKeys {
    /// Whose sketches they are made of, ascending: one or two.
    pub fields: Vec<usize>,
    /// Parts of a sketch that have to be the same.
    at_once: usize,
    /// Whether the values may have changed places.
    in_any_order: bool,
}

/// What gives the keys of some searches of a model.
#[derive(Clone, Debug)]
pub struct RecordKeys {
    /// The searches, each with its number in the model.
    pub searches: Vec<(usize, SearchKeys)>,
    /// The fields whose sketches they need.
    pub sketched: Vec<usize>,
}

impl RecordKeys {
    /// Of the searches of these numbers. Scans have no keys.
    pub fn new(model: &MatchModel, numbers: impl IntoIterator<Item = usize>) -> RecordKeys {
        let keys = |number: usize| {
            let search = &model.searches[number].search;
            search.keys(model.swap).map(|keys| (number, keys))
        };
        let searches: Vec<_> = numbers.into_iter().filter_map(keys).collect();
        let sketched = |field: &usize| {
            searches.iter().any(|(_, keys)| match keys {
                SearchKeys::Similar(keys) => keys.fields.contains(field),
                SearchKeys::Equal(_) => false,
            })
        };
        RecordKeys {
            sketched: (0..model.fields.len()).filter(sketched).collect(),
            searches,
        }
    }
}

impl Search {
    /// What its keys are made of; `None` of a scan. `swap`: two fields whose values may have changed places.
    pub fn keys(&self, swap: Option<[usize; 2]>) -> Option<SearchKeys> {
        let are_swapped =
            |fields: &[usize]| swap.is_some_and(|[a, b]| fields == [a.min(b), a.max(b)]);
        Some(match self {
            Search::Scan { .. } => return None,
            Search::Equal { fields, .. } => SearchKeys::Equal(EqualKeys {
                fields: fields.clone(),
                of: match are_swapped(fields) {
                    true => Together::InAnyOrder,
                    false => Together::All,
                },
            }),
            Search::Crosswise { fields, .. } => SearchKeys::Equal(EqualKeys {
                fields: swap?.into_iter().chain(fields.iter().copied()).collect(),
                of: Together::EitherOfTwo,
            }),
            Search::Similar { fields, least, .. } => SearchKeys::Similar(SimilarKeys {
                fields: fields.clone(),
                at_once: parts_at_once(*least),
                in_any_order: are_swapped(fields),
            }),
        })
    }
}

/// Bits of a stored key that are the number of its search.
const SEARCH: u64 = 63;

/// How many numbers stored keys may have.
pub const NUMBERS: usize = SEARCH as usize + 1;

const _: () = assert!(super::MOST_SEARCHES as u64 <= SEARCH + 1);

/// A key as it is kept beside those of other searches, with the number of its search.
pub fn stored_key(search: usize, key: u64) -> u64 {
    key & !SEARCH | search as u64 & SEARCH
}

/// The number of the search that a stored key is of.
pub fn search_of(stored: u64) -> usize {
    (stored & SEARCH) as usize
}

/// Whether the searches of these numbers, each in its model, give every record the same keys, in blocks of the same size.
pub fn are_same(a: (&MatchModel, usize), b: (&MatchModel, usize)) -> bool {
    let [of_a, of_b] = [a, b].map(|(model, number)| &model.searches[number].search);
    let keys = |search: &Search, model: &MatchModel| search.keys(model.swap);
    let (Some(keys_a), Some(keys_b)) = (keys(of_a, a.0), keys(of_b, b.0)) else {
        return false;
    };
    // The numbers of fields are of one model each.
    let field_in_a = |&field: &usize| {
        let field = &b.0.fields[field];
        let is_it = |other: &FieldModel| {
            let [layout, of_other] = [&field.layout, &other.layout];
            field.name == other.name
                && layout.kind() == of_other.kind()
                && layout.reading() == of_other.reading()
        };
        a.0.fields.iter().position(is_it)
    };
    let fields = |fields: &[usize]| {
        fields
            .iter()
            .map(field_in_a)
            .collect::<Option<Vec<usize>>>()
    };
    let in_a = match keys_b {
        SearchKeys::Equal(keys) => {
            fields(&keys.fields).map(|fields| SearchKeys::Equal(EqualKeys { fields, ..keys }))
        }
        SearchKeys::Similar(keys) => {
            fields(&keys.fields).map(|fields| SearchKeys::Similar(SimilarKeys { fields, ..keys }))
        }
    };
    of_a.most() == of_b.most() && in_a == Some(keys_a)
}

/// What the identities of several values come to.
pub fn together(identities: &[u64]) -> u64 {
    identities
        .iter()
        .fold(0, |all, identity| mix(all ^ identity))
}

impl EqualKeys {
    /// Gives the keys of a record to `each`: none, one or two. `identities`: those of its values in [`EqualKeys::fields`],
    /// 0 where there is none. They are no more what they were afterwards.
    #[inline]
    pub fn each(&self, identities: &mut [u64], mut each: impl FnMut(u64)) {
        if let Together::EitherOfTwo = self.of {
            if let &mut [first, second, ref others @ ..] = identities {
                if others.contains(&0) {
                    return;
                }
                let others = together(others);
                if first != 0 {
                    each(mix(others ^ first));
                }
                if second != 0 && second != first {
                    each(mix(others ^ second));
                }
            }
            return;
        }
        if let Together::InAnyOrder = self.of {
            identities.sort_unstable();
        }
        if !identities.contains(&0) {
            each(together(identities));
        }
    }
}

impl SimilarKeys {
    /// How many keys a record has, at the most.
    pub const MOST: usize = PARTS;

    /// The key of this number, by the part of that number: of two fields that part of both, and another part of both where
    /// two have to be the same at once; of a single field three parts. `None` if a value is missing. `sketches`: those of
    /// [`SimilarKeys::fields`].
    #[inline]
    pub fn key(&self, sketches: &[Sketch], number: usize) -> Option<u64> {
        let at = |sketch: Sketch, number: usize| u64::from(part(sketch, number % PARTS));
        // values that have the first part in common need not have the second one, so these two go together
        let of = |sketch: Sketch| match self.at_once {
            1 => at(sketch, number),
            _ => at(sketch, number) << 16 | at(sketch, number + 3),
        };
        let [a, b] = match *sketches {
            [one] => [of(one), at(one, number + 1) << 16 | at(one, number + 3)],
            [first, second, ..] => {
                let [a, b] = [of(first), of(second)];
                match self.in_any_order && a > b {
                    true => [b, a],
                    false => [a, b],
                }
            }
            [] => return None,
        };
        (a != 0 && b != 0).then(|| mix(mix(a << 32 | b) ^ number as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::people;
    use super::super::values::{FieldLayout, Kind};
    use super::*;

    #[test]
    fn searches_are_the_same_wherever_they_stand() {
        let a = people();
        let n = a.searches.len();
        let same = |b: &MatchModel| -> Vec<(usize, usize)> {
            let all = (0..n).flat_map(|i| (0..b.searches.len()).map(move |j| (i, j)));
            all.filter(|&(i, j)| are_same((&a, i), (b, j))).collect()
        };
        let itself = same(&a);
        assert!(!itself.is_empty() && itself.iter().all(|(i, j)| i == j));
        let mut turned = a.clone();
        turned.searches.reverse();
        assert_eq!(same(&turned).len(), itself.len());
        assert!(same(&turned).iter().all(|(i, j)| i + j == n - 1));
        let mut larger = a.clone();
        for planned in &mut larger.searches {
            if let Search::Equal { most, .. } | Search::Similar { most, .. } = &mut planned.search {
                *most += 1;
            }
        }
        assert_eq!(same(&larger), []);
        let mut others = a.clone();
        for field in &mut others.fields {
            field.layout = FieldLayout::new(Kind::Code, 8).unwrap();
        }
        assert_eq!(same(&others), []);
        let mut renamed = a.clone();
        renamed
            .fields
            .iter_mut()
            .for_each(|field| field.name.push('x'));
        assert_eq!(same(&renamed), []);
    }
}
