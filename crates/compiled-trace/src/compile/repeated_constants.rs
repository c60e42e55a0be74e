//! Constants that repeat along a loop are kept once, and those that one loop reads lie one behind the other.
//!
//! Called on programs as they are compiled, before derivatives are taken. A recording has the numbers that a function captured once for
//! every operation that uses them: the inputs of a layer of a network once for each of its units. Kept once, a table of them stays in the cache, and
//! the nest is seen to be a product of matrices. A loop over samples of several numbers reads each of these numbers at a distance of the
//! length of a sample; columns of them are read by vectors.

use crate::optimize::intervals::Intervals;
use crate::program::{Address, Instruction, Program, Space, Statement, each_address};
use rustc_hash::FxHashMap;

/// Programs with fewer constants stay as they are.
const FEWEST: usize = 1024;

/// The same program, with columns of constants and without those that are the same for all counts of a loop or that nothing reads.
pub(crate) fn kept_once(mut program: Program) -> Program {
    if program.constants.len() < FEWEST {
        return program;
    }
    let (constants, mut copies) = (&program.constants, Vec::new());
    // Where columns are: by their first constant, their distance, and their number.
    let mut columns: FxHashMap<(u32, i64, u32), u32> = FxHashMap::default();
    each_address(&mut program.statements, &mut Vec::new(), &mut |address, trips| {
        if address.space != Space::Constant || address.table.is_some() {
            return;
        }
        let is_changed = settle(address, trips, constants);
        match *moving(address, trips) {
            [(counter, (trip, stride))] if is_changed || stride != 1 => {
                let column = (address.base, stride, trip);
                match columns.get(&column) {
                    Some(base) => (address.base, address.strides[counter]) = (*base, 1),
                    None => {
                        copy(address, trips, constants, &mut copies);
                        columns.insert(column, address.base);
                    }
                }
            }
            _ if is_changed => copy(address, trips, constants, &mut copies),
            _ => {}
        }
    });
    program.constants.append(&mut copies);
    drop_unread(&mut program);
    program
}

/// Calls `act` with every cell of an address without a table, the last counter fastest, until it returns `false`; returns whether it never did.
fn each_cell(base: i64, counters: &[(u32, i64)], act: &mut impl FnMut(usize) -> bool) -> bool {
    match counters {
        [] => act(base as usize),
        [(trip, stride), rest @ ..] => (0..i64::from(*trip)).all(|i| each_cell(base + i * stride, rest, act)),
    }
}

/// The counters with which a cell moves.
fn moving(address: &Address, trips: &[u32]) -> Vec<(usize, (u32, i64))> {
    let all = address.strides.iter().zip(trips).enumerate();
    all.filter(|(_, (stride, trip))| **stride != 0 && **trip > 1).map(|(d, (s, t))| (d, (*t, i64::from(*s)))).collect()
}

/// Ends the moves of an address along counters for all counts of which the numbers are the same; returns whether there are any.
fn settle(address: &mut Address, trips: &[u32], constants: &[f64]) -> bool {
    let mut is_changed = false;
    for (settled, (trip, stride)) in moving(address, trips) {
        let others = moving(address, trips).into_iter().filter(|(d, _)| *d != settled);
        // Along this counter, each number is compared with the one before.
        let mut counters: Vec<(u32, i64)> = others.map(|(_, counter)| counter).collect();
        counters.push((trip - 1, stride));
        let is_repeated = each_cell(i64::from(address.base), &counters, &mut |cell| {
            constants[cell].to_bits() == constants[(cell as i64 + stride) as usize].to_bits()
        });
        if is_repeated {
            address.strides[settled] = 0;
            is_changed = true;
        }
    }
    is_changed
}

/// Moves an address to a copy of its cells, behind all constants.
fn copy(address: &mut Address, trips: &[u32], constants: &[f64], copies: &mut Vec<f64>) {
    let moving = moving(address, trips);
    let counters: Vec<(u32, i64)> = moving.iter().map(|(_, counter)| *counter).collect();
    let base = constants.len() + copies.len();
    each_cell(i64::from(address.base), &counters, &mut |cell| {
        copies.push(constants[cell]);
        true
    });
    let mut stride = 1;
    for (d, (trip, _)) in moving.iter().rev() {
        address.strides[*d] = stride;
        stride *= *trip as i32;
    }
    address.base = base as u32;
}

/// Drops constants that nothing reads.
fn drop_unread(program: &mut Program) {
    let mut read: Vec<(u32, u32)> = Vec::new();
    each_address(&mut program.statements, &mut Vec::new(), &mut |address, trips| {
        if address.space == Space::Constant {
            read.push(address.range(trips));
        }
    });
    each_constant(&mut program.statements, &mut |number| read.push((*number, *number)));
    let read: Intervals = read.into_iter().collect();
    // Where kept constants begin, and by how many places they move.
    let mut moves: Vec<(u32, u32)> = Vec::new();
    let mut kept: Vec<f64> = Vec::new();
    for (low, high) in read.inside(0, u32::MAX) {
        moves.push((low, low - kept.len() as u32));
        kept.extend_from_slice(&program.constants[low as usize..=high as usize]);
    }
    program.constants = kept;
    let moved = |number: u32| number - moves[moves.partition_point(|(low, _)| *low <= number) - 1].1;
    each_address(&mut program.statements, &mut Vec::new(), &mut |address, _| {
        if address.space == Space::Constant {
            match &mut address.table {
                Some(table) => *table = table.iter().map(|number| moved(*number)).collect(),
                None => address.base = moved(address.base),
            }
        }
    });
    each_constant(&mut program.statements, &mut |number| *number = moved(*number));
}

