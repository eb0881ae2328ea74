//! Pages as storage can leave them: every bit of small segments flipped, and pages torn, exchanged, blank or full of
//! noise. What reads them gives an error of kind `Corrupted` (or `NewerFormat`, `OlderFormat`), or an answer that the page allows; it
//! never panics, never asks for more memory than sound pages need, and copies nothing that can be seen to be wrong.

mod damaged;

use damaged::metapage::{full_metapage, full_page_of_merges};
use damaged::*;

use sigfile::check::check;
use sigfile::merging;
use sigfile::posting::PostingPage;
use sigfile::search::PageWork;
use sigfile::{Geometry, Meta, Query, RowPage, RowPageMut, Segment, SignatureRow};

#[test]
fn every_bit_of_row_pages() {
    for (bits, thresholds, n, missing) in [
        (20, false, 30, 0),
        (64, false, 10, 0),
        (65, true, 20, 0),
        (301, false, 12, 0),
        (1, false, 20, 20),
    ] {
        every_bit_of_rows(&index(bits, thresholds, n, missing));
    }
    for (bits, thresholds, n) in [(20, false, 30), (65, true, 20), (301, false, 12)] {
        every_bit_of_rows(&keyed_index(bits, thresholds, n));
    }
    for (bits, thresholds, n, empty) in [(20, false, 30, 2), (65, true, 20, 1), (192, false, 12, 0)]
    {
        every_bit_of_rows(&sketch_index(bits, thresholds, n, empty));
    }
}

fn every_bit_of_rows(index: &Index) {
    {
        let (most, mut pages) = (demands(index), index.pages.clone());
        for page in 0..index.segment.row_pages() {
            for bit in 0..64 * PAGE_WORDS {
                flip(&mut pages, page, bit);
                row_bit(index, &mut pages, page, bit, &most);
                flip(&mut pages, page, bit);
            }
        }
    }
}

/// A segment that is searched by its lists.
#[test]
fn every_bit_of_posting_pages() {
    // At the threshold a search reads lists.
    for (index, threshold) in [
        (index(40, false, 2100, 0), 0.9),
        (index(65, true, 2100, 0), 0.9),
        (sketch_index(40, false, 2100, 9), 0.98),
    ] {
        let bits = index.segment.geometry.bits;
        let (segment, mut pages) = (&index.segment, index.pages.clone());
        assert!(!segment.postings.is_empty());
        let most = demands(&index);
        let mut probed = 0;
        for postings in &segment.postings {
            // every bit of every page
            let last = postings.fences.len() as u32 - 1;
            for number in (0..=last).map(|n| postings.first_page + n) {
                let page = PostingPage::new(&index.pages.0[number as usize]).unwrap();
                let used = 16 + 2 * 2 + 5 * page.len;
                let listed = page.iter().nth(page.len / 2).unwrap().1;
                let asked = index.rows[listed as usize].0.clone();
                let intact = find(segment, &mut pages, &asked, threshold).unwrap();
                for bit in 0..64 * PAGE_WORDS {
                    let name =
                        |what: &str| format!("{what}, {bits} bits, page {number}, bit {bit}");
                    flip(&mut pages, number, bit);
                    let found = survives(&name("search"), most[0], || {
                        find(segment, &mut pages, &asked, threshold)
                    });
                    if let Some(found) = found {
                        // a row that is listed nowhere else is missed: only checks see that
                        assert!(
                            found.iter().all(|row| intact.contains(row)),
                            "{}",
                            name("found")
                        );
                        probed += usize::from(found != intact);
                    }
                    survives(&name("covering"), most[0], || {
                        find_covering(segment, &mut pages, &asked)
                    });
                    if bit % 151 == 0 {
                        survives(&name("join"), most[1], || {
                            join(
                                segment,
                                &mut pages,
                                listed / segment.geometry.capacity as u32,
                                0.8,
                            )
                        });
                    }
                    if bit % 149 == 0 && bit / 8 < used / 2 {
                        let sound =
                            survives(&name("check"), most[3], || check(segment, &mut pages));
                        assert!(sound.is_none(), "{}", name("not seen"));
                    }
                    flip(&mut pages, number, bit);
                }
            }
        }
        assert!(probed > 0, "no search has looked at a damaged list");
    }
}

/// Row pages of a segment that has lists: candidates are looked at one by one.
#[test]
fn bits_of_rows_that_lists_lead_to() {
    for index in [
        index(301, false, 2100, 0),
        sketch_index(192, false, 2100, 3),
    ] {
        bits_of_listed_rows(&index);
    }
}

