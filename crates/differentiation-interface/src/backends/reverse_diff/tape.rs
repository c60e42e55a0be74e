//! The tape: its storage during a recording, and the reverse sweep of adjoints over it.
//!
//! Numbers are `Copy` and constants are made without access to a tape, so numbers cannot borrow it: they carry the identity of their
//! recording. While the user's function runs, thread-local storage holds the entries; afterwards they move back into the state of
//! the call. A number whose recording does not run on this thread, because it was sent here or kept from an earlier call, becomes a
//! [stray](identity::STRAY); its recording, if it runs on another thread, ends with an error.
//!
//! The innermost recording over `f64` keeps its entries on a [`ThreadTape`], a plain thread-local. An inner recording over `f64` moves
//! the outer one's entries to the [`OPEN`] tapes and back. Recordings over other scalars are always among these. Numbers of a suspended
//! recording still work, but are slower.
//!
//! All of this is generic over the [`Entry`]: [`Node`], with first derivatives, or the entry of `twice_tape.rs`, which has second
//! derivatives too.

use differentiation_interface_core::custom::KeptPullback;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::identity::{self, Identity};
use differentiation_interface_core::scalar::Scalar;
use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::num::NonZeroU32;

/// An entry of a tape.
pub(super) trait Entry: Copy + fmt::Debug + Send + Sync + 'static {
    /// A custom rule on the tape.
    type Call: Clone + Send + Sync + 'static;
    /// Whether these are entries over `f64`.
    const IS_DOUBLE: bool;
    /// An entry without arguments.
    fn source() -> Self;
    /// What is compiled once, for entries over `f64`.
    fn once() -> Option<&'static CompiledOnce<Self>>;
    /// Runs `action` on the thread tape for entries of this type, if there is one and thread-local storage still exists.
    fn with_thread_tape<R>(action: impl FnOnce(&ThreadTape<Self>) -> R) -> Option<R>;
}

/// A thread-local tape, for entries of one type over `f64`.
macro_rules! entry_with_thread_tape {
    ($THREAD_TAPE:ident: $Node:ident, $Call:ident, source $source:expr) => {
        thread_local! {
            static $THREAD_TAPE: ThreadTape<$Node<f64>> = const { ThreadTape::new() };
        }
        impl<S: Scalar> Entry for $Node<S> {
            type Call = $Call<S>;
            const IS_DOUBLE: bool = $crate::backends::doubles::is_double::<S>();
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn source() -> Self {
                $source
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn once() -> Option<&'static CompiledOnce<Self>> {
                static ONCE: CompiledOnce<$Node<f64>> = CompiledOnce::new();
                (&ONCE as &dyn Any).downcast_ref()
            }
            // The type test is resolved at compile time. Unlike `with`, `try_with` is inlined, which keeps the entry in
            // registers.
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn with_thread_tape<R>(action: impl FnOnce(&ThreadTape<Self>) -> R) -> Option<R> {
                if !const { Self::IS_DOUBLE } {
                    return None;
                }
                $THREAD_TAPE.try_with(|tape| (tape as &dyn Any).downcast_ref().map(action)).ok().flatten()
            }
        }
    };
}
pub(super) use entry_with_thread_tape;
entry_with_thread_tape! { THREAD_TAPE: Node, Call, source Node { partials: [S::default(); 2], parents: [0; 2] } }
/// An entry: the derivatives of one operation with respect to its two arguments, which are inputs or earlier entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<S> {
    pub(super) partials: [S; 2],
    pub(super) parents: [u32; 2],
}

/// A custom rule on the tape: its outputs are consecutive entries without arguments.
#[derive(Clone)]
pub(super) struct Call<S> {
    /// The entry of the first output.
    pub(super) first: u32,
    pub(super) outputs: usize,
    /// Per argument, the entry that it depends on and its derivative with respect to the entry; `None` for a constant.
    pub(super) arguments: Vec<Option<(u32, S)>>,
    pub(super) pullback: KeptPullback<S>,
    /// Whether the pullback of zeros is zero.
    pub(super) is_regular: bool,
}

impl<S> fmt::Debug for Call<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({} -> {})", self.arguments.len(), self.outputs)
    }
}

/// Indices of inputs and entries are below this number: a higher bit tells a [`Var`](super::Var) of a recording from one of a tape.
pub(super) const MOST_ENTRIES: usize = 1 << 31;

