//! Which texts a signature may hold, and adding one.

use signature::filter::contains_text;
use text::ngram::Gaps;

use pg::error::OrRaise;
use pg::values::text::Text;
use pg::{check_for_interrupts, entry};
use types::{Bloom, NewBloom};

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
