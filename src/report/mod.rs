//! `bloom_report`: the duplicates of a table on one page. `facts` finds out what it says, `html` and `plain` write it.
//! `bloom_report_pairs`: pairs that were found before. `pairs` finds out what it says, `why` explains pairs by a model,
//! `pairs_html` writes it. `bloom_review_queue`: what people are asked about is in `queue`.

mod charts;
mod facts;
mod histogram;
mod html;
mod pairs;
mod plain;
mod queue;
mod review;
mod survey;
mod value;
mod why;

use std::ffi::CStr;

use base::range::unit;
use base::Error;
use pgrx::pg_sys;

use self::review::{block, of_signature, ReviewSubject};
use self::survey::Known;
use crate::clusters::{Method, Source};
use crate::pairs::records::{Records, Relations};
use crate::pairs::verify::given;
use pg::budget::Budget;
use pg::catalog::quoted;
use pg::entry;
use pg::error::{raise, OrRaise};
use pg::function::arguments::{of_name, Arguments};
use pg::function::rows::text_datum;
use pg::progress::{self, phases};
use pg::values::text::{readable, to_database};
use pg::values::varlena::{NewValue, Varlena};

/// How much of everything a report shows.
pub struct Limits {
    clusters: usize,
    /// Records of a cluster.
    records: usize,
    /// Pairs on either side of the threshold.
    near: usize,
    columns: usize,
    /// Pairs to be decided.
    pairs: usize,
}

/// What takes most memory is the pairs to be decided, with two records each.
fn limits() -> Limits {
    let columns = 16;
    let a_pair = 2 * columns * (3 * value::SHOWN + size_of::<String>());
    Limits {
        clusters: 20,
        records: 10,
        near: 5,
        columns,
        pairs: (Budget::of_setting().bytes() / a_pair).clamp(100, 5000),
    }
}

/// The formats of a report, and whether each is a page.
const FORMATS: [(&str, bool); 2] = [("html", true), ("text", false)];

/// Where a report comes from.
pub struct Origin {
    pub title: String,
    pub given_title: Option<String>,
    /// The relation with its schema, as SQL writes it.
    pub relation: String,
    pub key: String,
    pub signature: String,
    pub method: String,
    /// The columns that were asked for.
    pub columns: Option<Vec<String>>,
    /// The column of the tokens that are compared, if it is not the signatures.
    pub tokens: Option<String>,
    /// The margin that was asked for.
    pub margin: Option<f64>,
    /// The relation of the truth with its schema, as SQL writes it.
    pub truth: Option<String>,
    /// The same of the decisions.
    pub decisions: Option<String>,
    /// The least similarity that was asked for, below the threshold.
    pub search_from: Option<f64>,
    pub database: String,
    pub date: String,
    pub server: String,
}

impl Origin {
    /// The statement that makes this report, in this format.
    pub fn statement(&self, threshold: f64, format: Option<&str>) -> String {
        let text = |text: &Option<String>| text.as_deref().map(literal);
        let given = [
            ("columns", self.columns.as_deref().map(name_array)),
            ("truth", text(&self.truth)),
            ("method", Some(literal(&self.method))),
            ("title", text(&self.given_title)),
            ("format", format.map(literal)),
            ("verify", text(&self.tokens)),
            ("margin", self.margin.map(|margin| margin.to_string())),
            ("decisions", text(&self.decisions)),
            ("search_from", self.search_from.map(|from| from.to_string())),
        ];
        let given = arguments(given, ",\n    ");
        format!("SELECT bloom_report({}{given});", self.subject(threshold))
    }

    /// The statements whose results have everything that the report is made from.
    pub fn tables(&self, threshold: f64) -> String {
        let subject = self.subject(threshold);
        let verification = [
            ("verify", self.tokens.as_deref().map(literal)),
            ("margin", self.margin.map(|margin| margin.to_string())),
        ];
        let mut sql = format!(
            "CREATE TABLE duplicate_pair AS\n    SELECT * FROM bloom_duplicates({subject}{});\n\
             CREATE TABLE duplicate_cluster AS\n    SELECT * FROM bloom_clusters('duplicate_pair', {threshold}, {});",
            arguments(verification, ", "),
            literal(&self.method)
        );
        if let Some(truth) = &self.truth {
            let truth = literal(truth);
            sql.push_str(&format!(
                "\nSELECT * FROM bloom_quality('duplicate_cluster', {truth});\n\
                 SELECT * FROM bloom_threshold_sweep('duplicate_pair', {truth});"
            ));
        }
        sql
    }

    fn subject(&self, threshold: f64) -> String {
        let [relation, key, signature] =
            [&self.relation, &self.key, &self.signature].map(|text| literal(text));
        format!("{relation}, {key}, {signature}, {threshold}")
    }
}

/// The arguments that were given, by name, with `before` before each.
fn arguments<const N: usize>(given: [(&str, Option<String>); N], before: &str) -> String {
    let given = given.into_iter();
    let given = given.filter_map(|(name, value)| Some(format!("{before}{name} => {}", value?)));
    given.collect()
}

