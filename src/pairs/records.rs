//! The relations that a search reads: their columns, and whether indexes or only a query can find their rows.

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};
use sigfile::shape::margin::searched;
use signature::similarity::Measure;

use crate::pairs::only_new::NewRecords;
use crate::pairs::table::{IndexedTable, LOCK};
use crate::pairs::verify::{self, Verification, Verified};
use crate::pairs::within;
use access::SignatureType;
use pg::catalog;
use pg::catalog::privileges::{current_user, may_select, may_select_any, may_use_schema};
use pg::catalog::storage::is_read_from;
use pg::error::{raise, sql_error};
use pg::function::arguments::Arguments;
use pg::relation;
use pg::values::text::readable;
use types::objects::{is_bits, is_signature};

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise(&sql_error(code, message))
}

/// A name for messages.
fn text(name: &CStr) -> String {
    readable(name.to_bytes())
}

/// A column that was found by its name.
#[derive(Clone)]
pub struct RecordColumn {
    pub name: CString,
    pub type_oid: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl RecordColumn {
    /// A column of a relation.
    ///
    /// Errors: no such column.
    pub fn new(oid: pg_sys::Oid, column: CString) -> RecordColumn {
        RecordColumn::find(oid, column)
            .unwrap_or_else(|column| raise(&catalog::no_column(oid, &column)))
    }

    /// Fails the statement with 42804: the column has another type than the one that is expected.
    pub fn refuse_type(&self, relation: &str, expected: &str, hint: &str) -> ! {
        let (column, of_type) = (text(&self.name), text(&catalog::type_name(self.type_oid)));
        let message = format!(
            "column \"{column}\" of relation \"{relation}\" is of type {of_type}, not {expected}"
        );
        raise(&sql_error(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message).hint(hint))
    }

    /// Gives the name back if there is no such column, or it is a system column.
    pub fn find(oid: pg_sys::Oid, name: CString) -> Result<RecordColumn, CString> {
        let Some(number) = catalog::column(oid, &name) else {
            return Err(name);
        };
        let (mut type_oid, mut typmod, mut collation) = (pg_sys::InvalidOid, 0, pg_sys::InvalidOid);
        // SAFETY: the column exists, and three variables are given for its properties.
        unsafe {
            pg_sys::get_atttypetypmodcoll(oid, number, &mut type_oid, &mut typmod, &mut collation);
        }
        Ok(RecordColumn {
            name,
            type_oid,
            collation,
        })
    }
}

/// Whether a type is `text` or `varchar`, or a domain of them.
pub fn is_text(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID
}

/// Locks a relation until the end of the transaction. Returns its name for messages.
///
/// Errors: no relation, or one without rows; the caller may not SELECT any of its columns. Such a caller gets no lock,
/// by which it could keep others waiting, and is told nothing of the columns.
pub fn lock(oid: pg_sys::Oid) -> String {
    if catalog::kind(oid) != 0 && !may_select_any(oid, current_user()) {
        refuse(oid);
    }
    relation::lock(oid, LOCK);
    let kind = catalog::kind(oid);
    if kind == 0 {
        fail(
            PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
            format!("relation with OID {} does not exist", oid.to_u32()),
        );
    }
    let name = text(&catalog::name(oid));
    if ![
        pg_sys::RELKIND_RELATION,
        pg_sys::RELKIND_PARTITIONED_TABLE,
        pg_sys::RELKIND_MATVIEW,
        pg_sys::RELKIND_VIEW,
        pg_sys::RELKIND_FOREIGN_TABLE,
    ]
    .contains(&kind)
    {
        fail(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            format!("\"{name}\" is not a table or view"),
        );
    }
    name
}

/// A relation whose records are searched, locked until the end of the transaction.
pub struct Records {
    pub oid: pg_sys::Oid,
    pub key: RecordColumn,
    pub signatures: Vec<RecordColumn>,
    /// The columns in which records must be equal to be a pair; none if all records are compared.
    pub within: Vec<RecordColumn>,
    /// The columns of a profile, of which one is the signature that is searched; none otherwise.
    pub profile: Vec<RecordColumn>,
    /// What decides about pairs, if it is not their signatures.
    pub verified: Option<Verified>,
    /// The records of which each pair has one at least; `None` for all pairs.
    pub new: Option<NewRecords>,
    /// The column with the keys that bring records together, instead of those that a model's searches give them.
    pub given_keys: Option<RecordColumn>,
}

impl Records {
    /// The arguments from `i` on: a relation, the names of its key and of the column with the signatures.
    ///
    /// Errors: as [`Records::new`].
    pub fn given(arguments: Arguments, i: usize) -> Records {
        let relation = arguments.oid(i);
        let [key, signature] = [i + 1, i + 2].map(|i| arguments.name(i));
        Records::new(relation, key, vec![signature])
    }

