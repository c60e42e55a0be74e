//! The shape of a function: its point, its output, its contexts, read from the signature.
//!
//! Called by `expand`. On return the signature is generic: in plain code the number type has replaced every `f64` of an active argument,
//! and the marks `#[constant]`, `#[parameter]` and `#[cache]` are removed.

use crate::errors::Errors;
use crate::number::{elide_lifetimes, is_word, mentions, replace_f64};
use quote::ToTokens;
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Ident, PathArguments, ReturnType, Signature, Type, parse_quote,
};

/// The requirements on the object.
pub(crate) struct Shape {
    pub(crate) point: Point,
    /// The returned type; `None` for a function that writes its output.
    pub(crate) output: Option<Type>,
    pub(crate) contexts: Vec<Context>,
}

/// The argument that is differentiated.
pub(crate) struct Point {
    /// `X` of `Function<X>`.
    pub(crate) ty: Type,
    /// Whether the function takes it by value.
    pub(crate) by_value: bool,
}

/// A further argument.
pub(crate) enum Context {
    /// `Const<ty>`: data, or numbers without derivatives.
    Constant { ty: Type, by_value: bool },
    /// `Work<ty>`.
    Cache { ty: Type },
}

/// How an argument is marked.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    /// Not marked.
    None,
    Constant,
    Parameter,
    Cache,
}

/// Core has no closures with more contexts than this.
const MAX_CONTEXTS: usize = 4;

impl Shape {
    /// Reads the shape. `plain` says that the number type is still written `f64`. Mistakes go to `errors`; returns a shape
    /// only if there is a point.
    pub(crate) fn read(sig: &mut Signature, number: &Ident, plain: bool, errors: &mut Errors) -> Option<Shape> {
        let returns = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) if matches!(&**ty, Type::Tuple(t) if t.elems.is_empty()) => None,
            ReturnType::Type(_, ty) => Some((**ty).clone()),
        };
        let in_place =
            returns.is_none() && matches!(sig.inputs.first(), Some(FnArg::Typed(a)) if is_mut_reference(&a.ty));
        if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
            errors.push_at(receiver, "takes methods with their whole block; put the attribute on the `impl`");
            return None;
        }
        let call_span = sig.ident.span();
        let mut arguments = sig.inputs.iter_mut().filter_map(|a| match a {
            FnArg::Typed(a) => Some(a),
            FnArg::Receiver(_) => None,
        });
        if in_place && let Some(y) = arguments.next() {
            read_output_buffer(&mut y.ty, number, plain, errors);
        }
        let point = match arguments.next() {
            Some(x) => {
                if take_mark(&mut x.attrs) != Mark::None {
                    errors.push_at(&*x, "differentiates the first argument; put the point first and contexts after it");
                    return None;
                }
                read_point(&mut x.ty, number, plain, errors)
            }
            None => {
                errors.push(
                    call_span,
                    "needs a point: write `x: &[f64]`, `x: &[f64; 3]` or `x: f64` as the first argument",
                );
                None
            }
        };
        let mut contexts = Vec::new();
        for argument in arguments {
            let mark = take_mark(&mut argument.attrs);
            if contexts.len() == MAX_CONTEXTS {
                errors.push_at(&*argument, "accepts four contexts; put several constants into one struct");
            }
            contexts.extend(read_context(argument, mark, number, plain, errors));
        }
        let output = match returns {
            _ if in_place => None,
            None => {
                errors.push(
                    call_span,
                    "needs an output: return a value, or take `y: &mut [f64]` before the point and write into it",
                );
                return None;
            }
            Some(mut ty) => {
                let mut seen = ty.clone();
                if plain {
                    replace_f64(&mut ty, number);
                    seen = ty.clone();
                    sig.output = parse_quote!(-> #ty);
                }
                elide_lifetimes(&mut seen);
                if !mentions(seen.to_token_stream(), &number.to_string()) {
                    let name = if plain { "f64".to_string() } else { number.to_string() };
                    errors.push_at(&ty, format!("needs an output made of `{name}`, such as `{name}` or `Vec<{name}>`"));
                }
                if let Some(reference) = find_reference(&seen) {
                    errors.push_at(
                        reference,
                        "needs an output that is owned; return `Vec<f64>` or an array instead of a reference",
                    );
                }
                Some(seen)
            }
        };
        let shape = Shape { point: point?, output, contexts };
        for parameter in sig.generics.const_params() {
            if !shape.names(&parameter.ident.to_string()) {
                let message = format!(
                    "makes an object of a function whose arguments tell `{0}`; write `x: &[f64; {0}]`, or a function without `{0}` that calls this one",
                    parameter.ident
                );
                errors.push_at(parameter, message);
            }
        }
        Some(shape)
    }

    /// Whether the type of an argument contains this name.
    fn names(&self, name: &str) -> bool {
        let of_contexts = self.contexts.iter().map(|context| match context {
            Context::Constant { ty, .. } | Context::Cache { ty } => ty,
        });
        of_contexts.chain([&self.point.ty]).any(|ty| mentions(ty.to_token_stream(), name))
    }
}

/// The only type parameter of the function, if it has one: then the function is already generic.
pub(crate) fn type_parameter(sig: &Signature, errors: &mut Errors) -> Option<Ident> {
    let mut parameters = sig.generics.params.iter().filter_map(|p| match p {
        GenericParam::Type(t) => Some(&t.ident),
        _ => None,
    });
    let first = parameters.next().cloned();
    for other in parameters {
        errors.push_at(other, "accepts one type parameter, the number type; give the others a fixed type");
    }
    first
}

fn is_mut_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(r) if r.mutability.is_some())
}

