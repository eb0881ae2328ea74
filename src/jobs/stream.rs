//! Joining rows that a query gives: where there is no index, behind views and policies, and for several signatures a
//! record. The rows are sorted by bit count, in temporary files if they are many, and joined in pieces that fit into
//! memory.

use std::sync::atomic::AtomicU64;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::chunk::{MAX_CHUNKS, MIN_ROWS};
use bloom_ident_core::sigfile::join::Folds;
use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::rows::to_words;
use bloom_ident_core::sigfile::{Geometry, Row};
use bloom_ident_core::similarity::least_common;
use bloom_ident_core::{Error, Kind};

use super::cursor::{Cursor, Sql};
use super::file::Texts;
use super::join::{Match, Pairing, Work, Worker};
use super::keys::KeyType;
use super::pieces::Piece;
use super::profiles::Profiles;
use super::relation::Records;
use super::sorted::Sorted;
use crate::error::{raise, OrRaise};
use crate::sigfile::{Sorting, PAGE_WORDS};
use crate::types::Bloom;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// The signatures of one column, with the number of their record, from 1, as their place.
pub struct Attribute {
    tag: u64,
    geometry: Option<Geometry>,
    rows: Option<Sorting>,
    memory: usize,
}

/// How rows are kept: on pages as an index has them.
///
/// Errors: a signature that does not fit such a page.
fn geometry_of(shape: Shape) -> Geometry {
    let bits = shape.m();
    Geometry::new(PAGE_WORDS, bits, false).unwrap_or_else(|_| {
        let most = Geometry::most_bits(PAGE_WORDS);
        let message = format!("signatures of {bits} bits are too large to find similar ones");
        raise(
            &Error::new(Kind::LimitExceeded, message)
                .detail(format!("They can have at most {most} bits."))
                .hint("Use a smaller shape."),
        )
    })
}

impl Attribute {
    fn new(memory: usize) -> Attribute {
        Attribute {
            tag: 0,
            geometry: None,
            rows: None,
            memory,
        }
    }

    fn add(&mut self, signature: &Bloom<'_>, place: u64, words: &mut Vec<u64>) {
        let view = signature.view();
        let geometry = *self.geometry.get_or_insert_with(|| {
            self.tag = view.tag();
            geometry_of(view.shape())
        });
        if view.tag() != self.tag {
            raise(&Shape::mismatch(view.shape(), Shape::of_tag(self.tag)));
        }
        words.clear();
        to_words(view.bits(), geometry.stride, words);
        let row = Row {
            words,
            count: view.count(),
            threshold: 0.0,
            place,
        };
        let memory = self.memory;
        let rows = self
            .rows
            .get_or_insert_with(|| Sorting::new(geometry, memory));
        rows.push(row).or_raise();
    }

    /// All rows in the order of their bit counts; `None` if there are none.
    fn sorted(self) -> Option<Sorted> {
        let geometry = self.geometry?;
        let runs = self.rows?.finish().or_raise();
        Some(Sorted::new(geometry, runs))
    }

    pub fn shape(&self) -> Option<Shape> {
        self.geometry.map(|_| Shape::of_tag(self.tag))
    }
}

/// The records of a relation as the caller sees them.
pub struct Stream {
    pub keys: Texts,
    pub attributes: Vec<Attribute>,
    /// Records come in the order of their keys.
    pub ordered: bool,
    pub records: u64,
}

impl Stream {
    /// Runs the query as the caller. `memory` bytes are used for the rows, all profiles go to `profiles`, too.
    ///
    /// Errors: as the query; two shapes in a column.
    pub fn read(records: &Records, memory: usize, mut profiles: Option<&mut Profiles>) -> Stream {
        let n = records.signatures.len();
        let mut stream = Stream {
            keys: Texts::new(),
            attributes: (0..n).map(|_| Attribute::new(memory / n)).collect(),
            ordered: KeyType::new(&records.key).is_ordered(),
            records: 0,
        };
        let cursor = Cursor::open(records.query(stream.ordered), &[], BATCH);
        let mut output = cursor.output(0);
        let mut words = Vec::new();
        cursor.each(|row| {
            let keys = &mut stream.keys;
            match row.datum(0) {
                Some(key) => output.show(key, |key| keys.push(Some(key))),
                None => keys.push(None),
            }
            stream.records += 1;
            let signatures: Vec<Option<Bloom<'_>>> = (0..n)
                .map(|k| {
                    let datum = row.datum(k + 1)?;
                    // SAFETY: the query has a key and n signatures, which live as long as the row.
                    Some(unsafe { Bloom::from_raw(datum) })
                })
                .collect();
            for (attribute, signature) in stream.attributes.iter_mut().zip(&signatures) {
                if let Some(signature) = signature {
                    attribute.add(signature, stream.records, &mut words);
                }
            }
            if let Some(profiles) = &mut profiles {
                profiles.push(&signatures);
            }
        });
        stream
    }
}

