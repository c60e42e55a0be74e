//! Colour classes: the columns or rows that share a product.
//!
//! Part of every result; read by the caller that computes the products, for example a differentiation interface that seeds one
//! direction per group.

use std::ops::Index;

use crate::NEUTRAL;

/// The vertices of every colour, increasing; neutral vertices are in no group.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, Order, Pattern, coloring};
///
/// let result = coloring(&Pattern::banded(5, 1)?, Column, &GreedyColoring::new(Order::Natural))?;
/// let groups = result.column_groups();
/// assert_eq!(groups.len(), 3);
/// assert_eq!(groups[0], [0, 3]);
/// assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [2, 2, 1]);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    pointers: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    pub(crate) fn new(colors: &[u32], ncolors: usize) -> Groups {
        let mut pointers = vec![0u32; ncolors + 1];
        for &c in colors.iter().filter(|&&c| c != NEUTRAL) {
            pointers[c as usize + 1] += 1;
        }
        for c in 0..ncolors {
            pointers[c + 1] += pointers[c];
        }
        let mut cursor = pointers[..ncolors].to_vec();
        let mut members = vec![0; pointers[ncolors] as usize];
        for (v, &c) in colors.iter().enumerate().filter(|(_, c)| **c != NEUTRAL) {
            members[cursor[c as usize] as usize] = v as u32;
            cursor[c as usize] += 1;
        }
        Groups { pointers, members }
    }

    /// Returns the number of groups, which is the number of colours of this side.
    pub fn len(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Returns whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the vertices of colour `color`, or `None` if there is no such colour.
    pub fn get(&self, color: usize) -> Option<&[u32]> {
        (color < self.len()).then(|| &self[color])
    }

    /// Iterates over the groups by colour.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + '_ {
        (0..self.len()).map(|c| &self[c])
    }
}

impl Index<usize> for Groups {
    type Output = [u32];

    fn index(&self, color: usize) -> &[u32] {
        &self.members[self.pointers[color] as usize..self.pointers[color + 1] as usize]
    }
}
