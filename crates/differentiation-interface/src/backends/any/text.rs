//! Backends as text: parsing, printing, and errors with suggestions.
//!
//! Called by users through `FromStr` and `Display`, and by `serde.rs`.
//!
//! ```text
//! backend = first | "SecondOrder" "(" first "," first ")"
//! first   = name [ "(" [ option "=" value { "," option "=" value } ] ")" ]
//! ```

use super::choice::{AnyBackend, FirstOrder, RuntimeForward};
use crate::backends::finite_diff::Scheme;
use crate::backends::finite_differences::Side;
use crate::backends::forward_diff::{AutoForwardDiff, RuntimeChunk};
use crate::backends::{AutoCompiledReverseDiff, AutoFiniteDiff, AutoFiniteDifferences, AutoReverseDiff};
use std::fmt;
use std::str::FromStr;

/// The names that a string may begin with.
const NAMES: [&str; 5] = ["ForwardDiff", "ReverseDiff", "FiniteDiff", "FiniteDifferences", "SecondOrder"];
const SCHEMES: [(&str, AutoFiniteDiff); 3] = [
    ("forward", AutoFiniteDiff::forward()),
    ("backward", AutoFiniteDiff::backward()),
    ("central", AutoFiniteDiff::central()),
];
const SIDES: [(&str, AutoFiniteDifferences); 3] = [
    ("forward", AutoFiniteDifferences::forward()),
    ("backward", AutoFiniteDifferences::backward()),
    ("central", AutoFiniteDifferences::central()),
];
const CHUNKS: &str = "a whole number from 1 to 12";
const _: () = assert!(RuntimeChunk::LARGEST == 12, "CHUNKS names the largest chunk");

/// The reason and the position at which a string is not an [`AnyBackend`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseBackendError {
    column: usize,
    kind: ParseBackendErrorKind,
}

/// The kinds of [`ParseBackendError`], with their data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseBackendErrorKind {
    /// No backend has this name.
    UnknownBackend {
        /// What stands there.
        found: String,
        /// A similar name, if there is one.
        suggestion: Option<&'static str>,
    },
    /// The backend has no such option.
    UnknownOption {
        /// Name of the backend.
        backend: &'static str,
        /// What stands there.
        found: String,
        /// The options it has.
        accepted: &'static [&'static str],
        /// A similar option, if there is one.
        suggestion: Option<&'static str>,
    },
    /// An option is given twice.
    RepeatedOption {
        /// Name of the option.
        option: &'static str,
    },
    /// An option requires another one.
    MissingOption {
        /// Name of the option.
        option: &'static str,
        /// The required option with its value.
        needed: &'static str,
    },
    /// An option has no meaning beside another one.
    ExcludedOption {
        /// Name of the option.
        option: &'static str,
        /// The other option with its value.
        with: &'static str,
    },
    /// An option cannot have this value.
    InvalidValue {
        /// Name of the option.
        option: &'static str,
        /// What stands there.
        found: String,
        /// What may stand there.
        accepted: &'static str,
        /// A similar value, if there is one.
        suggestion: Option<&'static str>,
    },
    /// A `SecondOrder` inside a `SecondOrder`.
    NestedSecondOrder,
    /// Unexpected text.
    Unexpected {
        /// What may stand there.
        expected: &'static str,
        /// What stands there; empty at the end.
        found: String,
    },
}

impl ParseBackendError {
    /// The position of the mistake in characters, counted from 1.
    pub fn column(&self) -> usize {
        self.column
    }
    /// What is wrong.
    pub fn kind(&self) -> &ParseBackendErrorKind {
        &self.kind
    }
}

