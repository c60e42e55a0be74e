//! A custom rule as a part of a tensor function.
//!
//! Users call it inside functions for [`AutoCandle`](crate::AutoCandle), or in any program of `candle`, which calls its pullback in a sweep.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape, Tensor, WithDType, bail};
use differentiation_interface_core::Base;
use differentiation_interface_core::custom::{CustomRule, pullback_by_rule};
use differentiation_interface_core::fault;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

/// A [`CustomRule`] as a function of tensors on the CPU: a `CustomOp1` with its backward pass.
///
/// The rule is the one that functions of numbers use as [`Custom`]. A function of numbers becomes a rule by [`PullbackRule`], which
/// serves functions made by `#[custom_rule]` too. `S` is the number type of the tensors.
///
/// [`Custom`]: differentiation_interface_core::custom::Custom
/// [`PullbackRule`]: differentiation_interface_core::swept_rule::PullbackRule
///
/// # Example
/// ```
/// use candle_core::Tensor;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::swept_rule::PullbackRule;
/// use differentiation_interface_candle::{AutoCandle, Leaf};
///
/// // Running products, which a tensor library lacks.
/// fn running<T: Real>(x: &[T]) -> Vec<T> {
///     x.iter().scan(T::one(), |product, v| { *product = *product * *v; Some(*product) }).collect()
/// }
/// let leaf = Leaf::new(PullbackRule::new(|x: &[_]| running(x), AutoReverseDiff::default()));
/// // x₀ + x₀x₁ + x₀x₁x₂
/// let f = |x: &Tensor| leaf.call(x)?.sum_all();
/// assert_eq!(gradient(&f, &AutoCandle::default(), &[2.0, 3.0, 5.0])?, [19.0, 12.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct Leaf<R, S = f64> {
    rule: Arc<R>,
    number: PhantomData<fn(S)>,
}

impl<R, S> Clone for Leaf<R, S> {
    fn clone(&self) -> Self {
        Leaf { rule: Arc::clone(&self.rule), number: PhantomData }
    }
}

impl<R, S> Debug for Leaf<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leaf")
    }
}

impl<R: CustomRule<S>, S: Base + WithDType> Leaf<R, S> {
    /// Makes a rule callable on tensors.
    pub fn new(rule: R) -> Self {
        Leaf { rule: Arc::new(rule), number: PhantomData }
    }

    /// Returns the outputs of the rule at the numbers of `x`, row by row, as a tensor of rank one.
    ///
    /// # Errors
    /// If `x` has a different number type or is not on the CPU, or if the rule fails.
    pub fn call(&self, x: &Tensor) -> Result<Tensor> {
        x.flatten_all()?.contiguous()?.apply_op1(self.clone())
    }
}

/// Runs code of a rule, and returns its error as one of `candle`.
fn watched(run: impl FnOnce()) -> Result<()> {
    let watched = fault::watch(|| {
        run();
        Ok(())
    });
    watched.map_err(|error| Error::Msg(error.to_string()))
}

impl<R: CustomRule<S>, S: Base + WithDType> CustomOp1 for Leaf<R, S> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let Some((start, end)) = layout.contiguous_offsets() else { bail!("a leaf reads a contiguous tensor") };
        let x = &S::cpu_storage_as_slice(storage)?[start..end];
        let mut y = Vec::new();
        watched(|| self.rule.value(x, &mut y))?;
        let shape = Shape::from(y.len());
        Ok((S::to_cpu_storage_owned(y), shape))
    }
    fn bwd(&self, x: &Tensor, y: &Tensor, dy: &Tensor) -> Result<Option<Tensor>> {
        let [x_numbers, y, dy] = [x, y, dy].map(|tensor| tensor.to_vec1::<S>());
        let (x_numbers, y, dy) = (x_numbers?, y?, dy?);
        let mut dx = vec![<S as Base>::ZERO; x_numbers.len()];
        watched(|| pullback_by_rule(&*self.rule, &x_numbers, &y, &dy, &mut dx))?;
        Tensor::from_vec(dx, x.shape(), x.device()).map(Some)
    }
}
