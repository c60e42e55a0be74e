//! Formulas in the shapes of functions, with and without contexts.
//!
//! Each type is one function type for all formulas of its shape; the contexts are those of the counterpart's options.

use super::formula::Formula;
use super::real_number::RealNumber;
use differentiation_interface_core::context::Bundle;
use differentiation_interface_core::{
    Base, Const, ContextTypes, Function, FunctionInPlace, FunctionInPlaceWith, FunctionWith, InPlace, Work, in_place,
};

/// Data that a function reads from its contexts: a factor `a + b[0]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The first summand.
    pub a: f64,
    /// The second summand.
    pub b: Vec<f64>,
}

impl Captured {
    fn factor(&self) -> f64 {
        self.a + self.b[0]
    }
}

/// A constant factor.
type ByFactor = (Const<f64>,);
/// Work memory of the length of the output.
type WithWork<T> = (Work<Vec<T>>,);
/// Work memory in a tuple, of which the function uses the first part.
type WithTuple<T> = (Work<(Vec<T>, [T; 2])>,);
/// A factor and work memory in one argument.
type WithBoth<T> = (Bundle<(Const<Captured>, Work<Vec<T>>)>,);
/// A parameter and constant numbers; the factor is the parameter times the first of them.
type ByParameter<T> = (Const<T>, Const<Vec<f64>>);

/// A formula with one output as a function of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ToNumber(
    /// The formula.
    pub Formula,
);
/// A formula as a function from an array to an array, which also writes in place.
#[derive(Clone, Debug, PartialEq)]
pub struct ToArray(
    /// The formula.
    pub Formula,
);
/// A formula of one number with one output.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberToNumber(
    /// The formula.
    pub Formula,
);
/// A formula of one number as a function to an array, which also writes in place.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberToArray(
    /// The formula.
    pub Formula,
);

/// A function that returns its outputs, or writes them: one type for both, so that each operator of a backend is compiled once.
#[derive(Clone, Debug)]
pub enum Form<F> {
    /// Returns the outputs.
    Returns(F),
    /// Writes the outputs.
    Writes(InPlace<F>),
}

impl<F> Form<F> {
    /// The function that writes this number of outputs.
    pub fn writes(function: F, outputs: usize) -> Self {
        Form::Writes(in_place(function, outputs))
    }
}

impl<X: ?Sized, F: Function<X>> Function<X> for Form<F>
where
    InPlace<F>: Function<X, Output = F::Output>,
{
    type Output = F::Output;
    fn call(&self, x: &X) -> F::Output {
        match self {
            Form::Returns(f) => f.call(x),
            Form::Writes(f) => f.call(x),
        }
    }
    fn call_into(&self, x: &X, y: &mut F::Output) {
        match self {
            Form::Returns(f) => f.call_into(x, y),
            Form::Writes(f) => f.call_into(x, y),
        }
    }
    fn is_pure(&self) -> bool {
        match self {
            Form::Returns(f) => f.is_pure(),
            Form::Writes(f) => f.is_pure(),
        }
    }
    fn begin(&self) {
        match self {
            Form::Returns(f) => f.begin(),
            Form::Writes(f) => f.begin(),
        }
    }
}

impl<X: ?Sized, C: ContextTypes, F: FunctionWith<X, C>> FunctionWith<X, C> for Form<F>
where
    InPlace<F>: FunctionWith<X, C, Output = F::Output>,
{
    type Output = F::Output;
    fn call_with(&self, x: &X, contexts: C::Args<'_>) -> F::Output {
        match self {
            Form::Returns(f) => f.call_with(x, contexts),
            Form::Writes(f) => f.call_with(x, contexts),
        }
    }
    fn call_with_into(&self, x: &X, contexts: C::Args<'_>, y: &mut F::Output) {
        match self {
            Form::Returns(f) => f.call_with_into(x, contexts, y),
            Form::Writes(f) => f.call_with_into(x, contexts, y),
        }
    }
    fn is_pure(&self) -> bool {
        match self {
            Form::Returns(f) => f.is_pure(),
            Form::Writes(f) => f.is_pure(),
        }
    }
    fn begin(&self) {
        match self {
            Form::Returns(f) => f.begin(),
            Form::Writes(f) => f.begin(),
        }
    }
}

