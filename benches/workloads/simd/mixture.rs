//! The mixture of W7 in vectors of points.
//!
//! With Q the factor of a component, exp(q) on its diagonal, c the centred points and w their weights (softmax of the terms),
//! the gradient takes no more of the points than three moments of each component, Σ w, s = Σ w c and S = Σ w c cᵀ: it is
//! -Q S in the factor's entries, Σ w added on the diagonal's logarithms, and Qᵀ Q s in the mean. So for each point and component there
//! are d (d + 1) / 2 multiplications to find Q c and as many to add to S, where the gradient by hand in single numbers takes
//! three times d (d + 1) / 2. Both run in tiles of registers, on chunks of points that stay in cache.

use super::Gradient;
use crate::workloads::mixture::Mixture;
use pulp::bytemuck::cast_slice_mut;
use pulp::{Arch, Simd, WithSimd};

/// Points of one chunk: full vectors for every width up to 8.
const CHUNK: usize = 64;
/// Vectors of points that share the loads of a factor.
const STRIP: usize = 4;

/// Gradient of the mixture; copies its points to another layout once, as a preparation would do.
pub(crate) fn gradient(mixture: &Mixture) -> Gradient<'_> {
    let (arch, mut memory) = (Arch::new(), Memory::new(mixture));
    let (d, k) = (mixture.d, mixture.k);
    Box::new(move |grad, x| arch.dispatch(Kernel { d, k, memory: &mut memory, grad, x }))
}

/// Numbers aligned to a cache line.
struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn zeros(length: usize) -> Aligned {
        let numbers = vec![0.0; length + 7];
        let start = numbers.as_ptr().align_offset(64).min(7);
        Aligned { numbers, start, length }
    }
    fn slice(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..][..self.length]
    }
}

struct Memory {
    /// The dimensions, plus one of zeros if they are odd, because rows are processed in pairs.
    even: usize,
    /// Number of points.
    count: usize,
    /// Coordinates of the points: `[chunk][dimension][point]`, with zeros in place of missing points.
    points: Aligned,
    /// 1 for each point, 0 for missing points.
    present: Aligned,
    /// Terms, then weights: `[chunk][component][point]`.
    terms: Aligned,
    /// Centred points, and the same times their weights: `[dimension][point]`.
    centred: Aligned,
    weighted: Aligned,
    /// Sums of one component, a vector each: Σ w, Σ w c, and the tiles of Σ w c cᵀ.
    sums: Aligned,
    /// First row, first column and rows of the tiles; they have two columns.
    tiles: Vec<(usize, usize, usize)>,
    /// exp(q), and the sums of q.
    exp_q: Aligned,
    sum_q: Vec<f64>,
    /// Factors by rows, and in pairs of rows: `[component][pair][column][row of the pair]`.
    factors: Vec<f64>,
    pairs: Vec<f64>,
    /// Σ w c, S and Q S of one component.
    moment: Vec<f64>,
    moments: Vec<f64>,
    product: Vec<f64>,
}

impl Memory {
    fn new(mixture: &Mixture) -> Memory {
        let (d, k) = (mixture.d, mixture.k);
        let (even, count) = (d.next_multiple_of(2), mixture.points.len() / d);
        let chunks = count.div_ceil(CHUNK);
        let mut points = Aligned::zeros(chunks * even * CHUNK);
        let mut present = Aligned::zeros(chunks * CHUNK);
        for (i, point) in mixture.points.chunks(d).enumerate() {
            present.slice()[i] = 1.0;
            for (j, coordinate) in point.iter().enumerate() {
                points.slice()[(i / CHUNK * even + j) * CHUNK + i % CHUNK] = *coordinate;
            }
        }
        let mut tiles = Vec::new();
        for row in (0..even).step_by(4) {
            let rows = (even - row).min(4);
            tiles.extend((0..=row).step_by(2).map(|column| (row, column, rows)));
            if rows == 4 {
                tiles.push((row + 2, row + 2, 2));
            }
        }
        let entries = tiles.iter().map(|(_, _, rows)| 2 * rows).sum::<usize>();
        Memory {
            even,
            count,
            points,
            present,
            terms: Aligned::zeros(chunks * k * CHUNK),
            centred: Aligned::zeros(even * CHUNK),
            weighted: Aligned::zeros(even * CHUNK),
            sums: Aligned::zeros((1 + even + entries) * 8),
            tiles,
            exp_q: Aligned::zeros((k * d).next_multiple_of(8)),
            sum_q: vec![0.0; k],
            factors: vec![0.0; k * even * even],
            pairs: vec![0.0; k * even * even],
            moment: vec![0.0; even],
            moments: vec![0.0; even * even],
            product: vec![0.0; even * even],
        }
    }
}

