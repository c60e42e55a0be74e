//! Makes the program of a recorded call where that is worth its price, and tells whether it is worth using.
//!
//! Called by `tiers`, which knows what earlier calls did; calls the compiled engine's state. Decides by counts, as `tiers` does.

use super::report::Reason;
use super::tape_time::time_of_tape;
use crate::backends::compiled_reverse_diff::{CompiledState, LANES, Measure, Replaced, Task, Trial};
use compiled_trace::{Limits, Recorded};
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;

/// The time of machine code over that of the tape, as estimated, up to which it is used. A function does more than its operations, which a program leaves out,
/// so that the tape is underestimated: programs of 1.3 to 1.5 by estimate took 0.3 to 1.35 times as long as the tape.
const MOST_OF_CODE: f64 = 1.5;
/// The same for entries of a Hessian, and products with one tangent, whose programs took 1.4 times as long as estimated beside the tape (1.0 to 1.8 for 21
/// functions).
const MOST_OF_SECOND_ORDER: f64 = 0.75;
/// The same for products with several tangents: 1.7 times (1.3 to 2.2 for 11 functions).
const MOST_OF_PRODUCTS: f64 = 0.55;
/// Calls of custom rules of which a program is made whatever their share of the operations. Since calls are not repeated in loops, the machine
/// code of more would be too large, and to compile them takes as long as hundreds of calls of the tape.
const MOST_RULE_CALLS: usize = 3000;
/// The operations for each call of a rule that are too few for a program of more than those.
const FEW_FOR_A_CALL: usize = 64;
/// The time to compile entries of a Hessian, for each operation that they depend on row by row, in that of an operation on a tape. Half of what it takes
/// without loops, and twice of what it takes with loops (0.3 to 3 µs).
const PER_ENTRY_OPERATION: f64 = 150.0;
/// The time to compile products with a Hessian, for each instruction of the function and for each lane and one more. Half of what it takes
/// (7 to 20 µs for an instruction and four lanes).
const PER_PRODUCT_INSTRUCTION: f64 = 300.0;
/// The time of products with a Hessian beside that of its entries, both as estimated, up to which entries are as fast: of eight functions 1.0 to 1.5.
const PRODUCTS_BESIDE_ENTRIES: f64 = 1.25;
/// What takes no longer is compiled whatever calls have taken.
const FREE: f64 = 300_000.0;

/// A recorded call.
#[derive(Clone, Copy)]
pub(super) struct RecordedCall<'a> {
    pub(super) trial: &'a Trial,
    pub(super) task: Task,
    /// Its number.
    pub(super) number: u64,
    /// The time that all calls have taken.
    pub(super) taken: f64,
}

impl RecordedCall<'_> {
    /// The time that may be spent on compiling a path of second order: what all calls have taken, so that a program made too early costs no more
    /// than one made too late. First derivatives are compiled at once, in the time of tens of calls.
    fn budget(&self) -> f64 {
        self.taken.max(FREE)
    }

    /// The call from which so much may be spent, if the tape computes the calls up to it.
    fn affords(&self, time: f64) -> u64 {
        self.number + ((time - self.taken).max(0.0) / time_of_tape(self.trial, self.task)).ceil() as u64
    }

    /// The time to compile products with a Hessian, if that is the task.
    fn time_of_products(&self, instructions: usize) -> f64 {
        match self.task {
            Task::HessianProducts(seeds, _) => {
                PER_PRODUCT_INSTRUCTION * instructions as f64 * (1 + seeds.min(LANES)) as f64
            }
            _ => 0.0,
        }
    }
}

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Make {
    /// Nothing.
    Nothing,
    /// A program, right for the constants of the call.
    New,
    /// That one of those in use right for the constants of the call that takes its path, or a new one unless there are so many.
    ForConstants(usize),
}

/// A program, and what it costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) measure: Measure,
    /// Its time over that of the tape.
    pub(super) estimate: f64,
}

/// Why there is no program to use.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotMade {
    pub(super) left: Left,
    /// The program, if it takes too long.
    pub(super) made: Option<Made>,
}

/// A path that is left to the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) reason: Reason,
    /// The call from which a program is made all the same; `u64::MAX` if none ever is.
    pub(super) until: u64,
}

impl From<Left> for NotMade {
    fn from(left: Left) -> NotMade {
        NotMade { left, made: None }
    }
}

