//! Extrapolated differences against derivatives in closed form: accuracy, error estimates, domains, second and higher derivatives.

use differentiation_interface::error::ErrorKind;
use differentiation_interface::prelude::*;
use std::cell::Cell;

/// A smooth function, its derivative, and points.
type Known = (&'static str, fn(f64) -> f64, fn(f64) -> f64, &'static [f64]);

const SMOOTH: &[Known] = &[
    ("exp", f64::exp, f64::exp, &[0.0, 0.5, -3.0, 20.0, -700.0]),
    ("sin", f64::sin, f64::cos, &[0.0, 0.3, 2.0, 1e4, -1e6]),
    ("sin 40x", |x| (40.0 * x).sin(), |x| 40.0 * (40.0 * x).cos(), &[0.0, 0.3, 2.0]),
    ("cubic", |x| x * x * x - 2.0 * x, |x| 3.0 * x * x - 2.0, &[0.0, 1.0, 5.0, -1e6, 1e100]),
    ("reciprocal", f64::recip, |x| -1.0 / (x * x), &[1.0, 0.1, -7.0, 1e5]),
    ("ln", f64::ln, f64::recip, &[1.0, 0.2, 1e6]),
    ("sqrt", f64::sqrt, |x| 0.5 / x.sqrt(), &[1.0, 2.0, 1e-3, 1e40]),
    ("tanh", f64::tanh, |x| 1.0 - x.tanh() * x.tanh(), &[0.0, 0.4, -2.0]),
    ("runge", |x| 1.0 / (1.0 + 25.0 * x * x), |x| -50.0 * x / (1.0 + 25.0 * x * x).powi(2), &[0.0, 0.2, 1.0]),
    ("gauss", |x| (-x * x).exp(), |x| -2.0 * x * (-x * x).exp(), &[0.0, 0.7, 3.0]),
];

/// The error relative to the derivative or, where that is smaller, to the value over max(|x|, 1): what rounding of the value leaves.
fn relative(found: f64, expected: f64, value: f64, x: f64) -> f64 {
    (found - expected).abs() / expected.abs().max(value.abs() / x.abs().max(1.0)).max(f64::MIN_POSITIVE)
}

#[test]
fn five_levels_are_within_1e_13() {
    let backend = AutoFiniteDifferences::central().levels(5);
    let mut worst: f64 = 0.0;
    for (name, f, derivative_of, points) in SMOOTH {
        for &x in *points {
            let found = derivative(f, &backend, x).unwrap();
            let error = relative(found, derivative_of(x), f(x), x);
            println!("{name} at {x}: {error:.1e}");
            worst = worst.max(error);
        }
    }
    println!("worst: {worst:.1e}");
    assert!(worst <= 1e-13, "{worst:e}");
}

#[test]
fn one_sided_differences_have_twelve_digits() {
    for backend in [AutoFiniteDifferences::forward(), AutoFiniteDifferences::backward()] {
        let mut worst: f64 = 0.0;
        for (name, f, derivative_of, points) in SMOOTH {
            for &x in *points {
                let found = derivative(f, &backend, x).unwrap();
                let error = relative(found, derivative_of(x), f(x), x);
                println!("{name} at {x}: {error:.1e}");
                worst = worst.max(error);
            }
        }
        println!("worst: {worst:.1e}");
        assert!(worst <= 2e-12, "{worst:e}");
    }
}

/// A generator of uniform numbers (splitmix64 of S. Vigna).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }
}

