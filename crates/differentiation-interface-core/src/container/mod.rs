//! Containers of numbers: what can be a point, an output, a seed and a result beside slices, arrays and numbers.
//!
//! A [`Container`] says how many numbers it holds, how an object of the same shape at another number type is made, and where its
//! numbers lie. `#[derive(Container)]` writes it for structs; vectors and matrices of other crates have it behind features. Operators
//! and [`point`](crate::point) call it.

mod buffer;
#[cfg(feature = "num-complex")]
pub mod complex;
mod constants;
mod data;
#[cfg(feature = "faer")]
mod faer;
mod in_box;
mod joined;
mod kept;
mod layout;
mod map;
mod masked;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
mod seen;
mod several;
mod standard;
mod whole;

pub use buffer::{Buffer, Numbers, from_flat, to_flat};
pub use kept::{KeptOutput, built, gather};
pub use layout::{Layout, LayoutError};
pub use map::Key;
pub use masked::{Freed, Masked, Partly};
pub use seen::Seen;
pub use several::{Args, Points, Several};
pub use whole::Whole;
#[doc(hidden)]
pub use {
    crate::recordings::Words,
    constants::{Field, OpaqueField},
    data::{Data, lifted},
    in_box::InBox,
};

use crate::scalar::Scalar;
use std::fmt::Debug;
use std::ops::Range;

/// Holds numbers: an object, a view, a field of a struct. The numbers have a fixed order, and lie in pieces of contiguous memory.
///
/// # For users
/// `#[derive(Container)]` implements it for a struct or enum that is generic over its number type; the fields are containers, or are
/// marked `#[constant]`.
///
/// # For authors
/// 1. `pieces` visits all numbers, always in the same order; [`Object::pieces_mut`] visits the same numbers in that order.
/// 2. `with` keeps shape and constants and sets all numbers to zero. `fit` leaves the same in an old object and keeps its memory.
/// 3. `lengths` passes everything that the type does not tell about the shape: two containers with equal lengths have the same pieces.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a container of numbers",
    note = "a struct of numbers becomes one by `#[derive(Container)]`; a field that is not differentiated is marked `#[constant]`",
    note = "parameters by name are a `BTreeMap`; a `HashMap` has no order of its numbers",
    note = "vectors and matrices of `nalgebra`, `ndarray` and `faer` are containers with the features of these names"
)]
pub trait Container {
    /// The numbers.
    type Scalar: Scalar;
    /// An object of the same shape with numbers `N`.
    type With<N: Scalar>: Object<Scalar = N>;
    /// Whether there are constants beside the numbers.
    const OPAQUE: bool = false;
    /// Whether the number of its numbers tells all of its shape, as for a vector. Its lengths then count only where it is a part. Of a view, that of its object
    /// is asked for.
    const IS_LIST: bool = false;

    /// Makes an object of this shape with these constants; its numbers are zero.
    fn with<N: Scalar>(&self) -> Self::With<N>;
    /// Gives an old object this shape and these constants; its numbers do not matter. Does not allocate if the shape is the same.
    #[inline]
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        *object = self.with::<N>();
    }
    /// Passes the lengths that the type does not determine to `words`. Returns whether they are equal to the known ones.
    #[inline]
    fn lengths(&self, _words: &mut Words<'_>) -> bool {
        true
    }
    /// Passes the constants beside the numbers to `words`. Returns whether they are equal to the known ones, and `false` if they do not all
    /// consist of plain data.
    #[inline]
    fn constants(&self, _words: &mut Words<'_>) -> bool {
        !Self::OPAQUE
    }
    /// Names the parts and counts their numbers, in the order of `pieces`. A container without parts is one block.
    fn layout(&self, layout: &mut Layout) {
        layout.numbers(count(self));
    }
    /// Visits the numbers.
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [Self::Scalar]));
    /// All numbers, if they lie one after the other: in one piece, or in several of the own memory. Containers that decide at run time how many
    /// pieces they have may find this out without visiting them.
    #[inline]
    fn piece(&self) -> Option<&[Self::Scalar]> {
        joined::piece(self, show_pieces)
    }
    /// Visits the numbers of several containers that lie one after the other; those of containers that are numbers and nothing else are one
    /// piece then.
    #[inline]
    fn pieces_of<'a>(containers: &'a [Self], visit: &mut impl FnMut(&'a [Self::Scalar]))
    where
        Self: Sized,
    {
        match joined::all(containers, show_pieces) {
            Some(all) => visit(all),
            None => containers.iter().for_each(|container| container.pieces(visit)),
        }
    }
    /// Names several containers by their index, `[0]`, `[1]`, ...; numbers have no names.
    fn layout_of(containers: &[Self], layout: &mut Layout)
    where
        Self: Sized,
    {
        for (index, container) in containers.iter().enumerate() {
            layout.part(&format!("[{index}]"), |layout| container.layout(layout));
        }
    }
}

