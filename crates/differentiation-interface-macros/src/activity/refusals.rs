//! The methods of `f64` that the analysis knows, and those that it refuses, with what to write instead.

use crate::errors::Errors;
use crate::number::mentions;
use proc_macro2::Span;
use quote::ToTokens;
use std::fmt::Display;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Lit, Safety, Signature, Type};

/// The further arguments and the result of a method of `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arguments {
    /// This many numbers; returns a number.
    Numbers(usize),
    /// An exponent, which is constant or not; returns a number.
    Power,
    /// An integer; returns a number.
    Integer,
    /// No argument; returns no number.
    Question,
    /// No argument; returns two numbers.
    Pair,
    /// A number by reference; returns no number.
    Order,
}

/// The methods of `f64` that an active number has too.
pub(super) fn float_method(name: &str) -> Option<Arguments> {
    Some(match name {
        "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "asinh" | "acosh" | "atanh"
        | "exp" | "exp2" | "exp_m1" | "ln" | "ln_1p" | "log2" | "log10" | "sqrt" | "cbrt" | "abs" | "signum"
        | "recip" | "floor" | "ceil" | "round" | "trunc" | "fract" | "to_degrees" | "to_radians" | "erf" | "erfc"
        | "ln_gamma" | "digamma" | "logistic" | "softplus" => Arguments::Numbers(0),
        "max" | "min" | "atan2" | "hypot" | "copysign" | "log" | "abs_sub" | "rem_euclid" | "div_euclid" => {
            Arguments::Numbers(1)
        }
        "mul_add" | "clamp" => Arguments::Numbers(2),
        "powf" => Arguments::Power,
        "powi" => Arguments::Integer,
        "sin_cos" => Arguments::Pair,
        "total_cmp" => Arguments::Order,
        "is_nan" | "is_finite" | "is_infinite" | "is_normal" | "is_sign_negative" | "is_sign_positive" | "classify" => {
            Arguments::Question
        }
        _ => return None,
    })
}

/// Whether active numbers have this method while `f64` has not: on `f64`, a trait of the user may have it.
pub(super) fn is_own_name(name: &str) -> bool {
    matches!(name, "erf" | "erfc" | "ln_gamma" | "digamma" | "logistic" | "softplus" | "scale" | "powc")
}

/// Whether a trait of a module cannot give `f64` a method of this name: on the numbers it would be their own.
pub(super) fn is_name_of_numbers(name: &str) -> bool {
    is_own_name(name) || name == "inv"
}

/// Message for a method of a type outside of the module that has the name of one of its trait.
pub(super) fn other_method(name: &syn::Ident, ty: &syn::Ident) -> String {
    format!(
        "`#[differentiable]` cannot tell the method `{name}` of a trait from `{ty}::{name}` outside of this module; move that `impl` into the module, or give the method another name"
    )
}

/// Whether the method is one of numbers and returns a number by value.
pub(super) fn is_float_method(name: &str) -> bool {
    matches!(float_method(name), Some(Arguments::Numbers(_) | Arguments::Power | Arguments::Integer))
}

/// Message for functions that make numbers from bits.
pub(super) fn from_bits(name: &str) -> String {
    format!("cannot see through `f64::{name}`; write the number itself, or a formula for it")
}

/// Message for a method that an active number does not have.
pub(super) fn refused_method(name: &str) -> Option<String> {
    let instead = match name {
        "midpoint" => "write `0.5 * (a + b)`",
        "round_ties_even" => "write `round()`, which rounds halves away from zero",
        "parse" => return Some(number_in_text()),
        "maximum" => "write `max(..)`",
        "minimum" => "write `min(..)`",
        "next_up" | "next_down" => "write `x + f64::EPSILON * x` or the step you mean",
        "to_f64" | "to_f32" => {
            "write `x.primal()` to drop the derivative on purpose, or mark the argument `#[constant]`"
        }
        "to_bits" | "to_le_bytes" | "to_be_bytes" | "to_ne_bytes" | "to_int_unchecked" | "to_i8" | "to_i16"
        | "to_i32" | "to_i64" | "to_i128" | "to_isize" | "to_u8" | "to_u16" | "to_u32" | "to_u64" | "to_u128"
        | "to_usize" => {
            return Some(format!(
                "cannot see through `{name}`; write `x.primal().{name}(..)` to drop the derivative on purpose, or mark the argument `#[constant]`"
            ));
        }
        _ => return None,
    };
    Some(format!("cannot see through `{name}`; {instead}"))
}

