//! Compress, decompress, compare: exact in integers for every problem, order, storage, layout and triangle.

use matrix_coloring::*;
use proptest::prelude::*;

/// Values of the golden data; symmetric if `symmetric`.
fn values(entries: impl Iterator<Item = (usize, usize)>, symmetric: bool) -> Vec<i64> {
    let value = |i: i64, j: i64| (131 * i + 17 * j + 7 * i * j) % 97 + 1;
    let at = |(i, j): (usize, usize)| if symmetric { (i.min(j), i.max(j)) } else { (i, j) };
    entries.map(at).map(|(i, j)| value(i as i64, j as i64)).collect()
}

/// Entries in storage order.
fn stored(p: &Pattern, storage: Storage) -> Vec<(usize, usize)> {
    let mut entries: Vec<_> = p.entries().collect();
    if storage == Storage::Csc {
        entries.sort_by_key(|&(i, j)| (j, i));
    }
    entries
}

const STORAGES: [Storage; 2] = [Storage::Csr, Storage::Csc];
const LAYOUTS: [Layout; 2] = [Layout::RowMajor, Layout::ColumnMajor];

fn orders(vertices: usize) -> Vec<GreedyColoring> {
    let given = (0..vertices as u32).rev().collect();
    let single = [
        Order::Natural,
        Order::NaturalRowsFirst,
        Order::Random(7),
        Order::LargestFirst,
        Order::LargestFirstApprox,
        Order::SmallestFirst,
        Order::SmallestLast,
        Order::ReverseSmallestLast,
        Order::IncidenceDegree,
        Order::DynamicLargestFirst,
        Order::PerfectElimination,
        Order::FlatTies(Dynamic::SmallestLast),
        Order::FlatTies(Dynamic::IncidenceDegree),
        Order::FlatTies(Dynamic::LargestFirst),
        Order::Given(given),
    ];
    let mut all: Vec<_> = single.into_iter().map(GreedyColoring::new).collect();
    all.push(GreedyColoring::best_of([Order::Natural, Order::LargestFirst]).iterated(3));
    all.push(GreedyColoring::best_of([]));
    all.push(GreedyColoring::fast());
    all.push(GreedyColoring::default());
    all
}

/// Columns `range` of a matrix with `lines` rows and `count` columns, or rows of its transpose.
fn chunk(b: &[i64], lines: usize, count: usize, range: std::ops::Range<usize>, colors_adjacent: bool) -> Vec<i64> {
    if colors_adjacent {
        (0..lines).flat_map(|l| b[l * count + range.start..l * count + range.end].to_vec()).collect()
    } else {
        b[range.start * lines..range.end * lines].to_vec()
    }
}

/// Ranges of two colours.
fn pairs(ncolors: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..ncolors.div_ceil(2)).map(move |k| 2 * k..(2 * k + 2).min(ncolors))
}

fn one_sided(p: &Pattern) {
    for (storage, layout) in STORAGES.into_iter().flat_map(|s| LAYOUTS.map(|l| (s, l))) {
        let a = values(stored(p, storage).into_iter(), false);
        for greedy in orders(p.ncols()) {
            let result = coloring(p, Column, &greedy).unwrap().with_storage(storage).with_layout(layout);
            check::structurally_orthogonal_columns(p, result.column_colors()).unwrap();
            let b = result.compress(&a).unwrap();
            assert_eq!(b.len(), p.nrows() * result.ncolors());
            assert_eq!(result.decompress(&b).unwrap(), a, "column {greedy:?}");
            let mut scattered = vec![0; a.len()];
            for range in pairs(result.ncolors()) {
                let part = chunk(&b, p.nrows(), result.ncolors(), range.clone(), layout == Layout::RowMajor);
                result.decompress_colors_into(&mut scattered, range, &part).unwrap();
            }
            assert_eq!(scattered, a);
        }
        for greedy in orders(p.nrows()) {
            let result = coloring(p, Row, &greedy).unwrap().with_storage(storage).with_layout(layout);
            check::structurally_orthogonal_rows(p, result.row_colors()).unwrap();
            let b = result.compress(&a).unwrap();
            assert_eq!(b.len(), p.ncols() * result.ncolors());
            assert_eq!(result.decompress(&b).unwrap(), a, "row {greedy:?}");
            let mut scattered = vec![0; a.len()];
            for range in pairs(result.ncolors()) {
                let part = chunk(&b, p.ncols(), result.ncolors(), range.clone(), layout == Layout::ColumnMajor);
                result.decompress_colors_into(&mut scattered, range, &part).unwrap();
            }
            assert_eq!(scattered, a);
        }
    }
}

