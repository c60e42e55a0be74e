//! Equations of `diffsol`: operators against derivatives by hand, solutions and their derivatives against closed forms.

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::diffsol::{Equations, Ode, OdeBackend, equations};
use diffsol::{
    AdjointOdeSolverMethod, ConstantOp, ConstantOpSens, ConstantOpSensAdjoint, FaerLU, FaerMat, LinearOp,
    LinearOpTranspose, MatrixCommon, NalgebraLU, NalgebraMat, NalgebraVec, NonLinearOp, NonLinearOpAdjoint,
    NonLinearOpJacobian, NonLinearOpSens, NonLinearOpSensAdjoint, OdeBuilder, OdeEquations, OdeSolverMethod,
    OdeSolverState, OdeSolverStopReason, SensitivitiesOdeSolverMethod, Vector,
};
use std::sync::Arc;

type M = NalgebraMat<f64>;
type LU = NalgebraLU<f64>;

/// y₀' = -p₀ y₀ t, m y₁' = p₁ y₀ y₁ with y(0) = (p₁, 2), output p₀ y₀².
struct Model {
    mass: f64,
}

impl Ode for Model {
    fn states(&self) -> usize {
        2
    }
    fn parameters(&self) -> usize {
        2
    }
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], t: T) {
        dy[0] = -p[0] * y[0] * t;
        dy[1] = p[1] * y[0] * y[1];
    }
    fn initial<T: Real>(&self, y: &mut [T], p: &[T], _: T) {
        y[0] = p[1];
        y[1] = T::constant(2.0);
    }
    fn has_mass(&self) -> bool {
        self.mass != 1.0
    }
    fn mass<T: Real>(&self, product: &mut [T], v: &[T], _: T) {
        // Not symmetric, so that the transpose differs.
        product[0] = v[0];
        product[1] = self.mass * v[1] + 3.0 * v[0];
    }
    fn outputs(&self) -> usize {
        1
    }
    fn out<T: Real>(&self, out: &mut [T], y: &[T], p: &[T], _: T) {
        out[0] = p[0] * y[0] * y[0];
    }
}

fn vector(numbers: &[f64]) -> NalgebraVec<f64> {
    NalgebraVec::from_slice(numbers, Default::default())
}

fn operators_by<B: for<'a> OdeBackend<&'a Model>>(backend: &B) {
    let model = Model { mass: 5.0 };
    let mut eqn: Equations<_, _, M> = equations(&model, backend);
    eqn.set_params(&vector(&[2.0, 3.0]));
    let (y, t, v) = (vector(&[4.0, 5.0]), 0.5, vector(&[1.0, 10.0]));
    let close = |found: NalgebraVec<f64>, expected: &[f64]| {
        let found = found.clone_as_vec();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
        assert_eq!(found.len(), expected.len());
    };
    // At p = (2, 3), y = (4, 5), t = 0.5: f = (-4, 60), J = [[-1, 0], [15, 12]], ∂f/∂p = [[-2, 0], [0, 20]].
    let rhs = eqn.rhs();
    close(rhs.call(&y, t), &[-4.0, 60.0]);
    close(rhs.jac_mul(&y, t, &v), &[-1.0, 135.0]);
    let jac = rhs.jacobian(&y, t);
    close(vector(jac.inner().as_slice()), &[-1.0, 15.0, 0.0, 12.0]);
    let mut product = vector(&[f64::NAN; 2]);
    rhs.jac_transpose_mul_inplace(&y, t, &v, &mut product);
    close(product.clone(), &[-149.0, -120.0]);
    close(rhs.sens_mul(&y, t, &v), &[-2.0, 200.0]);
    let sens = rhs.sens(&y, t);
    close(vector(sens.inner().as_slice()), &[-2.0, 0.0, 0.0, 20.0]);
    rhs.sens_transpose_mul_inplace(&y, t, &v, &mut product);
    close(product.clone(), &[2.0, -200.0]);
    // The initial state (p₁, 2).
    let init = eqn.init();
    close(init.call(0.0), &[3.0, 2.0]);
    init.sens_mul_inplace(0.0, &v, &mut product);
    close(product.clone(), &[10.0, 0.0]);
    init.sens_transpose_mul_inplace(0.0, &v, &mut product);
    close(product.clone(), &[0.0, -1.0]);
    // The mass [[1, 0], [3, 5]], added to the old content or not.
    let mass = eqn.mass().unwrap();
    let mut product = vector(&[100.0, 200.0]);
    mass.gemv_inplace(&v, t, 2.0, &mut product);
    close(product, &[201.0, 453.0]);
    let mut product = vector(&[f64::NAN; 2]);
    mass.gemv_transpose_inplace(&v, t, 0.0, &mut product);
    close(product, &[31.0, 50.0]);
    // The output p₀ y₀² = 32.
    let out = eqn.out().unwrap();
    close(out.call(&y, t), &[32.0]);
    let mut product = vector(&[f64::NAN; 2]);
    out.jac_transpose_mul_inplace(&y, t, &vector(&[1.0]), &mut product);
    close(product, &[-16.0, 0.0]);
    assert!(eqn.first_error().take().is_none());
}

#[test]
fn operators_agree_with_derivatives_by_hand() {
    operators_by(&AutoForwardDiff::default());
    operators_by(&AutoReverseDiff::default());
    operators_by(&AutoReverseDiff::compiled());
    operators_by(&AutoFiniteDiff::central());
}

/// y' = -k y, y(0) = a: y(t) = a exp(-k t). Output y, event y - 0.5.
struct Decay;

