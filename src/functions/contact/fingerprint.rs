//! On what stored values depend.

use bloom_ident_core::fingerprint;

use crate::pg::entry;

#[entry]
fn bloom_fingerprint() -> String {
    fingerprint::fingerprint()
}
