//! Comparators: which tokens a value has. Two values are as similar as they have tokens in common.

use std::fmt;

use base::{Error, Result};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{FromPrimitive, Pow, ToPrimitive};
use text::ngram::{for_each_ngram, Gaps, Window, LENGTHS};
use text::tokens::for_each_word;
use text::Rules;

use crate::format::{float_of, integer_of};
use crate::json::Member;
use crate::schema::MOST_NGRAM;

/// How a value is taken apart.
#[derive(Clone, Debug)]
pub(crate) enum Comparison {
    /// Runs of n characters, with n − 1 blanks in front and behind, each with its place if `positional`.
    Ngrams { n: usize, positional: bool },
    /// The value as a whole.
    Exact,
    /// Numbers near it.
    Numeric(Neighbourhood),
    /// Runs of n symbols of the normal form, padded, as unkeyed signatures have them.
    NormalNgrams(u8, Rules),
    /// Words of the normal form.
    Words,
}

/// Multiples of a distance around a number: those of two numbers that are less than `interval` apart overlap.
#[derive(Clone, Debug)]
pub(crate) struct Neighbourhood {
    /// Steps of 10^−digits between multiples, times 2·resolution.
    interval: BigInt,
    resolution: i64,
    digits: u32,
}

/// Most multiples on each side, and most digits behind the point.
const MOST_RESOLUTION: u64 = 1 << 15;
const MOST_DIGITS: u64 = 300;

/// The interval is compared with twice a remainder, which clkhash does in floating point: exact up to here.
const MOST_INTERVAL: f64 = 9_007_199_254_740_992.0;

impl Comparison {
    /// Reads `comparison` of version 3.
    ///
    /// Errors: it is no comparator, or one that is not supported.
    pub fn new(member: &Member<'_>) -> Result<Comparison> {
        let of_type = member.need("type")?;
        match of_type.text()? {
            "ngram" => {
                let positional = member.get("positional")?;
                let positional = positional.map(|member| member.boolean()).transpose()?;
                Ok(Comparison::Ngrams {
                    n: member.need("n")?.integer(1, MOST_NGRAM)? as usize,
                    positional: positional.unwrap_or(false),
                })
            }
            "exact" => Ok(Comparison::Exact),
            "numeric" => Neighbourhood::new(member).map(Comparison::Numeric),
            other => Err(of_type.unsupported(&format!("comparison \"{other}\""))),
        }
    }

    /// Calls `each` with the tokens of a value, in their order, repeated ones as often as they are there; an empty value has
    /// none. `buffer` is used for what it has room for.
    ///
    /// Errors: the value is no number, and is to be compared as one; those of `each`.
    pub fn tokens(
        &self,
        value: &str,
        buffer: &mut TokenBuffer,
        mut each: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        match self {
            Comparison::NormalNgrams(n, rules) => {
                let mut symbols = [0; *LENGTHS.end() as usize];
                let symbols = &mut symbols[..usize::from(*n)];
                // The first error counts, after which nothing is done.
                let mut done = Ok(());
                let each = |window: &Window, _| {
                    if done.is_ok() {
                        window.write(symbols);
                        done = each(std::str::from_utf8(symbols).unwrap_or_default());
                    }
                };
                for_each_ngram(value, *rules, *n, Gaps::Closed, each, || ());
                done
            }
            Comparison::Words => for_each_word(value, || (), each),
            Comparison::Exact => each(value),
            Comparison::Ngrams { n, positional } => buffer.ngrams(value, *n, *positional, each),
            Comparison::Numeric(neighbourhood) => {
                let (first, step) = neighbourhood.first(value)?;
                let mut token = first;
                for _ in 0..=2 * neighbourhood.resolution {
                    each(&token.to_string())?;
                    token += step;
                }
                Ok(())
            }
        }
    }

    /// How many tokens a value has, which is known before they are made.
    pub fn number_of_tokens(&self, value: &str) -> usize {
        match self {
            _ if value.is_empty() => 0,
            Comparison::Exact => 1,
            Comparison::Ngrams { n, .. } => value.chars().count() + n - 1,
            Comparison::Numeric(neighbourhood) => 2 * neighbourhood.resolution as usize + 1,
            // Nobody asks, since each sets as many bits.
            Comparison::NormalNgrams(..) | Comparison::Words => 0,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Comparison::Ngrams { n, positional } => {
                write!(
                    f,
                    "ngram {n}{}",
                    if *positional { " positional" } else { "" }
                )
            }
            Comparison::Exact => f.write_str("exact"),
            Comparison::NormalNgrams(n, _) => write!(f, "normal ngram {n}"),
            Comparison::Words => f.write_str("words"),
            Comparison::Numeric(Neighbourhood {
                interval,
                resolution,
                digits,
            }) => write!(f, "numeric {interval} {resolution} {digits}"),
        }
    }
}

