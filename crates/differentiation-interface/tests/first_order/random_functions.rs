//! Random programs (straight lines, loops, recurrences, reductions, tables, branches on values): the derivatives of a compiled
//! recording, of the tape, of duals and of differences agree on both sides of every branch.
//!
//! A program is data, drawn from a fixed seed; `PROGRAMS=1000 cargo test --test random_functions` draws more of them.

use crate::programs::run::{First, KINKED, Outputs, Trace};
use crate::programs::{DOMAINS, INPUTS, OUTPUTS, PARAMETERS, Program, WORK, program};
use crate::support::rule_table::{count, names};
use differentiation_interface::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::AddAssign;

/// A point, and parameters.
#[derive(Clone, Debug)]
struct Place {
    x: [f64; INPUTS],
    parameters: [f64; PARAMETERS],
}

/// What was met, so that the test cannot pass by meeting nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    programs: usize,
    branches: usize,
    both_sides: usize,
    places: usize,
    differences: usize,
}

impl AddAssign for Met {
    fn add_assign(&mut self, other: Met) {
        self.programs += other.programs;
        self.branches += other.branches;
        self.both_sides += other.both_sides;
        self.places += other.places;
        self.differences += other.differences;
    }
}

type Sides = HashSet<(usize, i64)>;

fn sides(trace: &Trace) -> Sides {
    trace.iter().map(|(step, side)| (step.addr(), *side)).collect()
}

fn moved(x: &[f64; INPUTS], direction: &[f64; INPUTS], t: f64) -> [f64; INPUTS] {
    std::array::from_fn(|i| x[i] + t * direction[i])
}

/// The first place, then one for every side that was not taken before, found along the directions; the first of them twice,
/// close to where the way changes.
fn places(program: &Program, first: &Place, directions: &[[f64; INPUTS]]) -> (Vec<Place>, Sides) {
    const MOST: usize = 6;
    let trace = |x: &[f64; INPUTS]| program.traced(x, &first.parameters).1;
    let mut seen = sides(&trace(&first.x));
    let mut found = vec![first.clone()];
    for direction in directions {
        for k in 1..=24 {
            let t = 0.125 * f64::from(k) * if k % 2 == 0 { 1.0 } else { -1.0 };
            let x = moved(&first.x, direction, t);
            let new = sides(&trace(&x));
            if new.is_subset(&seen) || found.len() >= MOST {
                continue;
            }
            if found.len() == 1 {
                // Halve the way to where it first differs from the first place.
                let (mut near, mut far) = (0.0, t);
                let start = trace(&first.x);
                while (far - near).abs() > 1e-3 {
                    let middle = f64::midpoint(near, far);
                    *(if trace(&moved(&first.x, direction, middle)) == start { &mut near } else { &mut far }) = middle;
                }
                for t in [near, far] {
                    found.push(Place { x: moved(&first.x, direction, t), parameters: first.parameters });
                    seen.extend(sides(&trace(&moved(&first.x, direction, t))));
                }
            }
            seen.extend(new);
            found.push(Place { x, parameters: first.parameters });
        }
    }
    // Parameters change too.
    found.push(Place { x: first.x, parameters: first.parameters.map(|p| 0.4 - 0.8 * p) });
    (found, seen)
}

/// Agreement relative to `scale`.
fn agree(what: &str, found: &[f64], expected: &[f64], tolerance: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len(), "{}", what);
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        prop_assert!((a - b).abs() <= tolerance * scale, "{}: entry {} is {:e}, expected {:e}", what, i, a, b);
    }
    Ok(())
}

const EXACT: f64 = 1e-8;
const BY_DIFFERENCES: f64 = 1e-4;

