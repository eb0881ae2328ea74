//! The records of one relation or two, as texts in temporary files, in the order of their keys.

use std::ffi::CString;

use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::given_keys::GivenKeys;
use crate::models::fields::{base_type, columns};
use crate::pairs::keys::KeyOrder;
use crate::pairs::records::{RecordColumn, Records};
use crate::pairs::unique::{repeated, Successive};
use pg::budget::{push, Budget};
use pg::catalog::{self, is_of_server};
use pg::check_for_interrupts;
use pg::error::{raise, sql_error};
use pg::file::ByteStrings;
use pg::progress::{self, phases, Progress};
use pg::session::fixed_settings::FixedSettings;
use pg::session::{read, BATCH};
use pg::sql::Sql;
use pg::values::text::{readable, Text};

/// Most records: a pair of them and a search have room in 64 bits.
pub const MOST_RECORDS: u32 = 1 << 28;

/// A relation and the columns of it that are compared.
pub struct Table {
    pub records: Records,
    pub columns: Vec<RecordColumn>,
}

/// Some of the records, a bit for each.
#[derive(Default)]
pub struct RecordSet {
    words: Vec<u64>,
    records: u32,
}

impl RecordSet {
    /// So many records, all of which are in it.
    pub fn full(records: u32) -> RecordSet {
        RecordSet {
            words: vec![u64::MAX; records.div_ceil(u64::BITS) as usize],
            records,
        }
    }

    /// The next record, which is in it or not.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, is_in: bool) {
        if self.records.is_multiple_of(u64::BITS) {
            push(&mut self.words, 0);
        }
        if let Some(last) = self.words.last_mut() {
            *last |= u64::from(is_in) << (self.records % u64::BITS);
        }
        self.records += 1;
    }

    /// How many records are in it.
    pub fn members(&self) -> u32 {
        (0..self.records)
            .map(|record| u32::from(self.has(record)))
            .sum()
    }

    /// Whether a record is in it.
    #[inline]
    pub fn has(&self, record: u32) -> bool {
        self.words[(record / u64::BITS) as usize] >> (record % u64::BITS) & 1 == 1
    }

    pub fn remove(&mut self, record: u32) {
        self.words[(record / u64::BITS) as usize] &= !(1 << (record % u64::BITS));
    }
}

/// The keys and the fields of records. Those of a second relation follow those of the first one.
pub struct RecordTexts {
    pub keys: ByteStrings,
    /// The fields of each record, each behind its length in bytes (u32).
    texts: ByteStrings,
    fields: usize,
    pub records: u32,
    /// The first record of the second relation, if there are two.
    pub second: Option<u32>,
    /// Which of them are new, where only these are searched for.
    pub new: Option<RecordSet>,
    /// The keys that are given with them.
    pub given_keys: Option<GivenKeys>,
    /// Memory for the fields of a record.
    buffer: Vec<u8>,
}

/// The text of a column's value as models compare it, within [`reading_fields`]: as `to_jsonb` writes it in a session whose time
/// zone is UTC.
pub fn field_value(sql: Sql, column: &RecordColumn) -> Sql {
    let name = &column.name;
    let as_json = |value: Sql| {
        let json = Sql::with(
            "(pg_catalog.to_json({}) OPERATOR(pg_catalog.#>>) ",
            &[&value],
        );
        json.text("'{}')")
    };
    // an interval and no name, which timezone_abbreviations could give another meaning
    let in_utc = "pg_catalog.timezone('00:00'::pg_catalog.interval, {})";
    let output = "CASE WHEN {} IS NOT NULL THEN pg_catalog.format('%s', {}) END";
    sql.sql(&match base_type(column.type_oid) {
        pg_sys::DATEOID | pg_sys::TIMESTAMPOID => as_json(Sql::new("").name(name)),
        pg_sys::TIMESTAMPTZOID => as_json(Sql::with(in_utc, &[name])),
        // without an exponent
        pg_sys::FLOAT4OID | pg_sys::FLOAT8OID => Sql::with(
            "{}::pg_catalog.text::pg_catalog.numeric::pg_catalog.text",
            &[name],
        ),
        _ if is_of_server(column.type_oid) => Sql::with("{}::pg_catalog.text", &[name]),
        // by its output and no cast, which a user could have made
        _ => Sql::with(output, &[name, name]),
    })
}

