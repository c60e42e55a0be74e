//! What several functions share: magnitudes, polynomials, and the exponential in parts.
//!
//! Called by the other files of this folder.

use super::lanes::Lanes;

/// 1.5 * 2^52: a number below 2^51 added to it is rounded to an integer, which is in its lowest bits.
pub(super) const SHIFT: f64 = 6755399441055744.0;
/// The highest bit.
pub(super) const SIGN: u64 = 1 << 63;
/// ln 2 as the sum of a number with 32 bits and the rest.
pub(super) const LN_2: [f64; 2] = [6.93147180369123816490e-01, 1.90821492927058770002e-10];

#[inline(always)]
pub(super) fn magnitude<V: Lanes>(x: V) -> V {
    x.and(V::bits(!SIGN))
}

/// Σ coefficients[i] x^i.
#[inline(always)]
pub(super) fn polynomial<V: Lanes>(x: V, coefficients: &[f64]) -> V {
    let (last, rest) = coefficients.split_last().expect("a polynomial has coefficients");
    rest.iter().rev().fold(V::all(*last), |sum, coefficient| V::all(*coefficient).add(x.mul(sum)))
}

/// exp(x) as 2^k (y + error): `y`, its error, and the number whose lowest bits are `k`.
#[inline(always)]
pub(super) fn exp_parts<V: Lanes>(x: V) -> (V, V, V) {
    const P: [f64; 5] = [
        1.66666666666666019037e-01,
        -2.77777777770155933842e-03,
        6.61375632143793436117e-05,
        -1.65339022054652515390e-06,
        4.13813679705723846039e-08,
    ];
    let shifted = x.mul(V::all(std::f64::consts::LOG2_E)).add(V::all(SHIFT));
    let k = shifted.sub(V::all(SHIFT));
    let (high, low) = (x.sub(k.mul(V::all(LN_2[0]))), k.mul(V::all(LN_2[1])));
    let r = high.sub(low);
    let square = r.mul(r);
    let c = r.sub(square.mul(polynomial(square, &P)));
    let rest = high.sub(low.sub(r.mul(c).div(V::all(2.0).sub(c))));
    let y = V::all(1.0).add(rest);
    (y, V::all(1.0).sub(y).add(rest), shifted)
}

/// 2^k for the integer in the lowest bits.
#[inline(always)]
pub(super) fn power_of_two<V: Lanes>(shifted: V) -> V {
    shifted.add_bits(V::bits(1023)).left::<52>()
}
