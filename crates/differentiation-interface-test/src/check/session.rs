//! One scenario with one backend under test: its state, comparisons and findings.
//!
//! Made by `test_differentiation`; used by the sequence of checks (`run`) and the search for the reference (`answer`).

use super::compare::{Part, difference, entry_name};
use super::options::Options;
use crate::driver::{Call, Driver, Facts, Variant};
use crate::outcome::{Check, Finding};
use differentiation_interface_core::error::Error;

/// The numbers that every call is compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    pub(super) value: Vec<f64>,
    pub(super) first: Option<Vec<f64>>,
    pub(super) second: Option<Vec<f64>>,
}

/// Ends the session: further checks would be pointless.
pub(super) struct Stop;

/// One scenario with one backend.
pub(super) struct Session<'a> {
    pub(super) label: &'a str,
    pub(super) options: &'a Options,
    pub(super) allocations_counted: bool,
    /// Allowed errors of the backend in first and second order, if they differ from those of the scenario.
    pub(super) tolerance: [Option<f64>; 2],
    pub(super) facts: &'a Facts,
    pub(super) driver: &'a mut dyn Driver,
    pub(super) findings: &'a mut Vec<Finding>,
    pub(super) checks: usize,
    pub(super) reference: Reference,
}

impl Session<'_> {
    /// Compares one part.
    pub(super) fn compare(
        &mut self,
        check: Check,
        call: &str,
        part: Part,
        found: &[f64],
        expected: &[f64],
    ) -> Result<(), Stop> {
        self.checks += 1;
        let tolerance = match part {
            Part::Value => self.facts.tolerance,
            Part::First => self.tolerance(self.facts.order as usize),
            Part::Second => self.tolerance(2),
        };
        let facts = self.facts;
        let Some((at, detail)) = difference(found, expected, tolerance, |at| entry_name(facts, part, at)) else {
            return Ok(());
        };
        let unwritten = found.get(at).is_some_and(|v| v.is_nan()) && !expected[at].is_nan() && call.contains("_into");
        self.note(if unwritten { Check::Overwrite } else { check }, call, detail);
        Err(Stop)
    }

    /// The allowed error of a result of this order, relative to the largest entry.
    pub(super) fn tolerance(&self, order: usize) -> f64 {
        let given = self.facts.tolerance;
        // Differences lose half the digits: an error of 1e-4 in double precision corresponds to 1e-2 in single.
        let single = self.facts.epsilon > 1e-10;
        self.tolerance[order - 1].map_or(given, |t| if single { t.sqrt() } else { t }.max(given))
    }

    /// Records a finding unless `holds`.
    pub(super) fn check(&mut self, check: Check, call: &str, holds: bool, detail: impl FnOnce() -> String) {
        if self.options.makes(check) {
            self.checks += 1;
            if !holds {
                self.note(check, call, detail());
            }
        }
    }

    /// Unwraps a result that must not be an error.
    pub(super) fn no_error<T>(&mut self, call: &str, result: Result<T, Error>) -> Result<T, Stop> {
        result.map_err(|error| {
            self.note(Check::Error, call, format!("it returned the error `{error}`"));
            Stop
        })
    }

    /// Records a finding.
    pub(super) fn note(&mut self, check: Check, call: &str, detail: String) {
        self.findings.push(Finding {
            backend: self.label.to_string(),
            operator: self.facts.operator,
            scenario: self.facts.scenario.clone(),
            check,
            call: call.to_string(),
            detail,
        });
    }

    /// The name of a call in messages.
    pub(super) fn call_name(&self, call: Call, variant: Variant) -> String {
        let entry = variant.entry(self.facts.operator);
        match call {
            Call::OneShot => entry,
            Call::Prepared => format!("{entry}, prepared"),
            Call::SamePoint => format!("{entry}, prepared at the point"),
        }
    }
}
