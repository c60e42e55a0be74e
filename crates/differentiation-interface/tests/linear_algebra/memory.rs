//! The memory of functions with large matrices stays with the process between calls.

use differentiation_interface::algebra::dense::matmul;
use differentiation_interface::prelude::*;
use faer::Mat;

const ROWS: usize = 200;
const COLUMNS: usize = 40;

/// Σᵢⱼ Dᵢⱼ², with D = C B for a matrix C of `ROWS` rows whose columns are all x, and B the identity.
fn squares<T: Real>(x: &[T]) -> T {
    let unit = |i, j| if i == j { T::one() } else { T::zero() };
    let product = matmul(&Mat::from_fn(ROWS, COLUMNS, |i, _| x[i]), &Mat::from_fn(COLUMNS, COLUMNS, unit));
    product.col_iter().flat_map(|column| column.iter()).map(|v| *v * *v).sum()
}

/// How many pages the system has given to this thread so far, by `proc_pid_stat(5)`: `minflt` is the eighth field after the name in parentheses.
fn pages() -> usize {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    stat[stat.rfind(')').unwrap() + 1..].split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn calls_take_no_pages_from_the_system() {
    let x: Vec<f64> = (0..ROWS).map(|i| 1.0 + i as f64).collect();
    let f = |x: &[_]| squares(x);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::tape(), &x).unwrap();
    let mut grad = vec![0.0; ROWS];
    let mut call = || {
        let before = pages();
        prepared.gradient_into(&mut grad, &x).unwrap();
        assert!(grad.iter().zip(&x).all(|(g, x)| *g == 2.0 * COLUMNS as f64 * x));
        pages() - before
    };
    // The numbers of one matrix take 47 pages; without `keep_for` a call takes 228.
    let least = (0..12).map(|_| call()).min().unwrap();
    assert!(least < 40, "{least} pages in a call");
}
