//! Short and familiar forms of given names, from compiled-in lists.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::normalize;
use base::{Error, Result};

/// The newest version of the lists. What a version says never changes, since stored values may depend on it: other
/// lists, or another version of one of these, make a new number, and the old one stays.
pub const FORMS_VERSION: i64 = 1;

/// English: `names.csv` of the Python package nicknames 1.0.1 by Carlton Northern and others, Apache-2.0 (licenses/),
/// as it was published; SHA-256 f370c99f12a564f4f074192ba690f242b7857d53a4ea60257366e365cc63a276. Columns: full name,
/// `has_nickname`, nickname.
const NICKNAMES: &str = include_str!("nicknames-1.0.1.csv");

/// Other languages: the project's own list.
const OWN: &str = include_str!("own-1.txt");

/// Longest normal form that is looked up.
const LONGEST: usize = 32;

/// The full names of each form.
static FULL: LazyLock<HashMap<String, Vec<&str>>> = LazyLock::new(|| {
    let mut full: HashMap<String, Vec<&str>> = HashMap::new();
    let nicknames = NICKNAMES.lines().skip(1).filter_map(|line| {
        let (name, form) = line.split_once(",has_nickname,")?;
        Some((name, form))
    });
    let own = OWN.lines().filter_map(|line| line.split_once(": "));
    let own = own.flat_map(|(name, forms)| forms.split(' ').map(move |form| (name, form)));
    for (name, form) in nicknames.chain(own) {
        // A few are initials with full stops.
        let names = full.entry(form.replace('.', "")).or_default();
        if name != form && !names.contains(&name) {
            names.push(name);
        }
    }
    full.values_mut().for_each(|names| names.sort_unstable());
    full
});

/// Each form and the full names that it may be a form of.
pub(super) fn full_names() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    FULL.iter().map(|(form, names)| (&**form, &**names))
}

/// The full names that a given name may be a form of, and the name itself, all in normal form, ascending; nothing for a
/// text without letters and digits. Two names may be forms of the same one if they have an element in common.
///
/// Errors: a version that there is not; out of memory.
pub fn name_forms(name: &str, version: i64, tick: impl FnMut()) -> Result<Vec<String>> {
    if version != FORMS_VERSION {
        return Err(Error::invalid(format!(
            "version {version} of the forms of names is unknown"
        ))
        .detail(format!(
            "This version of bloom_ident knows version {FORMS_VERSION}."
        )));
    }
    super::check_length(name)?;
    let normal = normalize(name, false, tick)?;
    if normal.is_empty() {
        return Ok(Vec::new());
    }
    let known = (normal.len() <= LONGEST)
        .then(|| FULL.get(&*normal))
        .flatten();
    let names = known.into_iter().flatten().map(|&name| name.to_owned());
    let mut forms: Vec<String> = names.chain([normal.clone()]).collect();
    forms.sort_unstable();
    Ok(forms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_normal_form_and_whole() {
        let lines = NICKNAMES.lines().skip(1);
        assert!(lines.clone().all(|line| line.contains(",has_nickname,")));
        assert_eq!(lines.count(), 2691);
        for (form, names) in &*FULL {
            for name in names.iter().copied().chain([&**form]) {
                assert_eq!(normalize(name, false, || ()).unwrap(), name);
                assert!(name.len() <= LONGEST);
            }
        }
    }
}