/// The element type of `Vec<E>`.
fn vec_element(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(a) if last.ident == "Vec" => match a.args.first() {
            Some(GenericArgument::Type(t)) => Some(t.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn find_reference(ty: &Type) -> Option<syn::TypeReference> {
    struct Find(Option<syn::TypeReference>);
    impl<'ast> syn::visit::Visit<'ast> for Find {
        fn visit_type_reference(&mut self, r: &'ast syn::TypeReference) {
            self.0.get_or_insert_with(|| r.clone());
        }
    }
    let mut find = Find(None);
    syn::visit::Visit::visit_type(&mut find, ty);
    find.0
}

/// Removes the mark of an argument and returns it.
pub(crate) fn take_mark(attrs: &mut Vec<Attribute>) -> Mark {
    let mut mark = Mark::None;
    attrs.retain(|a| {
        let found = if a.path().is_ident("constant") {
            Mark::Constant
        } else if a.path().is_ident("parameter") {
            Mark::Parameter
        } else if a.path().is_ident("cache") {
            Mark::Cache
        } else {
            return true;
        };
        mark = found;
        false
    });
    mark
}

fn read_output_buffer(ty: &mut Type, number: &Ident, plain: bool, errors: &mut Errors) {
    if plain {
        replace_f64(ty, number);
    }
    let is_slice = matches!(ty, Type::Reference(r)
        if matches!(&*r.elem, Type::Slice(s) if is_word(&s.elem, &number.to_string())));
    if !is_slice {
        errors.push_at(ty, "writes the output of an in-place function into a slice; write `y: &mut [f64]`");
    }
}

fn read_point(ty: &mut Type, number: &Ident, plain: bool, errors: &mut Errors) -> Option<Point> {
    let accepted = "accepts as point `&[f64]`, `&[f64; 3]`, `f64` or another reference to a type made of `f64`";
    if plain {
        replace_f64(ty, number);
    }
    if !mentions(ty.to_token_stream(), &number.to_string()) {
        let named =
            "; a type with its number as a parameter is named with it, `&Params<f64>`, even where that is the default";
        errors.push_at(&*ty, format!("{accepted}{named}"));
        return None;
    }
    if is_mut_reference(ty) {
        errors.push_at(&*ty, format!("{accepted}; the point is never changed, and the function returns a value"));
        return None;
    }
    if matches!(ty, Type::Reference(r) if r.lifetime.as_ref().is_some_and(|l| l.ident == "static")) {
        errors.push_at(&*ty, format!("{accepted}; a point is borrowed for the call alone, so leave `'static` out"));
        return None;
    }
    if let Type::Reference(reference) = ty {
        if let Some(element) = vec_element(&reference.elem) {
            *reference.elem = parse_quote!([#element]);
        }
        let mut point = (*reference.elem).clone();
        elide_lifetimes(&mut point);
        return Some(Point { ty: point, by_value: false });
    }
    if !is_word(ty, &number.to_string()) && !matches!(ty, Type::Array(_)) {
        errors.push_at(&*ty, accepted);
        return None;
    }
    Some(Point { ty: ty.clone(), by_value: true })
}

fn read_context(
    argument: &mut syn::PatType,
    mark: Mark,
    number: &Ident,
    plain: bool,
    errors: &mut Errors,
) -> Option<Context> {
    if let Type::ImplTrait(ty) = &*argument.ty {
        errors.push_at(ty, "needs arguments with a named type; write `fn(f64) -> f64` or a struct");
        return None;
    }
    let mut ty = (*argument.ty).clone();
    match mark {
        Mark::None => {
            errors.push_at(
                &*argument,
                "differentiates the first argument only; mark this one `#[constant]` if it is data, `#[parameter]` if it is numbers without derivatives, or `#[cache]` if it is work memory",
            );
            None
        }
        Mark::Constant => {
            if mentions(ty.to_token_stream(), &number.to_string()) {
                errors.push_at(&ty, format!("keeps constants plain; write `f64` instead of `{number}`"));
            }
            elide_lifetimes(&mut ty);
            match ty {
                Type::Reference(r) if r.mutability.is_some() => {
                    errors.push_at(r, "never changes a constant; write `#[cache]` for work memory");
                    None
                }
                Type::Reference(r) if r.lifetime.is_none() => Some(Context::Constant { ty: *r.elem, by_value: false }),
                ty => Some(Context::Constant { ty, by_value: true }),
            }
        }
        Mark::Parameter => {
            if plain {
                replace_f64(&mut argument.ty, number);
                ty = (*argument.ty).clone();
            }
            elide_lifetimes(&mut ty);
            if !mentions(ty.to_token_stream(), &number.to_string()) {
                errors.push_at(&ty, "needs numbers in a parameter; write `#[constant]` for data of another type");
            }
            match ty {
                Type::Reference(r) if r.mutability.is_some() => {
                    errors.push_at(r, "never changes a parameter; write `#[cache]` for work memory");
                    None
                }
                Type::Reference(r) => Some(Context::Constant { ty: owned(*r.elem), by_value: false }),
                ty => Some(Context::Constant { ty, by_value: true }),
            }
        }
        Mark::Cache => {
            if plain {
                replace_f64(&mut argument.ty, number);
                ty = (*argument.ty).clone();
            }
            elide_lifetimes(&mut ty);
            match ty {
                Type::Reference(r) if r.mutability.is_some() => Some(Context::Cache { ty: owned(*r.elem) }),
                other => {
                    errors.push_at(other, "passes work memory by mutable reference; write `w: &mut Vec<f64>`");
                    None
                }
            }
        }
    }
}

/// The type of memory that is seen as `ty`: a `Vec` for a slice.
fn owned(ty: Type) -> Type {
    match ty {
        Type::Slice(slice) => {
            let element = slice.elem;
            parse_quote!(::std::vec::Vec<#element>)
        }
        other => other,
    }
}
