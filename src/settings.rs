//! Settings under `bloom_ident.`

use pgrx::{pg_sys, GucContext, GucFlags, GucRegistry, GucSetting};

static THRESHOLD: GucSetting<f64> = GucSetting::<f64>::new(0.8);

/// The similarity from which `%` holds between two signatures.
pub fn threshold() -> f64 {
    THRESHOLD.get()
}

/// Registers the settings, when the library is loaded.
pub fn define() {
    GucRegistry::define_float_guc(
        c"bloom_ident.threshold",
        c"Sets the similarity from which the % operator holds between two signatures.",
        c"The comparison is inclusive: a % b means bloom_sim(a, b) >= threshold.",
        &THRESHOLD,
        0.0,
        1.0,
        GucContext::Userset,
        GucFlags::default(),
    );
    // SAFETY: called from _PG_init with a constant string.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"bloom_ident".as_ptr()) };
}
