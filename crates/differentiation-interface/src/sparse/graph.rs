//! Detectors that record the function once and read the pattern off the recording.
//!
//! Called for sparse operators; records, and calls `sparsity-tracer`, which replays the recording on its tracers.

use crate::backends::compiled_reverse_diff::fresh::FreshRecording;
use compiled_trace::{Limits, Recorded};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::Recordable;
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::Pattern;
use sparsity_tracer::{SparsityDetector, hessian_of_recording, jacobian_of_recording};

/// Detects patterns for all points from a recording of the function.
///
/// The function runs once, at the point, on the recording numbers of
/// [`AutoReverseDiff::compiled`](crate::backends::AutoReverseDiff::compiled) and no others. So with that backend, a closure, which has
/// one number type, has sparse derivatives too. The pattern is that of [`TracerSparsityDetector`](sparsity_tracer::TracerSparsityDetector), except for elementary functions that
/// are not in the rule table: they count as dense to second order, as custom rules do. It takes longer than the tracer.
///
/// A function that branches on a value, casts it or tests it is refused; the error has the place in the code.
/// [`GraphLocalSparsityDetector`] accepts it.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::sparse::GraphSparsityDetector;
///
/// fn differences<T: Real>(x: &[T], scale: f64) -> Vec<T> {
///     x.windows(2).map(|w| scale * (w[1] - w[0]).powi(2)).collect()
/// }
/// let backend = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphSparsityDetector);
/// let jac = jacobian(&|x: &[_]| differences(x, 2.0), &backend, &[1.0, 2.0, 4.0])?;
/// assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 0, -4.0), (0, 1, 4.0), (1, 1, -8.0), (1, 2, 8.0)]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphSparsityDetector;

/// Detects patterns from a recording of the function, on the branches that it takes at the point.
///
/// As [`GraphSparsityDetector`], for functions that branch on values. The pattern is valid where every branch goes as it does
/// at the point, and **nowhere else**: it lacks entries that are nonzero on other branches only. A call of a compiled dense part
/// ([`AutoReverseDiff::compiled()`](crate::backends::AutoReverseDiff::compiled)) that takes another branch is an error of kind
/// [`ErrorKind::OtherPattern`]. Other dense parts run the function in every call and do not detect branches: the matrix then lacks
/// entries without an error.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::sparse::GraphLocalSparsityDetector;
///
/// fn friction<T: Real>(x: &[T]) -> Vec<T> {
///     vec![if x[0] > 0.0 { x[1] * x[1] } else { x[2] }]
/// }
/// let backend = AutoSparse::new(AutoReverseDiff::compiled()).with_detector(GraphLocalSparsityDetector);
/// let f = |x: &[_]| friction(x);
/// let mut prepared = prepare_jacobian(&f, &backend, &[1.0, 2.0, 3.0])?;
/// assert_eq!(prepared.jacobian(&[0.5, 3.0, 3.0])?.entries().collect::<Vec<_>>(), [(0, 1, 6.0)]);
/// assert!(matches!(prepared.jacobian(&[-1.0, 2.0, 3.0]).unwrap_err().kind(), ErrorKind::OtherPattern { .. }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphLocalSparsityDetector;

/// A detector by recordings, which accepts or refuses branches.
macro_rules! graph_detector {
    ($detector:ty, $name:literal, $branches:literal) => {
        impl SparsityDetector for $detector {
            const NAME: &'static str = $name;
            const AT_ONE_POINT: bool = $branches;
            type JacobianNum<B: Base> = Recorded<B>;
            type HessianNum<B: Base> = Recorded<B>;

            fn jacobian<S: Scalar>(&self, f: &mut impl Flat<Recorded<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
                jacobian_of_recording(recording(f, x, $branches)?.graph())
            }
            fn hessian<S: Scalar>(&self, f: &mut impl Flat<Recorded<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
                hessian_of_recording(recording(f, x, $branches)?.graph())
            }
        }
    };
}
graph_detector! { GraphSparsityDetector, "graph", false }
graph_detector! { GraphLocalSparsityDetector, "local graph", true }

/// Records the function at `x`; a branch is an error unless the detector accepts branches.
fn recording<S: Scalar>(
    f: &mut impl Flat<Recorded<S::Base>>,
    x: &[S],
    branches: bool,
) -> Result<FreshRecording<S::Base>, Error> {
    let mut parameters = Vec::new();
    f.recordable().parameters(&mut parameters);
    let mut fresh = FreshRecording::default();
    let graph = fresh.record(Limits::default(), f, x, &parameters)?;
    let decided = if branches { None } else { graph.decisions().next() };
    decided.map_or(Ok(fresh), |place| Err(ErrorKind::ValueDecides { place }.into()))
}
