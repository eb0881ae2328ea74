//! Short and familiar forms of given names.

use text::names::name_forms;

use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::TextArray;

/// `(name text, version integer) RETURNS text[]`
#[entry]
fn ident_name_forms(name: Text<'_>, version: i32) -> NewValue {
    TextArray::filled(|array| {
        let forms = name_forms(name.as_str(), version.into(), check_for_interrupts)?;
        forms.iter().try_for_each(|form| array.push_text(form))
    })
}
