//! The formulas of a recording: expressions of its derivatives, simplified, and the programs that compute them.
//!
//! Immutable and shared by all clones of a preparation, on all threads; the formulas of each order are made on first use.

use super::backend::AutoSymbolic;
use super::pattern::CompressedRows;
use crate::expression::{Expressions, Id, Read};
use crate::simplify::simplified_entries;
use compiled_trace::{Executable, Graph, Limits, Node, Place, Program, compile};
use differentiation_interface_core::error::{Error, ErrorKind};
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// Which derivatives a program computes besides the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The Jacobian.
    First,
    /// The gradient and the Hessian of the only output.
    Second,
}

/// A program whose only output slice has the outputs of the function, then the entries of each matrix.
#[derive(Debug)]
pub(super) struct Solved {
    pub(super) executable: Executable,
    /// The Jacobian, which follows the outputs.
    pub(super) jacobian: CompressedRows,
    /// The Hessian, which follows the Jacobian; it has no rows in programs of first order.
    pub(super) hessian: CompressedRows,
}

/// A recording with its formulas.
#[derive(Debug)]
pub(super) struct Formulas {
    graph: Graph,
    backend: AutoSymbolic,
    solved: [OnceLock<Solved>; 2],
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Number of parameters, without constants that have become parameters.
    pub(super) parameters: usize,
    /// Lengths of the contexts.
    pub(super) lengths: Vec<u64>,
    /// For comparison with later recordings, if constants may change.
    source: Option<Source>,
    /// Whether it has no guards, and so is valid only for the call that made it.
    pub(super) once: bool,
}

/// The original recording, and the places of the constants that are parameters of the formulas.
#[derive(Debug)]
struct Source {
    graph: Arc<Graph>,
    places: Vec<Place>,
}

impl Formulas {
    /// The formulas of a recording of a function whose constants never change.
    pub(super) fn new(graph: &Graph, backend: &AutoSymbolic, lengths: &[u64]) -> Formulas {
        Formulas {
            backend: *backend,
            solved: Default::default(),
            inputs: graph.inputs(),
            outputs: graph.outputs().len(),
            parameters: graph.parameters(),
            lengths: lengths.to_vec(),
            source: None,
            once: false,
            graph: graph.clone(),
        }
    }

    /// Those of a recording for its own point only.
    pub(super) fn once(graph: &Graph, backend: &AutoSymbolic, lengths: &[u64]) -> Formulas {
        Formulas { once: true, ..Formulas::new(&graph.without_guards(), backend, lengths) }
    }

    /// Those of a recording for comparison with later ones, which detects more than guards do.
    pub(super) fn comparable(graph: &Graph, backend: &AutoSymbolic, lengths: &[u64]) -> Formulas {
        let source = Source { graph: Arc::new(graph.clone()), places: Vec::new() };
        Formulas { source: Some(source), ..Formulas::new(&graph.without_guards(), backend, lengths) }
    }

    /// Whether a new recording has the same operations; `changed` is set if constants differ that are not parameters.
    pub(super) fn compare(&self, graph: &Graph, changed: &mut bool) -> bool {
        *changed = false;
        let Some(source) = &self.source else { return false };
        let has_parameters = !source.places.is_empty();
        source.graph.compare(graph, |_| *changed |= !has_parameters)
    }

    /// The same with all constants as parameters.
    pub(super) fn widened(&self) -> Result<Formulas, Error> {
        let Some(Source { graph, .. }) = &self.source else { return Err(ErrorKind::ForeignNumber.into()) };
        let places = graph.places_of_constants();
        let wide = graph.without_guards().with_parameters_at(&places)?;
        let source = Source { graph: Arc::clone(graph), places };
        let formulas = Formulas::new(&wide, &self.backend, &self.lengths);
        Ok(Formulas { source: Some(source), parameters: self.parameters, ..formulas })
    }

    /// Appends the values in `graph` of the constants that are parameters.
    pub(super) fn constants(&self, graph: &Graph, values: &mut Vec<f64>) {
        if let Some(source) = &self.source {
            graph.constants_at(&source.places, values);
        }
    }

    /// The place in the user's code where another recording first takes another branch; `None` if it differs in something else.
    pub(super) fn parts_from(&self, graph: &Graph) -> Option<&'static Location<'static>> {
        self.source.as_ref()?.graph.divergence(graph)
    }

    /// Whether they are for points and contexts of these lengths.
    pub(super) fn fits(&self, inputs: usize, parameters: usize, lengths: &[u64]) -> bool {
        !self.once && self.inputs == inputs && self.parameters == parameters && self.lengths == lengths
    }

