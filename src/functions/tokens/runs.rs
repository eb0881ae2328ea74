//! Lists of words, steps and goods to tokens.

use base::{Error, Result};
use pgrx::pg_sys;
use text::tokens::{check_width, for_each_numbered, for_each_run};

use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{TextArray, Tokens};

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
