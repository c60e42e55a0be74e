//! The shapes of products, and the structures of the matrices of linear systems.
//!
//! Read by the rules and by the operations on doubles.

use crate::scalar::{Base, Scalar};

/// C = op(A) op(B) of sizes m x k and k x n, where op is the identity or the transpose. The argument of the rule is A, then B, by columns.
#[derive(Clone, Copy, Hash)]
pub(super) struct Product {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) left_transposed: bool,
    pub(super) right_transposed: bool,
}

impl Product {
    /// A product without transposes.
    pub(super) fn of(m: usize, k: usize, n: usize) -> Self {
        Product { m, k, n, left_transposed: false, right_transposed: false }
    }
    /// The same with transposes.
    pub(super) fn transposed(self, left_transposed: bool, right_transposed: bool) -> Self {
        Product { left_transposed, right_transposed, ..self }
    }

    /// The cotangent of A as a product of B and the cotangent of C, and whether the latter is the left factor.
    pub(super) fn adjoint_of_left(self) -> (Product, bool) {
        let Product { m, k, n, left_transposed, right_transposed } = self;
        match left_transposed {
            false => (Product::of(m, n, k).transposed(false, !right_transposed), true),
            true => (Product::of(k, n, m).transposed(right_transposed, true), false),
        }
    }
    /// The cotangent of B as a product of A and the cotangent of C, and whether the latter is the left factor.
    pub(super) fn adjoint_of_right(self) -> (Product, bool) {
        let Product { m, k, n, left_transposed, right_transposed } = self;
        match right_transposed {
            false => (Product::of(k, m, n).transposed(!left_transposed, false), false),
            true => (Product::of(n, m, k).transposed(true, left_transposed), true),
        }
    }
}

/// The part M(A) of a square matrix A that an operation uses, and how it is factored. M is an orthogonal projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Structure {
    /// The matrix, by LU with partial pivoting.
    General,
    /// The symmetric part, by Cholesky.
    Definite,
    /// The lower triangle.
    Lower,
    /// The upper triangle.
    Upper,
}

impl Structure {
    /// Replaces a matrix by its part.
    pub(super) fn project<S: Scalar>(self, n: usize, matrix: &mut [S]) {
        if self == Structure::General {
            return;
        }
        let half = S::Base::from_f64(0.5);
        for j in 0..n {
            for i in 0..j {
                let (upper, lower) = (i + n * j, j + n * i);
                match self {
                    Structure::General => {}
                    Structure::Definite => {
                        let mean = (matrix[upper] + matrix[lower]).scale(half);
                        (matrix[upper], matrix[lower]) = (mean, mean);
                    }
                    Structure::Lower => matrix[upper] = S::default(),
                    Structure::Upper => matrix[lower] = S::default(),
                }
            }
        }
    }
}
