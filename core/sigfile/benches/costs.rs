//! Measures the table of costs (`core/sigfile/src/costs.rs`) anew, and says which entries deviate by more than half.
//! `benches/costs.sh` calls it with what it has measured through SQL, as NAME=nanoseconds; without, there is no unit of
//! this machine, and nanoseconds are compared as they are.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use base::Result;
use sigfile::costs::*;
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Geometry, Pages, Query, Segment, SignatureRow};
use signature::bits::{
    fold, fold_into, intersect_words, ChunkColumn, ChunkProbe, ChunkTable, Fold, FoldColumns,
    FoldFilter, ProbeSpace, ROWS_AT_ONCE,
};

/// So few that their pages stay in the caches, as those of an index that is in use mostly do.
const ROWS: usize = 130_000;
/// Bits of a signature of a name, and how many of them are set.
const BITS: u32 = 301;
const SET: u32 = 50;
/// Each is measured so many times.
const TIMES: usize = 15;

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

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    /// A row of so many bits, of which [`SET`] are set.
    fn row(&mut self, bits: u32) -> Vec<u64> {
        let mut words = vec![0; bits.div_ceil(64) as usize];
        let mut left = SET;
        while left > 0 {
            let bit = self.below(bits as usize);
            left -= u32::from(words[bit / 64] >> (bit % 64) & 1 == 0);
            words[bit / 64] |= 1u64 << (bit % 64);
        }
        words
    }
}

