//! Forward mode at numbers and arrays, prepared and unprepared, beside the same duals written by hand.
//!
//! `cargo bench -p differentiation-interface-benches --bench static_points` prints ratios of time, `benches/static_points.sh` those of instructions by callgrind, for
//! which this program repeats one way a given number of times. Without the argument `--bench`, which `cargo bench` passes and `cargo test` does
//! not, each way is only compared with the derivative by hand, and must not allocate.

mod workloads;

use differentiation_interface::prelude::*;
use std::hint::black_box;
use std::ops::{Add, Mul, Sub};
use workloads::systems::{Quadrotor, System};
use workloads::timing;

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

fn square<T: Real>(x: T) -> T {
    x * x
}

/// The function whose gradient is computed at two numbers.
fn rosenbrock<T: Real>(x: &[T; 2]) -> T {
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    a * a + 100.0 * b * b
}

/// W8: exp(sin x) ln(1 + x²) / (2 + cos 3x).
fn composite<T: Real>(x: T) -> T {
    x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
}

fn quadrotor<T: Real>(x: &[T; 12]) -> [T; 12] {
    let mut y = [T::constant(0.0); 12];
    Quadrotor::value(&mut y, x);
    y
}

/// A dual number by hand: value and tangents.
#[derive(Clone, Copy)]
struct Hand<const N: usize>(f64, [f64; N]);

impl<const N: usize> Hand<N> {
    #[inline(always)]
    fn variable(value: f64, lane: usize) -> Self {
        Hand(value, std::array::from_fn(|k| f64::from(u8::from(k == lane))))
    }
}
impl<const N: usize> Add for Hand<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Hand(self.0 + other.0, std::array::from_fn(|k| self.1[k] + other.1[k]))
    }
}
impl<const N: usize> Sub for Hand<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Hand(self.0 - other.0, std::array::from_fn(|k| self.1[k] - other.1[k]))
    }
}
impl<const N: usize> Mul for Hand<N> {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the tangent of a product is a sum")]
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Hand(self.0 * other.0, std::array::from_fn(|k| self.1[k] * other.0 + self.0 * other.1[k]))
    }
}
impl<const N: usize> Sub<Hand<N>> for f64 {
    type Output = Hand<N>;
    #[inline(always)]
    fn sub(self, other: Hand<N>) -> Hand<N> {
        Hand(self - other.0, other.1.map(|t| -t))
    }
}
impl<const N: usize> Mul<Hand<N>> for f64 {
    type Output = Hand<N>;
    #[inline(always)]
    fn mul(self, other: Hand<N>) -> Hand<N> {
        Hand(self * other.0, other.1.map(|t| self * t))
    }
}

/// Value, first and second derivative by hand.
#[derive(Clone, Copy)]
struct Second(f64, f64, f64);

impl Second {
    /// The function with this value and these two derivatives, of the number.
    #[inline(always)]
    fn chain(self, value: f64, first: f64, second: f64) -> Self {
        Second(value, first * self.1, second * self.1 * self.1 + first * self.2)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let second = self.2 * other.0 + 2.0 * self.1 * other.1 + self.0 * other.2;
        Second(self.0 * other.0, self.1 * other.0 + self.0 * other.1, second)
    }
}

fn composite_by_hand(x: Second) -> Second {
    let ((s, c), q) = (x.0.sin_cos(), x.times(x));
    let (sine, q) = (x.chain(s, c, -s), Second(1.0 + q.0, q.1, q.2));
    let (e, r) = (sine.0.exp(), 1.0 / q.0);
    let (s3, c3) = (3.0 * x.0).sin_cos();
    let angle = Second(3.0 * x.0, 3.0 * x.1, 3.0 * x.2).chain(c3, -s3, -c3);
    let inverse = 1.0 / (2.0 + angle.0);
    let denominator = Second(2.0 + angle.0, angle.1, angle.2);
    let denominator = denominator.chain(inverse, -inverse * inverse, 2.0 * inverse * inverse * inverse);
    sine.chain(e, e, e).times(q.chain(q.0.ln(), r, -r * r)).times(denominator)
}

/// Computes a derivative `times` times; returns the last entry of the last result.
type Way = fn(usize) -> f64;

/// Functions that compute a derivative repeatedly. They are never inlined, so that the compiler optimises each alone.
macro_rules! ways {
    ($($name:literal over $base:literal = |$times:ident| $body:block;)*) => {
        [$(($name, $base, {
            #[inline(never)]
            fn way($times: usize) -> f64 $body
            way as Way
        })),*]
    };
}

/// Evaluates `$call` repeatedly.
macro_rules! again {
    ($times:ident, $call:expr) => {{
        let mut last = 0.0;
        for _ in 0..$times {
            last = black_box($call);
        }
        last
    }};
}

