//! Every rule against coefficients in arbitrary precision (`.ci/accuracy/taylor.py`), and the operations that it costs.

use super::{Polynomial, PolynomialCore, Series, SeriesCore, arena};
use crate::prelude::*;
use differentiation_interface_core::identity::Identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::rules::{Binary, RuleVisitor, Unary, each_binary, each_unary};
use differentiation_interface_core::rules::{Polygamma, Powc, Powi};
use differentiation_interface_core::scalar::{Core, Num};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

const REFERENCE: &str = include_str!("reference.txt");
const ORDER: usize = 12;

/// A curve, in powers of t.
type Curve = [f64; ORDER + 1];

fn along_x(x: f64) -> Curve {
    let mut curve = [0.0; ORDER + 1];
    curve[..4].copy_from_slice(&[x, 1.0, -0.25, 0.125]);
    curve
}

fn along_y(y: f64) -> Curve {
    let mut curve = [0.0; ORDER + 1];
    curve[..3].copy_from_slice(&[y, 0.5, 0.25]);
    curve
}

/// The curve by arithmetic with the variable t.
fn on<T: Real>(curve: &Curve, t: T) -> T {
    (1..=3).rev().fold(T::default(), |sum, k| (sum + T::constant(curve[k])) * t) + T::constant(curve[0])
}

/// The lines of the reference for one rule.
fn lines(name: &str, arguments: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let of = REFERENCE.lines().filter(|line| line.split(' ').next() == Some(name));
    of.map(|line| {
        let numbers: Vec<f64> = line.split(' ').skip(1).map(|number| number.parse().expect("a number")).collect();
        assert_eq!(numbers.len(), arguments + ORDER + 1, "{line}");
        (numbers[..arguments].to_vec(), numbers[arguments..].to_vec())
    })
    .collect()
}

/// Compares coefficient by coefficient, each with the scale of the coefficients around it: those of a curve may cancel.
fn compare(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        let scale = (k.saturating_sub(2)..=(k + 2).min(ORDER)).map(|k| expected[k].abs()).fold(0.0, f64::max);
        assert!((f - e).abs() <= tolerance * scale + 1e-300, "{what}: coefficient {k} is {f:e}, expected {e:e}");
    }
}

fn key<R: Unary>(rule: R) -> String {
    let any = &rule as &dyn std::any::Any;
    match (any.downcast_ref::<Powi>(), any.downcast_ref::<Powc>(), any.downcast_ref::<Polygamma>()) {
        (Some(Powi(n)), _, _) => format!("powi{n}"),
        (_, Some(Powc(c)), _) => format!("powc{c}"),
        (_, _, Some(Polygamma(n))) => format!("polygamma{n}"),
        _ => R::NAME.to_string(),
    }
}

/// Rules whose derivatives are constant wherever they exist, and those that nothing else depends on.
const CONSTANT: [&str; 18] = [
    "abs",
    "signum",
    "floor",
    "ceil",
    "round",
    "trunc",
    "fract",
    "to_degrees",
    "to_radians",
    "rem",
    "max",
    "min",
    "at_least",
    "at_most",
    "copysign",
    "abs_sub",
    "together",
    "odd_sum",
];
const ERRORS: [&str; 2] = ["product_error", "sum_error"];

/// Checks every rule on a number type, whose coefficients `read` extracts from t.
struct Accuracy<T, G> {
    t: T,
    read: G,
    seen: BTreeSet<String>,
    missing: Vec<String>,
}

impl<T: Real, G: Fn(T) -> Vec<f64>> Accuracy<T, G> {
    fn note(&mut self, name: &str, lines: usize) {
        let simple = name.starts_with("powi") || name.starts_with("powc");
        if lines == 0 && !simple && !CONSTANT.contains(&name) && !ERRORS.contains(&name) {
            self.missing.push(name.to_string());
        }
        self.seen.insert(name.to_string());
    }
}

