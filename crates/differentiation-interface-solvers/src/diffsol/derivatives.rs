//! The prepared derivatives of one part of an [`Ode`] with respect to the state or the parameters.
//!
//! Used by `operators`. Calls prepared pushforwards, pullbacks and Jacobians, each made at its first use.

use super::ode::{Ode, Part};
use crate::shared::Shared;
use differentiation_interface::context::{Parameter, ParameterKind};
use differentiation_interface::error::Error;
use differentiation_interface::operators::{
    JacobianBackend, PreparedJacobian, PreparedPullback, PreparedPushforward, PullbackBackend, PushforwardBackend,
    prepare_jacobian, prepare_pullback, prepare_pushforward,
};
use differentiation_interface::point::Slice;
use differentiation_interface::{Const, FunctionInPlaceWith, InPlace, Real, Scalar, in_place};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The arguments beside the differentiated one: the parameters or the state, and the time.
pub type Others = (ParameterKind<[f64]>, ParameterKind<f64>);
/// A point with them.
pub(super) type At<'a> = (&'a [f64], Parameter<'a, [f64]>, Parameter<'a, f64>);

/// A part of an [`Ode`] as a function of the state, the parameters and the time.
pub struct ByState<P, K> {
    ode: P,
    part: PhantomData<fn() -> K>,
}

/// A part of an [`Ode`] as a function of the parameters, the state and the time.
pub struct ByParameters<P, K> {
    ode: P,
    part: PhantomData<fn() -> K>,
}

impl<P, K> ByState<P, K> {
    pub(super) fn new(ode: P) -> Self {
        ByState { ode, part: PhantomData }
    }
}
impl<P, K> ByParameters<P, K> {
    pub(super) fn new(ode: P) -> Self {
        ByParameters { ode, part: PhantomData }
    }
}

/// The types of the function's further arguments.
type Types<N> = (Const<Vec<N>>, Const<N>);

impl<N: Real + Scalar, P: Deref<Target: Ode>, K: Part> FunctionInPlaceWith<N, [N], Types<N>> for ByState<P, K> {
    fn call_in_place_with(&self, out: &mut [N], y: &[N], (p, t): (&Vec<N>, &N)) {
        K::write(&*self.ode, out, y, p, *t);
    }
}

impl<N: Real + Scalar, P: Deref<Target: Ode>, K: Part> FunctionInPlaceWith<N, [N], Types<N>> for ByParameters<P, K> {
    fn call_in_place_with(&self, out: &mut [N], p: &[N], (y, t): (&Vec<N>, &N)) {
        K::write(&*self.ode, out, y, p, *t);
    }
}

/// A backend with all operators that the solvers need of `F`.
pub trait Engine<F>:
    JacobianBackend<InPlace<F>, Slice<f64>, Others>
    + PushforwardBackend<InPlace<F>, Slice<f64>, Others, 1>
    + PullbackBackend<InPlace<F>, Slice<f64>, Others>
{
}
impl<F, B> Engine<F> for B where
    B: JacobianBackend<InPlace<F>, Slice<f64>, Others>
        + PushforwardBackend<InPlace<F>, Slice<f64>, Others, 1>
        + PullbackBackend<InPlace<F>, Slice<f64>, Others>
{
}

type Jacobian<F, B> = PreparedJacobian<Arc<InPlace<F>>, B, Slice<f64>, Others>;
type Pushforward<F, B> = PreparedPushforward<Arc<InPlace<F>>, B, Slice<f64>, 1, Others>;
type Pullback<F, B> = PreparedPullback<Arc<InPlace<F>>, B, Slice<f64>, 1, Others>;

/// The derivatives of `F`.
pub(super) struct Derivatives<F, B: Engine<F>> {
    function: Arc<InPlace<F>>,
    backend: B,
    jacobian: OnceLock<Shared<Jacobian<F, B>>>,
    pushforward: OnceLock<Shared<Pushforward<F, B>>>,
    pullback: OnceLock<Shared<Pullback<F, B>>>,
}

/// The value in `cell`, made by `prepare` at the first call.
fn prepared<P: Clone>(
    cell: &OnceLock<Shared<P>>,
    prepare: impl FnOnce() -> Result<P, Error>,
) -> Result<&Shared<P>, Error> {
    if let Some(shared) = cell.get() {
        return Ok(shared);
    }
    let shared = Shared::new(prepare()?);
    Ok(cell.get_or_init(|| shared))
}

impl<F, B: Engine<F>> Derivatives<F, B> {
    pub(super) fn new(function: F, outputs: usize, backend: &B) -> Self {
        Derivatives {
            function: Arc::new(in_place(function, outputs)),
            backend: backend.clone(),
            jacobian: OnceLock::new(),
            pushforward: OnceLock::new(),
            pullback: OnceLock::new(),
        }
    }

    pub(super) fn jacobian(
        &self,
        x: At<'_>,
    ) -> Result<<B as JacobianBackend<InPlace<F>, Slice<f64>, Others>>::Matrix, Error> {
        let prepare = || prepare_jacobian(Arc::clone(&self.function), &self.backend, x);
        prepared(&self.jacobian, prepare)?.with(|prepared| prepared.jacobian(x))
    }

    pub(super) fn pushforward_into(&self, product: &mut [f64], x: At<'_>, dx: &[f64]) -> Result<(), Error> {
        let prepare = || prepare_pushforward(Arc::clone(&self.function), &self.backend, x, [dx]);
        prepared(&self.pushforward, prepare)?.with(|prepared| prepared.pushforward_into([product], x, [dx]))
    }

    pub(super) fn pullback_into(&self, product: &mut [f64], x: At<'_>, dy: &[f64]) -> Result<(), Error> {
        let prepare = || prepare_pullback(Arc::clone(&self.function), &self.backend, x, [dy]);
        prepared(&self.pullback, prepare)?.with(|prepared| prepared.pullback_into([product], x, [dy]))
    }
}

/// The derivatives of the part `K` with respect to the state and to the parameters.
pub(super) struct Both<P, B, K>
where
    B: Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
{
    pub(super) by_state: Derivatives<ByState<P, K>, B>,
    pub(super) by_parameters: Derivatives<ByParameters<P, K>, B>,
}

impl<P, B, K> Both<P, B, K>
where
    P: Deref<Target: Ode> + Clone,
    B: Engine<ByState<P, K>> + Engine<ByParameters<P, K>>,
    K: Part,
{
    pub(super) fn new(ode: &P, backend: &B) -> Self {
        let outputs = K::outputs(&**ode);
        Both {
            by_state: Derivatives::new(ByState::new(ode.clone()), outputs, backend),
            by_parameters: Derivatives::new(ByParameters::new(ode.clone()), outputs, backend),
        }
    }
}
