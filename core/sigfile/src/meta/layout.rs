//! Where on a metapage the tables begin, and how much they hold.

use crate::parts::Part;

/// "BISF"
pub const MAGIC: u32 = 0x4653_4942;

/// Version of the format of an index.
pub const VERSION: u16 = 2;

/// The first version, which is read, and written anew as the current one.
pub const FIRST_VERSION: u16 = 1;

// Words at which the tables begin, and how much they hold.

/// Segments.
pub const SEGMENTS_AT: usize = 8;

/// Segments that an index can have.
pub const MAX_SEGMENTS: usize = 48;

/// Lists of free blocks.
pub const FREE_AT: usize = SEGMENTS_AT + 4 * MAX_SEGMENTS;

/// Lists of free blocks that an index can have.
pub const MAX_FREE: usize = 32;

/// What had been entered when they were made.
pub const MARKS_AT: usize = FREE_AT + 2 * MAX_FREE;

/// Generations of the tails' first pages.
pub const BASES_AT: usize = MARKS_AT + MAX_FREE;

/// Blocks in stock.
pub const STOCK_AT: usize = BASES_AT + 2;

/// Blocks that can be in stock for pages of tails.
pub const MAX_STOCK: usize = 64;

/// Blocks of the tail with signatures.
pub const TAIL_AT: usize = STOCK_AT + MAX_STOCK / 2;

/// Where the tail began in the first version.
pub const FIRST_TAIL_AT: usize = MARKS_AT;

/// Words for blocks of the tail without.
pub const NULLS_WORDS: usize = 128;

/// The shortest page that a metapage fits, in words: no row with a signature can be added then.
pub const LEAST_WORDS: usize = TAIL_AT + NULLS_WORDS;

const _: () = assert!(FREE_AT == 200 && MARKS_AT == 264 && BASES_AT == 296 && TAIL_AT == 330);

/// Where on a page of so many words the blocks of the tail of a part are.
pub fn tail_words(part: Part, page_words: usize) -> std::ops::Range<usize> {
    tail_words_of(part, page_words, VERSION)
}

/// The same in a format version.
pub fn tail_words_of(part: Part, page_words: usize, version: u16) -> std::ops::Range<usize> {
    let nulls_at = page_words - NULLS_WORDS;
    match part {
        Part::Signatures if version == FIRST_VERSION => FIRST_TAIL_AT..nulls_at,
        Part::Signatures => TAIL_AT..nulls_at,
        Part::Nulls => nulls_at..page_words,
    }
}