    /// Errors: no relation with rows; no such column; a signature column of another type.
    pub fn new(oid: pg_sys::Oid, key: CString, signatures: Vec<CString>) -> Records {
        let name = lock(oid);
        let column = |column: CString| RecordColumn::new(oid, column);
        let signatures: Vec<RecordColumn> = signatures.into_iter().map(&column).collect();
        // Weighted profiles are of type bloom.
        let alone = signatures.len() == 1;
        for signature in &signatures {
            let of_type = signature.type_oid;
            if !(is_signature(of_type) || alone && is_bits(of_type)) {
                let (expected, hint) = match alone {
                    true => (
                        "bloom or minhash_bits",
                        "Name a column of signatures, such as one GENERATED ALWAYS AS (bloom_signature(...)) STORED, \
                         or of sketches, by minhash_bits(...).",
                    ),
                    false => (
                        "bloom",
                        "Name columns of signatures, such as one GENERATED ALWAYS AS (bloom_signature(...)) STORED.",
                    ),
                };
                signature.refuse_type(&name, expected, hint);
            }
        }
        let key = column(key);
        Records {
            oid,
            key,
            signatures,
            within: Vec::new(),
            profile: Vec::new(),
            verified: None,
            new: None,
            given_keys: None,
        }
    }

    /// The same records, of whose profiles only this column is searched.
    pub fn of_column(&self, column: usize) -> Records {
        Records {
            oid: self.oid,
            key: self.key.clone(),
            signatures: vec![self.signatures[column].clone()],
            within: Vec::new(),
            profile: self.signatures.clone(),
            verified: None,
            new: self.new.clone(),
            given_keys: None,
        }
    }

    /// The same records, of which only pairs with a new one are wanted, if that is asked for.
    pub fn only(mut self, new: Option<NewRecords>) -> Records {
        self.new = new;
        self
    }

    /// The same records, of which those are compared that have a key of the column `name` in common, if it is given.
    ///
    /// Errors: no such column; it is of another type than `bigint[]`.
    pub fn with_keys(mut self, name: Option<&CStr>) -> Records {
        if let Some(name) = name {
            let relation = text(&catalog::name(self.oid));
            let column = RecordColumn::new(self.oid, name.to_owned());
            if column.type_oid != pg_sys::INT8ARRAYOID {
                let hint = "Name a column with arrays of keys, such as bloom_model_keys() gives, with the number of \
                            the search in the six last bits.";
                column.refuse_type(&relation, "bigint[]", hint);
            }
            self.given_keys = Some(column);
        }
        self
    }

    /// The type of the signatures.
    pub fn signature_type(&self) -> SignatureType {
        SignatureType::of_type(self.signatures[0].type_oid)
    }

    /// The same records, of which only those are compared that are equal in the columns of these names; `None` compares
    /// all.
    ///
    /// Errors: as [`within::column`].
    pub fn within(mut self, names: Option<Vec<CString>>) -> Records {
        let relation = text(&catalog::name(self.oid));
        for name in names.into_iter().flatten() {
            let column = within::column(&self, name, &relation);
            self.within.push(column);
        }
        self
    }

    /// The same records, whose tokens decide which of them are pairs, if that is asked for.
    ///
    /// Errors: as [`verify::column`]; the caller may not read the columns.
    pub fn verified(mut self, verification: Option<&Verification>) -> Records {
        if let Some(verification) = verification {
            let relation = text(&catalog::name(self.oid));
            let column = verification.column.clone();
            self.verified = Some(Verified {
                tokens: verify::column(self.oid, column, &relation),
                margin: verification.margin,
            });
            // A query of the tokens would tell after the search.
            self.check_privileges();
        }
        self
    }

