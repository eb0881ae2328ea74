//! `bloom_clusters`: pairs of similar records as clusters.

use std::ffi::CString;

use bloom_ident_core::dedup::{average, centres, components, Choice, Clusters, Links, Pair};
use bloom_ident_core::{Error, Kind};
use pgrx::{pg_extern, pg_sys, IntoDatum, PgSqlErrorCode};

use super::arguments::Arguments;
use super::budget::{push, Turns};
use super::cursor::{Cursor, Sql};
use super::numbers::{places, Numbers};
use super::pairs::Collected;
use super::relation::Records;
use super::rows::{text_datum, Rows};
use super::source::Source;
use crate::error::{raise, raise_as, OrRaise};
use crate::types::{tick, NewValue};

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// How pairs become clusters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Components,
    Centre,
    Average,
}

impl Method {
    /// Errors: no such method.
    pub fn of_name(name: &str) -> Method {
        match name {
            "components" => Method::Components,
            "centre" => Method::Centre,
            "average" => Method::Average,
            _ => raise(
                &Error::new(
                    Kind::InvalidParameter,
                    format!("unrecognized clustering method \"{name}\""),
                )
                .detail("The methods are \"components\", \"centre\" and \"average\"."),
            ),
        }
    }

    /// What the core needs for a pair besides its place in a list, in bytes.
    pub fn bytes_a_pair(self) -> usize {
        match self {
            Method::Components | Method::Centre => 32,
            Method::Average => 32 + 90,
        }
    }

    /// Pairs of lower similarity than this change nothing, where clusters are those of `threshold`.
    fn least(self, threshold: f64) -> f64 {
        match self {
            Method::Centre => threshold,
            // known similarities to a centre; means
            Method::Components | Method::Average => 0.0,
        }
    }

    fn clusters(self, links: &Links, threshold: f64) -> Clusters {
        let clusters = match self {
            Method::Components => components(links, threshold, tick),
            // a record is with the centre that it is most like, whichever was found first
            Method::Centre => centres(links, threshold, Choice::Nearest, tick),
            // a pair that is not there counts as 0; where the threshold is 0, it has reached that
            Method::Average if threshold > 0.0 => average(links, threshold, 0.0, tick),
            Method::Average => components(links, threshold, tick),
        };
        clusters.or_raise()
    }
}

/// Clusters of at least two records.
pub struct Clustered {
    /// By place in the order of the records' numbers here.
    numbers: Numbers,
    order: Vec<u32>,
    clusters: Clusters,
    /// Records of clusters, cluster by cluster: the largest first, of equals that with the least key; within, the one
    /// to keep, then by similarity with it, then by key.
    members: Vec<u32>,
}

/// A record in a cluster.
pub struct Clustering<'a> {
    /// From 1.
    pub cluster: i64,
    pub key: &'a [u8],
    pub size: u32,
    /// With the record to keep, where known.
    pub similarity: Option<f64>,
    pub keep: bool,
}

impl Clustered {
    /// Nothing depends on the order of the pairs, nor on how their records are numbered.
    pub fn new(
        numbers: Numbers,
        mut pairs: Vec<Pair>,
        threshold: f64,
        method: Method,
    ) -> Clustered {
        let order = numbers.sorted();
        let place = places(&order, numbers.len());
        for pair in &mut pairs {
            (pair.a, pair.b) = (place[pair.a as usize], place[pair.b as usize]);
        }
        drop(place);
        let links = Links::new(order.len() as u32, &pairs, tick).or_raise();
        drop(pairs);
        let clusters = method.clusters(&links, threshold);
        drop(links);
        let mut members = Vec::new();
        for i in 0..clusters.len() as u32 {
            if clusters.member(i).size > 1 {
                push(&mut members, i);
            }
        }
        let mut turns = Turns::default();
        members.sort_unstable_by(|&x, &y| {
            turns.step();
            let (a, b) = (clusters.member(x), clusters.member(y));
            b.size
                .cmp(&a.size)
                .then(a.cluster.cmp(&b.cluster))
                .then((y == b.centre).cmp(&(x == a.centre)))
                .then_with(|| {
                    let similarity = |s: Option<f64>| s.unwrap_or(-1.0);
                    similarity(b.similarity).total_cmp(&similarity(a.similarity))
                })
                .then(x.cmp(&y))
        });
        Clustered {
            numbers,
            order,
            clusters,
            members,
        }
    }

