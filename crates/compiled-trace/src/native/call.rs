//! Unsafe code: calls of machine code, calls from it, and its release. (There is more in `elementary/lanes.rs`.)
//!
//! # Invariant
//! A [`Code`] consists of functions that a back end made of what `emit` wrote for a program that passed `check`, so every cell the
//! code reads or writes is inside the slice it belongs to, provided that the slices have the lengths the program states;
//! [`Code::run`] compares these at every call. Back ends add accesses to the frame of the function alone, and preserve the registers that
//! the calling convention names. Memory with code is written before it is executable, and never again. A [`Single`] owns its constants and work, which have these lengths from the beginning. Pointers to rules and
//! tables that are written into the code point to memory that [`Code`] owns and never moves. Inputs and constants are only read:
//! `check` refuses programs that write to them.
//!
//! Functions that run at once share these slices. `chunks` makes them of one nest, for which `owner` has proved that what one run writes
//! no other run reads or writes: every cell that two of them share is only read, until all of them have ended.

use super::check::SPACES;
use super::machine::Finished;
use super::number::{Entry, with_convention};
use super::options::Refused;
use crate::execute::RunError;
use crate::program::Memory;
use crate::recording::rules::Rules;
use differentiation_interface_core::scalar::Base;
use std::any::Any;
use std::cell::RefCell;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
#[cfg(feature = "rayon")]
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of slices for which a short table suffices: a gradient has constants, work, point, parameters, seed, value, gradient.
const FEW: usize = 8;

/// The lengths a program states of constants, work, inputs and outputs, and how many loops it leaves to the caller.
#[derive(Debug)]
pub(super) struct Lengths {
    pub(super) constants: usize,
    pub(super) work: usize,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    pub(super) loops: usize,
}

impl Lengths {
    /// Checks the slices and counters of a run.
    #[inline(always)]
    pub(super) fn check<S>(&self, memory: &Memory<S>, counters: &[u64]) -> Result<(), RunError> {
        self.check_slices(memory)?;
        same(self.loops, counters.len())
    }

    #[inline(always)]
    fn check_slices<S>(&self, memory: &Memory<S>) -> Result<(), RunError> {
        same(self.inputs.len(), memory.inputs.len())?;
        same(self.outputs.len(), memory.outputs.len())?;
        for (expected, slice) in self.inputs.iter().zip(memory.inputs) {
            same(*expected, slice.len())?;
        }
        for (expected, slice) in self.outputs.iter().zip(memory.outputs.iter()) {
            same(*expected, slice.len())?;
        }
        same(self.constants, memory.constants.len())?;
        same(self.work, memory.cells.len())
    }
}

#[inline(always)]
fn same(expected: usize, found: usize) -> Result<(), RunError> {
    if expected == found { Ok(()) } else { Err(RunError::Length { expected, found }) }
}

/// The memory that machine code is in.
enum Pages {
    /// Of the own generator: memory of the operating system, written and then made executable, never both at once. None if there
    /// is no code.
    #[cfg_attr(any(unix, windows), expect(dead_code, reason = "it owns the memory that functions are in"))]
    Own(Option<memmap2::Mmap>),
    /// Of Cranelift.
    #[cfg(feature = "native")]
    Modules(std::sync::Mutex<Vec<cranelift_jit::JITModule>>),
}

/// Machine code with the memory that it refers to.
pub(super) struct Code {
    #[cfg_attr(not(feature = "native"), expect(dead_code, reason = "it owns the memory that functions are in"))]
    pages: Pages,
    entries: Vec<Entry>,
    lengths: Lengths,
    /// Memory that the code points to.
    _rules: Arc<Rules>,
    _tables: Vec<Arc<[u32]>>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code of {} functions", self.entries.len())
    }
}