impl Ode for Decay {
    fn states(&self) -> usize {
        1
    }
    fn parameters(&self) -> usize {
        2
    }
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], _: T) {
        dy[0] = -p[0] * y[0];
    }
    fn initial<T: Real>(&self, y: &mut [T], p: &[T], _: T) {
        y[0] = p[1];
    }
    fn outputs(&self) -> usize {
        1
    }
    fn out<T: Real>(&self, out: &mut [T], y: &[T], _: &[T], _: T) {
        out[0] = y[0];
    }
    fn roots(&self) -> usize {
        1
    }
    fn root<T: Real>(&self, root: &mut [T], y: &[T], _: &[T], _: T) {
        root[0] = y[0] - 0.5;
    }
}

#[test]
fn adjoint_gradient_of_an_integral_is_that_of_the_closed_form() {
    let builder = OdeBuilder::<M>::new().p([0.5, 4.0]).rtol(1e-9).atol([1e-10]).integrate_out(true);
    let builder = builder.out_rtol(1e-9).out_atol([1e-10]).param_rtol(1e-9).param_atol([1e-10]);
    let problem = builder.build_from_eqn(equations(Arc::new(Decay), &AutoReverseDiff::default())).unwrap();
    let mut solver = problem.bdf::<LU>().unwrap();
    let (path, ..) = solver.solve_with_checkpointing(2.0, None).unwrap();
    let adjoint = problem.bdf_solver_adjoint::<LU, _>(path, Some(solver), None).unwrap();
    let (state, _) = adjoint.solve_adjoint_backwards_pass(&[], &[]).unwrap();
    let found = state.into_common().sg.clone_as_vec();
    // ∫ a exp(-k t) over [0, T] = a (1 - e) / k with e = exp(-k T); its derivatives by k and a:
    let (k, a, t) = (0.5, 4.0, 2.0_f64);
    let e = (-k * t).exp();
    let expected = [a * (t * e / k - (1.0 - e) / (k * k)), (1.0 - e) / k];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-5, "{found} and {expected}");
    }
}

#[test]
fn sensitivities_and_events_work_with_matrices_of_faer() {
    let builder = OdeBuilder::<FaerMat<f64>>::new().p([0.5, 4.0]).rtol(1e-8).atol([1e-8]);
    let builder = builder.sens_rtol(1e-8).sens_atol([1e-8]);
    let problem = builder.build_from_eqn(equations(&Decay, &AutoForwardDiff::default())).unwrap();
    let mut solver = problem.bdf_sens::<FaerLU<f64>>().unwrap();
    let (y, dy, _) = solver.solve_dense_sensitivities(&[1.0]).unwrap();
    let e = (-0.5_f64).exp();
    assert!((y.inner()[(0, 0)] - 4.0 * e).abs() < 1e-5);
    assert!((dy[0].inner()[(0, 0)] + 4.0 * e).abs() < 1e-5 && (dy[1].inner()[(0, 0)] - e).abs() < 1e-5);
    let mut solver = problem.bdf::<FaerLU<f64>>().unwrap();
    let (.., reason) = solver.solve(10.0).unwrap();
    // The event y = 0.5 is at t = ln 8 / 0.5.
    let OdeSolverStopReason::RootFound(t, _) = reason else { panic!("no event: {reason:?}") };
    assert!((t - 8_f64.ln() / 0.5).abs() < 1e-4, "{t}");
}

/// y₀' = -p y₀, 0 = y₁ - y₀²: a mass matrix that is singular.
struct Algebraic;

impl Ode for Algebraic {
    fn states(&self) -> usize {
        2
    }
    fn parameters(&self) -> usize {
        1
    }
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], _: T) {
        dy[0] = -p[0] * y[0];
        dy[1] = y[1] - y[0] * y[0];
    }
    fn initial<T: Real>(&self, y: &mut [T], _: &[T], _: T) {
        // The second entry is found by the solver.
        y[0] = T::constant(2.0);
        y[1] = T::zero();
    }
    fn has_mass(&self) -> bool {
        true
    }
    fn mass<T: Real>(&self, product: &mut [T], v: &[T], _: T) {
        product[0] = v[0];
        product[1] = T::zero();
    }
}

#[test]
fn differential_algebraic_equations_are_solved() {
    let builder = OdeBuilder::<M>::new().p([0.5]).rtol(1e-8).atol([1e-8]);
    let problem = builder.build_from_eqn(equations(&Algebraic, &AutoForwardDiff::default())).unwrap();
    let (y, _) = problem.bdf::<LU>().unwrap().solve_dense(&[1.0]).unwrap();
    let y0 = 2.0 * (-0.5_f64).exp();
    assert!((y.inner()[(0, 0)] - y0).abs() < 1e-5 && (y.inner()[(1, 0)] - y0 * y0).abs() < 1e-5, "{y:?}");
}

/// Does not write its derivative.
struct Forgetful;

impl Ode for Forgetful {
    fn states(&self) -> usize {
        1
    }
    fn parameters(&self) -> usize {
        0
    }
    fn rhs<T: Real>(&self, _: &mut [T], _: &[T], _: &[T], _: T) {}
    fn initial<T: Real>(&self, y: &mut [T], _: &[T], _: T) {
        y[0] = T::one();
    }
}

#[test]
fn the_first_error_is_kept_and_the_result_is_nan() {
    let eqn: Equations<_, _, M> = equations(&Forgetful, &AutoForwardDiff::default());
    let y = vector(&[1.0]);
    assert!(eqn.rhs().call(&y, 0.0).get_index(0).is_nan());
    assert!(eqn.rhs().jac_mul(&y, 0.0, &y).get_index(0).is_nan());
    assert!(eqn.rhs().jacobian(&y, 0.0).inner()[(0, 0)].is_nan());
    let error = eqn.first_error().take().unwrap();
    assert_eq!(error.kind(), ErrorKind::UnwrittenOutput { index: 0 });
    assert!(eqn.first_error().take().is_none());
}
