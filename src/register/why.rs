//! `bloom_register_why`: what the model says of two records of a register, and which search brings them together, or why
//! none does.

use linkage::model::keys::SearchKeys;
use pgrx::PgSqlErrorCode::ERRCODE_NO_DATA_FOUND;
use pgrx::{pg_sys, IntoDatum};

use super::find::open;
use super::stored::Register;
use super::texts::RecordTexts;
use crate::models::reading_fields;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::session::Session;
use pg::snapshot::ScanSnapshot;
use pg::sql::Sql;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{entry, sql};

/// `(register regclass, a text, b text) RETURNS TABLE (reason text, a text, b text, finding text, bits float8)`
#[entry(stable, called_on_null, parallel_restricted)]
fn bloom_register_why(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows) = unsafe { (Arguments::new(fcinfo), ResultRows::new(fcinfo)) };
    let register = open(arguments.oid(0));
    let records = [1, 2].map(|i| register.record(arguments.given(i)));
    let [a, b] = &records;
    let (ready, model) = (&register.known.ready, register.known.ready.model());
    let pattern = ready.pattern(a, b).or_raise();
    let n = register.records as f64;
    let text = |text: &str| text_datum(&to_database(text));
    for addend in ready.explain(pattern, n, n * (n - 1.0) / 2.0) {
        rows.make(|| {
            let value = |record: &RecordTexts| match addend.reason {
                linkage::model::Reason::Field(k) => record[k]
                    .as_deref()
                    .map(|value| text(&ready.layout(k).shown(value).or_raise())),
                _ => None,
            };
            Some([
                Some(text(addend.reason.name(model))),
                value(a),
                value(b),
                addend.words.as_deref().map(text),
                addend.bits.into_datum(),
            ])
        });
    }
    for (number, finding) in register.searches(a, b) {
        let meaning = model.search_meaning(&model.searches[number].search);
        rows.make(|| {
            let name = format!("search {number}: {meaning}");
            Some([Some(text(&name)), None, None, Some(text(&finding)), None])
        });
    }
    NewValue(pg_sys::Datum::null())
}

impl Register {
    /// The record of a key, a text that the input of its type reads.
    ///
    /// Errors: there is none that the caller sees.
    fn record(&self, key_text: pg_sys::Datum) -> RecordTexts {
        let (key, columns) = (&self.key.name, self.texts.select());
        let only = Sql::new("").only(self.relation);
        let of_type = Sql::new("").exact_type(self.key.type_oid);
        let query = sql!(
            "SELECT {columns} FROM {only} AS r WHERE {key} OPERATOR(pg_catalog.=) $1::{of_type}"
        );
        let mut found = None;
        let session = Session::begin(true);
        let parameter = (pg_sys::TEXTOID, key_text);
        reading_fields(|| {
            session.each(&query, &[parameter], |row| {
                found = Some(self.texts.of_query(row, 0));
            });
        });
        found.unwrap_or_else(|| {
            // SAFETY: an argument that is a text.
            let shown = unsafe { pg::values::varlena::Varlena::new(key_text) };
            let shown = shown.bytes();
            raise(
                &sql_error(
                    ERRCODE_NO_DATA_FOUND,
                    words!("record \"{shown}\" is not in table \"{self.relation}\""),
                )
                .detail("It was deleted, or the current user may not see it."),
            )
        })
    }

    /// Of each search by keys its number, and what it makes of two records.
    fn searches(&self, a: &RecordTexts, b: &RecordTexts) -> Vec<(usize, String)> {
        let snapshot = ScanSnapshot::active();
        let mut reader = self.read_keys(&snapshot);
        let mut is_open = |key: i64| {
            let mut is_open = true;
            reader.each(key, |row| {
                is_open = row.id().is_some();
                is_open
            });
            is_open
        };
        let (of_a, of_b) = (self.search_keys_of(a), self.search_keys_of(b));
        let common: Vec<i64> = of_a
            .into_iter()
            .filter(|key| of_b.binary_search(key).is_ok())
            .collect();
        let model = self.known.ready.model();
        let name = |&field: &usize| model.fields[field].name.clone();
        let mut finding = |(number, keys): &(usize, SearchKeys)| {
            let mut of_search = common.iter().filter(|&&key| self.search_of(key) == *number);
            let is_any = of_search.clone().next().is_some();
            if of_search.any(|&key| is_open(key)) {
                return "brings the two together".to_owned();
            }
            if is_any {
                let most = model.searches[*number].search.most();
                return format!("too frequent: more than {most} records have this in common");
            }
            let (fields, is_equal) = match keys {
                SearchKeys::Equal(keys) => (&keys.fields, true),
                SearchKeys::Similar(keys) => (&keys.fields, false),
            };
            let of = |record: &RecordTexts, field: usize| {
                let layout = self.known.ready.layout(field);
                let normal = layout.normal(record[field].as_deref().unwrap_or_default());
                normal.or_raise()
            };
            // what is blank is no value
            let is_missing = |&&field: &&usize| of(a, field).is_empty() || of(b, field).is_empty();
            let missing: Vec<String> = fields.iter().filter(is_missing).map(name).collect();
            if !missing.is_empty() {
                return format!("missing in one of the two: {}", missing.join(", "));
            }
            let differ = |&&field: &&usize| of(a, field) != of(b, field);
            let unlike: Vec<String> = fields.iter().filter(differ).map(name).collect();
            match is_equal {
                true => format!("not equal: {}", unlike.join(", ")),
                false => format!("not similar enough: {}", unlike.join(", ")),
            }
        };
        let searches = self.of.keys.searches.iter();
        searches.map(|search| (search.0, finding(search))).collect()
    }
}
