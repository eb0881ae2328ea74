use pgrx::prelude::*;
::pgrx::pg_module_magic!(name, version);
#[pg_extern(sql = false, immutable, strict, parallel_safe)]
fn hello() -> i32 { 1 }
