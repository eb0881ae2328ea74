//! The text of an address to its segments: what is parted by commas, lines and dashes.

use super::words::has_digit;
use base::{Error, ErrorKind, Result};

/// Most words of an address. What is longer is none, and is refused.
pub const MAX_ADDRESS_WORDS: usize = 256;

/// Bytes of the longest address that is taken apart.
pub const MAX_ADDRESS: usize = 1 << 16;

/// Words, segment by segment; no segment is empty. What stands in parentheses is left out.
pub fn segments<'a>(text: &'a str, mut tick: impl FnMut()) -> Result<Vec<Vec<&'a str>>> {
    if text.len() > MAX_ADDRESS {
        let message = format!("address of {} bytes is too long", text.len());
        return Err(Error::new(ErrorKind::LimitExceeded, message)
            .detail(format!("An address has {MAX_ADDRESS} bytes at most.")));
    }
    let mut all = vec![vec![]];
    let mut words = 0;
    let mut hidden = 0usize;
    let mut from = 0;
    let mut before = ' ';
    let mut add = |all: &mut Vec<Vec<&'a str>>, word: &'a str| -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        words += 1;
        if words > MAX_ADDRESS_WORDS {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("address of more than {MAX_ADDRESS_WORDS} words"),
            )
            .detail("That is no postal address."));
        }
        all.last_mut().expect("one segment at least").push(word);
        Ok(())
    };
    for (at, c) in text.char_indices() {
        tick();
        let ends = matches!(c, ',' | ';' | '\n' | '\r' | '(' | ')');
        if ends || c.is_whitespace() {
            if hidden == 0 {
                add(&mut all, &text[from..at])?;
            }
            from = at + c.len_utf8();
        } else if before == '.' && c.is_ascii_digit() && !has_digit(&text[from..at]) {
            // Str.12
            if hidden == 0 {
                add(&mut all, &text[from..at])?;
            }
            from = at;
        }
        match c {
            '(' => hidden += 1,
            ')' => hidden = hidden.saturating_sub(1),
            _ if ends && hidden == 0 && all.last().is_some_and(|last| !last.is_empty()) => {
                all.push(vec![]);
            }
            _ => (),
        }
        before = c;
    }
    if hidden == 0 {
        add(&mut all, &text[from..])?;
    }
    Ok(all.iter().flat_map(|segment| parted(segment)).collect())
}

/// A segment, parted at dashes between blanks.
fn parted<'a>(segment: &[&'a str]) -> Vec<Vec<&'a str>> {
    segment
        .split(|word| matches!(*word, "-" | "–" | "—" | "|" | "·"))
        .filter(|part| !part.is_empty())
        .map(<[&str]>::to_vec)
        .collect()
}
