//! The most pairs that are compared: which searches of a model are done, and what is said of the others.

use base::range::counted;
use base::{Error, ErrorKind};
use linkage::model::{MatchModel, PlannedSearch, Search};

use crate::models::search::scan;
use pg::error::{notice, raise};

/// The searches of a model that are done, and the pairs that they have found.
pub struct PairLimit<'m> {
    model: &'m MatchModel,
    chosen: Vec<bool>,
    /// Records, and all pairs of them.
    records: f64,
    all_pairs: f64,
    /// Most pairs that are compared.
    most: f64,
    /// Pairs that each search has found and none before it, and all of them together.
    found: Vec<u64>,
    sum: u64,
    /// Pairs of a search that has found too many by itself.
    too_many: Vec<u64>,
}

impl<'m> PairLimit<'m> {
    /// Of `records` records, which make `all_pairs` pairs, `most` may be compared.
    pub fn new(model: &'m MatchModel, records: f64, all_pairs: f64, most: f64) -> PairLimit<'m> {
        PairLimit {
            chosen: chosen(&model.searches, records, all_pairs, most),
            found: vec![0; model.searches.len()],
            too_many: vec![0; model.searches.len()],
            model,
            records,
            all_pairs,
            most,
            sum: 0,
        }
    }

    /// Which searches are done.
    pub fn chosen(&self) -> &[bool] {
        &self.chosen
    }

    /// Whether a search that has found so many pairs by itself is worth a further look: one pair too many is enough to
    /// know that it is not.
    #[inline]
    pub fn has_room(&self, found: u64) -> bool {
        found as f64 <= self.most + 1.0
    }

    /// A search has found so many pairs by itself.
    pub fn found_by_itself(&mut self, search: usize, pairs: u64) {
        if pairs as f64 > self.most {
            self.too_many[search] = pairs;
        }
    }

    /// One pair more, which this search has found and none before it. Returns whether it may be compared.
    #[inline]
    pub fn count(&mut self, search: usize) -> bool {
        self.found[search] += 1;
        self.sum += 1;
        self.sum as f64 <= self.most
    }

    /// Errors: there were too many.
    pub fn check(&self) {
        if self.sum as f64 <= self.most {
            return;
        }
        let searches = self.model.searches.iter().enumerate();
        let rows = searches.filter(|(number, _)| self.chosen[*number]);
        let rows = rows.map(|(number, planned)| {
            let pairs = self.found[number].max(self.too_many[number]);
            format!(
                "\n{}: {} found, {:.0} expected",
                self.model.search_meaning(&planned.search),
                counted(pairs, "pair", "pairs"),
                planned.pairs_per_record * self.records,
            )
        });
        raise(
            &Error::new(
                ErrorKind::LimitExceeded,
                format!("the searches find more than {:.0} pairs", self.most),
            )
            .detail(format!(
                "They bring more pairs than the model's records did:{}",
                rows.collect::<String>()
            ))
            .hint("Raise the option pair_limit, or fit the model to these records."),
        )
    }

    /// Says which searches are left out, and what is lost by that.
    pub fn tell_left_out(&self, job: &str) {
        let searches = || self.model.searches.iter().zip(&self.chosen);
        let is_scan = |planned: &PlannedSearch| matches!(planned.search, Search::Scan { .. });
        if searches().any(|(planned, &runs)| runs && is_scan(planned)) {
            return;
        }
        let n = self.records;
        let matches = |runs: bool| -> f64 {
            let others = searches().filter(|s| *s.1 == runs && !is_scan(s.0));
            others
                .map(|(planned, _)| planned.matches_per_record * n)
                .sum()
        };
        let scanned = searches().find(|s| is_scan(s.0) && scan::is_possible(self.all_pairs));
        let lost = match scanned {
            Some((planned, _)) => (planned.matches_per_record * n - matches(true)).max(0.0),
            None => matches(false),
        };
        let others = searches().filter(|s| !is_scan(s.0) && !s.1).count();
        let left_out = others + usize::from(scanned.is_some());
        if left_out > 0 {
            let (lost, most) = (lost.round() as u64, self.most);
            notice!(
                "{job}: {} left out, as {} would bring more than {most:.0} pairs; {} expected to be lost",
                counted(left_out as u64, "search is", "searches are"),
                if left_out == 1 { "it" } else { "they" },
                counted(lost, "match is", "matches are"),
            );
        }
    }
}

/// Which of the model's searches are done, of `records` records that make `all_pairs` pairs, so that no more than
/// `most` pairs are compared. What a search brings was counted without what those before it bring: once one is left
/// out, so are those behind it. A scan finds all.
pub fn chosen<'m>(
    searches: impl IntoIterator<Item = &'m PlannedSearch>,
    records: f64,
    all_pairs: f64,
    most: f64,
) -> Vec<bool> {
    let (mut expected, mut is_done) = (0.0, false);
    let mut is_chosen = |planned: &PlannedSearch| {
        let with = expected + planned.pairs_per_record * records;
        let is_scan = matches!(planned.search, Search::Scan { .. });
        if is_done || is_scan && !scan::is_possible(all_pairs) {
            return false;
        }
        let fits = with <= most;
        // a scan that is too large leaves the work to the others
        is_done = fits == is_scan;
        if fits {
            expected = with;
        }
        fits
    };
    searches.into_iter().map(&mut is_chosen).collect()
}
