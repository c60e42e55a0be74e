//! The own code generator against the evaluator of intermediate code, bit for bit: random programs, and random functions of
//! intermediate code with more values than registers, nested loops, swapped variables and calls.

use super::super::call::{Code, Lengths};
use super::super::code::{Call, Condition, Function, Limit, Place, Simple, Value, Variable};
use super::super::emit::{Emitter, Target};
use super::super::machine::Machine;
use super::evaluate::Evaluation;
use super::random::{INPUT, Random, random_program};
use super::*;
use crate::native::elementary;

fn generators() -> Vec<Generator> {
    let mut all = vec![Generator::Best, Generator::Avx2, Generator::Sse2];
    #[cfg(feature = "native")]
    all.push(Generator::Cranelift);
    all.retain(|generator| Machine::new(&Options { generator: *generator, ..Options::default() }).is_ok());
    all
}

fn machine(generator: Generator) -> (Machine, Options) {
    let options = Options { generator, ..Options::default() };
    (Machine::new(&options).expect("there is such a generator"), options)
}

/// The bits of a number; all NaN are equal.
fn bits<S: Base>(number: S) -> u64 {
    if number.is_nan() { u64::MAX } else { number.as_f64().to_bits() }
}

fn check_program<S: Base>(case: usize, program: &Program) {
    let x: Vec<S> = (0..INPUT).map(|i| S::from_f64((i as f64 * 0.37).sin() * 1.3)).collect();
    for generator in generators() {
        for vectors in [true, false] {
            let (machine, options) = machine(generator);
            let options = Options { vectors, ..options };
            let (widest, can_round) = machine.abilities(format::<S>().bytes()).expect("there is such a generator");
            let mut tables = Vec::new();
            let calls = functions::Calls::of(format::<S>(), program, widest);
            let target = Target { format: format::<S>(), widest: if vectors { widest } else { 1 }, can_round, calls };
            let mut emitter = Emitter::new(target, program, &program.rules, &mut tables, &[]);
            program.statements.iter().for_each(|statement| emitter.statement(statement));
            let function = emitter.finish();
            let mut slices = vec![program.constants.iter().map(|c| S::from_f64(*c)).collect()];
            slices.push(vec![S::nan(); program.work]);
            slices.push(x.clone());
            slices.extend(program.outputs.iter().map(|length| vec![S::nan(); *length]));
            let mut evaluation = Evaluation::new(&function, &program.rules, &tables, slices);
            assert_eq!(evaluation.run(), 0);
            let found = native(program, options, &[&x]).expect("there are no guards");
            for (slice, (found, expected)) in found.iter().zip(&evaluation.slices[3..]).enumerate() {
                for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                    assert!(
                        bits(*found) == bits(*expected),
                        "case {case}, {generator:?}, vectors {vectors}: number {i} of output {slice} is {found}, expected {expected}\n{program}\n{function}"
                    );
                }
            }
        }
    }
}

#[test]
fn random_programs_have_the_bits_of_their_intermediate_code() {
    let mut random = Random(23);
    for case in 0..if cfg!(feature = "native") { 200 } else { 1000 } {
        let program = random_program(&mut random);
        check_program::<f64>(case, &program);
        check_program::<f32>(case, &program);
    }
}

/// Numbers in the slice that random functions read, and in the one they write.
const READ: usize = 64;
const WRITTEN: usize = 400;

/// A random function being written.
struct Draft<'r> {
    code: Function,
    random: &'r mut Random,
    read: Value,
    written: Value,
    /// Values and variables, by lanes: single numbers, vectors.
    values: [Vec<Value>; 2],
    variables: [Vec<Variable>; 2],
    /// Counters of open loops, in bytes.
    counters: Vec<Value>,
    lanes: u8,
    stored: usize,
    can_round: bool,
    has_guards: bool,
}

