//! Check digits of card and identity numbers.

/// True when the digits of `number` pass the Luhn test (ISO/IEC 7812-1): every second digit from
/// the right doubled, 9 taken off what exceeds 9, the sum a multiple of 10. Spaces and hyphens
/// group digits and are passed over; anything else, or no digit at all, is no such number.
pub fn luhn(number: &str) -> bool {
    let (mut sum, mut digits) = (0u64, 0u64);
    for byte in number.bytes().rev() {
        let digit = match byte {
            b'0'..=b'9' => u64::from(byte - b'0'),
            b' ' | b'-' => continue,
            _ => return false,
        };
        sum += match (digits % 2, digit) {
            (0, d) => d,
            (_, d) if d > 4 => 2 * d - 9,
            (_, d) => 2 * d,
        };
        digits += 1;
    }
    digits > 0 && sum % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::luhn;

    #[test]
    fn what_is_no_number_is_not_valid() {
        assert!(!luhn(""));
        assert!(!luhn(" - "));
        assert!(!luhn("4111x1111"));
        assert!(!luhn("４１１１"));
    }

    #[test]
    fn every_single_digit_error_is_found() {
        let good = b"79927398713";
        for i in 0..good.len() {
            for d in b'0'..=b'9' {
                let mut s = good.to_vec();
                s[i] = d;
                assert_eq!(luhn(std::str::from_utf8(&s).unwrap()), d == good[i]);
            }
        }
    }
}
