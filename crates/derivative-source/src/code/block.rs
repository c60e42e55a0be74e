//! Writes blocks with every instruction once, constants folded.
//!
//! Called by all passes that make blocks. The value of an instruction changes by no rewriting here, except for the sign of NaN; the
//! exceptions that would (x + 0, x · 0, reordering) are not made.

use super::ir::{Address, Array, Node, Step, Unary};
use compiled_trace::rules::{MINUS, NEGATE, OVER, PLUS, TIMES};
use differentiation_interface_core::scalar::Relation;
use std::collections::HashMap;
use std::rc::Rc;

/// A block being written.
pub(crate) struct Rewriter {
    constants: Rc<[f64]>,
    nodes: Vec<Node>,
    known: HashMap<Key, usize>,
}

/// What makes two instructions the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Constant(u64),
    Load(Address),
    Operation(u8, u64, usize, usize, usize),
}

const NEGATION: Unary = Unary::Rule(NEGATE);

/// Whether a product with it is exact, in single precision too.
fn is_power_of_two(c: f64) -> bool {
    c != 0.0 && c.abs() > 1e-20 && c.abs() < 1e20 && c.to_bits() << 12 == 0
}

impl Rewriter {
    pub(crate) fn new(constants: Rc<[f64]>) -> Rewriter {
        Rewriter { constants, nodes: Vec::new(), known: HashMap::new() }
    }

    pub(crate) fn finish(self) -> Vec<Node> {
        without_dead(&self.nodes, |_| true)
    }

    /// The sum of two numbers, of which the second is added term by term if it is a sum or difference itself: compilers make better
    /// vectors of a + b - c than of a + (b - c).
    pub(crate) fn add_by_terms(&mut self, sum: usize, value: usize) -> usize {
        match self.nodes[value] {
            Node::Binary(rule @ (PLUS | MINUS), first, second) => {
                let sum = self.write(Node::Binary(PLUS, sum, first));
                self.write(Node::Binary(rule, sum, second))
            }
            _ => self.write(Node::Binary(PLUS, sum, value)),
        }
    }

    /// Whether a condition holds, if that is known: of constants, or of a number and itself.
    fn holds(&self, condition: usize) -> Option<bool> {
        match self.nodes[condition] {
            // No number is less or greater than itself; it equals itself unless it is NaN.
            Node::Compare(Relation::Less | Relation::Greater, a, b) if a == b => Some(false),
            Node::Compare(relation, a, b) => Some(relation.holds(self.value(a)?.partial_cmp(&self.value(b)?))),
            Node::NotZero(a) => Some(self.value(a)? != 0.0),
            _ => None,
        }
    }

    fn value(&self, i: usize) -> Option<f64> {
        match self.nodes[i] {
            Node::Constant(c) => Some(c),
            _ => None,
        }
    }

    fn negated(&self, i: usize) -> Option<usize> {
        match self.nodes[i] {
            Node::Unary(NEGATION, a) => Some(a),
            _ => None,
        }
    }

    /// The constant factor of a product, and the other one.
    fn scaled(&self, i: usize) -> Option<(f64, usize)> {
        match self.nodes[i] {
            Node::Binary(TIMES, a, b) => Some((self.value(a)?, b)),
            _ => None,
        }
    }

    fn constant(&mut self, c: f64) -> usize {
        self.write(Node::Constant(c))
    }

    /// Writes an instruction, simplified, and returns its number.
    pub(crate) fn write(&mut self, node: Node) -> usize {
        match node {
            Node::Load(address) if address.array == Array::Constant && address.is_fixed() => {
                self.constant(self.constants[address.base as usize])
            }
            Node::Unary(NEGATION, a) => self.negate(a),
            Node::Unary(Unary::Powi(n), a) => self.power(n, a),
            Node::Binary(PLUS, a, b) => self.add(a, b),
            Node::Binary(MINUS, a, b) => self.subtract(a, b),
            Node::Binary(TIMES, a, b) => self.multiply(a, b),
            Node::Binary(OVER, a, b) => match (self.value(a), self.value(b)) {
                (Some(x), Some(y)) => self.constant(x / y),
                (_, Some(1.0)) => a,
                (_, Some(y)) if is_power_of_two(y) => {
                    let factor = self.constant(1.0 / y);
                    self.multiply(factor, a)
                }
                _ => self.once(Node::Binary(OVER, a, b)),
            },
            Node::NotZero(a) => match self.nodes[a] {
                Node::Truth(condition) => condition,
                _ => self.once(Node::NotZero(a)),
            },
            Node::Select(_, a, b) if a == b => a,
            Node::Select(condition, a, b) => match self.holds(condition) {
                Some(holds) => {
                    if holds {
                        a
                    } else {
                        b
                    }
                }
                None => self.once(Node::Select(condition, a, b)),
            },
            Node::Truth(condition) => match self.holds(condition) {
                Some(holds) => self.constant(if holds { 1.0 } else { 0.0 }),
                None => self.once(Node::Truth(condition)),
            },
            node => self.once(node),
        }
    }

