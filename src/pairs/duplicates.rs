//! `bloom_duplicates` and `bloom_linkage`: all pairs of similar records, of one relation or of two.

use std::ffi::CString;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::similarity::Weights;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use crate::pairs::bands::Bands;
use crate::pairs::join::{parts_of, Match};
use crate::pairs::keys::{is_behind, Keys};
use crate::pairs::loose::{self, loose};
use crate::pairs::parallel::{self, Job};
use crate::pairs::profiles::{similarity, Profiles};
use crate::pairs::relation::{Records, Table};
use crate::pairs::stream::{join, Stream};
use crate::pairs::unique::{self, repeated};
use crate::pg::error::{raise, OrRaise};
use crate::pg::file::Texts;
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_bytes, Rows, Scratch};
use crate::pg::progress::Progress;
use crate::pg::{check_for_interrupts, entry};
use crate::types::NewValue;

/// `(rel regclass, key name, signature name, threshold float8)`
#[entry]
fn bloom_duplicates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared so, returning a set.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let threshold = arguments.threshold(3);
    pairs(fcinfo, "bloom_duplicates", &records, None, threshold);
    NewValue(pg_sys::Datum::null())
}

/// `(rel regclass, key name, signatures name[], weights float8[], threshold float8)`
#[entry]
fn bloom_duplicates_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: as above.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (signatures, weights) = (arguments.names(2), arguments.float8s(3));
    check_profiles(&signatures, &weights);
    let records = Records::new(arguments.oid(0), arguments.name(1), signatures);
    let threshold = arguments.threshold(4);
    profiles(
        fcinfo,
        "bloom_duplicates",
        &records,
        None,
        weights,
        threshold,
    );
    NewValue(pg_sys::Datum::null())
}

/// `(a regclass, a_key name, a_signature name, b regclass, b_key name, b_signature name, threshold float8)`
#[entry]
fn bloom_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: as above.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let side = |i: usize| {
        Records::new(
            arguments.oid(i),
            arguments.name(i + 1),
            vec![arguments.name(i + 2)],
        )
    };
    let (a, b) = (side(0), side(3));
    pairs(
        fcinfo,
        "bloom_linkage",
        &a,
        Some(&b),
        arguments.threshold(6),
    );
    NewValue(pg_sys::Datum::null())
}

/// `(a regclass, a_key name, a_signatures name[], b regclass, b_key name, b_signatures name[], weights float8[], threshold float8)`
#[entry]
fn bloom_linkage_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: as above.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let weights = arguments.float8s(6);
    let side = |i: usize| {
        let signatures = arguments.names(i + 2);
        check_profiles(&signatures, &weights);
        Records::new(arguments.oid(i), arguments.name(i + 1), signatures)
    };
    let (a, b) = (side(0), side(3));
    profiles(
        fcinfo,
        "bloom_linkage",
        &a,
        Some(&b),
        weights,
        arguments.threshold(7),
    );
    NewValue(pg_sys::Datum::null())
}

/// Errors: not as many weights as signatures, or none; weights that cannot be.
fn check_profiles(signatures: &[CString], weights: &[f64]) {
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

/// What takes pairs one by one: their keys and their similarity. It allocates nothing in the current memory context
/// that is to stay.
pub type Taker<'a> = dyn FnMut([&[u8]; 2], f64) + 'a;

/// Where pairs go.
enum Sink<'a> {
    Rows(Rows),
    Taker(Scratch, &'a mut Taker<'a>),
}

/// What is found, and how far that is.
struct Output<'a> {
    sink: Sink<'a>,
    progress: Progress,
    found: u64,
}

impl<'a> Output<'a> {
    /// SAFETY: `fcinfo` is that of one of these functions.
    unsafe fn new(fcinfo: pg_sys::FunctionCallInfo, job: &'static str) -> Output<'a> {
        // SAFETY: as promised by the caller.
        let rows = unsafe { Rows::new(fcinfo) };
        Output::to(Sink::Rows(rows), job)
    }

    fn to(sink: Sink<'a>, job: &'static str) -> Output<'a> {
        Output {
            sink,
            progress: Progress::new(job),
            found: 0,
        }
    }

    /// Adds the pair of which `keys` gives the keys, if both records are there.
    fn put(&mut self, similarity: f64, keys: impl FnOnce() -> Option<[Option<pg_sys::Datum>; 2]>) {
        let keys = || {
            Some(keys()?.map(|key| match key {
                Some(key) => key,
                None => raise(
                    &Error::new(ErrorKind::NullNotAllowed, "key of a record is null")
                        .detail(format!("The record has a duplicate with similarity {similarity}."))
                        .hint("Name a key column that is not null, or use a view that leaves such records out."),
                ),
            }))
        };
        let made = match &mut self.sink {
            Sink::Rows(rows) => rows.make(|| {
                let [a, b] = keys()?;
                Some([Some(a), Some(b), similarity.into_datum()])
            }),
            Sink::Taker(scratch, take) => scratch.with(|| {
                let Some([a, b]) = keys() else { return false };
                // SAFETY: texts just made, which stay until this is done.
                take(unsafe { [text_bytes(a), text_bytes(b)] }, similarity);
                true
            }),
        };
        self.found += u64::from(made);
    }