    /// Every record, in their order.
    pub fn records(&self) -> impl Iterator<Item = Clustering<'_>> {
        let (mut cluster, mut last) = (0, None);
        self.members.iter().map(move |&i| {
            let member = self.clusters.member(i);
            if last != Some(member.cluster) {
                cluster += 1;
                last = Some(member.cluster);
            }
            Clustering {
                cluster,
                key: self.numbers.key(self.order[i as usize]),
                size: member.size,
                similarity: member.similarity,
                keep: i == member.centre,
            }
        })
    }
}

/// Pairs of a relation's records, as `bloom_duplicates` finds them.
///
/// SAFETY: `near` is a function of the extension.
pub fn duplicates(near: pg_sys::Oid, records: &Records, threshold: f64) -> Cursor {
    // SAFETY: catalog look-ups; a function has a schema.
    let schema = unsafe {
        let schema = pg_sys::get_namespace_name(pg_sys::get_func_namespace(near));
        CString::from(std::ffi::CStr::from_ptr(schema))
    };
    let sql = Sql::new("SELECT a, b, similarity FROM ")
        .name(&schema)
        .text(".bloom_duplicates($1, $2, $3, $4)");
    let name = |name: &CString| {
        let mut data = pg_sys::NameData::default();
        // SAFETY: a name of the catalog, which is copied to memory of the statement.
        let copied = unsafe {
            pg_sys::namestrcpy(&mut data, name.as_ptr());
            let to = pg_sys::palloc(size_of::<pg_sys::NameData>()).cast::<pg_sys::NameData>();
            *to = data;
            to
        };
        (pg_sys::NAMEOID, pg_sys::Datum::from(copied))
    };
    let arguments = [
        (pg_sys::REGCLASSOID, pg_sys::Datum::from(records.oid)),
        name(&records.key.name),
        name(&records.signatures[0].name),
        (pg_sys::FLOAT8OID, threshold.into_datum().expect("a float8")),
    ];
    Cursor::open(sql, &arguments, BATCH)
}

/// Errors: a pair of records with one key.
pub fn check_unique(pairs: &[Pair], numbers: &Numbers, records: &Records) {
    if let Some(pair) = pairs.iter().find(|pair| pair.a == pair.b) {
        let key = String::from_utf8_lossy(numbers.key(pair.a));
        raise_as(
            PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
            &Error::new(
                Kind::DataException,
                format!("more than one record has the key \"{key}\""),
            )
            .hint(format!(
                "Name a column whose values are unique, instead of \"{}\".",
                records.key.name.to_string_lossy()
            )),
        );
    }
}

/// `(rel regclass, key name, signature name, threshold float8, method text)`
#[pg_extern(sql = false)]
fn bloom_clusters(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared so, STRICT, returning a set.
    let (arguments, near) = unsafe { (Arguments::of(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let (threshold, method) = (arguments.threshold(3), arguments.text(4));
    let method = Method::of_name(&method);
    let records = Records::new(
        near,
        arguments.oid(0),
        arguments.name(1),
        vec![arguments.name(2)],
    );
    // SAFETY: as above.
    let rows = unsafe { Rows::new(fcinfo) };
    let mut found = Collected::new(method.bytes_a_pair());
    let cursor = duplicates(near, &records, threshold);
    found.read(cursor, "bloom_duplicates", threshold);
    let (pairs, numbers) = found.finish();
    check_unique(&pairs, &numbers, &records);
    put(rows, &Clustered::new(numbers, pairs, threshold, method));
    NewValue(pg_sys::Datum::null())
}

/// `(pairs regclass, threshold float8, method text)`
#[pg_extern(sql = false)]
fn bloom_clusters_of_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: as above.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(1), arguments.text(2));
    let method = Method::of_name(&method);
    let source = Source::of_similar_pairs(arguments.oid(0));
    // SAFETY: as above.
    let rows = unsafe { Rows::new(fcinfo) };
    let mut found = Collected::new(method.bytes_a_pair());
    let least = method.least(threshold);
    found.read(source.similar_rows(), &source.name, least);
    let (pairs, numbers) = found.finish();
    put(rows, &Clustered::new(numbers, pairs, threshold, method));
    NewValue(pg_sys::Datum::null())
}

fn put(mut rows: Rows, clustered: &Clustered) {
    let mut turns = Turns::default();
    for record in clustered.records() {
        turns.step();
        rows.make(|| {
            Some([
                record.cluster.into_datum(),
                Some(text_datum(record.key)),
                (record.size as i32).into_datum(),
                record.similarity.into_datum(),
                record.keep.into_datum(),
            ])
        });
    }
}
