//! Profiles are records with several weighted signatures. All signatures are kept by the number of the record, in memory or, if they
//! are many, in a temporary file.

use std::ffi::CString;

use bloom_ident_core::similarity::{profile, Popcounts, Weights};
use bloom_ident_core::{Error, ErrorKind, Result};

use crate::pairs::from_query::{join, Stream, StreamKeys};
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::only_new::pair_of;
use crate::pairs::output::PairOutput;
use crate::pairs::records::{Records, Relations};
use crate::pairs::unique::check_distinct;
use crate::pg::budget::{push, reserve, Budget};
use crate::pg::check_for_interrupts;
use crate::pg::error::{raise, OrRaise};
use crate::pg::file::TemporaryFile;
use crate::pg::progress::{self, phases};
use crate::types::Bloom;

/// The profiles of the records of a relation, by their numbers from 1.
pub struct Profiles {
    weights: Vec<f64>,
    memory: usize,
    /// The profiles one after the other. Each has the length of every attribute in bytes (u32, `u32::MAX` for null), then the bits of
    /// the signatures.
    bytes: Vec<u8>,
    file: Option<TemporaryFile>,
    /// Where each profile ends. Like the profiles, this is in memory or in a file.
    ends: Vec<u64>,
    end: u64,
    ends_file: Option<TemporaryFile>,
    /// The numbers and the bytes of the two profiles that were read last.
    cached: [(u64, Vec<u8>); 2],
}

impl Profiles {
    /// The profiles take `memory` bytes of memory at most.
    pub fn new(weights: Vec<f64>, memory: usize) -> Profiles {
        Profiles {
            weights,
            memory,
            bytes: Vec::new(),
            file: None,
            ends: Vec::new(),
            end: 0,
            ends_file: None,
            cached: Default::default(),
        }
    }

    /// Errors: out of memory.
    pub fn push(&mut self, signatures: &[Option<Bloom<'_>>]) {
        let bits = signatures.iter().flatten().map(|s| s.view().bits().len());
        let mut new = Vec::new();
        reserve(&mut new, 4 * signatures.len() + bits.sum::<usize>());
        for signature in signatures {
            let len = signature
                .as_ref()
                .map_or(u32::MAX, |s| s.view().bits().len() as u32);
            new.extend_from_slice(&len.to_le_bytes());
        }
        for signature in signatures.iter().flatten() {
            new.extend_from_slice(signature.view().bits());
        }
        self.end += new.len() as u64;
        if self.file.is_none() && self.bytes.len() + 8 * self.ends.len() + new.len() > self.memory {
            let (mut file, mut ends) = (TemporaryFile::new(), TemporaryFile::new());
            file.append(&std::mem::take(&mut self.bytes));
            for end in std::mem::take(&mut self.ends) {
                ends.append(&end.to_le_bytes());
            }
            (self.file, self.ends_file) = (Some(file), Some(ends));
        }
        if let (Some(file), Some(ends)) = (&mut self.file, &mut self.ends_file) {
            file.append(&new);
            ends.append(&self.end.to_le_bytes());
            return;
        }
        if self.bytes.capacity() - self.bytes.len() < new.len() {
            // It grows by an eighth at a time, since doubling would waste half of what is allowed.
            let more = new.len() + (self.bytes.len() / 8).max(1 << 12);
            reserve(&mut self.bytes, more);
        }
        self.bytes.extend_from_slice(&new);
        push(&mut self.ends, self.end);
    }

    /// The bytes of profile `number`, from 1.
    fn range(&mut self, number: u64) -> std::ops::Range<u64> {
        let before = number - 1;
        match &mut self.ends_file {
            None => {
                let from = if before == 0 {
                    0
                } else {
                    self.ends[before as usize - 1]
                };
                from..self.ends[before as usize]
            }
            Some(file) => {
                let mut ends = [0; 16];
                let at = before.saturating_sub(1);
                file.seek(8 * at);
                file.read(&mut ends[..8 * (number - at) as usize]);
                let (ends, _) = ends.as_chunks();
                let ends = [ends[0], ends[1]].map(u64::from_le_bytes);
                if before == 0 {
                    0..ends[0]
                } else {
                    ends[0]..ends[1]
                }
            }
        }
    }

    /// Reads profile `number` into one of the two that are cached.
    ///
    /// Errors: out of memory.
    fn load(&mut self, number: u64, slot: usize) {
        if self.cached[slot].0 == number {
            return;
        }
        let range = self.range(number);
        let len = (range.end - range.start) as usize;
        let (cached, bytes) = &mut self.cached[slot];
        *cached = number;
        bytes.clear();
        reserve(bytes, len);
        match &mut self.file {
            Some(file) => {
                bytes.resize(len, 0);
                file.seek(range.start);
                file.read(bytes);
            }
            None => bytes.extend_from_slice(&self.bytes[range.start as usize..range.end as usize]),
        }
    }

    fn loaded(&self, slot: usize) -> Signatures<'_> {
        Signatures::of(&self.cached[slot].1, self.weights.len())
    }
}

/// The bits of each attribute of a stored profile.
struct Signatures<'a> {
    lengths: std::slice::Iter<'a, [u8; 4]>,
    bits: &'a [u8],
}

