//! Memory, then file: what may be more than memory allows. There is one vector whose values go to a temporary file when
//! they are too many ([`SpillVec`]), byte strings by number in two of these ([`ByteStrings`]), and one sort
//! ([`ExternalSort`]).

mod byte_strings;
mod external_sort;
mod spill_vec;
mod temporary;

pub use byte_strings::ByteStrings;
pub use external_sort::{ExternalSort, RecordSort, SortOrder, Sorted, SortedRecords};
pub use spill_vec::SpillVec;
pub use temporary::{Plain, TemporaryFile};