/// Nanoseconds for each of `n` operations that `run` does: the least, since whatever else the machine does only adds to
/// it.
fn time(n: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..TIMES).map(|_| {
        let started = Instant::now();
        run();
        started.elapsed().as_nanos() as f64 / n as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

fn segment(random: &mut Random, bits: u32) -> (Segment, Memory, Vec<Vec<u64>>) {
    let geometry = Geometry::new(1016, bits, false, false).unwrap();
    let rows: Vec<Vec<u64>> = (0..ROWS).map(|_| random.row(bits)).collect();
    let mut writer = Writer::new(geometry, Memory::default());
    for (words, tid) in rows.iter().zip(1..) {
        let row = SignatureRow {
            words,
            popcount: SET,
            threshold: 0.0,
            key: 0,
            tid,
        };
        writer.push(row).unwrap();
    }
    let (segment, memory) = writer.finish(None, 64 << 20).unwrap();
    (segment, memory, rows)
}

/// A look into a posting page; and a posting with its row.
fn searching(
    random: &mut Random,
    segment: &Segment,
    memory: &mut Memory,
    rows: &[Vec<u64>],
) -> [f64; 2] {
    const LOOKS: usize = 100_000;
    let postings = &segment.postings[0];
    let values: Vec<u32> = (0..LOOKS)
        .map(|_| {
            postings.chunk.value(&rows[random.below(ROWS)])
                ^ 1 << random.below(postings.chunk.width as usize)
        })
        .collect();
    let mut found = 0;
    let probe = time(LOOKS, || {
        found = 0;
        for &value in &values {
            for number in postings.pages(value) {
                let page = postings.page(number, memory.page(number).unwrap()).unwrap();
                found += page.find(value).unwrap().len();
            }
        }
    });
    let query = Query::new(&segment.geometry, &rows[0], 0.99);
    let candidates: Vec<u32> = (0..LOOKS).map(|_| random.below(ROWS) as u32).collect();
    let capacity = segment.geometry.capacity;
    let candidate = time(LOOKS, || {
        for &row in &candidates {
            let number = row / capacity as u32;
            let page = segment
                .row_page(number, memory.page(number).unwrap())
                .unwrap();
            let i = row as usize % capacity;
            let popcount = segment.popcount_on(number, &page, i).unwrap();
            black_box(query.hit(page.words(i, i + 1), popcount));
        }
    });
    [probe, candidate]
}

/// A row that is scanned on its page, of so many bits.
fn scanning(segment: &Segment, memory: &mut Memory, rows: &[Vec<u64>]) -> f64 {
    let query = Query::new(&segment.geometry, &rows[0], 0.99);
    time(ROWS, || {
        for number in 0..segment.row_pages() {
            let page = segment
                .row_page(number, memory.page(number).unwrap())
                .unwrap();
            query.scan(&page, 0, page.len(), |i, common| {
                black_box((i, common));
            });
        }
    })
}

/// A row that is scanned by its fold, and one of a posting list.
fn folded(random: &mut Random, rows: &[Vec<u64>]) -> [f64; 2] {
    let folds: Vec<Fold> = rows.iter().map(|words| fold(words)).collect();
    let mut list: Vec<usize> = (0..ROWS / 8).map(|_| random.below(ROWS)).collect();
    list.sort_unstable();
    let list: Vec<u8> = list
        .iter()
        .flat_map(|&row| (row as u32).to_le_bytes().into_iter().take(3))
        .collect();
    let filter = FoldFilter {
        folds: &folds,
        first: 0,
        fold: &folds[0],
        limit: 8,
    };
    let mut near = Vec::new();
    let all = time(ROWS, || {
        near.clear();
        filter.all(0..ROWS as u32, &mut near).unwrap();
    });
    let listed = time(ROWS / 8, || {
        near.clear();
        filter.list(&list, 0..ROWS as u32, &mut near).unwrap();
    });
    [all, listed]
}

/// A row of a block that is compared by a fold of so many words.
fn in_blocks(rows: &[Vec<u64>], width: usize) -> f64 {
    const BLOCK: usize = 512;
    let block = |rows: &[Vec<u64>]| {
        let mut folds = FoldColumns::default();
        let stride = rows[0].len();
        folds.take(&rows.concat(), stride, width).unwrap();
        folds
    };
    let folds = block(&rows[..BLOCK]);
    let mut asked = vec![vec![0; width]; ROWS / BLOCK];
    for (fold, row) in asked.iter_mut().zip(&rows[BLOCK..]) {
        fold_into(fold, row);
    }
    time(asked.len() * BLOCK, || {
        for fold in &asked {
            folds.near(fold, 0..BLOCK, 8, |i| {
                black_box(i);
            });
        }
    })
}

/// The steps of a search for many rows, in the order of the table.
fn many(rows: &[Vec<u64>]) -> [f64; 6] {
    const WIDTH: usize = 25;
    let columns = |rows: &[Vec<u64>]| -> Vec<Vec<u64>> {
        (0..rows[0].len())
            .map(|w| rows.iter().map(|words| words[w]).collect())
            .collect()
    };
    let (few, full) = (columns(&rows[..1_000]), columns(&rows[..60_000]));
    let asked = columns(&rows[60_000..124_000]);
    let n = asked[0].len();
    let column = |rows| ChunkColumn::new(rows, 0..WIDTH);
    let beyond = |rows| ChunkColumn::new(rows, WIDTH..WIDTH + 32);
    let mut table = ChunkTable::new(60_000).unwrap();
    let all = time(1, || table.fill(&column(&full), &beyond(&full)));
    let one = time(1, || table.fill(&column(&few), &beyond(&few)));
    let list = (all - one) / 59_000.0;
    let flips: Vec<u32> = std::iter::once(0)
        .chain((0..WIDTH).map(|bit| 1 << bit))
        .collect();
    let popcounts = vec![0; n];
    let mut space = ProbeSpace::new().unwrap();
    // Nanoseconds a row, and pairs compared a row.
    let mut look_up = |table: &ChunkTable, count: u16, is_sparse: bool| {
        let mut compared = 0;
        let taken = time(n, || {
            compared = 0;
            let probe = ChunkProbe {
                chunk: column(&asked),
                beyond: beyond(&asked),
                popcounts: &popcounts,
                limits: &[[count, 0]],
                flips: &flips,
                table,
                is_sparse,
            };
            for from in (0..n).step_by(ROWS_AT_ONCE) {
                let some = from..n.min(from + ROWS_AT_ONCE);
                compared += probe.look_up(some, &mut space, &mut |i, row| black_box(i + row) > 0);
            }
        });
        (taken, compared as f64 / n as f64)
    };
    table.fill(&column(&few), &beyond(&few));
    let take = look_up(&table, 0, true).0;
    let looks = flips.len() as f64;
    let filter = (look_up(&table, looks as u16, true).0 - take) / looks;
    let (thin, few_compared) = look_up(&table, looks as u16, false);
    table.fill(&column(&full), &beyond(&full));
    let (dense, all_compared) = look_up(&table, looks as u16, false);
    let compare = (dense - thin) / (all_compared - few_compared);
    let at = (thin - take - few_compared * compare) / looks;
    [one - 1_000.0 * list, list, take, filter, at, compare]
}

fn main() {
    let given: HashMap<String, f64> = std::env::args()
        .filter_map(|arg| {
            let (name, value) = arg.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect();
    let random = &mut Random(42);
    let (wide_segment, mut pages, rows) = segment(random, 1024);
    let wide = scanning(&wide_segment, &mut pages, &rows);
    // Half of what there is tells wide rows apart, and narrow ones take all.
    let wide_block = in_blocks(&rows, wide_segment.geometry.stride / 2);
    let stride = wide_segment.geometry.stride;
    let (segment, mut pages, rows) = segment(random, BITS);
    let narrow = scanning(&segment, &mut pages, &rows);
    let narrow_block = in_blocks(&rows, segment.geometry.stride);
    let words = (stride - segment.geometry.stride) as f64;
    let scan_word = (wide - narrow) / words;
    let block_word = (wide_block - narrow_block) / words;
    let [probe, candidate] = searching(random, &segment, &mut pages, &rows);
    let [fold_row, fold_candidate] = folded(random, &rows);
    let [table, list, take, filter, look_up, compare] = many(&rows);
    let pair = time(ROWS, || {
        for words in &rows {
            black_box(intersect_words(words, &rows[0]));
        }
    });
    let mut measured = vec![
        ("SEARCH.probe", SEARCH.probe, probe),
        ("SEARCH.candidate", SEARCH.candidate, candidate),
        ("SEARCH.scan_word", SEARCH.scan_word, scan_word),
        (
            "SEARCH.scan_row",
            SEARCH.scan_row,
            narrow - scan_word * segment.geometry.stride as f64,
        ),
        ("JOIN.scan_row", JOIN.scan_row, fold_row),
        ("JOIN.candidate", JOIN.candidate, fold_candidate),
        (
            "JOIN_UNFOLDED.scan_word",
            JOIN_UNFOLDED.scan_word,
            block_word,
        ),
        (
            "JOIN_UNFOLDED.scan_row",
            JOIN_UNFOLDED.scan_row,
            narrow_block - block_word * segment.geometry.stride as f64,
        ),
        ("MANY_TABLE", MANY_TABLE, table),
        ("MANY_LIST", MANY_LIST, list),
        ("MANY_TAKE", MANY_TAKE, take),
        ("MANY_FILTER", MANY_FILTER, filter),
        ("MANY_LOOK_UP", MANY_LOOK_UP, look_up),
        ("MANY_COMPARE", MANY_COMPARE, compare),
        ("PROFILE_BIT", PROFILE_BIT, pair / f64::from(BITS)),
    ];
    for (name, value) in [
        ("SCAN", SCAN),
        ("SEGMENT", SEGMENT),
        ("GIST_PAGE", GIST_PAGE),
    ] {
        if let Some(&time) = given.get(name) {
            measured.push((name, value, time));
        }
    }
    let unit = given.get("UNIT").copied();
    println!(
        "nanoseconds; a unit of the planner's cost takes {} here, {UNIT} in the table",
        unit.unwrap_or(f64::NAN)
    );
    println!(
        "{:<24} {:>10} {:>10}  here, in proportion to the unit",
        "cost", "table", "here"
    );
    // What a machine is slower by in all is no deviation.
    let slower = unit.map_or(1.0, |unit| unit / UNIT);
    for (name, value, time) in measured {
        let ratio = time / slower / value;
        // Some are differences of two times.
        let says = if ratio <= 0.0 {
            "  not known: less than the noise of the times it is the difference of"
        } else if !(0.5..=1.5).contains(&ratio) {
            "  deviates by more than half"
        } else {
            ""
        };
        println!("{name:<24} {value:>10.4} {time:>10.4}  {ratio:.2}{says}");
    }
    println!("Not measured by themselves: the other costs of joins, of searches for new records, and of profiles.");
}
