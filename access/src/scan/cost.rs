//! What a scan costs: nanoseconds that the search plans with, in the planner's units.

use super::nearest::{MAX_KEYS, SORTED_ROW};
use crate::class::leading::{hash, hash_of_type, key_of, leading_columns};
use crate::class::{strategy, RowSignature, SignatureType};
use crate::meta;
use crate::page::SigfileIndex;
use crate::read::{self, SegmentReader};
use crate::stale::plan_without;
use base::Result;
use pg::relation::OpenRelation;
use pg::tree::list::{self, nodes};
use pg::tree::node::cast;
use pg::{entry, ffi};
use pgrx::pg_sys::{self, NodeTag};
use sigfile::costs::{SCAN, SEARCH, SEGMENT, UNIT};
use sigfile::keys::Within;
use sigfile::search::{covering_cost, rows_alike as count_alike};
use sigfile::{Meta, Part, Query, RowBits, Segment, SegmentEntry};
use std::cell::RefCell;
use std::cmp::Reverse;
use types::settings;

/// The similarity that is taken for one not known yet.
const USUAL: f64 = 0.8;

/// The condition of a clause, as far as the planner knows it.
struct CostClause {
    threshold: f64,
    /// The rows' own thresholds count.
    keyed: bool,
    /// It asks for a similarity: the search goes by it.
    leads: bool,
    /// It asks for all bits of the signature: without a similarity or an order the search goes by it.
    covers: bool,
    signature: Option<RowSignature>,
}

/// What the conditions of a path ask of the columns before the signature.
struct LeadingClauses {
    /// For each column the hash of its value, if that is known.
    hashes: Vec<Option<u32>>,
    /// The share of the rows that fulfil the conditions; `None` unless there is one for each column.
    share: Option<f64>,
}

impl LeadingClauses {
    /// The rows of a segment among which a search finds what it looks for.
    fn within(&self, segment: &Segment, query: &Query) -> Within {
        let key = key_of(&self.hashes);
        let within = segment.within(query, key);
        match self.share {
            // What a value will be is not known yet.
            Some(share) if key.is_none() => Within {
                rows: 0..(f64::from(segment.rows) * share).ceil() as u32,
                share,
            },
            _ => within,
        }
    }
}

/// The conditions of a path, each with the number of the index column that it is on, from 0.
///
/// # Safety
/// `path` is a path of the planner over an index.
pub unsafe fn index_quals(
    path: &pg_sys::IndexPath,
) -> impl Iterator<Item = (usize, *mut pg_sys::RestrictInfo)> {
    // SAFETY: the planner's nodes are of the types that their lists say.
    unsafe {
        nodes(path.indexclauses).into_iter().flat_map(|clause| {
            let clause = &*clause.cast::<pg_sys::IndexClause>();
            let quals = nodes(clause.indexquals).into_iter();
            quals.map(|qual| (clause.indexcol as usize, qual.cast()))
        })
    }
}

/// The operator of a condition, and what it compares the column with, if that is a constant; `None` if it is not one of
/// an operator.
///
/// # Safety
/// `qual` is one of [`index_quals`].
pub unsafe fn comparison<'a>(
    qual: *mut pg_sys::RestrictInfo,
) -> Option<(pg_sys::Oid, Option<&'a pg_sys::Const>)> {
    // SAFETY: the planner's nodes are of the types that their tags say.
    unsafe {
        let operation = cast::<pg_sys::OpExpr>((*qual).clause.cast(), NodeTag::T_OpExpr)?;
        let right = nodes(operation.args).get(1).copied();
        let constant = right.and_then(|right| cast(right, NodeTag::T_Const));
        Some((operation.opno, constant))
    }
}

