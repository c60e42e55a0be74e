//! Programs with blocks of work space transposed: the same numbers by the portable executor, but for the order in which it adds.

use super::*;
use crate::native::functions::Calls;
use crate::native::layout::transposed;
use crate::{Limits, Recorded, compile, record};
use num_traits::Float;
use random::Random;

const WIDTHS: [u32; 3] = [4, 4, 2];

fn with_vectors(program: &Program) -> Option<Program> {
    transposed(program, WIDTHS, Calls::of(Format::Double, program, WIDTHS[0]))
}

/// Whether two numbers are the same but for the order of additions.
fn is_close(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-12 * y.abs().max(1.0)
}

/// The outputs of the portable executor.
fn by_statements(program: &Program, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    let executable = program.clone().executable();
    let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    let mut workspace = executable.workspace();
    // What is in the work space before does not count.
    executable.run(&mut workspace, inputs, &mut slices).expect("there are no guards");
    executable.run(&mut workspace, inputs, &mut slices).expect("there are no guards");
    outputs
}

/// Σᵢ ln Σₖ exp(wₖ - Σⱼ (sᵢⱼ - mₖⱼ)²) for so many samples, numbers of a sample, and components.
fn mixture(samples: &[f64], numbers: usize, x: &[Recorded], components: usize) -> Recorded {
    let (weights, centres) = x.split_at(components);
    let distance = |sample: &[f64], centre: &[Recorded]| {
        sample.iter().zip(centre).map(|(s, m)| (*m - *s) * (*m - *s)).sum::<Recorded>()
    };
    let of_sample = |sample: &[f64]| {
        let terms = weights.iter().zip(centres.chunks(numbers));
        terms.map(|(weight, centre)| (*weight - distance(sample, centre)).exp()).sum::<Recorded>().ln()
    };
    samples.chunks(numbers).map(of_sample).sum()
}

#[test]
fn intermediate_results_of_samples_become_columns() {
    let mut random = Random(31);
    let mut changed = 0;
    for (count, numbers, components) in [(60, 3, 50), (130, 2, 45), (90, 4, 64), (40, 1, 60), (33, 12, 70)] {
        let samples: Vec<f64> = (0..count * numbers).map(|i| (1.3 * i as f64).sin()).collect();
        let x: Vec<f64> = (0..components * (1 + numbers)).map(|_| random.below(1000) as f64 / 1000.0).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(mixture(&samples, numbers, x, components)));
        let value = compile(&graph.unwrap()).unwrap();
        for program in [value.gradient().unwrap(), value.adjoint(1).unwrap(), value.tangent(2).unwrap(), value] {
            let seeds = vec![0.75; 2 * x.len()];
            let inputs: Vec<&[f64]> =
                program.inputs.iter().enumerate().map(|(i, n)| if i == 0 { &x[..] } else { &seeds[..*n] }).collect();
            let expected = by_statements(&program, &inputs);
            if let Some(made) = with_vectors(&program) {
                changed += 1;
                assert_eq!(made.work, program.work);
                let found = by_statements(&made, &inputs);
                for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                    assert!(is_close(*found, *expected), "{found}, expected {expected}\n{program}\n{made}");
                }
            }
            // By machine code, with sums in another order.
            for (name, options) in settings() {
                let found = native(&program, options, &inputs).expect("there are no guards");
                for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                    assert!(is_close(*found, *expected), "{name}: {found}, expected {expected}\n{program}");
                }
            }
        }
    }
    assert!(changed >= 4, "{changed}");
}

/// Rows of 64 numbers, 32 of them: stored by a loop over both that reads its inputs column by column, and read by one over the rows,
/// from `read`.
fn rows(read: Vec<Address>, between: Vec<Statement>) -> Program {
    let load = |first: u32| affine(Space::Input(0), first, &[1, 32]);
    let store = Nest {
        dimensions: across(32).into_iter().chain(across(64)).collect(),
        reversed: false,
        addresses: vec![load(0), load(1), load(2), load(3), affine(Space::Work, 0, &[64, 1])],
        body: vec![
            Instruction::Load(0),
            Instruction::Load(1),
            Instruction::Load(2),
            Instruction::Load(3),
            Instruction::Apply { op: Op::Binary(rules::PLUS), a: 0, b: 1 },
            Instruction::Apply { op: Op::Binary(rules::PLUS), a: 2, b: 3 },
            Instruction::Apply { op: Op::Binary(rules::PLUS), a: 4, b: 5 },
            Instruction::Store { value: 6, address: 4 },
        ],
    };
    let count = read.len() as u32;
    let mut body = Vec::new();
    for i in 0..count {
        body.push(Instruction::Load(i));
    }
    for i in 0..count {
        body.push(Instruction::Accumulate { value: i, address: count });
    }
    let addresses = read.into_iter().chain([affine(Space::Output(0), 0, &[1])]).collect();
    let read = Nest { dimensions: across(32), reversed: false, addresses, body };
    let clear = Statement::Zero { space: Space::Output(0), start: 0, length: 32 };
    let mut statements = vec![clear, Statement::Nest(store)];
    statements.extend(between);
    statements.push(Statement::Nest(read));
    program(&[64 * 32 + 3], &[32], 64 * 32, statements)
}

