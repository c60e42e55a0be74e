//! Problems of `argmin`: values and derivatives against closed forms, the solvers' results against known minima.

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator, State};
use argmin::solver::gaussnewton::GaussNewton;
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::newton::Newton;
use argmin::solver::quasinewton::LBFGS;
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use differentiation_interface::prelude::*;
use differentiation_interface_solvers::argmin::nalgebra::{self, DVector, dmatrix, dvector};
use differentiation_interface_solvers::argmin::ndarray::{Array1, Axis, array};
use differentiation_interface_solvers::argmin::{equations, minimization};
use std::sync::{Arc, Barrier};

/// 100 (x₁ - x₀²)² + (1 - x₀)², least at (1, 1).
#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)
}

/// Its gradient by hand.
fn gradient_by_hand(x: &[f64]) -> [f64; 2] {
    let d = x[1] - x[0] * x[0];
    [-400.0 * x[0] * d - 2.0 * (1.0 - x[0]), 200.0 * d]
}

/// Values of a exp(b t) at t = 0, 1, 2, 3 minus those for a = 2, b = -0.5.
struct Decay;

impl<T: Real> Function<[T]> for Decay {
    type Output = [T; 4];
    fn call(&self, x: &[T]) -> [T; 4] {
        std::array::from_fn(|i| x[0] * (x[1] * i as f64).exp() - 2.0 * (-0.5 * i as f64).exp())
    }
}

#[test]
fn lbfgs_finds_the_minimum_with_vectors() {
    let start = vec![-1.2, 1.0];
    let problem = minimization(&Rosenbrock, &AutoReverseDiff::default(), &start).unwrap();
    assert_eq!(problem.cost(&vec![2.0, 3.0]).unwrap(), 101.0);
    assert_eq!(problem.gradient(&vec![2.0, 3.0]).unwrap(), [802.0, -200.0]);
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5).with_tolerance_grad(1e-10).unwrap();
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(100)).run().unwrap();
    let x = result.state().get_best_param().unwrap();
    assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-8), "{x:?}");
}

#[test]
fn lbfgs_finds_the_minimum_with_ndarray() {
    let start: Array1<f64> = array![-1.2, 1.0];
    let problem = minimization(Arc::new(Rosenbrock), &AutoReverseDiff::compiled(), &start).unwrap();
    // A view backwards has no slice.
    let mut reversed = array![3.0, 2.0];
    reversed.invert_axis(Axis(0));
    assert!(reversed.as_slice().is_none());
    assert_eq!(problem.gradient(&reversed).unwrap(), array![802.0, -200.0]);
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 5).with_tolerance_grad(1e-10).unwrap();
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(100)).run().unwrap();
    let x = result.state().get_best_param().unwrap();
    assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-8), "{x:?}");
}

#[test]
fn newton_converges_with_hessians_in_each_container() {
    let forward = AutoForwardDiff::default();
    let pair = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());

    let start = vec![-1.2, 1.0];
    let problem = minimization(&Rosenbrock, &forward, &start).unwrap().with_hessian(&pair, &start).unwrap();
    assert_eq!(problem.hessian(&vec![2.0, 3.0]).unwrap(), [[3602.0, -800.0], [-800.0, 200.0]]);
    let solver = TrustRegion::new(Steihaug::<_, f64>::new().with_max_iters(10));
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(100)).run().unwrap();
    let x = result.state().get_param().unwrap();
    assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-6), "{x:?}");

    let start = dvector![-1.2, 1.0];
    let sparse = AutoSparse::new(pair);
    let problem = minimization(&Rosenbrock, &forward, &start).unwrap().with_hessian(&sparse, &start).unwrap();
    assert_eq!(problem.hessian(&dvector![2.0, 3.0]).unwrap(), dmatrix![3602.0, -800.0; -800.0, 200.0]);
    let solver = Newton::<f64>::new();
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(20)).run().unwrap();
    let x: &DVector<f64> = result.state().get_param().unwrap();
    assert!((x - dvector![1.0, 1.0]).amax() < 1e-12, "{x}");

    let start = array![-1.2, 1.0];
    let problem = minimization(&Rosenbrock, &forward, &start).unwrap().with_hessian(&forward, &start).unwrap();
    assert_eq!(problem.hessian(&array![2.0, 3.0]).unwrap(), array![[3602.0, -800.0], [-800.0, 200.0]]);
}

