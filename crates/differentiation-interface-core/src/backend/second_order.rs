//! Second order: two backends, and the route from `hvp` and `hessian` to their primitives.
//!
//! ```text
//! outer     inner     route
//! forward   reverse   ForwardOverGradient   pushforward (outer) of the gradient (inner)
//! forward   forward   ForwardOverGradient
//! reverse   forward   ReverseOverForward    pullback (outer) of the pushforwards (inner), batched over tangents
//! reverse   reverse   ReverseOverGradient   pullback (outer) of the gradient (inner)
//! ```
//! A backend that is both counts as forward on the outside and reverse on the inside where that helps. In every mode the
//! inner differentiation keeps its state between calls, several tangents go together, and value and gradient come from the
//! same evaluations.

use super::{
    Backend, Both, Forward, Lanes, MatrixRoute, PullbackPrimitive, PushforwardPrimitive, Reverse, Rows, Seeds,
};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;

/// Two backends for second order: `SecondOrder(outer, inner)` differentiates derivatives by `inner` with `outer`.
///
/// It serves `second_derivative`, `hvp` and `hessian` only; first-order operators refuse it at compile time. A plain
/// backend stands for itself twice.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let backend = SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default());
/// assert_eq!(hessian(&cubic, &backend, &[2.0, 5.0])?, [[10.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondOrder<O, I>(
    /// The outer backend, which differentiates the derivative.
    pub O,
    /// The inner backend, which differentiates the function.
    pub I,
);

/// What `second_derivative`, `hvp` and `hessian` accept: a [`SecondOrder`], or a plain backend for itself twice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used for second order",
    note = "pass a backend, or `SecondOrder(outer, inner)` of two backends, neither of them a `SecondOrder` itself",
    note = "the `Mode` of each backend must be `Forward`, `Reverse` or `Both`"
)]
pub trait SecondOrderBackend: Clone + Send + Sync + 'static {
    /// The outer backend.
    type Outer: Backend;
    /// The inner backend.
    type Inner: Backend;
    /// Route of `hvp` and `hessian`.
    type Hvp: HvpRoute<Self::Outer, Self::Inner>;

    /// Name in errors and tables: that of a plain backend, or of the inner one.
    const NAME: &'static str;

    /// The outer and the inner backend as they are used together.
    fn pair(&self) -> (Self::Outer, Self::Inner);
}

impl<B: Backend> SecondOrderBackend for B
where
    B::Mode: Compose<B::Mode, Route: HvpRoute<B, B>>,
{
    type Outer = B;
    type Inner = B;
    type Hvp = <B::Mode as Compose<B::Mode>>::Route;
    const NAME: &'static str = B::NAME;

    fn pair(&self) -> (B, B) {
        let (outer, inner) = self.outer_and_inner();
        pair_of(&outer, &inner)
    }
}

impl<O: Backend, I: Backend> SecondOrderBackend for SecondOrder<O, I>
where
    O::Mode: Compose<I::Mode, Route: HvpRoute<O, I>>,
{
    type Outer = O;
    type Inner = I;
    type Hvp = <O::Mode as Compose<I::Mode>>::Route;
    const NAME: &'static str = "second_order";

    fn pair(&self) -> (O, I) {
        pair_of(&self.0, &self.1)
    }
}

/// Two backends together; both inexact ones take wider steps.
fn pair_of<O: Backend, I: Backend>(outer: &O, inner: &I) -> (O, I) {
    if outer.is_exact() || inner.is_exact() {
        (outer.clone(), inner.clone())
    } else {
        (outer.for_nested_differences(), inner.for_nested_differences())
    }
}

/// The table of modes: which route an outer mode takes over the inner mode `I`.
#[diagnostic::on_unimplemented(
    message = "there is no second-order route for the mode `{Self}` over the mode `{I}`",
    note = "the `Mode` of a backend must be `Forward`, `Reverse` or `Both` for second order"
)]
pub trait Compose<I> {
    /// The route.
    type Route;
}
impl Compose<Reverse> for Forward {
    type Route = ForwardOverGradient;
}
impl Compose<Both> for Forward {
    type Route = ForwardOverGradient;
}
impl Compose<Forward> for Forward {
    type Route = ForwardOverGradient;
}
impl Compose<Forward> for Reverse {
    type Route = ReverseOverForward;
}
impl Compose<Both> for Reverse {
    type Route = ReverseOverForward;
}
impl Compose<Reverse> for Reverse {
    type Route = ReverseOverGradient;
}
impl Compose<Reverse> for Both {
    type Route = ForwardOverGradient;
}
impl Compose<Both> for Both {
    type Route = ForwardOverGradient;
}
impl Compose<Forward> for Both {
    type Route = ReverseOverForward;
}

