//! Costs of sparse derivatives: prepared calls allocate nothing, and the function is called once per pass of lanes.

use differentiation_interface::prelude::*;
use differentiation_interface_test::allocations as allocations_so_far;
use std::cell::Cell;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Runs `action` three times; each run must allocate and call the function as often as stated.
#[track_caller]
fn assert_costs(what: &str, allocations: usize, calls: usize, mut action: impl FnMut()) {
    for _ in 0..3 {
        CALLS.set(0);
        let before = allocations_so_far();
        action();
        let found = (allocations_so_far() - before, CALLS.get());
        assert_eq!(found, (allocations, calls), "{what}: allocations and calls of the function");
    }
}

/// yᵢ = Σ xᵢ² .. over `width` neighbours: as many colours.
struct Band {
    width: usize,
}

impl<T: Real> FunctionInPlace<T, [T]> for Band {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        CALLS.set(CALLS.get() + 1);
        for (y, x) in y.iter_mut().zip(x.windows(self.width)) {
            *y = x.iter().map(|x| x * x).sum();
        }
    }
}

/// Σ (xᵢ₊₁ - xᵢ)³
struct Cubes;

impl<T: Real> Function<[T]> for Cubes {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        CALLS.set(CALLS.get() + 1);
        x.windows(2).map(|w| (w[1] - w[0]).powi(3)).sum()
    }
}

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.1 * (i * i % 17) as f64).collect()
}

#[test]
fn forward_passes_are_the_colours_by_twelve() {
    for (width, passes) in [(1, 1), (3, 1), (12, 1), (13, 2), (24, 2), (25, 3)] {
        let x = point(60);
        let f = in_place(Band { width }, 61 - width);
        let mut prepared = prepare_jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &x).unwrap();
        assert_eq!(prepared.state().ncolors(), width);
        let mut jac = prepared.jacobian(&x).unwrap();
        let what = format!("{width} colours");
        assert_costs(&what, 0, passes, || prepared.jacobian_into(&mut jac, &x).unwrap());
        // The value is read off the same passes.
        assert_costs(&what, 0, passes, || {
            prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
        });
        // The values of the matrix; the pattern is shared.
        assert_costs(&what, 1, passes, || drop(prepared.jacobian(&x).unwrap()));
    }
}

#[test]
fn reverse_records_once_whatever_the_colours() {
    for width in [1, 3, 25] {
        let x = point(60);
        let f = in_place(Band { width }, 61 - width);
        let mut prepared = prepare_jacobian(&f, &AutoSparse::new(AutoReverseDiff::default()), &x).unwrap();
        let mut jac = prepared.jacobian(&x).unwrap();
        assert_costs("reverse", 0, 1, || prepared.jacobian_into(&mut jac, &x).unwrap());
        assert_costs("reverse", 0, 1, || {
            prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
        });
    }
}

/// A dense first row and first column beside the diagonal.
struct Arrow;

impl<T: Real> FunctionInPlace<T, [T]> for Arrow {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        CALLS.set(CALLS.get() + 1);
        y[0] = x.iter().map(|x| x * x).sum();
        for i in 1..y.len() {
            y[i] = x[0] * x[i];
        }
    }
}

#[test]
fn mixed_mode_passes_forward_and_records_once() {
    let distinct = |colors: &[u32]| {
        let used = colors.iter().filter(|&&c| c != matrix_coloring::NEUTRAL);
        used.collect::<std::collections::BTreeSet<_>>().len()
    };
    let (x, f) = (point(40), in_place(Arrow, 40));
    let backend = AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()))
        .with_coloring(matrix_coloring::GreedyColoring::default());
    let mut prepared = prepare_jacobian(&f, &backend, &x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    let state = prepared.state();
    assert_eq!((distinct(state.column_colors()) + distinct(state.row_colors()), state.ncolors()), (3, 3));
    assert_costs("mixed", 0, 2, || prepared.jacobian_into(&mut jac, &x).unwrap());
    assert_costs("mixed", 0, 2, || {
        prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
    });
}

/// Where the rows suffice, the columns cost nothing.
#[test]
fn mixed_mode_without_column_colours_does_not_pass_forward() {
    let (x, f) = (point(20), in_place(Band { width: 20 }, 1));
    let rows_only = matrix_coloring::ConstantColoring::rows_and_columns([0], [matrix_coloring::NEUTRAL; 20]);
    let backend = AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()));
    let mut prepared = prepare_jacobian(&f, &backend.with_coloring(rows_only), &x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    assert_costs("mixed", 0, 1, || {
        prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
    });
}

#[test]
fn dense_row_in_mixed_mode_is_one_pullback() {
    let (x, f) = (point(20), in_place(Band { width: 20 }, 1));
    let backend = AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()));
    let mut prepared = prepare_jacobian(&f, &backend, &x).unwrap();
    assert_eq!(prepared.state().row_colors(), [0]);
    let mut jac = prepared.jacobian(&x).unwrap();
    assert_costs("mixed", 0, 1, || {
        prepared.value_and_jacobian_into(&mut jac, &x).unwrap();
    });
    assert_eq!(jac.values(), x.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

/// An arrow for negative x₀, else a single row.
struct ArrowOrRow;

impl<T: Real> FunctionInPlace<T, [T]> for ArrowOrRow {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        Arrow.call_in_place(y, x);
        if x[0] > T::zero() {
            y[1..].fill(T::zero());
        }
    }
}

#[test]
fn preparation_for_rows_alone_forgets_the_columns() {
    let (mut x, f) = (point(40), in_place(ArrowOrRow, 40));
    x[0] = -1.0;
    let backend = AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()))
        .with_detector(sparsity_tracer::TracerLocalSparsityDetector);
    let mut prepared = prepare_jacobian(&f, &backend, &x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    assert_costs("arrow", 0, 2, || prepared.jacobian_into(&mut jac, &x).unwrap());
    x[0] = 1.0;
    prepared.prepare_again(&x).unwrap();
    let mut jac = prepared.jacobian(&x).unwrap();
    assert_costs("row", 0, 1, || prepared.jacobian_into(&mut jac, &x).unwrap());
}

#[test]
fn sparse_hessians_allocate_nothing_and_value_and_gradient_are_free() {
    let (fd, rd, x) = (AutoForwardDiff::default(), AutoReverseDiff::default(), point(60));
    macro_rules! check {
        ($backend:expr, $calls:expr) => {{
            let mut prepared = prepare_hessian(&Cubes, &AutoSparse::new($backend), &x).unwrap();
            let mut hess = prepared.hessian(&x).unwrap();
            let mut grad = vec![0.0; 60];
            let what = stringify!($backend);
            assert_costs(what, 0, $calls, || prepared.hessian_into(&mut hess, &x).unwrap());
            assert_costs(what, 0, $calls, || {
                prepared.value_gradient_and_hessian_into(&mut grad, &mut hess, &x).unwrap();
            });
        }};
    }
    check!(SecondOrder(fd, rd), 1);
    check!(SecondOrder(rd, rd), 1);
    check!(fd, 15); // one outer pass for three colours, fifteen inner ones of four lanes for the gradient of 60 inputs
}
