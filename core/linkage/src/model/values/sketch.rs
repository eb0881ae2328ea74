//! Sketches of values: records with similar values are found by equal parts of their sketches, in time that grows with
//! the records and not with their pairs (MinHash; A. Broder: On the Resemblance and Containment of Documents, 1997).

use super::{date, FieldLayout, Kind, ReadValue};
use base::Result;
use signature::split_mix;
use text::ngram::for_each_normal_ngram;
use text::normalize;

/// Parts of a sketch. Two values have each of them in common with the probability of the Jaccard similarity of their
/// n-grams.
pub const PARTS: usize = 8;

/// A sketch, four parts of 16 bits a word; all 0 if there is no value.
pub type Sketch = [u64; PARTS / 4];

const NGRAM: u8 = 3;

/// Odd factors, one for each part: the first digits of the square roots of small primes.
const FACTORS: [u64; PARTS] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// The least hash so far, for each part.
struct Least([u64; PARTS]);

impl Least {
    #[inline]
    fn add(&mut self, token: u64) {
        let token = split_mix(token + 1);
        for (least, factor) in self.0.iter_mut().zip(FACTORS) {
            *least = (*least).min(token.wrapping_mul(factor));
        }
    }
}

/// How many parts of two values' sketches have to be the same at once, so that values which are as similar as this, in
/// hundredths, are found, and few others.
pub fn parts_at_once(least: u32) -> usize {
    match least {
        ..55 => 1,
        _ => 2,
    }
}

/// The part of a sketch with this number; 0 if there is no value.
#[inline]
pub fn part(sketch: Sketch, number: usize) -> u16 {
    (sketch[number / 4] >> (number % 4 * 16)) as u16
}

impl FieldLayout {
    /// The sketch of a value: of the parts of a date, of the bits of a signature, of the n-grams of the name in an e-mail
    /// address, or of anything else. Of a number each part is the bin that it lies in, and the bins of the next part begin an eighth of a bin later:
    /// numbers that differ by one in a hundred have six of eight bins in common, or more. So have days that are three days
    /// apart.
    ///
    /// Errors: out of memory.
    pub fn sketch(&self, text: &str) -> Result<Sketch> {
        self.sketch_of(&self.read_value(text)?)
    }

    /// [`FieldLayout::sketch`] of a text that has been read.
    ///
    /// Errors: out of memory.
    pub fn sketch_of(&self, value: &ReadValue<'_>) -> Result<Sketch> {
        let (text, normal) = (value.text(), &value.normal);
        if normal.is_empty() {
            return Ok(Sketch::default());
        }
        if let Some(number) = self.number(text) {
            return Ok(of_number(number));
        }
        let mut least = Least([u64::MAX; PARTS]);
        if let Some(view) = value.signature() {
            view.positions().for_each(|bit| least.add(bit.into()));
            return Ok(sketch_of(least.0));
        }
        if self.kind() == Kind::Day {
            if let Some(day) = date::digits_of(text).and_then(date::days_of) {
                return Ok(of_bins(f64::from(day) / DAYS, 0));
            }
        }
        let digits = match self.kind() {
            Kind::Date => date::digits_of(text),
            _ => None,
        };
        if let Some(digits) = digits {
            // Day and month may have changed places, but not with the year.
            let [year, month, day] = [1 << 16 | digits >> 16, digits >> 8 & 0xff, digits & 0xff];
            for part in [year, month, day] {
                least.add(part.into());
            }
        } else {
            let name = match (self.kind(), text.rsplit_once('@')) {
                (Kind::Email, Some((name, _))) => normalize(name, true, || ())?,
                _ => String::new(),
            };
            let compared = if name.is_empty() { normal } else { &name };
            // The first and the last n-gram are a letter and padding, which says nothing.
            let (mut held, mut is_first) = (None, true);
            for_each_normal_ngram(compared, NGRAM, |ngram| {
                if let Some(ngram) = held.replace(ngram) {
                    if !std::mem::take(&mut is_first) {
                        least.add(ngram);
                    }
                }
            });
        }
        Ok(sketch_of(least.0))
    }
}

/// The sketch whose parts are bits of these.
fn sketch_of(parts: [u64; PARTS]) -> Sketch {
    let mut sketch = Sketch::default();
    for (i, part) in parts.into_iter().enumerate() {
        sketch[i / 4] |= (split_mix(part) & 0xffff).max(1) << (i % 4 * 16);
    }
    sketch
}

