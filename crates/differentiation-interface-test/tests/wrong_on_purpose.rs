//! The kit is tested: every fault of a backend, function or answer is found, by the check of its name.

mod wrong_backend;

use differentiation_interface::prelude::*;
use differentiation_interface_core::Base;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::evaluate::Output;
use differentiation_interface_core::operators::JacobianBackend;
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_test::families::{
    Formula, NumberToNumber, ScenarioOptions, ToArray, ToNumber, default_scenarios,
};
use differentiation_interface_test::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wrong_backend::{Fault, Wrong};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The checks by which the default scenarios find a fault.
fn found_by(fault: Fault) -> Vec<Check> {
    let scenarios = default_scenarios(ScenarioOptions::all());
    checks(&test_differentiation(&(Wrong(fault),), &scenarios, &Options::default()))
}

fn checks(outcome: &Outcome) -> Vec<Check> {
    let mut checks: Vec<Check> = Vec::new();
    for finding in outcome.findings() {
        if !checks.contains(&finding.check) {
            checks.push(finding.check);
        }
    }
    checks
}

#[test]
fn the_backend_without_fault_passes() {
    assert_eq!(found_by(Fault::None), []);
}

#[test]
fn every_fault_of_a_backend_is_found_by_name() {
    for (fault, check) in [
        (Fault::Zero, Check::Result),
        (Fault::Scaled, Check::Result),
        (Fault::NotANumber, Check::Result),
        (Fault::Infinite, Check::Result),
        (Fault::Negative, Check::Result),
        (Fault::Reversed, Check::Result),
        (Fault::ScaledVectors, Check::Result),
        (Fault::Stale, Check::Preparation),
        (Fault::Allocating, Check::Allocations),
        (Fault::OneCallTooMany, Check::Calls),
        (Fault::UnevenCalls, Check::Calls),
        (Fault::SecondCall, Check::SecondCall),
        (Fault::Unwritten, Check::Overwrite),
        (Fault::Value, Check::Value),
        (Fault::SamePoint, Check::SamePoint),
        (Fault::Clone, Check::OtherThread),
        (Fault::CloneForgets, Check::SamePointClone),
        (Fault::Adding, Check::SamePoint),
        (Fault::LeavingRows, Check::SamePoint),
        (Fault::FirstLength, Check::PrepareAgain),
        (Fault::Error, Check::Error),
    ] {
        let found = found_by(fault);
        assert!(found.contains(&check), "{fault:?} was found by {found:?}, not by {check}");
    }
}

/// Two outputs of two inputs, with a Jacobian that is not symmetric.
#[derive(Clone)]
struct Rotate;
impl<T: Real> Function<[T]> for Rotate {
    type Output = [T; 2];
    fn call(&self, x: &[T]) -> [T; 2] {
        [x[0].cos() - x[1].sin(), x[0].sin() + x[1].cos()]
    }
}

#[test]
fn a_transposed_jacobian_is_found_with_a_readable_line() {
    let (s, c) = (1.0_f64.sin(), 1.0_f64.cos());
    let scenario = Scenario::jacobian(Rotate, vec![1.0, 1.0]).named("rotate_pair").expecting([-s, -c, c, -s]);
    let outcome = test_differentiation(&(Wrong(Fault::Transposed),), &scenario, &Options::default());
    assert_eq!(
        outcome.findings()[0].to_string(),
        "wrong: jacobian of rotate_pair: [0,1] is 0.5403023058681398, expected -0.5403023058681398 (tolerance 8.4e-13) [result: jacobian]"
    );
}

#[test]
fn faults_are_found_without_answers() {
    let scenarios = (
        Scenario::jacobian(Rotate, vec![1.0, 0.5]),
        Scenario::gradient(ToNumber(Formula::PowerSums), vec![1.0, 0.5, 0.25]),
        Scenario::hessian(ToNumber(Formula::PowerSums), vec![1.0, 0.5, 0.25]),
        Scenario::hvp(ToNumber(Formula::PowerSums), vec![1.0, 0.5], [vec![1.0, 2.0]]),
    );
    for fault in [Fault::Zero, Fault::Transposed, Fault::Scaled] {
        let found = checks(&test_differentiation(&(Wrong(fault),), &scenarios, &Options::default()));
        assert!(found.contains(&Check::Convergence), "{fault:?} was found by {found:?}");
    }
    assert_eq!(checks(&test_differentiation(&(Wrong(Fault::None),), &scenarios, &Options::default())), []);
    let products = (
        Scenario::pushforward(Rotate, vec![1.0, 0.5], [vec![1.0, 2.0]]),
        Scenario::pullback(Rotate, vec![1.0, 0.5], [vec![1.0, 2.0]]),
    );
    let outcome = test_differentiation(&(Wrong(Fault::ScaledVectors),), &products, &Options::default());
    assert_eq!(checks(&outcome), [Check::Adjoint]);
    assert_eq!(outcome.findings().len(), 2);
}

