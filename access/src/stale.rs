//! Indexes in a format that this version of the library does not read: what a search, a change or a look at one fails with, which
//! ones there are, and the one warning of a session that goes without them.

use std::cell::Cell;
use std::ffi::CString;

use base::{Error, ErrorKind};
use pg::catalog;
use pg::error::warn;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::{sqlstate, words};
use pg::relation::OpenRelation;
use pg::session::read;
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry, sql};
use pgrx::{pg_sys, IntoDatum};

use crate::inspect::may;
use crate::page::SigfileIndex;
use crate::{gist, is_sigfile, meta};

/// The state of errors and warnings about such indexes.
const STALE: ErrorKind = ErrorKind::State(sqlstate(b"55P85"));

const REBUILD: &str = "Rebuild the index with REINDEX.";
const REBUILD_OR_OTHER: &str =
    "Install the version of bloom_ident that was used before, or rebuild the index with REINDEX.";

/// The error of an index, by what the core says of its format; `name` is how messages call the index.
#[cold]
pub fn error(name: &str, format: &Error) -> Error {
    let hint = match format.kind() {
        ErrorKind::OlderFormat => REBUILD,
        _ => REBUILD_OR_OTHER,
    };
    Error::new(STALE, format!("{name} {}", format.message()))
        .detail(format.detail_text().unwrap_or_default())
        .hint(hint)
}

/// Whether an error is about the format of an index.
pub fn is_stale(error: &Error) -> bool {
    error.kind() == STALE
}

/// An index that is not read, and why.
struct StaleIndex {
    oid: pg_sys::Oid,
    /// With its schema, as SQL writes it.
    name: CString,
    reason: Error,
}

/// How closely indexes are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// Whoever has one locked is waited for. All pages of GiST indexes are read.
    Thorough,
    /// Those that somebody has locked are left out. Of GiST indexes the root is read.
    Quick,
}

/// The indexes of this database that the caller may look at and this version does not read, by name.
///
/// Errors: damage is none of them; those of reading pages.
fn stale_indexes(look: Look) -> Vec<StaleIndex> {
    let mut indexes = Vec::new();
    // Those of the two access methods, and of GiST only those with a key of ours.
    let query = sql!(
        "SELECT i.indexrelid, i.indrelid FROM pg_catalog.pg_index AS i \
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid \
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
        JOIN pg_catalog.pg_am AS a ON a.oid OPERATOR(pg_catalog.=) c.relam \
        WHERE c.relkind OPERATOR(pg_catalog.=) 'i' AND i.indislive \
        AND (a.amname OPERATOR(pg_catalog.=) 'sigfile' OR a.amname OPERATOR(pg_catalog.=) 'gist' AND EXISTS \
        (SELECT FROM pg_catalog.pg_opclass AS o JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) o.opckeytype \
        WHERE o.oid OPERATOR(pg_catalog.=) ANY (i.indclass) AND t.typname OPERATOR(pg_catalog.=) 'bloom_gist_key')) \
        ORDER BY n.nspname, c.relname"
    );
    read(query, &[], 100).each(|row| {
        let (oid, table) = (row.oid(0), row.oid(1));
        if may(oid, table, false) {
            indexes.push(oid);
        }
    });
    let mut stale = Vec::new();
    for oid in indexes {
        check_for_interrupts();
        let Some(index) = opened(oid, look) else {
            continue;
        };
        // SAFETY: the index is open, and of the kind that is asked for.
        let reason = unsafe {
            if is_sigfile(index.pointer()) {
                meta::try_read(SigfileIndex::of(&index)).err()
            } else {
                gist::format_error(index.pointer(), look == Look::Thorough)
            }
        };
        if let Some(reason) = reason.filter(is_stale) {
            let name = catalog::quoted(oid);
            stale.push(StaleIndex { oid, name, reason });
        }
    }
    stale
}

/// The index, with a lock that is released when it is closed; `None` if it is gone, of another session, or, of a quick look, locked.
fn opened(oid: pg_sys::Oid, look: Look) -> Option<OpenRelation> {
    let lock = pg_sys::AccessShareLock;
    let index = match look {
        Look::Thorough => OpenRelation::find(oid, lock)?,
        Look::Quick => OpenRelation::find_unless_locked(oid, lock)?,
    };
    let form = index.form();
    let persistence = form.relpersistence as u8;
    let of_other_session = persistence == pg_sys::RELPERSISTENCE_TEMP && !index.rd_islocaltemp;
    // SAFETY: a state of the server is asked for.
    let is_empty =
        persistence != pg_sys::RELPERSISTENCE_PERMANENT && unsafe { pg_sys::RecoveryInProgress() };
    let is_index = form.relkind as u8 == pg_sys::RELKIND_INDEX;
    (is_index && !of_other_session && !is_empty).then_some(index)
}

/// `() RETURNS TABLE (index regclass, reason text, statement text)`
#[entry(volatile, parallel_unsafe)]
fn bloom_stale_indexes(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for index in stale_indexes(Look::Thorough) {
        let (what, name) = (index.reason.message(), &*index.name);
        let detail = index.reason.detail_text().unwrap_or_default();
        let reason = words!("{what}. {detail}");
        rows.put([
            index.oid.into_datum(),
            Some(text_datum(&reason)),
            Some(text_datum(&words!("REINDEX INDEX CONCURRENTLY {name}"))),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// `() RETURNS void`. The scripts that update the extension call it in the end: it warns of all of them at once, and has sessions read the
/// expressions of indexes anew, whose functions may have one argument more.
#[entry(volatile, parallel_unsafe)]
fn bloom_ident_updated(_fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: what sessions have in their caches of relations is forgotten when this transaction commits.
    unsafe { pg_sys::CacheInvalidateRelcacheAll() };
    warn_of(&stale_indexes(Look::Thorough));
    NewValue(pg_sys::Datum::null())
}

pg::session_state! {
    /// Whether this session has warned of them: where no script runs, as after pg_upgrade, the first search that goes without one does.
    static WARNED: Cell<bool> = Cell::default();
    "warning of indexes in other formats" by "nothing" until "the session ends";
}

/// What a plan does without an index that it cannot ask: it says so, of other formats once, and of all such indexes.
pub fn plan_without(error: &Error) {
    if !is_stale(error) {
        warn(error);
    } else if !WARNED.replace(true) {
        warn_of(&stale_indexes(Look::Quick));
    }
}

fn warn_of(stale: &[StaleIndex]) {
    if stale.is_empty() {
        return;
    }
    let names: Vec<String> = stale
        .iter()
        .map(|index| readable(index.name.to_bytes()))
        .collect();
    let message = match &names[..] {
        [name] => format!("this version of bloom_ident does not read the format of index {name}"),
        _ => format!(
            "this version of bloom_ident does not read the format of indexes {}",
            names.join(", ")
        ),
    };
    warn(
        &Error::new(STALE, message)
            .detail("Searches go without them, or fail, and so do changes of their tables.")
            .hint("Rebuild them by the statements that bloom_stale_indexes() gives, or install the version of bloom_ident that was used before."),
    );
}