/// Calls `act` with the number of every constant in a body.
fn each_constant(statements: &mut [Statement], act: &mut impl FnMut(&mut u32)) {
    for statement in statements {
        match statement {
            Statement::Nest(nest) => nest.body.iter_mut().for_each(|instruction| {
                if let Instruction::Constant(number) = instruction {
                    act(number);
                }
            }),
            Statement::Loop { body, .. } => each_constant(body, act),
            Statement::Zero { .. } | Statement::Call(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{Program, Space, Statement};
    use crate::{Limits, Recorded, Recorder, compile, record};
    use num_traits::Float;

    /// 48 units of 50 inputs with 64 samples, and a number for each sample.
    fn layer(samples: &[f64], targets: &[f64], x: &[Recorded]) -> Recorded {
        let unit = |sample: &[f64], weights: &[Recorded]| {
            sample.iter().zip(weights).map(|(number, weight)| *weight * *number).sum::<Recorded>()
        };
        let units = |sample| x.chunks(50).map(move |weights| unit(sample, weights).sin()).sum::<Recorded>();
        let errors = samples.chunks(50).zip(targets).map(|(sample, target)| units(sample) - *target);
        errors.map(|error| error * error).sum()
    }

    #[test]
    fn numbers_of_samples_become_columns() {
        let samples: Vec<f64> = (0..3 * 5000).map(|i| (0.7 * f64::from(i)).sin()).collect();
        let x = [0.3, -1.2, 0.8, 0.5];
        // Two numbers of a sample are read twice.
        let f = |x: &[Recorded]| {
            let term = |s: &[f64]| ((x[0] * s[0] + x[1] * s[1] + x[2] * s[2]).sin() + x[3] * s[0] * s[2]).powi(2);
            samples.chunks(3).map(term).sum::<Recorded>()
        };
        let mut recorder = Recorder::default();
        recorder.record_folding(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        assert!(recorder.fold().is_some());
        let program = recorder.compile().unwrap();
        assert!(program.constants.len() <= 5 * 5000 + 16, "{}: {program}", program.constants.len());
        let nests = program.statements.iter().filter_map(|statement| match statement {
            Statement::Nest(nest) if nest.dimensions.iter().any(|dimension| dimension.trip > 400) => Some(nest),
            _ => None,
        });
        let mut count = 0;
        for address in nests.flat_map(|nest| &nest.addresses).filter(|address| address.space == Space::Constant) {
            assert_eq!(address.strides, [1], "{program}");
            count += 1;
        }
        assert!(count >= 3, "{program}");
        let term = |s: &[f64]| ((x[0] * s[0] + x[1] * s[1] + x[2] * s[2]).sin() + x[3] * s[0] * s[2]).powi(2);
        let by_hand: f64 = samples.chunks(3).map(term).sum();
        assert!((value(&program, &x) - by_hand).abs() < 1e-12 * by_hand);
    }

    fn value(program: &Program, x: &[f64]) -> f64 {
        let mut y = [f64::NAN];
        let executable = program.clone().executable();
        executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut y]).unwrap();
        y[0]
    }

    #[test]
    fn constants_of_a_layer_are_kept_once() {
        let numbers = |count: usize, seed: f64| (0..count).map(|i| (1.3 * i as f64 + seed).sin()).collect::<Vec<f64>>();
        let (samples, targets, x) = (numbers(64 * 50, 0.1), numbers(64, 0.2), numbers(48 * 50, 0.3));
        let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(layer(&samples, &targets, x))).unwrap();
        let program = compile(&graph).unwrap();
        // The samples and targets, some of them twice: the first sample or number may be in a nest of its own.
        assert!(program.constants.len() < 3 * samples.len(), "{}: {program}", program.constants.len());
        let by_hand: f64 = samples
            .chunks(50)
            .zip(&targets)
            .map(|(sample, target)| {
                let unit = |weights: &[f64]| sample.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>().sin();
                (x.chunks(50).map(unit).sum::<f64>() - target).powi(2)
            })
            .sum();
        assert!((value(&program, &x) - by_hand).abs() < 1e-10 * by_hand);
    }

    #[test]
    fn constants_that_differ_in_one_place_stay() {
        let data: Vec<f64> = (0..40 * 50).map(|i| if i == 1234 { 2.5 } else { ((i % 50) as f64).cos() }).collect();
        let f = |x: &[Recorded]| {
            let row = |row: &[f64]| row.iter().zip(x).map(|(number, x)| *x * *number).sum::<Recorded>().sin();
            data.chunks(50).map(row).sum::<Recorded>()
        };
        let x: Vec<f64> = (0..50).map(|i| 0.1 * i as f64).collect();
        let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(f(x))).unwrap();
        let by_hand: f64 = data.chunks(50).map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>().sin()).sum();
        assert!((value(&compile(&graph).unwrap(), &x) - by_hand).abs() < 1e-11);
    }
}
