//! From the name of a backend to its static type.
//!
//! Called by `run.rs`: a backend chosen at run time ([`AnyBackend`]) is slower than the static one it names, and the static one
//! is to be measured.

use crate::runs_suite::RunsSuite;
use crate::scenarios::RunsAll;
use differentiation_interface::backends::AnyBackend;
use differentiation_interface::backends::any::{FirstOrder, ParseBackendError, ParseBackendErrorKind};
use differentiation_interface::prelude::*;
use differentiation_interface_test::{Named, hessian_only, matrices_only, named, second_order_only};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A backend of the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Choice {
    /// As the library parses it.
    Dense(AnyBackend),
    /// `Sparse(..)` around it.
    Sparse(AnyBackend),
}

/// The forms that the list of backends accepts, for readers.
pub(crate) const FORMS: [(&str, &str); 7] = [
    ("ForwardDiff", "forward mode by dual numbers; ForwardDiff(chunk=4) fixes the lanes, from 1 to 12"),
    ("ReverseDiff", "reverse mode by a tape"),
    ("ReverseDiff(compile=true)", "by a compiled recording; also refuse_other_branches, most_recordings, memory_limit"),
    ("FiniteDiff", "differences; FiniteDiff(scheme=central), also relative_step and absolute_step"),
    (
        "FiniteDifferences",
        "differences with extrapolation; FiniteDifferences(levels=5), also scheme, order, first_step, noise, lower, upper",
    ),
    ("SecondOrder(outer, inner)", "two of these, for second_derivative, hvp and hessian"),
    ("Sparse(backend)", "detection and colouring around any of these, for jacobian and hessian"),
];

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let inner = |name| text.trim().strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')');
        let (text, make): (_, fn(AnyBackend) -> Choice) = match inner("Sparse").or_else(|| inner("AutoSparse")) {
            Some(dense) => (dense, Choice::Sparse),
            None => (text, Choice::Dense),
        };
        text.parse().map(make).map_err(|error| format!("`{}`: {}", shortened(text), in_a_list(&error)))
    }
}

/// The error with advice for the command line, where that of the parser is for programs.
fn in_a_list(error: &ParseBackendError) -> String {
    let ParseBackendErrorKind::UnknownBackend { found, .. } = error.kind() else { return error.to_string() };
    let column = error.column();
    match found.strip_prefix("Auto").unwrap_or(found) {
        "Sparse" => {
            format!(
                "`{found}` at column {column} is inside another backend; give it once, as the outermost: `Sparse(backend)`"
            )
        }
        "Threaded" | "Taylor" => {
            let forms: Vec<&str> = FORMS.iter().map(|(form, _)| *form).collect();
            format!("the command line does not have `{found}`, found at column {column}; it has {}", forms.join(", "))
        }
        _ => error.to_string(),
    }
}

/// The text, or its beginning if it is long.
fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_LENGTH: usize = 80;
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Dense(backend) => backend.fmt(f),
            Choice::Sparse(backend) => write!(f, "Sparse({backend})"),
        }
    }
}

/// Receives a backend of static type.
pub(crate) trait WithBackend {
    /// Receives it.
    fn with<B: RunsAll>(&mut self, backend: &B);
}

/// Receives a backend of static type that supports all operators.
pub(crate) trait WithFirstOrder {
    /// Receives it, and whether it is exact.
    fn with<B: Backend>(&mut self, backend: &Named<B>, exact: bool)
    where
        Named<B>: RunsSuite;
}

/// The static type of a first-order choice. A choice that is not listed here is not run.
macro_rules! first_order {
    ($choice:expr, $backend:ident => $body:expr) => {
        match $choice {
            FirstOrder::ForwardDiff($backend) => $body,
            FirstOrder::ReverseDiff($backend) => $body,
            FirstOrder::FiniteDiff($backend) => $body,
            FirstOrder::FiniteDifferences($backend) => $body,
            FirstOrder::CompiledReverseDiff($backend) => $body,
            _ => return false,
        }
    };
}

/// Required accuracy of the matrices of inexact backends, including Hessians by differences of differences.
const INEXACT: f64 = 2e-2;

impl Choice {
    /// Passes on a backend with all operators under its name; `false` if it has not all of them, or is not listed here.
    pub(crate) fn hand_first_order_to(self, receiver: &mut impl WithFirstOrder) -> bool {
        let Choice::Dense(AnyBackend::FirstOrder(choice)) = self else { return false };
        first_order!(choice, backend => receiver.with(&named(self.to_string(), backend), backend.is_exact()));
        true
    }

