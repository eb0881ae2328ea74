//! The values of the records that a report of pairs shows.

use std::ffi::{CStr, CString};

use super::super::facts::{self, beginning, hashes};
use super::PairFacts;
use crate::models::{field_value, reading_fields};
use crate::pairs::dictionary::KeySides;
use crate::pairs::records::{RecordColumn, Records};
use crate::pairs::unique::repeated;
use pg::session::read;
use pg::sql;
use pg::sql::{literal, Sql};

/// Rows fetched at a time.
const BATCH: i64 = 200;

fn has(records: &Records, column: &CStr) -> bool {
    RecordColumn::find(records.oid, column.to_owned()).is_ok()
}

/// The columns to show: those given, or those of each relation that the caller may read except keys and signatures.
///
/// Errors: no relation has such a column.
pub fn columns(relations: &[Records], given: Option<Vec<CString>>) -> Vec<CString> {
    let [one] = relations else {
        return columns_of_both(relations, given);
    };
    facts::columns(one, given)
}

fn columns_of_both(relations: &[Records], given: Option<Vec<CString>>) -> Vec<CString> {
    if let Some(given) = given {
        for column in &given {
            if !relations.iter().any(|records| has(records, column)) {
                facts::columns(&relations[0], Some(vec![column.clone()]));
            }
        }
        return given;
    }
    let mut all: Vec<CString> = Vec::new();
    for records in relations {
        for column in facts::columns(records, None) {
            if !all.contains(&column) {
                all.push(column);
            }
        }
    }
    all
}

/// The columns that a relation does not have, with its place.
pub fn lacking<'a>(relations: &[Records], columns: &'a [CString]) -> Vec<(usize, &'a CStr)> {
    let of_side = |(side, records)| {
        let lacking = columns.iter().filter(|column| !has(records, column));
        lacking
            .map(move |column| (side, column.as_c_str()))
            .collect()
    };
    let sides: Vec<Vec<_>> = relations.iter().enumerate().map(of_side).collect();
    sides.concat()
}

/// Takes the values of the records that are shown, those of `columns` to show them and those of `fields` for the model.
///
/// Errors: two records that are shown have the same key; what the query fails with.
pub fn take(
    found: &mut PairFacts,
    relations: &[Records],
    columns: &[CString],
    fields: &[Vec<RecordColumn>],
) {
    let facts = &mut found.facts;
    facts.columns = facts::names(columns);
    let mut wanted: Vec<Vec<u8>> = facts.shown_keys().cloned().collect();
    wanted.sort();
    wanted.dedup();
    for (side, (records, fields)) in relations.iter().zip(fields).enumerate() {
        reading_fields(|| take_side(found, records, columns, fields, (side, &wanted)));
    }
    found.missing = wanted.len() - found.facts.values.len();
}

/// The same of one relation.
fn take_side(
    found: &mut PairFacts,
    records: &Records,
    columns: &[CString],
    fields: &[RecordColumn],
    (side, wanted): (usize, &[Vec<u8>]),
) {
    let sides = found.facts.sides;
    let of_side = wanted.iter().map(|key| sides.split(key));
    let keys: Vec<&[u8]> = of_side
        .filter_map(|(of, key)| (of == side).then_some(key))
        .collect();
    // What a model compares decides, otherwise what is seen.
    let of_relation = columns.iter().filter(|column| has(records, column));
    let of_model = fields.iter().map(|field| &field.name);
    let decisive: Vec<CString> = match fields {
        [] => of_relation.cloned().collect(),
        _ => of_model.cloned().collect(),
    };
    let tag: &[u8] = match sides {
        KeySides::One => b"",
        KeySides::Two => &b"ab"[side..=side],
    };
    let of_records = hashes(records, &decisive, &keys).into_iter();
    let of_records = of_records.map(|(key, hash)| ([tag, &key].concat(), hash));
    found.facts.hashes.extend(of_records);
    let key = &records.key.name;
    let shown = columns.iter().map(|column| match has(records, column) {
        true => sql!(", {column}"),
        false => Sql::new(", NULL::pg_catalog.text"),
    });
    let compared = fields
        .iter()
        .map(|field| field_value(Sql::new(", "), field));
    let values = Sql::join(shown.chain(compared), "");
    let keys = keys
        .iter()
        .map(|key| literal(&CString::new(*key).unwrap_or_default()));
    let keys = Sql::join(keys, ", ");
    // Pairs have keys as the output of their type writes them, and so does format.
    let sql = sql!(
        "SELECT {key}{values} FROM {records.oid} WHERE pg_catalog.format('%s', {key}) COLLATE pg_catalog.\"C\" \
        OPERATOR(pg_catalog.=) ANY (ARRAY[{keys}]::pg_catalog.text[])"
    );
    let cursor = read(sql, &[], BATCH);
    let mut key_output = cursor.output(0);
    let mut outputs: Vec<_> = (0..columns.len()).map(|i| cursor.output(i + 1)).collect();
    cursor.each(|row| {
        let Some(key) = row.datum(0) else { return };
        let key = key_output.show(key, |key| [tag, key].concat());
        if wanted.binary_search(&key).is_err() {
            return;
        }
        let shown = outputs.iter_mut().enumerate();
        let shown = shown.map(|(i, output)| Some(output.show(row.datum(i + 1)?, beginning)));
        let values = &mut found.facts.values;
        if values.insert(key.clone(), shown.collect()).is_some() {
            repeated(sides.split(&key).1, records);
        }
        let texts =
            (0..fields.len()).map(|i| Some(row.text(1 + columns.len() + i)?.as_str().to_owned()));
        found.texts.insert(key, texts.collect());
    });
}
