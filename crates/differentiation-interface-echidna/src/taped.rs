//! The number of the tape of `echidna`, marked with the recording that it belongs to.
//!
//! The user's function runs on it. The tape is that of the thread, which [`Recording`] installs.

use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::foreign::Foreign;
use differentiation_interface_core::identity::{self, Identity};
use differentiation_interface_core::native_rules;
use differentiation_interface_core::rules::*;
use echidna::tape::{CONSTANT, Tape, TapeGuard, with_active_tape};
use echidna::{Reverse, Scalar as _};
use num_traits::{Float, Signed};
use std::cell::Cell;
use std::num::NonZeroU32;

thread_local! {
    /// The recording whose tape is the active one of this thread.
    static CURRENT: Cell<Option<NonZeroU32>> = const { Cell::new(None) };
}

/// A number of the tape of `echidna`, whose elementary functions are those of that crate.
///
/// `echidna`'s own number is an index into whichever tape is active on the thread. This one knows its recording, so that a number of another
/// recording, an earlier one or one of another thread is an error instead of a wrong derivative or a panic.
#[derive(Clone, Copy, Debug)]
pub struct Taped {
    value: f64,
    index: u32,
    /// `None` for a constant.
    recording: Option<NonZeroU32>,
}

impl Taped {
    /// Applies a function of the crate to a number of the active tape.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_tape(self, f: impl FnOnce(Reverse<f64>) -> Reverse<f64>) -> Taped {
        self.became(f(self.native()))
    }
    /// The same for two numbers, one of which may be a constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn both_on_tape(self, other: Taped, f: impl FnOnce(Reverse<f64>, Reverse<f64>) -> Reverse<f64>) -> Taped {
        Taped { recording: self.recording.or(other.recording), ..self }.became(f(self.native(), other.native()))
    }
    /// A result of the crate on the tape that this number is on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn became(self, y: Reverse<f64>) -> Taped {
        let recording = if y.index() == CONSTANT { None } else { self.recording };
        Taped { value: y.value(), index: y.index(), recording }
    }

    /// Reports numbers that the active tape of this thread does not hold.
    #[cold]
    #[inline(never)]
    fn stray(numbers: [Taped; 2]) {
        let current = CURRENT.get();
        let kind = if current.is_none() { ErrorKind::OtherThread } else { ErrorKind::ForeignNumber };
        numbers.iter().filter_map(|x| x.recording).chain(current).for_each(|id| identity::spoil(id, kind));
    }
}

