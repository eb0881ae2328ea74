//! What people have decided about pairs.

use linkage::clusters::Verdict;
use pgrx::pg_sys;

use crate::pairs::decisions::{Decisions, Judgement};
use crate::pairs::dictionary::{KeyDictionary, KeySides};
use crate::pairs::records::Relations;

/// All decisions of a relation, by keys as a report has them.
pub struct Judged {
    pub decisions: Decisions,
    sides: KeySides,
}

impl Judged {
    /// Reads the decisions as the caller.
    ///
    /// Errors: as [`Decisions::read`].
    pub fn read(oid: pg_sys::Oid, relations: Relations<'_>, sides: KeySides) -> Judged {
        Judged {
            decisions: Decisions::read(oid, Some(relations), false),
            sides,
        }
    }

    /// The newest decision about a pair.
    fn get(&self, keys: [&[u8]; 2]) -> Option<Judgement> {
        let [a, b] = keys.map(|key| self.sides.split(key));
        // Of two relations the key of the first comes first.
        let ordered = if a.0 <= b.0 { [a.1, b.1] } else { [b.1, a.1] };
        self.decisions.get(ordered)
    }

    /// What was decided about a pair.
    pub fn verdict(&self, keys: [&[u8]; 2]) -> Option<Verdict> {
        Some(self.get(keys)?.verdict)
    }

    /// Whether a record of a pair has changed since it was decided.
    pub fn is_stale(&self, keys: [&[u8]; 2]) -> bool {
        self.get(keys).is_some_and(|judgement| judgement.changed)
    }

    /// What holds of a pair: nothing if a record has changed since.
    pub fn holding(&self, keys: [&[u8]; 2]) -> Option<Verdict> {
        let judgement = self.get(keys)?;
        (!judgement.changed).then_some(judgement.verdict)
    }

    /// Whether clusters are made without a pair, since it is judged different or unsure.
    pub fn leaves_out(&self, keys: [&[u8]; 2]) -> bool {
        self.holding(keys)
            .is_some_and(|verdict| verdict != Verdict::Same)
    }

    /// How many pairs are decided to be the same, as far as that holds.
    pub fn same(&self) -> u64 {
        let mut same = 0;
        let mut keys = KeyDictionary::new();
        self.decisions.among(&mut keys, |decision| {
            same += u64::from(decision.verdict == Verdict::Same);
        });
        same
    }
}
