//! Which pairs hold a group of records together: without such a one it falls into two.

use base::memory::{filled_in_turns, reserve};
use base::Result;
use base::Ticker;

/// For each pair of records `0..records` how many records are on one side of it if it is the only link between both
/// sides, and 0 if it is not (R. E. Tarjan: A Note on Finding the Bridges of a Graph, Information Processing Letters 2,
/// 1974). A pair comes once. 40 bytes a record and 20 a pair.
///
/// Errors: out of memory.
///
/// # Panics
/// When a pair names a record that is not below `records`.
pub fn bridges(records: u32, pairs: &[(u32, u32)], turn: impl FnMut()) -> Result<Vec<u32>> {
    let ticker = &mut Ticker::new(turn);
    let n = records as usize;
    let mut starts = filled_in_turns(n + 1, 0usize, ticker)?;
    for &(a, b) in pairs {
        ticker.step();
        starts[a as usize] += 1;
        starts[b as usize] += 1;
    }
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let mut links = filled_in_turns(end, (0u32, 0u32), ticker)?;
    for (i, &(a, b)) in (0..).zip(pairs) {
        ticker.step();
        for (from, to) in [(a, b), (b, a)] {
            starts[from as usize] -= 1;
            links[starts[from as usize]] = (to, i);
        }
    }
    const NONE: u32 = u32::MAX;
    let mut alone = filled_in_turns(pairs.len(), 0u32, ticker)?;
    // When a record was first seen, the earliest one that it and those below it lead back to, and how many those are.
    let mut seen = filled_in_turns(n, NONE, ticker)?;
    let mut low = filled_in_turns(n, NONE, ticker)?;
    let mut size = filled_in_turns(n, 1u32, ticker)?;
    let mut next = starts.clone();
    let mut path: Vec<(u32, u32)> = Vec::new();
    reserve(&mut path, n)?;
    let mut time = 0;
    for root in 0..records {
        if seen[root as usize] != NONE {
            continue;
        }
        path.push((root, NONE));
        while let Some(&(at, by)) = path.last() {
            ticker.step();
            let i = at as usize;
            if seen[i] == NONE {
                (seen[i], low[i]) = (time, time);
                time += 1;
            }
            if next[i] < starts[i + 1] {
                let (to, pair) = links[next[i]];
                next[i] += 1;
                if seen[to as usize] == NONE {
                    path.push((to, pair));
                } else if pair != by {
                    low[i] = low[i].min(seen[to as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(above, _)) = path.last() {
                let j = above as usize;
                low[j] = low[j].min(low[i]);
                size[j] += size[i];
                if low[i] > seen[j] {
                    alone[by as usize] = size[i];
                }
            }
        }
    }
    Ok(alone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::labels;
    use super::*;

    #[test]
    fn halves() {
        // two triangles and what links them, and one record more
        let pairs = [
            (0, 1),
            (1, 2),
            (0, 2),
            (2, 3),
            (3, 4),
            (4, 5),
            (3, 5),
            (5, 6),
        ];
        assert_eq!(bridges(8, &pairs, || ()).unwrap(), [0, 0, 0, 4, 0, 0, 0, 1]);
        assert!(bridges(0, &[], || ()).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn without_it_there_is_one_group_more(pairs in proptest::collection::btree_set((0u32..9, 0u32..9), 0..16)) {
            let mut pairs: Vec<(u32, u32)> = pairs.into_iter().filter(|(a, b)| a < b).collect();
            pairs.dedup();
            let found = bridges(9, &pairs, || ()).unwrap();
            let groups = |pairs: &[(u32, u32)]| labels(9, pairs.iter().copied(), || ()).unwrap();
            let count = |labels: &[u32]| { let mut l = labels.to_vec(); l.sort_unstable(); l.dedup(); l.len() };
            for (i, &(a, b)) in pairs.iter().enumerate() {
                let rest: Vec<(u32, u32)> = pairs.iter().copied().filter(|p| *p != (a, b)).collect();
                let without = groups(&rest);
                prop_assert_eq!(found[i] > 0, count(&without) > count(&groups(&pairs)));
                if found[i] > 0 {
                    let side = |r: u32| without.iter().filter(|l| **l == without[r as usize]).count() as u32;
                    prop_assert!(found[i] == side(a) || found[i] == side(b));
                }
            }
        }
    }
}
