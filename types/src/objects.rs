//! The extension's own functions, types and operators: how they are recognized under any name and in any schema.
//!
//! A name proves nothing, since anybody can make a `bloom_sim` of types called `bloom`. A function is ours if it is
//! written in C and calling it would run the code of this library, which only a superuser can arrange. Types are
//! recognized by their input functions, operators by the functions behind them. What was found is kept for the session,
//! until some function changes.

use pg::catalog::operators::beside;
use pg::catalog::with_row;
use pg::session_state::map_bytes;
use pg::values::varlena::Varlena;
use pg::{entry, ffi};
use pgrx::pg_sys;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_int, c_void, CStr, CString};
use std::sync::Once;

// The functions that are looked for, and what they are for.

base::named! {
    /// What the functions are for that are looked for, and the names that they are installed under. The names of their C
    /// functions end in `_wrapper`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Purpose {
        SignatureInput = "bloom_in",
        QueryInput = "bloom_query_in",
        Sim = "bloom_sim",
        Dice = "bloom_dice",
        SimAbove = "bloom_sim_above",
        SimAtLeast = "bloom_sim_at_least",
        DiceAbove = "bloom_dice_above",
        DiceAtLeast = "bloom_dice_at_least",
        Query = "bloom_query",
        QueryAbove = "bloom_query_above",
        QueryAtLeast = "bloom_query_at_least",
        QueryOfDice = "bloom_query_of_dice",
        /// What is behind `bloom % bloom_query`.
        Matches = "bloom_matches",
        // The same of minhash_bits and minhash_query.
        BitsInput = "minhash_bits_in",
        BitsQueryInput = "minhash_query_in",
        BitsSim = "minhash_sim",
        BitsSimAbove = "minhash_sim_above",
        BitsSimAtLeast = "minhash_sim_at_least",
        BitsQuery = "minhash_query",
        BitsQueryAbove = "minhash_query_above",
        BitsQueryAtLeast = "minhash_query_at_least",
        BitsMatches = "minhash_matches",
        // What signatures of text and edit distances have to do with each other.
        Signature = "bloom_signature",
        // What else normalises texts by a rule set that may be another one.
        CountingInput = "counting_bloom_in",
        CountingSignature = "counting_signature",
        Normalize = "ident_normalize",
        Fields = "bloom_signature_of_fields",
        FieldsShaped = "bloom_signature_of_fields_shaped",
        FieldsFilled = "bloom_signature_of_fields_filled",
        FieldsByRules = "bloom_signature_of_fields_by_rules",
        EditWithin = "ident_edit_within",
        EditBound = "bloom_edit_bound",
        EditPossible = "bloom_edit_possible",
        QueryEdit = "bloom_query_edit",
    }
}

