//! Calls of functions, and literals of structs, that the analysis knows by name only: code that makes the compiler say the name
//! if they take `f64`.
//!
//! Called by `rewrite`. `helper(v, 2.0)` becomes `call_0.to(helper(call_0.pass(v), 2.0), call_0.name())`. The type of `call_0` has a
//! parameter that the compiler learns from `name()`, after it has seen what the helper takes. Only then it asks whether the
//! helper takes the number, and the answer is the message of a trait that is made for this name. Were the parameter known before,
//! the compiler would deduce the argument's type from the number, and report that `f64` is not the `T` that the user never wrote.
//!
//! Arguments that may be meant to be coerced, such as `&vec` for a slice, cannot be passed in this way: their errors are the
//! compiler's own.

use super::generated::{made_for, without_parentheses};
use crate::options::Traits;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Block, Expr, Ident, parse_quote, parse_quote_spanned};

/// What bears the name.
#[derive(Clone, Copy)]
enum Kind {
    Function,
    Method,
    Type,
}

/// The calls of one function: the names, and the declarations of the variables.
#[derive(Default)]
pub(super) struct Calls {
    /// Each name with the variable that declares it.
    names: Vec<(Ident, Ident)>,
    declarations: Vec<TokenStream>,
    /// The names that numbers have and that are checked.
    own_names: Vec<Ident>,
}

impl Calls {
    /// A new variable for a call with this name.
    fn add(&mut self, name: &Ident, kind: Kind) -> Ident {
        let call = format_ident!("call_{}", self.declarations.len(), span = Span::mixed_site());
        let declaration = match self.names.iter().find(|(known, _)| known == name) {
            Some((_, first)) => quote!(let #call = #first.another();),
            None => {
                self.names.push((name.clone(), call.clone()));
                declaration(&call, name, kind)
            }
        };
        self.declarations.push(declaration);
        call
    }
}

/// Declares the variable of the first call with a name. All of it is `()` at run time.
fn declaration(call: &Ident, name: &Ident, kind: Kind) -> TokenStream {
    let (remedy, note) = match kind {
        Kind::Function => (
            "put `#[differentiable]` on it, or move both into one `#[differentiable] mod`",
            "a function of another crate is wrapped in one with `#[custom_rule]`, which states its derivative; a module inside of one with the attribute gets its own",
        ),
        Kind::Method => (
            "put `#[differentiable]` on its `impl`, or move the type and the functions that use it into one `#[differentiable] mod`",
            "a method of another crate is wrapped in a function with `#[custom_rule]`, which states its derivative",
        ),
        Kind::Type => (
            "move it and the functions that use it into one `#[differentiable] mod`",
            "a type that is generic, with `T` in place of `f64`, can also stay where it is; a module inside of one with the attribute is another module",
        ),
    };
    let message = format!("`{name}` takes `{{A}}`: {remedy}");
    let label = "a number that is differentiated";
    quote_spanned! {Span::mixed_site()=>
        let #call = {
            enum Name {}
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            trait Takes<V, A> {
                fn pass(value: V) -> A;
            }
            impl<A> Takes<A, A> for Name {
                #[inline(always)]
                fn pass(value: A) -> A {
                    value
                }
            }
            struct Call<X>(::core::marker::PhantomData<X>);
            #[allow(dead_code)]
            impl<X> Call<X> {
                #[inline(always)]
                fn pass<V, A>(&self, value: V) -> A
                where
                    X: Takes<V, A>,
                {
                    X::pass(value)
                }
                #[inline(always)]
                fn to<R>(&self, result: R, _: ::core::marker::PhantomData<X>) -> R {
                    result
                }
                #[inline(always)]
                fn name(&self) -> ::core::marker::PhantomData<Name> {
                    ::core::marker::PhantomData
                }
                #[inline(always)]
                fn another<Y>(&self) -> Call<Y> {
                    Call(::core::marker::PhantomData)
                }
            }
            Call(::core::marker::PhantomData)
        };
    }
}

impl Calls {
    /// A call or struct literal in which the `active` ones among its arguments are passed by name.
    pub(super) fn passed(&mut self, mut e: Expr, name: &Ident, active: Vec<usize>) -> Expr {
        if active.is_empty() {
            return e;
        }
        let kind = match &e {
            Expr::MethodCall(_) => Kind::Method,
            Expr::Call(_) if name.to_string().starts_with(char::is_lowercase) => Kind::Function,
            _ => Kind::Type,
        };
        let call = self.add(name, kind);
        for i in active {
            let argument = match &mut e {
                Expr::Call(e) => e.args.get_mut(i),
                Expr::MethodCall(e) => e.args.get_mut(i),
                Expr::Struct(e) => e.fields.get_mut(i).map(|f| &mut f.expr),
                _ => None,
            };
            let Some(argument) = argument else { continue };
            let value = without_parentheses(std::mem::replace(argument, Expr::PLACEHOLDER));
            *argument = parse_quote_spanned!(made_for(&value)=> #call.pass(#value));
        }
        parse_quote_spanned!(made_for(&e)=> #call.to(#e, #call.name()))
    }

    /// Refuses a method of the user's own trait for `f64` with a name that numbers have: theirs would be called. On `f64` itself the two are
    /// ambiguous, which the compiler reports at the name, with both traits. The second check finds methods that take `&self`.
    pub(super) fn own_name(&mut self, name: &Ident, krate: &Traits) {
        if self.own_names.contains(name) {
            return;
        }
        self.own_names.push(name.clone());
        let span = Span::mixed_site().located_at(name.span());
        // Generated, so that the compiler proposes no change of the user's line.
        let name = Ident::new(&name.to_string(), span);
        let owner = Ident::new(if name == "scale" { "Scalar" } else { "Real" }, span);
        let argument = matches!(name.to_string().as_str(), "scale" | "powc").then(|| quote_spanned!(span=> x));
        self.declarations.push(quote_spanned! {span=>
            #[allow(unstable_name_collisions)]
            const _: fn(f64) = |x| {
                use #krate::#owner as _;
                let _ = x.#name(#argument);
            };
            const _: fn(f64) = |x| {
                trait MethodOfTheNumbers: Sized {
                    fn #name(self) {}
                }
                impl MethodOfTheNumbers for &f64 {}
                (&x).#name()
            };
        });
    }

    /// Declares the variables of a function's calls at its start.
    pub(super) fn open(self, block: &mut Block) {
        let declarations = self.declarations;
        if !declarations.is_empty() {
            let opened: Block = parse_quote!({ #(#declarations)* });
            block.stmts.splice(0..0, opened.stmts);
        }
    }
}
