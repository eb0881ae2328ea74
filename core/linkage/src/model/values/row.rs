//! A record's fields, one behind the other.

use super::level::{EQUAL, LEVELS, MISSING, SWAPPED};
use super::{FieldLayout, Value};
use crate::model::{Pattern, MOST_FIELDS};
use base::Result;

/// How the fields of a record lie in memory.
#[derive(Clone, Debug)]
pub struct RowLayout {
    fields: Vec<FieldLayout>,
    /// Where each field begins, and where the last one ends, in words.
    at: Vec<usize>,
    /// Two fields of names that may have changed places.
    swap: Option<[usize; 2]>,
}

const _: () = assert!(
    LEVELS <= 16 && MOST_FIELDS * 4 <= 128,
    "a pattern has four bits for each level"
);

/// Names below this level are unlike enough to have changed places; those above it, crosswise, are alike enough.
const ALIKE: u8 = EQUAL as u8 + 2;

impl RowLayout {
    /// Rows of these fields.
    ///
    /// `swap`: two fields whose values may have changed places; they have one layout.
    pub fn new(fields: Vec<FieldLayout>, swap: Option<[usize; 2]>) -> RowLayout {
        let mut at = vec![0];
        for field in &fields {
            at.push(at[at.len() - 1] + field.words());
        }
        RowLayout { fields, at, swap }
    }

    /// The fields.
    pub fn fields(&self) -> &[FieldLayout] {
        &self.fields
    }

    /// Words of a row.
    pub fn words(&self) -> usize {
        self.at[self.fields.len()]
    }

    fn range(&self, field: usize) -> std::ops::Range<usize> {
        self.at[field]..self.at[field + 1]
    }

