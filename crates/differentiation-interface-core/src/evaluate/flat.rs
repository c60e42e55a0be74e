//! A function as backends call it: [`Flat`].
//!
//! Implemented by `bound`.

use crate::recordings::{OutputShape, Recordable};
use crate::scalar::Scalar;
use std::ops::Range;

/// A function as backends call it: from a flat slice to a flat vector of numbers.
///
/// # For backend authors
/// A primitive or a route gets one, and may rely on the following:
/// 1. Pass one number for each entry of the `x` that the route got, or none after [`point_mut`](Flat::point_mut). The number of outputs may differ from call to call.
/// 2. A call depends on no earlier one: work memory is zero at the start of each. [`changed`](Flat::changed) only saves copies, and is forgotten after the next call.
/// 3. Errors of arithmetic and of the function are reported to the operator that runs, not returned here: the outputs then have no meaning. After a panic the function can be
///    called again.
/// 4. [`call_fixed`](Flat::call_fixed) is for functions for which [`fixed`](Flat::fixed) is `Some`.
/// 5. An engine that keeps a recording of one call for later calls reads in [`recordable`](Flat::recordable) what it depends on, and asks for
///    [`remember_shape`](Flat::remember_shape) after the call that it recorded.
///
/// A wrapper that implements it around another function:
///
/// 6. Forward [`has_work_memory`](Flat::has_work_memory). The other defaults are right for every wrapper, at a cost: the function runs in every call, is taken to
///    capture data, and has no fixed number of inputs.
pub trait Flat<N> {
    /// Evaluates the function at `x` and leaves the outputs in `y`, whose previous content and length do not matter.
    fn call(&mut self, x: &[N], y: &mut Vec<N>);
    /// Declares that `x` of the next call differs from that of the last call, of this or an earlier declaration, in `range` alone. A point
    /// that is copied to an object for the function is then copied in part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, _range: Range<usize>) {}
    /// The numbers that the function reads in the next call, if they lie in one piece: those of the object that a container is shown as. An engine
    /// that has written them declares `changed(0..0)` before each call with an empty `x`, which saves a copy. They stay from call to call of one
    /// operator; the next operator begins with other ones. `None` if the function reads `x`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn point_mut(&mut self) -> Option<&mut [N]> {
        None
    }
    /// What a recording of a call depends on; `None` if the function must run in every call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        None
    }

    /// Names the shape and the constant fields of the outputs of the last [`call`](Flat::call), if they are more than their number, for
    /// [`Recordable::show_shape`] in calls that a recording of that call serves.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn remember_shape(&mut self) -> Option<OutputShape> {
        None
    }

    /// Whether the function uses work memory, a [`Cache`](crate::context::Cache): an engine that differentiates compiled code would have to
    /// differentiate through it.
    fn has_work_memory(&self) -> bool;

    /// Evaluates the function at `x`, writes the outputs into `y` if their number is its length, and returns their number.
    ///
    /// For engines that differentiate compiled code: the copy of the point that a container is shown as, work memory and an output of
    /// unknown length are made in the call and dropped with it, so that such an engine sees where they come from. Memory that lies
    /// in the function, as [`call`](Flat::call) uses it, would be a constant for it. An output that is a number or an array needs no
    /// memory. The outputs are multiplied by `one`, whose value the compiler must not know: a copy of bytes would not tell
    /// such an engine that they are numbers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_apart(&mut self, x: &[N], y: &mut [N], one: N) -> usize
    where
        N: Scalar,
    {
        let mut outputs = Vec::with_capacity(y.len());
        self.call(x, &mut outputs);
        write_apart(&outputs, y, one)
    }

    /// The number of inputs, if the types fix the numbers of inputs and outputs, as for numbers and arrays. Such a function can also
    /// be called by [`call_fixed`](Flat::call_fixed).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        None
    }
    /// Whether the function captures data or has contexts, through which numbers of another differentiation may enter.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        true
    }

    /// Evaluates the function at the point with the entries `x(0)`, `x(1)`, ... and passes its outputs to `read`. If
    /// [`fixed`](Flat::fixed) is `Some`, nothing is allocated: point and outputs are on the stack or in registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_fixed<R>(&mut self, x: impl FnMut(usize) -> N, read: impl FnOnce(&[N]) -> R) -> R
    where
        Self: Sized,
    {
        let x: Vec<N> = (0..self.fixed().unwrap_or(0)).map(x).collect();
        let mut y = Vec::new();
        self.call(&x, &mut y);
        read(&y)
    }
}

/// [`Flat::call_apart`] of a function whose memory is not made in the call. Compiled once for all functions.
pub(super) fn apart_by_call<N: Scalar>(f: &mut dyn Flat<N>, x: &[N], y: &mut [N], one: N) -> usize {
    let mut outputs = Vec::with_capacity(y.len());
    f.call(x, &mut outputs);
    write_apart(&outputs, y, one)
}

/// Writes the outputs of [`Flat::call_apart`] and returns their number.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn write_apart<N: Scalar>(outputs: &[N], y: &mut [N], one: N) -> usize {
    if outputs.len() == y.len() {
        for (y, output) in y.iter_mut().zip(outputs) {
            *y = *output * one;
        }
    }
    outputs.len()
}

/// A reference to a function forwards every method.
impl<N, F: Flat<N> + ?Sized> Flat<N> for &mut F {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        (**self).call(x, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn changed(&mut self, range: Range<usize>) {
        (**self).changed(range);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn point_mut(&mut self) -> Option<&mut [N]> {
        (**self).point_mut()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn call_apart(&mut self, x: &[N], y: &mut [N], one: N) -> usize
    where
        N: Scalar,
    {
        (**self).call_apart(x, y, one)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_work_memory(&self) -> bool {
        (**self).has_work_memory()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recordable(&self) -> Option<&dyn Recordable> {
        (**self).recordable()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn remember_shape(&mut self) -> Option<OutputShape> {
        (**self).remember_shape()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fixed(&self) -> Option<usize> {
        (**self).fixed()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn captures(&self) -> bool {
        (**self).captures()
    }
}

/// The function as operators pass it to a backend: the function itself, so that the backend's loops are compiled around it.
#[cfg(not(debug_assertions))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn handed<F>(f: &mut F) -> &mut F {
    f
}

/// The function as operators pass it to a backend. In debug builds this is a trait object: calls are not inlined there anyway, and
/// the code of a backend is compiled once per number type instead of once per function.
#[cfg(debug_assertions)]
pub(crate) fn handed<'a, N, F: Flat<N> + 'a>(f: &'a mut F) -> &'a mut (dyn Flat<N> + 'a) {
    f
}
