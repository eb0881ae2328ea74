//! Reading decisions.

use base::{Error, ErrorKind};
use linkage::clusters::Verdict;
use linkage::record_hash::{of_pair, RecordHash};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::hashes::{read_digests, HashColumns};
use super::{Decisions, JudgedPair, Judgement};
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::records::{lock, Records, Relations};
use crate::pairs::source_columns::{has, refuse};
use pg::budget::{push, reserve, Budget};
use pg::check_for_interrupts;
use pg::error::{raise, sql_error};
use pg::session::{read, BATCH};
use pg::sql;
use pg::values::text::readable;

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

/// Errors: it is none.
fn verdict(text: &[u8], relation: &str) -> Verdict {
    match text {
        b"same" => Verdict::Same,
        b"different" => Verdict::Different,
        b"unsure" => Verdict::Unsure,
        _ => raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                format!("decision \"{}\" in \"{relation}\" is none", readable(text)),
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
        let (mut pairs, mut hashes) = (Vec::new(), Vec::new());
        let with_hash = relations.is_some() && has(oid, &[c"hash"]);
        read_rows(oid, &name, with_hash, |[a, b], at, verdict, hash| {
            let mut judged = JudgedPair {
                a: keys[0].number(a),
                b: keys[sides - 1].number(b),
                at,
                judgement: Judgement {
                    verdict,
                    changed: false,
                },
                hash: NO_HASH,
            };
            let mut hash = hash;
            if sides == 1 && judged.a > judged.b {
                (judged.a, judged.b) = (judged.b, judged.a);
                hash = hash.map(|[a, b]| [b, a]);
            }
            if let Some(pair) = hash {
                judged.hash = hashes.len() as u32;
                let mut side = 0;
                let pair: Hashes = pair.map(|RecordHash { columns, digest }| {
                    let list = lists[side.min(sides - 1)].number(columns, &name);
                    side += 1;
                    (list, [(digest >> 64) as u64, digest as u64])
                });
                push(&mut hashes, pair);
            }
            push(&mut pairs, judged);
            let needed = pairs.capacity() * 2 * size_of::<JudgedPair>()
                + hashes.capacity() * size_of::<Hashes>()
                + keys.iter().map(KeyDictionary::memory).sum::<usize>();
            // as much again for what the statement does
            Budget::of_setting().check(2 * needed, || format!("{} decisions", pairs.len()));
        });
        keep_newest(&mut pairs);
        if sides == 1 {
            drop_merged(&mut pairs, &keys[0], &name);
        }
        let mut found = RecordsNow::default();
        for (side, records) in relations.into_iter().flat_map(Relations::each).enumerate() {
            let lists = &lists[side].0;
            if must_exist || !lists.is_empty() {
                let columns = lists.iter().map(|list| HashColumns::find(records, list));
                let columns: Vec<HashColumns> = columns.collect();
                found.read(side, &keys[side], records, &columns);
            }
        }
        for judged in &mut pairs {
            check_for_interrupts();
            let ends = [(0, judged.a), (sides - 1, judged.b)];
            let is_there = |(side, key): (usize, u32)| !must_exist || found.has(side, key);
            let is_as_then = |pair: &Hashes| {
                ends.iter().zip(pair).all(|(&(side, key), (list, digest))| {
                    found.digest(side, key, *list) == Some(*digest)
                })
            };
            judged.judgement.changed = !ends.into_iter().all(is_there)
                || judged.hash != NO_HASH && !is_as_then(&hashes[judged.hash as usize]);
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
    let hash = match with_hash {
        true => "hash",
        false => "NULL::pg_catalog.text",
    };
    let sql = sql!(
        "SELECT a, b, decision, pg_catalog.dense_rank() OVER (ORDER BY at NULLS FIRST), {hash} \
         FROM {oid}"
    );
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
        readable(key)
    );
    raise(
        &sql_error(PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION, message)
            .detail("A key names one record, and a pair is of two.")
            .hint("Give a view that leaves such decisions out."),
    )
}

/// Records that were one, or of which nobody could tell, may have been merged since, and what was decided redirected to
/// the record that was kept.
///
/// Errors: a record is judged different from itself.
fn drop_merged(pairs: &mut Vec<JudgedPair>, keys: &KeyDictionary, name: &str) {
    pairs.retain(|pair| {
        if pair.a == pair.b && pair.judgement.verdict == Verdict::Different {
            refuse_one_key(keys.key(pair.a), name);
        }
        pair.a != pair.b
    });
}

/// Keeps the newest decision about each pair, and of several at one time the most cautious one.
fn keep_newest(pairs: &mut Vec<JudgedPair>) {
    pairs.sort_unstable_by(|x, y| {
        check_for_interrupts();
        let newer_first = y.at.cmp(&x.at);
        let cautious_first = x.judgement.verdict.cmp(&y.judgement.verdict);
        (x.a, x.b)
            .cmp(&(y.a, y.b))
            .then(newer_first)
            .then(cautious_first)
    });
    pairs.dedup_by_key(|pair| (pair.a, pair.b));
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
    /// Reads the digests of the records of a side over these lists of columns.
    fn read(
        &mut self,
        side: usize,
        keys: &KeyDictionary,
        records: &Records,
        columns: &[HashColumns],
    ) {
        let (n, lists) = (keys.len(), columns.len());
        self.lists[side] = lists;
        reserve(&mut self.there[side], n);
        self.there[side].resize(n, false);
        let of_all = n.saturating_mul(lists);
        let needed = of_all * size_of::<Option<[u64; 2]>>() + keys.memory();
        Budget::of_setting().check(needed, || format!("hashes of {n} records"));
        reserve(&mut self.digests[side], of_all);
        self.digests[side].resize(of_all, None);
        let (there, digests) = (&mut self.there[side], &mut self.digests[side]);
        read_digests(records, columns, |key, now| {
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
