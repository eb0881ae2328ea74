//! How words sound.

use bloom_ident_core::text::for_each_sound;

use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};
use crate::types::TextArray;

#[entry]
fn ident_phonetic(text: Text<'_>, algorithm: Text<'_>) -> NewValue {
    let sound = algorithm.as_str().parse().or_raise();
    TextArray::of(|codes| {
        for_each_sound(
            text.as_str(),
            sound,
            |code| codes.push_text(code),
            check_for_interrupts,
        )
    })
}