/// What a second-order call leaves in its state besides the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// Nothing.
    Products,
    /// The gradient.
    Gradient,
    /// The value and the gradient.
    Value,
}

/// State of a second-order call: those of both backends, and what they exchange.
#[derive(Clone, Debug)]
pub struct HvpState<OuterState, InnerState, S, N> {
    outer: OuterState,
    inner: InnerState,
    /// Gradient at the point, where wanted.
    pub gradient: Vec<S>,
    /// Value at the point, where wanted; one entry.
    pub value: Vec<S>,
    /// Outputs of the inner function, for the outer backend.
    outputs: Vec<S>,
    inner_value: Vec<N>,
    lifted: Vec<N>,
}

impl<OuterState, InnerState, S, N> HvpState<OuterState, InnerState, S, N> {
    fn new(outer: OuterState, inner: InnerState) -> Self {
        HvpState {
            outer,
            inner,
            gradient: Vec::new(),
            value: Vec::new(),
            outputs: Vec::new(),
            inner_value: Vec::new(),
            lifted: Vec::new(),
        }
    }
}

/// How `hvp` and `hessian` reach two backends.
///
/// The products are a matrix with one entry per input and seed; [`seeds_are_rows`](HvpRoute::seeds_are_rows) says which
/// way round. For a Hessian, which is symmetric, both are the same.
pub trait HvpRoute<O: Backend, I: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// The lanes of a Hessian.
    type Lanes: Lanes;
    /// What the function runs on.
    type Num<S: Scalar, L: Lanes>: Scalar<Base = S::Base>;
    /// What calls need beyond the arguments.
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;

    /// Makes an empty state, or refuses points of length `inputs` with `seeds` tangents.
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error>;

    /// Whether the products of a seed are a row of the matrix, or a column.
    fn seeds_are_rows(pair: &(O, I)) -> bool;
    /// Whether a call needs more memory for some tangents than for others, so that preparations must try all of a Hessian or
    /// dense ones: a tangent that is zero somewhere leaves less on a tape.
    fn memory_follows_tangents(_pair: &(O, I)) -> bool {
        false
    }
    /// The gradient that the last call left.
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S];
    /// The value that the last call left.
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S;

    /// Fills the products at `x`, and leaves in the state what is wanted.
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        want: Want,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Evaluates what depends on the point alone, and leaves value and gradient in the state.
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error>;

    /// Fills the products at the point `x` of the last [`hold`](HvpRoute::hold).
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
}

/// The gradient by the inner backend as a flat function of numbers `N` of the outer one.
struct GradientOf<'a, F, I: Backend, N: Scalar, S> {
    f: &'a mut F,
    inner: &'a I,
    state: &'a mut InnerState<I, N>,
    inner_value: &'a mut Vec<N>,
    /// Where the value of the first evaluation goes, if it is wanted, and how it is lowered.
    value: Option<(&'a mut Vec<S>, fn(&N) -> S)>,
    error: Option<Error>,
}

type InnerState<I, N> = <<I as Backend>::Gradient as MatrixRoute<I>>::State<N, <I as Backend>::Lanes>;

impl<F, I, N, S> Flat<N> for GradientOf<'_, F, I, N, S>
where
    I: Backend,
    N: Scalar,
    F: Flat<I::Num<N, I::Lanes>>,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        y.resize(x.len(), N::default());
        if self.error.is_some() {
            return;
        }
        let value = self.value.is_some().then_some(&mut *self.inner_value);
        let rows = Rows::fixed(y, x.len());
        match I::Gradient::matrix(self.inner, self.state, self.f, x, value, rows) {
            Ok(()) => {
                // Only the first evaluation is certainly at the unmoved point.
                if let Some((value, lower)) = self.value.take() {
                    value.clear();
                    value.push(lower(&self.inner_value[0]));
                }
            }
            Err(error) => self.error = Some(error),
        }
    }
}

