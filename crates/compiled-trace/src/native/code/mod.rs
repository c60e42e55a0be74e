//! The intermediate code between the emitter and the back ends.
//!
//! Written by `emit` and its siblings; read by the back ends `x64` and `cranelift`, and by the evaluator of the tests.
//!
//! # What is it?
//! A [`Function`] is a list of [`Line`]s in static single assignment: an operation with the value it defines. Control flow is
//! nested loops whose bodies run at least once ([`Operation::Begin`], [`Operation::End`]) and guards that leave the function.
//! A line therefore runs after all lines before it, whichever loops these are in, and a value may be used anywhere after its
//! definition. Back ends rely on that: no other join of control flow exists.
//!
//! Values are integers of 64 bits (pointers and counters), numbers, or vectors of numbers; the numbers of one function are all
//! `f64` or all `f32`. Numbers that are constants have no line; they are in a [pool](Function::constant).

mod print;
mod superword;
mod write;

use crate::recording::graph::Outcome;
use crate::recording::rules::Rules;
use rustc_hash::FxHashMap;

/// The result of a line, a parameter of a loop, an argument of the function, or a constant of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(u32);

/// Set in constants of the pool.
const POOL: u32 = 1 << 31;

impl Value {
    /// The pointer to the pointers to the slices.
    pub(super) const SLICES: Value = Value(0);
    /// The pointer to the counters of loops that the caller runs.
    pub(super) const COUNTERS: Value = Value(1);

    /// The place in a table of all values that are not constants.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The place in the pool, if it is a constant of the pool.
    #[inline(always)]
    pub(super) fn pool(self) -> Option<usize> {
        (self.0 & POOL != 0).then_some((self.0 & !POOL) as usize)
    }

    pub(super) fn of_index(index: usize) -> Value {
        Value(index as u32)
    }

    pub(super) fn of_pool(index: usize) -> Value {
        Value(POOL | index as u32)
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A pointer, a counter, or a distance in bytes.
    Integer,
    /// So many numbers: 1, or the lanes of a vector.
    Numbers(u8),
}

/// A place in memory: the sum of a pointer, a distance and a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) base: Value,
    pub(super) index: Option<Value>,
    pub(super) shift: i32,
}

/// Arithmetic of two numbers or vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Functions of one number or vector that machines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simple {
    Sqrt,
    Abs,
    Floor,
    Ceil,
    Trunc,
}

/// Comparisons of numbers. Only `Unordered` and `NotEqual` hold if one is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Unordered,
}

/// What a line does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// A constant integer.
    Integer(i64),
    /// The pointer or counter at a place.
    LoadInteger(Place),
    /// The unsigned integer of 32 bits at a place.
    LoadIndex(Place),
    /// A pointer into memory of the function, so many bytes from its beginning.
    Memory(u32),
    AddIntegers(Value, Value),
    AddConstant(Value, i64),
    Scale(Value, i64),
    /// The first integer times 2 to this power.
    Double(Value, u8),
    /// The numbers at a place, as many as the result has.
    Load(Place),
    Store(Place, Value),
    Arithmetic(Arithmetic, Value, Value),
    Simple(Simple, Value),
    /// The magnitude of the first with the sign of the second.
    CopySign(Value, Value),
    /// The third where the comparison of the first and second holds, the fourth elsewhere.
    Choose(Condition, [Value; 4]),
    /// A number in all lanes.
    Splat(Value),
    /// The number in a lane.
    Lane(Value, u8),
    /// Numbers as a vector; they are `joined[start..start + count]` of the function.
    Join {
        start: u32,
        count: u8,
    },
    /// Of the lanes of two vectors one behind the other, those from so many before the second on.
    Later(Value, Value, u8),
    /// A call; see `calls` of the function.
    Call(u32),
    /// The second result of the call in the line before, whose first result this is.
    Second(Value),
    /// Returns the number plus 1 from the function unless the comparison has this outcome in all lanes.
    Guard(Outcome, Value, Value, u16),
    /// The beginning of a loop.
    Begin(u32),
    /// The end of a loop: goes back to its beginning, or on.
    End(u32),
}

/// An operation with the value it defines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) operation: Operation,
    pub(super) result: Option<Value>,
}

/// A call of a rule on single numbers, or of an own function on as many as a vector has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The address of the function.
    pub(super) address: usize,
    /// The number of the rule.
    pub(super) rule: u16,
    /// If the function is that of all rules: the rules, which it takes first, followed by the number of the rule.
    pub(super) rules: Option<*const Rules>,
    pub(super) arguments: [Value; 2],
    /// 1 or 2.
    pub(super) count: u8,
    /// Numbers per argument.
    pub(super) lanes: u8,
    /// Whether it is a function of `elementary`.
    pub(super) own: bool,
    /// If the line behind it is a [`Operation::Second`]: how the second result is had.
    pub(super) second: Option<Second>,
}

