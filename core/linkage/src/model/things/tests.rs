//! The fit of two small tables of goods, against the numbers of the prototype in Python whose way it follows. They show
//! that both compute the same; that it is right, sets with a known truth show.

use std::collections::BTreeMap;

use super::*;
use crate::model::json::{read_any_model, read_model, write_things, AnyModel};
use crate::model::mixture::FrequencyCount;
use crate::model::values::{words, FieldLayout, Kind, RowLayout};
use crate::model::{FieldModel, Pattern};

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
        self.layout
            .agreement(&self.rows[a], &self.rows[RECORDS + b])
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

/// Who the candidates are, their patterns, and the masks of all pairs.
struct Candidates {
    pairs: Vec<[u32; PAIR_WORDS]>,
    patterns: Vec<(Pattern, u64)>,
    others: Vec<(Pattern, u64)>,
    masks: MaskShares,
}

impl Candidates {
    fn new(goods: &Goods) -> Candidates {
        let (of, mut pairs) = (candidates(), Vec::new());
        let mut others = BTreeMap::<Pattern, u64>::new();
        for a in 0..RECORDS {
            for b in 0..RECORDS {
                let (pattern, _) = goods.compare(a, b);
                let pair = [a as u32, b as u32];
                match of.binary_search(&pair) {
                    Ok(_) => pairs.push((pattern, pair)),
                    Err(_) => *others.entry(pattern).or_default() += 1,
                }
            }
        }
        pairs.sort_unstable();
        let mut patterns = BTreeMap::<Pattern, u64>::new();
        for (pattern, _) in &pairs {
            *patterns.entry(*pattern).or_default() += 1;
        }
        let mut masks = [RecordMasks::default(), RecordMasks::default()];
        for record in 0..2 * RECORDS {
            masks[record / RECORDS].add(goods.lacks(record));
        }
        Candidates {
            pairs: pairs
                .iter()
                .map(|of| CandidatePair::new(of.1).words())
                .collect(),
            patterns: patterns.into_iter().collect(),
            others: others.into_iter().collect(),
            masks: MaskShares::new(&masks[0], &masks[1], 3, || ()),
        }
    }

    fn fit(&mut self, goods: &Goods, one_to_one: OneToOne) -> Fit {
        let input = FitInput {
            fields: &goods.fields,
            pairs: &mut self.pairs,
            patterns: &mut self.patterns,
            random: &mut self.others,
            masks: self.masks.clone(),
            records: [RECORDS; 2],
            one_to_one,
        };
        learn(input, || ()).unwrap()
    }

    /// The pairs with their probabilities, by their records.
    fn weigh(&mut self, learned: &Learned) -> Vec<([u32; 2], f64)> {
        struct All<'a> {
            odds: Odds<'a>,
            patterns: EachRun<'a>,
            of_pattern: f64,
            found: Vec<([u32; 2], f64)>,
        }
        impl Weighed for All<'_> {
            fn odds(&mut self, _: &CandidatePair) -> f64 {
                if let Some((pattern, _)) = self.patterns.next_pair() {
                    self.of_pattern = self.odds.of(pattern);
                }
                self.of_pattern
            }

            fn weighed(&mut self, pair: &CandidatePair, probability: f64) {
                self.found.push((pair.records, probability));
            }
        }
        let mut all = All {
            odds: Odds::new(learned),
            patterns: EachRun::new(&mut self.patterns),
            of_pattern: 0.0,
            found: Vec::new(),
        };
        let mut competition = Competition::new(learned.one_to_one, [RECORDS; 2]).unwrap();
        competition.weigh(&mut self.pairs, 20, || (), &mut all);
        all.found.sort_by_key(|of| of.0);
        all.found
    }
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
        let mut candidates = Candidates::new(&goods);
        let fit = candidates.fit(&goods, one_to_one);
        assert!(fit.converged);
        near(fit.learned.matches, matches);
        let found = candidates.weigh(&fit.learned);
        for (at, probability) in [0, 5, 10, 25, 100].into_iter().zip(probabilities) {
            near(found[at].1, probability);
        }
        let taken = found.iter().filter(|of| of.1 >= 0.5).map(|of| of.0);
        let expected = (0..40).map(|i| [i, i]);
        assert!(taken.eq(expected));
    }
}

