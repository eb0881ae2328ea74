//! Rows are compared by the model of a register, and found by its keys: option `register`.

use std::cell::RefCell;
use std::rc::Rc;

use base::Result;
use linkage::model::{Pattern, ReadyRecord};
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE;
use signature::similarity::Measure;

use super::{Change, Comparability, Comparator, ComparedRow, PreparedRow};
use crate::guard::options::GuardOptions;
use crate::guard::tables::find_table;
use crate::register::Register;
use pg::catalog;
use pg::error::{sql_error, OrRaise};
use pg::message::words;
use pg::values::text::to_database;

/// Rows are as similar as they are probably the same.
pub struct ModelComparator {
    register: pg_sys::Oid,
    /// The number of the column by which rows are found.
    key: i16,
    least: f64,
}

/// The register that the options name, which is one of this table.
///
/// Errors: there is none (42P01, 42809), or it is of another table (22023).
pub fn register(table: pg_sys::Oid, options: &GuardOptions) -> Result<Option<Rc<Register>>> {
    let Some(name) = &options.register else {
        return Ok(None);
    };
    let hint = "Drop the trigger, or make the register again, by bloom_register_create().";
    let oid = find_table(name, table, "register").map_err(|error| error.hint(hint))?;
    Register::latest(oid, table).map(Some)
}

impl ModelComparator {
    /// Errors: the column by which rows are found is not the register's key.
    pub fn new(options: &GuardOptions, key: i16, register: &Register) -> Result<ModelComparator> {
        let comparator = ModelComparator {
            register: register.oid,
            key,
            least: options.threshold,
        };
        comparator.check_key(register)?;
        Ok(comparator)
    }

    fn model_row(
        &self,
        register: Rc<Register>,
        row: ComparedRow<'_>,
        record: &[Option<String>],
    ) -> ModelRow {
        ModelRow {
            both: RefCell::new([register.prepared(record), ReadyRecord::default()]),
            keys: register.search_keys_of(record),
            open: RefCell::default(),
            own: row.row.get(register.key_number),
            least: self.least,
            register,
        }
    }

    /// Errors: the register has another key, by which rows would not be found.
    fn check_key(&self, register: &Register) -> Result<()> {
        if register.key_number == self.key {
            return Ok(());
        }
        let (name, key) = (register.oid, &register.key.name);
        let given = catalog::column_name(register.relation, self.key);
        Err(sql_error(
            ERRCODE_INVALID_PARAMETER_VALUE,
            words!("column \"{given}\" is not the key of register \"{name}\""),
        )
        .detail("A guard finds rows by the keys that its register gives.")
        .hint(words!("Name the column \"{key}\".")))
    }
}

impl Comparator for ModelComparator {
    fn reads(&self) -> &'static str {
        "columns that the model compares"
    }

    fn columns(&self, table: pg_sys::Oid, _: i16) -> Result<Vec<i16>> {
        Ok(Register::latest(self.register, table)?.numbers.clone())
    }

    /// Nothing is found by signatures.
    fn candidate_threshold(&self, _: Measure) -> f64 {
        1.0
    }

    fn comparability(&self, _: ComparedRow<'_>) -> Comparability {
        Comparability::Comparable
    }

    fn prepare<'a>(
        &'a self,
        row: ComparedRow<'a>,
        is_in_table: bool,
    ) -> Option<Box<dyn PreparedRow + 'a>> {
        let register = Register::latest(self.register, row.row.table_oid()).or_raise();
        self.check_key(&register).or_raise();
        // Whoever is missing in the register would be let in again.
        register.check_kept();
        let record = register.texts.of_row(row.row);
        match is_in_table {
            true => register.keep_row(row.row, &register.keys_of(&record)),
            false => register.let_pass(row.row),
        }
        .or_raise();
        let row = self.model_row(register, row, &record);
        (!row.keys.is_empty()).then(|| Box::new(row) as Box<dyn PreparedRow>)
    }

    fn prepare_old<'a>(&'a self, row: ComparedRow<'a>) -> Option<Box<dyn PreparedRow + 'a>> {
        let register = Register::latest(self.register, row.row.table_oid()).or_raise();
        let record = register.texts.of_row(row.row);
        Some(Box::new(self.model_row(register, row, &record)))
    }

    fn watched(&self) -> Vec<pg_sys::Oid> {
        vec![self.register]
    }

    fn change(&self, _: ComparedRow<'_>, _: ComparedRow<'_>) -> Option<Change> {
        None
    }
}

/// A row that is compared by a model.
struct ModelRow {
    register: Rc<Register>,
    /// Ready to be compared: the row, and the last candidate.
    both: RefCell<[ReadyRecord; 2]>,
    keys: Vec<i64>,
    /// Those of blocks that were open when candidates were searched for.
    open: RefCell<Vec<i64>>,
    /// The row's key in the register.
    own: Option<pg_sys::Datum>,
    least: f64,
}

impl PreparedRow for ModelRow {
    fn queries(&self) -> Vec<pg_sys::Datum> {
        let (ids, open) = self.register.candidate_ids(&self.keys, self.own);
        self.open.replace(open);
        ids
    }

    fn similarity(&self, candidate: ComparedRow<'_>) -> Option<f64> {
        let record = self.register.texts.of_row(candidate.row);
        let probability = self.probability(&record);
        if probability < self.least {
            return None;
        }
        // A record may be a candidate by a key that it has no longer.
        let keys = self.register.keys_of(&record);
        let is_common = |key| keys.binary_search(key).is_ok();
        (self.open.borrow().iter().any(is_common)).then_some(probability)
    }

    /// Who has no key of an open block in common with the row is not found by anybody, however similar he is: an UPDATE that
    /// gives them one makes a new pair.
    fn is_similar(&self, candidate: ComparedRow<'_>) -> bool {
        let record = self.register.texts.of_row(candidate.row);
        if self.probability(&record) < self.least {
            return false;
        }
        let mut common = self.register.keys_of(&record);
        common.retain(|key| self.keys.binary_search(key).is_ok());
        let (_, open) = self.register.candidate_ids(&common, None);
        !open.is_empty()
    }

    fn reason(&self, candidate: ComparedRow<'_>) -> Vec<u8> {
        let pattern = self.pattern(&self.register.texts.of_row(candidate.row));
        to_database(&self.register.known.ready.agreement(pattern))
    }
}

impl ModelRow {
    fn probability(&self, candidate: &[Option<String>]) -> f64 {
        let score = self.register.of.scorer.score(self.pattern(candidate));
        score.probability
    }

    /// In what a candidate agrees with the row.
    fn pattern(&self, candidate: &[Option<String>]) -> Pattern {
        let (ready, [own, other]) = (&self.register.known.ready, &mut *self.both.borrow_mut());
        let prepared = ready.prepare(other, candidate, Some(own));
        let pattern = prepared.and_then(|()| ready.compare(own, other));
        pattern.or_raise()
    }
}
