//! Inputs that are known, changed in a few places, and some that are noise.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Longest input.
const MOST: usize = 4096;

#[derive(Clone, Debug)]
enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    /// A little-endian number of 2, 4 or 8 bytes.
    Number(Index, u64, usize),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// What stands at the first place, up to so many bytes, is copied to the second.
    Copy(Index, Index, usize),
    /// The rest is that of another input.
    Splice(Index, Index),
}

/// One of `known`, changed up to eight times, or noise.
pub fn inputs(known: &[Vec<u8>]) -> BoxedStrategy<Vec<u8>> {
    let noise = vec(any::<u8>(), 0..200);
    if known.is_empty() {
        return noise.boxed();
    }
    let known = known.to_vec();
    let changed = (any::<Index>(), vec(change(), 0..8)).prop_map(move |(which, changes)| {
        let mut bytes = which.get(&known).clone();
        for change in changes {
            apply(&mut bytes, change, &known);
            bytes.truncate(MOST);
        }
        bytes
    });
    prop_oneof![1 => noise, 15 => changed].boxed()
}

fn change() -> impl Strategy<Value = Change> {
    let numbers = prop_oneof![
        prop::sample::select(vec![
            0,
            1,
            0x7f,
            0xff,
            0x7fff,
            0xffff,
            1 << 31,
            u64::from(u32::MAX),
            1 << 63,
            u64::MAX
        ]),
        0..300u64,
        any::<f64>().prop_map(f64::to_bits),
        prop::sample::select(vec![0.0, 0.5, 1.0, 2.0, -1.0]).prop_map(f64::to_bits),
    ];
    // what text formats are made of
    let words = prop_oneof![
        vec(any::<u8>(), 1..9),
        "[0-9a-f]{1,8}".prop_map(String::into_bytes),
        "[ (),:;.=/'\\-+]{1,3}".prop_map(String::into_bytes),
        "\\PC{1,3}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "DD",
            "MM",
            "YYYY",
            "Month",
            "rules=",
            "key=",
            "family=",
            "0.5 ",
            "NaN",
            "inf",
            "1e9",
            "\0",
            "flag",
            "\0message\0",
            "\0review\0",
            "\0skipped\0",
            "\0blocklist\0"
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
    ];
    prop_oneof![
        (any::<Index>(), 0..8u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, to)| Change::Set(at, to)),
        (
            any::<Index>(),
            numbers,
            prop::sample::select(vec![2usize, 4, 8])
        )
            .prop_map(|(at, n, size)| Change::Number(at, n, size)),
        (any::<Index>(), words).prop_map(|(at, word)| Change::Insert(at, word)),
        (any::<Index>(), 1..20usize).prop_map(|(at, n)| Change::Remove(at, n)),
        (any::<Index>(), any::<Index>(), 1..20usize)
            .prop_map(|(from, to, n)| Change::Copy(from, to, n)),
        (any::<Index>(), any::<Index>()).prop_map(|(other, at)| Change::Splice(other, at)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: Change, known: &[Vec<u8>]) {
    let len = bytes.len();
    let place = |at: &Index| at.index(len.max(1));
    match change {
        Change::Insert(at, word) => {
            let at = at.index(len + 1);
            bytes.splice(at..at, word);
        }
        Change::Splice(other, at) => {
            let other = other.get(known);
            let at = place(&at);
            bytes.truncate(at);
            bytes.extend(other.iter().skip(at));
        }
        _ if bytes.is_empty() => (),
        Change::Flip(at, bit) => bytes[place(&at)] ^= 1 << bit,
        Change::Set(at, to) => bytes[place(&at)] = to,
        Change::Number(at, n, size) => {
            // where numbers stand most of the time
            let at = place(&at) / size * size;
            let number = n.to_le_bytes();
            let to = bytes[at..].iter_mut().zip(&number[..size]);
            to.for_each(|(byte, new)| *byte = *new);
        }
        Change::Remove(at, n) => {
            let at = place(&at);
            bytes.drain(at..(at + n).min(len));
        }
        Change::Copy(from, to, n) => {
            let from = place(&from);
            let part = bytes[from..(from + n).min(len)].to_vec();
            let to = place(&to);
            bytes.splice(to..to, part);
        }
    }
}
