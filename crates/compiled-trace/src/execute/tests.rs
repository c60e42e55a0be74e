//! Small programs beside the same programs in blocks and number by number: the same results, bit by bit.

use super::{Executable, RunError};
use crate::{Limits, Program, Recorded, compile, record};
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

/// Runs a program on numbers that depend on their places alone.
fn run(executable: &Executable, x: &[f64]) -> Result<Vec<Vec<u64>>, RunError> {
    let mut inputs: Vec<Vec<f64>> =
        executable.inputs().iter().map(|n| (0..*n).map(|i| 0.5 - 0.2 * (i % 7) as f64).collect()).collect();
    inputs[0] = x.to_vec();
    let mut outputs: Vec<Vec<f64>> = executable.outputs().iter().map(|n| vec![f64::NAN; *n]).collect();
    let mut workspace = executable.workspace();
    workspace.slots.numbers().iter_mut().skip(executable.program.constants.len()).for_each(|slot| *slot = f64::NAN);
    workspace.cells.fill(f64::NAN);
    let inputs: Vec<&[f64]> = inputs.iter().map(|slice| slice.as_slice()).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(|slice| slice.as_mut_slice()).collect();
    executable.run(&mut workspace, &inputs, &mut slices)?;
    // A second run finds the memory as the first one left it.
    executable.run(&mut workspace, &inputs, &mut slices)?;
    Ok(outputs.iter().map(|slice| slice.iter().map(|v| v.to_bits()).collect()).collect())
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
fn small_programs_give_the_answers_of_blocks() {
    let (mut small, mut all) = (0, 0);
    for (name, f) in FUNCTIONS {
        for n in [3, 4, 7, 8, 9, 12, 15, 16, 17, 33] {
            for (i, program) in programs(n, f).into_iter().enumerate() {
                let executable = program.executable();
                small += usize::from(executable.unrolled.is_some());
                all += 1;
                let blocks = Executable { unrolled: None, ..executable.clone() };
                assert_eq!(run(&executable, &point(n)), run(&blocks, &point(n)), "{name}, {n} numbers, program {i}");
            }
        }
    }
    // Nearly all of them; otherwise the test would compare blocks with blocks.
    assert!(10 * small > 8 * all, "{small} of {all} programs are small");
}

#[test]
fn guards_of_small_programs_name_their_place() {
    let (_, f) = FUNCTIONS[7];
    for program in programs(9, f) {
        let executable = program.executable();
        assert!(executable.unrolled.is_some());
        let blocks = Executable { unrolled: None, ..executable.clone() };
        let mut x = point(9);
        x[6] = -x[6];
        let found = run(&executable, &x);
        assert!(matches!(found, Err(RunError::Guard(guard)) if guard.place.is_some()), "{found:?}");
        assert_eq!(found, run(&blocks, &x));
    }
}

/// The program has 16 operations and clears two slices: the time of a run grows with the number of its steps.
#[test]
fn products_sums_and_signs_share_operations() {
    let rosenbrock: Function = |x, y| {
        let term = |w: &[Recorded]| {
            let (d, e) = (w[1] - w[0] * w[0], 1.0 - w[0]);
            100.0 * (d * d) + e * e
        };
        y.push(x.windows(2).map(term).sum());
    };
    let gradient = programs(10, rosenbrock).swap_remove(4).executable();
    assert_eq!(gradient.unrolled.as_ref().map(|unrolled| unrolled.length()), Some(13));
    let blocks = Executable { unrolled: None, ..gradient.clone() };
    assert_eq!(run(&gradient, &point(10)), run(&blocks, &point(10)));
}

#[test]
fn single_programs_give_the_same_answers_or_none() {
    let [_, _, _, _, gradient, _] = &programs(9, FUNCTIONS[1].1)[..] else { panic!("it has one output") };
    let gradient = gradient.clone().executable();
    let expected = run(&gradient, &point(9)).unwrap();
    let mut single = gradient.single::<f64, 2, 2>().unwrap();
    let (mut y, mut grad) = ([f64::NAN], [f64::NAN; 9]);
    for _ in 0..2 {
        assert!(single.run(&[&point(9), &[]], &mut [&mut y, &mut grad]));
        assert_eq!((y[0].to_bits(), grad.map(f64::to_bits).to_vec()), (expected[0][0], expected[1].clone()));
    }
    assert!(!single.run(&[&point(8), &[]], &mut [&mut y, &mut grad]), "a point of another length");
    assert!(!single.run(&[&point(9), &[1.0]], &mut [&mut y, &mut grad]), "a parameter too many");
    assert!(!single.run(&[&point(9), &[]], &mut [&mut y, &mut grad[1..]]), "a gradient of another length");
    assert!(!single.run(&[&point(9), &[]], &mut [&mut [], &mut grad]), "no room for the value");
    assert!(gradient.single::<f64, 1, 2>().is_none() && gradient.single::<f64, 2, 3>().is_none(), "other slices");

    let (_, guarded) = FUNCTIONS[7];
    let mut single = programs(9, guarded).pop().unwrap().executable().single::<f64, 2, 1>().unwrap();
    let mut y = [f64::NAN; 9];
    assert!(single.run(&[&point(9), &[]], &mut [&mut y]));
    let mut other = point(9);
    other[6] = -other[6];
    assert!(!single.run(&[&other, &[]], &mut [&mut y]), "a guard fails");
}

#[test]
fn large_programs_stay_in_blocks() {
    let large = |n, f| programs(n, f).into_iter().all(|program| program.executable().unrolled.is_none());
    assert!(large(2000, FUNCTIONS[0].1));
    assert!(large(300, FUNCTIONS[2].1));
}
