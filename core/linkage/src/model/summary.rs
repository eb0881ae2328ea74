//! A model on one page, for people to read.

use base::range::grouped;

use super::doubts::{not_known, NOT_KNOWN_OF_THINGS};
use super::json::AnyModel;
use super::things::ThingsModel;
use super::values::FieldLayout;
use super::{ClassFacts, LeftOut, MatchModel, Search, Status};

/// A row of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// What it is about.
    pub topic: &'static str,
    /// Which of these, if there are several: a column, or a number.
    pub name: Option<String>,
    /// What there is to say, as half a sentence.
    pub text: String,
}

/// The rows of a page.
#[derive(Default)]
struct Page(Vec<SummaryRow>);

impl Page {
    fn say(&mut self, topic: &'static str, name: Option<&str>, text: impl Into<String>) {
        self.0.push(SummaryRow {
            topic,
            name: name.map(str::to_owned),
            text: text.into(),
        });
    }

    /// Numbered from 1 on.
    fn list<T: Into<String>>(&mut self, topic: &'static str, texts: impl IntoIterator<Item = T>) {
        for (i, text) in (1..).zip(texts) {
            let number: i32 = i;
            self.say(topic, Some(&number.to_string()), text);
        }
    }

    fn left_out(&mut self, left_out: &[LeftOut]) {
        for of in left_out {
            self.say("left out", Some(&of.column), &*of.reason);
        }
    }

    fn classes(&mut self, classes: impl IntoIterator<Item = ClassFacts>) {
        for of in classes {
            let text = format!("{}: {} pairs", of.meaning, rounded(of.pairs));
            self.say("class", Some(&of.class.to_string()), text);
        }
    }
}

/// What a status means for whoever wants to use the model.
fn status_meaning(status: Status) -> &'static str {
    match status {
        Status::Converged => "the model can be used",
        Status::Stopped => "the rounds of the fit were not enough",
        Status::Degenerate => "there was nothing to learn from",
        Status::NoneExpected => "next to no duplicates are expected, or the fields do not show them",
        Status::NoPersonalFields => {
            "the columns look like people, and no field is known in which those of a household differ"
        }
    }
}

