//! All engines in one list, for the programs of this crate: `survey` says what each one gets right, gets wrong and refuses, `compare` times
//! them.
//!
//! Apart from the other crates because of what the engines depend on; `.ci/survey` runs both programs.

pub use derivative_formula::AutoSymbolic;
pub use differentiation_interface::prelude::*;
pub use differentiation_interface_ad_trait::AutoAdTrait;
pub use differentiation_interface_burn::AutoBurn;
pub use differentiation_interface_candle::AutoCandle;
pub use differentiation_interface_echidna::{AutoEchidna, AutoEchidnaForward};
pub use differentiation_interface_num_dual::AutoNumDual;
pub use differentiation_interface_test::{
    all_operators, arrays_only, first_order_only, matrices_only, named, second_order_only,
};
use std::path::Path;

/// Runs the body once for each engine of scalar functions, bound to the name.
#[macro_export]
macro_rules! each_engine {
    ($engine:ident => $body:expr) => {{
        use $crate::*;
        let (forward, reverse) = (AutoForwardDiff::default(), AutoReverseDiff::default());
        $crate::each_engine!(@ $engine => $body;
            named("AutoForwardDiff", forward),
            named("AutoReverseDiff", reverse),
            named("AutoReverseDiff::tape", AutoReverseDiff::tape()),
            named("AutoReverseDiff::compiled", AutoReverseDiff::compiled()),
            named("AutoSymbolic", AutoSymbolic::default()),
            named("AutoFiniteDiff", AutoFiniteDiff::central()),
            named("AutoFiniteDifferences", AutoFiniteDifferences::default()),
            all_operators("AutoThreaded(AutoForwardDiff)", AutoThreaded::new(forward).with_threads(2).with_least_work(1)),
            all_operators("AutoThreaded(AutoReverseDiff)", AutoThreaded::new(reverse).with_threads(2).with_least_work(1)),
            matrices_only("AutoSparse(AutoForwardDiff)", AutoSparse::new(forward)),
            named("AutoNumDual", first_order_only(AutoNumDual::default())),
            named("AutoEchidna", first_order_only(AutoEchidna::default())),
            named("AutoEchidnaForward", first_order_only(AutoEchidnaForward::default())),
            named("AutoAdTrait", first_order_only(AutoAdTrait::default())),
            named("SecondOrder(AutoForwardDiff, AutoReverseDiff)", second_order_only(SecondOrder(forward, reverse))),
            named("SecondOrder(AutoReverseDiff, AutoForwardDiff)", second_order_only(SecondOrder(reverse, forward))),
            named("SecondOrder(AutoFiniteDifferences, AutoReverseDiff)", second_order_only(SecondOrder(AutoFiniteDifferences::default(), reverse))),
            named("SecondOrder(AutoNumDual, AutoReverseDiff)", second_order_only(SecondOrder(AutoNumDual::default(), reverse))),
            named("SecondOrder(AutoEchidna, AutoForwardDiff)", second_order_only(SecondOrder(AutoEchidna::default(), forward))),
        )
    }};
    (@ $engine:ident => $body:expr; $($make:expr,)*) => {{$({
        let $engine = $make;
        $body;
    })*}};
}

/// Writes a file and prints its name.
///
/// # Errors
/// Those of the operating system, with the name.
pub fn write(path: &Path, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
