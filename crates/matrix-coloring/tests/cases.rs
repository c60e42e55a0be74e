//! Worked examples and theory from the literature and from SparseMatrixColorings.jl.
//!
//! Colours of the sources start at 1; here at 0.

use matrix_coloring::*;

fn natural() -> GreedyColoring {
    GreedyColoring::new(Order::Natural)
}

fn rows<const N: usize>(rows: &[[u8; N]]) -> Pattern {
    Pattern::from_fn(rows.len(), N, |i, j| rows[i][j] != 0).unwrap()
}

/// Figure 1 of Gebremedhin, Pothen, Tarafdar, Walther 2009.
fn efficient() -> Pattern {
    rows(&[
        [1, 1, 0, 0, 0, 0, 1, 0, 0, 0],
        [1, 1, 1, 0, 1, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 0, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 1, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, 1, 1, 0, 0, 1, 0],
        [1, 0, 0, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0, 1, 1, 1, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 1, 1],
        [0, 0, 0, 1, 0, 0, 0, 0, 1, 1],
    ])
}

/// Figure 4.1 of Gebremedhin, Manne, Pothen 2005.
fn what_color() -> Pattern {
    rows(&[
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 0],
        [0, 0, 1, 1, 0, 1],
        [0, 1, 0, 0, 1, 0],
        [0, 1, 0, 1, 0, 1],
    ])
}

#[test]
fn groups_of_the_documented_column_coloring() {
    let p = rows(&[[0, 0, 1, 1, 0, 1], [1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 1, 1, 0, 0, 0]]);
    let result = coloring(&p, Column, &natural()).unwrap();
    assert_eq!(result.column_colors(), [0, 0, 1, 0, 1, 2]);
    let groups: Vec<_> = result.column_groups().iter().collect();
    assert_eq!(groups, [&[0, 1, 3][..], &[2, 4], &[5]]);
    assert_eq!(result.compress(&[4, 6, 9, 1, 7, 2, 8, 3, 5]).unwrap(), [6, 4, 9, 1, 7, 0, 2, 8, 0, 3, 5, 0]);
}

#[test]
fn star_and_acyclic_figures() {
    let star = coloring(&what_color(), Symmetric(Direct), &natural()).unwrap();
    assert_eq!(star.column_colors(), [0, 1, 0, 2, 0, 0]);
    let star = coloring(&efficient(), Symmetric(Direct), &natural()).unwrap();
    assert_eq!(star.column_colors(), [0, 1, 0, 2, 0, 3, 2, 4, 0, 1]);
    let acyclic = coloring(&efficient(), Symmetric(Substitution), &natural()).unwrap();
    assert_eq!(acyclic.column_colors(), [0, 1, 0, 1, 0, 2, 1, 2, 1, 0]);
}

#[test]
fn validators_name_the_entry() {
    let valid = [0, 1, 0, 1, 0, 2, 1, 2, 1, 2];
    assert_eq!(check::acyclic_coloring(&efficient(), &valid), Ok(()));
    // Colours 1 3 1 3 1 1 of the source: entry (2, 3), counted from 1, conflicts.
    let error = check::symmetrically_orthogonal(&what_color(), &[0, 2, 0, 2, 0, 0]).unwrap_err();
    let conflict = Conflict::NotReadable;
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 1, column: 2, conflict });
    let error = check::star_coloring(&what_color(), &[0, 2, 0, 2, 0, 0]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 1, column: 2, conflict });

    let cycle = Pattern::from_fn(4, 4, |i, j| i == j || (i + 1) % 4 == j || (j + 1) % 4 == i).unwrap();
    let conflict = Conflict::Cycle;
    let error = check::acyclic_coloring(&cycle, &[0, 1, 0, 1]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 2, column: 3, conflict });
    let error = check::symmetrically_substitutable(&cycle, &[0, 1, 0, 1]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 0, column: 1, conflict });
    let error = check::bidirectionally_substitutable(&cycle, &[0, 1, 0, 1], &[0, 1, 0, 1]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidColoring { conflict: Conflict::Cycle, .. }));

    let error = check::acyclic_coloring(&cycle, &[0, 0, 1, 2]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 0, column: 1, conflict: Conflict::Adjacent });
    let error = check::structurally_biorthogonal(&cycle, &[NEUTRAL; 4], &[NEUTRAL; 4]).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 0, column: 0, conflict: Conflict::Neutral });
    let error = check::structurally_orthogonal_rows(&cycle, &[0, 1, 2, 1]).unwrap_err();
    let conflict = Conflict::SharedInColumn(1);
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 3, column: 0, conflict });
}

