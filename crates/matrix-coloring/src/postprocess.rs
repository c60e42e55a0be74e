//! Postprocessing: colours that no entry needs become neutral, so their product is never computed.
//!
//! Called by `greedy` after a symmetric or bidirectional colouring. Drops whole colour classes, smallest first, as
//! long as every entry stays recoverable; no further class of the result can be dropped.

use crate::algorithm::NEUTRAL;
use crate::order::sorted_by;
use crate::pattern::Pattern;
use crate::recovery::{Side, alone_in_line, is_substitutable, transposed_positions};

/// Renumbers the colours in use as 0, 1, … in their order; returns how many there are.
pub(crate) fn renumber(colors: &mut [u32]) -> usize {
    let largest = colors.iter().filter(|&&c| c != NEUTRAL).max().map_or(0, |&c| c as usize + 1);
    let mut label = vec![NEUTRAL; largest];
    for &c in colors.iter().filter(|&&c| c != NEUTRAL) {
        label[c as usize] = 0;
    }
    let mut next = 0;
    for slot in label.iter_mut().filter(|slot| **slot == 0) {
        *slot = next;
        next += 1;
    }
    for c in colors.iter_mut().filter(|c| **c != NEUTRAL) {
        *c = label[*c as usize];
    }
    next as usize
}

/// Vertices of one palette by colour, and how many entries depend on each colour alone.
struct Classes {
    members: Vec<Vec<u32>>,
    needed: Vec<u32>,
}

impl Classes {
    fn new(colors: &[u32]) -> Classes {
        let ncolors = colors.iter().filter(|&&c| c != NEUTRAL).max().map_or(0, |&c| c as usize + 1);
        let mut members = vec![Vec::new(); ncolors];
        for (v, &c) in colors.iter().enumerate().filter(|(_, c)| **c != NEUTRAL) {
            members[c as usize].push(v as u32);
        }
        Classes { members, needed: vec![0; ncolors] }
    }

    /// Colours by increasing class size.
    fn smallest_first(&self) -> Vec<u32> {
        sorted_by(self.members.len(), &|c| self.members[c].len())
    }
}

/// A colour of columns or of rows: the size of its class, whether it is of columns, and its number.
type Candidate = (usize, bool, usize);

/// Candidates by increasing size, columns before rows. Those given are sorted by their numbers, columns and rows apart.
fn smallest_columns_first(candidates: &[Candidate]) -> impl Iterator<Item = Candidate> {
    let order = sorted_by(candidates.len(), &|i| 2 * candidates[i].0 + usize::from(!candidates[i].1));
    order.into_iter().map(|i| candidates[i as usize])
}

/// Drops colours of a symmetric direct colouring.
pub(crate) fn symmetric_direct(pattern: &Pattern, colors: &mut [u32]) {
    let mut classes = Classes::new(colors);
    let rows = pattern.any_lines();
    let mut alone = alone_in_line(rows, colors, classes.members.len());
    let mirror = transposed_positions(rows, &rows.pointers);
    let original = colors.to_vec();
    for i in 0..rows.len() {
        for k in rows.range(i) {
            let (j, t) = (rows.indices[k] as usize, mirror[k] as usize);
            // Entries read from one class only: the diagonal, and those with one readable end or both in one class.
            if alone[k] && (!alone[t] || original[i] == original[j]) {
                classes.needed[original[j] as usize] += 1;
            }
        }
    }
    for c in classes.smallest_first() {
        if classes.needed[c as usize] > 0 {
            continue;
        }
        for &j in &classes.members[c as usize] {
            colors[j as usize] = NEUTRAL;
            for k in rows.range(j as usize) {
                // Entry (i, j) is no longer read with the colour of j, so it needs that of i.
                let (i, t) = (rows.indices[k] as usize, mirror[k] as usize);
                if std::mem::replace(&mut alone[t], false) && alone[k] {
                    classes.needed[original[i] as usize] += 1;
                }
            }
        }
    }
    renumber(colors);
}

