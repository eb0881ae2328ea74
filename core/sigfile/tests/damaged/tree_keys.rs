//! What is done with keys of a GiST index. The fuzz targets include this file too.

use base::Result;
use sigfile::gist::{split, unite, united_size, TreeKey};

/// All that searches, inserts and splits do with a key, beside sound ones of any shapes, three at least. Panics over an
/// answer that cannot be.
///
/// Errors: the shape of the united key does not fit a page.
pub fn use_key(key: TreeKey<'_>, sound: &[TreeKey<'_>]) -> Result<()> {
    for other in sound {
        assert!((0.0..=1.0).contains(&key.bound(other)));
        key.may_match(other);
        key.may_contain(other);
        key.may_be_within(other);
        key.may_equal(other);
        key.order(other);
        key.foreign(other);
        assert!(key.penalty(other) >= 0.0 && other.penalty(&key) >= 0.0);
    }
    key.describe();
    let all = [sound[0], key, sound[2]];
    split(&all)?;
    let mut united = vec![0; united_size(all)?];
    unite(all, &mut united);
    assert!(TreeKey::stored(&united).is_some());
    Ok(())
}
