//! One rank's part of a backend: of all the seeds of a call it computes those of its rank.
//!
//! Made by [`Ranks::part`](crate::Ranks::part); its routes call those of the whole backend with fewer seeds. It sends nothing: that
//! is the work of [`Distributed`](crate::Distributed), which reads off the result what this rank computed.

use crate::mode::Parted;
use differentiation_interface::backend::{
    Backend, Direction, Lanes, MatrixRoute, Mode, PullbackRoute, PushforwardRoute, Rows, Seeds,
};
use differentiation_interface::error::Error;
use differentiation_interface::evaluate::Flat;
use differentiation_interface::recordings::Recordings;
use differentiation_interface::scalar::{Base, Scalar};
use std::marker::PhantomData;
use std::ops::Range;

/// A backend that computes only the seeds of its rank, made by [`Ranks::part`](crate::Ranks::part). All other entries of a result are
/// marked as missing, so it is of use only inside a [`Distributed`](crate::Distributed).
///
/// Functions run on the numbers of the whole backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<B> {
    pub(crate) whole: B,
    rank: usize,
    size: usize,
}

impl<B> Part<B> {
    pub(crate) fn new(whole: B, rank: usize, size: usize) -> Self {
        Part { whole, rank, size }
    }
    /// The backend whose part it is.
    pub fn whole(&self) -> &B {
        &self.whole
    }
    /// The seeds of this rank among those of a matrix, in groups of at most `group`. Vectors are seeds of the user, which are one group on
    /// every rank.
    pub(crate) fn own<S: Scalar>(&self, seeds: &Seeds<'_, S>, group: usize) -> Own {
        let total = seeds.count();
        if let Seeds::Vectors(_) = seeds {
            return Own { range: 0..total, group: total.max(1) };
        }
        let groups = share(total.div_ceil(group), self.rank, self.size);
        let range = (groups.start * group).min(total)..(groups.end * group).min(total);
        // An engine without lanes computes one seed after the other anyway.
        Own { range, group: if group == 1 { total.max(1) } else { group } }
    }
    fn around<C>(&self, whole: C) -> Part<C> {
        Part { whole, rank: self.rank, size: self.size }
    }
}

/// The seeds of this rank.
///
/// Seeds of one pass may affect the sign of each other's zeros. So a group is a call of its own, with the same seeds whichever rank makes
/// it: results do not depend on the number of ranks.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) range: Range<usize>,
    group: usize,
}

impl Own {
    /// The groups.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Own { range, group } = self.clone();
        range.clone().step_by(group).map(move |first| first..(first + group).min(range.end))
    }
}

/// The number of tangents of a group: those of a pass with these lanes, as `AutoForwardDiff` chooses it.
pub(crate) fn tangent_group<L: Lanes>(total: usize) -> usize {
    match L::N {
        _ if total <= L::N => total.max(1),
        lanes => total.div_ceil(total.div_ceil(lanes)),
    }
}

/// The number of cotangents of a group: the most that the engines here propagate at once.
fn cotangent_group<L: Lanes>() -> usize {
    L::N.max(8)
}

/// The part of `0..count` that belongs to a rank: parts differ by at most one, the longer ones come first.
pub(crate) fn share(count: usize, rank: usize, size: usize) -> Range<usize> {
    let (each, longer) = (count / size, count % size);
    let start = rank * each + rank.min(longer);
    start..start + each + usize::from(rank < longer)
}

/// What stands in an entry that another rank computes. No derivative has this bit pattern: a function that leaves it is an error.
pub(crate) fn missing<S: Scalar>() -> S {
    S::constant(S::Base::UNWRITTEN)
}

impl<B: Backend> Backend for Part<B> {
    const NAME: &'static str = B::NAME;
    const NESTS: bool = B::NESTS;
    const EXACT: bool = B::EXACT;
    type Lanes = B::Lanes;
    type Num<S: Scalar, L: Lanes> = B::Num<S, L>;
    type Mode = Parted<B::Mode>;
    type Pushforward = Divided<B::Pushforward>;
    type Pullback = Divided<B::Pullback>;
    type Derivative = Undivided<B::Derivative>;
    type Gradient = Undivided<B::Gradient>;
    type Jacobian = DividedJacobian;

    fn inject<S: Scalar, L: Lanes>(value: S) -> B::Num<S, L> {
        B::inject::<S, L>(value)
    }
    fn project<S: Scalar, L: Lanes>(number: &B::Num<S, L>) -> S {
        B::project::<S, L>(number)
    }
    fn is_exact(&self) -> bool {
        self.whole.is_exact()
    }
    fn recordings(&self) -> Option<Recordings<Self>> {
        let kept = self.whole.recordings()?;
        Some(Recordings { held_to_one_branch: kept.held_to_one_branch.map(|whole| self.around(whole)) })
    }
    fn outer_and_inner(&self) -> (Self, Self) {
        let (outer, inner) = self.whole.outer_and_inner();
        (self.around(outer), self.around(inner))
    }
    fn for_nested_differences(&self) -> Self {
        self.around(self.whole.for_nested_differences())
    }
}

