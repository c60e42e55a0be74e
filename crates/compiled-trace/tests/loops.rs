//! Loops that users write: values, adjoints, tangents and Hessian products of compiled programs, at two points.
use compiled_trace::{Limits, Recorded, compile, record};

use differentiation_interface::prelude::*;

fn check<G1, G2, G3>(name: &str, statements: usize, x: &[f64], f: G1, g: G2, h: G3)
where
    G1: Fn(&[Recorded]) -> Vec<Recorded>,
    G2: Fn(&[f64]) -> Vec<f64>,
    G3: Fn(&[f64]) -> Vec<f64>,
{
    let graph = record(x, &[], Limits::default(), |x, _, y| y.extend(f(x))).unwrap();
    let program = compile(&graph).unwrap();
    let adjoint = program.adjoint(1).unwrap();
    let tangent = program.tangent(1).unwrap();
    let hvp = adjoint.tangent(1).unwrap();
    assert!(program.statement_count() <= statements, "{name}: {} statements\n{program}", program.statement_count());
    let exe = program.executable();
    let (adjoint, tangent, hvp) = (adjoint.executable(), tangent.executable(), hvp.executable());
    let mut ws = exe.workspace();
    for k in 0..2 {
        let x: Vec<f64> = x.iter().map(|v| v + 0.01 * k as f64).collect();
        let n = x.len();
        let mut y = vec![f64::NAN; exe.outputs()[0]];
        exe.run(&mut ws, &[&x, &[]], &mut [&mut y]).unwrap();
        let close = |what: &str, a: &[f64], b: &[f64]| {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{name} {what} {i}: {a} {b}");
            }
        };
        close("value", &y, &g(&x));
        let w: Vec<f64> = (0..y.len()).map(|i| 1.0 + 0.1 * (i % 7) as f64).collect();
        let v: Vec<f64> = (0..n).map(|i| 0.5 - 0.1 * (i % 5) as f64).collect();
        let jac = h(&x);
        let (mut y2, mut g2) = (vec![f64::NAN; y.len()], vec![f64::NAN; n]);
        adjoint.run(&mut adjoint.workspace(), &[&x, &[], &w], &mut [&mut y2, &mut g2]).unwrap();
        close("adjoint value", &y2, &y);
        let expected: Vec<f64> = (0..n).map(|j| (0..y.len()).map(|i| jac[i * n + j] * w[i]).sum()).collect();
        close("adjoint", &g2, &expected);
        let mut dy = vec![f64::NAN; y.len()];
        tangent.run(&mut tangent.workspace(), &[&x, &[], &v], &mut [&mut y2, &mut dy]).unwrap();
        let expected: Vec<f64> = (0..y.len()).map(|i| (0..n).map(|j| jac[i * n + j] * v[j]).sum()).collect();
        close("tangent", &dy, &expected);
        let mut hv = vec![f64::NAN; n];
        hvp.run(&mut hvp.workspace(), &[&x, &[], &w, &v], &mut [&mut y2, &mut g2, &mut dy, &mut hv]).unwrap();
        let step = 1e-5;
        let at = |s: f64| -> Vec<f64> {
            let x: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + s * v).collect();
            let (mut y, mut g) = (vec![0.0; y.len()], vec![0.0; n]);
            adjoint.run(&mut adjoint.workspace(), &[&x, &[], &w], &mut [&mut y, &mut g]).unwrap();
            g
        };
        let (up, down) = (at(step), at(-step));
        for i in 0..n {
            let fd = (up[i] - down[i]) / (2.0 * step);
            assert!((hv[i] - fd).abs() <= 1e-5 * (1.0 + fd.abs()), "{name} hvp {i}: {} {fd}", hv[i]);
        }
    }
}

macro_rules! check {
    ($f:ident, $x:expr, $statements:expr) => {
        check(
            stringify!($f),
            $statements,
            &$x,
            |x| $f(x),
            |x| $f(x),
            |x| jacobian(&|x: &[_]| $f(x), &AutoForwardDiff::default(), x).unwrap().as_slice().to_vec(),
        )
    };
}

