//! The output of the macros, one snapshot per form, and code that must stay unchanged.

use crate::expand;
use proc_macro2::TokenStream;
use quote::quote;

fn pretty(tokens: TokenStream) -> String {
    let file = syn::parse2(tokens).expect("the expansion is a list of items");
    prettyplease::unparse(&file)
}

fn attribute(item: TokenStream) -> String {
    pretty(expand::attribute(TokenStream::new(), item))
}

/// One test per form: its name, and the tokens the attribute is put on.
macro_rules! snapshots {
    ($($name:ident { $($tokens:tt)* })*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(attribute(quote!($($tokens)*)));
        }
    )*};
}

snapshots! {
    slice_to_number {
        /// The squared norm.
        pub fn norm2(x: &[f64]) -> f64 { x.iter().map(|v| v * v).sum() }
    }
    number_to_number {
        fn square(x: f64) -> f64 { x * x }
    }
    array_to_array {
        pub(crate) fn rotated<const N: usize>(x: &[f64; N]) -> [f64; N] {
            let mut y = [0.0; N];
            for i in 0..N { y[i] = x[(i + 1) % N]; }
            y
        }
    }
    in_place {
        fn scaled(y: &mut [f64], x: &[f64]) { for (y, x) in y.iter_mut().zip(x) { *y = 2.0 * x; } }
    }
    contexts {
        fn fit(x: &[f64], #[constant] k: f64, #[constant] data: &[f64], #[cache] w: &mut Vec<f64>, #[cache] s: &mut [f64]) -> f64 {
            w.clear();
            k * x[0] + data[0] + s[0]
        }
    }
    in_place_with_contexts {
        fn moved(y: &mut [f64], t: f64, #[constant] table: &Table) { y[0] = t + table.start; }
    }
    generic_already {
        #[cfg(feature = "extra")]
        pub fn sphere<T>(x: &Vec<T>) -> T where T: Float + Sum { x.iter().map(|v| *v * *v).sum() }
    }
    only_active_numbers_change {
        fn mixed(x: &[f64]) -> f64 {
            let h = 0.5;
            let k: f64 = h * std::f64::consts::PI;
            let weights: Vec<f64> = vec![1.0, 2.0];
            let mut s = 0.0;
            let mut plain = 0.0;
            for (v, w) in x.iter().zip(&weights) {
                s += k * v.powf(2.0) * w;
                plain += w;
            }
            println!("{plain} {}", 1.0);
            if s > 100.0 { return 1.0; }
            s.max(0.0) + f64::min(s, h) + f64::max(k, plain) + helper(s, 2.0)
        }
    }
    nested_functions_become_generic_where_needed {
        fn outer(x: f64) -> f64 {
            fn weight(i: usize) -> f64 { 1.0 + i as f64 }
            fn half(v: f64) -> f64 { if v > 0.0 { 0.5 * v } else { 0.0 } }
            let T = 3;
            weight(T) * half(x)
        }
    }
    module_with_types_and_helpers {
        pub mod model {
            type Pair = [f64; 2];
            #[derive(Clone, Copy)]
            pub struct State<'a> { pos: f64, #[constant] mass: f64, name: &'a str }
            pub struct Data { rate: f64 }
            enum Kind { Linear, Cubic { hardening: f64 } }
            impl<'a> State<'a> {
                const LIMIT: f64 = 2.0;
                fn new(pos: f64, name: &'a str) -> Self { State { pos, mass: 1.0, name } }
                fn energy(&self) -> f64 { self.mass * self.pos.min(Self::LIMIT) }
            }
            impl Data { fn scaled(&self, v: f64) -> f64 { self.rate * v } }
            impl std::ops::Mul<f64> for State<'_> {
                type Output = f64;
                fn mul(self, k: f64) -> f64 { self.pos * k }
            }
            fn force(kind: &Kind, d: f64) -> f64 {
                match kind { Kind::Linear => -d, Kind::Cubic { hardening } => hardening * d.powi(3) }
            }
            fn weight(i: usize) -> f64 { 1.0 / i as f64 }
            pub fn energy(x: &Vec<f64>, #[constant] data: &Data) -> f64 {
                let s = State::new(x[0], "first");
                let p: Pair = [0.5, x[1]];
                let kind = Kind::Cubic { hardening: 0.5 };
                s.energy() + data.scaled(x[1]) + force(&kind, p[1]) + force(&Kind::Linear, 1.0) * weight(3) + s * 2.0
            }
            pub fn two_points(a: f64, b: f64) -> f64 { a * b }
            #[differentiable(Chosen)]
            fn private(x: f64) -> f64 { x }
            #[cfg(test)]
            mod tests { fn untouched(x: f64) -> f64 { x } }
        }
    }
    block_of_methods {
        impl Oscillator {
            pub fn energy(&self, x: &[f64], #[constant] k: f64) -> f64 { k * self.stiffness * self.potential(x[0]) }
            fn potential(&self, q: f64) -> f64 { 0.5 * q * q }
            fn plain(&self) -> f64 { self.stiffness }
        }
    }
}

#[test]
fn lifted_function() {
    let output = expand::lifted(quote! {
        crate = "my::interface";
        /// From another crate.
        pub fn Rosen<T: Float + Sum>(x: &[T], #[constant] k: f64) -> T = testfunctions::rosenbrock;
        fn Filled(y: &mut [f64], x: &[f64]) = testfunctions::filled;
    });
    insta::assert_snapshot!(pretty(output.expect("the input is well formed")));
}

#[test]
fn chosen_name_and_crate() {
    let output = expand::attribute(
        quote!(Energy, crate = "my::interface"),
        quote!(
            fn f(x: f64) -> f64 {
                x
            }
        ),
    );
    insta::assert_snapshot!(pretty(output));
}

#[test]
fn mistakes_keep_the_function_and_come_together() {
    let output = attribute(quote! {
        fn f(x: &[f64], k: f64, #[cache] w: Vec<f64>) -> f64 { x[0] as i64 as f64 }
    });
    insta::assert_snapshot!(output);
}

#[test]
fn no_mark_is_left_behind() {
    let body = quote! {
        fn f(x: &[f64]) -> f64 {
            let a: Option<Vec<(f64, [f64; 2])>> = None;
            let g = |v: f64| -> f64 { matches!(v, _) as u8 as f64 };
            format!("{}", vec![f64::from(2)].len());
            x.iter().map(|v| g(*v)).sum::<f64>() + a.map_or(0.0, |v| v[0].0)
        }
    };
    assert!(!attribute(body).contains("__differentiable"));
}