/// A container that owns its numbers.
pub trait Object: Container<With<<Self as Container>::Scalar> = Self> + Seen + Clone + Send + Debug + 'static {
    /// Visits the numbers for writing.
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [Self::Scalar]));
    /// All numbers for writing, if they lie one after the other, as [`Container::piece`].
    #[inline]
    fn piece_mut(&mut self) -> Option<&mut [Self::Scalar]> {
        joined::piece_mut(self, show_pieces_mut)
    }
    /// All numbers for writing, in the order of `pieces`, if they lie one after the other on the heap, outside of the object itself. An engine writes
    /// its numbers there, where the function reads them; with `None` they are copied.
    #[inline]
    fn own_memory(&mut self) -> Option<&mut [Self::Scalar]> {
        None
    }
    /// Visits the numbers of several objects that lie one after the other.
    #[inline]
    fn pieces_mut_of<'a>(objects: &'a mut [Self], visit: &mut impl FnMut(&'a mut [Self::Scalar])) {
        match joined::all_mut(objects, show_pieces_mut) {
            Ok(all) => visit(all),
            Err(objects) => objects.iter_mut().for_each(|object| object.pieces_mut(visit)),
        }
    }
}

/// Shows the pieces of a container to a visit.
#[inline(always)]
fn show_pieces<'a, W: Container + ?Sized>(container: &'a W, visit: &mut joined::Visit<'a, W::Scalar>) {
    container.pieces(&mut |piece| visit.add(piece));
}

/// Shows the pieces of an object for writing to a visit.
#[inline(always)]
fn show_pieces_mut<'a, W: Object>(object: &'a mut W, visit: &mut joined::VisitMut<'a, W::Scalar>) {
    object.pieces_mut(&mut |piece| visit.add(piece));
}

impl Layout {
    /// The layout of a container.
    pub fn of(container: &impl Container) -> Layout {
        let mut layout = Layout::default();
        container.layout(&mut layout);
        layout
    }
}

/// The number of numbers in a container.
#[inline]
pub(crate) fn count<W: Container + ?Sized>(container: &W) -> usize {
    let mut count = 0;
    container.pieces(&mut |piece| count += piece.len());
    count
}

/// What the type of a container does not tell of its shape, as one word: two containers of one type with equal outlines have the same pieces.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn outline<W: Container + ?Sized>(container: &W) -> u64 {
    let mut outline = 0;
    container.lengths(&mut Words::Fold(&mut outline));
    outline
}

/// The [`outline`] of a container, if the number of its numbers does not tell all of its shape. That of a view is as that of an owned object.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn outline_beside_count<W: Container + ?Sized>(container: &W) -> Option<u64> {
    if <W::With<W::Scalar> as Container>::IS_LIST { None } else { Some(outline(container)) }
}

/// The numbers of a container: its own memory if they lie in one piece, else copied to `memory`.
#[inline]
pub fn flat<'a, W: Container + ?Sized>(container: &'a W, memory: &'a mut Vec<W::Scalar>) -> &'a [W::Scalar] {
    match container.piece() {
        Some(piece) => piece,
        None => gathered(container, memory),
    }
}

/// The numbers of several pieces, copied to `memory`. Apart, so that the other case is inlined.
#[inline(never)]
fn gathered<'a, W: Container + ?Sized>(container: &W, memory: &'a mut Vec<W::Scalar>) -> &'a [W::Scalar] {
    // Slices of equal length instead of a growing vector: a piece of known length is copied without a call, and where the type fixes the
    // count, no length is compared.
    let all = sized(memory, count(container));
    let mut rest = &mut *all;
    container.pieces(&mut |piece| {
        let (now, later) = std::mem::take(&mut rest).split_at_mut(piece.len());
        now.copy_from_slice(piece);
        rest = later;
    });
    all
}

/// `memory` at this length. Its values do not matter.
#[inline]
pub(crate) fn sized<S: Scalar>(memory: &mut Vec<S>, count: usize) -> &mut [S] {
    #[cold]
    #[inline(never)]
    fn resize<S: Scalar>(memory: &mut Vec<S>, count: usize) {
        memory.resize(count, S::default());
    }
    if memory.len() != count {
        resize(memory, count);
    }
    &mut memory[..count]
}

/// Copies `numbers[range]` to the same positions of an object.
#[inline]
pub(crate) fn place<W: Object>(object: &mut W, numbers: &[W::Scalar], range: Range<usize>) {
    if !numbers.is_empty() && range.start == 0 && range.end >= numbers.len() {
        place_all(object, numbers);
    } else {
        place_part(object, numbers, range);
    }
}

/// Copies all numbers to an object. A piece of known length is copied without a call.
#[inline]
pub(crate) fn place_all<W: Object>(object: &mut W, mut numbers: &[W::Scalar]) {
    object.pieces_mut(&mut |piece| {
        let (now, later) = numbers.split_at(piece.len());
        piece.copy_from_slice(now);
        numbers = later;
    });
}

/// Copies `numbers[range]` to the same positions of an object.
#[inline]
fn place_part<W: Object>(object: &mut W, numbers: &[W::Scalar], range: Range<usize>) {
    let mut first = 0;
    object.pieces_mut(&mut |piece| {
        let last = first + piece.len();
        let (start, end) = (range.start.max(first), range.end.min(last));
        if start < end {
            piece[start - first..end - first].copy_from_slice(&numbers[start..end]);
        }
        first = last;
    });
}
