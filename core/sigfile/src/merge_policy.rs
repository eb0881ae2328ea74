//! Which segments are merged. A search reads each of them, so they are few: the greatest, and at most one of each level
//! below it, each level growing by the same factor (levelled merging: P. O'Neil, E. Cheng, D. Gawlick, E. O'Neil: The
//! log-structured merge-tree, Acta Informatica 33, 1996). While space is not given back, because a snapshot keeps it,
//! rows are moved as rarely as can be, and there are more segments.

/// Rows of an index by which a level is worth its while: each further level has a segment more to search, and moves a
/// row less often.
const LEVEL_GROWTH: f64 = 60.0;

/// Most levels.
const MAX_LEVELS: i32 = 4;

/// What is merged next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Segments, by position.
    pub segments: Vec<usize>,
    /// The tail, too.
    pub tail: bool,
    /// Rows that will be there before as much is to be merged again.
    pub rows: u64,
}

/// What there is to be merged, in rows.
#[derive(Clone, Copy, Debug)]
pub struct Sizes<'a> {
    /// Rows of the segments that are in no merge.
    pub available: &'a [u64],
    /// Rows of the greatest segment of all.
    pub greatest: u64,
    /// Rows of the whole index.
    pub total: u64,
    /// Rows of the tail, 0 if a merge takes it already.
    pub tail: u64,
    /// Rows of a tail from which on it is merged.
    pub unit: u64,
    /// The most segments that a merge takes.
    pub most: usize,
}

impl Sizes<'_> {
    /// Levels, and the factor between two of them.
    fn levels(&self) -> (i32, f64) {
        let ratio = (self.total as f64 / self.unit.max(1) as f64).max(1.0);
        let levels = (ratio.ln() / LEVEL_GROWTH.ln()).ceil() as i32;
        let levels = levels.clamp(1, MAX_LEVELS);
        (levels, ratio.powf(1.0 / f64::from(levels)).max(2.0))
    }

    /// The level of a segment: the greatest is on the highest, the others on the lowest that they fit.
    fn level(&self, rows: u64) -> i32 {
        let (levels, growth) = self.levels();
        if rows >= self.greatest {
            return levels;
        }
        let fits = |&level: &i32| rows as f64 <= self.unit as f64 * growth.powi(level);
        (1..levels).find(fits).unwrap_or(levels)
    }

    /// By position, the smallest first, at most as many as a merge takes.
    fn smallest(&self, of: impl Fn(u64) -> bool) -> Vec<usize> {
        let all = 0..self.available.len();
        let mut chosen: Vec<usize> = all.filter(|&i| of(self.available[i])).collect();
        chosen.sort_by_key(|&i| self.available[i]);
        chosen.truncate(self.most);
        chosen
    }

    /// What is to be merged next, if anything is.
    pub fn next(&self) -> Option<Choice> {
        let (levels, growth) = self.levels();
        if self.tail >= self.unit {
            return Some(Choice {
                segments: self.smallest(|rows| self.level(rows) == 1),
                tail: true,
                rows: self.tail,
            });
        }
        (1..=levels).find_map(|level| {
            let segments = self.smallest(|rows| self.level(rows) == level);
            let below = self.unit as f64 * growth.powi(level - 1);
            (segments.len() > 1).then_some(Choice {
                segments,
                tail: false,
                rows: below as u64,
            })
        })
    }

    /// The same while space is not given back: nothing but the tail is sealed, unless there are `too_many` segments.
    pub fn next_starved(&self, too_many: bool) -> Option<Choice> {
        let tail = self.tail >= self.unit;
        let segments = match too_many {
            true => self.smallest(|_| true),
            false => Vec::new(),
        };
        (tail || segments.len() > 1).then_some(Choice {
            segments,
            tail,
            rows: self.unit,
        })
    }
}

/// Cuts segments (by position in `rows`) into groups of at most `most` rows, each to become one; groups of
/// one segment that `worth` does not call for are left out.
pub fn groups(rows: &[u64], most: u64, worth: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(rows[i]));
    let mut groups: Vec<(u64, Vec<usize>)> = Vec::new();
    for i in order {
        match groups.iter_mut().find(|(sum, _)| sum + rows[i] <= most) {
            Some((sum, group)) => {
                *sum += rows[i];
                group.push(i);
            }
            None => groups.push((rows[i], vec![i])),
        }
    }
    groups
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| group.len() > 1 || worth(group[0]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges that are done at once, up to so many rows, a unit at a time. Returns rows moved, and most segments.
    fn grow(unit: u64, total: u64, starved: bool) -> (u64, usize) {
        let (mut segments, mut moved, mut most) = (vec![], 0, 0);
        for n in 1..=total / unit {
            let mut tail = unit;
            loop {
                let sizes = Sizes {
                    available: &segments,
                    greatest: segments.iter().copied().max().unwrap_or(0),
                    total: n * unit,
                    tail,
                    unit,
                    most: 16,
                };
                let choice = if starved {
                    sizes.next_starved(segments.len() >= 36)
                } else {
                    sizes.next()
                };
                let Some(choice) = choice else { break };
                let taken: u64 = choice.segments.iter().map(|&i| segments[i]).sum();
                let merged = taken + if choice.tail { tail } else { 0 };
                tail = if choice.tail { 0 } else { tail };
                let kept = (0..segments.len()).filter(|i| !choice.segments.contains(i));
                segments = kept.map(|i| segments[i]).collect();
                segments.push(merged);
                moved += merged;
            }
            most = most.max(segments.len());
            assert_eq!(segments.iter().sum::<u64>(), n * unit);
        }
        (moved, most)
    }

    #[test]
    fn segments_are_few_and_moves_are_rare() {
        for (total, moves, most) in [
            (1 << 13, 5, 1),
            (1 << 16, 29, 2),
            (1 << 20, 34, 2),
            (1 << 21, 50, 2),
        ] {
            let (moved, segments) = grow(1 << 10, total, false);
            assert!(
                moved <= moves * total,
                "{total}: {}",
                moved as f64 / total as f64
            );
            assert!(segments <= most, "{total}: {segments}");
        }
    }

    #[test]
    fn while_space_is_kept_rows_move_twice() {
        let (moved, segments) = grow(1 << 12, 1 << 19, true);
        assert!(moved <= 2 << 19 && segments < 40, "{moved} {segments}");
    }
    #[test]
    fn groups_hold_at_most_the_limit() {
        let rows = [5, 1, 1, 9, 3];
        let found = groups(&rows, 10, |i| i == 3);
        assert_eq!(found, vec![vec![3, 1], vec![0, 4, 2]]);
        assert_eq!(groups(&[7], 10, |_| false), Vec::<Vec<usize>>::new());
        assert_eq!(groups(&[7], 10, |_| true), vec![vec![0]]);
    }
}
