//! Lanes: the number of tangents that a number carries, as a type.

use crate::scalar::Scalar;
use std::fmt::Debug;

/// A number of lanes, fixed at compile time. Implemented by [`Lane<N>`] only.
pub trait Lanes: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// The number of lanes.
    const N: usize;
    /// The capacity of the arrays, in lanes.
    const ROOM: usize;
    /// The same capacity with at most `K` lanes, for points of `K` numbers: lanes without an input are not computed.
    type AtMost<const K: usize>: Lanes;
    /// An array of one value per lane.
    type Of<S: Scalar>: Copy + Debug + Send + Sync + 'static;

    /// An array of anything per lane.
    type Array<T: Copy + Debug + Send + Sync + 'static>: Copy + Debug + Send + Sync + 'static + AsRef<[T]> + AsMut<[T]>;

    /// Makes an array with the same value in each lane.
    fn repeat<T: Copy + Debug + Send + Sync + 'static>(value: T) -> Self::Array<T>;
    /// Makes an array lane by lane.
    fn each<S: Scalar>(make: impl FnMut(usize) -> S) -> Self::Of<S>;
    /// Reads the lanes as a slice.
    fn slice<S: Scalar>(of: &Self::Of<S>) -> &[S];
    /// Writes the lanes as a slice.
    fn slice_mut<S: Scalar>(of: &mut Self::Of<S>) -> &mut [S];
    /// Combines one array lane by lane.
    fn map<S: Scalar>(a: &Self::Of<S>, f: impl Fn(S) -> S) -> Self::Of<S>;
    /// Combines two arrays lane by lane.
    fn zip<S: Scalar>(a: &Self::Of<S>, b: &Self::Of<S>, f: impl Fn(S, S) -> S) -> Self::Of<S>;
}

/// `N` lanes, or `K` if that is less, in arrays of capacity `N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane<const N: usize, const K: usize = N>;

impl<const N: usize, const K: usize> Lane<N, K> {
    /// Whether some lanes of the arrays are unused and stay zero.
    const PARTIAL: bool = K < N;
}

impl<const N: usize, const K: usize> Lanes for Lane<N, K> {
    const N: usize = if K < N { K } else { N };
    const ROOM: usize = N;
    type AtMost<const M: usize> = Lane<N, M>;
    type Of<S: Scalar> = [S; N];
    type Array<T: Copy + Debug + Send + Sync + 'static> = [T; N];

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn repeat<T: Copy + Debug + Send + Sync + 'static>(value: T) -> [T; N] {
        [value; N]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn each<S: Scalar>(mut make: impl FnMut(usize) -> S) -> [S; N] {
        if !Self::PARTIAL {
            return std::array::from_fn(make);
        }
        let mut out = [S::default(); N];
        for (lane, out) in out[..Self::N].iter_mut().enumerate() {
            *out = make(lane);
        }
        out
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice<S: Scalar>(of: &[S; N]) -> &[S] {
        &of[..Self::N]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice_mut<S: Scalar>(of: &mut [S; N]) -> &mut [S] {
        &mut of[..Self::N]
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map<S: Scalar>(a: &[S; N], f: impl Fn(S) -> S) -> [S; N] {
        let mut out = if Self::PARTIAL { [S::default(); N] } else { *a };
        for (out, &a) in out[..Self::N].iter_mut().zip(a) {
            *out = f(a);
        }
        out
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn zip<S: Scalar>(a: &[S; N], b: &[S; N], f: impl Fn(S, S) -> S) -> [S; N] {
        let mut out = if Self::PARTIAL { [S::default(); N] } else { *a };
        for i in 0..Self::N {
            out[i] = f(a[i], b[i]);
        }
        out
    }
}
