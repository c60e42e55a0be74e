//! Properties of second order that hold for every function: random programs over the whole rule table, by all pairs of
//! engines; other number types, point types and handles; errors.

use crate::pairs::{assert_near, each_exact_pair, each_pair};
use crate::support::each_exact_engine;
use differentiation_interface::backend::{ForcedRoute, ForwardOverGradient, Reevaluate, ReverseOverGradient};
use differentiation_interface::function::{Const, Work};
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{self, Binary, RuleVisitor, Unary};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use std::sync::Arc;

/// One step of a random program; indices of arguments count back from the newest value.
#[derive(Clone, Debug)]
enum Step {
    Unary(usize, usize),
    Binary(usize, usize, usize),
    Scaled(f64, usize),
}

/// A function of any number of inputs: steps over the rule table, then the sum of the last values.
#[derive(Clone, Debug)]
struct Program {
    steps: Vec<Step>,
    /// Only rules that are smooth and moderate, so that differences work.
    tame: bool,
}

/// Applies the rule of an index to one or two numbers.
struct Apply<S> {
    index: usize,
    count: usize,
    arguments: [S; 2],
    result: S,
}

impl<S: Scalar<Base = f64>> RuleVisitor for Apply<S> {
    fn unary<R: Unary>(&mut self, rule: R) {
        if self.count == self.index {
            // Arguments lie between 0.15 and 0.45; this one has no value there.
            let shift = if ["acosh", "acosh_slope"].contains(&R::NAME) { 1.0 } else { 0.0 };
            self.result = (self.arguments[0] + S::constant(shift)).apply(rule);
        }
        self.count += 1;
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        if self.count == self.index {
            self.result = self.arguments[0].apply2(self.arguments[1], rule);
        }
        self.count += 1;
    }
}

/// The number of rules of one and of two arguments.
fn table() -> (usize, usize) {
    let mut unary = Apply { index: usize::MAX, count: 0, arguments: [0.0; 2], result: 0.0 };
    rules::each_unary(&mut unary);
    let mut binary = Apply { index: usize::MAX, count: 0, arguments: [0.0; 2], result: 0.0 };
    rules::each_binary(&mut binary);
    (unary.count, binary.count)
}

impl Program {
    fn run<T: Real>(&self, x: &[T], factor: f64, values: &mut Vec<T>) -> T {
        values.clear();
        values.push(T::constant(0.7));
        values.extend_from_slice(x);
        for step in &self.steps {
            let at = |back: usize| values[values.len() - 1 - back % values.len()];
            let squashed = |back: usize| 0.3 + 0.15 * at(back).sin();
            let value = match *step {
                Step::Scaled(c, a) => c * at(a) + at(a + 1) * factor,
                Step::Unary(rule, a) if self.tame => match rule % 5 {
                    0 => at(a).sin(),
                    1 => squashed(a).exp(),
                    2 => squashed(a).ln(),
                    3 => at(a).tanh(),
                    _ => squashed(a).sqrt(),
                },
                Step::Binary(rule, a, b) if self.tame => match rule % 4 {
                    0 => squashed(a) * squashed(b),
                    1 => squashed(a) / squashed(b),
                    2 => squashed(a).powf(squashed(b)),
                    _ => squashed(a).hypot(squashed(b)),
                },
                Step::Unary(rule, a) => {
                    let mut apply = Apply { index: rule, count: 0, arguments: [squashed(a); 2], result: T::zero() };
                    rules::each_unary(&mut apply);
                    apply.result
                }
                Step::Binary(rule, a, b) => {
                    let arguments = [squashed(a), squashed(b)];
                    let mut apply = Apply { index: rule, count: 0, arguments, result: T::zero() };
                    rules::each_binary(&mut apply);
                    apply.result
                }
            };
            values.push(value);
        }
        values.iter().map(|v| v.sin()).sum()
    }
}

impl<T: Real> Function<[T]> for Program {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.run(x, 0.5, &mut Vec::new())
    }
}

impl<T: Real> FunctionWith<[T], (Const<f64>, Work<Vec<T>>)> for Program {
    type Output = T;
    fn call_with(&self, x: &[T], (factor, values): (&f64, &mut Vec<T>)) -> T {
        self.run(x, *factor, values)
    }
}

