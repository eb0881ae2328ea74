//! What a search has to look at on one page.

use crate::query::Query;
use crate::rows::RowPage;
use crate::segment::Segment;
use base::Result;

/// Rows of one page that a search has to look at.
#[derive(Debug, PartialEq)]
pub enum PageWork<'a> {
    /// These rows, by number in the segment.
    Rows(&'a [u32]),
    /// Rows of the page, by number on it.
    Range(usize, usize),
}

impl PageWork<'_> {
    /// Calls `hit` with number on the page and common bits of every row that reaches the
    /// threshold, ascending. `of` is the segment that the page belongs to, and its number there.
    ///
    /// Errors: a row that cannot be: a popcount where it does not belong is noticed in every row that is looked at, what does not fit the
    /// bits in those that are found.
    pub fn run(
        &self,
        page: &RowPage<'_>,
        of: Option<(&Segment, u32)>,
        query: &Query,
        mut hit: impl FnMut(usize, u32),
    ) -> Result<()> {
        let mut wrong = None;
        let mut check = |i: usize, common: u32| match page.checked(i) {
            Ok(_) => hit(i, common),
            Err(e) => {
                wrong.get_or_insert(e);
            }
        };
        match *self {
            PageWork::Range(from, to) => {
                let to = to.min(page.len());
                if let Some((segment, number)) = of {
                    segment.check_popcounts(number, page, from, to)?;
                }
                match of {
                    Some(_) if is_within(page, from, to, query) => {
                        query.scan(page, from, to, check)
                    }
                    _ => query.scan_mixed(page, from, to, check),
                }
            }
            PageWork::Rows(rows) => {
                let capacity = page.geometry().capacity;
                for &row in rows {
                    let i = row as usize % capacity;
                    let popcount = match of {
                        Some((segment, number)) => segment.popcount_on(number, page, i)?,
                        None => page.checked(i)?.popcount,
                    };
                    if let Some(common) = query.hit(page.words(i, i + 1), popcount) {
                        check(i, common);
                    }
                }
            }
        }
        match (wrong, of) {
            (None, _) => Ok(()),
            (Some(e), Some((_, number))) => Err(e.on_page(number)),
            (Some(e), None) => Err(e),
        }
    }
}

/// Whether no row among `from..to` of a page of a segment has other popcounts than the query can find: their order says it.
fn is_within(page: &RowPage<'_>, from: usize, to: usize, query: &Query) -> bool {
    if !page.geometry().keys {
        return true;
    }
    let Some((lo, hi)) = query.window().filter(|_| from < to) else {
        return false;
    };
    let last = to - 1;
    let popcounts = page.popcounts();
    page.key(from) == page.key(last) && popcounts[from] >= lo && popcounts[last] <= hi
}
