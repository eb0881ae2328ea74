//! A merge that is being done: what is locked and checked before the first change.

use base::{Error, ErrorKind};
use pg::error::{raise, sql_error};
use pgrx::PgSqlErrorCode;

use super::audit::Audit;
use super::child::Child;
use super::collisions::Uniqueness;
use super::members::short;
use super::references::Reference;
use super::subject::{text, Subject};
use pg::message::translated;
use pg::session::Session;
use pg::sql;
use pg::values::text::readable;

/// A merge that is being done.
pub struct MergeRun<'a> {
    pub subject: &'a Subject,
    pub children: &'a [Child],
    pub audit: &'a Audit,
    pub session: &'a Session,
}

/// Fails: something has kept rows from being changed.
pub fn refuse_kept_back(table: &str, what: &str) -> ! {
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("not all rows of table \"{table}\" could be {what}"),
        )
        .detail("A trigger, a rule or row-level security keeps some as they are.")
        .hint("Merge as a user to whom they do not apply, or leave these records out."),
    )
}

/// Fails: rows refer to losers again and again.
pub fn refuse_pointed_back(child: &str, subject: &str) -> ! {
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "rows of table \"{child}\" \
        refer to records of table \"{subject}\" that go, however often they are redirected"
            ),
        )
        .detail(
            "A trigger of a \
        table whose rows are redirected, or one that fires when records are deleted, points them \
        back.",
        )
        .hint("Disable this trigger in the same transaction, or leave these records out."),
    )
}

impl MergeRun<'_> {
    /// Locks the records that were found, in order of their keys. A row that was changed meanwhile is seen as it is now
    /// by the statements that follow.
    pub fn lock_records(&self) {
        let subject = self.subject;
        let (record, is_it) = (subject.from("r"), subject.key_is("r", "f.key"));
        let order = subject.key_of("r").text(" USING ").operator(subject.less);
        let sql = sql!(
            "SELECT pg_catalog.count(*) FROM (SELECT FROM {record} JOIN bloom_merge_found AS f ON {is_it} \
            ORDER BY {order} FOR UPDATE OF r) AS q"
        );
        self.session.number(&sql, &[]);
    }

    /// Locks the rows that refer to what goes. Nobody can add one, since what they refer to is locked.
    pub fn lock_children(&self) {
        for child in self.children {
            for reference in &child.references {
                let (rows, key) = (reference.referring(self.subject), child.key_text("c"));
                let sql = sql!(
                    "SELECT pg_catalog.count(*) FROM (SELECT FROM {rows} \
                    ORDER BY {key} COLLATE pg_catalog.\"C\" FOR UPDATE OF c) AS q"
                );
                self.session.number(&sql, &[]);
            }
        }
    }

    /// Errors: a record that is kept has NULL where rows of the losers refer to.
    pub fn check_targets(&self) {
        for child in self.children {
            for reference in &child.references {
                self.check_target(child, reference);
            }
        }
    }

    /// Errors: as above, of one reference.
    pub fn check_target(&self, child: &Child, reference: &Reference) {
        // A key is never NULL, but may be too long.
        if reference.is_by_key(self.subject) && !reference.is_narrow() {
            return;
        }
        let counts = reference.counts(self.subject);
        let sql = sql!(
            "SELECT pg_catalog.format('%s', q.key) FROM ({counts}) AS q (no, cluster, key, rows, is_null, keep) \
            WHERE q.is_null LIMIT 1"
        );
        self.session.each(&sql, &[], |row| {
            let key = row.bytes(0).map_or(String::new(), |key| short(key.bytes()));
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION,
                    format!(
                        "rows of table \"{}\" that refer to record \"{key}\" cannot be redirected",
                        child.name
                    ),
                )
                .detail(reference.no_target().as_str())
                .hint("Keep the record that has a value there, by keep_by."),
            )
        });
    }

    /// Errors: rows of a child would collide.
    pub fn refuse_collisions(&self, child: &Child, uniqueness: &Uniqueness) {
        let rows = uniqueness.query(child, self.subject);
        let sql = sql!("SELECT q.gone, q.stays FROM ({rows}) AS q ORDER BY q.no, q.gone LIMIT 1");
        self.session.each(&sql, &[], |row| {
            let [gone, stays] =
                [0, 1].map(|i| row.bytes(i).map_or(String::new(), |key| short(key.bytes())));
            raise(&sql_error(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, format!("rows of table \"{}\" would \
                collide", child.name)).detail(format!(
                    "Row {gone} would be like row {stays} in \"{}\" when it is redirected.",
                    text(&uniqueness.name)
                )).hint(match child.is_own() {
                    true => "Change one of them first, or leave these records out: records that are not merged are \
                        never deleted.",
                    false => "See them by bloom_merge_plan, or give on_collision => 'drop', which deletes such rows \
                        and keeps them in the table of merges.",
                }))
        });
    }
}

/// Runs a statement that changes or deletes rows of a table. That they offend a constraint nevertheless is told as a
/// reason why nothing is merged; what triggers of users raise passes as it is.
///
/// Errors: as those of `run`.
pub fn with_reason<T>(table: &str, what: &str, run: impl FnOnce() -> T) -> T {
    translated(run, |violation| {
        let [message, detail] = violation.said().map(readable);
        let [of_table, constraint] = violation.constraint().map(readable);
        let ours = format!("rows of table \"{table}\" cannot be {what}");
        // That of a domain has no table.
        let of_table = match of_table.is_empty() {
            true => String::new(),
            false => format!(" of table \"{of_table}\""),
        };
        let detail =
            format!("They offend constraint \"{constraint}\"{of_table}: {message}. {detail}");
        let detail = detail.trim_end().to_owned();
        let hint = match violation.code() == PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION as i32 {
            true => "Change the rows that it names first, or leave these records out. If the current user does not \
                see them, row-level security hides them: merge as a user to whom its policies do not apply.",
            false => "Change the rows that it names first, leave these records out, or look at on_collision.",
        };
        Error::new(ErrorKind::State(violation.code()), ours)
            .detail(detail)
            .hint(hint)
    })
}
