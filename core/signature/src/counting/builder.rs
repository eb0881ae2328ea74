//! Adding, removing and merging.

use super::counters;
use super::layout::{check_of_ngrams, check_of_tokens, mismatch, CountingView, HEADER};
use crate::filter::{hash_positions, Hasher, Shape};
use base::{Error, Result, Ticker};
use text::ngram::{for_each_ngram, ngram_set, Gaps};
use text::tokens::{token_hash, TokenHashList};

/// A counter that holds less than would be taken from it.
struct Shortage {
    counter: u32,
    holds: u8,
    takes: u64,
}

impl Shortage {
    /// `of` is what would take so much.
    fn error(&self, message: &str, of: &str) -> Error {
        let Shortage {
            counter,
            holds,
            takes,
        } = self;
        Error::data_exception(message).detail(format!(
            "Counter {counter} of the filter holds {holds}, and {of} would take {takes} from it."
        ))
    }
}

/// A counting filter that is changed, in memory that the caller provides. It is whole at any time.
pub struct CountingBuilder<'b> {
    positions: Positions,
    bytes: &'b mut [u8],
}

impl<'b> CountingBuilder<'b> {
    /// Bytes that a counting filter of this shape takes.
    pub fn size(shape: Shape) -> usize {
        HEADER + counters::bytes(shape.m())
    }

    /// An empty counting filter in `bytes`, which must be [`CountingBuilder::size`] long.
    pub fn new(shape: Shape, bytes: &'b mut [u8]) -> Self {
        assert_eq!(bytes.len(), Self::size(shape), "counting filter buffer");
        bytes.fill(0);
        bytes[..HEADER].copy_from_slice(&shape.to_bytes());
        CountingBuilder {
            positions: Positions::new(shape),
            bytes,
        }
    }

    /// Goes on with a copy of `view` in `bytes`, which must be as long as the view.
    pub fn from_view(view: &CountingView<'_>, bytes: &'b mut [u8]) -> Self {
        bytes.copy_from_slice(view.bytes());
        CountingBuilder {
            positions: Positions::new(view.shape()),
            bytes,
        }
    }

    /// Goes on with a counting filter where it stands. `None` when `bytes` are none.
    pub fn in_place(bytes: &'b mut [u8]) -> Option<Self> {
        let shape = CountingView::stored(bytes)?.shape();
        Some(CountingBuilder {
            positions: Positions::new(shape),
            bytes,
        })
    }

    fn counters(&mut self) -> &mut [u8] {
        &mut self.bytes[HEADER..]
    }

    /// Adds 1 to each counter of each distinct n-gram of `text`; `tick` is called now and then.
    ///
    /// Errors: the filter is one of tokens; out of memory for the n-grams.
    pub fn add_text(
        &mut self,
        text: &str,
        gaps: impl Into<Gaps>,
        mut tick: impl FnMut(),
    ) -> Result<()> {
        let ngrams = self.ngrams(text, gaps, &mut tick)?;
        self.add_all(&ngrams, tick);
        Ok(())
    }

    /// Takes away what [`CountingBuilder::add_text`] has added for `text`; full counters stay as they are.
    ///
    /// Errors: a counter holds less than the text would take from it, and then nothing is changed; the filter is one of
    /// tokens; out of memory for the n-grams.
    pub fn remove_text(
        &mut self,
        text: &str,
        gaps: impl Into<Gaps>,
        mut tick: impl FnMut(),
    ) -> Result<()> {
        let ngrams = self.ngrams(text, gaps, &mut tick)?;
        self.remove_all(&ngrams, tick).map_err(|short| {
            short
                .error("cannot remove a text that was not added", "the text")
                .hint("Remove a text as it was added, with the same by_word and filler.")
        })
    }

    /// Adds 1 to each counter of each distinct token; `tick` is called now and then.
    ///
    /// Errors: the filter is one of n-grams.
    pub fn add_tokens(&mut self, tokens: TokenHashList, mut tick: impl FnMut()) -> Result<()> {
        check_of_tokens(self.positions.shape())?;
        self.add_all(&tokens.distinct(&mut tick), tick);
        Ok(())
    }

    /// Takes away what [`CountingBuilder::add_tokens`] has added for each token; full counters stay as they are.
    ///
    /// Errors: a counter holds less than the tokens would take from it, and then nothing is changed; the filter is one
    /// of n-grams.
    pub fn remove_tokens(&mut self, tokens: TokenHashList, mut tick: impl FnMut()) -> Result<()> {
        check_of_tokens(self.positions.shape())?;
        let tokens = tokens.distinct(&mut tick);
        self.remove_all(&tokens, tick).map_err(|short| {
            short
                .error("cannot remove tokens that were not added", "the tokens")
                .hint("Remove each token at most as often as it was added.")
        })
    }

