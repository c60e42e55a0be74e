//! The backend type and its options.

#[cfg(doc)]
use differentiation_interface_core::error::ErrorKind;

/// Derivatives by formulas: the preparation differentiates a recording of the function symbolically, simplifies the derivatives, and
/// compiles them.
///
/// The function runs once, on recording numbers. Every entry of the Jacobian, or of gradient and Hessian, becomes an expression that
/// shares its parts with the others; zero entries are not computed. Entries that are short are simplified by equality saturation; only
/// terms and factors are reordered and collected, so that an entry changes by rounding alone, and where that would cost operations the
/// entries stay as they are. The operations of the function itself are not simplified. All of it is compiled by `compiled-trace`.
///
/// **When.** For functions whose derivatives have few operations for each entry that is not zero: models of a few equations,
/// residuals that each depend on few inputs, Hessians of separable functions. It needs neither sparsity detector nor colouring: see
/// [`FormulaSparsityDetector`](crate::FormulaSparsityDetector). For long computations that all outputs share, products with seeds take
/// fewer operations: `AutoReverseDiff::compiled()`.
///
/// **Limits.** More expressions than [`with_most_operations`](Self::with_most_operations) are an error of kind [`ErrorKind::Refused`]. A
/// custom rule has no formula: an error of kind [`ErrorKind::RuleUnsupported`]. A recording holds plain constants only: inside another
/// differentiation, numbers of that cannot be captured.
///
/// **Branches.** A recording stores the outcome of every comparison and every value that was passed to plain code. A call that takes
/// another branch records the function again at its point; several recordings are kept.
/// [`refusing_other_branches`](Self::refusing_other_branches) makes it an error instead.
///
/// **Contexts.** Pass numbers that change between calls as a `Parameter`. With a `Constant`, or if the function is not pure, every call
/// records the function again and compares the recording with those that it keeps; when plain numbers have changed, all of them become
/// parameters of the formulas.
///
/// # Example
/// ```
/// use derivative_formula::AutoSymbolic;
/// use differentiation_interface::prelude::*;
///
/// fn energy<T: Real>(x: &[T]) -> T {
///     x[0] * x[0] * x[1] + x[2].sin()
/// }
/// let backend = AutoSymbolic::default();
/// let mut prepared = prepare_gradient(&energy, &backend, &[1.0, 1.0, 1.0])?;
/// assert_eq!(prepared.gradient(&[3.0, 5.0, 0.0])?, [30.0, 9.0, 1.0]); // `energy` is not called
/// assert_eq!(hessian(&energy, &backend, &[3.0, 5.0, 0.0])?, [[10.0, 6.0, 0.0], [6.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoSymbolic {
    most_operations: usize,
    most_recordings: usize,
    refuse: bool,
    simplify: bool,
}

impl Default for AutoSymbolic {
    /// About a million operations, eight recordings, simplified.
    fn default() -> Self {
        AutoSymbolic { most_operations: 1 << 20, most_recordings: 8, refuse: false, simplify: true }
    }
}

impl AutoSymbolic {
    /// The same with an error of kind [`ErrorKind::Refused`] for functions whose formulas take more than `operations` operations, each
    /// counted once. A recording of 40 bytes for each of them is an error too.
    pub fn with_most_operations(self, operations: usize) -> Self {
        AutoSymbolic { most_operations: operations, ..self }
    }

    /// The same that keeps up to `recordings` recordings of a function for points that take different branches; 0 counts as 1.
    pub fn with_most_recordings(self, recordings: usize) -> Self {
        AutoSymbolic { most_recordings: recordings.max(1), ..self }
    }

    /// The same with an error of kind [`ErrorKind::OtherBranch`] where a call takes a different branch than the recording of the
    /// preparation. If constants may change, any difference from the operations of the preparation counts as another branch.
    pub fn refusing_other_branches(self) -> Self {
        AutoSymbolic { refuse: true, ..self }
    }

    /// The same that compiles the derivatives as they are derived. The preparation then takes less time.
    pub fn without_simplification(self) -> Self {
        AutoSymbolic { simplify: false, ..self }
    }

    pub(super) fn most_operations(&self) -> usize {
        self.most_operations
    }
    pub(super) fn most_recordings(&self) -> usize {
        self.most_recordings
    }
    pub(super) fn refuses_other_branches(&self) -> bool {
        self.refuse
    }
    pub(super) fn simplifies(&self) -> bool {
        self.simplify
    }
}
