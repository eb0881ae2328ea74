//! Numbers of telephones: up to sixteen digits, four bits each.

/// The last sixteen digits of a text that has five or more, and how many there are (sixteen at the most).
pub(super) fn digits_of(text: &str) -> Option<(u64, u32)> {
    let (mut digits, mut n) = (0u64, 0u32);
    for byte in text.bytes().filter(u8::is_ascii_digit) {
        digits = digits << 4 | u64::from(byte - b'0');
        n += 1;
    }
    (n >= 5).then_some((digits, n.min(16)))
}

/// How many digits differ of two rows of them, four bits each, and whether those are two neighbours that are exchanged.
#[inline]
pub(super) fn differing(a: u64, b: u64) -> (u32, bool) {
    let changed = a ^ b;
    // one bit for each digit that differs
    let mut differs = changed | changed >> 2;
    differs = (differs | differs >> 1) & 0x1111_1111_1111_1111;
    let wrong = differs.count_ones();
    if wrong != 2 {
        return (wrong, false);
    }
    let low = differs.trailing_zeros();
    let pair = |digits: u64| (digits >> low & 15, digits >> low >> 4 & 15);
    let ((a0, a1), (b0, b1)) = (pair(a), pair(b));
    (wrong, differs >> low == 0x11 && (a0, a1) == (b1, b0))
}

/// How far two different numbers agree, best first, from 0 to 5: equal but for the beginning; one digit or two
/// neighbours wrong; two digits wrong; the same last four; the same first four; else.
pub(super) fn compare((a, a_len): (u64, u32), (b, b_len): (u64, u32)) -> u8 {
    let tail = (a ^ b).trailing_zeros() / 4;
    let shorter = a_len.min(b_len);
    // a country's or a town's number is written or left out, with a zero before it or not
    if tail >= 7 && tail + 1 >= shorter || tail >= 9 {
        return 0;
    }
    if a_len == b_len {
        match differing(a, b) {
            (1, _) | (2, true) => return 1,
            (2, false) => return 2,
            _ => (),
        }
    }
    let first = |digits: u64, len: u32| digits >> (4 * len.saturating_sub(4)) & 0xffff;
    if tail >= 4 {
        3
    } else if first(a, a_len) == first(b, b_len) {
        4
    } else {
        5
    }
}

#[cfg(test)]
mod tests {
    use super::{compare, digits_of};

    #[test]
    fn telephones_have_levels() {
        let level = |a, b| compare(digits_of(a).unwrap(), digits_of(b).unwrap());
        let cases = [
            ("+49 30 1234567", "030 1234567", 0),
            ("030 1234567", "1234567", 0),
            ("030 1234567", "030 1234576", 1),
            ("030 1234567", "030 1234568", 1),
            ("030 1234567", "030 2234568", 2),
            ("030 1234567", "040 9984567", 3),
            ("030 1234567", "030 1987650", 4),
            ("030 1234567", "089 7654321", 5),
        ];
        for (a, b, is) in cases {
            assert_eq!((level(a, b), level(b, a)), (is, is), "{a} {b}");
        }
        assert_eq!(digits_of("1234"), None);
    }
}
