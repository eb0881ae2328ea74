//! What speaks against a model: what it expects, and what cannot be.

use base::range::counted;
use base::Error;

use super::{MatchModel, PlannedSearch, Search, Status};

/// Below this share of the matches, as far as it can be known, what the searches miss is worth a word. Where it was .94,
/// they found .90, and where it was less, mostly less.
const LEAST_RECALL: f64 = 0.95;

/// Two expectations may differ by this factor; and by so many matches they differ by chance.
const FACTOR: f64 = 2.0;
const FEW_MATCHES: f64 = 10.0;

/// By this factor an expectation passes what it cannot be, by chance.
const ROUNDING: f64 = 1.02;

/// A field in which less than this share of the records has a value is often missing.
const OFTEN_THERE: f64 = 0.8;

/// What speaks against a model that has converged. Its searches find the share `recall` of the matches, or less. Of two
/// tables the smaller one has `smaller` records.
pub fn doubts(model: &MatchModel, recall: f64, smaller: Option<u32>) -> Vec<Error> {
    let has_converged = model.status == Status::Converged;
    let Some(matches) = model.classes.first().filter(|_| has_converged) else {
        return Vec::new();
    };
    let expected = matches.pairs_per_record * model.records;
    // A scan compares all pairs: it misses none, and what it finds is what is expected.
    let is_scan = |search: &PlannedSearch| matches!(search.search, Search::Scan { .. });
    let is_searched = !model.searches.iter().any(is_scan);
    let of_searches = is_searched.then(|| {
        [
            contradiction(model, expected, recall),
            missed(model, recall),
        ]
    });
    let of_searches = of_searches.into_iter().flatten().flatten();
    let of_tables = smaller.and_then(|smaller| too_many(expected, smaller));
    of_searches.chain(of_tables).collect()
}

/// What nobody can know of a model: texts for people to read.
pub fn not_known(model: &MatchModel) -> Vec<&'static str> {
    let is_scan = |planned: &PlannedSearch| matches!(planned.search, Search::Scan { .. });
    let of_probabilities = model.calibration.is_none().then_some(
        "whether its probabilities are right: nobody has decided any of its pairs, see bloom_model_calibrate()",
    );
    let of_searches = !model.searches.iter().any(is_scan);
    let of_searches = of_searches
        .then_some("which share of the matches its searches find: nobody has seen what they miss");
    of_probabilities.into_iter().chain(of_searches).collect()
}

/// What nobody can know of a model of things that compete.
pub const NOT_KNOWN_OF_THINGS: [&str; 3] = [
    "whether its probabilities are right: nobody has checked them, and no answers correct them",
    "what a pair is by itself: its probability depends on the other pairs of both records",
    "which share of the matches is looked at: candidates are the nearest records, and nobody has seen the others",
];

/// The model expects other matches than its searches do.
fn contradiction(model: &MatchModel, expected: f64, recall: f64) -> Option<Error> {
    let found = model
        .searches
        .iter()
        .map(|search| search.matches_per_record);
    let found = found.sum::<f64>() * model.records;
    let by_searches = found / recall.max(1e-3);
    let (less, more) = (expected.min(by_searches), expected.max(by_searches));
    (more > FACTOR * less && more > less + FEW_MATCHES).then(|| {
        Error::invalid(format!(
            "the model expects {expected:.0} matches, and by its searches there are {by_searches:.0}"
        ))
        .detail(format!(
            "The searches have found {found:.0} matches, and miss those that are equal in too few fields."
        ))
        .hint(
            "Look at some pairs before you use them. What is taken for a match may be something else: see \
             bloom_model_classes(), name the personal fields, or compare other fields.",
        )
    })
}

/// The searches miss many matches.
fn missed(model: &MatchModel, recall: f64) -> Option<Error> {
    let is_missing = model
        .fields
        .iter()
        .filter(|field| field.filled < OFTEN_THERE);
    let missing = is_missing.map(|field| {
        let share = 100.0 * (1.0 - field.filled);
        format!("\"{}\" ({share:.0} %)", field.name)
    });
    let missing: Vec<String> = missing.collect();
    (recall < LEAST_RECALL).then(|| {
        Error::invalid("the searches may miss more than one in ten matches")
        .detail(match missing.is_empty() {
            true => "Too few pairs of a person's records are equal or similar in two fields.".to_owned(),
            false => format!("Many records have no value of {}.", missing.join(", ")),
        })
        .hint(
            "Add a field that most records have and in which those of one person agree, such as a telephone, an \
             e-mail address or a street.",
        )
    })
}

