//! Systems of linear equations, some entries of which are absent: which solutions depend on which equations.
//!
//! Used by the rule of implicit functions. A solution that does not depend on a number stays right where that number is infinite or NaN.

use crate::recordings::EngineScalar;
use crate::scalar::Scalar;
use num_traits::Float;
use std::sync::OnceLock;

/// A square matrix by columns, some entries of which are absent, and its blocks.
#[derive(Debug)]
pub(super) struct Jacobian<S> {
    n: usize,
    entries: Vec<S>,
    is_present: Vec<bool>,
    /// The diagonal blocks after a permutation to a block triangular matrix, those first that depend on no other (Pothen, Fan 1990): a solution of
    /// one block takes the solutions of those before it. A single one of all rows if there is no permutation, as the matrix is singular then.
    blocks: OnceLock<Vec<Block>>,
    /// The numbers of the singular ones, found likewise.
    singular: OnceLock<Vec<usize>>,
}

/// As many rows as columns of a matrix.
#[derive(Debug, PartialEq)]
struct Block {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl<S: Scalar> Jacobian<S> {
    /// The matrix with these entries, by columns.
    pub(super) fn new(n: usize, entries: &[Option<S>]) -> Self {
        let is_present = entries.iter().map(Option::is_some).collect();
        let entries = entries.iter().map(|entry| entry.unwrap_or_default()).collect();
        Jacobian { n, entries, is_present, blocks: OnceLock::new(), singular: OnceLock::new() }
    }

    /// The blocks, found when they are first asked for: a finite solution with all right sides needs none.
    fn found(&self) -> &[Block] {
        self.blocks.get_or_init(|| {
            let Jacobian { n, ref is_present, .. } = *self;
            let assigned = if is_present.contains(&false) { Assigned::find(n, is_present) } else { None };
            match assigned {
                Some(assigned) => assigned.blocks(is_present),
                None => vec![Block { rows: (0..n).collect(), columns: (0..n).collect() }],
            }
        })
    }

    /// The blocks in the order of the substitution: places of the equations, and of their solutions.
    fn blocks(&self, transposed: bool) -> impl Iterator<Item = [&[usize]; 2]> {
        let blocks = self.found();
        (0..blocks.len()).map(move |i| {
            let Block { rows, columns } = &blocks[if transposed { blocks.len() - 1 - i } else { i }];
            if transposed { [&columns[..], &rows[..]] } else { [&rows[..], &columns[..]] }
        })
    }

    /// Where the entry of a solution in an equation lies.
    fn place(&self, transposed: bool, equation: usize, solution: usize) -> usize {
        if transposed { solution + self.n * equation } else { equation + self.n * solution }
    }

    /// The entries of a block, by columns.
    fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<S> {
        columns.iter().flat_map(|column| rows.iter().map(move |row| self.entries[row + self.n * column])).collect()
    }

    /// Which solutions of M x = b or Mᵀ x = b depend on a right side that is present at some places.
    fn moved<R>(&self, transposed: bool, right: &[Option<R>]) -> Vec<bool> {
        let mut is_moved = vec![right.iter().all(Option::is_some); self.n];
        if is_moved.first() != Some(&false) {
            return is_moved;
        }
        for [equations, solutions] in self.blocks(transposed) {
            let reaches = |&equation: &usize| {
                let meets = |&solution: &usize| self.is_present[self.place(transposed, equation, solution)];
                right[equation].is_some()
                    || (0..self.n).filter(|&solution| is_moved[solution]).any(|solution| meets(&solution))
            };
            if equations.iter().any(reaches) {
                solutions.iter().for_each(|&solution| is_moved[solution] = true);
            }
        }
        is_moved
    }

