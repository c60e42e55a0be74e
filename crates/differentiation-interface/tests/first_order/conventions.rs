//! One table of choices and singular points, over all engines: the conventions of `rules`.
//!
//! One function type with the number of a line keeps the number of instantiations small. On x86-64 machine code runs the
//! compiled lines.

use differentiation_interface::prelude::*;
use differentiation_interface::scalar::{Base, Relation};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A line of the table as a function.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Product,
    RootOrSquare,
    RootOfPositivePart,
    LargerOfTwo,
    AbsOfRoot,
    MaxWithNan,
    MinWithNan,
    PowerTimes,
    PowerOfZero,
    QuotientTimes,
    Squares,
    RootTimes,
    Nested,
    Quotient,
    Hypot,
    Atan2,
    Arcs,
    Clamped,
    Unused,
    CappedSum,
    Remainder,
    Whole,
}
use Line::*;

fn positive<T: Scalar>(x: T, then: T, otherwise: T) -> T {
    T::select(x, Relation::Greater, T::constant(T::Base::from_f64(0.0)), then, otherwise)
}

impl<T: Real> Function<[T]> for Line {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.value(x)
    }
}

impl Line {
    fn value<B: Base, T: Real<B>>(&self, x: &[T]) -> T {
        let c = |v: f64| T::constant(B::from_f64(v));
        match self {
            Product | RootTimes => x[0].sqrt() * x[1],
            RootOrSquare => positive(x[0], x[0].sqrt() * x[1], x[1] * x[1]),
            RootOfPositivePart => x[0].max(c(0.0)).sqrt() * x[1],
            LargerOfTwo => (x[0].ln() * x[1]).max(x[1] * x[1]),
            AbsOfRoot => x[1] + x[0].sqrt().abs(),
            MaxWithNan => (x[0] * x[0]).max(x[1].ln()),
            MinWithNan => x[1].ln().min(x[0] * x[0]),
            PowerTimes => x[0].powf(x[1]) * x[2],
            // An exponent that is a number without derivative, and a plain one.
            PowerOfZero => x[0].sqrt().powf(c(0.0)) * x[1] + x[0].ln().powc(B::from_f64(0.0)),
            QuotientTimes => x[0] / x[1] * x[2],
            Squares => x.iter().map(|v| *v * *v).sum(),
            Nested => positive(x[1], x[1] * x[1], positive(x[0], x[0].ln() / x[2], x[2])),
            Quotient => x[0] / x[1],
            Hypot => x[0].hypot(x[1]),
            Atan2 => x[0].atan2(x[1]),
            Arcs => x[0].asin() + x[1].acos() + x[2].atanh(),
            Clamped => x[0].clamp(c(0.0), c(1.0)).ln() * x[1] + x[1],
            Unused => positive(x[1], x[1], x[0]).sqrt() + (x[0] * c(0.0)).exp().max(c(2.0)),
            // The root of a sum of which one term is zero, beside a term of its own.
            CappedSum => positive(x[0], (x[0] * x[0] + x[1] * x[1]).sqrt().recip(), x[1]) * x[2],
            Remainder => x[0].rem_euclid(x[1]) * x[2],
            Whole => x[0].div_euclid(x[1]) * x[2],
        }
    }
}

