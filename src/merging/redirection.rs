//! Rows that refer to losers: those that would collide are dropped, the others redirected.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use super::changes::{oid, refuse_kept_back, refuse_pointed_back, told, MergeRun};
use super::child::Child;
use super::collisions::Uniqueness;
use super::references::Reference;
use super::subject::TableColumn;
use super::texts::{exactly, hash, json, key_is, key_text, named, row, row_of, stored};
use super::values::redirected;
use pg::session::tuple_store::TupleStore;
use pg::session::KeptRows;
use pg::sql::Sql;

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
        let columns: Vec<&CStr> = reference.pairs.iter().map(|p| p.child.as_c_str()).collect();
        let chosen = (0..columns.len()).fold(
            Sql::new("SELECT c.tableoid AS place, c.ctid AS at, g.id, g.cluster, ")
                .sql(&row("c", child.oid))
                .text(" AS was"),
            |sql, i| sql.text(&format!(", g.n{i}")),
        );
        let chosen = chosen
            .text(" FROM ")
            .sql(&reference.from("c"))
            .text(" JOIN ")
            .sql(&reference.map(self.subject))
            .text(" AS g ON ")
            .sql(&reference.refers("c", "g"));
        let chosen = reference.without_losers(self.subject, chosen, " WHERE ");
        let chosen = self.session.keep(c"bloom_merge_rows", &chosen, &[]);
        let update = Sql::new("UPDATE ")
            .only(child.oid)
            .text(" AS c SET ")
            .list(columns.iter().enumerate(), |sql, (i, name)| {
                sql.name(name).text(&format!(" = o.n{i}"))
            })
            .text(" FROM bloom_merge_rows AS o WHERE c.tableoid OPERATOR(pg_catalog.=) o.place AND c.ctid OPERATOR(pg_catalog.=) o.at RETURNING o.id, o.cluster, o.was, ")
            .sql(&row("c", child.oid))
            .text(" AS given");
        let changed = told(&child.name, "redirected", || {
            self.session.keep(c"bloom_merge_changed", &update, &[])
        });
        drop(chosen);
        // As triggers after the change have left them.
        let now = Sql::new("SELECT u.id, u.cluster, u.was, COALESCE(")
            .sql(&row("c", child.oid))
            .text(", u.given) AS now FROM bloom_merge_changed AS u LEFT JOIN ")
            .only(child.oid)
            .text(" AS c ON ")
            .sql(&key_is("c", &child.columns, &child.key, |column| {
                Sql::new("(u.given).").name(&column.name)
            }));
        let now = self.session.keep(c"bloom_merge_now", &now, &[]);
        let of_references = reference.pairs.iter().map(|pair| pair.child.clone());
        let of_references: Vec<CString> = of_references.collect();
        let mut of_row = of_references.clone();
        of_row.extend(child.key.iter().cloned());
        // What the server generates cannot be set again, but may be a part of the key.
        let set = |column: &&TableColumn| !column.generated && !column.always;
        let before = child.columns.iter().filter(set);
        let after =
            (child.columns.iter()).filter(|column| set(column) || child.key.contains(&column.name));
        let part = |of: &str, other: &str, always: &[CString]| {
            Sql::new(&format!("(SELECT pg_catalog.jsonb_object_agg(k.key, k.value) FROM pg_catalog.jsonb_each(j.{of}) AS k WHERE k.value OPERATOR(pg_catalog.<>) (j.{other} OPERATOR(pg_catalog.->) k.key) OR k.key OPERATOR(pg_catalog.=) ANY (ARRAY["))
                .list(always, |sql, name| sql.literal(name))
                .text("]::pg_catalog.text[]))")
        };
        let texts = Sql::new("SELECT j.id, j.cluster, j.key_was, j.key, ")
            .sql(&part("was", "now", &of_references))
            .text(" AS old, ")
            .sql(&part("now", "was", &of_row))
            .text(" AS new, j.own, j.hash FROM (SELECT u.id, u.cluster, ")
            .sql(&key_text("(u.was)", &child.key))
            .text(" AS key_was, ")
            .sql(&key_text("(u.now)", &child.key))
            .text(" AS key, ")
            .sql(&json("(u.was)", before))
            .text(" AS was, ")
            .sql(&json("(u.now)", after))
            .text(" AS now, ")
            .sql(&json("(u.now)", named(&child.columns, &child.key)))
            .text(" AS own, ")
            .sql(&hash("u.now"))
            .text(" AS hash FROM bloom_merge_now AS u OFFSET 0) AS j");
        let texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        drop((changed, now));
        let refresh = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS a SET key = u.key, new = a.new OPERATOR(pg_catalog.||) u.own, hash = u.hash FROM bloom_merge_texts AS u WHERE a.relation OPERATOR(pg_catalog.=) ")
            .text(&oid(child.oid))
            .text(" AND a.action OPERATOR(pg_catalog.=) 'redirect' AND a.key OPERATOR(pg_catalog.=) u.key_was AND a.gone IS NULL AND a.unmerged IS NULL");
        self.session.run(&refresh, &[]);
        let note = Sql::new("INSERT INTO ")
            .sql(&self.audit.sql())
            .text(" (id, action, relation, reference, cluster, key, old, new, hash) SELECT u.id, 'redirect', ")
            .text(&oid(child.oid))
            .text(", ")
            .literal(&reference.name)
            .text(", u.cluster, u.key, u.old, u.new, u.hash FROM bloom_merge_texts AS u ORDER BY u.id, u.key");
        self.session.run(&note, &[]);
        texts.rows()
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
        let image = columns
            .iter()
            .map(|column| redirected("c", column, references));
        let mut read = others.iter().fold(
            Sql::new("SELECT ")
                .sql(&row("c", table))
                .text(" AS was, ")
                .sql(&row_of(image, table))
                .text(" AS now"),
            |sql, other| sql.text(", ").text(other),
        );
        let mut texts = others.iter().fold(
            Sql::new("SELECT ")
                .sql(&json("(s.now)", stored(columns)))
                .text(" AS old"),
            |sql, other| {
                let name = other.rsplit('.').next().unwrap_or(other);
                sql.text(", s.").text(name)
            },
        );
        if let Some(child) = child {
            texts = texts
                .text(", ")
                .sql(&key_text("(s.was)", &child.key))
                .text(" AS key");
            for (j, reference) in references.iter().enumerate() {
                read = read.text(&format!(
                    ", g{j}.id AS id{j}, g{j}.cluster AS cluster{j}, g{j}.key AS key{j}"
                ));
                let mut names: Vec<CString> = reference
                    .pairs
                    .iter()
                    .map(|pair| pair.child.clone())
                    .collect();
                texts = texts
                    .text(&format!(", s.id{j}, s.cluster{j}, s.key{j}, "))
                    .sql(&json("(s.was)", named(columns, &names)))
                    .text(&format!(" AS old{j}, "));
                names.extend(child.key.iter().cloned());
                texts = texts
                    .sql(&json("(s.now)", named(columns, &names)))
                    .text(&format!(" AS new{j}"));
            }
        }
        let read = read.text(" FROM ").sql(rows);
        let texts = texts.text(" FROM bloom_merge_rows AS s");
        let _read = self.session.keep(c"bloom_merge_rows", &read, &[]);
        exactly(|| self.session.keep(c"bloom_merge_gone", &texts, &[]))
    }

    /// Writes of rows that go how they refer to losers, as if they had been redirected. They are in bloom_merge_gone.
    pub fn note_gone(&self, child: &Child, references: &[&Reference]) {
        for (j, reference) in references.iter().enumerate() {
            let statement = Sql::new("INSERT INTO ")
                .sql(&self.audit.sql())
                .text(&format!(" (id, action, relation, reference, cluster, key, old, new) SELECT o.id{j}, 'redirect', "))
                .text(&oid(child.oid))
                .text(", ")
                .literal(&reference.name)
                .text(&format!(", o.cluster{j}, o.key, o.old{j}, o.new{j} FROM bloom_merge_gone AS o WHERE o.id{j} IS DISTINCT FROM NULL ORDER BY o.id{j}, o.key{j}"));
            self.session.run(&statement, &[]);
        }
    }
}