#[test]
fn colors_of_bands_are_those_of_theory() {
    for n in [5000, 10_000, 20_000] {
        for h in [5, 10] {
            let p = Pattern::banded(n, h).unwrap();
            assert_eq!(coloring(&p, Symmetric(Direct), &natural()).unwrap().ncolors(), 2 * h + 1);
            assert_eq!(coloring(&p, Symmetric(Substitution), &natural()).unwrap().ncolors(), h + 1);
        }
    }
}

#[test]
fn perfect_elimination_recovers_a_permuted_band() {
    for (n, h) in [(800, 80), (400, 40), (200, 20), (100, 10)] {
        let shuffle = Order::Random(9).permutation(&Pattern::banded(n, 0).unwrap(), Vertices::Columns);
        let shuffle = shuffle.unwrap();
        let entries = Pattern::banded(n, h).unwrap();
        let permuted = entries.entries().map(|(i, j)| (shuffle[i] as usize, shuffle[j] as usize));
        let p = Pattern::from_triplets(n, n, permuted).unwrap();
        let greedy = GreedyColoring::new(Order::PerfectElimination);
        assert_eq!(coloring(&p, Symmetric(Substitution), &greedy).unwrap().ncolors(), h + 1);
        assert!(coloring(&p, Symmetric(Substitution), &natural()).unwrap().ncolors() > h + 1);
    }
}

#[test]
fn largest_first_needs_the_optimum_of_figure_3_1() {
    let p =
        rows(&[[1, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1, 1, 0]]);
    assert_eq!(coloring(&p, Column, &natural()).unwrap().column_colors(), [0, 0, 0, 0, 1, 2, 3, 4]);
    let largest = GreedyColoring::new(Order::LargestFirst);
    assert_eq!(coloring(&p, Column, &largest).unwrap().column_colors(), [0, 1, 2, 3, 0, 1, 2, 3]);
    // Distance-2 degrees 3, 3, 3, 3, 6, 6, 6, 6: the last four come first.
    let order = Order::LargestFirst.permutation(&p, Vertices::Columns).unwrap();
    assert_eq!(order, [4, 5, 6, 7, 0, 1, 2, 3]);
}

#[test]
fn a_tuple_of_orders_keeps_the_fewest_colors() {
    let cases = [
        (rows(&[[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]]), ProblemKind::Column, (3, 2)),
        (
            rows(&[[0, 1, 0, 1, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 1, 0, 1, 0], [1, 0, 1, 0, 0]]),
            ProblemKind::Symmetric(DecompressionKind::Direct),
            (4, 3),
        ),
    ];
    for (p, kind, (natural_count, best)) in cases {
        let count = |greedy: GreedyColoring| greedy.colors(&p, kind).unwrap().columns.into_iter().max().unwrap() + 1;
        assert_eq!(count(natural()), natural_count);
        assert_eq!(count(GreedyColoring::best_of([Order::Natural, Order::LargestFirst])), best);
        assert_eq!(count(GreedyColoring::best_of([Order::LargestFirst, Order::Natural])), best);
    }
}

#[test]
fn mixed_mode_is_never_worse_than_one_side() {
    // Two stacked difference operators, 10 x 6: 2 column colours, which joint star colouring misses.
    let p = Pattern::from_fn(10, 6, |i, j| j == i % 5 || j == i % 5 + 1).unwrap();
    let greedy = GreedyColoring::default();
    assert_eq!(coloring(&p, Column, &greedy).unwrap().ncolors(), 2);
    assert_eq!(coloring(&p, Row, &greedy).unwrap().ncolors(), 4);
    let both = coloring(&p, Bidirectional(Direct), &greedy).unwrap();
    assert_eq!((both.ncolumn_colors(), both.nrow_colors()), (2, 0));
    assert_eq!(coloring(&p, Bidirectional(Substitution), &greedy).unwrap().ncolors(), 2);
    let joint = natural().palette(Palette::Joint);
    assert!(coloring(&p, Bidirectional(Direct), &joint).unwrap().ncolors() > 2);
}

#[test]
fn arrowhead_by_substitution_needs_no_more_than_direct() {
    let p = Pattern::from_fn(10, 10, |i, j| i == 0 || j == 0 || i == j).unwrap();
    let joint = |post| natural().palette(Palette::Joint).postprocess(post);
    let direct = |post| coloring(&p, Bidirectional(Direct), &joint(post)).unwrap().ncolors();
    let substitution = |post| coloring(&p, Bidirectional(Substitution), &joint(post)).unwrap().ncolors();
    assert_eq!((direct(false), direct(true)), (11, 10));
    assert_eq!((substitution(false), substitution(true)), (3, 3));
}

