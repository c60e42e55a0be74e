//! A file of emitted functions.
//!
//! Built by users from recordings and operators; printed as Rust, or as C with its header.

use crate::error::Error;
use crate::layout::Layout;
use crate::operator::{Emitted, Operator, emitted};
use crate::print::{Dialect, Language, Precision, Printer, Used};
use crate::record::Recording;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Functions to be printed together; elementary functions that they share are printed once.
///
/// Rust code needs no `std`, no allocator and no `unsafe`; where a function calls an elementary function that `core` lacks, it needs the
/// crate `libm`. C code is C99. Both follow the operations of the recording: sums in loops are added in order, products with zero are floating-point
/// products.
///
/// # Example
/// From a function to C:
/// ```
/// use derivative_source::{Operator, Recording, Source};
/// use differentiation_interface_core::Real;
///
/// fn rosenbrock<T: Real>(x: &[T]) -> T {
///     x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
/// }
/// let recording = Recording::new("rosenbrock", &|x: &[_]| rosenbrock(x), &&[0.5; 1000])?;
/// let source = Source::new().with(&recording, Operator::GRADIENT)?;
/// let (c, header) = (source.c("rosenbrock.h")?, source.header());
/// assert!(header.contains("void rosenbrock_gradient(const double *restrict x, double *restrict grad);"));
/// assert!(c.contains("for (int i = 0; i < 998; i++) {"));
/// assert!(c.lines().count() < 40);
/// # Ok::<(), derivative_source::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Source {
    functions: Vec<Emitted>,
    precision: Option<Precision>,
    command: String,
    std: bool,
    slices: bool,
    tracks: bool,
}

impl Source {
    /// No functions yet.
    pub fn new() -> Source {
        Source::default()
    }

    /// The same with an operator of a function.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of inputs or outputs of the function is not one that the operator accepts; [`Error::TooLarge`] if a sparse
    /// matrix takes too much code; [`Error::CustomRule`], [`Error::UserRule`] for functions whose code is not known; [`Error::Name`]
    /// if there is a function of this name, or two arguments have one name; [`Error::Twice`] if constants of two functions, or a constant
    /// and an argument, have one name; errors of the derivative itself.
    pub fn with(mut self, recording: &Recording, operator: Operator) -> Result<Source, Error> {
        let emitted = emitted(recording, operator, self.tracks)?;
        let name = &emitted.signature.name;
        if self.functions.iter().any(|known| known.signature.name == *name) {
            return Err(Error::Name { name: name.clone() });
        }
        self.defined_twice(&emitted)?;
        if self.precision.is_none() && recording.is_single {
            self.precision = Some(Precision::Single);
        }
        self.functions.push(emitted);
        Ok(self)
    }

    /// An error if a constant of a function has the name of one of another function, or of an argument. Functions with the same matrix
    /// share its pattern.
    fn defined_twice(&self, new: &Emitted) -> Result<(), Error> {
        let own = new.constants();
        for known in self.functions.iter().chain([new]) {
            let constants = known.constants();
            let is_new = known.signature.name != new.signature.name;
            let shared = if known.pattern == new.pattern { known.pattern_constants() } else { Vec::new() };
            let twice = own.iter().find(|name| is_new && constants.contains(name) && !shared.contains(name));
            let of_arguments = |emitted: &Emitted, constants: &[String]| {
                constants.iter().find(|name| emitted.signature.has_argument(name)).cloned()
            };
            let twice = twice.cloned().or_else(|| of_arguments(new, &constants)).or_else(|| of_arguments(known, &own));
            if let Some(name) = twice {
                let functions = [known.signature.name.clone(), new.signature.name.clone()];
                return Err(Error::Twice { name, functions });
            }
        }
        Ok(())
    }

    /// The same over these numbers; by default over those of the first recording.
    pub fn over(self, precision: Precision) -> Source {
        Source { precision: Some(precision), ..self }
    }

    /// The same Rust code with the elementary functions of `std` in place of those of `libm`; `erf`, `erfc` and `ln_gamma` are in `libm`
    /// only.
    pub fn with_std(self) -> Source {
        Source { std: true, ..self }
    }

