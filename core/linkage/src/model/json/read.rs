//! JSON as a model.

use super::place::{error, Place};
use super::tree::Json;
use super::{
    things, AnyModel, FORMAT, MOST_CLASSES, MOST_COLUMNS, MOST_FREQUENT, MOST_OF_BLOCK,
    MOST_WARNINGS, THINGS_FORMAT,
};
use crate::model::calibration::SLOPES;
use crate::model::mixture::{Dependence, DependentFields, Shares};
use crate::model::values::{FieldLayout, Kind, Reading, EQUAL, LEVELS};
use crate::model::{
    Calibration, Class, FieldModel, LeftOut, MatchModel, PlannedSearch, Search, Status,
};
use crate::model::{MOST_FIELDS, MOST_SEARCHES};
use base::{Error, ErrorKind, Result};
use text::Rules;

/// Logarithms of dependence lie within this distance from 0, which is far from what a fit gives, and far from infinity.
const MOST_LOG: f64 = 50.0;

/// A shift lies within this distance from 0, which is far from what answers give.
const MOST_SHIFT: f64 = 1e3;

/// Bits of information lie within this distance from 0.
pub(super) const MOST_INFORMATION: f64 = 1e6;

/// Reads a model that says of each pair by itself what it is.
///
/// Errors: anything that this release cannot read, or that cannot be; a model of pairs that compete.
pub fn read_model(text: &str) -> Result<MatchModel> {
    match read_any_model(text)? {
        AnyModel::OfPairs(model) => Ok(model),
        AnyModel::OfThings(model) => Err(Error::new(
            ErrorKind::NotSupported,
            "match model says nothing of a pair by itself",
        )
        .detail(format!(
            "It was fitted with one_to_one => '{}': what it says of a pair depends on the other pairs of both records, \
             and it has no searches.",
            model.one_to_one.name()
        ))
        .hint(
            "Find its pairs with bloom_model_linkage(), with min_probability => 0 their rivals as well; reports show them \
             without a model. Or fit one without one_to_one.",
        )),
    }
}

/// Reads a model.
///
/// Errors: anything that this release cannot read, or that cannot be.
pub fn read_any_model(text: &str) -> Result<AnyModel> {
    let json = Json::parse(text)?;
    let top = Place::top(&json);
    if let Json::Text(_) = json {
        return Err(top.invalid("It is a string, and a model is an object.").hint(
            "Give the column in which the model is stored, without quotes, as in SELECT p.* FROM models AS m, \
             bloom_model_duplicates('people', 'id', m.model) AS p.",
        ));
    }
    match version(&top)? {
        FORMAT => model_of_pairs(&top).map(AnyModel::OfPairs),
        _ => things::read(&top).map(AnyModel::OfThings),
    }
}

pub(super) fn status(top: &Place<'_>) -> Result<Status> {
    let status = top.member("status")?;
    Status::named(status.text()?).ok_or_else(|| {
        let names = Status::ALL.map(Status::name).join(", ");
        status.invalid(format!("A status is one of {names}."))
    })
}

pub(super) fn left_out(top: &Place<'_>) -> Result<Vec<LeftOut>> {
    let left_out = top.member("left_out")?;
    let left_out = left_out.entries(MOST_COLUMNS)?.map(|(column, reason)| {
        Ok(LeftOut {
            column: column.to_owned(),
            reason: reason.text()?.to_owned(),
        })
    });
    left_out.collect()
}

