//! Search over segments equals a look at every row, whatever the shape, the rows and the threshold.

use base::Result;
use proptest::prelude::*;
use sigfile::budget::SearchSteps;
use sigfile::check::check;
use sigfile::join::{Batch, Folds, Joiner};
use sigfile::search::{PageWork, Search};
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Geometry, Pages, Query, Segment, SignatureRow};
use signature::similarity::{Measure, Popcounts};

const PAGE_WORDS: usize = 128;

#[derive(Default)]
struct Memory(Vec<Vec<u64>>, usize);

impl Pages for Memory {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        Ok(&self.0[number as usize])
    }
}

impl PageStore for Memory {
    fn append(&mut self, content: Content, words: &[u64]) {
        assert!(content == Content::Postings || self.0.len() == self.1);
        self.1 += usize::from(content == Content::Rows);
        self.0.push(words.to_vec());
    }
}

#[derive(Debug)]
struct Table {
    geometry: Geometry,
    rows: Vec<Vec<u64>>,
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum()
}

/// The popcount of a row. By agreement, rows without a set bit stand for what has no bits to compare.
fn popcount(geometry: &Geometry, words: &[u64]) -> u32 {
    match (geometry.measure, count(words)) {
        (Measure::Agreement { bits }, 0) => bits + 1,
        (_, popcount) => popcount,
    }
}

fn query(geometry: &Geometry, words: &[u64], threshold: f64) -> Query {
    match popcount(geometry, words) > geometry.bits {
        true => Query::without_bits(geometry, threshold),
        false => Query::new(geometry, words, threshold),
    }
}

/// The same geometry with either measure.
fn by_agreement(geometry: Geometry, is: bool) -> Geometry {
    let bits = geometry.bits;
    match is {
        true => geometry
            .with_bits(bits, Measure::Agreement { bits })
            .unwrap(),
        false => geometry,
    }
}

impl Table {
    fn index(&self, chunks: Option<u32>, memory: usize) -> (Segment, Memory) {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| popcount(&self.geometry, &self.rows[i]));
        let mut writer = Writer::new(self.geometry, Memory::default());
        for i in order {
            let row = SignatureRow {
                words: &self.rows[i],
                popcount: popcount(&self.geometry, &self.rows[i]),
                threshold: 0.0,
                key: 0,
                tid: i as u64 + 1,
            };
            writer.push(row).unwrap();
        }
        let (segment, store) = writer.finish(chunks, memory).unwrap();
        assert_eq!(segment.pages() as usize, store.0.len());
        let mut words = vec![];
        segment.encode(&mut words);
        let mut rest = &words[..];
        assert_eq!(Segment::decode(self.geometry, &mut rest).unwrap(), segment);
        assert!(rest.is_empty());
        let mut store = store;
        check(&segment, &mut store).unwrap();
        (segment, store)
    }

    fn brute(&self, query: &[u64], threshold: f64) -> Vec<u64> {
        let hit = |row: &Vec<u64>| {
            let counts = Popcounts {
                a: popcount(&self.geometry, query),
                b: popcount(&self.geometry, row),
                common: query
                    .iter()
                    .zip(row)
                    .map(|(x, y)| (x & y).count_ones())
                    .sum(),
            };
            self.geometry.measure.similarity(counts) >= threshold
        };
        (0..self.rows.len())
            .filter(|&i| hit(&self.rows[i]))
            .map(|i| i as u64 + 1)
            .collect()
    }
}

fn search(segment: &Segment, store: &mut Memory, query: &Query) -> Vec<u64> {
    let mut search = Search::default();
    let steps = SearchSteps::new(segment, &sigfile::costs::SEARCH);
    search.start(segment, &steps, query, None, store).unwrap();
    let mut found = vec![];
    while let Some((number, work)) = search.next(segment) {
        let words = &store.0[number as usize];
        let page = segment.row_page(number, words).unwrap();
        let done = work.run(&page, Some((segment, number)), query, |i, common| {
            let row = page.row(i);
            let shared: u32 = row
                .words
                .iter()
                .zip(query.words())
                .map(|(x, y)| (x & y).count_ones())
                .sum();
            assert_eq!(common, shared);
            found.push(row.tid);
        });
        done.unwrap();
    }
    found.sort_unstable();
    found
}

