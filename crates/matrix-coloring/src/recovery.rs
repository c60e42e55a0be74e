//! Which product of the compressed matrix each entry is recovered from.
//!
//! Called by the results (to build the decompression), by `check` (validity is recoverability) and by `postprocess`. All
//! of it uses pattern and colours alone, so a colouring may come from any algorithm or from the user.

use crate::algorithm::NEUTRAL;
use crate::error::{Conflict, Error, ErrorKind, LARGEST_COLOR};
use crate::pattern::{Lines, Pattern};

const NONE: u32 = u32::MAX;

/// Number of colours: one more than the largest. Labels must stay below the number of vertices.
pub(crate) fn count_colors(what: &'static str, colors: &[u32], vertices: usize) -> Result<usize, Error> {
    if colors.len() != vertices {
        return Err(Error::length(what, vertices, colors.len()));
    }
    let ncolors = colors.iter().filter(|&&c| c != NEUTRAL).map(|&c| c as usize + 1).max().unwrap_or(0);
    if ncolors > vertices {
        let (size, limit) = (ncolors - 1, vertices - 1);
        return Err(ErrorKind::TooLarge { what: LARGEST_COLOR, size, limit }.into());
    }
    Ok(ncolors)
}

/// Per entry: whether its index has a colour that no other index of the line has.
pub(crate) fn alone_in_line(lines: &Lines, colors: &[u32], ncolors: usize) -> Vec<bool> {
    let mut alone = vec![false; lines.indices.len()];
    let mut last = vec![(NONE, 0usize); ncolors];
    for i in 0..lines.len() {
        for k in lines.range(i) {
            let c = colors[lines.indices[k] as usize];
            if c == NEUTRAL {
                continue;
            }
            let (line, first) = last[c as usize];
            if line == i as u32 {
                alone[first] = false;
            } else {
                last[c as usize] = (i as u32, k);
                alone[k] = true;
            }
        }
    }
    alone
}

/// Position of every CSR entry in CSC order. For a symmetric pattern this is the CSR position of the mirror image.
pub(crate) fn transposed_positions(rows: &Lines, column_pointers: &[u32]) -> Vec<u32> {
    let mut cursor = column_pointers[..column_pointers.len() - 1].to_vec();
    let next = |&j: &u32| {
        let c = &mut cursor[j as usize];
        *c += 1;
        *c - 1
    };
    rows.indices.iter().map(next).collect()
}

/// Where an entry is read: from its own row and column colour, or vice versa.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// `(i, color(j))` of the column part.
    Column,
    /// `(j, color(i))` of the column part of a symmetric problem, `(color(i), j)` of the row part of a bidirectional one.
    Other,
}

/// How all entries are recovered; per-entry data in CSR order.
pub(crate) struct Recovery {
    pub(crate) reads: Vec<Read>,
    /// Entries that need others subtracted, in solving order, with the list of those others.
    pub(crate) steps: Vec<u32>,
    pub(crate) pointers: Vec<u32>,
    pub(crate) subtracted: Vec<u32>,
    /// For symmetric problems the position of the mirror image.
    pub(crate) mirror: Option<Vec<u32>>,
}

impl Recovery {
    fn direct(reads: Vec<Read>, mirror: Option<Vec<u32>>) -> Recovery {
        Recovery { reads, steps: Vec::new(), pointers: vec![0], subtracted: Vec::new(), mirror }
    }
}

/// Direct recovery of a symmetric matrix; the pattern must be symmetric.
pub(crate) fn symmetric_direct(pattern: &Pattern, colors: &[u32], ncolors: usize) -> Result<Recovery, Error> {
    let rows = pattern.any_lines();
    let alone = alone_in_line(rows, colors, ncolors);
    let mirror = transposed_positions(rows, &rows.pointers);
    let mut reads = vec![Read::Column; alone.len()];
    for (k, read) in reads.iter_mut().enumerate() {
        if !alone[k] {
            if !alone[mirror[k] as usize] {
                return Err(unreadable(rows, k, colors, colors));
            }
            *read = Read::Other;
        }
    }
    Ok(Recovery::direct(reads, Some(mirror)))
}

