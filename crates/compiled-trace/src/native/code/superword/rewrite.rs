//! The straight code of a function in another order: calls, vectors, and what remains.
//!
//! Called by the parent module with the vectors that `search` has found.

use super::super::*;
use super::early::Early;
use super::search::{Made, NONE, Search, Seed, Vector};
use crate::native::functions;

/// Lanes of own functions.
const LANES: usize = 4;

/// The rewriting of the lines.
pub(super) struct Rewrite<'s, 'f> {
    search: &'s Search<'f>,
    lines: Vec<Line>,
    kinds: Vec<Kind>,
    pool: Vec<(u64, u8)>,
    joined: Vec<Value>,
    calls: Vec<Call>,
    /// Per value, whether it is there; per vector, the value.
    is_done: Vec<bool>,
    made: Vec<Option<Value>>,
    /// Vectors being made.
    is_open: Vec<bool>,
    /// Groups of calls that have not been begun; empty once they are.
    groups: Vec<Vec<usize>>,
    /// Per line, its group.
    group: Vec<u32>,
}

/// Vectors or groups need each other.
struct Circle;

/// What is new in a function.
pub(super) struct Rewritten {
    pub(super) lines: Vec<Line>,
    pub(super) kinds: Vec<Kind>,
    pub(super) pool: Vec<(u64, u8)>,
    pub(super) joined: Vec<Value>,
    pub(super) calls: Vec<Call>,
}

impl<'s, 'f> Rewrite<'s, 'f> {
    /// The code with the vectors found and these calls first; `None` if vectors need each other.
    pub(super) fn of(search: &'s Search<'f>, seeds: &[Seed], early: &Early) -> Option<Rewritten> {
        let function = search.function;
        let mut lines = Vec::with_capacity(function.lines.len());
        lines.extend_from_slice(&function.lines[..search.start]);
        let mut rewrite = Rewrite {
            search,
            lines,
            kinds: function.kinds.clone(),
            pool: function.pool.clone(),
            joined: function.joined.clone(),
            is_done: vec![false; function.kinds.len()],
            made: vec![None; search.vectors.len()],
            is_open: vec![false; search.vectors.len()],
            calls: function.calls.clone(),
            groups: early.groups.clone(),
            group: vec![NONE; function.lines.len()],
        };
        for (number, group) in early.groups.iter().enumerate() {
            group.iter().for_each(|line| rewrite.group[*line] = number as u32);
        }
        rewrite.all(seeds, &early.calls).ok()?;
        let Rewrite { lines, kinds, pool, joined, calls, .. } = rewrite;
        Some(Rewritten { lines, kinds, pool, joined, calls })
    }

    fn push(&mut self, operation: Operation, lanes: u8) -> Value {
        self.kinds.push(Kind::Numbers(lanes));
        let value = Value::of_index(self.kinds.len() - 1);
        self.lines.push(Line { operation, result: Some(value) });
        value
    }

    fn is_there(&self, value: Value) -> bool {
        value.pool().is_some() || self.search.line[value.index()] == NONE || self.is_done[value.index()]
    }

    /// Whether a single value can be had without computing what comes later in the code.
    fn is_near(&self, value: Value) -> bool {
        self.is_there(value)
            || (self.search.vector[value.index()] != NONE
                && self.made[self.search.vector[value.index()] as usize].is_some())
    }

    /// Computes a single value.
    fn need(&mut self, value: Value) -> Result<(), Circle> {
        if self.is_there(value) {
            return Ok(());
        }
        let vector = self.search.vector[value.index()];
        if vector == NONE {
            return self.line(self.search.line[value.index()] as usize);
        }
        let from = self.vector(vector as usize)?;
        let lane = u8::from(self.search.vectors[vector as usize].lanes[1] == value);
        self.lines.push(Line { operation: Operation::Lane(from, lane), result: Some(value) });
        self.is_done[value.index()] = true;
        Ok(())
    }

    /// Copies a line, behind what it needs.
    fn line(&mut self, i: usize) -> Result<(), Circle> {
        let function = self.search.function;
        let Line { operation, result } = function.lines[i];
        // The second result of a call comes with the first.
        if let Operation::Second(first) = operation {
            return self.need(first);
        }
        if self.group[i] != NONE {
            return self.at_once(self.group[i] as usize);
        }
        let mut operands = [Value::SLICES; 8];
        let mut count = 0;
        function.operands(&operation, |value| {
            operands[count] = value;
            count += 1;
        });
        for operand in &operands[..count] {
            self.need(*operand)?;
        }
        self.lines.push(Line { operation, result });
        if let Some(result) = result {
            self.is_done[result.index()] = true;
        }
        if let (Operation::Call(_), Some(Line { operation: Operation::Second(first), result: Some(second) })) =
            (operation, function.lines.get(i + 1).copied())
        {
            self.lines.push(Line { operation: Operation::Second(first), result: Some(second) });
            self.is_done[second.index()] = true;
        }
        Ok(())
    }

