//! Joining rows that a query gives: where there is no index, behind views and policies, and for several signatures a
//! record. The rows are sorted by bit count, in temporary files if they are many, and joined in pieces that fit into
//! memory.

use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicU64;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::rows::to_words;
use bloom_ident_core::sigfile::{Geometry, Row};
use bloom_ident_core::similarity::least_common;
use pgrx::pg_sys;

use super::file::Texts;
use super::join::{Match, Pairing, Work, Worker};
use super::keys::KeyType;
use super::pieces::Piece;
use super::profiles::Profiles;
use super::relation::Records;
use super::sorted::Sorted;
use crate::error::{raise, OrRaise};
use crate::sigfile::{sorted, Collected, Spilled, PAGE_WORDS};
use crate::types::Bloom;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// The signatures of one column, with the number of their record, from 1, as their place.
pub struct Attribute {
    tag: u64,
    geometry: Option<Geometry>,
    collected: Option<Collected>,
    spilled: Vec<Spilled>,
    memory: usize,
}

impl Attribute {
    fn new(memory: usize) -> Attribute {
        Attribute {
            tag: 0,
            geometry: None,
            collected: None,
            spilled: Vec::new(),
            memory,
        }
    }

    fn add(&mut self, signature: &Bloom<'_>, place: u64, words: &mut Vec<u64>) {
        let view = signature.view();
        let geometry = *self.geometry.get_or_insert_with(|| {
            self.tag = view.tag();
            Geometry::new(PAGE_WORDS, view.shape().m(), false).or_raise()
        });
        if view.tag() != self.tag {
            raise(&Shape::mismatch(view.shape(), Shape::of_tag(self.tag)));
        }
        words.clear();
        to_words(view.bits(), geometry.stride, words);
        let collected = self
            .collected
            .get_or_insert_with(|| Collected::new(geometry));
        if collected.bytes(collected.len() + 1) > self.memory {
            let full = sorted(self.collected.take().expect("just there"));
            self.spilled.push(Spilled::write(&full));
            self.collected = Some(Collected::new(geometry));
        }
        let row = Row {
            words,
            count: view.count(),
            threshold: 0.0,
            place,
        };
        self.collected
            .as_mut()
            .expect("there is one")
            .push(row)
            .or_raise();
    }

    /// All rows in the order of their bit counts; `None` if there are none.
    fn sorted(self) -> Option<Sorted> {
        let geometry = self.geometry?;
        Some(Sorted::new(geometry, self.spilled, self.collected))
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

fn quote(name: &CStr) -> String {
    // SAFETY: a zero-terminated string; the result is one.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())) }
        .to_string_lossy()
        .into_owned()
}

impl Stream {
    /// Runs the query as the caller. `memory` bytes are used for the rows, all profiles go to `profiles`, too.
    ///
    /// Errors: as the query; two shapes in a column.
    pub fn read(records: &Records, memory: usize, mut profiles: Option<&mut Profiles>) -> Stream {
        let mut key_type = KeyType::new(&records.key);
        let n = records.signatures.len();
        let mut stream = Stream {
            keys: Texts::new(),
            attributes: (0..n).map(|_| Attribute::new(memory / n)).collect(),
            ordered: key_type.is_ordered(),
            records: 0,
        };
        let query = records.query(stream.ordered);
        let mut words = Vec::new();
        // SAFETY: the protocol of the SPI; the query has a key and n signatures, in this order. Rows are
        // freed batch by batch.
        unsafe {
            // files outlive the SPI's memory
            let outside = pg_sys::CurrentMemoryContext;
            pg_sys::SPI_connect();
            let portal = pg_sys::SPI_cursor_open_with_args(
                std::ptr::null(),
                query.as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null(),
                true,
                0,
            );
            loop {
                pg_sys::SPI_cursor_fetch(portal, true, BATCH);
                let fetched = pg_sys::SPI_processed as usize;
                if fetched == 0 {
                    break;
                }
                let table = &*pg_sys::SPI_tuptable;
                let inside = pg_sys::MemoryContextSwitchTo(outside);
                for i in 0..fetched {
                    let tuple = *table.vals.add(i);
                    let column = |number: usize| {
                        let mut is_null = false;
                        let datum = pg_sys::SPI_getbinval(
                            tuple,
                            table.tupdesc,
                            number as i32,
                            &mut is_null,
                        );
                        (!is_null).then_some(datum)
                    };
                    let key = column(1).map(|key| key_type.show(key));
                    stream.keys.push(key.as_ref().map(|key| key.as_bytes()));
                    stream.records += 1;
                    let signatures: Vec<Option<Bloom<'_>>> = (0..n)
                        .map(|k| column(k + 2).map(|datum| Bloom::from_raw(datum)))
                        .collect();
                    for (attribute, signature) in stream.attributes.iter_mut().zip(&signatures) {
                        if let Some(signature) = signature {
                            attribute.add(signature, stream.records, &mut words);
                        }
                    }
                    if let Some(profiles) = &mut profiles {
                        profiles.push(&signatures);
                    }
                }
                pg_sys::MemoryContextSwitchTo(inside);
                pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
                pgrx::check_for_interrupts!();
            }
            pg_sys::SPI_cursor_close(portal);
            pg_sys::SPI_finish();
        }
        stream
    }
}

impl Records {
    /// Key and signatures of all records that have any, by key if that has an order.
    fn query(&self, ordered: bool) -> CString {
        let columns: Vec<String> = self
            .signatures
            .iter()
            .map(|column| quote(&column.name))
            .collect();
        // SAFETY: the relation is locked, so it has a name and a schema.
        let relation = unsafe {
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(self.oid));
            let name = pg_sys::quote_qualified_identifier(schema, pg_sys::get_rel_name(self.oid));
            CStr::from_ptr(name).to_string_lossy().into_owned()
        };
        let present: Vec<String> = columns.iter().map(|c| format!("{c} IS NOT NULL")).collect();
        let key = quote(&self.key.name);
        let order = if ordered {
            format!(" ORDER BY {key}")
        } else {
            String::new()
        };
        let query = format!(
            "SELECT {key}, {} FROM {relation} WHERE {}{order}",
            columns.join(", "),
            present.join(" OR ")
        );
        CString::new(query).expect("no zero byte in a name")
    }
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
    // two pieces, and the rows that one is made of: a row with some posting lists, and sorted
    let stride = left.geometry().stride;
    let row = 2 * (8 * stride + 14 + 5 * (stride * 64 / 16)) + 8 * (stride + 4) + 20;
    let band = u32::try_from(memory / row).unwrap_or(u32::MAX).max(1 << 12);
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
