//! A survey of engines: what each one gets right, gets wrong and refuses, operator by operator.
//!
//! Called by users and by the survey of all engines; makes the same checks as [`test_differentiation`](crate::test_differentiation), and collects
//! instead of failing. `print` writes it as Markdown and HTML.

mod print;
#[cfg(test)]
mod tests;

use crate::allocation::counts_allocations;
use crate::benchmark::caught;
use crate::candidate::Candidate;
use crate::check::{Options, run_session};
use crate::driver::{Driver, Facts, Task};
use crate::list::Backends;
use crate::outcome::{Check, Finding};
use crate::table::{Table, by_time};

/// What an engine does with an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every scenario that it accepts passes all checks.
    Right,
    /// A check of a scenario fails.
    Wrong,
    /// It accepts no scenario.
    Refused,
}

/// One engine with one operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The engine.
    pub engine: String,
    /// The operator.
    pub operator: &'static str,
    /// Scenarios that were run to the end of their checks, or to the first wrong result.
    pub scenarios: usize,
    /// Checks that were made.
    pub checks: usize,
    /// Checks that failed.
    pub findings: Vec<Finding>,
    /// Scenarios that the engine does not support or answers by an error: the reasons, each with its number of scenarios.
    pub refused: Vec<(String, usize)>,
    /// Seconds of a prepared call, and its allocations, if [`Survey::add_costs`] found a measurement.
    pub cost: Option<(f64, Option<f64>)>,
}

impl Cell {
    /// Right, wrong, or refused.
    pub fn verdict(&self) -> Verdict {
        match (self.scenarios, self.findings.is_empty()) {
            (0, true) => Verdict::Refused,
            (_, true) => Verdict::Right,
            (_, false) => Verdict::Wrong,
        }
    }

    /// The number of scenarios in which a check failed.
    pub fn wrong_scenarios(&self) -> usize {
        let new = |(i, finding): &(usize, &Finding)| {
            self.findings[..*i].iter().all(|before| before.scenario != finding.scenario)
        };
        self.findings.iter().enumerate().filter(new).count()
    }
}

/// What engines do with operators, made by [`survey`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[differentiable]
/// fn norm2(x: &[f64]) -> f64 {
///     x.iter().map(|v| v * v).sum()
/// }
/// let scenarios = (Scenario::gradient(Norm2, vec![1.0, 2.0]), Scenario::hvp(Norm2, vec![1.0, 2.0], [vec![1.0, 0.0]]));
/// let outer_only = second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
/// let survey = survey(&(AutoForwardDiff::default(), outer_only), &scenarios, &Options::default());
/// assert_eq!(survey.cell("forward_diff", "gradient").unwrap().verdict(), Verdict::Right);
/// assert_eq!(survey.engines()[1], "second_order(forward_diff, reverse_diff)");
/// assert_eq!(survey.cell(survey.engines()[1], "gradient").unwrap().verdict(), Verdict::Refused);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "print it by `to_markdown` or `to_html`"]
pub struct Survey {
    cells: Vec<Cell>,
}

/// Runs every scenario with every engine and returns what each one does. Unlike [`test_differentiation`](crate::test_differentiation) it goes on
/// after a panic of an engine, which counts as a finding.
///
/// An error of an operator is a refusal. The engines of one survey should have different [labels](Candidate::label).
pub fn survey<L, S>(engines: &L, scenarios: &S, options: &Options) -> Survey
where
    L: Backends<S> + ?Sized,
    S: ?Sized,
{
    let mut surveyor = Surveyor { options, survey: Survey::default() };
    engines.visit_all(scenarios, &mut surveyor);
    surveyor.survey
}

impl Survey {
    /// All cells, in the order in which they were met.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// One cell; `None` if the engine was not run with the operator.
    pub fn cell(&self, engine: &str, operator: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.engine == engine && cell.operator == operator)
    }

    /// The engines, in the order in which they were met.
    pub fn engines(&self) -> Vec<&str> {
        let mut engines: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !engines.contains(&cell.engine.as_str()) {
                engines.push(&cell.engine);
            }
        }
        engines
    }

    /// All findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.cells.iter().flat_map(|cell| &cell.findings)
    }

    /// Adds another survey. Cells of the same engine and operator are united.
    pub fn add(&mut self, other: Survey) {
        for new in other.cells {
            let cell = self.cell_mut(&new.engine, new.operator);
            cell.scenarios += new.scenarios;
            cell.checks += new.checks;
            cell.findings.extend(new.findings);
            for (reason, count) in new.refused {
                refuse(cell, &reason, count);
            }
            cell.cost = cell.cost.or(new.cost);
        }
    }

    /// Adds the time and the allocations of prepared calls from a benchmark of the same engines: those of the fastest row of each engine
    /// and operator.
    pub fn add_costs(&mut self, table: &Table) {
        for cell in &mut self.cells {
            let rows = table.rows.iter().filter(|row| {
                (&row.backend, row.operator.as_str(), row.prepared) == (&cell.engine, cell.operator, Some(true))
            });
            if let Some(row) = rows.filter(|row| !row.failed()).min_by(|a, b| by_time(a, b)) {
                cell.cost = Some((row.time, row.allocs));
            }
        }
    }

    fn cell_mut(&mut self, engine: &str, operator: &'static str) -> &mut Cell {
        let at = self.cells.iter().position(|cell| cell.engine == engine && cell.operator == operator);
        let at = at.unwrap_or_else(|| {
            self.cells.push(Cell {
                engine: engine.to_string(),
                operator,
                scenarios: 0,
                checks: 0,
                findings: Vec::new(),
                refused: Vec::new(),
                cost: None,
            });
            self.cells.len() - 1
        });
        &mut self.cells[at]
    }
}

/// Counts scenarios that an engine refuses.
fn refuse(cell: &mut Cell, reason: &str, count: usize) {
    match cell.refused.iter_mut().find(|(known, _)| known == reason) {
        Some((_, n)) => *n += count,
        None => cell.refused.push((reason.to_string(), count)),
    }
}

/// The task that surveys.
struct Surveyor<'a> {
    options: &'a Options,
    survey: Survey,
}

impl Task for Surveyor<'_> {
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        let label = backend.label();
        let run = caught(|| Ok(run_session(backend, facts, driver, self.options, counts_allocations())));
        let cell = self.survey.cell_mut(&label, facts.operator);
        let (findings, checks) = run.unwrap_or_else(|detail| {
            let (scenario, call) = (facts.scenario.clone(), facts.operator.to_string());
            let backend = label.clone();
            (vec![Finding { backend, operator: facts.operator, scenario, check: Check::Error, call, detail }], 1)
        });
        cell.checks += checks;
        // The first call returned an error: the engine refuses the scenario.
        if let [Finding { check: Check::Error, detail, .. }] = &findings[..]
            && let Some(error) = detail.strip_prefix("it returned the error `")
        {
            return refuse(cell, error.trim_end_matches('`'), 1);
        }
        cell.scenarios += 1;
        cell.findings.extend(findings);
    }

    fn skip(&mut self, backend: &dyn Candidate, _: &str, operator: &'static str, reason: &str) {
        refuse(self.survey.cell_mut(&backend.label(), operator), reason, 1);
    }
}