/// Runs what reads texts of [`field_value`]: a float has as many digits as make it that float.
pub fn reading_fields<T>(run: impl FnOnce() -> T) -> T {
    let settings = FixedSettings::begin(&[(c"extra_float_digits", c"1")]);
    let result = run();
    settings.end();
    result
}

impl Table {
    /// The relations with the columns of these names.
    ///
    /// Errors: as [`columns`].
    pub fn of_relations(relations: Vec<Records>, names: &[&str]) -> Vec<Table> {
        let with_columns = |records: Records| {
            let relation = readable(catalog::name(records.oid).to_bytes());
            let columns = columns(records.oid, names.iter().copied(), &relation);
            Table { records, columns }
        };
        relations.into_iter().map(with_columns).collect()
    }

    /// Selects key and fields of all records in the order of the keys, so that the rows' order in the table is never
    /// seen; then, where only new ones are searched for, what is not NULL for these; then the keys that are given.
    fn query(&self) -> Sql {
        let records = &self.records;
        let key = &records.key.name;
        let all = Sql::new("").name(key);
        let columns = self.columns.iter();
        let columns = columns.fold(all, |sql, column| field_value(sql.text(", "), column));
        // The columns of the records are named as they are, so no other may have the name of one.
        let mut name = String::from("new");
        let c_name = |name: &str| CString::new(name).unwrap_or_default();
        while catalog::column(records.oid, &c_name(&name)).is_some() {
            name.push('_');
        }
        let (new_key, new) = match &records.new {
            Some(new) => (
                Sql::new(", n.").text(&name),
                new.joined(&records.key, &name),
            ),
            None => (Sql::new(""), Sql::new("")),
        };
        let given_keys = match &records.given_keys {
            Some(column) => Sql::new(", ").name(&column.name),
            None => Sql::new(""),
        };
        let order = match KeyOrder::find(&records.key).is_some() {
            // not by name: a field may have the same one
            true => Sql::new("1"),
            false => Sql::new("").output(key).text(" COLLATE pg_catalog.\"C\""),
        };
        Sql::with(
            "SELECT {}{}{} FROM {} AS r{} ORDER BY {}",
            &[&columns, &new_key, &given_keys, &records.oid, &new, &order],
        )
    }
}

impl RecordTexts {
    /// No records yet. Those that are pushed have no keys.
    pub fn without_keys(fields: usize) -> RecordTexts {
        RecordTexts {
            keys: ByteStrings::new(0),
            texts: ByteStrings::new(0),
            fields,
            records: 0,
            second: None,
            new: None,
            given_keys: None,
            buffer: Vec::new(),
        }
    }

    /// Reads one relation or two, with the caller's privileges. `note` gets each record's key, as text in the
    /// database's encoding, the number of its relation, and its own; `see` gets its number and fields.
    ///
    /// Errors: what the query fails with; a key that is null, or that two records have; more records than have numbers.
    pub fn read(
        tables: &[Table],
        job: &'static str,
        mut note: impl FnMut(&[u8], usize, u32),
        mut see: impl FnMut(u32, &[Option<&str>]),
    ) -> RecordTexts {
        let given_keys = tables[0].records.given_keys.as_ref();
        let mut all = RecordTexts {
            new: tables[0].records.new.as_ref().map(|_| RecordSet::default()),
            given_keys: given_keys.map(|_| GivenKeys::new(Budget::of_setting().bytes() / 4)),
            ..RecordTexts::without_keys(tables[0].columns.len())
        };
        let mut progress = Progress::new(job);
        for (i, table) in tables.iter().enumerate() {
            if i == 1 {
                all.second = Some(all.records);
            }
            let mut note = |key: &[u8], record| note(key, i, record);
            reading_fields(|| all.read_table(table, &mut progress, &mut note, &mut see));
        }
        all
    }