/// The first error of an inner differentiation, else that of the outer one.
fn first_error(inner: Option<Error>, outer: Result<(), Error>) -> Result<(), Error> {
    match inner {
        Some(error) => Err(error),
        None => outer,
    }
}

/// Pushforward of the gradient.
#[derive(Clone, Copy, Debug)]
pub struct ForwardOverGradient;

/// Binds the gradient function to a state, and runs an outer primitive on it.
macro_rules! with_gradient {
    ($pair:ident, $state:ident, $f:ident, $want:expr, |$outer:ident, $gradient:ident| $call:expr) => {{
        let HvpState { outer: $outer, inner, inner_value, value, .. } = $state;
        let value = ($want == Want::Value).then_some((value, O::lower::<S, L> as fn(&O::Num<S, L>) -> S));
        let mut $gradient = GradientOf { f: $f, inner: &$pair.1, state: inner, inner_value, value, error: None };
        let result = $call;
        first_error($gradient.error, result)
    }};
}

impl<O: PushforwardPrimitive, I: Backend> HvpRoute<O, I> for ForwardOverGradient {
    const NAME: &'static str = "pushforward of gradient";
    type Lanes = O::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, I::Lanes>;
    type State<S: Scalar, L: Lanes> = HvpState<O::PushforwardState<S, L>, InnerState<I, O::Num<S, L>>, S, O::Num<S, L>>;

    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(HvpState::new(pair.0.pushforward_state(inputs, seeds)?, I::Gradient::state(&pair.1, inputs)?))
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        false
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value[0]
    }
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        want: Want,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let mut gradient = std::mem::take(&mut state.gradient);
        let result = with_gradient!(pair, state, f, want, |outer, function| {
            let y = (want >= Want::Gradient).then_some(&mut gradient);
            pair.0.pushforward(outer, &mut function, x, seeds, y, rows)
        });
        state.gradient = gradient;
        result
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let mut gradient = std::mem::take(&mut state.gradient);
        let result = with_gradient!(pair, state, f, Want::Value, |outer, function| pair.0.hold(
            outer,
            &mut function,
            x,
            &mut gradient
        ));
        state.gradient = gradient;
        result
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        _x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        with_gradient!(pair, state, f, Want::Products, |outer, function| pair.0.pushforward_held(
            outer,
            &mut function,
            seeds,
            rows
        ))
    }
}

/// Pullback of the gradient. Products at the same point do not run the function again.
#[derive(Clone, Copy, Debug)]
pub struct ReverseOverGradient;

impl<O: PullbackPrimitive, I: Backend> HvpRoute<O, I> for ReverseOverGradient {
    const NAME: &'static str = "pullback of gradient";
    type Lanes = O::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, I::Lanes>;
    type State<S: Scalar, L: Lanes> = HvpState<O::PullbackState<S, L>, InnerState<I, O::Num<S, L>>, S, O::Num<S, L>>;

    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, _seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(HvpState::new(pair.0.pullback_state(inputs)?, I::Gradient::state(&pair.1, inputs)?))
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        true
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value[0]
    }
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        want: Want,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        record_gradient(pair, state, f, x, want)?;
        pair.0.sweep(&mut state.outer, seeds, rows)
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        record_gradient(pair, state, f, x, Want::Value)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        pair.0.sweep(&mut state.outer, seeds, rows)
    }
}

/// Records the gradient on the outer backend's tape.
fn record_gradient<O: PullbackPrimitive, I: Backend, S: Scalar, L: Lanes, F: Flat<I::Num<O::Num<S, L>, I::Lanes>>>(
    pair: &(O, I),
    state: &mut HvpState<O::PullbackState<S, L>, InnerState<I, O::Num<S, L>>, S, O::Num<S, L>>,
    f: &mut F,
    x: &[S],
    want: Want,
) -> Result<(), Error> {
    let mut gradient = std::mem::take(&mut state.gradient);
    let result =
        with_gradient!(pair, state, f, want, |outer, function| pair.0.record(outer, &mut function, x, &mut gradient));
    state.gradient = gradient;
    result
}

/// Pullback of pushforwards, as many of them at once as there are lanes.
#[derive(Clone, Copy, Debug)]
pub struct ReverseOverForward;

