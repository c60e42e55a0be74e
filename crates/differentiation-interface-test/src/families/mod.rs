//! The built-in scenarios: the counterpart's families, with all answers worked out by hand.
//!
//! A matrix is a flat point or output, row by row; the scenario records its shape. Every list comes in the variants that
//! return and those that write into buffers, and for operators with seeds with one and with two.

mod cases;
mod containers;
mod formula;
mod lists;
mod real_number;
mod rules;
mod shape;
mod singular;
mod suite;
mod tensors;
mod views;

pub use cases::{
    CacheScenarios, ConstantOrCacheScenarios, ConstantScenarios, DefaultScenarios, ParameterScenarios, RuleScenarios,
    ScenarioOptions, SparseScenarios, TupleCacheScenarios, allocation_free_scenarios, cachified_scenarios,
    constant_or_cachified_scenarios, constantified_scenarios, default_scenarios, empty_scenarios,
    parametrised_scenarios, rule_scenarios, single_precision_scenarios, sparse_scenarios, tuple_cachified_scenarios,
};
pub use containers::{
    AtContainer, AtPoint, ConstantContainers, Cubes, PairWithData, PairWithParameters, Squares, StandardContainers,
    at_container, constant_container_scenarios, container_scenarios, single_precision_container_scenarios,
};
#[cfg(feature = "num-complex")]
pub use containers::{
    ComplexContainers, HolomorphicCube, at_complex_container, complex_scenarios, holomorphic_scenarios,
};
#[cfg(feature = "faer")]
pub use containers::{FaerContainers, faer_scenarios};
#[cfg(feature = "nalgebra")]
pub use containers::{NalgebraContainers, nalgebra_scenarios};
#[cfg(feature = "ndarray")]
pub use containers::{NdarrayContainers, ndarray_scenarios};
pub use formula::{Formula, Sparse};
pub use lists::{OfNumber, ToArrays, ToNumbers};
pub use shape::{Captured, Form, NumberToArray, NumberToNumber, ToArray, ToNumber};
pub use singular::{Singular, singular_scenarios};
pub use suite::{Suite, suite, test_backend, test_contexts};
pub use tensors::{
    TensorMap, TensorSum, tensor_gradients, tensor_jacobians, tensor_pullbacks, tensor_pushforwards, tensor_scenarios,
};
#[cfg(feature = "faer")]
pub use views::{FaerViews, faer_view_scenarios};
#[cfg(feature = "nalgebra")]
pub use views::{NalgebraViews, nalgebra_view_scenarios};
#[cfg(feature = "ndarray")]
pub use views::{NdarrayViews, ndarray_view_scenarios};
