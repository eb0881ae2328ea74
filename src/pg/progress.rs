//! How far a long search is. Extensions have no progress view of their own, so it is a NOTICE from time to time.

use std::time::{Duration, Instant};

/// The least time between two notices.
const INTERVAL: Duration = Duration::from_secs(5);

/// Tells how far a long search is.
pub struct Progress {
    name: &'static str,
    last: Instant,
}

impl Progress {
    /// Of a search that begins now; its name stands before each notice.
    pub fn new(name: &'static str) -> Progress {
        Progress {
            name,
            last: Instant::now(),
        }
    }

    /// Says what `describe` gives, if nothing was said for some seconds.
    pub fn report(&mut self, describe: impl FnOnce() -> String) {
        if self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            crate::pg::error::notice!("{}: {}", self.name, describe());
        }
    }
}
