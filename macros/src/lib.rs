//! The attribute `#[entry]`, on every Rust function that PostgreSQL calls, and `sql!` and `words!`, which write statements
//! and messages.
//!
//! An error must leave such a function as an error of the server with all its fields, and never as a Rust panic.
//! `pg::boundary::enter` does that, and this attribute puts it around the function. It stands in for pgrx's
//! `#[pg_extern]` and `#[pg_guard]`, whose guard keeps five fields of an error and a closed list of SQLSTATEs.

use proc_macro::TokenStream;
use quote::{format_ident, quote, ToTokens};
use syn::punctuated::Punctuated;
use syn::{
    parse_macro_input, parse_quote, Attribute, Error, Expr, ExprLit, FnArg, GenericArgument, Ident,
    ItemFn, Lifetime, Lit, LitStr, Meta, Pat, PathArguments, ReturnType, Token, Type,
};

type Properties = Punctuated<Ident, Token![,]>;

/// What may be said of an SQL function that is not IMMUTABLE, STRICT and PARALLEL SAFE.
const PROPERTIES: [&str; 5] = [
    "stable",
    "volatile",
    "called_on_null",
    "parallel_restricted",
    "parallel_unsafe",
];

/// Types of which SQL has many: a function that takes or gives one says what it is in its documentation.
const ANY: [&str; 3] = ["FunctionCallInfo", "NewValue", "Datum"];

