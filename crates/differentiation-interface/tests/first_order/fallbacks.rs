//! Every arrow of the fallback chain, with tiny backends whose primitives are differences, or zero.

use crate::support;
use crate::support::assert_close;
use differentiation_interface::backend::{
    Backend, Both, Lane, Lanes, MatrixRoute, Native, PullbackPrimitive, PullbackRoute, PushforwardPrimitive,
    PushforwardRoute, Rows, Seeds, ViaPullback, ViaPushforward,
};
use differentiation_interface::evaluate::Flat;
use differentiation_interface::prelude::*;
use differentiation_interface::rules::{Over, Plus};
use differentiation_interface::scalar::Base;

/// The point and the Jacobian there, row by row.
#[derive(Clone, Debug)]
struct Held<S> {
    x: Vec<S>,
    jac: Vec<S>,
    outputs: usize,
}

/// Central differences with a generous step: exact for quadratic functions up to rounding.
fn differences<S: Scalar>(f: &mut impl Flat<S>, x: &[S], y: &mut Vec<S>) -> Held<S> {
    let step = S::Base::from_f64(1.0 / 64.0);
    f.call(x, y);
    let outputs = y.len();
    let mut jac = vec![S::default(); outputs * x.len()];
    let (mut right, mut left) = (Vec::new(), Vec::new());
    for j in 0..x.len() {
        let mut moved = x.to_vec();
        moved[j] = x[j].apply2_right(step, Plus);
        f.call(&moved, &mut right);
        moved[j] = x[j].apply2_right(-step, Plus);
        f.call(&moved, &mut left);
        for i in 0..outputs {
            jac[i * x.len() + j] = (right[i] - left[i]).apply2_right(step + step, Over);
        }
    }
    Held { x: x.to_vec(), jac, outputs }
}

impl<S: Scalar> Held<S> {
    fn push(&self, factor: f64, seeds: Seeds<'_, S>, mut rows: Rows<'_, S>) -> Result<(), Error> {
        rows.set_rows(self.outputs)?;
        for i in 0..self.outputs {
            for k in 0..seeds.count() {
                let mut sum = S::default();
                for j in 0..self.x.len() {
                    sum += self.jac[i * self.x.len() + j] * seeds.entry(k, j);
                }
                rows.part(i, k, 1)[0] = sum.scale(S::Base::from_f64(factor));
            }
        }
        Ok(())
    }
    fn pull(&self, factor: f64, seeds: Seeds<'_, S>, mut rows: Rows<'_, S>) -> Result<(), Error> {
        rows.set_rows(seeds.count())?;
        for k in 0..seeds.count() {
            for j in 0..self.x.len() {
                let mut sum = S::default();
                for i in 0..self.outputs {
                    sum += seeds.entry(k, i) * self.jac[i * self.x.len() + j];
                }
                rows.part(k, j, 1)[0] = sum.scale(S::Base::from_f64(factor));
            }
        }
        Ok(())
    }
}

/// A backend over plain numbers whose derivatives are those of differences times `$factor`.
macro_rules! reference_backend {
    ($Name:ident, $factor:literal: $pushforward:ty, $pullback:ty, $matrix:ty; $($primitive:ident),*) => {
        #[derive(Clone, Copy, Debug)]
        struct $Name;
        impl Backend for $Name {
            const NAME: &'static str = stringify!($Name);
            type Lanes = Lane<1>;
            type Num<S: Scalar, L: Lanes> = S;
            type Mode = Both;
            type Pushforward = $pushforward;
            type Pullback = $pullback;
            type Derivative = $matrix;
            type Gradient = $matrix;
            type Jacobian = $matrix;

            fn inject<S: Scalar, L: Lanes>(value: S) -> S {
                value
            }
            fn project<S: Scalar, L: Lanes>(number: &S) -> S {
                *number
            }
        }
        $($primitive!($Name, $factor);)*
    };
}

macro_rules! pushes {
    ($Name:ident, $factor:literal) => {
        impl PushforwardPrimitive for $Name {
            type PushforwardState<S: Scalar, L: Lanes> = Option<Held<S>>;
            fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<Option<Held<S>>, Error> {
                Ok(None)
            }
            fn hold<S: Scalar, L: Lanes, F: Flat<S>>(
                &self,
                state: &mut Option<Held<S>>,
                f: &mut F,
                x: &[S],
                y: &mut Vec<S>,
            ) -> Result<(), Error> {
                *state = Some(differences(f, x, y));
                Ok(())
            }
            fn pushforward<S: Scalar, L: Lanes, F: Flat<S>>(
                &self,
                state: &mut Option<Held<S>>,
                f: &mut F,
                x: &[S],
                seeds: Seeds<'_, S>,
                y: Option<&mut Vec<S>>,
                rows: Rows<'_, S>,
            ) -> Result<(), Error> {
                let held = state.insert(differences(f, x, y.unwrap_or(&mut Vec::new())));
                held.push($factor, seeds, rows)
            }
            fn pushforward_held<S: Scalar, L: Lanes, F: Flat<S>>(
                &self,
                state: &mut Option<Held<S>>,
                _: &mut F,
                seeds: Seeds<'_, S>,
                rows: Rows<'_, S>,
            ) -> Result<(), Error> {
                state.as_ref().expect("hold comes first").push($factor, seeds, rows)
            }
        }
    };
}

