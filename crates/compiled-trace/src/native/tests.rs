//! Machine code against direct evaluation: every rule, every operation, guards, random programs.

use super::*;
use crate::custom::{CallObject, Half};
use crate::graph::{Op, Outcome};
use crate::program::{Address, Dimension, Instruction, Nest, Statement};
use crate::rule::{self, Rules};
use differentiation_interface_core::rules::{Binary, Partial, RuleVisitor, Unary, each_binary, each_unary};
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::Any;
use std::sync::Arc;

/// Numbers at which functions are compared.
const POINTS: [f64; 17] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.3,
    -0.3,
    2.5,
    -2.5,
    3.0,
    1e-300,
    1e300,
    -7.25,
    0.5,
    20.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn affine(space: Space, base: u32, strides: &[i32]) -> Address {
    Address { space, base, strides: strides.to_vec(), table: None }
}

fn across(trip: usize) -> Vec<Dimension> {
    vec![Dimension { trip: trip as u32, parallel: true }]
}

fn program(inputs: &[usize], outputs: &[usize], work: usize, statements: Vec<Statement>) -> Program {
    Program {
        constants: vec![1.5, -0.25, 3.0, 0.0],
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        work,
        statements,
        rules: Rules::default(),
        places: vec![Location::caller()],
    }
}

fn without_vectors() -> Options {
    Options { vectors: false, ..Options::default() }
}

/// All settings a program must be right with.
fn settings() -> [Options; 4] {
    let quick = Options { optimised: 0, ..Options::default() };
    [Options::default(), without_vectors(), quick, Options { vectors: false, ..quick }]
}

/// Runs a program as machine code on fresh outputs.
fn native<S: Number>(program: &Program, options: Options, inputs: &[&[S]]) -> Result<Vec<Vec<S>>, RunError> {
    let compiled = Compiled::<S>::new(program, options).expect("this machine has native code");
    let mut outputs: Vec<Vec<S>> = program.outputs.iter().map(|length| vec![S::nan(); *length]).collect();
    let mut slices: Vec<&mut [S]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    let mut workspace = compiled.workspace();
    workspace.cells.fill(S::nan());
    compiled.run(&mut workspace, inputs, &mut slices)?;
    Ok(outputs)
}

/// The same numbers in every bit, all NaN being one.
fn same<S: Base>(x: S, y: S) -> bool {
    (x.is_nan() && y.is_nan()) || (x == y && x.is_sign_negative() == y.is_sign_negative())
}

/// Every pair of points, as two inputs.
fn pairs<S: Base>() -> [Vec<S>; 2] {
    let pairs = || POINTS.iter().flat_map(|x| POINTS.iter().map(move |y| (*x, *y)));
    [pairs().map(|(x, _)| S::from_f64(x)).collect(), pairs().map(|(_, y)| S::from_f64(y)).collect()]
}

/// A nest that applies one operation to two inputs.
fn one_operation(op: Op, length: usize, rules: Rules) -> Program {
    let nest = Nest {
        dimensions: across(length),
        reversed: false,
        addresses: vec![
            affine(Space::Input(0), 0, &[1]),
            affine(Space::Input(1), 0, &[1]),
            affine(Space::Output(0), 0, &[1]),
        ],
        body: vec![
            Instruction::Load(0),
            Instruction::Load(1),
            Instruction::Apply { op, a: 0, b: if matches!(op, Op::Unary(_)) { 0 } else { 1 } },
            Instruction::Store { value: 2, address: 2 },
        ],
    };
    Program { rules, ..program(&[length, length], &[length], 0, vec![Statement::Nest(nest)]) }
}

fn check_operation<S: Number>(name: &str, op: Op, rules: &Rules, signed_zeros: bool, value: impl Fn(S, S) -> S) {
    let [x, y] = pairs::<S>();
    for options in settings() {
        let found =
            &native(&one_operation(op, x.len(), rules.clone()), options, &[&x, &y]).expect("there are no guards")[0];
        for i in 0..x.len() {
            let expected = value(x[i], y[i]);
            let holds =
                if signed_zeros { same(found[i], expected) } else { found[i] == expected || same(found[i], expected) };
            assert!(holds, "{name}({}, {}) is {}, expected {expected}", x[i], y[i], found[i]);
        }
    }
}

struct EveryRule;

