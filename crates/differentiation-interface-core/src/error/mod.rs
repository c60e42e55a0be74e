//! The one error type of the project.
//!
//! Operators check shapes once and make most errors; backends make those that they alone can detect.

mod kind;
mod text;

pub use kind::{ErrorKind, Reading};

use std::fmt;
use std::sync::Arc;

/// What went wrong in a call of an operator. Buffers, preparation and inputs stay usable after it. The content of a
/// result buffer is unspecified then: what it held before, zeros, NaN or a part of the derivative.
///
/// The message says what was asked, what was found and what to do:
/// `jacobian with forward_diff: prepared for 3 inputs, called with 5; prepare again with a point of length 5`.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// let mut prepared = prepare_gradient(&norm2, &AutoForwardDiff::default(), &[0.0; 3])?;
/// let error = prepared.gradient(&[1.0; 5]).unwrap_err();
/// assert_eq!((error.operator(), error.backend()), ("gradient", "forward_diff"));
/// assert_eq!(error.kind(), ErrorKind::PreparedLength { prepared: 3, found: 5 });
/// assert_eq!(
///     error.to_string(),
///     "gradient with forward_diff: prepared for 3 inputs, called with 5; prepare again with a point of length 5"
/// );
/// assert_eq!(prepared.gradient(&[1.0; 3])?, [2.0; 3]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    // Boxed, so that a `Result` fits in a register.
    parts: Box<Parts>,
}

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    operator: &'static str,
    backend: &'static str,
    kind: ErrorKind,
    /// Whether lengths count the free numbers of a masked point.
    masked: bool,
    /// What the engine of another crate reported.
    report: Option<Box<str>>,
    of_function: Option<OfFunction>,
}

/// An error that the user's function returned. Two are equal if their texts are.
#[derive(Clone)]
struct OfFunction(Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for OfFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.to_string() == other.0.to_string()
    }
}

impl Eq for OfFunction {}

impl Error {
    /// Makes an error. [`during`](Self::during) adds the operator and the backend.
    #[cold]
    #[inline(never)]
    pub fn new(kind: ErrorKind) -> Error {
        let operator = "differentiation";
        Error { parts: Box::new(Parts { operator, backend: "", kind, masked: false, report: None, of_function: None }) }
    }

    /// Makes an error of the kind [`ErrorKind::FunctionFailed`] with what the function returned.
    #[cold]
    #[inline(never)]
    pub fn function_failed(returned: Box<dyn std::error::Error + Send + Sync>) -> Error {
        let mut error = Error::new(ErrorKind::FunctionFailed);
        error.parts.of_function = Some(OfFunction(returned.into()));
        error
    }

    /// Makes an error of the kind [`ErrorKind::EngineFailed`] with the message of an engine of another crate.
    #[cold]
    #[inline(never)]
    pub fn engine_failed(report: &str) -> Error {
        let mut error = Error::new(ErrorKind::EngineFailed);
        error.parts.report = Some(report.into());
        error
    }

    /// The same error, with the operator and backend it came from.
    #[cold]
    #[inline(never)]
    pub fn during(mut self, operator: &'static str, backend: &'static str) -> Error {
        self.parts.operator = operator;
        self.parts.backend = backend;
        self
    }

    /// The same error, whose text says what lengths count if the point is masked.
    #[inline]
    pub(crate) fn counting(mut self, masked: bool) -> Error {
        if masked {
            self.parts.masked = true;
        }
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.parts.kind
    }
    /// The message of the engine of another crate that failed. It is lost where the engine ran on a thread that the function started.
    pub fn report(&self) -> Option<&str> {
        self.parts.report.as_deref()
    }
    /// What the function returned in its `Err`, for [`ErrorKind::FunctionFailed`]. It is lost where an inner function ran on a thread that the
    /// outer one started.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// fn rate<T: Real>(x: &[T]) -> Result<T, std::num::ParseFloatError> {
    ///     let scale: f64 = "1.5 K".parse()?;
    ///     Ok(x[0] * scale)
    /// }
    /// let f = |x: &[_]| rate(x);
    /// let error = gradient(&f, &AutoForwardDiff::default(), &[2.0]).unwrap_err();
    /// assert_eq!(error.to_string(), "gradient with forward_diff: the function returned an error: invalid float literal");
    /// assert!(error.of_function().is_some_and(|error| error.is::<std::num::ParseFloatError>()));
    /// ```
    pub fn of_function(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.parts.of_function.as_ref().map(|error| &*error.0)
    }
    /// The operator that was called.
    pub fn operator(&self) -> &'static str {
        self.parts.operator
    }
    /// The backend that was used.
    pub fn backend(&self) -> &'static str {
        self.parts.backend
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error::new(kind)
    }
}

/// The message, then the kind: this is what `unwrap` and a `main` that returns the error print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{:?}]", self.parts.kind)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_message_and_the_kind() {
        let error = Error::new(ErrorKind::PreparedLength { prepared: 3, found: 5 }).during("jacobian", "forward_diff");
        assert_eq!(
            format!("{error:?}"),
            "jacobian with forward_diff: prepared for 3 inputs, called with 5; prepare again with a point of length 5 \
             [PreparedLength { prepared: 3, found: 5 }]"
        );
    }

    #[test]
    fn results_fit_in_a_register() {
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }
}
