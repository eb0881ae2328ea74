//! Everything on which stored values depend beside what they say of themselves.

use text::contact::{FREE_PROVIDERS, PHONE_METADATA, PROVIDER_RULES, PUBLIC_SUFFIX_LIST};
use text::{identity, names, tokens, Rules};

use crate::{counting, filter, sketch};

/// Crates with tables or rules that influence stored values, and their versions. A test holds them against Cargo.lock.
const CRATES: &[(&str, &str)] = &[
    ("any_ascii", "0.3.3"),
    ("icu_normalizer_data", "2.4.0"),
    ("icu_properties_data", "2.4.0"),
    ("idna", "1.1.0"),
    ("idna_adapter", "1.2.2"),
    ("pathfinding", "4.16.0"),
    ("psl", "2.1.247"),
    ("rapidfuzz", "0.5.0"),
    ("regex", "1.13.1"),
    ("regex-syntax", "0.8.11"),
    ("rlibphonenumber", "2.2.15"),
    ("rphonetic", "4.0.0"),
    ("twox-hash", "2.1.5"),
    ("unicode-case-mapping", "1.0.0"),
    ("unicode-general-category", "1.1.0"),
    ("unicode-normalization", "0.1.26"),
    ("unicode-script", "0.5.9"),
    ("unicode-segmentation", "1.13.3"),
];

/// The tables of the compiler's library, by which words of names and of postal addresses are large or small. Another
/// compiler can bring others.
fn compilers_unicode() -> String {
    let (major, minor, update) = char::UNICODE_VERSION;
    format!("{major}.{minor}.{update}")
}

/// One line for each, `name version`. Two servers give the same values for the same text if theirs are equal. Of formats and of the rules of text
/// it is the newest one that they have.
pub fn fingerprint() -> String {
    let rules = [
        ("signature format", filter::KEYED.to_string()),
        ("counting format", counting::VERSION.to_string()),
        ("sketch format", sketch::VERSION.to_string()),
        ("text rules", Rules::NEWEST.number().to_string()),
        ("name rules", names::RULES.to_string()),
        ("date rules", text::DATE_RULES.to_string()),
        ("character rules", tokens::CHARACTER_RULES.to_string()),
        ("sound rules", text::SOUNDS.to_string()),
        ("token rules", tokens::RULES.to_string()),
        ("identity encodings", identity::ENCODINGS.to_string()),
        ("telephone metadata", PHONE_METADATA.to_owned()),
        ("e-mail provider rules", PROVIDER_RULES.to_owned()),
        ("free e-mail providers", FREE_PROVIDERS.to_owned()),
        ("public suffix list", PUBLIC_SUFFIX_LIST.to_owned()),
        ("compiler's Unicode", compilers_unicode()),
    ];
    let rules = rules
        .iter()
        .map(|(name, version)| format!("{name} {version}"));
    let crates = CRATES
        .iter()
        .map(|(name, version)| format!("{name} {version}"));
    rules.chain(crates).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_that_are_compiled_in() {
        let lock = include_str!("../../../Cargo.lock");
        let manifests = [
            include_str!("../../text/Cargo.toml"),
            include_str!("../../linkage/Cargo.toml"),
        ];
        for (name, version) in CRATES {
            let block = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(
                lock.contains(&block),
                "{name} {version} is not in Cargo.lock"
            );
            assert_eq!(
                lock.matches(&format!("name = \"{name}\"\n")).count(),
                1,
                "{name}"
            );
        }
        for line in manifests
            .iter()
            .flat_map(|manifest| manifest.lines())
            .filter(|line| line.contains("\"="))
        {
            let name = line.split_once(' ').map_or(line, |(name, _)| name);
            assert!(
                CRATES.iter().any(|(known, _)| *known == name),
                "{name} is pinned and not in the fingerprint"
            );
        }
    }
}