/// The entries of a running recording.
pub(super) struct Tape<E: Entry> {
    nodes: Vec<E>,
    calls: Vec<E::Call>,
    inputs: u32,
}

impl<E: Entry> Tape<E> {
    const fn new() -> Self {
        Tape { nodes: Vec::new(), calls: Vec::new(), inputs: 0 }
    }

    /// Appends an entry and returns its index, or `None` if the tape is full.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, node: E) -> Option<u32> {
        let index = self.nodes.len() + self.inputs as usize;
        if index >= MOST_ENTRIES {
            return None;
        }
        self.nodes.push(node);
        Some(index as u32)
    }

    /// Appends a custom rule with `outputs` outputs, made by `make` from the entry of the first one, which is returned.
    fn push_call(&mut self, outputs: usize, make: impl FnOnce(u32) -> E::Call) -> Option<u32> {
        let first = self.nodes.len() + self.inputs as usize;
        if first + outputs > MOST_ENTRIES {
            return None;
        }
        self.nodes.resize(self.nodes.len() + outputs, E::source());
        self.calls.push(make(first as u32));
        Some(first as u32)
    }
}

/// A box for a tape that is not the thread tape. A state keeps it so that the next recording need not allocate; a clone of the state has none.
pub(super) struct Spare<E: Entry>(Option<Box<Tape<E>>>);

impl<E: Entry> Default for Spare<E> {
    fn default() -> Self {
        Spare(None)
    }
}
impl<E: Entry> Clone for Spare<E> {
    fn clone(&self) -> Self {
        Spare(None)
    }
}
impl<E: Entry> fmt::Debug for Spare<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spare")
    }
}

thread_local! {
    /// The recordings that run on this thread and are not on the thread tape, with their tapes, the innermost last.
    static OPEN: RefCell<Vec<(NonZeroU32, Box<dyn Any>)>> = const { RefCell::new(Vec::new()) };
}

/// Runs `action` on the tape of a recording that is not on the thread tape; `None` if it does not run on this thread.
#[cfg_attr(not(debug_assertions), inline(always))]
fn with_open<E: Entry, R>(recording: NonZeroU32, action: impl FnOnce(&mut Tape<E>) -> R) -> Option<R> {
    let found = OPEN.try_with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let (_, tape) = open.iter_mut().rev().find(|(own, _)| *own == recording)?;
        Some(action(tape.downcast_mut()?))
    });
    found.ok().flatten()
}

/// Keeps a tape while it is not the thread tape. If the thread is terminating, the tape is lost and the recording ends with an error.
fn suspend<E: Entry>(recording: NonZeroU32, spare: &mut Spare<E>, tape: Tape<E>) {
    let tape = spare.boxed(tape);
    if OPEN.try_with(|open| open.borrow_mut().push((recording, tape))).is_err() {
        identity::spoil(recording, ErrorKind::OtherThread);
    }
}

/// Takes a tape back.
fn resume<E: Entry>(recording: NonZeroU32, spare: &mut Spare<E>) -> Tape<E> {
    let found = OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        let place = open.iter().rposition(|(own, _)| *own == recording)?;
        open.remove(place).1.downcast().ok()
    });
    spare.unboxed(found.ok().flatten())
}

/// What happens to entries now and then, and is compiled once for those over `f64`: where recordings are within each other, or numbers are on other
/// threads than their recording.
#[derive(Clone, Copy)]
pub(super) struct CompiledOnce<E: Entry> {
    suspend: fn(NonZeroU32, &mut Spare<E>, Tape<E>),
    resume: fn(NonZeroU32, &mut Spare<E>) -> Tape<E>,
    push: fn(NonZeroU32, E) -> Option<u32>,
    note_foreign: fn([NonZeroU32; 2]),
}

impl<E: Entry> CompiledOnce<E> {
    pub(super) const fn new() -> Self {
        CompiledOnce {
            suspend: suspend::<E>,
            resume: resume::<E>,
            push: push_to_open::<E>,
            note_foreign: note_foreign_of::<E>,
        }
    }

    /// Those of entries over `f64`, and with other entries those of the crate that asks. The compiler generates one of the two.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn of() -> Option<Self> {
        if const { E::IS_DOUBLE } { E::once().copied() } else { Some(CompiledOnce::new()) }
    }
}

