//! Derivatives of the table, sums over an index, extreme formulas, refusals.

use crate::textbook::{Line, TABLE, formula};
use crate::{Formula, Variables, derivative};
use compiled_trace::{Limits, Recorded, record};
use differentiation_interface_core::Scalar;
use differentiation_interface_core::error::ErrorKind;
use num_traits::Float as _;

fn c(value: f64) -> Recorded {
    Recorded::constant(value)
}

#[test]
fn derivatives_come_out_as_a_textbook_prints_them() {
    assert!(TABLE.len() >= 30);
    let mut differences = Vec::new();
    for line in TABLE {
        let f = formula(line);
        let found = derivative(&f, line.by).unwrap();
        if found.to_latex() != line.latex {
            differences.push(format!("{f}: {}\n   expected {}", found.to_latex(), line.latex));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Largest difference, in units in the last place, at 1000 points where the unsimplified derivative is well conditioned.
fn difference(line: &Line) -> (f64, usize) {
    let original = formula(line).derivative(line.by).unwrap();
    let simplified = original.simplified();
    let inputs = line.variables.split(' ').count();
    let (mut largest, mut compared) = (0.0_f64, 0);
    for point in 0..1000 {
        // Multiples of the golden ratio, another sequence than that of the check.
        let at = |i: usize| (0.618_033_988_749_895 * (point * inputs + i + 1) as f64).fract();
        let x: Vec<f64> =
            (0..inputs).map(|i| if point % 2 == 0 { 0.1 + 3.0 * at(i) } else { 4.0 * at(i) - 2.0 }).collect();
        let expected = original.value_as_written(&x).unwrap();
        let unit = expected.abs().next_up() - expected.abs();
        let moved = |seed| (original.perturbed(&x, seed) - expected).abs() <= 4.0 * unit;
        if expected.is_normal() && (1..=8).all(moved) {
            largest = largest.max((simplified.value_as_written(&x).unwrap() - expected).abs() / unit);
            compared += 1;
        }
    }
    (largest, compared)
}

#[test]
fn simplification_moves_no_well_conditioned_value_by_more_than_4_units_in_the_last_place() {
    for line in TABLE {
        let (largest, compared) = difference(line);
        let f = formula(line);
        assert!(largest <= 4.0, "{f}: {largest} units in the last place");
        assert!(compared >= 40, "{f}: {compared} points");
    }
}

#[test]
fn equal_terms_of_arrays_become_a_sum_over_an_index() {
    let of = |f: &dyn Fn(&[Recorded]) -> Recorded, inputs: usize, variables: Variables| {
        let graph = record(&vec![0.5; inputs], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        Formula::of(&graph, variables).unwrap()
    };
    // Σ (xᵢ - a)².
    let squares = |v: &[Recorded]| v[1..].iter().map(|x| (*x - v[0]) * (*x - v[0])).sum::<Recorded>();
    let f = of(&squares, 11, Variables::new().number("a").array("x", 10));
    assert_eq!(f.to_latex(), r"\sum_{i=1}^{10} (x_i - a)^2");
    assert_eq!(f.to_unicode(), "∑ᵢ₌₁¹⁰ (xᵢ − a)²");
    assert_eq!(f.to_string(), "sum((x_i - a)^2, i = 1..10)");
    let slope = derivative(&f, "a").unwrap();
    assert_eq!(slope.to_latex(), r"-2 \sum_{i=1}^{10} (x_i - a)");
    assert_eq!(derivative(&f, "x_3").unwrap().to_latex(), r"2 (x_3 - a)");
    // The sum runs as its terms do: -2 (10 · 0.5 - 10 · 0.25).
    let mut x = vec![0.5; 11];
    x[0] = 0.25;
    assert_eq!(slope.value_as_written(&x).unwrap(), -5.0);
    // Rosenbrock's function, with neighbours.
    let rosenbrock = |x: &[Recorded]| {
        x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]) * (w[1] - w[0] * w[0]) + (1.0 - w[0]) * (1.0 - w[0])).sum()
    };
    let f = of(&rosenbrock, 6, Variables::new().array("x", 6));
    assert_eq!(f.to_unicode(), "100 ∑ᵢ₌₁⁵ (xᵢ₊₁ − xᵢ²)² + ∑ᵢ₌₁⁵ (1 − xᵢ)²");
    assert_eq!(derivative(&f, "x_1").unwrap().to_unicode(), "400x₁³ + 2x₁ (1 − 200x₂) − 2");
    // A bilinear form: two indices.
    let bilinear = |v: &[Recorded]| {
        let mut sum = Recorded::constant(0.0);
        for i in 0..3 {
            for j in 0..4 {
                sum += v[3 + 4 * i + j] * v[i] * v[15 + j];
            }
        }
        sum
    };
    let f = of(&bilinear, 19, Variables::new().array("x", 3).array("A", 12).array("y", 4));
    assert_eq!(f.to_unicode(), "∑ᵢ₌₁³ xᵢ ∑ⱼ₌₁⁴ A₄ᵢ₊ⱼ₋₄ yⱼ");
    // Fewer than three terms are written out.
    let two = |x: &[Recorded]| x[0] * x[0] + x[1] * x[1];
    assert_eq!(of(&two, 2, Variables::new().array("x", 2)).to_unicode(), "x₁² + x₂²");
}

#[test]
fn factors_before_sums_over_an_index_are_kept() {
    let of = |inputs: usize, f: fn(&[Recorded]) -> Recorded| {
        let graph = record(&vec![0.5; inputs], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        Formula::of(&graph, Variables::new().array("x", inputs)).unwrap()
    };
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let check = |inputs, f, text: &str, value: f64| {
        let f = of(inputs, f);
        assert_eq!(f.to_string(), text);
        for f in [f.simplified(), f] {
            assert!((f.value_as_written(&x[..inputs]).unwrap() - value).abs() < 1e-14, "{f}");
        }
    };
    let linear = |x: &[Recorded]| 0.5 * (0.1 * x[0] + 0.1 * x[1] + 0.1 * x[2]) + x[3];
    check(4, linear, "x_4 + 0.05*sum(x_i, i = 1..3)", 4.3);
    let squares = |x: &[Recorded]| 0.1 * x[..3].iter().map(|x| 0.3 * x.powi(2)).sum::<Recorded>() + x[3].powi(2);
    check(4, squares, "0.1*0.3*sum(x_i^2, i = 1..3) + x_4^2", 16.42);
    let two = |x: &[Recorded]| {
        let sum = |x: &[Recorded]| 0.3 * x.iter().map(|x| 0.3 * *x).sum::<Recorded>();
        sum(&x[..3]) + sum(&x[3..])
    };
    check(6, two, "0.3*0.3*sum(x_i, i = 1..3) + 0.3*0.3*sum(x[i+3], i = 1..3)", 1.89);
    // The same without an index: a factor under two equal roots.
    let roots = |x: &[Recorded]| 3.0 * (2.0 * x[0] * x[0]).sqrt() * (2.0 * x[0] * x[0]).sqrt() + x[1];
    check(2, roots, "6*x_1^2 + x_2", 8.0);
}

#[test]
fn extreme_formulas_are_printed() {
    let of = |f: fn(&[Recorded]) -> Recorded| {
        let graph = record(&[0.5], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        Formula::of(&graph, Variables::of(["x"])).unwrap()
    };
    let text = |f: fn(&[Recorded]) -> Recorded| of(f).to_string();
    assert_eq!(text(|_| c(0.0)), "0");
    assert_eq!(text(|_| c(-2.5)), "-5/2");
    assert_eq!(of(|_| c(f64::INFINITY)).to_latex(), r"\infty");
    assert_eq!(of(|v| v[0] * 6.67e-11).to_latex(), r"6.67 \cdot 10^{-11} x");
    assert_eq!(of(|v| v[0] * std::f64::consts::TAU).to_unicode(), "2π x");
    assert_eq!(derivative(&of(|_| c(7.0)), "x").unwrap().to_string(), "0");
    assert_eq!(derivative(&of(|v| v[0]), "x").unwrap().to_string(), "1");
    assert_eq!(text(|v| -(v[0] + 1.0)), "-(x + 1)");
    assert_eq!(text(|v| (v[0] + 1.0) / (v[0] - 1.0)), "(x + 1)/(x - 1)");
    assert_eq!(text(|v| 1.0 / (2.0 * v[0])), "1/(2*x)");
    assert_eq!(text(|v| (v[0] * v[0]).exp().exp()), "exp(exp(x^2))");
    assert_eq!(text(|v| (-v[0]).powi(3)), "-x^3");
    assert_eq!(text(|v| v[0].powf(c(2.5))), "x^(5/2)");
    assert_eq!(text(|v| v[0].floor().abs()), "abs(floor(x))");
    assert_eq!(text(|v| v[0].max(c(2.0))), "max(x, 2)");
}

#[test]
fn two_inputs_of_one_name_are_refused() {
    let graph = record(&[1.0; 3], &[], Limits::default(), |x, _, y| y.push(x[0] * x[1] + x[2])).unwrap();
    let array = || Variables::new().array("x", 2);
    for variables in [
        Variables::of(["a", "a", "b"]),
        array().number("x_1"),
        array().counting_from(0).number("x_1"),
        Variables::new().number("x_2").array("x", 2),
        array().array("x", 1),
    ] {
        let error = Formula::of(&graph, variables).unwrap_err();
        assert!(error.to_string().contains("two inputs of the function the same name"), "{error}");
    }
    for variables in [array().number("x_3"), array().counting_from(0).number("x_2"), array().number("x")] {
        assert!(Formula::of(&graph, variables).is_ok());
    }
}

#[test]
fn what_has_no_formula_is_refused() {
    let graph = record(&[1.0, 2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[1])).unwrap();
    let error = Formula::of(&graph, Variables::of(["x"])).unwrap_err();
    assert!(error.to_string().contains("do not name each input"), "{error}");
    let f = Formula::of(&graph, Variables::of(["x", "y"])).unwrap();
    assert!(f.derivative("z").unwrap_err().to_string().contains("no variable of the formula"), "z");
    let graph = record(&[1.0], &[], Limits::default(), |x, _, y| y.extend([x[0], x[0]])).unwrap();
    assert_eq!(
        Formula::of(&graph, Variables::of(["x"])).unwrap_err().kind(),
        ErrorKind::OutputLength { expected: 1, found: 2 }
    );
    // x ← x x + x, thirty times: more than a billion parts.
    let graph = record(&[1.0], &[], Limits::default(), |x, _, y| y.push((0..30).fold(x[0], |x, _| x * x + x))).unwrap();
    let error = Formula::of(&graph, Variables::of(["x"])).unwrap_err();
    assert!(error.to_string().contains("more than 20 thousand parts"), "{error}");
    let deep = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push((0..10_000).fold(x[0], |x, _| x.sin()));
    let graph = record(&[1.0], &[], Limits::default(), deep).unwrap();
    let error = Formula::of(&graph, Variables::of(["x"])).unwrap_err();
    assert!(error.to_string().contains("more than 150 deep"), "{error}");
}

#[test]
fn long_sums_and_products_are_not_deep() {
    let sum = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push(x.iter().map(|x| x.sin() * *x).sum());
    let graph = record(&[1.0; 1000], &[], Limits::default(), sum).unwrap();
    let f = Formula::of(&graph, Variables::new().array("x", 1000)).unwrap();
    assert_eq!(f.to_unicode(), "∑ᵢ₌₁¹⁰⁰⁰ xᵢ sin xᵢ");
    assert_eq!(derivative(&f, "x_7").unwrap().to_unicode(), "x₇ cos x₇ + sin x₇");
    let product = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push((0..500).fold(x[0], |y, _| y * x[1]));
    let graph = record(&[1.0; 2], &[], Limits::default(), product).unwrap();
    assert_eq!(Formula::of(&graph, Variables::of(["x", "y"])).unwrap().to_string(), "x*y^500");
}

#[test]
fn what_cancels_is_a_condition() {
    let of = |names: &str, f: fn(&[Recorded]) -> Recorded| {
        let names: Vec<&str> = names.split(' ').collect();
        let graph = record(&vec![0.5; names.len()], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        Formula::of(&graph, Variables::of(names)).unwrap()
    };
    let slope = |names, f| derivative(&of(names, f), "x").unwrap().conditions();
    let none: [&str; 0] = [];
    assert_eq!(of("x", |v| v[0] * v[0] / v[0]).conditions(), ["x"]);
    assert_eq!(of("x y", |v| (v[0] + v[1]) * v[0] / (v[0] + v[1])).simplified().conditions(), ["x + y"]);
    assert_eq!(slope("x y", |v| (v[1] / v[0]).atan()), ["x"]);
    // ln x says itself that x is not zero, and so does the tangent of the cosine.
    assert_eq!(slope("x", |v| v[0] * v[0].ln()), none);
    assert_eq!(slope("x", |v| v[0].cos().ln()), none);
    assert_eq!(slope("x", |v| v[0].sin() / v[0]), none);
    assert_eq!(slope("x", |v| v[0].sqrt()), none);
    assert_eq!(slope("x y", |v| v[0] / v[0].hypot(v[1])), none);
    let reciprocals = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push(x.iter().map(|x| x.recip()).sum());
    let graph = record(&[1.0; 5], &[], Limits::default(), reciprocals).unwrap();
    let f = Formula::of(&graph, Variables::new().array("x", 5)).unwrap();
    assert_eq!((f.to_string(), f.conditions()), ("sum(1/x_i, i = 1..5)".to_string(), Vec::new()));
}
