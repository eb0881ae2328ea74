//! The searches of a model: which ones are worth while.

use std::collections::HashMap;

use linkage::model::search_choice::{choose, missed, Choice, Chosen, FoundTogether};
use linkage::model::search_recall::EqualFields;
use linkage::model::values::EQUAL;
use linkage::model::{MatchModel, Pattern, PlannedSearch, Scorer, Search, MOST_SEARCHES};

use super::fit_model::MOST_COUNTED;
use super::fit_records::FitRecords;
use crate::models::records::sketches::Sketches;
use crate::models::search::candidates::Candidates;
use crate::models::search::patterns::{count, PatternTable};
use signature::mix;

/// Most records of a block of records that are equal, or similar, in two fields, and in one.
const MOST_OF_TWO: u32 = 40;
const MOST_OF_ONE: u32 = 5;

/// Larger blocks of one field, where those searches miss much: of many records a person, and of records that have little
/// else.
const MORE_OF_ONE: [u32; 2] = [20, 80];

/// Fields of which pairs are searched for by equality, and by similarity.
const EQUAL_FIELDS: usize = 10;
const SIMILAR_FIELDS: usize = 6;

/// Shares of the expected matches that a search brings at least.
const LEAST_OF_EQUAL: f64 = 0.0005;
const LEAST_OF_SIMILAR: f64 = 0.001;

/// The share of the pairs of a search in larger blocks that are matches, at least.
const LEAST_SHARE: f64 = 0.05;

/// What is similar may be alike by chance or of a family, more often than a model knows. Only pairs of at least this
/// probability speak for such a search. For larger blocks of equal values those speak that are matches rather than not.
const SURE: f64 = 0.95;
const LIKELY: f64 = 0.5;

/// The share of the expected matches that may be lost. Searches by equality, which cost little, are chosen until they lose
/// half of that, as far as the fit can tell.
const MOST_LOSS: f64 = 0.01;
const LOSS_OF_EQUAL: f64 = 0.005;

/// The fields that tell most, so many, in their order.
fn telling(model: &MatchModel, most: usize) -> Vec<usize> {
    let mut fields: Vec<usize> = (0..model.fields.len()).collect();
    let telling = |k: &usize| model.fields[*k].information * model.fields[*k].filled;
    fields.sort_by(|a, b| telling(b).total_cmp(&telling(a)).then(a.cmp(b)));
    fields.truncate(most);
    fields.sort_unstable();
    fields
}

/// Every field and every two fields, with the most records that a block has.
fn ones_and_twos(fields: &[usize]) -> impl Iterator<Item = (Vec<usize>, u32)> + '_ {
    fields.iter().enumerate().flat_map(|(i, &a)| {
        let twos = fields[..i].iter().map(move |&b| (vec![b, a], MOST_OF_TWO));
        std::iter::once((vec![a], MOST_OF_ONE)).chain(twos)
    })
}

/// All searches by equality of one field or two, of the fields that tell most.
pub fn equal_searches(model: &MatchModel) -> Vec<Search> {
    ones_and_twos(&telling(model, EQUAL_FIELDS))
        .map(|(fields, most)| Search::Equal { fields, most })
        .take(MOST_SEARCHES)
        .collect()
}

/// The least similarity that is searched for, in hundredths, by how many pairs of records there are: the more there
/// are, the more of them are alike by chance, and the less likely are those that are somewhat alike to be matches.
fn least_similar(all_pairs: f64) -> u32 {
    match all_pairs {
        _ if all_pairs <= 2e9 => 40,
        _ if all_pairs <= 1e11 => 55,
        _ => 70,
    }
}

/// All searches by similarity of one field or two, of the fields that tell most.
fn similar_searches(model: &MatchModel) -> Vec<Search> {
    let least = least_similar(model.all_pairs);
    let fields = telling(model, SIMILAR_FIELDS);
    ones_and_twos(&fields)
        .map(|(fields, most)| Search::Similar {
            fields,
            least,
            most,
        })
        .collect()
}

/// Searches for names that have changed places, of which one may be missing, with each other field that tells most.
fn crosswise_searches(model: &MatchModel) -> Vec<Search> {
    let Some(swap) = model.swap else {
        return Vec::new();
    };
    let mut fields = telling(model, SIMILAR_FIELDS);
    fields.retain(|field| !swap.contains(field));
    let with = |field| Search::Crosswise {
        fields: vec![field],
        most: MOST_OF_TWO,
    };
    let alone = Search::Crosswise {
        fields: Vec::new(),
        most: MOST_OF_ONE,
    };
    fields.into_iter().map(with).chain([alone]).collect()
}

/// Searches by equality of one field, in larger blocks.
fn larger_searches(model: &MatchModel) -> impl Iterator<Item = Search> {
    let fields = telling(model, SIMILAR_FIELDS).into_iter();
    fields.flat_map(|field| {
        MORE_OF_ONE.map(|most| Search::Equal {
            fields: vec![field],
            most,
        })
    })
}

