//! Joining rows that a query gives: where there is no index, behind views and policies, and for several signatures a
//! record.

use bloom_ident_core::bits::to_words;
use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use bloom_ident_core::{Error, ErrorKind};

use crate::pairs::bands::Bands;
use crate::pairs::join::Match;
use crate::pairs::keys::KeyType;
use crate::pairs::profiles::Profiles;
use crate::pairs::relation::Records;
use crate::pairs::sorted::Sorted;
use crate::pairs::unique::{self, repeated, Successive};
use crate::pg::cursor::{Cursor, Sql};
use crate::pg::error::{raise, OrRaise};
use crate::pg::file::Texts;
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
            &Error::new(ErrorKind::LimitExceeded, message)
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
        let row = SignatureRow {
            words,
            popcount: view.popcount(),
            threshold: 0.0,
            tid: place,
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
    /// Errors: as the query; two shapes in a column; two records with the same key.
    pub fn read(records: &Records, memory: usize, mut profiles: Option<&mut Profiles>) -> Stream {
        let n = records.signatures.len();
        let mut stream = Stream {
            keys: Texts::new(),
            attributes: (0..n).map(|_| Attribute::new(memory / n)).collect(),
            ordered: KeyType::new(&records.key).is_ordered(),
            records: 0,
        };
        let mut successive = Successive::new(&records.key);
        if successive.is_none() {
            unique::check(records);
        }
        let cursor = Cursor::open(records.query(stream.ordered), &[], BATCH);
        let mut output = cursor.output(0);
        let mut words = Vec::new();
        cursor.each(|row| {
            let keys = &mut stream.keys;
            match row.datum(0) {
                Some(key) => {
                    if successive.as_mut().is_some_and(|last| last.is_again(key)) {
                        output.show(key, |key| repeated(key, records));
                    }
                    output.show(key, |key| keys.push(Some(key)));
                }
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

/// Joins the rows of an attribute; with `right` those of one stream with those of another.
///
/// `memory` bytes are used besides what the rows take already.
pub fn join(
    left: Attribute,
    right: Option<Attribute>,
    threshold: f64,
    memory: usize,
    each: impl FnMut(&Match),
    progress: impl FnMut(u64, u64),
) {
    if let (Some(a), Some(b)) = (left.shape(), right.as_ref().and_then(Attribute::shape)) {
        if a != b {
            raise(&Shape::mismatch(a, b));
        }
    }
    let linkage = right.is_some();
    let Some(left) = left.sorted() else {
        return;
    };
    let right = right.and_then(Attribute::sorted);
    if linkage && right.is_none() {
        return;
    }
    let bands = Bands {
        sides: [Some(left), right],
        tables: [0, 0],
        linkage,
        segments: &[],
        threshold,
        memory,
    };
    bands.join(each, progress);
}
