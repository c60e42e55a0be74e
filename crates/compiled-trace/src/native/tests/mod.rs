//! Machine code against direct evaluation: every rule, every operation, guards, custom rules, refusals.

#[cfg(feature = "rayon")]
mod chunks;
#[cfg(target_arch = "x86_64")]
mod elementary;
mod evaluate;
mod generated;
mod layouts;
mod limits;
mod random;
mod recorded;
mod rewritten;
#[cfg(target_arch = "x86_64")]
mod superwords;
mod times;

use super::options::Generator;
use super::*;
use crate::program::{Address, Dimension, Instruction, Nest, Program, RuleCall, Space, Statement};
use crate::recording::custom::{CallObject, RuleFunction};
use crate::recording::graph::{Op, Outcome};
use crate::recording::rules::{self, Rules};
use differentiation_interface_core::rules::{Binary, Partial, RuleVisitor, Unary, each_binary, each_unary};
use differentiation_interface_core::scalar::Scalar;
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
        absence: Default::default(),
    }
}

/// The format of a type that has one.
fn format<S: Base>() -> Format {
    Format::of::<S>().expect("`f64` or `f32`")
}

fn without_vectors() -> Options {
    Options { vectors: false, ..Options::default() }
}

/// All settings with which a program must give right results, with names.
fn settings() -> Vec<(&'static str, Options)> {
    let numbers = |options| Options { vectors: false, ..options };
    let baseline = Options { generator: Generator::Sse2, ..Options::default() };
    let all = vec![
        ("vectors", Options::default()),
        ("vectors of at most 32 bytes", Options { generator: Generator::Avx2, ..Options::default() }),
        ("numbers", without_vectors()),
        ("baseline vectors", baseline),
        ("baseline numbers", numbers(baseline)),
    ];
    #[cfg(feature = "native")]
    let all = {
        let cranelift = Options { generator: Generator::Cranelift, ..Options::default() };
        let quick = Options { optimised: 0, ..cranelift };
        let more = vec![
            ("vectors by Cranelift", cranelift),
            ("numbers by Cranelift", numbers(cranelift)),
            ("quick vectors by Cranelift", quick),
            ("quick numbers by Cranelift", numbers(quick)),
        ];
        [all, more].concat()
    };
    all
}

/// Runs a program as machine code on fresh outputs.
fn native<S: Base>(program: &Program, options: Options, inputs: &[&[S]]) -> Result<Vec<Vec<S>>, RunError> {
    let compiled = Compiled::<S>::new(program, options).expect("this machine has native code");
    let mut outputs: Vec<Vec<S>> = program.outputs.iter().map(|length| vec![S::nan(); *length]).collect();
    let mut slices: Vec<&mut [S]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    let mut workspace = compiled.workspace();
    workspace.cells.fill(S::nan());
    compiled.run(&mut workspace, inputs, &mut slices)?;
    Ok(outputs)
}

/// Equality of all bits, with all NaN being equal.
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

fn check_operation<S: Base>(name: &str, op: Op, rules: &Rules, signed_zeros: bool, value: impl Fn(S, S) -> S) {
    let [x, y] = pairs::<S>();
    for (_, options) in settings() {
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
        // The points are enough for vectors, and then some functions are own ones.
        let power = |x: f64| match rules.other_unary(number) {
            Some(rules::OtherUnary::Powc(c)) if *c != 1.0 => functions::own_of_two(rules::POWF, x, *c),
            _ => None,
        };
        let value = |x: f64| functions::own(number, x).or_else(|| power(x)).unwrap_or_else(|| rule.value(x));
        check_operation::<f64>(R::NAME, Op::Unary(number), &rules, true, |x, _| value(x));
        check_operation::<f32>(R::NAME, Op::Unary(number), &rules, true, |x, _| rule.value(x));
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        let mut rules = Rules::default();
        let number = rules.number_binary(rule).expect("there are few rules");
        // IEEE 754 leaves open which of two zeros is the larger.
        let signed_zeros = !matches!(number, rules::MAX | rules::MIN);
        let value = |x: f64, y: f64| functions::own_of_two(number, x, y).unwrap_or_else(|| rule.value(x, y));
        check_operation::<f64>(R::NAME, Op::Binary(number), &rules, signed_zeros, value);
        check_operation::<f32>(R::NAME, Op::Binary(number), &rules, signed_zeros, |x, y| rule.value(x, y));
    }
}

#[test]
fn every_rule_has_the_value_of_the_table() {
    each_unary(&mut EveryRule);
    each_binary(&mut EveryRule);
}

