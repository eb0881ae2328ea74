//! Codes: up to fifteen symbols in two words.

/// Symbols of a code, the first in the lowest byte, and how many there are in the highest byte. Longer codes keep their
/// first fifteen symbols and their length, so that two of them that differ behind are never one symbol apart.
pub(super) fn pack(normal: &str) -> [u64; 2] {
    let mut bytes = [0u8; 16];
    let kept = normal.len().min(15);
    bytes[..kept].copy_from_slice(&normal.as_bytes()[..kept]);
    bytes[15] = normal.len().min(255) as u8;
    let all = u128::from_le_bytes(bytes);
    [all as u64, (all >> 64) as u64]
}

/// Whether one symbol is wrong, missing or too many, or two neighbours are exchanged. The codes are not equal.
pub(super) fn one_off(a: [u64; 2], b: [u64; 2]) -> bool {
    let bytes = |code: [u64; 2]| (u128::from(code[0]) | u128::from(code[1]) << 64).to_le_bytes();
    let (a, b) = (bytes(a), bytes(b));
    let (long, short) = if a[15] >= b[15] { (a, b) } else { (b, a) };
    if long[15] > 15 || long[15] - short[15] > 1 {
        return false;
    }
    let (long, short) = (&long[..long[15].into()], &short[..short[15].into()]);
    let same = long.iter().zip(short).take_while(|(x, y)| x == y).count();
    let (long, short) = (&long[same..], &short[same..]);
    if long.len() > short.len() {
        return long[1..] == *short;
    }
    match (long, short) {
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([a, b, rest @ ..], [c, d, other @ ..]) => (a, b) == (d, c) && rest == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{one_off, pack};

    #[test]
    fn one_symbol_is_found() {
        let near = [
            ("a12", "a13"),
            ("a12", "a21"),
            ("a12", "a1"),
            ("12", "a12"),
            ("x", "y"),
        ];
        let far = [
            ("a12", "b13"),
            ("a12", "a"),
            ("a12", "2a1"),
            ("0123456789abcdef", "0123456789abcdeg"),
        ];
        let is = |(a, b): &(&str, &str)| {
            let (a, b) = (pack(a), pack(b));
            assert_eq!(one_off(a, b), one_off(b, a));
            one_off(a, b)
        };
        assert!(near.iter().all(is));
        assert!(!far.iter().any(is));
    }
}
