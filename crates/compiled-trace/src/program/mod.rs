//! Programs: what executors run. **This page is the contract between the passes and every executor.**
//!
//! # Memory
//! A program works on numbered cells in [`Space`]s: constants (in the program), any number of input slices and output slices
//! (given at each run), and one work space of [`Program::work`] cells (in the [`Workspace`](crate::Workspace)). Nothing is
//! assumed about the contents of work and outputs at the start of a run; [`Statement::Zero`] clears what must be clear.
//!
//! # Statements
//! Statements run in order.
//! - [`Statement::Nest`] is an iteration domain, one counter per [`Dimension`], with a straight-line [`body`](Nest::body).
//! - [`Statement::Loop`] repeats statements; the addresses inside may use its counter.
//! - [`Statement::Zero`] fills cells with 0.
//! - [`Statement::Call`] calls a custom rule on single cells.
//!
//! # Marks
//! Where absent derivatives are tracked, a call of a derivative has cells for twice as many results as its function has. The second half
//! gets marks, the presence of each result: 0 if it is absent, else 1. The arguments then end with numbers that the rule does not get,
//! which are 0 where a seed is absent. All results are absent if all seeds are, also where the rule returns NaN, and so is a result of 0,
//! as on the tape and in forward mode. On numbers that carry derivatives, a 0 that is not a constant may change with the point, so that a result is
//! absent only if all seeds are.
//!
//! # Addresses
//! The counters of an address are those of the enclosing loops, outermost first, then those of the dimensions of the nest.
//! A counter runs from 0 to its trip count minus 1 (downwards where `reversed`; the address does not change by that).
//! Without a table the cell is `base + Σ strides[k] * counter[k]`. With a table it is `table[i]` where `i` is the row-major
//! index of all counters, last one fastest. All cells are inside their space.
//!
//! # Order
//! 1. A nest with no dimensions has one iteration. Trip counts are at least 1.
//! 2. An executor may run a dimension that is [`parallel`](Dimension::parallel) in any order, in blocks, or as vectors,
//!    *inside* all other dimensions, which then run in the given order, outermost first. Executing all dimensions in the
//!    given order is always correct. Within a block the body may run instruction by instruction.
//! 3. `reversed` nests run every dimension downwards (parallel ones in any order).
//! 4. A body does not store or accumulate to a cell that it loads, unless a dimension is not parallel for
//!    it; cells are stored once in a run; accumulated cells are not loaded before the statement that accumulates has ended,
//!    unless the given order makes the loads correct.
//!
//! # Instructions
//! Instruction `i` of a body has the result `i`, operands are earlier results:
//!
//! | instruction | result or effect |
//! |---|---|
//! | `Constant(c)` | `constants[c]` |
//! | `Load(address)` | the cell |
//! | `Apply { op, a, b }` | see [`Op`]: `Unary`, `Binary`, `Compare`, `Keep`, `Drop`; `Guard` has no result and ends the run if it fails |
//! | `Store { value, address }` | cell = value |
//! | `Accumulate { value, address }` | cell += value; order of the additions is the executor's, and must be documented there |

mod memory;
mod placed_call;
mod print;

pub(crate) use memory::Memory;
pub(crate) use placed_call::PlacedCall;

use crate::recording::absence::Absence;
use crate::recording::custom::{CallObject, RuleFunction};
use crate::recording::graph::Op;
use crate::recording::rules::Rules;
use differentiation_interface_core::scalar::{Base, Relation, Scalar};
use std::panic::Location;
use std::sync::Arc;

/// Where a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// [`Program::constants`].
    Constant,
    /// An input slice of the run.
    Input(u8),
    /// The work space.
    Work,
    /// An output slice of the run.
    Output(u8),
}

/// A cell as a function of the counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The space of the cell.
    pub space: Space,
    /// The cell where all counters are 0.
    pub base: u32,
    /// Distance of the cells of neighbouring iterations, per counter.
    pub strides: Vec<i32>,
    /// The cell of each iteration, in place of base and strides.
    pub table: Option<Arc<[u32]>>,
}