#[test]
fn each_operator_has_a_default_point_with_a_negative_coordinate() {
    let scenarios = default_scenarios(ScenarioOptions::default());
    let outcome = test_differentiation(&(Wrong(Fault::Negative),), &scenarios, &Options::default());
    let mut operators: Vec<&str> = outcome.findings().iter().map(|finding| finding.operator).collect();
    operators.sort_unstable();
    operators.dedup();
    assert_eq!(
        operators,
        ["derivative", "gradient", "hessian", "hvp", "jacobian", "pullback", "pushforward", "second_derivative"]
    );
}

#[test]
fn errors_are_relative_to_the_largest_entry_expected() {
    struct Small;
    impl<T: Real> Function<[T]> for Small {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x[0] * x[0] * 1e-8 + x[1] * 1e-8
        }
    }
    let scenario = || Scenario::gradient(Small, vec![1.0, 1.0]).expecting([2e-8, 1e-8]);
    for fault in [Fault::Zero, Fault::Scaled] {
        let outcome = test_differentiation(&(Wrong(fault),), &scenario(), &Options::default());
        assert_eq!(checks(&outcome), [Check::Result], "{fault:?}");
    }
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
    test_differentiation(&backends, &scenario(), &Options::default()).assert();
    // Those of a function whose terms cancel are their rounding, and where all are zero, the allowed error is absolute.
    struct Cancels;
    impl<T: Real> Function<[T]> for Cancels {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x[0] * 0.1 + x[0] * 0.2 - x[0] * 0.3
        }
    }
    for expected in [0.0, 2.8e-17] {
        let scenario = Scenario::gradient(Cancels, vec![1.0]).expecting([expected]).expecting_value([expected]);
        test_differentiation(&(AutoForwardDiff::default(),), &scenario, &Options::default()).assert();
    }
}

/// The findings on all operators, at three inputs and without answers.
fn found_without_answers(fault: Fault) -> Outcome {
    let powers = || ToNumber(Formula::PowerSums);
    let squares = || ToArray(Formula::Differences { cubes: true, two_columns: false });
    let x = || vec![1.0, 0.5, -0.25];
    let scenarios = (
        Scenario::derivative(NumberToNumber(Formula::Sines(vec![1.0])), 0.42),
        Scenario::second_derivative(NumberToNumber(Formula::Sines(vec![1.0])), 0.42),
        Scenario::gradient(powers(), x()),
        Scenario::jacobian(squares(), x()),
        Scenario::hessian(powers(), x()),
        Scenario::pullback(squares(), x(), [vec![1.0, 2.0, -1.0, 0.5]]),
        (
            Scenario::pushforward(squares(), x(), [vec![1.0, 2.0, 0.0]]),
            Scenario::hvp(powers(), x(), [vec![1.0, 2.0, 0.0]]),
        ),
    );
    test_differentiation(&(Wrong(fault),), &scenarios, &Options::default())
}

#[test]
fn derivatives_that_are_not_finite_are_found_without_answers() {
    assert_eq!(checks(&found_without_answers(Fault::None)), []);
    for fault in [Fault::NotANumber, Fault::Infinite] {
        let outcome = found_without_answers(fault);
        let operators: Vec<&str> = outcome.findings().iter().map(|finding| finding.operator).collect();
        let all =
            ["derivative", "second_derivative", "gradient", "jacobian", "hessian", "pullback", "pushforward", "hvp"];
        assert_eq!(operators, all, "{fault:?}: {:?}", outcome.findings());
    }
    assert_eq!(
        found_without_answers(Fault::NotANumber).findings()[2].to_string().split(';').next(),
        Some("wrong: gradient of ToNumber: along a direction, entry [0] gives NaN")
    );
}

#[test]
fn infinite_derivatives_and_ends_of_domains_pass_without_answers() {
    struct Roots;
    impl<T: Real> Function<[T]> for Roots {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            vec![x[0].cbrt(), -x[1].cbrt(), x[2].sqrt(), x[0] + x[3] * x[3], x[0].cbrt() + x[1].cbrt()]
        }
    }
    let x = || vec![0.0, 0.0, 0.0, 3.0];
    let scenarios = (
        Scenario::jacobian(Roots, x()),
        Scenario::pushforward(Roots, x(), [vec![1.0, 0.0, 1.0, 1.0]]),
        Scenario::pullback(Roots, x(), [vec![0.0, 0.0, 0.0, 1.0, 0.0]]),
    );
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
    // Beside infinite entries the function runs once more.
    test_differentiation(&backends, &scenarios, &Options::default().without(Check::Calls)).assert();
}

