//! Functions of any size whose patterns are known.

use differentiation_interface_core::Real;

/// The Brusselator on an `n` × `n` periodic grid.
pub fn brusselator<T: Real>(x: &[T], n: usize) -> Vec<T> {
    let cells = n * n;
    let (u, v) = x.split_at(cells);
    let mut du = vec![T::zero(); 2 * cells];
    for j in 0..n {
        for i in 0..n {
            let k = i + n * j;
            let (e, w) = ((i + 1) % n + n * j, (i + n - 1) % n + n * j);
            let (s, t) = (i + n * ((j + 1) % n), i + n * ((j + n - 1) % n));
            du[k] = 10.0 * (u[w] + u[e] + u[s] + u[t] - 4.0 * u[k]) + 1.0 + u[k] * u[k] * v[k] - 4.4 * u[k];
            du[cells + k] = 10.0 * (v[w] + v[e] + v[s] + v[t] - 4.0 * v[k]) + 3.4 * u[k] - u[k] * u[k] * v[k];
        }
    }
    du
}

/// One explicit Euler step of the heat equation.
pub fn euler<T: Real>(u: &[T]) -> Vec<T> {
    (0..u.len()).map(|i| u[i] + 0.1 * (left(u, i) - 2.0 * u[i] + right(u, i))).collect()
}

pub fn left<T: Real>(x: &[T], i: usize) -> T {
    if i > 0 { x[i - 1] } else { T::zero() }
}

pub fn right<T: Real>(x: &[T], i: usize) -> T {
    if i + 1 < x.len() { x[i + 1] } else { T::zero() }
}

/// Valid two-dimensional convolution, `width` × `height` × `channels` inputs, column-major.
pub fn conv2d<T: Real>(x: &[T], width: usize, height: usize, channels: usize, outputs: usize, k: usize) -> Vec<T> {
    let mut y = Vec::new();
    for o in 0..outputs {
        for b in 0..=height - k {
            for a in 0..=width - k {
                let mut sum = T::zero();
                for channel in 0..channels {
                    for j in 0..k {
                        for i in 0..k {
                            let weight = 1.0 + (o + channel + i + 3 * j) as f64;
                            sum += weight * x[a + i + width * (b + j + height * channel)];
                        }
                    }
                }
                y.push(sum);
            }
        }
    }
    y
}
