//! The contract of backends: [`Backend`] and the route traits, which refer to each other.
//!
//! Called by operators. The routes that several backends share are in `route`.

use super::entries::EntryRequest;
use super::lanes::Lanes;
use super::mode::{Direction, Mode};
use super::rows::Rows;
use super::seeds::Seeds;
use crate::error::Error;
use crate::evaluate::Flat;
use crate::recordings::{RecordedMatrix, Recordings};
use crate::scalar::Scalar;

/// A way to differentiate.
///
/// # For users
/// Pass one to an operator; changing it is one line. A generic function over backends needs one bound beside `B: Backend`:
/// that the function can be evaluated at [`Num`](Backend::Num).
///
/// # For backend authors
/// 1. `Num<S, L>` is the number type the user's function runs on, over any scalar `S`, with `L` lanes of tangents if the
///    backend has lanes (else `L` is ignored). Nesting `Num<Num<S>>` must work: derive nothing from `S` being `f64`.
/// 2. The routes say how each operator is reached. [`Native`](super::Native) calls the primitive of the same name;
///    [`ViaPushforward`](super::ViaPushforward) and [`ViaPullback`](super::ViaPullback) are fallbacks. The compiler checks that the primitive exists.
/// 3. A backend is plain data. Buffers belong to the state that the primitive makes.
///
/// The page `docs/book/src/new_backend.md` builds one from scratch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a first-order backend",
    note = "backends are `AutoForwardDiff`, `AutoReverseDiff`, `AutoFiniteDiff`, ...; `SecondOrder` works with `second_derivative`, `hvp` and `hessian` only"
)]
pub trait Backend: Clone + Send + Sync + 'static {
    /// Name in errors, features and tables.
    const NAME: &'static str;
    /// The number of tangents carried at once where the operator leaves the choice to the backend.
    type Lanes: Lanes;
    /// The number type that the function runs on.
    type Num<S: Scalar, L: Lanes>: Scalar<Base = S::Base>;
    /// The native primitives and the way to be differentiated twice, from which second-order routes follow.
    type Mode: Mode;

    /// Route of `pushforward`.
    type Pushforward: PushforwardRoute<Self>;
    /// Route of `pullback`.
    type Pullback: PullbackRoute<Self>;
    /// Route of `derivative`.
    type Derivative: MatrixRoute<Self>;
    /// Route of `gradient`.
    type Gradient: MatrixRoute<Self>;
    /// Route of `jacobian`.
    type Jacobian: MatrixRoute<Self>;

    /// Makes a constant of this backend's number type from a number of the scalar below. Users call [`lift`](super::lift()).
    fn inject<S: Scalar, L: Lanes>(value: S) -> Self::Num<S, L>;

    /// The value of a number of this backend, as a number of the scalar below. The derivative by this backend is dropped;
    /// derivatives of the scalar below are kept.
    fn project<S: Scalar, L: Lanes>(number: &Self::Num<S, L>) -> S;

    /// Whether the engine also runs over the numbers of another differentiation. An engine of plain numbers, whose `Num` is `S::Base`,
    /// sets it to `false`: it differentiates functions of `f64` and can be the outer backend of a
    /// [`SecondOrder`](super::SecondOrder). A program that uses it inside another differentiation does not compile.
    const NESTS: bool = true;

    /// Whether derivatives are exact up to rounding. Finite differences are not.
    const EXACT: bool = true;

    /// The same for this value of the backend, where it depends on a choice at run time.
    fn is_exact(&self) -> bool {
        Self::EXACT
    }

    /// Whether the number of evaluations depends on the values of the function, as it does where the engine chooses steps by error estimates.
    const ADAPTIVE: bool = false;

    /// What operators need to know of a backend whose states keep recordings of the function for later calls. `None` if states keep
    /// only work memory.
    fn recordings(&self) -> Option<Recordings<Self>> {
        None
    }

    /// The outer and the inner backend of second order: this backend twice, unless it holds a pair.
    fn outer_and_inner(&self) -> (Self, Self) {
        (self.clone(), self.clone())
    }

    /// The backend to use where an inexact backend differentiates the derivatives of an inexact one: differences of differences need
    /// wider steps.
    fn for_nested_differences(&self) -> Self {
        self.clone()
    }

    /// The backend to use inside another operator, and for a Jacobian that may be divided among threads: every call does the same. An
    /// engine whose calls depend on the number of earlier ones returns one whose calls do not.
    fn steady(&self) -> Self {
        self.clone()
    }

    /// Writes the derivative of order `order` of a function of the number `x` to `y`, from values of the function alone. `None` if
    /// `nth_derivative` nests the backend in itself instead. For differences, which have a formula for each order.
    fn nth_from_values<S: Scalar>(
        &self,
        _order: usize,
        _f: &mut dyn FnMut(S, &mut Vec<S>),
        _x: S,
        _y: &mut Vec<S>,
    ) -> Option<Result<(), Error>> {
        None
    }
}

