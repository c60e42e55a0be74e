//! Identities of differentiations: recordings, detections, passes of forward mode.
//!
//! Numbers are `Copy` and cannot borrow the differentiation they belong to, so they carry its identity, an integer that is unique
//! in the program. Engines [`begin`](Identity::begin) one per differentiation and [`check`](Identity::check) it at the end.
//! Between the two, a thread that meets a number it cannot compute with calls [`spoil`], and the differentiation returns that
//! error, on whichever thread it runs. A [`fault`](crate::fault) would reach the operators of the reporting thread only.

use crate::error::ErrorKind;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The identity of numbers that two differentiations contribute to, or whose differentiation is not known on the thread.
/// No differentiation has it.
pub const STRAY: NonZeroU32 = NonZeroU32::MAX;

/// The identity of numbers with a tangent that belongs to no differentiation. No differentiation has it.
pub const NONE: NonZeroU32 = NonZeroU32::MIN;

/// The shared identity of differentiations of functions that capture nothing: no number of another differentiation can enter them.
/// A differentiation that finds any other identity in its results is repeated with an identity of its own.
pub const UNNAMED: NonZeroU32 = NonZeroU32::new(2).unwrap();

/// Threads take identities in blocks of this size. The first identity of a block is not used: it marks an exhausted block.
const BLOCK: u32 = 1024;

/// The most reports kept. Beyond that the oldest is dropped: its differentiation has ended long ago.
const MOST_REPORTS: usize = 1 << 16;

thread_local! {
    /// The next identity of this thread; a multiple of `BLOCK` if the thread needs another block.
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// The next block. The first one is not given out, because it contains [`NONE`] and [`UNNAMED`].
static BLOCKS: AtomicU32 = AtomicU32::new(BLOCK);

/// The number of reports so far. If it has not changed during a differentiation, there is no report to look for.
static REPORTS: AtomicU32 = AtomicU32::new(0);

static SPOILT: Mutex<Spoilt> = Mutex::new(Spoilt { kinds: BTreeMap::new(), order: VecDeque::new() });

/// The reports and their order.
struct Spoilt {
    kinds: BTreeMap<NonZeroU32, ErrorKind>,
    order: VecDeque<NonZeroU32>,
}

impl Spoilt {
    fn lock() -> MutexGuard<'static, Spoilt> {
        SPOILT.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a report, unless the differentiation has one already.
    fn add(&mut self, id: NonZeroU32, kind: ErrorKind) {
        if self.kinds.contains_key(&id) {
            return;
        }
        self.kinds.insert(id, kind);
        self.order.push_back(id);
        if self.order.len() > MOST_REPORTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.kinds.remove(&oldest);
        }
    }

    fn take(&mut self, id: NonZeroU32) -> Option<ErrorKind> {
        let kind = self.kinds.remove(&id)?;
        self.order.retain(|&other| other != id);
        Some(kind)
    }
}

/// One differentiation.
///
/// # For backend authors
/// 1. Begin it before its numbers are made, and let each active number carry [`id`](Identity::id).
/// 2. Where a number's differentiation is not on this thread, [`spoil`] it with [`ErrorKind::OtherThread`], and go on with a
///    number of the identity [`STRAY`] or with a constant. Do not panic: the thread is the user's.
/// 3. Check it after the function has returned, and return its error. What another thread reported is seen if anything that
///    thread computed was handed over by a lock, a channel, an atomic or the end of the thread.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    id: NonZeroU32,
    /// The number of reports at the beginning.
    reports: u32,
}

impl Identity {
    /// Begins a differentiation. Its identity is unique until all threads together have taken 2³² identities.
    #[inline]
    pub fn begin() -> Identity {
        let reports = REPORTS.load(Ordering::Relaxed);
        let next = NEXT.get();
        let id = if next.is_multiple_of(BLOCK) { next_block(&BLOCKS) } else { next };
        NEXT.set(id.wrapping_add(1));
        Identity { id: NonZeroU32::new(id).unwrap_or(NONE), reports }
    }

