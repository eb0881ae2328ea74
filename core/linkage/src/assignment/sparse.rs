//! An assignment along the pairs that there are, by shortest augmenting paths.
//!
//! R. Jonker, A. Volgenant: A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems,
//! Computing 38, 1987, where a record may stay without a partner. Every record of `b` has a price, 0 as long as it has
//! no partner; a record of `a` gains its pair's weight less the price of its partner, or 0 without one, and nobody
//! could gain more. A record that is added takes the way that costs the others the least: its partner's former partner
//! takes another one, and so on, until one is reached that nobody has, or a record that rather has none.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::memory::{filled_in_turns, push};
use base::Ticker;
use base::{Error, Result};

const NONE: u32 = u32::MAX;
const NO_EDGE: usize = usize::MAX;

/// Where a way ends.
enum End {
    /// A record of `b` that had no partner.
    Free(u32),
    /// A record of `a` that has none from now on.
    Without(u32),
}

pub(super) struct Search<'a> {
    /// Where the pairs of each record of `a` begin, and the end of the last.
    starts: &'a [usize],
    /// For each record of `a`: the pair that is kept,
    edge: Vec<usize>,
    /// and what it gains.
    gain: Vec<i128>,
    /// For each record of `b`: its partner,
    partner: Vec<u32>,
    /// its price,
    price: Vec<i128>,
    /// and, if it was reached by the way with number `turn`, how far it is and by which pair it was reached.
    reached: Vec<Reached>,
    turn: u32,
    heap: BinaryHeap<(Reverse<i128>, Reverse<u32>)>,
    /// The records that the search has come by: one of `a`, its distance, and the one of `b` that it was reached by.
    passed: Vec<(u32, i128, u32)>,
}

#[derive(Clone)]
struct Reached {
    turn: u32,
    from: u32,
    edge: usize,
    distance: i128,
}

impl<'a> Search<'a> {
    /// Errors: out of memory.
    pub(super) fn new(
        starts: &'a [usize],
        b_records: usize,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Search<'a>> {
        let a_records = starts.len() - 1;
        let nowhere = Reached {
            turn: 0,
            from: NONE,
            edge: NO_EDGE,
            distance: 0,
        };
        Ok(Search {
            starts,
            edge: filled_in_turns(a_records, NO_EDGE, ticker)?,
            gain: filled_in_turns(a_records, 0, ticker)?,
            partner: filled_in_turns(b_records, NONE, ticker)?,
            price: filled_in_turns(b_records, 0, ticker)?,
            reached: filled_in_turns(b_records, nowhere, ticker)?,
            turn: 0,
            heap: BinaryHeap::new(),
            passed: Vec::new(),
        })
    }

    /// The pairs that are kept, by their places.
    pub(super) fn found(&self) -> impl Iterator<Item = usize> + '_ {
        self.edge.iter().copied().filter(|&at| at != NO_EDGE)
    }

    /// Adds a record of `a`. `b_of` gives the number of the record of `b` of a pair, `weight` what the pair gains.
    ///
    /// Errors: out of memory.
    pub(super) fn add(
        &mut self,
        start: u32,
        b_of: impl Fn(usize) -> u32,
        weight: impl Fn(usize) -> i128,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<()> {
        let worth = |search: &Self, at: usize| weight(at) - search.price[b_of(at) as usize];
        let pairs = self.starts[start as usize]..self.starts[start as usize + 1];
        let most = pairs.map(|at| {
            ticker.step();
            worth(self, at)
        });
        self.gain[start as usize] = most.fold(0, i128::max);
        self.turn += 1;
        self.heap.clear();
        self.passed.clear();
        let (mut best, mut end) = (self.gain[start as usize], End::Without(start));
        let (mut a, mut distance, mut by) = (start, 0, NONE);
        loop {
            push(&mut self.passed, (a, distance, by))?;
            for at in self.starts[a as usize]..self.starts[a as usize + 1] {
                ticker.step();
                if at == self.edge[a as usize] {
                    continue;
                }
                let b = b_of(at);
                let further = distance + self.gain[a as usize] - worth(self, at);
                let known = &self.reached[b as usize];
                if further >= best || known.turn == self.turn && known.distance <= further {
                    continue;
                }
                self.reached[b as usize] = Reached {
                    turn: self.turn,
                    from: a,
                    edge: at,
                    distance: further,
                };
                if self.partner[b as usize] == NONE {
                    (best, end) = (further, End::Free(b));
                } else {
                    let held = size_of_val(self.heap.as_slice());
                    let reserved = self.heap.try_reserve(1);
                    reserved.map_err(|_| Error::out_of_memory(held))?;
                    self.heap.push((Reverse(further), Reverse(b)));
                }
            }
            let Some(next) = self.nearest(best, ticker) else {
                break;
            };
            (distance, by) = next;
            a = self.partner[by as usize];
            let without = distance + self.gain[a as usize];
            if without < best {
                (best, end) = (without, End::Without(a));
            }
        }
        self.pay(best, ticker);
        self.turn_over(start, end, b_of, ticker);
        Ok(())
    }

    /// The next record of `b` with a partner, if it is nearer than `best`.
    fn nearest(&mut self, best: i128, ticker: &mut Ticker<impl FnMut()>) -> Option<(i128, u32)> {
        loop {
            ticker.step();
            let (Reverse(distance), Reverse(b)) = self.heap.pop()?;
            if distance >= best {
                return None;
            }
            // one that was reached on a shorter way since is there a second time
            if distance == self.reached[b as usize].distance {
                return Some((distance, b));
            }
        }
    }

    /// Puts gains and prices right, as if those on the way had bid for their next partner.
    fn pay(&mut self, best: i128, ticker: &mut Ticker<impl FnMut()>) {
        for &(a, distance, by) in &self.passed {
            ticker.step();
            if distance < best {
                self.gain[a as usize] -= best - distance;
                if by != NONE {
                    self.price[by as usize] += best - distance;
                }
            }
        }
    }

    /// Every record of the way takes the partner that it was reached by, back to `start`.
    fn turn_over(
        &mut self,
        start: u32,
        end: End,
        b_of: impl Fn(usize) -> u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) {
        let mut b = match end {
            End::Free(b) => b,
            End::Without(a) if a == start => return,
            End::Without(a) => b_of(std::mem::replace(&mut self.edge[a as usize], NO_EDGE)),
        };
        loop {
            ticker.step();
            let Reached { from, edge, .. } = self.reached[b as usize];
            self.partner[b as usize] = from;
            let former = std::mem::replace(&mut self.edge[from as usize], edge);
            if from == start {
                return;
            }
            b = b_of(former);
        }
    }
}
