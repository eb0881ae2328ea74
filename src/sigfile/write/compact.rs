//! Compacting: VACUUM, and the function for the DBA, seals tails and merges segments.

use bloom_ident_core::sigfile::{merge_policy, posting, Part};
use bloom_ident_core::Result;

use super::{MergeLock, MergeSources};
use crate::sigfile::meta;

/// Share of dead rows from which on a segment is written anew.
const DEAD: f64 = 0.2;

/// VACUUM seals tails of that share of their limit.
const SEALED: u32 = 4;

/// Seals the tail and merges segments. `all`: everything into as few segments as can be.
///
/// Errors: a damaged page; out of memory.
pub fn compact(lock: &MergeLock<'_>, all: bool) -> Result<()> {
    let index = lock.index;
    for part in Part::ALL {
        let meta = meta::read(index);
        let of_part: Vec<_> = meta.segments_of(part).collect();
        if of_part.is_empty() && meta.tail(part).is_empty() {
            continue;
        }
        let geometry = meta.geometry(part);
        let limit = lock.options.tail_limit(geometry.stride);
        let pages = meta.tail(part).len() as u32;
        let tail = if pages > 0 && (all || pages * geometry.capacity as u32 >= limit / SEALED) {
            lock.close_tail(part)?
        } else {
            0
        };
        let most = u64::from(posting::MAX_ROWS);
        let tail_rows = tail as u64 * geometry.capacity as u64;
        let mut sizes: Vec<u64> = of_part.iter().map(|s| u64::from(s.rows - s.dead)).collect();
        let dead = |i: usize| f64::from(of_part[i].dead) >= DEAD * f64::from(of_part[i].rows);
        // A merge writes as much as it takes, so a large segment is not taken for a small tail.
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let rest = sizes.iter().sum::<u64>() - largest + tail_rows;
        let chosen: Vec<usize> = (0..of_part.len())
            .filter(|&i| all || dead(i) || sizes[i] < largest || rest * 4 >= largest)
            .collect();
        sizes = chosen.iter().map(|&i| sizes[i]).collect();
        let tail_at = sizes.len();
        if tail > 0 {
            sizes.push(tail_rows);
        }
        let worth =
            |i: usize| i == tail_at || dead(chosen[i]) || (all && of_part[chosen[i]].dead > 0);
        for group in merge_policy::groups(&sizes, most, worth) {
            lock.rewrite(&MergeSources {
                part,
                segments: group
                    .iter()
                    .filter(|&&i| i != tail_at)
                    .map(|&i| of_part[chosen[i]].generation)
                    .collect(),
                tail: if group.contains(&tail_at) { tail } else { 0 },
            })?;
        }
    }
    Ok(())
}