/// Runs `action` on the tape of a recording of this thread, whether or not it is the thread tape.
fn with_tape<E: Entry, R>(recording: NonZeroU32, action: impl FnOnce(&mut Tape<E>) -> R) -> Option<R> {
    if E::with_thread_tape(|tape| tape.is_open_for(recording)) == Some(true) {
        return E::with_thread_tape(|tape| action(&mut tape.tape.borrow_mut()));
    }
    with_open(recording, action)
}

/// Appends an entry to the tape of a recording and returns its index. If that is impossible, returns `None`, and the recording ends
/// with an error.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn push<E: Entry>(recording: NonZeroU32, node: E) -> Option<u32> {
    if !const { E::IS_DOUBLE } {
        return push_to_open(recording, node);
    }
    match E::with_thread_tape(|tape| tape.push(recording, node)) {
        Some(Some(entry)) => Some(entry),
        _ => push_past_thread_tape(recording, node),
    }
}

/// Appends an entry over `f64` that does not go on the thread tape.
#[cold]
#[inline(never)]
fn push_past_thread_tape<E: Entry>(recording: NonZeroU32, node: E) -> Option<u32> {
    (E::once()?.push)(recording, node)
}

/// Appends an entry to a tape that is not the thread tape.
#[cfg_attr(not(debug_assertions), inline(always))]
fn push_to_open<E: Entry>(recording: NonZeroU32, node: E) -> Option<u32> {
    with_open(recording, |tape| tape.push(node)).flatten().or_else(|| refuse::<E>(recording))
}

/// Appends a custom rule with `outputs` outputs, made by `make` from the entry of the first one, which is returned; `None` if
/// that is impossible, and the recording ends with an error.
pub(super) fn push_call<E: Entry>(
    recording: NonZeroU32,
    outputs: usize,
    make: impl FnOnce(u32) -> E::Call,
) -> Option<u32> {
    if outputs == 0 {
        return None;
    }
    with_tape::<E, _>(recording, |tape| tape.push_call(outputs, make)).flatten().or_else(|| refuse::<E>(recording))
}

/// Reports that the tape of a recording is full or not on this thread.
#[cold]
#[inline(never)]
fn refuse<E: Entry>(recording: NonZeroU32) -> Option<u32> {
    if is_open::<E>(recording) {
        identity::spoil(recording, ErrorKind::TapeOverflow);
    } else {
        note_stray(recording);
    }
    None
}

/// Reports a number whose recording is not on this thread; if the recording still runs, it runs on another thread. The recordings of
/// this thread are not affected unless a [stray](identity::STRAY) number reaches them.
fn note_stray(recording: NonZeroU32) {
    identity::spoil(recording, ErrorKind::OtherThread);
}

/// Whether a recording runs on this thread, on a tape of these entries.
pub(super) fn is_open<E: Entry>(recording: NonZeroU32) -> bool {
    E::with_thread_tape(|tape| tape.is_open_for(recording)) == Some(true)
        || is_suspended(recording, TypeId::of::<Tape<E>>())
}

/// Whether a recording that is not on the thread tape runs on this thread, on a tape of this type.
fn is_suspended(recording: NonZeroU32, tape: TypeId) -> bool {
    let found = OPEN.try_with(|open| {
        let open = open.try_borrow().ok()?;
        open.iter().rev().find(|(own, _)| *own == recording).map(|(_, found)| (**found).type_id() == tape)
    });
    found.ok().flatten() == Some(true)
}

/// Reports an operation on numbers of two recordings.
#[cold]
#[inline(never)]
pub(super) fn note_foreign<E: Entry>(recordings: [NonZeroU32; 2]) {
    if let Some(once) = CompiledOnce::<E>::of() {
        (once.note_foreign)(recordings);
    }
}

fn note_foreign_of<E: Entry>(recordings: [NonZeroU32; 2]) {
    for recording in recordings {
        if is_open::<E>(recording) {
            identity::spoil(recording, ErrorKind::ForeignNumber);
        } else {
            note_stray(recording);
        }
    }
}

/// Whether a number of the recording `own` belongs to the recording `recording`; reports it if not.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn is_own<E: Entry>(own: NonZeroU32, recording: NonZeroU32) -> bool {
    if own != recording {
        note_foreign::<E>([own, recording]);
    }
    own == recording
}

/// The storage for the entries of the innermost recording over `f64` on a thread.
pub(super) struct ThreadTape<E: Entry> {
    recording: Cell<Option<NonZeroU32>>,
    /// Without a destructor, so that access needs no check. Empty while nothing is recorded.
    tape: RefCell<ManuallyDrop<Tape<E>>>,
}