/// `a, b and c`
fn list(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [name] => (*name).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl fmt::Display for ParseBackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseBackendErrorKind::*;
        let column = self.column;
        match &self.kind {
            UnknownBackend { found, .. } => write!(f, "unknown backend `{found}` at column {column}")?,
            UnknownOption { backend, found, .. } => {
                write!(f, "{backend} has no option `{found}`, found at column {column}")?;
            }
            RepeatedOption { option } => {
                return write!(f, "option `{option}` is repeated at column {column}; give it once");
            }
            MissingOption { option, needed } => {
                return write!(
                    f,
                    "option `{option}` at column {column} requires `{needed}`, which is missing; give both"
                );
            }
            ExcludedOption { option, with } => {
                return write!(
                    f,
                    "option `{option}` at column {column} has no meaning with `{with}`; give one of them"
                );
            }
            InvalidValue { option, found, accepted, .. } => {
                write!(f, "`{option}` at column {column} is `{found}`, expected {accepted}")?;
            }
            NestedSecondOrder => {
                return write!(
                    f,
                    "`SecondOrder` inside `SecondOrder` at column {column}; pass two first-order backends"
                );
            }
            Unexpected { expected, found } if found.is_empty() => {
                return write!(f, "expected {expected} at column {column}, found the end");
            }
            Unexpected { expected, found } => {
                return write!(f, "expected {expected} at column {column}, found `{found}`");
            }
        }
        match &self.kind {
            UnknownBackend { suggestion: Some(name), .. }
            | UnknownOption { suggestion: Some(name), .. }
            | InvalidValue { suggestion: Some(name), .. } => write!(f, "; did you mean `{name}`?"),
            UnknownBackend { found, .. } => match wrapper(found) {
                Some(advice) => write!(f, "; {advice}"),
                None => write!(f, "; known are {}", list(&NAMES)),
            },
            UnknownOption { accepted, .. } => write!(f, "; its options: {}", list(accepted)),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ParseBackendError {}

/// What to do instead of naming a wrapper or an engine that strings do not have.
fn wrapper(found: &str) -> Option<&'static str> {
    Some(match found.strip_prefix("Auto").unwrap_or(found) {
        "Sparse" => "a wrapper takes a parsed backend: `AutoSparse::new(any)`",
        "Threaded" => "a wrapper takes a parsed backend: `AutoThreaded::new(any)`",
        "Taylor" => "strings do not have it; pass `AutoTaylor` itself",
        _ => return None,
    })
}

/// The name that was probably meant: at most a third of its letters differ, case, underscores and hyphens aside. Also for the command
/// line `differentiation-interface-bench`.
pub fn closest<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let found = plain(found);
    let distance = |name: &&'a str| strsim::osa_distance(&found, &plain(name));
    names.into_iter().min_by_key(distance).filter(|name| distance(name) * 3 <= name.len())
}

impl FromStr for AnyBackend {
    type Err = ParseBackendError;

    fn from_str(text: &str) -> Result<AnyBackend, ParseBackendError> {
        let mut parser = Parser { text, position: 0 };
        let backend = parser.backend()?;
        parser.skip_space();
        if parser.position < text.len() {
            return Err(parser.unexpected("the end"));
        }
        Ok(backend)
    }
}

impl FromStr for FirstOrder {
    type Err = ParseBackendError;

    fn from_str(text: &str) -> Result<FirstOrder, ParseBackendError> {
        match text.parse()? {
            AnyBackend::FirstOrder(choice) => Ok(choice),
            AnyBackend::SecondOrder(..) => {
                let start = text.len() - text.trim_start().len();
                Err(Parser { text, position: start }.unexpected("a first-order backend"))
            }
        }
    }
}

/// A string and the position of the parser.
struct Parser<'a> {
    text: &'a str,
    position: usize,
}

/// A word of the string and its position.
#[derive(Clone, Copy)]
struct Word<'a> {
    start: usize,
    text: &'a str,
}

/// The name of a backend, without the prefix it may have.
fn name_of(word: Word<'_>) -> &str {
    word.text.strip_prefix("Auto").unwrap_or(word.text)
}

impl<'a> Parser<'a> {
    fn error(&self, position: usize, kind: ParseBackendErrorKind) -> ParseBackendError {
        ParseBackendError { column: self.text[..position].chars().count() + 1, kind }
    }

    /// The error that something other than `expected` is at the position.
    fn unexpected(&self, expected: &'static str) -> ParseBackendError {
        let mut rest = Parser { ..*self };
        let word = rest.word();
        let found = if word.text.is_empty() { rest.rest().chars().take(1).collect() } else { word.text.to_owned() };
        self.error(word.start, ParseBackendErrorKind::Unexpected { expected, found })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn skip_space(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    /// Reads up to the next separator.
    fn word(&mut self) -> Word<'a> {
        self.skip_space();
        let start = self.position;
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || "(),=".contains(c)).unwrap_or(rest.len());
        self.position += end;
        Word { start, text: &rest[..end] }
    }

