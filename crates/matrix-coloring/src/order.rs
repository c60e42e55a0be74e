//! Vertex orders for greedy colouring.
//!
//! Chosen by users through [`Order`], computed by `greedy` before a colouring. Degree means the number of neighbours in
//! the adjacency graph (symmetric problems), in the bipartite graph (bidirectional problems), or the number of distinct
//! columns that share a row with a column (column problems; transposed for row problems).

use crate::error::{Error, ErrorKind};
use crate::graph::{Conflicts, Graph};
use crate::pattern::Pattern;

/// The order in which a greedy algorithm visits the vertices.
///
/// For column and symmetric problems the vertices are the columns, for row problems the rows, for bidirectional problems
/// the columns followed by the rows (row `i` is vertex `ncols + i`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// 0, 1, 2, …
    Natural,
    /// For bidirectional problems rows first, then columns; otherwise as [`Natural`](Order::Natural).
    NaturalRowsFirst,
    /// A random permutation that depends on the seed only: Fisher–Yates from the last position down, where position `i`
    /// is exchanged with `next() mod (i + 1)` and `next()` is the upper 31 bits (`s >> 33`) of
    /// `s ← 6364136223846793005 s + 1442695040888963407 mod 2⁶⁴`, `s` starting at the seed.
    Random(u64),
    /// Decreasing degree, ties by index.
    LargestFirst,
    /// As [`LargestFirst`](Order::LargestFirst) with a bound of the degree that costs O(nnz): neighbours at distance two
    /// are counted once per shared row. Identical for symmetric and bidirectional problems.
    LargestFirstApprox,
    /// Increasing degree, ties by index: hubs last, which suits star colouring of graphs with hubs.
    SmallestFirst,
    /// Filled from the back: always a vertex of smallest degree among those not yet taken.
    SmallestLast,
    /// [`SmallestLast`](Order::SmallestLast) read backwards.
    ReverseSmallestLast,
    /// Filled from the front: always a vertex with most neighbours already taken.
    IncidenceDegree,
    /// Filled from the front: always a vertex of largest degree among those not yet taken.
    DynamicLargestFirst,
    /// Maximum cardinality search. On a chordal graph (for example a permuted band matrix) this is a perfect
    /// elimination order, and greedy acyclic colouring is optimal. Ties are broken as in
    /// [`IncidenceDegree`](Order::IncidenceDegree), which visits by the same rule.
    PerfectElimination,
    /// A dynamic order whose ties are broken as SparseMatrixColorings.jl does it: in one array of vertices by degree, a
    /// vertex enters a higher bucket at its low end and a lower one at its high end, and is taken from the high end.
    FlatTies(Dynamic),
    /// The given permutation of the vertices.
    Given(Vec<u32>),
}

/// The vertices of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vertices {
    /// Columns; neighbours share a row.
    Columns,
    /// Rows; neighbours share a column.
    Rows,
    /// Columns of a symmetric matrix; neighbours are joined by an entry.
    Symmetric,
    /// Columns, then rows; neighbours are joined by an entry.
    Both,
}

