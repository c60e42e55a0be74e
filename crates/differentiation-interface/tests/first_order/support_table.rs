//! Writes `docs/book/src/support.md` from calls that are made and checked here; fails when the page differs.
//!
//! Run with `UPDATE_PAGES=1` to write the page anew.

use differentiation_interface::backend::{
    HvpRoute, MatrixRoute, Mode, PullbackRoute, PushforwardRoute, SecondDerivativeRoute, SecondOrderBackend,
};
use differentiation_interface::prelude::*;
use std::fmt::Write;

/// 2 k x₀ x₁ over numbers that may be active, with every kind of argument.
fn product<T: Real>(x: &[T], k: f64) -> T {
    2.0 * k * x[0] * x[1]
}
fn cubes<T: Real>(x: T, k: f64) -> T {
    k * x * x * x
}
fn array<T: Real>(y: &mut [T], x: &[T], k: f64) {
    y[0] = product(x, k);
    y[1] = k * x[1];
}

// The forms, generic, so that each operator picks its own number type.
fn plain<T: Real>(x: &[T]) -> T {
    product(x, 1.0)
}
fn with_constant<T: Real>(x: &[T], k: &f64) -> T {
    product(x, *k)
}
fn with_cache<T: Real>(x: &[T], w: &mut [T; 1]) -> T {
    w[0] = product(x, 1.0);
    w[0]
}
fn write<T: Real>(y: &mut [T], x: &[T]) {
    array(y, x, 1.0);
}
fn write_constant<T: Real>(y: &mut [T], x: &[T], k: &f64) {
    array(y, x, *k);
}
fn write_cache<T: Real>(y: &mut [T], x: &[T], w: &mut [T; 2]) {
    array(w, x, 1.0);
    y.copy_from_slice(w);
}
fn number<T: Real>(x: T) -> T {
    cubes(x, 1.0)
}
fn write_number<T: Real>(y: &mut [T], x: T) {
    y[0] = cubes(x, 1.0);
}
fn number_with_constant<T: Real>(x: T, k: &f64) -> T {
    cubes(x, *k)
}
fn number_with_cache<T: Real>(x: T, w: &mut [T; 1]) -> T {
    w[0] = cubes(x, 1.0);
    w[0]
}
fn returning<T: Real>(x: &[T]) -> [T; 2] {
    let mut y = [x[0]; 2];
    array(&mut y, x, 1.0);
    y
}

const X: [f64; 2] = [3.0, 5.0];

fn close(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-3 * (1.0 + b.abs()))
}

/// The four forms of a function for one operator: returning, in place, with a constant, with a cache. Each entry is the
/// outcome of a checked call.
fn forms(outcomes: [Option<bool>; 4]) -> String {
    let word = |outcome: Option<bool>| match outcome {
        Some(true) => "yes",
        Some(false) => panic!("a supported call gave a wrong answer: {outcomes:?}"),
        None => "-",
    };
    outcomes.map(word).join(" | ")
}