    /// Reads a separator if it comes next.
    fn take(&mut self, separator: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(separator);
        if found {
            self.position += separator.len_utf8();
        }
        found
    }

    fn expect(&mut self, separator: char, expected: &'static str) -> Result<(), ParseBackendError> {
        if self.take(separator) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn backend(&mut self) -> Result<AnyBackend, ParseBackendError> {
        self.skip_space();
        let before = self.position;
        let word = self.word();
        if word.text.is_empty() {
            self.position = before;
            return Err(self.unexpected("a backend"));
        }
        if name_of(word) == "SecondOrder" {
            self.expect('(', "`(` and two backends")?;
            let outer = self.half()?;
            self.expect(',', "`,` and the inner backend")?;
            let inner = self.half()?;
            self.expect(')', "`)`")?;
            return Ok(AnyBackend::SecondOrder(outer, inner));
        }
        self.first_order(word).map(AnyBackend::FirstOrder)
    }

    /// A backend of first order, whose name has been read.
    fn first_order(&mut self, word: Word<'a>) -> Result<FirstOrder, ParseBackendError> {
        match name_of(word) {
            "ForwardDiff" => self.forward_diff(),
            "ReverseDiff" => self.reverse_diff(),
            "FiniteDiff" => self.finite_diff(),
            "FiniteDifferences" => self.finite_differences(),
            name => {
                let suggestion = closest(name, NAMES);
                let kind = ParseBackendErrorKind::UnknownBackend { found: word.text.to_owned(), suggestion };
                Err(self.error(word.start, kind))
            }
        }
    }

    /// A backend inside a `SecondOrder`. A nested pair is refused by its name, without recursion, whatever the depth of nesting.
    fn half(&mut self) -> Result<FirstOrder, ParseBackendError> {
        self.skip_space();
        let before = self.position;
        let word = self.word();
        if word.text.is_empty() {
            self.position = before;
            return Err(self.unexpected("a backend"));
        }
        if name_of(word) == "SecondOrder" {
            return Err(self.error(word.start, ParseBackendErrorKind::NestedSecondOrder));
        }
        self.first_order(word)
    }

    fn forward_diff(&mut self) -> Result<FirstOrder, ParseBackendError> {
        let mut backend = RuntimeForward::automatic();
        self.options("ForwardDiff", &["chunk"], |parser, option, value, _| {
            let chunk = value.text.parse().ok();
            let fixed = chunk.and_then(|chunk| AutoForwardDiff::with_runtime_chunk(Some(chunk)));
            backend = fixed.ok_or_else(|| parser.invalid(option, value, CHUNKS, None))?;
            Ok(())
        })?;
        Ok(FirstOrder::ForwardDiff(backend))
    }

    fn reverse_diff(&mut self) -> Result<FirstOrder, ParseBackendError> {
        const OPTIONS: &[&str] =
            &["compile", "refuse_other_branches", "most_recordings", "memory_limit", "tape", "recording_from"];
        let (mut compile, mut compiled) = (false, AutoCompiledReverseDiff::default());
        let (mut tape, mut chosen) = (false, AutoReverseDiff::default());
        let given = self.options("ReverseDiff", OPTIONS, |parser, option, value, index| {
            let truth = || {
                let suggestion = closest(value.text, ["true", "false"]);
                let wrong = || parser.invalid(option, value, "true or false", suggestion);
                value.text.parse::<bool>().map_err(|_| wrong())
            };
            let positive = |accepted| {
                let number = value.text.parse().ok().filter(|number: &usize| *number > 0);
                number.ok_or_else(|| parser.invalid(option, value, accepted, None))
            };
            match index {
                0 => compile = truth()?,
                1 if truth()? => compiled = compiled.refusing_other_branches(),
                1 => {}
                2 => compiled = compiled.with_most_recordings(positive("a whole number from 1")?),
                3 => {
                    let bytes = positive("a whole number of bytes from 1")?;
                    (compiled, chosen) = (compiled.with_memory_limit(bytes), chosen.with_memory_limit(bytes));
                }
                4 => tape = truth()?,
                _ => chosen = chosen.recording_from(positive("a whole number from 1")? as u64),
            }
            Ok(())
        })?;
        // Some options belong to a compiled recording, others to the engine that chooses.
        let is_excluded = |index: usize| (index == 4 && tape && compile) || (index == 5 && (tape || compile));
        let at = |wanted: &dyn Fn(usize) -> bool| given.iter().find(|(index, _)| wanted(*index)).copied();
        if let Some((index, start)) = at(&is_excluded) {
            let with = if compile { "compile=true" } else { "tape=true" };
            return Err(self.error(start, ParseBackendErrorKind::ExcludedOption { option: OPTIONS[index], with }));
        }
        match at(&|index| matches!(index, 1 | 2)) {
            _ if compile => Ok(compiled.into()),
            Some((index, start)) => {
                let kind = ParseBackendErrorKind::MissingOption { option: OPTIONS[index], needed: "compile=true" };
                Err(self.error(start, kind))
            }
            None if tape => Ok(chosen.recording_from(0).into()),
            None => Ok(chosen.into()),
        }
    }

    fn finite_diff(&mut self) -> Result<FirstOrder, ParseBackendError> {
        const OPTIONS: &[&str] = &["scheme", "relative_step", "absolute_step"];
        let mut scheme = AutoFiniteDiff::default();
        let mut steps = [None; 2];
        self.options("FiniteDiff", OPTIONS, |parser, option, value, index| {
            if index == 0 {
                let found = SCHEMES.iter().find(|(name, _)| *name == value.text);
                let suggestion = closest(value.text, SCHEMES.map(|(name, _)| name));
                let wrong = || parser.invalid(option, value, "forward, backward or central", suggestion);
                scheme = found.ok_or_else(wrong)?.1;
                return Ok(());
            }
            let step = value.text.parse().ok().filter(|step: &f64| *step > 0.0 && step.is_finite());
            let wrong = || parser.invalid(option, value, "a positive number", None);
            steps[index - 1] = Some(step.ok_or_else(wrong)?);
            Ok(())
        })?;
        let backend = steps[0].map_or(scheme, |step| scheme.relative_step(step));
        let backend = steps[1].map_or(backend, |step| backend.absolute_step(step));
        Ok(FirstOrder::FiniteDiff(backend))
    }

    fn finite_differences(&mut self) -> Result<FirstOrder, ParseBackendError> {
        const OPTIONS: &[&str] = &["scheme", "levels", "order", "first_step", "noise", "lower", "upper"];
        let mut scheme = AutoFiniteDifferences::default();
        let (mut whole, mut numbers, mut bounds) = ([None; 2], [None; 2], [f64::NEG_INFINITY, f64::INFINITY]);
        self.options("FiniteDifferences", OPTIONS, |parser, option, value, index| {
            let number = value.text.parse().ok().filter(|number: &f64| number.is_finite());
            let wrong = |accepted| parser.invalid(option, value, accepted, None);
            match index {
                0 => {
                    let found = SIDES.iter().find(|(name, _)| *name == value.text);
                    let suggestion = closest(value.text, SIDES.map(|(name, _)| name));
                    let wrong = || parser.invalid(option, value, "forward, backward or central", suggestion);
                    scheme = found.ok_or_else(wrong)?.1;
                }
                1 | 2 => {
                    let (most, accepted) = if index == 1 {
                        (16, "a whole number from 1 to 16")
                    } else {
                        (12, "a whole number from 1 to 12")
                    };
                    let found = value.text.parse().ok().filter(|number| (1..=most).contains(number));
                    whole[index - 1] = Some(found.ok_or_else(|| wrong(accepted))?);
                }
                3 | 4 => {
                    let positive = number.filter(|number| *number > 0.0);
                    numbers[index - 3] = Some(positive.ok_or_else(|| wrong("a positive number"))?);
                }
                _ => bounds[index - 5] = number.ok_or_else(|| wrong("a number"))?,
            }
            Ok(())
        })?;
        let backend = whole[0].map_or(scheme, |levels| scheme.levels(levels));
        let backend = whole[1].map_or(backend, |order| backend.order(order));
        let backend = numbers[0].map_or(backend, |step| backend.first_step(step));
        let backend = numbers[1].map_or(backend, |noise| backend.noise(noise));
        Ok(FirstOrder::FiniteDifferences(backend.within(bounds[0], bounds[1])))
    }

    fn invalid(
        &self,
        option: &'static str,
        value: Word<'_>,
        accepted: &'static str,
        suggestion: Option<&'static str>,
    ) -> ParseBackendError {
        let found = value.text.to_owned();
        self.error(value.start, ParseBackendErrorKind::InvalidValue { option, found, accepted, suggestion })
    }

    /// Reads the options in parentheses, if there are any, and calls `set` with each: the option, its value, and its index
    /// in `accepted`. Returns the indices, and where the options begin.
    fn options(
        &mut self,
        backend: &'static str,
        accepted: &'static [&'static str],
        mut set: impl FnMut(&Self, &'static str, Word<'a>, usize) -> Result<(), ParseBackendError>,
    ) -> Result<Vec<(usize, usize)>, ParseBackendError> {
        let mut seen = Vec::new();
        if !self.take('(') || self.take(')') {
            return Ok(seen);
        }
        loop {
            let name = self.word();
            if name.text.is_empty() {
                return Err(self.unexpected("an option or `)`"));
            }
            let Some(index) = accepted.iter().position(|option| *option == name.text) else {
                let suggestion = closest(name.text, accepted.iter().copied());
                let found = name.text.to_owned();
                let kind = ParseBackendErrorKind::UnknownOption { backend, found, accepted, suggestion };
                return Err(self.error(name.start, kind));
            };
            let option = accepted[index];
            if seen.iter().any(|(known, _)| *known == index) {
                return Err(self.error(name.start, ParseBackendErrorKind::RepeatedOption { option }));
            }
            seen.push((index, name.start));
            self.expect('=', "`=` and a value")?;
            let value = self.word();
            set(self, option, value, index)?;
            if self.take(')') {
                return Ok(seen);
            }
            self.expect(',', "`,` or `)`")?;
        }
    }
}

