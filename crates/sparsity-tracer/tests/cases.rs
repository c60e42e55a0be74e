//! Every row of the reference data: patterns for all points, at points, and refusals.
//!
//! `data/sparsity-cases.json` and the `sct.*` rows of the operators' cases. The functions are written here, once each, over
//! any scalar; a row without a function fails.

mod functions;
mod generators;

use serde_json::Value;
use sparsity_tracer::{
    Error, ErrorKind, Pattern, TracerLocalSparsityDetector, TracerSparsityDetector, hessian_sparsity, jacobian_sparsity,
};

type Rows = Vec<Vec<usize>>;

fn rows(pattern: &Pattern) -> Rows {
    (0..pattern.nrows()).map(|i| pattern.row(i).iter().map(|&j| j as usize).collect()).collect()
}

fn lists(value: &Value) -> Rows {
    let numbers = |row: &Value| row.as_array().unwrap().iter().map(|j| j.as_u64().unwrap() as usize).collect();
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn dense(value: &Value) -> Rows {
    let nonzeros = |row: &Value| {
        let row = row.as_array().unwrap();
        (0..row.len()).filter(|&j| row[j].as_u64() == Some(1)).collect()
    };
    value.as_array().unwrap().iter().map(nonzeros).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn is_within(small: &Rows, large: &Rows) -> bool {
    small.len() == large.len() && small.iter().zip(large).all(|(a, b)| a.iter().all(|j| b.contains(j)))
}

fn global(id: &str, hessian: bool, n: usize) -> Result<Rows, Error> {
    let (x, detector) = (vec![f64::NAN; n], TracerSparsityDetector);
    let pattern = if hessian {
        hessian_sparsity(&|x: &[_]| functions::call(id, x)[0], &detector, &x)
    } else {
        jacobian_sparsity(&|x: &[_]| functions::call(id, x), &detector, &x)
    };
    pattern.map(|p| rows(&p))
}

fn local(id: &str, hessian: bool, x: &[f64]) -> Rows {
    let detector = TracerLocalSparsityDetector;
    let pattern = if hessian {
        hessian_sparsity(&|x: &[_]| functions::call(id, x)[0], &detector, x)
    } else {
        jacobian_sparsity(&|x: &[_]| functions::call(id, x), &detector, x)
    };
    rows(&pattern.unwrap())
}

#[test]
fn reference_patterns() {
    let data: Value = serde_json::from_str(include_str!("data/sparsity-cases.json")).unwrap();
    let mut failures = Vec::new();
    let (mut cases, mut points) = (0, 0);
    for case in data["cases"].as_array().unwrap() {
        cases += 1;
        let id = case["id"].as_str().unwrap();
        let hessian = case["kind"] == "hessian";
        let found = global(id, hessian, case["n"].as_u64().unwrap() as usize);
        match (&found, case["global"] == "error") {
            (Err(error), true) if matches!(error.kind(), ErrorKind::ValueDecides { .. }) => {}
            (Ok(found), false) if *found == lists(&case["global"]) => {}
            _ => failures.push(format!("{id}: global pattern is {found:?}, expected {}", case["global"])),
        }
        for point in case["local"].as_array().unwrap() {
            points += 1;
            let x = numbers(&point["x"]);
            let found = local(id, hessian, &x);
            let most = lists(&point["pattern"]);
            let least = if point["min"].is_null() { most.clone() } else { lists(&point["min"]) };
            if !is_within(&least, &found) || !is_within(&found, &most) {
                failures.push(format!("{id}: pattern at {x:?} is {found:?}, expected {least:?} to {most:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((cases, points), (74, 118));
}

#[test]
fn patterns_of_sparse_connectivity_tracer() {
    let data: Value = serde_json::from_str(include_str!("data/sct-cases.json")).unwrap();
    let mut failures = Vec::new();
    for case in data.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let kind = case["kind"].as_str().unwrap();
        let hessian = kind.starts_with("hessian");
        let input = &case["input"];
        let found = if kind.ends_with("local") {
            Ok(local(name, hessian, &numbers(&input["x"])))
        } else {
            global(name, hessian, input["n"].as_u64().unwrap() as usize)
        };
        let expected = &case["expected"];
        if kind == "error" {
            if !matches!(&found, Err(error) if matches!(error.kind(), ErrorKind::ValueDecides { .. })) {
                failures.push(format!("{name}: {found:?}, expected a refusal"));
            }
            continue;
        }
        let found = found.unwrap();
        let right = match name {
            "sct.brusselator6" => {
                found.iter().map(Vec::len).all(|n| n as u64 == expected["nnz_per_row"].as_u64().unwrap())
            }
            "sct.det_diagonal" => {
                let pairs = lists(&expected["hessian_nonzeros"]);
                let entry = |i: usize, j: usize| pairs.iter().any(|p| *p == [i + 1, j + 1] || *p == [j + 1, i + 1]);
                found == (0..9).map(|i| (0..9).filter(|&j| entry(i, j)).collect()).collect::<Rows>()
            }
            _ => found == dense(expected),
        };
        if !right {
            failures.push(format!("{name}: {found:?}, expected {expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
