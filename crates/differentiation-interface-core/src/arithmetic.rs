//! The traits of numbers and rules, which refer to each other.
//!
//! A [`Scalar`] applies rules, [`Unary`] and [`Binary`] ones and [`CustomRule`]s; a rule computes its value on a [`Base`] number and its
//! derivative on any scalar. Public as part of [`scalar`](crate::scalar), [`rules`](crate::rules) and [`custom`](crate::custom).

use crate::container::Seen;
use crate::error::ErrorKind;
use crate::fault;
use crate::recordings::Internals;
use crate::relation::Relation;
use num_traits::{Float, FloatConst};
use std::cmp::Ordering;
use std::fmt::{Debug, Display, LowerExp};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// A plain floating-point number: `f64` or `f32`.
///
/// Its requirements seal it: every other number is a [`Scalar`] over one of these two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plain number, which `f64` and `f32` are",
    note = "a `Parameter` holds plain numbers; a number of an outer differentiation is captured by a closure as `lift(&backend, &number)`"
)]
pub trait Base: Scalar<Base = Self> + Float + FloatConst + Display + LowerExp {
    /// Name of the type, for messages.
    const NAME: &'static str;
    /// Whether the type is `f64`, so that [`as_doubles`](Base::as_doubles) succeeds.
    const IS_DOUBLE: bool = false;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The sentinel in the output of an in-place function before the function writes: a NaN with a payload of its own.
    const UNWRITTEN: Self;

    /// Whether this is [`UNWRITTEN`](Base::UNWRITTEN) or was computed from it: processors keep the payload of a NaN.
    fn is_unwritten(self) -> bool;
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// The value as `f64`, exactly.
    fn as_f64(self) -> f64;
    /// The slices as slices of `f64`, if this type is `f64`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles<'s, 'a>(_slices: &'s [&'a [Self]]) -> Option<&'s [&'a [f64]]> {
        None
    }
    /// The same for mutable slices.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn as_doubles_mut<'s, 'a>(_slices: &'s mut [&'a mut [Self]]) -> Option<&'s mut [&'a mut [f64]]> {
        None
    }
    /// Value of the error function.
    fn erf_value(self) -> Self;
    /// Value of the complementary error function.
    fn erfc_value(self) -> Self;
    /// Value of the logarithm of the absolute value of the gamma function.
    fn ln_gamma_value(self) -> Self;
    /// Value of the polygamma function of the given order (0 is digamma).
    fn polygamma_value(self, order: u32) -> Self;
}

