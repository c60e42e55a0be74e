//! Which values become lanes of one vector.
//!
//! Called by the parent module with stores that are so far apart; the result is carried out by `rewrite`.

use super::super::*;

/// No line, no vector.
pub(super) const NONE: u32 = u32::MAX;

/// How a vector of two values is had.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// One value in both lanes.
    Splat,
    /// Two values that are computed singly.
    Gathered,
    /// Two neighbouring cells.
    Loaded,
    /// One operation on two vectors, of which the second may be missing.
    Computed(Operation, usize, Option<usize>),
}

pub(super) struct Vector {
    pub(super) lanes: [Value; 2],
    pub(super) made: Made,
    /// The vector before with the same first lane.
    before: u32,
}

/// Two stores.
pub(super) struct Seed {
    pub(super) lines: [u32; 2],
    pub(super) vector: usize,
    /// Whether the second cell follows the first.
    pub(super) is_next: bool,
}

/// The search for vectors.
pub(super) struct Search<'f> {
    pub(super) function: &'f Function,
    /// First line of the straight code.
    pub(super) start: usize,
    /// Per value, the line of the straight code that defines it.
    pub(super) line: &'f [u32],
    /// Per value, the computed vector that it is a lane of.
    pub(super) vector: Vec<u32>,
    pub(super) vectors: Vec<Vector>,
    /// Per value, constants last, the last vector whose first lane it is.
    pub(super) last: Vec<u32>,
    pub(super) gain: i32,
    /// The gain from which on vectors are used.
    pub(super) least: i32,
}

