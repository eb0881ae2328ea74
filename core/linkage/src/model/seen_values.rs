//! Values that single records had, so that those that come again need not be read and written again: names and towns of most records are those
//! of others, and a record is compared with one candidate after the other.

use base::Result;
use twox_hash::XxHash3_64;

use super::values::{Depth, FieldLayout, RowLayout};
use super::FrequentLevels;

/// Values that are kept of a field: each has one place, which the last value of that place has.
const PLACES: usize = 1 << 8;

/// Longer values are not kept.
const LONGEST: usize = 128;

/// A value, and what has been computed of it.
#[derive(Clone, Debug, Default)]
struct SeenValue {
    text: String,
    /// Words of the value, as far as they were written.
    words: Vec<u64>,
    depth: Depth,
}

/// Values of each field.
#[derive(Clone, Debug)]
pub struct SeenValues {
    fields: Vec<Vec<SeenValue>>,
    /// Memory that is used again.
    bytes: Vec<u8>,
}

impl SeenValues {
    /// No value of any field yet.
    pub fn new(fields: usize) -> SeenValues {
        SeenValues {
            fields: vec![Vec::new(); fields],
            bytes: Vec::new(),
        }
    }

    /// The most memory that values of so many fields and words take, in bytes.
    pub fn most_bytes(layout: &RowLayout) -> usize {
        let of_field = |field: &FieldLayout| {
            PLACES * (size_of::<SeenValue>() + LONGEST + field.words() * size_of::<u64>())
        };
        layout.fields().iter().map(of_field).sum()
    }

    /// The words of a value that is not empty, written so far at least; and how far they are.
    ///
    /// Errors: out of memory.
    pub fn words(
        &mut self,
        (field, layout): (usize, &FieldLayout),
        levels: &FrequentLevels,
        text: &str,
        depth: Depth,
    ) -> Result<(&[u64], Depth)> {
        let seen = &mut self.fields[field];
        if seen.is_empty() {
            // one more for those that are not kept
            seen.resize(PLACES + 1, SeenValue::default());
        }
        let place = match text.len() <= LONGEST {
            true => XxHash3_64::oneshot(text.as_bytes()) as usize % PLACES,
            false => PLACES,
        };
        let value = &mut seen[place];
        if value.text != text || value.depth < depth {
            // not to be found if the rest fails
            value.text.clear();
            value.words.clear();
            value.words.resize(layout.words(), 0);
            let read = layout.read_value(text)?;
            value.depth = layout.write_as_far(&read, depth, &mut value.words, &mut self.bytes)?;
            FieldLayout::set_level(&mut value.words, levels.level(field, read.identity));
            if text.len() <= LONGEST {
                value.text.push_str(text);
            }
        }
        Ok((&value.words, value.depth))
    }
}
