//! Compiles a recording with a folded loop: the program for all iterations follows from recordings with a few of them.
//!
//! Called by `Recorder::compile`; calls [`program`](crate::compile::program) and the optimisation. Three recordings, with 46, 47
//! and 48 iterations, are compiled. All thresholds of the passes lie below, so the three programs have the same statements, and their trip counts,
//! addresses and sizes grow linearly. If all do, the program of the whole recording has the same statements with these numbers extrapolated; if
//! anything else differs, the caller unfolds the recording and compiles it as it is.
//!
//! # What must hold of the loop?
//! An operand of an iteration is a constant, the result of the same operation some iterations before, the same value in all iterations, or an
//! input or parameter that advances. Operations behind the loop may use results of its first and last iterations only. Constants that
//! change from iteration to iteration are placed behind all others, row by row, so that they advance too; in the short recordings, numbers that
//! cannot occur stand for them, because three iterations of them could be equal by chance.

use super::repeated_constants::kept_once;
use crate::program::{Address, Dimension, Instruction, Nest, Program, RuleCall, Space, Statement};
use crate::recording::fold::Fold;
use crate::recording::graph::{CONSTANT, Call, Graph, Node, Op};
use crate::recording::recorder::Recorder;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::scalar::Base;
use rustc_hash::FxHashMap;

/// The numbers of iterations that are compiled.
const SHORT: [usize; 3] = [46, 47, 48];
/// Loops of fewer iterations are compiled as they are, which takes little longer than compiling the short ones.
const ENOUGH: usize = 256;
/// Results of so many iterations at both ends may be used behind the loop.
const ENDS: usize = 20;
/// The upper half of a signalling NaN that stands for a constant; the lower half is its number. Arithmetic would make it a quiet one.
const STANDING: u64 = 0x7FF4_DEAD;

impl<B: Base> Recorder<B> {
    /// Compiles the last recording, like [`compile`](crate::compile). If a loop is folded, recordings with a few iterations of it are compiled,
    /// and the program for all iterations follows from them where that is possible.
    ///
    /// # Errors
    /// Those of [`compile`](crate::compile).
    pub fn compile(&mut self) -> Result<Program, Error> {
        if let Some(fold) = self.fold()
            && let Some(found) = program(self.graph(), fold)
        {
            return Ok(kept_once(found));
        }
        Ok(kept_once(super::program(self.unfold())?.optimized()))
    }
}

/// The program of a folded recording; `None` if it does not follow from short ones.
fn program(graph: &Graph, fold: &Fold) -> Option<Program> {
    let shortening = Shortening::new(graph, fold)?;
    let compiled = |iterations| super::program(&shortening.graph(iterations)?).ok().map(Program::optimized);
    let [first, second, third] = SHORT;
    let programs = [compiled(first)?, compiled(second)?, compiled(third)?];
    let [a, b, c] = &programs;
    let growth = Growth { more: (fold.iterations - first) as i64 };
    let all = Program {
        constants: shortening.constants([&a.constants, &b.constants, &c.constants], growth)?,
        inputs: a.inputs.clone(),
        outputs: a.outputs.clone(),
        work: growth.size([a.work, b.work, c.work])?,
        statements: growth.statements([&a.statements, &b.statements, &c.statements])?,
        rules: a.rules.clone(),
        places: a.places.clone(),
        absence: a.absence,
    };
    let fits =
        all.outputs == b.outputs && all.outputs == c.outputs && is_inside(&all, &all.statements, &mut Vec::new());
    fits.then_some(all)
}

/// Makes recordings with fewer iterations.
struct Shortening<'a> {
    graph: &'a Graph,
    fold: &'a Fold,
    /// Constants that are the same in all recordings, and the number of each in the recording.
    fixed: Vec<f64>,
    numbers: FxHashMap<u32, u32>,
    /// For each column the constant that it is, or the variable.
    columns: Vec<Operand>,
    /// For each variable the column with its values.
    variables: Vec<usize>,
    /// Places of constants, twice the operation and 1 for a second operand, that belong to the iteration before the first folded one, with their
    /// variables; and the values there.
    before: FxHashMap<usize, u32>,
    values_before: Vec<Option<f64>>,
}

#[derive(Clone, Copy)]
enum Operand {
    Fixed(u32),
    Variable(u32),
}