/// A table that fails is too large to be written down.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Rows near to few centres, with some empty and some equal ones.
fn tables() -> impl Strategy<Value = Table> {
    let shapes = prop_oneof![
        Just(5u32),
        Just(63),
        Just(64),
        Just(65),
        Just(301),
        Just(581),
        Just(2032),
        5u32..400
    ];
    (
        shapes,
        0usize..3000,
        1u64..40,
        1u32..90,
        any::<(u64, bool)>(),
    )
        .prop_map(|(bits, n, centres, density, (seed, agreement))| {
            let geometry = Geometry::new(PAGE_WORDS, bits, false, false).unwrap();
            let geometry = by_agreement(geometry, agreement);
            let mut state = seed | 1;
            let mut random = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
            };
            let mut row = |flips: u64, from: Option<&Vec<u64>>| {
                let mut words = vec![0; geometry.stride];
                match from {
                    Some(from) => words.copy_from_slice(from),
                    None => {
                        for i in 0..bits as usize {
                            if random() % 100 < u64::from(density) {
                                words[i / 64] |= 1 << (i % 64);
                            }
                        }
                    }
                }
                for _ in 0..flips {
                    let i = (random() % u64::from(bits)) as usize;
                    words[i / 64] ^= 1 << (i % 64);
                }
                words
            };
            let mut rows: Vec<Vec<u64>> = vec![];
            for i in 0..n {
                let like = rows.len() as u64 / centres.max(1);
                let new = match i % 7 {
                    0 => vec![0; geometry.stride],
                    1 | 2 => row(0, None),
                    3 => row(0, rows.get(like as usize)),
                    k => row(k as u64, rows.get(like as usize)),
                };
                rows.push(new);
            }
            Table { geometry, rows }
        })
}

/// The rows that have all bits of `bits`, and whether posting lists found them.
fn covering(segment: &Segment, store: &mut Memory, bits: &[u64]) -> (Vec<u64>, bool) {
    let mut search = Search::default();
    search.start_covering(segment, bits, None, store).unwrap();
    let (mut found, mut by_lists) = (vec![], true);
    while let Some((number, work)) = search.next(segment) {
        let page = segment.row_page(number, &store.0[number as usize]).unwrap();
        by_lists &= matches!(work, PageWork::Rows(_));
        let of = Some((segment, number));
        let run = work.run_covering(&page, of, bits, |i| found.push(page.row(i).tid));
        run.unwrap();
    }
    found.sort_unstable();
    (found, by_lists)
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn rows_with_all_bits_are_found(
        table in tables(),
        chunks in prop_oneof![Just(None), (1u32..20).prop_map(Some)],
        asked in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 4),
    ) {
        let (segment, mut store) = table.index(chunks, 1 << 20);
        for (asked, some) in asked {
            let Some(row) = table.rows.get(asked.index(table.rows.len().max(1))) else {
                continue;
            };
            for mask in [some, some | some.rotate_left(7), u64::MAX, 0] {
                let bits: Vec<u64> = row.iter().map(|word| word & mask).collect();
                let all = |row: &Vec<u64>| bits.iter().zip(row).all(|(a, b)| a & !b == 0);
                let expected = (0..table.rows.len()).filter(|&i| all(&table.rows[i]));
                let expected: Vec<u64> = expected.map(|i| i as u64 + 1).collect();
                prop_assert_eq!(covering(&segment, &mut store, &bits).0, expected);
            }
        }
    }
}

/// Ten thousand rows of which few have the bits: posting lists find them, and no row besides is looked at.
#[test]
fn few_rows_with_all_bits_are_found_by_lists() {
    let geometry = Geometry::new(PAGE_WORDS, 301, false, false).unwrap();
    let mut state = 1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    };
    let rows = (0..10_000).map(|_| {
        let mut words = vec![0; geometry.stride];
        for i in 0..301 {
            if random() % 100 < 20 {
                words[i / 64] |= 1 << (i % 64);
            }
        }
        words
    });
    let table = Table {
        geometry,
        rows: rows.collect(),
    };
    let (segment, mut store) = table.index(None, 1 << 22);
    let (found, by_lists) = covering(&segment, &mut store, &table.rows[7]);
    assert_eq!(found, [8]);
    assert!(by_lists);
    // of no bits all rows have all
    let (found, by_lists) = covering(&segment, &mut store, &vec![0; geometry.stride]);
    assert_eq!(found.len(), 10_000);
    assert!(!by_lists);
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn search_equals_brute_force(
        table in tables(),
        chunks in prop_oneof![Just(None), (1u32..20).prop_map(Some)],
        memory in prop_oneof![Just(1usize << 16), Just(1 << 22)],
        asked in prop::collection::vec(any::<prop::sample::Index>(), 4),
        thresholds in prop::collection::vec(0.0f64..1.0, 2),
    ) {
        let (segment, mut store) = table.index(chunks, memory);
        for asked in asked {
            let query = match table.rows.len() {
                0 => vec![1; table.geometry.stride],
                n => table.rows[asked.index(n)].clone(),
            };
            let exact = [0.0, 1.0, 2.0, 0.5, 0.9, 9.0 / 11.0, 0.8, 0.95, f64::NAN];
            let near = Measure::of_hamming(table.geometry.bits, 3);
            let all = exact.into_iter().chain(thresholds.iter().copied());
            for t in all.chain([near, near.next_up(), near.next_down()]) {
                let asked = self::query(&table.geometry, &query, t);
                prop_assert_eq!(
                    search(&segment, &mut store, &asked),
                    table.brute(&query, t),
                    "threshold {}", t
                );
            }
        }
    }
}

