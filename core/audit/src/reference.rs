//! What the attacker knows: records or values of such a population, in plain.

use std::cmp::Reverse;
use std::collections::HashMap;

use text::ngram::{for_each_ngram, Gaps, Window};
use text::Rules;

use crate::bits::{count, insert, members, set_of, RecordSet, Signatures};

/// Records of the reference that are looked at, at most.
pub const MOST_REFERENCE: usize = 1 << 14;

/// Tokens that are looked at, at most, the commonest ones.
const MOST_TOKENS: usize = 4096;

/// Tokens that are counted at a time; above it those that come least often are forgotten.
const MOST_COUNTED: usize = 16 * MOST_TOKENS;

/// A token, and the field that it is of; 0 where fields do not matter.
pub type Token = (usize, String);

/// How signatures take values apart, which whoever attacks them knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Bigrams of each field, with a blank before and behind it: clkhash's usual ones.
    Bigrams,
    /// Runs of so many symbols of the normal form, those of all fields alike.
    Normal(u8, Rules),
}

impl Tokens {
    /// The tokens of a value, each once. An empty one has none.
    pub fn of(self, field: usize, value: &str) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut add = |field, token: &str| {
            if !tokens.iter().any(|known| known.1 == token) {
                tokens.push((field, token.to_owned()));
            }
        };
        match self {
            _ if value.is_empty() => (),
            Tokens::Bigrams => {
                let mut last = ' ';
                for next in value.chars().chain([' ']) {
                    add(field, &String::from_iter([last, next]));
                    last = next;
                }
            }
            Tokens::Normal(n, rules) => {
                let mut symbols = vec![0; n.into()];
                let each = |window: &Window, _| {
                    window.write(&mut symbols);
                    add(0, std::str::from_utf8(&symbols).unwrap_or_default());
                };
                for_each_ngram(value, rules, n, Gaps::Closed, each, || ());
            }
        }
        tokens
    }
}

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