/// Direct recovery from column and row products.
pub(crate) fn bidirectional_direct(pattern: &Pattern, rows: Side<'_>, columns: Side<'_>) -> Result<Recovery, Error> {
    let lines = pattern.rows();
    let by_column = alone_in_line(lines, columns.colors, columns.ncolors);
    let by_row = alone_in_line(pattern.columns(), rows.colors, rows.ncolors);
    let across = transposed_positions(lines, &pattern.columns().pointers);
    let mut reads = vec![Read::Column; by_column.len()];
    for (k, read) in reads.iter_mut().enumerate() {
        if !by_column[k] {
            if !by_row[across[k] as usize] {
                return Err(unreadable(lines, k, rows.colors, columns.colors));
            }
            *read = Read::Other;
        }
    }
    Ok(Recovery::direct(reads, None))
}

/// Colours of one side of a bidirectional problem.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) colors: &'a [u32],
    pub(crate) ncolors: usize,
}

fn place(rows: &Lines, k: usize) -> (usize, usize) {
    let i = rows.pointers.partition_point(|&p| p as usize <= k) - 1;
    (i, rows.indices[k] as usize)
}

fn unreadable(rows: &Lines, k: usize, row_colors: &[u32], column_colors: &[u32]) -> Error {
    let (i, j) = place(rows, k);
    let neutral = row_colors[i] == NEUTRAL && column_colors[j] == NEUTRAL;
    Error::invalid(i, j, if neutral { Conflict::Neutral } else { Conflict::NotReadable })
}

/// The linear system of a compressed matrix: every entry of it is an equation, every entry of the matrix an unknown that
/// occurs in at most two of them. Solved by taking equations with one unknown left, which succeeds exactly when the
/// two-coloured subgraphs are forests (peeling leaves).
struct System {
    /// Equation of `(i, color(j))` per CSR position, numbered along the rows.
    first: Vec<u32>,
    /// The other equation of the same unknown.
    second: Vec<u32>,
    equations: usize,
    /// Smallest CSR position that holds the same unknown.
    mirror: Option<Vec<u32>>,
}

fn number_equations(lines: &Lines, colors: &[u32], ncolors: usize, start: u32) -> (Vec<u32>, u32) {
    let mut next = start;
    let mut last = vec![(NONE, NONE); ncolors];
    let mut ids = vec![NONE; lines.indices.len()];
    for i in 0..lines.len() {
        for k in lines.range(i) {
            let c = colors[lines.indices[k] as usize];
            if c != NEUTRAL {
                let slot = &mut last[c as usize];
                if slot.0 != i as u32 {
                    *slot = (i as u32, next);
                    next += 1;
                }
                ids[k] = slot.1;
            }
        }
    }
    (ids, next)
}

struct Peeled {
    /// Per unknown (its smallest CSR position) the equation that solves it.
    solver: Vec<u32>,
    /// Unknowns that share their equation with others, in solving order.
    order: Vec<u32>,
    /// Whether an equation had a single unknown from the start.
    single: Vec<bool>,
    solved: usize,
}

impl System {
    fn symmetric(pattern: &Pattern, colors: &[u32], ncolors: usize) -> System {
        let rows = pattern.any_lines();
        let mirror = transposed_positions(rows, &rows.pointers);
        let (first, equations) = number_equations(rows, colors, ncolors, 0);
        let other = |(k, &t): (usize, &u32)| if t as usize == k { NONE } else { first[t as usize] };
        let second = mirror.iter().enumerate().map(other).collect();
        System { first, second, equations: equations as usize, mirror: Some(mirror) }
    }

    fn bidirectional(pattern: &Pattern, rows: Side<'_>, columns: Side<'_>) -> System {
        let (first, middle) = number_equations(pattern.rows(), columns.colors, columns.ncolors, 0);
        let (by_column, equations) = number_equations(pattern.columns(), rows.colors, rows.ncolors, middle);
        let across = transposed_positions(pattern.rows(), &pattern.columns().pointers);
        let second = across.iter().map(|&t| by_column[t as usize]).collect();
        System { first, second, equations: equations as usize, mirror: None }
    }

    fn unknown(&self, k: usize) -> usize {
        self.mirror.as_ref().map_or(k, |mirror| k.min(mirror[k] as usize))
    }

