//! The second-order and context cases of the counterpart, with the numbers of `data/cases.json`, by every pair of engines.
//!
//! Functions are written by hand, one per case name; numbers come from the file. A case of these kinds that has no function
//! here fails the test of its kind. The variants that the counterpart makes of its cases follow.

use crate::pairs::{assert_near, each_exact_pair, each_pair};
use crate::support::data::{cases, column_major, flat, number, run};
use crate::support::each_engine;
use differentiation_interface::prelude::*;
use serde_json::Value;

/// Input and expected answer of one case.
fn case(name: &str) -> (Value, Value) {
    let case = cases().into_iter().find(|case| case["name"] == name).expect("the file has this case");
    (case["input"].clone(), case["expected"].clone())
}

// The functions.

fn sine<T: Real>(x: T) -> T {
    x.sin()
}
fn sines<T: Real>(x: T) -> [T; 2] {
    [x.sin(), (2.0 * x).sin()]
}
/// The 2 x 2 matrix of `num_to_mat`, column-major.
fn sine_matrix<T: Real>(x: T) -> Vec<T> {
    [1.0, 2.0, 3.0, 6.0].iter().map(|k| (k * x).sin()).collect()
}
fn powers<T: Real>(x: &[T]) -> T {
    let sum = |n| x.iter().map(|v| v.powi(n)).sum::<T>();
    sum(4) * sum(6)
}
fn exponential<T: Real>(x: &[T]) -> T {
    (x[0] - x[1]).exp() * x[1]
}
fn sum_of_squares<T: Real>(x: &[T]) -> T {
    x.iter().map(|v| v * v).sum()
}
fn sines_and_cosines<T: Real>(x: &[T]) -> Vec<T> {
    x.iter().map(|v| v.sin()).chain(x.iter().map(|v| v.cos())).collect()
}

/// Value, gradient and Hessian of a case.
struct Answer {
    value: f64,
    grad: Vec<f64>,
    hess: Vec<f64>,
}

impl Answer {
    /// The closed form of `powers`, times a factor.
    fn of_powers(x: &[f64], factor: f64) -> Answer {
        let sum = |n| x.iter().map(|v: &f64| v.powi(n)).sum::<f64>();
        let (s4, s6) = (sum(4), sum(6));
        let entry = |k: usize, l: usize| {
            let (a, b) = (x[k], x[l]);
            let cross = 24.0 * (a.powi(3) * b.powi(5) + a.powi(5) * b.powi(3));
            if k == l { cross + 12.0 * a * a * s6 + 30.0 * a.powi(4) * s4 } else { cross }
        };
        let n = x.len();
        Answer {
            value: factor * s4 * s6,
            grad: x.iter().map(|a| factor * (4.0 * a.powi(3) * s6 + 6.0 * a.powi(5) * s4)).collect(),
            hess: (0..n * n).map(|i| factor * entry(i / n, i % n)).collect(),
        }
    }

    fn product(&self, tangent: &[f64]) -> Vec<f64> {
        self.hess.chunks(tangent.len()).map(|row| row.iter().zip(tangent).map(|(a, b)| a * b).sum()).collect()
    }
}

