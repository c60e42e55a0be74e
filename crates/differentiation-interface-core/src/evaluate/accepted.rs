//! Every function that an operator accepts: [`Evaluate`].
//!
//! Called by `bound`.

use super::output::Output;
use crate::context::{Contexts, SomeContexts};
use crate::function::{Function, FunctionWith};
use crate::point::Shape;
use crate::recordings::ParameterScope;
use crate::scalar::Scalar;

/// Every function that operators accept: a function of a point of shape `X` with contexts `C`, at the number type `N`.
///
/// Implemented for every [`Function`], every [`FunctionWith`], in-place functions made functions by [`in_place`](crate::in_place) among them. Users do not
/// implement it.
///
/// # For engines of one operator
/// An engine binds the function by [`Bound::new`](super::Bound::new): the [`Bound`](super::Bound) calls these methods. It may rely on the following:
/// 1. `begin` is called before the evaluations of each call of an operator, and not for further products at the same point nor by
///    [`Bound::fitted`](super::Bound::fitted) on other threads.
/// 2. An evaluation depends on no earlier one: parameters and the zeros of work memory are written to `storage` before each.
/// 3. `y` may have any content and length; it holds all outputs afterwards. `kept` is the default, or what an evaluation of the same function left.
/// 4. `evaluate_fixed` is for points of a shape with a [`LENGTH`](Shape::LENGTH) only, and panics for others.
/// 5. A function that returns an `Err` reports it to the operator that runs; the outputs then have no meaning.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be differentiated here with numbers `{N}`",
    note = "a closure or `fn` has one number type, which the first call that takes it decides: write it again for another backend or operator; over plain `f64` it works only with backends that need values (`AutoFiniteDiff`)",
    note = "a struct of numbers becomes a point by `#[derive(Container)]`; parameters by name are a `BTreeMap`, not a `HashMap`",
    note = "write it over `T: Real` and call it in a closure `|x: &[_]| f(x)`, or put `#[differentiable]` on the `fn` and pass the object it makes; what is a reference already (`model: &Model`) is passed without another `&`",
    note = "a function that writes its output, `|y: &mut [_], x: &[_]|`, is passed as `in_place(f, output_length)`",
    note = "a closure captures a number of an outer differentiation as `lift(&backend, &number)`; code that is generic over `F` asks for the operator: `where AutoReverseDiff: GradientBackend<F, Slice<f64>, ()>`"
)]
pub trait Evaluate<X: Shape, C: Contexts, N: Scalar> {
    /// The output of the function.
    type Output: Output<N>;
    /// The number of inputs, if the types fix the numbers of inputs and outputs; see [`Flat::fixed`](super::Flat::fixed).
    const FIXED: Option<usize> = if <Self::Output as Output<N>>::FIXED { X::LENGTH } else { None };
    /// Evaluates at the point that is shown, into `y`.
    fn evaluate(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        kept: &mut KeptBy<Self, X, C, N>,
        y: &mut Vec<N>,
    );
    /// Evaluates at the point with the entries `x(0)`, `x(1)`, ... and passes the outputs to `read`; for shapes of fixed length.
    fn evaluate_fixed<R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R;
    /// Evaluates at the point that is shown, makes a new output, and passes its numbers to `read`.
    fn evaluate_apart<R>(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R;
    /// Whether a call only computes its output, from `x` and the contexts alone.
    fn is_pure(&self) -> bool;
    /// Called before the evaluations of a call of an operator.
    fn begin(&self);
}

/// What an evaluation of `F` keeps beside the numbers of its output, see [`Output::Kept`].
pub type KeptBy<F, X, C, N> = <<F as Evaluate<X, C, N>>::Output as Output<N>>::Kept;

impl<X: Shape, N: Scalar, F> Evaluate<X, (), N> for F
where
    F: Function<X::Active<N>>,
    F::Output: Output<N>,
{
    type Output = F::Output;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate(&self, x: &X::Active<N>, _: &(), _: &mut (), kept: &mut KeptBy<F, X, (), N>, y: &mut Vec<N>) {
        F::Output::evaluate(self, x, kept, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<R>(&self, x: impl FnMut(usize) -> N, _: &(), _: &mut (), read: impl FnOnce(&[N]) -> R) -> R {
        X::with_entries(x, |x| self.call(x).read(read))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_apart<R>(&self, x: &X::Active<N>, _: &(), _: &mut (), read: impl FnOnce(&[N]) -> R) -> R {
        self.call(x).read(read)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        Function::is_pure(self)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self) {
        Function::begin(self);
    }
}

/// The scope of a function that has its parameters, where that matters: operators that it calls have others.
#[cfg_attr(not(debug_assertions), inline(always))]
fn scope_of_parameters<C: Contexts, N: Scalar>() -> Option<ParameterScope> {
    const { C::HAS_PARAMETERS && N::INTERNALS.may_be_recorded }.then(ParameterScope::of_function)
}

impl<X: Shape, C: SomeContexts, N: Scalar, F> Evaluate<X, C, N> for F
where
    F: FunctionWith<X::Active<N>, C::Types<N>>,
    F::Output: Output<N>,
{
    type Output = F::Output;
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        kept: &mut KeptBy<F, X, C, N>,
        y: &mut Vec<N>,
    ) {
        let arguments = C::arguments(contexts, storage);
        let _scope = scope_of_parameters::<C, N>();
        F::Output::evaluate_with(self, x, arguments, kept, y);
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_fixed<R>(
        &self,
        x: impl FnMut(usize) -> N,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R {
        let arguments = C::arguments(contexts, storage);
        let _scope = scope_of_parameters::<C, N>();
        X::with_entries(x, |x| self.call_with(x, arguments).read(read))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluate_apart<R>(
        &self,
        x: &X::Active<N>,
        contexts: &C::Values<'_>,
        storage: &mut C::Storage<N>,
        read: impl FnOnce(&[N]) -> R,
    ) -> R {
        let arguments = C::arguments(contexts, storage);
        let _scope = scope_of_parameters::<C, N>();
        self.call_with(x, arguments).read(read)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_pure(&self) -> bool {
        FunctionWith::is_pure(self)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn begin(&self) {
        FunctionWith::begin(self);
    }
}
