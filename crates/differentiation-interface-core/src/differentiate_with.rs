//! `DifferentiateWith`: differentiates an inner function by a backend of its own, inside a computation that any backend
//! differentiates.
//!
//! It is a custom rule whose pushforward and pullback are those of the inner backend. An outer backend that needs values only
//! (finite differences) just evaluates the inner function.

use crate::backend::{Backend, Lanes, PullbackRoute, PushforwardRoute, Rows, Seeds};
use crate::custom::{CustomRule, Halves, plainly};
use crate::error::{Error, ErrorKind};
use crate::evaluate::{Bound, Evaluate, Flat, Output, Storage, handed};
use crate::fault;
use crate::function::{Const, Function, FunctionWith};
use crate::point::{FlatShape, Number, Slice};
use crate::scalar::{Core, Num, Scalar};
use num_traits::Float;
use std::marker::PhantomData;
use std::sync::Arc;

/// A function that `backend` differentiates, also inside a computation that another backend differentiates.
///
/// Call it inside the outer function: `g.call(x)`, or `g.call_with(x, (&k,))` with constants. The inner function must run on plain
/// numbers and on the numbers of `backend`: an object made by `#[differentiable]`, a struct that implements [`Function`], or, for
/// finite differences, any closure over `f64`.
///
/// The argument is a slice or a number of `f64`, the output a number, an array or a vector. A slice may be followed by up to four constants, which
/// are cloned for each call. For a container or several arguments, flatten them: [`to_flat`](crate::container::to_flat), and
/// [`from_flat`](crate::container::from_flat) in the inner function.
///
/// [`new`](DifferentiateWith::new) provides first derivatives; a second derivative is then an error of the call.
/// [`twice`](DifferentiateWith::twice) provides second derivatives too, by nesting `backend` in itself.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// // An opaque function, differentiated by finite differences inside a model differentiated in reverse mode.
/// let opaque = DifferentiateWith::new(|x: &[f64]| x[0] * x[0] + x[1] * x[1], AutoFiniteDiff::central());
/// let model = |x: &[_]| 7.0 * opaque.call(x);
/// let x = [3.0_f64, 5.0];
/// let grad = gradient(&model, &AutoReverseDiff::default(), &x)?;
/// assert!((grad[0] - 42.0).abs() < 1e-7 && (grad[1] - 70.0).abs() < 1e-7);
/// # Ok::<(), Error>(())
/// ```
pub struct DifferentiateWith<F, B, D = Once> {
    function: Arc<F>,
    backend: B,
    depth: PhantomData<D>,
}

impl<F, B: Clone, D> Clone for DifferentiateWith<F, B, D> {
    fn clone(&self) -> Self {
        DifferentiateWith { function: Arc::clone(&self.function), backend: self.backend.clone(), depth: PhantomData }
    }
}

impl<F, B> DifferentiateWith<F, B, Once> {
    /// Differentiates `f` by `backend`, once.
    pub fn new(f: F, backend: B) -> Self {
        DifferentiateWith { function: Arc::new(f), backend, depth: PhantomData }
    }
}

impl<F, B> DifferentiateWith<F, B, Twice> {
    /// Differentiates `f` by `backend`, and its derivatives by `backend` again.
    pub fn twice(f: F, backend: B) -> Self {
        DifferentiateWith { function: Arc::new(f), backend, depth: PhantomData }
    }
}

/// First derivatives only.
#[derive(Clone, Copy, Debug)]
pub struct Once;

/// First and second derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Twice;

/// How many times `B` can differentiate an inner function of shape `X`.
pub trait Depth<X, F, B>: Send + Sync + 'static {
    /// The pushforward for arguments that carry derivatives themselves.
    fn nested_pushforward<S: Scalar<Base = f64>>(function: &Arc<F>, backend: &B, x: &[S], dx: &[S], dy: &mut [S]);
    /// The pullback for arguments that carry derivatives themselves.
    fn nested_pullback<S: Scalar<Base = f64>>(function: &Arc<F>, backend: &B, x: &[S], dy: &[S], dx: &mut [S]);
}

impl<X, F, B> Depth<X, F, B> for Once {
    fn nested_pushforward<S: Scalar<Base = f64>>(_: &Arc<F>, _: &B, _: &[S], _: &[S], dy: &mut [S]) {
        too_deep(dy);
    }
    fn nested_pullback<S: Scalar<Base = f64>>(_: &Arc<F>, _: &B, _: &[S], _: &[S], dx: &mut [S]) {
        too_deep(dx);
    }
}

