//! Circles of imports between the files and folders of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::crates::{Crate, Place};

/// For each folder of the crate those of its entries that import each other in a circle.
pub fn circles(of: &Crate) -> Vec<String> {
    let folders: BTreeSet<PathBuf> = of
        .files
        .iter()
        .flat_map(|file| file.ancestors().skip(1))
        .filter(|folder| folder.starts_with(&of.folder))
        .map(Path::to_path_buf)
        .collect();
    folders
        .iter()
        .flat_map(|folder| within(of, folder))
        .collect()
}

/// Imports between entries of a folder, each with its first place.
type Imports = BTreeMap<(String, String), Place>;

fn within(of: &Crate, folder: &Path) -> Vec<String> {
    let mut imports = Imports::new();
    for edge in &of.edges {
        let (Some(from), Some(to)) = (entry(folder, &edge.from.file), entry(folder, &edge.to))
        else {
            continue;
        };
        if from != to {
            imports
                .entry((from, to))
                .or_insert_with(|| edge.from.clone());
        }
    }
    let names: BTreeSet<&String> = imports.keys().flat_map(|(a, b)| [a, b]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> = names
        .iter()
        .map(|name| (*name, reach(&imports, name)))
        .collect();
    let mut done = BTreeSet::new();
    let mut found = vec![];
    for &name in &names {
        let circle: Vec<&String> = reached[name]
            .iter()
            .copied()
            .filter(|other| reached[*other].contains(name))
            .collect();
        if circle.len() < 2 || !done.insert(circle.clone()) {
            continue;
        }
        let of_circle = |name: &String| circle.contains(&name);
        let steps: Vec<String> = imports
            .iter()
            .filter(|((from, to), _)| of_circle(from) && of_circle(to))
            .map(|((from, to), place)| format!("{from} imports {to} at {place}"))
            .collect();
        found.push(format!(
            "{}: a circle: {}",
            folder.display(),
            steps.join("; ")
        ));
    }
    found
}

/// The name of the file or folder directly in `folder` that `file` is or is in.
fn entry(folder: &Path, file: &Path) -> Option<String> {
    let first = file
        .strip_prefix(folder)
        .ok()?
        .iter()
        .next()?
        .to_string_lossy();
    Some(first.trim_end_matches(".rs").to_string())
}

/// All that one comes to from `name`.
fn reach<'a>(imports: &'a Imports, name: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        for ((_, to), _) in imports.iter().filter(|((from, _), _)| from == name) {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }
    reached
}
