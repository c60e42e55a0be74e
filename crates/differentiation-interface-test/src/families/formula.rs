//! The functions of the built-in scenarios, with their derivatives worked out by hand.
//!
//! A [`Formula`] is data, so that all of them share one type and each operator of a backend is compiled once for all;
//! [`ToNumber`](super::ToNumber) and its siblings adapt it to the shapes of functions.

use super::real_number::RealNumber;
use super::rules;
use differentiation_interface_core::{Base, Scalar};

/// A function from numbers to numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// Of one number `t`: sin(ωₖ t) for each frequency.
    Sines(Vec<f64>),
    /// sin xᵢ for each entry.
    EntrywiseSine,
    /// The entries themselves.
    Identity,
    /// The sum of the entries.
    Sum,
    /// (Σ xᵢ⁴)(Σ xᵢ⁶).
    PowerSums,
    /// The same as Σᵢⱼ xᵢ⁴ xⱼ⁶, term by term.
    PowerSumsByTerms,
    /// sin xᵢ and then cos xᵢ for all entries.
    SinesAndCosines {
        /// Number of columns of the matrix that the point stands for, read column by column; 1 for a vector.
        input_columns: usize,
        /// Whether the output is a matrix of two columns, sines and cosines, instead of one after the other.
        two_columns: bool,
    },
    /// (xᵢ₊₁ - xᵢ)², followed by the cubes if requested.
    Differences {
        /// Whether cubes follow the squares.
        cubes: bool,
        /// Whether the output is a matrix of two columns, squares and cubes.
        two_columns: bool,
    },
    /// Σ (xᵢ₊₁ - xᵢ)³.
    CubedDifferences,
    /// A v for vᵢ = xᵢ².
    SquareLinearMap(Sparse),
    /// vᵀ A v for vᵢ = xᵢ².
    SquareQuadraticForm(Sparse),
    /// Σ (k + 1) xₖ³ + xₖ xₖ₋₁.
    Cubes,
    /// xₖ² + xₖ₋₁ for each entry.
    Squares,
    /// The real part of Σ (k + 1) zₖ³ + zₖ zₖ₋₁ for zₖ = x₂ₖ + i x₂ₖ₊₁.
    ComplexCubes,
    /// zₖ² + zₖ₋₁, as real and imaginary part, for the same zₖ.
    ComplexSquares,
    /// Each rule of the rule table on coordinates of its own.
    Rules,
    /// The sum of all rules of the rule table.
    SumOfRules,
    /// Another formula times the sum of two captured numbers, as in a closure.
    Times(Box<Formula>, f64, f64),
    /// Another formula of which some coordinates are constants: the numbers given here. The others are the inputs.
    Partly(Box<Formula>, Vec<Option<f64>>),
    /// z³ for z = x₀ + iy with this constant y, as real and imaginary part.
    HolomorphicCube(f64),
}

/// A matrix given by its entries `(row, column, value)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    /// Number of rows, which is that of columns.
    pub size: usize,
    /// The entries.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Sparse {
    /// An upper band matrix with random entries between -1 and 1, the diagonal and `band` diagonals above it.
    pub fn upper_band(size: usize, band: usize) -> Self {
        let mut state = 1 + band as u64;
        let mut random = || {
            // splitmix64
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let places = (0..size).flat_map(|i| (i..size.min(i + band + 1)).map(move |j| (i, j)));
        Sparse { size, entries: places.map(|(i, j)| (i, j, random())).collect() }
    }
}

fn c<T: Scalar>(value: f64) -> T {
    T::constant(T::Base::from_f64(value))
}

/// The factor k + 1 of a term.
fn weight<B: Base>(k: usize) -> B {
    B::from_f64((k + 1) as f64)
}

impl Formula {
    /// Number of outputs for `n` inputs.
    pub fn outputs(&self, n: usize) -> usize {
        match self {
            Formula::Sines(frequencies) => frequencies.len(),
            Formula::EntrywiseSine | Formula::Identity | Formula::Squares | Formula::ComplexSquares => n,
            Formula::Sum
            | Formula::Cubes
            | Formula::ComplexCubes
            | Formula::PowerSums
            | Formula::PowerSumsByTerms
            | Formula::CubedDifferences
            | Formula::SquareQuadraticForm(_)
            | Formula::SumOfRules => 1,
            Formula::SinesAndCosines { .. } => 2 * n,
            Formula::Differences { cubes: false, .. } => n.saturating_sub(1),
            Formula::Differences { cubes: true, .. } => 2 * n.saturating_sub(1),
            Formula::SquareLinearMap(matrix) => matrix.size,
            Formula::Rules => rules::OF_ONE.len() + rules::OF_TWO.len(),
            Formula::Times(inner, ..) => inner.outputs(n),
            Formula::Partly(inner, frozen) => inner.outputs(frozen.len()),
            Formula::HolomorphicCube(_) => 2,
        }
    }

