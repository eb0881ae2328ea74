//! Scan keys: what a scan asks for.

use super::nearest::MAX_KEYS;
use crate::class::leading::{hash, hash_of_type, key_of, leading_columns, EQUAL};
use crate::class::{strategy, RowSignature, SignatureType};
use crate::page::SigfileIndex;
use pgrx::pg_sys;
use sigfile::{Meta, Part, Query, RowPage};
use signature::similarity::{Edits, Measure};
use types::settings;

/// A threshold that everything reaches.
const LEAST: f64 = 0.0;

/// What the keys of a scan ask for.
pub struct ScanKeys<'a> {
    pub meta: &'a Meta,
    pub conditions: Vec<Condition>,
    /// A key of another shape: the operator itself raises the error, for the first row it sees.
    pub other_shape: bool,
    /// Some rows that are found may not fulfil the keys.
    pub recheck: bool,
    /// No row fulfils the keys.
    pub nothing: bool,
    pub nulls: Option<bool>,
    index: SigfileIndex<'a>,
    /// For each column before the signature the hash of the value that is asked for.
    hashes: Vec<Option<u32>>,
}

impl<'a> ScanKeys<'a> {
    /// No keys as yet.
    pub fn new(index: SigfileIndex<'a>, meta: &'a Meta) -> Self {
        ScanKeys {
            meta,
            conditions: Vec::new(),
            other_shape: false,
            recheck: false,
            nothing: false,
            nulls: None,
            index,
            hashes: vec![None; leading_columns(index)],
        }
    }

    /// The hash of the columns before the signature of the rows that are wanted, if there is a key for each of them.
    pub fn key(&self) -> Option<u32> {
        key_of(&self.hashes)
    }

    /// Takes in a key on a column before the signature. Rows have to be checked again, as several values can have the
    /// same hash.
    ///
    /// # Safety
    /// As for [`ScanKeys::read`].
    unsafe fn read_leading(&mut self, column: usize, key: &pg_sys::ScanKeyData) {
        self.recheck = true;
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNOTNULL != 0 {
            return;
        }
        // SAFETY: the argument is of the column's type, or of the other that the key tells of.
        let hash = unsafe {
            if flags & pg_sys::SK_SEARCHNULL != 0 {
                Some(hash(self.index, column, None))
            } else if flags & pg_sys::SK_ISNULL != 0 {
                // The operators are strict.
                self.nothing = true;
                None
            } else if key.sk_strategy != EQUAL {
                let other = key.sk_strategy;
                pg::error::internal!("unrecognized strategy number: {other}")
            } else {
                hash_of_type(self.index, column, key.sk_subtype, key.sk_argument)
            }
        };
        match (self.hashes[column], hash) {
            (Some(before), Some(hash)) if before != hash => self.nothing = true,
            (None, Some(hash)) => self.hashes[column] = Some(hash),
            _ => (),
        }
    }

    fn similar(&mut self, signature: RowSignature, threshold: f64, edits: Option<Edits>) {
        if signature.tag != self.meta.shape() {
            self.other_shape = true;
            return;
        }
        let geometry = self.meta.geometry(Part::Signatures);
        let mut query = signature.query(&geometry, threshold);
        if let Some(edits) = edits {
            query.restrict(edits.least_common, edits.most_others);
            self.conditions.push(Condition::HasNgrams(edits));
        }
        // Then more is asked for than what reaches the threshold.
        self.recheck |= geometry.measure != Measure::Jaccard && query.threshold() <= 0.0;
        self.conditions.push(Condition::Similar(query));
    }

    /// What has all bits of a signature, or none but these.
    fn bits(&mut self, signature: RowSignature, condition: fn(Vec<u64>) -> Condition) {
        match signature.tag == self.meta.shape() {
            true => self.conditions.push(condition(signature.words)),
            false => self.other_shape = true,
        }
    }

