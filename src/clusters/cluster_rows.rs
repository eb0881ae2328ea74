//! `bloom_clusters`: groups records into clusters by their pairs.

use pgrx::{pg_sys, IntoDatum};

use crate::clusters::clustered::Clustered;
use crate::clusters::grouping::{max_size, on_conflict, Grouping, Method};
use crate::clusters::pair_list::PairList;
use crate::clusters::source::Source;
use crate::pairs::decisions::Decisions;
use crate::pairs::each_pair;
use crate::pairs::records::{Records, Relations};
use crate::pairs::verify::given;
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_datum, ResultRows};
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// `(rel regclass, key name, signature name, threshold float8, method text, verify name, margin float8, decisions regclass, on_conflict text, max_size integer)`
#[entry]
fn bloom_clusters(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(3), Method::of_name(&arguments.text(4)));
    let (on_conflict, most) = (on_conflict(&arguments.text(8)), max_size(arguments, 9));
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let records = records.verified(given(arguments, 5, threshold).as_ref());
    let decisions = arguments.datum(7).map(|_| {
        let relations = Relations::one(&records);
        // otherwise a cluster could have records that are gone
        Decisions::read(arguments.oid(7), Some(relations), true)
    });
    let grouping = Grouping {
        threshold,
        method,
        decisions: decisions.as_ref(),
        on_conflict,
        most,
    };
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let mut found = PairList::new(grouping.overhead(0));
    let mut take = |[a, b]: [&[u8]; 2], similarity| found.push(a, b, similarity);
    each_pair(
        "bloom_clusters",
        &records,
        threshold,
        grouping.decisions,
        &mut take,
    );
    let (pairs, keys) = found.finish();
    let clustered = Clustered::new(keys, pairs, &grouping, Some(&records));
    finish(rows, &clustered, &grouping);
    NewValue(pg_sys::Datum::null())
}

/// `(pairs regclass, threshold float8, method text, decisions regclass, on_conflict text, max_size integer)`
#[entry]
fn bloom_clusters_of_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(1), Method::of_name(&arguments.text(2)));
    let source = Source::of_similar_pairs(arguments.oid(0));
    let decisions = arguments
        .datum(3)
        .map(|_| Decisions::read(arguments.oid(3), None, false));
    let grouping = Grouping {
        threshold,
        method,
        decisions: decisions.as_ref(),
        on_conflict: on_conflict(&arguments.text(4)),
        most: max_size(arguments, 5),
    };
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let mut found = PairList::new(grouping.overhead(0)).without(grouping.decisions);
    found.read(source.similar_rows(), &source.name, method.least(threshold));
    let (pairs, keys) = found.finish();
    let clustered = Clustered::new(keys, pairs, &grouping, None);
    finish(rows, &clustered, &grouping);
    NewValue(pg_sys::Datum::null())
}

/// Gives the clusters as rows, and tells what was left out.
fn finish(rows: ResultRows, clustered: &Clustered, grouping: &Grouping<'_>) {
    put(rows, clustered);
    clustered.tell_refused(grouping.most);
    grouping
        .decisions
        .iter()
        .for_each(|decisions| decisions.tell_reopened());
}

fn put(mut rows: ResultRows, clustered: &Clustered) {
    for record in clustered.records() {
        check_for_interrupts();
        rows.make(|| {
            Some([
                record.cluster.into_datum(),
                Some(text_datum(record.key)),
                (record.size as i32).into_datum(),
                record.similarity.into_datum(),
                record.keep.into_datum(),
            ])
        });
    }
}
