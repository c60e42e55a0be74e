//! Scenarios at containers: tuples, nested vectors, optional numbers, maps, vectors and matrices of other crates and views of them, complex numbers; at several
//! arguments, at a container of which a part is differentiated, with contexts, in single precision.
//!
//! At each container all operators of two functions, whose answers are formulas: [`Cubes`], to a number, and [`Squares`], to the same
//! container. Each container reads its numbers by its own means, so that an order of numbers that only the interface knows is seen.

use super::formula::Formula;
use super::lists::{Case, ToArrays, ToNumbers};
use super::real_number::RealNumber;
use crate::arguments::{OwnedMasked, OwnedPoints};
use crate::point::{OwnedCache, OwnedConstant, OwnedConstantNumbers, OwnedContainer, OwnedParameter, OwnedPoint};
use differentiation_interface_core::container::{Args, Object, Whole, from_flat, to_flat};
use differentiation_interface_core::{Base, Const, Function, FunctionWith, Work};
use std::collections::BTreeMap;
use std::ops::{Add, Mul};

/// Σ (k + 1) xₖ³ + xₖ xₖ₋₁ over the numbers in their order; the real part of the same sum over complex numbers.
#[derive(Clone, Copy, Debug)]
pub struct Cubes;

impl Cubes {
    /// The sum for these numbers.
    pub fn of<T: RealNumber>(numbers: impl IntoIterator<Item = T>) -> T {
        cubes(numbers, |x| x)
    }
}

