//! Entries of Jacobians as graphs: every entry is an output.
//!
//! Called by users of [`Graph`]. A product with a seed costs a pass over the whole recording, however little of it a row of the
//! Jacobian depends on. Here the operations that an output depends on are swept backwards alone, and the result of the sweep is
//! written as a graph: [`compile`](crate::compile) finds loops over rows again, and each iteration is what a careful programmer
//! would write for its row. Values are written when the first row needs them, so that they are in the iteration that uses them.

use crate::derive::absence::{Absences, Slope};
use crate::derive::expressions::{Expressions, Shared};
use crate::recording::graph::{CONSTANT, Graph, MAX_VALUES, Node, Op};
use differentiation_interface_core::error::{Error, ErrorKind};

/// Sentinel: no node.
const NONE: u32 = u32::MAX;

impl Graph {
    /// The graph whose outputs are entries of the Jacobian, in place of the function's own: ∂yᵢ/∂xⱼ for `j` in
    /// `columns[starts[i]..starts[i + 1]]`, row by row.
    ///
    /// `None` if it takes more than `most` operations, if rows depend on more than `most` in all, or if they depend on custom rules
    /// ([`CallObject`](crate::CallObject)). If each output depends on a large part of the recording, as after a
    /// chain of matrix products, the graph is large; products with seeds ([`Program::adjoint`](crate::Program::adjoint),
    /// [`Program::tangent`](crate::Program::tangent)) are then cheaper. The graph keeps all guards of the recording.
    ///
    /// # Errors
    /// [`ErrorKind::PatternSize`] if the rows are not one per output or a column is no input; [`ErrorKind::BufferLength`] if
    /// `starts` does not rise from 0 to the number of `columns`;
    /// [`ErrorKind::RuleOrder`] if a rule has no derivative that can be recorded.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let n = 1000;
    /// let graph = record(&vec![1.0; n + 1], &[], Limits::default(), |x, _, y| {
    ///     y.extend(x.windows(2).map(|w| w[0] * w[0] * w[1]));
    /// })?;
    /// // Two entries per row.
    /// let starts: Vec<u32> = (0..=n as u32).map(|i| 2 * i).collect();
    /// let columns: Vec<u32> = (0..n as u32).flat_map(|i| [i, i + 1]).collect();
    /// let entries = graph.jacobian_entries(&starts, &columns, 10 * n)?.expect("four operations per row");
    /// let program = compile(&entries)?.executable();
    /// let mut values = vec![0.0; 2 * n];
    /// program.run(&mut program.workspace(), &[&vec![3.0; n + 1], &[]], &mut [&mut values]).unwrap();
    /// assert!(values.chunks(2).all(|row| row == [18.0, 9.0]));
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn jacobian_entries(&self, starts: &[u32], columns: &[u32], most: usize) -> Result<Option<Graph>, Error> {
        check_pattern((self.outputs.len(), self.inputs), starts, columns)?;
        let mut rows = RowWriter::new(self, most);
        if rows.count() > rows.most {
            return Ok(None);
        }
        let mut outputs = Vec::with_capacity(columns.len());
        for (output, range) in self.outputs.iter().zip(starts.windows(2)) {
            let row = &columns[range[0] as usize..range[1] as usize];
            if !rows.write_row(*output, row, &mut outputs)? {
                return Ok(None);
            }
        }
        if !rows.write_guards(self.nodes.len()) {
            return Ok(None);
        }
        let RowWriter { graph, shared, nodes, .. } = rows;
        Ok(Some(Graph {
            inputs: graph.inputs,
            parameters: graph.parameters,
            nodes,
            constants: shared.constants,
            outputs,
            rules: shared.rules,
            calls: Vec::new(),
            places: graph.places.clone(),
            absence: shared.absence,
        }))
    }