/// A number that engines can nest over: a plain number, or an active number type over another scalar.
///
/// # For users
/// Write functions over [`Real`](crate::Real), which adds all of `num_traits::Float` and arithmetic with plain numbers.
/// User code needs two methods of this trait, [`constant`](Scalar::constant) and [`primal`](Scalar::primal).
///
/// # For backend authors
/// 1. Every elementary function reaches a scalar through `apply`, `apply2`, `apply2_right` or `apply2_left` with
///    a rule of the table in [`rules`](crate::rules); the scalar never lists functions itself.
/// 2. `constant(c)` carries no derivative, and `is_constant` may return `true` only for such numbers.
/// 3. Comparisons compare primal values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number this crate can differentiate with",
    note = "a struct of numbers becomes a point, an output or a parameter by `#[derive(Container)]`; numbers by name are a `BTreeMap`, as a `HashMap` has no order of its numbers",
    note = "scalars are `f64`, `f32` and the differentiation numbers over them; wrap a foreign number type in `Num` by implementing `Core`"
)]
pub trait Scalar:
    Copy
    + Seen<Seen = Self>
    + Default
    + PartialOrd
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// The plain number at the bottom of the nesting: `f64` or `f32`.
    type Base: Base;

    /// How many differentiations are nested in the number: 0 for a plain one.
    const DEPTH: u32;

    /// What engines, but not functions, do with the number beyond arithmetic.
    const INTERNALS: &'static Internals<Self, Self::Base>;

    /// The number `value` with no derivative attached.
    fn constant(value: Self::Base) -> Self;

    /// The plain value at the bottom of all nesting. **The derivative is dropped**: use it for table look-ups, stopping criteria and
    /// printing.
    #[track_caller]
    fn primal(self) -> Self::Base;

    /// Whether the number certainly carries no derivative at any level.
    fn is_constant(&self) -> bool;

    /// Makes the differentiations that the number belongs to return this error, on whichever thread they run. For engines that
    /// detect an error in arithmetic.
    fn spoil(&self, _kind: ErrorKind) {}

    /// Applies an elementary function of one argument.
    fn apply<R: Unary>(self, rule: R) -> Self;

    /// Applies an elementary function of two arguments.
    fn apply2<R: Binary>(self, other: Self, rule: R) -> Self;

    /// Applies an elementary function whose second argument is a plain number.
    fn apply2_right<R: Binary>(self, other: Self::Base, rule: R) -> Self;

    /// Applies an elementary function whose first argument is a plain number.
    fn apply2_left<R: Binary>(first: Self::Base, second: Self, rule: R) -> Self;

    /// Applies a custom rule to an array of numbers and leaves the outputs in `y`.
    fn custom<R: CustomRule<Self::Base>>(rule: &Arc<R>, x: &[Self], y: &mut Vec<Self>);

    /// `then` if `left` is in `relation` to `right`, and `otherwise` if not. User code writes
    /// [`x.less_than(y).select(then, otherwise)`](crate::Real::less_than).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn select(left: Self, relation: Relation, right: Self, then: Self, otherwise: Self) -> Self {
        if relation.holds(left.partial_cmp(&right)) { then } else { otherwise }
    }

    /// Compares the absolute value with a plain number. Tests of a number that do not depend on its sign are made of this. User code writes
    /// [`x.is_finite()`](num_traits::Float::is_finite) and the like.
    #[track_caller]
    fn compare_magnitude(&self, other: Self::Base) -> Option<Ordering>;

    /// The product with a plain number, which only scales the tangents.
    fn scale(self, factor: Self::Base) -> Self;

    /// `self * factor + addend` with a value that is rounded once. User code writes
    /// [`x.mul_add(factor, addend)`](num_traits::Float::mul_add).
    fn fused(self, factor: Self, addend: Self) -> Self;

    /// Whether this number is zero without a derivative, so that a product with it can be skipped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_inert_zero(&self) -> bool {
        self.is_constant() && (Self::INTERNALS.peek)(self) == Self::Base::ZERO
    }
}

/// A partial derivative, as a rule returns it.
///
/// The cases let engines leave out work: a [`Zero`](Partial::Zero) derivative drops the dependence, [`One`](Partial::One)
/// copies a tangent, a [`Constant`](Partial::Constant) scales it by a plain number at any level of nesting.
#[derive(Clone, Copy, Debug)]
pub enum Partial<S: Scalar> {
    /// Identically zero around the point: the result does not depend on this argument.
    Zero,
    /// Identically one.
    One,
    /// A plain number, the same in a neighbourhood.
    Constant(S::Base),
    /// Any other derivative.
    Value(S),
    /// The product of two numbers that alone may be too large or too small for a number where the derivative of the whole function is not: engines
    /// multiply by the first, then by the second. So the derivative -r/y of the quotient r = x/y with respect to y may have r = 10⁻¹⁶¹ and
    /// y = 10¹⁶¹.
    Product(S, S),
}

