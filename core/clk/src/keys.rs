//! The keys of features, two for each, from a secret.

use std::fmt;

use base::{Error, Result};
use hkdf::Hkdf;
use sha2::{Sha256, Sha512};

/// Bytes of a key if the schema says nothing.
pub(crate) const KEY_SIZE: usize = 64;

/// Most bytes of a key of BLAKE2b.
const BLAKE_KEY: usize = 64;

/// What the key of the own family is for, so that it is no other one.
const OWN: &[u8] = b"bloom_ident keyed 1";

/// How keys come from a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyDerivation {
    Hkdf(HkdfKeys),
    /// The secret itself is each key, so that equal tokens of all features set the same bits.
    Legacy,
    /// One key for all features, which is that of nothing else.
    Own,
}

/// RFC 5869; an empty salt is one of zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HkdfKeys {
    pub hash: DerivationHash,
    pub salt: Vec<u8>,
    pub info: Vec<u8>,
    /// Bytes of a key.
    pub size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DerivationHash {
    Sha256,
    Sha512,
}

impl HkdfKeys {
    /// Fills `to` with bytes of a secret.
    fn expand(&self, secret: &[u8], to: &mut [u8]) -> Result<()> {
        let HkdfKeys { salt, info, .. } = self;
        let expanded = match self.hash {
            DerivationHash::Sha256 => Hkdf::<Sha256>::new(Some(salt), secret).expand(info, to),
            DerivationHash::Sha512 => Hkdf::<Sha512>::new(Some(salt), secret).expand(info, to),
        };
        expanded.map_err(|_| Error::invalid("keys of the linkage schema are too long"))
    }
}

impl KeyDerivation {
    /// Errors: HKDF has not so many bytes.
    pub fn check(&self, features: usize) -> Result<()> {
        let KeyDerivation::Hkdf(HkdfKeys { hash, size, .. }) = self else {
            return Ok(());
        };
        let most = 255
            * match hash {
                DerivationHash::Sha256 => 32,
                DerivationHash::Sha512 => 64,
            };
        let wanted = 2 * features * size;
        if wanted <= most {
            return Ok(());
        }
        Err(
            Error::invalid(format!("keys of {features} features need {wanted} bytes"))
                .detail(format!(
                    "HKDF has {most} at most; each feature takes two keys of {size} bytes."
                ))
                .hint("Make \"keySize\" smaller, or take \"SHA512\" as \"hash\" of \"kdf\"."),
        )
    }

    /// Errors: keys are too long for BLAKE2b.
    pub fn check_for_blake(&self) -> Result<()> {
        match self {
            KeyDerivation::Hkdf(HkdfKeys { size, .. }) if *size > BLAKE_KEY => Err(Error::invalid(
                format!("keys of {size} bytes are too long for blakeHash"),
            )
            .detail(format!("It takes keys of {BLAKE_KEY} bytes at most."))),
            _ => Ok(()),
        }
    }

    /// Calls `each` with the number and the two keys of each feature.
    ///
    /// Errors: those of `each`.
    pub fn keys(
        &self,
        secret: &[u8],
        features: usize,
        mut each: impl FnMut(usize, [&[u8]; 2]) -> Result<()>,
    ) -> Result<()> {
        let hkdf = match self {
            KeyDerivation::Hkdf(hkdf) => hkdf,
            KeyDerivation::Legacy => {
                return (0..features).try_for_each(|n| each(n, [secret, secret]));
            }
            KeyDerivation::Own => {
                let mut key = [0; KEY_SIZE];
                let expanded = Hkdf::<Sha512>::new(None, secret).expand(OWN, &mut key);
                let given = (0..features).try_for_each(|n| each(n, [&key, &key]));
                key.fill(0);
                return expanded
                    .map_err(|_| Error::invalid("key of the own family is too long"))
                    .and(given);
            }
        };
        let mut all = vec![0; 2 * features * hkdf.size];
        hkdf.expand(secret, &mut all)?;
        let of_feature = all.chunks_exact(2 * hkdf.size).enumerate();
        let done = of_feature.map(|(n, keys)| {
            let (first, second) = keys.split_at(hkdf.size);
            each(n, [first, second])
        });
        let done = done.collect();
        all.fill(0);
        done
    }
}

impl fmt::Display for KeyDerivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HkdfKeys {
            hash,
            salt,
            info,
            size,
        } = match self {
            KeyDerivation::Legacy => return f.write_str("kdf legacy"),
            KeyDerivation::Own => return f.write_str("kdf own"),
            KeyDerivation::Hkdf(hkdf) => hkdf,
        };
        let hash = match hash {
            DerivationHash::Sha256 => "SHA256",
            DerivationHash::Sha512 => "SHA512",
        };
        write!(f, "kdf HKDF {hash} {size} salt ")?;
        salt.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(" info ")?;
        info.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
