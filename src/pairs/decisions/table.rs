//! A table of decisions, read for single records: by an index, without the executor, so that whoever enters a record needs no
//! privilege on it, as with the tables that foreign keys refer to.

use std::cmp::Reverse;
use std::ffi::CStr;

use base::{Error, ErrorKind, Result};
use linkage::clusters::Verdict;
use linkage::record_hash::{of_pair, RecordHash};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_UNDEFINED_COLUMN,
    ERRCODE_UNDEFINED_OBJECT, ERRCODE_WRONG_OBJECT_TYPE,
};

use pg::catalog;
use pg::catalog::privileges::{may_insert, may_use_schema};
use pg::error::{raise, sql_error};
use pg::function::rows::text_datum;
use pg::memory::in_scratch;
use pg::message::words;
use pg::output::text_form;
use pg::relation::OpenRelation;
use pg::session::{QueryRow, SavedPlan};
use pg::snapshot::dirty;
use pg::sql;
use pg::values::text::readable;

const CREATE: &str = "Create it by bloom_decisions_create().";

/// Whether a key is a (0) or b (1), its column, and the collation by which the index has it.
type IndexedKey = (usize, i16, pg_sys::Oid);

/// A table of decisions.
pub struct DecisionTable {
    pub table: pg_sys::Oid,
    /// A B-tree whose first columns are a and b, in either order.
    pub index: pg_sys::Oid,
    /// In the order of the index.
    keys: [IndexedKey; 2],
    decision: i16,
    /// The type of the column decision, for its output.
    decision_type: pg_sys::Oid,
    at: i16,
    hash: Option<i16>,
    /// Whether a is a row of a guarded table and b one of its block list. Otherwise a pair has no order.
    ordered: bool,
    /// Enters a pair as different, as the user who runs it.
    pub insert: SavedPlan<2>,
}

/// Types of numbers of 64 bits or fewer that say what is later.
const MOMENTS: [pg_sys::Oid; 6] = [
    pg_sys::TIMESTAMPTZOID,
    pg_sys::TIMESTAMPOID,
    pg_sys::DATEOID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
];

const TEXTS: [pg_sys::Oid; 2] = [pg_sys::TEXTOID, pg_sys::VARCHAROID];

impl DecisionTable {
    /// `table` is locked. `owner` owns the table whose records it is about.
    ///
    /// Errors: it is no plain table, or has policies, children or another owner (42809, 42501); lacks columns (42703),
    /// or has them of other types (42804); has no index to be read by (42704).
    pub fn new(table: pg_sys::Oid, owner: pg_sys::Oid, ordered: bool) -> Result<DecisionTable> {
        let open = OpenRelation::locked_table(table);
        let form = open.form();
        let faults = [
            (
                form.relkind as u8 != pg_sys::RELKIND_RELATION,
                "It is not a plain table.",
            ),
            (
                form.relrowsecurity || form.relforcerowsecurity,
                "It has row-level security.",
            ),
            (form.relhassubclass, "Other tables inherit from it."),
        ];
        if let Some((_, fault)) = faults.into_iter().find(|(is_at_fault, _)| *is_at_fault) {
            return Err(sql_error(
                ERRCODE_WRONG_OBJECT_TYPE,
                words!("relation \"{table}\" cannot be a table of decisions"),
            )
            .detail(fault)
            .hint(CREATE));
        }
        if form.relowner != owner {
            return Err(sql_error(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!(
                    "table \"{table}\" of option \"decisions\" has another owner than the \
                table whose records it is about"
                ),
            )
            .hint("Give it the same owner, who decides then which records are the same."));
        }
        let text = |of_type| TEXTS.contains(&of_type);
        // SAFETY: a look-up in the catalogs by OID.
        let is_enum = |t| unsafe { pg_sys::get_typtype(t) } as u8 == pg_sys::TYPTYPE_ENUM;
        let (a, _) = column(table, c"a", text, c"text")?;
        let (b, _) = column(table, c"b", text, c"text")?;
        let (decision, decision_type) =
            column(table, c"decision", |t| text(t) || is_enum(t), c"text")?;
        let is_moment = |of_type| MOMENTS.contains(&of_type);
        let (at, _) = column(table, c"at", is_moment, c"timestamp with time zone")?;
        let hash = catalog::column(table, c"hash")
            .map(|_| column(table, c"hash", text, c"text"))
            .transpose()?;
        let mut indexes = open.indexes().into_iter();
        let Some((index, keys)) = indexes.find_map(|oid| index(oid, [a, b])) else {
            return Err(sql_error(
                ERRCODE_UNDEFINED_OBJECT,
                words!("table \"{table}\" of option \"decisions\" has no index on a and b"),
            )
            .hint(sql!("CREATE INDEX ON {table} (a, b)").into_bytes()));
        };
        let insert = sql!("INSERT INTO {table} (a, b, decision) VALUES ($1, $2, 'different')");
        Ok(DecisionTable {
            table,
            index,
            keys,
            decision,
            decision_type,
            at,
            hash: hash.map(|(column, _)| column),
            ordered,
            insert: SavedPlan::new(insert, [pg_sys::TEXTOID; 2]),
        })
    }
}

