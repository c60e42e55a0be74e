//! Time of prepared second-order calls beside the bare function, the derivative by hand, and the gradient by the same
//! inner backend.
//!
//! `cargo bench -p differentiation-interface-benches --bench second_order [-- FILTER ...]`: only groups whose name and size contain every filter. Ratios are
//! medians over rounds in which all contenders run one after the other; absolute times mean little on a shared machine.
//! Every result is compared with the derivative by hand before anything is timed. Without the argument `--bench`, which
//! `cargo bench` passes and `cargo test` does not, nothing is timed: small sizes are checked, and prepared calls must not
//! allocate.

mod workloads;

use differentiation_interface::backend::Backend;
use differentiation_interface::prelude::*;
use differentiation_interface::{Function, scalar};
use std::hint::black_box;
use workloads::sums::{AsFunction, Differences, Rosenbrock, Sum};
use workloads::{Random, timing};

#[global_allocator]
static ALLOCATOR: timing::Counting = timing::Counting;

/// The Hessian of [`Differences`], row by row: 2, 4, .., 4, 2 on the diagonal and -2 beside it.
fn differences_hessian(hess: &mut [f64], n: usize) {
    hess.fill(0.0);
    for i in 0..n {
        hess[i * n + i] = if i == 0 || i + 1 == n { 2.0 } else { 4.0 };
        if i + 1 < n {
            hess[i * n + i + 1] = -2.0;
            hess[(i + 1) * n + i] = -2.0;
        }
    }
}

/// The product of the Hessian of [`Rosenbrock`] with `v`, in one pass.
fn rosenbrock_hvp(product: &mut [f64], x: &[f64], v: &[f64]) {
    product[0] = 0.0;
    for i in 0..x.len() - 1 {
        let diagonal = 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0;
        let beside = -400.0 * x[i];
        product[i] += diagonal * v[i] + beside * v[i + 1];
        product[i + 1] = 200.0 * v[i + 1] + beside * v[i];
    }
}

/// W8: exp(sin x) ln(1 + x²) / (2 + cos 3x).
fn composite<T: Real>(x: T) -> T {
    x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
}

/// Its second derivative by the quotient rule.
fn composite_by_hand(x: f64) -> f64 {
    let ((s, c), (s3, c3)) = (x.sin_cos(), (3.0 * x).sin_cos());
    let (e, q) = (s.exp(), 1.0 + x * x);
    let (l, l1) = (q.ln(), 2.0 * x / q);
    let l2 = 2.0 / q - l1 * l1;
    let (u, u1) = (e * l, e * (c * l + l1));
    let u2 = e * ((c * c - s) * l + 2.0 * c * l1 + l2);
    let (v, v1, v2) = (2.0 + c3, -3.0 * s3, -9.0 * c3);
    (u2 - (2.0 * u1 * v1 + u * v2) / v + 2.0 * u * v1 * v1 / (v * v)) / v
}

struct Composite;

impl<C: scalar::Core<Base = f64>> Function<scalar::Num<C>> for Composite {
    type Output = scalar::Num<C>;
    fn call(&self, x: &scalar::Num<C>) -> Self::Output {
        composite(*x)
    }
}

/// A row of the table under construction.
struct Row<'a> {
    engine: &'static str,
    /// The row to compare with, besides the hand-written derivative.
    base: Option<usize>,
    call: Box<dyn FnMut() + 'a>,
}

fn row<'a>(engine: &'static str, base: Option<usize>, call: impl FnMut() + 'a) -> Row<'a> {
    Row { engine, base, call: Box::new(call) }
}

/// Whether two derivatives agree, relative to the largest entry.
fn check(what: &str, found: &[f64], expected: &[f64]) {
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-12 * scale, "{what}: entry {i} is {a}, expected {b}");
    }
}

const BY_HAND: usize = 1;

/// Whether to time as well as to check.
fn timed() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

