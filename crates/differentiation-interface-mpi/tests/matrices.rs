//! Jacobians and Hessians by all ranks are, bit by bit, those of the backend alone; each rank's rows are rows of them.

mod support;

use differentiation_interface::container::Numbers;
use differentiation_interface::matrix::DerivativeMatrix;
use differentiation_interface::operators::{HessianBackend, JacobianBackend};
use differentiation_interface::point::Slice;
use differentiation_interface::prelude::*;
use differentiation_interface_mpi::{Distributed, LocalRows, Parts, Ranks, RowSplit};
use support::{bits, on_ranks};

/// A stiff reaction and diffusion on a line, with one global coupling in the last output.
#[differentiable]
fn reaction(y: &mut [f64], x: &[f64]) {
    let n = x.len();
    for i in 0..n {
        let left = if i == 0 { 0.25 } else { x[i - 1] };
        let right = if i + 1 == n { -0.5 } else { x[i + 1] };
        y[i] = (left - 2.0 * x[i] + right).sin() + x[i].exp() * left / 3.0 - x[i].powi(3);
    }
    y[n] = x.iter().map(|v| v * v).sum::<f64>().sqrt();
}

#[differentiable]
fn energy(x: &[f64]) -> f64 {
    x.windows(2).map(|w| (w[0] * w[1]).sin() + (w[0] - w[1]).powi(4)).sum::<f64>()
}

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.1 + 0.37 * ((i * i % 17) as f64) / 3.0).collect()
}

/// The bits of a value.
fn numbers(value: &(impl Numbers<f64> + ?Sized)) -> Vec<u64> {
    let mut numbers = Vec::new();
    value.append_to(&mut numbers);
    bits(&numbers)
}

/// All entries, zeros included.
fn entries<S: Scalar>(matrix: &impl DerivativeMatrix<S>) -> Vec<S> {
    let (rows, columns) = matrix.size();
    (0..rows).flat_map(|i| (0..columns).map(move |j| matrix.entry(i, j))).collect()
}

/// Checks the entries that a rank holds, and that each row is on one rank.
fn check_rows(ranks: &Ranks, rows: &LocalRows<f64>, whole: &[f64], split: RowSplit) {
    let (m, n) = rows.size();
    let expected = match split {
        RowSplit::Even => ranks.range(m),
        RowSplit::OnRank(rank) if rank == ranks.rank() => 0..m,
        RowSplit::OnRank(_) => rows.rows().start..rows.rows().start,
    };
    assert_eq!(rows.rows(), expected);
    assert_eq!(rows.starts().len(), rows.rows().len() + 1);
    assert_eq!(rows.starts().last(), Some(&rows.columns().len()));
    for i in rows.rows() {
        let mut row = vec![0.0; n];
        rows.row(i).for_each(|(j, value)| row[j] = value);
        assert_eq!(bits(&row), bits(&whole[i * n..(i + 1) * n]), "row {i}");
    }
    let held = ranks.sum(ranks.size(), 1, |_, held| held[0] = rows.rows().len() as f64).unwrap();
    assert_eq!(held, [m as f64]);
}

fn jacobians<I, D>(ranks: &Ranks, n: usize, distributed: I, alone: D)
where
    I: Parts + Clone + JacobianBackend<InPlaceReaction, Slice<f64>, (), Matrix: Clone + Send>,
    D: JacobianBackend<InPlaceReaction, Slice<f64>, ()>,
{
    let f = in_place(Reaction, n + 1);
    let (x, other) = (point(n), vec![0.5; n]);
    let whole = entries(&jacobian(&f, &alone, &x).unwrap());
    let backend = Distributed::over(ranks, distributed);
    assert_eq!(bits(&entries(&jacobian(&f, &backend, &x).unwrap())), bits(&whole));
    let (y, jac) = value_and_jacobian(&f, &backend, &x).unwrap();
    assert_eq!(bits(&entries(&jac)), bits(&whole));
    let mut prepared = prepare_jacobian(&f, &backend, &other).unwrap();
    let mut jac = prepared.jacobian(&other).unwrap();
    for _ in 0..3 {
        assert_eq!(numbers(&prepared.value_and_jacobian_into(&mut jac, &x).unwrap()), numbers(&y));
        assert_eq!(bits(&entries(&jac)), bits(&whole));
    }
    for split in [RowSplit::Even, RowSplit::OnRank(0), RowSplit::OnRank(ranks.size() - 1)] {
        let backend = backend.clone().in_rows(split);
        check_rows(ranks, &jacobian(&f, &backend, &x).unwrap(), &whole, split);
        let mut prepared = prepare_jacobian(&f, &backend, &other).unwrap();
        let mut rows = prepared.jacobian(&other).unwrap();
        let (y_again, again) = prepared.value_and_jacobian(&x).unwrap();
        check_rows(ranks, &again, &whole, split);
        assert_eq!(numbers(&y_again), numbers(&y));
        prepared.jacobian_into(&mut rows, &x).unwrap();
        assert_eq!(rows, again);
        rows.values_mut().fill(f64::NAN);
        jacobian_into(&f, &mut rows, &backend, &x).unwrap();
        assert_eq!(rows, again);
    }
}

/// The function in place, by its type.
type InPlaceReaction = differentiation_interface::InPlace<Reaction>;

