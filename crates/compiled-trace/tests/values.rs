//! Values of compiled programs.
use compiled_trace::{Limits, Recorded, compile, record};
use differentiation_interface_core::Real;

fn check(name: &str, x: &[f64], f: impl Fn(&[Recorded]) -> Vec<Recorded>, g: impl Fn(&[f64]) -> Vec<f64>) {
    let graph = record(x, &[], Limits::default(), |x, _, y| y.extend(f(x))).unwrap();
    let program = compile(&graph).unwrap();
    println!("{name}: nodes {} statements {} instr {}", graph.nodes().len(), program.statement_count(), program.instruction_count());
    let text = program.to_string();
    if text.len() < 4000 { println!("{text}"); }
    let exe = program.executable();
    let mut ws = exe.workspace();
    for k in 0..2 {
        let x: Vec<f64> = x.iter().map(|v| v + 0.01 * k as f64).collect();
        let mut y = vec![f64::NAN; exe.outputs()[0]];
        exe.run(&mut ws, &[&x, &[]], &mut [&mut y]).unwrap();
        let expected = g(&x);
        for (a, b) in y.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name}: {a} {b}");
        }
    }
}

macro_rules! check {
    ($f:ident, $x:expr) => {
        check(stringify!($f), &$x, |x| $f(x), |x| $f(x))
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
    for _ in 0..50 {
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
fn loops() {
    check!(rosenbrock, point(40));
    check!(logistic_map, [0.3, 3.7]);
    check!(heat, point(30));
    check!(matmul, point(288));
    check!(lse, point(40));
    check!(gather, point(50));
}
