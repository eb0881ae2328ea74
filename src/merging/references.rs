//! What points to the records: foreign keys, and columns that the caller names.

use std::cell::OnceCell;
use std::ffi::CString;

use pgrx::pg_sys;

use super::narrow::Narrow;
use super::subject::{text, Subject};
use pg::relation;
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::QueryRow;
use pg::session::Session;
use pg::sql::Sql;

/// A referencing column, and the one that it refers to.
pub struct Referring {
    pub child: CString,
    pub referenced: CString,
    /// The operator of the referenced and the referencing value; `None` compares and sets texts.
    pub equal: Option<(CString, CString)>,
    /// By which both are compared, where the collations of the columns are not the same one.
    pub collation: pg_sys::Oid,
    /// The referencing column cannot have all values of the other.
    pub narrow: Option<Narrow>,
}

/// What points to records of the table.
pub struct Reference {
    pub child: pg_sys::Oid,
    /// The constraint, or the column that was named.
    pub name: CString,
    pub pairs: Vec<Referring>,
    /// A foreign key, and what it does when a row is deleted: as pg_constraint says it.
    pub on_delete: Option<u8>,
    /// The same when a referenced value changes.
    pub on_update: Option<u8>,
    /// It is looked at when the transaction ends.
    pub deferred: bool,
    /// The child is the table itself.
    pub own: bool,
    /// A partition to which it refers, with those below it, as an array of OIDs; the same value in another partition is
    /// not what it means.
    pub part: Option<String>,
    /// The table of the statement that has the map, once the losers are deleted.
    pub stored: OnceCell<CString>,
}

impl Reference {
    /// Whether the server would delete or change children of a row that is deleted.
    pub fn reaches_children(&self) -> bool {
        self.on_delete
            .is_some_and(|action| b"cnd".contains(&action))
    }

    /// Whether a column may be too narrow for a value of what it refers to.
    pub fn is_narrow(&self) -> bool {
        self.pairs.iter().any(|pair| pair.narrow.is_some())
    }

    /// A subquery of the losers: `no`, `id`, `cluster`, `key` and `name` (of the loser, and as text), for each pair the
    /// old and new value `o1`, `n1` ...
    pub fn map(&self, subject: &Subject) -> Sql {
        if let Some(stored) = self.stored.get() {
            return Sql::new("(SELECT * FROM ").name(stored).text(")");
        }
        let mut sql = Sql::new("(SELECT m.no, m.id, m.cluster, m.key, m.keep, m.name");
        let by_key = self.is_by_key(subject);
        for (i, pair) in self.pairs.iter().enumerate() {
            let old = Sql::new("l.").name(&pair.referenced);
            let new = match by_key {
                true => Sql::new("m.keep"),
                false => Sql::new("s.").name(&pair.referenced),
            };
            // A text refers to a key.
            let (old, new) = match pair.equal {
                Some(_) => (old, new),
                None => (Sql::new("m.name"), Sql::new("m.keep_name")),
            };
            sql = sql
                .text(", ")
                .sql(&old)
                .text(&format!(" AS o{i}, "))
                .sql(&new)
                .text(&format!(" AS n{i}"));
        }
        // The old value is known, too, but the table has statistics of it: without them the server makes hash tables of
        // the children, NULLs and all.
        sql = sql
            .text(" FROM bloom_merge_members AS m JOIN ")
            .sql(&subject.from("l"))
            .text(" ON ")
            .sql(&subject.key_is("l", "m.key"))
            .sql(&self.within("l"));
        if !by_key {
            // What is kept in another partition has no value that they could refer to.
            let join = self.part.as_ref().map_or(" JOIN ", |_| " LEFT JOIN ");
            sql = sql
                .text(join)
                .sql(&subject.from("s"))
                .text(" ON ")
                .sql(&subject.key_is("s", "m.keep"))
                .sql(&self.within("s"));
        }
        sql.text(" WHERE NOT m.kept)")
    }

    /// The further condition that rows of the referenced table under an alias are in the partition that it refers to.
    pub fn within(&self, alias: &str) -> Sql {
        self.part.as_ref().map_or(Sql::new(""), |part| {
            Sql::new(" AND ")
                .text(alias)
                .text(".tableoid OPERATOR(pg_catalog.=) ANY (")
                .text(part)
                .text(")")
        })
    }

    /// Why rows cannot refer to the record that is kept.
    pub fn no_target(&self) -> String {
        let name = text(&self.name);
        match self.part {
            None if self.is_narrow() => format!("The record that is kept has NULL where \"{name}\" refers to, or a value that the column that refers to it cannot have."),
            None => format!("The record that is kept has NULL where \"{name}\" refers to."),
            Some(_) => format!("The record that is kept is not in the partition that \"{name}\" refers to, or has NULL there."),
        }
    }

