//! What two signatures must have in common to be compared.

use std::fmt;

use crate::{ngram, text, Error, ErrorKind, Result};

/// Segments, segment length, n-gram length, rule set of the normaliser, hash family and key.
///
/// Ordered by these in turn. Hash family 0 is the double hashing of [`super`], key 0 is none;
/// others are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub(super) k: u8,
    pub(super) p: u16,
    pub(super) ngram: u8,
    pub(super) rules: u8,
    pub(super) family: u8,
    pub(super) key: u8,
}

impl Shape {
    /// Most segments.
    pub const MAX_K: u8 = 64;
    /// Least bits of a segment.
    pub const MIN_P: u16 = 5;
    /// Most bits of a segment.
    pub const MAX_P: u16 = 8191;

    /// The shape (k, p, ngram) under the rules of this version.
    ///
    /// Errors: k not in 1…64, p not prime or not in 5…8191, ngram not in 2…8.
    pub fn new(k: i64, p: i64, ngram: i64) -> Result<Shape> {
        let bad = |message| Error::new(ErrorKind::InvalidParameter, message);
        if !(1..=i64::from(Self::MAX_K)).contains(&k) {
            return Err(bad(format!("number of segments k = {k} is out of range"))
                .detail("k goes from 1 to 64."));
        }
        if !(i64::from(Self::MIN_P)..=i64::from(Self::MAX_P)).contains(&p) {
            return Err(bad(format!("segment length p = {p} is out of range"))
                .detail("p is a prime from 5 to 8191."));
        }
        if !is_prime(p as u32) {
            return Err(bad(format!("segment length p = {p} is not a prime"))
                .detail("p is a prime from 5 to 8191.")
                .hint(format!(
                    "Use {}, the next prime below, or let bloom_plan() choose.",
                    prime_at_most(p as u32)
                )));
        }
        Ok(Shape {
            k: k as u8,
            p: p as u16,
            ngram: ngram::check_length(ngram)?,
            rules: text::RULES,
            family: 0,
            key: 0,
        })
    }

    /// Sets rule set, hash family and key as read from a stored value.
    ///
    /// There is one rule set as yet, so this accepts [`text::RULES`] only, and sets it. With a second one it must accept all
    /// that ever were, and keep the one that it read, or no dump of an older version could be restored: reading and
    /// comparing values needs no rules, and two rule sets make two shapes. What needs the rules that made a value, and must
    /// then refuse values of others or know those rules, are the functions that set or test bits by a text:
    /// [`Builder::add_text`](super::Builder::add_text) on a stored value (SQL's `bloom_add`) would mix rule sets, and
    /// [`contains_text`](super::contains_text) would miss n-grams. They normalise by the newest rules and do not look at the shape's.
    ///
    /// Errors: one that this version does not know.
    pub fn with_variant(mut self, rules: i64, family: i64, key: i64) -> Result<Shape> {
        let known = [
            ("rule set", rules, i64::from(text::RULES)),
            ("hash family", family, 0),
            ("key", key, 0),
        ];
        for (what, is, wanted) in known {
            if is != wanted {
                return Err(Error::new(
                    ErrorKind::InvalidParameter,
                    format!("{what} {is} is unknown to this version of bloom_ident"),
                )
                .detail(format!("This version knows {what} {wanted}."))
                .hint("Install the version that made the signature, or compute it again."));
            }
        }
        self.rules = text::RULES;
        Ok(self)
    }

    /// The shape in the first eight bytes of a signature, whatever they are.
    pub fn of_tag(tag: u64) -> Shape {
        let [_, k, p0, p1, ngram, rules, family, key] = tag.to_le_bytes();
        Shape {
            k,
            p: u16::from_le_bytes([p0, p1]),
            ngram,
            rules,
            family,
            key,
        }
    }

    /// Whether signatures can have it, which is to be asked where it was read.
    ///
    /// Errors: those of [`Shape::new`] and [`Shape::with_variant`].
    pub fn check(&self) -> Result<()> {
        Shape::new(self.k.into(), self.p.into(), self.ngram.into())?
            .with_variant(self.rules.into(), self.family.into(), self.key.into())
            .map(|_| ())
    }

    /// Segments.
    pub fn k(&self) -> u8 {
        self.k
    }

    /// Bits of a segment.
    pub fn p(&self) -> u16 {
        self.p
    }

    /// Symbols of an n-gram.
    pub fn ngram(&self) -> u8 {
        self.ngram
    }

    /// Rule set of the normaliser.
    pub fn rules(&self) -> u8 {
        self.rules
    }

    /// Hash family.
    pub fn family(&self) -> u8 {
        self.family
    }

    /// Key id.
    pub fn key(&self) -> u8 {
        self.key
    }

    /// Bits in all, m = k·p.
    pub fn m(&self) -> u32 {
        u32::from(self.k) * u32::from(self.p)
    }

    /// Bytes that hold them.
    pub fn bytes(&self) -> usize {
        self.m().div_ceil(8) as usize
    }

    /// The error of two values that cannot be compared.
    #[cold]
    pub fn mismatch(a: Shape, b: Shape) -> Error {
        Error::new(ErrorKind::DataException, format!("different signature shapes {a} and {b}"))
            .detail(
                "Signatures compare only when segments, segment length, n-gram length and rule set are the same.",
            )
            .hint("Compute both with the same ngram, max_chars and fpr.")
    }
}

/// `(k,p,ngram)`, and what departs from rule set 1, family 0 and key 0 behind it: fixed defaults, so
/// that a stored text never changes its meaning.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{}", self.k, self.p, self.ngram)?;
        if self.rules != 1 {
            write!(f, ",rules={}", self.rules)?;
        }
        if self.family != 0 {
            write!(f, ",hash={}", self.family)?;
        }
        if self.key != 0 {
            write!(f, ",key={}", self.key)?;
        }
        f.write_str(")")
    }
}

pub(super) fn is_prime(n: u32) -> bool {
    n > 1
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

/// The largest prime ≤ n, at least 5.
pub(super) fn prime_at_most(n: u32) -> u32 {
    (5..=n).rev().find(|&n| is_prime(n)).unwrap_or(5)
}
