//! The functions that [`AutoBurn`](crate::AutoBurn) differentiates: closures and `fn` items of tensors.
//!
//! Users write them; the engine calls them.

use burn_tensor::Tensor;
use differentiation_interface_core::context::{ConstantKind, Contexts};

/// The output of a tensor function, of any rank, as a tensor of rank one.
pub struct Outputs(pub(crate) Tensor<1>);

impl<const E: usize> From<Tensor<E>> for Outputs {
    fn from(y: Tensor<E>) -> Self {
        Outputs(match E {
            1 => Tensor::from_bridge(y.into_bridge()),
            _ => {
                let count = y.shape().num_elements();
                y.reshape([count])
            }
        })
    }
}

/// A function of a tensor of rank `D`, with the contexts `C`: none, or one or two [`Constant`]s.
///
/// Every closure `|x: Tensor<D>| -> Tensor<E>` is one, and with a constant `|x: Tensor<D>, k: &K|`. The type of the argument must be written.
/// A struct that carries tensors implements the trait.
///
/// [`Constant`]: differentiation_interface_core::context::Constant
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of a tensor of rank {D} that `AutoBurn` differentiates",
    label = "expected `|x: Tensor<{D}>| -> Tensor<_>`",
    note = "write the type of the argument: `|x: Tensor<1>| ..`; set another rank by `AutoBurn::default().shaped([rows, columns])`",
    note = "contexts are `Constant`s, one or two: `|x: Tensor<1>, k: &K| ..`; captured tensors replace a `Parameter` or `Cache`",
    note = "a function of numbers, `|x: &[_]|`, is differentiated by a backend of numbers; `Leaf` makes it a part of a tensor function"
)]
pub trait TensorFunction<const D: usize, C: Contexts = ()> {
    /// Evaluates the function.
    fn call(&self, x: Tensor<D>, contexts: C::Values<'_>) -> Outputs;
}

impl<const D: usize, const E: usize, F> TensorFunction<D, ()> for F
where
    F: Fn(Tensor<D>) -> Tensor<E>,
{
    fn call(&self, x: Tensor<D>, (): ()) -> Outputs {
        self(x).into()
    }
}

impl<const D: usize, const E: usize, F, K> TensorFunction<D, (ConstantKind<K>,)> for F
where
    K: ?Sized + 'static,
    F: Fn(Tensor<D>, &K) -> Tensor<E>,
{
    fn call(&self, x: Tensor<D>, (k,): <(ConstantKind<K>,) as Contexts>::Values<'_>) -> Outputs {
        self(x, k.0).into()
    }
}

impl<const D: usize, const E: usize, F, K, L> TensorFunction<D, (ConstantKind<K>, ConstantKind<L>)> for F
where
    K: ?Sized + 'static,
    L: ?Sized + 'static,
    F: Fn(Tensor<D>, &K, &L) -> Tensor<E>,
{
    fn call(&self, x: Tensor<D>, (k, l): <(ConstantKind<K>, ConstantKind<L>) as Contexts>::Values<'_>) -> Outputs {
        self(x, k.0, l.0).into()
    }
}