    /// Takes in one key.
    ///
    /// # Safety
    /// `key` is one of a scan of the index: its argument is of the operator's right-hand type, unless it is NULL.
    pub unsafe fn read(&mut self, key: &pg_sys::ScanKeyData) {
        let column = key.sk_attno as usize - 1;
        if column < self.hashes.len() {
            // SAFETY: as the caller has it.
            return unsafe { self.read_leading(column, key) };
        }
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNULL != 0 || flags & pg_sys::SK_SEARCHNOTNULL != 0 {
            let wanted = flags & pg_sys::SK_SEARCHNULL != 0;
            self.nothing |= self.nulls.is_some_and(|m| m != wanted);
            self.nulls = Some(wanted);
            return;
        }
        // The operators are strict.
        self.nothing |= self.nulls == Some(true) || flags & pg_sys::SK_ISNULL != 0;
        self.nulls = Some(false);
        if self.nothing || self.meta.shape() == 0 {
            self.nothing = true;
            return;
        }
        let argument = key.sk_argument;
        let kind = SignatureType::of_rows(self.meta);
        // SAFETY: the argument is not NULL here, and of the right-hand type of its strategy.
        unsafe {
            match key.sk_strategy {
                strategy::SIMILAR | strategy::SIMILAR_COMMUTED => {
                    self.similar(kind.signature(argument), settings::threshold(), None);
                }
                strategy::MATCHES | strategy::MATCH => {
                    let asked = kind.query(argument);
                    self.similar(asked.signature, asked.threshold, asked.edits);
                }
                strategy::MATCHES_SIGNATURE => {
                    // The rows' own thresholds count; those of sampled bits are kept as they are searched for.
                    self.recheck |= kind == SignatureType::Bits;
                    self.similar(kind.signature(argument), LEAST, None);
                }
                strategy::EQUAL => {
                    let signature = kind.signature(argument);
                    if signature.tag == self.meta.shape() {
                        let (words, popcount) = (signature.words, signature.popcount);
                        self.conditions.push(Condition::Equal(words, popcount));
                    } else {
                        self.nothing = true;
                    }
                }
                strategy::COVERS => self.bits(kind.signature(argument), Condition::Covers),
                strategy::COVERED_BY => self.bits(kind.signature(argument), Condition::CoveredBy),
                other => pg::error::internal!("unrecognized strategy number: {other}"),
            }
        }
    }
}