fn one<T: RealNumber>(formula: &Formula, x: &[T]) -> T {
    let mut y = [T::default()];
    formula.evaluate(x, &mut y);
    y[0]
}

fn several<T: RealNumber>(formula: &Formula, x: &[T], y: &mut Vec<T>) {
    y.clear();
    y.resize(formula.outputs(x.len()), T::default());
    formula.evaluate(x, y);
}

/// Evaluates into work memory and copies the result to `y`, times a factor.
fn through<T: RealNumber>(formula: &Formula, x: &[T], work: &mut [T], factor: f64, y: &mut [T]) {
    formula.evaluate(x, work);
    let factor = T::Base::from_f64(factor);
    for (y, work) in y.iter_mut().zip(work) {
        *y = work.scale(factor);
    }
}

/// Functions with one output; `$x` is the point, `$slice` the same as a slice.
macro_rules! one_output {
    ($($Function:ident: $X:ty, $x:ident => $slice:expr;)*) => {$(
        impl<T: RealNumber> Function<$X> for $Function {
            type Output = T;
            fn call(&self, $x: &$X) -> T {
                one(&self.0, $slice)
            }
        }
        impl<T: RealNumber> FunctionWith<$X, ByFactor> for $Function {
            type Output = T;
            fn call_with(&self, $x: &$X, (factor,): (&f64,)) -> T {
                one(&self.0, $slice).scale(T::Base::from_f64(*factor))
            }
        }
        impl<T: RealNumber> FunctionWith<$X, WithWork<T>> for $Function {
            type Output = T;
            fn call_with(&self, $x: &$X, (work,): (&mut Vec<T>,)) -> T {
                let mut y = [T::default()];
                through(&self.0, $slice, work, 1.0, &mut y);
                y[0]
            }
        }
        impl<T: RealNumber> FunctionWith<$X, WithTuple<T>> for $Function {
            type Output = T;
            fn call_with(&self, $x: &$X, ((work, _),): (&mut (Vec<T>, [T; 2]),)) -> T {
                let mut y = [T::default()];
                through(&self.0, $slice, work, 1.0, &mut y);
                y[0]
            }
        }
        impl<T: RealNumber> FunctionWith<$X, WithBoth<T>> for $Function {
            type Output = T;
            fn call_with(&self, $x: &$X, ((captured, work),): ((&Captured, &mut Vec<T>),)) -> T {
                let mut y = [T::default()];
                through(&self.0, $slice, work, captured.factor(), &mut y);
                y[0]
            }
        }
        impl<T: RealNumber> FunctionWith<$X, ByParameter<T>> for $Function {
            type Output = T;
            fn call_with(&self, $x: &$X, (parameter, numbers): (&T, &Vec<f64>)) -> T {
                one(&self.0, $slice).scale(T::Base::from_f64(numbers[0])) * *parameter
            }
        }
    )*};
}
one_output! {
    ToNumber: [T], x => x;
    NumberToNumber: T, x => std::slice::from_ref(x);
}

/// Functions with several outputs, returned or written in place.
macro_rules! several_outputs {
    ($($Function:ident: $X:ty, $x:ident => $slice:expr;)*) => {$(
        impl<T: RealNumber> Function<$X> for $Function {
            type Output = Vec<T>;
            fn call(&self, x: &$X) -> Vec<T> {
                let mut y = Vec::new();
                <Self as Function<$X>>::call_into(self, x, &mut y);
                y
            }
            fn call_into(&self, $x: &$X, y: &mut Vec<T>) {
                several(&self.0, $slice, y);
            }
        }
        impl<T: RealNumber> FunctionInPlace<T, $X> for $Function {
            fn call_in_place(&self, y: &mut [T], $x: &$X) {
                self.0.evaluate($slice, y);
            }
        }
    )*};
}
several_outputs! {
    ToArray: [T], x => x;
    NumberToArray: T, x => std::slice::from_ref(x);
}

