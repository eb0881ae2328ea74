//! What single operations cost: the only place where times of a machine are written down.
//!
//! All are nanoseconds of the machine on which they were measured, on warm buffers. Searches and joins compare them
//! with each other, so that only their ratios matter; for the planner they become its units by [`UNIT`].
//! `benches/costs.sh` measures anew those that stand for one operation, in proportion to the unit of the machine it
//! runs on, and says which deviate by more than half. Another value is another plan for somebody: it is changed by
//! itself, with the list of the plans that change.

/// What the steps of a search or a join cost.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// To look one value up in a posting page, or in a table in memory.
    pub probe: f64,
    /// To read one posting, and look at its row.
    pub candidate: f64,
    /// To scan one word of a row.
    pub scan_word: f64,
    /// To scan a row, whatever its length.
    pub scan_row: f64,
}

impl Costs {
    /// To scan so many rows of `stride` words.
    pub fn scan(&self, rows: u32, stride: usize) -> f64 {
        f64::from(rows) * (self.scan_row + self.scan_word * stride as f64)
    }
}

/// A search that looks at each candidate's row page.
pub const SEARCH: Costs = Costs {
    probe: 45.0,
    candidate: 90.0,
    scan_word: 0.3,
    scan_row: 1.5,
};

/// A join whose values are looked up in posting pages, and whose rows are compared by their folds.
pub const JOIN: Costs = Costs {
    probe: 80.0,
    candidate: 8.0,
    scan_word: 0.0,
    scan_row: 1.5,
};

/// The same where values are looked up in tables in memory.
pub const JOIN_IN_TABLES: Costs = Costs {
    probe: 3.0,
    candidate: 30.0,
    ..JOIN
};

/// A join where the folds that are kept tell little apart, so that blocks of rows are folded to as many words as it takes.
pub const JOIN_UNFOLDED: Costs = Costs {
    probe: 80.0,
    candidate: 60.0,
    scan_word: 0.025,
    scan_row: 0.15,
};

/// The same where values are looked up in tables in memory.
pub const JOIN_UNFOLDED_IN_TABLES: Costs = Costs {
    probe: 3.0,
    ..JOIN_UNFOLDED
};

/// To put one row's value into a table of a join.
pub const JOIN_TABLE_ROW: f64 = 10.0;

/// The search for many rows at once ([`crate::many`]): to make a table for a chunk,
pub const MANY_TABLE: f64 = 50_000.0;
/// to list a row in it,
pub const MANY_LIST: f64 = 6.5;
/// to take a row that is looked up, with its value,
pub const MANY_TAKE: f64 = 4.0;
/// to look a value up in the filter,
pub const MANY_FILTER: f64 = 1.3;
/// to look it up in the table,
pub const MANY_LOOK_UP: f64 = 10.0;
/// and to compare a row.
pub const MANY_COMPARE: f64 = 1.0;

/// A unit of the planner's cost, with its settings as they are delivered: a sequential scan of a million signatures
/// takes 70 to 90 ms, and is estimated at some 25,000.
pub const UNIT: f64 = 3_500.0;

/// To begin with a scan of an index,
pub const SCAN: f64 = 3_000.0;
/// and with a segment of it.
pub const SEGMENT: f64 = 500.0;

/// What a first step of a search for the nearest rows may cost. It is a choice, made where most such searches end.
pub const FIRST_NEAREST: f64 = 30_000.0;

/// To look at the keys of a page of a GiST index: of a million names of 301 bits a search reads all pages in 53 ms.
pub const GIST_PAGE: f64 = 6_200.0;

/// A page of an index's tail, in each search for new records,
pub const TAIL_PAGE: f64 = 500.0;
/// and a row of the indexes where records are searched for together, before the first of them is found.
pub const TOGETHER: f64 = 6_000.0;

/// Searches of profiles ([`signature::similarity::ProfilePlan`]): a search for a row that is similar by .8 or more
/// among 100,000 whose signatures are those of short texts,
pub const PROFILE_ROW: f64 = 12_000.0;
/// a comparison of two signatures, for each bit,
pub const PROFILE_BIT: f64 = 1.5 / 581.0;
/// a pair that is found by an index, whose rows are fetched,
pub const PROFILE_FETCHED: f64 = 2_000.0;
/// one that is found among stored profiles in memory,
pub const PROFILE_STORED: f64 = 300.0;
/// or in a file,
pub const PROFILE_IN_FILE: f64 = 3_000.0;
/// reading a record,
pub const PROFILE_RECORD: f64 = 2_000.0;
/// and a signature of it,
pub const PROFILE_SIGNATURE: f64 = 400.0;
/// and sorting a signature to join it.
pub const PROFILE_SORTED: f64 = 400.0;

/// A pair that is told by a join, where none was found to try it with.
pub const PAIR: f64 = 5_000.0;
