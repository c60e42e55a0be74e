//! Tells whether two calls of a function did the same, without keeping the recording of the first.
//!
//! Called by engines that record a function now and then and compile what repeats.

use crate::recording::graph::{CONSTANT, Graph, Op};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// Hashes of a recording. Recordings of the same operations have the same ones; other recordings have others, but for a chance of 2⁻⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of the operations and their operands, outcomes of comparisons among them, whatever the constants are.
    pub operations: u64,
    /// Of the constants where they are used.
    pub constants: u64,
}

/// A hash of words.
#[derive(Clone, Copy)]
struct Words(u64);

impl Words {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        // Both halves of the product, so that every bit of the word reaches every bit of the hash in a few steps.
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64 ^ 0x2545_F491_4F6C_DD1D;
    }
}

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(u64::from(*byte)));
    }
    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }
    fn write_u16(&mut self, number: u16) {
        self.add(u64::from(number));
    }
    fn write_isize(&mut self, number: isize) {
        self.add(number as u64);
    }
}

impl Graph {
    /// The hashes of this recording.
    ///
    /// # Example
    /// ```
    /// use compiled_trace::{Limits, record};
    /// let record = |x: f64, c: f64| {
    ///     record(&[x], &[], Limits::default(), |x, _, y| y.push(if x[0] > 0.0 { x[0] * c } else { x[0] }))
    ///         .map(|graph| graph.fingerprint())
    /// };
    /// assert_eq!(record(1.0, 3.0)?, record(2.0, 3.0)?);
    /// assert_eq!(record(1.0, 3.0)?.operations, record(1.0, 4.0)?.operations);
    /// assert_ne!(record(1.0, 3.0)?.constants, record(1.0, 4.0)?.constants);
    /// assert_ne!(record(1.0, 3.0)?.operations, record(-1.0, 3.0)?.operations);
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn fingerprint(&self) -> Fingerprint {
        let (mut operations, mut constants) = (Words(1), Words(2));
        let mut names = Names::default();
        // What stands for an operand: constants are all the same, and have a hash of their own.
        let mut operand = |operand: u32| {
            if operand & CONSTANT == 0 {
                return u64::from(operand);
            }
            constants.add(self.constants()[(operand & !CONSTANT) as usize].to_bits());
            u64::from(CONSTANT)
        };
        operations.add(self.inputs() as u64);
        operations.add(self.parameters() as u64);
        for node in self.nodes() {
            let name = match node.op {
                Op::Unary(rule) => names.unary(self, rule),
                Op::Binary(rule) => names.binary(self, rule),
                Op::Call => {
                    let call = &self.calls[node.a as usize];
                    operations.add(call.rule.identity());
                    operations.add(call.outputs as u64);
                    call.arguments.iter().for_each(|argument| operations.add(operand(*argument)));
                    continue;
                }
                Op::CallOutput => continue,
                op => hash_of(&op),
            };
            let first = operand(node.a);
            let second = if matches!(node.op, Op::Unary(_)) { 0 } else { operand(node.b) };
            // One word for each operation, as every word waits for the hash of those before it.
            operations.add(name ^ (first | second << 32));
        }
        self.outputs().iter().for_each(|output| operations.add(operand(*output)));
        Fingerprint { operations: operations.0, constants: constants.0 }
    }
}

/// Hashes of the names of rules, with their parameters, by number: numbers are given in the order of first use.
#[derive(Default)]
struct Names {
    unary: Vec<Option<u64>>,
    binary: Vec<Option<u64>>,
}

impl Names {
    #[inline]
    fn unary(&mut self, graph: &Graph, rule: u16) -> u64 {
        known(&mut self.unary, rule, || (discriminant(&Op::Unary(0)), graph.rules().unary_name(rule)))
    }
    #[inline]
    fn binary(&mut self, graph: &Graph, rule: u16) -> u64 {
        known(&mut self.binary, rule, || (discriminant(&Op::Binary(0)), graph.rules().binary_name(rule)))
    }
}

/// The hash of what `make` returns for this number.
#[inline]
fn known<T: Hash>(hashes: &mut Vec<Option<u64>>, number: u16, make: impl FnOnce() -> T) -> u64 {
    let number = usize::from(number);
    if let Some(Some(hash)) = hashes.get(number) {
        return *hash;
    }
    let hash = hash_of(&make());
    if hashes.len() <= number {
        hashes.resize(number + 1, None);
    }
    hashes[number] = Some(hash);
    hash
}

#[inline]
fn hash_of(value: &impl Hash) -> u64 {
    let mut words = Words(3);
    value.hash(&mut words);
    words.0
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Recorded, record};
    use num_traits::Float;

    fn of(f: impl FnOnce(&[Recorded]) -> Recorded) -> (u64, u64) {
        let graph = record(&[0.5, 2.0], &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        let found = graph.fingerprint();
        (found.operations, found.constants)
    }

    #[test]
    fn other_operations_and_other_operands_differ() {
        let all = [
            of(|x| x[0] + x[1]),
            of(|x| x[1] + x[0]),
            of(|x| x[0] * x[1]),
            of(|x| x[0].sin() + x[1]),
            of(|x| x[0].powi(3)),
            of(|x| x[0].powi(4)),
            of(|x| x[0] + x[1] + x[1]),
            of(|x| x[0]),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a.0 != b.0), "{i}");
        }
    }

    #[test]
    fn equal_constants_share_a_place_without_being_other_operations() {
        let (a, b) = (of(|x| x[0] * 2.0 + 2.0), of(|x| x[0] * 2.0 + 3.0));
        assert_eq!(a.0, b.0);
        assert_ne!(a.1, b.1);
    }
}