    fn report(&mut self, done: u64, all: u64) {
        let found = self.found;
        self.progress.report(|| {
            let percent = 100.0 * done as f64 / all.max(1) as f64;
            format!("{percent:.0} % of the comparisons done, {found} pairs found")
        });
    }
}

/// Bytes that a job may use.
fn memory() -> usize {
    // SAFETY: a setting.
    unsafe { pg_sys::maintenance_work_mem as usize * 1024 }
}

/// Gives the pairs of `bloom_duplicates` to `take` as they are found, without a result that holds them all: who takes
/// them can fail in time.
///
/// Errors: as `bloom_duplicates`.
pub fn each_pair<'a>(
    job: &'static str,
    records: &Records,
    threshold: f64,
    take: &'a mut Taker<'a>,
) {
    let sink = Sink::Taker(Scratch::new(c"pair of records"), take);
    search(Output::to(sink, job), records, None, threshold);
}

fn pairs(
    fcinfo: pg_sys::FunctionCallInfo,
    job: &'static str,
    a: &Records,
    b: Option<&Records>,
    threshold: f64,
) {
    // SAFETY: the running call.
    search(unsafe { Output::new(fcinfo, job) }, a, b, threshold);
}

fn search(mut output: Output, a: &Records, b: Option<&Records>, threshold: f64) {
    let tables = match b {
        None => a.indexed().map(|tables| (tables, 0)),
        Some(b) => a.indexed().zip(b.indexed()).map(|(mut tables, more)| {
            let left = tables.len();
            tables.extend(more);
            (tables, left)
        }),
    };
    match tables {
        Some((tables, left)) => {
            check_number(tables.len());
            unique::check(a);
            b.into_iter().for_each(unique::check);
            let left = b.map(|_| left as u16);
            indexed(&mut output, &tables, left, (a, b), threshold);
        }
        None => streamed(&mut output, a, b, threshold),
    }
}

/// Errors: more tables than can be told apart.
fn check_number(tables: usize) {
    let most = usize::from(loose::TABLES[0]);
    if tables > most {
        let message = format!("cannot join more than {most} partitions");
        raise(
            &Error::new(ErrorKind::LimitExceeded, message)
                .detail(format!("There are {tables}."))
                .hint("Use fewer partitions, or views of some of them."),
        );
    }
}

/// Joins what the indexes hold.
fn indexed(
    output: &mut Output,
    tables: &[Table],
    left: Option<u16>,
    sides: (&Records, Option<&Records>),
    threshold: f64,
) {
    let (a, b) = sides;
    check_shapes(tables);
    // SAFETY: a function runs with a snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    for table in tables {
        table.lock_predicate();
    }
    let mut keys = Keys::new(tables, (&a.key, b.map(|b| &b.key)), snapshot);
    let output = std::cell::RefCell::new(output);
    let mut each = |hit: &Match, row: &mut dyn FnMut(u64) -> (usize, u64)| {
        check_for_interrupts();
        let (a, b) = (row(hit.a), row(hit.b));
        if a == b {
            raise(&tables[a.0].index.unsound("it has a row of the table twice"));
        }
        output.borrow_mut().put(hit.similarity, || {
            keys.of(a, b).map(|keys| distinct(keys, sides))
        });
    };
    join_loose(tables, left, threshold, &mut each, |done, all| {
        output.borrow_mut().report(done, all)
    });
    let job = Job {
        tables,
        left,
        threshold,
        memory: memory(),
    };
    let each = |hit: &Match| each(hit, &mut parts_of);
    parallel::run(&job, each, |done, all| {
        output.borrow_mut().report(done, all)
    });
}

/// Joins rows without posting lists with each other and with the others; these are joined elsewhere.
fn join_loose(
    tables: &[Table],
    left: Option<u16>,
    threshold: f64,
    each: &mut impl FnMut(&Match, &mut dyn FnMut(u64) -> (usize, u64)),
    progress: impl FnMut(u64, u64),
) {
    let memory = memory();
    let of_side = |from: usize, to: usize| {
        let numbered = (from as u16..).zip(&tables[from..to]);
        let share = if left.is_some() {
            memory / 4
        } else {
            memory / 2
        };
        loose(numbered, share).unzip()
    };
    let end = left.map_or(tables.len(), usize::from);
    let (rows, mut origins) = of_side(0, end);
    let (others, mut other_origins) = of_side(end, tables.len());
    if rows.is_none() && others.is_none() {
        return;
    }
    // of one side all are on the other
    let segments = parallel::pieces(tables, left.or(Some(0)));
    let bands = Bands {
        sides: [rows, others],
        tables: loose::TABLES,
        linkage: left.is_some(),
        segments: &segments,
        threshold,
        memory: memory / 2,
    };
    let sides = loose::TABLES.map(usize::from);
    let mut row = |row: u64| {
        let (table, number) = parts_of(row);
        let origins = match sides.iter().position(|&side| side == table) {
            None => return (table, number),
            Some(0) => &mut origins,
            Some(_) => &mut other_origins,
        };
        origins.as_mut().expect("found there").get(number)
    };
    bands.join(|hit| each(hit, &mut row), progress);
}