fn rosenbrock<T: Real>(x: &[T]) -> Vec<T> {
    let mut sum = T::constant(0.0);
    for i in 0..x.len() - 1 {
        let d = x[i + 1] - x[i] * x[i];
        let e = 1.0 - x[i];
        sum += 100.0 * (d * d) + e * e;
    }
    vec![sum]
}
fn logistic_map<T: Real>(x: &[T]) -> Vec<T> {
    let mut v = x[0];
    for _ in 0..30 {
        v = x[1] * v * (1.0 - v);
    }
    vec![v]
}
fn heat<T: Real>(x: &[T]) -> Vec<T> {
    let mut u = x.to_vec();
    for _ in 0..20 {
        let old = u.clone();
        for i in 1..u.len() - 1 {
            u[i] = old[i] + 0.1 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
        }
    }
    u
}
fn matmul<T: Real>(x: &[T]) -> Vec<T> {
    let n = 12;
    let (a, b) = x.split_at(n * n);
    let mut c = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let mut s = T::constant(0.0);
            for k in 0..n {
                s += a[i * n + k] * b[k * n + j];
            }
            c.push(s);
        }
    }
    c
}
fn lse<T: Real>(x: &[T]) -> Vec<T> {
    let m = x.iter().fold(x[0], |m, v| m.max(*v));
    vec![m + x.iter().map(|v| (*v - m).exp()).sum::<T>().ln()]
}
fn gather<T: Real>(x: &[T]) -> Vec<T> {
    let n = x.len();
    let mut s = T::constant(0.0);
    for i in 0..200 {
        let (a, b) = ((i * 7 + i * i) % n, (i * 13 + 5 + i * i * i) % n);
        let d = x[a] - x[b];
        s += d * d;
    }
    vec![s]
}

fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + 0.4 * ((i * 37 % 101) as f64 / 101.0)).collect()
}

#[test]
fn loops_are_found_and_differentiated() {
    check!(rosenbrock, point(40), 3);
    check!(logistic_map, [0.3, 2.7], 3);
    check!(heat, point(30), 12);
    check!(matmul, point(288), 3);
    check!(lse, point(40), 6);
    check!(gather, point(50), 3);
}

/// Time steps of implicit Euler for u' = -p u³, each with a number of Newton iterations and nothing else: the loop of the iterations
/// goes on from one step to the next.
fn implicit_euler<T: Real>(x: &[T], steps: usize, iterations: usize) -> Vec<T> {
    let mut u = x[0];
    for _ in 0..steps {
        let mut w = u;
        for _ in 0..iterations {
            w -= (w - u + 0.01 * x[1] * w * w * w) / (1.0 + 0.03 * x[1] * w * w);
        }
        u = w;
    }
    vec![u]
}

/// The same by the second-order backward differentiation formula.
fn backward_differences<T: Real>(x: &[T]) -> Vec<T> {
    let (mut before, mut u) = (x[0], x[0]);
    for _ in 0..60 {
        let mut w = u;
        for _ in 0..5 {
            w -= (3.0 * w - 4.0 * u + before + 0.02 * x[1] * w * w * w) / (3.0 + 0.06 * x[1] * w * w);
        }
        (before, u) = (u, w);
    }
    vec![u]
}

/// Three loops, the inner ones with nothing between their iterations.
fn three_loops<T: Real>(x: &[T], [steps, sweeps, iterations]: [usize; 3]) -> Vec<T> {
    let mut u = x[0];
    for _ in 0..steps {
        let mut v = u;
        for _ in 0..sweeps {
            let mut w = v;
            for _ in 0..iterations {
                w -= (w * w * x[1] + w - v * 0.3 - u * 0.6) * 0.2;
            }
            v = w;
        }
        u = v;
    }
    vec![u]
}

#[test]
fn inner_loops_with_nothing_between_are_found() {
    let instructions = |f: &dyn Fn(&[Recorded]) -> Vec<Recorded>| {
        let graph = record(&[0.8, 0.6], &[], Limits::default(), |x, _, y| y.extend(f(x))).unwrap();
        compile(&graph).unwrap().instruction_count()
    };
    for iterations in 2..=12 {
        let count = instructions(&|x| implicit_euler(x, 100, iterations));
        assert!(count < 300, "{iterations} iterations: {count} instructions");
    }
    let count = instructions(&|x| backward_differences(x));
    assert!(count < 300, "backward differences: {count} instructions");
    for trips in [[40, 6, 5], [40, 5, 6], [40, 2, 5], [40, 4, 4], [20, 7, 16]] {
        let count = instructions(&|x| three_loops(x, trips));
        assert!(count < 300, "{trips:?}: {count} instructions");
    }
}

#[test]
fn inner_loops_with_nothing_between_are_differentiated() {
    fn four<T: Real>(x: &[T]) -> Vec<T> {
        implicit_euler(x, 40, 4)
    }
    fn seven<T: Real>(x: &[T]) -> Vec<T> {
        implicit_euler(x, 40, 7)
    }
    fn nested<T: Real>(x: &[T]) -> Vec<T> {
        three_loops(x, [10, 6, 5])
    }
    check!(four, [0.8, 0.6], 5);
    check!(seven, [0.8, 0.6], 5);
    check!(nested, [0.8, 0.6], 5);
    check!(backward_differences, [0.8, 0.6], 5);
}

