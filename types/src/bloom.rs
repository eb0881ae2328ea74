//! The type `bloom` as argument and as result.

use base::{Error, ErrorKind, Result};
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{pg_sys, FromDatum, PgSqlErrorCode};
use signature::filter::{newer_version, Builder, Shape, View, VERSION};

use pg::error::{raise, raise_as, OrRaise};
use pg::values::varlena::{build, Varlena};

/// A signature argument.
pub struct Bloom<'a>(Varlena<'a>);

pg::values::argument!(Bloom, "bloom");

impl<'a> Bloom<'a> {
    /// # Safety
    /// `datum` is a non-null `bloom` that lives as long as `'a`.
    #[inline]
    pub unsafe fn from_raw(datum: pg_sys::Datum) -> Self {
        // SAFETY: a bloom is a varlena.
        let bloom = Bloom(unsafe { Varlena::of(datum) });
        if View::stored(bloom.0.bytes()).is_none() {
            corrupt("bloom", bloom.0.bytes());
        }
        bloom
    }

    #[inline]
    pub fn view(&self) -> View<'_> {
        View::stored(self.0.bytes()).expect("from_raw has checked the bytes")
    }

    /// The value with its header, as long as this lives.
    pub fn pointer(&self) -> *mut pg_sys::varlena {
        self.0.pointer()
    }

    /// The same value as a result.
    pub fn into_result(self) -> NewBloom {
        NewBloom(self.0.keep())
    }
}

/// Fails over stored bytes that are no value of type `of`. No input path of this version stores such bytes: a newer
/// version has stored them, or the page that they came from is damaged.
#[cold]
pub fn corrupt(of: &str, bytes: &[u8]) -> ! {
    if let Some(version) = newer_version(bytes) {
        let what = format!("cannot read a value of type {of} in format version {version}");
        raise(
            &Error::newer_format(what, VERSION)
                .hint("Install the version of bloom_ident that was used before."),
        );
    }
    raise_as(
        PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
        &Error::new(
            ErrorKind::InvalidBinary,
            format!("invalid stored value of type {of}"),
        )
        .detail(format!(
            "It has {} bytes and begins with {:?}.",
            bytes.len(),
            &bytes[..bytes.len().min(8)]
        )),
    )
}

impl FromDatum for Bloom<'_> {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as bloom, and is not null.
        (!is_null).then(|| unsafe { Bloom::from_raw(datum) })
    }
}

/// A signature result, in the memory of the current context.
pub struct NewBloom(*mut pg_sys::varlena);

pg::values::stands_for!(NewBloom, "bloom");

impl NewBloom {
    /// An empty signature of `shape`, with what `fill` puts in.
    pub fn new(shape: Shape, fill: impl FnOnce(&mut Builder<'_>) -> Result<()>) -> NewBloom {
        NewBloom::try_new(shape, fill).or_raise()
    }

    /// [`NewBloom::new`] for callers that handle the error.
    pub fn try_new(
        shape: Shape,
        fill: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> Result<NewBloom> {
        build(Builder::size(shape), |bytes| {
            let mut builder = Builder::new(shape, bytes);
            fill(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
    }

    /// A copy of `view`, changed by `change`.
    pub fn changed(
        view: &View<'_>,
        change: impl FnOnce(&mut Builder<'_>) -> Result<()>,
    ) -> NewBloom {
        build(view.bytes().len(), |bytes| {
            let mut builder = Builder::from_view(view, bytes);
            change(&mut builder)?;
            builder.finish();
            Ok(())
        })
        .map(NewBloom)
        .or_raise()
    }

    /// Bytes from outside, checked.
    pub fn from_untrusted(bytes: &[u8]) -> Result<NewBloom> {
        View::untrusted(bytes)?;
        build(bytes.len(), |to| {
            to.copy_from_slice(bytes);
            Ok(())
        })
        .map(NewBloom)
    }

    /// The value for the server.
    pub fn datum(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0)
    }
}

// SAFETY: the pointer is a whole varlena in a memory context of the server.
unsafe impl BoxRet for NewBloom {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: the pointer is a whole varlena of type bloom.
        unsafe { fcinfo.return_raw_datum(self.datum()) }
    }
}
