//! Sparsity pattern of a matrix: the entries that may be nonzero.
//!
//! Made by users (from triplets, compressed arrays, or another crate's matrix) and read by every other file of this crate. Both
//! orientations are kept; the one that was not given is computed at its first use.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind};

/// One orientation of a pattern: the indices of line `i` are `indices[pointers[i]..pointers[i + 1]]`, increasing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) pointers: Vec<u32>,
    pub(crate) indices: Vec<u32>,
}

impl Lines {
    #[inline]
    pub(crate) fn line(&self, i: usize) -> &[u32] {
        &self.indices[self.pointers[i] as usize..self.pointers[i + 1] as usize]
    }

    #[inline]
    pub(crate) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.pointers[i] as usize..self.pointers[i + 1] as usize
    }

    pub(crate) fn len(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Counting-sort transpose; `width` is the number of lines of the result.
    pub(crate) fn transpose(&self, width: usize) -> Lines {
        self.transpose_into(vec![0; width + 1], Vec::new())
    }

    /// As `transpose`, in memory of the caller: zeros, one more than the result has lines, and a vector that may have capacity for as many.
    fn transpose_into(&self, mut pointers: Vec<u32>, mut cursor: Vec<u32>) -> Lines {
        let width = pointers.len() - 1;
        for &j in &self.indices {
            pointers[j as usize + 1] += 1;
        }
        for j in 0..width {
            pointers[j + 1] += pointers[j];
        }
        cursor.extend_from_slice(&pointers[..width]);
        let mut indices = vec![0u32; self.indices.len()];
        for i in 0..self.len() {
            for &j in self.line(i) {
                let c = &mut cursor[j as usize];
                indices[*c as usize] = i as u32;
                *c += 1;
            }
        }
        Lines { pointers, indices }
    }

    pub(crate) fn longest(&self) -> usize {
        self.pointers.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }
}

#[derive(Debug)]
struct Inner {
    nrows: usize,
    ncols: usize,
    nnz: usize,
    rows: OnceLock<Lines>,
    columns: OnceLock<Lines>,
    asymmetry: OnceLock<Option<(u32, u32)>>,
}

/// The set of entries of a sparse matrix that may be nonzero, without values.
///
/// Cloning is cheap (the arrays are shared). Entries are unique; rows and columns are kept sorted. Row pointers and
/// indices are `u32`, so both dimensions and the number of entries stay below 2³².
///
/// # Example
/// ```
/// use matrix_coloring::Pattern;
///
/// let pattern = Pattern::from_triplets(2, 3, [(0, 2), (1, 1), (0, 0), (0, 2)])?;
/// assert_eq!(pattern.nnz(), 3);
/// assert_eq!(pattern.row(0), [0, 2]);
/// assert_eq!(pattern.column(2), [0]);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    inner: Arc<Inner>,
}

/// Largest dimension or number of entries; one less than the reserved index `u32::MAX`.
const LIMIT: usize = u32::MAX as usize - 1;

fn check_size(what: &'static str, size: usize) -> Result<(), Error> {
    if size > LIMIT { Err(ErrorKind::TooLarge { what, size, limit: LIMIT }.into()) } else { Ok(()) }
}

/// Reserves capacity for `length` more numbers, or returns an error where allocation would abort the program.
fn reserve<T>(list: &mut Vec<T>, length: usize) -> Result<(), Error> {
    let bytes = length.saturating_mul(size_of::<T>());
    list.try_reserve(length).map_err(|_| ErrorKind::Memory { bytes }.into())
}

impl Pattern {
    fn build(nrows: usize, ncols: usize, rows: Option<Lines>, columns: Option<Lines>) -> Pattern {
        let nnz = rows.as_ref().or(columns.as_ref()).map_or(0, |lines| lines.indices.len());
        let lock = |lines: Option<Lines>| {
            let cell = OnceLock::new();
            if let Some(lines) = lines {
                let _ = cell.set(lines);
            }
            cell
        };
        let inner = Inner { nrows, ncols, nnz, rows: lock(rows), columns: lock(columns), asymmetry: OnceLock::new() };
        Pattern { inner: Arc::new(inner) }
    }

