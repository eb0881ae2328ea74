//! Where the pairs of a search go, and how far it is.

use base::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use crate::pairs::decisions::Decisions;
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::verify::CandidatePairs;
use pg::budget::Budget;
use pg::check_for_interrupts;
use pg::error::raise;
use pg::function::rows::{text_bytes, ResultRows};
use pg::memory::Scratch;
use pg::progress::{self, Progress};

/// Takes pairs one by one: the keys of both records as text in the database's encoding, and their similarity. What it
/// allocates in the current memory context is freed when it returns.
pub type Taker<'a> = dyn FnMut([&[u8]; 2], f64) + 'a;

/// The keys of a pair as values of type `text`, `None` for null.
pub type KeyTexts = [Option<pg_sys::Datum>; 2];

enum Destination<'a> {
    Rows(ResultRows),
    Taker(Scratch, &'a mut Taker<'a>),
    /// The second record of a pair is of this side.
    Candidates(Scratch, &'a mut CandidatePairs, usize),
}

/// Takes the pairs that a search finds, and tells the user how far it is.
pub struct PairOutput<'a> {
    destination: Destination<'a>,
    progress: Progress,
    found: u64,
    job: &'static str,
    /// Bytes that the search may take.
    memory: usize,
    /// Pairs that are judged different or unsure are left out.
    decisions: Option<&'a Decisions>,
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

    /// Pairs are candidates, of which the second record is of side `side`, 0 or 1. The search for them takes `memory`
    /// bytes. `job` is the name of the running function.
    pub fn candidates(
        job: &'static str,
        to: &'a mut CandidatePairs,
        side: usize,
        memory: usize,
    ) -> PairOutput<'a> {
        let scratch = Scratch::new(c"pair of records");
        PairOutput {
            memory,
            ..PairOutput::new(Destination::Candidates(scratch, to, side), job)
        }
    }

    fn new(destination: Destination<'a>, job: &'static str) -> PairOutput<'a> {
        PairOutput {
            destination,
            progress: Progress::new(job),
            found: 0,
            job,
            memory: Budget::of_setting().bytes(),
            decisions: None,
        }
    }

    /// The same without the pairs that are judged different or unsure. The search leaves memory for the decisions.
    pub fn without(mut self, decisions: Option<&'a Decisions>) -> PairOutput<'a> {
        self.decisions = decisions;
        let held = decisions.map_or(0, Decisions::memory);
        self.memory = self.memory.saturating_sub(held).max(self.memory / 4);
        self
    }

    /// The name of the running function.
    pub fn job(&self) -> &'static str {
        self.job
    }

    /// Bytes that a search may take.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Adds the pair whose keys `keys` gives. It gives none if one of the records is not there. It allocates them in
    /// the current memory context, which is freed when the pair was added.
    ///
    /// Errors: a key is null.
    pub fn put(&mut self, similarity: f64, keys: impl FnOnce() -> Option<KeyTexts>) {
        self.put_compared(|| Some((keys()?, similarity)));
    }

    /// The same of a pair whose similarity is known with its keys.
    ///
    /// Errors: a key is null.
    pub fn put_compared(&mut self, pair: impl FnOnce() -> Option<(KeyTexts, f64)>) {
        let candidates = matches!(self.destination, Destination::Candidates(..));
        let pair = || {
            let (keys, similarity) = pair()?;
            let null = || null_key(similarity, candidates);
            Some((keys.map(|key| key.unwrap_or_else(null)), similarity))
        };
        let decisions = self.decisions;
        // SAFETY: both texts were just made, so they are plain, and they stay until the pair was added.
        let texts = |[a, b]: [pg_sys::Datum; 2]| unsafe { [text_bytes(a), text_bytes(b)] };
        let leaves_out =
            |keys| decisions.is_some_and(|decisions| decisions.leaves_out(texts(keys)));
        let wanted = || pair().filter(|(keys, _)| !leaves_out(*keys));
        let made = match &mut self.destination {
            Destination::Rows(rows) => rows.make(|| {
                let ([a, b], similarity) = wanted()?;
                Some([Some(a), Some(b), similarity.into_datum()])
            }),
            Destination::Taker(scratch, take) => scratch.with(|| {
                let wanted = wanted();
                wanted
                    .inspect(|(keys, similarity)| take(texts(*keys), *similarity))
                    .is_some()
            }),
            Destination::Candidates(scratch, candidates, side) => {
                let ids = scratch.with(|| {
                    let (keys, _) = wanted()?;
                    Some(candidates.identify(texts(keys), *side))
                });
                // Their files are not to go with the scratch memory.
                ids.into_iter().for_each(|ids| candidates.push(ids));
                ids.is_some()
            }
        };
        self.found += u64::from(made);
    }

    fn found_what(&self) -> &'static str {
        match self.destination {
            Destination::Candidates(..) => "candidates",
            Destination::Rows(_) | Destination::Taker(..) => "pairs",
        }
    }

    /// Tells the user from time to time that `done` of `all` comparisons are done.
    pub fn report(&mut self, done: u64, all: u64) {
        let (found, what) = (self.found, self.found_what());
        progress::done_of(done, all);
        self.progress.report(|| {
            let percent = 100.0 * done as f64 / all.max(1) as f64;
            format!("{percent:.0} % of the comparisons done, {found} {what} found")
        });
    }

    /// The same where it is only known how many records have been compared.
    pub fn report_records(&mut self, done: u64) {
        let (found, what) = (self.found, self.found_what());
        let describe = || format!("{done} records compared, {found} {what} found");
        self.progress.report(describe);
    }
}

/// Gives the pairs that a join finds to an output: `put` puts out what two rows stand for.
pub struct PairSink<'a, 'o, F> {
    output: &'a mut PairOutput<'o>,
    put: F,
}

impl<'a, 'o, F: FnMut(&mut PairOutput<'o>, &RowPair)> PairSink<'a, 'o, F> {
    pub fn new(output: &'a mut PairOutput<'o>, put: F) -> PairSink<'a, 'o, F> {
        PairSink { output, put }
    }
}

impl<'o, F: FnMut(&mut PairOutput<'o>, &RowPair)> JoinSink for PairSink<'_, 'o, F> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        (self.put)(self.output, pair);
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.report(done, all);
    }
}

/// The record may have a duplicate if it is one of a candidate, whose tokens have not been compared.
#[cold]
fn null_key(similarity: f64, candidate: bool) -> ! {
    let has = match candidate {
        true => "may have a duplicate: the signatures have a similarity of",
        false => "has a duplicate with similarity",
    };
    raise(
        &Error::new(ErrorKind::NullNotAllowed, "key of a record is null")
            .detail(format!("The record {has} {similarity}."))
            .hint(
                "Name a key column that is not null, or use a view that leaves such records out.",
            ),
    )
}
