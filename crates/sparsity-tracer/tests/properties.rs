//! No entry is ever missing: patterns against dense derivatives by forward mode, at points of every sign.

use differentiation_interface::prelude::*;
use differentiation_interface::sparse::GraphSparsityDetector;
use differentiation_interface_core::rules::{Binary, RuleVisitor, Unary, each_binary, each_unary};
use sparsity_tracer::{
    Pattern, TracerLocalSparsityDetector, TracerSparsityDetector, hessian_sparsity, jacobian_sparsity,
};

/// A linear congruential generator, so that tests repeat.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
    /// A coordinate: of either sign, and sometimes 0 or one that ties.
    fn coordinate(&mut self) -> f64 {
        match self.below(12) {
            0 => 0.0,
            1 => 1.0,
            2 => -1.0,
            _ => (self.below(2001) as f64 - 1000.0) / [250.0, 1000.0, 3000.0][self.below(3)],
        }
    }
    fn point(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.coordinate()).collect()
    }
}

/// Every entry of `matrix` that is certainly not zero is in `pattern`.
fn assert_covers(what: &str, pattern: &Pattern, matrix: &Matrix<f64>, x: &[f64]) {
    for i in 0..pattern.nrows() {
        for j in 0..pattern.ncols() {
            let value = matrix[(i, j)];
            assert!(
                value == 0.0 || value.is_nan() || pattern.contains(i, j),
                "{what}: entry ({i}, {j}) is {value} at {x:?} and missing in the pattern"
            );
        }
    }
}

fn is_subset(small: &Pattern, large: &Pattern) -> bool {
    small.entries().all(|(i, j)| large.contains(i, j))
}

/// Checks the four patterns of `f`, whose output `k` is summed for the Hessian.
macro_rules! check {
    ($what:expr, $f:expr, $n:expr, $points:expr) => {{
        let (what, f, n): (&str, _, usize) = ($what, $f, $n);
        let total = Total(&f);
        let points: Vec<Vec<f64>> = $points;
        let everywhere = jacobian_sparsity(&f, &TracerSparsityDetector, &vec![0.0; n]).unwrap();
        let curved = hessian_sparsity(&total, &TracerSparsityDetector, &vec![0.0; n]).unwrap();
        // A recording has the same patterns, except for what it knows of exponents.
        let recorded = jacobian_sparsity(&f, &GraphSparsityDetector, &points[0]).unwrap();
        assert!(recorded == everywhere || what == "Powf" && is_subset(&recorded, &everywhere), "{what}: {recorded:?}");
        let recorded = hessian_sparsity(&total, &GraphSparsityDetector, &points[0]).unwrap();
        assert!(recorded == curved || what == "Powf" && is_subset(&recorded, &curved), "{what}: {recorded:?}");
        for x in &points {
            let jac = jacobian(&f, &AutoForwardDiff::default(), x).unwrap();
            let hess = hessian(&total, &AutoForwardDiff::default(), x).unwrap();
            assert_covers(what, &everywhere, &jac, x);
            assert_covers(what, &curved, &hess, x);
            let here = jacobian_sparsity(&f, &TracerLocalSparsityDetector, x).unwrap();
            assert_covers(what, &here, &jac, x);
            assert!(is_subset(&here, &everywhere), "{what} at {x:?}");
            let here = hessian_sparsity(&total, &TracerLocalSparsityDetector, x).unwrap();
            assert_covers(what, &here, &hess, x);
            assert!(is_subset(&here, &curved), "{what} at {x:?}: {here:?} {curved:?}");
        }
    }};
}

/// The sum of the outputs.
struct Total<'a, F>(&'a F);

impl<T: Real, F: Function<[T], Output = Vec<T>>> Function<[T]> for Total<'_, F> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.call(x).into_iter().sum()
    }
}

struct Rule1<R>(R);
struct Rule2<R>(R);

