//! Reading decisions.

use base::{Error, ErrorKind};
use linkage::clusters::Verdict;
use linkage::record_hash::{of_pair, RecordHash};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::hashes::{read_digests, EachDigest, HashColumns};
use super::{Decisions, JudgedPair, Judgement};
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::records::{lock, Relations};
use crate::pairs::source_columns::{has, refuse};
use pg::budget::{push, reserve, Budget};
use pg::check_for_interrupts;
use pg::error::{raise, raise_as};
use pg::session::read;
use pg::sql::Sql;
use pg::values::text::readable;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// A row of decisions.
struct Row {
    a: u32,
    b: u32,
    at: i64,
    verdict: Verdict,
    /// Where its hashes are; [`NO_HASH`] without.
    hash: u32,
}

const NO_HASH: u32 = u32::MAX;

/// What both records of a pair were like: which columns, and the digest.
type Hashes = [(u32, [u64; 2]); 2];

/// Lists of columns by number.
#[derive(Default)]
struct ColumnLists(Vec<Vec<String>>);

impl ColumnLists {
    /// Most different lists. People hash a few, and each list is another set of columns to be read.
    const MOST: usize = 64;

    /// Errors: too many lists.
    fn number(&mut self, columns: Vec<String>, relation: &str) -> u32 {
        let number = self.0.iter().position(|known| *known == columns);
        let number =
            number.unwrap_or_else(|| {
                if self.0.len() == Self::MOST {
                    let most = Self::MOST;
                    let message = format!(
                    "hashes of \"{relation}\" are over more than {most} different lists of columns"
                );
                    raise(&Error::new(ErrorKind::LimitExceeded, message).hint(
                        "Give a view that leaves out hashes of old lists, or such decisions.",
                    ));
                }
                self.0.push(columns);
                self.0.len() - 1
            });
        number as u32
    }
}

fn text(bytes: &[u8]) -> String {
    readable(bytes)
}

/// Errors: it is none.
fn verdict(text: &[u8], relation: &str) -> Verdict {
    match text {
        b"same" => Verdict::Same,
        b"different" => Verdict::Different,
        b"unsure" => Verdict::Unsure,
        _ => raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                format!(
                    "decision \"{}\" in \"{relation}\" is none",
                    self::text(text)
                ),
            )
            .detail("Decisions are \"same\", \"different\" and \"unsure\"."),
        ),
    }
}

impl Decisions {
    /// Reads a relation as the caller. `relations` are those whose records it is about; `None` if that is not known,
    /// and then hashes say nothing. Where `must_exist`, decisions about records that are not there do not count.
    ///
    /// Errors: not the columns a, b, decision and at; a null, but for `at`, which is the oldest then; what is no
    /// decision or no hash; more than maintenance_work_mem; what reading the records fails with.
    pub fn read(oid: pg_sys::Oid, relations: Option<Relations<'_>>, must_exist: bool) -> Decisions {
        let name = lock(oid);
        if !has(oid, &[c"a", c"b", c"decision", c"at"]) {
            refuse(&name, "a, b, decision and at");
        }
        let sides = match relations {
            Some(Relations { right: Some(_), .. }) => 2,
            _ => 1,
        };
        let mut keys: Vec<KeyDictionary> = (0..sides).map(|_| KeyDictionary::new()).collect();
        let mut lists: [ColumnLists; 2] = Default::default();
        let (mut rows, mut hashes) = (Vec::new(), Vec::new());
        let with_hash = relations.is_some() && has(oid, &[c"hash"]);
        read_rows(oid, &name, with_hash, |[a, b], at, verdict, hash| {
            let mut row = Row {
                a: keys[0].number(a),
                b: keys[sides - 1].number(b),
                at,
                verdict,
                hash: NO_HASH,
            };
            let mut hash = hash;
            if sides == 1 && row.a > row.b {
                (row.a, row.b) = (row.b, row.a);
                hash = hash.map(|[a, b]| [b, a]);
            }
            if let Some(pair) = hash {
                row.hash = hashes.len() as u32;
                let mut side = 0;
                let pair: Hashes = pair.map(|RecordHash { columns, digest }| {
                    let list = lists[side.min(sides - 1)].number(columns, &name);
                    side += 1;
                    (list, [(digest >> 64) as u64, digest as u64])
                });
                push(&mut hashes, pair);
            }
            push(&mut rows, row);
            let needed = rows.capacity() * (size_of::<Row>() + size_of::<JudgedPair>())
                + hashes.capacity() * size_of::<Hashes>()
                + keys.iter().map(KeyDictionary::memory).sum::<usize>();
            // as much again for what the statement does
            Budget::of_setting().check(2 * needed, || format!("{} decisions", rows.len()));
        });
        keep_newest(&mut rows);
        if sides == 1 {
            drop_merged(&mut rows, &keys[0], &name);
        }
        let mut found = RecordsNow::default();
        if let Some(relations) = relations {
            let all = [Some(relations.left), relations.right];
            for (side, records) in all.into_iter().flatten().enumerate() {
                let lists = &lists[side].0;
                if must_exist || !lists.is_empty() {
                    let columns: Vec<HashColumns> = lists
                        .iter()
                        .map(|list| HashColumns::find(records, list))
                        .collect();
                    found.read(
                        side,
                        &mut keys[side],
                        |each| read_digests(records, &columns, each),
                        lists.len(),
                    );
                }
            }
        }
        let mut pairs = Vec::new();
        reserve(&mut pairs, rows.len());
        for row in rows {
            check_for_interrupts();
            let ends = [(0, row.a), (sides - 1, row.b)];
            let is_there = |(side, key): (usize, u32)| !must_exist || found.has(side, key);
            let is_as_then = |pair: &Hashes| {
                ends.iter().zip(pair).all(|(&(side, key), (list, digest))| {
                    found.digest(side, key, *list) == Some(*digest)
                })
            };
            let changed = !ends.into_iter().all(is_there)
                || row.hash != NO_HASH && !is_as_then(&hashes[row.hash as usize]);
            pairs.push(JudgedPair {
                a: row.a,
                b: row.b,
                at: row.at,
                judgement: Judgement {
                    verdict: row.verdict,
                    changed,
                },
            });
        }
        Decisions {
            name,
            keys,
            pairs,
            reopened: Default::default(),
        }
    }
}

