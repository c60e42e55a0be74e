//! The two primitives. A backend implements at least one.

use super::{Backend, Lanes, Rows, Seeds};
use crate::error::Error;
use crate::evaluate::Flat;
use crate::scalar::Scalar;

/// Propagates tangents through the function: dy = J dx, for several tangents at once.
///
/// # For backend authors
/// 1. The operator has checked the length of the point and the seeds.
/// 2. Call `f` as few times as the method needs, and allocate nothing once the state has seen the sizes.
/// 3. `rows` has one column per seed; state the number of outputs with [`Rows::set_rows`] before writing, and write every entry.
///    The previous content is undefined (NaN in tests).
/// 4. The state has no fixed size: buffers grow with the first point and keep their memory when a shorter one follows.
/// 5. After an error or a panic in `f` the state must still be usable.
/// 6. A clone of the state holds what the state holds: after [`hold`](Self::hold), products of the clone are at the same point.
pub trait PushforwardPrimitive: Backend {
    /// What calls need beyond the arguments: buffers of active numbers and the like.
    type PushforwardState<S: Scalar, L: Lanes>: Clone + Send + 'static;

    /// Makes an empty state, or returns an error for points of length `inputs` with `seeds` tangents.
    fn pushforward_state<S: Scalar, L: Lanes>(
        &self,
        inputs: usize,
        seeds: usize,
    ) -> Result<Self::PushforwardState<S, L>, Error>;

    /// Evaluates `f` at `x`, leaves its outputs in `y`, and keeps what [`pushforward_held`](Self::pushforward_held) needs.
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut Self::PushforwardState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;

    /// Propagates the tangents at `x`, and leaves the outputs in `y` if given.
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut Self::PushforwardState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Propagates the tangents at the point of the last [`hold`](Self::hold).
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut Self::PushforwardState<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// The number of seeds that are propagated together in a call with `seeds` seeds and `L` lanes, at least 1. A wrapper that divides
    /// the seeds among threads divides them at multiples of this number, and makes a shorter last group a call of its own: the results
    /// are then those of one call, bit for bit. With 1, the default, seeds do not influence each other.
    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        1
    }

    /// Whether the backend implements [`jacobian_on_stack`](Self::jacobian_on_stack).
    const ON_STACK: bool = false;
    /// Fills the row-major Jacobian of a function with [`Flat::fixed`] inputs, on the stack, and leaves the outputs in `y` if
    /// given. Returns `false` if it cannot or the result would be an error; the operator then calls [`pushforward`](Self::pushforward).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn jacobian_on_stack<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        _f: &mut F,
        _x: &[S],
        _y: Option<&mut [S]>,
        _jacobian: &mut [S],
    ) -> bool {
        false
    }
}

/// Propagates cotangents back through the function: dx = Jᵀ dy, for several cotangents at once.
///
/// # For backend authors
/// 1. The operator has checked the length of the point before `record`, and the lengths of the seeds before `sweep`.
/// 2. `record` calls `f` once. `sweep` gets the same function, may call it at the point of the recording, and may be repeated with other seeds.
/// 3. `rows` has one column per input; state the number of seeds with [`Rows::set_rows`] before writing, and write every entry.
///    The previous content is undefined (NaN in tests).
/// 4. The state has no fixed size: buffers grow with the first point and keep their memory when a shorter one follows.
/// 5. After an error or a panic in `f` the state must still be usable.
/// 6. A clone of the state holds what the state holds: after [`record`](Self::record), the clone can be swept.
pub trait PullbackPrimitive: Backend {
    /// What calls need beyond the arguments: a tape, adjoints and the like.
    type PullbackState<S: Scalar, L: Lanes>: Clone + Send + 'static;

    /// Makes an empty state, or returns an error for points of length `inputs`.
    fn pullback_state<S: Scalar, L: Lanes>(&self, inputs: usize) -> Result<Self::PullbackState<S, L>, Error>;

    /// Evaluates `f` at `x`, leaves its outputs in `y`, and keeps what [`sweep`](Self::sweep) needs.
    fn record<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut Self::PullbackState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error>;

    /// Propagates the cotangents back from the last recording. `f` is the recorded function, for engines that evaluate parts of it
    /// again.
    fn sweep<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut Self::PullbackState<S, L>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error>;

    /// Does both in one run, for engines that need none of its own for the outputs: evaluates `f` at `x`, leaves the outputs in `y`, and propagates
    /// the cotangents back. Returns `false`, as it does by default, if `record` and `sweep` are to be called instead, which then report the error if
    /// there is one: the length of the cotangents, for example, has not been compared with that of the outputs.
    fn at_once<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        _state: &mut Self::PullbackState<S, L>,
        _f: &mut F,
        _x: &[S],
        _seeds: Seeds<'_, S>,
        _y: &mut Vec<S>,
        _rows: Rows<'_, S>,
    ) -> bool {
        false
    }

    /// The number of seeds that are propagated together in a sweep for `seeds` seeds; see [`PushforwardPrimitive::seeds_per_pass`].
    fn seeds_per_pass<L: Lanes>(&self, _seeds: usize) -> usize {
        1
    }
}
