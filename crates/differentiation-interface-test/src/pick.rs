//! Picks a backend: the fastest of those that agree, on the user's own function.
//!
//! Called by users; checks as [`test_differentiation`](crate::test_differentiation) does and measures as
//! [`benchmark_differentiation`](crate::benchmark_differentiation) does.

use crate::allocation::counts_allocations;
use crate::benchmark::{Measurement, caught, measure};
use crate::candidate::Candidate;
use crate::check::{Options, agree_within, findings_of};
use crate::driver::{At, Call, Driver, Facts, Results, Task, Variant};
use crate::list::Backends;
use crate::point::OwnedPoint;
use crate::scenario::Scenario;
use crate::table::{Row, Table};
use std::fmt;

/// The backend that [`pick_fastest`] chose, with its findings about all.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The fastest of the backends that agree, by the median: its position in the list, and its row. `None` if there is
    /// none.
    pub fastest: Option<(usize, Row)>,
    /// The rows of all backends that agree, fastest first.
    pub table: Table,
    /// The backends that were rejected, and why: they do not support the operator, return an error, panic, fail a check, or
    /// disagree with the others.
    pub rejected: Vec<(String, String)>,
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.table.rows {
            writeln!(f, "{}: {:.3e} s, {} calls of the function", row.backend, row.median, row.calls.unwrap_or(0.0))?;
        }
        for (backend, reason) in &self.rejected {
            writeln!(f, "{backend}: not considered, {reason}")?;
        }
        Ok(())
    }
}

/// Tries all backends on a function, operator and typical point, checks them against each other, and returns the fastest by
/// the time of a prepared call into a buffer.
///
/// Each backend first has to pass the checks of [`test_differentiation`](crate::test_differentiation). The results of those that do are compared,
/// and the largest group that agrees is considered (of groups of equal size, that of the backend named first). Each
/// measurement takes `seconds`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[differentiable]
/// fn norm2(x: &[f64]) -> f64 {
///     x.iter().map(|v| v * v).sum()
/// }
/// let backends = (AutoForwardDiff::default(), AutoReverseDiff::default(), AutoFiniteDiff::central());
/// let pick = pick_fastest(&backends, &Scenario::gradient(Norm2, vec![0.5; 200]), 0.02);
/// let (position, row) = pick.fastest.unwrap();
/// assert_eq!((position, row.backend.as_str()), (1, "reverse_diff")); // one pass instead of 17 or 400
/// assert_eq!(pick.table.len(), 3);
/// ```
pub fn pick_fastest<L, O, F, P>(backends: &L, scenario: &Scenario<O, F, P>, seconds: f64) -> Pick
where
    P: OwnedPoint,
    L: Backends<Scenario<O, F, P>> + ?Sized,
{
    let mut trial = Trial { seconds, counts: counts_allocations(), seen: 0, entries: Vec::new(), rejected: Vec::new() };
    backends.visit_all(scenario, &mut trial);
    let Trial { entries, mut rejected, .. } = trial;
    // The largest group that agrees with one of its members.
    let agreeing: Vec<Vec<usize>> = (0..entries.len())
        .map(|i| (0..entries.len()).filter(|&j| entries[i].agrees_with(&entries[j])).collect())
        .collect();
    let group = agreeing.iter().rev().max_by_key(|group| group.len()).cloned().unwrap_or_default();
    let mut chosen = Vec::new();
    for (k, entry) in entries.into_iter().enumerate() {
        if group.contains(&k) {
            chosen.push(entry);
        } else {
            rejected.push((entry.row.backend, "its result disagrees with that of the others".to_string()));
        }
    }
    chosen.sort_by(|a, b| a.row.median.total_cmp(&b.row.median));
    Pick {
        fastest: chosen.first().map(|entry| (entry.position, entry.row.clone())),
        table: chosen.into_iter().map(|entry| entry.row).collect(),
        rejected,
    }
}

/// A backend that passed the checks.
struct Entry {
    position: usize,
    results: Results,
    tolerance: f64,
    row: Row,
}

impl Entry {
    fn agrees_with(&self, other: &Entry) -> bool {
        let tolerance = self.tolerance.max(other.tolerance);
        let (a, b) = (&self.results, &other.results);
        agree_within(&a.first, &b.first, tolerance) && agree_within(&a.second, &b.second, tolerance)
    }
}

/// The task that tries a backend.
struct Trial {
    seconds: f64,
    counts: bool,
    seen: usize,
    entries: Vec<Entry>,
    rejected: Vec<(String, String)>,
}

impl Task for Trial {
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        let position = self.seen;
        self.seen += 1;
        let tried = caught(|| {
            if let Some(finding) = findings_of(backend, facts, driver, &Options::default()).first() {
                return Err(format!("{} [{}]", finding.detail, finding.check));
            }
            driver.call(Call::OneShot, Variant::ValueAnd, At::Point).map_err(|error| error.to_string())?;
            let results = driver.results();
            let measurement = Measurement::Calls(Call::Prepared, Variant::Into);
            let row = measure(backend, facts, driver, measurement, self.seconds, self.counts);
            match row.error {
                Some(error) => Err(error),
                None => Ok((results, row)),
            }
        });
        match tried {
            Ok((results, row)) => {
                // Ten times the error that rounding explains, since both sides may err.
                let tolerance = backend.tolerance(facts.order).unwrap_or(10.0 * facts.tolerance);
                self.entries.push(Entry { position, results, tolerance, row });
            }
            Err(reason) => self.rejected.push((backend.label(), reason)),
        }
    }

    fn skip(&mut self, backend: &dyn Candidate, _: &str, _: &'static str, reason: &str) {
        self.seen += 1;
        self.rejected.push((backend.label(), reason.to_string()));
    }
}
