//! The dual number of `num-dual` with the crate's own rules.
//!
//! The user's function runs on it; seeded and read by [`ForwardState`](differentiation_interface_core::foreign::ForwardState).

use bytemuck::TransparentWrapper;
use differentiation_interface_core::foreign::{Foreign, Tangents};
use differentiation_interface_core::native_rules;
use differentiation_interface_core::rules::*;
use nalgebra::{ComplexField, RealField, SVector};
use num_dual::{Derivative, DualNum, DualSVec64};
use num_traits::Signed;

/// A dual number of `num-dual` with `N` tangents, whose elementary functions are those of that crate.
#[derive(Clone, Copy, Debug, TransparentWrapper)]
#[repr(transparent)]
pub struct Dual<const N: usize>(
    /// The number of `num-dual`.
    pub DualSVec64<N>,
);

impl<const N: usize> Foreign for Dual<N> {
    type Native = DualSVec64<N>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: f64) -> Self {
        Dual(DualSVec64::new(value, Derivative(None)))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> f64 {
        self.0.re
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.0.eps.0.is_none()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain(self, y: f64, dy: f64) -> Self {
        self.map(y, |t| t * dy)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn chain2(self, other: Self, r: f64, dx: f64, dy: f64) -> Self {
        self.zip(other, r, |a| a * dx, |b| b * dy, |a, b| a * dx + b * dy)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn native(self) -> DualSVec64<N> {
        self.0
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_native(native: DualSVec64<N>) -> Self {
        Dual(native)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn natives(numbers: &[Self]) -> Option<&[DualSVec64<N>]> {
        Some(Self::peel_slice(numbers))
    }

    native_rules! {
        unary x:
            Negate => of_one(x, |x| -x),
            Abs => of_one(x, |x| Signed::abs(&x)),
            Signum => of_one(x, |x| Signed::signum(&x)),
            Recip => of_one(x, |x| DualNum::recip(&x)),
            Sqrt => of_one(x, |x| DualNum::sqrt(&x)),
            Cbrt => of_one(x, |x| DualNum::cbrt(&x)),
            Exp => of_one(x, |x| DualNum::exp(&x)),
            Exp2 => of_one(x, |x| DualNum::exp2(&x)),
            ExpM1 => of_one(x, |x| DualNum::exp_m1(&x)),
            Ln => of_one(x, |x| DualNum::ln(&x)),
            Log2 => of_one(x, |x| DualNum::log2(&x)),
            Log10 => of_one(x, |x| DualNum::log10(&x)),
            Ln1p => of_one(x, |x| DualNum::ln_1p(&x)),
            Sin => of_one(x, |x| DualNum::sin(&x)),
            Cos => of_one(x, |x| DualNum::cos(&x)),
            Tan => of_one(x, |x| DualNum::tan(&x)),
            Asin => of_one(x, |x| DualNum::asin(&x)),
            Acos => of_one(x, |x| DualNum::acos(&x)),
            Atan => of_one(x, |x| DualNum::atan(&x)),
            Sinh => of_one(x, |x| DualNum::sinh(&x)),
            Cosh => of_one(x, |x| DualNum::cosh(&x)),
            Tanh => of_one(x, |x| DualNum::tanh(&x)),
            Asinh => of_one(x, |x| DualNum::asinh(&x)),
            Acosh => of_one(x, |x| DualNum::acosh(&x)),
            Atanh => of_one(x, |x| DualNum::atanh(&x)),
            Powi as p => of_one(x, |x| DualNum::powi(&x, p.0)),
            Powc as p => of_one(x, |x| DualNum::powf(&x, p.0));
        binary x, y:
            Plus => x.zip(y, x.0.re + y.0.re, |a| a, |b| b, |a, b| a + b),
            Minus => x.zip(y, x.0.re - y.0.re, |a| a, |b| -b, |a, b| a - b),
            Times => x.zip(y, x.0.re * y.0.re, |a| a * y.0.re, |b| b * x.0.re, |a, b| a * y.0.re + b * x.0.re),
            Over => quotient(x, y),
            Powf => power(x, y),
            Atan2 => of_two(x, y, |x, y| DualNum::atan2(&x, y)),
            Hypot => of_two(x, y, ComplexField::hypot),
            AbsSub => of_two(x, y, |x, y| Signed::abs_sub(&x, &y)),
            Copysign => of_two(x, y, RealField::copysign),
            Max => of_two(x, y, RealField::max),
            Min => of_two(x, y, RealField::min);
        right x, c:
            Plus => x.map(x.0.re + c, |t| t),
            Minus => x.map(x.0.re - c, |t| t),
            Times => x.map(x.0.re * c, |t| t * c),
            Over => x.map(x.0.re / c, |t| t / c),
            Powf => of_one(x, |x| DualNum::powf(&x, c));
        left c, x:
            Plus => x.map(x.0.re + c, |t| t),
            Minus => x.map(-x.0.re + c, |t| -t),
            Times => x.map(x.0.re * c, |t| t * c),
            Over => of_one(x, |x| DualNum::recip(&x) * c);
    }
}

/// A number of `num-dual` with one tangent.
type One = DualSVec64<1>;

/// The seed of a number, if the other one depends on inputs too.
#[cfg_attr(not(debug_assertions), inline(always))]
fn unit(value: f64) -> One {
    One::new(value, Derivative(Some(SVector::from([1.0]))))
}

/// The derivative of a number with one tangent.
#[cfg_attr(not(debug_assertions), inline(always))]
fn slope(y: &One) -> Option<f64> {
    y.eps.0.as_ref().map(|t| t.data.0[0][0])
}

/// Applies a function of `num-dual`: to a number with one tangent, whose result is the value and the derivative, which multiplies the tangents.
#[cfg_attr(not(debug_assertions), inline(always))]
fn of_one<const N: usize>(x: Dual<N>, f: impl FnOnce(One) -> One) -> Dual<N> {
    if x.is_constant() {
        return Dual::constant(f(One::from_re(x.0.re)).re);
    }
    let y = f(unit(x.0.re));
    match slope(&y) {
        None => Dual::constant(y.re),
        Some(slope) => x.chain(y.re, slope),
    }
}

/// Applies a function of `num-dual` of two arguments, one derivative at a time.
#[cfg_attr(not(debug_assertions), inline(always))]
fn of_two<const N: usize>(x: Dual<N>, y: Dual<N>, f: impl Fn(One, One) -> One) -> Dual<N> {
    let (a, b) = (One::from_re(x.0.re), One::from_re(y.0.re));
    let (dx, dy) = (f(unit(x.0.re), b), f(a, unit(y.0.re)));
    match (slope(&dx).filter(|_| !x.is_constant()), slope(&dy).filter(|_| !y.is_constant())) {
        (None, None) => Dual::constant(dx.re),
        (Some(dx_), None) => x.chain(dx.re, dx_),
        (None, Some(dy_)) => y.chain(dx.re, dy_),
        (Some(dx_), Some(dy_)) => x.chain2(y, dx.re, dx_, dy_),
    }
}

/// The quotient as `num-dual` computes it, by the reciprocal of the denominator.
#[cfg_attr(not(debug_assertions), inline(always))]
fn quotient<const N: usize>(x: Dual<N>, y: Dual<N>) -> Dual<N> {
    let (a, b) = (x.0.re, y.0.re);
    let inverse = b.recip();
    let scaled = |t: f64| t * inverse * inverse;
    x.zip(y, a * inverse, |s| scaled(s * b), |t| scaled(-(t * a)), |s, t| scaled(s * b - t * a))
}

/// The power, by `powf` where the exponent is a constant and by `powd` where it is not.
#[cfg_attr(not(debug_assertions), inline(always))]
fn power<const N: usize>(x: Dual<N>, y: Dual<N>) -> Dual<N> {
    if y.is_constant() { of_one(x, |x| DualNum::powf(&x, y.0.re)) } else { of_two(x, y, |x, y| DualNum::powd(&x, y)) }
}

/// Operations on tangents, with the additions and multiplications of `num-dual` in the same order. The operators of that crate are not
/// called here: they take references, so that the compiler keeps every intermediate number in memory, which makes a gradient twice as slow.
impl<const N: usize> Dual<N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn with(value: f64, tangents: [f64; N]) -> Self {
        Dual(DualSVec64::new(value, Derivative(Some(SVector::from(tangents)))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangents(&self) -> Option<&[f64; N]> {
        self.0.eps.0.as_ref().map(|t| &t.data.0[0])
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map(self, value: f64, f: impl Fn(f64) -> f64) -> Self {
        match self.tangents() {
            None => Self::constant(value),
            Some(t) => Self::with(value, std::array::from_fn(|k| f(t[k]))),
        }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn zip(
        self,
        other: Self,
        value: f64,
        first: impl Fn(f64) -> f64,
        second: impl Fn(f64) -> f64,
        both: impl Fn(f64, f64) -> f64,
    ) -> Self {
        match (self.tangents(), other.tangents()) {
            (Some(a), Some(b)) => Self::with(value, std::array::from_fn(|k| both(a[k], b[k]))),
            (Some(_), None) => self.map(value, first),
            (None, _) => other.map(value, second),
        }
    }
}

impl<const N: usize> Tangents for Dual<N> {
    const LANES: usize = N;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn seeded(value: f64, mut tangent: impl FnMut(usize) -> f64) -> Self {
        Dual(DualSVec64::new(value, Derivative::some(SVector::from_fn(|lane, _| tangent(lane)))))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangent(&self, lane: usize) -> f64 {
        self.0.eps.0.as_ref().map_or(0.0, |tangents| tangents[lane])
    }
}
