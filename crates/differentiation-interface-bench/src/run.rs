//! The run: every backend on every scenario and size, checked and timed.
//!
//! Called by `main.rs` with a [`Plan`]; checks and measurements are those of the test kit.

use crate::choice::{Choice, WithBackend};
use crate::scenarios::{self, LINES, RunsAll, Visitor};
use differentiation_interface_test::table::Table;
use differentiation_interface_test::{Operator, Options, OwnedPoint, Run, Scenario, test_differentiation};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeSet;
use std::slice;

/// What is to be run.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The backends.
    pub(crate) backends: &'a [Choice],
    /// Lines of the table of scenarios, with a size each.
    pub(crate) scenarios: Vec<(usize, usize)>,
    /// Seconds that a measurement may take; nothing is timed if there are none.
    pub(crate) seconds: Option<f64>,
}

impl<'a> Plan<'a> {
    /// The scenarios with these names, operators and sizes; all where there is no list.
    pub(crate) fn new(
        backends: &'a [Choice],
        names: Option<&[&str]>,
        operators: Option<&[&str]>,
        sizes: &[usize],
        seconds: Option<f64>,
    ) -> Plan<'a> {
        let listed = |list: Option<&[&str]>, name: &str| list.is_none_or(|list| list.contains(&name));
        let chosen = |line: &&(usize, (&str, &str, usize))| listed(names, line.1.0) && listed(operators, line.1.1);
        let lines: Vec<_> = LINES.iter().copied().enumerate().collect();
        let scenarios = lines.iter().filter(chosen).flat_map(|&(k, (_, _, largest))| {
            sizes.iter().filter(move |size| **size <= largest).map(move |size| (k, *size))
        });
        Plan { backends, scenarios: scenarios.collect(), seconds }
    }
}

/// What came out.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// All measurements.
    pub(crate) table: Table,
    /// One sentence per wrong derivative or failed measurement.
    pub(crate) failures: Vec<String>,
    /// Number of checks that were made.
    pub(crate) checks: usize,
    /// Pairs of a backend and an operator that it does not have.
    pub(crate) skipped: BTreeSet<String>,
}

/// Runs the plan, with a bar on the terminal.
pub(crate) fn run(plan: &Plan<'_>) -> Outcome {
    let bar = ProgressBar::new((plan.backends.len() * plan.scenarios.len()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut runner = Runner { plan, bar, line: 0, size: 0, outcome: Outcome::default() };
    for &backend in plan.backends {
        for &(line, size) in &plan.scenarios {
            (runner.line, runner.size) = (line, size);
            runner.bar.set_message(format!("{backend}: {} of {}, {size}", LINES[line].1, LINES[line].0));
            if !backend.hand_to(&mut runner) {
                runner.outcome.failures.push(format!("{backend}: this program does not know the backend"));
            }
            runner.bar.inc(1);
        }
    }
    runner.bar.finish_and_clear();
    runner.outcome
}

/// Receives backend and scenario, each of static type.
struct Runner<'a> {
    plan: &'a Plan<'a>,
    bar: ProgressBar,
    line: usize,
    size: usize,
    outcome: Outcome,
}

impl WithBackend for Runner<'_> {
    fn with<B: RunsAll>(&mut self, backend: &B) {
        scenarios::visit(self.line, self.size, backend, self);
    }
}

impl Visitor for Runner<'_> {
    fn visit<O, F, P, B>(&mut self, backend: &B, scenario: Scenario<O, F, P>)
    where
        O: Operator,
        P: OwnedPoint,
        B: Run<O, F, P>,
    {
        let backends = slice::from_ref(backend);
        let tested = test_differentiation(backends, &scenario, &Options::default());
        self.outcome.failures.extend(tested.findings().iter().map(|finding| format!("{finding}, size {}", self.size)));
        for count in tested.counts() {
            self.outcome.checks += count.checks;
            if count.skipped > 0 {
                let reasons: Vec<_> = count.reasons.iter().map(|(reason, _)| reason.as_str()).collect();
                self.outcome.skipped.insert(format!("{}: {} ({})", count.backend, O::NAME, reasons.join(", ")));
            }
        }
    }
}
