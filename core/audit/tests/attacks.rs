//! The attacks on ten thousand records of which the attacker knows a share.

use std::borrow::Cow;
use std::collections::HashMap;

use audit::{
    by_differences, by_graphs, by_patterns, guessed, Reading, Reference, Signatures, Token, Tokens,
    TOKENS,
};
use clk::{Encoder, Hardening, Schema};
use serde_json::{json, Value};
use signature::mix as mixed;
use text::Rules;

const RECORDS: usize = 10_000;

/// Each has people of its own.
const SECRETS: u64 = 5;

/// The next number of a sequence.
fn mix(state: &mut u64) -> u64 {
    *state += 1;
    mixed(*state)
}

/// Names of the originals of FEBRL 3, the commonest ones first.
fn names(column: usize) -> Vec<&'static str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for line in include_str!("../../../tests/data/febrl3.csv")
        .lines()
        .skip(1)
    {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0].ends_with("-org") && !cells[column].is_empty() {
            *counts.entry(cells[column]).or_default() += 1;
        }
    }
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    names.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    names.into_iter().map(|(name, _)| name).collect()
}

/// Names of syllables, which resemble one another in another way than those of FEBRL do.
fn made(number: usize, syllables: usize, tails: &[&str]) -> Vec<String> {
    let starts = [
        "b", "br", "ch", "d", "f", "fr", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "sch",
        "st", "t", "w", "z",
    ];
    let vowels = ["a", "e", "i", "o", "u", "au", "ei", "ie", "ou"];
    let ends = [
        "ck", "d", "ff", "l", "ll", "m", "n", "ng", "r", "rt", "s", "t",
    ];
    let mut state = (number as u64) << 20;
    let mut names: Vec<String> = Vec::new();
    while names.len() < number {
        let mut one = |of: &[&str]| of[mix(&mut state) as usize % of.len()].to_owned();
        let mut name: String = (0..syllables)
            .map(|_| one(&starts) + &one(&vowels))
            .collect();
        name += &(one(&ends) + &one(tails));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One of the names: the n-th with a weight of 1/(n + 10), as in Zipf's law for names.
fn draw<'n, S: AsRef<str>>(names: &'n [S], state: &mut u64) -> &'n str {
    let all: f64 = (0..names.len()).map(|n| 1.0 / (n + 10) as f64).sum();
    let mut at = mix(state) as f64 / u64::MAX as f64 * all;
    for (n, name) in names.iter().enumerate() {
        at -= 1.0 / (n + 10) as f64;
        if at <= 0.0 {
            return name.as_ref();
        }
    }
    names[names.len() - 1].as_ref()
}

/// Given name, surname, date of birth.
type Person = [String; 3];

/// Where names are from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum List {
    Febrl,
    Made,
}

impl List {
    fn names(self) -> [Vec<String>; 2] {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        match self {
            List::Febrl => [owned(names(2)), owned(names(3))],
            List::Made => [
                made(400, 1, &["a", "e", "ia", "us", "el", ""]),
                made(2000, 1, &["", "er", "man", "son", "berg", "ski"]),
            ],
        }
    }
}

fn people(list: List, number: usize, seed: u64) -> Vec<Person> {
    let [given, surnames] = list.names();
    let mut state = seed << 32;
    (0..number)
        .map(|_| {
            let day = mix(&mut state) % (80 * 365);
            [
                draw(&given, &mut state).to_owned(),
                draw(&surnames, &mut state).to_owned(),
                format!(
                    "{:04}-{:02}-{:02}",
                    1930 + day / 365,
                    day % 365 / 31 + 1,
                    day % 365 % 31 % 28 + 1
                ),
            ]
        })
        .collect()
}

fn schema(strategy: &Value, comparison: &Value) -> Schema {
    if let Some(n) = strategy["own"].as_u64() {
        let json = json!({"bloom_ident": 1, "ngram": n, "max_chars": 40, "features": ["given", "surname"]});
        return Schema::new(&json).expect("a schema");
    }
    let feature = |name: &str| json!({"identifier": name, "format": {"type": "string"}, "hashing": {"comparison": comparison, "strategy": strategy, "missingValue": {"sentinel": ""}}});
    let json = json!({"version": 3, "clkConfig": {"l": 1024, "kdf": {"type": "HKDF"}}, "features": [feature("given"), feature("surname")]});
    Schema::new(&json).expect("a schema")
}

struct Setting {
    strategy: Value,
    hardening: Value,
    /// Each bit is flipped with this probability.
    flip: f64,
    list: List,
    /// The number of the secret, and of the people.
    secret: u64,
}

