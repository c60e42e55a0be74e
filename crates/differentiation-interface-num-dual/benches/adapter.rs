//! Adapter against the bare crate.
fn main() {}
