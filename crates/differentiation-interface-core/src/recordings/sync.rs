//! Whether a type is `Sync`, in code that is generic over it.
//!
//! Called by `evaluate` for the types of functions.

use std::cell::Cell;
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// Counts how often it is asked for an item. It has none, so that it is fused whatever `F` is, and says so if `F` is `Sync`.
struct Asked<'a, F: ?Sized>(&'a Cell<u32>, PhantomData<F>);

impl<F: ?Sized> Iterator for Asked<'_, F> {
    type Item = ();
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<()> {
        self.0.set(self.0.get() + 1);
        None
    }
}
impl<F: ?Sized + Sync> FusedIterator for Asked<'_, F> {}

/// Whether `F` is `Sync`.
///
/// The compiler has no such question in stable Rust. The documentation of [`FusedIterator`] says that the adapter `fuse` does nothing for
/// an iterator that is fused already: it passes on the second request too. If that changed, `false` would be returned for all types,
/// and functions would stay with the tape; the test below would fail.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_sync<F: ?Sized>() -> bool {
    let requests = Cell::new(0);
    let mut asked = Asked::<F>(&requests, PhantomData).fuse();
    asked.next();
    asked.next();
    requests.get() == 2
}

#[cfg(test)]
mod tests {
    use super::is_sync;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::sync::Mutex;

    fn of<F>(_: &F) -> bool {
        is_sync::<F>()
    }

    #[test]
    fn cells_are_found_in_what_a_closure_captures() {
        let (cell, scratch, data) = (Cell::new(1.0), RefCell::new(vec![1.0]), vec![1.0, 2.0]);
        assert!(!of(&|x: f64| x * cell.get()));
        assert!(!of(&|x: f64| x * scratch.borrow()[0]));
        let shared = Rc::new(1.0);
        assert!(!of(&move |x: f64| x * *shared));
        assert!(of(&|x: f64| x * data[0]));
        assert!(of(&|x: f64| x * x));
        assert!(is_sync::<Mutex<f64>>() && is_sync::<str>());
        assert!(is_sync::<dyn Fn(f64) -> f64 + Sync>() && !is_sync::<dyn Fn(f64) -> f64>());
    }
}
