//! Products against sums term by term, in the order that the module states.

use super::kernel::TERMS;
use super::view::Sizes;
use super::{Product, products};
use crate::native::{Compiled, Options};
use crate::program::{Address, Dimension, Instruction, Nest, Program, Space, Statement};
use crate::recording::graph::Op;
use crate::recording::rules::{NEGATE, PLUS, TIMES};
use crate::{Limits, Recorded, compile, record};

/// A nest over these trip counts whose body adds products: of each the addresses of the sum and of both factors as space, base, strides.
fn nest(trips: &[u32], additions: &[[(Space, u32, &[i32]); 3]]) -> Nest {
    let (mut addresses, mut body) = (Vec::new(), Vec::new());
    for addition in additions {
        let first = addresses.len() as u32;
        for (space, base, strides) in *addition {
            addresses.push(Address { space, base, strides: strides.to_vec(), table: None });
        }
        let at = body.len() as u32;
        body.push(Instruction::Load(first + 1));
        body.push(Instruction::Load(first + 2));
        body.push(Instruction::Apply { op: Op::Binary(TIMES), a: at, b: at + 1 });
        body.push(Instruction::Accumulate { value: at + 2, address: first });
    }
    let dimensions = trips.iter().map(|trip| Dimension { trip: *trip, parallel: true }).collect();
    Nest { dimensions, reversed: false, addresses, body }
}

/// A program of one nest, which adds to an output that is cleared before.
fn program(nest: Nest, inputs: [usize; 2], output: usize) -> Program {
    let empty = record(&[1.0], &[], Limits::default(), |x, _, y| y.push(x[0] + 1.0)).unwrap();
    let cleared = Statement::Zero { space: Space::Output(0), start: 0, length: output as u32 };
    Program {
        constants: Vec::new(),
        inputs: inputs.to_vec(),
        outputs: vec![output],
        work: 0,
        statements: vec![cleared, Statement::Nest(nest)],
        ..compile(&empty).unwrap()
    }
}

/// Numbers whose products and sums are rounded.
fn numbers(length: usize, seed: f64) -> Vec<f64> {
    (0..length).map(|i| (1.7 * i as f64 + seed).sin()).collect()
}

/// What the nest adds up, in the order that the module states: terms in blocks, from 0, each block to the cell.
fn expected(nest: &Nest, terms: usize, inputs: [&[f64]; 2], output: &mut [f64]) {
    let trips: Vec<u32> = nest.dimensions.iter().map(|dimension| dimension.trip).collect();
    let others: Vec<usize> = (0..trips.len()).filter(|d| *d != terms).collect();
    let count: u32 = others.iter().map(|d| trips[*d]).product();
    for addition in nest.addresses.chunks_exact(3) {
        for number in 0..count {
            let mut counters = vec![0; trips.len()];
            let mut rest = number;
            for d in others.iter().rev() {
                counters[*d] = rest % trips[*d];
                rest /= trips[*d];
            }
            for start in (0..trips[terms]).step_by(TERMS) {
                let mut sum = 0.0;
                for term in start..trips[terms].min(start + TERMS as u32) {
                    counters[terms] = term;
                    let cell = |address: &Address| match address.space {
                        Space::Input(i) => inputs[i as usize][address.cell(&counters, &trips)],
                        _ => unreachable!("factors are inputs"),
                    };
                    sum += cell(&addition[1]) * cell(&addition[2]);
                }
                output[addition[0].cell(&counters, &trips)] += sum;
            }
        }
    }
}

/// Runs a nest by both executors and compares the bits with what is expected.
fn check(nest: &Nest, terms: usize, inputs: [usize; 2], output: usize) {
    let program = program(nest.clone(), inputs, output);
    let given = [numbers(inputs[0], 0.3), numbers(inputs[1], 0.9)];
    let given: [&[f64]; 2] = [&given[0], &given[1]];
    let mut wanted = vec![0.0; output];
    expected(nest, terms, given, &mut wanted);
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
    let mut found = vec![f64::NAN; output];
    let executable = program.clone().executable();
    executable.run(&mut executable.workspace(), &given, &mut [&mut found]).unwrap();
    assert_eq!(bits(&found), bits(&wanted), "interpreter, {nest:?}");
    if let Ok(compiled) = Compiled::<f64>::new(&program, Options::default()) {
        // A workspace of another program is resized.
        for mut workspace in [compiled.workspace(), Default::default()] {
            found.fill(f64::NAN);
            compiled.run(&mut workspace, &given, &mut [&mut found]).unwrap();
            assert_eq!(bits(&found), bits(&wanted), "machine code, {nest:?}");
        }
    }
}

