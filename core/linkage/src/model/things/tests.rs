//! The fit of two small tables of goods, against the numbers of an independent program.

use std::collections::BTreeMap;

use super::*;
use crate::model::mixture::FrequencyCount;
use crate::model::values::{words, FieldLayout, Kind, RowLayout};
use crate::model::Pattern;

const WORDS: &str =
    "red blue steel wood large small lamp table chair garden light heavy classic modern outdoor \
    folding kitchen office round square set stand cover mount";
const BRANDS: [&str; 5] = ["Acme", "Borel", "Cirrus", "Dunlin Works", "Erlen"];

/// Records of a table, of which the first 40 are the same in both.
const RECORDS: usize = 60;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as usize
    }

    /// Words of a title, the brand, the price in cents.
    fn thing(&mut self) -> (Vec<String>, &'static str, usize) {
        let words: Vec<&str> = WORDS.split(' ').collect();
        let n = 5 + self.below(3);
        let mut title: Vec<String> = (0..n).map(|_| words[self.below(24)].to_owned()).collect();
        let letter = |letters: &str, at: usize| letters[at..=at].to_owned();
        let code = letter("abcdefgh", self.below(8)) + &letter("xyz", self.below(3));
        title.push(format!("{code}{}", 100 + self.below(900)));
        (title, BRANDS[self.below(5)], 500 + self.below(20_000))
    }

    /// What of brand and price is missing, in one of so many records.
    fn missing(&mut self, one_of: u64) -> usize {
        match self.below(one_of) {
            0 => self.below(4),
            _ => 0,
        }
    }
}

