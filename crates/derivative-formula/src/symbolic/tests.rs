//! The test kit, and what is peculiar to this backend.

use super::formulas::{Order, program};
use crate::{AutoSymbolic, FormulaSparsityDetector, SeparateColors};
use compiled_trace::{Limits, Recorded, record};
use differentiation_interface::prelude::*;
use differentiation_interface_test::families::{
    ScenarioOptions, constant_container_scenarios, container_scenarios, default_scenarios, single_precision_scenarios,
    singular_scenarios, sparse_scenarios, test_backend, test_contexts,
};
use differentiation_interface_test::{Check, CountingAllocator, Options, matrices_only, test_differentiation};
use num_traits::Float as _;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn all_scenarios_hold() {
    let outcome = test_backend(&AutoSymbolic::default());
    outcome.assert();
    for count in outcome.counts() {
        assert_eq!(count.skipped, 0, "{} skipped scenarios", count.backend);
        assert!(count.scenarios >= 590, "{} scenarios", count.scenarios);
    }
}

/// The first call with other constants makes the formulas again, with the constants as parameters.
#[test]
fn scenarios_with_contexts_hold_except_that_new_constants_allocate() {
    for outcome in test_contexts(&[AutoSymbolic::default()]) {
        let others = outcome.findings().iter().filter(|finding| finding.check != Check::Allocations);
        assert_eq!(others.map(ToString::to_string).collect::<Vec<_>>(), [] as [&str; 0]);
        assert!(outcome.counts()[0].checks > 0);
    }
}

#[test]
fn scenarios_at_containers_hold() {
    test_differentiation(&[AutoSymbolic::default()], &container_scenarios(), &Options::default()).assert();
    // As above.
    let options = Options::default().without(Check::Allocations);
    test_differentiation(&[AutoSymbolic::default()], &constant_container_scenarios(), &options).assert();
}

#[test]
fn singular_points_are_those_of_the_rule_table() {
    test_differentiation(&[AutoSymbolic::default()], &singular_scenarios(), &Options::default()).assert();
}

#[test]
fn single_precision_scenarios_hold() {
    let scenarios = single_precision_scenarios(ScenarioOptions::default());
    test_differentiation(&[AutoSymbolic::default()], &scenarios, &Options::default()).assert();
}

#[test]
fn sparse_scenarios_hold_by_the_pattern_of_the_formulas() {
    let backend = AutoSparse::new(AutoSymbolic::default())
        .with_detector(FormulaSparsityDetector::default())
        .with_coloring(SeparateColors);
    let sparse = (matrices_only("sparse(symbolic)", backend),);
    test_differentiation(&sparse, &sparse_scenarios(&[5]), &Options::default()).assert();
    test_differentiation(&sparse, &default_scenarios(ScenarioOptions::all()), &Options::default()).assert();
}

fn kind<T>(result: Result<T, Error>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn the_pattern_is_that_of_the_formulas() -> Result<(), Error> {
    let f = |x: &[_]| x[0] * x[1] + x[2] * x[2] + x[3];
    let backend = AutoSparse::new(AutoSymbolic::default())
        .with_detector(FormulaSparsityDetector::default())
        .with_coloring(SeparateColors);
    let mut prepared = prepare_hessian(&f, &backend, &[0.0; 4])?;
    let found = prepared.hessian(&[5.0, 7.0, 11.0, 13.0])?;
    assert_eq!(found.entries().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 1.0), (2, 2, 2.0)]);
    let (value, gradient, found) = prepared.value_gradient_and_hessian(&[5.0, 7.0, 11.0, 13.0])?;
    assert_eq!((value, &gradient[..], found.values()), (169.0, &[7.0, 5.0, 22.0, 1.0][..], &[1.0, 1.0, 2.0][..]));
    // A function that branches has no pattern for all points.
    let branches = |x: &[_]| if x[0] > 0.0 { [x[0]] } else { [x[1]] };
    assert!(matches!(kind(jacobian(&branches, &backend, &[1.0, 2.0])), Some(ErrorKind::ValueDecides { .. })));
    // Constant functions have empty patterns.
    let constant = |_: &[_]| [AutoSymbolicNum::from(3.0), 4.0.into()];
    assert_eq!(jacobian(&constant, &backend, &[1.0, 2.0])?.values(), [] as [f64; 0]);
    Ok(())
}

type AutoSymbolicNum = <AutoSymbolic as Backend>::Num<f64, <AutoSymbolic as Backend>::Lanes>;

