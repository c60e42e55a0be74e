//! Reports of failures: each kind once, shrunk, with the command that reproduces it.
//!
//! Filled and printed by `main`.

use crate::check::{Case, Failure};
use crate::compare::order;
use crate::shrink::{Shrunk, shrink};
use differentiation_interface_soak::engines::Candidate;
use differentiation_interface_soak::program::{Expression, Program, Statement};
use std::collections::BTreeSet;
use std::time::Duration;

/// The failures so far.
pub(crate) struct Reports {
    /// Time for shrinking a failure.
    patience: Duration,
    /// Engine and operations of the printed failures.
    known: BTreeSet<String>,
    /// The program shrunk last, and for how many engines: each is shrunk for a few engines only.
    shrunk: (u64, usize),
}

/// The operations of a program, in order.
fn operations(body: &[Statement], list: &mut Vec<String>) {
    for statement in body {
        match statement {
            Statement::Set { value, .. } => list.push(match value {
                Expression::Unary(function, _) => format!("{function:?}"),
                Expression::Binary(function, ..) => format!("{function:?}"),
                Expression::Special(function, ..) => format!("{function:?}"),
                Expression::SumOfInputs(function) => format!("sum of {function:?}"),
                other => format!("{other:?}").chars().take_while(|c| c.is_alphabetic()).collect(),
            }),
            Statement::For { body, .. } => {
                list.push("for".to_owned());
                operations(body, list);
            }
            Statement::If { then, otherwise, .. } => {
                list.push("if".to_owned());
                operations(then, list);
                operations(otherwise, list);
            }
            Statement::While { body, .. } => {
                list.push("while".to_owned());
                operations(body, list);
            }
        }
    }
}

/// The properties that make two failures the same for a reader.
fn key(candidate: &Candidate, program: &Program, failure: &Failure) -> String {
    let mut list = Vec::new();
    operations(&program.body, &mut list);
    list.sort();
    list.dedup();
    let what = match failure {
        Failure::Number { quantity, .. } => format!("order {}", order(*quantity)),
        other => format!("{other:?}").chars().take(24).collect(),
    };
    let words = candidate.name.split([' ', ',']);
    let engine: Vec<&str> =
        words.filter(|word| ["compiled", "tape", "forward", "sparse", "f32"].contains(word)).collect();
    format!("{engine:?} {what} {list:?}")
}

impl Reports {
    /// No failures yet; `patience` is the time for shrinking each.
    pub(crate) fn new(patience: Duration) -> Reports {
        Reports { patience, known: BTreeSet::new(), shrunk: (0, 0) }
    }

    /// How many different failures there are.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Shrinks a failure at point `place` of program `[seed, number]`, and prints it unless one like it was printed before.
    pub(crate) fn add(
        &mut self,
        candidate: &Candidate,
        case: &Case,
        [seed, number]: [u64; 2],
        place: usize,
        failure: &Failure,
    ) {
        const ENGINES: usize = 4;
        self.shrunk = if self.shrunk.0 == number { (number, self.shrunk.1 + 1) } else { (number, 1) };
        if self.shrunk.1 > ENGINES && !self.known.is_empty() {
            return;
        }
        let Shrunk { program, points, failure } = shrink(candidate, case, place, failure, self.patience);
        if !self.known.insert(key(candidate, &program, &failure)) {
            return;
        }
        println!("failure {}: {}", self.len(), candidate.name);
        match &failure {
            Failure::Number { quantity, entry, found, expected } => println!(
                "  {quantity:?}, entry {entry}: found {found:e}, expected {:e} (tolerance {:e})",
                expected.value, expected.tolerance
            ),
            Failure::Length { quantity, found, expected } => {
                println!("  {quantity:?}: {found} numbers, expected {expected}");
            }
            Failure::Error(text) => println!("  returned an error: {text}"),
            Failure::Panic(text) => println!("  panicked: {text}"),
        }
        for (k, x) in points.iter().enumerate() {
            println!(
                "  {} {x:?}",
                if k + 1 == points.len() {
                    "called at  "
                } else if k == 0 {
                    "prepared at"
                } else {
                    "then at    "
                }
            );
        }
        println!("{program}");
        println!(
            "  cargo run --release -p differentiation-interface-soak -- --show {seed} {number} --engines \"{}\"\n",
            candidate.name
        );
    }
}
