//! The levels of equal values, for many records at once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::fitted::{FieldModel, MatchModel};
use super::values::{equal_level, FieldLayout};

/// Identities are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, identity: u64) {
        self.0 = identity;
    }
}

type Levels = HashMap<u64, u8, BuildHasherDefault<AsItIs>>;

/// The levels that equal values of a model's fields have, found by their identity.
#[derive(Clone, Debug)]
pub struct FrequentLevels {
    /// For each field the level of a value that is not frequent, and those of the others.
    fields: Vec<(u8, Levels)>,
}

impl FrequentLevels {
    /// Of a model's fields.
    pub fn new(model: &MatchModel) -> FrequentLevels {
        FrequentLevels::of_fields(&model.fields)
    }

    /// Of fields that may not be part of a model yet.
    pub fn of_fields(fields: &[FieldModel]) -> FrequentLevels {
        let fields = fields.iter().map(|field| {
            let level = |(normal, share): &(String, f64)| {
                let identity = FieldLayout::identity(normal);
                (identity, equal_level(*share).max(field.rare_level))
            };
            let levels = field.frequent.iter().map(level).collect();
            (field.rare_level, levels)
        });
        FrequentLevels {
            fields: fields.collect(),
        }
    }

    /// The level that two values of this identity have, for [`FieldLayout::set_level`]. Where there is no value, it has
    /// no meaning.
    ///
    /// Panics: the model has no such field.
    #[inline]
    pub fn level(&self, field: usize, identity: u64) -> u8 {
        let (rare, frequent) = &self.fields[field];
        frequent.get(&identity).copied().unwrap_or(*rare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests;

    #[test]
    fn frequent_values_have_their_levels() {
        let mut model = tests::people();
        model.fields[0].rare_level = 1;
        model.fields[0].frequent = [("anna", 0.01), ("erika", 0.002), ("otto", 1e-5)]
            .map(|(value, share)| (value.to_owned(), share))
            .into();
        model.fields[1].rare_level = 0;
        model.fields[1].frequent.clear();
        let levels = FrequentLevels::new(&model);
        let level = |field: usize, value: &str| {
            let normal = model.fields[field].layout.normal(value).unwrap();
            levels.level(field, FieldLayout::identity(&normal))
        };
        let of = ["Anna", "ÉRIKA", "Otto", "Kunigunde", ""].map(|value| level(0, value));
        assert_eq!(of, [3, 2, 1, 1, 1]);
        assert_eq!(level(1, "Anna"), 0);
    }

    #[test]
    fn what_was_not_seen_counts_like_the_rarest_that_was() {
        let mut model = tests::people();
        (model.records, model.all_pairs) = (1000.0, 499_500.0);
        model.classes[0].pairs_per_record = 0.1;
        for (level, share) in [1e-9, 1e-9, 0.5, 0.2].into_iter().enumerate() {
            model.classes[0].shares[0][level] = share;
            model.fields[0].u[level] = share / 1e6;
        }
        model.fields[0].rare_level = 0;
        let others: Vec<u8> = model.fields[1..].iter().map(|f| f.rare_level).collect();
        model.settle_rare_levels();
        assert_eq!(model.fields[0].rare_level, 2);
        let all = model.fields[1..].iter().map(|f| f.rare_level);
        assert!(all.zip(others).all(|(now, before)| now >= before));
    }
}