impl Reference {
    /// Of so many fields; the values of a record are as many. `turn` is called again and again.
    pub fn new(
        fields: usize,
        records: &[(Vec<String>, f64)],
        tokens: Tokens,
        turn: &mut dyn FnMut(),
    ) -> Reference {
        let mut numbers: Vec<HashMap<&str, u32>> = vec![HashMap::new(); fields];
        let mut values: Vec<Vec<String>> = vec![Vec::new(); fields];
        let mut taken = Vec::new();
        let all: f64 = records.iter().map(|(_, times)| times.max(0.0)).sum();
        // Those that come once each are taken as they are; of more, the same number of steps apart.
        let step = (all / MOST_REFERENCE as f64).max(1.0);
        let (mut passed, mut next) = (0.0, step / 2.0);
        for (record, times) in records {
            turn();
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
        reference.tokenise(tokens, turn);
        reference
    }

    /// By field and value, the records that have it.
    fn records_by_value(&self) -> Vec<Vec<Vec<u32>>> {
        let none = |values: &Vec<_>| vec![Vec::new(); values.len()];
        let mut having: Vec<Vec<Vec<u32>>> = self.values.iter().map(none).collect();
        for (n, record) in self.records.iter().enumerate() {
            for (field, value) in record.iter().enumerate() {
                having[field][*value as usize].push(n as u32);
            }
        }
        having
    }

    fn tokenise(&mut self, tokens: Tokens, turn: &mut dyn FnMut()) {
        let of_values = self.records_by_value();
        let mut counts: HashMap<Token, usize> = HashMap::new();
        let mut forgotten = 0;
        for (field, values) in self.values.iter().enumerate() {
            for (value, records) in values.iter().zip(&of_values[field]) {
                turn();
                for token in tokens.of(field, value) {
                    *counts.entry(token).or_default() += records.len();
                }
                while counts.len() > MOST_COUNTED {
                    forgotten += 1;
                    counts.retain(|_, count| *count > forgotten);
                }
            }
        }
        let mut commonest: Vec<(Token, usize)> = counts.into_iter().collect();
        commonest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        commonest.truncate(MOST_TOKENS);
        self.tokens = commonest.into_iter().map(|(token, _)| token).collect();
        let numbers: HashMap<&Token, u32> = self.tokens.iter().zip(0..).collect();
        self.having = vec![vec![0; self.records.len().div_ceil(64)]; self.tokens.len()];
        for (field, values) in self.values.iter().enumerate() {
            let mut tokens_of = Vec::with_capacity(values.len());
            for (value, records) in values.iter().zip(&of_values[field]) {
                turn();
                let tokens = tokens.of(field, value);
                let known = tokens.iter().filter_map(|token| numbers.get(token));
                let known: Vec<u32> = known.copied().collect();
                for token in &known {
                    for record in records {
                        insert(&mut self.having[*token as usize], *record as usize);
                    }
                }
                tokens_of.push(known);
            }
            self.tokens_of.push(tokens_of);
        }
        // Where fields do not matter a record may have a token twice, and counts once.
        let mut order: Vec<usize> = (0..self.tokens.len()).collect();
        order.sort_by_key(|token| (Reverse(count(&self.having[*token])), *token));
        let mut place = vec![0; order.len()];
        for (n, token) in order.iter().enumerate() {
            place[*token] = n as u32;
        }
        for token in self.tokens_of.iter_mut().flatten().flatten() {
            *token = place[*token as usize];
        }
        self.tokens = order
            .iter()
            .map(|token| std::mem::take(&mut self.tokens[*token]))
            .collect();
        self.having = order
            .iter()
            .map(|token| std::mem::take(&mut self.having[*token]))
            .collect();
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

    /// Bytes that it has taken, with what it was made of: texts as they were read and as they are kept, the values of each
    /// record and the records of each value, the counts of tokens, and the records of each token.
    pub fn taken(&self) -> usize {
        let text: usize = self.values.iter().flatten().map(String::len).sum();
        let values: usize = self.values.iter().map(Vec::len).sum();
        let tokens: usize = self.tokens_of.iter().flatten().map(Vec::len).sum();
        let counted = match self.tokens.len() {
            MOST_TOKENS => MOST_COUNTED,
            tokens => tokens,
        };
        let of_record = 24 + 32 + self.fields() * (8 + 24 + 32 + text / values.max(1));
        let of_records = self.records.len() * of_record;
        text + values * 128 + 4 * tokens + counted * 128 + of_records + self.by_token()
    }

    /// Bytes that it takes while it is attacked by: also the records by their tokens, as rows and as columns.
    pub(crate) fn bytes(&self) -> usize {
        self.taken() + 2 * self.by_token()
    }

    fn by_token(&self) -> usize {
        self.tokens.len() * self.records.len().div_ceil(64) * 8
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
        let mut values: Vec<(usize, usize, Vec<u32>)> = Vec::new();
        for (field, having) in having.into_iter().enumerate() {
            let of_field = having
                .into_iter()
                .enumerate()
                .filter(|(n, _)| !self.values[field][*n].is_empty());
            values.extend(of_field.map(|(n, having)| (field, n, having)));
        }
        values.retain(|(_, _, having)| having.len() as f64 >= share * self.records.len() as f64);
        values.sort_by_key(|(field, n, having)| (Reverse(having.len()), *field, *n));
        let records = self.records.len();
        let set = |(field, n, having): (usize, usize, Vec<u32>)| {
            (
                field,
                n,
                set_of(records, having.into_iter().map(|n| n as usize)),
            )
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_apart_as_signatures_are() {
        let texts =
            |tokens: Vec<Token>| tokens.into_iter().map(|token| token.1).collect::<Vec<_>>();
        assert_eq!(
            texts(Tokens::Bigrams.of(1, "nana")),
            [" n", "na", "an", "a "]
        );
        assert_eq!(texts(Tokens::Bigrams.of(0, "Ö")), [" Ö", "Ö "]);
        assert!(
            Tokens::Bigrams.of(0, "").is_empty()
                && Tokens::Normal(3, Rules::FIRST).of(0, "").is_empty()
        );
        assert_eq!(
            Tokens::Normal(2, Rules::FIRST).of(1, "Ö"),
            Tokens::Normal(2, Rules::FIRST).of(0, "oe")
        );
    }

    #[test]
    fn the_commonest_tokens_come_first_with_their_records() {
        let record = |name: &str, times| (vec![name.to_owned()], times);
        let records = [
            record("ab", 1.0),
            record("ac", 3.0),
            record("", 1.0),
            record("x", f64::NAN),
        ];
        let of = Reference::new(1, &records, Tokens::Bigrams, &mut || ());
        assert_eq!(of.records(), 5);
        assert_eq!(of.tokens()[0], (0, " a".to_owned()));
        assert_eq!(of.frequency(0), 0.8);
        assert_eq!(of.common_values(0.5).len(), 1);
        assert!(of.bytes() > 0);
    }
}
