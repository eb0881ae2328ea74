//! The arguments of the trigger: `column, threshold, action [, option, value] ...`
//!
//! They are texts in any encoding of a server, of which only ASCII is understood. What a message quotes stands there
//! byte by byte, so it is in the same encoding.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use base::range::of_percent;
use base::{Error, Result};

base::named! {
    /// What happens to a row that is too similar to another one.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum GuardAction {
        /// The statement fails.
        Reject = "reject",
        /// A warning is sent.
        Warn = "warn",
        /// A notice is sent, and the row is left out.
        Skip = "skip",
        /// The pair is written to the review table.
        Flag = "flag",
    }
}

impl GuardAction {
    /// Whether the trigger must fire BEFORE the event. Otherwise it must fire AFTER it.
    pub fn is_before(self) -> bool {
        self == GuardAction::Skip
    }
}

/// An error without a hint if that is empty. Its message has bytes of the arguments in it.
fn invalid<T>(parts: &[&[u8]], hint: &str) -> Result<T> {
    Err(Error::invalid(parts.concat()).hint(hint))
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
    /// Whether signatures that are full are compared as others are. Otherwise they are compared with none.
    pub compares_full: bool,
    /// By how much less than the threshold is searched for then, in [0,1]; `None`: as much as is needed.
    pub margin: Option<f64>,
    /// The name of the table of what people have decided about pairs.
    pub decisions: Option<CString>,
    /// The name of the register by whose model rows are compared: then the column is that of its key, and the threshold a
    /// probability.
    pub register: Option<CString>,
}

/// The options that may stand behind the action.
const OPTIONS: &str = "review skipped blocklist blocklist_column message keep within verify margin saturated decisions register";

/// What messages call the trigger, and what hints say of its options.
struct Words {
    guard: &'static [u8],
    options: &'static str,
}

const OF_SIGNATURES: Words = Words {
    guard: b"bloom_guard",
    options: "Options are review, skipped, blocklist, blocklist_column, message, keep, within, verify, margin, \
        saturated and decisions.",
};

/// Of triggers that name a register: nobody has to know by which function they are called.
const OF_REGISTER: Words = Words {
    guard: b"a guard by model",
    options: "Options are review, skipped, message and decisions.",
};

impl GuardArguments {
    /// Errors: an argument that is not understood, or that does not fit the others.
    pub fn parse(args: &[impl AsRef<CStr>]) -> Result<Self> {
        let [column, threshold, action, options @ ..] = args else {
            let n = args.len().to_string();
            let message = b"trigger function bloom_guard needs three arguments or more, not ";
            return invalid(
                &[message, n.as_bytes()],
                "Write EXECUTE FUNCTION bloom_guard('signature column', 'threshold', 'action'), \
                    then pairs of option and value.",
            );
        };
        let mut names = options.iter().step_by(2).map(AsRef::as_ref);
        let words = match names.any(|name| name == c"register") {
            true => &OF_REGISTER,
            false => &OF_SIGNATURES,
        };
        let similarity = "Write a similarity, such as 0.85.";
        let threshold = parse_number("threshold", threshold.as_ref(), similarity)?;
        let name = action.as_ref().to_bytes();
        let known = std::str::from_utf8(name).ok().and_then(GuardAction::named);
        let Some(action) = known else {
            let parts = [b"unrecognized action \"", name, b"\" of ", words.guard];
            return invalid(&parts, "Actions are reject, warn, skip and flag.").map_err(|error| {
                let actions = GuardAction::ALL.map(GuardAction::name);
                error.perhaps("action", &String::from_utf8_lossy(name), actions)
            });
        };
        let mut given = parse_options(options, words)?;
        let mut option = |name: &str| given.remove(name.as_bytes());
        let number = |what, text: Option<&CStr>, hint| {
            text.map(|text| parse_number(what, text, hint)).transpose()
        };
        let keep = number("similarity to keep", option("keep"), similarity)?;
        let compares_full = match option("saturated").map(CStr::to_bytes) {
            None | Some(b"ignore") => false,
            Some(b"reject") => true,
            Some(other) => {
                let parts = [
                    b"option saturated of bloom_guard cannot be \"",
                    other,
                    b"\"",
                ];
                return invalid(&parts, "Write ignore or reject.");
            }
        };
        let difference = "Write a difference of similarities, such as 0.1.";
        let margin = number("margin", option("margin"), difference)?;
        let mut text = |name| option(name).map(CStr::to_owned);
        let parsed = GuardArguments {
            column: column.as_ref().to_owned(),
            threshold,
            action,
            review: text("review"),
            skipped: text("skipped"),
            list: text("blocklist"),
            list_column: text("blocklist_column"),
            message: text("message"),
            keep,
            within: text("within"),
            verify: text("verify"),
            compares_full,
            margin,
            decisions: text("decisions"),
            register: text("register"),
        };
        parsed.check()?;
        Ok(parsed)
    }