impl RuleVisitor for EveryRule {
    fn unary<R: Unary>(&mut self, rule: R) {
        let mut rules = Rules::default();
        let number = rules.number_unary(rule).expect("there are few rules");
        check_operation::<f64>(R::NAME, Op::Unary(number), &rules, true, |x, _| rule.value(x));
        check_operation::<f32>(R::NAME, Op::Unary(number), &rules, true, |x, _| rule.value(x));
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        let mut rules = Rules::default();
        let number = rules.number_binary(rule).expect("there are few rules");
        // Which zero the larger of two zeros is, is not said.
        let signed_zeros = !matches!(number, rule::MAX | rule::MIN);
        check_operation::<f64>(R::NAME, Op::Binary(number), &rules, signed_zeros, |x, y| rule.value(x, y));
        check_operation::<f32>(R::NAME, Op::Binary(number), &rules, signed_zeros, |x, y| rule.value(x, y));
    }
}

#[test]
fn every_rule_has_the_value_of_the_table() {
    each_unary(&mut EveryRule);
    each_binary(&mut EveryRule);
}

fn check_operations<S: Number>() {
    let rules = Rules::default();
    for number in 0..crate::graph::RELATIONS.len() as u8 {
        check_operation::<S>("compare", Op::Compare(number), &rules, true, |x, y| {
            if crate::graph::relation(number).holds(x.partial_cmp(&y)) { S::ONE } else { S::ZERO }
        });
    }
    check_operation::<S>("keep", Op::Keep, &rules, true, |x, y| if x != S::ZERO { y } else { -S::ZERO });
    check_operation::<S>("drop", Op::Drop, &rules, true, |x, y| if x != S::ZERO { -S::ZERO } else { y });
    check_operation::<S>("chain", Op::Chain, &rules, true, |x, y| if x == S::ZERO { S::ZERO } else { x * y });
}

#[test]
fn every_operation_has_its_value() {
    check_operations::<f64>();
    check_operations::<f32>();
}

/// Negations meet every operation that could take them in.
#[test]
fn signs_move_exactly() {
    let [x, y] = pairs::<f64>();
    for (number, value) in [
        (rule::PLUS, (|x, y| x + y) as fn(f64, f64) -> f64),
        (rule::MINUS, |x, y| x - y),
        (rule::TIMES, |x, y| x * y),
        (rule::OVER, |x, y| x / y),
        (rule::ATAN2, |x, y| x.atan2(y)),
    ] {
        for (negate_x, negate_y, negate_result) in (0..8).map(|bits| (bits & 1 == 1, bits & 2 == 2, bits & 4 == 4)) {
            let mut body = vec![Instruction::Load(0), Instruction::Load(1)];
            let mut add = |op: Op, a: u32, b: u32| {
                body.push(Instruction::Apply { op, a, b });
                body.len() as u32 - 1
            };
            let negate = Op::Unary(rule::NEGATE);
            let a = if negate_x { add(negate, 0, 0) } else { 0 };
            let b = if negate_y { add(negate, 1, 1) } else { 1 };
            let mut result = add(Op::Binary(number), a, b);
            if negate_result {
                result = add(negate, result, result);
            }
            body.push(Instruction::Store { value: result, address: 2 });
            let mut program = one_operation(negate, x.len(), Rules::default());
            let Statement::Nest(nest) = &mut program.statements[0] else { unreachable!("it is a nest") };
            nest.body = body;
            let found = &native(&program, Options::default(), &[&x, &y]).expect("there are no guards")[0];
            let sign = |negated: bool, x: f64| if negated { -x } else { x };
            for i in 0..x.len() {
                let expected = sign(negate_result, value(sign(negate_x, x[i]), sign(negate_y, y[i])));
                assert!(same(found[i], expected), "{number} {negate_x} {negate_y} at {} {}: {}", x[i], y[i], found[i]);
            }
        }
    }
}

fn holds(outcome: Outcome, x: f64, y: f64) -> bool {
    match outcome {
        Outcome::Less => x < y,
        Outcome::Equal => x == y,
        Outcome::Greater => x > y,
        Outcome::Unordered => x.is_nan() || y.is_nan(),
        Outcome::Same => same(x, y),
    }
}

