//! Values that single records had, so that those that come again need not be read and written again: names and towns of most records are those
//! of others, and a record is compared with one candidate after the other.

use base::Result;
use twox_hash::XxHash3_64;

use super::values::{FieldLayout, RowLayout};
use super::FrequentLevels;

/// Values that are kept of a field: each has one place, which the last value of that place has.
const PLACES: usize = 1 << 8;

/// Longer values are not kept.
const LONGEST: usize = 128;

/// A value, and what has been computed of it.
#[derive(Clone, Debug, Default)]
struct SeenValue {
    text: String,
    /// Words of the value: only the identity, or all.
    words: Vec<u64>,
    is_whole: bool,
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

    /// The words of a value that is not empty: all of them, or what equal ones are compared by.
    ///
    /// Errors: out of memory.
    pub fn words(
        &mut self,
        (field, layout): (usize, &FieldLayout),
        levels: &FrequentLevels,
        text: &str,
        is_whole: bool,
    ) -> Result<&[u64]> {
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
        if value.text != text || is_whole && !value.is_whole {
            // not to be found if the rest fails
            value.text.clear();
            value.words.clear();
            value.words.resize(layout.words(), 0);
            let identity = match is_whole {
                true => {
                    layout
                        .write(text, &mut value.words, &mut self.bytes)?
                        .identity
                }
                false => {
                    let read = layout.read_value(text)?;
                    FieldLayout::write_identity(&read, &mut value.words);
                    read.identity
                }
            };
            FieldLayout::set_level(&mut value.words, levels.level(field, identity));
            value.is_whole = is_whole;
            if text.len() <= LONGEST {
                value.text.push_str(text);
            }
        }
        Ok(&value.words)
    }
}