    /// The graph whose outputs are entries of the Hessian of the only output, in compressed rows like those of
    /// [`jacobian_entries`](Graph::jacobian_entries): the Jacobian of the gradient's graph. Entries (i, j) and (j, i) are the same
    /// number.
    ///
    /// `None` if gradient or Hessian takes more than `most` operations, if they depend on custom rules, or if the pattern is not
    /// symmetric.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if there is not one output;
    /// Those of [`jacobian_entries`](Graph::jacobian_entries) for a matrix of inputs × inputs;
    /// [`ErrorKind::RuleOrder`] if a rule has no second derivative that can be recorded.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[1.0; 3], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[1] + x[2]))?;
    /// // RowWriter (0, 1), (0) and none.
    /// let entries = graph.hessian_entries(&[0, 2, 3, 3], &[0, 1, 0], 100)?.expect("it is small");
    /// let program = compile(&entries)?.executable();
    /// let mut values = [0.0; 3];
    /// program.run(&mut program.workspace(), &[&[3.0, 5.0, 7.0], &[]], &mut [&mut values]).unwrap();
    /// assert_eq!(values, [10.0, 6.0, 6.0]);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn hessian_entries(&self, starts: &[u32], columns: &[u32], most: usize) -> Result<Option<Graph>, Error> {
        check_pattern((self.inputs, self.inputs), starts, columns)?;
        match self.gradient_graph(most)? {
            Some(gradient) => gradient.symmetric_entries(starts, columns, most),
            None => Ok(None),
        }
    }

    /// The graph whose outputs are the derivatives of the only output by all inputs.
    ///
    /// `None` if it takes more than `most` operations, or depends on custom rules.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if there is not one output; [`ErrorKind::RuleOrder`] if a rule has no derivative that can be recorded.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, record};
    /// use num_traits::Float;
    /// let graph = record(&[1.0; 3], &[], Limits::default(), |x, _, y| y.push(x[0].sin() * x[1] + x[2]))?;
    /// let gradient = graph.gradient_graph(100)?.expect("it is small");
    /// assert_eq!(gradient.outputs().len(), 3);
    /// // ∂f/∂x₀ = x₁ cos x₀ and ∂f/∂x₁ = sin x₀ depend on two operations and on one, ∂f/∂x₂ = 1 on none.
    /// assert_eq!(gradient.operations_of_rows(100), 3);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn gradient_graph(&self, most: usize) -> Result<Option<Graph>, Error> {
        if self.outputs.len() != 1 {
            return Err(ErrorKind::OutputLength { expected: 1, found: self.outputs.len() }.into());
        }
        let inputs: Vec<u32> = (0..self.inputs as u32).collect();
        self.jacobian_entries(&[0, self.inputs as u32], &inputs, most)
    }

    /// The graph of entries of the Jacobian of a [gradient's graph](Self::gradient_graph), which is symmetric: entries (i, j) and (j, i) are
    /// the same number. In the end that of [`hessian_entries`](Self::hessian_entries).
    ///
    /// `None` if it takes more than `most` operations, or if the pattern is not symmetric.
    ///
    /// # Errors
    /// Those of [`jacobian_entries`](Graph::jacobian_entries).
    pub fn symmetric_entries(&self, starts: &[u32], columns: &[u32], most: usize) -> Result<Option<Graph>, Error> {
        check_pattern((self.outputs.len(), self.inputs), starts, columns)?;
        let Some(half) = LowerHalf::of(starts, columns) else { return Ok(None) };
        let Some(mut graph) = self.jacobian_entries(&half.starts, &half.columns, most)? else { return Ok(None) };
        graph.outputs = half.places.iter().map(|place| graph.outputs[*place as usize]).collect();
        Ok(Some(graph))
    }

    /// The number of operations that outputs depend on, with those of several outputs counted for each. Ends above `most`. The graph of
    /// entries of the Jacobian has one to three times as many, and this takes a twentieth of the time.
    pub fn operations_of_rows(&self, most: usize) -> usize {
        RowWriter::new(self, most).count()
    }
}

