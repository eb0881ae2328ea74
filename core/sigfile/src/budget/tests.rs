//! Plans are what they are said to be.

use super::*;
use crate::chunk::Chunk;
use crate::costs::SEARCH;
use crate::keys::PageOrders;
use crate::Geometry;
use proptest::prelude::*;

/// A segment of which only what is planned with is true.
fn segments() -> impl Strategy<Value = Segment> {
    let chunks = prop::collection::vec((1u32..33, prop::array::uniform3(0.0..300f64)), 0..20);
    let rows = prop::collection::vec(0u32..400, 303);
    (chunks, rows).prop_map(|(chunks, rows)| {
        let geometry = Geometry::new(1019, 301, false, false).unwrap();
        let mut first = vec![0];
        let ends = rows.iter().scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        });
        first.extend(ends);
        let of_chunk = |&(width, expected): &(u32, [f64; MEASURED])| Postings {
            chunk: Chunk { start: 0, width },
            first_page: 1,
            fences: vec![0],
            expected,
        };
        Segment {
            geometry,
            rows: *first.last().unwrap(),
            least_threshold: 0.0,
            postings: chunks.iter().map(of_chunk).collect(),
            first,
            begins: PageOrders::default(),
        }
    })
}

/// The plan as it is defined: from the beginning for each popcount.
fn defined(segment: &Segment, query: &Query, own: Option<&[u32]>) -> (f64, Vec<usize>) {
    let Some((lo, hi)) = query.window() else {
        return (0.0, Vec::new());
    };
    let all = segment.range(lo, hi);
    let scan = |rows: u32| SEARCH.scan(rows, segment.geometry.stride);
    let mut best = (scan(all.end - all.start), Vec::new());
    if segment.postings.is_empty() || all.is_empty() || query.threshold() <= 0.0 {
        return best;
    }
    for popcount in lo..=hi {
        let widest = (lo..=popcount).map(|c| query.radius(c)).max().unwrap();
        let mut radii = vec![0u32; segment.postings.len()];
        let (mut spent, mut order) = (0.0, Vec::new());
        for _ in 0..=widest {
            let cost = |i: usize| step(segment, i, radii[i], own.map(|own| own[i]), &SEARCH);
            let cheapest = (0..radii.len())
                .min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
                .unwrap();
            spent += cost(cheapest);
            radii[cheapest] += 1;
            order.push(cheapest);
        }
        let cost = spent + scan(all.end - segment.first[popcount as usize + 1]);
        if cost < best.0 {
            best = (cost, order);
        }
    }
    best
}

proptest! {
    /// Kept steps give the plan as it is defined, whose radii find each row that is probed for.
    #[test]
    fn plans_are_as_defined(
        segment in segments(),
        popcount in 0u32..150,
        threshold in 0.0..1.0f64,
        own in prop::collection::vec(0u32..500, 20),
    ) {
        let steps = SearchSteps::new(&segment, &SEARCH);
        let query = Query::of_popcount(&segment.geometry, popcount, threshold);
        let own = &own[..segment.postings.len()];
        let within = segment.within(&query, None);
        let mut order = Vec::new();
        let by_own = steps.plan_with(&segment, &query, &within, own, &mut order);
        let by_own_order = order.iter().map(|&i| usize::from(i)).take(by_own.steps);
        let expected = steps.plan(&segment, &query, &within);
        let expected_order = steps.order().take(expected.steps);
        for (plan, order, own) in [
            (by_own, by_own_order.collect::<Vec<_>>(), Some(own)),
            (expected, expected_order.collect(), None),
        ] {
            let (cost, wanted) = defined(&segment, &query, own);
            prop_assert!((plan.cost - cost).abs() <= 1e-9 * cost);
            prop_assert_eq!(&order, &wanted);
            prop_assert_eq!(order.len(), plan.steps);
            for popcount in 0..=segment.geometry.bits {
                let rows = segment.range(popcount, popcount);
                if rows.is_empty() || !plan.probed.contains(&rows.start) {
                    continue;
                }
                prop_assert!(plan.steps > query.radius(popcount) as usize);
                prop_assert!(rows.end <= plan.probed.end);
            }
            if let Some((lo, hi)) = query.window() {
                let window = segment.range(lo, hi);
                prop_assert_eq!(plan.probed.start, window.start);
                prop_assert_eq!(plan.probed.end, plan.scanned.start);
                prop_assert_eq!(plan.scanned.end, window.end);
            }
        }
    }
}