fn bits_of_listed_rows(index: &Index) {
    let (segment, mut pages) = (&index.segment, index.pages.clone());
    let most = demands(index);
    for page in (0..segment.row_pages()).step_by(67) {
        let at = page as usize * segment.geometry.capacity + 2;
        let asked = &index.rows[at].0;
        let intact = find(segment, &mut pages, asked, 0.9).unwrap();
        for bit in 0..64 * PAGE_WORDS {
            flip(&mut pages, page, bit);
            let name = format!("search, page {page}, bit {bit}");
            if let Some(found) = survives(&name, most[0], || find(segment, &mut pages, asked, 0.9))
            {
                // only its own place can have changed, or a row that is not near any more is missed
                let new = found.iter().filter(|row| !intact.contains(row)).count();
                assert!(new <= 1, "{name}: {found:?}, not {intact:?}");
            }
            flip(&mut pages, page, bit);
        }
    }
}

/// Pages that are torn, exchanged, blank, or noise.
#[test]
fn whole_pages() {
    let mut random = Random(42);
    for (bits, thresholds, n) in [(65, true, 90), (301, false, 2100), (40, false, 2100)] {
        let index = index(bits, thresholds, n, 0);
        let (segment, most) = (&index.segment, demands(&index));
        let mut pages = index.pages.clone();
        let total = pages.0.len() as u64;
        for round in 0..90 {
            let (number, other) = (
                (random.next() % total) as u32,
                (random.next() % total) as usize,
            );
            let mut words = index.pages.0[number as usize].clone();
            let cut = 1 + (random.next() as usize) % PAGE_WORDS;
            match round % 6 {
                0 => words.fill(0),
                1 => words.fill(u64::MAX),
                2 => words
                    .iter_mut()
                    .for_each(|word| *word = random.next() << 32 ^ random.next()),
                3 => words.copy_from_slice(&index.pages.0[other]),
                4 => words[..cut.min(PAGE_WORDS)]
                    .copy_from_slice(&index.pages.0[other][..cut.min(PAGE_WORDS)]),
                _ => words[cut.min(PAGE_WORDS)..].fill(0),
            }
            let before = std::mem::replace(&mut pages.0[number as usize], words);
            let name = |what: &str| format!("{what}, {bits} bits, page {number}, round {round}");
            let asked = &index.rows[(random.next() as usize) % index.rows.len()].0;
            for threshold in [0.3, 0.9] {
                survives(&name("search"), most[0], || {
                    find(segment, &mut pages, asked, threshold)
                });
            }
            let row_page = number.min(segment.row_pages() - 1);
            survives(&name("join"), most[1], || {
                join(segment, &mut pages, row_page, 0.6)
            });
            survives(&name("check"), most[3], || check(segment, &mut pages));
            survives(&name("copy"), most[2], || copy(segment, &mut pages));
            pages.0[number as usize] = before;
        }
    }
}

/// Descriptions of segments: what is read of them is one that sound pages can be searched with.
#[test]
fn every_bit_of_descriptions() {
    for (bits, thresholds, n, missing) in
        [(65, true, 30, 0), (301, false, 2100, 0), (1, false, 20, 20)]
    {
        every_bit_of_a_description(&index(bits, thresholds, n, missing));
    }
    for (bits, thresholds, n) in [(65, true, 30), (301, false, 2100)] {
        every_bit_of_a_description(&keyed_index(bits, thresholds, n));
    }
}

fn every_bit_of_a_description(index: &Index) {
    {
        let (n, bits) = (index.rows.len(), index.segment.geometry.bits);
        let (mut pages, most) = (index.pages.clone(), demands(index));
        let geometry = index.segment.geometry;
        let mut words = Vec::new();
        index.segment.encode(&mut words);
        let asked = &index.rows[n / 2].0;
        for bit in 0..64 * words.len() {
            words[bit / 64] ^= 1 << (bit % 64);
            let name = |what: &str| format!("{what}, {bits} bits, bit {bit}");
            let decoded = survives(&name("decode"), most[0], || {
                Segment::decode(geometry, &mut &words[..])
            });
            // who reads it holds the number of pages against the blocks there are
            let decoded = decoded.filter(|s| s.pages() as usize == pages.0.len());
            if let Some(segment) = decoded {
                survives(&name("search"), most[0], || {
                    find(&segment, &mut pages, asked, 0.8)
                });
                survives(&name("search within"), most[0], || {
                    find_within(&segment, &mut pages, asked, 0.8, Some(1))
                });
                if n < 100 || bit % 101 == 0 {
                    survives(&name("join"), most[1], || {
                        join(&segment, &mut pages, 0, 0.8)
                    });
                    survives(&name("check"), most[3], || check(&segment, &mut pages));
                }
            }
            words[bit / 64] ^= 1 << (bit % 64);
        }
        for n in 0..words.len() {
            survives("decode", most[0], || {
                Segment::decode(geometry, &mut &words[..n])
            });
        }
    }
}

