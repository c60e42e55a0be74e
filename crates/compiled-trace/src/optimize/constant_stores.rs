//! Writes constants in the order of the cells that they go to.
//!
//! Called when a program is optimised. Entries of a Jacobian or Hessian that no input changes are stored from a table of constants to a
//! table of cells, in the order in which the loops were found. Copied in the order of the cells they need no table, and become a copy of
//! consecutive numbers in vectors.

use crate::program::*;

/// Runs of consecutive cells are copied if they are at least so long on average.
const RUN: usize = 8;

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
        let ordered: Vec<Statement> = runs().map(|run| copy(space, run, constants)).collect();
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
    pairs.sort_unstable_by_key(|(cell, _)| *cell);
    Some((to.space, pairs))
}

/// Copies constants to consecutive cells.
fn copy(space: Space, run: &[(u32, f64)], constants: &mut Vec<f64>) -> Statement {
    let address = |space, base| Address { space, base, strides: vec![1], table: None };
    let addresses = vec![address(Space::Constant, constants.len() as u32), address(space, run[0].0)];
    constants.extend(run.iter().map(|(_, value)| *value));
    Statement::Nest(Nest {
        dimensions: vec![Dimension { trip: run.len() as u32, parallel: true }],
        reversed: false,
        addresses,
        body: vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }],
    })
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
