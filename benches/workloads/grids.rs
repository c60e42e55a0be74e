//! W5: the right-hand side of the Brusselator on a periodic square, with its sparse Jacobian by hand.

use super::{Number, Random};
use differentiation_interface::{FunctionInPlace, Real};

/// Two fields on `side` x `side` cells.
#[derive(Clone, Copy)]
pub(crate) struct Brusselator {
    pub(crate) side: usize,
}

impl Brusselator {
    pub(crate) const NAME: &'static str = "W5 brusselator";
    /// Entries of a row: five cells of its own field, one of the other.
    const ENTRIES: usize = 6;

    /// Number of inputs, and of outputs.
    pub(crate) fn size(self) -> usize {
        2 * self.side * self.side
    }
    pub(crate) fn nnz(self) -> usize {
        Self::ENTRIES * self.size()
    }
    pub(crate) fn point(self) -> Vec<f64> {
        Random::around(5, self.size(), 0.0, 1.0)
    }
    /// Diffusion over the square of the spacing.
    pub(crate) fn diffusion(self) -> f64 {
        10.0 * ((self.side - 1) * (self.side - 1)) as f64
    }
    /// The cells before and after.
    #[inline(always)]
    fn around(self, i: usize) -> (usize, usize) {
        (if i == 0 { self.side - 1 } else { i - 1 }, if i + 1 == self.side { 0 } else { i + 1 })
    }

    #[inline]
    pub(crate) fn value<T: Number>(self, y: &mut [T], x: &[T]) {
        let (side, a) = (self.side, self.diffusion());
        let (u1, u2) = x.split_at(side * side);
        let (y1, y2) = y.split_at_mut(side * side);
        for j in 0..side {
            let (south, north) = self.around(j);
            for i in 0..side {
                let (west, east) = self.around(i);
                let c = i + side * j;
                let cells = [west + side * j, east + side * j, i + side * south, i + side * north];
                let laplacian = |u: &[T]| u[cells[0]] + u[cells[1]] + u[cells[2]] + u[cells[3]] - 4.0 * u[c];
                let reaction = u1[c] * u1[c] * u2[c];
                y1[c] = a * laplacian(u1) + 1.0 + reaction - 4.4 * u1[c];
                y2[c] = a * laplacian(u2) + 3.4 * u1[c] - reaction;
            }
        }
    }

    /// The values of the Jacobian, row by row with rising columns.
    pub(crate) fn by_hand(self, values: &mut [f64], x: &[f64]) {
        let (side, a) = (self.side, self.diffusion());
        let (u1, u2) = x.split_at(side * side);
        let (rows, _) = values.as_chunks_mut::<{ Self::ENTRIES }>();
        let (rows1, rows2) = rows.split_at_mut(side * side);
        // How many of the two neighbours along one axis precede the cell.
        let before = |i: usize| if i == 0 { 0 } else { 1 + usize::from(i + 1 == side) };
        for j in 0..side {
            for i in 0..side {
                let (c, centre) = (i + side * j, before(i) + before(j));
                let (product, square) = (2.0 * u1[c] * u2[c], u1[c] * u1[c]);
                let row = &mut rows1[c];
                *row = [a, a, a, a, a, square];
                row[centre] = -4.0 * a + product - 4.4;
                let row = &mut rows2[c];
                *row = [3.4 - product, a, a, a, a, a];
                row[1 + centre] = -4.0 * a - square;
            }
        }
    }
}

impl<T: Real> FunctionInPlace<T, [T]> for Brusselator {
    #[inline]
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        self.value(y, x);
    }
}
