//! A model made ready for single records, and for pairs of them.

use std::rc::Rc;

use super::keys::{RecordKeys, SearchKeys, SimilarKeys};
use super::values::sketch::Sketch;
use super::values::{ReadValue, RowLayout};
use super::{FrequentLevels, MatchModel, Pattern};
use base::{Error, Result};

/// A model made ready for single records, and for pairs of them.
pub struct ReadyModel {
    model: Rc<MatchModel>,
    layout: RowLayout,
    levels: FrequentLevels,
}

impl ReadyModel {
    /// Of a model.
    pub fn new(model: MatchModel) -> ReadyModel {
        ReadyModel {
            layout: model.layout(),
            levels: FrequentLevels::new(&model),
            model: Rc::new(model),
        }
    }

    /// The model.
    pub fn model(&self) -> &Rc<MatchModel> {
        &self.model
    }

    /// The values of a record.
    fn read<'t, T: AsRef<str>>(&self, record: &'t [Option<T>]) -> Result<Vec<ReadValue<'t>>> {
        let fields = self.layout.fields().iter().zip(record);
        let text = |text: &'t Option<T>| text.as_ref().map_or("", T::as_ref);
        fields
            .map(|(field, value)| field.read_value(text(value)))
            .collect()
    }

    /// The levels of two records, of which each has a text or nothing for every field. Only where two values differ more
    /// of them is looked at than whether they are equal.
    ///
    /// Errors: out of memory.
    pub fn pattern<T: AsRef<str>>(&self, a: &[Option<T>], b: &[Option<T>]) -> Result<Pattern> {
        let (a, b) = (self.read(a)?, self.read(b)?);
        let identities = |k: usize| (a[k].identity, b[k].identity);
        let are_equal = |&k: &usize| matches!(identities(k), (a, b) if a == b && a != 0);
        // Names that are not equal where they stand may be so crosswise.
        let crosswise = self
            .layout
            .swap()
            .filter(|names| !names.iter().any(are_equal));
        let mut bytes = Vec::new();
        let mut rows = [(); 2].map(|()| vec![0; self.layout.words()]);
        for k in 0..self.layout.fields().len() {
            let (of_a, of_b) = identities(k);
            let is_looked_at = of_a != 0 && of_b != 0 && of_a != of_b
                || crosswise.is_some_and(|names| names.contains(&k));
            for (row, value) in rows.iter_mut().zip([&a[k], &b[k]]) {
                match is_looked_at {
                    true => self.layout.write_read(row, k, value, &mut bytes)?,
                    false => self.layout.write_identity(row, k, value),
                }
                let level = self.levels.level(k, value.identity);
                self.layout.set_level(row, k, level);
            }
        }
        Ok(self.layout.pattern(&rows[0], &rows[1]))
    }

    /// Gives the keys of a record to `each`, with the number of their search in the model. The record has a text or nothing
    /// for every field. A search may give several, each once.
    ///
    /// Errors: out of memory.
    pub fn keys<T: AsRef<str>>(
        &self,
        of: &RecordKeys,
        record: &[Option<T>],
        mut each: impl FnMut(usize, u64),
    ) -> Result<()> {
        let values = self.read(record)?;
        let mut sketches = vec![Sketch::default(); values.len()];
        for &field in &of.sketched {
            sketches[field] = self.layout.fields()[field].sketch_of(&values[field])?;
        }
        let (mut identities, mut parts) = (Vec::new(), Vec::new());
        for (number, search) in &of.searches {
            match search {
                SearchKeys::Equal(keys) => {
                    identities.clear();
                    identities.extend(keys.fields.iter().map(|&field| values[field].identity));
                    keys.each(&mut identities, |key| each(*number, key));
                }
                SearchKeys::Similar(keys) => {
                    parts.clear();
                    parts.extend(keys.fields.iter().map(|&field| sketches[field]));
                    let all = (0..SimilarKeys::MOST).filter_map(|part| keys.key(&parts, part));
                    all.for_each(|key| each(*number, key));
                }
            }
        }
        Ok(())
    }

    /// Records that make so many pairs: of one table, or of two that grow alike. `None` stands for all pairs of the
    /// fit.
    ///
    /// Errors: less than one pair, infinitely many, none.
    pub fn records(&self, pairs: Option<f64>) -> Result<(f64, f64)> {
        let (records, all_pairs) = (self.model.records, self.model.all_pairs);
        let Some(pairs) = pairs else {
            return Ok((records, all_pairs));
        };
        if !(1.0..=1e36).contains(&pairs) {
            let message = format!("pairs = {} is out of range", base::error::number(pairs));
            return Err(Error::invalid(message)
                .detail("It is the number of all pairs of records, from 1 to 1e36."));
        }
        let records = match self.model.linkage {
            true => records * (pairs / all_pairs.max(1.0)).sqrt(),
            false => (1.0 + (1.0 + 8.0 * pairs).sqrt()) / 2.0,
        };
        Ok((records, pairs))
    }

    /// All pairs of so many records of one table.
    ///
    /// Errors: fewer than two.
    pub fn pairs_of(records: i64) -> Result<(f64, f64)> {
        if records < 2 {
            let message = format!("records = {records} is out of range");
            return Err(Error::invalid(message).detail("Two records or more make pairs."));
        }
        let n = records as f64;
        Ok((n, n * (n - 1.0) / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::people;

    #[test]
    fn records_follow_the_pairs() {
        let mut model = people();
        let records = |model: &MatchModel, pairs| ReadyModel::new(model.clone()).records(pairs);
        assert_eq!(records(&model, Some(4950.0)), Ok((100.0, 4950.0)));
        assert_eq!(records(&model, None), records(&model, Some(199_990_000.0)));
        model.linkage = true;
        (model.records, model.all_pairs) = (300.0, 20_000.0);
        assert_eq!(records(&model, Some(80_000.0)), Ok((600.0, 80_000.0)));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = records(&model, Some(bad)).unwrap_err();
            assert!(error.message().ends_with(" is out of range"));
        }
    }
}