    fn read_table(
        &mut self,
        table: &Table,
        progress: &mut Progress,
        note: &mut impl FnMut(&[u8], u32),
        see: &mut impl FnMut(u32, &[Option<&str>]),
    ) {
        let records = &table.records;
        if let Some(new) = &records.new {
            new.check();
        }
        let mut successive = Successive::new(&records.key);
        let mut last: Option<Vec<u8>> = None;
        progress::phase(phases::READING, None);
        let cursor = read(table.query(), &[], BATCH);
        let mut output = cursor.output(0);
        cursor.each(|row| {
            let Some(key) = row.datum(0) else {
                null_key(records);
            };
            if successive.as_mut().is_some_and(|last| last.is_again(key)) {
                output.show(key, |key| repeated(key, records));
            }
            // different values may have the same text
            output.show(key, |key| {
                if last.as_deref() == Some(key) {
                    repeated(key, records);
                }
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
                note(key, self.records);
                self.keys.push(Some(key));
            });
            let values: Vec<Option<Text<'_>>> = (1..=self.fields).map(|i| row.text(i)).collect();
            let fields: Vec<Option<&str>> = values
                .iter()
                .map(|v| v.as_ref().map(Text::as_str))
                .collect();
            see(self.records, &fields);
            let mut next = self.fields + 1;
            if let Some(new) = &mut self.new {
                new.push(row.datum(next).is_some());
                next += 1;
            }
            if let Some(given) = &mut self.given_keys {
                // SAFETY: the column is of type `bigint[]`, and the row stays as it is meanwhile.
                unsafe { given.push(self.records, row.datum(next)) };
            }
            self.push(&fields);
            progress.report(|| format!("{} records read", self.records));
        });
    }

    /// The records of each relation.
    pub fn by_relation(&self) -> Vec<u32> {
        match self.second {
            None => vec![self.records],
            Some(second) => vec![second, self.records - second],
        }
    }

    /// The records of the smaller relation, if there are two.
    pub fn smaller(&self) -> Option<u32> {
        self.second.map(|second| second.min(self.records - second))
    }

    /// The fields of the next record.
    ///
    /// Errors: more records than have numbers.
    pub fn push(&mut self, fields: &[Option<&str>]) {
        if self.records == MOST_RECORDS {
            raise(&Error::new(
                ErrorKind::LimitExceeded,
                format!("cannot compare more than {MOST_RECORDS} records"),
            ));
        }
        self.buffer.clear();
        for field in fields {
            let text = field.unwrap_or("");
            self.buffer
                .extend_from_slice(&(text.len() as u32).to_le_bytes());
            self.buffer.extend_from_slice(text.as_bytes());
        }
        self.texts.push(Some(&self.buffer));
        self.records += 1;
    }

    /// Gives the fields of every record to `each`, in order. A missing value is empty.
    pub fn each(&mut self, each: impl FnMut(u32, &[String])) {
        self.each_of(|_| true, each);
    }

    /// The same of those that `has` says.
    pub fn each_of(&mut self, has: impl Fn(u32) -> bool, mut each: impl FnMut(u32, &[String])) {
        let mut fields = vec![String::new(); self.fields];
        progress::phase(phases::PREPARING, Some(self.records.into()));
        for record in 0..self.records {
            check_for_interrupts();
            progress::step();
            if has(record) {
                self.get(record, &mut fields);
                each(record, &fields);
            }
        }
    }

    /// The fields of one record.
    pub fn get(&mut self, record: u32, fields: &mut Vec<String>) {
        fields.resize(self.fields, String::new());
        let mut rest = self.texts.get(record.into()).unwrap_or_default();
        for field in fields {
            let text = rest.split_first_chunk().and_then(|(len, behind)| {
                let text;
                (text, rest) = behind.split_at_checked(u32::from_le_bytes(*len) as usize)?;
                std::str::from_utf8(text).ok()
            });
            field.clear();
            field.push_str(text.expect("texts are written in UTF-8"));
        }
    }
}

fn null_key(records: &Records) -> ! {
    let key = readable(records.key.name.to_bytes());
    raise(&sql_error(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, "key of a record is null").hint(format!(
            "Name a key column that is not null, instead of \"{key}\", or use a view that leaves such records out."
        )),
    )
}
