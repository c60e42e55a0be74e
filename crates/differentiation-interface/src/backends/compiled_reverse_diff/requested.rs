//! Programs for single entries of Jacobians and Hessians, if they are cheaper than products with seeds.
//!
//! Made with each recording, for the entries that its preparation requests.

use compiled_trace::{Graph, Limits, Node, Program, compile_owned};
use differentiation_interface_core::backend::EntryRequest;
use std::sync::Arc;

/// The entries that a preparation requests.
#[derive(Clone, Debug)]
pub(in crate::backends) struct RequestedEntries {
    entries: Option<Arc<EntrySet>>,
    most_bytes: usize,
    /// The time that compiling entries of a Hessian may take, in that of an operation on a tape; `None` if they are never compiled.
    affordable: Option<u64>,
}

impl Default for RequestedEntries {
    fn default() -> Self {
        RequestedEntries { entries: None, most_bytes: 0, affordable: Some(u64::MAX) }
    }
}

/// What takes the place of a program of the requested entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// Products, which are cheaper, or the only way.
    Products,
    /// Products for now: compiling the entries would take so long that it is not worth it yet.
    ProductsUntilLater(u64),
}

/// The requested entries of a derivative matrix, and the number of products with seeds that would give the same.
#[derive(Debug)]
struct EntrySet {
    order: Order,
    /// Compressed rows; `None` stands for all entries.
    pattern: Option<(Vec<u32>, Vec<u32>)>,
    products: usize,
}

/// A program of entries.
struct MadeEntries {
    program: Program,
    /// The number of products with seeds that would give the same.
    products: usize,
    /// The time that compiling it has taken, by estimate; 0 without one.
    price: u64,
}

/// The matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backends) enum Order {
    /// The Jacobian.
    First,
    /// The Hessian.
    Second,
}

/// The largest number of operations of a graph of the entries of a pattern: compiling it takes about 35 bytes an operation.
const MOST_OPERATIONS: usize = 1 << 25;
/// Graphs of all entries of a matrix up to this size, which take a quarter of a second and 50 MB, are made whatever products would have.
const FEW_OPERATIONS_DENSE: usize = 1 << 20;
/// Products with all basis vectors are lanes of one program: a larger graph of all entries is worth its memory if it has this many times fewer operations.
const DENSE_ADVANTAGE: usize = 16;
/// The largest number of entries of a dense matrix.
const MOST_ENTRIES: usize = 1 << 24;
/// Programs up to this number of instructions are used whatever products would cost.
const SHORT: usize = 1 << 14;
/// A graph of entries may have so many operations whatever products would have: lanes of products are padded, those of entries are not.
const FEW_OPERATIONS: usize = 1 << 11;
/// A product with a Hessian runs the gradient program and its derivative, each with several operations per operation of the
/// function.
const PER_HESSIAN_PRODUCT: usize = 8;

impl RequestedEntries {
    /// These entries.
    pub(in crate::backends) fn of<S>(order: Order, entries: &EntryRequest<'_, S>, limits: Limits) -> RequestedEntries {
        let pattern = entries.pattern.map(|(starts, columns)| (starts.to_vec(), columns.to_vec()));
        let chosen = EntrySet { order, pattern, products: entries.products };
        RequestedEntries { entries: Some(Arc::new(chosen)), most_bytes: limits.bytes, ..Self::default() }
    }
    /// All entries of the Jacobian.
    pub(in crate::backends) fn jacobian(limits: Limits) -> RequestedEntries {
        let chosen = EntrySet { order: Order::First, pattern: None, products: usize::MAX };
        RequestedEntries { entries: Some(Arc::new(chosen)), most_bytes: limits.bytes, ..Self::default() }
    }
    /// Lets no program of entries of a Hessian be made that takes longer to compile, in the time of an operation on a tape; none with `None`.
    pub(super) fn afford(&mut self, price: Option<u64>) {
        self.affordable = price;
    }
    /// Whether nothing is requested yet.
    pub(in crate::backends) fn is_nothing(&self) -> bool {
        self.entries.is_none()
    }

    /// Whether entries of a pattern are requested, so that the recording is read operation by operation.
    pub(super) fn has_pattern(&self) -> bool {
        self.entries.as_ref().is_some_and(|entries| entries.pattern.is_some())
    }

    /// Whether there may be a program of the requested entries, which is made from the operations of a recording.
    pub(super) fn reads_graph(&self, inputs: usize, outputs: usize) -> bool {
        self.entries.as_ref().is_some_and(|entries| {
            let rows = if entries.order == Order::First { outputs } else { inputs };
            entries.pattern.is_some() || rows.min(inputs).min(entries.products) >= 2
        })
    }

