//! Writes constants in the order of the cells that they go to.
//!
//! Called when a program is optimised. Entries of a Jacobian or Hessian that no input changes are stored from a table of constants to a
//! table of cells, in the order in which the loops were found. Copied in the order of the cells they need no table, and become a copy of
//! consecutive numbers in vectors. Long runs that repeat a few constants, as the bands of a matrix do, are written from these: a copy would
//! read as many numbers from memory as it writes.

use crate::program::*;
use crate::sorting;

/// Runs of consecutive cells are copied if they are at least so long on average.
const RUN: usize = 8;
/// The largest period of constants that are repeated, and the shortest sequence that is worth a loop of its own.
const PERIOD: usize = 8;
const LONG: usize = 256;
/// Repetitions are looked for until there are so many statements: each search reads all that is left.
const MOST_PARTS: usize = 32;
/// Vectors have at most so many numbers in the usual case; the repeated part is a multiple of it.
const LANES: usize = 4;

/// Replaces copies of constants through tables by copies of consecutive constants, which are appended to `constants`.
pub(crate) fn order_constants(statements: &mut Vec<Statement>, constants: &mut Vec<f64>) {
    let mut at = 0;
    while at < statements.len() {
        let Some((space, pairs)) = copies(&statements[at], constants) else {
            at += 1;
            continue;
        };
        let runs = || pairs.chunk_by(|a, b| a.0 + 1 == b.0);
        // A cell that is stored twice would be two runs.
        if runs().count() * RUN > pairs.len() {
            at += 1;
            continue;
        }
        let mut ordered = Vec::new();
        runs().for_each(|run| write(space, run, constants, &mut ordered));
        let count = ordered.len();
        statements.splice(at..=at, ordered);
        at += count;
    }
}

/// The cells that a nest copies constants to, in ascending order, if it does nothing else and uses a table.
fn copies(statement: &Statement, constants: &[f64]) -> Option<(Space, Vec<(u32, f64)>)> {
    let Statement::Nest(nest) = statement else { return None };
    let [Instruction::Load(from), Instruction::Store { value: 0, address: to }] = nest.body[..] else { return None };
    let (from, to) = (&nest.addresses[from as usize], &nest.addresses[to as usize]);
    let has_table = from.table.is_some() || to.table.is_some();
    if from.space != Space::Constant || !has_table || !nest.dimensions.iter().all(|dimension| dimension.parallel) {
        return None;
    }
    let trips = nest.trips(&[]);
    let count = trips.iter().try_fold(1usize, |count, trip| count.checked_mul(*trip as usize))?;
    if count == 0 || constants.len() + count > u32::MAX as usize / 4 {
        return None;
    }
    let mut counters = vec![0; trips.len()];
    let mut pairs = Vec::with_capacity(count);
    for _ in 0..count {
        pairs.push((to.cell(&counters, &trips) as u32, constants[from.cell(&counters, &trips)]));
        for (counter, trip) in counters.iter_mut().zip(&trips).rev() {
            *counter += 1;
            if *counter < *trip {
                break;
            }
            *counter = 0;
        }
    }
    sorting::sort_by_key(&mut pairs, |(cell, _)| *cell);
    Some((to.space, pairs))
}

/// Writes constants to consecutive cells.
fn write(space: Space, run: &[(u32, f64)], constants: &mut Vec<f64>, out: &mut Vec<Statement>) {
    let found = if out.len() < MOST_PARTS { longest_repetition(run) } else { None };
    match found {
        Some((start, length, period)) => {
            let part = (period..).step_by(period).find(|part| part % LANES == 0 && *part > LANES).unwrap_or(period);
            let copies = length / part;
            let end = start + copies * part;
            write(space, &run[..start], constants, out);
            out.push(copy(space, &run[start..start + part], copies, constants));
            write(space, &run[end..], constants, out);
        }
        None if run.is_empty() => {}
        None => out.push(copy(space, run, 1, constants)),
    }
}

/// The start, the length and the period of the longest sequence that repeats a few constants, if it is long.
fn longest_repetition(run: &[(u32, f64)]) -> Option<(usize, usize, usize)> {
    let mut best = (0, LONG - 1, 0);
    for period in 1..=PERIOD.min(run.len()) {
        let mut start = 0;
        for i in period..=run.len() {
            if i < run.len() && run[i].1.to_bits() == run[i - period].1.to_bits() {
                continue;
            }
            if i - start > best.1 {
                best = (start, i - start, period);
            }
            start = i + 1 - period;
        }
    }
    (best.2 > 0).then_some(best)
}

