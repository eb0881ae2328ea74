//! E-mail addresses: one form for what reaches the same mailbox, and the parts that fraud leaves traces in.

mod address;
mod domain;
mod provider;

use unicode_normalization::UnicodeNormalization;

pub use provider::{FREE_PROVIDERS, PROVIDER_RULES};

use crate::letters::is_digit;
use crate::{is_letter_or_digit, is_mark};
use address::{written, Refusal};
use base::error::quoted;
use base::{Error, Result};
use domain::canonical_domain;
use provider::{is_free, provider};

/// The crate whose Public Suffix List is compiled in.
pub const PUBLIC_SUFFIX_LIST: &str = "psl 2.1.247";

/// Most bytes of a text that is looked at: an address has 254 at most, and a display name and comments may be around
/// it.
const LONGEST_TEXT: usize = 2000;
/// Most bytes of an address, and of what stands before the `@` (RFC 5321).
const LONGEST: usize = 254;
const LONGEST_LOCAL: usize = 64;

/// An address in its one form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// What names the mailbox; in lower case, without what the provider passes over.
    pub local: String,
    /// What the provider takes for a tag; it does not change which mailbox is reached.
    pub tag: Option<String>,
    /// In ASCII and lower case.
    pub domain: String,
}

/// What can be compared apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmailParts {
    /// The letters of the local part.
    pub letters: String,
    /// The digits of the local part.
    pub digits: String,
    /// The local part with `#` for each run of digits.
    pub pattern: String,
    /// What somebody has registered below a public suffix; `None` for a public suffix itself.
    pub registrable: Option<String>,
    /// Whether the domain is one of a provider that gives mailboxes away.
    pub free: bool,
}

impl Email {
    /// The address as it is stored and compared.
    pub fn text(&self) -> String {
        format!("{}@{}", self.local, self.domain)
    }

    /// Taken apart.
    pub fn parts(&self) -> EmailParts {
        let is_letter = |c: &char| (is_letter_or_digit(*c) || is_mark(*c)) && !is_digit(*c);
        let mut pattern = String::new();
        let mut in_digits = false;
        for c in self.local.chars() {
            if !is_digit(c) {
                pattern.push(c);
            } else if !in_digits {
                pattern.push('#');
            }
            in_digits = is_digit(c);
        }
        EmailParts {
            letters: self.local.chars().filter(is_letter).collect(),
            digits: self.local.chars().filter(|c| is_digit(*c)).collect(),
            pattern,
            registrable: psl::domain_str(&self.domain).map(str::to_owned),
            free: is_free(&self.domain),
        }
    }
}

/// The one form of an address: without display name and comments, in lower case, its domain in ASCII, folded as its
/// provider says.
///
/// Errors: the text is not one address. Blank text is none.
pub fn email(text: &str) -> Result<Email> {
    read(text).map_err(|why| {
        Error::invalid(format!(
            "\"{}\" is not an e-mail address",
            quoted(text.trim())
        ))
        .detail(why)
        .hint("ident_email_or_null() gives NULL instead.")
    })
}

/// The same; `None` for what is not one address.
pub fn email_or_none(text: &str) -> Option<Email> {
    read(text).ok()
}

fn read(text: &str) -> std::result::Result<Email, Refusal> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c));
    if text.len() > LONGEST_TEXT {
        return Err("It has more than 2000 bytes.");
    }
    // Composed first: that makes ASCII of a few characters, which the grammar then has its say in.
    let composed = (!text.is_ascii()).then(|| text.chars().map(narrow).nfc().collect::<String>());
    let text = composed.as_deref().unwrap_or(text);
    // What parts the addresses of a list is left at the end where one of them is copied.
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
    let written = written(text.trim_end_matches(ends))?;
    let domain = canonical_domain(&written.domain)?;
    let local = lower(&written.local);
    if local.len() > LONGEST_LOCAL {
        return Err("More than 64 bytes stand before the \"@\".");
    }
    if local.len() + 1 + domain.len() > LONGEST {
        return Err("It has more than 254 bytes.");
    }
    Ok(folded(local, domain))
}

/// Marks of direction and the like, which are copied with an address and which nobody sees. Only those around it are
/// passed over.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// ASCII for the full-width characters of East Asian keyboards.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from((u32::from(c) - 0xfee0) as u8),
        '\u{fe6b}' => '@',
        _ => c,
    }
}

/// In lower case and then in composed form, by tables of fixed versions.
fn lower(local: &str) -> String {
    if local.is_ascii() {
        return local.to_ascii_lowercase();
    }
    let lower = |c: char| match unicode_case_mapping::to_lowercase(c) {
        [0, 0] => [c as u32, 0],
        mapped => mapped,
    };
    let chars = local.chars().flat_map(lower).filter(|&code| code != 0);
    chars.filter_map(char::from_u32).nfc().collect()
}

/// Dots, tags and names of the provider, where nothing but the same mailbox can be meant.
fn folded(local: String, domain: String) -> Email {
    let plain = |local, domain| Email {
        local,
        tag: None,
        domain,
    };
    let Some(provider) = provider(&domain).filter(|_| !local.starts_with('"')) else {
        return plain(local, domain);
    };
    let (name, tag) = match local.split_once(provider.tag) {
        Some((name, tag)) => (name, Some(tag.to_owned())),
        None => (local.as_str(), None),
    };
    let name = name.replace(provider.ignores, "");
    // what is left must be a local part
    if name.is_empty() || name.ends_with('.') {
        return plain(local, domain);
    }
    let domain = match provider.name {
        "" => domain,
        name => name.to_owned(),
    };
    Email {
        local: name,
        tag,
        domain,
    }
}
