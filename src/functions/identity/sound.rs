//! How words sound.

use text::for_each_sound;

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::TextArray;

/// `(text text, algorithm text) RETURNS text[]`
#[entry]
fn ident_phonetic(text: Text<'_>, algorithm: Text<'_>) -> NewValue {
    let sound = algorithm.as_str().parse().or_raise();
    TextArray::filled(|codes| {
        for_each_sound(
            text.as_str(),
            sound,
            |code| codes.push_text(code),
            check_for_interrupts,
        )
    })
}
