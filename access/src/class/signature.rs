//! The signatures of an index: values of type `bloom` or `minhash_bits`, and what is searched for, a query with a
//! threshold of either.

use super::strategy;
use crate::page::SigfileIndex;
use base::{Error, ErrorKind};
use pg::error::OrRaise;
use pg::ffi;
use pg::tree::list::nodes;
use pg::tree::node::{bare, cast, Node};
use pgrx::pg_sys::{self, NodeTag};
use sigfile::{Geometry, Meta, Query, RowBits, RowShape};
use signature::similarity::Edits;
use types::objects::{function, is_bits, is_bits_query, Purpose};
use types::{Bloom, BloomQuery, MinhashBits, MinhashQuery};

/// Which type the signatures have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureType {
    /// `bloom`
    Filter,
    /// `minhash_bits`
    Bits,
}

/// A signature, as the index has it.
pub struct RowSignature {
    /// That of [`RowShape`].
    pub tag: u128,
    pub words: Vec<u64>,
    /// One more than there are bits for the empty set of tokens.
    pub popcount: u32,
}

/// What a query asks for.
pub struct AskedFor {
    pub signature: RowSignature,
    /// That of users.
    pub threshold: f64,
    /// What a text within some edits has besides.
    pub edits: Option<Edits>,
}

impl SignatureType {
    /// That of the operator class.
    pub fn new(index: SigfileIndex<'_>) -> SignatureType {
        // SAFETY: the relation is open, and the types of its key columns are kept with it.
        let input = unsafe {
            let last = key_columns(index.relation()) - 1;
            *(*index.relation()).rd_opcintype.add(last)
        };
        match is_bits(input) || is_bits_query(input) {
            true => SignatureType::Bits,
            false => SignatureType::Filter,
        }
    }

    /// The name of the type.
    pub fn name(self) -> &'static str {
        match self {
            SignatureType::Filter => "bloom",
            SignatureType::Bits => "minhash_bits",
        }
    }

    /// That of values of one of the two types.
    pub fn of_type(of_type: pg_sys::Oid) -> SignatureType {
        match is_bits(of_type) {
            true => SignatureType::Bits,
            false => SignatureType::Filter,
        }
    }

    /// That of the rows of an index, which it has.
    pub fn of_rows(meta: &Meta) -> SignatureType {
        match RowShape::of_tag(meta.shape()) {
            RowShape::Filter(_) => SignatureType::Filter,
            RowShape::Bits(_) => SignatureType::Bits,
        }
    }

    /// A value of the type.
    ///
    /// # Safety
    /// `value` is one, and not NULL.
    pub unsafe fn signature(self, value: pg_sys::Datum) -> RowSignature {
        // SAFETY: the caller knows the type.
        unsafe {
            match self {
                SignatureType::Filter => RowSignature::new(&Bloom::from_raw(value).view().into()),
                SignatureType::Bits => {
                    RowSignature::new(&MinhashBits::from_raw(value).view().into())
                }
            }
        }
    }

    /// A query of the type.
    ///
    /// Errors: out of memory.
    ///
    /// # Safety
    /// `value` is a `bloom_query`, or a `minhash_query`, and not NULL.
    pub unsafe fn query(self, value: pg_sys::Datum) -> AskedFor {
        // SAFETY: the caller knows the type.
        unsafe {
            match self {
                SignatureType::Filter => {
                    let query = BloomQuery::from_raw(value);
                    let query = query.view();
                    AskedFor {
                        signature: RowSignature::new(&query.signature.into()),
                        threshold: query.threshold,
                        edits: Edits::new(&query).or_raise(),
                    }
                }
                SignatureType::Bits => {
                    let query = MinhashQuery::from_raw(value);
                    let query = query.view();
                    AskedFor {
                        signature: RowSignature::new(&query.sketch.into()),
                        threshold: query.threshold,
                        edits: None,
                    }
                }
            }
        }
    }
}

impl RowSignature {
    /// Those of a value.
    pub fn new(value: &RowBits<'_>) -> RowSignature {
        let mut words = Vec::new();
        value.append_words(&mut words);
        RowSignature {
            tag: value.tag,
            words,
            popcount: value.popcount,
        }
    }

