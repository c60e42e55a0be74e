//! x^y and its derivatives y x^(y - 1) and x^y ln x for positive x: 2^(y log₂ x), with the logarithm and the product in two parts.
//!
//! Called by the parent module. From fdlibm's `e_pow.c`, without its branches; other arguments get the value of the rule table.

use super::basics::{SHIFT, exp_rest, magnitude, polynomial, power_of_two};
use super::lanes::Lanes;
use differentiation_interface_core::rules::{Binary, Powf, PowfByBase, PowfByExponent};

/// ln 2, a number with 24 bits near it, and the rest.
const LN_2: [f64; 3] = [std::f64::consts::LN_2, 6.93147182464599609375e-01, -1.90465429995776804525e-09];

/// The number without the lower half of its bits, so that products of two such numbers are exact.
#[inline(always)]
fn head<V: Lanes>(x: V) -> V {
    x.and(V::bits(0xffff_ffff_0000_0000))
}

/// log₂ x as the sum of two numbers, of which the first is a [`head`].
#[inline(always)]
fn log2<V: Lanes>(x: V) -> (V, V) {
    const L: [f64; 6] = [
        5.99999999999994648725e-01,
        4.28571428578550184252e-01,
        3.33333329818377432918e-01,
        2.72728123808534006489e-01,
        2.30660745775561754067e-01,
        2.06975017800338417784e-01,
    ];
    // 2 / (3 ln 2), its head, and the rest.
    const C: [f64; 3] = [9.61796693925975554329e-01, 9.61796700954437255859e-01, -7.02846165095275826516e-09];
    // log₂ 1.5: the head, and the rest.
    const LOG_OF_BASE: [f64; 2] = [5.84962487220764160156e-01, 1.35003920212974897128e-08];
    // The highest bits of the roots of 3/4 and 3/2, between which the logarithm is that of a number near 1, and above of one near 1.5.
    const ROOT: u64 = 0x3feb_b67a_0000_0000;
    const MIDDLE: f64 = 1.224744871391589;
    const TWO_TO_52: u64 = 0x4330_0000_0000_0000;
    let one = V::all(1.0);
    let moved = x.add_bits(V::bits(0x3ff0_0000_0000_0000 - ROOT));
    let n = moved.right::<52>().or(V::bits(TWO_TO_52)).sub(V::all(4503599627370496.0 + 1023.0));
    let m = moved.and(V::bits((1 << 52) - 1)).add_bits(V::bits(ROOT));
    let is_low = m.less(V::all(MIDDLE));
    let base = V::pick(is_low, one, V::all(1.5));
    let zero = V::all(0.0);
    let [log_high, log_low] = LOG_OF_BASE.map(|log| V::pick(is_low, zero, V::all(log)));
    // s = (m - base) / (m + base) in two parts.
    let u = m.sub(base);
    let sum = m.add(base);
    let v = one.div(sum);
    let s = u.mul(v);
    let s_high = head(s);
    let t_high = head(sum);
    let t_low = m.sub(t_high.sub(base));
    let s_low = v.mul(u.less_product(s_high, t_high).less_product(s_high, t_low));
    // 2/3 (3 + s² + s⁴ L(s²)) s is the logarithm of m / base.
    let square = s.mul(s);
    let r = square.mul(square).mul(polynomial(square, &L)).plus_product(s_low, s_high.add(s));
    let square = s_high.mul(s_high);
    let three = V::all(3.0);
    let t_high = head(three.add(square).add(r));
    let t_low = r.sub(t_high.sub(three).sub(square));
    let u = s_high.mul(t_high);
    let v = s_low.mul(t_high).plus_product(t_low, s);
    let p_high = head(u.add(v));
    let p_low = v.sub(p_high.sub(u));
    let z_high = V::all(C[1]).mul(p_high);
    let z_low = V::all(C[2]).mul(p_high).plus_product(p_low, V::all(C[0])).add(log_low);
    let high = head(z_high.add(z_low).add(log_high).add(n));
    (high, z_low.sub(high.sub(n).sub(log_high).sub(z_high)))
}

/// A power, and where it and its derivatives are computed rightly.
struct Power<V> {
    value: V,
    valid: V,
}

/// x^(y + rest) for a `rest` below half an ulp of y; `logarithm` is that of x.
#[inline(always)]
fn raised<V: Lanes>(x: V, (high, low): (V, V), y: V, rest: V) -> Power<V> {
    // y times the logarithm, in two parts.
    let y_high = head(y);
    let p_low = y.sub(y_high).add(rest).mul(high).plus_product(y, low);
    let p_high = y_high.mul(high);
    let exponent = p_low.add(p_high);
    let shifted = exponent.add(V::all(SHIFT));
    let p_high = p_high.sub(shifted.sub(V::all(SHIFT)));
    let t = head(p_low.add(p_high));
    let u = t.mul(V::all(LN_2[1]));
    let v = p_low.sub(t.sub(p_high)).mul(V::all(LN_2[0])).plus_product(t, V::all(LN_2[2]));
    let z = u.add(v);
    let w = v.sub(z.sub(u));
    let rest = exp_rest(z).add(w.plus_product(z, w));
    let value = V::all(1.0).add(z.add(rest)).mul(power_of_two(shifted));
    // Positive and normal, the result too. Exponents beyond 2^31 ask for more bits of the logarithm.
    let valid = x.less(V::all(f64::INFINITY)).and(V::all(f64::MIN_POSITIVE * (1.0 - f64::EPSILON)).less(x));
    let valid = valid.and(magnitude(exponent).less(V::all(1021.0)));
    Power { value, valid: valid.and(magnitude(y).less(V::all(2147483648.0))) }
}

#[inline(always)]
pub(super) fn power<V: Lanes>(x: V, y: V) -> V {
    let Power { value, valid } = raised(x, log2(x), y, V::all(0.0));
    if valid.holds() { value } else { value.or_else_of_two(valid, x, y, |x, y| Powf.value(x, y)) }
}

/// y x^(y - 1).
#[inline(always)]
pub(super) fn by_base<V: Lanes>(x: V, y: V) -> V {
    let one = V::all(1.0);
    let less = y.sub(one);
    // What the difference has lost.
    let back = y.sub(less);
    let rest = y.sub(less.add(back)).add(back.sub(one));
    let Power { value, valid } = raised(x, log2(x), less, rest);
    let value = y.mul(value);
    // 0 for both zeros.
    let valid = valid.and(V::all(0.0).less(magnitude(y)));
    if valid.holds() { value } else { value.or_else_of_two(valid, x, y, |x, y| PowfByBase.value(x, y)) }
}

/// x^y ln x.
#[inline(always)]
pub(super) fn by_exponent<V: Lanes>(x: V, y: V) -> V {
    let (high, low) = log2(x);
    let Power { value, valid } = raised(x, (high, low), y, V::all(0.0));
    let rest = high.mul(V::all(LN_2[2])).plus_product(low, V::all(LN_2[0]));
    let value = value.mul(rest.plus_product(high, V::all(LN_2[1])));
    if valid.holds() { value } else { value.or_else_of_two(valid, x, y, |x, y| PowfByExponent.value(x, y)) }
}