    /// The identity, which its numbers carry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn id(&self) -> NonZeroU32 {
        self.id
    }

    /// Checks whether the differentiation was [spoilt](spoil) since it began.
    ///
    /// # Errors
    /// The kind of the first report, once.
    #[inline]
    pub fn check(&self) -> Result<(), ErrorKind> {
        if REPORTS.load(Ordering::Acquire) == self.reports { Ok(()) } else { self.look() }
    }

    #[cold]
    #[inline(never)]
    fn look(&self) -> Result<(), ErrorKind> {
        Spoilt::lock().take(self.id).map_or(Ok(()), Err)
    }
}

/// The first identity of a new block.
#[cold]
#[inline(never)]
fn next_block(blocks: &AtomicU32) -> u32 {
    loop {
        let start = blocks.fetch_add(BLOCK, Ordering::Relaxed);
        // Skips the blocks of `NONE` and `STRAY`.
        if start != 0 && start != u32::MAX - (BLOCK - 1) {
            return start + 1;
        }
    }
}

/// Makes the differentiation `id` return this error when it ends, on whichever thread it runs. Only the first report counts.
#[cold]
#[inline(never)]
pub fn spoil(id: NonZeroU32, kind: ErrorKind) {
    if id == STRAY || id == NONE || id == UNNAMED {
        return;
    }
    Spoilt::lock().add(id, kind);
    REPORTS.fetch_add(1, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread;

    #[test]
    fn identities_of_several_threads_differ() {
        let draw = || (0..3 * BLOCK).map(|_| Identity::begin().id()).collect::<Vec<_>>();
        let mut all = draw();
        let workers: Vec<_> = (0..3).map(|_| thread::spawn(draw)).collect();
        for worker in workers {
            all.extend(worker.join().unwrap());
        }
        assert!(all.iter().all(|id| id.get() % BLOCK != 0));
        let count = all.len();
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), count);
    }

    #[test]
    fn no_differentiation_has_a_reserved_identity() {
        // A counter of its own, as other tests draw identities meanwhile. The last block has `STRAY`, the first one `NONE` and `UNNAMED`.
        let blocks = AtomicU32::new(u32::MAX - (2 * BLOCK - 1));
        assert_eq!([(); 3].map(|()| next_block(&blocks)), [u32::MAX - (2 * BLOCK - 2), BLOCK + 1, 2 * BLOCK + 1]);
        assert!(STRAY.get() >= u32::MAX - (BLOCK - 1) && NONE.get().max(UNNAMED.get()) < BLOCK);
    }

    #[test]
    fn a_report_of_another_thread_is_found_once() {
        let (spoilt, other) = (Identity::begin(), Identity::begin());
        let id = spoilt.id();
        thread::spawn(move || {
            spoil(id, ErrorKind::OtherThread);
            spoil(id, ErrorKind::ForeignNumber);
        })
        .join()
        .unwrap();
        assert_eq!(other.check(), Ok(()));
        assert_eq!(spoilt.check(), Err(ErrorKind::OtherThread));
        assert_eq!(spoilt.check(), Ok(()));
    }

    #[test]
    fn reports_that_are_not_asked_for_make_room() {
        let mut spoilt = Spoilt { kinds: BTreeMap::new(), order: VecDeque::new() };
        for id in 2..MOST_REPORTS as u32 + 102 {
            spoilt.add(NonZeroU32::new(id).unwrap(), ErrorKind::OtherThread);
        }
        assert_eq!((spoilt.kinds.len(), spoilt.order.len()), (MOST_REPORTS, MOST_REPORTS));
        let newest = NonZeroU32::new(MOST_REPORTS as u32 + 101).unwrap();
        assert_eq!(spoilt.take(newest), Some(ErrorKind::OtherThread));
        assert_eq!(spoilt.order.len(), MOST_REPORTS - 1);
    }
}