    /// Whether both say the same of the same columns.
    pub fn is_like(&self, other: &Reference) -> bool {
        let pairs = self.pairs.iter().zip(&other.pairs);
        self.part == other.part && self.pairs.len() == other.pairs.len() && { pairs }
            .all(|(a, b)| a.child == b.child && a.referenced == b.referenced)
    }

    /// The rows of the map.
    pub fn store(&self, subject: &Subject, session: &Session) -> TupleStore {
        let mut columns = vec![
            (c"no".to_owned(), StoreColumn::plain(pg_sys::INT8OID)),
            (c"id".to_owned(), StoreColumn::plain(pg_sys::INT8OID)),
            (c"cluster".to_owned(), StoreColumn::plain(pg_sys::TEXTOID)),
            (c"key".to_owned(), subject.key_type),
            (c"keep".to_owned(), subject.key_type),
            (c"name".to_owned(), StoreColumn::plain(pg_sys::TEXTOID)),
        ];
        let text = StoreColumn::plain(pg_sys::TEXTOID);
        for (i, pair) in self.pairs.iter().enumerate() {
            let referenced = subject.columns.iter().find(|c| c.name == pair.referenced);
            let of_value = match &pair.equal {
                Some(_) => referenced.map_or(text, |column| column.store),
                None => text,
            };
            for side in ["o", "n"] {
                let name = CString::new(format!("{side}{i}")).unwrap_or_default();
                columns.push((name, of_value));
            }
        }
        let columns = columns.iter().map(|(name, of)| (name.as_c_str(), *of));
        let width = columns.len();
        let mut store = session.aside(|| TupleStore::new(columns));
        let query = Sql::new("SELECT * FROM ")
            .sql(&self.map(subject))
            .text(" AS g");
        session.each(&query, &[], |row| {
            store.put(&(0..width).map(|i| row.datum(i)).collect::<Vec<_>>())
        });
        store
    }

    /// Whether it refers to the keys by which the clusters name records, which are known without a look at the table.
    pub fn is_by_key(&self, subject: &Subject) -> bool {
        let mut pairs = self.pairs.iter();
        self.part.is_none() && pairs.all(|pair| pair.referenced.as_c_str() == subject.key_name())
    }

    /// The condition that a row of the child under an alias refers to a row of the map under another.
    pub fn refers(&self, child: &str, map: &str) -> Sql {
        let mut sql = Sql::new("");
        for (i, pair) in self.pairs.iter().enumerate() {
            let old = format!("{}{map}.o{i} ", if i > 0 { " AND " } else { "" });
            sql = sql.text(&old);
            sql = match &pair.equal {
                Some((schema, name)) => sql
                    .text("OPERATOR(")
                    .name(schema)
                    .text(".")
                    .text(&name.to_string_lossy())
                    .text(") ")
                    .text(child)
                    .text(".")
                    .name(&pair.child)
                    .collate(pair.collation),
                None => sql
                    .text(
                        "COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) pg_catalog.format('%s', ",
                    )
                    .text(child)
                    .text(".")
                    .name(&pair.child)
                    .text(")"),
            };
        }
        sql
    }

    /// A query of how many rows refer to each loser: `no`, `cluster`, `key`, their number, whether the record that is
    /// kept has NULL where they would refer to, and its key. Rows that go themselves do not count.
    pub fn counts(&self, subject: &Subject) -> Sql {
        let mut nulls = Sql::new("false");
        for i in 0..self.pairs.len() {
            nulls = nulls.text(&format!(" OR g.n{i} IS NOT DISTINCT FROM NULL"));
            if let Some(narrow) = &self.pairs[i].narrow {
                nulls = nulls.text(" OR ").sql(&narrow.lacks(&format!("g.n{i}")));
            }
        }
        let sql =
            Sql::new("SELECT g.no, g.cluster, g.key, pg_catalog.count(*), pg_catalog.bool_or(")
                .sql(&nulls)
                .text("), g.keep FROM ")
                .sql(&self.map(subject))
                .text(" AS g JOIN ")
                .sql(&self.from("c"))
                .text(" ON ")
                .sql(&self.refers("c", "g"));
        self.without_losers(subject, sql, " WHERE ")
            .text(" GROUP BY g.no, g.cluster, g.key, g.keep ORDER BY g.no, g.key")
    }

    /// Joins what rows of the child under an alias refer to, as `g` and the number of the reference.
    pub fn left_join(&self, subject: &Subject, sql: Sql, child: &str, number: usize) -> Sql {
        let map = format!("g{number}");
        sql.text(" LEFT JOIN ")
            .sql(&self.map(subject))
            .text(&format!(" AS {map} ON "))
            .sql(&self.refers(child, &map))
    }

    /// Leaves out rows `c` of the table itself that go.
    pub fn without_losers(&self, subject: &Subject, sql: Sql, and: &str) -> Sql {
        match self.own {
            false => sql,
            true => sql
                .text(and)
                .text("NOT EXISTS (SELECT FROM bloom_merge_members AS w WHERE NOT w.kept AND ")
                .sql(&subject.key_is("c", "w.key"))
                .text(")"),
        }
    }

