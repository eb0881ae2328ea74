//! Which bits a token sets: doubleHash and blakeHash of clkhash, and how many of them; and those of the own family.

use std::collections::HashMap;
use std::fmt;

use base::{Error, Result};
use blake2::digest::consts::U64;
use blake2::digest::{FixedOutput, Update};
use blake2::Blake2bMac;
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::Sha512;

/// How tokens become bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashKind {
    /// Bit (h₁ + i·h₂) mod l, where h₁ is HMAC-SHA1 and h₂ is HMAC-MD5, each mod l. If not `singular`, an h₂ of 0 is
    /// computed anew until it is another one.
    Double { singular: bool },
    /// Bit number i is the i-th of the 16-bit numbers of keyed BLAKE2b, 32 for each salt, mod l.
    Blake,
    /// One bit in each segment of this length: the i-th of the 32-bit numbers of HMAC-SHA512, 16 for each counter, as a
    /// fraction of the segment.
    Segments(u16),
}

impl fmt::Display for HashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HashKind::Double { singular: true } => f.write_str("doubleHash"),
            HashKind::Double { singular: false } => f.write_str("doubleHash not singular"),
            HashKind::Blake => f.write_str("blakeHash"),
            HashKind::Segments(p) => write!(f, "segments {p}"),
        }
    }
}

/// How many bits the tokens of a value set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Each so many.
    PerToken(u32),
    /// All of them so many, the first ones one more than the others if need be.
    PerFeature(u32),
}

impl Strategy {
    /// Bits of the token at `place` of `tokens`.
    pub fn bits(self, place: usize, tokens: usize) -> u32 {
        match self {
            Strategy::PerToken(bits) => bits,
            Strategy::PerFeature(bits) => {
                let (each, rest) = (bits as usize / tokens, bits as usize % tokens);
                (each + usize::from(place < rest)) as u32
            }
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::PerToken(bits) => write!(f, "token {bits}"),
            Strategy::PerFeature(bits) => write!(f, "feature {bits}"),
        }
    }
}

/// 16-bit numbers that one BLAKE2b gives.
const NUMBERS: usize = 32;

/// Segments that one HMAC-SHA512 decides.
const SEGMENTS: usize = 16;

/// The hash of one feature with its keys, of which there is one: its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Keyed {
    Double {
        sha1: Hmac<Sha1>,
        md5: Hmac<Md5>,
        singular: bool,
    },
    Blake(Vec<u8>),
    Segments {
        sha512: Hmac<Sha512>,
        p: u16,
    },
}

/// What is known of a token.
enum KnownToken {
    /// h₁ and h₂.
    Double(u32, u32),
    /// As many numbers as were asked for as yet.
    Blake(Vec<u16>),
    /// The bit in each segment.
    Segments(Vec<u32>),
}

impl KnownToken {
    /// Bytes behind it.
    fn bytes(&self) -> usize {
        match self {
            KnownToken::Segments(places) => size_of_val(&places[..]),
            _ => 0,
        }
    }
}

/// Hashes the tokens of one feature, and remembers them.
pub(crate) struct TokenHasher {
    keyed: Keyed,
    /// Bits of the filter.
    length: u32,
    known: HashMap<Vec<u8>, KnownToken>,
    /// Bytes of what is remembered, about.
    bytes: usize,
    most_bytes: usize,
}

impl TokenHasher {
    /// `most_bytes` may be remembered.
    ///
    /// Errors: a key that the hash does not take.
    pub fn new(
        kind: HashKind,
        [first, second]: [&[u8]; 2],
        length: u32,
        most_bytes: usize,
    ) -> Result<TokenHasher> {
        let keyed = match kind {
            HashKind::Double { singular } => Keyed::Double {
                sha1: Mac::new_from_slice(first).map_err(wrong_key)?,
                md5: Mac::new_from_slice(second).map_err(wrong_key)?,
                singular,
            },
            HashKind::Blake => {
                // It takes what one feature takes, or none.
                blake(first, 0)?;
                Keyed::Blake(first.to_vec())
            }
            HashKind::Segments(p) => Keyed::Segments {
                sha512: Mac::new_from_slice(first).map_err(wrong_key)?,
                p,
            },
        };
        Ok(TokenHasher {
            keyed,
            length,
            known: HashMap::new(),
            bytes: 0,
            most_bytes,
        })
    }

    /// Sets the bits of a token.
    ///
    /// Errors: none that [`TokenHasher::new`] has not found.
    pub fn set_bits(&mut self, token: &[u8], bits: u32, filter: &mut [u64]) -> Result<()> {
        let known = match self.known.get_mut(token) {
            Some(known) => known,
            None => {
                if self.bytes > self.most_bytes {
                    self.known.clear();
                    self.bytes = 0;
                }
                let of_token = self.keyed.token(token, self.length);
                self.bytes += size_of::<(Vec<u8>, KnownToken)>() + token.len() + of_token.bytes();
                self.known.entry(token.to_vec()).or_insert(of_token)
            }
        };
        self.bytes += self
            .keyed
            .set_bits(token, known, bits, self.length, filter)?;
        Ok(())
    }

    /// The same, of a token that will hardly come again, and is not remembered.
    ///
    /// Errors: as above.
    pub fn set_bits_once(&self, token: &[u8], bits: u32, filter: &mut [u64]) -> Result<()> {
        let mut known = self.keyed.token(token, self.length);
        self.keyed
            .set_bits(token, &mut known, bits, self.length, filter)?;
        Ok(())
    }
}

