//! A correction of a model's bits, learned from pairs of which somebody has said whether they are matches (J. Platt:
//! Probabilistic Outputs for Support Vector Machines, 1999).

use std::f64::consts::LN_2;
use std::ops::RangeInclusive;

/// Slopes of corrections.
pub const SLOPES: RangeInclusive<f64> = 1e-3..=1e3;

/// How the bits of a model are corrected: in a straight line, so that no two pairs change their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Bits that a bit of the model is worth, above 0.
    pub slope: f64,
    /// Bits of a pair of which the model says 0.
    pub shift: f64,
    /// The answers that it was learned from.
    pub answers: u32,
}

/// A pair with its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Bits of the model as it was fitted.
    pub bits: f64,
    /// Whether it is a match.
    pub is_match: bool,
}

/// One answer in so many is a mistake, however many bits the pair has.
const MISTAKES: f64 = 0.005;

/// Standard deviations of what is believed before: of the logarithm of the slope, and of the shift in natural logarithms.
/// A hundred answers correct a model that is wrong with twice as wide ones as well, and worsen one that is right by more.
const SLOPE_SPREAD: f64 = 0.4;
const SHIFT_SPREAD: f64 = 1.5;

const MOST_ROUNDS: usize = 100;

/// Slopes from which the most probable one is looked for: where answers are mistakes now and then, there may be several
/// that are more probable than those near them.
const STARTS: [f64; 4] = [1.0, 0.3, 0.1, 0.03];

impl Calibration {
    /// The corrected bits.
    pub fn of(&self, bits: f64) -> f64 {
        self.slope * bits + self.shift
    }

    /// The bits that are corrected to these.
    pub fn before(&self, bits: f64) -> f64 {
        (bits - self.shift) / self.slope
    }

    /// The most probable correction, whatever the order of the answers is. `turn` is called again and again.
    pub fn learn(mut answers: Vec<Answer>, mut turn: impl FnMut()) -> Calibration {
        let order = |x: &Answer, y: &Answer| x.bits.total_cmp(&y.bits);
        answers.sort_unstable_by(|x, y| order(x, y).then(x.is_match.cmp(&y.is_match)));
        let found = STARTS.map(|slope| climb([slope.ln(), 0.0], &answers, &mut turn));
        let mut best = found[0];
        for other in &found[1..] {
            if other.1 > best.1 + 1e-9 {
                best = *other;
            }
        }
        let [log_slope, shift] = best.0;
        Calibration {
            slope: log_slope.exp().clamp(*SLOPES.start(), *SLOPES.end()),
            shift: shift / LN_2,
            answers: answers.len() as u32,
        }
    }
}

/// From a logarithm of the slope and a shift to those that are the most probable near them, with the logarithm of how
/// probable they are: Newton's method, damped where it overshoots.
fn climb(mut at: [f64; 2], answers: &[Answer], turn: &mut impl FnMut()) -> ([f64; 2], f64) {
    let mut damping = 1e-3;
    let mut now = Posterior::at(at, answers);
    for _ in 0..MOST_ROUNDS {
        turn();
        let [[a, b], [_, d]] = now.curvature;
        let (a, d) = (a + damping * (1.0 + a), d + damping * (1.0 + d));
        let determinant = a * d - b * b;
        let [x, y] = now.slope;
        let step = [(d * x - b * y) / determinant, (a * y - b * x) / determinant];
        let next = [
            at[0] + step[0].clamp(-1.0, 1.0),
            at[1] + step[1].clamp(-3.0, 3.0),
        ];
        let then = Posterior::at(next, answers);
        if then.log < now.log {
            damping *= 8.0;
            if damping > 1e9 {
                break;
            }
            continue;
        }
        let is_done = then.log - now.log < 1e-12;
        (at, now) = (next, then);
        damping = (damping / 4.0).max(1e-9);
        if is_done {
            break;
        }
    }
    (at, now.log)
}

/// The logarithm of how probable a correction is after the answers, its slope, and its curvature, negated.
struct Posterior {
    log: f64,
    slope: [f64; 2],
    curvature: [[f64; 2]; 2],
}