/// Pairs and expected matches, by the searches that find them. Pairs speak for no search that are matches with less than
/// the probability that `sure` says of their searches. `each` gives patterns, always in the same order, each with the searches that have found
/// its pairs, and how many those are.
fn found_together(
    model: &MatchModel,
    each: impl FnOnce(&mut dyn FnMut(Pattern, u64, u64)),
    weight: f64,
    sure: impl Fn(u64) -> f64,
) -> Vec<FoundTogether> {
    let scorer = Scorer::new(model, model.records, model.all_pairs);
    let mut by_searches = HashMap::<u64, FoundTogether>::new();
    each(&mut |pattern, searches, pairs| {
        let pairs = pairs as f64 * weight;
        let probability = scorer.score(pattern).probability;
        let matches = pairs * probability;
        let together = by_searches.entry(searches).or_insert(FoundTogether {
            searches,
            pairs: 0.0,
            matches: 0.0,
            sure: 0.0,
        });
        together.pairs += pairs;
        together.matches += matches;
        if probability >= sure(searches) {
            together.sure += matches;
        }
    });
    let mut found: Vec<FoundTogether> = by_searches.into_values().collect();
    found.sort_unstable_by_key(|together| together.searches);
    found
}

/// The share of the matches that the searches by equality find.
fn recall_of(model: &MatchModel, searches: &[Search], by_search: &mut PatternTable) -> f64 {
    let fields = telling(model, EQUAL_FIELDS);
    let bit = |field: &usize| {
        fields
            .iter()
            .position(|f| f == field)
            .map_or(0, |at| 1 << at)
    };
    let of_search = |search: &Search| match search {
        Search::Equal { fields, .. } => fields.iter().map(bit).sum(),
        _ => 0u32,
    };
    let mut matches = EqualFields::new(searches.iter().map(of_search).collect(), fields.len());
    let scorer = Scorer::new(model, model.records, model.all_pairs);
    by_search.each(|pattern, found, pairs| {
        let equal = fields
            .iter()
            .filter(|&&field| pattern.level(field) <= EQUAL);
        let expected = pairs as f64 * scorer.score(pattern).probability;
        matches.add(equal.map(bit).sum(), found, expected);
    });
    matches.recall()
}

/// Chooses the searches of the model: of those by equality, all that are of use, then of those by similarity and those in
/// larger blocks, and then of those crosswise. How many of them are done is settled when they are. Returns the share of the matches that
/// they find, as far as that can be known: it is rather too large than too small, by .15 where much is missing.
///
/// `planned`: a scan, if there is one. Then all searches by equality, the patterns of the pairs that they have found,
/// and how many pairs each of these stands for, since they may be a sample.
pub fn plan(
    model: &mut MatchModel,
    records: &mut FitRecords,
    mut planned: Vec<PlannedSearch>,
    (searches, by_search, weight): (&[Search], &mut PatternTable, f64),
    memory: usize,
) -> f64 {
    let n = model.records;
    let found = found_together(model, |each| by_search.each(each), weight, |_| 0.0);
    let mut take = |searches: &[Search], chosen: &[Chosen]| {
        planned.extend(chosen.iter().map(|chosen| PlannedSearch {
            search: searches[chosen.search].clone(),
            pairs_per_record: chosen.new_pairs / n.max(1.0),
            matches_per_record: chosen.new_matches / n.max(1.0),
        }));
    };
    let matches_of = |chosen: &[Chosen]| chosen.iter().map(|c| c.new_matches).sum::<f64>();
    let of_all: f64 = found.iter().map(|f| f.matches).sum();
    let mut all = of_all / recall_of(model, searches, by_search).max(0.1);
    // Two estimates, neither of which is always the better one: where either says that much is missed, more is searched.
    let besides = missed(&found).max(all - of_all);
    let most = of_all + besides;
    let chosen = choose(Choice {
        found: &found,
        searches: 0..searches.len(),
        done: 0,
        records: n,
        besides,
        least_gain: LEAST_OF_EQUAL * (all / most.max(1e-9)),
        least_shares: &[],
        most_loss: LOSS_OF_EQUAL,
    });
    take(searches, &chosen);
    let of_equal = matches_of(&chosen);
    let mut matches = of_equal;
    if most - matches >= MOST_LOSS * most {
        let equal: Vec<&Search> = chosen.iter().map(|c| &searches[c.search]).collect();
        let similar = similar_searches(model);
        let larger = larger_searches(model);
        let crosswise = crosswise_searches(model);
        let mut searches: Vec<Search> = similar.into_iter().chain(larger).collect();
        let last = searches.len();
        searches.extend(crosswise);
        let least_share = |search: &Search| match search {
            Search::Similar { .. } => 0.0,
            _ => LEAST_SHARE,
        };
        let least_shares: Vec<f64> = searches.iter().map(least_share).collect();
        let found = by_similarity(model, records, &equal, &searches, memory);
        // Crosswise is looked for what the others leave: pairs that both find would speak for it, and the others, which find
        // more besides, would be left out.
        let mut done = 0;
        for (range, least) in [
            (0..last, LEAST_OF_SIMILAR),
            (last..searches.len(), LEAST_OF_EQUAL),
        ] {
            let known = (1u64 << range.end) - 1;
            let among = found.iter().filter(|f| f.searches & known != 0);
            let found: Vec<FoundTogether> = among.copied().collect();
            let new: f64 = found.iter().map(|f| f.matches).sum();
            all = all.max(of_equal + new);
            let most = most.max(of_equal + new);
            let chosen = choose(Choice {
                found: &found,
                searches: range,
                done,
                records: n,
                besides: most - new,
                least_gain: least * (all / most.max(1e-9)),
                least_shares: &least_shares,
                most_loss: MOST_LOSS,
            });
            take(&searches, &chosen);
            matches += matches_of(&chosen);
            done = chosen.iter().fold(done, |done, c| done | 1 << c.search);
        }
    }
    let scan = planned.first_mut();
    if let Some(scan) = scan.filter(|planned| matches!(planned.search, Search::Scan { .. })) {
        let class = model.classes.first();
        scan.matches_per_record = class.map_or(0.0, |class| class.pairs_per_record);
    }
    planned.truncate(MOST_SEARCHES);
    model.searches = planned;
    (matches / all.max(1e-9)).min(1.0)
}

