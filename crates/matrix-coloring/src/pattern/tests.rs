//! Construction and reading of patterns.

use super::*;

#[test]
fn duplicates_are_merged_and_both_orientations_are_sorted() {
    let p = Pattern::from_triplets(3, 4, [(2, 3), (0, 1), (2, 0), (0, 1), (2, 3), (1, 3)]).unwrap();
    assert_eq!(p.entries().collect::<Vec<_>>(), [(0, 1), (1, 3), (2, 0), (2, 3)]);
    assert_eq!(p.column(3), [1, 2]);
    assert_eq!(p.csc(), (&[0, 1, 2, 2, 4][..], &[2, 0, 1, 2][..]));
    assert_eq!(p.position(2, 3), Some(3));
    assert_eq!((p.position(1, 1), p.position(7, 0)), (None, None));
}

#[test]
fn csc_and_csr_of_the_same_matrix_are_equal() {
    let a = Pattern::from_csr(2, 3, &[0, 2, 3], &[0, 2, 1]).unwrap();
    let b = Pattern::from_csc(2, 3, &[0, 1, 2, 3], &[0, 1, 0]).unwrap();
    assert_eq!(a, b);
    assert_eq!(a.transpose().transpose(), b);
    assert_eq!(a.transpose().column(0), [0, 2]);
}

#[test]
fn malformed_arrays_are_refused_with_the_place() {
    let kind = |r: Result<Pattern, Error>| r.unwrap_err().kind().clone();
    assert_eq!(kind(Pattern::from_csr(2, 2, &[0, 2, 2], &[1, 0])), ErrorKind::NotSorted { line: 0, position: 1 });
    assert_eq!(kind(Pattern::from_csr(1, 2, &[0, 2], &[1, 1])), ErrorKind::NotSorted { line: 0, position: 1 });
    assert_eq!(kind(Pattern::from_csr(2, 2, &[0, 2, 1], &[0, 1])), ErrorKind::Pointers { position: 2 });
    assert_eq!(kind(Pattern::from_csr(1, 2, &[1, 2], &[0, 1])), ErrorKind::Pointers { position: 0 });
    assert_eq!(kind(Pattern::from_csr(1, 2, &[0, 1], &[0, 1])), ErrorKind::Pointers { position: 1 });
    let length = ErrorKind::Length { what: "pointers", expected: 3, found: 2 };
    assert_eq!(kind(Pattern::from_csr(2, 2, &[0, 1], &[0])), length);
    let outside = ErrorKind::OutOfBounds { row: 5, column: 0, nrows: 2, ncols: 1 };
    assert_eq!(kind(Pattern::from_csc(2, 1, &[0, 1], &[5])), outside);
    assert_eq!(kind(Pattern::from_triplets(2, 1, [(5, 0)])), outside);
    assert!(matches!(kind(Pattern::dense(1 << 20, 1 << 20)), ErrorKind::TooLarge { what: "entries", .. }));
}

#[test]
fn symmetry_names_the_first_entry_without_mirror_image() {
    assert!(Pattern::banded(5, 1).unwrap().is_symmetric());
    let p = Pattern::from_triplets(3, 3, [(0, 0), (1, 2), (2, 0), (0, 2)]).unwrap();
    let kind = p.check_symmetric().unwrap_err().kind().clone();
    assert_eq!(kind, ErrorKind::NotSymmetric { row: 1, column: 2 });
    let wide = Pattern::dense(2, 3).unwrap().check_symmetric().unwrap_err();
    assert_eq!(wide.kind(), &ErrorKind::NotSquare { nrows: 2, ncols: 3 });
}

#[test]
fn empty_dimensions_are_patterns_too() {
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        let p = Pattern::from_triplets(m, n, []).unwrap();
        assert_eq!((p.nnz(), p.max_row_nnz(), p.max_column_nnz()), (0, 0, 0));
        assert_eq!((p.rows().len(), p.columns().len()), (m, n));
        assert_eq!(Pattern::from_csc(m, n, &vec![0; n + 1], &[]).unwrap(), p);
    }
}

#[test]
fn messages_say_what_was_asked_found_and_to_do() {
    let e = Pattern::from_triplets(2, 1, [(5, 0)]).unwrap_err();
    assert_eq!(e.to_string(), "entry (5, 0) lies outside a 2 x 1 matrix; indices start at 0");
}

#[test]
fn compressed_rows_are_moved_out_of_a_pattern_that_is_not_shared() {
    let pattern = Pattern::banded(5, 1).unwrap();
    let (place, clone) = (pattern.csr().1.as_ptr(), pattern.clone());
    let (pointers, copied) = clone.into_csr();
    assert_eq!((&pointers[..], &copied[..]), pattern.csr());
    assert_ne!(copied.as_ptr(), place);
    let (pointers, moved) = pattern.into_csr();
    assert_eq!((pointers[5], moved.as_ptr()), (13, place));
    // Rows that have not been read yet are computed.
    let (pointers, columns) = Pattern::from_csc(2, 3, &[0, 1, 2, 3], &[1, 0, 1]).unwrap().into_csr();
    assert_eq!((pointers, columns), (vec![0, 1, 3], vec![1, 0, 2]));
}

#[test]
fn bands_wider_than_the_numbers_are_full() {
    for half_width in [3, usize::MAX / 2, usize::MAX - 1, usize::MAX] {
        assert_eq!(Pattern::banded(3, half_width).unwrap().nnz(), 9, "{half_width}");
    }
}

#[test]
fn patterns_that_do_not_fit_in_memory_are_refused() {
    // 2⁶² bytes exceed the address space of any machine; smaller requests fail depending on the machine.
    let mut list: Vec<u32> = Vec::new();
    let error = reserve(&mut list, 1 << 60).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Memory { bytes: 1 << 62 });
}
