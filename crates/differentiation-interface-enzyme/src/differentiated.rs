//! The two functions that the compiler makes: the forward and the reverse derivative of a call of the user's function.
//!
//! Called by the state, on plain slices.

use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Base;
use std::autodiff::{autodiff_forward, autodiff_reverse};

/// Evaluates `f` at `x`, writes the outputs into `y` if their number is its length, and leaves their number in `found`.
///
/// The function and what it captures are constants for Enzyme; work memory and copies of the point are made inside, by
/// [`Flat::call_apart`], which also explains `one`, so that Enzyme follows derivatives through them.
#[autodiff_forward(forward, Const, Dual, Dual, Const, Const)]
#[autodiff_reverse(reverse, Const, Duplicated, Duplicated, Const, Const)]
#[inline(never)]
pub(crate) fn evaluate<N: Base, F: Flat<N>>(f: &mut F, x: &[N], y: &mut [N], found: &mut usize, one: &N) {
    *found = f.call_apart(x, y, *one);
}
