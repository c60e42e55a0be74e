//! Candidates around other backends: under another name or accuracy, or without some operators.
//!
//! Made by users. Scenarios of operators that a backend does not support are skipped and counted.

use crate::candidate::{Candidate, inexact};
use crate::driver::{Run, Task, skipped};
use crate::operator::{Derivative, Gradient, Hessian, Hvp, Jacobian, Pullback, Pushforward, SecondDerivative};
use crate::point::OwnedPoint;
use crate::scenario::Scenario;
use differentiation_interface_core::backend::{Backend, SecondOrderBackend};

/// A candidate under another name, made by [`named`].
#[derive(Clone, Debug)]
pub struct Named<B> {
    candidate: B,
    label: String,
}

/// Gives a candidate another name.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let backend = named("forward_diff(chunk=2)", AutoForwardDiff::with_chunk::<2>());
/// assert_eq!(backend.label(), "forward_diff(chunk=2)");
/// ```
pub fn named<B: Candidate>(label: impl Into<String>, candidate: B) -> Named<B> {
    Named { candidate, label: label.into() }
}

impl<B: Candidate> Candidate for Named<B> {
    fn label(&self) -> String {
        self.label.clone()
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        self.candidate.tolerance(order)
    }
}

/// A candidate with another required accuracy, made by [`with_tolerance`].
#[derive(Clone, Debug)]
pub struct WithTolerance<B> {
    candidate: B,
    first: f64,
    second: f64,
}

/// Sets the required accuracy of a candidate, in first and in second order, relative to the largest entry of a result, or to 10⁻³ if
/// that is larger; absolute where all entries are zero.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let backend = with_tolerance(AutoFiniteDiff::central(), 1e-8, 1e-4);
/// assert_eq!(backend.tolerance(1), Some(1e-8));
/// ```
pub fn with_tolerance<B: Candidate>(candidate: B, first: f64, second: f64) -> WithTolerance<B> {
    WithTolerance { candidate, first, second }
}

impl<B: Candidate> Candidate for WithTolerance<B> {
    fn label(&self) -> String {
        self.candidate.label()
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        Some(if order == 1 { self.first } else { self.second })
    }
}

/// Passes on the driver of the inner candidate under the name of the outer one.
struct Renamed<'a> {
    outer: &'a dyn Candidate,
    task: &'a mut dyn Task,
}

impl Task for Renamed<'_> {
    fn drive(&mut self, _: &dyn Candidate, facts: &crate::driver::Facts, driver: &mut dyn crate::driver::Driver) {
        self.task.drive(self.outer, facts, driver);
    }
    fn skip(&mut self, _: &dyn Candidate, scenario: &str, operator: &'static str, reason: &str) {
        self.task.skip(self.outer, scenario, operator, reason);
    }
}

/// Wrappers that change the name or accuracy of a candidate and run the inner one.
macro_rules! transparent {
    ($($Wrapper:ident),*) => {$(
        impl<O, F, P: OwnedPoint, B: Run<O, F, P>> Run<O, F, P> for $Wrapper<B> {
            fn run(&self, scenario: &Scenario<O, F, P>, task: &mut dyn Task) {
                self.candidate.run(scenario, &mut Renamed { outer: self, task });
            }
        }
    )*};
}
transparent!(Named, WithTolerance);

/// A backend without first-order operators, made by [`second_order_only`].
#[derive(Clone, Debug)]
pub struct SecondOrderOnly<B>(B);

impl<B> SecondOrderOnly<B> {
    pub(crate) fn backend(&self) -> &B {
        &self.0
    }
}

/// A backend for `second_derivative`, `hvp` and `hessian`, such as `SecondOrder`; scenarios of other operators are skipped.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let pair = second_order_only(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
/// assert_eq!(pair.label(), "second_order(forward_diff, reverse_diff)");
/// ```
pub fn second_order_only<B: SecondOrderBackend>(backend: B) -> SecondOrderOnly<B> {
    SecondOrderOnly(backend)
}

impl<B: SecondOrderBackend> Candidate for SecondOrderOnly<B> {
    fn label(&self) -> String {
        format!("second_order({}, {})", B::Outer::NAME, B::Inner::NAME)
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        let (outer, inner) = self.0.pair();
        (!outer.is_exact() || !inner.is_exact()).then(|| inexact(order))
    }
}

/// A backend without second-order operators, made by [`first_order_only`].
#[derive(Clone, Debug)]
pub struct FirstOrderOnly<B>(B);

/// A backend for operators of first order, such as an engine of plain numbers, which cannot differentiate itself; scenarios of
/// `second_derivative`, `hvp` and `hessian` are skipped.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # use differentiation_interface_test::*;
/// let backend = first_order_only(AutoReverseDiff::default());
/// let outcome = test_differentiation(&[backend], &families::empty_scenarios(), &Options::default());
/// outcome.assert();
/// assert!(outcome.counts()[0].skipped > 0);
/// ```
pub fn first_order_only<B: Backend>(backend: B) -> FirstOrderOnly<B> {
    FirstOrderOnly(backend)
}

impl<B: Backend> Candidate for FirstOrderOnly<B> {
    fn label(&self) -> String {
        self.0.label()
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        self.0.tolerance(order)
    }
}