impl Code {
    /// Takes finished functions, which must be functions of type [`Entry`] written by `emit` for one checked program.
    ///
    /// # Errors
    /// [`Refused::Compiler`] if the operating system gives no memory for code.
    pub(super) fn new(
        finished: Finished,
        lengths: Lengths,
        rules: Arc<Rules>,
        tables: Vec<Arc<[u32]>>,
    ) -> Result<Code, Refused> {
        let (pages, addresses): (Pages, Vec<*const u8>) = match finished {
            Finished::Bytes(code, entries) => {
                let pages = executable(&code)?;
                let start = pages.as_ref().map_or(std::ptr::null(), |pages| pages.as_ptr());
                (Pages::Own(pages), entries.iter().map(|entry| start.wrapping_add(*entry)).collect())
            }
            #[cfg(feature = "native")]
            Finished::Modules(modules, addresses) => (Pages::Modules(modules.into()), addresses),
        };
        #[expect(unsafe_code, reason = "machine code has no type")]
        let entry = |address: &*const u8| {
            // SAFETY: the address is that of a finished function with the signature and the calling convention of `Entry`; the
            // owner of its memory is kept beside it.
            unsafe { std::mem::transmute::<*const u8, Entry>(*address) }
        };
        let entries = addresses.iter().map(entry).collect();
        Ok(Code { pages, entries, lengths, _rules: rules, _tables: tables })
    }

    /// Compares the lengths of slices with those that the program states.
    ///
    /// # Errors
    /// [`RunError::Length`] if one is another.
    pub(super) fn check<S>(&self, memory: &Memory<S>) -> Result<(), RunError> {
        self.lengths.check_slices(memory)
    }

    /// Runs a function on slices; returns 0, or the number of a failed guard plus 1.
    ///
    /// # Errors
    /// [`RunError::Length`] if the length of a slice is not the one that the program states.
    #[inline(always)]
    pub(super) fn run<S: Base>(&self, entry: usize, memory: &mut Memory<S>, counters: &[u64]) -> Result<u32, RunError> {
        self.lengths.check(memory, counters)?;
        // Clearing a long table would take longer than a small program runs.
        if 2 + memory.inputs.len() + memory.outputs.len() <= FEW {
            Ok(enter::<S, FEW>(self.entries[entry], memory, counters))
        } else {
            Ok(enter::<S, SPACES>(self.entries[entry], memory, counters))
        }
    }
}

#[cfg(feature = "rayon")]
impl Code {
    /// Runs each function so many times, with the number of the time as its counter, on up to so many threads; returns 0, or the
    /// number plus 1 of the guard that failed in the first of the runs that failed, as they are listed. A rule that panics does so on this thread.
    ///
    /// # Errors
    /// [`RunError::Length`] if the length of a slice is not the one that the program states.
    pub(super) fn run_at_once<S: Base>(
        &self,
        functions: &[(usize, u32)],
        threads: usize,
        memory: &mut Memory<S>,
    ) -> Result<u32, RunError> {
        self.lengths.check_slices(memory)?;
        let slices = Slices(pointers::<S, SPACES>(memory));
        let runs: usize = functions.iter().map(|(_, times)| *times as usize).sum();
        let next = AtomicUsize::new(0);
        let failed = AtomicU64::new(u64::MAX);
        let work = || {
            let slices = &slices;
            loop {
                let run = next.fetch_add(1, Ordering::Relaxed);
                let mut counter = run;
                let Some((entry, _)) = functions.iter().find(|(_, times)| {
                    let is_this = counter < *times as usize;
                    counter -= if is_this { 0 } else { *times as usize };
                    is_this
                }) else {
                    return;
                };
                let counters = [counter as u64];
                #[expect(unsafe_code, reason = "machine code checks nothing itself")]
                // SAFETY: the slices were compared with the lengths the program was checked with, and are borrowed until all runs have
                // ended. The function takes one counter, which is below its trip count. Runs of these functions do not write what
                // another one reads or writes, see above. They are of numbers `S` as the code is.
                let code = unsafe { (self.entries[*entry])(slices.0.as_ptr(), counters.as_ptr()) };
                resume_panic();
                if code != 0 {
                    failed.fetch_min((run as u64) << 32 | u64::from(code), Ordering::Relaxed);
                }
            }
        };
        on_threads(threads.min(runs), &work);
        match failed.into_inner() {
            u64::MAX => Ok(0),
            first => Ok(first as u32),
        }
    }
}

/// Does the same on so many threads of `rayon`, one of which may be this one.
#[cfg(feature = "rayon")]
fn on_threads(threads: usize, work: &(impl Fn() + Sync)) {
    if threads <= 1 {
        return work();
    }
    rayon::join(|| on_threads(threads - threads / 2, work), || on_threads(threads / 2, work));
}

