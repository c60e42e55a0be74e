//! Finds the independent segments of a recording, and which of them have the same shape.
//!
//! Called first by `separable`. A segment is a shortest piece of the recording whose operations use no result of operations before it.
//! Two segments have the same shape if they have the same operations on operands that are alike: the same results of the
//! segment, inputs that are equal where those of the other segment are, any constants (zeros where the other has zeros), and if the same
//! results are outputs.

use crate::recording::graph::{CONSTANT, Graph, Node, Op};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Recordings of fewer segments are compiled as they are.
const MIN_SEGMENTS: usize = 64;
/// Maximum number of operations of a segment, and of shapes.
const MAX_LENGTH: usize = 4096;
const MAX_CLASSES: usize = 64;
/// Minimum number of segments per shape.
const MIN_PER_CLASS: usize = 16;

/// Tags of operands of a shape; the rest is a number in the segment. An operand without a tag is an operation of the segment.
pub(super) const INPUT: u32 = 1 << 30;
pub(super) const PARAMETER: u32 = 1 << 29;
/// A constant that is zero.
const ZERO: u32 = 1 << 28;
/// The numbers.
pub(super) const NUMBER: u32 = ZERO - 1;
/// Sentinel: no entry.
pub(super) const NONE: u32 = u32::MAX;

/// The segments of one shape.
#[derive(Debug)]
pub(super) struct Class {
    /// The operations, whose operands are tagged, and the operands that are outputs.
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<u32>,
    /// How many different inputs and parameters, and how many constants a segment has.
    pub(super) inputs: usize,
    pub(super) parameters: usize,
    pub(super) constants: usize,
    /// For each output and each input, the number of the entry.
    entries: Vec<u32>,
    /// Output and input of each entry.
    pub(super) pairs: Vec<(u32, u32)>,
    /// Number of segments.
    pub(super) members: usize,
    /// For each segment: inputs, parameters, outputs, places of entries, constants.
    rows: Vec<u32>,
    /// The columns of a row at which places of entries and constants begin, and their number.
    first_entry: usize,
    first_constant: usize,
    width: usize,
}

impl Class {
    pub(super) fn first_output(&self) -> usize {
        self.inputs + self.parameters
    }
    pub(super) fn first_entry(&self) -> usize {
        self.first_entry
    }
    pub(super) fn first_constant(&self) -> usize {
        self.first_constant
    }
    #[inline]
    pub(super) fn at(&self, member: u32, column: usize) -> u32 {
        self.rows[member as usize * self.width + column]
    }
    /// The addresses of a segment.
    pub(super) fn addresses(&self, member: u32) -> &[u32] {
        let start = member as usize * self.width;
        &self.rows[start..start + self.first_constant]
    }
}

/// The classes of the segments that have outputs or guards; `None` if there are too many or too few, or custom rules are called.
pub(super) fn find(graph: &Graph, starts: &[u32], columns: &[u32]) -> Option<Vec<Class>> {
    let bounds = bounds(graph)?;
    if bounds.len() + graph.outputs.len() < MIN_SEGMENTS {
        return None;
    }
    // Outputs by segments; those that are no results come last.
    let first = graph.first_node();
    let last = bounds.len() - 1;
    let segment_of = |operand: u32| match operand & CONSTANT {
        0 if operand as usize >= first => {
            bounds.partition_point(|start| *start as usize <= operand as usize - first) - 1
        }
        _ => last,
    };
    let mut heads = vec![0u32; last + 2];
    let owners: Vec<u32> = graph.outputs.iter().map(|operand| segment_of(*operand) as u32).collect();
    owners.iter().for_each(|owner| heads[*owner as usize + 1] += 1);
    (0..=last).for_each(|k| heads[k + 1] += heads[k]);
    let (mut next, mut order) = (heads.clone(), vec![0u32; owners.len()]);
    for (output, owner) in owners.iter().enumerate() {
        order[next[*owner as usize] as usize] = output as u32;
        next[*owner as usize] += 1;
    }
    let mut finder = Finder {
        graph,
        pattern: (starts, columns),
        classes: Vec::new(),
        known: FxHashMap::default(),
        follower: Vec::new(),
        last: 0,
        seen: vec![(0, 0); first],
        serial: 0,
        segments: 0,
        nodes: Vec::new(),
        outputs: Vec::new(),
        inputs: Vec::new(),
        parameters: Vec::new(),
        constants: Vec::new(),
    };
    let outputs = |k: usize| &order[heads[k] as usize..heads[k + 1] as usize];
    for (k, range) in bounds.windows(2).enumerate() {
        finder.add(range[0] as usize, range[1] as usize, outputs(k))?;
    }
    let end = graph.nodes.len();
    for output in outputs(last) {
        finder.add(end, end, std::slice::from_ref(output))?;
    }
    let Finder { classes, segments, .. } = finder;
    let is_enough = segments >= MIN_SEGMENTS && segments >= MIN_PER_CLASS * classes.len();
    is_enough.then_some(classes)
}

