//! Random programs over the whole rule table: the engines must agree with each other in every operator.

use crate::support::rule_table::{Apply, Argument};
use crate::support::same;
use differentiation_interface::prelude::*;
use differentiation_interface::rules;
use proptest::prelude::*;

/// One step of a program: which rule, and which earlier values it reads (modulo how many there are).
#[derive(Clone, Copy, Debug)]
enum Step {
    Unary { rule: usize, x: usize },
    Binary { rule: usize, x: usize, y: usize },
    PlainRight { rule: usize, x: usize, plain: f64 },
    PlainLeft { rule: usize, plain: f64, x: usize },
    Constant(f64),
}

/// A program: values are the inputs, then one per step; outputs are any of them, so subexpressions are shared.
#[derive(Clone, Debug)]
struct Program {
    inputs: usize,
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

impl Program {
    /// Runs the program. In a tame one every value goes through an arctangent, so that exponentials do not overflow after a
    /// few steps.
    fn run<T: Real>(&self, x: &[T], tame: bool) -> Vec<T> {
        let mut values = x.to_vec();
        values.push(T::constant(0.7));
        for step in &self.steps {
            let at = |i: usize| values[i % values.len()];
            let value = match *step {
                Step::Unary { rule, x } => Apply::unary(rule, at(x)),
                Step::Binary { rule, x, y } => Apply::binary(rule, at(x), Argument::Active(at(y))),
                Step::PlainRight { rule, x, plain } => Apply::binary(rule, at(x), Argument::Right(plain)),
                Step::PlainLeft { rule, plain, x } => Apply::binary(rule, at(x), Argument::Left(plain)),
                Step::Constant(c) => T::constant(c),
            };
            values.push(if tame { 2.0 * rules::atan(value) } else { value });
        }
        self.outputs.iter().map(|&i| values[i % values.len()]).collect()
    }
}

fn program() -> impl Strategy<Value = Program> {
    let index = 0usize..1000;
    let step = prop_oneof![
        4 => (index.clone(), index.clone()).prop_map(|(rule, x)| Step::Unary { rule, x }),
        6 => (index.clone(), index.clone(), index.clone()).prop_map(|(rule, x, y)| Step::Binary { rule, x, y }),
        1 => (index.clone(), index.clone(), -3.0..3.0).prop_map(|(rule, x, plain)| Step::PlainRight { rule, x, plain }),
        1 => (index.clone(), -3.0..3.0, index.clone()).prop_map(|(rule, plain, x)| Step::PlainLeft { rule, plain, x }),
        1 => (-3.0..3.0).prop_map(Step::Constant),
    ];
    (0usize..=20, prop::collection::vec(step, 0..25), prop::collection::vec(index, 0..=10))
        .prop_map(|(inputs, steps, outputs)| Program { inputs, steps, outputs })
}

/// Positive, negative or mixed inputs.
fn moderate() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(0.1..3.0, 20),
        prop::collection::vec(-3.0..-0.1, 20),
        prop::collection::vec(-3.0..3.0, 20),
    ]
}

fn extreme() -> impl Strategy<Value = Vec<f64>> {
    let entry = prop_oneof![
        -2.0..2.0,
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        Just(-1.0),
        Just(1e200),
        Just(-1e200),
        Just(1e-200),
        Just(-1e-200),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::NAN),
    ];
    prop::collection::vec(entry, 20)
}

fn directions() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0, 20)
}

