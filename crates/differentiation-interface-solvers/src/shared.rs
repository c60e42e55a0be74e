//! Work memory behind `&self`: prepared operators for solvers whose traits take `&self` and may call from several threads.
//!
//! Used by all adapters of this crate. Calls the closure that it is given with exclusive access to one clone.

use std::sync::{Mutex, PoisonError, TryLockError};

/// A value that is used through `&self`, by one thread or several at once, without waiting.
///
/// A prepared operator writes into its work memory, so its calls take `&mut self`; the traits of solvers take `&self`. `Shared` holds
/// one value for the thread that comes first, and makes a clone for each further thread that comes while the others are at work.
/// Clones are kept for later calls. No call waits until another one has ended. A call without a second thread costs one compare-and-swap and one
/// swap, 5.6 ns in the test `a_call_costs_less_than_30_ns` with optimisation.
///
/// # Example
/// ```
/// use differentiation_interface_solvers::Shared;
///
/// let buffer = Shared::new(vec![0.0; 2]);
/// let sum = |x: f64| buffer.with(|buffer| {
///     buffer.fill(x);
///     buffer.iter().sum::<f64>()
/// });
/// let other = std::thread::scope(|s| s.spawn(|| sum(1.0)).join());
/// assert_eq!((sum(3.0), other.unwrap()), (6.0, 2.0));
/// ```
pub struct Shared<P> {
    /// The value of the thread that comes first.
    first: Mutex<P>,
    /// What further threads take. Locked while one is taken or given back, never during a call.
    further: Mutex<Further<P>>,
}

/// The clones of further threads.
struct Further<P> {
    /// A clone that no call changes, from which the others are made.
    unused: P,
    /// Clones that no thread uses now.
    idle: Vec<P>,
}

impl<P: Clone> Shared<P> {
    /// Shares `value`.
    pub fn new(value: P) -> Self {
        Shared { further: Mutex::new(Further { unused: value.clone(), idle: Vec::new() }), first: Mutex::new(value) }
    }

    /// Runs `call` on the value, or on a clone while another thread uses the value.
    ///
    /// If `call` panics, the clone it used is dropped and replaced by a fresh one, because it may be incomplete.
    pub fn with<R>(&self, call: impl FnOnce(&mut P) -> R) -> R {
        match self.first.try_lock() {
            Ok(mut value) => call(&mut value),
            Err(TryLockError::WouldBlock) => self.with_further(call),
            Err(TryLockError::Poisoned(panicked)) => {
                let mut value = panicked.into_inner();
                *value = self.further().unused.clone();
                self.first.clear_poison();
                call(&mut value)
            }
        }
    }

    #[cold]
    fn with_further<R>(&self, call: impl FnOnce(&mut P) -> R) -> R {
        let mut value = {
            let mut further = self.further();
            further.idle.pop().unwrap_or_else(|| further.unused.clone())
        };
        let result = call(&mut value);
        self.further().idle.push(value);
        result
    }

    fn further(&self) -> std::sync::MutexGuard<'_, Further<P>> {
        // Only a panic in `P::clone` or in an allocation poisons it, and both leave it complete.
        self.further.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Clone> Clone for Shared<P> {
    fn clone(&self) -> Self {
        Shared::new(self.further().unused.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    /// The address of the value that a call got.
    #[expect(clippy::ptr_arg, reason = "called as a function of the shared type")]
    fn address(value: &mut Vec<f64>) -> usize {
        value.as_ptr() as usize
    }

    #[test]
    fn one_thread_always_gets_the_same_value() {
        let shared = Shared::new(vec![0.0]);
        assert_eq!(shared.with(address), shared.with(address));
        assert!(shared.further().idle.is_empty());
    }

    #[test]
    fn threads_at_the_same_time_get_different_values_and_do_not_wait() {
        let (shared, threads) = (Shared::new(vec![0.0]), 4);
        // All threads are inside a call when they meet: if one waited for another, the test would not end.
        let barrier = Barrier::new(threads);
        let addresses: Vec<usize> = std::thread::scope(|scope| {
            let one = || {
                shared.with(|value| {
                    barrier.wait();
                    value[0] += 1.0;
                    address(value)
                })
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        for (i, first) in addresses.iter().enumerate() {
            assert!(!addresses[..i].contains(first));
        }
        assert_eq!(shared.further().idle.len(), threads - 1, "clones are kept");
        assert_eq!(shared.further().unused, [0.0], "the one that clones are made from is never used");
    }

    #[test]
    fn clones_are_used_again() {
        let shared = Shared::new(vec![0.0]);
        let inner = || shared.with(|_| shared.with(address));
        assert_eq!(inner(), inner());
        assert_eq!(shared.further().idle.len(), 1);
    }

    #[test]
    fn a_value_that_a_panic_left_behind_is_replaced() {
        let shared = Shared::new(vec![0.0]);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            shared.with(|value| {
                value.clear();
                panic!("in the user's function")
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(shared.with(|value| value.clone()), [0.0]);
        shared.with(|value| value[0] = 2.0);
        assert_eq!(shared.with(|value| value.clone()), [2.0], "replaced once only");
    }

    /// Prints the time; the bound is five times what was measured, and generous without optimisation.
    #[test]
    fn a_call_costs_less_than_30_ns() {
        use std::hint::black_box;
        use std::time::Instant;
        const CALLS: u32 = 100_000;
        let bound = if cfg!(debug_assertions) { 600.0 } else { 30.0 };
        let shared = Shared::new(0_u64);
        let best = (0..9)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..CALLS {
                    black_box(&shared).with(|value| *value = black_box(*value + 1));
                }
                start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
            })
            .fold(f64::INFINITY, f64::min);
        println!("{best:.1} ns per call");
        assert!(best < bound, "{best} ns per call");
    }
}
