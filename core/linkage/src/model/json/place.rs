//! A value and where it stands, so that an error can say it.

use std::ops::RangeInclusive;

use super::tree::{shown, Json};
use super::HINT;
use base::error::number;
use base::error::Text;
use base::{Error, Result};

/// Shares that come from divisions may lie above 1 by this.
const ROUNDING: f64 = 1e-9;

/// Greater counts make no sense, and their products are finite.
const MOST_COUNT: f64 = 1e36;

#[derive(Clone, Copy)]
enum Step<'j> {
    Member(&'j str),
    Item(usize),
}

/// A value of a tree, and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Place<'j> {
    json: &'j Json,
    /// The value that it is in, and where there.
    above: Option<(&'j Place<'j>, Step<'j>)>,
}

impl<'j> Place<'j> {
    /// The whole tree.
    pub fn top(json: &'j Json) -> Place<'j> {
        Place { json, above: None }
    }

    fn path(&self) -> String {
        match &self.above {
            None => String::new(),
            Some((above, Step::Item(i))) => format!("{}[{i}]", above.path()),
            Some((above, Step::Member(name))) => {
                let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
                let step = match name.bytes().all(plain) && !name.is_empty() {
                    true => (*name).to_owned(),
                    false => shown(name),
                };
                match above.above {
                    None => step,
                    Some(_) => format!("{}.{step}", above.path()),
                }
            }
        }
    }

    fn value(&self) -> String {
        match self.json {
            Json::Null => "null".into(),
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => number(*value),
            Json::Text(text) => shown(text),
            Json::Array(all) => format!("an array of {}", all.len()),
            Json::Object(_) => "an object".into(),
        }
    }

    /// The error of a value that cannot be; `detail` is a whole sentence that says what can.
    #[cold]
    pub fn invalid(&self, detail: impl Into<Text>) -> Error {
        let path = match self.above {
            None => "it".into(),
            Some(_) => self.path(),
        };
        error(format!("{path} is {}", self.value())).detail(detail)
    }

    fn members(&self) -> Result<&'j [(String, Json)]> {
        match self.json {
            Json::Object(all) => Ok(all),
            _ => Err(self.invalid("It must be an object.")),
        }
    }

    /// A member that may be missing.
    ///
    /// Errors: no object.
    pub fn find<'c>(&'c self, name: &'c str) -> Result<Option<Place<'c>>> {
        let all = self.members()?;
        let at = all.binary_search_by(|(other, _)| other.as_str().cmp(name));
        Ok(at.ok().map(|at| Place {
            json: &all[at].1,
            above: Some((self, Step::Member(name))),
        }))
    }

    /// A member.
    ///
    /// Errors: no object, or there is none of this name.
    pub fn member<'c>(&'c self, name: &'c str) -> Result<Place<'c>> {
        self.find(name)?.ok_or_else(|| {
            let place = Place {
                json: self.json,
                above: Some((self, Step::Member(name))),
            };
            error(format!("{} is missing", place.path()))
        })
    }

    /// All members with their names, sorted.
    ///
    /// Errors: no object, or more members than `most`.
    pub fn entries<'c>(
        &'c self,
        most: usize,
    ) -> Result<impl ExactSizeIterator<Item = (&'c str, Place<'c>)>> {
        let all = self.members()?;
        self.limit(all.len(), most)?;
        Ok(all.iter().map(move |(name, json)| {
            let above = Some((self, Step::Member(name.as_str())));
            (name.as_str(), Place { json, above })
        }))
    }

    /// All elements.
    ///
    /// Errors: no array, or more elements than `most`.
    pub fn items<'c>(&'c self, most: usize) -> Result<impl ExactSizeIterator<Item = Place<'c>>> {
        let Json::Array(all) = self.json else {
            return Err(self.invalid("It must be an array."));
        };
        self.limit(all.len(), most)?;
        Ok(all.iter().enumerate().map(move |(i, json)| Place {
            json,
            above: Some((self, Step::Item(i))),
        }))
    }

    fn limit(&self, n: usize, most: usize) -> Result<()> {
        match n <= most {
            true => Ok(()),
            false => Err(error(format!("{} has {n} elements", self.path()))
                .detail(format!("There can be at most {most}."))),
        }
    }

    /// So many numbers, each read by `read`.
    ///
    /// Errors: no array, another length, those of `read`.
    pub fn numbers<const N: usize>(
        &self,
        read: impl Fn(&Place<'_>) -> Result<f64>,
    ) -> Result<[f64; N]> {
        let mut numbers = [0.0; N];
        // a longer one is an error of the same words
        let items = self.items(usize::MAX)?;
        if items.len() != N {
            return Err(self.invalid(format!("It must be an array of {N} numbers.")));
        }
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = read(&item)?;
        }
        Ok(numbers)
    }

    /// A number in a range, both ends included.
    ///
    /// Errors: none.
    pub fn number(&self, range: RangeInclusive<f64>) -> Result<f64> {
        match self.json {
            Json::Number(value) if range.contains(value) => Ok(*value),
            _ => Err(self.invalid(format!(
                "It must be a number from {} to {}.",
                number(*range.start()),
                number(*range.end())
            ))),
        }
    }

    /// A share, which is a number from 0 to 1.
    ///
    /// Errors: none.
    pub fn share(&self) -> Result<f64> {
        match self.number(0.0..=1.0 + ROUNDING) {
            Ok(share) => Ok(share),
            Err(_) => Err(self.invalid("A share is a number from 0 to 1.")),
        }
    }

    /// A number of records or pairs, or how many there are per record.
    ///
    /// Errors: none.
    pub fn count(&self) -> Result<f64> {
        self.number(0.0..=MOST_COUNT)
    }

    /// A whole number in a range, both ends included.
    ///
    /// Errors: none.
    pub fn whole(&self, range: RangeInclusive<u32>) -> Result<u32> {
        match self.json {
            // the cast cuts off what lies outside
            Json::Number(n) if n.fract() == 0.0 && f64::from(*n as u32) == *n => {
                Some(*n as u32).filter(|n| range.contains(n))
            }
            _ => None,
        }
        .ok_or_else(|| {
            self.invalid(format!(
                "It must be a whole number from {} to {}.",
                range.start(),
                range.end()
            ))
        })
    }

    /// A text that is not empty.
    ///
    /// Errors: none.
    pub fn text(&self) -> Result<&'j str> {
        match self.json {
            Json::Text(text) if !text.is_empty() => Ok(text),
            _ => Err(self.invalid("It must be a text that is not empty.")),
        }
    }

    /// Whether something is so.
    ///
    /// Errors: neither true nor false.
    pub fn boolean(&self) -> Result<bool> {
        match self.json {
            Json::Bool(value) => Ok(*value),
            _ => Err(self.invalid("It must be true or false.")),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.json, Json::Null)
    }
}

/// The error of a model that is no model; `what` is half a sentence.
#[cold]
pub(super) fn error(what: String) -> Error {
    let message = format!("invalid match model: {what}");
    Error::invalid(message).hint(HINT)
}
