//! The statements that are proposed.

use std::ffi::{CStr, CString};

use linkage::model::values::Kind;
use signature::filter::{self, FULL};

use super::fields::{text_literal, ProposedField};
use super::linkage::personal;
use super::proposals::Proposals;
use super::relation::{NewTable, COPY};
use crate::functions::default_shape::{DEFAULT_FPR, DEFAULT_NGRAM};
use pg::sql::{literal, Sql};
use pg::values::text::readable;
use pg::{catalog, sql};

/// What statements are about: the relation, or a copy of it.
pub struct SuggestTarget {
    /// As SQL writes it.
    pub table: Sql,
    pub key: CString,
    pub may_be_guarded: bool,
    /// A register can keep its records.
    pub may_be_register: bool,
}

/// What is compared, and how.
pub struct ProposedSignature {
    pub column: CString,
    /// Where to begin.
    pub threshold: f64,
    /// The column of tokens that decide, if there is one.
    pub verify: Option<&'static CStr>,
}

impl ProposedSignature {
    /// Its column as a string constant, and the threshold.
    fn arguments(&self) -> (Sql, String) {
        (literal(&self.column), self.threshold.to_string())
    }
}

/// From this probability on a pair is nearly sure: the tutorial's clusters and its guard begin there, too.
pub const SURE: &str = "0.95";

/// A name as SQL writes it, as a string constant.
pub fn name_literal(sql: &Sql) -> Sql {
    literal(&CString::new(sql.clone().into_bytes()).unwrap_or_default())
}

