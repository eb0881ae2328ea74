//! How far a job is: extensions have no progress view of their own, so it is a NOTICE from time to time.

use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(5);

pub struct Progress {
    job: &'static str,
    last: Instant,
}

impl Progress {
    pub fn new(job: &'static str) -> Progress {
        Progress {
            job,
            last: Instant::now(),
        }
    }

    /// Says what `describe` gives, if nothing was said for some seconds.
    pub fn report(&mut self, describe: impl FnOnce() -> String) {
        if self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            crate::pg::error::notice!("{}: {}", self.job, describe());
        }
    }
}
