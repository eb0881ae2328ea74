//! Indexes in a format that this version of the library does not read: what a search, a change or a look at one fails with, which
//! ones there are, and the one warning of a session that goes without them.

use std::cell::Cell;
use std::ffi::CString;

use base::{Error, ErrorKind};
use pg::catalog;
use pg::error::warn;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::{sqlstate, words, Message};
use pg::relation::OpenRelation;
use pg::session::{in_subtransaction, read};
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
    /// Whether it is that of an exclusion constraint.
    excludes: bool,
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
/// Errors: damage is none of them, so that one index that cannot be read keeps nobody from the others, nor from an update of the extension.
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
        // SAFETY: what is opened is closed.
        let looked = unsafe { in_subtransaction(|| look_at(oid, look), is_damage) };
        stale.extend(looked.ok().flatten());
    }
    stale
}

/// The index, if it is one that this version does not read.
///
/// Errors: those of opening it, and of reading pages.
fn look_at(oid: pg_sys::Oid, look: Look) -> Option<StaleIndex> {
    let index = opened(oid, look)?;
    // SAFETY: the index is open, and of the kind that is asked for.
    let (reason, excludes) = unsafe {
        let reason = if is_sigfile(index.pointer()) {
            meta::try_read(SigfileIndex::of(&index)).err()
        } else {
            gist::format_error(index.pointer(), look == Look::Thorough)
        };
        (reason, (*index.rd_index).indisexclusion)
    };
    Some(StaleIndex {
        oid,
        name: catalog::quoted(oid),
        excludes,
        reason: reason.filter(is_stale)?,
    })
}

/// Whether an error is about a file that cannot be read, or about what is in it.
fn is_damage(message: &Message) -> bool {
    const CLASS: i32 = (1 << 12) - 1;
    let code = message.code();
    code == sqlstate(b"XX001")
        || code == sqlstate(b"XX002")
        || code & CLASS == sqlstate(b"58000") & CLASS
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
        // The server makes no index of an exclusion constraint beside the one that is in use.
        let how = if index.excludes { "" } else { "CONCURRENTLY " };
        rows.put([
            index.oid.into_datum(),
            Some(text_datum(&reason)),
            Some(text_datum(&words!("REINDEX INDEX {how}{name}"))),
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

/// What a plan does without an index that it cannot ask: it says so, of other formats once, and of all such indexes; of this one alone where the
/// caller may read the columns of a search and not the table, and in a parallel plan, which can begin no subtransaction.
pub fn plan_without(error: &Error) {
    if !is_stale(error) {
        warn(error);
    } else if !WARNED.replace(true) {
        // SAFETY: a state of the server is asked for.
        let all = match unsafe { pg_sys::IsInParallelMode() } {
            true => Vec::new(),
            false => stale_indexes(Look::Quick),
        };
        if all.is_empty() {
            warn(error);
        }
        warn_of(&all);
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
