//! Places that are written to: `v[i] += v[i - 1]`, `guard.value -= guard.step`.
//!
//! Called by `exprs`, which knows types, and by `rewrite`.

use super::generated::{made_for, without_parentheses};
use crate::number::mentions;
use proc_macro2::Span;
use quote::ToTokens;
use syn::BinOp::{AddAssign, DivAssign, MulAssign, RemAssign, SubAssign};
use syn::{Expr, ExprBinary, Ident, parse_quote_spanned};

/// `v[i] += v[i - 1]` becomes `{ let value = v[i - 1]; v[i] += value; }`: the operator of `f64` computes its right side first, while one of
/// another type borrows the place, and with it a whole `Vec`, before that.
pub(super) fn right_side_first(e: &mut Expr) {
    let Expr::Binary(binary) = &*e else { return };
    let is_assignment = matches!(binary.op, AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_));
    if is_assignment && has_index(&binary.left) && is_in_both(binary) {
        *e = with_value(binary);
    }
}

/// The same statement with its right side in a variable.
pub(super) fn with_value(binary: &ExprBinary) -> Expr {
    let (span, value) = (made_for(&binary.right), Ident::new("value", Span::mixed_site()));
    let (attrs, left, op, right) =
        (&binary.attrs, &binary.left, &binary.op, without_parentheses((*binary.right).clone()));
    parse_quote_spanned!(span=> { let #value = #right; #(#attrs)* #left #op #value; })
}

/// Whether the variable behind the place on the left is named on the right.
pub(super) fn is_in_both(binary: &ExprBinary) -> bool {
    variable(&binary.left).is_some_and(|name| mentions(binary.right.to_token_stream(), &name.to_string()))
}

/// The variable behind a place: `v` of `v[i].x` and of `*v.at_mut(i)`.
fn variable(place: &Expr) -> Option<&Ident> {
    match place {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Field(e) => variable(&e.base),
        Expr::Paren(e) => variable(&e.expr),
        Expr::Unary(e) => variable(&e.expr),
        Expr::Index(e) => variable(&e.expr),
        Expr::MethodCall(e) => variable(&e.receiver),
        _ => None,
    }
}

/// Whether a place is one with an index.
fn has_index(place: &Expr) -> bool {
    match place {
        Expr::Index(_) => true,
        Expr::Field(e) => has_index(&e.base),
        Expr::Paren(e) => has_index(&e.expr),
        Expr::Unary(e) => has_index(&e.expr),
        _ => false,
    }
}
