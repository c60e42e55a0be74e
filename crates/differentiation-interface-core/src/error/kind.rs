//! What an error says: its kind, with the data of the text.
//!
//! Made by operators and backends; read by `text` and by users.

use std::fmt;
use std::panic::Location;

/// The kinds of [`Error`](super::Error), with their data.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// fn norm2<T: Real>(x: &[T]) -> T {
///     x.iter().map(|v| v * v).sum()
/// }
/// let mut grad = [0.0; 2];
/// let error = gradient_into(&norm2, &mut grad, &AutoForwardDiff::default(), &[1.0; 3]).unwrap_err();
/// let advice = match error.kind() {
///     ErrorKind::BufferLength { expected, found } => format!("{found} of {expected} entries"),
///     other => format!("{other:?}"),
/// };
/// assert_eq!(advice, "2 of 3 entries");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A mask does not have one entry for each number of the container.
    MaskLength {
        /// Numbers of the container.
        expected: usize,
        /// Entries of the mask.
        found: usize,
    },
    /// A container was to be made from more or fewer numbers than it holds.
    NumberCount {
        /// Numbers of the container.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// An expansion has no variable of this index.
    NoVariable {
        /// Variables of the expansion.
        variables: usize,
        /// The index.
        index: usize,
    },
    /// The point of a prepared call differs in length from the prepared point.
    PreparedLength {
        /// Length of the point at preparation.
        prepared: usize,
        /// Length of the point in the call.
        found: usize,
    },
    /// The container in a call of a sparse operator differs in shape from the prepared one.
    PreparedShape,
    /// A tangent is not as long as the point, or a cotangent not as long as the output.
    SeedLength {
        /// Position of the seed among those given.
        index: usize,
        /// Length it must have.
        expected: usize,
        /// Length it has.
        found: usize,
    },
    /// A seed of the type of the point (tangent) or of the output (cotangent) has the right number of numbers but a different shape.
    SeedShape {
        /// Position of the seed among those given.
        index: usize,
    },
    /// The displacement at which an expansion is evaluated is not as long as the point.
    DisplacementLength {
        /// The number of variables.
        expected: usize,
        /// Length it has.
        found: usize,
    },
    /// A multi-index does not have one entry per variable.
    MultiIndexLength {
        /// The number of variables.
        expected: usize,
        /// The number of entries.
        found: usize,
    },
    /// A coefficient beyond the order of an expansion.
    MultiIndexOrder {
        /// The order of the expansion.
        order: usize,
        /// The sum of the multi-index.
        found: usize,
    },
    /// An expansion in several variables would need too much memory.
    ExpansionSize {
        /// The number of coefficients, or of products of pairs of them.
        size: usize,
        /// The largest number accepted.
        limit: usize,
    },
    /// The engine did not call the function, so there is no auxiliary output.
    NoAuxiliaryOutput,
    /// No tangent or cotangent was given.
    NoSeeds,
    /// A buffer for a result has the wrong length.
    BufferLength {
        /// Length it must have.
        expected: usize,
        /// Length it has.
        found: usize,
    },
    /// A buffer of the type of the result has the right number of numbers but a different shape.
    BufferShape,
    /// A matrix for a result has the wrong size.
    BufferSize {
        /// Rows and columns it must have.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// The function returned a different number of outputs than at preparation or in an earlier evaluation of the same call.
    OutputLength {
        /// Number of outputs before.
        expected: usize,
        /// Number of outputs now.
        found: usize,
    },
    /// An in-place function left an entry of its output unwritten, or computed it from the previous content.
    UnwrittenOutput {
        /// The first such entry.
        index: usize,
    },
    /// A chunk size fixed by the user is larger than the input.
    ChunkTooLarge {
        /// The chunk size.
        chunk: usize,
        /// Length of the point.
        inputs: usize,
    },
    /// A chunk size fixed by the user is larger than the number of colours of a sparse derivative.
    ChunkExceedsColors {
        /// The chunk size.
        chunk: usize,
        /// Number of colours.
        colors: usize,
    },
    /// The function recorded more operations than a tape can index or a memory limit allows.
    TapeOverflow,
    /// The function applies more elementary functions that differ in a parameter, such as the exponent of an integer power, than a
    /// recording can number.
    RuleCount,
    /// An active number of another differentiation entered the computation: an outer number that a closure captured without
    /// [`lift`](crate::backend::lift), or a number of an earlier evaluation that was kept in a `RefCell`. (A kept number
    /// whose derivatives are absent, because it depends on none of the inputs that an evaluation follows, cannot be told from a constant.)
    ForeignNumber,
    /// A function that is being differentiated by an engine of another crate called the same engine for a function that captures data. The
    /// numbers of such an engine do not tell which differentiation they belong to.
    NestedInItself,
    /// An active number of an outer differentiation was lifted into a compiled recording, which holds plain constants only.
    ActiveConstant,
    /// The step of finite differences at a coordinate is not usable: not positive, too small to change the coordinate, or so large that
    /// the coordinate is lost to rounding.
    UselessStep {
        /// The coordinate; the largest one for tangents that move several.
        coordinate: usize,
    },
    /// A coordinate of the point is outside of the domain of finite differences, or is not a number.
    OutsideDomain {
        /// The coordinate.
        coordinate: usize,
    },
    /// The domain of finite differences leaves a coordinate no room for steps.
    NarrowDomain {
        /// The coordinate; the first one for tangents that move several.
        coordinate: usize,
    },
    /// The domain of finite differences does not have bounds for the number of inputs.
    DomainLength {
        /// Number of inputs.
        expected: usize,
        /// Number of bounds.
        found: usize,
    },
    /// Finite differences have no formula for a derivative of this order.
    DerivativeOrder {
        /// The order.
        order: usize,
        /// The highest order.
        most: usize,
    },
    /// The function computed with its numbers on a different thread than the one it was called on, and the numbers belong to a recording
    /// or a sparsity detection on the calling thread.
    OtherThread,
    /// A custom rule implements neither the derivative that is needed nor one from which it can be derived.
    RuleIncomplete {
        /// Name of the rule.
        rule: &'static str,
    },
    /// The derivative of a custom rule was to be differentiated again, but it is implemented for plain numbers only.
    RuleOrder {
        /// Name of the rule.
        rule: &'static str,
    },
    /// The conditions of an implicit function are not as many numbers as there are unknowns.
    ConditionsLength {
        /// Number of unknowns that the solver returned.
        unknowns: usize,
        /// Number of conditions.
        found: usize,
    },
    /// The number type of the backend does not support custom rules.
    RuleUnsupported {
        /// Name of the rule.
        rule: &'static str,
    },
    /// A known or constant pattern or colouring does not fit the function.
    PatternSize {
        /// Rows and columns of the derivative.
        expected: (usize, usize),
        /// Rows and columns of the pattern.
        found: (usize, usize),
    },
    /// The pattern of a sparse matrix for a result differs from the prepared one.
    BufferPattern,
    /// This entry cannot be recovered with the colouring.
    InvalidColoring {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// The pattern of a Hessian is not symmetric.
    UnsymmetricPattern {
        /// Row of an entry whose mirror image is missing.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A colouring algorithm does not solve this colouring problem.
    UnsupportedColoring {
        /// Name of the problem.
        problem: &'static str,
    },
    /// The order given to a colouring algorithm is not a permutation of the vertices.
    ColoringOrder {
        /// The first position whose vertex is out of range, repeated or missing.
        position: usize,
    },
    /// A pattern or a colouring is larger than its indices or an algorithm allow.
    ColoringSize {
        /// What was counted.
        what: &'static str,
        /// The size.
        size: usize,
        /// The largest size accepted.
        limit: usize,
    },
    /// The memory of a pattern could not be allocated.
    PatternMemory {
        /// Bytes of the array.
        bytes: usize,
    },
    /// A colouring algorithm failed for a reason of its own, usually one written by the user.
    ColoringFailed,
    /// A first-order operator got a backend that was chosen at run time as a pair for second order.
    SecondOrderOnly {
        /// Name of the outer backend.
        outer: &'static str,
        /// Name of the inner backend.
        inner: &'static str,
    },
    /// The function read the value of a number that has none, by a comparison, a cast, a test such as `is_nan` or formatting. What
    /// it does next would hold for some points only.
    ValueDecides {
        /// Where the function read the value. Inside the standard library if a function there compared, as `sort_by` does; in this
        /// crate's formatting code if a number was formatted.
        place: &'static Location<'static>,
    },
    /// A call took a different branch than the recording, and the backend refuses to record other branches.
    OtherBranch {
        /// Where the function branches, if known; not where a constant decides.
        place: Option<&'static Location<'static>>,
    },
    /// The engine and finite differences disagree about a derivative of this function along a random direction, by much more than
    /// differences can be wrong: the engine differentiates this function wrongly.
    SelfTest {
        /// The derivative by the engine.
        engine: Reading,
        /// The derivative by differences.
        differences: Reading,
    },
    /// The engine cannot do what was asked in this build or with this function.
    Refused {
        /// What it cannot do, and why.
        what: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A function of an engine of another crate returned several numbers to an operator that differentiates one.
    SeveralOutputs {
        /// How many it returned.
        found: usize,
    },
    /// A backend that gives points a shape got a point of another length.
    ShapedLength {
        /// Numbers of the shape.
        expected: usize,
        /// Length of the point.
        found: usize,
    },
    /// The function returned an `Err`; [`Error::of_function`](super::Error::of_function) is what is in it.
    FunctionFailed,
    /// The engine of another crate could not evaluate or differentiate the function; [`Error::report`](super::Error::report) is its message.
    EngineFailed,
    /// The pattern of a sparse derivative was found for one point, and the function takes a different branch at this one, where
    /// other entries may be nonzero.
    OtherPattern {
        /// Where the function branches, if known; not where a constant decides.
        place: Option<&'static Location<'static>>,
    },
    /// A process of a distributed differentiation did not reach a call in time: it stalls, has ended, or made another call.
    RankLost {
        /// The process.
        rank: usize,
        /// The time limit in milliseconds.
        milliseconds: u64,
    },
    /// A process of a distributed differentiation made a different call than the first process, or the same one with different arguments.
    RanksDisagree {
        /// The process.
        rank: usize,
        /// What differs.
        what: &'static str,
    },
    /// The differentiation failed on a process of a distributed differentiation, by an error or a panic of the function.
    RankFailed {
        /// The process.
        rank: usize,
        /// Its message.
        message: &'static str,
    },
    /// A message between the processes of a distributed differentiation is longer than MPI can count.
    RankMessage {
        /// Its number of entries.
        size: usize,
        /// The largest number accepted.
        limit: usize,
    },
    /// The rows of a distributed matrix were requested on a process that does not exist.
    NoSuchRank {
        /// The process.
        rank: usize,
        /// The number of processes.
        ranks: usize,
    },
    /// A distributed differentiation was called on a different thread than the one that made its group of processes.
    RanksOfOtherThread,
}

/// A number in an [`ErrorKind`], which compares by its bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reading(u64);

impl Reading {
    /// Keeps a number.
    pub const fn of(value: f64) -> Self {
        Reading(value.to_bits())
    }
    /// The number.
    pub const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}
