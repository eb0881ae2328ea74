//! What a merge takes is there, and no other merge takes it.

use sigfile::merging::SegmentMerge;
use sigfile::{Meta, Part, SegmentEntry};

/// An index with eight segments, every other one of each part, and three pages of each tail.
fn index() -> Meta {
    let mut meta = Meta::new(1024, 1, true, false).unwrap();
    let segment = |n: u32| SegmentEntry {
        generation: n.into(),
        rows: 1000,
        dead: 40,
        map: 7 * n,
        pages: 6,
        part: Part::ALL[n as usize % 2],
    };
    meta.segments = (1..=8).map(segment).collect();
    meta.tails = [vec![100, 101, 102], vec![103, 104, 105]];
    meta
}

/// A merge of these segments and so many pages of the tail.
fn merge(part: Part, segments: &[u64], tail: usize) -> SegmentMerge {
    SegmentMerge {
        part,
        segments: segments.to_vec(),
        tail: tail as u32,
        ..SegmentMerge::default()
    }
}

#[test]
fn takes_what_is_there_and_free() {
    let meta = index();
    let [part, other] = Part::ALL;
    let of = |part| -> Vec<u64> { meta.segments_of(part).map(|s| s.generation).collect() };
    let (here, elsewhere) = (of(part), of(other));
    let all = meta.tail(part).len();
    let lacks = |segments: &[u64], tail, others: &[SegmentMerge]| {
        merge(part, segments, tail).lacks(&meta, others)
    };
    assert_eq!(lacks(&here[..3], all, &[]), None);
    let gone = Some("a merge takes a segment that is not there");
    assert_eq!(lacks(&[here[0], 999], 0, &[]), gone);
    assert_eq!(lacks(&elsewhere[..1], 0, &[]), gone);
    let others = [merge(part, &here[..2], 0), merge(other, &elsewhere[..1], 1)];
    assert_eq!(lacks(&here[2..4], all, &others), None);
    let twice = Some("two merges take one segment");
    assert_eq!(lacks(&here[1..4], 0, &others), twice);
    let more = Some("a merge takes more of a tail than there is");
    assert_eq!(lacks(&[], all + 1, &others), more);
    let sealing = [merge(part, &[], 1)];
    assert_eq!(lacks(&[], 1, &sealing), Some("two merges take one tail"));
    assert_eq!(lacks(&here[..1], 0, &sealing), None);
}
