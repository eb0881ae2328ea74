//! How similar two names are.

use text::names;

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};

#[entry]
fn ident_name_sim(a: Text<'_>, b: Text<'_>) -> f64 {
    names::similarity(a.as_str(), b.as_str(), check_for_interrupts).or_raise()
}