#[test]
fn guards_hold_or_fail_like_their_comparison() {
    let [x, y] = pairs::<f64>();
    for outcome in [Outcome::Less, Outcome::Equal, Outcome::Greater, Outcome::Unordered, Outcome::Same] {
        let mut program = one_operation(Op::Guard(outcome as u16), 1, Rules::default());
        let Statement::Nest(nest) = &mut program.statements[0] else { unreachable!("it is a nest") };
        nest.body[3] = Instruction::Store { value: 0, address: 2 };
        // One by one, and as the odd one out among pairs for which it holds, in either lane.
        let alone = Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
        let mut row = program.clone();
        (row.inputs, row.outputs) = (vec![9, 9], vec![9]);
        let Statement::Nest(nest) = &mut row.statements[0] else { unreachable!("it is a nest") };
        nest.dimensions = across(9);
        let row = Compiled::<f64>::new(&row, Options::default()).expect("this machine has native code");
        let right = (0..x.len()).find(|i| holds(outcome, x[*i], y[*i])).expect("some pair is right");
        for i in 0..x.len() {
            let expected = holds(outcome, x[i], y[i]);
            let found = alone.run(&mut alone.workspace(), &[&x[i..=i], &y[i..=i]], &mut [&mut [0.0]]);
            assert_eq!(found.is_ok(), expected, "{outcome:?} {} {}", x[i], y[i]);
            for place in [0, 1, 7, 8] {
                let (mut left, mut other) = ([x[right]; 9], [y[right]; 9]);
                (left[place], other[place]) = (x[i], y[i]);
                let found = row.run(&mut row.workspace(), &[&left, &other], &mut [&mut [0.0; 9]]);
                assert_eq!(found.is_ok(), expected, "{outcome:?} {} {} at {place}", x[i], y[i]);
                if let Err(error) = found {
                    assert!(
                        matches!(error, RunError::Guard(GuardFailed { place: Some(place) }) if place.file().ends_with("tests.rs"))
                    );
                }
            }
        }
    }
}

/// Three times its argument; panics at 13.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Threefold;

impl Unary for Threefold {
    const NAME: &'static str = "threefold";
    fn value<B: Base>(self, x: B) -> B {
        assert!(x.as_f64() != 13.0, "not at 13");
        x * B::from_f64(3.0)
    }
    fn derivative<S: Scalar>(self, _: S, _: S) -> Partial<S> {
        Partial::Constant(S::Base::from_f64(3.0))
    }
}

#[test]
fn rules_of_users_are_called_and_may_panic() {
    let mut rules = Rules::default();
    let number = rules.number_unary(Threefold).expect("there are few rules");
    let program = one_operation(Op::Unary(number), 3, rules);
    let compiled = Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
    let mut workspace = compiled.workspace();
    let mut y = [0.0; 3];
    let mut run = |x: [f64; 3]| {
        compiled.run(&mut workspace, &[&x, &[0.0; 3]], &mut [&mut y]).expect("there are no guards");
        y
    };
    assert_eq!(run([1.0, 2.0, 4.0]), [3.0, 6.0, 12.0]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run([1.0, 13.0, 4.0])));
    assert!(panic.is_err());
    assert_eq!(run([5.0, 6.0, 7.0]), [15.0, 18.0, 21.0]);
}

/// The sum and the product of two numbers.
struct SumAndProduct;

impl CallObject for SumAndProduct {
    fn name(&self) -> &'static str {
        "sum and product"
    }
    fn call(&self, _: Half, _: usize, _: usize, data: &dyn Any, out: &mut dyn Any) {
        let (Some(x), Some(y)) = (data.downcast_ref::<Vec<f64>>(), out.downcast_mut::<Vec<f64>>()) else { return };
        y.clear();
        y.extend([x[0] + x[1], x[0] * x[1]]);
    }
}

