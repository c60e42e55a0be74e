//! Detectors, and the functions that run them.
//!
//! Called by users and by sparse backends. Runs the function once on [`Tracer`]s and reads the pattern out of the
//! [`arena`](crate::arena).

use crate::arena::{self, CONSTANT};
use crate::handles::{Gradient, Handles, Hessian};
use crate::number::{Global, Local, Scope, Tracer, TracerCore};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::{Bound, Evaluate, Flat, NumberOutput, Storage};
use differentiation_interface_core::fault;
use differentiation_interface_core::point::{At, Point, ScalarOf};
use differentiation_interface_core::scalar::{Base, Num, Scalar};
use matrix_coloring::Pattern;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Finds patterns that hold at all points.
///
/// Only the number of values at the point matters. A function that branches on a value, casts it, formats it or tests
/// it is refused with the place in its code: the pattern would hold on one side of the branch only. `max`, `min`, `abs`,
/// `clamp` and [`select`](differentiation_interface_core::scalar::Condition::select) are not branches.
///
/// [Parameters](differentiation_interface_core::context::Parameter) have no values either: the pattern holds for all of them.
///
/// # Guarantees
/// An entry that is nonzero at some point is in the pattern. The pattern may have more entries: `x - x` depends on `x`, and so does a
/// product with a plain zero, since the zero may have another value in the next call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracerSparsityDetector;

/// Finds patterns that hold at one point and around it as long as no branch changes.
///
/// Branches follow the values at the point, a product drops the factor whose partner is exactly zero, `max` and `min` drop
/// the smaller and larger argument. So the pattern can be smaller than the one for all points, and is valid only at this one:
/// detect again when the point moves, and do not keep a colouring made from it.
///
/// In general no error tells that a point is on another branch: engines that run the function at every call do not track branches, and
/// entries that are nonzero on another branch only are missing. Engines that keep a recording report a comparison with another outcome, as
/// an error of kind [`ErrorKind::OtherPattern`], but not another choice of `max`, `min` or `select`, nor a factor that is no longer zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracerLocalSparsityDetector;

/// Finds the entries of a Jacobian or Hessian that may be nonzero.
///
/// # For users
/// Pass one to [`jacobian_sparsity`] or [`hessian_sparsity`].
///
/// # For backend authors
/// 1. `jacobian` and `hessian` run `f` once at `x`, on numbers of the named types.
/// 2. Every entry that the backend could find nonzero must be in the pattern. Undecidable cases are an error.
/// 3. The pattern of a Hessian is symmetric, both triangles are stored.
pub trait SparsityDetector: Clone + Debug + Send + Sync + 'static {
    /// Name in errors.
    const NAME: &'static str;
    /// Whether a pattern holds only on the branches taken at the point. A sparse backend then reports a call that takes another branch, if it
    /// can detect that.
    const AT_ONE_POINT: bool = false;
    /// Whether a pattern is that of the constants of the detection. A sparse backend then detects again in a call with other constants.
    const FOLLOWS_CONSTANTS: bool = !Self::AT_ONE_POINT;
    /// The number `jacobian` runs on.
    type JacobianNum<B: Base>: Scalar<Base = B>;
    /// The number `hessian` runs on.
    type HessianNum<B: Base>: Scalar<Base = B>;

    /// The pattern of the Jacobian of `f`, outputs × inputs.
    ///
    /// # Errors
    /// As [`jacobian_sparsity`].
    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<Self::JacobianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error>;

    /// The pattern of the Hessian of `f`, which has one output.
    ///
    /// # Errors
    /// As [`hessian_sparsity`].
    fn hessian<S: Scalar>(&self, f: &mut impl Flat<Self::HessianNum<S::Base>>, x: &[S]) -> Result<Pattern, Error>;
}

/// A detector by tracers of one scope.
macro_rules! tracer_detector {
    ($detector:ty, $scope:ty, $name:literal) => {
        impl SparsityDetector for $detector {
            const NAME: &'static str = $name;
            const AT_ONE_POINT: bool = <$scope as Scope>::AT_POINT;
            type JacobianNum<B: Base> = Tracer<B, $scope, Gradient>;
            type HessianNum<B: Base> = Tracer<B, $scope, Hessian>;

            fn jacobian<S: Scalar>(
                &self,
                f: &mut impl Flat<Self::JacobianNum<S::Base>>,
                x: &[S],
            ) -> Result<Pattern, Error> {
                trace(f, x)
            }
            fn hessian<S: Scalar>(
                &self,
                f: &mut impl Flat<Self::HessianNum<S::Base>>,
                x: &[S],
            ) -> Result<Pattern, Error> {
                trace(f, x)
            }
        }
    };
}
tracer_detector! { TracerSparsityDetector, Global, "tracer" }
tracer_detector! { TracerLocalSparsityDetector, Local, "local tracer" }

