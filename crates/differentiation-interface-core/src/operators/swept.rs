//! Engines that evaluate a function of their own kind once and propagate cotangents back: tensor libraries, programs with an adjoint.
//!
//! The crates of such engines implement [`SweepEngine`] and publish [`Swept`] of it as their backend, which implements the traits of
//! `gradient`, `jacobian`, `pullback` and `pushforward` by recordings and sweeps. `swept_rule` makes rules of them.

use super::{GradientBackend, JacobianBackend, PullbackBackend, PushforwardBackend};
use crate::context::Contexts;
use crate::error::{Error, ErrorKind};
use crate::matrix::Matrix;
use crate::point::{At, Point, ScalarOf, Shape};
use crate::scalar::Base;

/// An engine that records one evaluation of a function `F` and propagates cotangents back through the recording.
///
/// # For backend authors
/// Numbers are flat: the engine gives points the form that its functions take, and flattens outputs row by row.
/// 1. `accepts` is called before any other method for points of this length.
/// 2. `evaluate` and `record` overwrite `y`. `record` returns what `sweep` needs; a recording that is dropped is never swept.
/// 3. `sweep` writes every entry of `dx` = Jᵀ·dy; `dy` is as long as `y` was. It returns the recording if it can be swept again, and
///    `None` if it is used up; the function is then recorded again for the next cotangent.
/// 4. Errors have no operator and backend; the operator adds them.
///
/// # Example
/// An engine for functions that are lists of weights, w ↦ Σ wᵢ xᵢ²:
/// ```
/// # use differentiation_interface::prelude::*;
/// use differentiation_interface::operators::{SweepEngine, Swept};
///
/// #[derive(Clone)]
/// struct Weights;
///
/// impl SweepEngine<Vec<f64>, f64, ()> for Weights {
///     const NAME: &'static str = "weights";
///     type Recording = Vec<f64>;
///
///     fn accepts(&self, _: usize) -> Result<(), Error> {
///         Ok(())
///     }
///     fn evaluate(&self, w: &Vec<f64>, x: &[f64], _: (), y: &mut Vec<f64>) -> Result<(), Error> {
///         self.record(w, x, (), y).map(drop)
///     }
///     fn record(&self, w: &Vec<f64>, x: &[f64], _: (), y: &mut Vec<f64>) -> Result<Vec<f64>, Error> {
///         if w.len() != x.len() {
///             return Err(Error::engine_failed("as many weights as inputs are needed"));
///         }
///         *y = vec![w.iter().zip(x).map(|(w, x)| w * x * x).sum()];
///         Ok(w.iter().zip(x).map(|(w, x)| 2.0 * w * x).collect())
///     }
///     fn sweep(&self, row: Vec<f64>, dy: &[f64], dx: &mut [f64]) -> Result<Option<Vec<f64>>, Error> {
///         dx.iter_mut().zip(&row).for_each(|(dx, slope)| *dx = slope * dy[0]);
///         Ok(Some(row))
///     }
/// }
///
/// let backend = Swept::new(Weights);
/// let w = vec![1.0, 3.0];
/// assert_eq!(value_and_gradient(&w, &backend, &[2.0, 1.0])?, (7.0, vec![4.0, 6.0]));
/// assert_eq!(jacobian(&w, &backend, &[2.0, 1.0])?, [[4.0, 6.0]]);
/// assert_eq!(pushforward(&w, &backend, &[2.0, 1.0], [&[1.0, -1.0]])?, [[-2.0]]);
/// assert_eq!(
///     gradient(&w, &backend, &[2.0]).unwrap_err().to_string(),
///     "gradient with weights: the engine could not evaluate or differentiate the function: as many weights as inputs are needed; \
///      correct the function, or use another backend"
/// );
/// # Ok::<(), Error>(())
/// ```
pub trait SweepEngine<F, S: Base, C: Contexts>: Clone {
    /// Name of the backend in errors.
    const NAME: &'static str;
    /// One evaluation.
    type Recording: Send;

