//! Shapes to choose from, and how far the similarity of their bits is from that of the words, measured on texts that
//! are made for it.

use std::cell::RefCell;

use super::measure::Popcounts;
use crate::filter::rates::{collision, false_positive, CollisionModel};
use crate::filter::{plan, plan_tokens, Builder, FilterPlan, Shape, View};
use base::Result;
use text::ngram;

/// False-positive rates that shapes are planned for.
const RATES: [f64; 5] = [0.1, 0.05, 0.02, 0.01, 0.001];

/// Shapes are planned for texts so many times as long, too: a filter that is planned for its texts is half full
/// whatever its rate, and bits of a half full filter agree by chance. Only one that is less full brings the similarity
/// of bits near to that of words.
const ROOM: [i64; 3] = [1, 2, 4];

/// Pairs that the similarities are measured on; of long texts as many as have together so many symbols, but some at
/// least.
const PAIRS: u32 = 400;
const SYMBOLS: u32 = 400_000;
const LEAST_PAIRS: u32 = 50;

/// A shape, and what to expect of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The length and the false-positive rate that it is planned for.
    pub max_chars: i64,
    /// See there.
    pub fpr: f64,
    /// The shape.
    pub shape: Shape,
    /// The false-positive rate by the formula, for texts of the length that was asked for.
    pub actual_fpr: f64,
    /// Bytes of a signature, without the word for its length.
    pub bytes: usize,
    /// The collision rate of its bits by the model `coll`.
    pub collision: f64,
    /// By how much the similarity of bits is above that of words, on the average over pairs of every similarity.
    pub bias: f64,
    /// The root of the mean square of that difference.
    pub deviation: f64,
    /// The mean similarity of the bits of pairs that have nothing to do with each other.
    pub unrelated: f64,
}

/// Shapes for texts of `max_chars` symbols, or as many tokens with n-gram length 0, from small ones to large ones. The
/// pairs measured are always the same: texts of just that length, which begin alike for every share of it and have
/// random syllables behind that, and for [`Candidate::unrelated`] nothing in common. `tick` is called now and then.
///
/// Errors: an argument out of range; no shape is large enough.
pub fn candidates(max_chars: i64, ngram: i64, tick: impl FnMut()) -> Result<Vec<Candidate>> {
    let planned = |max_chars, fpr| match ngram {
        0 => plan_tokens(max_chars, fpr),
        _ => plan(max_chars, ngram, fpr),
    };
    let n = planned(max_chars, RATES[0])?.n;
    let mut plans: Vec<(i64, f64, FilterPlan)> = vec![];
    for room in ROOM {
        for fpr in RATES {
            let Ok(plan) = planned(room * max_chars, fpr) else {
                // too large, as those of lower rates are
                break;
            };
            if plans.iter().all(|(.., other)| other.shape != plan.shape) {
                plans.push((room * max_chars, fpr, plan));
            }
        }
    }
    plans.sort_by_key(|(.., plan)| plan.shape.m());
    let tick = RefCell::new(tick);
    let pairs = pairs(max_chars as u32, ngram as u8, &tick)?;
    let mut all = vec![];
    for (max_chars, fpr, plan) in plans {
        let shape = plan.shape;
        let (bias, deviation, unrelated) = measured(shape, &pairs, &tick)?;
        let (k, p) = (shape.k().into(), shape.p().into());
        all.push(Candidate {
            max_chars,
            fpr,
            shape,
            actual_fpr: false_positive(shape.k().into(), shape.m().into(), n.into()),
            bytes: Builder::size(shape),
            collision: collision(CollisionModel::Coll, p, n.into(), k)?,
            bias,
            deviation,
            unrelated,
        });
    }
    Ok(all)
}

/// Two sets of words, by what they are made of, and how similar they are.
struct Pair {
    a: Vec<String>,
    b: Vec<String>,
    words: f64,
    related: bool,
}

