//! What an attacker without the secret reads from keyed signatures.

mod align;
mod bits;
mod graph;
mod patterns;
mod read;
mod reference;

pub use bits::Signatures;
pub use read::Reading;
pub use reference::{bigrams, Reference, Token};

/// Pattern mining.
pub fn by_patterns(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
    let share = 0.93;
    let patterns = patterns::mine(of, of.records() / 100, share, turn);
    let pairs = align::align(&patterns, of.records(), reference, turn);
    if std::env::var("AUDIT_DEBUG").is_ok() {
        eprintln!("{} patterns, {} pairs", patterns.len(), pairs.len());
        for (p, t) in &pairs {
            let pattern = &patterns[*p];
            eprintln!(
                "{p} {} bits {:.3} -> {t} {:?} {:.3}",
                bits::count(&pattern.bits),
                bits::count(&pattern.having) as f64 / of.records() as f64,
                reference.tokens()[*t],
                reference.frequency(*t)
            );
        }
    }
    let mut sets = vec![None; reference.tokens().len()];
    for (pattern, token) in pairs {
        sets[token] = Some(patterns[pattern].having.clone());
    }
    read::read_on(of, reference, sets, share, turn)
}

/// Graph matching.
pub fn by_graphs(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
    let share = 0.9;
    let sets = graph::token_sets(of, reference, (of.records() / 250).max(8), share, turn);
    read::read_on(of, reference, sets, share, turn)
}
