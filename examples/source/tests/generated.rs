//! The checked-in files are what the functions give, and what they compute is what the interface computes.

use derivative_source_examples::generated::chain::*;
use derivative_source_examples::{LINKS, cart_pole, energy, files, lagrangian, links};
use differentiation_interface::prelude::*;
use std::path::Path;
use std::process::Command;

#[test]
fn files_are_current() {
    files().unwrap().assert_current();
}

#[test]
fn the_program_in_c_prints_what_the_interface_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cart_pole");
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_string()));
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]);
    let compiled = compiler.arg("-o").arg(&program).args(["main.c", "cart_pole.c", "-lm"]).current_dir(folder).output();
    let compiled = compiled.unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    let found: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let x = [0.0, 0.2, 0.5, -0.3, 1.5];
    let (y, jac) = value_and_jacobian(&|x: &[_; 5]| cart_pole(x), &AutoForwardDiff::default(), x).unwrap();
    let expected: Vec<f64> =
        y.into_iter().chain((0..4).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| jac[(i, j)])).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{found} is not {expected}");
    }
}

#[test]
fn derivatives_of_the_chain_are_those_of_the_interface() {
    let x: [f64; 2 * (LINKS - 1)] = std::array::from_fn(|i| (0.7 * i as f64).sin());
    let multipliers: [f64; LINKS] = std::array::from_fn(|i| 1.0 + i as f64);
    let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-13 * expected.abs().max(1.0);

    let mut grad = [f64::NAN; 2 * (LINKS - 1)];
    assert!(close(energy_value_and_gradient(&x, &mut grad), energy(&x)));
    let expected = gradient(&|x: &[_]| energy(x), &AutoForwardDiff::default(), &x).unwrap();
    assert!(grad.iter().zip(&expected).all(|(a, b)| close(*a, *b)));

    let (mut y, mut jac) = ([f64::NAN; LINKS], [f64::NAN; LINKS_SPARSE_JACOBIAN_COLUMNS.len()]);
    links_value_and_sparse_jacobian(&x, &mut y, &mut jac);
    let expected = jacobian(&|x: &[_]| links(x), &AutoForwardDiff::default(), &x).unwrap();
    for i in 0..LINKS {
        let range = LINKS_SPARSE_JACOBIAN_STARTS[i] as usize..LINKS_SPARSE_JACOBIAN_STARTS[i + 1] as usize;
        for (entry, column) in jac[range.clone()].iter().zip(&LINKS_SPARSE_JACOBIAN_COLUMNS[range]) {
            assert!(close(*entry, expected[(i, *column as usize)]));
        }
    }

    let mut hess = [f64::NAN; LAGRANGIAN_SPARSE_HESSIAN_COLUMNS.len()];
    lagrangian_sparse_hessian(&x, &multipliers, &mut hess);
    let f = |x: &[_], multipliers: &Vec<_>| lagrangian(x, multipliers);
    let backend = SecondOrder(AutoForwardDiff::default(), AutoForwardDiff::default());
    let expected = hessian(&f, &backend, (&x, Parameter(&multipliers.to_vec()))).unwrap();
    let mut stored = 0.0;
    for i in 0..x.len() {
        let range = LAGRANGIAN_SPARSE_HESSIAN_STARTS[i] as usize..LAGRANGIAN_SPARSE_HESSIAN_STARTS[i + 1] as usize;
        for (entry, column) in hess[range.clone()].iter().zip(&LAGRANGIAN_SPARSE_HESSIAN_COLUMNS[range]) {
            assert!(close(*entry, expected[(i, *column as usize)]));
            stored += entry.abs();
        }
    }
    // No entry is missing.
    let all: f64 =
        (0..x.len()).flat_map(|i| (0..x.len()).map(move |j| (i, j))).map(|(i, j)| expected[(i, j)].abs()).sum();
    assert!(close(stored, all));
}
