//! Rows of a child that could not all be redirected, since a unique index or an exclusion constraint would have two of
//! them alike.

pub mod image;
pub mod reach;

use std::ffi::{CStr, CString};
use std::rc::Rc;

use base::Error;
use image::Image;
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::merging::changes::{refuse_kept_back, with_reason, MergeRun};
use crate::merging::child::Child;
use crate::merging::references::{array, name_of, oid, text_of, Reference};
use crate::merging::subject::{text, Subject};
use pg::error::{raise, sql_error};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::{QueryRow, Session};
use pg::sql;
use pg::sql::Sql;

/// A column of an index, as it is compared.
struct IndexColumn {
    /// As the server writes it: a name or an expression.
    expression: Vec<u8>,
    operator: (CString, CString),
    collation: pg_sys::Oid,
}

/// An index that does not take two rows alike.
pub struct Uniqueness {
    /// The index, and so the constraint, if it is one.
    pub name: CString,
    compared: Vec<IndexColumn>,
    predicate: Option<Vec<u8>>,
    /// Two NULLs are alike.
    nulls_alike: bool,
    /// Which rows are in it, if it is one of a partition.
    partition: Option<Vec<u8>>,
    /// It is computed from whole rows, as they are and not as they will be.
    of_whole_rows: bool,
    image: Rc<Image>,
}

/// Whether what an index or a partition goes by changes; `None` is an expression, which has no column.
fn is_changed(image: &Image, name: Option<&CStr>) -> bool {
    name.is_none_or(|name| {
        image
            .changed
            .iter()
            .any(|changed| changed.as_c_str() == name)
    })
}

/// Whether rows may come into another partition.
fn moves(image: &Image, session: &Session) -> bool {
    let tables = array(&image.tree);
    let query = sql!(
        "SELECT a.attname FROM pg_catalog.pg_partitioned_table AS p \
        CROSS JOIN LATERAL pg_catalog.unnest(p.partattrs) AS k (number) LEFT JOIN pg_catalog.pg_attribute AS a \
        ON a.attrelid OPERATOR(pg_catalog.=) p.partrelid AND a.attnum OPERATOR(pg_catalog.=) k.number \
        AND k.number OPERATOR(pg_catalog.>) 0 WHERE p.partrelid OPERATOR(pg_catalog.=) ANY ({tables})"
    );
    let mut moves = false;
    session.each(&query, &[], |row| moves |= is_changed(image, row.name(0)));
    moves
}

/// The indexes of a child that redirecting its references may offend.
pub fn of_child(child: &Child, session: &Session) -> Vec<Uniqueness> {
    let image = Rc::new(Image::new(child, session));
    let moves = moves(&image, session);
    let (of_child, tables) = (oid(child.oid), array(&image.tree));
    let query = sql!(
        "SELECT i.indexrelid, x.relname, pg_catalog.pg_get_indexdef(i.indexrelid, p.place::pg_catalog.int4, false), \
        o.oprname, n.nspname, COALESCE(p.ordered_by, 0::pg_catalog.oid), \
        pg_catalog.pg_get_expr(i.indpred, i.indrelid), i.indnullsnotdistinct, a.attname, \
        CASE WHEN i.indrelid OPERATOR(pg_catalog.<>) {of_child} \
            THEN pg_catalog.pg_get_partition_constraintdef(i.indrelid) END, \
        pg_catalog.strpos(pg_catalog.concat(i.indexprs, i.indpred), ':varattno 0 ') OPERATOR(pg_catalog.>) 0 \
        FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid \
        LEFT JOIN pg_catalog.pg_constraint AS c ON c.conindid OPERATOR(pg_catalog.=) i.indexrelid \
            AND c.contype OPERATOR(pg_catalog.=) ANY ('{{p,u,x}}'::\"char\"[]) \
        CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(i.indkey), pg_catalog.unnest(i.indclass), \
            pg_catalog.unnest(i.indcollation), pg_catalog.unnest(c.conexclop)) \
            WITH ORDINALITY AS p (number, class, ordered_by, excluded, place) \
        JOIN pg_catalog.pg_opclass AS k ON k.oid OPERATOR(pg_catalog.=) p.class \
        LEFT JOIN pg_catalog.pg_amop AS m ON m.amopfamily OPERATOR(pg_catalog.=) k.opcfamily \
            AND m.amoplefttype OPERATOR(pg_catalog.=) k.opcintype \
            AND m.amoprighttype OPERATOR(pg_catalog.=) k.opcintype \
            AND m.amopstrategy OPERATOR(pg_catalog.=) 3 AND p.excluded IS NULL \
        JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) COALESCE(p.excluded, m.amopopr) \
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace \
        LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid \
            AND a.attnum OPERATOR(pg_catalog.=) p.number \
        WHERE (i.indisunique OR i.indisexclusion) AND i.indislive \
        AND (i.indisvalid OR x.relkind OPERATOR(pg_catalog.<>) 'I') AND NOT EXISTS (SELECT \
            FROM pg_catalog.pg_partition_ancestors(i.indexrelid) AS u (oid) \
            JOIN pg_catalog.pg_index AS v ON v.indexrelid OPERATOR(pg_catalog.=) u.oid \
            WHERE v.indexrelid OPERATOR(pg_catalog.<>) i.indexrelid AND v.indisvalid) \
        AND i.indrelid OPERATOR(pg_catalog.=) ANY ({tables}) ORDER BY x.relname, i.indexrelid, p.place"
    );
    let mut found: Vec<(Uniqueness, bool)> = Vec::new();
    let mut last = pg_sys::InvalidOid;
    session.each(&query, &[], |row| {
        if row.oid(0) != last {
            last = row.oid(0);
            let predicate = text_of(row, 6);
            let partition = text_of(row, 9);
            let touched = predicate.is_some() || partition.is_some() && moves;
            let uniqueness = Uniqueness {
                name: name_of(row, 1),
                compared: Vec::new(),
                predicate,
                nulls_alike: row.is_true(7),
                partition,
                of_whole_rows: row.is_true(10),
                image: image.clone(),
            };
            found.push((uniqueness, touched));
        }
        let Some((uniqueness, touched)) = found.last_mut() else {
            return;
        };
        *touched |= is_changed(&image, row.name(8));
        uniqueness.compared.push(IndexColumn {
            expression: text_of(row, 2).unwrap_or_default(),
            operator: (name_of(row, 4), name_of(row, 3)),
            collation: row.oid(5),
        });
    });
    let touched = found.into_iter().filter(|(_, touched)| *touched);
    touched.map(|(uniqueness, _)| uniqueness).collect()
}

