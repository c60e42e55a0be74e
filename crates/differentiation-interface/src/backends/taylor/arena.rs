//! Where the coefficients of polynomials are while a function runs.
//!
//! Numbers are `Copy` and have no room for coefficients whose number is known at run time only: they carry the identity of their
//! differentiation and a place in its arena, which is open on the thread of the call. A number that is used on another thread, or after its
//! differentiation has ended, finds no arena: it becomes a [stray](identity::STRAY), and its differentiation ends with an error.
//! Called by `polynomial` and by the operators in `mod.rs`.

use super::absent::Term;
use super::space::Space;
use differentiation_interface_core::error::ErrorKind;
use differentiation_interface_core::identity;
use differentiation_interface_core::monomials::Monomials;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::any::Any;
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Memory of more numbers than this is returned to the system at the end of a differentiation.
const KEPT: usize = 1 << 23;

/// The coefficients of the polynomials of one differentiation.
pub(super) struct Arena<S> {
    pub(super) monomials: Arc<Monomials>,
    /// Those of degrees 1 to the order, one block per polynomial.
    blocks: RefCell<Vec<S>>,
    /// Blocks for recurrences.
    spare: RefCell<Vec<Vec<S>>>,
}

/// An arena on this thread: that of a differentiation, or free for the next one.
struct Entry {
    level: Option<NonZeroU32>,
    arena: Rc<dyn Any>,
}

