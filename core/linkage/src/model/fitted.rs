//! A fitted model.

use super::mixture::{Dependence, Shares};
use super::values::{last_level, FieldLayout, RowLayout, EQUAL, LEVELS, SWAPPED};
use super::{Calibration, Pattern, MOST_SEARCHES};

base::named! {
    /// What a fit has come to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        /// It can be used.
        Converged = "converged",
        /// The rounds were not enough.
        Stopped = "stopped",
        /// Its numbers say nothing.
        Degenerate = "degenerate",
        /// Next to no duplicates are to be expected.
        NoneExpected = "none_expected",
        /// The columns look like people, and no personal field is known.
        NoPersonalFields = "no_personal_fields",
    }
}

/// A field of a model.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// The column.
    pub name: String,
    /// How values are compared.
    pub layout: FieldLayout,
    /// Whether people of a household differ in it.
    pub personal: bool,
    /// The share of the records that have a value.
    pub filled: f64,
    /// What agreement tells, in bits: -log2 of the probability that two records agree by chance.
    pub information: f64,
    /// Shares of the levels among random pairs.
    pub u: Shares,
    /// The level of equal values that are not among the frequent ones.
    pub rare_level: u8,
    /// Values whose level is above that, in their normal form, with their shares of the records.
    pub frequent: Vec<(String, f64)>,
}

impl FieldModel {
    /// A field whose values have not been counted.
    pub fn unknown(name: String, layout: FieldLayout) -> FieldModel {
        FieldModel {
            name,
            layout,
            personal: false,
            filled: 0.0,
            information: 0.0,
            u: [0.0; LEVELS],
            rare_level: 0,
            frequent: Vec::new(),
        }
    }

    /// The error of one of its values, which does not say by itself which field has it.
    pub fn value_error(&self, error: base::Error) -> base::Error {
        match error.kind() {
            base::ErrorKind::OutOfMemory => error,
            _ => error.of(&format!("value of field \"{}\"", self.name)),
        }
    }
}

/// Pairs that agree in some fields without being matches; the first class of a model is that of the matches.
#[derive(Clone, Debug)]
pub struct Class {
    /// The fields that agree by chance only, as bits.
    pub chance: u32,
    /// Expected pairs per record.
    pub pairs_per_record: f64,
    /// Shares of the levels, for each field.
    pub shares: Vec<Shares>,
}

/// How pairs are found that are looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Search {
    /// Records that are equal in these fields, in blocks of at most so many records.
    Equal {
        /// Numbers of fields, ascending.
        fields: Vec<usize>,
        /// Larger blocks are left out.
        most: u32,
    },
    /// Records of which one has as one name what the other has as the other name, or as the same one, and that are equal in
    /// these fields besides, in blocks of at most so many records. The names are those that may have changed places.
    Crosswise {
        /// Numbers of fields that are not these names, ascending; maybe none.
        fields: Vec<usize>,
        /// Larger blocks are left out.
        most: u32,
    },
    /// Records that are similar in one field or two, in blocks of at most so many records that have parts of their
    /// sketches in common.
    Similar {
        /// Numbers of fields, ascending: one or two.
        fields: Vec<usize>,
        /// The least similarity in hundredths, one of those where a level ends. Values that are not compared by
        /// similarity have such a level, too.
        least: u32,
        /// Larger blocks are left out.
        most: u32,
    },
    /// All pairs are looked at, and those are kept whose fields have this mean similarity. For small tables.
    Scan {
        /// In hundredths.
        least: u32,
    },
}

impl Search {
    /// The most records of a block: larger ones are left out. A scan has none.
    pub fn most(&self) -> u32 {
        match self {
            Search::Scan { .. } => 0,
            Search::Equal { most, .. }
            | Search::Crosswise { most, .. }
            | Search::Similar { most, .. } => *most,
        }
    }

    /// Whether every pair that the search comes across is one that it is for, and comes once.
    pub fn is_exact(&self) -> bool {
        matches!(self, Search::Equal { .. } | Search::Scan { .. })
    }

    /// Whether a pair that the search has come across is one that it is for.
    pub fn takes(&self, pattern: Pattern) -> bool {
        match self {
            Search::Equal { .. } | Search::Crosswise { .. } | Search::Scan { .. } => true,
            Search::Similar { fields, least, .. } => fields.iter().all(|&field| {
                let level = pattern.level(field);
                level == SWAPPED || level <= last_level(*least)
            }),
        }
    }
}

/// A search with what the fit has found by it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSearch {
    /// The search.
    pub search: Search,
    /// Pairs per record.
    pub pairs_per_record: f64,
    /// Expected matches per record that no search before this one finds.
    pub matches_per_record: f64,
}

/// A column that is no field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The column.
    pub column: String,
    /// Why, as half a sentence.
    pub reason: String,
}

/// A fitted model. It can be used for other records than those that it was fitted to.
#[derive(Clone, Debug)]
pub struct MatchModel {
    /// What the fit has come to.
    pub status: Status,
    /// The fields.
    pub fields: Vec<FieldModel>,
    /// Two fields of names that may have changed places.
    pub swap: Option<[usize; 2]>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// How fields go together in matches.
    pub match_dependence: Dependence,
    /// The matches, and the other classes.
    pub classes: Vec<Class>,
    /// Whether it was fitted to pairs of two tables.
    pub linkage: bool,
    /// Records of the fit, of both tables.
    pub records: f64,
    /// All pairs of them.
    pub all_pairs: f64,
    /// Rounds of the fit.
    pub rounds: usize,
    /// The searches for pairs, in the order in which they are done.
    pub searches: Vec<PlannedSearch>,
    /// Columns that are no fields.
    pub left_out: Vec<LeftOut>,
    /// What answers of people have shown about its bits.
    pub calibration: Option<Calibration>,
    /// The share of the matches that its searches find, as the fit has estimated it by those that they have found: rather
    /// too large than too small. Models of before it was kept have none.
    pub recall: Option<f64>,
    /// What speaks against it, or against the data that it was fitted to: texts for people to read.
    pub warnings: Vec<String>,
}

impl MatchModel {
    /// Lets a value that is not frequent count like the rarest of which the fit has seen two equal ones: at a level that none of
    /// its pairs has, equality would say nothing. In few records equal values are frequent ones, since two have them.
    pub fn settle_rare_levels(&mut self) {
        let Some(matches) = self.classes.first() else {
            return;
        };
        let pairs_of = |share: f64, pairs: f64| share * pairs >= 0.5;
        for (field, shares) in self.fields.iter_mut().zip(&matches.shares) {
            let is_seen = |&level: &usize| {
                pairs_of(shares[level], matches.pairs_per_record * self.records)
                    || pairs_of(field.u[level], self.all_pairs)
            };
            let mut levels = usize::from(field.rare_level)..EQUAL;
            let Some(rarest) = levels.find(is_seen) else {
                continue;
            };
            field.rare_level = rarest as u8;
        }
    }

    /// The first of the searches that have come across a pair, as bits, that is for it.
    pub fn taken_by(&self, pattern: Pattern, found: u64) -> Option<usize> {
        let mut searches = self.searches.iter().take(MOST_SEARCHES).enumerate();
        searches
            .find(|(number, planned)| found >> number & 1 == 1 && planned.search.takes(pattern))
            .map(|(number, _)| number)
    }

    /// How rows of its fields lie in memory.
    pub fn layout(&self) -> RowLayout {
        let fields = self.fields.iter().map(|field| field.layout.clone());
        RowLayout::new(fields.collect(), self.swap)
    }
}
