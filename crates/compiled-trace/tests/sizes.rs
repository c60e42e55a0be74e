//! Loops of all lengths: values, tangents and pullbacks of compiled functions that index as users do — periodic, triangular,
//! by remainders, by tables, with parameters — from no element to a thousand.

use compiled_trace::{Executable, Limits, Program, Recorded, compile, record};
use differentiation_interface::prelude::*;

const SIZES: [usize; 9] = [0, 1, 2, 3, 5, 10, 33, 100, 1000];

/// A function of a point and of parameters.
trait Work {
    const NAME: &'static str;
    /// Maximum number of instructions of its adjoint from 100 elements on.
    const INSTRUCTIONS: usize;
    /// Numbers of inputs and parameters at a size.
    fn lengths(n: usize) -> (usize, usize);
    fn call<T: Real>(x: &[T], p: &[T]) -> Vec<T>;
}

/// yᵢ = (xᵢ₊₁ - xᵢ₋₂) xᵢ₋₁ - xᵢ + 8, cyclic.
struct Cyclic;
impl Work for Cyclic {
    const NAME: &'static str = "cyclic";
    const INSTRUCTIONS: usize = 90;
    fn lengths(n: usize) -> (usize, usize) {
        (n, 0)
    }
    fn call<T: Real>(x: &[T], _: &[T]) -> Vec<T> {
        let n = x.len();
        (0..n).map(|i| (x[(i + 1) % n] - x[(i + 2 * n - 2) % n]) * x[(i + n - 1) % n] - x[i] + 8.0).collect()
    }
}

/// Two fields on a periodic square.
struct Square;
impl Work for Square {
    const NAME: &'static str = "square";
    const INSTRUCTIONS: usize = 1200;
    fn lengths(n: usize) -> (usize, usize) {
        let side = n.isqrt();
        (2 * side * side, 1)
    }
    fn call<T: Real>(x: &[T], p: &[T]) -> Vec<T> {
        let cells = x.len() / 2;
        let side = cells.isqrt();
        let (u, v) = x.split_at(cells);
        let mut y = vec![T::constant(0.0); x.len()];
        for j in 0..side {
            for i in 0..side {
                let at = |i: usize, j: usize| i % side + side * (j % side);
                let near = [at(i + 1, j), at(i + side - 1, j), at(i, j + 1), at(i, j + side - 1)];
                let c = at(i, j);
                let laplacian = |u: &[T]| u[near[0]] + u[near[1]] + u[near[2]] + u[near[3]] - 4.0 * u[c];
                y[c] = p[0] * laplacian(u) + u[c] * u[c] * v[c] - 4.4 * u[c];
                y[cells + c] = p[0] * laplacian(v) - u[c] * u[c] * v[c];
            }
        }
        y
    }
}

/// Every observation reads one of seven groups and one of the elements, by remainders, with a weight of its own.
struct Remainders;
impl Work for Remainders {
    const NAME: &'static str = "remainders";
    const INSTRUCTIONS: usize = 500;
    fn lengths(n: usize) -> (usize, usize) {
        (2 * 7 + n.div_ceil(3) + n, n)
    }
    fn call<T: Real>(x: &[T], p: &[T]) -> Vec<T> {
        let (groups, rest) = x.split_at(14);
        let (elements, weights) = rest.split_at(p.len().div_ceil(3));
        let mut y = Vec::new();
        for (i, (w, feature)) in weights.iter().zip(p).enumerate() {
            let (group, element) = (&groups[2 * (i % 7)..][..2], elements[i % elements.len()]);
            y.push(*w * ((group[0] * element).sin() + group[1] * element - *feature));
        }
        y.extend(weights.iter().map(|w| 1.0 - *w * *w));
        y
    }
}

