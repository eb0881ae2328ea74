//! The signatures and sketches that are proposed.

use std::ffi::CStr;

use signature::filter::{self, FULL};

use super::fields::ProposedField;
use super::proposals::Proposals;
use super::statements::{ProposedSignature, SuggestTarget};
use crate::functions::default_shape::{DEFAULT_FPR, DEFAULT_NGRAM};
use pg::catalog;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;

/// Minima of a sketch.
const MINIMA: usize = 128;

/// Signatures are planned for this share of the records, and for lengths within these.
const PLANNED: f64 = 0.95;
const LEAST_CHARACTERS: usize = 20;
const MOST_CHARACTERS: usize = 400;

impl Proposals<'_> {
    /// A signature of the record: its column, and the threshold to begin with.
    pub fn signature(
        &mut self,
        target: &SuggestTarget,
        signed: &[&ProposedField],
    ) -> Option<ProposedSignature> {
        let threshold = match signed.len() {
            0 => return None,
            1 => 0.8,
            2..=4 => 0.7,
            _ => 0.75,
        };
        let existing = self.subject.signed.iter().find(|column| !column.is_bits);
        if let (Some(column), true) = (existing, target.may_be_guarded) {
            let reason = format!(
                "\"{}\" has signatures already, which the statements below use",
                readable(column.name.to_bytes())
            );
            self.say("signature", &reason);
            return Some(ProposedSignature {
                column: column.name.clone(),
                threshold,
                verify: None,
            });
        }
        let characters = self.characters(signed);
        let column = self.subject.free_column("bloom_sig");
        let values = signed.iter().filter_map(|field| field.signed.as_ref());
        let (table, functions, values) = (&target.table, self.functions, Sql::join(values, ", "));
        let signature = match signed.len() {
            1 => sql!("bloom_signature({values}, max_chars => {characters})"),
            _ => {
                let shape = format!("{DEFAULT_NGRAM}, {characters}, {DEFAULT_FPR}");
                sql!("bloom_signature_of_fields({shape}, {values})")
            }
        };
        let sql = sql!(
            "ALTER TABLE {table} ADD COLUMN {column} {functions}bloom \
            GENERATED ALWAYS AS ({functions}{signature}) STORED"
        );
        let planned = match self.sample.rows {
            0 => "a guess".to_owned(),
            _ => format!("which {:.0} in 100 records do not exceed", 100.0 * PLANNED),
        };
        let reason = format!(
            "one signature of {}, for {characters} characters, {planned}",
            names(signed)
        );
        self.propose("signature", &reason, sql);
        self.tell_saturation(signed, characters);
        let unsigned: Vec<&ProposedField> =
            self.fields.iter().filter(|f| f.signed.is_none()).collect();
        if !unsigned.is_empty() {
            let reason = format!(
                "the signature leaves out {}, of which a generated column can make no text that stays as it is; a \
                 model takes them",
                names(&unsigned)
            );
            self.say("signature", &reason);
        }
        Some(ProposedSignature {
            column,
            threshold,
            verify: None,
        })
    }

    /// The characters of each record's fields together, ascending.
    fn lengths(&self, signed: &[&ProposedField]) -> Vec<usize> {
        let of = |row: usize| {
            let columns = signed.iter().map(|f| &self.sample.columns[f.at]);
            columns.map(|column| usize::from(column.lengths[row])).sum()
        };
        let mut lengths: Vec<usize> = (0..self.sample.rows as usize).map(of).collect();
        lengths.sort_unstable();
        lengths
    }

    fn characters(&self, signed: &[&ProposedField]) -> usize {
        let lengths = self.lengths(signed);
        let at = (lengths.len() as f64 * PLANNED) as usize;
        let usual = match lengths.get(at.min(lengths.len().saturating_sub(1))) {
            Some(usual) => usual.div_ceil(10) * 10,
            None => 15 * (1 + signed.len()),
        };
        usual.clamp(LEAST_CHARACTERS, MOST_CHARACTERS)
    }

    fn tell_saturation(&mut self, signed: &[&ProposedField], characters: usize) {
        let Ok(plan) = filter::plan(characters as i64, DEFAULT_NGRAM.into(), DEFAULT_FPR) else {
            return;
        };
        let lengths = self.lengths(signed);
        // so many n-grams set this share of the bits of each of the k parts
        let grams = -(1.0 - FULL).ln() * f64::from(plan.shape.p());
        let padding = (DEFAULT_NGRAM as usize - 1) * signed.len();
        let is_full = |&&length: &&usize| (length + padding) as f64 > grams;
        let full = lengths.iter().filter(is_full).count();
        if full > 0 {
            let reason = format!(
                "{:.1} % of the records are so long that more than {:.0} % of the bits of their signatures will be \
                 set, and these are similar to all others whatever they say: look at such records, or sign fewer \
                 columns",
                100.0 * full as f64 / lengths.len() as f64,
                100.0 * FULL
            );
            self.say("saturation", &reason);
        }
    }

    /// A sketch of the words of a text.
    pub fn sketch(&mut self, target: &SuggestTarget, field: &ProposedField) -> ProposedSignature {
        const TOKENS: &CStr = c"bloom_tokens";
        let (table, functions) = (&target.table, self.functions);
        let value = field.signed.as_ref().expect("it was asked for");
        let column = self.subject.free_column("bloom_bits");
        let has_name = catalog::column(self.subject.oid, TOKENS).is_none();
        let words = sql!("{functions}ident_words({value})");
        if has_name {
            let reason = format!(
                "\"{}\" has whole sentences: they are compared by their words",
                field.name
            );
            let sql = sql!(
                "ALTER TABLE {table} ADD COLUMN {TOKENS} text[] GENERATED ALWAYS AS ({words}) STORED"
            );
            self.propose("tokens", &reason, sql);
        }
        let sql = sql!(
            "ALTER TABLE {table} ADD COLUMN {column} {functions}minhash_bits({MINIMA}) \
            GENERATED ALWAYS AS ({functions}minhash_bits({words}, {MINIMA})) STORED"
        );
        let reason = format!(
            "a sketch of {MINIMA} bits for the words of a text of any length; a signature of \
            n-grams would be full"
        );
        self.propose("sketch", &reason, sql);
        ProposedSignature {
            column,
            threshold: 0.7,
            verify: has_name.then_some(TOKENS),
        }
    }
}

fn names(fields: &[&ProposedField]) -> String {
    let names: Vec<String> = fields.iter().map(|f| format!("\"{}\"", f.name)).collect();
    names.join(", ")
}
