//! Results as flat numbers: [`Buffer`] is memory of the caller that an operator writes a result into, a slice or an object of the shape of
//! the result; [`Numbers`] reads any result.

use super::{Container, Object, count, outline, place_all, sized};
use crate::error::{Error, ErrorKind};
use crate::scalar::Scalar;
use std::any::TypeId;

/// Takes the numbers of a result: a slice, `Vec` or array of numbers, or any [`Object`]. The `_into` operators write into it.
#[diagnostic::on_unimplemented(
    message = "a result of numbers `{S}` cannot be written into `{Self}`",
    note = "pass a slice, `Vec` or array of `{S}`, or an object of the type of the point"
)]
pub trait Buffer<S> {
    /// How many numbers it takes.
    fn count(&self) -> usize;
    /// Whether this is an `L` with another [outline](super::outline). Of other types, only the count matters.
    fn has_other_outline<L: 'static>(&self, _outline: u64) -> bool {
        false
    }
    /// Passes the numbers as one slice to `fill`: the own memory if it is one piece, else `memory`, which is copied here if `fill` succeeds.
    ///
    /// # Errors
    /// That of `fill`.
    fn write<R, E>(&mut self, memory: &mut Vec<S>, fill: impl FnOnce(&mut [S]) -> Result<R, E>) -> Result<R, E>;
}

impl<S: Scalar> Buffer<S> for [S] {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }
    #[inline]
    fn write<R, E>(&mut self, _: &mut Vec<S>, fill: impl FnOnce(&mut [S]) -> Result<R, E>) -> Result<R, E> {
        fill(self)
    }
}

impl<W: Object> Buffer<W::Scalar> for W {
    #[inline]
    fn count(&self) -> usize {
        count(self)
    }
    #[inline]
    fn has_other_outline<L: 'static>(&self, expected: u64) -> bool {
        TypeId::of::<W>() == TypeId::of::<L>() && outline(self) != expected
    }
    #[inline]
    fn write<R, E>(
        &mut self,
        memory: &mut Vec<W::Scalar>,
        fill: impl FnOnce(&mut [W::Scalar]) -> Result<R, E>,
    ) -> Result<R, E> {
        // The number of numbers in `memory`, if this is not one piece.
        let mut scattered = None;
        // One call of `fill`, so that it is inlined.
        let result = fill(match self.piece_mut() {
            Some(piece) => piece,
            None => {
                let count = count(self);
                scattered = Some(count);
                sized(memory, count)
            }
        })?;
        if let Some(count) = scattered {
            place_all(self, &memory[..count]);
        }
        Ok(result)
    }
}

/// Any result of an operator, read as flat numbers: an object, or a borrowed slice. For code that is generic over operators.
///
/// ```
/// use differentiation_interface_core::container::Numbers;
///
/// let mut numbers = vec![0.5];
/// [1.0, 2.0].append_to(&mut numbers);
/// assert_eq!(numbers, [0.5, 1.0, 2.0]);
/// ```
pub trait Numbers<S> {
    /// Appends the numbers, one after the other.
    fn append_to(&self, numbers: &mut Vec<S>);
}

impl<S: Scalar> Numbers<S> for &[S] {
    fn append_to(&self, numbers: &mut Vec<S>) {
        numbers.extend_from_slice(self);
    }
}

impl<W: Container> Numbers<W::Scalar> for W {
    fn append_to(&self, numbers: &mut Vec<W::Scalar>) {
        self.pieces(&mut |piece| numbers.extend_from_slice(piece));
    }
}

/// The numbers of a container as the flat vector that solvers want; [`from_flat`] is the way back.
///
/// ```
/// use differentiation_interface_core::container::{from_flat, to_flat};
///
/// let params = (vec![1.0, 2.0], 3.0);
/// let x = to_flat(&params);
/// assert_eq!(x, [1.0, 2.0, 3.0]);
/// assert_eq!(from_flat(&params, &[4.0, 5.0, 6.0])?, (vec![4.0, 5.0], 6.0));
/// # Ok::<(), differentiation_interface_core::error::Error>(())
/// ```
pub fn to_flat<W: Container>(container: &W) -> Vec<W::Scalar> {
    let mut numbers = Vec::new();
    container.append_to(&mut numbers);
    numbers
}

/// An object of the shape and with the constants of `like`, and with these numbers, which may be active: a function of a struct becomes
/// one of a slice by `|x: &[_]| loss(&from_flat(&params, x).unwrap())`.
///
/// # Errors
/// [`ErrorKind::NumberCount`] if there are more or fewer numbers than `like` holds.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// #[derive(Clone, Debug, PartialEq, Container)]
/// struct Line<T = f64> {
///     slope: T,
///     offset: T,
/// }
/// let like = Line { slope: 0.0, offset: 0.0 };
/// assert_eq!(from_flat(&like, &[2.0, 3.0])?, Line { slope: 2.0, offset: 3.0 });
/// assert!(from_flat(&like, &[2.0]).is_err());
///
/// fn loss<T: Real>(line: &Line<T>) -> T {
///     line.slope * line.slope + 3.0 * line.offset
/// }
/// let f = |x: &[_]| loss(&from_flat(&like, x).unwrap());
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[2.0, 3.0])?, [4.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn from_flat<W: Container, S: Scalar>(like: &W, numbers: &[S]) -> Result<W::With<S>, Error> {
    let expected = count(like);
    if numbers.len() != expected {
        return Err(Error::new(ErrorKind::NumberCount { expected, found: numbers.len() }));
    }
    let mut object = like.with::<S>();
    place_all(&mut object, numbers);
    Ok(object)
}
