//! A model for tests, made by hand.

use super::mixture::{Dependence, DependentFields, Shares};
use super::values::{FieldLayout, Kind, LEVELS, ORDERED, SWAPPED};
use super::{Class, FieldModel, LeftOut, MatchModel, PlannedSearch, Search, Status};

/// Shares among matches of a field that is there in nine of ten.
const MATCH: Shares = [
    0.3, 0.15, 0.1, 0.05, 0.1, 0.07, 0.05, 0.04, 0.02, 0.02, 0.0, 0.1,
];

/// Shares among random pairs.
const RANDOM: Shares = [
    0.0001, 0.0004, 0.001, 0.002, 0.0015, 0.002, 0.003, 0.01, 0.08, 0.76, 0.0, 0.14,
];

/// Persons with given name, surname, date of birth, city and phone; families, and people of one name.
pub(crate) fn people() -> MatchModel {
    let of = [
        ("given_name", Kind::Name, 7, true),
        ("surname", Kind::Name, 9, false),
        ("dob", Kind::Date, 10, true),
        ("city", Kind::Text, 12, false),
        ("phone", Kind::Phone, 14, false),
    ];
    let field = |&(name, kind, length, personal): &(&str, Kind, usize, bool)| {
        let mut u = RANDOM;
        u[LEVELS - 1] += 0.0001 * length as f64;
        FieldModel {
            name: name.to_owned(),
            layout: FieldLayout::new(kind, length).unwrap(),
            personal,
            filled: 0.93,
            information: 8.0 + length as f64 / 3.0,
            u,
            rare_level: 0,
            frequent: vec![],
        }
    };
    let mut fields: Vec<FieldModel> = of.iter().map(field).collect();
    // names that change places have one layout
    fields[1].layout = fields[0].layout.clone();
    fields[0].u[SWAPPED] = 1e-5;
    fields[1].u[SWAPPED] = 1.0;
    fields[0].frequent = vec![("anna".into(), 0.011), ("peter".into(), 0.0013)];
    fields[3].rare_level = 2;
    fields[3].frequent = vec![("berlin".into(), 0.1)];
    let class = |chance: u32, pairs_per_record: f64| {
        let shares = |(k, field): (usize, &FieldModel)| {
            let mut shares = match chance >> k & 1 {
                1 => field.u,
                _ => MATCH,
            };
            if k < 2 && chance >> k & 1 == 0 {
                shares[SWAPPED] = [0.01, 1.0][k];
            }
            shares
        };
        Class {
            chance,
            pairs_per_record,
            shares: fields.iter().enumerate().map(shares).collect(),
        }
    };
    let classes = vec![
        class(0, 0.31),
        class(0b101, 0.21),
        class(0b101, 0.9),
        class(0b11100, 1.5),
    ];
    let logs = (0..ORDERED).map(|a| {
        std::array::from_fn(|b| if a / 4 == b / 4 { 0.7 } else { -0.1 } / (1.0 + a as f64))
    });
    let edge = DependentFields {
        fields: [4, 3],
        logs: logs.collect(),
        information: 0.031,
    };
    let in_matches = DependentFields {
        fields: [3, 1],
        logs: vec![[0.25; ORDERED]; ORDERED],
        information: 0.05,
    };
    let planned = |search| PlannedSearch {
        search,
        pairs_per_record: 0.7,
        matches_per_record: 0.1,
    };
    MatchModel {
        status: Status::Converged,
        swap: Some([0, 1]),
        dependence: Dependence { edges: vec![edge] },
        match_dependence: Dependence {
            edges: vec![in_matches],
        },
        classes,
        linkage: false,
        records: 20_000.0,
        all_pairs: 199_990_000.0,
        rounds: 412,
        searches: vec![
            planned(Search::Equal {
                fields: vec![0, 2],
                most: 40,
            }),
            planned(Search::Similar {
                fields: vec![0, 1],
                least: 55,
                most: 40,
            }),
            planned(Search::Scan { least: 30 }),
        ],
        calibration: None,
        recall: Some(0.975),
        warnings: vec!["field \"city\" is often missing".into()],
        left_out: vec![LeftOut {
            column: "id".into(),
            reason: "it is the key".into(),
        }],
        fields,
    }
}
