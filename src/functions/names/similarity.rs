//! How similar two names are.

use bloom_ident_core::names;

use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::{check_for_interrupts, entry};

#[entry]
fn ident_name_sim(a: Text<'_>, b: Text<'_>) -> f64 {
    names::similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}
