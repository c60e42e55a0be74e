//! Matrices that are filled again: a compiled program writes their constant entries once, unless something else has written to them.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::SparseMatrix;

const N: usize = 100;

/// Second differences with a reaction at every fourth point.
fn reaction<T: Real>(x: &[T], factor: f64, square: f64) -> Vec<T> {
    let difference = |i: usize| (x[i - 1] - x[i] * 2.0 + x[i + 1]) * factor;
    let reaction = |i: usize| if i.is_multiple_of(4) { x[i] * x[i] * square } else { T::zero() };
    (1..x.len() - 1).map(|i| difference(i) + reaction(i)).collect()
}

/// Most entries of its Jacobian are constants.
struct Reaction {
    times: f64,
}

impl<T: Real> Function<[T]> for Reaction {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        reaction(x, 3.0 * self.times, self.times)
    }
}

/// The same with other constants where the last input is negative.
struct Branching {
    times: f64,
}

impl<T: Real> Function<[T]> for Branching {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let factor = if x[N - 1] > T::zero() { 3.0 } else { 5.0 };
        reaction(x, factor * self.times, self.times)
    }
}

fn by_hand(x: &[f64]) -> Matrix<f64> {
    let factor = if x[N - 1] > 0.0 { 3.0 } else { 5.0 };
    let mut jac = Matrix::filled(N - 2, N, 0.0);
    for i in 1..N - 1 {
        (jac[(i - 1, i - 1)], jac[(i - 1, i + 1)]) = (factor, factor);
        jac[(i - 1, i)] = if i.is_multiple_of(4) { 2.0 * x[i] - 2.0 * factor } else { -2.0 * factor };
    }
    jac
}

fn point(start: f64, last: f64) -> Vec<f64> {
    (0..N).map(|i| if i == N - 1 { last } else { start + 0.5 * i as f64 }).collect()
}

/// Everything that may happen to a matrix between two calls, by a backend of dense or sparse matrices.
macro_rules! check {
    ($f:expr, $doubled:expr, $last:expr, $backend:expr, $dense:expr, $write:expr) => {{
        let (x, other, beyond) = (point(1.0, 1.0), point(-9.0, 4.0), point(2.0, $last));
        let (dense, write) = ($dense, $write);
        let mut prepared = prepare_jacobian(&$f, &$backend, &x).unwrap();
        for _ in 0..300 {
            prepared.jacobian(&x).unwrap();
        }
        let mut jac = prepared.jacobian(&x).unwrap();
        assert_eq!(dense(&jac), by_hand(&x));
        for _ in 0..3 {
            for at in [&other, &x, &beyond, &beyond, &x, &x] {
                prepared.jacobian_into(&mut jac, at).unwrap();
                assert_eq!(dense(&jac), by_hand(at));
                let value = prepared.value_and_jacobian_into(&mut jac, at).unwrap().to_vec();
                assert_eq!((dense(&jac), value), (by_hand(at), $f.call(&at[..])));
            }
        }
        // The user writes to it.
        for _ in 0..2 {
            write(&mut jac);
            prepared.jacobian_into(&mut jac, &other).unwrap();
            assert_eq!(dense(&jac), by_hand(&other));
        }
        // A copy contains the same, and becomes another matrix.
        let mut copy = jac.clone();
        write(&mut copy);
        assert!(copy != jac);
        prepared.jacobian_into(&mut copy, &x).unwrap();
        prepared.jacobian_into(&mut jac, &x).unwrap();
        assert!(copy == jac);
        assert_eq!(dense(&copy), by_hand(&x));
        // Another preparation, of another function, writes to it.
        let mut doubled = prepare_jacobian(&$doubled, &$backend, &x).unwrap();
        for _ in 0..3 {
            doubled.jacobian_into(&mut jac, &other).unwrap();
            let mut expected = by_hand(&other);
            expected.as_mut_slice().iter_mut().for_each(|entry| *entry *= 2.0);
            assert_eq!(dense(&jac), expected);
            prepared.jacobian_into(&mut jac, &other).unwrap();
            assert_eq!(dense(&jac), by_hand(&other));
        }
        // A call that fails changes nothing, or what it changes is written again.
        assert!(prepared.jacobian_into(&mut jac, &x[1..].to_vec()).is_err());
        prepared.jacobian_into(&mut jac, &x).unwrap();
        assert_eq!(dense(&jac), by_hand(&x));
    }};
}

