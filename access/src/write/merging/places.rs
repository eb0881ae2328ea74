//! Where the rows of a merge go on, in all its sources: they are taken in order, and those that agree in it source by source.

use base::Result;
use sigfile::merging::RowPosition;
use sigfile::rows::order_of;

use super::sources::RowSources;

/// A place in each source.
pub struct RowPlaces {
    /// Where each source goes on, and what the row there is sorted by.
    next: Vec<(u32, Option<u64>)>,
    /// What the rows that are being taken are sorted by.
    order: u64,
    /// The source that they are taken from.
    source: usize,
    /// Where its rows of this order begin.
    begin: u32,
    /// Where the next row is in its source.
    pub place: u32,
}

impl RowPlaces {
    /// Those of a position that a merge has noted.
    ///
    /// Errors: a damaged page.
    pub fn new(sources: &mut RowSources<'_>, position: RowPosition) -> Result<RowPlaces> {
        let order = order_of(position.key, position.popcount);
        let source = position.source as usize;
        let (mut next, mut begin) = (Vec::new(), 0);
        for i in 0..sources.len() {
            // The sources before have given all their rows of this order.
            let from = if i < source { order + 1 } else { order };
            let mut place = sources.place(i, from)?;
            if i == source {
                begin = place;
                place += position.row;
            }
            next.push((place, sources.order(i, place)?));
        }
        Ok(RowPlaces {
            next,
            order,
            source,
            begin,
            place: begin + position.row,
        })
    }

    /// Goes on to the next row, at [`RowPlaces::place`]. `None` if there are no more.
    ///
    /// Errors: a damaged page.
    pub fn next(&mut self, sources: &mut RowSources<'_>) -> Result<Option<RowPosition>> {
        loop {
            if let Some(next) = self.next.get_mut(self.source) {
                if next.0 != self.place {
                    *next = (self.place, sources.order(self.source, self.place)?);
                }
                if next.1 == Some(self.order) {
                    return Ok(Some(self.position()));
                }
            }
            let rest = self.next.iter().enumerate();
            let here = rest.skip(self.source + 1);
            let same = here.clone().find(|(_, next)| next.1 == Some(self.order));
            let source = match same {
                Some((i, _)) => i,
                None => {
                    let orders = self.next.iter().filter_map(|next| next.1);
                    let Some(order) = orders.min() else {
                        return Ok(None);
                    };
                    self.order = order;
                    let first = |next: &(u32, Option<u64>)| next.1 == Some(order);
                    self.next.iter().position(first).expect("just found")
                }
            };
            self.source = source;
            self.begin = self.next[source].0;
            self.place = self.begin;
        }
    }

    /// The row at the place has been taken.
    pub fn pass(&mut self) {
        self.place += 1;
    }

    /// The place as a merge notes it.
    pub fn position(&self) -> RowPosition {
        RowPosition {
            popcount: self.order as u32,
            source: self.source as u32,
            row: self.place - self.begin,
            key: (self.order >> 32) as u32,
        }
    }
}
