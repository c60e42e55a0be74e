//! The attribute [`macro@differentiable`] and the macro [`differentiable_fn!`].

mod activity;
mod errors;
mod expand;
mod number;
mod object;
mod options;
mod shape;

use proc_macro::TokenStream;

/// Placeholder.
#[proc_macro_attribute]
pub fn differentiable(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(options.into(), item.into()).into()
}

/// Placeholder.
#[proc_macro]
pub fn differentiable_fn(input: TokenStream) -> TokenStream {
    expand::lifted(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