impl Search<'_> {
    pub(super) fn operation(&self, value: Value) -> Option<Operation> {
        let line = match value.pool() {
            Some(_) => NONE,
            None => self.line[value.index()],
        };
        (line != NONE).then(|| self.function.lines[line as usize].operation)
    }

    /// Whether two values may be lanes of a computed vector.
    fn are_like(&self, [a, b]: [Value; 2]) -> bool {
        let (Some(first), Some(second)) = (self.operation(a), self.operation(b)) else { return false };
        let like = match (first, second) {
            (Operation::Arithmetic(first, ..), Operation::Arithmetic(second, ..)) => first == second,
            (Operation::Simple(first, _), Operation::Simple(second, _)) => first == second,
            _ => false,
        };
        let is_free =
            |value: Value| self.vector[value.index()] == NONE && self.function.kinds[value.index()] == Kind::Numbers(1);
        like && a != b && is_free(a) && is_free(b)
    }

    /// Whether two values are loaded from neighbouring cells.
    fn are_neighbours(&self, [a, b]: [Value; 2]) -> bool {
        let (Some(Operation::Load(first)), Some(Operation::Load(second))) = (self.operation(a), self.operation(b))
        else {
            return false;
        };
        first.base == second.base
            && first.index.is_none()
            && second.index.is_none()
            && second.shift == first.shift + 8
            && [a, b].iter().all(|value| self.function.kinds[value.index()] == Kind::Numbers(1))
    }

    /// The place of a value in tables of all values, constants last.
    fn place(&self, value: Value) -> usize {
        value.pool().map_or(value.index(), |constant| self.line.len() + constant)
    }

    /// The vector of two values, if there is one.
    fn known(&self, lanes: [Value; 2]) -> Option<usize> {
        let mut number = self.last[self.place(lanes[0])];
        while number != NONE {
            let vector = &self.vectors[number as usize];
            if vector.lanes[1] == lanes[1] {
                return Some(number as usize);
            }
            number = vector.before;
        }
        None
    }

    fn add(&mut self, lanes: [Value; 2], made: Made) -> usize {
        let (number, place) = (self.vectors.len(), self.place(lanes[0]));
        let before = std::mem::replace(&mut self.last[place], number as u32);
        self.vectors.push(Vector { lanes, made, before });
        number
    }

    fn fitness(&self, lanes: [Value; 2]) -> i32 {
        match lanes {
            [a, b] if a == b => 3,
            _ if self.known(lanes).is_some() => 4,
            _ if self.are_like(lanes) || self.are_neighbours(lanes) => 2,
            _ => 0,
        }
    }

    /// The vector of two values.
    fn vector(&mut self, lanes: [Value; 2]) -> usize {
        if let Some(known) = self.known(lanes) {
            return known;
        }
        let [a, b] = lanes;
        if a == b {
            self.gain -= i32::from(a.pool().is_none());
            return self.add(lanes, Made::Splat);
        }
        let (Some(first), Some(second), true) = (self.operation(a), self.operation(b), self.are_like(lanes)) else {
            if self.are_neighbours(lanes) {
                return self.add(lanes, Made::Loaded);
            }
            let far = |value: Value| i32::from(!matches!(self.operation(value), Some(Operation::Arithmetic(..))));
            self.gain -= 2 + far(a) + far(b);
            return self.add(lanes, Made::Gathered);
        };
        // Taken before the operands are looked at, which cannot be the results.
        let number = self.add(lanes, Made::Gathered);
        self.vector[a.index()] = number as u32;
        self.vector[b.index()] = number as u32;
        self.vectors[number].made = self.computed(first, second);
        number
    }

    fn computed(&mut self, first: Operation, second: Operation) -> Made {
        match (first, second) {
            (Operation::Arithmetic(which, x, y), Operation::Arithmetic(_, z, w)) => {
                self.gain += if which == Arithmetic::Divide { 6 } else { 2 };
                let commutes = matches!(which, Arithmetic::Add | Arithmetic::Multiply);
                let straight = self.fitness([x, z]) + self.fitness([y, w]);
                let crossed = self.fitness([x, w]) + self.fitness([y, z]);
                let (z, w) = if commutes && crossed > straight { (w, z) } else { (z, w) };
                let x = self.vector([x, z]);
                let y = self.vector([y, w]);
                Made::Computed(first, x, Some(y))
            }
            (Operation::Simple(which, x), Operation::Simple(_, y)) => {
                self.gain += if which == Simple::Sqrt { 6 } else { 2 };
                Made::Computed(first, self.vector([x, y]), None)
            }
            _ => Made::Gathered,
        }
    }

    /// Forgets the vectors from one on.
    fn back(&mut self, count: usize) {
        while self.vectors.len() > count {
            let Some(Vector { lanes, before, .. }) = self.vectors.pop() else { break };
            let place = self.place(lanes[0]);
            self.last[place] = before;
            for value in lanes {
                if value.pool().is_none() && self.vector[value.index()] as usize >= self.vectors.len() {
                    self.vector[value.index()] = NONE;
                }
            }
        }
    }

    /// Pairs stores of like values that are so many bytes apart.
    pub(super) fn seeds(&mut self, stores: &[(u32, Place, Value)], distance: i32) -> Vec<Seed> {
        let mut is_taken = vec![false; stores.len()];
        let mut seeds = Vec::new();
        for (i, (line, place, value)) in stores.iter().enumerate() {
            let wanted = (place.base, place.shift + distance);
            let found = stores.binary_search_by_key(&wanted, |(_, place, _)| (place.base, place.shift));
            let Ok(j) = found else { continue };
            let (other_line, _, other) = stores[j];
            let lanes = [*value, other];
            if is_taken[i] || is_taken[j] || !(self.are_like(lanes) || self.known(lanes).is_some()) {
                continue;
            }
            let (count, before) = (self.vectors.len(), self.gain);
            let vector = self.vector(lanes);
            if self.gain < before.saturating_add(self.least.min(0))
                || !matches!(self.vectors[vector].made, Made::Computed(..))
            {
                self.back(count);
                self.gain = before;
                continue;
            }
            (is_taken[i], is_taken[j]) = (true, true);
            seeds.push(Seed { lines: [*line, other_line], vector, is_next: distance == 8 });
        }
        seeds
    }

    /// What it costs to take out lanes that are used singly.
    pub(super) fn extractions(&self, seeds: &[Seed]) -> i32 {
        let mut uses = vec![0; self.vector.len()];
        let mut count = |operation: &Operation, by: i32| {
            self.function.operands(operation, |value| {
                if value.pool().is_none() {
                    uses[value.index()] += by;
                }
            });
        };
        self.function.lines[self.start..].iter().for_each(|line| count(&line.operation, 1));
        let packed = self.vectors.iter().filter(|vector| matches!(vector.made, Made::Computed(..)));
        let packed: Vec<Value> = packed.flat_map(|vector| vector.lanes).collect();
        packed.iter().filter_map(|value| self.operation(*value)).for_each(|operation| count(&operation, -1));
        seeds
            .iter()
            .flat_map(|seed| seed.lines)
            .for_each(|line| count(&self.function.lines[line as usize].operation, -1));
        for vector in &self.vectors {
            if let (Made::Gathered | Made::Splat, lanes) = (vector.made, vector.lanes) {
                lanes.iter().filter(|value| value.pool().is_none()).for_each(|value| uses[value.index()] += 1);
            }
        }
        packed
            .chunks(2)
            .map(|lanes| i32::from(uses[lanes[0].index()] > 0) + 2 * i32::from(uses[lanes[1].index()] > 0))
            .sum()
    }
}