/// Σ sin Eᵢ where Eᵢ - e sin Eᵢ = xᵢ and e is computed from the last input; Newton's method takes 3 or 4 steps.
fn kepler<T: Real>(x: &[T]) -> Vec<T> {
    let (eccentricity, x) = x.split_last().expect("the last input is there");
    let eccentricity = eccentricity.tanh();
    let mut sum = T::constant(0.0);
    for mean in x {
        let mut e = *mean;
        loop {
            let step = (e - eccentricity * e.sin() - *mean) / (1.0 - eccentricity * e.cos());
            e -= step;
            if step.abs() < 1e-6 {
                break;
            }
        }
        sum += e.sin();
    }
    vec![sum]
}

/// Unordered elements in (-3, 3), and an eccentricity.
fn orbits(n: usize) -> Vec<f64> {
    let mut x: Vec<f64> = (0..n).map(|i| 3.0 * (1.0 + i as f64 * 78.233).sin()).collect();
    x.push(0.3);
    x
}

/// Elements with the same number of iterations are one loop, wherever they are.
#[test]
fn loops_that_end_by_value_are_gathered_by_their_iterations() {
    let x = orbits(200);
    let graph = record(&x, &[], Limits::default(), |x, _, y| y.extend(kepler(x))).unwrap();
    let program = compile(&graph).unwrap();
    assert_eq!((graph.nodes().len(), program.instruction_count()), (7947, 155), "{program}");
    let adjoint = program.adjoint(1).unwrap();
    let product = adjoint.tangent(1).unwrap().executable();
    assert!(adjoint.instruction_count() <= 480, "{adjoint}");
    let direction: Vec<f64> = (0..x.len()).map(|i| 0.5 - 0.1 * (i % 5) as f64).collect();
    let mut found = [vec![0.0], vec![0.0; x.len()], vec![0.0], vec![0.0; x.len()]];
    let mut run = |x: &[f64]| {
        let mut outputs = found.each_mut().map(|output| &mut output[..]);
        product.run(&mut product.workspace(), &[x, &[], &[1.0], &direction], &mut outputs)
    };
    // An element that needs another number of iterations than in the recording.
    let mut other = x.clone();
    other[7] = 0.0;
    assert!(run(&other).is_err());
    run(&x).unwrap();
    let forward = AutoForwardDiff::default();
    let expected = hvp(&|x: &[_]| kepler(x)[0], &forward, &x[..], [&direction[..]]).unwrap();
    let grad = gradient(&|x: &[_]| kepler(x)[0], &forward, &x[..]).unwrap();
    for (found, expected) in [(&found[1], &grad), (&found[3], &expected[0])] {
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{i}: {a} {b}");
        }
    }
}

/// The elements before a search in a table by bisection: only the two nearest places decide where it ends.
#[test]
fn searches_keep_two_guards() {
    fn search<T: Real>(x: &[T]) -> T {
        x.iter()
            .map(|x| {
                let (mut low, mut high) = (0, 1024);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    *(if *x < middle as f64 { &mut high } else { &mut low }) = middle;
                }
                (*x - low as f64) * (low % 10) as f64
            })
            .sum()
    }
    let x: Vec<f64> = (0..200).map(|i| 500.3 + 400.0 * (i as f64 * 78.233).sin()).collect();
    let graph = record(&x, &[], Limits::default(), |x, _, y| y.push(search(x))).unwrap();
    let program = compile(&graph).unwrap();
    assert_eq!((graph.guards(), program.instruction_count()), (2000, 10), "{program}");
    let executable = program.executable();
    let run = |x: &[f64]| {
        let mut y = [f64::NAN];
        executable.run(&mut executable.workspace(), &[x, &[]], &mut [&mut y]).map(|()| y[0])
    };
    assert!((run(&x).unwrap() - search(&x)).abs() < 1e-9);
    // Between the places at which the search ended the function is the same; beyond them it is another one.
    for (i, x_i) in x.iter().enumerate() {
        for (moved, holds) in
            [(x_i.floor() + 0.01, true), (x_i.floor() + 0.99, true), (x_i - 1.0, false), (x_i + 1.0, false)]
        {
            let mut x = x.clone();
            x[i] = moved;
            assert_eq!(run(&x).is_ok(), holds, "element {i} moved to {moved}");
            if holds {
                assert!((run(&x).unwrap() - search(&x)).abs() < 1e-9);
            }
        }
    }
}