/// w[0] = x[0]; three times: (w[i + 1], y[i]) (+)= (w[i] + x[i], w[i] x[i]), and y[i] is doubled into z[i] by code in the same loop.
#[test]
fn custom_rules_run_between_code_in_loops() {
    for accumulate in [false, true] {
        let copy = Nest {
            dimensions: vec![],
            reversed: false,
            addresses: vec![affine(Space::Input(0), 0, &[]), affine(Space::Work, 0, &[])],
            body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
        };
        let call = RuleCall {
            rule: Arc::new(SumAndProduct),
            half: Half::Value,
            inputs: 2,
            outputs: 2,
            arguments: vec![affine(Space::Work, 0, &[1]), affine(Space::Input(0), 0, &[1])],
            results: vec![affine(Space::Work, 1, &[1]), affine(Space::Output(0), 0, &[1])],
            accumulate,
        };
        let double = Nest {
            dimensions: vec![],
            reversed: false,
            addresses: vec![affine(Space::Output(0), 0, &[1]), affine(Space::Output(1), 0, &[1])],
            body: vec![
                Instruction::Load(0),
                Instruction::Apply { op: Op::Binary(rule::PLUS), a: 0, b: 0 },
                Instruction::Store { value: 1, address: 1 },
            ],
        };
        let body = vec![Statement::Call(call), Statement::Nest(double)];
        let statements = vec![
            Statement::Zero { space: Space::Work, start: 0, length: 4 },
            Statement::Zero { space: Space::Output(0), start: 0, length: 3 },
            Statement::Nest(copy),
            Statement::Loop { trip: 3, reversed: false, body },
        ];
        let program = program(&[3], &[3, 3], 4, statements);
        let found = native(&program, Options::default(), &[&[2.0, 3.0, 5.0]]).expect("there are no guards");
        assert_eq!(found, [[4.0, 12.0, 35.0], [8.0, 24.0, 70.0]]);
    }
}

/// What the page of programs says, one iteration after the other.
fn direct(program: &Program, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    fn slice<'a>(
        space: Space,
        constants: &'a [f64],
        inputs: &'a [&[f64]],
        work: &'a [f64],
        outputs: &'a [Vec<f64>],
    ) -> &'a [f64] {
        match space {
            Space::Constant => constants,
            Space::Input(i) => inputs[i as usize],
            Space::Work => work,
            Space::Output(i) => &outputs[i as usize],
        }
    }
    fn run(
        statements: &[Statement],
        program: &Program,
        counters: &mut Vec<(u32, u32)>,
        inputs: &[&[f64]],
        work: &mut Vec<f64>,
        outputs: &mut Vec<Vec<f64>>,
    ) {
        for statement in statements {
            match statement {
                Statement::Zero { space, start, length } => {
                    let cells = if let Space::Output(i) = space { &mut outputs[*i as usize] } else { &mut *work };
                    cells[*start as usize..][..*length as usize].fill(0.0);
                }
                Statement::Loop { trip, reversed, body } => {
                    for i in 0..*trip {
                        counters.push((if *reversed { trip - 1 - i } else { i }, *trip));
                        run(body, program, counters, inputs, work, outputs);
                        counters.pop();
                    }
                }
                Statement::Nest(nest) => {
                    let iterations: u32 = nest.dimensions.iter().map(|d| d.trip).product();
                    for i in 0..iterations {
                        let mut rest = if nest.reversed { iterations - 1 - i } else { i };
                        let mut own = Vec::new();
                        for d in nest.dimensions.iter().rev() {
                            own.push((rest % d.trip, d.trip));
                            rest /= d.trip;
                        }
                        let all: Vec<(u32, u32)> = counters.iter().copied().chain(own.into_iter().rev()).collect();
                        let (index, trips): (Vec<u32>, Vec<u32>) = all.into_iter().unzip();
                        let mut results = vec![f64::NAN; nest.body.len()];
                        for (k, instruction) in nest.body.iter().enumerate() {
                            match *instruction {
                                Instruction::Constant(c) => results[k] = program.constants[c as usize],
                                Instruction::Load(a) => {
                                    let address = &nest.addresses[a as usize];
                                    let cells = slice(address.space, &program.constants, inputs, work, outputs);
                                    results[k] = cells[address.cell(&index, &trips)];
                                }
                                Instruction::Apply { op: Op::Unary(rule), a, .. } => {
                                    results[k] = program.rules.apply(rule, results[a as usize]);
                                }
                                Instruction::Apply { op: Op::Binary(rule), a, b } => {
                                    results[k] = program.rules.apply2(rule, results[a as usize], results[b as usize]);
                                }
                                Instruction::Apply { .. } => unreachable!("random programs have rules only"),
                                Instruction::Store { value, address } | Instruction::Accumulate { value, address } => {
                                    let address = &nest.addresses[address as usize];
                                    let cell = address.cell(&index, &trips);
                                    let cells = if let Space::Output(i) = address.space {
                                        &mut outputs[i as usize]
                                    } else {
                                        &mut *work
                                    };
                                    let adds = matches!(instruction, Instruction::Accumulate { .. });
                                    cells[cell] = if adds {
                                        cells[cell] + results[value as usize]
                                    } else {
                                        results[value as usize]
                                    };
                                }
                            }
                        }
                    }
                }
                Statement::Call(_) => unreachable!("random programs have no calls"),
            }
        }
    }
    let mut work = vec![f64::NAN; program.work];
    let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
    run(&program.statements, program, &mut Vec::new(), inputs, &mut work, &mut outputs);
    outputs
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

