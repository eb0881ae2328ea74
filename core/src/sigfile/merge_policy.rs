//! Which segments are merged: those of like size, so that a row is moved a logarithmic number of times.

/// Segments of a tier that are merged into one of the next.
pub const FAN: usize = 4;

/// Each tier's rows are so many times those of the one below.
const GROWTH: u64 = 4;

/// The tier of a segment: 0 up to `unit` rows, and one more for each factor of [`GROWTH`].
fn tier(rows: u64, unit: u64) -> u32 {
    let mut tier = 0;
    let mut most = unit.max(1);
    while rows > most {
        most = most.saturating_mul(GROWTH);
        tier += 1;
    }
    tier
}

/// The segments (by position in `rows`, which gives their sizes) that ought to become one: where a tier has
/// [`FAN`], these and the smaller ones, if they have at most `most` rows together.
pub fn crowded(rows: &[u64], unit: u64, most: u64) -> Vec<usize> {
    let tiers: Vec<u32> = rows.iter().map(|&r| tier(r, unit)).collect();
    let top = tiers.iter().copied().max().unwrap_or(0);
    let full = |t: &u32| tiers.iter().filter(|&of| of == t).count() >= FAN;
    (0..=top)
        .filter(full)
        .map(|t| (0..rows.len()).filter(|&i| tiers[i] <= t).collect())
        .find(|found: &Vec<usize>| found.iter().map(|&i| rows[i]).sum::<u64>() <= most)
        .unwrap_or_default()
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

    #[test]
    fn segments_stay_few_and_moves_are_rare() {
        let unit = 4096;
        let (mut segments, mut moved, mut total, mut most_segments) = (vec![], 0u64, 0u64, 0);
        for _ in 0..2000 {
            segments.push(unit);
            total += unit;
            loop {
                let merged = crowded(&segments, unit, 1 << 24);
                if merged.is_empty() {
                    break;
                }
                let sum: u64 = merged.iter().map(|&i| segments[i]).sum();
                moved += sum;
                let mut i = 0;
                segments.retain(|_| {
                    i += 1;
                    !merged.contains(&(i - 1))
                });
                segments.push(sum);
            }
            most_segments = most_segments.max(segments.len());
        }
        assert!(most_segments <= 32, "{most_segments} segments");
        assert!(moved <= 5 * total, "{} moves a row", moved / total);
        assert_eq!(segments.iter().sum::<u64>(), total);
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
