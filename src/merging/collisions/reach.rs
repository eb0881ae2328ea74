//! What refers to the rows of a child, and would not let them change or go, or would go with them.

use base::Error;
use pg::error::sql_error;
use pgrx::PgSqlErrorCode;

use super::image::{tree_of, Image};
use crate::merging::child::Child;
use crate::merging::references::{foreign_keys, Reference};
use crate::merging::subject::{text, Subject};
use pg::session::Session;
use pg::sql;
use pg::sql::Sql;

fn obstacle(reference: &Reference, child: &Child, keeps: bool) -> Error {
    let name = text(&reference.name);
    let message = match keeps {
        true => format!("foreign key \"{name}\" does not let rows change or go"),
        false => format!("foreign key \"{name}\" would delete or change rows"),
    };
    sql_error(PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION, message)
        .detail(format!(
            "They refer to rows of table \"{}\" that are changed or deleted, and they are not redirected.",
            child.name
        ))
        .hint("Change these rows first, or leave these records out.")
}

/// Whether a key lets rows refer to what is not there until the transaction ends, when they are redirected themselves.
fn waits(reference: &Reference, action: Option<u8>, children: &[Child]) -> bool {
    let of_child = children.iter().filter(|child| child.oid == reference.child);
    let mut redirected = of_child
        .flat_map(|child| &child.references)
        .flat_map(|r| &r.pairs);
    let is_redirected = redirected.any(|p| reference.pairs.iter().any(|q| p.child == q.child));
    reference.deferred && action == Some(b'a') && is_redirected
}

/// Whether rows refer by a foreign key to the rows of `of`, which has the referenced values as `o0` ...
fn is_referred(reference: &Reference, of: &Sql, besides: &Sql, session: &Session) -> bool {
    let (rows, refers) = (reference.from("c"), reference.refers("c", "g"));
    let sql = sql!("SELECT pg_catalog.count(*) FROM {rows} JOIN ({of}) AS g ON {refers}{besides}");
    session.number(&sql, &[]) > 0
}

/// Why rows of a child cannot be redirected: a table refers to columns that change by that. With a subject, its rows
/// are looked at; the map of what goes is there.
pub fn of_redirected(
    child: &Child,
    children: &[Child],
    subject: Option<&Subject>,
    session: &Session,
) -> Vec<Error> {
    let mut found = Vec::new();
    let image = Image::new(child, session);
    for reference in foreign_keys(&image.tree, session) {
        let of_reference = |other: &Reference| {
            let mut changed = other.pairs.iter().map(|pair| &pair.child);
            changed.any(|name| reference.pairs.iter().any(|pair| pair.referenced == *name))
        };
        let mut pairs = reference.pairs.iter();
        if !pairs.any(|pair| image.changed.contains(&pair.referenced)) {
            continue;
        }
        match (reference.on_update, subject) {
            (Some(b'n' | b'd'), None) => found.push(obstacle(&reference, child, false)),
            (Some(b'a' | b'r'), Some(subject))
                if !waits(&reference, reference.on_update, children) =>
            {
                let is_kept = { child.references.iter() }
                    .filter(|other| of_reference(other))
                    .any(|other| {
                        let (values, within) = (reference.referenced("k"), reference.within("k"));
                        let (rows, map) = (other.from("k"), other.map(subject));
                        let refers = other.refers("k", "m");
                        let of = sql!(
                            "SELECT {values} FROM {rows} JOIN {map} AS m ON {refers} WHERE true{within}"
                        );
                        is_referred(&reference, &of, &Sql::new(""), session)
                    });
                if is_kept {
                    found.push(obstacle(&reference, child, true));
                }
            }
            _ => (),
        }
    }
    found
}

/// Why rows of a child cannot be dropped, which are `gone`: `place` (tableoid) and `at` (ctid).
pub fn of_dropped(child: &Child, children: &[Child], gone: &Sql, session: &Session) -> Vec<Error> {
    let mut found = Vec::new();
    for reference in foreign_keys(&tree_of(child), session) {
        let keeps = !reference.reaches_children();
        if waits(&reference, reference.on_delete, children) {
            continue;
        }
        let (values, within, only) = (
            reference.referenced("k"),
            reference.within("k"),
            child.only(),
        );
        let of = sql!(
            "SELECT {values} FROM {only} AS k JOIN {gone} AS d ON k.tableoid OPERATOR(pg_catalog.=) d.place \
            AND k.ctid OPERATOR(pg_catalog.=) d.at{within}"
        );
        let besides = match keeps && reference.own {
            // Rows that go together do not keep one another.
            true => sql!(
                " AND NOT EXISTS (SELECT FROM {gone} AS d WHERE c.tableoid OPERATOR(pg_catalog.=) d.place \
                AND c.ctid OPERATOR(pg_catalog.=) d.at)"
            ),
            false => Sql::new(""),
        };
        if is_referred(&reference, &of, &besides, session) {
            found.push(obstacle(&reference, child, keeps));
        }
    }
    found
}

/// The children in an order in which what refers to another child by ON UPDATE CASCADE comes after it.
pub fn ordered(children: Vec<Child>, session: &Session) -> Vec<Child> {
    let mut follows: Vec<Vec<usize>> = vec![Vec::new(); children.len()];
    if children.len() > 1 {
        let readable = children.iter().enumerate();
        for (i, child) in readable.filter(|(_, child)| !child.columns.is_empty()) {
            for key in foreign_keys(&tree_of(child), session) {
                let at = children.iter().position(|other| other.oid == key.child);
                if let Some(at) = at.filter(|&at| at != i && key.on_update == Some(b'c')) {
                    follows[at].push(i);
                }
            }
        }
    }
    let mut left: Vec<Option<Child>> = children.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    while left.iter().any(Option::is_some) {
        let is_free = |i: usize| left[i].is_some() && follows[i].iter().all(|&j| left[j].is_none());
        let free = (0..left.len()).find(|&i| is_free(i));
        // In a circle, any of them.
        let next = free.or_else(|| left.iter().position(Option::is_some));
        ordered.extend(next.and_then(|i| left[i].take()));
    }
    ordered
}
