//! Every row of the golden data: counts and hashes of first-fit colourings, bounds, bicolourings, worked examples.
//!
//! Matrices with more than 50 000 rows are part of the test only in release builds (`cargo test --release`); a debug build
//! spends its time on the others.

mod generators;

use generators::{fnv, generate, pattern_fnv};
use matrix_coloring::*;
use serde_json::Value;

const DIRECT: Decompression = Decompression::Direct;
const SUBSTITUTION: Decompression = Decompression::Substitution;

fn data() -> Value {
    serde_json::from_str(include_str!("data/colouring.json")).unwrap()
}

/// The matrices of the file with their patterns; `large` asks for those above 50 000 rows.
fn matrices(data: &Value) -> Vec<(&Value, Pattern)> {
    let small = |m: &&Value| m["m"].as_u64().unwrap() <= 50_000 || !cfg!(debug_assertions);
    let all: Vec<_> = data["matrices"].as_array().unwrap().iter().filter(small).collect();
    all.into_iter().map(|m| (m, generate(m["generator"].as_str().unwrap()))).collect()
}

fn one_based(colors: &[u32]) -> Vec<u32> {
    colors.iter().map(|&c| if c == NEUTRAL { 0 } else { c + 1 }).collect()
}

fn count(colors: &[u32]) -> u64 {
    one_based(colors).into_iter().max().unwrap_or(0).into()
}

fn greedy(p: &Pattern, problem: ProblemKind, order: Order) -> Colors {
    GreedyColoring::new(order).colors(p, problem).unwrap()
}

fn kinds() -> [(&'static str, ProblemKind); 4] {
    [
        ("column", ProblemKind::Column),
        ("row", ProblemKind::Row),
        ("star", ProblemKind::Symmetric(DIRECT)),
        ("acyclic", ProblemKind::Symmetric(SUBSTITUTION)),
    ]
}

fn side(colors: Colors, problem: ProblemKind) -> Vec<u32> {
    if problem == ProblemKind::Row { colors.rows } else { colors.columns }
}

#[test]
fn generated_patterns_equal_the_stored_ones() {
    let data = data();
    for (m, p) in matrices(&data) {
        let expected = (m["m"].as_u64(), m["n"].as_u64(), m["nnz"].as_u64());
        assert_eq!((Some(p.nrows() as u64), Some(p.ncols() as u64), Some(p.nnz() as u64)), expected, "{}", m["id"]);
        assert_eq!(pattern_fnv(&p), m["pattern_fnv"], "{}", m["id"]);
        assert_eq!(p.max_row_nnz() as u64, m["max_row_nnz"], "{}", m["id"]);
        assert_eq!(p.max_column_nnz() as u64, m["max_col_nnz"], "{}", m["id"]);
        assert_eq!(p.is_symmetric(), m["pattern_symmetric"], "{}", m["id"]);
    }
}

#[test]
fn first_fit_colors_are_bit_identical() {
    let data = data();
    let orders = [
        ("natural", Order::Natural),
        ("largest_first", Order::LargestFirst),
        ("random_lcg1", Order::Random(1)),
        ("smallest_last_lifo", Order::SmallestLast),
        ("incidence_degree_lifo", Order::IncidenceDegree),
        ("dynamic_largest_first_lifo", Order::DynamicLargestFirst),
    ];
    let mut checked = 0;
    for (m, p) in matrices(&data) {
        for (name, kind) in kinds() {
            for (order_name, order) in &orders {
                let expected = &m[name][order_name];
                if expected.is_null() {
                    continue;
                }
                let colors = side(greedy(&p, kind, order.clone()), kind);
                assert_eq!(count(&colors), expected[0], "{} {name} {order_name}", m["id"]);
                assert_eq!(fnv(one_based(&colors)), expected[1], "{} {name} {order_name}", m["id"]);
                checked += 1;
            }
        }
    }
    println!("{checked} colour vectors compared");
    assert!(checked > 1000);
}
