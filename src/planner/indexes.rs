//! The indexes of a table, as the planner has read them: those of sigfile are offered for all that they hold, and say
//! how many rows they have; those of GiST get a cost.

use pgrx::pg_sys::{self, NodeTag};
use sigfile::costs::{GIST_PAGE, UNIT};
use sigfile::RowBits;

use super::selectivity::threshold_of_constant;
use access::{comparison, index_quals, is_estimated_by_sigfile, queried_signature, rows_alike};
use pg::tree::list::{self, nodes};
use pg::tree::node::{bare, cast, Node};
use pg::{entry, ffi};
use types::objects::{is_bits, is_bits_query, is_query, is_signature};
use types::settings;

/// The share of the pages that a search reads, by its threshold: a million names of 301 bits.
const PAGES_READ: [(f64, f64); 5] = [
    (0.5, 1.0),
    (0.7, 0.92),
    (0.8, 0.71),
    (0.9, 0.36),
    (1.0, 0.03),
];

/// The same of sampled bits, of which there is nearly no tree: 100,000 rows of 192 bits.
const PAGES_READ_OF_BITS: [(f64, f64); 3] = [(0.8, 0.92), (0.95, 0.21), (1.0, 0.02)];

/// The threshold of a condition that does not say it yet.
const USUAL: f64 = 0.8;

/// Strategies of the classes for signatures and for sketches: `%` with a signature, with a query, and with the column
/// on the right; `=`.
const SIMILAR: i32 = 1;
const MATCHES: i32 = 2;
const EQUAL: i32 = 3;
const SIMILAR_COMMUTED: i32 = 7;

/// The indexes of a table.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs; nothing else refers to its indexes meanwhile.
pub unsafe fn indexes<'a>(
    rel: &pg_sys::RelOptInfo,
) -> impl Iterator<Item = &'a mut pg_sys::IndexOptInfo> {
    // SAFETY: the list is one of such nodes.
    let list = unsafe { nodes(rel.indexlist) }.into_iter();
    // SAFETY: as above.
    list.map(|index| unsafe { &mut *index.cast::<pg_sys::IndexOptInfo>() })
}

/// Offers the indexes of a table for what they hold, at the costs that they have.
///
/// # Safety
/// As for [`indexes`].
pub unsafe fn offer(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the caller promises it.
    unsafe {
        offer_constraints(rel);
        estimate_gist(rel);
    }
}

/// The index of a constraint on `bloom_query(sig, 0.85)` also holds the signatures by themselves, so it serves searches
/// of `sig`: the planner gets it once more, as an index on that.
///
/// The server finds the strategy of a condition in the operator family of the index itself, and both classes of sigfile
/// are in one family.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs.
unsafe fn offer_constraints(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the planner has read the table and its indexes from the catalogs; the new node is of the planner's
    // memory.
    unsafe {
        for index in indexes(rel) {
            if let Some(more) = signatures(index) {
                rel.indexlist = pg_sys::lappend(rel.indexlist, more.cast());
            }
        }
    }
}

/// The index as one on the signatures, if it is one on `bloom_query(signature, constant)`.
///
/// # Safety
/// `index` is of the planner's list.
unsafe fn signatures(index: &pg_sys::IndexOptInfo) -> Option<*mut pg_sys::IndexOptInfo> {
    if !is_estimated_by_sigfile(index) {
        return None;
    }
    // SAFETY: the index is of the planner's list, with a key column at least; where the number of the last is 0, it is
    // the last expression.
    unsafe {
        let columns = index.nkeycolumns as usize;
        let last = columns - 1;
        if *index.indexkeys.add(last) != 0 {
            return None;
        }
        let mut expressions = nodes(index.indexprs);
        let signature = queried_signature(expressions.pop()?)?;
        let mut more = *index;
        more.indexkeys = copied(index.indexkeys, columns);
        more.opcintype = copied(index.opcintype, columns);
        more.opcintype.add(last).write(signature.bloom);
        // what can be returned is the query
        more.canreturn = copied(index.canreturn, columns);
        more.canreturn.add(last).write(false);
        match cast::<pg_sys::Var>(bare(signature.of), NodeTag::T_Var) {
            Some(column) => more.indexkeys.add(last).write(column.varattno.into()),
            None => expressions.push(signature.of),
        }
        more.indexprs = match expressions[..] {
            [] => std::ptr::null_mut(),
            _ => list::of(&expressions),
        };
        Some(copied(&more, 1))
    }
}

/// # Safety
/// In the planner's memory context; there are `n` values at `from`.
unsafe fn copied<T: Copy>(from: *const T, n: usize) -> *mut T {
    // SAFETY: memory of that size.
    unsafe {
        let to = pg_sys::palloc(size_of::<T>() * n).cast::<T>();
        std::ptr::copy_nonoverlapping(from, to, n);
        to
    }
}

// What a search by GiST costs. The server's estimate takes it that an index is read as far as its rows are asked for;
// but signatures have no order in which similar ones are together, so that a search reads most pages of a tree to find
// one row.