    /// The tables that hold the rows, each with a sigfile index on the only signature column. It is `None` if a table
    /// has no such index, if the caller sees the rows through a view or a policy, or if a query would read other rows
    /// than those that are in these tables.
    ///
    /// Errors: the caller may not read the columns.
    pub fn indexed(&self) -> Option<Vec<IndexedTable>> {
        let [signature] = &self.signatures[..] else {
            return None;
        };
        let kind = catalog::kind(self.oid);
        if kind == pg_sys::RELKIND_VIEW || kind == pg_sys::RELKIND_FOREIGN_TABLE {
            return None;
        }
        self.check_privileges();
        // SAFETY: this is a catalog look-up by OID. It raises the same error as a query where row_security is off.
        let policies = unsafe { pg_sys::check_enable_rls(self.oid, pg_sys::InvalidOid, false) };
        if policies == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32 {
            return None;
        }
        let mut tables = Vec::new();
        // SAFETY: the relation is a table or a materialized view, and locked.
        for oid in unsafe { relation::with_inheritors(self.oid, LOCK) } {
            let kind = catalog::kind(oid);
            if kind == pg_sys::RELKIND_PARTITIONED_TABLE {
                continue;
            }
            if kind != pg_sys::RELKIND_RELATION && kind != pg_sys::RELKIND_MATVIEW {
                return None;
            }
            // SAFETY: the table is locked, and has the columns of the one that it inherits from. The snapshot is active
            // as long as the running function.
            tables.push(unsafe {
                let compared = self.within.iter().chain(&self.profile);
                let compared = compared.map(|column| column.name.as_c_str());
                IndexedTable::find(oid, &self.key.name, &signature.name, compared)
            }?);
        }
        let column = catalog::column(self.oid, &signature.name)?;
        let own = tables.iter().map(|table| table.heap.rd_id);
        // SAFETY: the table is locked and has the column, and a function runs with an active snapshot.
        unsafe { is_read_from(own, self.oid, column, true) }.then_some(tables)
    }

    /// Errors: the caller may not look up the table or SELECT the columns, as in a query.
    fn check_privileges(&self) {
        let columns = self.signatures.iter().chain([&self.key]);
        let tokens = self.verified.iter().map(|verified| &verified.tokens);
        check_select(
            self.oid,
            columns
                .chain(&self.within)
                .chain(&self.profile)
                .chain(tokens),
        );
    }
}

/// Errors: the caller may not look up the locked relation or SELECT the columns, as in a query.
pub fn check_select<'a>(oid: pg_sys::Oid, columns: impl Iterator<Item = &'a RecordColumn>) {
    let user = current_user();
    // A column that is not there must not make the others enough.
    let numbers: Option<Vec<i16>> = columns
        .map(|column| catalog::column(oid, &column.name))
        .collect();
    let may = numbers.is_some_and(|numbers| may_select(oid, &numbers, user));
    if !(may && may_use_schema(oid, user)) {
        refuse(oid);
    }
}

/// Raises the error of a query whose user has not the privileges for the relation, or for its schema.
fn refuse(oid: pg_sys::Oid) -> ! {
    // SAFETY: these are catalog look-ups by OID; the error gets a name of the server's.
    unsafe {
        let (kind, name) = if may_use_schema(oid, current_user()) {
            let kind = pg_sys::get_relkind_objtype(pg_sys::get_rel_relkind(oid));
            (kind, pg_sys::get_rel_name(oid))
        } else {
            let schema = pg_sys::get_rel_namespace(oid);
            let kind = pg_sys::ObjectType::OBJECT_SCHEMA;
            (kind, pg_sys::get_namespace_name(schema))
        };
        pg_sys::aclcheck_error(pg_sys::AclResult::ACLCHECK_NO_PRIV, kind, name);
    }
    unreachable!("the server raises an error")
}

/// What a search is over: one relation, or two whose records are joined with each other.
#[derive(Clone, Copy)]
pub struct Relations<'a> {
    pub left: &'a Records,
    pub right: Option<&'a Records>,
}

impl<'a> Relations<'a> {
    pub fn one(records: &'a Records) -> Relations<'a> {
        Relations {
            left: records,
            right: None,
        }
    }

    pub fn two(left: &'a Records, right: &'a Records) -> Relations<'a> {
        Relations {
            left,
            right: Some(right),
        }
    }

    /// Both relations, or the only one.
    pub fn each(self) -> impl Iterator<Item = &'a Records> {
        [Some(self.left), self.right].into_iter().flatten()
    }

    /// The similarity of signatures from which on pairs are looked for: less than the threshold, and maybe below 0,
    /// where tokens are compared afterwards.
    pub fn searched(self, measure: Measure, threshold: f64) -> f64 {
        match &self.left.verified {
            None => threshold,
            Some(verified) => searched(measure, threshold, verified.margin),
        }
    }
}
