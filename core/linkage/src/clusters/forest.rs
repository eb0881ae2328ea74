//! Union-find: sets of records that only ever grow (R. E. Tarjan, J. van Leeuwen: Worst-Case
//! Analysis of Set Union Algorithms, JACM 31, 1984).

use base::memory::{collected, filled_in_turns};
use base::Result;
use base::Ticker;

pub(super) struct Forest {
    parent: Vec<u32>,
    /// Members, where the record is a root.
    size: Vec<u32>,
}

impl Forest {
    /// Every record by itself.
    ///
    /// Errors: out of memory.
    pub(super) fn new(records: u32, ticker: &mut Ticker<impl FnMut()>) -> Result<Forest> {
        Ok(Forest {
            parent: numbers(records, ticker)?,
            size: filled_in_turns(records as usize, 1, ticker)?,
        })
    }

    pub(super) fn find(&mut self, mut i: u32) -> u32 {
        loop {
            let parent = self.parent[i as usize];
            if parent == i {
                return i;
            }
            // halves the path for those who come after
            let above = self.parent[parent as usize];
            self.parent[i as usize] = above;
            i = above;
        }
    }

    /// How many members the set of `root` has.
    pub(super) fn size(&self, root: u32) -> u32 {
        self.size[root as usize]
    }

    /// Makes one set of two, the smaller below the larger.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            let a_larger = self.size(a) >= self.size(b);
            let (root, below) = if a_larger { (a, b) } else { (b, a) };
            self.hang(below, root);
        }
    }

    /// Makes one set of two whose roots are given, under the root of the second.
    pub(super) fn hang(&mut self, below: u32, root: u32) {
        self.parent[below as usize] = root;
        self.size[root as usize] += self.size[below as usize];
    }
}

/// 0, 1, 2, …
///
/// Errors: out of memory.
pub(super) fn numbers(n: u32, ticker: &mut Ticker<impl FnMut()>) -> Result<Vec<u32>> {
    collected((0..n).inspect(|_| ticker.step()), n as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow() {
        let mut forest = Forest::new(6, &mut Ticker::new(|| ())).unwrap();
        for (a, b) in [(0, 5), (3, 4), (5, 4), (0, 3)] {
            forest.join(a, b);
        }
        let roots: Vec<u32> = (0..6).map(|i| forest.find(i)).collect();
        assert!([3, 4, 5].iter().all(|&i| roots[i] == roots[0]));
        assert_eq!((roots[1], roots[2]), (1, 2));
        assert_eq!(forest.size(roots[0]), 4);
    }
}
