//! Linkage schemas: versions 1 to 3 of clkhash's, which are read into one form, that of version 3, and those of bloom_ident's own
//! family (see [`crate::own`]), which have the same form.

use std::fmt::Write;

use base::{Error, Result};
use base64::prelude::{Engine, BASE64_STANDARD};
use serde_json::Value;

use crate::compare::Comparison;
use crate::format::{Encoding, Format};
use crate::hash::{HashKind, Strategy};
use crate::json::Member;
use crate::keys::{DerivationHash, HkdfKeys, KeyDerivation, KEY_SIZE};
use crate::own;
use signature::filter::Shape;

/// Most bits of a result, and of a filter before it is folded.
pub const MOST_BITS: u64 = 1 << 16;

/// Most features of a schema.
pub(crate) const MOST_FEATURES: usize = 256;

/// What a record is, and how it is encoded.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Bits of a result.
    pub(crate) length: u32,
    /// How often the filter is folded in two to get there.
    pub(crate) folds: u32,
    pub(crate) derivation: KeyDerivation,
    pub(crate) features: Vec<Feature>,
    /// The shape of signatures of the own family, without an id.
    pub(crate) own: Option<Shape>,
}

/// One column of a record.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    pub name: String,
    /// `None` for one that is left out.
    pub hashed: Option<Hashed>,
}

/// How the values of a feature are checked and hashed.
#[derive(Clone, Debug)]
pub(crate) struct Hashed {
    pub format: Format,
    pub encoding: Encoding,
    pub comparison: Comparison,
    pub strategy: Strategy,
    pub hash: HashKind,
    pub missing: Option<Missing>,
}

/// What stands for a value that is missing, and what is hashed for it.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub sentinel: String,
    pub replacement: Option<String>,
}

impl Schema {
    /// Reads a schema.
    ///
    /// Errors: one that clkhash would refuse (22023), or that asks for something that is not supported (0A000).
    pub fn new(schema: &Value) -> Result<Schema> {
        let root = Member::root(schema);
        if root.get(own::VERSION)?.is_some() {
            return own::schema(&root);
        }
        let version = root.need("version")?;
        let version = match version.integer(0, 1 << 20)? {
            number @ 1..=3 => number,
            other => return Err(version.unsupported(&format!("version {other}"))),
        };
        let config = root.need("clkConfig")?;
        let length = config.need("l")?.integer(1, MOST_BITS)? as u32;
        // clkhash reads this member, and not the "xorFolds" of its own description.
        let folds = match config.get("xor_folds")? {
            Some(folds) => folds.integer(0, 16)? as u32,
            None => 0,
        };
        if u64::from(length) << folds > MOST_BITS {
            let message = format!("a filter of {length} bits folded {folds} times is too long");
            return Err(Error::invalid(message).detail(format!(
                "Before it is folded it has {MOST_BITS} bits at most."
            )));
        }
        if let Some(folds) = config.get("xorFolds")? {
            if folds.integer(0, 16)? != 0 {
                return Err(folds.unsupported("a number of folds").hint(
                    "clkhash passes over \"xorFolds\", and folds by \"xor_folds\": write that, or leave it out.",
                ));
            }
        }
        let derivation = derivation(&config.need("kdf")?)?;
        // Those of all features, in version 1.
        let (k, hash) = match version {
            1 => (
                config.need("k")?.integer(1, MOST_TOKEN_BITS)?,
                hash_kind(&config.need("hash")?)?,
            ),
            _ => (0, HashKind::Blake),
        };
        let features = root.need("features")?;
        let features = features.items()?.map(|feature| match version {
            1 => of_version_1(&feature, k, hash),
            2 => of_version_2(&feature),
            _ => of_version_3(&feature),
        });
        let features = features.collect::<Result<Vec<_>>>()?;
        if features.len() > MOST_FEATURES {
            return Err(
                Error::invalid(format!("linkage schema has {} features", features.len()))
                    .detail(format!("It may have {MOST_FEATURES} at most.")),
            );
        }
        let schema = Schema {
            length,
            folds,
            derivation,
            features,
            own: None,
        };
        schema.check_hashes()?;
        Ok(schema)
    }

    /// Bits of a result.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Bits of the filter before it is folded.
    pub(crate) fn unfolded(&self) -> u32 {
        self.length << self.folds
    }

    /// The names of the features, in their order, and whether each is hashed.
    pub fn features(&self) -> impl Iterator<Item = (&str, bool)> {
        let features = self.features.iter();
        features.map(|feature| (feature.name.as_str(), feature.hashed.is_some()))
    }

