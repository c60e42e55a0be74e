//! The self-test of engines, on engines of plain numbers that are right, or wrong on purpose. Runs on stable Rust.

use differentiation_interface::backend::{
    Backend, Both, Lane, Lanes, Native, PullbackPrimitive, PushforwardPrimitive, Rows, Seeds, Tested, ViaPullback,
    ViaPushforward,
};
use differentiation_interface::error::ErrorKind;
use differentiation_interface::evaluate::Flat;
use differentiation_interface::prelude::*;
use std::cell::Cell;

/// What is done to the Jacobian on its way out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    None,
    /// Every entry is zero: what an engine finds that takes the memory of the function for a constant.
    Zero,
    Factor(f64),
    /// One column belongs to its neighbour.
    SwappedColumns,
    /// The last row is zero.
    LastOutputForgotten,
    Nan,
}

impl Flaw {
    /// The entry of a matrix that is right.
    fn of(self, jac: &[Vec<f64>], i: usize, j: usize) -> f64 {
        let last = jac.len() - 1;
        match self {
            Flaw::None => jac[i][j],
            Flaw::Zero => 0.0,
            Flaw::Factor(factor) => factor * jac[i][j],
            Flaw::SwappedColumns if j < 2 => jac[i][1 - j],
            Flaw::SwappedColumns => jac[i][j],
            Flaw::LastOutputForgotten if i == last => 0.0,
            Flaw::LastOutputForgotten => jac[i][j],
            Flaw::Nan => f64::NAN,
        }
    }
}

/// An engine whose Jacobians are those of the forward engine, spoiled. Its numbers are those of that engine.
#[derive(Clone, Copy, Debug)]
struct Spoiled(Flaw);

type Inner = AutoForwardDiff;

#[derive(Clone, Debug)]
struct SpoiledState<S: Scalar, L: Lanes> {
    inner: <Inner as PushforwardPrimitive>::PushforwardState<S, L>,
    x: Vec<S>,
    jac: Vec<Vec<f64>>,
}

impl Backend for Spoiled {
    const NAME: &'static str = "spoiled";
    type Lanes = Lane<4>;
    type Num<S: Scalar, L: Lanes> = <Inner as Backend>::Num<S, L>;
    type Mode = Both;
    type Pushforward = Tested<Native>;
    type Pullback = Tested<Native>;
    type Derivative = Tested<ViaPushforward>;
    type Gradient = Tested<ViaPullback>;
    type Jacobian = Tested<ViaPushforward>;

    fn inject<S: Scalar, L: Lanes>(value: S) -> Self::Num<S, L> {
        Inner::inject::<S, L>(value)
    }
    fn project<S: Scalar, L: Lanes>(number: &Self::Num<S, L>) -> S {
        Inner::project::<S, L>(number)
    }
}

impl Spoiled {
    fn linearise<S: Scalar, L: Lanes, F: Flat<<Inner as Backend>::Num<S, L>>>(
        state: &mut SpoiledState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        let columns = Rows::growing(&mut rows, x.len());
        Inner::default().pushforward(&mut state.inner, f, x, Seeds::all(x.len()), Some(y), columns)?;
        x.clone_into(&mut state.x);
        let plain = |row: &[S]| row.iter().map(|v| to_f64(v.primal())).collect();
        state.jac = rows.chunks_exact(x.len().max(1)).map(plain).collect();
        Ok(())
    }
}

fn to_f64<B: differentiation_interface::scalar::Base>(value: B) -> f64 {
    value.as_f64()
}

fn constant<S: Scalar>(value: f64) -> S {
    S::constant(differentiation_interface::scalar::Base::from_f64(value))
}

impl PushforwardPrimitive for Spoiled {
    type PushforwardState<S: Scalar, L: Lanes> = SpoiledState<S, L>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, inputs: usize, seeds: usize) -> Result<SpoiledState<S, L>, Error> {
        let inner = Inner::default().pushforward_state(inputs, seeds)?;
        Ok(SpoiledState { inner, x: Vec::new(), jac: Vec::new() })
    }
    fn hold<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut SpoiledState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        Self::linearise(state, f, x, y)
    }
    fn pushforward<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut SpoiledState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        Self::linearise(state, f, x, y.unwrap_or(&mut Vec::new()))?;
        self.pushforward_held(state, f, seeds, rows)
    }
    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut SpoiledState<S, L>,
        _: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        rows.set_rows(state.jac.len())?;
        for i in 0..state.jac.len() {
            for k in 0..seeds.count() {
                let product =
                    (0..state.x.len()).map(|j| self.0.of(&state.jac, i, j) * to_f64(seeds.entry(k, j).primal()));
                rows.part(i, k, 1)[0] = constant(product.sum());
            }
        }
        Ok(())
    }
}

