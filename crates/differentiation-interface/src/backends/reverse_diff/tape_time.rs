//! How long a call by the tape takes, estimated from a recording, so that `tiers` can compare a program with it without measuring time.

use crate::backends::compiled_reverse_diff::{Task, Trial};

/// The time of the tape for a recorded operation, with one sweep, in units of some 5 ns: 3.8 ns for a binomial tree, 4.8 ns for a
/// Fourier transform.
const PER_OPERATION: f64 = 0.8;
/// Evaluations of a function by the tape: of its value, and of its derivative unless that follows from the value.
const PER_FUNCTION: f64 = 1.7;
/// The time of a call of a custom rule and of its pullback, without that of the rule itself.
const PER_RULE: f64 = 40.0;
/// The time of a call of the tape with nothing to record.
const PER_CALL: f64 = 10.0;
/// The time of a further sweep for each operation, of first and of second order. Fitted, like the next two, to Jacobians and Hessians of eleven
/// functions with 2 to 200 rows.
const PER_ROW: f64 = 0.06;
const ROW_OF_SECOND_ORDER: f64 = 0.13;
/// The time of a number of the derivative matrix.
const PER_ENTRY: f64 = 0.1;
/// The time of a recording of second order with its first sweep over that of one of first order.
const RUN_OF_SECOND_ORDER: f64 = 1.6;

/// Operations of second order whose numbers, some 200 bytes for each with all lanes, do not stay in the caches, and how many times as long they take: 9 ns
/// for 5 of RK4 with 1000 steps.
const LARGE: usize = 40_000;
const FROM_MEMORY: f64 = 1.5;

/// The time of a call by the tape, in that of an operation with its sweep: one run with the first sweep, further sweeps several at once, and
/// the numbers of the matrix.
pub(super) fn time_of_tape(trial: &Trial, task: Task) -> f64 {
    let Trial { inputs, outputs, .. } = *trial;
    let (rows, columns, run, row) = match task {
        Task::Matrix | Task::Pushforwards(_) => (outputs, inputs, 1.0, PER_ROW),
        Task::Pullbacks(rows) => (rows, inputs, 1.0, PER_ROW),
        Task::HessianProducts(rows, _) => {
            let slower = if trial.operations > LARGE { FROM_MEMORY } else { 1.0 };
            (rows, inputs, slower * RUN_OF_SECOND_ORDER, slower * ROW_OF_SECOND_ORDER)
        }
    };
    let operations = trial.operations as f64;
    let rules = PER_RULE * trial.calls as f64;
    let first = PER_OPERATION * operations + PER_FUNCTION * trial.functions + rules;
    let further = row * operations * rows.saturating_sub(1) as f64;
    PER_CALL + run * first + further + PER_ENTRY * (rows * columns) as f64
}