fn write_sparse(jac: &mut SparseMatrix<f64>) {
    jac.values_mut()[7] = 1e300;
}

#[test]
fn sparse_jacobians_have_all_entries() {
    let dense = |jac: &SparseMatrix<f64>| jac.to_dense();
    check!(
        Reaction { times: 1.0 },
        Reaction { times: 2.0 },
        7.0,
        AutoSparse::new(AutoReverseDiff::compiled()),
        dense,
        write_sparse
    );
    check!(
        Reaction { times: 1.0 },
        Reaction { times: 2.0 },
        7.0,
        AutoSparse::new(AutoReverseDiff::default()),
        dense,
        write_sparse
    );
    check!(
        Reaction { times: 1.0 },
        Reaction { times: 2.0 },
        7.0,
        AutoSparse::new(AutoForwardDiff::default()),
        dense,
        write_sparse
    );
    #[cfg(feature = "rayon")]
    check!(
        Reaction { times: 1.0 },
        Reaction { times: 2.0 },
        7.0,
        AutoSparse::new(AutoReverseDiff::compiled().with_threads(2)),
        dense,
        write_sparse
    );
}

#[test]
fn dense_jacobians_have_all_entries() {
    let dense = |jac: &Matrix<f64>| jac.clone();
    let write = |jac: &mut Matrix<f64>| jac[(3, 90)] = -1.0;
    check!(Branching { times: 1.0 }, Branching { times: 2.0 }, -1.0, AutoReverseDiff::compiled(), dense, write);
    check!(
        Branching { times: 1.0 },
        Branching { times: 2.0 },
        -1.0,
        AutoReverseDiff::compiled(),
        dense,
        |jac: &mut Matrix<f64>| jac.as_mut_slice()[7] = -1.0
    );
    check!(Branching { times: 1.0 }, Branching { times: 2.0 }, -1.0, AutoReverseDiff::default(), dense, write);
    check!(Branching { times: 1.0 }, Branching { times: 2.0 }, -1.0, AutoForwardDiff::default(), dense, write);
}

/// Σ (xᵢ₊₁ - xᵢ)² + x₀³
#[differentiable]
fn roughness(x: &[f64]) -> f64 {
    let mut sum = x[0] * x[0] * x[0];
    for w in x.windows(2) {
        sum += (w[1] - w[0]) * (w[1] - w[0]);
    }
    sum
}

fn roughness_by_hand(x: &[f64]) -> Matrix<f64> {
    let mut hess = Matrix::filled(N, N, 0.0);
    for i in 0..N {
        hess[(i, i)] = if i == 0 || i == N - 1 { 2.0 } else { 4.0 };
        if i > 0 {
            (hess[(i, i - 1)], hess[(i - 1, i)]) = (-2.0, -2.0);
        }
    }
    hess[(0, 0)] += 6.0 * x[0];
    hess
}

#[test]
fn hessians_have_all_entries() {
    let (x, other) = (point(1.0, 1.0), point(-9.0, 4.0));
    let dense = AutoReverseDiff::compiled();
    let sparse = AutoSparse::new(dense);
    let mut prepared =
        (prepare_hessian(&Roughness, &dense, &x).unwrap(), prepare_hessian(&Roughness, &sparse, &x).unwrap());
    let mut hess = (prepared.0.hessian(&x).unwrap(), prepared.1.hessian(&x).unwrap());
    for round in 0..40 {
        let at = if round % 3 == 0 { &x } else { &other };
        if round % 4 == 1 {
            (hess.0[(1, 1)], hess.1.values_mut()[2]) = (f64::NAN, f64::NAN);
        }
        if round % 5 < 3 {
            prepared.0.hessian_into(&mut hess.0, at).unwrap();
            prepared.1.hessian_into(&mut hess.1, at).unwrap();
        } else {
            let mut grad = vec![0.0; N];
            prepared.0.value_gradient_and_hessian_into(&mut grad, &mut hess.0, at).unwrap();
            prepared.1.value_gradient_and_hessian_into(&mut grad, &mut hess.1, at).unwrap();
        }
        assert_eq!(hess.0, roughness_by_hand(at), "round {round}");
        assert_eq!(hess.1.to_dense(), roughness_by_hand(at), "round {round}");
    }
}
