//! Variable-length values, texts and JSON, as arguments and results of SQL functions.

pub mod array;
pub mod jsonb;
pub mod text;
pub mod varlena;

/// Lets a Rust type stand for an SQL type in an `#[entry]`; the SQL itself is written by hand.
#[macro_export]
macro_rules! stands_for {
    ($rust:ty, $sql:literal) => {
        // SAFETY: arguments and results convert through ArgAbi and BoxRet of the same type, and
        // the functions are declared with this SQL type in sql/.
        unsafe impl pgrx::pgrx_sql_entity_graph::metadata::SqlTranslatable for $rust {
            const TYPE_IDENT: &'static str = $sql;
            const TYPE_ORIGIN: pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin =
                pgrx::pgrx_sql_entity_graph::metadata::TypeOrigin::External;
            const ARGUMENT_SQL: std::result::Result<
                pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef,
                pgrx::pgrx_sql_entity_graph::metadata::ArgumentError,
            > = Ok(pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::literal($sql));
            const RETURN_SQL: std::result::Result<
                pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef,
                pgrx::pgrx_sql_entity_graph::metadata::ReturnsError,
            > = Ok(pgrx::pgrx_sql_entity_graph::metadata::ReturnsRef::One(
                pgrx::pgrx_sql_entity_graph::metadata::SqlMappingRef::literal($sql),
            ));
        }
    };
}
pub use crate::stands_for;

/// Lets a type that borrows from a datum be an argument of an `#[entry]`.
#[macro_export]
macro_rules! argument {
    ($rust:ident, $sql:literal) => {
        $crate::stands_for!($rust<'_>, $sql);

        // SAFETY: the value borrows from the argument, which outlives the call, or owns its copy.
        unsafe impl<'fcx> pgrx::callconv::ArgAbi<'fcx> for $rust<'fcx> {
            #[inline]
            unsafe fn unbox_arg_unchecked(arg: pgrx::callconv::Arg<'_, 'fcx>) -> Self {
                // SAFETY: the argument is of the declared type, and outlives the call. It is not null, since functions
                // that take it are STRICT or take an Option.
                unsafe { arg.unbox_arg_using_from_datum() }.expect("argument must not be null")
            }

            unsafe fn unbox_nullable_arg(
                arg: pgrx::callconv::Arg<'_, 'fcx>,
            ) -> pgrx::nullable::Nullable<Self> {
                // SAFETY: the argument is of the declared type, and outlives the call.
                unsafe { arg.unbox_arg_using_from_datum() }.into()
            }
        }
    };
}
pub use crate::argument;
