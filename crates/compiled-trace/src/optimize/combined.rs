//! One program for the outputs of two.
//!
//! Called by users of a [`Program`] that need both in the same calls. The statements of the second program follow those of the first, and
//! the optimisation fuses what is over the same iterations, so that what both compute is computed once.

use crate::program::*;
use crate::recording::absence::Absence;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Program {
    /// The program with the output slices of this one, then those of `next`, which has the same inputs.
    ///
    /// `None` if the inputs differ, or if the programs were not made of one recording: their guards or rules have other numbers, or only
    /// one of them tracks absent derivatives.
    ///
    /// # Example
    /// The outputs beside the entries of the Jacobian:
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// use num_traits::Float;
    /// let graph = record(&[1.0, 1.0], &[], Limits::default(), |x, _, y| y.extend([x[0] * x[1], x[1].exp()]))?;
    /// let (value, all) = (compile(&graph)?, graph.jacobian_entries(&[0, 2, 3], &[0, 1, 1], 100)?.expect("few operations"));
    /// let both = value.followed_by(&compile(&all)?).expect("one recording");
    /// let both = both.executable();
    /// let (mut y, mut entries) = ([0.0; 2], [0.0; 3]);
    /// both.run(&mut both.workspace(), &[&[5.0, 0.0], &[]], &mut [&mut y, &mut entries]).unwrap();
    /// assert_eq!((y, entries), ([0.0, 1.0], [0.0, 5.0, 1.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn followed_by(&self, next: &Program) -> Option<Program> {
        let absence = match (self.absence, next.absence) {
            (a, b) if a == b => a,
            (Absence::Tracked, _) | (_, Absence::Tracked) => return None,
            _ => Absence::Doubtful,
        };
        let rules = if next.rules.begin_with(&self.rules) {
            &next.rules
        } else if self.rules.begin_with(&next.rules) {
            &self.rules
        } else {
            return None;
        };
        let outputs = [&self.outputs[..], &next.outputs].concat();
        let known = self.constants.iter().enumerate().rev().map(|(at, constant)| (constant.to_bits(), at as u32));
        let shift = Shift {
            numbers: next.constants.iter().map(|constant| constant.to_bits()).collect(),
            known: known.collect(),
            constants: u32::try_from(self.constants.len()).ok()?,
            work: u32::try_from(self.work).ok()?,
            outputs: u8::try_from(self.outputs.len()).ok()?,
        };
        let fits = outputs.len() <= 255 && self.work + next.work <= u32::MAX as usize / 4;
        if !fits || self.inputs != next.inputs || self.places != next.places {
            return None;
        }
        let mut statements = self.statements.clone();
        statements.extend(next.statements.iter().cloned().map(|statement| shift.statement(statement)));
        let program = Program {
            constants: [&self.constants[..], &next.constants].concat(),
            inputs: self.inputs.clone(),
            outputs,
            work: self.work + next.work,
            statements,
            rules: rules.clone(),
            places: self.places.clone(),
            absence,
        };
        Some(program.optimized())
    }
}

/// By how much the numbers of cells and slices grow, and which constants are the same.
struct Shift {
    /// The constants of the second program, as bits.
    numbers: Vec<u64>,
    /// The numbers of the constants of the first one.
    known: FxHashMap<u64, u32>,
    constants: u32,
    work: u32,
    outputs: u8,
}

impl Shift {
    fn cells(&self, space: Space) -> (Space, u32) {
        match space {
            Space::Constant => (space, self.constants),
            Space::Work => (space, self.work),
            Space::Output(output) => (Space::Output(output + self.outputs), 0),
            Space::Input(_) => (space, 0),
        }
    }

    fn address(&self, address: &mut Address) {
        let (space, shift) = self.cells(address.space);
        address.space = space;
        address.base += shift;
        if shift > 0
            && let Some(table) = &mut address.table
        {
            *table = table.iter().map(|cell| cell + shift).collect::<Arc<[u32]>>();
        }
    }

