//! The name that was meant by one that there is not.

use rapidfuzz::distance::levenshtein;

use crate::Error;

/// How a hint begins that says a name.
const GUESS: &str = "Perhaps you meant";

/// More edits than these make another name of it.
const MOST_EDITS: usize = 4;

/// The name that is closest to one that was given, by PostgreSQL's own rule (`updateClosestMatch` of varlena.c): by
/// Levenshtein distance, at most four and at most half as long as what was given, and the first of those that are
/// equally close; before these one that differs in case alone. `None` if there is none so close.
pub fn closest<N: AsRef<str>>(given: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let most = MOST_EDITS.min(given.len() / 2);
    let within = levenshtein::Args::default().score_cutoff(most);
    let lower = given.to_lowercase();
    let distance = |name: &N| match name.as_ref().to_lowercase() == lower {
        true => Some(0),
        false => levenshtein::distance_with_args(given.chars(), name.as_ref().chars(), &within),
    };
    let near = names
        .into_iter()
        .filter_map(|name| Some((distance(&name)?, name)));
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

impl Error {
    /// Says in front of the hint which name was perhaps meant; `what` is what it names. Nothing if no name is close.
    #[must_use]
    pub fn perhaps<N: AsRef<str>>(
        self,
        what: &str,
        given: &str,
        names: impl IntoIterator<Item = N>,
    ) -> Error {
        match closest(given, names) {
            Some(name) => self.hint_before(&format!("{GUESS} the {what} \"{}\".", name.as_ref())),
            None => self,
        }
    }

    /// Whether the hint, if there is one, begins with what was perhaps meant.
    pub fn has_no_hint_but_a_guess(&self) -> bool {
        self.hint_text().is_none_or(|hint| hint.starts_with(GUESS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_meant() {
        let names = ["surname", "given", "born", "town"];
        for (given, meant) in [
            ("surnam", Some("surname")),
            ("givne", Some("given")),
            ("twon", Some("town")),
            ("bron", Some("born")),
            // Half of it may differ, and no more.
            ("b", None),
            ("BORN", Some("born")),
            ("bo", None),
            ("bor", Some("born")),
            ("", None),
            ("birthday", None),
            ("sürnäme", Some("surname")),
        ] {
            assert_eq!(closest(given, names), meant, "{given}");
        }
    }

    #[test]
    fn four_edits_at_the_most_and_the_first_of_equals() {
        assert_eq!(closest("abcdefghijkl", ["abcdefgh"]), Some("abcdefgh"));
        assert_eq!(closest("abcdefghijklm", ["abcdefgh"]), None);
        assert_eq!(closest("name_3", ["name_1", "name_2"]), Some("name_1"));
    }

    #[test]
    fn the_hint_comes_first() {
        let error = || Error::invalid("no such option").hint("There are others.");
        let meant = error().perhaps("option", "forse", ["pair_limit", "force"]);
        let hint = "Perhaps you meant the option \"force\". There are others.";
        assert_eq!(meant.hint_text(), Some(hint));
        assert_eq!(error().perhaps("option", "xyz", ["force"]), error());
    }
}
