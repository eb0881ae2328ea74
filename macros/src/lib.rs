//! The attribute `#[entry]`, on every Rust function that PostgreSQL calls.
//!
//! An error must leave such a function as an error of the server with all its fields, and never as a Rust panic.
//! `pg::boundary::enter` does that, and this attribute puts it around the function. It stands in for pgrx's `#[pg_extern]` and `#[pg_guard]`,
//! whose guard keeps five fields of an error and a closed list of SQLSTATEs.

use proc_macro::TokenStream;
use quote::{format_ident, quote};
use syn::{parse_macro_input, parse_quote, Error, FnArg, ItemFn, Lifetime, Pat, ReturnType};

/// Makes a function callable by the server.
///
/// - A function without an ABI is an SQL function. It gets a wrapper `<name>_wrapper` of version 1 of the calling
///   convention, and its record `pg_finfo_<name>_wrapper`; arguments and result convert as in pgrx.
/// - A function that is `extern "C-unwind"` is a callback, a hook, or another entry with a signature of its own. Its
///   signature stays as it is; its body runs inside the boundary.
#[proc_macro_attribute]
pub fn entry(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    let expanded = if function.sig.abi.is_some() {
        callback(function)
    } else {
        sql_function(&function)
    };
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

fn is_c_unwind(function: &ItemFn) -> bool {
    let name = function.sig.abi.as_ref().and_then(|abi| abi.name.as_ref());
    name.is_some_and(|name| name.value() == "C-unwind")
}

/// The names of a function's arguments.
fn arguments(function: &ItemFn) -> syn::Result<Vec<syn::Ident>> {
    let name = |argument: &FnArg| match argument {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(name) => Ok(name.ident.clone()),
            other => Err(Error::new_spanned(other, "an argument needs a name")),
        },
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "a method is no entry")),
    };
    function.sig.inputs.iter().map(name).collect()
}

fn callback(function: ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    if !is_c_unwind(&function) {
        let message = "an entry is extern \"C-unwind\", since errors pass through it";
        return Err(Error::new_spanned(&function.sig.abi, message));
    }
    let names = arguments(&function)?;
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
    } = function;
    let mut inner = sig.clone();
    inner.abi = None;
    inner.ident = format_ident!("inner");
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            #inner #block
            // SAFETY: called by the server, so there is nothing above that would have to be dropped.
            #[allow(unused_unsafe)]
            unsafe { ::pg::boundary::enter(move || unsafe { inner(#(#names),*) }) }
        }
    })
}

fn sql_function(function: &ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let given = arguments(function)?;
    // An argument may be called as the record of the call is.
    let names: Vec<_> = given
        .iter()
        .map(|name| format_ident!("given_{name}"))
        .collect();
    let name = &function.sig.ident;
    let wrapper = format_ident!("{name}_wrapper");
    let record = format_ident!("pg_finfo_{wrapper}");
    let result: syn::Type = match &function.sig.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, of_type) => (**of_type).clone(),
    };
    let missing = format!("an argument of {name} cannot be read");
    let lifetime: Lifetime = parse_quote!('call);
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[no_mangle]
        pub unsafe extern "C-unwind" fn #wrapper(
            fcinfo: ::pgrx::pg_sys::FunctionCallInfo,
        ) -> ::pgrx::pg_sys::Datum {
            fn inner<#lifetime>(
                fcinfo: &mut ::pgrx::callconv::FcInfo<#lifetime>,
            ) -> ::pgrx::datum::Datum<#lifetime> {
                // SAFETY: the SQL declares the function with these arguments, and with this result.
                unsafe {
                    let read = &mut fcinfo.args();
                    #(let #names = read.next_arg_unchecked().expect(#missing);)*
                    let _ = read;
                    let result: #result = #name(#(#names),*);
                    let result = ::pgrx::callconv::RetAbi::to_ret(result);
                    <#result as ::pgrx::callconv::RetAbi>::box_ret_in(fcinfo, result)
                }
            }
            // SAFETY: called by the server with the record of this call, so there is nothing above that would have to
            // be dropped.
            unsafe {
                ::pg::boundary::enter(move || {
                    inner(&mut ::pgrx::callconv::FcInfo::from_ptr(fcinfo)).sans_lifetime()
                })
            }
        }

        #[doc(hidden)]
        #[no_mangle]
        pub extern "C-unwind" fn #record() -> &'static ::pgrx::pg_sys::Pg_finfo_record {
            static VERSION: ::pgrx::pg_sys::Pg_finfo_record =
                ::pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &VERSION
        }
    })
}
