//! Comparisons of a `bloom_score` with numbers. They mean what `float8` means; the planner rewrites
//! them (see `planner`), and these run where it does not.

use pgrx::{direct_function_call, pg_extern, pg_sys, AnyNumeric, IntoDatum};

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
        // the server's own cast: beyond the range of float8 its error
        // SAFETY: the argument is a numeric.
        unsafe { direct_function_call(pg_sys::numeric_float8, &[self.into_datum()]) }
            .expect("a float8, or an error")
    }
}

/// NaN is greater than every other number, and equal to itself, as for `float8`.
fn greater(a: f64, b: f64) -> bool {
    a > b || a.is_nan() && !b.is_nan()
}

fn at_least(a: f64, b: f64) -> bool {
    !greater(b, a)
}

fn order(a: f64, b: f64) -> i32 {
    i32::from(greater(a, b)) - i32::from(greater(b, a))
}

macro_rules! comparisons {
    ($($t:ty: $gt:ident $ge:ident $lt:ident $le:ident $cmp:ident $cmp_left:ident;)*) => {$(
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

        #[pg_extern(sql = false)]
        fn $cmp(score: f64, number: $t) -> i32 {
            order(score, number.float8())
        }

        /// The number on the left.
        #[pg_extern(sql = false)]
        fn $cmp_left(number: $t, score: f64) -> i32 {
            order(number.float8(), score)
        }
    )*};
}
comparisons! {
    f64: score_gt_float8 score_ge_float8 float8_lt_score float8_le_score score_cmp_float8 float8_cmp_score;
    f32: score_gt_float4 score_ge_float4 float4_lt_score float4_le_score score_cmp_float4 float4_cmp_score;
    i16: score_gt_int2 score_ge_int2 int2_lt_score int2_le_score score_cmp_int2 int2_cmp_score;
    i32: score_gt_int4 score_ge_int4 int4_lt_score int4_le_score score_cmp_int4 int4_cmp_score;
    i64: score_gt_int8 score_ge_int8 int8_lt_score int8_le_score score_cmp_int8 int8_cmp_score;
    AnyNumeric: score_gt_numeric score_ge_numeric numeric_lt_score numeric_le_score score_cmp_numeric numeric_cmp_score;
}