/// Line, point, gradient; the gradient by the tape where that differs.
type Row = (Line, &'static [f64], &'static [f64], Option<&'static [f64]>);

const GRADIENTS: &[Row] = &[
    // Zeros that are computed follow the arithmetic.
    (Product, &[0.0, 0.0], &[NAN, 0.0], None),
    (AbsOfRoot, &[0.0, 1.0], &[NAN, 1.0], None),
    (PowerTimes, &[0.0, 0.5, 0.0], &[NAN, 0.0, 0.0], None),
    // The tape leaves out entries whose adjoint is zero, computed or not, where both derivatives are infinite or other than zero.
    (QuotientTimes, &[1.0, 0.0, 0.0], &[NAN, NAN, INF], Some(&[0.0, 0.0, INF])),
    (Quotient, &[0.0, 0.0], &[INF, NAN], None),
    // What is absent contributes nothing.
    (RootOrSquare, &[-1.0, 3.0], &[0.0, 6.0], None),
    (RootOrSquare, &[0.0, 3.0], &[0.0, 6.0], None),
    (RootOrSquare, &[NAN, 3.0], &[0.0, 6.0], None),
    (RootOrSquare, &[4.0, 3.0], &[0.75, 2.0], None),
    (RootOfPositivePart, &[-1.0, 3.0], &[0.0, 0.0], None),
    (RootOfPositivePart, &[4.0, 3.0], &[0.75, 2.0], None),
    (LargerOfTwo, &[0.0, 3.0], &[0.0, 6.0], None),
    (MaxWithNan, &[3.0, -1.0], &[6.0, 0.0], None),
    (MinWithNan, &[3.0, -1.0], &[6.0, 0.0], None),
    (Nested, &[NAN, 3.0, 0.0], &[0.0, 6.0, 0.0], None),
    (Nested, &[-1.0, -3.0, 0.0], &[0.0, 0.0, 1.0], None),
    (Clamped, &[-2.0, 3.0], &[0.0, -INF], None),
    (PowerOfZero, &[0.0, 3.0], &[0.0, 1.0], None),
    (PowerOfZero, &[-1.0, 3.0], &[0.0, 1.0], None),
    (Unused, &[0.0, 4.0], &[0.0, 0.25], None),
    (CappedSum, &[0.0, 0.0, 2.0], &[0.0, 2.0, 0.0], None),
    // Inputs that are not numbers.
    (Squares, &[NAN, 1.0, 2.0], &[NAN, 2.0, 4.0], None),
    (RootTimes, &[NAN, 2.0], &[NAN, NAN], None),
    // Limits that rules give.
    (Hypot, &[0.0, 0.0], &[0.0, 0.0], None),
    (Atan2, &[0.0, 0.0], &[0.0, 0.0], None),
    (Arcs, &[1.0, 1.0, 1.0], &[INF, -INF, INF], None),
    // x - |m| ⌊x/|m|⌋ and the quotient that belongs to it, as those of `f64`.
    (Remainder, &[5.5, 2.0, 3.0], &[3.0, -6.0, 1.5], None),
    (Remainder, &[-5.5, 2.0, 3.0], &[3.0, 9.0, 0.5], None),
    (Remainder, &[-5.5, -2.0, 3.0], &[3.0, -9.0, 0.5], None),
    (Whole, &[5.5, 2.0, 3.0], &[0.0, 0.0, 2.0], None),
    (Whole, &[-5.5, 2.0, 3.0], &[0.0, 0.0, -3.0], None),
    (Whole, &[-5.5, -2.0, 3.0], &[0.0, 0.0, 3.0], None),
];

/// Line, point, Hessian row by row.
const HESSIANS: &[(Line, &[f64], &[f64])] = &[
    (RootOrSquare, &[-1.0, 3.0], &[0.0, 0.0, 0.0, 2.0]),
    (RootOrSquare, &[NAN, 3.0], &[0.0, 0.0, 0.0, 2.0]),
    (RootOfPositivePart, &[-1.0, 3.0], &[0.0, 0.0, 0.0, 0.0]),
    (LargerOfTwo, &[0.0, 3.0], &[0.0, 0.0, 0.0, 2.0]),
    (MaxWithNan, &[3.0, -1.0], &[2.0, 0.0, 0.0, 0.0]),
    (Nested, &[NAN, 3.0, 0.0], &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]),
    (Squares, &[NAN, 1.0, 2.0], &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]),
    (Unused, &[0.0, 4.0], &[0.0, 0.0, 0.0, -0.03125]),
    (PowerOfZero, &[0.0, 3.0], &[0.0, 0.0, 0.0, 0.0]),
];

fn same(found: &[f64], expected: &[f64]) -> bool {
    let close = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-6 * b.abs();
    found.len() == expected.len() && found.iter().zip(expected).all(close)
}

/// The engines by their strings, one instantiation for all.
const FIRST: [&str; 3] = ["ForwardDiff", "ReverseDiff", "ReverseDiff(compile=true)"];