#[test]
fn gauss_newton_fits_with_jacobians() {
    let start = dvector![1.0, -0.2];
    let problem = equations(&Decay, &AutoForwardDiff::default(), &start).unwrap();
    let jac = problem.jacobian(&start).unwrap();
    assert_eq!((jac[(2, 0)], jac[(2, 1)]), ((-0.4_f64).exp(), 2.0 * (-0.4_f64).exp()));
    assert_eq!(problem.apply(&start).unwrap()[0], -1.0);
    assert!((problem.cost(&dvector![2.0, -0.5]).unwrap()).abs() < 1e-30);
    let solver = GaussNewton::<f64>::new();
    let result = Executor::new(problem, solver).configure(|state| state.param(start).max_iters(30)).run().unwrap();
    let x = result.state().get_param().unwrap();
    assert!((x - dvector![2.0, -0.5]).amax() < 1e-12, "{x}");
}

#[test]
fn several_threads_share_one_problem() {
    let start = vec![0.0; 2];
    let problem = minimization(&Rosenbrock, &AutoReverseDiff::compiled(), &start).unwrap();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for k in 0..4 {
            let (problem, barrier) = (&problem, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for i in 0..1000 {
                    let x = vec![f64::from(k), f64::from(i) * 1e-3];
                    let (found, expected) = (problem.gradient(&x).unwrap(), gradient_by_hand(&x));
                    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{found:?}");
                }
            });
        }
    });
}

#[test]
fn errors_keep_their_text() {
    let problem = minimization(&Rosenbrock, &AutoForwardDiff::default(), &vec![0.0; 2]).unwrap();
    let text = problem.gradient(&vec![0.0; 3]).unwrap_err().to_string();
    assert_eq!(
        text,
        "gradient with forward_diff: prepared for 2 inputs, called with 3; prepare again with a point of length 3"
    );
    assert!(problem.cost(&vec![0.0; 3]).unwrap_err().to_string().contains("prepared for 2 inputs, called with 3"));
}

/// x₀ - ln x₀ where x₀ is positive, and its derivative as an equation.
struct Logarithm;

fn logarithm<T: Real>(x: T) -> Result<T, String> {
    if x > 0.0 { Ok(x.ln()) } else { Err(format!("{} has no logarithm", x.primal())) }
}

impl<T: Real> Function<[T]> for Logarithm {
    type Output = Result<T, String>;
    fn call(&self, x: &[T]) -> Result<T, String> {
        Ok(x[0] - logarithm(x[0])?)
    }
}

/// ln x₀ = 1.
struct IsE;

impl<T: Real> Function<[T]> for IsE {
    type Output = Result<[T; 1], String>;
    fn call(&self, x: &[T]) -> Result<[T; 1], String> {
        Ok([logarithm(x[0])? - 1.0])
    }
}

#[test]
fn an_error_of_the_function_ends_the_solver_and_is_returned() {
    let solver = || LBFGS::new(MoreThuenteLineSearch::new(), 5);
    let run = |start: f64| {
        let problem = minimization(&Logarithm, &AutoReverseDiff::default(), &vec![3.0]).unwrap();
        Executor::new(problem, solver()).configure(|state| state.param(vec![start]).max_iters(50)).run()
    };
    let found = run(2.0).unwrap().state().get_best_param().unwrap()[0];
    assert!((found - 1.0).abs() < 1e-6, "{found}");
    let error = run(-2.0).err().unwrap().to_string();
    assert!(error.contains("the function returned an error: -2 has no logarithm"), "{error}");

    let start = dvector![2.0];
    let problem = equations(&IsE, &AutoForwardDiff::default(), &start).unwrap();
    assert_eq!(problem.apply(&dvector![1.0]).unwrap(), dvector![-1.0]);
    assert!(problem.apply(&dvector![-1.0]).unwrap_err().to_string().contains("-1 has no logarithm"));
    assert!(problem.jacobian(&dvector![-3.0]).unwrap_err().to_string().contains("-3 has no logarithm"));
    let result =
        Executor::new(problem, GaussNewton::<f64>::new()).configure(|state| state.param(start).max_iters(20)).run();
    assert!((result.unwrap().state().get_best_param().unwrap()[0] - 1_f64.exp()).abs() < 1e-8);
}
