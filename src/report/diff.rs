//! How a value differs from that of the record to keep, by grapheme clusters, which readers take for characters.

use similar::{ChangeTag, TextDiff};

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffPart<'a> {
    Same(&'a str),
    /// The kept value does not have this here.
    Other(&'a str),
    /// The kept value has something here that this one leaves out.
    Gap,
}

/// With a lower share of common characters, values are shown as different as a whole.
const LEAST_COMMON: f32 = 0.4;

/// The parts of `value`, compared with `kept`.
pub fn parts<'a>(kept: &'a str, value: &'a str) -> Vec<DiffPart<'a>> {
    if kept == value {
        return vec![DiffPart::Same(value)];
    }
    let diff = TextDiff::from_graphemes(kept, value);
    if diff.ratio() < LEAST_COMMON {
        return vec![DiffPart::Other(value)];
    }
    let mut parts = Vec::new();
    let (mut at, mut gone) = (0, false);
    for change in diff.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Delete => gone = true,
            ChangeTag::Insert => {
                // It replaces what is gone.
                gone = false;
                push(&mut parts, value, at, len, true);
                at += len;
            }
            ChangeTag::Equal => {
                if gone && !matches!(parts.last(), Some(DiffPart::Other(_))) {
                    parts.push(DiffPart::Gap);
                }
                gone = false;
                push(&mut parts, value, at, len, false);
                at += len;
            }
        }
    }
    if gone && !matches!(parts.last(), Some(DiffPart::Other(_))) {
        parts.push(DiffPart::Gap);
    }
    parts
}

/// Adds the `len` bytes of the value from `at` on. They join the last part if that is of the same kind.
fn push<'a>(parts: &mut Vec<DiffPart<'a>>, value: &'a str, at: usize, len: usize, other: bool) {
    let end = at + len;
    match (parts.last_mut(), other) {
        (Some(DiffPart::Other(last)), true) | (Some(DiffPart::Same(last)), false) => {
            *last = &value[at - last.len()..end];
        }
        (_, true) => parts.push(DiffPart::Other(&value[at..end])),
        (_, false) => parts.push(DiffPart::Same(&value[at..end])),
    }
}
