//! Programs for single entries of Jacobians and Hessians, where they take less than products with seeds.
//!
//! Made with each recording, for what its preparation is asked for.

use compiled_trace::{Graph, Limits, Node, Program, compile};
use differentiation_interface_core::backend::EntryRequest;
use std::sync::Arc;

/// What a preparation is asked for beside products with seeds.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestedEntries {
    entries: Option<Arc<EntrySet>>,
    most_bytes: usize,
}

/// EntryRequest of a matrix of derivatives, and how many products with seeds would give the same.
#[derive(Debug)]
struct EntrySet {
    order: Order,
    /// Compressed rows; all entries if there are none.
    pattern: Option<(Vec<u32>, Vec<u32>)>,
    products: usize,
}

/// Which matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The Jacobian.
    First,
    /// The Hessian.
    Second,
}

/// Most operations of a graph of entries: 400 MB while it is compiled.
const MOST_OPERATIONS: usize = 1 << 25;
/// Most entries of a dense matrix.
const MOST_ENTRIES: usize = 1 << 24;
/// Code that has no more instructions than this may have any number of instructions per product.
const SHORT: usize = 1 << 14;
/// A product with a Hessian is a pass over the program of the gradient and one over its derivative, of several operations each
/// for one of the function.
const PER_HESSIAN_PRODUCT: usize = 8;

impl RequestedEntries {
    /// These entries.
    pub(super) fn of<S>(order: Order, entries: &EntryRequest<'_, S>, limits: Limits) -> RequestedEntries {
        let pattern = entries.pattern.map(|(starts, columns)| (starts.to_vec(), columns.to_vec()));
        let chosen = EntrySet { order, pattern, products: entries.products };
        RequestedEntries { entries: Some(Arc::new(chosen)), most_bytes: limits.bytes }
    }
    /// All entries of the Jacobian.
    pub(super) fn jacobian(limits: Limits) -> RequestedEntries {
        let chosen = EntrySet { order: Order::First, pattern: None, products: usize::MAX };
        RequestedEntries { entries: Some(Arc::new(chosen)), most_bytes: limits.bytes }
    }
    /// Whether nothing is asked for yet.
    pub(super) fn is_nothing(&self) -> bool {
        self.entries.is_none()
    }

    /// The program of the entries asked for; nothing if products take less. `value` is the program of the outputs.
    pub(super) fn program(&self, graph: &Graph, value: &Program) -> Option<Program> {
        let (program, products) = self.program_and_products(graph, true)?;
        let length = program.instruction_count();
        (length <= SHORT || length <= products.saturating_mul(value.instruction_count())).then_some(program)
    }

    /// The program of the entries asked for, however long, where there was one of the same entries already.
    pub(super) fn program_of_any_length(&self, graph: &Graph) -> Option<Program> {
        self.program_and_products(graph, false).map(|(program, _)| program)
    }

    /// The program of the entries asked for, and how many products give them too.
    fn program_and_products(&self, graph: &Graph, is_limited: bool) -> Option<(Program, usize)> {
        let EntrySet { order, pattern, products } = &**self.entries.as_ref()?;
        let (rows, columns) = match order {
            Order::First => (graph.outputs().len(), graph.inputs()),
            Order::Second => (graph.inputs(), graph.inputs()),
        };
        let mut products = rows.min(columns).min(*products);
        let all;
        let (starts, columns) = match pattern {
            Some((starts, columns)) => (starts, columns),
            None if products < 2 || rows.saturating_mul(columns) > MOST_ENTRIES => return None,
            None => {
                let starts = (0..=rows).map(|i| (i * columns) as u32).collect();
                all = (starts, (0..rows).flat_map(|_| 0..columns as u32).collect());
                (&all.0, &all.1)
            }
        };
        if *order == Order::Second {
            products = products.saturating_mul(PER_HESSIAN_PRODUCT);
        }
        let bound = products.saturating_mul(graph.nodes().len()).min(self.most_bytes / size_of::<Node>());
        let most = if is_limited { bound.min(MOST_OPERATIONS) } else { MOST_OPERATIONS };
        let entries = match order {
            Order::First => graph.jacobian_entries(starts, columns, most),
            Order::Second => graph.hessian_entries(starts, columns, most),
        };
        // What cannot be written down is left to products, and so are its errors.
        Some((compile(&entries.ok()??).ok()?, products))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use compiled_trace::{Recorded, record};
    use num_traits::Float;

    /// Whether there is a program of all entries, and how many instructions it has.
    fn length(inputs: usize, f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Option<usize> {
        let x: Vec<f64> = (0..inputs).map(|i| 0.5 + i as f64).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap();
        let program = RequestedEntries::jacobian(Limits::default()).program(&graph, &compile(&graph).unwrap())?;
        Some(program.instruction_count())
    }

    #[test]
    fn rows_of_their_own_have_a_program() {
        let squares = |x: &[Recorded]| x.iter().map(|v| *v * *v).collect();
        assert!(length(100, squares).is_some_and(|length| length < 20));
    }

    #[test]
    fn rows_with_a_long_computation_in_common_are_left_to_products() {
        let coupled = |x: &[Recorded]| {
            let state = x.iter().cycle().take(400).fold(x[0], |state, v| (state * 0.5 + *v).sin());
            x.iter().map(|v| *v * state).collect()
        };
        assert_eq!(length(4, coupled), None);
    }

    #[test]
    fn gradients_and_derivatives_are_single_products() {
        assert_eq!(length(3, |x| vec![x[0] * x[1] * x[2]]), None);
        assert_eq!(length(1, |x| vec![x[0] * 2.0, x[0].sin()]), None);
    }

    #[test]
    fn limits_of_the_user_count() {
        let graph = record(&[1.0; 9], &[], Limits::default(), |x, _, y| y.extend(x.iter().map(|v| v.sin()))).unwrap();
        let value = compile(&graph).unwrap();
        assert!(RequestedEntries::jacobian(Limits { bytes: 9 * 2 * 12 }).program(&graph, &value).is_some());
        assert!(RequestedEntries::jacobian(Limits { bytes: 9 * 12 }).program(&graph, &value).is_none());
    }
}