impl Draft<'_> {
    fn any(&mut self, wide: usize) -> Value {
        let all = &self.values[wide];
        // Recent ones more often, so that lifetimes differ.
        let place = if self.random.one_in(2) { all.len().saturating_sub(6) } else { 0 };
        all[place + self.random.below((all.len() - place) as u64) as usize]
    }

    fn place(&mut self, lanes: u8) -> Place {
        let bytes = self.code.bytes as u64;
        let shift = (self.random.below(READ as u64 - 16 - lanes as u64) * bytes) as i32;
        let index = match self.counters.is_empty() || self.random.one_in(2) {
            true => None,
            false => Some(self.counters[self.random.below(self.counters.len() as u64) as usize]),
        };
        Place { base: self.read, index, shift }
    }

    fn operation(&mut self) {
        let wide = (self.lanes > 1 && self.random.one_in(2)) as usize;
        let lanes = if wide == 1 { self.lanes } else { 1 };
        let (x, y) = (self.any(wide), self.any(wide));
        if self.has_guards && self.random.one_in(20) {
            let outcomes = [Outcome::Less, Outcome::Equal, Outcome::Greater, Outcome::Unordered, Outcome::Same];
            let y = if self.random.one_in(2) { x } else { y };
            let number = self.random.below(100) as u16;
            return self.code.guard(outcomes[self.random.below(5) as usize], x, y, number);
        }
        let value = match self.random.below(20) {
            0..=2 => self.code.add(x, y),
            3..=4 => self.code.subtract(x, y),
            5..=7 => self.code.multiply(x, y),
            8 => self.code.divide(x, y),
            9 => {
                let which = self.random.below(5);
                let can_round = which < 2 || self.can_round;
                let which = [Simple::Abs, Simple::Sqrt, Simple::Floor, Simple::Ceil, Simple::Trunc][which as usize];
                self.code.simple(if can_round { which } else { Simple::Abs }, x)
            }
            10 => {
                // Which sign a NaN has depends on the order of operands.
                let one = self.code.constant(1.0, lanes);
                let sign = self.code.choose(Condition::Unordered, y, y, one, y);
                self.code.copy_sign(x, sign)
            }
            11 => {
                let conditions = [
                    Condition::Less,
                    Condition::LessOrEqual,
                    Condition::Greater,
                    Condition::GreaterOrEqual,
                    Condition::Equal,
                    Condition::NotEqual,
                    Condition::Unordered,
                ];
                let condition = conditions[self.random.below(7) as usize];
                let (then, otherwise) = match self.random.below(3) {
                    0 => (x, y),
                    1 => (y, x),
                    _ => (self.any(wide), self.any(wide)),
                };
                self.code.choose(condition, x, y, then, otherwise)
            }
            12..=13 => {
                let place = self.place(lanes);
                self.code.load(lanes, place)
            }
            14 if wide == 1 => {
                let single = self.any(0);
                self.code.splat(single, lanes)
            }
            15 if wide == 1 => {
                let single = self.code.lane(x, self.random.below(lanes as u64) as u8);
                self.values[0].push(single);
                return;
            }
            16 if wide == 1 => {
                let all: Vec<Value> = (0..lanes).map(|_| self.any(0)).collect();
                self.code.join(&all)
            }
            17 if lanes >= 4 && self.code.bytes == 8 && self.can_round && self.random.one_in(2) => {
                self.in_pair(x, lanes)
            }
            17 if wide == 1 => self.code.later(x, y, 1 + self.random.below(lanes as u64) as u8),
            14 if wide == 0 && self.code.bytes == 8 && self.random.one_in(2) => self.in_pair(x, 1),
            14 if wide == 0 => {
                let two = self.random.one_in(2);
                let (address, rule) = match (self.code.bytes, two) {
                    (8, false) => (Format::Double.unary(rules::TANH), rules::TANH),
                    (8, true) => (Format::Double.binary(rules::ATAN2), rules::ATAN2),
                    (_, false) => (Format::Single.unary(rules::TANH), rules::TANH),
                    (_, true) => (Format::Single.binary(rules::ATAN2), rules::ATAN2),
                };
                let address = address.expect("it is listed");
                let count = 1 + two as u8;
                self.code.call(Call {
                    address,
                    rule,
                    rules: None,
                    arguments: [x, y],
                    count,
                    lanes: 1,
                    own: false,
                    second: None,
                })
            }
            18 => {
                let variable = self.random.below(self.variables[wide].len() as u64) as usize;
                self.code.get(self.variables[wide][variable])
            }
            _ => {
                // Two variables exchange their values, or one gets a new one.
                let (i, j) = (
                    self.random.below(self.variables[wide].len() as u64) as usize,
                    self.random.below(self.variables[wide].len() as u64) as usize,
                );
                let (i, j) = (self.variables[wide][i], self.variables[wide][j]);
                let (first, second) = (self.code.get(i), self.code.get(j));
                self.code.set(i, if self.random.one_in(2) { second } else { x });
                self.code.set(j, first);
                return;
            }
        };
        self.values[wide].push(value);
    }

    /// A call of a function that comes in a pair.
    fn in_pair(&mut self, x: Value, lanes: u8) -> Value {
        let rule = if self.random.one_in(2) { rules::SIN } else { rules::COS };
        let own = (lanes > 1 || self.random.one_in(2)) && elementary::one(rule, false).is_some();
        let address = match (own, lanes) {
            (true, 4 | 8) => elementary::vector(rule, lanes),
            (true, _) => elementary::one(rule, elementary::has_vectors()).map(|function| function as usize),
            (false, _) => Format::Double.unary(rule),
        };
        let address = address.expect("it is listed");
        let call = Call { address, rule, rules: None, arguments: [x; 2], count: 1, lanes, own, second: None };
        match functions::second(&call) {
            Some(second) => self.code.call_in_pair(call, second),
            None => self.code.call(call),
        }
    }

    fn block(&mut self, depth: usize) {
        let most = if self.random.one_in(4) { 60 } else { 15 };
        for _ in 0..1 + self.random.below(most) {
            self.operation();
        }
        if depth < 3 && !self.random.one_in(3) {
            let trip = 1 + self.random.below(4) as i64;
            let start = self.code.integer(0);
            let counter = self.code.variable(start);
            self.code.begin();
            let index = self.code.get(counter);
            self.counters.push(index);
            self.block(depth + 1);
            if self.random.one_in(2) {
                self.block(depth + 1);
            }
            self.counters.pop();
            let step = self.code.bytes as i64;
            let next = self.code.add_constant(index, step);
            self.code.set(counter, next);
            if self.random.one_in(2) {
                self.code.end(next, Limit::Integer(trip * step));
            } else {
                let scaled = self.code.scale(next, 3);
                let limit = self.code.integer(trip * step * 3);
                self.code.end(scaled, Limit::Value(limit));
            }
            for _ in 0..self.random.below(8) {
                self.operation();
            }
        }
        let wide = (self.lanes > 1 && self.random.one_in(2)) as usize;
        let value = self.any(wide);
        self.store(value);
    }

    fn store(&mut self, value: Value) {
        let lanes = self.code.lanes(value) as usize;
        if self.stored + lanes <= WRITTEN {
            let shift = (self.stored * self.code.bytes as usize) as i32;
            self.code.store(Place { base: self.written, index: None, shift }, value);
            self.stored += lanes;
        }
    }
}

