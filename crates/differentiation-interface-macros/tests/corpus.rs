//! Many small functions in every style that users write: the gradient of each agrees with differences of the original.

mod dual;

use differentiation_interface_core::{Function, Real, Scalar};
use differentiation_interface_macros::differentiable;
use dual::{D, close, gradient};
use std::ops::Mul;

/// Each function twice: as written, and through the attribute; and the test that compares them.
macro_rules! corpus {
    ($($Object:ident fn $name:ident($($arguments:tt)*) -> $result:ty $body:block)*) => {
        mod original {
            #![allow(warnings, clippy::all, reason = "code in every style")]
            use super::*;
            $(pub(super) fn $name($($arguments)*) -> $result $body)*
        }
        mod generic {
            #![allow(warnings, clippy::all, reason = "code in every style")]
            use super::*;
            $(#[differentiable($Object, crate = "differentiation_interface_core")]
            pub(super) fn $name($($arguments)*) -> $result $body)*
        }
        #[test]
        fn gradients_agree_with_differences() {
            $(agrees(stringify!($name), generic::$Object, original::$name);)*
        }
    };
}

/// At a point where no function of the corpus has a kink.
fn agrees(
    name: &str,
    object: impl Function<[D], Output = D> + Function<[f64], Output = f64> + Copy,
    original: fn(&[f64]) -> f64,
) {
    let x = [0.7, 1.3];
    let step = 1e-5;
    let (y, g) = gradient(object, x);
    close(y, original(&x));
    close(Function::<[f64]>::call(&object, &x), original(&x));
    for i in 0..2 {
        let moved = |d: f64| {
            let mut x = x;
            x[i] += d;
            original(&x)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        let error = (g[i] - slope).abs() / slope.abs().max(1.0);
        assert!(error < 1e-7, "{name}: derivative {i} is {}, differences give {slope}", g[i]);
    }
}

fn outside(h: f64) -> f64 {
    h * 2.0
}

fn integrate<T: Real>(f: impl Fn(T) -> T, a: T, b: T) -> T {
    0.5 * (b - a) * (f(a) + f(b))
}

struct Pt {
    x: f64,
    y: f64,
}

static OFFSET: f64 = 2.0;
const TABLE: [f64; 2] = [1.0, 2.0];

corpus! {
    A2 fn a2(x: &[f64]) -> f64 {
        let mut m = f64::MIN; for &v in x { if v > m { m = v; } } m
    }
    A3 fn a3(x: &[f64]) -> f64 {
        x.iter().map(|&v| if v < 0.0 { 0.0 } else { v }).sum()
    }
    A4 fn a4(x: &[f64]) -> f64 {
        let mut i = 0; let mut s = 0.0; while i < x.len() { s += x[i] * (i as f64); i += 1; } s
    }
    A5 fn a5(x: &[f64]) -> f64 {
        let n = x.len(); let mut g = vec![vec![0.0; n]; n];
        for i in 0..n { for j in 0..n { g[i][j] = if i == j { 1.0 } else { 0.0 }; } } g[0][0] = x[0];
        g.iter().flatten().sum()
    }
    A6 fn a6(x: &[f64]) -> f64 {
        x.iter().enumerate().map(|(i, v)| (i + 1) as f64 * v.powi(i as i32)).sum::<f64>()
    }
    A7 fn a7(x: &[f64]) -> f64 {
        let (a, b) = (x[0], x[1]); let c = a.powi(2) + b.powi(2); (1.0 - c).exp().ln_1p()
    }
    A8 fn a8(x: &[f64]) -> f64 {
        x.chunks(2).map(|c| { let [a, b] = c else { return 0.0 }; a * b }).sum()
    }
    A9 fn a9(x: &[f64]) -> f64 {
        x.iter().map(|v| v.abs()).fold(0.0, f64::max)
    }
    B1 fn b1(x: &[f64]) -> f64 {
        x.iter().map(|v| v.abs()).fold(0.0, |a, b| if a > b { a } else { b })
    }
    C2 fn c2(x: &[f64]) -> f64 {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let var = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (x.len() - 1) as f64; var.sqrt()
    }
    C3 fn c3(x: &[f64]) -> f64 {
        let mean: f64 = x.iter().sum::<f64>() / (x.len() as f64);
        let z: Vec<f64> = x.iter().map(|v| v - mean).collect();
        let s: f64 = z.iter().zip(z.iter()).map(|(a, b)| a * b).sum(); s
    }
    C4 fn c4(x: &[f64]) -> f64 {
        let mut v = x.to_vec(); v.sort_by(|a, b| a.partial_cmp(b).unwrap()); v[v.len() / 2]
    }
    C5 fn c5(x: &[f64]) -> f64 {
        let mut acc = [0.0f64; 4]; acc[0] = x[0]; let s: f64 = acc.iter().sum(); s + 1f64
    }
    C6 fn c6(x: &[f64]) -> f64 {
        let r = (x[0] * x[0] + x[1] * x[1]).sqrt(); let t = x[1].atan2(x[0]);
        let t = if t < 0.0 { t + 2.0 * std::f64::consts::PI } else { t }; r * t
    }
    C7 fn c7(x: &[f64]) -> f64 {
        let k: f64 = 2.0; let e = k.powf(0.5); x[0].powf(e) + x[0].powf(-1.5) + x[0].powf(1.0 / 3.0) + e.powf(x[0])
    }
    C8 fn c8(x: &[f64]) -> f64 {
        let f = |a: f64, b: f64| -> f64 { a.max(b) }; f(x[0], 1.0) + f(2.0, 3.0)
    }
    C9 fn c9(x: &[f64]) -> f64 {
        let clamp = |v: f64, lo: f64, hi: f64| v.max(lo).min(hi); x.iter().map(|&v| clamp(v, -1.0, 1.0)).sum()
    }
    D1 fn d1(x: &[f64]) -> f64 {
        x.iter().copied().map(f64::sqrt).map(f64::abs).sum()
    }
    D2 fn d2(x: &[f64]) -> f64 {
        x.iter().copied().reduce(f64::min).unwrap()
    }
    D3 fn d3(x: &[f64]) -> f64 {
        let mut it = x.iter(); let mut prev = *it.next().unwrap(); let mut s = 0.0;
        for &v in it { s += (v - prev).abs(); prev = v; } s
    }
    D4 fn d4(x: &[f64]) -> f64 {
        x.iter().scan(0.0, |acc, &v| { *acc += v; Some(*acc) }).map(|v| v * v).sum()
    }
    D5 fn d5(x: &[f64]) -> f64 {
        let best = x.iter().enumerate().max_by(|a, b| a.1.partial_cmp(b.1).unwrap()).map(|(i, _)| i).unwrap();
        x[best]
    }
    D8 fn d8(x: &[f64]) -> f64 {
        let tol = 1e-10; let mut lo = 0.0; let mut hi = x[0]; for _ in 0..60 { let mid = (lo + hi) / 2.0;
        if mid * mid > x[0] { hi = mid } else { lo = mid } if (hi - lo).abs() < tol { break; } } lo
    }
    E2 fn e2(x: &[f64]) -> f64 {
        let s = x.iter().map(|v| v * v).sum::<f64>(); let text = format!("{} {:.3} {s:?}", s, x[0]); debug_assert!(s >= 0.0);
        assert_eq!(s, s); s
    }
    E3 fn e3(x: &[f64]) -> f64 {
        let mut total = 0.; for i in (0..x.len()).step_by(2) { total += x[i] } total / 2.
    }
    E4 fn e4(x: &[f64]) -> f64 {
        let a = &x[1..]; let b = &x[..x.len() - 1];
        a.iter().zip(b).map(|(a, b)| 100. * (a - b.powi(2)).powi(2) + (1. - b).powi(2)).sum()
    }
    E5 fn e5(x: &[f64]) -> f64 {
        let neg = -x[0]; let z = -1.0 * neg; if z.is_nan() { return f64::NAN; } z.signum() * z.abs().sqrt()
    }
    E7 fn e7(x: &[f64]) -> f64 {
        let mut q = std::collections::VecDeque::new(); q.push_back(1.0); q.push_back(x[0]); let mut s = 0.0;
        while let Some(v) = q.pop_front() { s += v; } s
    }
    E8 fn e8(x: &[f64]) -> f64 {
        let eval = |p: &[f64], t: f64| p.iter().rev().fold(0.0, |a, c| a * t + c);
        eval(&[1.0, 2.0], x[0]) + eval(x, 2.0)
    }
    E9 fn e9(x: &[f64]) -> f64 {
        let m: f64 = x.iter().cloned().fold(f64::NEG_INFINITY, f64::max);
        m + x.iter().map(|v| (v - m).exp()).sum::<f64>().ln()
    }
    G1 fn g1(x: &[f64]) -> f64 {
        let w = [0.1, 0.2]; let b = 0.5;
        let h: Vec<f64> = w.iter().zip(x).map(|(w, x)| (w * x + b).tanh()).collect(); h.iter().sum::<f64>()
    }
    G2 fn g2(x: &[f64]) -> f64 {
        let coeffs = vec![1.0, 2.0, 3.0]; let mut p = 0.0; let mut xp = 1.0; for c in &coeffs { p += c * xp;
        xp *= x[0]; } p
    }
    G3 fn g3(x: &[f64]) -> f64 {
        let coeffs = vec![1.0, 2.0, 3.0]; let mut p = x[0]; for c in &coeffs { p += *c; p -= *c; } p
    }
    G4 fn g4(x: &[f64]) -> f64 {
        let y: f64; if x[0] > 0.0 { y = 1.0; } else { y = x[0]; } y
    }
    G5 fn g5(x: &[f64]) -> f64 {
        let mut state = (0.0, 0); for v in x { state.0 += v; state.1 += 1; } state.0 / state.1 as f64
    }
    H1 fn h1(x: &[f64]) -> f64 {
        let f: fn(f64) -> f64 = |v| v * v; f(x[0])
    }
    H2 fn h2(x: &[f64]) -> f64 {
        let f: Box<dyn Fn(f64) -> f64> = Box::new(|v| v * v + 1.0); f(x[0])
    }
    H3 fn h3(x: &[f64]) -> f64 {
        fn apply(f: impl Fn(f64) -> f64, v: f64) -> f64 { f(v) + 1.0 } apply(|v| v * 2.0, x[0])
    }
    H4 fn h4(x: &[f64]) -> f64 {
        fn apply<F: Fn(f64) -> f64>(f: F, v: f64) -> f64 { f(v) + 1.0 } apply(|v| v * 2.0, x[0])
    }
    H5 fn h5(x: &[f64]) -> f64 {
        let half = 1.0 / 2.0; let two = half + 1.5; let mut acc = two; acc += x[0] * half; acc
    }
    H6 fn h6(x: &[f64]) -> f64 {
        x.iter().zip(x.iter().skip(1)).map(|(a, b)| f64::hypot(*a, *b)).sum()
    }
    H7 fn h7(x: &[f64]) -> f64 {
        x.iter().take_while(|v| **v > 0.0).count() as f64 * x[0]
    }
    H8 fn h8(x: &[f64]) -> f64 {
        std::array::from_fn::<f64, 3, _>(|i| x[i % 2] + 1.0).iter().sum()
    }
    H9 fn h9(x: &[f64]) -> f64 {
        let a: [f64; 2] = [x[0], x[1]]; let b = a.map(|v| v * 2.0); b[0] + a.iter().sum::<f64>()
    }
    I2 fn i2(x: &[f64]) -> f64 {
        if x.len() != 2 { panic!("bad {}", x.len()); } x[0]
    }
    I3 fn i3(x: &[f64]) -> f64 {
        matches!(x.len(), 1 | 2) as i32 as f64 * x[0]
    }
    I4 fn i4(x: &[f64]) -> f64 {
        let v = x[0]; let w = match v { _ if v > 1.0 => 1.0, _ => v }; w * w
    }
    I5 fn i5(x: &[f64]) -> f64 {
        let scale = if x.len() > 2 { 2.0 } else { 1.0 }; let off = { let t = 3.0; t * scale }; (x[0] + off) / scale
    }
    I6 fn i6(x: &[f64]) -> f64 {
        let mut grid = [[0.0; 3]; 3]; grid[1][1] = x[0]; let row = grid[1]; let mut s = 0.0;
        for r in grid.iter() { for v in r { s += v; } } s + row[1]
    }
    I7 fn i7(x: &[f64]) -> f64 {
        x.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).copied().unwrap() + *x.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap()
    }
    I8 fn i8(x: &[f64]) -> f64 {
        let v = x.iter().map(|v| v * v).collect::<Vec<_>>(); let (a, b) = v.split_at(1);
        a.iter().sum::<f64>() - b.iter().sum::<f64>()
    }
    J1 fn j1(x: &[f64]) -> f64 {
        integrate(|t: f64| t * x[0], 0.0, 1.0)
    }
    J2 fn j2(x: &[f64]) -> f64 {
        integrate(|t| (t * x[0]).max(0.0), 0.0, x[1])
    }
    J3 fn j3(x: &[f64]) -> f64 {
        outside(3.0) * x[0]
    }
    J6 fn j6(x: &[f64]) -> f64 {
        let mut s = OFFSET; s += x[0]; s + TABLE[1]
    }
    J7 fn j7(x: &[f64]) -> f64 {
        let mut y = TABLE.map(|v| v); y[0] = x[0]; y[0] + y[1]
    }
    J8 fn j8(x: &[f64]) -> f64 {
        let x0 = x[0]; let n = x0.primal().round() as usize; let i = x[0].primal() as i32; x0 * n as f64 + i as f64
    }
    J9 fn j9(x: &[f64]) -> f64 {
        std::iter::successors(Some(x[0]), |v| Some(v * 0.5)).take(3).sum()
    }
    K1 fn k1(x: &[f64]) -> f64 {
        let p = Pt { x: 1.0, y: 2.0 }; p.x * x[0] + p.y
    }
    K2 fn k2(x: &[f64]) -> f64 {
        fn ev<'a>(it: impl Iterator<Item = &'a f64>) -> f64 { it.map(|v| v * v).sum() } ev(x.iter())
    }
    K3 fn k3(x: &[f64]) -> f64 {
        let mut a = [1.0, 2.0, 3.0]; a.iter_mut().for_each(|v| *v *= x[0]); a.iter().sum()
    }
    K4 fn k4(x: &[f64]) -> f64 {
        let mut a = vec![1.0; 3]; for v in a.iter_mut() { *v *= x[0]; } for v in &mut a { *v += 1.0;
        } let l = a.len(); a[l - 1]
    }
    K5 fn k5(x: &[f64]) -> f64 {
        let mut a = vec![1.0; 3]; a[1..].copy_from_slice(x); a[0]
    }
    K6 fn k6(x: &[f64]) -> f64 {
        let mut a: Vec<Vec<f64>> = vec![vec![]; 2]; a[0].push(x[0]); a[1].push(1.0); a.concat().iter().sum()
    }
    K7 fn k7(x: &[f64]) -> f64 {
        let mut a: Vec<(usize, f64)> = Vec::new(); a.push((1, x[0])); a.push((2, 0.0));
        a.iter().map(|(i, v)| *i as f64 * v).sum()
    }
    K8 fn k8(x: &[f64]) -> f64 {
        let mut acc = 0.0; let mut add = |v: f64| acc += v; add(x[0]); add(1.0); acc
    }
    K9 fn k9(x: &[f64]) -> f64 {
        let mut m = std::collections::HashMap::new(); m.insert(1, 1.0); m.insert(2, x[0]); let mut s = 0.0;
        for (_, v) in &m { s += v; } s + m[&1]
    }
    L1 fn l1(x: &[f64]) -> f64 {
        if x[0] > 0.0 && x[0] < 1.0 || x[1] == 0.0 { x[0] } else if x[1] >= 2.0 { 3.0 } else { -x[1] }
    }
    L2 fn l2(x: &[f64]) -> f64 {
        let theta = x[0].to_radians(); let r = [[theta.cos(), -theta.sin()], [theta.sin(), theta.cos()]];
        r[0][0] * 1.0 + r[1][0] * x[1]
    }
    L4 fn l4(x: &[f64]) -> f64 {
        let e = f64::EPSILON.sqrt(); let p = std::f64::consts::PI.sqrt(); (x[0] * p + e) / 2.0_f64.sqrt()
    }
    L5 fn l5(x: &[f64]) -> f64 {
        1.0 / (1.0 + (-x[0]).exp()) + x[0].tanh().mul(2.0)
    }
    L6 fn l6(x: &[f64]) -> f64 {
        (0..3).map(|k| (k as f64 * x[0]).cos()).sum::<f64>() + (1..=3).map(f64::from).sum::<f64>()
    }
    L7 fn l7(x: &[f64]) -> f64 {
        (0..3).map(|k| k as f64).map(|k| k * x[0]).product()
    }
    L8 fn l8(x: &[f64]) -> f64 {
        let best = x.iter().fold(None, |m: Option<f64>, &v| match m { None => Some(v), Some(m) => Some(m.max(v)) });
        best.unwrap_or(0.0)
    }
    L9 fn l9(x: &[f64]) -> f64 {
        let n = x.len(); let mut c = vec![0.0; n * n]; for i in 0..n { c[i * n + i] = 1.0;
        for j in 0..i { c[i * n + j] = x[i] * x[j]; } } c.iter().sum::<f64>() / n as f64
    }
    M1 fn m1(x: &[f64]) -> f64 {
        let t = x[0]; let r = if t == 0.0 { 1.0 } else { t.sin() / t }; r.powi(2)
    }
    M2 fn m2(x: &[f64]) -> f64 {
        let s: Vec<f64> = x.iter().rev().cloned().collect();
        let z = s.iter().skip(1).fold(s[0], |a, b| 0.5 * a + b); z
    }
    N6 fn n6(x: &[f64]) -> f64 {
        let z = x.iter().map(|v| v.exp()).sum::<f64>().recip();
        x.iter().map(|v| z * v.exp()).map(|p| if p > 1e-12 { -p * p.ln() } else { 0.0 }).sum()
    }
    N7 fn n7(x: &[f64]) -> f64 {
        let m = x.iter().map(|v| v.powf(1.5)).sum::<f64>().powf(1.0 / 1.5); m.powf(x[1])
    }
    N8 fn n8(x: &[f64]) -> f64 {
        let mut s = 0.0; for w in x.windows(2) { if let [a, b] = w { s += a * b; } } s
    }
    N9 fn n9(x: &[f64]) -> f64 {
        let mut s = 0.0; for &[a, b] in x.as_chunks::<2>().0 { s += a * b; } s
    }
    O1 fn o1(x: &[f64]) -> f64 {
        x.iter().copied().map(|v: f64| -> f64 { if v > 1.0 { return 1.0 } v }).sum()
    }
    Q2 fn q2(x: &[f64]) -> f64 { let mut best = 0; for i in 1..x.len() { if x[i] > x[best] { best = i; } } x[best] }
    Q3 fn q3(x: &[f64]) -> f64 { let t = x[0]; let k = (t / 0.5).floor(); t - 0.5 * k }
    Q4 fn q4(x: &[f64]) -> f64 { let (lo, hi) = if x[0] < x[1] { (0.0, x[1]) } else { (1.0, 2.0) }; hi - lo }
    Q5 fn q5(x: &[f64]) -> f64 { let f = |x: &[f64]| -> f64 { x.iter().sum() }; f(x) + f(&x[1..]) + f(&[1.0]) }
    Q6 fn q6(x: &[f64]) -> f64 { let mut c: Vec<Option<f64>> = vec![None; 3]; c[0] = Some(x[0]); c[1] = Some(1.0); c.iter().flatten().sum() }
    Q7 fn q7(x: &[f64]) -> f64 {
        let v: Vec<(f64, f64)> = x.iter().map(|&a| (a, a * 2.0)).collect();
        let (s, t) = v.iter().fold((0.0, 0.0), |acc, p| (acc.0 + p.0, acc.1 + p.1));
        s * t
    }
    Q8 fn q8(x: &[f64]) -> f64 { let s = |k: usize| x.iter().map(|v| v.powi(k as i32)).sum::<f64>(); s(1) + s(2) }
    Q9 fn q9(x: &[f64]) -> f64 { [1.0, 2.0].iter().zip(x).map(|(a, b): (&f64, &f64)| a * b).sum() }
    R1 fn r1(x: &[f64]) -> f64 {
        let mut it = x.iter().peekable();
        let mut s = 0.0;
        while let Some(v) = it.next() { if let Some(w) = it.peek() { s += v * **w; } }
        s
    }
    R2 fn r2(x: &[f64]) -> f64 { x.iter().map(|&v| { let mut p = 1.0; for _ in 0..3 { p *= v; } p }).sum() }
    R3 fn r3(x: &[f64]) -> f64 { Some(x[0]).filter(|v| *v > 0.0).map(|v| v.ln()).unwrap_or(f64::NEG_INFINITY) }
    R4 fn r4(x: &[f64]) -> f64 { let (q, r) = (x[0] / 2.0, x[0] % 2.0); let mut z = q; z -= r; z /= 2.0; z %= 3.0; -z * x[1] }
    R5 fn r5(x: &[f64]) -> f64 { x.iter().copied().fold(f64::NAN, f64::max) + x.iter().copied().fold(f64::NAN, |a, b| f64::min(a, b)) }
    R6 fn r6(x: &[f64]) -> f64 {
        let mut m = std::collections::HashMap::new();
        m.insert(1, 1.0);
        m.insert(2, x[0]);
        let mut s = 0.0;
        for (_, v) in &m { s += v; }
        s + m[&1]
    }
}