/// Names as an array of SQL.
fn name_array(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
    format!("ARRAY[{}]::name[]", names.join(", "))
}

/// A string constant as SQL writes it, on one line. Characters that would move others are escaped.
fn literal(text: &str) -> String {
    let text = text.replace('\'', "''");
    if !text.contains(value::is_unfit) {
        return format!("'{text}'");
    }
    let mut escaped = String::from("U&'");
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            c if value::is_unfit(c) => escaped.push_str(&format!("\\+{:06X}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped.push('\'');
    escaped
}

/// # Safety
/// `text` is a zero-terminated string in the database's encoding.
unsafe fn of_server(text: *const std::ffi::c_char) -> String {
    // SAFETY: the string is zero-terminated.
    readable(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The database, the time, and the version of the server.
fn made() -> (String, String, String) {
    // SAFETY: the server gives zero-terminated strings: a new one of the date, and those of the database and the
    // setting exist.
    unsafe {
        let now = pg_sys::GetCurrentTransactionStartTimestamp();
        let date = of_server(pg_sys::timestamptz_to_str(now));
        let database = of_server(pg_sys::get_database_name(pg_sys::MyDatabaseId));
        let version = pg_sys::GetConfigOption(c"server_version".as_ptr(), true, false);
        (database, without_fraction(&date), of_server(version))
    }
}

/// From which similarity on pairs are searched for, if that is asked for.
///
/// Errors: outside [0,1], or above the threshold.
fn search_from(arguments: Arguments, i: usize, threshold: f64) -> Option<f64> {
    arguments.datum(i)?;
    let from = arguments.float8(i);
    unit("search_from", from).or_raise();
    if from > threshold {
        raise(
            &Error::invalid(format!(
                "search_from = {from} is above the threshold {threshold}"
            ))
            .detail("Pairs are always searched for from the threshold on."),
        );
    }
    Some(from)
}

/// `(rel regclass, key name, signature name, threshold float8, columns name[], truth regclass, method text, title text,
/// format text, verify name, margin float8, decisions regclass, search_from float8) RETURNS text`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_report(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let threshold = arguments.threshold(3);
    let (method_name, format) = (arguments.text(6), arguments.text(8));
    let is_page = of_name(&format, &FORMATS, "report format", "formats");
    let method = Method::of_name(&method_name);
    let columns = arguments.datum(4).map(|_| arguments.names(4));
    let truth = arguments.datum(5).map(|_| arguments.oid(5));
    let truth = truth.map(Source::of_pairs_or_labels);
    let decisions = arguments.datum(11).map(|_| arguments.oid(11));
    let search_from = search_from(arguments, 12, threshold);
    let verification = given(arguments, 9, threshold);
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let records = records.verified(verification.as_ref());
    let name = |name: &CStr| readable(name.to_bytes());
    let relation = name(&quoted(records.oid));
    // SAFETY: the argument is a text, and lives as long as the call.
    let title = arguments
        .datum(7)
        .map(|title| readable(unsafe { Varlena::new(title) }.bytes()));
    let (database, date, server) = made();
    let origin = Origin {
        title: title
            .clone()
            .unwrap_or_else(|| format!("Duplicates in {relation}")),
        given_title: title,
        relation,
        key: name(&records.key.name),
        signature: name(&records.signatures[0].name),
        method: method_name,
        columns: columns.as_deref().map(facts::names),
        tokens: verification.as_ref().map(|v| name(&v.column)),
        margin: verification.as_ref().and_then(|v| v.margin),
        truth: truth.as_ref().map(|source| name(&quoted(source.oid))),
        decisions: decisions.map(|oid| name(&quoted(oid))),
        search_from,
        database,
        date,
        server,
    };
    let _job = progress::job("bloom_report", records.oid);
    let columns = facts::columns(&records, columns);
    let known = Known::read(truth.as_ref(), decisions, Relations::one(&records));
    let searched = search_from.unwrap_or(threshold);
    let limits = &limits();
    let facts = facts::find(
        &records, threshold, searched, method, columns, &known, limits,
    );
    progress::phase(phases::WRITING_REPORT, None);
    let report = match is_page {
        true => {
            let mut used = of_signature(records.oid, &records.signatures[0].name);
            if let Some(verification) = &verification {
                used.extend(of_signature(records.oid, &verification.column));
            }
            let subject = ReviewSubject {
                known: &known,
                relations: vec![(&origin.relation, &origin.key)],
                used: facts::names(&used),
                lacking: Vec::new(),
                model: None,
                texts: None,
                searched: true,
                asked: false,
                decisions: origin.decisions.as_deref(),
            };
            html::html(&facts, &origin, &block(&facts, &subject))
        }
        false => plain::text(&facts, &origin),
    };
    NewValue(text_datum(&to_database(&report)))
}

/// 2026-01-31 12:00:00.123+01 as 2026-01-31 12:00:00+01.
fn without_fraction(date: &str) -> String {
    match date.split_once('.') {
        Some((seconds, rest)) => {
            let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{seconds}{zone}")
        }
        None => date.to_owned(),
    }
}