/// Where a derivative is zero, that by differences is as large as their error.
#[test]
fn differences_pass_where_derivatives_are_zero() {
    struct Square;
    impl<T: Real> Function<[T]> for Square {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            x[0] * x[0]
        }
    }
    struct Linear;
    impl<T: Real> Function<[T]> for Linear {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            3.0 * x[0] - 0.7 * x[1]
        }
    }
    let scenarios = (Scenario::gradient(Square, vec![0.0]), Scenario::hessian(Linear, vec![0.3, -2.0]));
    let backends = (with_tolerance(AutoFiniteDiff::forward(), 1e-4, 2e-2),);
    test_differentiation(&backends, &scenarios, &Options::default()).assert();
}

#[test]
fn columns_in_reverse_order_are_found_without_answers() {
    let outcome = found_without_answers(Fault::Reversed);
    let operators: Vec<&str> = outcome.findings().iter().map(|finding| finding.operator).collect();
    // Products with tangents by the pullback beside them, `hvp` by its gradient.
    let all = ["gradient", "jacobian", "hessian", "pullback", "pushforward", "hvp"];
    assert_eq!(operators, all, "{:?}", outcome.findings());
    // At all lengths, also if all but the ends are equal.
    for n in 2..70 {
        let mut x = vec![0.5; n];
        x[n - 1] = 1.0;
        let scenario = Scenario::gradient(ToNumber(Formula::PowerSums), x);
        let outcome = test_differentiation(&(Wrong(Fault::Reversed),), &scenario, &Options::default());
        assert_eq!(checks(&outcome), [Check::Convergence], "{n} inputs");
    }
}

/// A number that a function changes behind a shared reference.
#[derive(Clone, Debug)]
struct Tally(Arc<AtomicUsize>);
impl PartialEq for Tally {
    fn eq(&self, other: &Tally) -> bool {
        self.0.load(Ordering::Relaxed) == other.0.load(Ordering::Relaxed)
    }
}

struct Tallied;
impl<T: Real> FunctionWith<[T], (differentiation_interface::Const<Vec<Tallies>>,)> for Tallied {
    type Output = T;
    fn call_with(&self, x: &[T], (tallies,): (&Vec<Tallies>,)) -> T {
        tallies[0].add();
        x[0] * x[0]
    }
}

/// A counter whose clones count separately.
#[derive(Debug)]
struct Tallies(Tally);
impl Tallies {
    fn add(&self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}
impl Clone for Tallies {
    fn clone(&self) -> Self {
        Tallies(Tally(Arc::new(AtomicUsize::new(self.0.0.load(Ordering::Relaxed)))))
    }
}
impl PartialEq for Tallies {
    fn eq(&self, other: &Tallies) -> bool {
        self.0 == other.0
    }
}

#[test]
fn a_changed_context_is_found() {
    let context = OwnedConstant(vec![Tallies(Tally(Arc::new(AtomicUsize::new(0))))]);
    let scenario = Scenario::gradient(Tallied, (vec![3.0], context)).expecting([6.0]);
    let outcome = test_differentiation(&(AutoForwardDiff::default(),), &scenario, &Options::default());
    assert_eq!(checks(&outcome), [Check::Untouched]);
}

#[test]
fn a_wrong_answer_for_the_value_is_found() {
    let scenario =
        Scenario::gradient(ToNumber(Formula::Sum), vec![1.0, 2.0]).expecting([1.0, 1.0]).expecting_value([4.0]);
    let outcome = test_differentiation(&(AutoForwardDiff::default(),), &scenario, &Options::default());
    assert_eq!(checks(&outcome), [Check::Function]);
}

#[test]
fn a_pattern_with_surplus_entries_is_found() {
    let dense = differentiation_interface::sparse::NoSparsityDetector;
    let backend = jacobian_only("sparse", AutoSparse::new(AutoForwardDiff::default()).with_detector(dense));
    let differences = Formula::Differences { cubes: false, two_columns: false };
    let scenario = Scenario::jacobian(ToArray(differences), vec![1.0, 2.0, 4.0])
        .expecting([-2.0, 2.0, 0.0, 0.0, -4.0, 4.0])
        .expecting_pattern([(0, 0), (0, 1), (1, 1), (1, 2)]);
    let outcome = test_differentiation(&(backend,), &scenario, &Options::default());
    assert_eq!(checks(&outcome), [Check::Pattern]);
    assert_eq!(outcome.findings()[0].detail, "the pattern has [0,2], which is always zero");
}

/// Jacobians by forward mode with wrong treatment of lengths: refusals ignored, or remembered for ever.
#[derive(Clone, Copy)]
enum Lengths {
    Swallowed,
    Remembered,
}

impl<F, X: Shape, C: Contexts> JacobianBackend<F, X, C> for Lengths
where
    AutoForwardDiff: JacobianBackend<F, X, C, Matrix = Matrix<X::Scalar>>,
{
    const BACKEND: &'static str = "lengths";
    type Num = <AutoForwardDiff as JacobianBackend<F, X, C>>::Num;
    type Output = <AutoForwardDiff as JacobianBackend<F, X, C>>::Output;
    type Matrix = Matrix<X::Scalar>;
    type State = (<AutoForwardDiff as JacobianBackend<F, X, C>>::State, Option<Error>);

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok((JacobianBackend::unprepared(&AutoForwardDiff::default(), x)?, None))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.1 = None;
        JacobianBackend::prepare(&AutoForwardDiff::default(), &mut state.0, f, x)
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
    ) -> Result<Self::Matrix, Error> {
        let result = JacobianBackend::matrix(&AutoForwardDiff::default(), &mut state.0, f, x, with_value);
        self.handle(&mut state.1, result, Matrix::filled(0, 0, X::Scalar::default()))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        jac: &mut Self::Matrix,
    ) -> Result<(), Error> {
        let result = JacobianBackend::fill(&AutoForwardDiff::default(), &mut state.0, f, x, with_value, jac);
        self.handle(&mut state.1, result, ())
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        JacobianBackend::evaluate(&AutoForwardDiff::default(), &mut state.0, f, x, y)
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        <AutoForwardDiff as JacobianBackend<F, X, C>>::value(&state.0)
    }
    fn kept(state: &Self::State) -> &<Self::Output as Output<Self::Num>>::Kept {
        <AutoForwardDiff as JacobianBackend<F, X, C>>::kept(&state.0)
    }
}