/// Where a search reads more lists than it needs, a row has to be in several of them: rows that differ in few bits from
/// many others, at high thresholds.
#[test]
fn rows_in_several_lists() {
    let geometry = Geometry::new(PAGE_WORDS, 301, false, false).unwrap();
    let mut state = 7u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % below
    };
    let mut rows: Vec<Vec<u64>> = vec![];
    for i in 0..5000usize {
        let mut words = match i {
            0..40 => vec![0; geometry.stride],
            _ => rows[random(1 << 32) as usize % i.min(400)].clone(),
        };
        let flips = if i < 40 { 110 } else { random(64) % 14 };
        for _ in 0..flips {
            let bit = random(1 << 32) as usize % 301;
            words[bit / 64] ^= 1 << (bit % 64);
        }
        rows.push(words);
    }
    let table = Table { geometry, rows };
    let others = Table {
        geometry: by_agreement(geometry, true),
        rows: table.rows.clone(),
    };
    let kinds = [None, Some(9), Some(16), Some(24)];
    for (table, chunks) in [&table, &others]
        .into_iter()
        .flat_map(|t| kinds.map(|c| (t, c)))
    {
        let (segment, mut store) = table.index(chunks, 1 << 20);
        for asked in table.rows.iter().step_by(67) {
            for t in [0.84, 0.88, 0.9, 0.92, 0.95, 0.99] {
                let query = query(&table.geometry, asked, t);
                let found = search(&segment, &mut store, &query);
                assert_eq!(found, table.brute(asked, t), "{chunks:?} {t}");
            }
        }
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// Each of some rows finds all similar rows behind it, of those that are folded.
    #[test]
    fn join_equals_brute_force(
        table in tables(),
        chunks in prop_oneof![Just(None), (1u32..20).prop_map(Some)],
        band in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        whole in any::<bool>(),
        step in 1usize..60,
        at_once in prop_oneof![Just(1usize), Just(50), Just(5000)],
        in_tables in prop_oneof![Just(None), any::<bool>().prop_map(Some)],
        threshold in 0.0f64..1.0,
    ) {
        let (segment, mut store) = table.index(chunks, 1 << 20);
        let present = segment.present();
        let (a, b) = (band.0.index(present as usize + 1), band.1.index(present as usize + 1));
        let band = if whole { 0..present } else { a.min(b) as u32..a.max(b) as u32 };
        let folds = Folds::new(&segment, band.clone(), &mut store).unwrap();
        prop_assert_eq!(folds.rows(), band.clone());
        let mut rows = table.rows.clone();
        let geometry = &table.geometry;
        rows.sort_by_key(|row| popcount(geometry, row));
        for t in [threshold, 0.0, 0.5, 0.8, 0.9, 9.0 / 11.0, 1.0, 2.0, f64::NAN] {
            let mut joiner = Joiner::new(&segment, &folds, t);
            joiner.forced = in_tables;
            let step = if t <= 0.0 { 10 * step } else { step };
            let asked: Vec<(usize, &Vec<u64>)> = rows.iter().enumerate().step_by(step).collect();
            let mut found = vec![vec![]; asked.len()];
            for (n, some) in asked.chunks(at_once).enumerate() {
                let mut batch = Batch::default();
                for (i, row) in some {
                    batch.push(row, popcount(geometry, row), *i as u32 + 1);
                }
                joiner
                    .search(&mut store, &mut batch, |asked, place, similarity| {
                        found[n * at_once + asked].push((place, similarity));
                    })
                    .unwrap();
            }
            for (&(i, row), mut found) in asked.iter().zip(found) {
                let mut wanted = vec![];
                let (from, to) = (band.start as usize, band.end as usize);
                for other in rows[..to.max(i + 1)].iter().skip(from.max(i + 1)) {
                    let common = row.iter().zip(other).map(|(x, y)| (x & y).count_ones()).sum();
                    let counts = Popcounts { a: popcount(geometry, row), b: popcount(geometry, other), common };
                    let similarity = geometry.measure.similarity(counts);
                    if similarity >= t {
                        wanted.push(similarity);
                    }
                }
                let mut similarities: Vec<f64> = found.iter().map(|f| f.1).collect();
                found.sort_unstable_by_key(|f| f.0);
                found.dedup_by_key(|f| f.0);
                prop_assert_eq!(found.len(), similarities.len());
                similarities.sort_by(f64::total_cmp);
                wanted.sort_by(f64::total_cmp);
                prop_assert_eq!(similarities, wanted, "row {} at {}", i, t);
            }
        }
    }
}

/// A page would not hold two of them; one is enough.
#[test]
fn signatures_that_fill_a_page() {
    for bits in [64 * 126 - 64, 64 * 120] {
        let geometry = Geometry::new(PAGE_WORDS, bits, false, false).unwrap();
        assert_eq!(geometry.capacity, 1);
        let rows: Vec<Vec<u64>> = (0..40u64)
            .map(|i| vec![i.wrapping_mul(0x9e37_79b9_7f4a_7c15); geometry.stride])
            .collect();
        let table = Table { geometry, rows };
        let (segment, mut store) = table.index(Some(9), 1 << 16);
        for row in &table.rows {
            for t in [0.0, 0.4, 1.0] {
                let query = Query::new(&geometry, row, t);
                assert_eq!(search(&segment, &mut store, &query), table.brute(row, t));
            }
        }
    }
    assert!(Geometry::new(PAGE_WORDS, 64 * 127, false, false).is_err());
}
