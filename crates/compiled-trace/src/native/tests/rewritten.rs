//! Programs that are rewritten before they are compiled: constants stored at once, tables that are regular in pieces.

use super::*;
use crate::native::{boxes, fills, pieces};
use crate::{Limits, Recorded, compile, record};
use num_traits::Float;
use random::{Random, direct};

fn tabled(space: Space, table: Vec<u32>) -> Address {
    Address { space, base: 0, strides: Vec::new(), table: Some(table.into()) }
}

fn check(program: &Program, inputs: &[&[f64]]) {
    let expected = direct(program, inputs);
    for (name, options) in settings() {
        let found = native(program, options, inputs).expect("there are no guards");
        for (found, expected) in found.iter().zip(&expected) {
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert!(same(*found, *expected), "{name}: number {i} is {found}, expected {expected}\n{program}");
            }
        }
    }
}

/// A matrix with a row of four constants and one product per row, whose place differs at both ends.
fn matrix(rows: u32, values: [u32; 2]) -> Program {
    let place = |row: u32| 5 * row + if row == 0 { 0 } else { 1 + u32::from(row + 1 == rows) };
    let others = (0..rows).flat_map(|row| (5 * row..5 * row + 5).filter(move |cell| *cell != place(row)));
    let others: Vec<u32> = others.collect();
    let constants = Nest {
        dimensions: across(others.len()),
        reversed: false,
        addresses: vec![
            tabled(Space::Constant, (0..others.len()).map(|i| values[i % 2]).collect()),
            tabled(Space::Output(0), others),
        ],
        body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
    };
    let products = Nest {
        dimensions: across(rows as usize),
        reversed: false,
        addresses: vec![affine(Space::Input(0), 0, &[1]), tabled(Space::Output(0), (0..rows).map(place).collect())],
        body: vec![
            Instruction::Load(0),
            Instruction::Apply { op: Op::Binary(rules::TIMES), a: 0, b: 0 },
            Instruction::Store { value: 1, address: 1 },
        ],
    };
    let length = 5 * rows as usize;
    program(&[rows as usize], &[length], 0, vec![Statement::Nest(products), Statement::Nest(constants)])
}

#[test]
fn constants_between_other_entries_are_stored_at_once() {
    let x: Vec<f64> = (0..37).map(|i| 0.5 * i as f64 - 3.0).collect();
    for rows in [5, 8, 37] {
        for values in [[0, 0], [1, 2]] {
            let program = matrix(rows, values);
            let rewritten = fills::gather(&program).expect("constants are stored from a table");
            assert_eq!(rewritten.statements.len(), 2);
            let Statement::Nest(first) = &rewritten.statements[0] else {
                panic!("the first statement stores constants")
            };
            // The first cell of the matrix is a product, as is the place of the last one, before the last constant.
            assert_eq!(first.dimensions, across(5 * rows as usize - 1));
            assert!(first.addresses.iter().all(|address| address.table.is_none()));
            check(&program, &[&x[..rows as usize]]);
        }
    }
}

#[test]
fn constants_stay_where_other_cells_would_be_changed() {
    let program = matrix(8, [0, 0]);
    // The product is not stored any more: nothing is known about these cells.
    let mut unknown = program.clone();
    unknown.statements.remove(0);
    assert!(fills::gather(&unknown).is_none_or(|made| made.statements.len() > 2), "{unknown}");
    // Products are added to cells that were cleared before.
    let mut added = program.clone();
    added.statements.insert(0, Statement::Zero { space: Space::Output(0), start: 0, length: 40 });
    let Statement::Nest(nest) = &mut added.statements[1] else { panic!("it is a nest") };
    nest.body[2] = Instruction::Accumulate { value: 1, address: 1 };
    assert!(fills::gather(&added).is_none());
    let x: Vec<f64> = (0..8).map(|i| 0.5 * i as f64 - 3.0).collect();
    check(&added, &[&x]);
    // A table that is too short is refused, not read.
    let mut short = program.clone();
    let Statement::Nest(nest) = &mut short.statements[1] else { panic!("it is a nest") };
    nest.addresses[1].table = Some(vec![1, 2].into());
    assert_eq!(Compiled::<f64>::new(&short, Options::default()).err(), Some(Refused::Inconsistent));
}

