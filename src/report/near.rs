//! The pairs nearest to the threshold.

use linkage::clusters::Verdict;

use super::Edge;

/// A pair near the threshold.
pub struct NearPair {
    pub similarity: f64,
    pub keys: [Vec<u8>; 2],
    /// Whether it is true, if that is known.
    pub is_true: Option<bool>,
    /// What somebody has decided.
    pub judged: Option<Verdict>,
    /// A record has changed since.
    pub stale: bool,
}

/// The pairs nearest to the threshold on one side of it.
pub struct NearestPairs {
    side: Edge,
    pub pairs: Vec<NearPair>,
    most: usize,
}

impl NearestPairs {
    pub fn new(side: Edge, most: usize) -> NearestPairs {
        NearestPairs {
            side,
            pairs: Vec::new(),
            most,
        }
    }

    /// Takes the pair if it is nearer than one of those that are there.
    pub fn offer(
        &mut self,
        similarity: f64,
        is_true: Option<bool>,
        judged: Option<Verdict>,
        keys: impl FnOnce() -> [Vec<u8>; 2],
    ) {
        let distance = |s: f64| match self.side {
            Edge::Above => s,
            Edge::Below => -s,
        };
        let full = self.pairs.len() == self.most;
        let last = self.pairs.last().map(|near| distance(near.similarity));
        if full && last.is_none_or(|last| distance(similarity) > last) {
            return;
        }
        let new = NearPair {
            similarity,
            keys: keys(),
            is_true,
            judged,
            stale: false,
        };
        let at = self.pairs.partition_point(|near| {
            let order = distance(near.similarity).total_cmp(&distance(new.similarity));
            order.then_with(|| near.keys.cmp(&new.keys)).is_lt()
        });
        self.pairs.insert(at, new);
        self.pairs.truncate(self.most);
    }
}
