//! Faults: errors found inside a number's arithmetic, which cannot return a `Result`.
//!
//! Numbers and rules [`report`] them; operators [`watch`] for them and return them as the [`Error`] of the call. Faults are per
//! thread; numbers that may be on another thread than their operator report to [`identity::spoil`] as well.

use crate::error::{Error, ErrorKind};
use crate::identity;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

/// The state of this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No operator runs: no call could return a fault, so it is dropped.
    Idle,
    /// An operator runs.
    Watching,
    /// An operator runs and has a fault, the last of `FAULTS`.
    Reported,
}

thread_local! {
    /// The faults of the running operators, outer before inner.
    static FAULTS: RefCell<Vec<Error>> = const { RefCell::new(Vec::new()) };
    /// One byte, so that calls without a fault read nothing else.
    static STATE: Cell<State> = const { Cell::new(State::Idle) };
}

/// Makes the operator that is running on this thread return this error. Only the first fault counts. Without a running operator
/// the fault is dropped.
#[cold]
#[inline(never)]
pub fn report(kind: ErrorKind) {
    report_error(Error::new(kind));
}

/// The same for an error that has more to say than its kind.
#[cold]
#[inline(never)]
pub fn report_error(error: Error) {
    if STATE.get() == State::Watching {
        STATE.set(State::Reported);
        FAULTS.with_borrow_mut(|faults| faults.push(error));
    }
}

/// Whether an operator runs on this thread and would return a fault.
pub fn is_watched() -> bool {
    STATE.get() != State::Idle
}

/// A running operator, from [`begin`](Watch::begin) to its end, which a panic may bring too.
#[must_use = "faults are found at its end"]
pub struct Watch {
    /// The state of the outer operator.
    outer: State,
}

impl Watch {
    /// From here on faults are those of this operator.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn begin() -> Watch {
        Watch { outer: STATE.replace(State::Watching) }
    }

    /// Returns the result of the operator, or the fault reported since its beginning as the error.
    ///
    /// `Watch::begin().end(call(..))` around a call costs a byte that is written twice and read once. A closure in place of the call may
    /// stay a function of its own, which reads its captures from memory as long as a short program takes.
    ///
    /// # Errors
    /// That of `result`, or the fault.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn end<R>(self, result: Result<R, Error>) -> Result<R, Error> {
        match take() {
            None => result,
            Some(fault) => Err(fault),
        }
    }
}

impl Drop for Watch {
    #[inline]
    fn drop(&mut self) {
        take();
        STATE.set(self.outer);
    }
}

/// Takes the fault of the running operator, if it has one.
#[cfg_attr(not(debug_assertions), inline(always))]
fn take() -> Option<Error> {
    #[cold]
    #[inline(never)]
    fn last() -> Option<Error> {
        STATE.set(State::Watching);
        FAULTS.with_borrow_mut(Vec::pop)
    }
    if STATE.get() == State::Reported { last() } else { None }
}

/// Runs `call`, and returns a fault reported during it as the error. Nested calls each return their own.
///
/// # Errors
/// The first fault that was reported on this thread during the call, even if the call itself returned another error; else the error of the call.
#[inline]
pub fn watch<R>(call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    Watch::begin().end(call())
}

/// Runs `action`, and returns its result and the fault reported during it.
/// If the compiler can prove that the action reports none, as in differentiations on the stack, it removes all of this.
#[inline]
fn caught<R>(action: impl FnOnce() -> R) -> (R, Option<Error>) {
    let watch = Watch::begin();
    let result = action();
    let own = take();
    drop(watch);
    (result, own)
}

/// Runs `action`, and reports its fault to the differentiation `id` too, because on a thread started by the user no operator
/// would return it. Returns whether there was a fault.
pub fn charge(id: Option<NonZeroU32>, action: impl FnOnce()) -> bool {
    let Some(id) = id else {
        action();
        return false;
    };
    let ((), own) = caught(action);
    let Some(error) = own else { return false };
    identity::spoil(id, error.kind());
    report_error(error);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use std::thread;

    #[test]
    fn each_level_returns_its_own_fault() {
        let outer = watch(|| {
            let inner = watch(|| {
                report(ErrorKind::NoSeeds);
                report(ErrorKind::TapeOverflow);
                Ok(())
            });
            assert_eq!(inner.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
            Ok(7)
        });
        assert_eq!(outer, Ok(7));
    }
    #[test]
    fn a_fault_without_an_operator_is_dropped() {
        report(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_panic_leaves_the_fault_of_the_outer_operator() {
        let outer = watch(|| {
            report(ErrorKind::NoSeeds);
            let inner = std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("in the function") }));
            assert!(inner.is_err());
            Ok(())
        });
        assert_eq!(outer.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
        assert!(std::panic::catch_unwind(|| watch(|| -> Result<(), Error> { panic!("alone") })).is_err());
        report(ErrorKind::NoSeeds);
        assert_eq!(watch(|| Ok(1)), Ok(1));
    }

    #[test]
    fn a_fault_on_another_thread_is_charged_to_the_differentiation() {
        let own = Identity::begin();
        let id = Some(own.id());
        thread::spawn(move || charge(id, || report(ErrorKind::NoSeeds))).join().unwrap();
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
        assert_eq!(watch(|| Ok(1)), Ok(1));
        // The operator of this thread returns it as before, and the first one counts.
        let result = watch(|| {
            report(ErrorKind::TapeOverflow);
            charge(id, || report(ErrorKind::NoSeeds));
            Ok(())
        });
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::TapeOverflow));
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
    }
}