macro_rules! pulls {
    ($Name:ident, $factor:literal) => {
        impl PullbackPrimitive for $Name {
            type PullbackState<S: Scalar, L: Lanes> = Option<Held<S>>;
            fn pullback_state<S: Scalar, L: Lanes>(&self, _: usize) -> Result<Option<Held<S>>, Error> {
                Ok(None)
            }
            fn record<S: Scalar, L: Lanes, F: Flat<S>>(
                &self,
                state: &mut Option<Held<S>>,
                f: &mut F,
                x: &[S],
                y: &mut Vec<S>,
            ) -> Result<(), Error> {
                *state = Some(differences(f, x, y));
                Ok(())
            }
            fn sweep<S: Scalar, L: Lanes, F: Flat<S>>(
                &self,
                state: &mut Option<Held<S>>,
                _f: &mut F,
                seeds: Seeds<'_, S>,
                rows: Rows<'_, S>,
            ) -> Result<(), Error> {
                state.as_ref().expect("record comes first").pull($factor, seeds, rows)
            }
        }
    };
}

reference_backend!(OnlyPushforward, 1.0: Native, ViaPushforward, ViaPushforward; pushes);
reference_backend!(OnlyPullback, 1.0: ViaPullback, Native, ViaPullback; pulls);
reference_backend!(Native2, 1.0: Native, Native, ViaPushforward; pushes, pulls);
reference_backend!(NativeRows, 1.0: Native, Native, ViaPullback; pushes, pulls);
reference_backend!(Crossed, 1.0: ViaPullback, ViaPushforward, ViaPushforward; pushes, pulls);
reference_backend!(CrossedRows, 1.0: ViaPullback, ViaPushforward, ViaPullback; pushes, pulls);
reference_backend!(ZeroForward, 0.0: Native, ViaPushforward, ViaPushforward; pushes);
reference_backend!(ZeroReverse, 0.0: ViaPullback, Native, ViaPullback; pulls);
// Forward and reverse disagree here, so the route that was taken shows in the result.
reference_backend!(TwiceForward, 2.0: Native, ViaPushforward, ViaPushforward; pushes);
reference_backend!(TwiceReverse, 2.0: ViaPullback, Native, ViaPullback; pulls);

