//! The text of an error: what was asked, what was found, what to do.
//!
//! Called by whatever prints an error.

use super::kind::ErrorKind;
use super::{Error, Parts};
use std::fmt;
use std::panic::Location;
use std::path::Path;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { operator, backend, kind, masked, ref report, ref of_function } = *self.parts;
        write!(f, "{operator}")?;
        if !backend.is_empty() {
            write!(f, " with {backend}")?;
        }
        write!(f, ": ")?;
        match kind {
            ErrorKind::MaskLength { expected, found } => {
                write!(
                    f,
                    "the mask has {found} entries for {expected} numbers; pass one for each number of the container"
                )
            }
            ErrorKind::NumberCount { expected, found } => {
                write!(f, "the container holds {expected} numbers, and {found} were given; pass {expected} numbers")
            }
            ErrorKind::NoVariable { variables: 0, .. } => {
                write!(f, "the expansion has no variables; expand at a point that is not empty")
            }
            ErrorKind::NoVariable { variables, index } => write!(
                f,
                "the expansion has {variables} variables, and no variable {index}; pass an index below {variables}"
            ),
            ErrorKind::PreparedLength { prepared, found } => write!(
                f,
                "prepared for {prepared} inputs, called with {found}; prepare again with a point of length {found}"
            ),
            ErrorKind::PreparedShape => write!(
                f,
                "the prepared sparsity pattern is for a point of a different shape; prepare again at this point"
            ),
            ErrorKind::SeedLength { index, expected, found } => write!(
                f,
                "seed {index} has length {found}, expected {expected}; a tangent is as long as the point, a cotangent as the output"
            ),
            ErrorKind::SeedShape { index } => write!(
                f,
                "seed {index} has the right number of numbers, but a different shape; a tangent has the shape of the point, a cotangent that of the output: make it from a clone, or pass a slice of numbers in their order"
            ),
            ErrorKind::DisplacementLength { expected, found } => write!(
                f,
                "the displacement has length {found}, the expansion {expected} variables; pass one number per variable"
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
            ErrorKind::BufferShape => write!(
                f,
                "the buffer has as many numbers as the result, but a different shape; make it from a clone of the point or of a result, or pass a slice"
            ),
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
                "an active number of another differentiation entered the computation; convert an outer number with `lift(&backend, &value)`, and pass work memory as `Cache` instead of keeping numbers between evaluations"
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
                "the step at coordinate {coordinate} is not positive, too small to change the coordinate, or so large that the coordinate overflows or is lost to rounding; set a step near the default or none, and scale a coordinate that is near the largest number"
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
                "the derivative of `{rule}` cannot be differentiated again: it is plain code, or compares numbers where a program is made of it, or a recording would differentiate it a third time; write its rule over any scalar, without comparisons, or differentiate it by a backend that can"
            ),
            ErrorKind::ConditionsLength { unknowns, found } => write!(
                f,
                "an implicit function has {unknowns} unknowns and {found} conditions; return as many conditions (for a fixed point, images) as the solver returns unknowns"
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
                "the pattern of the matrix differs from the prepared one; take a matrix from `jacobian` or `hessian` of this preparation"
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
                "the function formats a number (`{{}}`, `{{:e}}`, `{{:?}}`), but detection for all points has no values; move the formatting out of the function, or use a detector for one point: `GraphLocalSparsityDetector` (compiled backends then return an error where another branch is taken) or `TracerLocalSparsityDetector` of `sparsity-tracer`"
            ),
            ErrorKind::ValueDecides { place } => write!(
                f,
                "the function reads the value of a number at {place}, but detection for all points has no values; write `max`, `min`, `abs`, `clamp` or `x.less_than(y).select(a, b)` instead of the branch, pass a parameter that decides as a `Constant`, or use a detector for one point: `GraphLocalSparsityDetector` (compiled backends then return an error where another branch is taken) or `TracerLocalSparsityDetector` of `sparsity-tracer`"
            ),
            ErrorKind::SelfTest { engine, differences } => write!(
                f,
                "the derivative of this function along a random direction (outputs weighted at random) is {} by the engine and {} by finite differences; use another backend for this function, or disable the self-test if the finite differences are wrong",
                engine.value(),
                differences.value()
            ),
            ErrorKind::Refused { what, instead } => write!(f, "{what}; {instead}"),
            ErrorKind::RuleCount => write!(
                f,
                "the function applies elementary functions with more than 65 thousand distinct parameters, such as exponents; pass the parameter as a number of the function's type, or use a backend that does not record"
            ),
            ErrorKind::SeveralOutputs { found } => {
                write!(f, "the function returned {found} numbers, a gradient needs one; did you mean `jacobian`?")
            }
            ErrorKind::ShapedLength { expected, found } => write!(
                f,
                "the backend gives points a shape of {expected} numbers, this point has {found}; pass a point of length {expected}, or set another shape"
            ),
            ErrorKind::FunctionFailed => match of_function {
                Some(error) => write!(f, "the function returned an error: {}", error.0),
                None => write!(
                    f,
                    "the function returned an error on another thread, where it was lost; call the function itself on plain numbers to see it"
                ),
            },
            ErrorKind::EngineFailed => write!(
                f,
                "the engine could not evaluate or differentiate the function: {}; correct the function, or use another backend",
                report.as_deref().unwrap_or("it ran on another thread, where its message was lost")
            ),
            ErrorKind::OtherPattern { place } => {
                match place {
                    Some(place) => {
                        write!(f, "the function takes a different branch at {place} than where the pattern was found")
                    }
                    None => write!(
                        f,
                        "the function takes a different branch than where the pattern was found, perhaps because a constant has changed"
                    ),
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
                    None => write!(
                        f,
                        "the function takes a different branch than in its recording, perhaps because a constant has changed"
                    ),
                }?;
                write!(f, "; prepare again at this point, or drop `refusing_other_branches()`")
            }
            ErrorKind::RankLost { rank, milliseconds } => write!(
                f,
                "rank {rank} did not reach this call within {milliseconds} ms; make the same calls in the same order on all ranks, or allow more time; the group of ranks cannot be used any more, so end the program on all ranks"
            ),
            ErrorKind::RanksDisagree { rank, what } => {
                write!(
                    f,
                    "rank {rank} and rank 0 differ in {what}; make the same call with the same arguments on all ranks"
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
                write!(
                    f,
                    "the rows were requested on rank {rank}, which does not exist in a group of {ranks}; choose a rank below {ranks}"
                )
            }
            ErrorKind::RanksOfOtherThread => {
                write!(f, "the group of ranks belongs to another thread; call on the thread that made it")
            }
        }?;
        match kind {
            ErrorKind::PreparedLength { .. }
            | ErrorKind::SeedLength { .. }
            | ErrorKind::BufferLength { .. }
            | ErrorKind::BufferSize { .. }
                if masked =>
            {
                write!(f, "; lengths of a masked point count free numbers only")
            }
            _ => Ok(()),
        }
    }
}

/// Whether the value was read to format the number: by `scalar/formatting.rs`, where the place in the user's code is not known.
fn is_formatting(place: &Location<'_>) -> bool {
    // `src/error/text.rs`, this file.
    let source = Path::new(file!()).parent().and_then(Path::parent).unwrap_or(Path::new(""));
    Path::new(place.file()) == source.join("scalar").join("formatting.rs")
}