/// Pages that rows are added to: nothing says what ought to be there but the page itself.
#[test]
fn every_bit_of_growing_pages() {
    let plain = [(65, true, 12), (301, false, 9), (301, false, 3)];
    let plain = plain.map(|(bits, thresholds, n)| index(bits, thresholds, n, 0));
    let keyed = [keyed_index(65, true, 12), keyed_index(301, false, 3)];
    for index in plain.into_iter().chain(keyed) {
        let (bits, n) = (index.segment.geometry.bits, index.rows.len());
        let geometry = index.segment.geometry;
        let mut words = vec![0; PAGE_WORDS];
        for (bits, count, threshold, place, key) in &index.rows {
            let (count, threshold, place) = (*count, *threshold, *place);
            let row = SignatureRow {
                words: bits,
                popcount: count,
                threshold,
                key: *key,
                tid: place,
            };
            assert!(RowPageMut::new(geometry, &mut words).push(row));
        }
        let query = Query::new(&geometry, &index.rows[0].0, 0.3);
        for bit in 0..64 * PAGE_WORDS {
            words[bit / 64] ^= 1 << (bit % 64);
            let name = format!("tail, {bits} bits, bit {bit}");
            let read = |words: &[u64]| {
                let page = RowPage::growing(geometry, words)?;
                let mut found = 0;
                PageWork::Range(0, page.len())
                    .run(&page, None, &query, |i, _| found += page.row(i).tid)?;
                page.check()?;
                Ok(page.len())
            };
            let seen = survives(&name, 1 << 12, || read(&words)).is_none();
            let of_rows = (1..1 + n * geometry.stride).contains(&(bit / 64));
            assert!(seen || !of_rows, "{name}: not seen");
            let mut grown = words.clone();
            let (bits, count, ..) = &index.rows[0];
            let row = SignatureRow {
                words: bits,
                popcount: *count,
                threshold: 0.5,
                key: 0,
                tid: 7,
            };
            RowPageMut::new(geometry, &mut grown).push(row);
            words[bit / 64] ^= 1 << (bit % 64);
        }
    }
}

/// The metapage of an index that has as much of everything as it can.
#[test]
fn every_bit_of_a_metapage() {
    let meta = full_metapage(1019);
    meta.check_size().unwrap();
    let mut words = vec![0; 1019];
    meta.encode(&mut words);
    let (sound, most) = needs(|| Meta::decode(&words));
    assert_eq!(sound, meta);
    let mut accepted = 0;
    for bit in 0..64 * words.len() {
        words[bit / 64] ^= 1 << (bit % 64);
        let name = format!("metapage, bit {bit}");
        if let Some(other) = survives(&name, most, || Meta::decode(&words)) {
            assert_ne!(other, meta, "{name}");
            let mut again = vec![1; words.len()];
            other.encode(&mut again);
            assert_eq!(Meta::decode(&again).as_ref(), Ok(&other), "{name}");
            accepted += 1;
        }
        words[bit / 64] ^= 1 << (bit % 64);
    }
    assert!(accepted > 0);
    for n in 0..words.len() {
        survives("a short metapage", most, || Meta::decode(&words[..n]));
    }
}

/// The page of as many merges as there can be.
#[test]
fn every_bit_of_a_page_of_merges() {
    let merges = full_page_of_merges();
    let mut words = vec![0; 1019];
    merging::encode(&merges, &mut words);
    let (sound, most) = needs(|| merging::decode(&words));
    assert_eq!(sound, merges);
    let geometry = Geometry::new(1019, 301, false, false).unwrap();
    let mut accepted = 0;
    for bit in 0..64 * merging::WORDS {
        words[bit / 64] ^= 1 << (bit % 64);
        let name = format!("page of merges, bit {bit}");
        if let Some(other) = survives(&name, most, || merging::decode(&words)) {
            let mut again = vec![1; words.len()];
            merging::encode(&other, &mut again);
            assert_eq!(merging::decode(&again).as_ref(), Ok(&other), "{name}");
            for merge in &other {
                survives(&name, most, || merge.fits(&geometry));
            }
            accepted += 1;
        }
        words[bit / 64] ^= 1 << (bit % 64);
    }
    assert!(accepted > 0);
    for n in 0..words.len() {
        survives("a short page of merges", most, || {
            merging::decode(&words[..n])
        });
    }
}
