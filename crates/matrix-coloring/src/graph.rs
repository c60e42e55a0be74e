//! The graphs whose colourings are matrix colourings.
//!
//! Built by `coloring` from a pattern: the adjacency graph of a symmetric matrix, or the bipartite graph of columns and
//! rows. Read by the greedy algorithms and by the orders.

use crate::pattern::{Lines, Pattern};

/// An undirected graph without self loops; neighbours are sorted.
pub(crate) struct Graph {
    pub(crate) lines: Lines,
}

impl Graph {
    /// Adjacency graph of a symmetric pattern, diagonal left out.
    pub(crate) fn adjacency(pattern: &Pattern) -> Graph {
        let all = pattern.any_lines();
        let mut pointers = Vec::with_capacity(all.pointers.len());
        let mut indices = Vec::with_capacity(all.indices.len());
        pointers.push(0);
        for i in 0..all.len() {
            indices.extend(all.line(i).iter().copied().filter(|&j| j as usize != i));
            pointers.push(indices.len() as u32);
        }
        Graph { lines: Lines { pointers, indices } }
    }

    /// Bipartite graph of a pattern: vertices are the columns, then the rows.
    pub(crate) fn bipartite(pattern: &Pattern) -> Graph {
        let (rows, columns, n) = (pattern.rows(), pattern.columns(), pattern.ncols() as u32);
        let nnz = pattern.nnz() as u32;
        let mut pointers = columns.pointers.clone();
        pointers.extend(rows.pointers[1..].iter().map(|p| p + nnz));
        let mut indices: Vec<u32> = columns.indices.iter().map(|i| i + n).collect();
        indices.extend_from_slice(&rows.indices);
        Graph { lines: Lines { pointers, indices } }
    }

    /// The neighbours of each vertex and the vertex itself: two steps along these lead to all vertices at distance one or two.
    pub(crate) fn with_loops(&self) -> Lines {
        let mut pointers = Vec::with_capacity(self.lines.pointers.len());
        let mut indices = Vec::with_capacity(self.lines.indices.len() + self.vertices());
        pointers.push(0);
        for v in 0..self.vertices() {
            let neighbors = self.neighbors(v);
            let (before, after) = neighbors.split_at(neighbors.partition_point(|&w| (w as usize) < v));
            indices.extend_from_slice(before);
            indices.push(v as u32);
            indices.extend_from_slice(after);
            pointers.push(indices.len() as u32);
        }
        Lines { pointers, indices }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn edges(&self) -> usize {
        self.lines.indices.len() / 2
    }

    #[inline]
    pub(crate) fn neighbors(&self, v: usize) -> &[u32] {
        self.lines.line(v)
    }

    /// An edge number per stored neighbour; both ends of an edge hold the same number.
    pub(crate) fn edge_ids(&self) -> Vec<u32> {
        let lines = &self.lines;
        let mut ids = vec![0u32; lines.indices.len()];
        let mut cursor = lines.pointers[..lines.len()].to_vec();
        let mut next = 0;
        for i in 0..lines.len() {
            for k in lines.range(i) {
                let j = lines.indices[k] as usize;
                if j > i {
                    ids[k] = next;
                    ids[cursor[j] as usize] = next;
                    cursor[j] += 1;
                    next += 1;
                }
            }
        }
        ids
    }
}

/// The part of a colouring problem that orders and lower bounds read: the vertices, and which of them must differ.
pub(crate) enum Conflicts<'a> {
    /// Neighbours in a graph (symmetric and bidirectional problems).
    Graph(&'a Graph),
    /// Lines that share an index (column and row problems): neighbours at distance two.
    Lines {
        /// The lines to colour.
        own: &'a Lines,
        /// The other orientation.
        other: &'a Lines,
    },
}

/// Stamps that mark the vertices seen in the current visit.
pub(crate) struct Seen {
    stamps: Vec<u32>,
    now: u32,
}

impl Seen {
    pub(crate) fn new(len: usize) -> Seen {
        Seen { stamps: vec![0; len], now: 0 }
    }

    pub(crate) fn start(&mut self) {
        self.now += 1;
    }

    /// Marks `v`; returns whether it was new.
    #[inline]
    pub(crate) fn insert(&mut self, v: u32) -> bool {
        std::mem::replace(&mut self.stamps[v as usize], self.now) != self.now
    }
}

impl Conflicts<'_> {
    pub(crate) fn vertices(&self) -> usize {
        match self {
            Conflicts::Graph(graph) => graph.vertices(),
            Conflicts::Lines { own, .. } => own.len(),
        }
    }

    /// Stamps for `for_each`.
    pub(crate) fn seen(&self) -> Seen {
        Seen::new(self.vertices())
    }

    /// Calls `visit` once for every neighbour of `v`.
    #[inline]
    pub(crate) fn for_each(&self, v: usize, seen: &mut Seen, mut visit: impl FnMut(u32)) {
        match self {
            Conflicts::Graph(graph) => graph.neighbors(v).iter().for_each(|&w| visit(w)),
            Conflicts::Lines { own, other } => {
                seen.start();
                seen.insert(v as u32);
                for &i in own.line(v) {
                    for &w in other.line(i as usize) {
                        if seen.insert(w) {
                            visit(w);
                        }
                    }
                }
            }
        }
    }

    /// Number of neighbours of every vertex.
    pub(crate) fn degrees(&self) -> Vec<u32> {
        let mut seen = self.seen();
        let degree = |v| {
            let mut count = 0;
            self.for_each(v, &mut seen, |_| count += 1);
            count
        };
        match self {
            Conflicts::Graph(graph) => graph.lines.pointers.windows(2).map(|w| w[1] - w[0]).collect(),
            Conflicts::Lines { own, .. } => (0..own.len()).map(degree).collect(),
        }
    }

    /// Upper bounds of the degrees in time proportional to the entries: neighbours counted once per shared index.
    pub(crate) fn approximate_degrees(&self) -> Vec<u32> {
        match self {
            Conflicts::Graph(_) => self.degrees(),
            Conflicts::Lines { own, other } => {
                let others = |i: u32| u64::from(other.pointers[i as usize + 1] - other.pointers[i as usize]) - 1;
                let bound = |v| own.line(v).iter().map(|&i| others(i)).sum::<u64>();
                (0..own.len()).map(|v| bound(v).min(u64::from(u32::MAX)) as u32).collect()
            }
        }
    }

    /// Number of steps of a visit of all neighbourhoods.
    pub(crate) fn work(&self) -> u64 {
        match self {
            Conflicts::Graph(graph) => graph.lines.indices.len() as u64,
            Conflicts::Lines { other, .. } => {
                other.pointers.windows(2).map(|w| u64::from(w[1] - w[0])).map(|d| d * d).sum()
            }
        }
    }
}