/// Operators of first order run with the backend itself.
macro_rules! first_order {
    ($($Operator:ident $(<$T:ident>)?),*) => {$(
        impl<B: Backend, F, P: OwnedPoint $(, const $T: usize)?> Run<$Operator $(<$T>)?, F, P> for FirstOrderOnly<B>
        where
            B: Run<$Operator $(<$T>)?, F, P>,
        {
            fn run(&self, scenario: &Scenario<$Operator $(<$T>)?, F, P>, task: &mut dyn Task) {
                self.0.run(scenario, task);
            }
        }
    )*};
}
first_order!(Pushforward<T>, Pullback<T>, Derivative, Gradient, Jacobian);

/// Backends that implement the traits of some operators.
macro_rules! matrix_backends {
    ($($Wrapper:ident $function:ident: $what:literal, $such:literal;)*) => {$(
        #[doc = concat!("A backend for ", $what, " only, made by [`", stringify!($function), "`].")]
        #[derive(Clone, Debug)]
        pub struct $Wrapper<B> {
            backend: B,
            label: String,
            tolerance: Option<f64>,
        }

        #[doc = concat!("A backend for ", $what, " only, such as ", $such, "; scenarios of other operators are skipped.")]
        pub fn $function<B>(label: impl Into<String>, backend: B) -> $Wrapper<B> {
            $Wrapper { backend, label: label.into(), tolerance: None }
        }

        impl<B> $Wrapper<B> {
            pub(crate) fn backend(&self) -> &B {
                &self.backend
            }
            /// Sets the required accuracy, relative to the largest entry of a result, or to 10⁻³ if that is larger; absolute where all entries are zero.
            pub fn tolerance(mut self, tolerance: f64) -> Self {
                self.tolerance = Some(tolerance);
                self
            }
        }

        impl<B> Candidate for $Wrapper<B> {
            fn label(&self) -> String {
                self.label.clone()
            }
            fn tolerance(&self, _: u8) -> Option<f64> {
                self.tolerance
            }
        }
    )*};
}
matrix_backends! {
    JacobianOnly jacobian_only: "`jacobian`", "`AutoSparse`";
    HessianOnly hessian_only: "`hessian`", "`AutoSparse`";
    MatricesOnly matrices_only: "`jacobian` and `hessian`", "`AutoSparse`";
    ArraysOnly arrays_only: "`gradient`, `jacobian`, `pushforward` and `pullback`", "`Swept`, the backend of a tensor library";
}

/// A wrapper of a backend for all operators, made by [`all_operators`].
#[derive(Clone, Debug)]
pub struct AllOperators<B> {
    backend: B,
    label: String,
    tolerances: Option<[f64; 2]>,
}

/// A backend that has all operators but is no [`Backend`] itself, such as `AutoThreaded` around one. The number of evaluations is not checked.
pub fn all_operators<B>(label: impl Into<String>, backend: B) -> AllOperators<B> {
    AllOperators { backend, label: label.into(), tolerances: None }
}

impl<B> AllOperators<B> {
    pub(crate) fn backend(&self) -> &B {
        &self.backend
    }
    /// The same with the accuracy of differences.
    pub fn inexact(self) -> Self {
        AllOperators { tolerances: Some([inexact(1), inexact(2)]), ..self }
    }
}

impl<B> Candidate for AllOperators<B> {
    fn label(&self) -> String {
        self.label.clone()
    }
    fn tolerance(&self, order: u8) -> Option<f64> {
        self.tolerances.map(|[first, second]| if order == 1 { first } else { second })
    }
}

/// Operators whose scenarios are skipped.
macro_rules! skips {
    ($($Candidate:ident $(: $Bound:ident)?, $reason:literal: $($Operator:ident $(<$T:ident>)?),*;)*) => {$(
        skips! { @each $Candidate [$($Bound)?] $reason; $([$Operator $(<$T>)?])* }
    )*};
    (@each $Candidate:ident $bound:tt $reason:literal; $([$($operator:tt)*])*) => {
        $(skips! { @one $Candidate $bound $reason; $($operator)* })*
    };
    (@one $Candidate:ident [$($Bound:ident)?] $reason:literal; $Operator:ident $(<$T:ident>)?) => {
        impl<B $(: $Bound)?, F, P: OwnedPoint $(, const $T: usize)?> Run<$Operator $(<$T>)?, F, P> for $Candidate<B> {
            fn run(&self, scenario: &Scenario<$Operator $(<$T>)?, F, P>, task: &mut dyn Task) {
                skipped(self, scenario, task, $reason);
            }
        }
    };
}
skips! {
    FirstOrderOnly: Backend, "first order only": SecondDerivative, Hvp<T>, Hessian;
    SecondOrderOnly: SecondOrderBackend, "second order only": Pushforward<T>, Pullback<T>, Derivative, Gradient, Jacobian;
    JacobianOnly, "Jacobians only":
        Pushforward<T>, Pullback<T>, Derivative, Gradient, SecondDerivative, Hvp<T>, Hessian;
    HessianOnly, "Hessians only":
        Pushforward<T>, Pullback<T>, Derivative, Gradient, Jacobian, SecondDerivative, Hvp<T>;
    ArraysOnly, "arrays in first order only": Derivative, SecondDerivative, Hvp<T>, Hessian;
    MatricesOnly, "Jacobians and Hessians only": Pushforward<T>, Pullback<T>, Derivative, Gradient, SecondDerivative, Hvp<T>;
}
