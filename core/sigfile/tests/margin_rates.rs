//! How many pairs are lost that are searched by their signatures somewhat below the similarity of their tokens.

use sigfile::shape::margin::searched;
use signature::filter::{plan_tokens, Builder, Shape, View};
use signature::similarity::{Measure, Popcounts};

const PAIRS: u32 = 2000;

/// The bits of a signature of the tokens with these numbers.
fn signature(shape: Shape, of: u32, tokens: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    tokens.for_each(|token| builder.add_token(&format!("{of} {token}")).unwrap());
    builder.finish();
    bytes
}

/// Of pairs of two sets of so many tokens, `common` of them in both, the share whose signatures are less similar than
/// what is searched for, and the mean difference between that similarity and the one of the tokens.
fn lost(shape: Shape, tokens: u32, common: u32) -> (f64, f64) {
    let jaccard = f64::from(common) / f64::from(2 * tokens - common);
    let least = searched(Measure::Jaccard, jaccard, None);
    let similarities: Vec<f64> = (0..PAIRS)
        .map(|pair| {
            let a = signature(shape, pair, 0..tokens);
            let b = signature(shape, pair, tokens - common..2 * tokens - common);
            let [a, b] = [&a, &b].map(|bytes| View::stored(bytes).unwrap());
            Popcounts::of_bits(a.bits(), b.bits()).jaccard()
        })
        .collect();
    let missed = similarities.iter().filter(|s| **s < least).count();
    let mean = similarities.iter().sum::<f64>() / f64::from(PAIRS);
    (missed as f64 / f64::from(PAIRS), mean - jaccard)
}

/// Less than 1 % of the pairs, and by far most shapes lose none of 2000. On the average, the similarity of signatures
/// is not below that of the tokens.
#[test]
fn few_pairs_are_below_the_margin_of_signatures() {
    for (most, fpr) in [(10, 0.01), (32, 0.1), (32, 0.01), (32, 0.001), (100, 0.01)] {
        let shape = plan_tokens(most, fpr).unwrap().shape;
        for share in [0.1, 0.25, 0.5, 1.0, 2.0] {
            let tokens = (most as f64 * share).ceil() as u32;
            for jaccard in [0.3, 0.5, 0.7, 0.8, 0.9] {
                let common = (2.0 * f64::from(tokens) * jaccard / (1.0 + jaccard)).round() as u32;
                let (lost, above) = lost(shape, tokens, common);
                let what = format!("shape for {most} tokens at {fpr}: of {tokens}, {common} common: lost {lost:.4}, mean {above:+.4}");
                println!("{what}");
                assert!(lost < 0.01 && above > -0.005, "{what}");
            }
        }
    }
}
