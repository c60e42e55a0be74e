//! Scenarios at containers: tuples, nested vectors, optional numbers, vectors and matrices of other crates, complex numbers.
//!
//! At each container all operators of two functions, whose answers are formulas: [`Cubes`], to a number, and [`Squares`], to the same
//! container. Each container reads its numbers by its own means, so that an order of numbers that only the interface knows is seen.

use super::formula::Formula;
use super::lists::{Case, ToArrays, ToNumbers};
use crate::point::{OwnedContainer, OwnedPoint};
use differentiation_interface_core::Function;
use differentiation_interface_core::Real;
use differentiation_interface_core::container::{Object, Whole, from_flat, to_flat};
use std::ops::{Add, Mul};

/// Σ (k + 1) xₖ³ + xₖ xₖ₋₁ over the numbers in their order; the real part of the same sum over complex numbers.
#[derive(Clone, Copy, Debug)]
pub struct Cubes;

impl Cubes {
    /// The sum for these numbers.
    pub fn of<T: Real>(numbers: impl IntoIterator<Item = T>) -> T {
        cubes(numbers, |x| x)
    }
}

/// The sum of [`Cubes`] for numbers with these real parts.
fn cubes<T: Real, Z: Copy + Default + Mul<Output = Z>>(numbers: impl IntoIterator<Item = Z>, real: fn(Z) -> T) -> T {
    let (mut sum, mut last) = (T::default(), Z::default());
    for (k, z) in numbers.into_iter().enumerate() {
        sum += real(z * z * z) * (k + 1) as f64 + real(z * last);
        last = z;
    }
    sum
}

/// The same container with xₖ² + xₖ₋₁ for every number, or complex number, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Squares;

impl Squares {
    /// What makes the result for one number after the other.
    pub fn steps<T: Copy + Default + Mul<Output = T> + Add<Output = T>>() -> impl FnMut(T) -> T {
        let mut last = T::default();
        move |x| {
            let y = x * x + last;
            last = x;
            y
        }
    }
}

/// All operators of [`Cubes`] and of [`Squares`] at a container.
pub type AtContainer<W> = (ToNumbers<Cubes, OwnedContainer<W>>, ToArrays<Squares, OwnedContainer<W>>);

/// The scenarios at a container of this shape, whose numbers are not used; prepared again from `other`, of another shape, where there is one.
///
/// # Example
/// A container of your own, for which [`Cubes`] and [`Squares`] are implemented where it is:
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// use families::{Cubes, Squares, at_container};
/// #[derive(Clone, Debug, PartialEq, Container)]
/// struct Spring<T = f64> {
///     stiffness: T,
///     ends: Vec<T>,
/// }
/// impl<T: Real> Function<Spring<T>> for Cubes {
///     type Output = T;
///     fn call(&self, s: &Spring<T>) -> T {
///         Cubes::of([s.stiffness].into_iter().chain(s.ends.iter().copied()))
///     }
/// }
/// impl<T: Real> Function<Spring<T>> for Squares {
///     type Output = Spring<T>;
///     fn call(&self, s: &Spring<T>) -> Spring<T> {
///         let mut step = Squares::steps();
///         Spring { stiffness: step(s.stiffness), ends: s.ends.iter().map(|x| step(*x)).collect() }
///     }
/// }
///
/// let spring = |ends: usize| Spring { stiffness: 0.0, ends: vec![0.0; ends] };
/// test_differentiation(&(AutoForwardDiff::default(),), &at_container(&spring(2), Some(&spring(5))), &Options::default()).assert();
/// ```
pub fn at_container<W>(like: &W, other: Option<&W>) -> AtContainer<W>
where
    W: Object<Scalar = f64> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    at(like, other, Formula::Cubes, Formula::Squares)
}

/// The same for a container of complex numbers.
#[cfg(feature = "num-complex")]
pub fn at_complex_container<W>(like: &W, other: Option<&W>) -> AtContainer<W>
where
    W: Object<Scalar = f64> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    at(like, other, Formula::ComplexCubes, Formula::ComplexSquares)
}