/// Reads the conditions of a path on columns before the signature.
///
/// # Safety
/// `path` is a path of the planner over this index.
unsafe fn leading_clauses(
    index: SigfileIndex<'_>,
    root: *mut pg_sys::PlannerInfo,
    path: &pg_sys::IndexPath,
) -> LeadingClauses {
    let mut found = LeadingClauses {
        hashes: vec![None; leading_columns(index)],
        share: None,
    };
    let (mut asked, mut quals) = (vec![false; found.hashes.len()], Vec::new());
    // SAFETY: the planner's nodes are of the types that their tags say; a constant has the operator's right-hand type.
    unsafe {
        for (column, qual) in index_quals(path) {
            if column >= asked.len() {
                continue;
            }
            quals.push(qual.cast());
            let expression = (*qual).clause.cast();
            if let Some(test) = cast::<pg_sys::NullTest>(expression, NodeTag::T_NullTest) {
                if test.nulltesttype == pg_sys::NullTestType::IS_NULL {
                    asked[column] = true;
                    found.hashes[column] = Some(hash(index, column, None));
                }
            }
            let Some((operator, constant)) = comparison(qual) else {
                continue;
            };
            asked[column] = true;
            if let Some(constant) = constant.filter(|c| !c.constisnull) {
                let (mut left, mut right) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
                pg_sys::op_input_types(operator, &raw mut left, &raw mut right);
                let value = constant.constvalue;
                found.hashes[column] = hash_of_type(index, column, right, value);
            }
        }
        if !asked.is_empty() && asked.iter().all(|&asked| asked) {
            let inner = pg_sys::JoinType::JOIN_INNER;
            let none = std::ptr::null_mut();
            let share = pg_sys::clauselist_selectivity(root, list::of(&quals), 0, inner, none);
            found.share = Some(share);
        }
    }
    found
}

/// The conditions of a path on the signature.
///
/// # Safety
/// `path` is a path of the planner over an index of sigfile.
unsafe fn clauses(meta: &Meta, path: &pg_sys::IndexPath) -> Vec<CostClause> {
    let mut found = Vec::new();
    // SAFETY: the planner's nodes are of the types that their tags say; a constant has the operator's right-hand type.
    unsafe {
        let last = (*path.indexinfo).nkeycolumns as usize - 1;
        let family = *(*path.indexinfo).opfamily.add(last);
        for (column, qual) in index_quals(path) {
            let Some((operator, constant)) = comparison(qual).filter(|_| column == last) else {
                continue;
            };
            let number = pg_sys::get_op_opfamily_strategy(operator, family) as u16;
            let constant = constant.filter(|c| !c.constisnull).map(|c| c.constvalue);
            let kind = SignatureType::of_rows(meta);
            let known = |s: RowSignature| (s.tag == meta.shape()).then_some(s);
            let (threshold, signature) = match (number, constant) {
                // Without rows, the type is not known.
                _ if meta.shape() == 0 => (USUAL, None),
                (strategy::MATCHES | strategy::MATCH, Some(value)) => {
                    let asked = kind.query(value);
                    (asked.threshold, known(asked.signature))
                }
                (strategy::MATCHES | strategy::MATCH, None) => (USUAL, None),
                (strategy::SIMILAR | strategy::SIMILAR_COMMUTED | strategy::EQUAL, constant) => {
                    let signature = constant.and_then(|value| known(kind.signature(value)));
                    let equal = number == strategy::EQUAL;
                    (if equal { 1.0 } else { settings::threshold() }, signature)
                }
                (strategy::COVERS, Some(value)) => (0.0, known(kind.signature(value))),
                _ => (0.0, None),
            };
            found.push(CostClause {
                threshold,
                keyed: strategy::is_keyed(number),
                leads: !matches!(number, strategy::COVERS | strategy::COVERED_BY),
                covers: number == strategy::COVERS && path.indexorderbys.is_null(),
                signature,
            });
        }
    }
    found
}