    /// Evaluates the function into `y`, whose length determines how many entries are written.
    pub fn evaluate<T: RealNumber>(&self, x: &[T], y: &mut [T]) {
        let n = x.len();
        match self {
            Formula::Sines(frequencies) => {
                for (y, frequency) in y.iter_mut().zip(frequencies) {
                    *y = x[0].scale(T::Base::from_f64(*frequency)).sin();
                }
            }
            Formula::EntrywiseSine => y.iter_mut().zip(x).for_each(|(y, x)| *y = x.sin()),
            Formula::Identity => y.iter_mut().zip(x).for_each(|(y, x)| *y = *x),
            Formula::Sum => y[0] = sum(n, |k| x[k]),
            Formula::PowerSums => {
                let fourth = sum(n, |k| x[k].powi(4));
                let sixth = sum(n, |k| x[k].powi(6));
                y[0] = fourth * sixth;
            }
            Formula::PowerSumsByTerms => {
                y[0] = sum(n * n, |k| x[k / n].powi(4) * x[k % n].powi(6));
            }
            Formula::SinesAndCosines { input_columns, two_columns } => {
                for k in 0..n {
                    let v = x[column_order(k, n, *input_columns)];
                    let (sine, cosine) = if *two_columns { (2 * k, 2 * k + 1) } else { (k, n + k) };
                    // An output prepared for another length keeps that length.
                    for (at, value) in [(sine, v.sin()), (cosine, v.cos())] {
                        if let Some(y) = y.get_mut(at) {
                            *y = value;
                        }
                    }
                }
                for y in y.iter_mut().skip(2 * n) {
                    *y = T::default();
                }
            }
            Formula::Differences { cubes, two_columns } => {
                let m = n.saturating_sub(1);
                for k in 0..m {
                    let difference = x[k + 1] - x[k];
                    let (square, cube) = if *two_columns { (2 * k, 2 * k + 1) } else { (k, m + k) };
                    y[square] = difference.powi(2);
                    if *cubes {
                        y[cube] = difference.powi(3);
                    }
                }
            }
            Formula::CubedDifferences => y[0] = sum(n.saturating_sub(1), |k| (x[k + 1] - x[k]).powi(3)),
            Formula::SquareLinearMap(matrix) => {
                y.fill(T::default());
                for &(i, j, a) in &matrix.entries {
                    y[i] += (x[j] * x[j]).scale(T::Base::from_f64(a));
                }
            }
            Formula::SquareQuadraticForm(matrix) => {
                // Row by row; a loop for the reason given at `sum`.
                y[0] = T::default();
                let (entries, mut row, mut of_row, mut at) = (matrix.entries.as_slice(), 0, T::default(), 0);
                while at < entries.len() {
                    let (i, j, a) = entries[at];
                    if i != row {
                        y[0] += x[row] * x[row] * of_row;
                        (row, of_row) = (i, T::default());
                    }
                    of_row += (x[j] * x[j]).scale(T::Base::from_f64(a));
                    at += 1;
                }
                if at > 0 {
                    y[0] += x[row] * x[row] * of_row;
                }
            }
            Formula::Cubes => {
                let cubes = sum(n, |k| x[k].powi(3).scale(weight(k)));
                y[0] = cubes + sum(n.saturating_sub(1), |k| x[k] * x[k + 1]);
            }
            Formula::Squares => {
                for k in 0..n {
                    y[k] = if k == 0 { x[0].powi(2) } else { x[k].powi(2) + x[k - 1] };
                }
            }
            Formula::ComplexCubes => {
                let cube = |z: &[T]| z[0].powi(3) - (z[0] * z[1] * z[1]).scale(T::Base::from_f64(3.0));
                let cubes = sum(n / 2, |k| cube(&x[2 * k..]).scale(weight(k)));
                y[0] =
                    cubes + sum((n / 2).saturating_sub(1), |k| x[2 * k] * x[2 * k + 2] - x[2 * k + 1] * x[2 * k + 3]);
            }
            Formula::ComplexSquares => {
                for re in (0..n).step_by(2) {
                    let im = re + 1;
                    let before = if re == 0 { [T::default(); 2] } else { [x[re - 2], x[im - 2]] };
                    y[re] = x[re] * x[re] - x[im] * x[im] + before[0];
                    y[im] = (x[re] * x[im]).scale(T::Base::from_f64(2.0)) + before[1];
                }
            }
            Formula::Rules => {
                let mut y = y.iter_mut();
                each_rule(x, |value| *y.next().expect("one output for each rule") = value);
            }
            Formula::SumOfRules => {
                let mut sum = T::default();
                each_rule(x, |value| sum += value);
                y[0] = sum;
            }
            Formula::Times(inner, a, b) => {
                inner.evaluate(x, y);
                let factor: T = c(a + b);
                y.iter_mut().for_each(|y| *y = *y * factor);
            }
            Formula::Partly(inner, frozen) => inner.evaluate(&completed(frozen, x, c), y),
            Formula::HolomorphicCube(im) => {
                let three = |v: T| v.scale(T::Base::from_f64(3.0));
                let im: T = c(*im);
                y[0] = x[0].powi(3) - three(x[0] * im * im);
                y[1] = three(x[0] * x[0] * im) - im.powi(3);
            }
        }
    }

