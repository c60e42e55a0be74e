//! Faults: errors found inside a number's arithmetic, which cannot return a `Result`.
//!
//! Numbers and rules [`raise`] them; operators [`watch`] for them and return them as an [`Error`] of the call. A fault belongs to a
//! thread; where numbers may be on another thread than their operator, it is reported by [`identity::spoil`] as well.

use crate::error::{Error, ErrorKind};
use crate::identity;
use std::cell::Cell;
use std::num::NonZeroU32;

thread_local! {
    static FAULT: Cell<Option<ErrorKind>> = const { Cell::new(None) };
    /// Whether there is a fault: a byte to look at in calls that end well, which are all but a few.
    static RAISED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the operator that is running on this thread return this error. The first fault counts.
#[cold]
#[inline(never)]
pub fn raise(kind: ErrorKind) {
    if !RAISED.replace(true) {
        FAULT.set(Some(kind));
    }
}

/// Takes the fault away.
#[inline]
fn take() -> Option<Error> {
    if RAISED.get() { taken() } else { None }
}

#[cold]
#[inline(never)]
fn taken() -> Option<Error> {
    RAISED.set(false);
    FAULT.take().map(Error::new)
}

/// Runs `call`, and returns the fault raised during it if there is one. Nested calls each return their own.
#[inline]
pub fn watch<R>(call: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let outer = take();
    let result = call();
    let own = take();
    if let Some(outer) = outer {
        raise(outer.kind());
    }
    match own {
        Some(fault) => Err(fault),
        None => result,
    }
}

/// Runs `action` for the differentiation `id`, to which the faults raised in it are reported too: on a thread of the user's there is no
/// operator that would return them.
pub fn charge<R>(id: Option<NonZeroU32>, action: impl FnOnce() -> R) -> R {
    let Some(id) = id else { return action() };
    let outer = take();
    let result = action();
    let own = take();
    if let Some(own) = &own {
        identity::spoil(id, own.kind());
    }
    if let Some(fault) = outer.or(own) {
        raise(fault.kind());
    }
    result
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
                raise(ErrorKind::NoSeeds);
                raise(ErrorKind::TapeOverflow);
                Ok(())
            });
            assert_eq!(inner.map_err(|error| error.kind()), Err(ErrorKind::NoSeeds));
            Ok(7)
        });
        assert_eq!(outer, Ok(7));
    }

    #[test]
    fn a_fault_on_another_thread_is_charged_to_the_differentiation() {
        let own = Identity::begin();
        let id = Some(own.id());
        thread::spawn(move || charge(id, || raise(ErrorKind::NoSeeds))).join().unwrap();
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
        assert!(take().is_none());
        // The operator of this thread returns it as before, and the first one counts.
        let result = watch(|| {
            raise(ErrorKind::TapeOverflow);
            charge(id, || raise(ErrorKind::NoSeeds));
            Ok(())
        });
        assert_eq!(result.map_err(|error| error.kind()), Err(ErrorKind::TapeOverflow));
        assert_eq!(own.check(), Err(ErrorKind::NoSeeds));
    }
}