const INPUT: u32 = 400;

/// A random address whose cells are in `start..start + length` of a space.
fn inside(random: &mut Random, space: Space, start: u32, length: u32, trips: &[u32]) -> Address {
    if random.one_in(4) {
        let iterations: u32 = trips.iter().product();
        let table: Vec<u32> = (0..iterations).map(|_| start + random.below(length as u64) as u32).collect();
        return Address { space, base: table[0], strides: vec![0; trips.len()], table: Some(table.into()) };
    }
    let mut strides = vec![0i32; trips.len()];
    let (mut low, mut high) = (0i64, 0i64);
    for (stride, trip) in strides.iter_mut().zip(trips) {
        let wanted = [0, 1, 1, 1, -1, 2, 7][random.below(7) as usize];
        let reach = wanted as i64 * (*trip as i64 - 1);
        if high - low + reach.abs() < length as i64 {
            *stride = wanted;
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
    }
    let room = length as i64 - (high - low);
    Address { space, base: (start as i64 - low + random.below(room as u64) as i64) as u32, strides, table: None }
}

/// A program of random nests: every one stores a block of work cells of its own and adds to outputs; some are recurrences.
fn random_program(random: &mut Random) -> Program {
    let mut work = 0;
    let mut statements = vec![Statement::Zero { space: Space::Output(0), start: 0, length: 60 }];
    let mut rules = Rules::default();
    let cube = rules.number_unary(differentiation_interface_core::rules::Powi(3)).expect("there are few rules");
    let mut known: Vec<(u32, u32)> = Vec::new();
    let mut before: Vec<(u32, u32)> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let outer: Vec<u32> = if random.one_in(4) { vec![1 + random.below(3) as u32] } else { vec![] };
        let mut trips = outer.clone();
        let mut dimensions = Vec::new();
        for _ in 0..random.below(4) {
            let trip = [1, 2, 3, 4, 5, 8, 9, 17, 33][random.below(9) as usize];
            if trips.iter().product::<u32>() * trip <= 300 {
                trips.push(trip);
                dimensions.push(Dimension { trip, parallel: !random.one_in(3) });
            }
        }
        let reversed = random.one_in(3);
        let iterations: u32 = trips.iter().product();
        let (mut addresses, mut body) = (Vec::new(), Vec::new());
        let mut results = Vec::new();
        for _ in 0..1 + random.below(3) {
            let address = match known.is_empty() || random.one_in(2) {
                true => inside(random, Space::Input(0), 0, INPUT, &trips),
                false => {
                    let (start, length) = known[random.below(known.len() as u64) as usize];
                    inside(random, Space::Work, start, length, &trips)
                }
            };
            addresses.push(address);
            results.push(body.len() as u32);
            body.push(Instruction::Load(addresses.len() as u32 - 1));
        }
        results.push(body.len() as u32);
        body.push(Instruction::Constant(random.below(4) as u32));
        // Cells of its own, last counter fastest.
        let mut strides = vec![1i32; trips.len()];
        for m in (1..trips.len()).rev() {
            strides[m - 1] = strides[m] * trips[m] as i32;
        }
        let recurs = !dimensions.is_empty() && outer.is_empty() && random.one_in(3);
        let halo = if recurs { 1 } else { 0 };
        if recurs {
            // The cell stored by the iteration before, which lies before the block for the first.
            dimensions.iter_mut().for_each(|d| d.parallel = false);
            let start = work + if reversed { iterations } else { 0 };
            let first = Nest {
                dimensions: vec![],
                reversed: false,
                addresses: vec![affine(Space::Work, start, &[])],
                body: vec![Instruction::Constant(1), Instruction::Store { value: 0, address: 0 }],
            };
            statements.push(Statement::Nest(first));
            addresses.push(affine(Space::Work, work + if reversed { 1 } else { 0 }, &strides));
            results.push(body.len() as u32);
            body.push(Instruction::Load(addresses.len() as u32 - 1));
        }
        for _ in 0..random.below(8) {
            let pick = |random: &mut Random| results[random.below(results.len() as u64) as usize];
            let (a, b) = (pick(random), pick(random));
            let op = [
                Op::Binary(rule::PLUS),
                Op::Binary(rule::MINUS),
                Op::Binary(rule::TIMES),
                Op::Unary(rule::NEGATE),
                Op::Unary(rule::SIN),
                Op::Unary(rule::TANH),
                Op::Binary(rule::MAX),
                Op::Unary(cube),
                Op::Unary(rule::ROUND),
            ][random.below(9) as usize];
            let b = if matches!(op, Op::Unary(_)) { a } else { b };
            results.push(body.len() as u32);
            body.push(Instruction::Apply { op, a, b });
            // Numbers stay of moderate size.
            results.push(body.len() as u32);
            body.push(Instruction::Apply {
                op: Op::Unary(rule::TANH),
                a: body.len() as u32 - 1,
                b: body.len() as u32 - 1,
            });
        }
        let last = *results.last().expect("there are results");
        let own = work + if recurs && !reversed { 1 } else { 0 };
        addresses.push(affine(Space::Work, own, &strides));
        body.push(Instruction::Store { value: last, address: addresses.len() as u32 - 1 });
        before.push((work, iterations + halo));
        work += iterations + halo;
        // Sums: to fixed cells, to cells of one counter, to neighbouring cells, by tables.
        let mut last_sum: Option<Address> = None;
        for _ in 0..random.below(4) {
            let value = results[random.below(results.len() as u64) as usize];
            let address = match last_sum.take() {
                Some(mut address) if address.table.is_none() && address.base < 50 => {
                    address.base += random.below(4) as u32;
                    let (low, high) = check::range(&address, &trips);
                    if low >= 0 && high < 60 { address } else { inside(random, Space::Output(0), 0, 60, &trips) }
                }
                _ => inside(random, Space::Output(0), 0, 60, &trips),
            };
            last_sum = Some(address.clone());
            addresses.push(address);
            body.push(Instruction::Accumulate { value, address: addresses.len() as u32 - 1 });
        }
        let mut statement = Statement::Nest(Nest { dimensions, reversed, addresses, body });
        for trip in outer {
            statement = Statement::Loop { trip, reversed: random.one_in(2), body: vec![statement] };
        }
        statements.push(statement);
        known.append(&mut before);
    }
    // All that was stored is seen.
    statements.push(Statement::Nest(Nest {
        dimensions: across(work as usize),
        reversed: false,
        addresses: vec![affine(Space::Work, 0, &[1]), affine(Space::Output(1), 0, &[1])],
        body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
    }));
    Program { rules, ..program(&[INPUT as usize], &[60, work as usize], work as usize, statements) }
}