/// Has the planner ask [`gist_cost`] about the GiST indexes of a table on one column of ours. Where there are other
/// columns, their conditions say which pages are read.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs.
unsafe fn estimate_gist(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the planner has read the indexes from the catalogs, each with a key column at least. A cost function is
    // called as the server's own are, whatever type its pointer is declared with.
    unsafe {
        for index in indexes(rel) {
            let ours = |of_type| {
                is_signature(of_type)
                    || is_query(of_type)
                    || is_bits(of_type)
                    || is_bits_query(of_type)
            };
            if index.relam == pg_sys::GIST_AM_OID
                && index.nkeycolumns == 1
                && ours(*index.opcintype)
            {
                let cost = gist_cost as *const ();
                // Majors declare it with different arguments.
                #[allow(clippy::missing_transmute_annotations)]
                let cost = std::mem::transmute::<*const (), _>(cost);
                index.amcostestimate = cost;
            }
        }
    }
}

/// The share of a tree's pages that a search for this similarity reads.
fn pages_read(known: &[(f64, f64)], threshold: f64) -> f64 {
    let at = known.partition_point(|(least, _)| *least < threshold);
    let (Some(&(above, share)), Some(&(below, more))) =
        (known.get(at), known.get(at.wrapping_sub(1)))
    else {
        return known[at.min(known.len() - 1)].1;
    };
    more + (share - more) * (threshold - below) / (above - below)
}

/// The highest threshold of the conditions; `None` where none has one.
///
/// # Safety
/// `path` is a path of the planner over an index of ours.
unsafe fn threshold(path: &pg_sys::IndexPath) -> Option<f64> {
    // SAFETY: the planner's nodes are of the types that their tags say.
    unsafe {
        let family = *(*path.indexinfo).opfamily;
        let thresholds = index_quals(path).filter_map(|(_, qual)| {
            let (operator, constant) = comparison(qual)?;
            match pg_sys::get_op_opfamily_strategy(operator, family) {
                EQUAL => Some(1.0),
                SIMILAR | MATCHES | SIMILAR_COMMUTED => Some(match constant {
                    Some(constant) => {
                        threshold_of_constant(constant).unwrap_or_else(settings::threshold)
                    }
                    None => USUAL,
                }),
                _ => None,
            }
        });
        thresholds.max_by(f64::total_cmp)
    }
}

/// Estimates what a scan of a GiST index on signatures costs.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
#[allow(clippy::too_many_arguments)] // the server's interface
unsafe extern "C-unwind" fn gist_cost(
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
        ffi::gistcostestimate(
            root,
            path,
            loops,
            startup,
            total,
            selectivity,
            correlation,
            pages,
        );
        let path = &*path;
        let index = &*path.indexinfo;
        let of_type = *index.opcintype;
        let known = match is_bits(of_type) || is_bits_query(of_type) {
            true => &PAGES_READ_OF_BITS[..],
            false => &PAGES_READ[..],
        };
        let ordered = !path.indexorderbys.is_null();
        let share = match threshold(path) {
            Some(threshold) => pages_read(known, threshold),
            // The nearest ones are found last.
            None if ordered => 1.0,
            None => return,
        };
        let reading = share * f64::from(index.pages) * GIST_PAGE / UNIT;
        if ordered {
            *startup += reading;
        }
        *total += reading;
    }
}

/// What an index of sigfile says of a search before it is searched: how many rows there are that nearly equal the
/// query, if there is an index on the expression. A sample of thousands does not tell one such row in a million from
/// 26. Those that came after its last merge are not counted.
///
/// # Safety
/// `table` is of the query that is planned, `expression` is of that table alone, and the user may know statistics of
/// it.
pub unsafe fn alike(
    table: *mut pg_sys::RelOptInfo,
    expression: *mut Node,
    query: &RowBits<'_>,
    threshold: f64,
) -> Option<f64> {
    // SAFETY: the planner has read the table's indexes from the catalogs, and locked them.
    unsafe {
        let table = table.as_ref()?;
        let index = indexes(table)
            .filter(|index| serves(index, table, expression))
            // With columns before the signature a list is not limited to rows with about as many bits.
            .min_by_key(|index| index.nkeycolumns)?;
        rows_alike(index.indexoid, query, threshold)
    }
}

/// Whether an index holds the expression for all rows, as its signatures. Columns before them do not matter.
///
/// # Safety
/// As for [`alike`].
unsafe fn serves(
    index: &pg_sys::IndexOptInfo,
    table: &pg_sys::RelOptInfo,
    expression: *mut Node,
) -> bool {
    let usable = is_estimated_by_sigfile(index) && !index.hypothetical && index.indpred.is_null();
    if !usable {
        return false;
    }
    // SAFETY: an index has a key column at least; where the number of the last is 0, it is the last expression.
    unsafe {
        match *index.indexkeys.add(index.nkeycolumns as usize - 1) {
            0 => nodes(index.indexprs)
                .last()
                .is_some_and(|&indexed| pg_sys::equal(bare(indexed).cast(), expression.cast())),
            column => cast::<pg_sys::Var>(expression, pg_sys::NodeTag::T_Var).is_some_and(|var| {
                var.varno as u32 == table.relid && i32::from(var.varattno) == column
            }),
        }
    }
}