fn at<W>(like: &W, other: Option<&W>, to_number: Formula, to_container: Formula) -> AtContainer<W>
where
    W: Object<Scalar = f64> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    let mut lists: AtContainer<W> = Default::default();
    case(Cubes, "cubes", to_number, like, other).to_number(&mut lists.0);
    case(Squares, "squares", to_container, like, other).making_values().to_array(&mut lists.1);
    lists
}

/// One of the functions at a container of this shape.
fn case<F, W>(function: F, name: &str, formula: Formula, like: &W, other: Option<&W>) -> Case<F, OwnedContainer<W>>
where
    W: Object<Scalar = f64>,
{
    let n = to_flat(like).len();
    let filled = |like: &W, first: f64| {
        let numbers: Vec<f64> = (0..to_flat(like).len()).map(|k| first + 0.75 * (k % 5) as f64).collect();
        OwnedContainer::new(from_flat(like, &numbers).expect("as many numbers as it has"))
    };
    let seed = |n: usize| (0..n).map(|k| 0.75 - 0.25 * (k % 3) as f64).collect();
    Case {
        name: format!("{name} of {}", std::any::type_name::<W>()),
        function,
        point: filled(like, -1.25),
        preparation: filled(like, 0.5),
        other_size: other.map(|other| filled(other, 1.0)),
        shapes: None,
        tangent: seed(n),
        cotangent: seed(formula.outputs(n)),
        formula,
        batched: true,
        makes_values: false,
    }
}

/// Both functions at a container: its numbers in order, with their real parts, and the container of what `Squares` makes of each.
macro_rules! containers {
    (of $number:ty, |$z:ident| $real:expr; $($container:ty, |$x:ident| $numbers:expr, |$square:ident| $squares:expr;)*) => {$(
        impl<T: Real> Function<$container> for Cubes {
            type Output = T;
            fn call(&self, $x: &$container) -> T {
                cubes::<T, $number>($numbers, |$z| $real)
            }
        }
        impl<T: Real> Function<$container> for Squares {
            type Output = $container;
            fn call(&self, $x: &$container) -> $container {
                let $square = &mut Squares::steps::<$number>();
                $squares
            }
        }
    )*};
}
containers! { of T, |x| x;
    (T, Vec<T>), |x| std::iter::once(x.0).chain(x.1.iter().copied()),
        |square| (square(x.0), x.1.iter().map(|v| square(*v)).collect());
    (Vec<[T; 2]>,), |x| x.0.iter().flatten().copied(), |square| (x.0.iter().map(|pair| pair.map(&mut *square)).collect(),);
    (Vec<T>, Option<T>), |x| x.0.iter().chain(&x.1).copied(),
        |square| (x.0.iter().map(|v| square(*v)).collect(), x.1.map(square));
}

/// The containers of the standard library.
pub type StandardContainers =
    (AtContainer<(f64, Vec<f64>)>, AtContainer<(Vec<[f64; 2]>,)>, AtContainer<(Vec<f64>, Option<f64>)>);

/// The scenarios at containers of the standard library.
pub fn container_scenarios() -> StandardContainers {
    (
        at_container(&(0.0, vec![0.0; 3]), Some(&(0.0, vec![0.0]))),
        at_container(&(vec![[0.0; 2]; 2],), Some(&(vec![[0.0; 2]; 7],))),
        at_container(&(vec![0.0; 3], Some(0.0)), Some(&(vec![0.0; 6], None))),
    )
}

#[cfg(feature = "nalgebra")]
mod of_nalgebra {
    use super::*;
    use nalgebra::{DMatrix, DVector, SMatrix, SVector};

    containers! { of T, |x| x;
        SVector<T, 3>, |x| [x.x, x.y, x.z], |square| x.map(square);
        SMatrix<T, 2, 2>, |x| [x[(0, 0)], x[(1, 0)], x[(0, 1)], x[(1, 1)]], |square| x.map(square);
        DVector<T>, |x| (0..x.len()).map(|i| x[i]), |square| x.map(square);
        DMatrix<T>, |x| (0..x.ncols()).flat_map(|j| (0..x.nrows()).map(move |i| x[(i, j)])), |square| x.map(square);
    }

