//! The plain decomposition of a symmetric matrix, block by block.
//!
//! Rows that no entry joins are decomposed apart, each block in the middle of the range of numbers: a diagonal is its own eigenvalues, to the bit, and a small block
//! beside a large one keeps its digits.

use super::columns::scale_of;

/// What decomposes plain symmetric matrices.
pub(in crate::algebra) trait Decomposer: Send + Sync + 'static {
    /// Eigenvalues in any order, and eigenvectors by columns, of a symmetric matrix of finite entries by columns; `None` if it fails.
    fn decompose(n: usize, a: Vec<f64>) -> Option<(Vec<f64>, Vec<f64>)>;
}

/// An eigenvalue with its vector.
pub(super) struct Eigenpair {
    pub(super) value: f64,
    pub(super) vector: Vec<f64>,
    /// How far rounding may have moved the value.
    error: f64,
}

/// The eigenpairs of a matrix of finite entries by columns, ascending; `None` if the iteration fails. Values that may be equal but for rounding are made equal, so
/// that the derivatives of their vectors are not finite, in place of a quotient of rounding errors.
pub(super) fn eigenpairs<D: Decomposer>(n: usize, a: &[f64]) -> Option<Vec<Eigenpair>> {
    let mut pairs = Vec::with_capacity(n);
    for block in blocks(n, a) {
        match block[..] {
            [i] => pairs.push(Eigenpair { value: a[i + n * i], vector: unit(n, i), error: 0.0 }),
            _ => of_block::<D>(n, a, &block, &mut pairs)?,
        }
    }
    pairs.sort_by(|a, b| a.value.total_cmp(&b.value));
    let mut first = 0;
    for at in 1..n {
        let apart = pairs[at].value - pairs[first].value;
        if apart <= pairs[at].error + pairs[first].error {
            pairs[at].value = pairs[first].value;
        } else {
            first = at;
        }
    }
    Some(pairs)
}

fn unit(n: usize, i: usize) -> Vec<f64> {
    let mut vector = vec![0.0; n];
    vector[i] = 1.0;
    vector
}

/// The rows of each block, which entries join, in ascending order.
fn blocks(n: usize, a: &[f64]) -> Vec<Vec<usize>> {
    let (mut is_known, mut blocks) = (vec![false; n], Vec::new());
    for start in 0..n {
        if is_known[start] {
            continue;
        }
        is_known[start] = true;
        let (mut block, mut next) = (vec![start], 0);
        while let Some(&i) = block.get(next) {
            next += 1;
            for j in 0..n {
                if !is_known[j] && a[i + n * j] != 0.0 {
                    is_known[j] = true;
                    block.push(j);
                }
            }
        }
        block.sort_unstable();
        blocks.push(block);
    }
    blocks
}

/// Appends the eigenpairs of a block of several rows.
fn of_block<D: Decomposer>(n: usize, a: &[f64], block: &[usize], pairs: &mut Vec<Eigenpair>) -> Option<()> {
    let entries = || block.iter().flat_map(|j| block.iter().map(move |i| a[i + n * j]));
    let scale = scale_of(entries());
    let (values, vectors) = D::decompose(block.len(), entries().map(|v| v / scale).collect())?;
    let size = values.iter().fold(0.0, |size: f64, v| size.max(v.abs())) * scale;
    for (value, own) in values.iter().zip(vectors.chunks_exact(block.len())) {
        let mut vector = vec![0.0; n];
        block.iter().zip(own).for_each(|(i, v)| vector[*i] = *v);
        let error = 2.0 * f64::EPSILON * block.len() as f64 * size;
        pairs.push(Eigenpair { value: value * scale, vector, error });
    }
    Some(())
}