impl<T: Real, R: Unary> Function<[T]> for Rule1<R> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let once = x[0].apply(self.0);
        vec![once, (x[0] * x[1]).apply(self.0), once * x[2], (x[1] - x[2]).apply(self.0)]
    }
}

impl<T: Real, R: Binary> Function<[T]> for Rule2<R> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let once = x[0].apply2(x[1], self.0);
        vec![
            once,
            (x[0] * x[2]).apply2(x[1] + x[2], self.0),
            x[1].apply2_right(1.5, self.0),
            T::apply2_left(-0.5, x[2], self.0),
            x[2].apply2(x[2], self.0),
            once.apply2(x[2], self.0),
            x[0].apply2_right(0.0, self.0),
            T::apply2_left(1e12, x[1], self.0) + x[0].apply2_right(1e12, self.0),
        ]
    }
}

struct EveryRule(usize);

impl RuleVisitor for EveryRule {
    fn unary<R: Unary>(&mut self, rule: R) {
        self.0 += 1;
        let mut draw = Draw(self.0 as u64);
        check!(&format!("{rule:?}"), Rule1(rule), 3, (0..60).map(|_| draw.point(3)).collect());
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        self.0 += 1;
        let mut draw = Draw(self.0 as u64);
        check!(&format!("{rule:?}"), Rule2(rule), 3, (0..150).map(|_| draw.point(3)).collect());
    }
}

#[test]
fn every_rule_is_covered_by_its_pattern() {
    let mut rules = EveryRule(0);
    each_unary(&mut rules);
    each_binary(&mut rules);
    assert!(rules.0 > 60);
}

/// A random straight-line program.
#[derive(Clone, Debug)]
struct Program {
    steps: Vec<(usize, usize, usize, usize)>,
    outputs: usize,
}

const OPERATIONS: usize = 26;

impl<T: Real> Function<[T]> for Program {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let mut v = x.to_vec();
        for &(operation, a, b, k) in &self.steps {
            let (a, b, k) = (v[a % v.len()], v[b % v.len()], v[k % v.len()]);
            v.push(match operation {
                0 | 1 => a + b,
                2 => a - b,
                3 | 4 => a * b,
                5 => a / b,
                6 => a.max(b),
                7 => a.min(b),
                8 => a % b,
                9 => a.hypot(b),
                10 => a.atan2(b),
                11 => a.sin(),
                12 => a.exp(),
                13 => a.powi(2),
                14 => a.powi(3),
                15 => num_traits::Float::abs(a),
                16 => a.floor() * b,
                17 => a.less_than(b).select(k, a),
                18 => 2.5 * a - 1.0,
                19 => a * 0.0,
                20 => num_traits::Float::clamp(a, b, k),
                21 => a.copysign(b),
                22 => a.tanh(),
                23 => a.recip(),
                24 => T::zero() * a + 1.0,
                _ => a.mul_add(b, k),
            });
        }
        v.split_off(v.len() - self.outputs)
    }
}

#[test]
fn random_programs_are_covered_by_their_patterns() {
    let mut draw = Draw(2024);
    for round in 0..300 {
        let n = 1 + draw.below(6);
        let steps = (0..4 + draw.below(40))
            .map(|_| (draw.below(OPERATIONS), draw.below(1 << 20), draw.below(1 << 20), draw.below(1 << 20)))
            .collect();
        let program = Program { steps, outputs: 4 };
        let points = (0..12).map(|_| draw.point(n)).collect();
        check!(&format!("round {round}, {program:?}"), program.clone(), n, points);
    }
}

#[test]
fn deep_programs_over_few_inputs_are_covered() {
    let mut draw = Draw(7);
    for _ in 0..10 {
        let n = 12;
        let steps = (0..600)
            .map(|k| {
                ([0, 1, 2, 3, 11, 22, 6][draw.below(7)], k + draw.below(n), k + draw.below(n), draw.below(1 << 20))
            })
            .collect();
        let program = Program { steps, outputs: 20 };
        check!("deep program", program.clone(), n, (0..4).map(|_| draw.point(n)).collect());
    }
}