/// Checks the first-order operators of a backend in every form and writes their rows.
macro_rules! first_order {
    ($page:ident, $B:ty, $backend:expr) => {{
        let backend: $B = $backend;
        let name = <$B as Backend>::NAME;
        let mut row = |operator: &str, route: &str, outcomes: [Option<bool>; 4]| {
            writeln!($page, "| `{name}` | `{operator}` | {route} | {} |", forms(outcomes)).expect("writes to a string");
        };
        let (one, two) = ([0.0], [0.0; 2]);
        let v = [1.0, -1.0];

        let expected = [4.0];
        let [a] = pushforward(&plain, &backend, &X, [&v]).unwrap();
        let [b] = pushforward(&in_place(write, 2), &backend, &X, [&v]).unwrap();
        let [c] = pushforward(&with_constant, &backend, (&X, Constant(&2.0)), [&v]).unwrap();
        let [d] = pushforward(&with_cache, &backend, (&X, Cache(&one)), [&v]).unwrap();
        row(
            "pushforward",
            <<$B as Backend>::Pushforward as PushforwardRoute<$B>>::NAME,
            [
                Some(close(&[a], &expected)),
                Some(close(&b, &[4.0, -1.0])),
                Some(close(&[c], &[8.0])),
                Some(close(&[d], &expected)),
            ],
        );

        let [a] = pullback(&plain, &backend, &X, [0.5]).unwrap();
        let [b] = pullback(&in_place(write, 2), &backend, &X, [&[0.5, 1.0]]).unwrap();
        let [c] = pullback(&with_constant, &backend, (&X, Constant(&2.0)), [0.5]).unwrap();
        let [d] = pullback(&with_cache, &backend, (&X, Cache(&one)), [0.5]).unwrap();
        row(
            "pullback",
            <<$B as Backend>::Pullback as PullbackRoute<$B>>::NAME,
            [
                Some(close(&a, &[5.0, 3.0])),
                Some(close(&b, &[5.0, 4.0])),
                Some(close(&c, &[10.0, 6.0])),
                Some(close(&d, &[5.0, 3.0])),
            ],
        );

        let a = derivative(&number, &backend, 2.0).unwrap();
        let b = derivative(&in_place(write_number, 1), &backend, 2.0).unwrap();
        let c = derivative(&number_with_constant, &backend, (2.0, Constant(&2.0))).unwrap();
        let d = derivative(&number_with_cache, &backend, (2.0, Cache(&one))).unwrap();
        row(
            "derivative",
            <<$B as Backend>::Derivative as MatrixRoute<$B>>::NAME,
            [
                Some(close(&[a], &[12.0])),
                Some(close(&b, &[12.0])),
                Some(close(&[c], &[24.0])),
                Some(close(&[d], &[12.0])),
            ],
        );

        let a = gradient(&plain, &backend, &X).unwrap();
        let c = gradient(&with_constant, &backend, (&X, Constant(&2.0))).unwrap();
        let d = gradient(&with_cache, &backend, (&X, Cache(&one))).unwrap();
        row(
            "gradient",
            <<$B as Backend>::Gradient as MatrixRoute<$B>>::NAME,
            [Some(close(&a, &[10.0, 6.0])), None, Some(close(&c, &[20.0, 12.0])), Some(close(&d, &[10.0, 6.0]))],
        );

        let a = jacobian(&returning, &backend, &X).unwrap();
        let b = jacobian(&in_place(write, 2), &backend, &X).unwrap();
        let c = jacobian(&in_place(write_constant, 2), &backend, (&X, Constant(&2.0))).unwrap();
        let d = jacobian(&in_place(write_cache, 2), &backend, (&X, Cache(&two))).unwrap();
        let expected = [10.0, 6.0, 0.0, 1.0];
        row(
            "jacobian",
            <<$B as Backend>::Jacobian as MatrixRoute<$B>>::NAME,
            [
                Some(close(a.as_slice(), &expected)),
                Some(close(b.as_slice(), &expected)),
                Some(close(c.as_slice(), &expected.map(|v| 2.0 * v))),
                Some(close(d.as_slice(), &expected)),
            ],
        );
    }};
}

/// Checks the second-order operators of a combination and writes their rows.
macro_rules! second_order {
    ($page:ident, $name:expr, $B:ty, $backend:expr) => {{
        let backend: $B = $backend;
        let name = $name;
        type Outer = <$B as SecondOrderBackend>::Outer;
        type Inner = <$B as SecondOrderBackend>::Inner;
        let route = <<$B as SecondOrderBackend>::Hvp as HvpRoute<Outer, Inner>>::NAME;
        let modes =
            format!("{} over {}", <<Outer as Backend>::Mode as Mode>::NAME, <<Inner as Backend>::Mode as Mode>::NAME);
        let mut row = |operator: &str, route: &str, outcomes: [Option<bool>; 4]| {
            writeln!($page, "| {name} | `{operator}` | {route} | {} |", forms(outcomes)).expect("writes to a string");
        };
        let one = [0.0];
        let v = [1.0, -1.0];

        let a = second_derivative(&number, &backend, 2.0).unwrap();
        let b = second_derivative(&in_place(write_number, 1), &backend, 2.0).unwrap();
        let c = second_derivative(&number_with_constant, &backend, (2.0, Constant(&2.0))).unwrap();
        let d = second_derivative(&number_with_cache, &backend, (2.0, Cache(&one))).unwrap();
        row(
            "second_derivative",
            <<<$B as SecondOrderBackend>::Hvp as HvpRoute<Outer, Inner>>::SecondDerivative as SecondDerivativeRoute<
                Outer,
                Inner,
            >>::NAME,
            [
                Some(close(&[a], &[12.0])),
                Some(close(&b, &[12.0])),
                Some(close(&[c], &[24.0])),
                Some(close(&[d], &[12.0])),
            ],
        );

        let [a] = hvp(&plain, &backend, &X, [&v]).unwrap();
        let [c] = hvp(&with_constant, &backend, (&X, Constant(&2.0)), [&v]).unwrap();
        let [d] = hvp(&with_cache, &backend, (&X, Cache(&one)), [&v]).unwrap();
        row(
            "hvp",
            &format!("{route} ({modes})"),
            [Some(close(&a, &[-2.0, 2.0])), None, Some(close(&c, &[-4.0, 4.0])), Some(close(&d, &[-2.0, 2.0]))],
        );

        let a = hessian(&plain, &backend, &X).unwrap();
        let c = hessian(&with_constant, &backend, (&X, Constant(&2.0))).unwrap();
        let d = hessian(&with_cache, &backend, (&X, Cache(&one))).unwrap();
        row(
            "hessian",
            &format!("{route} ({modes})"),
            [
                Some(close(a.as_slice(), &[0.0, 2.0, 2.0, 0.0])),
                None,
                Some(close(c.as_slice(), &[0.0, 4.0, 4.0, 0.0])),
                Some(close(d.as_slice(), &[0.0, 2.0, 2.0, 0.0])),
            ],
        );
    }};
}

