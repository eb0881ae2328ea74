//! The records themselves: losers are deleted, and those that are kept get their values.

use std::ffi::{CStr, CString};

use linkage::merging::Rule;
use pgrx::pg_sys;

use super::changes::{refuse_kept_back, with_reason, MergeRun};
use super::child::Child;
use super::collisions::Uniqueness;
use super::references::{array, left_joins, oid, Reference};
use super::subject::Subject;
use super::texts::{exactly, hash, json, row, stored};
use super::values::{Ruled, Valuation};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::sql;
use pg::sql::{literal, Sql};

/// The new values of the records that are kept: `id`, `keep`, and `v0`, `v1` ... of the columns that a rule decides.
pub const VALUES: &CStr = c"bloom_merge_values";

impl MergeRun<'_> {
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
}

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