    /// The program of the requested entries, or what takes its place, and the time that compiling it has taken if that was to be afforded. `value` is the
    /// program of the outputs.
    pub(super) fn program(&self, graph: &Graph, value: &Program) -> (Result<Program, Instead>, u64) {
        match self.try_program(graph, Some(value)) {
            Ok(made) if is_short(&made.program, value, made.products) => (Ok(made.program), made.price),
            Ok(made) => (Err(Instead::Products), made.price),
            Err(instead) => (Err(instead), 0),
        }
    }

    /// The program of the requested entries, of any length, for entries that have a program already.
    pub(super) fn program_of_any_length(&self, graph: &Graph) -> Option<Program> {
        let separable = self.separable_programs(graph, false).map(|(_, entries)| entries);
        separable.or_else(|| self.try_program(graph, None).map(|made| made.program).ok())
    }

    /// The programs of the outputs and of the requested entries, where independent parts of the recording give both at a lower cost;
    /// `None` if products are cheaper.
    pub(super) fn separable_programs(&self, graph: &Graph, is_limited: bool) -> Option<(Program, Program)> {
        let EntrySet { order: Order::First, pattern: Some((starts, columns)), products } = &**self.entries.as_ref()?
        else {
            return None;
        };
        let products = graph.outputs().len().min(graph.inputs()).min(*products);
        let most = self.most_operations(graph, products, is_limited);
        let (value, entries) = graph.separable_programs(starts, columns, most).ok()??;
        let is_short = !is_limited || is_short(&entries, &value, products);
        is_short.then_some((value, entries))
    }

    /// The largest number of operations of a graph of entries.
    fn most_operations(&self, graph: &Graph, products: usize, is_limited: bool) -> usize {
        let by_products = products.saturating_mul(graph.nodes().len()).max(FEW_OPERATIONS);
        let bound = by_products.min(self.most_bytes / size_of::<Node>());
        let is_dense = self.entries.as_ref().is_none_or(|entries| entries.pattern.is_none());
        let most = if is_dense { FEW_OPERATIONS_DENSE.max(by_products / DENSE_ADVANTAGE) } else { MOST_OPERATIONS };
        if is_limited { bound.min(most).min(MOST_OPERATIONS) } else { MOST_OPERATIONS }
    }

    /// The program of the requested entries, whatever its length; within limits beside a program of the outputs.
    fn try_program(&self, graph: &Graph, beside: Option<&Program>) -> Result<MadeEntries, Instead> {
        let Some(entries) = &self.entries else { return Err(Instead::Products) };
        let EntrySet { order, pattern, products } = &**entries;
        let (rows, columns) = match order {
            Order::First => (graph.outputs().len(), graph.inputs()),
            Order::Second => (graph.inputs(), graph.inputs()),
        };
        let mut products = rows.min(columns).min(*products);
        let all;
        let (starts, columns) = match pattern {
            Some((starts, columns)) => (starts, columns),
            None if products < 2 || rows.saturating_mul(columns) > MOST_ENTRIES => return Err(Instead::Products),
            None => {
                let starts = (0..=rows).map(|i| (i * columns) as u32).collect();
                all = (starts, (0..rows).flat_map(|_| 0..columns as u32).collect());
                (&all.0, &all.1)
            }
        };
        if *order == Order::Second {
            products = products.saturating_mul(PER_HESSIAN_PRODUCT);
        }
        let most = self.most_operations(graph, products, beside.is_some());
        let mut price = 0;
        let entries = match order {
            Order::First => graph.jacobian_entries(starts, columns, most),
            Order::Second => {
                let affordable = self.affordable.ok_or(Instead::Products)?;
                match graph.gradient_graph(most) {
                    Ok(Some(gradient)) => {
                        if let Some(value) = beside.filter(|_| affordable < u64::MAX) {
                            let operations = gradient.operations_of_rows(most);
                            price = price_of_entries(operations, graph, value);
                            if affordable < price && operations <= most {
                                return Err(Instead::ProductsUntilLater(price));
                            }
                        }
                        gradient.symmetric_entries(starts, columns, most)
                    }
                    none => none,
                }
            }
        };
        // If the entries cannot be computed directly, products are used, which also report the errors.
        let program = entries.ok().flatten().and_then(|entries| compile_owned(entries).ok());
        program.map(|program| MadeEntries { program, products, price }).ok_or(Instead::Products)
    }
}