/// Whether the program goes the same way everywhere around a place, and is smooth there.
fn is_smooth(program: &Program, place: &Place, direction: &[f64; INPUTS]) -> bool {
    let here = program.traced(&place.x, &place.parameters).1;
    let axes = (0..INPUTS).map(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    axes.chain([*direction]).all(|axis| {
        [1e-4, -1e-4].iter().all(|t| program.traced(&moved(&place.x, &axis, *t), &place.parameters).1 == here)
    })
}

fn check(program: &Program, first: &Place, directions: &[[f64; INPUTS]; 3]) -> Result<Met, TestCaseError> {
    let (places, seen) = places(program, first, directions);
    let (dx, other) = (directions[0], directions[1]);
    let dy = [1.0, -0.5, 0.25];
    let (forward, tape, compiled) =
        (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoReverseDiff::compiled());
    let work = [0.0; WORK];
    let cache = Cache(&work[..]);
    let (all, one) = (&Outputs(program), &First(program));
    let at = |place: &Place| (place.x, place.parameters);
    let (x0, p0) = at(first);
    let start = (&x0, Parameter(&p0[..]), cache);
    let mut jac_compiled = prepare_jacobian(all, &compiled, start).unwrap();
    let mut jac_tape = prepare_jacobian(all, &tape, start).unwrap();
    let mut jac_dual = prepare_jacobian(all, &forward, start).unwrap();
    let mut grad_compiled = prepare_gradient(one, &compiled, start).unwrap();
    let mut grad_tape = prepare_gradient(one, &tape, start).unwrap();
    let mut push_compiled = prepare_pushforward(all, &compiled, start, [&dx, &other]).unwrap();
    let mut pull_compiled = prepare_pullback(all, &compiled, start, [&dy]).unwrap();
    let mut hvp_compiled = prepare_hvp(one, &compiled, start, [&dx]).unwrap();
    let mut hvp_mixed = prepare_hvp(one, &SecondOrder(forward, compiled), start, [&dx]).unwrap();
    let mut hvp_tape = prepare_hvp(one, &SecondOrder(forward, tape), start, [&dx]).unwrap();
    let constants = &program.constants[..];
    let with_constants = (&x0, Constant(constants), Parameter(&p0[..]), cache);
    let mut grad_constant = prepare_gradient(one, &compiled, with_constants).unwrap();
    let mut met = Met { programs: 1, places: places.len(), ..Met::default() };

    // There and back: recordings made on the way are met again.
    for place in places.iter().chain(places.iter().rev()) {
        let (x, p) = at(place);
        let point = (&x, Parameter(&p[..]), cache);
        let value = program.traced(&x, &p).0;
        let dual = jac_dual.jacobian(point).unwrap();
        prop_assert!(value.iter().chain(dual.as_slice()).all(|v| v.is_finite()), "a value is not finite: {:?}", value);

        let (y, jac) = jac_compiled.value_and_jacobian(point).unwrap();
        agree("value, compiled", &y, &value, EXACT)?;
        agree("jacobian, compiled and dual", jac.as_slice(), dual.as_slice(), EXACT)?;
        agree("jacobian, tape and dual", jac_tape.jacobian(point).unwrap().as_slice(), dual.as_slice(), EXACT)?;

        let grad = dual.row(0);
        let (y, found) = grad_compiled.value_and_gradient(point).unwrap();
        agree("first value, compiled", &[y], &value[..1], EXACT)?;
        agree("gradient, compiled", &found, grad, EXACT)?;
        agree("gradient, tape", &grad_tape.gradient(point).unwrap(), grad, EXACT)?;
        for factor in [1.0, -0.7] {
            let changed: Vec<f64> = constants.iter().map(|c| factor * c).collect();
            let point = (&x, Constant(&changed[..]), Parameter(&p[..]), cache);
            let found = grad_constant.gradient(point).unwrap();
            agree("gradient with constants", &found, &gradient(one, &forward, point).unwrap(), EXACT)?;
        }

        for (k, (dy, dx)) in
            push_compiled.pushforward(point, [&dx, &other]).unwrap().iter().zip([dx, other]).enumerate()
        {
            let expected: Vec<f64> = (0..OUTPUTS).map(|i| (0..INPUTS).map(|j| dual[(i, j)] * dx[j]).sum()).collect();
            agree(&format!("pushforward {k}, compiled"), dy, &expected, EXACT)?;
        }
        let expected: Vec<f64> = (0..INPUTS).map(|j| (0..OUTPUTS).map(|i| dual[(i, j)] * dy[i]).sum()).collect();
        agree("pullback, compiled", &pull_compiled.pullback(point, [&dy]).unwrap()[0], &expected, EXACT)?;

        let product = hvp(one, &AutoForwardDiff::with_chunk::<1>(), point, [&dx]).unwrap();
        let product = &product[0];
        prop_assert!(product.iter().all(|v| v.is_finite()), "a second derivative is not finite: {:?}", product);
        let (found_grad, found) = hvp_compiled.gradient_and_hvp(point, [&dx]).unwrap();
        agree("gradient with hvp, compiled", &found_grad, grad, EXACT)?;
        agree("hvp, compiled", &found[0], product, EXACT)?;
        agree("hvp, forward over compiled", &hvp_mixed.hvp(point, [&dx]).unwrap()[0], product, EXACT)?;
        agree("hvp, forward over tape", &hvp_tape.hvp(point, [&dx]).unwrap()[0], product, EXACT)?;

        if is_smooth(program, place, &dx) {
            let found = jacobian(all, &AutoFiniteDiff::central(), point).unwrap();
            agree("jacobian, differences", found.as_slice(), dual.as_slice(), BY_DIFFERENCES)?;
            let mut side = |t: f64| grad_tape.gradient((&moved(&x, &dx, t), point.1, point.2)).unwrap();
            let (right, left) = (side(1e-5), side(-1e-5));
            let found: Vec<f64> = right.iter().zip(&left).map(|(r, l)| (r - l) / 2e-5).collect();
            agree("hvp, differences", &found, product, BY_DIFFERENCES)?;
            met.differences += 1;
        }
    }
    let branches: HashSet<usize> = seen.iter().map(|(step, _)| *step).collect();
    met.branches = branches.len();
    met.both_sides = branches.iter().filter(|step| seen.iter().filter(|(s, _)| s == *step).count() > 1).count();
    Ok(met)
}

fn coordinates(size: f64) -> impl Strategy<Value = [f64; INPUTS]> {
    prop::array::uniform5(-size..size)
}

#[test]
fn engines_agree_on_random_programs_on_both_sides_of_every_branch() {
    let asked = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok());
    let cases = asked.unwrap_or(if cfg!(debug_assertions) { 20 } else { 60 });
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(7);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let met = RefCell::new(Met::default());
    let place =
        (coordinates(1.2), prop::array::uniform3(-1.0..1.0)).prop_map(|(x, parameters)| Place { x, parameters });
    let directions = [coordinates(1.0), coordinates(1.0), coordinates(1.0)];
    let result = runner.run(&(program(), place, directions), |(program, place, directions)| {
        *met.borrow_mut() += check(&program, &place, &directions)?;
        Ok(())
    });
    if let Err(error) = result {
        match error {
            TestError::Fail(reason, (program, place, directions)) => {
                panic!("{reason}\n{program:#?}\n{place:?}\ndirections {directions:?}")
            }
            TestError::Abort(reason) => panic!("{reason}"),
        }
    }
    let met = met.into_inner();
    println!("{met:?}");
    // The search may miss sides that exist; most branches must have been met on two.
    assert!(met.branches > 2 * met.programs && 2 * met.both_sides > met.branches, "{met:?}");
    assert!(met.places > 2 * met.programs && met.differences > met.programs, "{met:?}");
}

#[test]
fn every_rule_is_drawn_where_it_is_defined() {
    assert_eq!((DOMAINS.unary.len(), DOMAINS.binary.len()), (count(true), count(false)));
    let known = [names(true), names(false)].concat();
    assert!(KINKED.iter().all(|kink| known.contains(kink)), "rules that are not smooth are known by their names");
}