#[test]
fn a_call_on_another_branch_records_again() -> Result<(), Error> {
    let f = |x: &[_]| if x[0] > 1.0 { x[0] * x[0] } else { x[0] * x[1] };
    let mut prepared = prepare_gradient(&f, &AutoSymbolic::default(), &[2.0, 3.0])?;
    assert_eq!(prepared.gradient(&[5.0, 3.0])?, [10.0, 0.0]);
    assert_eq!(prepared.gradient(&[0.5, 3.0])?, [3.0, 0.5]);
    assert_eq!(prepared.gradient(&[6.0, 3.0])?, [12.0, 0.0]);
    let refusing = AutoSymbolic::default().refusing_other_branches();
    let mut prepared = prepare_gradient(&f, &refusing, &[2.0, 3.0])?;
    assert!(matches!(kind(prepared.gradient(&[0.5, 3.0])), Some(ErrorKind::OtherBranch { .. })));
    assert_eq!(prepared.gradient(&[4.0, 3.0])?, [8.0, 0.0]);
    Ok(())
}

#[test]
fn what_it_cannot_do_is_an_error_that_says_what_to_do() {
    let long = |x: &[_]| (0..1000).fold(x[0], |y, _| y * x[1] + x[0]);
    let small = AutoSymbolic::default().with_most_operations(1500);
    let error = gradient(&long, &small, &[1.0, 0.5]).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.starts_with("gradient with symbolic: the ") && error.contains("than the limit"), "{error}");
    assert!(error.ends_with("raise it with `with_most_operations`, or use `AutoReverseDiff::compiled()`"), "{error}");
    let sparse = AutoSparse::new(small).with_detector(FormulaSparsityDetector::of(small)).with_coloring(SeparateColors);
    let rows = |x: &[_]| [(0..1000).fold(x[0], |y, _| y * x[1] + x[0])];
    let found = kind(jacobian(&rows, &sparse, &[1.0, 0.5]));
    assert!(matches!(found, Some(ErrorKind::Refused { .. })), "{found:?}");
    let rule = Custom::new(
        PlainRule::new("doubled", |x: &[f64], y: &mut Vec<f64>| *y = vec![2.0 * x[0]])
            .with_pullback(|_: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| dx[0] = 2.0 * dy[0]),
    );
    let f = |x: &[_]| rule.call(&[x[0]])[0];
    let found = kind(gradient(&f, &AutoSymbolic::default(), &[1.0]));
    assert_eq!(found, Some(ErrorKind::RuleUnsupported { rule: "plain rule" }));
}

#[test]
fn special_points_and_sizes_are_right() -> Result<(), Error> {
    let backend = AutoSymbolic::default();
    fn constant<T: Real>(_: &[T]) -> T {
        T::constant(1.0)
    }
    assert_eq!(gradient(&constant, &backend, &[] as &[f64])?, [] as [f64; 0]);
    assert_eq!(gradient(&constant, &backend, &[1.0, 2.0])?, [0.0; 2]);
    assert_eq!(hessian(&constant, &backend, &[1.0, 2.0])?, [[0.0; 2]; 2]);
    // √x where x is positive, else 0; an infinite factor.
    fn chosen<T: Real>(x: &[T]) -> T {
        x[0].greater_than(T::constant(0.0)).select(x[0].sqrt(), T::constant(0.0)) * x[1]
    }
    assert_eq!(gradient(&chosen, &backend, &[0.0, f64::INFINITY])?, [0.0, f64::NAN].map(|v: f64| v.max(0.0)));
    assert!(gradient(&chosen, &backend, &[f64::NAN, 1.0])?.iter().all(|v| !v.is_infinite()));
    // Zero seeds contribute nothing, even if the derivative is infinite.
    fn root<T: Real>(x: &[T]) -> T {
        x[0].sqrt() + x[1]
    }
    assert_eq!(pushforward(&root, &backend, &[0.0, 1.0], [&[0.0, 1.0][..]])?, [1.0]);
    Ok(())
}