fn print(workload: &str, n: usize, base: &str, rows: Vec<Row<'_>>) {
    let (labels, mut calls): (Vec<_>, Vec<_>) = rows.into_iter().map(|row| ((row.engine, row.base), row.call)).unzip();
    let allocations: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            call();
            timing::allocations(call)
        })
        .collect();
    for ((engine, _), allocations) in labels.iter().zip(&allocations) {
        assert_eq!(*allocations, 0, "{workload}, n = {n}: a call of {engine} allocates");
    }
    if !timed() {
        return;
    }
    let samples = timing::measure(&mut calls);
    println!(
        "{:<16} {:>6}  {:<22} {:>13} {:>10} {base:>19} {:>6}",
        "workload", "n", "engine", "ns/call", "/by hand", "allocs"
    );
    for (i, (engine, base)) in labels.into_iter().enumerate() {
        let ratio = base.map_or("-".into(), |base| format!("{:.4}", samples.ratio(i, base)));
        println!(
            "{workload:<16} {n:>6}  {engine:<22} {:>13.1} {:>10.2} {ratio:>19} {:>6}",
            samples.time(i),
            samples.ratio(i, BY_HAND),
            allocations[i],
        );
    }
    println!();
}

/// A row of Hessians by one pair of backends.
macro_rules! hessian_row {
    ($engine:expr, $base:expr, $backend:expr, $f:expr, $x:expr, $expected:expr) => {{
        let (f, x, n) = ($f, $x, $x.len());
        let mut hess = Matrix::filled(n, n, f64::NAN);
        let mut prepared = prepare_hessian(f, &$backend, x).expect("the backend takes this point");
        prepared.hessian_into(&mut hess, x).expect("the point is the prepared one");
        check($engine, hess.as_slice(), $expected);
        row($engine, $base, move || {
            black_box(prepared.hessian_into(&mut hess, black_box(x)).is_ok());
            black_box(&mut hess);
        })
    }};
}

fn hessians() {
    let (f, n) = (&AsFunction(Differences), if timed() { 1000 } else { 50 });
    let x = &Differences::point(n)[..];
    let mut expected = vec![0.0; n * n];
    differences_hessian(&mut expected, n);
    let mut hand = expected.clone();
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::tape());
    const NESTED: Option<usize> = Some(2);
    let rows = vec![
        row("function", None, || {
            black_box(Differences::value(black_box(x)));
        }),
        row("by hand", None, || {
            differences_hessian(black_box(&mut hand), n);
        }),
        hessian_row!("forward", None, forward, f, x, &expected),
        hessian_row!("reverse over forward", NESTED, SecondOrder(reverse, forward), f, x, &expected),
        hessian_row!("reverse", NESTED, reverse, f, x, &expected),
        hessian_row!("compiled", NESTED, AutoReverseDiff::compiled(), f, x, &expected),
    ];
    print(Differences::NAME, n, "/forward", rows);
}

/// A row of Hessian-vector products by one pair of backends.
macro_rules! product_row {
    ($engine:expr, $base:expr, $backend:expr, $f:expr, $x:expr, $v:expr, $expected:expr) => {{
        let (f, x, v) = ($f, $x, $v);
        let mut product = vec![f64::NAN; x.len()];
        let mut prepared = prepare_hvp(f, &$backend, x, [v]).expect("the backend takes this point");
        prepared.hvp_into([&mut product], x, [v]).expect("the point is the prepared one");
        check($engine, &product, $expected);
        row($engine, Some($base), move || {
            black_box(prepared.hvp_into([&mut product], black_box(x), [black_box(v)]).is_ok());
            black_box(&mut product);
        })
    }};
}

fn gradient_row<'a, B>(engine: &'static str, backend: B, f: &'a AsFunction<Rosenbrock>, x: &'a [f64]) -> Row<'a>
where
    B: Backend,
    B::Num<f64, B::Lanes>: Real,
{
    let mut grad = vec![f64::NAN; x.len()];
    let mut prepared = prepare_gradient(f, &backend, x).expect("the backend takes this point");
    row(engine, None, move || {
        black_box(prepared.gradient_into(&mut grad, black_box(x)).is_ok());
        black_box(&mut grad);
    })
}