    /// The same Rust code with slices in place of arrays as arguments. The functions panic if a slice is not as long as the array would be.
    pub fn with_slices(self) -> Source {
        Source { slices: true, ..self }
    }

    /// The same with the command that makes the file, which is written at its top: in one line, and with a space in each `*/` and `/*` in C.
    pub fn made_by(self, command: &str) -> Source {
        Source { command: command.to_string(), ..self }
    }

    /// The same, in which operators that are added later tell absent derivatives from zeros: at points where a factor is infinite or NaN, a
    /// derivative that does not depend on it is then a number. This takes more code.
    pub fn tracking_absent(self) -> Source {
        Source { tracks: true, ..self }
    }

    /// The functions, in the order in which they were added, for programs that call them.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        self.functions.iter().map(|emitted| Function { emitted })
    }

    fn dialect(&self, language: Language) -> Dialect {
        Dialect { language, precision: self.precision.unwrap_or_default(), takes_slices: self.slices }
    }

    fn head(&self, comment: &str) -> String {
        let mut head = format!("{comment} Made by derivative-source {}; do not edit.", env!("CARGO_PKG_VERSION"));
        // The command stays one line, and within the comment.
        let mut command = self.command.replace(char::is_control, " ").trim_end().to_string();
        if comment == "/*" {
            command = command.replace("*/", "* /").replace("/*", "/ *");
        }
        if !command.is_empty() {
            let _ = write!(head, " Renew it by: {command}");
        }
        head
    }

    /// All functions, each pattern before the first that has it.
    fn functions_in(
        &self,
        dialect: Dialect,
        used: &mut Used,
        print_pattern: impl Fn(&Layout<'_>) -> String,
    ) -> Result<String, Error> {
        let mut functions = String::new();
        let mut patterns = BTreeSet::new();
        for Emitted { signature, code, pattern } in &self.functions {
            functions.push('\n');
            if let Some((name, pattern)) = pattern
                && patterns.insert(name.as_str())
            {
                functions += &print_pattern(&Layout::new(name, pattern));
            }
            functions += &Printer::new(dialect, signature, code, used).print()?;
        }
        // An argument would hide a function of its name.
        let signatures = self.functions.iter().map(|emitted| &emitted.signature);
        match used.called().find(|name| signatures.clone().any(|signature| signature.has_argument(name))) {
            Some(name) => Err(Error::Called { name: name.to_string() }),
            None => Ok(functions),
        }
    }

    /// The file in Rust, for `include!`, as a module, or as a crate of its own.
    ///
    /// # Errors
    /// [`Error::NoSource`] if an elementary function has no source code; [`Error::Called`] if an argument has the name of a function that
    /// the code calls.
    pub fn rust(&self) -> Result<String, Error> {
        let dialect = self.dialect(Language::Rust { std: self.std });
        let mut used = Used::default();
        let functions = self.functions_in(dialect, &mut used, |layout| layout.rust())?;
        let mut text = self.head("//") + "\n";
        if self.functions.iter().any(|emitted| emitted.signature.has_guards) {
            text += BRANCH_CHANGED;
        }
        Ok(text + &functions + &used.functions(dialect))
    }

    /// The file in C99; `header` is the name of the file with [`header`](Self::header).
    ///
    /// # Errors
    /// [`Error::NoSource`] if an elementary function has no source code; [`Error::Called`] if an argument has the name of a function that
    /// the code calls.
    pub fn c(&self, header: &str) -> Result<String, Error> {
        let dialect = self.dialect(Language::C);
        let mut used = Used::default();
        let functions = self.functions_in(dialect, &mut used, |layout| layout.c())?;
        let mut text = self.head("/*") + " */\n";
        let _ = writeln!(text, "#include \"{header}\"");
        text += "\n#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n";
        Ok(text + &used.functions(dialect) + &functions)
    }

    /// The header of the file in C, for C and C++.
    pub fn header(&self) -> String {
        let dialect = self.dialect(Language::C);
        let mut text = self.head("/*") + " */\n#pragma once\n\n";
        text += "#ifdef __cplusplus\n#define restrict __restrict\nextern \"C\" {\n#endif\n";
        let mut patterns = BTreeSet::new();
        for Emitted { signature, code, pattern } in &self.functions {
            text.push('\n');
            if code.work > 0 && crate::print::takes_work(code) {
                let _ = writeln!(text, "#define {} {}", signature.work(), code.work);
            }
            if let Some((name, pattern)) = pattern
                && patterns.insert(name.as_str())
            {
                text += &Layout::new(name, pattern).header();
            }
            let lines = signature.text(dialect, code);
            let _ = writeln!(text, "/* {} */", lines.join("\n   "));
            let _ = writeln!(text, "{};", signature.declaration(dialect, code));
        }
        text += "\n#ifdef __cplusplus\n}\n#undef restrict\n#endif\n";
        text
    }

    /// Writes `<name>.rs` into a folder, such as `OUT_DIR` in a build script. The file is left alone if it has these contents already.
    ///
    /// # Errors
    /// Errors of the file system; those of [`rust`](Self::rust).
    ///
    /// # Example
    /// In `build.rs`, with `include!(concat!(env!("OUT_DIR"), "/spring.rs"));` in the crate:
    /// ```
    /// use derivative_source::{Operator, Recording, Source};
    /// # let out = std::env::temp_dir().join(format!("derivative-source-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&out)?;
    /// # let out = out.to_str().unwrap().to_string();
    /// // let out = std::env::var("OUT_DIR")?;
    /// let spring = Recording::new("spring", &|x: &[_]| x[0] * x[0] * 3.0, &&[1.0])?;
    /// Source::new().with(&spring, Operator::GRADIENT)?.write_rust(&out, "spring")?;
    /// assert!(std::fs::read_to_string(format!("{out}/spring.rs"))?.contains("grad[0] = 6.0 * x[0];"));
    /// # std::fs::remove_dir_all(&out)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_rust(&self, folder: impl AsRef<Path>, name: &str) -> io::Result<()> {
        write(&folder.as_ref().join(format!("{name}.rs")), &self.rust().map_err(io::Error::other)?)
    }

    /// Writes `<name>.c` and `<name>.h` into a folder.
    ///
    /// # Errors
    /// Errors of the file system; those of [`c`](Self::c).
    pub fn write_c(&self, folder: impl AsRef<Path>, name: &str) -> io::Result<()> {
        let folder = folder.as_ref();
        write(&folder.join(format!("{name}.c")), &self.c(&format!("{name}.h")).map_err(io::Error::other)?)?;
        write(&folder.join(format!("{name}.h")), &self.header())
    }
}

