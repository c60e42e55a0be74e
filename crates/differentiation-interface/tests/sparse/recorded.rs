//! Sparse derivatives with patterns read off a recording: shapes, contexts, rules, branches, calls.

use differentiation_interface::checkpoints::{Checkpointed, Step};
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Base;
use differentiation_interface::sparse::sparsity_tracer::{SparsityDetector, TracerSparsityDetector};
use differentiation_interface::sparse::sparsity_tracer::{hessian_sparsity, jacobian_sparsity};
use differentiation_interface::sparse::{GraphLocalSparsityDetector, GraphSparsityDetector};
use num_traits::Float;
use std::cell::Cell;

type Recorded<B> = <GraphSparsityDetector as SparsityDetector>::JacobianNum<B>;

fn compiled() -> AutoSparse<AutoCompiledReverseDiff, GraphSparsityDetector> {
    AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector)
}

#[test]
fn a_closure_serves_sparse_jacobians_and_hessians() {
    let calls = Cell::new(0);
    let scale = [1.0, 10.0, 100.0];
    let f = |x: &[_]| {
        calls.set(calls.get() + 1);
        (0..3).map(|i| (x[i + 1] - x[i]) * (x[i + 1] - x[i]) * scale[i]).collect::<Vec<_>>()
    };
    let mut prepared = prepare_jacobian(&f, &compiled(), &[0.0; 4]).unwrap();
    // Once for the pattern, once for the derivative.
    assert_eq!((calls.get(), prepared.state().ncolors()), (2, 2));
    let (y, jac) = prepared.value_and_jacobian(&[1.0, 2.0, 4.0, 8.0]).unwrap();
    assert_eq!(y, [1.0, 40.0, 1600.0]);
    assert_eq!(jac.values(), [-2.0, 2.0, -40.0, 40.0, -800.0, 800.0]);
    assert_eq!(calls.get(), 2);

    let f = |x: &[_]| x[0] * x[1] * scale[1] + x[2] * x[2] * x[2] + x[3];
    let mut prepared = prepare_hessian(&f, &compiled(), &[0.0; 4]).unwrap();
    let hess = prepared.hessian(&[1.0, 2.0, 4.0, 8.0]).unwrap();
    assert_eq!(hess.entries().collect::<Vec<_>>(), [(0, 1, 10.0), (1, 0, 10.0), (2, 2, 24.0)]);
}

#[test]
fn numbers_arrays_and_single_precision_are_taken() {
    let jac = jacobian(&|x: &[_; 3]| [x[2], x[0] * x[1]], &compiled(), [1.0, 2.0, 3.0]).unwrap();
    assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 2, 1.0), (1, 0, 2.0), (1, 1, 1.0)]);
    let f = in_place(|y: &mut [_], x: &[_]| (y[0], y[1]) = (Default::default(), x[0] * x[0]), 2);
    assert_eq!(jacobian(&f, &compiled(), &[3.0, 0.0]).unwrap().entries().collect::<Vec<_>>(), [(1, 0, 6.0)]);
    let f = |x: &[Recorded<f32>]| x[0] * x[1];
    let hess = hessian(&f, &compiled(), &[1.5f32, 2.5]).unwrap();
    assert_eq!(hess.entries().collect::<Vec<_>>(), [(0, 1, 1.0f32), (1, 0, 1.0)]);
    let pattern = jacobian_sparsity(&|x: Recorded<f64>| [x.floor(), x], &GraphSparsityDetector, 2.5).unwrap();
    assert_eq!((pattern.nrows(), pattern.entries().collect::<Vec<_>>()), (2, vec![(1, 0)]));
}

#[test]
fn contexts_are_taken_and_parameters_may_change() {
    let (k, work) = (vec![2.0, 3.0], vec![f64::NAN; 2]);
    let f = |x: &[_], k: &Vec<_>, c: &f64, work: &mut Vec<_>| {
        work[0] = x[0] * k[0];
        work[1] = x[2] * *c;
        vec![work[0], work[1] * work[0], k[1] * k[0] + x[1]]
    };
    let at = (&[1.0, 2.0, 3.0], Parameter(&k), Constant(&5.0), Cache(&work));
    let mut prepared = prepare_jacobian(&f, &compiled(), at).unwrap();
    let entries = |jac: SparseMatrix<f64>| jac.entries().collect::<Vec<_>>();
    let jac = prepared.jacobian(at).unwrap();
    assert_eq!(entries(jac), [(0, 0, 2.0), (1, 0, 30.0), (1, 2, 10.0), (2, 1, 1.0)]);
    let other = vec![-1.0, 0.0];
    let jac = prepared.jacobian((&[1.0, 2.0, 3.0], Parameter(&other), Constant(&2.0), Cache(&work))).unwrap();
    assert_eq!(entries(jac), [(0, 0, -1.0), (1, 0, -6.0), (1, 2, -2.0), (2, 1, 1.0)]);

    // The exponent may be another in the next call, whether it is a parameter or a constant.
    let f = |x: &[Recorded<f64>], k: &Vec<_>| x[0].powf(k[0]);
    let one = vec![1.0];
    let pattern = hessian_sparsity(&f, &GraphSparsityDetector, (&[2.0], Parameter(&one))).unwrap();
    assert_eq!(pattern.nnz(), 1);
    let f = |x: &[Recorded<f64>], k: &f64| x[0].powf(Recorded::constant(*k));
    assert_eq!(hessian_sparsity(&f, &GraphSparsityDetector, (&[2.0], Constant(&1.0))).unwrap().nnz(), 1);
}

