//! JSON values to tokens.

use pgrx::pg_sys;
use text::tokens::JsonTokens;

use pg::values::jsonb::{read_json, JsonPart};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::TextArray;

/// `(value jsonb, singular boolean) RETURNS text[]`
#[entry]
fn ident_tokens_of_json(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: two arguments of these types, STRICT.
    let (json, singular) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, args[1].value.value() != 0)
    };
    TextArray::filled(|array| {
        let mut tokens = JsonTokens::new(singular, check_for_interrupts, |token: &str| {
            array.push_text(token)
        });
        let part = |part: JsonPart<'_>| match part {
            JsonPart::Begin => tokens.begin(),
            JsonPart::End => {
                tokens.end();
                Ok(())
            }
            JsonPart::Key(key) => tokens.key(key),
            JsonPart::Text(text) => tokens.text(text),
            JsonPart::Number(number) => tokens.number(number),
            JsonPart::Boolean(value) => tokens.boolean(value),
            JsonPart::Null => Ok(()),
        };
        // SAFETY: the argument is a jsonb.
        unsafe { read_json(json, part) }
    })
}
