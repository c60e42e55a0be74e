//! The checks, written once against [`Driver`].
//!
//! Called by users through [`test_differentiation`].

mod answer;
mod compare;
mod options;
mod run;
mod session;

pub use options::Options;

use crate::allocation::counts_allocations;
use crate::candidate::Candidate;
use crate::driver::{Driver, Facts, Task};
use crate::list::Backends;
use crate::outcome::{Finding, Outcome};
use session::{Reference, Session};

/// Runs every scenario with every backend, in all variants and with every [`Check`](crate::Check), and returns the findings.
///
/// Usable inside `#[test]`: [`Outcome::assert`] prints how much was checked and fails with one line per finding. Backends
/// skip the scenarios that they do not support; the counts show how many.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// fn rotate<T: Real>(x: &[T]) -> [T; 2] {
///     [x[0] * x[1], x[0] + x[1]]
/// }
/// # struct Rotate;
/// # impl<T: Real> Function<[T]> for Rotate { type Output = [T; 2]; fn call(&self, x: &[T]) -> [T; 2] { rotate(x) } }
/// let scenario = Scenario::jacobian(Rotate, vec![2.0, 5.0]).named("rotate").expecting([5.0, 2.0, 1.0, -1.0]);
/// let outcome = test_differentiation(&(AutoForwardDiff::default(),), &scenario, &Options::default());
/// assert_eq!(
///     outcome.findings()[0].to_string(),
///     "forward_diff: jacobian of rotate: [1,1] is 1, expected -1 (tolerance 5e-12) [result: jacobian]"
/// );
/// ```
pub fn test_differentiation<L, S>(backends: &L, scenarios: &S, options: &Options) -> Outcome
where
    L: Backends<S> + ?Sized,
    S: ?Sized,
{
    let mut checker = Checker { options, outcome: Outcome::default() };
    checker.outcome.allocations_counted = counts_allocations();
    backends.visit_all(scenarios, &mut checker);
    checker.outcome
}

/// All findings of one scenario with one backend, and the number of checks made.
pub(crate) fn run_session(
    backend: &dyn Candidate,
    facts: &Facts,
    driver: &mut dyn Driver,
    options: &Options,
    allocations_counted: bool,
) -> (Vec<Finding>, usize) {
    let mut findings = Vec::new();
    let mut session = Session {
        label: &backend.label(),
        options,
        allocations_counted,
        tolerance: [backend.tolerance(1), backend.tolerance(2)],
        facts,
        driver,
        findings: &mut findings,
        checks: 0,
        reference: Reference::default(),
    };
    // A wrong result ends the session early and is already recorded.
    let _ = session.run();
    let checks = session.checks;
    (findings, checks)
}

/// The findings of one scenario with one backend.
pub(crate) fn findings_of(
    backend: &dyn Candidate,
    facts: &Facts,
    driver: &mut dyn Driver,
    options: &Options,
) -> Vec<Finding> {
    run_session(backend, facts, driver, options, counts_allocations()).0
}

/// Whether two results agree, relative to the largest entry.
pub(crate) fn agree_within(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let allowed = compare::allowed(a, tolerance).max(compare::allowed(b, tolerance));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compare::agree(*a, *b, allowed))
}

/// The task that runs the checks.
struct Checker<'a> {
    options: &'a Options,
    outcome: Outcome,
}

impl Task for Checker<'_> {
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        if self.options.operators_excluded.iter().any(|operator| operator == facts.operator) {
            return self.skip(backend, &facts.scenario, facts.operator, "operator excluded");
        }
        let label = backend.label();
        let (findings, checks) = run_session(backend, facts, driver, self.options, self.outcome.allocations_counted);
        self.outcome.findings.extend(findings);
        let count = self.outcome.count(label);
        count.scenarios += 1;
        count.checks += checks;
    }

    fn skip(&mut self, backend: &dyn Candidate, _: &str, _: &'static str, reason: &str) {
        let count = self.outcome.count(backend.label());
        count.skipped += 1;
        match count.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, n)) => *n += 1,
            None => count.reasons.push((reason.to_string(), 1)),
        }
    }
}
