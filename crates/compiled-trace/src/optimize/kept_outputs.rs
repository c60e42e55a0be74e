//! Programs that compute some of the outputs of another one.
//!
//! Called by users of a [`Program`]. The outputs that are not kept become work cells, and what is stored there and never read leaves
//! with everything that only it needs.

use super::touched;
use crate::program::*;

impl Program {
    /// The program with the output slices `kept`, in this order, and without the operations that only others need. Guards stay.
    ///
    /// # Panics
    /// If a number is not one of an output slice, or occurs twice.
    ///
    /// # Example
    /// The Hessian-vector product alone, without value, gradient and slope:
    /// ```
    /// use compiled_trace::{Limits, compile, record};
    /// let graph = record(&[2.0], &[], Limits::default(), |x, _, y| y.push(x[0] * x[0] * x[0]))?;
    /// let all = compile(&graph)?.gradient()?.tangent(1)?;
    /// let product = all.keeping_outputs(&[3]);
    /// assert_eq!(product.outputs, [1]);
    /// assert!(product.instruction_count() < all.instruction_count());
    /// let product = product.executable();
    /// let mut hv = [0.0];
    /// product.run(&mut product.workspace(), &[&[2.0], &[], &[1.0]], &mut [&mut hv]).unwrap();
    /// assert_eq!(hv, [12.0]); // 6 x
    /// # Ok::<(), differentiation_interface_core::error::Error>(())
    /// ```
    pub fn keeping_outputs(&self, kept: &[usize]) -> Program {
        self.clone().keeping(kept)
    }

    /// The same of a program that need not be optimised.
    pub(crate) fn keeping(mut self, kept: &[usize]) -> Program {
        let mut places: Vec<Place> = vec![Place { space: Space::Work, shift: 0 }; self.outputs.len()];
        let (before, mut work) = (self.work, self.work);
        for (at, output) in kept.iter().enumerate() {
            assert!(places[*output].space == Space::Work, "output slice {output} is kept twice");
            places[*output].space = Space::Output(at as u8);
        }
        for (place, length) in places.iter_mut().zip(&self.outputs) {
            if place.space == Space::Work {
                place.shift = work as u32;
                work += length;
            }
        }
        self.statements.iter_mut().for_each(|statement| move_outputs(statement, &places));
        let outputs = kept.iter().map(|output| self.outputs[*output]).collect();
        let mut program = Program { outputs, work, ..self }.optimized();
        // Usually no cell of the other outputs is left.
        if !touched(&program.statements).overlaps(before as u32, u32::MAX) {
            program.work = before;
        }
        program
    }
}

/// Where an output slice goes.
#[derive(Clone, Copy)]
struct Place {
    space: Space,
    /// The cell of its first number.
    shift: u32,
}

fn move_outputs(statement: &mut Statement, places: &[Place]) {
    let moved = |address: &mut Address| {
        let Space::Output(output) = address.space else { return };
        let Place { space, shift } = places[output as usize];
        address.space = space;
        address.base += shift;
        if shift > 0
            && let Some(table) = &mut address.table
        {
            *table = table.iter().map(|cell| cell + shift).collect();
        }
    };
    match statement {
        Statement::Nest(nest) => nest.addresses.iter_mut().for_each(moved),
        Statement::Loop { body, .. } => body.iter_mut().for_each(|statement| move_outputs(statement, places)),
        Statement::Zero { space, start, .. } => {
            if let Space::Output(output) = *space {
                let place = places[output as usize];
                (*space, *start) = (place.space, *start + place.shift);
            }
        }
        Statement::Call(call) => call.arguments.iter_mut().chain(&mut call.results).for_each(moved),
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Program;
    use crate::{Limits, Recorded, compile, record};
    use num_traits::Float;

    fn gradient_program(inputs: usize, f: impl FnOnce(&[Recorded]) -> Recorded) -> Program {
        let x: Vec<f64> = (0..inputs).map(|i| 0.5 + i as f64).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        compile(&graph).unwrap().gradient().unwrap()
    }

    fn hessian_program(inputs: usize, f: impl FnOnce(&[Recorded]) -> Recorded) -> Program {
        gradient_program(inputs, f).tangent(1).unwrap()
    }

    /// The output slices.
    fn run(program: &Program, x: &[f64], v: &[f64]) -> Vec<Vec<f64>> {
        let mut outputs: Vec<Vec<f64>> = program.outputs.iter().map(|length| vec![f64::NAN; *length]).collect();
        let executable = program.clone().executable();
        let slices = &mut outputs.iter_mut().map(|output| &mut output[..]).collect::<Vec<_>>()[..];
        executable.run(&mut executable.workspace(), &[x, &[], v], slices).unwrap();
        outputs
    }

    #[test]
    fn products_alone_are_those_of_the_whole_program() {
        let rosenbrock = |x: &[Recorded]| {
            x.windows(2).map(|v| (v[1] - v[0] * v[0]).powi(2) * 100.0 + (-v[0] + 1.0).powi(2)).sum::<Recorded>()
        };
        // Its gradient needs the value, so the first reduction stays.
        let scaled = |x: &[Recorded]| x.iter().map(|v| v.sin()).sum::<Recorded>().powi(2);
        for (gradient, fewer) in [(gradient_program(40, rosenbrock), true), (gradient_program(40, scaled), false)] {
            let all = gradient.tangent(1).unwrap();
            let product = all.keeping_outputs(&[3]);
            let at_once = gradient.tangent_keeping(1, &[3]).unwrap();
            assert_eq!((at_once.instruction_count(), at_once.work), (product.instruction_count(), product.work));
            assert_eq!(product.outputs, [40]);
            assert_eq!(product.work, all.work, "{product}");
            assert!(product.instruction_count() < all.instruction_count(), "{product}");
            assert!(!fewer || 2 * product.instruction_count() <= all.instruction_count() + 8, "{product}");
            let x: Vec<f64> = (0..40).map(|i| 0.1 * i as f64 - 1.7).collect();
            let v: Vec<f64> = (0..40).map(|i| 1.0 - 0.3 * i as f64).collect();
            assert_eq!(run(&product, &x, &v), [run(&all, &x, &v)[3].clone()]);
        }
    }

    #[test]
    fn outputs_are_kept_in_the_order_asked_for() {
        let all = hessian_program(3, |x| x[0] * x[1] * x[2]);
        let (x, v) = ([2.0, 3.0, 5.0], [1.0, 0.0, 0.0]);
        assert_eq!(run(&all, &x, &v), [vec![30.0], vec![15.0, 10.0, 6.0], vec![15.0], vec![0.0, 5.0, 3.0]]);
        let two = all.keeping_outputs(&[3, 0]);
        assert_eq!(run(&two, &x, &v), [vec![0.0, 5.0, 3.0], vec![30.0]]);
        assert!(run(&all.keeping_outputs(&[]), &x, &v).is_empty());
    }

    #[test]
    #[should_panic(expected = "output slice 1 is kept twice")]
    fn an_output_is_kept_once() {
        hessian_program(2, |x| x[0] * x[1]).keeping_outputs(&[1, 1]);
    }
}
