//! Two like results as one vector: operations of straight code that differ in their operands alone.
//!
//! Called by `build` for the code behind the last loop of a function. The rows of a small Jacobian are computed by the same operations on other
//! numbers, so pairs of stores that lie a row apart are where the search begins; it goes on to the operands as long as these are alike.
//! What differs is gathered into a vector, what is the same is broadcast. Every lane has the operations of the single number, in the same
//! order, and so its bits.
//!
//! # Source
//! S. Larsen and S. Amarasinghe, Exploiting superword level parallelism with multimedia instruction sets (2000); the search from stores
//! to operands is that of I. Rosen, D. Nuzman and A. Zaks, Loop-aware SLP in GCC (2007).

use super::*;
use crate::recording::rules;

/// Code with more lines is left as it is: the search is for short programs, where the time of a call is that of its operations.
const LONGEST: usize = 2000;
/// How many stores ahead a like one is looked for.
const AHEAD: usize = 16;
/// Gain from which on vectors are used, in halves of an instruction.
pub(in super::super) const LEAST: i32 = 12;
const NONE: u32 = u32::MAX;

/// How a vector of two values is had.
#[derive(Clone, Copy)]
enum Made {
    /// One value in both lanes.
    Splat,
    /// Two values that are computed singly.
    Gathered,
    /// Two neighbouring cells.
    Loaded,
    /// One operation on two vectors, of which the second may be missing.
    Computed(Operation, usize, Option<usize>),
}

struct Vector {
    lanes: [Value; 2],
    made: Made,
    /// The vector before with the same first lane.
    before: u32,
}

/// Two stores.
struct Seed {
    lines: [u32; 2],
    vector: usize,
    /// Whether the second cell follows the first.
    is_next: bool,
}

/// The search for vectors.
struct Search<'f> {
    function: &'f Function,
    /// First line of the straight code.
    start: usize,
    /// Per value, the line of the straight code that defines it.
    line: &'f [u32],
    /// Per value, the computed vector that it is a lane of.
    vector: Vec<u32>,
    vectors: Vec<Vector>,
    /// Per value, constants last, the last vector whose first lane it is.
    last: Vec<u32>,
    gain: i32,
    /// The gain from which on vectors are used.
    least: i32,
}