/// Errors: see [`Decisions::read`].
fn read_rows(
    oid: pg_sys::Oid,
    name: &str,
    with_hash: bool,
    mut each: impl FnMut([&[u8]; 2], i64, Verdict, Option<[RecordHash; 2]>),
) {
    let sql =
        Sql::new("SELECT a, b, decision, pg_catalog.dense_rank() OVER (ORDER BY at NULLS FIRST), ")
            .text(if with_hash {
                "hash"
            } else {
                "NULL::pg_catalog.text"
            })
            .text(" FROM ")
            .relation(oid);
    let cursor = read(sql, &[], BATCH);
    let mut outputs = [0, 1, 2, 4].map(|i| cursor.output(i));
    cursor.each(|row| {
        let mut of = |output: usize, column: usize| {
            let value = row.datum(column)?;
            Some(outputs[output].show(value, <[u8]>::to_vec))
        };
        let given = [of(0, 0), of(1, 1), of(2, 2)];
        let [Some(a), Some(b), Some(decision)] = given else {
            let columns = ["a", "b", "decision"];
            let null = given.iter().position(Option::is_none).unwrap_or(0);
            let message = format!("column \"{}\" of \"{name}\" is null", columns[null]);
            raise(
                &Error::new(ErrorKind::NullNotAllowed, message)
                    .hint("Give a view that leaves such rows out."),
            )
        };
        let at = row.integer(3);
        let hash = of(3, 4).map(|hash| hash_of(&hash, name));
        each([&a, &b], at, verdict(&decision, name), hash);
    });
}

/// Errors: it is no hash of a pair.
fn hash_of(bytes: &[u8], relation: &str) -> [RecordHash; 2] {
    let text = readable(bytes);
    of_pair(&text).unwrap_or_else(|| {
        let message = format!("hash \"{}\" in \"{relation}\" is not that of a pair", &text);
        raise(
            &Error::new(ErrorKind::InvalidText, message)
                .detail("It is the bloom_record_hash() of a, a blank, and that of b.")
                .hint("Give a view without a column \"hash\" if it is something else."),
        )
    })
}

/// Fails the statement with 21000: a record is judged against itself.
fn refuse_one_key(key: &[u8], name: &str) -> ! {
    let message = format!(
        "both keys of a decision in \"{name}\" are \"{}\"",
        text(key)
    );
    raise_as(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        &Error::new(ErrorKind::DataException, message)
            .detail("A key names one record, and a pair is of two.")
            .hint("Give a view that leaves such decisions out."),
    )
}

/// Records that were one, or of which nobody could tell, may have been merged since, and what was decided redirected to
/// the record that was kept.
///
/// Errors: a record is judged different from itself.
fn drop_merged(rows: &mut Vec<Row>, keys: &KeyDictionary, name: &str) {
    rows.retain(|row| {
        if row.a == row.b && row.verdict == Verdict::Different {
            refuse_one_key(keys.key(row.a), name);
        }
        row.a != row.b
    });
}

/// Keeps the newest row of each pair, and of several at one time the most cautious one.
fn keep_newest(rows: &mut Vec<Row>) {
    rows.sort_unstable_by(|x, y| {
        check_for_interrupts();
        let pair = |row: &Row| (row.a, row.b);
        let newer_first = y.at.cmp(&x.at);
        pair(x)
            .cmp(&pair(y))
            .then(newer_first)
            .then(x.verdict.cmp(&y.verdict))
    });
    rows.dedup_by_key(|row| (row.a, row.b));
}

/// The records of decisions as they are now.
#[derive(Default)]
struct RecordsNow {
    /// For each side, by the number of a key: whether it is there.
    there: [Vec<bool>; 2],
    /// For each side, by the number of a key and of a list of columns.
    digests: [Vec<Option<[u64; 2]>>; 2],
    lists: [usize; 2],
}

impl RecordsNow {
    fn read(
        &mut self,
        side: usize,
        keys: &mut KeyDictionary,
        read: impl FnOnce(&mut EachDigest<'_>),
        lists: usize,
    ) {
        let n = keys.len();
        self.lists[side] = lists;
        reserve(&mut self.there[side], n);
        self.there[side].resize(n, false);
        let of_all = n.saturating_mul(lists);
        let needed = of_all * size_of::<Option<[u64; 2]>>() + keys.memory();
        Budget::of_setting().check(needed, || format!("hashes of {n} records"));
        reserve(&mut self.digests[side], of_all);
        self.digests[side].resize(of_all, None);
        let (there, digests) = (&mut self.there[side], &mut self.digests[side]);
        read(&mut |key, now| {
            if let Some(number) = keys.get(key) {
                there[number as usize] = true;
                let at = number as usize * lists;
                for (digest, now) in digests[at..at + lists].iter_mut().zip(now) {
                    *digest = now.map(|digest| [(digest >> 64) as u64, digest as u64]);
                }
            }
        });
    }

    fn has(&self, side: usize, key: u32) -> bool {
        self.there[side].get(key as usize) == Some(&true)
    }

    fn digest(&self, side: usize, key: u32, list: u32) -> Option<[u64; 2]> {
        let at = key as usize * self.lists[side] + list as usize;
        *self.digests[side].get(at)?
    }
}