/// Name, name of the way it is compared with, way.
fn ways() -> [(&'static str, &'static str, Way); 12] {
    const X: f64 = 0.7;
    const P: [f64; 2] = [0.7, 0.3];
    fn point() -> [f64; 12] {
        Quadrotor::point().try_into().expect("twelve numbers")
    }
    ways! {
        "square by hand" over "square by hand" = |n| { again!(n, square_slope(black_box(X))) };
        "square unprepared" over "square by hand" = |n| {
            again!(n, derivative(&square, &AutoForwardDiff::default(), black_box(X)).unwrap())
        };
        "square prepared" over "square by hand" = |n| {
            let mut prepared = prepare_derivative(&square, &AutoForwardDiff::default(), X).unwrap();
            again!(n, prepared.derivative(black_box(X)).unwrap())
        };
        "square with data" over "square by hand" = |n| {
            let factor = black_box(1.0);
            again!(n, derivative(&|x| square(x) * factor, &AutoForwardDiff::default(), black_box(X)).unwrap())
        };
        "rosenbrock by hand" over "rosenbrock by hand" = |n| {
            again!(n, black_box(rosenbrock_gradient(black_box(P)))[1])
        };
        "rosenbrock unprepared" over "rosenbrock by hand" = |n| {
            again!(n, black_box(gradient(&rosenbrock, &AutoForwardDiff::default(), black_box(P)).unwrap())[1])
        };
        "rosenbrock prepared" over "rosenbrock by hand" = |n| {
            let mut prepared = prepare_gradient(&rosenbrock, &AutoForwardDiff::default(), P).unwrap();
            again!(n, black_box(prepared.gradient(black_box(P)).unwrap())[1])
        };
        "W8 second derivative by hand" over "W8 second derivative by hand" = |n| {
            again!(n, composite_by_hand(Second(black_box(X), 1.0, 0.0)).2)
        };
        "W8 second derivative unprepared" over "W8 second derivative by hand" = |n| {
            again!(n, second_derivative(&composite, &AutoForwardDiff::default(), black_box(X)).unwrap())
        };
        "W8 second derivative prepared" over "W8 second derivative by hand" = |n| {
            let mut prepared = prepare_second_derivative(&composite, &AutoForwardDiff::default(), X).unwrap();
            again!(n, prepared.second_derivative(black_box(X)).unwrap())
        };
        "quadrotor in place" over "quadrotor in place" = |n| {
            let (f, x) = (in_place(|y: &mut [_], x: &[_]| Quadrotor::value(y, x), 12), point());
            let mut prepared = prepare_jacobian(&f, &AutoForwardDiff::default(), &x).unwrap();
            let mut jac = Matrix::filled(12, 12, 0.0);
            again!(n, {
                prepared.jacobian_into(&mut jac, black_box(&x)).unwrap();
                jac[(3, 6)]
            })
        };
        "quadrotor array to array" over "quadrotor in place" = |n| {
            let x = point();
            let mut prepared = prepare_jacobian(&quadrotor, &AutoForwardDiff::default(), x).unwrap();
            let mut jac = Matrix::filled(12, 12, 0.0);
            again!(n, {
                prepared.jacobian_into(&mut jac, black_box(x)).unwrap();
                jac[(3, 6)]
            })
        };
    }
}

fn square_slope(x: f64) -> f64 {
    let x = Hand::<1>::variable(x, 0);
    (x * x).1[0]
}

fn rosenbrock_gradient(x: [f64; 2]) -> [f64; 2] {
    let x: [Hand<2>; 2] = std::array::from_fn(|k| Hand::variable(x[k], k));
    let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
    (a * a + 100.0 * b * b).1
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ways = ways();
    let find = |name: &str| ways.iter().position(|way| way.0 == name).expect("the way is listed");
    if let [name, times] = &arguments[..] {
        ways[find(name)].2(times.parse().expect("the second argument is a number of calls"));
        return;
    }
    for (name, base, way) in ways {
        let (found, expected) = (way(1), ways[find(base)].2(1));
        assert!((found / expected - 1.0).abs() < 1e-13, "{name}: {found}, by hand {expected}");
        let (few, many) = (timing::allocations(|| _ = way(1)), timing::allocations(|| _ = way(1001)));
        assert_eq!(few, many, "{name}: a call allocates");
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    const CALLS: usize = 1000;
    let mut contenders: Vec<Box<dyn FnMut()>> =
        ways.iter().map(|&(_, _, way)| Box::new(move || _ = black_box(way(CALLS))) as Box<dyn FnMut()>).collect();
    let samples = timing::measure(&mut contenders);
    println!("| way | ns per call | over by hand |\n|---|---|---|");
    for (k, (name, base, _)) in ways.iter().enumerate() {
        println!("| {name} | {:.2} | {:.2} |", samples.time(k) / CALLS as f64, samples.ratio(k, find(base)));
    }
}
