//! `#[differentiable] mod`: short code that was refused once, each reduced from a program of a user.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    mod cell_field_set {
        use std::cell::Cell;
        pub struct C {
            last: Cell<f64>,
        }
        impl C {
            fn see(&self, v: f64) {
                self.last.set(v);
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let c = C { last: Cell::new(0.0) };
            c.see(x[0]);
            c.last.get()
        }
    }

    mod constants_in_map_value {
        use std::collections::HashMap;
        pub struct N {
            mean: f64,
        }
        impl N {
            fn ln_pdf(&self, x: f64) -> f64 {
                x - self.mean
            }
        }
        fn lp(priors: &HashMap<&'static str, N>, x: f64) -> Option<f64> {
            Some(priors.get("mu")?.ln_pdf(x))
        }
        pub fn cost(q: &[f64]) -> f64 {
            let mut priors = HashMap::new();
            priors.insert("mu", N { mean: 1.0 });
            lp(&priors, q[0]).unwrap() + N { mean: q[0] }.ln_pdf(0.5)
        }
    }

    mod const_generic_turbofish_literal {
        pub struct Hold<const N: usize> {
            buf: [f64; N],
        }
        impl<const N: usize> Hold<N> {
            fn sum(&self) -> f64 {
                self.buf.iter().sum()
            }
        }
        pub fn cost(q: &[f64]) -> f64 {
            Hold::<2> { buf: [q[0], q[1]] }.sum()
        }
    }

    mod from_struct_for_array {
        pub struct E3 {
            x: f64,
            y: f64,
        }
        impl From<E3> for [f64; 2] {
            fn from(e: E3) -> [f64; 2] {
                [e.x, e.y]
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let [a, b]: [f64; 2] = E3 { x: x[0], y: x[1] }.into();
            a * b
        }
    }

    mod generic_bound_mul_f64 {
        use std::ops::{Add, Mul};
        fn lerp<P>(a: P, b: P, t: f64) -> P
        where
            P: Copy + Add<Output = P> + Mul<f64, Output = P>,
        {
            a * (1.0 - t) + b * t
        }
        #[derive(Clone, Copy)]
        pub struct C {
            r: f64,
        }
        impl Add for C {
            type Output = C;
            fn add(self, o: C) -> C {
                C { r: self.r + o.r }
            }
        }
        impl Mul<f64> for C {
            type Output = C;
            fn mul(self, k: f64) -> C {
                C { r: self.r * k }
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            lerp(C { r: x[0] }, C { r: 2.0 }, x[1]).r
        }
    }

    mod generic_default_bound {
        pub trait Vis {
            fn visit(&mut self, v: f64);
            fn result(&self) -> f64;
        }
        #[derive(Default)]
        pub struct SumV(f64);
        impl Vis for SumV {
            fn visit(&mut self, v: f64) {
                self.0 += v;
            }
            fn result(&self) -> f64 {
                self.0
            }
        }
        fn walk<V: Vis + Default>(x: &[f64]) -> f64 {
            let mut v = V::default();
            for e in x {
                v.visit(*e);
            }
            v.result()
        }
        pub fn cost(x: &[f64]) -> f64 {
            walk::<SumV>(x)
        }
    }

    mod impl_into_f64_argument {
        fn sq(v: impl Into<f64>) -> f64 {
            let v = v.into();
            v * v
        }
        pub fn cost(x: &[f64]) -> f64 {
            sq(x[0]) + sq(2.0)
        }
    }

    mod impl_into_struct_argument {
        pub struct V {
            c: f64,
        }
        impl From<f64> for V {
            fn from(c: f64) -> V {
                V { c }
            }
        }
        fn sq(v: impl Into<V>) -> f64 {
            let v = v.into();
            v.c * v.c
        }
        pub fn cost(x: &[f64]) -> f64 {
            sq(x[0])
        }
    }

    mod impl_into_vec_argument {
        pub struct Poly {
            c: Vec<f64>,
        }
        impl Poly {
            fn new(c: impl Into<Vec<f64>>) -> Self {
                Poly { c: c.into() }
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let p = Poly::new(vec![0.5, x[0]]);
            p.c[0] * p.c[1]
        }
    }

    mod into_from_tuple_with_literal {
        pub struct P {
            x: f64,
            y: f64,
        }
        impl From<(f64, f64)> for P {
            fn from(t: (f64, f64)) -> P {
                P { x: t.0, y: t.1 }
            }
        }
        pub struct S {
            c: P,
        }
        pub fn cost(x: &[f64]) -> f64 {
            let s = S { c: (x[0], 0.5).into() };
            s.c.x * s.c.y
        }
    }

    mod into_iterator_for_reference {
        pub struct Grid {
            data: Vec<f64>,
        }
        impl<'a> IntoIterator for &'a Grid {
            type Item = &'a f64;
            type IntoIter = std::slice::Iter<'a, f64>;
            fn into_iter(self) -> Self::IntoIter {
                self.data.iter()
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let g = Grid { data: x.to_vec() };
            let mut s = 0.0;
            for v in &g {
                s += v;
            }
            s
        }
    }

    mod map_entry_tuple {
        use std::collections::HashMap;
        pub fn cost(x: &[f64]) -> f64 {
            let mut m: HashMap<&str, (f64, usize)> = HashMap::new();
            for v in x {
                let e = m.entry("a").or_insert((0.0, 0));
                e.0 += v;
                e.1 += 1;
            }
            let (s, n) = m["a"];
            s / n as f64
        }
    }

    mod map_field_then_get_in_method {
        use std::collections::HashMap;
        pub struct Env {
            m: HashMap<String, f64>,
        }
        impl Env {
            fn new() -> Self {
                Env { m: HashMap::new() }
            }
            fn set(&mut self, n: &str, v: f64) {
                self.m.insert(n.to_string(), v);
            }
            fn get(&self, n: &str) -> Option<f64> {
                self.m.get(n).copied()
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let mut e = Env::new();
            e.set("a", x[0]);
            e.set("k", 2.0);
            e.get("a").unwrap() * e.get("k").unwrap()
        }
    }

    mod map_field_then_index_in_method {
        use std::collections::HashMap;
        pub struct Env {
            m: HashMap<String, f64>,
        }
        impl Env {
            fn get(&self, n: &str) -> f64 {
                self.m[n]
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let mut e = Env { m: HashMap::new() };
            e.m.insert("a".to_string(), x[0]);
            e.get("a")
        }
    }

    mod memo_refcell_counter {
        use std::cell::{Cell, RefCell};
        use std::collections::HashMap;
        pub struct Counter {
            calls: Cell<usize>,
            last: Cell<f64>,
            best: Cell<Option<f64>>,
            memo: RefCell<HashMap<usize, f64>>,
        }
        impl Counter {
            fn fib(&self, n: usize, x: f64) -> f64 {
                self.calls.set(self.calls.get() + 1);
                if let Some(v) = self.memo.borrow().get(&n) {
                    return *v;
                }
                let v = if n < 2 { x + n as f64 } else { self.fib(n - 1, x) + x * self.fib(n - 2, x) };
                self.memo.borrow_mut().insert(n, v);
                self.last.set(v);
                if self.best.get().is_none_or(|b| v > b) {
                    self.best.set(Some(v));
                }
                v
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let c = Counter {
                calls: Cell::new(0),
                last: Cell::new(0.0),
                best: Cell::new(None),
                memo: RefCell::new(HashMap::new()),
            };
            let v = c.fib(6, x[0]);
            let old = c.last.replace(x[1]);
            v * c.last.get() + old + c.best.take().unwrap_or(0.0) + c.calls.get() as f64
        }
    }

    mod parse_collect_result_turbofish {
        fn dot(a: &[f64], b: &[f64]) -> f64 {
            a.iter().zip(b).map(|(x, y)| x * y).sum()
        }
        pub fn cost(w: &[f64]) -> f64 {
            let v = "1,2".split(',').map(|s| s.parse::<f64>()).collect::<Result<Vec<_>, _>>().unwrap();
            dot(&v, w) + dot(w, &v)
        }
    }

    mod phantom_data_unit_constructor {
        use std::marker::PhantomData;
        pub trait Unit {
            const SCALE: f64;
        }
        pub struct Kg;
        impl Unit for Kg {
            const SCALE: f64 = 2.0;
        }
        pub struct Quantity<U: Unit> {
            value: f64,
            unit: PhantomData<U>,
        }
        impl<U: Unit> Quantity<U> {
            fn new(value: f64) -> Self {
                Quantity { value, unit: PhantomData }
            }
            fn get(&self) -> f64 {
                self.value * U::SCALE
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            Quantity::<Kg>::new(x[0]).get() * x[1]
        }
    }

    mod refcell_option_assign {
        use std::cell::RefCell;
        pub struct C {
            best: RefCell<Option<f64>>,
        }
        impl C {
            fn f(&self, v: f64) {
                *self.best.borrow_mut() = Some(v);
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let c = C { best: RefCell::new(None) };
            c.f(x[0]);
            c.best.borrow().unwrap()
        }
    }

    mod refcell_vec_field_push {
        use std::cell::RefCell;
        pub struct C {
            log: RefCell<Vec<f64>>,
        }
        impl C {
            fn see(&self, v: f64) {
                self.log.borrow_mut().push(v);
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let c = C { log: RefCell::new(Vec::new()) };
            c.see(x[0]);
            c.log.borrow().iter().sum()
        }
    }

    mod result_alias_error_with_f64 {
        #[derive(Debug)]
        pub enum Bad {
            Range { x: f64 },
        }
        type Result<T> = std::result::Result<T, Bad>;
        fn eval(x: f64) -> Result<f64> {
            if x > 1e3 {
                return Err(Bad::Range { x: 0.0 });
            }
            Ok(x * x)
        }
        pub fn cost(x: &[f64]) -> f64 {
            match eval(x[0]) {
                Ok(v) => v,
                Err(Bad::Range { x }) => x,
            }
        }
    }

    mod struct_update_from_const {
        #[derive(Clone, Copy)]
        pub struct Glass {
            a: f64,
            b: f64,
        }
        impl Glass {
            fn n(&self, l: f64) -> f64 {
                self.a + self.b / l
            }
        }
        const AIR: Glass = Glass { a: 1.0, b: 0.0 };
        pub enum Surf {
            Sph { c: f64, medium: Glass },
            Mirror(f64),
        }
        pub fn cost(x: &[f64]) -> f64 {
            let surfaces = [Surf::Sph { c: x[0], medium: Glass { a: x[1], ..AIR } }, Surf::Mirror(1.0)];
            let mut medium = AIR;
            let mut y = 1.0;
            for s in &surfaces {
                match s {
                    Surf::Sph { c, medium: next } => {
                        y += c * medium.n(0.5) * next.n(0.5);
                        medium = *next;
                    }
                    Surf::Mirror(r) => y *= -r * medium.n(0.4),
                }
            }
            y
        }
    }

    mod trait_static_constructor {
        pub trait Vis {
            fn new() -> Self;
            fn visit(&mut self, v: f64);
            fn result(&self) -> f64;
        }
        pub struct SumV(f64);
        impl Vis for SumV {
            fn new() -> Self {
                SumV(0.0)
            }
            fn visit(&mut self, v: f64) {
                self.0 += v;
            }
            fn result(&self) -> f64 {
                self.0
            }
        }
        fn walk<V: Vis>(x: &[f64]) -> f64 {
            let mut v = V::new();
            for e in x {
                v.visit(*e);
            }
            v.result()
        }
        pub fn cost(x: &[f64]) -> f64 {
            walk::<SumV>(x)
        }
    }

    mod trait_static_fn_number_argument {
        pub trait Eos {
            fn a(t: f64) -> f64;
            fn z(t: f64, p: f64) -> f64 {
                Self::a(t) * p
            }
        }
        pub struct Pr;
        impl Eos for Pr {
            fn a(t: f64) -> f64 {
                t.sqrt()
            }
        }
        fn vol<E: Eos>(t: f64) -> f64 {
            E::z(t, 2.0)
        }
        pub fn cost(x: &[f64]) -> f64 {
            vol::<Pr>(x[1]) * x[0]
        }
    }

    mod trait_static_fn_struct_argument {
        pub struct Comp {
            tc: f64,
        }
        pub trait Eos {
            fn z(c: &Comp, t: f64) -> f64;
        }
        pub struct Pr;
        impl Eos for Pr {
            fn z(c: &Comp, t: f64) -> f64 {
                c.tc * t
            }
        }
        fn volume<E: Eos>(c: &Comp, t: f64) -> f64 {
            match 1 {
                1 => E::z(c, t),
                _ => 0.0,
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            volume::<Pr>(&Comp { tc: x[0] }, 300.0)
        }
    }

    mod turbofish_generic_struct_new {
        pub struct Pair<L> {
            label: L,
            value: f64,
        }
        impl<L> Pair<L> {
            fn new(label: L, value: f64) -> Self {
                Pair { label, value }
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            Pair::<usize>::new(2, x[0]).value * Pair::new("a", x[1]).value
        }
    }

    mod type_alias_of_map {
        use std::collections::HashMap;
        pub type Params = HashMap<String, f64>;
        fn get(p: &Params, name: &str) -> Option<f64> {
            p.get(name).copied()
        }
        pub fn cost(x: &[f64]) -> f64 {
            let mut p = Params::new();
            p.insert("a".into(), x[0]);
            p.insert("b".into(), 2.0);
            get(&p, "a").unwrap() * get(&p, "b").unwrap()
        }
    }

    mod drop_impl {
        pub struct Guard<'a> {
            out: &'a std::cell::RefCell<f64>,
            v: f64,
        }
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                *self.out.borrow_mut() += self.v;
            }
        }
        pub fn cost(x: &[f64]) -> f64 {
            let out = std::cell::RefCell::new(0.0);
            {
                let _g = Guard { out: &out, v: x[0] };
            }
            out.into_inner()
        }
    }
}

#[test]
fn code_that_was_refused_once_has_gradients() {
    agrees(cell_field_set::Cost, plain::cell_field_set::cost, [0.3, 0.7]);
    agrees(constants_in_map_value::Cost, plain::constants_in_map_value::cost, [0.3, 0.7]);
    agrees(const_generic_turbofish_literal::Cost, plain::const_generic_turbofish_literal::cost, [0.3, 0.7]);
    agrees(from_struct_for_array::Cost, plain::from_struct_for_array::cost, [0.3, 0.7]);
    agrees(generic_bound_mul_f64::Cost, plain::generic_bound_mul_f64::cost, [0.3, 0.7]);
    agrees(generic_default_bound::Cost, plain::generic_default_bound::cost, [0.3, 0.7]);
    agrees(impl_into_f64_argument::Cost, plain::impl_into_f64_argument::cost, [0.3, 0.7]);
    agrees(impl_into_struct_argument::Cost, plain::impl_into_struct_argument::cost, [0.3, 0.7]);
    agrees(impl_into_vec_argument::Cost, plain::impl_into_vec_argument::cost, [0.3, 0.7]);
    agrees(into_from_tuple_with_literal::Cost, plain::into_from_tuple_with_literal::cost, [0.3, 0.7]);
    agrees(into_iterator_for_reference::Cost, plain::into_iterator_for_reference::cost, [0.3, 0.7]);
    agrees(map_entry_tuple::Cost, plain::map_entry_tuple::cost, [0.3, 0.7]);
    agrees(map_field_then_get_in_method::Cost, plain::map_field_then_get_in_method::cost, [0.3, 0.7]);
    agrees(map_field_then_index_in_method::Cost, plain::map_field_then_index_in_method::cost, [0.3, 0.7]);
    agrees(memo_refcell_counter::Cost, plain::memo_refcell_counter::cost, [0.3, 0.7]);
    agrees(parse_collect_result_turbofish::Cost, plain::parse_collect_result_turbofish::cost, [0.3, 0.7]);
    agrees(phantom_data_unit_constructor::Cost, plain::phantom_data_unit_constructor::cost, [0.3, 0.7]);
    agrees(refcell_option_assign::Cost, plain::refcell_option_assign::cost, [0.3, 0.7]);
    agrees(refcell_vec_field_push::Cost, plain::refcell_vec_field_push::cost, [0.3, 0.7]);
    agrees(result_alias_error_with_f64::Cost, plain::result_alias_error_with_f64::cost, [0.3, 0.7]);
    agrees(struct_update_from_const::Cost, plain::struct_update_from_const::cost, [0.3, 0.7]);
    agrees(trait_static_constructor::Cost, plain::trait_static_constructor::cost, [0.3, 0.7]);
    agrees(trait_static_fn_number_argument::Cost, plain::trait_static_fn_number_argument::cost, [0.3, 0.7]);
    agrees(trait_static_fn_struct_argument::Cost, plain::trait_static_fn_struct_argument::cost, [0.3, 0.7]);
    agrees(turbofish_generic_struct_new::Cost, plain::turbofish_generic_struct_new::cost, [0.3, 0.7]);
    agrees(type_alias_of_map::Cost, plain::type_alias_of_map::cost, [0.3, 0.7]);
    agrees(drop_impl::Cost, plain::drop_impl::cost, [0.3, 0.7]);
}