fn too_deep<S: Scalar>(out: &mut [S]) {
    fault::report(ErrorKind::RuleOrder { rule: "DifferentiateWith" });
    out.fill(S::default());
}

impl<X, F, B> Depth<X, F, B> for Twice
where
    X: FlatShape<Scalar = f64> + Send + Sync,
    B: Backend,
    F: Evaluate<X, (), Once1<B>> + Evaluate<X, (), Once2<B>> + Send + Sync + 'static,
{
    fn nested_pushforward<S: Scalar<Base = f64>>(function: &Arc<F>, backend: &B, x: &[S], dx: &[S], dy: &mut [S]) {
        derivative_rule::<X, F, B, S>(function, backend, Direction::Push, [x, dx], dy);
    }
    fn nested_pullback<S: Scalar<Base = f64>>(function: &Arc<F>, backend: &B, x: &[S], dy: &[S], dx: &mut [S]) {
        derivative_rule::<X, F, B, S>(function, backend, Direction::Pull, [x, dy], dx);
    }
}

/// The numbers of `B` over plain numbers.
type Once1<B> = <B as Backend>::Num<f64, <B as Backend>::Lanes>;
/// The numbers of `B` over its own numbers.
type Once2<B> = <B as Backend>::Num<Once1<B>, <B as Backend>::Lanes>;

/// Reports the error of an inner differentiation as a fault of the outer call.
fn or_raise<S: Scalar>(result: Result<(), Error>, out: &mut [S]) {
    if let Err(error) = result {
        fault::report_error(error);
        // On a thread without an operator, plain numbers can only show the fault as NaN.
        out.fill(S::constant(S::Base::nan()));
    }
}

/// The kind of product with the Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    /// J times a tangent.
    Push,
    /// Jᵀ times a cotangent.
    Pull,
}

/// Fills `out` with the product of the Jacobian of `f` at `x` and `seed`, by `backend` over the scalar `S`.
fn product<B: Backend, S: Scalar, F: Flat<B::Num<S, B::Lanes>>>(
    backend: &B,
    f: &mut F,
    direction: Direction,
    x: &[S],
    seed: &[S],
    out: &mut [S],
) -> Result<(), Error> {
    let seeds = [seed];
    let (seeds, mut f) = (Seeds::Vectors(&seeds), handed(f));
    let f = &mut f;
    match direction {
        Direction::Push => {
            // A single tangent, but the number type has all lanes of the backend.
            let mut state = B::Pushforward::state::<S, B::Lanes>(backend, x.len(), B::Lanes::N)?;
            B::Pushforward::pushforward(backend, &mut state, f, x, seeds, None, Rows::fixed(out, 1))
        }
        Direction::Pull => {
            let mut state = B::Pullback::state::<S, B::Lanes>(backend, x.len())?;
            B::Pullback::record(backend, &mut state, f, x, &mut Vec::new())?;
            B::Pullback::sweep(backend, &mut state, f, seeds, Rows::fixed(out, x.len()))
        }
    }
}

/// The inner function as a rule: its derivatives are those of its backend.
struct InnerRule<X, F, B, D> {
    function: Arc<F>,
    backend: B,
    marker: PhantomData<(fn() -> X, D)>,
}

impl<X, F, B, D> CustomRule for InnerRule<X, F, B, D>
where
    X: FlatShape<Scalar = f64>,
    B: Backend,
    D: Depth<X, F, B>,
    F: Evaluate<X, (), f64> + Evaluate<X, (), Once1<B>> + Send + Sync + 'static,
{
    const NAME: &'static str = "DifferentiateWith";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        let mut held = X::held::<f64>();
        let x = X::show(x, &mut held, 0..x.len());
        <F as Evaluate<X, (), f64>>::evaluate(&self.function, x, &(), &mut (), &mut Default::default(), y);
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        if [x, dx].iter().any(|v| !v.iter().all(S::is_constant)) {
            return D::nested_pushforward(&self.function, &self.backend, x, dx, dy);
        }
        plainly("DifferentiateWith", [x, dx], dy, |[x, dx], dy| self.plain(Direction::Push, x, dx, dy));
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        if [x, dy].iter().any(|v| !v.iter().all(S::is_constant)) {
            return D::nested_pullback(&self.function, &self.backend, x, dy, dx);
        }
        plainly("DifferentiateWith", [x, dy], dx, |[x, dy], dx| self.plain(Direction::Pull, x, dy, dx));
    }
}

