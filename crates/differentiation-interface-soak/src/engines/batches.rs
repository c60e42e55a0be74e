//! Many copies of a program as one function, which becomes loops of vectors, and on threads loops of chunks.
//!
//! Called by `engines::all`. Two copies of three are at the point of the call, the others at earlier points, so that vectors hold different
//! numbers; each of some copies is compared with the reference of the program alone.

use super::candidate::Quantity::{Gradient, Hvp, Jacobian, Pullback, Pushforward, Value};
use super::candidate::{Answers, Call, Candidate, Precision};
use super::first_order::rising;
use crate::function::{self, COTANGENTS, TANGENTS};
use crate::program::Program;
use differentiation_interface::prelude::*;

/// Copies of a batch: vectors and a remainder.
const COPIES: usize = 67;
/// Copies of which each thread gets more than one chunk.
#[cfg(feature = "rayon")]
const MANY_COPIES: usize = 2051;

/// All outputs of all copies: output j of copy k is at j · copies + k, and input i at i · copies + k.
#[derive(Clone, Copy)]
struct Outputs<'a> {
    program: &'a Program,
    copies: usize,
}

/// The sum of the first outputs of all copies.
#[derive(Clone, Copy)]
struct Sum<'a>(Outputs<'a>);

impl Outputs<'_> {
    /// Runs copy `k` after copy `k`.
    fn each<T: Real>(&self, x: &[T], mut take: impl FnMut(usize, Vec<T>)) {
        let mut point = vec![T::constant(0.0); self.program.inputs];
        for k in 0..self.copies {
            for (i, x_i) in point.iter_mut().enumerate() {
                *x_i = x[i * self.copies + k];
            }
            take(k, function::run(self.program, &point));
        }
    }

    /// The points of all copies: two of three at `x`.
    fn spread(&self, x: &[f64], earlier: &[f64]) -> Vec<f64> {
        let of = |i: usize, k: usize| if k % 3 == 1 { earlier[i] } else { x[i] };
        (0..x.len()).flat_map(|i| (0..self.copies).map(move |k| of(i, k))).collect()
    }

    /// The same seed for all copies.
    fn repeated(&self, seed: &[f64]) -> Vec<f64> {
        seed.iter().flat_map(|v| std::iter::repeat_n(*v, self.copies)).collect()
    }

    /// The numbers of copy `k`.
    fn of_copy(&self, numbers: &[f64], k: usize) -> Vec<f64> {
        numbers.iter().skip(k).step_by(self.copies).copied().collect()
    }

    /// Copies at the point of the call, some of them: neighbours at both ends, and others between.
    fn compared(&self) -> impl Iterator<Item = usize> {
        let (copies, stride) = (self.copies, self.copies.div_ceil(32));
        (0..copies).filter(move |k| k % 3 != 1 && (k % stride == 0 || *k < 9 || k + 9 > copies))
    }
}

impl<T: Real> Function<[T]> for Outputs<'_> {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let mut y = vec![T::constant(0.0); self.copies * self.program.outputs.len()];
        self.each(x, |k, outputs| {
            for (j, y_j) in outputs.into_iter().enumerate() {
                y[j * self.copies + k] = y_j;
            }
        });
        y
    }
}

impl<T: Real> Function<[T]> for Sum<'_> {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        let mut sum = T::constant(0.0);
        self.0.each(x, |_, outputs| sum += outputs[0]);
        sum
    }
}

/// Calls `go` at batches, each made of the point of a call and the one before.
fn batches<'p>(
    of: Outputs<'p>,
    first: &[f64],
    mut go: impl FnMut(&Outputs<'p>, &[f64]) -> Result<Answers, Error> + 'p,
) -> Call<'p> {
    let mut earlier = first.to_vec();
    Box::new(move |x| {
        let spread = of.spread(x, &earlier);
        earlier.copy_from_slice(x);
        go(&of, &spread)
    })
}

/// Makes a candidate from a backend and the number of copies.
macro_rules! candidate {
    ($make:ident, $name:literal, $copies:expr, $backend:expr) => {{
        fn start<'p>(program: &'p Program, x: &[f64]) -> Result<Call<'p>, Error> {
            $make!(Outputs { program, copies: $copies }, x, $backend)
        }
        Candidate { name: $name, precision: Precision::Double, start }
    }};
}