#[test]
fn random_programs_agree_with_direct_evaluation_and_the_portable_executor() {
    let mut random = Random(11);
    let x: Vec<f64> = (0..INPUT).map(|i| (i as f64 * 0.37).sin() * 1.3).collect();
    for case in 0..1500 {
        let program = random_program(&mut random);
        let expected = direct(&program, &[&x]);
        let close = |name: &str, found: &[Vec<f64>]| {
            for (i, (found, expected)) in found.iter().flatten().zip(expected.iter().flatten()).enumerate() {
                assert!(
                    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                    "case {case}, {name}: number {i} is {found}, expected {expected}\n{program}"
                );
            }
        };
        for (k, options) in settings().into_iter().enumerate() {
            close(
                ["vectors", "numbers", "quick vectors", "quick numbers"][k],
                &native(&program, options, &[&x]).expect("there are no guards"),
            );
        }
        let executable = program.clone().executable();
        let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
        let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        executable.run(&mut executable.workspace(), &[&x], &mut slices).expect("there are no guards");
        close("portable", &outputs);
    }
}

/// y[i + s] += c_s x[i] for some s, on rows of every short length.
#[test]
fn sums_into_neighbouring_cells_are_complete() {
    for trip in 1..=13 {
        for shifts in [&[0u32][..], &[0, 1], &[1, 0], &[0, 2], &[0, 1, 2], &[3, 0], &[0, 1, 1, 4]] {
            for (cleared, reversed) in [(true, false), (false, false), (true, true), (false, true)] {
                for parallel in [true, false] {
                    let mut addresses = vec![affine(Space::Input(0), 0, &[1])];
                    let mut body = vec![Instruction::Load(0)];
                    for (k, shift) in shifts.iter().enumerate() {
                        addresses.push(affine(Space::Output(0), *shift, &[1]));
                        body.push(Instruction::Constant(k as u32 % 3));
                        let constant = body.len() as u32 - 1;
                        body.push(Instruction::Apply { op: Op::Binary(rule::TIMES), a: 0, b: constant });
                        body.push(Instruction::Accumulate { value: constant + 1, address: k as u32 + 1 });
                    }
                    let nest = Nest { dimensions: vec![Dimension { trip, parallel }], reversed, addresses, body };
                    let length = trip as usize + 8;
                    let mut statements =
                        vec![Statement::Zero { space: Space::Output(0), start: 0, length: length as u32 }];
                    if !cleared {
                        statements.push(Statement::Nest(Nest {
                            dimensions: across(length),
                            reversed: false,
                            addresses: vec![affine(Space::Output(0), 0, &[1])],
                            body: vec![Instruction::Constant(0), Instruction::Accumulate { value: 0, address: 0 }],
                        }));
                    }
                    statements.push(Statement::Nest(nest));
                    let program = program(&[13], &[length], 0, statements);
                    let x: Vec<f64> = (1..=13).map(|i| i as f64).collect();
                    let expected = direct(&program, &[&x]);
                    for options in settings() {
                        // Small multiples of a quarter: every order of additions gives the same.
                        assert_eq!(
                            native(&program, options, &[&x]).expect("there are no guards"),
                            expected,
                            "{program}"
                        );
                    }
                    let single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
                    let found = native::<f32>(&program, Options::default(), &[&single]).expect("there are no guards");
                    assert_eq!(found[0].iter().map(|y| *y as f64).collect::<Vec<_>>(), expected[0], "{program}");
                }
            }
        }
    }
}

