//! Who is compared with whom, and how similar two rows are.
//!
//! A comparator reads some columns of a row and says how similar candidates are to it: [`by_signature`] by signatures
//! alone, [`by_tokens`] by the tokens that option `verify` names. Another one is a file beside them that implements
//! [`Comparator`], and a line in [`comparator`]. [`within`] leaves out rows that are not to be compared, [`decisions`]
//! those that people have decided about.

pub mod by_model;
pub mod by_signature;
pub mod by_tokens;
pub mod decisions;
pub mod within;

use std::ffi::CStr;

use base::Result;
use pgrx::pg_sys;
use signature::similarity::Measure;

use by_model::ModelComparator;
use by_signature::SignatureComparator;
use by_tokens::TokenComparator;

use super::options::GuardOptions;
use super::tables::{check_stored, column_number, signature_column, PrimaryKey, SignatureColumn};
use access::SignatureType;
use pg::error::internal;
use pg::relation::OpenRelation;
use pg::row::Row;
use within::WithinColumns;

/// How rows are compared. Its columns come in an order of its own; the first is the signature, by which candidates are
/// searched for.
pub trait Comparator {
    /// What its columns hold, for messages.
    fn reads(&self) -> &'static str;

    /// Its columns in a table, where that of signatures has this number.
    ///
    /// Errors: there is no such column (42703), it is of another type (42804), or virtual (0A000).
    fn columns(&self, table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>>;

    /// The least similarity of the signatures of rows that are similar, by this measure: other rows are no candidates.
    /// It is below what the measure can give where signatures say nothing.
    fn candidate_threshold(&self, measure: Measure) -> f64;

    /// Whether a row can be compared, as far as its signature says.
    fn comparability(&self, row: ComparedRow<'_>) -> Comparability;

    /// A row that is checked; `None` if nothing is similar to it. If it is in the table, others who search find it from here
    /// on.
    fn prepare<'a>(
        &'a self,
        row: ComparedRow<'a>,
        is_in_table: bool,
    ) -> Option<Box<dyn PreparedRow + 'a>>;

    /// A version of a row that others find as it is, or do not find any more; `None` if nothing was similar to it.
    fn prepare_old<'a>(&'a self, row: ComparedRow<'a>) -> Option<Box<dyn PreparedRow + 'a>> {
        self.prepare(row, false)
    }

    /// The relations on which it depends, besides the tables that are compared.
    fn watched(&self) -> Vec<pg_sys::Oid> {
        Vec::new()
    }

    /// What has become of a row that is changed; `None` if it could be compared with none.
    fn change(&self, old: ComparedRow<'_>, new: ComparedRow<'_>) -> Option<Change>;
}

/// A row that is checked, ready to be compared with candidates.
pub trait PreparedRow {
    /// What an index is asked for, one after the other, in the current memory context: a `bloom_query` or a `minhash_query`,
    /// or keys of a register.
    fn queries(&self) -> Vec<pg_sys::Datum>;

    /// In which fields a candidate agrees, in the database's encoding; empty if that is not known.
    fn reason(&self, _candidate: ComparedRow<'_>) -> Vec<u8> {
        Vec::new()
    }

    /// The similarity to a candidate that has a signature, in [0,1]; `None` if it is below the threshold.
    ///
    /// Errors: the signatures are of different shapes; a value cannot be read.
    fn similarity(&self, candidate: ComparedRow<'_>) -> Option<f64>;

    /// Whether a candidate is similar, also where nothing was searched for by it.
    ///
    /// Errors: as [`PreparedRow::similarity`].
    fn is_similar(&self, candidate: ComparedRow<'_>) -> bool {
        self.similarity(candidate).is_some()
    }
}

/// Whether a row can be compared with others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Comparability {
    /// It has no signature, or an empty one, which is similar to nothing.
    Nothing,
    /// Its signature says too little.
    Full,
    Comparable,
}

/// What has become of a row.
pub struct Change {
    /// To what it was. An estimate may be below 0.
    pub similarity: f64,
    /// What it lacks now, by which it could be compared.
    pub lacks: Option<&'static str>,
}

/// The comparator that the options ask for, where signatures are of this type.
fn comparator(options: &GuardOptions, of_type: SignatureType) -> Box<dyn Comparator> {
    let signatures = SignatureComparator::new(options, of_type);
    match &options.verify {
        None => Box::new(signatures),
        Some(column) => Box::new(TokenComparator::new(options, signatures, column.clone())),
    }
}

/// The column by which rows are found: of signatures, or of the keys of a register.
///
/// Errors: there is no such column (42703), or it is of another type (42804).
pub fn searched_column(
    table: pg_sys::Oid,
    options: &GuardOptions,
    name: &CStr,
) -> Result<SignatureColumn> {
    match &options.register {
        None => signature_column(table, name, None),
        Some(_) => Ok(SignatureColumn {
            number: column_number(table, name)?,
            of_type: None,
        }),
    }
}

/// A row, and the columns of its table that a comparator reads, in the comparator's order.
#[derive(Clone, Copy)]
pub struct ComparedRow<'a> {
    pub row: &'a Row,
    columns: &'a [i16],
}