fn products() {
    let (f, n) = (&AsFunction(Rosenbrock), if timed() { 10_000 } else { 50 });
    let (x, v) = (&Random::around(3, n, 0.0, 1.0)[..], &Random::around(4, n, 0.0, 1.0)[..]);
    let mut expected = vec![0.0; n];
    rosenbrock_hvp(&mut expected, x, v);
    let mut hand = expected.clone();
    let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::tape());
    const REVERSE: usize = 2;
    const FORWARD: usize = 3;
    let mut held_product = vec![f64::NAN; n];
    let mut held = prepare_hvp_same_point(f, &reverse, x, [v]).expect("the backend takes it");
    held.hvp_into([&mut held_product], [v]).expect("the tangent is as long");
    check("same point", &held_product, &expected);
    let rows = vec![
        row("function", None, || {
            black_box(Rosenbrock::value(black_box(x)));
        }),
        row("by hand", None, || {
            rosenbrock_hvp(black_box(&mut hand), black_box(x), black_box(v));
        }),
        gradient_row("reverse gradient", reverse, f, x),
        gradient_row("forward gradient", forward, f, x),
        product_row!("reverse", REVERSE, reverse, f, x, v, &expected),
        row("the same, fixed point", Some(REVERSE), || {
            black_box(held.hvp_into([&mut held_product], [black_box(v)]).is_ok());
            black_box(&mut held_product);
        }),
        product_row!("reverse over forward", FORWARD, SecondOrder(reverse, forward), f, x, v, &expected),
        product_row!("forward", FORWARD, forward, f, x, v, &expected),
        product_row!("compiled", REVERSE, AutoReverseDiff::compiled(), f, x, v, &expected),
        product_row!(
            "compiled over reverse",
            REVERSE,
            SecondOrder(AutoReverseDiff::compiled(), reverse),
            f,
            x,
            v,
            &expected
        ),
    ];
    print("W4 rosenbrock", n, "/gradient of inner", rows);
}

/// A row of second derivatives by one pair of backends.
macro_rules! second_derivative_row {
    ($engine:expr, $base:expr, $backend:expr, $x:expr, $expected:expr) => {{
        let x: f64 = $x;
        let mut prepared = prepare_second_derivative(&Composite, &$backend, x).expect("the backend takes this point");
        check($engine, &[prepared.second_derivative(x).expect("a number is a number")], &[$expected]);
        row($engine, $base, move || {
            black_box(prepared.second_derivative(black_box(x)).is_ok());
        })
    }};
}

fn second_derivatives() {
    let (x, forward, reverse) = (0.7, AutoForwardDiff::default(), AutoReverseDiff::tape());
    let expected = composite_by_hand(x);
    const NESTED: Option<usize> = Some(2);
    let rows = vec![
        row("function", None, || {
            black_box(composite(black_box(x)));
        }),
        row("by hand", None, || {
            black_box(composite_by_hand(black_box(x)));
        }),
        second_derivative_row!("forward over forward", None, forward, x, expected),
        second_derivative_row!("forward over reverse", NESTED, SecondOrder(forward, reverse), x, expected),
        second_derivative_row!("reverse over forward", NESTED, SecondOrder(reverse, forward), x, expected),
        second_derivative_row!("reverse over reverse", NESTED, SecondOrder(reverse, reverse), x, expected),
    ];
    print("W8 composite", 1, "/forw. over forw.", rows);
}

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| filters.iter().all(|f| name.contains(f.as_str()));
    if wanted(Differences::NAME) {
        hessians();
    }
    if wanted("W4 rosenbrock") {
        products();
    }
    if wanted("W8 composite") {
        second_derivatives();
    }
}
