//! Drawn programs as data, and every engine of the library that can run one.
//!
//! The binary of this crate draws the programs and compares the results of the engines with its reference. The engines are a library of
//! their own so that they are compiled once for the binary and its tests.

#![allow(
    missing_docs,
    reason = "not published; variants and fields bear the names of the functions and parts they stand for"
)]

pub mod engines;
pub mod function;
mod print;
pub mod program;
mod rules;
