//! Signatures of several encodings of one value.

use text::identity::{for_each_encoding, IdentityKind};

use crate::functions::planned_shape::planned_shape_of_tokens;
use pg::error::OrRaise;
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use types::{NewBloom, TextArray};

#[entry]
fn bloom_signature_of_identity(
    kind: Text<'_>,
    value: Text<'_>,
    max_tokens: i32,
    fpr: f64,
) -> NewBloom {
    let kind = IdentityKind::of_name(kind.as_str()).or_raise();
    NewBloom::new(planned_shape_of_tokens(max_tokens, fpr), |builder| {
        for_each_encoding(kind, value.as_str(), check_for_interrupts, |token| {
            builder.add_token(token)
        })
    })
}

/// `(kind text, value text) RETURNS text[]`
#[entry]
fn ident_encodings(kind: Text<'_>, value: Text<'_>) -> NewValue {
    let kind = IdentityKind::of_name(kind.as_str()).or_raise();
    TextArray::filled(|tokens| {
        for_each_encoding(kind, value.as_str(), check_for_interrupts, |token| {
            tokens.push_text(token)
        })
    })
}
