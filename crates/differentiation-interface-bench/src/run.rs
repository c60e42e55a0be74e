//! The run: every backend on every scenario and size, checked and timed.
//!
//! Called by `main.rs` with a [`Plan`]; checks and measurements are those of the test kit.

use crate::choice::{Choice, WithBackend};
use crate::scenarios::{self, LINES, RunsAll, Visitor};
use differentiation_interface_test::table::{Row, Table};
use differentiation_interface_test::{
    BenchmarkOptions, Finding, Operator, Options, OwnedPoint, Run, Scenario, benchmark_differentiation,
    test_differentiation,
};
use indicatif::{ProgressBar, ProgressStyle};
use std::slice;

/// The work of a run.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The backends.
    pub(crate) backends: &'a [Choice],
    /// Lines of the table of scenarios, with a size each.
    pub(crate) scenarios: Vec<(usize, usize)>,
    /// Scenarios that are left out, because their matrix would be too large.
    pub(crate) left_out: Vec<String>,
    /// Seconds of each measurement; nothing is timed if `None`.
    pub(crate) seconds: Option<f64>,
}

impl<'a> Plan<'a> {
    /// The scenarios with these names, operators and sizes; all of them where there is no list.
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
        let (mut scenarios, mut left_out) = (Vec::new(), Vec::new());
        for &(k, (name, operator, largest)) in lines.iter().filter(chosen) {
            for &size in sizes {
                if size <= largest {
                    scenarios.push((k, size));
                } else {
                    left_out
                        .push(format!("{operator} of {name}, {size}: matrices are compared up to {largest} inputs"));
                }
            }
        }
        Plan { backends, scenarios, left_out, seconds }
    }
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// All measurements; a row with an error for each wrong derivative and failed measurement.
    pub(crate) table: Table,
    /// Number of checks.
    pub(crate) checks: usize,
    /// Backends with the operators that they do not support, and why.
    pub(crate) skipped: Vec<Skipped>,
}

/// Operators that a backend does not support.
#[derive(Debug, PartialEq)]
pub(crate) struct Skipped {
    /// The backend.
    pub(crate) backend: String,
    /// The operators.
    pub(crate) operators: Vec<&'static str>,
    /// What the backend supports instead.
    pub(crate) reason: String,
}

impl Outcome {
    fn skip(&mut self, backend: &str, operator: &'static str, reason: &str) {
        match self.skipped.iter_mut().find(|known| known.backend == backend && known.reason == reason) {
            Some(known) if known.operators.contains(&operator) => {}
            Some(known) => known.operators.push(operator),
            None => {
                let (backend, reason) = (backend.to_owned(), reason.to_owned());
                self.skipped.push(Skipped { backend, operators: vec![operator], reason });
            }
        }
    }
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
                let (name, operator, _) = LINES[line];
                let error = Some("this program does not know the backend".to_owned());
                let row = Row { size, error, ..Row::new(backend.to_string(), name, operator, operator) };
                runner.outcome.table.rows.push(row);
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
        for count in tested.counts() {
            self.outcome.checks += count.checks;
            for (reason, _) in &count.reasons {
                self.outcome.skip(&count.backend, O::NAME, reason);
            }
        }
        if let Some(Finding { backend, check, call, detail, .. }) = tested.findings().first() {
            // A wrong derivative is not timed.
            let row = Row {
                prepared: Some(call.contains("prepared")),
                size: scenario.point().coordinates().len(),
                error: Some(format!("{detail} [{check}]")),
                ..Row::new(backend, scenario.full_name(), O::NAME, call.split(',').next().unwrap_or(call))
            };
            self.outcome.table.rows.push(row);
            return;
        }
        if let Some(seconds) = self.plan.seconds {
            // The derivatives have been checked above.
            let options = BenchmarkOptions::full().seconds(seconds).unchecked();
            self.outcome.table.extend(benchmark_differentiation(backends, &scenario, &options));
        }
    }
}
