//! A model made ready for single records, and for pairs of them.

use std::cell::RefCell;
use std::rc::Rc;

use super::keys::{RecordKeys, SearchKeys, SimilarKeys};
use super::seen_values::SeenValues;
use super::values::sketch::Sketch;
use super::values::{Depth, FieldLayout, ReadValue, RowLayout, EQUAL, SWAPPED, UNLIKE_LEVELS};
use super::{FieldModel, FrequentLevels, MatchModel, Pattern};
use base::{Error, Result};

/// A model made ready for single records, and for pairs of them.
pub struct ReadyModel {
    model: Rc<MatchModel>,
    layout: RowLayout,
    levels: FrequentLevels,
    seen: RefCell<SeenValues>,
}

/// A record that is ready to be compared.
#[derive(Clone, Debug, Default)]
pub struct ReadyRecord {
    /// The texts of all fields, and where each ends.
    texts: String,
    ends: Vec<usize>,
    /// The words of each value, as far as they are written.
    row: Vec<u64>,
    depths: Vec<Depth>,
}

impl ReadyRecord {
    fn text(&self, k: usize) -> &str {
        let begin = k.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[begin..self.ends[k]]
    }
}

impl ReadyModel {
    /// Of a model.
    pub fn new(model: MatchModel) -> ReadyModel {
        ReadyModel {
            seen: RefCell::new(SeenValues::new(model.fields.len())),
            layout: model.layout(),
            levels: FrequentLevels::new(&model),
            model: Rc::new(model),
        }
    }

    /// The model.
    pub fn model(&self) -> &Rc<MatchModel> {
        &self.model
    }

    /// How the values of a field are compared.
    pub fn layout(&self, field: usize) -> &FieldLayout {
        &self.layout.fields()[field]
    }

