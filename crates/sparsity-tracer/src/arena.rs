//! The arena of the detection that runs on this thread, and how numbers reach it.
//!
//! Numbers must be `Copy` and are made without arguments, so they hold handles, and the arena holds what the handles mean. A detection
//! [`begin`]s by installing an empty arena; its guard restores the outer arena, also when the function panics. A
//! number carries the generation of its detection, which is an [`Identity`]: every operation that resolves the handle recognises a number of an
//! outer or an earlier detection, and a number on another thread spoils its detection.

use crate::events::Events;
use crate::sets::Sets;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::identity::{self, Identity};
use differentiation_interface_core::recordings::ParameterScope;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::panic::Location;

/// The generation of numbers without dependence.
pub(crate) const CONSTANT: u32 = 0;

/// The generation of numbers of another detection; no detection has it.
pub(crate) const FOREIGN: u32 = identity::STRAY.get();

/// Sets and events of one detection.
pub struct Arena {
    generation: u32,
    refused_at: Option<&'static Location<'static>>,
    /// Whether the function branched on a number of another detection.
    decided_by_foreign: bool,
    pub(crate) sets: Sets,
    pub(crate) events: Events,
    /// Where the indices of rows are collected before their number is known.
    pub(crate) indices: Vec<u32>,
}

thread_local! {
    static ARENA: RefCell<Arena> = const { RefCell::new(Arena::new()) };
    /// The generations of detections in which another one runs.
    static SUSPENDED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    /// An unused arena, kept for its memory.
    static SPARE: RefCell<Option<Box<Arena>>> = const { RefCell::new(None) };
    /// Unused vectors of numbers of several types, kept for their memory.
    static VECTORS: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

impl Arena {
    const fn new() -> Arena {
        Arena {
            generation: CONSTANT,
            refused_at: None,
            decided_by_foreign: false,
            sets: Sets::new(),
            events: Events::new(),
            indices: Vec::new(),
        }
    }

    fn overflow(&self) -> bool {
        self.sets.overflow() || self.events.overflow()
    }
}

/// A running detection.
pub(crate) struct Running {
    outer: Option<Box<Arena>>,
    identity: Identity,
    _scope: ParameterScope,
}

/// Begins a detection with this many inputs.
pub(crate) fn begin(inputs: usize) -> Result<Running, Error> {
    let inputs = u32::try_from(inputs).ok().filter(|n| *n < crate::sets::LIMIT / 2).ok_or(ErrorKind::TapeOverflow)?;
    let mut arena = SPARE.take().unwrap_or_else(|| Box::new(Arena::new()));
    let identity = Identity::begin();
    arena.generation = identity.id().get();
    arena.refused_at = None;
    arena.decided_by_foreign = false;
    arena.sets.reset(inputs);
    arena.events.reset();
    let outer = ARENA.replace(*arena);
    let outer = (outer.generation != CONSTANT).then(|| Box::new(outer));
    if let Some(outer) = &outer {
        SUSPENDED.with_borrow_mut(|suspended| suspended.push(outer.generation));
    }
    Ok(Running { outer, identity, _scope: ParameterScope::of_recording() })
}

impl Running {
    /// The generation of this detection's numbers.
    pub(crate) fn generation(&self) -> u32 {
        self.identity.id().get()
    }

    /// Returns an error if another thread has used numbers of this detection, or if the function branched on those of another one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.identity.check()?;
        let foreign = ARENA.with_borrow(|arena| arena.decided_by_foreign);
        if foreign { Err(ErrorKind::ForeignNumber.into()) } else { Ok(()) }
    }

    /// Where the function first read a value that is not known.
    pub(crate) fn refused_at(&self) -> Option<&'static Location<'static>> {
        ARENA.with_borrow(|arena| arena.refused_at)
    }

    /// Reads results out of the arena.
    pub(crate) fn finish<R>(self, read: impl FnOnce(&mut Arena) -> Result<R, Error>) -> Result<R, Error> {
        ARENA.with_borrow_mut(|arena| {
            if arena.overflow() {
                return Err(ErrorKind::TapeOverflow.into());
            }
            read(arena)
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.outer.is_some() {
            SUSPENDED.with_borrow_mut(Vec::pop);
        }
        let outer = self.outer.take().map_or_else(Arena::new, |outer| *outer);
        let mut used = ARENA.replace(outer);
        used.generation = CONSTANT;
        SPARE.set(Some(Box::new(used)));
    }
}

/// Frees the memory that detections on this thread have kept for later ones.
pub fn release_memory() {
    SPARE.set(None);
    VECTORS.set(Vec::new());
}

/// An empty vector, with kept memory if there is some.
pub(crate) fn take_vector<N: 'static>() -> Vec<N> {
    VECTORS
        .with_borrow_mut(|kept| {
            let found = kept.iter().position(|vector| vector.is::<Vec<N>>())?;
            kept.swap_remove(found).downcast::<Vec<N>>().ok()
        })
        .map_or_else(Vec::new, |vector| *vector)
}

/// Keeps the memory of a vector for the next detection.
pub(crate) fn keep_vector<N: 'static>(mut vector: Vec<N>) {
    vector.clear();
    VECTORS.with_borrow_mut(|kept| {
        if kept.len() < 8 {
            kept.push(Box::new(vector));
        }
    });
}

