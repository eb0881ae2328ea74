//! The index that serves a search.

use pgrx::pg_sys;

use crate::guard::compare::within::WithinColumns;
use crate::guard::tables::column::SignatureColumn;
use access::{self, SignatureType};
use pg::ffi;
use pg::relation::OpenRelation;
use pg::tree::{list, node};
use types::objects::{is_bits_match, is_match};

/// An index that can be searched for similar signatures, and how.
pub struct SearchIndex {
    pub oid: pg_sys::Oid,
    /// The number of the column in the index.
    pub column: i16,
    /// The strategy number of `bloom % bloom_query`, or `minhash_bits % minhash_query`, in the index's operator family.
    pub strategy: u16,
    /// The function of that operator.
    pub function: pg_sys::Oid,
    /// The columns of the index, in their order, that it can compare with the values of [`WithinColumns`].
    pub equal: Vec<EqualKey>,
    /// Whether it is a sigfile index of this column alone, so that it can be searched for many rows at once.
    serves_many: bool,
}

/// The indexes that serve searches in a table.
pub struct SearchIndexes {
    /// For a row; `None`: the whole table is read.
    pub one: Option<SearchIndex>,
    /// For many rows at once: a sigfile index, which may be another one.
    pub many: Option<pg_sys::Oid>,
}

/// A column of an index that a search compares with a value.
pub struct EqualKey {
    /// The number of the column in the index.
    pub column: i16,
    /// The strategy number of the equality operator in the column's operator family.
    pub strategy: u16,
    /// The function of that operator.
    pub function: pg_sys::Oid,
    pub collation: pg_sys::Oid,
    /// The place of the value among those of [`WithinColumns`].
    pub place: usize,
}

impl SearchIndex {
    /// The best indexes on a column of signatures. For a row: sigfile before others, then that with the most columns
    /// that must be equal, then one column before several. The table is locked.
    pub fn best(
        table: &OpenRelation,
        column: SignatureColumn,
        within: &WithinColumns,
    ) -> SearchIndexes {
        let usable = table.indexes().into_iter().filter_map(|oid| {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            let usable = SearchIndex::of(&index, column, within)?;
            // SAFETY: an open index has its row of pg_index.
            let has_several = unsafe { (*index.rd_index).indnkeyatts } > 1;
            let equal = std::cmp::Reverse(usable.equal.len());
            let rank = (!is_sigfile(&index), equal, has_several, oid.to_u32());
            Some((rank, usable))
        });
        let mut usable: Vec<_> = usable.collect();
        usable.sort_unstable_by_key(|(rank, _)| *rank);
        let many = usable.iter().find(|(_, index)| index.serves_many);
        let many = many.map(|(_, index)| index.oid);
        let one = usable.into_iter().next().map(|(_, index)| index);
        SearchIndexes { one, many }
    }

    /// `None` unless the index has every row with a signature, and finds it by the operator `%` of its type.
    ///
    /// That an index is too new for old snapshots (indcheckxmin) does not matter: a dirty snapshot sees only the newest
    /// version of a row.
    fn of(
        index: &OpenRelation,
        SignatureColumn {
            number: column,
            of_type,
        }: SignatureColumn,
        within: &WithinColumns,
    ) -> Option<SearchIndex> {
        let is_match = match of_type {
            SignatureType::Filter => is_match,
            SignatureType::Bits => is_bits_match,
        };
        // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns, and as many
        // operator families as key columns.
        unsafe {
            let form = &*index.rd_index;
            if !form.indisvalid || !form.indisready || !form.indislive {
                return None;
            }
            if !has_every_signature(index, column) {
                return None;
            }
            let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
            for (i, &of_table) in columns.iter().enumerate() {
                if of_table != column && !is_of_constraint(index, column) {
                    continue;
                }
                let family = *index.rd_opfamily.add(i);
                let mut operators = access::operators(family).into_iter();
                if let Some(operator) = operators.find(|o| is_match(o.amopopr)) {
                    return Some(SearchIndex {
                        oid: form.indexrelid,
                        column: i as i16 + 1,
                        strategy: operator.amopstrategy as u16,
                        function: pg_sys::get_opcode(operator.amopopr),
                        equal: equal_keys(index, columns, within),
                        serves_many: is_sigfile(index) && columns.len() == 1,
                    });
                }
            }
            None
        }
    }
}

/// The columns of an index, of which those of the table are `columns`, that it compares as the guard does.
fn equal_keys(index: &OpenRelation, columns: &[i16], within: &WithinColumns) -> Vec<EqualKey> {
    let key = |(i, &of_table): (usize, &i16)| {
        let (place, equality) = within.equality(of_table)?;
        // SAFETY: an open index has as many operator families and collations as key columns.
        unsafe {
            let (family, collation) = (*index.rd_opfamily.add(i), *index.rd_indcollation.add(i));
            let mut operators = access::operators(family).into_iter();
            let operator = operators.find(|o| o.amopopr == equality.operator)?;
            (collation == equality.collation).then(|| EqualKey {
                column: i as i16 + 1,
                strategy: operator.amopstrategy as u16,
                function: pg_sys::get_opcode(operator.amopopr),
                collation,
                place,
            })
        }
    };
    columns.iter().enumerate().filter_map(key).collect()
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
