//! The extension's own objects, whatever they are called and in whatever schema they are.
//!
//! A name says nothing: anybody can make a `bloom_sim` of types called `bloom`. A function is ours if it is written in C and calling it
//! would run the code of this library, which only a superuser can arrange. Types are known by their input functions,
//! operators by the functions behind them. What was found is kept for the session, until some function changes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_int, c_void, CStr, CString};

use pgrx::pg_sys;

use crate::pg::values::varlena::Varlena;
use crate::pg::{entry, ffi};

/// What the functions are for that are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    SignatureInput,
    QueryInput,
    Sim,
    Dice,
    SimAbove,
    SimAtLeast,
    DiceAbove,
    DiceAtLeast,
    Query,
    QueryAbove,
    QueryAtLeast,
    QueryOfDice,
    /// What is behind `bloom % bloom_query`.
    Matches,
}

impl Purpose {
    /// How many arguments it takes, where that matters: SQL may declare a function in C with any.
    fn arguments(self) -> Option<usize> {
        match self {
            Purpose::SignatureInput | Purpose::QueryInput => None,
            Purpose::Sim | Purpose::Dice | Purpose::Matches => Some(2),
            Purpose::Query | Purpose::QueryAbove | Purpose::QueryAtLeast | Purpose::QueryOfDice => {
                Some(2)
            }
            Purpose::SimAbove | Purpose::SimAtLeast | Purpose::DiceAbove | Purpose::DiceAtLeast => {
                Some(3)
            }
        }
    }
}

/// With the names that they are installed under; those of their C functions end in `_wrapper`.
const FUNCTIONS: [(Purpose, &CStr); 13] = [
    (Purpose::SignatureInput, c"bloom_in"),
    (Purpose::QueryInput, c"bloom_query_in"),
    (Purpose::Sim, c"bloom_sim"),
    (Purpose::Dice, c"bloom_dice"),
    (Purpose::SimAbove, c"bloom_sim_above"),
    (Purpose::SimAtLeast, c"bloom_sim_at_least"),
    (Purpose::DiceAbove, c"bloom_dice_above"),
    (Purpose::DiceAtLeast, c"bloom_dice_at_least"),
    (Purpose::Query, c"bloom_query"),
    (Purpose::QueryAbove, c"bloom_query_above"),
    (Purpose::QueryAtLeast, c"bloom_query_at_least"),
    (Purpose::QueryOfDice, c"bloom_query_of_dice"),
    (Purpose::Matches, c"bloom_matches"),
];

/// A function of ours.
#[derive(Clone, Copy)]
pub struct Function {
    pub purpose: Purpose,
    /// The type of its first argument, a signature where it has two.
    pub first: pg_sys::Oid,
    pub result: pg_sys::Oid,
}

/// pg_language.dat
const C_LANGUAGE: u32 = 13;

/// Functions to be kept in mind, at most; a session asks for those that stand in comparisons of numbers.
const MOST: usize = 1024;

/// What is looked for, beside which function, and for which type of signatures.
type Wanted = (Purpose, [pg_sys::Oid; 2]);

thread_local! {
    static KNOWN: RefCell<HashMap<pg_sys::Oid, Option<Function>>> = RefCell::default();
    static BESIDE: RefCell<HashMap<Wanted, Option<pg_sys::Oid>>> = RefCell::default();
    /// Counts what has made both forget.
    static CHANGES: Cell<u64> = const { Cell::new(0) };
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

fn listen() {
    if !LISTENING.replace(true) {
        // SAFETY: the function stays for the life of the session.
        unsafe {
            pg_sys::CacheRegisterSyscacheCallback(
                pg_sys::SysCacheIdentifier::PROCOID as i32,
                Some(forget),
                pg_sys::Datum::null(),
            );
        }
    }
}

/// Called in the midst of catalog look-ups, of which none is made while one of the maps is in use.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _cache: c_int, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    KNOWN.with_borrow_mut(HashMap::clear);
    BESIDE.with_borrow_mut(HashMap::clear);
}

