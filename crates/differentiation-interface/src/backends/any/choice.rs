//! What can be chosen: [`AnyBackend`] and [`FirstOrder`], and how static backends become choices.
//!
//! Used by every file of this folder; knows neither numbers nor routes.

use crate::backends::forward_diff::{AutoChunk, AutoForwardDiff, Chunk, RuntimeChunk};
use crate::backends::{AutoCompiledReverseDiff, AutoFiniteDiff, AutoFiniteDifferences, AutoReverseDiff};
use differentiation_interface_core::backend::SecondOrder;
use differentiation_interface_core::error::{Error, ErrorKind};

/// Forward mode with a chunk chosen at run time.
pub type RuntimeForward = AutoForwardDiff<RuntimeChunk>;

/// A backend chosen at run time.
///
/// It is parsed from a string (`"ForwardDiff(chunk=4)"`, `"SecondOrder(ForwardDiff, ReverseDiff)"`), converted from a static backend
/// by `into()`, or, with the feature `serde`, read from a configuration file. It prints as a string that parses to the same backend.
/// Names are those of the static backends; the prefix `Auto` is optional.
///
/// | string | options |
/// |---|---|
/// | `ForwardDiff` | `chunk`, from 1 to 12 |
/// | `ReverseDiff` | `recording_from`, the call that is recorded first, or `tape=true`; `memory_limit` in bytes; or `compile=true` with `refuse_other_branches`, `most_recordings`, `memory_limit` |
/// | `FiniteDiff` | `scheme` (`forward`, `backward`, `central`), `relative_step`, `absolute_step` |
/// | `FiniteDifferences` | `scheme`, `levels`, `order`, `first_step`, `noise`, `lower`, `upper` |
/// | `SecondOrder(outer, inner)` | |
///
/// All choices share one number type, so that one closure works with each of them. Operators take the routes of the static backend,
/// return its results and call the function as often as it does; but the numbers are larger, and each operation matches their
/// variant. A `SecondOrder` works with `second_derivative`, `hvp` and `hessian`; the other operators return [`ErrorKind::SecondOrderOnly`].
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn cubic<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1]
/// }
/// let f = |x: &[_]| cubic(x);
/// for name in ["ForwardDiff(chunk=2)", "ReverseDiff", "ReverseDiff(compile=true)"] {
///     let backend: AnyBackend = name.parse()?;
///     assert_eq!(gradient(&f, &backend, &[2.0, 5.0])?, [20.0, 4.0]);
///     assert_eq!(backend.to_string(), name);
/// }
/// let backend: AnyBackend = "SecondOrder(ForwardDiff, ReverseDiff)".parse()?;
/// assert_eq!(hessian(&|x: &[_]| cubic(x), &backend, &[2.0, 5.0])?, [[10.0, 4.0], [4.0, 0.0]]);
/// assert_eq!(
///     "RevrseDiff".parse::<AnyBackend>().unwrap_err().to_string(),
///     "unknown backend `RevrseDiff` at column 1; did you mean `ReverseDiff`?"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyBackend {
    /// One backend, which is both the outer and the inner one in second order.
    FirstOrder(FirstOrder),
    /// An outer and an inner backend, for second order only.
    SecondOrder(FirstOrder, FirstOrder),
}

/// A first-order backend chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FirstOrder {
    /// Forward mode.
    ForwardDiff(RuntimeForward),
    /// Reverse mode.
    ReverseDiff(AutoReverseDiff),
    /// Finite differences.
    FiniteDiff(AutoFiniteDiff),
    /// Finite differences with extrapolation.
    FiniteDifferences(AutoFiniteDifferences),
    /// Reverse mode by a compiled recording, `ReverseDiff(compile=true)` in strings.
    CompiledReverseDiff(AutoCompiledReverseDiff),
}

impl AnyBackend {
    /// The backend for a first-order operator.
    pub(super) fn first_order(&self) -> Result<FirstOrder, Error> {
        match self {
            AnyBackend::FirstOrder(choice) => Ok(*choice),
            AnyBackend::SecondOrder(outer, inner) => {
                Err(ErrorKind::SecondOrderOnly { outer: outer.name(), inner: inner.name() }.into())
            }
        }
    }
}

impl FirstOrder {
    /// Name in strings.
    pub const fn name(&self) -> &'static str {
        match self {
            FirstOrder::ForwardDiff(_) => "ForwardDiff",
            FirstOrder::ReverseDiff(_) | FirstOrder::CompiledReverseDiff(_) => "ReverseDiff",
            FirstOrder::FiniteDiff(_) => "FiniteDiff",
            FirstOrder::FiniteDifferences(_) => "FiniteDifferences",
        }
    }

    pub(super) fn is_exact(&self) -> bool {
        !matches!(self, FirstOrder::FiniteDiff(_) | FirstOrder::FiniteDifferences(_))
    }
}

/// A static backend as a choice.
macro_rules! from_static {
    ($([$($generics:tt)*] $Backend:ty, $backend:ident => $choice:expr;)*) => {$(
        impl<$($generics)*> From<$Backend> for FirstOrder {
            fn from($backend: $Backend) -> FirstOrder {
                $choice
            }
        }
        impl<$($generics)*> From<$Backend> for AnyBackend {
            fn from(backend: $Backend) -> AnyBackend {
                AnyBackend::FirstOrder(backend.into())
            }
        }
    )*};
}
from_static! {
    [] AutoForwardDiff<AutoChunk>, _backend => FirstOrder::ForwardDiff(RuntimeForward::automatic());
    [const N: usize] AutoForwardDiff<Chunk<N>>, _backend => FirstOrder::ForwardDiff(RuntimeForward::of_chunk::<N>());
    [] RuntimeForward, backend => FirstOrder::ForwardDiff(backend);
    [] AutoReverseDiff, backend => FirstOrder::ReverseDiff(backend);
    [] AutoFiniteDiff, backend => FirstOrder::FiniteDiff(backend);
    [] AutoFiniteDifferences, backend => FirstOrder::FiniteDifferences(backend);
    [] AutoCompiledReverseDiff, backend => FirstOrder::CompiledReverseDiff(backend);
}

impl From<FirstOrder> for AnyBackend {
    fn from(choice: FirstOrder) -> AnyBackend {
        AnyBackend::FirstOrder(choice)
    }
}

impl<O: Into<FirstOrder>, I: Into<FirstOrder>> From<SecondOrder<O, I>> for AnyBackend {
    fn from(SecondOrder(outer, inner): SecondOrder<O, I>) -> AnyBackend {
        AnyBackend::SecondOrder(outer.into(), inner.into())
    }
}
