//! Rules with their own derivatives that drawn programs call, and the functions that these programs differentiate inside.
//!
//! Called by `function`. `reference` computes the same by other formulas.

use differentiation_interface::prelude::*;
use differentiation_interface::rules::{self, Partial};
use differentiation_interface::scalar::Base;
use std::sync::LazyLock;

/// a² b + sin b, with its pushforward.
pub(crate) struct ByPushforward;

impl<B: Base> CustomRule<B> for ByPushforward {
    const NAME: &'static str = "by_pushforward";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.push(x[0] * x[0] * x[1] + x[1].sin());
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
        let product = x[0] * x[1];
        dy[0] = (product + product) * dx[0] + (x[0] * x[0] + rules::cos(x[1])) * dx[1];
    }
}

/// (a b - b², a + 2 b), with its pullback.
pub(crate) struct ByPullback;

impl<B: Base> CustomRule<B> for ByPullback {
    const NAME: &'static str = "by_pullback";
    const GIVEN: Halves = Halves::Pullback;
    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.extend([x[0] * x[1] - x[1] * x[1], x[0] + x[1] + x[1]]);
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], _: &[S], dy: &[S], dx: &mut [S]) {
        dx[0] = x[1] * dy[0] + dy[1];
        dx[1] = (x[0] - (x[1] + x[1])) * dy[0] + dy[1] + dy[1];
    }
}

pub(crate) static BY_PUSHFORWARD: LazyLock<Custom<ByPushforward>> = LazyLock::new(|| Custom::new(ByPushforward));
pub(crate) static BY_PULLBACK: LazyLock<Custom<ByPullback>> = LazyLock::new(|| Custom::new(ByPullback));

/// x / (1 + x²) with the derivative (1 - x²) / (1 + x²)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bell;

impl rules::Unary for Bell {
    const NAME: &'static str = "bell";
    fn value<B: Base>(self, x: B) -> B {
        x / (B::ONE + x * x)
    }
    fn derivative<S: Scalar>(self, x: S, _: S) -> Partial<S> {
        let one = S::constant(S::Base::ONE);
        let below = one + x * x;
        Partial::Value((one - x) * (one + x) / (below * below))
    }
}

/// ∂/∂y (sin(a y) + a y²) at y = b, differentiated by forward mode.
#[inline(never)]
pub(crate) fn nested_forward<T: Scalar>(a: T, b: T) -> T {
    let backend = AutoForwardDiff::with_chunk::<1>();
    let inner = NestedForward { a };
    derivative(&inner, &backend, &b).unwrap_or_else(|error| panic!("inner derivative: {error}"))
}

struct NestedForward<T> {
    a: T,
}

type InnerDual<T> = <AutoForwardDiff as Backend>::Num<T, differentiation_interface::backend::Lane<1>>;

impl<T: Scalar> Function<InnerDual<T>> for NestedForward<T> {
    type Output = InnerDual<T>;
    fn call(&self, y: &InnerDual<T>) -> InnerDual<T> {
        let a: InnerDual<T> = lift(&AutoForwardDiff::default(), &self.a);
        rules::sin(a * *y) + a * *y * *y
    }
}

/// ∂/∂u (u² v + exp(-u v)) at u = a, v = b, differentiated by the tape.
#[inline(never)]
pub(crate) fn nested_reverse<T: Scalar>(a: T, b: T) -> T {
    let point = [a, b];
    match gradient(&NestedReverse, &AutoReverseDiff::default(), &point) {
        Ok(grad) => grad[0],
        Err(error) => panic!("inner gradient: {error}"),
    }
}

struct NestedReverse;

impl<S: Scalar> Function<[S]> for NestedReverse {
    type Output = S;
    fn call(&self, x: &[S]) -> S {
        let (u, v) = (x[0], x[1]);
        u * u * v + rules::exp(-(u * v))
    }
}
