//! The arguments of the trigger: `column, threshold, action [, option, value] ...`
//!
//! They are texts in any encoding of a server, of which only ASCII is understood. What a message quotes stands there
//! byte by byte, so it is in the same encoding.

use std::ffi::{CStr, CString};

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
    /// All that there are.
    pub const ALL: [GuardAction; 4] = [
        GuardAction::Reject,
        GuardAction::Warn,
        GuardAction::Skip,
        GuardAction::Flag,
    ];

    /// As the trigger's arguments name it.
    pub fn name(self) -> &'static str {
        match self {
            GuardAction::Reject => "reject",
            GuardAction::Warn => "warn",
            GuardAction::Skip => "skip",
            GuardAction::Flag => "flag",
        }
    }

    /// Whether the trigger must fire BEFORE the event. Otherwise it must fire AFTER it.
    pub fn is_before(self) -> bool {
        self == GuardAction::Skip
    }
}

/// What a guard does about signatures that are full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FullSignatures {
    /// They are compared with none.
    Ignore,
    /// They are compared as others are.
    Reject,
}

impl FullSignatures {
    /// As the trigger's arguments name it.
    pub fn name(self) -> &'static str {
        match self {
            FullSignatures::Ignore => "ignore",
            FullSignatures::Reject => "reject",
        }
    }

    fn of_name(text: &CStr) -> Result<FullSignatures, ArgumentError> {
        let all = [FullSignatures::Ignore, FullSignatures::Reject];
        let known = all
            .into_iter()
            .find(|one| one.name().as_bytes() == text.to_bytes());
        known.ok_or_else(|| {
            invalid(&[
                b"option saturated of bloom_guard cannot be \"",
                text.to_bytes(),
                b"\"",
            ])
            .hint("Write ignore or reject.")
        })
    }
}

/// What is wrong with the arguments: an error of kind [`InvalidParameter`](base::ErrorKind::InvalidParameter), whose
/// message has bytes of them in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// Half a sentence in lower case: ASCII, and what it quotes.
    pub message: Vec<u8>,
    /// A whole sentence that says what to do.
    pub hint: Option<&'static str>,
}

fn invalid(parts: &[&[u8]]) -> ArgumentError {
    ArgumentError {
        message: parts.concat(),
        hint: None,
    }
}

impl ArgumentError {
    fn hint(self, hint: &'static str) -> Self {
        ArgumentError {
            hint: Some(hint),
            ..self
        }
    }
}

/// The arguments of a trigger, as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardArguments {
    /// The signature column of the guarded table.
    pub column: CString,
    /// The least similarity that is too much, in [0,1].
    pub threshold: f64,
    /// What happens to a row that reaches it.
    pub action: GuardAction,
    /// The name of the table that pairs are written to: given with [`GuardAction::Flag`], and only then.
    pub review: Option<CString>,
    /// The name of the table that rows are written to that were left out: only with [`GuardAction::Skip`].
    pub skipped: Option<CString>,
    /// The name of the block list: the table that is searched instead of the guarded one.
    pub list: Option<CString>,
    /// The signature column of the block list, which is given then; `None`: the name is that of `column`.
    pub list_column: Option<CString>,
    /// The text that takes the place of the error's or the notice's message; not with [`GuardAction::Flag`].
    pub message: Option<CString>,
    /// The least similarity, in [0,1], that a row must keep to itself when it is changed.
    pub keep: Option<f64>,
    /// Names of columns with commas between: only rows that are equal there are compared.
    pub within: Option<CString>,
    /// The column of tokens, of the guarded table and of the one that is searched: rows that may be similar are
    /// compared by these.
    pub verify: Option<CString>,
    /// What is done about signatures that are full; `None`: they are ignored.
    pub saturated: Option<FullSignatures>,
    /// By how much less than the threshold is searched for then, in [0,1]; `None`: as much as is needed.
    pub margin: Option<f64>,
    /// The name of the table of what people have decided about pairs.
    pub decisions: Option<CString>,
}

/// The options that may stand behind the action.
const OPTIONS: [&[u8]; 11] = [
    b"review",
    b"skipped",
    b"blocklist",
    b"blocklist_column",
    b"message",
    b"keep",
    b"within",
    b"verify",
    b"margin",
    b"saturated",
    b"decisions",
];