impl Vertices {
    pub(crate) fn with_conflicts<R>(
        self,
        pattern: &Pattern,
        run: impl FnOnce(&Conflicts<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self {
            Vertices::Columns => run(&Conflicts::Lines { own: pattern.columns(), other: pattern.rows() }),
            Vertices::Rows => run(&Conflicts::Lines { own: pattern.rows(), other: pattern.columns() }),
            Vertices::Symmetric => {
                pattern.check_symmetric()?;
                run(&Conflicts::Graph(&Graph::adjacency(pattern)))
            }
            Vertices::Both => run(&Conflicts::Graph(&Graph::bipartite(pattern))),
        }
    }
}

/// The random numbers of [`Order::Random`].
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

impl Order {
    /// Returns this order of the given vertices as a permutation, as the greedy algorithms use it.
    ///
    /// # Errors
    /// [`ErrorKind::NotAPermutation`] for a wrong given order, [`ErrorKind::NotSymmetric`] or [`ErrorKind::NotSquare`].
    ///
    /// # Example
    /// ```
    /// use matrix_coloring::{Order, Pattern, Vertices};
    ///
    /// // Degrees 1, 3, 2, 2.
    /// let graph = [(0, 1), (1, 0), (1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2)];
    /// let pattern = Pattern::from_triplets(4, 4, graph)?;
    /// assert_eq!(Order::LargestFirst.permutation(&pattern, Vertices::Symmetric)?, [1, 2, 3, 0]);
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn permutation(&self, pattern: &Pattern, vertices: Vertices) -> Result<Vec<u32>, Error> {
        let columns = (vertices == Vertices::Both).then_some(pattern.ncols());
        vertices.with_conflicts(pattern, |conflicts| self.compute(conflicts, columns))
    }

    /// The permutation for a problem; `columns` is the number of column vertices of a bidirectional problem.
    pub(crate) fn compute(&self, conflicts: &Conflicts<'_>, columns: Option<usize>) -> Result<Vec<u32>, Error> {
        let n = conflicts.vertices();
        let natural = 0..n as u32;
        Ok(match self {
            Order::Natural => natural.collect(),
            Order::NaturalRowsFirst => {
                let split = columns.unwrap_or(0) as u32;
                (split..n as u32).chain(0..split).collect()
            }
            Order::Random(seed) => {
                let mut order: Vec<u32> = natural.collect();
                Lcg(*seed).shuffle(&mut order);
                order
            }
            Order::LargestFirst => sorted(&conflicts.degrees(), true),
            Order::LargestFirstApprox => sorted(&conflicts.approximate_degrees(), true),
            Order::SmallestFirst => sorted(&conflicts.degrees(), false),
            Order::SmallestLast => dynamic::<Buckets>(conflicts, Dynamic::SmallestLast),
            Order::ReverseSmallestLast => {
                let mut order = dynamic::<Buckets>(conflicts, Dynamic::SmallestLast);
                order.reverse();
                order
            }
            Order::IncidenceDegree | Order::PerfectElimination => {
                dynamic::<Buckets>(conflicts, Dynamic::IncidenceDegree)
            }
            Order::DynamicLargestFirst => dynamic::<Buckets>(conflicts, Dynamic::LargestFirst),
            Order::FlatTies(rule) => dynamic::<FlatBuckets>(conflicts, *rule),
            Order::Given(order) => {
                check_permutation(order, n)?;
                order.clone()
            }
        })
    }
}

pub(crate) fn check_permutation(order: &[u32], n: usize) -> Result<(), Error> {
    let mut met = vec![false; n];
    for (position, &v) in order.iter().enumerate() {
        match met.get_mut(v as usize) {
            Some(met) if !*met => *met = true,
            _ => return Err(ErrorKind::NotAPermutation { position }.into()),
        }
    }
    if order.len() < n { Err(ErrorKind::NotAPermutation { position: order.len() }.into()) } else { Ok(()) }
}

/// The numbers below `count` by increasing key; those with the same key in their order. The key is behind a pointer, so that all sorts of this
/// crate are compiled once.
pub(crate) fn sorted_by(count: usize, key: &dyn Fn(usize) -> usize) -> Vec<u32> {
    let mut order: Vec<(usize, u32)> = (0..count).map(|item| (key(item), item as u32)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, item)| item).collect()
}

/// Stable counting sort by degree.
fn sorted(degrees: &[u32], descending: bool) -> Vec<u32> {
    let largest = degrees.iter().copied().max().unwrap_or(0);
    let key = |d: u32| (if descending { largest - d } else { d }) as usize;
    if largest as usize > 4 * degrees.len() + 1024 {
        return sorted_by(degrees.len(), &|v| key(degrees[v]));
    }
    let mut order: Vec<u32> = (0..degrees.len() as u32).collect();
    let mut start = vec![0u32; largest as usize + 2];
    for &d in degrees {
        start[key(d) + 1] += 1;
    }
    for k in 0..start.len() - 1 {
        start[k + 1] += start[k];
    }
    for (v, &d) in degrees.iter().enumerate() {
        let cursor = &mut start[key(d)];
        order[*cursor as usize] = v as u32;
        *cursor += 1;
    }
    order
}

