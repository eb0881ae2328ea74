//! Rows that are collected one by one, and then put in the order of their popcounts: in memory or, if they are many, in
//! a temporary file.

use std::ops::Range;

use base::{Error, ErrorKind};
use sigfile::{Geometry, RowShape, SignatureRow};

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::TableNumber;
use access::{mismatch, PackedRows, RowSignature, RowSort, SortedRows, PAGE_WORDS};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::SpillVec;

/// How rows of a tag are laid out: on pages such as an index has.
///
/// Errors: a signature that does not fit such a page.
fn geometry_of(tag: u128) -> Geometry {
    let rows = RowShape::of_tag(tag);
    let bits = rows.bits();
    let laid_out = Geometry::new(PAGE_WORDS, 0, false, false);
    let laid_out = laid_out.and_then(|empty| empty.with_bits(bits, rows.measure()));
    laid_out.unwrap_or_else(|_| {
        let most = Geometry::most_bits(PAGE_WORDS);
        let message = format!("signatures of {bits} bits are too large to find similar ones");
        raise(
            &Error::new(ErrorKind::LimitExceeded, message)
                .detail(format!("They can have at most {most} bits."))
                .hint("Use a smaller shape."),
        )
    })
}

/// The shape that all signatures of a column have: that of the first one.
#[derive(Default)]
pub struct OneShape(Option<(u128, Geometry)>);

impl OneShape {
    /// The layout of a signature with this tag.
    ///
    /// Errors: one before it has another shape; a signature that does not fit a page.
    pub fn layout(&mut self, tag: u128) -> Geometry {
        let (first, geometry) = *self.0.get_or_insert_with(|| (tag, geometry_of(tag)));
        if tag != first {
            raise(&mismatch(tag, first));
        }
        geometry
    }

    /// The tag of all of them, if there are any.
    pub fn tag(&self) -> Option<u128> {
        self.0.map(|(tag, _)| tag)
    }

    /// The layout of all of them, if there are any.
    pub fn geometry(&self) -> Option<Geometry> {
        self.0.map(|(_, geometry)| geometry)
    }
}

/// A signature as a row, whose tid is its number.
pub fn numbered_row(words: &[u64], popcount: u32, number: u64) -> SignatureRow<'_> {
    SignatureRow {
        key: 0,
        words,
        popcount,
        threshold: 0.0,
        tid: number,
    }
}

/// The signatures of a column, each under a number.
pub struct NumberedRows {
    pub shape: OneShape,
    rows: Option<RowSort>,
    /// Otherwise only the shape is noted.
    is_joined: bool,
    memory: usize,
}

impl NumberedRows {
    /// They take `memory` bytes.
    pub fn new(is_joined: bool, memory: usize) -> NumberedRows {
        NumberedRows {
            shape: OneShape::default(),
            rows: None,
            is_joined,
            memory,
        }
    }

    /// Errors: as [`OneShape::layout`]; out of memory.
    pub fn add(&mut self, signature: &RowSignature, number: u64) {
        let geometry = self.shape.layout(signature.tag);
        if self.is_joined {
            let new = || RowSort::new(geometry, self.memory);
            let rows = self.rows.get_or_insert_with(new);
            let row = numbered_row(&signature.words, signature.popcount, number);
            rows.push(row).or_raise();
        }
    }

    /// All rows in the order of their popcounts; `None` if there are none.
    pub fn sorted(self) -> Option<Sorted> {
        Some(Sorted::new(self.rows?.finish()))
    }
}

/// Rows in the order of their popcounts, numbered from 0.
pub struct Sorted {
    packed: PackedRows,
    rows: u32,
    words: SpillVec<u64>,
}

impl Sorted {
    /// Errors: more rows than can be numbered.
    pub fn new(rows: SortedRows) -> Sorted {
        let (packed, words) = rows.into_vec();
        let rows = u32::try_from(words.len() / packed.words() as u64).unwrap_or_else(|_| {
            let message = format!("more than {} records to compare", u32::MAX);
            raise(&Error::new(ErrorKind::LimitExceeded, message))
        });
        Sorted {
            packed,
            rows,
            words,
        }
    }

    pub fn geometry(&self) -> &Geometry {
        self.packed.geometry()
    }

    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Passes these rows to `to`.
    pub fn each(&mut self, rows: Range<u32>, to: &mut dyn FnMut(SignatureRow<'_>)) {
        let width = self.packed.words() as u64;
        for i in rows.map(u64::from) {
            check_for_interrupts();
            let words = self.words.get(i * width..(i + 1) * width);
            to(self.packed.row(words));
        }
    }

    /// The least and the greatest popcount of some rows.
    pub fn popcounts(&mut self, rows: &Range<u32>) -> (u32, u32) {
        let mut of = |row: u32| {
            let mut popcount = 0;
            self.each(row..row + 1, &mut |row| popcount = row.popcount);
            popcount
        };
        (of(rows.start), of(rows.end - 1))
    }

    /// These rows as a piece of a table and side. Sorting takes `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn piece(
        &mut self,
        table: (TableNumber, u8),
        rows: impl Iterator<Item = u32>,
        memory: usize,
    ) -> JoinPiece<'static> {
        let geometry = *self.geometry();
        JoinPiece::of_rows(table, geometry, memory, |to| {
            rows.for_each(|row| self.each(row..row + 1, to))
        })
    }
}