/// Nanoseconds for one search of all segments and the tail, and pages of the index that it reads.
///
/// Errors: a damaged segment.
fn search(
    index: SigfileIndex<'_>,
    meta: &Meta,
    clause: Option<&CostClause>,
    leading: &LeadingClauses,
) -> Result<(f64, f64)> {
    let mut time = SCAN;
    for entry in meta.segments.iter().filter(|s| s.part == Part::Signatures) {
        let loaded = read::segment(index, meta, entry)?;
        let segment = &loaded.segment;
        let least = |c: &CostClause| match c.keyed {
            true => segment.least_threshold,
            false => 0.0,
        };
        let threshold = clause.map_or(0.0, |c| c.threshold);
        let mut query = match clause.and_then(|c| c.signature.as_ref()) {
            Some(signature) => signature.query(&segment.geometry, threshold),
            None => {
                let popcount = segment.mean_popcount() as u32;
                let asked = segment.geometry.measure.asked(threshold);
                Query::of_popcount(&segment.geometry, popcount, asked)
            }
        };
        let least = clause.map_or(0.0, least);
        if least > query.threshold() {
            query.raise(least);
        }
        let within = leading.within(segment, &query);
        time += SEGMENT;
        time += match clause.filter(|c| c.covers) {
            Some(CostClause {
                signature: Some(signature),
                ..
            }) => covering_cost(segment, &signature.words, within.rows.len() as u32),
            _ => loaded.steps.plan(segment, &query, &within).cost,
        };
    }
    for part in Part::ALL {
        let geometry = meta.geometry(part);
        let rows = meta.tail(part).len() * geometry.capacity;
        time += SEARCH.scan(rows as u32, geometry.stride);
    }
    Ok((time, index.blocks().into()))
}

/// As [`search`], of the index of a path.
///
/// Errors: a damaged index.
///
/// # Safety
/// `path` is a path of the planner over an index of sigfile, which the planner has locked.
unsafe fn look(root: *mut pg_sys::PlannerInfo, path: &pg_sys::IndexPath) -> Result<(f64, f64)> {
    // SAFETY: the index exists, since the planner has locked it, and is open until it is closed here.
    unsafe {
        let open = OpenRelation::index((*path.indexinfo).indexoid, pg_sys::NoLock);
        let index = SigfileIndex::of(&open);
        let meta = meta::try_read(index)?;
        let clauses = clauses(&meta, path);
        let most_bits = |c: &CostClause| match &c.signature {
            Some(signature) if c.covers => signature.popcount,
            _ => 0,
        };
        let clause = clauses.iter().max_by(|a, b| {
            let by_threshold = a.threshold.total_cmp(&b.threshold);
            let by_similarity = a.leads.cmp(&b.leads).then(by_threshold);
            by_similarity.then_with(|| most_bits(a).cmp(&most_bits(b)))
        });
        search(index, &meta, clause, &leading_clauses(index, root, path))
    }
}

/// What it costs to write so many rows to temporary files and to read them again, as the server's sort estimates it.
fn temporary(rows: f64) -> f64 {
    // SAFETY: settings of this process.
    let (memory, page) = unsafe {
        let page = 0.75 * pg_sys::seq_page_cost + 0.25 * pg_sys::random_page_cost;
        (f64::from(pg_sys::work_mem) * 1024.0, page)
    };
    let bytes = rows * SORTED_ROW;
    if bytes <= memory {
        return 0.0;
    }
    let fan = (memory / f64::from(pg_sys::BLCKSZ)).max(8.0);
    let passes = (bytes / memory).log(fan).ceil().max(1.0);
    2.0 * passes * page * bytes / f64::from(pg_sys::BLCKSZ)
}

/// What a plan costs besides that cannot be executed, or not with this index as it is. The server's own
/// (`disable_cost`) is less.
const IMPOSSIBLE: f64 = 1.0e12;

/// Estimates what a scan costs. A damaged index is a warning only, since a statement that need not use it can be
/// executed; one that uses it fails when it does.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
#[allow(clippy::too_many_arguments)] // the server's interface
pub unsafe extern "C-unwind" fn amcostestimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loops: f64,
    startup: *mut pg_sys::Cost,
    total: *mut pg_sys::Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: the planner passes a path over an index that it has locked, and variables to be filled in.
    unsafe {
        let mut costs = pg_sys::GenericCosts::default();
        ffi::genericcostestimate(root, path, loops, &mut costs);
        let path = &*path;
        // An index that only tools for advice imagine has no pages to ask.
        let (time, read) = if (*path.indexinfo).hypothetical {
            (SCAN, 0.0)
        } else {
            look(root, path).unwrap_or_else(|error| {
                plan_without(&error);
                (IMPOSSIBLE * UNIT, 0.0)
            })
        };
        let rows = costs.numIndexTuples.max(0.0);
        *startup = time / UNIT;
        *total = *startup + rows * pg_sys::cpu_index_tuple_cost;
        if nodes(path.indexorderbys).len() > MAX_KEYS {
            // So many are not supported.
            *startup += IMPOSSIBLE;
            *total += IMPOSSIBLE;
        }
        if !path.indexorderbys.is_null() {
            // Every row may be asked for, sorted, in temporary files if need be.
            *total += rows * pg_sys::cpu_operator_cost * rows.max(2.0).log2() + temporary(rows);
        }
        *selectivity = costs.indexSelectivity;
        *correlation = 0.0;
        *pages = read;
    }
}

