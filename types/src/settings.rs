//! Settings under `bloom_ident.`

use std::ffi::{c_void, CString};

use base::range::of_percent;
use pg::entry;
use pgrx::{pg_sys, GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

static THRESHOLD: GucSetting<f64> = GucSetting::<f64>::new(0.8);

/// The similarity from which `%` holds between two signatures.
pub fn threshold() -> f64 {
    THRESHOLD.get()
}

/// Refuses a threshold that is not between 0 and 1, and says what was perhaps meant, which the server's own check of a
/// range does not. What the server is told lives as long as what it says of errors.
#[entry]
unsafe extern "C-unwind" fn check_threshold(
    value: *mut f64,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: the server calls this with the value that is to be set, and shows what these variables point to.
    unsafe {
        let given = *value;
        if (0.0..=1.0).contains(&given) {
            return true;
        }
        let said = |text: &str| {
            let text = CString::new(text).unwrap_or_default();
            pg_sys::MemoryContextStrdup(pg_sys::ErrorContext, text.as_ptr())
        };
        pg_sys::GUC_check_errdetail_string = said("A threshold lies between 0 and 1.");
        if let Some(hint) = of_percent(given) {
            pg_sys::GUC_check_errhint_string = said(&hint);
        }
        false
    }
}

/// What is decided about a new row and those that it is too similar to.
#[derive(Clone, Copy, PartialEq, Eq, PostgresGucEnum)]
pub enum Decide {
    /// Nothing.
    #[name = c"none"]
    None,
    /// They are different: it is let in, and that is remembered.
    #[name = c"different"]
    Different,
}

static DECIDE: GucSetting<Decide> = GucSetting::<Decide>::new(Decide::None);

/// What the session decides about new rows that guards find too similar to others.
pub fn decide() -> Decide {
    DECIDE.get()
}

static CHECK_KEYS: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Whether jobs make sure that keys are unique where no index does.
pub fn check_keys() -> bool {
    CHECK_KEYS.get()
}

static LOG_SECRETS: GucSetting<bool> = GucSetting::<bool>::new(false);

/// Whether the log tells of the use of secrets.
pub fn logs_secrets() -> bool {
    LOG_SECRETS.get()
}

/// Registers the settings, when the library is loaded.
pub fn define() {
    GucRegistry::define_float_guc_with_hooks(
        c"bloom_ident.threshold",
        c"Sets the similarity from which the % operator holds between two signatures.",
        c"The comparison is inclusive: a % b means bloom_sim(a, b) >= threshold.",
        &THRESHOLD,
        f64::MIN,
        f64::MAX,
        GucContext::Userset,
        GucFlags::default(),
        Some(check_threshold),
        None,
        None,
    );
    GucRegistry::define_enum_guc(
        c"bloom_ident.decide",
        c"Sets what is decided about a new row and the rows that a guard finds too similar.",
        c"With \"different\" the row is let in, and each pair is entered into the guard's table of decisions, if the \
            current user may INSERT there.",
        &DECIDE,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"bloom_ident.check_keys",
        c"Sets whether jobs make sure that the keys of records are unique.",
        c"Off saves the time where they are so by other means. A unique index on the key saves it, too.",
        &CHECK_KEYS,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_bool_guc(
        c"bloom_ident.log_secrets",
        c"Sets whether the use of secrets is logged.",
        c"A message has the secret, the role, and how many uses it stands for; those of one session become fewer.",
        &LOG_SECRETS,
        GucContext::Suset,
        GucFlags::default(),
    );
    // SAFETY: called from _PG_init with a constant string.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"bloom_ident".as_ptr()) };
}
