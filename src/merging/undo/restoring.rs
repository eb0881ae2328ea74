//! What a merge has changed is changed back.

use pgrx::PgSqlErrorCode;
use std::ffi::CString;

use super::{parameter, Undo};
use crate::merging::audit::is_about;
use crate::merging::references::{oid, text_of};
use crate::merging::row_table::RowTable;
use crate::merging::texts::{exactly, hash, json, numbered, stored, value, values};
use pg::error::sql_error;
use pg::message::{translated, Message};
use pg::session::KeptRows;
use pg::sql;
use pg::sql::{literal, Sql};
use pg::values::text::readable;

/// The members of an object that are the primary key.
fn picked(object: &str, names: &[CString]) -> Sql {
    let members = names.iter().map(|name| {
        let name = literal(name);
        sql!("{name}, {object} OPERATOR(pg_catalog.->>) {name}")
    });
    let members = Sql::join(members, ", ");
    sql!("pg_catalog.jsonb_object(ARRAY[{members}]::pg_catalog.text[])")
}

impl Undo<'_> {
    /// Runs a statement that changes rows back. That they offend a constraint is told as a reason why the merge cannot
    /// be taken back; what triggers of users raise passes as it is.
    ///
    /// Errors: as those of `run`.
    fn with_reason<T>(&self, table: &str, other: i64, run: impl FnOnce() -> T) -> T {
        translated(run, |violation| {
            let [message, detail] = violation.said().map(readable);
            let ours = format!("merge {} cannot be taken back", self.id);
            let detail =
                format!("Rows of table \"{table}\" cannot be changed back: {message}. {detail}");
            let hint = match other {
                0 => "Change or delete what stands in their way, or take later merges back first, if they were the \
                    reason.".to_owned(),
                other => format!("Take merge {other} back first."),
            };
            let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
            sql_error(code, ours).detail(detail).hint(hint)
        })
    }

    /// The names of columns that a query gives.
    pub fn names(&self, query: &Sql) -> Vec<CString> {
        let mut names = Vec::new();
        self.session.each(query, &[], |row| {
            names.push(CString::new(text_of(row, 0).unwrap_or_default()).unwrap_or_default());
        });
        names
    }

    /// The names of the columns whose values before objects `old` of a table of the session have.
    pub fn names_in(&self, table: &str) -> Vec<CString> {
        self.names(&sql!(
            "SELECT DISTINCT k.name FROM {table} AS a \
            CROSS JOIN LATERAL pg_catalog.jsonb_object_keys(a.old) AS k (name)"
        ))
    }

    /// Gives the record that was kept its values of before.
    pub fn restore_record(&self) {
        let names = self.names(&sql!(
            "SELECT k.key FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL pg_catalog.jsonb_each(a.old) AS k \
            WHERE k.value OPERATOR(pg_catalog.<>) (a.new OPERATOR(pg_catalog.->) k.key)"
        ));
        if names.is_empty() {
            return;
        }
        let table = RowTable::restored(self.subject.oid, self.session);
        let columns = table.columns_named(&names);
        let (old, read) = (numbered("v", &columns), values("a.old", "v", &columns));
        let read = sql!("SELECT {old} FROM bloom_unmerge_kept AS a CROSS JOIN LATERAL {read}");
        let _read = exactly(|| self.session.keep(c"bloom_unmerge_values", &read, &[]));
        let set = names.iter().enumerate();
        let set = Sql::join(set.map(|(i, name)| sql!("{name} = v.x{i}")), ", ");
        let (only, is_it) = (table.only(), self.key_is());
        let statement = sql!(
            "UPDATE {only} AS r SET {set} FROM bloom_unmerge_values AS v, bloom_unmerge_key AS k WHERE {is_it}"
        );
        let changed = self.with_reason(&self.subject.name, 0, || self.session.run(&statement, &[]));
        if changed != 1 {
            self.refuse(
                &format!("Record \"{}\" could not be changed.", self.kept),
                "A trigger, a rule or row-level security keeps it as it is.",
            );
        }
    }

    /// The entries of a kind about a table: `entry`, `old`.
    pub fn rows_of(&self, table: &RowTable, action: &str) -> KeptRows<'_> {
        let (is_entry, is_about) = (self.is_entry("a", action), is_about("a", table.oid));
        let query = sql!(
            "SELECT a.entry, a.old FROM {self.audit.oid} AS a WHERE {is_entry} AND {is_about} ORDER BY a.entry"
        );
        let name = c"bloom_unmerge_entries";
        self.session.keep(name, &query, &parameter(self.id))
    }

    /// What entries say of the rows of bloom_unmerge_rows, as the table bloom_unmerge_texts: a column of it, and `key`,
    /// `own`, the key as an object, and `hash`.
    fn texts(&self, table: &RowTable, column: &str, row: &str) -> KeptRows<'_> {
        let whole = format!("({row})");
        let (key, own, hash) = (table.key_text(&whole), table.own_key(&whole), hash(row));
        let texts = sql!(
            "SELECT s.{column}, {key} AS key, {own} AS own, {hash} AS hash FROM bloom_unmerge_rows AS s"
        );
        exactly(|| self.session.keep(c"bloom_unmerge_texts", &texts, &[]))
    }

    /// Entries about rows that are back, or have their values again, now say how these are.
    pub fn refresh(&self, table: &RowTable, action: &str) {
        if table.key.is_empty() {
            return;
        }
        let entries = self.rows_of(table, action);
        let rows = table.rows(self.session, "bloom_unmerge_entries", "old", "entry", false);
        let _texts = self.texts(table, "tag", "s.c");
        drop((entries, rows));
        let (relation, is_about) = (oid(table.oid), is_about("e", table.oid));
        let link = match action {
            "keep" => sql!(
                "e.gone IS NULL AND e.relation OPERATOR(pg_catalog.=) {relation} AND e.key OPERATOR(pg_catalog.=) q.key"
            ),
            // The index on `gone` is small, but only bounds that are known make the server look there first.
            _ => sql!(
                "{is_about} AND e.gone OPERATOR(pg_catalog.=) q.tag AND e.gone \
                OPERATOR(pg_catalog.>=) (SELECT pg_catalog.min(x.tag) FROM bloom_unmerge_texts AS x) AND e.gone \
                OPERATOR(pg_catalog.<=) (SELECT pg_catalog.max(x.tag) FROM bloom_unmerge_texts AS x)"
            ),
        };
        let statement = sql!(
            "UPDATE {self.audit.oid} AS e SET hash = q.hash, key = q.key, gone = NULL, \
            new = e.new OPERATOR(pg_catalog.||) q.own FROM bloom_unmerge_texts AS q \
            WHERE e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND {link}"
        );
        self.session.run(&statement, &[]);
    }

    /// What the merge has changed of rows of a table, as the table bloom_unmerge_steps: the row by `key`, or by `gone`
    /// if another merge has deleted it; `old` and `made`, the values of columns before and after; `new`, with the row's
    /// primary key; `first`, the first entry. Where an entry of another merge has changed the same columns later,
    /// `heir` is the next such: it then says what they were before.
    fn steps(&self, table: &RowTable) -> KeptRows<'_> {
        let (audit, relation) = (self.audit.oid, oid(table.oid));
        let is_redirected = self.is_redirected(table, "e");
        let others = sql!(
            "SELECT f.entry, f.id, f.old, f.new FROM {audit} AS f \
            WHERE f.action OPERATOR(pg_catalog.=) 'redirect' AND f.unmerged IS NULL"
        );
        // Entries of this merge and the next one of another are a part.
        let query = sql!(
            "WITH r AS (SELECT DISTINCT e.gone, CASE WHEN e.gone IS NULL THEN e.key END AS key \
            FROM {audit} AS e WHERE {is_redirected}), \
            c AS (SELECT r.gone, r.key, f.entry, f.new, f.id OPERATOR(pg_catalog.=) $1 AS mine, k.key AS col, \
                k.value AS old, f.new OPERATOR(pg_catalog.->) k.key AS made, \
                pg_catalog.count(*) FILTER (WHERE f.id OPERATOR(pg_catalog.<>) $1) \
                OVER (PARTITION BY r.gone, r.key, k.key ORDER BY f.entry \
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS part FROM r CROSS JOIN LATERAL (\
                {others} AND r.gone IS NULL AND f.gone IS NULL \
                AND f.relation OPERATOR(pg_catalog.=) {relation} AND f.key OPERATOR(pg_catalog.=) r.key \
                UNION ALL {others} AND f.gone OPERATOR(pg_catalog.=) r.gone) AS f \
                CROSS JOIN LATERAL pg_catalog.jsonb_each(f.old) AS k), \
            p AS (SELECT c.gone, c.key, c.col, pg_catalog.max(c.entry) FILTER (WHERE NOT c.mine) AS heir, \
                (pg_catalog.array_agg(c.old ORDER BY c.entry))[1] AS old, \
                (pg_catalog.array_agg(c.made ORDER BY c.entry DESC) FILTER (WHERE c.mine))[1] AS made, \
                pg_catalog.min(c.entry) AS first, (pg_catalog.array_agg(c.new ORDER BY c.entry DESC))[1] AS new \
                FROM c GROUP BY c.gone, c.key, c.col, c.part HAVING pg_catalog.bool_or(c.mine)) \
            SELECT p.gone, p.key, p.heir, pg_catalog.jsonb_object_agg(p.col, p.old) AS old, \
                pg_catalog.jsonb_object_agg(p.col, p.made) AS made, pg_catalog.min(p.first) AS first, \
                (pg_catalog.array_agg(p.new))[1] AS new FROM p GROUP BY p.gone, p.key, p.heir"
        );
        let name = c"bloom_unmerge_steps";
        self.session.keep(name, &query, &parameter(self.id))
    }

    /// Redirects rows back that are not there, where entries have written them, and what entries of other merges say of
    /// them. Returns the steps.
    pub fn write_back(&self, table: &RowTable) -> KeptRows<'_> {
        let (audit, own) = (self.audit.oid, self.is_own(table));
        let steps = self.steps(table);
        let heirs = sql!(
            "UPDATE {audit} AS f SET old = f.old OPERATOR(pg_catalog.||) s.old FROM bloom_unmerge_steps AS s \
            WHERE f.entry OPERATOR(pg_catalog.=) s.heir"
        );
        self.session.run(&heirs, &[]);
        // Rows that another merge has deleted are redirected where that has written them.
        let gone = sql!(
            "UPDATE {audit} AS d SET old = d.old OPERATOR(pg_catalog.||) s.old FROM bloom_unmerge_steps AS s \
            WHERE s.heir IS NULL AND d.entry OPERATOR(pg_catalog.=) s.gone AND d.unmerged IS NULL"
        );
        let now = own.then(|| self.rows_now(table));
        if own {
            // As long as the rows are found by what is written of them.
            self.kept_back(table);
        }
        let expected = sql!(
            "SELECT pg_catalog.count(*) FROM bloom_unmerge_steps AS s WHERE s.heir IS NULL AND s.gone IS NOT NULL"
        );
        let expected = self.session.number(&expected, &[]);
        let is_gone = self.session.run(&gone, &[]) as i64;
        drop(now);
        if is_gone < expected {
            self.refuse_kept_as_they_are(table);
        }
        steps
    }

    fn refuse_kept_as_they_are(&self, table: &RowTable) -> ! {
        self.refuse(
            &format!("Rows of table \"{}\" could not be redirected.", table.name),
            "A trigger, a rule or row-level security keeps them as they are.",
        )
    }

    /// Redirects rows back, with what triggers changed besides. Records that cannot be inserted before these are
    /// changed, nor after, since rows refer to them, are inserted in the same statement: `together`, and why they could
    /// not before.
    pub fn change_back(
        &self,
        table: &RowTable,
        steps: KeptRows<'_>,
        together: Option<&(Sql, Box<Message>)>,
    ) {
        let own = self.is_own(table);
        let now = own.then(|| self.rows_now(table));
        let last = match own {
            false => sql!(
                "SELECT s.key, s.new, s.old FROM bloom_unmerge_steps AS s WHERE s.heir IS NULL AND s.gone IS NULL"
            ),
            // A record that was kept by another merge may have got another value there since: then that merge has what
            // it was redirected to.
            true => sql!(
                "SELECT q.* FROM (SELECT s.key, s.new, (SELECT pg_catalog.jsonb_object_agg(k.key, k.value) \
                FROM pg_catalog.jsonb_each(s.old) AS k WHERE (s.made OPERATOR(pg_catalog.->) k.key) \
                OPERATOR(pg_catalog.=) (t.now OPERATOR(pg_catalog.->) k.key)) AS old FROM bloom_unmerge_steps AS s \
                JOIN bloom_unmerge_now AS t ON t.key OPERATOR(pg_catalog.=) s.key \
                WHERE s.heir IS NULL AND s.gone IS NULL) AS q WHERE q.old IS NOT NULL"
            ),
        };
        let last = self.session.keep(c"bloom_unmerge_last", &last, &[]);
        drop((now, steps));
        if self.set_back(table, together) < last.rows() {
            self.refuse_kept_as_they_are(table);
        }
    }

    /// The rows of the steps as they are, as the table bloom_unmerge_now: `key`, `now`.
    fn rows_now(&self, table: &RowTable) -> KeptRows<'_> {
        let places = sql!(
            "SELECT s.key, (pg_catalog.array_agg(s.new))[1] AS new FROM bloom_unmerge_steps AS s \
            WHERE s.gone IS NULL GROUP BY s.key"
        );
        let _places = (self.session).keep(c"bloom_unmerge_places", &places, &[]);
        let _rows = table.rows(self.session, "bloom_unmerge_places", "new", "key", false);
        let now = json("(s.c)", stored(&table.columns));
        let now = sql!("SELECT s.tag AS key, {now} AS now FROM bloom_unmerge_rows AS s");
        exactly(|| self.session.keep(c"bloom_unmerge_now", &now, &[]))
    }

    /// Gives rows the values of bloom_unmerge_last. Returns how many.
    fn set_back(&self, table: &RowTable, together: Option<&(Sql, Box<Message>)>) -> u64 {
        let names = self.names_in("bloom_unmerge_last");
        if names.is_empty() {
            if let Some((_, violation)) = together {
                self.refuse_row(table, violation, self.other(violation, None));
            }
            return 0;
        }
        let columns = table.columns_named(&names);
        let key = values("a.new", "p", &table.columns_named(&table.key));
        let keys = table.key_values("p");
        let old = columns.iter().enumerate().map(|(i, column)| {
            let (value, name) = (value("v", column), literal(&column.name));
            sql!(", {value} AS x{i}, a.old OPERATOR(pg_catalog.?) {name} AS has{i}")
        });
        let (old, read) = (Sql::join(old, ""), values("a.old", "v", &columns));
        let read = sql!(
            "SELECT a.key{keys}{old} FROM bloom_unmerge_last AS a CROSS JOIN LATERAL {key} CROSS JOIN LATERAL {read}"
        );
        let read = exactly(|| self.session.keep(c"bloom_unmerge_values", &read, &[]));
        // The server changes rows first, and looks at foreign keys when all is done.
        let before = together.map_or(Sql::new(""), |(insertion, _)| {
            sql!("WITH i AS ({insertion}) ")
        });
        let other = together.map_or(0, |(_, violation)| self.other(violation, None));
        let set = names.iter().enumerate();
        let set =
            set.map(|(i, name)| sql!("{name} = CASE WHEN v.has{i} THEN v.x{i} ELSE c.{name} END"));
        let (only, set, is_it) = (table.only(), Sql::join(set, ", "), table.has_key("c", "v"));
        let row = table.row("c");
        let statement = sql!(
            "{before}UPDATE {only} AS c SET {set} FROM bloom_unmerge_values AS v WHERE {is_it} \
            RETURNING v.key AS was, {row} AS given"
        );
        let changed = self.with_reason(&table.name, other, || {
            self.session.keep(c"bloom_unmerge_changed", &statement, &[])
        });
        drop(read);
        let now = table.now("bloom_unmerge_changed", "u.was");
        let _now = self.session.keep(c"bloom_unmerge_rows", &now, &[]);
        let _texts = self.texts(table, "was", "s.now");
        (self.audit).refresh(self.session, table.oid, "bloom_unmerge_texts");
        changed.rows()
    }

    /// What other merges have written since of records that they kept is redirected, too.
    fn kept_back(&self, table: &RowTable) {
        let (audit, relation) = (self.audit.oid, oid(table.oid));
        let key = picked("s.new", &table.key);
        let set = ["old", "new"].map(|side| {
            sql!(
                "{side} = d.{side} OPERATOR(pg_catalog.||) \
                COALESCE((SELECT pg_catalog.jsonb_object_agg(o.key, o.value) \
                FROM pg_catalog.jsonb_each(s.old) AS o WHERE (d.{side} OPERATOR(pg_catalog.->) o.key) \
                OPERATOR(pg_catalog.=) (s.made OPERATOR(pg_catalog.->) o.key)), '{{}}')"
            )
        });
        let set = Sql::join(set, ", ");
        for heir in ["IS NOT NULL", "IS NULL"] {
            // The key is one of the row's values, which the index on relation and key finds.
            let statement = sql!(
                "UPDATE {audit} AS d SET {set} FROM bloom_unmerge_steps AS s \
                LEFT JOIN {audit} AS g ON g.entry OPERATOR(pg_catalog.=) s.gone \
                LEFT JOIN bloom_unmerge_now AS t ON t.key OPERATOR(pg_catalog.=) s.key \
                CROSS JOIN LATERAL (SELECT DISTINCT v.value \
                FROM pg_catalog.jsonb_each_text(COALESCE(g.old, t.now)) AS v WHERE v.value IS NOT NULL) AS k \
                WHERE d.relation OPERATOR(pg_catalog.=) {relation} AND s.heir {heir} \
                AND d.key OPERATOR(pg_catalog.=) k.value AND d.entry OPERATOR(pg_catalog.>) s.first \
                AND d.action OPERATOR(pg_catalog.=) 'keep' AND d.unmerged IS NULL \
                AND d.id OPERATOR(pg_catalog.<>) $1 AND d.old OPERATOR(pg_catalog.@>) {key}"
            );
            self.session.run(&statement, &parameter(self.id));
        }
    }
}
