//! Decompression: wide indices, targets, chunks, refusals.

use crate::*;

fn arrow() -> Pattern {
    Pattern::from_fn(6, 6, |i, j| i == 0 || j == 0 || i == j).unwrap()
}

#[test]
fn a_compressed_matrix_beyond_u32_is_addressed() {
    // 70 000 columns in one row need 70 000 colours: 70 000² entries. Values of size zero make that affordable.
    let n = 70_000;
    let entries = (0..n).map(|j| (3, j)).chain((0..n).map(|i| (i, i)));
    let p = Pattern::from_triplets(n, n, entries).unwrap();
    let result = coloring(&p, Column, &GreedyColoring::new(Order::Natural)).unwrap();
    assert_eq!(result.ncolors(), n);
    assert_eq!(result.compressed_len(), 4_900_000_000);
    let compressed = vec![(); result.compressed_len()];
    assert_eq!(result.decompress(&compressed).unwrap().len(), p.nnz());

    // The chunks fill all values: column j of A is product j.
    let mut values = vec![0u32; p.nnz()];
    let mut product = vec![0u32; n];
    for c in [0, 1, 65_535, n - 1] {
        product[3] = 7 + c as u32;
        product[c] = 7 + c as u32;
        result.decompress_colors_into(&mut values, c..c + 1, &product).unwrap();
        product[c] = 0;
        assert_eq!(values[p.position(3, c).unwrap()], 7 + c as u32);
        assert_eq!(values[p.position(c, c).unwrap()], 7 + c as u32);
    }
    assert_eq!(values.iter().filter(|v| **v != 0).count(), 8);
}

#[test]
fn every_target_holds_the_same_matrix() {
    let p = arrow();
    let greedy = GreedyColoring::default();
    let value = |i: usize, j: usize| (10 * i.min(j) + i.max(j)) as i32 + 1;
    let full: Vec<i32> = p.entries().map(|(i, j)| value(i, j)).collect();
    let star = coloring(&p, Symmetric(Direct), &greedy).unwrap();
    let b = star.compress(&full).unwrap();
    for (triangle, keeps) in [
        (Triangle::Full, (|_, _| true) as fn(usize, usize) -> bool),
        (Triangle::Lower, |i, j| i >= j),
        (Triangle::Upper, |i, j| i <= j),
    ] {
        let rows: Vec<i32> = p.entries().filter(|&(i, j)| keeps(i, j)).map(|(i, j)| value(i, j)).collect();
        let columns: Vec<i32> = p.entries().filter(|&(j, i)| keeps(i, j)).map(|(j, i)| value(i, j)).collect();
        let csr = star.clone().with_triangle(triangle);
        assert_eq!(csr.decompress(&b).unwrap(), rows);
        assert_eq!(csr.with_storage(Storage::Csc).decompress(&b).unwrap(), columns);
    }
}

#[test]
fn wrong_lengths_and_ranges_are_refused() {
    let result = coloring(&arrow(), Column, &GreedyColoring::default()).unwrap();
    let mut values = vec![0; 16];
    let kind = |r: Result<(), Error>| r.unwrap_err().kind().clone();
    let short = kind(result.decompress_into(&mut values[1..], &[0; 36]));
    assert_eq!(short, ErrorKind::Length { what: "values", expected: 16, found: 15 });
    let short = kind(result.decompress_into(&mut values, &[0; 35]));
    assert_eq!(short, ErrorKind::Length { what: "compressed columns", expected: 36, found: 35 });
    let short = kind(result.decompress_colors_into(&mut values, 1..3, &[0; 11]));
    assert_eq!(short, ErrorKind::Length { what: "compressed chunk", expected: 12, found: 11 });
    let range = kind(result.decompress_colors_into(&mut values, 5..7, &[0; 12]));
    assert_eq!(range, ErrorKind::ColorRange { end: 7, ncolors: 6 });
    assert_eq!(
        result.decompress_colors_into(&mut values, 5..7, &[0; 12]).unwrap_err().to_string(),
        "colours up to 7 were requested, there are 6; shorten the range"
    );
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake under test")]
    let descending = result.decompress_colors_into(&mut values, 2..1, &[]);
    assert_eq!(
        descending.unwrap_err().to_string(),
        "the range of colours ends at 1, before its start; pass a range within 0..6 that does not descend"
    );
    assert!(result.compress(&[1; 3]).is_err());
    assert!(result.decompress(&[1; 3]).is_err());
}

#[test]
fn colors_with_gaps_are_refused_with_advice() {
    let gaps = ConstantColoring::columns([0, 1, 7]);
    let error = coloring(&Pattern::dense(3, 3).unwrap(), Column, &gaps).unwrap_err();
    assert_eq!(error.to_string(), "largest colour: 7 exceeds the limit of 2; number the colours 0, 1, … without gaps");
}

#[test]
fn only_symmetric_patterns_have_symmetric_colorings() {
    let greedy = GreedyColoring::default();
    let wide = Pattern::dense(2, 3).unwrap();
    let error = coloring(&wide, Symmetric(Direct), &greedy).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotSquare { nrows: 2, ncols: 3 });
    let upper = Pattern::from_fn(3, 3, |i, j| i <= j).unwrap();
    let error = coloring(&upper, Symmetric(Substitution), &greedy).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotSymmetric { row: 0, column: 1 });
}

