//! What is searched: a table, and the indexes that serve the search.

use std::cmp::Reverse;

use pgrx::pg_sys;

use crate::guard::compare::ComparedTable;
use access::{self, SignatureType};
use pg::catalog;
use pg::ffi;
use pg::relation::OpenRelation;
use pg::tree::{list, node};
use types::objects::{is_bits_match, is_match};

/// A table that is searched, with its best indexes on the column of signatures.
pub struct SearchTarget {
    pub table: ComparedTable,
    /// For a row; `None`: the whole table is read.
    pub index: Option<SearchIndex>,
    /// For many rows at once: a sigfile index, which may be another one.
    pub bulk_index: Option<pg_sys::Oid>,
}

/// An index that can be searched for similar signatures, and how.
pub struct SearchIndex {
    pub oid: pg_sys::Oid,
    /// By `bloom % bloom_query`, or `minhash_bits % minhash_query`.
    pub signature: IndexKey,
    /// By equality with values of [`WithinColumns`](crate::guard::compare::within::WithinColumns), each with its place
    /// among them.
    pub equal: Vec<(IndexKey, usize)>,
}

/// A column of an index that a search compares with a value.
pub struct IndexKey {
    /// The number of the column in the index.
    pub column: i16,
    /// The number of the operator in the column's operator family, and its function.
    pub strategy: u16,
    pub function: pg_sys::Oid,
    pub collation: pg_sys::Oid,
}

impl SearchTarget {
    /// For a row the index is sigfile before others, then that with the most columns that must be equal, then one of
    /// one column before several. The table is locked.
    pub fn new(table: ComparedTable) -> SearchTarget {
        let indexes = OpenRelation::locked_table(table.oid).indexes().into_iter();
        let usable = indexes.filter_map(|oid| {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            let usable = SearchIndex::new(&index, &table)?;
            // SAFETY: an open index has its row of pg_index.
            let has_several = unsafe { (*index.rd_index).indnkeyatts } > 1;
            let rank = (
                Reverse(is_sigfile(&index)),
                Reverse(usable.equal.len()),
                has_several,
                oid.to_u32(),
            );
            Some((rank, usable))
        });
        let mut usable: Vec<_> = usable.collect();
        usable.sort_unstable_by_key(|(rank, _)| *rank);
        let serves_many = usable
            .iter()
            .find(|((is_sigfile, _, has_several, _), _)| is_sigfile.0 && !has_several);
        SearchTarget {
            bulk_index: serves_many.map(|(_, index)| index.oid),
            index: usable.into_iter().next().map(|(_, index)| index),
            table,
        }
    }
}

impl SearchIndex {
    /// `None` unless the index has every row with a signature, and finds it by the operator `%` of its type.
    ///
    /// That an index is too new for old snapshots (indcheckxmin) does not matter: a dirty snapshot sees only the newest
    /// version of a row.
    fn new(index: &OpenRelation, table: &ComparedTable) -> Option<SearchIndex> {
        let column = table.signature.number;
        let by_key = table.signature.of_type.is_none();
        let is_match: Box<dyn Fn(pg_sys::Oid) -> bool> = match table.signature.of_type {
            Some(SignatureType::Filter) => Box::new(is_match),
            Some(SignatureType::Bits) => Box::new(is_bits_match),
            None => {
                let equality = equality(catalog::column_type(table.oid, column));
                Box::new(move |operator| operator == equality)
            }
        };
        // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns.
        let (form, columns) = unsafe {
            let form = &*index.rd_index;
            (form, form.indkey.values.as_slice(form.indnkeyatts as usize))
        };
        let is_whole = form.indisvalid && form.indisready && form.indislive;
        let is_other = by_key && (form.indnkeyatts != 1 || !form.indisunique);
        if !is_whole || is_other || !has_every_signature(index, column) {
            return None;
        }
        let mut places = columns.iter().enumerate();
        let signature = places.find_map(|(i, &of_table)| {
            let has_signatures = of_table == column || is_of_constraint(index, column);
            has_signatures
                .then(|| IndexKey::of(index, i, &is_match))
                .flatten()
        })?;
        let equal = columns.iter().enumerate().filter_map(|(i, &of_table)| {
            let (place, equality, collation) = table.within.equality(of_table)?;
            let key = IndexKey::of(index, i, |operator| operator == equality)?;
            (key.collation == collation).then_some((key, place))
        });
        Some(SearchIndex {
            oid: form.indexrelid,
            signature,
            equal: equal.collect(),
        })
    }
}

impl IndexKey {
    /// The key column of this place, by the operator of its operator family that is wanted.
    fn of(
        index: &OpenRelation,
        place: usize,
        is_wanted: impl Fn(pg_sys::Oid) -> bool,
    ) -> Option<IndexKey> {
        // SAFETY: an open index has as many operator families and collations as key columns.
        unsafe {
            let family = *index.rd_opfamily.add(place);
            let mut operators = access::operators(family).into_iter();
            let operator = operators.find(|o| is_wanted(o.amopopr))?;
            Some(IndexKey {
                column: place as i16 + 1,
                strategy: operator.amopstrategy as u16,
                function: pg_sys::get_opcode(operator.amopopr),
                collation: *index.rd_indcollation.add(place),
            })
        }
    }
}

/// The default equality operator of a type.
fn equality(of_type: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a look-up in the type cache, whose entries stay.
    unsafe { (*pg_sys::lookup_type_cache(of_type, pg_sys::TYPECACHE_EQ_OPR as i32)).eq_opr }
}

fn is_sigfile(index: &OpenRelation) -> bool {
    // SAFETY: the index is open.
    unsafe { access::is_sigfile(index.pointer()) }
}

/// Whether an index is that of a constraint on `bloom_query(column, …)`, which has the signatures of the column.
fn is_of_constraint(index: &OpenRelation, column: i16) -> bool {
    // SAFETY: the second function is called only for a sigfile index, and the index is open.
    is_sigfile(index) && unsafe { access::signature_column(index.pointer()) == Some(column) }
}

/// Whether an index leaves out no rows, or only those whose signature is NULL.
fn has_every_signature(index: &OpenRelation, column: i16) -> bool {
    // SAFETY: the index is open. Its predicate is a list of expressions, and a node with a type's tag is of that type.
    unsafe {
        let parts = list::nodes(ffi::RelationGetIndexPredicate(index.pointer()));
        parts.iter().all(|&part| {
            let Some(test) = node::cast::<pg_sys::NullTest>(part, pg_sys::NodeTag::T_NullTest)
            else {
                return false;
            };
            let var = node::cast::<pg_sys::Var>(test.arg.cast(), pg_sys::NodeTag::T_Var);
            test.nulltesttype == pg_sys::NullTestType::IS_NOT_NULL
                && var.is_some_and(|v| v.varattno == column)
        })
    }
}
