//! Every bit of keys of a GiST index.

use base::ErrorKind;
use sigfile::gist::{unite, united_size, TreeKey};
use signature::filter::{Shape, View};

use super::tree_keys::use_key;
use super::{survives, Random};

/// What is taken for a key can be compared, united and split.
#[test]
fn every_bit_of_gist_keys() {
    let shape = Shape::new(7, 43, 3).unwrap();
    let leaf = |seed: u64| {
        let mut random = Random(seed);
        let mut bytes = vec![1, 7, 43, 0, 3, 1, 0, 0, 0, 0, 0, 0];
        bytes.extend((0..shape.bytes()).map(|_| random.next() as u8));
        *bytes.last_mut().unwrap() &= 0x1f;
        let count: u32 = bytes[12..].iter().map(|b| b.count_ones()).sum();
        bytes[8..12].copy_from_slice(&count.to_le_bytes());
        View::untrusted(&bytes).unwrap();
        bytes
    };
    let leaves = [leaf(1), leaf(2), leaf(3)];
    let keys = leaves.each_ref().map(|b| TreeKey::stored(b).unwrap());
    let mut inner = vec![0; united_size(keys).unwrap()];
    unite(keys, &mut inner);
    let mut query = leaves[0].clone();
    query.extend(0.8f64.to_le_bytes());
    // sampled bits: (13) with bits, and those of an empty set, a query, and what stands for both
    let bits = vec![1, 0, 13, 0, 0, 0, 0x5a, 0x11];
    let empty = vec![1, 1, 13, 0, 0, 0, 0, 0];
    let both = [&bits, &empty].map(|b| TreeKey::stored(b).unwrap());
    let mut inner_bits = vec![0; united_size(both).unwrap()];
    unite(both, &mut inner_bits);
    let bits_query = [&bits[..], &(-0.5f64).to_le_bytes()].concat();
    // united with two of either kind
    let mixed = [[keys[0], both[0], keys[2]], [both[0], keys[1], both[1]]];
    let sampled = [bits.clone(), empty.clone(), inner_bits, bits_query];
    for sound in [leaves[1].clone(), inner, query].into_iter().chain(sampled) {
        for bit in 0..8 * sound.len() {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            survives(
                &format!("key of {} bytes, bit {bit}", sound.len()),
                0,
                || {
                    let Some(key) = TreeKey::stored(&bytes) else {
                        return Ok(());
                    };
                    for keys in &mixed {
                        match use_key(key, keys) {
                            Err(e) if e.kind() == ErrorKind::DataException => (),
                            used => used?,
                        }
                    }
                    Ok(())
                },
            );
        }
    }
}
