//! Free memory that the allocator keeps from one call to the next.
//!
//! A function that calls a rule for matrices makes a few vectors of its numbers around each call, and frees them at its end. The C library of Linux
//! then returns their memory to the system in each call of an operator, and the next call waits for cleared pages: half of the time of
//! a gradient by tape of a network of 256 × 32 units. It returns free memory at the end of the heap beyond twice the largest block that it has
//! mapped on its own and got back (`mallopt(3)`, "dynamic mmap threshold"). [`keep_for`] gives it such a block. Nothing is done for other C libraries.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest block that counts for glibc: `DEFAULT_MMAP_THRESHOLD_MAX`, with room for the header of the block.
const MOST: usize = (32 << 20) - (64 << 10);

/// The size of the largest block so far.
struct Kept(AtomicUsize);

/// Blocks up to this size are not mapped on their own until a larger one was freed.
static KEPT: Kept = Kept(AtomicUsize::new(128 << 10));

/// Lets the allocator keep the memory that a function takes around rules whose numbers have together `bytes`. At most 64 MB.
#[inline]
pub(crate) fn keep_for(bytes: usize) {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        KEPT.keep_for(bytes);
    }
}

impl Kept {
    #[inline]
    fn keep_for(&self, bytes: usize) {
        // The lists of the call, and the matrices that the function makes of them, for some layers of a network.
        let bytes = bytes.saturating_mul(16).min(MOST);
        if bytes > self.0.load(Ordering::Relaxed) {
            self.free_a_block_of(bytes);
        }
    }

    /// Makes a block of a new size known to the C library. Its pages are never written, so that it costs two system calls.
    #[cold]
    #[inline(never)]
    fn free_a_block_of(&self, bytes: usize) {
        if self.0.fetch_max(bytes, Ordering::Relaxed) < bytes {
            let mut block = Vec::<u8>::new();
            // Where there is no such block, the memory is returned as before.
            let _ = black_box(&mut block).try_reserve_exact(bytes);
            black_box(&mut block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_up_to_the_largest_that_counts() {
        let kept = Kept(AtomicUsize::new(128 << 10));
        let sizes = [1000, 100_000, 50_000, usize::MAX, 100_000].map(|bytes| {
            kept.keep_for(bytes);
            kept.0.load(Ordering::Relaxed)
        });
        assert_eq!(sizes, [128 << 10, 1_600_000, 1_600_000, MOST, MOST]);
    }
}
