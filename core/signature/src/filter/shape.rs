//! What two signatures must have in common to be compared.

use std::fmt;

use crate::version::{KEYED, VERSION};
use base::{Error, ErrorKind, Result};
use text::{ngram, tokens, Rules};

/// Bits for the 45 tokens of a date at most. With fewer of them unrelated dates share too many.
pub(super) const DATE_BITS: i64 = 307;

/// Segments, segment length, n-gram length, rule set, hash family, key and id.
///
/// Ordered by these in turn. Signatures of n-grams have hash family 0, the double hashing of [`super`], and the rule
/// set of the normaliser ([`text::Rules`]). Signatures of tokens have n-gram length 0, hash family 1, which is
/// independent positions, and the rule set of tokens ([`tokens::RULES`]). Key 0 is none; others are reserved.
///
/// Keyed signatures have an id, which is not 0: eight bytes that secret, schema and hardening decide. Those of hash family
/// 2 are records by clkhash's rules, one segment of any length; those of family 3 are n-grams, or tokens with n-gram
/// length 0, of which each segment has a position of its own that a keyed hash gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub(super) k: u8,
    pub(super) p: u16,
    pub(super) ngram: u8,
    pub(super) rules: u8,
    pub(super) family: u8,
    pub(super) key: u8,
    pub(super) id: u64,
}

impl Shape {
    /// Most segments.
    pub const MAX_K: u8 = 64;
    /// Least bits of a segment.
    pub const MIN_P: u16 = 5;
    /// Most bits of a segment.
    pub const MAX_P: u16 = 8191;

    /// Hash family of signatures of n-grams.
    pub const OF_NGRAMS: u8 = 0;
    /// Hash family of signatures of tokens.
    pub const OF_TOKENS: u8 = 1;
    /// Hash family of records by clkhash's rules.
    pub const OF_RECORDS: u8 = 2;
    /// Hash family of keyed signatures of n-grams or tokens.
    pub const OF_KEYED: u8 = 3;
    /// Most bits of a signature of hash family 2.
    pub const MAX_RECORD_BITS: u16 = u16::MAX;

    /// The shape (k, p, ngram) under rule set 1; one of tokens if ngram is 0.
    ///
    /// Errors: k not in 1…64, p not prime or not in 5…8191, ngram neither 0 nor in 2…8.
    pub fn new(k: i64, p: i64, ngram: i64) -> Result<Shape> {
        if !(1..=i64::from(Self::MAX_K)).contains(&k) {
            return Err(
                Error::invalid(format!("number of segments k = {k} is out of range"))
                    .detail("k goes from 1 to 64."),
            );
        }
        if !(i64::from(Self::MIN_P)..=i64::from(Self::MAX_P)).contains(&p) {
            return Err(
                Error::invalid(format!("segment length p = {p} is out of range"))
                    .detail("p is a prime from 5 to 8191."),
            );
        }
        if !is_prime(p as u32) {
            return Err(
                Error::invalid(format!("segment length p = {p} is not a prime"))
                    .detail("p is a prime from 5 to 8191.")
                    .hint(format!(
                        "Use {}, the next prime below, or let bloom_plan() choose.",
                        prime_at_most(p as u32)
                    )),
            );
        }
        let (ngram, rules, family) = match ngram {
            0 => (0, tokens::RULES, Self::OF_TOKENS),
            _ => {
                let ngram = ngram::check_length(ngram).map_err(|e| {
                    e.detail("N-gram lengths go from 2 to 8; 0 is for signatures of tokens.")
                })?;
                (ngram, Rules::FIRST.number(), Self::OF_NGRAMS)
            }
        };
        Ok(Shape {
            k: k as u8,
            p: p as u16,
            ngram,
            rules,
            family,
            key: 0,
            id: 0,
        })
    }

    /// The shape of records by clkhash's rules: so many bits, and an id.
    ///
    /// Errors: no bits, or too many; the id is 0.
    pub fn of_records(bits: i64, id: u64) -> Result<Shape> {
        if !(1..=i64::from(Self::MAX_RECORD_BITS)).contains(&bits) {
            return Err(Error::invalid(format!("length l = {bits} is out of range"))
                .detail(format!("l goes from 1 to {}.", Self::MAX_RECORD_BITS)));
        }
        Shape {
            k: 1,
            p: bits as u16,
            ngram: 0,
            rules: 1,
            family: Self::OF_RECORDS,
            key: 0,
            id,
        }
        .with_id()
    }

    /// The shape of keyed signatures with the segments and n-grams of this one.
    ///
    /// Errors: the id is 0.
    pub fn keyed(self, id: u64) -> Result<Shape> {
        let family = Self::OF_KEYED;
        Shape { family, id, ..self }.with_id()
    }

    /// The same of another id.
    ///
    /// Errors: the id is 0.
    pub fn with_other_id(self, id: u64) -> Result<Shape> {
        Shape { id, ..self }.with_id()
    }

