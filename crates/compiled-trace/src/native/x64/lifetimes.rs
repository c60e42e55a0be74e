//! When values are used next, which loops they live through, which lines have no effect.
//!
//! Called once per function, before registers are assigned. One pass over the lines, backwards, finds for every operand where its
//! value is used next. A value that comes from outside a loop and is used in it is used at the end of the loop again, by the next
//! iteration.

use super::super::code::{Carried, Function, Kind, Limit, Line, Operation, Value};

/// No further use.
pub(super) const NEVER: u32 = u32::MAX;

/// The class of registers a value goes into.
pub(super) const INTEGERS: usize = 0;
pub(super) const NUMBERS: usize = 1;

/// A loop.
#[derive(Default)]
pub(super) struct Life {
    /// Values that change and are used.
    pub(super) carried: Vec<Carried>,
    /// Values from outside that it uses, with their next use after it.
    pub(super) used: Vec<(Value, u32)>,
    /// The line where it ends.
    pub(super) end: u32,
    /// Per class, the largest number of values alive at once, constants not counted, and how many live through the loop.
    pub(super) most: [u32; 2],
    pub(super) through: [u32; 2],
    /// Whether functions are called in it.
    pub(super) calls: bool,
    /// Whether there is no loop in it.
    pub(super) innermost: bool,
}

/// The result of the pass.
pub(super) struct Lifetimes {
    /// The next use of every operand and of every result, in the reverse of the order in which lines list them: operands, then
    /// the result. For `Begin`, first numbers, then parameters; for `End`, next numbers, counter, limit.
    pub(super) next: Vec<u32>,
    /// Lines without effect.
    pub(super) idle: Vec<bool>,
    /// How often each value is used; constants not counted.
    pub(super) uses: Vec<u32>,
    pub(super) loops: Vec<Life>,
    pub(super) calls: bool,
    /// The first use of each argument.
    pub(super) arguments: [u32; 2],
}

/// The place of a value in tables of all values, those of the pool last.
#[inline(always)]
pub(super) fn place(function: &Function, value: Value) -> usize {
    match value.pool() {
        Some(index) => function.kinds.len() + index,
        None => value.index(),
    }
}

/// The class of a value.
#[inline(always)]
pub(super) fn class(function: &Function, value: Value) -> usize {
    match function.kind(value) {
        Kind::Integer => INTEGERS,
        Kind::Numbers(_) => NUMBERS,
    }
}

/// Counts uses.
fn uses(function: &Function) -> Vec<u32> {
    let mut uses = vec![0; function.kinds.len()];
    let mut count = |value: Value| {
        if value.pool().is_none() {
            uses[value.index()] += 1;
        }
    };
    for line in &function.lines {
        match line.operation {
            Operation::Begin(number) => {
                function.loops[number as usize].carried.iter().for_each(|carried| count(carried.first));
            }
            Operation::End(number) => {
                let repeat = &function.loops[number as usize];
                repeat.carried.iter().for_each(|carried| count(carried.next));
                count(repeat.counter);
                if let Limit::Value(limit) = repeat.limit {
                    count(limit);
                }
            }
            operation => function.operands(&operation, &mut count),
        }
    }
    uses
}

/// The state of the pass.
struct Pass<'f> {
    function: &'f Function,
    /// The next use of each value.
    next: Vec<u32>,
    found: Vec<u32>,
    loops: Vec<Life>,
    /// Loops around the present line, outermost first, with the line where they begin.
    open: Vec<(u32, usize)>,
    /// The end of the innermost one.
    end: u32,
    alive: [u32; 2],
    /// Whether there are no loops. Then all uses of a value lie behind its definition, and the pass counts them itself.
    is_straight: bool,
    uses: Vec<u32>,
    idle: Vec<bool>,
    calls: bool,
}

