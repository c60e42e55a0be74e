//! Every engine on the scenarios at containers, and at a struct of all of them.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::MixedMode;
use differentiation_interface_test::families::*;
use differentiation_interface_test::*;
use faer::Mat;
use nalgebra::{DMatrix, DVector, Quaternion, SVector};
use ndarray::Array2;
use num_complex::Complex;
use std::collections::BTreeMap;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Every kind of container as a field.
#[derive(Clone, Debug, PartialEq, Container)]
struct Everything<T = f64> {
    scale: T,
    pair: ([T; 2], Option<T>),
    wave: Complex<T>,
    fixed: SVector<T, 2>,
    vector: DVector<T>,
    matrix: DMatrix<T>,
    table: Array2<T>,
    block: Mat<T>,
    turn: Turn<T>,
    rates: BTreeMap<String, T>,
    law: Law<T>,
    chain: Link<T>,
    list: Vec<T>,
    #[constant]
    label: String,
}

/// A quaternion, which cannot be compared at all numbers.
#[derive(Clone, Debug, Container)]
struct Turn<T = f64>(Quaternion<T>);
impl<T: PartialEq> PartialEq for Turn<T> {
    fn eq(&self, other: &Turn<T>) -> bool {
        self.0.coords == other.0.coords
    }
}

/// An enum with data.
#[derive(Clone, Debug, PartialEq, Container)]
enum Law<T = f64> {
    Constant,
    Power { factor: T, exponents: [T; 2] },
}

/// A struct that is a field of another one, recursive, with a constant.
#[derive(Clone, Debug, PartialEq, Container)]
struct Link<T = f64> {
    length: T,
    #[constant]
    teeth: u32,
    next: Option<Box<Link<T>>>,
}

impl<T: Real> Link<T> {
    /// The lengths of the links.
    fn lengths(&self) -> Vec<T> {
        [self.length].into_iter().chain(self.next.iter().flat_map(|next| next.lengths())).collect()
    }
    fn map(&self, step: &mut impl FnMut(T) -> T) -> Link<T> {
        let length = step(self.length);
        Link { length, teeth: self.teeth, next: self.next.as_ref().map(|next| Box::new(next.map(step))) }
    }
}

/// An object with `list` numbers in its list, 31 besides; with 29 if it has a law without data.
fn everything(list: usize) -> Everything {
    Everything {
        scale: 0.0,
        pair: ([0.0; 2], Some(0.0)),
        wave: Complex::new(0.0, 0.0),
        fixed: SVector::zeros(),
        vector: DVector::zeros(3),
        matrix: DMatrix::zeros(2, 2),
        table: Array2::zeros((1, 3)),
        block: Mat::zeros(1, 2),
        turn: Turn(Quaternion::new(0.0, 0.0, 0.0, 0.0)),
        rates: [("birth", 0.0), ("death", 0.0)].map(|(name, rate)| (name.to_string(), rate)).into(),
        law: if list.is_multiple_of(2) { Law::Power { factor: 0.0, exponents: [0.0; 2] } } else { Law::Constant },
        chain: Link { length: 0.0, teeth: 7, next: Some(Box::new(Link { length: 0.0, teeth: 9, next: None })) },
        list: vec![0.0; list],
        label: "cube".into(),
    }
}

impl<T: Real> Function<Everything<T>> for Cubes {
    type Output = T;
    fn call(&self, x: &Everything<T>) -> T {
        let (([a, b], c), m, t) = (x.pair, &x.matrix, &x.table);
        let few = [x.scale, a, b, c.unwrap_or_default(), x.wave.re, x.wave.im, x.fixed[0], x.fixed[1]];
        let vectors = few.into_iter().chain(x.vector.iter().copied());
        let matrices = [m[(0, 0)], m[(1, 0)], m[(0, 1)], m[(1, 1)], t[[0, 0]], t[[0, 1]], t[[0, 2]]];
        let blocks = [x.block[(0, 0)], x.block[(0, 1)]];
        let Turn(Quaternion { coords: turn }) = x.turn;
        let law = match x.law {
            Law::Constant => vec![],
            Law::Power { factor, exponents: [a, b] } => vec![factor, a, b],
        };
        let dense = vectors.chain(matrices).chain(blocks).chain([turn.x, turn.y, turn.z, turn.w]);
        let named = dense.chain([x.rates["birth"], x.rates["death"]]).chain(law).chain(x.chain.lengths());
        Cubes::of(named.chain(x.list.iter().copied()))
    }
}

