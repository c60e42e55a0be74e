//! Points that are no container of their own: several arguments, a container of which a part is differentiated, a view.
//!
//! Made by users and by the built-in families, as those of [`point`](crate::point).

use crate::point::{NumberOf, OwnedPoint};
use differentiation_interface_core::Base;
use differentiation_interface_core::container::{
    Container, Masked, Object, Partly, Points, Several, Whole, from_flat, to_flat,
};
use differentiation_interface_core::point::Point;
use std::fmt::Debug;

/// Two arguments as a scenario stores them, lent as [`Points`]. Seeds and expected results are the numbers of the first, then those of the second.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// use differentiation_interface::container::Args;
/// struct Energy;
/// impl<T: Real> Function<Args<(Vec<T>, T)>> for Energy {
///     type Output = T;
///     fn call(&self, Args((a, b)): &Args<(Vec<T>, T)>) -> T {
///         a[0] * a[1] + *b * *b
///     }
/// }
/// let scenario = Scenario::gradient(Energy, OwnedPoints::new(vec![2.0, 5.0], 3.0)).expecting([5.0, 2.0, 6.0]);
/// test_differentiation(&(AutoForwardDiff::default(), AutoReverseDiff::default()), &scenario, &Options::default()).assert();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedPoints<A: Container, B> {
    objects: (A, B),
    numbers: Vec<A::Scalar>,
}

impl<A: Object, B: Object<Scalar = A::Scalar>> OwnedPoints<A, B> {
    /// Wraps the arguments.
    pub fn new(first: A, second: B) -> Self {
        let mut numbers = to_flat(&first);
        numbers.extend(to_flat(&second));
        OwnedPoints { objects: (first, second), numbers }
    }
}

impl<A, B> OwnedPoint for OwnedPoints<A, B>
where
    A: Object<Scalar: Base> + PartialEq + Sync,
    B: Object<Scalar = A::Scalar> + PartialEq + Sync,
    (A, B): Object<Scalar = A::Scalar>,
{
    type Shape = Several<(A, B)>;
    type Contexts = ();
    type Lent<'a> = Points<(&'a A, &'a B)>;

    fn lend(&self) -> Points<(&A, &B)> {
        Points((&self.objects.0, &self.objects.1))
    }
    fn coordinates(&self) -> &[A::Scalar] {
        &self.numbers
    }
    fn moved_to(&self, x: &[A::Scalar]) -> Option<Self> {
        let (first, second) = &self.objects;
        let (of_first, of_second) = x.split_at_checked(to_flat(first).len())?;
        Some(Self::new(from_flat(first, of_first).ok()?, from_flat(second, of_second).ok()?))
    }
}

/// A container with a mask as a scenario stores it, lent as [`Masked`]. Seeds and expected results are those of the free numbers alone, also of variants that
/// return a result in the shape of the container: the checks want zeros at its frozen numbers.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// #[differentiable]
/// fn energy(x: &[f64]) -> f64 {
///     x[0] * x[1] * x[1] + x[2]
/// }
/// let point = OwnedMasked::new(vec![2.0, 3.0, 4.0], vec![true, false, true]);
/// let scenario = Scenario::gradient(Energy, point).expecting([9.0, 1.0]);
/// test_differentiation(&(AutoForwardDiff::default(), AutoReverseDiff::default()), &scenario, &Options::default()).assert();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedMasked<W: Container> {
    object: W,
    mask: Vec<bool>,
    free: Vec<W::Scalar>,
}

impl<W: Object> OwnedMasked<W> {
    /// Wraps a container with a mask of as many entries as it has numbers.
    ///
    /// # Panics
    /// If the mask has another length.
    pub fn new(object: W, mask: Vec<bool>) -> Self {
        let numbers = to_flat(&object);
        assert_eq!(numbers.len(), mask.len(), "the mask must be as long as the container");
        let free = numbers.into_iter().zip(&mask).filter_map(|(number, free)| free.then_some(number)).collect();
        OwnedMasked { object, mask, free }
    }
    /// The numbers that are not differentiated, `None` at the places of the others.
    pub fn frozen(&self) -> Vec<Option<W::Scalar>> {
        to_flat(&self.object).into_iter().zip(&self.mask).map(|(number, free)| (!free).then_some(number)).collect()
    }
}

impl<W: Object<Scalar: Base> + PartialEq + Sync> OwnedPoint for OwnedMasked<W> {
    type Shape = Partly<W>;
    type Contexts = ();
    type Lent<'a> = Masked<'a, W>;

    fn lend(&self) -> Masked<'_, W> {
        Masked(&self.object, &self.mask)
    }
    fn coordinates(&self) -> &[W::Scalar] {
        &self.free
    }
    fn moved_to(&self, x: &[W::Scalar]) -> Option<Self> {
        if x.len() != self.free.len() {
            return None;
        }
        let mut x = x.iter().copied();
        let all: Vec<W::Scalar> =
            self.frozen().into_iter().map(|frozen| frozen.or_else(|| x.next())).collect::<Option<_>>()?;
        Some(Self::new(from_flat(&self.object, &all).ok()?, self.mask.clone()))
    }
    fn reduce(&self, results: &mut Vec<NumberOf<Self>>, count: usize) {
        if results.len() != count * self.mask.len() {
            return;
        }
        let places = results.iter().zip(self.mask.iter().cycle());
        let are_zero = places.clone().all(|(number, free)| *free || *number == <NumberOf<Self>>::ZERO);
        let free = places.filter(|(_, free)| **free).map(|(number, _)| *number);
        // NaN is equal to no expected number.
        let reduced = free.map(|number| if are_zero { number } else { num_traits::Float::nan() }).collect();
        *results = reduced;
    }
}