/// Drops colours of a direct bicolouring.
pub(crate) fn bidirectional_direct(pattern: &Pattern, row_colors: &mut [u32], column_colors: &mut [u32]) {
    let (mut by_row, mut by_column) = (Classes::new(row_colors), Classes::new(column_colors));
    let (rows, columns) = (pattern.rows(), pattern.columns());
    let mut column_reads = alone_in_line(rows, column_colors, by_column.members.len());
    let mut row_reads = alone_in_line(columns, row_colors, by_row.members.len());
    let across = transposed_positions(rows, &columns.pointers);
    let back = transposed_positions(columns, &rows.pointers);
    let (old_rows, old_columns) = (row_colors.to_vec(), column_colors.to_vec());
    for (i, &row_color) in old_rows.iter().enumerate() {
        for k in rows.range(i) {
            match (column_reads[k], row_reads[across[k] as usize]) {
                (true, false) => by_column.needed[old_columns[rows.indices[k] as usize] as usize] += 1,
                (false, true) => by_row.needed[row_color as usize] += 1,
                _ => {}
            }
        }
    }
    let mut candidates = Vec::with_capacity(by_column.members.len() + by_row.members.len());
    candidates.extend(by_column.members.iter().enumerate().map(|(c, members)| (members.len(), true, c)));
    candidates.extend(by_row.members.iter().enumerate().map(|(c, members)| (members.len(), false, c)));
    for (_, is_column, c) in smallest_columns_first(&candidates) {
        let (mine, theirs) = if is_column { (&by_column, &mut by_row) } else { (&by_row, &mut by_column) };
        if mine.needed[c] > 0 {
            continue;
        }
        let (lines, map) = if is_column { (columns, &back) } else { (rows, &across) };
        let (my_colors, their_colors) =
            if is_column { (&mut *column_colors, &old_rows) } else { (&mut *row_colors, &old_columns) };
        let (my_reads, their_reads) =
            if is_column { (&mut column_reads, &row_reads) } else { (&mut row_reads, &column_reads) };
        for &v in &mine.members[c] {
            my_colors[v as usize] = NEUTRAL;
            for k in lines.range(v as usize) {
                // `my_reads` is stored along the other orientation, `their_reads` along this one.
                if std::mem::replace(&mut my_reads[map[k] as usize], false) && their_reads[k] {
                    theirs.needed[their_colors[lines.indices[k] as usize] as usize] += 1;
                }
            }
        }
    }
    renumber(row_colors);
    renumber(column_colors);
}

/// Drops colours of a colouring by substitution: tries every class by solving without it. If that could visit more
/// than `limit` entries, a bidirectional colouring stays unchanged, and a symmetric one is tried until the limit is reached.
pub(crate) fn substitution(
    pattern: &Pattern,
    mut row_colors: Option<&mut [u32]>,
    column_colors: &mut [u32],
    limit: usize,
) {
    let columns = Classes::new(column_colors);
    let rows = Classes::new(row_colors.as_deref().unwrap_or(&[]));
    let symmetric = row_colors.is_none();
    let mut candidates = Vec::new();
    for (c, members) in columns.members.iter().enumerate() {
        // A diagonal entry of a symmetric matrix occurs in one equation only, so its colour cannot be dropped.
        let pinned =
            symmetric && members.iter().any(|&v| pattern.any_lines().line(v as usize).binary_search(&v).is_ok());
        if !pinned {
            candidates.push((members.len(), true, c));
        }
    }
    candidates.extend(rows.members.iter().enumerate().map(|(c, members)| (members.len(), false, c)));
    if !symmetric && candidates.len().saturating_mul(pattern.nnz()) > limit {
        return;
    }
    let mut solutions = limit / pattern.nnz().max(1);
    for (_, is_column, c) in smallest_columns_first(&candidates) {
        let members = if is_column { &columns.members[c] } else { &rows.members[c] };
        if symmetric {
            // An entry between two neutral vertices occurs in no equation.
            let is_neutral = |&w: &u32| column_colors[w as usize] == NEUTRAL;
            if members.iter().any(|&v| pattern.any_lines().line(v as usize).iter().any(is_neutral)) {
                continue;
            }
            if solutions == 0 {
                break;
            }
            solutions -= 1;
        }
        paint(members, if_row(&mut row_colors, is_column).unwrap_or(column_colors), NEUTRAL);
        let row_side = row_colors.as_deref().map(|colors| Side { colors, ncolors: rows.members.len() });
        let column_side = Side { colors: column_colors, ncolors: columns.members.len() };
        if !is_substitutable(pattern, row_side, column_side) {
            paint(members, if_row(&mut row_colors, is_column).unwrap_or(column_colors), c as u32);
        }
    }
    if let Some(colors) = row_colors {
        renumber(colors);
    }
    renumber(column_colors);
}

fn paint(members: &[u32], colors: &mut [u32], color: u32) {
    members.iter().for_each(|&v| colors[v as usize] = color);
}

fn if_row<'a>(row_colors: &'a mut Option<&mut [u32]>, is_column: bool) -> Option<&'a mut [u32]> {
    if is_column { None } else { row_colors.as_deref_mut() }
}