/// An instruction of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// A constant of the program.
    Constant(u32),
    /// The cell at this address of the nest.
    Load(u32),
    /// An operation on earlier results.
    Apply {
        /// The operation.
        op: Op,
        /// First operand.
        a: u32,
        /// Second operand, equal to the first where there is none.
        b: u32,
    },
    /// Writes a result to the cell at an address of the nest.
    Store {
        /// The result.
        value: u32,
        /// The address.
        address: u32,
    },
    /// Adds a result to the cell at an address of the nest.
    Accumulate {
        /// The result.
        value: u32,
        /// The address.
        address: u32,
    },
}

/// A counter of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// Number of iterations.
    pub trip: u32,
    /// Whether its iterations may run at once, inside all other dimensions.
    pub parallel: bool,
}

/// A straight-line body and its iteration domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// The counters, outermost first.
    pub dimensions: Vec<Dimension>,
    /// Whether the iterations run downwards.
    pub reversed: bool,
    /// The addresses that instructions refer to.
    pub addresses: Vec<Address>,
    /// The instructions.
    pub body: Vec<Instruction>,
}

/// A call of a custom rule: gathers cells, calls, scatters.
#[derive(Clone, Debug)]
pub struct RuleCall {
    /// The rule.
    pub rule: Arc<dyn CallObject>,
    /// The function of the rule that is called.
    pub function: RuleFunction,
    /// Number of inputs of the rule.
    pub inputs: usize,
    /// Number of outputs of the rule.
    pub outputs: usize,
    /// Cells of the arguments: x; x, y, seed; or those and their tangents. After them, if there are marks, cells that
    /// are 0 where seeds are absent.
    pub arguments: Vec<Address>,
    /// Cells of the results, and after them, where absent derivatives are tracked, those of their [marks](crate::program#marks).
    pub results: Vec<Address>,
    /// Whether results are added to their cells (derivatives) or stored (values).
    pub accumulate: bool,
    /// Whether an output of the program has a derivative with respect to a result; a result that is only compared has none.
    pub is_derived: bool,
}

impl RuleCall {
    /// Whether the rule has computed a different number of outputs than when it was recorded, so that the recording is not valid.
    pub(crate) fn has_other_outputs(&self, found: usize) -> bool {
        self.function == RuleFunction::Value && found != self.outputs
    }

    /// The numbers of arguments and results that the function has.
    fn counts(&self) -> [usize; 2] {
        let (inputs, outputs) = (self.inputs, self.outputs);
        match self.function {
            RuleFunction::Value => [inputs, outputs],
            RuleFunction::Pushforward => [2 * inputs + outputs, outputs],
            RuleFunction::Pullback => [inputs + 2 * outputs, inputs],
            RuleFunction::PushforwardTangent => [2 * (2 * inputs + outputs), outputs],
            RuleFunction::PullbackTangent => [2 * (inputs + 2 * outputs), inputs],
        }
    }

    /// Cells of the arguments that the rule gets.
    pub(crate) fn arguments_alone(&self) -> &[Address] {
        &self.arguments[..self.counts()[0]]
    }

    /// Cells of the results, and cells of their marks, if there are such.
    pub(crate) fn results_and_marks(&self) -> (&[Address], &[Address]) {
        self.results.split_at(self.counts()[1])
    }

    /// Takes the presences of the seeds off the arguments. Returns the presence of results that are not zero.
    pub(crate) fn take_presence<S: Scalar>(&self, arguments: &mut Vec<S>) -> S {
        let (zero, one) = (S::default(), S::constant(S::Base::ONE));
        let [count, _] = self.counts();
        let seeds = arguments.get(count..).unwrap_or_default();
        let is_certain = |seed: &S| seed.is_constant() && !seed.is_inert_zero();
        let presence = if seeds.iter().any(is_certain) {
            one
        } else {
            seeds.iter().fold(zero, |sum, seed| S::select(*seed, Relation::Equal, zero, sum, one))
        };
        arguments.truncate(count);
        presence
    }

