//! The one error type of the project.
//!
//! Operators check shapes once and make most errors; backends make those that they alone can detect.

use std::fmt;
use std::panic::Location;
use std::path::Path;

/// What went wrong in a call of an operator. Buffers, preparation and inputs stay usable after it.
///
/// The message says what was asked, what was found and what to do:
/// `jacobian with forward_diff: prepared for 3 inputs, called with 5; prepare again with a point of length 5`.
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
    /// What the engine of another crate reported.
    report: Option<Box<str>>,
}

/// The kinds of [`Error`], with their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A prepared call got a point of another length than the preparation.
    PreparedLength {
        /// Length of the point at preparation.
        prepared: usize,
        /// Length of the point in the call.
        found: usize,
    },
    /// A call of a sparse operator got a container of another shape than the preparation.
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
    /// A multi-index has not one entry per variable.
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
    /// A matrix for a result has the wrong size.
    BufferSize {
        /// Rows and columns it must have.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// The function returned another number of outputs than at preparation or in an earlier evaluation of the same call.
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
    /// [`lift`](crate::backend::lift), or a number of an earlier call that was kept in a `RefCell`.
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
    /// The domain of finite differences has bounds for another number of inputs.
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
    /// The function computed with its numbers on another thread than the one it was called on, and the numbers belong to a recording
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
    /// A sparse matrix for a result has another pattern than the preparation.
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
        /// Where the function branches, if known.
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
    /// The engine of another crate could not evaluate or differentiate the function; [`Error::report`] is its message.
    EngineFailed,
    /// The pattern of a sparse derivative was found for one point, and the function takes a different branch at this one, where
    /// other entries may be nonzero.
    OtherPattern {
        /// Where the function branches, if known.
        place: Option<&'static Location<'static>>,
    },
    /// A process of a distributed differentiation did not come to a call in time: it stalls, has ended, or made another call.
    RankLost {
        /// The process.
        rank: usize,
        /// The time limit in milliseconds.
        milliseconds: u64,
    },
    /// A process of a distributed differentiation made another call than the first process, or the same one with other arguments.
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
    /// The rows of a distributed matrix were to be left on a process that does not exist.
    NoSuchRank {
        /// The process.
        rank: usize,
        /// The number of processes.
        ranks: usize,
    },
    /// A distributed differentiation was called on another thread than the one that made its group of processes.
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

impl Error {
    /// Makes an error. [`during`](Self::during) adds the operator and the backend.
    #[cold]
    #[inline(never)]
    pub fn new(kind: ErrorKind) -> Error {
        Error { parts: Box::new(Parts { operator: "differentiation", backend: "", kind, report: None }) }
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

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.parts.kind
    }
    /// The message of the engine of another crate that failed. It is lost where the engine ran inside a custom rule.
    pub fn report(&self) -> Option<&str> {
        self.parts.report.as_deref()
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { operator, backend, kind, ref report } = *self.parts;
        write!(f, "{operator}")?;
        if !backend.is_empty() {
            write!(f, " with {backend}")?;
        }
        write!(f, ": ")?;
        match kind {
            ErrorKind::PreparedLength { prepared, found } => write!(
                f,
                "prepared for {prepared} inputs, called with {found}; prepare again with a point of length {found}"
            ),
            ErrorKind::PreparedShape => write!(
                f,
                "the sparsity pattern of the preparation is for a point of another shape; prepare again with a point of this shape"
            ),
            ErrorKind::SeedLength { index, expected, found } => write!(
                f,
                "seed {index} has length {found}, expected {expected}; a tangent is as long as the point, a cotangent as the output"
            ),
            ErrorKind::MultiIndexLength { expected, found } => write!(
                f,
                "the multi-index has {found} entries for {expected} variables; pass one order per variable, 0 where it is not differentiated"
            ),
            ErrorKind::MultiIndexOrder { order, found } => write!(
                f,
                "the coefficient is of order {found}, the expansion ends at order {order}; expand to order {found}"
            ),
            ErrorKind::ExpansionSize { size, limit } => write!(
                f,
                "the expansion needs {size} coefficients or products of coefficients, more than the limit of {limit}; lower the order, or expand in fewer variables"
            ),
            ErrorKind::NoAuxiliaryOutput => write!(
                f,
                "the backend did not call the function, so there is no auxiliary output; evaluate the function itself or use another backend"
            ),
            ErrorKind::NoSeeds => write!(f, "no seed was given; pass at least one tangent or cotangent"),
            ErrorKind::BufferLength { expected, found } => {
                write!(
                    f,
                    "the buffer has length {found}, the result needs {expected}; pass a buffer of length {expected}"
                )
            }
            ErrorKind::BufferSize { expected: (m, n), found: (rows, columns) } => {
                write!(f, "the matrix is {rows} x {columns}, the result is {m} x {n}; pass a matrix of {m} x {n}")
            }
            ErrorKind::OutputLength { expected, found } => write!(
                f,
                "the function returned {found} outputs where it returned {expected} before; keep the number of outputs the same, or prepare again"
            ),
            ErrorKind::UnwrittenOutput { index } => write!(
                f,
                "the in-place function left entry {index} of its output unwritten, or read it before writing; write every entry in every call"
            ),
            ErrorKind::ChunkTooLarge { chunk, inputs } => write!(
                f,
                "chunk size {chunk} is larger than the {inputs} inputs; use a chunk size of at most {inputs}, or the automatic one"
            ),
            ErrorKind::ChunkExceedsColors { chunk, colors } => write!(
                f,
                "chunk size {chunk} is larger than the {colors} colours of the sparse derivative; use a chunk size of at most {colors}, or the automatic one"
            ),
            ErrorKind::TapeOverflow => {
                write!(
                    f,
                    "the function recorded more operations than the tape or the memory limit allows; split the function, raise the limit or use a forward backend"
                )
            }
            ErrorKind::ForeignNumber => write!(
                f,
                "an active number of another differentiation entered the computation; convert an outer number with `lift(&backend, value)`, and pass work memory as `Cache` instead of keeping numbers between calls"
            ),
            ErrorKind::NestedInItself => write!(
                f,
                "the function that calls this operator is being differentiated by the same engine, whose numbers do not tell the two differentiations apart; use another backend for one of them, or a function that captures nothing"
            ),
            ErrorKind::ActiveConstant => write!(
                f,
                "an active number of an outer differentiation entered a compiled recording, which holds plain constants only; use `AutoForwardDiff` or `AutoReverseDiff::default()` for the inner differentiation"
            ),
            ErrorKind::UselessStep { coordinate } => write!(
                f,
                "the step at coordinate {coordinate} is not positive, too small to change the coordinate, or so large that the coordinate is lost to rounding; set a step near the default, or none"
            ),
            ErrorKind::OutsideDomain { coordinate } => write!(
                f,
                "coordinate {coordinate} of the point is outside of the domain, or is not a number; pass a point within the bounds, or widen them"
            ),
            ErrorKind::NarrowDomain { coordinate } => write!(
                f,
                "the domain leaves no room for steps at coordinate {coordinate}; widen the bounds, or use an exact backend"
            ),
            ErrorKind::DomainLength { expected, found } => write!(
                f,
                "the domain has bounds for {found} inputs, the point has {expected}; pass bounds for {expected} inputs"
            ),
            ErrorKind::DerivativeOrder { order, most } => write!(
                f,
                "a derivative of order {order} was asked for, and there are formulas up to order {most}; use `AutoTaylor`"
            ),
            ErrorKind::OtherThread => write!(
                f,
                "the function computes on another thread with numbers that belong to a recording on the calling thread; compute on the calling thread, or use `AutoForwardDiff` or `AutoFiniteDiff`, with a known pattern if the derivative is sparse"
            ),
            ErrorKind::RuleIncomplete { rule } => {
                write!(f, "the rule `{rule}` gives no derivative; implement its pushforward or its pullback")
            }
            ErrorKind::RuleOrder { rule } => write!(
                f,
                "the derivative of `{rule}` is plain code that cannot be differentiated again; write its rule over any scalar, or differentiate it by a backend that can"
            ),
            ErrorKind::RuleUnsupported { rule } => {
                write!(
                    f,
                    "the number type of this backend does not support the custom rule `{rule}`; use another backend"
                )
            }
            ErrorKind::PatternSize { expected: (m, n), found: (rows, columns) } => write!(
                f,
                "the pattern or colouring is for {rows} x {columns}, the derivative is {m} x {n}; pass one of {m} x {n}, or use a detector"
            ),
            ErrorKind::BufferPattern => write!(
                f,
                "the sparse matrix has another pattern than the preparation; take one from `jacobian` or `hessian` of this preparation"
            ),
            ErrorKind::InvalidColoring { row, column } => {
                write!(f, "entry ({row}, {column}) cannot be recovered with the colouring; use another colouring")
            }
            ErrorKind::UnsymmetricPattern { row, column } => write!(
                f,
                "the pattern has entry ({row}, {column}) but not its mirror image; pass a symmetric pattern for a Hessian"
            ),
            ErrorKind::UnsupportedColoring { problem } => {
                write!(f, "the colouring algorithm cannot solve the {problem} problem; use `GreedyColoring`")
            }
            ErrorKind::ColoringOrder { position } => write!(
                f,
                "the order given for the colouring is not a permutation: position {position} is out of range, repeated or missing; list every vertex once, or use another order"
            ),
            ErrorKind::ColoringSize { what, size, limit } => {
                write!(
                    f,
                    "colouring: {what}: {size} is more than the limit of {limit}; use a smaller matrix or `GreedyColoring`"
                )
            }
            ErrorKind::PatternMemory { bytes } => {
                write!(
                    f,
                    "the pattern needs an array of {bytes} bytes, which could not be allocated; use a smaller matrix"
                )
            }
            ErrorKind::ColoringFailed => {
                write!(f, "the colouring algorithm failed; use `GreedyColoring`")
            }
            ErrorKind::SecondOrderOnly { outer, inner } => write!(
                f,
                "`SecondOrder({outer}, {inner})` works with `second_derivative`, `hvp` and `hessian` only; use a first-order backend, such as `{inner}` alone"
            ),
            ErrorKind::ValueDecides { place } if is_formatting(place) => write!(
                f,
                "the function formats a number (`{{}}`, `{{:e}}`, `{{:?}}`), but detection for all points has no values; move the formatting out of the function, or use a detector for one point such as `TracerLocalSparsityDetector`"
            ),
            ErrorKind::ValueDecides { place } => write!(
                f,
                "the function reads the value of a number at {place}, but detection for all points has no values; write `max`, `min`, `abs`, `clamp` or `x.less_than(y).select(a, b)` instead of the branch, or use a detector for one point such as `TracerLocalSparsityDetector`"
            ),
            ErrorKind::SelfTest { engine, differences } => write!(
                f,
                "the derivative of this function along a random direction is {} by the engine and {} by finite differences, weights of the outputs included; use another backend for this function, or leave the self-test out if the differences are wrong",
                engine.value(),
                differences.value()
            ),
            ErrorKind::Refused { what, instead } => write!(f, "{what}; {instead}"),
            ErrorKind::RuleCount => write!(
                f,
                "the function applies more than 65 thousand elementary functions that differ in a parameter; pass the parameter as a number of the function's type, or use a backend that does not record"
            ),
            ErrorKind::SeveralOutputs { found } => {
                write!(f, "the function returned {found} numbers, a gradient needs one; did you mean `jacobian`?")
            }
            ErrorKind::ShapedLength { expected, found } => write!(
                f,
                "the backend gives points a shape of {expected} numbers, this point has {found}; pass a point of length {expected}, or set another shape"
            ),
            ErrorKind::EngineFailed => write!(
                f,
                "the engine could not evaluate or differentiate the function: {}; correct the function, or use another backend",
                report.as_deref().unwrap_or("it ran inside a rule, which keeps no message")
            ),
            ErrorKind::OtherPattern { place } => {
                match place {
                    Some(place) => {
                        write!(f, "the function takes a different branch at {place} than where the pattern was found")
                    }
                    None => write!(f, "the function takes a different branch than where the pattern was found"),
                }?;
                write!(
                    f,
                    ", and the pattern holds on one branch only; prepare again at this point, or use a detector for all points"
                )
            }
            ErrorKind::OtherBranch { place } => {
                match place {
                    Some(place) if is_formatting(place) => {
                        write!(f, "the function formats a number whose value differs from that in its recording")
                    }
                    Some(place) => {
                        write!(f, "the function takes a different branch at {place} than in its recording")
                    }
                    None => write!(f, "the function takes a different branch than in its recording"),
                }?;
                write!(f, "; prepare again at this point, or drop `refusing_other_branches()`")
            }
            ErrorKind::RankLost { rank, milliseconds } => write!(
                f,
                "rank {rank} did not come to this call within {milliseconds} ms; make the same calls in the same order on all ranks, or allow more time; the group of ranks cannot be used any more, so end the program on all ranks"
            ),
            ErrorKind::RanksDisagree { rank, what } => {
                write!(
                    f,
                    "rank {rank} has another {what} than rank 0; make the same call with the same arguments on all ranks"
                )
            }
            ErrorKind::RankFailed { rank, message } => {
                write!(
                    f,
                    "rank {rank} failed, so no rank has a result: {message}; correct what failed there and call again on all ranks"
                )
            }
            ErrorKind::RankMessage { size, limit } => {
                write!(
                    f,
                    "an exchange between ranks has {size} entries, more than the limit of {limit}; use a sparse backend or split the function"
                )
            }
            ErrorKind::NoSuchRank { rank, ranks } => {
                write!(f, "the rows were to be left on rank {rank} of {ranks}; choose a rank below {ranks}")
            }
            ErrorKind::RanksOfOtherThread => {
                write!(f, "the group of ranks belongs to another thread; call on the thread that made it")
            }
        }
    }
}

/// The message, then the kind: this is what `unwrap` and a `main` that returns the error print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{:?}]", self.parts.kind)
    }
}

impl std::error::Error for Error {}

/// Whether the value was read to format the number: by `scalar/formatting.rs`, where the place in the user's code is not known.
fn is_formatting(place: &Location<'_>) -> bool {
    Path::new(place.file()) == Path::new(file!()).with_file_name("scalar").join("formatting.rs")
}

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
