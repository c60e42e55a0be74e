//! Tests of the engine that chooses, with programs that are machine code.

mod earlier_constants;
mod interrupted;
mod paths;
mod price;
mod products;
mod tiers;