#[test]
fn empty_programs_and_loops_do_nothing() {
    let empty = program(&[], &[], 0, vec![]);
    assert_eq!(native::<f64>(&empty, Options::default(), &[]).expect("there are no guards"), Vec::<Vec<f64>>::new());
    let mut never = one_operation(Op::Chain, 4, Rules::default());
    let Statement::Nest(nest) = &mut never.statements[0] else { unreachable!("it is a nest") };
    nest.dimensions[0].trip = 0;
    let found = native(&never, Options::default(), &[&[1.0; 4], &[1.0; 4]]).expect("there are no guards");
    assert!(found[0].iter().all(|y| f64::is_nan(*y)));
}

#[test]
fn slices_of_other_lengths_are_refused() {
    let compiled = Compiled::<f64>::new(&one_operation(Op::Chain, 2, Rules::default()), Options::default());
    let compiled = compiled.expect("this machine has native code");
    let mut workspace = compiled.workspace();
    let (two, three) = ([0.0; 2], [0.0; 3]);
    let length = |expected, found| Err(RunError::Length { expected, found });
    assert_eq!(compiled.run(&mut workspace, &[&two, &three], &mut [&mut [0.0; 2]]), length(2, 3));
    assert_eq!(compiled.run(&mut workspace, &[&two, &two], &mut [&mut [0.0; 1]]), length(2, 1));
    assert_eq!(compiled.run(&mut workspace, &[&two], &mut [&mut [0.0; 2]]), length(2, 1));
    assert_eq!(compiled.run(&mut workspace, &[&two, &two], &mut []), length(1, 0));
    assert_eq!(compiled.run(&mut workspace, &[&two, &two], &mut [&mut [0.0; 2]]), Ok(()));
}

