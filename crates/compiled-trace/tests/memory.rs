//! Memory and time under the limit of a recording. One test, because it measures the process.
#![cfg(target_os = "linux")]

use compiled_trace::{Limits, Recorded, record};
use differentiation_interface_core::Real;
use differentiation_interface_core::Scalar;
use differentiation_interface_core::error::ErrorKind;
use num_traits::Float;
use std::time::{Duration, Instant};

/// A line of the status of this process in bytes.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

/// Records under 1 MB and measures the growth of the most resident memory and the time to the error.
fn ends_soon(name: &str, f: impl Fn(&[Recorded], &mut Vec<Recorded>)) {
    // Memory that is allocated once: panics, threads, the standard streams.
    let _ = record(&[1.0], &[], Limits { bytes: 10_000 }, |x, _, y| f(x, y));
    // Resets the peak to the present size.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, start) = (status("VmRSS:"), Instant::now());
    let found = record(&[1.0], &[], Limits { bytes: 1_000_000 }, |x, _, y| f(x, y));
    let (time, after) = (start.elapsed(), status("VmHWM:"));
    assert_eq!(found.err().map(|error| error.kind()), Some(ErrorKind::TapeOverflow), "{name}");
    let growth = after.saturating_sub(before);
    println!("{name}: {growth} bytes, {time:?}");
    assert!(growth < 2_000_000, "{name}: resident memory grew by {growth} bytes");
    let most = Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 100 });
    assert!(time < most, "{name}: the error came after {time:?}");
}

#[test]
fn memory_and_time_under_a_limit_are_bounded() {
    ends_soon("operations", |x, y| y.push((0..100_000_000).fold(x[0], |s, _| s * x[0])));
    ends_soon("constants", |x, y| y.push((0..100_000_000).fold(x[0], |s, i| s + f64::from(i))));
    ends_soon("guards", |x, y| {
        let mut s = x[0];
        while s > 0.0 {
            s += 0.5;
        }
        y.push(s);
    });
    ends_soon("values read into plain code", |x, y| {
        let mut sum = 0.0;
        while sum >= 0.0 {
            sum += x[0].primal();
        }
        y.push(x[0]);
    });
    ends_soon("exponents", |x, y| {
        y.push((0..100_000_000).fold(x[0], |s, i| s + x[0].powc(1.5 + f64::from(i) * 1e-6)));
    });
    ends_soon("exponents of integers", |x, y| y.push((0..60_000).fold(x[0], |s, i| s + x[0].powi(i))));
    ends_soon("choices", |x, y| {
        y.push((0..100_000_000).fold(x[0], |s, _| x[0].greater_than(s).select(s, x[0])));
    });
}