impl<'a> Shortening<'a> {
    /// Whether the loop may be shortened, and its constants.
    fn new(graph: &'a Graph, fold: &'a Fold) -> Option<Shortening<'a>> {
        let is_standing = |constant: &f64| is_like_standing(constant.to_bits());
        if !regular(graph, fold) || graph.constants.iter().any(is_standing) {
            return None;
        }
        let (columns, variables, fixed) = (Vec::new(), Vec::new(), Vec::new());
        let (numbers, before, values_before) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
        let mut shortening = Shortening { graph, fold, fixed, numbers, columns, variables, before, values_before };
        shortening.number_fixed();
        shortening.number_columns();
        shortening.number_before();
        shortening.compares_fixed().then_some(shortening)
    }

    /// The number of a constant that is the same in all recordings.
    fn number(&mut self, operand: u32) -> u32 {
        let index = operand & !CONSTANT;
        *self.numbers.entry(index).or_insert_with(|| {
            self.fixed.push(self.graph.constants[index as usize]);
            self.fixed.len() as u32 - 1
        })
    }

    /// Numbers the constants of operations outside of the loop, of calls and outputs.
    fn number_fixed(&mut self) {
        let (graph, fold) = (self.graph, self.fold);
        let outside = graph.nodes[..fold.start].iter().chain(&graph.nodes[fold.start + 2 * fold.period..]);
        let operands =
            outside.filter(|node| !matches!(node.op, Op::Call | Op::CallOutput)).flat_map(|node| [node.a, node.b]);
        let others = graph.calls.iter().flat_map(|call| &call.arguments).chain(&graph.outputs).copied();
        for operand in operands.chain(others) {
            if operand & CONSTANT != 0 {
                self.number(operand);
            }
        }
    }

    /// Numbers the constants of the loop. Columns of the same values are one variable.
    fn number_columns(&mut self) {
        let (graph, fold) = (self.graph, self.fold);
        let bits = |operand: u32| graph.constants[(operand & !CONSTANT) as usize].to_bits();
        let mut known: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (index, column) in fold.columns.iter().enumerate() {
            let first = bits(column.at(0));
            if column.is_same() || (1..column.len()).all(|t| bits(column.at(t)) == first) {
                let number = self.number(column.at(0));
                self.columns.push(Operand::Fixed(number));
                continue;
            }
            let hash = (0..column.len())
                .fold(0, |hash: u64, t| (hash.rotate_left(5) ^ bits(column.at(t))).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let candidates = known.entry(hash).or_default();
            let equals = |variable: &&u32| {
                let other = &fold.columns[self.variables[**variable as usize]];
                other.len() == column.len() && (0..column.len()).all(|t| bits(other.at(t)) == bits(column.at(t)))
            };
            let variable = match candidates.iter().find(equals) {
                Some(variable) => *variable,
                None => {
                    let variable = self.variables.len() as u32;
                    candidates.push(variable);
                    self.variables.push(index);
                    variable
                }
            };
            self.columns.push(Operand::Variable(variable));
        }
    }

    /// Finds the constants of the iteration before the first folded one: that one may differ in a single operation (a sum that begins), so
    /// that the passes find it to be an iteration of the same loop.
    fn number_before(&mut self) {
        let (graph, fold) = (self.graph, self.fold);
        self.values_before = vec![None; self.variables.len()];
        let Some(start) = fold.start.checked_sub(fold.period) else { return };
        let mut column = 0;
        for i in start..fold.start {
            let (node, first) = (graph.nodes[i], graph.nodes[i + fold.period]);
            for (side, (operand, first_operand)) in [(node.a, first.a), (node.b, first.b)].into_iter().enumerate() {
                if first_operand & CONSTANT == 0 {
                    continue;
                }
                column += 1;
                let Operand::Variable(variable) = self.columns[column - 1] else { continue };
                if operand & CONSTANT == 0 || node.op != first.op {
                    continue;
                }
                let value = graph.constants[(operand & !CONSTANT) as usize];
                let known = self.values_before[variable as usize].get_or_insert(value);
                if known.to_bits() == value.to_bits() {
                    self.before.insert(2 * i + side, variable);
                }
            }
        }
    }

    /// The number of a variable in an iteration: those of the one before the first come first.
    fn number_of(&self, variable: u32, iterations: usize) -> u32 {
        (self.fixed.len() + iterations * self.variables.len()) as u32 + variable
    }

    /// Whether no guard of the loop compares with a constant that changes: of such guards only some stay.
    fn compares_fixed(&self) -> bool {
        let mut column = 0;
        let iteration = &self.graph.nodes[self.fold.start..self.fold.start + self.fold.period];
        iteration.iter().all(|node| {
            let mut fixed = true;
            for operand in [node.a, node.b] {
                if operand & CONSTANT != 0 {
                    fixed &= matches!(self.columns[column], Operand::Fixed(_));
                    column += 1;
                }
            }
            fixed || !matches!(node.op, Op::Guard(_))
        })
    }

    /// The recording with this many iterations; `None` if operations behind the loop need others.
    fn graph(&self, iterations: usize) -> Option<Graph> {
        let Shortening { graph, fold, .. } = *self;
        let first = graph.first_node();
        let removed = (fold.iterations - iterations) * fold.period;
        let end = fold.start + fold.iterations * fold.period + fold.partial;
        let moved = |operand: u32| {
            if operand & CONSTANT != 0 {
                return Some(CONSTANT | self.numbers[&(operand & !CONSTANT)]);
            }
            let Some(node) = (operand as usize).checked_sub(first) else { return Some(operand) };
            if node < fold.start || node < fold.start + ENDS * fold.period {
                Some(operand)
            } else if node >= end || node >= end.saturating_sub(fold.partial + ENDS * fold.period) {
                Some(operand - removed as u32)
            } else {
                None
            }
        };
        let node = |node: &Node| match node.op {
            Op::Call | Op::CallOutput => Some(*node),
            Op::Unary(_) => Some(Node { a: moved(node.a)?, ..*node }),
            _ => Some(Node { a: moved(node.a)?, b: moved(node.b)?, ..*node }),
        };
        let mut short =
            Graph { nodes: Vec::with_capacity(graph.nodes.len() + iterations * fold.period), ..Graph::default() };
        for (i, before) in graph.nodes[..fold.start].iter().enumerate() {
            let mut moved = node(before)?;
            for (side, operand) in [&mut moved.a, &mut moved.b].into_iter().enumerate() {
                if let Some(variable) = self.before.get(&(2 * i + side)) {
                    *operand = CONSTANT | self.number_of(*variable, 0);
                }
            }
            short.nodes.push(moved);
        }
        let constant = |column: usize, iteration: usize| {
            CONSTANT
                | match self.columns[column] {
                    Operand::Fixed(number) => number,
                    Operand::Variable(variable) => self.number_of(variable, iteration + 1),
                }
        };
        fold.each(&graph.nodes, 0..iterations, fold.partial, constant, |node| short.nodes.push(node));
        for behind in &graph.nodes[fold.start + 2 * fold.period..] {
            short.nodes.push(node(behind)?);
        }
        let standing = 0..((iterations + 2) * self.variables.len()) as u64;
        short.constants =
            self.fixed.iter().copied().chain(standing.map(|i| f64::from_bits(STANDING << 32 | i))).collect();
        short.outputs = graph.outputs.iter().map(|output| moved(*output)).collect::<Option<_>>()?;
        for call in &graph.calls {
            let arguments = call.arguments.iter().map(|argument| moved(*argument)).collect::<Option<_>>()?;
            short.calls.push(Call { arguments, ..call.clone() });
        }
        (short.inputs, short.parameters) = (graph.inputs, graph.parameters);
        (short.rules, short.places, short.absence) = (graph.rules.clone(), graph.places.clone(), graph.absence);
        Some(short)
    }

    /// The constants of the program for all iterations.
    fn constants(&self, short: [&Vec<f64>; 3], growth: Growth) -> Option<Vec<f64>> {
        let Shortening { graph, fold, .. } = *self;
        // In the iteration before the first one, and then in all others.
        let value = |row: usize, variable: usize| {
            let column = &fold.columns[self.variables[variable]];
            // Nothing uses what a column does not reach.
            let last = column.len() - 1;
            let known = |t: usize| graph.constants[(column.at(t.min(last)) & !CONSTANT) as usize];
            match row.checked_sub(1) {
                Some(t) => known(t),
                None => self.values_before[variable].unwrap_or(known(0)),
            }
        };
        let mut all = self.fixed.clone();
        let width = self.variables.len();
        all.extend(
            (0..fold.iterations + 2).flat_map(|row| (0..width).map(move |v| (row, v))).map(|(row, v)| value(row, v)),
        );
        // Behind them are those that the passes have added.
        let added = |k: usize| short[k].get(self.fixed.len() + (SHORT[k] + 2) * width..);
        let added = [added(0)?, added(1)?, added(2)?];
        if added[1].len() != added[0].len() || added[2].len() != added[0].len() {
            return None;
        }
        for i in 0..added[0].len() {
            let bits = added.map(|constants| constants[i].to_bits());
            let constant = match bits {
                [a, b, c] if [a, b, c].iter().all(|bits| bits >> 32 == STANDING) => {
                    let number = growth.number([a, b, c].map(|bits| bits as u32 as i64))? as usize;
                    value(number / width, number % width)
                }
                [a, b, c] if a == b && b == c && !is_like_standing(a) => added[0][i],
                _ => return None,
            };
            all.push(constant);
        }
        Some(all)
    }
}