    fn negate(&mut self, a: usize) -> usize {
        if let Some(c) = self.value(a) {
            return self.constant(-c);
        }
        if let Some(inner) = self.negated(a) {
            return inner;
        }
        if let Some((c, b)) = self.scaled(a) {
            let c = self.constant(-c);
            return self.multiply(c, b);
        }
        self.once(Node::Unary(NEGATION, a))
    }

    fn power(&mut self, n: i32, a: usize) -> usize {
        match n {
            1 => a,
            2 => self.multiply(a, a),
            3 => {
                let square = self.multiply(a, a);
                self.multiply(square, a)
            }
            -1 => {
                let one = self.constant(1.0);
                self.write(Node::Binary(OVER, one, a))
            }
            n => self.once(Node::Unary(Unary::Powi(n), a)),
        }
    }

    fn is_negative_zero(&self, i: usize) -> bool {
        self.value(i).is_some_and(|c| c == 0.0 && c.is_sign_negative())
    }

    fn add(&mut self, a: usize, b: usize) -> usize {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(x + y);
        }
        if self.is_negative_zero(a) {
            return b;
        }
        if self.is_negative_zero(b) {
            return a;
        }
        if a == b {
            let two = self.constant(2.0);
            return self.multiply(two, a);
        }
        // Two halves of a choice.
        if let (Node::Select(c, x, none), Node::Select(d, other, y)) = (&self.nodes[a], &self.nodes[b]) {
            let (c, x, none, d, other, y) = (*c, *x, *none, *d, *other, *y);
            if c == d && self.is_negative_zero(none) && self.is_negative_zero(other) {
                return self.write(Node::Select(c, x, y));
            }
            if c == d && self.is_negative_zero(x) && self.is_negative_zero(y) {
                return self.write(Node::Select(c, other, none));
            }
        }
        if let Some(b) = self.negated(b) {
            return self.subtract(a, b);
        }
        if let Some(a) = self.negated(a) {
            return self.subtract(b, a);
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(c) = self.value(y).filter(|c| *c < 0.0) {
                let c = self.constant(-c);
                return self.once(Node::Binary(MINUS, x, c));
            }
        }
        if let Some((c, x)) = self.scaled(b).filter(|(c, _)| *c < 0.0) {
            let c = self.constant(-c);
            let product = self.multiply(c, x);
            return self.once(Node::Binary(MINUS, a, product));
        }
        if let Some((c, x)) = self.scaled(a).filter(|(c, _)| *c < 0.0) {
            let c = self.constant(-c);
            let product = self.multiply(c, x);
            return self.once(Node::Binary(MINUS, b, product));
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.once(Node::Binary(PLUS, a, b))
    }

    fn subtract(&mut self, a: usize, b: usize) -> usize {
        if let (Some(x), Some(y)) = (self.value(a), self.value(b)) {
            return self.constant(x - y);
        }
        if self.value(b).is_some_and(|c| c == 0.0 && c.is_sign_positive()) {
            return a;
        }
        if let Some(b) = self.negated(b) {
            return self.add(a, b);
        }
        if let Some((c, x)) = self.scaled(b).filter(|(c, _)| *c < 0.0) {
            let c = self.constant(-c);
            let product = self.multiply(c, x);
            return self.add(a, product);
        }
        self.once(Node::Binary(MINUS, a, b))
    }

    fn multiply(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => return self.constant(x * y),
            (None, Some(_)) => (b, a),
            _ => (a, b),
        };
        if let Some(c) = self.value(a) {
            if c == 1.0 {
                return b;
            }
            if c == -1.0 {
                return self.negate(b);
            }
            if let Some(inner) = self.negated(b) {
                let c = self.constant(-c);
                return self.multiply(c, inner);
            }
            if let Some((d, inner)) = self.scaled(b)
                && (is_power_of_two(c) || is_power_of_two(d))
                && (c * d).is_normal()
            {
                let product = self.constant(c * d);
                return self.multiply(product, inner);
            }
            return self.once(Node::Binary(TIMES, a, b));
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => return self.multiply(a, b),
            (Some(a), None) => {
                let product = self.multiply(a, b);
                return self.negate(product);
            }
            (None, Some(b)) => {
                let product = self.multiply(a, b);
                return self.negate(product);
            }
            (None, None) => {}
        }
        // A factor of two is exact, and best taken last.
        for (x, y) in [(a, b), (b, a)] {
            if let Some((c, inner)) = self.scaled(x).filter(|(c, _)| is_power_of_two(*c)) {
                let product = self.multiply(inner, y);
                let c = self.constant(c);
                return self.multiply(c, product);
            }
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.once(Node::Binary(TIMES, a, b))
    }

