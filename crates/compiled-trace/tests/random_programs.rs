//! Random programs: straight lines, nested and triangular loops, recurrences, reductions, gathers, remainders, parameters, branches,
//! loops that end by value, searches in tables; compiled derivatives beside forward mode, on both sides of branches and with other parameters.

use compiled_trace::{Executable, Graph, Limits, RunError, compile, record};
use differentiation_interface::prelude::*;
use proptest::prelude::*;

/// How an operand is chosen among the values so far.
#[derive(Clone, Copy, Debug)]
enum Pick {
    /// An input that advances with the iteration.
    Input { start: usize, stride: usize },
    /// The value this many places back.
    Back(usize),
    /// Any value, by a rule without pattern.
    Scattered(usize),
    /// Always the same value.
    Fixed(usize),
    /// An input by the remainder of the iteration.
    Remainder { stride: usize, modulus: usize },
    /// An input by a rule without pattern.
    Gathered(usize),
    /// A parameter that advances with the iteration.
    Parameter { start: usize, stride: usize },
}

#[derive(Clone, Debug)]
enum Step {
    Apply {
        op: usize,
        a: Pick,
        b: Pick,
    },
    Sum {
        op: usize,
        a: Pick,
        b: Pick,
        trip: usize,
    },
    /// Rows of a triangle: a reduction for every row, with as many terms as rows follow.
    Triangle {
        op: usize,
        a: Pick,
        b: Pick,
        rows: usize,
    },
    /// A recurrence, every state of which is a value.
    Recurrence {
        op: usize,
        b: Pick,
        trip: usize,
    },
    Branch {
        a: Pick,
        b: Pick,
    },
    /// A loop for every element that ends by value: every element has its own number of iterations. The last states are
    /// added, or are values.
    Elements {
        op: usize,
        a: Pick,
        b: Pick,
        elements: usize,
        added: bool,
    },
    /// Interpolation in a table, the place found by bisection.
    Search {
        a: Pick,
    },
    Repeat {
        trip: usize,
        body: Vec<Step>,
    },
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![
        (0usize..6, 1usize..3).prop_map(|(start, stride)| Pick::Input { start, stride }),
        (1usize..5).prop_map(Pick::Back),
        (0usize..50).prop_map(Pick::Scattered),
        (0usize..6).prop_map(Pick::Fixed),
        (1usize..3, 2usize..6).prop_map(|(stride, modulus)| Pick::Remainder { stride, modulus }),
        (0usize..50).prop_map(Pick::Gathered),
        (0usize..6, 0usize..2).prop_map(|(start, stride)| Pick::Parameter { start, stride }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        6 => (0usize..9, pick(), pick()).prop_map(|(op, a, b)| Step::Apply { op, a, b }),
        1 => (0usize..9, pick(), pick(), 5usize..40).prop_map(|(op, a, b, trip)| Step::Sum { op, a, b, trip }),
        1 => (0usize..9, pick(), pick(), 2usize..13).prop_map(|(op, a, b, rows)| Step::Triangle { op, a, b, rows }),
        1 => (0usize..9, pick(), 2usize..30).prop_map(|(op, b, trip)| Step::Recurrence { op, b, trip }),
        1 => (pick(), pick()).prop_map(|(a, b)| Step::Branch { a, b }),
        1 => (0usize..9, pick(), pick(), 8usize..40, any::<bool>())
            .prop_map(|(op, a, b, elements, added)| Step::Elements { op, a, b, elements, added }),
        1 => pick().prop_map(|a| Step::Search { a }),
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

fn run<T: Real>(steps: &[Step], i: usize, x: &[T], p: &[T], values: &mut Vec<T>) {
    for step in steps {
        let get = |pick: Pick, i: usize, values: &[T]| match pick {
            Pick::Input { start, stride } => x[(start + stride * i) % x.len()],
            Pick::Back(back) => values[values.len() - back.min(values.len())],
            Pick::Scattered(seed) => values[(seed + i * i * 7 + i * seed) % values.len()],
            Pick::Fixed(place) => values[place % values.len()],
            Pick::Remainder { stride, modulus } => x[stride * i % modulus % x.len()],
            Pick::Gathered(seed) => x[(seed + i * i * 5 + i * i * i) % x.len()],
            Pick::Parameter { start, stride } => p[(start + stride * i) % p.len()],
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
                // Not the mean, which is as large as the terms up to rounding if they are equal: a tie on which branches depend.
                values.push(sum * (0.83 / *trip as f64));
            }
            Step::Triangle { op, a, b, rows } => {
                let mut sums = vec![T::constant(0.1); *rows];
                for column in 0..*rows {
                    for (row, sum) in sums.iter_mut().enumerate().skip(column + 1) {
                        *sum += apply(*op, get(*a, row, values), get(*b, column, values)) * 0.1;
                    }
                }
                values.extend(sums);
            }
            Step::Recurrence { op, b, trip } => {
                let mut state = values[values.len() - 1];
                for k in 0..*trip {
                    state = apply(*op, state, get(*b, k, values));
                    values.push(state);
                }
            }
            Step::Branch { a, b } => {
                let (a, b) = (get(*a, i, values), get(*b, i, values));
                // Equal sums in different orders would be a tie.
                values.push(if a > b * 1.0137 + 0.0071 { a * b } else { a + 0.5 });
            }
            Step::Elements { op, a, b, elements, added } => {
                let mut sum = T::constant(0.0);
                for k in 0..*elements {
                    let start = get(*a, k, values) + 0.1 * x[k % x.len()];
                    // Halved, so that states that depend on the previous one do not grow over the elements.
                    let mut state = start;
                    for _ in 0..5 {
                        state = apply(*op, state, get(*b, i, values)) * 0.5 + 0.03 * start;
                        if state.abs() < 0.3317 {
                            break;
                        }
                    }
                    if *added {
                        sum += state;
                    } else {
                        values.push(state);
                    }
                }
                if *added {
                    values.push(sum * (0.83 / *elements as f64));
                }
            }
            Step::Search { a } => {
                let a = get(*a, i, values);
                let place = |k: usize| -1.5071 + 0.2113 * k as f64;
                let (mut low, mut high) = (0, 16);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    *(if a < place(middle) { &mut high } else { &mut low }) = middle;
                }
                values.push((a - place(low)) * (0.5 - 0.1 * (low % 7) as f64) + 0.1 * (low % 3) as f64);
            }
            Step::Repeat { trip, body } => (0..*trip).for_each(|i| run(body, i, x, p, values)),
        }
    }
}

/// A mean of all values, and two ranges of values.
fn function<T: Real>(steps: &[Step], x: &[T], p: &[T]) -> Vec<T> {
    let mut values = x.to_vec();
    run(steps, 0, x, p, &mut values);
    let total: T = values.iter().enumerate().map(|(i, v)| *v * (0.5 + (i % 3) as f64)).sum();
    let mut y = vec![total / values.len() as f64];
    y.extend(values.iter().rev().take(20));
    y.extend(values[values.len() / 2..].iter().take(5));
    y
}

/// The same function with plain numbers as parameters.
fn at_parameters<T: Real>(steps: &[Step], x: &[T], p: &[f64]) -> Vec<T> {
    let p: Vec<T> = p.iter().map(|p| T::constant(*p)).collect();
    function(steps, x, &p)
}

fn weighted<T: Real>(steps: &[Step], x: &[T], p: &[f64]) -> T {
    let y = at_parameters(steps, x, p);
    y.into_iter().enumerate().map(|(i, y)| y * weight(i)).sum()
}

fn weight(output: usize) -> f64 {
    [1.0, -0.5, 0.25][output % 3]
}

fn close(what: &str, found: &[f64], expected: &[f64]) -> Result<(), TestCaseError> {
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        prop_assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{} {}: {}, expected {}", what, i, a, b);
    }
    Ok(())
}

