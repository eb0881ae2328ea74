//! Hashes of records: what a record was like when somebody decided about it. They name the columns that they are of, so
//! that they can be computed again.
//!
//! The digest is the first 16 bytes of SHA-256 over, for each column, a byte 1, the length of its text in bytes (8
//! bytes, little endian) and the text; a single byte 0 stands for NULL. SHA-256, since a guard trusts it: nobody can
//! make another record with the hash of one that was let in.

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

/// Hexadecimal digits of a digest.
const DIGITS: usize = 32;

/// Takes the values of a record, one after the other.
#[derive(Default)]
pub struct RecordDigest(Sha256);

impl RecordDigest {
    /// No value so far.
    pub fn new() -> RecordDigest {
        RecordDigest::default()
    }

    /// The next value as text, `None` for NULL.
    pub fn value(&mut self, text: Option<&[u8]>) {
        match text {
            None => self.0.update([0]),
            Some(text) => {
                self.0.update([1]);
                self.0.update((text.len() as u64).to_le_bytes());
                self.0.update(text);
            }
        }
    }

    /// The digest of the values, after which there are none again.
    pub fn finish(&mut self) -> u128 {
        let digest = self.0.finalize_reset();
        let first = digest.first_chunk();
        u128::from_be_bytes(*first.expect("SHA-256 has 32 bytes"))
    }
}

/// The hash of a record: the names of columns, and the digest of their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHash {
    /// In the order in which their values were taken.
    pub columns: Vec<String>,
    /// See [`RecordDigest`].
    pub digest: u128,
}

impl fmt::Display for RecordHash {
    /// `(name,"date of birth")` and 32 hexadecimal digits. A name is quoted, as in SQL, if it is not of small ASCII
    /// letters, digits and underscores.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (i, column) in self.columns.iter().enumerate() {
            if i > 0 {
                f.write_char(',')?;
            }
            if !column.is_empty() && column.bytes().all(is_plain) {
                f.write_str(column)?;
            } else {
                write!(f, "\"{}\"", column.replace('"', "\"\""))?;
            }
        }
        write!(f, "){:0DIGITS$x}", self.digest)
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

/// The hashes of both records of a pair, with a blank between them; `None` if the text is nothing of the kind.
pub fn of_pair(text: &str) -> Option<[RecordHash; 2]> {
    let (a, rest) = of_record(text)?;
    let (b, rest) = of_record(rest.strip_prefix(' ')?)?;
    rest.is_empty().then_some([a, b])
}

/// The hash that a text begins with, and what comes behind.
fn of_record(text: &str) -> Option<(RecordHash, &str)> {
    let mut rest = text.strip_prefix('(')?;
    let mut columns = Vec::new();
    loop {
        let (column, behind) = name(rest)?;
        columns.push(column);
        rest = match behind.strip_prefix(',') {
            Some(rest) => rest,
            None => behind.strip_prefix(')')?,
        };
        if behind.starts_with(')') {
            break;
        }
    }
    let (digits, rest) = rest.split_at_checked(DIGITS)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_digit) {
        return None;
    }
    let digest = u128::from_str_radix(digits, 16).ok()?;
    Some((RecordHash { columns, digest }, rest))
}

/// The name that a text begins with, and what comes behind.
fn name(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.bytes().position(|byte| !is_plain(byte))?;
        let (name, rest) = text.split_at(end);
        return (!name.is_empty()).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digest_is_the_beginning_of_sha_256() {
        let mut digest = RecordDigest::new();
        digest.value(Some(b"Ada"));
        digest.value(None);
        digest.value(Some(b""));
        // printf '\1\3\0\0\0\0\0\0\0Ada\0\1\0\0\0\0\0\0\0\0' | sha256sum
        assert_eq!(digest.finish(), EXPECTED);
        digest.value(Some(b"Ada"));
        assert_ne!(digest.finish(), EXPECTED);
    }

    const EXPECTED: u128 = 0xba11f64f6822abd6a15fceb5d1750ab3;

    #[test]
    fn what_is_no_pair_of_hashes() {
        let one = "(a)00000000000000000000000000000000";
        assert!(of_pair(&format!("{one} {one}")).is_some());
        for text in [
            "",
            "(",
            "()",
            one,
            &format!("{one}  {one}"),
            &format!("{one} {one} "),
            &format!("{one}{one}"),
            &format!("({one} {one}"),
            &one.replace('a', "A"),
            "(a)0000000000000000000000000000000é (a)0",
            "(a,)00000000000000000000000000000000 (a)00000000000000000000000000000000",
            "(a)+0000000000000000000000000000000 (a)00000000000000000000000000000000",
            "d41d8cd98f00b204e9800998ecf8427e",
        ] {
            assert_eq!(of_pair(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_pair_comes_back(names in proptest::collection::vec("\\PC{0,12}|[a-z\", \
            ()]{0,6}", 1..5), digests: [u128; 2]) {
            let hashes = digests.map(|digest| RecordHash { columns: names.clone(), digest });
            let text = format!("{} {}", hashes[0], hashes[1]);
            prop_assert_eq!(of_pair(&text), Some(hashes));
        }

        #[test]
        fn any_text(text in "\\PC{0,40}|[(),\"a0 ]{0,90}") {
            let _ = of_pair(&text);
        }
    }
}
