//! The back end for x86-64: bytes from intermediate code.
//!
//! Called by `machine`. One pass backwards finds the next uses of values (`lifetimes`), one pass forwards assigns registers
//! (`registers`, `loops`) and writes instructions (`select`, `shuffle`, `encode`) at the same time.
//!
//! # What does the code assume?
//! The System V calling convention, on every operating system: the callers and the functions called are declared so. Vectors of
//! 32 bytes and the three-operand encoding are used where the processor has AVX2, vectors of 64 bytes where it has AVX-512 (F and DQ);
//! otherwise SSE2 alone, with which rounding to integers is a call. Vectors of 64 bytes are of doubles and use the first 16 registers
//! and masks within one line, so that all else is the same with and without them.

mod encode;
mod lifetimes;
mod loops;
mod registers;
mod select;
mod shuffle;

use super::code::{Function, Value};
use crate::sorting;
use encode::{Bytes, Length, R11, RAX, RDI, RSI, RSP, Rm};
use lifetimes::{INTEGERS, Lifetimes, NEVER};
use registers::{PRESERVED, Writer};

/// Instructions of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// SSE2, which every processor has.
    Sse2,
    /// AVX2.
    Avx2,
    /// AVX-512, of which F and DQ, and AVX2.
    Avx512,
}

/// A function as bytes, which may be at any address that is a multiple of [`ALIGNMENT`].
pub(super) struct Assembled {
    pub(super) code: Vec<u8>,
    /// Where it is entered.
    pub(super) entry: usize,
    /// Bytes of its frame.
    pub(super) frame: usize,
}

/// The alignment of functions.
pub(super) const ALIGNMENT: usize = 64;
/// Space for the beginning of a function, which is written last.
const BEGINNING: usize = 64;
/// Bytes that are touched at once at most when the frame is made, so that the guard page of the stack is not stepped over.
const PAGE: i32 = 4096;

/// Writes a function.
pub(super) fn assemble(function: &Function, level: Level) -> Assembled {
    let lifetimes = Lifetimes::of(function);
    let mut writer = Writer::new(function, &lifetimes, level >= Level::Avx2);
    writer.bytes.code.resize(BEGINNING, 0xCC);
    for (value, register) in [(Value::SLICES, RDI), (Value::COUNTERS, RSI)] {
        writer.next[value.index()] = lifetimes.arguments[value.index()];
        if writer.next[value.index()] != NEVER {
            writer.hold(value, INTEGERS, register);
        }
    }
    for i in 0..function.len() {
        if !lifetimes.idle[i] {
            writer.line(i);
        }
    }
    let used: Vec<u8> = (0..16).filter(|register| writer.touched & PRESERVED & 1 << register != 0).collect();
    // Vectors in a frame that begins at a cache line are in one line each. Calls need a stack pointer that is a multiple of 16; the address
    // of the caller is 8 bytes.
    let is_aligned = writer.has_vectors_in_frame;
    let mut frame = if is_aligned { (writer.frame + 8 + 63) / 64 * 64 } else { (writer.frame + 15) / 16 * 16 };
    if !is_aligned && used.len().is_multiple_of(2) {
        frame += 8;
    }
    // Guards leave from anywhere.
    let longest = writer.longest;
    let Writer { bytes: mut code, exits, pool, .. } = writer;
    code.result(0);
    let end = code.code.len();
    if longest > Length::Xmm {
        code.clear_upper_halves();
    }
    if is_aligned {
        code.load(RSP, Rm::frame(frame - 8));
    } else if frame > 0 {
        code.add_constant(RSP, frame);
    }
    used.iter().rev().for_each(|register| code.pop(*register));
    code.leave();
    let mut guards: Vec<u16> = exits.iter().map(|exit| exit.1).collect();
    sorting::sort(&mut guards);
    guards.dedup();
    for guard in guards {
        exits.iter().filter(|exit| exit.1 == guard).for_each(|exit| code.land(exit.0));
        code.result(guard as u32 + 1);
        code.jump(end);
    }
    let beginning = beginning(&used, frame, is_aligned);
    let entry = BEGINNING - beginning.len();
    code.code[entry..BEGINNING].copy_from_slice(&beginning);
    append_pool(&mut code, &pool, function.bytes as usize);
    Assembled { code: code.code, entry, frame: frame as usize + 8 * used.len() + 8 + if is_aligned { 48 } else { 0 } }
}

/// Saves registers and makes the frame. One that is to be aligned has the stack pointer from before at its end.
fn beginning(used: &[u8], frame: i32, is_aligned: bool) -> Vec<u8> {
    let mut bytes =
        Bytes { code: Vec::with_capacity(BEGINNING), vex: false, pooled: Vec::new(), upper: false, flags: false };
    used.iter().for_each(|register| bytes.push(*register));
    if is_aligned {
        bytes.load(R11, Rm::Register(RSP));
        bytes.round_down(RSP, 64);
    }
    if frame > PAGE {
        bytes.set(RAX, (frame / PAGE) as i64);
        let again = bytes.code.len();
        bytes.subtract_constant(RSP, PAGE);
        bytes.general(&[0x85], true, RSP, Rm::frame(0), 0);
        bytes.add_constant(RAX, -1);
        bytes.back_if_different(again);
    }
    let rest = if frame > PAGE { frame % PAGE } else { frame };
    if rest > 0 {
        bytes.subtract_constant(RSP, rest);
    }
    if is_aligned {
        bytes.store(Rm::frame(frame - 8), R11);
    }
    bytes.code
}

/// Appends the constants that instructions refer to, the longest first, which keeps all aligned, and fills in the distances to them.
fn append_pool(bytes: &mut Bytes, pool: &[(u64, u8)], size: usize) {
    if bytes.pooled.is_empty() {
        return;
    }
    bytes.align(64);
    let mut is_used = vec![false; pool.len()];
    bytes.pooled.iter().for_each(|pooled| is_used[pooled.2 as usize] = true);
    let mut places: Vec<Option<usize>> = vec![None; pool.len()];
    for wanted in [8, 4, 2, 1] {
        for (constant, (bits, lanes)) in pool.iter().enumerate() {
            if *lanes == wanted && is_used[constant] {
                places[constant] = Some(bytes.code.len());
                (0..wanted).for_each(|_| bytes.code.extend_from_slice(&bits.to_le_bytes()[..size]));
            }
        }
    }
    for (at, end, constant) in std::mem::take(&mut bytes.pooled) {
        let place = places[constant as usize].expect("all constants that are used have a place");
        let distance = (place as i64 - end as i64) as i32;
        bytes.code[at as usize..at as usize + 4].copy_from_slice(&distance.to_le_bytes());
    }
}
