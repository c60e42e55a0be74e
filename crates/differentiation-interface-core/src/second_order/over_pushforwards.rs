//! Second order by differentiating pushforwards along the tangents.
//!
//! Route of `hvp` and `hessian`; it calls the inner backend's pushforward inside a recording of the outer backend.

use super::contract::{ForcedRoute, HvpRoute, HvpState, Request};
use super::derivative::NestedDerivatives;
use super::inner::first_error;
use crate::backend::{Lanes, PullbackPrimitive, PushforwardPrimitive, Rows, Seeds, check_nesting};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;

/// Pullback of pushforwards, as many of them at once as there are lanes.
#[derive(Clone, Copy, Debug)]
pub struct ReverseOverForward;

/// The products ∇f·v by the inner backend, followed by f, as a flat function of numbers `N` of the outer one.
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
    fn has_work_memory(&self) -> bool {
        self.f.has_work_memory()
    }
}

/// The largest number of tangents of one inner pushforward. References to them are kept on the stack.
const TANGENTS_AT_ONCE: usize = 16;

impl<O: PullbackPrimitive, I: PushforwardPrimitive> HvpRoute<O, I> for ReverseOverForward {
    const NAME: &'static str = "pullback of pushforwards";
    type Lanes = I::Lanes;
    type Num<S: Scalar, L: Lanes> = I::Num<O::Num<S, L>, L>;
    type State<S: Scalar, L: Lanes> =
        HvpState<O::PullbackState<S, L>, I::PushforwardState<O::Num<S, L>, L>, S, O::Num<S, L>>;
    type SamePoint = ForcedRoute<O, I, Self>;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(O, I)) -> Self::SamePoint {
        ForcedRoute::new(pair)
    }
    fn state<S: Scalar, L: Lanes>(pair: &(O, I), inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        const {
            check_nesting::<O, S>();
            check_nesting::<I, O::Num<S, L>>();
        }
        Ok(HvpState::new(pair.0.pullback_state(inputs)?, pair.1.pushforward_state(inputs, seeds)?))
    }
    fn seeds_per_pass<L: Lanes>(_pair: &(O, I), _seeds: usize) -> usize {
        L::N.min(TANGENTS_AT_ONCE)
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
        request: Request,
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
            let with_value = request >= Request::Gradient && first == 0;
            let HvpState { outer, inner, gradient, value, outputs, inner_value, lifted, .. } = state;
            let mut slices: [&[O::Num<S, L>]; TANGENTS_AT_ONCE] = [&[]; TANGENTS_AT_ONCE];
            let batch = match seeds {
                Seeds::Basis { first: start, .. } => Seeds::Basis { first: start + first, count },
                Seeds::Colors { colors, first: start, .. } => Seeds::Colors { colors, first: start + first, count },
                Seeds::Vectors(vectors) => {
                    lifted.clear();
                    lifted.extend(vectors[first..first + count].iter().flat_map(|v| v.iter().map(|&e| O::inject(e))));
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
            first_error(function.error.take(), result)?;
            if count > 0 {
                let part = Rows::fixed(&mut rows.data()[first * n..(first + count) * n], n);
                let result = pair.0.sweep(outer, &mut function, Seeds::all(count), part);
                first_error(function.error.take(), result)?;
            }
            if with_value {
                value.clear();
                value.push(outputs[count]);
                let (seeds, rows) = (Seeds::Basis { first: count, count: 1 }, Rows::growing(gradient, n));
                let result = pair.0.sweep(outer, &mut function, seeds, rows);
                first_error(function.error.take(), result)?;
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
        Self::products(pair, state, f, x, Seeds::all(0), Request::Value, Rows::fixed(&mut none, x.len()))
    }
    fn held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        pair: &(O, I),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        Self::products(pair, state, f, x, seeds, Request::Products, rows)
    }
}
