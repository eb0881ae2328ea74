//! The rooms of `src/`, what they may import, and what must not be in two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::crates::{Crate, Place};

/// From bottom to top, below all of them the core. A room imports from rooms below it, not from those at its side.
const FLOORS: [&[&str]; 9] = [
    &["pg"],
    &["settings", "monitor", "types", "objects"],
    &["functions", "gist", "sigfile"],
    &["planner"],
    &["pairs"],
    &["models"],
    &["clusters", "suggest"],
    &["report", "guard", "merging"],
    &["lib"],
];

/// The only file that declares C symbols by hand.
const DECLARATIONS: &str = "src/pg/ffi.rs";

/// The room of a file: the folder or file directly below `src/`.
fn room(of: &Crate, file: &Path) -> String {
    let below = file.strip_prefix(&of.folder).unwrap_or(file);
    let first = below.iter().next().unwrap_or_default().to_string_lossy();
    first.trim_end_matches(".rs").to_string()
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// Rooms that no floor names, and imports that do not lead down.
pub fn upward(extension: &Crate) -> Vec<String> {
    let rooms: BTreeSet<String> = extension.files.iter().map(|f| room(extension, f)).collect();
    let unknown = rooms.iter().filter(|room| floor(room).is_none());
    let mut found: Vec<String> = unknown
        .map(|room| format!("src/{room}: no such room; see FLOORS in tests/house/src/rooms.rs"))
        .collect();
    for edge in &extension.edges {
        let (from, to) = (room(extension, &edge.from.file), room(extension, &edge.to));
        let (Some(above), Some(below)) = (floor(&from), floor(&to)) else {
            continue;
        };
        if from != to && below >= above {
            let way = if below == above {
                "sideways"
            } else {
                "upwards"
            };
            found.push(format!(
                "{}: {from} imports {way} from {to} ({})",
                edge.from,
                edge.to.display()
            ));
        }
    }
    found
}

/// Type names that two rooms define; the core is one room.
pub fn shared_names(extension: &Crate, core: &Crate) -> Vec<String> {
    let mut rooms: BTreeMap<&str, BTreeMap<String, &Place>> = BTreeMap::new();
    let in_core = core
        .types
        .iter()
        .map(|(name, place)| (name, "core".to_string(), place));
    let in_src = extension
        .types
        .iter()
        .map(|(name, place)| (name, room(extension, &place.file), place));
    for (name, room, place) in in_core.chain(in_src) {
        rooms.entry(name).or_default().entry(room).or_insert(place);
    }
    let shared = rooms.into_iter().filter(|(_, places)| places.len() > 1);
    shared
        .map(|(name, places)| {
            let places: Vec<String> = places.values().map(ToString::to_string).collect();
            format!(
                "type {name} is in {} rooms: {}",
                places.len(),
                places.join(", ")
            )
        })
        .collect()
}

/// `extern` blocks in another file than the one for them.
pub fn declared_symbols(crates: &[&Crate]) -> Vec<String> {
    let blocks = crates.iter().flat_map(|c| &c.foreign);
    blocks
        .filter(|place| place.file != Path::new(DECLARATIONS))
        .map(|place| format!("{place}: C symbols are declared by hand in {DECLARATIONS} only"))
        .collect()
}
