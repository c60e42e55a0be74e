//! `#[differentiable] mod`: everyday code of many small parts.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Functions that take and return functions: `impl Fn`, boxes, `fn` pointers, tables of them
    mod functional {
        fn compose(f: impl Fn(f64) -> f64, g: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
            move |x| g(f(x))
        }
        fn poly(c: Vec<f64>) -> Box<dyn Fn(f64) -> f64> {
            Box::new(move |x| c.iter().rev().fold(0.0, |a, b| a * x + b))
        }
        fn each(x: &[f64], f: &mut dyn FnMut(usize, f64)) {
            for (i, v) in x.iter().enumerate() {
                f(i, *v);
            }
        }
        fn apply_n<F>(f: F, n: usize, x: f64) -> f64
        where
            F: Fn(f64) -> f64,
        {
            (0..n).fold(x, |a, _| f(a))
        }
        fn table() -> [(&'static str, fn(f64) -> f64); 2] {
            [("sin", f64::sin), ("half", half)]
        }
        fn half(x: f64) -> f64 {
            0.5 * x
        }
        fn make_adder(k: f64) -> impl Fn(f64) -> f64 + Clone {
            move |x| x + k
        }
        fn choose(flag: bool) -> fn(f64, f64) -> f64 {
            if flag { f64::max } else { hyp }
        }
        fn hyp(a: f64, b: f64) -> f64 {
            (a * a + b * b).sqrt()
        }
        pub fn energy(x: &[f64]) -> f64 {
            let h = compose(|t| t * t, half);
            let p = poly(vec![1.0, x[0], x[1]]);
            let mut s = 0.0;
            each(x, &mut |i, v| s += v * (i + 1) as f64);
            let add = make_adder(x[1]);
            let ops: Vec<Box<dyn Fn(f64) -> f64>> =
                vec![Box::new(|t| t.exp()), Box::new(add.clone()), poly(x.to_vec())];
            let all: f64 = ops.iter().map(|f| f(x[0])).sum();
            let succ: f64 = std::iter::successors(Some(x[0]), |v| if *v < 20.0 { Some(v * 2.0) } else { None }).sum();
            let tf = x.iter().try_fold(1.0, |a, &b| if b > -10.0 { Some(a * b) } else { None }).unwrap();
            let t: f64 = table().iter().map(|(_, f)| f(x[0])).sum();
            h(x[0])
                + p(2.0)
                + s
                + all
                + apply_n(half, 3, x[0])
                + apply_n(|t| t * x[1], 2, 1.0)
                + succ
                + tf
                + t
                + choose(true)(x[0], x[1]) * choose(false)(x[0], 1.0)
                + add(1.0)
        }
    }

    // Searches, queues, interpolation tables, memoised recursion, slice patterns, `matches!`
    mod searches {
        use std::collections::{HashMap, VecDeque};
        const TABLE: [(f64, f64); 4] = [(0.0, 1.0), (1.0, 2.5), (2.0, 2.0), (4.0, 0.0)];
        fn interp(t: &[(f64, f64)], x: f64) -> f64 {
            let i = t.partition_point(|(k, _)| *k < x).clamp(1, t.len() - 1);
            let ((x0, y0), (x1, y1)) = (t[i - 1], t[i]);
            y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        }
        fn search(t: &[f64], x: f64) -> usize {
            match t.binary_search_by(|p| p.partial_cmp(&x).unwrap()) {
                Ok(i) => i,
                Err(i) => i,
            }
        }
        fn memo(n: u64, x: f64, cache: &mut HashMap<u64, f64>) -> f64 {
            if n < 2 {
                return x;
            }
            if let Some(&v) = cache.get(&n) {
                return v;
            }
            let v = memo(n - 1, x, cache) + 0.5 * memo(n - 2, x, cache);
            cache.insert(n, v);
            v
        }
        fn bisect(f: &dyn Fn(f64) -> f64, mut lo: f64, mut hi: f64) -> Option<f64> {
            let (flo, fhi) = (f(lo), f(hi));
            if flo * fhi > 0.0 {
                return None;
            }
            let mut it = 0;
            loop {
                let mid = lo - f(lo) * (hi - lo) / (f(hi) - f(lo));
                it += 1;
                if f(mid).abs() < 1e-12 || it > 60 {
                    break Some(mid);
                }
                if (f(mid) > 0.0) == (fhi > 0.0) { hi = mid } else { lo = mid }
            }
        }
        fn median(v: &[f64]) -> f64 {
            let mut s = v.to_vec();
            s.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let n = s.len();
            if n % 2 == 1 { s[n / 2] } else { 0.5 * (s[n / 2 - 1] + s[n / 2]) }
        }
        fn argmax(v: &[f64]) -> usize {
            v.iter().enumerate().max_by(|a, b| a.1.partial_cmp(b.1).unwrap()).map(|(i, _)| i).unwrap()
        }
        pub fn energy(x: &[f64]) -> f64 {
            let [a, b, rest @ ..] = x else { return 0.0 };
            let mut stack = vec![*a, *b, 3.0];
            let mut total = 0.0;
            while let Some(v) = stack.pop() {
                if v > 2.5 {
                    stack.push(v - a);
                    continue;
                }
                total += v * v;
            }
            let mut q: VecDeque<(usize, f64)> = VecDeque::from([(0, *a)]);
            while let Some((d, v)) = q.pop_front() {
                total += v;
                if d < 2 {
                    q.push_back((d + 1, v * 0.5));
                    q.push_back((d + 1, v * b));
                }
            }
            'outer: for i in 0..5 {
                for j in 0..5 {
                    if i * j > 6 {
                        break 'outer;
                    }
                    if (i + j) % 2 == 0 {
                        continue;
                    }
                    total += (i as f64) * a / (1.0 + j as f64);
                }
            }
            let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lse = m + x.iter().map(|v| (v - m).exp()).sum::<f64>().ln();
            let kind = if matches!(argmax(x), 0 | 2) { 1.0 } else { -1.0 };
            assert!(total.is_finite(), "total {total}");
            let r = bisect(&|t| t * t * t - a, 0.5, 3.0).expect("a root");
            let s: f64 = rest.iter().sum();
            let z = x
                .iter()
                .zip(x.iter().skip(1))
                .scan(1.0, |acc, (p, q)| {
                    *acc *= p + q;
                    Some(*acc)
                })
                .last()
                .unwrap_or(0.0);
            let w = match x {
                [p, .., q] if p > q => p - q,
                [p, ..] => *p,
                [] => 0.0,
            };
            total
                + lse
                + kind * median(x)
                + interp(&TABLE, *b)
                + interp(&[(0.0, *a), (3.0, *b)], 1.0)
                + memo(6, *a, &mut HashMap::new())
                + r
                + s
                + z
                + w
                + TABLE[search(&[0.0, 1.0, 2.0], *a)].1 * a
        }
    }

    // Matrices of any size with `type Vec3 = Matrix<3, 1>;`
    mod matrices {
        use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Matrix<const R: usize, const C: usize>([[f64; C]; R]);
        pub type Vec3 = Matrix<3, 1>;
        impl<const R: usize, const C: usize> Matrix<R, C> {
            pub const ZERO: Self = Matrix([[0.0; C]; R]);
            pub fn from_fn(f: impl Fn(usize, usize) -> f64) -> Self {
                let mut m = Self::ZERO;
                for i in 0..R {
                    for j in 0..C {
                        m.0[i][j] = f(i, j);
                    }
                }
                m
            }
            pub fn transpose(&self) -> Matrix<C, R> {
                Matrix::from_fn(|i, j| self.0[j][i])
            }
            pub fn norm(&self) -> f64 {
                self.0.iter().flatten().map(|v| v * v).sum::<f64>().sqrt()
            }
            pub fn col(&self, j: usize) -> Matrix<R, 1> {
                Matrix::from_fn(|i, _| self[(i, j)])
            }
        }
        impl<const N: usize> Matrix<N, N> {
            pub fn identity() -> Self {
                Self::from_fn(|i, j| if i == j { 1.0 } else { 0.0 })
            }
            fn trace(&self) -> f64 {
                (0..N).map(|i| self[(i, i)]).sum()
            }
            fn det(&self) -> f64 {
                let mut a = *self;
                let mut d = 1.0;
                for k in 0..N {
                    d *= a[(k, k)];
                    for i in k + 1..N {
                        let f = a[(i, k)] / a[(k, k)];
                        for j in k..N {
                            let t = a[(k, j)];
                            a[(i, j)] -= f * t;
                        }
                    }
                }
                d
            }
        }
        impl<const R: usize, const C: usize> Index<(usize, usize)> for Matrix<R, C> {
            type Output = f64;
            fn index(&self, (i, j): (usize, usize)) -> &f64 {
                &self.0[i][j]
            }
        }
        impl<const R: usize, const C: usize> IndexMut<(usize, usize)> for Matrix<R, C> {
            fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
                &mut self.0[i][j]
            }
        }
        impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
            type Output = Matrix<R, C>;
            fn mul(self, o: Matrix<K, C>) -> Matrix<R, C> {
                Matrix::from_fn(|i, j| (0..K).map(|k| self[(i, k)] * o[(k, j)]).sum())
            }
        }
        impl<const R: usize, const C: usize> Add for Matrix<R, C> {
            type Output = Self;
            fn add(self, o: Self) -> Self {
                Self::from_fn(|i, j| self[(i, j)] + o[(i, j)])
            }
        }
        impl<const R: usize, const C: usize> Sub for Matrix<R, C> {
            type Output = Self;
            fn sub(self, o: Self) -> Self {
                self + -o
            }
        }
        impl<const R: usize, const C: usize> Neg for Matrix<R, C> {
            type Output = Self;
            fn neg(self) -> Self {
                self * -1.0
            }
        }
        impl<const R: usize, const C: usize> Mul<f64> for Matrix<R, C> {
            type Output = Self;
            fn mul(mut self, k: f64) -> Self {
                for row in self.0.iter_mut() {
                    for v in row {
                        *v *= k;
                    }
                }
                self
            }
        }
        fn rot(a: f64) -> Matrix<3, 3> {
            let (s, c) = a.sin_cos();
            Matrix([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        }
        fn dh(t: &[f64], links: &[f64]) -> Vec3 {
            let mut p = Vec3::ZERO;
            let mut r = Matrix::<3, 3>::identity();
            for (a, l) in t.iter().zip(links) {
                r = r * rot(*a);
                p = p + r * Matrix([[*l], [0.0], [0.0]]);
            }
            p
        }
        pub fn energy(x: &[f64]) -> f64 {
            let p = dh(x, &[1.0, 0.5]);
            let m = rot(x[0]) * Matrix::<3, 3>::identity() + rot(x[1]).transpose();
            (p - Matrix([[1.0], [1.0], [0.0]])).norm() + m.trace() + m.det() + m.col(1).norm()
        }
    }

    // Methods of traits with bodies, on types without numbers too
    mod methods {
        pub trait Model {
            fn rate(&self, x: f64) -> f64;
            fn twice(&self, x: f64) -> f64 {
                2.0 * self.rate(x)
            }
            fn order(&self) -> usize {
                2
            }
            fn boxed(self) -> Box<dyn Model>
            where
                Self: Sized + 'static,
            {
                Box::new(self)
            }
        }
        pub struct Linear;
        pub struct Power {
            n: i32,
        }
        pub struct Scaled<'a> {
            inner: &'a dyn Model,
            k: f64,
        }
        impl Model for Linear {
            fn rate(&self, x: f64) -> f64 {
                x
            }
        }
        impl Model for Power {
            fn rate(&self, x: f64) -> f64 {
                x.powi(self.n)
            }
            fn order(&self) -> usize {
                self.n as usize
            }
        }
        impl<'a> Model for Scaled<'a> {
            fn rate(&self, x: f64) -> f64 {
                self.k * self.inner.rate(x)
            }
        }
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind {
            A,
            B(u8),
        }
        impl Kind {
            const ALL: [Kind; 2] = [Kind::A, Kind::B(3)];
            fn weight(self) -> f64 {
                match self {
                    Kind::A => 1.5,
                    Kind::B(n) => n as f64,
                }
            }
            fn apply(&self, x: f64) -> f64 {
                self.weight() * x
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let models: Vec<Box<dyn Model>> = vec![Box::new(Linear), Power { n: 3 }.boxed()];
            let p = Power { n: 2 };
            let s = Scaled { inner: &p, k: x[1] };
            models.iter().map(|m| m.twice(x[0]) * m.order() as f64).sum::<f64>()
                + s.twice(x[0])
                + p.rate(x[1])
                + Linear.twice(x[0])
                + Kind::ALL.iter().map(|k| k.apply(x[0])).sum::<f64>()
        }
    }

    // Trees and graphs: `Rc<RefCell<..>>`, `Weak`, boxes in enums
    mod graphs {
        use std::cell::RefCell;
        use std::collections::HashMap;
        use std::rc::{Rc, Weak};
        #[derive(Debug)]
        pub struct Joint {
            angle: f64,
            length: f64,
            parent: RefCell<Weak<Joint>>,
            children: RefCell<Vec<Rc<Joint>>>,
        }
        impl Joint {
            fn new(angle: f64, length: f64) -> Rc<Self> {
                Rc::new(Self { angle, length, parent: RefCell::new(Weak::new()), children: RefCell::new(vec![]) })
            }
            fn attach(parent: &Rc<Joint>, child: Rc<Joint>) {
                *child.parent.borrow_mut() = Rc::downgrade(parent);
                parent.children.borrow_mut().push(child);
            }
            fn total_angle(&self) -> f64 {
                self.angle + self.parent.borrow().upgrade().map_or(0.0, |p| p.total_angle())
            }
            fn tip(&self) -> (f64, f64) {
                let (px, py) = match self.parent.borrow().upgrade() {
                    Some(p) => p.tip(),
                    None => (0.0, 0.0),
                };
                let a = self.total_angle();
                (px + self.length * a.cos(), py + self.length * a.sin())
            }
        }
        pub enum Expr {
            Const(f64),
            Var(String),
            Add(Box<Expr>, Box<Expr>),
            Mul(Box<Expr>, Box<Expr>),
            Call(fn(f64) -> f64, Box<Expr>),
        }
        impl Expr {
            fn eval(&self, env: &HashMap<String, f64>) -> Result<f64, String> {
                Ok(match self {
                    Expr::Const(c) => *c,
                    Expr::Var(name) => *env.get(name).ok_or_else(|| format!("no {name}"))?,
                    Expr::Add(a, b) => a.eval(env)? + b.eval(env)?,
                    Expr::Mul(a, b) => a.eval(env)? * b.eval(env)?,
                    Expr::Call(f, a) => f(a.eval(env)?),
                })
            }
        }
        pub enum Tree {
            Leaf(f64),
            Node { split: f64, left: Box<Tree>, right: Box<Tree> },
        }
        fn predict(t: &Tree, x: f64) -> f64 {
            match t {
                Tree::Leaf(v) => v * x,
                Tree::Node { split, left, right } => {
                    if x < *split {
                        predict(left, x)
                    } else {
                        predict(right, x)
                    }
                }
            }
        }
        pub fn energy(x: &[f64]) -> f64 {
            let root = Joint::new(x[0], 1.0);
            let child = Joint::new(x[1], 0.5);
            Joint::attach(&root, child.clone());
            let tip = child.tip();
            let e = Expr::Add(
                Box::new(Expr::Mul(Box::new(Expr::Var("a".into())), Box::new(Expr::Const(2.0)))),
                Box::new(Expr::Call(f64::sin, Box::new(Expr::Var("b".to_string())))),
            );
            let mut env = HashMap::new();
            env.insert("a".to_string(), x[0]);
            env.insert(String::from("b"), x[1]);
            let t = Tree::Node { split: 0.6, left: Box::new(Tree::Leaf(1.5)), right: Box::new(Tree::Leaf(x[1])) };
            tip.0 * tip.1 + e.eval(&env).unwrap() + predict(&t, x[0]) + predict(&t, x[1])
        }
    }
}

#[test]
fn functions_take_and_return_functions() {
    agrees(functional::Energy, plain::functional::energy, [1.5, 0.7]);
    agrees(functional::Energy, plain::functional::energy, [0.5, -0.7]);
}

#[test]
fn code_searches_and_branches() {
    agrees(searches::Energy, plain::searches::energy, [1.5, 0.7, 0.2, 1.1]);
    agrees(searches::Energy, plain::searches::energy, [1.2, 0.9, 2.2, 0.1]);
}

#[test]
fn matrices_have_aliases() {
    agrees(matrices::Energy, plain::matrices::energy, [0.5, 0.7]);
    agrees(matrices::Energy, plain::matrices::energy, [-0.5, 2.7]);
}

#[test]
fn traits_have_methods_with_bodies() {
    agrees(methods::Energy, plain::methods::energy, [1.5, 0.7]);
    agrees(methods::Energy, plain::methods::energy, [-0.5, 1.1]);
}

#[test]
fn trees_and_graphs_hold_active_numbers() {
    agrees(graphs::Energy, plain::graphs::energy, [0.5, 0.7]);
    agrees(graphs::Energy, plain::graphs::energy, [0.9, 0.3]);
}