    /// Checks the number of inputs.
    ///
    /// # Errors
    /// If the engine has no form for points of this length.
    fn accepts(&self, inputs: usize) -> Result<(), Error>;
    /// Writes `f(x)` to `y`, without recording.
    ///
    /// # Errors
    /// If the engine cannot evaluate the function.
    fn evaluate(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<(), Error>;
    /// Writes `f(x)` to `y`, and records the evaluation.
    ///
    /// # Errors
    /// If the engine cannot evaluate the function.
    fn record(&self, f: &F, x: &[S], contexts: C::Values<'_>, y: &mut Vec<S>) -> Result<Self::Recording, Error>;
    /// Writes Jᵀ·dy to `dx`.
    ///
    /// # Errors
    /// If the engine cannot differentiate the function.
    fn sweep(&self, recording: Self::Recording, dy: &[S], dx: &mut [S]) -> Result<Option<Self::Recording>, Error>;
}

/// An engine whose points have a form of `D` dimensions.
pub trait ShapedEngine<const D: usize> {
    /// The engine for points of this form.
    type Shaped;
    /// Sets the form of points: their flat numbers, row by row.
    fn shaped(self, shape: [usize; D]) -> Self::Shaped;
}

/// The backend of a [`SweepEngine`], for `gradient`, `jacobian`, `pullback` and `pushforward`.
///
/// Cost: one recorded evaluation and one sweep for a gradient, one sweep for each row of a Jacobian and each cotangent of a pullback. A
/// pushforward needs the rows of the Jacobian, since there is no forward sweep. Engines whose recordings are used up by a sweep evaluate the
/// function once for each sweep. There is no second order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swept<E> {
    engine: E,
}

impl<E> Swept<E> {
    /// Makes the backend of an engine.
    pub const fn new(engine: E) -> Self {
        Swept { engine }
    }
    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }
    /// Gives points a form of `D` dimensions: the function takes the flat numbers of a point, row by row, as a tensor of this shape.
    #[must_use]
    pub fn shaped<const D: usize>(self, shape: [usize; D]) -> Swept<E::Shaped>
    where
        E: ShapedEngine<D>,
    {
        Swept { engine: self.engine.shaped(shape) }
    }
}

/// State of the operators of a [`Swept`] backend.
pub struct SweptState<S, R> {
    recording: Option<R>,
    /// Outputs at preparation.
    outputs: Option<usize>,
    y: Vec<S>,
    /// Rows of products or of the Jacobian.
    rows: Vec<S>,
    seed: Vec<S>,
}

/// A clone has no recording, since the engine's may be used up by a sweep of the original; it records again.
impl<S: Clone, R> Clone for SweptState<S, R> {
    fn clone(&self) -> Self {
        SweptState {
            recording: None,
            outputs: self.outputs,
            y: self.y.clone(),
            rows: self.rows.clone(),
            seed: self.seed.clone(),
        }
    }
}

impl<S: Base, R> SweptState<S, R> {
    fn new<E, F, C>(engine: &E, inputs: usize) -> Result<Self, Error>
    where
        E: SweepEngine<F, S, C, Recording = R>,
        C: Contexts,
    {
        engine.accepts(inputs)?;
        let [y, rows, seed] = [const { Vec::new() }; 3];
        Ok(SweptState { recording: None, outputs: None, y, rows, seed })
    }