impl<T: Real> Function<Everything<T>> for Squares {
    type Output = Everything<T>;
    fn call(&self, x: &Everything<T>) -> Everything<T> {
        let mut step = Squares::steps();
        Everything {
            scale: step(x.scale),
            pair: (x.pair.0.map(&mut step), x.pair.1.map(&mut step)),
            wave: Complex::new(step(x.wave.re), step(x.wave.im)),
            fixed: x.fixed.map(&mut step),
            vector: x.vector.map(&mut step),
            matrix: x.matrix.map(&mut step),
            table: x.table.mapv(&mut step),
            block: Mat::from_fn(1, 2, |i, j| step(x.block[(i, j)])),
            turn: Turn(Quaternion::from(x.turn.0.coords.map(&mut step))),
            rates: x.rates.iter().map(|(name, rate)| (name.clone(), step(*rate))).collect(),
            law: match x.law {
                Law::Constant => Law::Constant,
                Law::Power { factor, exponents } => {
                    Law::Power { factor: step(factor), exponents: exponents.map(&mut step) }
                }
            },
            chain: x.chain.map(&mut step),
            list: x.list.iter().map(|v| step(*v)).collect(),
            label: x.label.clone(),
        }
    }
}

/// A curve in the space of [`Everything`]: every number is its index times t³.
#[derive(Clone)]
struct Curve;
impl<T: Real> Function<T> for Curve {
    type Output = Everything<T>;
    fn call(&self, t: &T) -> Everything<T> {
        let numbers: Vec<T> = (0..33).map(|k| *t * *t * *t * k as f64).collect();
        from_flat(&everything(2), &numbers).expect("33 numbers")
    }
}

/// The scenarios at what this file defines.
type Own = (AtContainer<Everything>, Scenario<Derivative, Curve, f64>, Scenario<SecondDerivative, Curve, f64>);

fn own_scenarios() -> Own {
    let along: Vec<f64> = (0..33).map(|k| 12.0 * k as f64).collect();
    (
        at_container(&everything(2), Some(&everything(7))),
        Scenario::derivative(Curve, 2.0).expecting(along.clone()).making_values(),
        Scenario::second_derivative(Curve, 2.0).expecting_first(along.clone()).expecting(along).making_values(),
    )
}

/// Asserts that all of them hold, that so many scenarios were run, and at least so many checks.
#[track_caller]
fn assert_all(outcomes: &[Outcome], scenarios: usize, checks: usize) {
    outcomes.iter().for_each(|outcome| print!("{outcome}"));
    let findings: Vec<String> = outcomes.iter().flat_map(Outcome::findings).map(Finding::to_string).collect();
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
    let counts: Vec<&Count> = outcomes.iter().flat_map(Outcome::counts).collect();
    let sum = |number: fn(&Count) -> usize| counts.iter().map(|count| number(count)).sum::<usize>();
    assert_eq!(sum(|count| count.scenarios), scenarios);
    let made = sum(|count| count.checks);
    println!("{made} checks in all");
    assert!(made >= checks, "{made} checks, expected {checks}");
}