    fn statement(&self, mut statement: Statement) -> Statement {
        match &mut statement {
            Statement::Nest(nest) => {
                nest.addresses.iter_mut().for_each(|address| self.address(address));
                for instruction in &mut nest.body {
                    if let Instruction::Constant(constant) = instruction {
                        let same = self.known.get(&self.numbers[*constant as usize]);
                        *constant = same.copied().unwrap_or(*constant + self.constants);
                    }
                }
            }
            Statement::Loop { body, .. } => {
                *body = std::mem::take(body).into_iter().map(|statement| self.statement(statement)).collect();
            }
            Statement::Zero { space, start, .. } => {
                let (new, shift) = self.cells(*space);
                (*space, *start) = (new, *start + shift);
            }
            Statement::Call(call) => {
                call.arguments.iter_mut().chain(&mut call.results).for_each(|address| self.address(address));
            }
        }
        statement
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Program;
    use crate::{Graph, Limits, Recorded, compile, record};
    use num_traits::Float;

    fn recording(x: &[f64], f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Graph {
        record(x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap()
    }

    fn dense_entries(graph: &Graph) -> Program {
        let (rows, columns) = (graph.outputs().len() as u32, graph.inputs() as u32);
        let starts: Vec<u32> = (0..=rows).map(|i| i * columns).collect();
        let all: Vec<u32> = (0..rows).flat_map(|_| 0..columns).collect();
        compile(&graph.jacobian_entries(&starts, &all, 1 << 20).unwrap().unwrap()).unwrap()
    }

    /// The output slices, or whether a guard failed.
    fn run(program: &Program, x: &[f64]) -> Option<Vec<Vec<f64>>> {
        let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
        let executable = program.clone().executable();
        let slices = &mut outputs.iter_mut().map(|output| &mut output[..]).collect::<Vec<_>>()[..];
        executable.run(&mut executable.workspace(), &[x, &[]], slices).ok()?;
        Some(outputs)
    }

    #[test]
    fn what_both_compute_is_computed_once() {
        // Constants, a power whose derivative has another exponent, and a guard.
        let graph = recording(&[1.0, 2.0, 3.0], |x| {
            let s = (x[0] * 0.5 + x[1]).sin() * 7.0;
            let t = if x[2] > 1.0 { s * x[2].powi(5) } else { s };
            vec![s, t]
        });
        let (value, entries) = (compile(&graph).unwrap(), dense_entries(&graph));
        let both = value.followed_by(&entries).unwrap();
        assert!(both.instruction_count() < value.instruction_count() + entries.instruction_count() - 8, "{both}");
        let x = [0.25, -1.5, 2.0];
        let expected = [run(&value, &x).unwrap(), run(&entries, &x).unwrap()].concat();
        assert_eq!(run(&both, &x).unwrap(), expected);
        let (s, c) = ((-1.375f64).sin() * 7.0, (-1.375f64).cos() * 7.0);
        assert_eq!(expected[0], [s, 32.0 * s]);
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        assert!(expected[1].iter().zip(&[0.5 * c, c, 0.0, 16.0 * c, 32.0 * c, 80.0 * s]).all(|(a, b)| close(a, b)));
        assert_eq!(run(&both, &[0.25, -1.5, 0.5]), None, "the other branch");
    }

    #[test]
    fn loops_with_work_and_tables_are_moved() {
        // A recurrence, sums that are read again, and rows in no order.
        let n = 60;
        let order: Vec<usize> = (0..n).map(|i| i * 7 % n).collect();
        let x: Vec<f64> = (0..n).map(|i| 0.3 + 0.01 * i as f64).collect();
        let graph = recording(&x, |x| {
            let sum: Recorded = x.iter().map(|v| *v * *v).sum();
            let state = x.iter().fold(x[0], |state, v| (state * 0.5 + *v).sin());
            order.iter().map(|i| x[*i] * sum + state * (*i % 3) as f64).collect()
        });
        let (value, entries) = (compile(&graph).unwrap(), dense_entries(&graph));
        let both = value.followed_by(&entries).unwrap();
        let x: Vec<f64> = (0..n).map(|i| 1.3 - 0.02 * i as f64).collect();
        assert_eq!(run(&both, &x), Some([run(&value, &x).unwrap(), run(&entries, &x).unwrap()].concat()));
        // The other order, and the same program twice.
        let both = entries.followed_by(&value).unwrap().followed_by(&value).unwrap();
        let (value, entries) = (run(&value, &x).unwrap(), run(&entries, &x).unwrap());
        assert_eq!(run(&both, &x), Some([entries, value.clone(), value].concat()));
    }

    #[test]
    fn programs_of_different_recordings_are_refused() {
        let program = |x: &[f64], f: fn(&[Recorded]) -> Vec<Recorded>| compile(&recording(x, f)).unwrap();
        let first = program(&[1.0], |x| vec![x[0].powi(3)]);
        assert!(first.followed_by(&program(&[1.0, 2.0], |x| vec![x[0]])).is_none(), "another number of inputs");
        assert!(first.followed_by(&program(&[1.0], |x| vec![x[0].powi(5)])).is_none(), "another rule");
        assert!(first.followed_by(&first.tracking_absent()).is_none(), "other treatment of absent derivatives");
        let guarded = program(&[1.0], |x| if x[0] > 0.0 { vec![x[0]] } else { vec![] });
        assert!(first.followed_by(&guarded).is_none(), "another guard");
        // Without outputs, statements or work.
        let nothing = program(&[1.0], |_| vec![]);
        assert_eq!(run(&nothing.followed_by(&first).unwrap(), &[2.0]), Some(vec![vec![], vec![8.0]]));
    }
}