fn random_function(random: &mut Random, bytes: u32, lanes: u8, can_round: bool) -> Function {
    let mut code = Function::new(bytes);
    let read = code.load_integer(Value::SLICES, 0);
    let written = code.load_integer(Value::SLICES, 8);
    let has_guards = random.one_in(4);
    let mut draft = Draft {
        code,
        random,
        read,
        written,
        values: Default::default(),
        variables: Default::default(),
        counters: Vec::new(),
        lanes,
        stored: 0,
        can_round,
        has_guards,
    };
    for (wide, lanes) in [1, lanes].into_iter().enumerate() {
        for number in [0.0, -1.5, 0.75] {
            let constant = draft.code.constant(number, lanes);
            draft.values[wide].push(constant);
        }
        for _ in 0..3 {
            let place = draft.place(lanes);
            let value = draft.code.load(lanes, place);
            draft.values[wide].push(value);
        }
        for _ in 0..2 + draft.random.below(12) {
            let value = draft.any(wide);
            let variable = draft.code.variable(value);
            draft.variables[wide].push(variable);
        }
    }
    // Through memory of the function.
    let own = draft.random.one_in(2).then(|| draft.code.memory(64));
    let own = own.map(|base| Place { base, index: None, shift: 8 });
    draft.block(0);
    if let Some(own) = own {
        let value = draft.any(0);
        draft.code.store(own, value);
    }
    for wide in 0..2 {
        for i in 0..draft.variables[wide].len() {
            let value = draft.code.get(draft.variables[wide][i]);
            draft.store(value);
        }
    }
    if let Some(own) = own {
        let value = draft.code.load(1, own);
        draft.store(value);
    }
    for wide in 0..2 {
        for i in (0..draft.values[wide].len()).rev().take(40) {
            let value = draft.values[wide][i];
            draft.store(value);
        }
    }
    draft.code.finish()
}

