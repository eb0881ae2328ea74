//! What reads bytes: signatures, queries, keys of a GiST index, weights.

#[path = "../../core/tests/damaged/tree_keys.rs"]
mod tree_keys;

use bloom_ident_core::filter::{Builder, QueryView, Shape, View};
use bloom_ident_core::gist::{unite, united_size, TreeKey};
use bloom_ident_core::similarity::{profile, Popcounts, Weights};
use bloom_ident_fuzz::{fuzz, message};
use tree_keys::use_key;

const HEADER: usize = 12;

fn signature(k: i64, p: i64, text: &str) -> Vec<u8> {
    let shape = Shape::new(k, p, 3).unwrap();
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_text(text, false, || ());
    builder.finish();
    bytes
}

fn signatures() -> Vec<Vec<u8>> {
    let of = |(k, p, text)| signature(k, p, text);
    [
        (7, 43, "erika"),
        (7, 43, ""),
        (2, 5, "mustermann"),
        (1, 61, "x"),
        (64, 5, "y"),
    ]
    .map(of)
    .to_vec()
}

/// The bytes, and the same with the popcount and the padding that they ought to have: most changes are found out by these.
fn mended(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut whole = bytes.to_vec();
    if let Some((header, bits)) = whole.split_at_mut_checked(HEADER) {
        let m = u32::from(header[1]) * u32::from(u16::from_le_bytes([header[2], header[3]]));
        if let Some(last) = bits.last_mut().filter(|_| m % 8 > 0) {
            *last &= 0xff >> (8 - m % 8);
        }
        let ones: u32 = bits.iter().map(|byte| byte.count_ones()).sum();
        header[8..].copy_from_slice(&ones.to_le_bytes());
    }
    [bytes.to_vec(), whole]
}

#[test]
fn signature_bytes() {
    fuzz("signature_bytes", true, &signatures(), |bytes| {
        let mut outcome = Err(String::new());
        for bytes in mended(bytes) {
            outcome = message(View::untrusted(&bytes)).map(|view| {
                assert!(View::stored(&bytes).is_some());
                assert_eq!(view.positions().count() as u32, view.popcount());
                assert_eq!(view.common(&view).ok(), Some(view.popcount()));
                let mut copy = bytes.clone();
                let mut builder = Builder::in_place(&mut copy).expect("a signature");
                builder.add_text("erika", false, || ());
                let larger = builder.finish();
                assert!(Popcounts::of(&larger, &view).is_ok_and(|c| c.contains()));
                format!(
                    "empty: {}, full: {}",
                    view.popcount() == 0,
                    view.fill() == 1.0
                )
            });
            // whatever they are, a caller that takes them for stored ones gets an answer
            if let Some(view) = View::stored(&bytes) {
                view.positions().for_each(drop);
                view.shape();
            }
        }
        outcome
    });
}

#[test]
fn query_bytes() {
    let seeds: Vec<Vec<u8>> = [0.0, 0.8, 1.0, 2.0, f64::NAN]
        .iter()
        .zip(signatures())
        .map(|(threshold, bytes)| [&bytes[..], &threshold.to_le_bytes()].concat())
        .collect();
    fuzz("query_bytes", true, &seeds, |bytes| {
        let (signature, threshold) = bytes.split_at(bytes.len() - bytes.len().min(8));
        let [_, signature] = mended(signature);
        let bytes = [&signature, threshold].concat();
        let view = message(QueryView::untrusted(&bytes))?;
        assert!(QueryView::stored(&bytes).is_some_and(|stored| stored.threshold == view.threshold));
        Ok(format!("reachable: {}", view.threshold <= 1.0))
    });
}

#[test]
fn gist_keys() {
    let leaves = signatures();
    let keys: Vec<TreeKey<'_>> = leaves.iter().map(|b| TreeKey::stored(b).unwrap()).collect();
    let mut inner = vec![0; united_size(keys[..2].iter().copied()).unwrap()];
    unite(keys[..2].iter().copied(), &mut inner);
    let mut mixed = vec![0; united_size(keys.iter().copied()).unwrap()];
    unite(keys.iter().copied(), &mut mixed);
    let query = [&leaves[0][..], &0.8f64.to_le_bytes()].concat();
    let seeds = [leaves.clone(), vec![inner, mixed, query]].concat();
    fuzz("gist_keys", true, &seeds, |bytes| {
        let key = TreeKey::stored(bytes).ok_or("no key")?;
        message(use_key(key, &keys))?;
        Ok(key
            .describe()
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned()
            + &bytes.len().min(3).to_string())
    });
}

#[test]
fn weights() {
    let seed = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let seeds = [
        seed(&[1.0, 2.0, 0.5]),
        seed(&[0.0, 0.0]),
        seed(&[f64::NAN]),
        seed(&[f64::MAX, f64::MAX]),
        vec![],
    ];
    fuzz("weights", true, &seeds, |bytes| {
        let numbers: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        let weights = message(Weights::new(&numbers))?;
        let sims = (0..weights.len()).map(|i| Ok((i % 3 != 1).then_some(0.5)));
        let result = message(profile(weights, sims))?;
        assert!(
            result.is_none_or(|r| (0.0..=1.0).contains(&r)),
            "{result:?}"
        );
        Ok(format!("{}", result.is_some()))
    });
}
