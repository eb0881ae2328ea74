//! The statements that are proposed.

use std::ffi::{CStr, CString};

use linkage::model::values::Kind;

use super::fields::ProposedField;
use super::proposals::Proposals;
use super::relation::NewTable;
use crate::models::guess;
use pg::sql::Sql;
use pg::values::text::readable;
use pg::values::text::to_database;

/// What statements are about: the relation, or a copy of it.
pub struct SuggestTarget {
    /// As SQL writes it.
    pub table: Sql,
    key: CString,
    pub may_be_guarded: bool,
}

/// What is compared, and how.
pub struct ProposedSignature {
    pub column: CString,
    /// Where to begin.
    pub threshold: f64,
    /// The column of tokens that decide, if there is one.
    pub verify: Option<&'static CStr>,
}

fn literal(sql: &Sql) -> Sql {
    let text = CString::new(sql.clone().into_bytes()).unwrap_or_default();
    Sql::new("").literal(&text)
}

fn name_literal(name: &CStr) -> Sql {
    Sql::new("").literal(name)
}

fn text_literal(text: &str) -> Sql {
    Sql::new("").literal(&CString::new(to_database(text)).unwrap_or_default())
}

impl Proposals<'_> {
    /// What the statements are about. A key is added where there is none, and who cannot add columns gets a copy.
    pub fn target(&mut self) -> SuggestTarget {
        let subject = self.subject;
        let table = subject.sql();
        if !subject.is_alterable {
            return self.copy(table);
        }
        let target = |key: CString| SuggestTarget {
            table: table.clone(),
            key,
            may_be_guarded: true,
        };
        if let Some(key) = &subject.key {
            let reason = format!(
                "\"{}\" names each record: an index keeps it unique",
                readable(key.to_bytes())
            );
            self.say("key", reason);
            return target(key.clone());
        }
        let key = subject.free_column("bloom_key");
        let alter = Sql::new("ALTER TABLE ")
            .sql(&table)
            .text(" ADD COLUMN ")
            .name(&key);
        let (reason, statement) = if subject.has_children {
            (
                "no index over one column keeps the records of all its tables apart",
                alter.text(" uuid DEFAULT pg_catalog.gen_random_uuid()"),
            )
        } else if subject.has_primary_key {
            (
                "the primary key has several columns, and functions over tables take one",
                alter.text(" bigint GENERATED ALWAYS AS IDENTITY UNIQUE"),
            )
        } else {
            (
                "there is no primary key, and pairs name records by one",
                alter.text(" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
            )
        };
        self.propose("key", reason.to_owned(), statement);
        target(key)
    }

    /// A copy of the fields, of which the caller is the owner.
    fn copy(&mut self, from: Sql) -> SuggestTarget {
        let copy = self.subject.free_table("copy");
        let mut sql = copy.create().text(" AS SELECT ");
        let key = match &self.subject.key {
            Some(key) => {
                sql = sql.name(key);
                key.clone()
            }
            None => {
                let key = self.subject.free_column("bloom_key");
                sql = sql.text("pg_catalog.row_number() OVER () AS ").name(&key);
                key
            }
        };
        for field in self.fields.iter().filter(|field| field.c_name != key) {
            sql = sql.text(", ").name(&field.c_name);
        }
        let reason = "columns cannot be added here, or not by you: the copy gets them. It knows nothing of later changes";
        self.propose("copy", reason.to_owned(), sql.text(" FROM ").sql(&from));
        let alter = Sql::new("ALTER TABLE ").sql(&copy.sql());
        let statement = alter.text(" ADD UNIQUE (").name(&key).text(")");
        let reason = format!("\"{}\" is to name each record", readable(key.to_bytes()));
        self.propose("key", reason, statement);
        SuggestTarget {
            table: copy.sql(),
            key,
            may_be_guarded: false,
        }
    }

    pub fn index(&mut self, target: &SuggestTarget, column: &CStr) {
        let signed = &self.subject.signed;
        let is_indexed = signed
            .iter()
            .any(|c| c.name.as_c_str() == column && c.is_indexed);
        if !is_indexed || !target.may_be_guarded {
            let sql = Sql::new("CREATE INDEX ON ")
                .sql(&target.table)
                .text(" USING sigfile (")
                .name(column)
                .text(")");
            let reason = "searches, pairs and guards go by it".to_owned();
            self.propose("index", reason, sql);
        }
        let sql = Sql::new("ANALYZE ").sql(&target.table);
        let reason = "the planner needs statistics of new columns".to_owned();
        self.propose("statistics", reason, sql);
    }

    /// Indexes over the one form of telephone numbers and e-mail addresses.
    pub fn forms(&mut self, target: &SuggestTarget) {
        for field in self.fields.iter().filter(|f| f.signed.is_some()) {
            let column = Sql::new("").name(&field.c_name);
            let (form, what) = match (&field.reading, field.kind) {
                (Some(region), Kind::Phone) => {
                    let region = text_literal(region.name());
                    let call = Sql::new("ident_phone_or_null(").sql(&column);
                    (call.text(", ").sql(&region).text(")"), "telephone numbers")
                }
                _ if field.is_email => {
                    let call = Sql::new("ident_email_or_null(").sql(&column);
                    (call.text(")"), "e-mail addresses")
                }
                _ => continue,
            };
            let sql = Sql::new("CREATE INDEX ON ")
                .sql(&target.table)
                .text(" (")
                .sql(self.functions)
                .sql(&form)
                .text(")");
            let reason = format!(
                "\"{}\" has {what}: this finds those that are the same, however they are written",
                field.name
            );
            self.propose("index", reason, sql);
        }
    }

    pub fn estimate(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        let ProposedSignature {
            column, threshold, ..
        } = signature;
        let sql = Sql::new("SELECT * FROM ")
            .sql(self.functions)
            .text("bloom_pairs_estimate(")
            .sql(&literal(&target.table))
            .text(", ")
            .sql(&name_literal(column))
            .text(&format!(", {threshold})"));
        let reason = "says before the work how many pairs there are above a threshold, and how long it takes to find them".to_owned();
        self.propose("estimate", reason, sql);
    }

    pub fn pairs(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        let ProposedSignature {
            column,
            threshold,
            verify,
        } = signature;
        let table = self.subject.free_table("pair");
        let mut sql = table
            .create()
            .text(" AS SELECT * FROM ")
            .sql(self.functions)
            .text("bloom_duplicates(")
            .sql(&literal(&target.table))
            .text(", ")
            .sql(&name_literal(&target.key))
            .text(", ")
            .sql(&name_literal(column))
            .text(&format!(", {threshold}"));
        if let Some(tokens) = verify {
            sql = sql.text(", verify => ").sql(&name_literal(tokens));
        }
        let reason = format!("{threshold} is where to begin with such a signature: go down from there, and look at what comes");
        self.propose("threshold", reason, sql.text(")"));
        self.clusters(&table, *threshold);
    }

    pub fn model(&mut self, target: &SuggestTarget, fields: &[&ProposedField]) {
        let table = self.subject.free_table("model");
        let personal: Vec<&&ProposedField> = fields.iter().filter(|f| f.is_personal).collect();
        let mut sql = table
            .create()
            .text(" AS SELECT ")
            .sql(self.functions)
            .text("bloom_model_fit(")
            .sql(&literal(&target.table))
            .text(", ")
            .sql(&name_literal(&target.key))
            .text(", fields => ARRAY[")
            .list(fields, |sql, field| sql.sql(&text_literal(&field.wish())))
            .text("]");
        let mut reason =
            "the model learns what agreement in each field says, and needs no threshold".to_owned();
        if !personal.is_empty() {
            let names = personal.iter();
            sql = sql
                .text(", personal => ARRAY[")
                .list(names, |sql, field| sql.sql(&name_literal(&field.c_name)))
                .text("]::name[]");
            reason.push_str("; the people of a household differ in those that are personal");
        } else if fields.iter().any(|f| guess::is_surname(&f.name)) {
            reason.push_str(
                "; name the fields in which the people of a household differ by personal",
            );
        }
        self.propose("model", reason, sql.text(") AS model"));
        let pairs = self.subject.free_table("pair");
        let sql = pairs
            .create()
            .text(" AS SELECT p.* FROM ")
            .sql(&table.sql())
            .text(" AS m, ")
            .sql(self.functions)
            .text("bloom_model_duplicates(")
            .sql(&literal(&target.table))
            .text(", ")
            .sql(&name_literal(&target.key))
            .text(", m.model) AS p");
        let reason = "pairs that are more likely the same than not".to_owned();
        self.propose("pairs", reason, sql);
        self.clusters(&pairs, 0.5);
    }

    fn clusters(&mut self, pairs: &NewTable, threshold: f64) {
        let table = self.subject.free_table("cluster");
        let sql = table
            .create()
            .text(" AS SELECT * FROM ")
            .sql(self.functions)
            .text("bloom_clusters(")
            .sql(&literal(&pairs.sql()))
            .text(&format!(", {threshold})"));
        let reason = "groups of records that are the same, and which of each to keep".to_owned();
        self.propose("clusters", reason, sql);
    }

    pub fn guard(&mut self, target: &SuggestTarget, signature: &ProposedSignature) {
        let ProposedSignature {
            column,
            threshold,
            verify,
        } = signature;
        let mut sql = Sql::new("SELECT ")
            .sql(self.functions)
            .text("bloom_guard_create(")
            .sql(&literal(&target.table))
            .text(", ")
            .sql(&name_literal(column))
            .text(&format!(", {threshold}, 'warn'"));
        if let Some(tokens) = verify {
            sql = sql.text(", 'verify', ").sql(&name_literal(tokens));
        }
        let reason = "warns of new records that are similar to one that is there; reject, flag and skip do more".to_owned();
        self.propose("guard", reason, sql.text(")"));
    }
}
