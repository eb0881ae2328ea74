//! Texts, JSON values and sequences become tokens, which are compared.

use base::{Error, Result};
use pgrx::pg_sys;
use text::tokens::{
    check_width, for_each_character, for_each_numbered, for_each_run, for_each_token,
    for_each_uax29_word, for_each_word, JsonTokens, Overlap,
};

use pg::error::OrRaise;
use pg::values::jsonb::{read_json, JsonPart};
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{TextArray, Tokens};

// Texts to tokens, to words and to characters.

/// `(text text) RETURNS text[]`
#[entry]
fn ident_tokens_of_text(text: Text<'_>) -> NewValue {
    TextArray::filled(|tokens| {
        for_each_token(text.as_str(), check_for_interrupts, |token| {
            tokens.push_text(token)
        })
    })
}

/// `(text text, uax29 boolean) RETURNS text[]`
#[entry]
fn ident_words(text: Text<'_>, uax29: bool) -> NewValue {
    TextArray::filled(|words| {
        let keep = |word: &str| words.push_text(word);
        if uax29 {
            for_each_uax29_word(text.as_str(), check_for_interrupts, keep)
        } else {
            for_each_word(text.as_str(), check_for_interrupts, keep)
        }
    })
}

/// `(text text) RETURNS text[]`
#[entry]
fn ident_characters(text: Text<'_>) -> NewValue {
    TextArray::filled(|characters| {
        for_each_character(text.as_str(), check_for_interrupts, |token| {
            characters.push_text(token)
        })
    })
}

// JSON values to tokens.

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

// Lists of words, steps and goods to tokens.

/// Runs of `width` elements of the first argument as one token each, with `between` between them.
fn runs(fcinfo: pg_sys::FunctionCallInfo, least: &str, between: &[u8]) -> NewValue {
    let run = |array: &mut TextArray| -> Result<()> {
        // SAFETY: declared as (text[], integer), and STRICT.
        let (list, width) = unsafe {
            let width = (*fcinfo).args.as_slice(2)[1].value.value() as i32;
            (Tokens::argument(fcinfo, 0)?, width)
        };
        let width = check_width(least, width.into())?;
        let mut parts: Vec<&[u8]> = Vec::new();
        for_each_run(&list.list()?, width, check_for_interrupts, |run| {
            parts.clear();
            parts
                .try_reserve(2 * run.len())
                .map_err(|_| Error::out_of_memory(2 * run.len() * size_of::<&[u8]>()))?;
            for (i, part) in run.iter().enumerate() {
                if i > 0 {
                    parts.push(between);
                }
                parts.push(part);
            }
            array.push(&parts)
        })
    };
    TextArray::filled(run)
}

/// `(tokens text[], w integer) RETURNS text[]`
#[entry]
fn ident_shingles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    runs(fcinfo, "A shingle has one word at least.", b" ")
}

/// `(steps text[], w integer) RETURNS text[]`
#[entry]
fn ident_windows(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    runs(fcinfo, "A window has one step at least.", b">")
}

/// `(steps text[]) RETURNS text[]`
#[entry]
fn ident_sequence(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    TextArray::filled(|array| {
        // SAFETY: declared as (text[]), and STRICT.
        let steps = unsafe { Tokens::argument(fcinfo, 0)? };
        for (step, n) in steps.bytes().zip(1u32..) {
            check_for_interrupts();
            array.push(&[b"step", n.to_string().as_bytes(), b"_", step])?;
        }
        Ok(())
    })
}

/// `(tokens text[]) RETURNS text[]`
#[entry]
fn ident_multiset(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    TextArray::filled(|array| {
        // SAFETY: declared as (text[]), and STRICT.
        let tokens = unsafe { Tokens::argument(fcinfo, 0)? };
        for_each_numbered(tokens.bytes(), check_for_interrupts, |token, n| {
            array.push(&[token, b"#", n.to_string().as_bytes()])
        })
    })
}

// Exact similarity of two sets of tokens.

/// Of the first two arguments, which are `text[]`.
fn overlap(fcinfo: pg_sys::FunctionCallInfo) -> Overlap {
    let of = || -> Result<Overlap> {
        // SAFETY: declared as (text[], text[]), and STRICT.
        let (a, b) = unsafe { (Tokens::argument(fcinfo, 0)?, Tokens::argument(fcinfo, 1)?) };
        Overlap::new(&mut a.list()?, &mut b.list()?, check_for_interrupts)
    };
    of().or_raise()
}

/// `(a text[], b text[]) RETURNS float8`
#[entry]
fn ident_token_sim(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    overlap(fcinfo).jaccard()
}

/// `(a text[], b text[]) RETURNS float8`
#[entry]
fn ident_token_containment(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    overlap(fcinfo).containment()
}
