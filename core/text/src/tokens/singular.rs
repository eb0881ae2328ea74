//! The singular of an English word, by its ending alone.

/// The singular of a word in lower case: -ies becomes -y; -ches, -shes, -sses and -xes lose -es; -ss, -us and -is stay;
/// any other -s goes. A word of which a single letter would be left stays as it is.
pub fn singular(word: &str) -> (&str, &'static str) {
    let shorter = |by: usize| &word[..word.len() - by];
    let (stem, ending) = if word.ends_with("ies") {
        (shorter(3), "y")
    } else if ["ches", "shes", "sses", "xes"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        (shorter(2), "")
    } else if !word.ends_with('s') || ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        (word, "")
    } else {
        (shorter(1), "")
    };
    match stem.chars().count() + ending.len() {
        0 | 1 => (word, ""),
        _ => (stem, ending),
    }
}

#[cfg(test)]
mod tests {
    use super::singular;

    #[test]
    fn by_the_ending() {
        for (plural, one) in [
            ("status", "status"),
            ("address", "address"),
            ("categories", "category"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("searches", "search"),
            ("hashes", "hash"),
            ("plugins", "plugin"),
            ("likes", "like"),
            ("analysis", "analysis"),
            ("names", "name"),
            ("sizes", "size"),
            ("browser", "browser"),
            ("os", "os"),
            ("ids", "id"),
            ("ies", "ies"),
            ("s", "s"),
            ("ss", "ss"),
            ("", ""),
            ("és", "és"),
        ] {
            let (stem, ending) = singular(plural);
            assert_eq!(format!("{stem}{ending}"), one, "{plural}");
        }
    }
}