#[test]
fn a_workspace_of_another_program_is_made_to_fit() {
    let chain = Compiled::<f64>::new(&one_operation(Op::Chain, 1, Rules::default()), Options::default());
    let mut workspace = chain.expect("this machine has native code").workspace();
    let mut random = Random(3);
    let x = vec![0.5; INPUT as usize];
    let program = random_program(&mut random);
    let compiled = Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
    let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    compiled.run(&mut workspace, &[&x], &mut slices).expect("there are no guards");
    assert_eq!(outputs, native(&program, Options::default(), &[&x]).expect("there are no guards"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = one_operation(Op::Chain, 4, Rules::default());
    let refused = |change: &dyn Fn(&mut Program, &mut Nest)| {
        let mut program = good.clone();
        let Some(Statement::Nest(mut nest)) = program.statements.pop() else { unreachable!("it is a nest") };
        change(&mut program, &mut nest);
        program.statements.push(Statement::Nest(nest));
        Compiled::<f64>::new(&program, Options::default()).err()
    };
    assert_eq!(refused(&|_, _| {}), None);
    assert_eq!(refused(&|_, nest| nest.addresses[0].base = 1), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].strides = vec![-1]), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].strides = vec![i32::MAX]), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].space = Space::Input(0)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[2].space = Space::Output(1)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.addresses[0].table = Some(vec![0, 1, 2].into())), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|_, nest| nest.addresses[0].table = Some(vec![0, 1, 2, 4].into())),
        Some(Refused::Inconsistent)
    );
    assert_eq!(refused(&|_, nest| nest.body[1] = Instruction::Constant(9)), Some(Refused::Inconsistent));
    assert_eq!(refused(&|_, nest| nest.body[0] = Instruction::Load(9)), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|_, nest| nest.body[3] = Instruction::Store { value: 3, address: 2 }),
        Some(Refused::Inconsistent)
    );
    let clear = |start| Statement::Zero { space: Space::Output(0), start, length: 4 };
    assert_eq!(refused(&|program, _| program.statements.push(clear(0))), None);
    assert_eq!(refused(&|program, _| program.statements.push(clear(1))), Some(Refused::Inconsistent));
    assert_eq!(
        refused(&|program, _| program.inputs = vec![4; 14]),
        Some(Refused::TooManySlices { found: 15, most: 14 })
    );
    let few = Options { most_instructions: 3, ..Options::default() };
    assert_eq!(Compiled::<f64>::new(&good, few).err(), Some(Refused::TooLarge { found: 4, most: 3 }));
}

#[test]
fn threads_share_one_compiled_program() {
    let program = one_operation(Op::Unary(rule::EXP), 40, Rules::default());
    let compiled = Arc::new(Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code"));
    let threads: Vec<_> = (0..2)
        .map(|t| {
            let compiled = Arc::clone(&compiled);
            std::thread::spawn(move || {
                let (mut workspace, mut y) = (compiled.workspace(), [0.0; 40]);
                for k in 0..200 {
                    let x: Vec<f64> = (0..40).map(|i| (t * 40 + i) as f64 * 0.01 + k as f64 * 1e-3).collect();
                    compiled.run(&mut workspace, &[&x, &x], &mut [&mut y]).expect("there are no guards");
                    assert!(y.iter().zip(&x).all(|(y, x)| *y == x.exp()));
                }
            })
        })
        .collect();
    drop(compiled);
    threads.into_iter().for_each(|thread| thread.join().expect("all values are right"));
}

/// Executable memory without a file does not pile up.
#[cfg(target_os = "linux")]
#[test]
fn dropped_code_is_freed() {
    let mapped = || -> u64 {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("linux has it");
        let executable = maps.lines().filter(|line| line.contains("r-xp") && line.split_whitespace().count() == 5);
        let size = |line: &str| {
            let (start, end) = line.split_whitespace().next()?.split_once('-')?;
            Some(u64::from_str_radix(end, 16).ok()? - u64::from_str_radix(start, 16).ok()?)
        };
        executable.filter_map(size).sum()
    };
    let program = one_operation(Op::Chain, 40, Rules::default());
    let make = || Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
    let kept: Vec<_> = (0..500).map(|_| make()).collect();
    let most = mapped();
    assert!(most >= 500 * kept[0].bytes() as u64);
    drop(kept);
    (0..500).for_each(|_| drop(make()));
    // Other tests run at the same time.
    assert!(mapped() < most / 2, "{} bytes of {most} are left", mapped());
}

#[test]
fn listings_show_text_and_code() {
    let options = Options { listing: true, ..Options::default() };
    let program = one_operation(Op::Binary(rule::TIMES), 100, Rules::default());
    let compiled = Compiled::<f64>::new(&program, options).expect("this machine has native code");
    assert_eq!(compiled.listing().len(), 1);
    assert!(compiled.listing()[0].text.contains("fmul"));
    assert_eq!(compiled.listing()[0].code.len(), compiled.bytes());
    assert!(compiled.instructions() > 10);
}
