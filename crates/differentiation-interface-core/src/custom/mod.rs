//! Custom rules: functions with their own derivative, for use in any computation.
//!
//! User code calls them inside differentiated functions; engines handle them in [`crate::Scalar::custom`]. For functions of one or
//! two numbers, implement
//! [`Unary`](crate::rules::Unary) or [`Binary`](crate::rules::Binary) and write `x.apply(MyRule)`.

mod engines;

use crate::arithmetic::missing;
pub use crate::arithmetic::{CustomRule, Halves};
use crate::error::ErrorKind;
use crate::fault;
use crate::function::Function;
use crate::scalar::{Base, Scalar};
pub use engines::{KeptPullback, PullbackRule, PushforwardRule, ValueRule, pullback_by_rule, pushforward_by_rule};
use std::fmt::{self, Debug};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// An [identity](CustomRule::identity) for a rule with these data.
pub fn identity_of(data: &impl Hash) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    Some(hasher.finish())
}

/// A [`CustomRule`] as a function to call from code over any scalar. Cloning shares the rule.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// struct Root;
/// impl CustomRule for Root {
///     const NAME: &'static str = "root";
///     const GIVEN: Halves = Halves::Pushforward;
///     fn value(&self, x: &[f64], y: &mut Vec<f64>) {
///         y.clear();
///         y.push(x[0].sqrt());
///     }
///     fn pushforward<S: Scalar<Base = f64>>(&self, _x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
///         dy[0] = dx[0] / (y[0] + y[0]);
///     }
/// }
///
/// let root = Custom::new(Root);
/// assert_eq!((root.number(&[9.0]), root.call(&[4.0])), (3.0, vec![2.0]));
/// let f = |x: &[_; 2]| x[1] * root.number(&x[..1]);
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), [4.0, 8.0])?, [2.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct Custom<R> {
    rule: Arc<R>,
}

impl<R> Clone for Custom<R> {
    fn clone(&self) -> Self {
        Custom { rule: Arc::clone(&self.rule) }
    }
}

impl<R> Debug for Custom<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}

impl<R> Custom<R> {
    /// Makes a rule callable.
    pub fn new(rule: R) -> Self {
        Custom { rule: Arc::new(rule) }
    }

    /// The rule.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Returns the outputs at `x`.
    pub fn call<T: Scalar>(&self, x: &[T]) -> Vec<T>
    where
        R: CustomRule<T::Base>,
    {
        let mut y = Vec::new();
        T::custom(&self.rule, x, &mut y);
        y
    }

    /// Returns the output at `x` of a rule with one output.
    ///
    /// # Panics
    /// If the function has a different number of outputs.
    pub fn number<T: Scalar>(&self, x: &[T]) -> T
    where
        R: CustomRule<T::Base>,
    {
        let y = self.call(x);
        assert_eq!(y.len(), 1, "`number` calls a rule with one output, `{}` has {}", R::NAME, y.len());
        y[0]
    }
}

impl<T: Scalar, R: CustomRule<T::Base>> Function<[T]> for Custom<R> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        Custom::call(self, x)
    }
    fn call_into(&self, x: &[T], y: &mut Vec<T>) {
        T::custom(&self.rule, x, y);
    }
}

/// A rule made of plain functions: a call into a foreign library, a table, a solver.
///
/// Every backend differentiates it once; differentiating it twice is an error.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// // A foreign function norm² with its gradient 2x.
/// let foreign = PlainRule::new("norm2", |x: &[f64], y: &mut Vec<f64>| {
///     y.clear();
///     y.push(x.iter().map(|v| v * v).sum());
/// })
/// .with_pullback(|x: &[f64], _y: &[f64], dy: &[f64], dx: &mut [f64]| {
///     for (dx, x) in dx.iter_mut().zip(x) {
///         *dx = 2.0 * x * dy[0];
///     }
/// });
/// let norm2 = Custom::new(foreign);
/// let f = |x: &[_]| norm2.number(x) * x[0];
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[1.0, 2.0])?, [7.0, 4.0]);
/// assert!(hessian(&|x: &[_]| norm2.number(x), &AutoForwardDiff::default(), &[1.0, 2.0]).is_err());
/// # Ok::<(), Error>(())
/// ```
pub struct PlainRule<V, F, G> {
    name: &'static str,
    value: V,
    pushforward: F,
    pullback: G,
}

/// Stands for a derivative that a [`PlainRule`] does not implement.
#[derive(Clone, Copy, Debug)]
pub struct NotGiven;

