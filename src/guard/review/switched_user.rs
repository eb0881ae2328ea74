//! Acting as another user for a while.

use pgrx::pg_sys;

/// The session while it acts as another user. After an error the server switches back by itself.
pub struct SwitchedUser {
    /// The user before.
    user: pg_sys::Oid,
    /// The security context before.
    context: i32,
    /// The nesting level of the settings that are made meanwhile.
    settings: i32,
}

impl SwitchedUser {
    /// Acts as `owner`, in the way of a SECURITY DEFINER function with a search_path of its own.
    ///
    /// SECURITY_RESTRICTED_OPERATION is not set: it would refuse to queue the checks of the table's deferred constraints. It
    /// protects the session of the invoking user, which is open anyway to the owner of the guarded table, who can create
    /// triggers on that table.
    pub fn begin(owner: pg_sys::Oid) -> SwitchedUser {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: `end` restores what is changed here, or the server does at the end of the subtransaction. All strings are
        // C strings, and search_path is a setting that any user may change.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
            let local = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;
            pg_sys::SetUserIdAndSecContext(owner, context | local);
            let settings = pg_sys::NewGUCNestLevel();
            // RestrictSearchPath() does the same; it came with PostgreSQL 17.
            pg_sys::set_config_option(
                c"search_path".as_ptr(),
                c"pg_catalog, pg_temp".as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
            SwitchedUser {
                user,
                context,
                settings,
            }
        }
    }

    /// Acts as the user before again, with the settings before.
    pub fn end(self) {
        // SAFETY: user, security context and nesting level are those that `begin` has found or made, and no level is left open
        // above that one.
        unsafe {
            pg_sys::AtEOXact_GUC(false, self.settings);
            pg_sys::SetUserIdAndSecContext(self.user, self.context);
        }
    }
}
