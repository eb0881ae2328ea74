//! Records become bits.

use std::borrow::Cow;

use base::{Error, Result};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::compare::TokenBuffer;
use crate::hash::TokenHasher;
use crate::schema::{Hashed, Schema};

/// A schema with the keys of a secret.
pub struct Encoder {
    schema: Schema,
    id: u64,
    /// One for each feature that is hashed, at its place.
    hashers: Vec<Option<TokenHasher>>,
    /// The filter before it is folded, in words.
    filter: Vec<u64>,
    buffer: TokenBuffer,
    bytes: Vec<u8>,
}

impl Encoder {
    /// `memory` bytes may be used to remember tokens, which are hashed once then.
    ///
    /// Errors: an empty secret; one that is too long for a key, where it is one.
    pub fn new(schema: Schema, secret: &[u8], memory: usize) -> Result<Encoder> {
        if secret.is_empty() {
            return Err(Error::invalid("secret is empty"));
        }
        let length = schema.unfolded();
        let hashed = |n: usize| schema.features[n].hashed.as_ref();
        let share = memory / schema.features.len().max(1);
        let mut hashers: Vec<Option<TokenHasher>> = Vec::new();
        let features = schema.features.len();
        schema.derivation.keys(secret, features, |n, keys| {
            let hasher = hashed(n).map(|of| TokenHasher::new(of.hash, keys, length, share));
            hashers.push(hasher.transpose()?);
            Ok(())
        })?;
        Ok(Encoder {
            id: id_of(secret, &schema),
            filter: vec![0; length.div_ceil(64) as usize],
            schema,
            hashers,
            buffer: TokenBuffer::default(),
            bytes: Vec::new(),
        })
    }

    /// Eight bytes that secret and schema decide, and that say nothing about either, but to those who try secrets. Never 0.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Sets the bits of a record in `to`, which are 0: bit i in byte i/8 at 2^(i mod 8). `value` gives that of the
    /// feature with a number, an empty text for one that is not there; it is not asked for those that are left out.
    ///
    /// Errors: a value that its feature may not have; those of `value`.
    pub fn encode<'v>(
        &mut self,
        mut value: impl FnMut(usize) -> Result<Cow<'v, str>>,
        to: &mut [u8],
    ) -> Result<()> {
        self.filter.fill(0);
        for (n, feature) in self.schema.features.iter().enumerate() {
            if let (Some(hashed), Some(hasher)) = (&feature.hashed, &mut self.hashers[n]) {
                let of_feature = OfFeature {
                    hashed,
                    hasher,
                    buffer: &mut self.buffer,
                    bytes: &mut self.bytes,
                };
                let added = of_feature.add(&value(n)?, &mut self.filter);
                added.map_err(|e| name_feature(e, &feature.name))?;
            }
        }
        self.fold(to);
        Ok(())
    }

    /// Folding in two as often as it is asked for makes bit i of all bits at a distance of multiples of the length.
    fn fold(&self, to: &mut [u8]) {
        let length = self.schema.length;
        for (n, word) in self.filter.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let at = (64 * n as u32 + rest.trailing_zeros()) % length;
                to[at as usize / 8] ^= 1 << (at % 8);
                rest &= rest - 1;
            }
        }
    }
}

/// The value of one feature on its way.
struct OfFeature<'e> {
    hashed: &'e Hashed,
    hasher: &'e mut TokenHasher,
    buffer: &'e mut TokenBuffer,
    bytes: &'e mut Vec<u8>,
}

impl OfFeature<'_> {
    fn add(self, value: &str, filter: &mut [u64]) -> Result<()> {
        let OfFeature {
            hashed,
            hasher,
            buffer,
            bytes,
        } = self;
        let missing = hashed
            .missing
            .as_ref()
            .filter(|missing| missing.sentinel == value);
        let text = match missing {
            Some(missing) => missing.replacement.as_deref().unwrap_or(value).into(),
            None => hashed.format.read(value, hashed.encoding)?,
        };
        let tokens = hashed.comparison.number_of_tokens(&text);
        let mut place = 0;
        hashed.comparison.tokens(&text, buffer, |token| {
            let bits = hashed.strategy.bits(place, tokens);
            place += 1;
            hasher.set_bits(hashed.encoding.bytes(token, bytes), bits, filter)
        })
    }
}

/// HMAC-SHA256 of the canonical schema by the secret, of which the first eight bytes are enough.
fn id_of(secret: &[u8], schema: &Schema) -> u64 {
    hash_of(secret, &["bloom_ident id 1\n", &schema.canonical()])
}

/// The check value of a secret itself: eight bytes that tell whether two are the same. Never 0.
pub fn check_value(secret: &[u8]) -> u64 {
    hash_of(secret, &["bloom_ident secret 1\n"])
}

fn hash_of(secret: &[u8], parts: &[&str]) -> u64 {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part.as_bytes()));
    let digest = mac.finalize().into_bytes();
    let first = digest.first_chunk().expect("32 bytes");
    u64::from_be_bytes(*first).max(1)
}

/// What is wrong with a value, as a message about its feature.
#[cold]
fn name_feature(error: Error, name: &str) -> Error {
    let why = error.message();
    Error::new(
        error.kind(),
        format!("member \"{name}\" of the record {why}"),
    )
    .detail("The value is not shown, since it may be one of a person.")
}
