//! The format version, which is the first byte of everything that is stored: signatures, counting filters, sketches.

use base::{Error, ErrorKind, Result};

/// Format version of all types.
pub const VERSION: u8 = 1;

/// Format version of keyed signatures, which say by what secret and schema they were made.
pub const KEYED: u8 = 2;

/// The format version of a value that a newer version of the program has written, of a type of which `newest` is the newest
/// one here; `None` for any other bytes.
///
/// Versions count from 1, one by one, and keys of inner pages begin with 0x80 and more.
pub fn newer_version(newest: u8, bytes: &[u8]) -> Option<u8> {
    let first = bytes.first().copied()?;
    (newest + 1..0x80).contains(&first).then_some(first)
}

/// Looks at the first byte of bytes from anywhere. Messages call them `what`, and `value` where their version is
/// known to be newer.
///
/// Errors: fewer bytes than the header has; another version.
pub(crate) fn check_version(what: &str, value: &str, bytes: &[u8], header: usize) -> Result<()> {
    check_version_to(VERSION, what, value, bytes, header)
}

/// The same of a type that has all versions up to `newest`.
pub(crate) fn check_version_to(
    newest: u8,
    what: &str,
    value: &str,
    bytes: &[u8],
    header: usize,
) -> Result<()> {
    let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
    if bytes.len() < header {
        return Err(bad(format!("{what} of {} bytes is too short", bytes.len()))
            .detail(format!("The header alone has {header} bytes.")));
    }
    if (VERSION..=newest).contains(&bytes[0]) {
        return Ok(());
    }
    let known = match newest {
        VERSION => format!("version {VERSION}"),
        _ => format!("versions {VERSION} to {newest}"),
    };
    let unknown = bad(format!("unknown {what} format version {}", bytes[0]))
        .detail(format!("This version of bloom_ident reads {known}."));
    Err(match newer_version(newest, bytes).is_some() {
        true => unknown.of_kind(ErrorKind::NewerFormat).hint(format!(
            "Install the version of bloom_ident that the {value} comes from."
        )),
        false => unknown,
    })
}
