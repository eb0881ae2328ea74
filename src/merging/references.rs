//! What points to the records: foreign keys, and columns that the caller names.

use std::cell::OnceCell;
use std::ffi::CString;

use pgrx::pg_sys;

use super::subject::{text, Subject};
use pg::catalog::{self, operators};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::{QueryRow, Session};
use pg::sql::Sql;
use pg::{relation, sql};

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
            return sql!("(SELECT * FROM {stored})");
        }
        let by_key = self.is_by_key(subject);
        let values = self.pairs.iter().enumerate().map(|(i, pair)| {
            let name = &pair.referenced;
            let (old, new) = match (&pair.equal, by_key) {
                // A text refers to a key.
                (None, _) => (sql!("m.name"), sql!("m.keep_name")),
                (Some(_), true) => (sql!("l.{name}"), sql!("m.keep")),
                (Some(_), false) => (sql!("l.{name}"), sql!("s.{name}")),
            };
            sql!(", {old} AS o{i}, {new} AS n{i}")
        });
        let values = Sql::join(values, "");
        let joined = |join: &str, alias: &str, key: &str| {
            let (record, is_it) = (subject.from(alias), subject.key_is(alias, key));
            let within = self.within(alias);
            sql!("{join} {record} ON {is_it}{within}")
        };
        // The old value is known, too, but the table has statistics of it: without them the server makes hash tables of
        // the children, NULLs and all.
        let loser = joined("JOIN", "l", "m.key");
        let kept = match (by_key, &self.part) {
            (true, _) => Sql::new(""),
            (false, None) => joined(" JOIN", "s", "m.keep"),
            // What is kept in another partition has no value that they could refer to.
            (false, Some(_)) => joined(" LEFT JOIN", "s", "m.keep"),
        };
        sql!(
            "(SELECT m.no, m.id, m.cluster, m.key, m.keep, m.name{values} \
            FROM bloom_merge_members AS m {loser}{kept} WHERE NOT m.kept)"
        )
    }

    /// The further condition that rows of the referenced table under an alias are in the partition that it refers to.
    pub fn within(&self, alias: &str) -> Sql {
        self.part.as_ref().map_or(Sql::new(""), |part| {
            sql!(" AND {alias}.tableoid OPERATOR(pg_catalog.=) ANY ({part})")
        })
    }

    /// Why rows cannot refer to the record that is kept.
    pub fn no_target(&self) -> String {
        let name = text(&self.name);
        match self.part {
            None if self.is_narrow() => format!("The record that is kept has NULL where \"{name}\" refers to, or a \
                value that the column that refers to it cannot have."),
            None => format!("The record that is kept has NULL where \"{name}\" refers to."),
            Some(_) => format!("The record that is kept is not in the partition that \"{name}\" refers to, or has \
                NULL there."),
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
        let [int8, text] = [pg_sys::INT8OID, pg_sys::TEXTOID].map(StoreColumn::plain);
        let mut columns = vec![
            (c"no".to_owned(), int8),
            (c"id".to_owned(), int8),
            (c"cluster".to_owned(), text),
            (c"key".to_owned(), subject.key_type),
            (c"keep".to_owned(), subject.key_type),
            (c"name".to_owned(), text),
        ];
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
        let mut store = session.in_callers_memory(|| TupleStore::new(columns));
        let map = self.map(subject);
        let query = sql!("SELECT * FROM {map} AS g");
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

    /// The values of rows under an alias that it refers to, as `o0`, `o1` ...
    pub fn referenced(&self, alias: &str) -> Sql {
        let values = self.pairs.iter().enumerate();
        let values = values.map(|(i, pair)| sql!("{alias}.{pair.referenced} AS o{i}"));
        Sql::join(values, ", ")
    }

    /// The condition that a row of the child under an alias refers to a row of the map under another.
    pub fn refers(&self, child: &str, map: &str) -> Sql {
        let conditions = self.pairs.iter().enumerate().map(|(i, pair)| {
            let value = sql!("{child}.{pair.child}");
            match &pair.equal {
                Some(equal) => sql!("{map}.o{i} {equal} {value}").collate(pair.collation),
                None => sql!(
                    "{map}.o{i} COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) pg_catalog.format('%s', {value})"
                ),
            }
        });
        Sql::join(conditions, " AND ")
    }

    /// What follows FROM for rows of the child as `c` with what they refer to in the map as `g`.
    pub fn referring(&self, subject: &Subject) -> Sql {
        let (child, map, refers) = (self.from("c"), self.map(subject), self.refers("c", "g"));
        sql!("{child} JOIN {map} AS g ON {refers}")
    }

    /// The same without rows of the table itself that go.
    pub fn redirected(&self, subject: &Subject) -> Sql {
        let rows = self.referring(subject);
        match self.own {
            false => rows,
            true => rows.sql(&without_losers(subject)),
        }
    }

    /// A query of how many rows refer to each loser: `no`, `cluster`, `key`, their number, whether the record that is
    /// kept has NULL where they would refer to, and its key. Rows that go themselves do not count.
    pub fn counts(&self, subject: &Subject) -> Sql {
        let nulls = self.pairs.iter().enumerate().map(|(i, pair)| {
            let narrow = pair.narrow.as_ref();
            let lacks = narrow.map_or(Sql::new(""), |narrow| {
                Sql::new(" OR ").sql(&narrow.lacks(&format!("g.n{i}")))
            });
            sql!(" OR g.n{i} IS NOT DISTINCT FROM NULL{lacks}")
        });
        let (nulls, rows) = (Sql::join(nulls, ""), self.redirected(subject));
        sql!(
            "SELECT g.no, g.cluster, g.key, pg_catalog.count(*), pg_catalog.bool_or(false{nulls}), g.keep FROM {rows} \
            GROUP BY g.no, g.cluster, g.key, g.keep ORDER BY g.no, g.key"
        )
    }

    /// Joins what rows under an alias refer to, as `g` and the number of the reference.
    pub fn left_join(&self, subject: &Subject, child: &str, number: usize) -> Sql {
        let map = self.map(subject);
        let refers = self.refers(child, &format!("g{number}"));
        sql!(" LEFT JOIN {map} AS g{number} ON {refers}")
    }

    /// `FROM`-item of the child under an alias.
    pub fn from(&self, alias: &str) -> Sql {
        let child = Sql::new("").only(self.child);
        sql!("{child} AS {alias}")
    }
}

/// Joins what rows under an alias refer to by each of the references, as `g0`, `g1` ...
pub fn left_joins(references: &[&Reference], subject: &Subject, child: &str) -> Sql {
    let all = references.iter().enumerate();
    Sql::join(
        all.map(|(j, reference)| reference.left_join(subject, child, j)),
        "",
    )
}

/// Leaves out records `c` that go.
pub fn without_losers(subject: &Subject) -> Sql {
    let is_it = subject.key_is("c", "w.key");
    sql!(" WHERE NOT EXISTS (SELECT FROM bloom_merge_members AS w WHERE NOT w.kept AND {is_it})")
}

/// A text of a row.
pub fn text_of(row: QueryRow<'_>, i: usize) -> Option<Vec<u8>> {
    row.bytes(i).map(|text| text.bytes().to_vec())
}

/// A name of a row.
pub fn name_of(row: QueryRow<'_>, i: usize) -> CString {
    row.name(i)
        .expect("names of catalogs are not NULL")
        .to_owned()
}

/// A partition of a locked table, with those below it, as an array.
fn oids(part: pg_sys::Oid) -> String {
    // SAFETY: it was locked with the table that it is part of.
    array(&unsafe { relation::with_inheritors(part, pg_sys::NoLock) })
}

/// Tables as an array of SQL.
pub fn array(tables: &[pg_sys::Oid]) -> String {
    let numbers: Vec<String> = tables.iter().map(|t| t.to_u32().to_string()).collect();
    format!("'{{{}}}'::pg_catalog.oid[]", numbers.join(","))
}

/// An OID as SQL writes it.
pub fn oid(of: pg_sys::Oid) -> String {
    format!("{}::pg_catalog.oid", of.to_u32())
}

/// The foreign keys that point to the table or its partitions, each once: of those that partitions have because of
/// their parents, only the parents'.
pub fn foreign_keys(tree: &[pg_sys::Oid], session: &Session) -> Vec<Reference> {
    let tables = array(tree);
    let query = sql!(
        "WITH RECURSIVE up (oid, parent) AS (SELECT c.oid, c.conparentid FROM pg_catalog.pg_constraint AS c \
            WHERE c.contype OPERATOR(pg_catalog.=) 'f' AND c.confrelid OPERATOR(pg_catalog.=) ANY ({tables}) \
            UNION ALL SELECT c.oid, c.conparentid FROM up \
            JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) up.parent) \
        SELECT c.oid, c.conname, c.conrelid, c.confdeltype, a.attname, b.attname, o.oprname, n.nspname, \
            c.confupdtype, c.confrelid, c.condeferred, a.atttypid, b.atttypid, a.atttypmod, b.atttypmod, \
            b.attcollation, CASE WHEN a.attcollation OPERATOR(pg_catalog.=) b.attcollation THEN 0::pg_catalog.oid \
            WHEN l.exact THEN a.attcollation ELSE b.attcollation END \
        FROM (SELECT DISTINCT up.oid FROM up WHERE up.parent OPERATOR(pg_catalog.=) 0::pg_catalog.oid) AS u \
        JOIN pg_catalog.pg_constraint AS c ON c.oid OPERATOR(pg_catalog.=) u.oid \
        JOIN pg_catalog.pg_class AS k ON k.oid OPERATOR(pg_catalog.=) c.conrelid \
        JOIN pg_catalog.pg_namespace AS s ON s.oid OPERATOR(pg_catalog.=) k.relnamespace \
        CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey), \
            pg_catalog.unnest(c.conpfeqop)) WITH ORDINALITY AS p (child, referenced, operator, i) \
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.conrelid \
            AND a.attnum OPERATOR(pg_catalog.=) p.child \
        JOIN pg_catalog.pg_attribute AS b ON b.attrelid OPERATOR(pg_catalog.=) c.confrelid \
            AND b.attnum OPERATOR(pg_catalog.=) p.referenced \
        JOIN pg_catalog.pg_operator AS o ON o.oid OPERATOR(pg_catalog.=) p.operator \
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) o.oprnamespace \
        CROSS JOIN LATERAL (SELECT pg_catalog.bool_and(y.collisdeterministic) FROM pg_catalog.pg_collation AS y \
            WHERE y.oid OPERATOR(pg_catalog.=) ANY (ARRAY[a.attcollation, b.attcollation])) AS l (exact) \
        ORDER BY s.nspname, k.relname, c.conname, c.oid, p.i"
    );
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
            narrow: Narrow::new(
                (row.oid(11), modifier(13)),
                (row.oid(12), modifier(14)),
                equal,
                row.oid(15),
            ),
        };
        if row.oid(0) != last {
            last = row.oid(0);
            let (child, part) = (row.oid(2), row.oid(9));
            let is_part = tree.first().is_some_and(|&whole| whole != part);
            found.push(Reference {
                child,
                name: name_of(row, 1),
                pairs: Vec::new(),
                on_delete: row.datum(3).map(|action| action.value() as u8),
                on_update: row.datum(8).map(|action| action.value() as u8),
                deferred: row.is_true(10),
                own: tree.contains(&child),
                part: is_part.then(|| oids(part)),
                stored: OnceCell::new(),
            });
        }
        if let Some(reference) = found.last_mut() {
            reference.pairs.push(pair);
        }
    });
    found
}