/// Refuses at compile time to run an engine of plain numbers over the numbers of another differentiation. Called where routes make
/// their states.
pub(crate) const fn check_nesting<B: Backend, S: Scalar>() {
    assert!(
        B::NESTS || S::DEPTH == 0,
        "this backend computes with plain numbers (`Backend::NESTS`) and cannot run inside another differentiation; \
                 use it as the outer backend of `SecondOrder`, or another inner backend"
    );
}

/// How `pushforward` reaches the backend `B`.
///
/// # For backend authors
/// [`Native`](super::Native) and [`ViaPullback`](super::ViaPullback) implement it for every backend with the primitive. For a route of your own, beside the contract of
/// [`PushforwardPrimitive`](super::PushforwardPrimitive):
/// 1. `state` does not run the function. Each preparation calls it, so that lengths can be refused. The new state replaces the old one only if the backend has
///    [`recordings`](Backend::recordings); a state without recordings meets points of other lengths.
/// 2. `pushforward` needs no call before it, and does not rely on one. `held` follows a successful `hold` of the same state, or of the state that it is a clone of,
///    with the same function and contexts, any number of times.
/// 3. `y` may have any content and length; leave the outputs of this call there. A function may have another number of outputs than before: return the error of
///    [`Rows::set_rows`] where the preparation expects the old number.
/// 4. Numbers report errors of arithmetic to the operator, which watches during each of these calls; the route need not ask for them.
/// 5. After an error, `y` and `rows` have no meaning and the state is used again.
/// 6. `adapt` and `entries` may stay the defaults. An operator that calls `adapt` does so also when a preparation fails or the function panics.
pub trait PushforwardRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// What calls need beyond the arguments.
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    /// Makes an empty state, or returns an error for points of length `inputs` with `seeds` tangents.
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize, seeds: usize) -> Result<Self::State<S, L>, Error>;
    /// Evaluates `f` at `x`, leaves its outputs in `y`, and keeps what [`held`](Self::held) needs.
    fn hold<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    /// Propagates the tangents at `x`, and leaves the outputs in `y` if given.
    fn pushforward<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// Propagates the tangents at the point of the last [`hold`](Self::hold).
    fn held<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// The number of seeds that are propagated together in a call with `seeds` seeds; see
    /// [`PushforwardPrimitive::seeds_per_pass`](super::PushforwardPrimitive::seeds_per_pass). By default all: to divide them saves no
    /// work.
    fn seeds_per_pass<L: Lanes>(_backend: &B, seeds: usize) -> usize {
        seeds.max(1)
    }
    /// Called with `true` at the end of a preparation by an operator that lets the same calls be computed in another way where they repeat, and
    /// with `false` before another one. A state without this call computes all calls in one way.
    fn adapt<S: Scalar, L: Lanes>(_backend: &B, _state: &mut Self::State<S, L>, _adapts: bool) {}
    /// Fills entries of the Jacobian at `x`, and leaves the outputs in `y` if given. Returns `false` where products with seeds are
    /// cheaper; then the entries may be unwritten and the operator computes the products. All calls with one state request the same
    /// entries.
    fn entries<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _backend: &B,
        _state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        _entries: EntryRequest<'_, S>,
        _y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}

/// How `pullback` reaches the backend `B`.
///
/// # For backend authors
/// [`Native`](super::Native) and [`ViaPushforward`](super::ViaPushforward) implement it for every backend with the primitive. For a route of your own, beside the contract of
/// [`PullbackPrimitive`](super::PullbackPrimitive), except that `record` and `sweep` may call the function as often as they need:
/// 1. `state` does not run the function, as in [`PushforwardRoute`].
/// 2. `record` leaves the outputs in `y`, whose content and length on entry do not matter. The operator then compares the lengths of the cotangents with that of `y`,
///    and calls `sweep` if they agree.
/// 3. `sweep` follows a successful `record` of the same state, or of the state that it is a clone of, any number of times. It gets the function with the contexts of
///    `record`, and may call it at the point of `record`, which the state keeps if it needs it.
/// 4. `at_once` is called before the lengths of the cotangents are compared, and without a watch for errors of arithmetic. Return `false` where the result would be an
///    error or a length is wrong: the operator then calls `record` and `sweep` at the same point. `y` and `rows` have no meaning after `false`.
/// 5. The operator watches for errors of arithmetic during `record` and `sweep`. After an error the state is used again.
/// 6. `adapt` and `entries` may stay the defaults, as in [`PushforwardRoute`].
pub trait PullbackRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// What calls need beyond the arguments.
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    /// Makes an empty state, or returns an error for points of length `inputs`.
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error>;
    /// Evaluates `f` at `x`, leaves its outputs in `y`, and keeps what [`sweep`](Self::sweep) needs.
    fn record<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    /// Propagates the cotangents back from the last recording.
    fn sweep<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// The same as [`PullbackPrimitive::at_once`](super::PullbackPrimitive::at_once).
    fn at_once<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _backend: &B,
        _state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        _seeds: Seeds<'_, S>,
        _y: &mut Vec<S>,
        _rows: Rows<'_, S>,
    ) -> bool {
        false
    }
    /// The number of seeds that are propagated together in a call with `seeds` seeds; see
    /// [`PushforwardPrimitive::seeds_per_pass`](super::PushforwardPrimitive::seeds_per_pass). By default all: to divide them saves no
    /// work.
    fn seeds_per_pass<L: Lanes>(_backend: &B, seeds: usize) -> usize {
        seeds.max(1)
    }
    /// The same as [`PushforwardRoute::adapt`].
    fn adapt<S: Scalar, L: Lanes>(_backend: &B, _state: &mut Self::State<S, L>, _adapts: bool) {}
    /// The same as [`PushforwardRoute::entries`], for a Jacobian by cotangents.
    fn entries<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _backend: &B,
        _state: &mut Self::State<S, L>,
        _f: &mut F,
        _x: &[S],
        _entries: EntryRequest<'_, S>,
        _y: Option<&mut Vec<S>>,
    ) -> Result<bool, Error> {
        Ok(false)
    }
}