struct Kernel<'a> {
    d: usize,
    k: usize,
    memory: &'a mut Memory,
    grad: &'a mut [f64],
    x: &'a [f64],
}

impl WithSimd for Kernel<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Kernel { d, k, memory, grad, x } = self;
        let (even, count, width) = (memory.even, memory.count, d * (d + 1) / 2);
        let (alpha, rest) = x.split_at(k);
        let (means, factors) = rest.split_at(k * d);
        let (grad_alpha, rest) = grad.split_at_mut(k);
        let (grad_means, grad_factors) = rest.split_at_mut(k * d);

        let mut value = 0.5 * unpack(simd, memory, factors, d, k);
        for chunk in 0..count.div_ceil(CHUNK) {
            value += weights(simd, memory, alpha, means, chunk, d, k);
        }

        let most = alpha.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = alpha.iter().map(|a| (a - most).exp()).sum();
        value -= count as f64 * (most + sum.ln());
        for c in 0..k {
            let mean = &means[c * d..][..d];
            let weight = moments(simd, memory, mean, c, k);
            grad_alpha[c] = weight - count as f64 * (alpha[c] - most).exp() / sum;
            let (factor, grad_factor) = (&factors[c * width..][..width], &mut grad_factors[c * width..][..width]);
            let q = &memory.factors[c * even * even..][..even * even];
            multiply(q, &memory.moments, &mut memory.product, even, d);
            let grad_mean = &mut grad_means[c * d..][..d];
            grad_mean.fill(0.0);
            for row in 0..d {
                let q = &q[row * even..][..=row];
                let mapped: f64 = q.iter().zip(&memory.moment).map(|(q, s)| q * s).sum();
                for (g, q) in grad_mean.iter_mut().zip(q) {
                    *g += q * mapped;
                }
            }
            for j in 0..d {
                let e = q[j * even + j];
                grad_factor[j] = weight - e * memory.product[j * even + j] + e * e;
            }
            let mut l = d;
            for column in 0..d {
                for row in column + 1..d {
                    grad_factor[l] = factor[l] - memory.product[row * even + column];
                    l += 1;
                }
            }
        }
        value
    }
}

/// Fills in the factors in both orders, with exp(q) and Σ q; returns the sum of the squares of their entries.
#[inline(always)]
fn unpack<S: Simd>(simd: S, memory: &mut Memory, factors: &[f64], d: usize, k: usize) -> f64 {
    let (even, width) = (memory.even, d * (d + 1) / 2);
    let exp_q = memory.exp_q.slice();
    for (exp_q, factor) in exp_q.chunks_mut(d).zip(factors.chunks(width)) {
        exp_q.copy_from_slice(&factor[..d]);
    }
    S::as_mut_simd_f64s(exp_q).0.iter_mut().for_each(|q| *q = exp(simd, *q));
    let mut squares = 0.0;
    for c in 0..k {
        let factor = &factors[c * width..][..width];
        let exp_q = &exp_q[c * d..][..d];
        memory.sum_q[c] = factor[..d].iter().sum();
        squares += sum_of_squares(simd, exp_q) + sum_of_squares(simd, &factor[d..]);
        let rows = &mut memory.factors[c * even * even..][..even * even];
        let mut l = d;
        for column in 0..d {
            rows[column * even + column] = exp_q[column];
            for row in column + 1..d {
                rows[row * even + column] = factor[l];
                l += 1;
            }
        }
        let pairs = &mut memory.pairs[c * even * even..][..even * even];
        for (pair, rows) in pairs.chunks_mut(2 * even).zip(rows.chunks(2 * even)) {
            let (first, second) = rows.split_at(even);
            for (pair, (first, second)) in pair.chunks_mut(2).zip(first.iter().zip(second)) {
                (pair[0], pair[1]) = (*first, *second);
            }
        }
    }
    squares
}

