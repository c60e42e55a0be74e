//! Second derivative of a function of one number: the outer derivative of the inner derivative.
//!
//! Called by users. Reaches two backends through their `type Derivative` routes, with one lane each.

use super::{BorrowedOf, NumOf, ValueOf};
use crate::backend::{Backend, Lane, MatrixRoute, Rows, SecondOrderBackend};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat, Output};
use crate::fault;
use crate::point::{NumberShape, Point, ScalarOf, Shape};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The number type of the outer derivative.
type OuterNum<B, X> = NumOf<<B as SecondOrderBackend>::Outer, X, Lane<1>>;
/// The number type of `second_derivative`.
pub(super) type Twice<B, X> = <<B as SecondOrderBackend>::Inner as Backend>::Num<OuterNum<B, X>, Lane<1>>;
/// The result in the shape of the output.
type Like<F, P, B> = ValueOf<F, <P as Point>::Shape, <P as Point>::Contexts, Twice<B, <P as Point>::Shape>>;

/// Returns the second derivative of `f` at the number `x`, in the shape of the output.
///
/// The backend is plain, and then stands for itself twice, or a [`SecondOrder`](crate::backend::SecondOrder).
///
/// # Errors
/// None of this operator's own; backends may refuse.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: T) -> T {
///     x * x * x
/// }
/// assert_eq!(second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn second_derivative<F, B, P>(f: &F, backend: &B, x: P) -> Result<Like<F, P, B>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, Twice<B, P::Shape>>,
{
    PreparedSecondDerivative::new(f, backend, &x)?.second_derivative(x)
}

/// Writes the second derivative of `f` at the number `x` into `der2`, which is as long as the output.
///
/// # Errors
/// [`ErrorKind::BufferLength`] if `der2` has another length.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let mut der2 = [0.0; 2];
/// second_derivative_into(&powers, &mut der2, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(der2, [2.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn second_derivative_into<F, B, P>(f: &F, der2: &mut [ScalarOf<P>], backend: &B, x: P) -> Result<(), Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, Twice<B, P::Shape>>,
{
    PreparedSecondDerivative::new(f, backend, &x)?.second_derivative_into(der2, x)
}

/// Returns `f(x)`, the derivative and the second derivative of `f` at the number `x`, all from the same evaluation.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let all = value_derivative_and_second_derivative(&cubic, &AutoForwardDiff::default(), 2.0)?;
/// assert_eq!(all, (8.0, 12.0, 12.0));
/// # Ok::<(), Error>(())
/// ```
pub fn value_derivative_and_second_derivative<F, B, P>(
    f: &F,
    backend: &B,
    x: P,
) -> Result<(Like<F, P, B>, Like<F, P, B>, Like<F, P, B>), Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, Twice<B, P::Shape>>,
{
    PreparedSecondDerivative::new(f, backend, &x)?.value_derivative_and_second_derivative(x)
}

/// Returns `f(x)` and writes the derivative and the second derivative of `f` at the number `x` into `der` and `der2`.
///
/// # Errors
/// [`ErrorKind::BufferLength`] if a buffer is not as long as the output.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn powers<T: Real>(t: T) -> [T; 2] { [t * t, t * t * t] }
/// let (mut der, mut der2) = ([0.0; 2], [0.0; 2]);
/// let backend = AutoForwardDiff::default();
/// let y = value_derivative_and_second_derivative_into(&powers, &mut der, &mut der2, &backend, 2.0)?;
/// assert_eq!((y, der, der2), ([4.0, 8.0], [4.0, 12.0], [2.0, 12.0]));
/// # Ok::<(), Error>(())
/// ```
pub fn value_derivative_and_second_derivative_into<F, B, P>(
    f: &F,
    der: &mut [ScalarOf<P>],
    der2: &mut [ScalarOf<P>],
    backend: &B,
    x: P,
) -> Result<Like<F, P, B>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: NumberShape>,
    F: Evaluate<P::Shape, P::Contexts, Twice<B, P::Shape>>,
{
    let mut call = PreparedSecondDerivative::new(f, backend, &x)?;
    call.value_derivative_and_second_derivative_into(der, der2, x)?;
    Ok(PreparedSecondDerivative::<&F, B, P::Shape, P::Contexts>::build(&call.y))
}

