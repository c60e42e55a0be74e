//! A hanging chain by sequential quadratic programming: emitted derivatives, the sparse Hessian of the Lagrangian among them, given to the
//! solver Clarabel.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use derivative_source_examples::generated::chain::*;
use derivative_source_examples::{LENGTH, LINKS};

const INNER: usize = 2 * (LINKS - 1);

fn main() {
    // Nodes on a shallow arc, multipliers of a chain under tension.
    let mut x: [f64; INNER] = std::array::from_fn(|i| {
        let along = (i / 2 + 1) as f64 / LINKS as f64;
        if i % 2 == 0 { along } else { -0.5 * along * (1.0 - along) }
    });
    let mut multipliers = [1.0; LINKS];
    let (mut grad, mut values) = ([0.0; INNER], [0.0; LINKS]);
    let mut jac = [0.0; LINKS_SPARSE_JACOBIAN_COLUMNS.len()];
    let mut hess = [0.0; LAGRANGIAN_SPARSE_HESSIAN_COLUMNS.len()];
    for iteration in 0..30 {
        let height = energy_value_and_gradient(&x, &mut grad);
        links_value_and_sparse_jacobian(&x, &mut values, &mut jac);
        lagrangian_sparse_hessian(&x, &multipliers, &mut hess);
        // The solver takes columns: rows of a symmetric matrix are its columns, and the upper triangle of it is enough.
        let hessian = columns(&LAGRANGIAN_SPARSE_HESSIAN_STARTS, &LAGRANGIAN_SPARSE_HESSIAN_COLUMNS, &hess, INNER);
        let jacobian = columns(&LINKS_SPARSE_JACOBIAN_STARTS, &LINKS_SPARSE_JACOBIAN_COLUMNS, &jac, INNER);
        let jacobian = CscMatrix::from(jacobian.t());
        let right: Vec<f64> = values.iter().map(|v| -v).collect();
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let cones = [SupportedConeT::ZeroConeT(LINKS)];
        let solver = DefaultSolver::new(&hessian.to_triu(), &grad, &jacobian, &right, &cones, settings);
        let mut solver = solver.expect("the sizes of the matrices agree");
        solver.solve();
        let step = &solver.solution.x;
        multipliers.copy_from_slice(&solver.solution.z);
        x.iter_mut().zip(step).for_each(|(x, step)| *x += step);
        let length = step.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        println!("{iteration:2}: energy {height:.10}, step {length:.1e}");
        if length < 1e-9 {
            break;
        }
    }
    // The chain is symmetric, and its links have their length.
    for i in 0..LINKS - 1 {
        let mirrored = LINKS - 2 - i;
        assert!((x[2 * i] + x[2 * mirrored] - 1.0).abs() < 1e-7 && (x[2 * i + 1] - x[2 * mirrored + 1]).abs() < 1e-7);
    }
    links_value_and_sparse_jacobian(&x, &mut values, &mut jac);
    assert!(values.iter().all(|v| v.abs() < 1e-8 * LENGTH));
    println!("the middle hangs at {:.6}", x[LINKS - 1]);
}

/// The transpose of a matrix in compressed rows, which is the same in compressed columns.
fn columns(starts: &[u32], columns: &[u32], values: &[f64], width: usize) -> CscMatrix {
    let wide = |numbers: &[u32]| numbers.iter().map(|v| *v as usize).collect();
    CscMatrix::new(width, starts.len() - 1, wide(starts), wide(columns), values.to_vec())
}
