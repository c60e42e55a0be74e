//! Points, outputs, seeds and results that are containers: structs, tuples, vectors and matrices of other crates.

mod structs;
