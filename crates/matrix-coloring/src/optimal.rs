//! Optimal colouring of small matrices (feature `optimal`), by the SAT solver `batsat`.
//!
//! An algorithm for [`coloring`](crate::coloring): starts from the greedy colours and tries one colour less until there
//! is no such colouring. For reference results; the time grows exponentially.

use std::collections::HashMap;

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

use crate::NEUTRAL;
use crate::algorithm::{ColoringAlgorithm, Colors, DecompressionKind, ProblemKind, distinct};
use crate::error::{Error, ErrorKind};
use crate::graph::{Conflicts, Graph};
use crate::greedy::{GreedyColoring, Sets};
use crate::pattern::Pattern;

/// Colourings with the fewest colours: column, row, star, acyclic and star bicolouring. Acyclic bicolouring is not
/// supported. Column, row, star and acyclic colours are optimal among colourings without neutral vertices.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, OptimalColoring, Order, Pattern, coloring};
///
/// let rows = [[1, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 0, 1, 1, 1, 1, 0]];
/// let pattern = Pattern::from_fn(4, 8, |i, j| rows[i][j] == 1)?;
/// assert_eq!(coloring(&pattern, Column, &GreedyColoring::new(Order::Natural))?.ncolors(), 5);
/// assert_eq!(coloring(&pattern, Column, &OptimalColoring::default())?.ncolors(), 4);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptimalColoring {
    max_vertices: usize,
}

impl Default for OptimalColoring {
    fn default() -> OptimalColoring {
        OptimalColoring { max_vertices: 100 }
    }
}

impl OptimalColoring {
    /// Accepts up to `max_vertices` coloured rows and columns (100 by default); larger problems are refused.
    pub fn max_vertices(mut self, max_vertices: usize) -> OptimalColoring {
        self.max_vertices = max_vertices;
        self
    }
}

impl ColoringAlgorithm for OptimalColoring {
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error> {
        let greedy = GreedyColoring::default().postprocess(matches!(problem, ProblemKind::Bidirectional(_)));
        let vertices = match problem {
            ProblemKind::Column | ProblemKind::Symmetric(_) => pattern.ncols(),
            ProblemKind::Row => pattern.nrows(),
            ProblemKind::Bidirectional(_) => pattern.nrows() + pattern.ncols(),
        };
        if vertices > self.max_vertices {
            let limit = self.max_vertices;
            return Err(ErrorKind::TooLarge { what: "vertices of an optimal colouring", size: vertices, limit }.into());
        }
        let mut best = greedy.colors(pattern, problem)?;
        match problem {
            ProblemKind::Column => {
                let graph = conflict_graph(&Conflicts::Lines { own: pattern.columns(), other: pattern.rows() });
                descend(&graph, Avoid::Edges, &mut best.columns);
            }
            ProblemKind::Row => {
                let graph = conflict_graph(&Conflicts::Lines { own: pattern.rows(), other: pattern.columns() });
                descend(&graph, Avoid::Edges, &mut best.rows);
            }
            ProblemKind::Symmetric(decompression) => {
                let avoid = if decompression == DecompressionKind::Direct { Avoid::Paths } else { Avoid::Cycles };
                descend(&Graph::adjacency(pattern), avoid, &mut best.columns);
            }
            ProblemKind::Bidirectional(DecompressionKind::Direct) => loop {
                let count = distinct(&best.rows) + distinct(&best.columns);
                match count.checked_sub(1).and_then(|fewer| bicoloring(pattern, fewer)) {
                    Some(better) => best = better,
                    None => break,
                }
            },
            ProblemKind::Bidirectional(DecompressionKind::Substitution) => {
                return Err(ErrorKind::Unsupported { algorithm: "OptimalColoring", problem: problem.name() }.into());
            }
        }
        Ok(best)
    }
}

fn conflict_graph(conflicts: &Conflicts<'_>) -> Graph {
    let mut seen = conflicts.seen();
    let (mut pointers, mut indices) = (vec![0], Vec::new());
    for v in 0..conflicts.vertices() {
        conflicts.for_each(v, &mut seen, |w| indices.push(w));
        pointers.push(indices.len() as u32);
    }
    Graph { lines: crate::pattern::Lines { pointers, indices } }
}

/// What a colouring must avoid besides equal neighbours.
#[derive(Clone, Copy, PartialEq)]
enum Avoid {
    Edges,
    /// Two-coloured paths on four vertices.
    Paths,
    /// Two-coloured cycles.
    Cycles,
}

fn descend(graph: &Graph, avoid: Avoid, colors: &mut Vec<u32>) {
    loop {
        let count = distinct(colors);
        match count.checked_sub(1).and_then(|fewer| Model::new(graph, fewer)?.solve(avoid)) {
            Some(better) => *colors = better,
            None => break,
        }
    }
}

/// Adds a clause; `false` when the clauses contradict each other.
fn clause(solver: &mut BasicSolver, lits: impl IntoIterator<Item = Lit>) -> bool {
    solver.add_clause_reuse(&mut lits.into_iter().collect())
}