// Columns that cannot have every value of what they refer to: of a shorter or coarser type, or of one with a modifier.
// An assignment would fail, or make another value of it, which may be that of another record.

/// A column that does not have room for all values.
pub struct Narrow {
    /// Its type, or that of which it is a domain, with the modifier.
    of_type: Sql,
    /// What a value must be so that a cast to that type does not fail: a condition, with $ for the value.
    castable: String,
    equal: (CString, CString),
    /// By which the value is compared.
    collation: pg_sys::Oid,
}

/// A type with its modifier, or those of which it is a domain.
fn base(of_type: pg_sys::Oid, mut modifier: i32) -> (pg_sys::Oid, i32) {
    // SAFETY: a catalog look-up of a type that exists; a variable is given for the modifier.
    let base = unsafe { pg_sys::getBaseTypeAndTypmod(of_type, &mut modifier) };
    (base, modifier)
}

/// The condition that a number is not outside.
fn between(least: &str, greatest: &str) -> String {
    // As an exact number: the greatest bigint is not a float.
    format!("CAST($ AS pg_catalog.numeric) OPERATOR(pg_catalog.>=) ({least}) AND CAST($ AS pg_catalog.numeric) \
        OPERATOR(pg_catalog.<=) ({greatest})")
}

/// What a value must be so that a cast does not fail.
fn castable(column: (pg_sys::Oid, i32), value: pg_sys::Oid) -> String {
    let integers = [
        (pg_sys::INT2OID, i16::MIN.into(), i16::MAX.into()),
        (pg_sys::INT4OID, i32::MIN.into(), i32::MAX.into()),
        (pg_sys::INT8OID, i64::MIN, i64::MAX),
    ];
    let is_float = [pg_sys::FLOAT4OID, pg_sys::FLOAT8OID].contains(&value);
    let is_number =
        is_float || value == pg_sys::NUMERICOID || integers.iter().any(|of| of.0 == value);
    if let Some((_, least, greatest)) = integers.iter().find(|of| of.0 == column.0 && is_number) {
        return between(&least.to_string(), &greatest.to_string());
    }
    match column {
        (pg_sys::FLOAT4OID, _) if value == pg_sys::FLOAT8OID => "pg_catalog.abs($) OPERATOR(pg_catalog.<=) \
            '3.4028234663852886e38'::pg_catalog.float8 \
            AND ($ OPERATOR(pg_catalog.=) '0'::pg_catalog.float8 OR pg_catalog.abs($) OPERATOR(pg_catalog.>=) \
            '1.2e-38'::pg_catalog.float8)"
            .to_owned(),
        (pg_sys::NUMERICOID, modifier) if modifier >= 4 && is_number => {
            let (digits, scale) = (((modifier - 4) >> 16) & 0xffff, (modifier - 4) & 0x7ff);
            // A scale may be negative: 11 bits with their sign.
            let scale = (scale ^ 1024) - 1024;
            format!(
                "pg_catalog.abs(pg_catalog.round(CAST($ AS pg_catalog.numeric), {scale})) OPERATOR(pg_catalog.<) \
                 '1e{}'::pg_catalog.numeric",
                digits - scale
            )
        }
        _ => "$ IS DISTINCT FROM NULL".to_owned(),
    }
}