/// Agreement of vectors relative to their largest entry, where both are finite.
fn agree(what: &str, a: &[f64], b: &[f64], scale: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.len(), b.len(), "{}", what);
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let close = same(*a, *b, 1e-9) || (a - b).abs() <= 1e-9 * scale;
        prop_assert!(close, "{}: entry {} is {:e} and {:e}", what, i, a, b);
    }
    Ok(())
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The least scale of derivatives of tame programs, whose values are below π: terms of order one that cancel (the derivative of
/// x^(1 / ln x) is zero) leave rounding errors in place of zeros, and the engines round otherwise.
const LEAST: f64 = 1e-4;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree_on_random_programs(
        program in program(), x in moderate(), dx in directions(), other in directions(), dy in directions(),
    ) {
        let (n, m) = (program.inputs, program.outputs.len());
        let (x, dx, other, dy) = (&x[..n], &dx[..n], &other[..n], &dy[..m]);
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        let (value, jac) = value_and_jacobian(&|x: &[_]| program.run(x, true), &forward, x).unwrap();
        let by_reverse = jacobian(&|x: &[_]| program.run(x, true), &reverse, x).unwrap();
        prop_assert_eq!(jac.size(), (m, n));
        prop_assert_eq!(by_reverse.size(), (m, n));
        agree("value", &value, &program.run(x, true), 0.0)?;
        // An undefined value (a root of a negative number) has no derivative to compare.
        prop_assume!(value.iter().chain(jac.as_slice()).chain(by_reverse.as_slice()).all(|v| v.is_finite()));
        let scale = largest(jac.as_slice()).max(LEAST);
        prop_assume!(scale < 1e100);
        agree("jacobian", jac.as_slice(), by_reverse.as_slice(), scale)?;

        // Both products, natively and by fallback, two at once.
        let pushed = pushforward(&|x: &[_]| program.run(x, true), &forward, x, [dx, other]).unwrap();
        let pushed_via_pullback = pushforward(&|x: &[_]| program.run(x, true), &reverse, x, [dx, other]).unwrap();
        let pulled = pullback(&|x: &[_]| program.run(x, true), &reverse, x, [dy, dy]).unwrap();
        let pulled_via_pushforward = pullback(&|x: &[_]| program.run(x, true), &forward, x, [dy, dy]).unwrap();
        for k in 0..2 {
            let exact: Vec<f64> =
                (0..m).map(|i| jac.row(i).iter().zip([dx, other][k]).map(|(a, b)| a * b).sum()).collect();
            agree("pushforward", &pushed[k], &exact, 20.0 * scale)?;
            agree("pushforward via pullback", &pushed_via_pullback[k], &exact, 20.0 * scale)?;
            let exact: Vec<f64> = (0..n).map(|j| (0..m).map(|i| jac[(i, j)] * dy[i]).sum()).collect();
            agree("pullback", &pulled[k], &exact, 20.0 * scale)?;
            agree("pullback via pushforward", &pulled_via_pushforward[k], &exact, 20.0 * scale)?;
        }
        let left: f64 = dy.iter().zip(&pushed[0]).map(|(a, b)| a * b).sum();
        let right: f64 = dx.iter().zip(&pulled[0]).map(|(a, b)| a * b).sum();
        agree("⟨dy, J·dx⟩ = ⟨Jᵀ·dy, dx⟩", &[left], &[right], 200.0 * scale)?;

        // The first output as a function of its own.
        if m > 0 {
            let first = gradient(&|x: &[_]| program.run(x, true)[0], &forward, x).unwrap();
            agree("gradient", &first, jac.row(0), scale)?;
            let first = gradient(&|x: &[_]| program.run(x, true)[0], &reverse, x).unwrap();
            agree("gradient", &first, jac.row(0), scale)?;
        }
    }

    #[test]
    fn chunks_do_not_change_derivatives_even_at_extreme_points(program in program(), x in extreme()) {
        let x = &x[..program.inputs];
        let wide = jacobian(&|x: &[_]| program.run(x, false), &AutoForwardDiff::default(), x).unwrap();
        let value = program.run(x, false);
        if !x.is_empty() {
            let narrow = jacobian(&|x: &[_]| program.run(x, false), &AutoForwardDiff::with_chunk::<1>(), x).unwrap();
            for (i, value) in value.iter().enumerate() {
                // Where the value is not a number, neither is a derivative that depends on it.
                if !value.is_nan() {
                    agree("jacobian by lanes", wide.row(i), narrow.row(i), 0.0)?;
                }
            }
        }
        let reverse = jacobian(&|x: &[_]| program.run(x, false), &AutoReverseDiff::default(), x).unwrap();
        for (a, b) in wide.as_slice().iter().zip(reverse.as_slice()) {
            // In an intermediate 0 · ∞ or ∞ - ∞ the order of the chain rule decides; otherwise the engines agree.
            if a.is_finite() && b.is_finite() && a.abs().max(b.abs()) < 1e100 {
                prop_assert!(same(*a, *b, 1e-6) || (a - b).abs() < 1e-9 * largest(&value).max(1.0), "{:e} and {:e}", a, b);
            }
        }
    }

    #[test]
    fn second_derivatives_of_random_programs_are_symmetric_and_agree(program in program(), x in moderate()) {
        let n = program.inputs.min(4);
        let program = Program { inputs: n, ..program };
        prop_assume!(!program.outputs.is_empty());
        let x = &x[..n];
        let (forward, reverse) = (AutoForwardDiff::with_chunk::<1>(), AutoReverseDiff::default());
        let over_reverse = |x: &[_]| gradient(&|x: &[_]| program.run(x, true)[0], &reverse, x).unwrap();
        let over_forward = |x: &[_]| gradient(&|x: &[_]| program.run(x, true)[0], &forward, x).unwrap();
        let hess = jacobian(&over_reverse, &forward, x).unwrap();
        let other = jacobian(&over_forward, &reverse, x).unwrap();
        prop_assume!(hess.as_slice().iter().chain(other.as_slice()).all(|v| v.abs() < 1e50));
        let grad = gradient(&|x: &[_]| program.run(x, true)[0], &reverse, x).unwrap();
        let scale = largest(hess.as_slice()).max(largest(&grad)).max(LEAST);
        agree("hessian", hess.as_slice(), other.as_slice(), scale)?;
        agree("transposed hessian", &hess.to_column_major(), hess.as_slice(), scale)?;
    }
}
