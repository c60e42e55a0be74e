//! Programs of the outputs and of entries of the Jacobian where the recording falls into independent segments of a few shapes: cells
//! of a grid, observations, residuals.
//!
//! Called by [`Graph::separable_programs`]; calls the other passes for one segment of each shape. The recording is not rerolled: a
//! segment of each shape is compiled and differentiated, as straight-line code, and the nests for all segments of the shape have this code for
//! their body. The operations of the entries, several for each recorded one, are so never written down.
//!
//! `classes` finds the segments, `sample` compiles one of them, `pieces` finds iteration domains in which addresses advance regularly.

mod classes;
mod pieces;
mod sample;
#[cfg(test)]
mod tests;

use crate::derive::builder::without_dead;
use crate::derive::check_pattern;
use crate::program::{Address, Dimension, Instruction, Nest, Program, Space, Statement};
use crate::recording::absence::Absence;
use crate::recording::graph::Graph;
use classes::Class;
use differentiation_interface_core::error::Error;
use pieces::Piece;
use rustc_hash::FxHashMap;
use sample::{Sample, Straight};
use std::sync::Arc;

impl Graph {
    /// The program of the outputs, and the program whose outputs are entries of the Jacobian, as those of [`compile`](crate::compile) and
    /// [`jacobian_entries`](Graph::jacobian_entries), made at a much lower cost. `starts` and `columns` are compressed rows.
    ///
    /// `None` if the recording does not fall into many independent segments of a few shapes whose code has no loops, if a segment
    /// does not depend on a column of its rows, if the entries take more than `most` operations, or if custom rules are called.
    ///
    /// # Errors
    /// Those of [`jacobian_entries`](Graph::jacobian_entries).
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, record};
    /// let n = 1000;
    /// let graph = record(&vec![3.0; n + 1], &[], Limits::default(), |x, _, y| {
    ///     y.extend(x.windows(2).map(|w| w[0] * w[0] * w[1]));
    /// })?;
    /// // Two entries per row.
    /// let starts: Vec<u32> = (0..=n as u32).map(|i| 2 * i).collect();
    /// let columns: Vec<u32> = (0..n as u32).flat_map(|i| [i, i + 1]).collect();
    /// let (value, entries) = graph.separable_programs(&starts, &columns, 10 * n)?.expect("rows are independent");
    /// assert_eq!(value.statement_count(), 1);
    /// let (program, mut values) = (entries.executable(), vec![0.0; 2 * n]);
    /// program.run(&mut program.workspace(), &[&vec![3.0; n + 1], &[]], &mut [&mut values]).unwrap();
    /// assert!(values.chunks(2).all(|row| row == [18.0, 9.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn separable_programs(
        &self,
        starts: &[u32],
        columns: &[u32],
        most: usize,
    ) -> Result<Option<(Program, Program)>, Error> {
        check_pattern((self.outputs.len(), self.inputs), starts, columns)?;
        let Some(classes) = classes::find(self, starts, columns) else { return Ok(None) };
        let mut left = most;
        let mut value = ProgramWriter::new(self, self.outputs.len());
        let mut entries = ProgramWriter::new(self, columns.len());
        for class in &classes {
            let Some(sample) = Sample::new(self, class, &mut left)? else { return Ok(None) };
            let most_pieces = pieces::most(sample.entries.code.body.len());
            for piece in pieces::find(class, most_pieces) {
                value.write(class, &sample, &sample.value, &piece, Writes::Outputs)?;
                entries.write(class, &sample, &sample.entries, &piece, Writes::Entries)?;
            }
        }
        Ok(Some((value.finish(), entries.finish())))
    }
}

/// What a program writes.
#[derive(Clone, Copy)]
enum Writes {
    Outputs,
    Entries,
}

/// A program that is being written.
struct ProgramWriter<'a> {
    graph: &'a Graph,
    program: Program,
    /// The numbers of constants by their bits.
    known: FxHashMap<u64, u32>,
}

