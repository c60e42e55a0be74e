//! The tape: where it lives during a recording, and how adjoints run back over it.
//!
//! Numbers must be `Copy` and come from nothing, so they cannot borrow the tape. While the user's function runs, the entries
//! sit in a [`Slot`] that lives as long as the program; afterwards they move back into the state of the call. Slots are
//! recycled per thread: there are as many as the deepest nesting of recordings needs.
//!
//! The innermost recording over `f64` keeps its entries in a [`Desk`] instead, a plain thread-local that is reached without
//! the thread check of a slot: two thirds of the time of a recording went into that check. An inner recording over `f64`
//! moves the outer one's entries to its slot and back, so numbers of a suspended recording still work, the slow way.
//!
//! All of this is the same for entries with first derivatives, [`Node`], and for those with second ones, which live in
//! `twice_tape.rs`: they are an [`Entry`] each.

use super::twice_tape::{TwiceCall, TwiceNode};
use super::var::VarCore;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::scalar::Scalar;
use fragile::Fragile;
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

/// What a tape is made of.
pub(super) trait Entry: Copy + fmt::Debug + Send + Sync + 'static {
    /// What custom rules leave on the tape.
    type Call: Clone + Send + Sync + 'static;
    /// An entry without arguments.
    fn source() -> Self;
    /// Runs `action` on the desk for entries of this type, if there is one and this thread has not ended.
    fn with_desk<R>(action: impl FnOnce(&Desk<Self>) -> R) -> Option<R>;
}

/// The table of desks: on each, entries of one type over `f64`.
macro_rules! entry_with_desk {
    ($DESK:ident: $Node:ident, $Call:ident, source $source:expr) => {
        thread_local! {
            static $DESK: Desk<$Node<f64>> = const { Desk::new() };
        }
        impl<S: Scalar> Entry for $Node<S> {
            type Call = $Call<S>;
            #[inline(always)]
            fn source() -> Self {
                $source
            }
            // The type test is decided when this is compiled. `try_with` is inlined where `with` is not, and then the
            // entry stays in registers.
            #[inline(always)]
            fn with_desk<R>(action: impl FnOnce(&Desk<Self>) -> R) -> Option<R> {
                if TypeId::of::<S>() != TypeId::of::<f64>() {
                    return None;
                }
                $DESK.try_with(|desk| (desk as &dyn Any).downcast_ref().map(action)).ok().flatten()
            }
        }
    };
}
entry_with_desk! { DESK: Node, Call, source Node { partials: [S::default(); 2], parents: [0; 2] } }
entry_with_desk! {
    TWICE_DESK: TwiceNode, TwiceCall, source TwiceNode {
        partials: [S::default(); 2],
        seconds: [S::default(); 3],
        parents: [0; 2],
    }
}

/// An entry: the derivatives of one operation with respect to its two arguments, which are inputs or earlier entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<S> {
    pub(super) partials: [S; 2],
    pub(super) parents: [u32; 2],
}

/// A custom rule on the tape: its outputs are a row of entries without arguments of their own.
#[derive(Clone)]
pub(super) struct Call<S> {
    /// The first output's entry.
    pub(super) first: u32,
    pub(super) outputs: usize,
    /// Per argument, the entry it hangs on and its derivative with respect to it; nothing for a constant.
    pub(super) arguments: Vec<Option<(u32, S)>>,
    pub(super) pullback: Pullback<S>,
}

/// Fills the second slice, cotangents of the arguments, from the first, cotangents of the outputs.
pub(super) type Pullback<S> = Arc<dyn Fn(&[S], &mut [S]) + Send + Sync>;

impl<S> fmt::Debug for Call<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({} -> {})", self.arguments.len(), self.outputs)
    }
}

/// The place of a running recording. Bound to its thread: a number that wanders to another one is refused there.
pub(super) struct Slot<E: Entry> {
    tape: Fragile<Tape<E>>,
}

struct Tape<E: Entry> {
    nodes: RefCell<Vec<E>>,
    calls: RefCell<Vec<E::Call>>,
    inputs: Cell<u32>,
    /// Which recording of this slot is running; entries of another one mean nothing.
    epoch: Cell<u32>,
    fault: Cell<Option<ErrorKind>>,
}

