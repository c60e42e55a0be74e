//! Complex numbers of `num-complex`: two real numbers each.
//!
//! # Convention
//! A complex number is the pair of its real and its imaginary part, and everything follows from the real derivatives of that pair, as in
//! ChainRules of Julia:
//! - the gradient of a real function f at z = x + iy is ∂f/∂x + i ∂f/∂y, the direction of steepest ascent (of |z|² it is 2z). JAX returns its
//!   conjugate;
//! - tangents are complex numbers dz, and the derivative of a real function along dz is Re(conj(gradient) · dz);
//! - the pullback of a holomorphic function with the cotangent ȳ is conj(f′(z)) · ȳ;
//! - at a point `z` passed by value, `derivative` and `second_derivative` are f′(z) and f″(z) of a holomorphic function, from the
//!   derivative along the real axis. For a function that is not holomorphic they are ∂f/∂x.

use super::{Container, Layout, Object};
use crate::backend::Lanes;
use crate::function::ByReference;
use crate::point::{LikeOf, NumberShape, Point, Shape};
use crate::recordings::Words;
use crate::scalar::{Base, Scalar};
use num_complex::Complex;
use std::marker::PhantomData;
use std::ops::Range;

/// Real part, imaginary part.
impl<S: Scalar> Container for Complex<S> {
    type Scalar = S;
    type With<N: Scalar> = Complex<N>;
    #[inline]
    fn with<N: Scalar>(&self) -> Complex<N> {
        Complex::new(N::default(), N::default())
    }
    #[inline]
    fn fit<N: Scalar>(&self, _: &mut Complex<N>) {}
    fn layout(&self, layout: &mut Layout) {
        layout.numbers(2);
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
        visit(std::slice::from_ref(&self.re));
        visit(std::slice::from_ref(&self.im));
    }
}

impl<S: Scalar> Object for Complex<S> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
        visit(std::slice::from_mut(&mut self.re));
        visit(std::slice::from_mut(&mut self.im));
    }
}

crate::whole! { [S: Scalar] Complex<S>; }
// A `Vec` is seen as a slice by functions of several arguments, so it has that part already.
crate::point_of! { [S: Scalar] Vec<Complex<S>>; }
crate::output_of! { [S: Scalar] Vec<Complex<S>>; }
impl<S: Scalar> ByReference for Vec<Complex<S>> {}

/// The shape of a complex number by value, at which `derivative` and `second_derivative` are those of a holomorphic function: the number
/// that is differentiated by is the real part.
pub struct Holomorphic<S>(PhantomData<S>);

impl<S: Base> Shape for Holomorphic<S> {
    type Scalar = S;
    type Active<N: Scalar> = Complex<N>;
    type Like = S;
    type Held<N: Scalar> = Complex<N>;
    // The imaginary part is a constant.
    const OPAQUE: bool = true;
    const LENGTH: Option<usize> = None;
    type Lanes<L: Lanes> = L::AtMost<1>;

    #[inline]
    fn show<'a, N: Scalar>(flat: &'a [N], held: &'a mut Complex<N>, _: Range<usize>) -> &'a Complex<N> {
        if let [re] = flat {
            held.re = *re;
        }
        held
    }
    fn constants<N: Scalar>(held: &Complex<N>, words: &mut Words<'_>) -> bool {
        words.numbers(&[(N::INTERNALS.peek)(&held.im).as_f64()])
    }
}

impl<S: Base> NumberShape for Holomorphic<S> {}

impl<S: Base> Point for Complex<S> {
    type Shape = Holomorphic<S>;
    type Contexts = ();
    #[inline]
    fn flat<'a>(&'a self, _: &'a mut Vec<S>) -> &'a [S] {
        std::slice::from_ref(&self.re)
    }
    #[inline]
    fn contexts(&self) {}
    #[inline]
    fn hold<N: Scalar>(&self) -> Complex<N> {
        Complex::new(N::default(), N::constant(N::Base::from_f64(self.im.as_f64())))
    }
    #[inline]
    fn fit<N: Scalar>(&self, held: &mut Complex<N>) {
        *held = self.hold::<N>();
    }
    #[inline]
    fn filled<E>(&self, _: &mut Vec<S>, fill: impl FnOnce(&mut [S]) -> Result<(), E>) -> Result<LikeOf<Self>, E> {
        let mut like = S::default();
        fill(std::slice::from_mut(&mut like))?;
        Ok(like)
    }
}