impl<'a> ProgramWriter<'a> {
    fn new(graph: &'a Graph, outputs: usize) -> ProgramWriter<'a> {
        let program = Program {
            constants: Vec::new(),
            inputs: vec![graph.inputs, graph.parameters],
            outputs: vec![outputs],
            work: 0,
            statements: Vec::new(),
            rules: graph.rules.clone(),
            places: graph.places.clone(),
            absence: graph.absence,
        };
        ProgramWriter { graph, program, known: FxHashMap::default() }
    }

    /// Writes the nest of a piece of a class.
    fn write(
        &mut self,
        class: &Class,
        sample: &Sample,
        part: &sample::Part,
        piece: &Piece,
        writes: Writes,
    ) -> Result<(), Error> {
        let Straight { cells, body } = &part.code;
        if body.is_empty() {
            return Ok(());
        }
        if part.program.absence == Absence::Doubtful && self.program.absence == Absence::Exact {
            self.program.absence = Absence::Doubtful;
        }
        let counters = piece.counters();
        let addresses = cells.iter().map(|(space, cell)| {
            let cell = *cell as usize;
            match space {
                Space::Input(0) => piece.address(class, *space, cell, &counters),
                Space::Input(_) => match cell.checked_sub(class.parameters) {
                    None => piece.address(class, *space, class.inputs + cell, &counters),
                    Some(varying) => self.block(class, class.first_constant() + sample.varying[varying], piece),
                },
                _ => {
                    let first = match writes {
                        Writes::Outputs => class.first_output(),
                        Writes::Entries => class.first_entry(),
                    };
                    piece.address(class, Space::Output(0), first + cell, &counters)
                }
            }
        });
        let addresses: Vec<Address> = addresses.collect();
        let mut own = Vec::with_capacity(body.len());
        for instruction in body {
            own.push(match *instruction {
                Instruction::Constant(c) => Instruction::Constant(self.constant(part.program.constants[c as usize])),
                Instruction::Apply { op, a, b } => {
                    Instruction::Apply { op: self.program.rules.adopt(&part.program.rules, op)?, a, b }
                }
                other => other,
            });
        }
        let dimensions = piece.trips.iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect();
        let nest = Nest { dimensions, reversed: false, addresses, body: own };
        self.program.statements.extend(apart(nest).into_iter().map(Statement::Nest));
        Ok(())
    }

    fn constant(&mut self, value: f64) -> u32 {
        let constants = &mut self.program.constants;
        *self.known.entry(value.to_bits()).or_insert_with(|| {
            constants.push(value);
            constants.len() as u32 - 1
        })
    }

    /// The address of a constant that changes from segment to segment: those of a piece lie side by side.
    fn block(&mut self, class: &Class, column: usize, piece: &Piece) -> Address {
        let base = self.program.constants.len() as u32;
        let values = piece.members.iter().map(|member| self.graph.constants[class.at(*member, column) as usize]);
        self.program.constants.extend(values);
        let inner = |m: usize| piece.trips[m + 1..].iter().product::<u32>() as i32;
        let strides = (0..piece.trips.len()).map(inner).collect();
        Address { space: Space::Constant, base, strides, table: None }
    }

    fn finish(self) -> Program {
        self.program
    }
}

/// Stores of constants in a nest of their own, if they are half of the stores or more: machine code writes them together with those of
/// other pieces, in the order of their cells.
fn apart(nest: Nest) -> Vec<Nest> {
    let is_constant = |instruction: &Instruction| match *instruction {
        Instruction::Store { value, .. } => matches!(nest.body[value as usize], Instruction::Constant(_)),
        _ => false,
    };
    let constants = nest.body.iter().filter(|instruction| is_constant(instruction)).count();
    let stores = nest.body.iter().filter(|instruction| instruction.has_effect()).count();
    if constants == stores || 2 * constants < stores {
        return vec![nest];
    }
    let part = |of_constants: bool| {
        let kept = |instruction: &Instruction| !instruction.has_effect() || is_constant(instruction) == of_constants;
        // A result that no effect needs, in place of a store.
        let without =
            |instruction: &Instruction| if kept(instruction) { *instruction } else { Instruction::Constant(0) };
        let body = nest.body.iter().map(without).collect();
        without_dead(Nest { body, ..nest.clone() })
    };
    vec![part(true), part(false)]
}

impl Piece {
    /// The counters of each member, one after the other.
    fn counters(&self) -> Vec<u32> {
        let mut all = Vec::with_capacity(self.members.len() * self.trips.len());
        let mut now = vec![0; self.trips.len()];
        for _ in &self.members {
            all.extend_from_slice(&now);
            for (counter, trip) in now.iter_mut().zip(&self.trips).rev() {
                *counter += 1;
                if *counter < *trip {
                    break;
                }
                *counter = 0;
            }
        }
        all
    }

    /// The address whose cells are in a column of the members: affine where they advance regularly, a table otherwise.
    fn address(&self, class: &Class, space: Space, column: usize, counters: &[u32]) -> Address {
        let cell = |i: usize| class.at(self.members[i], column);
        let base = cell(0);
        let mut strides = vec![0i32; self.trips.len()];
        let mut inner = 1;
        for (stride, trip) in strides.iter_mut().zip(&self.trips).rev() {
            if *trip > 1 {
                *stride = cell(inner).wrapping_sub(base) as i32;
            }
            inner *= *trip as usize;
        }
        let expected = |i: usize| {
            let counters = &counters[i * strides.len()..(i + 1) * strides.len()];
            let offset = |(counter, stride): (&u32, &i32)| (*stride as u32).wrapping_mul(*counter);
            counters.iter().zip(&strides).map(offset).fold(base, u32::wrapping_add)
        };
        let is_affine = (0..self.members.len()).all(|i| cell(i) == expected(i));
        let table = (!is_affine).then(|| (0..self.members.len()).map(cell).collect::<Arc<[u32]>>());
        if table.is_some() {
            strides.fill(0);
        }
        Address { space, base, strides, table }
    }
}
