//! How often a counting filter lets something be removed that was never added, and what that costs.

use std::collections::BTreeSet;

use signature::counting::{holds_token, CountingBuilder, CountingView};
use signature::filter::{plan, plan_tokens, Shape};
use text::ngram::ngram_set;
use text::normalize;
use text::tokens::{token_hash, TokenHashList};

const LISTED: usize = 1000;

/// The distinct given names with surnames of FEBRL 3, those of its misspelled duplicates left out.
fn names() -> Vec<String> {
    let file = include_str!("../../../tests/data/febrl3.csv");
    let name = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let (given, surname) = (fields[2], fields[3]);
        let both = !given.is_empty() && !surname.is_empty();
        (both && fields[0].ends_with("org"))
            .then(|| normalize(&format!("{given} {surname}"), true, || ()).unwrap())
    };
    let distinct: BTreeSet<String> = file.lines().skip(1).filter_map(name).collect();
    distinct.into_iter().collect()
}

/// In an order that is as good as random.
fn shuffled(names: &[String], seed: u32) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort_by_key(|name| token_hash(format!("{seed} {name}").as_bytes()));
    names
}

fn empty(shape: Shape) -> Vec<u8> {
    let mut bytes = vec![0; CountingBuilder::size(shape)];
    CountingBuilder::new(shape, &mut bytes);
    bytes
}

fn one(token: &str) -> TokenHashList {
    let mut tokens = TokenHashList::new();
    tokens.push(token).unwrap();
    tokens
}

/// A thousand names have every trigram of 43 % of the other names, and of 61 % if each word is by itself. So no filter
/// of their trigrams, however large, tells listed names from others, and it lets those be removed. Besides, the
/// commonest trigrams fill their counters.
#[test]
fn trigrams_of_a_list_are_those_of_other_names() {
    const ORDERS: u32 = 20;
    let names = names();
    for (by_word, expected) in [(false, 0.43), (true, 0.61)] {
        let (mut within, mut removed, mut others_in_all) = (0, 0, 0);
        for seed in 0..ORDERS {
            let names = shuffled(&names, seed);
            let (listed, others) = names.split_at(LISTED);
            let trigrams =
                |name: &String| ngram_set(name, text::Rules::FIRST, 3, by_word, || ()).unwrap();
            let all: BTreeSet<u64> = listed.iter().flat_map(trigrams).collect();
            let held = |name: &&String| trigrams(name).iter().all(|index| all.contains(index));
            within += others.iter().filter(held).count();
            others_in_all += others.len();

            let mut bytes = empty(plan(5800, 3, 0.01).unwrap().shape);
            let mut builder = CountingBuilder::in_place(&mut bytes).unwrap();
            for name in listed {
                builder.add_text(name, by_word, || ()).unwrap();
            }
            assert!(builder.finish().full() > 1000);
            let removable = others.iter().filter(|name| {
                let mut bytes = bytes.clone();
                let mut builder = CountingBuilder::in_place(&mut bytes).unwrap();
                builder.remove_text(name, by_word, || ()).is_ok()
            });
            removed += removable.count();
        }
        let share = within as f64 / others_in_all as f64;
        let rate = removed as f64 / others_in_all as f64;
        eprintln!("by_word {by_word}: trigrams held {share:.4}, removed {rate:.4}");
        assert!((share - expected).abs() < 0.015, "{by_word}: {share}");
        assert!(rate >= share && rate < share + 0.02, "{rate} {share}");
    }
}

/// With whole names as tokens it is the rate that the filter was planned for. Each such removal takes some five of a
/// thousand names off the list, those that were alone at a counter.
#[test]
fn tokens_that_were_never_added_are_removed_at_the_planned_rate() {
    let names = shuffled(&names(), 0);
    let listed = &names[..LISTED];
    for (fpr, asked) in [(0.1, 20_000u32), (0.01, 100_000), (0.001, 300_000)] {
        let mut bytes = empty(plan_tokens(LISTED as i64, fpr).unwrap().shape);
        let mut builder = CountingBuilder::in_place(&mut bytes).unwrap();
        for name in listed {
            builder.add_tokens(one(name), || ()).unwrap();
        }
        assert_eq!(builder.finish().full(), 0);
        let (mut removals, mut lost) = (0, 0);
        for n in 0..asked {
            let token = format!("never added {n}");
            let held = holds_token(&CountingView::stored(&bytes).unwrap(), &token).unwrap();
            let mut after = bytes.clone();
            let mut builder = CountingBuilder::in_place(&mut after).unwrap();
            assert_eq!(builder.remove_tokens(one(&token), || ()).is_ok(), held);
            if held {
                removals += 1;
                let after = CountingView::stored(&after).unwrap();
                let missed = listed
                    .iter()
                    .filter(|name| !holds_token(&after, name).unwrap());
                lost += missed.count();
            }
        }
        let rate = f64::from(removals) / f64::from(asked);
        let lost = lost as f64 / f64::from(removals);
        eprintln!("fpr {fpr}: removed {rate:.5}, names lost each time {lost:.2}");
        assert!((rate / fpr - 1.0).abs() < 0.15, "{fpr}: {rate}");
        assert!(lost > 1.0 && lost < 10.0, "{fpr}: {lost}");
    }
}