fn square<T: Real>(x: T) -> T {
    x * x - 3.0 * x
}
fn parabolas<T: Real>(x: T) -> [T; 3] {
    [x * x, 2.0 * x, T::constant(1.0)]
}
/// Σ i xᵢ² + x₀ xₙ; ∂ᵢ = 2 i xᵢ, and xₙ and x₀ at the ends.
fn form<T: Real>(x: &[T]) -> T {
    x.iter().enumerate().map(|(i, v)| i as f64 * v * v).sum::<T>() + x[0] * x[x.len() - 1]
}
fn form_gradient(x: &[f64]) -> Vec<f64> {
    let mut grad: Vec<f64> = x.iter().enumerate().map(|(i, v)| 2.0 * i as f64 * v).collect();
    grad[0] += x[x.len() - 1];
    grad[x.len() - 1] += x[0];
    grad
}
/// All products xᵢ xᵢ₊₁, and the sum: as many outputs as inputs.
fn products<T: Real>(x: &[T]) -> Vec<T> {
    x.windows(2).map(|w| w[0] * w[1]).chain([x.iter().sum()]).collect()
}
fn products_jacobian(x: &[f64]) -> Vec<Vec<f64>> {
    let n = x.len();
    let row = |i: usize| {
        let mut row = vec![if i + 1 == n { 1.0 } else { 0.0 }; n];
        if i + 1 < n {
            row[i] = x[i + 1];
            row[i + 1] = x[i];
        }
        row
    };
    (0..n).map(row).collect()
}
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Every operator and variant; derivatives are `$factor` times the true ones.
macro_rules! check_operators {
    ($backend:expr, $factor:expr) => {{
        let (backend, factor, tolerance): (_, f64, _) = ($backend, $factor, 1e-10);
        let what = support::name_of(&backend);
        let scaled = |v: &[f64]| v.iter().map(|v| factor * v).collect::<Vec<f64>>();

        assert_close(what, &[derivative(&|x| square(x), &backend, 5.0).unwrap()], &[factor * 7.0], tolerance);
        let (y, der) = value_and_derivative(&|x| parabolas(x), &backend, 5.0).unwrap();
        assert_eq!(y, [25.0, 10.0, 1.0]);
        assert_close(what, &der, &scaled(&[10.0, 2.0, 0.0]), tolerance);
        let mut buffer = [f64::NAN; 3];
        derivative_into(&|x| parabolas(x), &mut buffer, &backend, 5.0).unwrap();
        assert_close(what, &buffer, &scaled(&[10.0, 2.0, 0.0]), tolerance);
        assert_close(what, &[gradient(&|x| square(x), &backend, 5.0).unwrap()], &[factor * 7.0], tolerance);

        // Longer than the chunk of basis vectors that a fallback takes at once.
        for n in [1, 2, 3, 8, 9, 19] {
            let x: Vec<f64> = (0..n).map(|i| 0.25 * i as f64 - 1.0).collect();
            let [a, b, c]: [Vec<f64>; 3] =
                std::array::from_fn(|k| (0..n).map(|i| ((i + 2 * k) % 5) as f64 - 1.5).collect());
            let grad = form_gradient(&x);
            let jac = products_jacobian(&x);
            let column = |t: &[f64]| scaled(&jac.iter().map(|row| dot(row, t)).collect::<Vec<_>>());
            let row = |t: &[f64]| scaled(&(0..n).map(|j| (0..n).map(|i| jac[i][j] * t[i]).sum()).collect::<Vec<_>>());

            let (y, found) = value_and_gradient(&|x: &[_]| form(x), &backend, &x).unwrap();
            assert_eq!(y, form(&x));
            assert_close(what, &found, &scaled(&grad), tolerance);
            let (y, found) = value_and_jacobian(&|x: &[_]| products(x), &backend, &x).unwrap();
            assert_eq!(y, products(&x));
            assert_close(what, found.as_slice(), &scaled(&jac.concat()), tolerance);

            let (y, found) = value_and_pushforward(&|x: &[_]| products(x), &backend, &x, [&a, &b, &c]).unwrap();
            assert_eq!(y, products(&x));
            for (found, t) in found.iter().zip([&a, &b, &c]) {
                assert_close(what, found, &column(t), tolerance);
            }
            let [found] = pushforward(&|x: &[_]| form(x), &backend, &x, [&a]).unwrap();
            assert_close(what, &[found], &[factor * dot(&grad, &a)], tolerance);
            let (y, found) = value_and_pullback(&|x: &[_]| products(x), &backend, &x, [&a, &b, &c]).unwrap();
            assert_eq!(y, products(&x));
            for (found, t) in found.iter().zip([&a, &b, &c]) {
                assert_close(what, found, &row(t), tolerance);
            }
            let [found, twice] = pullback(&|x: &[_]| form(x), &backend, &x, [1.0, 2.0]).unwrap();
            assert_close(what, &found, &scaled(&grad), tolerance);
            assert_close(
                what,
                &twice,
                &scaled(&scaled(&grad).iter().map(|g| 2.0 * g / factor.max(1.0)).collect::<Vec<_>>()),
                tolerance,
            );

            // Prepared elsewhere, at the same point, and again for another length.
            let other = vec![0.5; n + 3];
            let mut prepared = prepare_pushforward(&|x: &[_]| products(x), &backend, &other, [&other, &other]).unwrap();
            prepared.prepare_again(&x, [&a, &b]).unwrap();
            let (mut first, mut second) = (vec![f64::NAN; n], vec![f64::NAN; n]);
            let y = prepared.value_and_pushforward_into([&mut first, &mut second], &x, [&b, &c]).unwrap().to_vec();
            assert_eq!(y, products(&x));
            assert_close(what, &first, &column(&b), tolerance);
            assert_close(what, &second, &column(&c), tolerance);
            let mut held = prepare_pushforward_same_point(&|x: &[_]| products(x), &backend, &x, [&a]).unwrap();
            assert_eq!(held.value(), products(&x));
            for t in [&b, &c] {
                held.pushforward_into([&mut first], [t]).unwrap();
                assert_close(what, &first, &column(t), tolerance);
            }
            let mut prepared = prepare_pullback(&|x: &[_]| products(x), &backend, &other, [&other]).unwrap();
            prepared.prepare_again(&x, [&a]).unwrap();
            let y = prepared.value_and_pullback_into([&mut first], &x, [&b]).unwrap().to_vec();
            assert_eq!(y, products(&x));
            assert_close(what, &first, &row(&b), tolerance);
            let mut held = prepare_pullback_same_point(&|x: &[_]| products(x), &backend, &x, [&a]).unwrap();
            assert_eq!(held.value(), products(&x));
            for t in [&b, &c] {
                held.pullback_into([&mut first], [t]).unwrap();
                assert_close(what, &first, &row(t), tolerance);
            }
            let mut prepared = prepare_jacobian(&|x: &[_]| products(x), &backend, &other).unwrap();
            prepared.prepare_again(&x).unwrap();
            let mut matrix = Matrix::filled(n, n, f64::NAN);
            prepared.jacobian_into(&mut matrix, &x).unwrap();
            assert_close(what, matrix.as_slice(), &scaled(&jac.concat()), tolerance);
            let mut prepared = prepare_gradient(&|x: &[_]| form(x), &backend, &other).unwrap();
            prepared.prepare_again(&x).unwrap();
            prepared.gradient_into(&mut first, &x).unwrap();
            assert_close(what, &first, &scaled(&grad), tolerance);
        }
        // No inputs, no outputs, neither.
        let empty: &[f64] = &[];
        assert_eq!(jacobian(&|x: &[_]| x.to_vec(), &backend, empty).unwrap().size(), (0, 0));
        assert_eq!(jacobian(&|x: &[_]| [&x[..0], &x[..0]].concat(), &backend, &[1.0, 2.0]).unwrap().size(), (0, 2));
        assert_eq!(jacobian(&constants, &backend, empty).unwrap().size(), (2, 0));
        assert_eq!(pushforward(&constants, &backend, empty, [empty]).unwrap(), [[0.0, 0.0]]);
        assert_eq!(pullback(&constants, &backend, empty, [&[1.0, 2.0]]).unwrap(), [empty]);
    }};
}