impl<V: Fn(&[f64], &mut Vec<f64>)> PlainRule<V, NotGiven, NotGiven> {
    /// Makes a rule without derivatives. It needs at least one, see the next two methods.
    pub fn new(name: &'static str, value: V) -> Self {
        PlainRule { name, value, pushforward: NotGiven, pullback: NotGiven }
    }
}

impl<V, F, G> PlainRule<V, F, G> {
    /// Adds the pushforward `(x, y, dx, dy)`, which fills `dy`.
    pub fn with_pushforward<P: Fn(&[f64], &[f64], &[f64], &mut [f64])>(self, pushforward: P) -> PlainRule<V, P, G> {
        PlainRule { name: self.name, value: self.value, pushforward, pullback: self.pullback }
    }

    /// Adds the pullback `(x, y, dy, dx)`, which fills `dx`.
    pub fn with_pullback<P: Fn(&[f64], &[f64], &[f64], &mut [f64])>(self, pullback: P) -> PlainRule<V, F, P> {
        PlainRule { name: self.name, value: self.value, pushforward: self.pushforward, pullback }
    }
}

/// One derivative of a [`PlainRule`]: `(x, y, seed, out)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a derivative of a plain rule",
    note = "write a closure `|x: &[f64], y: &[f64], seed: &[f64], out: &mut [f64]|`"
)]
pub trait PlainHalf: Send + Sync + 'static {
    /// Whether the rule has this derivative.
    const GIVEN: bool;
    /// Fills `out`.
    fn fill(&self, x: &[f64], y: &[f64], seed: &[f64], out: &mut [f64]);
}

impl PlainHalf for NotGiven {
    const GIVEN: bool = false;
    fn fill(&self, _: &[f64], _: &[f64], _: &[f64], out: &mut [f64]) {
        out.fill(f64::NAN);
    }
}

impl<F: Fn(&[f64], &[f64], &[f64], &mut [f64]) + Send + Sync + 'static> PlainHalf for F {
    const GIVEN: bool = true;
    fn fill(&self, x: &[f64], y: &[f64], seed: &[f64], out: &mut [f64]) {
        self(x, y, seed, out);
    }
}

impl<V, F: PlainHalf, G: PlainHalf> CustomRule for PlainRule<V, F, G>
where
    V: Fn(&[f64], &mut Vec<f64>) + Send + Sync + 'static,
{
    const NAME: &'static str = "plain rule";
    const GIVEN: Halves = match (F::GIVEN, G::GIVEN) {
        (true, true) => Halves::Both,
        (true, false) => Halves::Pushforward,
        _ => Halves::Pullback,
    };

    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        (self.value)(x, y);
    }
    fn pushforward<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        plainly(self.name, [x, y, dx], dy, |[x, y, dx], dy| self.pushforward.fill(x, y, dx, dy));
    }
    fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        if G::GIVEN {
            plainly(self.name, [x, y, dy], dx, |[x, y, dy], dx| self.pullback.fill(x, y, dy, dx));
        } else {
            missing(self.name, dx);
        }
    }
}

/// Runs plain code on numbers without a derivative. A number with one would need the derivative of the code, and is a fault.
pub fn plainly<S: Scalar, const K: usize>(
    rule: &'static str,
    inputs: [&[S]; K],
    out: &mut [S],
    code: impl FnOnce([&[S::Base]; K], &mut [S::Base]),
) {
    let Some(plain) = plain_numbers(rule, &inputs) else { return out.fill(S::default()) };
    let mut rest = plain.as_slice();
    let inputs = inputs.map(|input| {
        let (first, others) = rest.split_at(input.len());
        rest = others;
        first
    });
    let mut result = vec![S::Base::ZERO; out.len()];
    code(inputs, &mut result);
    write_constants(&result, out);
}

/// The numbers of all inputs, one input after the other; `None`, and a fault, if one of them has a derivative.
fn plain_numbers<S: Scalar>(rule: &'static str, inputs: &[&[S]]) -> Option<Vec<S::Base>> {
    let numbers = || inputs.iter().copied().flatten();
    if numbers().all(S::is_constant) {
        return Some(numbers().map(|v| v.primal()).collect());
    }
    let kind = ErrorKind::RuleOrder { rule };
    fault::report(kind);
    numbers().for_each(|v| v.spoil(kind));
    None
}

/// Writes numbers without a derivative.
fn write_constants<S: Scalar>(values: &[S::Base], out: &mut [S]) {
    out.iter_mut().zip(values).for_each(|(out, &value)| *out = S::constant(value));
}
