//! Custom rules with another number of outputs at another point, such as the events of an integrator or the active constraints of a step.

use crate::support::each_exact_engine;
use differentiation_interface::prelude::*;
use differentiation_interface::sparse::KnownPattern;
use differentiation_interface::sparse::matrix_coloring::Pattern;
use std::sync::Arc;

/// The squares of the inputs that are larger than 1.
struct Large;

impl CustomRule for Large {
    const NAME: &'static str = "large";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.extend(x.iter().filter(|x| **x > 1.0).map(|x| x * x));
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let large = x.iter().zip(dx).filter(|(x, _)| x.primal() > 1.0);
        assert_eq!(large.clone().count(), y.len());
        dy.iter_mut().zip(large).for_each(|(dy, (x, dx))| *dy = *x * *dx + *x * *dx);
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        assert_eq!(dy.len(), y.len());
        let mut dy = dy.iter();
        for (x, dx) in x.iter().zip(dx) {
            *dx = S::default();
            if x.primal() > 1.0 {
                let dy = *dy.next().expect("there is an output for each large input");
                *dx = *x * dy + *x * dy;
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Use {
    /// Σ of all outputs.
    Sum,
    /// The number of outputs times the first input: no output is used.
    Count,
}

/// The function with a rule inside.
struct Model(Custom<Large>, Use);

impl<T: Real> Function<[T]> for Model {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let large = self.0.call(x);
        match self.1 {
            Use::Sum => large.iter().copied().sum::<T>() + x[0],
            Use::Count => x[0] * large.len() as f64,
        }
    }
}

/// The same as two outputs.
struct Outputs(Model);

impl<T: Real> Function<[T]> for Outputs {
    type Output = [T; 2];
    fn call(&self, x: &[T]) -> [T; 2] {
        [self.0.call(x), x[1]]
    }
}

impl Use {
    fn value(self, x: &[f64]) -> f64 {
        let large = x.iter().filter(|x| **x > 1.0);
        match self {
            Use::Sum => large.map(|x| x * x).sum::<f64>() + x[0],
            Use::Count => x[0] * large.count() as f64,
        }
    }
    fn gradient(self, x: &[f64]) -> Vec<f64> {
        let mut grad: Vec<f64> = x.iter().map(|x| if *x > 1.0 { 2.0 * x } else { 0.0 }).collect();
        if let Use::Count = self {
            grad.fill(0.0);
        }
        grad[0] += if let Use::Count = self { x.iter().filter(|x| **x > 1.0).count() as f64 } else { 1.0 };
        grad
    }
    fn hessian(self, x: &[f64; 3]) -> [f64; 3] {
        x.map(|x| if x > 1.0 && matches!(self, Use::Sum) { 2.0 } else { 0.0 })
    }
}

/// No outputs, one, two and three, in all orders.
const POINTS: [[f64; 3]; 8] = [
    [0.5, 0.25, 0.125],
    [2.0, 0.25, 0.125],
    [0.5, 0.25, 3.0],
    [2.0, 5.0, 0.125],
    [2.0, 5.0, 3.0],
    [0.5, 0.25, 4.0],
    [0.25, 0.5, 0.75],
    [4.0, 0.5, 3.0],
];

#[test]
fn derivatives_follow_the_number_of_outputs() {
    each_exact_engine!(|backend| {
        for of in [Use::Sum, Use::Count] {
            let model = || Model(Custom::new(Large), of);
            for start in &POINTS {
                let mut gradients = prepare_gradient(Arc::new(model()), &backend, start).unwrap();
                let mut jacobians = prepare_jacobian(Arc::new(Outputs(model())), &backend, start).unwrap();
                let mut hessians = prepare_hessian(Arc::new(model()), &backend, start).unwrap();
                // The default engine compiles after some dozen calls.
                for x in std::iter::repeat_n(start, 60).chain(&POINTS) {
                    let grad = of.gradient(x);
                    let found = gradients.value_and_gradient(x).unwrap();
                    assert_eq!(found, (of.value(x), grad.clone()), "{backend:?} at {x:?}");
                    let jac = jacobians.jacobian(x).unwrap();
                    assert_eq!(jac, [[grad[0], grad[1], grad[2]], [0.0, 1.0, 0.0]], "{backend:?} at {x:?}");
                    let hess = hessians.hessian(x).unwrap();
                    let [a, b, c] = of.hessian(x);
                    assert_eq!(hess, [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]], "{backend:?} at {x:?}");
                }
            }
        }
    });
}

#[test]
fn products_and_sparse_matrices_follow_the_number_of_outputs() {
    let model = || Outputs(Model(Custom::new(Large), Use::Sum));
    let full = Pattern::from_triplets(2, 3, [(0, 0), (0, 1), (0, 2), (1, 1)]).unwrap();
    let sparse = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(KnownPattern(Arc::new(full)));
    for start in &POINTS {
        let backend = AutoReverseDiff::compiled();
        let mut forward = prepare_pushforward(Arc::new(model()), &backend, start, [&[0.0; 3]]).unwrap();
        let mut back = prepare_pullback(Arc::new(model()), &backend, start, [&[0.0; 2]]).unwrap();
        let mut matrix = prepare_jacobian(Arc::new(model()), &sparse, start).unwrap();
        for x in &POINTS {
            let grad = Use::Sum.gradient(x);
            let along = grad[0] + 2.0 * grad[1] + 4.0 * grad[2];
            assert_eq!(forward.pushforward(x, [&[1.0, 2.0, 4.0]]).unwrap(), [[along, 2.0]]);
            let expected = [grad[0], grad[1] + 3.0, grad[2]];
            assert_eq!(back.pullback(x, [&[1.0, 3.0]]).unwrap(), [expected]);
            assert_eq!(matrix.jacobian(x).unwrap().to_dense(), [[grad[0], grad[1], grad[2]], [0.0, 1.0, 0.0]]);
        }
    }
}