    /// Returns the pattern with the given `(row, column)` entries; duplicates are merged.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfBounds`] for an entry outside, [`ErrorKind::TooLarge`] beyond `u32`, [`ErrorKind::Memory`] if the
    /// pattern does not fit in memory: each row and column takes 8 bytes, whether it has entries or not.
    pub fn from_triplets<I>(nrows: usize, ncols: usize, entries: I) -> Result<Pattern, Error>
    where
        I: IntoIterator<Item = (usize, usize)>,
    {
        check_size("rows", nrows)?;
        check_size("columns", ncols)?;
        let mut list: Vec<(u32, u32)> = Vec::new();
        let [mut pointers, mut cursor, mut row_pointers, mut row_cursor] = [const { Vec::new() }; 4];
        for (lines, memory) in [(ncols, [&mut pointers, &mut cursor]), (nrows, [&mut row_pointers, &mut row_cursor])] {
            // All of it before any is used.
            for vector in memory {
                reserve::<u32>(vector, lines + 1)?;
            }
        }
        pointers.resize(ncols + 1, 0);
        for (row, column) in entries {
            if row >= nrows || column >= ncols {
                return Err(ErrorKind::OutOfBounds { row, column, nrows, ncols }.into());
            }
            if list.len() == list.capacity() {
                reserve(&mut list, 1)?;
            }
            list.push((row as u32, column as u32));
            check_size("entries", list.len())?;
            pointers[column + 1] += 1;
        }
        // Sort by column, then by row (both stable counting sorts): rows come out sorted, duplicates adjacent.
        for j in 0..ncols {
            pointers[j + 1] += pointers[j];
        }
        let mut indices = Vec::new();
        reserve(&mut indices, list.len())?;
        indices.resize(list.len(), 0u32);
        cursor.extend_from_slice(&pointers);
        for &(i, j) in &list {
            let c = &mut cursor[j as usize];
            indices[*c as usize] = i;
            *c += 1;
        }
        row_pointers.resize(nrows + 1, 0);
        let mut rows = Lines { pointers, indices }.transpose_into(row_pointers, row_cursor);
        rows.remove_duplicates();
        Ok(Pattern::build(nrows, ncols, Some(rows), None))
    }

    /// Returns the pattern of a matrix in compressed sparse row form.
    ///
    /// # Errors
    /// [`ErrorKind::Pointers`], [`ErrorKind::NotSorted`] (also for duplicates), [`ErrorKind::OutOfBounds`] or
    /// [`ErrorKind::TooLarge`] if the arrays are not a canonical CSR matrix.
    ///
    /// # Example
    /// ```
    /// # use matrix_coloring::Pattern;
    /// let pattern = Pattern::from_csr(2, 3, &[0, 2, 3], &[0, 2, 1])?;
    /// assert_eq!(pattern.row(0), [0, 2]);
    /// assert!(Pattern::from_csr(2, 3, &[0, 2, 3], &[2, 0, 1]).is_err()); // not sorted
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn from_csr(nrows: usize, ncols: usize, pointers: &[usize], indices: &[usize]) -> Result<Pattern, Error> {
        let at = |line, index| ErrorKind::OutOfBounds { row: line, column: index, nrows, ncols };
        let lines = compressed(nrows, ncols, pointers, indices, at)?;
        Ok(Pattern::build(nrows, ncols, Some(lines), None))
    }

