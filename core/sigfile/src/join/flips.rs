//! The values near a value.

/// The numbers of `width` bits of which at most `radius` are set.
pub(super) struct Flips {
    width: u32,
    radius: u32,
    next: Option<u32>,
}

impl Flips {
    pub(super) fn new(width: u32, radius: u32) -> Flips {
        Flips {
            width,
            radius: radius.min(width),
            next: Some(0),
        }
    }

    pub(super) fn next(&mut self) -> Option<u32> {
        let this = self.next?;
        let set = this.count_ones();
        // the next number with as many bits set (R. W. Gosper, in HAKMEM, 1972, item 175), or the least with one more
        let low = this & this.wrapping_neg();
        let more = u64::from(this) + u64::from(low);
        let following = match this {
            0 => None,
            _ => Some(more | ((u64::from(this) ^ more) / u64::from(low)) >> 2),
        };
        self.next = match following.filter(|&n| n < 1 << self.width) {
            Some(n) => Some(n as u32),
            None if set < self.radius => Some(((1u64 << (set + 1)) - 1) as u32),
            None => None,
        };
        Some(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_all_numbers_with_few_bits() {
        for width in [1, 5, 13, 32] {
            for radius in 0..=3 {
                let mut flips = Flips::new(width, radius);
                let mut found: Vec<u32> = std::iter::from_fn(|| flips.next()).collect();
                let n = found.len();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), n);
                let expected: u64 = (0..=u64::from(radius.min(width)))
                    .map(|k| (0..k).fold(1, |c, i| c * (u64::from(width) - i) / (i + 1)))
                    .sum();
                assert_eq!(n as u64, expected);
                assert!(found
                    .iter()
                    .all(|f| u64::from(*f) < 1 << width && f.count_ones() <= radius));
            }
        }
    }
}
