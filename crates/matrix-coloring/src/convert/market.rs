//! Matrix Market files (feature `matrix-market`), through `sprs::io`.
//!
//! For testing colourings on matrices from collections. Any coordinate file is read as a pattern, values are ignored,
//! symmetric files are expanded; patterns are written as `pattern general`.

use std::path::Path;

use sprs::TriMatI;
use sprs::num_kinds::Pattern as Entry;

use crate::error::{Error, ErrorKind};
use crate::pattern::Pattern;

fn external(what: &'static str, error: impl ToString) -> Error {
    ErrorKind::External { what, message: error.to_string() }.into()
}

/// Returns the pattern in Matrix Market text.
///
/// # Errors
/// [`ErrorKind::External`] if the text is malformed.
///
/// # Example
/// ```
/// use matrix_coloring::market;
///
/// let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 1.0\n";
/// let pattern = market::parse(text)?;
/// assert_eq!(pattern.entries().collect::<Vec<_>>(), [(0, 1), (1, 0), (2, 2)]);
/// assert_eq!(market::parse(&market::to_text(&pattern)?)?, pattern);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Pattern, Error> {
    const WHAT: &str = "reading a Matrix Market file";
    // sprs 0.11.6 loops for ever if a file ends before its size line.
    if !text.lines().skip(1).any(|line| !line.starts_with('%')) {
        return Err(external(WHAT, "no size line after the header"));
    }
    let matrix: TriMatI<Entry, usize> =
        sprs::io::read_matrix_market_from_bufread(&mut text.as_bytes()).map_err(|e| external(WHAT, e))?;
    let entries = matrix.row_inds().iter().copied().zip(matrix.col_inds().iter().copied());
    Pattern::from_triplets(matrix.rows(), matrix.cols(), entries)
}

/// Reads a Matrix Market file.
///
/// # Errors
/// [`ErrorKind::External`] if the file cannot be read or is malformed.
pub fn read(path: impl AsRef<Path>) -> Result<Pattern, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| external("reading a Matrix Market file", e))?;
    parse(&text)
}

/// Returns a pattern as Matrix Market text.
///
/// # Errors
/// [`ErrorKind::External`] if `sprs` cannot write it.
pub fn to_text(pattern: &Pattern) -> Result<String, Error> {
    const WHAT: &str = "writing a Matrix Market file";
    let (rows, columns): (Vec<usize>, Vec<usize>) = pattern.entries().unzip();
    let shape = (pattern.nrows(), pattern.ncols());
    let matrix = TriMatI::from_triplets(shape, rows, columns, vec![Entry {}; pattern.nnz()]);
    let mut bytes = Vec::new();
    sprs::io::write_matrix_market_to_bufwrite(&mut bytes, &matrix).map_err(|e| external(WHAT, e))?;
    String::from_utf8(bytes).map_err(|e| external(WHAT, e))
}

/// Writes a pattern to a Matrix Market file.
///
/// # Errors
/// [`ErrorKind::External`] if the file cannot be written.
pub fn write(pattern: &Pattern, path: impl AsRef<Path>) -> Result<(), Error> {
    let text = to_text(pattern)?;
    std::fs::write(path, text).map_err(|e| external("writing a Matrix Market file", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_patterns_are_read_back() {
        let p = Pattern::from_triplets(3, 5, [(0, 4), (2, 0), (2, 3)]).unwrap();
        let path = std::env::temp_dir().join(format!("matrix-coloring-{}.mtx", std::process::id()));
        write(&p, &path).unwrap();
        assert_eq!(read(&path).unwrap(), p);
        std::fs::remove_file(&path).unwrap();
        let empty = Pattern::from_triplets(2, 3, []).unwrap();
        assert_eq!(parse(&to_text(&empty).unwrap()).unwrap(), empty);
    }

    #[test]
    fn malformed_files_are_refused() {
        let header = "%%MatrixMarket matrix coordinate pattern general\n";
        for text in ["", "hello\n1 1 1\n", header, &format!("{header}% no more\n"), &format!("{header}2 2 2\n1 1\n")] {
            assert!(matches!(parse(text).unwrap_err().kind(), ErrorKind::External { .. }), "{text}");
        }
        assert!(matches!(read("/no/such/file.mtx").unwrap_err().kind(), ErrorKind::External { .. }));
    }
}
