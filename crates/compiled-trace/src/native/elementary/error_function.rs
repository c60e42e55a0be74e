//! erf and exp(-x²).
//!
//! Called by the parent module. erf is fdlibm's `s_erf.c`, without its branches; exp(-x²) that of the rule table. Other arguments get the value of
//! the rule table.

use super::basics::{SIGN, exp_parts, magnitude, polynomial, power_of_two};
use super::lanes::Lanes;
use differentiation_interface_core::rules::{Erf, Gauss, Unary};

/// Σ coefficients[i] x^i, with the first coefficients where the mask is set and else the second ones.
#[inline(always)]
fn one_of_polynomials<V: Lanes, const N: usize>(mask: V, x: V, [then, otherwise]: [[f64; N]; 2]) -> V {
    let pick = |i: usize| V::pick(mask, V::all(then[i]), V::all(otherwise[i]));
    (0..N - 1).rev().fold(pick(N - 1), |sum, i| pick(i).plus_product(x, sum))
}

/// exp(-x²), with the rounding error of the square as a factor.
#[inline(always)]
pub(super) fn gauss<V: Lanes>(x: V) -> V {
    let square = x.mul(x);
    let valid = square.less(V::all(700.0));
    let (y, error, shifted) = exp_parts(square.xor(V::bits(SIGN)));
    let lost = if V::IS_FUSED {
        square.less_product(x, x)
    } else {
        // The exact square of a number cut in halves (Dekker).
        let cut = x.mul(V::all(134_217_729.0));
        let high = cut.sub(cut.sub(x));
        let low = x.sub(high);
        square.sub(high.mul(high)).sub(high.add(high).mul(low)).sub(low.mul(low))
    };
    let value = y.add(error.plus_product(y, lost)).mul(power_of_two(shifted));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Gauss.value(x)) }
}

#[inline(always)]
pub(super) fn erf<V: Lanes>(x: V) -> V {
    // erf(1), a head.
    const OF_ONE: f64 = 8.45062911510467529297e-01;
    const PP: [f64; 5] = [
        1.28379167095512558561e-01,
        -3.25042107247001499370e-01,
        -2.84817495755985104766e-02,
        -5.77027029648944159157e-03,
        -2.37630166566501626084e-05,
    ];
    const QQ: [f64; 6] = [
        1.0,
        3.97917223959155352819e-01,
        6.50222499887672944485e-02,
        5.08130628187576562776e-03,
        1.32494738004321644526e-04,
        -3.96022827877536812320e-06,
    ];
    const PA: [f64; 7] = [
        -2.36211856075265944077e-03,
        4.14856118683748331666e-01,
        -3.72207876035701323847e-01,
        3.18346619901161753674e-01,
        -1.10894694282396677476e-01,
        3.54783043256182359371e-02,
        -2.16637559486879084300e-03,
    ];
    const QA: [f64; 7] = [
        1.0,
        1.06420880400844228286e-01,
        5.40397917702171048937e-01,
        7.18286544141962662868e-02,
        1.26171219808761642112e-01,
        1.36370839120290507362e-02,
        1.19844998467991074170e-02,
    ];
    const RA: [f64; 8] = [
        -9.86494403484714822705e-03,
        -6.93858572707181764372e-01,
        -1.05586262253232909814e+01,
        -6.23753324503260060396e+01,
        -1.62396669462573470355e+02,
        -1.84605092906711035994e+02,
        -8.12874355063065934246e+01,
        -9.81432934416914548592e+00,
    ];
    const SA: [f64; 9] = [
        1.0,
        1.96512716674392571292e+01,
        1.37657754143519042600e+02,
        4.34565877475229228821e+02,
        6.45387271733267880336e+02,
        4.29008140027567833386e+02,
        1.08635005541779435134e+02,
        6.57024977031928170135e+00,
        -6.04244152148580987438e-02,
    ];
    const RB: [f64; 8] = [
        -9.86494292470009928597e-03,
        -7.99283237680523006574e-01,
        -1.77579549177547519889e+01,
        -1.60636384855821916062e+02,
        -6.37566443368389627722e+02,
        -1.02509513161107724954e+03,
        -4.83519191608651397019e+02,
        0.0,
    ];
    const SB: [f64; 9] = [
        1.0,
        3.03380607434824582924e+01,
        3.25792512996573918826e+02,
        1.53672958608443695994e+03,
        3.19985821950859553908e+03,
        2.55305040643316442583e+03,
        4.74528541206955367215e+02,
        -2.24409524465858183362e+01,
        0.0,
    ];
    let one = V::all(1.0);
    // From 6 on it is 1, and below 1e-290 products underflow.
    let a = V::pick(magnitude(x).less(V::all(6.0)), magnitude(x), V::all(6.0));
    let square = a.mul(a);
    let small = a.plus_product(a, polynomial(square, &PP).div(polynomial(square, &QQ)));
    let s = a.sub(one);
    let middle = V::all(OF_ONE).add(polynomial(s, &PA).div(polynomial(s, &QA)));
    // 1 - exp(-x² - 0.5625 + R/S) / x, with x² as the sum of the exact square of the leading bits and the rest.
    let inverse = one.div(V::pick(a.less(one), one, square));
    let is_near = a.less(V::all(1.0 / 0.35));
    let quotient = one_of_polynomials(is_near, inverse, [RA, RB]).div(one_of_polynomials(is_near, inverse, [SA, SB]));
    let head = a.and(V::bits(0xffff_ffff_0000_0000));
    let main = V::all(-0.5625).less_product(head, head);
    let rest = quotient.plus_product(head.sub(a), head.add(a));
    let exponent = main.add(rest);
    let lost = main.sub(exponent).add(rest);
    let (y, error, shifted) = exp_parts(exponent);
    let e = y.add(error.plus_product(y, lost)).mul(power_of_two(shifted));
    let large = one.sub(e.div(V::pick(a.less(one), one, a)));
    let value = V::pick(a.less(V::all(0.84375)), small, V::pick(a.less(V::all(1.25)), middle, large));
    let value = value.or(x.and(V::bits(SIGN)));
    let valid = magnitude(x).less(V::all(f64::INFINITY)).and(V::all(1e-290).less(magnitude(x)));
    if valid.holds() { value } else { value.or_else(valid, x, |x| Erf.value(x)) }
}