impl GuardArguments {
    /// Errors: an argument that is not understood, or that does not fit the others.
    pub fn parse(args: &[impl AsRef<CStr>]) -> Result<Self, ArgumentError> {
        let [column, threshold, action, options @ ..] = args else {
            let n = args.len().to_string();
            return Err(invalid(&[
                b"trigger function bloom_guard needs three arguments or more, not ",
                n.as_bytes(),
            ])
            .hint("Write EXECUTE FUNCTION bloom_guard('signature column', 'threshold', 'action'), then pairs of \
                option and value."));
        };
        let threshold = parse_similarity(b"threshold", threshold.as_ref())?;
        let action = parse_action(action.as_ref())?;
        let mut given: [Option<&CStr>; OPTIONS.len()] = [None; OPTIONS.len()];
        for pair in options.chunks(2) {
            let name = pair[0].as_ref().to_bytes();
            let Some(place) = OPTIONS.iter().position(|option| *option == name) else {
                return Err(
                    invalid(&[b"unrecognized option \"", name, b"\" of bloom_guard"]).hint(
                        "Options are review, skipped, blocklist, blocklist_column, message, keep, within, verify, \
                            margin, saturated and decisions.",
                    ),
                );
            };
            let Some(value) = pair.get(1) else {
                return Err(
                    invalid(&[b"option \"", name, b"\" of bloom_guard has no value"]).hint(
                        "The arguments behind the action are pairs of an option and its value.",
                    ),
                );
            };
            if given[place].replace(value.as_ref()).is_some() {
                return Err(invalid(&[
                    b"option \"",
                    name,
                    b"\" of bloom_guard is given twice",
                ]));
            }
        }
        let [review, skipped, list, list_column, message, keep, within, verify, margin, saturated, decisions] =
            given;
        let [review, skipped, list, list_column, message, within, verify, decisions] = [
            review,
            skipped,
            list,
            list_column,
            message,
            within,
            verify,
            decisions,
        ]
        .map(|text| text.map(CStr::to_owned));
        let keep = keep.map(|text| parse_similarity(b"similarity to keep", text));
        let parsed = GuardArguments {
            column: column.as_ref().to_owned(),
            threshold,
            action,
            review,
            skipped,
            list,
            list_column,
            message,
            keep: keep.transpose()?,
            within,
            verify,
            saturated: saturated.map(FullSignatures::of_name).transpose()?,
            margin: margin.map(parse_margin).transpose()?,
            decisions,
        };
        parsed.check()?;
        Ok(parsed)
    }

    fn check(&self) -> Result<(), ArgumentError> {
        let flags = self.action == GuardAction::Flag;
        if flags && self.review.is_none() {
            return Err(invalid(&[b"action flag needs option \"review\""])
                .hint("Add 'review', 'schema.table' to the arguments."));
        }
        if !flags && self.review.is_some() {
            return Err(invalid(&[
                b"option \"review\" needs action flag, not ",
                self.action.name().as_bytes(),
            ])
            .hint("Take action flag, or leave the option out."));
        }
        if self.skipped.is_some() && self.action != GuardAction::Skip {
            return Err(invalid(&[
                b"option \"skipped\" needs action skip, not ",
                self.action.name().as_bytes(),
            ])
            .hint("Take action skip, or leave the option out."));
        }
        if flags && self.message.is_some() {
            return Err(invalid(&[
                b"option \"message\" has no use with action flag, which reports nothing",
            ]));
        }
        if flags && self.keep.is_some() && self.list.is_some() {
            // The keys of a pair would be of two tables, so a row paired with itself could not be told from others.
            return Err(invalid(&[
                b"option \"keep\" cannot be given with option \"blocklist\" and action flag",
            ])
            .hint(
                "Create two triggers, and let the one with keep check against the table itself.",
            ));
        }
        if self.list_column.is_some() && self.list.is_none() {
            return Err(invalid(&[
                b"option \"blocklist_column\" needs option \"blocklist\"",
            ]));
        }
        if self.verify.is_some() && self.threshold == 0.0 {
            return Err(invalid(&[
                b"threshold 0 of bloom_guard is out of range with option \"verify\"",
            ])
            .hint("Give a threshold above 0, such as 0.01, to find rows with tokens in common."));
        }
        if self.margin.is_some() && self.verify.is_none() {
            return Err(invalid(&[b"option \"margin\" needs option \"verify\""])
                .hint("Name the column of tokens by option verify, or leave the option out."));
        }
        Ok(())
    }

    /// The signature column of the table that is searched.
    pub fn searched_column(&self) -> &CStr {
        self.list_column.as_deref().unwrap_or(&self.column)
    }
}

/// `what` is what the number is, for the message.
fn parse_similarity(what: &[u8], text: &CStr) -> Result<f64, ArgumentError> {
    parse_number(what, text).map_err(|e| e.hint("Write a similarity, such as 0.85."))
}

fn parse_margin(text: &CStr) -> Result<f64, ArgumentError> {
    let hint = "Write a difference of similarities, such as 0.1.";
    parse_number(b"margin", text).map_err(|e| e.hint(hint))
}

fn parse_number(what: &[u8], text: &CStr) -> Result<f64, ArgumentError> {
    let number = text.to_str().ok().and_then(|s| s.trim().parse().ok());
    let is_within = |number: &f64| (0.0..=1.0).contains(number);
    number.filter(is_within).ok_or_else(|| {
        invalid(&[
            what,
            b" \"",
            text.to_bytes(),
            b"\" of bloom_guard is not a number between 0 and 1",
        ])
    })
}

fn parse_action(text: &CStr) -> Result<GuardAction, ArgumentError> {
    let name = text.to_bytes();
    let known = GuardAction::ALL
        .into_iter()
        .find(|a| a.name().as_bytes() == name);
    known.ok_or_else(|| {
        invalid(&[b"unrecognized action \"", name, b"\" of bloom_guard"])
            .hint("Actions are reject, warn, skip and flag.")
    })
}