/// Copies constants to consecutive cells, several times one after the other.
fn copy(space: Space, part: &[(u32, f64)], copies: usize, constants: &mut Vec<f64>) -> Statement {
    let mut dimensions = vec![Dimension { trip: part.len() as u32, parallel: true }];
    let mut addresses = vec![
        Address { space: Space::Constant, base: constants.len() as u32, strides: vec![1], table: None },
        Address { space, base: part[0].0, strides: vec![1], table: None },
    ];
    if copies > 1 {
        dimensions.insert(0, Dimension { trip: copies as u32, parallel: true });
        addresses[0].strides.insert(0, 0);
        addresses[1].strides.insert(0, part.len() as i32);
    }
    constants.extend(part.iter().map(|(_, value)| *value));
    let body = vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }];
    Statement::Nest(Nest { dimensions, reversed: false, addresses, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Recorded, compile, record};

    fn second_differences(n: usize) -> Program {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let f = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
            y.push(x.windows(2).map(|v| (v[1] - v[0]) * (v[1] - v[0])).sum());
        };
        let graph = record(&x, &[], Limits::default(), f).unwrap();
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for i in 0..n {
            columns.extend((i.saturating_sub(1)..(i + 2).min(n)).map(|j| j as u32));
            starts.push(columns.len() as u32);
        }
        compile(&graph.hessian_entries(&starts, &columns, 1 << 20).unwrap().unwrap()).unwrap()
    }

    fn run(program: Program, x: &[f64]) -> Vec<f64> {
        let mut y = vec![f64::NAN; program.outputs[0]];
        let executable = program.executable();
        executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut y]).unwrap();
        y
    }

    #[test]
    fn constant_entries_are_copied_in_order() {
        let program = second_differences(100);
        let tables = program.statements.iter().any(|statement| match statement {
            Statement::Nest(nest) => nest.addresses.iter().any(|address| address.table.is_some()),
            _ => false,
        });
        assert!(!tables, "{program}");
        let mut expected = vec![2.0, -2.0];
        (1..99).for_each(|_| expected.extend([-2.0, 4.0, -2.0]));
        expected.extend([-2.0, 2.0]);
        assert_eq!(run(program, &[5.0; 100]), expected);
    }

    #[test]
    fn repeated_constants_are_written_from_a_few() {
        let n = 500;
        let program = second_differences(n);
        assert!(program.constants.len() < 40, "{} constants\n{program}", program.constants.len());
        assert!(program.statement_count() <= 3, "{program}");
        let mut expected = vec![2.0, -2.0];
        (1..n - 1).for_each(|_| expected.extend([-2.0, 4.0, -2.0]));
        expected.extend([-2.0, 2.0]);
        assert_eq!(run(program, &vec![5.0; n]), expected);
    }

    #[test]
    fn the_longest_repetition_is_found() {
        let run = |values: &[f64]| values.iter().enumerate().map(|(i, v)| (i as u32, *v)).collect::<Vec<_>>();
        let ramp: Vec<f64> = (0..300).map(f64::from).collect();
        assert_eq!(longest_repetition(&run(&ramp)), None);
        assert_eq!(longest_repetition(&run(&[[7.0].repeat(LONG - 1), ramp.clone()].concat())), None);
        let mixed = [ramp.clone(), [1.0, 2.0, 2.0].repeat(100), ramp, [0.0, -0.0].repeat(140)].concat();
        // The ramp ends with 299, and the next one begins with 0.
        assert_eq!(longest_repetition(&run(&mixed)), Some((300, 300, 3)));
        assert_eq!(longest_repetition(&run(&[0.0, -0.0].repeat(140))), Some((0, 280, 2)));
        assert_eq!(longest_repetition(&[]), None);
    }

    fn through_tables(cells: &[u32], values: &[u32]) -> Vec<Statement> {
        let address = |space, table: &[u32]| Address { space, base: 0, strides: vec![0], table: Some(table.into()) };
        vec![Statement::Nest(Nest {
            dimensions: vec![Dimension { trip: cells.len() as u32, parallel: true }],
            reversed: false,
            addresses: vec![address(Space::Constant, values), address(Space::Output(0), cells)],
            body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
        })]
    }

    #[test]
    fn two_runs_become_two_copies_and_scattered_cells_stay() {
        let cells: Vec<u32> = (40..50).rev().chain(0..10).collect();
        let mut statements = through_tables(&cells, &[1, 0].repeat(10));
        let mut constants = vec![3.0, 7.0];
        order_constants(&mut statements, &mut constants);
        assert_eq!(statements.len(), 2);
        assert_eq!(constants.len(), 22);
        // Cell 0 has the constant of iteration 10, cell 49 that of iteration 0.
        assert_eq!((constants[2], constants[21]), (7.0, 7.0));

        let scattered: Vec<u32> = (0..20).map(|i| 3 * i).collect();
        let before = through_tables(&scattered, &[0; 20]);
        let mut statements = before.clone();
        order_constants(&mut statements, &mut constants);
        assert_eq!((statements.len(), constants.len()), (1, 22));
        assert!(matches!((&statements[0], &before[0]), (Statement::Nest(a), Statement::Nest(b)) if a == b));
    }
}