/// The width of a number's bins, about 4 %, and of a day's.
const BIN: f64 = 0.04;
const DAYS: f64 = 12.0;

fn of_number(number: f64) -> Sketch {
    // numbers so near 0 that none is near them have bins, too
    let at = number.abs().max(f64::MIN_POSITIVE).ln() / BIN;
    of_bins(at, u64::from(number < 0.0))
}

/// The bins of a place on a line, of those of one `sign`: those of each part begin an eighth of a bin later.
fn of_bins(at: f64, sign: u64) -> Sketch {
    sketch_of(std::array::from_fn(|i| {
        let bin = (at + i as f64 / PARTS as f64).floor() as i64;
        split_mix((bin as u64) << 1 | sign).wrapping_add(i as u64)
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::values::{last_level, Reading, EQUAL, ORDERED, UNLIKE};
    use signature::filter::Shape;

    fn sketch(kind: Kind, text: &str) -> Sketch {
        let layout = FieldLayout::new(kind, 12).unwrap();
        layout.sketch(text).unwrap()
    }

    fn common(a: Sketch, b: Sketch) -> usize {
        (0..PARTS).filter(|&i| part(a, i) == part(b, i)).count()
    }

    fn common_of(kind: Kind, a: &str, b: &str) -> usize {
        common(sketch(kind, a), sketch(kind, b))
    }

    /// The Jaccard similarity of two sets.
    fn jaccard(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
        a.intersection(b).count() as f64 / a.union(b).count() as f64
    }

    /// The n-grams of a name that count: all but the first and the last one.
    fn inner(name: &str) -> BTreeSet<u64> {
        let mut all = Vec::new();
        for_each_normal_ngram(name, NGRAM, |ngram| all.push(ngram));
        all[1..all.len() - 1].iter().copied().collect()
    }

    #[test]
    fn common_parts_estimate_the_similarity() {
        let febrl = include_str!("../../../../../tests/data/febrl3.csv");
        let surnames: BTreeSet<&str> = febrl
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(3))
            .filter(|name| name.len() > 2)
            .collect();
        let surnames: Vec<_> = surnames
            .into_iter()
            .take(1500)
            .map(|name| {
                let normal = normalize(name, true, || ()).unwrap();
                (sketch(Kind::Name, name), inner(&normal))
            })
            .collect();
        // by tenths: pairs, their similarities, the shares of their common parts
        let mut tenths = [(0.0, 0.0, 0.0); 11];
        for (i, (a, of_a)) in surnames.iter().enumerate() {
            for (b, of_b) in &surnames[..i] {
                let is = jaccard(of_a, of_b);
                let sum = &mut tenths[(is * 10.0) as usize];
                let share = common(*a, *b) as f64 / PARTS as f64;
                *sum = (sum.0 + 1.0, sum.1 + is, sum.2 + share);
            }
        }
        for (pairs, is, estimated) in tenths.into_iter().filter(|sum| sum.0 >= 100.0) {
            let (is, estimated) = (is / pairs, estimated / pairs);
            assert!(
                (is - estimated).abs() < 0.04,
                "{pairs} pairs: {is}, {estimated}"
            );
        }
    }

    #[test]
    fn equal_values_have_equal_sketches() {
        assert_eq!(common_of(Kind::Name, "Müller", "mueller"), PARTS);
        assert_eq!(
            common_of(Kind::Text, "12 High  Street", "12 high street"),
            PARTS
        );
        assert_eq!(
            common_of(Kind::Phone, "0228/123456", "(02 28) 12-34-56"),
            PARTS
        );
        assert_eq!(common_of(Kind::Date, "1990-01-02", "19900102"), PARTS);
        assert_eq!(sketch(Kind::Name, "x"), sketch(Kind::Name, "X"));
        assert!(common_of(Kind::Name, "x", "y") < PARTS);
    }

    #[test]
    fn day_and_month_may_change_places() {
        assert_eq!(common_of(Kind::Date, "1990-03-12", "1990-12-03"), PARTS);
        // a year is no day, and no month
        assert_eq!(common_of(Kind::Date, "0003-03-03", "1990-12-04"), 0);
        assert_eq!(common_of(Kind::Date, "1990-03-12", "1974-05-23"), 0);
        // two of three parts are half of the four
        let parts: usize = (1..29)
            .map(|day| common_of(Kind::Date, "1990-03-30", &format!("1990-03-{day:02}")))
            .sum();
        assert!((28 * 3..28 * 5).contains(&parts), "{parts}");
        // no date: what is there is compared as a text
        assert!(common_of(Kind::Date, "spring 1990", "spring 1991") > 0);
    }

    #[test]
    fn addresses_of_e_mail_are_similar_by_the_name() {
        let of = |a, b| common_of(Kind::Email, a, b);
        assert_eq!(of("Ann.Lee@mail.example", "ann.lee@post.example"), PARTS);
        assert!(of("bob@mail.example", "katharina@mail.example") < PARTS / 2);
        // what has no name is compared as a whole
        assert_eq!(of("@mail.example", "mail example"), PARTS);
        assert_eq!(of("ann.lee", "Ann Lee"), PARTS);
    }

    #[test]
    fn numbers_are_near_by_their_difference() {
        let of = |a: &str, b: &str| common_of(Kind::Number, a, b);
        for (a, b) in [
            ("100", "101"),
            ("0.5", "0.495"),
            ("-1e6", "-1.01e6"),
            ("1e-9", "1.01e-9"),
        ] {
            assert!((PARTS - 2..PARTS).contains(&of(a, b)), "{a} {b}");
        }
        assert!((1..PARTS - 3).contains(&of("100", "103")));
        for (a, b) in [("100", "105"), ("100", "-100"), ("0", "1"), ("0", "1e-300")] {
            assert_eq!(of(a, b), 0, "{a} {b}");
        }
        assert_eq!(of("0", "-0.0"), PARTS);
        let of = |a: &str, b: &str| common_of(Kind::Day, a, b);
        assert_eq!(of("2020-02-28", "2020-03-02"), PARTS - 2);
        assert!((1..PARTS).contains(&of("2019-12-31", "2020-01-08")));
        assert_eq!(of("2020-02-28", "2020-03-11"), 0);
        assert_eq!(of("2020-02-28", "28 February 2020"), 0);
        // no number: what is there is compared as a text
        assert!(of("about 100", "about 101") > 0);
    }

    #[test]
    fn signatures_are_similar_by_their_bits() {
        let shape = Shape::of_records(1024, 7).unwrap();
        let reading = Some(Reading::signatures(shape).unwrap());
        let layout = FieldLayout::new(Kind::Signature, 0).unwrap();
        let layout = layout.with_reading(reading);
        // so many bits from a place on
        let of = |from: usize, n: usize| {
            let mut bytes = [0u8; 128];
            (from..from + n).for_each(|bit| bytes[bit / 8] |= 1 << (bit % 8));
            let hex = bytes.map(|byte| format!("{byte:02x}")).concat();
            layout.sketch(&format!("{shape}:{hex}")).unwrap()
        };
        let parts = |shared: usize| -> usize {
            (0..50)
                .map(|i| common(of(10 * i, 100), of(10 * i + 100 - shared, 100)))
                .sum()
        };
        let all = 50 * PARTS;
        assert_eq!(parts(100), all);
        // half of the bits: a third of the union
        assert!(
            (all / 4..all * 5 / 12).contains(&parts(50)),
            "{}",
            parts(50)
        );
        assert!(parts(0) < all / 50, "{}", parts(0));
        assert_eq!(of(0, 0), Sketch::default());
    }

    #[test]
    fn no_value_has_no_sketch() {
        for kind in Kind::OF_THINGS {
            for text in ["", " ", "--"] {
                assert_eq!(sketch(kind, text), Sketch::default(), "{kind} {text:?}");
            }
        }
        // a part of a value is never 0, which means that there is none
        for number in 0..2000 {
            let sketch = sketch(Kind::Code, &number.to_string());
            assert!((0..PARTS).all(|i| part(sketch, i) != 0), "{number}");
        }
    }

    #[test]
    fn similarities_have_last_levels() {
        let cases = [
            (100, EQUAL - 1),
            (86, EQUAL - 1),
            (85, EQUAL),
            (70, EQUAL + 1),
            (55, EQUAL + 2),
            (40, EQUAL + 3),
            (25, EQUAL + 4),
            (0, EQUAL + 4),
        ];
        for (least, level) in cases {
            assert_eq!(last_level(least), level, "{least}");
        }
        assert_eq!(last_level(40) + 1, ORDERED - UNLIKE);
        assert_eq!([40, 54, 55, 70].map(parts_at_once), [1, 1, 2, 2]);
    }
}