#[inline(always)]
fn sum_of_squares<S: Simd>(simd: S, x: &[f64]) -> f64 {
    let (x, rest) = S::as_simd_f64s(x);
    let mut sum = simd.splat_f64s(0.0);
    for x in x {
        sum = simd.mul_add_e_f64s(*x, *x, sum);
    }
    simd.reduce_sum_f64s(sum) + rest.iter().map(|x| x * x).sum::<f64>()
}

/// Vectors of a chunk, of which the last one may be shorter.
#[inline(always)]
fn vectors<S: Simd>(count: usize, chunk: usize) -> usize {
    (count - chunk * CHUNK).min(CHUNK).div_ceil(STRIP * S::F64_LANES) * STRIP
}

/// Writes the centred points of a chunk.
#[inline(always)]
fn centre<S: Simd>(simd: S, centred: &mut [f64], points: &[f64], mean: &[f64], vectors: usize) {
    for ((centred, points), mean) in centred.chunks_mut(CHUNK).zip(points.chunks(CHUNK)).zip(mean) {
        let mean = simd.splat_f64s(*mean);
        let (centred, points) = (S::as_mut_simd_f64s(centred).0, S::as_simd_f64s(points).0);
        for (centred, point) in centred[..vectors].iter_mut().zip(&points[..vectors]) {
            *centred = simd.sub_f64s(*point, mean);
        }
    }
}

/// Writes the weights of a chunk of points; returns the sum of the logarithms of the sums of their exponentials.
#[inline(always)]
fn weights<S: Simd>(
    simd: S,
    memory: &mut Memory,
    alpha: &[f64],
    means: &[f64],
    chunk: usize,
    d: usize,
    k: usize,
) -> f64 {
    let (even, stride) = (memory.even, CHUNK / S::F64_LANES);
    let vectors = vectors::<S>(memory.count, chunk);
    let points = &memory.points.slice()[chunk * even * CHUNK..][..even * CHUNK];
    let terms = S::as_mut_simd_f64s(&mut memory.terms.slice()[chunk * k * CHUNK..][..k * CHUNK]).0;
    for c in 0..k {
        centre(simd, memory.centred.slice(), points, &means[c * d..][..d], vectors);
        let centred = S::as_simd_f64s(memory.centred.slice()).0;
        let pairs = &memory.pairs[c * even * even..][..even * even];
        let most = simd.splat_f64s(alpha[c] + memory.sum_q[c]);
        let terms = &mut terms[c * stride..][..vectors];
        for (strip, terms) in terms.chunks_exact_mut(STRIP).enumerate() {
            let norms = norms(simd, pairs, &centred[strip * STRIP..], even, stride);
            for (term, norm) in terms.iter_mut().zip(norms) {
                *term = simd.mul_add_e_f64s(simd.splat_f64s(-0.5), norm, most);
            }
        }
    }

    let present = S::as_simd_f64s(&memory.present.slice()[chunk * CHUNK..][..CHUNK]).0;
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    // One logarithm of a product in place of many: sums are between 1 and k, and there are at most 64 of them.
    let (mut total, mut product) = (zero, one);
    for v in 0..vectors {
        let terms = &mut terms[v..];
        let most = terms.iter().step_by(stride).fold(terms[0], |most, term| simd.max_f64s(most, *term));
        let mut sum = zero;
        for term in terms.iter_mut().step_by(stride) {
            *term = exp(simd, simd.sub_f64s(*term, most));
            sum = simd.add_f64s(sum, *term);
        }
        let scale = simd.div_f64s(present[v], sum);
        for term in terms.iter_mut().step_by(stride) {
            *term = simd.mul_f64s(*term, scale);
        }
        total = simd.mul_add_e_f64s(most, present[v], total);
        let absent = simd.sub_f64s(one, present[v]);
        product = simd.mul_f64s(product, simd.mul_add_e_f64s(sum, present[v], absent));
    }
    let mut logarithms = [product];
    simd.reduce_sum_f64s(total) + cast_slice_mut::<_, f64>(&mut logarithms).iter().map(|p| p.ln()).sum::<f64>()
}

