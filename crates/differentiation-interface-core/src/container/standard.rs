//! Numbers, arrays, vectors, options and tuples are containers of what they hold.

use super::{Container, Layout, Object};
use crate::function::ByReference;
use crate::recordings::Words;
use crate::scalar::Scalar;

impl<S: Scalar> Container for S {
    type Scalar = S;
    type With<N: Scalar> = N;
    #[inline]
    fn with<N: Scalar>(&self) -> N {
        N::default()
    }
    /// Nothing to fit, so that the loop over a vector of numbers is no loop.
    #[inline]
    fn fit<N: Scalar>(&self, _: &mut N) {}
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
        visit(std::slice::from_ref(self));
    }
    #[inline]
    fn pieces_of<'a>(numbers: &'a [S], visit: &mut impl FnMut(&'a [S])) {
        visit(numbers);
    }
    fn layout_of(numbers: &[S], layout: &mut Layout) {
        layout.numbers(numbers.len());
    }
}

impl<S: Scalar> Object for S {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(std::slice::from_mut(self));
    }
    #[inline]
    fn pieces_mut_of<'a>(numbers: &'a mut [S], visit: &mut impl FnMut(&'a mut [S])) {
        visit(numbers);
    }
}

impl<C: Container, const K: usize> Container for [C; K] {
    type Scalar = C::Scalar;
    type With<N: Scalar> = [C::With<N>; K];
    const OPAQUE: bool = C::OPAQUE;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        std::array::from_fn(|i| self[i].with::<N>())
    }
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        for (container, object) in self.iter().zip(object) {
            container.fit::<N>(object);
        }
    }
    #[inline]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        self.iter().all(|container| container.lengths(words))
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        !C::OPAQUE || self.iter().all(|container| container.constants(words))
    }
    fn layout(&self, layout: &mut Layout) {
        C::layout_of(self, layout);
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        C::pieces_of(self, visit);
    }
}

impl<C: Object, const K: usize> Object for [C; K] {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [C::Scalar])) {
        C::pieces_mut_of(self, visit);
    }
}

/// A slice of containers, whose object is a `Vec`.
impl<C: Container> Container for [C] {
    type Scalar = C::Scalar;
    type With<N: Scalar> = Vec<C::With<N>>;
    const OPAQUE: bool = C::OPAQUE;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        self.iter().map(|container| container.with::<N>()).collect()
    }
    #[inline]
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        object.truncate(self.len());
        for (container, object) in self.iter().zip(&mut *object) {
            container.fit::<N>(object);
        }
        object.extend(self[object.len()..].iter().map(|container| container.with::<N>()));
    }
    #[inline]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        words.length(self.len()) && self.iter().all(|container| container.lengths(words))
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        !C::OPAQUE || self.iter().all(|container| container.constants(words))
    }
    fn layout(&self, layout: &mut Layout) {
        C::layout_of(self, layout);
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        C::pieces_of(self, visit);
    }
}

impl<C: Container> Container for Vec<C> {
    type Scalar = C::Scalar;
    type With<N: Scalar> = Vec<C::With<N>>;
    const OPAQUE: bool = C::OPAQUE;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        self.as_slice().with::<N>()
    }
    #[inline]
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        self.as_slice().fit::<N>(object);
    }
    #[inline]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        self.as_slice().lengths(words)
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        self.as_slice().constants(words)
    }
    fn layout(&self, layout: &mut Layout) {
        self.as_slice().layout(layout);
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        C::pieces_of(self, visit);
    }
}

impl<C: Object> Object for Vec<C> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [C::Scalar])) {
        C::pieces_mut_of(self, visit);
    }
}

// Lists of arrays and lists of lists, which functions of several arguments see as slices. They are no outputs: with more than one kind of `Vec` there,
// the compiler could not tell the numbers of a function that returns one.
crate::point_of! {
    [S: Scalar, const K: usize] Vec<[S; K]>;
    [S: Scalar] Vec<Vec<S>>;
}
impl<S: Scalar, const K: usize> ByReference for Vec<[S; K]> {}
impl<S: Scalar> ByReference for Vec<Vec<S>> {}

impl<C: Container> Container for Option<C> {
    type Scalar = C::Scalar;
    type With<N: Scalar> = Option<C::With<N>>;
    const OPAQUE: bool = C::OPAQUE;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        self.as_ref().map(|container| container.with::<N>())
    }
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        match (self, &mut *object) {
            (Some(container), Some(object)) => container.fit::<N>(object),
            _ => *object = self.with::<N>(),
        }
    }
    #[inline]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        words.length(usize::from(self.is_some())) && self.iter().all(|container| container.lengths(words))
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        self.iter().all(|container| container.constants(words))
    }
    fn layout(&self, layout: &mut Layout) {
        self.iter().for_each(|container| container.layout(layout));
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        C::pieces_of(self.as_slice(), visit);
    }
}

impl<C: Object> Object for Option<C> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [C::Scalar])) {
        C::pieces_mut_of(self.as_mut_slice(), visit);
    }
}

/// Tuples. The number type is that of the first entry: a type parameter for it would be taken for the `N` of a method.
macro_rules! tuples {
    ($($A:ident $a:ident $object:ident $index:literal),*) => {
        impl<First: Container, $($A: Container<Scalar = First::Scalar>),*> Container for (First, $($A,)*) {
            type Scalar = First::Scalar;
            type With<N: Scalar> = (First::With<N>, $($A::With<N>,)*);
            const OPAQUE: bool = First::OPAQUE $(|| $A::OPAQUE)*;
            fn with<N: Scalar>(&self) -> Self::With<N> {
                let (first, $($a,)*) = self;
                (first.with::<N>(), $($a.with::<N>(),)*)
            }
            fn fit<N: Scalar>(&self, (object, $($object,)*): &mut Self::With<N>) {
                let (first, $($a,)*) = self;
                first.fit::<N>(object);
                $($a.fit::<N>($object);)*
            }
            #[inline]
            fn lengths(&self, words: &mut Words<'_>) -> bool {
                let (first, $($a,)*) = self;
                first.lengths(words) $(&& $a.lengths(words))*
            }
            fn constants(&self, words: &mut Words<'_>) -> bool {
                let (first, $($a,)*) = self;
                first.constants(words) $(&& $a.constants(words))*
            }
            fn layout(&self, layout: &mut Layout) {
                let (first, $($a,)*) = self;
                layout.part("0", |layout| first.layout(layout));
                $(layout.part($index, |layout| $a.layout(layout));)*
            }
            #[inline]
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [First::Scalar])) {
                let (first, $($a,)*) = self;
                first.pieces(visit);
                $($a.pieces(visit);)*
            }
        }

        impl<First: Object, $($A: Object<Scalar = First::Scalar>),*> Object for (First, $($A,)*) {
            #[inline]
            fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [First::Scalar])) {
                let (first, $($a,)*) = self;
                first.pieces_mut(visit);
                $($a.pieces_mut(visit);)*
            }
        }

        crate::whole! { [First: Object, $($A: Object<Scalar = First::Scalar>),*] (First, $($A,)*); }
    };
}
tuples! {}
tuples! { A a oa "1" }
tuples! { A a oa "1", B b ob "2" }
tuples! { A a oa "1", B b ob "2", C c oc "3" }
tuples! { A a oa "1", B b ob "2", C c oc "3", D d od "4" }
tuples! { A a oa "1", B b ob "2", C c oc "3", D d od "4", E e oe "5" }
