//! The proposals, in the order in which their statements run.

use base::range::counted;
use linkage::model::LeftOut;
use signature::filter::FULL;

use super::fields::ProposedField;
use super::relation::SuggestSubject;
use super::sample::RelationSample;
use pg::sql::Sql;
use pg::values::text::readable;

/// Fewer records are too few for a model.
pub const LEAST_FOR_MODEL: u64 = 100;

/// Most fields of a model: more say less of each.
pub const MODEL_FIELDS: usize = 16;

/// A row of the result. A warning has no statement, nor has what is only said.
pub struct Proposal {
    pub topic: &'static str,
    pub reason: String,
    pub statement: Option<Sql>,
}

/// All proposals.
pub struct Proposals<'a> {
    pub subject: &'a SuggestSubject,
    pub sample: &'a RelationSample,
    pub fields: &'a [ProposedField],
    /// The schema of the extension's functions and types, as far as SQL needs it.
    pub functions: &'a Sql,
    all: Vec<Proposal>,
}

impl<'a> Proposals<'a> {
    pub fn new(
        subject: &'a SuggestSubject,
        sample: &'a RelationSample,
        fields: &'a [ProposedField],
        functions: &'a Sql,
    ) -> Proposals<'a> {
        Proposals {
            subject,
            sample,
            fields,
            functions,
            all: Vec::new(),
        }
    }

    fn add(&mut self, topic: &'static str, reason: &str, statement: Option<Sql>) {
        self.all.push(Proposal {
            topic,
            reason: reason.to_owned(),
            statement,
        });
    }

    pub fn say(&mut self, topic: &'static str, reason: &str) {
        self.add(topic, reason, None);
    }

    pub fn propose(&mut self, topic: &'static str, reason: &str, statement: Sql) {
        self.add(topic, reason, Some(statement));
    }

    /// Those that were made.
    pub fn finish(self) -> Vec<Proposal> {
        self.all
    }

    /// Those that were made, of which each says what relation it is about.
    pub fn finish_of(mut self, relation: &str) -> Vec<Proposal> {
        for proposal in &mut self.all {
            proposal.reason = format!("of \"{relation}\": {}", proposal.reason);
        }
        self.all
    }

    pub fn tell_left_out(&mut self, left_out: &[LeftOut]) {
        for left in left_out {
            let reason = format!("\"{}\" is left out ({})", left.column, left.reason);
            self.say("column", &reason);
        }
    }

    /// Makes them.
    pub fn make(mut self, left_out: &[LeftOut]) -> Vec<Proposal> {
        self.tell_sample();
        self.tell_left_out(left_out);
        self.tell_fields();
        if self.fields.is_empty() {
            return self.all;
        }
        let long: Vec<&ProposedField> = self.fields.iter().filter(|f| f.is_long).collect();
        let short: Vec<&ProposedField> = self.fields.iter().filter(|f| !f.is_long).collect();
        let signed = short.iter().copied().filter(|f| f.signed.is_some());
        let signed: Vec<&ProposedField> = signed.collect();
        // A long text beside others says less than they do.
        let message = match signed.is_empty() {
            true => long.iter().copied().find(|f| f.signed.is_some()),
            false => None,
        };
        for field in long.iter().filter(|_| message.is_none()) {
            let reason = format!(
                "\"{}\" has whole sentences, which would fill the signature of a record; compare them by sketches of \
                 their words, if at all",
                field.name
            );
            self.say("saturation", &reason);
        }
        let fields: Vec<&ProposedField> = short.into_iter().take(MODEL_FIELDS).collect();
        let has_model =
            message.is_none() && fields.len() >= 2 && self.sample.rows >= LEAST_FOR_MODEL;
        if message.is_none() && signed.is_empty() && !has_model {
            let reason = format!(
                "no signature can be made of these, and a model learns from {LEAST_FOR_MODEL} \
                records with two fields and more: nothing is proposed"
            );
            self.say("pairs", &reason);
            return self.all;
        }
        let target = self.target();
        let signature = match message {
            Some(field) => Some(self.sketch(&target, field)),
            None => self.signature(&target, &signed),
        };
        if let Some(signature) = &signature {
            self.index(&target, &signature.column);
            self.forms(&target);
        }
        if has_model {
            self.by_model(&target, &fields, signature.as_ref());
        } else if let Some(signature) = &signature {
            self.estimate(&target, signature);
            self.pairs(&target, signature);
            self.guard(&target, signature);
        }
        self.all
    }

    pub fn tell_sample(&mut self) {
        let rows = counted(self.sample.rows, "record", "records");
        let reason = match (self.sample.share, self.sample.is_cut) {
            (Some(share), false) => format!(
                "{rows} of about {:.0} were read, those of {:.3} % of the table's blocks, which are the same each time",
                self.sample.rows as f64 / share,
                100.0 * share
            ),
            (_, true) => format!("the first {rows} were read"),
            (None, false) if self.sample.rows == 0 => {
                "there are no records: what follows goes by the names and types of columns, so ask again when there \
                 are".to_owned()
            }
            (None, false) if self.sample.rows == 1 => "the only record was read".to_owned(),
            (None, false) => format!("all {rows} were read"),
        };
        self.say("sample", &reason);
        let signed = self.subject.signed.iter().filter(|c| !c.is_bits);
        let full: Vec<String> = signed
            .zip(&self.sample.full)
            .filter(|(_, (_, full))| *full > 0)
            .map(|(column, (all, full))| {
                format!(
                    "{:.1} % of the signatures in \"{}\" have more than {:.0} % of their bits set, and are similar \
                     to all others: they need a shape for longer texts",
                    100.0 * *full as f64 / *all as f64,
                    readable(column.name.to_bytes()),
                    100.0 * FULL
                )
            })
            .collect();
        full.into_iter()
            .for_each(|reason| self.say("saturation", &reason));
    }

    fn tell_fields(&mut self) {
        if self.fields.is_empty() {
            return self.say("fields", "no column is left that could be compared");
        }
        let fields = self.fields.iter().map(|field| match field.filled {
            100 => field.wish(),
            filled => format!("{} ({filled} % filled)", field.wish()),
        });
        let fields = fields.collect::<Vec<String>>().join(", ");
        self.say("fields", &format!("these tell records apart: {fields}"));
    }
}
