//! Rows with keys: a search within a key equals a look at every row, whatever the keys, the shape and the threshold.

use base::Result;
use proptest::prelude::*;
use sigfile::budget::SearchSteps;
use sigfile::check::check;
use sigfile::search::Search;
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Geometry, Pages, Query, Segment, SignatureRow};
use signature::similarity::Popcounts;

const PAGE_WORDS: usize = 128;

#[derive(Default)]
struct Memory(Vec<Vec<u64>>);

impl Pages for Memory {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        Ok(&self.0[number as usize])
    }
}

impl PageStore for Memory {
    fn append(&mut self, _: Content, words: &[u64]) {
        self.0.push(words.to_vec());
    }
}

#[derive(Debug)]
struct Table {
    geometry: Geometry,
    /// Key and bits.
    rows: Vec<(u32, Vec<u64>)>,
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum()
}

impl Table {
    /// The tid of a row is its number, from 1.
    fn index(&self, chunks: Option<u32>) -> (Segment, Memory) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| (self.rows[i].0, count(&self.rows[i].1)));
        let mut writer = Writer::new(self.geometry, Memory::default());
        for i in order {
            let (key, words) = &self.rows[i];
            let row = SignatureRow {
                words,
                popcount: count(words),
                threshold: 0.0,
                key: *key,
                tid: i as u64 + 1,
            };
            writer.push(row).unwrap();
        }
        let (segment, mut store) = writer.finish(chunks, 1 << 20).unwrap();
        let mut words = vec![];
        segment.encode(&mut words);
        let mut rest = &words[..];
        assert_eq!(Segment::decode(self.geometry, &mut rest).unwrap(), segment);
        assert!(rest.is_empty());
        check(&segment, &mut store).unwrap();
        (segment, store)
    }

    fn brute(&self, query: &[u64], threshold: f64, key: Option<u32>) -> Vec<u64> {
        let hit = |(of, row): &(u32, Vec<u64>)| {
            let common = row.iter().zip(query);
            let counts = Popcounts {
                a: count(query),
                b: count(row),
                common: common.map(|(x, y)| (x & y).count_ones()).sum(),
            };
            key.is_none_or(|key| key == *of) && counts.jaccard() >= threshold
        };
        let tids = (1..).zip(&self.rows).filter(|(_, row)| hit(row));
        tids.map(|(tid, _)| tid).collect()
    }
}

/// What a search finds, and how many rows it has looked at.
fn search(
    segment: &Segment,
    store: &mut Memory,
    query: &Query,
    key: Option<u32>,
) -> (Vec<u64>, usize) {
    let mut search = Search::default();
    let steps = SearchSteps::new(segment, &sigfile::costs::SEARCH);
    search.start(segment, &steps, query, key, store).unwrap();
    let (mut found, mut pages) = (vec![], 0);
    while let Some((number, work)) = search.next(segment) {
        let page = segment.row_page(number, &store.0[number as usize]).unwrap();
        let done = work.run(&page, Some((segment, number)), query, |i, _| {
            if key.is_none_or(|key| page.key(i) == key) {
                found.push(page.row(i).tid);
            }
        });
        done.unwrap();
        pages += 1;
    }
    found.sort_unstable();
    (found, pages)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Rows near to few centres, of few or many keys.
fn tables() -> impl Strategy<Value = Table> {
    let bits = prop_oneof![Just(5u32), Just(64), Just(301), 5u32..400];
    let keys = prop_oneof![Just(1u32), Just(2), Just(9), Just(1000)];
    (bits, 0usize..4000, 1u64..40, keys, any::<u64>()).prop_map(|(bits, n, centres, keys, seed)| {
        let geometry = Geometry::new(PAGE_WORDS, bits, false, true).unwrap();
        let mut state = seed | 1;
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % below
        };
        let mut rows: Vec<(u32, Vec<u64>)> = vec![];
        for i in 0..n {
            let near = i as u64 >= centres;
            let mut words = match near {
                true => rows[random(centres) as usize].1.clone(),
                false => vec![0; geometry.stride],
            };
            let flips = if near { random(9) } else { u64::from(bits) / 3 };
            for _ in 0..flips {
                let bit = random(bits.into()) as usize;
                words[bit / 64] ^= 1 << (bit % 64);
            }
            // some keys have far more rows than others
            let key = random(u64::from(keys)).min(random(u64::from(keys)));
            rows.push(((key as u32).wrapping_mul(0x9e37_79b1), words));
        }
        Table { geometry, rows }
    })
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn searches_within_a_key_equal_brute_force(
        table in tables(),
        chunks in prop_oneof![Just(None), (1u32..20).prop_map(Some)],
        asked in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        threshold in 0.0f64..1.0,
    ) {
        let (segment, mut store) = table.index(chunks);
        if table.rows.is_empty() {
            return Ok(());
        }
        let (key, words) = asked.get(&table.rows);
        let keys = [None, Some(*key), Some(other.get(&table.rows).0), Some(key ^ 1)];
        for t in [threshold, 0.0, 0.5, 0.8, 0.9, 1.0, 2.0, f64::NAN] {
            let query = Query::new(&table.geometry, words, t);
            for key in keys {
                let (found, _) = search(&segment, &mut store, &query, key);
                prop_assert_eq!(found, table.brute(words, t, key), "{} within {:?}", t, key);
            }
        }
    }
}

/// A key with few rows costs a look at few pages.
#[test]
fn few_pages_are_read_for_a_small_key() {
    let geometry = Geometry::new(PAGE_WORDS, 301, false, true).unwrap();
    let mut state = 5u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let rows = (0..20_000u32).map(|i| {
        let mut words: Vec<u64> = (0..geometry.stride).map(|_| random() & random()).collect();
        words[4] &= (1 << 45) - 1;
        (i % 500, words)
    });
    let table = Table {
        geometry,
        rows: rows.collect(),
    };
    let (segment, mut store) = table.index(None);
    assert!(!segment.postings.is_empty());
    let of_key = 40_u32.div_ceil(geometry.capacity as u32) as usize + 1;
    for (key, words) in table.rows.iter().step_by(997) {
        for t in [0.0, 0.5, 0.9] {
            let query = Query::new(&geometry, words, t);
            let (found, pages) = search(&segment, &mut store, &query, Some(*key));
            assert_eq!(found, table.brute(words, t, Some(*key)));
            assert!(pages <= of_key, "{pages} pages at {t}");
        }
    }
}
