//! Marks: decisions that can be taken only when all flows are known, kept in the syntax tree until then.
//!
//! Placed by the inference as calls `__mark_7(expr)` and types `__mark_7`, removed by `rewrite`.

use super::Inference;
use super::graph::Act;
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Macro, Type, parse_quote_spanned};

const PREFIX: &str = "__differentiable_mark_";

/// One open decision.
pub(super) enum Mark {
    /// A type `f64`: becomes the number type if active.
    Number(Act),
    /// The type `f64` of a closure argument of an unknown function: left to the compiler if active.
    Guessed(Act),
    /// A plain expression where an active one is needed: becomes `T::constant(expr)`. An uncertain one is lifted only if the
    /// target turned out to be a number.
    Lift { from: Act, to: Act, certain: bool },
    /// A plain argument of an unknown function with other, active arguments: the compiler finds what is expected.
    Inferred { from: Act, call: Act },
    /// `base.powf(exponent)`.
    Power { base: Act, exponent: Act },
    /// `expr as f64`, dropped if the expression is active and so needs no cast.
    Cast(Act),
    /// `f64::from(expr)`, the same.
    From(Act),
    /// `f64::method(arguments)`: a method call if active.
    Call(Act),
    /// `f64::method` as a value with this many arguments: a closure if active.
    Path(Act, usize),
    /// A `fn` inside the function: gets the number type as a parameter if any of these is active.
    Nested(Vec<Act>),
    /// A macro call with its arguments taken out.
    Macro(Macro),
}

impl Inference<'_> {
    pub(super) fn add_mark(&mut self, mark: Mark, span: proc_macro2::Span) -> Ident {
        self.marks.push(mark);
        format_ident!("{PREFIX}{}", self.marks.len() - 1, span = span)
    }

    /// Marks an expression. In `&0.5` it is the literal that is marked, not the reference.
    pub(super) fn mark_expr(&mut self, expr: &mut Expr, mark: Mark) {
        if let Expr::Reference(r) = expr {
            return self.mark_expr(&mut r.expr, mark);
        }
        let name = self.add_mark(mark, expr.span());
        let inner = std::mem::replace(expr, Expr::PLACEHOLDER);
        *expr = parse_quote_spanned!(name.span()=> #name(#inner));
    }

    pub(super) fn mark_type(&mut self, ty: &mut Type, mark: Mark) {
        let name = self.add_mark(mark, ty.span());
        *ty = parse_quote_spanned!(name.span()=> #name);
    }
}

/// The number of a mark, if the identifier is one.
pub(super) fn mark_number(ident: &Ident) -> Option<usize> {
    ident.to_string().strip_prefix(PREFIX)?.parse().ok()
}
