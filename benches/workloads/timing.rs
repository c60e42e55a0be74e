//! Timing of contenders: in rounds, with one sample of each contender after the other, so that ratios are reliable on a noisy machine,
//! and by processor time of this thread where the system reports it, because calls of many milliseconds are interrupted
//! by other programs and short ones are not.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The system's allocator, counting.
pub(crate) struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
#[expect(unsafe_code, reason = "an allocator is an unsafe trait; this one counts and passes on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Allocations of `action`.
pub(crate) fn allocations(action: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    action();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

const SAMPLE: Duration = Duration::from_micros(500);
const BUDGET: Duration = Duration::from_millis(2000);

/// Nanoseconds per call: `[contender][round]`.
pub(crate) struct Samples(Vec<Vec<f64>>);

/// Times the contenders: samples of at least 0.5 ms, at least 7 and at most 101 rounds, within about 2 s where possible.
pub(crate) fn measure(contenders: &mut [Box<dyn FnMut() + '_>]) -> Samples {
    let mut once = Duration::ZERO;
    let loops: Vec<usize> = contenders
        .iter_mut()
        .map(|call| {
            let mut loops = 1;
            loop {
                let time = sample(call, loops);
                if time >= SAMPLE {
                    once += time;
                    return loops;
                }
                loops = (loops * 2)
                    .max((loops as f64 * SAMPLE.as_secs_f64() * 1.1 / time.as_secs_f64().max(1e-9)) as usize);
            }
        })
        .collect();
    let rounds = ((BUDGET.as_secs_f64() / once.as_secs_f64()) as usize).clamp(7, 101);
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for ((call, &loops), samples) in contenders.iter_mut().zip(&loops).zip(&mut samples) {
            samples.push(sample(call, loops).as_secs_f64() * 1e9 / loops as f64);
        }
    }
    Samples(samples)
}

fn sample(call: &mut Box<dyn FnMut() + '_>, loops: usize) -> Duration {
    let start = now();
    for _ in 0..loops {
        call();
    }
    now() - start
}

/// Processor time of this thread.
#[cfg(unix)]
pub(crate) fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time since the first call.
#[cfg(not(unix))]
pub(crate) fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

impl Samples {
    /// Median time of a contender.
    pub(crate) fn time(&self, contender: usize) -> f64 {
        median(self.0[contender].clone())
    }
    /// Median over the rounds of the ratio of two contenders.
    pub(crate) fn ratio(&self, contender: usize, base: usize) -> f64 {
        median(self.0[contender].iter().zip(&self.0[base]).map(|(a, b)| a / b).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