    /// Appends the marks of the results, if there are cells for them, to what the rule has returned.
    pub(crate) fn append_marks<S: Scalar>(&self, presence: S, results: &mut Vec<S>) {
        let [_, count] = self.counts();
        results.resize(count, S::default());
        for i in 0..self.results.len() - count {
            let is_absent = results[i].is_inert_zero();
            results.push(if is_absent { S::default() } else { presence });
        }
    }
}

/// A step of a program.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A nest.
    Nest(Nest),
    /// Statements to repeat.
    Loop {
        /// Trip count.
        trip: u32,
        /// Whether the counter runs downwards.
        reversed: bool,
        /// The statements.
        body: Vec<Statement>,
    },
    /// Cells to clear.
    Zero {
        /// The space of the cells.
        space: Space,
        /// The first cell.
        start: u32,
        /// The number of cells.
        length: u32,
    },
    /// A call of a custom rule.
    Call(RuleCall),
}

/// A compiled function or derivative. Immutable; share it between threads in an `Arc`, with one
/// [`Workspace`](crate::Workspace) per thread.
#[derive(Clone, Debug)]
pub struct Program {
    /// The constants, as doubles even if the program runs on singles.
    pub constants: Vec<f64>,
    /// Lengths of the input slices.
    pub inputs: Vec<usize>,
    /// Lengths of the output slices.
    pub outputs: Vec<usize>,
    /// Cells of work space.
    pub work: usize,
    /// The statements.
    pub statements: Vec<Statement>,
    /// The rules that operations refer to by number.
    pub rules: Rules,
    /// The places of guards in the user's code.
    pub places: Vec<&'static Location<'static>>,
    /// How the program treats absent derivatives.
    pub absence: Absence,
}

/// A guard that did not hold: the recording is not valid at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardFailed {
    /// The place of the comparison or of the value read in the user's code.
    pub place: Option<&'static Location<'static>>,
}

impl std::fmt::Display for GuardFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Some(place) => {
                write!(
                    f,
                    "the function takes a different branch at {place} than in its recording; record it again at this point"
                )
            }
            None => write!(
                f,
                "the function takes a different branch at this point than in its recording; record it again at this point"
            ),
        }
    }
}

impl std::error::Error for GuardFailed {}

/// Calls `act` with every address and the trip counts of its counters.
pub(crate) fn each_address(
    statements: &mut [Statement],
    loops: &mut Vec<u32>,
    act: &mut impl FnMut(&mut Address, &[u32]),
) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => {
                let trips = nest.trips(loops);
                nest.addresses.iter_mut().for_each(|address| act(address, &trips));
            }
            Statement::Loop { trip, body, .. } => {
                loops.push(*trip);
                each_address(body, loops, act);
                loops.pop();
            }
            Statement::Call(call) => {
                call.arguments.iter_mut().chain(&mut call.results).for_each(|address| act(address, loops));
            }
            Statement::Zero { .. } => {}
        }
    }
}

impl Address {
    /// A fixed cell.
    pub(crate) fn fixed(space: Space, base: u32, counters: usize) -> Address {
        Address { space, base, strides: vec![0; counters], table: None }
    }

    /// The cell at these counters, whose trip counts are `trips`.
    #[inline]
    pub fn cell(&self, counters: &[u32], trips: &[u32]) -> usize {
        match &self.table {
            Some(table) => {
                let index = counters.iter().zip(trips).fold(0, |i, (c, n)| i * *n as usize + *c as usize);
                table[index] as usize
            }
            None => {
                let offset: i64 = counters.iter().zip(&self.strides).map(|(c, s)| *c as i64 * *s as i64).sum();
                (self.base as i64 + offset) as usize
            }
        }
    }

