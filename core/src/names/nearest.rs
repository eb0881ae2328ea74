//! Names that are nearest to a name, out of candidates that an index has found.

use super::similarity::{in_common, similarity};
use crate::ngram::ngram_set;
use crate::{Error, ErrorKind, Result};

const BIGRAM: u8 = 2;

/// How many names can be asked for.
pub const MAX_NEAREST: i64 = 1000;

/// The least number of candidates, and how many there are for each name that is asked for.
const CANDIDATES: (i64, i64) = (50, 5);

/// How many candidates are compared where `k` names are asked for.
///
/// Errors: `k` is not from 1 to [`MAX_NEAREST`].
pub fn candidates(k: i64) -> Result<i64> {
    let (least, each) = CANDIDATES;
    if (1..=MAX_NEAREST).contains(&k) {
        return Ok(least.max(each * k));
    }
    let message = format!("number of names k = {k} is out of range");
    Err(Error::new(ErrorKind::InvalidParameter, message)
        .detail(format!("k goes from 1 to {MAX_NEAREST}.")))
}

/// A name whose nearest are looked for.
pub struct WantedName {
    name: String,
    /// Those of its words, each by itself.
    bigrams: Vec<u64>,
}

impl WantedName {
    /// Errors: out of memory.
    pub fn new(name: String, tick: impl FnMut()) -> Result<WantedName> {
        let bigrams = ngram_set(&name, BIGRAM, true, tick)?;
        Ok(WantedName { name, bigrams })
    }

    /// How near another name is, from 0 to 1: half of it is [`similarity`], and half is the mean of Jaccard similarity and overlap of the
    /// bigrams of the words. The first has the better order, and is 1 for many names of which one is a part of the other; these the
    /// second tells apart.
    ///
    /// Errors: out of memory.
    pub fn nearness(&self, name: &str, mut tick: impl FnMut()) -> Result<f64> {
        let bigrams = ngram_set(name, BIGRAM, true, &mut tick)?;
        let common = in_common(&self.bigrams, &bigrams);
        if common == 0 {
            return Ok(similarity(&self.name, name, tick)? / 2.0);
        }
        let (a, b) = (self.bigrams.len(), bigrams.len());
        let jaccard = common as f64 / (a + b - common) as f64;
        let overlap = common as f64 / a.min(b) as f64;
        let whole = similarity(&self.name, name, tick)?;
        Ok((whole + (jaccard + overlap) / 2.0) / 2.0)
    }
}
