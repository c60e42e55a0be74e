//! Empty: the benchmarks beside this file are programs of their own, `cargo bench -p differentiation-interface-benches --bench NAME`.
