//! A field's value as words of memory: what makes two values equal, and what they are compared by otherwise.

use std::borrow::Cow;

use twox_hash::XxHash3_64;

use super::conventions::is_date_of_other_order;
use super::level::{EQUAL, MISSING, ORDERED, SIMILAR, SIMILAR_SIGNATURES, UNLIKE};
use super::number::{difference, number};
use super::reading::sound_of;
use super::{code, date, digits, words, Kind, Reading};
use base::{Error, ErrorKind, Result};
use signature::bits::{intersect_words, to_words};
use signature::filter::{parse_text, Builder, Shape, View};
use text::{normalize, Sound};

// Words of a value: the identity, the description, words of the kind, the signature.
const IDENTITY: usize = 0;
const DESCRIPTION: usize = 1;
pub(super) const OWN: usize = 2;

// The description: popcount in 16 bits, level of equality in 4, whether the kind's own words are there, 32 bits of
// digits.
const LEVEL_AT: u32 = 16;
const HAS_OWN: u64 = 1 << 20;
const LENGTH_AT: u32 = 21;
const DIGITS_AT: u32 = 32;

/// The first of the lowest levels of texts, which count as unlike. Names that sound alike have the level above them.
const UNLIKE_TEXTS: u8 = (ORDERED - UNLIKE - EQUAL) as u8;

/// How a field's values lie in memory.
#[derive(Clone, Debug)]
pub struct FieldLayout {
    kind: Kind,
    shape: Shape,
    reading: Option<Reading>,
    /// How many words have room behind the signature.
    most_words: usize,
}

/// A value that has been written: what the caller needs to know of it.
pub struct Value {
    /// Equal values of a field have the same; 0 if there is no value. A hash of 64 bits: two different values have the
    /// same one in a case of 2^64.
    pub identity: u64,
}

/// How far a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// What equal ones are compared by.
    #[default]
    Identity,
    /// What its kind compares besides, without the signature.
    Own,
    /// All of it.
    Whole,
}

/// A text that has been read as a value of a field.
pub struct ReadValue<'t> {
    written: &'t str,
    read: Cow<'t, str>,
    /// What is the same for all spellings of the value, empty if there is none.
    pub(super) normal: String,
    /// The bytes of a signature.
    signature: Vec<u8>,
    /// As of [`Value`].
    pub identity: u64,
}

impl ReadValue<'_> {
    /// The text as it is compared.
    pub(super) fn text(&self) -> &str {
        &self.read
    }

    /// The signature, of a field that has signatures, if there is a value.
    pub(super) fn signature(&self) -> Option<View<'_>> {
        View::stored(&self.signature).filter(|_| self.identity != 0)
    }
}

/// Words of the kind itself.
fn own_words(kind: Kind) -> usize {
    match kind {
        Kind::Text | Kind::Words | Kind::Name | Kind::Date | Kind::Day | Kind::Signature => 0,
        Kind::Number | Kind::Phone => 1,
        Kind::Code | Kind::Email => 2,
    }
}

/// The error of a text that is no signature. It shows nothing of it: that may be a name, or the bits of one.
#[cold]
fn no_signature() -> Error {
    Error::new(
        ErrorKind::InvalidText,
        "invalid input syntax for type bloom",
    )
    .detail("The text is not shown, since it may be one of a person.")
    .hint("Give the signature as type bloom writes it.")
}

/// What stands for a signature in a model: a hash of shape, id and bits.
fn normal_of_signature(bytes: &[u8]) -> String {
    match bytes {
        [] => String::new(),
        bytes => format!("{:016x}", hash(bytes)),
    }
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes).max(1)
}

impl FieldLayout {
    /// A field whose texts have some `length` symbols: nine in ten have no more.
    ///
    /// Errors: none but for lengths that give no shape, of which there are none.
    pub fn new(kind: Kind, length: usize) -> Result<FieldLayout> {
        let bits = (2 * (length.min(1000) + 2)).clamp(11, 500) as u32;
        let prime = |n: &u32| {
            (2..)
                .take_while(|d| d * d <= *n)
                .all(|d| !n.is_multiple_of(d))
        };
        let p = (bits..).find(prime).expect("there is always a next prime");
        FieldLayout::of_segment(kind, p.into())
    }

