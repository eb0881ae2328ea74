//! Short and familiar forms of given names.

use bloom_ident_core::names::name_forms;

use crate::pg::values::text::Text;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};
use crate::types::TextArray;

#[entry]
fn ident_name_forms(name: Text<'_>, version: i32) -> NewValue {
    TextArray::of(|array| {
        let forms = name_forms(name.as_str(), version.into(), check_for_interrupts)?;
        forms.iter().try_for_each(|form| array.push_text(form))
    })
}
