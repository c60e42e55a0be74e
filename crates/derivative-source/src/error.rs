//! Why a function has no source code.

use std::fmt;

/// What went wrong when source code was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The function could not be recorded or differentiated.
    Interface(differentiation_interface_core::error::Error),
    /// The function calls a custom rule, whose code cannot be printed.
    CustomRule {
        /// Name of the rule.
        name: String,
    },
    /// The function uses an elementary function that is not in the rule table.
    UserRule {
        /// Name of the rule.
        name: String,
    },
    /// A derivative of an elementary function that has no source code: one of third order.
    NoSource {
        /// Name of the rule.
        name: String,
    },
    /// The operator needs another number of inputs or outputs.
    Shape {
        /// Name of the operator.
        operator: &'static str,
        /// What it needs.
        needs: &'static str,
        /// Number of inputs of the function.
        inputs: usize,
        /// Number of outputs of the function.
        outputs: usize,
    },
    /// The entries of a sparse matrix take too much code.
    TooLarge {
        /// Name of the operator.
        operator: &'static str,
        /// Number of stored entries.
        entries: usize,
    },
    /// The fields of a layout are not the numbers of the point.
    Fields {
        /// Number of inputs of the function.
        expected: usize,
        /// Length of all fields.
        found: usize,
    },
    /// A name has a meaning of its own in Rust, C, C++ or the emitted code, is no identifier, or occurs twice.
    Name {
        /// The name.
        name: String,
    },
    /// An argument has the name of a function that the code calls.
    Called {
        /// The name.
        name: String,
    },
    /// Two functions of a file define the same name: those of constants are in capital letters.
    Twice {
        /// The name.
        name: String,
        /// The functions with it.
        functions: [String; 2],
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Interface(error) => error.fmt(f),
            Error::CustomRule { name } => write!(
                f,
                "source code: the function calls the custom rule `{name}`, whose code cannot be printed; write it out on numbers"
            ),
            Error::UserRule { name } => write!(
                f,
                "source code: the elementary function `{name}` is not in the rule table, so its code cannot be printed; compose it of functions of the table"
            ),
            Error::NoSource { name } => write!(
                f,
                "source code: the derivative `{name}` has no source code, as it occurs in third order only; emit a lower order"
            ),
            Error::Shape { operator, needs, inputs, outputs } => write!(
                f,
                "`{operator}` needs {needs}, the function has {inputs} inputs and {outputs} outputs; choose another operator"
            ),
            Error::TooLarge { operator, entries } => write!(
                f,
                "`{operator}`: the {entries} entries depend on long computations that they share, so that code for each of them would be too large; emit the dense matrix or products"
            ),
            Error::Fields { expected, found } => write!(
                f,
                "source code: the function has {expected} inputs, the fields of the layout have {found}; pass the layout of the point"
            ),
            Error::Name { name } => write!(
                f,
                "source code: `{name}` is not an identifier of Rust, C and C++, has a meaning there, or is used twice; give another name"
            ),
            Error::Called { name } => write!(
                f,
                "source code: the argument `{name}` has the name of a function that the code calls; give the argument another name"
            ),
            Error::Twice { name, functions: [first, second] } => write!(
                f,
                "source code: `{first}` and `{second}` both define `{name}`; give one of the recordings or arguments another name"
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<differentiation_interface_core::error::Error> for Error {
    fn from(error: differentiation_interface_core::error::Error) -> Error {
        Error::Interface(error)
    }
}
