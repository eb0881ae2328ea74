//! The type `jsonb`, as the JSON text that it stands for, or part by part.

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;

use crate::check_for_interrupts;
use crate::error::raise;
use crate::ffi;
use crate::output::text_form;
use crate::values::text::{is_utf8, to_database, utf8};
use crate::values::varlena::Varlena;

/// The text of a value, in UTF-8.
///
/// Errors: the database's encoding does not say what its characters are.
///
/// # Safety
/// `value` is a `jsonb` that is not NULL.
pub unsafe fn json_text(value: pg_sys::Datum) -> String {
    // SAFETY: the caller's.
    let text = unsafe { text_form(value, pg_sys::JSONBOID) };
    valid(utf8(&text))
}

fn valid(text: Option<String>) -> String {
    text.unwrap_or_else(|| {
        raise(&Error::new(
            ErrorKind::InvalidText,
            "jsonb value is not valid UTF-8",
        ))
    })
}

/// A new `jsonb` of a JSON text.
///
/// Errors: no JSON, or some that jsonb cannot hold; a character that the database's encoding does not have.
pub fn jsonb_datum(text: &str) -> pg_sys::Datum {
    let Ok(text) = CString::new(to_database(text)) else {
        raise(&Error::new(
            ErrorKind::InvalidText,
            "JSON text has a zero byte",
        ))
    };
    let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: a type that exists. Its input function takes a zero-terminated string, and gives a value that does not
    // point into it.
    unsafe {
        pg_sys::getTypeInputInfo(pg_sys::JSONBOID, &mut function, &mut parameter);
        ffi::OidInputFunctionCall(function, text.as_ptr().cast_mut(), parameter, -1)
    }
}

/// An object, of which members are looked up.
pub struct JsonObject<'a>(Varlena<'a>);

/// The value of a member that is none: an array, or an object.
pub struct NoScalar;

impl<'a> JsonObject<'a> {
    /// `None` if the value is no object.
    ///
    /// # Safety
    /// `value` is a `jsonb` that is not NULL, and lives as long as `'a`.
    pub unsafe fn new(value: pg_sys::Datum) -> Option<JsonObject<'a>> {
        // SAFETY: the caller's. A jsonb begins with a container.
        unsafe {
            let whole = Varlena::aligned(value);
            let json: *const pg_sys::Jsonb = whole.pointer().cast();
            ((*json).root.header & pg_sys::JB_FOBJECT != 0).then(|| JsonObject(whole))
        }
    }

    /// The object as JSON text, in UTF-8.
    ///
    /// Errors: the database's encoding does not say what its characters are.
    pub fn text(&self) -> String {
        // SAFETY: a jsonb, in one piece.
        unsafe { json_text(pg_sys::Datum::from(self.0.pointer())) }
    }

    /// The object as it is stored: equal bytes are equal objects.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The text of a member, whose name is in the database's encoding: a string, or a number or boolean as JSON writes it.
    /// `None` if there is no such member, or if it is `null`.
    ///
    /// Errors: the database's encoding does not say what its characters are.
    pub fn member(&self, name: &[u8]) -> std::result::Result<Option<Cow<'_, str>>, NoScalar> {
        self.value_of(name).map(Option::flatten)
    }

    /// The same, and `None` for no such member, but the inner one for `null`.
    ///
    /// Errors: as above.
    pub fn value_of(
        &self,
        name: &[u8],
    ) -> std::result::Result<Option<Option<Cow<'_, str>>>, NoScalar> {
        use pg_sys::jbvType;
        let json: *mut pg_sys::Jsonb = self.0.pointer().cast();
        let mut room = std::mem::MaybeUninit::<pg_sys::JsonbValue>::zeroed();
        // SAFETY: the value is an object, and lives as long as `self`. The server writes the member to the room that it is
        // given; its type says which field of the union is set.
        unsafe {
            let found = pg_sys::getKeyJsonValueFromContainer(
                &raw mut (*json).root,
                name.as_ptr().cast(),
                name.len() as i32,
                room.as_mut_ptr(),
            );
            let Some(member) = found.as_ref() else {
                return Ok(None);
            };
            Ok(Some(match member.type_ {
                jbvType::jbvNull => None,
                jbvType::jbvString => {
                    let text = member.val.string;
                    let text: &[u8] =
                        std::slice::from_raw_parts(text.val.cast::<u8>(), text.len as usize);
                    Some(match std::str::from_utf8(text) {
                        Ok(text) if is_utf8() || text.is_ascii() => Cow::Borrowed(text),
                        _ => Cow::Owned(valid(utf8(text))),
                    })
                }
                jbvType::jbvNumeric => {
                    let number = pg_sys::Datum::from(member.val.numeric);
                    let text = text_form(number, pg_sys::NUMERICOID);
                    Some(Cow::Owned(valid(utf8(&text))))
                }
                jbvType::jbvBool => Some(Cow::Borrowed(match member.val.boolean {
                    true => "true",
                    false => "false",
                })),
                _ => return Err(NoScalar),
            }))
        }
    }
}

