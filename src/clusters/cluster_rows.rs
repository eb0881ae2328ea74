//! `bloom_clusters`: groups records into clusters by their pairs.

use linkage::clusters::Pair;
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::clustered::Clustered;
use crate::clusters::grouping::{max_size, on_conflict, Grouping, Method};
use crate::clusters::keeping::KeepChoice;
use crate::clusters::pair_list::PairList;
use crate::clusters::source::Source;
use crate::pairs::decisions::Decisions;
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::each_pair;
use crate::pairs::records::{Records, Relations};
use crate::pairs::verify::given;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::{self, phases};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// `(rel regclass, key name, signature name, threshold float8, method text, verify name, margin float8, decisions
/// regclass, on_conflict text, max_size integer, keep_by text) RETURNS TABLE (cluster bigint, key text, size integer,
/// similarity float8, keep boolean)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_clusters(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (threshold, method) = (arguments.threshold(3), Method::of_name(&arguments.text(4)));
    let (on_conflict, most) = (on_conflict(&arguments.text(8)), max_size(arguments, 9));
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let records = records.verified(given(arguments, 5, threshold).as_ref());
    let choice = KeepChoice::of_relation(arguments, 10, &records);
    let decisions = arguments.datum(7).map(|_| {
        let relations = Relations::one(&records);
        // otherwise a cluster could have records that are gone
        Decisions::read(arguments.oid(7), Some(relations), true)
    });
    let _job = progress::job("bloom_clusters", records.oid);
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
    let clustered = chosen(keys, pairs, &grouping, Some(&records), choice.as_ref());
    put(rows, &clustered);
    clustered.tell_left_out(&grouping);
    NewValue(pg_sys::Datum::null())
}

/// `(pairs regclass, threshold float8, method text, decisions regclass, on_conflict text, max_size integer, keep_by
/// text, rel regclass, key name) RETURNS TABLE (cluster bigint, key text, size integer, similarity float8, keep
/// boolean)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_clusters_of_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (threshold, method) = (arguments.threshold(1), Method::of_name(&arguments.text(2)));
    let source = Source::of_similar_pairs(arguments.oid(0));
    let choice = KeepChoice::of_named(arguments, 6);
    let _job = progress::job("bloom_clusters", source.oid);
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
    let clustered = chosen(keys, pairs, &grouping, None, choice.as_ref());
    put(rows, &clustered);
    clustered.tell_left_out(&grouping);
    NewValue(pg_sys::Datum::null())
}

/// The clusters, with the records that `choice` keeps.
pub fn chosen(
    keys: KeyDictionary,
    pairs: Vec<Pair>,
    grouping: &Grouping<'_>,
    records: Option<&Records>,
    choice: Option<&KeepChoice>,
) -> Clustered {
    let (mut clustered, links) = Clustered::with_links(keys, pairs, grouping, records);
    if let Some(choice) = choice {
        choice.apply(&mut clustered, &links);
    }
    clustered
}

fn put(mut rows: ResultRows, clustered: &Clustered) {
    progress::phase(phases::WRITING, Some(clustered.len() as u64));
    for record in clustered.records() {
        check_for_interrupts();
        progress::step();
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
