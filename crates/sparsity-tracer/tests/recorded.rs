//! Patterns read off a recording against those of the tracer, on the reference cases.
//!
//! The detectors are those of `differentiation_interface::sparse`; they run the recording on this crate's tracers.

mod functions;
mod generators;

use differentiation_interface::prelude::Real;
use differentiation_interface::sparse::{GraphLocalSparsityDetector, GraphSparsityDetector};
use num_traits::Float;
use serde_json::Value;
use sparsity_tracer::{
    Error, ErrorKind, Pattern, SparsityDetector, TracerLocalSparsityDetector, TracerSparsityDetector, hessian_sparsity,
    jacobian_sparsity,
};

fn detect<D>(detector: &D, id: &str, hessian: bool, x: &[f64]) -> Result<Pattern, Error>
where
    D: SparsityDetector,
    D::JacobianNum<f64>: Real,
    D::HessianNum<f64>: Real,
{
    if hessian {
        hessian_sparsity(&|x: &[_]| functions::call(id, x)[0], detector, x)
    } else {
        jacobian_sparsity(&|x: &[_]| functions::call(id, x), detector, x)
    }
}

fn is_within(small: &Pattern, large: &Pattern) -> bool {
    (small.nrows(), small.ncols()) == (large.nrows(), large.ncols())
        && small.entries().all(|(i, j)| large.contains(i, j))
}

/// Every case of both files: name, whether it is for a Hessian, length of the point, and the points with known patterns.
fn cases() -> Vec<(String, bool, usize, Vec<Vec<f64>>)> {
    let read = |text| serde_json::from_str::<Value>(text).expect("the file is JSON");
    let numbers = |x: &Value| x.as_array().expect("a point").iter().map(|v| v.as_f64().expect("a number")).collect();
    let name = |value: &Value| value.as_str().expect("a name").to_owned();
    let own = read(include_str!("data/sparsity-cases.json"));
    let own = own["cases"].as_array().expect("cases").iter().map(|case| {
        let points = case["local"].as_array().expect("points").iter().map(|point| numbers(&point["x"])).collect();
        (name(&case["id"]), case["kind"] == "hessian", case["n"].as_u64().expect("a length") as usize, points)
    });
    let others = read(include_str!("data/sct-cases.json"));
    let others = others.as_array().expect("cases").iter().map(|case| {
        let input = &case["input"];
        let point: Option<Vec<f64>> = (!input["x"].is_null()).then(|| numbers(&input["x"]));
        let n = point.as_ref().map_or_else(|| input["n"].as_u64().expect("a length") as usize, Vec::len);
        (name(&case["name"]), name(&case["kind"]).starts_with("hessian"), n, point.into_iter().collect())
    });
    own.chain(others).collect()
}

#[test]
fn recordings_have_the_patterns_of_the_tracer() {
    let (mut equal, mut refused, mut points) = (0, 0, 0);
    for (id, hessian, n, at) in cases() {
        let everywhere = detect(&TracerSparsityDetector, &id, hessian, &vec![f64::NAN; n]);
        let recorded = detect(&GraphSparsityDetector, &id, hessian, &vec![0.75; n]);
        match (&everywhere, &recorded) {
            (Ok(everywhere), Ok(recorded)) => {
                equal += 1;
                assert_eq!(recorded, everywhere, "{id}");
            }
            (Err(everywhere), Err(recorded)) => {
                refused += 1;
                // Both name the same line, at which the function branches.
                assert_eq!(recorded.kind(), everywhere.kind(), "{id}");
                assert!(matches!(recorded.kind(), ErrorKind::ValueDecides { .. }), "{id}");
            }
            _ => panic!("{id}: {everywhere:?} by the tracer, {recorded:?} by the recording"),
        }
        for x in at {
            points += 1;
            let branch = detect(&GraphLocalSparsityDetector, &id, hessian, &x).expect("every branch is taken");
            let here = detect(&TracerLocalSparsityDetector, &id, hessian, &x).expect("every branch is taken");
            assert!(is_within(&here, &branch), "{id} at {x:?}: {branch:?} lacks entries of {here:?}");
            if let Ok(everywhere) = &everywhere {
                assert_eq!(&branch, everywhere, "{id} at {x:?}");
            }
        }
    }
    assert_eq!((equal, refused, points), (113, 5, 132));
}

#[test]
fn generated_functions_have_the_patterns_of_the_tracer() {
    for n in [3, 6, 32] {
        let (f, x) = (|x: &[_]| generators::brusselator(x, n), vec![1.0; 2 * n * n]);
        let recorded = jacobian_sparsity(&f, &GraphSparsityDetector, &x).expect("it does not branch");
        let f = |x: &[_]| generators::brusselator(x, n);
        assert_eq!(Ok(&recorded), jacobian_sparsity(&f, &TracerSparsityDetector, &x).as_ref());
        assert_eq!((recorded.nrows(), recorded.nnz() / (2 * n * n)), (2 * n * n, 6));
    }
    let (f, x) = (|x: &[_]| generators::conv2d(x, 28, 28, 3, 2, 3), vec![1.0; 2352]);
    assert_eq!(jacobian_sparsity(&f, &GraphSparsityDetector, &x).expect("it does not branch").nnz(), 36504);
    for steps in [1, 5, 60] {
        let f = |x: &[_]| (0..steps).fold(x.to_vec(), |u, _| generators::euler(&u));
        assert_eq!(
            jacobian_sparsity(&f, &GraphSparsityDetector, &vec![1.0; 50]),
            Ok(Pattern::banded(50, steps).unwrap())
        );
    }
    // Dense: (Σ x)²; bordered: x₀ Σ x; a product of many factors.
    let (n, x) = (90, vec![1.0; 90]);
    let hessian = |f: &dyn Fn(&[Recorded]) -> Recorded| {
        hessian_sparsity(&|x: &[_]| f(x), &GraphSparsityDetector, &x).expect("it does not branch")
    };
    assert_eq!(hessian(&|x| x.iter().sum::<Recorded>().powi(2)), Pattern::dense(n, n).unwrap());
    let bordered = Pattern::from_fn(n, n, |i, j| (i == 0) != (j == 0)).unwrap();
    assert_eq!(hessian(&|x| x[0] * x[1..].iter().sum::<Recorded>()), bordered);
    assert_eq!(hessian(&|x| x.iter().product()), Pattern::from_fn(n, n, |i, j| i != j).unwrap());
}

type Recorded = <GraphSparsityDetector as SparsityDetector>::JacobianNum<f64>;