const OUT: Space = Space::Output(0);
const A: Space = Space::Input(0);
const B: Space = Space::Input(1);

#[test]
fn products_have_the_stated_bits_in_both_executors() {
    // Rows, columns and terms that fill registers and blocks, and that do not.
    for [m, n, k] in
        [[16, 16, 32], [32, 32, 32], [33, 17, 29], [16, 18, 256], [17, 301, 7], [130, 19, 300], [67, 21, 513]]
    {
        let (rows, columns, terms) = (m as i32, n as i32, k as i32);
        let sizes = ([(m * k) as usize, (k * n) as usize], (m * n) as usize);
        // By rows; left and right transposed; sum by columns.
        let all = [
            [[columns, 1, 0], [terms, 0, 1], [0, 1, columns]],
            [[columns, 1, 0], [1, 0, rows], [0, terms, 1]],
            [[1, rows, 0], [terms, 0, 1], [0, terms, 1]],
        ];
        for [sum, left, right] in all {
            let nest = nest(&[m, n, k], &[[(OUT, 0, &sum), (A, 0, &left), (B, 0, &right)]]);
            assert_eq!(products(&nest).map(|found| found.len()), Some(1), "{m} {n} {k}");
            check(&nest, 2, sizes.0, sizes.1);
        }
        // Loops in another order.
        let nest = nest(&[k, m, n], &[[(OUT, 0, &[0, columns, 1]), (A, 0, &[1, terms, 0]), (B, 0, &[columns, 0, 1])]]);
        check(&nest, 0, sizes.0, sizes.1);
    }
}

#[test]
fn batches_and_steps_that_run_down_are_products() {
    // Three products of 20 x 16 and 16 x 30 with one right factor, the terms from the last to the first.
    let (sum, left, right) = ([600, 30, 1, 0], [320, 16, 0, -1], [0, 0, 1, -30]);
    let nest = nest(&[3, 20, 30, 16], &[[(OUT, 5, &sum), (A, 15, &left), (B, 450, &right)]]);
    let found = products(&nest).unwrap();
    assert_eq!(found[0].sizes, Sizes { rows: 20, columns: 30, terms: 16 });
    assert_eq!(found[0].outer.len(), 1);
    check(&nest, 3, [960, 480], 1805);
}