impl Foreign for Taped {
    type Native = Reverse<f64>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn constant(value: f64) -> Taped {
        Taped { value, index: CONSTANT, recording: None }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(&self) -> f64 {
        self.value
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_constant(&self) -> bool {
        self.recording.is_none()
    }
    fn chain(self, y: f64, dy: f64) -> Taped {
        if !self.computes_with(&self) {
            Taped::stray([self; 2]);
            return Taped::constant(y);
        }
        Taped { value: y, index: with_active_tape(|tape: &mut Tape<f64>| tape.push_unary(self.index, dy)), ..self }
    }
    fn chain2(self, other: Taped, r: f64, dx: f64, dy: f64) -> Taped {
        if !self.computes_with(&other) {
            Taped::stray([self, other]);
            return Taped::constant(r);
        }
        let push = |tape: &mut Tape<f64>| tape.push_binary(self.index, dx, other.index, dy);
        Taped { value: r, index: with_active_tape(push), recording: self.recording.or(other.recording) }
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn native(self) -> Reverse<f64> {
        Reverse::from_tape(self.value, self.index)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_native(native: Reverse<f64>) -> Taped {
        let recording = if native.index() == CONSTANT { None } else { CURRENT.get() };
        Taped { value: native.value(), index: native.index(), recording }
    }
    /// Whether one of the numbers is on the active tape, and the other one too or a constant.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn computes_with(&self, other: &Taped) -> bool {
        let current = CURRENT.get();
        match (self.recording, other.recording) {
            (None, None) => false,
            (None, own) | (own, None) => own == current,
            (own, others) => own == current && own == others,
        }
    }
    fn spoil(&self, kind: ErrorKind) {
        if let Some(recording) = self.recording {
            identity::spoil(recording, kind);
        }
    }

    native_rules! {
        unary x:
            Negate => x.on_tape(|x| -x),
            Recip => x.on_tape(Float::recip),
            Abs => x.on_tape(Float::abs),
            Signum => x.on_tape(Float::signum),
            Floor => x.on_tape(Float::floor),
            Ceil => x.on_tape(Float::ceil),
            Round => x.on_tape(Float::round),
            Trunc => x.on_tape(Float::trunc),
            Fract => x.on_tape(Float::fract),
            Degrees => x.on_tape(Float::to_degrees),
            Radians => x.on_tape(Float::to_radians),
            Sqrt => x.on_tape(Float::sqrt),
            Cbrt => x.on_tape(Float::cbrt),
            Exp => x.on_tape(Float::exp),
            Exp2 => x.on_tape(Float::exp2),
            ExpM1 => x.on_tape(Float::exp_m1),
            Ln => x.on_tape(Float::ln),
            Log2 => x.on_tape(Float::log2),
            Log10 => x.on_tape(Float::log10),
            Ln1p => x.on_tape(Float::ln_1p),
            Sin => x.on_tape(Float::sin),
            Cos => x.on_tape(Float::cos),
            Tan => x.on_tape(Float::tan),
            Asin => x.on_tape(Float::asin),
            Acos => x.on_tape(Float::acos),
            Atan => x.on_tape(Float::atan),
            Sinh => x.on_tape(Float::sinh),
            Cosh => x.on_tape(Float::cosh),
            Tanh => x.on_tape(Float::tanh),
            Asinh => x.on_tape(Float::asinh),
            Acosh => x.on_tape(Float::acosh),
            Atanh => x.on_tape(Float::atanh),
            Powi as p => x.on_tape(|x| Float::powi(x, p.0)),
            Powc as p => x.on_tape(|x| Float::powf(x, Reverse::constant(p.0)));
        binary x, y:
            Plus => x.both_on_tape(y, |x, y| x + y),
            Minus => x.both_on_tape(y, |x, y| x - y),
            Times => x.both_on_tape(y, |x, y| x * y),
            Over => x.both_on_tape(y, |x, y| x / y),
            Modulo => x.both_on_tape(y, |x, y| x % y),
            Powf => x.both_on_tape(y, Float::powf),
            Atan2 => x.both_on_tape(y, Float::atan2),
            Hypot => x.both_on_tape(y, Float::hypot),
            Max => x.both_on_tape(y, Float::max),
            Min => x.both_on_tape(y, Float::min),
            AbsSub => x.both_on_tape(y, |x, y| Signed::abs_sub(&x, &y));
        right x, c:
            Plus => x.on_tape(|x| x + c),
            Minus => x.on_tape(|x| x - c),
            Times => x.on_tape(|x| x * c),
            Over => x.on_tape(|x| x / c),
            Modulo => x.on_tape(|x| x % Reverse::constant(c)),
            Powf => x.on_tape(|x| Float::powf(x, Reverse::constant(c)));
        left c, x:
            Plus => x.on_tape(|x| c + x),
            Minus => x.on_tape(|x| c - x),
            Times => x.on_tape(|x| c * x),
            Over => x.on_tape(|x| c / x);
    }
}

/// A tape that is active on this thread until it is dropped.
pub(crate) struct Recording<'a> {
    _guard: TapeGuard<'a, f64>,
    identity: Identity,
    former: Option<NonZeroU32>,
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.former);
    }
}

impl<'a> Recording<'a> {
    /// Records the inputs on the tape, and passes them to `input`. The entries of the tape begin with the inputs.
    pub(crate) fn begin(tape: &'a mut Tape<f64>, x: impl Iterator<Item = f64>, mut input: impl FnMut(Taped)) -> Self {
        tape.clear();
        let identity = Identity::begin();
        for value in x {
            let (index, value) = tape.new_variable(value);
            input(Taped { value, index, recording: Some(identity.id()) });
        }
        Recording { _guard: TapeGuard::new(tape), identity, former: CURRENT.replace(Some(identity.id())) }
    }

    /// The entry of the tape that an output is; `None` for a constant.
    pub(crate) fn output(&self, y: &Taped) -> Result<Option<u32>, ErrorKind> {
        match y.recording {
            None => Ok(None),
            Some(own) if own == self.identity.id() => Ok(Some(y.index)),
            Some(_) => Err(ErrorKind::ForeignNumber),
        }
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<(), ErrorKind> {
        self.identity.check()
    }
}