/// The sum of [`Cubes`] for numbers with these real parts.
fn cubes<T: RealNumber, Z: Copy + Default + Mul<Output = Z>>(
    numbers: impl IntoIterator<Item = Z>,
    real: fn(Z) -> T,
) -> T {
    let (mut sum, mut last) = (T::default(), Z::default());
    for (k, z) in numbers.into_iter().enumerate() {
        sum += real(z * z * z).scale(T::Base::from_f64((k + 1) as f64)) + real(z * last);
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

/// All operators of [`Cubes`] and of [`Squares`] at a point.
pub type AtPoint<P> = (ToNumbers<Cubes, P>, ToArrays<Squares, P>);

/// All operators of [`Cubes`] and of [`Squares`] at a container.
pub type AtContainer<W> = AtPoint<OwnedContainer<W>>;

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
    W: Object<Scalar: Base> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    let formulas = [Formula::Cubes, Formula::Squares];
    at(&name::<W>(), formulas, points(like, other, |like, first, _| OwnedContainer::new(filled(like, first))))
}

/// The same for a container of complex numbers.
#[cfg(feature = "num-complex")]
pub fn at_complex_container<W>(like: &W, other: Option<&W>) -> AtContainer<W>
where
    W: Object<Scalar = f64> + PartialEq + Sync,
    OwnedContainer<W>: OwnedPoint<Shape = Whole<W>>,
{
    let formulas = [Formula::ComplexCubes, Formula::ComplexSquares];
    at(&name::<W>(), formulas, points(like, other, |like, first, _| OwnedContainer::new(filled(like, first))))
}

/// A point, that of its preparation, and one of another length.
pub(super) type Triple<P> = (P, P, Option<P>);

/// The points that `make` makes of a shape, a first number, and whether it is for preparation.
pub(super) fn points<L: ?Sized, P>(like: &L, other: Option<&L>, make: impl Fn(&L, f64, bool) -> P) -> Triple<P> {
    (make(like, -1.25, false), make(like, 0.5, true), other.map(|other| make(other, 1.0, true)))
}

/// Both functions at these points, with the formulas of the first.
pub(super) fn at<P: OwnedPoint>(name: &str, [to_number, to_container]: [Formula; 2], points: Triple<P>) -> AtPoint<P> {
    let mut lists: AtPoint<P> = Default::default();
    case(Cubes, &format!("cubes of {name}"), to_number, points.clone()).to_number(&mut lists.0);
    case(Squares, &format!("squares of {name}"), to_container, points).making_values().to_array(&mut lists.1);
    lists
}

/// The name of a container in those of scenarios.
pub(super) fn name<W: ?Sized>() -> String {
    std::any::type_name::<W>().to_string()
}

/// An object of this shape with numbers from the first on.
pub(super) fn filled<W: Object<Scalar: Base>>(like: &W, first: f64) -> W {
    from_flat(like, &numbers::<W::Scalar>(to_flat(like).len(), first)).expect("as many numbers as it has")
}

/// So many numbers from the first on.
pub(super) fn numbers<S: Base>(count: usize, first: f64) -> Vec<S> {
    (0..count).map(|k| S::from_f64(first + 0.75 * (k % 5) as f64)).collect()
}

/// One of the functions at these points.
pub(super) fn case<F, P: OwnedPoint>(
    function: F,
    name: &str,
    formula: Formula,
    (point, preparation, other_size): Triple<P>,
) -> Case<F, P> {
    let n = point.coordinates().len();
    let seed = |n: usize| (0..n).map(|k| 0.75 - 0.25 * (k % 3) as f64).collect();
    Case {
        name: name.to_string(),
        function,
        point,
        preparation,
        other_size,
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
        impl<T: RealNumber> Function<$container> for Cubes {
            type Output = T;
            fn call(&self, $x: &$container) -> T {
                cubes::<T, $number>($numbers, |$z| $real)
            }
        }
        impl<T: RealNumber> Function<$container> for Squares {
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
    (Vec<T>, [T; 2]), |x| x.0.iter().chain(&x.1).copied(), |square| (x.0.iter().map(|v| square(*v)).collect(), x.1.map(square));
    (BTreeMap<char, Vec<T>>, Option<T>), |x| x.0.values().flatten().chain(&x.1).copied(),
        |square| (x.0.iter().map(|(key, list)| (*key, list.iter().map(|v| square(*v)).collect())).collect(), x.1.map(square));
}

/// The two arguments of [`Points`](differentiation_interface_core::container::Points).
type Two<T> = (Vec<T>, [T; 2]);

impl<T: RealNumber> Function<Args<Two<T>>> for Cubes {
    type Output = T;
    fn call(&self, Args(x): &Args<Two<T>>) -> T {
        Function::<Two<T>>::call(self, x)
    }
}
impl<T: RealNumber> Function<Args<Two<T>>> for Squares {
    type Output = Two<T>;
    fn call(&self, Args(x): &Args<Two<T>>) -> Two<T> {
        Function::<Two<T>>::call(self, x)
    }
}

/// The container at which functions have contexts.
type Pair<T> = (T, Vec<T>);
/// A factor, work memory like the point, and data whose last number is added to the factor.
type Data<T> = (Const<f64>, Work<Pair<T>>, Const<(Vec<f64>, f64)>);
/// Parameters, whose first and last number add up to the factor.
type Parameters<T> = (Const<(T, [T; 2])>,);

/// The same numbers in work memory.
fn copied<'w, T: Copy>(x: &Pair<T>, work: &'w mut Pair<T>) -> &'w Pair<T> {
    work.0 = x.0;
    work.1.copy_from_slice(&x.1);
    work
}
/// The same container with each number times the factor.
fn times<T: RealNumber>(x: Pair<T>, factor: T) -> Pair<T> {
    (x.0 * factor, x.1.into_iter().map(|v| v * factor).collect())
}
fn constant<T: RealNumber>(number: f64) -> T {
    T::constant(T::Base::from_f64(number))
}

impl<T: RealNumber> FunctionWith<Pair<T>, Data<T>> for Cubes {
    type Output = T;
    fn call_with(&self, x: &Pair<T>, (factor, work, data): (&f64, &mut Pair<T>, &(Vec<f64>, f64))) -> T {
        Function::<Pair<T>>::call(self, copied(x, work)) * constant(factor + data.1)
    }
}
impl<T: RealNumber> FunctionWith<Pair<T>, Data<T>> for Squares {
    type Output = Pair<T>;
    fn call_with(&self, x: &Pair<T>, (factor, work, data): (&f64, &mut Pair<T>, &(Vec<f64>, f64))) -> Pair<T> {
        times(Function::<Pair<T>>::call(self, copied(x, work)), constant(factor + data.1))
    }
}
impl<T: RealNumber> FunctionWith<Pair<T>, Parameters<T>> for Cubes {
    type Output = T;
    fn call_with(&self, x: &Pair<T>, (p,): (&(T, [T; 2]),)) -> T {
        Function::<Pair<T>>::call(self, x) * (p.0 + p.1[1])
    }
}
impl<T: RealNumber> FunctionWith<Pair<T>, Parameters<T>> for Squares {
    type Output = Pair<T>;
    fn call_with(&self, x: &Pair<T>, (p,): (&(T, [T; 2]),)) -> Pair<T> {
        times(Function::<Pair<T>>::call(self, x), p.0 + p.1[1])
    }
}

/// A container with a constant, work memory and constant numbers.
pub type PairWithData =
    (OwnedContainer<Pair<f64>>, OwnedConstant<f64>, OwnedCache<Pair<f64>>, OwnedConstantNumbers<(Vec<f64>, f64)>);
/// A container with parameters.
pub type PairWithParameters = (OwnedContainer<Pair<f64>>, OwnedParameter<(f64, [f64; 2])>);

/// The containers of the standard library, several arguments, a container with parameters.
pub type StandardContainers = (
    AtContainer<(f64, Vec<f64>)>,
    AtContainer<(Vec<[f64; 2]>,)>,
    AtContainer<(BTreeMap<char, Vec<f64>>, Option<f64>)>,
    AtPoint<OwnedPoints<Vec<f64>, [f64; 2]>>,
    AtPoint<PairWithParameters>,
);

/// The scenarios at containers of the standard library: alone, as several arguments, with parameters.
pub fn container_scenarios() -> StandardContainers {
    let map = |lists: &[(char, usize)]| lists.iter().map(|(key, count)| (*key, vec![0.0; *count])).collect();
    let [four, two] = pairs();
    (
        at_container(&four, Some(&two)),
        at_container(&(vec![[0.0; 2]; 2],), Some(&(vec![[0.0; 2]; 7],))),
        at_container(&(map(&[('a', 2), ('b', 1)]), Some(0.0)), Some(&(map(&[('a', 1), ('c', 6)]), None))),
        at_points(&(vec![0.0; 3], [0.0; 2]), Some(&(vec![0.0], [0.0; 2]))),
        at("a pair with parameters", factored(), points(&four, Some(&two), with_parameters)),
    )
}

/// A container of which a part is differentiated, and one with constants.
pub type ConstantContainers = (AtPoint<OwnedMasked<Pair<f64>>>, AtPoint<PairWithData>);

/// The scenarios at containers with constants, which are others at preparation: the frozen numbers of a mask; a constant, constant numbers and work memory.
///
/// An engine that records the function or detects a pattern runs it once more when constants have changed, which the checks
/// [`Calls`](crate::Check::Calls) and [`Allocations`](crate::Check::Allocations) find.
pub fn constant_container_scenarios() -> ConstantContainers {
    let [four, two] = pairs();
    (
        at_masked((&four, &[true, false, true, true]), (&two, &[true, true])),
        at("a pair with data", factored(), points(&four, Some(&two), with_data)),
    )
}

/// Pairs of four numbers and of two.
fn pairs() -> [Pair<f64>; 2] {
    [(0.0, vec![0.0; 3]), (0.0, vec![0.0])]
}

/// The formulas with contexts at the point, whose factor is 3 + 4.
fn factored() -> [Formula; 2] {
    [Formula::Cubes, Formula::Squares].map(|formula| Formula::Times(Box::new(formula), 3.0, 4.0))
}
fn with_data(like: &Pair<f64>, first: f64, prepares: bool) -> PairWithData {
    let (factor, last) = if prepares { (-3.0, 0.5) } else { (3.0, 4.0) };
    let data = OwnedConstantNumbers((vec![9.0; 2], last));
    (OwnedContainer::new(filled(like, first)), OwnedConstant(factor), OwnedCache(like.clone()), data)
}
fn with_parameters(like: &Pair<f64>, first: f64, prepares: bool) -> PairWithParameters {
    let parameters = if prepares { (-3.0, [1.0, 0.5]) } else { (3.0, [9.0, 4.0]) };
    (OwnedContainer::new(filled(like, first)), OwnedParameter(parameters))
}

fn at_points(like: &Two<f64>, other: Option<&Two<f64>>) -> AtPoint<OwnedPoints<Vec<f64>, [f64; 2]>> {
    let make = |like: &Two<f64>, first: f64, _: bool| {
        let (a, b) = filled(like, first);
        OwnedPoints::new(a, b)
    };
    at("two arguments", [Formula::Cubes, Formula::Squares], points(like, other, make))
}

/// A shape with its mask.
type Mask<'a> = (&'a Pair<f64>, &'a [bool]);

fn at_masked(like: Mask<'_>, other: Mask<'_>) -> AtPoint<OwnedMasked<Pair<f64>>> {
    let make = |(like, mask): &Mask<'_>, first: f64, _: bool| OwnedMasked::new(filled(*like, first), mask.to_vec());
    let points = points(&like, Some(&other), make);
    let frozen = points.0.frozen();
    let formulas = [Formula::Cubes, Formula::Squares].map(|formula| Formula::Partly(Box::new(formula), frozen.clone()));
    at("a masked pair", formulas, points)
}

/// The scenarios at a container of single precision.
pub fn single_precision_container_scenarios() -> AtContainer<(f32, Vec<f32>)> {
    at_container(&(0.0, vec![0.0; 3]), Some(&(0.0, vec![0.0])))
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
    use super::super::lists::OfNumber;
    use super::*;
    use crate::arguments::OwnedComplex;
    use num_complex::Complex;

    containers! { of Complex<T>, |z| z.re;
        Complex<T>, |z| [*z], |square| square(*z);
        Vec<Complex<T>>, |z| z.iter().copied(), |square| z.iter().map(|z| square(*z)).collect();
    }

    /// z³, differentiated as a holomorphic function.
    #[derive(Clone, Copy, Debug)]
    pub struct HolomorphicCube;

    impl<T: RealNumber> Function<Complex<T>> for HolomorphicCube {
        type Output = Complex<T>;
        fn call(&self, z: &Complex<T>) -> Complex<T> {
            z * z * z
        }
    }

    /// A complex number and a vector of them.
    pub type ComplexContainers = (AtContainer<Complex<f64>>, AtContainer<Vec<Complex<f64>>>);

    /// The scenarios at complex numbers: the derivatives of a real function, and of a holomorphic one as a map of pairs of real numbers.
    pub fn complex_scenarios() -> ComplexContainers {
        let zero = Complex::new(0.0, 0.0);
        (at_complex_container(&zero, None), at_complex_container(&vec![zero; 2], Some(&vec![zero])))
    }

    /// The scenarios at a complex number by value: the complex derivatives of a holomorphic function. The imaginary part is a constant for the engines, and
    /// another one at preparation; see [`constant_container_scenarios`].
    pub fn holomorphic_scenarios() -> OfNumber<HolomorphicCube, OwnedComplex> {
        let number = |re: f64, im: f64| OwnedComplex(Complex::new(re, im));
        let points = (number(-1.25, 0.75), number(0.5, 2.0), None);
        let mut cube = OfNumber::default();
        case(HolomorphicCube, "holomorphic cube", Formula::HolomorphicCube(0.75), points)
            .making_values()
            .of_number(&mut cube);
        cube
    }
}
#[cfg(feature = "num-complex")]
pub use of_complex::*;