/// The dynamic-degree orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dynamic {
    /// Smallest degree among the vertices not yet taken; filled from the back.
    SmallestLast,
    /// Most neighbours among the vertices already taken; filled from the front.
    IncidenceDegree,
    /// Largest degree among the vertices not yet taken; filled from the front.
    LargestFirst,
}

impl Dynamic {
    fn takes_largest(self) -> bool {
        self != Dynamic::SmallestLast
    }

    fn degree_grows(self) -> bool {
        self == Dynamic::IncidenceDegree
    }
}

/// Vertices not yet taken by current degree. The implementation decides ties.
trait ByDegree {
    /// All vertices, of degrees up to `largest`.
    fn new(degree: Vec<u32>, largest: usize) -> Self;
    /// Removes and returns a vertex of this degree.
    fn take(&mut self, degree: usize) -> Option<u32>;
    /// Raises or lowers the degree of a vertex by one, unless it was taken.
    fn step(&mut self, v: u32, up: bool);
}

/// Buckets of vertices by current degree; a vertex enters and is taken at the end of its bucket, the tie rule of ColPack.
struct Buckets {
    degree: Vec<u32>,
    position: Vec<u32>,
    buckets: Vec<Vec<u32>>,
}

const TAKEN: u32 = u32::MAX;

impl ByDegree for Buckets {
    fn new(degree: Vec<u32>, largest: usize) -> Buckets {
        let mut buckets = vec![Vec::new(); largest + 1];
        let mut position = vec![0; degree.len()];
        for (v, &d) in degree.iter().enumerate() {
            position[v] = buckets[d as usize].len() as u32;
            buckets[d as usize].push(v as u32);
        }
        Buckets { degree, position, buckets }
    }

    fn take(&mut self, degree: usize) -> Option<u32> {
        let v = self.buckets[degree].pop()?;
        self.degree[v as usize] = TAKEN;
        Some(v)
    }

    fn step(&mut self, v: u32, up: bool) {
        let old = self.degree[v as usize];
        if old == TAKEN {
            return;
        }
        let new = if up { old + 1 } else { old - 1 };
        let bucket = &mut self.buckets[old as usize];
        let hole = self.position[v as usize] as usize;
        bucket.swap_remove(hole);
        if let Some(&moved) = bucket.get(hole) {
            self.position[moved as usize] = hole as u32;
        }
        let bucket = &mut self.buckets[new as usize];
        self.position[v as usize] = bucket.len() as u32;
        bucket.push(v);
        self.degree[v as usize] = new;
    }
}

/// All buckets in one array, by increasing degree, with holes where vertices were taken; the rule of [`Order::FlatTies`].
struct FlatBuckets {
    degree: Vec<u32>,
    position: Vec<u32>,
    vertices: Vec<u32>,
    /// Where each bucket begins and ends.
    ranges: Vec<(u32, u32)>,
}

impl ByDegree for FlatBuckets {
    fn new(degree: Vec<u32>, largest: usize) -> FlatBuckets {
        let vertices = sorted(&degree, false);
        let mut position = vec![0; degree.len()];
        let mut ranges = vec![(0, 0); largest + 1];
        degree.iter().for_each(|&d| ranges[d as usize].1 += 1);
        let mut start = 0;
        for range in &mut ranges {
            *range = (start, start + range.1);
            start = range.1;
        }
        vertices.iter().enumerate().for_each(|(at, &v)| position[v as usize] = at as u32);
        FlatBuckets { degree, position, vertices, ranges }
    }