/// |Q c|² of one strip of points.
#[inline(always)]
fn norms<S: Simd>(simd: S, pairs: &[f64], centred: &[S::f64s], even: usize, stride: usize) -> [S::f64s; STRIP] {
    let mut norms = [simd.splat_f64s(0.0); STRIP];
    for (row, pair) in (0..even).step_by(2).zip(pairs.chunks_exact(2 * even)) {
        let mut first = [simd.splat_f64s(0.0); STRIP];
        let mut second = first;
        for (q, c) in pair[..2 * (row + 2)].chunks_exact(2).zip(centred.chunks(stride)) {
            let (a, b) = (simd.splat_f64s(q[0]), simd.splat_f64s(q[1]));
            let c = &c[..STRIP];
            for i in 0..STRIP {
                first[i] = simd.mul_add_e_f64s(a, c[i], first[i]);
                second[i] = simd.mul_add_e_f64s(b, c[i], second[i]);
            }
        }
        for i in 0..STRIP {
            norms[i] = simd.mul_add_e_f64s(first[i], first[i], norms[i]);
            norms[i] = simd.mul_add_e_f64s(second[i], second[i], norms[i]);
        }
    }
    norms
}

/// Sums up the moments of a component; returns Σ w.
#[inline(always)]
fn moments<S: Simd>(simd: S, memory: &mut Memory, mean: &[f64], component: usize, k: usize) -> f64 {
    let (even, stride, zero) = (memory.even, CHUNK / S::F64_LANES, simd.splat_f64s(0.0));
    let used = memory.sums.length / 8;
    let sums = &mut S::as_mut_simd_f64s(memory.sums.slice()).0[..used];
    sums.fill(zero);
    for chunk in 0..memory.count.div_ceil(CHUNK) {
        let vectors = vectors::<S>(memory.count, chunk);
        let points = &memory.points.slice()[chunk * even * CHUNK..][..even * CHUNK];
        centre(simd, memory.centred.slice(), points, mean, vectors);
        let weights = &memory.terms.slice()[(chunk * k + component) * CHUNK..][..CHUNK];
        let weights = &S::as_simd_f64s(weights).0[..vectors];
        sums[0] = weights.iter().fold(sums[0], |sum, weight| simd.add_f64s(sum, *weight));
        let centred = S::as_simd_f64s(memory.centred.slice()).0;
        let weighted = S::as_mut_simd_f64s(memory.weighted.slice()).0;
        for j in 0..mean.len() {
            let (centred, weighted) = (&centred[j * stride..][..vectors], &mut weighted[j * stride..][..vectors]);
            let mut sum = sums[1 + j];
            for ((weighted, centred), weight) in weighted.iter_mut().zip(centred).zip(weights) {
                *weighted = simd.mul_f64s(*centred, *weight);
                sum = simd.add_f64s(sum, *weighted);
            }
            sums[1 + j] = sum;
        }
        let mut sums = &mut sums[1 + even..];
        for &(row, column, rows) in &memory.tiles {
            let (tile, rest) = sums.split_at_mut(2 * rows);
            let (weighted, centred) = (&weighted[row * stride..], &centred[column * stride..]);
            match rows {
                4 => add_tile::<S, 4>(simd, tile, weighted, centred, stride, vectors),
                _ => add_tile::<S, 2>(simd, tile, weighted, centred, stride, vectors),
            }
            sums = rest;
        }
    }
    for (moment, sum) in memory.moment.iter_mut().zip(&sums[1..]) {
        *moment = simd.reduce_sum_f64s(*sum);
    }
    let mut at = 1 + even;
    for &(row, column, rows) in &memory.tiles {
        for (i, sum) in sums[at..][..2 * rows].iter().enumerate() {
            let (row, column, sum) = (row + i / 2, column + i % 2, simd.reduce_sum_f64s(*sum));
            memory.moments[row * even + column] = sum;
            memory.moments[column * even + row] = sum;
        }
        at += 2 * rows;
    }
    simd.reduce_sum_f64s(sums[0])
}