/// Functions with several outputs and contexts: `$with` evaluates into `y`.
macro_rules! several_outputs_with {
    ($($Function:ident, $X:ty, |$x:ident| $slice:expr, $C:ty, $Args:ty, |$formula:ident, $args:pat_param, $y:ident| $body:expr;)*) => {$(
        impl<T: RealNumber> FunctionInPlaceWith<T, $X, $C> for $Function {
            fn call_in_place_with(&self, $y: &mut [T], $x: &$X, $args: $Args) {
                let ($formula, $x) = (&self.0, $slice);
                $body;
            }
        }
        impl<T: RealNumber> FunctionWith<$X, $C> for $Function {
            type Output = Vec<T>;
            fn call_with(&self, x: &$X, args: $Args) -> Vec<T> {
                let mut y = Vec::new();
                <Self as FunctionWith<$X, $C>>::call_with_into(self, x, args, &mut y);
                y
            }
            fn call_with_into(&self, $x: &$X, args: $Args, y: &mut Vec<T>) {
                y.clear();
                y.resize(self.0.outputs($slice.len()), T::default());
                <Self as FunctionInPlaceWith<T, $X, $C>>::call_in_place_with(self, y, $x, args);
            }
        }
    )*};
}

fn scaled<T: RealNumber>(formula: &Formula, x: &[T], factor: f64, y: &mut [T]) {
    formula.evaluate(x, y);
    let factor = T::Base::from_f64(factor);
    y.iter_mut().for_each(|y| *y = y.scale(factor));
}

/// Evaluates the formula times the parameter and the first of the numbers.
fn by_parameter<T: RealNumber>(formula: &Formula, x: &[T], parameter: T, numbers: &[f64], y: &mut [T]) {
    scaled(formula, x, numbers[0], y);
    y.iter_mut().for_each(|y| *y = *y * parameter);
}

several_outputs_with! {
    ToArray, [T], |x| x, ByFactor, (&f64,), |f, (factor,), y| scaled(f, x, *factor, y);
    ToArray, [T], |x| x, WithWork<T>, (&mut Vec<T>,), |f, (work,), y| through(f, x, work, 1.0, y);
    ToArray, [T], |x| x, WithTuple<T>, (&mut (Vec<T>, [T; 2]),), |f, ((work, _),), y| through(f, x, work, 1.0, y);
    ToArray, [T], |x| x, WithBoth<T>, ((&Captured, &mut Vec<T>),), |f, ((k, work),), y| through(f, x, work, k.factor(), y);
    NumberToArray, T, |x| std::slice::from_ref(x), ByFactor, (&f64,), |f, (factor,), y| scaled(f, x, *factor, y);
    NumberToArray, T, |x| std::slice::from_ref(x), WithWork<T>, (&mut Vec<T>,), |f, (work,), y| through(f, x, work, 1.0, y);
    NumberToArray, T, |x| std::slice::from_ref(x), WithTuple<T>,
        (&mut (Vec<T>, [T; 2]),), |f, ((work, _),), y| through(f, x, work, 1.0, y);
    NumberToArray, T, |x| std::slice::from_ref(x), WithBoth<T>,
        ((&Captured, &mut Vec<T>),), |f, ((k, work),), y| through(f, x, work, k.factor(), y);
    ToArray, [T], |x| x, ByParameter<T>, (&T, &Vec<f64>), |f, (parameter, numbers), y| by_parameter(f, x, *parameter, numbers, y);
    NumberToArray, T, |x| std::slice::from_ref(x), ByParameter<T>,
        (&T, &Vec<f64>), |f, (parameter, numbers), y| by_parameter(f, x, *parameter, numbers, y);
}
