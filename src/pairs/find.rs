//! The search for pairs: through the indexes where every table has one, otherwise over what a query of the caller's
//! reads.

use base::{Error, ErrorKind};
use pgrx::PgSqlErrorCode;

use crate::pairs::decisions::Decisions;
use crate::pairs::join::TableNumber;
use crate::pairs::output::{PairOutput, Taker};
use crate::pairs::records::{Records, Relations};
use crate::pairs::table::IndexedTable;
use crate::pairs::{from_index, from_query, only_new, unique, verify, within};
use pg::error::{raise, raise_as};
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
    let Relations { left: a, right: b } = relations;
    if let Some(b) = b.filter(|b| b.signature_type() != a.signature_type()) {
        raise_as(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            &Error::new(
                ErrorKind::InvalidParameter,
                format!(
                    "cannot compare column \"{}\" of type {} with column \"{}\" of type {}",
                    readable(a.signatures[0].name.to_bytes()),
                    a.signature_type().name(),
                    readable(b.signatures[0].name.to_bytes()),
                    b.signature_type().name(),
                ),
            )
            .hint("Name columns of the same type."),
        );
    }
    if a.new.is_some() {
        return with_new(output, relations, threshold);
    }
    let tables = match b {
        None => a.indexed().map(|tables| (tables, None)),
        Some(b) => match (a.indexed(), b.indexed()) {
            (Some(mut tables), Some(more)) => {
                let left = tables.len();
                tables.extend(more);
                Some((tables, Some(left)))
            }
            (Some(tables), None) if a.within.is_empty() => {
                return with_one_index(output, (&tables, false), relations, threshold);
            }
            (None, Some(tables)) if a.within.is_empty() => {
                return with_one_index(output, (&tables, true), relations, threshold);
            }
            _ => None,
        },
    };
    let by_group = |has_indexes| !(has_indexes && within::are_few(relations));
    if !a.within.is_empty() && by_group(tables.is_some()) {
        return within::pairs(&mut output, relations, threshold);
    }
    match tables {
        Some((tables, left)) => {
            check_number(tables.len());
            unique::check(a);
            b.into_iter().for_each(unique::check);
            from_index::pairs(&mut output, &tables, left, relations, threshold, None);
        }
        None => from_query::pairs(&mut output, relations, threshold),
    }
}

/// Finds the pairs of two relations, of which only one has indexes: the tables, of the second one if that is true.
fn with_one_index(
    mut output: PairOutput,
    (tables, second): (&[IndexedTable], bool),
    relations: Relations<'_>,
    threshold: f64,
) {
    check_number(tables.len());
    only_new::unindexed_side(&mut output, (tables, second), relations, threshold);
}

/// Finds the pairs of one relation of which one record at least is new.
fn with_new(mut output: PairOutput, relations: Relations<'_>, threshold: f64) {
    let records = relations.left;
    if let Some(tables) = records.indexed() {
        check_number(tables.len());
        if only_new::indexed_pairs(&mut output, &tables, relations, threshold, None) {
            return;
        }
    }
    if records.within.is_empty() {
        from_query::pairs(&mut output, relations, threshold);
    } else {
        within::pairs(&mut output, relations, threshold);
    }
}

/// Errors: more tables than there are numbers for.
pub fn check_number(tables: usize) {
    let most = TableNumber::MOST;
    if tables > most {
        let message = format!("cannot join more than {most} partitions");
        raise(
            &Error::new(ErrorKind::LimitExceeded, message)
                .detail(format!("There are {tables}."))
                .hint("Use fewer partitions, or views of some of them."),
        );
    }
}
