//! W5 by hand: only the reactions need arithmetic; what diffusion contributes is constant.

use crate::workloads::grids::Brusselator;

/// The values of the Jacobian, row by row with rising columns; the side has at least four cells.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2,fma"))]
pub(crate) fn jacobian(grid: Brusselator, values: &mut [f64], x: &[f64]) {
    let (side, a) = (grid.side, grid.diffusion());
    let cells = side * side;
    assert!(side >= 4 && x.len() == 2 * cells && values.len() == 12 * cells, "six entries a row");
    let (u1, u2) = x.split_at(cells);
    let (rows, _) = values.as_chunks_mut::<6>();
    let (rows1, rows2) = rows.split_at_mut(cells);
    for j in 0..side {
        for i in 0..side {
            let c = i + side * j;
            // Where the own cell is among the five of its field, sorted.
            let mut own = 2;
            own -= usize::from(j == 0);
            own += usize::from(j + 1 == side);
            own -= usize::from(i == 0);
            own += usize::from(i + 1 == side);
            let (u, v) = (u1[c], u2[c]);
            let row = &mut rows1[c];
            row[..5].fill(a);
            row[own] = -4.0 * a + 2.0 * u * v - 4.4;
            row[5] = u * u;
            let row = &mut rows2[c];
            row[1..].fill(a);
            row[0] = 3.4 - 2.0 * u * v;
            row[own + 1] = -4.0 * a - u * u;
        }
    }
}