/// Runs `f` on tracers and reads the pattern off its outputs.
fn trace<S: Scalar, K: Scope, H: Handles>(f: &mut impl Flat<Tracer<S::Base, K, H>>, x: &[S]) -> Result<Pattern, Error> {
    fault::watch(|| {
        let running = arena::begin(x.len())?;
        let generation = running.generation();
        let plain = |v: &S| if K::AT_POINT { v.primal() } else { S::Base::ZERO };
        let mut inputs = arena::take_vector();
        inputs.extend(x.iter().enumerate().map(|(i, v)| Num(TracerCore::input(plain(v), generation, i))));
        let mut outputs = arena::take_vector();
        let run = catch_unwind(AssertUnwindSafe(|| f.call(&inputs, &mut outputs)));
        arena::keep_vector(inputs);
        // If numbers went to another thread, a panic is only a consequence: they have no pattern there.
        running.check()?;
        // After a refused question a panic is only its consequence, and a result that of a function which caught it.
        if let Some(place) = running.refused_at() {
            return Err(ErrorKind::ValueDecides { place }.into());
        }
        if let Err(panic) = run {
            resume_unwind(panic);
        }
        let is_own = |v: &Tracer<S::Base, K, H>| v.0.generation() == CONSTANT || v.0.generation() == generation;
        if !outputs.iter().all(is_own) {
            return Err(ErrorKind::ForeignNumber.into());
        }
        let pattern = running.finish(|arena| H::pattern(arena, outputs.iter().map(|v| v.0.handles())));
        arena::keep_vector(outputs);
        pattern
    })
}

/// Returns the pattern of the Jacobian of `f` at `x`: it contains entry `(i, j)` if output `i` may depend on input `j`.
///
/// `f` and `x` are as for operators: closures, generic functions, objects and [`in_place`] functions; slices, arrays and
/// numbers, with contexts. A number counts as one input or output. The function runs once.
///
/// [`in_place`]: differentiation_interface_core::in_place
///
/// # Errors
/// - [`ErrorKind::ValueDecides`] if the detector covers all points and the function branches on a value;
/// - [`ErrorKind::ForeignNumber`] if a number of another detection entered;
/// - [`ErrorKind::OtherThread`] if the function computes on another thread;
/// - [`ErrorKind::TapeOverflow`] if the function makes more than 2³¹ sets or the pattern has more than 2³² entries.
///
/// # Example
/// ```
/// use differentiation_interface_core::Real;
/// use sparsity_tracer::{TracerLocalSparsityDetector, TracerSparsityDetector, jacobian_sparsity};
///
/// fn f<T: Real>(x: &[T]) -> Vec<T> {
///     vec![x[0] * x[1], x[2].max(x[0])]
/// }
/// let x = [0.0, 2.0, 3.0];
/// let pattern = jacobian_sparsity(&f, &TracerSparsityDetector, &x)?;
/// assert_eq!((pattern.row(0), pattern.row(1)), (&[0, 1][..], &[0, 2][..]));
/// // At this point x₀ is 0 and smaller than x₂.
/// let pattern = jacobian_sparsity(&f, &TracerLocalSparsityDetector, &x)?;
/// assert_eq!((pattern.row(0), pattern.row(1)), (&[0][..], &[2][..]));
/// # Ok::<(), sparsity_tracer::Error>(())
/// ```
pub fn jacobian_sparsity<F, D, P>(f: &F, detector: &D, x: P) -> Result<Pattern, Error>
where
    D: SparsityDetector,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, D::JacobianNum<BaseOf<P>>>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut storage, mut kept) = (Storage::new(at), Default::default());
    let mut f = Bound::new(f, at, &mut storage, &mut kept);
    detector.jacobian(&mut f, at.coordinates()).map_err(|error| error.during("jacobian_sparsity", D::NAME))
}

/// Returns the pattern of the Hessian of `f` at `x`: it contains entry `(i, j)` if ∂²f/∂xᵢ∂xⱼ may be nonzero. It is symmetric and
/// stores both triangles.
///
/// # Errors
/// As [`jacobian_sparsity`].
///
/// # Example
/// ```
/// use differentiation_interface_core::Real;
/// use sparsity_tracer::{TracerSparsityDetector, hessian_sparsity};
///
/// fn f<T: Real>(x: &[T]) -> T {
///     x[0] + x[1] * x[2] + x[3].recip()
/// }
/// let pattern = hessian_sparsity(&f, &TracerSparsityDetector, &[1.0, 2.0, 3.0, 4.0])?;
/// let entries: Vec<_> = pattern.entries().collect();
/// assert_eq!(entries, [(1, 2), (2, 1), (3, 3)]);
/// # Ok::<(), sparsity_tracer::Error>(())
/// ```
pub fn hessian_sparsity<F, D, P>(f: &F, detector: &D, x: P) -> Result<Pattern, Error>
where
    D: SparsityDetector,
    P: Point,
    F: Evaluate<P::Shape, P::Contexts, D::HessianNum<BaseOf<P>>>,
    F::Output: NumberOutput<D::HessianNum<BaseOf<P>>>,
{
    let mut memory = Vec::new();
    let at = At::new(&x, &mut memory);
    let (mut storage, mut kept) = (Storage::new(at), Default::default());
    let mut f = Bound::new(f, at, &mut storage, &mut kept);
    detector.hessian(&mut f, at.coordinates()).map_err(|error| error.during("hessian_sparsity", D::NAME))
}

/// The plain number at the bottom of a point's numbers.
pub type BaseOf<P> = <ScalarOf<P> as Scalar>::Base;