impl<X, F, B, D> InnerRule<X, F, B, D>
where
    X: FlatShape<Scalar = f64>,
    B: Backend,
    F: Evaluate<X, (), Once1<B>>,
{
    fn plain(&self, direction: Direction, x: &[f64], seed: &[f64], out: &mut [f64]) {
        let (mut storage, mut kept) = (Storage::<X, (), Once1<B>>::flat(), Default::default());
        let mut f = Bound::flat(&*self.function, &mut storage, &mut kept);
        let result = product(&self.backend, &mut f, direction, x, seed, out);
        or_raise(result, out);
    }
}

/// A product of the inner Jacobian as a function of the point followed by the seed. This is the rule for second derivatives.
struct DerivativeRule<X, F, B> {
    function: Arc<F>,
    backend: B,
    direction: Direction,
    inputs: usize,
    outputs: usize,
    marker: PhantomData<fn() -> X>,
}

/// Applies [`DerivativeRule`] to numbers that carry derivatives.
fn derivative_rule<X, F, B, S>(
    function: &Arc<F>,
    backend: &B,
    direction: Direction,
    [x, seed]: [&[S]; 2],
    out: &mut [S],
) where
    X: FlatShape<Scalar = f64> + Send + Sync,
    B: Backend,
    F: Evaluate<X, (), Once1<B>> + Evaluate<X, (), Once2<B>> + Send + Sync + 'static,
    S: Scalar<Base = f64>,
{
    let rule = Arc::new(DerivativeRule::<X, F, B> {
        function: Arc::clone(function),
        backend: if backend.is_exact() { backend.clone() } else { backend.for_nested_differences() },
        direction,
        inputs: x.len(),
        outputs: out.len(),
        marker: PhantomData,
    });
    let mut y = Vec::new();
    S::custom(&rule, &[x, seed].concat(), &mut y);
    out.copy_from_slice(&y);
}

/// The same product over the numbers of an outer differentiation by `B`.
struct ProductOf<'a, X, F, B> {
    rule: &'a DerivativeRule<X, F, B>,
    error: Option<Error>,
}

impl<X, F, B> Flat<Once1<B>> for ProductOf<'_, X, F, B>
where
    X: FlatShape<Scalar = f64>,
    B: Backend,
    F: Evaluate<X, (), Once2<B>>,
{
    fn call(&mut self, arguments: &[Once1<B>], y: &mut Vec<Once1<B>>) {
        y.clear();
        y.resize(self.rule.outputs, Once1::<B>::default());
        let (x, seed) = arguments.split_at(self.rule.inputs);
        let (mut storage, mut kept) = (Storage::<X, (), Once2<B>>::flat(), Default::default());
        let mut f = Bound::flat(&*self.rule.function, &mut storage, &mut kept);
        if let Err(error) = product(&self.rule.backend, &mut f, self.rule.direction, x, seed, y) {
            self.error = Some(error);
        }
    }
    // It is bound without contexts.
    fn has_work_memory(&self) -> bool {
        false
    }
}

impl<X, F, B> DerivativeRule<X, F, B>
where
    X: FlatShape<Scalar = f64>,
    B: Backend,
    F: Evaluate<X, (), Once2<B>>,
{
    fn plain(&self, direction: Direction, arguments: &[f64], seed: &[f64], out: &mut [f64]) {
        let mut f = ProductOf { rule: self, error: None };
        let result = product(&self.backend, &mut f, direction, arguments, seed, out);
        or_raise(f.error.map_or(result, Err), out);
    }
}

impl<X, F, B> CustomRule for DerivativeRule<X, F, B>
where
    X: FlatShape<Scalar = f64> + Send + Sync,
    B: Backend,
    F: Evaluate<X, (), Once1<B>> + Evaluate<X, (), Once2<B>> + Send + Sync + 'static,
{
    const NAME: &'static str = "DifferentiateWith";
    const GIVEN: Halves = Halves::Both;

    fn value(&self, arguments: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.resize(self.outputs, 0.0);
        let (x, seed) = arguments.split_at(self.inputs);
        let (mut storage, mut kept) = (Storage::<X, (), Once1<B>>::flat(), Default::default());
        let mut f = Bound::flat(&*self.function, &mut storage, &mut kept);
        let result = product(&self.backend, &mut f, self.direction, x, seed, y);
        or_raise(result, y);
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dx: &[S], dy: &mut [S]) {
        plainly("DifferentiateWith", [x, dx], dy, |[x, dx], dy| self.plain(Direction::Push, x, dx, dy));
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
        plainly("DifferentiateWith", [x, dy], dx, |[x, dy], dx| self.plain(Direction::Pull, x, dy, dx));
    }
}

