//! Pairs of profiles among the records that a query of the caller's gives.

use signature::similarity::{Popcounts, ProfilePlan};

use super::sample::{ProfileSample, SampleSide};
use super::store::Profiles;
use crate::pairs::from_query::{join, KeyedOutput, Stream};
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::output::PairOutput;
use crate::pairs::records::{Records, Relations};
use access::mismatch;
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};

use pg::progress::{self, phases};

/// The records of one relation or two, and their profiles.
pub struct ProfileStreams<'a> {
    relations: Relations<'a>,
    left: (Stream, Profiles),
    right: Option<(Stream, Profiles)>,
    memory: usize,
}

impl<'a> ProfileStreams<'a> {
    /// Reads all records, to join some of the columns, or any. The join takes `memory` bytes.
    ///
    /// Errors: as [`Stream::read`]; two shapes in a column.
    pub fn read(
        relations: Relations<'a>,
        memory: usize,
        joined: Option<&[usize]>,
    ) -> ProfileStreams<'a> {
        let share = match relations.right {
            Some(_) => memory / 8,
            None => memory / 4,
        };
        let read = |records: &Records| {
            let mut profiles = Profiles::new(records.signatures.len(), share);
            let stream = Stream::read(records, share, joined, Some(&mut profiles));
            (stream, profiles)
        };
        let left = read(relations.left);
        let right = relations.right.map(read);
        for (i, column) in left.0.columns.iter().enumerate() {
            let other = right.as_ref().and_then(|(s, _)| s.columns[i].shape.tag());
            if let Some((a, b)) = column.shape.tag().zip(other).filter(|(a, b)| a != b) {
                raise(&mismatch(a, b));
            }
        }
        ProfileStreams {
            relations,
            left,
            right,
            memory,
        }
    }

    /// Some of the profiles, in so many bytes.
    pub fn sample(&mut self, memory: usize) -> ProfileSample {
        let side = |(stream, profiles): &mut (Stream, Profiles)| {
            SampleSide::of_profiles(profiles, stream.records, memory / 2)
        };
        ProfileSample {
            left: side(&mut self.left),
            right: self.right.as_mut().map(side),
        }
    }

    /// Joins these columns of the plan one after the other.
    ///
    /// Errors: a key that is null, or that two records have; out of memory.
    pub fn join(self, output: &mut PairOutput, plan: &ProfilePlan, columns: &[usize]) {
        let ProfileStreams {
            relations,
            left: (left, left_profiles),
            right,
            memory,
        } = self;
        let (right, right_profiles) = right.unzip();
        let (right_keys, others) = right.map(|right| (right.keys, right.columns)).unzip();
        let (rows, others) = match left.new {
            Some(new) => (new, Some(left.columns)),
            None => (left.columns, others),
        };
        let mut others = others.map(Vec::into_iter);
        let mut found = ProfilePairs {
            output: KeyedOutput {
                output,
                relations,
                ordered: left.ordered,
                keys: (left.keys, right_keys),
            },
            plan,
            left: left_profiles,
            right: right_profiles,
            column: 0,
            joined: 0,
            columns: columns.len() as u64,
        };
        progress::phase(phases::COMPARING_SIGNATURES, None);
        for (column, rows) in rows.into_iter().enumerate() {
            // Both sides have as many columns.
            let other = others.as_mut().and_then(Iterator::next);
            let mut searched = plan.searched().iter();
            let searched = searched.find(|&&(i, _)| i == column && columns.contains(&i));
            let Some(&(_, bound)) = searched else {
                continue;
            };
            found.column = column;
            join(rows, other, bound, memory / 2, &mut found);
            found.joined += 1;
        }
    }
}

/// Gives pairs of profiles to the output that are similar as a whole.
struct ProfilePairs<'a, 'o> {
    output: KeyedOutput<'a, 'o>,
    plan: &'a ProfilePlan,
    /// Of the records on the left, and on the right if there are some.
    left: Profiles,
    right: Option<Profiles>,
    /// The column that is joined.
    column: usize,
    /// How many have been, of how many.
    joined: u64,
    columns: u64,
}

impl ProfilePairs<'_, '_> {
    /// The similarity of the profiles of a pair, if it is wanted and no column before finds it.
    fn similarity(&mut self, a: u64, b: u64) -> Option<f64> {
        self.left.load(a, 0);
        let others = match &mut self.right {
            Some(others) => {
                others.load(b, 1);
                &*others
            }
            None => {
                self.left.load(b, 1);
                &self.left
            }
        };
        let mut both = self.left.loaded(0).zip(others.loaded(1));
        let similarity = |_| {
            let (a, b) = both.next().expect("a profile has all attributes");
            Ok(a.zip(b).map(|(a, b)| Popcounts::of_bits(a, b).jaccard()))
        };
        self.plan.take(self.column, similarity).or_raise()
    }
}

impl JoinSink for ProfilePairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        let Some((a, b)) = self.output.records(pair.a.row(), pair.b.row()) else {
            return;
        };
        if let Some(similarity) = self.similarity(a, b) {
            self.output.put((a, b), similarity);
        }
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output
            .output
            .report(self.joined * all + done, self.columns * all);
    }
}
