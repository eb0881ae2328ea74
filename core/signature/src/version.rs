//! The format version, which is the first byte of everything that is stored: signatures, counting filters, sketches.

use base::{Error, ErrorKind, Result};

/// Format version. All types have the same one as yet.
pub const VERSION: u8 = 1;

/// The format version of a value that a newer version of the program has written; `None` for any other bytes.
///
/// Versions count from 1, one by one, and keys of inner pages begin with 0x80 and more.
pub fn newer_version(bytes: &[u8]) -> Option<u8> {
    let first = bytes.first().copied()?;
    (VERSION + 1..0x80).contains(&first).then_some(first)
}

/// Looks at the first byte of bytes from anywhere. Messages call them `what`, and `value` where their version is
/// known to be newer.
///
/// Errors: fewer bytes than the header has; another version.
pub(crate) fn check_version(what: &str, value: &str, bytes: &[u8], header: usize) -> Result<()> {
    let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
    if bytes.len() < header {
        return Err(bad(format!("{what} of {} bytes is too short", bytes.len()))
            .detail(format!("The header alone has {header} bytes.")));
    }
    if bytes[0] == VERSION {
        return Ok(());
    }
    let unknown = bad(format!("unknown {what} format version {}", bytes[0])).detail(format!(
        "This version of bloom_ident reads version {VERSION}."
    ));
    Err(match newer_version(bytes) {
        Some(_) => unknown.of_kind(ErrorKind::NewerFormat).hint(format!(
            "Install the version of bloom_ident that the {value} comes from."
        )),
        None => unknown,
    })
}
