//! What jobs do, as `bloom_progress` names it.

use super::JobPhase;

pub const READING: JobPhase = JobPhase::of_rows("reading records");
pub const READING_PAIRS: JobPhase = JobPhase::of_rows("reading pairs");
pub const READING_LABELS: JobPhase = JobPhase::of_rows("reading labels");
pub const READING_TOKENS: JobPhase = JobPhase::of_rows("reading tokens");
/// Records come group by group, and each group is compared when it is complete.
pub const READING_GROUPS: JobPhase = JobPhase::of_rows("comparing within groups");
pub const CHECKING_KEYS: JobPhase = JobPhase::new("checking keys");
/// The tails of indexes.
pub const SEARCHING_TAILS: JobPhase = JobPhase::new("comparing rows not merged");
pub const SEARCHING_INDEX: JobPhase = JobPhase::new("searching the index");
pub const COMPARING_SIGNATURES: JobPhase = JobPhase::new("comparing signatures");
pub const COMPARING_TOKENS: JobPhase = JobPhase::new("comparing tokens");
pub const SEARCHING_SAMPLE: JobPhase = JobPhase::new("searching for a sample");
pub const TIMING: JobPhase = JobPhase::new("timing the search");
pub const PREPARING: JobPhase = JobPhase::new("preparing records");
pub const COUNTING_VALUES: JobPhase = JobPhase::new("counting values");
pub const SEARCHING_EQUAL: JobPhase = JobPhase::new("searching equal values");
pub const SEARCHING_SIMILAR: JobPhase = JobPhase::new("searching similar values");
pub const COMPARING_ALL: JobPhase = JobPhase::new("comparing all records");
pub const COMPARING_PAIRS: JobPhase = JobPhase::new("comparing pairs");
pub const FITTING: JobPhase = JobPhase::new("fitting the model");
pub const GROUPING: JobPhase = JobPhase::new("grouping records");
pub const CHOOSING: JobPhase = JobPhase::new("choosing records to keep");
pub const MEASURING: JobPhase = JobPhase::new("measuring");
pub const ASSIGNING: JobPhase = JobPhase::new("assigning partners");
pub const WRITING: JobPhase = JobPhase::new("writing rows");
pub const WRITING_REPORT: JobPhase = JobPhase::new("writing the report");