    /// A field whose signatures have five segments of `p` bits.
    ///
    /// Errors: such a signature does not exist.
    pub fn of_segment(kind: Kind, p: i64) -> Result<FieldLayout> {
        Ok(FieldLayout {
            kind,
            shape: Shape::new(5, p, 3)?,
            reading: None,
            most_words: 0,
        })
    }

    /// The same field, whose values have so many weighted words besides.
    pub fn with_words(self, most_words: usize) -> FieldLayout {
        let most_words = most_words.min(words::MOST_WORDS);
        FieldLayout { most_words, ..self }
    }

    /// How many weighted words of a value are compared.
    pub fn most_words(&self) -> usize {
        self.most_words
    }

    /// The same field, whose texts are read like this. Signatures have the shape that they are read as.
    pub fn with_reading(self, reading: Option<Reading>) -> FieldLayout {
        let shape = match reading {
            Some(Reading::Signatures(_, shape)) => shape,
            _ => self.shape,
        };
        FieldLayout {
            reading,
            shape,
            ..self
        }
    }

    /// How texts are read before they are compared.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// By which algorithm it counts how a value sounds.
    fn sound(&self) -> Option<Sound> {
        match self.reading {
            Some(Reading::Sound(sound)) => Some(sound),
            _ => None,
        }
    }

