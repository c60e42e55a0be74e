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

/// Σ coefficients[i] x^i, by pairs: half as many operations wait for one another as in Horner's scheme.
#[inline(always)]
pub(super) fn polynomial<V: Lanes>(x: V, coefficients: &[f64]) -> V {
    let square = x.mul(x);
    let pair = |pair: &[f64]| match *pair {
        [even, odd] => V::all(even).plus_product(x, V::all(odd)),
        _ => V::all(pair[0]),
    };
    let mut pairs = coefficients.chunks(2).rev().map(pair);
    let last = pairs.next().expect("a polynomial has coefficients");
    pairs.fold(last, |sum, pair| pair.plus_product(square, sum))
}

/// exp(r) - 1 - r for |r| <= ln 2 / 2.
#[inline(always)]
pub(super) fn exp_rest<V: Lanes>(r: V) -> V {
    // (exp(r) - 1 - r) / r², interpolated where the polynomial of Chebyshev of degree 12 is 0, without the four of these points next to 0. Its error
    // is 1e-17 in the exponential.
    const Q: [f64; 10] = [
        0.5,
        0.16666666666666666,
        0.0416666666665814,
        0.008333333333327274,
        0.001388888893484822,
        0.00019841269875662057,
        2.480149951707936e-05,
        2.7557252485074793e-06,
        2.7628546339950034e-07,
        2.5106662794497435e-08,
    ];
    let (square, pair) = (r.mul(r), |i: usize| V::all(Q[i]).plus_product(r, V::all(Q[i + 1])));
    let fourth = square.mul(square);
    let (low, middle) = (pair(0).plus_product(square, pair(2)), pair(4).plus_product(square, pair(6)));
    square.mul(low.plus_product(fourth, middle.plus_product(fourth, pair(8))))
}

/// exp(x) as 2^k (y + error): `y`, its error, and the number whose lowest bits are `k`.
#[inline(always)]
pub(super) fn exp_parts<V: Lanes>(x: V) -> (V, V, V) {
    let shifted = V::all(SHIFT).plus_product(x, V::all(std::f64::consts::LOG2_E));
    let k = shifted.sub(V::all(SHIFT));
    let (high, low) = (x.less_product(k, V::all(LN_2[0])), k.mul(V::all(LN_2[1])));
    let rest = high.add(exp_rest(high.sub(low)).sub(low));
    let y = V::all(1.0).add(rest);
    (y, V::all(1.0).sub(y).add(rest), shifted)
}

/// 2^k for the integer in the lowest bits.
#[inline(always)]
pub(super) fn power_of_two<V: Lanes>(shifted: V) -> V {
    shifted.add_bits(V::bits(1023)).left::<52>()
}