/// The records of both tables, each with title, brand and price.
fn goods() -> Vec<[String; 3]> {
    let mut random = Random(1);
    let row = |title: &[String], brand: &str, cents: usize, missing: usize| {
        let price = format!("{}.{:02}", cents / 100, cents % 100);
        let unless = |bit: usize, value: &str| match missing & bit {
            0 => value.to_owned(),
            _ => String::new(),
        };
        [title.join(" "), unless(1, brand), unless(2, &price)]
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..RECORDS {
        let (title, brand, cents) = random.thing();
        let missing = random.missing(5);
        a.push(row(&title, brand, cents, missing));
        let (title, brand, cents) = match i {
            40.. => random.thing(),
            _ => {
                let mut other = title.clone();
                other.remove(random.below(title.len() as u64 - 1));
                let cents = cents + random.below(60);
                if random.below(2) == 1 {
                    let code = other.last_mut().expect("a title has a code");
                    code.insert(2, ' ');
                }
                if random.below(2) == 1 {
                    other.reverse();
                }
                (other, brand, cents)
            }
        };
        let missing = random.missing(3);
        b.push(row(&title, brand, cents, missing));
    }
    a.append(&mut b);
    a
}

/// The goods as they are compared.
struct Goods {
    layout: RowLayout,
    rows: Vec<Vec<u64>>,
    fields: Vec<ThingField>,
}

impl Goods {
    fn new() -> Goods {
        let of = |kind, segment| FieldLayout::of_segment(kind, segment).unwrap();
        let layouts = vec![
            of(Kind::Words, 107).with_words(words::MOST_WORDS),
            of(Kind::Text, 29).with_words(words::MOST_WORDS),
            of(Kind::Number, 17),
        ];
        let layout = RowLayout::new(layouts, None);
        let mut rows = vec![vec![0; layout.words()]; 2 * RECORDS];
        for (row, texts) in rows.iter_mut().zip(goods()) {
            for (field, text) in texts.iter().enumerate() {
                layout.write(row, field, text, &mut Vec::new()).unwrap();
            }
        }
        let fields = (0..3).map(|k| settle(&layout, &mut rows, k)).collect();
        Goods {
            layout,
            rows,
            fields,
        }
    }

    fn lacks(&self, record: usize) -> u32 {
        let has = |&k: &usize| FieldLayout::identity_of(self.layout.value(&self.rows[record], k));
        (0..3)
            .filter(|k| has(k) == 0)
            .fold(0, |mask, k| mask | 1 << k)
    }

    fn compare(&self, a: usize, b: usize) -> (Pattern, f64) {
        let (mut pattern, mut sum) = (Pattern::default(), 0.0);
        for (k, field) in self.layout.fields().iter().enumerate() {
            let value = |record: usize| self.layout.value(&self.rows[record], k);
            let agreement = field.agreement(value(a), value(RECORDS + b));
            pattern.set(k, agreement.level);
            sum += agreement.similarity;
        }
        (pattern, sum)
    }
}

/// Sets the weights and the levels of a field's values.
fn settle(layout: &RowLayout, rows: &mut [Vec<u64>], k: usize) -> ThingField {
    let field = &layout.fields()[k];
    let at: usize = layout.fields()[..k].iter().map(FieldLayout::words).sum();
    let mut with = BTreeMap::<u64, u64>::new();
    let mut values = BTreeMap::<u64, [u64; 2]>::new();
    for (record, row) in rows.iter().enumerate() {
        let value = layout.value(row, k);
        field
            .words_of(value)
            .for_each(|(word, _)| *with.entry(word).or_default() += 1);
        values.entry(FieldLayout::identity_of(value)).or_default()[record / RECORDS] += 1;
    }
    values.remove(&0);
    let [a, b] = [0, 1].map(|side| values.values().map(|n| n[side]).sum::<u64>());
    let mut both = FrequencyCount::new(a + b);
    let mut sides = [a, b].map(FrequencyCount::new);
    let mut levels = BTreeMap::new();
    for (&identity, n) in &values {
        let level = both.add(n[0] + n[1]);
        levels.insert(identity, level);
        for (count, &n) in sides.iter_mut().zip(n).filter(|of| *of.1 > 0) {
            count.add_of_level(n, level);
        }
    }
    for row in rows {
        let value = &mut row[at..][..field.words()];
        if let Some(&level) = levels.get(&FieldLayout::identity_of(value)) {
            FieldLayout::set_level(value, level);
            field.weigh(value, a + b, |word| with[&word]);
        }
    }
    let table = |count: FrequencyCount| {
        let frequencies = count.finish();
        TableField {
            filled: frequencies.present as f64 / RECORDS as f64,
            equal: frequencies.equal,
        }
    };
    ThingField {
        is_long: matches!(field.kind(), Kind::Words | Kind::Number),
        frequencies: both.finish(),
        tables: sides.map(table),
    }
}

/// Each record of the first table with five of the second one, in their order.
fn candidates() -> Vec<[u32; 2]> {
    let partners = |a: usize| [0, 1, 7, 13, 22].map(|q| [a as u32, ((a + q) % RECORDS) as u32]);
    let mut pairs: Vec<[u32; 2]> = (0..RECORDS).flat_map(partners).collect();
    pairs.sort_unstable();
    pairs
}

fn near(is: f64, expected: f64) {
    let tolerance = 1e-3 * expected.abs().max(1e-3);
    assert!((is - expected).abs() < tolerance, "{is}, not {expected}");
}

#[test]
fn goods_agree_as_they_should() {
    let goods = Goods::new();
    let all: Vec<(Pattern, f64)> = candidates()
        .iter()
        .map(|pair| goods.compare(pair[0] as usize, pair[1] as usize))
        .collect();
    for (at, levels, similarity) in [
        (0, [5, 14, 15], 0.84211),
        (5, [5, 3, 14], 1.87472),
        (10, [4, 3, 7], 2.11987),
        (25, [5, 3, 7], 2.08768),
        (200, [13, 12, 13], 0.21067),
        (201, [13, 12, 12], 0.35502),
    ] {
        let (pattern, sum) = all[at];
        assert_eq!([0, 1, 2].map(|k| pattern.level(k)), levels, "pair {at}");
        near(sum, similarity);
    }
    let weighed = (1..).zip(&all).map(|(i, of)| {
        let levels = [0, 1, 2].map(|k| of.0.level(k));
        i * (levels[0] + 16 * levels[1] + 256 * levels[2])
    });
    assert_eq!(weighed.sum::<usize>(), 148_405_491);
}

/// Expected matches, probabilities of some pairs, and how many pairs are more probably matches than not.
#[test]
fn pairs_compete() {
    let goods = Goods::new();
    for (one_to_one, matches, probabilities) in [
        (
            OneToOne::Both,
            40.2097,
            [0.97904, 0.99645, 0.99991, 0.99988, 0.96507],
        ),
        (
            OneToOne::B,
            40.3008,
            [0.97911, 0.99647, 0.99991, 0.99988, 0.96519],
        ),
    ] {
        let mut patterns = BTreeMap::<Pattern, u32>::new();
        let mut others = BTreeMap::<Pattern, u64>::new();
        let of = candidates();
        for a in 0..RECORDS {
            for b in 0..RECORDS {
                let (pattern, _) = goods.compare(a, b);
                match of.binary_search(&[a as u32, b as u32]) {
                    Ok(_) => drop(patterns.insert(pattern, 0)),
                    Err(_) => *others.entry(pattern).or_default() += 1,
                }
            }
        }
        patterns
            .values_mut()
            .zip(0..)
            .for_each(|(number, i)| *number = i);
        let pair = |&[a, b]: &[u32; 2]| {
            let (pattern, _) = goods.compare(a as usize, b as usize);
            CandidatePair::new([a, b], patterns[&pattern])
        };
        let mut pairs: Vec<CandidatePair> = of.iter().map(pair).collect();
        let mut masks = [RecordMasks::default(), RecordMasks::default()];
        for record in 0..2 * RECORDS {
            masks[record / RECORDS].add(goods.lacks(record));
        }
        let known = Patterns::new(patterns.keys().copied().collect(), 3);
        let input = FitInput {
            fields: &goods.fields,
            pairs: &mut pairs,
            patterns: &known,
            random: &mut others.into_iter().collect::<Vec<_>>(),
            masks: MaskShares::new(&masks[0], &masks[1], || ()),
            records: [RECORDS; 2],
            one_to_one,
        };
        let fit = learn(input, || ());
        assert!(fit.converged);
        near(fit.learned.matches, matches);
        let mut odds = Vec::new();
        known.odds(&fit.learned, &mut odds, || ());
        let mut found = Vec::new();
        let mut competition = Competition::new(one_to_one, [RECORDS; 2]);
        competition.weigh(
            &mut pairs,
            &odds,
            20,
            || (),
            |pair, p| found.push((pair.records, p)),
        );
        for (at, probability) in [0, 5, 10, 25, 100].into_iter().zip(probabilities) {
            near(found[at].1, probability);
        }
        let taken = found.iter().filter(|of| of.1 >= 0.5).map(|of| of.0);
        let expected = (0..40).map(|i| [i, i]);
        assert!(taken.eq(expected));
    }
}