    /// Errors: options that do not fit each other, or the action.
    fn check(&self) -> Result<()> {
        let flags = self.action == GuardAction::Flag;
        let needs = |option, wanted| {
            format!(
                "option \"{option}\" needs action {wanted}, not {}",
                self.action.name()
            )
        };
        let (review, skipped) = (needs("review", "flag"), needs("skipped", "skip"));
        let rules = [
            (
                flags && self.review.is_none(),
                "action flag needs option \"review\"",
                "Add 'review', 'schema.table' to the arguments.",
            ),
            (
                !flags && self.review.is_some(),
                &review,
                "Take action flag, or leave the option out.",
            ),
            (
                self.skipped.is_some() && self.action != GuardAction::Skip,
                &skipped,
                "Take action skip, or leave the option out.",
            ),
            (
                flags && self.message.is_some(),
                "option \"message\" has no use with action flag, which reports nothing",
                "",
            ),
            (
                // The keys of a pair would be of two tables, so a row paired with itself could not be told from others.
                flags && self.keep.is_some() && self.list.is_some(),
                "option \"keep\" cannot be given with option \"blocklist\" and action flag",
                "Create two triggers, and let the one with keep check against the table itself.",
            ),
            (
                self.list_column.is_some() && self.list.is_none(),
                "option \"blocklist_column\" needs option \"blocklist\"",
                "",
            ),
            (
                self.verify.is_some() && self.threshold == 0.0,
                "threshold 0 of bloom_guard is out of range with option \"verify\"",
                "Give a threshold above 0, such as 0.01, to find rows with tokens in common.",
            ),
            (
                self.margin.is_some() && self.verify.is_none(),
                "option \"margin\" needs option \"verify\"",
                "Name the column of tokens by option verify, or leave the option out.",
            ),
        ];
        let of_signatures = [
            ("blocklist", self.list.is_some()),
            ("blocklist_column", self.list_column.is_some()),
            ("keep", self.keep.is_some()),
            ("within", self.within.is_some()),
            ("verify", self.verify.is_some()),
            ("margin", self.margin.is_some()),
            ("saturated", self.compares_full),
        ];
        if let Some((option, _)) = of_signatures
            .iter()
            .find(|(_, is_given)| *is_given && self.register.is_some())
        {
            return invalid(
                &[
                    b"option \"",
                    option.as_bytes(),
                    b"\" cannot be given where rows are compared by a model",
                ],
                "Leave the option out, or guard the table by signatures, with bloom_guard_create().",
            );
        }
        for (is_broken, message, hint) in rules {
            if is_broken {
                return invalid(&[message.as_bytes()], hint);
            }
        }
        Ok(())
    }

    /// The signature column of the table that is searched.
    pub fn searched_column(&self) -> &CStr {
        self.list_column.as_deref().unwrap_or(&self.column)
    }
}

/// The values of options by their names.
///
/// Errors: an option that there is not, one without a value, or one that is given twice.
fn parse_options<'o>(
    options: &'o [impl AsRef<CStr>],
    words: &Words,
) -> Result<HashMap<&'o [u8], &'o CStr>> {
    let mut given = HashMap::new();
    for pair in options.chunks(2) {
        let name = pair[0].as_ref().to_bytes();
        if !OPTIONS.split(' ').any(|option| option.as_bytes() == name) {
            let parts = [b"unrecognized option \"", name, b"\" of ", words.guard];
            return invalid(&parts, words.options).map_err(|error| {
                error.perhaps("option", &String::from_utf8_lossy(name), OPTIONS.split(' '))
            });
        }
        let Some(value) = pair.get(1) else {
            return invalid(
                &[b"option \"", name, b"\" of ", words.guard, b" has no value"],
                "The arguments behind the action are pairs of an option and its value.",
            );
        };
        if given.insert(name, value.as_ref()).is_some() {
            return invalid(
                &[
                    b"option \"",
                    name,
                    b"\" of ",
                    words.guard,
                    b" is given twice",
                ],
                "",
            );
        }
    }
    Ok(given)
}

/// `what` is what the number is, for the message.
fn parse_number(what: &str, text: &CStr, hint: &'static str) -> Result<f64> {
    let number = text.to_str().ok().and_then(|s| s.trim().parse().ok());
    let parts = [
        what.as_bytes(),
        b" \"",
        text.to_bytes(),
        b"\" of bloom_guard is not a number between 0 and 1",
    ];
    match number {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => match number.and_then(of_percent) {
            Some(of_percent) => invalid(&parts, &of_percent),
            None => invalid(&parts, hint),
        },
    }
}