/// What is met on the way through a value.
pub enum JsonPart<'a> {
    /// An object or an array begins.
    Begin,
    /// The one that began last ends.
    End,
    /// A key; its value follows.
    Key(&'a str),
    Text(&'a str),
    /// In decimal writing, without an exponent and without zeros at the end of a fraction.
    Number(&'a str),
    Boolean(bool),
    Null,
}

/// Calls `each` with the parts of a value, in order. A value that is neither object nor array is within an array.
///
/// Errors: those of `each`; the database's encoding does not say what its characters are.
///
/// # Safety
/// `value` is a `jsonb` that is not NULL.
pub unsafe fn read_json(
    value: pg_sys::Datum,
    mut each: impl FnMut(JsonPart<'_>) -> Result<()>,
) -> Result<()> {
    use pg_sys::{jbvType, JsonbIteratorToken as Token};
    // SAFETY: a jsonb, detoasted and aligned. The copy, if there is one, lives until the end.
    let whole = unsafe { Varlena::aligned(value) };
    let json: *mut pg_sys::Jsonb = whole.pointer().cast();
    let mut part = std::mem::MaybeUninit::<pg_sys::JsonbValue>::zeroed();
    // SAFETY: the iterator is the server's; it writes the part that it comes to, whose type says which field of the
    // union is set.
    unsafe {
        let mut iterator = pg_sys::JsonbIteratorInit(&raw mut (*json).root);
        loop {
            check_for_interrupts();
            let token = pg_sys::JsonbIteratorNext(&mut iterator, part.as_mut_ptr(), false);
            let value = &*part.as_ptr();
            match token {
                Token::WJB_DONE => return Ok(()),
                Token::WJB_BEGIN_ARRAY | Token::WJB_BEGIN_OBJECT => each(JsonPart::Begin)?,
                Token::WJB_END_ARRAY | Token::WJB_END_OBJECT => each(JsonPart::End)?,
                _ => match value.type_ {
                    jbvType::jbvString => {
                        let text = value.val.string;
                        let bytes =
                            std::slice::from_raw_parts(text.val.cast::<u8>(), text.len as usize);
                        let text = valid(utf8(bytes));
                        match token {
                            Token::WJB_KEY => each(JsonPart::Key(&text))?,
                            _ => each(JsonPart::Text(&text))?,
                        }
                    }
                    jbvType::jbvNumeric => {
                        let digits = pg_sys::numeric_normalize(value.val.numeric);
                        let given = CStr::from_ptr(digits).to_string_lossy();
                        let done = each(JsonPart::Number(&given));
                        pg_sys::pfree(digits.cast());
                        done?;
                    }
                    jbvType::jbvBool => each(JsonPart::Boolean(value.val.boolean))?,
                    _ => each(JsonPart::Null)?,
                },
            }
        }
    }
}
