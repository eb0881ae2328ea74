//! What a description tells of the order of rows.

use crate::keys::PageOrders;
use crate::rows::Geometry;

/// Counts the rows of a segment by popcount, and notes what its pages begin with. Rows come in their order.
pub struct RowCounts {
    counts: Vec<u32>,
    begins: PageOrders,
    capacity: u32,
    keys: bool,
    rows: u32,
}

impl RowCounts {
    /// No rows as yet.
    pub fn new(geometry: &Geometry) -> RowCounts {
        RowCounts {
            counts: vec![0; geometry.null_popcount() as usize + 1],
            begins: PageOrders::default(),
            capacity: geometry.capacity as u32,
            keys: geometry.keys,
            rows: 0,
        }
    }

    /// Adds a row by its [order](crate::SignatureRow::order), whose popcount fits the geometry.
    pub fn add(&mut self, order: u64) {
        self.counts[order as u32 as usize] += 1;
        if self.keys && self.rows.is_multiple_of(self.capacity) {
            self.begins.push(order);
        }
        self.rows += 1;
    }

    /// [`Segment::first`](crate::Segment::first) and [`Segment::begins`](crate::Segment::begins).
    pub fn finish(self) -> (Vec<u32>, PageOrders) {
        let mut sum = 0;
        let mut first = vec![0];
        first.extend(self.counts.iter().map(|count| {
            sum += count;
            sum
        }));
        (first, self.begins)
    }
}