#[test]
fn identity_needs_one_product() {
    let p = Pattern::banded(10, 0).unwrap();
    let greedy = GreedyColoring::default();
    assert_eq!(coloring(&p, Column, &greedy).unwrap().ncolors(), 1);
    assert_eq!(coloring(&p, Row, &greedy).unwrap().ncolors(), 1);
    assert_eq!(coloring(&p, Symmetric(Direct), &greedy).unwrap().ncolors(), 1);
    let joint = natural().palette(Palette::Joint).postprocess(true);
    let both = coloring(&p, Bidirectional(Direct), &joint).unwrap();
    assert_eq!((both.nrow_colors(), both.ncolumn_colors()), (1, 0));
    assert!(both.column_groups().is_empty());
    let values: Vec<i32> = (1..11).collect();
    let (columns, rows) = both.compress(&values).unwrap();
    assert_eq!((columns.len(), both.decompress(&columns, &rows).unwrap()), (0, values));
}

#[test]
fn tutorial_jacobian_has_four_colors() {
    let p = rows(&[
        [1, 1, 0, 0, 0, 0, 1, 1],
        [0, 1, 1, 0, 0, 1, 1, 0],
        [0, 0, 1, 1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 0, 0, 0],
        [0, 0, 1, 1, 1, 1, 0, 0],
        [0, 1, 1, 0, 0, 1, 1, 0],
        [1, 1, 0, 0, 0, 0, 1, 1],
    ]);
    assert_eq!(coloring(&p, Column, &natural()).unwrap().column_colors(), [0, 1, 0, 1, 2, 3, 2, 3]);
}

#[test]
fn upper_bands_and_their_quadratic_forms() {
    for (b, nnz, symmetric_nnz) in [(5, 285, 520), (10, 495, 940), (20, 840, 1630)] {
        let p = Pattern::from_fn(50, 50, |i, j| j >= i && j - i <= b).unwrap();
        assert_eq!(p.nnz(), nnz);
        assert_eq!(coloring(&p, Column, &natural()).unwrap().ncolors(), b + 1);
        assert_eq!(coloring(&p, Row, &natural()).unwrap().ncolors(), b + 1);
        let p = Pattern::banded(50, b).unwrap();
        assert_eq!(p.nnz(), symmetric_nnz);
        assert_eq!(coloring(&p, Symmetric(Direct), &natural()).unwrap().ncolors(), 2 * b + 1);
        assert_eq!(coloring(&p, Symmetric(Substitution), &natural()).unwrap().ncolors(), b + 1);
    }
}

#[test]
fn random_orders_repeat_with_their_seed() {
    let p = Pattern::banded(300, 3).unwrap();
    let colors =
        |seed| coloring(&p, Column, &GreedyColoring::new(Order::Random(seed))).unwrap().column_colors().to_vec();
    assert_eq!(colors(4), colors(4));
    assert_ne!(colors(4), colors(5));
}

#[test]
fn given_orders_must_be_permutations() {
    let p = Pattern::banded(3, 1).unwrap();
    let kind =
        |order: Vec<u32>| coloring(&p, Column, &GreedyColoring::new(Order::Given(order))).unwrap_err().kind().clone();
    assert_eq!(kind(vec![0, 1]), ErrorKind::NotAPermutation { position: 2 });
    assert_eq!(kind(vec![0, 1, 1]), ErrorKind::NotAPermutation { position: 2 });
    assert_eq!(kind(vec![3, 1, 2]), ErrorKind::NotAPermutation { position: 0 });
    let good = GreedyColoring::new(Order::Given(vec![2, 1, 0]));
    assert_eq!(coloring(&p, Column, &good).unwrap().column_colors(), [2, 1, 0]);
}

#[test]
fn iterated_greedy_never_needs_more_colors() {
    let p = Pattern::from_fn(60, 60, |i, j| (i * i + 3 * j) % 11 == 0 || i == j).unwrap();
    for seed in 0..20 {
        let count = |passes| {
            let greedy = GreedyColoring::new(Order::Random(seed)).iterated(passes);
            coloring(&p, Column, &greedy).unwrap().ncolors()
        };
        assert!(count(6) <= count(0), "seed {seed}");
    }
}

#[test]
fn approximate_degrees_count_a_neighbor_once_per_shared_row() {
    // Columns 0 and 1 share three rows (bound 3, degree 1); column 2 has two distinct neighbours in one row.
    let p = rows(&[[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]);
    let order = |order: Order| order.permutation(&p, Vertices::Columns).unwrap();
    assert_eq!(order(Order::LargestFirst), [2, 3, 4, 0, 1]);
    assert_eq!(order(Order::LargestFirstApprox), [0, 1, 2, 3, 4]);
    assert_eq!(order(Order::SmallestFirst), [0, 1, 2, 3, 4]);
    assert_eq!(Order::NaturalRowsFirst.permutation(&p, Vertices::Both).unwrap(), [5, 6, 7, 8, 0, 1, 2, 3, 4]);
    let last = order(Order::SmallestLast);
    assert_eq!(order(Order::ReverseSmallestLast), last.into_iter().rev().collect::<Vec<_>>());
}