#[test]
fn adjoints_of_products_are_products() {
    let n = 41;
    let f = |x: &[Recorded]| {
        let (a, b) = x.split_at(n * n);
        let entry = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum::<Recorded>();
        (0..n * n).map(|at| entry(at / n, at % n)).map(|entry| entry * entry * entry).sum::<Recorded>()
    };
    let x = numbers(2 * n * n, 0.4);
    let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
    let program = compile(&graph).unwrap().adjoint(1).unwrap();
    let found = |statement: &Statement| match statement {
        Statement::Nest(nest) => products(nest).unwrap_or_default(),
        _ => Vec::new(),
    };
    let all: Vec<Product> = program.statements.iter().flat_map(found).collect();
    assert_eq!(all.len(), 3, "the product and its two adjoints: {program}");
    // By hand: with C = A B and W = 3 C², the gradients are W Bᵀ and Aᵀ W.
    let (a, b) = x.split_at(n * n);
    let weight: Vec<f64> =
        (0..n * n).map(|at| 3.0 * (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum::<f64>().powi(2)).collect();
    let by_a = (0..n * n).map(|at| (0..n).map(|j| weight[at / n * n + j] * b[at % n * n + j]).sum::<f64>());
    let by_b = (0..n * n).map(|at| (0..n).map(|i| weight[i * n + at % n] * a[i * n + at / n]).sum::<f64>());
    let wanted: Vec<f64> = by_a.chain(by_b).collect();
    let (mut y, mut grad) = ([0.0], vec![f64::NAN; x.len()]);
    let compare = |grad: &[f64]| {
        for (found, wanted) in grad.iter().zip(&wanted) {
            assert!((found - wanted).abs() <= 1e-11 * (1.0 + wanted.abs()), "{found} and {wanted}");
        }
    };
    if let Ok(compiled) = Compiled::<f64>::new(&program, Options::default()) {
        compiled.run(&mut compiled.workspace(), &[&x, &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
        compare(&grad);
        grad.fill(f64::NAN);
    }
    let executable = program.executable();
    executable.run(&mut executable.workspace(), &[&x, &[], &[1.0]], &mut [&mut y, &mut grad]).unwrap();
    compare(&grad);
}

#[test]
fn singles_run_the_nest() {
    let nest = nest(&[32, 32, 32], &[[(OUT, 0, &[32, 1, 0]), (A, 0, &[32, 0, 1]), (B, 0, &[0, 1, 32])]]);
    let program = program(nest, [1024; 2], 1024);
    let (a, b) = ([0.5f32; 1024], [3.0f32; 1024]);
    let mut found = [0.0f32; 1024];
    if let Ok(compiled) = Compiled::<f32>::new(&program, Options::default()) {
        compiled.run(&mut compiled.workspace(), &[&a, &b], &mut [&mut found]).unwrap();
        assert_eq!(found, [48.0; 1024]);
    }
    let executable = program.executable();
    found = [0.0; 1024];
    executable.run(&mut executable.workspace(), &[&a, &b], &mut [&mut found]).unwrap();
    assert_eq!(found, [48.0; 1024]);
}

#[test]
fn special_numbers_stay_in_their_rows_and_columns() {
    let nest = nest(&[21, 23, 19], &[[(OUT, 0, &[23, 1, 0]), (A, 0, &[19, 0, 1]), (B, 0, &[0, 1, 23])]]);
    let program = program(nest, [21 * 19, 19 * 23], 21 * 23);
    let (mut a, mut b) = (vec![1.0; 21 * 19], vec![2.0; 19 * 23]);
    a[20 * 19] = f64::INFINITY;
    b[23 + 22] = f64::NAN;
    let executable = program.executable();
    let mut found = vec![0.0; 21 * 23];
    executable.run(&mut executable.workspace(), &[&a, &b], &mut [&mut found]).unwrap();
    for (at, found) in found.iter().enumerate() {
        match (at / 23, at % 23) {
            (_, 22) => assert!(found.is_nan()),
            (20, _) => assert_eq!(*found, f64::INFINITY),
            _ => assert_eq!(*found, 38.0),
        }
    }
}

#[test]
fn other_nests_are_no_products() {
    let of = |trips: &[u32], additions: &[[(Space, u32, &[i32]); 3]]| products(&nest(trips, additions));
    let sum: &[i32] = &[32, 1, 0];
    let (left, right): (&[i32], &[i32]) = (&[32, 0, 1], &[0, 1, 32]);
    assert!(of(&[32; 3], &[[(OUT, 0, sum), (A, 0, left), (B, 0, right)]]).is_some());
    // Too small, and too few columns.
    assert_eq!(of(&[8; 3], &[[(OUT, 0, sum), (A, 0, left), (B, 0, right)]]), None);
    assert_eq!(of(&[500, 2, 500], &[[(OUT, 0, &[2, 1, 0]), (A, 0, &[500, 0, 1]), (B, 0, &[0, 1, 2])]]), None);
    // Entries times each other, a factor that moves with everything, and a factor that the nest adds to.
    assert_eq!(of(&[32; 3], &[[(OUT, 0, sum), (A, 0, left), (B, 0, left)]]), None);
    assert_eq!(of(&[32; 3], &[[(OUT, 0, sum), (A, 0, left), (B, 0, &[1024, 1, 32])]]), None);
    assert_eq!(of(&[32; 3], &[[(OUT, 0, sum), (OUT, 1023, left), (B, 0, right)]]), None);
    // Of two additions, one is no product.
    let both = [[(OUT, 0, sum), (A, 0, left), (B, 0, right)], [(OUT, 1024, sum), (A, 0, left), (B, 0, left)]];
    assert_eq!(of(&[32; 3], &both), None);
    let mut stored = nest(&[32; 3], &both[..1]);
    stored.body[3] = Instruction::Store { value: 2, address: 0 };
    assert_eq!(products(&stored), None);
    let mut added = nest(&[32; 3], &both[..1]);
    added.body[2] = Instruction::Apply { op: Op::Binary(PLUS), a: 0, b: 1 };
    assert_eq!(products(&added), None);
}

#[test]
fn products_are_subtracted() {
    let mut nest = nest(&[20; 3], &[[(OUT, 0, &[20, 1, 0]), (A, 0, &[20, 0, 1]), (B, 0, &[0, 1, 20])]]);
    nest.body.insert(3, Instruction::Apply { op: Op::Unary(NEGATE), a: 2, b: 2 });
    nest.body[4] = Instruction::Accumulate { value: 3, address: 0 };
    // 8000 terms are too few.
    assert_eq!(products(&nest), None);
    nest.dimensions[2].trip = 21;
    assert!(products(&nest).unwrap()[0].is_negated);
    let program = program(nest, [20 * 20 + 1, 21 * 20], 400);
    let mut found = [0.0; 400];
    let executable = program.executable();
    executable.run(&mut executable.workspace(), &[&[0.5; 401], &[4.0; 420]], &mut [&mut found]).unwrap();
    assert_eq!(found, [-42.0; 400]);
}
