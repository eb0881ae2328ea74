//! How a value differs from that of the record to keep, by grapheme clusters, which readers take for characters.

use unicode_segmentation::UnicodeSegmentation;

use super::common::longest;

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffPart<'a> {
    /// The kept value has it, too.
    Same(&'a str),
    /// The kept value does not have this here.
    Other(&'a str),
    /// The kept value has something here that this one leaves out.
    Gap,
}

/// With a lower share of common characters, values are shown as different as a whole.
const LEAST_COMMON: f64 = 0.4;

/// The parts of `value`, compared with `kept`. No two of them that follow each other are of one kind.
pub fn parts<'a>(kept: &str, value: &'a str) -> Vec<DiffPart<'a>> {
    if kept == value {
        return vec![DiffPart::Same(value)];
    }
    let of_kept: Vec<&str> = kept.graphemes(true).collect();
    let (mut starts, of_value): (Vec<usize>, Vec<&str>) = value.grapheme_indices(true).unzip();
    starts.push(value.len());
    let common = longest(&of_kept, &of_value, |x, y| x == y);
    let characters = of_kept.len() + of_value.len();
    if 2.0 * (common.len() as f64) < LEAST_COMMON * characters as f64 {
        return vec![DiffPart::Other(value)];
    }
    let text = |from: usize, to: usize| &value[starts[from]..starts[to]];
    let mut parts = Vec::new();
    let (mut i, mut j, mut same) = (0, 0, 0);
    for (k, l) in common.into_iter().chain([(of_kept.len(), of_value.len())]) {
        let is_end = l == of_value.len();
        if (k, l) != (i, j) || is_end {
            if same < j {
                parts.push(DiffPart::Same(text(same, j)));
            }
            if l > j {
                parts.push(DiffPart::Other(text(j, l)));
            } else if k > i {
                parts.push(DiffPart::Gap);
            }
            same = l;
        }
        (i, j) = (k + 1, l + 1);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::DiffPart::{Gap, Other, Same};
    use super::*;

    #[test]
    fn parts_of_values() {
        assert_eq!(parts("Anna", "Anna"), [Same("Anna")]);
        assert_eq!(parts("Anna", "Ana"), [Same("An"), Gap, Same("a")]);
        assert_eq!(parts("Ana", "Anna"), [Same("An"), Other("n"), Same("a")]);
        assert_eq!(
            parts("Meyer", "Meier"),
            [Same("Me"), Other("i"), Same("er")]
        );
        assert_eq!(
            parts("Meyers", "Meier"),
            [Same("Me"), Other("i"), Same("er"), Gap]
        );
        assert_eq!(parts("Anna", "Xaver"), [Other("Xaver")]);
        assert_eq!(parts("", "Anna"), [Other("Anna")]);
        assert_eq!(
            parts("Ma\u{308}rz", "März"),
            [Same("M"), Other("ä"), Same("rz")]
        );
    }
}