impl Search<'_> {
    fn operation(&self, value: Value) -> Option<Operation> {
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
    fn seeds(&mut self, stores: &[(u32, Place, Value)], distance: i32) -> Vec<Seed> {
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
    fn extractions(&self, seeds: &[Seed]) -> i32 {
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

/// The rewriting of the lines.
struct Rewrite<'s, 'f> {
    search: &'s Search<'f>,
    lines: Vec<Line>,
    kinds: Vec<Kind>,
    pool: Vec<(u64, u8)>,
    joined: Vec<Value>,
    /// Per value, whether it is there; per vector, the value.
    is_done: Vec<bool>,
    made: Vec<Option<Value>>,
    /// Vectors being made.
    is_open: Vec<bool>,
}

/// Vectors need each other.
struct Circle;

/// Lines, types of values, constants, and numbers that are joined.
type Rewritten = (Vec<Line>, Vec<Kind>, Vec<(u64, u8)>, Vec<Value>);

impl Rewrite<'_, '_> {
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

    fn all(&mut self, seeds: &[Seed]) -> Result<(), Circle> {
        let function = self.search.function;
        // Per line, the seed whose store it is.
        let mut seed_of = vec![NONE; function.lines.len()];
        for (number, seed) in seeds.iter().enumerate() {
            seed.lines.iter().for_each(|line| seed_of[*line as usize] = number as u32);
        }
        let mut seen = vec![false; seeds.len() + self.made.len()];
        for i in function.calls_early(self.search.start) {
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

impl Function {
    /// The calls of the straight code from a line on in the order in which they are to be made: before everything else, when fewer values
    /// have to be saved, those first whose arguments depend on fewer calls, and of these sines and cosines first: the C library
    /// reads the status of the processor in them, which waits for all arithmetic begun before.
    fn calls_early(&self, start: usize) -> Vec<usize> {
        let mut calls = Vec::new();
        if self.calls.len() < 2 {
            return Vec::new();
        }
        let mut depth = vec![0u32; self.kinds.len()];
        for (i, Line { operation, result }) in self.lines.iter().enumerate().skip(start) {
            let Some(result) = result else { continue };
            let mut deepest = 0;
            self.operands(operation, |value| {
                deepest = if value.pool().is_some() { deepest } else { depth[value.index()].max(deepest) };
            });
            if let Operation::Call(call) = operation {
                let Call { rule, rules, .. } = self.calls[*call as usize];
                // Rules of users are called in the order of the program.
                if rules.is_none() {
                    calls.push((deepest, !matches!(rule, rules::SIN | rules::COS), i));
                }
                deepest += 1;
            }
            depth[result.index()] = deepest;
        }
        calls.sort_unstable();
        calls.into_iter().map(|(.., i)| i).collect()
    }

    /// The function with its straight code in another order: calls early, and vectors of two doubles where they gain so much, usually
    /// [`LEAST`].
    pub(in super::super) fn with_superwords(mut self, least: i32) -> Function {
        let last = self.lines.iter().rposition(|line| matches!(line.operation, Operation::End(_)));
        let start = last.map_or(0, |end| end + 1);
        if self.bytes != 8 || self.lines.len() - start > LONGEST {
            return self;
        }
        let mut line = vec![NONE; self.kinds.len()];
        for (i, Line { result, .. }) in self.lines.iter().enumerate().skip(start) {
            if let Some(result) = result {
                line[result.index()] = i as u32;
            }
        }
        let Some(stores) = self.stores(start) else { return self };
        let distances = self.distances(&line, &stores);
        if distances.is_empty() && self.calls.len() < 2 {
            return self;
        }
        let search = || {
            let (vector, last) = (vec![NONE; self.kinds.len()], vec![NONE; self.kinds.len() + self.pool.len()]);
            Search { function: &self, start, line: &line, vector, vectors: Vec::new(), last, gain: 0, least }
        };
        let with_vectors = |distance: i32| {
            let mut search = search();
            let seeds = search.seeds(&stores, distance);
            search.gain -= search.extractions(&seeds);
            (search, seeds)
        };
        let mut best: Option<(Search, Vec<Seed>)> = None;
        for distance in distances {
            // A quarter of the code is enough.
            let is_enough = |(search, _): &(Search, Vec<Seed>)| search.gain > (self.lines.len() - start) as i32 / 2;
            if !best.as_ref().is_some_and(is_enough) {
                let other = with_vectors(distance);
                best = best.filter(|(search, _)| search.gain >= other.0.gain).or(Some(other));
            }
        }
        let best = best.filter(|(search, seeds)| search.gain >= least && !self.disturbs(start, seeds));
        let rewritten = best.and_then(|(search, seeds)| self.rewritten(&search, &seeds));
        let rewritten = rewritten.or_else(|| self.rewritten(&search(), &[]));
        let Some((lines, kinds, pool, joined)) = rewritten else { return self };
        self.defined.resize(kinds.len(), start as u32);
        (self.lines, self.kinds, self.pool, self.joined) = (lines, kinds, pool, joined);
        self
    }

    /// `None` if vectors need each other.
    fn rewritten(&self, search: &Search, seeds: &[Seed]) -> Option<Rewritten> {
        let mut rewrite = Rewrite {
            search,
            lines: {
                let mut lines = Vec::with_capacity(self.lines.len());
                lines.extend_from_slice(&self.lines[..search.start]);
                lines
            },
            kinds: self.kinds.clone(),
            pool: self.pool.clone(),
            joined: self.joined.clone(),
            is_done: vec![false; self.kinds.len()],
            made: vec![None; search.vectors.len()],
            is_open: vec![false; search.vectors.len()],
        };
        rewrite.all(seeds).ok()?;
        let Rewrite { lines, kinds, pool, joined, .. } = rewrite;
        Some((lines, kinds, pool, joined))
    }

    /// The stores of single numbers in the straight code from a line on, by place; `None` if some may concern other cells than it seems:
    /// pointers to slices are the only ones known to differ.
    fn stores(&self, start: usize) -> Option<Vec<(u32, Place, Value)>> {
        let (mut slices, mut bases): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut stores = Vec::new();
        for (i, Line { operation, result }) in self.lines.iter().enumerate() {
            match operation {
                Operation::LoadInteger(_) => slices.extend(result),
                Operation::Store(place, value) if i >= start => {
                    if place.index.is_some() || !slices.contains(&place.base) {
                        return None;
                    }
                    if !bases.contains(&place.base) {
                        bases.push(place.base);
                    }
                    if self.kind(*value) == Kind::Numbers(1) {
                        stores.push((i as u32, *place, *value));
                    }
                }
                _ => {}
            }
        }
        // No cell that is stored to is read.
        let is_read = self.lines[start..].iter().any(|line| match line.operation {
            Operation::Load(place) => !slices.contains(&place.base) || bases.contains(&place.base),
            _ => false,
        });
        stores.sort_unstable_by_key(|(line, place, _)| (place.base, place.shift, *line));
        let twice = stores.windows(2).any(|two| (two[0].1.base, two[0].1.shift) == (two[1].1.base, two[1].1.shift));
        (!is_read && !twice).then_some(stores)
    }

    /// The two distances at which most stores of like values are.
    fn distances(&self, line: &[u32], stores: &[(u32, Place, Value)]) -> Vec<i32> {
        let kind = |value: Value| match value.pool() {
            None if line[value.index()] != NONE => match self.lines[line[value.index()] as usize].operation {
                Operation::Arithmetic(which, ..) => 1 + which as u32,
                Operation::Simple(which, _) => 6 + which as u32,
                Operation::Load(_) => 12,
                _ => 13,
            },
            _ => 0,
        };
        let mut alike: Vec<(Value, u32, i32)> = Vec::with_capacity(stores.len());
        for (_, place, value) in stores {
            let own = kind(*value);
            if !(1..12).contains(&own) {
                continue;
            }
            let mut of_operands = 0;
            self.operands(&self.lines[line[value.index()] as usize].operation, |operand| {
                of_operands += 1 << kind(operand);
            });
            alike.push((place.base, own << 16 | of_operands, place.shift));
        }
        alike.sort_unstable();
        let mut all: Vec<i32> = Vec::with_capacity(4 * alike.len());
        for (i, (base, kind, shift)) in alike.iter().enumerate() {
            let others = alike[i + 1..].iter().take(AHEAD).take_while(|other| (other.0, other.1) == (*base, *kind));
            all.extend(others.map(|other| other.2 - shift));
        }
        all.sort_unstable();
        let mut votes: Vec<(usize, i32)> = all.chunk_by(|a, b| a == b).map(|same| (same.len(), -same[0])).collect();
        votes.sort_unstable_by(|a, b| b.cmp(a));
        votes.iter().take(2).map(|(_, distance)| -distance).collect()
    }

    /// Whether a store that moves behind another one would change its cell. Of single numbers no two are stored to the same place.
    fn disturbs(&self, start: usize, seeds: &[Seed]) -> bool {
        let wide = self.lines.iter().enumerate().skip(start).filter_map(|(i, line)| match line.operation {
            Operation::Store(place, value) if self.lanes(value) > 1 => {
                Some((i as u32, place.base, place.shift..place.shift + 8 * i32::from(self.lanes(value))))
            }
            _ => None,
        });
        let wide: Vec<_> = wide.collect();
        seeds.iter().any(|seed| {
            let (first, last) = (seed.lines[0].min(seed.lines[1]), seed.lines[0].max(seed.lines[1]));
            let Operation::Store(moved, _) = self.lines[first as usize].operation else { return true };
            wide.iter().any(|(i, base, cells)| {
                (first..last).contains(i) && *base == moved.base && cells.contains(&moved.shift)
            })
        })
    }
}
