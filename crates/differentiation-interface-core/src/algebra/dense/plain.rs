//! The operations on doubles, by `faer`, and the factorisation that a rule keeps.
//!
//! Called by the rules of this folder where their numbers are plain. Numbers of single precision are converted and back.

use super::shapes::Product;
use super::shapes::Structure;
use crate::algebra::vector_state::release_upper_halves;
use crate::recordings::EngineScalar;
use crate::scalar::{Base, Scalar};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{Llt, PartialPivLu, Solve, Svd};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par, Side};
use libm::{frexp, ldexp};
use std::sync::{Arc, Mutex, OnceLock};

/// Runs `code` on doubles if `S` is a plain number, and returns whether it did.
pub(crate) fn on_doubles<S: Scalar>(inputs: &[&[S]], out: &mut [S], code: impl FnOnce(&[&[f64]], &mut [f64])) -> bool {
    if S::DEPTH > 0 {
        return false;
    }
    if S::Base::IS_DOUBLE
        && let Some(inputs) = S::as_plain(inputs).and_then(S::Base::as_doubles)
        && let Some([out]) = S::as_plain_mut(&mut [&mut *out]).and_then(S::Base::as_doubles_mut)
    {
        code(inputs, out);
        release_upper_halves();
        return true;
    }
    let copies: Vec<Vec<f64>> = inputs.iter().map(|input| doubles(input)).collect();
    let slices: Vec<&[f64]> = copies.iter().map(Vec::as_slice).collect();
    let mut result = vec![0.0; out.len()];
    code(&slices, &mut result);
    release_upper_halves();
    for (out, value) in out.iter_mut().zip(result) {
        *out = S::constant(S::Base::from_f64(value));
    }
    true
}

/// The plain values as doubles.
fn doubles<S: Scalar>(numbers: &[S]) -> Vec<f64> {
    numbers.iter().map(|v| v.peek().as_f64()).collect()
}

/// A matrix by columns, or its transpose.
fn view(entries: &[f64], rows: usize, columns: usize, transposed: bool) -> MatRef<'_, f64> {
    if transposed {
        MatRef::from_column_major_slice(entries, columns, rows).transpose()
    } else {
        MatRef::from_column_major_slice(entries, rows, columns)
    }
}

/// Fills `out` with a product.
pub(super) fn multiply(shape: Product, left: &[f64], right: &[f64], out: &mut [f64]) {
    let Product { m, k, n, left_transposed, right_transposed } = shape;
    let (left, right) = (view(left, m, k, left_transposed), view(right, k, n, right_transposed));
    matmul(MatMut::from_column_major_slice_mut(out, m, n), Accum::Replace, left, right, 1.0, Par::Seq);
}

/// Eigenvalues and eigenvectors, by columns, of a symmetric matrix of finite entries; `None` if the iteration fails.
pub(super) fn symmetric_eigen(n: usize, a: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let eigen = view(a, n, n, false).self_adjoint_eigen(Side::Lower);
    release_upper_halves();
    let eigen = eigen.ok()?;
    let vectors = eigen.U();
    let columns = (0..n).flat_map(|j| (0..n).map(move |i| vectors[(i, j)]));
    Some((eigen.S().column_vector().iter().copied().collect(), columns.collect()))
}

/// A matrix ready for solutions.
pub(super) struct Factors {
    /// The entries it was made from.
    matrix: Vec<f64>,
    n: usize,
    kind: Kind,
    inverse: OnceLock<Vec<f64>>,
    cofactors: OnceLock<Vec<f64>>,
    frame: OnceLock<Option<Frame>>,
}

impl Factors {
    /// Whether they are those of this matrix, to the bit.
    fn are_of(&self, n: usize, matrix: &[f64]) -> bool {
        let bits = |v: &f64| v.to_bits();
        self.n == n && self.matrix.iter().map(bits).eq(matrix.iter().map(bits))
    }
}

/// Singular vectors, by columns, and values: A = U Σ Vᵀ.
pub(super) struct Frame {
    pub(super) u: Vec<f64>,
    pub(super) v: Vec<f64>,
    values: Vec<f64>,
    /// det U det V.
    sign: f64,
}

impl Frame {
    /// det U det V times the product of all singular values but the `i`-th and the `j`-th.
    pub(super) fn others(&self, i: usize, j: usize) -> f64 {
        let others = self.values.iter().enumerate().filter(|(k, _)| *k != i && *k != j).map(|(_, value)| *value);
        Scaled::product(others).times(self.sign)
    }
}

enum Kind {
    Lu(PartialPivLu<f64>),
    /// `None` if the matrix is not positive definite.
    Cholesky(Option<Llt<f64>>),
    /// A triangle of the matrix itself.
    Triangle {
        lower: bool,
    },
}