/// Checks that compressed rows are those of a matrix of this size.
pub(crate) fn check_pattern(expected: (usize, usize), starts: &[u32], columns: &[u32]) -> Result<(), Error> {
    let width = columns.iter().map(|column| *column as usize + 1).max().unwrap_or(0);
    let found = (starts.len().saturating_sub(1), width.max(expected.1));
    if found != expected {
        return Err(ErrorKind::PatternSize { expected, found }.into());
    }
    let (first, last) = (starts.first().copied(), starts.last().copied().unwrap_or(0) as usize);
    if first == Some(0) && starts.is_sorted() && last == columns.len() {
        return Ok(());
    }
    Err(ErrorKind::BufferLength { expected: columns.len(), found: last }.into())
}

/// The entries of a symmetric pattern at and below the diagonal.
struct LowerHalf {
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// For each entry of the whole pattern, the place of itself or of its mirror image among them.
    places: Vec<u32>,
}

impl LowerHalf {
    /// `None` if the pattern is not symmetric, or its columns do not ascend.
    fn of(starts: &[u32], columns: &[u32]) -> Option<LowerHalf> {
        let mut half = LowerHalf { starts: vec![0], columns: Vec::new(), places: Vec::with_capacity(columns.len()) };
        let row = |i: usize| Some(&columns[*starts.get(i)? as usize..*starts.get(i + 1)? as usize]);
        for i in 0..starts.len().checked_sub(1)? {
            half.columns.extend(row(i)?.iter().filter(|j| **j as usize <= i));
            half.starts.push(half.columns.len() as u32);
        }
        // Entries above the diagonal read their mirror images in the order of the columns of their row.
        let mut next = half.starts.clone();
        for i in 0..starts.len() - 1 {
            let mut own = half.starts[i];
            for j in row(i)? {
                let (j, cursor) = (*j as usize, if *j as usize <= i { &mut own } else { next.get_mut(*j as usize)? });
                half.places.push(*cursor);
                let is_image = half.columns.get(*cursor as usize) == Some(&(i.min(j) as u32));
                if !is_image || *cursor >= *half.starts.get(i.max(j) + 1)? {
                    return None;
                }
                *cursor += 1;
            }
            // Earlier rows have read the entries below the diagonal.
            let has_diagonal = own > half.starts[i] && half.columns[own as usize - 1] as usize == i;
            if next[i] + u32::from(has_diagonal) != own {
                return None;
            }
        }
        Some(half)
    }
}

/// The rows written so far.
struct RowWriter<'a> {
    graph: &'a Graph,
    shared: Shared,
    nodes: Vec<Node>,
    most: usize,
    /// Which nodes depend on the inputs by operations that have derivatives.
    active: Vec<bool>,
    /// The new operand of every value that has been written.
    renamed: Vec<u32>,
    /// Per input, then per node, the adjoint in the row being written.
    adjoints: Vec<Option<Slope>>,
    /// Nodes still to be visited, and those found.
    stack: Vec<u32>,
    part: Vec<u32>,
    /// Nodes found in the row being written.
    is_in_part: Vec<bool>,
    /// The guards before this node have been written.
    guarded: usize,
}

impl Expressions for RowWriter<'_> {
    fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }
    fn constant(&mut self, value: f64) -> u32 {
        self.shared.constant(value) | CONSTANT
    }
    fn value(&self, result: u32) -> Option<f64> {
        (result & CONSTANT != 0).then(|| self.shared.constants[(result & !CONSTANT) as usize])
    }
    fn operation(&self, result: u32) -> Option<(Op, u32, u32)> {
        self.made(result).map(|node| (node.op, node.a, node.b))
    }
    fn write(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let b = if matches!(op, Op::Unary(_)) { 0 } else { b };
        self.nodes.push(Node { op, a, b });
        (self.graph.first_node() + self.nodes.len() - 1) as u32
    }
}

