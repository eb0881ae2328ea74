//! A fitted model.

use super::mixture::{Dependence, Shares};
use super::values::FieldLayout;

/// What a fit has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can be used.
    Converged,
    /// The rounds were not enough.
    Stopped,
    /// Its numbers say nothing.
    Degenerate,
    /// Next to no duplicates are to be expected.
    NoneExpected,
    /// The columns look like people, and no personal field is known.
    NoPersonalFields,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 5] = [
        Status::Converged,
        Status::Stopped,
        Status::Degenerate,
        Status::NoneExpected,
        Status::NoPersonalFields,
    ];

    /// As JSON writes it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::Stopped => "stopped",
            Status::Degenerate => "degenerate",
            Status::NoneExpected => "none_expected",
            Status::NoPersonalFields => "no_personal_fields",
        }
    }
}

/// A field of a model.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// The column.
    pub name: String,
    /// How values are compared.
    pub layout: FieldLayout,
    /// Whether people of a household differ in it.
    pub personal: bool,
    /// Shares of the levels among random pairs.
    pub u: Shares,
    /// The level of equal values that are not among the frequent ones.
    pub rare_level: u8,
    /// Values whose level is above that, in their normal form, with their shares of the records.
    pub frequent: Vec<(String, f64)>,
}

/// Pairs that agree in some fields without being matches; the first class of a model is that of the matches.
#[derive(Clone, Debug)]
pub struct Class {
    /// The fields that agree by chance only, as bits.
    pub chance: u32,
    /// Expected pairs per record.
    pub pairs_per_record: f64,
    /// Shares of the levels, for each field.
    pub shares: Vec<Shares>,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct MatchModel {
    /// What the fit has come to.
    pub status: Status,
    /// The fields.
    pub fields: Vec<FieldModel>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// The matches, and the other classes.
    pub classes: Vec<Class>,
    /// Records of the fit, of both tables.
    pub records: f64,
    /// All pairs of them.
    pub all_pairs: f64,
    /// Rounds of the fit.
    pub rounds: usize,
}
