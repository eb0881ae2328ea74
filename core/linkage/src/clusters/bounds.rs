//! What clusters must keep to: pairs that people have judged, and a size.

use std::collections::{HashMap, HashSet};

use super::forest::Forest;
use base::memory::push;
use base::Ticker;
use base::{Error, Result};

/// Decisions that do not contradict each other; the lesser record of a pair is first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    pub(super) same: Vec<(u32, u32)>,
    pub(super) different: Vec<(u32, u32)>,
}

/// What clusters must keep to.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub(super) decided: Decided,
    most: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            decided: Decided::default(),
            most: u32::MAX,
        }
    }
}

impl Bounds {
    /// Records judged the same are in one cluster, records judged different are not, and pairs make no cluster of more
    /// than `most` records; only records judged the same do.
    pub fn new(decided: Decided, most: u32) -> Bounds {
        Bounds { decided, most }
    }

    /// Whether there is nothing to keep to.
    pub(super) fn is_none(&self) -> bool {
        self.most == u32::MAX && self.decided.same.is_empty() && self.decided.different.is_empty()
    }

    /// Every record by itself, but for those that are judged the same.
    ///
    /// Errors: out of memory.
    pub(super) fn joining(
        &self,
        records: u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Joining> {
        let mut joining = self.parted(records, ticker)?;
        // what is judged the same becomes one set, however large that is
        joining.most = u32::MAX;
        for &(a, b) in &self.decided.same {
            ticker.step();
            joining.join(a, b, ticker)?;
        }
        joining.most = self.most;
        Ok(joining)
    }

    /// Every record by itself.
    ///
    /// Errors: out of memory.
    pub(super) fn parted(
        &self,
        records: u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Joining> {
        let mut joining = Joining::new(records, self.decided.different.len(), self.most, ticker)?;
        for &(a, b) in &self.decided.different {
            ticker.step();
            joining.part(a, b)?;
        }
        Ok(joining)
    }
}

/// Sets of records that grow, as far as bounds allow.
pub(super) struct Joining {
    pub(super) forest: Forest,
    /// The roots of sets that must stay apart, the lesser one first.
    apart: HashSet<(u32, u32)>,
    /// For the root of a set: records that must not come in, which may be anywhere in theirs.
    strangers: HashMap<u32, Vec<u32>>,
    most: u32,
    /// Pairs that would have made too large a set.
    pub(super) refused: u64,
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl Joining {
    /// Every record by itself. There is room for so many pairs that must stay apart.
    ///
    /// Errors: out of memory.
    pub(super) fn new(
        records: u32,
        apart: usize,
        most: u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Joining> {
        let mut joining = Joining {
            forest: Forest::new(records, ticker)?,
            apart: HashSet::new(),
            strangers: HashMap::new(),
            most,
            refused: 0,
        };
        let failed = |_| Error::out_of_memory(apart.saturating_mul(64));
        joining.apart.try_reserve(apart).map_err(failed)?;
        joining.strangers.try_reserve(2 * apart).map_err(failed)?;
        Ok(joining)
    }

    /// Whether the sets of both records must stay apart.
    pub(super) fn are_apart(&mut self, a: u32, b: u32) -> bool {
        let roots = ordered(self.forest.find(a), self.forest.find(b));
        self.apart.contains(&roots)
    }

    /// Keeps the sets of both records apart from now on; `false` if they are one.
    ///
    /// Errors: out of memory.
    pub(super) fn part(&mut self, a: u32, b: u32) -> Result<bool> {
        let (x, y) = (self.forest.find(a), self.forest.find(b));
        if x == y {
            return Ok(false);
        }
        if self.apart.insert(ordered(x, y)) {
            for (root, other) in [(x, b), (y, a)] {
                push(self.strangers.entry(root).or_default(), other)?;
            }
        }
        Ok(true)
    }

    /// Whether the sets of two roots may become one. A set that would be too large is counted.
    pub(super) fn may_join(&mut self, x: u32, y: u32) -> bool {
        if self.apart.contains(&ordered(x, y)) {
            return false;
        }
        let size = u64::from(self.forest.size(x)) + u64::from(self.forest.size(y));
        let fits = size <= u64::from(self.most);
        self.refused += u64::from(!fits);
        fits
    }

    /// Makes one set of those of two records, if it may be; whether it is one then. The set with fewer strangers goes
    /// below the other: each of them is looked at as often as a logarithm says.
    ///
    /// Errors: out of memory.
    pub(super) fn join(
        &mut self,
        a: u32,
        b: u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<bool> {
        let (x, y) = (self.forest.find(a), self.forest.find(b));
        if x == y {
            return Ok(true);
        }
        let joins = self.may_join(x, y);
        if joins {
            let rank = |root: u32| {
                let strangers = self.strangers.get(&root).map_or(0, Vec::len);
                (strangers, self.forest.size(root))
            };
            let (root, below) = if rank(x) >= rank(y) { (x, y) } else { (y, x) };
            self.hang(below, root, ticker)?;
        }
        Ok(joins)
    }

    /// Makes one set of two whose roots are given, under the root of the second.
    ///
    /// Errors: out of memory.
    pub(super) fn hang(
        &mut self,
        below: u32,
        root: u32,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<()> {
        if let Some(strangers) = self.strangers.remove(&below) {
            for &stranger in &strangers {
                ticker.step();
                let other = self.forest.find(stranger);
                self.apart.remove(&ordered(below, other));
                self.apart.insert(ordered(root, other));
            }
            let all = self.strangers.entry(root).or_default();
            for stranger in strangers {
                push(all, stranger)?;
            }
        }
        self.forest.hang(below, root);
        Ok(())
    }
}
