//! What reads pages of a sigfile index, and descriptions of segments.

#[path = "../../core/sigfile/tests/damaged/metapage.rs"]
mod metapage;

use base::ErrorKind;
use bloom_ident_fuzz::{fuzz, message};
use metapage::{full_metapage, full_page_of_merges};
use sigfile::merging;
use sigfile::meta::{Meta, Part, BLOCK, LEAST_WORDS};
use sigfile::posting::{PostingFiller, PostingPage, MAX_ROWS};
use sigfile::words::split;
use sigfile::{Geometry, Query, RowPage, RowPageMut, RowShape, Segment, SignatureRow};
use signature::filter::{Builder, Shape, View};

/// Words of a page here.
const PAGE_WORDS: usize = 64;

fn whole_words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

/// The geometry that the first two bytes choose (bits; 1 for thresholds and 2 for keys), and the rest as whole words.
fn geometry_and_words(bytes: &[u8], least: usize) -> (Geometry, Vec<u64>) {
    let chosen = bytes.first().map_or(0, |b| usize::from(*b)) % 4;
    let bits = [1, 65, 301, 20][chosen];
    let flags = bytes.get(1).copied().unwrap_or(0);
    let mut words = whole_words(bytes.get(2..).unwrap_or_default());
    words.resize(words.len().max(least), 0);
    let geometry = Geometry::new(PAGE_WORDS, bits, flags % 2 == 1, flags & 2 != 0);
    (geometry.unwrap(), words)
}

fn row_pages() -> Vec<Vec<u8>> {
    let mut seeds = vec![];
    let seeds_of = [(0, 0, 20), (1, 1, 5), (2, 0, 9), (3, 1, 3), (3, 0, 0)];
    for (chosen, flags, n) in seeds_of.into_iter().chain([(1, 2, 6), (2, 3, 4)]) {
        let (geometry, _) = geometry_and_words(&[chosen, flags], 0);
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
                threshold: f64::from(flags % 2) * 0.8,
                key: 1000 * i as u32,
                tid: i,
            };
            RowPageMut::new(geometry, &mut page).push(row);
        }
        let bytes = page.iter().flat_map(|word| word.to_le_bytes());
        seeds.push([chosen, flags].into_iter().chain(bytes).collect());
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
            key: 0,
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
        assert!(page.iter().count() <= page.len);
        Ok(format!("one: {}", page.len == 1))
    });
}