impl<E: Entry> fmt::Debug for Slot<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot")
    }
}

thread_local! {
    /// Free slots of each type of entries, as `Vec<&'static Slot<E>>`.
    static FREE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `action` on the free slots for entries `E`.
fn with_free<E: Entry, R>(action: impl FnOnce(&mut Vec<&'static Slot<E>>) -> R) -> R {
    FREE.with_borrow_mut(|lists| {
        let found = lists.iter().position(|list| list.is::<Vec<&'static Slot<E>>>());
        let index = found.unwrap_or_else(|| {
            lists.push(Box::new(Vec::<&'static Slot<E>>::new()));
            lists.len() - 1
        });
        action(lists[index].downcast_mut().expect("the list was found or made by its type"))
    })
}

impl<E: Entry> Slot<E> {
    fn acquire() -> &'static Slot<E> {
        if let Some(spare) = E::with_desk(|desk| desk.spare.take()).flatten() {
            return spare;
        }
        with_free(Vec::pop).unwrap_or_else(|| {
            let tape = Tape {
                nodes: RefCell::default(),
                calls: RefCell::default(),
                inputs: Cell::new(0),
                epoch: Cell::new(0),
                fault: Cell::new(None),
            };
            // A few dozen bytes per depth of nesting, type of entries and thread stay for good.
            Box::leak(Box::new(Slot { tape: Fragile::new(tape) }))
        })
    }

    fn release(&'static self) {
        let displaced = E::with_desk(|desk| desk.spare.replace(Some(self))).unwrap_or(Some(self));
        if let Some(slot) = displaced {
            with_free(|free| free.push(slot));
        }
    }

    /// Appends an entry; its number, or `None` if that is impossible.
    #[inline(always)]
    pub(super) fn push(&'static self, node: E, epoch: u32) -> Option<u32> {
        match E::with_desk(|desk| desk.push(node, ptr::from_ref(self).addr(), epoch)) {
            Some(Some(entry)) => Some(entry),
            Some(None) => self.push_past_desk(node, epoch),
            None => self.push_in_slot(node, epoch),
        }
    }

    /// Appends an entry that the desk has refused.
    #[cold]
    #[inline(never)]
    fn push_past_desk(&'static self, node: E, epoch: u32) -> Option<u32> {
        self.push_in_slot(node, epoch)
    }

    /// Appends to the entries in the slot, unless they are on the desk. Inlined, as a call would pass the entry in memory.
    #[inline(always)]
    fn push_in_slot(&'static self, node: E, epoch: u32) -> Option<u32> {
        let tape = self.tape.get();
        if epoch != tape.epoch.get() {
            return tape.refuse(ErrorKind::ForeignNumber);
        }
        let mut nodes = tape.nodes.borrow_mut();
        let index = nodes.len() + tape.inputs.get() as usize;
        if index >= u32::MAX as usize || self.is_on_desk() {
            return tape.refuse(ErrorKind::TapeOverflow);
        }
        nodes.push(node);
        Some(index as u32)
    }

    #[inline]
    fn is_on_desk(&'static self) -> bool {
        E::with_desk(|desk| desk.is_open_at(ptr::from_ref(self).addr())).unwrap_or(false)
    }

    /// Appends a custom rule with `outputs` outputs, made by `make` from the entry of the first one, which is returned;
    /// `None` if that is impossible.
    pub(super) fn push_call(
        &'static self,
        outputs: usize,
        epoch: u32,
        make: impl FnOnce(u32) -> E::Call,
    ) -> Option<u32> {
        let mut first = None;
        for _ in 0..outputs {
            let entry = self.push(E::source(), epoch)?;
            first.get_or_insert(entry);
        }
        let first = first?;
        self.tape.get().calls.borrow_mut().push(make(first));
        Some(first)
    }

    /// Whether a number of the recording `own` is one of the recording `epoch` of this slot; notes it if not.
    #[inline(always)]
    pub(super) fn owns(&'static self, own: (&'static Slot<E>, u32), epoch: u32) -> bool {
        let owns = std::ptr::eq(own.0, self) && own.1 == epoch;
        if !owns {
            self.note_foreign();
        }
        owns
    }

    /// Notes that a number of another recording met one of this.
    #[cold]
    #[inline(never)]
    pub(super) fn note_foreign(&self) {
        self.tape.get().fault.set(Some(ErrorKind::ForeignNumber));
    }
}

impl<E: Entry> Tape<E> {
    #[cold]
    #[inline(never)]
    fn refuse(&self, kind: ErrorKind) -> Option<u32> {
        self.fault.set(Some(kind));
        None
    }
}

/// Where the innermost recording over `f64` of a thread keeps its entries.
pub(super) struct Desk<E: Entry> {
    /// The entries; without a destructor, which makes access plain. Empty while nothing is recorded.
    nodes: RefCell<ManuallyDrop<Vec<E>>>,
    /// The slot of that recording, with a copy of what its tape says.
    slot: Cell<Option<&'static Slot<E>>>,
    epoch: Cell<u32>,
    inputs: Cell<u32>,
    /// A free slot, without a look at the list of them.
    spare: Cell<Option<&'static Slot<E>>>,
}

impl<E: Entry> Desk<E> {
    const fn new() -> Self {
        Desk {
            nodes: RefCell::new(ManuallyDrop::new(Vec::new())),
            slot: Cell::new(None),
            epoch: Cell::new(0),
            inputs: Cell::new(0),
            spare: Cell::new(None),
        }
    }

    /// Puts the entries on the desk back into their slot, and takes those of `slot`. Returns the former slot.
    fn switch_to(&self, slot: Option<&'static Slot<E>>) -> Option<&'static Slot<E>> {
        let former = self.slot.replace(slot);
        let mut nodes = self.nodes.borrow_mut();
        if let Some(former) = former {
            former.tape.get().nodes.replace(std::mem::take(&mut **nodes));
        }
        if let Some(slot) = slot {
            let tape = slot.tape.get();
            **nodes = tape.nodes.take();
            self.epoch.set(tape.epoch.get());
            self.inputs.set(tape.inputs.get());
        }
        former
    }

    /// Whether the entries on it belong to the slot at `address`. Slots are never freed, and belong to one thread.
    #[inline(always)]
    fn is_open_at(&self, address: usize) -> bool {
        self.slot.get().is_some_and(|slot| ptr::from_ref(slot).addr() == address)
    }

    /// Appends an entry of the recording on the desk; `None` if it belongs to another one or the tape is full.
    #[inline(always)]
    fn push(&self, node: E, slot: usize, epoch: u32) -> Option<u32> {
        if !self.is_open_at(slot) || self.epoch.get() != epoch {
            return None;
        }
        let mut nodes = self.nodes.try_borrow_mut().ok()?;
        let index = nodes.len() + self.inputs.get() as usize;
        if index >= u32::MAX as usize {
            return None;
        }
        nodes.push(node);
        Some(index as u32)
    }
}

/// A running recording into the memory of a state. Gives slot and memory back when it ends, also by a panic.
pub(super) struct Recorder<'a, E: Entry> {
    pub(super) slot: &'static Slot<E>,
    pub(super) epoch: u32,
    /// The recording that was on the desk before.
    suspended: Option<&'static Slot<E>>,
    nodes: &'a mut Vec<E>,
    calls: &'a mut Vec<E::Call>,
}

impl<'a, E: Entry> Recorder<'a, E> {
    pub(super) fn begin(nodes: &'a mut Vec<E>, calls: &'a mut Vec<E::Call>, inputs: usize) -> Result<Self, Error> {
        let inputs = u32::try_from(inputs).map_err(|_| ErrorKind::TapeOverflow)?;
        let slot = Slot::<E>::acquire();
        let tape = slot.tape.get();
        nodes.clear();
        tape.nodes.replace(std::mem::take(nodes));
        calls.clear();
        tape.calls.replace(std::mem::take(calls));
        tape.inputs.set(inputs);
        tape.epoch.set(tape.epoch.get().wrapping_add(1));
        tape.fault.set(None);
        let suspended = E::with_desk(|desk| desk.switch_to(Some(slot))).flatten();
        Ok(Recorder { slot, epoch: tape.epoch.get(), suspended, nodes, calls })
    }

    /// Ends the recording. An error if numbers of other recordings entered or the tape overflowed.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.slot.tape.get().fault.get() {
            None => Ok(()),
            Some(kind) => Err(kind.into()),
        }
    }
}

impl<S: Scalar> Recorder<'_, Node<S>> {
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
}