fn check_function<S: Base>(case: usize, random: &mut Random) {
    let rules = Arc::new(Rules::default());
    let read: Vec<S> = (0..READ).map(|i| S::from_f64((i as f64 * 0.71).sin() * 2.0)).collect();
    for generator in generators() {
        let (mut machine, _) = machine(generator);
        let (widest, can_round) = machine.abilities(format::<S>().bytes()).expect("there is such a generator");
        for lanes in [1, 16 / format::<S>().bytes(), widest.min(32 / format::<S>().bytes()), widest] {
            let function = random_function(random, format::<S>().bytes(), lanes as u8, can_round);
            let mut evaluation = Evaluation::new(&function, &rules, &[], vec![read.clone(), vec![S::nan(); WRITTEN]]);
            // 0, or the guard that fails; what has been written until then is compared too.
            let guard = evaluation.run();
            let expected = evaluation.slices.swap_remove(1);
            // Of some, results become lanes of vectors wherever that is possible, or where it gains something.
            let least = [None, Some(Function::LEAST_GAIN), Some(-1000)][random.below(3) as usize];
            let function = match least {
                Some(least) if widest * format::<S>().bytes() >= 32 => function.with_superwords(least),
                _ => function,
            };
            machine.add(&function, true, false).expect("it is not too large");
            let made = std::mem::replace(&mut machine, self::machine(generator).0);
            let lengths = Lengths { constants: READ, work: WRITTEN, inputs: vec![], outputs: vec![], loops: 0 };
            let code = Code::new(made.finish().expect("it is finished"), lengths, Arc::clone(&rules), vec![]);
            let mut found = vec![S::nan(); WRITTEN];
            let mut memory = Memory { constants: &read, cells: &mut found, inputs: &[], outputs: &mut [] };
            assert_eq!(code.expect("there is memory").run(0, &mut memory, &[]), Ok(guard), "{lanes} lanes\n{function}");
            let wrong = (0..WRITTEN).find(|i| bits(found[*i]) != bits(expected[*i]));
            if let Some(wrong) = wrong {
                panic!(
                    "case {case}, {generator:?}, {lanes} lanes: number {wrong} is {}, expected {}\n{function}",
                    found[wrong], expected[wrong]
                );
            }
        }
    }
}

#[test]
fn random_functions_have_the_bits_of_their_evaluation() {
    let mut random = Random(5);
    for case in 0..if cfg!(feature = "native") { 100 } else { 2000 } {
        check_function::<f64>(case, &mut random);
        check_function::<f32>(case, &mut random);
    }
}