impl Purpose {
    /// What such a function takes: signatures, which InvalidOid stands for, and values of the server's types. The second one
    /// of those behind `%` is a query. `None` if it does not matter: SQL may declare a function in C with any arguments.
    fn takes(self) -> Option<&'static [pg_sys::Oid]> {
        use pg_sys::{BOOLOID, FLOAT8OID, INT4OID, TEXTARRAYOID, TEXTOID};
        use Purpose::*;
        const S: pg_sys::Oid = pg_sys::InvalidOid;
        match self {
            SignatureInput | QueryInput | BitsInput | BitsQueryInput | CountingInput => None,
            Sim | Dice | Matches | BitsSim | BitsMatches => Some(&[S, S]),
            SimAbove | SimAtLeast | DiceAbove | DiceAtLeast => Some(&[S, S, FLOAT8OID]),
            BitsSimAbove | BitsSimAtLeast => Some(&[S, S, FLOAT8OID]),
            Query | QueryAbove | QueryAtLeast | QueryOfDice => Some(&[S, FLOAT8OID]),
            BitsQuery | BitsQueryAbove | BitsQueryAtLeast => Some(&[S, FLOAT8OID]),
            Signature | CountingSignature => {
                Some(&[TEXTOID, INT4OID, INT4OID, FLOAT8OID, BOOLOID, BOOLOID])
            }
            Normalize => Some(&[TEXTOID, BOOLOID]),
            Fields => Some(&[TEXTARRAYOID]),
            FieldsShaped => Some(&[INT4OID, INT4OID, FLOAT8OID, TEXTARRAYOID]),
            FieldsFilled => Some(&[INT4OID, INT4OID, FLOAT8OID, BOOLOID, TEXTARRAYOID]),
            FieldsByRules => Some(&[INT4OID, INT4OID, FLOAT8OID, BOOLOID, INT4OID, TEXTARRAYOID]),
            EditWithin => Some(&[TEXTOID, TEXTOID, INT4OID]),
            EditPossible => Some(&[S, S, FLOAT8OID, TEXTOID, INT4OID]),
            QueryEdit => Some(&[S, FLOAT8OID, TEXTOID, INT4OID]),
            EditBound => Some(&[TEXTOID, INT4OID, INT4OID, INT4OID, FLOAT8OID]),
        }
    }

    /// Whether it has a rule set for a last argument, since version 0.2.0.
    fn has_rules(self) -> bool {
        use Purpose::*;
        matches!(self, Signature | CountingSignature | Normalize)
    }

    /// The name in SQL.
    fn sql_name(self) -> &'static str {
        use Purpose::*;
        match self {
            FieldsShaped | FieldsFilled | FieldsByRules => Fields.name(),
            _ => self.name(),
        }
    }

    /// Whether a function of these argument types is one, as far as they tell.
    fn may_take(self, arguments: &[pg_sys::Oid]) -> bool {
        self.takes().is_none_or(|takes| {
            let fits = |(wanted, of): (&pg_sys::Oid, &pg_sys::Oid)| {
                *wanted == pg_sys::InvalidOid || wanted == of
            };
            // With version 0.2.0 some have one more, the rule set.
            let given = match arguments {
                [given @ .., pg_sys::INT4OID] if self.has_rules() => given,
                _ => arguments,
            };
            takes.len() == given.len() && takes.iter().zip(given).all(fits)
        })
    }
}

/// A function of ours.
#[derive(Clone, Copy)]
pub struct Function {
    pub purpose: Purpose,
    /// The type of its first argument, a signature where it has two.
    pub first: pg_sys::Oid,
    pub result: pg_sys::Oid,
}

// Whether a function or an operator is ours, and which.

/// pg_language.dat
const C_LANGUAGE: u32 = 13;

/// The function, if it is one of those of a [`Purpose`], and ours.
pub fn function(oid: pg_sys::Oid) -> Option<Function> {
    if oid.to_u32() < pg_sys::FirstNormalObjectId {
        return None;
    }
    cached(&KNOWN, oid, || identify(oid))
}

fn identify(oid: pg_sys::Oid) -> Option<Function> {
    let (found, source, library) = described(oid)?;
    is_of_this_library(code(&source, &library)).then_some(found)
}

/// Whether a function is written in C and runs code of this library, as only a superuser can have declared it.
pub fn is_ours(oid: pg_sys::Oid) -> bool {
    let cache = pg_sys::SysCacheIdentifier::PROCOID;
    let read = |row, form: &pg_sys::FormData_pg_proc| {
        // SAFETY: a row of pg_proc, from which all is copied.
        unsafe { source_and_library(row, form) }
    };
    // SAFETY: the cache is by OID, and has rows of this form.
    let Some((source, library)) = unsafe { with_row(cache, oid, read) }.flatten() else {
        return false;
    };
    is_of_this_library(code(&source, &library))
}

/// Where the code of a function in C is; NULL if the library has none of this name.
fn code(source: &CStr, library: &CStr) -> *const c_void {
    // SAFETY: two C strings. The library is loaded as if the function were called; only a superuser can have named one.
    unsafe {
        ffi::load_external_function(
            library.as_ptr(),
            source.as_ptr(),
            false,
            std::ptr::null_mut(),
        )
    }
}

