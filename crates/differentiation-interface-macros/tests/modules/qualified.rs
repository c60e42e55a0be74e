//! `#[differentiable] mod`: paths that name a type, its trait, or its arguments: `<Air as Gas>::pressure`, `Midpoint::apply`, `Mixture::<Normal>::new`.

use crate::dual::{agrees, check};
use differentiation_interface_macros::differentiable;

both! {
    // Paths with a type and its trait, `<Air as Gas>::pressure(&air, t)`: of methods, constructors, type parameters, `Self` and `f64`, and as values
    mod traits_by_name {
        trait Gas {
            fn with(r: f64) -> Self;
            fn pressure(&self, t: f64) -> f64;
            fn both(&self, t: f64) -> f64 {
                2.0 * <Self as Gas>::pressure(self, t)
            }
        }
        trait Drag {
            fn pressure(&self, t: f64) -> f64;
        }
        struct Air {
            r: f64,
        }
        impl Gas for Air {
            fn with(r: f64) -> Self {
                Air { r }
            }
            fn pressure(&self, t: f64) -> f64 {
                self.r * t
            }
        }
        impl Drag for Air {
            fn pressure(&self, t: f64) -> f64 {
                self.r * t * t
            }
        }
        impl From<f64> for Air {
            fn from(r: f64) -> Air {
                Air { r: 3.0 * r }
            }
        }
        impl Gas for f64 {
            fn with(r: f64) -> Self {
                r
            }
            fn pressure(&self, t: f64) -> f64 {
                self + t
            }
        }
        trait Total {
            fn total(&self) -> f64;
            fn twice(&self) -> f64 {
                2.0 * self.total()
            }
        }
        impl Total for Vec<f64> {
            fn total(&self) -> f64 {
                self.iter().sum()
            }
        }
        impl Total for [f64; 2] {
            fn total(&self) -> f64 {
                self[0] * self[1]
            }
        }
        fn of_any<G: Gas>(r: f64, t: f64) -> f64 {
            <G as Gas>::with(r).pressure(t)
        }
        pub fn f(x: &[f64]) -> f64 {
            let air = <Air as Gas>::with(x[0]);
            let data = <Air as Gas>::with(2.0);
            let all: Vec<Air> = x.iter().copied().map(<Air as Gas>::with).collect();
            <Air as Gas>::pressure(&air, x[1]) - <Air as Drag>::pressure(&air, x[1])
                + <Air as Gas>::pressure(&data, 3.0)
                + <Air as Gas>::both(&air, 0.5)
                + <Air as From<f64>>::from(x[1]).r
                + <Air>::from(x[0]).r
                + <f64 as Gas>::with(x[0]).pressure(x[1])
                + of_any::<Air>(x[0], 2.0)
                + all.iter().map(|gas| gas.r * gas.r).sum::<f64>()
                + <Vec<f64> as Total>::total(&x.to_vec()) * <[f64; 2] as Total>::twice(&[x[0], x[1]])
        }
    }

    // Functions that a trait provides, called on the type, `Midpoint::apply(|t| t * scale)`, also on one without numbers
    mod provided {
        trait Rule {
            fn points() -> usize {
                3
            }
            fn twice(b: f64) -> f64 {
                2.0 * b
            }
            fn apply<F: Fn(f64) -> f64>(f: F, b: f64) -> f64 {
                (0..Self::points()).map(|i| f(b * i as f64)).sum()
            }
        }
        struct Midpoint;
        impl Rule for Midpoint {}
        struct Ends;
        impl Rule for Ends {
            fn points() -> usize {
                2
            }
        }
        trait Curve {
            fn with(a: f64) -> Self;
            fn steeper(a: f64) -> Self
            where
                Self: Sized,
            {
                Self::with(2.0 * a)
            }
        }
        struct Parabola {
            a: f64,
        }
        impl Curve for Parabola {
            fn with(a: f64) -> Self {
                Parabola { a: a * a }
            }
        }
        trait Step {
            fn weight(b: f64) -> f64 {
                0.5 * b
            }
            fn both(b: f64) -> f64;
        }
        impl Step for Midpoint {
            fn both(b: f64) -> f64 {
                Self::weight(b) + Self::weight(3.0) + Self::apply(|t| t.sin(), b)
            }
        }
        fn of_any<R: Rule>(f: &dyn Fn(f64) -> f64, b: f64) -> f64 {
            R::apply(f, b)
        }
        pub fn f(x: &[f64]) -> f64 {
            Midpoint::twice(x[1]) + Midpoint::twice(3.0)
                + Midpoint::apply(|t| t * x[0], 2.0)
                + Ends::apply(|t| t * t, x[0])
                + Ends::points() as f64
                + of_any::<Ends>(&|t| t + x[0], x[1])
                + Parabola::steeper(x[0]).a * Parabola::steeper(3.0).a
                + Midpoint::both(x[1])
                + x.iter().copied().map(Midpoint::twice).sum::<f64>()
        }
    }

    // Methods of a type without numbers whose trait has numbers, where nothing tells them: `law.knots().len()`, `rule.apply(&|t| t * scale)`
    mod without_numbers {
        use std::cell::RefCell;
        use std::rc::Rc;
        #[derive(Clone, Copy, PartialEq)]
        enum Curve {
            Parabola,
            Sine,
        }
        trait Law {
            fn at(&self, t: f64) -> f64;
            fn knots(&self) -> &[usize];
            fn boxed(&self) -> Box<dyn Fn(f64) -> f64>;
            fn label(&self) -> String {
                format!("{} knots", self.knots().len())
            }
            fn over<F: Fn(f64) -> f64>(&self, f: F) -> f64 {
                self.knots().iter().map(|k| f(*k as f64)).sum()
            }
        }
        impl Curve {
            fn count(&self) -> f64 {
                self.knots().len() as f64
            }
            fn order(self) -> usize {
                3
            }
        }
        impl Law for Curve {
            fn at(&self, t: f64) -> f64 {
                match self {
                    Curve::Parabola => t * t,
                    Curve::Sine => self.count() * t.sin() + self.knots()[0] as f64,
                }
            }
            fn knots(&self) -> &[usize] {
                &[1, 2]
            }
            fn boxed(&self) -> Box<dyn Fn(f64) -> f64> {
                let curve = *self;
                Box::new(move |t| curve.at(t))
            }
        }
        struct Holder {
            curve: Curve,
            all: Vec<Curve>,
        }
        fn first(holder: &Holder) -> &[usize] {
            let curve = &holder.curve;
            curve.knots()
        }
        pub fn f(x: &[f64]) -> f64 {
            let holder = Holder { curve: Curve::Parabola, all: vec![Curve::Parabola, Curve::Sine] };
            let (shared, cell) = (Rc::new(Curve::Sine), RefCell::new(Curve::Parabola));
            let n = shared.knots().len() + cell.borrow().knots().len() + holder.curve.label().len() + first(&holder).len();
            let m = holder.all.iter().filter(|curve| curve.knots().len() > 1).count();
            let best = holder.all.iter().max_by(|a, b| a.at(x[0]).total_cmp(&b.at(x[0]))).unwrap();
            (n + m + Curve::Sine.order()) as f64 * x[0]
                + shared.at(x[1])
                + shared.over(|t| t * x[1])
                + best.boxed()(x[1])
                + holder.all.iter().map(|curve| curve.at(x[0])).sum::<f64>()
                + holder.curve.boxed()(2.0)
        }
    }

    // Turbofish of a type with numbers, `Mixture::<Normal>::new(mean)`
    mod turbofish {
        trait Density {
            fn with(mean: f64) -> Self;
            fn at(&self, x: f64) -> f64;
        }
        struct Normal {
            mean: f64,
        }
        impl Density for Normal {
            fn with(mean: f64) -> Self {
                Normal { mean }
            }
            fn at(&self, x: f64) -> f64 {
                (-(x - self.mean).powi(2)).exp()
            }
        }
        struct Mixture<A, B> {
            weight: f64,
            a: A,
            b: B,
        }
        impl<A: Density, B: Density> Mixture<A, B> {
            fn new(mean: f64) -> Self {
                Mixture { weight: 0.25 * mean, a: A::with(mean), b: B::with(2.0) }
            }
            fn at(&self, x: f64) -> f64 {
                self.weight * self.a.at(x) + self.b.at(x)
            }
        }
        fn of_any<A: Density, B: Density>(mean: f64) -> f64 {
            Mixture::<A, B>::new(mean).at(0.5)
        }
        pub fn f(x: &[f64]) -> f64 {
            Mixture::<Normal, Normal>::new(x[0]).at(x[1])
                + Mixture::<Normal, Normal>::new(2.0).at(0.5)
                + of_any::<Normal, Normal>(x[1])
        }
    }
    // Methods that a type without numbers has beside its trait, with type parameters or in a module inside: they are called, as in `f64` code
    mod other_methods {
        pub trait Rule {
            fn apply(&self, v: f64) -> f64;
            fn order(&self, i: usize) -> usize {
                i
            }
            fn weight(&self) -> usize {
                2
            }
            fn count(&self) -> usize {
                3
            }
        }
        pub struct Mid;
        impl Rule for Mid {
            fn apply(&self, v: f64) -> f64 {
                v * v
            }
            fn count(&self) -> usize {
                4
            }
        }
        impl Mid {
            fn order<P: Copy + Into<u64>>(&self, p: P) -> u64 {
                p.into() + 100
            }
            fn count(&self) -> usize {
                5
            }
        }
        mod inside {
            impl super::Mid {
                pub fn weight(&self) -> usize {
                    50
                }
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let rule = Mid;
            rule.apply(x[0]) * rule.order(3_u8) as f64
                + x[1] * Mid::order(&rule, 7_u16) as f64
                + x[0] * rule.weight() as f64
                + x[1] * Mid::weight(&rule) as f64
                + x[0] * x[1] * (rule.count() * Mid::count(&rule)) as f64
                + x[0].exp() * Rule::count(&rule) as f64
        }
    }
    // Traits of types without numbers that pointers implement in a way of their own
    mod pointers {
        pub trait Rule {
            fn apply(&self, v: f64) -> f64;
            fn order(&self) -> usize {
                7
            }
        }
        pub struct Mid;
        impl Rule for Mid {
            fn apply(&self, v: f64) -> f64 {
                v * v
            }
        }
        impl<R: Rule> Rule for Box<R> {
            fn apply(&self, v: f64) -> f64 {
                (**self).apply(v) + v
            }
        }
        impl<R: Rule + ?Sized> Rule for &R {
            fn apply(&self, v: f64) -> f64 {
                (**self).apply(v)
            }
            fn order(&self) -> usize {
                (**self).order() + 1
            }
        }
        pub trait Law {
            fn energy(&self, v: f64) -> f64;
            fn degree(&self) -> usize;
        }
        impl Law for Mid {
            fn energy(&self, v: f64) -> f64 {
                v * v * v
            }
            fn degree(&self) -> usize {
                3
            }
        }
        // Handed on.
        impl<L: Law> Law for Box<L> {
            fn energy(&self, v: f64) -> f64 {
                (**self).energy(v)
            }
            fn degree(&self) -> usize {
                (**self).degree()
            }
        }
        pub struct Held {
            rule: Box<Mid>,
        }
        impl Held {
            fn go(&self, v: f64) -> f64 {
                self.rule.apply(v)
            }
        }
        fn of_any<R: Rule>(rule: R) -> usize {
            rule.order()
        }
        pub fn f(x: &[f64]) -> f64 {
            let rule = Mid;
            let reference = &rule;
            let boxed = Box::new(Mid);
            boxed.energy(x[0]) * boxed.degree() as f64 + Held { rule: Box::new(Mid) }.go(x[0])
                + x[1] * (rule.order() + 10 * reference.order() + 100 * of_any(&rule)) as f64
        }
    }
    // Methods of types without numbers that take `self` or `&mut self`, and those of types with constants as parameters, `Gauss<const N: usize>`
    mod without_numbers_by_value {
        #[derive(Clone, Copy)]
        pub struct Mid {
            n: usize,
        }
        pub struct List {
            v: Vec<usize>,
        }
        pub struct Gauss<const N: usize>;
        pub trait Rule {
            fn order(self) -> usize
            where
                Self: Sized;
            fn edit(&mut self) -> usize;
            fn points(&self) -> usize {
                3
            }
            fn apply(&self, v: f64) -> f64;
        }
        impl Rule for Mid {
            fn order(self) -> usize {
                self.n
            }
            fn edit(&mut self) -> usize {
                self.n += 1;
                self.n
            }
            fn apply(&self, v: f64) -> f64 {
                v * v
            }
        }
        impl Rule for List {
            fn order(self) -> usize {
                self.v.len()
            }
            fn edit(&mut self) -> usize {
                self.v.push(1);
                self.v.len()
            }
            fn apply(&self, v: f64) -> f64 {
                v
            }
        }
        impl<const N: usize> Rule for Gauss<N> {
            fn order(self) -> usize {
                N
            }
            fn edit(&mut self) -> usize {
                N * self.points()
            }
            fn points(&self) -> usize {
                N + 1
            }
            fn apply(&self, v: f64) -> f64 {
                v.powi(self.points() as i32)
            }
        }
        pub struct Held {
            mid: Mid,
            k: f64,
        }
        impl Held {
            fn go(&mut self, list: &mut List, other: &Mid) -> f64 {
                self.mid.edit();
                list.edit();
                let reference = &mut self.mid;
                reference.edit();
                let same = reference;
                same.edit();
                (self.mid.order() + 10 * other.order() + 100 * list.edit()) as f64 * self.k
            }
        }
        fn guarded(mid: &mut Mid) -> usize {
            mid.edit();
            let cell = std::cell::RefCell::new(*mid);
            cell.borrow_mut().edit();
            let mut guard = cell.borrow_mut();
            guard.edit();
            guard.order()
        }
        pub fn f(x: &[f64]) -> f64 {
            let (mut mid, mut list, gauss, mut boxed) =
                (Mid { n: 1 }, List { v: vec![] }, Gauss::<3>, Box::new(Mid { n: 3 }));
            mid.edit();
            boxed.edit();
            Held { mid, k: x[0] }.go(&mut list, &Mid { n: 4 })
                + x[1] * (guarded(&mut mid) * boxed.order()) as f64
                + x[0] * list.order() as f64
                + gauss.apply(x[0]) * gauss.points() as f64
                + x[1] * (Gauss::points(&gauss) * Gauss::<2>.order()) as f64
        }
    }
}

#[test]
fn types_are_named_with_their_traits() {
    agrees(traits_by_name::F, plain::traits_by_name::f, [1.5, 0.7]);
}

#[test]
fn functions_of_traits_are_called_on_types() {
    agrees(provided::F, plain::provided::f, [1.5, 0.7]);
}

#[test]
fn methods_of_types_without_numbers_name_their_traits() {
    agrees(without_numbers::F, plain::without_numbers::f, [1.5, 0.7]);
}

#[test]
fn arguments_of_types_are_written() {
    agrees(turbofish::F, plain::turbofish::f, [1.5, 0.7]);
}

#[test]
fn methods_of_types_come_before_those_of_their_traits() {
    agrees(other_methods::F, plain::other_methods::f, [1.5, 0.7]);
}

#[test]
fn methods_of_pointers_are_their_own() {
    agrees(pointers::F, plain::pointers::f, [1.5, 0.7]);
    // 3 v³ + v² + v + (7 + 70 + 800) x₁
    check(pointers::F, [1.5, 0.7], 10.125 + 3.75 + 877.0 * 0.7, [20.25 + 4.0, 877.0]);
}

#[test]
fn methods_of_types_without_numbers_take_self() {
    agrees(without_numbers_by_value::F, plain::without_numbers_by_value::f, [1.5, 0.7]);
}