    /// Vectors and matrices of `nalgebra`.
    pub type NalgebraContainers = (
        AtContainer<SVector<f64, 3>>,
        AtContainer<SMatrix<f64, 2, 2>>,
        AtContainer<DVector<f64>>,
        AtContainer<DMatrix<f64>>,
    );

    /// The scenarios at vectors and matrices of `nalgebra`.
    pub fn nalgebra_scenarios() -> NalgebraContainers {
        (
            at_container(&SVector::zeros(), None),
            at_container(&SMatrix::zeros(), None),
            at_container(&DVector::zeros(14), Some(&DVector::zeros(5))),
            at_container(&DMatrix::zeros(2, 3), Some(&DMatrix::zeros(3, 3))),
        )
    }
}
#[cfg(feature = "nalgebra")]
pub use of_nalgebra::*;

#[cfg(feature = "ndarray")]
mod of_ndarray {
    use super::*;
    use ndarray::{Array1, Array2};

    containers! { of T, |x| x;
        Array1<T>, |x| (0..x.len()).map(|i| x[i]), |square| x.mapv(square);
        Array2<T>, |x| (0..x.nrows()).flat_map(|i| (0..x.ncols()).map(move |j| x[[i, j]])), |square| x.mapv(square);
    }

    /// Arrays of `ndarray`.
    pub type NdarrayContainers = (AtContainer<Array1<f64>>, AtContainer<Array2<f64>>);

    /// The scenarios at arrays of `ndarray`.
    pub fn ndarray_scenarios() -> NdarrayContainers {
        (
            at_container(&Array1::zeros(14), Some(&Array1::zeros(5))),
            at_container(&Array2::zeros((2, 3)), Some(&Array2::zeros((3, 3)))),
        )
    }
}
#[cfg(feature = "ndarray")]
pub use of_ndarray::*;

#[cfg(feature = "faer")]
mod of_faer {
    use super::*;
    use faer::{Col, Mat};

    containers! { of T, |x| x;
        Col<T>, |x| (0..x.nrows()).map(|i| x[i]), |square| Col::from_fn(x.nrows(), |i| square(x[i]));
        Mat<T>, |x| (0..x.ncols()).flat_map(|j| (0..x.nrows()).map(move |i| x[(i, j)])),
            |square| Mat::from_fn(x.nrows(), x.ncols(), |i, j| square(x[(i, j)]));
    }

    /// Columns and matrices of `faer`.
    pub type FaerContainers = (AtContainer<Col<f64>>, AtContainer<Mat<f64>>);

    /// The scenarios at columns and matrices of `faer`.
    pub fn faer_scenarios() -> FaerContainers {
        (at_container(&Col::zeros(14), Some(&Col::zeros(5))), at_container(&Mat::zeros(2, 3), Some(&Mat::zeros(3, 3))))
    }
}
#[cfg(feature = "faer")]
pub use of_faer::*;

#[cfg(feature = "num-complex")]
mod of_complex {
    use super::*;
    use num_complex::Complex;

    containers! { of Complex<T>, |z| z.re;
        Complex<T>, |z| [*z], |square| square(*z);
        Vec<Complex<T>>, |z| z.iter().copied(), |square| z.iter().map(|z| square(*z)).collect();
    }

    /// A complex number and a vector of them.
    pub type ComplexContainers = (AtContainer<Complex<f64>>, AtContainer<Vec<Complex<f64>>>);

    /// The scenarios at complex numbers: the derivatives of a real function, and of a holomorphic one as a map of pairs of real numbers.
    pub fn complex_scenarios() -> ComplexContainers {
        let zero = Complex::new(0.0, 0.0);
        (at_complex_container(&zero, None), at_complex_container(&vec![zero; 2], Some(&vec![zero])))
    }
}
#[cfg(feature = "num-complex")]
pub use of_complex::*;