impl<E: Entry> Drop for Recorder<'_, E> {
    fn drop(&mut self) {
        E::with_desk(|desk| desk.switch_to(self.suspended));
        *self.nodes = self.slot.tape.get().nodes.take();
        *self.calls = self.slot.tape.get().calls.take();
        self.slot.release();
    }
}

/// Propagates adjoints from the entries back to the inputs, `K` of them at once. Entry `i` of the tape has adjoint
/// `inputs + i`.
#[inline(always)]
pub(super) fn propagate<S: Scalar, const K: usize>(nodes: &[Node<S>], adjoints: &mut [[S; K]], inputs: usize) {
    // Shared cells, because an entry's adjoint and those of its arguments lie in one array.
    let adjoints = Cell::from_mut(adjoints).as_slice_of_cells();
    for (node, adjoint) in nodes.iter().zip(&adjoints[inputs..inputs + nodes.len()]).rev() {
        let adjoint = adjoint.get();
        if adjoint.iter().all(S::is_inert_zero) {
            continue;
        }
        for (partial, parent) in node.partials.iter().zip(node.parents) {
            let target = &adjoints[parent as usize];
            let mut sums = target.get();
            for (sum, a) in sums.iter_mut().zip(adjoint) {
                *sum += *partial * a;
            }
            target.set(sums);
        }
    }
}