/// Where segments begin, and the end; `None` if one is too long.
fn bounds(graph: &Graph) -> Option<Vec<u32>> {
    let first = graph.first_node() as u32;
    let mut bounds = vec![graph.nodes.len() as u32];
    // The first operation that the operations from here on use.
    let mut earliest = u32::MAX;
    for (i, node) in graph.nodes.iter().enumerate().rev() {
        let i = i as u32;
        let mut use_of = |operand: u32| {
            if operand & CONSTANT == 0 && operand >= first {
                earliest = earliest.min(operand - first);
            }
        };
        use_of(node.a);
        match node.op {
            Op::Call | Op::CallOutput => return None,
            Op::Unary(_) => {}
            _ => use_of(node.b),
        }
        if earliest >= i {
            if (*bounds.last()? - i) as usize > MAX_LENGTH {
                return None;
            }
            bounds.push(i);
        } else if (*bounds.last()? - i) as usize > MAX_LENGTH {
            return None;
        }
    }
    bounds.reverse();
    Some(bounds)
}

/// The classes found so far, and the segment that is read.
struct Finder<'a> {
    graph: &'a Graph,
    pattern: (&'a [u32], &'a [u32]),
    classes: Vec<Class>,
    known: FxHashMap<u64, Vec<u32>>,
    /// For each class, the one that followed it last, which is tried first.
    follower: Vec<usize>,
    last: usize,
    /// For each input and parameter, the segment that used it last, and its number there.
    seen: Vec<(u32, u32)>,
    serial: u32,
    segments: usize,
    nodes: Vec<Node>,
    outputs: Vec<u32>,
    inputs: Vec<u32>,
    parameters: Vec<u32>,
    constants: Vec<u32>,
}

