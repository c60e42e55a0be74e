//! `differentiation-interface-bench`: compares the backends of `differentiation-interface` on built-in scenarios, checks their
//! derivatives, times them, and draws the results.
//!
//! ```text
//! differentiation-interface-bench --list
//! differentiation-interface-bench --backends "ForwardDiff, ReverseDiff" --operators gradient --sizes 10,1000 --out results
//! differentiation-interface-bench figure2 --out results
//! ```

mod arguments;
mod choice;
mod console;
mod names;
mod output;
mod run;
mod runs_suite;
mod scenarios;
mod suite;

use arguments::{Arguments, Command, Compare, Figure2, Suite};
use clap::Parser;
use console::{Closed, print, print_note};
use differentiation_interface_test::report::Plot;
use differentiation_interface_test::{CountingAllocator, OPERATORS};
use run::{Outcome, Plan, Skipped};
use std::error::Error;
use std::process::ExitCode;

/// Counts the allocations of backends.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A derivative is wrong, or a measurement failed.
const WRONG: u8 = 1;
/// The command line or a file cannot be used.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let failures = match &arguments.command {
        Some(Command::Figure2(figure)) => figure2(figure),
        Some(Command::Suite(chosen)) => suite(chosen),
        None if arguments.compare.list => list(),
        None => compare(&arguments.compare),
    };
    match failures {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            print_note(format_args!("error: {failures} failures, listed above"));
            ExitCode::from(WRONG)
        }
        Err(error) => {
            if !error.is::<Closed>() {
                print_note(format_args!("error: {error}"));
            }
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Prints the lists; returns no failures.
fn list() -> Result<usize, Box<dyn Error>> {
    print(format_args!("backends\n"))?;
    for (form, what) in choice::FORMS {
        print(format_args!("  {form:<26} {what}\n"))?;
    }
    print(format_args!("operators\n  {}\nscenarios\n", OPERATORS.join(", ")))?;
    for (name, formula) in scenarios::NAMES.into_iter().zip(scenarios::FORMULAS) {
        let operators = scenarios::LINES.iter().filter(|line| line.0 == name).map(|line| line.1);
        let operators = operators.collect::<Vec<_>>().join(", ");
        print(format_args!("  {name:<12} {formula}\n  {:<12} {operators}\n", ""))?;
    }
    Ok(0)
}

/// Checks the backends on the suite; returns the number of failures.
fn suite(arguments: &Suite) -> Result<usize, Box<dyn Error>> {
    let operators = arguments.operators.as_ref().map(|list| list.0.as_slice());
    let mut failures = 0;
    for &backend in &arguments.backends.0 {
        let outcome = suite::check(backend, operators)
            .ok_or_else(|| format!("{backend} does not have all operators, as the suite needs; see --list"))?;
        print(format_args!("{outcome}"))?;
        for finding in outcome.findings() {
            print(format_args!("failed: {finding}\n"))?;
        }
        failures += outcome.findings().len();
    }
    Ok(failures)
}

/// Runs a plan and prints its outcome.
fn execute(plan: &Plan<'_>) -> Result<Outcome, Box<dyn Error>> {
    for left_out in &plan.left_out {
        print_note(format_args!("left out: {left_out}"));
    }
    if plan.scenarios.is_empty() {
        return Err("no scenario has these names, operators and sizes; see --list".into());
    }
    let outcome = run::run(plan);
    let skipped =
        |skipped: &Skipped| format!("{}: {} ({})", skipped.backend, skipped.operators.join(", "), skipped.reason);
    if outcome.checks == 0 && outcome.table.is_empty() {
        let causes: Vec<_> = outcome.skipped.iter().map(skipped).collect();
        return Err(format!("nothing could be run: {}; see --list", causes.join("; ")).into());
    }
    if !outcome.table.is_empty() {
        print(format_args!("{}\n", outcome.table))?;
    }
    let failures = outcome.table.failures().count();
    print(format_args!("{} checks of derivatives, {failures} failures\n", outcome.checks))?;
    for left_out in &outcome.skipped {
        print(format_args!("skipped: {}\n", skipped(left_out)))?;
    }
    Ok(outcome)
}

/// Runs the chosen scenarios on the chosen backends; returns the number of failures.
fn compare(arguments: &Compare) -> Result<usize, Box<dyn Error>> {
    let common = &arguments.common;
    let names = arguments.scenarios.as_ref().map(|list| list.0.as_slice());
    let operators = arguments.operators.as_ref().map(|list| list.0.as_slice());
    let seconds = (!arguments.check_only).then_some(common.seconds);
    let plan = Plan::new(&common.backends.0, names, operators, &arguments.sizes.0, seconds);
    common.out.as_deref().map_or(Ok(()), output::check)?;
    let outcome = execute(&plan)?;
    if let Some(folder) = &common.out {
        for file in output::write(folder, &outcome.table, "Comparison of differentiation backends")? {
            print(format_args!("wrote {}\n", file.display()))?;
        }
    }
    Ok(outcome.table.failures().count())
}

/// Draws Figure 2; returns the number of failures.
fn figure2(arguments: &Figure2) -> Result<usize, Box<dyn Error>> {
    let common = &arguments.common;
    let plan =
        Plan::new(&common.backends.0, Some(&["norm2"]), Some(&["gradient"]), &arguments.sizes.0, Some(common.seconds));
    common.out.as_deref().map_or(Ok(()), output::check)?;
    let outcome = execute(&plan)?;
    if let Some(folder) = &common.out {
        let mut files = output::write(folder, &outcome.table, "Gradient of f(x) = ||x||²")?;
        let figure = outcome.table.filter(|row| row.variant == "gradient_into");
        let plot = Plot::time_against_size(&figure).title("Gradient of f(x) = ||x||²");
        files.extend(output::draw(&plot, folder, "figure2")?);
        for file in files {
            print(format_args!("wrote {}\n", file.display()))?;
        }
    }
    Ok(outcome.table.failures().count())
}
