//! A container of which only some numbers are differentiated: [`Masked`].

use super::{Buffer, Container, Object, Seen, count};
use crate::backend::Lanes;
use crate::error::ErrorKind;
use crate::fault;
use crate::point::{ArrayShape, LikeOf, Point, Shape};
use crate::recordings::Words;
use crate::scalar::{Base, Scalar};
use std::marker::PhantomData;
use std::ops::Range;

/// A point of which only the numbers whose entry of the mask is `true` are differentiated; the others are constants.
///
/// The function takes the whole container. A gradient that is returned has its shape, with zeros at the frozen numbers; tangents, buffers
/// of `_into` calls, and the columns of Jacobians and Hessians are those of the free numbers alone. Operators
/// return [`ErrorKind::MaskLength`] for a mask that is not as long as the container. The lengths that errors of tangents, buffers and prepared calls name count the
/// free numbers, and the errors say so.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[1] * x[1] + x[2]
/// }
/// let (x, free) = (vec![2.0, 3.0, 4.0], [true, false, true]);
/// let f = |x: &[_]| energy(x);
/// assert_eq!(gradient(&f, &AutoReverseDiff::default(), Masked(&x, &free))?, [9.0, 0.0, 1.0]);
/// let f = |x: &[_]| energy(x);
/// let hess = hessian(&f, &AutoForwardDiff::default(), Masked(&x, &free))?;
/// assert_eq!(hess, [[0.0, 0.0], [0.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Masked<'a, W>(
    /// The container.
    pub &'a W,
    /// Which numbers are differentiated.
    pub &'a [bool],
);

/// The shape of [`Masked`] with gradients of the type `W`.
pub struct Partly<W>(PhantomData<W>);

/// The container that the function sees, with the positions of its free numbers.
#[derive(Clone, Debug)]
pub struct Freed<W> {
    whole: W,
    free: Vec<usize>,
    /// All numbers of the point.
    numbers: Vec<f64>,
    /// Entries of the mask.
    mask: usize,
}

impl<W: Object<Scalar: Base>> Shape for Partly<W> {
    type Scalar = W::Scalar;
    type Active<N: Scalar> = <W::With<N> as Seen>::Seen;
    type Like = W;
    type Held<N: Scalar> = Freed<W::With<N>>;
    // The frozen numbers are constants.
    const OPAQUE: bool = true;
    const MASKED: bool = true;
    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L;

    fn show<'a, N: Scalar>(
        flat: &'a [N],
        held: &'a mut Freed<W::With<N>>,
        changed: Range<usize>,
    ) -> &'a <W::With<N> as Seen>::Seen {
        // Preparations and detections of patterns check no point, but run the function.
        if held.mask != held.numbers.len() {
            fault::report(ErrorKind::MaskLength { expected: held.numbers.len(), found: held.mask });
        }
        let range = changed.start.min(flat.len())..changed.end.min(flat.len());
        let mut changes = held.free[range.clone()].iter().zip(&flat[range]).peekable();
        let mut first = 0;
        held.whole.pieces_mut(&mut |piece| {
            while let Some((position, number)) = changes.next_if(|(position, _)| **position < first + piece.len()) {
                piece[position - first] = *number;
            }
            first += piece.len();
        });
        held.whole.seen()
    }
    #[inline]
    fn lengths<N: Scalar>(held: &Freed<W::With<N>>, words: &mut Words<'_>) -> bool {
        held.whole.lengths(words) && words.numbers(&held.free)
    }
    fn constants<N: Scalar>(held: &Freed<W::With<N>>, words: &mut Words<'_>) -> bool {
        // The free numbers stand between the frozen ones.
        let ends = held.free.iter().copied().chain([held.numbers.len()]);
        let mut first = 0;
        let mut are_equal = held.whole.constants(words);
        for end in ends {
            are_equal = are_equal && words.numbers(&held.numbers[first..end]);
            first = end + 1;
        }
        are_equal
    }
}

impl<W: Object<Scalar: Base>> ArrayShape for Partly<W> {}

impl<W: Object<Scalar: Base>> Masked<'_, W> {
    /// Visits the numbers with their positions, and whether they are free.
    fn each(&self, mut visit: impl FnMut(W::Scalar, bool)) {
        let mut mask = self.1.iter().copied();
        self.0.pieces(&mut |piece| piece.iter().for_each(|number| visit(*number, mask.next().unwrap_or(false))));
    }
}

impl<W: Object<Scalar: Base>> Point for Masked<'_, W> {
    type Shape = Partly<W>;
    type Contexts = ();
    fn flat<'a>(&'a self, memory: &'a mut Vec<W::Scalar>) -> &'a [W::Scalar] {
        memory.clear();
        self.each(|number, free| memory.extend(free.then_some(number)));
        memory
    }
    fn check(&self) -> Result<(), ErrorKind> {
        let (expected, found) = (count(self.0), self.1.len());
        if expected == found { Ok(()) } else { Err(ErrorKind::MaskLength { expected, found }) }
    }
    fn contexts(&self) {}
    fn hold<N: Scalar>(&self) -> Freed<W::With<N>> {
        let mut held = Freed { whole: self.0.with::<N>(), free: Vec::new(), numbers: Vec::new(), mask: 0 };
        self.fit::<N>(&mut held);
        held
    }
    fn fit<N: Scalar>(&self, held: &mut Freed<W::With<N>>) {
        self.0.fit::<N>(&mut held.whole);
        held.free.clear();
        held.free.extend(self.1.iter().enumerate().take(count(self.0)).filter_map(|(i, free)| free.then_some(i)));
        held.mask = self.1.len();
        held.numbers.clear();
        self.each(|number, _| held.numbers.push(number.as_f64()));
        let mut numbers = held.numbers.iter();
        held.whole.pieces_mut(&mut |piece| {
            for (number, value) in piece.iter_mut().zip(&mut numbers) {
                *number = N::constant(N::Base::from_f64(*value));
            }
        });
    }
    fn filled<E>(
        &self,
        memory: &mut Vec<W::Scalar>,
        fill: impl FnOnce(&mut [W::Scalar]) -> Result<(), E>,
    ) -> Result<LikeOf<Self>, E> {
        let mut free = Vec::new();
        self.each(|number, is_free| free.extend(is_free.then_some(number)));
        fill(&mut free)?;
        let mut like = self.0.with::<W::Scalar>();
        like.write(memory, |all| {
            let (mut free, mut mask) = (free.iter(), self.1.iter());
            for number in all {
                let is_free = mask.next().is_some_and(|free| *free);
                *number = if is_free { free.next().copied().unwrap_or_default() } else { W::Scalar::default() };
            }
            Ok(())
        })?;
        Ok(like)
    }
}
