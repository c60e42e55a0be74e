//! The code generators: the own one for x86-64, and Cranelift.
//!
//! Called by `build` with one function of intermediate code after the other.

use super::code::Function;
#[cfg(feature = "native")]
use super::cranelift::Cranelift;
use super::options::{Generator, MAX_STACK, Options, Refused};
use super::x64::{self, Level};

/// A code generator with the functions it has made.
pub(super) enum Machine {
    Own {
        level: Level,
        /// All functions, one behind the other.
        code: Vec<u8>,
        entries: Vec<usize>,
    },
    #[cfg(feature = "native")]
    Cranelift(Box<Cranelift>),
}

/// Finished functions.
pub(super) enum Finished {
    /// Bytes, and where functions are entered.
    Bytes(Vec<u8>, Vec<usize>),
    #[cfg(feature = "native")]
    Modules(Vec<cranelift_jit::JITModule>, Vec<*const u8>),
}

/// What the processor has.
fn own_level() -> Option<Level> {
    #[cfg(all(target_arch = "x86_64", any(unix, windows), not(miri)))]
    {
        let has_avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        Some(match super::elementary::has_vectors() {
            true if has_avx512 => Level::Avx512,
            true => Level::Avx2,
            false => Level::Sse2,
        })
    }
    #[cfg(not(all(target_arch = "x86_64", any(unix, windows), not(miri))))]
    {
        None
    }
}

/// The most instructions that a program may have.
pub(super) fn most_instructions(options: &Options) -> usize {
    match (options.generator, own_level()) {
        #[cfg(all(test, feature = "native"))]
        (Generator::Cranelift, _) => options.most_instructions.min(MOST_BY_CRANELIFT),
        (_, Some(_)) => options.most_instructions,
        (_, None) => options.most_instructions.min(MOST_BY_CRANELIFT),
    }
}

/// Cranelift takes 2 µs for an instruction.
const MOST_BY_CRANELIFT: usize = 50_000;

impl Machine {
    /// The code generator for this machine.
    pub(super) fn new(options: &Options) -> Result<Machine, Refused> {
        let own = |level| Machine::Own { level, code: Vec::new(), entries: Vec::new() };
        match (options.generator, own_level()) {
            (Generator::Best, Some(level)) => Ok(own(level)),
            #[cfg(test)]
            (Generator::Sse2, Some(_)) => Ok(own(Level::Sse2)),
            #[cfg(test)]
            (Generator::Avx2, Some(level)) => Ok(own(level.min(Level::Avx2))),
            #[cfg(feature = "native")]
            _ => Ok(Machine::Cranelift(Box::new(Cranelift::new()))),
            #[cfg(not(feature = "native"))]
            _ => Err(Refused::Machine(
                "only x86-64 under Unix or Windows has an own code generator; the feature `native` has others"
                    .to_string(),
            )),
        }
    }

    /// Lanes of the widest vectors of numbers of so many bytes, 1 if there are none; whether numbers are rounded to integers
    /// without a call.
    pub(super) fn abilities(&self, bytes: u32) -> Result<(u32, bool), Refused> {
        match self {
            Machine::Own { level: Level::Sse2, .. } => Ok((16 / bytes, false)),
            Machine::Own { level: Level::Avx2, .. } => Ok((32 / bytes, true)),
            // Vectors of 64 bytes are of doubles.
            Machine::Own { level: Level::Avx512, .. } => Ok((8, true)),
            #[cfg(feature = "native")]
            Machine::Cranelift(_) => Ok((if Cranelift::has_vectors()? { 16 / bytes } else { 1 }, true)),
        }
    }

    /// Makes a function, which counts from 0. Returns its bytes if they are wanted, and their number.
    pub(super) fn add(
        &mut self,
        function: &Function,
        optimised: bool,
        listing: bool,
    ) -> Result<(Option<Vec<u8>>, usize), Refused> {
        match self {
            Machine::Own { level, code, entries } => {
                // It has one way to assign registers.
                let _ = optimised;
                let mut made = x64::assemble(function, *level);
                if made.frame > MAX_STACK {
                    return Err(Refused::Stack { found: made.frame, most: MAX_STACK });
                }
                let length = made.code.len() - made.entry;
                let listed = listing.then(|| made.code[made.entry..].to_vec());
                code.resize(code.len().next_multiple_of(x64::ALIGNMENT), 0xCC);
                entries.push(code.len() + made.entry);
                if code.is_empty() {
                    *code = made.code;
                } else {
                    code.append(&mut made.code);
                }
                Ok((listed, length))
            }
            #[cfg(feature = "native")]
            Machine::Cranelift(cranelift) => cranelift.add(function, optimised, listing),
        }
    }

    /// Ends the work.
    pub(super) fn finish(self) -> Result<Finished, Refused> {
        match self {
            Machine::Own { code, entries, .. } => Ok(Finished::Bytes(code, entries)),
            #[cfg(feature = "native")]
            Machine::Cranelift(cranelift) => {
                let (modules, addresses) = cranelift.finish()?;
                Ok(Finished::Modules(modules, addresses))
            }
        }
    }
}
