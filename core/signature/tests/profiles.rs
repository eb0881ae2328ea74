//! Weighted profiles: no pair that is wanted has all attributes below their bounds, and bounds are no lower than they
//! must be.

use proptest::prelude::*;
use signature::similarity::{ProfilePlan, ProfileRule};

fn weights() -> impl Strategy<Value = Vec<f64>> {
    let weight = prop_oneof![
        4 => (1..=6u32).prop_map(f64::from),
        2 => (1..=9u32).prop_map(|tenths| f64::from(tenths) / 10.0),
        1 => 0.01..100.0,
        1 => prop::sample::select(vec![1e-9, 1e-3, 1e9]),
        1 => Just(0.0),
    ];
    prop::collection::vec(weight, 1..=6).prop_filter("some weight", |w| w.iter().sum::<f64>() > 0.0)
}

fn shares() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => prop::sample::select(vec![0.0, 0.3, 0.5, 0.75, 0.8, 0.9, 1.0]),
        1 => 0.0..=1.0,
    ]
}

/// Similarities as signatures have them, and what is missing; many near their bounds.
fn similarity(bound: f64) -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        1 => Just(None),
        2 => (0..=100u32, 1..=100u32).prop_map(|(a, b)| Some(f64::from(a.min(b)) / f64::from(a.max(b)))),
        1 => Just(Some(1.0)),
        2 => Just(Some(bound)),
        3 => Just(Some(bound.next_down().max(0.0))),
    ]
}

/// By the definition, without regard to rounding.
fn wanted(weights: &[f64], similarities: &[Option<f64>], threshold: f64, coverage: f64) -> bool {
    let present: Vec<(f64, f64)> = weights
        .iter()
        .zip(similarities)
        .filter_map(|(&weight, similarity)| similarity.map(|similarity| (weight, similarity)))
        .collect();
    let covered: f64 = present.iter().map(|(weight, _)| weight).sum();
    let sum: f64 = present.iter().map(|(weight, s)| weight * s).sum();
    covered > 0.0 && covered >= coverage * weights.iter().sum::<f64>() && sum / covered >= threshold
}

#[derive(Debug)]
struct Case {
    weights: Vec<f64>,
    threshold: f64,
    coverage: f64,
    searched: Vec<usize>,
    bounds: Option<Vec<f64>>,
    similarities: Vec<Vec<Option<f64>>>,
}

fn cases() -> impl Strategy<Value = Case> {
    let rules = (weights(), shares(), shares(), any::<u8>());
    rules
        .prop_flat_map(|(weights, threshold, coverage, left_out)| {
            let some = (0..weights.len()).filter(|&i| weights[i] > 0.0);
            let mut searched: Vec<usize> =
                some.clone().filter(|i| left_out >> i & 1 == 0).collect();
            if searched.is_empty() {
                searched = some.collect();
            }
            let order = Just(searched).prop_shuffle();
            (Just(weights), Just(threshold), Just(coverage), order)
        })
        .prop_flat_map(|(weights, threshold, coverage, searched)| {
            let rule = ProfileRule::new(weights.clone(), threshold, coverage).unwrap();
            let bounds = rule.bounds(&searched);
            let near: Vec<_> = (0..weights.len())
                .map(|i| {
                    let place = searched.iter().position(|&s| s == i);
                    let bounds = bounds.as_ref();
                    similarity(place.map_or(1.0, |place| bounds.map_or(threshold, |b| b[place])))
                })
                .collect();
            let given = (
                Just(weights),
                Just(threshold),
                Just(coverage),
                Just(searched),
                Just(bounds),
            );
            (given, prop::collection::vec(near, 64))
        })
        .prop_map(
            |((weights, threshold, coverage, searched, bounds), similarities)| Case {
                weights,
                threshold,
                coverage,
                searched,
                bounds,
                similarities,
            },
        )
}

/// All sets of attributes of positive weight that suffice for the coverage, as sums of their searched ones and their
/// others.
fn present_sets(case: &Case) -> Vec<(Vec<usize>, f64)> {
    let all: f64 = case.weights.iter().sum();
    let n = case.weights.len();
    let mut sets = Vec::new();
    for set in 1..1usize << n {
        let has: Vec<usize> = (0..n)
            .filter(|i| set >> i & 1 == 1 && case.weights[*i] > 0.0)
            .collect();
        let weight: f64 = has.iter().map(|&i| case.weights[i]).sum();
        // what rounding may have made less suffices, too, as it does for the rule
        if weight > 0.0 && weight >= (case.coverage - 1e-11) * all {
            let others = has.iter().filter(|i| !case.searched.contains(i));
            let others: f64 = others.map(|&i| case.weights[i]).sum();
            let searched = has.into_iter().filter(|i| case.searched.contains(i));
            sets.push((searched.collect(), others));
        }
    }
    sets
}

