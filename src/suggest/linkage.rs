//! What is proposed for two tables whose records are to be linked.

use std::ffi::CString;

use linkage::model::{column_names, LeftOut};

use super::fields::{text_literal, ProposedField};
use super::proposals::{Proposal, Proposals, LEAST_FOR_MODEL, MODEL_FIELDS};
use super::relation::NewTable;
use super::statements::{name_literal, SuggestTarget, SURE};
use super::Side;
use pg::sql;
use pg::sql::{literal, Sql};

/// Columns of both tables that mean the same.
struct Shared<'a> {
    fields: Vec<[&'a ProposedField; 2]>,
}

impl<'a> Shared<'a> {
    /// Those of one name, then those whose names may mean the same.
    fn find(sides: [&'a Side; 2]) -> Shared<'a> {
        let [a, b] = sides;
        let usable = |side: &'a Side| side.fields.iter().filter(|field| !field.is_long);
        let mut free: Vec<&ProposedField> = usable(b).collect();
        let mut partners: Vec<(&ProposedField, Option<&ProposedField>)> =
            usable(a).map(|field| (field, None)).collect();
        let mut pair = |means_same: &dyn Fn(&str, &str) -> bool| {
            for (field, partner) in partners.iter_mut().filter(|of| of.1.is_none()) {
                let found = free
                    .iter()
                    .position(|other| means_same(&field.name, &other.name));
                *partner = found.map(|at| free.remove(at));
            }
        };
        pair(&|a, b| a == b);
        pair(&column_names::may_be_same);
        // A view has the second table's key by its own name, and no other column by that.
        let is_free = |[a, b]: &[&ProposedField; 2]| {
            a.name == b.name || sides[1].subject.key.as_ref() != Some(&a.c_name)
        };
        let fields = partners.into_iter();
        let fields = fields.filter_map(|(a, b)| Some([a, b?])).filter(is_free);
        Shared {
            fields: fields.take(MODEL_FIELDS).collect(),
        }
    }

    fn are_renamed(&self) -> bool {
        self.fields.iter().any(|[a, b]| a.name != b.name)
    }

    /// As `bloom_model_fit_linkage` takes them: with their kind where both sides say the same one.
    fn wishes(&self) -> Sql {
        let wish = |[a, b]: &[&ProposedField; 2]| {
            let is_same = a.kind == b.kind && a.reading == b.reading;
            text_literal(&if is_same { a.wish() } else { a.name.clone() })
        };
        Sql::join(self.fields.iter().map(wish), ", ")
    }
}

/// All proposals for two relations.
pub fn proposals(sides: [&Side; 2], functions: &Sql) -> Vec<Proposal> {
    let shared = Shared::find(sides);
    let mut all = Vec::new();
    for (i, side) in sides.into_iter().enumerate() {
        let mut of = Proposals::new(&side.subject, &side.sample, &side.fields, functions);
        of.tell_sample();
        of.tell_left_out(&side.left_out);
        of.tell_left_out(&alone(side, sides[1 - i], |field| {
            shared.fields.iter().any(|both| both[i].name == field.name)
        }));
        all.extend(of.finish_of(&side.subject.name));
    }
    let [a, b] = sides;
    let mut of_both = Proposals::new(&a.subject, &a.sample, &a.fields, functions);
    if shared.fields.len() < 2 {
        of_both.say("fields", "two columns that both have are the least to learn from: nothing is proposed; views rename columns");
        all.extend(of_both.finish());
        return all;
    }
    let names = shared.fields.iter().map(|[a, b]| match a.name == b.name {
        true => a.wish(),
        false => format!(
            "{} (\"{}\" in \"{}\")",
            a.wish(),
            b.name,
            sides[1].subject.name
        ),
    });
    let names = names.collect::<Vec<String>>().join(", ");
    of_both.say(
        "fields",
        &format!("these tell records apart, and both have them: {names}"),
    );
    let least = a.sample.rows.min(b.sample.rows);
    if least < LEAST_FOR_MODEL {
        let reason = format!(
            "with fewer than {LEAST_FOR_MODEL} records on a side a model may learn nothing"
        );
        of_both.say("fields", &reason);
    }
    all.extend(of_both.finish());
    let targets = sides.map(|side| {
        let mut of = Proposals::new(&side.subject, &side.sample, &side.fields, functions);
        let target = of.keyed();
        all.extend(of.finish_of(&side.subject.name));
        target
    });
    let mut of_both = Proposals::new(&a.subject, &a.sample, &a.fields, functions);
    of_both.link(&shared, targets, sides);
    all.extend(of_both.finish());
    all
}

/// The fields of a side that the other one has not, and why they are none.
fn alone(side: &Side, other: &Side, is_shared: impl Fn(&ProposedField) -> bool) -> Vec<LeftOut> {
    let alone = side.fields.iter().filter(|field| !is_shared(field));
    let left_out = alone.map(|field| LeftOut {
        column: field.name.clone(),
        reason: match field.is_long {
            true => "has whole sentences".to_owned(),
            false => format!("is not in \"{}\"", other.subject.name),
        },
    });
    left_out.collect()
}

impl Proposals<'_> {
    /// The statements that fit a model to both tables and find their pairs.
    fn link(&mut self, shared: &Shared<'_>, [a, mut b]: [SuggestTarget; 2], sides: [&Side; 2]) {
        if shared.are_renamed() {
            b = self.renamed(shared, b, sides[1]);
        }
        let [a_table, b_table] = [&a, &b].map(|target| name_literal(&target.table));
        let [a_key, b_key] = [&a, &b].map(|target| literal(&target.key));
        let functions = self.functions;
        let tables = sql!("{a_table}, {a_key}, {b_table}, {b_key}");
        let models = self.subject.free_table("link_model");
        let (create, wishes) = (models.create(), shared.wishes());
        let of_a = shared.fields.iter().map(|[a, _]| *a);
        let (personal, more) = personal(of_a);
        let statement = sql!(
            "{create} AS SELECT {functions}bloom_model_fit_linkage({tables}, fields => ARRAY[{wishes}]{personal}) \
            AS model"
        );
        let reason = format!(
            "the model learns what agreement in each field says, and needs no threshold{more}. Where goods or the like have \
             one partner at most, one_to_one => 'both' finds more"
        );
        self.propose("model", &reason, statement);
        let pairs = self.subject.free_table("link_pair");
        let (create, models) = (pairs.create(), models.sql());
        let statement = sql!(
            "{create} AS SELECT p.* FROM {models} AS m, {functions}bloom_model_linkage({tables}, m.model) AS p"
        );
        self.propose(
            "pairs",
            "pairs that are more likely the same than not",
            statement,
        );
        self.decisions("link_decision", "bloom_report_linkage()");
        let (pairs, create) = (pairs.sql(), self.subject.free_table("link_match").create());
        let statement = sql!("{create} AS SELECT * FROM {pairs} WHERE probability >= {SURE}");
        let reason =
            "pairs that are nearly sure; bloom_assign() gives each record one partner at most";
        self.propose("matches", reason, statement);
    }

    /// A view of the second table that calls the columns as the first one does.
    fn renamed(
        &mut self,
        shared: &Shared<'_>,
        target: SuggestTarget,
        side: &Side,
    ) -> SuggestTarget {
        let view: NewTable = side.subject.free_table("named");
        let (create, table, key) = (view.create_view(), &target.table, &target.key);
        let columns = shared.fields.iter().filter(|[a, _]| a.c_name != *key);
        let columns = columns.map(|[a, b]| match a.c_name == b.c_name {
            true => sql!(", {a.c_name}"),
            false => sql!(", {b.c_name} AS {a.c_name}"),
        });
        let columns = Sql::join(columns, "");
        let statement = sql!("{create} AS SELECT {key}{columns} FROM {table}");
        let reason = format!(
            "\"{}\" calls some columns differently: the view renames them",
            side.subject.name
        );
        self.propose("view", &reason, statement);
        SuggestTarget {
            table: view.sql(),
            ..target
        }
    }
}

/// The argument that names the personal ones of some fields, and what a reason says of it.
pub fn personal<'f>(
    fields: impl Iterator<Item = &'f ProposedField> + Clone,
) -> (Sql, &'static str) {
    let personal: Vec<CString> = fields
        .clone()
        .filter(|field| field.is_personal)
        .map(|field| field.c_name.clone())
        .collect();
    if !personal.is_empty() {
        let personal = Sql::join(personal.iter().map(|name| literal(name)), ", ");
        return (
            sql!(", personal => ARRAY[{personal}]::name[]"),
            "; the people of a household differ in those that are personal",
        );
    }
    let mut fields = fields;
    match fields.any(|f| column_names::is_surname(&f.name)) {
        true => (
            Sql::new(""),
            "; name the fields in which the people of a household differ by personal",
        ),
        false => (Sql::new(""), ""),
    }
}
