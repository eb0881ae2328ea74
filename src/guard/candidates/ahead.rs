//! Rows that a trigger has looked ahead at: what is remembered of them, and when it is worth while to look.

use std::cell::RefCell;
use std::collections::HashMap;

use pgrx::pg_sys;
use sigfile::many::MOST_ROWS;

use crate::guard::prepared::PreparedGuard;
use access::insertions;
use pg::session_state::map_bytes;
use pg::tid::Tid;

/// When something was found out. It holds as long as all of this stays the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// What a client has sent: in which transaction, and since when it runs.
    statement: (u64, pg_sys::TimestampTz),
    /// What a subtransaction has deleted may come back when it is rolled back.
    subtransaction: pg_sys::SubTransactionId,
    /// The number of the prepared guard: it is prepared anew if the trigger, an index or a table has changed.
    guard: u64,
    /// How many rows this session had put into sigfile indexes.
    insertions: u64,
    /// The command, where a row may come within reach of another one unchecked, and without an index entry of its own.
    command: Option<pg_sys::CommandId>,
}

impl Moment {
    /// Now, in a transaction that has written a row. `checks_updates`: the trigger fires for every UPDATE.
    ///
    /// Otherwise, or in a block list, an UPDATE by another trigger may give a row other values of `within`, which no
    /// index has.
    pub fn now(guard: &PreparedGuard, checks_updates: bool) -> Moment {
        let all_checked = checks_updates && guard.options.list.is_none();
        let by_command = !all_checked && !guard.own.within.is_empty();
        // SAFETY: a trigger runs in a transaction.
        unsafe {
            Moment {
                statement: (
                    pg_sys::GetTopFullTransactionIdIfAny().value,
                    pg_sys::GetCurrentStatementStartTimestamp(),
                ),
                subtransaction: pg_sys::GetCurrentSubTransactionId(),
                guard: guard.number,
                insertions: insertions(),
                command: by_command.then(|| pg_sys::GetCurrentCommandId(false)),
            }
        }
    }
}

/// Rows that are searched for by themselves before the trigger looks ahead for the first time in a statement.
const FIRST_PAUSE: usize = 16;

/// The most rows that are searched for by themselves until it looks again.
const LAST_PAUSE: usize = 1 << 13;

/// Rows that it looks at first, and the most.
const FIRST_SIZE: usize = 1 << 9;
const LAST_SIZE: usize = MOST_ROWS;

/// A row that was looked at: twice its tid, and one more if nothing is similar to it.
#[derive(Clone, Copy)]
pub struct RowAhead(u64);

impl RowAhead {
    /// A row to which something may be similar.
    pub fn new(tid: Tid) -> RowAhead {
        RowAhead(2 * tid.stored())
    }

    pub fn tid(self) -> Tid {
        Tid::of_stored(self.0 / 2)
    }

    /// Whether nothing is similar to it.
    pub fn is_clear(self) -> bool {
        self.0 % 2 == 1
    }

    pub fn set_clear(&mut self, is_clear: bool) {
        self.0 = self.0 / 2 * 2 + u64::from(is_clear);
    }
}

/// The rows that a trigger has looked at.
struct RowsAhead {
    moment: Moment,
    /// In the order of the tids.
    rows: Vec<RowAhead>,
    /// How many of them were asked for.
    used: usize,
    /// Rows that are to be searched for by themselves before the trigger looks ahead again.
    pause: usize,
    /// What the next pause will be if it was of no use to look ahead.
    next_pause: usize,
    /// How many rows to look at.
    size: usize,
}

pg::session_state! {
    static AHEAD: RefCell<HashMap<pg_sys::Oid, RowsAhead>> = RefCell::default();
    "rows ahead" by "trigger" until "another statement, or a row that is not among them" bytes |ahead| {
        let ahead = ahead.borrow();
        let rows = ahead.values().map(|of| of.rows.capacity() * size_of::<RowAhead>());
        map_bytes(&ahead) + rows.sum::<usize>()
    };
}

/// What is known of a row.
pub enum AheadOutcome {
    /// Whether nothing was similar to it; otherwise it is to be searched for by itself.
    Known(bool),
    /// It is worth while to look at so many rows from this one on.
    LookAhead(usize),
}

impl RowsAhead {
    fn new(moment: Moment) -> RowsAhead {
        RowsAhead {
            moment,
            rows: Vec::new(),
            used: 0,
            pause: FIRST_PAUSE,
            next_pause: 2 * FIRST_PAUSE,
            size: FIRST_SIZE,
        }
    }

    /// Adapts to how much of the last look ahead was of use. If one was of use, the next takes as many rows as there is
    /// memory for: most of what it costs is to read the index.
    fn forget(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        if 2 * self.used >= self.rows.len() {
            self.next_pause = FIRST_PAUSE;
            self.size = (64 * self.size).min(LAST_SIZE);
        } else {
            self.rest();
        }
        self.rows = Vec::new();
        self.used = 0;
    }

    fn rest(&mut self) {
        self.pause = self.next_pause;
        self.next_pause = (2 * self.next_pause).min(LAST_PAUSE);
        self.size = (2 * self.used).clamp(FIRST_SIZE, LAST_SIZE);
    }

    fn ask(&mut self, tid: Tid) -> AheadOutcome {
        if let Ok(at) = self.rows.binary_search_by_key(&tid, |row| row.tid()) {
            let is_clear = self.rows[at].is_clear();
            self.used += usize::from(is_clear);
            return AheadOutcome::Known(is_clear);
        }
        self.forget();
        if self.pause > 0 {
            self.pause -= 1;
            return AheadOutcome::Known(false);
        }
        AheadOutcome::LookAhead(self.size)
    }
}

/// What is known of a row of the trigger's table.
pub fn ask(trigger: pg_sys::Oid, moment: Moment, tid: Tid) -> AheadOutcome {
    AHEAD.with_borrow_mut(|all| {
        let ahead = all.entry(trigger).or_insert_with(|| RowsAhead::new(moment));
        if ahead.moment.statement != moment.statement {
            *ahead = RowsAhead::new(moment);
        }
        if ahead.moment != moment {
            ahead.forget();
            ahead.moment = moment;
        }
        ahead.ask(tid)
    })
}

/// Remembers what was found of rows ahead, in the order of their tids. `None` if there was nothing to look at.
pub fn remember(trigger: pg_sys::Oid, moment: Moment, found: Option<Vec<RowAhead>>) {
    AHEAD.with_borrow_mut(|all| {
        // Triggers of other tables or partitions may have looked ahead in this statement, none in one before.
        all.retain(|_, ahead| ahead.moment.statement == moment.statement);
        let Some(ahead) = all.get_mut(&trigger) else {
            return;
        };
        match found {
            Some(found) => ahead.rows = found,
            None => ahead.rest(),
        }
    });
}

/// How many rows all triggers remember.
pub fn remembered() -> usize {
    AHEAD.with_borrow(|all| all.values().map(|ahead| ahead.rows.len()).sum())
}