    fn record<E, F, P>(&mut self, engine: &E, f: &F, x: At<'_, P>) -> Result<(), Error>
    where
        E: SweepEngine<F, S, P::Contexts, Recording = R>,
        P: Point<Shape: Shape<Scalar = S>>,
    {
        self.recording = None;
        self.recording = Some(engine.record(f, x.coordinates(), x.contexts(), &mut self.y)?);
        let found = self.y.len();
        match self.outputs {
            Some(expected) if expected != found => Err(ErrorKind::OutputLength { expected, found }.into()),
            _ => Ok(()),
        }
    }

    /// Propagates one cotangent back, after recording again if the recording is used up.
    fn sweep<E, F, P>(&mut self, engine: &E, f: &F, x: At<'_, P>, dy: &[S], dx: &mut [S]) -> Result<(), Error>
    where
        E: SweepEngine<F, S, P::Contexts, Recording = R>,
        P: Point<Shape: Shape<Scalar = S>>,
    {
        let recording = match self.recording.take() {
            Some(recording) => recording,
            None => {
                let recording = engine.record(f, x.coordinates(), x.contexts(), &mut self.y)?;
                let (expected, found) = (dy.len(), self.y.len());
                if expected != found {
                    return Err(ErrorKind::OutputLength { expected, found }.into());
                }
                recording
            }
        };
        self.recording = engine.sweep(recording, dy, dx)?;
        Ok(())
    }

    /// Writes the rows of the Jacobian at the point of the last recording.
    fn rows<E, F, P>(&mut self, engine: &E, f: &F, x: At<'_, P>, jac: &mut [S]) -> Result<(), Error>
    where
        E: SweepEngine<F, S, P::Contexts, Recording = R>,
        P: Point<Shape: Shape<Scalar = S>>,
    {
        let (inputs, outputs) = (x.coordinates().len(), self.y.len());
        if inputs == 0 {
            return Ok(());
        }
        let mut seed = std::mem::take(&mut self.seed);
        seed.clear();
        seed.resize(outputs, S::ZERO);
        let result = jac.chunks_exact_mut(inputs).enumerate().try_for_each(|(i, row)| {
            seed[i] = S::ONE;
            let swept = self.sweep(engine, f, x, &seed, row);
            seed[i] = S::ZERO;
            swept
        });
        self.seed = seed;
        self.recording = None;
        result
    }
}

/// Names the operator in an error.
fn named<E: SweepEngine<F, S, C>, F, S: Base, C: Contexts>(operator: &'static str) -> impl Fn(Error) -> Error {
    move |error| error.during(operator, E::NAME)
}

/// State of a backend at points of shape `X`.
type StateOf<E, F, X, C> = SweptState<<X as Shape>::Scalar, <E as SweepEngine<F, <X as Shape>::Scalar, C>>::Recording>;

#[diagnostic::do_not_recommend]
impl<E, F, X, C> GradientBackend<F, X, C> for Swept<E>
where
    X: Shape<Scalar: Base>,
    C: Contexts,
    E: SweepEngine<F, X::Scalar, C>,
{
    const BACKEND: &'static str = E::NAME;
    type State = StateOf<E, F, X, C>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        SweptState::new(&self.engine, x.coordinates().len()).map_err(named::<E, F, _, C>("gradient"))
    }
    /// Runs once, so that the engine does its one-time work and a function of several outputs is refused here.
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        self.engine.accepts(x.coordinates().len()).map_err(named::<E, F, _, C>("gradient"))?;
        let mut grad = std::mem::take(&mut state.rows);
        grad.resize(x.coordinates().len(), Base::ZERO);
        let result = GradientBackend::<F, X, C>::fill(self, state, f, x, true, &mut grad);
        state.rows = grad;
        result
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        _with_value: bool,
        grad: &mut [X::Scalar],
    ) -> Result<(), Error> {
        let run = |state: &mut Self::State, grad: &mut [_]| {
            state.record(&self.engine, f, x)?;
            match state.y.len() {
                1 if grad.is_empty() => Ok(()),
                1 => state.sweep(&self.engine, f, x, &[Base::ONE], grad),
                found => Err(ErrorKind::SeveralOutputs { found }.into()),
            }
        };
        let result = run(state, grad);
        state.recording = None;
        result.map_err(named::<E, F, _, C>("gradient"))
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        _: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        let evaluated = self.engine.evaluate(f, x.coordinates(), x.contexts(), y);
        let checked = evaluated.and_then(|()| match y.len() {
            1 => Ok(()),
            found => Err(ErrorKind::SeveralOutputs { found }.into()),
        });
        checked.map_err(named::<E, F, _, C>("gradient"))
    }
    fn value(state: &Self::State) -> X::Scalar {
        state.y[0]
    }
}

#[diagnostic::do_not_recommend]
impl<E, F, X, C> JacobianBackend<F, X, C> for Swept<E>
where
    X: Shape<Scalar: Base>,
    C: Contexts,
    E: SweepEngine<F, X::Scalar, C>,
{
    const BACKEND: &'static str = E::NAME;
    type Num = X::Scalar;
    type Output = Vec<X::Scalar>;
    type Matrix = Matrix<X::Scalar>;
    type State = StateOf<E, F, X, C>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        SweptState::new(&self.engine, x.coordinates().len()).map_err(named::<E, F, _, C>("jacobian"))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.outputs = None;
        let prepare = |state: &mut Self::State| {
            self.engine.accepts(x.coordinates().len())?;
            state.record(&self.engine, f, x)?;
            state.outputs = Some(state.y.len());
            state.recording = None;
            Ok(())
        };
        prepare(state).map_err(named::<E, F, _, C>("jacobian"))
    }
    fn matrix<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        _with_value: bool,
    ) -> Result<Matrix<X::Scalar>, Error> {
        let matrix = |state: &mut Self::State| {
            state.record(&self.engine, f, x)?;
            let mut jac = Matrix::filled(state.y.len(), x.coordinates().len(), Base::ZERO);
            state.rows(&self.engine, f, x, jac.as_mut_slice())?;
            Ok(jac)
        };
        matrix(state).map_err(named::<E, F, _, C>("jacobian"))
    }
    fn fill<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        _with_value: bool,
        jac: &mut Matrix<X::Scalar>,
    ) -> Result<(), Error> {
        let (found, inputs) = (jac.size(), x.coordinates().len());
        let mut fill = |state: &mut Self::State| {
            let check = |outputs: usize| match (outputs, inputs) {
                expected if expected != found => Err(Error::new(ErrorKind::BufferSize { expected, found })),
                _ => Ok(()),
            };
            // Before the function runs, where the preparation tells.
            check(state.outputs.unwrap_or(found.0))?;
            state.record(&self.engine, f, x)?;
            check(state.y.len())?;
            state.rows(&self.engine, f, x, jac.as_mut_slice())
        };
        fill(state).map_err(named::<E, F, _, C>("jacobian"))
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        _: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        self.engine.evaluate(f, x.coordinates(), x.contexts(), y).map_err(named::<E, F, _, C>("jacobian"))
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(_: &Self::State) -> &() {
        &()
    }
}

