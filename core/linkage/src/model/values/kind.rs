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
        /// A signature of the field: by the bits that two of them have in common.
        Signature = "signature",
    }
}

impl Kind {
    /// Those that models of pairs have, which know nothing of other records: what words weigh depends on all.
    pub const OF_PAIRS: [Kind; Kind::ALL.len() - 1] = Kind::all_but(Kind::Words);

    /// Those that models of things have, which look for pairs by the words of all fields: signatures have none.
    pub const OF_THINGS: [Kind; Kind::ALL.len() - 1] = Kind::all_but(Kind::Signature);

    /// All kinds but one, in order.
    const fn all_but(left_out: Kind) -> [Kind; Kind::ALL.len() - 1] {
        let mut kinds = [left_out; Kind::ALL.len() - 1];
        let (mut from, mut to) = (0, 0);
        while from < Kind::ALL.len() {
            let kind = Kind::ALL[from];
            if kind as u8 != left_out as u8 {
                kinds[to] = kind;
                to += 1;
            }
            from += 1;
        }
        kinds
    }

    /// The kind of this name among some.
    ///
    /// Errors: there is none.
    pub fn of_name(name: &str, among: &[Kind]) -> Result<Kind> {
        let known = Kind::named(name).filter(|kind| among.contains(kind));
        known.ok_or_else(|| {
            let names: Vec<&str> = among.iter().map(|kind| kind.name()).collect();
            let (last, others) = names.split_last().unwrap_or((&"none", &[]));
            Error::invalid(format!("unrecognized kind of field \"{name}\""))
                .hint(format!("Kinds are {} and {last}.", others.join(", ")))
                .perhaps("kind", name, &names)
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
