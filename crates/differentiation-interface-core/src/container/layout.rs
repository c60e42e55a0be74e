//! Where the parts of a container lie among its numbers, by name.
//!
//! Containers write it; users look up blocks of gradients, Jacobians and Hessians in it.

use crate::matrix::Matrix;
use std::fmt;
use std::ops::Range;

/// The names of the parts of a container, and the range of numbers of each: `scale`, `layers[0].weights`.
///
/// # Example
/// ```
/// use differentiation_interface_core::container::Layout;
///
/// let layout = Layout::of(&(vec![1.0, 2.0], [3.0]));
/// assert_eq!(layout.range("0")?, 0..2);
/// assert_eq!(layout.range("1")?, 2..3);
/// assert!(layout.range("2").unwrap_err().to_string().contains("`0`, `1`"));
/// # Ok::<(), differentiation_interface_core::container::LayoutError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The name of the part being written.
    path: String,
    /// How many numbers have been counted.
    count: usize,
    blocks: Vec<(String, Range<usize>)>,
}

impl Layout {
    /// All parts with their ranges: every part before the parts that it consists of.
    pub fn blocks(&self) -> &[(String, Range<usize>)] {
        &self.blocks
    }

    /// The numbers of the part `name`.
    ///
    /// # Errors
    /// [`LayoutError::UnknownPart`] if there is no such part.
    pub fn range(&self, name: &str) -> Result<Range<usize>, LayoutError> {
        let found = self.blocks.iter().find(|(block, _)| block == name);
        found.map(|(_, range)| range.clone()).ok_or_else(|| {
            let parts = self.blocks.iter().map(|(block, _)| block.clone()).collect();
            LayoutError::UnknownPart { asked: name.to_owned(), parts }
        })
    }

    /// The numbers of the part `name` of a gradient or another flat vector of this layout.
    ///
    /// # Errors
    /// [`LayoutError::UnknownPart`]; [`LayoutError::Size`] if `numbers` is not as long as the container.
    pub fn part_of<'a, S>(&self, numbers: &'a [S], name: &str) -> Result<&'a [S], LayoutError> {
        if numbers.len() != self.count {
            return Err(LayoutError::Size { expected: self.count, found: numbers.len() });
        }
        Ok(&numbers[self.range(name)?])
    }

    /// The block of a Hessian with the rows of the part `row` and the columns of the part `column`.
    ///
    /// # Errors
    /// [`LayoutError::UnknownPart`]; [`LayoutError::Size`] if `hess` is not as large as the container is long.
    pub fn block<S: Copy>(&self, hess: &Matrix<S>, row: &str, column: &str) -> Result<Matrix<S>, LayoutError> {
        if hess.size() != (self.count, self.count) {
            let found = if hess.rows() == self.count { hess.columns() } else { hess.rows() };
            return Err(LayoutError::Size { expected: self.count, found });
        }
        Ok(hess.block(self.range(row)?, self.range(column)?))
    }

    /// The columns of a Jacobian that belong to the part `name`.
    ///
    /// # Errors
    /// [`LayoutError::UnknownPart`]; [`LayoutError::Size`] if `jac` has not as many columns as the container has numbers.
    pub fn columns<S: Copy>(&self, jac: &Matrix<S>, name: &str) -> Result<Matrix<S>, LayoutError> {
        if jac.columns() != self.count {
            return Err(LayoutError::Size { expected: self.count, found: jac.columns() });
        }
        Ok(jac.block(0..jac.rows(), self.range(name)?))
    }

    /// Writes a part: its numbers are those that `write` adds. For authors of containers.
    pub fn part(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let (outer, first) = (self.path.len(), self.count);
        if outer > 0 && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(name);
        let index = self.blocks.len();
        self.blocks.push((self.path.clone(), first..first));
        write(self);
        self.blocks[index].1.end = self.count;
        self.path.truncate(outer);
    }

    /// Adds numbers to the current part. For authors of containers.
    pub fn numbers(&mut self, count: usize) {
        self.count += count;
    }
}

/// Why a [`Layout`] found no block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// The container has no part of this name.
    UnknownPart {
        /// The name.
        asked: String,
        /// The names that there are.
        parts: Vec<String>,
    },
    /// The vector or matrix is not as long as the container.
    Size {
        /// How many numbers the container has.
        expected: usize,
        /// How many the vector has, or rows or columns the matrix.
        found: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::UnknownPart { asked, parts } => {
                write!(f, "the container has no part `{asked}`; its parts are ")?;
                let Some((last, first)) = parts.split_last() else { return write!(f, "none") };
                first.iter().try_for_each(|part| write!(f, "`{part}`, "))?;
                write!(f, "`{last}`")
            }
            LayoutError::Size { expected, found } => write!(
                f,
                "the container has {expected} numbers, the vector or a side of the matrix {found}; pass a result at a point of this layout"
            ),
        }
    }
}

impl std::error::Error for LayoutError {}
