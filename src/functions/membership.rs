//! Which words a signature may hold.

use bloom_ident_core::filter::contains_text;

use crate::pg::entry;
use crate::types::{tick, Bloom, NewBloom, Text};

#[entry]
fn bloom_contains(signature: Bloom<'_>, text: Text<'_>, by_word: bool) -> bool {
    contains_text(&signature.view(), text.as_str(), by_word, tick)
}

#[entry]
fn bloom_add(signature: Bloom<'_>, text: Text<'_>, by_word: bool) -> NewBloom {
    NewBloom::changed(&signature.view(), |builder| {
        builder.add_text(text.as_str(), by_word, tick);
        Ok(())
    })
}
