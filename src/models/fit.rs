//! `bloom_model_fit` and `bloom_model_fit_linkage`: a model of the records of one table, or of pairs of two.

use bloom_ident_core::model::json::write_model;
use bloom_ident_core::model::mixture::{class_sets, learn, Evidence, Fit, FitInput, RandomPairs};
use bloom_ident_core::model::search_choice::{choose, missed, FoundTogether};
use bloom_ident_core::model::{
    Class, LeftOut, MatchModel, Pattern, PatternCounts, PlannedSearch, Scorer, Search, Status,
};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use super::candidates::{count, Candidates, PatternsBySearches, MOST_SEARCHES};
use super::fields::{columns, wishes};
use super::fit_records::{FitFields, FitRecords};
use super::options::ModelOptions;
use super::read::Table;
use super::{equality, guess, scan};
use crate::pairs::records::Records;
use crate::pg::budget::Budget;
use crate::pg::catalog;
use crate::pg::error::{raise, warn, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::values::jsonb::jsonb_datum;
use crate::pg::values::text::readable;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// Most records of a block of records that are equal in two fields, and in one.
pub const MOST_OF_TWO: u32 = 40;
pub const MOST_OF_ONE: u32 = 5;

/// Random pairs that are looked at; tables with fewer pairs are looked at as a whole.
const RANDOM_PAIRS: u64 = 3_000_000;

/// A fit takes so many pairs a record.
const PAIRS_A_RECORD: f64 = 3.0;

/// Of small tables, all of whose pairs are looked at, so many, or this number if it is more.
const SCANNED_A_RECORD: u64 = 40;
const LEAST_SCANNED: u64 = 100_000;

/// Pairs that the searches by equality have found, and that are compared; of more, a sample. It does not depend on the memory, or the model would.
const MOST_COUNTED: u64 = 4_000_000;

/// Fields of which pairs are searched for by equality.
const SEARCHED_FIELDS: usize = 10;

/// Below this share of the records, next to no duplicates are expected.
const NONE: f64 = 0.01;

/// `(rel regclass, key name, fields text[], personal name[], labels regclass, options jsonb)`
#[entry]
fn bloom_model_fit(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let records = Records::new(arguments.oid(0), arguments.name(1), Vec::new());
    run(arguments, vec![records], 2, "bloom_model_fit")
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, fields text[], personal name[], labels regclass, options jsonb)`
#[entry]
fn bloom_model_fit_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let side = |i: usize| Records::new(arguments.oid(i), arguments.name(i + 1), Vec::new());
    run(
        arguments,
        vec![side(0), side(2)],
        4,
        "bloom_model_fit_linkage",
    )
}

fn run(arguments: Arguments, relations: Vec<Records>, at: usize, job: &'static str) -> NewValue {
    let given = arguments.datum(at).map(|_| arguments.texts(at));
    let personal: Option<Vec<String>> = arguments.datum(at + 1).map(|_| {
        let names = arguments.names(at + 1);
        names.iter().map(|name| readable(name.to_bytes())).collect()
    });
    let options = arguments.datum(at + 3).map(|_| arguments.jsonb(at + 3));
    let _ = ModelOptions::of(options.as_deref());
    let mut left_out = Vec::new();
    let first = &relations[0];
    let wishes = wishes(first.oid, &first.key, given.as_deref(), &mut left_out);
    for name in personal.iter().flatten() {
        if !wishes.iter().any(|wish| &wish.name == name) {
            raise(&Error::new(
                ErrorKind::InvalidParameter,
                format!("personal field \"{name}\" is not one of the fields"),
            ));
        }
    }
    let tables: Vec<Table> = relations
        .into_iter()
        .map(|records| {
            let name = readable(catalog::name(records.oid).to_bytes());
            let columns = columns(
                records.oid,
                wishes.iter().map(|wish| wish.name.as_str()),
                &name,
            );
            Table { records, columns }
        })
        .collect();
    let memory = Budget::of_setting().bytes();
    let fields = FitFields {
        wishes,
        personal: personal.as_deref(),
        left_out: &mut left_out,
    };
    let mut records = FitRecords::read(&tables, fields, memory, job);
    if records.fields.is_empty() {
        raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                "no field has values to learn from",
            )
            .detail(format!("There are {} records.", records.store.records))
            .hint("Fit the model to a table with records, or name fields that have values."),
        );
    }
    let model = fit(&mut records, personal.is_some(), left_out, memory);
    tell(&model);
    NewValue(jsonb_datum(&write_model(&model).or_raise()))
}

/// Fits a model to records.
fn fit(
    records: &mut FitRecords,
    personal_given: bool,
    left_out: Vec<LeftOut>,
    memory: usize,
) -> MatchModel {
    let n = f64::from(records.store.records);
    let mut model = MatchModel {
        status: Status::Degenerate,
        fields: records.fields.clone(),
        swap: records.swap,
        dependence: Default::default(),
        classes: Vec::new(),
        linkage: records.second.is_some(),
        records: n,
        all_pairs: records.all_pairs,
        rounds: 0,
        searches: Vec::new(),
        left_out,
    };
    let random = random_pairs(records, memory);
    let searches = equal_searches(&model);
    let (by_search, weight, sizes) = by_equality(records, &searches, memory);
    let mut planned = Vec::new();
    let evidence = if scan::is_possible(records.all_pairs) {
        let (patterns, least) = by_scan(records, memory);
        let pairs = patterns.sorted().iter().map(|p| p.1 as f64).sum::<f64>() / n.max(1.0);
        planned.push(PlannedSearch {
            search: Search::Scan { least },
            pairs_per_record: pairs,
            matches_per_record: 0.0,
            recall: 1.0,
        });
        evidence_of(patterns.sorted(), 1.0)
    } else {
        let cheap = cheapest(&by_search, &sizes, weight, n);
        let mut patterns = PatternCounts::default();
        for (&(pattern, found), &pairs) in &by_search {
            if found & cheap != 0 {
                patterns.add(pattern, pairs);
            }
        }
        evidence_of(patterns.sorted(), weight)
    };
    let sets = {
        let of = |is: fn(&bloom_ident_core::model::FieldModel) -> f64| {
            model.fields.iter().map(is).collect::<Vec<f64>>()
        };
        let personal: Vec<usize> = (0..model.fields.len())
            .filter(|&k| model.fields[k].personal)
            .collect();
        class_sets(&personal, &of(|f| f.information), &of(|f| f.filled))
    };
    let fit = learn(
        FitInput {
            frequencies: &records.frequencies,
            random: &random,
            evidence: &evidence,
            all_pairs: records.all_pairs.max(1.0),
            records: n,
            swap: records.swap,
            sets,
        },
        check_for_interrupts,
    );
    take_over(&mut model, fit, n);
    plan(&mut model, planned, &by_search, weight, &searches, n);
    judge(&mut model, personal_given);
    model
}

/// The fit becomes part of the model.
fn take_over(model: &mut MatchModel, fit: Fit, n: f64) {
    for (field, chance) in model.fields.iter_mut().zip(&fit.chance) {
        field.u = chance.u;
    }
    model.dependence = fit.dependence;
    model.rounds = fit.rounds;
    model.classes = fit
        .classes
        .into_iter()
        .map(|class| Class {
            chance: class.chance,
            pairs_per_record: class.pairs / n.max(1.0),
            shares: class.shares,
        })
        .collect();
    model.status = if fit.converged {
        Status::Converged
    } else {
        Status::Stopped
    };
}

fn evidence_of(patterns: Vec<(Pattern, u64)>, weight: f64) -> Vec<Evidence> {
    let of = |(pattern, pairs): (Pattern, u64)| Evidence {
        pattern,
        pairs: pairs as f64 * weight,
        label: None,
    };
    patterns.into_iter().map(of).collect()
}

/// The patterns of random pairs, or of all where there are few.
fn random_pairs(records: &mut FitRecords, memory: usize) -> RandomPairs {
    let n = u64::from(records.store.records);
    let mut pairs = Candidates::new(&records.store, memory / 4, u64::MAX);
    if n * n.saturating_sub(1) / 2 <= RANDOM_PAIRS {
        let n = n as u32;
        let (left, right) = (records.second.unwrap_or(n), records.second);
        for a in 0..left {
            check_for_interrupts();
            for b in right.unwrap_or(a + 1)..n {
                pairs.push(a, b, 0);
            }
        }
    } else {
        for k in 0..RANDOM_PAIRS {
            if k % 4096 == 0 {
                check_for_interrupts();
            }
            if let Some((a, b)) = records.random_pair(k) {
                pairs.push(a, b, 0);
            }
        }
    }
    let mut counts = PatternCounts::default();
    for ((pattern, _), pairs) in count(pairs.finish(), &mut records.store) {
        counts.add(pattern, pairs);
    }
    RandomPairs::of(&counts)
}

/// All searches by equality of one field or two, of the fields that tell most.
fn equal_searches(model: &MatchModel) -> Vec<Search> {
    let mut fields: Vec<usize> = (0..model.fields.len()).collect();
    let telling = |k: &usize| model.fields[*k].information * model.fields[*k].filled;
    fields.sort_by(|a, b| telling(b).total_cmp(&telling(a)).then(a.cmp(b)));
    fields.truncate(SEARCHED_FIELDS);
    fields.sort_unstable();
    let mut searches = Vec::new();
    for (i, &a) in fields.iter().enumerate() {
        let equal = |fields: Vec<usize>, most| Search::Equal { fields, most };
        searches.push(equal(vec![a], MOST_OF_ONE));
        for &b in &fields[..i] {
            searches.push(equal(vec![b, a], MOST_OF_TWO));
        }
    }
    searches.truncate(MOST_SEARCHES);
    searches
}

/// What the searches by equality find: patterns with the searches that find them, or those of a sample, whose weight is the second result; and how
/// many pairs each search finds.
fn by_equality(
    records: &mut FitRecords,
    searches: &[Search],
    memory: usize,
) -> (PatternsBySearches, f64, Vec<u64>) {
    let mut candidates = Candidates::new(&records.store, memory / 4, MOST_COUNTED);
    let mut sizes = Vec::new();
    for (number, search) in searches.iter().enumerate() {
        let Search::Equal { fields, most } = search else {
            continue;
        };
        let found = equality::pairs(
            &mut records.identities,
            fields,
            *most,
            records.second,
            memory / 4,
            |a, b| {
                candidates.push(a, b, number);
            },
        );
        sizes.push(found.pairs);
    }
    let distinct = candidates.finish();
    let weight = distinct.weight();
    (count(distinct, &mut records.store), weight, sizes)
}

/// The patterns of the pairs of a small table that are most alike, and the least mean similarity of them in hundredths.
fn by_scan(records: &mut FitRecords, memory: usize) -> (PatternCounts, u32) {
    let mut found = crate::pg::file::WordSort::new(memory / 4);
    let mut similar = [0u64; 101];
    let numbers = records.store.numbering();
    scan::pairs(
        &mut records.store,
        records.second,
        scan::LEAST,
        |a, b, hundredths| {
            similar[hundredths.min(100) as usize] += 1;
            found.push(numbers.number(a, b) << 7 | u64::from(hundredths));
        },
    );
    let most = (SCANNED_A_RECORD * u64::from(records.store.records)).max(LEAST_SCANNED);
    let (mut least, mut pairs) = (100, similar[100]);
    while least > scan::LEAST && pairs + similar[least as usize - 1] <= most {
        least -= 1;
        pairs += similar[least as usize];
    }
    let mut counts = PatternCounts::default();
    for (i, word) in found.finish().enumerate() {
        if i % 1024 == 0 {
            check_for_interrupts();
        }
        if word as u32 & 127 >= least {
            let compared = records.store.compare(word >> 7);
            if compared.counts {
                counts.add(compared.pattern, 1);
            }
        }
    }
    (counts, least)
}

/// The searches that bring fewest pairs, as bits, as many of them as bring three pairs a record.
fn cheapest(by_search: &PatternsBySearches, sizes: &[u64], weight: f64, records: f64) -> u64 {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&search| (sizes[search], search));
    let mut by_mask = std::collections::HashMap::<u64, u64>::new();
    for (&(_, found), &pairs) in by_search {
        *by_mask.entry(found).or_default() += pairs;
    }
    let mut cheap = 0u64;
    for search in order {
        let with = cheap | 1 << search;
        let pairs: u64 = by_mask
            .iter()
            .filter(|(found, _)| *found & with != 0)
            .map(|(_, n)| n)
            .sum();
        if cheap != 0 && pairs as f64 * weight > PAIRS_A_RECORD * records {
            break;
        }
        cheap = with;
    }
    cheap
}

/// Chooses the searches of the model.
fn plan(
    model: &mut MatchModel,
    mut planned: Vec<PlannedSearch>,
    by_search: &PatternsBySearches,
    weight: f64,
    searches: &[Search],
    n: f64,
) {
    let mut sorted: Vec<_> = by_search
        .iter()
        .map(|(&(pattern, found), &pairs)| (found, pattern, pairs))
        .collect();
    sorted.sort_unstable();
    let scorer = Scorer::new(model, n, model.all_pairs);
    let mut found: Vec<FoundTogether> = Vec::new();
    for (searches, pattern, pairs) in sorted {
        let pairs = pairs as f64 * weight;
        let matches = pairs * scorer.score(pattern).probability;
        match found.last_mut() {
            Some(last) if last.searches == searches => {
                last.pairs += pairs;
                last.matches += matches;
            }
            _ => found.push(FoundTogether {
                searches,
                pairs,
                matches,
            }),
        }
    }
    let missed = missed(&found);
    // all that are of use: how many of them are done is settled when they are
    for chosen in choose(&found, searches.len(), n, f64::INFINITY, missed) {
        planned.push(PlannedSearch {
            search: searches[chosen.search].clone(),
            pairs_per_record: chosen.new_pairs / n.max(1.0),
            matches_per_record: chosen.new_matches / n.max(1.0),
            recall: chosen.recall,
        });
    }
    if let Some(PlannedSearch {
        search: Search::Scan { .. },
        matches_per_record,
        ..
    }) = planned.first_mut()
    {
        *matches_per_record = model
            .classes
            .first()
            .map_or(0.0, |class| class.pairs_per_record);
    }
    model.searches = planned;
}

/// Whether the model can be used.
fn judge(model: &mut MatchModel, personal_given: bool) {
    let matches = model
        .classes
        .first()
        .map_or(f64::NAN, |class| class.pairs_per_record);
    let is_sound = matches.is_finite()
        && model
            .classes
            .iter()
            .flat_map(|c| &c.shares)
            .flatten()
            .all(|share| share.is_finite());
    let people = model.fields.iter().any(|f| guess::is_surname(&f.name));
    let no_personal = !personal_given && !model.fields.iter().any(|f| f.personal);
    if !is_sound || model.fields.is_empty() || model.records < 2.0 {
        model.status = Status::Degenerate;
    } else if matches < NONE {
        model.status = Status::NoneExpected;
    } else if people && no_personal {
        model.status = Status::NoPersonalFields;
    }
}

/// Says what to do about a model that should not be used.
pub fn tell(model: &MatchModel) {
    let (message, hint) = match model.status {
        Status::NoneExpected => (
            "next to no duplicates are expected",
            "Compare other fields, or use the model all the same by the option {\"force\": true}.",
        ),
        Status::NoPersonalFields => (
            "the columns look like people, and no personal field is known",
            "Name the fields in which the people of a household differ, such as given name and date of birth: personal => '{given_name,dob}'; or '{}' if there are none.",
        ),
        _ => return,
    };
    warn(
        &Error::new(ErrorKind::InvalidParameter, message)
            .detail(detail(model))
            .hint(hint),
    );
}

/// What the model expects.
pub fn detail(model: &MatchModel) -> String {
    let matches = model
        .classes
        .first()
        .map_or(0.0, |class| class.pairs_per_record);
    format!(
        "The model expects {:.1} duplicates per 1000 records; its status is {}.",
        1000.0 * matches,
        model.status.name()
    )
}