impl Setting {
    fn new(strategy: Value, hardening: Value) -> Setting {
        Setting {
            strategy,
            hardening,
            flip: 0.0,
            list: List::Febrl,
            secret: 1,
        }
    }

    fn tokens(&self) -> Tokens {
        match self.strategy["own"].as_u64() {
            None => Tokens::Bigrams,
            Some(n) => Tokens::Normal(n as u8, Rules::FIRST),
        }
    }

    fn encoder(&self, strategy: &Value, comparison: &Value) -> Encoder {
        let hardening = Hardening::new(&self.hardening).expect("a hardening");
        Encoder::new(
            schema(strategy, comparison),
            hardening,
            format!("secret {} of the test", self.secret).as_bytes(),
            1 << 22,
        )
        .expect("an encoder")
    }

    fn encode(&self, encoder: &mut Encoder, person: &Person, values: [&str; 2]) -> Vec<u8> {
        if self.hardening.get("salt").is_some() {
            assert!(encoder
                .set_salt(&[Cow::Borrowed(&person[2])])
                .expect("a salt"));
        }
        let mut bits = vec![0; encoder.shape().expect("a shape").m().div_ceil(8) as usize];
        encoder
            .encode(|n| Ok(values[n].into()), &mut bits, || ())
            .expect("a record");
        bits
    }

