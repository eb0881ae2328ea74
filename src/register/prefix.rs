//! Names as they are typed: records whose names begin so, found by keys of beginnings, which a register has if it was made
//! with the option `prefix`.
//!
//! A beginning that too many records have is a closed block, one row. So short beginnings cost much in small tables
//! only, where nothing costs much.

use linkage::model::keys::{stored_key, NUMBERS};
use linkage::model::values::Kind;
use linkage::model::{column_names, FieldModel, ReadyModel};
use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode::{
    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, ERRCODE_SUCCESSFUL_COMPLETION,
};
use signature::mix;
use twox_hash::XxHash3_64;

use super::find::Candidate;
use super::stored::Register;
use pg::error::{raise, sql_error, OrRaise, Tell};
use pg::message::words;
use pg::snapshot::ScanSnapshot;

/// The number that these keys have beside those of searches.
pub const NUMBER: usize = NUMBERS - 1;

const _: () = assert!(linkage::model::MOST_SEARCHES < NUMBER);

/// How many records may have a beginning in common.
pub const MOST: u32 = 100;

/// Letters of a name's beginnings that have keys, and of those of two names at once.
const LETTERS: [usize; 4] = [2, 3, 4, 6];
const OF_TWO: [[usize; 2]; 4] = [[3, 3], [4, 4], [6, 1], [1, 6]];

/// The names of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The number of each in the model.
    fields: Vec<usize>,
    /// What tells it from others, whatever its number is.
    identities: Vec<u64>,
}

impl Names {
    /// Those of a model; `None` if it has none.
    pub fn of(model: &linkage::model::MatchModel) -> Option<Names> {
        let is_name = |field: &FieldModel| match field.layout.kind() {
            Kind::Name => true,
            // it has no letters
            Kind::Signature => false,
            _ => column_names::is_surname(&field.name) || column_names::is_given_name(&field.name),
        };
        let fields = model.fields.iter().enumerate();
        let fields: Vec<usize> = fields.filter(|(_, f)| is_name(f)).map(|(k, _)| k).collect();
        let identity = |&k: &usize| {
            let field = &model.fields[k];
            XxHash3_64::oneshot(format!("{} {}", field.layout.kind().name(), field.name).as_bytes())
        };
        let identities = fields.iter().map(identity).collect();
        (!fields.is_empty()).then_some(Names { fields, identities })
    }

    /// Whether beginnings of these have the same keys as those of others.
    pub fn have_keys_of(&self, others: &Names) -> bool {
        self.identities == others.identities
    }

    /// The letters of each name of a record, without case and marks.
    fn letters<T: AsRef<str>>(&self, ready: &ReadyModel, record: &[Option<T>]) -> Vec<Vec<char>> {
        let letters = |&field: &usize| {
            let text = record[field].as_ref().map_or("", T::as_ref);
            let normal = ready.layout(field).normal(text).or_raise();
            normal.chars().collect()
        };
        self.fields.iter().map(letters).collect()
    }

    /// Gives the keys of a record's beginnings to `each`: of every name, and of the first two of them at once.
    pub fn keys<T: AsRef<str>>(
        &self,
        ready: &ReadyModel,
        record: &[Option<T>],
        mut each: impl FnMut(i64),
    ) {
        let names = self.letters(ready, record);
        for (name, &identity) in names.iter().zip(&self.identities) {
            let lengths = LETTERS.iter().filter(|&&length| length <= name.len());
            lengths.for_each(|&length| each(self.key([(&name[..length], identity)])));
        }
        self.keys_of_two(&names).for_each(each);
    }

    fn keys_of_two<'n>(&'n self, names: &'n [Vec<char>]) -> impl Iterator<Item = i64> + 'n {
        let two = names
            .first_chunk::<2>()
            .zip(self.identities.first_chunk::<2>());
        two.into_iter().flat_map(move |([a, b], [of_a, of_b])| {
            let lengths = OF_TWO
                .iter()
                .filter(|[m, n]| *m <= a.len() && *n <= b.len());
            lengths.map(move |&[m, n]| self.key([(&a[..m], *of_a), (&b[..n], *of_b)]))
        })
    }

