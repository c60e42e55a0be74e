//! A sum of functions that the ranks hold, with its gradient and its products with tangents.
//!
//! Made by users; the operators differentiate each term on its rank and add the results by a [tree](crate::sum).

use crate::agreement::Call;
use crate::distributed::Distributed;
use crate::matrices::PREPARATION;
use crate::part::share;
use crate::ranks::{Counts, Ranks};
use crate::sum::Tree;
use differentiation_interface::backend::Request;
use differentiation_interface::context::Contexts;
use differentiation_interface::error::Error;
use differentiation_interface::operators::{GradientBackend, HvpBackend};
use differentiation_interface::point::{At, Point, Shape};
use differentiation_interface::scalar::Base;

/// The function f₀ + f₁ + ..., of which this rank holds some terms. A [`Distributed`] computes its `gradient` and `hvp`.
///
/// Results are bit-equal for any number of ranks that hold the same terms in the same order.
///
/// # Example
/// ```
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_mpi::{Distributed, Ranks, Terms, mpi};
///
/// /// The squared error of one measurement of a straight line.
/// struct Error2 {
///     t: f64,
///     measured: f64,
/// }
/// impl<T: Real> Function<[T]> for Error2 {
///     type Output = T;
///     fn call(&self, line: &[T]) -> T {
///         (line[0] + self.t * line[1] - self.measured).powi(2)
///     }
/// }
///
/// let universe = mpi::initialize().expect("MPI is not initialised yet");
/// let ranks = Ranks::new(&universe.world());
/// let errors = Terms::shared(&ranks, 4, |k| Error2 { t: k as f64, measured: 1.0 + 2.0 * k as f64 });
/// let backend = Distributed::new(&ranks, AutoReverseDiff::default());
/// // With the line 0 + 0·t the errors are 1, 3, 5, 7.
/// let (sum, grad) = value_and_gradient(&errors, &backend, &[0.0, 0.0])?;
/// assert_eq!((sum, grad), (84.0, vec![-32.0, -68.0]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Terms<G> {
    terms: Vec<G>,
    first: usize,
    /// The first term of each rank, followed by the number of terms.
    starts: Vec<usize>,
}

impl<G> Terms<G> {
    /// Divides `count` terms evenly: this rank makes those of its [`range`](Ranks::range).
    pub fn shared(ranks: &Ranks, count: usize, make: impl FnMut(usize) -> G) -> Self {
        let starts = (0..ranks.size()).map(|rank| share(count, rank, ranks.size()).start).chain([count]).collect();
        let part = ranks.range(count);
        Terms { first: part.start, terms: part.map(make).collect(), starts }
    }

    /// The terms that this rank holds already; those of rank 0 come first, then those of rank 1, and so on. All ranks must call this.
    ///
    /// # Errors
    /// [`RankLost`](differentiation_interface::error::ErrorKind::RankLost) if a rank does not come in time.
    pub fn held(ranks: &Ranks, terms: Vec<G>) -> Result<Self, Error> {
        ranks.settle(Call::new("terms", "ranks").of::<G>(), Ok(()))?;
        let counts =
            if ranks.size() == 1 { vec![terms.len() as u64] } else { ranks.gather_numbers(terms.len() as u64) };
        let counts = Counts::of(counts.into_iter().map(|count| count as usize))?;
        let starts = (0..ranks.size()).map(|rank| counts.range(rank).start).chain([counts.total()]).collect();
        Ok(Terms { first: counts.range(ranks.rank()).start, terms, starts })
    }

    /// The terms of this rank.
    pub fn own(&self) -> &[G] {
        &self.terms
    }
    /// The number of terms on all ranks.
    pub fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// State of a sum: one for each term of this rank, and the memory of the addition.
#[derive(Clone)]
pub struct TermsState<T, S> {
    states: Vec<T>,
    tree: Tree<S>,
    /// The numbers of the last call.
    sum: Vec<S>,
    inputs: usize,
}

impl<T, S: Base> TermsState<T, S> {
    fn new(inputs: usize) -> Self {
        TermsState { states: Vec::new(), tree: Tree::of(Vec::new()), sum: Vec::new(), inputs }
    }
    /// Fits the state to the terms, and returns it for vectors of `length` numbers.
    fn fit<G>(&mut self, f: &Terms<G>, length: usize) {
        if !self.tree.has(&f.starts) {
            self.tree = Tree::of(f.starts.clone());
        }
        self.sum.resize(length, S::ZERO);
    }
}

/// The state of term `k`, made where the call needs it first.
fn state_of<T>(states: &mut Vec<T>, k: usize, make: impl FnOnce() -> Result<T, Error>) -> Result<&mut T, Error> {
    // Terms come in their order.
    if states.len() == k {
        states.push(make()?);
    }
    Ok(&mut states[k])
}

impl<I, M, G, X, C> GradientBackend<Terms<G>, X, C> for Distributed<I, M>
where
    I: GradientBackend<G, X, C>,
    M: Clone,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type State = TermsState<I::State, X::Scalar>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(TermsState::new(x.coordinates().len()))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let n = x.coordinates().len();
        *state = TermsState::new(n);
        // Sizes everything for calls with the value.
        state.fit(f, n + 1);
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("gradient", I::BACKEND).of::<G>().variant(PREPARATION).at(x.coordinates());
        tree.run(&self.ranks, call, sum, |k, out| {
            let term = &f.terms[k - f.first];
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.prepare(state, term, x)?;
            self.inner.fill(state, term, x, true, &mut out[..n])?;
            out[n] = I::value(state);
            Ok(())
        })
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
        with_value: bool,
        grad: &mut [X::Scalar],
    ) -> Result<(), Error> {
        let n = grad.len();
        state.fit(f, n + usize::from(with_value));
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("gradient", I::BACKEND).of::<G>().at(x.coordinates());
        tree.run(&self.ranks, call, sum, |k, out| {
            let term = &f.terms[k - f.first];
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.fill(state, term, x, with_value, &mut out[..n])?;
            if with_value {
                out[n] = I::value(state);
            }
            Ok(())
        })?;
        grad.copy_from_slice(&sum[..n]);
        Ok(())
    }
    /// The sum over all ranks, which all must call.
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        state.fit(f, 1);
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("value", I::BACKEND).of::<G>().at(x.coordinates());
        tree.run(&self.ranks, call, sum, |k, out| {
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.evaluate(state, &f.terms[k - f.first], x, y)?;
            out.copy_from_slice(y);
            Ok(())
        })?;
        y.clone_from(sum);
        Ok(())
    }
    fn value(state: &Self::State) -> X::Scalar {
        state.sum[state.inputs]
    }
}