impl Uniqueness {
    /// Why it cannot be known which rows would be alike.
    pub fn obstacle(&self, child: &Child) -> Option<Error> {
        self.of_whole_rows.then(|| {
            let code = PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED;
            let table = &child.name;
            sql_error(code, format!("cannot redirect references of table \"{table}\""))
                .detail(format!(
                    "Index \"{}\" is computed from whole rows, so that it is not known which ones would collide.",
                    text(&self.name)
                ))
                .hint("Drop the index, or name the columns in its expression.")
        })
    }

    /// A query of the rows that would have to go: `no`, `place` (tableoid), `at` (ctid), `gone` and `stays`, the
    /// primary keys of the row and of the one that it is like, and `firm`: the other one does not change, so that it
    /// stays.
    /// The number is the least of the clusters without which the two would not be alike, so that the row can come back
    /// when that one is taken back. A row that refers to the record that is kept stays; of those that are redirected,
    /// the one with the least key as text.
    pub fn query(&self, child: &Child, subject: &Subject) -> Sql {
        let prefix = &self.image.prefix;
        let references = 0..child.references.len();
        let of_references = (references.clone())
            .map(|j| sql!(", i.{prefix}no{j} AS no{j}, i.{prefix}was{j} AS was{j}"));
        let compared = self.compared.iter().enumerate().map(|(n, compared)| {
            let expression = Sql::new("").expression(&compared.expression);
            sql!(", ({expression}) AS x{n}")
        });
        let conditions = self
            .predicate
            .iter()
            .chain(&self.partition)
            .map(|condition| {
                let condition = Sql::new("").expression(condition);
                sql!(" AND ({condition})")
            });
        let columns = Sql::join(of_references.chain(compared), "");
        let (conditions, rows) = (Sql::join(conditions, ""), self.image.sql(child, subject));
        let keyed = sql!(
            "(SELECT i.tableoid AS place, i.ctid AS at, i.{prefix}key AS key, i.{prefix}no AS no{columns} \
            FROM {rows} AS i WHERE true{conditions})"
        );
        let causes = references.map(|j| {
            sql!("CASE WHEN a.was{j} OPERATOR(pg_catalog.<>) b.was{j} THEN COALESCE(a.no{j}, b.no{j}) END, ")
        });
        let alike = self.compared.iter().enumerate().map(|(n, compared)| {
            let nulls = match self.nulls_alike {
                true => sql!(
                    " OR a.x{n} IS NOT DISTINCT FROM NULL AND b.x{n} IS NOT DISTINCT FROM NULL"
                ),
                false => Sql::new(""),
            };
            let collate = Sql::new("").collate(compared.collation);
            sql!("(a.x{n}{collate} {compared.operator} b.x{n}{nulls})")
        });
        let (causes, alike) = (Sql::join(causes, ""), Sql::join(alike, " AND "));
        sql!(
            "SELECT COALESCE(LEAST({causes}NULL), a.no) AS no, a.place, a.at, a.key AS gone, b.key AS stays, \
            b.no IS NOT DISTINCT FROM NULL AS firm FROM {keyed} AS a JOIN {keyed} AS b ON {alike} \
            AND a.key OPERATOR(pg_catalog.<>) b.key WHERE a.no IS DISTINCT FROM NULL \
            AND (b.no IS NOT DISTINCT FROM NULL OR b.key OPERATOR(pg_catalog.<) a.key)"
        )
    }
}

/// Where the rows are that would have to go because of any of the indexes: `place` and `at`.
pub fn places(indexes: &[Uniqueness], child: &Child, subject: &Subject) -> Sql {
    let all = indexes.iter().map(|index| index.query(child, subject));
    let all = Sql::join(all, " UNION ALL ");
    sql!("(SELECT u.place, u.at FROM ({all}) AS u GROUP BY u.place, u.at)")
}

// Rows of a child that are deleted, since they would collide.

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