    /// Errors: the id is 0.
    fn with_id(self) -> Result<Shape> {
        match self.id {
            0 => Err(Error::invalid("id 0 of a keyed signature")
                .detail("An id of secret and schema is not 0.")),
            _ => Ok(self),
        }
    }

    /// A shape as it is written: segments, segment length, n-gram length; rule set, hash family and key; the id, 0 for
    /// none.
    ///
    /// Errors: those of [`Shape::new`], [`Shape::of_records`] and [`Shape::with_variant`]; an id without a hash family
    /// that has one, or the other way round.
    pub fn written([k, p, ngram]: [i64; 3], variant: [i64; 3], id: u64) -> Result<Shape> {
        let [rules, family, key] = variant;
        if family == i64::from(Self::OF_RECORDS) {
            if (k, ngram) != (1, 0) {
                return Err(Error::invalid(format!(
                    "shape ({k},{p},{ngram}) does not go with hash family {family}"
                ))
                .detail("Keyed signatures of records have one segment, and n-gram length 0."));
            }
            check_known("rule set", rules, 1)?;
            check_known("key", key, 0)?;
            return Shape::of_records(p, id);
        }
        let shape = Shape::new(k, p, ngram)?;
        if family == i64::from(Self::OF_KEYED) {
            check_known("key", key, 0)?;
            return shape.with_rules(rules)?.keyed(id);
        }
        if id != 0 {
            return Err(Error::invalid(format!("hash family {family} has no id"))
                .detail("Keyed signatures, which have one, are of hash family 2 or 3."));
        }
        shape.with_variant(rules, family, key)
    }

    /// Sets rule set, hash family and key as read from a stored value.
    ///
    /// The rule set may be one that this version does not have: a value of it is read, compared and written, which needs no
    /// rules, and two rule sets make two shapes. What normalises a text asks [`Shape::text_rules`].
    ///
    /// Errors: a hash family or a key that this version does not know; the hash family of tokens with an n-gram length, or that
    /// of n-grams without; no rule set.
    pub fn with_variant(self, rules: i64, family: i64, key: i64) -> Result<Shape> {
        let families = [Self::OF_NGRAMS, Self::OF_TOKENS].map(i64::from);
        if families.contains(&family) && family != i64::from(self.family) {
            return Err(Error::invalid(format!("hash family {family} does not go with n-gram length {}", self.ngram),
            )
            .detail("Signatures of n-grams have hash family 0, those of tokens have hash family 1 and n-gram length \
                0."));
        }
        check_known("hash family", family, self.family.into())?;
        check_known("key", key, 0)?;
        self.with_rules(rules)
    }

    /// The same of another rule set, which this version need not have.
    ///
    /// Errors: a number that no rule set has.
    pub fn with_rules(self, rules: i64) -> Result<Shape> {
        let known = u8::try_from(rules).ok().filter(|&rules| rules > 0);
        let rules = known.ok_or_else(|| {
            Error::invalid(format!("rule set {rules} is out of range"))
                .detail("Rule sets go from 1 to 255.")
        })?;
        Ok(Shape { rules, ..self })
    }

    /// The same of texts by another rule set.
    pub fn by(self, rules: Rules) -> Shape {
        let rules = rules.number();
        Shape { rules, ..self }
    }

    /// The rule set of its normal forms.
    ///
    /// Errors: it is one of tokens, or keyed; this version does not have the rule set.
    pub fn text_rules(&self) -> Result<Rules> {
        self.check_of_ngrams()?;
        Rules::of(self.rules.into()).map_err(|_| self.unknown_rules(Rules::NEWEST.number()))
    }

    #[cold]
    fn unknown_rules(&self, newest: u8) -> Error {
        let known = match newest {
            1 => "rule set 1".to_owned(),
            _ => format!("rule sets 1 to {newest}"),
        };
        Error::new(
            ErrorKind::NotSupported,
            format!("signature of shape {self} is of a rule set that this version of bloom_ident does not have"),
        )
        .detail(format!("This version has {known}, and can only read and compare such signatures."))
        .hint("Install the version that made the signature, or compute it again.")
    }

    /// The hash family of signatures with this n-gram length.
    pub fn family_of(ngram: i64) -> i64 {
        match ngram {
            0 => Self::OF_TOKENS.into(),
            _ => Self::OF_NGRAMS.into(),
        }
    }

    /// That its signatures are made of n-grams, by hashes that everybody can compute.
    ///
    /// Errors: they are made of tokens, or keyed.
    pub fn check_of_ngrams(&self) -> Result<()> {
        self.check_unkeyed()?;
        match self.family {
            Self::OF_TOKENS => Err(Error::data_exception(format!(
                "signature of shape {self} is one of tokens, not of a text"
            ))
            .detail("The n-grams of a text are not among its tokens.")
            .hint("Give tokens as text[]; ident_words() and ident_tokens() make them of a text.")),
            _ => Ok(()),
        }
    }