    /// `FROM`-item of the child under an alias.
    pub fn from(&self, alias: &str) -> Sql {
        Sql::new("").only(self.child).text(" AS ").text(alias)
    }
}

pub fn name_of(row: QueryRow<'_>, i: usize) -> CString {
    row.name(i)
        .expect("names of catalogs are not NULL")
        .to_owned()
}

/// A partition of a locked table, with those below it, as an array.
fn oids(part: pg_sys::Oid) -> String {
    // SAFETY: it was locked with the table that it is part of.
    let tree = unsafe { relation::with_inheritors(part, pg_sys::NoLock) };
    array(&tree)
}

/// Tables as an array of SQL.
pub fn array(tables: &[pg_sys::Oid]) -> String {
    let numbers: Vec<String> = tables.iter().map(|t| t.to_u32().to_string()).collect();
    format!("'{{{}}}'::pg_catalog.oid[]", numbers.join(","))
}

/// The foreign keys that point to the table or its partitions, each once: of those that partitions have because of
/// their parents, only the parents'.
pub fn foreign_keys(tree: &[pg_sys::Oid], session: &Session) -> Vec<Reference> {
    let query = Sql::new("WITH RECURSIVE up (oid, parent) AS (SELECT c.oid, c.conparentid FROM pg_catalog.pg_constraint AS c WHERE c.contype OPERATOR(pg_catalog.=) 'f' AND c.confrelid OPERATOR(pg_catalog.=) ANY (")
        .text(&array(tree))
        .text(") UNION ALL SELECT c.oid, c.conparentid FROM up JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) up.parent) \
            SELECT c.oid, c.conname, c.conrelid, c.confdeltype, a.attname, b.attname, o.oprname, n.nspname, c.confupdtype, c.confrelid, c.condeferred, a.atttypid, b.atttypid, a.atttypmod, b.atttypmod, b.attcollation, \
                CASE WHEN a.attcollation OPERATOR(pg_catalog.=) b.attcollation THEN 0::pg_catalog.oid WHEN l.exact THEN a.attcollation ELSE b.attcollation END \
            FROM (SELECT DISTINCT up.oid FROM up WHERE up.parent OPERATOR(pg_catalog.=) 0::pg_catalog.oid) AS u \
            JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) u.oid \
            JOIN pg_catalog.pg_class AS k ON k.oid OPERATOR(pg_catalog.=) c.conrelid JOIN pg_catalog.pg_namespace AS s ON s.oid OPERATOR(pg_catalog.=) k.relnamespace \
            CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey), pg_catalog.unnest(c.conpfeqop)) WITH ORDINALITY AS p (child, referenced, operator, i) \
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid AND a.attnum OPERATOR(pg_catalog.=) p.child \
            JOIN pg_catalog.pg_attribute AS b ON b.attrelid OPERATOR(pg_catalog.=) c.confrelid AND b.attnum OPERATOR(pg_catalog.=) p.referenced \
            JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) p.operator JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace \
            CROSS JOIN LATERAL (SELECT pg_catalog.bool_and(y.collisdeterministic) FROM pg_catalog.pg_collation AS y WHERE y.oid OPERATOR(pg_catalog.=) ANY (ARRAY[a.attcollation, b.attcollation])) AS l (exact) \
            ORDER BY s.nspname, k.relname, c.conname, c.oid, p.i");
    let (mut found, mut last) = (Vec::<Reference>::new(), pg_sys::InvalidOid);
    session.each(&query, &[], |row| {
        let modifier = |i: usize| row.datum(i).map_or(-1, |m| m.value() as i32);
        let equal = (name_of(row, 7), name_of(row, 6));
        let pair = Referring {
            child: name_of(row, 4),
            referenced: name_of(row, 5),
            equal: Some(equal.clone()),
            // Any that takes only equal bytes as equal says the same; that of the referencing column is that of its
            // indexes.
            collation: row.oid(16),
            narrow: Narrow::of(
                (row.oid(11), modifier(13)),
                (row.oid(12), modifier(14)),
                equal,
                row.oid(15),
            ),
        };
        if row.oid(0) != last {
            last = row.oid(0);
            let child = row.oid(2);
            let part = row.oid(9);
            let part = tree
                .first()
                .is_some_and(|&whole| whole != part)
                .then(|| oids(part));
            found.push(Reference {
                child,
                name: name_of(row, 1),
                pairs: Vec::new(),
                on_delete: row.datum(3).map(|action| action.value() as u8),
                on_update: row.datum(8).map(|action| action.value() as u8),
                deferred: row.is_true(10),
                own: tree.contains(&child),
                part,
                stored: OnceCell::new(),
            });
        }
        if let Some(reference) = found.last_mut() {
            reference.pairs.push(pair);
        }
    });
    found
}