/// y[table] = 2 x[table], with tables of random pieces in a loop of three iterations.
#[test]
fn tables_of_pieces_have_vectors() {
    let mut random = Random(5);
    let mut split = 0;
    for case in 0..200 {
        let (outer, trip) = (1 + random.below(3) as u32, 8 + random.below(33) as u32);
        // Up to three short pieces beside a long one.
        let mut cuts: Vec<u32> = (0..random.below(4)).map(|_| random.below(4) as u32).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut table = |stretch: u32| -> Vec<u32> {
            let gap = random.below(3) as u32;
            let row = outer * stretch + random.below(5) as u32;
            let cell = |i: u32, k: u32| i * row + k + gap * cuts.iter().filter(|cut| **cut < k).count() as u32;
            (0..outer).flat_map(|i| (0..trip).map(move |k| (i, k))).map(|(i, k)| cell(i, k)).collect()
        };
        let (from, to) = (table(60), table(60));
        let length = 3 * (3 * 60 + 5);
        let in_loop = random.one_in(2);
        let nest = Nest {
            dimensions: across(trip as usize),
            reversed: random.one_in(2),
            addresses: vec![
                tabled(Space::Input(0), from),
                tabled(Space::Output(0), to),
                affine(Space::Input(0), 7, if in_loop { &[40, 1] } else { &[1] }),
            ],
            body: vec![
                Instruction::Load(0),
                Instruction::Load(2),
                Instruction::Apply { op: Op::Binary(rules::PLUS), a: 0, b: 1 },
                Instruction::Store { value: 2, address: 1 },
            ],
        };
        let clear = Statement::Zero { space: Space::Output(0), start: 0, length };
        let statement = if in_loop {
            Statement::Loop { trip: outer, reversed: random.one_in(2), body: vec![Statement::Nest(nest)] }
        } else {
            let mut nest = nest;
            nest.dimensions = vec![Dimension { trip: outer, parallel: true }, nest.dimensions[0]];
            nest.addresses[2].strides = vec![40, 1];
            Statement::Nest(nest)
        };
        let program = program(&[length as usize], &[length as usize], 0, vec![clear, statement]);
        split += usize::from(boxes::split(&program.statements, &mut Vec::new()).is_some());
        let x: Vec<f64> = (0..length).map(|i| 1.0 + i as f64).collect();
        let expected = direct(&program, &[&x]);
        for (name, options) in settings() {
            let found = native(&program, options, &[&x]).expect("there are no guards");
            assert_eq!(found, expected, "case {case}, {name}\n{program}");
        }
    }
    assert!(split >= 150, "{split} of 200 programs were split");
}

/// A loop whose first or last iteration reads elsewhere: y[i] = x[table], w += y[i] over all iterations.
#[test]
fn an_iteration_that_is_different_leaves_the_loop() {
    for different in [0, 5] {
        for reversed in [false, true] {
            let (trip, length) = (6, 20);
            let row = |i: u32| if i == different { 150 } else { 20 * i };
            let table = (0..trip).flat_map(|i| (0..length).map(move |k| row(i) + k + u32::from(k > 0))).collect();
            let nest = Nest {
                dimensions: across(length as usize),
                reversed,
                addresses: vec![
                    tabled(Space::Input(0), table),
                    affine(Space::Output(0), 0, &[20, 1]),
                    affine(Space::Work, 0, &[1, 0]),
                    affine(Space::Work, 1, &[1, 0]),
                ],
                body: vec![
                    Instruction::Load(0),
                    Instruction::Load(2),
                    Instruction::Apply { op: Op::Binary(rules::TIMES), a: 0, b: 1 },
                    Instruction::Store { value: 2, address: 1 },
                    Instruction::Accumulate { value: 0, address: 3 },
                ],
            };
            let statements = vec![
                Statement::Zero { space: Space::Work, start: 0, length: 7 },
                Statement::Loop { trip, reversed, body: vec![Statement::Nest(nest)] },
            ];
            let made = boxes::split(&statements, &mut Vec::new()).expect("the rest of the loop is regular");
            let loops = |statement: &Statement| matches!(statement, Statement::Loop { trip: 5, .. });
            assert_eq!(made.iter().position(loops), Some(if (different == 0) != reversed { 3 } else { 1 }));
            let program = program(&[200], &[120], 7, statements);
            let x: Vec<f64> = (0..200).map(f64::from).collect();
            check(&program, &[&x]);
        }
    }
}

#[test]
fn tables_without_pieces_and_loops_in_order_stay() {
    let nest = |table: Vec<u32>, parallel: bool| {
        let trip = table.len() as u32;
        let addresses = vec![tabled(Space::Input(0), table), affine(Space::Output(0), 0, &[1])];
        let body = vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }];
        Statement::Nest(Nest { dimensions: vec![Dimension { trip, parallel }], reversed: false, addresses, body })
    };
    let is_split = |statement: Statement| boxes::split(&[statement], &mut Vec::new()).is_some();
    assert!(is_split(nest((10..30).collect(), true)));
    assert!(!is_split(nest((10..30).collect(), false)));
    assert!(!is_split(nest((0..20).map(|i| 7 * i % 20).collect(), true)), "every cell would be a piece");
    assert!(!is_split(nest((0..20).map(|i| i + i / 5).collect(), true)), "no piece is most of the row");
    assert!(!is_split(nest((0..6).collect(), true)), "the row is short");
}

