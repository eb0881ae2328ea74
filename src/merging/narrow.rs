//! Columns that cannot have every value of what they refer to: of a shorter or coarser type, or of one with a modifier.
//! An assignment would fail, or make another value of it, which may be that of another record.

use std::ffi::CString;

use pgrx::pg_sys;

use pg::catalog::{self, operators};
use pg::sql;
use pg::sql::Sql;

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