impl<S: Scalar> Partial<S> {
    /// The partial derivative as a number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn value(self) -> S {
        match self {
            Partial::Zero => S::constant(S::Base::ZERO),
            Partial::One => S::constant(S::Base::ONE),
            Partial::Constant(c) => S::constant(c),
            Partial::Value(v) => v,
            Partial::Product(first, second) => first * second,
        }
    }

    /// This partial derivative times `t`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn times(self, t: S) -> S {
        match self {
            Partial::Zero => S::constant(S::Base::ZERO),
            Partial::One => t,
            Partial::Constant(c) => t.scale(c),
            Partial::Value(v) => v * t,
            Partial::Product(first, second) => Self::by_both(first, second, t),
        }
    }

    /// `t` times the first, then times the second factor of a [`Product`](Partial::Product), for engines with a loop over tangents.
    ///
    /// Out of line for nested numbers: what every operation of a level has inline, every operation of the next level has several times.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn by_both(first: S, second: S, t: S) -> S {
        #[inline(never)]
        fn nested<S: Scalar>(first: S, second: S, t: S) -> S {
            second * (first * t)
        }
        if const { S::DEPTH == 0 } { second * (first * t) } else { nested(first, second, t) }
    }
}

/// Whether a rule is in the rule table of this crate, which alone makes this mark. Engines ask at compile time, so that they compile
/// what other rules need for these only.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct InTable(bool);

impl InTable {
    /// A rule of another crate, or one outside the table.
    pub const NO: InTable = InTable(false);
    pub(crate) const YES: InTable = InTable(true);

    /// Whether it is one.
    pub const fn is(self) -> bool {
        self.0
    }
}

/// Whether two names are equal, at compile time. Engines find a rule of the table by its name, so that nothing is compiled for others.
#[doc(hidden)]
pub const fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// An elementary function of one argument: a line of the rule table.
pub trait Unary: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// Name of the function.
    const NAME: &'static str;
    #[doc(hidden)]
    const IN_TABLE: InTable = InTable::NO;
    /// The value at a plain number.
    fn value<B: Base>(self, x: B) -> B;
    /// The derivative at `x`, where `y` is the value there.
    fn derivative<S: Scalar>(self, x: S, y: S) -> Partial<S>;
    /// The parameter of the rule in 64 bits, a key under which engines cache properties of the rule; `None` if the parameters do not
    /// fit. Rules without parameters need not implement it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        (size_of::<Self>() == 0).then_some(0)
    }
}

/// An elementary function of two arguments: a line of the rule table.
pub trait Binary: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// Name of the function.
    const NAME: &'static str;
    #[doc(hidden)]
    const IN_TABLE: InTable = InTable::NO;
    /// The value at plain numbers.
    fn value<B: Base>(self, x: B, y: B) -> B;
    /// The derivative with respect to the first argument, where `r` is the value at `(x, y)`.
    fn partial_x<S: Scalar>(self, x: S, y: S, r: S) -> Partial<S>;
    /// The derivative with respect to the second argument, where `r` is the value at `(x, y)`.
    fn partial_y<S: Scalar>(self, x: S, y: S, r: S) -> Partial<S>;
    /// The parameter of the rule in 64 bits; see [`Unary::parameter`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter(self) -> Option<u64> {
        (size_of::<Self>() == 0).then_some(0)
    }
}

/// The derivatives that a rule implements. The other one is assembled from it.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// /// x₀ x₁, by its pullback alone.
/// struct Product;
/// impl CustomRule for Product {
///     const NAME: &'static str = "product";
///     const GIVEN: Halves = Halves::Pullback;
///     fn value(&self, x: &[f64], y: &mut Vec<f64>) {
///         y.clear();
///         y.push(x[0] * x[1]);
///     }
///     fn pullback<S: Scalar<Base = f64>>(&self, x: &[S], _y: &[S], dy: &[S], dx: &mut [S]) {
///         (dx[0], dx[1]) = (x[1] * dy[0], x[0] * dy[0]);
///     }
/// }
///
/// let product = Custom::new(Product);
/// let f = |x: &[_]| product.number(x);
/// // Forward mode needs the pushforward, which is assembled.
/// assert_eq!(gradient(&f, &AutoForwardDiff::default(), &[2.0, 5.0])?, [5.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// The pushforward; a pullback is assembled from one pushforward per input.
    Pushforward,
    /// The pullback; a pushforward is assembled from one pullback per output.
    Pullback,
    /// Both.
    Both,
}

