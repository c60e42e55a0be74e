//! Robertson's stiff reaction and its sensitivities with `diffsol`, from the right-hand side alone.
//!
//! `cargo run --release -p differentiation-interface-solvers --features diffsol --example robertson`

use differentiation_interface::prelude::*;
use differentiation_interface_solvers::diffsol::{Ode, equations};
use diffsol::{MatrixCommon, NalgebraLU, NalgebraMat, OdeBuilder, SensitivitiesOdeSolverMethod};

struct Robertson;

impl Ode for Robertson {
    fn states(&self) -> usize {
        3
    }
    fn parameters(&self) -> usize {
        3
    }
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], _t: T) {
        let (slow, fast, back) = (p[0] * y[0], p[2] * y[1] * y[1], p[1] * y[1] * y[2]);
        dy.copy_from_slice(&[back - slow, slow - back - fast, fast]);
    }
    fn initial<T: Real>(&self, y: &mut [T], _p: &[T], _t: T) {
        y.copy_from_slice(&[1.0, 0.0, 0.0].map(T::constant));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = OdeBuilder::<NalgebraMat<f64>>::new()
        .p([0.04, 1e4, 3e7])
        .rtol(1e-8)
        .atol([1e-10, 1e-14, 1e-10])
        .sens_rtol(1e-8)
        .sens_atol([1e-10, 1e-14, 1e-10])
        .build_from_eqn(equations(&Robertson, &AutoForwardDiff::default()))?;
    let (y, dy, _) = problem.bdf_sens::<NalgebraLU<f64>>()?.solve_dense_sensitivities(&[40.0])?;

    // At t = 40, as the example cvsRoberts_FSA_dns of CVODES prints it.
    let published = [7.1583e-1, 9.1856e-6, 2.8416e-1, -4.2475, 1.3731e-5, -2.2883e-9];
    let found: Vec<f64> = y.inner().iter().copied().chain(dy.iter().map(|by_p| by_p.inner()[(0, 0)])).collect();
    println!("y = {:?}\ndy0/dp = {:?}", &found[..3], &found[3..]);
    assert!(found.iter().zip(published).all(|(found, known)| (found / known - 1.0).abs() < 1e-4));
    Ok(())
}