fn check_operations<S: Base>() {
    let rules = Rules::default();
    for number in 0..crate::recording::graph::RELATIONS.len() as u8 {
        check_operation::<S>("compare", Op::Compare(number), &rules, true, |x, y| {
            if crate::recording::graph::relation(number).holds(x.partial_cmp(&y)) { S::ONE } else { S::ZERO }
        });
    }
    check_operation::<S>("keep", Op::Keep, &rules, true, |x, y| if x != S::ZERO { y } else { -S::ZERO });
    check_operation::<S>("drop", Op::Drop, &rules, true, |x, y| if x != S::ZERO { -S::ZERO } else { y });
}

#[test]
fn every_operation_has_its_value() {
    check_operations::<f64>();
    check_operations::<f32>();
}

/// Negations before every operation that can absorb them.
#[test]
fn signs_move_exactly() {
    let [x, y] = pairs::<f64>();
    for (number, value) in [
        (rules::PLUS, (|x, y| x + y) as fn(f64, f64) -> f64),
        (rules::MINUS, |x, y| x - y),
        (rules::TIMES, |x, y| x * y),
        (rules::OVER, |x, y| x / y),
        (rules::ATAN2, |x, y| x.atan2(y)),
    ] {
        for (negate_x, negate_y, negate_result) in (0..8).map(|bits| (bits & 1 == 1, bits & 2 == 2, bits & 4 == 4)) {
            let mut body = vec![Instruction::Load(0), Instruction::Load(1)];
            let mut add = |op: Op, a: u32, b: u32| {
                body.push(Instruction::Apply { op, a, b });
                body.len() as u32 - 1
            };
            let negate = Op::Unary(rules::NEGATE);
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
        // One by one, and as the only failing pair among pairs for which the guard holds, in either lane.
        let mut row = program.clone();
        (row.inputs, row.outputs) = (vec![9, 9], vec![9]);
        let Statement::Nest(nest) = &mut row.statements[0] else { unreachable!("it is a nest") };
        nest.dimensions = across(9);
        for (_, options) in settings() {
            let alone = Compiled::<f64>::new(&program, options).expect("this machine has native code");
            let row = Compiled::<f64>::new(&row, options).expect("this machine has native code");
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
                            matches!(error, RunError::Guard(GuardFailed { place: Some(place) }) if place.file().ends_with("native/tests/mod.rs"))
                        );
                    }
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
    fn identity(&self) -> u64 {
        0
    }
    fn is_known_while_alive(&self) -> bool {
        false
    }
    fn call(&self, _: RuleFunction, _: usize, _: usize, data: &dyn Any, out: &mut dyn Any) {
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
            function: RuleFunction::Value,
            inputs: 2,
            outputs: 2,
            arguments: vec![affine(Space::Work, 0, &[1]), affine(Space::Input(0), 0, &[1])],
            results: vec![affine(Space::Work, 1, &[1]), affine(Space::Output(0), 0, &[1])],
            accumulate,
            is_derived: true,
        };
        let double = Nest {
            dimensions: vec![],
            reversed: false,
            addresses: vec![affine(Space::Output(0), 0, &[1]), affine(Space::Output(1), 0, &[1])],
            body: vec![
                Instruction::Load(0),
                Instruction::Apply { op: Op::Binary(rules::PLUS), a: 0, b: 0 },
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

#[test]
fn empty_programs_and_loops_do_nothing() {
    let empty = program(&[], &[], 0, vec![]);
    assert_eq!(native::<f64>(&empty, Options::default(), &[]).expect("there are no guards"), Vec::<Vec<f64>>::new());
    let mut never = one_operation(Op::Binary(rules::TIMES), 4, Rules::default());
    let Statement::Nest(nest) = &mut never.statements[0] else { unreachable!("it is a nest") };
    nest.dimensions[0].trip = 0;
    let found = native(&never, Options::default(), &[&[1.0; 4], &[1.0; 4]]).expect("there are no guards");
    assert!(found[0].iter().all(|y| f64::is_nan(*y)));
}

#[test]
fn slices_of_other_lengths_are_refused() {
    let compiled =
        Compiled::<f64>::new(&one_operation(Op::Binary(rules::TIMES), 2, Rules::default()), Options::default());
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
    let product =
        Compiled::<f64>::new(&one_operation(Op::Binary(rules::TIMES), 1, Rules::default()), Options::default());
    let mut workspace = product.expect("this machine has native code").workspace();
    let x = vec![0.5; random::INPUT as usize];
    let program = random::random_program(&mut random::Random(3));
    let compiled = Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code");
    let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    compiled.run(&mut workspace, &[&x], &mut slices).expect("there are no guards");
    assert_eq!(outputs, native(&program, Options::default(), &[&x]).expect("there are no guards"));
}

#[test]
fn threads_share_one_compiled_program() {
    let program = one_operation(Op::Unary(rules::EXP), 40, Rules::default());
    let compiled = Arc::new(Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code"));
    let threads: Vec<_> = (0..2)
        .map(|t| {
            let compiled = Arc::clone(&compiled);
            std::thread::spawn(move || {
                let (mut workspace, mut y) = (compiled.workspace(), [0.0; 40]);
                for k in 0..200 {
                    let x: Vec<f64> = (0..40).map(|i| (t * 40 + i) as f64 * 0.01 + k as f64 * 1e-3).collect();
                    compiled.run(&mut workspace, &[&x, &x], &mut [&mut y]).expect("there are no guards");
                    let exp = |x: f64| functions::own(rules::EXP, x).unwrap_or_else(|| x.exp());
                    assert!(y.iter().zip(&x).all(|(y, x)| *y == exp(*x)));
                }
            })
        })
        .collect();
    drop(compiled);
    threads.into_iter().for_each(|thread| thread.join().expect("all values are right"));
}

/// Executable memory without a file does not accumulate.
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
    let mut program = one_operation(Op::Binary(rules::TIMES), 40, Rules::default());
    let mut make = || {
        // Another program each time.
        program.constants[0] += 1.0;
        Compiled::<f64>::new(&program, Options::default()).expect("this machine has native code")
    };
    let kept: Vec<_> = (0..500).map(|_| make()).collect();
    let most = mapped();
    assert!(most >= 500 * kept[0].bytes() as u64);
    drop(kept);
    (0..500).for_each(|_| drop(make()));
    // Other tests run at the same time.
    assert!(mapped() < most / 2, "{} bytes of {most} are left", mapped());
}

#[test]
fn the_same_program_has_the_same_code() {
    let program = one_operation(Op::Binary(rules::ATAN2), 41, Rules::default());
    let make =
        |program: &Program, options| Compiled::<f64>::new(program, options).expect("this machine has native code");
    let first = make(&program, Options::default());
    assert!(Arc::ptr_eq(&first.shared.code, &make(&program.clone(), Options::default()).shared.code));
    assert!(!Arc::ptr_eq(&first.shared.code, &make(&program, without_vectors()).shared.code), "other options");
    let changes: [&dyn Fn(&mut Program); 4] = [
        &|program| program.constants[1] = 7.0,
        &|program| program.constants[3] = -0.0,
        &|program| program.inputs[0] += 1,
        &|program| {
            let Statement::Nest(nest) = &mut program.statements[0] else { unreachable!("it is a nest") };
            nest.body[2] = Instruction::Apply { op: Op::Binary(rules::HYPOT), a: 0, b: 1 };
        },
    ];
    for change in changes {
        let mut other = program.clone();
        change(&mut other);
        assert!(!Arc::ptr_eq(&first.shared.code, &make(&other, Options::default()).shared.code), "{other}");
    }
    let single = Compiled::<f32>::new(&program, Options::default()).expect("this machine has native code");
    assert!(!Arc::ptr_eq(&first.shared.code, &single.shared.code), "other numbers");
    let (y, x) = ([0.5; 41], [2.0; 41]);
    let (weak, again) = (Arc::downgrade(&first.shared.code), make(&program, Options::default()));
    drop(first);
    let mut result = [0.0; 41];
    again.run(&mut again.workspace(), &[&y, &x], &mut [&mut result]).expect("there are no guards");
    assert_eq!(result, [0.5f64.atan2(2.0); 41]);
    drop(again);
    assert_eq!(weak.strong_count(), 0, "code is freed with the last program that uses it");
}

#[test]
fn listings_show_text_and_code() {
    let options = Options { listing: true, ..Options::default() };
    let program = one_operation(Op::Binary(rules::TIMES), 100, Rules::default());
    let compiled = Compiled::<f64>::new(&program, options).expect("this machine has native code");
    assert_eq!(compiled.listing().len(), 1);
    assert!(compiled.listing()[0].text.contains("Multiply"));
    assert_eq!(compiled.listing()[0].code.len(), compiled.bytes());
    assert!(compiled.instructions() > 10);
}

/// 5000 reductions in one loop, of which only some fit into memory of a function.
#[test]
fn many_sums_are_complete() {
    for count in [13, 100, 5000u32] {
        let mut addresses = vec![affine(Space::Input(0), 0, &[1])];
        addresses.extend((0..count).map(|i| affine(Space::Output(0), i, &[0])));
        let mut body = vec![Instruction::Load(0)];
        body.extend((1..=count).map(|address| Instruction::Accumulate { value: 0, address }));
        let nest = Nest { dimensions: across(7), reversed: false, addresses, body };
        let clear = Statement::Zero { space: Space::Output(0), start: 0, length: count };
        let program = program(&[7], &[count as usize], 0, vec![clear, Statement::Nest(nest)]);
        for (name, options) in settings() {
            let found =
                native(&program, options, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]).expect("there are no guards");
            let wrong = found[0].iter().position(|sum| *sum != 28.0);
            assert_eq!(wrong, None, "{name}, {count} sums: {:?}", wrong.map(|wrong| found[0][wrong]));
        }
    }
}