// How many rows of an index nearly equal a query, for the planner: the lists of the query's own values, in all
// segments.

/// Lists that are looked at, at most. On a million names the shortest of 4 lists of a segment tells as much as that of
/// all, nearly.
const LISTS: usize = 16;
const LISTS_OF_SEGMENT: usize = 4;

/// Where there are more segments, the largest stand for all.
const SEGMENTS: usize = 8;

/// What was looked up: the identity of the index, the bits of the threshold, the generations of the segments, and the
/// words of the signature.
type Looked = (u64, u64, Vec<u64>, Vec<u64>);

pg::session_state! {
    /// What was looked up last, and found: the planner asks again for the conditions that it derives from one.
    static LAST: RefCell<Option<(Looked, f64)>> = RefCell::default();
    "rows alike" by "index, signature and threshold" until "another is asked for, or a segment changes"
        bytes |last| last.borrow().as_ref().map_or(0, |(l, _)| 8 * (l.2.len() + l.3.len()));
}

/// Rows of the segments that agree with a signature in the chunk where that says most, and have about as many bits as
/// it takes to reach the threshold, which is that of users. `None` where the index cannot tell, as when it is damaged:
/// a plan may do without it.
///
/// # Safety
/// `index` is an index of sigfile, which this transaction has locked.
pub unsafe fn rows_alike(
    index: pg_sys::Oid,
    signature: &RowBits<'_>,
    threshold: f64,
) -> Option<f64> {
    let open = OpenRelation::index(index, pg_sys::NoLock);
    // SAFETY: the caller knows what index it is.
    let index = unsafe { SigfileIndex::of(&open) };
    let meta = meta::try_read(index).ok()?;
    let signature = RowSignature::new(signature);
    if signature.tag != meta.shape() {
        return None;
    }
    let of_signatures = meta.segments.iter().filter(|s| s.part == Part::Signatures);
    let mut segments: Vec<&SegmentEntry> = of_signatures.collect();
    let generations = segments.iter().map(|s| s.generation).collect();
    let words = signature.words.clone();
    let asked: Looked = (meta.identity, threshold.to_bits(), generations, words);
    let known = LAST.with_borrow(|last| {
        let known = last.as_ref().filter(|(looked, _)| *looked == asked);
        known.map(|&(_, alike)| alike)
    });
    if known.is_some() {
        return known;
    }
    let rows = |of: &[&SegmentEntry]| of.iter().map(|s| f64::from(s.rows)).sum::<f64>();
    let all = rows(&segments);
    segments.sort_unstable_by_key(|s| Reverse(s.rows));
    segments.truncate(SEGMENTS);
    let wanted = LISTS_OF_SEGMENT.min(LISTS / segments.len().max(1));
    // one row is as few as none, but not one in each of many segments
    let few = u32::from(segments.len() == 1);
    let mut alike = 0.0;
    for &entry in &segments {
        let loaded = read::segment(index, &meta, entry).ok()?;
        let segment = &loaded.segment;
        if segment.postings.is_empty() {
            continue;
        }
        let query = signature.query(&segment.geometry, threshold);
        let mut reader = SegmentReader::new(index, &loaded);
        let found = count_alike(segment, &query, wanted, few, &mut reader);
        alike += f64::from(found.ok()?);
    }
    let alike = alike * (all / rows(&segments).max(1.0)).max(1.0);
    LAST.replace(Some((asked, alike)));
    Some(alike)
}