fn programs(tame: bool) -> impl Strategy<Value = Program> {
    let (unary, binary) = table();
    let back = 0..60_usize;
    let step = prop_oneof![
        (0..unary, back.clone()).prop_map(|(rule, a)| Step::Unary(rule, a)),
        (0..binary, back.clone(), back.clone()).prop_map(|(rule, a, b)| Step::Binary(rule, a, b)),
        (-2.0..2.0_f64, back).prop_map(|(c, a)| Step::Scaled(c, a)),
    ];
    prop::collection::vec(step, 1..15).prop_map(move |steps| Program { steps, tame })
}

fn points(dimension: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-2.0..2.0_f64, dimension)
}

/// Numbers of two levels with lanes each take hundreds of bytes or kilobytes, too many of them for the stack of a test thread without
/// optimisation.
fn with_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test).expect("there is memory");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check_property<S>(cases: u32, strategy: S, test: impl Fn(S::Value) -> TestCaseResult + Send + 'static)
where
    S: Strategy + Send + 'static,
{
    with_large_stack(move || {
        let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        if let Err(error) = prop::test_runner::TestRunner::new(config).run(&strategy, test) {
            panic!("{error}");
        }
    });
}

/// A tangent that depends on nothing but its length.
fn tangent(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (seed + i as f64).sin()).collect()
}

fn times(hess: &Matrix<f64>, tangent: &[f64]) -> Vec<f64> {
    (0..hess.rows()).map(|i| hess.row(i).iter().zip(tangent).map(|(a, b)| a * b).sum()).collect()
}

/// Rounding differs between engines by the condition of the program: compare to the largest entry.
const AGREE: f64 = 1e-9;

#[test]
fn all_pairs_of_exact_engines_agree_on_random_programs() {
    check_property(40, (programs(false), points(0..51)), |(program, x)| {
        let n = x.len();
        let (t, u) = (tangent(n, 0.3), tangent(n, 1.7));
        let (y, grad) = value_and_gradient(&program, &AutoReverseDiff::default(), &x).unwrap();
        let reference = hessian(&program, &AutoForwardDiff::default(), &x).unwrap();
        prop_assume!(reference.as_slice().iter().all(|v| v.is_finite()) && grad.iter().all(|v| v.is_finite()));
        let scale = 1.0 + grad.iter().chain(reference.as_slice()).fold(0.0, |m: f64, v| m.max(v.abs()));
        each_exact_pair!(|backend| {
            let name = &format!("{backend:?}");
            let (value, first, second) = value_gradient_and_hessian(&program, &backend, &x).unwrap();
            assert_near(name, &[value], &[y], 1e-13);
            assert_near(name, &first, &grad, AGREE);
            assert_near(name, second.as_slice(), reference.as_slice(), AGREE);
            for i in 0..n {
                for j in 0..i {
                    let (a, b) = (second[(i, j)], second[(j, i)]);
                    assert!((a - b).abs() <= AGREE * scale, "{name}: entry ({i}, {j}) is {a}, its mirror is {b}");
                }
            }
            let (value, first, products) = value_gradient_and_hvp(&program, &backend, &x, [&t, &u]).unwrap();
            assert_near(name, &[value], &[y], 1e-13);
            assert_near(name, &first, &grad, AGREE);
            let expected = [times(&reference, &t), times(&reference, &u)].concat();
            let sized = |found: &[f64]| found.iter().map(|v| v / scale).collect::<Vec<_>>();
            assert_near(name, &sized(&products.concat()), &sized(&expected), AGREE);
            let mut held = prepare_hvp_same_point(&program, &backend, &x, [&t]).unwrap();
            for (tangent, half) in [(&u, 1), (&t, 0)] {
                let [product] = held.hvp([tangent]).unwrap();
                assert_near(name, &sized(&product), &sized(&expected[half * n..(half + 1) * n]), AGREE);
            }
        });
        Ok(())
    });
}

