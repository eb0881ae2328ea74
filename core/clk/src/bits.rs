//! Bits in the form that clkhash writes: base64, bit 0 first in a byte. Signatures have it last: bit i is in byte i/8 at
//! 2^(i mod 8).

use base::{Error, ErrorKind, Result};
use base64::prelude::{Engine, BASE64_STANDARD};

/// The base64 form of the bits of a signature.
pub fn to_base64(bits: &[u8]) -> String {
    let reversed: Vec<u8> = bits.iter().map(|byte| byte.reverse_bits()).collect();
    BASE64_STANDARD.encode(reversed)
}

/// Bytes in base64, as they are.
pub fn to_base64_bytes(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The bits of a signature from their base64 form.
///
/// Errors: no base64 (22P02).
pub fn from_base64(text: &str) -> Result<Vec<u8>> {
    let bytes = BASE64_STANDARD.decode(text.trim());
    let mut bytes = bytes.map_err(|e| {
        Error::new(
            ErrorKind::InvalidText,
            "invalid base64 form of a keyed signature",
        )
        .detail(format!("The decoder says: {e}."))
    })?;
    for byte in &mut bytes {
        *byte = byte.reverse_bits();
    }
    Ok(bytes)
}
