//! What reads pages of a sigfile index, and descriptions of segments.

use bloom_ident_core::sigfile::posting::{PostingFiller, PostingPage};
use bloom_ident_core::sigfile::{Geometry, Query, RowPage, RowPageMut, Segment, SignatureRow};
use bloom_ident_fuzz::{fuzz, message};

/// Words of a page here.
const PAGE_WORDS: usize = 64;

/// The geometry that the first two bytes choose, and the rest as whole words.
fn geometry_and_words(bytes: &[u8], least: usize) -> (Geometry, Vec<u64>) {
    let chosen = bytes.first().map_or(0, |b| usize::from(*b)) % 4;
    let bits = [1, 65, 301, 20][chosen];
    let thresholds = bytes.get(1).is_some_and(|b| b % 2 == 1);
    let rest = bytes.get(2..).unwrap_or_default();
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    let mut words: Vec<u64> = rest.chunks(8).map(word).collect();
    words.resize(words.len().max(least), 0);
    (Geometry::new(PAGE_WORDS, bits, thresholds).unwrap(), words)
}

fn row_pages() -> Vec<Vec<u8>> {
    let mut seeds = vec![];
    for (chosen, thresholds, n) in [(0, 0, 20), (1, 1, 5), (2, 0, 9), (3, 1, 3), (3, 0, 0)] {
        let (geometry, _) = geometry_and_words(&[chosen, thresholds], 0);
        let mut page = vec![0; PAGE_WORDS];
        for i in 0..n {
            let mut words = vec![0; geometry.stride];
            words[0] = i & ((1 << geometry.bits.min(4)) - 1);
            let row = SignatureRow {
                words: &words,
                popcount: if i == 7 {
                    geometry.null_popcount()
                } else {
                    words[0].count_ones()
                },
                threshold: f64::from(thresholds) * 0.8,
                tid: i,
            };
            RowPageMut::new(geometry, &mut page).push(row);
        }
        let bytes = page.iter().flat_map(|word| word.to_le_bytes());
        seeds.push([chosen, thresholds].into_iter().chain(bytes).collect());
    }
    seeds
}

#[test]
fn row_page() {
    fuzz("row_page", true, &row_pages(), |bytes| {
        let (geometry, mut words) = geometry_and_words(bytes, PAGE_WORDS);
        words.truncate(PAGE_WORDS);
        let page = message(RowPage::new(geometry, &words))?;
        let asked = vec![1; geometry.stride];
        let query = Query::new(&geometry, &asked, 0.3);
        query.scan(&page, 0, page.len(), |i, common| {
            assert!(
                i < page.len()
                    && common
                        <= page
                            .row(i)
                            .words
                            .iter()
                            .map(|w| w.count_ones())
                            .sum::<u32>()
            );
        });
        let checked = message(page.check());
        for i in 0..page.len() {
            assert!(checked.is_err() || page.checked(i).is_ok());
        }
        assert!(page.checked(page.len()).is_err());
        checked.map(|()| format!("full: {}, empty: {}", page.is_full(), page.is_empty()))
    });
}

/// Pages of the tail: rows are added to them.
#[test]
fn growing_page() {
    fuzz("growing_page", true, &row_pages(), |bytes| {
        let (geometry, mut words) = geometry_and_words(bytes, PAGE_WORDS);
        words.truncate(PAGE_WORDS);
        let len = message(RowPage::growing(geometry, &words))?.len();
        let row = SignatureRow {
            words: &vec![1; geometry.stride],
            popcount: geometry.stride as u32,
            threshold: 0.5,
            tid: 7,
        };
        let pushed = RowPageMut::new(geometry, &mut words).push(row);
        let page = message(RowPage::growing(geometry, &words))?;
        assert_eq!(page.len(), len + usize::from(pushed));
        assert!(!pushed || page.tid(len) == 7);
        Ok(format!("pushed: {pushed}"))
    });
}

