//! The operators: of each the calls without preparation (`gradient`, `gradient_into`, `value_and_gradient`), the preparation
//! (`prepare_gradient`, `PreparedGradient`), and the trait of backends that have it (`GradientBackend`).
//!
//! An operator checks shapes once, binds the function to its contexts, and passes a flat function to the backend's route.

// One file or folder each; what several of them share is in `call.rs`, their number types in `numbers.rs`.
mod auxiliary;
mod call;
mod derivative;
mod expansion;
mod gradient;
mod hessian;
mod hvp;
mod jacobian;
mod mixed_partial;
mod nth_derivative;
mod numbers;
mod pullback;
mod pushforward;
mod second_derivative;
mod swept;
mod taylor;

pub use auxiliary::{WithAux, WithAuxOutput, value_gradient_and_aux, value_jacobian_and_aux, with_aux};
pub use call::Evaluation;
pub use derivative::{
    DerivativeBackend, DerivativeWork, PreparedDerivative, derivative, derivative_into, prepare_derivative,
    value_and_derivative, value_and_derivative_into,
};
pub use expansion::{
    Expansion, ExpansionBackend, ExpansionOf, PreparedTaylorExpansion, prepare_taylor_expansion, taylor_expansion,
};
pub use gradient::{
    GradientBackend, PreparedGradient, gradient, gradient_into, prepare_gradient, value_and_gradient,
    value_and_gradient_into,
};
pub use hessian::{
    HessianBackend, HessianWork, PreparedHessian, hessian, hessian_into, prepare_hessian, value_gradient_and_hessian,
    value_gradient_and_hessian_into,
};
pub use hvp::{
    HvpBackend, HvpSamePointBackend, HvpWork, PreparedHvp, PreparedHvpSamePoint, gradient_and_hvp,
    gradient_and_hvp_into, hvp, hvp_into, prepare_hvp, prepare_hvp_same_point, value_gradient_and_hvp,
    value_gradient_and_hvp_into,
};
pub use jacobian::{
    JacobianBackend, PreparedJacobian, jacobian, jacobian_into, prepare_jacobian, value_and_jacobian,
    value_and_jacobian_into,
};
pub use mixed_partial::{Partially, PreparedMixedPartial, mixed_partial, mixed_partial_into, prepare_mixed_partial};
pub use nth_derivative::{
    Nest, NestWork, NthDerivativeBackend, Order, PreparedNthDerivative, nth_derivative, nth_derivative_into,
    prepare_nth_derivative, value_and_nth_derivative, value_and_nth_derivative_into,
};
pub use numbers::{GradientLanes, GradientNum, NumOf};
pub use pullback::{
    PreparedPullback, PreparedPullbackSamePoint, PullbackBackend, PullbackWork, prepare_pullback,
    prepare_pullback_same_point, pullback, pullback_into, value_and_pullback, value_and_pullback_into,
};
pub use pushforward::{
    PreparedPushforward, PreparedPushforwardSamePoint, PushforwardBackend, PushforwardWork, prepare_pushforward,
    prepare_pushforward_same_point, pushforward, pushforward_into, value_and_pushforward, value_and_pushforward_into,
};
pub use second_derivative::{
    PreparedSecondDerivative, SecondDerivativeBackend, SecondDerivativeWork, prepare_second_derivative,
    second_derivative, second_derivative_into, value_derivative_and_second_derivative,
    value_derivative_and_second_derivative_into,
};
pub use swept::{ShapedEngine, SweepEngine, Swept, SweptState};
pub use taylor::{
    Coefficient, PreparedJet, PreparedTaylorCoefficients, TaylorBackend, jet, jet_into, prepare_jet,
    prepare_taylor_coefficients, taylor_coefficients, taylor_coefficients_into,
};
