//! Runs a candidate on a program at its points and compares its results with the reference.
//!
//! Called by `main` for every drawn program and by `shrink` for every smaller one.

use crate::compare::{Answer, Expected, Verdict};
use crate::reference::{Context, evaluate, evaluate_line};
use crate::tally::Tally;
use differentiation_interface::prelude::{Error, ErrorKind};
use differentiation_interface_soak::engines::{Answers, Call, Candidate, Precision, Quantity};
use differentiation_interface_soak::program::Program;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A program with its points and the answers of the reference there.
pub(crate) struct Case {
    pub(crate) program: Program,
    /// Candidates prepare at the first one.
    pub(crate) points: Vec<Vec<f64>>,
    double: Vec<Answer>,
    single: Vec<Answer>,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A number differs from that of the reference.
    Number { quantity: Quantity, entry: usize, found: f64, expected: Expected },
    /// The number of results is wrong.
    Length { quantity: Quantity, found: usize, expected: usize },
    /// The engine returned an error.
    Error(String),
    /// The engine panicked.
    Panic(String),
}

impl Case {
    /// Evaluates the reference at every point.
    pub(crate) fn new(program: Program, points: Vec<Vec<f64>>) -> Case {
        let answers = |context: Context| {
            let answer = |x: &Vec<f64>| {
                let x: Vec<f64> = x.iter().map(|x| (context.round)(*x)).collect();
                Answer {
                    context,
                    inputs: program.inputs,
                    outputs: evaluate(&program, context, &x),
                    line: evaluate_line(&program, context, x[0]),
                }
            };
            points.iter().map(answer).collect::<Vec<_>>()
        };
        let (double, single) = (answers(Context::double()), answers(Context::single()));
        Case { program, points, double, single }
    }

    /// The answers of the reference in this precision, point by point.
    fn answers(&self, precision: Precision) -> &[Answer] {
        match precision {
            Precision::Double => &self.double,
            Precision::Single => &self.single,
        }
    }
}

/// Runs code of the library; a panic is a failure.
fn guarded<T>(code: impl FnOnce() -> Result<T, Error>) -> Result<Result<T, Error>, Failure> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Failure::Panic(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    })
}

/// The reason of an error that a candidate may return.
fn refusal(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::ValueDecides { .. } => Some("refused: a pattern for all points cannot follow a decision by value"),
        _ => None,
    }
}

/// Prepares the candidate at the first point and calls it at all of them. Returns the first failure and its point.
pub(crate) fn check(candidate: &Candidate, case: &Case, tally: &mut Tally) -> Option<(usize, Failure)> {
    let started = match guarded(|| (candidate.start)(&case.program, &case.points[0])) {
        Ok(started) => started,
        Err(failure) => return Some((0, failure)),
    };
    let mut call: Call<'_> = match started {
        Ok(call) => call,
        Err(error) => match refusal(&error) {
            Some(reason) => {
                tally.skip(reason);
                return None;
            }
            None => return Some((0, Failure::Error(error.to_string()))),
        },
    };
    let mut first = None;
    for (k, (x, answer)) in case.points.iter().zip(case.answers(candidate.precision)).enumerate() {
        tally.calls += 1;
        let failure = match guarded(|| call(x)) {
            Ok(Ok(answers)) => compare(candidate, answer, &answers, tally),
            Ok(Err(error)) => match refusal(&error) {
                Some(reason) => {
                    tally.skip(reason);
                    None
                }
                None => Some(Failure::Error(error.to_string())),
            },
            // A preparation is unspecified after a panic.
            Err(failure) => return first.or(Some((k, failure))),
        };
        first = first.or(failure.map(|failure| (k, failure)));
    }
    first
}

fn compare(candidate: &Candidate, answer: &Answer, answers: &Answers, tally: &mut Tally) -> Option<Failure> {
    let mut first = None;
    for (quantity, found) in answers {
        let Some(expected) = answer.expected(*quantity) else {
            tally.skip("undecided: rounding decides which way the program goes");
            continue;
        };
        if found.len() != expected.len() {
            first =
                first.or(Some(Failure::Length { quantity: *quantity, found: found.len(), expected: expected.len() }));
            continue;
        }
        for (entry, (&found, expected)) in found.iter().zip(expected).enumerate() {
            let verdict = expected.verdict(found);
            tally.note(candidate.name, verdict);
            if verdict == Verdict::Disagrees && first.is_none() {
                first = Some(Failure::Number { quantity: *quantity, entry, found, expected });
            }
        }
    }
    first
}
