//! Macro calls.
//!
//! Called by `exprs`. Arguments that are ordinary expressions are taken out while they are read; `rewrite` puts them back.

use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use crate::number::mentions;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Macro, Token, parse_quote};

/// Macros whose arguments are ordinary expressions, and whose results hold no `f64`.
const TRANSPARENT: [&str; 17] = [
    "println",
    "print",
    "eprintln",
    "eprint",
    "format",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "write",
    "writeln",
    "panic",
    "todo",
    "unimplemented",
    "unreachable",
];

impl Inference<'_> {
    /// `name!(..)`.
    pub(super) fn macro_call(&mut self, e: &mut Expr) -> Ty {
        let span = e.span();
        let Expr::Macro(m) = &mut *e else { return Ty::Other };
        let name = m.mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if name == "vec" {
            return self.vec_macro(e);
        }
        if name == "matches"
            && let Ok(question) = matches_as_match.parse2(m.mac.tokens.clone())
        {
            *e = question;
            return self.expr(e);
        }
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        let parsed = list.parse2(m.mac.tokens.clone());
        let known = TRANSPARENT.contains(&name.as_str()) || name == "dbg";
        match parsed {
            Ok(mut arguments) if known => {
                let mut last = Ty::Other;
                let mut sources = Vec::new();
                for argument in &mut arguments {
                    last = match argument {
                        // `name = value` in a format
                        Expr::Assign(a) => self.expr(&mut a.right),
                        other => self.expr(other),
                    };
                    sources.push(last.clone());
                }
                let mac = m.mac.clone();
                let written: Vec<&Expr> = arguments.iter().collect();
                let formatted = match name.as_str() {
                    "format" | "write" | "writeln" => self.formatted(&name, &written, sources, span),
                    _ => Ty::Other,
                };
                *e = self.open_macro(mac, arguments.into_iter().collect());
                match name.as_str() {
                    "dbg" => last,
                    "panic" | "todo" | "unimplemented" | "unreachable" => Ty::Never,
                    _ => formatted,
                }
            }
            _ => {
                if mentions(m.mac.tokens.clone(), "f64") || has_float_literal(m.mac.tokens.clone()) {
                    self.errors.push(
                        m.mac.path.span(),
                        format!(
                            "cannot see into `{name}!`, which contains `f64` numbers; compute them in a `let` before it"
                        ),
                    );
                }
                let mut sources = Vec::new();
                self.variables(m.mac.tokens.clone(), &mut sources);
                self.opaque_of(&sources, span)
            }
        }
    }

    /// `vec![a, b]` and `vec![a; n]`.
    fn vec_macro(&mut self, e: &mut Expr) -> Ty {
        let Expr::Macro(m) = &*e else { return Ty::Other };
        let mac = m.mac.clone();
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        let repeat = |input: ParseStream| -> syn::Result<(Expr, Expr)> {
            let value = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok((value, input.parse()?))
        };
        let item = self.fresh_var();
        let arguments: Vec<Expr> = if let Ok((mut value, mut count)) = repeat.parse2(mac.tokens.clone()) {
            let ty = self.expr(&mut value);
            self.coerce(&mut value, &ty, &item);
            self.expr(&mut count);
            vec![value, count]
        } else if let Ok(mut elems) = list.parse2(mac.tokens.clone()) {
            for elem in &mut elems {
                let ty = self.expr(elem);
                self.coerce(elem, &ty, &item);
            }
            elems.into_iter().collect()
        } else {
            self.errors.push(mac.span(), "cannot read this `vec!`; write `vec![a, b]` or `vec![a; n]`");
            Vec::new()
        };
        *e = self.open_macro(mac, arguments);
        Ty::seq(item)
    }

    /// A macro call whose arguments stay in the syntax tree until `rewrite` rebuilds the macro.
    fn open_macro(&mut self, mac: Macro, arguments: Vec<Expr>) -> Expr {
        let name = self.add_mark(Mark::Macro(mac), Span::call_site());
        parse_quote!(#name(#(#arguments),*))
    }

    /// The types of all variables that occur in the tokens.
    fn variables(&self, tokens: TokenStream, found: &mut Vec<Ty>) {
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => found.extend(self.lookup(&ident).map(|v| v.ty)),
                TokenTree::Group(group) => self.variables(group.stream(), found),
                _ => {}
            }
        }
    }
}

/// `matches!(value, pattern if guard)` as a `match`.
fn matches_as_match(input: ParseStream) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
    let guard =
        if input.peek(Token![if]) { Some((input.parse::<Token![if]>()?, input.parse::<Expr>()?)) } else { None };
    input.parse::<Option<Token![,]>>()?;
    let guard = guard.map(|(token, condition)| quote::quote!(#token #condition));
    Ok(parse_quote!(match #value { #pattern #guard => true, _ => false }))
}

/// Whether the tokens contain a literal such as `1.0`.
fn has_float_literal(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Literal(l) => matches!(syn::Lit::new(l), syn::Lit::Float(_)),
        TokenTree::Group(group) => has_float_literal(group.stream()),
        _ => false,
    })
}