/// The compiled programs.
struct Programs {
    /// Of two lanes.
    tangent: Executable,
    adjoint: Executable,
    /// Tangent of the adjoint.
    product: Executable,
    /// Of the weighted sum of the outputs.
    gradient: Executable,
    /// All entries.
    jacobian: Executable,
    /// All entries, of the weighted sum of the outputs.
    hessian: Executable,
}

impl Programs {
    fn of(steps: &[Step], x: &[f64], p: &[f64]) -> Programs {
        let graph = record(x, p, Limits::default(), |x, p, y| y.extend(function(steps, x, p))).unwrap();
        let program = compile(&graph).unwrap();
        let adjoint = program.adjoint(1).unwrap();
        let (starts, columns) = dense(graph.outputs().len(), x.len());
        let entries = graph.jacobian_entries(&starts, &columns, usize::MAX);
        let weighted = record(x, p, Limits::default(), |x, p, y| {
            y.push(function(steps, x, p).into_iter().enumerate().map(|(i, y)| y * weight(i)).sum());
        });
        let weighted = weighted.unwrap();
        let (starts, columns) = dense(x.len(), x.len());
        let second = weighted.hessian_entries(&starts, &columns, usize::MAX);
        let executable = |graph: Result<Option<Graph>, Error>| compile(&graph.unwrap().unwrap()).unwrap().executable();
        Programs {
            tangent: program.tangent(2).unwrap().executable(),
            product: adjoint.tangent(1).unwrap().executable(),
            adjoint: adjoint.executable(),
            gradient: compile(&weighted).unwrap().gradient().unwrap().executable(),
            jacobian: executable(entries),
            hessian: executable(second),
        }
    }
}

