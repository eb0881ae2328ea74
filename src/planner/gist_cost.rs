//! What a search by GiST costs. The server's estimate takes it that an index is read as far as its rows are asked for;
//! but signatures have no order in which similar ones are together, so that a search reads most pages of a tree to find
//! one row.

use pgrx::pg_sys;

use super::selectivity::threshold_of_constant;
use access::{comparison, index_quals};
use pg::tree::list::nodes;
use pg::{entry, ffi};
use sigfile::costs::{GIST_PAGE, UNIT};
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

/// Has the planner ask [`gist_cost`] about the GiST indexes of a table on one column of ours. Where there are other
/// columns, their conditions say which pages are read.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs.
pub unsafe fn estimate(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the planner has read the indexes from the catalogs, each with a key column at least. A cost function is
    // called as the server's own are, whatever type its pointer is declared with.
    unsafe {
        for index in nodes(rel.indexlist) {
            let index = &mut *index.cast::<pg_sys::IndexOptInfo>();
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
