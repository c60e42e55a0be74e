//! Scenarios at views of matrices of other crates, whose numbers lie apart: between them is NaN, which no result may contain.
//!
//! The functions are those of [`containers`](super::containers) at matrices.

#![cfg(any(feature = "nalgebra", feature = "ndarray", feature = "faer"))]

use super::containers::{AtPoint, at, numbers, points};
use super::formula::Formula;
use crate::arguments::OwnedView;
use crate::point::OwnedPoint;
use differentiation_interface_core::container::{Container, to_flat};

/// Memory in which NaN follows so many numbers each.
fn spread(numbers: &[f64], run: usize) -> &'static [f64] {
    let runs = numbers.chunks(run).flat_map(|run| run.iter().copied().chain([f64::NAN]));
    runs.collect::<Vec<f64>>().leak()
}

/// The scenarios at views of these shapes.
fn at_view<V>(name: &str, like: &V, other: &V, make: fn(&V, &[f64]) -> V) -> AtPoint<OwnedView<V>>
where
    V: Container<Scalar = f64>,
    OwnedView<V>: OwnedPoint,
{
    let view = |like: &V, first: f64, _: bool| OwnedView::new(like, &numbers(to_flat(like).len(), first), make);
    at(name, [Formula::Cubes, Formula::Squares], points(like, Some(other), view))
}

#[cfg(feature = "nalgebra")]
mod of_nalgebra {
    use super::*;
    use nalgebra::{DMatrixView, Dyn};

    /// A view of every second row.
    pub type NalgebraViews = AtPoint<OwnedView<DMatrixView<'static, f64, Dyn, Dyn>>>;

    /// The scenarios at views of matrices of `nalgebra`.
    pub fn nalgebra_view_scenarios() -> NalgebraViews {
        type View = DMatrixView<'static, f64, Dyn, Dyn>;
        fn view(rows: usize, columns: usize, numbers: &[f64]) -> View {
            let [row, column] = [Dyn(2), Dyn(2 * rows)];
            View::from_slice_with_strides_generic(spread(numbers, 1), Dyn(rows), Dyn(columns), row, column)
        }
        at_view("a view of nalgebra", &view(2, 3, &[0.0; 6]), &view(3, 1, &[0.0; 3]), |like, numbers| {
            view(like.nrows(), like.ncols(), numbers)
        })
    }
}
#[cfg(feature = "nalgebra")]
pub use of_nalgebra::*;

#[cfg(feature = "ndarray")]
mod of_ndarray {
    use super::*;
    use ndarray::{ArrayView2, s};

    /// A view of every second column.
    pub type NdarrayViews = AtPoint<OwnedView<ArrayView2<'static, f64>>>;

    /// The scenarios at views of arrays of `ndarray`.
    pub fn ndarray_view_scenarios() -> NdarrayViews {
        fn view(rows: usize, columns: usize, numbers: &[f64]) -> ArrayView2<'static, f64> {
            let all = ArrayView2::from_shape((rows, 2 * columns), spread(numbers, 1));
            all.expect("as many numbers as the view holds").slice_move(s![.., ..;2])
        }
        at_view("a view of ndarray", &view(2, 3, &[0.0; 6]), &view(3, 1, &[0.0; 3]), |like, numbers| {
            view(like.nrows(), like.ncols(), numbers)
        })
    }
}
#[cfg(feature = "ndarray")]
pub use of_ndarray::*;

#[cfg(feature = "faer")]
mod of_faer {
    use super::*;
    use faer::MatRef;

    /// A view of all columns but the last of a matrix that is stored row by row.
    pub type FaerViews = AtPoint<OwnedView<MatRef<'static, f64>>>;

    /// The scenarios at views of matrices of `faer`.
    pub fn faer_view_scenarios() -> FaerViews {
        fn view(rows: usize, columns: usize, numbers: &[f64]) -> MatRef<'static, f64> {
            let by_row = (0..rows).flat_map(|i| (0..columns).map(move |j| numbers[j * rows + i]));
            let memory = spread(&by_row.collect::<Vec<f64>>(), columns);
            MatRef::from_row_major_slice_with_stride(memory, rows, columns, columns + 1)
        }
        at_view("a view of faer", &view(2, 3, &[0.0; 6]), &view(3, 1, &[0.0; 3]), |like, numbers| {
            view(like.nrows(), like.ncols(), numbers)
        })
    }
}
#[cfg(feature = "faer")]
pub use of_faer::*;