impl<'a> Signatures<'a> {
    fn of(bytes: &'a [u8], attributes: usize) -> Signatures<'a> {
        let (lengths, bits) = bytes.split_at(4 * attributes);
        Signatures {
            lengths: lengths.as_chunks().0.iter(),
            bits,
        }
    }
}

impl<'a> Iterator for Signatures<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let len = u32::from_le_bytes(*self.lengths.next()?);
        if len == u32::MAX {
            return Some(None);
        }
        let (this, rest) = self.bits.split_at(len as usize);
        self.bits = rest;
        Some(Some(this))
    }
}

/// Errors: not as many weights as signatures, or none; weights that cannot be.
pub fn check(signatures: &[CString], weights: &[f64]) {
    if signatures.len() != weights.len() || signatures.is_empty() {
        raise(
            &Error::new(
                ErrorKind::ArraySubscript,
                format!(
                    "profile of {} columns does not fit {} weights",
                    signatures.len(),
                    weights.len()
                ),
            )
            .detail("A profile has one weight for each column, and at least one column."),
        );
    }
    Weights::new(weights).or_raise();
}

/// A search for pairs of profiles: records with several weighted signatures.
pub struct ProfileSearch<'a> {
    pub relations: Relations<'a>,
    /// One for each signature of a record; see [`check`].
    pub weights: Vec<f64>,
    pub threshold: f64,
}

impl ProfileSearch<'_> {
    /// Joins one attribute after the other. A weighted mean is at most its greatest part, so some attribute of every pair that is
    /// wanted reaches the threshold itself.
    ///
    /// Errors: as [`Stream::read`]; two shapes; a key that is null, or that two records have.
    pub fn run(self, mut output: PairOutput) {
        let ProfileSearch {
            relations,
            weights,
            threshold,
        } = self;
        let memory = Budget::of_setting().bytes();
        let share = match relations.right {
            Some(_) => memory / 8,
            None => memory / 4,
        };
        let read = |records: &Records| {
            let mut profiles = Profiles::new(weights.clone(), share);
            let stream = Stream::read(records, share, Some(&mut profiles));
            (stream, profiles)
        };
        let (left, left_profiles) = read(relations.left);
        let (right, right_profiles) = relations.right.map(read).unzip();
        let (right_keys, others) = right.map(|right| (right.keys, right.attributes)).unzip();
        let (attributes, others) = match left.new {
            Some(new) => (new, Some(left.attributes)),
            None => (left.attributes, others),
        };
        let mut others = others.map(Vec::into_iter);
        let mut found = ProfilePairs {
            output: &mut output,
            relations,
            keys: StreamKeys {
                left: left.keys,
                right: right_keys,
                ordered: left.ordered,
            },
            left: left_profiles,
            right: right_profiles,
            threshold,
            // Less by what rounding can add to a mean.
            reach: threshold * (1.0 - 1e-12),
            attributes: attributes.len(),
            leading: 0,
        };
        progress::phase(phases::COMPARING_SIGNATURES, None);
        for (i, attribute) in attributes.into_iter().enumerate() {
            let next = |others: &mut std::vec::IntoIter<_>| {
                let other = others.next();
                other.expect("both sides have as many attributes")
            };
            let other = others.as_mut().map(next);
            if weights[i] <= 0.0 {
                continue;
            }
            found.leading = i;
            join(attribute, other, found.reach, memory / 2, &mut found);
        }
    }
}

/// Gives pairs of profiles to the output that are similar as a whole.
struct ProfilePairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    relations: Relations<'a>,
    keys: StreamKeys,
    left: Profiles,
    right: Option<Profiles>,
    threshold: f64,
    /// Every pair that reaches the threshold has an attribute that reaches this.
    reach: f64,
    attributes: usize,
    /// The attribute that is joined.
    leading: usize,
}

impl ProfilePairs<'_, '_> {
    /// The similarity of the profiles of a pair, if it reaches the threshold and the leading attribute is the first one that reaches
    /// `reach`. Otherwise another attribute reports the pair.
    fn similarity(&mut self, a: u64, b: u64) -> Option<f64> {
        self.left.load(a, 0);
        let others = match &mut self.right {
            Some(others) => {
                others.load(b, 1);
                &*others
            }
            None => {
                self.left.load(b, 1);
                &self.left
            }
        };
        let weights = &others.weights;
        let mut similarities = Vec::with_capacity(weights.len());
        for (i, (a, b)) in self.left.loaded(0).zip(others.loaded(1)).enumerate() {
            let similarity = a.zip(b).map(|(a, b)| Popcounts::of_bits(a, b).jaccard());
            let reaches = similarity.is_some_and(|similarity| similarity >= self.reach);
            if i < self.leading && weights[i] > 0.0 && reaches {
                return None;
            }
            similarities.push(similarity);
        }
        let weights = Weights::new(weights).or_raise();
        let similarities = similarities.into_iter().map(Result::Ok);
        let similarity = profile(weights, similarities).or_raise()?;
        (similarity >= self.threshold).then_some(similarity)
    }
}

impl JoinSink for ProfilePairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        let (a, b) = (pair.a.row(), pair.b.row());
        let pair_of_records = match self.relations.left.new {
            Some(_) => pair_of(a, b),
            None => Some((a, b)),
        };
        let Some((a, b)) = pair_of_records else {
            return;
        };
        let Some(similarity) = self.similarity(a, b) else {
            return;
        };
        let (keys, relations) = (&mut self.keys, self.relations);
        self.output.put(similarity, || {
            let keys = keys.of(a, b);
            check_distinct(keys, relations);
            Some(keys)
        });
    }

    fn progress(&mut self, done: u64, all: u64) {
        let before = self.leading as u64 * all;
        self.output
            .report(before + done, self.attributes as u64 * all);
    }
}