impl<E: Entry> ThreadTape<E> {
    pub(super) const fn new() -> Self {
        ThreadTape { recording: Cell::new(None), tape: RefCell::new(ManuallyDrop::new(Tape::new())) }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_open_for(&self, recording: NonZeroU32) -> bool {
        self.recording.get() == Some(recording)
    }

    /// Exchanges the tape for another one or an empty one. Returns the former recording.
    #[inline]
    fn swap(&self, recording: Option<NonZeroU32>, tape: &mut Tape<E>) -> Option<NonZeroU32> {
        std::mem::swap(&mut **self.tape.borrow_mut(), tape);
        self.recording.replace(recording)
    }

    /// Appends an entry of the current recording; `None` if the entry belongs to another recording or the tape is full.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&self, recording: NonZeroU32, node: E) -> Option<u32> {
        if !self.is_open_for(recording) {
            return None;
        }
        self.tape.try_borrow_mut().ok()?.push(node)
    }
}

/// A running recording in the memory of a state. Returns the memory to the state when it ends, also by a panic.
pub(super) struct Recorder<'a, E: Entry> {
    identity: Identity,
    /// The recording that was on the thread tape before.
    suspended: Option<NonZeroU32>,
    nodes: &'a mut Vec<E>,
    calls: &'a mut Vec<E::Call>,
    spare: &'a mut Spare<E>,
}

impl<'a, E: Entry> Recorder<'a, E> {
    #[inline]
    pub(super) fn begin(
        nodes: &'a mut Vec<E>,
        calls: &'a mut Vec<E::Call>,
        spare: &'a mut Spare<E>,
        inputs: usize,
    ) -> Result<Self, Error> {
        let inputs = u32::try_from(inputs).ok().filter(|&inputs| inputs as usize <= MOST_ENTRIES);
        let inputs = inputs.ok_or(ErrorKind::TapeOverflow)?;
        let identity = Identity::begin();
        let recording = identity.id();
        nodes.clear();
        calls.clear();
        let mut tape = Tape { nodes: std::mem::take(nodes), calls: std::mem::take(calls), inputs };
        let outer = E::with_thread_tape(|thread| thread.swap(Some(recording), &mut tape));
        let suspended = outer.flatten();
        // The tape now in hand is that of an outer recording, or of this one if there is no thread tape.
        if let (Some(of), Some(once)) = (outer.unwrap_or(Some(recording)), CompiledOnce::<E>::of()) {
            (once.suspend)(of, spare, tape);
        }
        Ok(Recorder { identity, suspended, nodes, calls, spare })
    }

    /// The identity that the numbers of this recording carry.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn recording(&self) -> NonZeroU32 {
        self.identity.id()
    }

    /// Ends the recording. Returns an error if numbers of other recordings entered, if another thread computed with its numbers, or if
    /// the tape overflowed.
    #[inline]
    pub(super) fn finish(self) -> Result<(), Error> {
        Ok(self.identity.check()?)
    }
}

impl<E: Entry> Spare<E> {
    /// Puts a tape into the box.
    fn boxed(&mut self, tape: Tape<E>) -> Box<Tape<E>> {
        match self.0.take() {
            Some(mut spare) => {
                *spare = tape;
                spare
            }
            None => Box::new(tape),
        }
    }

    /// Takes a tape out of its box.
    fn unboxed(&mut self, tape: Option<Box<Tape<E>>>) -> Tape<E> {
        let Some(mut boxed) = tape else { return Tape::new() };
        let tape = std::mem::replace(&mut *boxed, Tape::new());
        self.0 = Some(boxed);
        tape
    }
}

impl<E: Entry> Drop for Recorder<'_, E> {
    #[inline]
    fn drop(&mut self) {
        let resume = |of, spare: &mut _| CompiledOnce::<E>::of().map_or(Tape::new(), |once| (once.resume)(of, spare));
        let mut tape = self.suspended.map_or(Tape::new(), |outer| resume(outer, self.spare));
        if E::with_thread_tape(|thread| thread.swap(self.suspended, &mut tape)).is_none() {
            tape = resume(self.identity.id(), self.spare);
        }
        (*self.nodes, *self.calls) = (tape.nodes, tape.calls);
    }
}

