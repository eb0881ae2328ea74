//! A merge that is being done: what is locked and checked before the first change.

use std::ffi::{CStr, CString};

use base::{Error, ErrorKind};
use linkage::merging::Rule;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::audit::Audit;
use super::child::Child;
use super::collisions::Uniqueness;
use super::members::short;
use super::references::{array, left_joins, oid, Reference};
use super::subject::{text, Subject, TableColumn};
use super::texts::{exactly, hash, json, row, row_of, stored};
use super::values::{redirected, Ruled, Valuation};
use pg::error::{raise, sql_error};
use pg::message::translated;
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::{KeptRows, Session};
use pg::sql;
use pg::sql::{literal, Sql};
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
    let message = format!(
        "rows of table \"{child}\" refer to records of table \"{subject}\" that go, however often they are redirected"
    );
    let detail = "A trigger of a table whose rows are redirected, or one that fires when records are deleted, points \
        them back.";
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            message,
        )
        .detail(detail)
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

    // The records themselves: losers are deleted, and those that are kept get their values.

    /// Deletes the losers. Where they refer to one another, it is written as if they had been redirected.
    ///
    /// Errors: as those of redirecting what triggers before the deletion point at them.
    pub fn delete(&self, indexes: &[Vec<Uniqueness>], drops: bool) {
        let (subject, audit) = (self.subject, self.audit.oid);
        let all = self.children.iter().flat_map(|child| &child.references);
        let own: Vec<&Reference> = all.filter(|reference| reference.own).collect();
        let [record, is_it] = [subject.from("c"), subject.key_is("c", "m.key")];
        let joins = left_joins(&own, subject, "c");
        let rows = sql!("{record} JOIN bloom_merge_members AS m ON NOT m.kept AND {is_it}{joins}");
        let table = self.own_child();
        let members = ["m.id", "m.no", "m.cluster", "m.name"];
        let gone = self.gone(table, subject.oid, &subject.columns, &own, &members, &rows);
        if let Some(child) = table {
            self.note_gone(child, &own);
        }
        let (relation, key) = (oid(subject.oid), literal(subject.key_name()));
        let note = sql!(
            "INSERT INTO {audit} (id, action, relation, reference, cluster, key, old) \
            SELECT o.id, 'delete', {relation}, {key}, o.cluster, o.name, o.old \
            FROM bloom_merge_gone AS o ORDER BY o.id, o.no"
        );
        let noted = self.session.run(&note, &[]);
        if table.is_some() {
            // The relation is not that of `d`: without statistics the server may join all entries of the table with
            // each other by it.
            let of_rows = sql!(
                "UPDATE {audit} AS e SET gone = d.entry, hash = NULL FROM bloom_merge_gone AS o \
                JOIN {audit} AS d ON d.id OPERATOR(pg_catalog.=) o.id AND d.action OPERATOR(pg_catalog.=) 'delete' \
                AND d.key OPERATOR(pg_catalog.=) o.name WHERE e.relation OPERATOR(pg_catalog.=) {relation} \
                AND e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND e.gone IS NULL \
                AND e.key OPERATOR(pg_catalog.=) o.key"
            );
            self.session.run(&of_rows, &[]);
        }
        drop(gone);
        let only = Sql::new("").only(subject.oid);
        let is_it = subject.key_is("r", "m.key");
        let statement = sql!(
            "DELETE FROM {only} AS r USING bloom_merge_members AS m WHERE NOT m.kept AND {is_it}"
        );
        // A trigger before the deletion may point rows at the losers, which foreign keys would then reach; and some
        // rows are redirected only when the losers are gone.
        let mut children = self.children.iter().zip(indexes);
        let waits = children.any(|(child, uniquenesses)| {
            let mut references = child.references.iter();
            references.any(|reference| self.waits_for_deletion(reference, uniquenesses))
        });
        let maps = match waits || self.has_delete_triggers() {
            true => self.keep_maps(),
            false => Vec::new(),
        };
        let again = || {
            if !maps.is_empty() {
                self.redirect_all(indexes, drops);
            }
        };
        let deleted = with_reason(&subject.name, "deleted", || {
            self.session.run_before_triggers(&statement, again)
        });
        if deleted != noted {
            refuse_kept_back(&subject.name, "deleted");
        }
    }

    fn has_delete_triggers(&self) -> bool {
        let tables = array(&self.subject.tree);
        let query = sql!(
            "SELECT pg_catalog.count(*) FROM pg_catalog.pg_trigger AS t WHERE NOT t.tgisinternal \
            AND t.tgtype OPERATOR(pg_catalog.&) 10::pg_catalog.int2 OPERATOR(pg_catalog.=) 10 \
            AND t.tgrelid OPERATOR(pg_catalog.=) ANY ({tables})"
        );
        self.session.number(&query, &[]) > 0
    }

    /// Gives the records that are kept their values.
    pub fn update(&self, valuation: &Valuation<'_>, changed: u64) {
        let (subject, audit) = (self.subject, self.audit.oid);
        let (record, whole) = (subject.from("r"), row("r", subject.oid));
        let is_kept = subject.key_is("r", "m.key");
        let rows = sql!(
            "SELECT m.id, m.cluster, m.name, {whole} AS was FROM bloom_merge_members AS m \
            JOIN {record} ON {is_kept} WHERE m.kept"
        );
        let rows = self.session.keep(c"bloom_merge_rows", &rows, &[]);
        let old = json("(s.was)", stored(&subject.columns));
        let texts = sql!("SELECT s.id, s.cluster, s.name, {old} AS old FROM bloom_merge_rows AS s");
        let texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        let (relation, key) = (oid(subject.oid), literal(subject.key_name()));
        let note = sql!(
            "INSERT INTO {audit} (id, action, relation, reference, cluster, key, old) \
            SELECT o.id, 'keep', {relation}, {key}, o.cluster, o.name, o.old \
            FROM bloom_merge_texts AS o ORDER BY o.id"
        );
        self.session.run(&note, &[]);
        drop((rows, texts));
        if changed == 0 {
            return;
        }
        let set = decided(valuation).enumerate().map(|(i, ruled)| {
            let column = &subject.columns[ruled.column];
            sql!("{column.name} = v.v{i}")
        });
        let (only, set) = (Sql::new("").only(subject.oid), Sql::join(set, ", "));
        let is_kept = subject.key_is("r", "v.keep");
        let statement =
            sql!("UPDATE {only} AS r SET {set} FROM bloom_merge_values AS v WHERE {is_kept}");
        let updated = with_reason(&subject.name, "changed", || {
            self.session.run(&statement, &[])
        });
        if updated != changed {
            refuse_kept_back(&subject.name, "changed");
        }
        // As triggers after the change have left them.
        let rows = sql!(
            "SELECT v.id, {whole} AS now FROM bloom_merge_values AS v JOIN {record} ON {is_kept}"
        );
        let _rows = self.session.keep(c"bloom_merge_rows", &rows, &[]);
        let table = self.own_child();
        let key = table.map_or(Sql::new("NULL"), |child| child.key_text("(s.now)"));
        let (new, hash) = (json("(s.now)", stored(&subject.columns)), hash("s.now"));
        let texts = sql!(
            "SELECT s.id, {new} AS new, {hash} AS hash, {key} AS key FROM bloom_merge_rows AS s"
        );
        let _texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        let note = sql!(
            "UPDATE {audit} AS a SET new = u.new FROM bloom_merge_texts AS u \
            WHERE a.id OPERATOR(pg_catalog.=) u.id AND a.action OPERATOR(pg_catalog.=) 'keep'"
        );
        self.session.run(&note, &[]);
        if table.is_some() {
            // What was written of these records as rows that refer to others is about them as they are now.
            let refresh = sql!(
                "UPDATE {audit} AS e SET hash = u.hash FROM bloom_merge_texts AS u \
                WHERE e.relation OPERATOR(pg_catalog.=) {relation} AND e.action OPERATOR(pg_catalog.=) 'redirect' \
                AND e.unmerged IS NULL AND e.gone IS NULL AND e.key OPERATOR(pg_catalog.=) u.key"
            );
            self.session.run(&refresh, &[]);
        }
    }

    /// The table itself, where records refer to one another.
    fn own_child(&self) -> Option<&Child> {
        self.children.iter().find(|child| child.is_own())
    }

    // Rows that refer to losers: those that would collide are dropped, the others redirected.

    /// Redirects all that refers to the losers, until nothing does: triggers of a child may point rows of another one
    /// at a loser, and the deletion would take them along.
    ///
    /// Errors: rows collide, and `drops` is not so; rows are left.
    pub fn redirect_all(&self, indexes: &[Vec<Uniqueness>], drops: bool) {
        let mut left: Option<&Child> = None;
        for round in 0..ROUNDS {
            left = None;
            for (child, uniquenesses) in self.children.iter().zip(indexes) {
                for reference in &child.references {
                    let is_late = reference.stored.get().is_some();
                    if self.waits_for_deletion(reference, uniquenesses) && !is_late {
                        continue;
                    }
                    let again = round > 0 || is_late;
                    if again && self.left(reference) == 0 {
                        continue;
                    }
                    left = Some(child);
                    if again {
                        // What triggers have written meanwhile nobody has looked at.
                        self.check_target(child, reference);
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

    /// Whether a row that is redirected may be like one of a record that goes, so that this has to go first.
    pub fn waits_for_deletion(&self, reference: &Reference, uniquenesses: &[Uniqueness]) -> bool {
        reference.own && !uniquenesses.is_empty()
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

    /// Redirects what refers to the losers. Returns how many rows. What triggers change of these rows besides is
    /// written down with what they refer to.
    fn redirect(&self, child: &Child, reference: &Reference) -> u64 {
        let (only, given) = (child.only(), child.row("c"));
        let rows = reference.redirected(self.subject);
        let names = reference.pairs.iter().map(|pair| &pair.child);
        let values = (0..names.len()).map(|i| sql!(", g.n{i}"));
        let values = Sql::join(values, "");
        let chosen = sql!(
            "SELECT c.tableoid AS place, c.ctid AS at, g.id, g.cluster, {given} AS was{values} FROM {rows}"
        );
        let chosen = self.session.keep(c"bloom_merge_rows", &chosen, &[]);
        let set = names.clone().enumerate();
        let set = Sql::join(set.map(|(i, name)| sql!("{name} = o.n{i}")), ", ");
        let update = sql!(
            "UPDATE {only} AS c SET {set} FROM bloom_merge_rows AS o \
            WHERE c.tableoid OPERATOR(pg_catalog.=) o.place AND c.ctid OPERATOR(pg_catalog.=) o.at \
            RETURNING o.id, o.cluster, o.was, {given} AS given"
        );
        let changed = with_reason(&child.name, "redirected", || {
            self.session.keep(c"bloom_merge_changed", &update, &[])
        });
        drop(chosen);
        let now = child.now("bloom_merge_changed", "u.id, u.cluster, u.was");
        let now = self.session.keep(c"bloom_merge_now", &now, &[]);
        // What the server generates cannot be set again, but may be a part of the key.
        let set = |column: &&TableColumn| !column.generated && !column.always;
        let before = json("(u.was)", child.columns.iter().filter(set));
        let after = child.columns.iter();
        let after = after.filter(|column| set(column) || child.key.contains(&column.name));
        let after = json("(u.now)", after);
        let part = |of: &str, other: &str, always: Vec<&CString>| {
            let always = Sql::join(always.into_iter().map(|name| literal(name)), ", ");
            sql!(
                "(SELECT pg_catalog.jsonb_object_agg(k.key, k.value) FROM pg_catalog.jsonb_each(j.{of}) AS k \
                WHERE k.value OPERATOR(pg_catalog.<>) (j.{other} OPERATOR(pg_catalog.->) k.key) \
                OR k.key OPERATOR(pg_catalog.=) ANY (ARRAY[{always}]::pg_catalog.text[]))"
            )
        };
        let old = part("was", "now", names.clone().collect());
        let new = part("now", "was", names.chain(&child.key).collect());
        let [key_was, key] = ["(u.was)", "(u.now)"].map(|row| child.key_text(row));
        let (own, hash) = (child.own_key("(u.now)"), hash("u.now"));
        let texts = sql!(
            "SELECT j.id, j.cluster, j.key_was AS was, j.key, {old} AS old, {new} AS new, j.own, j.hash \
            FROM (SELECT u.id, u.cluster, {key_was} AS key_was, {key} AS key, {before} AS was, {after} AS now, \
            {own} AS own, {hash} AS hash FROM bloom_merge_now AS u OFFSET 0) AS j"
        );
        let texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        drop((changed, now));
        (self.audit).refresh(self.session, child.oid, "bloom_merge_texts");
        let (relation, name) = (oid(child.oid), literal(&reference.name));
        let note = sql!(
            "INSERT INTO {self.audit.oid} (id, action, relation, reference, cluster, key, old, new, hash) \
            SELECT u.id, 'redirect', {relation}, {name}, u.cluster, u.key, u.old, u.new, u.hash \
            FROM bloom_merge_texts AS u ORDER BY u.id, u.key"
        );
        self.session.run(&note, &[]);
        texts.rows()
    }

    /// How many rows of a child refer to losers.
    fn left(&self, reference: &Reference) -> i64 {
        let rows = reference.redirected(self.subject);
        self.session
            .number(&sql!("SELECT pg_catalog.count(*) FROM {rows}"), &[])
    }

    /// Rows that go, as the table bloom_merge_gone: what `others` names, without its alias; `key` (of a child) and
    /// `old`, as if they had been redirected; and for each reference j `id{j}`, `cluster{j}`, `key{j}` of the loser,
    /// NULL where the row refers to none, and the texts of `old{j}` and `new{j}`. `rows` is what follows FROM: the rows
    /// as `c`, and the map of each reference as `g0`, `g1` ...
    pub fn gone(
        &self,
        child: Option<&Child>,
        table: pg_sys::Oid,
        columns: &[TableColumn],
        references: &[&Reference],
        others: &[&str],
        rows: &Sql,
    ) -> KeptRows<'_> {
        let image = columns.iter();
        let image = image.map(|column| redirected("c", column, references));
        let (was, now) = (row("c", table), row_of(image, table));
        let mut read = sql!("SELECT {was} AS was, {now} AS now");
        let old = json("(s.now)", stored(columns));
        let mut texts = sql!("SELECT {old} AS old");
        for other in others {
            let name = other.rsplit('.').next().unwrap_or(other);
            (read, texts) = (sql!("{read}, {other}"), sql!("{texts}, s.{name}"));
        }
        if let Some(child) = child {
            let key = child.key_text("(s.was)");
            texts = sql!("{texts}, {key} AS key");
            for (j, reference) in references.iter().enumerate() {
                let refers =
                    |c: &TableColumn| reference.pairs.iter().any(|pair| pair.child == c.name);
                let is_key = |c: &TableColumn| child.key.contains(&c.name);
                let old = json("(s.was)", columns.iter().filter(|c| refers(c)));
                let new = json("(s.now)", columns.iter().filter(|c| refers(c) || is_key(c)));
                read = sql!(
                    "{read}, g{j}.id AS id{j}, g{j}.cluster AS cluster{j}, g{j}.key AS key{j}"
                );
                texts = sql!(
                    "{texts}, s.id{j}, s.cluster{j}, s.key{j}, {old} AS old{j}, {new} AS new{j}"
                );
            }
        }
        let _read = (self.session).keep(c"bloom_merge_rows", &sql!("{read} FROM {rows}"), &[]);
        let texts = sql!("{texts} FROM bloom_merge_rows AS s");
        exactly(|| self.session.keep(c"bloom_merge_gone", &texts, &[]))
    }

    /// Writes of rows that go how they refer to losers, as if they had been redirected. They are in bloom_merge_gone.
    pub fn note_gone(&self, child: &Child, references: &[&Reference]) {
        let relation = oid(child.oid);
        for (j, reference) in references.iter().enumerate() {
            let name = literal(&reference.name);
            let statement = sql!(
                "INSERT INTO {self.audit.oid} (id, action, relation, reference, cluster, key, old, new) \
                SELECT o.id{j}, 'redirect', {relation}, {name}, o.cluster{j}, o.key, o.old{j}, o.new{j} \
                FROM bloom_merge_gone AS o WHERE o.id{j} IS DISTINCT FROM NULL ORDER BY o.id{j}, o.key{j}"
            );
            self.session.run(&statement, &[]);
        }
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

/// The new values of the records that are kept: `id`, `keep`, and `v0`, `v1` ... of the columns that a rule decides.
pub const VALUES: &CStr = c"bloom_merge_values";

/// The columns that a rule may change.
pub fn decided<'a>(valuation: &'a Valuation<'_>) -> impl Iterator<Item = &'a Ruled> {
    let ruled = valuation.ruled.iter();
    ruled.filter(|ruled| ruled.rule != Rule::Keep)
}

/// The store of [`VALUES`].
pub fn value_store(subject: &Subject, valuation: &Valuation<'_>) -> TupleStore {
    let values = decided(valuation).enumerate().map(|(i, ruled)| {
        let of_value = StoreColumn {
            // An assignment takes care of it.
            typmod: -1,
            ..subject.columns[ruled.column].store
        };
        (CString::new(format!("v{i}")).unwrap_or_default(), of_value)
    });
    let before = [
        (c"id".to_owned(), StoreColumn::plain(pg_sys::INT8OID)),
        (c"keep".to_owned(), subject.key_type),
    ];
    let all: Vec<(CString, StoreColumn)> = before.into_iter().chain(values).collect();
    TupleStore::new(all.iter().map(|(name, of)| (name.as_c_str(), *of)))
}

/// How often references are looked for again. Each time one trigger has answered another.
const ROUNDS: usize = 10;
