//! What the records of a fit stand for: themselves, or more of which they are a sample.
//!
//! Of pairs of two records of a sample there are fewer, in relation to the records, than of all: with a tenth of the
//! records, a hundredth of the pairs. If all records that have something in common with one of the sample are there, too,
//! the pairs that have one of the sample are all there are of those, and blocks have the sizes that they have among all.

use base::Error;
use pgrx::pg_sys;

use crate::models::options::ModelOptions;
use crate::models::records::read::{RecordSet, RecordTexts};
use pg::error::raise;

/// What the records of a fit stand for.
pub struct Population {
    /// All records.
    pub records: f64,
    /// All pairs of those that count.
    pub all_pairs: f64,
    /// Which records are the sample, if others are there besides.
    pub sample: Option<RecordSet>,
    /// How many they are.
    drawn: f64,
    /// The searches by equality whose blocks are all there, if not all are: the names of their fields, and the most records of
    /// a block.
    pub searches: Vec<(Vec<String>, u32)>,
    /// The relation with the keys of their blocks that are too large.
    pub large: Option<pg_sys::Oid>,
}

impl Population {
    /// Of the records that were read. How many pairs count is known later.
    ///
    /// Errors: as [`ModelOptions::stands_for`]; a sample without a record.
    pub fn new(options: &ModelOptions, texts: &mut RecordTexts) -> Population {
        let there = f64::from(texts.records);
        let tables = texts.by_relation().len();
        let sample = texts.new.take();
        let drawn = sample
            .as_ref()
            .map_or(there, |sample| f64::from(sample.members()));
        if drawn == 0.0 {
            raise(&Error::invalid("no record is in the sample").hint(
                "Give a relation with the keys of some of the records, as text, in a column named key.",
            ));
        }
        Population {
            records: options.stands_for(there, 0.0, tables).0,
            all_pairs: 0.0,
            sample,
            drawn,
            searches: options.searches.clone(),
            large: options.large,
        }
    }

    /// Whether a record is one of the sample.
    #[inline]
    pub fn has(&self, record: u32) -> bool {
        self.sample.as_ref().is_none_or(|sample| sample.has(record))
    }

    /// How many records are drawn.
    pub fn drawn(&self) -> f64 {
        self.drawn
    }

    /// Whether each record stands for itself.
    fn is_whole(&self) -> bool {
        self.records == self.drawn
    }

    /// Of the records that were drawn so many count.
    pub fn set_counted(&mut self, counted: f64) {
        let all = match self.is_whole() {
            true => counted,
            false => counted * (self.records / self.drawn.max(1.0)),
        };
        self.all_pairs = all * (all - 1.0) / 2.0;
    }

    /// Whether only some of the pairs of a record are there.
    pub fn is_thinned(&self) -> bool {
        self.sample.is_none() && !self.is_whole()
    }

    /// Of how many records pairs are learned from, and of how many pairs: `counted` are those of the sample's records that
    /// count. What is there, where pairs are thinned.
    pub fn learned_from(&self, counted: f64) -> (f64, f64) {
        match self.sample {
            Some(_) => (self.records, self.all_pairs),
            None => (self.drawn, counted),
        }
    }

    /// How many pairs of all records each stands for that is learned from.
    pub fn learned_weight(&self) -> f64 {
        if self.sample.is_none() || self.is_whole() {
            return 1.0;
        }
        let share = self.drawn / self.records;
        1.0 / (share * (2.0 - share))
    }

    /// How many pairs each stands for that is found by searches whose blocks are as [`Population::most`] says.
    pub fn found_weight(&self) -> f64 {
        match self.is_thinned() {
            true => self.weight_of_two(),
            false => self.learned_weight(),
        }
    }

    /// How many pairs each pair of two records of the sample stands for.
    pub fn weight_of_two(&self) -> f64 {
        match self.is_whole() {
            true => 1.0,
            false => {
                self.records * (self.records - 1.0) / (self.drawn * (self.drawn - 1.0)).max(1.0)
            }
        }
    }

    /// How many times more pairs a record has among all.
    pub fn more_pairs(&self) -> f64 {
        match self.is_thinned() {
            true => (self.records - 1.0) / (self.drawn - 1.0).max(1.0),
            false => 1.0,
        }
    }

    /// The most records that a block has among those that are there, if it may have so many among all.
    pub fn most(&self, most: u32) -> u32 {
        match self.is_thinned() {
            true => self.most_of_sample(most),
            false => most,
        }
    }

    /// The same among those of the sample.
    pub fn most_of_sample(&self, most: u32) -> u32 {
        match self.is_whole() {
            true => most,
            false => ((f64::from(most) * self.drawn / self.records) as u32).max(2),
        }
    }
}