    /// The value at `x`.
    pub fn value(&self, x: &[f64]) -> Vec<f64> {
        let whole = if *self == Formula::SumOfRules { &Formula::Rules } else { self };
        let mut y = vec![0.0; whole.outputs(x.len())];
        whole.evaluate(x, &mut y);
        if *whole == Formula::Rules {
            for (y, known) in y.iter_mut().zip(rules::known_values()) {
                *y = known.unwrap_or(*y);
            }
        }
        if *self == Formula::SumOfRules { vec![y.iter().sum()] } else { y }
    }

    /// The Jacobian at `x`, row by row.
    pub fn jacobian(&self, x: &[f64]) -> Vec<f64> {
        let (n, m) = (x.len(), self.outputs(x.len()));
        let mut jac = vec![0.0; m * n];
        let mut set = |i: usize, j: usize, value: f64| jac[i * n + j] += value;
        match self {
            Formula::Sines(frequencies) => {
                frequencies.iter().enumerate().for_each(|(i, w)| set(i, 0, w * (w * x[0]).cos()));
            }
            Formula::EntrywiseSine => (0..n).for_each(|i| set(i, i, x[i].cos())),
            Formula::Identity => (0..n).for_each(|i| set(i, i, 1.0)),
            Formula::Sum => (0..n).for_each(|j| set(0, j, 1.0)),
            Formula::PowerSums | Formula::PowerSumsByTerms => {
                let [s4, s6] = [4, 6].map(|p| x.iter().map(|v| v.powi(p)).sum::<f64>());
                (0..n).for_each(|k| set(0, k, 4.0 * x[k].powi(3) * s6 + 6.0 * x[k].powi(5) * s4));
            }
            Formula::SinesAndCosines { input_columns, two_columns } => {
                for k in 0..n {
                    let j = column_order(k, n, *input_columns);
                    let (sine, cosine) = if *two_columns { (2 * k, 2 * k + 1) } else { (k, n + k) };
                    set(sine, j, x[j].cos());
                    set(cosine, j, -x[j].sin());
                }
            }
            Formula::Differences { cubes, two_columns } => {
                let m = n.saturating_sub(1);
                for k in 0..m {
                    let d = x[k + 1] - x[k];
                    let (square, cube) = if *two_columns { (2 * k, 2 * k + 1) } else { (k, m + k) };
                    set(square, k, -2.0 * d);
                    set(square, k + 1, 2.0 * d);
                    if *cubes {
                        set(cube, k, -3.0 * d * d);
                        set(cube, k + 1, 3.0 * d * d);
                    }
                }
            }
            Formula::CubedDifferences => {
                for k in 0..n.saturating_sub(1) {
                    let d = x[k + 1] - x[k];
                    set(0, k, -3.0 * d * d);
                    set(0, k + 1, 3.0 * d * d);
                }
            }
            Formula::SquareLinearMap(matrix) => {
                matrix.entries.iter().for_each(|&(i, j, a)| set(i, j, 2.0 * a * x[j]));
            }
            Formula::SquareQuadraticForm(matrix) => {
                for &(i, j, a) in &matrix.entries {
                    set(0, i, 2.0 * a * x[i] * x[j] * x[j]);
                    set(0, j, 2.0 * a * x[j] * x[i] * x[i]);
                }
            }
            Formula::Cubes => {
                for k in 0..n {
                    set(0, k, 3.0 * (k + 1) as f64 * x[k] * x[k]);
                    if k > 0 {
                        set(0, k, x[k - 1]);
                        set(0, k - 1, x[k]);
                    }
                }
            }
            Formula::Squares => {
                (0..n).for_each(|k| set(k, k, 2.0 * x[k]));
                (1..n).for_each(|k| set(k, k - 1, 1.0));
            }
            // The derivative of Re g(z) by re z and im z is (Re g', -Im g').
            Formula::ComplexCubes => {
                for (k, z) in x.chunks_exact(2).enumerate() {
                    let three = 3.0 * (k + 1) as f64;
                    set(0, 2 * k, three * (z[0] * z[0] - z[1] * z[1]));
                    set(0, 2 * k + 1, -three * 2.0 * z[0] * z[1]);
                }
                for at in 2..n {
                    let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
                    set(0, at, sign * x[at - 2]);
                    set(0, at - 2, sign * x[at]);
                }
            }
            Formula::ComplexSquares => {
                for (k, z) in x.chunks_exact(2).enumerate() {
                    let (re, im) = (2 * k, 2 * k + 1);
                    [(re, re, z[0]), (re, im, -z[1]), (im, re, z[1]), (im, im, z[0])]
                        .iter()
                        .for_each(|(i, j, v)| set(*i, *j, 2.0 * v));
                }
                (2..n).for_each(|at| set(at, at - 2, 1.0));
            }
            Formula::Rules | Formula::SumOfRules => {
                let row = |k: usize| if *self == Formula::Rules { k } else { 0 };
                let ones = rules::OF_ONE.len();
                rules::derivatives_of_one().iter().enumerate().for_each(|(k, (first, _))| set(row(k), k, *first));
                for (k, [dx, dy, ..]) in rules::derivatives_of_two().iter().enumerate() {
                    set(row(ones + k), ones + 2 * k, *dx);
                    set(row(ones + k), ones + 2 * k + 1, *dy);
                }
            }
            Formula::Times(inner, a, b) => jac = inner.jacobian(x).iter().map(|v| (a + b) * v).collect(),
            Formula::Partly(inner, frozen) => {
                let whole = inner.jacobian(&completed(frozen, x, |v| v));
                jac = whole.chunks(frozen.len()).flat_map(|row| freed(frozen, row)).collect();
            }
            // 3z².
            Formula::HolomorphicCube(im) => jac = vec![3.0 * (x[0] * x[0] - im * im), 6.0 * x[0] * im],
        }
        jac
    }