#[test]
fn page_of_supported_calls_is_up_to_date() {
    let mut page = String::from(
        "# Supported calls\n\n\
         Written by the test `support_table`, which makes and checks a call for every \"yes\". A gradient and a Hessian have no\n\
         in-place form, because their functions return one number. `nth_derivative`, `AutoTaylor`, `AutoSparse` and `AutoThreaded` are not in\n\
         the tables.\n\n",
    );
    let head =
        "| backend | operator | route | `f(x)` | `f!(y, x)` | constants | caches |\n|---|---|---|---|---|---|---|\n";

    page.push_str("## First order\n\n");
    page.push_str(head);
    first_order!(page, AutoForwardDiff, AutoForwardDiff::default());
    first_order!(page, AutoReverseDiff, AutoReverseDiff::default());
    first_order!(page, AutoCompiledReverseDiff, AutoReverseDiff::compiled());
    first_order!(page, AutoFiniteDiff, AutoFiniteDiff::central());
    first_order!(page, AutoFiniteDifferences, AutoFiniteDifferences::central());
    first_order!(page, AnyBackend, AutoReverseDiff::default().into());

    type F = AutoForwardDiff;
    type R = AutoReverseDiff;
    type D = AutoFiniteDiff;
    let (f, r, d) = (F::default(), R::default(), D::central());
    page.push_str("\n## Second order\n\nA single backend is both the outer and the inner one. `a ∘ b` is `SecondOrder(a, b)`.\n\n");
    page.push_str(head);
    second_order!(page, "`forward_diff`", F, f);
    second_order!(page, "`reverse_diff`", R, r);
    second_order!(page, "`finite_diff`", D, d);
    type E = AutoFiniteDifferences;
    second_order!(page, "`finite_differences`", E, E::central());
    second_order!(page, "`finite_differences` ∘ `reverse_diff`", SecondOrder<E, R>, SecondOrder(E::central(), r));
    second_order!(page, "`any`", AnyBackend, SecondOrder(f, r).into());
    second_order!(page, "`forward_diff` ∘ `reverse_diff`", SecondOrder<F, R>, SecondOrder(f, r));
    second_order!(page, "`forward_diff` ∘ `finite_diff`", SecondOrder<F, D>, SecondOrder(f, d));
    second_order!(page, "`reverse_diff` ∘ `forward_diff`", SecondOrder<R, F>, SecondOrder(r, f));
    second_order!(page, "`reverse_diff` ∘ `finite_diff`", SecondOrder<R, D>, SecondOrder(r, d));
    second_order!(page, "`finite_diff` ∘ `forward_diff`", SecondOrder<D, F>, SecondOrder(d, f));
    second_order!(page, "`finite_diff` ∘ `reverse_diff`", SecondOrder<D, R>, SecondOrder(d, r));
    type C = AutoCompiledReverseDiff;
    let c = R::compiled();
    second_order!(page, "`compiled_reverse_diff`", C, c);
    second_order!(page, "`forward_diff` ∘ `compiled_reverse_diff`", SecondOrder<F, C>, SecondOrder(f, c));
    second_order!(page, "`compiled_reverse_diff` ∘ `forward_diff`", SecondOrder<C, F>, SecondOrder(c, f));
    second_order!(page, "`compiled_reverse_diff` ∘ `reverse_diff`", SecondOrder<C, R>, SecondOrder(c, r));

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/book/support.md");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).expect("the page exists");
    assert!(written == page, "docs/book/src/support.md differs from what the code does; run with UPDATE_PAGES=1");
}

/// A backend that is added to one list only: a folder without a line in `each_backend!`, or a line without rows in the page above.
#[test]
fn every_backend_has_a_folder_a_line_and_rows() {
    macro_rules! named {
        ([] $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
            vec![$((stringify!($module), <$Type as Backend>::NAME)),*]
        };
    }
    let listed = differentiation_interface::each_backend!(named![]);
    let page = include_str!("../../book/support.md");
    let (first, second) = page.split_once("## Second order").expect("the page has two tables");
    for (_, name) in &listed {
        for (table, operators) in [
            (first, &["pushforward", "pullback", "derivative", "gradient", "jacobian"][..]),
            (second, &["second_derivative", "hvp", "hessian"]),
        ] {
            for operator in operators {
                assert!(table.contains(&format!("| `{name}` | `{operator}` |")), "no row of `{name}` for `{operator}`");
            }
        }
    }
    // The choice at run time, series, threads, and tests: no static backends that have every operator.
    let mut expected = vec!["any", "taylor", "tests", "threaded"];
    expected.extend(listed.iter().map(|(module, _)| *module));
    expected.sort_unstable();
    let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/backends"))
        .expect("the folder is part of the sources");
    let mut found: Vec<String> = folders
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("folders have names").to_string_lossy().into_owned())
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}
