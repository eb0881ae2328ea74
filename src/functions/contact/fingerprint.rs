//! On what stored values depend.

use signature::fingerprint;

use pg::entry;

#[entry]
fn bloom_fingerprint() -> String {
    fingerprint::fingerprint()
}