    /// The Hessian at `x` of a formula with one output, row by row; the second derivatives of one with one input.
    pub fn hessian(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        if let Formula::Sines(frequencies) = self {
            return frequencies.iter().map(|w| -w * w * (w * x[0]).sin()).collect();
        }
        let mut hess = vec![0.0; n * n];
        let mut set = |i: usize, j: usize, value: f64| hess[i * n + j] += value;
        match self {
            Formula::PowerSums | Formula::PowerSumsByTerms => {
                let [s4, s6] = [4, 6].map(|p| x.iter().map(|v| v.powi(p)).sum::<f64>());
                for k in 0..n {
                    set(k, k, 12.0 * x[k].powi(2) * s6 + 30.0 * x[k].powi(4) * s4);
                    for l in 0..n {
                        set(k, l, 24.0 * (x[k].powi(3) * x[l].powi(5) + x[k].powi(5) * x[l].powi(3)));
                    }
                }
            }
            Formula::CubedDifferences => {
                for k in 0..n.saturating_sub(1) {
                    let d = x[k + 1] - x[k];
                    for (i, j, sign) in [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)] {
                        set(i, j, 6.0 * sign * d);
                    }
                }
            }
            Formula::SquareQuadraticForm(matrix) => {
                for &(i, j, a) in &matrix.entries {
                    if i == j {
                        set(i, i, 12.0 * a * x[i] * x[i]);
                    } else {
                        set(i, i, 2.0 * a * x[j] * x[j]);
                        set(j, j, 2.0 * a * x[i] * x[i]);
                        set(i, j, 4.0 * a * x[i] * x[j]);
                        set(j, i, 4.0 * a * x[i] * x[j]);
                    }
                }
            }
            Formula::Cubes => {
                (0..n).for_each(|k| set(k, k, 6.0 * (k + 1) as f64 * x[k]));
                (1..n).for_each(|k| [(k, k - 1), (k - 1, k)].iter().for_each(|(i, j)| set(*i, *j, 1.0)));
            }
            Formula::ComplexCubes => {
                for (k, z) in x.chunks_exact(2).enumerate() {
                    let (re, im, six) = (2 * k, 2 * k + 1, 6.0 * (k + 1) as f64);
                    [(re, re, z[0]), (re, im, -z[1]), (im, re, -z[1]), (im, im, -z[0])]
                        .iter()
                        .for_each(|(i, j, v)| set(*i, *j, six * v));
                }
                for at in 2..n {
                    let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
                    [(at, at - 2), (at - 2, at)].iter().for_each(|(i, j)| set(*i, *j, sign));
                }
            }
            Formula::SumOfRules => {
                let ones = rules::OF_ONE.len();
                rules::derivatives_of_one().iter().enumerate().for_each(|(k, (_, second))| set(k, k, *second));
                for (k, [_, _, xx, xy, yy]) in rules::derivatives_of_two().iter().enumerate() {
                    let (i, j) = (ones + 2 * k, ones + 2 * k + 1);
                    set(i, i, *xx);
                    set(i, j, *xy);
                    set(j, i, *xy);
                    set(j, j, *yy);
                }
            }
            Formula::Times(inner, a, b) => hess = inner.hessian(x).iter().map(|v| (a + b) * v).collect(),
            Formula::Partly(inner, frozen) => {
                let whole = inner.hessian(&completed(frozen, x, |v| v));
                let rows: Vec<&[f64]> = whole.chunks(frozen.len()).collect();
                hess = freed(frozen, &rows).flat_map(|row| freed(frozen, row)).collect();
            }
            // 6z.
            Formula::HolomorphicCube(im) => hess = vec![6.0 * x[0], 6.0 * im],
            // The others are linear, or have several outputs and no Hessian.
            _ => {}
        }
        hess
    }

    /// The point at which derivatives of the rules are known.
    pub fn point_of_rules() -> Vec<f64> {
        let ones = rules::OF_ONE.iter().map(|(_, at)| *at);
        ones.chain(rules::OF_TWO.iter().flat_map(|(_, x, y)| [*x, *y])).collect()
    }

    /// The name of each rule, output by output of [`Formula::Rules`].
    pub fn names_of_rules() -> Vec<&'static str> {
        rules::OF_ONE.iter().map(|(name, _)| *name).chain(rules::OF_TWO.iter().map(|(name, ..)| *name)).collect()
    }
}

