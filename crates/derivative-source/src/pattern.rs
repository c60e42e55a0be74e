//! Patterns of Jacobians and Hessians, read off recordings.
//!
//! Called for sparse operators. The recording is replayed on the tracers of `sparsity-tracer`, as the detectors of the facade do.

use crate::error::Error;
use compiled_trace::Graph;
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::Scalar;
use matrix_coloring::Pattern;
use sparsity_tracer::{Global, Gradient, Hessian, SparsityDetector, Tracer, TracerSparsityDetector, dense_dependence};

/// The places of nonzero entries of the Jacobian, on the branches of the recording.
pub(crate) fn jacobian(graph: &Graph) -> Result<Pattern, Error> {
    Ok(TracerSparsityDetector.jacobian(&mut Replayed(graph), &vec![0.0; graph.inputs()])?)
}

/// The places of nonzero entries of the Hessian.
pub(crate) fn hessian(graph: &Graph) -> Result<Pattern, Error> {
    Ok(TracerSparsityDetector.hessian(&mut Replayed(graph), &vec![0.0; graph.inputs()])?)
}

/// A recording as a function of tracers.
struct Replayed<'a>(&'a Graph);

/// The function of the recording at tracers of one order.
macro_rules! replayed {
    ($($order:ty),*) => {$(
        impl Flat<Tracer<f64, Global, $order>> for Replayed<'_> {
            fn call(&mut self, x: &[Tracer<f64, Global, $order>], y: &mut Vec<Tracer<f64, Global, $order>>) {
                let parameters = vec![Tracer::constant(f64::NAN); self.0.parameters()];
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