thread_local! {
    static ARENAS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// An arena that is open until this is dropped.
pub(super) struct Open<S: Scalar> {
    level: NonZeroU32,
    pub(super) arena: Rc<Arena<S>>,
}

impl<S: Scalar> Open<S> {
    /// Opens an arena, with memory of an earlier one of the same kind if there is one.
    pub(super) fn new(level: NonZeroU32, monomials: &Arc<Monomials>) -> Self {
        let arena = ARENAS.with_borrow_mut(|entries| {
            let same = |entry: &Entry| {
                entry.level.is_none()
                    && entry
                        .arena
                        .downcast_ref::<Arena<S>>()
                        .is_some_and(|arena| Arc::ptr_eq(&arena.monomials, monomials))
            };
            if let Some(entry) = entries.iter_mut().find(|entry| same(entry)) {
                entry.level = Some(level);
                if let Ok(arena) = Rc::clone(&entry.arena).downcast::<Arena<S>>() {
                    arena.blocks.borrow_mut().clear();
                    return arena;
                }
            }
            // Memory for other monomials would never be used again where each call prepares anew.
            entries.retain(|entry| entry.level.is_some() || entry.arena.downcast_ref::<Arena<S>>().is_none());
            let arena = Rc::new(Arena {
                monomials: Arc::clone(monomials),
                blocks: RefCell::default(),
                spare: RefCell::default(),
            });
            entries.push(Entry { level: Some(level), arena: Rc::clone(&arena) as Rc<dyn Any> });
            arena
        });
        Open { level, arena }
    }
}

impl<S: Scalar> Drop for Open<S> {
    fn drop(&mut self) {
        let is_large = self.arena.blocks.try_borrow().is_ok_and(|blocks| blocks.capacity() > KEPT);
        // Not there if the thread is terminating.
        let _ = ARENAS.try_with(|entries| {
            let mut entries = entries.borrow_mut();
            if let Some(place) = entries.iter().rposition(|entry| entry.level == Some(self.level)) {
                if is_large {
                    entries.swap_remove(place);
                } else {
                    entries[place].level = None;
                }
            }
        });
    }
}

/// The arena of a differentiation.
pub(super) enum Found<S: Scalar> {
    Numbers(Rc<Arena<S>>),
    /// One whose coefficients know whether they are absent.
    Terms(Rc<Arena<Term<S>>>),
}

impl<S: Scalar> Found<S> {
    pub(super) fn monomials(&self) -> &Arc<Monomials> {
        match self {
            Found::Numbers(arena) => &arena.monomials,
            Found::Terms(arena) => &arena.monomials,
        }
    }
}

/// The arena of a differentiation, if it runs on this thread.
pub(super) fn find<S: Scalar>(level: NonZeroU32) -> Option<Found<S>> {
    let found = ARENAS.try_with(|entries| {
        let entries = entries.borrow();
        let entry = entries.iter().rev().find(|entry| entry.level == Some(level))?;
        match Rc::clone(&entry.arena).downcast() {
            Ok(arena) => Some(Found::Numbers(arena)),
            Err(arena) => arena.downcast().ok().map(Found::Terms),
        }
    });
    let found = found.ok().flatten();
    if found.is_none() {
        identity::spoil(level, ErrorKind::OtherThread);
    }
    found
}

impl<S: Scalar> Arena<S> {
    /// The number of coefficients of degrees 1 to the order.
    fn size(&self) -> usize {
        self.monomials.len() - 1
    }
    /// Appends a block and returns its place; `None` if the arena is full.
    pub(super) fn store(&self, block: &[S]) -> Option<u32> {
        let mut blocks = self.blocks.borrow_mut();
        let place = u32::try_from(blocks.len() / self.size().max(1)).ok()?;
        blocks.extend_from_slice(block);
        Some(place)
    }
    /// Passes the blocks of two polynomials to `read`.
    pub(super) fn read<R>(&self, places: [Option<u32>; 2], read: impl FnOnce([Option<&[S]>; 2]) -> R) -> R {
        let blocks = self.blocks.borrow();
        let size = self.size();
        read(places.map(|place| place.and_then(|place| blocks.get(place as usize * size..(place as usize + 1) * size))))
    }
    /// Appends the polynomial xᵢ without its value and returns its place; `None` if the monomial is absent.
    pub(super) fn variable(&self, i: usize) -> Option<u32> {
        if self.monomials.order() == 0 {
            return None;
        }
        let place = self.monomials.part(1).find(|&place| self.monomials.exponents(place)[i] == 1)?;
        let mut blocks = self.blocks.borrow_mut();
        let start = blocks.len();
        blocks.resize(start + self.size(), S::default());
        blocks[start + place - 1] = S::constant(S::Base::ONE);
        u32::try_from(start / self.size()).ok()
    }
}

/// The parts of polynomials, to an order that is at most that of the arena.
pub(super) struct Parts<S: Scalar> {
    pub(super) arena: Rc<Arena<S>>,
    pub(super) order: usize,
}

/// A block of a recurrence, returned to the arena when dropped.
pub(super) struct Block<S: Scalar> {
    numbers: Vec<S>,
    arena: Rc<Arena<S>>,
}

impl<S: Scalar> Drop for Block<S> {
    fn drop(&mut self) {
        self.arena.spare.borrow_mut().push(std::mem::take(&mut self.numbers));
    }
}
impl<S: Scalar> AsRef<[S]> for Block<S> {
    fn as_ref(&self) -> &[S] {
        &self.numbers
    }
}
impl<S: Scalar> AsMut<[S]> for Block<S> {
    fn as_mut(&mut self) -> &mut [S] {
        &mut self.numbers
    }
}

impl<S: Scalar> Space<S> for Parts<S> {
    type Block = Block<S>;
    const UNROLLED: usize = 0;
    fn order(&self) -> usize {
        self.order
    }
    fn zeros(&self) -> Block<S> {
        let mut numbers = self.arena.spare.borrow_mut().pop().unwrap_or_default();
        numbers.clear();
        numbers.resize(self.arena.size(), S::default());
        Block { numbers, arena: Rc::clone(&self.arena) }
    }
    fn part(&self, degree: usize) -> Range<usize> {
        let part = self.arena.monomials.part(degree);
        part.start - 1..part.end - 1
    }
    fn add_product(&self, out: &mut [S], i: usize, a: &[S], j: usize, b: &[S], weight: f64) {
        if b.is_empty() {
            return;
        }
        let rows = self.arena.monomials.products(i, j).chunks_exact(b.len());
        for (&a, places) in a.iter().zip(rows) {
            let a = super::space::scaled(a, weight);
            for (&b, &place) in b.iter().zip(places) {
                // A product that the set does not contain is out of range.
                if let Some(out) = out.get_mut(place as usize) {
                    *out += a * b;
                }
            }
        }
    }
}
