//! Compound fields: those whose values hold the values of other fields, as an e-mail address holds the names of its
//! owner. Strangers of one name may have one address by chance then, which no two fields by themselves tell.

use linkage::model::values::Kind;
use linkage::model::FieldModel;
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// About so many records are looked at.
const LOOKED_AT: u32 = 4096;

/// A field holds another one if all words of this share of the other one's values are in it. Of fewer records nothing is
/// said.
const LEAST_SHARE: f64 = 0.2;
const LEAST_RECORDS: u32 = 50;

/// Bytes of a word. Shorter ones stand in other words by chance.
const LEAST_WORD: usize = 4;

/// Bytes of the longest value that is looked at: the time grows with the square of it, and longer texts are no names.
const LONGEST: usize = 1000;

/// Counts in which fields the values of others stand.
pub struct Compounds<'m> {
    fields: &'m [FieldModel],
    /// One record of so many is looked at.
    every: u32,
    /// By the field that may hold another one, and by that one: records that have both values, and those whose value
    /// holds the other one.
    counts: Vec<Vec<[u32; 2]>>,
}

impl<'m> Compounds<'m> {
    /// Of so many records.
    pub fn new(fields: &'m [FieldModel], records: u32) -> Compounds<'m> {
        Compounds {
            fields,
            every: records / LOOKED_AT + 1,
            counts: vec![vec![[0; 2]; fields.len()]; fields.len()],
        }
    }

    /// Looks at a record, whose values come in the order of the fields. A missing value is empty.
    pub fn look<'v>(&mut self, record: u32, values: impl Iterator<Item = &'v str>) {
        if !record.is_multiple_of(self.every) {
            return;
        }
        let normal = |(field, value): (&FieldModel, &str)| match field.layout.kind() {
            // digits stand in other digits by chance, and so do hashes
            Kind::Date | Kind::Day | Kind::Number | Kind::Phone | Kind::Signature => String::new(),
            _ if value.len() > LONGEST => String::new(),
            _ => field.layout.normal(value).or_raise(),
        };
        let values: Vec<String> = self.fields.iter().zip(values).map(normal).collect();
        let joined: Vec<String> = values.iter().map(|value| value.replace('_', "")).collect();
        for (at, (holder, counts)) in joined.iter().zip(&mut self.counts).enumerate() {
            check_for_interrupts();
            for (of, (held, [both, holding])) in values.iter().zip(counts).enumerate() {
                if at == of || holder.is_empty() || held.is_empty() {
                    continue;
                }
                let mut words = held.split('_').filter(|word| word.len() >= LEAST_WORD);
                *both += 1;
                let first = words.next();
                let is_held = first.is_some_and(|word| holder.contains(word))
                    && words.all(|word| holder.contains(word));
                *holding += u32::from(is_held);
            }
        }
    }

    /// Each field that holds others, with these, as bits. Two that hold each other are one thing twice, and no compound.
    pub fn finish(self) -> Vec<u32> {
        let holds = |a: usize, b: usize| {
            let [both, holding] = self.counts[a][b];
            both >= LEAST_RECORDS && f64::from(holding) >= LEAST_SHARE * f64::from(both)
        };
        let fields = 0..self.fields.len();
        let held_by = |a: usize| {
            let held = fields.clone().filter(|&b| holds(a, b) && !holds(b, a));
            held.fold(0u32, |held, b| held | 1 << b)
        };
        let compounds = fields.clone().map(|a| (a, held_by(a)));
        let compounds = compounds.filter(|&(_, held)| held != 0);
        compounds.map(|(a, held)| held | 1 << a).collect()
    }
}