/// Whether these are the bits of a number that stands for a constant, or of what arithmetic makes of it.
fn is_like_standing(bits: u64) -> bool {
    const SIGN_AND_QUIET: u64 = 1 << 63 | 1 << 51;
    (bits | SIGN_AND_QUIET) >> 32 == (STANDING << 32 | SIGN_AND_QUIET) >> 32
}

/// Whether the operands of the loop are what this pass can shorten.
fn regular(graph: &Graph, fold: &Fold) -> bool {
    let iteration = |t: usize| &graph.nodes[fold.start + t * fold.period..fold.start + (t + 1) * fold.period];
    let (inputs, values) = (graph.inputs as i64, graph.first_node() as i64);
    let fits = |place: usize, one: u32, two: u32| {
        let distance = two as i64 - one as i64;
        if one & CONSTANT != 0 || distance == 0 {
            return true;
        }
        let at = |t: usize| one as i64 + distance * t as i64;
        // The result of some iterations before, of the loop itself but for the first iterations.
        if distance == fold.period as i64 && at(ENDS) >= values + fold.start as i64 {
            return true;
        }
        // Inputs and parameters that advance.
        let ends = [at(0), at(fold.iterations - usize::from(place >= fold.partial))];
        let inside = |from: i64, to: i64| ends.iter().all(|end| (from..to).contains(end));
        inside(0, inputs) || inside(inputs, values)
    };
    let mut places = iteration(0).iter().zip(iteration(1)).enumerate();
    fold.iterations >= ENOUGH
        && places.all(|(place, (one, two))| fits(place, one.a, two.a) && fits(place, one.b, two.b))
}