/// A number of pairs: one digit behind the point where there are few.
fn rounded(n: f64) -> String {
    match n {
        _ if n < 100.0 => format!("{n:.1}"),
        _ => grouped(n.round() as u64),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// How a field is compared, how full it is, and what the best and the worst level of those that enough matches stand behind
/// say.
fn field_text<'l>(
    layout: &FieldLayout,
    filled: f64,
    is_personal: bool,
    levels: impl Iterator<Item = (&'l str, f64, bool)>,
) -> String {
    let mut text = layout.kind().to_string();
    if let Some(reading) = layout.reading() {
        text += &format!(" ({})", reading.name());
    }
    if is_personal {
        text += ", personal";
    }
    text += &format!(", {} filled", percent(filled));
    let mut known: Vec<(&str, f64)> = levels
        .filter(|&(_, _, is_weak)| !is_weak)
        .map(|(meaning, bits, _)| (meaning, bits))
        .collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    if let Some((meaning, bits)) = known.first() {
        text += &format!("; {bits:+.1} bits: {meaning}");
    }
    if let [_, .., (meaning, bits)] = &known[..] {
        text += &format!("; {bits:+.1}: {meaning}");
    }
    text
}

/// The page of a model.
pub fn summary(model: &AnyModel) -> Vec<SummaryRow> {
    let mut page = Page::default();
    match model {
        AnyModel::OfPairs(model) => of_pairs(model, &mut page),
        AnyModel::OfThings(model) => of_things(model, &mut page),
    }
    page.0
}

fn of_pairs(model: &MatchModel, page: &mut Page) {
    let status = model.status.name();
    page.say(
        "status",
        None,
        format!("{status}: {}", status_meaning(model.status)),
    );
    let of = match model.linkage {
        true => "records of two tables",
        false => "records",
    };
    let (records, all) = (rounded_count(model.records), rounded_count(model.all_pairs));
    page.say("fitted to", None, format!("{records} {of}, {all} pairs"));
    if let Some(matches) = model.classes.first() {
        let expected = matches.pairs_per_record * model.records;
        let each = 1000.0 * matches.pairs_per_record;
        let text = format!(
            "{} pairs of the same, {each:.1} per 1000 records",
            rounded(expected)
        );
        page.say("expected", None, text);
    }
    if let Some(recall) = model.recall {
        let text = format!("{} of these at most", percent(recall));
        page.say("searches find", None, text);
    }
    if let Some(of) = &model.calibration {
        let text = format!(
            "by {} answers: {:.2} of each bit, and {:+.1}",
            of.answers, of.slope, of.shift
        );
        page.say("calibrated", None, text);
    }
    page.list("warning", model.warnings.iter().map(String::as_str));
    page.list("not known", not_known(model));
    let levels = model.levels();
    for (k, field) in model.fields.iter().enumerate() {
        let of_field = levels.iter().filter(|of| of.field == k);
        let of_field = of_field.map(|of| (of.meaning, of.bits, of.is_weak()));
        let text = field_text(&field.layout, field.filled, field.personal, of_field);
        page.say("field", Some(&field.name), text);
    }
    if let Some([a, b]) = model.swap.map(|swap| swap.map(|k| &model.fields[k].name)) {
        page.say("may be swapped", Some(a), format!("with {b}"));
    }
    page.left_out(&model.left_out);
    let mut follow = "";
    for (i, of) in (1..).zip(&model.searches) {
        let number: i32 = i;
        let found = rounded(of.pairs_per_record * model.records);
        let new = rounded(of.matches_per_record * model.records);
        let meaning = model.search_meaning(&of.search);
        let text = format!("{follow}{meaning}: {found} pairs, {new} matches that are new");
        page.say("search", Some(&number.to_string()), text);
        if let Search::Scan { .. } = of.search {
            // What the others find is counted without it.
            follow = "in larger tables: ";
        }
    }
    let classes = model.class_facts().into_iter().map(|of| match of.class {
        0 => of,
        class => ClassFacts {
            meaning: format!("{} ({})", model.class_people(class), of.meaning),
            ..of
        },
    });
    page.classes(classes);
}

fn of_things(model: &ThingsModel, page: &mut Page) {
    let status = model.status.name();
    page.say(
        "status",
        None,
        format!("{status}: {}", status_meaning(model.status)),
    );
    let [a, b] = model.records.map(rounded_count);
    let text = format!(
        "{a} and {b} records of two tables; one partner at most: {}",
        model.one_to_one.name()
    );
    page.say("fitted to", None, text);
    let text = format!(
        "{} matches, {} of the most that there can be",
        rounded(model.matches()),
        percent(model.matched)
    );
    page.say("expected", None, text);
    page.list("warning", model.warnings.iter().map(String::as_str));
    page.list("not known", NOT_KNOWN_OF_THINGS);
    let levels = model.levels();
    for (k, field) in model.fields.iter().enumerate() {
        let of_field = levels
            .iter()
            .filter(|of| of.level.is_some_and(|level| level.0 == k));
        let of_field =
            of_field.filter_map(|of| Some((of.meaning.as_str(), of.bits()?, of.is_weak())));
        let text = field_text(&field.layout, field.filled, false, of_field);
        page.say("field", Some(&field.name), text);
    }
    page.left_out(&model.left_out);
    page.classes(model.class_facts());
}

/// A number that counts.
fn rounded_count(n: f64) -> String {
    grouped(n.round().max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::people;

    #[test]
    fn each_part_of_a_model_is_on_the_page() {
        let mut model = people();
        model.warnings = vec!["something is odd".into()];
        model.left_out = vec![LeftOut {
            column: "id".into(),
            reason: "looks like the number of a record".into(),
        }];
        let rows = summary(&AnyModel::OfPairs(model.clone()));
        let of = |topic: &str| rows.iter().filter(|row| row.topic == topic).count();
        assert_eq!(of("field"), model.fields.len());
        assert_eq!(of("search"), model.searches.len());
        assert_eq!(of("class"), model.classes.len());
        assert_eq!(
            [of("status"), of("expected"), of("warning"), of("left out")],
            [1; 4]
        );
        assert_eq!(rows[0].topic, "status");
    }
}
