//! Elementary functions in the two languages: calls of the language's library, and functions that are printed with the code.
//!
//! Called by the printers. The printed functions are those of the rule table (`rules` of the core), so that results agree; see there
//! for what each one avoids.

use super::dialect::{Dialect, Language, Precision};
use super::functions::FUNCTIONS;
use crate::error::Error;
use compiled_trace::rules::*;
use std::collections::BTreeSet;

/// How a function is called.
pub(super) enum Call {
    /// A function of `core` and of the C library, by both names.
    Core(&'static str, &'static str),
    /// A function of `libm`, of `std` (none if there is none there) and of the C library.
    Library(&'static str, Option<&'static str>, &'static str),
    /// A function that is printed with the code.
    Printed(&'static str),
}

use Call::{Core, Library, Printed};

/// The call of a rule of one argument.
pub(super) fn unary(rule: u16) -> Call {
    match rule {
        ABS => Core("abs", "fabs"),
        SIGNUM => Printed("signum"),
        FLOOR => Library("floor", Some("floor"), "floor"),
        CEIL => Library("ceil", Some("ceil"), "ceil"),
        ROUND => Library("round", Some("round"), "round"),
        TRUNC => Library("trunc", Some("trunc"), "trunc"),
        FRACT => Printed("fract"),
        DEGREES => Printed("degrees"),
        RADIANS => Printed("radians"),
        SQRT => Library("sqrt", Some("sqrt"), "sqrt"),
        CBRT => Library("cbrt", Some("cbrt"), "cbrt"),
        EXP => Library("exp", Some("exp"), "exp"),
        EXP2 => Library("exp2", Some("exp2"), "exp2"),
        EXP_M1 => Library("expm1", Some("exp_m1"), "expm1"),
        LN => Library("log", Some("ln"), "log"),
        LOG2 => Library("log2", Some("log2"), "log2"),
        LOG10 => Library("log10", Some("log10"), "log10"),
        LN_1P => Library("log1p", Some("ln_1p"), "log1p"),
        SIN => Library("sin", Some("sin"), "sin"),
        COS => Library("cos", Some("cos"), "cos"),
        TAN => Library("tan", Some("tan"), "tan"),
        ASIN => Library("asin", Some("asin"), "asin"),
        ACOS => Library("acos", Some("acos"), "acos"),
        ATAN => Library("atan", Some("atan"), "atan"),
        SINH => Library("sinh", Some("sinh"), "sinh"),
        COSH => Library("cosh", Some("cosh"), "cosh"),
        TANH => Library("tanh", Some("tanh"), "tanh"),
        ASINH => Library("asinh", Some("asinh"), "asinh"),
        ACOSH => Library("acosh", Some("acosh"), "acosh"),
        ATANH => Library("atanh", Some("atanh"), "atanh"),
        ERF => Library("erf", None, "erf"),
        ERFC => Library("erfc", None, "erfc"),
        LN_GAMMA => Library("lgamma", None, "lgamma"),
        SECH_SQUARED => Printed("sech_squared"),
        HYPOT_ONE => Printed("hypot_one"),
        LOGISTIC => Printed("logistic"),
        SOFTPLUS => Printed("softplus"),
        CBRT_SLOPE => Printed("cbrt_slope"),
        ONE_MINUS_SQUARE => Printed("one_minus_square"),
        ASIN_SLOPE => Printed("asin_slope"),
        ATAN_SLOPE => Printed("atan_slope"),
        ACOSH_SLOPE => Printed("acosh_slope"),
        GAUSS => Printed("gauss"),
        LOGISTIC_SLOPE => Printed("logistic_slope"),
        _ => Printed("unknown"),
    }
}

/// The call of a rule of two arguments that is no operator.
pub(super) fn binary(rule: u16) -> Call {
    match rule {
        POWF => Library("pow", Some("powf"), "pow"),
        ATAN2 => Library("atan2", Some("atan2"), "atan2"),
        HYPOT => Library("hypot", Some("hypot"), "hypot"),
        MAX => Core("max", "fmax"),
        MIN => Core("min", "fmin"),
        COPYSIGN => Core("copysign", "copysign"),
        AT_LEAST => Printed("at_least"),
        AT_MOST => Printed("at_most"),
        ABS_SUB => Printed("abs_sub"),
        DIRECTION => Printed("direction"),
        HYPOT_BEND => Printed("hypot_bend"),
        HYPOT_CROSS => Printed("hypot_cross"),
        ANGULAR => Printed("angular"),
        ANGULAR_BEND => Printed("angular_bend"),
        ANGULAR_CROSS => Printed("angular_cross"),
        POWF_BY_BASE => Printed("powf_by_base"),
        POWF_BY_EXPONENT => Printed("powf_by_exponent"),
        POWF_BY_BASE_TWICE => Printed("powf_by_base_twice"),
        POWF_MIXED => Printed("powf_mixed"),
        POWF_BY_EXPONENT_TWICE => Printed("powf_by_exponent_twice"),
        PRODUCT_ERROR => Printed("product_error"),
        SUM_ERROR => Printed("sum_error"),
        ODD_SUM => Printed("odd_sum"),
        POWF_BY_BASE_THRICE => Printed("powf_by_base_thrice"),
        _ => Printed("unknown"),
    }
}

/// The call of the remainder in C, which is an operator in Rust.
pub(super) fn remainder() -> Call {
    Library("fmod", None, "fmod")
}

/// The functions that have been called.
#[derive(Default)]
pub(crate) struct Used {
    printed: BTreeSet<&'static str>,
    /// Functions of the C library that are called by their plain names.
    plain: BTreeSet<String>,
    /// Whether the crate `libm` is called.
    pub(crate) libm: bool,
}

impl Used {
    /// The function's name in a call.
    pub(super) fn name(&mut self, call: Call, dialect: Dialect) -> Result<String, Error> {
        let suffix = if dialect.precision == Precision::Single { "f" } else { "" };
        let float = dialect.float();
        Ok(match (call, dialect.language) {
            (Core(name, _), Language::Rust { .. }) => format!("{float}::{name}"),
            (Library(_, Some(name), _), Language::Rust { std: true }) => format!("{float}::{name}"),
            (Library(name, _, _), Language::Rust { .. }) => {
                self.libm = true;
                format!("libm::{name}{suffix}")
            }
            (Core(_, name) | Library(_, _, name), Language::C) => {
                self.plain.insert(format!("{name}{suffix}"));
                format!("{name}{suffix}")
            }
            (Printed(name), _) => {
                self.print(name, dialect)?;
                name.to_string()
            }
        })
    }

    /// The names that the code calls without a path.
    pub(crate) fn called(&self) -> impl Iterator<Item = &str> {
        self.printed.iter().copied().chain(self.plain.iter().map(String::as_str))
    }

    /// Marks a printed function, and those that it calls.
    pub(super) fn print(&mut self, name: &'static str, dialect: Dialect) -> Result<(), Error> {
        let Some((known, _, _)) = FUNCTIONS.iter().find(|(known, _, _)| *known == name) else {
            return Err(Error::NoSource { name: name.to_string() });
        };
        if self.printed.insert(known) {
            let text = function(known, dialect);
            for (other, _, _) in FUNCTIONS {
                if text.contains(&format!(" {other}(")) || text.contains(&format!("({other}(")) {
                    self.print(other, dialect)?;
                }
            }
            self.libm |= text.contains("libm::");
        }
        Ok(())
    }

    /// The printed functions, in the order of the list below, in which each comes after those it calls.
    pub(crate) fn functions(&self, dialect: Dialect) -> String {
        let printed = FUNCTIONS.iter().filter(|(name, _, _)| self.printed.contains(name));
        printed.map(|(name, _, _)| format!("\n{}", function(name, dialect))).collect()
    }
}

/// The text of a printed function. `F` stands for the number type, `@exp` for a call of the library.
fn function(name: &str, dialect: Dialect) -> String {
    let (_, rust, c) = FUNCTIONS.iter().find(|(known, _, _)| *known == name).expect("names come from this list");
    let mut text = match dialect.language {
        Language::Rust { .. } => rust.to_string(),
        Language::C => c.to_string(),
    };
    for (mark, double, single) in CONSTANTS {
        text = text.replace(mark, if dialect.precision == Precision::Double { double } else { single });
    }
    let calls: &[(&str, Call)] = &[
        ("@sqrt(", unary(SQRT)),
        ("@expm1(", unary(EXP_M1)),
        ("@exp(", unary(EXP)),
        ("@ln(", unary(LN)),
        ("@log1p(", unary(LN_1P)),
        ("@cbrt(", unary(CBRT)),
        ("@hypot(", binary(HYPOT)),
        ("@pow(", binary(POWF)),
        ("@trunc(", unary(TRUNC)),
        ("@floor(", unary(FLOOR)),
        ("@ceil(", unary(CEIL)),
        ("@round(", unary(ROUND)),
        ("@tan(", unary(TAN)),
        ("@sin(", unary(SIN)),
        ("@fma(", Library("fma", Some("mul_add"), "fma")),
        ("@abs(", Core("abs", "fabs")),
        ("@max(", Core("max", "fmax")),
        ("@min(", Core("min", "fmin")),
        ("@copysign(", Core("copysign", "copysign")),
    ];
    let mut used = Used::default();
    for (mark, call) in calls {
        if text.contains(mark) {
            let call = match call {
                Core(a, b) => Core(a, b),
                Library(a, b, c) => Library(a, *b, c),
                Printed(a) => Printed(a),
            };
            let name = used.name(call, dialect).expect("calls of the library have names");
            text = text.replace(mark, &format!("{name}("));
        }
    }
    text
}

/// Constants that depend on the precision.
const CONSTANTS: &[(&str, &str, &str)] = &[
    ("%CUT", "134217729.0", "4097.0"),
    ("%LOW", "1e-70", "1e-7"),
    ("%HIGH", "1e70", "1e7"),
    ("%TINY", "1e-150", "1e-15"),
    ("%MOST", "1000", "120"),
    ("%BIAS", "1023", "127"),
    ("%BITS", "52", "23"),
    ("%MASK", "0x7ff", "0xff"),
    ("%UINT", "u64", "u32"),
    ("%INT", "i64", "i32"),
    ("%CUINT", "uint64_t", "uint32_t"),
    ("%CINT", "int64_t", "int32_t"),
    ("%LEAST", "DBL_MIN", "FLT_MIN"),
    ("%MAXIMUM", "DBL_MAX", "FLT_MAX"),
    ("%F", "f64", "f32"),
    ("%D", "double", "float"),
];