    /// The first and last cell the address can mean.
    pub(crate) fn range(&self, trips: &[u32]) -> (u32, u32) {
        if let Some(table) = &self.table {
            let low = table.iter().copied().min().unwrap_or(0);
            return (low, table.iter().copied().max().unwrap_or(0));
        }
        let (mut low, mut high) = (self.base as i64, self.base as i64);
        for (stride, trip) in self.strides.iter().zip(trips) {
            let reach = *stride as i64 * (*trip as i64 - 1);
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        (low as u32, high as u32)
    }
}

impl Nest {
    /// Trip counts of all counters, those of the enclosing loops first.
    pub(crate) fn trips(&self, loops: &[u32]) -> Vec<u32> {
        loops.iter().copied().chain(self.dimensions.iter().map(|dimension| dimension.trip)).collect()
    }
}

impl Instruction {
    /// Calls `act` with the results it uses.
    #[inline(always)]
    pub(crate) fn operands(&self, mut act: impl FnMut(u32)) {
        match *self {
            Instruction::Constant(_) | Instruction::Load(_) => {}
            Instruction::Apply { op: Op::Unary(_), a, .. } => act(a),
            Instruction::Apply { a, b, .. } => {
                act(a);
                act(b);
            }
            Instruction::Store { value, .. } | Instruction::Accumulate { value, .. } => act(value),
        }
    }

    /// Whether it has an effect besides its result.
    pub(crate) fn has_effect(&self) -> bool {
        matches!(
            self,
            Instruction::Store { .. } | Instruction::Accumulate { .. } | Instruction::Apply { op: Op::Guard(_), .. }
        )
    }

    /// The same instruction with operands renamed.
    #[inline(always)]
    pub(crate) fn renamed(self, rename: impl Fn(u32) -> u32) -> Instruction {
        match self {
            Instruction::Apply { op, a, b } => Instruction::Apply { op, a: rename(a), b: rename(b) },
            Instruction::Store { value, address } => Instruction::Store { value: rename(value), address },
            Instruction::Accumulate { value, address } => Instruction::Accumulate { value: rename(value), address },
            other => other,
        }
    }
}

impl Program {
    /// The same program, whose derivatives track absent ones.
    pub fn tracking_absent(&self) -> Program {
        Program { absence: Absence::Tracked, ..self.clone() }
    }

    /// Number of statements, nested ones included.
    pub fn statement_count(&self) -> usize {
        fn count(statements: &[Statement]) -> usize {
            statements
                .iter()
                .map(|statement| match statement {
                    Statement::Loop { body, .. } => 1 + count(body),
                    _ => 1,
                })
                .sum()
        }
        count(&self.statements)
    }

    /// Number of nests that run more than once: by their own iterations, or by those of a loop around them.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let sum = |n: usize| record(&vec![1.0; n], &[], Limits::default(), |x, _, y| y.push(x.iter().map(|v| *v * *v).sum()));
    /// assert_eq!([1, 20].map(|n| compile(&sum(n).unwrap()).unwrap().loop_count()), [0, 1]);
    /// ```
    pub fn loop_count(&self) -> usize {
        fn count(statements: &[Statement], is_repeated: bool) -> usize {
            statements
                .iter()
                .map(|statement| match statement {
                    Statement::Nest(nest) => usize::from(is_repeated || nest.dimensions.iter().any(|d| d.trip > 1)),
                    Statement::Loop { trip, body, .. } => count(body, is_repeated || *trip > 1),
                    _ => 0,
                })
                .sum()
        }
        count(&self.statements, false)
    }

    /// Number of instructions in all bodies.
    pub fn instruction_count(&self) -> usize {
        fn count(statements: &[Statement]) -> usize {
            statements
                .iter()
                .map(|statement| match statement {
                    Statement::Nest(nest) => nest.body.len(),
                    Statement::Loop { body, .. } => count(body),
                    _ => 0,
                })
                .sum()
        }
        count(&self.statements)
    }

    /// Bytes of memory it occupies.
    pub fn bytes(&self) -> usize {
        fn count(statements: &[Statement]) -> usize {
            statements
                .iter()
                .map(|statement| match statement {
                    Statement::Nest(nest) => {
                        let addresses = nest.addresses.iter().map(|address| {
                            size_of::<Address>()
                                + 4 * (address.strides.len() + address.table.as_ref().map_or(0, |t| t.len()))
                        });
                        nest.body.len() * size_of::<Instruction>() + addresses.sum::<usize>()
                    }
                    Statement::Loop { body, .. } => count(body),
                    _ => 0,
                })
                .sum()
        }
        count(&self.statements) + 8 * self.constants.len()
    }
}
