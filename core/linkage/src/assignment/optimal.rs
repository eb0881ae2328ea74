//! The pairs whose weights have the greatest sum.

use std::ops::Range;

use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;

use super::sparse::Search;
use super::WeightedPair;
use crate::clusters::labels;
use base::memory::{collected, filled_in_turns, reserve};
use base::sort::sort_by;
use base::Ticker;
use base::{Error, ErrorKind, Result};

/// Records of either side of a part that is solved as a matrix. What the order of keys adds to a weight then has 26
/// bits at the most.
const FEW: usize = 8;

/// The pairs whose weights have the greatest sum; a record without a partner counts 0. Each connected part of the graph
/// is solved by itself: one of eight records a side at the most as a matrix (H. W. Kuhn: The Hungarian Method for the
/// Assignment Problem, Naval Research Logistics Quarterly 2, 1955), and there of several solutions the one is taken
/// that gives the first record of `a` a partner, and the first of those that it can have, then the second, and so on; a
/// larger one along its pairs alone ([`super::sparse`]), where the solution taken follows from the order of the
/// records, too. Weights are below 2^90, so that sums fit.
///
/// Takes 8 bytes a record besides the pairs, and some 150 bytes for each pair of the largest part.
/// Gives the pairs kept, by falling weight, equal ones by their records. Errors: 2^32 records and more; out of memory.
pub fn optimal(mut edges: Vec<WeightedPair>, mut turn: impl FnMut()) -> Result<Vec<WeightedPair>> {
    edges.retain(|e| e.weight > 0);
    let past = |of: fn(&WeightedPair) -> u32| edges.iter().map(|e| u64::from(of(e)) + 1).max();
    let (a, b) = (past(|e| e.a).unwrap_or(0), past(|e| e.b).unwrap_or(0));
    let Ok(records) = u32::try_from(a + b) else {
        let message = format!("{} records to assign are too many", a + b);
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    };
    let side_b = a as u32;
    let nodes = edges.iter().map(|e| (e.a, side_b + e.b));
    let part = labels(records, nodes, &mut turn)?;
    let ticker = &mut Ticker::new(turn);
    sort_by(&mut edges, ticker, |x, y| {
        let key = |e: &WeightedPair| (part[e.a as usize], e.a, e.b);
        key(x)
            .cmp(&key(y))
            .then(y.weight.cmp(&x.weight))
            .then(y.value.total_cmp(&x.value))
    });
    // of a pair that was given twice the one with the greater weight comes first, and of equal ones that with the
    // greater value
    edges.dedup_by_key(|e| (e.a, e.b));
    let mut numbers = Numbers(filled_in_turns(b as usize, 0, ticker)?);
    let mut kept = Vec::new();
    reserve(&mut kept, (a as usize).min(edges.len()))?;
    let mut rest = &edges[..];
    while let Some(first) = rest.first() {
        ticker.step();
        let label = part[first.a as usize];
        let end = rest.partition_point(|e| part[e.a as usize] <= label);
        let (of_part, others) = rest.split_at(end);
        numbers.solve(of_part, &mut kept, ticker)?;
        rest = others;
    }
    sort_by(&mut kept, ticker, |x: &WeightedPair, y| {
        let pair = |e: &WeightedPair| (e.a, e.b);
        y.weight.cmp(&x.weight).then(pair(x).cmp(&pair(y)))
    });
    Ok(kept)
}

/// The numbers of the records of `b` within the part that is being solved.
struct Numbers(Vec<u32>);

impl Numbers {
    /// Adds the pairs of one part that are kept. `edges` are in the order of their records.
    fn solve(
        &mut self,
        edges: &[WeightedPair],
        kept: &mut Vec<WeightedPair>,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<()> {
        if let [only] = edges {
            kept.push(*only);
            return Ok(());
        }
        let b_records = self.number(edges, ticker)?;
        let begins = |&at: &usize| at == 0 || edges[at - 1].a != edges[at].a;
        let mut starts = collected((0..edges.len()).filter(begins), edges.len() + 1)?;
        let a_records = starts.len();
        starts.push(edges.len());
        let b_of = |at: usize| self.0[edges[at].b as usize];
        if a_records <= FEW && b_records <= FEW {
            let lists = starts.windows(2).map(|w| w[0]..w[1]);
            let found = dense(edges, lists, b_records, b_of);
            kept.extend(found.into_iter().map(|at| edges[at]));
            return Ok(());
        }
        let mut search = Search::new(&starts, b_records, ticker)?;
        let weight = |at: usize| edges[at].weight;
        for record in scattered(a_records as u32) {
            search.add(record, b_of, weight, ticker)?;
        }
        kept.extend(search.found().map(|at| edges[at]));
        Ok(())
    }

    /// Numbers the records of `b`, in their order, and counts them.
    fn number(
        &mut self,
        edges: &[WeightedPair],
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<usize> {
        let mut records = collected(edges.iter().map(|e| e.b), edges.len())?;
        sort_by(&mut records, ticker, u32::cmp);
        records.dedup();
        for (record, number) in records.iter().zip(0..) {
            ticker.step();
            self.0[*record as usize] = number;
        }
        Ok(records.len())
    }
}

/// The numbers below `n`, each next one far from those before it. Where the records are a chain, each of which takes
/// the partner of the one before it, all of them would move with each that is added at the chain's end; added like
/// this, most stand alone when they come.
fn scattered(n: u32) -> impl Iterator<Item = u32> {
    let bits = u64::from(n).next_power_of_two().trailing_zeros();
    let numbers = (0..1u64 << bits).map(move |i| (i.reverse_bits() >> 1 >> (63 - bits)) as u32);
    numbers.filter(move |&i| i < n)
}

/// The same for a few records, by the crate. Gives the places of the pairs that are kept.
fn dense(
    edges: &[WeightedPair],
    lists: impl ExactSizeIterator<Item = Range<usize>>,
    b_records: usize,
    b_of: impl Fn(usize) -> u32,
) -> Vec<usize> {
    let a_records = lists.len();
    let base = b_records as i128 + 1;
    let above_all = base.pow(a_records as u32);
    let mut weights = Matrix::new(a_records, b_records, 0i128);
    let mut places = Matrix::new(a_records, b_records, None);
    let mut first = above_all;
    for (row, list) in lists.enumerate() {
        // a digit for each record of `a`, the first of them before all others
        first /= base;
        for at in list {
            let column = b_of(at) as usize;
            let preference = first * (b_records - column) as i128;
            weights[(row, column)] = edges[at].weight * above_all + preference;
            places[(row, column)] = Some(at);
        }
    }
    let transposed = a_records > b_records;
    if transposed {
        weights.transpose();
    }
    // what is not given gains nothing, as no partner does
    let (_, columns) = kuhn_munkres(&weights);
    let cells = columns.into_iter().enumerate();
    let cells = cells.map(|(row, column)| match transposed {
        true => (column, row),
        false => (row, column),
    });
    cells.filter_map(|cell| places[cell]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_numbers_are_all_there() {
        assert_eq!(scattered(6).collect::<Vec<_>>(), [0, 4, 2, 1, 5, 3]);
        for n in [0, 1, 2, 3, 64, 1000] {
            let mut numbers: Vec<u32> = scattered(n).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..n));
        }
    }
}
