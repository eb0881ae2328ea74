//! Hardening: what makes patterns of bits harder to find. It is decided by the secret, so all who take part have the same.
//!
//! - **Salt**: values of a record are hashed with each token, so that equal names of different people set other bits (F.
//!   Niedermeyer et al.: Cryptanalysis of Basic Bloom Filters Used for Privacy Preserving Record Linkage, Journal of Privacy
//!   and Confidentiality 6, 2014).
//! - **Diffusion**: each bit of the result is the exclusive or of some bits of the filter (F. Armknecht, Y. Heng, R. Schnell:
//!   Strengthening Privacy-Preserving Record Linkage using Diffusion, PoPETs 2023).
//! - **Balancing**: the filter and its complement, in an order that the secret decides, so that every result has as many bits
//!   set (R. Schnell, C. Borgs: Randomized Response and Balanced Bloom Filters for Privacy Preserving Record Linkage, ICDM
//!   Workshops 2016).

use std::fmt::Write;

use base::{Error, Result};
use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::json::Member;

/// Most bits that one bit of a result is made of.
const MOST_SOURCES: u64 = 64;

/// Most members of a salt.
const MOST_SALTS: usize = 8;

/// What is done to a filter besides clkhash's rules.
#[derive(Clone, Debug, Default)]
pub struct Hardening {
    /// Members of the record whose values are hashed with each token.
    pub(crate) salt: Vec<String>,
    /// Bits of the filter that each bit of the result is made of.
    pub(crate) diffusion: Option<u32>,
    pub(crate) balance: bool,
}

impl Hardening {
    /// Reads an object with the members `salt` (names of members of the record), `diffusion` (a number) and `balance`.
    ///
    /// Errors: it is none; other members; values that are out of range.
    pub fn new(hardening: &Value) -> Result<Hardening> {
        let root = Member::of("hardening", hardening);
        root.check_members(&["salt", "diffusion", "balance"])?;
        let salt = match root.get("salt")? {
            None => Vec::new(),
            Some(salt) => {
                let names = salt.items()?.map(|name| name.text().map(str::to_owned));
                let names = names.collect::<Result<Vec<_>>>()?;
                if names.is_empty() || names.len() > MOST_SALTS {
                    let must = format!("an array of 1 to {MOST_SALTS} names of members");
                    return Err(salt.wrong(&must));
                }
                names
            }
        };
        let diffusion = root.get("diffusion")?;
        let diffusion = diffusion.map(|bits| bits.integer(2, MOST_SOURCES));
        let balance = root.get("balance")?.map(|balance| balance.boolean());
        Ok(Hardening {
            salt,
            diffusion: diffusion.transpose()?.map(|bits| bits as u32),
            balance: balance.transpose()?.unwrap_or(false),
        })
    }

    /// The names of the members that are the salt.
    pub fn salt(&self) -> impl Iterator<Item = &str> {
        self.salt.iter().map(String::as_str)
    }

    /// All of it in one form, empty for none. `kind` says of a member in what form its value is taken, if that is not as it
    /// stands.
    pub(crate) fn canonical(&self, kind: impl Fn(&str) -> Option<&'static str>) -> String {
        let mut form = String::new();
        for name in &self.salt {
            let _ = write!(form, "salt {}", Value::from(name.as_str()));
            if let Some(kind) = kind(name) {
                let _ = write!(form, " {kind}");
            }
            form.push('\n');
        }
        if let Some(bits) = self.diffusion {
            let _ = writeln!(form, "diffusion {bits}");
        }
        if self.balance {
            form.push_str("balance\n");
        }
        form
    }
}

/// A map of bits that a secret decides.
pub(crate) struct BitMap {
    /// For each bit of the result, in order, the bits of the filter that it is made of, as many each.
    sources: Vec<u32>,
    of_each: usize,
    /// Where each bit goes, and then where its complement does; empty if they are not balanced.
    places: Vec<u32>,
    length: u32,
}

impl BitMap {
    /// That of a filter of so many bits.
    ///
    /// Errors: a bit is to be made of more bits than there are.
    pub fn new(hardening: &Hardening, secret: &[u8], length: u32) -> Result<BitMap> {
        let mut sources = Vec::new();
        let of_each = hardening.diffusion.unwrap_or(0) as usize;
        if of_each > 0 {
            if of_each > length as usize {
                return Err(Error::invalid(format!(
                    "diffusion {of_each} of a filter of {length} bits"
                ))
                .detail("A bit of the result is made of some bits of the filter."));
            }
            let mut numbers = Numbers::new(secret, "diffusion");
            sources.reserve_exact(of_each * length as usize);
            for bit in 0..length as usize {
                while sources.len() < of_each * (bit + 1) {
                    let source = numbers.below(length);
                    if !sources[of_each * bit..].contains(&source) {
                        sources.push(source);
                    }
                }
            }
        }
        let mut places = Vec::new();
        if hardening.balance {
            let mut numbers = Numbers::new(secret, "balance");
            places.extend(0..2 * length);
            for last in (1..places.len()).rev() {
                places.swap(last, numbers.below(last as u32 + 1) as usize);
            }
        }
        Ok(BitMap {
            sources,
            of_each,
            places,
            length,
        })
    }