/// Reductions over a strictly lower triangle with different lengths of rows, inside a loop over blocks and a log-sum-exp of them.
struct Triangles;
impl Triangles {
    const SIDE: usize = 9;
    const WIDTH: usize = Self::SIDE * (Self::SIDE + 1) / 2;
}
impl Work for Triangles {
    const NAME: &'static str = "triangles";
    const INSTRUCTIONS: usize = 2500;
    fn lengths(n: usize) -> (usize, usize) {
        (n.div_ceil(20) * (Self::SIDE + Self::WIDTH), Self::SIDE * n.div_ceil(30))
    }
    fn call<T: Real>(x: &[T], p: &[T]) -> Vec<T> {
        let mut total = T::constant(0.0);
        let parts = x.len() / (Self::SIDE + Self::WIDTH);
        let (means, factors) = x.split_at(parts * Self::SIDE);
        for point in p.chunks(Self::SIDE) {
            let mut terms = Vec::new();
            for (mean, factor) in means.chunks(Self::SIDE).zip(factors.chunks(Self::WIDTH)) {
                let centred: Vec<T> = point.iter().zip(mean).map(|(p, m)| *p - *m).collect();
                let mut mapped: Vec<T> = centred.iter().zip(factor).map(|(c, f)| *c * f.exp()).collect();
                let mut entry = Self::SIDE;
                for (column, c) in centred.iter().enumerate() {
                    for v in &mut mapped[column + 1..] {
                        *v += factor[entry] * *c;
                        entry += 1;
                    }
                }
                terms.push(-0.1 * mapped.iter().map(|v| *v * *v).sum::<T>());
            }
            let most = terms.iter().fold(terms[0], |m, v| m.max(*v));
            total += most + terms.iter().map(|v| (*v - most).exp()).sum::<T>().ln();
        }
        vec![total]
    }
}

/// A recurrence over steps, each with an inner loop, whose last state is an output.
struct Steps;
impl Work for Steps {
    const NAME: &'static str = "steps";
    const INSTRUCTIONS: usize = 240;
    fn lengths(n: usize) -> (usize, usize) {
        (n.min(40), 2)
    }
    fn call<T: Real>(x: &[T], p: &[T]) -> Vec<T> {
        let mut state = x.to_vec();
        for _ in 0..6 {
            let old = state.clone();
            for i in 1..old.len().saturating_sub(1) {
                state[i] = old[i] + 0.1 * p[0] * (old[i - 1] - 2.0 * old[i] + old[i + 1]) * p[1].exp();
            }
        }
        state
    }
}

/// Elements gathered by a table, some of them outputs twice, and their running sums.
struct Gathers;
impl Work for Gathers {
    const NAME: &'static str = "gathers";
    const INSTRUCTIONS: usize = 60;
    fn lengths(n: usize) -> (usize, usize) {
        (n, 0)
    }
    fn call<T: Real>(x: &[T], _: &[T]) -> Vec<T> {
        let n = x.len();
        let products: Vec<T> = (0..n).map(|i| x[(i * i * 7 + 3) % n] * x[(i * 13 + i * i * i) % n]).collect();
        let mut running = T::constant(0.0);
        let mut y: Vec<T> = products
            .iter()
            .map(|product| {
                running = 0.9 * running + *product;
                running
            })
            .collect();
        y.extend(products);
        y.extend(x.iter().take(3));
        y.extend(y.clone().iter().take(2));
        y.push(T::constant(2.5));
        y
    }
}

/// Some numbers around 0.5 without pattern.
fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| 0.5 + 0.4 * (seed + 12.9898 * i as f64).sin()).collect()
}

fn run(executable: &Executable, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut outputs: Vec<Vec<f64>> = executable.outputs().iter().map(|length| vec![f64::NAN; *length]).collect();
    let mut slices: Vec<&mut [f64]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
    // The previous contents of the memory do not matter.
    let mut memory = executable.workspace();
    for _ in 0..2 {
        executable.run(&mut memory, inputs, &mut slices).unwrap();
    }
    outputs
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_close(what: String, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what} {i}: {a}, expected {b}");
    }
}

fn derived(point: &[f64], parameters: &[f64], f: impl FnOnce(&[Recorded], &[Recorded]) -> Vec<Recorded>) -> Program {
    let graph = record(point, parameters, Limits::default(), |x, p, y| y.extend(f(x, p))).unwrap();
    compile(&graph).unwrap()
}

