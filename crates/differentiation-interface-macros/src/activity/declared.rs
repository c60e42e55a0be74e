//! What a module declares: its types and the signatures of its functions.
//!
//! Filled by `types` and `items`, read by `instances`.

use super::graph::Act;
use super::ty::Ty;
use proc_macro2::TokenStream;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use syn::Ident;

/// The owner of the methods that traits of the module give to slices, arrays, vectors and tuples.
pub(super) const CONTAINERS: &str = "[f64]";

/// The trait of types whose methods are also those of a sequence.
pub(super) const ITERATOR: &str = "Iterator";

/// The declarations of a module.
#[derive(Default)]
pub(super) struct Module {
    pub(super) types: Vec<Declared>,
    pub(super) names: HashMap<String, usize>,
    /// `type Vector = [f64; 3];`, with the placeholder of its numbers.
    pub(super) aliases: HashMap<String, (Ty, Act)>,
    pub(super) functions: HashMap<String, Scheme>,
    /// The functions that are generic as the user wrote them, and stay as they are.
    pub(super) generic: Vec<String>,
    /// By type and name. Several for operators, such as `Vector * Vector` and `Vector * f64`.
    pub(super) methods: HashMap<(String, String), Vec<Scheme>>,
    /// By type and name: the methods of types that are not read, since they are generic as the user wrote them, or in a module inside of this one.
    pub(super) unread: HashSet<(String, String)>,
    /// The traits that are implemented for references and pointers, with the methods that each such block hands on to what is pointed to: a call of
    /// another method on a pointer is one of the pointer itself.
    pub(super) of_pointers: Vec<(String, HashSet<String>)>,
    /// The types and their methods whose calls name the trait: by the type's number.
    pub(super) with_trait: Vec<(usize, Ident)>,
    /// The traits of the module that each type implements, and the supertraits of each trait.
    pub(super) implemented: HashMap<String, Vec<String>>,
    /// The types whose parameter is bounded where they are declared.
    pub(super) bounded: Vec<String>,
    /// By type and name: the constants of types, and whether they are values, not references.
    pub(super) constants: HashMap<(String, String), (Ty, bool)>,
    /// Constants of traits, by name: the trait.
    pub(super) of_traits: HashMap<String, usize>,
    /// The signatures in the order of the items, for their bodies; `None` for a function that stays as it is.
    pub(super) order: VecDeque<Option<Scheme>>,
    /// The types of the blocks in their order, with their type parameters; `None` for a block that stays as it is.
    pub(super) blocks: VecDeque<Option<(Ty, HashMap<String, Ty>)>>,
    /// `Self`, and the associated types of the block that is being read.
    pub(super) this: HashMap<String, Ty>,
    /// The activity of the arguments that are active in any case.
    pub(super) root: Option<Act>,
}

impl Module {
    /// Whether the parameter of a type is bounded where the type is declared.
    pub(super) fn is_bounded(&self, name: &Ident) -> bool {
        self.bounded.iter().any(|bounded| name == bounded)
    }

    /// Whether the type has a method of this name, beside those of its traits, that is not read.
    pub(super) fn is_unread(&self, ty: &str, name: &str) -> bool {
        self.unread.contains(&(ty.to_string(), name.to_string()))
    }

    /// Whether references or pointers have this method of the trait in a way of their own.
    pub(super) fn is_of_pointers(&self, of_trait: &str, method: &str) -> bool {
        self.of_pointers.iter().any(|(name, handed_on)| name == of_trait && !handed_on.contains(method))
    }

    /// The type, its traits and their supertraits, by name: what its methods are declared in.
    pub(super) fn owners(&self, name: &str) -> Vec<String> {
        let mut owners = vec![name.to_string()];
        let mut i = 0;
        while i < owners.len() {
            for of_trait in self.implemented.get(&owners[i]).into_iter().flatten() {
                if !owners.contains(of_trait) {
                    owners.push(of_trait.clone());
                }
            }
            i += 1;
        }
        owners
    }
}

/// A struct or enum.
pub(super) struct Declared {
    pub(super) name: String,
    /// Whether it has fields with `f64` that are not marked `#[constant]`.
    pub(super) has_numbers: bool,
    /// Whether only the bounds of its type parameters name numbers (`struct Rule<F> { f: F }` with an `F: Fn(f64) -> f64`). Then its methods
    /// get the parameter, since a type must use its own.
    pub(super) is_bare: bool,
    /// Whether its numbers are those of its parameters: `Ring<f64>`, `Arena<Link>`. It is bare too.
    pub(super) is_filled: bool,
    /// Whether it derives `Copy`.
    pub(super) is_copy: bool,
    /// Active if any value of it is: then it gets the parameter.
    pub(super) flag: Act,
    /// Type and constant parameters that the user wrote.
    pub(super) parameters: usize,
    /// What stands for them where none are written, if all have a default.
    pub(super) defaults: Vec<TokenStream>,
    /// Whether all fields are plain data of known types, so that a copy is as good as the value: no `Cell`, no reference to be written through.
    pub(super) is_plain: bool,
    /// The fields of each variant; those of a struct bear the name of the struct. Their numbers have the activity `flag`.
    pub(super) cases: HashMap<String, Vec<(String, Ty)>>,
}

/// The signature of a function of the module.
#[derive(Clone)]
pub(super) struct Scheme {
    /// With the receiver, if it is a method.
    pub(super) arguments: Vec<Ty>,
    pub(super) result: Ty,
    pub(super) acts: Vec<Act>,
    /// The types of the type parameters in scope.
    pub(super) type_parameters: Rc<HashMap<String, Ty>>,
    /// Type and constant parameters that the user wrote.
    pub(super) parameters: usize,
    /// Whether it is a method that gets the number type as a parameter although it belongs to a type, which has none.
    pub(super) has_own_number: bool,
    pub(super) has_receiver: bool,
    /// How it takes `self`, of a type that is no reference.
    pub(super) access: Option<Access>,
    /// The trait of a method.
    pub(super) of_trait: Option<String>,
    /// Whether this is the declaration in the trait, where `Self` is any type that implements it.
    pub(super) is_provided: bool,
    /// How data is handed over as each argument; `None` where the function could write to it.
    pub(super) passing: Vec<Option<Passing>>,
    /// Whether each argument, without the receiver, tells which numbers a call has.
    pub(super) tells: Vec<bool>,
}

/// Of methods of one name, those of the type itself, if there are any: they are called, not those of its traits.
pub(super) fn inherent_first(mut methods: Vec<&Scheme>) -> Vec<&Scheme> {
    if methods.iter().any(|scheme| scheme.of_trait.is_none()) {
        methods.retain(|scheme| scheme.of_trait.is_none());
    }
    methods
}

/// An operator that a bound of a type parameter names: `V: Mul<f64, Output = V>`.
#[derive(Clone)]
pub(super) struct Operator {
    /// The method of its trait.
    pub(super) name: &'static str,
    pub(super) left: Ty,
    pub(super) right: Ty,
    pub(super) result: Ty,
}

/// How a method takes `self`.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Shared,
    Mutable,
    Value,
}

/// How a function takes an argument that it cannot write to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Passing {
    Shared,
    Owned,
}