impl<'a> RowWriter<'a> {
    /// The node that made a result.
    fn made(&self, result: u32) -> Option<&Node> {
        (result as usize).checked_sub(self.graph.first_node()).and_then(|i| self.nodes.get(i))
    }

    fn new(graph: &'a Graph, most: usize) -> RowWriter<'a> {
        let first = graph.first_node();
        let mut active: Vec<bool> = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let is_active = |operand: u32| is_active(graph, &active, operand);
            active.push(match node.op {
                Op::Unary(_) => is_active(node.a),
                Op::Binary(_) => is_active(node.a) || is_active(node.b),
                Op::Keep | Op::Drop => is_active(node.b),
                Op::Call => graph.calls[node.a as usize].arguments.iter().any(|a| is_active(*a)),
                Op::CallOutput => active.last().copied().unwrap_or(false),
                Op::Compare(_) | Op::Guard(_) | Op::Accumulate => false,
            });
        }
        RowWriter {
            graph,
            shared: Shared::new(graph.constants.clone(), graph.rules.clone(), graph.absence),
            nodes: Vec::new(),
            most: most.min(MAX_VALUES - first.min(MAX_VALUES)),
            active,
            renamed: vec![NONE; graph.nodes.len()],
            adjoints: vec![None; first + graph.nodes.len()],
            stack: Vec::new(),
            part: Vec::new(),
            is_in_part: vec![false; graph.nodes.len()],
            guarded: 0,
        }
    }

    /// Counts the operations that rows depend on, which is much cheaper than to write them. Ends above the most that may be written.
    fn count(&mut self) -> usize {
        let mut total = 0;
        for output in &self.graph.outputs {
            self.find_part(*output);
            total += self.part.len();
            self.part.drain(..).for_each(|node| self.is_in_part[node as usize] = false);
            if total > self.most {
                break;
            }
        }
        total
    }

    /// Writes the entries of a row; `false` if there is no room, or a custom rule is in the way.
    fn write_row(&mut self, output: u32, columns: &[u32], entries: &mut Vec<u32>) -> Result<bool, Error> {
        let zero = self.constant(0.0);
        if !is_active(self.graph, &self.active, output) {
            entries.extend(columns.iter().map(|_| zero));
            return Ok(true);
        }
        let first = self.graph.first_node();
        if let Some(node) = (output as usize).checked_sub(first)
            && !(self.write_guards(node) && self.write_values(&[output]))
        {
            return Ok(false);
        }
        self.find_part(output);
        self.part.sort_unstable();
        self.part.reverse();
        self.adjoints[output as usize] = Some(Slope::always(self.constant(1.0)));
        let mut part = std::mem::take(&mut self.part);
        let mut inputs: Vec<u32> = Vec::new();
        let mut fits = true;
        for node in &part {
            self.is_in_part[*node as usize] = false;
            let adjoint = self.adjoints[first + *node as usize].take();
            if let (true, Some(adjoint)) = (fits, adjoint) {
                fits = self.pass_on(*node, adjoint, &mut inputs)? && self.nodes.len() <= self.most;
            }
        }
        part.clear();
        self.part = part;
        if (output as usize) < first {
            inputs.push(output);
        }
        entries.extend(columns.iter().map(|column| self.adjoints[*column as usize].map_or(zero, |slope| slope.value)));
        inputs.into_iter().for_each(|input| self.adjoints[input as usize] = None);
        Ok(fits)
    }