impl PullbackPrimitive for Spoiled {
    type PullbackState<S: Scalar, L: Lanes> = SpoiledState<S, L>;

    fn pullback_state<S: Scalar, L: Lanes>(&self, inputs: usize) -> Result<SpoiledState<S, L>, Error> {
        self.pushforward_state(inputs, inputs)
    }
    fn record<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut SpoiledState<S, L>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        Self::linearise(state, f, x, y)
    }
    fn sweep<S: Scalar, L: Lanes, F: Flat<Self::Num<S, L>>>(
        &self,
        state: &mut SpoiledState<S, L>,
        _: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        rows.set_rows(seeds.count())?;
        for k in 0..seeds.count() {
            for j in 0..state.x.len() {
                let product =
                    (0..state.jac.len()).map(|i| self.0.of(&state.jac, i, j) * to_f64(seeds.entry(k, i).primal()));
                rows.part(k, j, 1)[0] = constant(product.sum());
            }
        }
        Ok(())
    }
}

/// Three outputs of very different size: x₀² x₁, 10⁶ sin x₁, 10⁻⁶ x₀.
#[differentiable]
fn sizes(x: &[f64]) -> Vec<f64> {
    vec![x[0] * x[0] * x[1], 1e6 * x[1].sin(), 1e-6 * x[0]]
}

/// x₀² x₁ + x₁
#[differentiable]
fn cubic(x: &[f64]) -> f64 {
    x[0] * x[0] * x[1] + x[1]
}