impl Proposals<'_> {
    /// What the statements are about. A key is added where there is none, and who cannot add columns gets a copy.
    pub fn target(&mut self) -> SuggestTarget {
        match self.subject.is_alterable {
            true => self.keyed(),
            false => self.copy(self.subject.sql()),
        }
    }

    /// The same where no column is added but a key.
    pub fn keyed(&mut self) -> SuggestTarget {
        let subject = self.subject;
        let table = subject.sql();
        let target = |key: CString| SuggestTarget {
            table: table.clone(),
            key,
            may_be_guarded: subject.is_alterable && !subject.is_distributed,
            may_be_register: subject.may_be_register,
        };
        if let Some(key) = &subject.key {
            let reason = format!(
                "\"{}\" names each record: an index keeps it unique",
                readable(key.to_bytes())
            );
            self.say("key", &reason);
            return target(key.clone());
        }
        if !subject.is_alterable {
            return self.copy(table);
        }
        let key = subject.free_column("bloom_key");
        let (reason, of_type) = if subject.has_children {
            (
                "no index over one column keeps the records of all its tables apart",
                "uuid DEFAULT pg_catalog.gen_random_uuid()",
            )
        } else if subject.has_primary_key {
            (
                "the primary key has several columns, and functions over tables take one",
                "bigint GENERATED ALWAYS AS IDENTITY UNIQUE",
            )
        } else {
            (
                "there is no primary key, and pairs name records by one",
                "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            )
        };
        let statement = sql!("ALTER TABLE {table} ADD COLUMN {key} {of_type}");
        self.propose("key", reason, statement);
        target(key)
    }

    /// A copy of the fields, of which the caller is the owner.
    fn copy(&mut self, from: Sql) -> SuggestTarget {
        let copy = self.subject.free_table(COPY);
        let (key, first) = match &self.subject.key {
            Some(key) => (key.clone(), sql!("{key}")),
            None => {
                let key = self.subject.free_column("bloom_key");
                let numbered = sql!("pg_catalog.row_number() OVER () AS {key}");
                (key, numbered)
            }
        };
        let others = self.fields.iter().filter(|field| field.c_name != key);
        let others = Sql::join(others.map(|field| sql!(", {field.c_name}")), "");
        let create = copy.create();
        let sql = sql!("{create} AS SELECT {first}{others} FROM {from}");
        let reason = "columns cannot be added here, or not by you: the copy gets them. It knows nothing of later \
            changes";
        self.propose("copy", reason, sql);
        let table = copy.sql();
        let statement = sql!("ALTER TABLE {table} ADD UNIQUE ({key})");
        let reason = format!("\"{}\" is to name each record", readable(key.to_bytes()));
        self.propose("key", &reason, statement);
        SuggestTarget {
            table,
            key,
            may_be_guarded: false,
            may_be_register: false,
        }
    }

    pub fn index(&mut self, target: &SuggestTarget, column: &CStr) {
        let table = &target.table;
        let mut signed = self.subject.signed.iter();
        let is_indexed = signed.any(|c| c.name.as_c_str() == column && c.is_indexed);
        if !is_indexed || !target.may_be_guarded {
            let sql = sql!("CREATE INDEX ON {table} USING sigfile ({column})");
            self.propose("index", "searches, pairs and guards go by it", sql);
        }
        let reason = "the planner needs statistics of new columns";
        self.propose("statistics", reason, sql!("ANALYZE {table}"));
    }

    /// Indexes over the one form of telephone numbers and e-mail addresses.
    pub fn forms(&mut self, target: &SuggestTarget) {
        let (table, functions) = (&target.table, self.functions);
        for field in self.fields.iter().filter(|f| f.signed.is_some()) {
            let column = &field.c_name;
            let (form, what) = match (&field.reading, field.kind) {
                (Some(region), Kind::Phone) => {
                    let region = text_literal(region.name());
                    let form = sql!("ident_phone_or_null({column}, {region})");
                    (form, "telephone numbers")
                }
                _ if field.is_email => (sql!("ident_email_or_null({column})"), "e-mail addresses"),
                _ => continue,
            };
            let reason = format!(
                "\"{}\" has {what}: this finds those that are the same, however they are written",
                field.name
            );
            let sql = sql!("CREATE INDEX ON {table} ({functions}{form})");
            self.propose("index", &reason, sql);
        }
    }

    pub fn estimate(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        let (functions, table) = (self.functions, name_literal(&target.table));
        let (column, threshold) = signature.arguments();
        let sql =
            sql!("SELECT * FROM {functions}bloom_pairs_estimate({table}, {column}, {threshold})");
        let reason = "says before the work how many pairs there are above a threshold, and how long it takes to find \
            them";
        self.propose("estimate", reason, sql);
    }

    pub fn pairs(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        let pairs = self.subject.free_table("pair");
        let (create, functions) = (pairs.create(), self.functions);
        let (table, key) = (name_literal(&target.table), literal(&target.key));
        let (column, threshold) = signature.arguments();
        let verify = signature.verify.map_or(Sql::new(""), |tokens| {
            let tokens = literal(tokens);
            sql!(", verify => {tokens}")
        });
        let sql = sql!(
            "{create} AS SELECT * FROM {functions}bloom_duplicates({table}, {key}, {column}, {threshold}{verify})"
        );
        let reason = format!(
            "{threshold} is where to begin with such a signature: go down from there, and look at \
            what comes"
        );
        self.propose("threshold", &reason, sql);
        self.clusters(&pairs, &threshold, None);
    }

    /// All that a model does: pairs, what is decided about them, clusters, and a guard that asks it about new records.
    pub fn by_model(
        &mut self,
        target: &SuggestTarget,
        fields: &[&ProposedField],
        signature: Option<&ProposedSignature>,
    ) {
        let models = self.subject.free_table("model");
        let (create, functions) = (models.create(), self.functions);
        let (table, key) = (name_literal(&target.table), literal(&target.key));
        let wishes = fields.iter().map(|field| text_literal(&field.wish()));
        let wishes = Sql::join(wishes, ", ");
        let (personal, more) = personal(fields.iter().copied());
        let sql = sql!(
            "{create} AS SELECT {functions}bloom_model_fit({table}, {key}, \
            fields => ARRAY[{wishes}]{personal}) AS model"
        );
        let reason = "the model learns what agreement in each field says, and needs no threshold";
        self.propose("model", &format!("{reason}{more}"), sql);
        let (pairs, models) = (self.subject.free_table("pair"), models.sql());
        let create = pairs.create();
        let sql = sql!(
            "{create} AS SELECT p.* FROM {models} AS m, \
            {functions}bloom_model_duplicates({table}, {key}, m.model) AS p"
        );
        self.propose("pairs", "pairs that are more likely the same than not", sql);
        let decisions = self.decisions("decision", "bloom_report_pairs()");
        self.clusters(&pairs, SURE, decisions.as_ref());
        match signature {
            _ if target.may_be_register => self.register(target, &models, decisions.as_ref()),
            Some(signature) => self.guard(target, signature),
            None => (),
        }
    }

    /// A table for what people decide about pairs. Returns its name as a string constant; `None` where the caller may create
    /// none.
    pub fn decisions(&mut self, label: &str, page: &str) -> Option<Sql> {
        let decisions = self.subject.free_table(label);
        if decisions.is_temporary() {
            return None;
        }
        let (functions, name) = (self.functions, name_literal(&decisions.sql()));
        let reason = format!(
            "for what people decide about the pairs below {SURE}, on the page that {page} makes; what is decided is not asked \
             again"
        );
        let statement = sql!("SELECT {functions}bloom_decisions_create({name})");
        self.propose("decisions", &reason, statement);
        Some(name)
    }

    fn clusters(&mut self, pairs: &NewTable, threshold: &str, decisions: Option<&Sql>) {
        let create = self.subject.free_table("cluster").create();
        let pairs = name_literal(&pairs.sql());
        let functions = self.functions;
        let decisions = decisions.map_or(Sql::new(""), |name| sql!(", decisions => {name}"));
        let sql = sql!(
            "{create} AS SELECT * FROM {functions}bloom_clusters({pairs}, {threshold}{decisions})"
        );
        let reason = "groups of records that are the same, and which of each to keep";
        self.propose("clusters", reason, sql);
    }

    /// A register, whose guard asks the model about each new record.
    fn register(&mut self, target: &SuggestTarget, models: &Sql, decisions: Option<&Sql>) {
        let register = self.subject.free_table("register");
        let (functions, name) = (self.functions, literal(register.name()));
        let (table, key) = (name_literal(&target.table), literal(&target.key));
        let statement = sql!(
            "SELECT {functions}bloom_register_create(m.model, {table}, {key}, {name}) FROM {models} AS m"
        );
        let reason =
            "keeps what the model needs of every record, so that a new one is compared by it";
        self.propose("register", reason, statement);
        let register = name_literal(&register.sql());
        let decisions = decisions.map_or(Sql::new(""), |name| sql!(", 'decisions', {name}"));
        let sql =
            sql!("SELECT {functions}bloom_register_guard({register}, {SURE}, 'warn'{decisions})");
        let reason = "warns of new records that are probably the same as one that is there; reject, flag and skip do more";
        self.propose("guard", reason, sql);
    }

    pub fn guard(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        if !target.may_be_guarded {
            return;
        }
        let (functions, table) = (self.functions, name_literal(&target.table));
        let (column, threshold) = signature.arguments();
        let verify = signature.verify.map_or(Sql::new(""), |tokens| {
            let tokens = literal(tokens);
            sql!(", 'verify', {tokens}")
        });
        let sql = sql!(
            "SELECT {functions}bloom_guard_create({table}, {column}, {threshold}, 'warn'{verify})"
        );
        let reason = "warns of new records that are similar to one that is there; reject, flag and skip do more";
        self.propose("guard", reason, sql);
    }

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

// The signatures and sketches that are proposed.

/// Minima of a sketch.
const MINIMA: usize = 128;

/// Signatures are planned for this share of the records, and for lengths within these.
const PLANNED: f64 = 0.95;
const LEAST_CHARACTERS: usize = 20;
const MOST_CHARACTERS: usize = 400;

fn names(fields: &[&ProposedField]) -> String {
    let names: Vec<String> = fields.iter().map(|f| format!("\"{}\"", f.name)).collect();
    names.join(", ")
}