/// The generation of the detection that runs on this thread; `CONSTANT` if there is none.
pub(crate) fn current() -> u32 {
    ARENA.try_with(|arena| arena.try_borrow().map_or(CONSTANT, |arena| arena.generation)).unwrap_or(CONSTANT)
}

/// Runs `operation` in the arena of `generation`; `None` if another detection or none runs on this thread.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn with<R>(generation: u32, operation: impl FnOnce(&mut Arena) -> R) -> Option<R> {
    ARENA
        .try_with(|arena| {
            let mut arena = arena.try_borrow_mut().ok()?;
            if arena.generation == generation { Some(operation(&mut arena)) } else { None }
        })
        .ok()
        .flatten()
}

/// How often another thread than that of the detection is answered before it is unwound: it belongs to the user, and is unwound only if the
/// function will probably not return otherwise.
const PATIENCE_AWAY: u32 = 1 << 20;

thread_local! {
    /// The detection of another thread that was last refused here, and how often.
    static AWAY: Cell<(u32, u32)> = const { Cell::new((CONSTANT, 0)) };
}

/// Records a number of an operation that has no result here. If its detection does not run on this thread, not even around an inner
/// one, the number belongs to an earlier call, or to another thread.
#[cold]
pub(crate) fn stray(generation: u32) {
    let is_suspended = || SUSPENDED.try_with(|suspended| suspended.borrow().contains(&generation)).unwrap_or(false);
    let is_here = with(generation, |_| ()).is_some() || is_suspended();
    if !is_here && let Some(id) = NonZeroU32::new(generation) {
        identity::spoil(id, ErrorKind::OtherThread);
    }
}

/// Records a refused question, and unwinds the detection: the function may loop until it gets another answer, or panic with a message that
/// blames its `partial_cmp(..).unwrap()`. Where panics abort, it goes on.
#[cold]
#[inline(never)]
pub(crate) fn refused(generation: u32, place: &'static Location<'static>) {
    let is_here = with(generation, |arena| {
        arena.refused_at.get_or_insert(place);
    })
    .is_some();
    if (is_here || refused_away(generation)) && cfg!(panic = "unwind") && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new("the function reads a value that a detection does not have"));
    }
}

/// Records a refused question to a number of another detection. Returns whether there were too many.
fn refused_away(generation: u32) -> bool {
    stray(generation);
    let _ = ARENA.try_with(|arena| {
        if let Ok(mut arena) = arena.try_borrow_mut() {
            arena.decided_by_foreign = true;
        }
    });
    let (last, count) = AWAY.get();
    let count = if last == generation { count + 1 } else { 1 };
    let lost = count > PATIENCE_AWAY;
    AWAY.set((generation, if lost { 0 } else { count }));
    lost
}
