//! Hashes of the records of a relation.

use std::ffi::CString;

use linkage::record_hash::{RecordDigest, RecordHash};
use pgrx::pg_sys;

use crate::pairs::records::{RecordColumn, Records};
use pg::output::OutputFunction;
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::session::read;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::{known_utf8, readable, server_name};

/// Rows fetched at a time. Rows can be wide.
const BATCH: i64 = 500;

/// The columns that a hash is of.
pub struct HashColumns(Option<Vec<CString>>);

impl HashColumns {
    /// The relation may not have them any more; then no record has such a hash.
    pub fn find(records: &Records, names: &[String]) -> HashColumns {
        let find = |name: &String| {
            let column = RecordColumn::find(records.oid, server_name(name)?);
            Some(column.ok()?.name)
        };
        HashColumns(names.iter().map(find).collect())
    }
}

/// Gives the key of each record that has one, as its text form is in this session, and its digest over each list of
/// columns, which does not depend on the session; `None` where the record lacks a column.
///
/// Errors: what the query fails with, which runs as the caller.
pub fn read_digests(
    records: &Records,
    lists: &[HashColumns],
    mut each: impl FnMut(&[u8], &[Option<u128>]),
) {
    let mut names: Vec<&CString> = lists
        .iter()
        .filter_map(|list| list.0.as_ref())
        .flatten()
        .collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &CString| names.binary_search(&name).unwrap_or(0);
    let places: Vec<Option<Vec<usize>>> = lists
        .iter()
        .map(|list| Some(list.0.as_ref()?.iter().map(place).collect()))
        .collect();
    let columns = [&records.key.name].into_iter().chain(names.iter().copied());
    let columns = Sql::join(columns, ", ");
    let sql = sql!("SELECT {columns} FROM {records.oid}");
    let mut fixed = Some(FixedSettings::begin(OF_TEXT_FORMS));
    let cursor = read(sql, &[], BATCH);
    let mut key_output = cursor.output(0);
    let mut outputs: Vec<OutputFunction> = (0..names.len()).map(|i| cursor.output(i + 1)).collect();
    let mut values: Vec<Option<Vec<u8>>> = vec![None; names.len()];
    let mut digests = vec![None; lists.len()];
    let mut digest = RecordDigest::new();
    let key_is_plain = is_plain(records.key.type_oid);
    cursor.each(|row| {
        let Some(key) = row.datum(0) else { return };
        for (i, value) in values.iter_mut().enumerate() {
            let now = row.datum(i + 1);
            *value = now.map(|now| outputs[i].show(now, |text| known_utf8(text).into_owned()));
        }
        for (places, now) in places.iter().zip(&mut digests) {
            *now = places.as_ref().map(|places| {
                places
                    .iter()
                    .for_each(|&i| digest.value(values[i].as_deref()));
                digest.finish()
            });
        }
        if key_is_plain {
            key_output.show(key, |key| each(key, &digests));
        } else {
            fixed.take().into_iter().for_each(FixedSettings::end);
            key_output.show(key, |key| each(key, &digests));
            fixed = Some(FixedSettings::begin(OF_TEXT_FORMS));
        }
    });
    fixed.into_iter().for_each(FixedSettings::end);
}

/// Gives the key of each record that lacks none of some columns, and its hash over these.
///
/// Errors: no such column; as [`read_digests`].
pub fn each_hash(records: &Records, columns: &[CString], mut each: impl FnMut(&[u8], &RecordHash)) {
    let of = columns.iter().cloned();
    let of = of.map(|column| RecordColumn::new(records.oid, column).name);
    let of = HashColumns(Some(of.collect()));
    let names = columns.iter().map(|column| readable(column.to_bytes()));
    let mut hash = RecordHash {
        columns: names.collect(),
        digest: 0,
    };
    read_digests(records, &[of], |key, digests| {
        if let Some(&Some(digest)) = digests.first() {
            hash.digest = digest;
            each(key, &hash);
        }
    });
}

/// Whether the text form of a type is known to be the same whatever the settings are.
fn is_plain(type_oid: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(type_oid) };
    [
        pg_sys::BPCHAROID,
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
        pg_sys::NAMEOID,
        pg_sys::NUMERICOID,
        pg_sys::TEXTOID,
        pg_sys::UUIDOID,
        pg_sys::VARCHAROID,
    ]
    .contains(&base)
}