/// A dense matrix as compressed rows.
fn dense(rows: usize, columns: usize) -> (Vec<u32>, Vec<u32>) {
    let starts = (0..=rows).map(|i| (i * columns) as u32).collect();
    (starts, (0..rows).flat_map(|_| 0..columns as u32).collect())
}

fn check(steps: &[Step], points: &[(Vec<f64>, Vec<f64>)]) -> Result<(), TestCaseError> {
    let mut programs = Programs::of(steps, &points[0].0, &points[0].1);
    for (x, p) in points {
        let n = x.len();
        let direction: Vec<f64> = (0..n).map(|i| 0.4 - 0.15 * i as f64).collect();
        let other: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        let value = at_parameters(steps, x, p);
        let weights: Vec<f64> = (0..value.len()).map(weight).collect();
        let nan = || vec![f64::NAN; value.len()];
        let mut hv = vec![f64::NAN; n];
        let (mut y, mut grad, mut dy) = (nan(), vec![f64::NAN; n], nan());
        for attempt in 0.. {
            let inputs: &[&[f64]] = &[x, p, &weights, &direction];
            let outputs = &mut [&mut y[..], &mut grad, &mut dy, &mut hv];
            match programs.product.run(&mut programs.product.workspace(), inputs, outputs) {
                Ok(()) => break,
                Err(RunError::Guard(_)) if attempt == 0 => programs = Programs::of(steps, x, p),
                Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
            }
        }
        close("value", &y, &value)?;
        let forward = AutoForwardDiff::default();
        let expected = gradient(&|x: &[_]| weighted(steps, x, p), &forward, x).unwrap();
        close("gradient with product", &grad, &expected)?;
        let expected_hv = hvp(&|x: &[_]| weighted(steps, x, p), &forward, x, [&direction]).unwrap();
        close("product", &hv, &expected_hv[0])?;
        grad.fill(f64::NAN);
        programs.adjoint.run(&mut programs.adjoint.workspace(), &[x, p, &weights], &mut [&mut y, &mut grad]).unwrap();
        close("gradient", &grad, &expected)?;
        grad.fill(f64::NAN);
        let mut sum = [f64::NAN];
        programs.gradient.run(&mut programs.gradient.workspace(), &[x, p], &mut [&mut sum, &mut grad]).unwrap();
        close("gradient of the sum", &grad, &expected)?;
        close("sum", &sum, &[weighted(steps, x, p)])?;
        let (mut first, mut second) = (nan(), nan());
        let outputs = &mut [&mut y[..], &mut first, &mut second];
        programs.tangent.run(&mut programs.tangent.workspace(), &[x, p, &direction, &other], outputs).unwrap();
        for (dx, dy) in [(&direction, first), (&other, second)] {
            let f = |x: &[_]| at_parameters(steps, x, p);
            let expected = pushforward(&f, &forward, x, [dx]).unwrap();
            close("tangent", &dy, &expected[0])?;
        }
        let mut entries = vec![f64::NAN; value.len() * n];
        programs.jacobian.run(&mut programs.jacobian.workspace(), &[x, p], &mut [&mut entries]).unwrap();
        let expected = jacobian(&|x: &[_]| at_parameters(steps, x, p), &forward, x).unwrap();
        close("jacobian", &entries, expected.as_slice())?;
        let mut entries = vec![f64::NAN; n * n];
        programs.hessian.run(&mut programs.hessian.workspace(), &[x, p], &mut [&mut entries]).unwrap();
        let expected = hessian(&|x: &[_]| weighted(steps, x, p), &forward, x).unwrap();
        close("hessian", &entries, expected.as_slice())?;
    }
    Ok(())
}

