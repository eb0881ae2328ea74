//! Whether the rows that an index has found are a pair as profiles.

use pgrx::pg_sys;
use signature::similarity::{Popcounts, ProfilePlan};

use pg::error::OrRaise;
use types::Bloom;

/// Compares the profiles of rows that the search of a column has found.
#[derive(Clone, Copy)]
pub struct ProfileJudge<'a> {
    plan: &'a ProfilePlan,
    column: usize,
}

impl<'a> ProfileJudge<'a> {
    pub fn new(plan: &'a ProfilePlan, column: usize) -> ProfileJudge<'a> {
        ProfileJudge { plan, column }
    }

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
            Ok(Some(Popcounts::of(&a.view(), &b.view())?.jaccard()))
        };
        self.plan.take(self.column, similarity).or_raise()
    }
}
