//! Random programs: straight lines, loops, branches; compiled derivatives beside forward mode, on both sides of branches.

use compiled_trace::{Limits, RunError, compile, record};
use differentiation_interface::prelude::*;
use proptest::prelude::*;

/// How an operand is found among the values so far.
#[derive(Clone, Copy, Debug)]
enum Pick {
    /// An input that advances with the iteration.
    Input { start: usize, stride: usize },
    /// So many values back.
    Back(usize),
    /// Anywhere, by a rule without pattern.
    Scattered(usize),
    /// Always the same value.
    Fixed(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Apply { op: usize, a: Pick, b: Pick },
    Sum { op: usize, a: Pick, b: Pick, trip: usize },
    Branch { a: Pick, b: Pick },
    Repeat { trip: usize, body: Vec<Step> },
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        (0usize..6, 1usize..3).prop_map(|(start, stride)| Pick::Input { start, stride }),
        (1usize..5).prop_map(Pick::Back),
        (0usize..50).prop_map(Pick::Scattered),
        (0usize..6).prop_map(Pick::Fixed),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        6 => (0usize..9, pick(), pick()).prop_map(|(op, a, b)| Step::Apply { op, a, b }),
        1 => (0usize..9, pick(), pick(), 5usize..40).prop_map(|(op, a, b, trip)| Step::Sum { op, a, b, trip }),
        1 => (pick(), pick()).prop_map(|(a, b)| Step::Branch { a, b }),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        (2usize..14, prop::collection::vec(inner, 1..5)).prop_map(|(trip, body)| Step::Repeat { trip, body })
    })
}

fn apply<T: Real>(op: usize, a: T, b: T) -> T {
    match op {
        0 => 0.7 * a + b,
        1 => a - 0.3 * b,
        2 => a * b / (1.0 + b * b),
        3 => (a * 0.5).sin(),
        4 => a.max(b),
        5 => a / (1.5 + b * b),
        6 => (a * b).tanh(),
        7 => a.less_than(b).select(a * 0.25, b.cos()),
        _ => (a * a + 0.5).sqrt() - b * 0.1,
    }
}

fn run<T: Real>(steps: &[Step], i: usize, x: &[T], values: &mut Vec<T>) {
    for step in steps {
        let get = |pick: Pick, i: usize, values: &[T]| match pick {
            Pick::Input { start, stride } => x[(start + stride * i) % x.len()],
            Pick::Back(back) => values[values.len() - back.min(values.len())],
            Pick::Scattered(seed) => values[(seed + i * i * 7 + i * seed) % values.len()],
            Pick::Fixed(place) => values[place % values.len()],
        };
        match step {
            Step::Apply { op, a, b } => {
                let value = apply(*op, get(*a, i, values), get(*b, i, values));
                values.push(value);
            }
            Step::Sum { op, a, b, trip } => {
                let mut sum = T::constant(0.0);
                for k in 0..*trip {
                    sum += apply(*op, get(*a, k, values), get(*b, i, values));
                }
                // Not the mean, which is as large as the terms up to rounding if they are equal: a tie that branches see.
                values.push(sum * (0.83 / *trip as f64));
            }
            Step::Branch { a, b } => {
                let (a, b) = (get(*a, i, values), get(*b, i, values));
                values.push(if a > b { a * b } else { a + 0.5 });
            }
            Step::Repeat { trip, body } => (0..*trip).for_each(|i| run(body, i, x, values)),
        }
    }
}

fn function<T: Real>(steps: &[Step], x: &[T]) -> Vec<T> {
    let mut values = x.to_vec();
    run(steps, 0, x, &mut values);
    let total: T = values.iter().enumerate().map(|(i, v)| *v * (0.5 + (i % 3) as f64)).sum();
    vec![total / values.len() as f64, values[values.len() - 1], values[values.len() / 2]]
}

const WEIGHTS: [f64; 3] = [1.0, -0.5, 0.25];

fn close(what: &str, found: &[f64], expected: &[f64]) -> Result<(), TestCaseError> {
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        prop_assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{} {}: {}, expected {}", what, i, a, b);
    }
    Ok(())
}

