//! Some rows of a join, and how many similar ones they have.

use base::{Error, Result};
use sigfile::join::{Batch, Folds, Joiner};
use sigfile::Pages;

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::TableRow;
use pg::error::OrRaise;

/// A row, and how many others are similar to it.
pub struct SampleRow {
    pub row: TableRow,
    words: Vec<u64>,
    popcount: u32,
    pub similar: u64,
    /// One of the similar rows.
    pub other: Option<TableRow>,
}

/// Row number `number` of a piece; `None` if it is dead.
///
/// Errors: a damaged page.
pub fn sample_row(piece: &JoinPiece<'_>, number: u32) -> Option<SampleRow> {
    let (segment, mut pages) = (piece.segment(), piece.pages());
    let capacity = segment.geometry.capacity as u32;
    let mut read = || -> Result<Option<SampleRow>> {
        let page = number / capacity;
        let content = segment.row_page(page, pages.page(page)?)?;
        let at = |e: Error| e.on_page(page);
        let row = content.checked((number % capacity) as usize).map_err(at)?;
        Ok((row.tid != 0).then(|| SampleRow {
            row: TableRow::new(piece.table(), row.tid),
            words: row.words.to_vec(),
            popcount: row.popcount,
            similar: 0,
            other: None,
        }))
    };
    let row = read();
    pages.release();
    row.map_err(|e| pages.locate(e)).or_raise()
}

/// Counts for each row how many rows of a piece are similar to it, besides itself. Each row
/// of the piece counts as `every` rows. The piece is searched in bands whose folds and
/// tables take `memory` bytes.
///
/// Errors: a damaged page; out of memory.
pub fn count_similar(
    piece: &JoinPiece<'_>,
    rows: &mut [SampleRow],
    threshold: f64,
    every: u32,
    memory: usize,
) {
    let (segment, mut pages) = (piece.segment(), piece.pages());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&i| rows[i].popcount);
    let most = u32::try_from(memory / Folds::ROW)
        .unwrap_or(u32::MAX)
        .max(1 << 12);
    let present = segment.present();
    let mut from = 0;
    while from < present {
        let band = from..from.saturating_add(most).min(present);
        from = band.end;
        let folds = Folds::new(segment, band, &mut pages);
        let folds = folds.map_err(|e| pages.locate(e)).or_raise();
        let mut batch = Batch::default();
        for &i in &order {
            batch.push(&rows[i].words, rows[i].popcount, 0);
        }
        let measure = segment.geometry.measure;
        let mut joiner = Joiner::new(segment, &folds, measure.asked(threshold));
        let found = joiner.search(&mut pages, &mut batch, |asked, tid, similarity| {
            let asked = &mut rows[order[asked]];
            let other = TableRow::new(piece.table(), tid);
            let reaches = measure.for_user(similarity) >= threshold;
            if tid != 0 && other != asked.row && reaches {
                asked.similar += u64::from(every);
                asked.other = Some(other);
            }
        });
        found.map_err(|e| pages.locate(e)).or_raise();
    }
}
