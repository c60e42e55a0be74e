use differentiation_interface_macros::custom_rule;

#[custom_rule]
fn without_derivative(x: &[f64]) -> f64 {
    x[0]
}

#[custom_rule(derivative = d)]
fn unknown_option(x: &[f64]) -> f64 {
    x[0]
}

#[custom_rule(pushforward = d)]
fn wrong_shape(x: f64, k: f64) -> (f64, f64) {
    (x, k)
}

fn main() {}