/// Errors: indexes of different shapes.
fn check_shapes(tables: &[Table]) {
    let mut shapes = tables
        .iter()
        .map(|t| t.meta.shape)
        .filter(|&shape| shape != 0);
    if let Some(first) = shapes.next() {
        if let Some(other) = shapes.find(|&shape| shape != first) {
            raise(&Shape::mismatch(Shape::of_tag(first), Shape::of_tag(other)));
        }
    }
}

/// The keys of two records by their numbers, from 1; of one stream in their order.
fn keys_of(
    left: &mut Texts,
    right: Option<&mut Texts>,
    ordered: bool,
    a: u64,
    b: u64,
) -> [Option<pg_sys::Datum>; 2] {
    let key = left.get(a - 1);
    let Some(right) = right else {
        let other = left.get(b - 1);
        let swap = if ordered {
            a > b
        } else {
            is_behind(key, other)
        };
        return if swap { [other, key] } else { [key, other] };
    };
    [key, right.get(b - 1)]
}

/// The keys of a pair. They have been compared as values; texts of different ones can be the same, as those of numbers with few digits.
///
/// Errors: they are of one relation, and are the same.
fn distinct(
    keys: [Option<pg_sys::Datum>; 2],
    sides: (&Records, Option<&Records>),
) -> [Option<pg_sys::Datum>; 2] {
    if let ([Some(a), Some(b)], None) = (keys, sides.1) {
        // SAFETY: texts of this pair.
        let (a, b) = unsafe { (text_bytes(a), text_bytes(b)) };
        if a == b {
            repeated(a, sides.0);
        }
    }
    keys
}

/// Joins what the caller can read.
fn streamed(output: &mut Output, a: &Records, b: Option<&Records>, threshold: f64) {
    let memory = memory();
    let share = if b.is_some() { memory / 4 } else { memory / 2 };
    let mut left = Stream::read(a, share, None);
    let mut right = b.map(|b| Stream::read(b, share, None));
    let attribute = |stream: &mut Stream| stream.attributes.pop().expect("one signature");
    let (x, y) = (attribute(&mut left), right.as_mut().map(attribute));
    let ordered = left.ordered;
    let output = std::cell::RefCell::new(output);
    let each = |hit: &Match| {
        check_for_interrupts();
        let (x, y) = (parts_of(hit.a).1, parts_of(hit.b).1);
        let others = right.as_mut().map(|right| &mut right.keys);
        output.borrow_mut().put(hit.similarity, || {
            let keys = keys_of(&mut left.keys, others, ordered, x, y);
            Some(distinct(keys, (a, b)))
        });
    };
    join(x, y, threshold, memory / 2, each, |done, all| {
        output.borrow_mut().report(done, all);
    });
}

fn profiles(
    fcinfo: pg_sys::FunctionCallInfo,
    job: &'static str,
    a: &Records,
    b: Option<&Records>,
    weights: Vec<f64>,
    threshold: f64,
) {
    // SAFETY: the running call.
    let output = &mut unsafe { Output::new(fcinfo, job) };
    let share = memory() / if b.is_some() { 8 } else { 4 };
    let read = |records: &Records| {
        let mut profiles = Profiles::new(weights.clone(), share);
        let stream = Stream::read(records, share, Some(&mut profiles));
        (stream, profiles)
    };
    let mut left = read(a);
    let mut right = b.map(read);
    let attributes = std::mem::take(&mut left.0.attributes);
    let mut others = right
        .as_mut()
        .map(|r| std::mem::take(&mut r.0.attributes).into_iter());
    let n = attributes.len() as u64;
    // what rounding can add to a mean
    let reach = threshold * (1.0 - 1e-12);
    let output = std::cell::RefCell::new(output);
    for (i, attribute) in attributes.into_iter().enumerate() {
        let other = others
            .as_mut()
            .map(|others| others.next().expect("as many on both sides"));
        if weights[i] <= 0.0 {
            continue;
        }
        let each = |hit: &Match| {
            check_for_interrupts();
            let pair = (parts_of(hit.a).1, parts_of(hit.b).1);
            let (right_keys, right_profiles) = match &mut right {
                Some((stream, profiles)) => (Some(&mut stream.keys), Some(profiles)),
                None => (None, None),
            };
            let found = similarity(&mut left.1, right_profiles, pair, i, (threshold, reach));
            let Some(similarity) = found else { return };
            let ordered = left.0.ordered;
            output.borrow_mut().put(similarity, || {
                let keys = keys_of(&mut left.0.keys, right_keys, ordered, pair.0, pair.1);
                Some(distinct(keys, (a, b)))
            });
        };
        join(attribute, other, reach, memory() / 2, each, |done, all| {
            output.borrow_mut().report(i as u64 * all + done, n * all);
        });
    }
}
