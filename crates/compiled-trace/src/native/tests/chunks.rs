//! Nests in chunks: the same bits on any number of threads and in any order of chunks, results close to those without chunks.

use super::super::chunks::{Divided, divide};
use super::super::options::Least;
use super::random::{INPUT, Random, direct, random_program};
use super::*;
use crate::{Limits, Recorded, compile, record};

/// Numbers of threads.
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Everything in chunks, on so many threads.
fn on(threads: usize) -> Options {
    Options { threads, least: Least::NOTHING, ..Options::default() }
}

fn bits(outputs: &[Vec<f64>]) -> Vec<Vec<u64>> {
    outputs.iter().map(|output| output.iter().map(|y| y.to_bits()).collect()).collect()
}

/// Runs a program on all numbers of threads; the results have the same bits.
fn on_all(program: &Program, options: Options, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut all = THREADS.map(|threads| native(program, Options { threads, ..options }, inputs).unwrap());
    for (other, threads) in all[1..].iter().zip(&THREADS[1..]) {
        assert_eq!(bits(other), bits(&all[0]), "{threads} threads");
    }
    std::mem::take(&mut all[0])
}

/// The same with the chunks of all groups in reverse order.
fn backwards(divided: &Divided) -> Program {
    let mut program = divided.program.clone();
    for group in &divided.groups {
        program.statements[group.clone()].reverse();
        for statement in &mut program.statements[group.clone()] {
            let Statement::Loop { reversed, .. } = statement else { unreachable!("groups are of loops") };
            *reversed = true;
        }
    }
    program
}

/// Executes the program as its contract says, and checks that the order of chunks does not matter.
fn in_any_order(divided: &Divided, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    let forwards = direct(&divided.program, inputs);
    assert_eq!(bits(&forwards), bits(&direct(&backwards(divided), inputs)), "{}", divided.program);
    forwards
}

fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>], what: &Program) {
    for (i, (found, expected)) in found.iter().flatten().zip(expected.iter().flatten()).enumerate() {
        let scale = expected.abs().max(1.0);
        assert!((found - expected).abs() <= 1e-9 * scale, "number {i} is {found}, expected {expected}\n{what}");
    }
}

#[test]
fn random_programs_in_chunks_have_their_results() {
    let mut random = Random(29);
    let x: Vec<f64> = (0..INPUT).map(|i| (i as f64 * 0.37).sin() * 1.3).collect();
    let (mut groups, mut sums, mut edges) = (0, 0, 0);
    for _ in 0..400 {
        let program = random_program(&mut random);
        let expected = direct(&program, &[&x]);
        let Some(divided) = divide(&program, 0, Least::NOTHING) else { continue };
        check::check(&divided.program).unwrap();
        groups += divided.groups.len();
        sums += usize::from(divided.program.work > program.work);
        edges += divided.program.statements.len() - program.statements.len();
        assert_close(&in_any_order(&divided, &[&x]), &expected, &divided.program);
        assert_close(&on_all(&program, on(1), &[&x]), &expected, &divided.program);
    }
    // The test has something to test.
    assert!(groups > 400 && sums > 20 && edges > 150, "{groups} {sums} {edges}");
}

/// Chunks of which each adds to cells of the next one, in a cleared region that has more cells.
#[test]
fn cells_that_two_chunks_add_to_get_both_terms() {
    for (trip, shifts) in [(6400, vec![0, 1]), (6001, vec![2, 0, 1]), (1999, vec![0, 3]), (300, vec![0])] {
        let mut addresses = vec![affine(Space::Input(0), 0, &[1])];
        let mut body = vec![Instruction::Load(0)];
        for shift in &shifts {
            addresses.push(affine(Space::Output(0), 3 + shift, &[1]));
            body.push(Instruction::Accumulate { value: 0, address: addresses.len() as u32 - 1 });
        }
        // A sum over all.
        addresses.push(affine(Space::Output(1), 0, &[0]));
        body.push(Instruction::Accumulate { value: 0, address: addresses.len() as u32 - 1 });
        let nest = Nest { dimensions: across(trip), reversed: false, addresses, body };
        let length = trip + 9;
        let statements = vec![
            Statement::Zero { space: Space::Output(0), start: 0, length: length as u32 },
            Statement::Zero { space: Space::Output(1), start: 0, length: 1 },
            Statement::Nest(nest),
        ];
        let program = program(&[trip], &[length, 1], 0, statements);
        let divided = divide(&program, 0, Least::NOTHING).expect("it is one parallel nest");
        let x: Vec<f64> = (1..=trip).map(|i| i as f64).collect();
        let mut expected = vec![vec![0.0; length], vec![x.iter().sum()]];
        for (i, x) in x.iter().enumerate() {
            shifts.iter().for_each(|shift| expected[0][3 + *shift as usize + i] += x);
        }
        assert_eq!(in_any_order(&divided, &[&x]), expected, "{}", divided.program);
        assert_eq!(on_all(&program, on(1), &[&x]), expected, "{}", divided.program);
        // The region is cleared by its chunks.
        let Statement::Loop { body, .. } = &divided.program.statements[divided.groups[0].start] else {
            unreachable!("groups are of loops")
        };
        assert_eq!(body.len(), 3, "sums, cells, the nest");
    }
}

