//! Programs in blocks and number by number: the same results but for the order of additions.

use super::Executable;
use super::run::{RunNest, in_blocks, one_by_one};
use crate::{GuardFailed, Limits, Program, Recorded, compile, record};
use differentiation_interface_core::Real;
use num_traits::Float;

type Function = fn(&[Recorded], &mut Vec<Recorded>);

/// Sums, recurrences, strides, tables, choices, guards, straight lines.
const FUNCTIONS: [(&str, Function); 11] = [
    ("sum of squares", |x, y| y.push(x.iter().map(|v| *v * *v).sum())),
    ("neighbours", |x, y| {
        y.push(x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum())
    }),
    ("each", |x, y| y.extend(x.iter().map(|v| (v.sin() - 2.0 / (*v + 3.0)) * 0.5))),
    ("recurrence", |x, y| {
        let mut v = x[0];
        for w in x {
            v = v * 0.7 + *w * v.cos();
            y.push(v);
        }
    }),
    ("matrix", |x, y| {
        let n = x.len();
        for i in 0..n {
            y.push((0..n).map(|j| x[(i + 2 * j) % n] * (0.1 + (i * j % 5) as f64)).sum());
        }
    }),
    ("scattered", |x, y| {
        let n = x.len();
        y.extend((0..n).map(|i| x[(i * i * 7 + 3) % n] * x[(5 * i + 1) % n] - x[i]));
    }),
    ("choice", |x, y| {
        y.extend(x.windows(2).map(|w| w[0].less_than(w[1]).select(w[0].exp(), w[1] * w[0]).max(w[0] * 0.3)))
    }),
    ("guards", |x, y| y.extend(x.iter().map(|v| if *v > 0.0 { v.sqrt() } else { *v * *v }))),
    ("straight line", |x, y| {
        let mut v: Vec<Recorded> = x.to_vec();
        for k in 0..60 {
            let (i, j) = ((k * 11 + k * k) % v.len(), (k * 5 + 2) % v.len());
            v.push(if k % 3 == 0 { v[i] - v[j] * 0.4 } else { v[i] * v[j] + 0.1 });
        }
        y.extend(v.into_iter().rev().take(3));
    }),
    ("rows", |x, y| x.iter().for_each(|v| y.extend(x.iter().map(|w| *v * (*w - 0.3))))),
    // The cells beyond a row are written before the row is.
    ("rows from the last", |x, y| {
        let rows: Vec<Vec<Recorded>> = x.iter().rev().map(|v| x.iter().map(|w| *v * (*w - 0.3)).collect()).collect();
        y.extend(rows.into_iter().rev().flatten());
    }),
];

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.3 * i as f64 + 0.4).sin() + 0.01 * i as f64).collect()
}

/// Runs a program in one of two ways on numbers that depend on their places alone.
fn run(executable: &Executable, x: &[f64], way: RunNest<f64>) -> Result<Vec<Vec<f64>>, GuardFailed> {
    let mut inputs: Vec<Vec<f64>> =
        executable.inputs().iter().map(|n| (0..*n).map(|i| 0.5 - 0.2 * (i % 7) as f64).collect()).collect();
    inputs[0] = x.to_vec();
    let mut outputs: Vec<Vec<f64>> = executable.outputs().iter().map(|n| vec![f64::NAN; *n]).collect();
    let mut workspace = executable.workspace();
    workspace.cells.fill(f64::NAN);
    let inputs: Vec<&[f64]> = inputs.iter().map(|slice| slice.as_slice()).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(|slice| slice.as_mut_slice()).collect();
    executable.run_by(&mut workspace, &inputs, &mut slices, way)?;
    // A second run finds the memory as the first one left it.
    executable.run_by(&mut workspace, &inputs, &mut slices, way)?;
    Ok(outputs)
}

fn programs(n: usize, f: Function) -> Vec<Program> {
    let graph = record(&point(n), &[], Limits::default(), |x, _, y| f(x, y)).unwrap();
    let program = compile(&graph).unwrap();
    let adjoint = program.adjoint(1).unwrap();
    let mut programs =
        vec![program.tangent(2).unwrap(), program.adjoint(3).unwrap(), adjoint.tangent(1).unwrap(), adjoint];
    programs.extend(program.gradient());
    programs.push(program);
    programs
}

#[test]
fn blocks_give_the_answers_of_single_numbers() {
    let mut in_vectors = 0;
    for (name, f) in FUNCTIONS {
        for n in [3, 4, 7, 8, 9, 12, 15, 16, 17, 33, 300] {
            for (i, program) in programs(n, f).into_iter().enumerate() {
                let executable = program.executable();
                in_vectors += executable.plans.iter().filter(|plan| plan.vector.is_some()).count();
                let blocks = run(&executable, &point(n), in_blocks).unwrap();
                let single = run(&executable, &point(n), one_by_one).unwrap();
                for (blocks, single) in blocks.iter().flatten().zip(single.iter().flatten()) {
                    // Sums are added in another order.
                    let scale = single.abs().max(1.0);
                    let is_close = (blocks - single).abs() <= 1e-12 * scale;
                    assert!(is_close, "{name}, {n} numbers, program {i}: {blocks} and {single}");
                }
            }
        }
    }
    assert!(in_vectors > 500, "{in_vectors} nests run in blocks");
}

#[test]
fn failed_guards_name_their_place_in_blocks_and_beside_them() {
    let (_, f) = FUNCTIONS[7];
    for n in [3, 9, 300] {
        for program in programs(n, f) {
            let executable = program.executable();
            let mut x = point(n);
            x[2] = -x[2];
            let found = run(&executable, &x, in_blocks);
            assert!(matches!(found, Err(guard) if guard.place.is_some()), "{found:?}");
            assert_eq!(found, run(&executable, &x, one_by_one));
        }
    }
}
