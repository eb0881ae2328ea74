//! Where the pairs of a search go, and how far it is.

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use crate::pg::error::raise;
use crate::pg::function::rows::{text_bytes, ResultRows};
use crate::pg::memory::Scratch;
use crate::pg::progress::Progress;

/// Takes pairs one by one: the keys of both records as text in the database's encoding, and their similarity. What it allocates in
/// the current memory context is freed when it returns.
pub type Taker<'a> = dyn FnMut([&[u8]; 2], f64) + 'a;

/// The keys of a pair as values of type `text`, `None` for null.
pub type KeyTexts = [Option<pg_sys::Datum>; 2];

enum Destination<'a> {
    Rows(ResultRows),
    Taker(Scratch, &'a mut Taker<'a>),
}

/// Takes the pairs that a search finds, and tells the user how far it is.
pub struct PairOutput<'a> {
    destination: Destination<'a>,
    progress: Progress,
    found: u64,
}

impl<'a> PairOutput<'a> {
    /// Pairs become rows `(a text, b text, similarity float8)` of the running function, whose name is `job`.
    ///
    /// # Safety
    /// `fcinfo` is that of a running function that returns a set of such rows.
    pub unsafe fn rows(fcinfo: pg_sys::FunctionCallInfo, job: &'static str) -> PairOutput<'a> {
        // SAFETY: the caller promises that the function returns a set of rows.
        let rows = unsafe { ResultRows::new(fcinfo) };
        PairOutput::new(Destination::Rows(rows), job)
    }

    /// Pairs are given to `take`. `job` is the name of the running function.
    pub fn taker(job: &'static str, take: &'a mut Taker<'a>) -> PairOutput<'a> {
        let scratch = Scratch::new(c"pair of records");
        PairOutput::new(Destination::Taker(scratch, take), job)
    }

    fn new(destination: Destination<'a>, job: &'static str) -> PairOutput<'a> {
        PairOutput {
            destination,
            progress: Progress::new(job),
            found: 0,
        }
    }

    /// Adds the pair whose keys `keys` gives. It gives none if one of the records is not there. It allocates them in the current
    /// memory context, which is freed when the pair was added.
    ///
    /// Errors: a key is null.
    pub fn put(&mut self, similarity: f64, keys: impl FnOnce() -> Option<KeyTexts>) {
        let keys = || Some(keys()?.map(|key| key.unwrap_or_else(|| null_key(similarity))));
        let made = match &mut self.destination {
            Destination::Rows(rows) => rows.make(|| {
                let [a, b] = keys()?;
                Some([Some(a), Some(b), similarity.into_datum()])
            }),
            Destination::Taker(scratch, take) => scratch.with(|| {
                let Some([a, b]) = keys() else { return false };
                // SAFETY: both texts were just made, so they are plain, and they stay until the scratch memory is freed.
                take(unsafe { [text_bytes(a), text_bytes(b)] }, similarity);
                true
            }),
        };
        self.found += u64::from(made);
    }

    /// Tells the user from time to time that `done` of `all` comparisons are done.
    pub fn report(&mut self, done: u64, all: u64) {
        let found = self.found;
        self.progress.report(|| {
            let percent = 100.0 * done as f64 / all.max(1) as f64;
            format!("{percent:.0} % of the comparisons done, {found} pairs found")
        });
    }

    /// The same where it is only known how many records have been compared.
    pub fn report_records(&mut self, done: u64) {
        let found = self.found;
        let describe = || format!("{done} records compared, {found} pairs found");
        self.progress.report(describe);
    }
}

#[cold]
fn null_key(similarity: f64) -> ! {
    raise(
        &Error::new(ErrorKind::NullNotAllowed, "key of a record is null")
            .detail(format!(
                "The record has a duplicate with similarity {similarity}."
            ))
            .hint(
                "Name a key column that is not null, or use a view that leaves such records out.",
            ),
    )
}
