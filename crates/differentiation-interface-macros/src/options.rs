//! The options in the parentheses of `#[differentiable(..)]`.
//!
//! Read by `expand`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{BinOp, Ident, ItemUse, LitStr, Path, Token, parse_quote};

/// The options of one use of the macro.
pub(crate) struct Options {
    /// The name of the object, if the user chose one.
    pub(crate) name: Option<Ident>,
    /// Where the traits are.
    pub(crate) krate: Traits,
}

/// The path of the crate that has the traits, and which of them numbers implement.
#[derive(Clone)]
pub(crate) struct Traits {
    krate: Path,
    /// Whether the code computes with vectors and matrices of `nalgebra`.
    with_nalgebra: bool,
    /// Whether it computes with arrays of `ndarray`.
    with_ndarray: bool,
}

impl Traits {
    /// Those of this crate.
    pub(crate) fn of(krate: Path) -> Traits {
        Traits { krate, with_nalgebra: false, with_ndarray: false }
    }

    /// The bound of the number type.
    pub(crate) fn bound(&self) -> TokenStream {
        let krate = &self.krate;
        let nalgebra = quote!(#krate::with_feature_nalgebra::NalgebraReal);
        let ndarray = quote!(#krate::with_feature_ndarray::NdarrayReal);
        match (self.with_nalgebra, self.with_ndarray) {
            (false, false) => quote!(#krate::Real),
            (true, false) => nalgebra,
            (false, true) => ndarray,
            (true, true) => quote!(#nalgebra + #ndarray),
        }
    }

    /// Whether the left side of `left += number`, of an unknown type, is a number. Arrays have all of these operators, vectors the products.
    pub(crate) fn is_of_numbers(&self, op: &BinOp) -> bool {
        !self.has_vectors() || !self.with_ndarray && matches!(op, BinOp::AddAssign(_) | BinOp::SubAssign(_))
    }

    /// Whether values of unknown types may be vectors or arrays, which have no operations with plain ones.
    pub(crate) fn has_vectors(&self) -> bool {
        self.with_nalgebra || self.with_ndarray
    }

    /// What the code needs in scope: methods of matrices that `nalgebra` has for other bounds.
    pub(crate) fn import(&self) -> Option<ItemUse> {
        let krate = &self.krate;
        self.with_nalgebra
            .then(|| parse_quote!(#[allow(unused_imports)] use #krate::with_feature_nalgebra::{LuOfReal as _, MatrixOfReal as _};))
    }
}

impl ToTokens for Traits {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.krate.to_tokens(tokens);
    }
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Options> {
        const ACCEPTED: &str = "`#[differentiable]` accepts the name of the object, `nalgebra`, `ndarray` and `crate = \"path\"`, as in `#[differentiable(Energy)]`";
        let mut options = Options { name: None, krate: Traits::of(parse_quote!(::differentiation_interface)) };
        while !input.is_empty() {
            let word = input.call(Ident::parse_any).map_err(|e| syn::Error::new(e.span(), ACCEPTED))?;
            if word == "crate" && input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                options.krate.krate = input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?;
            } else if word == "nalgebra" {
                options.krate.with_nalgebra = true;
            } else if word == "ndarray" {
                options.krate.with_ndarray = true;
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