fn is_tape(name: &str) -> bool {
    name == "ReverseDiff"
}

#[test]
fn gradients_keep_the_conventions() {
    let mut failures = Vec::new();
    for &(line, x, expected, by_tape) in GRADIENTS {
        for name in FIRST {
            let backend: AnyBackend = name.parse().unwrap();
            let expected = by_tape.filter(|_| is_tape(name)).unwrap_or(expected);
            let once = gradient(&line, &backend, x).unwrap();
            // Prepared at a regular point, and used twice.
            let regular: Vec<f64> = x.iter().map(|v| if v.is_nan() { -0.5 } else { *v + 0.25 }).collect();
            let mut prepared = prepare_gradient(&line, &backend, &regular[..]).unwrap();
            prepared.gradient(&regular[..]).unwrap();
            let later = [prepared.gradient(x).unwrap(), prepared.gradient(x).unwrap()];
            for found in [&once, &later[0], &later[1]] {
                if !same(found, expected) {
                    failures.push(format!("{name}: gradient of {line:?} at {x:?} is {found:?}, expected {expected:?}"));
                }
            }
            // Back at the regular point nothing has stuck.
            let (again, fresh) =
                (prepared.gradient(&regular[..]).unwrap(), gradient(&line, &backend, &regular[..]).unwrap());
            if !same(&again, &fresh) {
                failures.push(format!("{name}: gradient of {line:?} at {regular:?} is {again:?}, fresh {fresh:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Machine code over `f32`; `.ci/features` runs it once more with the interpreter.
#[test]
fn gradients_over_singles_keep_the_conventions() {
    let mut failures = Vec::new();
    for &(line, x, expected, _) in GRADIENTS {
        let f = |x: &[_]| line.value::<f32, _>(x);
        let single: Vec<f32> = x.iter().map(|v| *v as f32).collect();
        let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &single[..]).unwrap();
        for _ in 0..2 {
            let found: Vec<f64> = prepared.gradient(&single[..]).unwrap().iter().map(|v| f64::from(*v)).collect();
            if !same(&found, expected) {
                failures.push(format!("gradient of {line:?} at {x:?} is {found:?}, expected {expected:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// After thousands of exponents programs record powers in another way.
#[test]
fn the_power_of_zero_has_no_derivative_after_many_exponents() {
    let f = |x: &[_]| many_powers(x) + root_to_the_zero(x);
    let expected: f64 = (0..5000).map(|k| 1.0 + 1e-4 * f64::from(k)).sum();
    let grad = gradient(&f, &AutoReverseDiff::compiled(), &[1.0, 0.0]).unwrap();
    assert!((grad[0] / expected - 1.0).abs() < 1e-12 && grad[1] == 0.0, "{grad:?}");
}

fn many_powers<T: Real>(x: &[T]) -> T {
    (0..5000).map(|k| x[0].powc(1.0 + 1e-4 * f64::from(k))).sum()
}

fn root_to_the_zero<T: Real>(x: &[T]) -> T {
    x[1].sqrt().powc(0.0)
}

#[test]
fn hessians_keep_the_conventions() {
    let mut failures = Vec::new();
    let pairs = FIRST.iter().flat_map(|outer| FIRST.iter().map(move |inner| format!("SecondOrder({outer}, {inner})")));
    let names: Vec<String> = pairs.chain(FIRST.iter().map(|name| name.to_string())).collect();
    for &(line, x, expected) in HESSIANS {
        for name in &names {
            let backend: AnyBackend = name.parse().unwrap();
            let found = hessian(&line, &backend, x).unwrap();
            if !same(found.as_slice(), expected) {
                failures.push(format!(
                    "{name}: Hessian of {line:?} at {x:?} is {:?}, expected {expected:?}",
                    found.as_slice()
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Where a second derivative is infinite some engines give infinity and others NaN; none gives a number.
#[test]
fn infinite_second_derivatives_are_not_finite_in_any_engine() {
    let mut failures = Vec::new();
    let pairs = FIRST.iter().flat_map(|outer| FIRST.iter().map(move |inner| format!("SecondOrder({outer}, {inner})")));
    let names: Vec<String> = pairs.chain(FIRST.iter().map(|name| name.to_string())).collect();
    let lines: [(Line, &[f64], usize); 3] =
        [(Arcs, &[1.0, -1.0, 1.0], 3), (Product, &[0.0, 2.0], 1), (PowerTimes, &[0.0, 0.5, 1.0], 1)];
    for (line, x, singular) in lines {
        for name in &names {
            let backend: AnyBackend = name.parse().unwrap();
            let found = hessian(&line, &backend, x).unwrap();
            for i in 0..singular {
                if found.as_slice()[i * (x.len() + 1)].is_finite() {
                    failures.push(format!("{name}: Hessian of {line:?} at {x:?} is {:?}", found.as_slice()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Two outputs: a row per output is what it is alone.
#[derive(Clone, Copy)]
struct Rows;
impl<T: Real> Function<[T]> for Rows {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        vec![x[0].sqrt() * x[1], x[1] + x[1], positive(x[0], x[0].ln(), x[1])]
    }
}

#[test]
fn outputs_and_inputs_that_do_not_take_part_contribute_nothing() {
    let (x, expected) = ([0.0, 0.0], [NAN, 0.0, 0.0, 2.0, 0.0, 1.0]);
    for name in FIRST {
        let backend: AnyBackend = name.parse().unwrap();
        let found = jacobian(&Rows, &backend, &x).unwrap();
        assert!(same(found.as_slice(), &expected), "{name}: {:?}", found.as_slice());
        let [forward] = &pushforward(&Rows, &backend, &x, [&[0.0, 1.0][..]]).unwrap()[..] else { panic!("one seed") };
        assert!(same(forward, &[0.0, 2.0, 1.0]), "{name}: {forward:?}");
        let [back] = &pullback(&Rows, &backend, &x, [&[0.0, 1.0, 1.0][..]]).unwrap()[..] else { panic!("one seed") };
        assert!(same(back, &[0.0, 3.0]), "{name}: {back:?}");
    }
}

/// A chunk of lanes does not share what is not a number.
#[test]
fn inputs_that_are_not_numbers_stay_in_their_entries() {
    let mut x = vec![1.0; 30];
    x[7] = NAN;
    let found = gradient(&Squares, &AutoForwardDiff::default(), &x[..]).unwrap();
    assert!(found.iter().enumerate().all(|(i, v)| if i == 7 { v.is_nan() } else { *v == 2.0 }), "{found:?}");
}

#[test]
fn the_total_order_is_that_of_f64() {
    /// 1, 0 or -1.
    fn order<T: Real>(x: &[T]) -> T {
        T::constant(f64::from(Real::total_cmp(&x[0], &x[1]) as i8))
    }
    let nan = NAN.copysign(1.0);
    let values = [-nan, -INF, -2.0, -1e-320, -0.0, 0.0, 1e-320, 2.0, INF, nan];
    assert!(values[0].is_sign_negative() && values[9].is_sign_positive());
    let expected = |a: f64, b: f64| f64::from(a.total_cmp(&b) as i8);
    for a in values {
        for b in values {
            assert_eq!(Real::total_cmp(&a, &b), a.total_cmp(&b), "{a} and {b}");
            assert_eq!(Real::total_cmp(&(a as f32), &(b as f32)), (a as f32).total_cmp(&(b as f32)), "{a} and {b}");
        }
    }
    macro_rules! check {
        ($($backend:expr),*) => {$({
            let f = |x: &[_]| order(x);
            // A recording of one pair is made again where another pair has another order.
            let mut prepared = prepare_gradient(&f, &$backend, &[1.0, 1.0]).unwrap();
            for a in values {
                for b in values {
                    assert_eq!(prepared.value(&[a, b]).unwrap(), expected(a, b), "{a} and {b}");
                }
            }
        })*};
    }
    check!(
        AutoForwardDiff::default(),
        AutoReverseDiff::tape(),
        AutoReverseDiff::default(),
        AutoReverseDiff::compiled()
    );
}