/// Makes a function callable by the server.
///
/// - A function without an ABI is an SQL function. It gets a wrapper `<name>_wrapper` of version 1 of the calling
///   convention, and its record `pg_finfo_<name>_wrapper`; arguments and result convert as in pgrx. It is IMMUTABLE,
///   STRICT and PARALLEL SAFE; `#[entry(stable, called_on_null, parallel_unsafe)]` says otherwise. Where the Rust types
///   leave open which SQL types are meant, its documentation begins with the declaration: `(name text) RETURNS
///   regclass`. All this stands in the library as text, which `tests/symbols.test.sh` compares with the catalog.
/// - A function that is `extern "C-unwind"` is a callback, a hook, or another entry with a signature of its own. Its
///   signature stays as it is; its body runs inside the boundary.
#[proc_macro_attribute]
pub fn entry(properties: TokenStream, item: TokenStream) -> TokenStream {
    let properties = parse_macro_input!(properties with Properties::parse_terminated);
    let function = parse_macro_input!(item as ItemFn);
    let expanded = if function.sig.abi.is_some() {
        callback(function)
    } else {
        sql_function(&function, &properties)
    };
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

/// A part of a statement for the server, as `format!` writes texts: what a name in braces, or a field of it, stands for
/// is put in as `pg::sql::SqlPart` says. Braces of the statement are doubled.
#[proc_macro]
pub fn sql(text: TokenStream) -> TokenStream {
    let text = parse_macro_input!(text as LitStr);
    let sql = filled(&text, &quote!(::pg::sql::SqlPart::add));
    sql.unwrap_or_else(Error::into_compile_error).into()
}

/// A message with values, written in the same way, as bytes, since names and values are in the database's encoding: what
/// a name in braces stands for is put in as `pg::message::Words` says.
#[proc_macro]
pub fn words(text: TokenStream) -> TokenStream {
    let text = parse_macro_input!(text as LitStr);
    let words = filled(&text, &quote!(::pg::message::Words::add));
    let words = words.unwrap_or_else(Error::into_compile_error);
    quote!(#words.into_bytes()).into()
}

/// The text, with what its names stand for put in by the function `add`.
fn filled(
    literal: &LitStr,
    add: &proc_macro2::TokenStream,
) -> syn::Result<proc_macro2::TokenStream> {
    // Braces of the statement, as long as the others are looked for.
    const DOUBLED: [(&str, &str, &str); 2] = [("{{", "\u{1}", "{"), ("}}", "\u{2}", "}")];
    let mut text = literal.value();
    for (doubled, mark, _) in DOUBLED {
        text = text.replace(doubled, mark);
    }
    let plain = |text: &str| {
        let all = DOUBLED.into_iter();
        all.fold(text.to_owned(), |text, (_, mark, brace)| {
            text.replace(mark, brace)
        })
    };
    let mut parts = text.split('{');
    let first = plain(parts.next().unwrap_or_default());
    let mut sql = quote!(::pg::sql::Sql::new(#first));
    for part in parts {
        let Some((name, text)) = part.split_once('}') else {
            return Err(Error::new_spanned(literal, "a brace is not closed"));
        };
        let name: Expr = LitStr::new(name, literal.span()).parse()?;
        let text = plain(text);
        sql = quote!(#add(&#name, #sql).text(#text));
    }
    Ok(sql)
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

/// `Text` of `Text<'_>`, `CStr` of `&CStr`, `f64` of `Option<f64>`: SQL makes no difference there.
fn type_name(of: &Type) -> String {
    match of {
        Type::Group(group) => type_name(&group.elem),
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) => match &last.arguments {
                PathArguments::AngleBracketed(of) if last.ident == "Option" => {
                    match of.args.first() {
                        Some(GenericArgument::Type(inner)) => type_name(inner),
                        _ => last.ident.to_string(),
                    }
                }
                _ => last.ident.to_string(),
            },
            None => String::new(),
        },
        other => other.to_token_stream().to_string(),
    }
}

/// The SQL declarations in a function's documentation: what is code and begins with the arguments, at the beginning of
/// a line.
fn documented(function: &ItemFn) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines = function.attrs.iter().filter_map(line);
    let text: String = lines.map(|line| format!("\n{}", line.trim())).collect();
    let found = text
        .split("\n`(")
        .skip(1)
        .filter_map(|rest| rest.split_once('`'));
    let declared = found.map(|(code, _)| format!("({}", code.replace('\n', " ")));
    declared.collect::<Vec<_>>().join(" or ")
}

/// What the Rust side says of an SQL function, as a line of text: its name, the types of its arguments, that of its
/// result, its properties, and its documented declarations, with bars between them.
fn declaration(function: &ItemFn, properties: &Properties) -> syn::Result<String> {
    let name = &function.sig.ident;
    if let Some(unknown) = properties
        .iter()
        .find(|p| !PROPERTIES.contains(&p.to_string().as_str()))
    {
        let message = format!("an SQL function is {}", PROPERTIES.join(", "));
        return Err(Error::new_spanned(unknown, message));
    }
    let types = function
        .sig
        .inputs
        .iter()
        .filter_map(|argument| match argument {
            FnArg::Typed(typed) => Some(type_name(&typed.ty)),
            FnArg::Receiver(_) => None,
        });
    let types: Vec<String> = types.collect();
    let result = match &function.sig.output {
        ReturnType::Default => "()".to_owned(),
        ReturnType::Type(_, of_type) => type_name(of_type),
    };
    let documented = documented(function);
    if documented.is_empty()
        && types
            .iter()
            .chain([&result])
            .any(|t| ANY.contains(&t.as_str()))
    {
        let message =
            "its documentation begins with its declaration: `(name text) RETURNS regclass`";
        return Err(Error::new_spanned(name, message));
    }
    let properties: Vec<String> = properties.iter().map(Ident::to_string).collect();
    let (types, properties) = (types.join(","), properties.join(","));
    Ok(format!(
        "sql function {name}_wrapper|{types}|{result}|{properties}|{documented}\n"
    ))
}

fn sql_function(
    function: &ItemFn,
    properties: &Properties,
) -> syn::Result<proc_macro2::TokenStream> {
    let declared = declaration(function, properties)?;
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
            static DECLARED: ::pg::function::Declared = ::pg::function::Declared {
                record: ::pgrx::pg_sys::Pg_finfo_record { api_version: 1 },
                line: #declared,
            };
            &DECLARED.record
        }
    })
}