    /// The program of an order, which is made if it is new.
    pub(super) fn solved(&self, order: Order) -> Result<&Solved, Error> {
        let place = &self.solved[order as usize];
        if let Some(solved) = place.get() {
            return Ok(solved);
        }
        let solved = solve(&self.graph, &self.backend, order)?;
        // If another thread has made it meanwhile, both are the same.
        Ok(place.get_or_init(|| solved))
    }
}

/// Recordings longer than formulas may be are not worth finishing.
pub(super) fn limits(backend: &AutoSymbolic) -> Limits {
    // Constants, and growing by doubling.
    Limits { bytes: backend.most_operations().saturating_mul(2 * (size_of::<Node>() + size_of::<f64>())) }
}

/// What to do about a recording that grows too large.
const TOO_LONG: ErrorKind = ErrorKind::Refused {
    what: "the recording of the function takes more operations than the limit",
    instead: "raise it with `with_most_operations`, or use `AutoReverseDiff::compiled()`",
};

/// The error of a recording, which says what to do where it is too long.
pub(super) fn recording_error(error: Error) -> Error {
    if error.kind() == ErrorKind::TapeOverflow { TOO_LONG.into() } else { error }
}

/// The expressions of the entries, and where they are.
pub(super) struct Entries {
    pub(super) expressions: Expressions,
    pub(super) read: Read,
    pub(super) jacobian: (CompressedRows, Vec<Id>),
    pub(super) hessian: (CompressedRows, Vec<Id>),
}

/// Differentiates a recording.
pub(super) fn entries(graph: &Graph, most_operations: usize, order: Order) -> Result<Entries, Error> {
    let mut expressions = Expressions::new(graph.rules().clone(), most_operations);
    let read = expressions.read(graph)?;
    if order == Order::Second && read.outputs.len() != 1 {
        return Err(ErrorKind::OutputLength { expected: 1, found: read.outputs.len() }.into());
    }
    let (mut jacobian, mut hessian) = ((CompressedRows::new(), Vec::new()), (CompressedRows::new(), Vec::new()));
    for output in &read.outputs {
        for (input, entry) in expressions.gradient(*output, |_| true)? {
            jacobian.0.columns.push(input);
            jacobian.1.push(entry);
        }
        jacobian.0.end_row();
    }
    if order == Order::Second {
        let mut rows: Vec<Vec<(u32, Id)>> = vec![Vec::new(); graph.inputs()];
        for (input, slope) in jacobian.0.columns.iter().zip(jacobian.1.clone()) {
            // The half up to the diagonal; the other one is its mirror image.
            for (other, entry) in expressions.gradient(slope, |other| other <= *input)? {
                rows[*input as usize].push((other, entry));
                if other != *input {
                    rows[other as usize].push((*input, entry));
                }
            }
        }
        for mut row in rows {
            row.sort_unstable_by_key(|(column, _)| *column);
            hessian.0.columns.extend(row.iter().map(|(column, _)| *column));
            hessian.1.extend(row.iter().map(|(_, entry)| *entry));
            hessian.0.end_row();
        }
    }
    Ok(Entries { expressions, read, jacobian, hessian })
}

/// The program of the outputs and of the entries of an order, and where these are.
fn solve(graph: &Graph, backend: &AutoSymbolic, order: Order) -> Result<Solved, Error> {
    let (program, jacobian, hessian) = compiled(graph, backend, order)?;
    Ok(Solved { executable: program.executable(), jacobian, hessian })
}

fn compiled(
    graph: &Graph,
    backend: &AutoSymbolic,
    order: Order,
) -> Result<(Program, CompressedRows, CompressedRows), Error> {
    let Entries { mut expressions, read, jacobian, hessian } = entries(graph, backend.most_operations(), order)?;
    let mut derivatives: Vec<Id> = jacobian.1.iter().chain(&hessian.1).copied().collect();
    if backend.simplifies() {
        derivatives = simplified_entries(&mut expressions, &read.outputs, derivatives)?;
    }
    // The entries of a row belong together; those of a gradient do not.
    let is_gradient = read.outputs.len() == 1;
    let groups = jacobian.0.places().map(|(i, j, _)| if is_gradient { j } else { i });
    let groups = groups.chain(hessian.0.places().map(|(i, ..)| graph.inputs() + i));
    let entries: Vec<(u32, Id)> = groups.map(|group| group as u32).zip(derivatives).collect();
    let program = compile(&expressions.write(graph, &read.outputs, &entries, &read.guards)?)?;
    Ok((program, jacobian.0, hessian.0))
}

/// The program alone.
#[cfg(test)]
pub(super) fn program(graph: &Graph, backend: &AutoSymbolic, order: Order) -> Result<Program, Error> {
    compiled(graph, backend, order).map(|(program, ..)| program)
}