/// Pointers to the slices of a run, for several threads.
#[cfg(feature = "rayon")]
struct Slices([*mut u8; SPACES]);

#[cfg(feature = "rayon")]
#[expect(unsafe_code, reason = "several threads write to the slices")]
// SAFETY: only `run_at_once` makes one. The threads write to different cells, see the invariant above.
unsafe impl Sync for Slices {}

/// Runs a function on slices that were checked, at most `N` with constants and work.
#[inline(always)]
fn enter<S: Base, const N: usize>(entry: Entry, memory: &mut Memory<S>, counters: &[u64]) -> u32 {
    let slices = pointers::<S, N>(memory);
    #[expect(unsafe_code, reason = "machine code checks nothing itself")]
    // SAFETY: `Code::run` and `Single::run`, the only callers, have compared the slices with the lengths the program was checked
    // with; constants and work of a `Single` have them since they were made. The slices are all in the table (an index of it would
    // have panicked), and are borrowed, mutably where the code writes, until it returns. They are of numbers `S` as the code is,
    // which `Compiled` makes and keeps together. The callers own the code.
    unsafe {
        entry(slices.as_ptr(), counters.as_ptr())
    }
}

/// Pointers to the slices of a run, at most `N` with constants and work.
#[inline(always)]
fn pointers<S: Base, const N: usize>(memory: &mut Memory<S>) -> [*mut u8; N] {
    let mut slices = [std::ptr::null_mut::<u8>(); N];
    slices[0] = memory.constants.as_ptr().cast_mut().cast();
    slices[1] = memory.cells.as_mut_ptr().cast();
    let mut at = 2;
    for input in memory.inputs {
        slices[at] = input.as_ptr().cast_mut().cast();
        at += 1;
    }
    for output in memory.outputs.iter_mut() {
        slices[at] = output.as_mut_ptr().cast();
        at += 1;
    }
    slices
}

/// A program that is one function, and one for constants, with constants and work of its own: a call compares the lengths of the slices and
/// runs.
///
/// For programs so small that everything else in a call would take as long. Made by
/// [`Compiled::single`](super::Compiled::single).
#[derive(Clone, Debug)]
pub struct Single<S, const INPUTS: usize, const OUTPUTS: usize> {
    /// Owns the functions.
    _code: Arc<Code>,
    /// Stores the constants that [`run_again`](Self::run_again) finds.
    leading: Option<Entry>,
    entry: Option<Entry>,
    number: Option<NonZeroU64>,
    constants: Arc<[S]>,
    cells: Box<[S]>,
    inputs: [usize; INPUTS],
    outputs: [usize; OUTPUTS],
}

impl<S: Base, const INPUTS: usize, const OUTPUTS: usize> Single<S, INPUTS, OUTPUTS> {
    /// `None` if the program has another number of slices, or loops outside of the function.
    pub(super) fn new(
        code: &Arc<Code>,
        [leading, entry]: [Option<usize>; 2],
        number: Option<NonZeroU64>,
        constants: &[S],
    ) -> Option<Self> {
        const { assert!(2 + INPUTS + OUTPUTS <= FEW) };
        let Lengths { constants: length, work, inputs, outputs, loops } = &code.lengths;
        if *loops > 0 || *length != constants.len() {
            return None;
        }
        Some(Single {
            leading: leading.and_then(|leading| code.entries.get(leading).copied()),
            entry: entry.and_then(|entry| code.entries.get(entry).copied()),
            number,
            constants: constants.into(),
            cells: vec![S::ZERO; *work].into(),
            inputs: inputs[..].try_into().ok()?,
            outputs: outputs[..].try_into().ok()?,
            _code: Arc::clone(code),
        })
    }

    /// Returns whether the slices have the right lengths and all guards held. Otherwise the outputs are meaningless, and
    /// [`Compiled::run`](super::Compiled::run) tells why.
    #[inline(always)]
    pub fn run(&mut self, inputs: &[&[S]; INPUTS], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        self.run_from(self.leading, inputs, outputs)
    }

    /// Does the same where the output of [`Options::kept`](super::Options::kept) is as a run of a program with this
    /// [`number`](Self::number) has left it.
    #[inline(always)]
    pub fn run_again(&mut self, inputs: &[&[S]; INPUTS], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        self.run_from(None, inputs, outputs)
    }

