//! Keys as texts: records are ordered by them, and decisions name records by them.

use std::borrow::Cow;
use std::ffi::CString;

use pgrx::pg_sys;

use super::super::stored::Register;
use pg::catalog;
use pg::input::value_of;
use pg::output::text_form;
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::values::jsonb::JsonObject;
use pg::values::text::to_database;

/// Types whose texts are the same in all sessions.
const PLAIN: [pg_sys::Oid; 6] = [
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::TEXTOID,
    pg_sys::VARCHAROID,
    pg_sys::UUIDOID,
];

impl Register {
    fn with_fixed_settings<T>(&self, run: impl FnOnce() -> T) -> T {
        if PLAIN.contains(&self.key_type.oid) {
            return run();
        }
        let fixed = FixedSettings::begin(OF_TEXT_FORMS);
        let result = run();
        fixed.end();
        result
    }

    /// The text of a key, in the database's encoding.
    pub fn text_of(&self, id: pg_sys::Datum) -> Vec<u8> {
        // SAFETY: of the key's type.
        let mut text = self.with_fixed_settings(|| unsafe { text_form(id, self.key_type.oid) });
        // As the cast to text has it.
        if self.key_type.oid == pg_sys::BPCHAROID {
            text.truncate(text.trim_ascii_end().len());
        }
        text
    }

    /// The key that a record has as a member, or a text that is none.
    ///
    /// Errors: as [`Register::id_of_text`].
    pub fn key_in<'j>(
        &self,
        object: &'j JsonObject<'_>,
    ) -> Option<Result<pg_sys::Datum, Cow<'j, str>>> {
        let member = object.member(self.key.name.to_bytes()).ok()??;
        // JSON has no integers: 7.0 is one.
        let whole = || {
            let (whole, rest) = member.trim().split_once('.').unwrap_or((member.trim(), ""));
            let is_whole = rest.bytes().all(|digit| digit == b'0');
            self.id_of_text(&to_database(whole)).filter(|_| is_whole)
        };
        let key = self.id_of_text(&to_database(&member)).or_else(whole);
        Some(key.ok_or(member))
    }

    /// The key of a text; `None` if it is none.
    ///
    /// Errors: those of the type's input function that are not about the text.
    pub fn id_of_text(&self, text: &[u8]) -> Option<pg_sys::Datum> {
        let number = || std::str::from_utf8(text).ok()?.parse::<i64>().ok();
        match self.key_type.oid {
            pg_sys::INT2OID => Some(i16::try_from(number()?).ok()?.into()),
            pg_sys::INT4OID => Some(i32::try_from(number()?).ok()?.into()),
            pg_sys::INT8OID => Some(number()?.into()),
            of_type => {
                let text = CString::new(text).ok()?;
                let modifier = catalog::base_type(self.relation, self.key_number).1;
                // SAFETY: the type of the column.
                self.with_fixed_settings(|| unsafe { value_of(&text, of_type, modifier) })
            }
        }
    }
}
