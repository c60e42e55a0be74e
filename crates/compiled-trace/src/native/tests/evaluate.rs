//! Intermediate code, evaluated line by line in plain Rust: the reference for back ends.

use super::super::code::{Arithmetic, Condition, Function, Kind, Limit, Operation, Place, Simple, Value};
use super::*;
use num_traits::Float;

/// Where slices are for the evaluator: slice `i` begins at `(i + 1) << SPACE`.
const SPACE: u32 = 40;
/// Where memory of the function is.
const OWN: i64 = 1 << 56;

#[derive(Clone, Copy)]
enum Found<S> {
    Integer(i64),
    Numbers([S; 8]),
}

/// The state of an evaluation.
pub(super) struct Evaluation<'a, S> {
    pub(super) function: &'a Function,
    pub(super) rules: &'a Rules,
    pub(super) tables: &'a [Arc<[u32]>],
    /// Constants, work, inputs, outputs.
    pub(super) slices: Vec<Vec<S>>,
    values: Vec<Found<S>>,
    own: Vec<S>,
}

impl<'a, S: Base> Evaluation<'a, S> {
    pub(super) fn new(
        function: &'a Function,
        rules: &'a Rules,
        tables: &'a [Arc<[u32]>],
        slices: Vec<Vec<S>>,
    ) -> Evaluation<'a, S> {
        let values = vec![Found::Integer(0); function.kinds.len()];
        let own = vec![S::nan(); (function.memory / function.bytes) as usize];
        Evaluation { function, rules, tables, slices, values, own }
    }

    fn integer(&self, value: Value) -> i64 {
        match self.values[value.index()] {
            Found::Integer(integer) => integer,
            Found::Numbers(_) => panic!("{value:?} is no integer"),
        }
    }

    fn numbers(&self, value: Value) -> [S; 8] {
        if let Some(index) = value.pool() {
            let bits = self.function.pool[index].0;
            return [match self.function.bytes {
                4 => S::from_f64(f32::from_bits(bits as u32) as f64),
                _ => S::from_f64(f64::from_bits(bits)),
            }; 8];
        }
        match self.values[value.index()] {
            Found::Numbers(numbers) => numbers,
            Found::Integer(_) => panic!("{value:?} is no number"),
        }
    }

    fn address(&self, place: Place) -> i64 {
        self.integer(place.base) + place.index.map_or(0, |index| self.integer(index)) + place.shift as i64
    }

    fn cells(&mut self, address: i64, lanes: u8) -> &mut [S] {
        let bytes = self.function.bytes as i64;
        let (slice, start) = if address >= OWN {
            (&mut self.own, address - OWN)
        } else {
            (&mut self.slices[(address >> SPACE) as usize - 1], address & ((1 << SPACE) - 1))
        };
        assert_eq!(start % bytes, 0, "numbers are aligned");
        &mut slice[(start / bytes) as usize..][..lanes as usize]
    }

    fn holds(condition: Condition, x: S, y: S) -> bool {
        match condition {
            Condition::Less => x < y,
            Condition::LessOrEqual => x <= y,
            Condition::Greater => x > y,
            Condition::GreaterOrEqual => x >= y,
            Condition::Equal => x == y,
            Condition::NotEqual => x != y,
            Condition::Unordered => x.is_nan() || y.is_nan(),
        }
    }

    /// Runs the function; returns what it returns.
    pub(super) fn run(&mut self) -> u32 {
        let function = self.function;
        let mut line = 0;
        let mut begun = Vec::new();
        while line < function.lines.len() {
            let code::Line { operation, result } = function.lines[line];
            let lanes = result.map_or(1, |result| function.lanes(result));
            let found = match operation {
                Operation::Begin(number) => {
                    for carried in &function.loops[number as usize].carried {
                        self.values[carried.parameter.index()] = match function.kind(carried.first) {
                            Kind::Integer => Found::Integer(self.integer(carried.first)),
                            Kind::Numbers(_) => Found::Numbers(self.numbers(carried.first)),
                        };
                    }
                    begun.push(line);
                    None
                }
                Operation::End(number) => {
                    let repeat = &function.loops[number as usize];
                    let limit = match repeat.limit {
                        Limit::Integer(limit) => limit,
                        Limit::Value(limit) => self.integer(limit),
                    };
                    if self.integer(repeat.counter) != limit {
                        let next = repeat.carried.iter().map(|carried| match function.kind(carried.next) {
                            Kind::Integer => Found::Integer(self.integer(carried.next)),
                            Kind::Numbers(_) => Found::Numbers(self.numbers(carried.next)),
                        });
                        let next: Vec<Found<S>> = next.collect();
                        for (carried, next) in repeat.carried.iter().zip(next) {
                            self.values[carried.parameter.index()] = next;
                        }
                        line = begun[begun.len() - 1];
                    } else {
                        begun.pop();
                    }
                    None
                }
                Operation::Integer(value) => Some(Found::Integer(value)),
                Operation::Memory(start) => Some(Found::Integer(OWN + start as i64)),
                Operation::LoadInteger(place) => {
                    assert_eq!(place.base, Value::SLICES, "there are no loops of the caller");
                    Some(Found::Integer((place.shift as i64 / 8 + 1) << SPACE))
                }
                Operation::LoadIndex(place) => {
                    let address = self.address(place);
                    let table = self.tables.iter().find(|table| {
                        let start = table.as_ptr() as i64;
                        (start..start + 4 * table.len() as i64).contains(&address)
                    });
                    let table = table.expect("the address is in a table");
                    Some(Found::Integer(table[((address - table.as_ptr() as i64) / 4) as usize] as i64))
                }
                Operation::AddIntegers(x, y) => Some(Found::Integer(self.integer(x) + self.integer(y))),
                Operation::AddConstant(x, constant) => Some(Found::Integer(self.integer(x) + constant)),
                Operation::Scale(x, factor) => Some(Found::Integer(self.integer(x) * factor)),
                Operation::Double(x, times) => Some(Found::Integer(self.integer(x) << times)),
                Operation::Load(place) => {
                    let address = self.address(place);
                    let mut numbers = [S::nan(); 8];
                    numbers[..lanes as usize].copy_from_slice(self.cells(address, lanes));
                    Some(Found::Numbers(numbers))
                }
                Operation::Store(place, value) => {
                    let (address, numbers, lanes) = (self.address(place), self.numbers(value), function.lanes(value));
                    self.cells(address, lanes).copy_from_slice(&numbers[..lanes as usize]);
                    None
                }
                Operation::Arithmetic(which, x, y) => {
                    let (x, y) = (self.numbers(x), self.numbers(y));
                    Some(Found::Numbers(std::array::from_fn(|lane| match which {
                        Arithmetic::Add => x[lane] + y[lane],
                        Arithmetic::Subtract => x[lane] - y[lane],
                        Arithmetic::Multiply => x[lane] * y[lane],
                        Arithmetic::Divide => x[lane] / y[lane],
                    })))
                }
                Operation::Simple(which, x) => Some(Found::Numbers(self.numbers(x).map(|x| match which {
                    Simple::Sqrt => Float::sqrt(x),
                    Simple::Abs => Float::abs(x),
                    Simple::Floor => Float::floor(x),
                    Simple::Ceil => Float::ceil(x),
                    Simple::Trunc => Float::trunc(x),
                }))),
                Operation::CopySign(magnitude, sign) => {
                    let (magnitude, sign) = (self.numbers(magnitude), self.numbers(sign));
                    Some(Found::Numbers(std::array::from_fn(|lane| Float::copysign(magnitude[lane], sign[lane]))))
                }
                Operation::Choose(condition, all) => {
                    let [left, right, then, otherwise] = all.map(|value| self.numbers(value));
                    Some(Found::Numbers(std::array::from_fn(|lane| {
                        if Self::holds(condition, left[lane], right[lane]) { then[lane] } else { otherwise[lane] }
                    })))
                }
                Operation::Splat(x) => Some(Found::Numbers([self.numbers(x)[0]; 8])),
                Operation::Lane(vector, lane) => Some(Found::Numbers([self.numbers(vector)[lane as usize]; 8])),
                Operation::Join { start, count } => {
                    let mut numbers = [S::nan(); 8];
                    for (number, value) in numbers.iter_mut().zip(&function.joined[start as usize..][..count as usize])
                    {
                        *number = self.numbers(*value)[0];
                    }
                    Some(Found::Numbers(numbers))
                }
                Operation::Later(before, now, ahead) => {
                    let both: Vec<S> = [before, now]
                        .iter()
                        .flat_map(|value| self.numbers(*value)[..lanes as usize].to_vec())
                        .collect();
                    let mut numbers = [S::nan(); 8];
                    numbers[..lanes as usize].copy_from_slice(&both[(lanes - ahead) as usize..][..lanes as usize]);
                    Some(Found::Numbers(numbers))
                }
                Operation::Call(call) => {
                    let call = &function.calls[call as usize];
                    let [x, y] = call.arguments.map(|value| self.numbers(value));
                    let number = |lane: usize| match (call.own, call.count) {
                        (true, 1) => {
                            S::from_f64(functions::own(call.rule, x[lane].as_f64()).expect("it is an own function"))
                        }
                        (true, _) => S::from_f64(
                            functions::own_of_two(call.rule, x[lane].as_f64(), y[lane].as_f64())
                                .expect("it is an own function"),
                        ),
                        (_, 1) => self.rules.apply(call.rule, x[lane]),
                        _ => self.rules.apply2(call.rule, x[lane], y[lane]),
                    };
                    let mut numbers = [S::nan(); 8];
                    (0..lanes as usize).for_each(|lane| numbers[lane] = number(lane));
                    Some(Found::Numbers(numbers))
                }
                Operation::Second(_) => {
                    let Operation::Call(call) = function.lines[line - 1].operation else { panic!("it follows a call") };
                    let call = &function.calls[call as usize];
                    let (second, x) = (call.second.expect("it has two results"), self.numbers(call.arguments[0]));
                    let number = |lane: usize| match call.own {
                        true => {
                            S::from_f64(functions::own(second.rule, x[lane].as_f64()).expect("it is an own function"))
                        }
                        false => self.rules.apply(second.rule, x[lane]),
                    };
                    let mut numbers = [S::nan(); 8];
                    (0..lanes as usize).for_each(|lane| numbers[lane] = number(lane));
                    Some(Found::Numbers(numbers))
                }
                Operation::Guard(outcome, x, y, guard) => {
                    let (lanes, x, y) = (function.lanes(x) as usize, self.numbers(x), self.numbers(y));
                    let (x, y) = (x.map(|x| x.as_f64()), y.map(|y| y.as_f64()));
                    if !(0..lanes).all(|lane| holds(outcome, x[lane], y[lane])) {
                        return guard as u32 + 1;
                    }
                    None
                }
            };
            if let (Some(result), Some(found)) = (result, found) {
                self.values[result.index()] = found;
            }
            line += 1;
        }
        0
    }
}
