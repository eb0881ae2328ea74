//! Rows that refer to losers: those that would collide are dropped, the others redirected.

use std::ffi::CString;

use pgrx::pg_sys;

use super::changes::{refuse_kept_back, refuse_pointed_back, with_reason, MergeRun};
use super::child::Child;
use super::collisions::Uniqueness;
use super::references::{oid, Reference};
use super::subject::TableColumn;
use super::texts::{exactly, hash, json, row, row_of, stored};
use super::values::redirected;
use pg::session::tuple_store::TupleStore;
use pg::session::KeptRows;
use pg::sql;
use pg::sql::{literal, Sql};

/// How often references are looked for again. Each time one trigger has answered another.
const ROUNDS: usize = 10;

impl MergeRun<'_> {
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
