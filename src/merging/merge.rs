//! `bloom_merge`: the records of each cluster become one.

use base::{Error, ErrorKind};
use linkage::merging::Rule;
use pg::error::{raise, sql_error};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::audit::Audit;
use super::changes::{decided, value_store, MergeRun, VALUES};
use super::child::{children, has_rule, missing_indexes, numbers, Child};
use super::collisions::{self, reach, Uniqueness};
use super::members::{check_once, decide, found_store, member_store, name_members, FOUND};
use super::plan::MergeTask;
use super::subject::Subject;
use super::texts::with_exact_texts;
use super::values::Valuation;
use pg::catalog::privileges::{current_user, may, may_select, may_update};
use pg::entry;
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::session::tuple_store::TupleStore;
use pg::session::{not_during_recovery, Session};
use pg::sql;
use pg::values::varlena::NewValue;

/// Numbers of merges that are fetched together.
const NUMBERS: i64 = 1000;

/// `(clusters regclass, rel regclass, key name, rules jsonb, keep_by text, on_collision text, redirect text[], audit
/// regclass) RETURNS TABLE (id bigint, cluster text, key text, deleted bigint, redirected bigint, dropped bigint)`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_merge(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_merge()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let on_collision = arguments.text(5);
    if !["error", "drop"].contains(&on_collision.as_str()) {
        let message = format!("unrecognized value \"{on_collision}\" of on_collision");
        raise(&Error::invalid(message).detail("It is \"error\" or \"drop\"."));
    }
    let drops = on_collision == "drop";
    let task = MergeTask::new(arguments, 6, pg_sys::RowExclusiveLock);
    check_rights(&task.subject);
    let audit = Audit::new(arguments.datum(7).map(|_| arguments.oid(7)), true);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    run(&task, &audit, drops, &mut rows);
    NewValue(pg_sys::Datum::null())
}

fn refuse_right(subject: &Subject, right: &str, hint: &str) -> ! {
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("permission denied for table {}", subject.name),
        )
        .detail(format!("To merge its records needs {right}."))
        .hint(hint),
    )
}

fn check_rights(subject: &Subject) {
    let user = current_user();
    let all = subject.columns.iter().map(|column| &column.name);
    if !may_select(subject.oid, &numbers(subject.oid, all), user) {
        refuse_right(subject, "SELECT on it", "");
    }
    if !may(subject.oid, pg_sys::ACL_DELETE, user) {
        refuse_right(subject, "DELETE on it", "");
    }
}

fn run(task: &MergeTask, audit: &Audit, drops: bool, rows: &mut ResultRows) {
    let subject = &task.subject;
    let mut found = found_store(subject);
    let mut members = member_store(subject);
    let session = Session::begin(false);
    // Rights and definitions, of all tables.
    let children = children(subject, &session, &task.redirect, pg_sys::RowExclusiveLock);
    let valuation = Valuation::new(subject, &children, &task.rules);
    let mut values = { session.in_callers_memory(|| value_store(subject, &valuation)) };
    let indexes = check(subject, &children, &valuation, &session, drops);
    let merge = MergeRun {
        subject,
        children: &children,
        audit,
        session: &session,
    };
    // Rows are found and looked at, of which no trigger sees anything.
    let named = with_exact_texts(|| {
        missing_indexes(subject, &children, &session);
        let clusters = task.clusters.read(subject, &session, &mut found);
        session.table(FOUND, &found);
        check_once(subject, &session);
        merge.lock_records();
        number(task, audit, &session, clusters, &mut members);
        let named = name_members(&session, &members);
        merge.lock_children();
        // Rows of all tables, as they are now and stay.
        merge.check_targets();
        for child in &children {
            if let Some(obstacle) =
                reach::of_redirected(child, &children, Some(subject), &session).first()
            {
                raise(obstacle);
            }
        }
        if !drops {
            for (child, uniquenesses) in children.iter().zip(&indexes) {
                merge.settle_collisions(child, uniquenesses, false);
            }
        }
        valuation.each(&session, |valued| {
            if valued.changed {
                let kept = valued.rows[valued.kept];
                let mut row = vec![kept.datum(1), kept.datum(3)];
                let all = valuation.ruled.iter().zip(valued.values);
                let decided = all.filter(|(ruled, _)| ruled.rule != Rule::Keep);
                row.extend(decided.map(|(_, value)| value.value));
                values.put(&row);
            }
        });
        named
    });
    session.table(VALUES, &values);
    if drops {
        for (child, uniquenesses) in children.iter().zip(&indexes) {
            merge.drop_collisions(child, uniquenesses);
        }
    }
    merge.redirect_all(&indexes, drops);
    merge.delete(&indexes, drops);
    merge.update(&valuation, values.rows());
    let result = sql!(
        "SELECT m.id, m.cluster, m.name, q.deleted, q.redirected, q.dropped \
        FROM bloom_merge_members AS m JOIN (SELECT a.id, \
        pg_catalog.count(*) FILTER (WHERE a.action OPERATOR(pg_catalog.=) 'delete') AS deleted, \
        pg_catalog.count(*) FILTER (WHERE a.action OPERATOR(pg_catalog.=) 'redirect') AS redirected, \
        pg_catalog.count(*) FILTER (WHERE a.action OPERATOR(pg_catalog.=) 'drop') AS dropped \
        FROM {audit.oid} AS a WHERE a.id IN (SELECT n.id FROM bloom_merge_members AS n) GROUP BY a.id) AS q \
        ON q.id OPERATOR(pg_catalog.=) m.id WHERE m.kept ORDER BY m.no"
    );
    session.each(&result, &[], |row| rows.copy(row));
    drop(named);
}

