//! The table of the benchmark of compiled recordings: contenders beside the derivative by hand and beside the engine that
//! records anew in each call, the costs of preparations, and the number of calls after which they have paid.

use super::timing;
use std::time::Duration;

/// A row under construction.
pub(crate) struct Row<'a> {
    engine: String,
    /// Time of the preparation.
    prepared: Option<Duration>,
    call: Box<dyn FnMut() + 'a>,
}

/// A contender without preparation.
pub(crate) fn row<'a>(engine: &str, call: impl FnMut() + 'a) -> Row<'a> {
    Row { engine: engine.into(), prepared: None, call: Box::new(call) }
}

/// A contender whose preparation took this long.
pub(crate) fn prepared<'a>(engine: &str, time: Duration, call: impl FnMut() + 'a) -> Row<'a> {
    Row { engine: engine.into(), prepared: Some(time), call: Box::new(call) }
}

/// The result of `action`, and its time: the median of up to seven runs if it is short.
pub(crate) fn time_of<R>(mut action: impl FnMut() -> R) -> (R, Duration) {
    let mut times = Vec::new();
    loop {
        let start = timing::now();
        let result = action();
        times.push(timing::now() - start);
        if times.len() == 7 || times.iter().sum::<Duration>() > Duration::from_millis(100) {
            times.sort();
            return (result, times[times.len() / 2]);
        }
    }
}

/// Whether to time as well as to check: `cargo bench` passes `--bench`, `cargo test` does not.
pub(crate) fn timed() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Whether a group runs: its name must contain every argument that is not a number, and its size must equal every number.
pub(crate) fn wanted(name: &str, n: usize) -> bool {
    std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).all(|filter| {
        filter.parse().map_or_else(|_| name.to_lowercase().contains(&filter.to_lowercase()), |size: usize| size == n)
    })
}

/// Whether two results agree, relative to the largest entry.
pub(crate) fn check(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: entries");
    let scale = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{what}: entry {i} is {a:e}, expected {b:e}");
    }
}

/// Times the rows, of which the first is the derivative by hand and the last the one to compare preparations with.
///
/// `break-even` is the number of calls from which on a row is faster than the last one, preparation included:
/// (preparation - preparation of the last) / (call of the last - call), and `never` if a call is not faster.
pub(crate) fn print(workload: &str, n: usize, rows: Vec<Row<'_>>) {
    let last = rows.len() - 1;
    let (labels, mut calls): (Vec<_>, Vec<_>) = rows.into_iter().map(|r| ((r.engine, r.prepared), r.call)).unzip();
    let allocations: Vec<usize> = calls
        .iter_mut()
        .map(|call| {
            call();
            timing::allocations(call)
        })
        .collect();
    // Allocations of the function itself; engines that run it may allocate as often.
    let own = labels.iter().position(|(engine, _)| engine == "function").map_or(0, |i| allocations[i]);
    for ((engine, _), found) in labels.iter().zip(&allocations) {
        let allowed = if engine == "by hand" || engine.starts_with("compiled") { 0 } else { own };
        assert!(*found <= allowed, "{workload}, n = {n}: a call of {engine} allocates {found} times");
    }
    if !timed() {
        return;
    }
    let samples = timing::measure(&mut calls);
    let base = labels[last].1;
    println!(
        "{workload:<24} {:>8}  {:<26} {:>13} {:>9} {:>9} {:>15} {:>11}",
        "n",
        "engine",
        "ns/call",
        "/by hand",
        format!("/{}", short(&labels[last].0)),
        "preparation us",
        "break-even"
    );
    for (i, (engine, preparation)) in labels.iter().enumerate() {
        let (time, ratio) = (samples.time(i), samples.ratio(i, 0));
        let preparing = preparation.map_or("-".into(), |p| format!("{:.1}", p.as_secs_f64() * 1e6));
        let pays = match (preparation, base) {
            (Some(own), Some(base)) if i != last => {
                let (extra, gain) = (own.as_secs_f64() - base.as_secs_f64(), (samples.time(last) - time) * 1e-9);
                match extra > 0.0 {
                    _ if gain <= 0.0 => "never".into(),
                    true => format!("{:.0}", (extra / gain).ceil()),
                    false => "1".into(),
                }
            }
            _ => "-".into(),
        };
        println!(
            "{:<24} {n:>8}  {engine:<26} {time:>13.1} {ratio:>9.2} {:>9.3} {preparing:>15} {pays:>11}",
            "",
            samples.ratio(i, last)
        );
    }
    println!();
}

/// The first word.
fn short(engine: &str) -> &str {
    engine.split([' ', ',']).next().unwrap_or(engine)
}
