//! The kit's tensor functions as functions of burn tensors, for the tests of this crate and for surveys of all engines.

use crate::{Outputs, TensorFunction};
use burn_tensor::{Tensor, TensorCreationOptions, TensorData, activation};
use differentiation_interface_test::Counted;
use differentiation_interface_test::families::{TensorMap, TensorSum};

/// A constant of the device and number type of `x`.
pub(crate) fn constant<const D: usize, const E: usize>(x: &Tensor<D>, numbers: &[f64], shape: [usize; E]) -> Tensor<E> {
    let options = TensorCreationOptions::new(x.device()).with_dtype(x.dtype());
    Tensor::from_data(TensorData::new(numbers.to_vec(), shape), options)
}

impl<const D: usize> TensorFunction<D> for Counted<TensorMap> {
    fn call(&self, x: Tensor<D>, (): ()) -> Outputs {
        let n = x.shape().num_elements();
        let flat = x.clone().reshape([n]);
        match self.0 {
            TensorMap::Elementwise => (x.clone().powi_scalar(2) - x.clone() * 3.0 + x.recip()).into(),
            TensorMap::Transcendental => (x.clone().exp() + x.clone().tanh() + x.sin()).into(),
            TensorMap::Identity => x.into(),
            TensorMap::MatrixProduct => {
                let b = constant(&x, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2]);
                x.reshape([2, 3]).matmul(b).into()
            }
            TensorMap::Gram => {
                let a = x.reshape([2, 2]);
                a.clone().matmul(a.transpose()).into()
            }
            TensorMap::Outer => (flat.clone().reshape([n, 1]) * flat.reshape([1, n])).into(),
            TensorMap::Reductions => {
                let a = x.reshape([2, 3]);
                Tensor::cat(vec![a.clone().sum_dim(1).reshape([2]), a.mean_dim(0).reshape([3])], 0).into()
            }
            TensorMap::Softmax => activation::softmax(flat, 0).into(),
            TensorMap::Constant => constant(&x, &[2.0, 3.0], [2]).into(),
            TensorMap::First => flat.narrow(0, 0, 1).powi_scalar(2).into(),
        }
    }
}

impl<const D: usize> TensorFunction<D> for Counted<TensorSum> {
    fn call(&self, x: Tensor<D>, (): ()) -> Outputs {
        let n = x.shape().num_elements();
        let flat = x.clone().reshape([n]);
        let part = |start, length| flat.clone().narrow(0, start, length);
        match self.0 {
            TensorSum::Squares => (x.clone() * x).sum().into(),
            TensorSum::QuadraticForm => {
                let m = constant(&x, &[2.0, 1.0, 0.0, 3.0], [2, 2]);
                let column = flat.clone().reshape([2, 1]);
                column.clone().transpose().matmul(m).matmul(column).into()
            }
            TensorSum::Network => {
                let z = constant(&x, &[1.0, 2.0, 3.0, -1.0], [2, 2]);
                let t = constant(&x, &[1.0, 2.0], [2, 1]);
                let (w, b, v) = (part(0, 4).reshape([2, 2]), part(4, 2).reshape([1, 2]), part(6, 2).reshape([2, 1]));
                let hidden = (z.matmul(w.transpose()) + b).tanh();
                (hidden.matmul(v) - t).powi_scalar(2).sum().into()
            }
            TensorSum::LogSumExp => x.exp().sum().log().into(),
            TensorSum::Rosenbrock => {
                let (left, right) = (part(0, n - 1), part(1, n - 1));
                let valley = right - left.clone().powi_scalar(2);
                (valley.powi_scalar(2) * 100.0 + (-left + 1.0).powi_scalar(2)).sum().into()
            }
            TensorSum::Constant => constant(&x, &[7.0], [1]).into(),
            TensorSum::First => part(0, 1).powi_scalar(2).into(),
            TensorSum::Identity => x.into(),
        }
    }
}