/// Source and library of a function in C.
///
/// # Safety
/// `row` is one of pg_proc, and `form` its form.
unsafe fn source_and_library(
    row: pg_sys::HeapTuple,
    form: &pg_sys::FormData_pg_proc,
) -> Option<(CString, CString)> {
    if form.prolang.to_u32() != C_LANGUAGE {
        return None;
    }
    let text = |attribute: u32| {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as c_int;
        let mut is_null = false;
        // SAFETY: both attributes are texts.
        unsafe {
            let value =
                pg_sys::SysCacheGetAttr(cache, row, attribute as pg_sys::AttrNumber, &mut is_null);
            let bytes = (!is_null).then(|| Varlena::new(value).bytes().to_vec())?;
            CString::new(bytes).ok()
        }
    };
    Some((
        text(pg_sys::Anum_pg_proc_prosrc)?,
        text(pg_sys::Anum_pg_proc_probin)?,
    ))
}

/// A function in C with the source name of one of ours; its source and its library.
fn described(oid: pg_sys::Oid) -> Option<(Function, CString, CString)> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID;
    // SAFETY: a row of pg_proc, from which all is copied.
    let read = |row, form: &pg_sys::FormData_pg_proc| unsafe {
        let (source, library) = source_and_library(row, form)?;
        let purpose = Purpose::named(source.to_str().ok()?.strip_suffix("_wrapper")?)?;
        let arguments = form.proargtypes.dim1.max(0) as usize;
        let arguments = form.proargtypes.values.as_slice(arguments);
        if !purpose.may_take(arguments) {
            return None;
        }
        let function = Function {
            purpose,
            first: *arguments.first()?,
            result: form.prorettype,
        };
        Some((function, source, library))
    };
    // SAFETY: the cache is by OID, and has rows of this form.
    unsafe { with_row(cache, oid, read) }?
}

/// Whether code lies where this library is loaded.
fn is_of_this_library(code: *const c_void) -> bool {
    let own = ffi::library_of(identify as *const c_void);
    !code.is_null() && own.is_some() && ffi::library_of(code) == own
}

/// Whether an operator is `bloom % bloom_query`.
pub fn is_match(operator: pg_sys::Oid) -> bool {
    has_purpose(operator, Purpose::Matches)
}

/// Whether an operator is `minhash_bits % minhash_query`.
pub fn is_bits_match(operator: pg_sys::Oid) -> bool {
    has_purpose(operator, Purpose::BitsMatches)
}

fn has_purpose(operator: pg_sys::Oid, purpose: Purpose) -> bool {
    // SAFETY: a catalog look-up by OID.
    let code = unsafe { pg_sys::get_opcode(operator) };
    function(code).is_some_and(|f| f.purpose == purpose)
}

// Whether a type is ours, and which.

/// Whether a type, or that of which it is a domain, is `bloom`.
pub fn is_signature(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::SignatureInput)
}

/// Whether a type, or that of which it is a domain, is `counting_bloom`.
pub fn is_counting(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::CountingInput)
}

/// Whether a type, or that of which it is a domain, is `bloom_query`.
pub fn is_query(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::QueryInput)
}

/// Whether a type, or that of which it is a domain, is `minhash_bits`.
pub fn is_bits(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::BitsInput)
}

/// Whether a type, or that of which it is a domain, is `minhash_query`.
pub fn is_bits_query(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::BitsQueryInput)
}

fn has_input(of_type: pg_sys::Oid, purpose: Purpose) -> bool {
    let read = |_, form: &pg_sys::FormData_pg_type| form.typinput;
    // SAFETY: the cache is by OID, and has rows of this form.
    let input = unsafe {
        let base = pg_sys::getBaseType(of_type);
        with_row(pg_sys::SysCacheIdentifier::TYPEOID, base, read)
    };
    input
        .and_then(function)
        .is_some_and(|f| f.purpose == purpose)
}

// Functions and operators of ours in the schema of another function.

