//! The options in the parentheses of `#[differentiable(..)]`.
//!
//! Read by `expand`.

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token, parse_quote};

/// The options of one use of the macro.
pub(crate) struct Options {
    /// The name of the object, if the user chose one.
    pub(crate) name: Option<Ident>,
    /// The path of the traits.
    pub(crate) krate: Path,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Options> {
        const ACCEPTED: &str = "`#[differentiable]` accepts the name of the object and `crate = \"path\"`, as in `#[differentiable(Energy)]`";
        let mut options = Options { name: None, krate: parse_quote!(::differentiation_interface) };
        while !input.is_empty() {
            let word = input.call(Ident::parse_any).map_err(|e| syn::Error::new(e.span(), ACCEPTED))?;
            if word == "crate" && input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                options.krate = input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?;
            } else if word != "crate" && options.name.is_none() && (input.is_empty() || input.peek(Token![,])) {
                options.name = Some(word);
            } else {
                return Err(syn::Error::new(word.span(), ACCEPTED));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}