/// Memory for the tokens of a value.
#[derive(Default)]
pub(crate) struct TokenBuffer {
    padded: String,
    /// Where each character begins, and the end.
    starts: Vec<usize>,
    token: String,
}

/// Bytes of memory that are kept for the next value.
const KEPT: usize = 1 << 16;

impl TokenBuffer {
    /// Gives back what a long value took.
    pub fn shrink(&mut self) {
        if self.padded.capacity() > KEPT {
            *self = TokenBuffer::default();
        }
    }

    fn ngrams(
        &mut self,
        value: &str,
        n: usize,
        positional: bool,
        mut each: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let blanks = || std::iter::repeat_n(' ', n - 1);
        self.padded.clear();
        self.padded.extend(blanks());
        self.padded.push_str(value);
        self.padded.extend(blanks());
        self.starts.clear();
        self.starts
            .extend(self.padded.char_indices().map(|(at, _)| at));
        self.starts.push(self.padded.len());
        for (place, ends) in self.starts.windows(n + 1).enumerate() {
            let gram = &self.padded[ends[0]..ends[n]];
            if !positional {
                each(gram)?;
                continue;
            }
            self.token.clear();
            push_number(&mut self.token, place + 1);
            self.token.push(' ');
            self.token.push_str(gram);
            each(&self.token)?;
        }
        Ok(())
    }
}

/// Appends a number: most have one digit or two.
fn push_number(to: &mut String, number: usize) {
    if number >= 10 {
        push_number(to, number / 10);
    }
    to.push((b'0' + (number % 10) as u8) as char);
}

impl Neighbourhood {
    fn new(member: &Member<'_>) -> Result<Neighbourhood> {
        let digits = match member.get("fractional_precision")? {
            Some(digits) => digits.integer(0, MOST_DIGITS)? as u32,
            None => 0,
        };
        let distance = member.need("thresholdDistance")?;
        let number = distance.number()?;
        let interval = match number.as_u64() {
            Some(whole) => whole as f64 * power(digits),
            None => (number.as_f64().unwrap_or(-1.0) * power(digits)).round_ties_even(),
        };
        // No comparison of floats would say so of what is no number.
        if !(1.0..=MOST_INTERVAL).contains(&interval) {
            return Err(distance.wrong(&format!(
                "a number that has 1 to 2^53 steps of {digits} digits behind the point"
            )));
        }
        Ok(Neighbourhood {
            interval: BigInt::from(interval as u64),
            resolution: member.need("resolution")?.integer(1, MOST_RESOLUTION)? as i64,
            digits,
        })
    }

    /// The least of the numbers, and how far the next one is.
    ///
    /// Errors: the value is no number, or too large.
    fn first(&self, value: &str) -> Result<(BigInt, &BigInt)> {
        let number = match integer_of(value)? {
            Some(digits) => {
                digits.parse::<BigInt>().map_err(|_| no_number())?
                    * BigInt::from(10u8).pow(self.digits)
            }
            None => {
                let number = float_of(value).ok_or_else(no_number)?;
                let number = match self.digits {
                    0 => number.trunc(),
                    digits => (number * power(digits)).round_ties_even(),
                };
                BigInt::from_f64(number).ok_or_else(no_number)?
            }
        };
        let scaled = number * (2 * self.resolution);
        let residue = scaled.mod_floor(&self.interval);
        let nearest = if residue.to_u8() == Some(0) {
            scaled
        } else if &residue * 2 < self.interval {
            scaled - residue
        } else {
            scaled - residue + &self.interval
        };
        Ok((nearest - &self.interval * self.resolution, &self.interval))
    }
}

/// 10^digits, to the nearest.
fn power(digits: u32) -> f64 {
    format!("1e{digits}").parse().unwrap_or(f64::INFINITY)
}

/// The error of a value that is to be compared as a number. The value may be one of a person, so it is not shown.
fn no_number() -> Error {
    Error::data_exception("is no number, or one that is too large")
}