impl Lengths {
    fn handle<T>(&self, remembered: &mut Option<Error>, result: Result<T, Error>, instead: T) -> Result<T, Error> {
        match (self, result) {
            (Lengths::Swallowed, Err(_)) => Ok(instead),
            (Lengths::Remembered, Err(error)) => Err(remembered.insert(error).clone()),
            (_, Ok(result)) => remembered.clone().map_or(Ok(result), Err),
        }
    }
}

#[test]
fn wrong_lengths_that_are_taken_or_spoil_the_preparation_are_found() {
    // The operator checks the length of the point; the backend has to check the size of the matrix.
    let differences = Formula::Differences { cubes: false, two_columns: false };
    let scenario = Scenario::jacobian(ToArray(differences), vec![1.0, 2.0, 4.0]).prepared_again_from(vec![1.0, 2.0]);
    let outcome =
        test_differentiation(&(jacobian_only("lengths", Lengths::Swallowed),), &scenario, &Options::default());
    assert!(checks(&outcome).contains(&Check::WrongSizes), "{:?}", outcome.findings());
    let outcome =
        test_differentiation(&(jacobian_only("lengths", Lengths::Remembered),), &scenario, &Options::default());
    assert!(
        outcome.findings().iter().any(|f| f.call.contains("prepared") && f.check == Check::AfterError),
        "{:?}",
        outcome.findings()
    );
}

#[test]
fn a_panicking_function_is_a_row() {
    struct Panics;
    impl<T: Real> Function<[T]> for Panics {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            if x[0] == 0.25 {
                panic!("not there");
            }
            x[0] * x[0]
        }
    }
    let scenario = Scenario::gradient(Panics, vec![1.0]).expecting([2.0]).prepared_at(vec![0.25]);
    let table = benchmark_differentiation(&(AutoForwardDiff::default(),), &scenario, &BenchmarkOptions::default());
    assert_eq!(table.len(), 1);
    assert_eq!(table.rows[0].error.as_deref(), Some("the function panicked: not there"));
}

#[test]
fn a_wrong_derivative_is_a_row_with_an_error_and_is_not_picked() {
    let scenario = Scenario::gradient(ToNumber(Formula::PowerSums), vec![1.0, 0.5, 0.25]);
    let backends = (Wrong(Fault::Scaled), AutoForwardDiff::default(), AutoReverseDiff::default());
    let table = benchmark_differentiation(&backends, &scenario, &BenchmarkOptions::default().seconds(0.001));
    let failures: Vec<&str> = table.failures().map(|row| row.backend.as_str()).collect();
    assert_eq!((table.len(), failures), (5, vec!["wrong"]));
    let pick = pick_fastest(&backends, &scenario, 0.001);
    assert!(pick.fastest.is_some_and(|(position, _)| position > 0));
    assert_eq!(pick.rejected.len(), 1);
    assert!(pick.rejected[0].1.ends_with("[convergence]"), "{}", pick.rejected[0].1);
    // The first of two that disagree would be picked, were it not rejected by itself.
    for fault in [Fault::NotANumber, Fault::Infinite, Fault::Reversed] {
        let pick = pick_fastest(&(Wrong(fault), AutoForwardDiff::default()), &scenario, 0.001);
        assert_eq!(pick.fastest.map(|(position, _)| position), Some(1), "{fault:?}");
    }
}