/// The sum of the inputs.
#[differentiable]
fn empty(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

/// |x|
#[differentiable]
fn kink(x: f64) -> f64 {
    x.abs()
}

/// √x, which ends at 0.
#[differentiable]
fn root(x: f64) -> f64 {
    x.sqrt()
}

const X: [f64; 2] = [1.5, -0.5];

/// The numbers that the self-test read, engine first.
fn refusal<R: std::fmt::Debug>(result: Result<R, Error>) -> (f64, f64) {
    match result.unwrap_err().kind() {
        ErrorKind::SelfTest { engine, differences } => (engine.value(), differences.value()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_right_engine_passes_in_every_operator() {
    let engine = Spoiled(Flaw::None);
    assert_eq!(gradient(&Cubic, &engine, &X).unwrap(), [-1.5, 3.25]);
    assert_eq!(pushforward(&Cubic, &engine, &X, [[2.0, 0.0]]).unwrap(), [-3.0]);
    assert_eq!(pullback(&Cubic, &engine, &X, [2.0]).unwrap(), [[-3.0, 6.5]]);
    assert_eq!(derivative(&|x| x * x, &engine, 3.0).unwrap(), 6.0);
    let jac = [[-1.5, 2.25], [0.0, 1e6 * (-0.5_f64).cos()], [1e-6, 0.0]];
    assert_eq!(jacobian(&Sizes, &engine, &X).unwrap(), jac);
    let mut prepared = prepare_jacobian(&Sizes, &engine, &X).unwrap();
    assert_eq!(prepared.jacobian(&X).unwrap(), jac);
}

#[test]
fn a_wrong_engine_is_refused_in_every_operator() {
    for flaw in [Flaw::Zero, Flaw::Factor(1.01), Flaw::Factor(-1.0), Flaw::SwappedColumns, Flaw::Nan] {
        let engine = Spoiled(flaw);
        refusal(gradient(&Cubic, &engine, &X));
        refusal(pushforward(&Cubic, &engine, &X, [[2.0, 0.0]]));
        refusal(pullback(&Cubic, &engine, &X, [2.0]));
        refusal(jacobian(&Sizes, &engine, &X));
        refusal(prepare_gradient(&Cubic, &engine, &X).map(drop));
        refusal(prepare_pushforward(&Cubic, &engine, &X, [[2.0, 0.0]]).map(drop));
        refusal(prepare_jacobian(&Sizes, &engine, &X).map(drop));
        refusal(prepare_pullback_same_point(&Cubic, &engine, &X, [2.0]).map(drop));
        if flaw != Flaw::SwappedColumns {
            refusal(derivative(&|x| x * x, &engine, 3.0));
        }
    }
}

#[test]
fn an_output_is_tested_however_small_it_is() {
    // 10⁻⁶ beside 10⁶: the weights make them count alike.
    refusal(jacobian(&Sizes, &Spoiled(Flaw::LastOutputForgotten), &X));
}

#[test]
fn a_constant_output_hides_no_error_of_the_others() {
    let f = |x: &[_]| vec![x[0] * 0.0 + 1e3, x[0] * x[0], x[0] * 0.0];
    assert_eq!(jacobian(&f, &Spoiled(Flaw::None), &[3.0]).unwrap(), [[0.0], [6.0], [0.0]]);
    refusal(jacobian(&f, &Spoiled(Flaw::Zero), &[3.0]));
    refusal(jacobian(&f, &Spoiled(Flaw::Factor(1.01)), &[3.0]));
}

#[test]
fn the_error_says_what_was_compared() {
    let error = derivative(&|x| x * x, &Spoiled(Flaw::Factor(2.0)), 3.0).unwrap_err();
    let (engine, differences) = refusal::<()>(Err(error.clone()));
    assert!((engine - 2.0 * differences).abs() < 1e-6 * engine.abs(), "{engine} {differences}");
    let text = error.to_string();
    let expected = format!(
        "derivative with spoiled: the derivative of this function along a random direction (outputs weighted at random) is {engine} by the engine and {differences} by finite differences"
    );
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn kinks_steps_and_ends_of_domains_are_no_failures() {
    let engine = Spoiled(Flaw::None);
    assert!(derivative(&Kink, &engine, 0.0).unwrap().abs() <= 1.0);
    assert_eq!(derivative(&Root, &engine, 0.0).unwrap(), f64::INFINITY);
    assert_eq!(gradient(&|x: &[_]| x[0] * x[0], &engine, &[f64::NAN]).unwrap().len(), 1);
    assert_eq!(gradient(&|x: &[_]| x[0] * x[0], &engine, &[1e300]).unwrap(), [2e300]);
    assert_eq!(gradient(&|x: &[_]| x[0] * 3.0, &engine, &[1e-310]).unwrap(), [3.0]);
    // A constant function, and no inputs at all.
    assert_eq!(gradient(&|x: &[_]| x[0] * 0.0 + 2.0, &engine, &[1.0]).unwrap(), [0.0]);
    assert_eq!(gradient(&Empty, &engine, &[0.0; 0]).unwrap(), [0.0; 0]);
}

#[test]
fn single_precision_is_compared_with_its_own_accuracy() {
    let f = |x: &[_]| x[0] * x[0] * x[1];
    assert_eq!(gradient(&f, &Spoiled(Flaw::None), &[3.0_f32, 2.0]).unwrap(), [12.0, 9.0]);
    refusal(gradient(&f, &Spoiled(Flaw::Factor(1.2)), &[3.0_f32, 2.0]));
}

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn prepared_calls_do_not_test_again() {
    let f = |x: &[_]| {
        CALLS.set(CALLS.get() + 1);
        x[0] * x[0]
    };
    let calls = |action: &mut dyn FnMut()| {
        CALLS.set(0);
        action();
        CALLS.get()
    };
    let engine = Spoiled(Flaw::None);
    let mut prepared = None;
    let preparing = calls(&mut || prepared = Some(prepare_gradient(&f, &engine, &[1.0]).unwrap()));
    let mut prepared = prepared.unwrap();
    let prepared_call = calls(&mut || assert_eq!(prepared.gradient(&[3.0]).unwrap(), [6.0]));
    let unprepared_call = calls(&mut || assert_eq!(gradient(&f, &engine, &[3.0]).unwrap(), [6.0]));
    // Five for the differences, one for the engine's derivative, one for the value afterwards.
    assert_eq!((prepared_call, unprepared_call), (1, 8));
    assert!(preparing >= 8, "{preparing}");
    let mut copy = prepared.clone();
    assert_eq!(calls(&mut || assert_eq!(copy.gradient(&[4.0]).unwrap(), [8.0])), 1);
}

#[test]
fn a_function_whose_value_changes_is_refused() {
    // As if the engine wrote into captured data when it differentiates: the seventh call, after six for differences and derivative, differs.
    let f = |x: &[_]| {
        CALLS.set(CALLS.get() + 1);
        x[0] * x[0] * if CALLS.get() > 6 { 2.0 } else { 1.0 }
    };
    CALLS.set(0);
    let error = gradient(&f, &Spoiled(Flaw::None), &[3.0]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused { .. }), "{error}");
    assert!(error.to_string().starts_with("gradient with spoiled: the function returns other values after"), "{error}");
}