    /// The solution of M x = b or Mᵀ x = b, absent where it does not depend on the right side. `solve` solves a system with a matrix by columns, of all
    /// equations if the flag is set.
    pub(super) fn solve(
        &self,
        transposed: bool,
        right: &[Option<S>],
        solve: impl Fn(bool, &[S], &[S]) -> Vec<S>,
    ) -> Vec<Option<S>> {
        let is_moved = self.moved(transposed, right);
        // The factors of the whole matrix serve all right sides at a point.
        if S::DEPTH == 0 || self.found().len() == 1 {
            let right: Vec<S> = right.iter().map(|v| v.unwrap_or_default()).collect();
            let solution = solve(true, &self.entries, &right);
            if solution.iter().all(|v| v.peek().is_finite()) || self.found().len() == 1 {
                return solution.iter().zip(is_moved).map(|(v, is_moved)| is_moved.then_some(*v)).collect();
            }
        }
        let mut solution: Vec<Option<S>> = vec![None; self.n];
        for [equations, solutions] in self.blocks(transposed).filter(|[_, solutions]| is_moved[solutions[0]]) {
            let rest: Vec<S> = equations
                .iter()
                .map(|&equation| {
                    let known = solution.iter().enumerate().filter_map(|(place, v)| Some((place, (*v)?)));
                    known.fold(right[equation].unwrap_or_default(), |sum, (place, v)| {
                        let at = self.place(transposed, equation, place);
                        if self.is_present[at] { sum - self.entries[at] * v } else { sum }
                    })
                })
                .collect();
            let found = match &rest[..] {
                [rest] => vec![*rest / self.entries[self.place(transposed, equations[0], solutions[0])]],
                _ if transposed => solve(false, &self.block(solutions, equations), &rest),
                _ => solve(false, &self.block(equations, solutions), &rest),
            };
            solutions.iter().zip(found).for_each(|(&place, v)| solution[place] = Some(v));
        }
        solution
    }
}

impl Jacobian<f64> {
    /// The numbers of the singular blocks. `is_singular(is_whole, n, block)` is asked of those of n > 1 rows, by columns; `is_whole` if the
    /// block is the whole matrix.
    pub(super) fn singular_blocks(&self, is_singular: impl Fn(bool, usize, &[f64]) -> bool) -> &[usize] {
        let of = |Block { rows, columns }: &Block| match (&rows[..], &columns[..]) {
            ([], _) => false,
            ([row], [column]) => {
                let entry = self.entries[row + self.n * column];
                entry == 0.0 || entry.is_nan()
            }
            _ if rows.len() == self.n => is_singular(true, self.n, &self.entries),
            _ => is_singular(false, rows.len(), &self.block(rows, columns)),
        };
        let find =
            || self.found().iter().enumerate().filter(|(_, block)| of(block)).map(|(number, _)| number).collect();
        self.singular.get_or_init(find)
    }

    /// Makes the right sides of Mᵀ w = b NaN in the blocks of these numbers whose solutions depend on no right side.
    pub(super) fn spoil<S: Scalar<Base = f64>>(&self, blocks: &[usize], right: &mut [Option<S>]) {
        let is_moved = self.moved(true, right);
        for Block { rows, columns } in blocks.iter().map(|&number| &self.found()[number]) {
            if !is_moved[rows[0]] {
                columns.iter().for_each(|&column| right[column] = Some(S::constant(f64::NAN)));
            }
        }
    }
}

/// An assignment of rows to columns, with a present entry where they meet: the inverse permutations.
#[derive(Debug)]
struct Assigned {
    row_of: Vec<usize>,
    column_of: Vec<usize>,
}

impl Assigned {
    /// Assigns rows to columns by augmenting paths.
    fn find(n: usize, is_present: &[bool]) -> Option<Self> {
        let mut assigned = Assigned { row_of: vec![n; n], column_of: vec![n; n] };
        // Most systems have condition i for unknown i.
        for i in (0..n).filter(|i| is_present[i + n * i]) {
            (assigned.row_of[i], assigned.column_of[i]) = (i, i);
        }
        for start in (0..n).filter(|&column| assigned.row_of[column] == n).collect::<Vec<_>>() {
            assigned.augment(n, is_present, start)?;
        }
        Some(assigned)
    }

    /// Assigns a row to column `start`, moving other rows to other columns: a search in breadth.
    fn augment(&mut self, n: usize, is_present: &[bool], start: usize) -> Option<()> {
        // The column from which a row was reached.
        let mut reached_from = vec![n; n];
        let mut columns = vec![start];
        let mut next = 0;
        loop {
            let column = *columns.get(next)?;
            next += 1;
            for row in (0..n).filter(|row| is_present[row + n * column]) {
                if reached_from[row] < n {
                    continue;
                }
                reached_from[row] = column;
                if self.column_of[row] < n {
                    columns.push(self.column_of[row]);
                    continue;
                }
                let mut free = row;
                while free < n {
                    let column = reached_from[free];
                    self.column_of[free] = column;
                    free = std::mem::replace(&mut self.row_of[column], free);
                }
                return Some(());
            }
        }
    }