#[test]
fn cells_that_leave_their_rows_stay() {
    let columns = |count: u32| (0..count).map(|i| affine(Space::Work, i, &[64])).collect::<Vec<_>>();
    assert!(with_vectors(&rows(columns(20), Vec::new())).is_some());
    // One column back from row to row, which ends in the row before.
    let mut inside = columns(20);
    inside.push(affine(Space::Work, 40, &[63]));
    assert!(with_vectors(&rows(inside, Vec::new())).is_some());
    let mut crossing = columns(20);
    crossing.push(affine(Space::Work, 10, &[63]));
    assert!(with_vectors(&rows(crossing, Vec::new())).is_none());
    let mut tabled = columns(20);
    let table: Vec<u32> = (0..32).map(|row| 64 * row + row % 7).collect();
    tabled.push(Address { space: Space::Work, base: 0, strides: Vec::new(), table: Some(table.into()) });
    assert!(with_vectors(&rows(tabled, Vec::new())).is_none());
}

#[test]
fn blocks_that_are_cleared_after_their_first_use_stay() {
    let columns = || (0..20).map(|i| affine(Space::Work, i, &[64])).collect::<Vec<_>>();
    let clear = |start, length| Statement::Zero { space: Space::Work, start, length };
    assert!(with_vectors(&rows(columns(), vec![clear(100, 64)])).is_none());
    let in_loop = Statement::Loop { trip: 2, reversed: false, body: vec![clear(0, 64)] };
    assert!(with_vectors(&rows(columns(), vec![in_loop])).is_none());
    // A single cell, and a column from the last row to the first one.
    let mut read = columns();
    read.extend([affine(Space::Work, 64 * 5 + 7, &[0]), affine(Space::Work, 64 * 31 + 3, &[-64])]);
    let mut before = rows(read, Vec::new());
    before.statements.insert(0, clear(100, 640));
    let made = with_vectors(&before).expect("it is cleared before");
    let is_whole = |statement: &Statement| matches!(statement, Statement::Zero { start: 0, length: 2048, .. });
    assert!(made.statements.iter().any(is_whole), "{made}");
    let x: Vec<f64> = (0..64 * 32 + 3).map(|i| f64::from(i % 97)).collect();
    let stored = |row: usize, column: usize| x[row + 32 * column..][..4].iter().sum::<f64>();
    let expected: Vec<f64> = (0..32)
        .map(|row| (0..20).map(|column| stored(row, column)).sum::<f64>() + stored(5, 7) + stored(31 - row, 3))
        .collect();
    assert_eq!(by_statements(&made, &[&x])[0], expected);
    assert_eq!(by_statements(&before, &[&x])[0], expected);
}

#[test]
fn cells_that_are_read_outside_of_loops_move_with_their_blocks() {
    let columns = (0..20).map(|i| affine(Space::Work, i, &[64])).collect::<Vec<_>>();
    let last = Nest {
        dimensions: Vec::new(),
        reversed: false,
        addresses: vec![affine(Space::Work, 64 * 9 + 33, &[]), affine(Space::Output(0), 2, &[])],
        body: vec![Instruction::Load(0), Instruction::Accumulate { value: 0, address: 1 }],
    };
    let program = rows(columns, vec![Statement::Nest(last)]);
    let made = with_vectors(&program).expect("columns are read");
    let x: Vec<f64> = (0..64 * 32 + 3).map(|i| f64::from(i % 89)).collect();
    let expected = by_statements(&program, &[&x]);
    assert_eq!(by_statements(&made, &[&x]), expected);
    for (name, options) in settings() {
        assert_eq!(native(&program, options, &[&x]).expect("there are no guards"), expected, "{name}");
    }
}
