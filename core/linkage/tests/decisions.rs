//! Clusters keep to what people have decided, whichever pairs there are and whatever was decided.

use base::Result;
use linkage::clusters::{
    average, centres, components, decided, Bounds, Clusters, Decided, Decision, Links, OnConflict,
    Pair, Verdict,
};

const THRESHOLD: f64 = 0.75;

fn methods() -> [fn(&Links, &Bounds) -> Result<Clusters>; 3] {
    [
        |links, bounds| components(links, THRESHOLD, bounds, || ()),
        |links, bounds| centres(links, THRESHOLD, bounds, || ()),
        |links, bounds| average(links, THRESHOLD, 0.0, bounds, || ()),
    ]
}

/// All pairs of so many records.
fn all_pairs(n: u32) -> Vec<(u32, u32)> {
    (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

/// Which records are connected by pairs.
fn closure(n: u32, pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut label: Vec<u32> = (0..n).collect();
    for _ in 0..n {
        for &(a, b) in pairs {
            let least = label[a as usize].min(label[b as usize]);
            (label[a as usize], label[b as usize]) = (least, least);
        }
    }
    label
}

fn judged(decisions: &[Decision], verdict: Verdict) -> Vec<(u32, u32)> {
    let of = decisions.iter().filter(|d| d.verdict == verdict);
    of.map(|d| (d.a, d.b)).collect()
}

fn reversed<T: Copy>(list: &[T]) -> Vec<T> {
    list.iter().rev().copied().collect()
}

fn links(n: u32, pairs: &[Pair]) -> Links {
    Links::new(n, pairs, || ()).unwrap()
}

fn everything(clusters: &Clusters) -> Vec<(u32, u32, Option<f64>, u32)> {
    let of = |i| clusters.member(i);
    let members = (0..clusters.len() as u32).map(of);
    members
        .map(|m| (m.cluster, m.centre, m.similarity, m.size))
        .collect()
}

/// What holds of decisions, each pair of which comes once; `None` where they contradict each other.
fn check_decided(n: u32, decisions: &[Decision]) -> Option<Decided> {
    let same = judged(decisions, Verdict::Same);
    let different = judged(decisions, Verdict::Different);
    let one = closure(n, &same);
    let parted = |&(a, b): &(u32, u32)| one[a as usize] != one[b as usize];
    let found = decided(n, decisions, OnConflict::Refuse, || ()).unwrap();
    let again = decided(n, &reversed(decisions), OnConflict::Refuse, || ()).unwrap();
    assert_eq!(found, again);
    match found {
        Ok(found) => {
            assert!(different.iter().all(parted));
            Some(found)
        }
        Err(contradiction) => {
            let chain = contradiction.chain;
            let has = |pairs: &[(u32, u32)], a: u32, b: u32| pairs.contains(&(a.min(b), a.max(b)));
            assert!(chain.len() > 2);
            assert!(has(&different, chain[0], chain[chain.len() - 1]));
            assert!(chain.windows(2).all(|w| has(&same, w[0], w[1])));
            None
        }
    }
}

fn check(n: u32, pairs: &[Pair], decisions: &[Decision]) {
    let same = judged(decisions, Verdict::Same);
    let different = judged(decisions, Verdict::Different);
    let graph = links(n, pairs);
    let turned = links(n, &reversed(pairs));
    if let Some(found) = check_decided(n, decisions) {
        let groups = closure(n, &same);
        for most in [u32::MAX, 2] {
            let bounds = Bounds::new(found.clone(), most);
            for (method, cluster) in methods().into_iter().enumerate() {
                let clusters = cluster(&graph, &bounds).unwrap();
                let label = clusters.labels();
                let together = |&(a, b): &(u32, u32)| label[a as usize] == label[b as usize];
                assert!(
                    same.iter().all(together),
                    "{method} {pairs:?} {decisions:?}"
                );
                assert!(
                    !different.iter().any(together),
                    "{method} {pairs:?} {decisions:?}"
                );
                let other = cluster(&turned, &bounds).unwrap();
                assert_eq!(everything(&clusters), everything(&other));
                for i in 0..n {
                    let member = clusters.member(i);
                    assert_eq!(label[member.centre as usize], member.cluster);
                    let group = groups.iter().filter(|&&g| g == groups[i as usize]);
                    assert!(member.size <= most.max(group.count() as u32));
                }
                if method == 0 && most > n {
                    assert_eq!(clusters.refused(), 0);
                    // what is similar and yet apart has a reason
                    let near = pairs.iter().filter(|p| p.similarity >= THRESHOLD);
                    for p in near.filter(|p| !together(&(p.a, p.b))) {
                        let ends = [label[p.a as usize], label[p.b as usize]];
                        assert!(different.iter().any(|&(a, b)| {
                            let between = [label[a as usize], label[b as usize]];
                            between == ends || between == [ends[1], ends[0]]
                        }));
                    }
                }
            }
        }
    }
    if decisions.is_empty() {
        // bounds that bind nothing change nothing
        let wide = Bounds::new(Decided::default(), n + 1);
        for cluster in methods() {
            let today = cluster(&graph, &Bounds::default()).unwrap();
            assert_eq!(
                everything(&cluster(&graph, &wide).unwrap()),
                everything(&today)
            );
        }
    }
    // the newer wins, and what holds then does not contradict itself
    let newer = decided(n, decisions, OnConflict::Newer, || ())
        .unwrap()
        .unwrap();
    for cluster in methods() {
        let clusters = cluster(&graph, &Bounds::new(newer.clone(), u32::MAX)).unwrap();
        let label = clusters.labels();
        if let Some(newest) = decisions
            .iter()
            .max_by_key(|d| (d.at, d.verdict == Verdict::Different))
        {
            let together = label[newest.a as usize] == label[newest.b as usize];
            let first = decisions.iter().filter(|d| d.at == newest.at).count() == 1;
            match newest.verdict {
                Verdict::Same if first => assert!(together),
                Verdict::Different if first => assert!(!together),
                _ => (),
            }
        }
    }
}

/// The graph and the decisions with these numbers: a digit for each pair says how similar it is, and what was decided.
fn numbered(n: u32, mut graph: u64, mut choice: u64) -> (Vec<Pair>, Vec<Decision>) {
    let (mut pairs, mut decisions) = (Vec::new(), Vec::new());
    for (i, (a, b)) in all_pairs(n).into_iter().enumerate() {
        let similarity = [0.0, 0.8, 0.9][(graph % 3) as usize];
        if similarity > 0.0 {
            pairs.push(Pair { a, b, similarity });
        }
        let verdict = [None, Some(Verdict::Same), Some(Verdict::Different)][(choice % 3) as usize];
        if let Some(verdict) = verdict {
            let at = (i as i64 * 7) % 4;
            decisions.push(Decision { a, b, verdict, at });
        }
        (graph, choice) = (graph / 3, choice / 3);
    }
    (pairs, decisions)
}

/// The graphs of `n` records with the decisions that `takes` says.
fn check_all(n: u32, takes: impl Fn(u64, u64) -> bool) {
    let numbers = 0..3u64.pow(all_pairs(n).len() as u32);
    for graph in numbers.clone() {
        for choice in numbers.clone().filter(|&choice| takes(graph, choice)) {
            let (pairs, decisions) = numbered(n, graph, choice);
            check(n, &pairs, &decisions);
        }
    }
}

#[test]
fn all_of_three_records() {
    for n in 0..=3 {
        check_all(n, |_, _| true);
    }
}

/// A ninth of all graphs of four records with all decisions, in which any eight of the twelve digits have all their
/// values together: an orthogonal array of strength 8, whose checks are the words of the ternary code of length 12,
/// dimension 2 and distance 9. So whatever goes wrong by up to eight pairs' similarities and decisions together is
/// found. `rest` is 0 or 1, for one half and the other.
fn check_four_records(rest: u64) {
    const CHECKS: [[u64; 2]; 4] = [[1, 0], [0, 1], [1, 1], [1, 2]];
    let is_in = |graph: u64, choice: u64| {
        let (mut digits, mut sums) = (graph + 729 * choice, [0, 0]);
        for check in CHECKS.iter().cycle().take(12) {
            for (sum, factor) in sums.iter_mut().zip(check) {
                *sum += factor * (digits % 3);
            }
            digits /= 3;
        }
        sums.iter().all(|sum| sum % 3 == 0)
    };
    check_all(4, |graph, choice| graph % 2 == rest && is_in(graph, choice));
}

#[test]
fn four_records() {
    check_four_records(0);
}

#[test]
fn four_records_the_other_half() {
    check_four_records(1);
}

#[test]
#[ignore = "takes minutes: make torture runs it"]
fn all_of_four_records() {
    check_all(4, |_, _| true);
}

#[test]
#[ignore = "takes minutes: make torture runs it"]
fn many_random_ones() {
    check_random(3, 1_000_000);
}

/// Random graphs and decisions of five to eight records, some of them at one time, or unsure.
fn check_random(seed: u64, times: u32) {
    let mut state = seed;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..times {
        let n = 5 + random(4) as u32;
        let (similar, decide) = (1 + random(4), 2 + random(12));
        let (mut pairs, mut decisions) = (Vec::new(), Vec::new());
        for (a, b) in all_pairs(n) {
            if random(4) < similar {
                let similarity = (10 + random(7)) as f64 / 16.0;
                pairs.push(Pair { a, b, similarity });
            }
            if random(decide) == 0 {
                let verdict =
                    [Verdict::Same, Verdict::Different, Verdict::Unsure][random(3) as usize];
                let at = random(5) as i64;
                decisions.push(Decision { a, b, verdict, at });
            }
        }
        check(n, &pairs, &decisions);
    }
}

#[test]
fn random_ones() {
    check_random(1, 60_000);
}

#[test]
fn other_random_ones() {
    check_random(2, 60_000);
}

#[test]
fn the_newest_decision_on_a_pair_counts() {
    let decision = |a, b, verdict, at| Decision { a, b, verdict, at };
    let graph = links(2, &[]);
    let together = |decisions: &[Decision]| {
        let found = decided(2, decisions, OnConflict::Refuse, || ()).unwrap();
        let bounds = Bounds::new(found.unwrap(), u32::MAX);
        let clusters = components(&graph, THRESHOLD, &bounds, || ()).unwrap();
        clusters.count() == 1
    };
    use Verdict::{Different, Same, Unsure};
    assert!(together(&[
        decision(0, 1, Different, 1),
        decision(1, 0, Same, 2)
    ]));
    assert!(!together(&[
        decision(0, 1, Same, 1),
        decision(1, 0, Unsure, 2)
    ]));
    assert!(!together(&[
        decision(0, 1, Same, 2),
        decision(1, 0, Different, 2)
    ]));
    assert!(!together(&[decision(0, 0, Same, 2)]));
}

#[test]
fn a_contradiction_names_the_shortest_chain() {
    let same = |a, b| Decision {
        a,
        b,
        verdict: Verdict::Same,
        at: 1,
    };
    let different = |a, b| Decision {
        a,
        b,
        verdict: Verdict::Different,
        at: 2,
    };
    let all = [
        same(0, 1),
        same(1, 2),
        same(2, 3),
        same(0, 4),
        same(4, 3),
        different(3, 0),
    ];
    let found = decided(5, &all, OnConflict::Refuse, || ()).unwrap();
    assert_eq!(found.unwrap_err().chain, [0, 4, 3]);
    let newer = decided(5, &all, OnConflict::Newer, || ()).unwrap().unwrap();
    let clusters = components(
        &links(5, &[]),
        THRESHOLD,
        &Bounds::new(newer, u32::MAX),
        || (),
    )
    .unwrap();
    assert_ne!(clusters.labels()[0], clusters.labels()[3]);
}

#[test]
fn a_large_group_with_many_strangers() {
    // everybody is like everybody next to it; every hundredth record differs from all other hundredths
    let n = 20_000u32;
    let pairs: Vec<Pair> = (1..n)
        .map(|b| Pair {
            a: b - 1,
            b,
            similarity: 0.8,
        })
        .collect();
    let some: Vec<u32> = (0..n).step_by(100).collect();
    let apart = some.iter().flat_map(|&a| some.iter().map(move |&b| (a, b)));
    let decisions: Vec<Decision> = apart
        .filter(|(a, b)| a < b)
        .map(|(a, b)| Decision {
            a,
            b,
            verdict: Verdict::Different,
            at: 0,
        })
        .collect();
    let found = decided(n, &decisions, OnConflict::Refuse, || ())
        .unwrap()
        .unwrap();
    let bounds = Bounds::new(found, u32::MAX);
    let clusters = components(&links(n, &pairs), THRESHOLD, &bounds, || ()).unwrap();
    assert_eq!(clusters.count(), 200);
    let sized = Bounds::new(Decided::default(), 30);
    for cluster in methods() {
        let clusters = cluster(&links(n, &pairs), &sized).unwrap();
        assert!((0..n).all(|i| clusters.member(i).size <= 30));
    }
}