    /// The strong components of the graph in which a column leads to the columns with entries in its row: by Kosaraju's and Sharir's two searches in depth.
    fn blocks(&self, is_present: &[bool]) -> Vec<Block> {
        let n = self.row_of.len();
        let leads = |from: usize, to: usize| is_present[self.row_of[from] + n * to];
        let mut is_seen = vec![false; n];
        let mut left = Vec::new();
        (0..n).for_each(|start| search(start, leads, &mut is_seen, &mut left));
        is_seen.fill(false);
        let mut blocks = Vec::new();
        for &start in left.iter().rev() {
            let mut columns = Vec::new();
            search(start, |from, to| leads(to, from), &mut is_seen, &mut columns);
            if !columns.is_empty() {
                columns.sort_unstable();
                blocks.push(Block { rows: columns.iter().map(|&column| self.row_of[column]).collect(), columns });
            }
        }
        // A block is found before those to which it leads.
        blocks.reverse();
        blocks
    }
}

/// Appends what is reached from `start` and was not seen, each place after those reached from it.
fn search(start: usize, leads: impl Fn(usize, usize) -> bool, is_seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut is_seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((at, next)) = path.last_mut() {
        match (*next..is_seen.len()).find(|&to| !is_seen[to] && leads(*at, to)) {
            Some(to) => {
                *next = to + 1;
                is_seen[to] = true;
                path.push((to, 0));
            }
            None => {
                left.push(*at);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a matrix given by rows: their rows and columns.
    fn blocks<const N: usize>(matrix: [[u8; N]; N]) -> Vec<[Vec<usize>; 2]> {
        let jacobian = Jacobian::new(N, &entries(matrix));
        jacobian.found().iter().map(|Block { rows, columns }| [rows.clone(), columns.clone()]).collect()
    }

    fn entries<const N: usize>(matrix: [[u8; N]; N]) -> Vec<Option<f64>> {
        let by_columns = (0..N * N).map(|at| matrix[at % N][at / N]);
        by_columns.map(|entry| (entry != 0).then_some(f64::from(entry))).collect()
    }

    #[test]
    fn blocks_are_ordered_by_dependence() {
        let one = |row, column| [vec![row], vec![column]];
        let all = |n: usize| [(0..n).collect::<Vec<_>>(), (0..n).collect()];
        assert_eq!(blocks([[1, 0], [1, 1]]), [one(0, 0), one(1, 1)]);
        assert_eq!(blocks([[1, 1], [0, 1]]), [one(1, 1), one(0, 0)]);
        // Row 0 is for x₁, and row 1 for x₀.
        assert_eq!(blocks([[0, 1], [1, 1]]), [one(0, 1), one(1, 0)]);
        // An assignment of the third row to x₀ moves the first to x₁ and the second to x₂.
        assert_eq!(blocks([[1, 1, 0], [1, 0, 1], [1, 0, 0]]), [one(2, 0), one(0, 1), one(1, 2)]);
        assert_eq!(blocks([[1, 0, 1], [0, 1, 0], [1, 0, 1]]), [[vec![0, 2], vec![0, 2]], one(1, 1)]);
        // A ring, a matrix without an assignment, and one without absent entries.
        assert_eq!(blocks([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), [all(3)]);
        assert_eq!(blocks([[1, 1], [0, 0]]), [all(2)]);
        assert_eq!(blocks([[1, 2], [3, 4]]), [all(2)]);
        assert_eq!(blocks::<0>([]), [all(0)]);
    }

    /// Systems of one or two equations by Cramer's rule.
    fn cramer(matrix: &[f64], right: &[f64]) -> Vec<f64> {
        match (matrix, right) {
            (&[a, c, b, d], &[x, y]) => {
                let determinant = a * d - b * c;
                vec![(d * x - b * y) / determinant, (a * y - c * x) / determinant]
            }
            _ => vec![f64::NAN; right.len()],
        }
    }

    #[test]
    fn solutions_are_absent_or_wrong_only_where_they_depend_on_the_right_side() {
        // x₀ + 2 x₁ = b₀, x₀ + x₁ = b₁, 3 x₁ + 2 x₂ = b₂: the whole matrix is not solved here.
        let jacobian = Jacobian::new(3, &entries([[1, 2, 0], [1, 1, 0], [0, 3, 2]]));
        let solve = |transposed, right: [Option<f64>; 3]| {
            jacobian.solve(transposed, &right, |is_whole, matrix, right| match (is_whole, transposed) {
                (true, _) => vec![f64::NAN; 3],
                (_, false) => cramer(matrix, right),
                (_, true) => cramer(&[matrix[0], matrix[2], matrix[1], matrix[3]], right),
            })
        };
        let inf = f64::INFINITY;
        assert_eq!(solve(false, [None, None, Some(4.0)]), [None, None, Some(2.0)]);
        assert_eq!(solve(false, [Some(3.0), Some(2.0), None]), [Some(1.0), Some(1.0), Some(-1.5)]);
        assert_eq!(solve(false, [Some(3.0), Some(2.0), Some(inf)]), [Some(1.0), Some(1.0), Some(inf)]);
        // w₀ + w₁ = b₀, 2 w₀ + w₁ + 3 w₂ = b₁, 2 w₂ = b₂.
        assert_eq!(solve(true, [Some(2.0), Some(3.0), None]), [Some(1.0), Some(1.0), None]);
        assert_eq!(solve(true, [None, None, Some(2.0)]), [Some(-3.0), Some(3.0), Some(1.0)]);
    }
}