impl Factors {
    fn new(n: usize, structure: Structure, matrix: &[f64]) -> Self {
        let kind = match structure {
            Structure::General => Kind::Lu(PartialPivLu::new(view(matrix, n, n, false))),
            Structure::Definite => {
                let mut symmetric = matrix.to_vec();
                structure.project(n, &mut symmetric);
                Kind::Cholesky(Llt::new(view(&symmetric, n, n, false), Side::Lower).ok())
            }
            Structure::Lower => Kind::Triangle { lower: true },
            Structure::Upper => Kind::Triangle { lower: false },
        };
        release_upper_halves();
        Factors {
            matrix: matrix.to_vec(),
            n,
            kind,
            inverse: OnceLock::new(),
            cofactors: OnceLock::new(),
            frame: OnceLock::new(),
        }
    }

    /// Fills `out` with the solution for the right side `b`, by the matrix or its transpose.
    pub(super) fn solve(&self, transposed: bool, b: &[f64], out: &mut [f64]) {
        if self.n == 0 {
            return;
        }
        out.copy_from_slice(b);
        let columns = b.len() / self.n;
        let mut x = MatMut::from_column_major_slice_mut(out, self.n, columns);
        match &self.kind {
            Kind::Lu(lu) if transposed => lu.solve_transpose_in_place(x),
            Kind::Lu(lu) => lu.solve_in_place(x),
            Kind::Cholesky(Some(factor)) => factor.solve_in_place(x),
            Kind::Cholesky(None) => x.fill(f64::NAN),
            Kind::Triangle { lower } => {
                let matrix = view(&self.matrix, self.n, self.n, transposed);
                if *lower != transposed {
                    solve_lower_triangular_in_place(matrix, x, Par::Seq);
                } else {
                    solve_upper_triangular_in_place(matrix, x, Par::Seq);
                }
            }
        }
    }

    /// The inverse.
    pub(super) fn inverse(&self) -> &[f64] {
        self.inverse.get_or_init(|| {
            let n = self.n;
            let (mut unit, mut inverse) = (vec![0.0; n * n], vec![0.0; n * n]);
            unit.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
            self.solve(false, &unit, &mut inverse);
            inverse
        })
    }

    /// The diagonal of the triangular factor: the determinant is ± its product, or for a Cholesky factor the square of its product.
    fn diagonal(&self) -> Vec<f64> {
        let of = |matrix: MatRef<'_, f64>| -> Vec<f64> { (0..self.n).map(|i| matrix[(i, i)]).collect() };
        match &self.kind {
            Kind::Lu(lu) => {
                let mut diagonal = of(lu.U());
                // A column that is zero below the diagonal ends the elimination: faer has divided by its pivot, and all after it is NaN.
                if let Some(end) = diagonal.iter().position(|pivot| *pivot == 0.0)
                    && self.matrix.iter().all(|entry| entry.is_finite())
                {
                    diagonal[end + 1..].fill(1.0);
                }
                diagonal
            }
            Kind::Cholesky(Some(factor)) => {
                let diagonal = of(factor.L());
                diagonal.iter().map(|v| v * v).collect()
            }
            Kind::Cholesky(None) => vec![f64::NAN; self.n.max(1)],
            Kind::Triangle { .. } => of(view(&self.matrix, self.n, self.n, false)),
        }
    }

    /// The sign of the row permutation.
    fn parity(&self) -> f64 {
        let Kind::Lu(lu) = &self.kind else { return 1.0 };
        let (forward, _) = lu.P().arrays();
        let (mut seen, mut parity) = (vec![false; self.n], 1.0);
        for start in 0..self.n {
            // A cycle of even length changes the sign.
            let (mut at, mut length) = (start, 0);
            while !std::mem::replace(&mut seen[at], true) {
                at = forward[at];
                length += 1;
            }
            if length > 0 && length % 2 == 0 {
                parity = -parity;
            }
        }
        parity
    }

    /// The determinant.
    pub(super) fn determinant(&self) -> f64 {
        Scaled::product(self.diagonal()).times(self.parity())
    }

    /// The matrix of cofactors, the gradient of the determinant: det A · A⁻ᵀ where there is an inverse.
    pub(super) fn cofactors(&self) -> &[f64] {
        self.cofactors.get_or_init(|| {
            let n = self.n;
            let diagonal = self.diagonal();
            let inverse = self.inverse();
            if diagonal.contains(&0.0) || inverse.iter().any(|entry| !entry.is_finite()) {
                return self.cofactors_of_singular();
            }
            let determinant = Scaled::product(diagonal);
            let parity = self.parity();
            (0..n * n).map(|at| determinant.times(parity * inverse[at / n + n * (at % n)])).collect()
        })
    }

    /// The singular value decomposition; `None` if the matrix has none, being not finite.
    pub(super) fn frame(&self) -> Option<&Frame> {
        let frame = self.frame.get_or_init(|| {
            let n = self.n;
            let svd = Svd::new(view(&self.matrix, n, n, false)).ok()?;
            let by_columns = |m: MatRef<'_, f64>| (0..n * n).map(|at| m[(at % n, at / n)]).collect();
            Some(Frame {
                u: by_columns(svd.U()),
                v: by_columns(svd.V()),
                values: svd.S().column_vector().iter().copied().collect(),
                sign: (svd.U().determinant() * svd.V().determinant()).signum(),
            })
        });
        frame.as_ref()
    }

