//! The smallest forward-mode number, and derivatives of the objects with it.
#![allow(dead_code, reason = "every test file uses a part")]

use differentiation_interface_core::rules::{Binary, Unary};
use differentiation_interface_core::{Core, Function, FunctionInPlace, Num};

/// A value and a tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) tangent: f64,
}

pub(crate) type D = Num<Dual>;

impl Core for Dual {
    type Base = f64;
    const DEPTH: u32 = 1;
    fn constant(value: f64) -> Dual {
        Dual { value, tangent: 0.0 }
    }
    fn primal(&self) -> f64 {
        self.value
    }
    fn is_constant(&self) -> bool {
        self.tangent == 0.0
    }
    fn unary<R: Unary>(self, rule: R) -> Dual {
        let value = rule.value(self.value);
        Dual { value, tangent: rule.derivative(self.value, value).times(self.tangent) }
    }
    fn binary<R: Binary>(self, other: Dual, rule: R) -> Dual {
        let (x, y) = (self.value, other.value);
        let value = rule.value(x, y);
        let tangent =
            rule.partial_x(x, y, value).times(self.tangent) + rule.partial_y(x, y, value).times(other.tangent);
        Dual { value, tangent }
    }
    fn binary_right<R: Binary>(self, other: f64, rule: R) -> Dual {
        let value = rule.value(self.value, other);
        Dual { value, tangent: rule.partial_x(self.value, other, value).times(self.tangent) }
    }
    fn binary_left<R: Binary>(first: f64, second: Dual, rule: R) -> Dual {
        let value = rule.value(first, second.value);
        Dual { value, tangent: rule.partial_y(first, second.value, value).times(second.tangent) }
    }
}

/// The point with tangent 1 in entry `i`.
pub(crate) fn seeded<const N: usize>(x: [f64; N], i: usize) -> [D; N] {
    std::array::from_fn(|j| Num(Dual { value: x[j], tangent: if i == j { 1.0 } else { 0.0 } }))
}

pub(crate) fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "is {found}, expected {expected}");
}

/// Value and gradient of a function of a slice.
pub(crate) fn gradient<const N: usize>(f: impl Function<[D], Output = D>, x: [f64; N]) -> (f64, [f64; N]) {
    let parts: [Dual; N] = std::array::from_fn(|i| f.call(&seeded(x, i)).0);
    (f.call(&seeded(x, N)).0.value, parts.map(|d| d.tangent))
}

/// Value and derivative of a function of a number.
pub(crate) fn derivative(f: impl Function<D, Output = D>, x: f64) -> (f64, f64) {
    let y = f.call(&Num(Dual { value: x, tangent: 1.0 })).0;
    (y.value, y.tangent)
}

/// Value and derivative along entry `i` of a function with written output.
pub(crate) fn column<const N: usize, const M: usize>(
    f: impl FunctionInPlace<D, [D]>,
    x: [f64; N],
    i: usize,
) -> [(f64, f64); M] {
    let mut y = [Num(Dual { value: f64::NAN, tangent: f64::NAN }); M];
    f.call_in_place(&mut y, &seeded(x, i));
    y.map(|d| (d.0.value, d.0.tangent))
}

/// Checks the generic function at `f64` against the original value, and the gradient against one worked by hand.
pub(crate) fn check<const N: usize>(
    f: impl Function<[D], Output = D> + Function<[f64], Output = f64>,
    x: [f64; N],
    value: f64,
    by_hand: [f64; N],
) {
    close(Function::<[f64]>::call(&f, &x), value);
    let (y, g) = gradient(f, x);
    close(y, value);
    for (found, expected) in g.into_iter().zip(by_hand) {
        close(found, expected);
    }
}

/// Central differences of the module as it is written.
pub(crate) fn differences<const N: usize>(f: impl Fn(&[f64]) -> f64, x: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| {
        let h = 1e-6;
        let (mut up, mut down) = (x, x);
        up[i] += h;
        down[i] -= h;
        (f(&up) - f(&down)) / (2.0 * h)
    })
}

pub(crate) fn agrees<const N: usize>(object: impl Function<[D], Output = D>, plain: fn(&[f64]) -> f64, x: [f64; N]) {
    let (value, found) = gradient(object, x);
    close(value, plain(&x));
    for (a, b) in found.iter().zip(differences(plain, x)) {
        assert!((a - b).abs() < 1e-7 * b.abs().max(1.0), "is {a}, differences give {b}");
    }
}
