//! The arena of the detection that runs on this thread, and the numbers' way to it.
//!
//! Numbers must be `Copy` and come from nothing, so they hold handles, and what the handles mean is kept here. A detection
//! [`begin`]s, which puts a fresh arena in place; the guard it gets puts the outer one back, also when the function panics. A
//! number carries the generation of its detection: one of an outer or an earlier detection is found out by every operation
//! that would look its handle up.

use crate::events::Events;
use crate::sets::Sets;
use differentiation_interface_core::error::{Error, ErrorKind};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};

/// The generation of numbers without dependence.
pub(crate) const CONSTANT: u32 = 0;

/// The generation of numbers that came from another detection; it never runs.
pub(crate) const FOREIGN: u32 = u32::MAX;

/// Sets and events of one detection.
pub struct Arena {
    generation: u32,
    refusals: u32,
    refused_at: Option<&'static Location<'static>>,
    pub(crate) sets: Sets,
    pub(crate) events: Events,
}

thread_local! {
    static ARENA: RefCell<Arena> = const { RefCell::new(Arena::new()) };
    /// An arena that no detection uses, kept for its memory.
    static SPARE: RefCell<Option<Box<Arena>>> = const { RefCell::new(None) };
}

/// The last generation given out, over all threads.
static GENERATIONS: AtomicU32 = AtomicU32::new(0);

impl Arena {
    const fn new() -> Arena {
        Arena { generation: CONSTANT, refusals: 0, refused_at: None, sets: Sets::new(), events: Events::new() }
    }

    fn overflow(&self) -> bool {
        self.sets.overflow() || self.events.overflow()
    }
}

/// A running detection.
pub(crate) struct Running {
    outer: Option<Box<Arena>>,
    generation: u32,
}

/// Begins a detection with so many inputs.
pub(crate) fn begin(inputs: usize) -> Result<Running, Error> {
    let inputs = u32::try_from(inputs).ok().filter(|n| *n < crate::sets::LIMIT / 2).ok_or(ErrorKind::TapeOverflow)?;
    let mut arena = SPARE.take().unwrap_or_else(|| Box::new(Arena::new()));
    // Generations are never reused before 2³² - 2 detections have run.
    let generation = loop {
        let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if generation != CONSTANT && generation != FOREIGN {
            break generation;
        }
    };
    arena.generation = generation;
    arena.refusals = 0;
    arena.refused_at = None;
    arena.sets.reset(inputs);
    arena.events.reset();
    let outer = ARENA.replace(*arena);
    let outer = (outer.generation != CONSTANT).then(|| Box::new(outer));
    Ok(Running { outer, generation })
}

impl Running {
    /// The generation of this detection's numbers.
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Where the function first asked for a value it may not know.
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
        let outer = self.outer.take().map_or_else(Arena::new, |outer| *outer);
        let mut used = ARENA.replace(outer);
        used.generation = CONSTANT;
        SPARE.set(Some(Box::new(used)));
    }
}

/// Gives the memory that detections on this thread have kept for the next one back to the system.
pub fn release_memory() {
    SPARE.set(None);
}

/// Runs `operation` in the arena of `generation`; `None` if another detection or none runs on this thread.
#[inline(always)]
pub(crate) fn with<R>(generation: u32, operation: impl FnOnce(&mut Arena) -> R) -> Option<R> {
    ARENA
        .try_with(|arena| {
            let mut arena = arena.try_borrow_mut().ok()?;
            if arena.generation == generation { Some(operation(&mut arena)) } else { None }
        })
        .ok()
        .flatten()
}

/// How often a detection answers questions it refuses before it unwinds: a function may wait in a loop for the answer.
const PATIENCE: u32 = 1000;

/// Notes a refused question, and unwinds the detection if there were too many.
#[cold]
#[inline(never)]
pub(crate) fn refused(generation: u32, place: &'static Location<'static>) {
    let lost = with(generation, |arena| {
        arena.refusals += 1;
        arena.refused_at.get_or_insert(place);
        arena.refusals > PATIENCE
    });
    if lost == Some(true) && cfg!(panic = "unwind") && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new("a detection was refused too often"));
    }
}
