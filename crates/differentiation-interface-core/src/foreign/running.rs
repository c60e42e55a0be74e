//! Which foreign engines run on a thread.
//!
//! Entered by [`ForwardState`](super::ForwardState). Foreign numbers carry no [identity](crate::identity): a number of an outer differentiation that an
//! inner function captures would be taken for one of the inner differentiation, and the result would be wrong.

use crate::error::ErrorKind;
use std::any::TypeId;
use std::cell::RefCell;

thread_local! {
    /// The numbers of the engines that run, outer before inner.
    static RUNNING: RefCell<Vec<TypeId>> = const { RefCell::new(Vec::new()) };
}

/// An engine that runs on this thread, until it is dropped.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// Enters an engine whose numbers are `T`.
    ///
    /// # Errors
    /// [`ErrorKind::NestedInItself`] if the engine runs on this thread already and the function captures data, among which there may be
    /// numbers of the outer differentiation.
    pub fn enter<T: 'static>(captures: bool) -> Result<Running, ErrorKind> {
        let engine = TypeId::of::<T>();
        RUNNING.with_borrow_mut(|running| {
            if captures && running.contains(&engine) {
                return Err(ErrorKind::NestedInItself);
            }
            running.push(engine);
            Ok(Running(()))
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(Vec::pop);
    }
}