impl<T: Real, G: Fn(T) -> Vec<f64>> RuleVisitor for Accuracy<T, G> {
    fn unary<R: Unary>(&mut self, rule: R) {
        let name = key(rule);
        let lines = lines(&name, 1);
        self.note(&name, lines.len());
        for (at, expected) in lines {
            let found = (self.read)(on(&along_x(at[0]), self.t).apply(rule));
            compare(&format!("{name} at {}", at[0]), &found, &expected, 4e-13);
        }
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        let lines = lines(R::NAME, 2);
        self.note(R::NAME, lines.len());
        for (at, expected) in lines {
            let (x, y) = (on(&along_x(at[0]), self.t), on(&along_y(at[1]), self.t));
            let found = (self.read)(x.apply2(y, rule));
            compare(&format!("{} at {at:?}", R::NAME), &found, &expected, 4e-13);
        }
    }
}

fn check_all<T: Real, G: Fn(T) -> Vec<f64>>(t: T, read: G) {
    let mut accuracy = Accuracy { t, read, seen: BTreeSet::new(), missing: Vec::new() };
    each_unary(&mut accuracy);
    each_binary(&mut accuracy);
    accuracy.unary(Powi(20));
    assert_eq!(accuracy.missing, Vec::<String>::new(), "rules without a line in the reference");
    let unknown =
        REFERENCE.lines().filter_map(|line| line.split(' ').next()).find(|name| !accuracy.seen.contains(*name));
    assert_eq!(unknown, Some("w8"), "a line of the reference is for no rule");
}

#[test]
fn every_rule_is_right_to_order_12() {
    let level = Identity::begin();
    let t: Series<f64, ORDER> = SeriesCore::line(0.0, 1.0, level.id());
    check_all(t, |y: Series<f64, ORDER>| (0..=ORDER).map(|k| y.0.coefficient(k)).collect());
}

#[test]
fn every_rule_is_right_in_several_variables() {
    // t = a + b in two variables: the coefficient of aᵖ bᵏ⁻ᵖ is that of tᵏ times k over p.
    let level = Identity::begin();
    let monomials = Arc::new(Monomials::to_order(2, ORDER).expect("small"));
    let open = arena::Open::<f64>::new(level.id(), &monomials);
    let variable = |i| PolynomialCore::variable(0.0, i, level.id(), &open.arena);
    let t: Polynomial<f64> = variable(0) + variable(1);
    check_all(t, |y: Polynomial<f64>| {
        let mut all = Vec::new();
        y.0.coefficients(&open.arena, |number| *number, &mut all);
        (0..=ORDER)
            .map(|k| {
                let binomial = |p: usize| (0..p).fold(1.0, |b, i| b * (k - i) as f64 / (i + 1) as f64);
                let values: Vec<f64> =
                    monomials.part(k).map(|place| all[place] / binomial(monomials.exponents(place)[0])).collect();
                let spread = values.iter().map(|v| (v - values[0]).abs()).fold(0.0, f64::max);
                let scale = all.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                assert!(spread <= 1e-12 * scale, "part {k} is not symmetric: {values:?}");
                values[0]
            })
            .collect()
    });
}

#[test]
fn every_coefficient_of_the_composite_function_is_right() {
    fn composite<T: Real>(x: T) -> T {
        x.sin().exp() * (1.0 + x * x).ln() / (2.0 + (3.0 * x).cos())
    }
    let mut worst = 0.0f64;
    for (at, expected) in lines("w8", 1) {
        let found = taylor_coefficients(&composite, &AutoTaylor, at[0], Order::<ORDER>).expect("differentiable");
        for (k, (f, e)) in found.iter().zip(&expected).enumerate() {
            let error = if *e == 0.0 { f.abs() } else { (f / e - 1.0).abs() };
            worst = worst.max(error);
            assert!(error <= 1e-13, "at {}: coefficient {k} is {f:e}, expected {e:e}", at[0]);
        }
    }
    println!("largest relative error of 3 points, orders 0 to 12: {worst:.1e}");
}

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// A plain number that counts the operations on it.
#[derive(Clone, Copy, Debug)]
struct Counted(f64);

fn count(value: f64) -> Counted {
    OPERATIONS.set(OPERATIONS.get() + 1);
    Counted(value)
}

