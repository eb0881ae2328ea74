//! The PostgreSQL extension bloom_ident: SQL functions, planner, jobs, guard, report and merging. Below it are crates:
//! `access` (indexes), `types` (values), `pg` (the server), and those of `core/`, which do all the arithmetic.
//! ARCHITECTURE.md has the house on one page.
//!
//! The SQL objects are written by hand in `sql/`; every function here is bound there by the name of
//! its wrapper.

::pgrx::pg_module_magic!(name, version);

mod clusters;
mod functions;
mod guard;
mod keyed;
mod merging;
mod models;
mod monitor;
mod pairs;

mod planner;
mod register;
mod report;
mod suggest;
mod versions;

use pg::entry;

#[entry]
#[no_mangle]
pub extern "C-unwind" fn _PG_init() {
    pg::boundary::define();
    pg::reserve::keep();
    types::settings::define();
    access::define();
    planner::define();
}