fn symmetric<D: Decompression + Recovers<i64>>(p: &Pattern) {
    let a = values(p.entries(), true); // the same in CSR and CSC order
    for greedy in orders(p.ncols()).into_iter().flat_map(|g| [g.clone().postprocess(true), g]) {
        let result = coloring(p, Symmetric(D::default()), &greedy).unwrap();
        check::symmetrically_substitutable(p, result.column_colors()).unwrap();
        for (storage, layout) in STORAGES.into_iter().flat_map(|s| LAYOUTS.map(|l| (s, l))) {
            let result = result.clone().with_storage(storage).with_layout(layout);
            let b = result.compress(&a).unwrap();
            assert_eq!(b.len(), p.nrows() * result.ncolors());
            for triangle in [Triangle::Full, Triangle::Lower, Triangle::Upper] {
                let keeps = |&(i, j): &(usize, usize)| match triangle {
                    Triangle::Lower => i >= j,
                    Triangle::Upper => i <= j,
                    _ => true,
                };
                let expected = values(stored(p, storage).into_iter().filter(keeps), true);
                let result = result.clone().with_triangle(triangle);
                assert_eq!(result.decompress(&b).unwrap(), expected, "{greedy:?} {storage:?} {layout:?} {triangle:?}");
            }
        }
    }
}

fn star_chunks(p: &Pattern) {
    let a = values(p.entries(), true);
    for layout in LAYOUTS {
        let result = coloring(p, Symmetric(Direct), &GreedyColoring::default()).unwrap().with_layout(layout);
        let b = result.compress(&a).unwrap();
        let mut scattered = vec![0; a.len()];
        result.prepare_chunks();
        for range in pairs(result.ncolors()) {
            let part = chunk(&b, p.nrows(), result.ncolors(), range.clone(), layout == Layout::RowMajor);
            result.decompress_colors_into(&mut scattered, range, &part).unwrap();
        }
        assert_eq!(scattered, a);
    }
}

fn bidirectional<D: Decompression + Recovers<i64>>(p: &Pattern) {
    let palettes = [Palette::Implicit, Palette::Separate, Palette::Joint];
    let vertices = p.nrows() + p.ncols();
    let all = orders(vertices).into_iter().flat_map(|g| palettes.map(|palette| g.clone().palette(palette)));
    for greedy in all.flat_map(|g| [g.clone().postprocess(true), g]) {
        let result = coloring(p, Bidirectional(D::default()), &greedy).unwrap();
        check::bidirectionally_substitutable(p, result.row_colors(), result.column_colors()).unwrap();
        for (storage, layout) in STORAGES.into_iter().flat_map(|s| LAYOUTS.map(|l| (s, l))) {
            let a = values(stored(p, storage).into_iter(), false);
            let result = result.clone().with_storage(storage).with_layout(layout);
            let (columns, rows) = result.compress(&a).unwrap();
            assert_eq!((columns.len(), rows.len()), result.compressed_len());
            assert_eq!(result.decompress(&columns, &rows).unwrap(), a, "{greedy:?} {storage:?} {layout:?}");
        }
    }
}

fn bicoloring_chunks(p: &Pattern) {
    for (storage, layout) in STORAGES.into_iter().flat_map(|s| LAYOUTS.map(|l| (s, l))) {
        let a = values(stored(p, storage).into_iter(), false);
        let greedy = GreedyColoring::new(Order::Random(3));
        let result = coloring(p, Bidirectional(Direct), &greedy).unwrap().with_storage(storage).with_layout(layout);
        let (columns, rows) = result.compress(&a).unwrap();
        let mut scattered = vec![0; a.len()];
        let (kc, kr) = (result.ncolumn_colors(), result.nrow_colors());
        for range in pairs(kc) {
            let part = chunk(&columns, p.nrows(), kc, range.clone(), layout == Layout::RowMajor);
            result.decompress_column_colors_into(&mut scattered, range, &part).unwrap();
        }
        for range in pairs(kr) {
            let part = chunk(&rows, p.ncols(), kr, range.clone(), layout == Layout::ColumnMajor);
            result.decompress_row_colors_into(&mut scattered, range, &part).unwrap();
        }
        assert_eq!(scattered, a);
    }
}

fn everything(p: &Pattern) {
    one_sided(p);
    bidirectional::<Direct>(p);
    bidirectional::<Substitution>(p);
    bicoloring_chunks(p);
    if p.is_symmetric() {
        symmetric::<Direct>(p);
        symmetric::<Substitution>(p);
        star_chunks(p);
    }
}