fn model_of_pairs(top: &Place<'_>) -> Result<MatchModel> {
    let status = status(top)?;
    let (fields, matches) = fields(&top.member("fields")?)?;
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let swap = swap(&top.member("swap")?, &fields, &names)?;
    let match_dependence = match top.find("together_in_matches")? {
        // models of before it was learned have none
        None => Dependence::default(),
        Some(edges) => dependence(&edges, &names)?,
    };
    let dependence = dependence(&top.member("together")?, &names)?;
    let mut classes = vec![Class {
        chance: 0,
        pairs_per_record: top.member("matches_per_record")?.count()?,
        shares: matches,
    }];
    for class in top.member("classes")?.items(MOST_CLASSES)? {
        classes.push(other_class(&class, &fields, &names)?);
    }
    let searches = top.member("searches")?;
    let searches = searches.items(MOST_SEARCHES)?;
    let searches = searches.map(|item| search(&item, &names, swap));
    let searches = searches.collect::<Result<_>>()?;
    Ok(MatchModel {
        status,
        swap,
        dependence,
        match_dependence,
        classes,
        linkage: top.member("linkage")?.boolean()?,
        records: top.member("records")?.count()?,
        all_pairs: top.member("pairs")?.count()?,
        rounds: top.member("rounds")?.whole(0..=u32::MAX)? as usize,
        searches,
        left_out: left_out(top)?,
        calibration: calibration(top)?,
        recall: recall(top)?,
        warnings: warnings(top)?,
        fields,
    })
}

/// Models of before there was any have none.
fn calibration(top: &Place<'_>) -> Result<Option<Calibration>> {
    let Some(place) = top.find("calibration")?.filter(|place| !place.is_null()) else {
        return Ok(None);
    };
    Ok(Some(Calibration {
        slope: place.member("slope")?.number(SLOPES)?,
        shift: place.member("shift")?.number(-MOST_SHIFT..=MOST_SHIFT)?,
        answers: place.member("answers")?.whole(0..=u32::MAX)?,
    }))
}

/// Models of before it was kept have none.
fn recall(top: &Place<'_>) -> Result<Option<f64>> {
    let place = top.find("recall")?.filter(|place| !place.is_null());
    place.map(|place| place.share()).transpose()
}

/// Models of before there were any have none.
pub(super) fn warnings(top: &Place<'_>) -> Result<Vec<String>> {
    let Some(place) = top.find("warnings")? else {
        return Ok(Vec::new());
    };
    let texts = place.items(MOST_WARNINGS)?;
    texts.map(|text| Ok(text.text()?.to_owned())).collect()
}

/// The version of the form.
///
/// Errors: an unknown one; another version of the rules of normal forms.
fn version(top: &Place<'_>) -> Result<u64> {
    let unknown = |message: String, known: String| {
        Err(Error::new(ErrorKind::NotSupported, message)
            .detail(format!("This release knows {known}."))
            .hint("Use the release that made the model, or make it anew with bloom_model_fit()."))
    };
    let format = u64::from(top.member("bloom_ident_model")?.whole(0..=u32::MAX)?);
    if ![FORMAT, THINGS_FORMAT].contains(&format) {
        let known = format!("the versions {FORMAT} and {THINGS_FORMAT}");
        return unknown(format!("match model has format version {format}"), known);
    }
    let rules = top.member("rules")?.whole(0..=u32::MAX)?;
    if rules != u32::from(Rules::FIRST.number()) {
        let message = format!("match model was made by version {rules} of the rules of text");
        return unknown(message, format!("version {}", Rules::FIRST.number()));
    }
    Ok(format)
}

/// The fields, and the levels' shares among matches in each of them.
fn fields(place: &Place<'_>) -> Result<(Vec<FieldModel>, Vec<Shares>)> {
    let (mut fields, mut matches): (Vec<FieldModel>, Vec<Shares>) = Default::default();
    for item in place.items(MOST_FIELDS)? {
        let name = item.member("name")?;
        if fields.iter().any(|field| Ok(&*field.name) == name.text()) {
            return Err(name.invalid("Another field has this name."));
        }
        let layout = layout(&item, &Kind::OF_PAIRS)?;
        let frequent = item.member("frequent")?;
        let frequent = frequent.entries(MOST_FREQUENT)?.map(|(value, share)| {
            let share = share.share()?;
            Ok((value.to_owned(), share))
        });
        matches.push(shares(&item.member("m")?)?);
        fields.push(FieldModel {
            name: name.text()?.to_owned(),
            layout,
            personal: item.member("personal")?.boolean()?,
            filled: item.member("filled")?.share()?,
            information: item
                .member("bits")?
                .number(-MOST_INFORMATION..=MOST_INFORMATION)?,
            u: shares(&item.member("u")?)?,
            rare_level: item.member("rare_level")?.whole(0..=EQUAL as u32 - 1)? as u8,
            frequent: frequent.collect::<Result<_>>()?,
        });
    }
    match fields.is_empty() {
        true => Err(place.invalid("A model has at least one field.")),
        false => Ok((fields, matches)),
    }
}

