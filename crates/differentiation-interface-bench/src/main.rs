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
mod names;
mod output;
mod run;
mod scenarios;
mod suite;

use arguments::{Arguments, Command, Compare, Figure2, Suite};
use clap::Parser;
use differentiation_interface_test::report::Plot;
use differentiation_interface_test::{CountingAllocator, OPERATORS};
use run::{Outcome, Plan};
use std::error::Error;
use std::process::ExitCode;

/// Counts what backends allocate.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Something was wrong with derivatives or measurements.
const WRONG: u8 = 1;
/// Something was wrong with the command line or with files.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let failures = match &arguments.command {
        Some(Command::Figure2(figure)) => figure2(figure),
        Some(Command::Suite(chosen)) => suite(chosen),
        None if arguments.compare.list => Ok(list()),
        None => compare(&arguments.compare),
    };
    match failures {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("error: {failures} failures, listed above");
            ExitCode::from(WRONG)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Prints what there is; nothing of it fails.
fn list() -> usize {
    println!("backends");
    for (form, what) in choice::FORMS {
        println!("  {form:<26} {what}");
    }
    println!("operators\n  {}", OPERATORS.join(", "));
    println!("scenarios");
    for (name, formula) in scenarios::NAMES.into_iter().zip(scenarios::FORMULAS) {
        let operators = scenarios::LINES.iter().filter(|line| line.0 == name).map(|line| line.1);
        println!("  {name:<12} {formula}\n  {:<12} {}", "", operators.collect::<Vec<_>>().join(", "));
    }
    0
}

/// Checks the backends on the suite; returns the number of failures.
fn suite(arguments: &Suite) -> Result<usize, Box<dyn Error>> {
    let operators = arguments.operators.as_ref().map(|list| list.0.as_slice());
    let mut failures = 0;
    for &backend in &arguments.backends.0 {
        let outcome = suite::check(backend, operators)
            .ok_or_else(|| format!("{backend} does not have all operators, as the suite needs; see --list"))?;
        print!("{outcome}");
        outcome.findings().iter().for_each(|finding| println!("failed: {finding}"));
        failures += outcome.findings().len();
    }
    Ok(failures)
}

/// Runs a plan and prints what came out.
fn execute(plan: &Plan<'_>) -> Result<Outcome, Box<dyn Error>> {
    for left_out in &plan.left_out {
        eprintln!("left out: {left_out}");
    }
    if plan.scenarios.is_empty() {
        return Err("no scenario has these names, operators and sizes; see --list".into());
    }
    let outcome = run::run(plan);
    if outcome.checks == 0 && outcome.table.is_empty() {
        return Err("none of the backends has these operators; see --list".into());
    }
    if !outcome.table.is_empty() {
        println!("{}", outcome.table);
    }
    println!("{} checks of derivatives, {} failures", outcome.checks, outcome.table.failures().count());
    for skipped in &outcome.skipped {
        println!("skipped: {}: {} ({})", skipped.backend, skipped.operators.join(", "), skipped.reason);
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
    let outcome = execute(&plan)?;
    if let Some(folder) = &common.out {
        for file in output::write(folder, &outcome.table, "Comparison of differentiation backends")? {
            println!("wrote {}", file.display());
        }
    }
    Ok(outcome.table.failures().count())
}

/// Draws Figure 2; returns the number of failures.
fn figure2(arguments: &Figure2) -> Result<usize, Box<dyn Error>> {
    let common = &arguments.common;
    let plan =
        Plan::new(&common.backends.0, Some(&["norm2"]), Some(&["gradient"]), &arguments.sizes.0, Some(common.seconds));
    let outcome = execute(&plan)?;
    if let Some(folder) = &common.out {
        let mut files = output::write(folder, &outcome.table, "Gradient of f(x) = ||x||²")?;
        let figure = outcome.table.filter(|row| row.variant == "gradient_into");
        let plot = Plot::time_against_size(&figure).title("Gradient of f(x) = ||x||²");
        files.extend(output::draw(&plot, folder, "figure2")?);
        for file in files {
            println!("wrote {}", file.display());
        }
    }
    Ok(outcome.table.failures().count())
}