fn pairs(length: u32, ngram: u8, tick: &RefCell<impl FnMut()>) -> Result<Vec<Pair>> {
    let n = (SYMBOLS / length).clamp(LEAST_PAIRS, PAIRS);
    let mut random = Random(0);
    let mut pair = |common: u32, related| {
        (tick.borrow_mut())();
        if ngram > 0 {
            let a = random.text(length);
            let b = a[..common as usize].to_owned() + &random.text(length - common);
            let words = ngram::similarity(&a, &b, ngram, false, || (tick.borrow_mut())())?;
            return Ok(Pair {
                a: vec![a],
                b: vec![b],
                words,
                related,
            });
        }
        let a: Vec<String> = (0..length).map(|_| random.token()).collect();
        let rest = (common..length).map(|_| random.token());
        let b = a[..common as usize].iter().cloned().chain(rest).collect();
        let words = f64::from(common) / f64::from(2 * length - common);
        Ok(Pair {
            a,
            b,
            words,
            related,
        })
    };
    let similar = (0..n).map(|i| (u64::from(length) * u64::from(i) / u64::from(n - 1)) as u32);
    let mut all = vec![];
    for common in similar {
        all.push(pair(common, true)?);
    }
    for _ in 0..n / 4 {
        all.push(pair(0, false)?);
    }
    Ok(all)
}

/// Bias, deviation and the similarity of what is unrelated, as in [`Candidate`].
fn measured(shape: Shape, pairs: &[Pair], tick: &RefCell<impl FnMut()>) -> Result<(f64, f64, f64)> {
    let (mut sum, mut squares, mut related) = (0.0, 0.0, 0u32);
    let (mut unrelated, mut others) = (0.0, 0u32);
    let (mut a, mut b) = (vec![0; Builder::size(shape)], vec![0; Builder::size(shape)]);
    for pair in pairs {
        (tick.borrow_mut())();
        let x = signature(shape, &pair.a, &mut a, tick)?;
        let y = signature(shape, &pair.b, &mut b, tick)?;
        let bits = Popcounts::new(&x, &y)?.jaccard();
        if pair.related {
            let difference = bits - pair.words;
            sum += difference;
            squares += difference * difference;
            related += 1;
        } else {
            unrelated += bits;
            others += 1;
        }
    }
    let related = f64::from(related);
    Ok((
        sum / related,
        (squares / related).sqrt(),
        unrelated / f64::from(others),
    ))
}

fn signature<'b>(
    shape: Shape,
    words: &[String],
    bytes: &'b mut [u8],
    tick: &RefCell<impl FnMut()>,
) -> Result<View<'b>> {
    let mut builder = Builder::new(shape, bytes);
    for word in words {
        if shape.ngram() == 0 {
            builder.add_token(word)?;
        } else {
            builder.add_text(word, false, || (tick.borrow_mut())())?;
        }
    }
    Ok(builder.finish())
}

/// A multiplicative congruential generator is random enough to make words.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize * n) >> 31
    }

    /// So many symbols of syllables, as names have them.
    fn text(&mut self, length: u32) -> String {
        const BEGIN: [&str; 20] = [
            "b", "br", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "sch", "st",
            "t", "v", "w", "z",
        ];
        const MIDDLE: [&str; 8] = ["a", "e", "i", "o", "u", "ei", "ie", "a"];
        const END: [&str; 8] = ["", "", "n", "r", "l", "s", "rt", "nd"];
        let mut text = String::new();
        while text.len() < length as usize {
            text += BEGIN[self.below(BEGIN.len())];
            text += MIDDLE[self.below(MIDDLE.len())];
            text += END[self.below(END.len())];
        }
        text.truncate(length as usize);
        text
    }

    fn token(&mut self) -> String {
        let (high, low) = (self.below(1 << 30), self.below(1 << 30));
        format!("{high:x}_{low:x}")
    }
}