/// More matches than there can be where neither table has duplicates.
fn too_many(expected: f64, smaller: u32) -> Option<Error> {
    (expected > ROUNDING * f64::from(smaller)).then(|| {
        Error::invalid(format!(
            "{expected:.0} matches are expected, and the smaller table has {}",
            counted(smaller.into(), "record", "records")
        ))
        .detail("If neither table has duplicates of its own, there are at most as many matches as that.")
        .hint(
            "If neither has, fit with one_to_one => 'both', or find the pairs by one_to_one => true. If one has, find its \
             duplicates first, by bloom_model_fit(). Look at some pairs before you use them.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::people;
    use super::super::Calibration;
    use super::*;

    const RECALL: f64 = 0.96;

    /// People, without a scan, by whose searches there are so many matches.
    fn searched(by_searches: f64) -> MatchModel {
        let mut model = people();
        model.searches.truncate(2);
        for search in &mut model.searches {
            search.matches_per_record = by_searches * RECALL / model.records / 2.0;
        }
        model.classes[0].pairs_per_record = 1000.0 / model.records;
        model
    }

    fn messages(model: &MatchModel, smaller: Option<u32>) -> Vec<String> {
        let doubts = doubts(model, RECALL, smaller);
        doubts
            .iter()
            .map(|doubt| doubt.message().to_owned())
            .collect()
    }

    #[test]
    fn expectations_that_differ_are_told() {
        for by_searches in [501.0, 1000.0, 1999.0] {
            assert!(messages(&searched(by_searches), None).is_empty());
        }
        for (by_searches, is) in [(2100.0, "2100"), (450.0, "450")] {
            assert_eq!(
                messages(&searched(by_searches), None),
                [format!(
                    "the model expects 1000 matches, and by its searches there are {is}"
                )]
            );
        }
        // a few, by chance
        let mut few = searched(3.0);
        few.classes[0].pairs_per_record = 9.0 / few.records;
        assert!(messages(&few, None).is_empty());
        // a scan misses nothing, whatever the others would find
        let mut scanned = searched(2100.0);
        scanned.searches.push(people().searches.remove(2));
        assert!(messages(&scanned, None).is_empty());
        let mut stopped = searched(2100.0);
        stopped.status = Status::Stopped;
        assert!(messages(&stopped, Some(1)).is_empty());
    }

    #[test]
    fn missed_matches_are_told() {
        let mut model = searched(1000.0);
        model.fields.iter_mut().for_each(|field| field.filled = 1.0);
        assert!(doubts(&model, RECALL, None).is_empty());
        let all = doubts(&model, 0.94, None);
        assert_eq!(
            all[0].message(),
            "the searches may miss more than one in ten matches"
        );
        assert!(all[0].detail_text().unwrap().starts_with("Too few pairs"));
        (model.fields[1].filled, model.fields[3].filled) = (0.5, 0.748);
        let all = doubts(&model, 0.94, None);
        let detail = "Many records have no value of \"surname\" (50 %), \"city\" (25 %).";
        assert_eq!(all[0].detail_text(), Some(detail));
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn what_nobody_knows_is_told() {
        let mut model = people();
        assert_eq!(not_known(&model).len(), 1);
        model.searches.truncate(2);
        assert!(not_known(&model)[1].starts_with("which share"));
        model.calibration = Some(Calibration {
            slope: 0.9,
            shift: 0.0,
            answers: 50,
        });
        assert_eq!(not_known(&model).len(), 1);
    }

    #[test]
    fn more_matches_than_records_are_told() {
        let model = searched(1000.0);
        let told = "1000 matches are expected, and the smaller table has 900 records";
        assert_eq!(messages(&model, Some(900)), [told]);
        assert!(messages(&model, Some(990)).is_empty());
        assert!(messages(&model, None).is_empty());
    }
}
