//! What a record has that is not compared: members that are no fields, and values that cannot be read. Neither is an error,
//! since a whole row of the table is a record, too; but whoever has misspelt a name would take it for nobody that is the
//! same.

use std::ffi::CString;

use linkage::model::values::Kind;
use pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION;
use pgrx::{pg_sys, PgLogLevel};

use super::stored::Register;
use crate::models::SingleRecord;
use pg::catalog;
use pg::error::{sql_error, OrRaise, Tell};
use pg::message::words;
use pg::values::jsonb::{read_json, JsonPart};
use pg::values::text::to_database;

/// So many members are named.
const MOST_NAMED: usize = 10;

/// So many letters of a value are shown.
const MOST_SHOWN: usize = 60;

impl Register {
    /// Says which members of a record are no columns of the table.
    ///
    /// # Safety
    /// `json` is a `jsonb` that is an object.
    pub unsafe fn tell_of_unknown(&self, json: pg_sys::Datum) {
        let (mut depth, mut unknown) = (0, Vec::new());
        let each = |part: JsonPart<'_>| {
            match part {
                JsonPart::Begin => depth += 1,
                JsonPart::End => depth -= 1,
                // Looking for a column that there is not takes memory of the session.
                JsonPart::Key(name) if depth == 1 && unknown.len() <= MOST_NAMED => {
                    let name = CString::new(to_database(name)).unwrap_or_default();
                    if catalog::column(self.relation, &name).is_none() {
                        unknown.push(name.into_bytes());
                    }
                }
                _ => (),
            }
            Ok(())
        };
        // SAFETY: the caller's.
        unsafe { read_json(json, each) }.or_raise();
        if unknown.is_empty() {
            return;
        }
        let more = if unknown.len() > MOST_NAMED {
            ", …"
        } else {
            ""
        };
        let more = to_database(more);
        unknown.truncate(MOST_NAMED);
        let unknown = unknown.join(&b", "[..]);
        let fields = self.known.names.join(&b", "[..]);
        sql_error(
            ERRCODE_SUCCESSFUL_COMPLETION,
            words!("members of the record are no columns of table \"{self.relation}\": {unknown}{more}"),
        )
        .detail("They are not compared.")
        .hint(words!("The model compares {fields}."))
        .send(PgLogLevel::NOTICE);
    }

    /// Says which values of a record cannot be read as what their fields have.
    pub fn tell_of_unread(&self, record: &SingleRecord<'_>) {
        let fields = &self.known.ready.model().fields;
        for ((field, name), value) in fields.iter().zip(&self.known.names).zip(record) {
            let value = value.as_deref().unwrap_or_default();
            if value.trim().is_empty() || field.layout.reads(value) {
                continue;
            }
            let shown: String = value.chars().take(MOST_SHOWN).collect();
            let (shown, kind) = (to_database(&shown), field.layout.kind());
            let error = sql_error(
                ERRCODE_SUCCESSFUL_COMPLETION,
                words!("value \"{shown}\" of member \"{name}\" cannot be read"),
            )
            .detail("It is compared as it is written, and agrees with hardly any other.");
            let error = match kind {
                Kind::Date | Kind::Day => error.hint(words!(
                    "Write it as the table does, or fit the model with the formats of both, as in {name}:date(YYYY-MM-DD|DD.MM.YYYY)."
                )),
                _ => error.hint("Write it as the table does."),
            };
            error.send(PgLogLevel::NOTICE);
        }
    }
}
