//! How pairs become clusters: method, threshold, decisions, and a largest size.

use base::Error;
use linkage::clusters::{average, centres, components, Bounds, Clusters, Links, OnConflict};

use crate::clusters::pair_list::Overhead;
use crate::pairs::decisions::Decisions;
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::function::arguments::{of_name, Arguments};

/// How pairs become clusters. The core explains the algorithms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Whatever is connected by pairs is a cluster.
    Components,
    /// A cluster is a centre and the records similar to it: star clustering (Aslam, Pelekhov, Rus 2004).
    Centre,
    /// Clusters are merged as long as the mean similarity between two of them reaches the threshold: average linkage.
    Average,
}

impl Method {
    /// Errors: no such method.
    pub fn of_name(name: &str) -> Method {
        let methods = [
            ("components", Method::Components),
            ("centre", Method::Centre),
            ("average", Method::Average),
        ];
        of_name(name, &methods, "clustering method", "methods")
    }

    /// Pairs of lower similarity than this do not change the clusters of `threshold`.
    pub fn least(self, threshold: f64) -> f64 {
        match self {
            Method::Centre => threshold,
            // They tell how similar a record is to the one to keep, and count in means.
            Method::Components | Method::Average => 0.0,
        }
    }
}

/// What clusters are wanted.
pub struct Grouping<'a> {
    pub threshold: f64,
    pub method: Method,
    /// What people have decided about pairs. The pairs that clusters are made from are without those judged different
    /// or unsure.
    pub decisions: Option<&'a Decisions>,
    /// What is done where decisions contradict each other.
    pub on_conflict: OnConflict,
    /// Records that pairs make a cluster of, at the most.
    pub most: u32,
}

impl Grouping<'_> {
    /// Clusters of any size, without decisions.
    pub fn new(threshold: f64, method: Method) -> Grouping<'static> {
        Grouping {
            threshold,
            method,
            decisions: None,
            on_conflict: OnConflict::Refuse,
            most: u32::MAX,
        }
    }

    /// The memory that the core needs besides the list of pairs, where `held` bytes are in use already.
    pub fn overhead(&self, held: usize) -> Overhead {
        let links = 32;
        let decisions = self.decisions.map_or(0, |decisions| {
            // what holds of them, in the core, and sets that stay apart
            decisions.memory() + decisions.len() * 200
        });
        Overhead {
            a_pair: match self.method {
                Method::Components | Method::Centre => links,
                Method::Average => links + 90,
            },
            // Links, orders, union-find, sums, and the clusters.
            a_record: 44,
            held: held + decisions,
        }
    }

    pub fn clusters(&self, links: &Links, bounds: &Bounds) -> Clusters {
        let threshold = self.threshold;
        let clusters = match self.method {
            Method::Components => components(links, threshold, bounds, check_for_interrupts),
            // A record belongs to the centre that it is most similar to, not to the first one that was found.
            Method::Centre => centres(links, threshold, bounds, check_for_interrupts),
            // A pair that is not there counts as similarity 0, which reaches a threshold of 0.
            Method::Average if threshold > 0.0 => {
                average(links, threshold, 0.0, bounds, check_for_interrupts)
            }
            Method::Average => components(links, threshold, bounds, check_for_interrupts),
        };
        clusters.or_raise()
    }
}

/// Errors: it is not known what is to be done.
pub fn on_conflict(name: &str) -> OnConflict {
    let values = [("error", OnConflict::Refuse), ("newer", OnConflict::Newer)];
    of_name(name, &values, "value of \"on_conflict\":", "values")
}

/// The argument `max_size`; NULL is no bound.
///
/// Errors: less than 2.
pub fn max_size(arguments: Arguments, i: usize) -> u32 {
    let Some(size) = arguments.datum(i) else {
        return u32::MAX;
    };
    let size = size.value() as i32;
    if size < 2 {
        raise(
            &Error::invalid(format!("max_size {size} is out of range"))
                .detail("A cluster has at least 2 records."),
        );
    }
    size as u32
}
