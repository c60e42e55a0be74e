//! The kit's tensor functions as functions of candle tensors, for the tests of this crate and for surveys of all engines.

use crate::TensorFunction;
use candle_core::{D, Result, Tensor};
use differentiation_interface_test::Counted;
use differentiation_interface_test::families::{TensorMap, TensorSum};

/// A constant of the number type of `x`.
pub(crate) fn constant(x: &Tensor, numbers: &[f64], shape: &[usize]) -> Result<Tensor> {
    Tensor::from_slice(numbers, shape, x.device())?.to_dtype(x.dtype())
}

impl TensorFunction for Counted<TensorMap> {
    fn call(&self, x: &Tensor, (): ()) -> Result<Tensor> {
        let n = x.elem_count();
        match self.0 {
            TensorMap::Elementwise => (x.sqr()? - (x * 3.0)?)? + x.recip()?,
            TensorMap::Transcendental => (x.exp()? + x.tanh()?)? + x.sin()?,
            TensorMap::Identity => Ok(x.clone()),
            TensorMap::MatrixProduct => {
                x.reshape((2, 3))?.matmul(&constant(x, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])?)
            }
            TensorMap::Gram => {
                let a = x.reshape((2, 2))?;
                a.matmul(&a.t()?)
            }
            TensorMap::Outer => x.reshape((n, 1))?.broadcast_mul(&x.reshape((1, n))?),
            TensorMap::Reductions => {
                let a = x.reshape((2, 3))?;
                Tensor::cat(&[a.sum(1)?, a.mean(0)?], 0)
            }
            TensorMap::Softmax => {
                let exponentials = x.exp()?;
                exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)
            }
            TensorMap::Constant => constant(x, &[2.0, 3.0], &[2]),
            TensorMap::First => x.flatten_all()?.narrow(0, 0, 1)?.sqr(),
        }
    }
}

impl TensorFunction for Counted<TensorSum> {
    fn call(&self, x: &Tensor, (): ()) -> Result<Tensor> {
        let n = x.elem_count();
        match self.0 {
            TensorSum::Squares => x.sqr()?.sum_all(),
            TensorSum::QuadraticForm => {
                let column = x.reshape((2, 1))?;
                column.t()?.matmul(&constant(x, &[2.0, 1.0, 0.0, 3.0], &[2, 2])?)?.matmul(&column)
            }
            TensorSum::Network => {
                let z = constant(x, &[1.0, 2.0, 3.0, -1.0], &[2, 2])?;
                let t = constant(x, &[1.0, 2.0], &[2, 1])?;
                let w = x.narrow(0, 0, 4)?.reshape((2, 2))?;
                let b = x.narrow(0, 4, 2)?.reshape((1, 2))?;
                let v = x.narrow(0, 6, 2)?.reshape((2, 1))?;
                let hidden = z.matmul(&w.t()?)?.broadcast_add(&b)?.tanh()?;
                (hidden.matmul(&v)? - t)?.sqr()?.sum_all()
            }
            TensorSum::LogSumExp => x.exp()?.sum_all()?.log(),
            TensorSum::Rosenbrock => {
                let (left, right) = (x.narrow(0, 0, n - 1)?, x.narrow(0, 1, n - 1)?);
                let valley = (right - left.sqr()?)?;
                ((valley.sqr()? * 100.0)? + left.affine(-1.0, 1.0)?.sqr()?)?.sum_all()
            }
            TensorSum::Constant => constant(x, &[7.0], &[1]),
            TensorSum::First => x.narrow(0, 0, 1)?.sqr(),
            TensorSum::Identity => Ok(x.clone()),
        }
    }
}
