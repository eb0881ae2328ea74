//! The newest decision about a pair.

use base::{Error, ErrorKind};
use linkage::clusters::Verdict;
use linkage::record_hash::{of_pair, RecordHash};
use pgrx::pg_sys;

use super::table::DecisionTable;
use pg::catalog;
use pg::error::raise;
use pg::memory::in_scratch;
use pg::output::text_form;
use pg::relation::OpenRelation;
use pg::values::text::readable;

/// A decision, and what both records were like when it was made.
pub struct FoundDecision {
    pub verdict: Verdict,
    pub hash: Option<[RecordHash; 2]>,
}

/// When, and what: the greater one counts. NULL is the oldest; of two of one time the more cautious one counts.
type Rank = (i64, std::cmp::Reverse<Verdict>);

impl DecisionTable {
    /// The newest decision about a pair, as it is committed now, or made by this transaction.
    ///
    /// Errors: what is no decision, or no hash of a pair.
    pub fn newest(&self, [a, b]: [&[u8]; 2]) -> Option<FoundDecision> {
        // values of the rows and of the keys leave memory behind
        in_scratch(c"bloom_ident decision", || {
            let mut best: Option<(Rank, FoundDecision)> = None;
            self.each([a, b], false, &mut best);
            if !self.ordered {
                self.each([b, a], true, &mut best);
            }
            best.map(|(_, decision)| decision)
        })
    }

    /// Takes the newest one of the rows with these keys. Those of `swapped` keys have the hash of b first.
    fn each(&self, keys: [&[u8]; 2], swapped: bool, best: &mut Option<(Rank, FoundDecision)>) {
        let table = OpenRelation::table(self.table, pg_sys::AccessShareLock).keep_lock();
        // SAFETY: the table and its index are as they were when the guard was prepared, since they are watched: a
        // B-tree of texts, by the collations that the keys have. The snapshot is registered as long as the scan runs. A
        // row is valid until the next one is asked for.
        unsafe {
            let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot());
            let mut scan_keys = self.keys.map(|(i, column, collation)| {
                let mut key = pg_sys::ScanKeyData::default();
                pg_sys::ScanKeyEntryInitialize(
                    &mut key,
                    0,
                    column,
                    pg_sys::BTEqualStrategyNumber as u16,
                    pg_sys::InvalidOid,
                    collation,
                    pg_sys::Oid::from(pg_sys::F_TEXTEQ),
                    pg::function::rows::text_datum(keys[i]),
                );
                key
            });
            let scan = pg_sys::systable_beginscan(
                table.pointer(),
                self.index,
                true,
                snapshot,
                2,
                scan_keys.as_mut_ptr(),
            );
            loop {
                pg::check_for_interrupts();
                let row = pg_sys::systable_getnext(scan);
                if row.is_null() {
                    break;
                }
                let (rank, decision) = self.decision(&table, row, swapped);
                if best.as_ref().is_none_or(|(newest, _)| rank > *newest) {
                    *best = Some((rank, decision));
                }
            }
            pg_sys::systable_endscan(scan);
            pg_sys::UnregisterSnapshot(snapshot);
        }
    }

    /// # Safety
    /// `row` is one of the table, which is open.
    unsafe fn decision(
        &self,
        table: &OpenRelation,
        row: pg_sys::HeapTuple,
        swapped: bool,
    ) -> (Rank, FoundDecision) {
        let value = |column: i16| {
            let mut is_null = false;
            // SAFETY: the caller's row, which has the column.
            let value =
                unsafe { pg_sys::heap_getattr(row, column.into(), table.rd_att, &mut is_null) };
            (!is_null).then_some(value)
        };
        let text = |column: i16, of_type: pg_sys::Oid| {
            // SAFETY: a value of the column, which is of this type.
            value(column).map(|value| readable(&unsafe { text_form(value, of_type) }))
        };
        let name = || readable(catalog::name(self.table).to_bytes());
        let decision = text(self.decision, self.decision_type);
        let verdict = match decision.as_deref() {
            Some("same") => Verdict::Same,
            Some("different") => Verdict::Different,
            Some("unsure") => Verdict::Unsure,
            other => raise(
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!(
                        "decision \"{}\" in \"{}\" is none",
                        other.unwrap_or(""),
                        name()
                    ),
                )
                .detail("Decisions are \"same\", \"different\" and \"unsure\"."),
            ),
        };
        let hash = self.hash.and_then(|column| text(column, pg_sys::TEXTOID));
        let hash = hash.map(|text| {
            let [a, b] = of_pair(&text).unwrap_or_else(|| {
                let message = format!("hash \"{}\" in \"{}\" is not that of a pair", &text, name());
                raise(
                    &Error::new(ErrorKind::InvalidText, message)
                        .detail("It is the bloom_record_hash() of a, a blank, and that of b."),
                )
            });
            if swapped {
                [b, a]
            } else {
                [a, b]
            }
        });
        // A value of 32 bits or fewer is extended by its sign as the server stores it.
        let at = value(self.at).map_or(i64::MIN, |at| at.value() as i64);
        let rank = (at, std::cmp::Reverse(verdict));
        (rank, FoundDecision { verdict, hash })
    }
}