impl Narrow {
    /// `None` if the column takes each value. Both are types with modifiers; `equal` compares a value with the column.
    pub fn new(
        column: (pg_sys::Oid, i32),
        value: (pg_sys::Oid, i32),
        equal: (CString, CString),
        collation: pg_sys::Oid,
    ) -> Option<Narrow> {
        let (column, value) = (base(column.0, column.1), base(value.0, value.1));
        if column == value || (column.0 == value.0 && column.1 < 0) {
            return None;
        }
        let wider = [
            (pg_sys::INT4OID, pg_sys::INT2OID),
            (pg_sys::INT8OID, pg_sys::INT2OID),
            (pg_sys::INT8OID, pg_sys::INT4OID),
            (pg_sys::TEXTOID, pg_sys::VARCHAROID),
            (pg_sys::VARCHAROID, pg_sys::TEXTOID),
        ];
        if column.1 < 0 && wider.contains(&(column.0, value.0)) {
            return None;
        }
        Some(Narrow {
            of_type: Sql::new("").modified_type(column.0, column.1),
            castable: castable(column, value.0),
            equal,
            collation,
        })
    }

    /// The condition that the column cannot have a value.
    pub fn lacks(&self, value: &str) -> Sql {
        let castable = self.castable.replace('$', value);
        let collate = Sql::new("").collate(self.collation);
        sql!(
            "CASE WHEN {castable} THEN NOT ({value} {self.equal} CAST({value} AS {self.of_type}){collate}) \
            ELSE true END"
        )
    }
}

/// The equality of texts.
pub fn equal_texts() -> (CString, CString) {
    let (equal, _) = operators::of_order(pg_sys::TEXTOID).unwrap_or_default();
    catalog::operators::named(equal)
}