    /// Errors: what the hashes cannot do.
    fn check_hashes(&self) -> Result<()> {
        self.derivation.check(self.features.len())?;
        let mut hashed = self.features.iter().filter_map(|f| f.hashed.as_ref());
        if !hashed.any(|hashed| hashed.hash == HashKind::Blake) {
            return Ok(());
        }
        let unfolded = self.unfolded();
        if !unfolded.is_power_of_two() {
            return Err(Error::invalid(format!(
                "length {unfolded} of a filter is no power of two"
            ))
            .detail("blakeHash needs one: l, times two for each fold."));
        }
        self.derivation.check_for_blake()
    }

    /// All that decides which bits a record has, in one form: schemas that encode the same values in the same way have
    /// the same, whatever their version, the names of features, and what values they refuse.
    pub fn canonical(&self) -> String {
        if let Some(shape) = self.own {
            return own::canonical(shape);
        }
        let mut form = format!("clk 1\nl {} folds {}\n", self.length, self.folds);
        let _ = writeln!(form, "{}", self.derivation);
        for feature in &self.features {
            let Some(hashed) = &feature.hashed else {
                form.push_str("ignored\n");
                continue;
            };
            let Hashed {
                format,
                encoding,
                comparison,
                strategy,
                hash,
                missing,
            } = hashed;
            let _ = write!(
                form,
                "{} {encoding} {comparison} {strategy} {hash}",
                format.kind()
            );
            if let Some(Missing {
                sentinel,
                replacement,
            }) = missing
            {
                let quoted = |text: &str| Value::from(text).to_string();
                let replacement = replacement.as_ref().unwrap_or(sentinel);
                let _ = write!(
                    form,
                    " missing {} {}",
                    quoted(sentinel),
                    quoted(replacement)
                );
            }
            form.push('\n');
        }
        form
    }
}

/// Most bits that a token sets, or that those of a feature set.
const MOST_TOKEN_BITS: u64 = 1 << 16;

/// How the keys of features come from the secret.
fn derivation(kdf: &Member<'_>) -> Result<KeyDerivation> {
    let of_type = kdf.need("type")?;
    match of_type.text()? {
        "HKDF" => (),
        "legacy" => return Ok(KeyDerivation::Legacy),
        other => return Err(of_type.unsupported(&format!("key derivation \"{other}\""))),
    }
    let bytes = |name: &str| {
        let member = kdf.get(name)?;
        let member = member.map(|member| {
            let bytes = BASE64_STANDARD.decode(member.text()?);
            bytes.map_err(|_| member.wrong("bytes in base64"))
        });
        member.transpose().map(Option::unwrap_or_default)
    };
    let hash = match kdf.get("hash")? {
        None => DerivationHash::Sha256,
        Some(hash) => match hash.text()? {
            "SHA256" => DerivationHash::Sha256,
            "SHA512" => DerivationHash::Sha512,
            other => return Err(hash.unsupported(&format!("hash \"{other}\""))),
        },
    };
    let size = match kdf.get("keySize")? {
        Some(size) => size.integer(1, 1 << 14)? as usize,
        None => KEY_SIZE,
    };
    Ok(KeyDerivation::Hkdf(HkdfKeys {
        hash,
        salt: bytes("salt")?,
        info: bytes("info")?,
        size,
    }))
}

fn hash_kind(hash: &Member<'_>) -> Result<HashKind> {
    let of_type = hash.need("type")?;
    let prevents = hash.get("prevent_singularity")?;
    match of_type.text()? {
        "doubleHash" => {
            let singular = prevents.map(|member| member.boolean()).transpose()?;
            Ok(HashKind::Double {
                singular: !singular.unwrap_or(false),
            })
        }
        "blakeHash" => match prevents {
            Some(member) => Err(member
                .unsupported("preventing the singularity of blakeHash")
                .detail("Only doubleHash has one.")),
            None => Ok(HashKind::Blake),
        },
        other => Err(of_type.unsupported(&format!("hash \"{other}\""))),
    }
}

fn name_of(feature: &Member<'_>) -> Result<String> {
    Ok(feature.need("identifier")?.text()?.to_owned())
}

fn is_ignored(feature: &Member<'_>) -> Result<bool> {
    let ignored = feature.get("ignored")?;
    let ignored = ignored.map(|member| member.boolean()).transpose()?;
    Ok(ignored.unwrap_or(false))
}

fn missing(hashing: &Member<'_>) -> Result<Option<Missing>> {
    let Some(missing) = hashing.get("missingValue")? else {
        return Ok(None);
    };
    let replacement = missing.get("replaceWith")?;
    let replacement = replacement.map(|member| member.text()).transpose()?;
    Ok(Some(Missing {
        sentinel: missing.need("sentinel")?.text()?.to_owned(),
        replacement: replacement.map(str::to_owned),
    }))
}

/// `hashing` with n-grams, as versions 1 and 2 have them.
fn ngrams(hashing: &Member<'_>) -> Result<Comparison> {
    let n = hashing.need("ngram")?.integer(1, MOST_NGRAM)? as usize;
    let positional = hashing.get("positional")?;
    let positional = positional.map(|member| member.boolean()).transpose()?;
    Ok(Comparison::Ngrams {
        n,
        positional: positional.unwrap_or(false),
    })
}

