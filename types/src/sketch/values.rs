//! Sketches as arguments and as results.

use base::Result;
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{pg_sys, FromDatum};
use signature::sketch::{
    sample, write_bits, write_minima, BitsView, MinimaView, Signer, SketchKind, SketchView, HEADER,
};

use crate::bloom::corrupt;
use pg::error::OrRaise;
use pg::values::varlena::{build, Varlena};

/// A type of sketches as argument and as result.
macro_rules! sketch_type {
    ($argument:ident, $result:ident, $view:ident, $kind:expr) => {
        /// An argument of this type.
        pub struct $argument<'a>(Varlena<'a>);

        impl<'a> $argument<'a> {
            pub const KIND: SketchKind = $kind;

            /// # Safety
            /// `datum` is a non-null value of the type that lives as long as `'a`.
            #[inline]
            pub unsafe fn from_raw(datum: pg_sys::Datum) -> Self {
                // SAFETY: a sketch is a varlena.
                let value = $argument(unsafe { Varlena::of(datum) });
                if $view::stored(value.0.bytes()).is_none() {
                    corrupt(Self::KIND.type_name(), value.0.bytes());
                }
                value
            }

            #[inline]
            pub fn view(&self) -> $view<'_> {
                $view::stored(self.0.bytes()).expect("from_raw has checked the bytes")
            }

            /// The same value as a result.
            pub fn into_result(self) -> $result {
                $result(self.0.keep())
            }
        }

        impl FromDatum for $argument<'_> {
            #[inline]
            unsafe fn from_polymorphic_datum(
                datum: pg_sys::Datum,
                is_null: bool,
                _: pg_sys::Oid,
            ) -> Option<Self> {
                // SAFETY: the argument is declared as this type, and is not null.
                (!is_null).then(|| unsafe { $argument::from_raw(datum) })
            }
        }

        /// A result of this type, in the memory of the current context.
        pub struct $result(*mut pg_sys::varlena);

        impl $result {
            /// Bytes from outside, checked.
            pub fn from_untrusted(bytes: &[u8]) -> Result<$result> {
                $view::untrusted(bytes)?;
                build(bytes.len(), |to| {
                    to.copy_from_slice(bytes);
                    Ok(())
                })
                .map($result)
            }

            /// The value for the server.
            pub fn datum(self) -> pg_sys::Datum {
                pg_sys::Datum::from(self.0)
            }
        }

        // SAFETY: the pointer is a whole varlena in a memory context of the server.
        unsafe impl BoxRet for $result {
            unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
                // SAFETY: the pointer is a whole varlena of this type.
                unsafe { fcinfo.return_raw_datum(self.datum()) }
            }
        }
    };
}

sketch_type!(Minhash, NewMinhash, MinimaView, SketchKind::Minima);
pg::values::argument!(Minhash, "minhash");
pg::values::stands_for!(NewMinhash, "minhash");

sketch_type!(MinhashBits, NewMinhashBits, BitsView, SketchKind::Bits);
pg::values::argument!(MinhashBits, "minhash_bits");
pg::values::stands_for!(NewMinhashBits, "minhash_bits");

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

impl MinhashBits<'_> {
    /// The value with its header, as long as this lives.
    pub fn pointer(&self) -> *mut pg_sys::varlena {
        self.0.pointer()
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