impl fmt::Display for AnyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyBackend::FirstOrder(choice) => choice.fmt(f),
            AnyBackend::SecondOrder(outer, inner) => write!(f, "SecondOrder({outer}, {inner})"),
        }
    }
}

impl fmt::Display for FirstOrder {
    /// Options that are not set are not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options: Vec<String> = Vec::new();
        match self {
            FirstOrder::ForwardDiff(backend) => options.extend(backend.chunk().map(|chunk| format!("chunk={chunk}"))),
            FirstOrder::ReverseDiff(backend) => backend.print_options(&mut options),
            FirstOrder::CompiledReverseDiff(backend) => {
                let standard = AutoCompiledReverseDiff::default();
                options.push("compile=true".to_owned());
                if backend.refuses_other_branches() {
                    options.push("refuse_other_branches=true".to_owned());
                }
                if backend.most_recordings() != standard.most_recordings() {
                    options.push(format!("most_recordings={}", backend.most_recordings()));
                }
                if backend.limits() != standard.limits() {
                    options.push(format!("memory_limit={}", backend.limits().bytes));
                }
            }
            FirstOrder::FiniteDiff(backend) => {
                let scheme = match backend.scheme() {
                    Scheme::Forward => None,
                    Scheme::Backward => Some("scheme=backward"),
                    Scheme::Central => Some("scheme=central"),
                };
                options.extend(scheme.map(str::to_owned));
                let [relative, absolute] = backend.steps();
                options.extend(relative.map(|step| format!("relative_step={step:?}")));
                options.extend(absolute.map(|step| format!("absolute_step={step:?}")));
            }
            FirstOrder::FiniteDifferences(backend) => {
                let scheme = match backend.side() {
                    Side::Central => None,
                    Side::Right => Some("scheme=forward"),
                    Side::Left => Some("scheme=backward"),
                };
                options.extend(scheme.map(str::to_owned));
                backend.print_options(&mut options);
            }
        }
        f.write_str(self.name())?;
        if options.is_empty() { Ok(()) } else { write!(f, "({})", options.join(", ")) }
    }
}