    /// Adds the contributions of a node's adjoint to the adjoints of its operands; `false` if a custom rule is in the way.
    fn pass_on(&mut self, node: u32, adjoint: Slope, inputs: &mut Vec<u32>) -> Result<bool, Error> {
        let Node { op, a, b } = self.graph.nodes[node as usize];
        let result = self.renamed[node as usize];
        if matches!(op, Op::Call | Op::CallOutput) {
            return Ok(false);
        }
        let x = self.moved(a);
        let y = if matches!(op, Op::Unary(_)) { x } else { self.moved(b) };
        let active = [a, b].map(|operand| is_active(self.graph, &self.active, operand));
        let terms = self.pullback(op, [x, y], result, adjoint, active)?;
        for (to, term) in [a, b].into_iter().zip(terms) {
            let Some(term) = term else { continue };
            if (to as usize) < self.graph.inputs {
                inputs.push(to);
            }
            let mut sum = self.adjoints[to as usize];
            self.add(&mut sum, term);
            self.adjoints[to as usize] = sum;
        }
        Ok(true)
    }

    /// The new operand for an old one that has been written.
    fn moved(&self, operand: u32) -> u32 {
        match operand & CONSTANT {
            0 if operand as usize >= self.graph.first_node() => {
                self.renamed[operand as usize - self.graph.first_node()]
            }
            _ => operand,
        }
    }

    /// Finds the nodes with derivatives that an output depends on.
    fn find_part(&mut self, output: u32) {
        let first = self.graph.first_node() as u32;
        self.stack.push(output);
        while let Some(operand) = self.stack.pop() {
            if operand & CONSTANT != 0 || operand < first {
                continue;
            }
            let node = operand - first;
            if self.active[node as usize] && !std::mem::replace(&mut self.is_in_part[node as usize], true) {
                self.part.push(node);
                let Node { op, a, b } = self.graph.nodes[node as usize];
                match op {
                    Op::Call | Op::CallOutput => {}
                    Op::Unary(_) => self.stack.push(a),
                    _ => self.stack.extend([a, b]),
                }
            }
        }
    }

    /// Writes values with all that they need and that is not written yet; `false` if one is a custom rule's.
    fn write_values(&mut self, operands: &[u32]) -> bool {
        let first = self.graph.first_node() as u32;
        let mut part = std::mem::take(&mut self.part);
        self.stack.extend_from_slice(operands);
        let mut is_plain = true;
        while let Some(operand) = self.stack.pop() {
            if operand & CONSTANT != 0 || operand < first {
                continue;
            }
            let node = operand - first;
            if self.renamed[node as usize] == NONE {
                // Marks the node as to be written; its new operand is known when all are found.
                self.renamed[node as usize] = 0;
                part.push(node);
                let Node { op, a, b } = self.graph.nodes[node as usize];
                match op {
                    Op::Call | Op::CallOutput => is_plain = false,
                    Op::Unary(_) => self.stack.push(a),
                    _ => self.stack.extend([a, b]),
                }
            }
        }
        part.sort_unstable();
        for node in &part {
            let Node { op, a, b } = self.graph.nodes[*node as usize];
            let (x, y) = (self.moved(a), if matches!(op, Op::Unary(_)) { 0 } else { self.moved(b) });
            self.renamed[*node as usize] = self.write(op, x, y);
        }
        part.clear();
        self.part = part;
        is_plain
    }

    /// Writes the guards before a node that are not written yet; `false` if there is a custom rule, which has to be called.
    fn write_guards(&mut self, before: usize) -> bool {
        let mut is_plain = true;
        for node in self.guarded..before {
            let Node { op, a, b } = self.graph.nodes[node];
            if let Op::Guard(_) = op {
                is_plain &= self.write_values(&[a, b]);
                let (a, b) = (self.moved(a), self.moved(b));
                self.write(op, a, b);
            }
            is_plain &= op != Op::Call;
        }
        self.guarded = self.guarded.max(before);
        is_plain
    }
}