fn check<W: Work>() {
    for n in SIZES {
        let name = |what: &str| format!("{} of {n}: {what}", W::NAME);
        let (inputs, parameters) = W::lengths(n);
        let program = derived(&numbers(inputs, 0.3), &numbers(parameters, 0.7), |x, p| W::call(x, p));
        let adjoint = program.adjoint(1).unwrap();
        if n >= 100 {
            let count = adjoint.instruction_count();
            assert!(count <= W::INSTRUCTIONS, "{} has {count} instructions\n{adjoint}", name("adjoint"));
        }
        let product = adjoint.tangent(1).unwrap().executable();
        let (adjoint, tangent) = (adjoint.executable(), program.tangent(2).unwrap().executable());
        // Another point, and other parameters.
        let (x, p) = (numbers(inputs, 1.1), numbers(parameters, 0.2));
        let (dx, other) = (numbers(inputs, 2.2), numbers(inputs, -1.0));
        let value = W::call(&x, &p);
        let f = |x: &[_]| {
            let p: Vec<_> = p.iter().map(|p| Scalar::constant(*p)).collect();
            W::call(x, &p)
        };
        let expected = pushforward(&f, &AutoForwardDiff::default(), &x[..], [&dx[..], &other[..]]);
        let expected = if inputs == 0 { vec![vec![0.0; value.len()]; 2] } else { expected.unwrap().to_vec() };
        let found = run(&tangent, &[&x, &p, &dx, &other]);
        assert_close(name("value"), &found[0], &value);
        assert_close(name("tangent"), &found[1], &expected[0]);
        assert_close(name("other tangent"), &found[2], &expected[1]);
        // ⟨dy, J dx⟩ = ⟨Jᵀ dy, dx⟩
        let dy = numbers(value.len(), 4.0);
        let found = run(&adjoint, &[&x, &p, &dy]);
        assert_close(name("value with adjoint"), &found[0], &value);
        for (dx, jdx) in [(&dx, &expected[0]), (&other, &expected[1])] {
            assert_close(name("adjoint"), &[dot(&found[1], dx)], &[dot(&dy, jdx)]);
        }
        // The tangent of Jᵀ dy by differences.
        let second = run(&product, &[&x, &p, &dy, &dx]);
        assert_close(name("adjoint with product"), &second[1], &found[1]);
        let step = 1e-5;
        let moved = |step: f64| x.iter().zip(&dx).map(|(x, d)| x + step * d).collect::<Vec<f64>>();
        let (up, down) = (run(&adjoint, &[&moved(step), &p, &dy]), run(&adjoint, &[&moved(-step), &p, &dy]));
        for i in 0..inputs {
            let difference = (up[1][i] - down[1][i]) / (2.0 * step);
            let found = second[3][i];
            let size = 1.0 + up[1].iter().fold(difference.abs(), |most, v| most.max(v.abs()));
            assert!((found - difference).abs() <= 1e-6 * size, "{} {i}: {found}, {difference}", name("product"));
        }
    }
}

#[test]
fn cyclic_neighbours_at_every_size() {
    check::<Cyclic>();
}

#[test]
fn periodic_squares_at_every_size() {
    check::<Square>();
}

#[test]
fn indices_by_remainders_at_every_size() {
    check::<Remainders>();
}

#[test]
fn triangular_loops_at_every_size() {
    check::<Triangles>();
}

#[test]
fn steps_with_inner_loops_at_every_size() {
    check::<Steps>();
}

#[test]
fn gathers_and_running_sums_at_every_size() {
    check::<Gathers>();
}

/// Values of parameters alone are computed, not differentiated; lanes share the values.
#[test]
fn parameters_and_lanes_cost_no_derivative_twice() {
    fn f<T: Real>(x: &[T], p: &[T]) -> Vec<T> {
        let scale: Vec<T> = p.iter().map(|p| p.sin().exp()).collect();
        let shifts: Vec<T> = scale
            .iter()
            .scan(T::constant(0.0), |s, v| {
                *s = 0.5 * *s + v.cos();
                Some(*s)
            })
            .collect();
        x.iter().zip(&shifts).map(|(x, s)| (*x * *s).tanh()).collect()
    }
    let count = |program: &Program, name: &str| program.to_string().lines().filter(|l| l.contains(name)).count();
    let constant = derived(&numbers(50, 0.0), &numbers(50, 1.0), f);
    let adjoint = constant.adjoint(1).unwrap();
    for name in ["sin", "exp", "cos", "tanh"] {
        assert_eq!(
            count(&adjoint, &format!("= {name} ")),
            count(&constant, &format!("= {name} ")),
            "{name}\n{adjoint}"
        );
    }
    // The running sum has no adjoint: everything else is in the loop over its results.
    let in_order = |program: &Program| count(program, "in order");
    assert_eq!(in_order(&adjoint), in_order(&constant), "{adjoint}");
    let four = constant.adjoint(4).unwrap();
    assert_eq!(count(&four, "tanh"), count(&adjoint, "tanh"), "{four}");
    assert!(four.instruction_count() < adjoint.instruction_count() + 3 * 12, "{four}");
    let tangent = constant.tangent(4).unwrap();
    assert_eq!(count(&tangent, "tanh"), count(&constant, "tanh"), "{tangent}");
}
