//! The mask algorithms against the classic ones, on random graphs and beyond every mask width.

use proptest::prelude::*;

use super::rules::{Fixed, Growing, Rules};
use super::{GreedyColoring, acyclic, distance2, star};
use crate::algorithm::{ColoringAlgorithm, DecompressionKind, ProblemKind, distinct};
use crate::graph::Graph;
use crate::order::Lcg;
use crate::pattern::Pattern;

/// A random pattern with empty rows and columns, and an order of its vertices.
fn random_pattern(m: usize, n: usize, entries: usize, seed: u64) -> Pattern {
    let mut random = Lcg(seed);
    let mut place = || (random.below(m as u64) as usize, random.below(n as u64) as usize);
    Pattern::from_triplets(m, n, (0..entries).map(|_| place()).collect::<Vec<_>>()).unwrap()
}

fn symmetrized(p: &Pattern) -> Pattern {
    let n = p.nrows().max(p.ncols());
    Pattern::from_triplets(n, n, p.entries().flat_map(|(i, j)| [(i, j), (j, i)])).unwrap()
}

fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    Lcg(seed).shuffle(&mut order);
    order
}

const RULES: [Rules; 3] = [
    Rules { separate: false, implicit: false },
    Rules { separate: true, implicit: false },
    Rules { separate: true, implicit: true },
];

/// Smallest colour that differs from all columns that share a row.
fn naive_distance2(p: &Pattern, order: &[u32]) -> Vec<u32> {
    let mut colors = vec![u32::MAX; p.ncols()];
    for &v in order {
        let near = p.column(v as usize).iter().flat_map(|&i| p.row(i as usize));
        let forbidden: Vec<u32> = near.map(|&x| colors[x as usize]).collect();
        colors[v as usize] = (0..).find(|c| !forbidden.contains(c)).unwrap();
    }
    colors
}

fn masks_equal_classic(graph: &Graph, order: &[u32], rules: Rules) {
    let classic = star::classic(graph, order, rules);
    assert_eq!(star::masked::<Fixed<1>>(graph, order, rules).unwrap_or_else(|| classic.clone()), classic, "star 1");
    assert_eq!(star::masked::<Fixed<4>>(graph, order, rules).unwrap(), classic, "star 4");
    assert_eq!(star::masked::<Growing>(graph, order, rules).unwrap(), classic, "growing star");
    let ids = graph.edge_ids();
    let classic = acyclic::classic(graph, &ids, order, rules);
    assert_eq!(acyclic::masked::<Fixed<1>>(graph, &ids, order, rules).unwrap_or_else(|| classic.clone()), classic);
    assert_eq!(acyclic::masked::<Fixed<4>>(graph, &ids, order, rules).unwrap(), classic, "acyclic 4");
    assert_eq!(acyclic::masked::<Growing>(graph, &ids, order, rules).unwrap(), classic, "growing acyclic");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masks_give_the_colors_of_the_classic_algorithms(n in 1usize..40, density in 0usize..6, seed in any::<u64>()) {
        let p = symmetrized(&random_pattern(n, n, n * density / 2, seed));
        let graph = Graph::adjacency(&p);
        masks_equal_classic(&graph, &shuffled(n, seed ^ 1), RULES[0]);
    }

    #[test]
    fn masks_give_the_colors_of_the_classic_bicolorings(
        m in 1usize..30, n in 1usize..30, density in 0usize..6, seed in any::<u64>()
    ) {
        let p = random_pattern(m, n, m.max(n) * density / 2, seed);
        let graph = Graph::bipartite(&p);
        for rules in RULES {
            masks_equal_classic(&graph, &shuffled(m + n, seed ^ 1), rules);
        }
    }

    #[test]
    fn all_distance2_versions_agree(m in 1usize..40, n in 1usize..200, density in 0usize..9, seed in any::<u64>()) {
        let p = random_pattern(m, n, m.max(n) * density / 2, seed);
        let order = shuffled(n, seed ^ 1);
        let naive = naive_distance2(&p, &order);
        prop_assert_eq!(&distance2::masked::<4>(p.columns(), m, &order).unwrap(), &naive);
        prop_assert_eq!(&distance2::wide(p.columns(), p.rows(), &order), &naive);
        prop_assert_eq!(&distance2::color(p.columns(), m, &order, || p.rows()), &naive);
    }
}

#[test]
fn a_mask_that_is_too_narrow_gives_up() {
    let p = Pattern::dense(65, 65).unwrap();
    let order = shuffled(65, 3);
    assert_eq!(distance2::masked::<1>(p.columns(), 65, &order), None);
    assert!(distance2::masked::<2>(p.columns(), 65, &order).is_some());
    let graph = Graph::adjacency(&p);
    assert_eq!(star::masked::<Fixed<1>>(&graph, &order, Rules::default()), None);
    assert_eq!(acyclic::masked::<Fixed<1>>(&graph, &graph.edge_ids(), &order, Rules::default()), None);
    assert_eq!(star::color(&graph, &order, Rules::default()), star::classic(&graph, &order, Rules::default()));
}

#[test]
fn more_colors_than_the_widest_mask_are_found() {
    let n = 1100;
    let p = Pattern::from_fn(n, n, |i, j| i == 7 || i == j || (i + 1 == j && j % 3 == 0)).unwrap();
    let order = shuffled(n, 5);
    assert_eq!(distance2::masked::<16>(p.columns(), n, &order), None);
    assert_eq!(distance2::color(p.columns(), n, &order, || p.rows()), naive_distance2(&p, &order));
}

#[test]
fn a_dense_block_of_many_colors_takes_one_step_per_entry_and_word() {
    // In O(n d²) these would be 3·10⁹ steps for each of the four colourings.
    let n = 1500;
    let order = shuffled(n, 7);
    let mut expected = vec![0; n];
    order.iter().enumerate().for_each(|(c, &v)| expected[v as usize] = c as u32);
    let dense = Graph::adjacency(&Pattern::dense(n, n).unwrap());
    assert_eq!(star::color(&dense, &order, Rules::default()), expected);
    assert_eq!(acyclic::color(&dense, &order, Rules::default()), expected);
    // Beside it, a band that needs the first three colours.
    let block = Pattern::from_fn(n + 300, n + 300, |i, j| i.abs_diff(j) <= 1 || (i < n && j < n)).unwrap();
    let graph = Graph::adjacency(&block);
    let natural: Vec<u32> = (0..n as u32 + 300).collect();
    for colors in [star::color(&graph, &natural, Rules::default()), acyclic::color(&graph, &natural, Rules::default())]
    {
        assert_eq!(colors[..n], natural[..n]);
        assert!(colors[n..].iter().all(|&c| c < 3));
    }
}

#[test]
fn a_dense_pattern_without_diagonal_is_postprocessed_in_quadratic_time() {
    // One class of one vertex becomes neutral; a solution for each of the others would take a multiple of 400³ steps.
    let n = 400;
    let pattern = Pattern::from_fn(n, n, |i, j| i != j).unwrap();
    let colors =
        GreedyColoring::default().colors(&pattern, ProblemKind::Symmetric(DecompressionKind::Substitution)).unwrap();
    assert_eq!(distinct(&colors.columns), n - 1);
}

#[test]
fn a_dense_row_costs_linear_time() {
    // 200 000 columns in one row: a quadratic algorithm would take 2·10¹⁰ steps.
    let n = 200_000;
    let p = Pattern::from_triplets(2, n, (0..n).map(|j| (0, j))).unwrap();
    let order: Vec<u32> = (0..n as u32).collect();
    assert_eq!(distance2::color(p.columns(), 2, &order, || p.rows()), order);
}