impl<F, B: Clone, D> DifferentiateWith<F, B, D> {
    /// Evaluates at numbers `T`, which may carry derivatives.
    fn evaluate<X, T>(&self, x: &[T]) -> <<F as Evaluate<X, (), f64>>::Output as Output<f64>>::With<T>
    where
        X: FlatShape<Scalar = f64>,
        T: Scalar<Base = f64>,
        B: Backend,
        D: Depth<X, F, B>,
        F: Evaluate<X, (), f64, Output: Output<f64, Kept = ()>> + Evaluate<X, (), Once1<B>> + Send + Sync + 'static,
    {
        let rule = Arc::new(InnerRule::<X, F, B, D> {
            function: Arc::clone(&self.function),
            backend: self.backend.clone(),
            marker: PhantomData,
        });
        let mut y = Vec::new();
        T::custom(&rule, x, &mut y);
        <<F as Evaluate<X, (), f64>>::Output as Output<f64>>::build(&y, &())
    }
}

impl<F, B, D, T> Function<[T]> for DifferentiateWith<F, B, D>
where
    T: Scalar<Base = f64>,
    B: Backend,
    D: Depth<Slice<f64>, F, B>,
    F: Evaluate<Slice<f64>, (), f64, Output: Output<f64, Kept = ()>>
        + Evaluate<Slice<f64>, (), Once1<B>>
        + Send
        + Sync
        + 'static,
{
    type Output = <<F as Evaluate<Slice<f64>, (), f64>>::Output as Output<f64>>::With<T>;
    fn call(&self, x: &[T]) -> Self::Output {
        self.evaluate::<Slice<f64>, T>(x)
    }
}

/// The number shape, for each number type.
macro_rules! number_function {
    ($([$($generics:tt)*] $number:ty;)*) => {$(
        impl<F, B, D, $($generics)*> Function<$number> for DifferentiateWith<F, B, D>
        where
            B: Backend,
            D: Depth<Number<f64>, F, B>,
            F: Evaluate<Number<f64>, (), f64, Output: Output<f64, Kept = ()>> + Evaluate<Number<f64>, (), Once1<B>> + Send + Sync + 'static,
        {
            type Output = <<F as Evaluate<Number<f64>, (), f64>>::Output as Output<f64>>::With<$number>;
            fn call(&self, x: &$number) -> Self::Output {
                self.evaluate::<Number<f64>, $number>(std::slice::from_ref(x))
            }
        }
    )*};
}
number_function! {
    [C: Core<Base = f64>] Num<C>;
    [] f64;
}

/// A function with fixed constants, owned by the rule of one call.
pub struct Fixed<F, K> {
    function: Arc<F>,
    constants: K,
}

/// Constants after the point, for one number of them.
macro_rules! with_constants {
    ($($K:ident $k:ident),*) => {
        impl<X: ?Sized, F, $($K: 'static),*> Function<X> for Fixed<F, ($($K,)*)>
        where
            F: FunctionWith<X, ($(Const<$K>,)*)>,
        {
            type Output = F::Output;
            fn call(&self, x: &X) -> F::Output {
                let ($($k,)*) = &self.constants;
                self.function.call_with(x, ($($k,)*))
            }
        }

        impl<F, B, D, T, $($K: Clone + Send + Sync + 'static),*> FunctionWith<[T], ($(Const<$K>,)*)> for DifferentiateWith<F, B, D>
        where
            T: Scalar<Base = f64>,
            B: Backend,
            D: Depth<Slice<f64>, Fixed<F, ($($K,)*)>, B>,
            F: Send + Sync + 'static,
            Fixed<F, ($($K,)*)>: Evaluate<Slice<f64>, (), f64, Output: Output<f64, Kept = ()>> + Evaluate<Slice<f64>, (), Once1<B>>,
        {
            type Output = <<Fixed<F, ($($K,)*)> as Evaluate<Slice<f64>, (), f64>>::Output as Output<f64>>::With<T>;
            fn call_with(&self, x: &[T], ($($k,)*): ($(&$K,)*)) -> Self::Output {
                let fixed = Fixed { function: Arc::clone(&self.function), constants: ($($k.clone(),)*) };
                let inner = DifferentiateWith::<_, B, D> {
                    function: Arc::new(fixed),
                    backend: self.backend.clone(),
                    depth: PhantomData,
                };
                inner.evaluate::<Slice<f64>, T>(x)
            }
        }
    };
}
with_constants! { K1 k1 }
with_constants! { K1 k1, K2 k2 }
with_constants! { K1 k1, K2 k2, K3 k3 }
with_constants! { K1 k1, K2 k2, K3 k3, K4 k4 }
