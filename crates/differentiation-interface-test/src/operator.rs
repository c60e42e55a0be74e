//! The operators as types, which distinguish scenarios.
//!
//! Used by [`Scenario`](crate::Scenario) and the drivers.

/// An operator, with its number of seeds if it takes seeds.
pub trait Operator: Copy + Send + Sync + 'static {
    /// Name of the operator.
    const NAME: &'static str;
    /// Order of the derivative.
    const ORDER: u8;
    /// Number of tangents or cotangents.
    const SEEDS: usize = 0;
}

/// Makes one marker type per line.
macro_rules! operators {
    ($($Name:ident $(<$T:ident>)?: $name:literal, $order:literal;)*) => {$(
        #[doc = concat!("The operator `", $name, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $Name $(<const $T: usize = 1>)?;
        impl $(<const $T: usize>)? Operator for $Name $(<$T>)? {
            const NAME: &'static str = $name;
            const ORDER: u8 = $order;
            $(const SEEDS: usize = $T;)?
        }
    )*};
}
operators! {
    Pushforward<T>: "pushforward", 1;
    Pullback<T>: "pullback", 1;
    Derivative: "derivative", 1;
    Gradient: "gradient", 1;
    Jacobian: "jacobian", 1;
    SecondDerivative: "second_derivative", 2;
    Hvp<T>: "hvp", 2;
    Hessian: "hessian", 2;
}

/// The names of all operators.
pub const OPERATORS: [&str; 8] = [
    Pushforward::<1>::NAME,
    Pullback::<1>::NAME,
    Derivative::NAME,
    Gradient::NAME,
    Jacobian::NAME,
    SecondDerivative::NAME,
    Hvp::<1>::NAME,
    Hessian::NAME,
];
