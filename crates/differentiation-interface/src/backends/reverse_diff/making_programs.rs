//! Makes the program of a recorded call where that is worth its price, and tells whether it is worth using.
//!
//! Called by `tiers`, which knows what earlier calls did; calls the compiled engine's state. Decides by counts, as `tiers` does.

use super::budget::Budget;
use super::report::Reason;
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
/// The time to compile products with a Hessian, in that of an operation on a tape: for each operation of the function, and for each instruction of
/// its program and each lane and one more. Of 20 functions it was 0.7 to 1.8 times as long.
const PER_OPERATION_OF_PRODUCTS: f64 = 120.0;
const PER_INSTRUCTION_OF_PRODUCTS: f64 = 400.0;
/// The time of products with a Hessian beside that of its entries, both as estimated, up to which entries are as fast: of eight functions 1.0 to 1.5.
const PRODUCTS_BESIDE_ENTRIES: f64 = 1.25;

/// The gain of a call by a program, in calls of the tape, whatever its time is estimated to be.
const LEAST_GAIN: f64 = 0.3;
/// The loss, in calls of the tape, for which programs are given up.
const LEAST_LOSS: f64 = 4.0;

/// A recorded call.
#[derive(Clone, Copy)]
pub(super) struct RecordedCall<'a> {
    pub(super) trial: &'a Trial,
    pub(super) task: Task,
    /// Its number.
    pub(super) number: u64,
    pub(super) limits: Limits,
    /// Its time by the tape.
    pub(super) of_tape: f64,
}

impl RecordedCall<'_> {
    /// The call from which so much may be spent, if the tape computes the calls up to it.
    fn affords(&self, price: f64, taken: &Budget) -> u64 {
        self.number.saturating_add(taken.calls_until(price, self.of_tape))
    }

    /// The time to compile products with a Hessian, if that is the task. First derivatives are compiled at once, in the time of tens of calls.
    fn time_of_products(&self, instructions: usize) -> f64 {
        match self.task {
            Task::HessianProducts(seeds, _) => {
                PER_OPERATION_OF_PRODUCTS * self.trial.operations as f64
                    + PER_INSTRUCTION_OF_PRODUCTS * instructions as f64 * (1 + seeds.min(LANES)) as f64
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
    ForConstants { most: usize, is_in_use: bool },
}

/// Which programs of second order of a path were compiled and refused, so that they are not compiled again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    entries: bool,
    products: bool,
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
    (f, x): (&mut dyn Flat<Recorded>, &[f64]),
    taken: &mut Budget,
    refused: &mut Refused,
) -> Result<Option<Made>, NotMade> {
    let trial = call.trial;
    if what == Make::New && trial.calls > MOST_RULE_CALLS && trial.operations < FEW_FOR_A_CALL * trial.calls {
        return Err(Left { reason: Reason::Slower, until: u64::MAX }.into());
    }
    loop {
        programs.afford((!refused.entries).then(|| may_take(what, taken) as u64));
        let replaced = match what {
            Make::Nothing => return Ok(None),
            Make::ForConstants { most, .. } => match programs.follow(f.recordable(), most)? {
                Some(replaced) => replaced,
                None => return Ok(None),
            },
            Make::New => {
                programs.adopt(call.limits, f, x)?;
                Replaced::default()
            }
        };
        match judge(programs, call, what, taken, refused) {
            Ok(made) => return Ok(Some(made)),
            Err(not_made) => {
                let were_entries = matches!(call.task, Task::HessianProducts(..)) && programs.has_entries();
                programs.forget_current(replaced);
                // Products with all basis vectors may be faster than entries, and are tried after them.
                if !were_entries {
                    return Err(not_made);
                }
                refused.entries = true;
            }
        }
    }
}

/// How long compiling may take. A path in use is followed to other constants without waiting once more.
fn may_take(what: Make, taken: &Budget) -> f64 {
    match what {
        Make::ForConstants { is_in_use: true, .. } => taken.most(),
        _ => taken.budget(),
    }
}

/// Notes what the new program costs, or refuses it if it would take longer than the tape, or too long to compile for now.
fn judge(
    programs: &mut CompiledState<f64>,
    call: RecordedCall<'_>,
    what: Make,
    taken: &mut Budget,
    refused: &mut Refused,
) -> Result<Made, NotMade> {
    let has_entries = programs.has_entries();
    let mut price = programs.price_of_entries() as f64;
    taken.spend(price);
    // Compiled, and no shorter than products.
    refused.entries |= price > 0.0 && !has_entries;
    let of_entries = programs.postponed().map(|price| price as f64);
    let of_products = call.time_of_products(programs.length());
    if !has_entries {
        let of_products = if refused.products { f64::MAX } else { of_products };
        if of_products > may_take(what, taken) {
            let least = of_entries.map_or(of_products, |price| price.min(of_products));
            return Err(Left { reason: Reason::Slower, until: call.affords(least, taken) }.into());
        }
        taken.spend(of_products);
        price += of_products;
    }
    let entries_from = of_entries.map_or(u64::MAX, |price| call.affords(price, taken));
    let made = programs.measure(call.task).map(|measure| Made { measure, estimate: measure.time / call.of_tape });
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
    let Some(used) = made.filter(is_worth) else {
        refused.products |= !has_entries && matches!(call.task, Task::HessianProducts(..));
        return Err(NotMade { left, made });
    };
    programs.note_cost(used.measure.time, call.of_tape, price);
    Ok(used)
}

/// The time to compile the entries that recordings have left to products. `None` if none has for now, or one will always.
fn price_of_entries(programs: &CompiledState<f64>) -> Option<f64> {
    let mut price = 0.0;
    for postponed in programs.all_postponed() {
        price += postponed? as f64;
    }
    (price > 0.0).then_some(price)
}

/// The call from which entries are compiled in place of products, if programs compute all calls up to it, those of each recording as often. `None` if they
/// never are.
pub(super) fn entries_from(programs: &CompiledState<f64>, calls: u64, taken: &Budget) -> Option<u64> {
    let of_program = programs.time_of_program();
    let price = price_of_entries(programs).filter(|_| of_program > 0.0)?;
    Some(calls.saturating_add(taken.calls_until(price, of_program)))
}

/// Whether calls at which no program is valid lose as much as the others gain: all programs run then in vain, at most for the time that each is
/// estimated to take. What has taken long to compile, and would have to be compiled again, has to lose as much.
pub(super) fn are_lost(programs: &CompiledState<f64>, hits: u64, misses: u64) -> bool {
    let (mut of_miss, mut of_hit, mut of_tape, mut price) = (0.0, 0.0, 0.0, 0.0);
    for cost in programs.costs() {
        of_miss += cost.of_program;
        of_hit += (cost.of_tape - cost.of_program).max(LEAST_GAIN * cost.of_tape);
        of_tape += cost.of_tape;
        price += cost.price;
    }
    let gained = hits as f64 * of_hit / programs.count() as f64 + price;
    let least = LEAST_LOSS * of_tape / programs.count() as f64;
    misses as f64 * of_miss >= gained.max(least)
}

/// Compiles entries in place of products, where they are not slower. Returns the new programs.
pub(super) fn compile_entries(programs: &mut CompiledState<f64>, task: Task, taken: &mut Budget) -> Vec<Made> {
    let (made, price) = programs.compile_postponed(task, PRODUCTS_BESIDE_ENTRIES);
    taken.spend(price);
    made.into_iter().map(|(measure, cost)| Made { measure, estimate: measure.time / cost.of_tape }).collect()
}
