//! PostgreSQL on one side, `bloom_ident_core` on the other; no arithmetic of its own.
//!
//! The SQL objects are written by hand in `sql/`; every function here is bound there by the name of
//! its wrapper.

::pgrx::pg_module_magic!(name, version);

mod error;
mod functions;
mod gist;
mod jobs;
mod message;
mod planner;
mod settings;
mod sigfile;
mod types;

use pgrx::prelude::*;

#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    settings::define();
    sigfile::define();
    planner::define();
}