/// From the numbers of the three short programs to those of the whole one, which has `more` iterations than the first.
#[derive(Clone, Copy)]
struct Growth {
    more: i64,
}

impl Growth {
    fn number(self, [a, b, c]: [i64; 3]) -> Option<i64> {
        (c - b == b - a).then_some(())?;
        a.checked_add((b - a).checked_mul(self.more)?)
    }
    fn size(self, sizes: [usize; 3]) -> Option<usize> {
        usize::try_from(self.number(sizes.map(|size| size as i64))?).ok()
    }
    fn cell(self, cells: [u32; 3]) -> Option<u32> {
        u32::try_from(self.number(cells.map(i64::from))?).ok()
    }

    fn statements(self, [a, b, c]: [&[Statement]; 3]) -> Option<Vec<Statement>> {
        (a.len() == b.len() && a.len() == c.len()).then_some(())?;
        a.iter().zip(b).zip(c).map(|((a, b), c)| self.statement(a, b, c)).collect()
    }

    fn statement(self, a: &Statement, b: &Statement, c: &Statement) -> Option<Statement> {
        match (a, b, c) {
            (Statement::Nest(a), Statement::Nest(b), Statement::Nest(c)) => Some(Statement::Nest(self.nest(a, b, c)?)),
            (
                Statement::Loop { trip: n, reversed, body: x },
                Statement::Loop { trip: m, body: y, .. },
                Statement::Loop { trip: l, body: z, .. },
            ) => {
                let (trip, body) = (self.cell([*n, *m, *l])?, self.statements([x, y, z])?);
                Some(Statement::Loop { trip, reversed: *reversed, body })
            }
            (
                Statement::Zero { space, start: s, length: n },
                Statement::Zero { space: second, start: t, length: m },
                Statement::Zero { space: third, start: u, length: l },
            ) if space == second && space == third => {
                let (start, length) = (self.cell([*s, *t, *u])?, self.cell([*n, *m, *l])?);
                Some(Statement::Zero { space: *space, start, length })
            }
            (Statement::Call(a), Statement::Call(b), Statement::Call(c)) => Some(Statement::Call(RuleCall {
                arguments: self.addresses([&a.arguments, &b.arguments, &c.arguments])?,
                results: self.addresses([&a.results, &b.results, &c.results])?,
                ..a.clone()
            })),
            _ => None,
        }
    }