/// Message for a number that is read out of text made from active ones.
pub(super) fn number_in_text() -> String {
    "cannot read a number out of text that is made from active ones; compute with the number itself".to_string()
}

/// Message for a number that was read out of text and would have to be active.
pub(super) fn read_from_text() -> String {
    "keeps a number that is read out of text plain, but an active value goes in here; write `match text.parse::<f64>() { Ok(value) => value, Err(_) => .. }`".to_string()
}

/// Message for an `impl` beside that for `f64`, which becomes one for every number.
pub(super) fn overlap(of_trait: &Ident, argument: impl Display) -> String {
    format!(
        "cannot keep this beside `impl {of_trait}<f64>`, which becomes one for every number, of which `{argument}` might be one; write a function in place of one of the two"
    )
}

/// Message for what depends on the memory that a number takes.
pub(super) fn layout() -> String {
    "cannot keep this: an active number takes more memory than an `f64`; write the number of bytes, or use a plain number".to_string()
}

/// Message for a question about the type of a value behind `Any`.
pub(super) fn any(name: &str) -> String {
    format!(
        "cannot see through `{name}`: a value behind `Any` may hold plain or active numbers, which are of two types; use an enum, or a method of a trait"
    )
}

/// Whether a method of `num_traits`, or of text, turns a number into a plain one at run time.
pub(super) fn drops_derivative(name: &str) -> bool {
    name == "parse" || (name.starts_with("to_") && !name.contains("bits") && !name.contains("bytes"))
}

/// Message for `num_traits::cast` of an active number.
pub(super) fn cast_function() -> String {
    "cannot see through `cast`; write `x.primal() as usize`, or the type you mean, to drop the derivative on purpose"
        .to_string()
}

/// Message for `as target` of an active number.
pub(super) fn cast(target: &str) -> String {
    format!(
        "cannot see through `as {target}`; write `x.primal() as {target}` to drop the derivative on purpose, or mark the argument `#[constant]`"
    )
}

/// Message for an argument marked `#[constant]` that would have to be active.
pub(super) fn constant_argument(name: impl Display, ty: &Type) -> String {
    let instead = match ty {
        Type::FnPtr(_) => {
            "write its formula here, or put `#[differentiable]` on the function and call it by name".to_string()
        }
        Type::Reference(r) if matches!(&*r.elem, Type::Slice(_)) => {
            format!("work on a copy: `let mut copy = {name}.to_vec();`")
        }
        Type::Reference(_) => format!("work on a copy: `let mut copy = {name}.clone();`"),
        _ => format!("work on a copy: `let mut copy = {name};`"),
    };
    constant(name, &instead)
}

fn constant(name: impl Display, instead: &str) -> String {
    format!("keeps the constant `{name}` plain, but an active value goes in here; {instead}")
}

/// Message for data behind a `&'static` reference into which an active number goes.
pub(super) fn static_data() -> String {
    "keeps data behind a `&'static` reference plain, but an active value goes in here; return an owned value, or one that borrows from the arguments".to_string()
}

/// Message for a struct in an `Err` into which an active number goes.
pub(super) fn error_value() -> String {
    "keeps the error of a `Result` plain, but an active value goes in here; write `x.primal()` to drop its derivative on purpose".to_string()
}

/// Message for a field marked `#[constant]` that would have to be active.
pub(super) fn constant_field(name: &str) -> String {
    constant(name, "remove the mark of the field")
}