    /// Returns the pattern whose compressed sparse row form consists of these arrays. The arrays are checked and moved in.
    ///
    /// # Errors
    /// See [`from_csr`](Pattern::from_csr).
    ///
    /// # Example
    /// ```
    /// # use matrix_coloring::Pattern;
    /// let pattern = Pattern::from_csr_arrays(2, 3, vec![0, 2, 3], vec![0, 2, 1])?;
    /// assert_eq!(pattern.row(0), [0, 2]);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn from_csr_arrays(
        nrows: usize,
        ncols: usize,
        pointers: Vec<u32>,
        indices: Vec<u32>,
    ) -> Result<Pattern, Error> {
        let at = |line, index| ErrorKind::OutOfBounds { row: line, column: index, nrows, ncols };
        check_compressed(nrows, ncols, &pointers, &indices, at)?;
        Ok(Pattern::build(nrows, ncols, Some(Lines { pointers, indices }), None))
    }

    /// Returns the pattern of a matrix in compressed sparse column form; the errors are those of
    /// [`from_csr`](Pattern::from_csr).
    ///
    /// # Errors
    /// See [`from_csr`](Pattern::from_csr).
    pub fn from_csc(nrows: usize, ncols: usize, pointers: &[usize], indices: &[usize]) -> Result<Pattern, Error> {
        let at = |line, index| ErrorKind::OutOfBounds { row: index, column: line, nrows, ncols };
        let lines = compressed(ncols, nrows, pointers, indices, at)?;
        Ok(Pattern::build(nrows, ncols, None, Some(lines)))
    }

    /// Returns the pattern with an entry wherever `present(row, column)` holds; meant for small matrices.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond `u32`.
    pub fn from_fn(
        nrows: usize,
        ncols: usize,
        mut present: impl FnMut(usize, usize) -> bool,
    ) -> Result<Pattern, Error> {
        let mut entries = Vec::new();
        for i in 0..nrows {
            entries.extend((0..ncols).filter(|&j| present(i, j)).map(|j| (i, j)));
        }
        Pattern::from_triplets(nrows, ncols, entries)
    }

    /// Returns the full pattern.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond `u32`.
    pub fn dense(nrows: usize, ncols: usize) -> Result<Pattern, Error> {
        check_size("entries", nrows.saturating_mul(ncols))?;
        Pattern::from_triplets(nrows, ncols, (0..nrows).flat_map(|i| (0..ncols).map(move |j| (i, j))))
    }

    /// Returns the square band `|i - j| <= half_width`.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond `u32`.
    ///
    /// # Example
    /// ```
    /// # use matrix_coloring::Pattern;
    /// assert_eq!(Pattern::banded(4, 1)?.row(1), [0, 1, 2]);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn banded(n: usize, half_width: usize) -> Result<Pattern, Error> {
        let entries = (0..n).flat_map(|i| {
            (i.saturating_sub(half_width)..n.min(i.saturating_add(half_width).saturating_add(1))).map(move |j| (i, j))
        });
        Pattern::from_triplets(n, n, entries)
    }

    /// Returns the number of rows.
    pub fn nrows(&self) -> usize {
        self.inner.nrows
    }

    /// Returns the number of columns.
    pub fn ncols(&self) -> usize {
        self.inner.ncols
    }

    /// Returns the number of entries.
    pub fn nnz(&self) -> usize {
        self.inner.nnz
    }

    /// Returns the column indices of row `i`, increasing.
    ///
    /// # Panics
    /// If `i` is not below the number of rows.
    pub fn row(&self, i: usize) -> &[u32] {
        self.rows().line(i)
    }

    /// Returns the row indices of column `j`, increasing.
    ///
    /// # Panics
    /// If `j` is not below the number of columns.
    pub fn column(&self, j: usize) -> &[u32] {
        self.columns().line(j)
    }

    /// Returns the row pointers and column indices of the compressed sparse row form.
    pub fn csr(&self) -> (&[u32], &[u32]) {
        let rows = self.rows();
        (&rows.pointers, &rows.indices)
    }

    /// Returns row pointers and column indices of the compressed sparse row form by value: moved out if no other clone of
    /// this pattern lives, copied otherwise.
    pub fn into_csr(self) -> (Vec<u32>, Vec<u32>) {
        self.rows();
        let lines = match Arc::try_unwrap(self.inner) {
            Ok(inner) => inner.rows.into_inner().expect("the rows were just computed"),
            Err(shared) => shared.rows.get().expect("the rows were just computed").clone(),
        };
        (lines.pointers, lines.indices)
    }

    /// Returns the column pointers and row indices of the compressed sparse column form.
    pub fn csc(&self) -> (&[u32], &[u32]) {
        let columns = self.columns();
        (&columns.pointers, &columns.indices)
    }

    /// Iterates over the entries `(row, column)` in row-major order, the storage order of CSR values.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nrows()).flat_map(|i| self.row(i).iter().map(move |&j| (i, j as usize)))
    }

    /// Returns the position of entry `(row, column)` in CSR order, or `None` if it is not in the pattern.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        if row >= self.nrows() || column >= self.ncols() {
            return None;
        }
        let start = self.rows().range(row).start;
        self.row(row).binary_search(&(column as u32)).ok().map(|k| start + k)
    }

    /// Returns whether `(row, column)` is an entry.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.position(row, column).is_some()
    }

    /// Returns whether all entries of `other`, a pattern of the same size, are entries of this one.
    ///
    /// # Example
    /// ```
    /// use matrix_coloring::Pattern;
    ///
    /// let (band, diagonal) = (Pattern::banded(3, 1)?, Pattern::banded(3, 0)?);
    /// assert!(band.includes(&diagonal) && !diagonal.includes(&band));
    /// assert!(!Pattern::dense(2, 3)?.includes(&Pattern::from_triplets(2, 2, [])?));
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn includes(&self, other: &Pattern) -> bool {
        self.has_size_of(other)
            && (self == other
                || (0..self.nrows()).all(|i| {
                    // Both rows are sorted.
                    let mut own = self.row(i).iter();
                    other.row(i).iter().all(|column| own.by_ref().any(|own| own == column))
                }))
    }

    /// Returns the pattern with the entries of this one and those of `other`, a pattern of the same size.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfBounds`] if `other` has an entry outside of this pattern, [`ErrorKind::Memory`] if the union does not fit in memory.
    ///
    /// # Example
    /// ```
    /// use matrix_coloring::Pattern;
    ///
    /// let (upper, lower) = (Pattern::from_fn(2, 2, |i, j| i <= j)?, Pattern::from_fn(2, 2, |i, j| i >= j)?);
    /// assert_eq!(upper.union(&lower)?, Pattern::dense(2, 2)?);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn union(&self, other: &Pattern) -> Result<Pattern, Error> {
        Pattern::from_triplets(self.nrows(), self.ncols(), self.entries().chain(other.entries()))
    }

    /// Returns whether both have as many rows and columns.
    pub fn has_size_of(&self, other: &Pattern) -> bool {
        (self.nrows(), self.ncols()) == (other.nrows(), other.ncols())
    }

    /// Returns the transposed pattern.
    pub fn transpose(&self) -> Pattern {
        let (rows, columns) = (self.inner.rows.get().cloned(), self.inner.columns.get().cloned());
        Pattern::build(self.ncols(), self.nrows(), columns, rows)
    }

    /// Returns whether the pattern is square and equal to its transpose.
    pub fn is_symmetric(&self) -> bool {
        self.check_symmetric().is_ok()
    }

    /// Returns the largest number of entries in a row: a lower bound for column colourings.
    pub fn max_row_nnz(&self) -> usize {
        self.rows().longest()
    }

    /// Returns the largest number of entries in a column: a lower bound for row colourings.
    pub fn max_column_nnz(&self) -> usize {
        self.columns().longest()
    }

    pub(crate) fn rows(&self) -> &Lines {
        self.inner.rows.get_or_init(|| match self.inner.columns.get() {
            Some(columns) => columns.transpose(self.inner.nrows),
            None => Lines { pointers: vec![0; self.inner.nrows + 1], indices: Vec::new() },
        })
    }

    pub(crate) fn columns(&self) -> &Lines {
        self.inner.columns.get_or_init(|| match self.inner.rows.get() {
            Some(rows) => rows.transpose(self.inner.ncols),
            None => Lines { pointers: vec![0; self.inner.ncols + 1], indices: Vec::new() },
        })
    }

    /// The lines of an orientation that is present; for symmetric patterns both are equal.
    pub(crate) fn any_lines(&self) -> &Lines {
        match self.inner.rows.get() {
            Some(rows) => rows,
            None => self.columns(),
        }
    }

    /// Passes if the pattern is square and symmetric, otherwise names the first entry without mirror image. The result is cached.
    pub(crate) fn check_symmetric(&self) -> Result<(), Error> {
        let (nrows, ncols) = (self.nrows(), self.ncols());
        if nrows != ncols {
            return Err(ErrorKind::NotSquare { nrows, ncols }.into());
        }
        let first = self.inner.asymmetry.get_or_init(|| {
            let rows = self.any_lines();
            // Walking the rows in order visits the entries (j, i) of line j in increasing i: one cursor per line.
            let mut cursor = rows.pointers[..nrows].to_vec();
            for i in 0..nrows {
                for &j in rows.line(i) {
                    let c = cursor[j as usize];
                    if c < rows.pointers[j as usize + 1] && rows.indices[c as usize] == i as u32 {
                        cursor[j as usize] += 1;
                    } else {
                        return self.first_without_mirror();
                    }
                }
            }
            None
        });
        match *first {
            None => Ok(()),
            Some((i, j)) => Err(ErrorKind::NotSymmetric { row: i as usize, column: j as usize }.into()),
        }
    }

    fn first_without_mirror(&self) -> Option<(u32, u32)> {
        self.entries().find(|&(i, j)| !self.contains(j, i)).map(|(i, j)| (i as u32, j as u32))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.nrows() == other.nrows() && self.ncols() == other.ncols() && self.rows() == other.rows()
    }
}