/// Every variant of `hessian` and `hvp` by every pair: fresh, prepared at another point, twice, into buffers full of NaN.
/// `$at` and `$elsewhere` are expressions of points, contexts included.
macro_rules! check_second_order {
    ($name:expr, $f:expr, $at:expr, $elsewhere:expr, $answer:expr) => {{
        let (answer, name): (&Answer, &str) = (&$answer, $name);
        let n = answer.grad.len();
        each_pair!(|backend, tolerance| {
            let name = &format!("{name} by {backend:?}");
            let near = |found: &[f64], expected: &[f64]| assert_near(name, found, expected, tolerance);

            // One closure for all calls of an operator: each type of a closure compiles it again.
            let f = $f;
            near(hessian(&f, &backend, $at).unwrap().as_slice(), &answer.hess);
            let mut prepared = prepare_hessian(&f, &backend, $elsewhere).unwrap();
            let mut hess = Matrix::filled(n, n, f64::NAN);
            for _ in 0..2 {
                hess.as_mut_slice().fill(f64::NAN);
                prepared.hessian_into(&mut hess, $at).unwrap();
                near(hess.as_slice(), &answer.hess);
            }
            let (y, grad, hess) = prepared.value_gradient_and_hessian($at).unwrap();
            near(&[y], &[answer.value]);
            near(&grad, &answer.grad);
            near(hess.as_slice(), &answer.hess);
            let (mut grad, mut hess) = (vec![f64::NAN; n], Matrix::filled(n, n, f64::NAN));
            let y = value_gradient_and_hessian_into(&f, &mut grad, &mut hess, &backend, $at).unwrap();
            near(&[y], &[answer.value]);
            near(&grad, &answer.grad);
            near(hess.as_slice(), &answer.hess);

            let tangent: Vec<f64> = (0..n).map(|i| -1.0 - i as f64).collect();
            let opposite: Vec<f64> = tangent.iter().map(|t| -t).collect();
            let expected = [answer.product(&tangent), answer.product(&opposite)];
            let [product] = hvp(&$f, &backend, $at, [&tangent]).unwrap();
            near(&product, &expected[0]);
            let f = $f;
            let products = hvp(&f, &backend, $at, [&tangent, &opposite]).unwrap();
            near(&products.concat(), &expected.concat());
            let mut prepared = prepare_hvp(&f, &backend, $elsewhere, [&opposite, &tangent]).unwrap();
            let products = prepared.hvp($at, [&tangent, &opposite]).unwrap();
            near(&products.concat(), &expected.concat());
            let (mut p, mut q) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            prepared.hvp_into([&mut p, &mut q], $at, [&tangent, &opposite]).unwrap();
            near(&[&p[..], &q].concat(), &expected.concat());
            let (grad, products) = prepared.gradient_and_hvp($at, [&tangent, &opposite]).unwrap();
            near(&grad, &answer.grad);
            near(&products.concat(), &expected.concat());
            let mut grad = vec![f64::NAN; n];
            prepared.gradient_and_hvp_into(&mut grad, [&mut p, &mut q], $at, [&opposite, &tangent]).unwrap();
            near(&grad, &answer.grad);
            near(&[&q[..], &p].concat(), &expected.concat());
            let (y, grad, products) = prepared.value_gradient_and_hvp($at, [&tangent, &opposite]).unwrap();
            near(&[y], &[answer.value]);
            near(&grad, &answer.grad);
            near(&products.concat(), &expected.concat());
            let f = $f;
            let mut held = prepare_hvp_same_point(&f, &backend, $at, [&opposite]).unwrap();
            near(&[held.value()], &[answer.value]);
            near(&held.gradient(), &answer.grad);
            for _ in 0..2 {
                near(&held.hvp([&tangent]).unwrap()[0], &expected[0]);
            }
        });
    }};
}

/// Every variant of `second_derivative`; `$flat` makes a list of numbers of a result.
macro_rules! check_second_derivative {
    ($name:expr, $f:expr, $at:expr, $elsewhere:expr, $expected:expr, $flat:expr) => {{
        let [value, der, der2]: &[Vec<f64>; 3] = &$expected;
        each_pair!(|backend, tolerance| {
            let name = &format!("{} by {backend:?}", $name);
            let near = |found: &[f64], expected: &[f64]| assert_near(name, found, expected, tolerance);
            let f = $f;
            near(&$flat(second_derivative(&f, &backend, $at).unwrap()), der2);
            let mut prepared = prepare_second_derivative(&f, &backend, $elsewhere).unwrap();
            for _ in 0..2 {
                near(&$flat(prepared.second_derivative($at).unwrap()), der2);
                let (y, first, second) = prepared.value_derivative_and_second_derivative($at).unwrap();
                near(&$flat(y), value);
                near(&$flat(first), der);
                near(&$flat(second), der2);
            }
            let (mut first, mut second) = (vec![f64::NAN; der.len()], vec![f64::NAN; der.len()]);
            prepared.second_derivative_into(&mut second, $at).unwrap();
            near(&second, der2);
            second.fill(f64::NAN);
            let _ = prepared.value_derivative_and_second_derivative_into(&mut first, &mut second, $at).unwrap();
            near(&first, der);
            near(&second, der2);
        });
    }};
}

