//! The functions that [`AutoCandle`](crate::AutoCandle) differentiates: closures and `fn` items of tensors.
//!
//! Users write them; the engine calls them.

use candle_core::{Result, Tensor};
use differentiation_interface_core::context::{ConstantKind, Contexts};

/// A function of a tensor, with the contexts `C`: none, or one or two [`Constant`]s.
///
/// Every closure `|x: &Tensor| -> candle_core::Result<Tensor>` is one, and with a constant `|x: &Tensor, k: &K|`. The type of the argument must
/// be written. A struct that carries tensors implements the trait.
///
/// [`Constant`]: differentiation_interface_core::context::Constant
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of a tensor that `AutoCandle` differentiates",
    label = "expected `|x: &Tensor| -> candle_core::Result<Tensor>`",
    note = "write the type of the argument, and return a `Result`: `|x: &Tensor| x.sqr()?.sum_all()`",
    note = "contexts are `Constant`s, one or two: `|x: &Tensor, k: &K| ..`; captured tensors replace a `Parameter` or `Cache`",
    note = "a function of numbers, `|x: &[_]|`, is differentiated by a backend of numbers; `Leaf` makes it a part of a tensor function"
)]
pub trait TensorFunction<C: Contexts = ()> {
    /// Evaluates the function.
    ///
    /// # Errors
    /// Those of `candle`.
    fn call(&self, x: &Tensor, contexts: C::Values<'_>) -> Result<Tensor>;
}

impl<F> TensorFunction<()> for F
where
    F: Fn(&Tensor) -> Result<Tensor>,
{
    fn call(&self, x: &Tensor, (): ()) -> Result<Tensor> {
        self(x)
    }
}

impl<F, K> TensorFunction<(ConstantKind<K>,)> for F
where
    K: ?Sized + 'static,
    F: Fn(&Tensor, &K) -> Result<Tensor>,
{
    fn call(&self, x: &Tensor, (k,): <(ConstantKind<K>,) as Contexts>::Values<'_>) -> Result<Tensor> {
        self(x, k.0)
    }
}

impl<F, K, L> TensorFunction<(ConstantKind<K>, ConstantKind<L>)> for F
where
    K: ?Sized + 'static,
    L: ?Sized + 'static,
    F: Fn(&Tensor, &K, &L) -> Result<Tensor>,
{
    fn call(&self, x: &Tensor, (k, l): <(ConstantKind<K>, ConstantKind<L>) as Contexts>::Values<'_>) -> Result<Tensor> {
        self(x, k.0, l.0)
    }
}
