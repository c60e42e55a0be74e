//! The recurrences: products, quotients, and solutions of differential equations, each of quadratic cost in the order.
//!
//! Called by `unary` and `planar`; Griewank and Walther, *Evaluating Derivatives*, 2nd edition, section 13.2.

use super::space::{Space, View, add_multiple, build, convolve, each_degree, euler, parts, rescale, scaled};
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Base, Scalar};

/// The weight of all terms of a sum.
#[cfg_attr(not(debug_assertions), inline(always))]
fn one(_: usize) -> f64 {
    1.0
}

/// x y.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn product<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>) -> P::Block {
    match (x.block, y.block) {
        (_, None) => multiple(space, x, y.value),
        (None, _) => multiple(space, y, x.value),
        _ => build!(P, space, |k, _, out| { convolve(space, out, k, x, y, (0, k), one) }),
    }
}

/// a x + b y for plain numbers.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn combined<S: Scalar, P: Space<S>>(
    space: &P,
    (a, x): (f64, View<'_, S>),
    (b, y): (f64, View<'_, S>),
) -> P::Block {
    let mut block = space.zeros();
    let out = block.as_mut().iter_mut();
    match (x.block, y.block) {
        (Some(x), Some(y)) => {
            for (out, (x, y)) in out.zip(x.iter().zip(y)) {
                let x = scaled(*x, a);
                *out = if b == -1.0 { x - *y } else { x + scaled(*y, b) };
            }
        }
        (Some(x), None) => out.zip(x).for_each(|(out, x)| *out = scaled(*x, a)),
        (None, Some(y)) => out.zip(y).for_each(|(out, y)| *out = scaled(*y, b)),
        (None, None) => {}
    }
    block
}

/// a x for a number that does not depend on the variables.
pub(super) fn multiple<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, a: S) -> P::Block {
    let mut block = space.zeros();
    if let Some(x) = x.block {
        block.as_mut().iter_mut().zip(x).for_each(|(out, x)| *out = *x * a);
    }
    block
}

/// x / y, whose value is z.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn quotient<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>, z: S) -> P::Block {
    let inverse = S::constant(S::Base::ONE) / y.value;
    // The reciprocal of a number below the smallest normal one may be infinite.
    let is_normal = num_traits::Float::is_normal(inverse.peek());
    build!(P, space, |k, lower, out| {
        convolve(space, out, k, y, View::lower(z, lower), (1, k), one);
        for (i, out) in out.iter_mut().enumerate() {
            let rest = match x.part(space, k) {
                Some(x) => x[i] - *out,
                None => -*out,
            };
            *out = if is_normal { rest * inverse } else { rest / y.value };
        }
    })
}

/// 1 / x, whose value is y.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn reciprocal<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S) -> P::Block {
    build!(P, space, |k, lower, out| {
        convolve(space, out, k, x, View::lower(y, lower), (1, k), one);
        out.iter_mut().for_each(|out| *out = -*out * y);
    })
}

/// y with D y = `factor` · slope · D x.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn integral<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, slope: View<'_, S>, factor: f64) -> P::Block {
    let dx = euler(space, x);
    build!(P, space, |k, _, out| {
        convolve(space, out, k, View::new(slope.value, &dx), slope, (1, k), one);
        rescale(out, factor / k as f64);
    })
}

/// y with D y = `factor` · y · D x, whose value is y.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn exponential<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S, factor: f64) -> P::Block {
    let dx = euler(space, x);
    build!(P, space, |k, lower, out| {
        convolve(space, out, k, View::new(y, &dx), View::lower(y, lower), (1, k), one);
        rescale(out, factor / k as f64);
    })
}

/// (s, c) with D s = c D x and D c = `sign` s D x.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn waves<S: Scalar, P: Space<S>>(
    space: &P,
    x: View<'_, S>,
    (s, c): (S, S),
    sign: f64,
) -> (P::Block, P::Block) {
    let dx = euler(space, x);
    let dx = View::new(s, &dx);
    let (mut sine, mut cosine) = (space.zeros(), space.zeros());
    each_degree!(P, space, |k| {
        let (sine, out_s) = parts(space, sine.as_mut(), k);
        let (cosine, out_c) = parts(space, cosine.as_mut(), k);
        convolve(space, out_s, k, dx, View::lower(c, cosine), (1, k), one);
        convolve(space, out_c, k, dx, View::lower(s, sine), (1, k), one);
        rescale(out_s, 1.0 / k as f64);
        rescale(out_c, sign / k as f64);
    });
    (sine, cosine)
}

/// y with D y = `factor` · (1 + y²) · D x, whose value is y.
pub(super) fn tangent<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S, factor: f64) -> P::Block {
    let dx = euler(space, x);
    let slope_value = S::constant(S::Base::ONE) + y * y;
    let (mut tangent, mut slope) = (space.zeros(), space.zeros());
    each_degree!(P, space, |k| {
        let (_, out) = parts(space, tangent.as_mut(), k);
        let (slope, out_slope) = parts(space, slope.as_mut(), k);
        convolve(space, out, k, View::new(y, &dx), View::lower(slope_value, slope), (1, k), one);
        rescale(out, factor / k as f64);
        let tangent = View::new(y, &tangent);
        convolve(space, out_slope, k, tangent, tangent, (0, k), one);
    });
    tangent
}

