//! A crate as its files tell it: modules, the names in them, and which file a path leads to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::files;
use crate::uses::{self, Import, Mention};

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: PathBuf,
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// The names of one module.
#[derive(Default)]
pub struct Module {
    pub file: PathBuf,
    /// What is defined here: types, functions, constants, macros.
    pub items: BTreeSet<String>,
    pub imports: Vec<Import>,
}

/// One file needs what another one defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: Place,
    pub to: PathBuf,
}

pub struct Crate {
    /// The folder of `lib.rs`, relative to the root of the repository.
    pub folder: PathBuf,
    pub files: Vec<PathBuf>,
    pub edges: BTreeSet<Edge>,
    /// Names of types that are defined, with the place.
    pub types: Vec<(String, Place)>,
    /// Blocks that declare C symbols.
    pub foreign: Vec<Place>,
}

type Modules = HashMap<Vec<String>, Module>;

/// What a path leads to.
enum Target {
    Module(Vec<String>),
    /// A name that this file defines.
    Item(PathBuf),
}

impl Crate {
    /// Reads all files below `folder`, which is relative to `root`.
    pub fn read(root: &Path, folder: &Path) -> Result<Crate, String> {
        let mut read = Crate {
            folder: folder.to_path_buf(),
            files: vec![],
            edges: BTreeSet::new(),
            types: vec![],
            foreign: vec![],
        };
        let mut modules = Modules::new();
        let mut mentions = vec![];
        let mut macros = BTreeMap::new();
        for name in files::rust_files(&root.join(folder))? {
            let file = folder.join(&name);
            let source = files::read(&root.join(&file))?;
            let syntax = syn::parse_file(&source)
                .map_err(|e| format!("{}:{}: {e}", file.display(), e.span().start().line))?;
            let seen = uses::look(&file, module_path(&name), &syntax);
            read.types.extend(seen.types);
            read.foreign.extend(seen.foreign);
            mentions.extend(seen.mentions);
            macros.extend(seen.macros.into_iter().map(|name| (name, file.clone())));
            modules.extend(seen.modules);
            read.files.push(file);
        }
        for mention in &mentions {
            let reached = match (
                resolve(&modules, &mention.module, &mention.path, 0),
                mention,
            ) {
                (None, m) if m.path.first().is_some_and(|s| s == "crate" || m.is_macro) => {
                    m.path.last().and_then(|name| macros.get(name)).cloned()
                }
                (None, _) => None,
                (Some(Target::Item(file)), _) => Some(file),
                (Some(Target::Module(path)), m) => module_mentioned(&modules, m, &path),
            };
            let from = &mention.place;
            if let Some(to) = reached.filter(|to| *to != from.file) {
                read.edges.insert(Edge {
                    from: from.clone(),
                    to,
                });
            }
        }
        Ok(read)
    }
}

/// `sigfile/scan.rs` is `sigfile::scan`, `sigfile/mod.rs` is `sigfile`, `lib.rs` the root.
fn module_path(file: &Path) -> Vec<String> {
    let mut path: Vec<String> = file
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] {
        path.pop();
    }
    path
}

/// The file of a module that is mentioned as such. A single name may be a variable, and to mention a module that one is in needs nothing of it.
fn module_mentioned(modules: &Modules, mention: &Mention, path: &[String]) -> Option<PathBuf> {
    if mention.path.len() < 2 || mention.module.starts_with(path) {
        return None;
    }
    modules.get(path).map(|module| module.file.clone())
}

/// Follows `path`, as it stands in the module `from`.
fn resolve(modules: &Modules, from: &[String], path: &[String], depth: usize) -> Option<Target> {
    // Imports of imports, and globs of globs, may go round.
    if depth > 16 {
        return None;
    }
    let mut at = from.to_vec();
    let mut rest = path;
    let mut anchored = false;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => (),
            "super" => {
                at.pop();
            }
            _ => break,
        }
        anchored = true;
        rest = others;
    }
    for (i, name) in rest.iter().enumerate() {
        match step(modules, &at, name, depth) {
            Some(Target::Module(next)) => at = next,
            Some(item) => return Some(item),
            // Something that a macro defines, in a module that is certain.
            None if anchored || i > 0 => return Some(Target::Item(modules.get(&at)?.file.clone())),
            None => return None,
        }
    }
    Some(Target::Module(at))
}

/// What `name` is in the module `at`.
fn step(modules: &Modules, at: &[String], name: &str, depth: usize) -> Option<Target> {
    let child = [at, &[name.to_string()]].concat();
    if modules.contains_key(&child) {
        return Some(Target::Module(child));
    }
    let module = modules.get(at)?;
    if module.items.contains(name) {
        return Some(Target::Item(module.file.clone()));
    }
    let named = module
        .imports
        .iter()
        .filter(|i| i.name.as_deref() == Some(name));
    for import in named {
        if let Some(target) = resolve(modules, at, &import.path, depth + 1) {
            return Some(target);
        }
    }
    let globs = module.imports.iter().filter(|i| i.name.is_none());
    for import in globs {
        if let Some(Target::Module(from)) = resolve(modules, at, &import.path, depth + 1) {
            if from != at {
                if let Some(target) = step(modules, &from, name, depth + 1) {
                    return Some(target);
                }
            }
        }
    }
    None
}
