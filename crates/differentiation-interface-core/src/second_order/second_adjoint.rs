//! Second order by one recording of reverse mode: a forward sweep of tangents over it, and a reverse sweep of adjoints.
//!
//! Route of `hvp` and `hessian`; it calls the [`SecondAdjointPrimitive`] of the inner backend, which stands for both backends.

use super::contract::{ForcedRoute, HvpRoute, Request};
use super::derivative::NestedDerivatives;
use crate::backend::{Backend, EntryRequest, Lanes, PullbackPrimitive, Rows, Seeds};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::recordings::Reports;
use crate::scalar::Scalar;

/// Products with the Hessian from one recording of the function, without a second tape: the second-order adjoint.
///
/// For the entries v of the tape, with tangents v̇ along a seed and adjoints v̄ of the only output, the reverse sweep propagates v̄
/// and the derivative of v̄ along the seed. At the inputs these are the gradient and H·seed.
///
/// # For backend authors
/// 1. Choose [`Adjoint`](crate::backend::Adjoint) or [`Replayed`](crate::backend::Replayed) in the `Mode`, so that operators call this primitive.
/// 2. `record_twice` calls `f` once; `products` does not call it, and may be repeated with other seeds.
/// 3. `products` also writes the gradient if `gradient` is given. The seeds may be empty, `Seeds::all(0)`.
/// 4. `rows` has one column per input; state the number of seeds with [`Rows::set_rows`] before writing, and write every entry.
/// 5. The state has no fixed size, and must be usable after an error or a panic in `f`.
/// 6. `products_at` may be called in place of `record_twice` and `products`; later products need `record_twice`.
/// 7. A clone of the state holds what the state holds: after [`record_twice`](Self::record_twice), products of the clone are at the same point.
pub trait SecondAdjointPrimitive: PullbackPrimitive {
    /// The number type that the function runs on, which records first and second derivatives on the tape.
    type NumTwice<S: Scalar>: Scalar<Base = S::Base>;
    /// The tape, tangents and adjoints.
    type StateTwice<S: Scalar>: Clone + Send + 'static;

    /// Makes an empty state, or returns an error for points of length `inputs`.
    fn state_twice<S: Scalar>(&self, inputs: usize) -> Result<Self::StateTwice<S>, Error>;

    /// Evaluates `f`, which has one output, at `x`, returns its value, and keeps the data for [`products`](Self::products).
    fn record_twice<S: Scalar, F: Flat<Self::NumTwice<S>>>(
        &self,
        state: &mut Self::StateTwice<S>,
        f: &mut F,
        x: &[S],
    ) -> Result<S, Error>;

    /// Fills the products with the Hessian at the last recording, one row per seed, and the gradient if `gradient` is given.
    fn products<S: Scalar>(
        &self,
        state: &mut Self::StateTwice<S>,
        seeds: Seeds<'_, S>,
        gradient: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Multiplies the second derivatives at `x` with tangents, as [`record_twice`](Self::record_twice) and [`products`](Self::products) do,
    /// and writes value and gradient where there is room for them. An engine that does not need them for the products implements this.
    ///
    /// # Errors
    /// Those of [`record_twice`](Self::record_twice) and [`products`](Self::products).
    #[expect(clippy::too_many_arguments, reason = "three results")]
    #[inline]
    fn products_at<S: Scalar, F: Flat<Self::NumTwice<S>>>(
        &self,
        state: &mut Self::StateTwice<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        value: Option<&mut S>,
        gradient: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let found = self.record_twice(state, f, x)?;
        if let Some(value) = value {
            *value = found;
        }
        self.products(state, seeds, gradient, rows)
    }

    /// Sets whether [`products_at`](Self::products_at) and [`hessian_entries`](Self::hessian_entries) may compute the same calls in another way
    /// where they repeat; see [`HvpRoute::adapt`].
    fn adapt<S: Scalar>(&self, _state: &mut Self::StateTwice<S>, _adapts: bool) {}

    /// Fills entries of the Hessian at `x`, and value and gradient if given. Returns `false` if products with seeds are cheaper; then
    /// the entries may be unwritten and the operator computes the products. All calls with one state request the same entries.
    fn hessian_entries<S: Scalar, F: Flat<Self::NumTwice<S>>>(
        &self,
        _state: &mut Self::StateTwice<S>,
        _f: &mut F,
        _x: &[S],
        _entries: EntryRequest<'_, S>,
        _value: Option<&mut S>,
        _gradient: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}

/// The second-order adjoint of the inner backend, which stands for both backends.
#[derive(Clone, Copy, Debug)]
pub struct SecondAdjoint;

/// State of the second-order adjoint: that of the backend, and the results besides the products.
#[derive(Clone, Debug)]
pub struct SecondAdjointState<State, S> {
    twice: State,
    gradient: Vec<S>,
    value: S,
}

impl<State: Reports, S> Reports for SecondAdjointState<State, S> {
    type Report = State::Report;
    fn report(&self) -> State::Report {
        self.twice.report()
    }
}

impl<O: Backend, I: SecondAdjointPrimitive> HvpRoute<O, I> for SecondAdjoint {
    const NAME: &'static str = "second-order adjoint";
    type Lanes = I::Lanes;
    type Num<S: Scalar, L: Lanes> = I::NumTwice<S>;
    type State<S: Scalar, L: Lanes> = SecondAdjointState<I::StateTwice<S>, S>;
    type SamePoint = ForcedRoute<O, I, Self>;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(O, I)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, _seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(SecondAdjointState { twice: pair.1.state_twice(inputs)?, gradient: Vec::new(), value: S::default() })
    }
    fn seeds_per_pass<L: Lanes>(pair: &(O, I), seeds: usize) -> usize {
        PullbackPrimitive::seeds_per_pass::<L>(&pair.1, seeds)
    }
    fn seeds_are_rows(_pair: &(O, I)) -> bool {
        true
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        &state.gradient
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        state.value
    }
    #[inline]
    fn products<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let value = (request >= Request::Value).then_some(&mut state.value);
        let gradient = (request >= Request::Gradient).then_some(&mut state.gradient);
        pair.1.products_at(&mut state.twice, f, x, seeds, value, gradient, rows)
    }
    fn adapt<S: Scalar, L: Lanes>(pair: &(O, I), state: &mut Self::State<S, L>, adapts: bool) {
        pair.1.adapt(&mut state.twice, adapts);
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        state.value = pair.1.record_twice(&mut state.twice, f, x)?;
        let none = Rows::fixed(&mut [], x.len());
        pair.1.products(&mut state.twice, Seeds::all(0), Some(&mut state.gradient), none)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        pair.1.products(&mut state.twice, seeds, None, rows)
    }
    fn entries<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        entries: EntryRequest<'_, S>,
        request: Request,
    ) -> Result<bool, Error> {
        let value = (request >= Request::Value).then_some(&mut state.value);
        let gradient = (request >= Request::Gradient).then_some(&mut state.gradient);
        pair.1.hessian_entries(&mut state.twice, f, x, entries, value, gradient)
    }
}