/// Each bound is one that a set of attributes which suffices for the coverage asks for.
fn check_tight(case: &Case) -> Result<(), TestCaseError> {
    let t = case.threshold;
    let sets = present_sets(case);
    let Some(bounds) = &case.bounds else {
        // Then some set has none of the attributes, and suffices, or nearly so.
        let all: f64 = case.weights.iter().sum();
        let others: f64 = (0..case.weights.len())
            .filter(|i| !case.searched.contains(i))
            .map(|i| case.weights[i])
            .sum();
        prop_assert!(others > 0.0 && others >= (case.coverage - 1e-11) * all);
        return Ok(());
    };
    let bound = |i: usize| bounds[case.searched.iter().position(|&s| s == i).unwrap()];
    for (&i, &own) in case.searched.iter().zip(bounds) {
        if own >= 1.0 || own <= 0.0 {
            continue;
        }
        // A set in which this attribute could not have a greater bound: its similarity is at the threshold where all
        // are at their bounds.
        let tight = sets
            .iter()
            .filter(|(has, _)| has.contains(&i))
            .any(|(has, others)| {
                let searched: f64 = has.iter().map(|&j| case.weights[j]).sum();
                let sum: f64 = has.iter().map(|&j| case.weights[j] * bound(j)).sum();
                sum + others >= (t - 1e-9) * (searched + others)
            });
        prop_assert!(tight, "attribute {i}");
    }
    Ok(())
}

/// 0.2 + 0.6 + 4 is 0.75 of all weights, and a little less in floating-point numbers: the rule takes it for enough, as
/// it takes all that rounding may have made less, and the bound of attribute 3 is the one of that set.
#[test]
fn a_set_on_the_edge_of_the_coverage_bounds_its_attributes() {
    let weights = vec![0.0, 0.7, 0.2, 0.6, 0.9, 4.0];
    let (threshold, coverage) = (0.8405827965771194, 0.75);
    let rule = ProfileRule::new(weights.clone(), threshold, coverage).unwrap();
    let searched = vec![1, 3, 4, 5];
    let bounds = rule.bounds(&searched);
    let case = Case {
        weights,
        threshold,
        coverage,
        searched,
        bounds,
        similarities: vec![],
    };
    check_tight(&case).unwrap();
    let on_the_edge = [None, None, Some(1.0), Some(0.9), None, Some(0.9)];
    assert!(rule.similarity(&on_the_edge).unwrap().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_wanted_pair_reaches_a_bound(case in cases()) {
        let Some(bounds) = &case.bounds else { return Ok(()) };
        for similarities in &case.similarities {
            let reached = case.searched.iter().zip(bounds).any(|(&i, &bound)| similarities[i].is_some_and(|s| s >= bound));
            prop_assert!(reached || !wanted(&case.weights, similarities, case.threshold, case.coverage), "{similarities:?}");
        }
    }

    #[test]
    fn bounds_are_tight(case in cases()) {
        check_tight(&case)?;
    }

    #[test]
    fn each_pair_is_taken_by_one_search(case in cases(), costs in prop::collection::vec(0.0..10.0f64, 6)) {
        let rule = ProfileRule::new(case.weights.clone(), case.threshold, case.coverage).unwrap();
        let plan = ProfilePlan::new(rule.clone(), cost(&costs));
        for similarities in &case.similarities {
            let finds = plan.searched().iter().filter(|&&(i, bound)| similarities[i].is_some_and(|s| s >= bound));
            let taken: Vec<f64> = finds
                .filter_map(|&(i, _)| plan.take(i, |k| Ok(similarities[k])).unwrap())
                .collect();
            let wanted = rule.similarity(similarities).unwrap();
            prop_assert_eq!(taken, Vec::from_iter(wanted), "{:?}", similarities);
        }
    }
}

/// Costs that grow as bounds fall.
fn cost(costs: &[f64]) -> impl Fn(&[(usize, f64)]) -> f64 + '_ {
    let cost =
        |&(attribute, bound): &(usize, f64)| 1.0 + costs[attribute % costs.len()] * (2.0 - bound);
    move |searches| searches.iter().map(cost).sum()
}