fn hessians<I, D>(ranks: &Ranks, n: usize, distributed: I, alone: D)
where
    I: Parts + Clone + HessianBackend<Energy, Slice<f64>, (), Matrix: Clone + Send>,
    D: HessianBackend<Energy, Slice<f64>, ()>,
{
    let (x, other) = (point(n), vec![0.5; n]);
    let (value, grad, hess) = value_gradient_and_hessian(&Energy, &alone, &x).unwrap();
    let whole = entries(&hess);
    let backend = Distributed::over(ranks, distributed);
    assert_eq!(bits(&entries(&hessian(&Energy, &backend, &x).unwrap())), bits(&whole));
    let mut prepared = prepare_hessian(&Energy, &backend, &other).unwrap();
    for _ in 0..3 {
        let (v, g, h) = prepared.value_gradient_and_hessian(&x).unwrap();
        assert_eq!((v.to_bits(), bits(&g), bits(&entries(&h))), (value.to_bits(), bits(&grad), bits(&whole)));
    }
    for split in [RowSplit::Even, RowSplit::OnRank(ranks.size() - 1)] {
        let backend = backend.clone().in_rows(split);
        check_rows(ranks, &hessian(&Energy, &backend, &x).unwrap(), &whole, split);
        let mut prepared = prepare_hessian(&Energy, &backend, &other).unwrap();
        let (v, g, mut rows) = prepared.value_gradient_and_hessian(&x).unwrap();
        assert_eq!((v.to_bits(), bits(&g)), (value.to_bits(), bits(&grad)));
        check_rows(ranks, &rows, &whole, split);
        rows.values_mut().fill(f64::NAN);
        hessian_into(&Energy, &mut rows, &backend, &x).unwrap();
        check_rows(ranks, &rows, &whole, split);
    }
}

fn main() {
    on_ranks("matrices", |ranks, _| {
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        let compiled = AutoReverseDiff::compiled();
        let part = |backend| ranks.part(backend);
        for n in [1, 2, 3, 23] {
            jacobians(ranks, n, part(forward), forward);
            jacobians(ranks, n, ranks.part(reverse), reverse);
            jacobians(ranks, n, ranks.part(AutoFiniteDiff::central()), AutoFiniteDiff::central());
            jacobians(ranks, n, AutoSparse::new(part(forward)), AutoSparse::new(forward));
            jacobians(ranks, n, AutoSparse::new(ranks.part(reverse)), AutoSparse::new(reverse));
            let mixed = MixedMode(part(forward), ranks.part(reverse));
            jacobians(ranks, n, AutoSparse::new(mixed), AutoSparse::new(MixedMode(forward, reverse)));

            hessians(ranks, n, part(forward), forward);
            hessians(ranks, n, ranks.part(reverse), reverse);
            let pair = SecondOrder(part(forward), ranks.part(reverse));
            hessians(ranks, n, pair, SecondOrder(forward, reverse));
            hessians(ranks, n, AutoSparse::new(pair), AutoSparse::new(SecondOrder(forward, reverse)));
            hessians(ranks, n, AutoSparse::new(part(forward)), AutoSparse::new(forward));
        }
        // A compiled backend alone computes entries directly, in another order; the number of ranks changes nothing.
        let x = point(23);
        let backend = Distributed::over(ranks, AutoSparse::new(ranks.part(compiled)));
        let hess = hessian(&Energy, &backend, &x).unwrap();
        let expected = hessian(&Energy, &AutoSparse::new(compiled), &x).unwrap();
        for (a, b) in hess.values().iter().zip(expected.values()) {
            assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{a} instead of {b}");
        }
        ranks.agree(hess.values()).unwrap();
        // The numbers that `.ci/mpi` compares between numbers of ranks.
        if ranks.rank() == 0 {
            for value in hess.values() {
                println!("bits {:016x}", value.to_bits());
            }
        }
        // Single precision and arrays by value.
        let x: Vec<f32> = point(5).into_iter().map(|v| v as f32).collect();
        let narrow = |x: &[_]| squares(x);
        let alone = jacobian(&narrow, &forward, &x).unwrap();
        assert_eq!(jacobian(&narrow, &Distributed::new(ranks, forward), &x).unwrap(), alone);
        let f = |x: &[_; 3]| [x[0] * x[1], x[2]];
        let jac = jacobian(&f, &Distributed::new(ranks, forward), [2.0, 3.0, 4.0]).unwrap();
        assert_eq!(jac, [[3.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
        // Infinities, NaN and negative zeros arrive as they are.
        let f = |x: &[_]| extremes(x);
        let jac = jacobian(&f, &Distributed::new(ranks, forward), &[0.0, 1.0, 2.0]).unwrap();
        let alone = jacobian(&f, &forward, &[0.0, 1.0, 2.0]).unwrap();
        assert_eq!(bits(jac.as_slice()), bits(alone.as_slice()));
        assert!(alone.as_slice().iter().any(|v| v.is_infinite()) && alone.as_slice().iter().any(|v| v.is_nan()));
        assert!(alone.as_slice().iter().any(|v| v.to_bits() == (-0.0_f64).to_bits()));
    });
}

fn squares<T: Scalar>(x: &[T]) -> Vec<T> {
    x.iter().map(|&v| v * v + x[0]).collect()
}

fn extremes<T: Real>(x: &[T]) -> Vec<T> {
    vec![x[0].sqrt(), (x[1] - 2.0).ln(), x[2] * -0.0, (x[0] * x[2]) / x[0]]
}