fn constants<T: Real>(_: &[T]) -> [T; 2] {
    [T::constant(1.0), T::constant(2.0)]
}

#[test]
fn a_backend_with_a_pushforward_has_every_operator() {
    check_operators!(OnlyPushforward, 1.0);
    check_operators!(TwiceForward, 2.0);
}

#[test]
fn a_backend_with_a_pullback_has_every_operator() {
    check_operators!(OnlyPullback, 1.0);
    check_operators!(TwiceReverse, 2.0);
}

#[test]
fn a_backend_with_both_primitives_may_take_any_route() {
    check_operators!(Native2, 1.0);
    check_operators!(NativeRows, 1.0);
    check_operators!(Crossed, 1.0);
    check_operators!(CrossedRows, 1.0);
}

#[test]
fn zero_backends_return_zeros_in_every_operator() {
    check_operators!(ZeroForward, 0.0);
    check_operators!(ZeroReverse, 0.0);
}

#[test]
fn the_engines_have_every_operator() {
    check_operators!(AutoForwardDiff::default(), 1.0);
    check_operators!(AutoForwardDiff::with_chunk::<1>(), 1.0);
    check_operators!(AutoReverseDiff::default(), 1.0);
    check_operators!(AutoFiniteDiff::central().relative_step(1.0 / 64.0), 1.0);
}

#[test]
fn assembled_routes_nest() {
    let grad = |x: &[_]| gradient(&|x: &[_]| form(x), &OnlyPullback, x).unwrap();
    let expected = [[0.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 4.0]];
    assert_close(
        "forward over pullback",
        jacobian(&grad, &AutoForwardDiff::default(), &[1.0; 3]).unwrap().as_slice(),
        expected.as_flattened(),
        1e-10,
    );
    let grad = |x: &[_]| gradient(&|x: &[_]| form(x), &OnlyPullback, x).unwrap();
    assert_close(
        "reverse over pullback",
        jacobian(&grad, &AutoReverseDiff::default(), &[1.0; 3]).unwrap().as_slice(),
        expected.as_flattened(),
        1e-10,
    );
    let grad = |x: &[_]| gradient(&|x: &[_]| form(x), &AutoReverseDiff::default(), x).unwrap();
    assert_close(
        "pushforward over reverse",
        jacobian(&grad, &OnlyPushforward, &[1.0; 3]).unwrap().as_slice(),
        expected.as_flattened(),
        1e-10,
    );
}

#[test]
fn routes_bear_the_names_of_the_table() {
    fn names<B: Backend>() -> [&'static str; 3] {
        [
            <B::Pushforward as PushforwardRoute<B>>::NAME,
            <B::Pullback as PullbackRoute<B>>::NAME,
            <B::Jacobian as MatrixRoute<B>>::NAME,
        ]
    }
    assert_eq!(names::<AutoForwardDiff>(), ["native", "via pushforward", "via pushforward"]);
    assert_eq!(names::<AutoFiniteDiff>(), ["native", "via pushforward", "via pushforward"]);
    let (via_pullback, native) = match cfg!(feature = "compiled") {
        true => ("via pullback, then replay", "native, then replay"),
        false => ("via pullback", "native"),
    };
    assert_eq!(names::<AutoReverseDiff>(), [via_pullback, native, via_pullback]);
}
