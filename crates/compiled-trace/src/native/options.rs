//! How code is made, and why it is not.
//!
//! Given by users to [`Compiled::new`](super::Compiled::new), and handed back.

/// How a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Most instructions a program may have; more fall out of the instruction cache and gain nothing.
    pub most_instructions: usize,
    /// Functions of at most this many instructions get the careful register allocator, which gives code that runs up to 1.7
    /// times as fast but takes time that grows faster than the code.
    pub optimised: usize,
    /// Whether vectors are used.
    pub vectors: bool,
    /// Whether [`Compiled::listing`](super::Compiled::listing) is kept.
    pub listing: bool,
}

impl Default for Options {
    /// At most 50,000 instructions, the careful register allocator up to 1500, vectors, no listing.
    fn default() -> Options {
        Options { most_instructions: 50_000, optimised: 1500, vectors: true, listing: false }
    }
}

/// Why a program was not compiled; the portable executor runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// There is no compiler for this machine.
    Machine(String),
    /// The program would become too much code.
    TooLarge {
        /// Its instructions.
        found: usize,
        /// The most there may be.
        most: usize,
    },
    /// A function would take too much stack for its results.
    Stack {
        /// Bytes it would take.
        found: usize,
        /// The most there may be.
        most: usize,
    },
    /// The program has too many input and output slices.
    TooManySlices {
        /// How many it has.
        found: usize,
        /// The most there may be.
        most: usize,
    },
    /// A cell or an operand of the program does not exist.
    Inconsistent,
    /// The compiler failed.
    Compiler(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Machine(reason) => {
                write!(f, "native code was asked for on a machine without it ({reason}); use the portable executor")
            }
            Refused::TooLarge { found, most } => {
                write!(
                    f,
                    "native code of {found} instructions was asked for, the limit is {most}; use the portable executor"
                )
            }
            Refused::Stack { found, most } => {
                write!(
                    f,
                    "native code that takes {found} bytes of stack was asked for, the limit is {most}; use the portable executor"
                )
            }
            Refused::TooManySlices { found, most } => {
                write!(f, "native code takes at most {most} slices, the program has {found}; use the portable executor")
            }
            Refused::Inconsistent => {
                write!(f, "the program names a cell or a result that does not exist; compile the graph again")
            }
            Refused::Compiler(reason) => write!(f, "the native compiler failed ({reason}); use the portable executor"),
        }
    }
}

impl std::error::Error for Refused {}