    /// The values of a record.
    fn read<'t, T: AsRef<str>>(&self, record: &'t [Option<T>]) -> Result<Vec<ReadValue<'t>>> {
        let fields = self.model.fields.iter().zip(record);
        let text = |text: &'t Option<T>| text.as_ref().map_or("", T::as_ref);
        let read = |(field, value): (&FieldModel, &'t Option<T>)| {
            let read = field.layout.read_value(text(value));
            read.map_err(|error| field.value_error(error))
        };
        fields.map(read).collect()
    }

    /// Takes the values of a record, which has a text or nothing for every field. Where those of `beside`, with which it will
    /// be compared, are written otherwise, more of them is looked at than whether they are equal.
    ///
    /// Errors: out of memory.
    pub fn prepare<T: AsRef<str>>(
        &self,
        record: &mut ReadyRecord,
        texts: &[Option<T>],
        beside: Option<&ReadyRecord>,
    ) -> Result<()> {
        let layout = &self.layout;
        record.texts.clear();
        record.ends.clear();
        record.row.clear();
        record.row.resize(layout.words(), 0);
        record.depths.clear();
        let seen = &mut *self.seen.borrow_mut();
        for (k, field) in layout.fields().iter().enumerate() {
            let text = texts[k].as_ref().map_or("", T::as_ref);
            record.texts.push_str(text);
            record.ends.push(record.texts.len());
            let (words, depth) = match beside.map(|beside| (beside, beside.text(k))) {
                _ if text.is_empty() => (&[][..], Depth::Whole),
                Some((beside, of_it)) if of_it == text => {
                    (layout.value(&beside.row, k), beside.depths[k])
                }
                // It will hardly be equal if it is written otherwise.
                Some((_, of_it)) if !of_it.is_empty() => {
                    let words = seen.words((k, field), &self.levels, text, Depth::Own);
                    words.map_err(|error| self.model.fields[k].value_error(error))?
                }
                _ => {
                    let words = seen.words((k, field), &self.levels, text, Depth::Identity);
                    words.map_err(|error| self.model.fields[k].value_error(error))?
                }
            };
            if !words.is_empty() {
                layout.value_mut(&mut record.row, k).copy_from_slice(words);
            }
            record.depths.push(depth);
        }
        Ok(())
    }

    /// The levels of two records. Only where two values differ more of them is looked at than whether they are equal.
    ///
    /// Errors: out of memory.
    pub fn compare(&self, a: &mut ReadyRecord, b: &mut ReadyRecord) -> Result<Pattern> {
        let layout = &self.layout;
        let identity =
            |record: &ReadyRecord, k: usize| FieldLayout::identity_of(layout.value(&record.row, k));
        let are_equal = |&k: &usize| {
            let of_a = identity(a, k);
            of_a != 0 && of_a == identity(b, k)
        };
        // Names that are not equal where they stand may be so crosswise.
        let crosswise = layout.swap().filter(|names| !names.iter().any(are_equal));
        for (k, field) in layout.fields().iter().enumerate() {
            let [of_a, of_b] = [identity(a, k), identity(b, k)];
            let is_crosswise = crosswise.is_some_and(|names| names.contains(&k));
            let differ = of_a != 0 && of_b != 0 && of_a != of_b;
            if !differ && !is_crosswise {
                continue;
            }
            self.deepen(a, k, Depth::Own)?;
            self.deepen(b, k, Depth::Own)?;
            let [value_a, value_b] = [&a.row, &b.row].map(|row| layout.value(row, k));
            if is_crosswise || field.depth_to_compare(value_a, value_b) == Depth::Whole {
                self.deepen(a, k, Depth::Whole)?;
                self.deepen(b, k, Depth::Whole)?;
            }
        }
        Ok(layout.pattern(&a.row, &b.row))
    }

    /// Has a value of a record be written so far at least.
    ///
    /// Errors: out of memory.
    fn deepen(&self, record: &mut ReadyRecord, k: usize, depth: Depth) -> Result<()> {
        if record.depths[k] >= depth {
            return Ok(());
        }
        let seen = &mut *self.seen.borrow_mut();
        let field = (k, &self.layout.fields()[k]);
        let (words, depth) = seen.words(field, &self.levels, record.text(k), depth)?;
        let value = self.layout.value_mut(&mut record.row, k);
        value.copy_from_slice(words);
        record.depths[k] = depth;
        Ok(())
    }

    /// The levels of two records, of which each has a text or nothing for every field.
    ///
    /// Errors: out of memory.
    pub fn pattern<T: AsRef<str>>(&self, a: &[Option<T>], b: &[Option<T>]) -> Result<Pattern> {
        let mut records = [ReadyRecord::default(), ReadyRecord::default()];
        let [of_a, of_b] = &mut records;
        self.prepare(of_a, a, None)?;
        self.prepare(of_b, b, Some(of_a))?;
        self.compare(of_a, of_b)
    }

    /// Frees what is kept of values that were seen.
    pub fn forget_values(&self) {
        *self.seen.borrow_mut() = SeenValues::new(self.layout.fields().len());
    }

    /// The most bytes that values which were seen take.
    pub fn bytes_of_values(&self) -> usize {
        SeenValues::most_bytes(&self.layout)
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

    /// In which fields two records agree and differ, in words.
    pub fn agreement(&self, pattern: Pattern) -> String {
        let parts = [
            ("equal in ", 0..EQUAL),
            ("similar in ", EQUAL..UNLIKE_LEVELS.start),
            ("different in ", UNLIKE_LEVELS),
            ("changed places in ", SWAPPED..SWAPPED + 1),
        ];
        let named = parts.iter().filter_map(|(what, levels)| {
            let fields = self.model.fields.iter().enumerate();
            let of_part = fields.filter(|(k, _)| levels.contains(&pattern.level(*k)));
            let names: Vec<&str> = of_part.map(|(_, field)| field.name.as_str()).collect();
            (!names.is_empty()).then(|| format!("{what}{}", names.join(", ")))
        });
        named.collect::<Vec<_>>().join("; ")
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
    use crate::model::values::{Kind, Reading};
    use crate::model::FieldModel;
    use proptest::prelude::*;

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

    /// Fields of every kind, as they are and with readings. The first two are names that may have changed places.
    fn of_all_kinds() -> MatchModel {
        let mut model = people();
        let of = [
            (Kind::Name, Some("double_metaphone")),
            (Kind::Name, Some("double_metaphone")),
            (Kind::Text, None),
            (Kind::Text, Some("mailbox")),
            (Kind::Date, None),
            (Kind::Date, Some("DD.MM.YYYY")),
            (Kind::Day, None),
            (Kind::Phone, None),
            (Kind::Phone, Some("DE")),
            (Kind::Number, None),
            (Kind::Number, Some("amount")),
            (Kind::Email, None),
            (Kind::Code, None),
        ];
        let field = |(kind, reading): (Kind, Option<&str>)| {
            let reading = reading.map(|name| Reading::of_name(kind, name).unwrap());
            let layout = FieldLayout::new(kind, 12).unwrap().with_reading(reading);
            FieldModel {
                frequent: vec![(layout.normal("1990-01-02").unwrap(), 0.05)],
                layout,
                ..model.fields[0].clone()
            }
        };
        model.fields = of.map(field).into();
        model.swap = Some([0, 1]);
        model
    }

    fn text() -> impl Strategy<Value = String> {
        const ALL: [&str; 24] = [
            "",
            " ",
            "--",
            "anna",
            "ANNA ",
            "anan",
            "berger",
            "bergr",
            "Müller",
            "mueller",
            "1990-01-02",
            "19900102",
            "02.01.1990",
            "1990-02-01",
            "31.02.1990",
            "infinity",
            "unknown",
            "030/1234567",
            "+49 30 1234567",
            "1234",
            "10.0",
            "EUR 10,00",
            "a.b@x.example",
            "A.B+z@gmail.com",
        ];
        let known = || prop::sample::select(ALL.to_vec());
        prop_oneof![
            6 => known().prop_map(str::to_owned),
            1 => (known(), known()).prop_map(|(a, b)| a.to_owned() + b),
            1 => (known(), 100..200usize).prop_map(|(a, n)| a.to_owned() + &"x".repeat(n)),
            1 => "[0-9a-z@.é -]{0,12}",
        ]
    }

    proptest! {
        /// Each step has a new record on one side; what is left of those before makes no difference.
        #[test]
        fn levels_are_those_of_whole_rows(
            steps in prop::collection::vec(
                (0..2usize, any::<bool>(), prop::collection::vec(prop::option::of(text()), 13), any::<u16>()),
                1..30,
            )
        ) {
            let model = of_all_kinds();
            let (layout, levels) = (model.layout(), FrequentLevels::new(&model));
            let ready = ReadyModel::new(model);
            let whole = |texts: &[Option<String>]| {
                let mut row = vec![0; layout.words()];
                for (k, text) in texts.iter().enumerate() {
                    let text = text.as_deref().unwrap_or_default();
                    let value = layout.write(&mut row, k, text, &mut Vec::new()).unwrap();
                    layout.set_level(&mut row, k, levels.level(k, value.identity));
                }
                row
            };
            let mut texts = [vec![None; 13], vec![None; 13]];
            let mut records = [ReadyRecord::default(), ReadyRecord::default()];
            for (record, texts) in records.iter_mut().zip(&texts) {
                ready.prepare(record, texts, None).unwrap();
            }
            for (side, is_beside, mut new, same) in steps {
                // Some values are those of the other record, and some names are those of its other name.
                for k in (0..13).filter(|k| same >> k & 1 != 0) {
                    new[k].clone_from(&texts[1 - side][if k < 2 && same >> 13 != 0 { 1 - k } else { k }]);
                }
                texts[side] = new;
                let [a, b] = &mut records;
                let (this, other) = if side == 0 { (a, b) } else { (b, a) };
                ready.prepare(this, &texts[side], is_beside.then_some(&*other)).unwrap();
                let [x, y] = [&texts[0], &texts[1]].map(|texts| whole(texts));
                let batch = layout.pattern(&x, &y);
                prop_assert_eq!(layout.pattern(&y, &x), batch);
                prop_assert_eq!(ready.compare(this, other).unwrap(), batch, "{:?}", texts);
            }
        }
    }
}