impl Records {
    /// Key and signatures of all records that have any, by key if that has an order.
    fn query(&self, ordered: bool) -> Sql {
        let columns = || self.signatures.iter().map(|column| column.name.as_c_str());
        let mut sql = Sql::new("SELECT ")
            .names([self.key.name.as_c_str()].into_iter().chain(columns()))
            .text(" FROM ")
            .relation(self.oid);
        for (i, column) in columns().enumerate() {
            sql = sql.text(if i == 0 { " WHERE " } else { " OR " });
            sql = sql.name(column).text(" IS NOT NULL");
        }
        if ordered {
            sql = sql.text(" ORDER BY ").name(&self.key.name);
        }
        sql
    }
}

/// Memory of a join in any case: pieces of a few rows would take for ever.
const LEAST_MEMORY: usize = 4 << 20;

/// How many rows a piece can have, so that two of them and what is needed to make and to join them take `memory` bytes.
fn rows_of_a_piece(geometry: &Geometry, memory: usize) -> u32 {
    // the first row of each bit count
    let fixed = 2 * size_of::<u32>() * geometry.bits as usize;
    let page = 8 * geometry.page_words.div_ceil(geometry.capacity);
    // what is sorted, and folded
    let passing = 2 * size_of::<u64>() + Folds::ROW;
    // a posting takes four bytes and a little more
    let postings = 5 * (geometry.stride * 64 / 16).min(MAX_CHUNKS);
    let memory = memory.max(LEAST_MEMORY) - fixed;
    let rows = memory / (2 * (page + postings) + passing);
    let without = memory / (2 * page + passing);
    let rows = rows.max(without.min(MIN_ROWS as usize - 1));
    rows.min(MAX_ROWS as usize) as u32
}

/// Joins the rows of an attribute, in pieces; with `right` those of one stream with those of another.
///
/// `memory` bytes are used besides what the rows take already.
pub fn join(
    left: Attribute,
    right: Option<Attribute>,
    threshold: f64,
    memory: usize,
    mut each: impl FnMut(&Match),
    mut progress: impl FnMut(u64, u64),
) {
    if let (Some(a), Some(b)) = (left.shape(), right.as_ref().and_then(Attribute::shape)) {
        if a != b {
            raise(&Shape::mismatch(a, b));
        }
    }
    let linkage = right.is_some();
    let Some(mut left) = left.sorted() else {
        return;
    };
    let mut right = match right {
        Some(right) => match right.sorted() {
            Some(right) => Some(right),
            None => return,
        },
        None => None,
    };
    let band = rows_of_a_piece(left.geometry(), memory);
    let bands = |rows: u32| -> Vec<std::ops::Range<u32>> {
        let n = rows.div_ceil(band).max(1);
        let size = rows.div_ceil(n).max(1);
        (0..n)
            .map(|i| (i * size).min(rows)..((i + 1) * size).min(rows))
            .collect()
    };
    let left_bands = bands(left.rows());
    let right_bands = right
        .as_ref()
        .map_or(left_bands.clone(), |right| bands(right.rows()));
    let (mut done, all) = (0, (left_bands.len() * right_bands.len()) as u64);
    for (i, a) in left_bands.iter().enumerate() {
        let mut first = left.piece(0, a.clone(), memory / 4);
        for (j, b) in right_bands.iter().enumerate() {
            let (base, total) = (done, all);
            let mut run = |pieces: &[Piece], wanted: &dyn Fn(&Piece, &Piece) -> bool| {
                let pairing = if linkage {
                    Pairing::Between(1)
                } else {
                    Pairing::All
                };
                let work = Work::new(pieces, &pairing, threshold, memory / 4, wanted);
                let next = AtomicU64::new(0);
                let mut worker = Worker::new(&work);
                while worker.turn(&next, &mut each) {
                    let units = work.units().max(1);
                    let here = next.load(std::sync::atomic::Ordering::Relaxed).min(units);
                    progress(base * 1000 + 1000 * here / units, total * 1000);
                }
            };
            done += 1;
            if !linkage && j == i {
                run(std::slice::from_ref(&first), &|_, _| true);
                continue;
            }
            if !linkage && j < i {
                continue;
            }
            let (other, number) = match &mut right {
                Some(right) => (right, 1),
                None => (&mut left, 0),
            };
            let counts = other.counts(b);
            let own = first.segment();
            let own = (own.count_of(0), own.count_of(own.rows.saturating_sub(1)));
            let apart = |low: u32, high: u32| least_common(low, high, threshold).is_none();
            if own.1 < counts.0 && apart(own.1, counts.0)
                || counts.1 < own.0 && apart(counts.1, own.0)
            {
                continue;
            }
            let second = other.piece(number, b.clone(), memory / 4);
            let pieces = [first, second];
            run(&pieces, &|x, y| !std::ptr::eq(x, y));
            let [back, _] = pieces;
            first = back;
        }
    }
}
