//! Settings of the native compiler, and its refusals.
//!
//! Passed by users to [`Compiled::new`](super::Compiled::new), and returned by it.

/// Maximum stack of a function in bytes: a quarter of the default stack of a thread.
pub(super) const MAX_STACK: usize = 512 << 10;

/// How a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Maximum number of instructions a program may have; machine code may be compiled from four times as many, as bodies of loops are copied. Cranelift,
    /// which takes 2 µs for an instruction, compiles 50,000 at most.
    pub most_instructions: usize,
    /// Functions of at most this many instructions get the careful register allocator of Cranelift, which gives code that runs up to
    /// 1.7 times as fast but takes time that grows faster than the code. The own code generator has one register allocator.
    pub optimised: usize,
    /// Whether vectors are used.
    pub vectors: bool,
    /// Whether [`Compiled::listing`](super::Compiled::listing) is kept.
    pub listing: bool,
    /// The number of an output that [`Compiled::run_again`](super::Compiled::run_again) finds as a run has left it: its constants are then not
    /// stored again. `None`, the default, for none.
    pub kept: Option<usize>,
    /// On how many threads at most large nests run, in chunks; 0 for nests that are not divided, by default. The division does not
    /// depend on this number, so that every number from 1 on has the same results, bit for bit; those of 0 may differ from them by
    /// rounding, as chunks add their sums separately.
    #[cfg(feature = "rayon")]
    pub threads: usize,
    pub(super) generator: Generator,
    #[cfg(feature = "rayon")]
    pub(super) least: Least,
}

/// What is too small to be divided.
#[cfg(feature = "rayon")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Least {
    /// Work of a chunk, in operations.
    pub(super) work: u32,
    /// Work of a nest for each cell and chunk that holds a sum, in operations.
    pub(super) work_of_sum: u32,
    /// Regions with fewer cells are cleared by the caller.
    pub(super) cleared: u32,
}

#[cfg(feature = "rayon")]
impl Least {
    /// A chunk takes some 10 µs, ten times as long as its start; adding sums takes little of the work of a nest.
    pub(super) const STANDARD: Least = Least { work: 40_000, work_of_sum: 64, cleared: 4096 };
    /// Everything is divided.
    #[cfg(test)]
    pub(super) const NOTHING: Least = Least { work: 1, work_of_sum: 0, cleared: 1 };
}

/// A code generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    /// The own one if the machine has one, or else Cranelift.
    Best,
    /// The own one with SSE2 alone.
    #[cfg(test)]
    Sse2,
    /// The own one without AVX-512.
    #[cfg(test)]
    Avx2,
    /// Cranelift.
    #[cfg(all(test, feature = "native"))]
    Cranelift,
}

impl Default for Options {
    /// At most 4,000,000 instructions, the careful register allocator up to 1500, vectors, no listing, no output that is kept, one thread.
    fn default() -> Options {
        Options {
            most_instructions: 4_000_000,
            optimised: 1500,
            vectors: true,
            listing: false,
            kept: None,
            #[cfg(feature = "rayon")]
            threads: 0,
            generator: Generator::Best,
            #[cfg(feature = "rayon")]
            least: Least::STANDARD,
        }
    }
}

/// Why a program was not compiled; the portable executor can run it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// There is no code generator for this machine.
    Machine(String),
    /// The code would be too long.
    TooLarge {
        /// Number of instructions of the program.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// A function would take too much stack for its results.
    Stack {
        /// Bytes it would take.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// The program has too many input and output slices.
    TooManySlices {
        /// Number of slices of the program.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// The program refers to a cell or a result that does not exist.
    Inconsistent,
    /// Cranelift, or the operating system where memory for code was requested, returned an error.
    Compiler(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Machine(reason) => {
                write!(
                    f,
                    "native code was requested on a machine that it does not support ({reason}); use the portable executor"
                )
            }
            Refused::TooLarge { found, most } => {
                write!(
                    f,
                    "native code was requested for {found} instructions in a program or in one body, the limit is {most}; use the portable executor"
                )
            }
            Refused::Stack { found, most } => {
                write!(
                    f,
                    "native code was requested that takes {found} bytes of stack, the limit is {most}; use the portable executor"
                )
            }
            Refused::TooManySlices { found, most } => {
                write!(f, "native code takes at most {most} slices, the program has {found}; use the portable executor")
            }
            Refused::Inconsistent => {
                write!(f, "the program refers to a cell or a result that does not exist; compile the graph again")
            }
            Refused::Compiler(reason) => write!(f, "the native compiler failed ({reason}); use the portable executor"),
        }
    }
}

impl std::error::Error for Refused {}