/// How the values of a field are compared, whose kind is one of some.
pub(super) fn layout(item: &Place<'_>, kinds: &[Kind]) -> Result<FieldLayout> {
    let kind = item.member("kind")?;
    let kind = Kind::of_name(kind.text()?, kinds)
        .map_err(|error| kind.invalid(error.hint_text().unwrap_or_default()))?;
    let segment = item.member("segment")?;
    let p = segment.whole(0..=u32::MAX)?;
    let layout = match kind {
        // the shape is in the reading
        Kind::Signature => FieldLayout::new(kind, 0),
        _ => FieldLayout::of_segment(kind, p.into()),
    };
    let layout =
        layout.map_err(|error| segment.invalid(error.detail_text().unwrap_or_default()))?;
    // models of before there were readings have none
    let reading = match item.find("reading")? {
        None => None,
        Some(reading) => Some(Reading::of_name(kind, reading.text()?).map_err(|error| {
            let detail = error.hint_text().or(error.detail_text());
            reading.invalid(detail.unwrap_or_default())
        })?),
    };
    if kind == Kind::Signature && reading.is_none() {
        return Err(
            item.invalid("A field of signatures has a member \"reading\" with their shape.")
        );
    }
    Ok(layout.with_reading(reading))
}

fn shares(place: &Place<'_>) -> Result<Shares> {
    place.numbers::<LEVELS>(|place| place.share())
}

/// The number of a field of this name.
fn field(place: &Place<'_>, names: &[&str]) -> Result<usize> {
    let name = place.text()?;
    let found = names.iter().position(|&other| other == name);
    found.ok_or_else(|| place.invalid("The model has no field of this name."))
}

/// The numbers of different fields.
pub(super) fn several(place: &Place<'_>, names: &[&str]) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for item in place.items(MOST_FIELDS)? {
        let number = field(&item, names)?;
        if all.contains(&number) {
            return Err(item.invalid("The field is there twice."));
        }
        all.push(number);
    }
    Ok(all)
}

fn two(place: &Place<'_>, names: &[&str]) -> Result<[usize; 2]> {
    let two = several(place, names)?.try_into();
    two.map_err(|_| place.invalid("It must be an array of two names of fields."))
}

fn swap(place: &Place<'_>, fields: &[FieldModel], names: &[&str]) -> Result<Option<[usize; 2]>> {
    if place.is_null() {
        return Ok(None);
    }
    let swap = two(place, names)?;
    let [a, b] = swap.map(|k| &fields[k].layout);
    match (a.kind(), a.reading(), a.segment()) == (b.kind(), b.reading(), b.segment()) {
        true => Ok(Some(swap)),
        false => Err(error(format!(
            "the fields \"{}\" and \"{}\" of swap are not compared alike",
            fields[swap[0]].name, fields[swap[1]].name
        ))
        .detail("Fields whose values change places have the same kind and the same segment.")),
    }
}

