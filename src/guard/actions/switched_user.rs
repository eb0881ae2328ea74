//! Acting as another user for a while.

use pgrx::pg_sys;

use pg::session::fixed_settings::FixedSettings;

/// The session while it acts as another user. After an error the server switches back by itself.
pub struct SwitchedUser {
    /// The user before.
    user: pg_sys::Oid,
    /// The security context before.
    context: i32,
    /// The settings that are made meanwhile.
    settings: FixedSettings,
}

impl SwitchedUser {
    /// Acts as `owner`, in the way of a SECURITY DEFINER function with a search_path of its own.
    ///
    /// SECURITY_RESTRICTED_OPERATION is not set: it would refuse to queue the checks of the table's deferred
    /// constraints. It protects the session of the invoking user, which is open anyway to the owner of the guarded
    /// table, who can create triggers on that table.
    pub fn begin(owner: pg_sys::Oid) -> SwitchedUser {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: `end` restores what is changed here, or the server does at the end of the subtransaction.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
            let local = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;
            pg_sys::SetUserIdAndSecContext(owner, context | local);
            // RestrictSearchPath() does the same; it came with PostgreSQL 17.
            let settings = FixedSettings::begin(&[(c"search_path", c"pg_catalog, pg_temp")]);
            SwitchedUser {
                user,
                context,
                settings,
            }
        }
    }

    /// Acts as the user before again, with the settings before.
    pub fn end(self) {
        self.settings.end();
        // SAFETY: user and security context are those that `begin` has found.
        unsafe { pg_sys::SetUserIdAndSecContext(self.user, self.context) };
    }
}
