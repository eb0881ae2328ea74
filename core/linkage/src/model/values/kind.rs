//! How the values of a field are compared. Another kind: what depends on it is in `encode`, `level`, `reading` and
//! `sketch`, of which some have an arm for all the rest; CONTRIBUTING lists what else.

use std::fmt;

use base::{Error, Result};

base::named! {
    /// How the values of a field are compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Kind {
        /// A few words: by the similarity of n-grams.
        Text = "text",
        /// Many words, in any order: by what they weigh.
        Words = "words",
        /// A name of a person.
        Name = "name",
        /// Year, month and day, as they are typed and mistyped.
        Date = "date",
        /// A day on which something happened: by the days between.
        Day = "day",
        /// A number of an identity card and the like: equal, a character off, or else.
        Code = "code",
        /// A quantity: by the difference.
        Number = "number",
        /// A number of a telephone: by its last digits.
        Phone = "phone",
        /// An e-mail address: by its two parts.
        Email = "email",
    }
}

impl Kind {
    /// The kind of this name, if fields of it can be asked for. What words weigh is not counted for fits of patterns, so
    /// these have no fields of words.
    ///
    /// Errors: there is none.
    pub fn of_name(name: &str) -> Result<Kind> {
        let known = Kind::named(name).filter(|&kind| kind != Kind::Words);
        known.ok_or_else(|| {
            Error::invalid(format!("unrecognized kind of field \"{name}\""))
                .hint("Kinds are text, name, date, day, code, number, phone and email.")
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