/// Chooses the condition that the search goes by, and takes it from the others.
pub fn leading(meta: &Meta, conditions: &mut Vec<Condition>) -> Option<Query> {
    let geometry = meta.geometry(Part::Signatures);
    // Equal signatures, if they are not empty, are those of similarity 1.
    let equal = conditions.iter().find_map(|c| match c {
        Condition::Equal(words, popcount) if (1..=geometry.bits).contains(popcount) => Some(words),
        _ => None,
    });
    if let Some(words) = equal {
        return Some(Query::new(&geometry, words, 1.0));
    }
    let similar = |c: &Condition| match c {
        Condition::Similar(query) => Some(query.threshold()),
        _ => None,
    };
    let best = (0..conditions.len())
        .filter_map(|i| similar(&conditions[i]).map(|t| (i, t)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    match conditions.swap_remove(best.0) {
        Condition::Similar(query) => Some(query),
        _ => unreachable!("chosen among the similar"),
    }
}

/// Keys of a scan.
///
/// # Safety
/// There are `n` keys at `keys`, which stay as they are for `'a`.
pub unsafe fn slice<'a>(keys: pg_sys::ScanKey, n: i32) -> &'a [pg_sys::ScanKeyData] {
    if keys.is_null() || n <= 0 {
        return &[];
    }
    // SAFETY: the caller has so many keys there.
    unsafe { std::slice::from_raw_parts(keys, n as usize) }
}

/// What the order-by keys of a scan ask for.
pub enum NearKeys {
    /// Nothing, or NULL, or there is no signature to compare: all distances are NULL.
    Nowhere,
    /// A signature of another shape.
    OtherShape,
    /// These signatures, and at which position each stands; the others are NULL.
    To(Vec<Query>, Vec<usize>),
}

/// Reads the order-by keys.
///
/// Errors: more than are supported.
///
/// # Safety
/// `keys` are those of a scan: their arguments are signatures, unless they are NULL.
pub unsafe fn near_to(meta: &Meta, keys: &[pg_sys::ScanKeyData]) -> NearKeys {
    if keys.len() > MAX_KEYS {
        pg::error::internal!("sigfile index cannot order by more than {MAX_KEYS} distances");
    }
    if meta.shape() == 0 {
        return NearKeys::Nowhere;
    }
    let (mut near, mut positions) = (Vec::new(), Vec::new());
    for (i, key) in keys.iter().enumerate() {
        if key.sk_flags as u32 & pg_sys::SK_ISNULL != 0 {
            continue;
        }
        // SAFETY: the argument is not NULL here, and of the right-hand type of the distance operator.
        let signature = unsafe { SignatureType::of_rows(meta).signature(key.sk_argument) };
        if signature.tag != meta.shape() {
            return NearKeys::OtherShape;
        }
        near.push(signature.query(&meta.geometry(Part::Signatures), LEAST));
        positions.push(i);
    }
    if near.is_empty() {
        NearKeys::Nowhere
    } else {
        NearKeys::To(near, positions)
    }
}

// What a scan asks of each row.

/// What one key of a scan asks of a row.
pub enum Condition {
    /// Similarity of at least the query's threshold, and of the row's own where rows have one.
    Similar(Query),
    /// The same bits, and the same number of them, which is none for the empty set of tokens.
    Equal(Vec<u64>, u32),
    /// All of these bits.
    Covers(Vec<u64>),
    /// None but these bits.
    CoveredBy(Vec<u64>),
    /// So many n-grams of a text.
    HasNgrams(Edits),
}

/// What all keys of a scan ask of a row, but for the one that the search goes by.
#[derive(Default)]
pub struct RowConditions {
    /// Of its signature.
    pub of_signature: Vec<Condition>,
    /// The hash of its columns before the signature.
    pub key: Option<u32>,
    /// The rows' own thresholds count.
    pub thresholds: bool,
}

impl RowConditions {
    /// Whether a row has the key that is asked for.
    #[inline]
    pub fn admit(&self, page: &RowPage<'_>, i: usize) -> bool {
        self.key.is_none_or(|key| page.key(i) == key)
    }

    /// Bits that all rows have to have, the most of those that are asked for.
    pub fn covers(&self) -> Option<&[u64]> {
        let bits = self
            .of_signature
            .iter()
            .filter_map(|condition| match condition {
                Condition::Covers(words) => Some(&words[..]),
                _ => None,
            });
        bits.max_by_key(|words| words.iter().map(|word| word.count_ones()).sum::<u32>())
    }

    /// Whether a row fulfils all conditions. It has so many bits in common with the leading query.
    pub fn hold(&self, page: &RowPage<'_>, i: usize, leading: Option<&Query>, common: u32) -> bool {
        let row = page.row(i);
        if let Some(query) = leading.filter(|_| self.thresholds) {
            if query.similarity(row.popcount, common) < row.threshold {
                return false;
            }
        }
        let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        self.of_signature.iter().all(|condition| match condition {
            Condition::Similar(query) => query.hit(row.words, row.popcount).is_some_and(|common| {
                !self.thresholds || query.similarity(row.popcount, common) >= row.threshold
            }),
            Condition::Equal(words, popcount) => {
                row.words == &words[..] && row.popcount == *popcount
            }
            Condition::Covers(words) => within(words, row.words),
            Condition::CoveredBy(words) => within(row.words, words),
            Condition::HasNgrams(edits) => {
                edits.has_ngrams(|at| row.words[at / 64] >> (at % 64) & 1 == 1)
            }
        })
    }
}