/// Decides which record is kept, with numbers of merges.
fn number(
    task: &MergeTask,
    audit: &Audit,
    session: &Session,
    clusters: i64,
    members: &mut TupleStore,
) {
    let mut numbers: Vec<i64> = Vec::new();
    let mut left = clusters;
    let next = || {
        if numbers.is_empty() {
            audit.numbers(session, left.clamp(1, NUMBERS), &mut numbers);
            left -= numbers.len() as i64;
            numbers.reverse();
        }
        numbers.pop()
    };
    decide(task, session, next, members);
}

/// What can be known before rows are looked at. Returns the indexes of each child in which rows may collide.
///
/// Errors: something because of which nothing is merged.
fn check(
    subject: &Subject,
    children: &[Child],
    valuation: &Valuation<'_>,
    session: &Session,
    drops: bool,
) -> Vec<Vec<Uniqueness>> {
    let user = current_user();
    let columns = decided(valuation).map(|ruled| &subject.columns[ruled.column].name);
    if !may_update(subject.oid, &numbers(subject.oid, columns), user) {
        refuse_right(
            subject,
            "UPDATE of all columns that a rule decides",
            "Give the rule \"keep\" to the others.",
        );
    }
    for child in children {
        if let Some(obstacle) = child.obstacles(true).first() {
            raise(obstacle);
        }
    }
    let merge_children = children.iter().map(|child| {
        if let Some(obstacle) = reach::of_redirected(child, children, None, session).first() {
            raise(obstacle);
        }
        let indexes = collisions::of_child(child, session);
        if let Some(obstacle) = indexes.iter().find_map(|index| index.obstacle(child)) {
            raise(&obstacle);
        }
        if drops
            && !indexes.is_empty()
            && has_rule(child.oid, "r.ev_type OPERATOR(pg_catalog.=) '4'", session)
        {
            let message = format!("cannot drop rows of table \"{}\"", child.name);
            raise(
                &Error::new(ErrorKind::NotSupported, message)
                    .detail("It has a rule ON DELETE.")
                    .hint(
                        "Disable the rule in the same transaction, or do not give on_collision => 'drop'.",
                    ),
            );
        }
        if drops && !indexes.is_empty() && !may(child.oid, pg_sys::ACL_DELETE, user) {
            let message = format!("permission denied for table {}", child.name);
            raise(
                &sql_error(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
                    .detail("To drop rows that collide needs DELETE on it."),
            );
        }
        indexes
    });
    merge_children.collect()
}
