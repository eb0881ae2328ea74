//! What the page may do: its own script and its own style, by their hashes, and nothing else.

use pgrx::pg_sys;

use pg::function::rows::text_datum;
use pg::session::read;
use pg::sql::Sql;
use pg::values::text::readable;

/// The script of the page. Every file adds functions to one scope.
pub const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("../page/script/data.js"),
    include_str!("../page/script/elements.js"),
    include_str!("../page/script/store.js"),
    include_str!("../page/script/threshold.js"),
    include_str!("../page/script/filters.js"),
    include_str!("../page/script/records.js"),
    include_str!("../page/script/seen.js"),
    include_str!("../page/script/pair.js"),
    include_str!("../page/script/many.js"),
    include_str!("../page/script/graph.js"),
    include_str!("../page/script/export.js"),
    include_str!("../page/script/start.js"),
    "})();\n"
);

/// The style of the page.
pub const STYLE: &str = concat!(
    include_str!("../page/report.css"),
    include_str!("../page/review.css")
);

/// SHA-256 of what is in the page, in base64.
pub struct PageHashes {
    pub script: String,
    pub style: String,
    /// By which a browser finds the decisions made on this page again.
    pub data: String,
}

/// The hashes of script, style and data, which the server computes.
pub fn hashes_of(data: &str) -> PageHashes {
    PageHashes {
        script: sha256(SCRIPT),
        style: sha256(STYLE),
        data: sha256(data),
    }
}

fn sha256(text: &str) -> String {
    let sql = Sql::new("SELECT pg_catalog.encode(pg_catalog.sha256($1), 'base64')");
    // A bytea is stored as a text is.
    let bytes = text_datum(text.as_bytes());
    let cursor = read(sql, &[(pg_sys::BYTEAOID, bytes)], 1);
    let mut output = cursor.output(0);
    let mut hash = String::new();
    cursor.each(|row| {
        if let Some(text) = row.datum(0) {
            hash = output.show(text, readable);
        }
    });
    hash
}

// What is hashed is what a browser reads: no line end of another kind, no sign of several bytes, and nothing that ends the element or begins
// a comment.
const _: () = assert!(is_read_as_written(SCRIPT) && is_read_as_written(STYLE));

const fn is_read_as_written(text: &str) -> bool {
    let (bytes, mut i) = (text.as_bytes(), 0);
    while i < bytes.len() {
        let next = if i + 1 < bytes.len() { bytes[i + 1] } else { 0 };
        let is_plain = matches!(bytes[i], b'\n' | b' '..=b'~');
        if !is_plain || bytes[i] == b'<' && (next == b'/' || next == b'!') {
            return false;
        }
        i += 1;
    }
    true
}