impl<'a> ComparedRow<'a> {
    /// The value of the comparator's column of this place, `None` for NULL.
    pub fn value(self, place: usize) -> Option<pg_sys::Datum> {
        self.row.get(self.columns[place])
    }

    /// All values in the comparator's order, of whatever types.
    pub fn values(self) -> impl Iterator<Item = Option<pg_sys::Datum>> + 'a {
        self.columns.iter().map(move |&column| self.row.get(column))
    }
}

/// A table whose rows are compared, with the columns that this needs.
pub struct ComparedTable {
    pub oid: pg_sys::Oid,
    pub signature: SignatureColumn,
    /// The columns that the comparator reads, in its order.
    pub columns: Vec<i16>,
    /// The columns in which rows must be equal to be compared.
    pub within: WithinColumns,
    pub key: Option<PrimaryKey>,
}

impl ComparedTable {
    /// The table that a trigger fires for, which is locked, and how its rows are compared.
    ///
    /// Errors: it has no signature column of this name (42703, 42804), or a virtual one (0A000); those of
    /// [`WithinColumns::new`] and [`Comparator::columns`].
    pub fn guarded(
        oid: pg_sys::Oid,
        options: &GuardOptions,
    ) -> Result<(ComparedTable, Box<dyn Comparator>)> {
        let signature = searched_column(oid, options, &options.column)?;
        check_stored(oid, signature.number)?;
        let comparator = match (by_model::register(oid, options)?, signature.of_type) {
            (Some(register), _) => {
                Box::new(ModelComparator::new(options, signature.number, &register)?)
            }
            (None, Some(of_type)) => comparator(options, of_type),
            (None, None) => internal!("a guard without signatures"),
        };
        let within = WithinColumns::new(oid, &options.within, signature.number)?;
        let table = ComparedTable::new(oid, signature, within, &*comparator)?;
        Ok((table, comparator))
    }

    /// A locked table that is searched for rows similar to those of this one.
    ///
    /// Errors: those of [`WithinColumns::in_table`], [`signature_column`] and [`Comparator::columns`].
    pub fn searched(
        &self,
        oid: pg_sys::Oid,
        options: &GuardOptions,
        comparator: &dyn Comparator,
    ) -> Result<ComparedTable> {
        let within = self.within.in_table(oid, &options.within)?;
        let signature = searched_column(oid, options, options.searched_column())?;
        ComparedTable::new(oid, signature, within, comparator)
    }

    /// Errors: those of [`Comparator::columns`].
    pub fn new(
        oid: pg_sys::Oid,
        signature: SignatureColumn,
        within: WithinColumns,
        comparator: &dyn Comparator,
    ) -> Result<ComparedTable> {
        Ok(ComparedTable {
            oid,
            signature,
            columns: comparator.columns(oid, signature.number)?,
            within,
            key: PrimaryKey::new(&OpenRelation::locked_table(oid)),
        })
    }

    /// A row of this table as the comparator reads it.
    pub fn row<'a>(&'a self, row: &'a Row) -> ComparedRow<'a> {
        let columns = &self.columns;
        ComparedRow { row, columns }
    }

    /// The columns of the primary key, if there is one.
    pub fn key_columns(&self) -> &[i16] {
        self.key.as_ref().map_or(&[], |key| &key.columns)
    }
}
