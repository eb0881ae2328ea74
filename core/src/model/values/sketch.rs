//! Sketches of values: records with similar values are found by equal parts of their sketches, in time that grows with the records and not with their
//! pairs (MinHash; A. Broder: On the Resemblance and Containment of Documents, 1997).

use super::{date, FieldLayout, Kind};
use crate::ngram::for_each_normal_ngram;
use crate::text::normalize;
use crate::Result;

/// Parts of a sketch. Two values have each of them in common with the probability of the Jaccard similarity of their n-grams.
pub const PARTS: usize = 8;

/// A sketch, four parts of 16 bits a word; all 0 if there is no value.
pub type Sketch = [u64; PARTS / 4];

const NGRAM: u8 = 3;

/// Odd factors, one for each part: the first digits of the square roots of small primes.
const FACTORS: [u64; PARTS] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Bits that are well mixed (the finaliser of D. Lea's and G. Steele's SplittableRandom).
fn mix(x: u64) -> u64 {
    let z = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

struct Least([u64; PARTS]);

impl Least {
    #[inline]
    fn add(&mut self, token: u64) {
        let token = mix(token + 1);
        for (least, factor) in self.0.iter_mut().zip(FACTORS) {
            *least = (*least).min(token.wrapping_mul(factor));
        }
    }
}

/// How many parts of two values' sketches have to be the same at once, so that values which are as similar as this, in hundredths, are found, and few
/// others.
pub fn parts_at_once(least: u32) -> usize {
    match least {
        ..55 => 1,
        _ => 2,
    }
}

/// The part of a sketch with this number; 0 if there is no value.
#[inline]
pub fn part(sketch: Sketch, number: usize) -> u16 {
    (sketch[number / 4] >> (number % 4 * 16)) as u16
}

impl FieldLayout {
    /// The sketch of a value: of the parts of a date, of the name in an e-mail address, of the n-grams of anything else.
    ///
    /// Errors: out of memory.
    pub fn sketch(&self, text: &str) -> Result<Sketch> {
        let normal = self.normal(text)?;
        if normal.is_empty() || self.kind() == Kind::Number {
            return Ok(Sketch::default());
        }
        let mut least = Least([u64::MAX; PARTS]);
        let date = Some(self.kind()).filter(|&kind| kind == Kind::Date);
        match date.and_then(|_| date::digits_of(text)) {
            // day and month may have changed places
            Some(digits) => [1 << 16 | digits >> 16, digits >> 8 & 0xff, digits & 0xff]
                .into_iter()
                .for_each(|token| least.add(u64::from(token))),
            None => {
                let name = match self.kind() {
                    Kind::Email => text
                        .rsplit_once('@')
                        .map(|(name, _)| normalize(name, true, || ())),
                    _ => None,
                };
                let name = name.transpose()?.filter(|name| !name.is_empty());
                // the first and the last n-gram are a letter and padding, which says nothing
                let (mut held, mut first) = (None, true);
                for_each_normal_ngram(name.as_deref().unwrap_or(&normal), NGRAM, |token| {
                    if let Some(token) = held.replace(token) {
                        if !std::mem::take(&mut first) {
                            least.add(token);
                        }
                    }
                });
            }
        }
        let mut sketch = Sketch::default();
        for (i, least) in least.0.into_iter().enumerate() {
            sketch[i / 4] |= (mix(least) & 0xffff).max(1) << (i % 4 * 16);
        }
        Ok(sketch)
    }
}
