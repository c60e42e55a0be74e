//! The operators. One file each; what several share is in `call.rs`.
//!
//! An operator checks shapes once, binds the function to its contexts, and hands a flat function to the backend's route.

mod auxiliary;
mod call;
mod derivative;
mod gradient;
mod hessian;
mod hvp;
mod jacobian;
mod pullback;
mod pushforward;
mod second_derivative;

pub use auxiliary::*;
pub use derivative::*;
pub use gradient::*;
pub use hessian::*;
pub use hvp::*;
pub use jacobian::*;
pub use pullback::*;
pub use pushforward::*;
pub use second_derivative::*;

use crate::backend::Backend;
use crate::evaluate::{Evaluate, Output};
use crate::point::Shape;

/// The number type that `B` runs functions of shape `X` on, with `L` lanes.
pub type NumOf<B, X, L> = <B as Backend>::Num<<X as Shape>::Scalar, L>;

/// What a function of shape `X` with contexts `C` returns when it runs on numbers `N`.
pub type OutputOf<F, X, C, N> = <F as Evaluate<X, C, N>>::Output;

/// The value of a function, with plain numbers `S` in place of `N`.
pub type ValueOf<F, X, C, N> = <OutputOf<F, X, C, N> as Output<N>>::With<<X as Shape>::Scalar>;

/// The value of a function borrowed from a preparation: `&[S]` where [`ValueOf`] is a `Vec<S>`, else the same.
pub type BorrowedOf<'a, F, X, C, N> = <OutputOf<F, X, C, N> as Output<N>>::Borrowed<'a, <X as Shape>::Scalar>;
