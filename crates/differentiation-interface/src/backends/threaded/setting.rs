//! The wrapper and its settings.
//!
//! Made by users; read by the operators of this folder.

use super::division::Division;
use differentiation_interface_core::scalar::Scalar;
use std::num::NonZeroUsize;

/// The backend `B` with the work of each call on several threads of a `rayon` pool. Feature `rayon`.
///
/// | operator | what the threads share |
/// |---|---|
/// | `gradient` | chunks of inputs (forward mode, differences) |
/// | `jacobian` | chunks of inputs, or of outputs in reverse mode |
/// | `jacobian`, `hessian` of [`AutoSparse`](crate::sparse::AutoSparse) | colours |
/// | `hessian` | columns |
/// | `pushforward`, `pullback`, `hvp` | seeds, if the engine needs several passes for them |
/// | `derivative`, `second_derivative`, products at a fixed point | nothing |
///
/// Everything else runs as with `B` alone: gradients in reverse mode, matrices that a compiled recording computes as a whole, and numbers
/// of an outer differentiation, whose tape belongs to one thread. Errors bear the name of `B`.
/// [`AutoReverseDiff::default`](crate::backends::AutoReverseDiff) makes programs of gradients and derivatives alone here; all else is its
/// [`tape`](crate::backends::AutoReverseDiff::tape), so that threads share it. Where its program without threads is faster, leave the wrapper out.
///
/// **Results** are those of `B` (of its tape, as above) bit for bit, for any number of threads. A sparse derivative has the same values too; its
/// zeros are all positive.
///
/// **The function** is called by several threads at once, so that it and its constants must be `Sync`. A
/// [`Cache`](crate::context::Cache) is work memory of one thread each. Engines with a tape record on each thread the calls of that thread.
/// A panic in the function reaches the caller.
///
/// **Work.** Little work is done on the calling thread, see [`with_least_work`](Self::with_least_work). A preparation holds one state per
/// thread; later calls allocate nothing, except that `rayon` allocates a block of its queue once in some dozens of calls.
///
/// **The caller** is best a thread of the pool, as inside of `rayon::join` or `ThreadPool::install`: it computes the first share itself. Another thread
/// hands the call over and waits. On two virtual processors the Jacobian of Lorenz-96 with 400 numbers takes 165 µs serially and 93 to 102 on a thread of the pool.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cycle<T: Real>(x: &[T]) -> Vec<T> {
///     let n = x.len();
///     (0..n).map(|i| (x[(i + 1) % n] - x[(i + n - 2) % n]) * x[(i + n - 1) % n] - x[i]).collect()
/// }
/// let x: Vec<f64> = (0..400).map(|i| (i % 7) as f64).collect();
/// let backend = AutoThreaded::new(AutoForwardDiff::default()).with_threads(2);
/// let mut prepared = prepare_jacobian(&cycle, &backend, &x)?;
/// let mut jac = Matrix::filled(400, 400, 0.0);
/// prepared.jacobian_into(&mut jac, &x)?;
/// assert_eq!(jac, jacobian(&cycle, &AutoForwardDiff::default(), &x)?);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoThreaded<B> {
    backend: B,
    threads: Option<NonZeroUsize>,
    least_work: usize,
}

impl<B> AutoThreaded<B> {
    /// The work of `backend` on all threads of the `rayon` pool in which a call or preparation runs.
    pub fn new(backend: B) -> Self {
        AutoThreaded { backend, threads: None, least_work: 1 << 15 }
    }

    /// The same with at most `threads` parts, which are as many states of the engine; 0 stands for the number of threads of the pool. The
    /// pool itself is that of `rayon`: `ThreadPool::install` selects another one.
    pub fn with_threads(self, threads: usize) -> Self {
        AutoThreaded { threads: NonZeroUsize::new(threads), ..self }
    }

    /// The same with another limit for calls on one thread. The work of a call is estimated by the number of seeds times the number of
    /// inputs and outputs, and is divided if it reaches `work`: 32768 by default, about the 30 µs for which waking a thread pays. Pass 0 for
    /// a function of few numbers that takes long.
    pub fn with_least_work(self, work: usize) -> Self {
        AutoThreaded { least_work: work, ..self }
    }

    /// The inner backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Divides `seeds` seeds, of which `per_pass` are propagated together, each over `numbers` inputs and outputs with scalars `S`.
    pub(super) fn division<S: Scalar>(&self, seeds: usize, per_pass: usize, numbers: usize) -> Division {
        let parts = self.most_parts::<S>(seeds.div_ceil(per_pass.max(1)), seeds.saturating_mul(numbers));
        Division::new(seeds, per_pass, parts)
    }

    /// The number of parts for `groups` groups of seeds; 1 without asking `rayon` where that is known.
    pub(super) fn most_parts<S: Scalar>(&self, groups: usize, work: usize) -> usize {
        // A tape of an outer differentiation belongs to the calling thread.
        if S::DEPTH > 0 || groups < 2 || work < self.least_work {
            return 1;
        }
        self.threads.map_or_else(rayon::current_num_threads, NonZeroUsize::get).min(groups)
    }
}
