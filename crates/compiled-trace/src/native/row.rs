//! Emits the innermost loop of a nest: copies of the body, vectors, remaining iterations, reductions.
//!
//! Called by `emit`, which writes the loops around it.

use super::code::{Limit, Place, Value, Variable};
use super::emit::{Emitter, Loops, Partial, Position};
use super::plan::{MAX_IN_REGISTERS, UNROLLED};
use crate::program::Instruction;
use crate::sorting;

/// The sums of a loop, with the accumulators of each, one per copy of the body.
struct Sums {
    of: Vec<usize>,
    partial: Vec<Vec<Partial>>,
}

impl Sums {
    /// Lets the body add to the accumulators of a copy.
    fn choose_copy(&self, loops: &mut Loops, copy: i64) {
        for (i, partial) in self.of.iter().zip(&self.partial) {
            loops.partial[*i] = Some(partial[copy as usize % partial.len()]);
        }
    }
}

impl Emitter<'_, '_> {
    pub(super) fn innermost(&mut self, loops: &mut Loops) {
        let depth = loops.plan.order.len();
        let number = loops.plan.order[depth - 1];
        let trip = loops.plan.trips[number] as i64;
        let (lanes, copies) = (loops.plan.lanes as i64, loops.plan.copies as i64);
        let down = loops.plan.is_down(number);
        let before: Vec<Value> = loops.pointers.iter().map(|pointer| pointer.value).collect();
        for pointer in &mut loops.pointers {
            if down && pointer.strides[number] != 0 {
                pointer.value = self.code.add_constant(pointer.value, (trip - 1) * pointer.strides[number]);
            }
        }
        if lanes > 1 {
            self.splat_outer(loops);
        }
        let of: Vec<usize> = (0..loops.plan.sum.len()).filter(|i| loops.plan.sum[*i].is_some()).collect();
        let partial = self.begin_sums(&of, copies.min(trip / lanes), lanes as u8);
        let sums = Sums { of, partial };
        let wide = lanes > 1;
        let vectors = trip / lanes;
        self.begin_windows(loops, wide);
        self.begin_carried(loops);
        let mut blocks = vectors / copies;
        let size = loops.plan.inner_instructions() as u32;
        if (vectors as u32).saturating_mul(size) <= UNROLLED {
            blocks = 0;
        }
        if blocks > 0 {
            self.counted_loop(loops, blocks, &sums);
        }
        for vector in blocks * copies..vectors {
            sums.choose_copy(loops, vector % copies);
            self.body(loops, depth, Position { offset: vector * lanes, wide });
        }
        let singles = self.sum_partials(loops, &sums);
        if wide {
            self.split_carried(loops);
        }
        for offset in vectors * lanes..trip {
            self.body(loops, depth, Position { offset, wide: false });
        }
        self.finish_windows(loops, trip);
        for (i, variable) in singles {
            let row = self.code.get(variable);
            match loops.totals[i] {
                Some(total) => {
                    let sum = self.code.get(total);
                    let sum = self.code.add(sum, row);
                    self.code.set(total, sum);
                }
                None => loops.rows[i] = Some(row),
            }
        }
        for (pointer, value) in loops.pointers.iter_mut().zip(before) {
            pointer.value = value;
        }
    }

    /// A loop of `blocks` iterations over copies of the body.
    fn counted_loop(&mut self, loops: &mut Loops, blocks: i64, sums: &Sums) {
        let depth = loops.plan.order.len();
        let number = loops.plan.order[depth - 1];
        let (lanes, copies) = (loops.plan.lanes as i64, loops.plan.copies as i64);
        let sign = if loops.plan.is_down(number) { -1 } else { 1 };
        let mut steps: Vec<i64> =
            loops.cells.iter().map(|cell| sign * loops.pointers[cell.0].strides[number]).collect();
        steps.retain(|step| *step != 0);
        sorting::sort(&mut steps);
        steps.dedup();
        if steps.is_empty() {
            steps.push(1);
        }
        let mut variables: Vec<Variable> = Vec::with_capacity(steps.len());
        for step in &steps {
            let start = self.code.integer(-step * lanes * copies * blocks);
            variables.push(self.code.variable(start));
        }
        self.code.begin();
        loops.end = lanes * copies * blocks;
        loops.indices = steps.iter().zip(&variables).map(|(s, v)| (*s, self.code.get(*v))).collect();
        for copy in 0..copies {
            sums.choose_copy(loops, copy);
            self.body(loops, depth, Position { offset: copy * lanes, wide: lanes > 1 });
        }
        for ((step, index), variable) in loops.indices.iter().zip(&variables) {
            let next = self.code.add_constant(*index, step * lanes * copies);
            self.code.set(*variable, next);
        }
        let last = *variables.last().expect("there is at least one index");
        let more = self.code.get(last);
        self.code.end(more, Limit::Integer(0));
        loops.indices.clear();
        loops.end = 0;
    }

