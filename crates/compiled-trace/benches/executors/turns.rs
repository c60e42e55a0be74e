//! Times of contenders that run in turns.
//!
//! Used by every group of the benchmark: a disturbance of the machine affects all contenders alike, so ratios are steadier than times.

use std::time::{Duration, Instant};

/// Minimum duration of a sample.
const SAMPLE: Duration = Duration::from_micros(500);
/// Seconds per group.
const BUDGET: f64 = 1.5;

/// A function to be timed.
pub(crate) type Contender<'a> = Box<dyn FnMut() + 'a>;

/// Median time of the first contender in nanoseconds, and median ratios of the others to it.
pub(crate) fn in_turns(contenders: &mut [Contender<'_>]) -> (f64, Vec<f64>) {
    let sample = |call: &mut Contender<'_>, loops: usize| {
        let start = Instant::now();
        (0..loops).for_each(|_| call());
        start.elapsed()
    };
    let mut once = Duration::ZERO;
    let mut enough = |call: &mut Contender<'_>| {
        let mut loops = 1;
        loop {
            let time = sample(call, loops);
            if time >= SAMPLE {
                once += time;
                return loops;
            }
            loops =
                (loops * 2).max((loops as f64 * 1.1 * SAMPLE.as_secs_f64() / time.as_secs_f64().max(1e-9)) as usize);
        }
    };
    let loops: Vec<usize> = contenders.iter_mut().map(&mut enough).collect();
    let rounds = ((BUDGET / once.as_secs_f64()) as usize).clamp(7, 101);
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((call, loops), times) in contenders.iter_mut().zip(&loops).zip(&mut times) {
            times.push(sample(call, *loops).as_nanos() as f64 / *loops as f64);
        }
    }
    let ratios =
        times[1..].iter().map(|own| median(own.iter().zip(&times[0]).map(|(own, first)| own / first).collect()));
    (median(times[0].clone()), ratios.collect())
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