impl Finder<'_> {
    /// Adds a segment to its class; `None` if that is not possible.
    fn add(&mut self, start: usize, end: usize, outputs: &[u32]) -> Option<()> {
        let graph = self.graph;
        let nodes = &graph.nodes[start..end];
        if outputs.is_empty() && !nodes.iter().any(|node| matches!(node.op, Op::Guard(_))) {
            return Some(());
        }
        self.segments += 1;
        let expected = self.follower.get(self.last).copied();
        let class = match expected {
            Some(class) if self.read_as(class, start, end, outputs) => class,
            _ => {
                self.read(start, end, outputs);
                self.class(outputs)?
            }
        };
        if let Some(follower) = self.follower.get_mut(self.last) {
            *follower = class;
        }
        self.last = class;
        self.append(class, outputs)
    }

    fn begin(&mut self) {
        self.serial += 1;
        self.nodes.clear();
        self.outputs.clear();
        self.inputs.clear();
        self.parameters.clear();
        self.constants.clear();
    }

    /// Reads a segment.
    fn read(&mut self, start: usize, end: usize, outputs: &[u32]) {
        self.begin();
        let graph = self.graph;
        for node in &graph.nodes[start..end] {
            let a = self.tagged(node.a, start);
            let b = if matches!(node.op, Op::Unary(_)) { 0 } else { self.tagged(node.b, start) };
            self.nodes.push(Node { op: node.op, a, b });
        }
        for output in outputs {
            let operand = self.tagged(graph.outputs[*output as usize], start);
            self.outputs.push(operand);
        }
    }

    /// Reads a segment that is of this class, except for its shape; `false` if it is of another one.
    fn read_as(&mut self, class: usize, start: usize, end: usize, outputs: &[u32]) -> bool {
        self.begin();
        let Finder { graph, classes, seen, serial, inputs, parameters, constants, .. } = self;
        let (graph, class) = (*graph, &classes[class]);
        if class.nodes.len() != end - start || class.outputs.len() != outputs.len() {
            return false;
        }
        let offset = (graph.first_node() + start) as u32;
        let mut value = |found: &mut Vec<u32>, expected: u32, operand: u32, first: usize, end: usize| {
            let number = (expected & NUMBER) as usize;
            if let Some(known) = found.get(number) {
                return first as u32 + *known == operand;
            }
            let is_new = (first..end).contains(&(operand as usize)) && seen[operand as usize].0 != *serial;
            if is_new {
                seen[operand as usize] = (*serial, expected);
                found.push(operand - first as u32);
            }
            is_new
        };
        let mut fits = |expected: u32, operand: u32| {
            if expected & CONSTANT != 0 {
                if operand & CONSTANT == 0 {
                    return false;
                }
                let index = operand & !CONSTANT;
                constants.push(index);
                (graph.constants[index as usize] == 0.0) == (expected & ZERO != 0)
            } else if expected & INPUT != 0 {
                value(inputs, expected, operand, 0, graph.inputs)
            } else if expected & PARAMETER != 0 {
                value(parameters, expected, operand, graph.inputs, graph.first_node())
            } else {
                operand == expected + offset
            }
        };
        let nodes = graph.nodes[start..end].iter().zip(&class.nodes);
        let mut all = nodes.map(|(node, expected)| {
            node.op == expected.op
                && fits(expected.a, node.a)
                && (matches!(node.op, Op::Unary(_)) || fits(expected.b, node.b))
        });
        all.all(|fits| fits)
            && outputs
                .iter()
                .zip(&class.outputs)
                .all(|(output, expected)| fits(*expected, graph.outputs[*output as usize]))
    }

    fn tagged(&mut self, operand: u32, start: usize) -> u32 {
        let first = self.graph.first_node();
        if operand & CONSTANT != 0 {
            let index = operand & !CONSTANT;
            let zero = if self.graph.constants[index as usize] == 0.0 { ZERO } else { 0 };
            self.constants.push(index);
            return CONSTANT | zero | (self.constants.len() as u32 - 1);
        }
        if operand as usize >= first {
            return operand - (first + start) as u32;
        }
        let (serial, known) = self.seen[operand as usize];
        if serial == self.serial {
            return known;
        }
        let tagged = if (operand as usize) < self.graph.inputs {
            self.inputs.push(operand);
            INPUT | (self.inputs.len() as u32 - 1)
        } else {
            self.parameters.push(operand - self.graph.inputs as u32);
            PARAMETER | (self.parameters.len() as u32 - 1)
        };
        self.seen[operand as usize] = (self.serial, tagged);
        tagged
    }

    /// The class of the segment, which may be new.
    fn class(&mut self, outputs: &[u32]) -> Option<usize> {
        let fits = |class: &Class| class.nodes == self.nodes && class.outputs == self.outputs;
        let mut hasher = FxHasher::default();
        for node in &self.nodes {
            (node.op, node.a, node.b).hash(&mut hasher);
        }
        self.outputs.hash(&mut hasher);
        let candidates = self.known.entry(hasher.finish()).or_default();
        if let Some(known) = candidates.iter().find(|k| fits(&self.classes[**k as usize])) {
            return Some(*known as usize);
        }
        let class = self.classes.len();
        if class == MAX_CLASSES {
            return None;
        }
        candidates.push(class as u32);
        self.follower.push(class);
        let width = self.inputs.len();
        let (mut entries, mut pairs) = (vec![NONE; outputs.len() * width], Vec::new());
        for (row, output) in outputs.iter().enumerate() {
            for column in self.columns(*output) {
                let input = self.number_of(*column)?;
                let entry = &mut entries[row * width + input];
                if *entry != NONE {
                    return None;
                }
                *entry = pairs.len() as u32;
                pairs.push((row as u32, input as u32));
            }
        }
        let first_entry = width + self.parameters.len() + outputs.len();
        let first_constant = first_entry + pairs.len();
        self.classes.push(Class {
            nodes: self.nodes.clone(),
            outputs: self.outputs.clone(),
            inputs: width,
            parameters: self.parameters.len(),
            constants: self.constants.len(),
            entries,
            pairs,
            members: 0,
            rows: Vec::new(),
            first_entry,
            first_constant,
            width: first_constant + self.constants.len(),
        });
        Some(class)
    }

    /// The columns of an output's row.
    fn columns(&self, output: u32) -> &[u32] {
        let (starts, columns) = self.pattern;
        &columns[starts[output as usize] as usize..starts[output as usize + 1] as usize]
    }

    /// The number of an input in the segment.
    fn number_of(&self, input: u32) -> Option<usize> {
        let (serial, tagged) = self.seen[input as usize];
        (serial == self.serial).then_some((tagged & NUMBER) as usize)
    }

    /// Appends the segment to its class; `None` if its rows have other entries.
    fn append(&mut self, class: usize, outputs: &[u32]) -> Option<()> {
        let mut rows = std::mem::take(&mut self.classes[class].rows);
        let known = &self.classes[class];
        rows.extend_from_slice(&self.inputs);
        rows.extend_from_slice(&self.parameters);
        rows.extend_from_slice(outputs);
        let places = rows.len();
        rows.resize(places + known.pairs.len(), NONE);
        let mut found = 0;
        for (row, output) in outputs.iter().enumerate() {
            let start = self.pattern.0[*output as usize];
            for (place, column) in (start..).zip(self.columns(*output)) {
                let entry = known.entries[row * known.inputs + self.number_of(*column)?];
                let own = rows[places..].get_mut(entry as usize).filter(|own| **own == NONE)?;
                *own = place;
                found += 1;
            }
        }
        if found != known.pairs.len() {
            return None;
        }
        rows.extend_from_slice(&self.constants);
        self.classes[class].rows = rows;
        self.classes[class].members += 1;
        Some(())
    }
}
