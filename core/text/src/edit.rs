//! Exact similarity of two texts, symbol by symbol: the second stage behind signatures. All compare normal forms, and
//! are 0 when one of these is empty.

use super::normalize::normalize;
use base::{Error, ErrorKind, Result};

/// Symbols of a normal form that is compared. Each symbol of one text is held against each of the other; with so many
/// it takes some milliseconds, which nothing interrupts, or a fraction of a second with turns between.
pub const MAX_EDITED: usize = 10_000;

/// Levenshtein: 1 less the insertions, deletions and replacements that make one of the other, per symbol of the longer
/// one.
///
/// Errors: a text of more than [`MAX_EDITED`] symbols; out of memory.
pub fn edit_similarity(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    per_symbol(a, b, tick, |a, b, _| {
        rapidfuzz::distance::levenshtein::distance(a.iter(), b.iter())
    })
}

/// Damerau and Levenshtein: the same, where two neighbours that have changed places are one edit, and may be edited
/// further.
///
/// Errors: as those of [`edit_similarity`].
pub fn damerau_similarity(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    per_symbol(a, b, tick, |a, b, tick| damerau_distance(a, b, 256, tick))
}

/// Jaro and Winkler: symbols in common that are not far from each other, those out of order counting half, and up to
/// four common symbols at the beginning count more where the rest is above 0.7.
///
/// Errors: as those of [`edit_similarity`].
pub fn jaro_winkler(a: &str, b: &str, tick: impl FnMut()) -> Result<f64> {
    let (a, b) = normal_forms(a, b, tick)?;
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    Ok(rapidfuzz::distance::jaro_winkler::similarity(
        a.iter(),
        b.iter(),
    ))
}

/// Edits that can be asked for: more than names have are none that anybody has made, and what is compared within them is a
/// band that a word has room for.
pub const MOST_EDITS: u32 = 31;

/// Symbols of normal forms that are held against each other: with so many it takes some milliseconds, which nothing
/// interrupts.
const MOST_COMPARED: usize = 1_000_000;

/// A number of edits, checked.
///
/// Errors: more than [`MOST_EDITS`], or fewer than none.
pub fn check_edits(k: i64) -> Result<u32> {
    let edits = u32::try_from(k).ok().filter(|edits| *edits <= MOST_EDITS);
    edits.ok_or_else(|| {
        Error::invalid(format!("k {k} is out of range"))
            .detail(format!("A number of edits is from 0 to {MOST_EDITS}."))
    })
}

/// Whether at most so many insertions, deletions and replacements make one normal form of the other. They may be empty, and
/// long: only what is near the diagonal is compared.
///
/// Errors: both have more than a million symbols.
pub fn edit_within(a: &str, b: &str, most: u32) -> Result<bool> {
    if a.len().abs_diff(b.len()) > most as usize {
        return Ok(false);
    }
    if a.len().max(b.len()) > MOST_COMPARED {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!(
                "text of {} symbols is too long to be compared symbol by symbol",
                a.len()
            ),
        )
        .detail(format!(
            "A normal form has {MOST_COMPARED} symbols at most there."
        )));
    }
    let within = rapidfuzz::distance::levenshtein::Args::default().score_cutoff(most as usize);
    let distance =
        rapidfuzz::distance::levenshtein::distance_with_args(a.bytes(), b.bytes(), &within);
    Ok(distance.is_some())
}

fn per_symbol<T: FnMut()>(
    a: &str,
    b: &str,
    mut tick: T,
    distance: impl Fn(&[u8], &[u8], &mut T) -> usize,
) -> Result<f64> {
    let (a, b) = normal_forms(a, b, &mut tick)?;
    let longer = a.len().max(b.len());
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let same = longer - distance(a.as_bytes(), b.as_bytes(), &mut tick);
    Ok(same as f64 / longer as f64)
}

/// Rows of the matrix between two turns: of 10,000 cells each they take some milliseconds.
const ROWS: usize = 64;

/// The matrix row by row, of which two are kept (Zhao and Sahni 2019). That of the crate goes through all rows without
/// a turn.
///
/// A swap is looked for only where one side of it has nothing between the two symbols; any other costs as much as
/// replacing them. All symbols, as numbers, are below `symbols`.
pub(crate) fn damerau_distance<S: Copy + Eq + Into<usize>>(
    a: &[S],
    b: &[S],
    symbols: usize,
    tick: &mut impl FnMut(),
) -> usize {
    // A cell that is outside of the matrix, and more than any cell in it.
    let outside = a.len().max(b.len()) + 1;
    // Cell j of a row is at j + 1.
    let mut row: Vec<usize> = std::iter::once(outside).chain(0..=b.len()).collect();
    let mut above = vec![outside; b.len() + 2];
    // For each column, the cell from which a swap with the last equal symbol of a begins.
    let mut before_row = vec![outside; b.len() + 2];
    // The last row above whose symbol this is.
    let mut last_row = vec![None; symbols];
    for (i, &x) in a.iter().enumerate().map(|(i, x)| (i + 1, x)) {
        if i % ROWS == 0 {
            tick();
        }
        std::mem::swap(&mut row, &mut above);
        // What `row` held there two rows above, and what it held where b last had the symbol x.
        let mut two_above = row[1];
        let mut before_column = outside;
        let mut last_column = None;
        row[1] = i;
        for (j, &y) in b.iter().enumerate().map(|(j, y)| (j + 1, y)) {
            let mut least = (above[j] + usize::from(x != y)).min(row[j].min(above[j + 1]) + 1);
            if x == y {
                last_column = Some(j);
                before_row[j + 1] = above[j - 1];
                before_column = two_above;
            } else if last_column == Some(j - 1) {
                if let Some(k) = last_row[y.into()] {
                    least = least.min(before_row[j + 1] + (i - k));
                }
            } else if let (Some(l), true) = (last_column, last_row[y.into()] == Some(i - 1)) {
                least = least.min(before_column + (j - l));
            }
            two_above = row[j + 1];
            row[j + 1] = least;
        }
        last_row[x.into()] = Some(i);
    }
    row[b.len() + 1]
}

fn normal_forms(a: &str, b: &str, mut tick: impl FnMut()) -> Result<(String, String)> {
    let mut normal = |text| {
        let normal = normalize(text, false, &mut tick)?;
        check_length(normal.len(), "symbols")?;
        Ok(normal)
    };
    Ok((normal(a)?, normal(b)?))
}

/// Errors: more than [`MAX_EDITED`].
pub(crate) fn check_length(length: usize, of: &str) -> Result<()> {
    if length <= MAX_EDITED {
        return Ok(());
    }
    let whole = if of == "symbols" {
        "A normal form"
    } else {
        "A text"
    };
    Err(Error::new(
        ErrorKind::LimitExceeded,
        format!("text of {length} {of} is too long to be compared symbol by symbol"),
    )
    .detail(format!(
        "{whole} has {MAX_EDITED} {of} at most there, since the work grows with the product of both lengths."
    ))
    .hint("Compare long texts by ident_ngram_sim(), or their beginnings by left()."))
}