/// A view as a scenario stores it, lent as `&V`. A scenario owns its points, so that the view borrows memory that is never freed.
///
/// # Example
/// ```
/// # #[cfg(feature = "ndarray")] {
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// use ndarray::{Array1, ArrayView1};
/// struct Energy;
/// impl<T: Real> Function<Array1<T>> for Energy {
///     type Output = T;
///     fn call(&self, x: &Array1<T>) -> T {
///         x[0] * x[1] * x[1]
///     }
/// }
/// fn backwards(numbers: &[f64]) -> ArrayView1<'static, f64> {
///     let memory: Vec<f64> = numbers.iter().rev().copied().collect();
///     ArrayView1::from(&*memory.leak()).slice_move(ndarray::s![..;-1])
/// }
/// let point = OwnedView::new(&backwards(&[0.0; 2]), &[2.0, 3.0], |_, numbers| backwards(numbers));
/// let scenario = Scenario::gradient(Energy, point).expecting([9.0, 12.0]);
/// test_differentiation(&(AutoForwardDiff::default(),), &scenario, &Options::default()).assert();
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OwnedView<V: Container> {
    view: V,
    numbers: Vec<V::Scalar>,
    make: fn(&V, &[V::Scalar]) -> V,
}

impl<V: Container> OwnedView<V> {
    /// The view of the shape of `like` with these numbers, in the order of the view; `make` makes it.
    pub fn new(like: &V, numbers: &[V::Scalar], make: fn(&V, &[V::Scalar]) -> V) -> Self {
        let view = make(like, numbers);
        OwnedView { numbers: to_flat(&view), view, make }
    }
}

impl<V: Container + PartialEq> PartialEq for OwnedView<V> {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view
    }
}

impl<V> OwnedPoint for OwnedView<V>
where
    V: Container<Scalar: Base> + Clone + PartialEq + Debug + Send + Sync + 'static,
    for<'a> &'a V: Point<Shape = Whole<V::With<V::Scalar>>, Contexts = ()>,
{
    type Shape = Whole<V::With<V::Scalar>>;
    type Contexts = ();
    type Lent<'a> = &'a V;

    fn lend(&self) -> &V {
        &self.view
    }
    fn coordinates(&self) -> &[V::Scalar] {
        &self.numbers
    }
    fn moved_to(&self, x: &[V::Scalar]) -> Option<Self> {
        (x.len() == self.numbers.len()).then(|| Self::new(&self.view, x, self.make))
    }
}

/// A complex number as a scenario stores it that is lent by value, so that `derivative` is that of a holomorphic function: the coordinate is its real part.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// use num_complex::Complex;
/// struct Square;
/// impl<T: Real> Function<Complex<T>> for Square {
///     type Output = Complex<T>;
///     fn call(&self, z: &Complex<T>) -> Complex<T> {
///         z * z
///     }
/// }
/// let scenario = Scenario::derivative(Square, OwnedComplex(Complex::new(1.0, 2.0))).expecting([2.0, 4.0]).making_values();
/// test_differentiation(&(AutoForwardDiff::default(), AutoReverseDiff::default()), &scenario, &Options::default()).assert();
/// ```
#[cfg(feature = "num-complex")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnedComplex(
    /// The number.
    pub num_complex::Complex<f64>,
);

#[cfg(feature = "num-complex")]
impl OwnedPoint for OwnedComplex {
    type Shape = differentiation_interface_core::container::complex::Holomorphic<f64>;
    type Contexts = ();
    type Lent<'a> = num_complex::Complex<f64>;

    fn lend(&self) -> num_complex::Complex<f64> {
        self.0
    }
    fn coordinates(&self) -> &[f64] {
        std::slice::from_ref(&self.0.re)
    }
    fn moved_to(&self, x: &[f64]) -> Option<Self> {
        let [re] = x else { return None };
        Some(OwnedComplex(num_complex::Complex::new(*re, self.0.im)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_the_shape_of_a_mask_are_reduced_and_must_be_zero_elsewhere() {
        let point = OwnedMasked::new(vec![2.0_f64, 3.0, 4.0], vec![true, false, true]);
        assert_eq!((point.coordinates(), point.frozen()), (&[2.0, 4.0][..], vec![None, Some(3.0), None]));
        let mut two = vec![5.0, 0.0, 6.0, 7.0, -0.0, 8.0];
        point.reduce(&mut two, 2);
        assert_eq!(two, [5.0, 6.0, 7.0, 8.0]);
        point.reduce(&mut two, 2);
        assert_eq!(two, [5.0, 6.0, 7.0, 8.0]);
        let mut wrong = vec![5.0, 1.0, 6.0];
        point.reduce(&mut wrong, 1);
        assert!(wrong.iter().all(|number| f64::is_nan(*number)), "{wrong:?}");
        assert_eq!(point.moved_to(&[8.0, 9.0]).map(|moved| moved.object), Some(vec![8.0, 3.0, 9.0]));
        assert_eq!(point.moved_to(&[8.0, 9.0, 10.0]), None);
    }
}