    /// A text as it is compared.
    pub(super) fn read<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = match text::in_utc(text) {
            Some(utc) => Cow::Owned(utc),
            None => Cow::Borrowed(text),
        };
        let text = match (self.kind, text) {
            (Kind::Date | Kind::Day, Cow::Borrowed(text)) => date::without_time(text).into(),
            (Kind::Date | Kind::Day, Cow::Owned(text)) => {
                date::without_time(&text).to_owned().into()
            }
            (_, text) => text,
        };
        match (&self.reading, text) {
            (Some(reading), Cow::Borrowed(text)) => reading.read(text),
            (Some(reading), Cow::Owned(text)) => reading.read(&text).into_owned().into(),
            (None, text) => text,
        }
    }

    /// Whether a value that is not blank is read as one of the field's kind. What is not is compared by its letters.
    pub fn reads(&self, text: &str) -> bool {
        let read = self.read(text);
        let is_read = || matches!(read, Cow::Owned(_));
        match (self.kind, &self.reading) {
            (Kind::Date | Kind::Day, _) => {
                // what is infinite is missing
                is_read()
                    || read.is_empty()
                    || date::digits_of(&read).is_some() && !is_date_of_other_order(&read)
            }
            (Kind::Phone, _) => is_read() || digits::digits_of(text).is_some(),
            (Kind::Email | Kind::Text, Some(_)) => is_read(),
            (Kind::Number, _) => number(&read).is_some(),
            _ => true,
        }
    }

    /// A signature as it is written. Nothing if no bit is set: that of a missing value.
    ///
    /// Errors: no signature; one of another shape or id; out of memory.
    fn read_signature(&self, text: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if text.trim().is_empty() {
            return Ok(bytes);
        }
        parse_text(text, &mut bytes).map_err(|e| match e.kind() {
            ErrorKind::InvalidText => no_signature(),
            _ => e,
        })?;
        if let Some(view) = View::stored(&bytes) {
            if view.shape() != self.shape {
                return Err(Shape::mismatch(self.shape, view.shape()));
            }
            if view.popcount() == 0 {
                bytes.clear();
            }
        }
        Ok(bytes)
    }

    /// A value as it may be shown: of a signature no bits, but how many are set.
    ///
    /// Errors: no signature of the field's shape, if it has signatures; out of memory.
    pub fn shown<'t>(&self, text: &'t str) -> Result<Cow<'t, str>> {
        if self.kind != Kind::Signature {
            return Ok(text.into());
        }
        let bytes = self.read_signature(text)?;
        let set = View::stored(&bytes).map_or(0, |view| view.popcount());
        Ok(format!("{set} bits").into())
    }

    /// Bits of a segment of the signatures.
    pub fn segment(&self) -> u16 {
        self.shape.p()
    }

    /// How values are compared.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Words of a value.
    pub fn words(&self) -> usize {
        match self.most_words {
            0 => self.words_at(),
            most => self.words_at() + 1 + most,
        }
    }

    pub(super) fn words_at(&self) -> usize {
        self.signature_at() + self.shape.m().div_ceil(64) as usize
    }

    fn signature_at(&self) -> usize {
        OWN + own_words(self.kind) + usize::from(self.sound().is_some())
    }

    /// What is the same for all spellings of a value, and stands for it in a model; empty if there is no value.
    ///
    /// Of a signature it is a hash: a model shows no bits.
    ///
    /// Errors: out of memory; no signature of the field's shape, if it has signatures.
    pub fn normal(&self, text: &str) -> Result<String> {
        self.normal_form(&self.read(text))
    }

    /// The same of a text that has been read.
    pub(super) fn normal_form(&self, text: &str) -> Result<String> {
        if self.kind == Kind::Signature {
            return Ok(normal_of_signature(&self.read_signature(text)?));
        }
        let digits = match self.kind {
            Kind::Date | Kind::Day => date::digits_of(text).map(|d| format!("{d:08x}")),
            Kind::Phone => {
                digits::digits_of(text).map(|(d, n)| format!("{d:0n$x}", n = n as usize))
            }
            Kind::Number => number(text).map(|n| n.to_string()),
            _ => None,
        };
        match digits {
            Some(digits) => Ok(digits),
            None => normalize(text, true, || ()),
        }
    }

    /// The number that a text is, if the field has numbers.
    pub(super) fn number(&self, text: &str) -> Option<f64> {
        (self.kind == Kind::Number).then(|| number(text)).flatten()
    }

    /// The identity of a value of this normal form.
    pub fn identity(normal: &str) -> u64 {
        match normal {
            "" => 0,
            _ => hash(normal.as_bytes()),
        }
    }

    /// Writes a value to its [`FieldLayout::words`] words. `bytes` is memory that is used again. The level that two
    /// such values have is set by [`FieldLayout::set_level`] afterwards.
    ///
    /// Errors: out of memory.
    pub fn write(&self, text: &str, to: &mut [u64], bytes: &mut Vec<u8>) -> Result<Value> {
        let read = self.read_value(text)?;
        self.write_as_far(&read, Depth::Whole, to, bytes)?;
        Ok(Value {
            identity: read.identity,
        })
    }

    /// Reads a text.
    ///
    /// Errors: as [`FieldLayout::normal`].
    pub fn read_value<'t>(&self, text: &'t str) -> Result<ReadValue<'t>> {
        let read = self.read(text);
        let (signature, normal) = match self.kind {
            Kind::Signature => {
                let signature = self.read_signature(text)?;
                let normal = normal_of_signature(&signature);
                (signature, normal)
            }
            _ => (Vec::new(), self.normal_form(&read)?),
        };
        Ok(ReadValue {
            written: text,
            identity: FieldLayout::identity(&normal),
            read,
            normal,
            signature,
        })
    }

    /// How far two values that are not equal are to be written, so that their levels are known; they are written as far as
    /// [`Depth::Own`] at least.
    pub fn depth_to_compare(&self, a: &[u64], b: &[u64]) -> Depth {
        match self.kind {
            Kind::Day => Depth::Own,
            Kind::Date | Kind::Number | Kind::Phone if self.has_own(a, b) => Depth::Own,
            _ => Depth::Whole,
        }
    }

    /// [`FieldLayout::write`] of a text that has been read, so far at least. Returns how far it is.
    ///
    /// Errors: out of memory.
    pub fn write_as_far(
        &self,
        value: &ReadValue<'_>,
        depth: Depth,
        to: &mut [u64],
        bytes: &mut Vec<u8>,
    ) -> Result<Depth> {
        to.fill(0);
        let identity = value.identity;
        if identity == 0 {
            return Ok(Depth::Whole);
        }
        to[IDENTITY] = identity;
        if depth == Depth::Identity {
            return Ok(depth);
        }
        let (written, text, normal) = (value.written, &*value.read, &value.normal);
        if let Some(view) = value.signature() {
            self.write_bits(&view, to);
            return Ok(Depth::Whole);
        }
        // What the signature is of, if not of the whole text.
        let mut part = None;
        match self.kind {
            Kind::Signature => {}
            Kind::Text | Kind::Words | Kind::Name => {
                if let Some(sound) = self.sound() {
                    to[OWN] = sound_of(text, sound)?;
                }
            }
            Kind::Date => {
                if let Some(digits) = date::digits_of(text) {
                    to[DESCRIPTION] |= HAS_OWN | u64::from(digits) << DIGITS_AT;
                }
            }
            Kind::Day => {
                if let Some(days) = date::digits_of(text).and_then(date::days_of) {
                    to[DESCRIPTION] |= HAS_OWN | u64::from(days) << DIGITS_AT;
                }
            }
            Kind::Code => to[OWN..OWN + 2].copy_from_slice(&code::pack(normal)),
            Kind::Number => {
                if let Some(number) = number(text) {
                    to[DESCRIPTION] |= HAS_OWN;
                    to[OWN] = number.to_bits();
                }
            }
            Kind::Phone => {
                if let Some((digits, n)) = digits::digits_of(text) {
                    to[DESCRIPTION] |= HAS_OWN | u64::from(n) << LENGTH_AT;
                    to[OWN] = digits;
                }
            }
            Kind::Email => {
                if let Some((name, domain)) = text.rsplit_once('@') {
                    let (name, domain) = (
                        normalize(name, true, || ())?,
                        normalize(domain, true, || ())?,
                    );
                    if !name.is_empty() && !domain.is_empty() {
                        to[DESCRIPTION] |= HAS_OWN;
                        to[OWN] = hash(name.as_bytes());
                        to[OWN + 1] = hash(domain.as_bytes());
                        part = Some(name);
                    }
                }
            }
        }
        if matches!(
            self.kind,
            Kind::Date | Kind::Day | Kind::Number | Kind::Phone
        ) {
            if depth == Depth::Own && to[DESCRIPTION] & HAS_OWN != 0 {
                return Ok(depth);
            }
            // As it is written: where one of two cannot be read, both are compared so.
            part = Some(normalize(written, true, || ())?);
        }
        bytes.clear();
        bytes.resize(Builder::size(self.shape), 0);
        let mut builder = Builder::new(self.shape, bytes);
        builder.add_normal(part.as_deref().unwrap_or(normal));
        self.write_bits(&builder.finish(), to);
        if self.most_words > 0 {
            words::write(normal, &mut to[self.words_at()..]);
        }
        Ok(Depth::Whole)
    }

    /// Writes the bits of a signature, and how many are set.
    fn write_bits(&self, view: &View<'_>, to: &mut [u64]) {
        let mut words = Vec::new();
        let (at, end) = (self.signature_at(), self.words_at());
        to_words(view.bits(), end - at, &mut words);
        to[at..end].copy_from_slice(&words);
        to[DESCRIPTION] |= u64::from(view.popcount());
    }

    /// The identity of a value that has been written; 0 if there is none.
    pub fn identity_of(value: &[u64]) -> u64 {
        value[IDENTITY]
    }

    /// Sets the level that a value has in common with an equal one.
    pub fn set_level(value: &mut [u64], level: u8) {
        value[DESCRIPTION] &= !(15 << LEVEL_AT);
        value[DESCRIPTION] |= u64::from(level) << LEVEL_AT;
    }

    /// How far two values agree: a level.
    #[inline]
    pub fn level(&self, a: &[u64], b: &[u64]) -> u8 {
        if a[IDENTITY] == 0 || b[IDENTITY] == 0 {
            return MISSING as u8;
        }
        if a[IDENTITY] == b[IDENTITY] {
            return (a[DESCRIPTION] >> LEVEL_AT & 15) as u8;
        }
        EQUAL as u8 + self.unequal(a, b)
    }

    /// The Jaccard similarity of the signatures; 0 if a value is missing.
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> f64 {
        let (common, union) = self.common(a, b);
        f64::from(common) / f64::from(union.max(1))
    }

    fn common(&self, a: &[u64], b: &[u64]) -> (u32, u32) {
        let of = self.signature_at()..self.words_at();
        let common = intersect_words(&a[of.clone()], &b[of]);
        let count = |value: &[u64]| value[DESCRIPTION] as u32 & 0xffff;
        (common, count(a) + count(b) - common)
    }

    fn similar(&self, a: &[u64], b: &[u64]) -> u8 {
        let (common, union) = self.common(a, b);
        SIMILAR
            .iter()
            .filter(|&&least| 100 * common < least * union)
            .count() as u8
    }

    /// The level of two signatures, by Dice.
    fn similar_signatures(&self, a: &[u64], b: &[u64]) -> u8 {
        let (common, union) = self.common(a, b);
        let is_less = |&&least: &&u32| 200 * common < least * (union + common);
        SIMILAR_SIGNATURES.iter().filter(is_less).count() as u8
    }

    /// Whether both values have words of the kind itself.
    pub(super) fn has_own(&self, a: &[u64], b: &[u64]) -> bool {
        a[DESCRIPTION] & b[DESCRIPTION] & HAS_OWN != 0
    }

    pub(super) fn unequal(&self, a: &[u64], b: &[u64]) -> u8 {
        match self.kind {
            Kind::Signature => self.similar_signatures(a, b),
            Kind::Words => {
                let hundredths = 100.0 * self.similarity_of_things(a, b) + 1e-9;
                let is_less = |&&least: &&u32| hundredths < f64::from(least);
                SIMILAR.iter().filter(is_less).count() as u8
            }
            Kind::Text | Kind::Name => match self.similar(a, b) {
                UNLIKE_TEXTS.. if self.sound().is_some() && a[OWN] != 0 && a[OWN] == b[OWN] => {
                    UNLIKE_TEXTS - 1
                }
                level => level,
            },
            Kind::Code => match code::one_off([a[OWN], a[OWN + 1]], [b[OWN], b[OWN + 1]]) {
                true => 0,
                false => 5,
            },
            // between what is no day there are no days
            Kind::Day if !self.has_own(a, b) => 5,
            _ if !self.has_own(a, b) => self.similar(a, b),
            Kind::Date => date::compare(
                (a[DESCRIPTION] >> DIGITS_AT) as u32,
                (b[DESCRIPTION] >> DIGITS_AT) as u32,
            ),
            Kind::Day => {
                let [a, b] = [a, b].map(|value| (value[DESCRIPTION] >> DIGITS_AT) as u32);
                date::compare_days(a.abs_diff(b))
            }
            Kind::Number => difference(f64::from_bits(a[OWN]), f64::from_bits(b[OWN])),
            Kind::Phone => {
                let of =
                    |value: &[u64]| (value[OWN], (value[DESCRIPTION] >> LENGTH_AT & 31) as u32);
                digits::compare(of(a), of(b))
            }
            Kind::Email => {
                let domain = a[OWN + 1] == b[OWN + 1];
                if a[OWN] == b[OWN] {
                    return 0;
                }
                match (self.similar(a, b), domain) {
                    (0 | 1, true) => 1,
                    (0 | 1, false) => 2,
                    (2 | 3, _) => 3,
                    (_, true) => 4,
                    (_, false) => 5,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
