//! The engine: tensors on an autodiff device, swept once.
//!
//! The operators call it through [`Swept`].

use crate::function::{Outputs, TensorFunction};
use burn_tensor::{Device, Element, Shape, Tensor, TensorCreationOptions, TensorData};
use differentiation_interface_core::Base;
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::operators::{ShapedEngine, SweepEngine, Swept};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Differentiates functions of tensors of the crate `burn`, in reverse mode.
///
/// A point is a flat slice, array or container of `f64` or `f32`; the function takes it as a tensor of that number type, of rank one or of the
/// shape set by [`shaped`](Swept::shaped). Outputs are flattened row by row.
///
/// # Errors
/// `burn` panics where shapes or number types disagree. Such a panic, and any other in the function, is returned as
/// [`ErrorKind::EngineFailed`] with its message; the panic hook of the program runs before.
///
/// # Example
/// ```
/// use burn_tensor::Tensor;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface_burn::AutoBurn;
///
/// let norm2 = |x: Tensor<1>| (x.clone() * x).sum();
/// assert_eq!(value_and_gradient(&norm2, &AutoBurn::default(), &[1.0, 2.0])?, (5.0, vec![2.0, 4.0]));
///
/// // tr(A²) of a matrix has the gradient 2 Aᵀ.
/// let trace = |a: Tensor<2>| (a.clone() * a.transpose()).sum();
/// let backend = AutoBurn::default().shaped([2, 2]);
/// assert_eq!(gradient(&trace, &backend, &[1.0, 2.0, 3.0, 4.0])?, [2.0, 6.0, 4.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// Second order does not compile:
/// ```compile_fail,E0277
/// # use burn_tensor::Tensor;
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_burn::AutoBurn;
/// let norm2 = |x: Tensor<1>| (x.clone() * x).sum();
/// hessian(&norm2, &AutoBurn::default(), &[1.0, 2.0])?; // error: `Swept<..>` is not a backend for the `hessian` of this function
/// # Ok::<(), Error>(())
/// ```
pub type AutoBurn<const D: usize = 1> = Swept<Burn<D>>;

/// The engine of [`AutoBurn`]: a device and the shape of points.
#[derive(Clone, Debug)]
pub struct Burn<const D: usize = 1> {
    device: Device,
    autodiff: Device,
    /// Rank one has the length of the point.
    shape: Option<[usize; D]>,
}

impl Burn<1> {
    /// Computes on this device.
    pub fn on(device: Device) -> Self {
        Burn { device: device.clone().without_autodiff(), autodiff: device.autodiff(), shape: None }
    }
}

/// On the CPU, by the backend `flex`.
impl Default for Burn<1> {
    fn default() -> Self {
        Self::on(Device::flex())
    }
}

impl<const D: usize, const R: usize> ShapedEngine<R> for Burn<D> {
    type Shaped = Burn<R>;
    fn shaped(self, shape: [usize; R]) -> Burn<R> {
        Burn { device: self.device, autodiff: self.autodiff, shape: Some(shape) }
    }
}

impl<const D: usize> Burn<D> {
    fn tensor<S: Base + Element>(&self, x: &[S], device: &Device) -> Tensor<D> {
        let shape = match self.shape {
            Some(shape) => Shape::from(shape),
            None => Shape::from([x.len()]),
        };
        Tensor::from_data(TensorData::new(x.to_vec(), shape), options::<S>(device))
    }
}

/// Tensors of the number type `S`, whatever the default of the device.
fn options<S: Element>(device: &Device) -> TensorCreationOptions {
    TensorCreationOptions::new(device.clone()).with_dtype(S::dtype())
}

/// Copies the numbers of a tensor.
fn read<S: Element>(tensor: Tensor<1>, numbers: &mut Vec<S>) -> Result<(), Error> {
    numbers.clear();
    let data = tensor.into_data();
    match data.as_slice::<S>() {
        Ok(slice) => {
            numbers.extend_from_slice(slice);
            Ok(())
        }
        Err(error) => Err(Error::engine_failed(&error.to_string())),
    }
}

/// Runs code of `burn`, which panics where it fails.
fn caught<R>(run: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(Error::engine_failed(&text(&*panic))))
}

/// The message of a panic, in one line and without the full stop, since a sentence of the error goes on after it.
fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let line = text.unwrap_or("it panicked").split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').to_string()
}

/// The point and the output of an evaluation on the autodiff device.
pub struct Recording<const D: usize> {
    x: Tensor<D>,
    y: Tensor<1>,
}

impl<F, S, C, const D: usize> SweepEngine<F, S, C> for Burn<D>
where
    F: TensorFunction<D, C>,
    S: Base + Element,
    C: Contexts,
{
    const NAME: &'static str = "burn";
    type Recording = Recording<D>;

    fn accepts(&self, inputs: usize) -> Result<(), Error> {
        match self.shape.map(|shape| shape.iter().product()) {
            Some(expected) if expected != inputs => Err(ErrorKind::ShapedLength { expected, found: inputs }.into()),
            _ => Ok(()),
        }
    }
    fn evaluate(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<(), Error> {
        caught(|| {
            let Outputs(output) = f.call(self.tensor(x, &self.device), contexts);
            read(output, y)
        })
    }
    fn record(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<Recording<D>, Error> {
        caught(|| {
            let x = self.tensor(x, &self.autodiff).require_grad();
            let Outputs(output) = f.call(x.clone(), contexts);
            read(output.clone(), y)?;
            Ok(Recording { x, y: output })
        })
    }
    /// `burn` removes the recording in the sweep.
    fn sweep(&self, recording: Recording<D>, dy: &[S], dx: &mut [S]) -> Result<Option<Recording<D>>, Error> {
        let Recording { x, y } = recording;
        // A constant, or a value of another device.
        if !(y.is_autodiff() && y.is_tracked()) {
            dx.fill(S::ZERO);
            return Ok(None);
        }
        caught(|| {
            // `backward` starts with ones.
            let start = match dy {
                [one] if *one == S::ONE => y,
                _ => y * Tensor::from_data(TensorData::new(dy.to_vec(), [dy.len()]), options::<S>(&self.autodiff)),
            };
            let mut gradients = start.backward();
            match x.grad_remove(&mut gradients) {
                None => dx.fill(S::ZERO),
                Some(gradient) => {
                    let data = gradient.into_data();
                    let found = data.as_slice::<S>().map_err(|error| Error::engine_failed(&error.to_string()))?;
                    dx.copy_from_slice(found);
                }
            }
            Ok(None)
        })
    }
}
