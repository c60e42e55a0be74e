//! The engine: variables of `candle`, whose graph can be swept many times.
//!
//! The operators call it through [`Swept`].

use crate::function::TensorFunction;
use candle_core::{Device, Result as CandleResult, Shape, Tensor, Var, WithDType};
use differentiation_interface_core::Base;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::operators::{ShapedEngine, SweepEngine, Swept};

/// Differentiates functions of tensors of the crate `candle`, in reverse mode.
///
/// A point is a flat slice, array or container of `f64` or `f32`; the function takes it as a tensor of that number type, of rank one or of the
/// shape set by [`shaped`](Swept::shaped). Outputs are flattened row by row. Functions return the `Result` of `candle`; its errors are returned
/// as [`ErrorKind::EngineFailed`] with their message.
///
/// # Example
/// ```
/// use candle_core::Tensor;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_candle::AutoCandle;
///
/// let norm2 = |x: &Tensor| x.sqr()?.sum_all();
/// assert_eq!(value_and_gradient(&norm2, &AutoCandle::default(), &[1.0, 2.0])?, (5.0, vec![2.0, 4.0]));
///
/// // tr(A²) of a matrix has the gradient 2 Aᵀ.
/// let trace = |a: &Tensor| (a * a.t()?)?.sum_all();
/// let backend = AutoCandle::default().shaped([2, 2]);
/// assert_eq!(gradient(&trace, &backend, &[1.0, 2.0, 3.0, 4.0])?, [2.0, 6.0, 4.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// Second order does not compile:
/// ```compile_fail,E0277
/// # use candle_core::Tensor;
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_candle::AutoCandle;
/// let norm2 = |x: &Tensor| x.sqr()?.sum_all();
/// hessian(&norm2, &AutoCandle::default(), &[1.0, 2.0])?; // error: `Swept<..>` is not a backend for the `hessian` of this function
/// # Ok::<(), Error>(())
/// ```
pub type AutoCandle = Swept<Candle>;

/// The engine of [`AutoCandle`]: a device and the shape of points.
#[derive(Clone, Debug)]
pub struct Candle {
    device: Device,
    /// Rank one has the length of the point.
    shape: Option<Shape>,
}

impl Candle {
    /// Computes on this device.
    pub fn on(device: Device) -> Self {
        Candle { device, shape: None }
    }

    fn tensor<S: WithDType>(&self, x: &[S]) -> CandleResult<Tensor> {
        match &self.shape {
            Some(shape) => Tensor::from_slice(x, shape.clone(), &self.device),
            None => Tensor::from_slice(x, x.len(), &self.device),
        }
    }
}

/// On the CPU.
impl Default for Candle {
    fn default() -> Self {
        Self::on(Device::Cpu)
    }
}

impl<const D: usize> ShapedEngine<D> for Candle {
    type Shaped = Candle;
    fn shaped(self, shape: [usize; D]) -> Candle {
        Candle { shape: Some(Shape::from_dims(&shape)), ..self }
    }
}

/// The numbers of a tensor, row by row.
fn numbers<S: WithDType>(tensor: &Tensor) -> CandleResult<Vec<S>> {
    tensor.flatten_all()?.to_vec1()
}

fn failed(error: candle_core::Error) -> Error {
    // An error of `candle` may carry a backtrace, which is not part of its first line.
    let text = error.to_string();
    Error::engine_failed(text.lines().next().unwrap_or_default())
}

/// The point and the output of an evaluation. A sweep does not change them.
pub struct Recording {
    x: Var,
    y: Tensor,
}

impl<F, S, C> SweepEngine<F, S, C> for Candle
where
    F: TensorFunction<C>,
    S: Base + WithDType,
    C: Contexts,
{
    const NAME: &'static str = "candle";
    type Recording = Recording;

    fn accepts(&self, inputs: usize) -> Result<(), Error> {
        match self.shape.as_ref().map(Shape::elem_count) {
            Some(expected) if expected != inputs => Err(ErrorKind::ShapedLength { expected, found: inputs }.into()),
            _ => Ok(()),
        }
    }
    fn evaluate(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<(), Error> {
        let run = || numbers(&f.call(&self.tensor(x)?, contexts)?);
        *y = run().map_err(failed)?;
        Ok(())
    }
    fn record(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<Recording, Error> {
        let run = || {
            let x = Var::from_tensor(&self.tensor(x)?)?;
            let output = f.call(x.as_tensor(), contexts)?;
            Ok((numbers(&output)?, Recording { x, y: output }))
        };
        let recording;
        (*y, recording) = run().map_err(failed)?;
        Ok(recording)
    }
    fn sweep(&self, recording: Recording, dy: &[S], dx: &mut [S]) -> Result<Option<Recording>, Error> {
        let run = || {
            let Recording { x, y } = &recording;
            // `backward` starts with ones.
            let gradients = match dy {
                [one] if *one == S::ONE => y.backward()?,
                _ => (y * Tensor::from_slice(dy, y.shape(), &self.device)?)?.backward()?,
            };
            gradients.get(x.as_tensor()).map(numbers::<S>).transpose()
        };
        match run().map_err(failed)? {
            Some(gradient) => dx.copy_from_slice(&gradient),
            None => dx.fill(Base::ZERO),
        }
        Ok(Some(recording))
    }
}