/// (t, s) with D t = `a` s D x and D s = `b` t s D x: tanh and its slope.
pub(super) fn bell<S: Scalar, P: Space<S>>(
    space: &P,
    x: View<'_, S>,
    (t, s): (S, S),
    (a, b): (f64, f64),
) -> (P::Block, P::Block) {
    let dx = euler(space, x);
    let dx = View::new(s, &dx);
    let (mut rise, mut slope, mut both) = (space.zeros(), space.zeros(), space.zeros());
    each_degree!(P, space, |k| {
        let (_, out_rise) = parts(space, rise.as_mut(), k);
        let (lower, out_slope) = parts(space, slope.as_mut(), k);
        let (products, out_both) = parts(space, both.as_mut(), k);
        convolve(space, out_rise, k, dx, View::lower(s, lower), (1, k), one);
        rescale(out_rise, a / k as f64);
        convolve(space, out_slope, k, dx, View::lower(t * s, products), (1, k), one);
        rescale(out_slope, b / k as f64);
        convolve(space, out_both, k, View::new(t, &rise), View::new(s, &slope), (0, k), one);
    });
    (rise, slope)
}

/// The square root of x, whose value is y.
pub(super) fn square_root<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: S) -> P::Block {
    let double = y + y;
    build!(P, space, |k, lower, out| {
        if k > 1 {
            let y = View::lower(y, lower);
            convolve(space, out, k, y, y, (1, k - 1), one);
        }
        if let Some(x) = x.part(space, k) {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = (*x - *out) / double);
        }
    })
}

/// x^c over the value of x, to which `ratio` = x over its value belongs; the value of the power is y.
///
/// From x y′ = c y x′: k yₖ = Σ (c j - (k - j)) (xⱼ/x₀) yₖ₋ⱼ.
pub(super) fn power<S: Scalar, P: Space<S>>(space: &P, ratio: View<'_, S>, y: S, c: f64) -> P::Block {
    build!(P, space, |k, lower, out| {
        let weight = |j: usize| (c * j as f64 - (k - j) as f64) / k as f64;
        convolve(space, out, k, ratio, View::lower(y, lower), (1, k), weight);
    })
}

/// The same for an exponent that another differentiation may depend on.
pub(super) fn power_by_number<S: Scalar, P: Space<S>>(space: &P, ratio: View<'_, S>, y: S, c: S) -> P::Block {
    let mut raised = space.zeros();
    build!(P, space, |k, lower, out| {
        let y = View::lower(y, lower);
        let (_, by_exponent) = parts(space, raised.as_mut(), k);
        convolve(space, by_exponent, k, ratio, y, (1, k), |j| j as f64 / k as f64);
        convolve(space, out, k, ratio, y, (1, k), |j| -((k - j) as f64) / k as f64);
        add_multiple(out, by_exponent, c);
    })
}

/// x to a natural power, by squaring.
pub(super) fn natural_power<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, n: u32) -> P::Block {
    let mut result: Option<(S, P::Block)> = None;
    let (mut value, mut square) = (x.value, combined(space, (1.0, x), (0.0, View::inert(x.value))));
    let mut rest = n;
    loop {
        if rest % 2 == 1 {
            result = Some(match result {
                None => (value, combined(space, (1.0, View::new(value, &square)), (0.0, View::inert(value)))),
                Some((v, r)) => (v * value, product(space, View::new(v, &r), View::new(value, &square))),
            });
        }
        rest /= 2;
        if rest == 0 {
            return result.map_or_else(|| space.zeros(), |(_, block)| block);
        }
        square = product(space, View::new(value, &square), View::new(value, &square));
        value = value * value;
    }
}

/// y with D y = `factor` · D x / z.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn logarithm<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, z: View<'_, S>, factor: f64) -> P::Block {
    // k yₖ = (k xₖ - Σ (k - j) zⱼ yₖ₋ⱼ) / z₀
    let inverse = S::constant(S::Base::ONE) / z.value;
    let is_normal = num_traits::Float::is_normal(inverse.peek());
    let mut y = space.zeros();
    each_degree!(P, space, |k| {
        let (lower, out) = parts(space, y.as_mut(), k);
        if k > 1 {
            let weight = |j: usize| -((k - j) as f64) / k as f64;
            convolve(space, out, k, z, View::lower(inverse, lower), (1, k - 1), weight);
        }
        if let Some(x) = x.part(space, k) {
            for (out, x) in out.iter_mut().zip(x) {
                let rest = *x + *out;
                *out = if is_normal { rest * inverse } else { rest / z.value };
            }
        }
    });
    if factor != 1.0 {
        rescale(y.as_mut(), factor);
    }
    y
}