fn check(steps: &[Step], x0: &[f64], points: &[Vec<f64>]) -> Result<(), TestCaseError> {
    let compiled = |x: &[f64]| {
        let graph = record(x, &[], Limits::default(), |x, _, y| y.extend(function(steps, x))).unwrap();
        let program = compile(&graph).unwrap();
        let adjoint = program.adjoint(1).unwrap();
        let product = adjoint.tangent(1).unwrap();
        (program.tangent(2).unwrap().executable(), adjoint.executable(), product.executable())
    };
    let mut programs = compiled(x0);
    for x in points {
        let n = x.len();
        let direction: Vec<f64> = (0..n).map(|i| 0.4 - 0.15 * i as f64).collect();
        let other: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        let mut hv = vec![f64::NAN; n];
        let (mut y, mut grad, mut dy) = ([f64::NAN; 3], vec![f64::NAN; n], [f64::NAN; 3]);
        for attempt in 0.. {
            let inputs: &[&[f64]] = &[x, &[], &WEIGHTS, &direction];
            let outputs = &mut [&mut y[..], &mut grad, &mut dy, &mut hv];
            match programs.2.run(&mut programs.2.workspace(), inputs, outputs) {
                Ok(()) => break,
                Err(RunError::Guard(_)) if attempt == 0 => programs = compiled(x),
                Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
            }
        }
        let value = function(steps, x);
        close("value", &y, &value)?;
        let weighted = |x: &[_]| {
            let y = function(steps, x);
            y[0] * WEIGHTS[0] + y[1] * WEIGHTS[1] + y[2] * WEIGHTS[2]
        };
        let expected = gradient(&weighted, &AutoForwardDiff::default(), x).unwrap();
        close("gradient with product", &grad, &expected)?;
        let weighted = |x: &[_]| {
            let y = function(steps, x);
            y[0] * WEIGHTS[0] + y[1] * WEIGHTS[1] + y[2] * WEIGHTS[2]
        };
        let expected_hv = hvp(&weighted, &AutoForwardDiff::default(), x, [&direction]).unwrap();
        close("product", &hv, &expected_hv[0])?;
        grad.fill(f64::NAN);
        programs.1.run(&mut programs.1.workspace(), &[x, &[], &WEIGHTS], &mut [&mut y, &mut grad]).unwrap();
        close("gradient", &grad, &expected)?;
        let (mut first, mut second) = ([f64::NAN; 3], [f64::NAN; 3]);
        let outputs = &mut [&mut y[..], &mut first, &mut second];
        programs.0.run(&mut programs.0.workspace(), &[x, &[], &direction, &other], outputs).unwrap();
        for (dx, dy) in [(&direction, first), (&other, second)] {
            let expected = pushforward(&|x: &[_]| function(steps, x), &AutoForwardDiff::default(), x, [dx]).unwrap();
            close("tangent", &dy, &expected[0])?;
        }
    }
    Ok(())
}

/// Six numbers in (-1.2, 1.2) without ties.
fn point(seed: u64) -> Vec<f64> {
    (0..6).map(|i| 1.2 * (1.0 + seed as f64 * 12.9898 + i as f64 * 78.233).sin()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 12 } else { 120 }, ..ProptestConfig::default() })]
    #[test]
    fn compiled_derivatives_agree_with_forward_mode(
        steps in prop::collection::vec(step(), 1..6),
        seeds in (0u64..1000, 1000u64..2000),
    ) {
        let (x, y) = (point(seeds.0), point(seeds.1));
        let near: Vec<f64> = x.iter().map(|v| v + 1e-3).collect();
        if let Err(error) = check(&steps, &x, &[x.clone(), near, y]) {
            let graph = record(&x, &[], Limits::default(), |x, _, y| y.extend(function(&steps, x))).unwrap();
            let program = compile(&graph).unwrap();
            return Err(TestCaseError::fail(format!("{error}\n{steps:?}\n{graph}\n{program}\nADJOINT\n{}", program.adjoint(1).unwrap())));
        }
    }
}