impl Posterior {
    fn at([log_slope, shift]: [f64; 2], answers: &[Answer]) -> Posterior {
        let of_spread = |x: f64, spread: f64| (x / spread, 1.0 / (spread * spread));
        let (u, a) = of_spread(log_slope, SLOPE_SPREAD);
        let (v, d) = of_spread(shift, SHIFT_SPREAD);
        let mut of = Posterior {
            log: -(u * u + v * v) / 2.0,
            slope: [-u / SLOPE_SPREAD, -v / SHIFT_SPREAD],
            curvature: [[a, 0.0], [0.0, d]],
        };
        for answer in answers {
            let scaled = log_slope.exp() * answer.bits * LN_2;
            let p = 1.0 / (1.0 + (-scaled - shift).exp());
            let right = match answer.is_match {
                true => p,
                false => 1.0 - p,
            };
            let with_mistakes = MISTAKES + (1.0 - 2.0 * MISTAKES) * right;
            of.log += with_mistakes.ln();
            // by the logarithm of the odds
            let sign = if answer.is_match { 1.0 } else { -1.0 };
            let slope = sign * (1.0 - 2.0 * MISTAKES) * p * (1.0 - p) / with_mistakes;
            let direction = [scaled, 1.0];
            for i in 0..2 {
                of.slope[i] += slope * direction[i];
                for j in 0..2 {
                    // that of answers without mistakes, which is never negative
                    of.curvature[i][j] += p * (1.0 - p) * direction[i] * direction[j];
                }
            }
        }
        of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers as they come if this many in a hundred are right at each of these bits.
    fn answers(shares: &[(f64, u32)]) -> Vec<Answer> {
        let of = |&(bits, right): &(f64, u32)| {
            (0..100).map(move |i| Answer {
                bits,
                is_match: i < right,
            })
        };
        shares.iter().flat_map(of).collect()
    }

    fn learn(answers: &[Answer]) -> Calibration {
        Calibration::learn(answers.to_vec(), || ())
    }

    #[test]
    fn bits_are_too_many() {
        // half of what the model says, and two bits less
        let of = |bits: f64| {
            let right = 1.0 / (1.0 + (2.0 - bits / 2.0).exp2());
            (bits, (100.0 * right).round() as u32)
        };
        let shares: Vec<_> = (0..12).map(|i| of(f64::from(i))).collect();
        let learned = learn(&answers(&shares));
        assert!((learned.slope - 0.5).abs() < 0.03, "{learned:?}");
        assert!((learned.shift + 2.0).abs() < 0.2, "{learned:?}");
        assert_eq!(learned.answers, 1200);
        assert!((learned.before(learned.of(7.0)) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn bits_are_right() {
        let of = |bits: f64| (bits, (100.0 / (1.0 + (-bits).exp2())).round() as u32);
        let shares: Vec<_> = (-3..7).map(|i| of(f64::from(i))).collect();
        let learned = learn(&answers(&shares));
        assert!((learned.slope - 1.0).abs() < 0.05, "{learned:?}");
        assert!(learned.shift.abs() < 0.1, "{learned:?}");
    }

    /// Whatever the answers are, no two pairs change their order, and one mistake does not turn it all.
    #[test]
    fn answers_that_say_little() {
        let upside_down = answers(&[(-10.0, 90), (10.0, 10)]);
        assert!(learn(&upside_down).slope > 0.0);
        let mut most_right = answers(&[(-4.0, 6), (0.0, 50), (4.0, 94)]);
        most_right.push(Answer {
            bits: 40.0,
            is_match: false,
        });
        let learned = learn(&most_right);
        assert!((0.85..1.15).contains(&learned.slope), "{learned:?}");
        // far from what is believed before, and in any order
        let mut wrong = answers(&[(-30.0, 40), (30.0, 60)]);
        let learned = learn(&wrong);
        assert!(learned.slope < 0.1, "{learned:?}");
        wrong.reverse();
        assert_eq!(learn(&wrong), learned);
        let none = learn(&[]);
        assert_eq!((none.slope, none.shift), (1.0, 0.0));
    }
}
