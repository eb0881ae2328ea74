//! A fitted model of things.

use super::missing::{MaskShares, MatchMasks};
use super::{Dependence, Fit, Learned, OneToOne, Shares};
use crate::model::values::FieldLayout;
use crate::model::{FieldModel, LeftOut, Status};

/// Matches of fewer are not told apart by what they lack.
const LEAST_MATCHES: f64 = 0.01;

/// Below this share of the records that can have a partner, next to no matches are expected.
const NONE: f64 = 0.01;

/// A field of a model of things.
#[derive(Clone, Debug)]
pub struct Thing {
    /// The column.
    pub name: String,
    /// How values are compared.
    pub layout: FieldLayout,
    /// The share of the records that have a value.
    pub filled: f64,
    /// What agreement tells, in bits: -log2 of the probability that two records agree by chance.
    pub information: f64,
    /// Shares of the levels of present values among matches.
    pub m: Shares,
    /// Those among random pairs.
    pub u: Shares,
}

/// A model of things that compete. It can be used for other records than those that it was fitted to.
#[derive(Clone, Debug)]
pub struct ThingsModel {
    /// What the fit has come to.
    pub status: Status,
    /// Which records have one partner at most.
    pub one_to_one: OneToOne,
    /// The fields.
    pub fields: Vec<Thing>,
    /// How fields go together by chance.
    pub dependence: Dependence,
    /// What matches lack.
    pub masks: MatchMasks,
    /// Records of the fit, of each table.
    pub records: [f64; 2],
    /// Expected matches as a share of the most that there can be.
    pub matched: f64,
    /// Rounds of the fit.
    pub rounds: usize,
    /// Columns that are no fields.
    pub left_out: Vec<LeftOut>,
    /// What speaks against it, in words.
    pub warnings: Vec<String>,
}

impl ThingsModel {
    /// What a fit has learned of fields, which come with everything but their levels' shares.
    pub fn of_fit(fields: &[FieldModel], fit: Fit, left_out: Vec<LeftOut>) -> ThingsModel {
        let of = fit.learned;
        let shares = of.m.iter().zip(&of.u);
        let fields = fields.iter().zip(shares).map(|(field, (m, u))| Thing {
            name: field.name.clone(),
            layout: field.layout.clone(),
            filled: field.filled,
            information: field.information,
            m: *m,
            u: *u,
        });
        let mut masks = of.match_masks;
        if let Some(masks) = &mut masks {
            masks.matches.retain(|of| of.1 >= LEAST_MATCHES);
        }
        let most = of.one_to_one.most_matches(of.records);
        let matched = of.matches / most.max(1.0);
        let status = match fit.converged {
            _ if !matched.is_finite() || most < 1.0 => Status::Degenerate,
            _ if matched < NONE => Status::NoneExpected,
            true => Status::Converged,
            false => Status::Stopped,
        };
        let fields: Vec<Thing> = fields.collect();
        let no_masks = || MatchMasks::learn(Vec::new(), vec![[1.0, 0.0, 0.0]; fields.len()]);
        ThingsModel {
            status,
            one_to_one: of.one_to_one,
            dependence: of.dependence,
            masks: masks.unwrap_or_else(no_masks),
            records: of.records,
            matched,
            rounds: fit.rounds,
            left_out,
            warnings: Vec::new(),
            fields,
        }
    }

    /// Expected matches.
    pub fn matches(&self) -> f64 {
        self.matched * self.one_to_one.most_matches(self.records)
    }

    /// What it says of two tables of so many records, whose pairs lack values as `masks` says.
    pub fn learned(&self, records: [f64; 2], masks: MaskShares) -> Learned {
        Learned {
            matches: self.matched * self.one_to_one.most_matches(records),
            records,
            one_to_one: self.one_to_one,
            m: self.fields.iter().map(|field| field.m).collect(),
            u: self.fields.iter().map(|field| field.u).collect(),
            dependence: self.dependence.clone(),
            masks,
            match_masks: Some(self.masks.clone()),
        }
    }
}