/// Statements that store constants and numbers to an output of 300 cells and add to it, which all overlap.
fn mixed(random: &mut Random) -> Program {
    let mut statements = vec![Statement::Zero { space: Space::Output(1), start: 0, length: 300 }];
    for _ in 0..1 + random.below(5) {
        let trip = [1, 5, 40, 100, 150][random.below(5) as usize];
        let base = random.below(300 - trip) as u32;
        let nest = |instructions: Vec<Instruction>| {
            let cells = (base..base + trip as u32).map(|cell| cell ^ 1).collect();
            let to = if trip % 2 == 0 { tabled(Space::Output(1), cells) } else { affine(Space::Output(1), base, &[1]) };
            let addresses = vec![affine(Space::Input(0), base, &[1]), to];
            Statement::Nest(Nest { dimensions: across(trip as usize), reversed: false, addresses, body: instructions })
        };
        statements.push(match random.below(5) {
            0 => Statement::Zero { space: Space::Output(1), start: base, length: trip as u32 },
            1 | 2 => nest(vec![Instruction::Constant(0), Instruction::Store { value: 0, address: 1 }]),
            3 => nest(vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }]),
            _ => nest(vec![Instruction::Load(0), Instruction::Accumulate { value: 0, address: 1 }]),
        });
    }
    program(&[301], &[1, 301], 0, statements)
}

#[test]
fn runs_that_find_constants_leave_what_other_runs_leave() {
    let mut random = Random(0xC0);
    let [x, other]: [Vec<f64>; 2] = [3.0, -7.0].map(|start| (0..301).map(|i| start + 0.25 * i as f64).collect());
    let mut found = 0;
    for _ in 0..300 {
        let program = mixed(&mut random);
        let expected = direct(&program, &[&x]);
        for (name, options) in settings() {
            let options = Options { kept: Some(1), ..options };
            let Ok(compiled) = Compiled::<f64>::new(&program, options) else { continue };
            found += usize::from(compiled.number().is_some());
            let (mut workspace, mut single) = (compiled.workspace(), compiled.single::<1, 2>());
            for by_single in [false, true] {
                let (mut value, mut y) = ([f64::NAN], vec![f64::NAN; 301]);
                compiled.run(&mut workspace, &[&other], &mut [&mut value, &mut y]).unwrap();
                match &mut single {
                    Some(single) if by_single => assert!(single.run_again(&[&x], &mut [&mut value, &mut y])),
                    _ => compiled.run_again(&mut workspace, &[&x], &mut [&mut value, &mut y]).unwrap(),
                }
                for (i, (found, expected)) in y.iter().zip(&expected[1]).enumerate() {
                    assert!(same(*found, *expected), "{name}: number {i} is {found}, expected {expected}\n{program}");
                }
            }
            let short = compiled.run_again(&mut workspace, &[&x], &mut [&mut [0.0], &mut []]);
            assert_eq!(short, Err(RunError::Length { expected: 301, found: 0 }));
        }
    }
    assert!(found > 300, "{found} programs store constants first");
}

/// Gradients of random graphs in pieces of all lengths: the same operations in the same order.
#[test]
fn bodies_in_pieces_have_the_bits_of_whole_ones() {
    let x = [0.3, -0.4, 0.5, 0.6];
    for seed in 1..40 {
        let mut random = Random(seed);
        let function = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
            let mut values = x.to_vec();
            for _ in 0..30 {
                let [a, b] = [0, 1].map(|_| values[random.below(values.len() as u64) as usize]);
                values.push(match random.below(6) {
                    0 => a + b * 0.5,
                    1 => a - b,
                    2 => a * b,
                    3 => (a * a + 1.0).sqrt(),
                    4 => -a,
                    // The constant 2 is one instruction for all.
                    _ => b * 2.0 + 0.25,
                });
            }
            y.push(values.iter().skip(20).fold(x[0], |sum, v| sum + *v));
        };
        let graph = record(&x, &[], Limits::default(), function).expect("it can be recorded");
        let whole = compile(&graph).and_then(|value| value.gradient()).expect("it can be compiled");
        let expected = direct(&whole, &[&x, &[]]);
        assert!(expected.iter().flatten().all(|v| v.is_finite()), "{whole}");
        for length in [1, 2, 3, 7, 40] {
            let Some(cut) = pieces::cut_into(&whole, 0, length) else { panic!("it holds numbers") };
            assert!(cut.statements.len() > whole.statements.len() && cut.work > whole.work, "{cut}");
            assert_eq!(direct(&cut, &[&x, &[]]), expected, "{length}: {cut}");
            let found = native(&cut, Options::default(), &[&x, &[]]).expect("there are no guards");
            assert_eq!(found, native(&whole, Options::default(), &[&x, &[]]).expect("there are no guards"), "{cut}");
        }
    }
}
