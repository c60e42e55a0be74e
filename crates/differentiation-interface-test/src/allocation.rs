//! Counts allocations: an allocator that users install in their tests and benchmarks.
//!
//! Read by checks and benchmarks. The code is unsafe, since an allocator is unsafe to implement; other unsafe code is in
//! the core (`backend/columns.rs`, `container/joined.rs`, `foreign/unwrapped.rs`) and in `compiled-trace` (`native/call.rs`, `native/elementary/lanes.rs`, `wide.rs`).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator with a counter per thread.
///
/// If it is not installed, allocations are not checked, and the summary of a test says so.
///
/// # Example
/// ```
/// use differentiation_interface_test::{CountingAllocator, allocations};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = allocations();
/// let buffer = vec![1.0; 3];
/// assert_eq!(allocations() - before, 1);
/// # drop(buffer);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// Counts one allocation. The counters begin as constants, so counting allocates nothing.
fn count(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    BYTES.set(BYTES.get() + bytes);
}

/// The number of allocations on this thread so far, 0 if [`CountingAllocator`] is not installed.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// The number of bytes allocated on this thread so far, 0 if [`CountingAllocator`] is not installed.
pub fn allocated_bytes() -> usize {
    BYTES.get()
}

/// Whether [`CountingAllocator`] is installed.
pub fn counts_allocations() -> bool {
    let before = allocations();
    drop(black_box(Box::new(0u8)));
    allocations() > before
}

#[expect(unsafe_code, reason = "an allocator is unsafe to implement, and counting allocations needs one")]
// SAFETY: every call is handed to the system allocator with the arguments it came with, and its result is returned; the
// counters are thread-local cells without destructor, so counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