/// The number and the type of a column.
///
/// Errors: there is none (42703), or it is of another type than is wanted (42804).
fn column(
    table: pg_sys::Oid,
    name: &CStr,
    is_wanted: impl FnOnce(pg_sys::Oid) -> bool,
    wanted: &CStr,
) -> Result<(i16, pg_sys::Oid)> {
    let Some(column) = catalog::column(table, name) else {
        return Err(sql_error(
            ERRCODE_UNDEFINED_COLUMN,
            words!("table \"{table}\" of option \"decisions\" has no column \"{name}\""),
        )
        .hint(CREATE));
    };
    let of_type = catalog::base_type(table, column).0;
    match is_wanted(of_type) {
        true => Ok((column, of_type)),
        false => Err({
            let of_type = catalog::type_name(of_type);
            sql_error(
                ERRCODE_DATATYPE_MISMATCH,
                words!("column \"{name}\" of table of decisions \"{table}\" is of type {of_type}, not {wanted}"),
            )
            .hint(CREATE)
        }),
    }
}

/// The index and the collations of both columns in it, if it finds every row by them.
///
/// That an index is too new for old snapshots (indcheckxmin) does not matter: the latest snapshot sees only the newest
/// version of a row.
fn index(oid: pg_sys::Oid, keys: [i16; 2]) -> Option<(pg_sys::Oid, [IndexedKey; 2])> {
    let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
    // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns, and as many operator
    // families and collations as key columns.
    unsafe {
        let form = &*index.rd_index;
        let is_whole = form.indisvalid && form.indisready && form.indislive;
        let has_predicate = !pg_sys::RelationGetIndexPredicate(index.pointer()).is_null();
        if !is_whole || has_predicate || form.indnkeyatts < 2 {
            return None;
        }
        let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
        let place = |key: i16| columns[..2].iter().position(|&column| column == key);
        let places = [place(keys[0])?, place(keys[1])?];
        let of = |place: usize| {
            let family = *index.rd_opfamily.add(place);
            let is_text = family == pg_sys::TEXT_BTREE_FAM_OID;
            is_text.then(|| *index.rd_indcollation.add(place))
        };
        let mut found = [0, 1].map(|i| (places[i], i));
        found.sort_unstable();
        let key = |(place, i): (usize, usize)| Some((i, keys[i], of(place)?));
        Some((oid, [key(found[0])?, key(found[1])?]))
    }
}

/// A decision.
pub struct Decision {
    /// When, and what: the greater one counts. NULL is the oldest; of two of one time the more cautious one counts.
    pub rank: (i64, Reverse<Verdict>),
    /// What both records were like.
    pub hash: Option<[RecordHash; 2]>,
}