macro_rules! gradient {
    ($of:expr, $x:ident, $backend:expr) => {{
        let of = $of;
        let mut prepared = prepare_gradient(Box::new(Sum(of)), &$backend, &of.spread($x, $x))?;
        Ok(batches(of, $x, move |of, x| {
            let grad = prepared.gradient(x)?;
            Ok(of.compared().map(|k| (Gradient, of.of_copy(&grad, k))).collect())
        }))
    }};
}

macro_rules! hvp {
    ($of:expr, $x:ident, $backend:expr) => {{
        let of = $of;
        let seeds = TANGENTS.map(|tangent| of.repeated(&tangent[..of.program.inputs]));
        let mut prepared = prepare_hvp(Box::new(Sum(of)), &$backend, &of.spread($x, $x), [&seeds[0], &seeds[1]])?;
        Ok(batches(of, $x, move |of, x| {
            let [first, second] = prepared.hvp(x, [&seeds[0], &seeds[1]])?;
            let copy = |k| [(Hvp(0), of.of_copy(&first, k)), (Hvp(1), of.of_copy(&second, k))];
            Ok(of.compared().flat_map(copy).collect())
        }))
    }};
}

macro_rules! pullback {
    ($of:expr, $x:ident, $backend:expr) => {{
        let of = $of;
        let seed = of.repeated(&COTANGENTS[0][..of.program.outputs.len()]);
        let mut prepared = prepare_pullback(Box::new(of), &$backend, &of.spread($x, $x), [&seed])?;
        Ok(batches(of, $x, move |of, x| {
            let (y, [product]) = prepared.value_and_pullback(x, [&seed])?;
            let copy = |k| [(Value, of.of_copy(&y, k)), (Pullback(0), of.of_copy(&product, k))];
            Ok(of.compared().flat_map(copy).collect())
        }))
    }};
}

macro_rules! pushforward {
    ($of:expr, $x:ident, $backend:expr) => {{
        let of = $of;
        let seed = of.repeated(&TANGENTS[0][..of.program.inputs]);
        let mut prepared = prepare_pushforward(Box::new(of), &$backend, &of.spread($x, $x), [&seed])?;
        Ok(batches(of, $x, move |of, x| {
            let [product] = prepared.pushforward(x, [&seed])?;
            Ok(of.compared().map(|k| (Pushforward(0), of.of_copy(&product, k))).collect())
        }))
    }};
}

macro_rules! sparse_jacobian {
    ($of:expr, $x:ident, $backend:expr) => {{
        let of = $of;
        let start = of.spread($x, $x);
        let mut prepared = prepare_jacobian(Box::new(of), &AutoSparse::new($backend), &start)?;
        // One matrix for all calls, of which only some entries are written again.
        let mut jac = prepared.jacobian(&start)?;
        Ok(batches(of, $x, move |of, x| {
            prepared.jacobian_into(&mut jac, x)?;
            let (n, m) = (of.program.inputs, of.program.outputs.len());
            let entries = |k| {
                let entry = move |at: usize| (at / n * of.copies + k, at % n * of.copies + k);
                (0..m * n).map(entry).map(|(i, j)| jac.get(i, j)).collect()
            };
            let block = |k| (Jacobian, entries(k));
            Ok(of.compared().map(block).collect())
        }))
    }};
}

/// The candidates of batches: engines that compile.
pub(super) fn candidates() -> Vec<Candidate> {
    let mut all = vec![
        candidate!(gradient, "gradient compiled, batch", COPIES, AutoReverseDiff::compiled()),
        candidate!(gradient, "gradient default, batch", COPIES, rising()),
        candidate!(pullback, "pullback compiled, batch", COPIES, AutoReverseDiff::compiled()),
        candidate!(pushforward, "pushforward compiled, batch", COPIES, AutoReverseDiff::compiled()),
        candidate!(hvp, "hvp compiled, batch", COPIES, AutoReverseDiff::compiled()),
        candidate!(sparse_jacobian, "sparse jacobian compiled, batch", COPIES, AutoReverseDiff::compiled()),
    ];
    all.extend(on_threads());
    all
}

#[cfg(not(feature = "rayon"))]
fn on_threads() -> Vec<Candidate> {
    Vec::new()
}

#[cfg(feature = "rayon")]
fn on_threads() -> Vec<Candidate> {
    vec![
        candidate!(gradient, "gradient compiled, 2 threads", MANY_COPIES, AutoReverseDiff::compiled().with_threads(2)),
        candidate!(pullback, "pullback compiled, 2 threads", MANY_COPIES, AutoReverseDiff::compiled().with_threads(2)),
    ]
}
