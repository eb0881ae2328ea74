//! The records themselves: losers are deleted, and those that are kept get their values.

use std::ffi::{CStr, CString};

use linkage::merging::Rule;
use pgrx::pg_sys;

use super::changes::{oid, refuse_kept_back, told, MergeRun};
use super::child::Child;
use super::collisions::Uniqueness;
use super::references::Reference;
use super::subject::Subject;
use super::texts::{exactly, hash, json, key_text, row, stored};
use super::values::{Ruled, Valuation};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::sql::Sql;

/// The new values of the records that are kept: `id`, `keep`, and `v0`, `v1` ... of the columns that a rule decides.
pub const VALUES: &CStr = c"bloom_merge_values";

impl MergeRun<'_> {
    /// Deletes the losers. Where they refer to one another, it is written as if they had been redirected.
    ///
    /// Errors: as those of redirecting what triggers before the deletion point at them.
    pub fn delete(&self, indexes: &[Vec<Uniqueness>], drops: bool) {
        let subject = self.subject;
        let own: Vec<&Reference> = self.own_references();
        let mut rows = subject
            .from("c")
            .text(" JOIN bloom_merge_members AS m ON NOT m.kept AND ")
            .sql(&subject.key_is("c", "m.key"));
        for (j, reference) in own.iter().enumerate() {
            rows = reference.left_join(subject, rows, "c", j);
        }
        let table = self.own_child();
        let members = ["m.id", "m.no", "m.cluster", "m.name"];
        let gone = self.gone(table, subject.oid, &subject.columns, &own, &members, &rows);
        if let Some(child) = table {
            self.note_gone(child, &own);
        }
        let note = Sql::new("INSERT INTO ")
            .sql(&self.audit.sql())
            .text(" (id, action, relation, reference, cluster, key, old) SELECT o.id, 'delete', ")
            .text(&oid(subject.oid))
            .text(", ")
            .literal(subject.key_name())
            .text(", o.cluster, o.name, o.old FROM bloom_merge_gone AS o ORDER BY o.id, o.no");
        let noted = self.session.run(&note, &[]);
        if table.is_some() {
            let of_rows = Sql::new("UPDATE ")
                .sql(&self.audit.sql())
                .text(" AS e SET gone = d.entry, hash = NULL FROM bloom_merge_gone AS o JOIN ")
                .sql(&self.audit.sql())
                .text(" AS d ON d.id OPERATOR(pg_catalog.=) o.id AND d.action OPERATOR(pg_catalog.=) 'delete' AND d.key OPERATOR(pg_catalog.=) o.name WHERE e.relation OPERATOR(pg_catalog.=) ")
                // Not that of `d`: without statistics the server may join all entries of the table with each other by
                // it.
                .text(&oid(subject.oid))
                .text(" AND e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND e.gone IS NULL AND e.key OPERATOR(pg_catalog.=) o.key");
            self.session.run(&of_rows, &[]);
        }
        drop(gone);
        let statement = Sql::new("DELETE FROM ")
            .only(subject.oid)
            .text(" AS r USING bloom_merge_members AS m WHERE NOT m.kept AND ")
            .sql(&subject.key_is("r", "m.key"));
        // A trigger before the deletion may point rows at the losers, which foreign keys would then reach; and some
        // rows are redirected only when the losers are gone.
        let waits = self
            .children
            .iter()
            .zip(indexes)
            .any(|(child, uniquenesses)| {
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
        let deleted = told(&subject.name, "deleted", || {
            self.session.run_before_triggers(&statement, again)
        });
        if deleted != noted {
            refuse_kept_back(&subject.name, "deleted");
        }
    }

    fn has_delete_triggers(&self) -> bool {
        let tables: Vec<String> = self
            .subject
            .tree
            .iter()
            .map(|t| t.to_u32().to_string())
            .collect();
        let query = Sql::new("SELECT pg_catalog.count(*) FROM pg_catalog.pg_trigger AS t WHERE NOT t.tgisinternal AND t.tgtype OPERATOR(pg_catalog.&) 10::pg_catalog.int2 OPERATOR(pg_catalog.=) 10 AND t.tgrelid OPERATOR(pg_catalog.=) ANY ('{")
            .text(&tables.join(","))
            .text("}'::pg_catalog.oid[])");
        self.session.number(&query, &[]) > 0
    }

    fn own_references(&self) -> Vec<&Reference> {
        let all = self.children.iter().flat_map(|child| &child.references);
        all.filter(|reference| reference.own).collect()
    }

    /// Gives the records that are kept their values.
    pub fn update(&self, valuation: &Valuation<'_>, changed: u64) {
        let subject = self.subject;
        let rows = Sql::new("SELECT m.id, m.cluster, m.name, ")
            .sql(&row("r", subject.oid))
            .text(" AS was FROM bloom_merge_members AS m JOIN ")
            .sql(&subject.from("r"))
            .text(" ON ")
            .sql(&subject.key_is("r", "m.key"))
            .text(" WHERE m.kept");
        let rows = self.session.keep(c"bloom_merge_rows", &rows, &[]);
        let texts = Sql::new("SELECT s.id, s.cluster, s.name, ")
            .sql(&json("(s.was)", stored(&subject.columns)))
            .text(" AS old FROM bloom_merge_rows AS s");
        let texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        let note = Sql::new("INSERT INTO ")
            .sql(&self.audit.sql())
            .text(" (id, action, relation, reference, cluster, key, old) SELECT o.id, 'keep', ")
            .text(&oid(subject.oid))
            .text(", ")
            .literal(subject.key_name())
            .text(", o.cluster, o.name, o.old FROM bloom_merge_texts AS o ORDER BY o.id");
        self.session.run(&note, &[]);
        drop((rows, texts));
        if changed == 0 {
            return;
        }
        let set = decided(valuation).enumerate();
        let statement = Sql::new("UPDATE ")
            .only(subject.oid)
            .text(" AS r SET ")
            .list(set, |sql, (i, ruled)| {
                let name = &subject.columns[ruled.column].name;
                sql.name(name).text(&format!(" = v.v{i}"))
            })
            .text(" FROM bloom_merge_values AS v WHERE ")
            .sql(&subject.key_is("r", "v.keep"));
        let updated = told(&subject.name, "changed", || {
            self.session.run(&statement, &[])
        });
        if updated != changed {
            refuse_kept_back(&subject.name, "changed");
        }
        // As triggers after the change have left them.
        let rows = Sql::new("SELECT v.id, ")
            .sql(&row("r", subject.oid))
            .text(" AS now FROM bloom_merge_values AS v JOIN ")
            .sql(&subject.from("r"))
            .text(" ON ")
            .sql(&subject.key_is("r", "v.keep"));
        let _rows = self.session.keep(c"bloom_merge_rows", &rows, &[]);
        let table = self.own_child();
        let mut texts = Sql::new("SELECT s.id, ")
            .sql(&json("(s.now)", stored(&subject.columns)))
            .text(" AS new, ")
            .sql(&hash("s.now"))
            .text(" AS hash");
        if let Some(child) = table {
            texts = texts
                .text(", ")
                .sql(&key_text("(s.now)", &child.key))
                .text(" AS key");
        }
        let texts = texts.text(" FROM bloom_merge_rows AS s");
        let _texts = exactly(|| self.session.keep(c"bloom_merge_texts", &texts, &[]));
        let note = Sql::new("UPDATE ")
            .sql(&self.audit.sql())
            .text(" AS a SET new = u.new FROM bloom_merge_texts AS u WHERE a.id OPERATOR(pg_catalog.=) u.id AND a.action OPERATOR(pg_catalog.=) 'keep'");
        self.session.run(&note, &[]);
        if table.is_some() {
            // What was written of these records as rows that refer to others is about them as they are now.
            let refresh = Sql::new("UPDATE ")
                .sql(&self.audit.sql())
                .text(" AS e SET hash = u.hash FROM bloom_merge_texts AS u WHERE e.relation OPERATOR(pg_catalog.=) ")
                .text(&oid(subject.oid))
                .text(" AND e.action OPERATOR(pg_catalog.=) 'redirect' AND e.unmerged IS NULL AND e.gone IS NULL AND e.key OPERATOR(pg_catalog.=) u.key");
            self.session.run(&refresh, &[]);
        }
    }

    /// The table itself, where records refer to one another.
    fn own_child(&self) -> Option<&Child> {
        let mut children = self.children.iter();
        children.find(|child| child.references.iter().any(|r| r.own))
    }
}

/// The columns that a rule may change.
pub fn decided<'a>(valuation: &'a Valuation<'_>) -> impl Iterator<Item = &'a Ruled> {
    valuation
        .ruled
        .iter()
        .filter(|ruled| ruled.rule != Rule::Keep)
}

/// The store of [`VALUES`].
pub fn value_store(subject: &Subject, valuation: &Valuation<'_>) -> TupleStore {
    let names: Vec<CString> = (0..decided(valuation).count())
        .map(|i| CString::new(format!("v{i}")).unwrap_or_default())
        .collect();
    let types = decided(valuation).map(|ruled| StoreColumn {
        // An assignment takes care of it.
        typmod: -1,
        ..subject.columns[ruled.column].store
    });
    let before = [
        (c"id", StoreColumn::plain(pg_sys::INT8OID)),
        (c"keep", subject.key_type),
    ];
    let all: Vec<(&CStr, StoreColumn)> = before
        .into_iter()
        .chain(names.iter().map(CString::as_c_str).zip(types))
        .collect();
    TupleStore::new(all.into_iter())
}
