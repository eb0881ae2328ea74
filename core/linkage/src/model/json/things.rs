//! A model of things as JSON, and back.

use serde_json::{json, Value};

use super::place::Place;
use super::read::{dependence, layout, left_out, several, status, warnings, MOST_INFORMATION};
use super::write::{self, exact, numbers, together};
use super::THINGS_FORMAT;
use crate::model::doubts::NOT_KNOWN_OF_THINGS;
use crate::model::things::{Mask, MatchMasks, OneToOne, Thing, ThingsModel};
use crate::model::values::{words, Kind, Reading};
use crate::model::MOST_FIELDS;
use base::Result;
use text::Rules;

/// Most masks of missing values.
const MOST_MASKS: usize = 1 << 16;

/// What a model of things says of itself, for those who read it.
const ABOUT: &str = "Pairs compete: the probability of a pair depends on the other pairs of both records, so no pair \
    has one by itself. Candidates are the records whose words are nearest, so there are no searches by keys.";

/// Writes a model of things.
///
/// Errors: one of its numbers is infinite or none.
pub fn write(model: &ThingsModel) -> Result<String> {
    let name = |k: usize| model.fields[k].name.as_str();
    let names = |bits: u32| -> Value {
        let fields = (0..model.fields.len()).filter(|k| bits >> k & 1 == 1);
        fields.map(name).collect()
    };
    let fields = model.fields.iter().zip(&model.masks.states);
    let fields = fields.map(|(field, states)| {
        let mut written = json!({
            "name": field.name,
            "kind": field.layout.kind().name(),
            "segment": field.layout.segment(),
            "words": field.layout.most_words(),
            "filled": exact(field.filled)?,
            "bits": exact(field.information)?,
            "m": numbers(&field.m)?,
            "u": numbers(&field.u)?,
            "missing": numbers(states)?,
        });
        if let Some(reading) = field.layout.reading().map(Reading::name) {
            written["reading"] = reading.into();
        }
        Ok(written)
    });
    let masks = model.masks.matches.iter().map(|&(mask, matches)| {
        Ok(json!({
            "one": names(mask.one),
            "both": names(mask.both),
            "matches": exact(matches)?,
        }))
    });
    let [a, b] = model.records;
    let matches_per_record = model.matches() / (a + b).max(1.0);
    let written = json!({
        "bloom_ident_model": THINGS_FORMAT,
        "library": env!("CARGO_PKG_VERSION"),
        "rules": Rules::FIRST.number(),
        "about": ABOUT,
        "status": model.status.name(),
        "linkage": true,
        "one_to_one": model.one_to_one.name(),
        "records": exact(a + b)?,
        "tables": numbers(&model.records)?,
        "pairs": exact(a * b)?,
        "matched": exact(model.matched)?,
        "matches_per_record": exact(matches_per_record)?,
        "duplicates_per_1000": exact(1000.0 * matches_per_record)?,
        "rounds": model.rounds,
        "fields": fields.collect::<Result<Value>>()?,
        "together": together(&model.dependence, &name)?,
        "missing": {
            "matches": exact(model.masks.all)?,
            "by_fields": exact(model.masks.by_states)?,
            "masks": masks.collect::<Result<Value>>()?,
        },
        "searches": [],
        "left_out": write::left_out(&model.left_out),
        "warnings": model.warnings,
        "not_known": NOT_KNOWN_OF_THINGS,
    });
    Ok(written.to_string())
}

/// Reads a model of things, whose version has been looked at.
pub(super) fn read(top: &Place<'_>) -> Result<ThingsModel> {
    let one_to_one = top.member("one_to_one")?;
    let one_to_one = OneToOne::named(one_to_one.text()?).ok_or_else(|| {
        let names = OneToOne::ALL.map(OneToOne::name).join(", ");
        one_to_one.invalid(format!("It is one of {names}."))
    })?;
    let linkage = top.member("linkage")?;
    if !linkage.boolean()? {
        return Err(linkage.invalid("Pairs that compete are of two tables."));
    }
    let (fields, states) = fields(&top.member("fields")?)?;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let missing = top.member("missing")?;
    let places = missing.member("masks")?;
    let mut matches = Vec::new();
    for item in places.items(MOST_MASKS)? {
        let bits = |name: &'static str| -> Result<u32> {
            let fields = several(&item.member(name)?, &names)?;
            Ok(fields.iter().fold(0, |bits, k| bits | 1 << k))
        };
        let (one, both) = (bits("one")?, bits("both")?);
        if one & both != 0 {
            return Err(item.invalid("A field is missing on one side or on both."));
        }
        matches.push((Mask { one, both }, item.member("matches")?.count()?));
    }
    matches.sort_by_key(|of| of.0);
    if matches.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err(places.invalid("What matches lack is there once."));
    }
    Ok(ThingsModel {
        status: status(top)?,
        one_to_one,
        dependence: dependence(&top.member("together")?, &names)?,
        masks: MatchMasks {
            matches,
            states,
            all: missing.member("matches")?.count()?,
            by_states: missing.member("by_fields")?.number(1e-15..=1.0 + 1e-6)?,
        },
        records: top.member("tables")?.numbers(|place| place.count())?,
        matched: top.member("matched")?.count()?,
        rounds: top.member("rounds")?.whole(0..=u32::MAX)? as usize,
        left_out: left_out(top)?,
        warnings: warnings(top)?,
        fields,
    })
}

/// The fields, and the states of missing values among matches.
fn fields(place: &Place<'_>) -> Result<(Vec<Thing>, Vec<[f64; 3]>)> {
    let (mut fields, mut states): (Vec<Thing>, Vec<[f64; 3]>) = Default::default();
    for item in place.items(MOST_FIELDS)? {
        let name = item.member("name")?;
        if fields.iter().any(|field| Ok(&*field.name) == name.text()) {
            return Err(name.invalid("Another field has this name."));
        }
        let most_words = item.member("words")?.whole(0..=words::MOST_WORDS as u32)?;
        let shares = |name: &'static str| item.member(name)?.numbers(|place| place.share());
        states.push(item.member("missing")?.numbers(|place| place.share())?);
        fields.push(Thing {
            name: name.text()?.to_owned(),
            layout: layout(&item, &Kind::OF_THINGS)?.with_words(most_words as usize),
            filled: item.member("filled")?.share()?,
            information: item
                .member("bits")?
                .number(-MOST_INFORMATION..=MOST_INFORMATION)?,
            m: shares("m")?,
            u: shares("u")?,
        });
    }
    match fields.is_empty() {
        true => Err(place.invalid("A model has at least one field.")),
        false => Ok((fields, states)),
    }
}