impl Keyed {
    fn token(&self, token: &[u8], length: u32) -> KnownToken {
        match self {
            Keyed::Double {
                sha1,
                md5,
                singular,
            } => {
                let first = remainder(&mac(sha1, &[token]), length);
                let mut step = remainder(&mac(md5, &[token]), length);
                // With a filter of one bit each is 0, for ever.
                let mut tries = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
                while step == 0 && !singular && length > 1 {
                    let Some(salt) = tries.next() else {
                        break;
                    };
                    let mut bytes = [0; 4];
                    let salt = salt.encode_utf8(&mut bytes).as_bytes();
                    step = remainder(&mac(md5, &[token, salt]), length);
                }
                KnownToken::Double(first, step)
            }
            Keyed::Blake(_) => KnownToken::Blake(Vec::new()),
            Keyed::Segments { sha512, p } => {
                let p = u32::from(*p);
                let segments: Vec<u32> = (0..length / p).collect();
                let mut places = Vec::with_capacity(segments.len());
                for (counter, some) in (0_u8..).zip(segments.chunks(SEGMENTS)) {
                    let digest = mac(sha512, &[&[counter], token]);
                    let (numbers, _) = digest.as_ref().as_chunks();
                    for (segment, number) in some.iter().zip(numbers) {
                        let at = (u64::from(u32::from_be_bytes(*number)) * u64::from(p)) >> 32;
                        places.push(segment * p + at as u32);
                    }
                }
                KnownToken::Segments(places)
            }
        }
    }

    /// Sets the bits of a token in a filter of so many, and gives by how many bytes more is known of it then.
    fn set_bits(
        &self,
        token: &[u8],
        known: &mut KnownToken,
        bits: u32,
        length: u32,
        filter: &mut [u64],
    ) -> Result<usize> {
        let mut more = 0;
        match known {
            KnownToken::Double(first, step) => {
                let (mut at, length) = (u64::from(*first), u64::from(length));
                for _ in 0..bits {
                    filter[at as usize / 64] |= 1 << (at % 64);
                    at += u64::from(*step);
                    if at >= length {
                        at -= length;
                    }
                }
            }
            KnownToken::Segments(places) => {
                for &at in places.iter() {
                    filter[at as usize / 64] |= 1 << (at % 64);
                }
            }
            KnownToken::Blake(numbers) => {
                while numbers.len() < bits as usize {
                    self.more(token, numbers)?;
                    more += NUMBERS * size_of::<u16>();
                }
                for number in &numbers[..bits as usize] {
                    let at = u32::from(*number) & (length - 1);
                    filter[at as usize / 64] |= 1 << (at % 64);
                }
            }
        }
        Ok(more)
    }

    /// Appends the numbers of the next salt.
    fn more(&self, token: &[u8], numbers: &mut Vec<u16>) -> Result<()> {
        let Keyed::Blake(key) = self else {
            return Ok(());
        };
        let mut hash = blake(key, numbers.len() / NUMBERS)?;
        Update::update(&mut hash, token);
        let digest = hash.finalize_fixed();
        let pairs = digest.chunks_exact(2);
        numbers.extend(pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
        Ok(())
    }
}

fn blake(key: &[u8], salt: usize) -> Result<Blake2bMac<U64>> {
    let salt = salt.to_string();
    Blake2bMac::new_with_salt_and_personal(key, salt.as_bytes(), &[]).map_err(wrong_key)
}

/// A key of HMAC or BLAKE2b of a length that it does not take.
fn wrong_key<E>(_: E) -> Error {
    Error::invalid("secret is too long for blakeHash")
        .detail("Without HKDF it is the key, which has 64 bytes at most.")
}

fn mac<M: Mac + Clone>(keyed: &M, parts: &[&[u8]]) -> impl AsRef<[u8]> {
    let mut mac = keyed.clone();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes()
}

/// Bytes as a number, the most significant one first, mod `length`.
fn remainder(digest: &impl AsRef<[u8]>, length: u32) -> u32 {
    let words = digest.as_ref().chunks_exact(4);
    let rest = words.fold(0, |rest: u64, word| {
        let word = word
            .iter()
            .fold(0, |word: u64, byte| word << 8 | u64::from(*byte));
        (rest << 32 | word) % u64::from(length)
    });
    rest as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clkhash's test_double_hash_singularity has it, with the keys themselves.
    #[test]
    fn a_singular_token_sets_one_bit() {
        let set = |token: &str, singular| {
            let kind = HashKind::Double { singular };
            let mut hasher =
                TokenHasher::new(kind, [b"secret1", b"secret2"], 1024, 1 << 10).unwrap();
            let mut filter = [0; 16];
            hasher.set_bits(token.as_bytes(), 20, &mut filter).unwrap();
            filter
        };
        let count = |filter: [u64; 16]| filter.iter().map(|word| word.count_ones()).sum::<u32>();
        for token in ["635", "1402"] {
            assert_eq!(count(set(token, true)), 1);
            assert!(count(set(token, false)) > 1);
        }
        for token in ["666", "1401"] {
            assert!(count(set(token, true)) > 1);
            assert_eq!(set(token, true), set(token, false));
        }
    }

    #[test]
    fn remainders_are_those_of_long_division() {
        assert_eq!(
            remainder(&[0, 0, 1, 0, 0, 0, 0, 7], 1000),
            ((256u64 << 32) % 1000 + 7) as u32 % 1000
        );
        assert_eq!(remainder(&[0xff; 20], 2), 1);
    }

    #[test]
    fn first_tokens_get_one_more() {
        let of = |place| Strategy::PerFeature(100).bits(place, 7);
        assert_eq!(
            (0..7).map(of).collect::<Vec<_>>(),
            [15, 15, 14, 14, 14, 14, 14]
        );
    }
}
