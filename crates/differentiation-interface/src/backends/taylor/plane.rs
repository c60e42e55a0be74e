//! Directions and distances in the plane, by which the rules of angles and lengths are written.
//!
//! Called by `unary` and `planar`. Everything is relative to the length, so that nothing overflows on the way.

use super::kernels::{combined, integral, power, product, quotient};
use super::space::{Space, View, euler, rescale};
use differentiation_interface_core::scalar::{Base, Scalar};

/// The unit vector (u, v) of (x, y), and its length squared, whose value is 1.
pub(super) struct Unit<S, B> {
    pub(super) length: S,
    u: (S, B),
    v: (S, B),
    square: B,
}

impl<S: Scalar, B: AsRef<[S]>> Unit<S, B> {
    pub(super) fn u(&self) -> View<'_, S> {
        View::new(self.u.0, &self.u.1)
    }
    pub(super) fn v(&self) -> View<'_, S> {
        View::new(self.v.0, &self.v.1)
    }
    /// (x² + y²)^c over its value.
    pub(super) fn to<P: Space<S, Block = B>>(&self, space: &P, c: f64) -> B {
        let one = S::constant(S::Base::ONE);
        power(space, View::new(one, &self.square), one, c)
    }
    /// u D v - v D u.
    pub(super) fn turn<P: Space<S, Block = B>>(&self, space: &P) -> B {
        let (du, dv) = (euler(space, self.u()), euler(space, self.v()));
        let (du, dv) = (View::new(S::default(), &du), View::new(S::default(), &dv));
        let (first, second) = (product(space, self.u(), dv), product(space, self.v(), du));
        combined(space, (1.0, View::new(S::default(), &first)), (-1.0, View::new(S::default(), &second)))
    }
}

pub(super) fn unit<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>, length: S) -> Unit<S, P::Block> {
    let over = |x: View<'_, S>| (x.value / length, quotient(space, x, View::inert(length), x.value));
    let (u, v) = (over(x), over(y));
    let of = |w: &(S, P::Block)| product(space, View::new(w.0, &w.1), View::new(w.0, &w.1));
    let (uu, vv) = (of(&u), of(&v));
    let square = combined(space, (1.0, View::new(length, &uu)), (1.0, View::new(length, &vv)));
    Unit { length, u, v, square }
}

/// (x² + y²)^c over its value, for the length √(x² + y²).
pub(super) fn hypotenuse_power<S: Scalar, P: Space<S>>(
    space: &P,
    x: View<'_, S>,
    y: View<'_, S>,
    length: S,
    c: f64,
) -> P::Block {
    unit(space, x, y, length).to(space, c)
}

/// √(x² + y²), whose value is `length`.
pub(super) fn hypotenuse<S: Scalar, P: Space<S>>(space: &P, x: View<'_, S>, y: View<'_, S>, length: S) -> P::Block {
    let unit = unit(space, x, y, length);
    let (along_x, along_y) = directions(space, &unit);
    let from_x = integral(space, x, View::new(unit.u.0, &along_x), 1.0);
    let from_y = integral(space, y, View::new(unit.v.0, &along_y), 1.0);
    combined(space, (1.0, View::new(length, &from_x)), (1.0, View::new(length, &from_y)))
}

/// x / √(x² + y²) and y / √(x² + y²): with w = (u D v - v D u)/ρ³, D of the first is -v w, and that of the second u w.
pub(super) fn directions<S: Scalar, P: Space<S>>(space: &P, unit: &Unit<S, P::Block>) -> (P::Block, P::Block) {
    let one = S::constant(S::Base::ONE);
    let cube = unit.to(space, -1.5);
    let turn = unit.turn(space);
    let turn = product(space, View::new(S::default(), &turn), View::new(one, &cube));
    let turn = View::new(S::default(), &turn);
    let along = |w: View<'_, S>, sign: f64| {
        let mut slope = product(space, w, turn);
        for k in 1..=space.order() {
            rescale(&mut slope.as_mut()[space.part(k)], sign / k as f64);
        }
        slope
    };
    (along(unit.v(), -1.0), along(unit.u(), 1.0))
}