/// A function from an array to an array together with its derivative: an opaque or foreign function, an implicit function, or one
/// whose derivative is known in closed form.
///
/// # For users
/// Implement it, and call the function as [`Custom`](crate::custom::Custom). The value is needed on plain numbers only. The derivatives are written
/// over any scalar `S`, so that they can be differentiated again. If only plain code exists, use [`PlainRule`](crate::custom::PlainRule);
/// second order is then an error.
///
/// With J the Jacobian at `x` and `y` the value there, `pushforward` fills dy = J dx and `pullback` fills dx = Jᵀ dy:
///
/// 1. `value` overwrites `y`, whose content and length on entry do not matter. The derivatives write every entry of a slice of the right length, whose content on entry
///    does not matter either.
/// 2. The outputs depend on `x` and the data of the rule alone. Engines call the rule in later calls without running the function around it, and on other threads.
/// 3. Engines call the derivatives that [`GIVEN`](CustomRule::GIVEN) names. They assemble the other one, by one call for each output or input with a basis vector as the seed.
/// 4. Both are linear in the seed. Engines may leave out a call whose seed is zero; a pullback with a zero seed only where [`is_regular`](CustomRule::is_regular) returns `true`.
/// 5. A rule returns no error: it reports one by [`fault::report`](crate::fault::report), and the operator returns it.
///
/// # Example
/// The square root of a positive number as the root of r² = x, by the implicit function theorem dr = dx / (2r):
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
/// let f = |x: &[_; 1]| root.number(x);
/// assert_eq!(gradient(&f, &AutoReverseDiff::default(), [4.0])?, [0.25]);
/// # Ok::<(), Error>(())
/// ```
pub trait CustomRule<B: Base = f64>: Send + Sync + 'static {
    /// Name in errors.
    const NAME: &'static str;
    /// Which of the two derivatives are implemented.
    const GIVEN: Halves;

    /// Evaluates the function at `x` into `y`, whose content and length on entry do not matter.
    ///
    /// There may be another number of outputs at another point: a compiled recording is made again there. A sparsity pattern is not, so a detected one is
    /// right only for functions whose rules have as many outputs at every point.
    fn value(&self, x: &[B], y: &mut Vec<B>);

    /// Fills `dy` with J `dx`.
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        let _ = (x, y, dx);
        missing(Self::NAME, dy);
    }

    /// Fills `dx` with Jᵀ `dy`.
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        let _ = (x, y, dy);
        missing(Self::NAME, dx);
    }

    /// Whether all derivatives at `x` are finite, so that Jᵀ times zero is zero and need not be computed. False, the pullback runs with zeros too, and returns
    /// NaN where the derivative depends on more than the cotangents tell.
    fn is_regular<S: Scalar<Base = B>>(&self, x: &[S], y: &[S]) -> bool {
        let _ = (x, y);
        true
    }

    /// A number that two rules of this type share only if they are the same function, by [`identity_of`](crate::custom::identity_of) their data. For rules that
    /// the function makes anew in each run: without it, each object is a rule of its own, and no recording of one run is that of another.
    fn identity(&self) -> Option<u64> {
        None
    }

    /// Evaluates the function at `x` into `y`, which is empty, by operations on numbers, and returns true, if the function is made of such; the
    /// default returns false.
    ///
    /// For engines that compile what they record: they take these operations in place of a call, and derive and compile them with those
    /// around it. Others call the methods above.
    fn operations<S: Scalar<Base = B>>(&self, x: &[S], y: &mut Vec<S>) -> bool {
        let _ = (x, y);
        false
    }
}

/// Reports that a rule implements neither derivative.
pub(crate) fn missing<S: Scalar>(rule: &'static str, out: &mut [S]) {
    fault::report(ErrorKind::RuleIncomplete { rule });
    out.fill(S::default());
}
