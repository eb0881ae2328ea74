//! The rules of the house:
//!
//! - rooms of `src/` import only from rooms below them (see [`rooms`]);
//! - modules of `core/src/`, and the files of each of its folders, do not import each other in a circle;
//! - a Rust file has at most 400 lines;
//! - a folder below `src/` or `core/src/` has at most 16 files;
//! - a type name belongs to one room;
//! - C symbols are declared by hand in `src/pg/ffi.rs` only.
//!
//! Imports are found in the syntax: `use` declarations and paths, followed through re-exports to the file that defines the name. What
//! only tests compile (`#[cfg(test)]`) is not looked at.

mod circles;
mod crates;
mod files;
mod rooms;
mod uses;

use std::path::Path;

/// Most lines of a Rust file.
pub const MAX_LINES: usize = 400;
/// Most files of a folder.
pub const MAX_FILES: usize = 16;

/// Everything below `root` that breaks a rule, in the order of the rules. An error says what could not be read.
pub fn findings(root: &Path) -> Result<Vec<String>, String> {
    let sizes = files::sizes(root)?;
    let extension = crates::Crate::read(root, Path::new("src"))?;
    let core = crates::Crate::read(root, Path::new("core/src"))?;
    let mut found = rooms::upward(&extension);
    found.extend(circles::circles(&core));
    found.extend(sizes);
    found.extend(rooms::shared_names(&extension, &core));
    found.extend(rooms::declared_symbols(&[&extension, &core]));
    Ok(found)
}