/// Six numbers in (-1.2, 1.2) without ties.
fn point(seed: u64) -> Vec<f64> {
    (0..6).map(|i| 1.2 * (1.0 + seed as f64 * 12.9898 + i as f64 * 78.233).sin()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 8 } else { 120 }, ..ProptestConfig::default() })]
    #[test]
    fn compiled_derivatives_agree_with_forward_mode(
        steps in prop::collection::vec(step(), 1..6),
        seeds in (0u64..1000, 1000u64..2000),
    ) {
        let (x, y, p) = (point(seeds.0), point(seeds.1), point(seeds.0 + seeds.1));
        let near: Vec<f64> = x.iter().map(|v| v + 1e-3).collect();
        let points = [(x.clone(), p.clone()), (near, p.clone()), (x.clone(), y.clone()), (y, p.clone())];
        if let Err(error) = check(&steps, &points) {
            let graph = record(&x, &p, Limits::default(), |x, p, y| y.extend(function(&steps, x, p))).unwrap();
            let program = compile(&graph).unwrap();
            return Err(TestCaseError::fail(format!("{error}\n{steps:?}\n{graph}\n{program}\nADJOINT\n{}", program.adjoint(1).unwrap())));
        }
    }
}

/// The previous iteration's value of an inner loop comes last in the loop around it, and is computed after the inner loops are.
#[test]
fn what_lies_before_an_inner_loop_may_be_computed_after_it() {
    let fixed = Pick::Fixed(0);
    let triangle = Step::Triangle { op: 0, a: fixed, b: fixed, rows: 7 };
    let inner = Step::Repeat { trip: 5, body: vec![Step::Apply { op: 0, a: fixed, b: fixed }, triangle] };
    let body = vec![inner, Step::Apply { op: 0, a: Pick::Back(1), b: fixed }];
    check(&[Step::Repeat { trip: 8, body }], &[(point(0), point(1000)), (point(1), point(7))]).unwrap();
}

/// An iteration completes a reduction that an inner loop of the previous iteration began, and reads it: the outer loop carries it.
#[test]
fn sums_may_begin_in_the_iteration_before() {
    let fixed = Pick::Fixed(0);
    let apply = |op, b| Step::Apply { op, a: fixed, b };
    let inner = Step::Repeat { trip: 2, body: vec![apply(1, Pick::Back(2)), apply(0, fixed)] };
    let body = vec![inner, Step::Triangle { op: 0, a: fixed, b: Pick::Back(4), rows: 10 }];
    check(&[Step::Repeat { trip: 6, body }], &[(point(0), point(1000)), (point(1), point(7))]).unwrap();
}