/// A random smooth function, its derivative in closed form and a point.
fn random_case(random: &mut Random) -> (f64, Box<dyn Fn(f64) -> f64>, Box<dyn Fn(f64) -> f64>) {
    let [a, b, c, d, e] = std::array::from_fn(|_| random.between(-2.0, 2.0));
    let x = random.between(-3.0, 3.0);
    match (random.next() * 9.0) as u32 {
        0 => (
            x,
            Box::new(move |x| a * (b * x + c).sin() + d * (e * x).cos()),
            Box::new(move |x| a * b * (b * x + c).cos() - d * e * (e * x).sin()),
        ),
        1 => (
            x,
            Box::new(move |x| (a * x).exp() * (b * x).sin()),
            Box::new(move |x| (a * x).exp() * (a * (b * x).sin() + b * (b * x).cos())),
        ),
        2 => (
            x,
            Box::new(move |x| 1.0 / (1.0 + (a * x + b).powi(2))),
            Box::new(move |x| -2.0 * a * (a * x + b) / (1.0 + (a * x + b).powi(2)).powi(2)),
        ),
        3 => (x, Box::new(move |x| (a * x + b).tanh()), Box::new(move |x| a / (a * x + b).cosh().powi(2))),
        4 => (x.abs() + 0.01, Box::new(f64::ln), Box::new(f64::recip)),
        5 => (x.abs() + 0.01, Box::new(move |x| x.powf(a)), Box::new(move |x| a * x.powf(a - 1.0))),
        6 => (
            1000.0 * x,
            Box::new(move |x| ((a * x + b) * x + c) * x + d),
            Box::new(move |x| (3.0 * a * x + 2.0 * b) * x + c),
        ),
        7 => (x, Box::new(move |x| (x + a).atan() * b), Box::new(move |x| b / (1.0 + (x + a).powi(2)))),
        _ => (
            x,
            Box::new(move |x| (-x * x * a.abs()).exp() * (b * x).cos()),
            Box::new(move |x| (-x * x * a.abs()).exp() * (-2.0 * x * a.abs() * (b * x).cos() - b * (b * x).sin())),
        ),
    }
}

#[test]
fn estimates_bound_the_error_in_99_percent_of_10000_random_cases() {
    for (name, backend, most) in
        [("central", AutoFiniteDifferences::central(), 100.0), ("forward", AutoFiniteDifferences::forward(), 1e3)]
    {
        let mut random = Random(17);
        let (mut bounded, mut ratios, mut errors) = (0, Vec::new(), Vec::new());
        for _ in 0..10_000 {
            let (x, f, derivative_of) = random_case(&mut random);
            let found = backend.derivative_of(&f, 1, x).unwrap();
            let error = (found.value - derivative_of(x)).abs();
            bounded += usize::from(error <= found.error);
            ratios.push(found.error / error.max(1e-300));
            errors.push(relative(found.value, derivative_of(x), f(x), x));
        }
        ratios.sort_by(f64::total_cmp);
        errors.sort_by(f64::total_cmp);
        println!(
            "{name}: {bounded} of 10000 bounded; estimate over error: median {:.1}; error: median {:.1e}, 99 % {:.1e}, largest {:.1e}",
            ratios[5000], errors[5000], errors[9900], errors[9999]
        );
        assert!(bounded >= 9900, "{name}: {bounded}");
        // An estimate that is always large would bound the error too.
        assert!(ratios[5000] < most, "{name}: {}", ratios[5000]);
    }
}

