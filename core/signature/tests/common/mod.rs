//! Signatures for tests of laws.

use signature::filter::{Builder, Shape, View};
use signature::similarity::Popcounts;

pub const PRIMES: [i64; 10] = [5, 7, 11, 13, 31, 43, 61, 97, 127, 251];

/// The signature of a text.
pub fn build(shape: Shape, text: &str) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_text(text, false, || ()).unwrap();
    builder.finish();
    bytes
}

/// Popcounts of two signatures of one shape.
pub fn counts(a: &[u8], b: &[u8]) -> Popcounts {
    Popcounts::new(&View::stored(a).unwrap(), &View::stored(b).unwrap()).unwrap()
}
