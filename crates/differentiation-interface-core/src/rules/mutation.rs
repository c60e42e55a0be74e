//! Rules broken on purpose, one at a time, to test the tests. Compiled with `--cfg mutate_rules` only.
//!
//! Called by every rule of the table in such a build; set by `tests/mutate_rules.rs` of `differentiation-interface`.

use crate::arithmetic::{Base, Partial, Scalar};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static BROKEN: AtomicU64 = AtomicU64::new(0);
static WAY: AtomicU64 = AtomicU64::new(0);
static CHANGED: AtomicBool = AtomicBool::new(false);

/// The part of a rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The value.
    Value = 1,
    /// The derivative, or that by the first argument.
    First = 2,
    /// The derivative by the second argument.
    Second = 3,
}

/// How it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Off by a factor and a summand near one and zero.
    Off = 0,
    /// Zero.
    Zero = 1,
    /// Of the wrong sign.
    Negated = 2,
}

/// Breaks the rule of this name and parameter, in all threads, until the next call.
pub fn break_rule(name: &str, parameter: Option<u64>, part: Part, way: Way) {
    WAY.store(way as u64, Relaxed);
    CHANGED.store(false, Relaxed);
    BROKEN.store(id(name, parameter, part), Relaxed);
}

/// Restores all rules; returns whether the broken rule was used with an effect.
pub fn mend_rules() -> bool {
    BROKEN.store(0, Relaxed);
    CHANGED.load(Relaxed)
}

/// A number for a part of a rule (FNV-1a), never 0.
fn id(name: &str, parameter: Option<u64>, part: Part) -> u64 {
    let parameter = parameter.unwrap_or(u64::MAX).to_le_bytes();
    let bytes = name.bytes().chain(parameter).chain([part as u8]);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3)) | 1
}

fn is_broken(name: &str, parameter: Option<u64>, part: Part) -> bool {
    let broken = BROKEN.load(Relaxed);
    broken != 0 && broken == id(name, parameter, part)
}

/// A value, broken if this rule is the broken one.
pub(super) fn value<B: Base>(name: &str, parameter: Option<u64>, value: B) -> B {
    if !is_broken(name, parameter, Part::Value) {
        return value;
    }
    CHANGED.store(true, Relaxed);
    value * B::from_f64(1.001) + B::from_f64(0.003)
}

/// A partial derivative, broken if this rule is the broken one.
pub(super) fn partial<S: Scalar>(name: &str, parameter: Option<u64>, part: Part, partial: Partial<S>) -> Partial<S> {
    if !is_broken(name, parameter, part) {
        return partial;
    }
    let number = partial.value();
    let constant = |c: f64| S::constant(S::Base::from_f64(c));
    let (broken, changed) = match WAY.load(Relaxed) {
        1 => (constant(0.0), !number.is_inert_zero()),
        2 => (-number, !number.is_inert_zero()),
        _ => (number * constant(1.001) + constant(0.003), true),
    };
    if changed {
        CHANGED.store(true, Relaxed);
    }
    Partial::Value(broken)
}