#[test]
fn empty_and_constant_functions_have_no_entries() {
    let none: [f64; 0] = [];
    let f = |_: &[Recorded<f64>]| vec![Recorded::constant(1.0)];
    let pattern = jacobian_sparsity(&f, &GraphSparsityDetector, &none).unwrap();
    assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz()), (1, 0, 0));
    let f = |_: &[Recorded<f64>]| Vec::<Recorded<f64>>::new();
    let pattern = jacobian_sparsity(&f, &GraphSparsityDetector, &[1.0, 2.0]).unwrap();
    assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz()), (0, 2, 0));
    let hess = hessian(&|x: &[_]| x[0] + x[1], &compiled(), &[1.0, 2.0]).unwrap();
    assert_eq!((hess.rows(), hess.nnz()), (2, 0));
}

#[test]
fn custom_rules_are_dense_in_their_arguments() {
    let rule = Custom::new(
        PlainRule::new("swap", |x: &[f64], y: &mut Vec<f64>| *y = vec![x[1], x[0], 1.0])
            .with_pullback(|_: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| (dx[0], dx[1]) = (dy[1], dy[0])),
    );
    let f = |x: &[_]| {
        let y = rule.call(&[x[0], x[2]]);
        vec![y[0], y[1] * x[1], x[1]]
    };
    let pattern = jacobian_sparsity(&f, &GraphSparsityDetector, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((pattern.row(0), pattern.row(1), pattern.row(2)), (&[0, 2][..], &[0, 1, 2][..], &[1][..]));
    let jac = jacobian(&f, &compiled(), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(jac.values(), [0.0, 1.0, 2.0, 1.0, 0.0, 1.0]);
    let f = |x: &[_]| rule.call(&[x[0], x[2]])[0] + x[1];
    let pattern = hessian_sparsity(&f, &GraphSparsityDetector, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 2), (2, 0), (2, 2)]);
    // Over single precision too, whose numbers the rule gets.
    let rule = Custom::new(First);
    let f = |x: &[_]| vec![rule.call(&[x[1], x[2]])[0]];
    let pattern = jacobian_sparsity(&f, &GraphSparsityDetector, &[1.0f32, 2.0, 3.0]).unwrap();
    assert_eq!(pattern.row(0), [1, 2]);
}

/// Passes its first argument on.
struct First;
impl<B: Base> CustomRule<B> for First {
    const NAME: &'static str = "first";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.push(x[0]);
    }
    fn pushforward<S: Scalar<Base = B>>(&self, _x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = dx[0];
    }
}

/// Reads one input or another.
fn branching<T: Real>(x: &[T]) -> Vec<T> {
    vec![if x[0] > 0.0 { x[1] * x[1] } else { x[2] * 3.0 }, x[3]]
}