#[diagnostic::do_not_recommend]
impl<E, F, X, C> PullbackBackend<F, X, C> for Swept<E>
where
    X: Shape<Scalar: Base>,
    C: Contexts,
    E: SweepEngine<F, X::Scalar, C>,
{
    const BACKEND: &'static str = E::NAME;
    type Num = X::Scalar;
    type Output = Vec<X::Scalar>;
    type State = StateOf<E, F, X, C>;

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        SweptState::new(&self.engine, x.coordinates().len()).map_err(named::<E, F, _, C>("pullback"))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(&self, state: &mut Self::State, x: At<'_, P>) -> Result<(), Error> {
        state.recording = None;
        self.engine.accepts(x.coordinates().len()).map_err(named::<E, F, _, C>("pullback"))
    }
    fn record<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        state.record(&self.engine, f, x).map_err(named::<E, F, _, C>("pullback"))
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        cotangents: &[&[X::Scalar]],
    ) -> Result<(), Error> {
        let inputs = x.coordinates().len();
        let mut rows = std::mem::take(&mut state.rows);
        rows.clear();
        rows.resize(inputs * cotangents.len(), Base::ZERO);
        let mut products = rows.chunks_exact_mut(inputs.max(1));
        // A point without numbers has products without numbers.
        let result =
            cotangents.iter().zip(&mut products).try_for_each(|(dy, dx)| state.sweep(&self.engine, f, x, dy, dx));
        state.rows = rows;
        result.map_err(named::<E, F, _, C>("pullback"))
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        _: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        self.engine.evaluate(f, x.coordinates(), x.contexts(), y).map_err(named::<E, F, _, C>("pullback"))
    }
    fn value(state: &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(_: &Self::State) -> &() {
        &()
    }
    fn rows(state: &Self::State) -> &[X::Scalar] {
        &state.rows
    }
}

