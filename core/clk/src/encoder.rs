//! Records become bits.

use std::borrow::Cow;

use base::{Error, Result};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::compare::TokenBuffer;
use crate::harden::{BitMap, Hardening};
use crate::hash::TokenHasher;
use crate::own;
use crate::schema::{Hashed, Schema};
use signature::filter::Shape;

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
    hardening: Hardening,
    /// What becomes of the bits, if anything does.
    map: Option<BitMap>,
    folded: Vec<u8>,
    spread: Vec<u8>,
    salt: Vec<u8>,
}

impl Encoder {
    /// `memory` bytes may be used to remember tokens, which are hashed once then.
    ///
    /// Errors: an empty secret; one that is too long for a key, where it is one.
    pub fn new(
        schema: Schema,
        hardening: Hardening,
        secret: &[u8],
        memory: usize,
    ) -> Result<Encoder> {
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
        let is_mapped = hardening.diffusion.is_some() || hardening.balance;
        let map = is_mapped.then(|| BitMap::new(&hardening, secret, schema.length));
        Ok(Encoder {
            id: id_of(secret, &schema, &hardening),
            map: map.transpose()?,
            folded: vec![0; schema.length.div_ceil(8) as usize],
            spread: Vec::new(),
            salt: Vec::new(),
            hardening,
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

    /// What is done to filters besides.
    pub fn hardening(&self) -> &Hardening {
        &self.hardening
    }

    /// The shape of the results.
    ///
    /// Errors: they have too many bits, or segments.
    pub fn shape(&self) -> Result<Shape> {
        let balance = self.hardening.balance;
        match self.schema.own {
            Some(shape) => own::keyed(shape, balance, self.id),
            None => {
                let length = i64::from(self.schema.length) * if balance { 2 } else { 1 };
                Shape::of_records(length, self.id)
            }
        }
    }

    /// Has the values of the salt, in the order of [`Hardening::salt`], be hashed with the tokens of the next record. One that
    /// is a feature of the schema, too, is taken in the form in which that is hashed, so that it does not matter how a
    /// register writes it. Whether all are there: who has none would have the same salt as all others without.
    ///
    /// Errors: a value that its feature may not have.
    pub fn set_salt(&mut self, values: &[Cow<'_, str>]) -> Result<bool> {
        self.salt.clear();
        for (name, value) in self.hardening.salt.iter().zip(values) {
            let mut features = self.schema.features.iter();
            let feature = features.find(|feature| feature.name == *name);
            let text = match feature.and_then(|feature| feature.hashed.as_ref()) {
                None => Cow::Borrowed(value.as_ref()),
                Some(Hashed { missing, .. })
                    if missing
                        .as_ref()
                        .is_some_and(|missing| missing.sentinel == *value) =>
                {
                    return Ok(false);
                }
                Some(hashed) => {
                    let read = hashed.format.read(value, hashed.encoding);
                    read.map_err(|e| name_feature(e, name))?
                }
            };
            if text.is_empty() {
                return Ok(false);
            }
            // Behind the length no value can be taken for another one, and a token.
            self.salt.push(SEPARATOR);
            self.salt
                .extend_from_slice(&(text.len() as u32).to_be_bytes());
            self.salt.extend_from_slice(text.as_bytes());
        }
        Ok(true)
    }

    /// Sets the bits of a record in `to`, which are 0: bit i in byte i/8 at 2^(i mod 8). `value` gives that of the
    /// feature with a number, an empty text for one that is not there; it is not asked for those that are left out. `tick` is
    /// called for each token.
    ///
    /// Errors: a value that its feature may not have; those of `value`.
    pub fn encode<'v>(
        &mut self,
        mut value: impl FnMut(usize) -> Result<Cow<'v, str>>,
        to: &mut [u8],
        mut tick: impl FnMut(),
    ) -> Result<()> {
        self.filter.fill(0);
        for (n, feature) in self.schema.features.iter().enumerate() {
            if let (Some(hashed), Some(hasher)) = (&feature.hashed, &mut self.hashers[n]) {
                let of_feature = OfFeature {
                    hashed,
                    hasher,
                    buffer: &mut self.buffer,
                    bytes: &mut self.bytes,
                    salt: &self.salt,
                };
                let added = of_feature.add(&value(n)?, &mut self.filter, &mut tick);
                added.map_err(|e| name_feature(e, &feature.name))?;
            }
        }
        self.buffer.shrink();
        let Some(map) = &self.map else {
            fold(&self.filter, self.schema.length, to);
            return Ok(());
        };
        self.folded.fill(0);
        fold(&self.filter, self.schema.length, &mut self.folded);
        map.apply(&self.folded, to, &mut self.spread);
        Ok(())
    }
}

/// Folding in two as often as it is asked for makes bit i of all bits at a distance of multiples of the length.
fn fold(filter: &[u64], length: u32, to: &mut [u8]) {
    for (n, word) in filter.iter().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let at = (64 * n as u32 + rest.trailing_zeros()) % length;
            to[at as usize / 8] ^= 1 << (at % 8);
            rest &= rest - 1;
        }
    }
}

/// What stands between a token and a salt.
const SEPARATOR: u8 = 0x1f;

/// The value of one feature on its way.
struct OfFeature<'e> {
    hashed: &'e Hashed,
    hasher: &'e mut TokenHasher,
    buffer: &'e mut TokenBuffer,
    bytes: &'e mut Vec<u8>,
    salt: &'e [u8],
}

impl OfFeature<'_> {
    fn add(self, value: &str, filter: &mut [u64], mut tick: impl FnMut()) -> Result<()> {
        let OfFeature {
            hashed,
            hasher,
            buffer,
            bytes,
            salt,
        } = self;
        let mut salted = Vec::new();
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
            tick();
            let bits = hashed.strategy.bits(place, tokens);
            place += 1;
            let token = hashed.encoding.bytes(token, bytes);
            if salt.is_empty() {
                return hasher.set_bits(token, bits, filter);
            }
            salted.clear();
            salted.extend_from_slice(token);
            salted.extend_from_slice(salt);
            // Salts are nearly each record's own.
            hasher.set_bits_once(&salted, bits, filter)
        })
    }
}

/// HMAC-SHA256 of the canonical schema and hardening by the secret, of which the first eight bytes are enough.
fn id_of(secret: &[u8], schema: &Schema, hardening: &Hardening) -> u64 {
    let kind = |name: &str| {
        let feature = schema.features.iter().find(|feature| feature.name == name);
        let hashed = feature.and_then(|feature| feature.hashed.as_ref())?;
        Some(hashed.format.kind()).filter(|kind| *kind != "text")
    };
    let hardening = hardening.canonical(kind);
    let schema = schema.canonical();
    hash_of(secret, &["bloom_ident id 1\n", &schema, &hardening])
}

/// The check value of a secret itself: eight bytes that tell whether two are the same. Never 0.
pub fn check_value(secret: &[u8]) -> u64 {
    hash_of(secret, &["bloom_ident secret 1\n"])
}

/// The id of signatures of an id whose bits were flipped with a probability.
pub fn flipped_id(id: u64, probability: f64) -> u64 {
    let how = format!("bloom_ident flip 1\n{probability}\n");
    hash_of(&id.to_be_bytes(), &[&how])
}

fn hash_of(secret: &[u8], parts: &[&str]) -> u64 {
    // HMAC takes a key for one with zeros behind it, and for the hash of a long one; HKDF does not.
    let key = Sha256::digest(secret);
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
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
