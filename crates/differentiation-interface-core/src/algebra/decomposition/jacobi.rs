//! The singular value decomposition of a plain matrix by one-sided Jacobi rotations (Hestenes, 1958; Demmel and Veselić, Jacobi's method is more
//! accurate than QR, 1992).
//!
//! Called by `decomposition`. The iteration of nalgebra returns wrong factors of some matrices of low rank and of nearly diagonal ones. Here columns are rotated
//! in pairs until each pair is orthogonal; the lengths that remain are the singular values, small ones as accurate as large ones.

use crate::algebra::symmetric::columns::scale_of;
use nalgebra::DMatrix;

/// Rounds over all pairs after which the decomposition counts as failed. Matrices need about ten.
const MOST_ROUNDS: usize = 60;

/// Squares of lengths below this, where the largest entry is about 1, are taken as zero.
const NEGLIGIBLE: f64 = 1e-290;

/// Orthonormal U and V and descending σ ≥ 0 with A = U diag(σ) Vᵀ.
pub(super) struct Decomposition {
    pub(super) u: DMatrix<f64>,
    pub(super) values: Vec<f64>,
    pub(super) v: DMatrix<f64>,
}

/// Decomposes a matrix of finite entries.
pub(super) fn singular_values(a: DMatrix<f64>) -> Option<Decomposition> {
    if a.nrows() < a.ncols() {
        let Decomposition { u, values, v } = tall(a.transpose())?;
        return Some(Decomposition { u: v, values, v: u });
    }
    tall(a)
}

/// Decomposes a matrix with at least as many rows as columns.
fn tall(mut u: DMatrix<f64>) -> Option<Decomposition> {
    let n = u.ncols();
    let scale = scale_of(u.iter().copied());
    u /= scale;
    let mut v = DMatrix::identity(n, n);
    let mut is_done = false;
    for _ in 0..MOST_ROUNDS {
        is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                is_done &= !orthogonalise(&mut u, &mut v, p, q);
            }
        }
        if is_done {
            break;
        }
    }
    let lengths: Vec<f64> = u.column_iter().map(|column| column.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let mut sorted = DMatrix::zeros(u.nrows(), n);
    for (place, &i) in order.iter().enumerate() {
        let is_known = lengths[i] * lengths[i] >= NEGLIGIBLE;
        let column = if is_known { u.column(i) / lengths[i] } else { orthogonal_to(&sorted, place) };
        sorted.set_column(place, &column);
    }
    is_done.then(|| Decomposition {
        u: sorted,
        values: order.iter().map(|&i| lengths[i] * scale).collect(),
        v: DMatrix::from_fn(n, n, |row, place| v[(row, order[place])]),
    })
}

/// Rotates two columns of U, and those of V with them, so that the first two are orthogonal. Returns whether they were not.
fn orthogonalise(u: &mut DMatrix<f64>, v: &mut DMatrix<f64>, p: usize, q: usize) -> bool {
    let (a, b, product) = (u.column(p).norm_squared(), u.column(q).norm_squared(), u.column(p).dot(&u.column(q)));
    // Rounding leaves this much of the product. Columns that are zero but for rounding shrink in each round, until their squares are out of range.
    let rounding = f64::EPSILON * (u.nrows().max(4) as f64) * a.sqrt() * b.sqrt();
    if product.abs() <= rounding || a.min(b) < NEGLIGIBLE {
        return false;
    }
    let cotangent = (b - a) / (2.0 * product);
    let tangent = 1.0f64.copysign(cotangent) / (cotangent.abs() + cotangent.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    let sine = tangent * cosine;
    for matrix in [u, v] {
        for row in 0..matrix.nrows() {
            let (x, y) = (matrix[(row, p)], matrix[(row, q)]);
            matrix[(row, p)] = cosine * x - sine * y;
            matrix[(row, q)] = sine * x + cosine * y;
        }
    }
    true
}

/// A unit vector that is orthogonal to the first `count` columns.
fn orthogonal_to(columns: &DMatrix<f64>, count: usize) -> nalgebra::DVector<f64> {
    let known = columns.columns(0, count);
    let rest = |i: usize| {
        let mut vector = nalgebra::DVector::zeros(columns.nrows());
        vector[i] = 1.0;
        vector -= known * known.row(i).transpose();
        vector
    };
    // Of all directions that of the longest rest, at least √((rows - count)/rows), so that rounding stays small beside it.
    let all = (0..columns.nrows()).map(rest);
    let longest = all.max_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
    longest.map_or_else(|| nalgebra::DVector::zeros(columns.nrows()), |vector| vector.normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest entries of A - U Σ Vᵀ, over that of A, and of UᵀU - 1 and VᵀV - 1.
    fn errors(a: &DMatrix<f64>) -> [f64; 3] {
        let Decomposition { u, values, v } = singular_values(a.clone()).expect("the rotations converge");
        assert!(values.iter().all(|value| *value >= 0.0) && values.is_sorted_by(|a, b| a >= b));
        let k = values.len();
        let back = &u * DMatrix::from_diagonal(&values.into()) * v.transpose();
        let unit = DMatrix::identity(k, k);
        [
            (back - a).amax() / a.amax().max(f64::MIN_POSITIVE),
            (u.tr_mul(&u) - &unit).amax(),
            (v.tr_mul(&v) - unit).amax(),
        ]
    }

    #[test]
    fn all_kinds_of_matrices_are_decomposed() {
        let mut state = 1u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        for round in 0..3000 {
            let (m, n) = (1 + round % 6, 1 + round / 6 % 6);
            let (first, second): (Vec<f64>, Vec<f64>) =
                ((0..m).map(|_| next()).collect(), (0..n).map(|_| next()).collect());
            let kinds = [
                DMatrix::from_fn(m, n, |_, _| next()),
                DMatrix::from_fn(m, n, |i, j| first[i] * second[j]),
                DMatrix::from_fn(m, n, |i, j| (first[i] * 9.0).round() * (second[j] * 9.0).round()),
                DMatrix::from_fn(m, n, |i, j| if i == j { 1.0 + i as f64 } else { 1e-15 * next() }),
                DMatrix::from_fn(m, n, |i, j| if i == j { 2.0 + i as f64 } else { 1e-8 * next() }),
                DMatrix::from_fn(m, n, |_, _| (next() * 1.4).round()),
                DMatrix::from_fn(m, n, |i, _| next() * 10f64.powi(-8 * i as i32)),
                DMatrix::from_fn(m, n, |_, _| next() * 1e300),
                DMatrix::from_fn(m, n, |_, _| next() * 1e-300),
                DMatrix::zeros(m, n),
            ];
            for (kind, a) in kinds.iter().enumerate() {
                let found = errors(a);
                assert!(found.iter().all(|error| *error < 1e-14), "kind {kind}: {found:?} of {a}");
            }
        }
    }
}
