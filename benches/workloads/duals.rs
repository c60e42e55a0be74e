//! Textbook forward mode: dual numbers with [`LANES`] tangents, written plainly.

use super::Number;
use super::sums::Sum;
use super::systems::System;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// The default of `AutoForwardDiff`.
pub(crate) const LANES: usize = 12;

/// Value and tangents.
#[derive(Clone, Copy, Default)]
pub(crate) struct HandDual {
    v: f64,
    t: [f64; LANES],
}

impl HandDual {
    /// A variable with the unit tangent in one lane.
    pub(crate) fn variable(value: f64, lane: usize) -> Self {
        let mut t = [0.0; LANES];
        t[lane] = 1.0;
        HandDual { v: value, t }
    }
    pub(crate) fn tangent(&self, lane: usize) -> f64 {
        self.t[lane]
    }
}

/// A value, and a tangent computed lane by lane.
macro_rules! dual {
    ($value:expr, $k:ident => $tangent:expr) => {{
        let mut t = [0.0; LANES];
        for $k in 0..LANES {
            t[$k] = $tangent;
        }
        HandDual { v: $value, t }
    }};
}

macro_rules! operators {
    ($($Op:ident $op:ident: ($a:ident, $b:ident) $both:expr; $right:expr; $left:expr;)*) => {$(
        impl $Op for HandDual {
            type Output = HandDual;
            #[inline]
            fn $op(self, $b: HandDual) -> HandDual {
                let $a = self;
                $both
            }
        }
        impl $Op<f64> for HandDual {
            type Output = HandDual;
            #[inline]
            fn $op(self, $b: f64) -> HandDual {
                let $a = self;
                $right
            }
        }
        impl $Op<HandDual> for f64 {
            type Output = HandDual;
            #[inline]
            fn $op(self, $b: HandDual) -> HandDual {
                let $a = self;
                $left
            }
        }
    )*};
}
operators! {
    Add add: (a, b)
        dual!(a.v + b.v, k => a.t[k] + b.t[k]); HandDual { v: a.v + b, t: a.t }; HandDual { v: a + b.v, t: b.t };
    Sub sub: (a, b)
        dual!(a.v - b.v, k => a.t[k] - b.t[k]); HandDual { v: a.v - b, t: a.t }; dual!(a - b.v, k => -b.t[k]);
    Mul mul: (a, b)
        dual!(a.v * b.v, k => a.t[k] * b.v + a.v * b.t[k]); dual!(a.v * b, k => a.t[k] * b); dual!(a * b.v, k => a * b.t[k]);
    Div div: (a, b)
        { let (r, s) = (1.0 / b.v, a.v / b.v); dual!(s, k => r * (a.t[k] - s * b.t[k])) };
        { let r = 1.0 / b; dual!(a.v * r, k => a.t[k] * r) };
        { let (r, s) = (1.0 / b.v, a / b.v); dual!(s, k => -r * s * b.t[k]) };
}

impl AddAssign for HandDual {
    #[inline]
    fn add_assign(&mut self, other: HandDual) {
        *self = *self + other;
    }
}

impl Neg for HandDual {
    type Output = HandDual;
    #[inline]
    fn neg(self) -> HandDual {
        dual!(-self.v, k => -self.t[k])
    }
}

impl Number for HandDual {
    #[inline]
    fn of(constant: f64) -> Self {
        HandDual { v: constant, t: [0.0; LANES] }
    }
    #[inline]
    fn sin(self) -> Self {
        let d = self.v.cos();
        dual!(self.v.sin(), k => d * self.t[k])
    }
    #[inline]
    fn cos(self) -> Self {
        let d = -self.v.sin();
        dual!(self.v.cos(), k => d * self.t[k])
    }
    #[inline]
    fn sqrt(self) -> Self {
        let s = self.v.sqrt();
        let d = 0.5 / s;
        dual!(s, k => d * self.t[k])
    }
}

/// Active inputs and outputs, reused.
pub(crate) struct Memory {
    x: Vec<HandDual>,
    y: Vec<HandDual>,
}

impl Memory {
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        Memory { x: vec![HandDual::default(); inputs], y: vec![HandDual::default(); outputs] }
    }

    /// As few passes as possible, then as even as possible, like `AutoForwardDiff`.
    fn passes(&mut self, x: &[f64], mut pass: impl FnMut(&[HandDual], &mut [HandDual], usize, usize)) {
        let n = x.len();
        let width = if n <= LANES { n } else { n.div_ceil(n.div_ceil(LANES)) };
        for (dual, &v) in self.x.iter_mut().zip(x) {
            *dual = HandDual { v, t: [0.0; LANES] };
        }
        for first in (0..n).step_by(width) {
            let count = width.min(n - first);
            for k in 0..count {
                self.x[first + k].t[k] = 1.0;
            }
            pass(&self.x, &mut self.y, first, count);
            for k in 0..count {
                self.x[first + k].t[k] = 0.0;
            }
        }
    }

    pub(crate) fn gradient<W: Sum>(&mut self, grad: &mut [f64], x: &[f64]) -> f64 {
        let mut value = 0.0;
        self.passes(x, |x, _, first, count| {
            let y = W::value(x);
            value = y.v;
            grad[first..first + count].copy_from_slice(&y.t[..count]);
        });
        value
    }

    pub(crate) fn jacobian<W: System>(&mut self, value: &mut [f64], jac: &mut [f64], x: &[f64]) {
        let n = x.len();
        self.passes(x, |x, y, first, count| {
            W::value(y, x);
            for (i, y) in y.iter().enumerate() {
                value[i] = y.v;
                jac[i * n + first..][..count].copy_from_slice(&y.t[..count]);
            }
        });
    }
}