#[test]
fn second_derivative_cases_hold() {
    run("second_derivative", &[], |name, input, expected| {
        let x = number(&input["x"]);
        let parts = |value: Vec<f64>| [value, column_or_flat(&expected["der"]), column_or_flat(&expected["der2"])];
        match name {
            "num_to_num.second_derivative" => {
                let expected = parts(flat(&expected["value"]));
                check_second_derivative!(name, |x| sine(x), x, 2.0, expected, |y| [y]);
            }
            "num_to_vec.second_derivative" => {
                let expected = parts(flat(&expected["value"]));
                check_second_derivative!(name, |x| sines(x), x, 2.0, expected, |y: [f64; 2]| y);
                let outputs = 2;
                check_second_derivative!(
                    name,
                    in_place(|y: &mut [_], x| sines_in_place(y, x), outputs),
                    x,
                    2.0,
                    expected,
                    |y: Vec<f64>| y
                );
            }
            "num_to_mat.second_derivative" => {
                let expected = parts([1.0, 2.0, 3.0, 6.0].iter().map(|k| (k * x).sin()).collect());
                check_second_derivative!(name, |x| sine_matrix(x), x, 2.0, expected, |y: Vec<f64>| y);
            }
            _ => return false,
        }
        true
    });
}

fn sines_in_place<T: Real>(y: &mut [T], x: T) {
    y.copy_from_slice(&sines(x));
}

/// A matrix column by column, else the numbers as they are.
fn column_or_flat(value: &Value) -> Vec<f64> {
    if value[0].is_array() { column_major(value) } else { flat(value) }
}

#[test]
fn hvp_cases_hold() {
    run("hvp", &[], |name, input, expected| {
        let x = &flat(&input["x"]);
        let expected = flat(&expected["hvp"]);
        match name {
            "arr_to_num.hvp" => {
                let (tangent, answer) = (flat(&input["t"]), Answer::of_powers(x, 1.0));
                assert_near(name, &answer.product(&tangent), &expected, 1e-15);
                assert_near(name, &answer.grad, &flat(&case(name).1["grad"]), 1e-15);
                check_second_order!(name, |x: &[_]| powers(x), x, &[0.7; 6], answer);
            }
            "arr_to_num.hvp.batch2" => each_pair!(|backend, tolerance| {
                let (t, u) = (flat(&input["t"][0]), flat(&input["t"][1]));
                let products = hvp(&|x: &[_]| powers(x), &backend, x, [&t, &u]).unwrap();
                assert_near(&format!("{name} by {backend:?}"), &products.concat(), &expected, tolerance);
            }),
            _ => return false,
        }
        true
    });
}

