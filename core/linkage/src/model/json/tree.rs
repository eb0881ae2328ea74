//! A JSON text as a tree with a limit.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{HINT, MOST_FREQUENT};
use crate::model::MOST_FIELDS;
use base::{Error, Result};

/// Most values of a tree: the frequent ones of all fields, and what else a model has.
const MOST_VALUES: usize = (MOST_FIELDS + 1) * MOST_FREQUENT;

/// A value.
#[derive(Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    /// Members by their names, each name once.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text.
    ///
    /// Errors: no JSON, a member that is there twice, too many values, out of memory.
    pub fn parse(text: &str) -> Result<Json> {
        let (left, short) = (Cell::new(MOST_VALUES), Cell::new(0));
        let mut parser = serde_json::Deserializer::from_str(text);
        let json = Tree(&left, &short).deserialize(&mut parser);
        json.and_then(|json| parser.end().map(|()| json))
            .map_err(|error| {
                if short.get() > 0 {
                    return Error::out_of_memory(short.get());
                }
                Error::invalid("invalid match model: it cannot be read as JSON")
                    .detail(format!("{error}."))
                    .hint(HINT)
            })
    }
}

/// Reads a value while the limit, the first number, is not reached. The second becomes the bytes for which there was no
/// memory.
#[derive(Clone, Copy)]
struct Tree<'l>(&'l Cell<usize>, &'l Cell<usize>);

impl Tree<'_> {
    fn room<T, E: serde::de::Error>(self, list: &mut Vec<T>) -> std::result::Result<(), E> {
        list.try_reserve(1).map_err(|_| {
            self.1.set((list.len() + 1) * size_of::<T>());
            E::custom("Out of memory")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Json, D::Error> {
        let Some(left) = self.0.get().checked_sub(1) else {
            let message = format!("There are more than {MOST_VALUES} values");
            return Err(D::Error::custom(message));
        };
        self.0.set(left);
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut of: A) -> std::result::Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = of.next_element_seed(self)? {
            self.room(&mut all)?;
            all.push(value);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut of: A) -> std::result::Result<Json, A::Error> {
        let mut all: Vec<(String, Json)> = Vec::new();
        while let Some(name) = of.next_key()? {
            self.room(&mut all)?;
            all.push((name, of.next_value_seed(self)?));
        }
        all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        match all.windows(2).find(|two| two[0].0 == two[1].0) {
            Some(two) => {
                let message = format!("The member {} is there twice", shown(&two[0].0));
                Err(A::Error::custom(message))
            }
            None => Ok(Json::Object(all)),
        }
    }
}

/// A text in a message: quoted, and cut where it is long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}