/// The time to compile entries of a Hessian that depend on so many operations, row by row, in that of an operation on a tape: for each operation 100 where
/// all are iterations of loops, and 300 more where none is, as in the program of the outputs. Of 18 Hessians the time was 0.5 to 1.6 times as long, and 4
/// times for one whose rows differ so that its entries have no loops.
fn price_of_entries(operations: usize, graph: &Graph, value: &Program) -> u64 {
    let in_no_loop = value.instruction_count() as f64 / graph.nodes().len().max(1) as f64;
    (operations as f64 * (100.0 + 300.0 * in_no_loop.min(1.0))) as u64
}

/// Whether a program of entries is cheaper than products with seeds.
fn is_short(entries: &Program, value: &Program, products: usize) -> bool {
    let length = entries.instruction_count();
    length <= SHORT || length <= products.saturating_mul(value.instruction_count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use compiled_trace::{Recorded, compile, record};
    use num_traits::Float;

    /// The number of instructions of the program of all entries, if there is one.
    fn length(inputs: usize, f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Option<usize> {
        let x: Vec<f64> = (0..inputs).map(|i| 0.5 + i as f64).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| *y = f(x)).unwrap();
        let (program, _) = RequestedEntries::jacobian(Limits::default()).program(&graph, &compile(&graph).unwrap());
        program.ok().map(|program| program.instruction_count())
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
    fn blocks_of_a_few_operations_have_a_program() {
        // Two rows that share most of some twenty operations.
        let projection = |x: &[Recorded]| {
            let square = (x[0] * x[0] + x[1] * x[1]) / (x[2] * x[2]);
            let distortion = x[3] * (square * x[4] + square * square * x[5] + 1.0) / x[2];
            vec![x[6] * (x[0] * distortion - 1.0), x[6] * (x[1] * distortion - 2.0)]
        };
        assert!(length(7, projection).is_some());
    }

    #[test]
    fn dense_hessians_of_more_than_a_million_operations_are_left_to_products() {
        // A loss of 20 weights over samples: two operations for each of 400 entries and sample.
        let has_program = |samples: usize| {
            let loss = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| {
                let coefficient = |sample: usize, i: usize| ((sample * 31 + i * 17) % 101) as f64 * 0.01 - 0.5;
                let score =
                    |sample: usize| x.iter().enumerate().fold(x[0] * 0.0, |s, (i, v)| s + *v * coefficient(sample, i));
                y.push((0..samples).fold(x[0] * 0.0, |sum, sample| sum + score(sample).sin()));
            };
            let graph = record(&[0.5; 20], &[], Limits::default(), loss).unwrap();
            let entries = EntrySet { order: Order::Second, pattern: None, products: usize::MAX };
            let most_bytes = Limits::default().bytes;
            let requested = RequestedEntries { entries: Some(Arc::new(entries)), most_bytes, ..Default::default() };
            requested.program(&graph, &compile(&graph).unwrap()).0.is_ok()
        };
        assert!(has_program(200));
        assert!(!has_program(2000));
    }

    #[test]
    fn entries_of_hessians_wait_until_they_are_afforded() {
        // ∂f/∂x₀ = x₁ cos x₀ and ∂f/∂x₁ = sin x₀ depend on three operations, none in a loop; the slopes of a product depend on none.
        let functions: [(fn(&[Recorded]) -> Recorded, u64); 2] =
            [(|x| x[0].sin() * x[1], 3 * 400), (|x| x[0] * x[1], 0)];
        for (f, price) in functions {
            let graph = record(&[0.5; 2], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
            let entries = EntrySet { order: Order::Second, pattern: None, products: usize::MAX };
            let most_bytes = Limits::default().bytes;
            let mut requested = RequestedEntries { entries: Some(Arc::new(entries)), most_bytes, ..Default::default() };
            let mut found = |affordable| {
                requested.afford(affordable);
                let (program, price) = requested.program(&graph, &compile(&graph).unwrap());
                (program.map(|_| ()), price)
            };
            assert_eq!(found(Some(price)), (Ok(()), price));
            if price > 0 {
                assert_eq!(found(Some(price - 1)), (Err(Instead::ProductsUntilLater(price)), 0));
            }
            assert_eq!(found(None), (Err(Instead::Products), 0));
            // Without a limit nothing is counted.
            assert_eq!(found(Some(u64::MAX)), (Ok(()), 0));
        }
    }

    #[test]
    fn dense_jacobians_of_rows_of_their_own_have_a_program_whatever_their_size() {
        let rows =
            |x: &[Recorded]| (1..=4000).map(|i| x.iter().fold(x[0], |sum, v| sum + *v * *v * f64::from(i))).collect();
        assert!(length(300, rows).is_some());
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
        assert!(RequestedEntries::jacobian(Limits { bytes: 9 * 2 * 12 }).program(&graph, &value).0.is_ok());
        assert!(RequestedEntries::jacobian(Limits { bytes: 9 * 12 }).program(&graph, &value).0.is_err());
    }
}
