//! Some of the profiles, by which searches are chosen.

use crate::pairs::random::random;
use crate::pairs::records::{Records, Relations};
use pg::check_for_interrupts;
use pg::session::{read, BATCH};
use pg::sql;
use pg::sql::Sql;
use types::Bloom;

use super::store::Profiles;
use super::ColumnTables;

/// Records of a sample, at most.
const MOST: usize = 2000;

/// Blocks of the tables that are read for a sample, about.
const BLOCKS: f64 = 400.0;

/// The bits of each signature of a record, `None` for null.
pub type SampledProfile = Vec<Option<Vec<u8>>>;

/// Some records of a relation.
#[derive(Default)]
pub struct SampleSide {
    pub profiles: Vec<SampledProfile>,
    /// Where each of them was among the rows that were read.
    places: Vec<u64>,
    /// Rows that are nearer to each other were read together, and more often than others are copies of each other.
    least_distance: u64,
    /// How many records there are in all, about.
    pub records: f64,
}

/// Some records of one relation or two.
pub struct ProfileSample {
    pub left: SampleSide,
    pub right: Option<SampleSide>,
}

/// How many of so many records are in a sample: so many that comparing them with each other takes next to nothing of
/// the time of the search.
fn size(records: f64, bytes: usize, memory: usize) -> usize {
    let most = (memory / bytes.max(1)).clamp(2, MOST);
    ((2.0 * records.sqrt()) as usize).clamp(100, MOST).min(most)
}

fn bytes_of(profile: &SampledProfile) -> usize {
    let bits = profile.iter().flatten().map(|bits| bits.capacity());
    bits.sum::<usize>() + size_of_val(&profile[..]) + size_of::<SampledProfile>()
}

impl SampleSide {
    /// Of stored profiles.
    pub fn of_profiles(from: &mut Profiles, records: u64, memory: usize) -> SampleSide {
        let mut side = SampleSide {
            records: records as f64,
            ..SampleSide::default()
        };
        let (mut state, mut wanted) = (1, records.min(1));
        while (side.profiles.len() as u64) < wanted {
            check_for_interrupts();
            // One of each of so many stretches, so that none comes twice.
            let i = side.profiles.len() as u64;
            let (from_here, to) = (i * records / wanted, (i + 1) * records / wanted);
            let number = 1 + from_here + random(&mut state) % (to - from_here).max(1);
            from.load(number, 0);
            let bits = from.loaded(0).map(|bits| bits.map(<[u8]>::to_vec));
            let profile: SampledProfile = bits.collect();
            if wanted == 1 {
                wanted = (size(side.records, bytes_of(&profile), memory) as u64).min(records);
            }
            side.profiles.push(profile);
            side.places.push(number);
        }
        side
    }

    /// Of tables that have so many blocks in all. It is read as the caller.
    ///
    /// Errors: what the query fails with.
    fn of_blocks(records: &Records, blocks: f64, memory: usize) -> SampleSide {
        let share = (BLOCKS / blocks.max(1.0)).min(1.0);
        let columns = records.signatures.iter();
        let columns = Sql::join(columns.map(|column| sql!("r.{column.name}")), ", ");
        let mut sql = sql!("SELECT {columns} FROM {records.oid} AS r");
        // The rows that the method picks are always the same ones, so that a search is done in the same way again.
        if share < 1.0 {
            let percent = format!("{:.6}", 100.0 * share);
            sql = sql!("{sql} TABLESAMPLE pg_catalog.system ({percent}) REPEATABLE (0)");
        }
        let mut side = SampleSide::default();
        let (mut all, mut most, mut state) = (0u64, MOST, 1);
        let signatures = records.signatures.len();
        read(sql, &[], BATCH).each(|row| {
            let read = || -> SampledProfile {
                (0..signatures)
                    .map(|i| {
                        // SAFETY: the query selects signatures, which live as long as the row.
                        let signature = unsafe { Bloom::from_raw(row.datum(i)?) };
                        Some(signature.view().bits().to_vec())
                    })
                    .collect()
            };
            all += 1;
            if side.profiles.len() < most {
                side.profiles.push(read());
                side.places.push(all);
                most = (memory / bytes_of(&side.profiles[0])).clamp(2, MOST);
            } else {
                let at = (random(&mut state) % all) as usize;
                if at < most {
                    side.profiles[at] = read();
                    side.places[at] = all;
                }
            }
        });
        side.records = all as f64 / share;
        if share < 1.0 {
            side.least_distance = (all as f64 / BLOCKS) as u64;
        }
        let wanted = size(side.records, 0, memory).max(1);
        let every = side.profiles.len().div_ceil(wanted).max(1);
        let mut number = 0;
        side.profiles.retain(|_| {
            number += 1;
            number % every == 0
        });
        let kept = side.places.iter().skip(every - 1).step_by(every);
        side.places = kept.copied().collect();
        side
    }

    /// Whether two of them, by their numbers, tell how many pairs there are.
    pub fn are_independent(&self, a: usize, b: usize) -> bool {
        self.places[a].abs_diff(self.places[b]) >= self.least_distance
    }
}

impl ProfileSample {
    /// Of relations that some columns have indexes of.
    ///
    /// Errors: what a query of them fails with.
    pub fn of_tables(
        relations: Relations<'_>,
        columns: &[Option<ColumnTables>],
        memory: usize,
    ) -> ProfileSample {
        let tables = columns.iter().flatten().next();
        let tables = tables.expect("some column has an index");
        let side = |records: &Records, side: usize| {
            let tables = tables.tables.of_side(side);
            let blocks = tables
                .map(|(_, table)| f64::from(table.heap.blocks()))
                .sum();
            SampleSide::of_blocks(records, blocks, memory / 2)
        };
        ProfileSample {
            left: side(relations.left, 0),
            right: relations.right.map(|right| side(right, 1)),
        }
    }
}