#[test]
fn higher_derivatives_have_formulas_of_their_own() {
    let calls = Cell::new(0);
    let f = |x: f64| {
        calls.set(calls.get() + 1);
        (2.0 * x).sin()
    };
    let backend = AutoFiniteDifferences::central();
    let x = 0.3_f64;
    let expected = |n: u32| {
        let wave = [(2.0 * x).sin(), (2.0 * x).cos(), -(2.0 * x).sin(), -(2.0 * x).cos()];
        2.0_f64.powi(n as i32) * wave[n as usize % 4]
    };
    macro_rules! orders {
        ($($n:literal within $tolerance:literal;)*) => {$(
            calls.set(0);
            let found = nth_derivative(&f, &backend, x, Order::<$n>).unwrap();
            let estimate = backend.derivative_of(f, $n, x).unwrap();
            println!(
                "order {}: error {:.1e}, estimate {:.1e}, {} calls",
                $n, (found - expected($n)).abs() / 2f64.powi($n), estimate.error / 2f64.powi($n), calls.get() / 2
            );
            assert!((found - expected($n)).abs() <= $tolerance * 2f64.powi($n), "order {}: {found}", $n);
            assert_eq!(found, estimate.value);
            assert!((found - expected($n)).abs() <= estimate.error, "order {}", $n);
            assert!(calls.get() <= 2 * 150, "order {}: {} calls", $n, calls.get() / 2);
        )*};
    }
    orders! {
        0 within 1e-16;
        1 within 1e-13;
        2 within 1e-12;
        3 within 1e-11;
        4 within 1e-10;
        5 within 1e-9;
        6 within 1e-8;
        8 within 1e-6;
    }
    let error = backend.derivative_of(f, 13, x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DerivativeOrder { order: 13, most: 12 });
}

/// Functions of several numbers with their Hessians by an exact engine at points, as the macro expands them for each backend.
mod several {
    use differentiation_interface::prelude::*;

    pub(super) fn rosenbrock<T: Real>(x: &[T]) -> T {
        let steps = x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2));
        steps.fold(T::constant(num_traits::Zero::zero()), |sum, term| sum + term)
    }
    pub(super) fn waves<T: Real>(x: &[T]) -> T {
        (x[0] * x[1]).sin() + (x[2] - x[0]).cos() * x[1].exp()
    }
    pub(super) fn softplus<T: Real>(x: &[T]) -> T {
        (1.0 + (x[0] + 2.0 * x[1]).exp()).ln() * (x[2] * x[2] + 1.0).sqrt()
    }
    pub(super) fn quotient<T: Real>(x: &[T]) -> T {
        x[0] / (x[1] * x[1] + x[2] * x[2]) + x[1].tanh() * x[2]
    }
}

/// Runs the body for each function, with its name and a point.
macro_rules! each_function {
    (|$name:ident, $f:ident, $x:ident| $body:block) => {
        each_function! { @each |$name, $f, $x| $body rosenbrock waves softplus quotient }
    };
    (@each |$name:ident, $f:ident, $x:ident| $body:block $($function:ident)*) => {$(
        for $x in [[0.5_f64, -0.25, 1.5], [-1.2, 1.0, 0.7], [2.0, 3.0, -1.0]] {
            let $name = stringify!($function);
            macro_rules! $f { () => { |x: &[_]| several::$function(x) } }
            $body
        }
    )*};
}

/// The largest error of a matrix relative to its largest entry.
fn matrix_error(
    found: &differentiation_interface::matrix::Matrix<f64>,
    expected: &differentiation_interface::matrix::Matrix<f64>,
) -> f64 {
    let (mut error, mut size) = (0.0_f64, 0.0_f64);
    for i in 0..3 {
        for j in 0..3 {
            error = error.max((found[(i, j)] - expected[(i, j)]).abs());
            size = size.max(expected[(i, j)].abs());
        }
    }
    error / size
}

#[test]
fn hessians_are_accurate() {
    let mut worst = [0.0_f64; 6];
    each_function!(|name, f, x| {
        let expected = hessian(&f!(), &AutoForwardDiff::default(), &x).unwrap();
        let found = [
            hessian(&f!(), &AutoFiniteDiff::default(), &x).unwrap(),
            hessian(&f!(), &AutoFiniteDiff::backward(), &x).unwrap(),
            hessian(&f!(), &AutoFiniteDiff::central(), &x).unwrap(),
            hessian(&f!(), &AutoFiniteDifferences::central(), &x).unwrap(),
            hessian(&f!(), &AutoFiniteDifferences::forward(), &x).unwrap(),
            hessian(&f!(), &SecondOrder(AutoFiniteDifferences::central(), AutoReverseDiff::default()), &x).unwrap(),
        ];
        for (worst, found) in worst.iter_mut().zip(&found) {
            let error = matrix_error(found, &expected);
            println!("{name} at {x:?}: {error:.1e}");
            *worst = worst.max(error);
        }
    });
    println!(
        "Hessians: AutoFiniteDiff default {:.1e}, backward {:.1e}, central {:.1e}; AutoFiniteDifferences central {:.1e}, forward {:.1e}, \
         over reverse {:.1e}",
        worst[0], worst[1], worst[2], worst[3], worst[4], worst[5]
    );
    assert!(worst[..3].iter().all(|&error| error < 1e-5), "{worst:?}");
    assert!(worst[3] < 5e-11 && worst[4] < 1e-8 && worst[5] < 1e-12, "{worst:?}");
}

