//! Patterns of recordings: a recording is replayed on tracers, so that there is one algebra of index sets.
//!
//! Called for functions that are recorded anyway: by the graph detectors of `differentiation-interface`, and by `derivative-source`.

use crate::detector::{SparsityDetector, TracerSparsityDetector};
use crate::handles::{Gradient, Hessian};
use crate::number::{Global, Tracer, TracerCore, dense_dependence};
use compiled_trace::Graph;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Num;
use matrix_coloring::Pattern;

/// The pattern of the Jacobian of a recording, a row per output and a column per input, on the branches that were recorded. Feature `recordings`.
///
/// Elementary functions that are not in the rule table count as dense, as custom rules do.
///
/// # Errors
/// Those of [`TracerSparsityDetector`].
///
/// # Example
/// ```
/// use compiled_trace::{Limits, record};
/// let graph = record(&[1.0, 2.0, 3.0], &[], Limits::default(), |x, _, y| y.extend([x[0] * x[2], x[1]]))?;
/// let pattern = sparsity_tracer::jacobian_of_recording(&graph)?;
/// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 0), (0, 2), (1, 1)]);
/// # Ok::<(), sparsity_tracer::Error>(())
/// ```
pub fn jacobian_of_recording(graph: &Graph) -> Result<Pattern, Error> {
    TracerSparsityDetector.jacobian(&mut Replayed(graph), &vec![0.0; graph.inputs()])
}

/// The pattern of the Hessian of the sum of all outputs, as for [`jacobian_of_recording`]. Feature `recordings`.
///
/// # Errors
/// Those of [`TracerSparsityDetector`].
///
/// # Example
/// ```
/// use compiled_trace::{Limits, record};
/// let graph = record(&[1.0, 2.0, 3.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[2] + x[1]))?;
/// let pattern = sparsity_tracer::hessian_of_recording(&graph)?;
/// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 2), (2, 0)]);
/// # Ok::<(), sparsity_tracer::Error>(())
/// ```
pub fn hessian_of_recording(graph: &Graph) -> Result<Pattern, Error> {
    TracerSparsityDetector.hessian(&mut Replayed(graph), &vec![0.0; graph.inputs()])
}

/// A recording as a function of tracers. Tracers carry no values, so those over `f64` serve recordings of every number.
struct Replayed<'a>(&'a Graph);

/// The function of the recording at tracers of one order.
macro_rules! replayed {
    ($($order:ty),*) => {$(
        impl Flat<Tracer<f64, Global, $order>> for Replayed<'_> {
            fn call(&mut self, x: &[Tracer<f64, Global, $order>], y: &mut Vec<Tracer<f64, Global, $order>>) {
                // Any values: with those of one call, or NaN, a selection by a parameter would keep one of its sides.
                let parameters = vec![Num(TracerCore::parameter(f64::NAN)); self.0.parameters()];
                let dense = |x: &[_], y: &mut [_]| y.fill(dense_dependence(x, f64::NAN));
                let done = self.0.evaluate(x, &parameters, dense, y);
                done.expect("the detection makes a tracer per input");
            }
            fn has_work_memory(&self) -> bool {
                false
            }
        }
    )*};
}
replayed! { Gradient, Hessian }

#[cfg(test)]
mod tests {
    use super::*;
    use compiled_trace::{Limits, record};
    use differentiation_interface_core::scalar::{Relation, Scalar};

    #[test]
    fn both_sides_of_what_a_parameter_selects_are_in_the_pattern() {
        let entries = |pattern: Pattern| pattern.entries().collect::<Vec<_>>();
        let graph = record(&[1.0, 2.0, 3.0], &[1.0], Limits::default(), |x, p, y| {
            let zero = Scalar::constant(0.0);
            y.push(Scalar::select(p[0], Relation::Greater, zero, x[0] * x[1], x[2] * x[2]));
        })
        .unwrap();
        assert_eq!(entries(jacobian_of_recording(&graph).unwrap()), [(0, 0), (0, 1), (0, 2)]);
        assert_eq!(entries(hessian_of_recording(&graph).unwrap()), [(0, 1), (1, 0), (2, 2)]);
        // Nothing depends on an input where there is none.
        let graph = record(&[], &[1.0], Limits::default(), |_, p, y| y.push(p[0] * p[0])).unwrap();
        assert_eq!(entries(jacobian_of_recording(&graph).unwrap()), []);
    }
}
