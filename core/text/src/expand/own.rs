//! Abbreviations of one's own, of several words.

use std::collections::{HashMap, VecDeque};

use super::pieces::{dictionary, for_each_piece, Piece};
use base::Result;

/// Most words of an abbreviation of one's own.
pub const MOST_OWN_WORDS: usize = 8;

/// Takes the first piece of those that wait, or as many as an abbreviation of `own` has words, written out.
pub fn take_own(window: &mut VecDeque<Piece>, own: &HashMap<String, String>) -> Option<Piece> {
    let within = window.iter().position(|piece| piece.last);
    let most = within.map_or(window.len(), |at| at + 1);
    for n in (1..=most).rev() {
        if let Some(long) = own.get(&joined(window.iter().take(n))) {
            let last = window
                .drain(..n)
                .next_back()
                .is_some_and(|piece| piece.last);
            return Some(Piece::written_out(long, last));
        }
    }
    window.pop_front()
}

fn joined<'a>(pieces: impl Iterator<Item = &'a Piece>) -> String {
    let words: Vec<&str> = pieces.map(|piece| piece.normal.as_str()).collect();
    words.join(" ")
}

/// What [`super::expand_with`] asks its own abbreviations for; `None` if the text has more than `most` words.
///
/// Errors: as [`super::expand`].
pub fn own_candidates(
    text: &str,
    language: &str,
    version: i64,
    most: usize,
    tick: impl FnMut(),
) -> Result<Option<Vec<String>>> {
    let mut pieces = vec![];
    let mut many = false;
    for_each_piece(dictionary(language, version)?, text, tick, |piece| {
        many |= pieces.len() == most;
        if !many {
            pieces.push(piece);
        }
        Ok(())
    })?;
    if many {
        return Ok(None);
    }
    let mut all = vec![];
    for from in 0..pieces.len() {
        let behind = &pieces[from..pieces.len().min(from + MOST_OWN_WORDS)];
        let within = behind.iter().position(|piece| piece.last);
        let end = within.map_or(behind.len(), |at| at + 1);
        all.extend((1..=end).map(|n| joined(behind[..n].iter())));
    }
    Ok(Some(all))
}