    fn take(&mut self, degree: usize) -> Option<u32> {
        let (low, high) = &mut self.ranges[degree];
        if low == high {
            return None;
        }
        *high -= 1;
        let v = self.vertices[*high as usize];
        self.degree[v as usize] = TAKEN;
        Some(v)
    }

    fn step(&mut self, v: u32, up: bool) {
        let d = self.degree[v as usize] as usize;
        if d == TAKEN as usize {
            return;
        }
        // The vertex at the end towards the new bucket fills the place of `v`.
        let (last, new) = if up {
            self.ranges[d].1 -= 1;
            self.ranges[d + 1].0 -= 1;
            (self.ranges[d].1, self.ranges[d + 1].0)
        } else {
            self.ranges[d].0 += 1;
            self.ranges[d - 1].1 += 1;
            (self.ranges[d].0 - 1, self.ranges[d - 1].1 - 1)
        };
        let filler = self.vertices[last as usize];
        let place = self.position[v as usize];
        self.vertices[place as usize] = filler;
        self.position[filler as usize] = place;
        self.vertices[new as usize] = v;
        self.position[v as usize] = new;
        self.degree[v as usize] = if up { d + 1 } else { d - 1 } as u32;
    }
}

fn dynamic<B: ByDegree>(conflicts: &Conflicts<'_>, rule: Dynamic) -> Vec<u32> {
    let n = conflicts.vertices();
    let mut seen = conflicts.seen();
    let full = conflicts.degrees();
    let largest = full.iter().copied().max().unwrap_or(0) as usize;
    let start = if rule.degree_grows() { vec![0; n] } else { full };
    let mut buckets = B::new(start, largest);
    let mut order = Vec::with_capacity(n);
    // The extremal degree moves by at most one against the scan direction per taken vertex.
    let mut current = if rule.takes_largest() { largest } else { 0 };
    while order.len() < n {
        let u = loop {
            match buckets.take(current) {
                Some(u) => break u,
                None if rule.takes_largest() => current -= 1,
                None => current += 1,
            }
        };
        order.push(u);
        conflicts.for_each(u as usize, &mut seen, |w| buckets.step(w, rule.degree_grows()));
        current = match rule {
            Dynamic::SmallestLast => current.saturating_sub(1),
            Dynamic::IncidenceDegree => (current + 1).min(largest),
            Dynamic::LargestFirst => current,
        };
    }
    if rule == Dynamic::SmallestLast {
        order.reverse();
    }
    order
}

/// First position at which `order` does not take a vertex of extremal degree, in O(Σ degrees).
pub(crate) fn first_not_extremal(conflicts: &Conflicts<'_>, order: &[u32], rule: Dynamic) -> Option<usize> {
    let n = order.len();
    let mut seen = conflicts.seen();
    let mut degree = if rule.degree_grows() { vec![0; n] } else { conflicts.degrees() };
    let largest = conflicts.degrees().into_iter().max().unwrap_or(0) as usize;
    let mut count = vec![0usize; largest + 1];
    degree.iter().for_each(|&d| count[d as usize] += 1);
    for step in 0..n {
        let position = if rule == Dynamic::SmallestLast { n - 1 - step } else { step };
        let u = order[position] as usize;
        let mut present = count.iter().enumerate().filter(|(_, c)| **c > 0).map(|(d, _)| d);
        let extremal = if rule.takes_largest() { present.next_back() } else { present.next() };
        if extremal != Some(degree[u] as usize) {
            return Some(position);
        }
        count[degree[u] as usize] -= 1;
        degree[u] = TAKEN;
        conflicts.for_each(u, &mut seen, |w| {
            let d = degree[w as usize];
            if d != TAKEN {
                count[d as usize] -= 1;
                degree[w as usize] = if rule.degree_grows() { d + 1 } else { d - 1 };
                count[degree[w as usize] as usize] += 1;
            }
        });
    }
    None
}
