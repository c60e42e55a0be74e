//! Optimal colourings against the optima stored in the golden data.
#![cfg(feature = "optimal")]

mod generators;

use matrix_coloring::*;

#[test]
fn optima_are_those_of_the_golden_data() {
    let data: serde_json::Value = serde_json::from_str(include_str!("data/colouring.json")).unwrap();
    let optimal = OptimalColoring::default();
    let mut met = 0;
    for m in data["matrices"].as_array().unwrap().iter().filter(|m| !m["optimum_sat"].is_null()) {
        let p = generators::generate(m["generator"].as_str().unwrap());
        assert_eq!(generators::pattern_fnv(&p), m["pattern_fnv"]);
        let stored = |name: &str| m["optimum_sat"][name].as_u64().map(|k| k as usize);
        let mut compare = |name: &str, found: &dyn Fn() -> usize| {
            if let Some(expected) = stored(name) {
                assert_eq!(found(), expected, "{} {name}", m["id"]);
                met += 1;
            }
        };
        compare("column", &|| coloring(&p, Column, &optimal).unwrap().ncolors());
        compare("row", &|| coloring(&p, Row, &optimal).unwrap().ncolors());
        compare("star", &|| coloring(&p, Symmetric(Direct), &optimal).unwrap().ncolors());
        compare("acyclic", &|| coloring(&p, Symmetric(Substitution), &optimal).unwrap().ncolors());
        compare("star_bicoloring", &|| coloring(&p, Bidirectional(Direct), &optimal).unwrap().ncolors());
    }
    assert!(met > 100, "{met}");
    assert_eq!(generators::fnv([]), "14650fb0739d0383");
}
