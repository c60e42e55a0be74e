//! Marks: decisions that depend on all flows, kept in the syntax tree until the flows are solved.
//!
//! Placed by the inference as calls `__mark_7(expr)` and types `__mark_7`, removed by `rewrite`.

use super::graph::Act;
use proc_macro2::Span;
use quote::format_ident;
use syn::{Expr, ExprCall, Ident, Macro};

const PREFIX: &str = "__differentiable_mark_";

/// One open decision.
pub(super) enum Mark {
    /// A type `f64`: becomes the number type if active.
    Number(Act),
    /// The type `f64` of a closure argument of an unknown function: inferred by the compiler if the call is active, and the number type if what the call
    /// makes is called with active numbers.
    Guessed { call: Act, taken: Act },
    /// A plain expression where an active one is needed: becomes `T::constant(expr)`. An uncertain one is lifted only if the
    /// target turns out to be a number.
    Lift { from: Act, to: Act, certain: bool },
    /// The same for a number that may be behind a reference, a copy of which is lifted; and whether a reference to the copy is made.
    LiftReferent { from: Act, to: Act, is_borrowed: bool },
    /// A plain argument of an unknown function with other, active arguments: the compiler infers the expected type.
    Inferred { from: Act, call: Act },
    /// A call of an unknown function, or a literal of an unknown struct, with this name. If it is active, the active ones among
    /// these arguments are passed so that an error can say the name.
    Named { name: Ident, whole: Act, arguments: Vec<(usize, Act)> },
    /// Data where active numbers may be wanted: lifted as a whole if they are. With the types of the module in it, and whether a reference to
    /// the copy is made.
    Data { to: Act, types: Vec<usize>, is_borrowed: bool },
    /// `receiver.name(..)` of a name that numbers have and `f64` has not: the receiver.
    OwnName(Ident, Act),
    /// `base.powf(exponent)`, and whether the base is certainly a number by value, or certainly a pointer to one.
    Power { base: Act, exponent: Act, is_value: bool, is_wrapped: bool },
    /// `expr as f64`, dropped if the expression is active and so needs no cast.
    Cast(Act),
    /// `f64::from(expr)`, treated in the same way.
    From(Act),
    /// `place += expr`, where the place may be behind a guard or another pointer that the right side uses too: the right side is computed first if
    /// active, as that of `f64` is.
    RightFirst(Act),
    /// `f64::method(arguments)`: a method call if active.
    Call(Act),
    /// `f64::method` as a value with this many arguments: a closure if active.
    Path(Act, usize),
    /// A `fn` inside the function: gets the number type as a parameter if any of these is active.
    Nested(Vec<Act>),
    /// A `fn` of an `impl` block: gets the number type as a parameter if any of these is active and the block has none (its
    /// activity is the second).
    Method(Vec<Act>, Act),
    /// A struct, enum, trait or alias of a module: gets the parameter `T = f64` if active, or `T: Real = f64` if it must be bounded.
    Type(Act, bool),
    /// An `impl` block: gets the parameter `T: Real` if its type or its trait is active.
    Block(Vec<Act>),
    /// An `impl` block of a type without numbers of its own: if active, its methods that name the number type get the bounds that do.
    Methods(Act),
    /// A method with a body in a trait: gets the bound `T: Real` if active.
    Bound(Act),
    /// The argument of such a type, which is there if the second is active: the number type if the first is active.
    Argument(Act, Act),
    /// The argument of a function of the module, which is there if any of the first is active: the number type if the second is
    /// active. The third counts the other type and constant parameters.
    Instance(Vec<Act>, Act, usize),
    /// A macro call with its arguments taken out.
    Macro(Macro),
}

/// The name of the mark with this number.
pub(super) fn mark_name(number: usize, span: Span) -> Ident {
    format_ident!("{PREFIX}{number}", span = span)
}

/// The number of a mark, if the identifier is one.
pub(super) fn mark_number(ident: &Ident) -> Option<usize> {
    ident.to_string().strip_prefix(PREFIX)?.parse().ok()
}

/// The mark that a call represents, if it is one.
pub(super) fn marked(call: &ExprCall) -> Option<usize> {
    match &*call.func {
        Expr::Path(p) => p.path.get_ident().and_then(mark_number),
        _ => None,
    }
}
