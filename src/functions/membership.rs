//! Which texts a signature may hold, and adding one.

use bloom_ident_core::filter::contains_text;
use bloom_ident_core::ngram::Gaps;

use crate::pg::error::OrRaise;
use crate::pg::values::text::Text;
use crate::pg::{check_for_interrupts, entry};
use crate::types::{Bloom, NewBloom};

#[entry]
fn bloom_contains(signature: Bloom<'_>, text: Text<'_>, by_word: bool, filler: bool) -> bool {
    let gaps = Gaps::of(by_word, filler).or_raise();
    contains_text(&signature.view(), text.as_str(), gaps, check_for_interrupts).or_raise()
}

#[entry]
fn bloom_add(signature: Bloom<'_>, text: Text<'_>, by_word: bool, filler: bool) -> NewBloom {
    NewBloom::changed(&signature.view(), |builder| {
        builder.add_text(
            text.as_str(),
            Gaps::of(by_word, filler)?,
            check_for_interrupts,
        )
    })
}