/// Products with the rows of the Jacobian, which `hold` computes.
#[diagnostic::do_not_recommend]
impl<E, F, X, C, const T: usize> PushforwardBackend<F, X, C, T> for Swept<E>
where
    X: Shape<Scalar: Base>,
    C: Contexts,
    E: SweepEngine<F, X::Scalar, C>,
{
    const BACKEND: &'static str = E::NAME;
    type Num = X::Scalar;
    type Output = Vec<X::Scalar>;
    type State = (StateOf<E, F, X, C>, Vec<X::Scalar>);

    fn unprepared<P: Point<Shape = X, Contexts = C>>(&self, x: At<'_, P>) -> Result<Self::State, Error> {
        let state = SweptState::new(&self.engine, x.coordinates().len()).map_err(named::<E, F, _, C>("pushforward"))?;
        Ok((state, Vec::new()))
    }
    fn prepare<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        self.engine.accepts(x.coordinates().len()).map_err(named::<E, F, _, C>("pushforward"))?;
        state.0.outputs = None;
        PushforwardBackend::<F, X, C, T>::products(self, state, f, x, tangents, true)?;
        state.0.outputs = Some(state.0.y.len());
        Ok(())
    }
    fn products<P: Point<Shape = X, Contexts = C>>(
        &self,
        state: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
        _with_value: bool,
    ) -> Result<(), Error> {
        PushforwardBackend::<F, X, C, T>::hold(self, state, f, x)?;
        PushforwardBackend::<F, X, C, T>::held(self, state, f, x, tangents)
    }
    fn hold<P: Point<Shape = X, Contexts = C>>(
        &self,
        (state, _): &mut Self::State,
        f: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        let hold = |state: &mut StateOf<E, F, X, C>| {
            state.record(&self.engine, f, x)?;
            let mut jac = std::mem::take(&mut state.rows);
            jac.clear();
            jac.resize(state.y.len() * x.coordinates().len(), Base::ZERO);
            let result = state.rows(&self.engine, f, x, &mut jac);
            state.rows = jac;
            result
        };
        hold(state).map_err(named::<E, F, _, C>("pushforward"))
    }
    fn held<P: Point<Shape = X, Contexts = C>>(
        &self,
        (state, products): &mut Self::State,
        _: &F,
        x: At<'_, P>,
        tangents: &[&[X::Scalar]; T],
    ) -> Result<(), Error> {
        let (inputs, outputs) = (x.coordinates().len(), state.y.len());
        products.clear();
        for tangent in tangents {
            products.extend((0..outputs).map(|i| dot::<P>(&state.rows[i * inputs..(i + 1) * inputs], tangent)));
        }
        Ok(())
    }
    fn evaluate<P: Point<Shape = X, Contexts = C>>(
        &self,
        _: &mut Self::State,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<X::Scalar>,
    ) -> Result<(), Error> {
        self.engine.evaluate(f, x.coordinates(), x.contexts(), y).map_err(named::<E, F, _, C>("pushforward"))
    }
    fn value((state, _): &Self::State) -> &[X::Scalar] {
        &state.y
    }
    fn kept(_: &Self::State) -> &() {
        &()
    }
    fn product((state, products): &mut Self::State, k: usize) -> (&[X::Scalar], &()) {
        let outputs = state.y.len();
        (&products[k * outputs..(k + 1) * outputs], &())
    }
}

fn dot<P: Point<Shape: Shape<Scalar: Base>>>(row: &[ScalarOf<P>], tangent: &[ScalarOf<P>]) -> ScalarOf<P> {
    row.iter().zip(tangent).fold(Base::ZERO, |sum, (a, b)| sum + *a * *b)
}
