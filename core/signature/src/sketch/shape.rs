//! What two sketches must have in common to be compared.

use base::range::unit;
use base::{Error, Result};
use std::fmt;

/// What a sketch keeps of each minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SketchKind {
    /// All its 32 bits: the type `minhash`.
    Minima,
    /// The lowest bit: the type `minhash_bits`.
    Bits,
}

impl SketchKind {
    /// The name of the type.
    pub fn type_name(self) -> &'static str {
        match self {
            SketchKind::Minima => "minhash",
            SketchKind::Bits => "minhash_bits",
        }
    }

    /// Bytes behind the header.
    pub fn payload(self, shape: SketchShape) -> usize {
        match self {
            SketchKind::Minima => 4 * shape.lanes(),
            SketchKind::Bits => shape.lanes().div_ceil(8),
        }
    }
}

/// Number of minima and hash family. Ordered by these in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SketchShape {
    pub(super) n: u16,
    pub(super) family: u16,
}

impl SketchShape {
    /// Most minima.
    pub const MOST: u16 = 1024;

    /// Errors: n not in 1…1024, family not in 0…65535.
    pub fn new(n: i64, family: i64) -> Result<SketchShape> {
        if !(1..=i64::from(Self::MOST)).contains(&n) {
            return Err(
                Error::invalid(format!("number of minima n = {n} is out of range"))
                    .detail(format!("n goes from 1 to {}.", Self::MOST)),
            );
        }
        let family = u16::try_from(family).map_err(|_| {
            Error::invalid(format!("hash family {family} is out of range"))
                .detail(format!("A family is a number from 0 to {}.", u16::MAX))
        })?;
        Ok(SketchShape {
            n: n as u16,
            family,
        })
    }

    /// Minima.
    pub fn n(self) -> u16 {
        self.n
    }

    /// Hash family.
    pub fn family(self) -> u16 {
        self.family
    }

    /// Minima, as a length.
    pub(super) fn lanes(self) -> usize {
        self.n.into()
    }

    /// The error of two values that cannot be compared.
    #[cold]
    pub fn mismatch(kind: SketchKind, a: SketchShape, b: SketchShape) -> Error {
        let name = kind.type_name();
        Error::data_exception(format!("cannot compare {name}{a} with {name}{b}"))
            .detail(
                "Sketches compare only when the number of minima and the hash family are the same.",
            )
            .hint("Compute both with the same n and family.")
    }
}

/// `(n)`, or `(n,family)` where that is not 0, as in a type modifier.
impl fmt::Display for SketchShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family {
            0 => write!(f, "({})", self.n),
            family => write!(f, "({},{family})", self.n),
        }
    }
}

// How far an estimate is from the similarity that it estimates.

/// The standard error of an estimate from `n` minima or bits, for sets of Jaccard similarity s: √(s·(1 − s)/n) from
/// minima, √((1 − s²)/n) from bits, since each bit agrees with probability (1 + s)/2.
///
/// Errors: a similarity outside 0…1, n not in 1…1024.
pub fn standard_error(similarity: f64, n: i64, kind: SketchKind) -> Result<f64> {
    unit("similarity", similarity)?;
    let n = f64::from(SketchShape::new(n, 0)?.n());
    let variance = match kind {
        SketchKind::Minima => similarity * (1.0 - similarity),
        SketchKind::Bits => (1.0 - similarity) * (1.0 + similarity),
    };
    Ok((variance / n).sqrt())
}