fn at_most_one(solver: &mut BasicSolver, vars: &[Var]) {
    for (k, &a) in vars.iter().enumerate() {
        for &b in &vars[..k] {
            clause(solver, [Lit::new(a, false), Lit::new(b, false)]);
        }
    }
}

/// Decides whether a colouring with this many colours exists. Paths and cycles are forbidden as they occur in solutions.
struct Model<'a> {
    graph: &'a Graph,
    solver: BasicSolver,
    /// `has[v][c]`: vertex v has colour c.
    has: Vec<Vec<Var>>,
    /// Implied when two vertices have equal colours.
    same: HashMap<(u32, u32), Var>,
}

impl Model<'_> {
    /// `None` if there are vertices but no colours.
    fn new(graph: &Graph, ncolors: usize) -> Option<Model<'_>> {
        let n = graph.vertices();
        if ncolors == 0 && n > 0 {
            return None;
        }
        let mut solver = BasicSolver::default();
        let mut has = vec![Vec::new(); n];
        let mut by_degree: Vec<usize> = (0..n).collect();
        by_degree.sort_by_key(|&v| std::cmp::Reverse(graph.neighbors(v).len()));
        for (rank, &v) in by_degree.iter().enumerate() {
            has[v] = (0..ncolors).map(|_| solver.new_var_default()).collect();
            clause(&mut solver, has[v].iter().map(|&x| Lit::new(x, true)));
            // Colours are interchangeable: the k-th vertex needs none beyond the k-th colour.
            for &x in has[v].iter().skip(rank + 1) {
                clause(&mut solver, [Lit::new(x, false)]);
            }
            at_most_one(&mut solver, &has[v]);
        }
        for v in 0..n {
            for &w in graph.neighbors(v).iter().filter(|&&w| (w as usize) < v) {
                for (&x, &y) in has[v].iter().zip(&has[w as usize]) {
                    clause(&mut solver, [Lit::new(x, false), Lit::new(y, false)]);
                }
            }
        }
        Some(Model { graph, solver, has, same: HashMap::new() })
    }

    fn same(&mut self, a: u32, b: u32) -> Var {
        let key = (a.min(b), a.max(b));
        if let Some(&var) = self.same.get(&key) {
            return var;
        }
        let var = self.solver.new_var_default();
        for (&x, &y) in self.has[a as usize].iter().zip(&self.has[b as usize]) {
            clause(&mut self.solver, [Lit::new(x, false), Lit::new(y, false), Lit::new(var, true)]);
        }
        self.same.insert(key, var);
        var
    }

    /// Forbids that all pairs have equal colours.
    fn forbid(&mut self, pairs: &[(u32, u32)]) {
        let lits: Vec<Lit> = pairs.iter().map(|&(a, b)| Lit::new(self.same(a, b), false)).collect();
        clause(&mut self.solver, lits);
    }

    fn solve(mut self, avoid: Avoid) -> Option<Vec<u32>> {
        loop {
            if self.solver.solve_limited(&[]) != lbool::TRUE {
                return None;
            }
            let value = |&x: &Var| self.solver.value_var(x) == lbool::TRUE;
            let color = |list: &Vec<Var>| list.iter().position(value).map_or(NEUTRAL, |c| c as u32);
            let colors: Vec<u32> = self.has.iter().map(color).collect();
            let violations = match avoid {
                Avoid::Edges => Vec::new(),
                Avoid::Paths => two_colored_paths(self.graph, &colors),
                Avoid::Cycles => two_colored_cycles(self.graph, &colors),
            };
            if violations.is_empty() {
                return Some(colors);
            }
            violations.iter().for_each(|pairs| self.forbid(pairs));
        }
    }
}

/// Per two-coloured path a, b, c, d on four vertices: its pairs (a, c), (b, d).
fn two_colored_paths(graph: &Graph, colors: &[u32]) -> Vec<Vec<(u32, u32)>> {
    let mut paths = Vec::new();
    for b in 0..graph.vertices() as u32 {
        for &c in graph.neighbors(b as usize).iter().filter(|&&c| c > b) {
            let twin = |of: u32, around: u32| {
                let equal = move |&&x: &&u32| x != of && colors[x as usize] == colors[of as usize];
                graph.neighbors(around as usize).iter().filter(equal)
            };
            for &a in twin(c, b) {
                paths.extend(twin(b, c).map(|&d| vec![(a, c), (b, d)]));
            }
        }
    }
    paths
}