    fn nest(self, a: &Nest, b: &Nest, c: &Nest) -> Option<Nest> {
        let counts = |nest: &Nest| (nest.dimensions.len(), nest.reversed, nest.body.len());
        (counts(a) == counts(b) && counts(a) == counts(c)).then_some(())?;
        let dimension = |k: usize| {
            let [x, y, z] = [a, b, c].map(|nest| nest.dimensions[k]);
            (x.parallel == y.parallel && x.parallel == z.parallel).then_some(())?;
            Some(Dimension { trip: self.cell([x.trip, y.trip, z.trip])?, parallel: x.parallel })
        };
        let instruction = |i: usize| match [a, b, c].map(|nest| nest.body[i]) {
            [Instruction::Constant(x), Instruction::Constant(y), Instruction::Constant(z)] => {
                Some(Instruction::Constant(self.cell([x, y, z])?))
            }
            [x, y, z] => (x == y && x == z).then_some(x),
        };
        Some(Nest {
            dimensions: (0..a.dimensions.len()).map(dimension).collect::<Option<_>>()?,
            reversed: a.reversed,
            addresses: self.addresses([&a.addresses, &b.addresses, &c.addresses])?,
            body: (0..a.body.len()).map(instruction).collect::<Option<_>>()?,
        })
    }

    fn addresses(self, [a, b, c]: [&[Address]; 3]) -> Option<Vec<Address>> {
        (a.len() == b.len() && a.len() == c.len()).then_some(())?;
        a.iter().zip(b).zip(c).map(|((a, b), c)| self.address(a, b, c)).collect()
    }

    fn address(self, a: &Address, b: &Address, c: &Address) -> Option<Address> {
        let counts =
            |address: &Address| (address.space, address.strides.len(), address.table.as_ref().map(|t| t.len()));
        (counts(a) == counts(b) && counts(a) == counts(c)).then_some(())?;
        let stride = |k: usize| {
            let strides = [a, b, c].map(|address| i64::from(address.strides[k]));
            i32::try_from(self.number(strides)?).ok()
        };
        let table = match (&a.table, &b.table, &c.table) {
            (Some(a), Some(b), Some(c)) => {
                let cells = (0..a.len()).map(|i| self.cell([a[i], b[i], c[i]])).collect::<Option<Vec<_>>>()?;
                Some(cells.into())
            }
            _ => None,
        };
        Some(Address {
            space: a.space,
            base: self.cell([a.base, b.base, c.base])?,
            strides: (0..a.strides.len()).map(stride).collect::<Option<_>>()?,
            table,
        })
    }
}

/// Whether all cells are inside their spaces, and tables have an entry for each iteration.
fn is_inside(program: &Program, statements: &[Statement], loops: &mut Vec<u32>) -> bool {
    let size = |space: Space| match space {
        Space::Constant => program.constants.len(),
        Space::Input(k) => program.inputs[k as usize],
        Space::Work => program.work,
        Space::Output(k) => program.outputs[k as usize],
    };
    let fits = |address: &Address, trips: &[u32]| {
        let iterations: u64 = trips.iter().map(|trip| u64::from(*trip)).product();
        let is_whole = address.table.as_ref().is_none_or(|table| table.len() as u64 == iterations);
        is_whole && (address.range(trips).1 as usize) < size(address.space)
    };
    statements.iter().all(|statement| match statement {
        Statement::Nest(nest) => {
            let trips = nest.trips(loops);
            let constants = |instruction: &Instruction| match instruction {
                Instruction::Constant(number) => (*number as usize) < program.constants.len(),
                _ => true,
            };
            trips.iter().all(|trip| *trip > 0)
                && nest.addresses.iter().all(|address| fits(address, &trips))
                && nest.body.iter().all(constants)
        }
        Statement::Loop { trip, body, .. } => {
            loops.push(*trip);
            let inside = is_inside(program, body, loops);
            loops.pop();
            inside
        }
        Statement::Zero { space, start, length } => *start as usize + *length as usize <= size(*space),
        Statement::Call(call) => {
            let trips = loops.clone();
            call.arguments.iter().chain(&call.results).all(|address| fits(address, &trips))
        }
    })
}

#[cfg(test)]
mod tests;