#[test]
fn branches_are_refused_or_followed_and_leaving_one_is_an_error() {
    let (right, left) = ([1.0, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0]);
    let f = |x: &[_]| branching(x);
    let error = jacobian(&f, &compiled(), &right).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueDecides { place } if place.file().ends_with(file!())), "{error}");
    let by_tracer = jacobian(&Branching, &AutoSparse::new(AutoReverseDiff::compiled()), &right).unwrap_err();
    assert_eq!(error.kind(), by_tracer.kind());

    let dense = AutoReverseDiff::compiled().refusing_other_branches();
    let backend = AutoSparse::new(dense).with_detector(GraphLocalSparsityDetector);
    let mut prepared = prepare_jacobian(&f, &backend, &right).unwrap();
    assert_eq!(prepared.jacobian(&right).unwrap().entries().collect::<Vec<_>>(), [(0, 1, 4.0), (1, 3, 1.0)]);
    let error = prepared.jacobian(&left).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OtherBranch { place: Some(_) }));
    let text = error.to_string();
    assert!(text.starts_with("jacobian with sparse(compiled_reverse_diff): "), "{text}");
    let rest = " than in its recording; prepare again at this point, or drop `refusing_other_branches()`";
    assert!(text.ends_with(rest), "{text}");
    // The preparation serves on, and prepared again the other branch.
    assert_eq!(prepared.jacobian(&right).unwrap().nnz(), 2);
    prepared.prepare_again(&left).unwrap();
    assert_eq!(prepared.jacobian(&left).unwrap().entries().collect::<Vec<_>>(), [(0, 2, 3.0), (1, 3, 1.0)]);

    // The same where a constant may change the branch.
    let f = |x: &[_], limit: &f64| vec![if x[0] > *limit { x[1] * x[1] } else { x[2] * *limit }];
    let mut prepared = prepare_jacobian(&f, &backend, (&right, Constant(&0.0))).unwrap();
    assert_eq!(prepared.jacobian((&right, Constant(&0.5))).unwrap().entries().collect::<Vec<_>>(), [(0, 1, 4.0)]);
    let error = prepared.jacobian((&right, Constant(&1.5))).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OtherBranch { place: Some(_) }), "{error}");
}

/// By default too: the engine knows the branch, and a matrix would lack an entry.
#[test]
fn another_branch_than_that_of_the_pattern_is_an_error() {
    fn f<T: Real>(x: &[T]) -> Vec<T> {
        vec![if x[0] > 0.0 { x[1] * x[0] } else { x[2] * x[0] }, x[1] * x[1]]
    }
    let (right, left) = ([1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]);
    let backend = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphLocalSparsityDetector);
    let closure = |x: &[_]| f(x);
    let mut prepared = prepare_jacobian(&closure, &backend, &right).unwrap();
    let entries = |jac: SparseMatrix<f64>| jac.entries().collect::<Vec<_>>();
    assert_eq!(entries(prepared.jacobian(&right).unwrap()), [(0, 0, 2.0), (0, 1, 1.0), (1, 1, 4.0)]);
    let error = prepared.jacobian(&left).unwrap_err();
    let place =
        |kind| matches!(kind, ErrorKind::OtherPattern { place: Some(place) } if place.file().ends_with(file!()));
    assert!(place(error.kind()), "{error}");
    let rest = " than where the pattern was found, and the pattern holds on one branch only; prepare again at this point, or use a \
                detector for all points";
    assert!(error.to_string().ends_with(rest), "{error}");
    prepared.prepare_again(&left).unwrap();
    assert_eq!(entries(prepared.jacobian(&left).unwrap()), [(0, 0, 3.0), (0, 2, -1.0), (1, 1, 4.0)]);

    // Hessians, by entries.
    let sum = |x: &[_]| f(x)[0] * f(x)[1];
    let mut prepared = prepare_hessian(&sum, &backend, &right).unwrap();
    assert!(prepared.hessian(&right).is_ok());
    assert!(place(prepared.hessian(&left).unwrap_err().kind()));
}

/// The engine knows no place of a branch where a constant decides what is computed.
#[test]
fn other_constants_than_those_of_the_pattern_are_named_as_a_cause() {
    #[derive(Clone, Debug, Container)]
    struct Weights<T = f64> {
        w: Vec<T>,
        #[constant]
        first: bool,
    }
    struct Chosen;
    impl<T: Real> Function<Weights<T>> for Chosen {
        type Output = Vec<T>;
        fn call(&self, p: &Weights<T>) -> Vec<T> {
            vec![if p.first { p.w[0] * p.w[2] } else { p.w[1] * p.w[2] }]
        }
    }
    let point = Weights { w: vec![1.0, 2.0, 3.0], first: true };
    let backend = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphLocalSparsityDetector);
    let mut prepared = prepare_jacobian(&Chosen, &backend, &point).unwrap();
    let error = prepared.jacobian(&Weights { first: false, ..point.clone() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OtherPattern { place: None });
    let text = "the function takes a different branch than where the pattern was found, perhaps because a constant has changed, and \
                the pattern holds on one branch only; prepare again at this point, or use a detector for all points";
    assert!(error.to_string().ends_with(text), "{error}");
}