#[test]
fn all_pairs_of_exact_engines_agree_on_every_rule() {
    with_large_stack(|| {
        let (unary, binary) = table();
        let unary = (0..unary).map(|rule| Step::Unary(rule, 0));
        let binary = (0..binary).map(|rule| Step::Binary(rule, 0, 1));
        for step in unary.chain(binary) {
            let program = Program { steps: vec![step.clone()], tame: false };
            let x = [0.4_f64, -1.3];
            let reference = hessian(&program, &AutoForwardDiff::default(), &x).unwrap();
            assert!(reference.as_slice().iter().all(|v| v.is_finite()), "{step:?}");
            each_exact_pair!(|backend| {
                let found = hessian(&program, &backend, &x).unwrap();
                let name = format!("{step:?} by {backend:?}");
                assert_near(&name, found.as_slice(), reference.as_slice(), 1e-13);
            });
        }
    });
}

#[test]
fn all_pairs_agree_with_contexts() {
    check_property(30, (programs(false), points(1..20), -2.0..2.0_f64), |(program, x, k)| {
        let (other, work) = (vec![0.1; x.len()], vec![0.0; 0]);
        let at = (&x, Constant(&k), Cache(&work));
        let reference = hessian(&program, &AutoForwardDiff::default(), at).unwrap();
        prop_assume!(reference.as_slice().iter().all(|v| v.is_finite()));
        each_exact_pair!(|backend| {
            let mut prepared = prepare_hessian(&program, &backend, (&other, Constant(&-3.0), Cache(&work))).unwrap();
            let found = prepared.hessian(at).unwrap();
            assert_near(&format!("{backend:?}"), found.as_slice(), reference.as_slice(), AGREE);
            let mut prepared =
                prepare_hvp(&program, &backend, (&other, Constant(&-3.0), Cache(&work)), [&other]).unwrap();
            let [found] = prepared.hvp(at, [&x]).unwrap();
            let expected = times(&reference, &x);
            assert_near(&format!("{backend:?}"), &found, &expected, 10.0 * AGREE * (1.0 + largest(&reference)));
        });
        Ok(())
    });
}

