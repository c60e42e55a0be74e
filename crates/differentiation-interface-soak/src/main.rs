//! `differentiation-interface-soak`: draws programs and points without end, runs every engine on them, and compares each number
//! with an independent reference.
//!
//! ```text
//! cargo run --release -p differentiation-interface-soak -- --minutes 30 --seed 1
//! cargo run --release -p differentiation-interface-soak -- --show 1 1234
//! ```
//! The crate's README explains the output.

mod arguments;
mod check;
mod compare;
mod draw;

mod random;
mod reference;
mod report;
mod shrink;
mod tally;
#[cfg(all(test, feature = "all-engines"))]
mod tests;

use arguments::Arguments;
use check::{Case, check};
use clap::Parser;
use report::Reports;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tally::Tally;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Panics of engines are reported with the program that causes them.
    std::panic::set_hook(Box::new(|_| {}));
    let mut candidates = differentiation_interface_soak::engines::all();
    candidates.retain(|candidate| candidate.name.contains(&arguments.engines));
    let mut tally = Tally::default();
    let mut reports = Reports::new(Duration::from_secs(arguments.shrink));
    let (numbers, seed) = match arguments.show.as_deref() {
        Some(&[seed, number]) => {
            let (program, points) = draw::case(seed, number);
            println!("{program}");
            points.iter().for_each(|x| println!("{x:?}"));
            (number..number + 1, seed)
        }
        _ => (0..arguments.programs.unwrap_or(u64::MAX), arguments.seed),
    };
    let (begin, duration) = (Instant::now(), arguments.duration());
    let progress = watch(seed);
    for number in numbers {
        if begin.elapsed() > duration || reports.len() >= arguments.most_failures {
            break;
        }
        progress.store(number, Ordering::Relaxed);
        let (program, points) = draw::case(seed, number);
        let case = Case::new(program, points);
        tally.programs += 1;
        tally.points += case.points.len() as u64;
        for candidate in &candidates {
            if let Some((place, failure)) = check(candidate, &case, &mut tally) {
                reports.add(candidate, &case, [seed, number], place, &failure);
            }
        }
    }
    println!("seed {seed}, {:.0} s", begin.elapsed().as_secs_f64());
    print!("{tally}");
    if arguments.by_engine {
        print!("engines\n{}", tally.candidates());
    }
    if reports.len() == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: {} different failures, printed above", reports.len());
    ExitCode::FAILURE
}

/// Ends the run with a failure if a program takes minutes: an engine hangs. Returns the variable for the number of the program.
fn watch(seed: u64) -> Arc<AtomicU64> {
    // Some programs take a minute with optimisation, and fifty times as long without it under a sanitizer.
    const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 6000 } else { 300 });
    let progress = Arc::new(AtomicU64::new(u64::MAX));
    let watched = Arc::clone(&progress);
    std::thread::spawn(move || {
        let mut before = u64::MAX;
        loop {
            std::thread::sleep(PATIENCE);
            let now = watched.load(Ordering::Relaxed);
            if now == before {
                eprintln!("error: program {now} has not ended in {} s; `--show {seed} {now}`", PATIENCE.as_secs());
                std::process::exit(1);
            }
            before = now;
        }
    });
    progress
}
