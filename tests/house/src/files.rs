//! Sizes of files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{MAX_FILES, MAX_LINES};

/// Rust files of more than [`MAX_LINES`] lines in the whole tree, and folders below `src/` and `core/src/` with more than [`MAX_FILES`] files.
pub fn sizes(root: &Path) -> Result<Vec<String>, String> {
    let mut found = vec![];
    for file in rust_files(root)? {
        let lines = read(&root.join(&file))?.lines().count();
        if lines > MAX_LINES {
            found.push(format!(
                "{}: {lines} lines, more than {MAX_LINES}",
                file.display()
            ));
        }
    }
    for top in ["src", "core/src"] {
        if root.join(top).is_dir() {
            folders(root, Path::new(top), &mut found)?;
        }
    }
    Ok(found)
}

/// All `.rs` files below `root`, relative to it and sorted. Hidden folders and those of builds (`target`) are left out.
pub fn rust_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = vec![];
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for (path, is_dir) in entries(root, &folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if is_dir && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if !is_dir && name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn folders(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<(), String> {
    let entries = entries(root, folder)?;
    let files = entries.iter().filter(|(_, is_dir)| !is_dir).count();
    if files > MAX_FILES {
        found.push(format!(
            "{}/: {files} files, more than {MAX_FILES}",
            folder.display()
        ));
    }
    for (path, _) in entries.iter().filter(|(_, is_dir)| *is_dir) {
        folders(root, path, found)?;
    }
    Ok(())
}

/// What is in a folder, relative to `root`, and whether it is a folder; sorted.
fn entries(root: &Path, folder: &Path) -> Result<Vec<(PathBuf, bool)>, String> {
    let path = root.join(folder);
    let error = |e| format!("{}: {e}", path.display());
    let mut found = vec![];
    for entry in fs::read_dir(&path).map_err(error)? {
        let entry = entry.map_err(error)?;
        let is_dir = entry.file_type().map_err(error)?.is_dir();
        found.push((folder.join(entry.file_name()), is_dir));
    }
    found.sort();
    Ok(found)
}
