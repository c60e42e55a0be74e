//! Collects all mistakes of one expansion, so that they are reported together.
//!
//! Filled by all other files, emptied by `expand`.

use proc_macro2::Span;
use quote::ToTokens;

/// The mistakes found so far.
pub(crate) struct Errors {
    /// The macro as the user wrote it, which is the subject of every message.
    subject: &'static str,
    found: Vec<syn::Error>,
}

impl Errors {
    pub(crate) fn new(subject: &'static str) -> Errors {
        Errors { subject, found: Vec::new() }
    }

    /// Reports a mistake at `span`; the message continues a sentence whose subject is the macro.
    pub(crate) fn push(&mut self, span: Span, message: impl AsRef<str>) {
        self.found.push(syn::Error::new(span, format!("{} {}", self.subject, message.as_ref())));
    }

    /// Reports a mistake in `tokens`, all of which are underlined.
    pub(crate) fn push_at(&mut self, tokens: impl ToTokens, message: impl AsRef<str>) {
        self.found.push(syn::Error::new_spanned(tokens, format!("{} {}", self.subject, message.as_ref())));
    }

    /// Takes over mistakes that another reading found.
    pub(crate) fn append(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// All mistakes as one error.
    pub(crate) fn finish(self) -> syn::Result<()> {
        let mut all = self.found.into_iter();
        match all.next() {
            None => Ok(()),
            Some(mut first) => {
                all.for_each(|e| first.combine(e));
                Err(first)
            }
        }
    }
}