#[test]
fn constant_colorings_are_checked_for_every_problem() {
    let p = arrow();
    let bad = ConstantColoring::columns([0; 6]);
    assert!(coloring(&p, Column, &bad).is_err());
    assert!(coloring(&p, Row, &bad).is_err());
    assert!(coloring(&p, Symmetric(Direct), &bad).is_err());
    assert!(coloring(&p, Symmetric(Substitution), &bad).is_err());
    assert!(coloring(&p, Bidirectional(Direct), &bad).is_err());
    assert!(coloring(&p, Column, &ConstantColoring::columns([0, 1, 2, 3, 4, 9])).is_err());
    let good = ConstantColoring::columns([0, 1, 1, 1, 1, 1]);
    assert_eq!(coloring(&p, Symmetric(Direct), &good).unwrap().ncolors(), 2);
    let both = ConstantColoring::rows_and_columns([0, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL], [0, 1, 1, 1, 1, 1]);
    assert_eq!(coloring(&p, Bidirectional(Direct), &both).unwrap().ncolors(), 3);
    let neutral = ConstantColoring::columns([NEUTRAL, 1, 2, 3, 4, 5]);
    let error = coloring(&p, Column, &neutral).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 0, column: 0, conflict: Conflict::Neutral });
}

#[test]
fn all_ones_on_a_dense_matrix_is_an_invalid_coloring() {
    let error = coloring(&Pattern::dense(10, 20).unwrap(), Column, &ConstantColoring::columns([0; 20])).unwrap_err();
    let conflict = Conflict::SharedInRow(0);
    assert_eq!(error.kind(), &ErrorKind::InvalidColoring { row: 0, column: 1, conflict });
}

#[test]
fn a_wrong_algorithm_is_caught() {
    struct AllZero;
    impl ColoringAlgorithm for AllZero {
        fn colors(&self, pattern: &Pattern, _: ProblemKind) -> Result<Colors, Error> {
            Ok(Colors { columns: vec![0; pattern.ncols()], rows: vec![0; pattern.nrows()] })
        }
    }
    let p = arrow();
    assert!(coloring(&p, Column, &AllZero).is_err());
    assert!(coloring(&p, Row, &AllZero).is_err());
    assert!(coloring(&p, Bidirectional(Substitution), &AllZero).is_err());
}

#[test]
fn a_zero_matrix_needs_no_product() {
    let p = Pattern::from_triplets(10, 10, []).unwrap();
    let greedy = GreedyColoring::default();
    let star = coloring(&p, Symmetric(Direct), &greedy).unwrap();
    let acyclic = coloring(&p, Symmetric(Substitution), &greedy).unwrap();
    let both = coloring(&p, Bidirectional(Direct), &greedy).unwrap();
    assert_eq!((star.ncolors(), acyclic.ncolors(), both.ncolors()), (0, 0, 0));
    assert_eq!(star.decompress::<f64>(&[]).unwrap(), []);
    assert_eq!(both.decompress::<f64>(&[], &[]).unwrap(), []);
}

#[test]
fn results_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>() {}
    shared::<ColumnColoring>();
    shared::<RowColoring>();
    shared::<StarColoring>();
    shared::<AcyclicColoring>();
    shared::<StarBicoloring>();
    shared::<AcyclicBicoloring>();
    shared::<Pattern>();
    shared::<Error>();
}

#[test]
fn column_major_parts_are_the_transposes_of_row_major_ones() {
    let p = Pattern::from_fn(5, 7, |i, j| i == 0 || j == 0 || i == j).unwrap();
    let values: Vec<i32> = (1..=p.nnz() as i32).collect();
    let transposed = |b: &[i32], rows: usize| -> Vec<i32> {
        let columns = b.len() / rows.max(1);
        (0..columns).flat_map(|j| (0..rows).map(move |i| b[i * columns + j])).collect()
    };
    let greedy = GreedyColoring::default();
    let column = coloring(&p, Column, &greedy).unwrap();
    let b = column.compress(&values).unwrap();
    assert_eq!(column.with_layout(Layout::ColumnMajor).compress(&values).unwrap(), transposed(&b, 5));
    let row = coloring(&p, Row, &greedy).unwrap();
    let (b, k) = (row.compress(&values).unwrap(), row.ncolors());
    assert_eq!(row.with_layout(Layout::ColumnMajor).compress(&values).unwrap(), transposed(&b, k));
    let both = coloring(&p, Bidirectional(Direct), &greedy).unwrap();
    assert!(both.nrow_colors() > 0 && both.ncolumn_colors() > 0);
    let ((columns, rows), k) = (both.compress(&values).unwrap(), both.nrow_colors());
    let parts = both.with_layout(Layout::ColumnMajor).compress(&values).unwrap();
    assert_eq!(parts, (transposed(&columns, 5), transposed(&rows, k)));
}

#[test]
fn neutral_columns_of_a_trusted_algorithm_are_still_checked() {
    struct Neutral;
    impl ColoringAlgorithm for Neutral {
        fn colors(&self, pattern: &Pattern, _: ProblemKind) -> Result<Colors, Error> {
            Ok(Colors { columns: vec![NEUTRAL; pattern.ncols()], rows: vec![NEUTRAL; pattern.nrows()] })
        }

        fn is_correct_by_construction(&self) -> bool {
            true
        }
    }
    assert!(coloring(&arrow(), Column, &Neutral).is_err());
    assert!(coloring(&arrow(), Row, &Neutral).is_err());
    let empty = Pattern::from_triplets(3, 3, []).unwrap();
    assert_eq!(coloring(&empty, Column, &Neutral).unwrap().ncolors(), 0);
}
