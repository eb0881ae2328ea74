//! How the values of a field are compared.

use std::fmt;

use base::{Error, ErrorKind, Result};

/// How the values of a field are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Words: by the similarity of n-grams.
    Text,
    /// A name of a person.
    Name,
    /// Year, month and day.
    Date,
    /// A number of an identity card and the like: equal, a character off, or else.
    Code,
    /// A quantity: by the difference.
    Number,
    /// A number of a telephone: by its last digits.
    Phone,
    /// An e-mail address: by its two parts.
    Email,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::Text,
        Kind::Name,
        Kind::Date,
        Kind::Code,
        Kind::Number,
        Kind::Phone,
        Kind::Email,
    ];

    /// As SQL and JSON write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Name => "name",
            Kind::Date => "date",
            Kind::Code => "code",
            Kind::Number => "number",
            Kind::Phone => "phone",
            Kind::Email => "email",
        }
    }

    /// The kind of this name.
    ///
    /// Errors: there is none.
    pub fn of_name(name: &str) -> Result<Kind> {
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidParameter,
                format!("unrecognized kind of field \"{name}\""),
            )
            .hint("Kinds are text, name, date, code, number, phone and email.")
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
