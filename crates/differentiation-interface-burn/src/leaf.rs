//! A custom rule as a part of a tensor function.
//!
//! Users call it inside functions for [`AutoBurn`](crate::AutoBurn), or in any program of `burn`; `burn` calls its pullback in a sweep.

use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::NoCheckpointing;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_backend::TensorMetadata;
use burn_backend::ops::FloatTensorOps;
use burn_backend::tensor::FloatTensor;
use burn_flex::{Flex, FlexTensor};
use burn_tensor::{Element, Shape, Tensor, TensorData, read_sync};
use differentiation_interface_core::Base;
use differentiation_interface_core::custom::{CustomRule, pullback_by_rule};
use differentiation_interface_core::fault;
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

/// A [`CustomRule`] as a function of tensors on the CPU device `flex`, with or without autodiff.
///
/// The rule is the one that functions of numbers use as [`Custom`]. A function of numbers becomes a rule by [`PullbackRule`], which
/// serves functions made by `#[custom_rule]` too. `S` is the number type of the tensors.
///
/// [`Custom`]: differentiation_interface_core::custom::Custom
/// [`PullbackRule`]: differentiation_interface_core::swept_rule::PullbackRule
///
/// # Example
/// ```
/// use burn_tensor::Tensor;
/// use differentiation_interface::prelude::*;
/// use differentiation_interface::swept_rule::PullbackRule;
/// use differentiation_interface_burn::{AutoBurn, Leaf};
///
/// // Running products, which a tensor library lacks.
/// fn running<T: Real>(x: &[T]) -> Vec<T> {
///     x.iter().scan(T::one(), |product, v| { *product = *product * *v; Some(*product) }).collect()
/// }
/// let leaf = Leaf::new(PullbackRule::new(|x: &[_]| running(x), AutoReverseDiff::default()));
/// // x₀ + x₀x₁ + x₀x₁x₂
/// let f = |x: Tensor<1>| leaf.call(x).sum();
/// assert_eq!(gradient(&f, &AutoBurn::default(), &[2.0, 3.0, 5.0])?, [19.0, 12.0, 6.0]);
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

impl<R: CustomRule<S>, S: Base + Element> Leaf<R, S> {
    /// Makes a rule callable on tensors.
    pub fn new(rule: R) -> Self {
        Leaf { rule: Arc::new(rule), number: PhantomData }
    }

    /// Returns the outputs of the rule at the numbers of `x`, row by row.
    ///
    /// # Panics
    /// If `x` has a different number type, is not on the device `flex`, or uses gradient checkpointing, or if the rule fails.
    /// [`AutoBurn`](crate::AutoBurn) turns panics into errors.
    pub fn call<const D: usize>(&self, x: Tensor<D>) -> Tensor<1> {
        if !x.is_autodiff() {
            let primitive = x.try_into_primitive::<Flex>().expect("a leaf needs a tensor on the device `flex`");
            return Tensor::from_primitive::<Flex>(self.value(primitive).0);
        }
        let tensor = x
            .try_into_primitive::<Autodiff<Flex>>()
            .expect("a leaf needs a tensor on the device `flex`, without gradient checkpointing");
        Tensor::from_primitive::<Autodiff<Flex>>(self.recorded(tensor))
    }

    fn recorded(&self, tensor: FloatTensor<Autodiff<Flex>>) -> FloatTensor<Autodiff<Flex>> {
        let (primitive, guard) = tensor.into_parts();
        let shape = primitive.shape();
        let (output, x, y) = self.value(primitive);
        match Step::<R, S>(PhantomData).prepare::<NoCheckpointing>([guard]).compute_bound().stateful() {
            OpsKind::Tracked(preparation) => preparation.finish(Evaluation { leaf: self.clone(), shape, x, y }, output),
            OpsKind::UnTracked(preparation) => preparation.finish(output),
        }
    }

    /// The output as a tensor, and the numbers of input and output.
    fn value(&self, x: FlexTensor) -> (FlexTensor, Vec<S>, Vec<S>) {
        let (device, x, mut y) = (x.device(), numbers::<S>(x), Vec::new());
        or_panic(|| self.rule.value(&x, &mut y));
        let data = TensorData::new(y.clone(), Shape::from([y.len()]));
        (Flex::float_from_data(data, &device), x, y)
    }
}

/// The numbers of a tensor, row by row.
fn numbers<S: Element>(tensor: FlexTensor) -> Vec<S> {
    let data = read_sync(Flex::float_into_data(tensor)).expect("the CPU can always be read");
    data.try_into_vec()
        .unwrap_or_else(|error| panic!("a leaf of {} got a tensor of another number type: {error}", S::dtype().name()))
}

/// Runs code of a rule, and panics with its error, which `burn` has no other way to report.
fn or_panic(run: impl FnOnce()) {
    let watched = fault::watch(|| {
        run();
        Ok(())
    });
    if let Err(error) = watched {
        panic!("{error}");
    }
}

/// What a sweep needs of an evaluation.
struct Evaluation<R, S> {
    leaf: Leaf<R, S>,
    shape: Shape,
    x: Vec<S>,
    y: Vec<S>,
}

impl<R, S> Debug for Evaluation<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Evaluation")
    }
}

impl<R, S: Clone> Clone for Evaluation<R, S> {
    fn clone(&self) -> Self {
        let Evaluation { leaf, shape, x, y } = self;
        Evaluation { leaf: leaf.clone(), shape: shape.clone(), x: x.clone(), y: y.clone() }
    }
}

/// The backward step of a leaf.
struct Step<R, S>(PhantomData<fn(R) -> S>);

impl<R, S> Debug for Step<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leaf")
    }
}

impl<R: CustomRule<S>, S: Base + Element> Backward<Flex, 1> for Step<R, S> {
    type State = Evaluation<R, S>;

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let Evaluation { leaf, shape, x, y } = ops.state;
        unary::<Flex, _>(ops.parents, ops.node, gradients, |gradient| {
            let (device, dy) = (gradient.device(), numbers::<S>(gradient));
            let mut dx = vec![S::ZERO; x.len()];
            or_panic(|| pullback_by_rule(&*leaf.rule, &x, &y, &dy, &mut dx));
            Flex::float_from_data(TensorData::new(dx, shape), &device)
        });
    }
}