    /// Sets the bits of the result in `to`, which are 0, for a filter: bit i is in byte i/8 at 2^(i mod 8).
    pub fn apply(&self, filter: &[u8], to: &mut [u8], spread: &mut Vec<u8>) {
        let bit = |bits: &[u8], at: u32| bits[at as usize / 8] >> (at % 8) & 1;
        let mut from = filter;
        if !self.sources.is_empty() {
            // Without a branch for each bit, of which half are set.
            spread.clear();
            spread.extend(self.sources.chunks(8 * self.of_each).map(|of_byte| {
                let of_bits = of_byte.chunks_exact(self.of_each).enumerate();
                of_bits.fold(0, |byte, (place, sources)| {
                    let all = sources.iter().fold(0, |all, &at| all ^ bit(filter, at));
                    byte | all << place
                })
            }));
            from = spread;
        }
        if self.places.is_empty() {
            to.copy_from_slice(from);
            return;
        }
        let (bits, complements) = self.places.split_at(self.length as usize);
        for (at, (&place, &other)) in (0..).zip(bits.iter().zip(complements)) {
            let place = if bit(from, at) == 1 { place } else { other };
            to[place as usize / 8] |= 1 << (place % 8);
        }
    }
}

/// Numbers that a secret decides: HMAC-SHA256 of a purpose and a counter.
struct Numbers<'s> {
    secret: &'s [u8],
    purpose: &'static str,
    block: u64,
    words: Vec<u32>,
}

impl Numbers<'_> {
    fn new<'s>(secret: &'s [u8], purpose: &'static str) -> Numbers<'s> {
        Numbers {
            secret,
            purpose,
            block: 0,
            words: Vec::new(),
        }
    }

    fn next(&mut self) -> u32 {
        if self.words.is_empty() {
            let mac = Hmac::<Sha256>::new_from_slice(self.secret);
            let mut mac = mac.expect("HMAC takes keys of any length");
            mac.update(format!("bloom_ident {} 1\n", self.purpose).as_bytes());
            mac.update(&self.block.to_be_bytes());
            self.block += 1;
            let digest = mac.finalize().into_bytes();
            let (words, _) = digest.as_chunks();
            self.words
                .extend(words.iter().map(|word| u32::from_be_bytes(*word)));
        }
        self.words.pop().expect("a block has eight")
    }

    /// Each number below `most` as often as another one.
    fn below(&mut self, most: u32) -> u32 {
        let whole = u32::MAX - u32::MAX % most;
        loop {
            let number = self.next();
            if number < whole {
                return number % most;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardening(text: &str) -> Result<Hardening> {
        Hardening::new(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn balanced_filters_have_half_of_their_bits_set() {
        let map = BitMap::new(&hardening(r#"{"balance": true}"#).unwrap(), b"secret", 40).unwrap();
        for filter in [[0; 5], [0xff; 5], [1, 2, 3, 4, 5]] {
            let mut to = [0; 10];
            map.apply(&filter, &mut to, &mut Vec::new());
            assert_eq!(
                to.iter().map(|byte: &u8| byte.count_ones()).sum::<u32>(),
                40
            );
        }
    }

    /// Diffusion is linear: what two filters differ in decides what their results differ in.
    #[test]
    fn diffusion_is_the_exclusive_or_of_bits() {
        let map = BitMap::new(&hardening(r#"{"diffusion": 7}"#).unwrap(), b"secret", 64).unwrap();
        let spread = |filter: u64| {
            let mut to = [0; 8];
            map.apply(&filter.to_le_bytes(), &mut to, &mut Vec::new());
            u64::from_le_bytes(to)
        };
        let all: u64 = (0..64).map(|bit| spread(1 << bit)).fold(0, |a, b| a ^ b);
        // Each bit of the result has seven sources, which is odd.
        assert_eq!((spread(0), all, spread(u64::MAX)), (0, u64::MAX, u64::MAX));
        assert_eq!(spread(0x1234) ^ spread(0xff00), spread(0x1234 ^ 0xff00));
        let other = BitMap::new(&hardening(r#"{"diffusion": 7}"#).unwrap(), b"Secret", 64).unwrap();
        assert_ne!(map.sources, other.sources);
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for wrong in [
            r#"{"salt": "born"}"#,
            r#"{"salt": []}"#,
            r#"{"diffusion": 1}"#,
            r#"{"diffusion": 65}"#,
            r#"{"balance": 1}"#,
            r#"{"pepper": 1}"#,
        ] {
            hardening(wrong).expect_err(wrong);
        }
        assert!(BitMap::new(&hardening(r#"{"diffusion": 9}"#).unwrap(), b"s", 8).is_err());
        assert_eq!(hardening("{}").unwrap().canonical(|_| None), "");
    }
}
