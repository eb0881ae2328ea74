//! Rows that refer to losers: those that would collide are dropped, the others redirected.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use super::audit::{hash, json, json_of};
use super::changes::{oid, refuse_kept_back, refuse_pointed_back, refuse_reached, MergeRun};
use super::child::Child;
use super::collisions::Uniqueness;
use super::references::{foreign_keys, Reference};
use super::values::redirected;
use crate::pg::relation;
use crate::pg::session::tuple_store::{StoreColumn, TupleStore};
use crate::pg::sql::Sql;

/// How often references are looked for again. Each time one trigger has answered another.
const ROUNDS: usize = 10;

/// The rows of one child that go since they would collide: `place` (tableoid), `at` (ctid), `no`.
const COLLISIONS: &CStr = c"bloom_merge_collisions";

impl MergeRun<'_> {
    /// Deletes the rows of a child that would collide.
    ///
    /// Errors: rows of another table refer to them, and would be deleted or changed.
    pub fn drop_collisions(&self, child: &Child, uniquenesses: &[Uniqueness]) {
        if uniquenesses.is_empty() {
            return;
        }
        let mut all = Sql::new("(SELECT u.place, u.at, pg_catalog.min(u.no) AS no FROM (");
        for (i, uniqueness) in uniquenesses.iter().enumerate() {
            all = all
                .text(if i > 0 { " UNION ALL " } else { "" })
                .sql(&uniqueness.query(child, self.subject));
        }
        all = all.text(") AS u GROUP BY u.place, u.at)");
        // They are looked for once: the rows are locked, so that they stay what they are.
        let found = self.collisions(&all);
        let expected = found.rows() as i64;
        if expected == 0 {
            return;
        }
        self.session.table(COLLISIONS, &found);
        let all = Sql::new("bloom_merge_collisions");
        self.refuse_grandchildren(child, &all);
        // What belongs to other clusters is redirected before the row goes, so that each merge can be taken back by itself.
        let references: Vec<&Reference> = child.references.iter().collect();
        let mut rows = Sql::new("")
            .only(child.oid)
            .text(" AS c JOIN ")
            .sql(&all)
            .text(" AS d ON c.tableoid OPERATOR(pg_catalog.=) d.place AND c.ctid OPERATOR(pg_catalog.=) d.at");
        for (j, reference) in references.iter().enumerate() {
            rows = reference
                .left_join(self.subject, rows, "c", j)
                .text(&format!(" AND g{j}.no OPERATOR(pg_catalog.<>) d.no"));
        }
        self.note_gone(child, &references, &rows);
        let kept = child.columns.iter().filter(|column| !column.generated);
        let values =
            kept.map(|column| (column.name.as_c_str(), redirected("c", column, &references)));
        let statement = Sql::new("WITH o AS (SELECT d.place, d.at, d.no, ")
            .sql(&child.key_text("c"))
            .text(" AS key, ")
            .sql(&json_of(values))
            .text(" AS old FROM ")
            .sql(&rows)
            .text("), x AS (DELETE FROM ")
            .only(child.oid)
            .text(" AS c USING o WHERE c.tableoid OPERATOR(pg_catalog.=) o.place AND c.ctid OPERATOR(pg_catalog.=) o.at RETURNING o.no, o.key, o.old) INSERT INTO ")
            .sql(&self.audit.sql())
            .text(" (id, action, relation, cluster, key, old) SELECT m.id, 'drop', ")
            .text(&oid(child.oid))
            .text(", m.cluster, x.key, x.old FROM x JOIN bloom_merge_members AS m ON m.no OPERATOR(pg_catalog.=) x.no AND m.kept ORDER BY m.id, x.key");
        if self.session.run(&statement, &[]) as i64 != expected {
            refuse_kept_back(&child.name, "deleted");
        }
        self.session.forget(COLLISIONS);
        // What was written of these rows is about what is written now.
        let gone = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS e SET gone = d.entry, hash = NULL FROM ")
            .sql(&self.audit.sql())
            .text(" AS d WHERE d.id IN (SELECT m.id FROM bloom_merge_members AS m) AND d.action OPERATOR(pg_catalog.=) 'drop' AND d.relation OPERATOR(pg_catalog.=) ")
            .text(&oid(child.oid))
            .text(" AND e.relation OPERATOR(pg_catalog.=) d.relation AND e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND e.gone IS NULL AND e.key OPERATOR(pg_catalog.=) d.key");
        self.session.run(&gone, &[]);
    }

    fn collisions(&self, query: &Sql) -> TupleStore {
        let columns = [
            (c"place", StoreColumn::plain(pg_sys::OIDOID)),
            (c"at", StoreColumn::plain(pg_sys::TIDOID)),
            (c"no", StoreColumn::plain(pg_sys::INT8OID)),
        ];
        let mut found = (self.session).aside(|| TupleStore::new(columns.into_iter()));
        let query = Sql::new("SELECT d.place, d.at, d.no FROM ")
            .sql(query)
            .text(" AS d");
        self.session.each(
            &query,
            &[],
            |_| (),
            |(), row| found.put(&[row.datum(0), row.datum(1), row.datum(2)]),
        );
        found
    }

    fn refuse_grandchildren(&self, child: &Child, gone: &Sql) {
        // SAFETY: the child is locked.
        let tree = unsafe { relation::with_inheritors(child.oid, pg_sys::RowExclusiveLock) };
        for reference in foreign_keys(&tree, self.session) {
            if !reference.reaches_children() {
                continue;
            }
            let mut map =
                Sql::new("(SELECT ").list(reference.pairs.iter().enumerate(), |sql, (i, pair)| {
                    sql.text("c.")
                        .name(&pair.referenced)
                        .text(&format!(" AS o{i}"))
                });
            map = map
                .text(" FROM ")
                .only(child.oid)
                .text(" AS c JOIN ")
                .sql(gone)
                .text(" AS d ON c.tableoid OPERATOR(pg_catalog.=) d.place AND c.ctid OPERATOR(pg_catalog.=) d.at)");
            let sql = Sql::new("SELECT pg_catalog.count(*) FROM ")
                .sql(&reference.from("c"))
                .text(" JOIN ")
                .sql(&map)
                .text(" AS g ON ")
                .sql(&reference.refers("c", "g"));
            if self.session.number(&sql, &[]) > 0 {
                refuse_reached(&reference, &child.name);
            }
        }
    }

    /// Redirects all that refers to the losers, until nothing does: triggers of a child may point rows of another one at a loser, and the deletion would take them along.
    ///
    /// Errors: rows collide, and `drops` is not so; rows are left.
    pub fn redirect_all(&self, indexes: &[Vec<Uniqueness>], drops: bool) {
        let mut left: Option<&Child> = None;
        for round in 0..ROUNDS {
            left = None;
            for (child, uniquenesses) in self.children.iter().zip(indexes) {
                for reference in &child.references {
                    let again = round > 0 || reference.stored.get().is_some();
                    if again && self.left(reference) == 0 {
                        continue;
                    }
                    left = Some(child);
                    if again {
                        self.settle_collisions(child, uniquenesses, drops);
                    }
                    if self.redirect(child, reference) == 0 && again && self.left(reference) > 0 {
                        refuse_kept_back(&child.name, "redirected");
                    }
                }
            }
            if left.is_none() {
                break;
            }
        }
        if let Some(child) = left {
            refuse_pointed_back(&child.name, &self.subject.name);
        }
    }

    /// Errors: rows collide, and `drops` is not so.
    pub fn settle_collisions(&self, child: &Child, uniquenesses: &[Uniqueness], drops: bool) {
        if drops {
            return self.drop_collisions(child, uniquenesses);
        }
        for uniqueness in uniquenesses {
            self.refuse_collisions(child, uniqueness);
        }
    }

    /// Keeps what the losers are referred to by, for the time when they are gone.
    pub fn keep_maps(&self) -> Vec<TupleStore> {
        let all = self.children.iter().flat_map(|child| &child.references);
        let kept = all.enumerate().map(|(i, reference)| {
            let store = reference.store(self.subject, self.session);
            let name = CString::new(format!("bloom_merge_map{i}")).unwrap_or_default();
            self.session.table(&name, &store);
            (reference, name, store)
        });
        let kept: Vec<(&Reference, CString, TupleStore)> = kept.collect();
        let named = kept.into_iter().map(|(reference, name, store)| {
            reference.stored.get_or_init(|| name);
            store
        });
        named.collect()
    }

    /// Redirects what refers to the losers. Returns how many rows.
    fn redirect(&self, child: &Child, reference: &Reference) -> u64 {
        let columns: Vec<&CStr> = reference.pairs.iter().map(|p| p.child.as_c_str()).collect();
        let values =
            |sql: Sql| (0..columns.len()).fold(sql, |sql, i| sql.text(&format!(", g.n{i}")));
        let named: Vec<&CStr> = child
            .key
            .iter()
            .map(CString::as_c_str)
            .chain(columns.iter().copied())
            .collect();
        let chosen = values(
            Sql::new("SELECT c.tableoid AS place, c.ctid AS at, g.id, g.cluster, ")
                .sql(&child.key_text("c"))
                .text(" AS key, ")
                .sql(&json("c", columns.iter().copied()))
                .text(" AS old"),
        )
        .text(" FROM ")
        .sql(&reference.from("c"))
        .text(" JOIN ")
        .sql(&reference.map(self.subject))
        .text(" AS g ON ")
        .sql(&reference.refers("c", "g"));
        let chosen = reference.without_losers(self.subject, chosen, " WHERE ");
        let statement = Sql::new("WITH o AS (")
            .sql(&chosen)
            .text("), u AS (UPDATE ")
            .only(child.oid)
            .text(" AS c SET ")
            .list(columns.iter().enumerate(), |sql, (i, name)| {
                sql.name(name).text(&format!(" = o.n{i}"))
            })
            .text(" FROM o WHERE c.tableoid OPERATOR(pg_catalog.=) o.place AND c.ctid OPERATOR(pg_catalog.=) o.at RETURNING o.id, o.cluster, o.key AS was, o.old, ")
            .sql(&child.key_text("c"))
            .text(" AS key, ")
            .sql(&json("c", named))
            .text(" AS new, ")
            .sql(&json("c", child.key.iter().map(CString::as_c_str)))
            .text(" AS own, ")
            .sql(&hash("c"))
            .text(" AS hash), x AS (UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS a SET key = u.key, new = a.new OPERATOR(pg_catalog.||) u.own, hash = u.hash FROM u WHERE a.relation OPERATOR(pg_catalog.=) ")
            .text(&oid(child.oid))
            .text(" AND a.action OPERATOR(pg_catalog.=) 'redirect' AND a.key OPERATOR(pg_catalog.=) u.was AND a.gone IS NULL AND a.unmerged IS NULL) INSERT INTO ")
            .sql(&self.audit.sql())
            .text(" (id, action, relation, reference, cluster, key, old, new, hash) SELECT u.id, 'redirect', ")
            .text(&oid(child.oid))
            .text(", ")
            .literal(&reference.name)
            .text(", u.cluster, u.key, u.old, u.new, u.hash FROM u ORDER BY u.id, u.key");
        self.session.run(&statement, &[])
    }

    /// How many rows of a child refer to losers.
    fn left(&self, reference: &Reference) -> i64 {
        let left = Sql::new("SELECT pg_catalog.count(*) FROM ")
            .sql(&reference.from("c"))
            .text(" JOIN ")
            .sql(&reference.map(self.subject))
            .text(" AS g ON ")
            .sql(&reference.refers("c", "g"));
        let left = reference.without_losers(self.subject, left, " WHERE ");
        self.session.number(&left, &[])
    }

    /// Writes of rows that go how they refer to losers, as if they had been redirected. `rows` is what follows FROM: the rows as `c`, and the map of each reference as `g0`, `g1` ...
    pub fn note_gone(&self, child: &Child, references: &[&Reference], rows: &Sql) {
        for (j, reference) in references.iter().enumerate() {
            let columns = || reference.pairs.iter().map(|pair| pair.child.as_c_str());
            let named: Vec<&CStr> = child
                .key
                .iter()
                .map(CString::as_c_str)
                .chain(columns())
                .collect();
            let of_row = child
                .columns
                .iter()
                .filter(|c| named.contains(&c.name.as_c_str()));
            let values = of_row.map(|c| (c.name.as_c_str(), redirected("c", c, references)));
            let statement = Sql::new("INSERT INTO ")
                .sql(&self.audit.sql())
                .text(&format!(" (id, action, relation, reference, cluster, key, old, new) SELECT g{j}.id, 'redirect', "))
                .text(&oid(child.oid))
                .text(", ")
                .literal(&reference.name)
                .text(&format!(", g{j}.cluster, "))
                .sql(&child.key_text("c"))
                .text(", ")
                .sql(&json("c", columns()))
                .text(", ")
                .sql(&json_of(values))
                .text(" FROM ")
                .sql(rows)
                .text(&format!(" WHERE g{j}.no IS DISTINCT FROM NULL ORDER BY g{j}.id, g{j}.key"));
            self.session.run(&statement, &[]);
        }
    }
}