/// Pays the one-time costs of a second derivative; see [`prepare_gradient`](super::prepare_gradient) for what it is good for.
///
/// # Errors
/// Those of [`second_derivative`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: T) -> T { x * x * x }
/// let mut prepared = prepare_second_derivative(&cubic, &AutoForwardDiff::default(), 0.0)?;
/// assert_eq!(prepared.second_derivative(2.0)?, 12.0);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_second_derivative<H, B, P>(
    f: H,
    backend: &B,
    x: P,
) -> Result<PreparedSecondDerivative<H, B, P::Shape, P::Contexts>, Error>
where
    B: SecondOrderBackend,
    P: Point<Shape: NumberShape>,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<P::Shape, P::Contexts, Twice<B, P::Shape>>,
{
    let mut prepared = PreparedSecondDerivative::new(f, backend, &x)?;
    prepared.run(&x, true, Target::Own)?;
    prepared.outputs = Some(prepared.y.len());
    Ok(prepared)
}

/// A prepared second derivative, made by [`prepare_second_derivative`]. One thread at a time; clone it for another thread.
pub struct PreparedSecondDerivative<H, B: SecondOrderBackend, X: Shape, C: Contexts = ()> {
    function: H,
    pair: (B::Outer, B::Inner),
    outer: <<B::Outer as Backend>::Derivative as MatrixRoute<B::Outer>>::State<X::Scalar, Lane<1>>,
    inner: <<B::Inner as Backend>::Derivative as MatrixRoute<B::Inner>>::State<OuterNum<B, X>, Lane<1>>,
    storage: C::Storage<Twice<B, X>>,
    /// Number of outputs, once prepared.
    outputs: Option<usize>,
    inner_value: Vec<OuterNum<B, X>>,
    /// Outputs of an evaluation whose value alone is wanted.
    scratch: Vec<OuterNum<B, X>>,
    y: Vec<X::Scalar>,
    der: Vec<X::Scalar>,
    der2: Vec<X::Scalar>,
}

impl<H: Clone, B: SecondOrderBackend, X: Shape, C: Contexts> Clone for PreparedSecondDerivative<H, B, X, C> {
    fn clone(&self) -> Self {
        PreparedSecondDerivative {
            function: self.function.clone(),
            pair: self.pair.clone(),
            outer: self.outer.clone(),
            inner: self.inner.clone(),
            storage: self.storage.clone(),
            outputs: self.outputs,
            inner_value: self.inner_value.clone(),
            scratch: self.scratch.clone(),
            y: self.y.clone(),
            der: self.der.clone(),
            der2: self.der2.clone(),
        }
    }
}

/// The derivative by the inner backend as a flat function of numbers of the outer one.
struct DerivativeOf<'a, F, I: Backend, N: Scalar, S> {
    f: &'a mut F,
    inner: &'a I,
    state: &'a mut <I::Derivative as MatrixRoute<I>>::State<N, Lane<1>>,
    inner_value: &'a mut Vec<N>,
    /// Where the value of the first evaluation goes, if it is wanted, and how it is lowered.
    value: Option<(&'a mut Vec<S>, fn(&N) -> S)>,
    error: Option<Error>,
}

impl<F: Flat<I::Num<N, Lane<1>>>, I: Backend, N: Scalar, S> Flat<N> for DerivativeOf<'_, F, I, N, S> {
    fn call(&mut self, x: &[N], y: &mut Vec<N>) {
        if self.error.is_some() {
            return;
        }
        let value = self.value.is_some().then_some(&mut *self.inner_value);
        match I::Derivative::matrix(self.inner, self.state, self.f, x, value, Rows::growing(y, 1)) {
            Ok(()) => {
                if let Some((value, lower)) = self.value.take() {
                    value.clear();
                    value.extend(self.inner_value.iter().map(lower));
                }
            }
            Err(error) => self.error = Some(error),
        }
    }
    fn is_pure(&self) -> bool {
        self.f.is_pure()
    }
    fn parameters(&self, values: &mut Vec<f64>) {
        self.f.parameters(values);
    }
    fn lengths(&self, lengths: &mut Vec<usize>) {
        self.f.lengths(lengths);
    }
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.f.has_failed()
    }
}

/// Where the second derivative goes.
enum Target<'a, S> {
    /// Into the preparation.
    Own,
    /// Into a buffer of the caller.
    Buffer(&'a mut [S]),
}

/// Names the operator in an error.
fn named<B: SecondOrderBackend>(error: impl Into<Error>) -> Error {
    error.into().during("second_derivative", B::NAME)
}

impl<H, B: SecondOrderBackend, X: Shape, C: Contexts> PreparedSecondDerivative<H, B, X, C> {
    fn new<P: Point<Shape = X, Contexts = C>>(f: H, backend: &B, x: &P) -> Result<Self, Error> {
        let pair = backend.pair();
        Ok(PreparedSecondDerivative {
            function: f,
            outer: <B::Outer as Backend>::Derivative::state(&pair.0, 1).map_err(named::<B>)?,
            inner: <B::Inner as Backend>::Derivative::state(&pair.1, 1).map_err(named::<B>)?,
            pair,
            storage: C::allocate(x.contexts()),
            outputs: None,
            inner_value: Vec::new(),
            scratch: Vec::new(),
            y: Vec::new(),
            der: Vec::new(),
            der2: Vec::new(),
        })
    }
}

