//! Times scenarios: one row per variant, prepared and not, and for the preparation itself.
//!
//! Called by users and by [`pick_fastest`](crate::pick_fastest); makes the rows of a [`Table`].

use crate::allocation::{allocated_bytes, allocations, counts_allocations};
use crate::candidate::Candidate;
use crate::check::{Options, findings_of};
use crate::driver::{At, Call, Driver, Facts, Task, Variant};
use crate::list::Backends;
use crate::scenario::Place;
use crate::table::{Row, Table};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The scenario that is measured next, for progress bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Number of scenarios measured so far, over all backends.
    pub done: usize,
    /// The backend.
    pub backend: String,
    /// The scenario.
    pub scenario: String,
    /// The operator.
    pub operator: &'static str,
}

/// The settings of [`benchmark_differentiation`].
pub struct BenchmarkOptions<'a> {
    seconds: f64,
    unprepared: bool,
    preparation: bool,
    checked: bool,
    operators_excluded: Vec<String>,
    progress: Option<RefCell<Box<dyn FnMut(&Progress) + 'a>>>,
}

impl Default for BenchmarkOptions<'_> {
    /// Prepared calls, a fifth of a second for each row, checked before.
    fn default() -> Self {
        BenchmarkOptions {
            seconds: 0.2,
            unprepared: false,
            preparation: false,
            checked: true,
            operators_excluded: Vec::new(),
            progress: None,
        }
    }
}

impl<'a> BenchmarkOptions<'a> {
    /// Prepared and unprepared calls, and the preparation: five rows for each scenario.
    pub fn full() -> Self {
        BenchmarkOptions { unprepared: true, preparation: true, ..Self::default() }
    }
    /// Sets the total time of the samples of a row in seconds, as far as 3 samples allow.
    pub fn seconds(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }
    /// Skips the checks before the measurements; a wrong derivative is then timed like a right one.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
    /// Skips the scenarios of an operator.
    pub fn excluding(mut self, operator: &str) -> Self {
        self.operators_excluded.push(operator.to_string());
        self
    }
    /// Calls `progress` before each scenario with each backend.
    pub fn on_progress(mut self, progress: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(RefCell::new(Box::new(progress)));
        self
    }
}

/// Measures every scenario with every backend that supports it, and returns one row per measurement.
///
/// Rows come in this order: the variant with value, prepared; the plain variant, prepared; the preparation; and both variants
/// unprepared. The variants write into buffers, unless the scenario is restricted to those that return. A wrong derivative,
/// an error of the operator and a panic of the function give rows with an `error` and no times.
///
/// A sample is a loop of calls that takes at least half a millisecond; a row has from 3 to 101 samples. Allocations are
/// counted if [`CountingAllocator`](crate::CountingAllocator) is installed.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[differentiable]
/// fn norm2(x: &[f64]) -> f64 {
///     x.iter().map(|v| v * v).sum()
/// }
/// let backends = (AutoForwardDiff::default(), AutoReverseDiff::default());
/// let scenario = Scenario::gradient(Norm2, vec![1.0; 100]);
/// let table = benchmark_differentiation(&backends, &scenario, &BenchmarkOptions::full().seconds(0.01));
/// assert_eq!(table.len(), 10);
/// let prepared = table.filter(|row| row.variant == "gradient_into" && row.prepared == Some(true));
/// let calls: Vec<Option<f64>> = prepared.rows.iter().map(|row| row.calls).collect();
/// assert_eq!(calls, [Some(9.0), Some(1.0)]); // 100 inputs in chunks of 12, and one recording
/// ```
pub fn benchmark_differentiation<L, S>(backends: &L, scenarios: &S, options: &BenchmarkOptions<'_>) -> Table
where
    L: Backends<S> + ?Sized,
    S: ?Sized,
{
    let mut stopwatch = Stopwatch { options, table: Table::default(), done: 0, counts: counts_allocations() };
    backends.visit_all(scenarios, &mut stopwatch);
    stopwatch.table
}

/// The task that measures.
struct Stopwatch<'a, 'p> {
    options: &'a BenchmarkOptions<'p>,
    table: Table,
    done: usize,
    counts: bool,
}

impl Task for Stopwatch<'_, '_> {
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        if self.options.operators_excluded.iter().any(|operator| operator == facts.operator) {
            return;
        }
        if let Some(progress) = &self.options.progress {
            let (scenario, operator) = (facts.scenario.clone(), facts.operator);
            (*progress.borrow_mut())(&Progress { done: self.done, backend: backend.label(), scenario, operator });
        }
        self.done += 1;
        let failed = |error: String| Row {
            size: facts.inputs,
            prepared: Some(true),
            error: Some(error),
            ..named_row(backend, facts, variants(facts)[1])
        };
        if self.options.checked {
            let checked = caught(|| Ok(findings_of(backend, facts, driver, &Options::default())));
            let error = match checked {
                Ok(findings) => findings.first().map(|finding| format!("{} [{}]", finding.detail, finding.check)),
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                return self.table.rows.push(failed(error));
            }
        }
        for measurement in measurements(facts, self.options) {
            self.table.rows.push(measure(backend, facts, driver, measurement, self.options.seconds, self.counts));
        }
    }
    fn skip(&mut self, _: &dyn Candidate, _: &str, _: &'static str, _: &str) {}
}

/// What a row measures.
#[derive(Clone, Copy)]
pub(crate) enum Measurement {
    Calls(Call, Variant),
    Preparation,
}

/// The variants that are measured, with and without value.
fn variants(facts: &Facts) -> [Variant; 2] {
    match facts.place {
        Place::Out => [Variant::ValueAnd, Variant::Plain],
        Place::Into | Place::Both => [Variant::ValueAndInto, Variant::Into],
    }
}

fn measurements(facts: &Facts, options: &BenchmarkOptions<'_>) -> Vec<Measurement> {
    let calls = |call| variants(facts).map(|variant| Measurement::Calls(call, variant));
    let mut all = calls(Call::Prepared).to_vec();
    if options.preparation {
        all.push(Measurement::Preparation);
    }
    if options.unprepared {
        all.extend(calls(Call::OneShot));
    }
    all
}

fn named_row(backend: &dyn Candidate, facts: &Facts, variant: Variant) -> Row {
    Row::new(backend.label(), facts.scenario.clone(), facts.operator, variant.entry(facts.operator))
}

/// Runs `work`; a panic inside becomes an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(format!("the function panicked: {}", message.unwrap_or_default()))
    })
}