/// The derivative of a maximum is a choice of a zero, so that those of many are choices in choices, which share their sides. Where each
/// is walked as often as it is used, the time doubles with every number.
#[test]
fn maxima_of_many_numbers_take_time_in_proportion() -> Result<(), Error> {
    fn greatest<T: Real>(x: &[T]) -> T {
        x.iter().fold(x[0], |a, b| a.max(*b))
    }
    fn damped<T: Real>(x: &[T]) -> T {
        x.iter().fold(x[0], |a, b| (0.5 * a).max(*b))
    }
    fn both<T: Real>(x: &[T]) -> T {
        damped(x) * greatest(x) + greatest(x).sin() - damped(x).abs()
    }
    let backend = AutoSymbolic::default();
    let mut x: Vec<f64> = (0..200).map(|i| 0.001 * f64::from(i)).collect();
    x[190] = 512.0;
    let unit = |value: f64| -> Vec<f64> { (0..200).map(|i| if i == 190 { value } else { 0.0 }).collect() };
    let mut prepared = prepare_gradient(&greatest, &backend, &x)?;
    assert_eq!(prepared.gradient(&x)?, unit(1.0));
    x[190] = 0.0;
    assert_eq!(prepared.gradient(&x)?.iter().position(|slope| *slope == 1.0), Some(199));
    x[190] = 512.0;
    // Nine numbers follow that one, and 512/2⁹ is still the greatest.
    assert_eq!(gradient(&damped, &backend, &x)?, unit(1.0 / 512.0));
    let slope = 1.0 + 512.0 / 512.0 + 512.0f64.cos() - 1.0 / 512.0;
    assert!((gradient(&both, &backend, &x)?[190] - slope).abs() < 1e-14);
    assert_eq!(hessian(&greatest, &backend, &x[..40])?, [[0.0; 40]; 40]);
    Ok(())
}

/// Entries whose simplification costs fewer operations change by rounding alone; the values of the function do not change.
#[test]
fn simplified_derivatives_are_those_without_simplification_but_for_rounding() -> Result<(), Error> {
    fn model<T: Real>(x: &[T]) -> Vec<T> {
        let a = x[0] * x[1] + x[0] * x[2];
        vec![(a * a).exp() * x[1], (x[0] / x[1]).sin() * x[2] * x[2], x[0] * x[0] * x[0] + x[1] * x[0] * x[0]]
    }
    let x: [f64; 3] = [0.3, 0.7, 1.1];
    let (y, simple): (Vec<f64>, _) = value_and_jacobian(&model, &AutoSymbolic::default(), &x)?;
    let (plain_y, plain) = value_and_jacobian(&model, &AutoSymbolic::default().without_simplification(), &x)?;
    assert_eq!(y, plain_y);
    for (a, b) in simple.as_slice().iter().zip(plain.as_slice()) {
        assert!((a - b).abs() <= 4.0 * f64::EPSILON * b.abs(), "{a} and {b}");
    }
    Ok(())
}

/// The gradient of a sum of terms of neighbours is a loop: the program does not grow with the number of terms.
#[test]
fn entries_of_many_terms_are_a_loop() {
    let lengths = [20, 200].map(|n| {
        let f = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
            y.push(x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum());
        };
        let graph = record(&vec![0.5; n], &[], Limits::default(), f).unwrap();
        [AutoSymbolic::default(), AutoSymbolic::default().without_simplification()].map(|backend| {
            let program = program(&graph, &backend, Order::First).unwrap();
            println!("{program}");
            program.instruction_count()
        })
    });
    assert_eq!(lengths[0], lengths[1]);
}

#[test]
fn it_pairs_with_other_backends_and_runs_inside_of_them() -> Result<(), Error> {
    fn cube<T: Real>(x: &[T]) -> T {
        x[0] * x[0] * x[0] * x[1]
    }
    let x = [2.0, 5.0];
    let expected = [[60.0, 12.0], [12.0, 0.0]];
    let symbolic = AutoSymbolic::default();
    assert_eq!(hessian(&cube, &SecondOrder(AutoForwardDiff::default(), symbolic), &x)?, expected);
    assert_eq!(hessian(&cube, &SecondOrder(AutoReverseDiff::default(), symbolic), &x)?, expected);
    assert_eq!(hessian(&cube, &SecondOrder(symbolic, AutoForwardDiff::default()), &x)?, expected);
    // At a point that carries a derivative, the program runs on numbers that carry it: d/dt of 3 t² · 5.
    fn slope<T: Real>(t: T) -> T {
        let five = T::constant(5.0);
        gradient(&cube, &AutoSymbolic::default(), &[t, five]).map_or(five, |gradient| gradient[0])
    }
    assert_eq!(derivative(&slope, &AutoForwardDiff::default(), 2.0)?, 60.0);
    assert_eq!(derivative(&slope, &AutoReverseDiff::default(), 2.0)?, 60.0);
    Ok(())
}
