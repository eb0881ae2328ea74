//! What an audit takes of memory: how many signatures, and differences of two, there is room for.

use crate::align::MOST_NODES;
use crate::differences::PAIRS;
use crate::patterns::MOST_PATTERNS;
use crate::read::BLOCK;
use crate::reference::Reference;

/// Signatures that are looked at, at most.
const MOST: usize = 100_000;

/// With fewer signatures, and fewer differences, attacks say nothing.
const FEWEST: usize = 500;

/// Whatever there is: correlations of nodes, and similarities by the steps in which they are counted.
const OTHERS: usize = 4 << 20;

/// Bytes that an audit takes, at most.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    for_all: usize,
    for_signature: usize,
    for_difference: usize,
}

impl Room {
    /// For signatures of so many bits.
    pub fn new(bits: usize, reference: &Reference) -> Room {
        let bytes = bits.div_ceil(64) * 8;
        let tokens = reference.tokens().len();
        // Bits of tokens are known of two readings at a time, and of values in blocks; patterns have bits.
        let of_bits = bytes * (2 * tokens + BLOCK + MOST_PATTERNS);
        Room {
            for_all: OTHERS + of_bits + reference.bytes() + PAIRS * MOST_NODES / 8,
            // Rows, columns, and columns of which something is left out; and sets: of patterns, of tokens, twice of those
            // that are tested, and of nodes.
            for_signature: 3 * bytes + (MOST_PATTERNS + tokens + 3 * MOST_NODES) / 8 + 32,
            for_difference: 3 * bytes + MOST_PATTERNS / 8 + 32,
        }
    }

    /// Bytes for so many signatures, and so many differences of two.
    pub fn bytes(&self, signatures: usize, differences: usize) -> usize {
        let of_signatures = self.for_signature.saturating_mul(signatures);
        let of_differences = self.for_difference.saturating_mul(differences);
        self.for_all
            .saturating_add(of_signatures)
            .saturating_add(of_differences)
    }

    /// Bytes without which there is no audit.
    pub fn least(&self) -> usize {
        self.bytes(FEWEST, FEWEST)
    }

    /// Signatures and differences for which there is room in so many bytes, at least [`Room::least`].
    pub fn within(&self, bytes: usize) -> [usize; 2] {
        let rest = bytes.saturating_sub(self.for_all);
        let differences = (rest / 3 / self.for_difference).clamp(FEWEST, PAIRS);
        let rest = rest.saturating_sub(differences * self.for_difference);
        let signatures = (rest / self.for_signature).clamp(FEWEST, MOST);
        [signatures, differences]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Tokens;

    #[test]
    fn what_there_is_room_for_fits() {
        let records = [(vec!["erika".to_owned()], 1.0)];
        let reference = Reference::new(1, &records, Tokens::Bigrams, &mut || ());
        for bits in [1, 64, 1024, 65_535] {
            let room = Room::new(bits, &reference);
            for bytes in [room.least(), room.least() + 1, 64 << 20, 1 << 30, 1 << 40] {
                let [signatures, differences] = room.within(bytes.max(room.least()));
                assert!(room.bytes(signatures, differences) <= bytes.max(room.least()));
                assert!((FEWEST..=MOST).contains(&signatures));
                assert!((FEWEST..=PAIRS).contains(&differences));
            }
            assert_eq!(room.within(1 << 40), [MOST, PAIRS]);
        }
    }
}
