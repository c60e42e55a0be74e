//! The tape: where it lives during a recording, and how adjoints run back over it.
//!
//! Numbers must be `Copy` and come from nothing, so they cannot borrow the tape. While the user's function runs, the entries
//! sit in a [`Slot`] that lives as long as the program; afterwards they move back into the state of the call. Slots are
//! recycled per thread: there are as many as the deepest nesting of recordings needs.

use super::var::VarCore;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::scalar::Scalar;
use fragile::Fragile;
use std::any::Any;
use std::cell::{Cell, RefCell};

/// An entry: the derivatives of one operation with respect to its two arguments, which are inputs or earlier entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<S> {
    partials: [S; 2],
    parents: [u32; 2],
}

/// The place of a running recording. Bound to its thread: a number that wanders to another one is refused there.
#[derive(Debug)]
pub(super) struct Slot<S: Scalar> {
    tape: Fragile<Tape<S>>,
}

#[derive(Debug)]
struct Tape<S> {
    nodes: RefCell<Vec<Node<S>>>,
    inputs: Cell<u32>,
    /// Which recording of this slot is running; entries of another one mean nothing.
    epoch: Cell<u32>,
    fault: Cell<Option<ErrorKind>>,
}

thread_local! {
    /// Free slots of each scalar type, as `Vec<&'static Slot<S>>`.
    static FREE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `action` on the free slots of the scalar `S`.
fn with_free<S: Scalar, R>(action: impl FnOnce(&mut Vec<&'static Slot<S>>) -> R) -> R {
    FREE.with_borrow_mut(|lists| {
        let found = lists.iter().position(|list| list.is::<Vec<&'static Slot<S>>>());
        let index = found.unwrap_or_else(|| {
            lists.push(Box::new(Vec::<&'static Slot<S>>::new()));
            lists.len() - 1
        });
        action(lists[index].downcast_mut().expect("the list was found or made by its type"))
    })
}

impl<S: Scalar> Slot<S> {
    fn acquire() -> &'static Slot<S> {
        with_free(Vec::pop).unwrap_or_else(|| {
            let tape =
                Tape { nodes: RefCell::default(), inputs: Cell::new(0), epoch: Cell::new(0), fault: Cell::new(None) };
            // A few dozen bytes per depth of nesting, scalar type and thread stay for good.
            Box::leak(Box::new(Slot { tape: Fragile::new(tape) }))
        })
    }

    /// Appends the operation with derivatives `partials` with respect to `parents`; `None` if that is impossible.
    #[inline(always)]
    pub(super) fn push(&self, partials: [S; 2], parents: [u32; 2], epoch: u32) -> Option<u32> {
        let tape = self.tape.get();
        if epoch != tape.epoch.get() {
            return tape.refuse(ErrorKind::ForeignNumber);
        }
        let mut nodes = tape.nodes.borrow_mut();
        let index = nodes.len() + tape.inputs.get() as usize;
        if index >= u32::MAX as usize {
            return tape.refuse(ErrorKind::TapeOverflow);
        }
        nodes.push(Node { partials, parents });
        Some(index as u32)
    }

    /// Notes that a number of another recording met one of this.
    #[cold]
    #[inline(never)]
    pub(super) fn note_foreign(&self) {
        self.tape.get().fault.set(Some(ErrorKind::ForeignNumber));
    }
}

impl<S> Tape<S> {
    #[cold]
    #[inline(never)]
    fn refuse(&self, kind: ErrorKind) -> Option<u32> {
        self.fault.set(Some(kind));
        None
    }
}

/// A running recording into the memory of a state. Gives slot and memory back when it ends, also by a panic.
pub(super) struct Recorder<'a, S: Scalar> {
    slot: &'static Slot<S>,
    epoch: u32,
    nodes: &'a mut Vec<Node<S>>,
}

impl<'a, S: Scalar> Recorder<'a, S> {
    pub(super) fn begin(nodes: &'a mut Vec<Node<S>>, inputs: usize) -> Result<Self, Error> {
        let inputs = u32::try_from(inputs).map_err(|_| ErrorKind::TapeOverflow)?;
        let slot = Slot::<S>::acquire();
        let tape = slot.tape.get();
        nodes.clear();
        tape.nodes.swap(&RefCell::new(std::mem::take(nodes)));
        tape.inputs.set(inputs);
        tape.epoch.set(tape.epoch.get().wrapping_add(1));
        tape.fault.set(None);
        Ok(Recorder { slot, epoch: tape.epoch.get(), nodes })
    }

    /// Input `i` with value `value`.
    #[inline(always)]
    pub(super) fn input(&mut self, i: usize, value: S) -> VarCore<S> {
        VarCore::entry(value, self.slot, i as u32, self.epoch)
    }

    /// Which entry an output hangs on, and its derivative with respect to it; nothing for a constant.
    #[inline(always)]
    pub(super) fn output(&self, output: &VarCore<S>) -> Option<(u32, S)> {
        output.hangs_on(self.slot, self.epoch)
    }

    /// Ends the recording. An error if numbers of other recordings entered or the tape overflowed.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.slot.tape.get().fault.get() {
            None => Ok(()),
            Some(kind) => Err(kind.into()),
        }
    }
}

impl<S: Scalar> Drop for Recorder<'_, S> {
    fn drop(&mut self) {
        *self.nodes = self.slot.tape.get().nodes.take();
        with_free(|free| free.push(self.slot));
    }
}

/// Propagates adjoints from the entries back to the inputs, `K` of them at once. Entry `i` of the tape has adjoint
/// `inputs + i`.
#[inline(always)]
pub(super) fn propagate<S: Scalar, const K: usize>(nodes: &[Node<S>], adjoints: &mut [[S; K]], inputs: usize) {
    for (i, node) in nodes.iter().enumerate().rev() {
        let adjoint = adjoints[inputs + i];
        if adjoint.iter().all(S::is_inert_zero) {
            continue;
        }
        for (partial, parent) in node.partials.iter().zip(node.parents) {
            for (sum, a) in adjoints[parent as usize].iter_mut().zip(adjoint) {
                *sum += *partial * a;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_recycled() {
        let count = || with_free::<f64, _>(|free| free.len());
        for _ in 0..3 {
            let mut nodes = Vec::new();
            drop(Recorder::<f64>::begin(&mut nodes, 2).expect("two inputs fit"));
            assert_eq!(count(), 1);
        }
    }

    #[test]
    fn zero_adjoints_do_not_meet_infinite_partials() {
        let nodes = [Node { partials: [f64::INFINITY, 1.0], parents: [0, 1] }];
        let mut adjoints = [[0.0], [0.0], [0.0]];
        propagate(&nodes, &mut adjoints, 2);
        assert_eq!(adjoints, [[0.0], [0.0], [0.0]]);
    }
}