    fn once(&mut self, node: Node) -> usize {
        let key = match &node {
            Node::Constant(c) => Some(Key::Constant(c.to_bits())),
            Node::Load(address) => Some(Key::Load(address.clone())),
            Node::Unary(rule, a) => Some(match rule {
                Unary::Rule(rule) => Key::Operation(0, u64::from(*rule), *a, 0, 0),
                Unary::Powi(n) => Key::Operation(1, *n as u32 as u64, *a, 0, 0),
                Unary::Powc(c) => Key::Operation(2, c.to_bits(), *a, 0, 0),
                Unary::Polygamma(n) => Key::Operation(3, u64::from(*n), *a, 0, 0),
            }),
            Node::Binary(rule, a, b) => Some(Key::Operation(4, u64::from(*rule), *a, *b, 0)),
            Node::Compare(relation, a, b) => Some(Key::Operation(5, number(*relation), *a, *b, 0)),
            Node::NotZero(a) => Some(Key::Operation(6, 0, *a, 0, 0)),
            Node::Truth(a) => Some(Key::Operation(7, 0, *a, 0, 0)),
            Node::Select(c, a, b) => Some(Key::Operation(8, 0, *c, *a, *b)),
            Node::Store(_, address) | Node::Add(_, address) => {
                // Loads of this array may mean other values from here on.
                let array = address.array;
                self.known.retain(|key, _| !matches!(key, Key::Load(address) if address.array == array));
                if let Node::Store(value, address) = &node
                    && address.table.is_none()
                {
                    self.known.insert(Key::Load(address.clone()), *value);
                }
                None
            }
            Node::Guard(line, outcome, a, b) => Some(Key::Operation(9, u64::from(*line), *a, *b, *outcome as usize)),
        };
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return *known;
        }
        self.nodes.push(node);
        if let Some(key) = key {
            self.known.insert(key, self.nodes.len() - 1);
        }
        self.nodes.len() - 1
    }
}

fn number(relation: Relation) -> u64 {
    match relation {
        Relation::Less => 0,
        Relation::LessOrEqual => 1,
        Relation::Greater => 2,
        Relation::GreaterOrEqual => 3,
        Relation::Equal => 4,
    }
}

/// The block without effects that are not to be kept, and without instructions that no effect needs.
pub(crate) fn without_dead(nodes: &[Node], keep: impl Fn(&Node) -> bool) -> Vec<Node> {
    let mut live: Vec<bool> = nodes.iter().map(|node| node.is_effect() && keep(node)).collect();
    for i in (0..nodes.len()).rev() {
        if live[i] {
            nodes[i].operands(|operand| live[operand] = true);
        }
    }
    let mut places = vec![0; nodes.len()];
    let mut out = Vec::new();
    for (i, node) in nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
        places[i] = out.len();
        out.push(node.renamed(|operand| places[operand]));
    }
    out
}

/// Steps with neighbouring blocks joined, so that what they share is computed once.
pub(crate) fn fused(steps: Vec<Step>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps {
        match (out.last_mut(), step) {
            (Some(Step::Block(before)), Step::Block(nodes)) => {
                let shift = before.len();
                before.extend(nodes.iter().map(|node| node.renamed(|operand| operand + shift)));
            }
            (_, Step::Loop { trip, reversed, parallel, body }) => {
                out.push(Step::Loop { trip, reversed, parallel, body: fused(body) });
            }
            // Cells are cleared before a block that does not use them, which the next block then joins.
            (Some(Step::Block(before)), Step::Zero { array, start, length })
                if !before.iter().any(|node| node.address().is_some_and(|address| address.array == array)) =>
            {
                out.insert(out.len() - 1, Step::Zero { array, start, length });
            }
            (_, step) => out.push(step),
        }
    }
    out
}

/// Steps whose blocks are written again with `change` applied to every address, one nesting level of counters at a time.
pub(crate) fn lowered(steps: &[Step], constants: &Rc<[f64]>, change: &dyn Fn(&Address) -> Address) -> Vec<Step> {
    let each = |step: &Step| match step {
        Step::Loop { trip, reversed, parallel, body } => {
            Step::Loop { trip: *trip, reversed: *reversed, parallel: *parallel, body: lowered(body, constants, change) }
        }
        Step::Block(nodes) => {
            let mut out = Rewriter::new(Rc::clone(constants));
            let mut places = Vec::with_capacity(nodes.len());
            for node in nodes {
                let mut node = node.renamed(|operand| places[operand]);
                if let Some(address) = node.address_mut() {
                    *address = change(address);
                }
                places.push(out.write(node));
            }
            Step::Block(out.finish())
        }
        zero => zero.clone(),
    };
    steps.iter().map(each).collect()
}
