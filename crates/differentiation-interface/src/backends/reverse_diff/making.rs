//! Makes the program of a recorded call where that is worth its price, and tells whether it is worth using.
//!
//! Called by `tiers`, which knows what earlier calls did; calls the compiled engine's state. Decides by counts, as `tiers` does.

use super::report::Reason;
use super::tape_time::time_of_tape;
use crate::backends::compiled_reverse_diff::{CompiledState, LANES, Measure, Task, Trial};
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
/// What takes no longer is compiled whatever calls have taken.
const FREE: f64 = 300_000.0;

/// A recorded call.
#[derive(Clone, Copy)]
pub(super) struct RecordedCall<'a> {
    pub(super) trial: &'a Trial,
    pub(super) task: Task,
    /// Its number.
    pub(super) number: u64,
}

impl RecordedCall<'_> {
    /// The time that may be spent on compiling derivatives of second order: what all calls took, so that a program made too early costs no more than
    /// one made too late. First derivatives are compiled at once, in the time of tens of calls.
    fn budget(&self) -> f64 {
        (self.number as f64 * time_of_tape(self.trial, self.task)).max(FREE)
    }

    /// The call from which so much may be spent.
    fn affords(&self, time: f64) -> u64 {
        (time / time_of_tape(self.trial, self.task)).ceil() as u64
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
    /// The call from which entries are worth compiling, if it computes products in place of them.
    pub(super) entries_from: Option<u64>,
}

/// Why there is no program to use.
#[derive(Clone, Copy, Debug)]
pub(super) enum NotMade {
    /// It takes longer than the tape.
    Slower(Option<Made>),
    /// It cannot be made.
    Because(Reason),
    /// It has been left to the tape before.
    Left(Left),
}

/// A path that is left to the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) reason: Reason,
    /// The call from which a program is made all the same.
    pub(super) until: u64,
}

impl From<Error> for NotMade {
    fn from(error: Error) -> NotMade {
        NotMade::Because(Reason::of_error(error))
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
    programs.afford((call.budget() / PER_ENTRY_OPERATION) as usize);
    match what {
        Make::Nothing => Ok(None),
        Make::ForConstants(most) => {
            let is_new = programs.follow(f.recordable(), most)?;
            let entries_from = postponed(programs, call);
            if is_new { judge(programs, call, entries_from).map(Some) } else { Ok(None) }
        }
        Make::New if trial.calls > MOST_RULE_CALLS && trial.operations < FEW_FOR_A_CALL * trial.calls => {
            Err(NotMade::Slower(None))
        }
        Make::New => {
            programs.adopt(limits, f, x)?;
            let time = call.time_of_products(programs.length());
            if !programs.has_entries() && time > call.budget() {
                let entries_from = postponed(programs, call).unwrap_or(u64::MAX);
                programs.forget_current();
                return Err(NotMade::Left(Left {
                    reason: Reason::Slower,
                    until: call.affords(time).min(entries_from),
                }));
            }
            let is_of_hessian = matches!(call.task, Task::HessianProducts(..)) && programs.has_entries();
            let entries_from = postponed(programs, call);
            match judge(programs, call, entries_from) {
                // Products with all basis vectors may be faster than entries.
                Err(NotMade::Slower(_)) if is_of_hessian => {
                    programs.afford(0);
                    programs.adopt(limits, f, x)?;
                    judge(programs, call, None).map(Some)
                }
                made => made.map(Some),
            }
        }
    }
}

/// The call from which entries are worth compiling that the new program leaves to products.
fn postponed(programs: &CompiledState<f64>, call: RecordedCall<'_>) -> Option<u64> {
    programs.postponed().map(|operations| call.affords(operations as f64 * PER_ENTRY_OPERATION))
}

/// What the new program costs. Drops it if it would take longer than the tape.
fn judge(
    programs: &mut CompiledState<f64>,
    call: RecordedCall<'_>,
    entries_from: Option<u64>,
) -> Result<Made, NotMade> {
    let made = programs.measure(call.task).map(|measure| Made {
        measure,
        estimate: measure.time / time_of_tape(call.trial, call.task),
        entries_from,
    });
    let has_entries = programs.has_entries();
    let is_worth = |made: &Made| {
        let most = match (made.measure.is_code, call.task) {
            (true, Task::HessianProducts(seeds, _)) if seeds > 1 && !has_entries => MOST_OF_PRODUCTS,
            (true, Task::HessianProducts(..)) => MOST_OF_SECOND_ORDER,
            (true, _) => MOST_OF_CODE,
            (false, _) => 1.0,
        };
        made.estimate <= most
    };
    made.filter(is_worth).ok_or_else(|| {
        programs.forget_current();
        NotMade::Slower(made)
    })
}