    /// Whether the smallest pivot is at most `ratio` times the largest, or a pivot is no number. That ratio is near the reciprocal of the condition number,
    /// which may be smaller.
    pub(super) fn is_singular(&self, ratio: f64) -> bool {
        let pivots = self.diagonal();
        let largest = pivots.iter().fold(0.0_f64, |largest, pivot| largest.max(pivot.abs()));
        // Beside an infinite pivot, `ratio * largest` may be NaN.
        pivots.iter().any(|pivot| pivot.is_nan() || *pivot == 0.0 || pivot.abs() <= ratio * largest)
    }

    /// The same from singular values: det U det V Σᵢ uᵢ vᵢᵀ Πⱼ≠ᵢ σⱼ.
    fn cofactors_of_singular(&self) -> Vec<f64> {
        let n = self.n;
        let Some(frame) = self.frame() else { return vec![f64::NAN; n * n] };
        let mut cofactors = vec![0.0; n * n];
        for i in 0..n {
            let others = frame.others(i, i);
            for (at, entry) in cofactors.iter_mut().enumerate() {
                *entry += others * frame.u[at % n + n * i] * frame.v[at / n + n * i];
            }
        }
        cofactors
    }

    /// The logarithm of its absolute value, and its sign.
    pub(super) fn ln_determinant(&self) -> (f64, f64) {
        let (mut sum, mut sign) = (0.0, self.parity());
        for entry in self.diagonal() {
            sum += entry.abs().ln();
            sign *= if entry == 0.0 { 0.0 } else { entry.signum() };
        }
        (sum, sign)
    }
}

/// A number as a mantissa and a power of two, which may be outside of the range of `f64`.
struct Scaled {
    mantissa: f64,
    exponent: i32,
}

impl Scaled {
    fn product(factors: impl IntoIterator<Item = f64>) -> Scaled {
        factors.into_iter().fold(Scaled { mantissa: 1.0, exponent: 0 }, |product, factor| {
            let (of_factor, power) = frexp(factor);
            let (mantissa, carry) = frexp(product.mantissa * of_factor);
            Scaled { mantissa, exponent: product.exponent + power + carry }
        })
    }

    /// The product with a number, rounded to `f64`.
    fn times(&self, factor: f64) -> f64 {
        let (of_factor, power) = frexp(factor);
        ldexp(self.mantissa * of_factor, self.exponent + power)
    }
}

/// The factors of the matrix of the last call, shared by a rule and the rules of its derivatives.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Option<Arc<Factors>>>);

impl Kept {
    /// Whether a matrix has no inverse.
    pub(crate) fn is_singular(&self, n: usize, structure: Structure, matrix: &[f64]) -> bool {
        self.factors(n, structure, matrix).is_singular(0.0)
    }
    /// The factors of a matrix. A thread that finds the memory in use by another factors the matrix for itself.
    pub(super) fn factors(&self, n: usize, structure: Structure, matrix: &[f64]) -> Arc<Factors> {
        let held = self.0.try_lock();
        if let Ok(held) = &held
            && let Some(factors) = held.as_ref().filter(|factors| factors.are_of(n, matrix))
        {
            return Arc::clone(factors);
        }
        let factors = Arc::new(Factors::new(n, structure, matrix));
        if let Ok(mut held) = held {
            *held = Some(Arc::clone(&factors));
        }
        factors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_factored_once_until_another_comes() {
        let kept = Kept::default();
        let (a, b) = ([2.0, 1.0, 0.0, 4.0], [2.0, 1.0, 0.5, 4.0]);
        let of = |matrix: &[f64]| kept.factors(2, Structure::General, matrix);
        let first = of(&a);
        assert!(Arc::ptr_eq(&first, &of(&a)));
        let other = of(&b);
        assert_eq!((first.determinant(), other.determinant()), (8.0, 7.5));
        assert!(Arc::ptr_eq(&other, &of(&b)) && !Arc::ptr_eq(&first, &of(&a)));
    }

    /// While a thread uses the memory, another one factors for itself.
    #[test]
    fn memory_in_use_is_not_waited_for() {
        let kept = Kept::default();
        let held = kept.0.lock().unwrap();
        assert_eq!(kept.factors(1, Structure::Definite, &[9.0]).determinant(), 9.0);
        assert!(held.is_none());
    }

    #[test]
    fn the_determinant_has_the_sign_of_the_permutation() {
        // Each permutation of three rows, by its images.
        for (images, sign) in
            [([0, 1, 2], 1.0), ([1, 0, 2], -1.0), ([1, 2, 0], 1.0), ([2, 0, 1], 1.0), ([2, 1, 0], -1.0)]
        {
            let matrix: Vec<f64> = (0..9).map(|at| f64::from(u8::from(images[at / 3] == at % 3))).collect();
            let factors = Factors::new(3, Structure::General, &matrix);
            assert_eq!((factors.determinant(), factors.ln_determinant()), (sign, (0.0, sign)), "{images:?}");
        }
    }
}