/// The qualifiers of a function that its generic form cannot keep, with the messages.
pub(crate) fn qualifiers(sig: &Signature) -> Vec<(Span, &'static str)> {
    let mut found = Vec::new();
    if let Some(token) = &sig.constness {
        let message = "cannot keep `const`, since arithmetic on the number type is not const; remove it";
        found.push((token.span(), message));
    }
    if let Some(token) = &sig.asyncness {
        let message = "cannot differentiate an `async` function; compute in an ordinary `fn` and call that";
        found.push((token.span(), message));
    }
    if let Safety::Unsafe(token) = &sig.safety {
        found.push((token.span(), "cannot differentiate an `unsafe` function; wrap it in a safe one"));
    }
    if let Some(abi) = &sig.abi {
        let message = "cannot differentiate a function with another ABI; wrap it in an ordinary `fn`";
        found.push((abi.span(), message));
    }
    found
}

/// Whether a body only puts values together, so that it can be `const` for any number: there is no arithmetic and no number to be lifted.
pub(super) fn only_constructs(body: &Block) -> bool {
    struct Constructs(bool);
    impl VisitMut for Constructs {
        fn visit_expr_mut(&mut self, e: &mut Expr) {
            self.0 &= match e {
                Expr::Lit(l) => !matches!(l.lit, Lit::Float(_)),
                Expr::Struct(_)
                | Expr::Path(_)
                | Expr::Call(_)
                | Expr::Tuple(_)
                | Expr::Array(_)
                | Expr::Repeat(_)
                | Expr::Field(_)
                | Expr::Index(_)
                | Expr::Reference(_)
                | Expr::Paren(_)
                | Expr::Block(_)
                | Expr::Return(_) => true,
                _ => false,
            };
            visit_mut::visit_expr_mut(self, e);
        }
    }
    let mut constructs = Constructs(true);
    constructs.visit_block_mut(&mut body.clone());
    constructs.0
}

/// Message for a constant or static that would have to be active.
pub(super) fn constant_item(name: &Ident) -> String {
    constant(name, &format!("work on a copy: `let mut copy = {name};`"))
}

/// Message for a call of a macro that makes items.
pub(super) fn hidden_items(name: &Ident) -> String {
    format!("cannot see into `{name}!`, which makes items; write them out")
}

/// Message for a constant of the type that implements a trait, where that has active numbers.
pub(super) fn constant_of_trait(name: &Ident) -> String {
    let function = name.to_string().to_lowercase();
    format!(
        "cannot keep the constant `{name}`, since there are no constants of active numbers; write a function: `fn {function}() -> Self`"
    )
}

/// The same by the type of the constant: `is_copied` says whether a copy of it can be made active.
pub(super) fn constant_item_of(name: &Ident, ty: &Type, is_copied: bool) -> String {
    if mentions(ty.to_token_stream(), "fn") {
        return constant(
            name,
            "its functions are those of `f64`; make the table where it is used: `let table = [..];`",
        );
    }
    if !is_copied {
        return constant(name, "write a function that returns the value in its place");
    }
    constant_item(name)
}

/// Reports an expression that has no meaning in a differentiable function.
pub(super) fn refuse_expression(e: &Expr, errors: &mut Errors) {
    match e {
        Expr::Unsafe(e) => errors.push(
            e.unsafe_token.span(),
            "cannot see through `unsafe`; move it to a function of its own that takes and returns plain data",
        ),
        Expr::Async(e) => {
            errors.push(e.async_token.span(), "cannot differentiate `async` code; write an ordinary block")
        }
        Expr::Await(e) => {
            errors.push(e.await_token.span(), "cannot differentiate `await`; pass the awaited value as an argument")
        }
        Expr::RawAddr(e) => errors.push(e.span(), "cannot see through raw pointers; use a reference"),
        other => errors.push(other.span(), "cannot read this expression; write it with ordinary expressions and calls"),
    }
}