/// A function of the same argument as another one, with which it has a function of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    /// The number of the rule.
    pub(super) rule: u16,
    /// The function of both.
    pub(super) both: Both,
    /// The address of the function of this rule alone, for generators that do not call functions of both.
    #[cfg_attr(not(feature = "native"), expect(dead_code, reason = "the own generator calls functions of both"))]
    pub(super) alone: usize,
    /// Whether the second value is asked for.
    pub(super) is_wanted: bool,
}

/// A result of a call of a function that comes in a pair.
struct InPair {
    value: Value,
    /// The call.
    call: u32,
    is_second: bool,
}

/// The address of a function of two values, which takes the argument and pointers.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only code for x86-64 calls such functions"))]
pub(super) enum Both {
    /// It returns the first value and writes the second one to the pointer.
    Returns(usize),
    /// It writes both to pointers, the first value to the first one or, if `is_swapped`, to the second one.
    Writes { address: usize, is_swapped: bool },
}

/// A value that changes from iteration to iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// The value in an iteration.
    pub(super) parameter: Value,
    /// The value in the first iteration.
    pub(super) first: Value,
    /// The value in the next iteration.
    pub(super) next: Value,
}

/// What a counter is compared with at the end of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    Integer(i64),
    Value(Value),
}

/// A loop.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// The values that change; set when the loop ends.
    pub(super) carried: Vec<Carried>,
    /// The line where it begins.
    pub(super) begin: u32,
    /// The loop goes on while this differs from the limit.
    pub(super) counter: Value,
    pub(super) limit: Limit,
}

/// A variable: a value that is set again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable(u32);

/// The present value of a variable, and in how many open loops it is a parameter or was declared.
struct State {
    value: Value,
    level: usize,
}

/// A variable of an open loop.
struct Open {
    variable: Variable,
    parameter: Value,
    first: Value,
}

/// A function of two pointers that returns 0, or the number of a guard plus 1.
pub(super) struct Function {
    /// Bytes of a number: 8 or 4.
    pub(super) bytes: u32,
    pub(super) lines: Vec<Line>,
    pub(super) kinds: Vec<Kind>,
    /// The line that defines each value. Parameters are defined where their loop begins.
    pub(super) defined: Vec<u32>,
    pub(super) loops: Vec<Repeat>,
    pub(super) calls: Vec<Call>,
    pub(super) joined: Vec<Value>,
    /// Constants: the bits of the number (of an `f32` in the lower half), and how often it is repeated.
    pub(super) pool: Vec<(u64, u8)>,
    /// Bytes of memory of the function.
    pub(super) memory: u32,
    pooled: FxHashMap<(u64, u8), Value>,
    /// Integers that have been computed: the operation, its first operand, its second operand or constant.
    integers: FxHashMap<(u8, u32, i64), Value>,
    /// Results of calls of functions that come in pairs, by argument and rule.
    pairs: FxHashMap<(Value, u16), InPair>,
    /// What parameters that turned out not to change stand for. Applied when the function is finished.
    same: FxHashMap<u32, Value>,
    variables: Vec<State>,
    /// Loops that have not ended, with the variables that they carry.
    open: Vec<(u32, Vec<Open>)>,
}

impl Function {
    /// The type of a value.
    #[inline(always)]
    pub(super) fn kind(&self, value: Value) -> Kind {
        match value.pool() {
            Some(index) => Kind::Numbers(self.pool[index].1),
            None => self.kinds[value.index()],
        }
    }

    /// How many numbers a value is; 1 for integers.
    #[inline(always)]
    pub(super) fn lanes(&self, value: Value) -> u8 {
        match self.kind(value) {
            Kind::Integer => 1,
            Kind::Numbers(lanes) => lanes,
        }
    }

    /// Calls `act` with the values an operation uses, those of `Begin` and `End` excepted.
    #[inline(always)]
    pub(super) fn operands(&self, operation: &Operation, mut act: impl FnMut(Value)) {
        let mut at = |place: &Place| {
            act(place.base);
            if let Some(index) = place.index {
                act(index);
            }
        };
        match operation {
            Operation::Integer(_) | Operation::Memory(_) | Operation::Begin(_) | Operation::End(_) => {}
            Operation::LoadInteger(place) | Operation::LoadIndex(place) | Operation::Load(place) => at(place),
            Operation::Store(place, value) => {
                at(place);
                act(*value);
            }
            Operation::AddConstant(x, _)
            | Operation::Scale(x, _)
            | Operation::Double(x, _)
            | Operation::Simple(_, x)
            | Operation::Splat(x)
            | Operation::Lane(x, _)
            | Operation::Second(x) => act(*x),
            Operation::AddIntegers(x, y)
            | Operation::Arithmetic(_, x, y)
            | Operation::CopySign(x, y)
            | Operation::Later(x, y, _)
            | Operation::Guard(_, x, y, _) => {
                act(*x);
                act(*y);
            }
            Operation::Choose(_, all) => all.iter().for_each(|value| act(*value)),
            Operation::Join { start, count } => {
                self.joined[*start as usize..][..*count as usize].iter().for_each(|value| act(*value));
            }
            Operation::Call(call) => {
                let call = &self.calls[*call as usize];
                call.arguments[..call.count as usize].iter().for_each(|value| act(*value));
            }
        }
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}