/// How `derivative`, `gradient` and `jacobian` reach the backend `B`: each is the matrix ∂y/∂x, row-major, with one column per
/// input.
///
/// # For backend authors
/// [`ViaPushforward`](super::ViaPushforward) and [`ViaPullback`](super::ViaPullback) implement it for every backend with the primitive. For a route of your own:
/// 1. `state` does not run the function, as in [`PushforwardRoute`].
/// 2. `prepare` may get a point of another length than earlier calls, and forgets these. After it, `matrix` at points of this length allocates nothing.
/// 3. `matrix` may also be called without `prepare`, by unprepared operators and inside another differentiation. It states the number of outputs by
///    [`Rows::set_rows`], whose error it returns, and writes every entry; the previous content has no meaning.
/// 4. `y` may have any content and length; leave the outputs of this call there.
/// 5. The operator has checked the length of the point, and watches for errors of arithmetic during `prepare` and `matrix`. After an error or a panic of the function
///    the state is used again; `y` and `rows` have no meaning.
/// 6. Operators ask what [`recorded`](Self::recorded) returns first: if its `fill` returns `true`, the call is done, else `matrix` follows at the same point.
/// 7. `on_stack` is called if [`ON_STACK`](Self::ON_STACK) is set, for functions with [`Flat::fixed`] inputs whose point and contexts keep nothing between calls. The operator does not watch for
///    errors of arithmetic then: return `false` where there is one. `matrix` follows and reports it.
pub trait MatrixRoute<B: Backend> {
    /// Name in tables.
    const NAME: &'static str;
    /// What calls need beyond the arguments.
    type State<S: Scalar, L: Lanes>: Clone + Send + 'static;
    /// Makes an empty state, or returns an error for points of length `inputs`.
    fn state<S: Scalar, L: Lanes>(backend: &B, inputs: usize) -> Result<Self::State<S, L>, Error>;
    /// Evaluates the function once, leaves its outputs in `y`, and sizes all buffers for [`matrix`](Self::matrix).
    fn prepare<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;
    /// Fills the matrix, and leaves the outputs in `y` if given.
    fn matrix<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        backend: &B,
        state: &mut Self::State<S, L>,
        f: &mut F,
        x: &[S],
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;
    /// Forgets what earlier calls of a state have shown of the function, which may have changed. [`prepare`](Self::prepare) does this too.
    fn restart<S: Scalar, L: Lanes>(_state: &mut Self::State<S, L>) {}
    /// Whether the matrix can be divided among threads: by columns, pushforwards of basis vectors of the input, or by rows, pullbacks of
    /// basis vectors of the output. The parts are the same numbers, bit for bit, as those of [`matrix`](Self::matrix). `None`, the default,
    /// if the matrix is computed as a whole.
    fn divides(_backend: &B) -> Option<Direction> {
        None
    }
    /// Whether the route implements [`on_stack`](Self::on_stack).
    const ON_STACK: bool = false;
    /// Fills the row-major matrix of a function with [`Flat::fixed`] inputs on the stack, without a state, and leaves the outputs in `y` if given.
    /// Returns `false` if the route does not implement this or the result would be an error; the operator then calls [`matrix`](Self::matrix).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn on_stack<S: Scalar, L: Lanes, F: Flat<B::Num<S, L>>>(
        _backend: &B,
        _f: &mut F,
        _x: &[S],
        _y: Option<&mut [S]>,
        _matrix: &mut [S],
    ) -> bool {
        false
    }
    /// The recordings of a state that keeps any. Operators try them before [`matrix`](Self::matrix).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recorded<S: Scalar, L: Lanes>(_state: &mut Self::State<S, L>) -> Option<&mut dyn RecordedMatrix<S>> {
        None
    }
}
