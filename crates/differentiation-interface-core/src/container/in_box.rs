//! Fields that hold containers in boxes, as recursive types do.
//!
//! Called by the code of `#[derive(Container)]`. `Box<C>` is no [`Container`] itself: every scalar is one, and another crate might make its own
//! `Box` a scalar.

use super::{Layout, Object};
use crate::recordings::Words;
use crate::scalar::Scalar;

/// A box, or options, vectors and arrays of boxes. The methods are those of [`Container`](super::Container) and [`Object`].
#[doc(hidden)]
pub trait InBox {
    type Scalar: Scalar;
    type With<N: Scalar>: InBox<Scalar = N>;
    fn with<N: Scalar>(&self) -> Self::With<N>;
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>);
    fn lengths(&self, words: &mut Words<'_>) -> bool;
    fn constants(&self, words: &mut Words<'_>) -> bool;
    fn layout(&self, layout: &mut Layout);
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [Self::Scalar]));
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [Self::Scalar]));
}

impl<C: Object> InBox for Box<C> {
    type Scalar = C::Scalar;
    type With<N: Scalar> = Box<C::With<N>>;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        Box::new((**self).with::<N>())
    }
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        (**self).fit::<N>(object);
    }
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        (**self).lengths(words)
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        (**self).constants(words)
    }
    fn layout(&self, layout: &mut Layout) {
        (**self).layout(layout);
    }
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        (**self).pieces(visit);
    }
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [C::Scalar])) {
        (**self).pieces_mut(visit);
    }
}

/// Lists of boxes: `[generics] List<I> => List<I::With<N>>, with, whether their parts have an index as their name`.
macro_rules! lists {
    ($([$($generics:tt)*] $list:ty => $with:ty, |$self:ident| $made:expr, $is_indexed:literal;)*) => {$(
        impl<$($generics)*> InBox for $list {
            type Scalar = I::Scalar;
            type With<N: Scalar> = $with;
            fn with<N: Scalar>(&self) -> Self::With<N> {
                let $self = self;
                $made
            }
            fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
                if self.as_slice().len() != object.as_slice().len() {
                    *object = self.with::<N>();
                    return;
                }
                for (boxed, object) in self.iter().zip(object) {
                    boxed.fit::<N>(object);
                }
            }
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                words.length(self.as_slice().len()) && self.iter().all(|boxed| boxed.lengths(words))
            }
            fn constants(&self, words: &mut Words<'_>) -> bool {
                self.iter().all(|boxed| boxed.constants(words))
            }
            fn layout(&self, layout: &mut Layout) {
                for (index, boxed) in self.iter().enumerate() {
                    if $is_indexed {
                        layout.part(&format!("[{index}]"), |layout| boxed.layout(layout));
                    } else {
                        boxed.layout(layout);
                    }
                }
            }
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [I::Scalar])) {
                self.iter().for_each(|boxed| boxed.pieces(visit));
            }
            fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [I::Scalar])) {
                self.iter_mut().for_each(|boxed| boxed.pieces_mut(visit));
            }
        }
    )*};
}
lists! {
    [I: InBox] Option<I> => Option<I::With<N>>, |list| list.as_ref().map(I::with::<N>), false;
    [I: InBox] Vec<I> => Vec<I::With<N>>, |list| list.iter().map(I::with::<N>).collect(), true;
    [I: InBox, const K: usize] [I; K] => [I::With<N>; K], |list| list.each_ref().map(I::with::<N>), true;
}
