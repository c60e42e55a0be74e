//! The point as several arguments, one for each field of a struct.
//!
//! Called for recordings with fields. An address that reaches cells of several fields, as a loop over equal fields has it, needs the
//! numbers in one array: they are then copied to the work space first.

use super::ir::{Address, Array, Code, Node, Step, each_node, each_node_mut};

/// The code with its first input in pieces of these lengths.
pub(crate) fn by_fields(mut code: Code, lengths: &[usize]) -> Code {
    let mut starts = vec![0i64];
    for length in lengths {
        starts.push(starts[starts.len() - 1] + *length as i64);
    }
    // The last field that begins at or before the cell, and is not empty if the cell is in one.
    let field_of = |cell: i64| starts[..lengths.len()].partition_point(|start| *start <= cell).saturating_sub(1);
    let mut reaches_several = false;
    each_node(&code.steps, &mut Vec::new(), &mut |node, trips| {
        if let Some(address) = node.address().filter(|address| address.array == Array::Input(0)) {
            let (low, high) = address.range(trips);
            reaches_several |= field_of(low) != field_of(high);
        }
    });
    let first = code.work as i64;
    each_node_mut(&mut code.steps, &mut |node| {
        let Some(address) = node.address_mut() else { return };
        match address.array {
            Array::Input(0) if reaches_several => {
                address.array = Array::Work;
                address.base += first;
            }
            Array::Input(0) => {
                let field = field_of(address.cell(&vec![0; address.strides.len()]));
                address.array = Array::Input(field);
                address.base -= starts[field];
            }
            Array::Input(i) => address.array = Array::Input(i + lengths.len() - 1),
            _ => {}
        }
    });
    if reaches_several {
        let copies = lengths.iter().enumerate().filter(|(_, length)| **length > 0).map(|(field, length)| {
            let cell = |array, base, length: usize| Address {
                array,
                base,
                strides: if length == 1 { Vec::new() } else { vec![1] },
                table: None,
            };
            let from = cell(Array::Input(field), 0, *length);
            let to = cell(Array::Work, first + starts[field], *length);
            let copy = Step::Block(vec![Node::Load(from), Node::Store(0, to)]);
            match *length {
                1 => copy,
                length => Step::Loop { trip: length as u32, reversed: false, parallel: true, body: vec![copy] },
            }
        });
        let mut steps: Vec<Step> = copies.collect();
        steps.append(&mut code.steps);
        code.steps = steps;
        code.work += code.inputs[0];
    }
    code.inputs.splice(0..1, lengths.iter().copied());
    code
}
