//! Sketches as arguments and as results.

use base::Result;
use pgrx::{pg_sys, FromDatum};
use signature::sketch::{
    sample, write_bits, write_minima, BitsView, MinimaView, Signer, SketchKind, SketchView, HEADER,
};

use crate::value::{corrupt, value_type};
use pg::error::OrRaise;
use pg::values::varlena::{build, Varlena};

value_type!(Minhash, NewMinhash, MinimaView, "minhash");
value_type!(MinhashBits, NewMinhashBits, BitsView, "minhash_bits");

impl Minhash<'_> {
    pub const KIND: SketchKind = SketchKind::Minima;
}

impl MinhashBits<'_> {
    pub const KIND: SketchKind = SketchKind::Bits;
}

impl NewMinhash {
    /// The sketch of the tokens that were added.
    pub fn of(signer: &mut Signer) -> NewMinhash {
        let size = HEADER + SketchKind::Minima.payload(signer.shape());
        let value = build(size, |to| {
            write_minima(signer, to);
            Ok(())
        });
        NewMinhash(value.or_raise())
    }

    /// That of the union of both sets.
    ///
    /// Errors: different shapes.
    pub fn of_union(a: &MinimaView<'_>, b: &MinimaView<'_>) -> Result<NewMinhash> {
        let bytes = a.sketch().bytes();
        build(bytes.len(), |to| {
            to.copy_from_slice(bytes);
            b.unite_into(to)
        })
        .map(NewMinhash)
    }
}

impl NewMinhashBits {
    /// The sketch of the tokens that were added.
    pub fn of(signer: &mut Signer) -> NewMinhashBits {
        let size = HEADER + SketchKind::Bits.payload(signer.shape());
        let value = build(size, |to| {
            write_bits(signer, to);
            Ok(())
        });
        NewMinhashBits(value.or_raise())
    }

    /// The lowest bits of minima.
    pub fn of_minima(minima: &MinimaView<'_>) -> NewMinhashBits {
        let size = HEADER + SketchKind::Bits.payload(minima.sketch().shape());
        let value = build(size, |to| {
            sample(minima, to);
            Ok(())
        });
        NewMinhashBits(value.or_raise())
    }
}

/// An argument of either type, for what does not depend on which.
pub struct AnySketch<'a>(Varlena<'a>);

pg::values::argument!(AnySketch, "any");

impl AnySketch<'_> {
    #[inline]
    pub fn view(&self) -> SketchView<'_> {
        let bytes = self.0.bytes();
        SketchView::of_any_kind(bytes).unwrap_or_else(|| corrupt("minhash or minhash_bits", bytes))
    }
}

impl FromDatum for AnySketch<'_> {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as a type of sketches, and is not null.
        (!is_null).then(|| AnySketch(unsafe { Varlena::of(datum) }))
    }
}
