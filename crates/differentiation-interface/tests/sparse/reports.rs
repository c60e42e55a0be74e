//! What prepared sparse matrices report of the dense backend.

use differentiation_interface::backends::reverse_diff::Form;
use differentiation_interface::prelude::*;

/// yᵢ = sin(Σ xⱼ) exp(xᵢ) over `width` neighbours: as many colours.
#[derive(Clone, Copy)]
struct Band {
    width: usize,
}

impl<T: Real> Function<[T]> for Band {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        x.windows(self.width).map(|w| w.iter().copied().sum::<T>().sin() * w[0].exp()).collect()
    }
}

/// The sum of squares of a [`Band`].
struct Squares(Band);

impl<T: Real> Function<[T]> for Squares {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.call(x).into_iter().map(|y: T| y * y).sum()
    }
}

/// A function whose derivatives are all zero.
struct Steps;

impl<T: Real> Function<[T]> for Steps {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        x.iter().map(|x| x.floor()).collect()
    }
}

#[test]
fn the_default_engine_reports_the_form_of_sparse_matrices() {
    let backend = AutoSparse::new(AutoReverseDiff::default());
    let f = Band { width: 2 };
    let mut jac = prepare_jacobian(&f, &backend, &[0.5; 40]).unwrap();
    let before = jac.report().calls;
    let expected = jac.jacobian(&[0.25f64; 40]).unwrap();
    assert_eq!((jac.report().form, jac.report().calls), (Form::Tape, before + 1));
    for _ in 0..200 {
        let found = jac.jacobian(&[0.25; 40]).unwrap();
        assert!(
            found.values().iter().zip(expected.values()).all(|(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * b.abs())
        );
    }
    let report = jac.report();
    assert_eq!((report.calls, report.by_tape + report.by_program), (before + 201, before + 201));
    assert!(report.form != Form::Tape && report.by_program > 0, "{report}");

    let f = Squares(f);
    let mut hess = prepare_hessian(&f, &backend, &[0.5; 40]).unwrap();
    assert_eq!((hess.report().form, hess.report().by_program), (Form::Tape, 0));
    for _ in 0..200 {
        hess.hessian(&[0.25; 40]).unwrap();
    }
    let report = hess.report();
    assert!(report.form != Form::Tape && report.by_program > 0, "{report}");
}

#[test]
fn the_compiled_engine_reports_runs_for_few_and_many_colours() {
    let backend = AutoSparse::new(AutoReverseDiff::compiled());
    for width in [2, 20] {
        let f = Band { width };
        let mut jac = prepare_jacobian(&f, &backend, &[0.5; 40]).unwrap();
        jac.jacobian(&[0.25; 40]).unwrap();
        assert_eq!((jac.report().runs, jac.report().kept), (1, 1), "{width}");
        let f = Squares(f);
        let mut hess = prepare_hessian(&f, &backend, &[0.5; 40]).unwrap();
        hess.hessian(&[0.25; 40]).unwrap();
        assert_eq!((hess.report().runs, hess.report().kept), (1, 1), "{width}");
    }
}

#[test]
fn a_pattern_without_entries_has_a_report() {
    let mut prepared = prepare_jacobian(&Steps, &AutoSparse::new(AutoReverseDiff::default()), &[0.5; 3]).unwrap();
    assert_eq!(prepared.jacobian(&[0.5; 3]).unwrap().values(), [0.0; 0]);
    assert_eq!(prepared.report().form, Form::Tape);
}

/// The square of an entry, which a constant chooses.
#[differentiable]
fn chosen(x: &[f64], #[constant] first: bool) -> Vec<f64> {
    vec![if first { x[0] * x[0] } else { x[2] * x[2] }]
}

#[test]
fn the_report_begins_anew_with_the_pattern() {
    let backend = AutoSparse::new(AutoReverseDiff::default());
    let (at, other) = ((&[1.0, 2.0, 3.0], Constant(&true)), (&[1.0, 2.0, 3.0], Constant(&false)));
    let mut prepared = prepare_jacobian(&Chosen, &backend, at).unwrap();
    for _ in 0..9 {
        prepared.jacobian(at).unwrap();
    }
    assert!(prepared.report().calls >= 9);
    assert_eq!(prepared.jacobian(other).unwrap().values(), [0.0, 6.0]);
    assert!(prepared.report().calls < 9);
}
