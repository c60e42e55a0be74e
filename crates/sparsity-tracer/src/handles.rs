//! The contents of tracers: handles of the first and of the second order.
//!
//! Called by [`number`](crate::number) for every operation and by [`detector`](crate::detector) for the result.

use crate::arena::{Arena, with};
use crate::class::Class;
use crate::events::{Event, NONE};
use crate::sets::{EMPTY, Set};
use differentiation_interface_core::error::{Error, ErrorKind};
use matrix_coloring::Pattern;
use std::fmt::Debug;

/// The handles into the arena that a number of some order carries.
pub trait Handles: Copy + PartialEq + Debug + Send + Sync + Default + 'static {
    /// Input `i`.
    fn input(i: usize) -> Self;
    /// The result of a function of one argument.
    fn unary(self, generation: u32, class: Class) -> Option<Self>;
    /// The result of a function of two arguments.
    fn binary(self, other: Self, generation: u32, class: Class) -> Option<Self>;
    /// All handles of both numbers, without products.
    fn joined(self, other: Self, arena: &mut Arena) -> Self;
    /// The dense second-order dependence on everything in `self`.
    fn dense(self, arena: &mut Arena) -> Self;
    /// The pattern of a function with these outputs.
    fn pattern(arena: &mut Arena, outputs: impl ExactSizeIterator<Item = Self>) -> Result<Pattern, Error>;
}

/// First order: the inputs a number depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gradient(pub(crate) Set);

/// Second order: the inputs, and the pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hessian(pub(crate) Set, pub(crate) Event);

impl Handles for Gradient {
    fn input(i: usize) -> Self {
        Gradient(i as u32 + 1)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary(self, _: u32, class: Class) -> Option<Self> {
        Some(if class.x() { self } else { Gradient(EMPTY) })
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn binary(self, other: Self, generation: u32, class: Class) -> Option<Self> {
        let a = if class.x() { self.0 } else { EMPTY };
        let b = if class.y() { other.0 } else { EMPTY };
        if a == b || b == EMPTY {
            return Some(Gradient(a));
        }
        if a == EMPTY {
            return Some(Gradient(b));
        }
        union(a, b, generation)
    }
    fn joined(self, other: Self, arena: &mut Arena) -> Self {
        Gradient(arena.sets.union(self.0, other.0))
    }
    fn dense(self, _: &mut Arena) -> Self {
        self
    }
    fn pattern(arena: &mut Arena, outputs: impl ExactSizeIterator<Item = Self>) -> Result<Pattern, Error> {
        let rows = outputs.len();
        let mut pointers = Vec::with_capacity(rows + 1);
        let Arena { sets, indices, .. } = arena;
        indices.clear();
        pointers.push(0);
        let mut last = None;
        for Gradient(set) in outputs {
            // Every later output walks the shared part of two outputs again: as a list the walk is shortest.
            let child = sets.long_child(set);
            if let Some(shared) = child.filter(|_| child == last) {
                sets.make_list(shared);
            }
            last = child;
            sets.sorted_members(set, indices);
            pointers.push(u32::try_from(indices.len()).map_err(|_| ErrorKind::TapeOverflow)?);
        }
        compressed(rows, sets.inputs(), pointers, indices.clone())
    }
}

/// The union of two sets that differ and are not empty.
#[inline]
fn union(a: Set, b: Set, generation: u32) -> Option<Gradient> {
    with(generation, |arena| Gradient(arena.sets.union(a, b)))
}

/// `linear`, and all pairs of a set.
#[inline(never)]
fn with_square(linear: Hessian, set: Set, generation: u32) -> Option<Hessian> {
    with(generation, |arena| {
        let square = arena.events.product(set, set);
        Hessian(linear.0, arena.events.union(linear.1, square))
    })
}

impl Handles for Hessian {
    fn input(i: usize) -> Self {
        Hessian(i as u32 + 1, NONE)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn unary(self, generation: u32, class: Class) -> Option<Self> {
        let linear = if class.x() { self } else { Hessian(EMPTY, NONE) };
        if class.xx() { with_square(linear, self.0, generation) } else { Some(linear) }
    }
    // Compiled here once, and not at every operation of every traced function.
    #[inline(never)]
    fn binary(self, other: Self, generation: u32, class: Class) -> Option<Self> {
        with(generation, |arena| {
            let Arena { sets, events, .. } = arena;
            let Hessian(gx, hx) = if class.x() { self } else { Hessian(EMPTY, NONE) };
            let Hessian(gy, hy) = if class.y() { other } else { Hessian(EMPTY, NONE) };
            let mut h = events.union(hx, hy);
            if class.xx() {
                let product = events.product(self.0, self.0);
                h = events.union(h, product);
            }
            if class.xy() {
                let product = events.product(self.0, other.0);
                h = events.union(h, product);
            }
            if class.yy() {
                let product = events.product(other.0, other.0);
                h = events.union(h, product);
            }
            Hessian(sets.union(gx, gy), h)
        })
    }
    fn joined(self, other: Self, arena: &mut Arena) -> Self {
        Hessian(arena.sets.union(self.0, other.0), arena.events.union(self.1, other.1))
    }
    fn dense(self, arena: &mut Arena) -> Self {
        let square = arena.events.product(self.0, self.0);
        Hessian(self.0, arena.events.union(self.1, square))
    }
    fn pattern(arena: &mut Arena, mut outputs: impl ExactSizeIterator<Item = Self>) -> Result<Pattern, Error> {
        let found = outputs.len();
        let (Some(Hessian(_, event)), None) = (outputs.next(), outputs.next()) else {
            return Err(ErrorKind::OutputLength { expected: 1, found }.into());
        };
        let Arena { sets, events, indices, .. } = arena;
        let pointers = events.rows(event, sets, indices).ok_or(ErrorKind::TapeOverflow)?;
        compressed(sets.inputs() as usize, sets.inputs(), pointers, indices.clone())
    }
}

/// A pattern from its rows, which are sorted.
fn compressed(rows: usize, columns: u32, pointers: Vec<u32>, indices: Vec<u32>) -> Result<Pattern, Error> {
    Pattern::from_csr_arrays(rows, columns as usize, pointers, indices).map_err(|_| ErrorKind::TapeOverflow.into())
}