/// An emitted function, as its callers see it.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    emitted: &'a Emitted,
}

impl<'a> Function<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        &self.emitted.signature.name
    }
    /// Names and lengths of the inputs, in the order of the arguments.
    pub fn inputs(self) -> impl Iterator<Item = (&'a str, usize)> {
        let inputs = self.emitted.signature.inputs.iter().filter(|(name, _)| !name.is_empty());
        inputs.map(|(name, length)| (name.as_str(), *length))
    }
    /// Names and lengths of the outputs, in the order of the arguments.
    pub fn outputs(self) -> impl Iterator<Item = (&'a str, usize)> {
        self.emitted.signature.outputs.iter().map(|output| (output.name.as_str(), output.length))
    }
    /// Whether the first output is the result of the Rust function, and no argument.
    pub fn returns_number(self) -> bool {
        self.emitted.signature.returned().is_some()
    }
    /// Length of the work space, if that is an argument: the last one.
    pub fn work(self) -> Option<usize> {
        let code = &self.emitted.code;
        crate::print::takes_work(code).then_some(code.work)
    }
    /// Whether it refuses points at which the function takes another branch.
    pub fn has_branches(self) -> bool {
        self.emitted.signature.has_guards
    }
    /// The places of the entries of a sparse matrix, in order.
    pub fn pattern(self) -> Option<Vec<(usize, usize)>> {
        self.emitted.pattern.as_ref().map(|(_, pattern)| pattern.entries().collect())
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    // A new time of change would make builds run again.
    if std::fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    std::fs::write(path, text)
}

const BRANCH_CHANGED: &str = "
/// The function takes a different branch than at the point where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchChanged {
    /// The line of the comparison in the source of the function.
    pub line: u32,
}
";
