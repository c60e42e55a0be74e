//! Which names functions and arguments of the emitted code can have.
//!
//! Called by [`Recording`](crate::Recording) for each name that a user gives. Names of functions have an end, as in `f_gradient`; names of
//! arguments stand alone, beside everything that the code and the headers of C name.

use crate::error::Error;

/// Words that are no names in Rust or C, or that the printed code uses itself.
const RESERVED: &[&str] = &[
    "as", "async", "auto", "await", "break", "case", "char", "const", "continue", "crate", "default", "do", "double",
    "dyn", "else", "enum", "extern", "f32", "f64", "false", "float", "fn", "for", "goto", "if", "impl", "in", "inline",
    "int", "let", "libm", "long", "loop", "match", "mod", "move", "mut", "pub", "ref", "register", "restrict",
    "return", "select", "self", "short", "signed", "sizeof", "static", "struct", "super", "switch", "trait", "true",
    "type", "typedef", "union", "unsafe", "unsigned", "use", "void", "volatile", "where", "while", "work", "yield",
];

/// Other words that no argument can be: kept for later by Rust; of later C and of C++, which reads the header; values of the prelude of
/// Rust.
const WORDS: &str = "\
    abstract alignas alignof and and_eq asm become bitand bitor bool box catch char16_t char32_t char8_t \
    class co_await co_return co_yield compl concept const_cast consteval constexpr constinit decltype \
    delete dynamic_cast explicit export final friend gen macro mutable namespace new noexcept not not_eq \
    nullptr operator or or_eq override priv private protected public reinterpret_cast requires \
    static_assert static_cast template this thread_local throw try typeid typename typeof unsized using \
    virtual wchar_t xor xor_eq Err None Ok Self Some";
/// Macros of compilers and of the headers that the code includes.
const MACROS: &str = "\
    DOMAIN EOF INFINITY M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 \
    M_SQRT1_2 M_SQRT2 NAN NULL OVERFLOW PLOSS SING TLOSS UNDERFLOW X_TLOSS i386 isfinite isinf isnan \
    isnormal linux math_errhandling signbit signgam unix";
/// How other macros of the headers `float.h`, `math.h` and `stdint.h` begin, and the tables of constants in the code.
const BEGINNINGS: &str = "\
    CELLS_ DATA_ DBL_ DEC_ DECIMAL_ FLT_ FP_ HUGE INT8_ INT16_ INT32_ INT64_ INTMAX_ INTPTR_ INT_ LDBL_ \
    MATH_ PTRDIFF_ SIG_ SIZE_ UINT8_ UINT16_ UINT32_ UINT64_ UINTMAX_ UINTPTR_ UINT_ WCHAR_ WINT_ cells_ \
    data_";

/// The name, if it is an identifier of both languages.
pub(crate) fn identifier(name: &str) -> Result<String, Error> {
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    let is_identifier = starts && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_identifier && !RESERVED.contains(&name) {
        return Ok(name.to_string());
    }
    Err(Error::Name { name: name.to_string() })
}

/// The name, if an argument can have it.
pub(crate) fn argument(name: &str) -> Result<String, Error> {
    // Neither macros nor the numbered tables have small letters after their beginning.
    let begins = |beginning: &str| {
        name.strip_prefix(beginning).is_some_and(|end| !end.contains(|c: char| c.is_ascii_lowercase()))
    };
    let is_taken = WORDS.split(' ').chain(MACROS.split(' ')).any(|word| word == name);
    if is_taken || BEGINNINGS.split(' ').any(begins) {
        return Err(Error::Name { name: name.to_string() });
    }
    identifier(name)
}
