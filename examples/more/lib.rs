//! Empty: the examples beside this file are programs of their own, `cargo run --release --example NAME`.
