//! How a value differs from that of the record to keep, by grapheme clusters, which readers take for characters.

use unicode_segmentation::UnicodeSegmentation;

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

// What two lists have in common, in their order.

/// Longer lists are not compared element by element, but for what they begin and end with.
const MOST_CELLS: usize = 1 << 16;

/// The longest common subsequence, as pairs of places.
pub(super) fn longest<T>(a: &[T], b: &[T], equal: impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let begin = a.iter().zip(b).take_while(|(x, y)| equal(x, y)).count();
    let (x, y) = (&a[begin..], &b[begin..]);
    let end = x
        .iter()
        .rev()
        .zip(y.iter().rev())
        .take_while(|(x, y)| equal(x, y))
        .count();
    let (x, y) = (&x[..x.len() - end], &y[..y.len() - end]);
    let mut common: Vec<(usize, usize)> = (0..begin).map(|i| (i, i)).collect();
    let width = y.len() + 1;
    if (x.len() + 1) * width <= MOST_CELLS {
        let mut best = vec![0u16; (x.len() + 1) * width];
        for i in (0..x.len()).rev() {
            for j in (0..y.len()).rev() {
                best[i * width + j] = match equal(&x[i], &y[j]) {
                    true => 1 + best[(i + 1) * width + j + 1],
                    false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < x.len() && j < y.len() {
            if equal(&x[i], &y[j]) {
                common.push((begin + i, begin + j));
                (i, j) = (i + 1, j + 1);
            } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
    let (from_a, from_b) = (a.len() - end, b.len() - end);
    common.extend((0..end).map(|i| (from_a + i, from_b + i)));
    common
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
