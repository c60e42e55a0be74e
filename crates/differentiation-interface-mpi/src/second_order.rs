//! The second-order route of one rank's part: products with the tangents of this rank.
//!
//! Selected by the compiler for a [`Part`] and for a `SecondOrder` of two; calls the route of the whole backends.

use crate::mode::Parted;
use crate::part::{Own, Part, PartState, begin, rows_of, tangent_group, write_columns};
use differentiation_interface::backend::{Backend, Compose, HvpRoute, Lanes, NestedDerivatives, Request, Rows, Seeds};
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::Flat;
use differentiation_interface::scalar::Scalar;
use std::marker::PhantomData;

impl<O: Compose<I>, I> Compose<Parted<I>> for Parted<O> {
    type Route = PartedRoute<O::Route>;
}

/// The route `R` of the whole backends, with the tangents of this rank.
#[derive(Clone, Copy, Debug)]
pub struct PartedRoute<R>(PhantomData<R>);

/// The whole backends.
fn whole<O: Backend, I: Backend>(pair: &(Part<O>, Part<I>)) -> (O, I) {
    (pair.0.whole.clone(), pair.1.whole.clone())
}

impl<O: Backend, I: Backend, R: HvpRoute<O, I>> HvpRoute<Part<O>, Part<I>> for PartedRoute<R> {
    const NAME: &'static str = R::NAME;
    type Lanes = R::Lanes;
    type Num<S: Scalar, L: Lanes> = R::Num<S, L>;
    type State<S: Scalar, L: Lanes> = PartState<R::State<S, L>, S>;
    type SamePoint = R::SamePoint;
    type SecondDerivative = NestedDerivatives;

    fn same_point(pair: &(Part<O>, Part<I>)) -> R::SamePoint {
        R::same_point(&whole(pair))
    }
    fn state<S: Scalar, L: Lanes>(
        pair: &(Part<O>, Part<I>),
        inputs: usize,
        seeds: usize,
    ) -> Result<Self::State<S, L>, Error> {
        Ok(PartState::new(R::state(&whole(pair), inputs, seeds)?))
    }
    fn seeds_are_rows(pair: &(Part<O>, Part<I>)) -> bool {
        R::seeds_are_rows(&whole(pair))
    }
    fn memory_follows_tangents(pair: &(Part<O>, Part<I>)) -> bool {
        R::memory_follows_tangents(&whole(pair))
    }
    fn gradient<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> &[S] {
        R::gradient(&state.state)
    }
    fn value<S: Scalar, L: Lanes>(state: &Self::State<S, L>) -> S {
        R::value(&state.state)
    }
    fn products<S: Scalar, L: Lanes, F: Flat<R::Num<S, L>>>(
        pair: &(Part<O>, Part<I>),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        request: Request,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let own = pair.0.own(&seeds, tangent_group::<L>(seeds.count()));
        let (pair, PartState { state, columns, .. }) = (whole(pair), state);
        if own.range.is_empty() && request > Request::Products {
            // Value and gradient are computed on every rank, whether it has tangents or not.
            let by_rows = R::seeds_are_rows(&pair);
            let none = Rows::growing(columns, if by_rows { x.len() } else { 0 });
            R::products(&pair, state, f, x, seeds.part(0, 0), request, none)?;
        }
        let mut request = request;
        divide::<R, O, I, S>(&pair, columns, x.len(), &seeds, &own, &mut rows, |part, rows| {
            R::products(&pair, state, f, x, part, std::mem::replace(&mut request, Request::Products), rows)
        })
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<R::Num<S, L>>>(
        pair: &(Part<O>, Part<I>),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
    ) -> Result<(), Error> {
        R::hold(&whole(pair), &mut state.state, f, x)
    }
    fn held<S: Scalar, L: Lanes, F: Flat<R::Num<S, L>>>(
        pair: &(Part<O>, Part<I>),
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let own = pair.0.own(&seeds, tangent_group::<L>(seeds.count()));
        let (pair, PartState { state, columns, .. }) = (whole(pair), state);
        divide::<R, O, I, S>(&pair, columns, x.len(), &seeds, &own, &mut rows, |part, rows| {
            R::held(&pair, state, f, x, part, rows)
        })
    }
}

/// Lets `run` fill the products of each group of this rank, as rows or as columns, and marks the others as missing.
fn divide<R: HvpRoute<O, I>, O: Backend, I: Backend, S: Scalar>(
    pair: &(O, I),
    columns: &mut Vec<S>,
    inputs: usize,
    seeds: &Seeds<'_, S>,
    own: &Own,
    rows: &mut Rows<'_, S>,
    mut run: impl FnMut(Seeds<'_, S>, Rows<'_, S>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (total, by_rows) = (seeds.count(), R::seeds_are_rows(pair));
    begin(rows, if by_rows { total } else { inputs }, own, total)?;
    for group in own.groups() {
        let part = seeds.part(group.start, group.len());
        if by_rows {
            run(part, rows_of(rows, &group, inputs))?;
        } else {
            run(part, Rows::growing(columns, group.len()))?;
            write_columns(rows, group, columns);
        }
    }
    Ok(())
}