impl<H, B, X, C> PreparedSecondDerivative<H, B, X, C>
where
    B: SecondOrderBackend,
    X: Shape,
    C: Contexts,
    H: Deref<Target: Sized>,
    H::Target: Evaluate<X, C, Twice<B, X>>,
{
    /// Returns the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    pub fn second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<ValueOf<H::Target, X, C, Twice<B, X>>, Error> {
        self.run(&x, false, Target::Own)?;
        Ok(Self::build(&self.der2))
    }

    /// Writes the second derivative at `x` into `der2`.
    ///
    /// # Errors
    /// Those of [`second_derivative_into`].
    pub fn second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<(), Error> {
        self.run(&x, false, Target::Buffer(der2))
    }

    /// Returns the value, the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// Those of [`second_derivative`].
    pub fn value_derivative_and_second_derivative<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: P,
    ) -> Result<
        (
            ValueOf<H::Target, X, C, Twice<B, X>>,
            ValueOf<H::Target, X, C, Twice<B, X>>,
            ValueOf<H::Target, X, C, Twice<B, X>>,
        ),
        Error,
    > {
        self.run(&x, true, Target::Own)?;
        Ok((Self::build(&self.y), Self::build(&self.der), Self::build(&self.der2)))
    }

    /// Returns the value, borrowed from the preparation, and writes the derivative and the second derivative at `x`.
    ///
    /// # Errors
    /// [`ErrorKind::BufferLength`] if a buffer is not as long as the output.
    pub fn value_derivative_and_second_derivative_into<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        der: &mut [X::Scalar],
        der2: &mut [X::Scalar],
        x: P,
    ) -> Result<BorrowedOf<'_, H::Target, X, C, Twice<B, X>>, Error> {
        self.run(&x, true, Target::Own)?;
        // Both are checked before one is written.
        for found in [der.len(), der2.len()] {
            let expected = self.der2.len();
            if found != expected {
                return Err(named::<B>(ErrorKind::BufferLength { expected, found }));
            }
        }
        der2.copy_from_slice(&self.der2);
        der.copy_from_slice(&self.der);
        Ok(<H::Target as Evaluate<X, C, Twice<B, X>>>::Output::borrow(&self.y))
    }

    fn run<P: Point<Shape = X, Contexts = C>>(
        &mut self,
        x: &P,
        with_value: bool,
        target: Target<'_, X::Scalar>,
    ) -> Result<(), Error> {
        let (outer, inner) = &self.pair;
        let mut f = Bound::<_, X, C, _>::new(&*self.function, x.contexts(), &mut self.storage);
        let lower: fn(&OuterNum<B, X>) -> X::Scalar = <B::Outer as Backend>::lower::<X::Scalar, Lane<1>>;
        let mut derivative = DerivativeOf {
            f: &mut f,
            inner,
            state: &mut self.inner,
            inner_value: &mut self.inner_value,
            value: with_value.then_some((&mut self.y, lower)),
            error: None,
        };
        let der = with_value.then_some(&mut self.der);
        let rows = match target {
            Target::Own => Rows::growing(&mut self.der2, 1),
            Target::Buffer(buffer) => Rows::fixed(buffer, 1),
        }
        .expecting(self.outputs);
        let result = fault::watch(|| {
            <B::Outer as Backend>::Derivative::matrix(
                outer,
                &mut self.outer,
                &mut derivative,
                x.coordinates(),
                der,
                rows,
            )
        });
        // The value is still wanted if the outer backend, which had a recording, did not evaluate the function.
        if result.is_ok() && derivative.error.is_none() && derivative.value.is_some() {
            let point = [<B::Outer as Backend>::raise::<X::Scalar, Lane<1>>(x.coordinates()[0])];
            derivative.call(&point, &mut self.scratch);
        }
        let result = match derivative.error {
            Some(error) => Err(named::<B>(error)),
            None => result.map_err(named::<B>),
        };
        if with_value && self.scratch.capacity() < self.y.len() {
            self.scratch.reserve_exact(self.y.len());
        }
        result
    }

    fn build(flat: &[X::Scalar]) -> ValueOf<H::Target, X, C, Twice<B, X>> {
        <H::Target as Evaluate<X, C, Twice<B, X>>>::Output::build(flat)
    }
}
