//! Our numbers as operands beside arrays of `ndarray`: `array * x`, and what `#[differentiable(ndarray)]` needs of them: `x * array` and constants.
//!
//! `LinalgScalar`, which `dot` needs, is implemented by `ndarray` for every number with arithmetic, ours included.

use crate::container::Data;
use crate::scalar::{Core, Num, Real, Scalar};
use ndarray::{
    Array, Array1, Array2, Array3, ArrayBase, ArrayView1, ArrayView2, Axis, Data as Elements, DataMut, DataOwned,
    Dimension, RawDataClone, ScalarOperand,
};
use std::ops::{Add, Div, Mul, Sub};

impl<C: Core> ScalarOperand for Num<C> {}

/// A [`Real`] that is a number of arrays of `ndarray`: `a.dot(&b)`, `a * x`, `x * a`. The bound of code under `#[differentiable(ndarray)]`.
///
/// # Example
/// ```
/// use differentiation_interface_core::algebra::NdarrayReal;
/// use ndarray::{Array1, array};
///
/// /// x (1 - a)·a
/// fn energy<T: NdarrayReal>(x: T, a: Array1<T>) -> T {
///     (x * (x / x - &a)).dot(&a)
/// }
/// assert_eq!(energy(2.0, array![0.5, 1.0, 3.0]), 2.0 * (0.25 - 6.0));
/// ```
pub trait NdarrayReal: Real + ScalarOperand + LeftOperand {}

impl NdarrayReal for f64 {}
impl<C: Core<Base = f64>> NdarrayReal for Num<C> {}

/// An operator with the number on the left and an array of a type that code names on the right, by value and by reference.
macro_rules! operators {
    ($($Operator:ident $method:ident),*) => {
        $(
            impl<C: Core, S: DataOwned<Elem = Self> + DataMut, D: Dimension> $Operator<ArrayBase<S, D>> for Num<C> {
                type Output = ArrayBase<S, D>;
                fn $method(self, right: ArrayBase<S, D>) -> Self::Output {
                    right.mapv_into(|v| $Operator::$method(self, v))
                }
            }
            impl<C: Core, S: Elements<Elem = Self>, D: Dimension> $Operator<&ArrayBase<S, D>> for Num<C> {
                type Output = Array<Self, D>;
                fn $method(self, right: &ArrayBase<S, D>) -> Self::Output {
                    right.mapv(|v| $Operator::$method(self, v))
                }
            }
        )*
        #[doc(hidden)]
        pub trait LeftOperand: Scalar $(+ $Operator<Array1<Self>, Output = Array1<Self>>
            + $Operator<Array2<Self>, Output = Array2<Self>>
            + $Operator<Array3<Self>, Output = Array3<Self>>
            + for<'a> $Operator<&'a Array1<Self>, Output = Array1<Self>>
            + for<'a> $Operator<&'a Array2<Self>, Output = Array2<Self>>
            + for<'a> $Operator<&'a Array3<Self>, Output = Array3<Self>>
            + for<'a, 'b> $Operator<&'a ArrayView1<'b, Self>, Output = Array1<Self>>
            + for<'a, 'b> $Operator<&'a ArrayView2<'b, Self>, Output = Array2<Self>>)* {}
        impl LeftOperand for f64 {}
        impl<C: Core<Base = f64>> LeftOperand for Num<C> {}
    };
}
operators! { Add add, Sub sub, Mul mul, Div div }

/// A view that is written through cannot be cloned and is no data: what is written to a copy would be lost.
///
/// ```
/// let view = ndarray::ArrayView1::from(&[0.0; 3]);
/// differentiation_interface_core::container::lifted::<f64, _>(&view);
/// ```
/// ```compile_fail,E0277
/// let mut buffer = [0.0; 3];
/// let view = ndarray::ArrayViewMut1::from(&mut buffer);
/// differentiation_interface_core::container::lifted::<f64, _>(&view);
/// ```
impl<N: Scalar<Base = f64>, S: Elements<Elem = f64> + RawDataClone, D: Dimension> Data<N> for ArrayBase<S, D> {
    type Lifted = Array<N, D>;
    fn lifted(&self) -> Self::Lifted {
        self.mapv(N::constant)
    }
}

impl<N> Data<N> for Axis {
    type Lifted = Axis;
    fn lifted(&self) -> Axis {
        *self
    }
}
