//! The PostgreSQL extension bloom_ident: PostgreSQL on one side, `bloom_ident_core`, which does all the arithmetic, on the
//! other. ARCHITECTURE.md describes the rooms.
//!
//! The SQL objects are written by hand in `sql/`; every function here is bound there by the name of
//! its wrapper.

::pgrx::pg_module_magic!(name, version);

mod clusters;
mod functions;
mod gist;
mod guard;
mod merging;
mod models;
mod monitor;
mod objects;
mod pairs;
mod pg;
mod planner;
mod report;
mod settings;
mod sigfile;
mod suggest;
mod types;

use crate::pg::entry;

#[entry]
#[no_mangle]
pub extern "C-unwind" fn _PG_init() {
    pg::boundary::define();
    pg::reserve::keep();
    settings::define();
    sigfile::define();
    planner::define();
}