#[test]
fn posting_page() {
    let mut seeds = vec![];
    for (width, rows) in [(9, 40), (16, 60), (1, 10)] {
        let mut filler = PostingFiller::new(PAGE_WORDS, width, rows);
        for row in 0..rows {
            filler.push(row / 3 % (1 << width), row);
        }
        let mut words = vec![0; PAGE_WORDS];
        filler.finish(&mut words);
        seeds.push(
            [0, 0]
                .into_iter()
                .chain(words.iter().flat_map(|w| w.to_le_bytes()))
                .collect(),
        );
    }
    fuzz("posting_page", true, &seeds, |bytes| {
        let (_, mut words) = geometry_and_words(bytes, PAGE_WORDS);
        words.truncate(PAGE_WORDS);
        let page = message(PostingPage::new(&words))?;
        let checked = message(page.check());
        for value in (0..40).chain([page.base() as u32, u32::MAX]) {
            let Ok(list) = page.find(value) else { continue };
            assert_eq!(list.rows().count(), list.len());
            assert!(list.count_within(3..30) <= list.len());
            list.within(3..30).rows().for_each(drop);
            list.about(3..30).rows().for_each(drop);
        }
        checked?;
        assert!(page.iter().count() <= page.len());
        Ok(format!("one: {}", page.len() == 1))
    });
}

#[test]
fn segment_description() {
    use bloom_ident_core::sigfile::write::{Content, PageStore, Writer};
    use bloom_ident_core::sigfile::Pages;

    struct Pages64(Vec<Vec<u64>>);
    impl Pages for Pages64 {
        fn page(&mut self, number: u32) -> bloom_ident_core::Result<&[u64]> {
            Ok(&self.0[number as usize])
        }
    }
    impl PageStore for Pages64 {
        fn append(&mut self, _: Content, words: &[u64]) {
            self.0.push(words.to_vec());
        }
    }
    let mut seeds = vec![];
    for (chosen, thresholds, n) in [(0, 0, 3), (1, 1, 40), (2, 0, 900), (3, 0, 0)] {
        let (geometry, _) = geometry_and_words(&[chosen, thresholds], 0);
        let mut writer = Writer::new(geometry, Pages64(vec![]));
        for i in 0..n {
            let mut words = vec![0; geometry.stride];
            words[0] = 1;
            let row = SignatureRow {
                words: &words,
                popcount: 1,
                threshold: f64::from(thresholds) * 0.5,
                tid: i + 1,
            };
            writer.push(row).unwrap();
        }
        let (segment, _) = writer.finish(Some(2), 1 << 16).unwrap();
        let mut words = vec![];
        segment.encode(&mut words);
        seeds.push(
            [chosen, thresholds]
                .into_iter()
                .chain(words.iter().flat_map(|w| w.to_le_bytes()))
                .collect(),
        );
    }
    fuzz("segment_description", true, &seeds, |bytes| {
        let (geometry, words) = geometry_and_words(bytes, 0);
        let mut rest = &words[..];
        let segment = message(Segment::decode(geometry, &mut rest))?;
        let mut again = vec![];
        segment.encode(&mut again);
        let decoded = message(Segment::decode(geometry, &mut &again[..]))?;
        assert_eq!(decoded, segment);
        assert!(
            segment.size() <= 64 * words.len() + 4096,
            "{} bytes",
            segment.size()
        );
        assert!(segment.present() <= segment.rows && segment.row_pages() <= segment.pages());
        for popcount in [0, 1, geometry.bits, geometry.null_popcount()] {
            let range = segment.range(0, popcount.min(geometry.bits));
            assert!(range.start <= range.end && range.end <= segment.rows);
        }
        for row in [0, segment.rows / 2, segment.rows.saturating_sub(1)] {
            assert!(segment.rows == 0 || segment.popcount_of(row) <= geometry.null_popcount());
        }
        for postings in &segment.postings {
            let pages = postings.pages(postings.fences[0]);
            assert!(pages.end <= segment.pages());
        }
        Ok(format!(
            "lists: {}, rows: {}",
            !segment.postings.is_empty(),
            segment.rows > 0
        ))
    });
}
