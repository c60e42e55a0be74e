//! The value of a function at plain numbers.
//!
//! Faster than `value(&x)` of a prepared operator, which runs the function on the numbers of its engine: line searches ask for values alone. Called by
//! `objective` and `residuals`.

use differentiation_interface::Function;
use differentiation_interface::error::{Error, ErrorKind};
use differentiation_interface::evaluate::Output;
use differentiation_interface::fault;

/// Returns what `read` makes of the numbers of `f(x)`, for a point as long as that of the preparation.
///
/// # Errors
/// [`ErrorKind::PreparedLength`], and what the function returns in `Err` or reports, such as an output that it does not write.
pub(crate) fn value<F: Function<[f64], Output: Output<f64>>, R>(
    f: &F,
    prepared: usize,
    x: &[f64],
    read: impl FnOnce(&[f64]) -> R,
) -> Result<R, Error> {
    let found = x.len();
    if found != prepared {
        return Err(Error::new(ErrorKind::PreparedLength { prepared, found }));
    }
    fault::watch(|| Ok(f.call(x).read(read)))
}