/// The products ∇f·v by the inner backend, and then f, as a flat function of numbers `N` of the outer one.
struct PushforwardsOf<'a, F, I: PushforwardPrimitive, N: Scalar, L: Lanes> {
    f: &'a mut F,
    inner: &'a I,
    state: &'a mut I::PushforwardState<N, L>,
    inner_value: &'a mut Vec<N>,
    with_value: bool,
    seeds: Seeds<'a, N>,
    error: Option<Error>,
}

impl<F, I, N, L> Flat<N> for PushforwardsOf<'_, F, I, N, L>
where
    I: PushforwardPrimitive,
    N: Scalar,
    L: Lanes,
    F: Flat<I::Num<N, L>>,
{
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        let count = self.seeds.count();
        y.clear();
        y.resize(count + usize::from(self.with_value), N::default());
        if self.error.is_some() {
            return;
        }
        let value = self.with_value.then_some(&mut *self.inner_value);
        let rows = Rows::fixed(&mut y[..count], count);
        match self.inner.pushforward(self.state, self.f, x, self.seeds, value, rows) {
            Ok(()) => {
                if self.with_value {
                    y[count] = self.inner_value[0];
                }
            }
            Err(error) => self.error = Some(error),
        }
    }
}

/// How many tangents go through an inner pushforward at once at the most, for references to them are kept on the stack.
const TANGENTS_AT_ONCE: usize = 16;

impl<O: PullbackPrimitive, I: PushforwardPrimitive> HvpRoute<O, I> for ReverseOverForward {
    const NAME: &'static str = "pullback of pushforwards";
    type Lanes = I::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, L>;
    type State<S: Scalar, L: Lanes> =
        HvpState<O::PullbackState<S, L>, I::PushforwardState<O::Num<S, L>, L>, S, O::Num<S, L>>;

    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(HvpState::new(pair.0.pullback_state(inputs)?, pair.1.pushforward_state(inputs, seeds)?))
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        true
    }
    fn memory_follows_tangents(_pair: &(O, I)) -> bool {
        true
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value[0]
    }
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        want: Want,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let n = x.len();
        let total = seeds.count();
        rows.set_rows(total)?;
        let width = L::N.min(TANGENTS_AT_ONCE);
        let mut first = 0;
        loop {
            let count = width.min(total - first);
            // The value and gradient come with the first batch.
            let with_value = want >= Want::Gradient && first == 0;
            let HvpState { outer, inner, gradient, value, outputs, inner_value, lifted } = state;
            let mut slices: [&[O::Num<S, L>]; TANGENTS_AT_ONCE] = [&[]; TANGENTS_AT_ONCE];
            let batch = match seeds {
                Seeds::Basis { first: start, .. } => Seeds::Basis { first: start + first, count },
                Seeds::Colors { colors, first: start, .. } => Seeds::Colors { colors, first: start + first, count },
                Seeds::Vectors(vectors) => {
                    lifted.clear();
                    lifted.extend(vectors[first..first + count].iter().flat_map(|v| v.iter().map(|&e| O::raise(e))));
                    for (k, slice) in slices[..count].iter_mut().enumerate() {
                        *slice = &lifted[k * n..(k + 1) * n];
                    }
                    Seeds::Vectors(&slices[..count])
                }
            };
            let mut function = PushforwardsOf {
                f: &mut *f,
                inner: &pair.1,
                state: inner,
                inner_value,
                with_value,
                seeds: batch,
                error: None,
            };
            let result = pair.0.record(outer, &mut function, x, outputs);
            first_error(function.error, result)?;
            if count > 0 {
                let part = Rows::fixed(&mut rows.data()[first * n..(first + count) * n], n);
                pair.0.sweep(outer, Seeds::all(count), part)?;
            }
            if with_value {
                value.clear();
                value.push(outputs[count]);
                pair.0.sweep(outer, Seeds::Basis { first: count, count: 1 }, Rows::growing(gradient, n))?;
            }
            first += count;
            if first >= total {
                return Ok(());
            }
        }
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        let mut none = [];
        Self::products(pair, state, f, x, Seeds::all(0), Want::Value, Rows::fixed(&mut none, x.len()))
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        Self::products(pair, state, f, x, seeds, Want::Products, rows)
    }
}
