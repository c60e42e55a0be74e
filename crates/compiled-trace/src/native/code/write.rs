//! Writing a function line by line.
//!
//! Called by `emit` and its siblings. Variables become parameters of the loops that change them.

use super::*;

impl Function {
    /// Begins a function on numbers of so many bytes.
    pub(in super::super) fn new(bytes: u32) -> Function {
        Function {
            bytes,
            lines: Vec::new(),
            // The two arguments.
            kinds: vec![Kind::Integer; 2],
            defined: vec![0; 2],
            loops: Vec::new(),
            calls: Vec::new(),
            joined: Vec::new(),
            pool: Vec::new(),
            memory: 0,
            pooled: FxHashMap::default(),
            integers: FxHashMap::default(),
            pairs: FxHashMap::default(),
            same: FxHashMap::default(),
            variables: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Reserves memory for so many further lines.
    pub(in super::super) fn reserve(&mut self, lines: usize) {
        self.lines.reserve(lines);
        self.kinds.reserve(lines);
        self.defined.reserve(lines);
    }

    /// Ends a function: parameters that never change are replaced by what they stand for.
    pub(in super::super) fn finish(mut self) -> Function {
        if self.same.is_empty() {
            return self;
        }
        let same = std::mem::take(&mut self.same);
        let real = |value: &mut Value| {
            while let Some(other) = same.get(&value.0) {
                *value = *other;
            }
        };
        for line in &mut self.lines {
            line.operation.each_mut(real);
        }
        self.joined.iter_mut().for_each(real);
        self.calls.iter_mut().flat_map(|call| &mut call.arguments).for_each(real);
        for repeat in &mut self.loops {
            real(&mut repeat.counter);
            if let Limit::Value(limit) = &mut repeat.limit {
                real(limit);
            }
            for carried in &mut repeat.carried {
                real(&mut carried.first);
                real(&mut carried.next);
            }
        }
        self
    }

    fn value(&mut self, kind: Kind, defined: u32) -> Value {
        self.kinds.push(kind);
        self.defined.push(defined);
        Value::of_index(self.kinds.len() - 1)
    }

    fn line(&mut self, operation: Operation, kind: Kind) -> Value {
        let result = self.value(kind, self.lines.len() as u32);
        self.lines.push(Line { operation, result: Some(result) });
        result
    }

    fn effect(&mut self, operation: Operation) {
        self.lines.push(Line { operation, result: None });
    }

    /// A constant in so many lanes.
    pub(in super::super) fn constant(&mut self, number: f64, lanes: u8) -> Value {
        let bits = if self.bytes == 4 { (number as f32).to_bits() as u64 } else { number.to_bits() };
        self.pooled(bits, lanes)
    }

    fn pooled(&mut self, bits: u64, lanes: u8) -> Value {
        let next = Value::of_pool(self.pool.len());
        let value = *self.pooled.entry((bits, lanes)).or_insert(next);
        if value == next {
            self.pool.push((bits, lanes));
        }
        value
    }

    /// The result of an operation on integers. A value may be used anywhere after its line, so it is computed once.
    fn once(&mut self, operation: Operation) -> Value {
        let key = match operation {
            Operation::Integer(value) => (0, 0, value),
            Operation::AddIntegers(x, y) => (1, x.0, y.0 as i64),
            Operation::AddConstant(x, constant) => (2, x.0, constant),
            Operation::Scale(x, factor) => (3, x.0, factor),
            Operation::Double(x, times) => (4, x.0, times as i64),
            _ => return self.line(operation, Kind::Integer),
        };
        if let Some(known) = self.integers.get(&key) {
            return *known;
        }
        let value = self.line(operation, Kind::Integer);
        self.integers.insert(key, value);
        value
    }

    pub(in super::super) fn integer(&mut self, value: i64) -> Value {
        self.once(Operation::Integer(value))
    }

    pub(in super::super) fn load_integer(&mut self, base: Value, shift: i32) -> Value {
        self.line(Operation::LoadInteger(Place { base, index: None, shift }), Kind::Integer)
    }

    pub(in super::super) fn load_index(&mut self, place: Place) -> Value {
        self.line(Operation::LoadIndex(place), Kind::Integer)
    }

    /// A pointer to new memory of the function.
    pub(in super::super) fn memory(&mut self, bytes: u32) -> Value {
        let start = self.memory;
        self.memory += bytes.next_multiple_of(64);
        self.line(Operation::Memory(start), Kind::Integer)
    }

    pub(in super::super) fn add_integers(&mut self, x: Value, y: Value) -> Value {
        self.once(Operation::AddIntegers(x, y))
    }

    pub(in super::super) fn add_constant(&mut self, x: Value, constant: i64) -> Value {
        if constant == 0 { x } else { self.once(Operation::AddConstant(x, constant)) }
    }

    pub(in super::super) fn scale(&mut self, x: Value, factor: i64) -> Value {
        if factor > 0 && factor.count_ones() == 1 {
            return self.double(x, factor.trailing_zeros() as u8);
        }
        self.once(Operation::Scale(x, factor))
    }

    pub(in super::super) fn double(&mut self, x: Value, times: u8) -> Value {
        if times == 0 { x } else { self.once(Operation::Double(x, times)) }
    }

    pub(in super::super) fn load(&mut self, lanes: u8, place: Place) -> Value {
        self.line(Operation::Load(place), Kind::Numbers(lanes))
    }

    pub(in super::super) fn store(&mut self, place: Place, value: Value) {
        self.effect(Operation::Store(place, value));
    }

    fn like(&mut self, operation: Operation, operand: Value) -> Value {
        let kind = self.kind(operand);
        self.line(operation, kind)
    }

    fn arithmetic(&mut self, which: Arithmetic, x: Value, y: Value) -> Value {
        if let (Some(first), Some(second)) = (x.pool(), y.pool()) {
            let ((first, lanes), (second, _)) = (self.pool[first], self.pool[second]);
            let bits = match self.bytes {
                4 => u64::from(which.of(f32::from_bits(first as u32), f32::from_bits(second as u32)).to_bits()),
                _ => which.of(f64::from_bits(first), f64::from_bits(second)).to_bits(),
            };
            return self.pooled(bits, lanes);
        }
        self.like(Operation::Arithmetic(which, x, y), x)
    }

    pub(in super::super) fn add(&mut self, x: Value, y: Value) -> Value {
        self.arithmetic(Arithmetic::Add, x, y)
    }

    pub(in super::super) fn subtract(&mut self, x: Value, y: Value) -> Value {
        self.arithmetic(Arithmetic::Subtract, x, y)
    }

    pub(in super::super) fn multiply(&mut self, x: Value, y: Value) -> Value {
        self.arithmetic(Arithmetic::Multiply, x, y)
    }

    pub(in super::super) fn divide(&mut self, x: Value, y: Value) -> Value {
        self.arithmetic(Arithmetic::Divide, x, y)
    }

    pub(in super::super) fn simple(&mut self, function: Simple, x: Value) -> Value {
        self.like(Operation::Simple(function, x), x)
    }

    pub(in super::super) fn copy_sign(&mut self, magnitude: Value, sign: Value) -> Value {
        self.like(Operation::CopySign(magnitude, sign), magnitude)
    }

    /// `then` where the comparison holds, `otherwise` elsewhere.
    pub(in super::super) fn choose(
        &mut self,
        condition: Condition,
        left: Value,
        right: Value,
        then: Value,
        otherwise: Value,
    ) -> Value {
        self.like(Operation::Choose(condition, [left, right, then, otherwise]), left)
    }

    pub(in super::super) fn splat(&mut self, x: Value, lanes: u8) -> Value {
        match x.pool() {
            Some(index) => {
                let bits = self.pool[index].0;
                let number = if self.bytes == 4 { f32::from_bits(bits as u32) as f64 } else { f64::from_bits(bits) };
                self.constant(number, lanes)
            }
            None => self.line(Operation::Splat(x), Kind::Numbers(lanes)),
        }
    }

    pub(in super::super) fn lane(&mut self, vector: Value, lane: u8) -> Value {
        self.line(Operation::Lane(vector, lane), Kind::Numbers(1))
    }

    pub(in super::super) fn join(&mut self, lanes: &[Value]) -> Value {
        let start = self.joined.len() as u32;
        self.joined.extend_from_slice(lanes);
        let count = lanes.len() as u8;
        self.line(Operation::Join { start, count }, Kind::Numbers(count))
    }

    /// The lanes of two consecutive vectors, from `ahead` lanes before the second on.
    pub(in super::super) fn later(&mut self, before: Value, now: Value, ahead: u8) -> Value {
        if self.kind(before) == Kind::Numbers(ahead) {
            return before;
        }
        self.like(Operation::Later(before, now, ahead), before)
    }

    pub(in super::super) fn call(&mut self, call: Call) -> Value {
        self.calls.push(call);
        self.line(Operation::Call(self.calls.len() as u32 - 1), Kind::Numbers(call.lanes))
    }

    /// A call of a function that comes in a pair: the value of the other one for the same argument is had with it, if it is asked
    /// for later.
    pub(in super::super) fn call_in_pair(&mut self, call: Call, second: Second) -> Value {
        let argument = call.arguments[0];
        if let Some(InPair { value, call, is_second }) = self.pairs.get(&(argument, call.rule)) {
            if let (Some(second), true) = (&mut self.calls[*call as usize].second, is_second) {
                second.is_wanted = true;
            }
            return *value;
        }
        let number = self.calls.len() as u32;
        let first = self.call(Call { second: Some(second), ..call });
        let other = self.like(Operation::Second(first), first);
        self.pairs.insert((argument, call.rule), InPair { value: first, call: number, is_second: false });
        self.pairs.insert((argument, second.rule), InPair { value: other, call: number, is_second: true });
        first
    }

    pub(in super::super) fn guard(&mut self, outcome: Outcome, x: Value, y: Value, number: u16) {
        self.effect(Operation::Guard(outcome, x, y, number));
    }

    /// A variable with its first value.
    pub(in super::super) fn variable(&mut self, value: Value) -> Variable {
        self.variables.push(State { value, level: self.open.len() });
        Variable(self.variables.len() as u32 - 1)
    }

    /// The value of a variable.
    pub(in super::super) fn get(&mut self, variable: Variable) -> Value {
        let Variable(number) = variable;
        for level in self.variables[number as usize].level..self.open.len() {
            let first = self.variables[number as usize].value;
            let begin = self.loops[self.open[level].0 as usize].begin;
            let parameter = self.value(self.kind(first), begin);
            self.open[level].1.push(Open { variable, parameter, first });
            self.variables[number as usize] = State { value: parameter, level: level + 1 };
        }
        self.variables[number as usize].value
    }

    /// Sets a variable.
    pub(in super::super) fn set(&mut self, variable: Variable, value: Value) {
        self.get(variable);
        self.variables[variable.0 as usize].value = value;
    }

    /// Begins a loop.
    pub(in super::super) fn begin(&mut self) {
        let number = self.loops.len() as u32;
        let (begin, counter) = (self.lines.len() as u32, Value::SLICES);
        self.loops.push(Repeat { carried: Vec::new(), begin, counter, limit: Limit::Integer(0) });
        self.open.push((number, Vec::new()));
        self.effect(Operation::Begin(number));
    }

    /// Ends the loop begun last: it goes on while the counter differs from the limit.
    pub(in super::super) fn end(&mut self, counter: Value, limit: Limit) {
        let Some((number, variables)) = self.open.pop() else { return };
        let level = self.open.len();
        let mut carried = Vec::new();
        for Open { variable, parameter, first } in variables {
            let State { value: next, .. } = self.variables[variable.0 as usize];
            let value = if next == parameter {
                self.same.insert(parameter.0, first);
                first
            } else {
                carried.push(Carried { parameter, first, next });
                next
            };
            self.variables[variable.0 as usize] = State { value, level };
        }
        let repeat = &mut self.loops[number as usize];
        (repeat.carried, repeat.counter, repeat.limit) = (carried, counter, limit);
        self.effect(Operation::End(number));
    }
}

impl Arithmetic {
    fn of<S: num_traits::Float>(self, x: S, y: S) -> S {
        match self {
            Arithmetic::Add => x + y,
            Arithmetic::Subtract => x - y,
            Arithmetic::Multiply => x * y,
            Arithmetic::Divide => x / y,
        }
    }
}

impl Operation {
    /// Calls `act` with the operands that are in the operation itself.
    fn each_mut(&mut self, act: impl Fn(&mut Value)) {
        let at = |place: &mut Place| {
            act(&mut place.base);
            if let Some(index) = &mut place.index {
                act(index);
            }
        };
        match self {
            Operation::Integer(_)
            | Operation::Memory(_)
            | Operation::Begin(_)
            | Operation::End(_)
            | Operation::Join { .. }
            | Operation::Call(_) => {}
            Operation::LoadInteger(place) | Operation::LoadIndex(place) | Operation::Load(place) => at(place),
            Operation::Store(place, value) => {
                at(place);
                act(value);
            }
            Operation::AddConstant(x, _)
            | Operation::Scale(x, _)
            | Operation::Double(x, _)
            | Operation::Simple(_, x)
            | Operation::Splat(x)
            | Operation::Lane(x, _)
            | Operation::Second(x) => act(x),
            Operation::AddIntegers(x, y)
            | Operation::Arithmetic(_, x, y)
            | Operation::CopySign(x, y)
            | Operation::Later(x, y, _)
            | Operation::Guard(_, x, y, _) => {
                act(x);
                act(y);
            }
            Operation::Choose(_, all) => all.iter_mut().for_each(act),
        }
    }
}
