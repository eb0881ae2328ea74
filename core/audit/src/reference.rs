//! What the attacker knows: records or values of such a population, in plain.

use std::collections::HashMap;

use crate::bits::{count, members, set_of, RecordSet, Signatures};

/// Records of the reference that are looked at, at most.
pub const MOST_REFERENCE: usize = 1 << 14;

/// A bigram of a field.
pub type Token = (usize, String);

/// Records of fields, with how often each comes. All are taken if there are few, else as many as their numbers say.
pub struct Reference {
    /// By field, the values that there are.
    values: Vec<Vec<String>>,
    /// By field and value, its tokens.
    tokens_of: Vec<Vec<Vec<u32>>>,
    /// By record, the value of each field.
    records: Vec<Vec<u32>>,
    tokens: Vec<Token>,
    /// By token, the records that have it; the commonest tokens first.
    having: Vec<RecordSet>,
}

/// The bigrams of a value with a blank before and behind it, each once. An empty one has none.
pub fn bigrams(value: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    if value.is_empty() {
        return tokens;
    }
    let mut last = ' ';
    for next in value.chars().chain([' ']) {
        let token = String::from_iter([last, next]);
        if !tokens.contains(&token) {
            tokens.push(token);
        }
        last = next;
    }
    tokens
}

impl Reference {
    /// Of so many fields; the values of a record are as many.
    pub fn new(fields: usize, records: &[(Vec<String>, f64)]) -> Reference {
        let mut numbers: Vec<HashMap<&str, u32>> = vec![HashMap::new(); fields];
        let mut values: Vec<Vec<String>> = vec![Vec::new(); fields];
        let mut taken = Vec::new();
        let all: f64 = records.iter().map(|(_, times)| times.max(0.0)).sum();
        // Those that come once each are taken as they are; of more, the same number of steps apart.
        let step = (all / MOST_REFERENCE as f64).max(1.0);
        let (mut passed, mut next) = (0.0, step / 2.0);
        for (record, times) in records {
            passed += times.max(0.0);
            while next < passed {
                next += step;
                let of_record = record.iter().enumerate().map(|(field, value)| {
                    *numbers[field].entry(value).or_insert_with(|| {
                        values[field].push(value.clone());
                        values[field].len() as u32 - 1
                    })
                });
                taken.push(of_record.collect::<Vec<u32>>());
            }
        }
        let mut reference = Reference {
            values,
            tokens_of: Vec::new(),
            records: taken,
            tokens: Vec::new(),
            having: Vec::new(),
        };
        reference.tokenise();
        reference
    }

    /// By field and value, the records that have it.
    fn records_by_value(&self) -> Vec<Vec<Vec<usize>>> {
        let none = |values: &Vec<_>| vec![Vec::new(); values.len()];
        let mut having: Vec<Vec<Vec<usize>>> = self.values.iter().map(none).collect();
        for (n, record) in self.records.iter().enumerate() {
            for (field, value) in record.iter().enumerate() {
                having[field][*value as usize].push(n);
            }
        }
        having
    }

    fn tokenise(&mut self) {
        let mut having: HashMap<Token, Vec<usize>> = HashMap::new();
        let of_values = self.records_by_value();
        for (field, values) in self.values.iter().enumerate() {
            for (value, records) in values.iter().zip(&of_values[field]) {
                for token in bigrams(value) {
                    having.entry((field, token)).or_default().extend(records);
                }
            }
        }
        let mut tokens: Vec<(Token, Vec<usize>)> = having.into_iter().collect();
        tokens.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
        let numbers: HashMap<&Token, u32> = tokens
            .iter()
            .zip(0..)
            .map(|((token, _), n)| (token, n))
            .collect();
        self.tokens_of = self
            .values
            .iter()
            .enumerate()
            .map(|(field, values)| {
                let of_value = |value: &String| {
                    bigrams(value)
                        .into_iter()
                        .map(|token| numbers[&(field, token)])
                        .collect()
                };
                values.iter().map(of_value).collect()
            })
            .collect();
        let records = self.records.len();
        self.having = tokens
            .iter()
            .map(|(_, of)| set_of(records, of.iter().copied()))
            .collect();
        self.tokens = tokens.into_iter().map(|(token, _)| token).collect();
    }

    /// The tokens, the commonest ones first.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The share of records that have a token.
    pub fn frequency(&self, token: usize) -> f64 {
        count(&self.having[token]) as f64 / self.records.len().max(1) as f64
    }

    /// How many records are looked at.
    pub fn records(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn fields(&self) -> usize {
        self.values.len()
    }

    /// The values of a field, each by the numbers of its tokens.
    pub(crate) fn values(&self, field: usize) -> &[Vec<u32>] {
        &self.tokens_of[field]
    }

    /// The text of a value of a field.
    pub fn value(&self, field: usize, value: usize) -> &str {
        &self.values[field][value]
    }

    /// Values that a share of the records have, with field and number, the commonest ones first, and these records.
    pub(crate) fn common_values(&self, share: f64) -> Vec<(usize, usize, RecordSet)> {
        let having = self.records_by_value();
        let mut values: Vec<(usize, usize, Vec<usize>)> = Vec::new();
        for (field, having) in having.into_iter().enumerate() {
            let of_field = having
                .into_iter()
                .enumerate()
                .filter(|(n, _)| !self.values[field][*n].is_empty());
            values.extend(of_field.map(|(n, having)| (field, n, having)));
        }
        values.retain(|(_, _, having)| having.len() as f64 >= share * self.records.len() as f64);
        values.sort_by_key(|(field, n, having)| (std::cmp::Reverse(having.len()), *field, *n));
        let records = self.records.len();
        let set = |(field, n, having)| (field, n, set_of(records, having));
        values.into_iter().map(set).collect()
    }

    /// The records by the bits of their tokens.
    pub(crate) fn as_signatures(&self, turn: &mut dyn FnMut()) -> Signatures {
        let mut rows = Vec::new();
        for n in 0..self.records.len() {
            turn();
            rows.extend(self.row(n));
        }
        Signatures::of_words(self.tokens.len().max(1), rows, turn)
    }

    fn row(&self, n: usize) -> Vec<u64> {
        let values = self.records[n].iter().enumerate();
        let tokens = values.flat_map(|(field, value)| &self.tokens_of[field][*value as usize]);
        set_of(
            self.tokens.len().max(1),
            tokens.map(|token| *token as usize),
        )
    }

    /// The tokens that one of two records has.
    pub(crate) fn differing(&self, a: usize, b: usize) -> Vec<u32> {
        let (a, b) = (self.row(a), self.row(b));
        let differ: Vec<u64> = a.iter().zip(b).map(|(a, b)| a ^ b).collect();
        members(&differ).map(|token| token as u32).collect()
    }

    pub(crate) fn having(&self, token: usize) -> &[u64] {
        &self.having[token]
    }
}