impl Pass<'_> {
    #[inline(always)]
    fn operand(&mut self, value: Value, line: u32) {
        let place = place(self.function, value);
        let mut next = self.next[place];
        if next > self.end {
            next = self.seen_first(value, next);
        }
        if self.next[place] == NEVER && value.pool().is_none() {
            self.alive[class(self.function, value)] += 1;
        }
        self.found.push(next);
        self.next[place] = line;
    }

    /// The next use of a value that has not been seen in the innermost loop yet.
    fn seen_first(&mut self, value: Value, after: u32) -> u32 {
        let (mut next, class) = (after, class(self.function, value));
        let defined = if value.pool().is_some() { 0 } else { self.function.defined[value.index()] };
        for (begin, number) in &self.open {
            let life = &mut self.loops[*number];
            if defined < *begin && next > life.end {
                life.used.push((value, next));
                next = life.end;
                // It is alive on all lines of the loop behind this one.
                if after == NEVER && value.pool().is_none() {
                    life.most[class] += 1;
                }
            }
        }
        next
    }

    #[inline(always)]
    fn definition(&mut self, value: Value) {
        let next = std::mem::replace(&mut self.next[value.index()], NEVER);
        self.found.push(next);
        if next != NEVER {
            self.alive[class(self.function, value)] -= 1;
        }
    }

    fn measure(&mut self) {
        if let Some((_, number)) = self.open.last() {
            let life = &mut self.loops[*number];
            for class in [INTEGERS, NUMBERS] {
                life.most[class] = life.most[class].max(self.alive[class]);
            }
        }
    }

    fn end_of_loop(&mut self, number: usize, line: u32) {
        let repeat = &self.function.loops[number];
        let life = &mut self.loops[number];
        life.end = line;
        life.innermost = true;
        let carried = std::mem::take(&mut life.carried);
        self.open.push((repeat.begin, number));
        self.end = line;
        self.measure();
        if let Limit::Value(limit) = repeat.limit {
            self.operand(limit, line);
        }
        self.operand(repeat.counter, line);
        for carried in carried.iter().rev() {
            self.operand(carried.next, line);
        }
        self.loops[number].carried = carried;
        self.measure();
    }

    fn begin_of_loop(&mut self, number: usize, line: u32) {
        let carried = std::mem::take(&mut self.loops[number].carried);
        for carried in carried.iter().rev() {
            self.definition(carried.parameter);
        }
        self.open.pop();
        let (through, most, called) = {
            let life = &mut self.loops[number];
            life.through = self.alive;
            (self.alive, life.most, life.calls)
        };
        debug_assert!(through[0] <= most[0] && through[1] <= most[1]);
        self.end = NEVER;
        if let Some((_, outer)) = self.open.last() {
            let outer = &mut self.loops[*outer];
            self.end = outer.end;
            outer.innermost = false;
            outer.calls |= called;
            for class in [INTEGERS, NUMBERS] {
                outer.most[class] = outer.most[class].max(most[class]);
            }
        }
        for carried in carried.iter().rev() {
            self.operand(carried.first, line);
        }
        self.loops[number].carried = carried;
        self.measure();
    }

    /// A line inside or outside of loops. One whose result is not used is idle, and uses nothing.
    #[inline(always)]
    fn line(&mut self, operation: &Operation, result: Option<Value>, line: u32, operands: &mut Vec<Value>) {
        let Pass { function, is_straight, .. } = *self;
        let is_call = matches!(operation, Operation::Call(_));
        if let Some(result) = result {
            if self.uses[result.index()] == 0 && !is_call {
                self.idle[line as usize] = true;
                function.operands(operation, |value| {
                    if !is_straight && value.pool().is_none() {
                        self.uses[value.index()] -= 1;
                    }
                });
                return;
            }
            self.definition(result);
        }
        if is_call {
            self.calls = true;
            if let Some((_, number)) = self.open.last() {
                self.loops[*number].calls = true;
            }
        }
        operands.clear();
        function.operands(operation, |value| operands.push(value));
        for value in operands.iter().rev() {
            if is_straight && value.pool().is_none() {
                self.uses[value.index()] += 1;
            }
            self.operand(*value, line);
        }
        self.measure();
    }
}

/// The loops with the values that change and are used. What only computes an unused one is not a use.
fn used_loops(function: &Function, uses: &mut [u32]) -> Vec<Life> {
    let mut loops = Vec::with_capacity(function.loops.len());
    for repeat in &function.loops {
        let mut life = Life { carried: Vec::with_capacity(repeat.carried.len()), ..Life::default() };
        for carried in &repeat.carried {
            if uses[carried.parameter.index()] > 0 {
                life.carried.push(*carried);
                continue;
            }
            for value in [carried.first, carried.next] {
                if value.pool().is_none() {
                    uses[value.index()] -= 1;
                }
            }
        }
        loops.push(life);
    }
    loops
}

impl Lifetimes {
    pub(super) fn of(function: &Function) -> Lifetimes {
        let is_straight = function.loops.is_empty();
        let mut uses = if is_straight { vec![0; function.kinds.len()] } else { uses(function) };
        let loops = used_loops(function, &mut uses);
        let mut pass = Pass {
            function,
            next: vec![NEVER; function.kinds.len() + function.pool.len()],
            found: Vec::with_capacity(3 * function.len()),
            loops,
            open: Vec::new(),
            end: NEVER,
            alive: [0; 2],
            is_straight,
            uses,
            idle: vec![false; function.len()],
            calls: false,
        };
        let mut operands = Vec::with_capacity(8);
        for (i, Line { operation, result }) in function.lines.iter().enumerate().rev() {
            let line = i as u32;
            match *operation {
                Operation::End(number) => pass.end_of_loop(number as usize, line),
                Operation::Begin(number) => pass.begin_of_loop(number as usize, line),
                ref operation => pass.line(operation, *result, line, &mut operands),
            }
        }
        let Pass { next, found, loops, uses, idle, calls, .. } = pass;
        Lifetimes { next: found, idle, uses, loops, calls, arguments: [next[0], next[1]] }
    }
}