/// A model is what its JSON says, and says the same of pairs.
#[test]
fn a_model_comes_back() {
    let goods = Goods::new();
    let mut candidates = Candidates::new(&goods);
    let fit = candidates.fit(&goods, OneToOne::Both);
    let pairs = candidates.pairs.clone();
    let field = |(name, layout): (&str, &FieldLayout)| FieldModel {
        filled: 0.75,
        information: 4.5,
        ..FieldModel::unknown(name.to_owned(), layout.clone())
    };
    let names = ["title", "brand", "price"];
    let fields: Vec<FieldModel> = names
        .into_iter()
        .zip(goods.layout.fields())
        .map(field)
        .collect();
    let model = ThingsModel::of_fit(&fields, fit, Vec::new());
    let text = write_things(&model).unwrap();
    let Ok(AnyModel::OfThings(read)) = read_any_model(&text) else {
        panic!("{text} is no model of things");
    };
    assert_eq!(write_things(&read).unwrap(), text);
    let mut weigh = |model: &ThingsModel| {
        candidates.pairs.clone_from(&pairs);
        let masks = candidates.masks.clone();
        candidates.weigh(&model.learned([RECORDS as f64; 2], masks))
    };
    assert_eq!(weigh(&read), weigh(&model));
    // what needs a pair by itself does not take it
    let error = read_model(&text).unwrap_err();
    assert_eq!(
        error.message(),
        "match model says nothing of a pair by itself"
    );
    for (from, to, detail) in [
        (
            "\"both\":[\"price\"]",
            "\"both\":[\"brend\"]",
            "The model has no field of this name.",
        ),
        (
            "\"linkage\":true",
            "\"linkage\":false",
            "Pairs that compete are of two tables.",
        ),
        (
            "\"one_to_one\":\"both\"",
            "\"one_to_one\":\"c\"",
            "It is one of both, a, b.",
        ),
        (
            "\"one\":[\"brand\"]",
            "\"one\":[\"price\"]",
            "A field is missing on one side or on both.",
        ),
        (
            "\"words\":64",
            "\"words\":65",
            "It must be a whole number from 0 to 64.",
        ),
        (
            "\"kind\":\"words\"",
            "\"kind\":\"wrods\"",
            "Perhaps you meant the kind \"words\". Kinds are text, words, name, date, day, code, number, phone and email.",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        let error = read_any_model(&text.replace(from, to)).unwrap_err();
        assert_eq!(error.detail_text(), Some(detail));
    }
}

/// Numbers of an enemy give odds and probabilities, too.
#[test]
fn shares_of_nothing_are_odds() {
    let goods = Goods::new();
    let mut candidates = Candidates::new(&goods);
    let mut learned = candidates.fit(&goods, OneToOne::Both).learned;
    let known = learned.clone();
    for (m, u) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
        learned.m[0].fill(m);
        learned.u[1].fill(u);
        for matches in [0.0, 1e36] {
            learned.matches = matches;
            let found = candidates.weigh(&learned);
            assert!(found.iter().all(|of| (0.0..=1.0).contains(&of.1)));
        }
        learned = known.clone();
    }
}

/// Kinds of records that are not told apart lack values by the shares of their fields.
#[test]
fn kinds_of_records_may_be_many() {
    let mut masks = RecordMasks::default();
    (0..1u32 << 17).for_each(|lacks| masks.add(lacks & 0xffff));
    let shares = MaskShares::new(&masks, &masks, 20, || ());
    let matches = MatchMasks::learn(Vec::new(), vec![[1.0, 2.0, 1.0]; 20]);
    let unknown = Mask {
        one: 0xffff,
        both: 0,
    };
    assert!(!shares.knows(unknown));
    assert!(matches.log(unknown, &shares).abs() < 100.0);
}
