//! What people have decided about pairs.

use std::collections::HashMap;
use std::ffi::CStr;

use bloom_ident_core::clusters::Verdict;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::dictionary::{KeyDictionary, KeySides};
use crate::pairs::records::{lock, RecordColumn};
use crate::pg::budget::Budget;
use crate::pg::cursor::Cursor;
use crate::pg::error::{raise, raise_as, shown};
use crate::pg::sql::Sql;
use crate::pg::values::text::readable;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// The newest decision about a pair.
pub struct Judgement {
    pub verdict: Verdict,
    at: i64,
    /// The hashes of its records when it was made, in the order of their numbers.
    hashes: Option<[String; 2]>,
}

/// All decisions of a relation.
pub struct Judged {
    /// For the reader.
    pub name: String,
    keys: KeyDictionary,
    newest: HashMap<(u32, u32), Judgement>,
}

pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "same",
        Verdict::Different => "different",
        Verdict::Unsure => "unsure",
    }
}

fn verdict_of(name: &str, relation: &str) -> Verdict {
    match name {
        "same" => Verdict::Same,
        "different" => Verdict::Different,
        "unsure" => Verdict::Unsure,
        _ => raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                format!(
                    "unrecognized decision \"{}\" in \"{relation}\"",
                    shown(name)
                ),
            )
            .detail("Decisions are \"same\", \"different\" and \"unsure\"."),
        ),
    }
}

fn refuse_columns(relation: &str) -> ! {
    raise_as(
        PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
        &Error::new(
            ErrorKind::InvalidParameter,
            format!("relation \"{relation}\" does not have the columns a, b, decision and at"),
        )
        .hint("Give a table or view with columns of these names; at is of type timestamptz."),
    )
}

fn refuse_null(column: &str, relation: &str) -> ! {
    raise(
        &Error::new(
            ErrorKind::NullNotAllowed,
            format!("column \"{column}\" of \"{relation}\" is null"),
        )
        .hint("Give a view that leaves such rows out."),
    )
}

impl Judged {
    /// Reads the decisions as the caller. Of a pair the newest counts, and of several at one time the most cautious.
    ///
    /// Errors: no such columns; a null; a decision that is none; more than maintenance_work_mem.
    pub fn read(oid: pg_sys::Oid, sides: KeySides) -> Judged {
        let name = lock(oid);
        let column = |column: &CStr| RecordColumn::find(oid, column.to_owned()).ok();
        let columns = [c"a", c"b", c"decision"].map(column);
        let at = column(c"at").filter(|at| at.type_oid == pg_sys::TIMESTAMPTZOID);
        if columns.iter().any(Option::is_none) || at.is_none() {
            refuse_columns(&name);
        }
        let hash = match column(c"hash") {
            Some(_) => "hash",
            None => "NULL::pg_catalog.text",
        };
        let sql = Sql::new("SELECT a, b, decision, at, ").text(hash);
        let cursor = Cursor::open(sql.text(" FROM ").relation(oid), &[], BATCH);
        let [mut a, mut b, mut decision, mut hash] = [0, 1, 2, 4].map(|i| cursor.output(i));
        let budget = Budget::of_setting();
        let mut keys = KeyDictionary::new();
        let mut newest: HashMap<(u32, u32), Judgement> = HashMap::new();
        let mut hash_bytes = 0;
        cursor.each(|row| {
            let given = |i: usize, what| row.datum(i).unwrap_or_else(|| refuse_null(what, &name));
            let first = a.show(given(0, "a"), |key| sides.number(&mut keys, 0, key));
            let second = b.show(given(1, "b"), |key| sides.number(&mut keys, 1, key));
            let verdict = decision.show(given(2, "decision"), readable);
            let verdict = verdict_of(&verdict, &name);
            let at = given(3, "at").value() as i64;
            let hashes = row.datum(4).map(|text| hash.show(text, readable));
            let hashes = hashes.map(|text| match text.rsplit_once(' ') {
                Some((a, b)) if first <= second => [a.to_owned(), b.to_owned()],
                Some((a, b)) => [b.to_owned(), a.to_owned()],
                None => [text, String::new()],
            });
            let pair = (first.min(second), first.max(second));
            let held = newest.get(&pair);
            if held.is_some_and(|held| (held.at, verdict) >= (at, held.verdict)) {
                return;
            }
            hash_bytes += hashes.iter().flatten().map(String::len).sum::<usize>();
            newest.insert(
                pair,
                Judgement {
                    verdict,
                    at,
                    hashes,
                },
            );
            let needed =
                newest.capacity() * 2 * size_of::<Judgement>() + hash_bytes + keys.memory();
            budget.check(needed, || format!("{} decisions", newest.len()));
        });
        Judged { name, keys, newest }
    }

    /// The decision about a pair, and whether its hashes are in the order of these keys.
    fn find(&self, [a, b]: [&[u8]; 2]) -> Option<(&Judgement, bool)> {
        let (a, b) = (self.keys.get(a)?, self.keys.get(b)?);
        Some((self.newest.get(&(a.min(b), a.max(b)))?, a <= b))
    }

    /// What was decided about a pair.
    pub fn verdict(&self, keys: [&[u8]; 2]) -> Option<Verdict> {
        Some(self.find(keys)?.0.verdict)
    }

    /// Whether a record of a pair has changed since it was decided: it had another hash then.
    pub fn is_stale(&self, keys: [&[u8]; 2], hashes: [Option<&String>; 2]) -> bool {
        let Some((
            Judgement {
                hashes: Some(then), ..
            },
            ordered,
        )) = self.find(keys)
        else {
            return false;
        };
        let [a, b] = if ordered {
            hashes
        } else {
            [hashes[1], hashes[0]]
        };
        let differs = |now: Option<&String>, then: &String| now.is_some_and(|now| now != then);
        differs(a, &then[0]) || differs(b, &then[1])
    }

    /// How many pairs are decided to be the same.
    pub fn same(&self) -> u64 {
        let same = |judged: &&Judgement| judged.verdict == Verdict::Same;
        self.newest.values().filter(same).count() as u64
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        2 * size_of::<Judgement>() * self.newest.capacity() + self.keys.memory()
    }
}