    /// The sums of vectors as the accumulators of the remaining iterations: partial sums are added pairwise, then lanes.
    fn sum_partials(&mut self, loops: &mut Loops, sums: &Sums) -> Vec<(usize, Variable)> {
        let lanes = loops.plan.lanes as u8;
        let mut singles = Vec::new();
        for (i, partial) in sums.of.iter().zip(&sums.partial) {
            let mut partial: Vec<Value> = partial.iter().map(|partial| self.partial_sum(*partial, lanes)).collect();
            if lanes > 1 {
                let vector = self.pairwise(partial);
                partial = (0..lanes).map(|lane| self.code.lane(vector, lane)).collect();
            }
            let row = self.pairwise(partial);
            let variable = self.code.variable(row);
            loops.partial[*i] = Some(Partial::Register(variable));
            singles.push((*i, variable));
        }
        singles
    }

    /// Loads the cells that the first iteration of a row reads as results of a previous iteration.
    fn begin_carried(&mut self, loops: &mut Loops) {
        loops.carried_cells.fill(None);
        for (i, instruction) in loops.plan.nest.body.iter().enumerate() {
            let (Some(writer), Instruction::Load(address)) = (loops.plan.carried[i], instruction) else { continue };
            if loops.carried_cells[writer].is_none() {
                let first = self.load_cell(loops, *address, Position { offset: 0, wide: false });
                loops.carried_cells[writer] = Some(self.code.variable(first));
            }
            loops.carried_cells[i] = loops.carried_cells[writer];
        }
    }

    /// Accumulators of 0, one per copy of the body: in registers if there are few, in memory if there are many.
    fn begin_sums(&mut self, sums: &[usize], copies: i64, lanes: u8) -> Vec<Vec<Partial>> {
        let zero = self.code.constant(0.0, lanes);
        let size = self.target.format.bytes() * lanes as u32;
        let memory =
            (sums.len() > MAX_IN_REGISTERS).then(|| self.code.memory(size * (sums.len() * copies as usize) as u32));
        let mut shift = 0;
        let mut one = || match memory {
            Some(base) => {
                let place = Place { base, index: None, shift };
                shift += size as i32;
                self.code.store(place, zero);
                Partial::Memory(place)
            }
            None => Partial::Register(self.code.variable(zero)),
        };
        sums.iter().map(|_| (0..copies).map(|_| one()).collect()).collect()
    }

    /// The value of an accumulator.
    pub(super) fn partial_sum(&mut self, partial: Partial, lanes: u8) -> Value {
        match partial {
            Partial::Register(variable) => self.code.get(variable),
            Partial::Memory(place) => self.code.load(lanes, place),
        }
    }

    /// Sets an accumulator.
    pub(super) fn set_partial_sum(&mut self, partial: Partial, sum: Value) {
        match partial {
            Partial::Register(variable) => self.code.set(variable, sum),
            Partial::Memory(place) => self.code.store(place, sum),
        }
    }

    /// Broadcasts results from outside the innermost loop to all lanes.
    fn splat_outer(&mut self, loops: &mut Loops) {
        let depth = loops.plan.order.len();
        for (i, instruction) in loops.plan.nest.body.iter().enumerate() {
            if loops.plan.level_of(i) < depth {
                continue;
            }
            let lanes = loops.plan.lanes as u8;
            instruction.operands(|operand| {
                let operand = operand as usize;
                if loops.plan.level_of(operand) < depth {
                    let value = loops.results[operand].expect("outer levels are written before inner ones");
                    let value = self.plain(value);
                    loops.splats[operand] = Some(self.code.splat(value, lanes));
                }
            });
        }
    }

    fn pairwise(&mut self, mut values: Vec<Value>) -> Value {
        while values.len() > 1 {
            let half = values.len().div_ceil(2);
            for i in half..values.len() {
                values[i - half] = self.code.add(values[i - half], values[i]);
            }
            values.truncate(half);
        }
        values[0]
    }
}
