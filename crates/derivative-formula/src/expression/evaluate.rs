//! Values of expressions on doubles, and how far rounding errors may move them.
//!
//! Called by the check of simplified formulas and by users of formulas.

use super::arena::{Expressions, Id, Node};
use compiled_trace::relation;
use differentiation_interface_core::scalar::Relation;

/// The rounding errors that are added to results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// None beyond those of the processor.
    Nearest,
    /// One unit in the last place, up or down by chance; the number starts the sequence.
    Perturbed(u64),
}

impl Expressions {
    /// The values of expressions at inputs and parameters, of which there are enough.
    pub(crate) fn evaluate(&self, roots: &[Id], inputs: &[f64], parameters: &[f64], rounding: Rounding) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.len()];
        let mut random = match rounding {
            Rounding::Nearest => 0,
            Rounding::Perturbed(start) => start.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        };
        for id in self.parts(roots) {
            let get = |id: Id| values[id.index()];
            let exact = match self.node(id) {
                Node::Number(bits) => f64::from_bits(bits),
                Node::Input(i) => inputs[i as usize],
                Node::Parameter(i) => parameters[i as usize],
                Node::Unary(rule, a) => self.rules().apply(rule, get(a)),
                Node::Binary(rule, [a, b]) => self.rules().apply2(rule, get(a), get(b)),
                Node::Choice(number, [left, right, then, otherwise]) => {
                    let (x, y) = (get(left), get(right));
                    let holds = match relation(number) {
                        Relation::Less => x < y,
                        Relation::LessOrEqual => x <= y,
                        Relation::Greater => x > y,
                        Relation::GreaterOrEqual => x >= y,
                        Relation::Equal => x == y,
                    };
                    get(if holds { then } else { otherwise })
                }
            };
            values[id.index()] = match (rounding, self.node(id)) {
                (Rounding::Nearest, _) => exact,
                (_, Node::Number(_) | Node::Input(_) | Node::Parameter(_) | Node::Choice(..)) => exact,
                (Rounding::Perturbed(_), _) => {
                    // Marsaglia's xorshift.
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    match random >> 62 {
                        0 => exact.next_up(),
                        1 => exact.next_down(),
                        _ => exact,
                    }
                }
            };
        }
        roots.iter().map(|root| values[root.index()]).collect()
    }
}