    fn signatures(&self, people: &[Person]) -> Signatures {
        let mut encoder = self.encoder(&self.strategy, &json!({"type": "ngram", "n": 2}));
        let mut all: Vec<Vec<u8>> = people
            .iter()
            .map(|person| self.encode(&mut encoder, person, [&person[0], &person[1]]))
            .collect();
        let mut state = 3 + self.secret;
        for bits in all.iter_mut().filter(|_| self.flip > 0.0) {
            for bit in 0..8 * bits.len() {
                if (mix(&mut state) as f64) < self.flip * u64::MAX as f64 {
                    bits[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
        Signatures::new(
            encoder.shape().expect("a shape").m() as usize,
            all.iter().map(|bits| &bits[..]),
            &mut || (),
        )
    }

    /// The share of the tokens whose bits were read right: of the bits that the attack says at least 0.9 are the token's,
    /// and of the token's at least half are said, both on average over records that have it.
    fn share_right(
        &self,
        reading: &Reading,
        of: &Signatures,
        tokens: &[Token],
        people: &[Person],
    ) -> f64 {
        if self.tokens() != Tokens::Bigrams {
            return self.share_common(reading, of, tokens, people);
        }
        let exact = json!({"type": "exact"});
        let mut encoders: HashMap<u64, Encoder> = HashMap::new();
        let right = (0..tokens.len()).filter(|n| {
            let said = &reading.bits[*n];
            let (field, token) = &tokens[*n];
            let size: u32 = said.iter().map(|word| word.count_ones()).sum();
            if size == 0 {
                return false;
            }
            let having = people
                .iter()
                .filter(|person| format!(" {} ", person[*field]).contains(&token[..]))
                .take(30);
            let (mut precision, mut recall, mut records) = (0.0, 0.0, 0.0);
            for person in having {
                let bits = match &self.strategy["bitsPerToken"] {
                    Value::Null => {
                        self.strategy["bitsPerFeature"].as_u64().unwrap()
                            / (person[*field].len() as u64 + 1)
                    }
                    bits => bits.as_u64().unwrap(),
                };
                let encoder = encoders
                    .entry(bits)
                    .or_insert_with(|| self.encoder(&json!({"bitsPerToken": bits}), &exact));
                let mut values = ["", ""];
                let none = self.encode(encoder, person, values);
                values[*field] = token;
                let with = self.encode(encoder, person, values);
                let truth: Vec<u8> = with
                    .iter()
                    .zip(none)
                    .map(|(with, none)| with & !none)
                    .collect();
                let both: u32 = truth
                    .iter()
                    .enumerate()
                    .map(|(n, byte)| (byte & (said[n / 8] >> (n % 8 * 8)) as u8).count_ones())
                    .sum();
                let all: u32 = truth.iter().map(|byte| byte.count_ones()).sum();
                precision += f64::from(both) / f64::from(size);
                recall += f64::from(both) / f64::from(all);
                records += 1.0;
            }
            precision / records >= 0.9 && recall / records >= 0.5
        });
        right.count() as f64 / tokens.len() as f64
    }
}

impl Setting {
    /// The same for the own family: the token's bits are those that all records with it have.
    fn share_common(
        &self,
        reading: &Reading,
        of: &Signatures,
        tokens: &[Token],
        people: &[Person],
    ) -> f64 {
        let right = (0..tokens.len()).filter(|n| {
            let has = |person: &Person| {
                (0..2).any(|field| {
                    self.tokens()
                        .of(field, &person[field])
                        .contains(&tokens[*n])
                })
            };
            let having = (0..people.len())
                .filter(|record| has(&people[*record]))
                .take(200);
            let truth = having.map(|record| of.row(record).to_vec());
            let truth = truth
                .reduce(|a, b| a.iter().zip(b).map(|(a, b)| a & b).collect())
                .unwrap_or_default();
            let size = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
            let said = &reading.bits[*n];
            let both: Vec<u64> = truth.iter().zip(said).map(|(a, b)| a & b).collect();
            size(said) > 0 && 10 * size(&both) >= 9 * size(said) && 2 * size(&both) >= size(&truth)
        });
        right.count() as f64 / tokens.len() as f64
    }
}

/// A list that has a share of the people, and others.
fn reference(setting: &Setting, people: &[Person], overlap: f64) -> Reference {
    let known = (overlap * people.len() as f64) as usize;
    let seed = 77 + setting.secret;
    let others = self::people(setting.list, people.len() - known, seed);
    let records: Vec<(Vec<String>, f64)> = people[..known]
        .iter()
        .chain(&others)
        .map(|person| (person[..2].to_vec(), 1.0))
        .collect();
    Reference::new(2, &records, setting.tokens(), &mut || ())
}

/// The share of records of which the values of all fields are read right.
fn records_right(
    of: &Signatures,
    reading: &Reading,
    people: &[Person],
    reference: &Reference,
) -> f64 {
    let value = |field: usize, n: usize| {
        reading.values[field][n].map(|value| reference.value(field, value as usize))
    };
    let is_right = |(n, record): &(usize, usize)| {
        (0..2).all(|field| value(field, *n) == Some(&people[*record][field]))
    };
    let right = guessed(of).enumerate().filter(is_right).count();
    right as f64 / reading.values[0].len() as f64
}

type Attack = fn(&Signatures, &Reference, &mut dyn FnMut()) -> Reading;

const ATTACKS: [(&str, Attack); 3] = [
    ("pattern mining", by_patterns),
    ("graph matching", by_graphs),
    ("differences", by_differences),
];

/// What an attack has read, as shares: of the 100 commonest tokens and of the records, those that are right and those that an
/// attacker would believe to be.
struct Read {
    attack: &'static str,
    overlap: f64,
    tokens: f64,
    tokens_believed: f64,
    records: f64,
    records_believed: f64,
}

/// Attacks all records.
fn attacked(setting: &Setting, overlaps: &[f64]) -> Vec<Read> {
    let people = people(setting.list, RECORDS, setting.secret);
    let signatures = setting.signatures(&people);
    let mut all = Vec::new();
    for overlap in overlaps {
        let reference = reference(setting, &people, *overlap);
        for (name, attack) in ATTACKS {
            let reading = attack(&signatures, &reference, &mut || ());
            let tokens = &reference.tokens()[..TOKENS];
            let believed = reading.believed()[..TOKENS].iter().filter(|is| **is);
            all.push(Read {
                attack: name,
                overlap: *overlap,
                tokens: setting.share_right(&reading, &signatures, tokens, &people),
                tokens_believed: believed.count() as f64 / TOKENS as f64,
                records: records_right(&signatures, &reading, &people, &reference),
                records_believed: reading.records(&signatures, &reference),
            });
        }
    }
    all
}

/// Without a salt each attack reads the tokens, and an attacker knows which.
fn reads(secret: u64, overlaps: &[f64]) {
    let setting = Setting {
        secret,
        ..Setting::new(json!({"bitsPerToken": 15}), json!({}))
    };
    for read in attacked(&setting, overlaps) {
        let (tokens, records) = (read.tokens, read.records);
        let place = format!("secret {secret}, {} at {}", read.attack, read.overlap);
        assert!(tokens >= 0.95, "{place}: {tokens} of the tokens are right");
        assert!(
            records >= 0.9,
            "{place}: {records} of the records are right"
        );
        let off = (read.tokens_believed - tokens).abs();
        assert!(off <= 0.05, "{place}: tokens believed are off by {off}");
        let off = (read.records_believed - records).abs();
        assert!(off <= 0.05, "{place}: records believed are off by {off}");
    }
}

/// With salt and diffusion nothing is read, nor believed to be.
fn reads_nothing(secret: u64, overlaps: &[f64]) {
    let setting = Setting {
        secret,
        ..Setting::new(
            json!({"bitsPerToken": 15}),
            json!({"salt": ["born"], "diffusion": 8}),
        )
    };
    for read in attacked(&setting, overlaps) {
        let shares = [
            read.tokens,
            read.tokens_believed,
            read.records,
            read.records_believed,
        ];
        assert!(
            shares.iter().all(|share| *share <= 0.01),
            "secret {secret}, {} at {}: {shares:?}",
            read.attack,
            read.overlap
        );
    }
}

// Few known people are the hardest case, and many known ones the easiest.
#[test]
fn without_a_salt_tokens_are_read_at_each_overlap() {
    reads(1, &[0.2, 0.5, 0.8]);
}

#[test]
fn without_a_salt_tokens_are_read_whatever_the_secret_is() {
    (2..=SECRETS).for_each(|secret| reads(secret, &[0.2]));
}

#[test]
fn with_salt_and_diffusion_no_tokens_are_read_at_any_overlap() {
    reads_nothing(1, &[0.2, 0.5, 0.8]);
}

#[test]
fn with_salt_and_diffusion_no_tokens_are_read_whatever_the_secret_is() {
    (2..=SECRETS).for_each(|secret| reads_nothing(secret, &[0.8]));
}

#[test]
fn the_own_family_is_read_by_pattern_mining() {
    let setting = Setting::new(json!({"own": 2}), json!({}));
    let read = &attacked(&setting, &[0.5])[0];
    let (tokens, records) = (read.tokens, read.records);
    assert!(tokens >= 0.9, "{tokens} of the tokens are right");
    assert!(records >= 0.8, "{records} of the records are right");
    let off = (read.tokens_believed - tokens).abs();
    assert!(off <= 0.1, "tokens believed are off by {off}");
}

/// The tables of docs/audit-keyed.md: `cargo test -p audit --test attacks -- --ignored --nocapture`. Each line has the median and, in
/// brackets, the least of five secrets of the share that is read right, of tokens and of records, and how much more than that, and
/// how much less, an attacker would believe at most.
#[test]
#[ignore = "measures, for half an hour"]
fn table() {
    let clk = json!({"bitsPerToken": 15});
    let plain = ("none", json!({}), 0.0);
    let flipped = ("BLIP 0.05", json!({}), 0.05);
    let both = (
        "salt and diffusion",
        json!({"salt": ["born"], "diffusion": 8}),
        0.0,
    );
    let others = [
        ("balance", json!({"balance": true}), 0.0),
        ("diffusion", json!({"diffusion": 8}), 0.0),
        ("salt", json!({"salt": ["born"]}), 0.0),
    ];
    let some = [plain.clone(), flipped, both.clone()];
    measure(List::Febrl, &clk, &some);
    measure(List::Febrl, &clk, &others);
    measure(List::Made, &clk, &some);
    measure(List::Febrl, &json!({"own": 3}), &[plain.clone(), both]);
    measure(List::Febrl, &json!({"bitsPerFeature": 150}), &[plain]);
}

fn measure(list: List, strategy: &Value, hardenings: &[(&str, Value, f64)]) {
    for (name, hardening, flip) in hardenings {
        let of_secret = |secret| {
            let setting = Setting {
                flip: *flip,
                list,
                secret,
                ..Setting::new(strategy.clone(), hardening.clone())
            };
            attacked(&setting, &[0.2, 0.5, 0.8])
        };
        let by_secret: Vec<Vec<Read>> = (1..=SECRETS).map(of_secret).collect();
        for n in 0..by_secret[0].len() {
            let of = |value: &dyn Fn(&Read) -> f64| {
                let mut values: Vec<f64> = by_secret.iter().map(|read| value(&read[n])).collect();
                values.sort_by(f64::total_cmp);
                [
                    values[0],
                    values[values.len() / 2],
                    values[values.len() - 1],
                ]
            };
            let shown = |[least, middle, _]: [f64; 3], [less, _, more]: [f64; 3]| {
                format!("{middle:.2} ({least:.2}), believed {more:+.2} {less:+.2}")
            };
            let tokens = shown(
                of(&|read| read.tokens),
                of(&|read| read.tokens_believed - read.tokens),
            );
            let records = shown(
                of(&|read| read.records),
                of(&|read| read.records_believed - read.records),
            );
            let Read {
                attack, overlap, ..
            } = by_secret[0][n];
            println!("{list:?} {strategy} | {name} | {attack} | {overlap} | tokens {tokens} | records {records}");
        }
    }
}
