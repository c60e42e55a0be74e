//! Times of all engines: Figure 2 of Dalle and Hill's paper (JMLR 2026), prepared calls of each operator for the survey, and the choice
//! of the fastest engine for a function. Build it in release.

use clap::{Parser, Subcommand};
use differentiation_interface_engines::*;
use differentiation_interface_test::families::TensorSum;
use differentiation_interface_test::report::Plot;
use differentiation_interface_test::table::Table;
use differentiation_interface_test::{
    BenchmarkOptions, CountingAllocator, Scenario, benchmark_differentiation, pick_fastest,
};
use std::error::Error;
use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[derive(Parser)]
#[command(about = "Times all engines")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The folder of the files.
    #[arg(long, default_value = "target/survey", global = true)]
    out: PathBuf,
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 0.1, global = true)]
    seconds: f64,
}

#[derive(Subcommand)]
enum Command {
    /// Time of the gradient of ||x||² against the length of x, prepared and not.
    Figure2,
    /// Times and allocations of prepared calls of each operator, for `survey --costs`.
    Costs,
    /// The fastest engine for the gradient of Rosenbrock's function of 50 numbers.
    Pick,
}

#[differentiable]
fn norm2(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

#[differentiable]
fn differences(x: &[f64]) -> Vec<f64> {
    x.windows(2).map(|w| (w[1] - w[0]).sin()).collect()
}

#[differentiable]
fn wave(t: f64) -> f64 {
    t.sin().exp() * (1.0 + t * t).ln()
}

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.5 * (1.7 * i as f64).sin()).collect()
}

/// Rows of Figure 2. Engines that differentiate by one evaluation for each number, without chunks, stop at a thousand.
fn figure2(options: &BenchmarkOptions<'_>) -> Table {
    let mut table = Table::default();
    let sizes = [1, 10, 100, 1000, 10_000];
    let scenarios: Vec<_> = sizes.map(|n| Scenario::gradient(Norm2, point(n)).named("norm2")).into();
    let engines = (
        named("AutoForwardDiff", AutoForwardDiff::default()),
        named("AutoReverseDiff", AutoReverseDiff::default()),
        named("AutoReverseDiff::tape", AutoReverseDiff::tape()),
        named("AutoReverseDiff::compiled", AutoReverseDiff::compiled()),
        named("AutoSymbolic", AutoSymbolic::default()),
        named("AutoFiniteDiff", AutoFiniteDiff::central()),
        named("AutoNumDual", first_order_only(AutoNumDual::default())),
        named("AutoEchidna", first_order_only(AutoEchidna::default())),
        named("AutoEchidnaForward", first_order_only(AutoEchidnaForward::default())),
        named("AutoAdTrait", first_order_only(AutoAdTrait::default())),
    );
    table.extend(benchmark_differentiation(&engines, &scenarios, options));
    let tensors: Vec<_> = sizes.map(|n| Scenario::gradient(TensorSum::Squares, point(n)).named("norm2")).into();
    table.extend(benchmark_differentiation(&(arrays_only("AutoBurn", AutoBurn::default()),), &tensors, options));
    table.extend(benchmark_differentiation(&(arrays_only("AutoCandle", AutoCandle::default()),), &tensors, options));
    table
}

/// One row for each engine and operator: number functions at 0.7, others at 32 numbers.
fn costs(options: &BenchmarkOptions<'_>) -> Table {
    let (x, seed) = (point(32), vec![1.0; 32]);
    let scenarios = (
        Scenario::pushforward(Differences, x.clone(), [seed.clone()]),
        Scenario::pullback(Differences, x.clone(), [vec![1.0; 31]]),
        Scenario::derivative(Wave, 0.7),
        Scenario::gradient(Rosenbrock, x.clone()),
        Scenario::jacobian(Differences, x.clone()),
        Scenario::second_derivative(Wave, 0.7),
        Scenario::hvp(Rosenbrock, x.clone(), [seed]),
        Scenario::hessian(Rosenbrock, x),
    );
    let mut table = Table::default();
    each_engine!(engine => table.extend(benchmark_differentiation(std::slice::from_ref(&engine), &scenarios, options)));
    let tensors = Scenario::gradient(TensorSum::Rosenbrock, point(32));
    table.extend(benchmark_differentiation(&(arrays_only("AutoBurn", AutoBurn::default()),), &tensors, options));
    table.extend(benchmark_differentiation(&(arrays_only("AutoCandle", AutoCandle::default()),), &tensors, options));
    table
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.out)?;
    let options = BenchmarkOptions::default().seconds(arguments.seconds).unchecked();
    match arguments.command {
        Command::Figure2 => {
            let table = figure2(&BenchmarkOptions::full().seconds(arguments.seconds).unchecked());
            println!("{table}");
            let figure = table.filter(|row| row.variant == "gradient_into");
            let plot = Plot::time_against_size(&figure).title("Gradient of f(x) = ||x||²");
            let file = arguments.out.join("figure2.svg");
            plot.write_svg(&file)?;
            println!("wrote {}", file.display());
            table.write_csv(arguments.out.join("figure2.csv"))?;
        }
        Command::Costs => {
            let table = costs(&options);
            println!("{table}");
            table.write_csv(arguments.out.join("costs.csv"))?;
        }
        Command::Pick => {
            let scenario = Scenario::gradient(Rosenbrock, point(50));
            let engines = (
                AutoForwardDiff::default(),
                AutoReverseDiff::default(),
                AutoReverseDiff::tape(),
                AutoReverseDiff::compiled(),
                AutoSymbolic::default(),
                AutoFiniteDiff::central(),
                first_order_only(AutoNumDual::default()),
                first_order_only(AutoEchidna::default()),
                first_order_only(AutoEchidnaForward::default()),
                first_order_only(AutoAdTrait::default()),
            );
            print!("{}", pick_fastest(&engines, &scenario, arguments.seconds));
        }
    }
    Ok(())
}