impl Core for Counted {
    type Base = f64;
    const DEPTH: u32 = 1;
    fn constant(value: f64) -> Self {
        Counted(value)
    }
    fn primal(&self) -> f64 {
        self.0
    }
    fn is_constant(&self) -> bool {
        true
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        count(rule.value(self.0))
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        count(rule.value(self.0, other.0))
    }
    fn binary_right<R: Binary>(self, other: f64, rule: R) -> Self {
        count(rule.value(self.0, other))
    }
    fn binary_left<R: Binary>(first: f64, second: Self, rule: R) -> Self {
        count(rule.value(first, second.0))
    }
}

/// The operations of every rule to the order `N`.
struct Operations<const N: usize>(Vec<(String, u64)>);

impl<const N: usize> Operations<N> {
    fn curve(x: f64) -> Series<Num<Counted>, N> {
        let level = differentiation_interface_core::identity::UNNAMED;
        let t: Series<Num<Counted>, N> = SeriesCore::line(Num(Counted(0.0)), Num(Counted(1.0)), level);
        on(&along_x(x), t)
    }
    fn measure(&mut self, name: String, run: impl FnOnce() -> Series<Num<Counted>, N>) {
        OPERATIONS.set(0);
        let y = run();
        assert!(y.primal().is_finite(), "{name}");
        self.0.push((name, OPERATIONS.get()));
    }
}

impl<const N: usize> RuleVisitor for Operations<N> {
    fn unary<R: Unary>(&mut self, rule: R) {
        for at in [0.75, 1.5, -0.75, -20.25] {
            let x = Self::curve(at);
            if rule.value(at).is_finite() {
                self.measure(format!("{} at {at}", key(rule)), || x.apply(rule));
            }
        }
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        for (at, other) in [(0.75, 1.5), (-0.75, 2.0), (2.0, -3.5)] {
            let (x, y) = (Self::curve(at), Self::curve(other));
            if rule.value(at, other).is_finite() {
                self.measure(format!("{} at {at}, {other}", R::NAME), || x.apply2(y, rule));
                self.measure(format!("{} at {at}, constant {other}", R::NAME), || x.apply2_right(other, rule));
                self.measure(format!("{} at constant {at}, {other}", R::NAME), || {
                    Series::<Num<Counted>, N>::apply2_left(at, y, rule)
                });
            }
        }
    }
}

fn operations<const N: usize>() -> Vec<(String, u64)> {
    let mut operations = Operations::<N>(Vec::new());
    each_unary(&mut operations);
    each_binary(&mut operations);
    operations.unary(Powi(20));
    operations.0
}

#[test]
fn the_cost_of_every_rule_is_at_most_quadratic() {
    let orders = [4.0f64, 6.0, 8.0, 12.0, 16.0, 24.0];
    let costs = [
        operations::<4>(),
        operations::<6>(),
        operations::<8>(),
        operations::<12>(),
        operations::<16>(),
        operations::<24>(),
    ];
    assert!(costs[0].len() > 150);
    let mut worst = (0.0, "");
    for (i, (name, first)) in costs[0].iter().enumerate() {
        for (j, cost) in costs.iter().enumerate() {
            assert_eq!(&cost[i].0, name);
            for (k, lower) in costs[..j].iter().enumerate() {
                // A polynomial a + b N + c N² with coefficients that are not negative grows by no more than (N/M)².
                let growth = cost[i].1 as f64 / lower[i].1.max(1) as f64;
                let quadratic = (orders[j] / orders[k]).powi(2);
                let allowed = 1.1 * quadratic;
                assert!(
                    growth <= allowed,
                    "{name}: {} operations at order {}, {} at {}",
                    cost[i].1,
                    orders[j],
                    lower[i].1,
                    orders[k]
                );
            }
        }
        let per_product = costs[5][i].1 as f64 / (24.0 * 25.0);
        if per_product > worst.0 {
            worst = (per_product, name);
        }
        let _ = first;
    }
    println!("{} cases; the most at order 24: {:.0} products of series, by {}", costs[0].len(), worst.0, worst.1);
}