#[test]
fn empty_and_tiny_matrices() {
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 1), (4, 4), (2, 5)] {
        everything(&Pattern::from_triplets(m, n, []).unwrap());
        everything(&Pattern::dense(m, n).unwrap());
    }
}

#[test]
fn no_diagonal() {
    everything(&Pattern::from_fn(9, 9, |i, j| i.abs_diff(j) == 1).unwrap());
    everything(&Pattern::from_fn(9, 9, |i, j| i + j == 8).unwrap());
    everything(&Pattern::from_fn(8, 8, |i, j| i != j && (i == 0 || j == 0 || i + j == 8)).unwrap());
}

#[test]
fn empty_rows_and_columns() {
    everything(&Pattern::from_fn(9, 9, |i, j| i % 3 != 1 && j % 3 != 1 && i.abs_diff(j) < 4).unwrap());
    everything(&Pattern::from_fn(7, 12, |i, j| i != 2 && j > 3 && (i * j) % 3 != 1).unwrap());
}

#[test]
fn more_colors_than_one_mask_word() {
    let p = Pattern::dense(65, 65).unwrap();
    let greedy = GreedyColoring::new(Order::Natural);
    let a = values(p.entries(), true);
    let star = coloring(&p, Symmetric(Direct), &greedy).unwrap();
    let acyclic = coloring(&p, Symmetric(Substitution), &greedy).unwrap();
    let column = coloring(&p, Column, &greedy).unwrap();
    let both = coloring(&p, Bidirectional(Substitution), &greedy).unwrap();
    assert_eq!((star.ncolors(), acyclic.ncolors(), column.ncolors()), (65, 65, 65));
    assert_eq!(star.decompress(&star.compress(&a).unwrap()).unwrap(), a);
    assert_eq!(acyclic.decompress(&acyclic.compress(&a).unwrap()).unwrap(), a);
    assert_eq!(column.decompress(&column.compress(&a).unwrap()).unwrap(), a);
    let (columns, rows) = both.compress(&a).unwrap();
    assert_eq!(both.decompress(&columns, &rows).unwrap(), a);
}

#[test]
fn long_chains_of_substitutions() {
    // Two colours on a tree: every entry but the leaves' needs another one first.
    let path = Pattern::from_fn(200, 200, |i, j| i.abs_diff(j) == 1).unwrap();
    let result = coloring(&path, Symmetric(Substitution), &GreedyColoring::new(Order::Natural)).unwrap();
    assert_eq!((result.ncolors(), result.substitutions()), (2, 197));
    let a = values(path.entries(), true);
    assert_eq!(result.decompress(&result.compress(&a).unwrap()).unwrap(), a);
}

fn pattern(max: usize, symmetric: bool) -> impl Strategy<Value = Pattern> {
    (1..max, 1..max).prop_flat_map(move |(m, n)| {
        let m = if symmetric { n } else { m };
        proptest::collection::vec((0..m, 0..n), 0..3 * max).prop_map(move |mut entries| {
            if symmetric {
                entries.extend(entries.clone().into_iter().map(|(i, j)| (j, i)));
            }
            Pattern::from_triplets(m, n, entries).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_symmetric_patterns(p in pattern(14, true)) {
        symmetric::<Direct>(&p);
        symmetric::<Substitution>(&p);
        star_chunks(&p);
    }

    #[test]
    fn random_patterns(p in pattern(14, false)) {
        one_sided(&p);
        bidirectional::<Direct>(&p);
        bidirectional::<Substitution>(&p);
        bicoloring_chunks(&p);
    }

    #[test]
    fn first_fit_colorings_satisfy_the_definitions(p in pattern(30, true), seed in any::<u64>()) {
        let greedy = GreedyColoring::new(Order::Random(seed));
        let star = coloring(&p, Symmetric(Direct), &greedy).unwrap();
        let acyclic = coloring(&p, Symmetric(Substitution), &greedy).unwrap();
        prop_assert_eq!(check::star_coloring(&p, star.column_colors()), Ok(()));
        prop_assert_eq!(check::acyclic_coloring(&p, acyclic.column_colors()), Ok(()));
        // Colourings that satisfy the definitions can be recovered from.
        let colors: Vec<u32> = (0..p.ncols() as u64).map(|v| ((seed >> (v % 60)) % 3) as u32).collect();
        if p.ncols() >= 3 && check::acyclic_coloring(&p, &colors).is_ok() {
            prop_assert_eq!(check::symmetrically_substitutable(&p, &colors), Ok(()));
        }
        if p.ncols() >= 3 && check::star_coloring(&p, &colors).is_ok() {
            prop_assert_eq!(check::symmetrically_orthogonal(&p, &colors), Ok(()));
        }
    }
}
