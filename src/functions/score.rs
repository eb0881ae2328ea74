//! Comparisons of a `bloom_score` with numbers. They mean what `float8` means; the planner rewrites
//! them (see `planner`), and these run where it does not.

use pgrx::{pg_extern, AnyNumeric};

/// As the cast to `float8` gives it.
trait Number {
    fn float8(self) -> f64;
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn float8(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}
number!(f64, f32, i16, i32);

impl Number for i64 {
    fn float8(self) -> f64 {
        self as f64
    }
}

impl Number for AnyNumeric {
    fn float8(self) -> f64 {
        // beyond the range of float8 the cast is an error, too
        f64::try_from(self).unwrap_or_else(|e| {
            pgrx::error!("{e}");
        })
    }
}

/// NaN is greater than every other number, and equal to itself, as for `float8`.
fn greater(a: f64, b: f64) -> bool {
    a > b || a.is_nan() && !b.is_nan()
}

fn at_least(a: f64, b: f64) -> bool {
    !greater(b, a)
}

macro_rules! comparisons {
    ($($t:ty: $gt:ident $ge:ident $lt:ident $le:ident;)*) => {$(
        #[pg_extern(sql = false)]
        fn $gt(score: f64, number: $t) -> bool {
            greater(score, number.float8())
        }

        #[pg_extern(sql = false)]
        fn $ge(score: f64, number: $t) -> bool {
            at_least(score, number.float8())
        }

        /// The number on the left.
        #[pg_extern(sql = false)]
        fn $lt(number: $t, score: f64) -> bool {
            greater(score, number.float8())
        }

        /// The number on the left.
        #[pg_extern(sql = false)]
        fn $le(number: $t, score: f64) -> bool {
            at_least(score, number.float8())
        }
    )*};
}
comparisons! {
    f64: score_gt_float8 score_ge_float8 float8_lt_score float8_le_score;
    f32: score_gt_float4 score_ge_float4 float4_lt_score float4_le_score;
    i16: score_gt_int2 score_ge_int2 int2_lt_score int2_le_score;
    i32: score_gt_int4 score_ge_int4 int4_lt_score int4_le_score;
    i64: score_gt_int8 score_ge_int8 int8_lt_score int8_le_score;
    AnyNumeric: score_gt_numeric score_ge_numeric numeric_lt_score numeric_le_score;
}
