//! Signatures of texts whose abbreviations are written out, those of the database first.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::default_shape::planned_shape;
use super::signature::signature;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::rows::text_datum;
use pg::session::{SavedPlan, Session};
use pg::sql::Sql;
use pg::values::text::{readable, to_database, Text};
use pg::{catalog, check_for_interrupts, entry, sql};
use types::{NewBloom, TextArray};

/// Texts of more words read all entries of their language, which is less work than to ask for each word.
const MOST_ASKED: usize = 64;

/// The words of a text in their normal form, in which entries are looked up.
#[entry]
fn ident_plain_words(text: Text<'_>) -> String {
    text::plain_words(text.as_str(), check_for_interrupts).or_raise()
}

/// `(text text, language text, version integer, ngram integer, max_chars integer, fpr float8, by_word boolean, filler
/// boolean) RETURNS bloom`
///
/// Entries are read with the caller's privileges and snapshot.
///
/// Errors: those of ident_expand and of bloom_signature; no table beside the function (42P01), or it must not be read
/// (42501).
#[entry(stable)]
#[allow(clippy::too_many_arguments)]
fn bloom_sign(
    text: Text<'_>,
    language: Text<'_>,
    version: i32,
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    by_word: bool,
    filler: bool,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    let (text, language, version) = (text.as_str(), language.as_str(), version.into());
    let tick = check_for_interrupts;
    let asked = text::own_candidates(text, language, version, MOST_ASKED, tick).or_raise();
    // SAFETY: the record of a running call.
    let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
    // entries have the names of languages in small letters
    let own = OwnEntries::beside(function).read(&language.to_ascii_lowercase(), asked.as_deref());
    let expanded = text::expand_with(text, language, version, &own, tick).or_raise();
    let shape = planned_shape(max_chars, ngram, fpr);
    signature(&expanded, shape, by_word, filler)
}

/// The table of entries, and plans to read it.
struct OwnEntries {
    table: pg_sys::Oid,
    schema: CString,
    /// Those of a language, for abbreviations.
    some: SavedPlan<2>,
    /// Those of a language.
    all: SavedPlan<1>,
}

pg::session_state! {
    /// Of the last call. A trigger asks row by row, and the plans are made once, which the server keeps.
    static LAST: RefCell<Option<Rc<OwnEntries>>> = RefCell::default();
    "plans for abbreviations" by "table and schema" until "another table is asked"
        bytes |last| last.borrow().as_ref().map_or(0, |_| size_of::<OwnEntries>());
}

/// A table of the extension that a function belongs to, in the schema of that function, whatever the search_path is.
///
/// Errors: there is none of this extension (42P01).
pub fn own_table(function: pg_sys::Oid, name: &CStr) -> pg_sys::Oid {
    // SAFETY: look-ups in the catalogs, by a C string and OIDs.
    let table =
        unsafe { pg_sys::get_relname_relid(name.as_ptr(), pg_sys::get_func_namespace(function)) };
    let extension = |class, oid| {
        // SAFETY: a look-up in the catalog.
        unsafe { pg_sys::getExtensionOfObject(class, oid) }
    };
    if table != pg_sys::InvalidOid
        && extension(pg_sys::RelationRelationId, table)
            == extension(pg_sys::ProcedureRelationId, function)
    {
        return table;
    }
    let message = format!(
        "table {} of bloom_ident does not exist",
        readable(catalog::quoted_name(&catalog::schema_of_function(function), name).to_bytes())
    );
    raise(
        &sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
            .detail("Functions look for tables of the extension where they are themselves.")
            .hint("Move all of them to one schema by ALTER EXTENSION bloom_ident SET SCHEMA."),
    )
}

impl OwnEntries {
    /// The table in the schema of `function`, whatever the search_path is.
    ///
    /// Errors: there is none of this extension (42P01).
    fn beside(function: pg_sys::Oid) -> Rc<OwnEntries> {
        let name = c"ident_abbreviations";
        let (table, schema) = (
            own_table(function, name),
            catalog::schema_of_function(function),
        );
        let is_it = |last: &&Rc<OwnEntries>| last.table == table && last.schema == schema;
        if let Some(last) = LAST.with_borrow(|last| last.as_ref().filter(is_it).cloned()) {
            return last;
        }
        let entries = Sql::new("").name_in(&schema, name);
        let of_language = sql!(
            "SELECT abbreviation_words, written_out FROM {entries} WHERE language OPERATOR(pg_catalog.=) $1"
        );
        let some = sql!("{of_language} AND abbreviation_words OPERATOR(pg_catalog.=) ANY ($2)");
        let entries = Rc::new(OwnEntries {
            table,
            schema,
            some: SavedPlan::new(some, [pg_sys::TEXTOID, pg_sys::TEXTARRAYOID]),
            all: SavedPlan::new(of_language, [pg_sys::TEXTOID]),
        });
        LAST.set(Some(entries.clone()));
        entries
    }

    /// The entries of a language, for some abbreviations or all.
    fn read(&self, language: &str, asked: Option<&[String]>) -> HashMap<String, String> {
        let mut own = HashMap::new();
        if asked.is_some_and(<[String]>::is_empty) {
            return own;
        }
        let language = text_datum(&to_database(language));
        let asked = asked.map(|asked| {
            let fill =
                |array: &mut TextArray| asked.iter().try_for_each(|one| array.push_text(one));
            TextArray::filled(fill).0
        });
        let session = Session::begin(true);
        let rows = match asked {
            Some(asked) => self.some.run(&session, [language, asked]),
            None => self.all.run(&session, [language]),
        };
        for row in rows {
            check_for_interrupts();
            let [short, long] = [0, 1].map(|i| Some(row.text(i)?.as_str().to_owned()));
            own.extend(short.zip(long));
        }
        own
    }
}
