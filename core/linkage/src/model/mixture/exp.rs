//! The exponential function of four numbers at once, which is computed the same everywhere, unlike that of the C
//! library.

/// Numbers at once.
pub(super) const LANES: usize = 4;

/// Four numbers.
pub(super) type Lanes = [f64; LANES];

/// Below this the result is that of this, next to nothing.
const LEAST: f64 = -708.0;

/// 1.5 · 2^52: what is added to it becomes a whole number, in the lowest bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The logarithm of 2 in two parts, of which the first has few bits.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// Coefficients of the power series, from the lowest power on.
const SERIES: [f64; 13] = {
    let mut series = [1.0; 13];
    let mut power = 1;
    let mut factorial = 1.0;
    while power < 13 {
        factorial *= power as f64;
        series[power] = 1.0 / factorial;
        power += 1;
    }
    series
};

/// The greatest of each two.
#[inline(always)]
pub(super) fn greater(a: Lanes, b: Lanes) -> Lanes {
    let mut result = a;
    for (a, b) in result.iter_mut().zip(b) {
        *a = if b > *a { b } else { *a };
    }
    result
}

/// e to the power of each number; no number may be above 0. It is right to some units of the last place.
#[inline(always)]
pub(super) fn exp(numbers: Lanes) -> Lanes {
    let mut result = numbers;
    for number in &mut result {
        let x = if *number > LEAST { *number } else { LEAST };
        let shifted = x * std::f64::consts::LOG2_E + WHOLE;
        let whole = shifted - WHOLE;
        let rest = x - whole * LN_2[0] - whole * LN_2[1];
        // what does not depend on each other is computed side by side (G. Estrin, 1960)
        let (of_2, of_4) = (rest * rest, (rest * rest) * (rest * rest));
        let two = |power: usize| SERIES[power] + SERIES[power + 1] * rest;
        let four = |power: usize| two(power) + two(power + 2) * of_2;
        let sum = (four(0) + four(4) * of_4) + (four(8) + SERIES[12] * of_4) * (of_4 * of_4);
        let power = (shifted.to_bits() << 52).wrapping_add(1023 << 52);
        *number = sum * f64::from_bits(power);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn as_the_library_has_it() {
        for i in 0..=200_000 {
            let x = -f64::from(i) * 0.00354;
            for y in exp([x, x, 0.0, x]) {
                let expected = if y == 1.0 { 1.0 } else { x.exp() };
                assert!((y / expected - 1.0).abs() < 1e-15, "{x}: {y}");
            }
        }
        assert_eq!(exp([0.0; 4]), [1.0; 4]);
        assert!(exp([f64::NEG_INFINITY; 4])[0] < 1e-307);
    }
}