/// Longest n-gram.
pub(crate) const MOST_NGRAM: u64 = 64;

fn of_version_1(feature: &Member<'_>, k: u64, hash: HashKind) -> Result<Feature> {
    let name = name_of(feature)?;
    if is_ignored(feature)? {
        return Ok(Feature { name, hashed: None });
    }
    let hashing = feature.need("hashing")?;
    let weight = match hashing.get("weight")? {
        None => 1.0,
        Some(member) => {
            let weight = member.number()?.as_f64();
            weight
                .filter(|weight| (0.0..1e6).contains(weight))
                .ok_or_else(|| member.wrong("a number from 0 on"))?
        }
    };
    if weight == 0.0 {
        return Ok(Feature { name, hashed: None });
    }
    let per_token = (weight * k as f64).round_ties_even();
    if !(1.0..=MOST_TOKEN_BITS as f64).contains(&per_token) {
        let path = hashing.path();
        return Err(Error::invalid(format!(
            "weight {weight} in \"{path}\" of the linkage schema gives a token {per_token} bits"
        ))
        .detail(format!(
            "k is {k}, and a token sets 1 to {MOST_TOKEN_BITS} bits."
        )));
    }
    hashed(feature, name, |hashing| {
        hashing.check_members(&["ngram", "positional", "weight", "missingValue"])?;
        Ok((ngrams(hashing)?, Strategy::PerToken(per_token as u32), hash))
    })
}

fn of_version_2(feature: &Member<'_>) -> Result<Feature> {
    let name = name_of(feature)?;
    if is_ignored(feature)? {
        return Ok(Feature { name, hashed: None });
    }
    hashed(feature, name, |hashing| {
        hashing.check_members(&["hash", "strategy", "ngram", "positional", "missingValue"])?;
        let strategy = strategy(&hashing.need("strategy")?, ["k", "numBits"])?;
        Ok((ngrams(hashing)?, strategy, hash_of(hashing)?))
    })
}

fn of_version_3(feature: &Member<'_>) -> Result<Feature> {
    let name = name_of(feature)?;
    if is_ignored(feature)? {
        return Ok(Feature { name, hashed: None });
    }
    hashed(feature, name, |hashing| {
        hashing.check_members(&["hash", "strategy", "comparison", "missingValue"])?;
        let strategy = hashing.need("strategy")?;
        let strategy = self::strategy(&strategy, ["bitsPerToken", "bitsPerFeature"])?;
        let comparison = Comparison::new(&hashing.need("comparison")?)?;
        Ok((comparison, strategy, hash_of(hashing)?))
    })
}

fn hash_of(hashing: &Member<'_>) -> Result<HashKind> {
    let hash = hashing.get("hash")?.map(|hash| hash_kind(&hash));
    Ok(hash.transpose()?.unwrap_or(HashKind::Blake))
}

/// How many bits tokens set, by the names of a version: for each token, or for all of a feature.
fn strategy(strategy: &Member<'_>, [per_token, per_feature]: [&str; 2]) -> Result<Strategy> {
    strategy.check_members(&[per_token, per_feature])?;
    let bits = |member: Member<'_>| Ok(member.integer(1, MOST_TOKEN_BITS)? as u32);
    match (strategy.get(per_token)?, strategy.get(per_feature)?) {
        (Some(bits_of), None) => bits(bits_of).map(Strategy::PerToken),
        (None, Some(bits_of)) => bits(bits_of).map(Strategy::PerFeature),
        _ => Err(strategy.wrong(&format!(
            "an object with one of the members \"{per_token}\" and \"{per_feature}\""
        ))),
    }
}

/// A feature that is hashed as `how` reads of its member `hashing`.
fn hashed(
    feature: &Member<'_>,
    name: String,
    how: impl FnOnce(&Member<'_>) -> Result<(Comparison, Strategy, HashKind)>,
) -> Result<Feature> {
    let hashing = feature.need("hashing")?;
    let (comparison, strategy, hash) = how(&hashing)?;
    let (format, encoding) = Format::new(&feature.need("format")?)?;
    let missing = missing(&hashing)?;
    let hashed_for_it = |missing: &Missing| {
        let text = missing.replacement.as_ref().unwrap_or(&missing.sentinel);
        text.clone()
    };
    let replacement = missing.as_ref().map(hashed_for_it);
    if let Some(text) = replacement.filter(|text| !encoding.has(text)) {
        return Err(Error::invalid(format!(
            "\"{text}\" cannot be written in encoding {}",
            encoding.name()
        ))
        .detail(format!(
            "It is hashed for missing values of feature \"{name}\"."
        )));
    }
    Ok(Feature {
        name,
        hashed: Some(Hashed {
            format,
            encoding,
            comparison,
            strategy,
            hash,
            missing,
        }),
    })
}