    /// That its signatures are made of tokens, by hashes that everybody can compute.
    ///
    /// Errors: they are made of n-grams, or keyed; this version does not have their rule set.
    pub fn check_of_tokens(&self) -> Result<()> {
        self.check_unkeyed()?;
        match self.family {
            Self::OF_TOKENS if self.rules > tokens::RULES => Err(self.unknown_rules(tokens::RULES)),
            Self::OF_TOKENS => Ok(()),
            _ => Err(Error::data_exception(format!(
                "signature of shape {self} is one of n-grams, not of tokens"
            ))
            .detail("It was made of the n-grams of a text.")
            .hint("Give a text; bloom_signature_of_tokens() makes signatures of tokens.")),
        }
    }

    /// Errors: its signatures are keyed.
    pub fn check_unkeyed(&self) -> Result<()> {
        match self.is_keyed() {
            true => Err(
                Error::data_exception(format!("signature of shape {self} is keyed")).detail(
                    "Which bits a text sets, and how many, only those know who have the secret.",
                ),
            ),
            false => Ok(()),
        }
    }

    /// Whether its signatures are keyed.
    pub fn is_keyed(&self) -> bool {
        self.id != 0
    }

    /// What secret, schema and hardening decide; 0 for none.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The shape in the first eight bytes of a signature and its id, whatever they are: the tag is the first ones, and the
    /// id above them.
    pub fn of_tag(tag: u128) -> Shape {
        let [_, k, p0, p1, ngram, rules, family, key] = (tag as u64).to_le_bytes();
        Shape {
            id: (tag >> 64) as u64,
            k,
            p: u16::from_le_bytes([p0, p1]),
            ngram,
            rules,
            family,
            key,
        }
    }

    /// Format version and shape as the first eight bytes of values have them.
    pub(crate) fn to_bytes(self) -> [u8; 8] {
        let [p0, p1] = self.p.to_le_bytes();
        let Shape { k, ngram, .. } = self;
        let version = if self.is_keyed() { KEYED } else { VERSION };
        [version, k, p0, p1, ngram, self.rules, self.family, self.key]
    }

    /// Version, shape and id in one number: see [`Shape::of_tag`].
    pub fn tag(self) -> u128 {
        u128::from(u64::from_le_bytes(self.to_bytes())) | u128::from(self.id) << 64
    }

    /// Whether signatures can have it, which is to be asked where it was read.
    ///
    /// Errors: those of [`Shape::written`].
    pub fn check(&self) -> Result<()> {
        let shape = [self.k.into(), self.p.into(), self.ngram.into()];
        let variant = [self.rules, self.family, self.key].map(i64::from);
        Shape::written(shape, variant, self.id).map(|_| ())
    }

    /// Segments.
    pub fn k(&self) -> u8 {
        self.k
    }

    /// Bits of a segment.
    pub fn p(&self) -> u16 {
        self.p
    }

    /// Symbols of an n-gram; 0 for tokens.
    pub fn ngram(&self) -> u8 {
        self.ngram
    }

    /// Rule set of the normaliser, or of tokens.
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

    /// Whether it is that of signatures of dates.
    fn is_of_dates(self) -> bool {
        (self.k, i64::from(self.p), self.family) == (1, DATE_BITS, Self::OF_TOKENS)
    }

    /// The error of two values that cannot be compared.
    #[cold]
    pub fn mismatch(a: Shape, b: Shape) -> Error {
        let different = Error::data_exception(format!("different signature shapes {a} and {b}"));
        if a.is_keyed() || b.is_keyed() {
            return different
                .detail("Keyed signatures compare only with those of the same secret, schema and hardening, which the id \
                    tells.")
                .hint("Compute both with the same secret and schema.");
        }
        if a.is_of_dates() || b.is_of_dates() {
            return different
                .detail("Signatures of dates compare only with their like.")
                .hint("Compute both by bloom_signature_of_date().");
        }
        let of_rules = |shape: Shape| Shape { rules: 1, ..shape };
        if of_rules(a) == of_rules(b) {
            return different
                .detail("Two rule sets have other normal forms of the same text.")
                .hint(
                    "Compute both with the same rules, as in bloom_signature(text, rules => 2).",
                );
        }
        match (a.family, b.family) {
            (Self::OF_TOKENS, Self::OF_TOKENS) => different
                .detail("Signatures of tokens compare only when segments, segment length and rule set are the same.")
                .hint("Compute both with the same max_tokens and fpr."),
            (a, b) if a != b => different
                .detail("Signatures of tokens, which have n-gram length 0, never compare with those of n-grams.")
                .hint("Compute both by bloom_signature(), or both by bloom_signature_of_tokens()."),
            _ => different
                .detail("Signatures compare only when segments, segment length, n-gram length and rule set are the \
                    same.")
                .hint("Compute both with the same ngram, max_chars and fpr."),
        }
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
        if self.id != 0 {
            write!(f, ",id={:016x}", self.id)?;
        }
        f.write_str(")")
    }
}

/// Errors: this version knows another one.
fn check_known(what: &str, is: i64, wanted: i64) -> Result<()> {
    match is == wanted {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "{what} {is} is unknown to this version of bloom_ident"
        ))
        .detail(format!("This version knows {what} {wanted}."))
        .hint("Install the version that made the signature, or compute it again.")),
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
