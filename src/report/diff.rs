//! How a value differs from that of the record to keep, by what readers take for characters.

use similar::{ChangeTag, TextDiff};

/// A piece of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Same(&'a str),
    /// The other value does not have it here.
    Other(&'a str),
    /// The other value has something here that this one leaves out.
    Gap,
}

/// Below this share of common characters, values are different as a whole.
const LEAST_COMMON: f32 = 0.4;

/// The pieces of `value`, held against `kept`.
pub fn pieces<'a>(kept: &'a str, value: &'a str) -> Vec<Piece<'a>> {
    if kept == value {
        return vec![Piece::Same(value)];
    }
    let diff = TextDiff::from_graphemes(kept, value);
    if diff.ratio() < LEAST_COMMON {
        return vec![Piece::Other(value)];
    }
    let mut pieces = Vec::new();
    let (mut at, mut gone) = (0, false);
    for change in diff.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Delete => gone = true,
            ChangeTag::Insert => {
                // in place of what is gone
                gone = false;
                push(&mut pieces, value, at, len, true);
                at += len;
            }
            ChangeTag::Equal => {
                if gone && !matches!(pieces.last(), Some(Piece::Other(_))) {
                    pieces.push(Piece::Gap);
                }
                gone = false;
                push(&mut pieces, value, at, len, false);
                at += len;
            }
        }
    }
    if gone && !matches!(pieces.last(), Some(Piece::Other(_))) {
        pieces.push(Piece::Gap);
    }
    pieces
}

/// Adds the bytes from `at` on, to the last piece if that is of the same kind.
fn push<'a>(pieces: &mut Vec<Piece<'a>>, value: &'a str, at: usize, len: usize, other: bool) {
    let end = at + len;
    match (pieces.last_mut(), other) {
        (Some(Piece::Other(last)), true) | (Some(Piece::Same(last)), false) => {
            *last = &value[at - last.len()..end];
        }
        (_, true) => pieces.push(Piece::Other(&value[at..end])),
        (_, false) => pieces.push(Piece::Same(&value[at..end])),
    }
}