/// Propagates adjoints back over entries and custom rules.
pub(super) fn propagate_with_calls<S: Scalar, const K: usize>(
    nodes: &[Node<S>],
    calls: &[Call<S>],
    adjoints: &mut [[S; K]],
    inputs: usize,
) {
    let mut end = nodes.len();
    for call in calls.iter().rev() {
        let first = call.first as usize - inputs;
        if first >= end {
            continue;
        }
        let after = first + call.outputs;
        if after < end {
            propagate(&nodes[after..end], adjoints, inputs + after);
        }
        call.propagate(adjoints);
        end = first;
    }
    propagate(&nodes[..end], adjoints, inputs);
}

impl<S: Scalar> Call<S> {
    fn propagate<const K: usize>(&self, adjoints: &mut [[S; K]]) {
        for lane in 0..K {
            let outputs = &adjoints[self.first as usize..][..self.outputs];
            let dy: Vec<S> = outputs.iter().map(|adjoint| adjoint[lane]).collect();
            if dy.iter().all(S::is_inert_zero) {
                continue;
            }
            let mut dx = vec![S::default(); self.arguments.len()];
            (self.pullback)(&dy, &mut dx);
            for (argument, dx) in self.arguments.iter().zip(dx) {
                if let Some((entry, derivative)) = *argument {
                    adjoints[entry as usize][lane] += derivative * dx;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots that are free after three recordings, and after two at once.
    fn recycled<E: Entry>() -> [usize; 2] {
        let spare = || usize::from(E::with_desk(|desk| desk.spare.get().is_some()).unwrap_or(false));
        let count = || with_free::<E, _>(|free| free.len()) + spare();
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let (mut outer_calls, mut inner_calls) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            drop(Recorder::<E>::begin(&mut outer, &mut outer_calls, 2).expect("two inputs fit"));
        }
        let one = count();
        for _ in 0..3 {
            let _outer = Recorder::<E>::begin(&mut outer, &mut outer_calls, 2).expect("two inputs fit");
            drop(Recorder::<E>::begin(&mut inner, &mut inner_calls, 2).expect("two inputs fit"));
        }
        [one, count()]
    }

    #[test]
    fn slots_are_recycled() {
        assert_eq!(recycled::<Node<f32>>(), [1, 2]);
        assert_eq!(recycled::<Node<f64>>(), [1, 2]);
        assert_eq!(recycled::<TwiceNode<f64>>(), [1, 2]);
    }

    #[test]
    fn zero_adjoints_do_not_meet_infinite_partials() {
        let nodes = [Node { partials: [f64::INFINITY, 1.0], parents: [0, 1] }];
        let mut adjoints = [[0.0], [0.0], [0.0]];
        propagate(&nodes, &mut adjoints, 2);
        assert_eq!(adjoints, [[0.0], [0.0], [0.0]]);
    }
}