    fn unknowns(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.first.len()).filter(|&k| self.unknown(k) == k)
    }

    fn peel(&self) -> Peeled {
        let mut left = vec![0u32; self.equations];
        let mut mixed = vec![0u32; self.equations]; // xor of the unknowns left: the unknown itself when one is left
        for u in self.unknowns() {
            for e in [self.first[u], self.second[u]] {
                if e != NONE {
                    left[e as usize] += 1;
                    mixed[e as usize] ^= u as u32;
                }
            }
        }
        let single: Vec<bool> = left.iter().map(|&count| count == 1).collect();
        let mut queue: Vec<u32> = (0..self.equations as u32).filter(|&e| single[e as usize]).collect();
        let mut solver = vec![NONE; self.first.len()];
        let (mut order, mut head, mut solved) = (Vec::new(), 0, 0);
        while let Some(&e) = queue.get(head) {
            head += 1;
            if left[e as usize] == 0 {
                continue; // its last unknown was solved by the other equation
            }
            let u = mixed[e as usize] as usize;
            solver[u] = e;
            solved += 1;
            if !single[e as usize] {
                order.push(u as u32);
            }
            for f in [self.first[u], self.second[u]] {
                if f != NONE {
                    left[f as usize] -= 1;
                    mixed[f as usize] ^= u as u32;
                    if f != e && left[f as usize] == 1 {
                        queue.push(f);
                    }
                }
            }
        }
        Peeled { solver, order, single, solved }
    }

    fn recovery(self, rows: &Lines, row_colors: &[u32], column_colors: &[u32]) -> Result<Recovery, Error> {
        let peeled = self.peel();
        let unsolved = |&k: &usize| peeled.solver[self.unknown(k)] == NONE;
        if let Some(k) = (0..self.first.len()).find(unsolved) {
            let (i, j) = place(rows, k);
            let neutral = row_colors[i] == NEUTRAL && column_colors[j] == NEUTRAL;
            return Err(Error::invalid(i, j, if neutral { Conflict::Neutral } else { Conflict::Cycle }));
        }
        let own = |k: usize| {
            let e = self.first[k];
            e != NONE && (peeled.single[e as usize] || peeled.solver[self.unknown(k)] == e)
        };
        let reads = (0..self.first.len()).map(|k| if own(k) { Read::Column } else { Read::Other }).collect();
        let mut recovery =
            Recovery { reads, steps: Vec::new(), pointers: vec![0], subtracted: Vec::new(), mirror: None };
        if !peeled.order.is_empty() {
            let members = self.members();
            for &u in &peeled.order {
                let e = peeled.solver[u as usize] as usize;
                let others = members.line(e).iter().copied().filter(|&k| self.unknown(k as usize) != u as usize);
                recovery.subtracted.extend(others);
                recovery.steps.push(u);
                recovery.pointers.push(recovery.subtracted.len() as u32);
            }
        }
        recovery.mirror = self.mirror;
        Ok(recovery)
    }

    /// The CSR positions in every equation.
    fn members(&self) -> Lines {
        // In a symmetric system both positions of an unknown occur as positions, so `first` alone covers it.
        let second: &[u32] = if self.mirror.is_some() { &[] } else { &self.second };
        let mut pointers = vec![0u32; self.equations + 1];
        for &e in self.first.iter().chain(second).filter(|&&e| e != NONE) {
            pointers[e as usize + 1] += 1;
        }
        for e in 0..self.equations {
            pointers[e + 1] += pointers[e];
        }
        let mut cursor = pointers[..self.equations].to_vec();
        let mut indices = vec![0u32; pointers[self.equations] as usize];
        for list in [&self.first[..], second] {
            for (k, &e) in list.iter().enumerate().filter(|(_, e)| **e != NONE) {
                indices[cursor[e as usize] as usize] = k as u32;
                cursor[e as usize] += 1;
            }
        }
        Lines { pointers, indices }
    }
}

/// Recovery of a symmetric matrix by substitution; the pattern must be symmetric.
pub(crate) fn symmetric_substitution(pattern: &Pattern, colors: &[u32], ncolors: usize) -> Result<Recovery, Error> {
    System::symmetric(pattern, colors, ncolors).recovery(pattern.any_lines(), colors, colors)
}

/// Recovery from column and row products by substitution.
pub(crate) fn bidirectional_substitution(
    pattern: &Pattern,
    rows: Side<'_>,
    columns: Side<'_>,
) -> Result<Recovery, Error> {
    System::bidirectional(pattern, rows, columns).recovery(pattern.rows(), rows.colors, columns.colors)
}

/// Whether substitution recovers every entry; cheaper than building the [`Recovery`].
pub(crate) fn is_substitutable(pattern: &Pattern, rows: Option<Side<'_>>, columns: Side<'_>) -> bool {
    let system = match rows {
        Some(rows) => System::bidirectional(pattern, rows, columns),
        None => System::symmetric(pattern, columns.colors, columns.ncolors),
    };
    let unknowns = system.unknowns().count();
    system.peel().solved == unknowns
}