/// What is known of `key`, or what `find` finds, which is kept if nothing has changed meanwhile.
fn kept<K: Copy + Eq + std::hash::Hash, V: Copy>(
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

/// The function, if it is one of those above, and ours.
pub fn function(oid: pg_sys::Oid) -> Option<Function> {
    if oid.to_u32() < pg_sys::FirstNormalObjectId {
        return None;
    }
    kept(&KNOWN, oid, || identify(oid))
}

fn identify(oid: pg_sys::Oid) -> Option<Function> {
    let (found, source, library) = described(oid)?;
    // SAFETY: two C strings. The library is loaded as if the function were called; only a superuser can have named one.
    let code = unsafe {
        ffi::load_external_function(
            library.as_ptr(),
            source.as_ptr(),
            false,
            std::ptr::null_mut(),
        )
    };
    is_of_this_library(code).then_some(found)
}

/// A function in C with the source name of one of ours; its source and its library.
fn described(oid: pg_sys::Oid) -> Option<(Function, CString, CString)> {
    let cache = pg_sys::SysCacheIdentifier::PROCOID as c_int;
    // SAFETY: a row of pg_proc, which is released when all has been copied from it. Both attributes are texts.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(oid));
        if row.is_null() {
            return None;
        }
        let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let text = |attribute: u32| {
            let mut is_null = false;
            let value =
                pg_sys::SysCacheGetAttr(cache, row, attribute as pg_sys::AttrNumber, &mut is_null);
            let bytes = (!is_null).then(|| Varlena::of(value).bytes().to_vec())?;
            CString::new(bytes).ok()
        };
        let in_c = form.prolang.to_u32() == C_LANGUAGE;
        let found = in_c.then(|| text(pg_sys::Anum_pg_proc_prosrc)).flatten();
        let found = found.and_then(|source| {
            let name = source.to_bytes().strip_suffix(b"_wrapper")?;
            let (purpose, _) = FUNCTIONS.iter().find(|f| f.1.to_bytes() == name)?;
            let arguments = form.proargtypes.dim1.max(0) as usize;
            if purpose.arguments().is_some_and(|n| n != arguments) {
                return None;
            }
            let function = Function {
                purpose: *purpose,
                first: *form.proargtypes.values.as_slice(arguments).first()?,
                result: form.prorettype,
            };
            Some((function, source, text(pg_sys::Anum_pg_proc_probin)?))
        });
        pg_sys::ReleaseSysCache(row);
        found
    }
}

/// Whether code lies where this library is loaded.
fn is_of_this_library(code: *const c_void) -> bool {
    let own = ffi::library_of(identify as *const c_void);
    !code.is_null() && own.is_some() && ffi::library_of(code) == own
}

/// The function of ours that is in the same schema as `near`, for signatures of a type.
pub fn beside(near: pg_sys::Oid, purpose: Purpose, bloom: pg_sys::Oid) -> Option<pg_sys::Oid> {
    kept(&BESIDE, (purpose, [near, bloom]), || {
        let arguments: &[pg_sys::Oid] = match purpose {
            Purpose::SignatureInput | Purpose::QueryInput | Purpose::Matches => return None,
            Purpose::Sim | Purpose::Dice => &[bloom, bloom],
            Purpose::SimAbove | Purpose::SimAtLeast | Purpose::DiceAbove | Purpose::DiceAtLeast => {
                &[bloom, bloom, pg_sys::FLOAT8OID]
            }
            Purpose::Query | Purpose::QueryAbove | Purpose::QueryAtLeast | Purpose::QueryOfDice => {
                &[bloom, pg_sys::FLOAT8OID]
            }
        };
        let (_, name) = FUNCTIONS.iter().find(|f| f.0 == purpose)?;
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

/// Whether there is `bloom % bloom_query` in the same schema as `near`, and ours.
pub fn match_beside(near: pg_sys::Oid, bloom: pg_sys::Oid, query: pg_sys::Oid) -> bool {
    // SAFETY: the key of the cache OPERNAMENSP is name, left and right type and namespace.
    is_match(unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::OPERNAMENSP as i32,
            pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"%".as_ptr()),
            pg_sys::Datum::from(bloom),
            pg_sys::Datum::from(query),
            pg_sys::Datum::from(pg_sys::get_func_namespace(near)),
        )
    })
}

/// Whether an operator is `bloom % bloom_query`.
pub fn is_match(operator: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up by OID.
    let code = unsafe { pg_sys::get_opcode(operator) };
    function(code).is_some_and(|f| f.purpose == Purpose::Matches)
}

/// Whether a type, or that of which it is a domain, is `bloom`.
pub fn is_signature(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::SignatureInput)
}

/// Whether a type, or that of which it is a domain, is `bloom_query`.
pub fn is_query(of_type: pg_sys::Oid) -> bool {
    has_input(of_type, Purpose::QueryInput)
}

fn has_input(of_type: pg_sys::Oid, purpose: Purpose) -> bool {
    // SAFETY: a row of pg_type, released when the input function is known.
    let input = unsafe {
        let base = pg_sys::getBaseType(of_type);
        let cache = pg_sys::SysCacheIdentifier::TYPEOID as c_int;
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(base));
        if row.is_null() {
            return false;
        }
        let input = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_type>()).typinput;
        pg_sys::ReleaseSysCache(row);
        input
    };
    function(input).is_some_and(|f| f.purpose == purpose)
}