/// The route `R` of the whole backend, with the seeds of this rank.
#[derive(Clone, Copy, Debug)]
pub struct Divided<R>(PhantomData<R>);
/// The route `R` of the whole backend, with all seeds.
#[derive(Clone, Copy, Debug)]
pub struct Undivided<R>(PhantomData<R>);
/// Columns of the Jacobian by pushforwards, or rows by pullbacks if the backend has no native pushforward.
#[derive(Clone, Copy, Debug)]
pub struct DividedJacobian;

/// The state of a route with the buffers of this rank's part.
#[derive(Clone, Debug)]
pub struct PartState<State, S> {
    pub(crate) state: State,
    /// The columns of this rank.
    pub(crate) columns: Vec<S>,
    inputs: usize,
    y: Vec<S>,
}

impl<State, S> PartState<State, S> {
    pub(crate) fn new(state: State) -> Self {
        PartState { state, columns: Vec::new(), inputs: 0, y: Vec::new() }
    }
}

/// Writes the columns `group` of a matrix.
pub(crate) fn write_columns<S: Scalar>(rows: &mut Rows<'_, S>, group: Range<usize>, columns: &[S]) {
    if !group.is_empty() {
        for (i, row) in columns.chunks_exact(group.len()).enumerate() {
            rows.part(i, group.start, group.len()).copy_from_slice(row);
        }
    }
}

/// Sets the number of rows, and marks all entries as missing if this rank computes only some of them.
pub(crate) fn begin<S: Scalar>(rows: &mut Rows<'_, S>, count: usize, own: &Own, total: usize) -> Result<(), Error> {
    rows.set_rows(count)?;
    if own.range.len() < total {
        rows.fill(missing());
    }
    Ok(())
}

/// The rows `group` of a matrix, for writing.
pub(crate) fn rows_of<'a, S: Scalar>(rows: &'a mut Rows<'_, S>, group: &Range<usize>, inputs: usize) -> Rows<'a, S> {
    Rows::fixed(&mut rows.data()[group.start * inputs..group.end * inputs], inputs)
}

impl<B: Backend, R: PushforwardRoute<B>> PushforwardRoute<Part<B>> for Divided<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = PartState<R::State<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &Part<B>, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error> {
        Ok(PartState::new(R::state(&backend.whole, inputs, seeds)?))
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        R::hold(&backend.whole, &mut state.state, f, x, y)?;
        state.y.clone_from(y);
        Ok(())
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let total = seeds.count();
        let own = backend.own(&seeds, tangent_group::<L>(total));
        let PartState { state, columns, y: kept, .. } = state;
        let whole = &backend.whole;
        if own.range.is_empty() {
            // Without columns, the number of outputs is known from the value only.
            R::pushforward(whole, state, f, x, seeds.part(0, 0), Some(&mut *kept), Rows::growing(columns, 0))?;
            if let Some(y) = y {
                y.clone_from(kept);
            }
            return begin(&mut rows, kept.len(), &own, total);
        }
        let mut y = y;
        for group in own.groups() {
            let (part, target) = (seeds.part(group.start, group.len()), Rows::growing(columns, group.len()));
            // The value comes with the first group.
            R::pushforward(whole, state, f, x, part, y.take(), target)?;
            if group.start == own.range.start {
                begin(&mut rows, columns.len() / group.len(), &own, total)?;
            }
            write_columns(&mut rows, group, columns);
        }
        Ok(())
    }
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let total = seeds.count();
        let own = backend.own(&seeds, tangent_group::<L>(total));
        let PartState { state, columns, y, .. } = state;
        begin(&mut rows, y.len(), &own, total)?;
        for group in own.groups() {
            let (part, target) = (seeds.part(group.start, group.len()), Rows::growing(columns, group.len()));
            R::held(&backend.whole, state, f, part, target)?;
            write_columns(&mut rows, group, columns);
        }
        Ok(())
    }
}

impl<B: Backend, R: PullbackRoute<B>> PullbackRoute<Part<B>> for Divided<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = PartState<R::State<S, L>, S>;

    fn state<S: Scalar, L: Lanes>(backend: &Part<B>, inputs: usize) -> Result<Self::State<S, L>, Error> {
        Ok(PartState::new(R::state(&backend.whole, inputs)?))
    }
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.inputs = x.len();
        R::record(&backend.whole, &mut state.state, f, x, y)
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let own = backend.own(&seeds, cotangent_group::<L>());
        begin(&mut rows, seeds.count(), &own, seeds.count())?;
        for group in own.groups() {
            let (part, target) = (seeds.part(group.start, group.len()), rows_of(&mut rows, &group, state.inputs));
            R::sweep(&backend.whole, &mut state.state, f, part, target)?;
        }
        Ok(())
    }
}

