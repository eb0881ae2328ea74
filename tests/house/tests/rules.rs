//! Each rule finds what breaks it in a made-up tree, and nothing in one that keeps it.

use std::fs;
use std::path::{Path, PathBuf};

use bloom_ident_house::{findings, MAX_FILES, MAX_LINES};

/// A tree that keeps every rule, in ways that look like breaking it.
const SOUND: [(&str, &str); 13] = [
    ("src/lib.rs", "pub mod pg; mod types; mod sigfile; mod planner; mod report; mod guard; use crate::report::Report; macro_rules! made { () => {} }"),
    ("src/pg/mod.rs", "pub mod ffi; mod lists; pub use lists::List; pub use super::pg::ffi::close;"),
    ("src/pg/lists.rs", "pub struct List; impl List { pub fn planner(&self) { let types = self; types.planner() } }\n#[cfg(test)] mod tests { use crate::report::Report; struct Report2; }"),
    ("src/pg/ffi.rs", "extern \"C\" { pub fn close(); }"),
    ("src/types.rs", "use crate::pg::List; pub struct Bloom(List); extern \"C\" fn called() {}"),
    ("src/sigfile/mod.rs", "mod scan; pub use scan::{Scan, self as scanning}; pub struct Limit;"),
    ("src/sigfile/scan.rs", "use super::*; use crate::{pg::{self, List}, types::Bloom}; pub struct Scan(Limit, Bloom); fn f() { pg::close(); println!(\"{}\", crate::pg::close()) }"),
    ("src/planner.rs", "use crate::sigfile::Scan; use bloom_ident_core::a;"),
    ("src/report.rs", "use crate::planner; pub struct Report; fn guard() { guard() }"),
    ("src/guard.rs", "use crate::sigfile::Scan as Row; type Kind = Row;"),
    ("core/src/lib.rs", "pub mod a; pub mod b; pub use a::A;"),
    ("core/src/a.rs", "use crate::b::one::One; pub struct A(One); pub struct Twice;"),
    ("core/src/b/mod.rs", "pub mod one; pub use one::Word; pub struct Twice;"),
];
const CORE_FILE: (&str, &str) = (
    "core/src/b/one.rs",
    "pub struct One(super::Word); pub struct Word;",
);

/// The sound tree, with files written over it.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    for (path, text) in SOUND.iter().chain(&[CORE_FILE]).chain(files) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// The only finding of the sound tree with `files` written over it.
#[track_caller]
fn only(name: &str, files: &[(&str, &str)], expected: &str) {
    let found = findings(&tree(name, files)).unwrap();
    assert_eq!(found, [expected]);
}

#[test]
fn a_sound_tree_has_no_findings() {
    assert_eq!(findings(&tree("sound", &[])).unwrap(), [""; 0]);
}

#[test]
fn imports_upwards() {
    let expected = "src/pg/lists.rs:2: pg imports upwards from types (src/types.rs)";
    let ways = [
        "pub struct List;\nuse crate::types::Bloom;",
        "pub struct List;\nuse crate::{types as other};",
        "pub struct List;\nuse crate::types::*;",
        "pub struct List;\nfn f(_: &crate::types::Bloom) {}",
        "pub struct List;\nfn f() { super::super::types::called() }",
        "pub struct List;\nfn f() { println!(\"{:?}\", vec![crate::types::called()]) }",
        "pub struct List;\npub mod inner { fn f() { super::super::super::types::made_by_a_macro() } }",
    ];
    for (i, way) in ways.iter().enumerate() {
        only(
            &format!("upwards_{i}"),
            &[("src/pg/lists.rs", way)],
            expected,
        );
    }
    // by way of a re-export, the file that defines the name counts
    only(
        "upwards_reexported",
        &[
            ("src/lib.rs", "mod pg; mod types; pub use types::Bloom;"),
            ("src/pg/lists.rs", "pub struct List;\nuse crate::Bloom;"),
        ],
        expected,
    );
    only(
        "upwards_macro",
        &[("src/pg/lists.rs", "pub struct List;\n\nfn f() { made!() }")],
        "src/pg/lists.rs:3: pg imports upwards from lib (src/lib.rs)",
    );
}

