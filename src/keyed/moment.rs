//! A moment during which nothing is looked up again.

use pgrx::pg_sys;

/// A command of a statement that a client has sent, in its subtransaction: while it runs, it sees the same secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    statement: pg_sys::TimestampTz,
    transaction: pg_sys::LocalTransactionId,
    subtransaction: pg_sys::SubTransactionId,
    command: pg_sys::CommandId,
}

impl Moment {
    /// This one.
    pub fn now() -> Moment {
        // SAFETY: states of a session in a transaction; its own entry among the processes is always there.
        unsafe {
            Moment {
                statement: pg_sys::GetCurrentStatementStartTimestamp(),
                #[cfg(any(feature = "pg15", feature = "pg16"))]
                transaction: (*pg_sys::MyProc).lxid,
                #[cfg(not(any(feature = "pg15", feature = "pg16")))]
                transaction: (*pg_sys::MyProc).vxid.lxid,
                subtransaction: pg_sys::GetCurrentSubTransactionId(),
                command: pg_sys::GetCurrentCommandId(false),
            }
        }
    }
}