impl<B: Backend, R: MatrixRoute<B>> MatrixRoute<Part<B>> for Undivided<R> {
    const NAME: &'static str = R::NAME;
    type State<S: Scalar, L: Lanes> = R::State<S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &Part<B>, inputs: usize) -> Result<Self::State<S, L>, Error> {
        R::state(&backend.whole, inputs)
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        R::prepare(&backend.whole, state, f, x, y)
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        R::matrix(&backend.whole, state, f, x, y, rows)
    }
}

type PushState<B, S, L> = <Divided<<B as Backend>::Pushforward> as PushforwardRoute<Part<B>>>::State<S, L>;
type PullState<B, S, L> = <Divided<<B as Backend>::Pullback> as PullbackRoute<Part<B>>>::State<S, L>;

/// The state of a divided Jacobian: that of the direction which the backend has natively.
pub struct JacobianState<B: Backend, S: Scalar, L: Lanes> {
    columns: Option<PushState<B, S, L>>,
    rows: Option<PullState<B, S, L>>,
    y: Vec<S>,
}

impl<B: Backend, S: Scalar, L: Lanes> Clone for JacobianState<B, S, L> {
    fn clone(&self) -> Self {
        JacobianState { columns: self.columns.clone(), rows: self.rows.clone(), y: self.y.clone() }
    }
}

impl<B: Backend> MatrixRoute<Part<B>> for DividedJacobian {
    const NAME: &'static str = "divided";
    type State<S: Scalar, L: Lanes> = JacobianState<B, S, L>;

    fn state<S: Scalar, L: Lanes>(backend: &Part<B>, inputs: usize) -> Result<Self::State<S, L>, Error> {
        let by_rows = matches!(B::Mode::DIRECTION, Direction::Reverse);
        let rows = if by_rows { Some(Divided::<B::Pullback>::state(backend, inputs)?) } else { None };
        let columns = if by_rows { None } else { Some(Divided::<B::Pushforward>::state(backend, inputs, inputs)?) };
        Ok(JacobianState { columns, rows, y: Vec::new() })
    }
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        // `Distributed` computes the matrix once after this, which sizes the rest.
        match (&mut state.columns, &mut state.rows) {
            (Some(columns), _) => Divided::<B::Pushforward>::hold(backend, columns, f, x, y),
            (None, Some(rows)) => Divided::<B::Pullback>::record(backend, rows, f, x, y),
            (None, None) => Ok(()),
        }
    }
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &Part<B>,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if let Some(columns) = &mut state.columns {
            return Divided::<B::Pushforward>::pushforward(backend, columns, f, x, Seeds::all(x.len()), y, rows);
        }
        let JacobianState { rows: by_rows, y: outputs, .. } = state;
        let Some(by_rows) = by_rows else { return Ok(()) };
        Divided::<B::Pullback>::record(backend, by_rows, f, x, outputs)?;
        Divided::<B::Pullback>::sweep(backend, by_rows, f, Seeds::all(outputs.len()), rows)?;
        if let Some(y) = y {
            y.clone_from(outputs);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, share};
    use differentiation_interface::backend::Seeds;

    #[test]
    fn groups_fill_the_parts_of_all_ranks() {
        for (total, group) in [(0, 1), (0, 8), (5, 1), (23, 12), (26, 9), (8, 8)] {
            for size in 1..5 {
                let parts = (0..size).map(|rank| Part::new((), rank, size).own(&Seeds::<f64>::all(total), group));
                let all: Vec<usize> = parts.flat_map(|own| own.groups().flatten().collect::<Vec<_>>()).collect();
                assert_eq!(all, (0..total).collect::<Vec<_>>(), "{total} seeds in groups of {group} on {size} ranks");
            }
        }
        // A seed of the user is computed on every rank.
        let vector = [1.0];
        assert_eq!(Part::new((), 3, 4).own(&Seeds::Vectors(&[&vector[..]]), 1).range, 0..1);
    }

    #[test]
    fn shares_follow_each_other_and_differ_by_at_most_one() {
        for size in 1..7 {
            for count in 0..20 {
                let parts: Vec<_> = (0..size).map(|rank| share(count, rank, size)).collect();
                assert_eq!((parts[0].start, parts[size - 1].end), (0, count));
                assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(parts.iter().all(|part| part.len() == count / size || part.len() == count / size + 1));
            }
        }
    }
}
