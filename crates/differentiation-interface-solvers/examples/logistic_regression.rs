//! Logistic regression with `argmin`: L-BFGS and Newton's method from one model.
//!
//! The parameters are a `DVector` of `nalgebra`: Newton's method of `argmin` inverts the Hessian, and `argmin-math` 0.5 inverts arrays of `ndarray` only
//! through LAPACK (its feature `ndarray_v0_16`). With the feature `argmin-ndarray`, which needs no LAPACK, L-BFGS takes an `Array1`.
//!
//! `cargo run --release -p differentiation-interface-solvers --features argmin-nalgebra --example logistic_regression`

use argmin::core::{Error, Executor, Gradient, State};
use argmin::solver::{linesearch::MoreThuenteLineSearch, newton::Newton, quasinewton::LBFGS};
use differentiation_interface::prelude::*;
use differentiation_interface_solvers::argmin::{minimization, nalgebra::DVector};

const FEATURES: usize = 5;

/// Mean of log(1 + exp(-y xᵀw)) over the data, and a ridge.
struct Logistic {
    data: Vec<([f64; FEATURES], f64)>,
    ridge: f64,
}

impl<T: Real> Function<[T]> for Logistic {
    type Output = T;
    fn call(&self, w: &[T]) -> T {
        let margin = |x: &[f64], y: f64| w.iter().zip(x).map(|(w, x)| *w * (x * y)).sum::<T>();
        let loss: T = self.data.iter().map(|(x, y)| (-margin(x, *y)).softplus()).sum();
        loss / self.data.len() as f64 + w.iter().map(|w| *w * *w).sum::<T>() * (0.5 * self.ridge)
    }
}

impl Logistic {
    /// The gradient by hand: -mean of σ(-y xᵀw) y x, plus ridge w.
    fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let mut grad: Vec<f64> = w.iter().map(|w| self.ridge * w).collect();
        for (x, y) in &self.data {
            let margin: f64 = x.iter().zip(w).map(|(x, w)| y * x * w).sum();
            let weight = y / (1.0 + margin.exp()) / self.data.len() as f64;
            grad.iter_mut().zip(x).for_each(|(g, x)| *g -= weight * x);
        }
        grad
    }
}

fn main() -> Result<(), Error> {
    // Labels by a known rule, every tenth one wrong.
    let data = (0..200).map(|i| {
        let x: [f64; FEATURES] = std::array::from_fn(|j| ((1 + i * (j + 3)) as f64).sin());
        (x, if (x[0] - 2.0 * x[1] + 0.5 > 0.0) == (i % 10 != 0) { 1.0 } else { -1.0 })
    });
    let model = Logistic { data: data.collect(), ridge: 1e-3 };
    let start = DVector::zeros(FEATURES);

    let problem = minimization(&model, &AutoReverseDiff::default(), &start)?;
    let error = (problem.gradient(&start)? - DVector::from(model.gradient(start.as_slice()))).amax();
    assert!(error < 1e-15, "the gradient is that by hand");
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 7).with_tolerance_grad(1e-8)?.with_tolerance_cost(0.0)?;
    let descent = Executor::new(problem, solver).configure(|s| s.param(start.clone()).max_iters(100)).run()?;

    let hessian = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let problem = minimization(&model, &AutoReverseDiff::default(), &start)?.with_hessian(&hessian, &start)?;
    let newton = Executor::new(problem, Newton::<f64>::new()).configure(|s| s.param(start).max_iters(8)).run()?;

    let (w, w2) = (descent.state().get_best_param().unwrap(), newton.state().get_param().unwrap());
    println!(
        "L-BFGS: {} iterations, Newton: {}, weights {:.6?}",
        descent.state().get_iter(),
        newton.state().get_iter(),
        w2.as_slice()
    );
    assert!((w - w2).amax() < 1e-6, "both find the same weights");
    assert!(model.gradient(w2.as_slice()).iter().all(|g| g.abs() < 1e-14), "where the gradient by hand vanishes");
    Ok(())
}
