//! The command line.
//!
//! Read by `main.rs`, which passes it to the commands; `names.rs` resolves names.

use crate::choice::Choice;
use crate::{names, scenarios};
use clap::{Args, Parser, Subcommand};
use differentiation_interface_test::OPERATORS;
use std::path::PathBuf;

/// Compares differentiation backends: checks their derivatives, times them, and draws the results.
///
/// Exits with 1 if a derivative is wrong or a measurement fails, with 2 if the command line is wrong.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) compare: Compare,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draws the time of gradients of f(x) = ||x||² against the length of x, as Figure 2 of Dalle and Hill's paper does.
    Figure2(Figure2),
    /// Checks backends on all scenarios of the test kit, and prints how many there were.
    Suite(Suite),
}

/// A list, parsed as one argument.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

fn backends(text: &str) -> Result<List<Choice>, String> {
    names::backends(text).map(List)
}
fn operators(text: &str) -> Result<List<&'static str>, String> {
    names::known(text, "operator", &OPERATORS).map(List)
}
fn scenarios(text: &str) -> Result<List<&'static str>, String> {
    names::known(text, "scenario", &scenarios::NAMES).map(List)
}
fn sizes(text: &str) -> Result<List<usize>, String> {
    names::sizes(text).map(List)
}
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0 to 3600".to_owned()),
    }
}

/// The arguments of both commands.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Backends, such as "ForwardDiff, FiniteDiff(scheme=central), SecondOrder(ForwardDiff, ReverseDiff)".
    #[arg(long, value_name = "LIST", value_parser = backends, default_value = "ForwardDiff, ReverseDiff, FiniteDiff")]
    pub(crate) backends: List<Choice>,
    /// Folder for the table (CSV, JSON, Markdown), the plots (SVG, PNG) and the page (HTML); made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Time of each measurement, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.2")]
    pub(crate) seconds: f64,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Operators, such as "gradient, hvp"; all by default.
    #[arg(long, value_name = "LIST", value_parser = operators)]
    pub(crate) operators: Option<List<&'static str>>,
    /// Scenarios, such as "norm2, rosenbrock"; all by default.
    #[arg(long, value_name = "LIST", value_parser = scenarios)]
    pub(crate) scenarios: Option<List<&'static str>>,
    /// Lengths of the points.
    #[arg(long, value_name = "LIST", value_parser = sizes, default_value = "10, 100")]
    pub(crate) sizes: List<usize>,
    /// Checks the derivatives and times nothing.
    #[arg(long)]
    pub(crate) check_only: bool,
    /// Lists backends, operators and scenarios, and does nothing else.
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Figure2 {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Lengths of the points.
    #[arg(long, value_name = "LIST", value_parser = sizes, default_value = "10, 100, 1000, 10000")]
    pub(crate) sizes: List<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Suite {
    /// Backends that support all operators, such as "ForwardDiff(chunk=4), FiniteDiff(scheme=central)".
    #[arg(long, value_name = "LIST", value_parser = backends, default_value = "ForwardDiff, ReverseDiff, FiniteDiff")]
    pub(crate) backends: List<Choice>,
    /// Operators, such as "gradient, hvp"; all by default.
    #[arg(long, value_name = "LIST", value_parser = operators)]
    pub(crate) operators: Option<List<&'static str>>,
}
