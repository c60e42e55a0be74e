//! Spans and parentheses of generated code.
//!
//! Called by `rewrite` and `named`.

use proc_macro2::Span;
use syn::Expr;
use syn::spanned::Spanned;

/// The span of a user's expression, for generated code: errors point there, and lints see that the code is generated.
pub(super) fn made_for(e: &impl Spanned) -> Span {
    Span::call_site().located_at(e.span())
}

pub(super) fn without_parentheses(e: Expr) -> Expr {
    match e {
        Expr::Paren(p) => without_parentheses(*p.expr),
        other => other,
    }
}