/// Checks one backend on all of them, with the number of scenarios and the least number of checks. Checks in brackets are left out where constants
/// have changed since preparation, for engines that then run the function once more.
macro_rules! conforms {
    ($($test:ident: $backend:expr, [$($but:ident)*], $scenarios:expr, $checks:expr;)*) => {$(
        #[test]
        fn $test() {
            let backends = ($backend,);
            let options = Options::default();
            let with_constants = Options::default()$(.without(Check::$but))*;
            assert_all(&[
                test_differentiation(&backends, &container_scenarios(), &options),
                test_differentiation(&backends, &constant_container_scenarios(), &with_constants),
                test_differentiation(&backends, &holomorphic_scenarios(), &with_constants),
                test_differentiation(&backends, &nalgebra_scenarios(), &options),
                test_differentiation(&backends, &ndarray_scenarios(), &options),
                test_differentiation(&backends, &faer_scenarios(), &options),
                test_differentiation(&backends, &complex_scenarios(), &options),
                test_differentiation(&backends, &nalgebra_view_scenarios(), &options),
                test_differentiation(&backends, &ndarray_view_scenarios(), &options),
                test_differentiation(&backends, &faer_view_scenarios(), &options),
                test_differentiation(&backends, &own_scenarios(), &options),
            ], $scenarios, $checks);
        }
    )*};
}

/// A backend chosen at run time: all of these are built once.
fn chosen(text: &str) -> AnyBackend {
    text.parse().unwrap()
}

conforms! {
    forward_diff: AutoForwardDiff::default(), [], 560, 29849;
    reverse_diff: AutoReverseDiff::default(), [], 560, 29849;
    recorded_at_once: AutoReverseDiff::default().recording_from(1), [Allocations], 560, 29700;
    compiled_reverse_diff: AutoReverseDiff::compiled(), [Calls Allocations], 560, 29500;
    forward_over_reverse: second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default())), [], 129, 9944;
    sparse: matrices_only("sparse", AutoSparse::new(AutoForwardDiff::default())), [Calls Allocations], 84, 3500;
    sparse_mixed: jacobian_only("mixed", AutoSparse::new(MixedMode(AutoForwardDiff::default(), AutoReverseDiff::default()))),
        [Calls Allocations], 42, 1450;
    sparse_pair: hessian_only("pair", AutoSparse::new(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()))),
        [Calls Allocations], 42, 2000;
    tape_at_run_time: chosen("ReverseDiff(tape=true)"), [], 560, 29849;
    finite_diff: chosen("FiniteDiff(scheme=central)"), [], 560, 29849;
    finite_differences: chosen("FiniteDifferences"), [], 560, 29849;
    reverse_over_forward: chosen("SecondOrder(ReverseDiff, ForwardDiff)"), [], 129, 9944;
    reverse_over_reverse: chosen("SecondOrder(ReverseDiff, ReverseDiff)"), [], 129, 9944;
    compiled_over_reverse: chosen("SecondOrder(ReverseDiff(compile=true), ReverseDiff)"), [Calls Allocations], 129, 9800;
    forward_over_compiled: chosen("SecondOrder(ForwardDiff, ReverseDiff(compile=true))"), [Calls Allocations], 129, 9800;
    differences_over_reverse: chosen("SecondOrder(FiniteDiff(scheme=central), ReverseDiff)"), [], 129, 9944;
}

#[test]
fn single_precision() {
    let (reverse, options) = (AutoReverseDiff::default(), Options::default());
    let backends = (AutoForwardDiff::default(), AutoReverseDiff::compiled());
    let exact = test_differentiation(&backends, &single_precision_container_scenarios(), &options);
    let tapes =
        test_differentiation(&[reverse, reverse.recording_from(1)], &single_precision_container_scenarios(), &options);
    for outcome in [exact, tapes] {
        outcome.assert();
        outcome.counts().iter().for_each(|count| assert_eq!(count.scenarios % 26, 0, "{}", count.backend));
        assert_eq!(outcome.counts().iter().map(|count| count.scenarios).sum::<usize>(), 52);
    }
}