    /// The keys of the beginnings that are typed, which all records have whose names begin so: of every name the longest
    /// one that has a key.
    fn typed_keys(&self, typed: &[Vec<char>]) -> Vec<i64> {
        let longest = |(name, &identity): (&Vec<char>, &u64)| {
            let mut lengths = LETTERS.iter().rev();
            let length = lengths.find(|&&length| length <= name.len())?;
            Some(self.key([(&name[..*length], identity)]))
        };
        let of_one = typed.iter().zip(&self.identities).filter_map(longest);
        of_one.chain(self.keys_of_two(typed)).collect()
    }

    fn key<const N: usize>(&self, beginnings: [(&[char], u64); N]) -> i64 {
        let key = beginnings
            .into_iter()
            .fold(N as u64, |key, (letters, identity)| {
                let letters: String = letters.iter().collect();
                mix(mix(key ^ identity) ^ XxHash3_64::oneshot(letters.as_bytes()))
            });
        stored_key(NUMBER, key) as i64
    }
}

/// A record whose names begin as they are typed.
pub struct Begun {
    /// Letters that are typed, and those of the names.
    typed: usize,
    letters: usize,
    /// The key, as its type writes it.
    pub key: Vec<u8>,
}

impl Register {
    /// The records whose names begin as those of `typed` do, the ones first of which most is typed, and then by key. `None`
    /// if too many begin so. The one whose key has the bytes `own` is left out.
    ///
    /// Errors: the register has no keys of beginnings.
    pub fn begun<T: AsRef<str>>(
        &self,
        typed: &[Option<T>],
        own: Option<&[u8]>,
    ) -> Option<Vec<Begun>> {
        let Some(names) = &self.names else {
            raise(
                &sql_error(
                    ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    words!("register \"{self.oid}\" does not find names by their beginnings"),
                )
                .hint(
                    "Make it anew by bloom_register_create(), or another one beside it, with the option {\"prefix\": true}.",
                ),
            );
        };
        let ready = &self.known.ready;
        let typed = names.letters(ready, typed);
        let mut reader = self.read_keys(&ScanSnapshot::active());
        let mut least: Option<(usize, i64)> = None;
        for key in names.typed_keys(&typed) {
            let (mut is_open, mut records) = (true, 0);
            reader.each(key, |row| {
                is_open = row.id().is_some();
                records += 1;
                is_open
            });
            if is_open && least.is_none_or(|(fewest, _)| records < fewest) {
                least = Some((records, key));
            }
        }
        drop(reader);
        let (_, key) = least?;
        let begun = |candidate: Candidate| {
            let names = names.letters(ready, &candidate.record);
            let pairs = || {
                typed
                    .iter()
                    .zip(&names)
                    .filter(|(typed, _)| !typed.is_empty())
            };
            pairs()
                .all(|(typed, name)| name.starts_with(typed))
                .then(|| Begun {
                    typed: pairs().map(|(typed, _)| typed.len()).sum(),
                    letters: pairs().map(|(_, name)| name.len()).sum(),
                    key: self.text_of(candidate.id),
                })
        };
        let all = self.candidates(&[key], own).into_iter();
        let mut all: Vec<Begun> = all.filter_map(begun).collect();
        // As much is typed of all, so what has fewest letters comes first.
        all.sort_by(|a, b| {
            let by_share = (a.letters * b.typed).cmp(&(b.letters * a.typed));
            by_share.then_with(|| a.key.cmp(&b.key))
        });
        Some(all)
    }

    /// Says that more is to be typed than `typed`.
    pub fn tell_more<T: AsRef<str>>(&self, typed: &[Option<T>]) {
        let names = self.names.as_ref();
        let letters = names.map_or(Vec::new(), |names| names.letters(&self.known.ready, typed));
        let is_short = letters.iter().all(|name| name.len() < LETTERS[0]);
        sql_error(
            ERRCODE_SUCCESSFUL_COMPLETION,
            match is_short {
                true => words!("too few letters of a name are typed to ask register \"{self.oid}\""),
                false => {
                    words!("too many records of register \"{self.oid}\" have names that begin so")
                }
            },
        )
        .detail(format!(
            "Beginnings of {} letters or more are found that {MOST} records have at most, of one name or of two at once.",
            LETTERS[0]
        ))
        .hint("Type more letters, or of another name, too.")
        .send(PgLogLevel::NOTICE);
    }
}