#[test]
fn segment_description() {
    use sigfile::write::{Content, PageStore, Writer};
    use sigfile::Pages;

    struct Pages64(Vec<Vec<u64>>);
    impl Pages for Pages64 {
        fn page(&mut self, number: u32) -> base::Result<&[u64]> {
            Ok(&self.0[number as usize])
        }
    }
    impl PageStore for Pages64 {
        fn append(&mut self, _: Content, words: &[u64]) {
            self.0.push(words.to_vec());
        }
    }
    let mut seeds = vec![];
    let seeds_of = [(0, 0, 3), (1, 1, 40), (2, 0, 900), (3, 0, 0)];
    for (chosen, flags, n) in seeds_of.into_iter().chain([(1, 3, 40), (2, 2, 300)]) {
        let (geometry, _) = geometry_and_words(&[chosen, flags], 0);
        let mut writer = Writer::new(geometry, Pages64(vec![]));
        for i in 0..n {
            let mut words = vec![0; geometry.stride];
            words[0] = 1;
            let row = SignatureRow {
                words: &words,
                popcount: 1,
                threshold: f64::from(flags % 2) * 0.5,
                key: i as u32 / 3,
                tid: i + 1,
            };
            writer.push(row).unwrap();
        }
        let (segment, _) = writer.finish(Some(2), 1 << 16).unwrap();
        let mut words = vec![];
        segment.encode(&mut words);
        seeds.push(
            [chosen, flags]
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
            let popcount = || segment.popcount_of(row);
            let none = segment.rows == 0 || geometry.keys;
            assert!(none || popcount() <= geometry.null_popcount());
            let rows = segment.rows_of(Some(row));
            assert!(rows.start <= rows.end && rows.end <= segment.rows);
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

/// Words of a page that is as good as full of what the longest metapage says; it takes inputs of 3 kB.
const METAPAGE_WORDS: usize = LEAST_WORDS + 10;

/// Metapages without the zeros at their ends: of an empty index, and of others from small to full.
fn metapages() -> Vec<Vec<u8>> {
    let full = full_metapage(METAPAGE_WORDS);
    let mut metas = vec![
        Meta::new(METAPAGE_WORDS, 7, false, false).unwrap(),
        Meta::new(METAPAGE_WORDS, 8, true, true).unwrap(),
    ];
    for (segments, lists, tails) in [
        (1, 0, [0, 0]),
        (2, 1, [0, 0]),
        (3, 0, [2, 0]),
        (0, 2, [3, 1]),
    ] {
        let mut meta = full.clone();
        meta.segments.truncate(segments);
        meta.free.truncate(lists);
        for (tail, n) in meta.tails.iter_mut().zip(tails) {
            tail.truncate(n);
        }
        metas.push(meta);
    }
    metas.push(full);
    let mut keyed = Meta::new(METAPAGE_WORDS, 9, false, false).unwrap();
    keyed
        .set_shape(Shape::of_records(1024, 7).unwrap().tag())
        .unwrap();
    keyed.lengthen(Part::Signatures, 3);
    metas.push(keyed);
    let bytes = |meta: Meta| {
        let mut words = vec![0; METAPAGE_WORDS];
        meta.encode(&mut words);
        let used = words
            .iter()
            .rposition(|&word| word != 0)
            .map_or(0, |at| at + 1);
        words[..used]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    };
    metas.into_iter().map(bytes).collect()
}

fn pages_of_merges() -> Vec<Vec<u8>> {
    let all = full_page_of_merges();
    let bytes = |n: usize| {
        let mut words = vec![0; merging::WORDS];
        merging::encode(&all[..n], &mut words);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    [0, 1, 2, all.len()].map(bytes).to_vec()
}

#[test]
fn page_of_merges() {
    fuzz("page_of_merges", true, &pages_of_merges(), |bytes| {
        let mut words = whole_words(bytes);
        words.resize(merging::WORDS, 0);
        let merges = message(merging::decode(&words))?;
        let mut again = vec![u64::MAX; merging::WORDS];
        merging::encode(&merges, &mut again);
        assert_eq!(merging::decode(&again).as_ref(), Ok(&merges));
        let geometry = Geometry::new(1019, 301, false, false).unwrap();
        for merge in &merges {
            assert!(merge.written <= merge.listed && merge.rows <= merge.expected_rows);
            assert!(merge.done() >= 0.0 && merge.due(u64::MAX) >= 0.0);
            if merge.fits(&geometry).is_ok() {
                assert!(geometry.pages(merge.rows) <= merge.written);
            }
        }
        Ok(format!("merges: {}", merges.len()))
    });
}

#[test]
fn metapage() {
    fuzz("metapage", true, &metapages(), |bytes| {
        let mut words = whole_words(bytes);
        words.resize(METAPAGE_WORDS, 0);
        let decoded = Meta::decode(&words);
        if let Err(error) = &decoded {
            // the extension says where it is, and what to do
            let expected = [
                ErrorKind::Corrupted,
                ErrorKind::NewerFormat,
                ErrorKind::OlderFormat,
            ];
            assert!(expected.contains(&error.kind()));
            let other = error.kind() != ErrorKind::Corrupted;
            assert!(error.detail_text().is_some() == other && error.hint_text().is_none());
        }
        let meta = message(decoded)?;
        let mut again = vec![u64::MAX; METAPAGE_WORDS];
        meta.encode(&mut again);
        assert_eq!(Meta::decode(&again).as_ref(), Ok(&meta));
        assert!(meta.holds_of(&meta));
        // nothing that is said is left out
        assert_eq!(again[..8], words[..8]);
        let halves = again.iter().zip(&words).flat_map(|(a, w)| {
            let (a, w) = (split(*a), split(*w));
            [(a.0, w.0), (a.1, w.1)]
        });
        halves.for_each(|(again, read)| assert!(again == read || again == 0));

        meta.check_size().expect("it was on a page");
        assert!(meta.segments.is_sorted_by_key(|s| s.generation));
        for s in &meta.segments {
            assert!(0 < s.generation && s.generation < meta.next_generation);
            assert!((1..=MAX_ROWS).contains(&s.rows) && s.dead <= s.rows);
            assert!(s.map != BLOCK && s.pages >= 2);
        }
        assert!(meta
            .free
            .iter()
            .all(|list| list.first != BLOCK && list.blocks > 0));
        assert!(meta.tails.iter().flatten().all(|&block| block != BLOCK));
        for part in Part::ALL {
            let geometry = meta.geometry(part);
            assert!(geometry.capacity > 0 && geometry.page_words == METAPAGE_WORDS);
            let listed = meta.segments_of(part).count() + meta.tail(part).len();
            assert!(listed == 0 || geometry.bits > 0);
        }
        match RowShape::of_tag(meta.shape()) {
            _ if meta.shape() == 0 => {}
            RowShape::Bits(shape) => assert_eq!(meta.shape(), RowShape::tag_of_bits(shape)),
            RowShape::Filter(shape) => {
                let mut empty = vec![0; Builder::size(shape)];
                Builder::new(shape, &mut empty).finish();
                let view = View::untrusted(&empty).expect("a signature of this shape");
                assert_eq!(view.tag(), meta.shape());
            }
        }
        Ok(format!(
            "shape: {}, thresholds: {}, keys: {}, segments: {}, free: {}, tail: {}",
            meta.shape() != 0,
            meta.thresholds(),
            meta.keys(),
            !meta.segments.is_empty(),
            !meta.free.is_empty(),
            !meta.tail(Part::Signatures).is_empty(),
        ))
    });
}