fn largest(hess: &Matrix<f64>) -> f64 {
    hess.as_slice().iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

#[test]
fn differences_agree_to_their_order() {
    check_property(30, (programs(true), points(0..8)), |(program, x)| {
        let reference = hessian(&program, &AutoForwardDiff::default(), &x).unwrap();
        let t = tangent(x.len(), 0.5);
        each_pair!(|backend, tolerance| {
            let name = &format!("{backend:?}");
            // Derivatives of third order enter the error.
            let tolerance = (100.0 * tolerance).max(AGREE);
            let found = hessian(&program, &backend, &x).unwrap();
            assert_near(name, found.as_slice(), reference.as_slice(), tolerance);
            let [product] = hvp(&program, &backend, &x, [&t]).unwrap();
            assert_near(name, &product, &times(&reference, &t), tolerance * (1.0 + largest(&reference)));
        });
        Ok(())
    });
}

#[test]
fn second_derivatives_agree_on_random_programs() {
    check_property(60, (programs(false), -2.0..2.0_f64), |(program, t)| {
        let reference = hessian(&program, &AutoForwardDiff::default(), &[t]).unwrap()[(0, 0)];
        let (y, grad) = value_and_gradient(&program, &AutoForwardDiff::default(), &[t]).unwrap();
        prop_assume!(reference.is_finite());
        each_exact_pair!(|backend| {
            let f = |t| program.call(&[t]);
            let found = value_derivative_and_second_derivative(&f, &backend, t).unwrap();
            assert_near(&format!("{backend:?}"), &[found.0, found.1, found.2], &[y, grad[0], reference], AGREE);
        });
        Ok(())
    });
}

fn cubic<T: Real>(x: &[T]) -> T {
    x[0] * x[0] * x[1]
}
fn cubic_of_array<T: Real>(x: &[T; 2]) -> T {
    x[0] * x[0] * x[1]
}
fn single<T: Real<f32>>(x: &[T]) -> T {
    (x[0] * x[1]).sin()
}
fn single_of_number<T: Real<f32>>(t: T) -> T {
    t * t * t
}

#[test]
fn single_precision_works_in_every_mode() {
    let (x, t) = ([0.5_f32, 2.0], [1.0_f32, 0.0]);
    let (s, c) = 1.0_f64.sin_cos();
    let expected = [-4.0 * s, c - s, c - s, -0.25 * s];
    let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
    each_exact_pair!(|backend| {
        let name = &format!("{backend:?}");
        let (y, grad, hess) = value_gradient_and_hessian(&|x: &[_]| single(x), &backend, &x).unwrap();
        assert_near(name, &[f64::from(y)], &[s], 1e-6);
        assert_near(name, &wide(&grad), &[2.0 * c, 0.5 * c], 1e-6);
        assert_near(name, &wide(hess.as_slice()), &expected, 1e-6);
        let [product] = hvp(&|x: &[_]| single(x), &backend, &x, [&t]).unwrap();
        assert_near(name, &wide(&product), &expected[..2], 1e-6);
        let second = second_derivative(&|t| single_of_number(t), &backend, &2.0_f32).unwrap();
        assert_eq!(second, 12.0_f32, "{name}");
    });
    let hess = hessian(&|x: &[f32]| single(x), &AutoFiniteDiff::central(), &x).unwrap();
    assert_near("differences in single precision", &wide(hess.as_slice()), &expected, 1e-2);
}

#[test]
fn array_points_give_array_results() {
    each_exact_pair!(|backend| {
        let (y, grad, hess) =
            value_gradient_and_hessian(&|x: &[_; 2]| cubic_of_array(x), &backend, [2.0, 5.0]).unwrap();
        let grad: [f64; 2] = grad;
        assert_eq!((y, grad), (20.0, [20.0, 4.0]));
        assert_eq!(hess, [[10.0, 4.0], [4.0, 0.0]]);
        let products: [[f64; 2]; 2] =
            hvp(&|x: &[_; 2]| cubic_of_array(x), &backend, [2.0, 5.0], [[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert_eq!(products, [[10.0, 4.0], [4.0, 0.0]]);
    });
}

#[test]
fn more_tangents_than_lanes_on_the_stack_go_in_batches() {
    each_exact_pair!(|backend| {
        let tangents: [[f64; 2]; 20] = std::array::from_fn(|k| [k as f64, 1.0]);
        let products = hvp(&|x: &[_]| cubic(x), &backend, &[2.0, 5.0], tangents.each_ref()).unwrap();
        for (k, product) in products.iter().enumerate() {
            assert_near(&format!("{backend:?}"), product, &[10.0 * k as f64 + 4.0, 4.0 * k as f64], 1e-13);
        }
        let products = gradient_and_hvp(&|x: &[_]| cubic(x), &backend, &[2.0, 5.0], tangents.each_ref()).unwrap();
        assert_eq!(products.0, [20.0, 4.0], "{backend:?}");
    });
}

/// √x₀ has infinite derivatives at 0, which are in no other entry.
#[test]
fn infinite_derivatives_stay_where_they_are() {
    fn f<T: Real>(x: &[T]) -> T {
        x[0].sqrt() * 2.0 + x[1] * x[1] * x[2] + (x[0] + x[3]).exp() + x[4].sin() + x[5] + x[6] * x[7] + x[8] + x[9]
    }
    let x: &[f64; 10] = &[0.0, 3.0, 2.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    each_exact_pair!(|backend| {
        let hess = hessian(&|x: &[_]| f(x), &backend, x).unwrap();
        assert!(!hess[(0, 0)].is_finite(), "{backend:?}: the only entry that is infinite is {}", hess[(0, 0)]);
        for i in 0..10 {
            for j in 0..10 {
                let expected = match (i, j) {
                    (0, 0) => continue,
                    (1, 1) => 4.0,
                    (1, 2) | (2, 1) => 6.0,
                    (0, 3) | (3, 0) | (3, 3) | (6, 7) | (7, 6) => 1.0,
                    _ => 0.0,
                };
                assert_eq!(hess[(i, j)], expected, "{backend:?}: entry ({i}, {j})");
            }
        }
        let mut tangent = [0.0; 10];
        tangent[1] = 1.0;
        let [product] = hvp(&|x: &[_]| f(x), &backend, x, [&tangent]).unwrap();
        assert_eq!(product, [0.0, 4.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{backend:?}");
    });
}

/// What an engine does alone in second order it can do by nesting its numbers as well, which any two engines can.
#[test]
fn engines_that_take_both_places_agree_with_nested_numbers() {
    fn f<T: Real>(x: &[T]) -> T {
        let products = x.windows(2).map(|w| (w[0] * w[1]).sin() / (1.0 + w[1] * w[1])).sum::<T>();
        products * x[0].exp() + x[2].powf(x[1]) + x[0].max(x[1])
    }
    let n = 14;
    let x = &(0..n).map(|i| 0.3 + 0.1 * i as f64).collect::<Vec<_>>()[..];
    let (v, w) = (tangent(n, 1.0), tangent(n, 2.0));
    macro_rules! check {
        ($alone:expr, $Route:ty) => {{
            let alone = $alone;
            let nested = ForcedRoute::<_, _, $Route>::new(&(alone, alone));
            let (value, grad, hess) = value_gradient_and_hessian(&|x: &[_]| f(x), &alone, x).unwrap();
            let (value2, grad2, hess2) = value_gradient_and_hessian(&|x: &[_]| f(x), &nested, x).unwrap();
            assert_eq!(value, value2, "{alone:?}");
            assert_near("gradient", &grad, &grad2, 1e-14);
            assert_near("Hessian", hess.as_slice(), hess2.as_slice(), 1e-13);
            let [p, q] = hvp(&|x: &[_]| f(x), &alone, x, [&v, &w]).unwrap();
            let mut held = prepare_hvp_same_point(&|x: &[_]| f(x), &nested, x, [&w, &v]).unwrap();
            let [q2, p2] = held.hvp([&w, &v]).unwrap();
            assert_near("product", &p, &p2, 1e-13);
            assert_near("second product", &q, &q2, 1e-13);
        }};
    }
    check!(AutoForwardDiff::default(), ForwardOverGradient<Reevaluate>);
    check!(AutoForwardDiff::with_chunk::<5>(), ForwardOverGradient<Reevaluate>);
    check!(AutoReverseDiff::default(), ReverseOverGradient);
}

#[test]
fn no_inputs_give_empty_results() {
    let constant = |x: &[f64]| x.len() as f64;
    let hess = hessian(&constant, &AutoFiniteDiff::central(), &[0.0; 0]).unwrap();
    assert_eq!(hess.size(), (0, 0));
    each_exact_pair!(|backend| {
        let (y, grad, hess) = value_gradient_and_hessian(&|x: &[_]| sum_and_seven(x), &backend, &[0.0; 0]).unwrap();
        assert_eq!((y, grad.len(), hess.size()), (7.0, 0, (0, 0)), "{backend:?}");
        let (y, grad, [product]) =
            value_gradient_and_hvp(&|x: &[_]| sum_and_seven(x), &backend, &[0.0; 0], [&[0.0; 0]]).unwrap();
        assert_eq!((y, grad.len(), product.len()), (7.0, 0, 0), "{backend:?}");
    });
}

fn sum_and_seven<T: Real>(x: &[T]) -> T {
    x.iter().sum::<T>() + 7.0
}

#[test]
fn clones_work_on_other_threads() {
    each_exact_pair!(|backend| {
        let f = Arc::new(|x: &[_]| cubic(x));
        let mut hess = prepare_hessian(f, &backend, &[1.0, 1.0]).unwrap();
        let f = Arc::new(|x: &[_]| cubic(x));
        let mut product = prepare_hvp(f, &backend, &[1.0, 1.0], [&[1.0, 0.0]]).unwrap();
        let f = Arc::new(|x: &[_]| cubic(x));
        let mut held = prepare_hvp_same_point(f, &backend, [2.0, 5.0].as_slice(), [&[1.0, 0.0]]).unwrap();
        let f = Arc::new(cube);
        let mut der2 = prepare_second_derivative(f, &backend, 1.0).unwrap();
        let copies = (hess.clone(), product.clone(), held.clone(), der2.clone());
        let there = std::thread::spawn(move || {
            let (mut hess, mut product, mut held, mut der2) = copies;
            let results = (
                hess.hessian(&[2.0, 5.0]).unwrap(),
                product.hvp(&[2.0, 5.0], [&[1.0, 0.0]]).unwrap(),
                held.hvp([&[1.0, 0.0]]).unwrap(),
                der2.second_derivative(2.0).unwrap(),
            );
            // And back again: a preparation may change threads between calls.
            (results, hess)
        });
        let here = (
            hess.hessian(&[2.0, 5.0]).unwrap(),
            product.hvp(&[2.0, 5.0], [&[1.0, 0.0]]).unwrap(),
            held.hvp([&[1.0, 0.0]]).unwrap(),
            der2.second_derivative(2.0).unwrap(),
        );
        let (there, mut back) = there.join().expect("the thread ends well");
        assert_eq!(here, there);
        assert_eq!(here.0, [[10.0, 4.0], [4.0, 0.0]]);
        assert_eq!((&here.1[0][..], &here.2[0][..], here.3), (&[10.0, 4.0][..], &[10.0, 4.0][..], 12.0));
        assert_eq!(back.hessian(&[2.0, 5.0]).unwrap(), here.0);
    });
}

fn cube<T: Real>(t: T) -> T {
    t * t * t
}

#[test]
fn wrong_lengths_are_errors_that_say_so() {
    let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
    let mut hess = prepare_hessian(&cubic, &backend, &[1.0, 1.0]).unwrap();
    let message = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(hess.hessian(&[1.0; 3]).map(drop)),
        "hessian with second_order: prepared for 2 inputs, called with 3; prepare again with a point of length 3"
    );
    assert_eq!(
        message(hess.hessian_into(&mut Matrix::filled(2, 3, 0.0), &[1.0; 2])),
        "hessian with second_order: the matrix is 2 x 3, the result is 2 x 2; pass a matrix of 2 x 2"
    );
    let mut square = Matrix::filled(2, 2, 0.0);
    assert_eq!(
        message(hess.value_gradient_and_hessian_into(&mut [0.0; 3], &mut square, &[1.0; 2]).map(|_| ())),
        "hessian with second_order: the buffer has length 3, the result needs 2; pass a buffer of length 2"
    );
    let mut product = prepare_hvp(&cubic, &backend, &[1.0, 1.0], [&[0.0; 2]]).unwrap();
    assert_eq!(
        message(product.hvp(&[1.0; 1], [&[0.0; 2]]).map(drop)),
        "hvp with second_order: prepared for 2 inputs, called with 1; prepare again with a point of length 1"
    );
    assert_eq!(
        message(product.hvp(&[1.0; 2], [&[0.0; 3]]).map(drop)),
        "hvp with second_order: seed 0 has length 3, expected 2; a tangent is as long as the point, a cotangent as the output"
    );
    assert_eq!(
        message(product.hvp_into([&mut [0.0; 1]], &[1.0; 2], [&[0.0; 2]])),
        "hvp with second_order: the buffer has length 1, the result needs 2; pass a buffer of length 2"
    );
    assert_eq!(
        message(product.gradient_and_hvp_into(&mut [0.0; 5], [&mut [0.0; 2]], &[1.0; 2], [&[0.0; 2]])),
        "hvp with second_order: the buffer has length 5, the result needs 2; pass a buffer of length 2"
    );
    // Where the point has another length than the preparation, buffers as long as the point are not what is wrong.
    let (x, dx, grad) = (&[1.0; 3], &[0.0; 3], &mut [0.0; 3]);
    let again = "prepared for 2 inputs, called with 3; prepare again with a point of length 3";
    let refused = |result| assert!(message(result).ends_with(again));
    let mut square = Matrix::filled(3, 3, 0.0);
    refused(hess.value_gradient_and_hessian_into(grad, &mut square, x).map(drop));
    refused(product.hvp_into([&mut [0.0; 3]], x, [dx]));
    refused(product.gradient_and_hvp_into(grad, [&mut [0.0; 3]], x, [dx]));
    refused(product.value_gradient_and_hvp_into(grad, [&mut [0.0; 3]], x, [dx]).map(drop));
    let mut two = prepare_hvp(&cubic, &backend, &[1.0, 1.0], [&[0.0; 2], &[0.0; 2]]).unwrap();
    refused(two.hvp_into([&mut [0.0; 3], &mut [0.0; 3]], x, [dx, dx]));
    assert_eq!(
        message(prepare_hvp(&cubic, &AutoForwardDiff::default(), &[1.0, 1.0], [&[0.0; 3]]).map(drop)),
        "hvp with forward_diff: seed 0 has length 3, expected 2; a tangent is as long as the point, a cotangent as the output"
    );
    assert_eq!(
        message(prepare_hvp_same_point(&cubic, &backend, &[1.0, 1.0], [&[0.0; 2], &[0.0; 2]]).map(|mut held| {
            assert_eq!(
                message(held.hvp([&[0.0; 2][..], &[0.0; 1]]).map(drop)),
                "hvp with second_order: seed 1 has length 1, expected 2; a tangent is as long as the point, a cotangent as \
                 the output"
            );
        })
        .and_then(|()| hvp::<_, _, _, &[f64], 0>(&|x: &[_]| cubic(x), &backend, &[1.0, 1.0], []).map(drop))),
        "hvp with second_order: no seed was given; pass at least one tangent or cotangent"
    );
    let mut powers = prepare_second_derivative(&powers, &AutoForwardDiff::default(), 1.0).unwrap();
    assert_eq!(
        message(powers.second_derivative_into(&mut [0.0; 3], 2.0)),
        "second_derivative with forward_diff: the buffer has length 3, the result needs 2; pass a buffer of length 2"
    );
    let mut untouched = [f64::NAN; 2];
    assert_eq!(
        message(powers.value_derivative_and_second_derivative_into(&mut [0.0; 1], &mut untouched, 2.0).map(drop)),
        "second_derivative with forward_diff: the buffer has length 1, the result needs 2; pass a buffer of length 2"
    );
    assert!(untouched.iter().all(|v| v.is_nan()), "nothing is written when a buffer does not fit");
    // All of them are as usable as before.
    assert_eq!(hess.hessian(&[2.0, 5.0]).unwrap(), [[10.0, 4.0], [4.0, 0.0]]);
    assert_eq!(product.hvp(&[2.0, 5.0], [&[1.0, 0.0]]).unwrap(), [[10.0, 4.0]]);
    assert_eq!(powers.second_derivative(2.0).unwrap(), [2.0, 12.0]);
}

fn powers<T: Real>(t: T) -> [T; 2] {
    [t * t, t * t * t]
}

#[test]
fn fixed_chunks_that_do_not_fit_are_refused() {
    let (four, reverse) = (AutoForwardDiff::with_chunk::<4>(), AutoReverseDiff::default());
    let kind = ErrorKind::ChunkTooLarge { chunk: 4, inputs: 2 };
    let x = &[1.0, 2.0];
    assert_eq!(hessian(&|x: &[_]| cubic(x), &four, x).unwrap_err().kind(), kind);
    assert_eq!(hessian(&|x: &[_]| cubic(x), &SecondOrder(reverse, four), x).unwrap_err().kind(), kind);
    let at_run_time = AutoForwardDiff::with_runtime_chunk(Some(4)).expect("a number has room for four lanes");
    for inner in [None, Some(4)] {
        let inner = AutoForwardDiff::with_runtime_chunk(inner).expect("a number has room for four lanes");
        let error = hessian(&|x: &[_]| cubic(x), &SecondOrder(at_run_time, inner), x).unwrap_err();
        assert_eq!(error.kind(), kind);
    }
    // Tangents are those of the call, however many there are.
    let eight = AutoForwardDiff::with_runtime_chunk(Some(8)).expect("a number has room for eight lanes");
    let long = [1.0; 9];
    for backend in [eight, AutoForwardDiff::with_runtime_chunk(None).expect("it is automatic")] {
        let products = hvp(&|x: &[_]| cubic(x), &SecondOrder(eight, backend), &long, [&long; 4]).unwrap();
        assert_eq!(products, [[4.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]; 4]);
    }
    // Over reverse mode there are no lanes on the outside.
    let [product] = hvp(&|x: &[_]| cubic(x), &SecondOrder(four, reverse), x, [&[1.0, 0.0]]).unwrap();
    assert_eq!(product, [4.0, 2.0]);
}

#[test]
fn value_and_gradient_equal_those_of_first_order() {
    let x = [0.3, -1.2, 2.0];
    let f = Program { steps: vec![Step::Unary(3, 0), Step::Binary(2, 0, 2), Step::Unary(12, 1)], tame: false };
    each_exact_engine!(|inner| {
        let (y, grad) = value_and_gradient(&f, &inner, &x).unwrap();
        let forward = SecondOrder(AutoForwardDiff::default(), inner);
        let (value, first, _) = value_gradient_and_hessian(&f, &forward, &x).unwrap();
        assert_eq!((value, first), (y, grad), "the same operations in the same order");
    });
}