impl DecisionTable {
    /// Whether a user may enter decisions.
    pub fn may_enter(&self, user: pg_sys::Oid) -> bool {
        let [(_, a, _), (_, b, _)] = self.keys;
        may_use_schema(self.table, user) && may_insert(self.table, &[a, b, self.decision], user)
    }

    /// The newest decision about a pair, as it is committed now, or made by this transaction.
    ///
    /// Errors: what is no decision, or no hash of a pair.
    pub fn newest(&self, [a, b]: [&[u8]; 2]) -> Option<Decision> {
        // values of the rows and of the keys leave memory behind
        in_scratch(c"bloom_ident decision", || {
            let first = self.find([a, b], false, None);
            match self.ordered {
                true => first,
                false => self.find([b, a], true, first),
            }
        })
    }

    /// The newest one of the rows with these keys and of `newest`. Those of `swapped` keys have the hash of b first.
    fn find(
        &self,
        keys: [&[u8]; 2],
        swapped: bool,
        mut newest: Option<Decision>,
    ) -> Option<Decision> {
        let wanted = self
            .keys
            .map(|(i, column, collation)| (keys[i], column, collation));
        self.each(self.by_both(), &wanted, false, |row| {
            let found = self.decision(row, swapped);
            if newest
                .as_ref()
                .is_none_or(|newest| found.rank > newest.rank)
            {
                newest = Some(found);
            }
        });
        newest
    }

    /// All decisions about a record: the key of the other one, what was found, and when, greater for what is later.
    /// Hashes do not count.
    ///
    /// Errors: what is no decision; there is no index by which decisions are found by either record.
    pub fn about(&self, key: &[u8]) -> Vec<(Vec<u8>, Verdict, i64)> {
        let mut all = Vec::new();
        for ([(.., column, collation), (.., other, _)], index) in self.by_either() {
            self.each(index, &[(key, column, collation)], false, |row| {
                let other = row.bytes(other as usize - 1);
                let (at, Reverse(verdict)) = self.decision(row, false).rank;
                all.extend(other.map(|other| (other.bytes().to_vec(), verdict, at)));
            });
        }
        all
    }

    /// Whether there are decisions about a record, also those that are not committed.
    ///
    /// Errors: there is no index by which decisions are found by either record.
    pub fn concerns(&self, key: &[u8]) -> bool {
        let mut is_any = false;
        for ([(.., column, collation), _], index) in self.by_either() {
            self.each(index, &[(key, column, collation)], true, |_| is_any = true);
        }
        is_any
    }

    /// The index on both, which may have been made anew since the table was looked at. As long as it is locked, indexes stay.
    ///
    /// Errors: there is none any more.
    fn by_both(&self) -> pg_sys::Oid {
        let table = OpenRelation::table(self.table, pg_sys::AccessShareLock).keep_lock();
        let all = table.indexes();
        if all.contains(&self.index) {
            return self.index;
        }
        let columns = self.keys.map(|(_, column, _)| column);
        let same = |&oid: &pg_sys::Oid| {
            let found = index(oid, columns);
            found.is_some_and(|(_, keys)| keys.map(|(_, column, _)| column) == columns)
        };
        all.into_iter().find(same).unwrap_or_else(|| {
            let table = self.table;
            raise(
                &sql_error(
                    ERRCODE_UNDEFINED_OBJECT,
                    words!("table \"{table}\" of decisions has no index on a and b"),
                )
                .hint(sql!("CREATE INDEX ON {table} (a, b)").into_bytes()),
            )
        })
    }

    /// For a and for b: its column and the other one, and an index that begins with it.
    ///
    /// Errors: there is none.
    fn by_either(&self) -> [([IndexedKey; 2], pg_sys::Oid); 2] {
        let [first, second] = self.keys;
        let table = OpenRelation::table(self.table, pg_sys::AccessShareLock).keep_lock();
        let Some((index, collation)) = table.btree_on(second.1, false) else {
            let (name, column) = (self.table, catalog::column_name(self.table, second.1));
            raise(
                &sql_error(
                    ERRCODE_UNDEFINED_OBJECT,
                    words!("table \"{name}\" of decisions has no index on \"{column}\""),
                )
                .hint(sql!("CREATE INDEX ON {name} ({column})").into_bytes()),
            );
        };
        let by_second = (second.0, second.1, collation);
        [
            ([first, second], self.by_both()),
            ([by_second, first], index),
        ]
    }