    /// See [`Compiled::number`](super::Compiled::number).
    #[inline(always)]
    pub fn number(&self) -> Option<NonZeroU64> {
        self.number
    }

    #[inline(always)]
    fn run_from(&mut self, leading: Option<Entry>, inputs: &[&[S]; INPUTS], outputs: &mut [&mut [S]; OUTPUTS]) -> bool {
        for (input, length) in inputs.iter().zip(self.inputs) {
            if input.len() != length {
                return false;
            }
        }
        for (output, length) in outputs.iter().zip(self.outputs) {
            if output.len() != length {
                return false;
            }
        }
        let mut memory = Memory { constants: &self.constants, cells: &mut self.cells, inputs, outputs };
        if let Some(leading) = leading {
            // Constants have no guards.
            enter::<S, FEW>(leading, &mut memory, &[]);
        }
        self.entry.is_none_or(|entry| enter::<S, FEW>(entry, &mut memory, &[]) == 0)
    }
}

/// The address of a function that writes sine and cosine of its argument to two pointers, with the bits of the functions of one of
/// them, if the C library has it: it computes both in little more time than one.
pub(super) fn sine_and_cosine_to_pointers() -> Option<usize> {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        #[expect(unsafe_code, reason = "the compiler knows no such function; machine code calls it")]
        unsafe extern "C" {
            fn sincos(x: f64, sine: *mut f64, cosine: *mut f64);
        }
        Some(sincos as *const () as usize)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
    None
}

/// Memory with this code that can be executed and not written.
fn executable(code: &[u8]) -> Result<Option<memmap2::Mmap>, Refused> {
    if code.is_empty() {
        return Ok(None);
    }
    let made = memmap2::MmapMut::map_anon(code.len()).and_then(|mut pages| {
        pages[..code.len()].copy_from_slice(code);
        pages.make_exec()
    });
    match made {
        Ok(pages) => Ok(Some(pages)),
        Err(error) => Err(Refused::Compiler(error.to_string())),
    }
}

#[cfg(feature = "native")]
impl Drop for Code {
    fn drop(&mut self) {
        let Pages::Modules(modules) = &mut self.pages else { return };
        let Ok(modules) = modules.get_mut() else { return };
        for module in modules.drain(..) {
            #[expect(unsafe_code, reason = "code may only be freed when it can no longer run")]
            // SAFETY: running needs a reference to this object, and the addresses never leave it.
            unsafe {
                module.free_memory();
            }
        }
    }
}

thread_local! {
    /// The panic of a user's rule, carried past the machine code, which cannot be unwound.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

/// Resumes the panic of a rule, if there was one.
pub(super) fn resume_panic() {
    if let Some(panic) = PANIC.take() {
        std::panic::resume_unwind(panic);
    }
}

fn kept<S: num_traits::Float>(value: impl FnOnce() -> S) -> S {
    match catch_unwind(AssertUnwindSafe(value)) {
        Ok(value) => value,
        Err(panic) => {
            PANIC.set(Some(panic));
            S::nan()
        }
    }
}

macro_rules! through_rules {
    ($abi:literal $unary:ident $binary:ident $Float:ident) => {
        /// The value of a unary rule by its number, called by machine code.
        pub(super) extern $abi fn $unary(rules: *const Rules, number: u32, x: $Float) -> $Float {
            #[expect(unsafe_code, reason = "machine code hands pointers")]
            // SAFETY: the pointer was written into the code from the `Arc` that `Code` holds.
            let rules = unsafe { &*rules };
            kept(|| rules.apply(number as u16, x))
        }
        /// The value of a binary rule by its number, called by machine code.
        pub(super) extern $abi fn $binary(rules: *const Rules, number: u32, x: $Float, y: $Float) -> $Float {
            #[expect(unsafe_code, reason = "machine code hands pointers")]
            // SAFETY: the pointer was written into the code from the `Arc` that `Code` holds.
            let rules = unsafe { &*rules };
            kept(|| rules.apply2(number as u16, x, y))
        }
    };
}

with_convention! { through_rules unary_f64 binary_f64 f64 }
with_convention! { through_rules unary_f32 binary_f32 f32 }
