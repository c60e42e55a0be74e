//! Hangs a chain: minimises its potential energy with links of fixed length, by Newton's method on the Lagrangian.
//!
//! `cargo run --release --features sparse-solvers --example constrained_hessian [-- FOLDER]`; with a folder, the pattern of the
//! Hessian is drawn there with its colours.
//!
//! The unknowns are the positions of the nodes and one multiplier per link. The gradient of the Lagrangian with respect to
//! all of them is the optimality condition, and its Hessian is the matrix of the Newton step, so one call per step gives
//! the whole linear system. The Hessian is sparse: a few colours, whatever the number of links.
//!
//! In equilibrium the horizontal force is the same in all links, and the slopes of successive links differ by the weight of
//! a node over that force. This gives the exact solution, which the example must reach, or it fails.

use differentiation_interface::prelude::*;
use faer::linalg::solvers::Solve;
use matrix_coloring::Picture;

/// Horizontal distance of the two ends, both at height 0.
const SPAN: f64 = 1.0;
/// Length of the chain.
const LENGTH: f64 = 1.5;

/// Σ yᵢ + Σ λₖ/2 (|link k|² - link²), where z = (x₁, y₁, x₂, y₂, .., λ₀, λ₁, ..).
struct Lagrangian {
    links: usize,
}

impl Lagrangian {
    fn unknowns(&self) -> usize {
        2 * (self.links - 1) + self.links
    }
}

impl<T: Real> Function<[T]> for Lagrangian {
    type Output = T;
    fn call(&self, z: &[T]) -> T {
        let (nodes, multipliers) = z.split_at(2 * (self.links - 1));
        let link = LENGTH / self.links as f64;
        let mut sum = T::zero();
        let (mut x, mut y) = (T::zero(), T::zero());
        for (k, &multiplier) in multipliers.iter().enumerate() {
            let (x1, y1) = nodes.get(2 * k).map_or((T::constant(SPAN), T::zero()), |&x1| (x1, nodes[2 * k + 1]));
            let (dx, dy) = (x1 - x, y1 - y);
            sum += y1 + 0.5 * multiplier * (dx * dx + dy * dy - link * link);
            (x, y) = (x1, y1);
        }
        sum
    }
}

/// A parabola through the ends, and the multipliers that would hold it in equilibrium.
fn start(links: usize) -> Vec<f64> {
    let (sag, step) = (0.45, SPAN / links as f64);
    let node = |i: usize| {
        let t = i as f64 / links as f64;
        [t * SPAN, -4.0 * sag * t * (1.0 - t)]
    };
    let difference_of_slopes = 8.0 * sag * step / (SPAN * SPAN);
    (1..links).flat_map(node).chain((0..links).map(|_| 1.0 / (difference_of_slopes * step))).collect()
}

/// The equilibrium: slopes in arithmetic progression, whose difference follows from the span.
fn equilibrium(links: usize) -> Vec<f64> {
    let link = LENGTH / links as f64;
    let slope = |difference: f64, k: usize| difference * (k as f64 - (links - 1) as f64 / 2.0);
    let horizontal = |difference: f64, k: usize| link / slope(difference, k).hypot(1.0);
    let span = |difference: f64| (0..links).map(|k| horizontal(difference, k)).sum::<f64>();
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if span(middle) > SPAN { low = middle } else { high = middle }
    }
    let (mut x, mut y, mut z) = (0.0, 0.0, Vec::new());
    for k in 0..links - 1 {
        x += horizontal(low, k);
        y += horizontal(low, k) * slope(low, k);
        z.extend([x, y]);
    }
    z.extend((0..links).map(|k| 1.0 / (low * horizontal(low, k))));
    z
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let f = Lagrangian { links: 200 };
    let backend = AutoSparse::new(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
    let mut z = start(f.links);
    let mut prepared = prepare_hessian(&f, &backend, &z)?;
    let n = f.unknowns();
    println!("{n} unknowns, {} colours", prepared.state().ncolors());
    if let Some(folder) = std::env::args().nth(1) {
        draw(&folder)?;
    }
    let mut found = None;
    for step in 0..20 {
        let (value, gradient, hessian) = prepared.value_gradient_and_hessian(&z)?;
        let residual = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        println!("step {step:>2}: Lagrangian {value:>14.8}, largest entry of its gradient {residual:.2e}");
        if residual < 1e-11 {
            found = Some(step);
            break;
        }
        // The matrix is symmetric: its rows are its columns.
        let matrix = hessian.as_faer();
        let mut change = faer::Col::from_fn(n, |i| -gradient[i]);
        matrix.transpose().sp_lu()?.solve_in_place(change.as_mut());
        z.iter_mut().zip(change.iter()).for_each(|(z, change)| *z += change);
    }
    let exact = equilibrium(f.links);
    let error = z.iter().zip(&exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs() / b.abs().max(1.0)));
    println!("largest difference from the exact equilibrium: {error:.2e}");
    assert!(found.is_some_and(|steps| steps <= 15), "Newton's method converged in {found:?} steps");
    assert!(error < 1e-9, "the chain is off by {error}");
    Ok(())
}

/// Draws the Hessian of a short chain: entries that are read from the product of one colour have that colour.
fn draw(folder: &str) -> Result<(), Box<dyn std::error::Error>> {
    let f = Lagrangian { links: 10 };
    let z = start(f.links);
    let prepared = prepare_hessian(&f, &AutoSparse::new(AutoReverseDiff::default()), &z)?;
    let coloring = prepared.state().coloring().expect("prepared just now");
    let picture = Picture::new(coloring.pattern()).column_colors(coloring.column_colors())?;
    picture.write_svg(std::path::Path::new(folder).join("constrained_hessian.svg"))?;
    Ok(())
}
