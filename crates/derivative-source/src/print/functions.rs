//! The text of elementary functions that neither language has in its library, as a table.
//!
//! Called by `math`, which replaces the marks: `%F` and `%D` by the number type, `@exp` by a call of the library, and so on. The formulas are
//! those of the rule table of the core (`rules::{special, planar, fused, polygamma}`); see there for what each avoids.

/// The printed functions: name, Rust, C. Each comes after those it calls.
pub(super) const FUNCTIONS: &[(&str, &str, &str)] = &[
    (
        "select",
        "#[inline(always)]
fn select(condition: bool, yes: %F, no: %F) -> %F {
    if condition { yes } else { no }
}
",
        "",
    ),
    (
        "same",
        "/// Whether two numbers are the same, or both no number.
#[inline(always)]
fn same(x: %F, y: %F) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}
",
        "/* Whether two numbers are the same, or both no number. */
static inline int same(%D x, %D y)
{
    return (x == y && !signbit(x) == !signbit(y)) || (isnan(x) && isnan(y));
}
",
    ),
    (
        "signum",
        "#[inline(always)]
fn signum(x: %F) -> %F {
    x.signum()
}
",
        "static inline %D signum(%D x)
{
    return isnan(x) ? x : @copysign(1.0, x);
}
",
    ),
    (
        "fract",
        "#[inline(always)]
fn fract(x: %F) -> %F {
    x - @trunc(x)
}
",
        "static inline %D fract(%D x)
{
    return x - @trunc(x);
}
",
    ),
    (
        "degrees",
        "#[inline(always)]
fn degrees(x: %F) -> %F {
    x.to_degrees()
}
",
        "static inline %D degrees(%D x)
{
    return x * (%D)57.29577951308232;
}
",
    ),
    (
        "radians",
        "#[inline(always)]
fn radians(x: %F) -> %F {
    x.to_radians()
}
",
        "static inline %D radians(%D x)
{
    return x * (%D)0.017453292519943295;
}
",
    ),
    (
        "powi",
        "/// x to the integer power n, by repeated squaring.
fn powi(x: %F, n: i32) -> %F {
    let mut power = 1.0;
    let (mut square, mut rest) = (x, n.unsigned_abs());
    while rest > 0 {
        if rest % 2 == 1 {
            power *= square;
        }
        square *= square;
        rest /= 2;
    }
    if n < 0 { 1.0 / power } else { power }
}
",
        "/* x to the integer power n, by repeated squaring. */
static inline %D powi(%D x, int n)
{
    %D power = 1, square = x;
    for (unsigned rest = n < 0 ? 0u - (unsigned)n : (unsigned)n; rest > 0; rest /= 2) {
        if (rest % 2 == 1) power *= square;
        square *= square;
    }
    return n < 0 ? 1 / power : power;
}
",
    ),
    (
        "sech_squared",
        "/// The derivative of tanh.
fn sech_squared(x: %F) -> %F {
    let e = @exp(-2.0 * @abs(x));
    4.0 * e / ((1.0 + e) * (1.0 + e))
}
",
        "/* The derivative of tanh. */
static inline %D sech_squared(%D x)
{
    const %D e = @exp(-2 * @abs(x));
    return 4 * e / ((1 + e) * (1 + e));
}
",
    ),
    (
        "hypot_one",
        "/// The square root of x² + 1.
fn hypot_one(x: %F) -> %F {
    @hypot(x, 1.0)
}
",
        "/* The square root of x^2 + 1. */
static inline %D hypot_one(%D x)
{
    return @hypot(x, 1);
}
",
    ),
    (
        "logistic",
        "/// 1 / (1 + exp(-x)).
fn logistic(x: %F) -> %F {
    if x >= 0.0 {
        1.0 / (1.0 + @exp(-x))
    } else {
        let e = @exp(x);
        e / (1.0 + e)
    }
}
",
        "/* 1 / (1 + exp(-x)). */
static inline %D logistic(%D x)
{
    if (x >= 0) return 1 / (1 + @exp(-x));
    const %D e = @exp(x);
    return e / (1 + e);
}
",
    ),
    (
        "logistic_slope",
        "/// The derivative of the logistic function.
fn logistic_slope(x: %F) -> %F {
    let e = @exp(-@abs(x));
    e / ((1.0 + e) * (1.0 + e))
}
",
        "/* The derivative of the logistic function. */
static inline %D logistic_slope(%D x)
{
    const %D e = @exp(-@abs(x));
    return e / ((1 + e) * (1 + e));
}
",
    ),
    (
        "softplus",
        "/// ln(1 + exp(x)).
fn softplus(x: %F) -> %F {
    let tail = @log1p(@exp(-@abs(x)));
    if x > 0.0 { x + tail } else { tail }
}
",
        "/* ln(1 + exp(x)). */
static inline %D softplus(%D x)
{
    return x > 0 ? x + @log1p(@exp(-x)) : @log1p(@exp(x));
}
",
    ),
    (
        "cbrt_slope",
        "/// The derivative of the cube root.
fn cbrt_slope(x: %F) -> %F {
    let root = @cbrt(x);
    1.0 / (3.0 * (root * root))
}
",
        "/* The derivative of the cube root. */
static inline %D cbrt_slope(%D x)
{
    const %D root = @cbrt(x);
    return 1 / (3 * (root * root));
}
",
    ),
    (
        "one_minus_square",
        "/// 1 - x².
fn one_minus_square(x: %F) -> %F {
    let x = @abs(x);
    if x < 0.5 {
        return 1.0 - x * x;
    }
    (1.0 - x) * (1.0 + x)
}
",
        "/* 1 - x^2. */
static inline %D one_minus_square(%D x)
{
    x = @abs(x);
    return x < (%D)0.5 ? 1 - x * x : (1 - x) * (1 + x);
}
",
    ),
    (
        "asin_slope",
        "/// The derivative of asin.
fn asin_slope(x: %F) -> %F {
    1.0 / @sqrt(one_minus_square(x))
}
",
        "/* The derivative of asin. */
static inline %D asin_slope(%D x)
{
    return 1 / @sqrt(one_minus_square(x));
}
",
    ),
    (
        "atan_slope",
        "/// The derivative of atan.
fn atan_slope(x: %F) -> %F {
    let sum = 1.0 + x * x;
    if sum.is_infinite() {
        return 1.0 / x * (1.0 / x);
    }
    1.0 / sum
}
",
        "/* The derivative of atan. */
static inline %D atan_slope(%D x)
{
    const %D sum = 1 + x * x;
    return isinf(sum) ? 1 / x * (1 / x) : 1 / sum;
}
",
    ),
    (
        "acosh_slope",
        "/// The derivative of acosh.
fn acosh_slope(x: %F) -> %F {
    let product = (x - 1.0) * (x + 1.0);
    if x < 1.0 {
        %F::NAN
    } else if product.is_infinite() {
        1.0 / x
    } else {
        1.0 / @sqrt(product)
    }
}
",
        "/* The derivative of acosh. */
static inline %D acosh_slope(%D x)
{
    const %D product = (x - 1) * (x + 1);
    if (x < 1) return NAN;
    return isinf(product) ? 1 / x : 1 / @sqrt(product);
}
",
    ),
    (
        "gauss",
        "/// exp(-x²), corrected for the rounding error of x².
fn gauss(x: %F) -> %F {
    let square = x * x;
    let value = @exp(-square);
    if value == 0.0 {
        return value;
    }
    let cut = x * %CUT;
    let high = cut - (cut - x);
    let low = x - high;
    let rest = (high * high - square) + (high + high) * low + low * low;
    value - value * rest
}
",
        "/* exp(-x^2), corrected for the rounding error of x^2. */
static inline %D gauss(%D x)
{
    const %D square = x * x;
    const %D value = @exp(-square);
    if (value == 0) return value;
    return value - value * @fma(x, x, -square);
}
",
    ),
    (
        "at_least",
        "#[inline(always)]
fn at_least(x: %F, y: %F) -> %F {
    if x < y { y } else { x }
}
",
        "static inline %D at_least(%D x, %D y)
{
    return x < y ? y : x;
}
",
    ),
    (
        "at_most",
        "#[inline(always)]
fn at_most(x: %F, y: %F) -> %F {
    if y < x { y } else { x }
}
",
        "static inline %D at_most(%D x, %D y)
{
    return y < x ? y : x;
}
",
    ),
    (
        "abs_sub",
        "/// x - y where that is positive, else 0.
fn abs_sub(x: %F, y: %F) -> %F {
    if x <= y { 0.0 } else { x - y }
}
",
        "/* x - y where that is positive, else 0. */
static inline %D abs_sub(%D x, %D y)
{
    return x <= y ? 0 : x - y;
}
",
    ),
    (
        "two_sum",
        "/// The sum and its rounding error.
fn two_sum(x: %F, y: %F) -> (%F, %F) {
    let sum = x + y;
    let of_y = sum - x;
    (sum, (x - (sum - of_y)) + (y - of_y))
}
",
        "/* The rounding error of a sum. */
static inline %D sum_rest(%D x, %D y)
{
    const volatile %D sum = x + y;
    const %D of_y = sum - x;
    return (x - (sum - of_y)) + (y - of_y);
}
",
    ),
    (
        "scale_of",
        "/// A power of two that brings a number near 1, if it is far from it.
fn scale_of(x: %F, y: %F) -> %F {
    let larger = @max(@abs(x), @abs(y));
    let smaller = @min(@abs(x), @abs(y));
    if larger > %LOW && larger < %HIGH && smaller > %TINY {
        return 1.0;
    }
    let exponent = ((larger.to_bits() >> %BITS) & %MASK) as %INT - %BIAS;
    let exponent = (-exponent).clamp(-%MOST, %MOST);
    %F::from_bits(((exponent + %BIAS) as %UINT) << %BITS)
}
",
        "/* A power of two that brings a number near 1, if it is far from it. */
static inline %D scale_of(%D x, %D y)
{
    const %D larger = @max(@abs(x), @abs(y));
    const %D smaller = @min(@abs(x), @abs(y));
    if (larger > (%D)%LOW && larger < (%D)%HIGH && smaller > (%D)%TINY) return 1;
    int exponent;
    (void)frexp(larger, &exponent);
    exponent = 1 - exponent;
    if (larger == 0 || exponent > %MOST) exponent = %MOST;
    if (exponent < -%MOST) exponent = -%MOST;
    return (%D)ldexp(1, exponent);
}
",
    ),
    (
        "sum_of_squares",
        "/// x² + y² with its rounding error.
fn sum_of_squares(x: %F, y: %F) -> %F {
    let (xx, yy) = (x * x, y * y);
    let (sum, rest) = two_sum(xx, yy);
    sum + (rest + (@fma(x, x, -xx) + @fma(y, y, -yy)))
}
",
        "/* x^2 + y^2 with its rounding error. */
static inline %D sum_of_squares(%D x, %D y)
{
    const volatile %D xx = x * x, yy = y * y;
    const volatile %D sum = xx + yy;
    const %D of_y = sum - xx;
    const %D rest = (xx - (sum - of_y)) + (yy - of_y);
    return sum + (rest + (@fma(x, x, -xx) + @fma(y, y, -yy)));
}
",
    ),
    (
        "direction",
        "/// x / hypot(x, y): 0 at the origin, its limit at infinity.
fn direction(x: %F, y: %F) -> %F {
    let r = @hypot(x, y);
    if r.is_normal() {
        x / r
    } else if r == 0.0 {
        0.0
    } else if x.is_infinite() {
        x.signum()
    } else if y.is_infinite() {
        0.0
    } else {
        let s = scale_of(x, y);
        s * x / @hypot(s * x, s * y)
    }
}
",
        "/* x / hypot(x, y): 0 at the origin, its limit at infinity. */
static inline %D direction(%D x, %D y)
{
    const %D r = @hypot(x, y);
    if (isnormal(r)) return x / r;
    if (r == 0) return 0;
    if (isinf(x)) return @copysign(1, x);
    if (isinf(y)) return 0;
    const %D s = scale_of(x, y);
    return s * x / @hypot(s * x, s * y);
}
",
    ),
    (
        "has_limit_zero",
        "/// Whether derivatives of hypot and atan2 are 0: at the origin and at infinity.
fn has_limit_zero(x: %F, y: %F) -> bool {
    (x == 0.0 && y == 0.0) || x.is_infinite() || y.is_infinite()
}
",
        "/* Whether derivatives of hypot and atan2 are 0: at the origin and at infinity. */
static inline int has_limit_zero(%D x, %D y)
{
    return (x == 0 && y == 0) || isinf(x) || isinf(y);
}
",
    ),
    (
        "hypot_bend",
        "/// y² / hypot³.
fn hypot_bend(x: %F, y: %F) -> %F {
    if has_limit_zero(x, y) {
        return 0.0;
    }
    let s = scale_of(x, y);
    let (x, y) = (s * x, s * y);
    let square = sum_of_squares(x, y);
    y * @max(s, 1.0) / square * (y / @sqrt(square)) * @min(s, 1.0)
}
",
        "/* y^2 / hypot^3. */
static inline %D hypot_bend(%D x, %D y)
{
    if (has_limit_zero(x, y)) return 0;
    const %D s = scale_of(x, y);
    x *= s;
    y *= s;
    const %D square = sum_of_squares(x, y);
    return y * @max(s, 1) / square * (y / @sqrt(square)) * @min(s, 1);
}
",
    ),
    (
        "hypot_cross",
        "/// -x y / hypot³.
fn hypot_cross(x: %F, y: %F) -> %F {
    if has_limit_zero(x, y) {
        return 0.0;
    }
    let s = scale_of(x, y);
    let (x, y) = (s * x, s * y);
    let square = sum_of_squares(x, y);
    -(x * @max(s, 1.0) * y) / (square * @sqrt(square)) * @min(s, 1.0)
}
",
        "/* -x y / hypot^3. */
static inline %D hypot_cross(%D x, %D y)
{
    if (has_limit_zero(x, y)) return 0;
    const %D s = scale_of(x, y);
    x *= s;
    y *= s;
    const %D square = sum_of_squares(x, y);
    return -(x * @max(s, 1) * y) / (square * @sqrt(square)) * @min(s, 1);
}
",
    ),
    (
        "angular",
        "/// x / (x² + y²).
fn angular(x: %F, y: %F) -> %F {
    if has_limit_zero(x, y) {
        return 0.0;
    }
    let s = scale_of(x, y);
    let (x, y) = (s * x, s * y);
    x * @max(s, 1.0) / (x * x + y * y) * @min(s, 1.0)
}
",
        "/* x / (x^2 + y^2). */
static inline %D angular(%D x, %D y)
{
    if (has_limit_zero(x, y)) return 0;
    const %D s = scale_of(x, y);
    x *= s;
    y *= s;
    return x * @max(s, 1) / (x * x + y * y) * @min(s, 1);
}
",
    ),
    (
        "angular_bend",
        "/// (y² - x²) / (x² + y²)².
fn angular_bend(x: %F, y: %F) -> %F {
    if has_limit_zero(x, y) {
        return 0.0;
    }
    let s = scale_of(x, y);
    let (x, y, early, late) = (s * x, s * y, @max(s, 1.0), @min(s, 1.0));
    let square = sum_of_squares(x, y);
    (y - x) * early * ((y + x) * early) / (square * square) * late * late
}
",
        "/* (y^2 - x^2) / (x^2 + y^2)^2. */
static inline %D angular_bend(%D x, %D y)
{
    if (has_limit_zero(x, y)) return 0;
    const %D s = scale_of(x, y);
    const %D early = @max(s, 1), late = @min(s, 1);
    x *= s;
    y *= s;
    const %D square = sum_of_squares(x, y);
    return (y - x) * early * ((y + x) * early) / (square * square) * late * late;
}
",
    ),
    (
        "angular_cross",
        "/// -2 x y / (x² + y²)².
fn angular_cross(x: %F, y: %F) -> %F {
    if has_limit_zero(x, y) {
        return 0.0;
    }
    let s = scale_of(x, y);
    let (x, y, early, late) = (s * x, s * y, @max(s, 1.0), @min(s, 1.0));
    let square = sum_of_squares(x, y);
    -2.0 * (x * early * (y * early)) / (square * square) * late * late
}
",
        "/* -2 x y / (x^2 + y^2)^2. */
static inline %D angular_cross(%D x, %D y)
{
    if (has_limit_zero(x, y)) return 0;
    const %D s = scale_of(x, y);
    const %D early = @max(s, 1), late = @min(s, 1);
    x *= s;
    y *= s;
    const %D square = sum_of_squares(x, y);
    return -2 * (x * early * (y * early)) / (square * square) * late * late;
}
",
    ),
    (
        "times_power",
        "/// factor · x^(y - k), corrected for the rounding of y - k.
fn times_power(factor: %F, x: %F, y: %F, k: %F) -> %F {
    let exponent = y - k;
    let mut power = @pow(x, exponent);
    if x > 0.0 && power.is_normal() {
        let rounded = exponent + k;
        let rest = (y - rounded) - (k - (rounded - exponent));
        if rest != 0.0 {
            power += power * (rest * @ln(x));
        }
        if factor * power != 0.0 {
            return factor * power;
        }
    }
    let higher = @pow(x, y);
    if x > 0.0 && higher.is_normal() && x.is_finite() {
        let mut product = factor * higher;
        let mut divisions = k;
        while divisions > 0.0 {
            product /= x;
            divisions -= 1.0;
        }
        return product;
    }
    factor * power
}
",
        "/* factor x^(y - k), corrected for the rounding of y - k. */
static inline %D times_power(%D factor, %D x, %D y, %D k)
{
    const volatile %D exponent = y - k;
    %D power = @pow(x, exponent);
    if (x > 0 && isnormal(power)) {
        const volatile %D rounded = exponent + k;
        const %D rest = (y - rounded) - (k - (rounded - exponent));
        if (rest != 0) power += power * (rest * @ln(x));
        if (factor * power != 0) return factor * power;
    }
    const %D higher = @pow(x, y);
    if (x > 0 && isnormal(higher) && isfinite(x)) {
        %D product = factor * higher;
        for (%D divisions = k; divisions > 0; divisions -= 1) product /= x;
        return product;
    }
    return factor * power;
}
",
    ),
    (
        "powf_by_base",
        "/// y x^(y-1), 0 for y = 0.
fn powf_by_base(x: %F, y: %F) -> %F {
    if y == 0.0 && !x.is_nan() {
        return 0.0;
    }
    times_power(y, x, y, 1.0)
}
",
        "/* y x^(y-1), 0 for y = 0. */
static inline %D powf_by_base(%D x, %D y)
{
    return y == 0 && !isnan(x) ? 0 : times_power(y, x, y, 1);
}
",
    ),
    (
        "powf_by_base_twice",
        "/// y (y-1) x^(y-2), 0 for y = 0 and y = 1.
fn powf_by_base_twice(x: %F, y: %F) -> %F {
    if (y == 0.0 || y == 1.0) && !x.is_nan() {
        return 0.0;
    }
    times_power(y * (y - 1.0), x, y, 2.0)
}
",
        "/* y (y-1) x^(y-2), 0 for y = 0 and y = 1. */
static inline %D powf_by_base_twice(%D x, %D y)
{
    return (y == 0 || y == 1) && !isnan(x) ? 0 : times_power(y * (y - 1), x, y, 2);
}
",
    ),
    (
        "powf_by_exponent",
        "/// x^y ln x, and its limit 0 where the power is 0.
fn powf_by_exponent(x: %F, y: %F) -> %F {
    let power = @pow(x, y);
    if power == 0.0 && x >= 0.0 {
        return 0.0;
    }
    power * @ln(x)
}
",
        "/* x^y ln x, and its limit 0 where the power is 0. */
static inline %D powf_by_exponent(%D x, %D y)
{
    const %D power = @pow(x, y);
    return power == 0 && x >= 0 ? 0 : power * @ln(x);
}
",
    ),
    (
        "powf_by_exponent_twice",
        "/// x^y ln² x, and its limit 0 where the power is 0.
fn powf_by_exponent_twice(x: %F, y: %F) -> %F {
    let product = powf_by_exponent(x, y);
    if product == 0.0 && x >= 0.0 {
        return 0.0;
    }
    product * @ln(x)
}
",
        "/* x^y ln^2 x, and its limit 0 where the power is 0. */
static inline %D powf_by_exponent_twice(%D x, %D y)
{
    const %D product = powf_by_exponent(x, y);
    return product == 0 && x >= 0 ? 0 : product * @ln(x);
}
",
    ),
    (
        "powf_mixed",
        "/// x^(y-1) (1 + y ln x), and its limit 0 where the power is 0.
fn powf_mixed(x: %F, y: %F) -> %F {
    if x == 0.0 {
        let limit = if y > 1.0 { 0.0 } else { %F::INFINITY };
        if y > 0.0 {
            return -limit;
        }
        return limit + y * 0.0;
    }
    if x.is_infinite() && y < 1.0 {
        return 0.0;
    }
    times_power(1.0 + y * @ln(x), x, y, 1.0)
}
",
        "/* x^(y-1) (1 + y ln x), and its limit 0 where the power is 0. */
static inline %D powf_mixed(%D x, %D y)
{
    if (x == 0) {
        const %D limit = y > 1 ? 0 : INFINITY;
        return isnan(y) || y <= 0 ? limit + y * 0 : -limit;
    }
    if (isinf(x) && y < 1) return 0;
    return times_power(1 + y * @ln(x), x, y, 1);
}
",
    ),
    (
        "product_error",
        "/// The exact product less the rounded one.
fn product_error(x: %F, y: %F) -> %F {
    let product = x * y;
    let error = @fma(x, y, -product);
    if error == 0.0 || !error.is_finite() {
        return -0.0;
    }
    error
}
",
        "/* The exact product less the rounded one. */
static inline %D product_error(%D x, %D y)
{
    const volatile %D product = x * y;
    const %D error = @fma(x, y, -product);
    return error == 0 || !isfinite(error) ? -(%D)0 : error;
}
",
    ),
    (
        "sum_error",
        "/// The exact sum less the rounded one.
fn sum_error(x: %F, y: %F) -> %F {
    let (_, error) = two_sum(x, y);
    if error == 0.0 || !error.is_finite() {
        return -0.0;
    }
    error
}
",
        "/* The exact sum less the rounded one. */
static inline %D sum_error(%D x, %D y)
{
    const volatile %D sum = x + y;
    const volatile %D of_y = sum - x;
    const volatile %D of_x = sum - of_y;
    const %D error = (x - of_x) + (y - of_y);
    return error == 0 || !isfinite(error) ? -(%D)0 : error;
}
",
    ),
    (
        "odd_sum",
        "/// The sum rounded to odd.
fn odd_sum(x: %F, y: %F) -> %F {
    let (sum, error) = two_sum(x, y);
    if error == 0.0 || !error.is_finite() || sum.to_bits() % 2 == 1 {
        return sum;
    }
    let bits = sum.to_bits();
    let outwards = (error > 0.0) == (sum > 0.0);
    %F::from_bits(if outwards { bits + 1 } else { bits - 1 })
}
",
        "/* The sum rounded to odd. */
static inline %D odd_sum(%D x, %D y)
{
    const volatile %D sum = x + y;
    const volatile %D of_y = sum - x;
    const volatile %D of_x = sum - of_y;
    const %D error = (x - of_x) + (y - of_y);
    const %D value = sum;
    %CUINT bits;
    memcpy(&bits, &value, sizeof bits);
    if (error == 0 || !isfinite(error) || bits % 2 == 1) return value;
    bits += (error > 0) == (value > 0) ? 1 : -1;
    %D odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}
",
    ),
    (
        "polygamma",
        "/// The polygamma function: (-1)^(n+1) n! Σ 1 / (x + k)^(n+1), and digamma for n = 0.
fn polygamma(x: %F, order: u32) -> %F {
    use core::%F::consts::PI;
    const BERNOULLI: [%F; 8] = [
        0.16666666666666666,
        -0.03333333333333333,
        0.023809523809523808,
        -0.03333333333333333,
        0.07575757575757576,
        -0.2531135531135531,
        1.1666666666666667,
        -7.092156862745098,
    ];
    if x.is_nan() || (x <= 0.0 && x == @floor(x)) || x == %F::NEG_INFINITY {
        return %F::NAN;
    }
    if x == %F::INFINITY {
        return if order == 0 { x } else { 0.0 };
    }
    if x < -16.0 {
        // ψ(1-x) - ψ(x) = π cot πx, and its derivative.
        let angle = PI * (x - @round(x));
        return match order {
            0 => polygamma(1.0 - x, 0) - PI / @tan(angle),
            1 => {
                let ratio = PI / @sin(angle);
                ratio * ratio - polygamma(1.0 - x, 1)
            }
            _ => %F::NAN,
        };
    }
    let n = order as %F;
    let mut factorial = 1.0;
    for k in 1..=order {
        factorial *= k as %F;
    }
    let steps = @max(@ceil(15.0 + n - x), 0.0) as u32;
    let shifted = x + steps as %F;
    let square = shifted * shifted;
    let mut power = 1.0;
    let (mut sum, sign) = if order == 0 {
        let mut tail = 0.5 / shifted;
        for (k, b) in BERNOULLI.iter().enumerate() {
            power *= square;
            tail += b / ((2 * k + 2) as %F * power);
        }
        (tail - @ln(shifted), -1.0)
    } else {
        let leading = factorial / n;
        let (mut tail, mut ratio) = (0.5 * factorial / shifted, leading);
        for (k, b) in BERNOULLI.iter().enumerate() {
            let m = 2.0 * (k as %F + 1.0);
            ratio *= (m + n - 1.0) * (m + n - 2.0) / (m * (m - 1.0));
            power *= square;
            tail += b * ratio / power;
        }
        let sign = if order % 2 == 1 { 1.0 } else { -1.0 };
        ((leading + tail) / powi(shifted, order as i32), sign)
    };
    for k in (0..steps).rev() {
        sum += factorial / powi(x + k as %F, order as i32 + 1);
    }
    sign * sum
}
",
        "/* The polygamma function: (-1)^(n+1) n! sum 1 / (x + k)^(n+1), and digamma for n = 0. */
static inline %D polygamma(%D x, unsigned order)
{
    static const %D bernoulli[8] = {
        (%D)(1.0 / 6), (%D)(-1.0 / 30), (%D)(1.0 / 42), (%D)(-1.0 / 30),
        (%D)(5.0 / 66), (%D)(-691.0 / 2730), (%D)(7.0 / 6), (%D)(-3617.0 / 510),
    };
    const %D pi = (%D)3.141592653589793;
    if (isnan(x) || (x <= 0 && x == @floor(x)) || (isinf(x) && x < 0)) return NAN;
    if (isinf(x)) return order == 0 ? x : 0;
    if (x < -16) {
        /* psi(1-x) - psi(x) = pi cot(pi x), and its derivative. */
        const %D angle = pi * (x - @round(x));
        if (order == 0) return polygamma(1 - x, 0) - pi / @tan(angle);
        if (order > 1) return NAN;
        const %D ratio = pi / @sin(angle);
        return ratio * ratio - polygamma(1 - x, 1);
    }
    const %D n = (%D)order;
    %D factorial = 1, sum, power = 1, sign = order % 2 == 1 ? 1 : -1;
    for (unsigned k = 1; k <= order; k++) factorial *= (%D)k;
    const int steps = (int)@max(@ceil(15 + n - x), 0);
    const %D shifted = x + (%D)steps;
    const %D square = shifted * shifted;
    if (order == 0) {
        sum = (%D)0.5 / shifted;
        for (int k = 0; k < 8; k++) {
            power *= square;
            sum += bernoulli[k] / ((%D)(2 * k + 2) * power);
        }
        sum -= @ln(shifted);
    } else {
        const %D leading = factorial / n;
        %D tail = (%D)0.5 * factorial / shifted, ratio = leading;
        for (int k = 0; k < 8; k++) {
            const %D m = 2 * ((%D)k + 1);
            ratio *= (m + n - 1) * (m + n - 2) / (m * (m - 1));
            power *= square;
            tail += bernoulli[k] * ratio / power;
        }
        sum = (leading + tail) / powi(shifted, (int)order);
    }
    for (int k = steps - 1; k >= 0; k--) sum += factorial / powi(x + (%D)k, (int)order + 1);
    return sign * sum;
}
",
    ),
];