    fn ngrams(&self, text: &str, gaps: impl Into<Gaps>, tick: impl FnMut()) -> Result<Vec<u64>> {
        let shape = self.positions.shape();
        check_of_ngrams(shape)?;
        ngram_set(text, shape.text_rules()?, shape.ngram(), gaps, tick)
    }

    fn add_all(&mut self, hashes: &[u64], tick: impl FnMut()) {
        let positions = self.positions;
        let counters = self.counters();
        let mut ticker = Ticker::new(tick);
        for &hash in hashes {
            positions.all(hash, |at| {
                counters::increment(counters, at);
                true
            });
            ticker.step();
        }
    }

    fn remove_all(
        &mut self,
        hashes: &[u64],
        tick: impl FnMut(),
    ) -> std::result::Result<(), Shortage> {
        let positions = self.positions;
        let counters = self.counters();
        let mut ticker = Ticker::new(tick);
        let mut taken = 0u64;
        let mut short = None;
        for &hash in hashes {
            positions.all(hash, |at| {
                if counters::decrement(counters, at) {
                    taken += 1;
                } else {
                    short = Some(at);
                }
                short.is_none()
            });
            if short.is_some() {
                break;
            }
            ticker.step();
        }
        let Some(counter) = short else {
            return Ok(());
        };
        // Counters that were full have given nothing, and take nothing back. No other one becomes full.
        for &hash in hashes {
            let goes_on = positions.all(hash, |at| {
                if taken > 0 {
                    counters::increment(counters, at);
                    taken -= 1;
                }
                taken > 0
            });
            if !goes_on {
                break;
            }
            ticker.step();
        }
        let mut takes = 0;
        for &hash in hashes {
            positions.all(hash, |at| {
                takes += u64::from(at == counter);
                true
            });
            ticker.step();
        }
        Err(Shortage {
            counter,
            holds: counters::get(counters, counter),
            takes,
        })
    }

    /// Adds another counting filter, counter by counter. What is too much for a counter makes it full.
    ///
    /// Errors: different shapes.
    pub fn merge(&mut self, other: &CountingView<'_>) -> Result<()> {
        let shape = self.positions.shape();
        if shape != other.shape() {
            return Err(mismatch(shape, other.shape()));
        }
        counters::merge(self.counters(), other.counters());
        Ok(())
    }

    /// What has been built.
    pub fn finish(self) -> CountingView<'b> {
        CountingView::stored(self.bytes).expect("whole at any time")
    }
}

// Which counters belong to an n-gram or a token: those in the places of its bits in a signature.

/// What finds the counters in a filter of a shape.
#[derive(Clone, Copy)]
pub(super) enum Positions {
    OfNgrams(Hasher),
    OfTokens(Shape),
}

impl Positions {
    pub fn new(shape: Shape) -> Positions {
        match shape.family() {
            Shape::OF_TOKENS => Positions::OfTokens(shape),
            _ => Positions::OfNgrams(Hasher::new(shape)),
        }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Positions::OfNgrams(hasher) => hasher.shape(),
            Positions::OfTokens(shape) => *shape,
        }
    }

    /// Calls `each` with the counters of an n-gram by its index, or of a token by its hash, until it says stop. Gives
    /// whether it never did.
    #[inline]
    pub fn all(&self, hash: u64, each: impl FnMut(u32) -> bool) -> bool {
        match self {
            Positions::OfNgrams(hasher) => hasher.positions(hash, each),
            Positions::OfTokens(shape) => hash_positions(*shape, hash, each),
        }
    }
}

// What a counting filter may hold.

/// Whether every n-gram of `text` may be in the filter: none of its counters is 0. Empty text is.
///
/// Errors: the filter is one of tokens.
pub fn holds_text(
    view: &CountingView<'_>,
    text: &str,
    gaps: impl Into<Gaps>,
    tick: impl FnMut(),
) -> Result<bool> {
    let shape = view.shape();
    check_of_ngrams(shape)?;
    let positions = Positions::new(shape);
    let counters = view.counters();
    let mut all = true;
    for_each_ngram(
        text,
        shape.text_rules()?,
        shape.ngram(),
        gaps,
        |_, index| all = all && positions.all(index, |at| counters::get(counters, at) > 0),
        tick,
    );
    Ok(all)
}

/// Whether a token may be in the filter: none of its counters is 0.
///
/// Errors: the filter is one of n-grams.
pub fn holds_token(view: &CountingView<'_>, token: &str) -> Result<bool> {
    view.check_of_tokens()?;
    let counters = view.counters();
    let hash = token_hash(token.as_bytes());
    Ok(Positions::new(view.shape()).all(hash, |at| counters::get(counters, at) > 0))
}
