//! Runs nests block by block.
//!
//! Called by the executor for nests with a dimension long enough to vectorise. A block is a `Kernel`, so that its loops are compiled for
//! each vector width.

use super::executable::Run;
use super::plan::{BlockStep, Plan, Source};
use super::single::{compare, drop_kept, guard_holds, keep, result};
use crate::program::{Address, GuardFailed, Memory};
use crate::recording::graph::Op;
use crate::recording::rules::Rules;
use crate::wide::{Kernel, Wide};
use differentiation_interface_core::scalar::{Base, Scalar};

impl<S: Scalar> Run<'_, '_, '_, S> {
    pub(super) fn blocks(&mut self, plan: &Plan) -> Result<(), GuardFailed> {
        let wide = Wide::detect();
        let loops = plan.trips.len() - plan.nest.dimensions.len();
        let vector = plan.vector.expect("only nests with a vector are run in blocks");
        let others: usize =
            (loops..plan.trips.len()).filter(|c| *c != vector).map(|c| plan.trips[c] as usize).product();
        self.counters[vector] = 0;
        for row in 0..others {
            let mut rest = if plan.nest.reversed { others - 1 - row } else { row };
            for c in (loops..plan.trips.len()).rev().filter(|c| *c != vector) {
                self.counters[c] = (rest % plan.trips[c] as usize) as u32;
                rest /= plan.trips[c] as usize;
            }
            self.row(plan, vector, wide)?;
        }
        Ok(())
    }

    fn row(&mut self, plan: &Plan, vector: usize, wide: Wide) -> Result<(), GuardFailed> {
        let trip = plan.trips[vector] as usize;
        // For tables, the row is the index of the entry.
        self.rows(plan);
        for (row, address) in self.rows.iter_mut().zip(&plan.nest.addresses) {
            if address.table.is_some() {
                let counters = &self.counters[..plan.trips.len()];
                *row = counters.iter().zip(&plan.trips).fold(0, |i, (c, n)| i * *n as i64 + *c as i64);
            }
        }
        self.uniform(plan)?;
        for sum in &mut self.sums[..plan.sums] {
            *sum = [S::default(); 16];
        }
        let mut start = 0;
        while start < trip {
            let length = (trip - start).min(plan.block);
            let block = Block {
                plan,
                rules: &self.executable.program.rules,
                memory: &mut self.memory,
                buffers: self.buffers,
                values: self.values,
                sums: self.sums,
                rows: self.rows,
                start,
                length,
            };
            if let Err(guard) = wide.run(block) {
                return Err(self.failed(guard));
            }
            start += length;
        }
        for step in &plan.steps {
            if let BlockStep::Reduce { address, sum, .. } = step {
                let total = pairwise(&self.sums[*sum as usize]);
                let cell = self.rows[*address as usize] as usize;
                self.memory.slice_mut(plan.nest.addresses[*address as usize].space)[cell] += total;
            }
        }
        Ok(())
    }

    /// Runs the instructions that are the same for the whole row.
    fn uniform(&mut self, plan: &Plan) -> Result<(), GuardFailed> {
        let rules = &self.executable.program.rules;
        for i in &plan.uniform {
            self.step(plan, rules, *i as usize, plan.nest.body[*i as usize])?;
        }
        Ok(())
    }
}

/// Adds partial sums pairwise.
fn pairwise<S: Scalar>(sums: &[S; 16]) -> S {
    let mut sums = *sums;
    let mut width = 8;
    while width > 0 {
        for i in 0..width {
            let other = sums[i + width];
            sums[i] += other;
        }
        width /= 2;
    }
    sums[0]
}

/// One block of one row.
struct Block<'a, 'm, 'i, 'o, S> {
    plan: &'a Plan,
    rules: &'a Rules,
    memory: &'a mut Memory<'m, 'i, 'o, S>,
    buffers: &'a mut [Vec<S>],
    values: &'a [S],
    sums: &'a mut [[S; 16]],
    rows: &'a [i64],
    start: usize,
    length: usize,
}

