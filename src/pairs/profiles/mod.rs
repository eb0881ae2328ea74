//! Profiles are records with several weighted signatures. Pairs of them are found by some of their columns, each
//! searched for a similarity that follows from the weights: by the indexes of a column where there are some, otherwise
//! among what a query gives.

mod costs;
mod sample;
mod store;
mod stream;

use std::ffi::CString;

use base::range::unit;
use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgLogLevel};
use signature::similarity::{Popcounts, ProfilePlan, ProfileRule, Weights};

use crate::pairs::from_index;
use crate::pairs::only_new::{self, NewRecords};
use crate::pairs::output::PairOutput;
use crate::pairs::records::{Records, Relations};
use crate::pairs::table::IndexedTables;
use crate::pairs::unique;
use pg::error::{raise, tell, OrRaise};
use pg::function::arguments::Arguments;
use pg::values::text::readable;
use types::Bloom;

use costs::SampledCosts;
use sample::ProfileSample;
use stream::ProfileStreams;

pub use store::Profiles;

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

/// The share of the weights that argument `i` demands on both sides of a pair.
///
/// Errors: NULL; outside \[0,1\].
pub fn coverage(arguments: Arguments, i: usize) -> f64 {
    let coverage = arguments.float8(i);
    unit("coverage", coverage).or_raise();
    coverage
}

/// A search for pairs of profiles: records with several weighted signatures.
pub struct ProfileSearch<'a> {
    pub relations: Relations<'a>,
    /// One for each signature of a record; see [`check`].
    pub weights: Vec<f64>,
    pub threshold: f64,
    /// The share of the weights whose signatures both records of a pair have, at least.
    pub coverage: f64,
}

impl ProfileSearch<'_> {
    /// Errors: a coverage that cannot be; as a search by indexes, and one by a query; two shapes; a key that is null,
    /// or that two records have.
    pub fn run(self, mut output: PairOutput) {
        let ProfileSearch {
            relations,
            weights,
            threshold,
            coverage,
        } = self;
        let columns: Vec<Option<ColumnTables>> = (0..weights.len())
            .map(|i| (weights[i] > 0.0).then(|| ColumnTables::find(relations, i))?)
            .collect();
        let rule = ProfileRule::new(weights, threshold, coverage).or_raise();
        let memory = output.memory();
        let of_profiles = memory / 4;
        if columns.iter().all(Option::is_none) {
            let mut streams = ProfileStreams::read(relations, memory, None);
            let sample = streams.sample(memory / 8);
            let costs = SampledCosts::new(&sample, &[], of_profiles, None);
            let plan = ProfilePlan::new(rule, |searches| costs.cost(searches));
            let searched: Vec<usize> = plan.searched().iter().map(|&(i, _)| i).collect();
            tell_plan(relations, &plan, &searched);
            streams.join(&mut output, &plan, &searched);
            return;
        }
        let sample = ProfileSample::of_tables(relations, &columns, memory / 8);
        let is_indexed: Vec<bool> = columns.iter().map(Option::is_some).collect();
        let new = relations.left.new.as_ref().map(NewRecords::count);
        let costs = SampledCosts::new(&sample, &is_indexed, of_profiles, new);
        let plan = ProfilePlan::new(rule, |searches| costs.cost(searches));
        let mut others = costs.joined(plan.searched());
        tell_plan(relations, &plan, &others);
        let mut checked = relations.left.new.is_some();
        for &(column, bound) in plan.searched() {
            let Some(tables) = columns[column]
                .as_ref()
                .filter(|_| !others.contains(&column))
            else {
                continue;
            };
            if !std::mem::replace(&mut checked, true) {
                relations.each().for_each(unique::check);
            }
            let plan = &plan;
            let profile = ProfileComparison { plan, column };
            if !tables.search(&mut output, bound, profile) {
                others.push(column);
            }
        }
        if !others.is_empty() {
            let streams = ProfileStreams::read(relations, memory, Some(&others));
            streams.join(&mut output, &plan, &others);
        }
    }
}

/// Says at level DEBUG1 which columns are searched, and how: those that are `joined` not by an index.
fn tell_plan(relations: Relations<'_>, plan: &ProfilePlan, joined: &[usize]) {
    for &(column, bound) in plan.searched() {
        let name = &relations.left.signatures[column].name;
        let how = match joined.contains(&column) {
            true => "after reading all records",
            false => "by its index",
        };
        let name = readable(name.to_bytes());
        let message =
            format!("profiles: column \"{name}\" is searched for {bound:.3} and more, {how}");
        tell(PgLogLevel::DEBUG1, message);
    }
}

/// The tables of both relations, with indexes on a column.
struct ColumnTables {
    left: Records,
    right: Option<Records>,
    tables: IndexedTables,
}

impl ColumnTables {
    /// `None` if a table has no index on the column, or if only a query can read the rows.
    ///
    /// Errors: the caller may not read the columns.
    fn find(relations: Relations<'_>, column: usize) -> Option<ColumnTables> {
        let left = relations.left.of_column(column);
        let right = relations.right.map(|right| right.of_column(column));
        let of_left = left.indexed()?;
        let of_right = match &right {
            Some(right) => Some(right.indexed()?),
            None => None,
        };
        Some(ColumnTables {
            left,
            right,
            tables: IndexedTables::new(of_left, of_right),
        })
    }

    /// Gives the pairs to the output that the column finds. Gives false, and does nothing, if new records cannot be
    /// searched for by indexes.
    ///
    /// Errors: as a search by indexes.
    fn search(&self, output: &mut PairOutput, bound: f64, profile: ProfileComparison<'_>) -> bool {
        let relations = Relations {
            left: &self.left,
            right: self.right.as_ref(),
        };
        if self.left.new.is_some() {
            return only_new::indexed_pairs(output, &self.tables, relations, bound, Some(profile));
        }
        from_index::pairs(output, &self.tables, relations, bound, Some(profile));
        true
    }
}

/// Compares the profiles of rows that the search of a column has found.
#[derive(Clone, Copy)]
pub struct ProfileComparison<'a> {
    plan: &'a ProfilePlan,
    column: usize,
}

impl ProfileComparison<'_> {
    /// The similarity of two profiles, if they are a pair and no other column has found it before. `signature` gives
    /// that of a column and a side, `None` for null.
    ///
    /// Errors: signatures of different shapes.
    ///
    /// # Safety
    /// What `signature` gives are values of type bloom, which stay as long as this runs.
    pub unsafe fn similarity(
        self,
        signature: impl Fn(usize, usize) -> Option<pg_sys::Datum>,
    ) -> Option<f64> {
        let similarity = |column| {
            let (Some(a), Some(b)) = (signature(column, 0), signature(column, 1)) else {
                return Ok(None);
            };
            // SAFETY: the caller promises it.
            let (a, b) = unsafe { (Bloom::from_raw(a), Bloom::from_raw(b)) };
            Ok(Some(Popcounts::new(&a.view(), &b.view())?.jaccard()))
        };
        self.plan.take(self.column, similarity).or_raise()
    }
}