/// The function of ours that is in the same schema as `near`, for signatures of a type.
pub fn function_in_schema_of(
    near: pg_sys::Oid,
    purpose: Purpose,
    bloom: pg_sys::Oid,
) -> Option<pg_sys::Oid> {
    cached(&IN_SCHEMA, (purpose, [near, bloom]), || {
        let name = CString::new(purpose.sql_name()).ok()?;
        let rules = [pg_sys::INT4OID];
        let rules: &[pg_sys::Oid] = if purpose.has_rules() { &rules } else { &[] };
        let arguments = purpose.takes()?.iter().chain(rules);
        let arguments = arguments.map(|&of| if of == pg_sys::InvalidOid { bloom } else { of });
        let arguments: Vec<pg_sys::Oid> = arguments.collect();
        // SAFETY: the key of the cache PROCNAMEARGSNSP is name, argument types and namespace.
        let found = unsafe {
            pg_sys::GetSysCacheOid(
                pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
                pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
                pg_sys::Datum::from(name.as_ptr()),
                pg_sys::Datum::from(pg_sys::buildoidvector(
                    arguments.as_ptr(),
                    arguments.len() as i32,
                )),
                pg_sys::Datum::from(pg_sys::get_func_namespace(near)),
                pg_sys::Datum::null(),
            )
        };
        function(found)
            .is_some_and(|f| f.purpose == purpose)
            .then_some(found)
    })
}

/// Whether there is `bloom % bloom_query`, or `minhash_bits % minhash_query`, in the same schema as `near`, and ours.
pub fn has_match_operator(near: pg_sys::Oid, bloom: pg_sys::Oid, query: pg_sys::Oid) -> bool {
    let found = beside(near, c"%", [bloom, query]);
    is_match(found) || is_bits_match(found)
}

// What was found, kept for the session until some function changes.

/// Functions to be kept in mind, at most; a session asks for those that stand in comparisons of numbers.
const MOST: usize = 1024;

/// What is looked for, beside which function, and for which type of signatures.
type Wanted = (Purpose, [pg_sys::Oid; 2]);

pg::session_state! {
    /// `None` for a function that is none of ours.
    static KNOWN: RefCell<HashMap<pg_sys::Oid, Option<Function>>> = RefCell::default();
    "functions" by "OID" until "a function changes" bytes |known| map_bytes(&known.borrow());
    /// What [`function_in_schema_of`] has found.
    static IN_SCHEMA: RefCell<HashMap<Wanted, Option<pg_sys::Oid>>> = RefCell::default();
    "functions beside functions" by "purpose, function and type" until "a function changes"
        bytes |found| map_bytes(&found.borrow());
    /// Counts what has made both forget.
    static CHANGES: Cell<u64> = Cell::default();
    "changes of functions" by "all functions" until "the session ends";
}

/// Has the server call [`forget`].
fn listen() {
    static LISTENING: Once = Once::new();
    // SAFETY: the function stays for the life of the session.
    LISTENING.call_once(|| unsafe {
        pg_sys::CacheRegisterSyscacheCallback(
            pg_sys::SysCacheIdentifier::PROCOID as i32,
            Some(forget),
            pg_sys::Datum::null(),
        );
    });
}

/// The server calls it during catalog look-ups; none is made while one of the maps is borrowed.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _cache: c_int, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    KNOWN.with_borrow_mut(HashMap::clear);
    IN_SCHEMA.with_borrow_mut(HashMap::clear);
}

/// What is known of `key`, or what `find` finds, which is kept if nothing has changed meanwhile.
fn cached<K: Copy + Eq + std::hash::Hash, V: Copy>(
    map: &'static std::thread::LocalKey<RefCell<HashMap<K, V>>>,
    key: K,
    find: impl FnOnce() -> V,
) -> V {
    listen();
    if let Some(value) = map.with_borrow(|map| map.get(&key).copied()) {
        return value;
    }
    let before = CHANGES.get();
    let value = find();
    if CHANGES.get() == before {
        map.with_borrow_mut(|map| {
            if map.len() >= MOST {
                map.clear();
            }
            map.insert(key, value);
        });
    }
    value
}