/// Records by which searches are judged: all, or of more than a quarter of a million a sample, which does not depend on
/// their order in the table.
#[derive(Clone, Copy)]
struct Sample {
    /// Those are in it whose mixed numbers have so many zeros at the end.
    zeros: u32,
}

impl Sample {
    fn among(records: u32) -> Sample {
        const MOST: u32 = 1 << 18;
        let zeros = (0..).find(|&zeros| records >> zeros <= MOST);
        Sample {
            zeros: zeros.expect("there is always such a number"),
        }
    }

    #[inline]
    fn has(self, record: u32) -> bool {
        self.zeros == 0 || mix(u64::from(record)).trailing_zeros() >= self.zeros
    }

    /// How many pairs each pair of records of the sample stands for.
    fn weight(self) -> f64 {
        f64::from(2 * self.zeros).exp2()
    }

    /// What is left of a block's most records.
    fn most(self, most: u32) -> u32 {
        (most >> self.zeros).max(2)
    }
}

/// What further searches find besides those by equality that are chosen: an estimate from a sample, if it is too much.
fn by_similarity(
    model: &MatchModel,
    records: &mut FitRecords,
    equal: &[&Search],
    searches: &[Search],
    memory: usize,
) -> Vec<FoundTogether> {
    /// The number under which all searches by equality go.
    const EQUAL: usize = MOST_SEARCHES;
    let (records, population) = (&mut records.prepared, &records.population);
    let sample = Sample::among(population.drawn() as u32);
    let has = |record: u32| sample.has(record) && population.has(record);
    let in_blocks = |search: &Search| {
        let mut search = search.clone();
        match &mut search {
            Search::Scan { .. } => (),
            Search::Equal { most, .. } | Search::Crosswise { most, .. } => {
                *most = population.most(*most);
            }
            // Of what is similar only the sample is read.
            Search::Similar { most, .. } => *most = sample.most(population.most_of_sample(*most)),
        }
        search
    };
    let mut candidates = Candidates::new(&records.store, memory / 4, MOST_COUNTED);
    for search in equal {
        records.search(&in_blocks(search), None, memory / 4, |a, b| {
            if has(a) && has(b) {
                candidates.push(a, b, EQUAL);
            }
        });
    }
    records.read_sketches(&model.fields, searches, has);
    for (number, search) in searches.iter().enumerate() {
        let search = in_blocks(search);
        records.search(&search, None, memory / 4, |a, b| {
            if matches!(search, Search::Similar { .. }) || has(a) && has(b) {
                candidates.push(a, b, number);
            }
        });
    }
    records.sketches = Sketches::default();
    let distinct = candidates.finish();
    let weight = distinct.weight() * sample.weight() * population.weight_of_two();
    let most = distinct.most();
    let new = distinct.filter(|(_, found)| found >> EQUAL & 1 == 0);
    let mut by_search = count(new, most, &mut records.store, memory / 4).finish(memory / 16);
    let taken = |each: &mut dyn FnMut(Pattern, u64, u64)| {
        by_search.each(|pattern, found, pairs| {
            let takes =
                |number: &usize| found >> number & 1 == 1 && searches[*number].takes(pattern);
            let taken = (0..searches.len()).filter(takes);
            let found = taken.fold(0u64, |all, number| all | 1 << number);
            if found != 0 {
                each(pattern, found, pairs);
            }
        });
    };
    let is_similar = |number: usize| matches!(searches[number], Search::Similar { .. });
    let similar = (0..searches.len()).filter(|&number| is_similar(number));
    let similar = similar.fold(0u64, |all, number| all | 1 << number);
    found_together(model, taken, weight, |found| match found & similar {
        0 => LIKELY,
        _ => SURE,
    })
}
