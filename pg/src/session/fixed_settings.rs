//! Settings that are others for a while.

use std::ffi::CStr;

use pgrx::pg_sys;

/// Settings as they are for a while. After an error the server restores them by itself.
pub struct FixedSettings(i32);

/// What the text forms of values depend on, so that a text is the same in all sessions. What text means on its way in
/// is left alone, since a view may read some, as is search_path, since its functions may need it.
pub const OF_TEXT_FORMS: &[(&CStr, &CStr)] = &[
    (c"bytea_output", c"hex"),
    (c"datestyle", c"ISO"),
    (c"extra_float_digits", c"1"),
    (c"intervalstyle", c"postgres"),
    (c"lc_monetary", c"C"),
    (c"timezone", c"UTC"),
];

impl FixedSettings {
    /// Each is one that any user may change, with a value that it can have.
    pub fn begin(settings: &[(&CStr, &CStr)]) -> FixedSettings {
        // SAFETY: `end` restores what is changed here, or the server does at the end of the subtransaction. All strings
        // are C strings.
        unsafe {
            let level = pg_sys::NewGUCNestLevel();
            for (name, value) in settings {
                pg_sys::set_config_option(
                    name.as_ptr(),
                    value.as_ptr(),
                    pg_sys::GucContext::PGC_USERSET,
                    pg_sys::GucSource::PGC_S_SESSION,
                    pg_sys::GucAction::GUC_ACTION_SAVE,
                    true,
                    0,
                    false,
                );
            }
            FixedSettings(level)
        }
    }

    /// The settings before.
    pub fn end(self) {
        // SAFETY: the nesting level is the one that `begin` has made, and no level is left open above it.
        unsafe { pg_sys::AtEOXact_GUC(false, self.0) };
    }
}

/// Runs with row-level security off: where it would hide rows, that is an error.
///
/// Errors: those of `run`.
pub fn without_row_security<T>(run: impl FnOnce() -> T) -> T {
    let settings = FixedSettings::begin(&[(c"row_security", c"off")]);
    let result = run();
    settings.end();
    result
}
