//! Conversions of sparse results to matrices of other crates, each behind the feature of its name.

#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
use super::SparseMatrix;
#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
use differentiation_interface_core::scalar::Scalar;

#[cfg(feature = "faer")]
impl<S: Scalar> SparseMatrix<S> {
    /// A view of this matrix for `faer`. Nothing is copied.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # #[differentiable]
    /// # fn squares(y: &mut [f64], x: &[f64]) {
    /// #     for i in 0..y.len() {
    /// #         y[i] = x[i] * x[i];
    /// #     }
    /// # }
    /// let jac = jacobian(&in_place(Squares, 2), &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0, 3.0])?;
    /// let view = jac.as_faer();
    /// assert_eq!((view.nrows(), view.ncols(), view.get(1, 1)), (2, 3, Some(&4.0)));
    /// assert_eq!(view.val().as_ptr(), jac.values().as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_faer(&self) -> faer::sparse::SparseRowMatRef<'_, u32, S> {
        let (starts, columns, values) = self.csr();
        let symbolic =
            faer::sparse::SymbolicSparseRowMatRef::new_checked(self.rows(), self.columns(), starts, None, columns);
        faer::sparse::SparseRowMatRef::new(symbolic, values)
    }

    /// A matrix of `faer` with these entries. The values are moved, the pattern as by [`into_csr`](SparseMatrix::into_csr).
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # #[differentiable]
    /// # fn squares(y: &mut [f64], x: &[f64]) {
    /// #     for i in 0..y.len() {
    /// #         y[i] = x[i] * x[i];
    /// #     }
    /// # }
    /// let jac = jacobian(&in_place(Squares, 2), &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0, 3.0])?;
    /// let (columns, values) = (jac.csr().1.as_ptr(), jac.values().as_ptr());
    /// let owned = jac.into_faer();
    /// assert_eq!((owned.val(), owned.symbolic().col_idx()), (&[2.0, 4.0][..], &[0, 1][..]));
    /// // The preparation of a one-shot call is gone, so nothing was copied.
    /// assert_eq!((owned.symbolic().col_idx().as_ptr(), owned.val().as_ptr()), (columns, values));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_faer(self) -> faer::sparse::SparseRowMat<u32, S> {
        let (rows, columns) = (self.rows(), self.columns());
        let (starts, indices, values) = self.into_csr();
        let symbolic = faer::sparse::SymbolicSparseRowMat::new_checked(rows, columns, starts, None, indices);
        faer::sparse::SparseRowMat::new(symbolic, values)
    }
}

#[cfg(feature = "sprs")]
impl<S: Scalar> SparseMatrix<S> {
    /// A view of this matrix for `sprs`. Nothing is copied.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # #[differentiable]
    /// # fn squares(y: &mut [f64], x: &[f64]) {
    /// #     for i in 0..y.len() {
    /// #         y[i] = x[i] * x[i];
    /// #     }
    /// # }
    /// let jac = jacobian(&in_place(Squares, 2), &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0, 3.0])?;
    /// let view = jac.as_sprs();
    /// assert_eq!(view.shape(), (2, 3));
    /// assert_eq!((view.get(1, 1), view.get(1, 2)), (Some(&4.0), None));
    /// assert_eq!(view.data().as_ptr(), jac.values().as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_sprs(&self) -> sprs::CsMatViewI<'_, S, u32> {
        let (starts, columns, values) = self.csr();
        sprs::CsMatViewI::new((self.rows(), self.columns()), starts, columns, values)
    }

    /// A matrix of `sprs` with these entries. The values are moved, the pattern as by [`into_csr`](SparseMatrix::into_csr).
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # #[differentiable]
    /// # fn squares(y: &mut [f64], x: &[f64]) {
    /// #     for i in 0..y.len() {
    /// #         y[i] = x[i] * x[i];
    /// #     }
    /// # }
    /// let jac = jacobian(&in_place(Squares, 2), &AutoSparse::new(AutoForwardDiff::default()), &[1.0, 2.0, 3.0])?;
    /// let (columns, values) = (jac.csr().1.as_ptr(), jac.values().as_ptr());
    /// let owned = jac.into_sprs();
    /// assert_eq!((owned.shape(), owned.data()), ((2, 3), &[2.0, 4.0][..]));
    /// // The preparation of a one-shot call is gone, so nothing was copied.
    /// assert_eq!((owned.indices().as_ptr(), owned.data().as_ptr()), (columns, values));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_sprs(self) -> sprs::CsMatI<S, u32> {
        let shape = (self.rows(), self.columns());
        let (starts, indices, values) = self.into_csr();
        sprs::CsMatI::new(shape, starts, indices, values)
    }
}

#[cfg(feature = "nalgebra-sparse")]
impl<S: Scalar> SparseMatrix<S> {
    /// A matrix of `nalgebra-sparse` with these entries. The values are moved; the pattern is copied, because its indices are
    /// `usize` there and `u32` here.
    ///
    /// To fill such a matrix again and again, copy [`values`](SparseMatrix::values) to its `values_mut()`: the order is the same.
    ///
    /// # Example
    /// ```
    /// # use differentiation_interface::prelude::*;
    /// # #[differentiable]
    /// # fn squares(y: &mut [f64], x: &[f64]) {
    /// #     for i in 0..y.len() {
    /// #         y[i] = x[i] * x[i];
    /// #     }
    /// # }
    /// let f = in_place(Squares, 2);
    /// let mut prepared = prepare_jacobian(&f, &AutoSparse::new(AutoForwardDiff::default()), &[0.0; 3])?;
    /// let mut jac = prepared.jacobian(&[1.0, 2.0, 3.0])?;
    /// let mut other = jac.clone().into_nalgebra_sparse();
    /// assert_eq!((other.nrows(), other.ncols(), other.col_indices()), (2, 3, &[0, 1][..]));
    /// assert_eq!(other.values(), [2.0, 4.0]);
    /// prepared.jacobian_into(&mut jac, &[5.0, 6.0, 7.0])?;
    /// other.values_mut().copy_from_slice(jac.values());
    /// assert_eq!(other.values(), [10.0, 12.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_nalgebra_sparse(self) -> nalgebra_sparse::CsrMatrix<S> {
        let wide = |indices: &[u32]| indices.iter().map(|&i| i as usize).collect();
        let (starts, indices) = self.pattern.csr();
        let (starts, indices) = (wide(starts), wide(indices));
        nalgebra_sparse::CsrMatrix::try_from_csr_data(self.rows(), self.columns(), starts, indices, self.values)
            .expect("a pattern is a canonical compressed matrix")
    }
}