#[test]
fn nests_whose_chunks_disturb_each_other_are_not_divided() {
    let nest = |addresses: Vec<Address>, dimensions: Vec<Dimension>| {
        let body = vec![Instruction::Load(0), Instruction::Store { value: 0, address: 1 }];
        program(&[], &[], 300, vec![Statement::Nest(Nest { dimensions, reversed: false, addresses, body })])
    };
    let work = |base, strides: &[i32]| affine(Space::Work, base, strides);
    let is_divided = |program: Program| divide(&program, 0, Least::NOTHING).is_some();
    assert!(is_divided(nest(vec![work(0, &[1]), work(100, &[1])], across(100))));
    // Reads what other iterations write.
    assert!(!is_divided(nest(vec![work(0, &[1]), work(1, &[1])], across(100))));
    assert!(!is_divided(nest(vec![work(0, &[0]), work(0, &[1])], across(100))));
    // Writes to one cell, or to cells in an unknown order.
    assert!(!is_divided(nest(vec![work(0, &[1]), work(100, &[0])], across(100))));
    let table: Vec<u32> = (0..100).map(|i| 100 + 37 * i % 100).collect();
    let scattered = Address { table: Some(table.into()), ..work(0, &[0]) };
    assert!(!is_divided(nest(vec![work(0, &[1]), scattered], across(100))));
    let ordered = Address { table: Some((100..200).collect::<Vec<u32>>().into()), ..work(0, &[0]) };
    assert!(is_divided(nest(vec![work(0, &[1]), ordered], across(100))));
    // The first dimension cannot be divided, the second one can: columns one after the other.
    let dimensions = vec![Dimension { trip: 10, parallel: false }, Dimension { trip: 10, parallel: true }];
    let columns = nest(vec![work(0, &[1, 20]), work(1, &[1, 20])], dimensions);
    let divided = divide(&columns, 0, Least::NOTHING).expect("columns are apart");
    let Statement::Loop { trip, .. } = divided.program.statements[0] else { unreachable!("groups are of loops") };
    assert_eq!((divided.groups.len(), trip), (1, 10));
    // Too little work.
    assert!(divide(&nest(vec![work(0, &[1]), work(100, &[1])], across(100)), 0, Least::STANDARD).is_none());
}

/// A sum with a guard on each term.
fn guarded(n: usize) -> Program {
    let graph = record(&vec![1.0; n], &[], Limits::default(), |x: &[Recorded], _, y| {
        let mut sum = x[0] * 0.0;
        for w in x.windows(2) {
            let d = w[1] - w[0] * w[0];
            sum += if w[0] > 0.0 { 100.0 * d * d } else { -d };
        }
        y.push(sum);
    });
    compile(&graph.unwrap()).unwrap().adjoint(1).unwrap()
}

#[test]
fn large_gradients_have_the_same_bits_on_any_number_of_threads() {
    let n = 100_003;
    let program = guarded(n);
    assert!(divide(&program, 0, Least::STANDARD).is_some());
    let x: Vec<f64> = (0..n).map(|i| 1.0 + (i % 7) as f64 / 8.0).collect();
    let inputs: [&[f64]; 3] = [&x, &[], &[1.0]];
    let found = on_all(&program, Options::default(), &inputs);
    assert_close(&found, &native(&program, Options::default(), &inputs).unwrap(), &program);

    // By hand, in exact arithmetic: all numbers are multiples of 2^-6 below 2^40.
    let mut expected = vec![0.0; n];
    let mut value = 0.0;
    for (i, w) in x.windows(2).enumerate() {
        let d = w[1] - w[0] * w[0];
        value += 100.0 * d * d;
        expected[i] -= 400.0 * d * w[0];
        expected[i + 1] += 200.0 * d;
    }
    assert_eq!(found, [vec![value], expected]);
}

#[test]
fn guards_fail_in_every_chunk() {
    let n = 100_003;
    let compiled = THREADS.map(|threads| {
        Compiled::<f64>::new(&guarded(n), Options { threads, ..Options::default() })
            .expect("this machine has native code")
    });
    for at in [None, Some(0), Some(1), Some(n / 2), Some(n - 2)] {
        let mut x = vec![1.0; n];
        at.into_iter().for_each(|at| x[at] = -1.0);
        let results = compiled.each_ref().map(|compiled| {
            let (mut y, mut grad) = ([f64::NAN], vec![f64::NAN; n]);
            compiled.run(&mut compiled.workspace(), &[&x, &[], &[1.0]], &mut [&mut y, &mut grad]).map_err(|error| {
                let RunError::Guard(GuardFailed { place: Some(place) }) = error else { panic!("{error:?}") };
                assert_eq!(place.file(), file!());
                place.line()
            })
        });
        assert!(results.iter().all(|result| *result == results[0] && result.is_err() == at.is_some()), "{results:?}");
    }
}

#[test]
fn a_rule_that_panics_on_another_thread_panics_here() {
    let mut rules = Rules::default();
    let number = rules.number_unary(Threefold).expect("there are few rules");
    let program = one_operation(Op::Unary(number), 4000, rules);
    assert!(divide(&program, 0, Least::NOTHING).is_some());
    let mut x = vec![2.0; 4000];
    assert_eq!(on_all(&program, on(1), &[&x, &x])[0], [6.0; 4000]);
    x[3999] = 13.0;
    for threads in THREADS {
        let run = std::panic::AssertUnwindSafe(|| native(&program, on(threads), &[&x, &x]));
        let panic = std::panic::catch_unwind(run);
        assert!(panic.is_err(), "{threads} threads");
    }
    x[3999] = 2.0;
    assert_eq!(on_all(&program, on(1), &[&x, &x])[0], [6.0; 4000]);
}