/// Propagates adjoints from the entries back to the inputs, `K` of them at once. Entry `i` of the tape has adjoint
/// `inputs + i`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn propagate<S: Scalar, const K: usize>(nodes: &[Node<S>], adjoints: &mut [[S; K]], inputs: usize) {
    // `Cell`s, because the adjoints of an entry and of its arguments are in one array.
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
        call.propagate(adjoints.as_flattened_mut(), K);
        end = first;
    }
    propagate(&nodes[..end], adjoints, inputs);
}

impl<S: Scalar> Call<S> {
    /// Adds the cotangents of the arguments; `adjoints` has `lanes` numbers for each entry. Their count is no type, so that this is compiled once.
    fn propagate(&self, adjoints: &mut [S], lanes: usize) {
        for lane in 0..lanes {
            let outputs = adjoints[self.first as usize * lanes..][..self.outputs * lanes].iter();
            let dy: Vec<S> = outputs.skip(lane).step_by(lanes).copied().collect();
            if self.is_regular && dy.iter().all(S::is_inert_zero) {
                continue;
            }
            let mut dx = vec![S::default(); self.arguments.len()];
            (self.pullback)(&dy, &mut dx);
            for (argument, dx) in self.arguments.iter().zip(dx) {
                // As in operations, a zero is absent, also where the argument has an infinite derivative.
                if let Some((entry, derivative)) = *argument
                    && !dx.is_inert_zero()
                {
                    adjoints[entry as usize * lanes + lane] += derivative * dx;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::reverse_diff::twice_tape::TwiceNode;

    /// Where recordings begin and end: one, and one within another.
    fn nested<E: Entry>() {
        let (mut outer, mut inner) =
            ((Vec::new(), Vec::new(), Spare::default()), (Vec::new(), Vec::new(), Spare::default()));
        let open = || OPEN.with_borrow(Vec::len);
        let depth = if E::with_thread_tape(|_| ()).is_some() { 0 } else { 1 };
        for _ in 0..3 {
            let first = Recorder::<E>::begin(&mut outer.0, &mut outer.1, &mut outer.2, 2).expect("two inputs fit");
            let recording = first.recording();
            assert_eq!((push(recording, E::source()), open()), (Some(2), depth));
            let second = Recorder::<E>::begin(&mut inner.0, &mut inner.1, &mut inner.2, 5).expect("five inputs fit");
            assert_eq!(push(second.recording(), E::source()), Some(5));
            assert_eq!((push(recording, E::source()), open()), (Some(3), depth + 1));
            assert!(second.finish().is_ok());
            assert_eq!((push(recording, E::source()), open()), (Some(4), depth));
            assert!(first.finish().is_ok());
            assert_eq!((outer.0.len(), inner.0.len(), open()), (3, 1, 0));
        }
    }

    #[test]
    fn entries_go_to_the_tape_of_their_recording() {
        nested::<Node<f32>>();
        nested::<Node<f64>>();
        nested::<TwiceNode<f64>>();
    }

    /// A recording whose numbers are met on another thread, while one of that thread is running.
    fn strayed<E: Entry>() {
        let (mut nodes, mut calls, mut spare) = (Vec::new(), Vec::new(), Spare::default());
        let recorder = Recorder::<E>::begin(&mut nodes, &mut calls, &mut spare, 2).expect("two inputs fit");
        let recording = recorder.recording();
        std::thread::spawn(move || {
            let (mut nodes, mut calls, mut spare) = (Vec::new(), Vec::new(), Spare::default());
            let recorder = Recorder::<E>::begin(&mut nodes, &mut calls, &mut spare, 2).expect("two inputs fit");
            assert_eq!(push(recording, E::source()), None);
            assert_eq!(push(recorder.recording(), E::source()), Some(2));
            assert!(recorder.finish().is_ok());
        })
        .join()
        .unwrap();
        assert_eq!(recorder.finish().map_err(|error| error.kind()), Err(ErrorKind::OtherThread));
    }

    #[test]
    fn a_number_on_another_thread_ends_its_recording_alone() {
        strayed::<Node<f32>>();
        strayed::<Node<f64>>();
        strayed::<TwiceNode<f64>>();
    }

    #[test]
    fn zero_adjoints_do_not_meet_infinite_partials() {
        let nodes = [Node { partials: [f64::INFINITY, 1.0], parents: [0, 1] }];
        let mut adjoints = [[0.0], [0.0], [0.0]];
        propagate(&nodes, &mut adjoints, 2);
        assert_eq!(adjoints, [[0.0], [0.0], [0.0]]);
    }
}