fn bounds(weights: &[f64], threshold: f64, coverage: f64, searched: &[usize]) -> Option<Vec<f64>> {
    let rule = ProfileRule::new(weights.to_vec(), threshold, coverage).unwrap();
    let rounded = |bound: f64| (bound * 1e9).round() / 1e9;
    let bounds = rule.bounds(searched)?;
    Some(bounds.into_iter().map(rounded).collect())
}

#[test]
fn bounds_of_persons() {
    // Name, birth, street and town. All are searched for the threshold where one may be alone.
    let person = [3.0, 2.0, 1.0, 1.0];
    let all = [0, 1, 2, 3];
    assert_eq!(bounds(&person, 0.8, 0.0, &all).unwrap(), [0.8; 4]);
    // Without street and town: 0.8 · 5 = 3 · b + 2 for name, street and town.
    let some = bounds(&person, 0.8, 0.5, &[0, 1]).unwrap();
    assert_eq!(some, [0.666666667, 0.6]);
    // A pair may have street and town alone.
    assert_eq!(bounds(&person, 0.8, 0.2, &[0, 1]), None);
    assert_eq!(bounds(&person, 0.8, 2.0 / 7.0, &[0, 1]), None);
    assert_eq!(bounds(&[1.0, 1.0], 0.8, 1.0, &[1]).unwrap(), [0.6]);
    // Equal is equal in all that is there.
    assert_eq!(bounds(&person, 1.0, 0.5, &[1, 0]).unwrap(), [1.0; 2]);
    // What nobody has to have is searched for nothing.
    assert_eq!(bounds(&person, 0.8, 0.5, &[]), None);
    // As many as there may be in a table, too.
    let many = vec![1.0; 1600];
    let most: Vec<usize> = (1..1600).collect();
    assert_eq!(
        bounds(&many, 0.8, 0.5, &most).unwrap()[0],
        ((0.8 * 799.0 - 0.2) / 799.0_f64 * 1e9).round() / 1e9
    );
}

#[test]
fn half_of_the_weights_is_half() {
    let similarity = |weights: &[f64], coverage: f64, present: &[bool]| {
        let rule = ProfileRule::new(weights.to_vec(), 0.5, coverage).unwrap();
        let similarities: Vec<_> = present.iter().map(|p| p.then_some(0.9)).collect();
        rule.similarity(&similarities).unwrap().is_some()
    };
    // In binary 0.1 + 0.2 is more than 0.3.
    assert!(similarity(&[0.1, 0.2, 0.3], 0.5, &[false, false, true]));
    assert!(similarity(&[0.1, 0.2, 0.3], 0.5, &[true, true, false]));
    assert!(similarity(
        &[1.0, 1.0, 1.0],
        1.0 / 3.0,
        &[true, false, false]
    ));
    assert!(similarity(&[0.7, 0.1, 0.3], 1.0, &[true, true, true]));
    assert!(!similarity(&[0.7, 0.1, 0.3], 1.0, &[true, true, false]));
    assert!(!similarity(&[1.0, 1.000001], 0.5, &[true, false]));
    assert!(similarity(&[1.0, 1.000001], 0.0, &[true, false]));
    assert!(!similarity(&[1.0, 0.0], 0.0, &[false, true]));
}

#[test]
fn dear_attributes_are_left_out() {
    let plan = |coverage, costs: [f64; 4]| {
        let rule = ProfileRule::new(vec![3.0, 2.0, 1.0, 1.0], 0.8, coverage).unwrap();
        let searched = ProfilePlan::new(rule, cost(&costs)).searched().to_vec();
        searched.into_iter().map(|(i, _)| i).collect::<Vec<_>>()
    };
    assert_eq!(plan(0.2, [1.0, 1.0, 1.0, 100.0]), [0, 1, 2]);
    assert_eq!(plan(0.5, [1.0, 1.0, 100.0, 100.0]), [0, 1]);
    assert_eq!(plan(0.0, [1.0, 1.0, 1.0, 100.0]), [0, 1, 2, 3]);
    assert_eq!(plan(1.0, [1.0, 100.0, 100.0, 100.0]), [0]);
}
