//! Text that is made from numbers, which must not be parsed to plain ones.
//!
//! Called where macros, methods and types are read. Text is not differentiated, so its activity makes no function generic: each argument,
//! result and field has one, whatever the call, and only what reads numbers out of text asks for it.

use super::annotations::Words;
use super::graph::Act;
use super::inference::Inference;
use super::refusals;
use super::ty::Ty;
use proc_macro2::Span;
use syn::{Expr, ExprMethodCall, Lit};

impl Inference<'_> {
    /// Text made from values of these types.
    pub(super) fn text_of(&mut self, sources: &[Ty], span: Span) -> Ty {
        let act = self.graph.fresh();
        for source in sources {
            for a in self.acts_and_texts(source) {
                self.graph.flow(a, act, span);
            }
        }
        Ty::Text(act)
    }

    /// The result of `format!(..)`, or what `write!(text, ..)` adds to the text. `sources` are the types of the arguments.
    pub(super) fn formatted(&mut self, name: &str, arguments: &[&Expr], mut sources: Vec<Ty>, span: Span) -> Ty {
        // `format!("{x}")` names `x` in the text.
        for argument in arguments {
            if let Expr::Lit(literal) = argument
                && let Lit::Str(text) = &literal.lit
            {
                let named = names_in(&text.value());
                sources.extend(named.iter().filter_map(|name| self.variable(name)).map(|v| v.ty));
            }
        }
        if name == "format" {
            return self.text_of(&sources, span);
        }
        if let Some((Ty::Text(to), added)) = sources.split_first().map(|(to, added)| (self.resolve(to), added)) {
            let Ty::Text(from) = self.text_of(added, span) else { return Ty::Other };
            self.graph.flow(from, to, span);
        }
        Ty::Other
    }

    /// A method of text.
    pub(super) fn text_method(&mut self, m: &mut ExprMethodCall, act: Act, name: &str) -> Ty {
        let text = Ty::Text(act);
        if name == "parse" {
            self.refuse_parsing(&text, m.method.span());
            let plain = Words::Plain(refusals::read_from_text());
            let wanted = self.turbofish(m, &plain).into_iter().next();
            return Ty::seq(wanted.unwrap_or_else(|| self.fresh_var()));
        }
        for argument in &mut m.args {
            // `push_str(other)`; a closure is asked about characters.
            let ty = match argument {
                Expr::Closure(c) => self.closure(c, Some(std::slice::from_ref(&text))),
                other => self.expr(other),
            };
            for a in self.acts_and_texts(&ty) {
                self.graph.flow(a, act, m.method.span());
            }
        }
        match name {
            "len"
            | "is_empty"
            | "contains"
            | "starts_with"
            | "ends_with"
            | "is_char_boundary"
            | "is_ascii"
            | "is_alphabetic"
            | "is_numeric"
            | "is_whitespace"
            | "is_ascii_digit"
            | "eq_ignore_ascii_case"
            | "count"
            | "push"
            | "push_str"
            | "insert"
            | "insert_str"
            | "clear"
            | "truncate"
            | "reserve" => Ty::Other,
            "find" | "rfind" => Ty::seq(Ty::Other),
            "char_indices" => Ty::seq(Ty::Tuple(vec![Ty::Other, text])),
            "split_once" | "rsplit_once" => Ty::seq(Ty::Tuple(vec![text.clone(), text])),
            "chars" | "bytes" | "lines" | "matches" | "strip_prefix" | "strip_suffix" | "get" | "pop" => Ty::seq(text),
            _ if name.starts_with("split") || name.starts_with("rsplit") => Ty::seq(text),
            _ => text,
        }
    }

    /// Refuses to read a number out of text that is made from active ones.
    pub(super) fn refuse_parsing(&mut self, text: &Ty, span: Span) {
        if let Ty::Text(act) = self.resolve(text) {
            self.checks.push((act, span, refusals::number_in_text()));
        }
    }
}

/// The names in the braces of a format: `x` and `y` of `"{x:.3} {{}} {y}"`.
fn names_in(format: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = format;
    while let Some(start) = rest.find('{') {
        rest = &rest[start + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            names.push(rest[..end].to_string());
        }
        rest = &rest[end..];
    }
    names
}