/// The numbers of a term: its products, then its gradient and its value if requested.
fn length_of(tangents: usize, inputs: usize, request: Request) -> usize {
    tangents * inputs
        + match request {
            Request::Products => 0,
            Request::Gradient => inputs,
            Request::Value => inputs + 1,
        }
}

/// Copies the results of the last call of a term.
fn copy_products<I, G, X, C, const T: usize>(state: &I::State, n: usize, request: Request, out: &mut [X::Scalar])
where
    I: HvpBackend<G, X, C, T>,
    X: Shape,
    C: Contexts,
{
    for k in 0..T {
        I::copy_product(state, k, &mut out[k * n..(k + 1) * n]);
    }
    if request >= Request::Gradient {
        out[T * n..(T + 1) * n].copy_from_slice(I::gradient(state));
    }
    if request == Request::Value {
        out[(T + 1) * n] = I::value(state);
    }
}

impl<I, M, G, X, C, const T: usize> HvpBackend<Terms<G>, X, C, T> for Distributed<I, M>
where
    I: HvpBackend<G, X, C, T>,
    M: Clone,
    X: Shape<Scalar: Base>,
    C: Contexts,
{
    const BACKEND: &'static str = I::BACKEND;
    type State = TermsState<I::State, X::Scalar>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        Ok(TermsState::new(x.coordinates().len()))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        let n = x.coordinates().len();
        *state = TermsState::new(n);
        state.fit(f, length_of(T, n, Request::Value));
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("hvp", I::BACKEND).of::<G>().variant(PREPARATION).at(x.coordinates());
        let call = tangents.iter().fold(call, |call, tangent| call.at(tangent));
        tree.run(&self.ranks, call, sum, |k, out| {
            let term = &f.terms[k - f.first];
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.prepare(state, term, x, tangents)?;
            self.inner.products(state, term, x, tangents, Request::Value)?;
            copy_products::<I, G, X, C, T>(state, n, Request::Value, out);
            Ok(())
        })
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        request: Request,
    ) -> Result<(), Error> {
        let n = x.coordinates().len();
        state.fit(f, length_of(T, n, request));
        state.inputs = n;
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("hvp", I::BACKEND).of::<G>().at(x.coordinates());
        let call = tangents.iter().fold(call, |call, tangent| call.at(tangent));
        tree.run(&self.ranks, call, sum, |k, out| {
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.products(state, &f.terms[k - f.first], x, tangents, request)?;
            copy_products::<I, G, X, C, T>(state, n, request, out);
            Ok(())
        })
    }
    fn copy_product(state: &Self::State, k: usize, out: &mut [X::Scalar]) {
        out.copy_from_slice(&state.sum[k * state.inputs..(k + 1) * state.inputs]);
    }
    fn gradient(state: &Self::State) -> &[X::Scalar] {
        &state.sum[T * state.inputs..(T + 1) * state.inputs]
    }
    /// The sum over all ranks, which all must call.
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &Terms<G>,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error>
    where
        X::Scalar: Base,
    {
        state.fit(f, 1);
        let TermsState { states, tree, sum, .. } = state;
        let call = Call::new("value", I::BACKEND).of::<G>().at(x.coordinates());
        tree.run(&self.ranks, call, sum, |k, out| {
            let state = state_of(states, k - f.first, || self.inner.unprepared(x))?;
            self.inner.evaluate(state, &f.terms[k - f.first], x, y)?;
            out.copy_from_slice(y);
            Ok(())
        })?;
        y.clone_from(sum);
        Ok(())
    }
    fn value(state: &Self::State) -> X::Scalar {
        state.sum[(T + 1) * state.inputs]
    }
}