    /// A search for what is similar. `threshold` is that of users.
    pub fn query(&self, geometry: &Geometry, threshold: f64) -> Query {
        let asked = geometry.measure.asked(threshold);
        match self.popcount > geometry.bits {
            true => Query::without_bits(geometry, asked),
            false => Query::new(geometry, &self.words, asked),
        }
    }
}

/// The error of a query of a text in an index of queries.
pub fn edits_in_index() -> Error {
    Error::new(
        ErrorKind::NotSupported,
        "query for what is within some edits of a text cannot be indexed",
    )
    .detail("An index keeps of a query its signature and its threshold.")
    .hint("Index bloom_query(signature, threshold).")
}

/// The error of signatures of two shapes in one index.
pub fn mismatch(new: u128, old: u128) -> Error {
    RowShape::mismatch(new, old)
}

// What a sigfile index is on: a column of signatures, or `bloom_query(signature, constant)` of a constraint.

/// How many key columns an index has; that of the signatures is the last.
///
/// # Safety
/// `index` is an open index.
pub unsafe fn key_columns(index: pg_sys::Relation) -> usize {
    // SAFETY: the relation cache keeps the row of pg_index with an open index.
    unsafe { (*(*index).rd_index).indnkeyatts as usize }
}

/// The column of signatures that a sigfile index has: its own, or that in its expression.
///
/// # Safety
/// `index` is an open sigfile index.
pub unsafe fn signature_column(index: pg_sys::Relation) -> Option<pg_sys::AttrNumber> {
    // SAFETY: the index is open. If its last column is an expression, that is the last of its expressions.
    unsafe {
        let columns = key_columns(index);
        let column = (*(*index).rd_index).indkey.values.as_slice(columns)[columns - 1];
        if column != 0 {
            return Some(column);
        }
        let expressions = nodes(ffi::RelationGetIndexExpressions(index));
        let signature = queried_signature(*expressions.last()?)?;
        let column = cast::<pg_sys::Var>(bare(signature.of), NodeTag::T_Var)?;
        Some(column.varattno)
    }
}

/// The signature in a call of `bloom_query`.
pub struct QueriedSignature {
    /// An expression that gives the signature.
    pub of: *mut Node,
    /// Its type.
    pub bloom: pg_sys::Oid,
}

/// `None` for another expression, or a threshold that may be NULL: then the query is, too.
///
/// # Safety
/// `expression` is that of an index.
pub unsafe fn queried_signature(expression: *mut Node) -> Option<QueriedSignature> {
    // SAFETY: a node of an index; a function of this purpose has two arguments.
    unsafe {
        let query = cast::<pg_sys::FuncExpr>(expression, NodeTag::T_FuncExpr)?;
        let called = function(query.funcid).filter(|f| f.purpose == Purpose::Query)?;
        let args = nodes(query.args);
        let threshold = cast::<pg_sys::Const>(args[1], NodeTag::T_Const)?;
        (!threshold.constisnull).then_some(QueriedSignature {
            of: args[0],
            bloom: called.first,
        })
    }
}

// The operators of a class.

/// Whether rows of the index have thresholds: its operator class is one for `bloom_query` then.
pub fn has_thresholds(index: SigfileIndex<'_>) -> bool {
    // SAFETY: the relation is open, and the families and types of its key columns are kept with it.
    unsafe {
        let relation = &*index.relation();
        let last = key_columns(index.relation()) - 1;
        let family = *relation.rd_opfamily.add(last);
        let input = *relation.rd_opcintype.add(last);
        let operator = pg_sys::get_opfamily_member(family, input, input, strategy::MATCH as i16);
        operator != pg_sys::InvalidOid
    }
}

/// The operators of a family.
///
/// # Safety
/// In a transaction.
pub unsafe fn operators(family: pg_sys::Oid) -> Vec<pg_sys::FormData_pg_amop> {
    // SAFETY: in a transaction; the rows of the list are copied before it is released.
    unsafe {
        let list = pg_sys::SearchSysCacheList(
            pg_sys::SysCacheIdentifier::AMOPSTRATEGY as i32,
            1,
            pg_sys::Datum::from(family),
            pg_sys::Datum::null(),
            pg_sys::Datum::null(),
        );
        let n = (*list).n_members as usize;
        let members = (*list).members.as_slice(n);
        let rows = members
            .iter()
            .map(|&m| {
                *pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_amop>(&raw mut (*m).tuple)
            })
            .collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}
