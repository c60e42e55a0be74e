//! `#[differentiable]` on a module or an `impl` block: all items become generic together.
//!
//! Called by `expand`. `activity` rewrites the items; each public function of a module that an operator can take gets an object.

use crate::activity;
use crate::errors::Errors;
use crate::number::{derives, mentions};
use crate::object::{Object, camel_case, refuse_name};
use crate::options::{Options, Traits};
use crate::shape::{Mark, Shape, take_mark, type_parameter};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Field, FnArg, Ident, ImplItemFn, Item, ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStruct, Path, ReturnType,
    Signature, TraitItemFn, Visibility, parse_quote,
};

/// `#[differentiable] mod model { .. }`.
pub(crate) fn differentiable_module(mut module: ItemMod, options: &Options, number: Ident) -> syn::Result<TokenStream> {
    let mut errors = Errors::new("`#[differentiable]`");
    if let Some(name) = &options.name {
        errors.push(name.span(), "names the objects of a module after its functions; put the name on a function in it: `#[differentiable(Name)]`");
    }
    let Some((_, items)) = &mut module.content else {
        errors.push(module.ident.span(), "needs the content of the module; write `mod name { .. }`");
        return errors.finish().map(|()| TokenStream::new());
    };
    let names: Vec<Option<Ident>> = items.iter_mut().map(|item| chosen_name(item, &mut errors)).collect();
    let has_object: Vec<bool> = names.iter().map(Option::is_some).collect();
    activity::make_items_generic(items, &has_object, &number, &options.krate, &mut errors);
    let taken: Vec<String> = items.iter().filter_map(declared_name).collect();
    let mut expanded: Vec<Item> = options.krate.import().into_iter().map(Item::Use).collect();
    // Items that the analysis has added have no object.
    for (mut item, name) in std::mem::take(items).into_iter().zip(names.into_iter().chain(std::iter::repeat(None))) {
        let object = match &mut item {
            Item::Fn(function) => object(function, name, &taken, &number, &options.krate, &mut errors),
            _ => None,
        };
        remove_marks(&mut item);
        expanded.push(item);
        expanded.extend(object.map(Item::Verbatim));
    }
    *items = expanded;
    errors.finish().map(|()| module.into_token_stream())
}

/// `#[differentiable] impl Model { .. }`.
pub(crate) fn differentiable_block(block: ItemImpl, options: &Options, number: Ident) -> syn::Result<TokenStream> {
    let mut errors = Errors::new("`#[differentiable]`");
    if let Some(name) = &options.name {
        errors.push(name.span(), "makes no object of an `impl`; write `gradient(&|x: &[_]| model.energy(x), ..)`");
    }
    if let Some((path, _)) = &block.trait_ {
        errors.push_at(
            path,
            "cannot change the methods of a trait; put the trait and the `impl` into one `#[differentiable] mod`",
        );
    }
    let mut items = vec![Item::Impl(block)];
    activity::make_items_generic(&mut items, &[], &number, &options.krate, &mut errors);
    items.iter_mut().for_each(remove_marks);
    let import = options.krate.import();
    errors.finish().map(|()| quote!(#import #(#items)*))
}

/// The name in `#[differentiable(Name)]` on a function of a module; the attribute is removed.
fn chosen_name(item: &mut Item, errors: &mut Errors) -> Option<Ident> {
    let Item::Fn(function) = item else { return None };
    let mut name = None;
    function.attrs.retain(|attr| {
        if attr.path().segments.last().is_none_or(|s| s.ident != "differentiable") {
            return true;
        }
        if let syn::Meta::List(list) = &attr.meta {
            match syn::parse2::<Options>(list.tokens.clone()) {
                Ok(options) if options.krate.has_vectors() => {
                    errors.push_at(attr, "belongs on the module here: `#[differentiable(nalgebra)] mod model { .. }`");
                }
                Ok(options) => name = options.name,
                Err(_) => errors.push_at(attr, "accepts a name here: `#[differentiable(Name)]`"),
            }
        }
        false
    });
    name
}

/// The name of an item in the namespace of types.
fn declared_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Struct(i) => i.ident.to_string(),
        Item::Enum(i) => i.ident.to_string(),
        Item::Type(i) => i.ident.to_string(),
        Item::Trait(i) => i.ident.to_string(),
        Item::Mod(i) => i.ident.to_string(),
        _ => return None,
    })
}

