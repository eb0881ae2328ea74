//! What an attack has to go by: nodes in the signatures and nodes in the reference, each with how common it is and how it
//! belongs to the others. How a node is taken for one of the reference, and what is read by it, is the same for all attacks:
//! nodes are matched, records are read by these, what has turned out to be right is kept, and the rest is matched anew.

use crate::align::{match_graphs, Graph};
use crate::bits::{unite, RecordSet, Signatures};
use crate::read::{read_on, Reading};
use crate::reference::Reference;

/// The nodes are matched so often at most.
const ROUNDS: usize = 4;

/// Nodes on both sides.
pub(crate) struct Clues {
    pub theirs: Graph,
    pub ours: Graph,
    /// Shares of both are those of so many records; fewer where they depend on one another.
    pub records: f64,
    /// By node of theirs, the records that have it.
    pub nodes: Vec<RecordSet>,
    /// By node of ours, its tokens.
    pub tokens: Vec<Vec<u32>>,
}

impl Clues {
    /// Reads what follows.
    pub fn read(&self, of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
        let mut best = Reading::of_nothing(of, reference);
        let mut known: Vec<(usize, usize)> = Vec::new();
        for _ in 0..ROUNDS {
            let pairs = match_graphs(&self.theirs, &self.ours, self.records, &known, turn);
            let sets = self.token_sets(of, reference, &pairs, &best);
            let reading = read_on(of, reference, sets, turn);
            if reading.number_believed() <= best.number_believed() {
                break;
            }
            best = reading;
            let is_known = |pair: &(usize, usize)| {
                let tokens = &self.tokens[pair.1];
                !tokens.is_empty() && tokens.iter().all(|token| best.believed()[*token as usize])
            };
            known = pairs.iter().copied().filter(is_known).collect();
            if known.len() == pairs.len() {
                break;
            }
        }
        best
    }

    /// By token, the records that are believed to have it: by what was read so far, or else by the pairs.
    fn token_sets(
        &self,
        of: &Signatures,
        reference: &Reference,
        pairs: &[(usize, usize)],
        so_far: &Reading,
    ) -> Vec<Option<RecordSet>> {
        let mut sets: Vec<Option<RecordSet>> = vec![None; reference.tokens().len()];
        for (node, other) in pairs {
            for token in &self.tokens[*other] {
                let set = sets[*token as usize].get_or_insert_with(|| vec![0; of.width()]);
                unite(set, &self.nodes[*node]);
            }
        }
        for (set, read) in sets.iter_mut().zip(so_far.sets()) {
            if read.is_some() {
                set.clone_from(read);
            }
        }
        sets
    }
}