pub(super) fn dependence<const N: usize>(
    place: &Place<'_>,
    names: &[&str],
) -> Result<Dependence<N>> {
    let mut part: Vec<usize> = (0..names.len()).collect();
    let mut edges = Vec::new();
    // a tree has no more
    for item in place.items(names.len() - 1)? {
        let at = item.member("fields")?;
        let pair = two(&at, names)?;
        let [x, y] = pair.map(|k| part[k]);
        if x == y {
            return Err(at.invalid("Fields that go together make no circle."));
        }
        part.iter_mut().filter(|p| **p == y).for_each(|p| *p = x);
        let logs = item.member("logs")?;
        let rows = logs.items(N)?;
        if rows.len() != N {
            return Err(logs.invalid(format!("It must be an array of {N} arrays.")));
        }
        let log = |place: &Place<'_>| place.number(-MOST_LOG..=MOST_LOG);
        let rows = rows.map(|row| row.numbers::<N>(log));
        edges.push(DependentFields {
            fields: pair,
            logs: rows.collect::<Result<_>>()?,
            information: item
                .member("information")?
                .number(-MOST_INFORMATION..=MOST_INFORMATION)?,
        });
    }
    Ok(Dependence { edges })
}

fn other_class(place: &Place<'_>, fields: &[FieldModel], names: &[&str]) -> Result<Class> {
    let differ = several(&place.member("differ")?, names)?;
    let chance = differ.iter().fold(0u32, |set, &k| set | 1 << k);
    let levels = place.member("levels")?;
    let known = |name: &str| names.contains(&name);
    if let Some((_, unknown)) = levels.entries(MOST_FIELDS)?.find(|(name, _)| !known(name)) {
        return Err(unknown.invalid("The model has no field of this name."));
    }
    let of = |(k, field): (usize, &FieldModel)| match chance >> k & 1 {
        1 => levels
            .find(&field.name)?
            .map_or(Ok(field.u), |of| shares(&of)),
        _ => shares(&levels.member(&field.name)?),
    };
    Ok(Class {
        chance,
        pairs_per_record: place.member("pairs_per_record")?.count()?,
        shares: fields.iter().enumerate().map(of).collect::<Result<_>>()?,
    })
}

fn search(place: &Place<'_>, names: &[&str], swap: Option<[usize; 2]>) -> Result<PlannedSearch> {
    let most = || place.member("most")?.whole(2..=MOST_OF_BLOCK);
    let mut ways = Vec::new();
    for way in ["equal", "crosswise", "similar", "scan"] {
        ways.extend(place.find(way)?.map(|place| (way, place)));
    }
    let search = match &ways[..] {
        [("equal", equal)] => {
            let mut chosen = several(equal, names)?;
            if chosen.is_empty() {
                return Err(equal.invalid("It must be an array of names of fields."));
            }
            chosen.sort_unstable();
            Search::Equal {
                fields: chosen,
                most: most()?,
            }
        }
        [("crosswise", besides)] => {
            let mut chosen = several(besides, names)?;
            let Some(swap) = swap else {
                return Err(besides.invalid("The model has no fields whose values change places."));
            };
            if chosen.iter().any(|field| swap.contains(field)) {
                return Err(besides.invalid(
                    "It must be an array of names of fields other than those whose values change places.",
                ));
            }
            chosen.sort_unstable();
            Search::Crosswise {
                fields: chosen,
                most: most()?,
            }
        }
        [("similar", similar)] => {
            let mut chosen = several(similar, names)?;
            if !(1..=2).contains(&chosen.len()) {
                return Err(similar.invalid("It must be an array of one or two names of fields."));
            }
            chosen.sort_unstable();
            Search::Similar {
                fields: chosen,
                least: place.member("least")?.whole(0..=100)?,
                most: most()?,
            }
        }
        [("scan", scan)] => Search::Scan {
            least: scan.whole(0..=100)?,
        },
        _ => {
            return Err(place
                .invalid("A search has one of the members equal, crosswise, similar and scan."));
        }
    };
    Ok(PlannedSearch {
        search,
        pairs_per_record: place.member("pairs_per_record")?.count()?,
        matches_per_record: place.member("matches_per_record")?.count()?,
    })
}