/// The place in a flat row-by-row matrix of `n` entries of its `k`-th entry column by column.
fn column_order(k: usize, n: usize, columns: usize) -> usize {
    let rows = n.checked_div(columns).unwrap_or(0).max(1);
    (k % rows) * columns + k / rows
}

/// All coordinates, from the constants among them and the others.
fn completed<T: Copy>(frozen: &[Option<f64>], free: &[T], constant: impl Fn(f64) -> T) -> Vec<T> {
    let mut free = free.iter();
    let next = |v: &Option<f64>| v.map_or_else(|| *free.next().expect("one number for each free place"), &constant);
    frozen.iter().map(next).collect()
}

/// The entries at the free places.
fn freed<T: Copy>(frozen: &[Option<f64>], entries: &[T]) -> impl Iterator<Item = T> {
    frozen.iter().zip(entries).filter(|(frozen, _)| frozen.is_none()).map(|(_, entry)| *entry)
}

/// The sum of the first `n` terms. A loop, no iterator: tests that are not optimised spend most of their time here.
fn sum<T: RealNumber>(n: usize, term: impl Fn(usize) -> T) -> T {
    let (mut sum, mut k) = (T::default(), 0);
    while k < n {
        sum += term(k);
        k += 1;
    }
    sum
}

/// Applies every rule and passes on the values.
fn each_rule<T: RealNumber>(x: &[T], mut out: impl FnMut(T)) {
    let (ones, twos) = x.split_at(rules::OF_ONE.len());
    rules::values_of_one(ones, &mut out);
    rules::values_of_two(twos, &mut out);
}
