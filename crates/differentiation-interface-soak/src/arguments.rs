//! The command line.
//!
//! Read by `main`.

use clap::Parser;
use std::time::Duration;

/// Draws programs and points without end, runs every engine on them, and compares each number with an independent reference.
///
/// Exits with 1 if an engine disagrees at a regular point, returns an error or panics.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    /// Duration in minutes.
    #[arg(long, value_name = "MINUTES", default_value_t = 0.0)]
    pub(crate) minutes: f64,
    /// Duration in seconds; added to the minutes. If both are 0, ten seconds, unless a number of programs is given.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub(crate) seconds: f64,
    /// The seed from which programs are drawn.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Ends after this many programs.
    #[arg(long, value_name = "COUNT")]
    pub(crate) programs: Option<u64>,
    /// Runs only engines whose name contains this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) engines: String,
    /// Prints program NUMBER of the run SEED, checks it, and ends.
    #[arg(long, num_args = 2, value_names = ["SEED", "NUMBER"])]
    pub(crate) show: Option<Vec<u64>>,
    /// Ends after this many different disagreements.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) most_failures: usize,
    /// Time for shrinking a failure, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) shrink: u64,
    /// Prints how many numbers of each engine were compared.
    #[arg(long)]
    pub(crate) by_engine: bool,
}

impl Arguments {
    /// The duration of the run, if no number of programs is given.
    pub(crate) fn duration(&self) -> Duration {
        let seconds = 60.0 * self.minutes + self.seconds;
        let unlimited = seconds <= 0.0 && self.programs.is_some();
        Duration::try_from_secs_f64(match seconds {
            _ if unlimited => 1e9,
            seconds if seconds <= 0.0 => 10.0,
            seconds => seconds,
        })
        .unwrap_or(Duration::MAX)
    }
}