/// Measures one row.
pub(crate) fn measure(
    backend: &dyn Candidate,
    facts: &Facts,
    driver: &mut dyn Driver,
    measurement: Measurement,
    seconds: f64,
    counts: bool,
) -> Row {
    let mut row = match measurement {
        Measurement::Calls(call, variant) => {
            Row { prepared: Some(call == Call::Prepared), ..named_row(backend, facts, variant) }
        }
        Measurement::Preparation => {
            let name = format!("prepare_{}", facts.operator);
            Row::new(backend.label(), facts.scenario.clone(), facts.operator, name)
        }
    };
    row.size = facts.inputs;
    let result = caught(|| {
        let work = |driver: &mut dyn Driver, times: usize| {
            match measurement {
                Measurement::Calls(call, variant) => driver.repeat(call, variant, times),
                Measurement::Preparation => driver.prepare(At::Point, times),
            }
            .map_err(|error| error.to_string())
        };
        driver.prepare(At::Point, 1).map_err(|error| error.to_string())?;
        work(driver, 1)?;
        let (calls, allocated, bytes) = (driver.calls(), allocations(), allocated_bytes());
        work(driver, 1)?;
        row.calls = Some((driver.calls() - calls) as f64);
        if counts {
            row.allocs = Some((allocations() - allocated) as f64);
            row.bytes = Some((allocated_bytes() - bytes) as f64);
        }
        let mut timed = |times: usize| {
            let start = Instant::now();
            work(driver, times).map(|()| start.elapsed().as_secs_f64())
        };
        // Double the length of the loop until it is long enough for the clock.
        let mut evals = 1;
        while timed(evals)? < 5e-4 && evals < 1 << 30 {
            evals *= 2;
        }
        let start = Instant::now();
        let mut samples = Vec::with_capacity(101);
        while samples.len() < 3 || (samples.len() < 101 && start.elapsed().as_secs_f64() < seconds) {
            samples.push(timed(evals)? / evals as f64);
        }
        Ok((samples, evals))
    });
    match result {
        Ok((mut samples, evals)) => {
            samples.sort_by(f64::total_cmp);
            let at = |part: f64| samples[((samples.len() - 1) as f64 * part).round() as usize];
            [row.time, row.quantile_10, row.median, row.quantile_90] = [0.0, 0.1, 0.5, 0.9].map(at);
            (row.samples, row.evals) = (samples.len(), evals);
        }
        Err(error) => row.error = Some(error),
    }
    row
}
