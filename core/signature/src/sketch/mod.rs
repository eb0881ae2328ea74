//! Sketches of sets of tokens, by which the Jaccard similarity of two sets is estimated.
//!
//! A [`Signer`] mixes the 64-bit hash of each token in n ways and keeps of each way the least value: MinHash (A.
//! Broder: On the Resemblance and Containment of Documents, 1997). Two sets have a minimum in common with the
//! probability of their similarity. A sampled sketch keeps the lowest bit of each minimum: bits of unequal minima agree
//! half of the time (P. Li, A. C. König: b-Bit Minwise Hashing, WWW 2010).

mod bits;
mod header;
mod kernel;
pub mod query;
mod shape;
mod sign;
pub mod typmod;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use crate::version::{newer_version, VERSION};
pub use bits::{
    agreement, least_agreeing, sample, write_bits, write_minima, write_stored, BitsView, MinimaView,
};
pub use header::{parse_text, write_text, SketchView, HEADER};
pub use kernel::{kernels, SketchKernel};
pub use query::BitsQueryView;
pub use shape::{standard_error, SketchKind, SketchShape};
pub use sign::Signer;