    /// Passes on the backend under its name; `false` if it is not listed here.
    pub(crate) fn hand_to(self, receiver: &mut impl WithBackend) -> bool {
        match self {
            Choice::Dense(AnyBackend::FirstOrder(choice)) => {
                first_order!(choice, backend => receiver.with(&named(self.to_string(), backend)))
            }
            Choice::Dense(AnyBackend::SecondOrder(outer, inner)) => {
                first_order!(outer, outer => first_order!(inner, inner =>
                receiver.with(&named(self.to_string(), second_order_only(SecondOrder(outer, inner))))))
            }
            Choice::Sparse(AnyBackend::FirstOrder(choice)) => first_order!(choice, backend => {
                let sparse = matrices_only(self.to_string(), AutoSparse::new(backend));
                receiver.with(&if backend.is_exact() { sparse } else { sparse.tolerance(INEXACT) })
            }),
            Choice::Sparse(AnyBackend::SecondOrder(outer, inner)) => {
                first_order!(outer, outer => first_order!(inner, inner => {
                    let exact = outer.is_exact() && inner.is_exact();
                    let sparse = hessian_only(self.to_string(), AutoSparse::new(SecondOrder(outer, inner)));
                    receiver.with(&if exact { sparse } else { sparse.tolerance(INEXACT) })
                }))
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_listed_is_parsed_and_every_name_that_is_parsed_is_listed() {
        for (form, _) in FORMS {
            let example =
                form.replace("outer", "ForwardDiff").replace("inner", "ReverseDiff").replace("backend", "FiniteDiff");
            let choice: Choice = example.parse().unwrap();
            assert_eq!(choice.to_string(), example);
        }
        let known = "nothing of that name".parse::<Choice>().unwrap_err();
        let known = known.split_once("known are ").unwrap().1.replace(" and ", ", ");
        for name in known.split(", ") {
            assert!(FORMS.iter().any(|(form, _)| form.starts_with(name)), "{name} is not listed");
        }
    }

    /// Counts what it receives.
    struct Count(usize);
    impl WithBackend for Count {
        fn with<B: RunsAll>(&mut self, _backend: &B) {
            self.0 += 1;
        }
    }
    impl WithFirstOrder for Count {
        fn with<B: Backend>(&mut self, _backend: &Named<B>, _exact: bool)
        where
            Named<B>: RunsSuite,
        {
            self.0 += 1;
        }
    }

    /// A backend without a line in `first_order!` would be left out of every comparison.
    #[test]
    fn every_static_backend_is_handed_on() {
        macro_rules! dense {
            ([] $($(#[$attribute:meta])* $module:ident $Type:ident = $make:expr, $accuracy:ident, $evaluation:ident;)*) => {
                [$(AnyBackend::from($make)),*]
            };
        }
        for backend in differentiation_interface::each_backend!(dense![]) {
            let mut received = Count(0);
            let (dense, sparse) = (Choice::Dense(backend), Choice::Sparse(backend));
            let handed =
                [dense.hand_first_order_to(&mut received), dense.hand_to(&mut received), sparse.hand_to(&mut received)];
            assert_eq!((handed, received.0), ([true; 3], 3), "{backend}");
        }
    }

    #[test]
    fn sparse_is_read_with_and_without_its_prefix_and_spaces() {
        for text in ["Sparse(ReverseDiff)", " AutoSparse ( AutoReverseDiff )"] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), "Sparse(ReverseDiff)");
        }
        let error = "Sparse(Reverse)".parse::<Choice>().unwrap_err();
        assert!(error.starts_with("`Reverse`: unknown backend `Reverse`"), "{error}");
        for (text, expected) in [
            (
                "Sparse(Sparse(ForwardDiff))",
                "`Sparse(ForwardDiff)`: `Sparse` at column 1 is inside another backend; \
                 give it once, as the outermost: `Sparse(backend)`",
            ),
            (
                "SecondOrder(AutoSparse(ForwardDiff), ReverseDiff)",
                "`SecondOrder(AutoSparse(ForwardDiff), ReverseDiff)`: `AutoSparse` at column 13 is inside another backend; \
                 give it once, as the outermost: `Sparse(backend)`",
            ),
            (
                "Sparse(Threaded(ForwardDiff))",
                "`Threaded(ForwardDiff)`: the command line does not have `Threaded`, found at column 1; it has ForwardDiff, \
                 ReverseDiff, ReverseDiff(compile=true), FiniteDiff, FiniteDifferences, SecondOrder(outer, inner), Sparse(backend)",
            ),
        ] {
            assert_eq!(text.parse::<Choice>().unwrap_err(), expected);
        }
        assert!("Sparse(ForwardDiff".parse::<Choice>().is_err());
    }
}
