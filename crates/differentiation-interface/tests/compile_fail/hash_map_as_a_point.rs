//! The order of the numbers of a `HashMap` is not that of another one.

use differentiation_interface::prelude::*;
use std::collections::HashMap;

fn main() {
    let rates: HashMap<String, f64> = [("birth".to_string(), 3.0)].into();
    let f = |rates: &HashMap<String, _>| rates["birth"] * rates["birth"];
    gradient(&f, &AutoReverseDiff::default(), &rates).unwrap();
}