#[test]
fn imports_sideways() {
    only(
        "sideways",
        &[("src/guard.rs", "use crate::report::Report;")],
        "src/guard.rs:1: guard imports sideways from report (src/report.rs)",
    );
}

#[test]
fn unknown_rooms() {
    only(
        "unknown",
        &[("src/jobs/mod.rs", "")],
        "src/jobs: no such room; see FLOORS in tests/house/src/rooms.rs",
    );
}

#[test]
fn circles() {
    only(
        "circle_of_modules",
        &[(
            "core/src/b/one.rs",
            "use crate::A; pub struct One(super::Word); pub struct Word;",
        )],
        "core/src: a circle: a imports b at core/src/a.rs:1; b imports a at core/src/b/one.rs:1",
    );
    only(
        "circle_of_files",
        &[
            ("core/src/b/mod.rs", "pub mod one; mod two; pub use one::Word;"),
            ("core/src/b/two.rs", "use super::Word;\npub struct Two;"),
            ("core/src/b/one.rs", "pub struct Word;\npub struct One(super::two::Two);"),
        ],
        "core/src/b: a circle: one imports two at core/src/b/one.rs:2; two imports one at core/src/b/two.rs:1",
    );
    // a parent that needs what a child defines, and the other way round
    only(
        "circle_with_parent",
        &[("core/src/b/one.rs", "pub struct One(super::Twice); pub struct Word;"),
          ("core/src/b/mod.rs", "pub mod one;\npub use one::Word;\npub struct Twice;\npub struct Twin(Word);")],
        "core/src/b: a circle: mod imports one at core/src/b/mod.rs:4; one imports mod at core/src/b/one.rs:1",
    );
}

#[test]
fn long_files_and_full_folders() {
    let long = "\n".repeat(MAX_LINES + 1);
    for file in [
        "src/pg/long.rs",
        "core/tests/long.rs",
        "macros/src/long.rs",
        "tests/other/long.rs",
    ] {
        let expected = format!("{file}: 401 lines, more than 400");
        only(
            "long",
            &[(file, &long), ("src/types.rs", &long[..MAX_LINES])],
            &expected,
        );
    }
    let names: Vec<String> = (1..MAX_FILES)
        .map(|i| format!("src/sigfile/f{i}.rs"))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    only("full", &files, "src/sigfile/: 17 files, more than 16");
}

#[test]
fn names_in_two_rooms() {
    for (i, kind) in [
        "pub struct List;",
        "enum List {}",
        "trait List {}",
        "type List = u8;",
        "fn f() { struct List; }",
    ]
    .iter()
    .enumerate()
    {
        only(
            &format!("names_{i}"),
            &[("src/guard.rs", kind)],
            "type List is in 2 rooms: src/guard.rs:1, src/pg/lists.rs:1",
        );
    }
    only(
        "names_core",
        &[("src/guard.rs", "struct Twice;")],
        "type Twice is in 2 rooms: core/src/a.rs:1, src/guard.rs:1",
    );
}

#[test]
fn declared_symbols() {
    let ways = [
        "\nextern \"C\" { fn open(); }",
        "\nfn f() { unsafe extern \"C-unwind\" { static x: u8; } }",
        "\nguarded! { extern \"C\" { fn open(); } }",
    ];
    for (i, way) in ways.iter().enumerate() {
        only(
            &format!("symbols_{i}"),
            &[("src/guard.rs", way)],
            "src/guard.rs:2: C symbols are declared by hand in src/pg/ffi.rs only",
        );
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let error = findings(&tree("syntax", &[("src/guard.rs", "fn (")])).unwrap_err();
    assert!(error.starts_with("src/guard.rs:1: "), "{error}");
}