    /// The value of a field in a row.
    pub fn value<'r>(&self, row: &'r [u64], field: usize) -> &'r [u64] {
        &row[self.range(field)]
    }

    /// The words of a field in a row, to be written.
    pub fn value_mut<'r>(&self, row: &'r mut [u64], field: usize) -> &'r mut [u64] {
        &mut row[self.range(field)]
    }

    /// Writes the value of a field to a row.
    ///
    /// Errors: out of memory.
    pub fn write(
        &self,
        row: &mut [u64],
        field: usize,
        text: &str,
        bytes: &mut Vec<u8>,
    ) -> Result<Value> {
        self.fields[field].write(text, &mut row[self.range(field)], bytes)
    }

    /// Sets the level that a field's value has in common with an equal one.
    pub fn set_level(&self, row: &mut [u64], field: usize, level: u8) {
        FieldLayout::set_level(&mut row[self.range(field)], level);
    }

    /// Sets what the words of a field's value weigh, as [`FieldLayout::weigh`] does.
    pub fn weigh(&self, row: &mut [u64], field: usize, records: u64, with: impl FnMut(u64) -> u64) {
        self.fields[field].weigh(&mut row[self.range(field)], records, with);
    }

    /// The levels of two rows of things, and the sum of the similarities of their fields.
    pub fn agreement(&self, a: &[u64], b: &[u64]) -> (Pattern, f64) {
        let (mut pattern, mut sum) = (Pattern::default(), 0.0);
        for (i, field) in self.fields.iter().enumerate() {
            let range = self.range(i);
            let agreement = field.agreement(&a[range.clone()], &b[range]);
            pattern.set(i, agreement.level);
            sum += agreement.similarity;
        }
        (pattern, sum)
    }

    /// The levels of two rows.
    #[inline]
    pub fn pattern(&self, a: &[u64], b: &[u64]) -> Pattern {
        let mut pattern = Pattern::default();
        for (i, field) in self.fields.iter().enumerate() {
            let range = self.range(i);
            pattern.set(i, field.level(&a[range.clone()], &b[range]));
        }
        if let Some([x, y]) = self.swap {
            let differs = |field: usize| {
                let level = pattern.level(field);
                level == MISSING || (ALIKE as usize + 1..SWAPPED).contains(&level)
            };
            if differs(x) && differs(y) && self.are_crosswise(a, b, [x, y]) {
                pattern.replace(x, SWAPPED as u8);
                pattern.replace(y, SWAPPED as u8);
            }
        }
        pattern
    }

    /// Whether field `x` of `a` and field `y` of `b` are alike, and the other way round. What is missing of one of the
    /// two ways says nothing: a record of a single name may have it in either field.
    fn are_crosswise(&self, a: &[u64], b: &[u64], [x, y]: [usize; 2]) -> bool {
        let ways = [(x, y), (y, x)].map(|(of_a, of_b)| {
            self.fields[x].level(self.value(a, of_a), self.value(b, of_b)) as usize
        });
        ways.iter().any(|&level| level != MISSING)
            && (ways.iter()).all(|&level| level == MISSING || level <= ALIKE as usize)
    }

    /// The two fields whose values may have changed places.
    pub fn swap(&self) -> Option<[usize; 2]> {
        self.swap
    }

    /// The mean similarity of the fields that both rows have; `None` if they have fewer than `least` in common. Names are
    /// compared crosswise where one is equal so, and none is where it stands.
    pub fn similarity(&self, a: &[u64], b: &[u64], least: usize) -> Option<f64> {
        let (mut sum, mut n) = (0.0, 0);
        let swap = self
            .swap
            .filter(|&names| self.have_changed_places(a, b, names));
        for (i, field) in self.fields.iter().enumerate() {
            let other = match swap {
                Some([x, y]) if i == x || i == y => x + y - i,
                _ => i,
            };
            let (a, b) = (self.value(a, i), self.value(b, other));
            if FieldLayout::identity_of(a) != 0 && FieldLayout::identity_of(b) != 0 {
                sum += field.similarity(a, b);
                n += 1;
            }
        }
        (n >= least.max(1)).then(|| sum / n as f64)
    }

    /// Whether one of two names is equal to the other one, and none is equal to the same one.
    fn have_changed_places(&self, a: &[u64], b: &[u64], [x, y]: [usize; 2]) -> bool {
        let equal = |of_a: usize, of_b: usize| {
            let identity = FieldLayout::identity_of(self.value(a, of_a));
            identity != 0 && identity == FieldLayout::identity_of(self.value(b, of_b))
        };
        (equal(x, y) || equal(y, x)) && !equal(x, x) && !equal(y, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::values::Kind;

    /// The levels of two fields of names, and their similarity.
    fn compared(a: [&str; 2], b: [&str; 2]) -> ([usize; 2], Option<f64>) {
        let name = FieldLayout::new(Kind::Name, 12).unwrap();
        let layout = RowLayout::new(vec![name.clone(), name], Some([0, 1]));
        let [a, b] = [a, b].map(|names| {
            let mut row = vec![0; layout.words()];
            for (field, name) in names.into_iter().enumerate() {
                layout
                    .write(&mut row, field, name, &mut Vec::new())
                    .unwrap();
            }
            row
        });
        let [one, other] = [layout.pattern(&a, &b), layout.pattern(&b, &a)];
        assert_eq!(one, other);
        let similarity = layout.similarity(&a, &b, 1);
        assert_eq!(similarity, layout.similarity(&b, &a, 1));
        ([0, 1].map(|field| one.level(field)), similarity)
    }

    fn levels(a: [&str; 2], b: [&str; 2]) -> [usize; 2] {
        compared(a, b).0
    }

    #[test]
    fn names_are_similar_crosswise() {
        let similarity = |a, b| compared(a, b).1;
        assert_eq!(
            similarity(["anna", "berger"], ["berger", "anna"]),
            Some(1.0)
        );
        assert_eq!(similarity(["berger", ""], ["", "berger"]), Some(1.0));
        assert_eq!(similarity(["berger", ""], ["anna", "berger"]), Some(1.0));
        assert_eq!(similarity(["anna", "anna"], ["anna", ""]), Some(1.0));
        assert!(similarity(["anna", "anna"], ["anna", "xyz"]).unwrap() < 0.6);
        assert_eq!(similarity(["anna", ""], ["", "otto"]), None);
    }

    #[test]
    fn names_change_places() {
        let swapped = [SWAPPED; 2];
        assert_eq!(levels(["anna", "berger"], ["berger", "anna"]), swapped);
        assert_eq!(
            levels(["anna", "steinbacher"], ["steimbacher", "anna"]),
            swapped
        );
        // a single name may be in either field
        assert_eq!(levels(["berger", ""], ["anna", "berger"]), swapped);
        assert_eq!(levels(["", "anna"], ["anna", "berger"]), swapped);
        assert_eq!(levels(["berger", ""], ["", "berger"]), swapped);
        // what is alike where it stands has not moved, and one name must not speak against it
        assert_eq!(levels(["anna", "anna"], ["anna", ""]), [0, MISSING]);
        assert_ne!(levels(["anna", "berger"], ["berger", "otto"]), swapped);
        assert_eq!(levels(["anna", ""], ["", "otto"]), [MISSING; 2]);
        assert_eq!(levels(["", ""], ["anna", "otto"]), [MISSING; 2]);
    }
}