/// The object of a function that is generic by now. Only a function with marks, or with a chosen name, must fit an operator.
fn object(
    function: &mut ItemFn,
    chosen: Option<Ident>,
    taken: &[String],
    number: &Ident,
    krate: &Traits,
    errors: &mut Errors,
) -> Option<TokenStream> {
    if matches!(function.vis, Visibility::Inherited) && chosen.is_none() {
        return None;
    }
    let mut found = Errors::new("`#[differentiable]`");
    let mut sig = function.sig.clone();
    let is_marked = sig.inputs.iter().any(|a| match a {
        FnArg::Typed(a) => take_mark(&mut a.attrs.clone()) != Mark::None,
        FnArg::Receiver(_) => false,
    });
    let parameter = type_parameter(&sig, &mut found);
    let shape = Shape::read(&mut sig, parameter.as_ref().unwrap_or(number), false, &mut found);
    let must_fit = is_marked && !matches!(function.vis, Visibility::Inherited) || chosen.is_some();
    if let Err(error) = found.finish() {
        if must_fit {
            errors.append(error);
        }
        return None;
    }
    let name = chosen.clone().unwrap_or_else(|| camel_case(&sig.ident));
    if taken.contains(&name.to_string()) {
        if chosen.is_some() {
            errors
                .push(name.span(), format!("would give the object the name `{name}`, which an item of the module has"));
        }
        return None;
    }
    refuse_name(&name, number, &sig.ident, errors);
    // `&Vec<T>` has become `&[T]`.
    function.sig = sig.clone();
    let path: Path = sig.ident.clone().into();
    let object = Object {
        attrs: &function.attrs,
        vis: &function.vis,
        name: &name,
        function: &path,
        generics: &sig.generics,
        number: parameter.as_ref().unwrap_or(number),
        shape: &shape?,
        krate,
    };
    Some(object.expand())
}

/// Removes the marks of arguments and fields at any depth, but for those that `#[derive(Container)]` reads.
pub(crate) fn remove_marks(item: &mut Item) {
    struct Remove;
    impl VisitMut for Remove {
        fn visit_fn_arg_mut(&mut self, argument: &mut FnArg) {
            if let FnArg::Typed(argument) = argument {
                take_mark(&mut argument.attrs);
            }
        }
        fn visit_field_mut(&mut self, field: &mut Field) {
            take_mark(&mut field.attrs);
        }
        fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
            if !derives(&item.attrs, "Container") {
                visit_mut::visit_item_struct_mut(self, item);
            }
        }
        fn visit_item_enum_mut(&mut self, item: &mut ItemEnum) {
            if !derives(&item.attrs, "Container") {
                visit_mut::visit_item_enum_mut(self, item);
            }
        }
        fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
            visit_mut::visit_signature_mut(self, &mut function.sig);
        }
        fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
            for item in module.content.iter_mut().flat_map(|(_, items)| items) {
                if let Item::Fn(function) = item {
                    function.attrs.retain(|a| !a.path().is_ident("differentiable"));
                }
            }
            visit_mut::visit_item_mod_mut(self, module);
        }
    }
    Remove.visit_item_mut(item);
}

/// Leaves out the bodies of the functions that the attribute would have rewritten. One that the compiler needs, for a constant or an `impl Trait`,
/// stays.
pub(crate) fn leave_bodies_out(item: &mut Item) {
    fn leave_out(sig: &Signature, body: &mut Block) {
        let is_opaque = matches!(&sig.output, ReturnType::Type(_, ty) if mentions(ty.to_token_stream(), "impl"));
        if sig.constness.is_none() && !is_opaque {
            *body = parse_quote!({ ::core::unimplemented!() });
        }
    }
    struct LeaveOut;
    impl VisitMut for LeaveOut {
        fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
            leave_out(&function.sig, &mut function.block);
        }
        fn visit_impl_item_fn_mut(&mut self, method: &mut ImplItemFn) {
            leave_out(&method.sig, &mut method.block);
        }
        fn visit_trait_item_fn_mut(&mut self, method: &mut TraitItemFn) {
            if let Some(body) = &mut method.default {
                leave_out(&method.sig, body);
            }
        }
    }
    match item {
        Item::Mod(module) => {
            // A module inside is none of the attribute's.
            let items = module.content.iter_mut().flat_map(|(_, items)| items);
            items.filter(|item| !matches!(item, Item::Mod(_))).for_each(|item| LeaveOut.visit_item_mut(item));
        }
        item => LeaveOut.visit_item_mut(item),
    }
}
