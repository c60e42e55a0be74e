//! Matrices from products with unit seeds, one per iteration of a loop.
//!
//! Called for Jacobians and Hessians whose entries would take more source code, one by one, than a loop over products.

use super::ir::{Address, Array, Code, Node, Step};

/// The code of a product, repeated for every entry of its seed.
///
/// `seed` is the input with the seed, `result` the output with the product. The matrix takes the place of the output: product `k` is its
/// row `k`, or its column `k` if `by_columns`.
pub(crate) fn by_unit_seeds(code: Code, seed: usize, result: usize, by_columns: bool) -> Code {
    let (count, length) = (code.inputs[seed], code.outputs[result]);
    let first = code.work;
    let place = Place { seed, result, first, count, length, by_columns };
    let cell = Address { array: Array::Work, base: first as i64, strides: vec![1], table: None };
    let write = |value: f64| Step::Block(vec![Node::Constant(value), Node::Store(0, cell.clone())]);
    let mut body = vec![write(1.0)];
    body.extend(code.steps.iter().map(|step| place.step(step, 1)));
    body.push(write(0.0));
    let repeated = Step::Loop { trip: count as u32, reversed: false, parallel: false, body };
    let mut outputs = code.outputs;
    outputs[result] = count * length;
    let mut inputs = code.inputs;
    inputs.remove(seed);
    let zero = Step::Zero { array: Array::Work, start: first, length: count };
    // A loop without iterations has no place in code.
    let steps = if count == 0 { Vec::new() } else { vec![zero, repeated] };
    Code { constants: code.constants, inputs, outputs, work: first + count, steps }
}

struct Place {
    seed: usize,
    result: usize,
    /// First work cell of the seed.
    first: usize,
    count: usize,
    length: usize,
    by_columns: bool,
}

impl Place {
    fn address(&self, address: &Address) -> Address {
        let mut address = address.clone();
        address.strides.insert(0, 0);
        match address.array {
            Array::Input(i) if i == self.seed => {
                address.array = Array::Work;
                address.base += self.first as i64;
            }
            Array::Input(i) if i > self.seed => address.array = Array::Input(i - 1),
            Array::Output(o) if o == self.result => self.spread(&mut address),
            _ => {}
        }
        address
    }

    /// From a cell of the product to one of the matrix.
    fn spread(&self, address: &mut Address) {
        if self.by_columns {
            let count = self.count as i64;
            address.base *= count;
            address.strides.iter_mut().for_each(|stride| *stride *= count);
            if let Some((table, _)) = &mut address.table {
                *table = table.iter().map(|cell| cell * self.count as u32).collect();
            }
            address.strides[0] = 1;
        } else {
            address.strides[0] = self.length as i64;
        }
    }

    fn step(&self, step: &Step, depth: usize) -> Step {
        match step {
            Step::Loop { trip, reversed, parallel, body } => Step::Loop {
                trip: *trip,
                reversed: *reversed,
                parallel: *parallel,
                body: body.iter().map(|step| self.step(step, depth + 1)).collect(),
            },
            Step::Block(nodes) => {
                let each = |node: &Node| {
                    let mut node = node.clone();
                    if let Some(address) = node.address_mut() {
                        *address = self.address(address);
                    }
                    node
                };
                Step::Block(nodes.iter().map(each).collect())
            }
            Step::Zero { array, start, length } if *array == Array::Output(self.result) => {
                let mut strides = vec![0; depth];
                strides[depth - 1] = 1;
                let cell = Address { array: *array, base: *start as i64, strides, table: None };
                let store = vec![Node::Constant(0.0), Node::Store(0, self.address(&cell))];
                Step::Loop { trip: *length as u32, reversed: false, parallel: true, body: vec![Step::Block(store)] }
            }
            Step::Zero { array, start, length } => {
                let mut cell = Address { array: *array, base: *start as i64, strides: Vec::new(), table: None };
                cell = self.address(&cell);
                Step::Zero { array: cell.array, start: cell.base as usize, length: *length }
            }
        }
    }
}
