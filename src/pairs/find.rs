//! The search for pairs: through the indexes where every table has one, otherwise over what a query of the caller's
//! reads.

use pgrx::PgSqlErrorCode;

use crate::pairs::decisions::Decisions;
use crate::pairs::output::{PairOutput, Taker};
use crate::pairs::records::{Records, Relations};
use crate::pairs::table::IndexedTables;
use crate::pairs::{from_index, from_query, only_new, unique, verify, within};
use pg::error::{raise, sql_error};
use pg::values::text::readable;

/// Gives the pairs of `bloom_duplicates` to `take` as they are found. There is no result that holds them all, so `take`
/// can fail before the search ends. `job` is the name of the running function. Pairs that are judged different or
/// unsure are left out.
///
/// Errors: as `bloom_duplicates`.
pub fn each_pair<'a>(
    job: &'static str,
    records: &Records,
    threshold: f64,
    decisions: Option<&'a Decisions>,
    take: &'a mut Taker<'a>,
) {
    let output = PairOutput::taker(job, take).without(decisions);
    pairs(output, Relations::one(records), threshold);
}

/// Finds all pairs of one or two relations, each with one signature, whose similarity reaches the threshold: that of
/// the signatures, or that of their tokens where the relations have a column of them.
///
/// Errors: as [`similar`], and what reading the tokens fails with.
pub fn pairs(mut output: PairOutput, relations: Relations<'_>, threshold: f64) {
    match relations.left.verified {
        None => similar(output, relations, threshold),
        Some(_) => verify::pairs(&mut output, relations, threshold),
    }
}

/// Finds all pairs whose signatures reach the threshold, or are worth a comparison of their tokens.
///
/// Errors: the caller may not read the records; keys that are not unique, or null; signatures of different shapes; more
/// partitions than can be joined; damaged indexes; columns of two types; what a query of the records fails with; out of
/// memory.
pub fn similar(mut output: PairOutput, relations: Relations<'_>, threshold: f64) {
    let Relations { left, right } = relations;
    if let Some(right) = right.filter(|right| right.signature_type() != left.signature_type()) {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                format!(
                    "cannot compare column \"{}\" of type {} with column \"{}\" of type {}",
                    readable(left.signatures[0].name.to_bytes()),
                    left.signature_type().name(),
                    readable(right.signatures[0].name.to_bytes()),
                    right.signature_type().name(),
                ),
            )
            .hint("Name columns of the same type."),
        );
    }
    let has_groups = !left.within.is_empty();
    let mut one_side = |tables, is_right| {
        let tables = IndexedTables::new(tables, None);
        only_new::unindexed_side(&mut output, &tables, relations, threshold, is_right);
    };
    let tables = match (left.indexed(), right.map(Records::indexed)) {
        (Some(left), None) => Some(IndexedTables::new(left, None)),
        (Some(left), Some(Some(right))) => Some(IndexedTables::new(left, Some(right))),
        (Some(tables), Some(None)) if !has_groups => return one_side(tables, false),
        (None, Some(Some(tables))) if !has_groups => return one_side(tables, true),
        _ => None,
    };
    if left.new.is_some() {
        let search =
            |tables| only_new::indexed_pairs(&mut output, tables, relations, threshold, None);
        if tables.as_ref().is_some_and(search) {
            return;
        }
    } else if let Some(tables) = tables.filter(|_| !has_groups || within::are_few(relations)) {
        relations.each().for_each(unique::check);
        return from_index::pairs(&mut output, &tables, relations, threshold, None);
    }
    match has_groups {
        true => within::pairs(&mut output, relations, threshold),
        false => from_query::pairs(&mut output, relations, threshold),
    }
}
