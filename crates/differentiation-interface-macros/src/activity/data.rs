//! Plain data as an argument where a function of the module takes active numbers: a table of constants, a row of measurements.
//!
//! Called where arguments are read. A number is lifted where it is used; data behind a reference is lifted as a whole, by
//! `container::lifted`, since the function may pass the same argument active numbers in another call.

use super::declared::Lifting;
use super::inference::Inference;
use super::marks::Mark;
use super::ty::Ty;
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, PathArguments, Type, parse_quote};

impl Lifting {
    /// For an argument of this type. None for a reference through which the function can write.
    pub(super) fn of(argument: &Type) -> Option<Lifting> {
        match argument {
            Type::Reference(r) if r.mutability.is_some() => None,
            Type::Reference(r) => {
                let data = if is_plain(&r.elem) { (*r.elem).clone() } else { parse_quote!(_) };
                Some(Lifting { is_shared: true, data })
            }
            Type::Path(_) | Type::Array(_) | Type::Tuple(_) => {
                Some(Lifting { is_shared: false, data: parse_quote!(_) })
            }
            _ => None,
        }
    }
}

/// Whether the type consists of `f64`, slices, vectors, and arrays of a written length, so that it can be named anywhere.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Slice(s) => is_plain(&s.elem),
        Type::Array(a) => is_plain(&a.elem) && matches!(&a.len, Expr::Lit(_)),
        Type::Path(p) => match p.path.segments.last() {
            Some(last) if p.path.segments.len() == 1 => match &last.arguments {
                PathArguments::None => last.ident == "f64",
                PathArguments::AngleBracketed(list) => {
                    last.ident == "Vec"
                        && list.args.iter().all(|a| matches!(a, GenericArgument::Type(item) if is_plain(item)))
                }
                PathArguments::Parenthesized(_) => false,
            },
            _ => false,
        },
        _ => false,
    }
}

impl Inference<'_> {
    /// Records that the value of `e` is an argument of type `expected`.
    pub(super) fn pass(&mut self, e: &mut Expr, ty: &Ty, expected: &Ty, lifting: Option<&Lifting>) {
        let Some(lifting) = lifting.filter(|_| self.can_be_lifted(ty, expected)) else {
            return self.coerce(e, ty, expected);
        };
        let to = self.graph.fresh();
        for act in self.acts(expected) {
            self.graph.flow(act, to, e.span());
        }
        let is_borrowed = matches!(e, Expr::Reference(_));
        self.mark_expr(e, Mark::Data { to, lifting: lifting.clone(), is_borrowed });
    }

    /// Whether a value is data of constants, and a sequence, tuple or struct of numbers is expected.
    fn can_be_lifted(&self, ty: &Ty, expected: &Ty) -> bool {
        match self.resolve(expected) {
            Ty::Seq(_) | Ty::Tuple(_) => self.is_data(ty) && !matches!(self.resolve(ty), Ty::Float(_)),
            Ty::Struct(..) => matches!(self.resolve(ty), Ty::Struct(..)) && self.is_data(ty),
            _ => false,
        }
    }

    /// Whether all numbers of a value stay plain for a reason.
    fn is_data(&self, ty: &Ty) -> bool {
        match self.resolve(ty) {
            Ty::Float(act) | Ty::Opaque(act) => self.graph.reason(act).is_some(),
            Ty::Seq(item) => self.is_data(&item),
            Ty::Tuple(items) => items.iter().all(|item| self.is_data(item)),
            Ty::Struct(id, act) => self.module.types[id].is_container && self.graph.reason(act).is_some(),
            _ => false,
        }
    }
}
