//! Makes plain `f64` code generic: decides which numbers are active and rewrites only those.
//!
//! Called by `expand` for functions without a type parameter. The method is that of binding-time analysis:
//! 1. `exprs`, `calls` and `methods` read the body once, give every expression a coarse type (`ty`), and record how numbers
//!    flow (`graph`). Arguments are active, literals and constants are not; an operation with an active operand is active.
//! 2. The least solution of all flows determines which occurrences of `f64` become the number type. Everything else stays plain
//!    and costs no derivative work.
//! 3. `rewrite` carries out the decisions left open as marks: types, `T::constant(..)` around plain expressions in an
//!    active place, `powc` for constant exponents.
//!
//! A module is read as one: `types` and `items` declare its types and functions, whose bodies then are read as above; `instances`
//! gives each use of a type and each call of a function an activity of its own.
//!
//! The analysis may be wrong about unknown code. A wrong guess about numbers is a type error, since the number type does not convert silently to
//! `f64`; the rewriting never inserts `primal()`. Two rewritings could compile and compute something else, and must not:
//! - A copy of data in place of the data (`data`). What is written to a copy is lost, so that nothing is lifted that is written through.
//! - A call that names the trait (`trait_names`). Another method may be meant, which the analysis asks for, and the generated code checks.

mod annotations;
mod calls;
mod data;
mod declared;
mod exprs;
mod forms;
mod functions;
mod generated;
mod graph;
mod inference;
mod instances;
mod item_checks;
mod items;
mod macros;
mod maps;
mod marks;
mod methods;
mod named;
mod parameters;
mod paths;
mod places;
mod refusals;
mod rewrite;
mod sequences;
mod text;
mod trait_names;
mod ty;
mod types;
mod unify;
mod vectors;

use crate::errors::Errors;
use crate::options::Traits;
use declared::Module;
use graph::Graph;
use inference::Inference;
use marks::Mark;
use named::Calls;
use rewrite::Rewrite;
use std::collections::HashMap;
use syn::visit_mut::VisitMut;
use syn::{Ident, Item, ItemFn, Signature};

pub(crate) use refusals::qualifiers;

/// Rewrites the body of a function whose signature is generic already. `original` is the signature as the user wrote it,
/// with its marks.
pub(crate) fn make_generic(
    function: &mut ItemFn,
    original: &Signature,
    number: &Ident,
    krate: &Traits,
    errors: &mut Errors,
) {
    forms::of_body(&mut function.block);
    let mut inference = Inference::new(number, krate, errors);
    inference.function(function, original);
    let Solution { graph, marks, .. } = inference.solve();
    let mut rewrite = Rewrite { graph: &graph, marks: &marks, number, krate, calls: vec![Calls::default()] };
    rewrite.visit_block_mut(&mut function.block);
    rewrite.calls.pop().unwrap_or_default().open(&mut function.block);
}

/// Rewrites the items of a module, or an `impl` block: signatures, types and bodies. `has_object` says
/// which functions must be active although they are private.
pub(crate) fn make_items_generic(
    items: &mut Vec<Item>,
    has_object: &[bool],
    number: &Ident,
    krate: &Traits,
    errors: &mut Errors,
) {
    forms::of_items(items);
    let mut inference = Inference::new(number, krate, errors);
    inference.items(items, has_object);
    let Solution { graph, marks, module } = inference.solve();
    let lifted = data::implementations(items, &module, &graph, &marks, number, krate);
    let checks = trait_names::checks(items, &module);
    let mut rewrite = Rewrite { graph: &graph, marks: &marks, number, krate, calls: Vec::new() };
    for item in &mut *items {
        rewrite.visit_item_mut(item);
    }
    items.extend(lifted);
    items.extend(checks);
}

/// The solved flows, and the decisions that depend on them.
struct Solution {
    graph: Graph,
    marks: Vec<Mark>,
    module: Module,
}

impl<'e> Inference<'e> {
    fn new(number: &'e Ident, krate: &'e Traits, errors: &'e mut Errors) -> Inference<'e> {
        Inference {
            graph: Graph::default(),
            vars: Vec::new(),
            scopes: vec![HashMap::new()],
            type_parameters: HashMap::new(),
            operators: Vec::new(),
            origins: Vec::new(),
            module: Module::default(),
            marks: Vec::new(),
            checks: Vec::new(),
            returns: Vec::new(),
            breaks: Vec::new(),
            number,
            krate,
            errors,
        }
    }

    /// Solves the flows, and reports what they show to be wrong.
    fn solve(mut self) -> Solution {
        for (span, why) in self.graph.solve() {
            self.errors.push(span, why);
        }
        for (act, span, message) in self.checks {
            if self.graph.is_active(act) {
                self.errors.push(span, message);
            }
        }
        Solution { graph: self.graph, marks: self.marks, module: self.module }
    }
}
