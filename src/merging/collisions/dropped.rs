//! Rows of a child that are deleted, since they would collide.

use pg::error::raise;
use std::ffi::CStr;

use pgrx::pg_sys;

use super::{reach, Uniqueness};
use crate::merging::changes::{refuse_kept_back, with_reason, MergeRun};
use crate::merging::child::Child;
use crate::merging::references::{oid, Reference};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::QueryRow;
use pg::sql;
use pg::sql::Sql;

/// The rows of one child that go since they would collide: `place` (tableoid), `at` (ctid), `no`.
const COLLISIONS: &CStr = c"bloom_merge_collisions";
/// Rows that would be like others: `place`, `at`, `no`, `gone`, `stays`, `firm`. And those of them that have to go in
/// this round: `place`, `at`, `no`, `gone`.
const ALIKE: &CStr = c"bloom_merge_alike";
const GOING: &CStr = c"bloom_merge_going";

impl MergeRun<'_> {
    /// Deletes the rows of a child that would collide.
    ///
    /// Errors: rows of another table refer to them, and would be deleted or changed.
    pub fn drop_collisions(&self, child: &Child, uniquenesses: &[Uniqueness]) {
        if uniquenesses.is_empty() {
            return;
        }
        if child.is_own() {
            // A record that is not merged is never deleted.
            return self.settle_collisions(child, uniquenesses, false);
        }
        // They are looked for once: the rows are locked, so that they stay what they are.
        let found = self.to_be_dropped(child, uniquenesses);
        let expected = found.rows() as i64;
        if expected == 0 {
            return;
        }
        self.session.table(COLLISIONS, &found);
        let all = Sql::new("bloom_merge_collisions");
        if let Some(obstacle) = reach::of_dropped(child, self.children, &all, self.session).first()
        {
            raise(obstacle);
        }
        // What belongs to other clusters is redirected before the row goes, so that each merge can be taken back by
        // itself.
        let references: Vec<&Reference> = child.references.iter().collect();
        let joins = references.iter().enumerate().map(|(j, reference)| {
            let join = reference.left_join(self.subject, "c", j);
            sql!("{join} AND g{j}.no OPERATOR(pg_catalog.<>) d.no")
        });
        let (only, joins) = (child.only(), Sql::join(joins, ""));
        let rows = sql!(
            "{only} AS c JOIN {all} AS d ON c.tableoid OPERATOR(pg_catalog.=) d.place \
            AND c.ctid OPERATOR(pg_catalog.=) d.at{joins}"
        );
        let gone = self.gone(
            Some(child),
            child.oid,
            &child.columns,
            &references,
            &["d.place", "d.at", "d.no"],
            &rows,
        );
        self.note_gone(child, &references);
        let (relation, audit) = (oid(child.oid), self.audit.oid);
        let statement = sql!(
            "WITH x AS (DELETE FROM {only} AS c USING bloom_merge_gone AS o \
            WHERE c.tableoid OPERATOR(pg_catalog.=) o.place AND c.ctid OPERATOR(pg_catalog.=) o.at \
            RETURNING o.no, o.key, o.old) INSERT INTO {audit} (id, action, relation, cluster, key, old) \
            SELECT m.id, 'drop', {relation}, m.cluster, x.key, x.old FROM x \
            JOIN bloom_merge_members AS m ON m.no OPERATOR(pg_catalog.=) x.no AND m.kept ORDER BY m.id, x.key"
        );
        let deleted = with_reason(&child.name, "dropped", || self.session.run(&statement, &[]));
        if deleted as i64 != expected {
            refuse_kept_back(&child.name, "deleted");
        }
        drop(gone);
        self.session.forget(COLLISIONS);
        // What was written of these rows is about what is written now.
        let gone = sql!(
            "UPDATE {audit} AS e SET gone = d.entry, hash = NULL FROM {audit} AS d \
            WHERE d.id IN (SELECT m.id FROM bloom_merge_members AS m) AND d.action OPERATOR(pg_catalog.=) 'drop' \
            AND d.relation OPERATOR(pg_catalog.=) {relation} AND e.relation OPERATOR(pg_catalog.=) d.relation \
            AND e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND e.gone IS NULL \
            AND e.key OPERATOR(pg_catalog.=) d.key"
        );
        self.session.run(&gone, &[]);
    }

    /// The rows of a child that go, each since it would be like one that stays: a row that is like nothing but others
    /// that go can stay.
    fn to_be_dropped(&self, child: &Child, uniquenesses: &[Uniqueness]) -> TupleStore {
        let (key, number) = (
            StoreColumn::plain(pg_sys::TEXTOID),
            StoreColumn::plain(pg_sys::INT8OID),
        );
        let columns = [
            (c"place", StoreColumn::plain(pg_sys::OIDOID)),
            (c"at", StoreColumn::plain(pg_sys::TIDOID)),
            (c"no", number),
            (c"gone", key),
            (c"stays", key),
            (c"firm", StoreColumn::plain(pg_sys::BOOLOID)),
        ];
        let store = |width: usize| {
            let columns = columns.into_iter().take(width);
            self.session.in_callers_memory(|| TupleStore::new(columns))
        };
        let fill = |store: &mut TupleStore, width: usize, query: &Sql| {
            let put = |row: QueryRow<'_>| (0..width).map(|i| row.datum(i)).collect::<Vec<_>>();
            self.session.each(query, &[], |row| store.put(&put(row)));
        };
        let mut found = store(3);
        let mut alike = store(6);
        for uniqueness in uniquenesses {
            let rows = uniqueness.query(child, self.subject);
            let query =
                sql!("SELECT u.place, u.at, u.no, u.gone, u.stays, u.firm FROM ({rows}) AS u");
            fill(&mut alike, 6, &query);
        }
        while alike.rows() > 0 {
            // The first of those that are alike has nothing that it would have to give way to.
            self.session.table(ALIKE, &alike);
            let mut going = store(4);
            fill(&mut going, 4, &Sql::new("SELECT u.place, u.at, pg_catalog.min(u.no), u.gone FROM bloom_merge_alike \
                AS u \
                WHERE u.firm OR NOT EXISTS (SELECT FROM bloom_merge_alike AS o WHERE o.gone OPERATOR(pg_catalog.=) \
                u.stays) GROUP BY u.place, u.at, u.gone"));
            self.session.table(GOING, &going);
            let query = Sql::new("SELECT u.place, u.at, u.no FROM bloom_merge_going AS u");
            fill(&mut found, 3, &query);
            let mut left = store(6);
            fill(&mut left, 6, &Sql::new("SELECT u.place, u.at, u.no, u.gone, u.stays, u.firm FROM bloom_merge_alike \
                AS u \
                WHERE NOT EXISTS (SELECT FROM bloom_merge_going AS o WHERE o.gone OPERATOR(pg_catalog.=) u.gone) \
                AND NOT EXISTS (SELECT FROM bloom_merge_going AS o WHERE o.gone OPERATOR(pg_catalog.=) u.stays)"));
            self.session.forget(GOING);
            self.session.forget(ALIKE);
            alike = left;
        }
        found
    }
}
