//! What a newer version of the rules changes: `bloom_stale_columns`. Indexes in formats that are not read are in `access`.

mod calls;
mod stale_columns;