fn is_active(graph: &Graph, active: &[bool], operand: u32) -> bool {
    match (operand as usize).checked_sub(graph.first_node()) {
        _ if operand & CONSTANT != 0 => false,
        Some(node) => active[node],
        None => (operand as usize) < graph.inputs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Recorded, compile, record};
    use differentiation_interface_core::recordings::EngineScalar;
    use num_traits::Float;

    fn recorded(inputs: usize, f: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> Graph {
        record(&vec![1.5; inputs], &[], Limits::default(), |x, _, y| y.extend(f(x))).unwrap()
    }

    #[test]
    fn patterns_that_do_not_fit_are_refused() {
        let graph = recorded(2, |x| vec![x[0] * x[1], x[0]]);
        let kind = |starts: &[u32], columns: &[u32]| graph.jacobian_entries(starts, columns, 100).unwrap_err().kind();
        let size = |rows, columns| ErrorKind::PatternSize { expected: (2, 2), found: (rows, columns) };
        assert_eq!(kind(&[0, 1], &[0]), size(1, 2));
        assert_eq!(kind(&[], &[]), size(0, 2));
        assert_eq!(kind(&[0, 1, 2], &[0, 2]), size(2, 3));
        assert_eq!(kind(&[0, 1, 1], &[0, 1]), ErrorKind::BufferLength { expected: 2, found: 1 });
        assert_eq!(kind(&[0, 2, 1], &[0]), ErrorKind::BufferLength { expected: 1, found: 1 });
        assert_eq!(kind(&[1, 1, 2], &[0, 1]), ErrorKind::BufferLength { expected: 2, found: 2 });
        let error = graph.hessian_entries(&[0, 0, 0], &[], 100).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutputLength { expected: 1, found: 2 });
        let graph = recorded(2, |x| vec![x[0] * x[1]]);
        assert!(graph.hessian_entries(&[0, 1], &[0], 100).is_err());
        // One of two mirror images is missing.
        assert!(graph.hessian_entries(&[0, 1, 1], &[1], 100).unwrap().is_none());
        assert!(graph.hessian_entries(&[0, 0, 1], &[0], 100).unwrap().is_none());
    }

    /// Rerolling finds the loop over rows: the program does not grow with their number.
    #[test]
    fn rows_are_a_loop() {
        let lengths = [50, 500].map(|n: u32| {
            let graph =
                recorded(n as usize + 2, |x| x.windows(3).map(|w| w[0] * w[1].sin() + w[2] * w[2] * w[1]).collect());
            let starts: Vec<u32> = (0..=n).map(|i| 3 * i).collect();
            let columns: Vec<u32> = (0..n).flat_map(|i| i..i + 3).collect();
            compile(&graph.jacobian_entries(&starts, &columns, 100 * n as usize).unwrap().unwrap()).unwrap()
        });
        assert_eq!(lengths[0].instruction_count(), lengths[1].instruction_count());
        assert!(lengths[0].instruction_count() <= 15, "{}", lengths[0]);
    }

    #[test]
    fn there_is_a_limit() {
        let graph = recorded(4, |x| x.iter().map(|v| v.sin() * 2.0).collect());
        let (starts, columns) = ([0, 1, 2, 3, 4], [0, 1, 2, 3]);
        assert!(graph.jacobian_entries(&starts, &columns, 7).unwrap().is_none());
        assert!(graph.jacobian_entries(&starts, &columns, 100).unwrap().is_some());
    }

    /// Guards are checked, also those that no output depends on.
    #[test]
    fn guards_are_kept() {
        let graph = recorded(2, |x| {
            let first = if x[0] > 1.0 { x[0] * x[1] } else { x[0] };
            assert!(x[1].peek() < 2.0 && x[1] < 2.0);
            vec![first]
        });
        let entries = graph.jacobian_entries(&[0, 2], &[0, 1], 100).unwrap().unwrap();
        assert_eq!(entries.guards(), 2);
        let program = compile(&entries).unwrap().executable();
        let run = |x: [f64; 2]| {
            let mut values = [0.0; 2];
            program.run(&mut program.workspace(), &[&x, &[]], &mut [&mut values]).map(|()| values).ok()
        };
        assert_eq!((run([3.0, 1.0]), run([0.5, 1.0]), run([3.0, 4.0])), (Some([1.0, 3.0]), None, None));
    }
}
