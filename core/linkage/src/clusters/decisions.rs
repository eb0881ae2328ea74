//! What people have decided about pairs, and what holds of it.

use std::collections::VecDeque;

use super::bounds::{Decided, Joining};
use base::memory::{collected, filled_in_turns, push};
use base::sort::sort_by;
use base::Result;
use base::Ticker;

base::named! {
    /// What somebody has found of a pair.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict {
        /// The records are of different persons.
        Different = "different",
        /// It cannot be told.
        Unsure = "unsure",
        /// The records are of one person.
        Same = "same",
    }
}

/// A decision about a pair. Which of the records is a and which b does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// One record.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// What was found.
    pub verdict: Verdict,
    /// When: later decisions have greater numbers.
    pub at: i64,
}

/// Why decisions cannot all hold: records each of which is judged the same as the next one, where the first and the
/// last are judged different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Two records at the least.
    pub chain: Vec<u32>,
}

/// What is done where decisions contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It is told.
    Refuse,
    /// A decision holds if it contradicts none that holds and is newer.
    Newer,
}

/// What holds of decisions about records `0..records`. Of a pair the newest decision counts, and of several at one time
/// the most cautious: different before unsure before same. 24 bytes a decision and 8 a record, besides some 60 bytes
/// for each pair judged different.
///
/// Errors: out of memory.
///
/// # Panics
/// When a decision names a record that is not below `records`.
pub fn decided(
    records: u32,
    decisions: &[Decision],
    on_conflict: OnConflict,
    turn: impl FnMut(),
) -> Result<std::result::Result<Decided, Contradiction>> {
    let ticker = &mut Ticker::new(turn);
    let of_two = decisions.iter().filter(|d| d.a != d.b);
    let ordered = of_two.inspect(|_| ticker.step()).map(|d| Decision {
        a: d.a.min(d.b),
        b: d.a.max(d.b),
        ..*d
    });
    let mut newest = collected(ordered, decisions.len())?;
    sort_by(&mut newest, ticker, |x, y| {
        let pair = |d: &Decision| (d.a, d.b);
        let newer_first = y.at.cmp(&x.at);
        pair(x)
            .cmp(&pair(y))
            .then(newer_first)
            .then(x.verdict.cmp(&y.verdict))
    });
    newest.dedup_by_key(|d| (d.a, d.b));
    newest.retain(|d| d.verdict != Verdict::Unsure);
    // what comes first holds
    sort_by(&mut newest, ticker, |x, y| {
        let first = match on_conflict {
            OnConflict::Refuse => y.verdict.cmp(&x.verdict),
            OnConflict::Newer => y.at.cmp(&x.at).then(x.verdict.cmp(&y.verdict)),
        };
        first.then((x.a, x.b).cmp(&(y.a, y.b)))
    });
    let apart = newest.iter().filter(|d| d.verdict == Verdict::Different);
    let mut joining = Joining::new(records, apart.count(), u32::MAX, ticker)?;
    let mut holds = Decided::default();
    for Decision { a, b, verdict, .. } in newest {
        ticker.step();
        let (can_hold, of_verdict) = match verdict {
            Verdict::Same => (joining.join(a, b, ticker)?, &mut holds.same),
            _ => (joining.part(a, b)?, &mut holds.different),
        };
        if can_hold {
            push(of_verdict, (a, b))?;
        } else if on_conflict == OnConflict::Refuse {
            let chain = shortest(records, &holds.same, a, b, ticker)?;
            return Ok(Err(Contradiction { chain }));
        }
    }
    Ok(Ok(holds))
}

/// The shortest way from one record to another one that is connected with it, the first in the order of its records
/// where there are several.
fn shortest(
    records: u32,
    pairs: &[(u32, u32)],
    from: u32,
    to: u32,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let both_ways = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let mut both = collected(both_ways, 2 * pairs.len())?;
    sort_by(&mut both, ticker, Ord::cmp);
    // from the end to the beginning, so that the way is read from the beginning
    let mut next = filled_in_turns(records as usize, NONE, ticker)?;
    next[to as usize] = to;
    let mut queue = VecDeque::from([to]);
    while let Some(at) = queue.pop_front() {
        let first = both.partition_point(|&(a, _)| a < at);
        for &(_, other) in both[first..].iter().take_while(|&&(a, _)| a == at) {
            ticker.step();
            if next[other as usize] == NONE {
                next[other as usize] = at;
                queue.push_back(other);
            }
        }
    }
    let mut chain = vec![from];
    let mut at = from;
    while at != to && next[at as usize] != NONE {
        at = next[at as usize];
        chain.push(at);
    }
    Ok(chain)
}