/// Adds w c cᵀ of a chunk of points, two columns of this many rows.
#[inline(always)]
fn add_tile<S: Simd, const ROWS: usize>(
    simd: S,
    tile: &mut [S::f64s],
    weighted: &[S::f64s],
    centred: &[S::f64s],
    stride: usize,
    vectors: usize,
) {
    let rows: [&[S::f64s]; ROWS] = std::array::from_fn(|i| &weighted[i * stride..][..vectors]);
    let columns: [&[S::f64s]; 2] = std::array::from_fn(|i| &centred[i * stride..][..vectors]);
    let mut sums: [[S::f64s; 2]; ROWS] = std::array::from_fn(|i| [tile[2 * i], tile[2 * i + 1]]);
    for v in 0..vectors {
        let (a, b) = (columns[0][v], columns[1][v]);
        for i in 0..ROWS {
            let weighted = rows[i][v];
            sums[i][0] = simd.mul_add_e_f64s(weighted, a, sums[i][0]);
            sums[i][1] = simd.mul_add_e_f64s(weighted, b, sums[i][1]);
        }
    }
    for (i, [a, b]) in sums.into_iter().enumerate() {
        (tile[2 * i], tile[2 * i + 1]) = (a, b);
    }
}

/// The lower half of Q S.
#[inline(always)]
fn multiply(factor: &[f64], moments: &[f64], product: &mut [f64], even: usize, d: usize) {
    for row in 0..d {
        let product = &mut product[row * even..][..=row];
        product.fill(0.0);
        for (q, moments) in factor[row * even..][..=row].iter().zip(moments.chunks(even)) {
            for (product, moment) in product.iter_mut().zip(moments) {
                *product += q * moment;
            }
        }
    }
}

/// exp(x) to about one unit in the last place: x = n ln 2 + r, the power series of exp(r), and n added to the exponent.
/// At most -708 it is exp(-708), and 708 is the largest argument.
#[inline(always)]
fn exp<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    /// Adding this leaves n in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let splat = |x| simd.splat_f64s(x);
    let x = simd.max_f64s(x, splat(-708.0));
    let shifted = simd.mul_add_e_f64s(x, splat(std::f64::consts::LOG2_E), splat(SHIFT));
    let n = simd.sub_f64s(shifted, splat(SHIFT));
    let r = simd.negate_mul_add_e_f64s(n, splat(LN_2_HIGH), x);
    let r = simd.negate_mul_add_e_f64s(n, splat(LN_2_LOW), r);
    // The error of the series is at most (ln 2 / 2)¹⁴ / 14!, or 4e-18.
    let mut power = splat(1.0 / 6_227_020_800.0);
    for factorial in
        [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
    {
        power = simd.mul_add_e_f64s(power, r, splat(1.0 / factorial));
    }
    let mut bits = [simd.transmute_u64s_f64s(shifted)];
    for bits in cast_slice_mut::<_, u64>(&mut bits) {
        *bits = (*bits << 52).wrapping_add(1.0f64.to_bits());
    }
    simd.mul_f64s(power, simd.transmute_f64s_u64s(bits[0]))
}