impl Eq for Pattern {}

impl Lines {
    fn remove_duplicates(&mut self) {
        let mut kept = 0;
        for i in 0..self.len() {
            let range = self.range(i);
            self.pointers[i] = kept as u32;
            let start = kept;
            for k in range {
                let j = self.indices[k];
                if kept == start || self.indices[kept - 1] != j {
                    self.indices[kept] = j;
                    kept += 1;
                }
            }
        }
        let last = self.len();
        self.pointers[last] = kept as u32;
        self.indices.truncate(kept);
    }
}

/// Checks a compressed matrix of `lines` lines and `width` indices and narrows it to `u32`.
fn compressed(
    lines: usize,
    width: usize,
    pointers: &[usize],
    indices: &[usize],
    outside: impl Fn(usize, usize) -> ErrorKind,
) -> Result<Lines, Error> {
    check_compressed(lines, width, pointers, indices, outside)?;
    let narrow = |v: &[usize]| v.iter().map(|&x| x as u32).collect();
    Ok(Lines { pointers: narrow(pointers), indices: narrow(indices) })
}

/// Checks a compressed matrix of `lines` lines and `width` indices, in `u32` or `usize`.
fn check_compressed<I: Copy + Into<Wide>>(
    lines: usize,
    width: usize,
    pointers: &[I],
    indices: &[I],
    outside: impl Fn(usize, usize) -> ErrorKind,
) -> Result<(), Error> {
    let wide = |index: I| -> usize { index.into().0 };
    check_size("lines", lines)?;
    check_size("indices per line", width)?;
    check_size("entries", indices.len())?;
    if pointers.len() != lines + 1 {
        return Err(Error::length("pointers", lines + 1, pointers.len()));
    }
    if wide(pointers[0]) != 0 {
        return Err(ErrorKind::Pointers { position: 0 }.into());
    }
    for line in 0..lines {
        let (start, end) = (wide(pointers[line]), wide(pointers[line + 1]));
        if end < start || end > indices.len() {
            return Err(ErrorKind::Pointers { position: line + 1 }.into());
        }
        let mut previous = None;
        for (k, &index) in indices[start..end].iter().enumerate() {
            let index = wide(index);
            if index >= width {
                return Err(outside(line, index).into());
            }
            if previous.is_some_and(|previous| index <= previous) {
                return Err(ErrorKind::NotSorted { line, position: start + k }.into());
            }
            previous = Some(index);
        }
    }
    if wide(pointers[lines]) != indices.len() {
        return Err(ErrorKind::Pointers { position: lines }.into());
    }
    Ok(())
}

/// An index widened to `usize`.
struct Wide(usize);

impl From<u32> for Wide {
    fn from(index: u32) -> Wide {
        Wide(index as usize)
    }
}

impl From<usize> for Wide {
    fn from(index: usize) -> Wide {
        Wide(index)
    }
}

#[cfg(test)]
mod tests;
