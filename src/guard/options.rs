//! The arguments of the trigger: `column, threshold, action [, option, value] ...`

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pg::list;
use crate::pg::message::{words, Message, OrMessage};

/// What happens to a row that is too similar to another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardAction {
    /// The statement fails.
    Reject,
    /// A warning is sent.
    Warn,
    /// A notice is sent, and the row is left out.
    Skip,
    /// The pair is written to the review table.
    Flag,
}

impl GuardAction {
    /// As the trigger's arguments name it.
    pub fn name(self) -> &'static str {
        match self {
            GuardAction::Reject => "reject",
            GuardAction::Warn => "warn",
            GuardAction::Skip => "skip",
            GuardAction::Flag => "flag",
        }
    }
}

/// A table as the trigger names it.
pub struct TableName {
    /// `None`: the schema of the table with the trigger.
    pub schema: Option<CString>,
    pub name: CString,
}

/// The arguments of a trigger.
pub struct GuardOptions {
    /// The signature column of the guarded table.
    pub column: CString,
    /// The least similarity that is too much, in [0,1].
    pub threshold: f64,
    pub action: GuardAction,
    /// The table that pairs are written to: given with `GuardAction::Flag`, and only then.
    pub review: Option<TableName>,
    /// The block list: the table that is searched instead of the guarded one.
    pub list: Option<TableName>,
    /// The signature column of the block list; `None`: the name is that of `column`.
    pub list_column: Option<CString>,
    /// The text that takes the place of the error's or the notice's message.
    pub message: Option<CString>,
}

const USAGE: &str =
    "Write EXECUTE FUNCTION bloom_guard('signature column', 'threshold', 'action'), then pairs of option and value.";

fn invalid(message: Vec<u8>) -> Box<Message> {
    Message::of(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
}

impl GuardOptions {
    /// The signature column of the table that is searched.
    pub fn searched_column(&self) -> &CStr {
        self.list_column.as_ref().unwrap_or(&self.column)
    }

    /// Whether the trigger must fire BEFORE the event. Otherwise it must fire AFTER it.
    pub fn is_before(&self) -> bool {
        self.action == GuardAction::Skip
    }

    /// Errors: an argument that is not understood or does not fit the others (22023), a malformed table name (42602).
    pub fn parse(args: &[CString]) -> OrMessage<GuardOptions> {
        let [column, threshold, action, options @ ..] = args else {
            return Err(invalid(words!(
                "trigger function bloom_guard needs three arguments or more, not ",
                args.len().to_string()
            ))
            .hint(words!(USAGE)));
        };
        let mut parsed = GuardOptions {
            column: column.clone(),
            threshold: parse_threshold(threshold)?,
            action: parse_action(action)?,
            review: None,
            list: None,
            list_column: None,
            message: None,
        };
        for pair in options.chunks(2) {
            let name = &pair[0];
            let Some(value) = pair.get(1) else {
                if !OPTIONS.contains(&name.to_bytes()) {
                    return Err(unrecognized(name));
                }
                return Err(
                    invalid(words!("option \"", name, "\" of bloom_guard has no value")).hint(
                        words!(
                            "The arguments behind the action are pairs of an option and its value."
                        ),
                    ),
                );
            };
            parsed.set(name, value)?;
        }
        parsed.check()?;
        Ok(parsed)
    }

    fn set(&mut self, name: &CStr, value: &CStr) -> OrMessage<()> {
        let given_before = match name.to_bytes() {
            b"review" => self.review.replace(parse_table(value)?).is_some(),
            b"blocklist" => self.list.replace(parse_table(value)?).is_some(),
            b"blocklist_column" => self.list_column.replace(value.to_owned()).is_some(),
            b"message" => self.message.replace(value.to_owned()).is_some(),
            _ => return Err(unrecognized(name)),
        };
        if given_before {
            return Err(invalid(words!(
                "option \"",
                name,
                "\" of bloom_guard is given twice"
            )));
        }
        Ok(())
    }

    fn check(&self) -> OrMessage<()> {
        let flags = self.action == GuardAction::Flag;
        if flags && self.review.is_none() {
            return Err(invalid(words!("action flag needs option \"review\""))
                .hint(words!("Add 'review', 'schema.table' to the arguments.")));
        }
        if !flags && self.review.is_some() {
            return Err(invalid(words!(
                "option \"review\" needs action flag, not ",
                self.action.name()
            ))
            .hint(words!("Take action flag, or leave the option out.")));
        }
        if flags && self.message.is_some() {
            return Err(invalid(words!(
                "option \"message\" has no use with action flag, which reports nothing"
            )));
        }
        if self.list_column.is_some() && self.list.is_none() {
            return Err(invalid(words!(
                "option \"blocklist_column\" needs option \"blocklist\""
            )));
        }
        Ok(())
    }
}

const OPTIONS: [&[u8]; 4] = [b"review", b"blocklist", b"blocklist_column", b"message"];

fn unrecognized(option: &CStr) -> Box<Message> {
    invalid(words!(
        "unrecognized option \"",
        option,
        "\" of bloom_guard"
    ))
    .hint(words!(
        "Options are review, blocklist, blocklist_column and message."
    ))
}

fn parse_threshold(text: &CStr) -> OrMessage<f64> {
    let number = text.to_str().ok().and_then(|s| s.trim().parse().ok());
    match number {
        Some(t) if (0.0..=1.0).contains(&t) => Ok(t),
        _ => Err(invalid(words!(
            "threshold \"",
            text,
            "\" of bloom_guard is not a number between 0 and 1"
        ))
        .hint(words!("Write a similarity, such as 0.85."))),
    }
}

fn parse_action(text: &CStr) -> OrMessage<GuardAction> {
    let all = [
        GuardAction::Reject,
        GuardAction::Warn,
        GuardAction::Skip,
        GuardAction::Flag,
    ];
    let known = all.iter().find(|a| a.name().as_bytes() == text.to_bytes());
    known.copied().ok_or_else(|| {
        invalid(words!("unrecognized action \"", text, "\" of bloom_guard"))
            .hint(words!("Actions are reject, warn, skip and flag."))
    })
}

/// A name as SQL writes it: `table` or `schema.table`, with quotes where they are needed.
///
/// Errors: it is malformed or has more parts (42602).
fn parse_table(text: &CStr) -> OrMessage<TableName> {
    // SAFETY: the argument is a C string. The server raises an error for a text that is not a name; the parts of a name are
    // String nodes, which have C strings.
    let mut parts: Vec<CString> = unsafe {
        let names = pg_sys::textToQualifiedNameList(pg_sys::cstring_to_text(text.as_ptr()));
        let part = |node: *mut pg_sys::Node| {
            CStr::from_ptr((*node.cast::<pg_sys::String>()).sval).to_owned()
        };
        list::nodes(names).into_iter().map(part).collect()
    };
    let name = parts.pop();
    let schema = parts.pop();
    match name {
        Some(name) if parts.is_empty() => Ok(TableName { schema, name }),
        _ => Err(Message::of(
            PgSqlErrorCode::ERRCODE_INVALID_NAME,
            words!(
                "table name \"",
                text,
                "\" of bloom_guard has too many parts"
            ),
        )
        .hint(words!("Write 'schema.table'."))),
    }
}