#[test]
fn hessian_cases_hold() {
    run("hessian", &[], |name, input, expected| {
        let (x, hess) = (flat(&input["x"]), flat(expected));
        match name {
            "issue1014.hessian" => {
                let e = (x[0] - x[1]).exp();
                let answer = Answer { value: e * x[1], grad: vec![e * x[1], e * (1.0 - x[1])], hess };
                check_second_order!(name, |x: &[_]| exponential(x), &x, &[0.3, -0.4], answer);
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn third_derivative_cases_hold() {
    run("derivative_order3", &[], |name, input, expected| {
        match name {
            "finitedifferences.poly" => each_exact_pair!(|backend| {
                // A derivative of a second derivative: three levels of numbers.
                let outer = AutoForwardDiff::with_chunk::<1>();
                let second = |x: &_| second_derivative(&|x| polynomial(x), &backend, x).unwrap();
                let found = derivative(&|x| second(&x), &outer, number(&input["x"])).unwrap();
                assert_near(name, &[found], &[number(expected)], 1e-12);
            }),
            _ => return false,
        }
        true
    });
}

fn polynomial<T: Real>(x: T) -> T {
    4.0 * x.powi(3) + 3.0 * x * x + 2.0 * x + 1.0
}

fn lagrangian<T: Real>(q: &[T], v: &[T]) -> T {
    0.5 * sum_of_squares(v) - 9.8 * q[1]
}

#[test]
fn hessian_nests_in_a_gradient_without_confusing_perturbations() {
    // The Legendre transform with the inner Hessian by the operator itself.
    let (input, expected) = case("perturbation_confusion.4");
    let (q, p) = (flat(&input["q"]), flat(&input["p"]));
    let small = AutoForwardDiff::with_chunk::<2>();
    let reverse = AutoReverseDiff::default();
    macro_rules! check {
        ($outer:expr, $first:expr, $second:expr) => {{
            let (outer, first, second) = ($outer, $first, $second);
            let transform = |q: &[_]| {
                let at = lift(&outer, &[0.0; 2]);
                let inner = |v: &[_]| {
                    let q = lift(&SecondOrder(first, second), q);
                    lagrangian(&q, v)
                };
                let (_, b, m) = value_gradient_and_hessian(&inner, &SecondOrder(first, second), &at).unwrap();
                let w = [p[0] - b[0], p[1] - b[1]];
                let det = m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(1, 0)];
                let v = [(m[(1, 1)] * w[0] - m[(0, 1)] * w[1]) / det, (m[(0, 0)] * w[1] - m[(1, 0)] * w[0]) / det];
                w[0] * v[0] + w[1] * v[1] - lagrangian(q, &v)
            };
            let found = gradient(&transform, &outer, &q).unwrap();
            assert_near("Legendre transform", &found, &flat(&expected), 1e-12);
        }};
    }
    check!(small, small, small);
    check!(small, small, reverse);
    check!(small, reverse, reverse);
    check!(reverse, small, small);
    check!(reverse, small, reverse);
    check!(reverse, reverse, reverse);
    // Reverse over forward has the lanes of the inner backend; two levels down the same code.
    check!(small, reverse, small);
    check!(reverse, reverse, small);
}

#[test]
fn cache_of_the_documentation_holds() {
    let (input, expected) = case("docs.cache");
    let (x, work) = (flat(&input["x"]), vec![0.0; number(&input["cache_len"]) as usize]);
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], copy: &mut Vec<_>| copied_sum(x, copy);
        let found = gradient(&f, &backend, (&x, Cache(&work))).unwrap();
        assert_near("docs.cache", &found, &flat(&expected), tolerance);
    });
    each_pair!(|backend, _tolerance| {
        let f = |x: &[_], copy: &mut Vec<_>| copied_sum(x, copy);
        let (y, grad, hess) = value_gradient_and_hessian(&f, &backend, (&x, Cache(&work))).unwrap();
        assert_near("docs.cache", &[y], &[7.0], 1e-12);
        assert_near("docs.cache", &grad, &flat(&expected), 1e-7);
        assert_near("docs.cache", hess.as_slice(), &[0.0; 4], 1e-6);
    });
}

fn copied_sum<T: Real>(x: &[T], copy: &mut [T]) -> T {
    copy.copy_from_slice(x);
    copy.iter().sum()
}

#[test]
fn differentiate_with_of_the_documentation_holds() {
    let (input, expected) = case("docs.differentiate_with");
    let x = flat(&input["x"]);
    let substitute = DifferentiateWith::new(|x: &[f64]| sum_of_squares(x), AutoFiniteDiff::central());
    each_engine!(|backend, tolerance| {
        let algorithm = |x: &[_]| 7.0 * substitute.call(x);
        let found = gradient(&algorithm, &backend, &x).unwrap();
        assert_near("docs.differentiate_with", &found, &flat(&expected), tolerance.max(1e-6));
    });
}

// The counterpart's variants of its cases.

#[test]
fn constantified_cases_hold() {
    // a · f, prepared with a = -3, run with a = 3.
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    check_second_order!(
        "powers times a",
        |x: &[_], a: &f64| *a * powers(x),
        (&x, Constant(&3.0)),
        (&[0.0; 6], Constant(&-3.0)),
        Answer::of_powers(&x, 3.0)
    );
    let (x, expected) = (0.42_f64, |a: f64, k: f64| a * k);
    let (s, c) = x.sin_cos();
    check_second_derivative!(
        "sine times a",
        |x, a: &f64| *a * sine(x),
        (x, Constant(&3.0)),
        (0.0, Constant(&-3.0)),
        [vec![expected(3.0, s)], vec![expected(3.0, c)], vec![expected(-3.0, s)]],
        |y| [y]
    );
    each_engine!(|backend, tolerance| {
        let f = |x: &[_], a: &f64| scaled(sines_and_cosines(x), *a);
        let x = [1.0, 2.0, 3.0];
        let mut prepared = prepare_jacobian(&f, &backend, (&[0.0; 3], Constant(&-3.0))).unwrap();
        let jac = prepared.jacobian((&x, Constant(&3.0))).unwrap();
        for i in 0..3 {
            assert_near(
                "vec_to_vec",
                &[jac[(i, i)], jac[(3 + i, i)]],
                &[3.0 * x[i].cos(), -3.0 * x[i].sin()],
                tolerance,
            );
        }
    });
}

fn scaled<T: Real>(mut y: Vec<T>, a: f64) -> Vec<T> {
    for y in &mut y {
        *y *= a;
    }
    y
}

#[test]
fn cachified_cases_hold() {
    // The result goes through a cache: an array, and one of two entries of a tuple.
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    check_second_order!(
        "powers through an array",
        |x: &[_], cache: &mut [_; 1]| through(powers(x), &mut cache[0]),
        (&x, Cache(&[0.0])),
        (&[0.0; 6], Cache(&[f64::NAN])),
        Answer::of_powers(&x, 1.0)
    );
    let nested = ((vec![0.0],), [0.0; 2]);
    check_second_order!(
        "powers through a nested tuple",
        |x: &[_], (useful, _useless): &mut ((Vec<_>,), [_; 2])| through(powers(x), &mut useful.0[0]),
        (&x, Cache(&nested)),
        (&[0.0; 6], Cache(&((vec![f64::NAN],), [f64::NAN; 2]))),
        Answer::of_powers(&x, 1.0)
    );
    let x = 0.42_f64;
    let (s, c) = x.sin_cos();
    check_second_derivative!(
        "sine through a number",
        |x, cache: &mut _| through(sine(x), cache),
        (x, Cache(&0.0)),
        (2.0, Cache(&f64::NAN)),
        [vec![s], vec![c], vec![-s]],
        |y| [y]
    );
}

fn through<T: Copy>(value: T, cache: &mut T) -> T {
    *cache = value;
    *cache
}

#[test]
fn constant_or_cachified_cases_hold() {
    // (cache, constant = (a, b)) with factor a + b₀: 6 + 12 at preparation, 3 + 4 in the call.
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (cache, a, b, other_a, other_b) = ([0.0], 3.0, vec![4.0], 6.0, vec![12.0]);
    check_second_order!(
        "powers with a bundle",
        |x: &[_], (cache, (a, b)): (&mut [_; 1], (&f64, &Vec<f64>))| through((a + b[0]) * powers(x), &mut cache[0]),
        (&x, ConstantOrCache((Cache(&cache), ConstantOrCache((Constant(&a), Constant(&b)))))),
        (&[0.0; 6], ConstantOrCache((Cache(&cache), ConstantOrCache((Constant(&other_a), Constant(&other_b)))))),
        Answer::of_powers(&x, 7.0)
    );
}

#[test]
fn closurified_cases_hold() {
    // A closure that owns a, b and buffers of its own: a struct, so that one object serves every number type.
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (a, b) = (vec![3.0], vec![4.0]);
    check_second_order!(
        "powers in a closure",
        |x: &[_]| powers(x) * (a[0] + b[0]),
        &x,
        &[0.0; 6],
        Answer::of_powers(&x, 7.0)
    );
}

#[test]
fn smaller_preparations_are_repaired_by_preparing_again() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let answer = Answer::of_powers(&x, 1.0);
    each_pair!(|backend, tolerance| {
        let f = |x: &[_]| powers(x);
        let mut prepared = prepare_hessian(&f, &backend, &[1.0, 2.0]).unwrap();
        prepared.prepare_again(&[0.5; 6]).unwrap();
        assert_near("resized", prepared.hessian(&x).unwrap().as_slice(), &answer.hess, tolerance);
        let f = |x: &[_]| powers(x);
        let mut prepared = prepare_hvp(&f, &backend, &[1.0, 2.0], [&[0.0; 2]]).unwrap();
        prepared.prepare_again(&[0.5; 6], [&[1.0; 6]]).unwrap();
        assert_near("resized", &prepared.hvp(&x, [&x]).unwrap()[0], &answer.product(&x), tolerance);
    });
}
