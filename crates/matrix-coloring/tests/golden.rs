//! Every row of the golden data: counts and hashes of first-fit colourings, bounds, bicolourings, worked examples.
//!
//! A debug build leaves out the largest matrices: those with more than [`ENTRIES`] entries for one colouring in a given
//! order, and with more than [`PORTFOLIO_ENTRIES`] for default colourings, which run dozens. `cargo test --release` runs
//! all of them, except the postprocessing of large acyclic bicolourings.

mod generators;

use generators::{fnv, generate, pattern_fnv};
use matrix_coloring::*;
use serde_json::Value;

const ENTRIES: u64 = 200_000;
const PORTFOLIO_ENTRIES: u64 = 15_000;

const DIRECT: DecompressionKind = DecompressionKind::Direct;
const SUBSTITUTION: DecompressionKind = DecompressionKind::Substitution;

fn data() -> Value {
    serde_json::from_str(include_str!("data/colouring.json")).unwrap()
}

/// The matrices of the file with their patterns; in a debug build those with at most `entries` entries.
fn matrices(data: &Value, entries: u64) -> Vec<(&Value, Pattern)> {
    let small = |m: &&Value| m["nnz"].as_u64().unwrap() <= entries || !cfg!(debug_assertions);
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
    for (m, p) in matrices(&data, ENTRIES) {
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
        ("smallest_last_flat", Order::FlatTies(Dynamic::SmallestLast)),
        ("incidence_degree_flat", Order::FlatTies(Dynamic::IncidenceDegree)),
        ("dynamic_largest_first_flat", Order::FlatTies(Dynamic::LargestFirst)),
    ];
    let mut checked = 0;
    for (m, p) in matrices(&data, ENTRIES) {
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

#[test]
fn colpack_finds_as_many_colors_in_the_same_order() {
    let data = data();
    // ColPack's incidence degree on graphs starts at another vertex, so only its other orders are the same.
    let orders = [
        ("NATURAL", Order::Natural),
        ("LARGEST_FIRST", Order::LargestFirst),
        ("SMALLEST_LAST", Order::SmallestLast),
        ("INCIDENCE_DEGREE", Order::IncidenceDegree),
        ("DYNAMIC_LARGEST_FIRST", Order::DynamicLargestFirst),
    ];
    let mut checked = 0;
    for (m, p) in matrices(&data, ENTRIES) {
        for (name, kind) in kinds() {
            let symmetric = matches!(kind, ProblemKind::Symmetric(_));
            for (order_name, order) in &orders {
                let expected = &m["colpack"][name][order_name];
                if expected.is_null() || symmetric && *order == Order::IncidenceDegree {
                    continue;
                }
                let colors = side(greedy(&p, kind, order.clone()), kind);
                assert_eq!(count(&colors), *expected, "{} {name} {order_name}", m["id"]);
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

fn bidirectional_kinds() -> [(&'static str, ProblemKind); 2] {
    [("star", ProblemKind::Bidirectional(DIRECT)), ("acyclic", ProblemKind::Bidirectional(SUBSTITUTION))]
}

#[test]
fn bicolorings_in_given_orders_have_the_stored_counts() {
    let data = data();
    let orders = [
        ("natural", Order::Natural),
        ("natural_rows_first", Order::NaturalRowsFirst),
        ("largest_first", Order::LargestFirst),
        ("random_lcg1", Order::Random(1)),
        ("smallest_last_lifo", Order::SmallestLast),
        ("incidence_degree_lifo", Order::IncidenceDegree),
        ("dynamic_largest_first_lifo", Order::DynamicLargestFirst),
        ("smallest_last_flat", Order::FlatTies(Dynamic::SmallestLast)),
        ("incidence_degree_flat", Order::FlatTies(Dynamic::IncidenceDegree)),
        ("dynamic_largest_first_flat", Order::FlatTies(Dynamic::LargestFirst)),
    ];
    let palettes =
        [("joint_palette", Palette::Joint), ("separate", Palette::Separate), ("implicit", Palette::Implicit)];
    let (mut checked, mut hashes, mut postprocessed) = (0, 0, 0);
    for (m, p) in matrices(&data, ENTRIES) {
        for (name, kind) in bidirectional_kinds() {
            for (palette_name, palette) in palettes {
                for (order_name, order) in &orders {
                    let expected = &m[format!("{name}_bicoloring_{palette_name}")][order_name];
                    if expected.is_null() {
                        continue;
                    }
                    let colors = GreedyColoring::new(order.clone()).palette(palette).colors(&p, kind).unwrap();
                    let what = format!("{} {name} {palette_name} {order_name}", m["id"]);
                    assert_eq!(
                        (count(&colors.rows), count(&colors.columns)),
                        (expected[0].as_u64().unwrap(), expected[1].as_u64().unwrap()),
                        "{what}"
                    );
                    if let (Some(rows), Some(columns)) = (expected[3].as_u64(), expected[4].as_u64())
                        && (p.nnz() as u64 <= PORTFOLIO_ENTRIES || name == "star" && !cfg!(debug_assertions))
                    {
                        let fewer = GreedyColoring::new(order.clone()).palette(palette).postprocess(true);
                        let colors = fewer.colors(&p, kind).unwrap();
                        let found = count(&colors.rows) + count(&colors.columns);
                        assert!(found <= rows + columns, "{what}, postprocessed: {found} against {rows} + {columns}");
                        postprocessed += 1;
                    }
                    checked += 1;
                    hashes += usize::from(
                        fnv(one_based(&colors.columns).into_iter().chain(one_based(&colors.rows)))
                            == expected[2].as_str().unwrap(),
                    );
                }
            }
        }
    }
    println!("{checked} bicolourings compared, {hashes} equal in every colour, {postprocessed} postprocessed");
    assert!(postprocessed > 100);
}

/// The matrix on which ColPack's incidence degree at distance two finds one colour less than the default portfolio.
const ONE_MORE: (&str, &str) = ("brusselator(32)", "acyclic");

#[test]
fn default_needs_no_more_colors_than_the_best_known() {
    let data = data();
    for (m, p) in matrices(&data, PORTFOLIO_ENTRIES) {
        for (name, kind) in kinds().into_iter().filter(|(name, _)| !m[name].is_null()) {
            let colors = side(GreedyColoring::default().colors(&p, kind).unwrap(), kind);
            let allowed = u64::from(ONE_MORE == (m["id"].as_str().unwrap(), name));
            let best = m["best_known"][name].as_u64().unwrap();
            assert!(count(&colors) <= best + allowed, "{} {name}: {} against {best}", m["id"], count(&colors));
            let valid = match kind {
                ProblemKind::Column => check::structurally_orthogonal_columns(&p, &colors),
                ProblemKind::Row => check::structurally_orthogonal_rows(&p, &colors),
                ProblemKind::Symmetric(DecompressionKind::Direct) => check::symmetrically_orthogonal(&p, &colors),
                _ => check::symmetrically_substitutable(&p, &colors),
            };
            assert_eq!(valid, Ok(()), "{} {name}", m["id"]);
        }
    }
}

#[test]
fn default_bicolorings_need_no_more_colors_than_the_best_known() {
    let data = data();
    for (m, p) in matrices(&data, PORTFOLIO_ENTRIES) {
        for (name, kind) in bidirectional_kinds() {
            let colors = GreedyColoring::default().colors(&p, kind).unwrap();
            let found = count(&colors.rows) + count(&colors.columns);
            let best = m["best_known"][format!("{name}_bicoloring")].as_u64().unwrap();
            assert!(found <= best, "{} {name}: {found} against {best}", m["id"]);
            let valid = match name {
                "star" => check::structurally_biorthogonal(&p, &colors.rows, &colors.columns),
                _ => check::bidirectionally_substitutable(&p, &colors.rows, &colors.columns),
            };
            assert_eq!(valid, Ok(()), "{} {name}", m["id"]);
        }
    }
}

#[test]
fn greedy_never_beats_a_proven_optimum() {
    let data = data();
    let mut met = 0;
    for (m, p) in matrices(&data, ENTRIES).into_iter().filter(|(m, _)| !m["optimum_sat"].is_null()) {
        for (name, kind) in kinds() {
            if let Some(optimum) = m["optimum_sat"][name].as_u64() {
                let colors = greedy(&p, kind, Order::SmallestLast);
                assert!(count(&side(colors, kind)) >= optimum, "{} {name}", m["id"]);
                met += 1;
            }
        }
    }
    assert!(met > 80, "{met}");
}

#[test]
fn postprocessing_drops_as_many_colors_as_stored() {
    let data = data();
    let orders =
        [("natural", Order::Natural), ("largest_first", Order::LargestFirst), ("random_lcg1", Order::Random(1))];
    let mut dropped = 0;
    for (m, p) in matrices(&data, ENTRIES).into_iter().filter(|(m, _)| !m["star"].is_null()) {
        for (name, kind) in kinds().into_iter().skip(2) {
            for (order_name, order) in &orders {
                let colors = GreedyColoring::new(order.clone()).postprocess(true).colors(&p, kind).unwrap().columns;
                let stored = m[format!("{name}_postprocessed_colors")][order_name].as_u64().unwrap();
                assert!(
                    count(&colors) <= stored,
                    "{} {name} {order_name}: {} against {stored}",
                    m["id"],
                    count(&colors)
                );
                dropped += u64::from(count(&colors) < m[name][order_name][0].as_u64().unwrap());
            }
        }
    }
    assert!(dropped > 0);
}

#[test]
fn every_vertex_of_a_dynamic_order_has_extremal_degree() {
    let data = data();
    let rules = [
        (Order::SmallestLast, Dynamic::SmallestLast),
        (Order::IncidenceDegree, Dynamic::IncidenceDegree),
        (Order::DynamicLargestFirst, Dynamic::LargestFirst),
        (Order::FlatTies(Dynamic::SmallestLast), Dynamic::SmallestLast),
        (Order::FlatTies(Dynamic::IncidenceDegree), Dynamic::IncidenceDegree),
        (Order::FlatTies(Dynamic::LargestFirst), Dynamic::LargestFirst),
    ];
    for (m, p) in matrices(&data, ENTRIES).into_iter().filter(|(_, p)| p.nrows() <= 2000) {
        for (order, rule) in &rules {
            for vertices in [Vertices::Columns, Vertices::Rows, Vertices::Symmetric, Vertices::Both] {
                if vertices == Vertices::Symmetric && !p.is_symmetric() {
                    continue;
                }
                let mut order = order.permutation(&p, vertices).unwrap();
                assert_eq!(check::dynamic_order(&p, vertices, &order, *rule), Ok(()), "{} {vertices:?}", m["id"]);
                if m["id"] == "arrowhead(10)" && vertices == Vertices::Symmetric && *rule != Dynamic::IncidenceDegree {
                    order.reverse();
                    assert!(check::dynamic_order(&p, vertices, &order, *rule).is_err());
                }
            }
        }
    }
}

/// The matrix of a worked example, with its values in row-major order.
fn matrix(case: &Value) -> (Pattern, Vec<i64>) {
    if let Some(generator) = case["generator"].as_str() {
        return (generate(generator), Vec::new());
    }
    let rows = if case["A"].is_null() { &case["pattern"] } else { &case["A"] };
    let rows: Vec<Vec<i64>> = serde_json::from_value(rows.clone()).unwrap();
    let p = Pattern::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j] != 0).unwrap();
    let values = p.entries().map(|(i, j)| rows[i][j]).collect();
    (p, values)
}

fn zero_based(colors: &[u32]) -> Vec<u32> {
    colors.iter().map(|&c| c.wrapping_sub(1)).collect()
}

fn vectors(value: &Value) -> Vec<Vec<u32>> {
    serde_json::from_value::<Vec<Vec<u32>>>(value.clone()).unwrap().iter().map(|c| zero_based(c)).collect()
}

#[test]
fn worked_examples_come_out_exactly() {
    let data = data();
    let mut met = 0;
    for case in data["exact_cases"].as_array().unwrap() {
        let (id, problem) = (case["id"].as_str().unwrap(), case["problem"].as_str().unwrap());
        let (p, values) = matrix(case);
        let kind = kinds().into_iter().find(|(name, _)| *name == problem).map(|(_, kind)| kind);
        met += 1;
        if let (Some(kind), Some(colors)) = (kind, case["colors"].as_array()) {
            let found = one_based(&side(greedy(&p, kind, Order::Natural), kind));
            assert_eq!(found, serde_json::from_value::<Vec<u32>>(colors.clone().into()).unwrap(), "{id}");
            if let Ok(b) = serde_json::from_value::<Vec<Vec<i64>>>(case["B"].clone()) {
                let natural = GreedyColoring::new(Order::Natural);
                let compressed = match kind {
                    ProblemKind::Column => coloring(&p, Column, &natural).unwrap().compress(&values),
                    _ => coloring(&p, Row, &natural).unwrap().compress(&values),
                };
                assert_eq!(compressed.unwrap(), b.concat(), "{id}");
            }
        } else if let Some(kind) = kind.filter(|_| id.starts_with("lf_beats_natural")) {
            let colors = |order| count(&side(greedy(&p, kind, order), kind));
            assert!(colors(Order::LargestFirst) < colors(Order::Natural), "{id}");
        } else if id == "what_color_fig_6_1_valid_acyclic" {
            let colors: Vec<u32> = serde_json::from_value(case["valid_colors"].clone()).unwrap();
            assert_eq!(check::acyclic_coloring(&p, &zero_based(&colors)), Ok(()));
            assert_eq!(check::symmetrically_substitutable(&p, &zero_based(&colors)), Ok(()));
        } else if problem == "order" {
            let order = Order::LargestFirst.permutation(&p, Vertices::Symmetric).unwrap();
            assert_eq!(case["order_1based"], serde_json::json!(order.iter().map(|v| v + 1).collect::<Vec<_>>()));
        } else if id.starts_with("bicol") {
            bicoloring_example(id, &p);
        } else {
            validator_example(id, case, &p);
        }
    }
    assert_eq!(met, 19);
}

fn bicoloring_example(id: &str, p: &Pattern) {
    let joint = |order: Order, postprocess, kind| {
        let algorithm = GreedyColoring::new(order).palette(Palette::Joint).postprocess(postprocess);
        let colors = algorithm.colors(p, kind).unwrap();
        count(&colors.rows) + count(&colors.columns)
    };
    for (_, kind) in bidirectional_kinds() {
        match id {
            "bicol_antidiag4" => {
                let found = (joint(Order::Natural, false, kind), joint(Order::Natural, true, kind));
                assert_eq!(found, (2, 1));
            }
            "bicol_triangle" => assert_eq!(joint(Order::Natural, true, kind), 3),
            "bicol_frame" => {
                let direct = ProblemKind::Bidirectional(DIRECT);
                assert_eq!(joint(Order::Natural, true, direct), 10);
                assert_eq!(joint(Order::LargestFirst, true, direct), 20);
                let colors = GreedyColoring::default().colors(p, kind).unwrap();
                assert_eq!(count(&colors.rows) + count(&colors.columns), 4);
            }
            _ => panic!("unknown example {id}"),
        }
    }
}

fn validator_example(id: &str, case: &Value, p: &Pattern) {
    match id {
        "validator_structurally_orthogonal" => {
            for colors in vectors(&case["valid"]) {
                assert_eq!(check::structurally_orthogonal_columns(p, &colors), Ok(()));
            }
            for colors in vectors(&case["invalid"]) {
                assert!(check::structurally_orthogonal_columns(p, &colors).is_err());
            }
        }
        "validator_symmetrically_orthogonal_fig41" | "validator_symmetrically_orthogonal_eff1" => {
            for colors in vectors(&case["valid"]) {
                assert_eq!(check::symmetrically_orthogonal(p, &colors), Ok(()));
                assert_eq!(check::star_coloring(p, &colors), Ok(()));
            }
            for colors in vectors(&case["invalid"]) {
                assert!(check::symmetrically_orthogonal(p, &colors).is_err(), "{id} {colors:?}");
                assert!(check::star_coloring(p, &colors).is_err(), "{id} {colors:?}");
            }
        }
        "validator_biorthogonal" => {
            for (list, expected) in [(&case["valid"], true), (&case["invalid"], false)] {
                for pair in list.as_array().unwrap() {
                    let [rows, columns] = &vectors(pair)[..] else { panic!("not a pair") };
                    assert_eq!(check::structurally_biorthogonal(p, rows, columns).is_ok(), expected, "{pair}");
                }
            }
        }
        _ => panic!("unknown example {id}"),
    }
}
