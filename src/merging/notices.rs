//! What a merge tells those who call it, and is no reason to stop.

use pg::error::{sql_error, Tell};
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::child::Child;
use super::collisions::image::tree_of;
use super::references::{array, Reference};
use super::subject::{text, Subject};
use pg::catalog::privileges::{current_user, has_policies_for};
use pg::session::Session;
use pg::sql;
use pg::sql::{literal, Sql};
use pg::values::text::readable;

/// Tables of at most so many bytes are read as a whole in no time.
const SMALL: i64 = 64 * pg_sys::BLCKSZ as i64;

fn send(message: String, hint: String) {
    let code = PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION;
    let notice = sql_error(code, message).hint(hint);
    notice.send(PgLogLevel::NOTICE);
}

/// Tells which columns that refer to the records have no index: the table is read as a whole for each record that is
/// deleted.
pub fn missing_indexes(subject: &Subject, children: &[Child], session: &Session) {
    for child in children.iter().filter(|child| !child.columns.is_empty()) {
        // Texts are compared by what no index has.
        let by_value = |r: &&Reference| r.pairs.iter().all(|pair| pair.equal.is_some());
        for reference in child.references.iter().filter(by_value) {
            let columns = reference.pairs.iter().map(|pair| pair.child.as_c_str());
            let (tables, most) = (array(&tree_of(child)), SMALL.to_string());
            let names = Sql::join(columns.clone().map(literal), ", ");
            let query = sql!(
                "SELECT pg_catalog.count(*) FROM pg_catalog.pg_class AS k WHERE k.relkind OPERATOR(pg_catalog.=) 'r' \
                AND k.oid OPERATOR(pg_catalog.=) ANY ({tables}) \
                AND pg_catalog.pg_relation_size(k.oid) OPERATOR(pg_catalog.>) {most} AND NOT EXISTS (SELECT \
                FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_attribute AS a \
                ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0] \
                JOIN pg_catalog.pg_class AS x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid \
                JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) x.relam \
                WHERE i.indrelid OPERATOR(pg_catalog.=) k.oid AND i.indisvalid \
                AND m.amname OPERATOR(pg_catalog.=) ANY ('{{btree,hash}}'::pg_catalog.name[]) \
                AND (i.indpred IS NOT DISTINCT FROM NULL OR pg_catalog.pg_get_expr(i.indpred, i.indrelid) \
                OPERATOR(pg_catalog.=) pg_catalog.format('(%I IS NOT NULL)', a.attname)) \
                AND a.attname OPERATOR(pg_catalog.=) ANY (ARRAY[{names}]::pg_catalog.name[]))"
            );
            if session.number(&query, &[]) == 0 {
                continue;
            }
            let statement = Sql::join(columns.clone(), ", ");
            let statement = sql!("CREATE INDEX ON {child.oid} ({statement})");
            let names: Vec<String> = columns.map(text).collect();
            send(
                format!(
                    "table \"{}\" has no index on ({}), by which it refers to table \"{}\"",
                    child.name,
                    names.join(", "),
                    subject.name
                ),
                format!(
                    "Merges take less time with one: {}.",
                    readable(&statement.into_bytes())
                ),
            );
        }
    }
}

/// Tells which children may have rows that the current user does not see, and whose foreign keys would not let records
/// go.
pub fn hidden_rows(children: &[Child]) {
    let user = current_user();
    for child in children {
        let keeps = |r: &Reference| r.on_delete.is_some() && !r.reaches_children();
        if child.references.iter().any(keeps) && has_policies_for(child.oid, user) {
            send(
                format!("row-level security may hide rows of table \"{}\", and no record goes that one of them \
                    refers to", child.name),
                "Merge as a user to whom its policies do not apply.".to_owned(),
            );
        }
    }
}
