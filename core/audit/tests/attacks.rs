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

const RECORDS: usize = 10_000;

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
        let most = 40;
        let json = json!({"bloom_ident": 1, "ngram": n, "max_chars": most, "features": ["given", "surname"]});
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
            Some(0) => Tokens::Words,
            Some(n) => Tokens::Normal(n as u8),
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
            if std::env::var("DEBUG").is_ok() {
                eprint!(
                    "{field}{token}:{:.1}/{:.1} ",
                    precision / records,
                    recall / records
                );
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
            if std::env::var("DEBUG").is_ok() {
                eprint!(
                    "{:?}:{}/{}/{} ",
                    tokens[*n].1,
                    size(&both),
                    size(said),
                    size(&truth)
                );
            }
            size(said) > 0 && 10 * size(&both) >= 9 * size(said) && 2 * size(&both) >= size(&truth)
        });
        right.count() as f64 / tokens.len() as f64
    }
}

fn reference(list: List, people: &[Person], overlap: f64, seed: u64, tokens: Tokens) -> Reference {
    let known = (overlap * people.len() as f64) as usize;
    let others = self::people(list, people.len() - known, 77 + seed);
    let records: Vec<(Vec<String>, f64)> = people[..known]
        .iter()
        .chain(&others)
        .map(|person| (person[..2].to_vec(), 1.0))
        .collect();
    Reference::new(2, &records, tokens, &mut || ())
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

/// Attacks all records, and gives the shares of the 100 commonest tokens that are read right and that are believed, and of the records, by
/// attack and overlap.
fn attacked(setting: &Setting, overlaps: &[f64]) -> Vec<(&'static str, f64, [f64; 4])> {
    let people = people(setting.list, RECORDS, setting.secret);
    let signatures = setting.signatures(&people);
    let mut all = Vec::new();
    for overlap in overlaps {
        let reference = reference(
            setting.list,
            &people,
            *overlap,
            setting.secret,
            setting.tokens(),
        );
        for (name, attack) in ATTACKS {
            let reading = attack(&signatures, &reference, &mut || ());
            let tokens = setting.share_right(
                &reading,
                &signatures,
                &reference.tokens()[..TOKENS],
                &people,
            );
            let believed = reading.believed();
            let share = believed[..TOKENS].iter().filter(|is| **is).count() as f64 / TOKENS as f64;
            let right = records_right(&signatures, &reading, &people, &reference);
            all.push((
                name,
                *overlap,
                [
                    tokens,
                    share,
                    right,
                    reading.records(&signatures, &reference),
                ],
            ));
        }
    }
    all
}

#[test]
fn without_a_salt_tokens_are_read() {
    let setting = Setting::new(json!({"bitsPerToken": 15}), json!({}));
    for (attack, overlap, shares) in attacked(&setting, &[0.2, 0.5, 0.8]) {
        assert!(shares[0] >= 0.9, "{attack} at {overlap}: {shares:?}");
    }
}

#[test]
fn with_salt_and_diffusion_no_tokens_are_read() {
    let setting = Setting::new(
        json!({"bitsPerToken": 15}),
        json!({"salt": ["born"], "diffusion": 8}),
    );
    for (attack, overlap, shares) in attacked(&setting, &[0.2, 0.5, 0.8]) {
        // Neither read nor believed to be, and so are the records.
        assert!(
            shares.iter().all(|share| *share <= 0.01),
            "{attack} at {overlap}: {shares:?}"
        );
    }
}

/// The table of docs/audit-keyed.md: `cargo test -p audit --test attacks -- --ignored --nocapture`.
#[test]
#[ignore = "measures, for minutes"]
fn table() {
    let which = std::env::var("WHICH").unwrap_or_default();
    for list in [List::Febrl, List::Made] {
        for strategy in [json!({"bitsPerToken": 15}), json!({"bitsPerFeature": 150})] {
            for (name, hardening, flip) in [
                ("none", json!({}), 0.0),
                ("balance", json!({"balance": true}), 0.0),
                ("BLIP 0.05", json!({}), 0.05),
                ("diffusion", json!({"diffusion": 8}), 0.0),
                ("salt", json!({"salt": ["born"]}), 0.0),
                (
                    "salt and diffusion",
                    json!({"salt": ["born"], "diffusion": 8}),
                    0.0,
                ),
            ] {
                if !which.is_empty() && !which.split(',').any(|w| w == name) {
                    continue;
                }
                for secret in 1..=5 {
                    let setting = Setting {
                        flip,
                        secret,
                        list,
                        ..Setting::new(strategy.clone(), hardening.clone())
                    };
                    let begin = std::time::Instant::now();
                    for (attack, overlap, [right, believed, records, all]) in
                        attacked(&setting, &[0.2, 0.5, 0.8])
                    {
                        println!("{list:?} | {strategy} | {name} | {secret} | {attack} | {overlap} | {right:.2} | {believed:.2} | {records:.2} | {all:.2} {:.0?}", begin.elapsed());
                    }
                }
            }
        }
    }
}

#[test]
#[ignore = "debug"]
fn debug() {
    let var = |name: &str, or: &str| std::env::var(name).unwrap_or(or.to_owned());
    let strategy = match var("OWN", "").as_str() {
        "" => json!({"bitsPerToken": 15}),
        n => json!({"own": n.parse::<u8>().unwrap()}),
    };
    let setting = Setting {
        flip: var("FLIP", "0").parse().unwrap(),
        secret: var("SECRET", "1").parse().unwrap(),
        list: if var("LIST", "").is_empty() {
            List::Febrl
        } else {
            List::Made
        },
        ..Setting::new(
            strategy,
            if var("SALT", "").is_empty() {
                json!({})
            } else {
                json!({"salt": ["born"], "diffusion": 8})
            },
        )
    };
    let people = people(setting.list, RECORDS, setting.secret);
    let signatures = setting.signatures(&people);
    let reference = reference(
        setting.list,
        &people,
        var("OVERLAP", "0.2").parse().unwrap(),
        setting.secret,
        setting.tokens(),
    );
    let attack = ATTACKS[var("ATTACK", "2").parse::<usize>().unwrap()].1;
    let begin = std::time::Instant::now();
    let reading = attack(&signatures, &reference, &mut || ());
    eprintln!("{:?}", begin.elapsed());
    let share = setting.share_right(
        &reading,
        &signatures,
        &reference.tokens()[..TOKENS],
        &people,
    );
    let believed = reading.believed();
    eprintln!(
        "\nright {share} believed {}",
        believed[..TOKENS].iter().filter(|is| **is).count()
    );
    eprintln!(
        "records {} {}",
        records_right(&signatures, &reading, &people, &reference),
        reading.records(&signatures, &reference)
    );
    for n in 0..TOKENS {
        if believed[n] {
            let (f, t) = &reference.tokens()[n];
            eprint!("{f}{t} ");
        }
    }
    eprintln!();
}