/// Per two-coloured cycle found: the pairs of vertices two steps apart.
fn two_colored_cycles(graph: &Graph, colors: &[u32]) -> Vec<Vec<(u32, u32)>> {
    let n = graph.vertices();
    let ncolors = distinct(colors) as u32;
    let mut cycles = Vec::new();
    for (p, q) in (0..ncolors).flat_map(|p| (0..p).map(move |q| (p, q))) {
        let inside = |v: u32| colors[v as usize] == p || colors[v as usize] == q;
        let mut sets = Sets::new(n);
        let mut forest = vec![Vec::new(); n];
        for v in (0..n as u32).filter(|&v| inside(v)) {
            for &w in graph.neighbors(v as usize).iter().filter(|&&w| w > v && inside(w)) {
                if sets.union(v, w) {
                    forest[v as usize].push(w);
                    forest[w as usize].push(v);
                } else {
                    let path = path(&forest, v, w);
                    let two_apart = |k: usize| (path[k], path[(k + 2) % path.len()]);
                    // Chains of equalities along the even and the odd vertices; the last of each is implied.
                    cycles.push((0..path.len() - 2).map(two_apart).collect());
                }
            }
        }
    }
    cycles
}

/// The path between two vertices of one tree.
fn path(forest: &[Vec<u32>], from: u32, to: u32) -> Vec<u32> {
    let mut before = HashMap::from([(from, from)]);
    let mut queue = vec![from];
    let mut head = 0;
    while head < queue.len() && !before.contains_key(&to) {
        let v = queue[head];
        head += 1;
        for &w in &forest[v as usize] {
            before.entry(w).or_insert_with(|| {
                queue.push(w);
                v
            });
        }
    }
    let mut path = vec![to];
    while let Some(&last) = path.last().filter(|&&last| last != from) {
        path.push(before[&last]);
    }
    path
}

/// A star bicolouring with `ncolors` colours, each for rows or for columns, or `None` if there is none.
fn bicoloring(pattern: &Pattern, ncolors: usize) -> Option<Colors> {
    let mut solver = BasicSolver::default();
    let (m, n) = (pattern.nrows(), pattern.ncols());
    let for_rows: Vec<Var> = (0..ncolors).map(|_| solver.new_var_default()).collect();
    // Colours are interchangeable: those for rows come first.
    for pair in for_rows.windows(2) {
        clause(&mut solver, [Lit::new(pair[0], true), Lit::new(pair[1], false)]);
    }
    let mut side = |count: usize, rows: bool| -> Vec<Vec<Var>> {
        (0..count)
            .map(|_| {
                let has: Vec<Var> = (0..ncolors).map(|_| solver.new_var_default()).collect();
                for (&x, &t) in has.iter().zip(&for_rows) {
                    clause(&mut solver, [Lit::new(x, false), Lit::new(t, rows)]);
                }
                at_most_one(&mut solver, &has);
                has
            })
            .collect()
    };
    let (rows, columns) = (side(m, true), side(n, false));
    for (i, j) in pattern.entries() {
        let (by_column, by_row) = (solver.new_var_default(), solver.new_var_default());
        clause(&mut solver, [Lit::new(by_column, true), Lit::new(by_row, true)]);
        let sides = [(by_column, &columns, j, pattern.row(i)), (by_row, &rows, i, pattern.column(j))];
        for (read, has, own, line) in sides {
            let colored = has[own].iter().map(|&x| Lit::new(x, true));
            clause(&mut solver, colored.chain([Lit::new(read, false)]));
            for &other in line.iter().filter(|&&other| other as usize != own) {
                for (&x, &y) in has[own].iter().zip(&has[other as usize]) {
                    clause(&mut solver, [Lit::new(read, false), Lit::new(x, false), Lit::new(y, false)]);
                }
            }
        }
    }
    if solver.solve_limited(&[]) != lbool::TRUE {
        return None;
    }
    let value = |&x: &Var| solver.value_var(x) == lbool::TRUE;
    let color = |list: &Vec<Var>| list.iter().position(value).map_or(NEUTRAL, |c| c as u32);
    let mut colors = Colors { columns: columns.iter().map(color).collect(), rows: rows.iter().map(color).collect() };
    crate::postprocess::renumber(&mut colors.rows);
    crate::postprocess::renumber(&mut colors.columns);
    Some(colors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bidirectional, Direct, Substitution, coloring};

    #[test]
    fn acyclic_bicoloring_is_refused_and_so_are_large_matrices() {
        let p = Pattern::dense(3, 3).unwrap();
        let error = coloring(&p, Bidirectional(Substitution), &OptimalColoring::default()).unwrap_err();
        let kind = ErrorKind::Unsupported { algorithm: "OptimalColoring", problem: "acyclic bicoloring" };
        assert_eq!(error.kind(), &kind);
        let error = coloring(&p, Bidirectional(Direct), &OptimalColoring::default().max_vertices(5)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { size: 6, limit: 5, .. }));
    }

    #[test]
    fn empty_matrices_need_no_bicolors() {
        let p = Pattern::from_triplets(3, 2, []).unwrap();
        assert_eq!(coloring(&p, Bidirectional(Direct), &OptimalColoring::default()).unwrap().ncolors(), 0);
        let p = Pattern::from_triplets(0, 0, []).unwrap();
        assert_eq!(coloring(&p, crate::Column, &OptimalColoring::default()).unwrap().ncolors(), 0);
    }
}
