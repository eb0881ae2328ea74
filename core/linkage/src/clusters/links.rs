//! Pairs as lists of neighbours.

use base::memory::filled_in_turns;
use base::range::unit;
use base::Ticker;
use base::{Error, Result};

/// Two records and how similar they are, in 0…1. Which of them is a and which b does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// One record.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// In 0…1.
    pub similarity: f64,
}

/// A neighbour of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The neighbour.
    pub to: u32,
    /// In 0…1.
    pub similarity: f64,
}

impl Link {
    pub(super) fn steps(&self) -> u64 {
        steps(self.similarity)
    }
}

/// A similarity in 0…1 in steps of 2^-63: sums of them do not depend on the order, and what is equal
/// by arithmetic is not made unequal by rounding. Below 2^-10 it is rounded down.
pub(super) fn steps(similarity: f64) -> u64 {
    const ONE: f64 = (1u64 << 63) as f64;
    (similarity * ONE) as u64
}

/// Every pair from both of its sides: 32 bytes a pair and 8 a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// Where each record's list begins, and the end of the last.
    starts: Vec<usize>,
    links: Vec<Link>,
}

impl Links {
    /// The lists of records `0..records`. A pair that is given several times, in whichever direction,
    /// counts once, with its greatest similarity; a pair of a record with itself does not count.
    ///
    /// Errors: a record that does not exist, a similarity outside 0…1, out of memory.
    pub fn new(records: u32, pairs: &[Pair], turn: impl FnMut()) -> Result<Links> {
        let ticker = &mut Ticker::new(turn);
        let n = records as usize;
        let mut starts = filled_in_turns(n + 1, 0, ticker)?;
        for pair in pairs {
            ticker.step();
            for record in [pair.a, pair.b] {
                if record >= records {
                    return Err(unknown(record, records));
                }
                starts[record as usize] += usize::from(pair.a != pair.b);
            }
            unit("similarity", pair.similarity)?;
        }
        let mut end = 0;
        for start in &mut starts {
            ticker.step();
            end += *start;
            *start = end;
        }
        let unset = Link {
            to: 0,
            similarity: 0.0,
        };
        let mut links = filled_in_turns(end, unset, ticker)?;
        for &Pair { a, b, similarity } in pairs.iter().filter(|pair| pair.a != pair.b) {
            ticker.step();
            for (from, to) in [(a, b), (b, a)] {
                // from the list's end to its beginning
                let at = &mut starts[from as usize];
                *at -= 1;
                links[*at] = Link { to, similarity };
            }
        }
        let mut kept = 0;
        for i in 0..n {
            ticker.step();
            let (from, to) = (starts[i], starts[i + 1]);
            links[from..to].sort_unstable_by(|x, y| {
                ticker.step();
                let greatest_first = || y.similarity.total_cmp(&x.similarity);
                x.to.cmp(&y.to).then_with(greatest_first)
            });
            starts[i] = kept;
            for at in from..to {
                ticker.step();
                if kept == starts[i] || links[kept - 1].to != links[at].to {
                    links[kept] = links[at];
                    kept += 1;
                }
            }
        }
        starts[n] = kept;
        links.truncate(kept);
        Ok(Links { starts, links })
    }

    /// How many records there are.
    pub fn records(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    /// How many distinct pairs there are.
    pub fn pairs(&self) -> usize {
        self.links.len() / 2
    }

    /// Gives every pair of at least `threshold` to `each`, the lesser record as a, in the order of b, then of a.
    ///
    /// Errors: those of `each`.
    pub(super) fn each_pair(
        &self,
        threshold: f64,
        ticker: &mut Ticker<impl FnMut()>,
        mut each: impl FnMut(Pair) -> Result<()>,
    ) -> Result<()> {
        for b in 0..self.records() {
            ticker.step();
            for &Link { to: a, similarity } in self.from(b).iter().take_while(|link| link.to < b) {
                ticker.step();
                if similarity >= threshold {
                    each(Pair { a, b, similarity })?;
                }
            }
        }
        Ok(())
    }

    /// The neighbours of record `i`, by number.
    pub fn from(&self, i: u32) -> &[Link] {
        let i = i as usize;
        &self.links[self.starts[i]..self.starts[i + 1]]
    }
}

#[cold]
fn unknown(record: u32, records: u32) -> Error {
    Error::data_exception(format!(
        "a pair names record {record}, but there are {records} records"
    ))
    .detail("Records are numbered from 0.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::ErrorKind;

    fn pair(a: u32, b: u32, similarity: f64) -> Pair {
        Pair { a, b, similarity }
    }

    #[test]
    fn repetitions_count_once_and_records_themselves_never() {
        let pairs = [
            pair(2, 0, 0.5),
            pair(1, 1, 1.0),
            pair(0, 2, 0.75),
            pair(0, 1, 0.25),
            pair(2, 0, 0.5),
        ];
        let links = Links::new(4, &pairs, || ()).unwrap();
        assert_eq!((links.records(), links.pairs()), (4, 2));
        let of = |i| links.from(i).iter().map(|l| (l.to, l.similarity)).collect();
        let lists: [Vec<(u32, f64)>; 4] = [of(0), of(1), of(2), of(3)];
        assert_eq!(lists[0], [(1, 0.25), (2, 0.75)]);
        assert_eq!(lists[1], [(0, 0.25)]);
        assert_eq!(lists[2], [(0, 0.75)]);
        assert_eq!(lists[3], []);
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        let refused = |p| Links::new(2, &[p], || ()).unwrap_err();
        assert_eq!(
            refused(pair(0, 2, 0.5)).message(),
            "a pair names record 2, but there are 2 records"
        );
        for s in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(pair(0, 1, s)).kind(), ErrorKind::InvalidParameter);
        }
        assert!(Links::new(0, &[], || ()).is_ok());
    }

    #[test]
    fn steps_keep_order_and_sums() {
        assert_eq!((steps(0.0), steps(1.0)), (0, 1 << 63));
        assert!(steps(0.8) < steps(0.8f64.next_up()));
        let sum: u128 = (0..10).map(|_| u128::from(steps(0.1))).sum();
        assert_eq!(sum, 10 * u128::from(steps(0.1)));
    }
}