    /// Gives the rows with these keys to `each`: values, columns and their collations, in the order of the index; also
    /// those that are not committed if `pending`.
    fn each(
        &self,
        index: pg_sys::Oid,
        keys: &[(&[u8], i16, pg_sys::Oid)],
        pending: bool,
        mut each: impl FnMut(QueryRow<'_>),
    ) {
        let table = OpenRelation::table(self.table, pg_sys::AccessShareLock).keep_lock();
        // SAFETY: the table and its index are as they were when they were looked at, since they are watched: a B-tree of
        // texts, by the collations that the keys have. The snapshot is registered as long as the scan runs, or a
        // dirty one. A row is valid until the next one is asked for.
        unsafe {
            let snapshot = match pending {
                true => dirty().pointer(),
                false => pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()),
            };
            let (equal, any) = (pg_sys::BTEqualStrategyNumber as u16, pg_sys::InvalidOid);
            let function = pg_sys::F_TEXTEQ.into();
            let mut scan_keys: Vec<pg_sys::ScanKeyData> = Vec::new();
            for &(value, column, collation) in keys {
                let mut key = pg_sys::ScanKeyData::default();
                let value = text_datum(value);
                pg_sys::ScanKeyEntryInitialize(
                    &mut key, 0, column, equal, any, collation, function, value,
                );
                scan_keys.push(key);
            }
            let (open, first, n) = (table.pointer(), scan_keys.as_mut_ptr(), keys.len() as i32);
            let scan = pg_sys::systable_beginscan(open, index, true, snapshot, n, first);
            loop {
                pg::check_for_interrupts();
                let row = pg_sys::systable_getnext(scan);
                if row.is_null() {
                    break;
                }
                each(QueryRow::new(row, table.rd_att));
            }
            pg_sys::systable_endscan(scan);
            if !pending {
                pg_sys::UnregisterSnapshot(snapshot);
            }
        }
    }

    /// What a row of the table says.
    fn decision(&self, row: QueryRow<'_>, swapped: bool) -> Decision {
        let value = |column: i16| row.datum(column as usize - 1);
        let text = |column: i16, of_type: pg_sys::Oid| {
            // SAFETY: a value of the column, which is of this type.
            value(column).map(|value| readable(&unsafe { text_form(value, of_type) }))
        };
        let name = || readable(catalog::name(self.table).to_bytes());
        let decision = text(self.decision, self.decision_type);
        let verdict = match decision.as_deref() {
            Some("same") => Verdict::Same,
            Some("different") => Verdict::Different,
            Some("unsure") => Verdict::Unsure,
            other => {
                let given = other.unwrap_or("");
                let message = format!("decision \"{given}\" in \"{}\" is none", name());
                raise(
                    &Error::new(ErrorKind::InvalidParameter, message)
                        .detail("Decisions are \"same\", \"different\" and \"unsure\"."),
                )
            }
        };
        let hash = self.hash.and_then(|column| text(column, pg_sys::TEXTOID));
        let hash = hash.map(|text| {
            let [a, b] = of_pair(&text).unwrap_or_else(|| {
                let message = format!("hash \"{}\" in \"{}\" is not that of a pair", &text, name());
                raise(
                    &Error::new(ErrorKind::InvalidText, message)
                        .detail("It is the bloom_record_hash() of a, a blank, and that of b."),
                )
            });
            match swapped {
                true => [b, a],
                false => [a, b],
            }
        });
        // A value of 32 bits or fewer is extended by its sign as the server stores it.
        let at = value(self.at).map_or(i64::MIN, |at| at.value() as i64);
        let rank = (at, Reverse(verdict));
        Decision { rank, hash }
    }
}