/// A function of two numbers that fails the test outside of its domain.
fn guarded(lower: f64, upper: f64) -> impl Fn(&[f64]) -> f64 {
    move |x| {
        assert!(x.iter().all(|x| (lower..=upper).contains(x)), "evaluated at {x:?}");
        x[0].exp() * (2.0 * x[1]).sin() + x[1]
    }
}

fn guarded_gradient(x: [f64; 2]) -> [f64; 2] {
    [x[0].exp() * (2.0 * x[1]).sin(), 2.0 * x[0].exp() * (2.0 * x[1]).cos() + 1.0]
}

#[test]
fn no_evaluation_leaves_the_domain() {
    let (lower, upper) = (0.1, 0.7);
    let f = guarded(lower, upper);
    let points = [lower, lower + 1e-14, lower + 1e-9, 0.15, 0.4, 0.6, upper - 1e-9, upper - 1e-15, upper];
    for backend in
        [AutoFiniteDifferences::central(), AutoFiniteDifferences::forward(), AutoFiniteDifferences::backward()]
    {
        let backend = backend.within(lower, upper);
        for a in points {
            for b in points {
                let x = [a, b];
                let expected = guarded_gradient(x);
                let found = gradient(&f, &backend, &x).unwrap();
                // A line through a corner has no room: this one is divided into coordinates there.
                let [along] = pushforward(&f, &backend, &x, [[1.0, -1.5]]).unwrap();
                let errors = [found[0] - expected[0], found[1] - expected[1], along - expected[0] + 1.5 * expected[1]];
                assert!(errors.iter().all(|error| error.abs() < 1e-10), "{backend:?} at {x:?}: {errors:?}");
                let hess = hessian(&f, &backend, &x).unwrap();
                let mixed = 2.0 * a.exp() * (2.0 * b).cos();
                let expected = [[a.exp() * (2.0 * b).sin(), mixed], [mixed, -4.0 * a.exp() * (2.0 * b).sin()]];
                let [product] = hvp(&f, &backend, &x, [[1.0, 1.0]]).unwrap();
                for i in 0..2 {
                    for j in 0..2 {
                        assert!((hess[(i, j)] - expected[i][j]).abs() < 1e-6, "{backend:?} at {x:?}: {hess:?}");
                    }
                    assert!(
                        (product[i] - expected[i][0] - expected[i][1]).abs() < 1e-6,
                        "{backend:?} at {x:?}: {product:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn bounds_of_each_input_are_honoured() {
    // Undefined, not only inaccurate, beyond the bounds.
    let f = |x: &[f64]| x[0].sqrt() + (3.0 - x[1]).sqrt() * x[2];
    let backend =
        AutoFiniteDifferences::central().within_each(&[(0.0, f64::INFINITY), (f64::NEG_INFINITY, 3.0), (-1.0, 1.0)]);
    let found = gradient(&f, &backend, &[4.0, -1.0, 1.0]).unwrap();
    for (found, expected) in found.iter().zip([0.25, -0.25, 2.0]) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let error = gradient(&f, &backend, &[4.0, -1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gradient with finite_differences: the domain has bounds for 3 inputs, the point has 2; pass bounds for 2 inputs"
    );
    let error = gradient(&f, &backend, &[4.0, -1.0, 1.5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gradient with finite_differences: coordinate 2 of the point is outside of the domain, or is not a number; pass a point within the \
         bounds, or widen them"
    );
    let narrow = AutoFiniteDifferences::central().within_each(&[(0.0, 9.0), (1.0, 1.0), (0.0, 2.0)]);
    let error = hessian(&f, &narrow, &[4.0, 1.0, 1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hessian with finite_differences: the domain leaves no room for steps at coordinate 1; widen the bounds, or use an exact backend"
    );
    assert_eq!(gradient(&f, &narrow, &[4.0, 1.0, 1.0]).unwrap_err().kind(), ErrorKind::NarrowDomain { coordinate: 1 });
    let nowhere = AutoFiniteDifferences::central().within(1.0, 0.0);
    assert_eq!(derivative(&f64::sin, &nowhere, 0.5).unwrap_err().kind(), ErrorKind::OutsideDomain { coordinate: 0 });
    let unbounded = AutoFiniteDifferences::central().first_step(0.0);
    assert_eq!(derivative(&f64::sin, &unbounded, 0.5).unwrap_err().kind(), ErrorKind::UselessStep { coordinate: 0 });
}

#[test]
fn single_precision_bounds_are_rounded_inwards() {
    // 0.1 as f32 is above 0.1, and 0.7 as f32 below 0.7; 0.3 and 0.6 the other way round.
    for (lower, upper) in [(0.1, 0.7), (0.3, 0.6)] {
        let f = move |x: f32| {
            assert!((lower..=upper).contains(&f64::from(x)), "evaluated at {x}");
            x.exp()
        };
        let backend = AutoFiniteDifferences::central().within(lower, upper);
        for x in [0.31_f32, 0.4, 0.5999] {
            let found = derivative(&f, &backend, &x).unwrap();
            assert!((found - x.exp()).abs() < 1e-4, "{x}: {found}");
        }
    }
}

#[test]
fn prepared_states_report_estimated_errors() {
    // The second output has a small scale, and needs other steps than the first.
    let f = |x: &[f64]| vec![x[0] * x[1].exp(), (200.0 * x[0]).sin(), 3.0];
    let x = [0.7_f64, 0.3];
    let mut prepared = prepare_jacobian(&f, &AutoFiniteDifferences::central(), &x).unwrap();
    let jac = prepared.jacobian(&x).unwrap();
    let expected = [[x[1].exp(), x[0] * x[1].exp()], [200.0 * (200.0 * x[0]).cos(), 0.0], [0.0, 0.0]];
    let estimates = prepared.state().route_state().error_estimates();
    assert_eq!(estimates.len(), 6);
    for i in 0..3 {
        for j in 0..2 {
            let (error, estimate) = ((jac[(i, j)] - expected[i][j]).abs(), estimates[2 * i + j]);
            assert!(
                error <= estimate && estimate <= 1e-12 * expected[i][0].abs().max(1.0),
                "({i}, {j}): {error:e} {estimate:e}"
            );
        }
    }
    let quadratic = |x: &[f64]| x[0] * x[0] * x[1];
    let mut prepared = prepare_hessian(&quadratic, &AutoFiniteDifferences::central(), &x).unwrap();
    let hess = prepared.hessian(&x).unwrap();
    let estimates = prepared.state().route_state().0.error_estimates();
    for (at, expected) in [2.0 * x[1], 2.0 * x[0], 2.0 * x[0], 0.0].into_iter().enumerate() {
        let error = (hess[(at / 2, at % 2)] - expected).abs();
        assert!(error <= estimates[at] && estimates[at] < 1e-10, "{at}: {error:e} {:e}", estimates[at]);
    }
    let mut prepared = prepare_derivative(&f64::sin, &AutoFiniteDifferences::central(), 1.0).unwrap();
    prepared.derivative(1.0).unwrap();
    assert!(prepared.state().route_state().largest_error_estimate() < 1e-12);
    let mut prepared = prepare_pushforward(&quadratic, &AutoFiniteDifferences::central(), &x, [[1.0, 2.0]]).unwrap();
    prepared.pushforward(&x, [[1.0, 2.0]]).unwrap();
    assert!(prepared.state().route_state().largest_error_estimate() < 1e-11);
    // A number that is less exact than it looks.
    let rounded = |x: f64| (x.sin() * 1e6).round() / 1e6;
    let found = AutoFiniteDifferences::central().noise(1e-6).derivative_of(rounded, 1, 1.0).unwrap();
    assert!((found.value - 1f64.cos()).abs() < found.error && found.error < 1e-3, "{found:?}");
    assert!((found.value - 1f64.cos()).abs() < 1e-4, "{found:?}");
}

#[test]
fn points_and_values_that_are_not_finite_give_what_the_differences_give() {
    let backend = AutoFiniteDifferences::central();
    let of = |f: fn(f64) -> f64, x: f64| backend.derivative_of(f, 1, x).unwrap();
    assert!(of(f64::sin, f64::NAN).value.is_nan());
    assert!(of(f64::sin, f64::INFINITY).value.is_nan());
    assert_eq!(of(f64::sin, f64::NAN).error, f64::INFINITY);
    assert_eq!(of(|_| 2.0, 5.0).value, 0.0);
    assert!(of(|_| f64::NAN, 5.0).value.is_nan());
    assert!(of(f64::ln, -1.0).value.is_nan());
    // One side has no values: central differences do not exist, those of a domain do.
    assert!(of(f64::sqrt, 0.0).value.is_nan());
    let right = backend.within(0.0, f64::INFINITY);
    assert!((right.derivative_of(|x: f64| x * x.sqrt(), 1, 0.0).unwrap().value).abs() < 1e-3);
    // A kink beyond the first steps is not in the way of smaller ones.
    assert_eq!(of(f64::abs, 0.1).value, 1.0);
    assert_eq!(of(f64::abs, -1e-9).value, -1.0);
    // Largest and smallest numbers.
    assert!((of(|x| 0.5 * x, 1.7e308).value - 0.5).abs() < 1e-13);
    assert!((of(|x| x * 3.0, 5e-324).value - 3.0).abs() < 1e-13);
    assert!((of(f64::ln, 1e-30).value * 1e-30 - 1.0).abs() < 1e-10);
    // Steps of 202, 101, ..., 6.3 are near multiples of the period, and see an oscillation 200 times as slow.
    assert!((of(f64::sin, 1e9).value - 1e9_f64.cos()).abs() < 1e-12);
}

#[test]
fn single_precision_has_its_own_digits() {
    let found: f32 = derivative(&f32::sin, &AutoFiniteDifferences::central(), &0.5_f32).unwrap();
    assert!((found - 0.5_f32.cos()).abs() < 3e-6, "{found}");
    let f = |x: &[f32]| x[0] * x[0] * x[1];
    let hess = hessian(&f, &AutoFiniteDifferences::central(), &[1.5_f32, 2.0]).unwrap();
    for (at, expected) in [4.0, 3.0, 3.0, 0.0].into_iter().enumerate() {
        assert!((hess[(at / 2, at % 2)] - expected).abs() < 2e-4, "{hess:?}");
    }
}

#[test]
fn second_derivatives_and_pairs_are_accurate() {
    let x = 0.4_f64;
    let expected = -9.0 * (3.0 * x).sin();
    let wave = |x: f64| (3.0 * x).sin();
    let alone = second_derivative(&wave, &AutoFiniteDifferences::central(), x).unwrap();
    assert!((alone - expected).abs() < 1e-10, "{:e}", alone - expected);
    fn general<T: Real>(x: T) -> T {
        (3.0 * x).sin()
    }
    let differences = AutoFiniteDifferences::central();
    let outer = second_derivative(&|x| general(x), &SecondOrder(differences, AutoForwardDiff::default()), x).unwrap();
    assert!((outer - expected).abs() < 1e-12, "{:e}", outer - expected);
    let inner = second_derivative(&|x| general(x), &SecondOrder(AutoForwardDiff::default(), differences), x).unwrap();
    assert!((inner - expected).abs() < 1e-10, "{:e}", inner - expected);
    let two_kinds = SecondOrder(AutoFiniteDiff::central(), differences);
    let product = hvp(&|x: &[f64]| (3.0 * x[0]).sin(), &two_kinds, &[x], [[1.0]]).unwrap();
    assert!((product[0][0] - expected).abs() < 1e-5, "{product:?}");
}

#[test]
fn a_function_that_changes_its_outputs_is_refused() {
    let calls = Cell::new(0);
    let growing = |x: &[f64]| {
        calls.set(calls.get() + 1);
        vec![x[0]; 1 + calls.get() / 4]
    };
    let error = jacobian(&growing, &AutoFiniteDifferences::central(), &[1.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputLength { expected: 1, found: 2 });
}

#[test]
fn sparse_derivatives_take_fewer_evaluations_and_are_as_accurate() {
    // Tridiagonal.
    fn chain<T: Real>(x: &[T]) -> Vec<T> {
        (0..x.len()).map(|i| x[i].exp() + x[i.saturating_sub(1)] * x[(i + 1).min(x.len() - 1)]).collect()
    }
    fn energy<T: Real>(x: &[T]) -> T {
        x.windows(2).map(|w| (w[0] * w[1]).sin()).fold(T::constant(num_traits::Zero::zero()), |sum, term| sum + term)
    }
    let x: Vec<f64> = (0..12).map(|i| 0.1 * f64::from(i) - 0.4).collect();
    let differences = AutoFiniteDifferences::central();
    let sparse = AutoSparse::new(differences);
    #[derive(Clone)]
    struct Chain;
    #[derive(Clone)]
    struct Energy;
    impl<T: Real> Function<[T]> for Chain {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            chain(x)
        }
    }
    impl<T: Real> Function<[T]> for Energy {
        type Output = T;
        fn call(&self, x: &[T]) -> T {
            energy(x)
        }
    }
    let (found, expected) =
        (jacobian(&Chain, &sparse, &x).unwrap(), jacobian(&Chain, &AutoForwardDiff::default(), &x).unwrap());
    let (hess, exact) =
        (hessian(&Energy, &sparse, &x).unwrap(), hessian(&Energy, &AutoForwardDiff::default(), &x).unwrap());
    for i in 0..12 {
        for j in 0..12 {
            assert!((found.to_dense()[(i, j)] - expected[(i, j)]).abs() < 1e-12, "({i}, {j})");
            assert!((hess.to_dense()[(i, j)] - exact[(i, j)]).abs() < 1e-9, "({i}, {j})");
        }
    }
}

/// Near a zero by cancellation the values of all steps are small, and their rounding errors are not.
#[test]
fn zeros_by_cancellation_have_the_rounding_errors_of_larger_numbers() {
    let backend = AutoFiniteDifferences::central();
    for i in 0..200 {
        let at = 0.1 + f64::from(i) * 0.037;
        let found = backend.derivative_of(|x: f64| x.sin() - at.sin(), 1, at).unwrap();
        assert!((found.value - at.cos()).abs() < 1e-13 && found.error < 1e-12, "{found:?} at {at}");
        let found = backend.derivative_of(|x: f64| x.exp() - at.exp(), 1, at).unwrap();
        assert!((found.value / at.exp() - 1.0).abs() < 1e-12, "{found:?} at {at}");
    }
    let found = backend.derivative_of(|x: f64| 1.0 - x.cos(), 2, 0.0).unwrap();
    assert!((found.value - 1.0).abs() < 1e-11 && found.error < 1e-10, "{found:?}");
}

/// The first steps are thousands of times the period. Some see a slower oscillation, whose derivative they give with a small error.
#[test]
fn slower_oscillations_that_long_steps_see_are_not_taken() {
    let f = |x: &[f64]| x[0].sin() + x[1].sin();
    let (backend, x) = (AutoFiniteDifferences::central(), [3e4, 1.0]);
    let found = hessian(&f, &backend, &x).unwrap();
    assert!(found[(0, 1)].abs() < 1e-6, "{found:?}");
    assert!((found[(0, 0)] + 3e4f64.sin()).abs() < 1e-6, "{found:?}");
    let [product] = hvp(&f, &backend, &x, [&[1.0, 0.0]]).unwrap();
    assert!((product[0] + 3e4f64.sin()).abs() < 1e-6, "{product:?}");
    // Not all are seen through; with a first step of less than the period there are none.
    let mut random = Random(7);
    for _ in 0..200 {
        let x = [10f64.powf(random.between(1.0, 6.0)), 1.0];
        let found = hessian(&f, &backend.first_step(0.5), &x).unwrap();
        assert!(found[(0, 1)].abs() < 1e-2 && (found[(0, 0)] + x[0].sin()).abs() < 1e-3, "{found:?} at {x:?}");
    }
}

/// A pair of differences has wider steps at both levels, and so have those of `nth_derivative`.
#[test]
fn nested_differences_have_their_own_steps_at_every_level() {
    let sine = |x: f64| x.sin();
    let backend = AutoFiniteDiff::forward();
    let third = nth_derivative(&sine, &backend, 2.0, Order::<3>).unwrap();
    assert!((third + 2f64.cos()).abs() < 1e-3, "{third}");
    let second = nth_derivative(&sine, &backend, 2.0, Order::<2>).unwrap();
    assert_eq!(second, second_derivative(&sine, &backend, 2.0).unwrap());
    assert!((second + 2f64.sin()).abs() < 1e-6, "{second}");
    let first = nth_derivative(&sine, &backend, 2.0, Order::<1>).unwrap();
    assert_eq!(first, derivative(&sine, &backend, 2.0).unwrap());
}

/// The step along a tangent is that of the coordinates that it moves.
#[test]
fn coordinates_that_stay_have_no_part_in_the_step() {
    #[differentiable]
    fn sines(x: &[f64]) -> Vec<f64> {
        vec![x[0].sin(), x[1].sin()]
    }
    for backend in [AutoFiniteDiff::central(), AutoFiniteDiff::forward()] {
        let [product] = pushforward(&Sines, &backend, &[1e8, 1.0], [&[0.0, 1.0]]).unwrap();
        assert!((product[1] - 1f64.cos()).abs() < 1e-7, "{product:?}");
        // Along a subnormal tangent too.
        let [product] = pushforward(&|x: &[f64]| vec![4.0 * x[0]], &backend, &[1.0, 1.0], [&[1e-320, 0.0]]).unwrap();
        assert!((product[0] / 4e-320 - 1.0).abs() < 1e-2, "{product:?}");
        let error = pushforward(&|x: &[f64]| vec![4.0 * x[0]], &backend, &[1e6, 1.0], [&[1e-322, 0.0]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UselessStep { coordinate: 0 });
    }
    // Two columns with an entry in a common row have colours, and steps, of their own.
    #[differentiable]
    fn both(x: &[f64]) -> Vec<f64> {
        vec![x[0].sin() + x[1].sin()]
    }
    let jac = jacobian(&Both, &AutoSparse::new(AutoFiniteDiff::central()), &[1e8, 1.0]).unwrap();
    assert!((jac.values()[1] - 1f64.cos()).abs() < 1e-7, "{jac:?}");
}