    /// Makes the calls of a group, all of own functions of an angle, at once.
    fn at_once(&mut self, number: usize) -> Result<(), Circle> {
        let members = std::mem::take(&mut self.groups[number]);
        let call_of = |line: usize| match self.search.function.lines[line].operation {
            Operation::Call(call) => Some(self.search.function.calls[call as usize]),
            _ => None,
        };
        let called: Vec<(usize, Call)> = members.iter().filter_map(|line| Some((*line, call_of(*line)?))).collect();
        // A group that is already begun needs itself.
        let Some((_, first)) = called.first().copied() else { return Err(Circle) };
        let Some((address, second)) = functions::of_four(first.rule) else { return Err(Circle) };
        for (_, call) in &called {
            self.need(call.arguments[0])?;
        }
        let start = self.joined.len() as u32;
        self.joined.extend(called.iter().map(|(_, call)| call.arguments[0]));
        self.joined.extend((called.len()..LANES).map(|_| first.arguments[0]));
        let angles = self.push(Operation::Join { start, count: LANES as u8 }, LANES as u8);
        let wants_second = |call: &Call| call.second.is_some_and(|second| second.is_wanted);
        let is_wanted = called.iter().any(|(_, call)| call.rule != first.rule || wants_second(call));
        self.calls.push(Call {
            address,
            arguments: [angles; 2],
            lanes: LANES as u8,
            second: Some(Second { is_wanted, ..second }),
            ..first
        });
        let values = self.push(Operation::Call(self.calls.len() as u32 - 1), LANES as u8);
        let others = self.push(Operation::Second(values), LANES as u8);
        for (lane, (line, call)) in called.into_iter().enumerate() {
            let [own, other] = if call.rule == first.rule { [values, others] } else { [others, values] };
            let lines = &self.search.function.lines;
            let (result, second) = (lines[line].result, lines.get(line + 1).and_then(|line| line.result));
            let second = second.filter(|_| wants_second(&call));
            for (from, result) in [(own, result), (other, second)] {
                let Some(result) = result else { continue };
                self.lines.push(Line { operation: Operation::Lane(from, lane as u8), result: Some(result) });
                self.is_done[result.index()] = true;
            }
        }
        Ok(())
    }

    /// Computes a vector.
    fn vector(&mut self, number: usize) -> Result<Value, Circle> {
        if let Some(made) = self.made[number] {
            return Ok(made);
        }
        if std::mem::replace(&mut self.is_open[number], true) {
            return Err(Circle);
        }
        let Vector { lanes: [a, b], made, .. } = self.search.vectors[number];
        let value = match made {
            Made::Splat => match a.pool() {
                Some(constant) => {
                    self.pool.push((self.pool[constant].0, 2));
                    Value::of_pool(self.pool.len() - 1)
                }
                None => {
                    self.need(a)?;
                    self.push(Operation::Splat(a), 2)
                }
            },
            Made::Gathered => {
                self.need(a)?;
                self.need(b)?;
                let start = self.joined.len() as u32;
                self.joined.extend([a, b]);
                self.push(Operation::Join { start, count: 2 }, 2)
            }
            Made::Loaded => {
                let Some(Operation::Load(place)) = self.search.operation(a) else { return Err(Circle) };
                self.need(place.base)?;
                self.push(Operation::Load(place), 2)
            }
            Made::Computed(operation, x, y) => {
                let x = self.vector(x)?;
                let operation = match (operation, y) {
                    (Operation::Arithmetic(which, ..), Some(y)) => Operation::Arithmetic(which, x, self.vector(y)?),
                    (Operation::Simple(which, _), None) => Operation::Simple(which, x),
                    _ => return Err(Circle),
                };
                self.push(operation, 2)
            }
        };
        self.made[number] = Some(value);
        Ok(value)
    }

    /// Stores both lanes of a vector.
    fn store(&mut self, seed: &Seed) -> Result<(), Circle> {
        let vector = self.vector(seed.vector)?;
        for (lane, line) in seed.lines.into_iter().enumerate() {
            let Operation::Store(place, _) = self.search.function.lines[line as usize].operation else { continue };
            self.need(place.base)?;
            if seed.is_next {
                self.lines.push(Line { operation: Operation::Store(place, vector), result: None });
                break;
            }
            let single = self.push(Operation::Lane(vector, lane as u8), 1);
            self.lines.push(Line { operation: Operation::Store(place, single), result: None });
        }
        Ok(())
    }

    fn all(&mut self, seeds: &[Seed], calls: &[usize]) -> Result<(), Circle> {
        let function = self.search.function;
        // Per line, the seed whose store it is.
        let mut seed_of = vec![NONE; function.lines.len()];
        for (number, seed) in seeds.iter().enumerate() {
            seed.lines.iter().for_each(|line| seed_of[*line as usize] = number as u32);
        }
        let mut seen = vec![false; seeds.len() + self.made.len()];
        for i in calls.iter().copied() {
            if function.lines[i].result.is_some_and(|result| !self.is_done[result.index()]) {
                self.line(i)?;
            }
        }
        for (i, seed) in seed_of.iter().copied().enumerate().skip(self.search.start) {
            let Line { operation, result } = function.lines[i];
            match (operation, result) {
                (Operation::Store(..), _) => match seed {
                    NONE => self.line(i)?,
                    _ if std::mem::replace(&mut seen[seed as usize], true) => self.store(&seeds[seed as usize])?,
                    _ => {}
                },
                (Operation::Call(_), Some(result)) if self.is_done[result.index()] => {}
                (Operation::Guard(..) | Operation::Call(_), _) | (_, None) => self.line(i)?,
                (_, Some(result)) if self.is_done[result.index()] => {}
                (_, Some(result)) => match self.search.vector[result.index()] {
                    NONE => {
                        // A line waits for vectors of which one lane comes later.
                        let mut is_near = true;
                        function.operands(&operation, |value| is_near &= self.is_near(value));
                        if is_near {
                            self.line(i)?;
                        }
                    }
                    vector => {
                        if std::mem::replace(&mut seen[seeds.len() + vector as usize], true) {
                            self.vector(vector as usize)?;
                        }
                    }
                },
            }
        }
        Ok(())
    }
}
