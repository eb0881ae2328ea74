//! Exact similarity of two texts, symbol by symbol.

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};

#[entry]
fn ident_edit_sim(a: Text<'_>, b: Text<'_>) -> f64 {
    text::edit_similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_damerau(a: Text<'_>, b: Text<'_>) -> f64 {
    text::damerau_similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}

#[entry]
fn ident_jaro_winkler(a: Text<'_>, b: Text<'_>) -> f64 {
    text::jaro_winkler(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}
