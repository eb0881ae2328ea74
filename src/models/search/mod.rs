//! Pairs that are worth a look.

use bloom_ident_core::model::{MatchModel, Search};

pub mod candidates;
pub mod equality;
pub mod pattern_counts;
pub mod pattern_table;
pub mod scan;
pub mod similar;

/// A search in words.
pub fn describe(model: &MatchModel, search: &Search) -> String {
    let names = |fields: &[usize]| {
        let names: Vec<&str> = fields
            .iter()
            .map(|&field| model.fields[field].name.as_str())
            .collect();
        names.join(" and ")
    };
    match search {
        Search::Similar {
            fields,
            least,
            most,
        } => {
            let names = names(fields);
            format!("similar {names}, 0.{least:02} or more each, blocks of {most} records at most")
        }
        Search::Scan { least } => {
            format!("all pairs with a mean similarity of 0.{least:02} or more")
        }
        Search::Equal { fields, most } => {
            format!("equal {}, blocks of {most} records at most", names(fields))
        }
    }
}
