//! `bloom_suggest`: where to begin with a relation, or with two. `relation` and `sample` find out what it is like, `fields`
//! what its columns are good for, `proposals` chooses what is said and in which order, `statements` writes the statements,
//! and `linkage` those for two relations.

mod fields;
mod linkage;
mod proposals;
mod relation;
mod sample;
mod statements;

use ::linkage::model::LeftOut;
use base::Error;
use pgrx::{pg_sys, IntoDatum};

use self::fields::ProposedField;
use self::proposals::{Proposal, Proposals};
use self::relation::{SuggestSubject, COPY};
use self::sample::RelationSample;
use crate::models::comparable_columns;
use pg::error::raise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::sql::Sql;
use pg::values::text::{readable, to_database};
use pg::values::varlena::NewValue;
use pg::{catalog, entry, progress, sql};

/// What is found out about a relation.
struct Side {
    subject: SuggestSubject,
    sample: RelationSample,
    fields: Vec<ProposedField>,
    left_out: Vec<LeftOut>,
}

impl Side {
    /// Reads a sample as the caller.
    fn read(oid: pg_sys::Oid, functions: &Sql) -> Side {
        let subject = SuggestSubject::new(oid);
        let mut left_out: Vec<LeftOut> = Vec::new();
        let key = subject.key.as_deref().unwrap_or(c"");
        let columns = comparable_columns(oid, key, false, &mut left_out);
        left_out.retain(|left| {
            let name = std::ffi::CString::new(to_database(&left.column)).unwrap_or_default();
            subject.signed.iter().all(|signed| signed.name != name)
        });
        let sample = RelationSample::read(&subject, &columns);
        let fields = fields::fields(&subject, &columns, &sample, functions, &mut left_out);
        Side {
            subject,
            sample,
            fields,
            left_out,
        }
    }
}

/// `(rel regclass) RETURNS TABLE (step integer, topic text, reason text, statement text)`
///
/// Errors: no relation with rows; the caller may not read any of its columns; what reading a sample fails with.
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_suggest(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with this argument, and the record is that of a running call.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let oid = arguments.oid(0);
    let _job = progress::job("bloom_suggest", oid);
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let functions = schema(function);
    let side = Side::read(oid, &functions);
    let proposals = Proposals::new(&side.subject, &side.sample, &side.fields, &functions);
    put(proposals.make(&side.left_out), rows)
}

/// `(a_rel regclass, b_rel regclass) RETURNS TABLE (step integer, topic text, reason text, statement text)`
///
/// Errors: as [`bloom_suggest`]; one relation with itself.
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_suggest_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and the record is that of a running call.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let [a, b] = [0, 1].map(|i| arguments.oid(i));
    if a == b {
        let name = readable(catalog::name(a).to_bytes());
        raise(
            &Error::invalid(format!("both relations are \"{name}\""))
                .detail("The records of one relation are compared with those of another one.")
                .hint("For the duplicates within it, use bloom_suggest() with that one."),
        );
    }
    let _job = progress::job("bloom_suggest", a);
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let functions = schema(function);
    let [a, mut b] = [a, b].map(|oid| Side::read(oid, &functions));
    // Relations of one name in two schemas are both copied where neither has a key and the caller may add none.
    b.subject.also_taken = Some(a.subject.free_table(COPY).name);
    put(linkage::proposals([&a, &b], &functions), rows)
}

/// Returns the proposals, numbered.
fn put(proposals: Vec<Proposal>, mut rows: ResultRows) -> NewValue {
    for (step, proposal) in (1..).zip(proposals) {
        let statement = proposal.statement.map(|sql| {
            let mut statement = sql.into_bytes();
            statement.push(b';');
            text_datum(&statement)
        });
        rows.put([
            i32::into_datum(step),
            Some(text_datum(proposal.topic.as_bytes())),
            Some(text_datum(&to_database(&proposal.reason))),
            statement,
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// The schema of the extension's functions with a dot behind it, or nothing if they are found without.
fn schema(function: pg_sys::Oid) -> Sql {
    let schema = catalog::schema_of_function(function);
    // SAFETY: a look-up in the catalogs by OID.
    match unsafe { pg_sys::FunctionIsVisible(function) } {
        true => Sql::new(""),
        false => sql!("{schema}."),
    }
}