/// A rule without outputs decides nothing, and has none at any point. A loop without a state is such a rule.
#[test]
fn rules_without_outputs_are_no_branches() {
    struct Nothing;
    impl CustomRule for Nothing {
        const NAME: &'static str = "nothing";
        const GIVEN: Halves = Halves::Pullback;
        fn value(&self, _: &[f64], y: &mut Vec<f64>) {
            y.clear();
        }
        fn pullback<S: Scalar<Base = f64>>(&self, _: &[S], _: &[S], _: &[S], dx: &mut [S]) {
            dx.fill(S::default());
        }
    }
    impl Step for Nothing {
        fn step<T: Real>(&self, _: usize, _: &mut [T], _: &[T]) {}
    }
    let (nothing, stateless) = (Custom::new(Nothing), Checkpointed::new(Nothing, 0, 3));
    let f = |x: &[_]| [nothing.call(x), stateless.run(&[], x), vec![x[0] * x[0], 3.0 * x[1]]].concat();
    let mut prepared = prepare_jacobian(&f, &compiled(), &[1.0, 2.0]).unwrap();
    for x in [1.0, 5.0] {
        let jac = prepared.jacobian(&[x, 7.0]).unwrap();
        assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 0, 2.0 * x), (1, 1, 3.0)]);
    }
    let hess = hessian(&|x: &[_]| f(x)[0], &compiled(), &[1.0, 2.0]).unwrap();
    assert_eq!(hess.entries().collect::<Vec<_>>(), [(0, 0, 2.0)]);
}

struct Branching;
impl<T: Real> Function<[T]> for Branching {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        branching(x)
    }
}

/// A recording holds on the whole branch, so it is not smaller where a value happens to be zero.
#[test]
fn values_at_the_point_do_not_count() {
    let f = |x: &[Recorded<f64>]| vec![x[0] * x[1], x[1].max(x[2])];
    let here = jacobian_sparsity(&f, &GraphLocalSparsityDetector, &[0.0, 2.0, 3.0]).unwrap();
    assert_eq!((here.row(0), here.row(1)), (&[0, 1][..], &[1, 2][..]));
    let f = |x: &[<TracerSparsityDetector as SparsityDetector>::JacobianNum<f64>]| vec![x[0] * x[1], x[1].max(x[2])];
    assert_eq!(jacobian_sparsity(&f, &TracerSparsityDetector, &[0.0, 2.0, 3.0]), Ok(here));
}

#[test]
fn numbers_of_another_recording_are_refused() {
    let kept = Cell::new(None);
    let f = |x: &[Recorded<f64>]| vec![kept.replace(Some(x[0])).map_or(x[0], |old| old * x[0])];
    assert!(jacobian_sparsity(&f, &GraphSparsityDetector, &[1.0]).is_ok());
    let error = jacobian_sparsity(&f, &GraphSparsityDetector, &[1.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignNumber);
    assert!(error.to_string().starts_with("jacobian_sparsity with graph: "), "{error}");
}

/// x₀ where the parameter is positive, else x₁², and 3 x₁.
#[differentiable]
fn chosen<T: Real>(x: &[T], #[parameter] p: &T) -> Vec<T> {
    vec![p.greater_than(T::zero()).select(x[0], x[1] * x[1]) + x[1] * 3.0]
}

/// x₀² x₁ where the sine of the parameter is positive, else x₂², and x₁².
#[differentiable]
fn chosen_number<T: Real>(x: &[T], #[parameter] p: &T) -> T {
    p.sin().greater_than(T::zero()).select(x[0] * x[0] * x[1], x[2] * x[2]) + x[1] * x[1]
}

#[test]
fn patterns_hold_for_both_sides_of_what_a_parameter_selects() {
    macro_rules! check {
        ($($dense:expr, $detector:expr);* $(;)?) => {$({
            let backend = AutoSparse::new($dense).with_detector($detector);
            let mut first = prepare_jacobian(&Chosen, &backend, (&[0.0; 2], Parameter(&1.0))).unwrap();
            let mut second = prepare_hessian(&ChosenNumber, &backend, (&[0.0; 3], Parameter(&1.0))).unwrap();
            for (p, row, hess) in [
                (1.0, [1.0, 3.0], [[10.0, 6.0, 0.0], [6.0, 2.0, 0.0], [0.0; 3]]),
                (-1.0, [0.0, 13.0], [[0.0; 3], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]),
            ] {
                let jac = first.jacobian((&[3.0, 5.0], Parameter(&p))).unwrap();
                assert_eq!(jac.to_dense(), [row], "{p}");
                let found = second.hessian((&[3.0, 5.0, 7.0], Parameter(&p))).unwrap();
                assert_eq!(found.to_dense(), hess, "{p}");
            }
        })*};
    }
    check! {
        AutoForwardDiff::default(), GraphSparsityDetector;
        AutoForwardDiff::default(), TracerSparsityDetector;
        AutoReverseDiff::tape(), GraphSparsityDetector;
        AutoReverseDiff::compiled(), GraphSparsityDetector;
        AutoReverseDiff::compiled(), GraphLocalSparsityDetector;
        AutoReverseDiff::compiled(), TracerSparsityDetector;
    }
}