/// The numbers of an operand.
enum Numbers<'a, S> {
    Same(S),
    Each(&'a [S]),
}

/// The numbers of a source. A macro, so that the borrows stay separate.
macro_rules! numbers {
    ($block:ident, $source:expr) => {
        match $source {
            Source::Uniform(value) => Numbers::Same($block.values[value as usize]),
            Source::Buffer(buffer) => Numbers::Each(&$block.buffers[buffer as usize][..$block.length]),
            Source::Cells(address) => {
                let first = $block.rows[address as usize] as usize + $block.start;
                let space = $block.plan.spaces[address as usize];
                Numbers::Each(&$block.memory.slice(space)[first..first + $block.length])
            }
        }
    };
}

impl<S: Scalar> Kernel for Block<'_, '_, '_, '_, S> {
    type Output = Result<(), u16>;
    /// Runs the steps; returns the number of the guard that failed, if one did.
    #[inline(always)]
    fn run<const LANES: usize>(self) -> Result<(), u16> {
        let this = self;
        let length = this.length;
        for step in &this.plan.steps {
            match *step {
                BlockStep::Load { address, to } => {
                    let mut out = std::mem::take(&mut this.buffers[to as usize]);
                    let (first, stride, info) = locate(this.plan, this.rows, this.start, address);
                    load(this.memory.slice(info.space), info, first, stride, &mut out[..length]);
                    this.buffers[to as usize] = out;
                }
                BlockStep::Unary { rule, x, to } => {
                    let mut out = std::mem::take(&mut this.buffers[to as usize]);
                    match numbers!(this, x) {
                        Numbers::Each(x) => this.rules.apply_block(rule, x, &mut out[..length]),
                        Numbers::Same(x) => out[..length].fill(this.rules.apply(rule, x)),
                    }
                    this.buffers[to as usize] = out;
                }
                BlockStep::Apply { op, x, y, to } => {
                    let mut out = std::mem::take(&mut this.buffers[to as usize]);
                    let target = &mut out[..length];
                    match (numbers!(this, x), numbers!(this, y)) {
                        (Numbers::Each(x), Numbers::Each(y)) => {
                            let (x, y) = (&x[..target.len()], &y[..target.len()]);
                            apply(this.rules, op, |i| x[i], |i| y[i], target);
                        }
                        (Numbers::Same(x), Numbers::Each(y)) => {
                            let y = &y[..target.len()];
                            apply(this.rules, op, |_| x, |i| y[i], target);
                        }
                        (Numbers::Each(x), Numbers::Same(y)) => {
                            let x = &x[..target.len()];
                            apply(this.rules, op, |i| x[i], |_| y, target);
                        }
                        (Numbers::Same(x), Numbers::Same(y)) => {
                            if let Ok(Some(value)) = result(this.rules, op, x, y) {
                                target.fill(value);
                            }
                        }
                    }
                    this.buffers[to as usize] = out;
                }
                BlockStep::Guard { guard, x, y } => {
                    let get = |numbers: &Numbers<S>, i: usize| match numbers {
                        Numbers::Same(value) => *value,
                        Numbers::Each(values) => values[i],
                    };
                    let (x, y) = (numbers!(this, x), numbers!(this, y));
                    let mut holds = true;
                    for i in 0..length {
                        holds &= guard_holds(guard, get(&x, i), get(&y, i));
                    }
                    if !holds {
                        return Err(guard);
                    }
                }
                BlockStep::Store { x, address } => {
                    let (first, stride, info) = locate(this.plan, this.rows, this.start, address);
                    let cells = this.memory.slice_mut(info.space);
                    match x {
                        Source::Buffer(buffer) => {
                            let x = &this.buffers[buffer as usize][..length];
                            write(cells, info, first, stride, length, |i| x[i], |cell, x| *cell = x);
                        }
                        Source::Uniform(value) => {
                            let x = this.values[value as usize];
                            write(cells, info, first, stride, length, |_| x, |cell, x| *cell = x);
                        }
                        Source::Cells(_) => {}
                    }
                }
                BlockStep::Accumulate { x, address } => {
                    let (first, stride, info) = locate(this.plan, this.rows, this.start, address);
                    let cells = this.memory.slice_mut(info.space);
                    match x {
                        Source::Buffer(buffer) => {
                            let x = &this.buffers[buffer as usize][..length];
                            write(cells, info, first, stride, length, |i| x[i], |cell, x| *cell += x);
                        }
                        Source::Uniform(value) => {
                            let x = this.values[value as usize];
                            write(cells, info, first, stride, length, |_| x, |cell, x| *cell += x);
                        }
                        Source::Cells(_) => {}
                    }
                }
                BlockStep::Reduce { x, sum, .. } => {
                    let sums = &mut this.sums[sum as usize];
                    match numbers!(this, x) {
                        Numbers::Each(x) => reduce(x, sums),
                        Numbers::Same(x) => sums[0] += x.scale(S::Base::from_f64(length as f64)),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The first cell of a block (or the first entry of its table), the distance to the next, and the address.
#[inline(always)]
fn locate<'p>(plan: &'p Plan, rows: &[i64], start: usize, address: u32) -> (i64, i64, &'p Address) {
    let stride = plan.strides[address as usize];
    (rows[address as usize] + start as i64 * stride, stride, &plan.nest.addresses[address as usize])
}

#[inline(always)]
fn load<S: Scalar>(cells: &[S], address: &Address, first: i64, stride: i64, out: &mut [S]) {
    match &address.table {
        Some(table) => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = cells[table[(first + i as i64 * stride) as usize] as usize];
            }
        }
        None if stride == 1 => out.copy_from_slice(&cells[first as usize..first as usize + out.len()]),
        None if stride > 0 => {
            for (out, cell) in out.iter_mut().zip(cells[first as usize..].iter().step_by(stride as usize)) {
                *out = *cell;
            }
        }
        None => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = cells[(first + i as i64 * stride) as usize];
            }
        }
    }
}

#[inline(always)]
fn write<S: Scalar>(
    cells: &mut [S],
    address: &Address,
    first: i64,
    stride: i64,
    length: usize,
    x: impl Fn(usize) -> S,
    put: impl Fn(&mut S, S),
) {
    match &address.table {
        Some(table) => {
            for i in 0..length {
                put(&mut cells[table[(first + i as i64 * stride) as usize] as usize], x(i));
            }
        }
        None if stride == 1 => {
            for (i, cell) in cells[first as usize..first as usize + length].iter_mut().enumerate() {
                put(cell, x(i));
            }
        }
        None => {
            for i in 0..length {
                put(&mut cells[(first + i as i64 * stride) as usize], x(i));
            }
        }
    }
}

#[inline(always)]
fn reduce<S: Scalar>(x: &[S], sums: &mut [S; 16]) {
    let mut partial = *sums;
    let (chunks, rest) = x.as_chunks::<16>();
    for chunk in chunks {
        for (sum, x) in partial.iter_mut().zip(chunk) {
            *sum += *x;
        }
    }
    for (sum, x) in partial.iter_mut().zip(rest) {
        *sum += *x;
    }
    *sums = partial;
}

/// An operation of two arguments on a block.
#[inline(always)]
fn apply<S: Scalar>(rules: &Rules, op: Op, x: impl Fn(usize) -> S, y: impl Fn(usize) -> S, out: &mut [S]) {
    match op {
        Op::Binary(rule) => rules.apply2_block(rule, x, y, out),
        Op::Compare(number) => fill(out, |i| compare(number, x(i), y(i))),
        Op::Keep => fill(out, |i| keep(x(i), y(i))),
        Op::Drop => fill(out, |i| drop_kept(x(i), y(i))),
        _ => {}
    }
}

#[inline(always)]
fn fill<S: Scalar>(out: &mut [S], value: impl Fn(usize) -> S) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = value(i);
    }
}