impl From<Error> for NotMade {
    fn from(error: Error) -> NotMade {
        Left { reason: Reason::of_error(error), until: u64::MAX }.into()
    }
}

/// Makes a program of the call that [`try_out`](CompiledState::try_out) has recorded. Returns `None` if those there are serve, or none is to be made.
pub(super) fn make(
    programs: &mut CompiledState<f64>,
    call: RecordedCall<'_>,
    what: Make,
    limits: Limits,
    f: &mut dyn Flat<Recorded>,
    x: &[f64],
) -> Result<Option<Made>, NotMade> {
    let trial = call.trial;
    if what == Make::New && trial.calls > MOST_RULE_CALLS && trial.operations < FEW_FOR_A_CALL * trial.calls {
        return Err(Left { reason: Reason::Slower, until: u64::MAX }.into());
    }
    // Products with all basis vectors may be faster than entries, and are tried after them.
    let mut has_slow_entries = false;
    loop {
        programs.afford((!has_slow_entries).then(|| (call.budget() / PER_ENTRY_OPERATION) as usize));
        let replaced = match what {
            Make::Nothing => return Ok(None),
            Make::ForConstants(most) => match programs.follow(f.recordable(), most)? {
                Some(replaced) => replaced,
                None => return Ok(None),
            },
            Make::New => {
                programs.adopt(limits, f, x)?;
                Replaced::default()
            }
        };
        match judge(programs, call) {
            Ok(made) => return Ok(Some(made)),
            Err(not_made) => {
                let are_of_entries = matches!(call.task, Task::HessianProducts(..)) && programs.has_entries();
                programs.forget_current(replaced);
                if !are_of_entries || has_slow_entries {
                    return Err(not_made);
                }
                has_slow_entries = true;
            }
        }
    }
}

/// Notes what the new program costs, or refuses it if it would take longer than the tape, or too long to compile for now.
fn judge(programs: &mut CompiledState<f64>, call: RecordedCall<'_>) -> Result<Made, NotMade> {
    let has_entries = programs.has_entries();
    let affords = |operations| call.affords(operations as f64 * PER_ENTRY_OPERATION);
    let entries_from = programs.postponed().map_or(u64::MAX, affords);
    let time = call.time_of_products(programs.length());
    if !has_entries && time > call.budget() {
        return Err(Left { reason: Reason::Slower, until: call.affords(time).min(entries_from) }.into());
    }
    let of_tape = time_of_tape(call.trial, call.task);
    let made = programs.measure(call.task).map(|measure| Made { measure, estimate: measure.time / of_tape });
    let is_worth = |made: &Made| {
        let most = match (made.measure.is_code, call.task) {
            (true, Task::HessianProducts(seeds, _)) if seeds > 1 && !has_entries => MOST_OF_PRODUCTS,
            (true, Task::HessianProducts(..)) => MOST_OF_SECOND_ORDER,
            (true, _) => MOST_OF_CODE,
            (false, _) => 1.0,
        };
        made.estimate <= most
    };
    let left = Left { reason: Reason::Slower, until: entries_from };
    let used = made.filter(is_worth).ok_or(NotMade { left, made })?;
    programs.note_cost(used.measure.time, of_tape);
    Ok(used)
}

/// The call from which entries are compiled in place of products, if the `calls` so far have taken `taken` and programs compute the others, of all
/// recordings as often: they have taken as long then. `None` if no recording leaves entries to products for now, or one will always.
pub(super) fn entries_from(programs: &CompiledState<f64>, calls: u64, taken: f64) -> Option<u64> {
    let mut time = 0.0;
    for postponed in programs.all_postponed() {
        time += postponed? as f64 * PER_ENTRY_OPERATION;
    }
    let of_program = programs.time_of_program();
    let left = (time - taken).max(0.0);
    (time > 0.0 && of_program > 0.0).then(|| calls.saturating_add((left / of_program).ceil() as u64))
}

/// Compiles entries in place of products, where they are not slower. Returns the new programs.
pub(super) fn compile_entries(programs: &mut CompiledState<f64>, task: Task) -> Vec<Made> {
    let all = programs.compile_postponed(task, PRODUCTS_BESIDE_ENTRIES).into_iter();
    all.map(|(measure, cost)| Made { measure, estimate: measure.time / cost.of_tape }).collect()
}
