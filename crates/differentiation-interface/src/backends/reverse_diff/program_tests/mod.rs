//! Tests of the engine that chooses, with programs that are machine code.

mod interrupted;
mod lasting;
mod paths;
mod price;
mod products;
mod tiers;
