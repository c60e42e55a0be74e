//! Objects whose numbers an engine writes where the function reads them, beside the same function at a slice.

use differentiation_interface::container::{Container, Object};
use differentiation_interface::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Numbers on the heap. Each call gets a new object, as `fit` is the default.
#[derive(Clone, Debug, PartialEq)]
struct Heap<T = f64> {
    numbers: Vec<T>,
}

impl<S: Scalar> Container for Heap<S> {
    type Scalar = S;
    type With<N: Scalar> = Heap<N>;
    fn with<N: Scalar>(&self) -> Heap<N> {
        Heap { numbers: vec![N::default(); self.numbers.len()] }
    }
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
        visit(&self.numbers);
    }
}
impl<S: Scalar> Object for Heap<S> {
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(&mut self.numbers);
    }
    fn own_memory(&mut self) -> Option<&mut [S]> {
        Some(&mut self.numbers)
    }
}
differentiation_interface::whole! { [S: Scalar] Heap<S>; }

/// √x₀ + Σ xᵢ² xᵢ₊₁. At x₀ = 0 the derivative is infinite, so that each lane needs a pass of its own.
fn chain<T: Real>(x: &[T]) -> T {
    assert!(x[0] < 100.0, "a point that the function refuses");
    x[0].sqrt() + x.windows(2).map(|pair| pair[0] * pair[0] * pair[1]).sum::<T>()
}

/// The function of an object.
struct Chain;
impl<T: Real> Function<Heap<T>> for Chain {
    type Output = T;
    fn call(&self, x: &Heap<T>) -> T {
        chain(&x.numbers)
    }
}

/// As many passes as 30 numbers need, at points in turn; bit for bit what the slice gives.
#[test]
fn passes_panics_and_products_are_those_of_a_slice() {
    let (backend, n) = (AutoForwardDiff::default(), 30);
    let points: Vec<Heap> = [0.0, 1.0, 2.0]
        .map(|first| Heap { numbers: (0..n).map(|i| if i == 0 { first } else { 0.25 * i as f64 }).collect() })
        .to_vec();
    let mut prepared = prepare_gradient(&Chain, &backend, &points[0]).unwrap();
    let seed = Heap { numbers: (0..n).map(|i| f64::from(u8::from(i % 3 == 0))).collect() };
    let mut product = prepare_pushforward(&Chain, &backend, &points[0], [&seed]).unwrap();
    let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for round in 0..6 {
        let x = &points[round % 3];
        let expected = gradient(&|x: &[_]| chain(x), &backend, &x.numbers).unwrap();
        assert_eq!(bits(&prepared.gradient(x).unwrap().numbers), bits(&expected), "round {round}");
        let expected = pushforward(&|x: &[_]| chain(x), &backend, &x.numbers, [&seed.numbers]).unwrap();
        assert_eq!(product.pushforward(x, [&seed]).unwrap(), expected, "round {round}");

        let mut refused = x.clone();
        refused.numbers[0] = 1000.0;
        assert!(catch_unwind(AssertUnwindSafe(|| prepared.gradient(&refused))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| product.pushforward(&refused, [&seed]))).is_err());
    }
    assert_eq!(expected_at_two(&points[2]), prepared.gradient(&points[2]).unwrap().numbers[..2]);
}

/// 1 / (2 √x₀) + 2 x₀ x₁, and x₀² + 2 x₁ x₂, by hand.
fn expected_at_two(x: &Heap) -> [f64; 2] {
    let x = &x.numbers;
    [0.5 / x[0].sqrt() + 2.0 * x[0] * x[1], x[0] * x[0] + 2.0 * x[1] * x[2]]
}

/// Products at a fixed point keep the numbers themselves: the object that the function reads is another one in each call.
#[test]
fn a_fixed_point_stays_while_other_points_are_differentiated() {
    let backend = AutoForwardDiff::default();
    let [x, other] = [[1.0, 3.0], [4.0, 5.0]].map(|numbers| Heap { numbers: numbers.to_vec() });
    let unit = Heap { numbers: vec![0.0, 1.0] };
    let mut fixed = prepare_pushforward_same_point(&Chain, &backend, &x, [&unit]).unwrap();
    let mut gradients = prepare_gradient(&Chain, &backend, &x).unwrap();
    assert_eq!(fixed.pushforward([&unit]).unwrap(), [1.0]);
    assert_eq!(gradients.gradient(&other).unwrap().numbers, [0.25 + 40.0, 16.0]);
    assert_eq!(fixed.pushforward([&unit]).unwrap(), [1.0]);
}
