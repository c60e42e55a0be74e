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
//! The analysis may be wrong about unknown code. That cannot give a wrong derivative: the number type does not
//! convert silently to `f64`, so a wrong guess is a type error. The rewriting never inserts `primal()`.

mod annotations;
mod calls;
mod exprs;
mod functions;
mod graph;
mod inference;
mod marks;
mod methods;
mod refusals;
mod rewrite;
mod sequences;
mod ty;
mod unify;

use crate::errors::Errors;
use graph::Graph;
use inference::Inference;
use std::collections::HashMap;
use syn::{Ident, ItemFn, Path, Signature};

/// Rewrites the body of a function whose signature is generic already. `original` is the signature as the user wrote it,
/// with its marks.
pub(crate) fn make_generic(
    function: &mut ItemFn,
    original: &Signature,
    number: &Ident,
    krate: &Path,
    errors: &mut Errors,
) {
    let mut inference = Inference {
        graph: Graph::default(),
        vars: Vec::new(),
        scopes: vec![HashMap::new()],
        type_parameters: HashMap::new(),
        marks: Vec::new(),
        checks: Vec::new(),
        returns: Vec::new(),
        breaks: Vec::new(),
        number,
        errors,
    };
    inference.function(function, original);
    for (span, why) in inference.graph.solve() {
        inference.errors.push(span, why);
    }
    let Inference { graph, marks, checks, .. } = inference;
    for (act, span, message) in checks {
        if graph.is_active(act) {
            errors.push(span, message);
        }
    }
    rewrite::rewrite(function, &graph, &marks, number, krate);
}
