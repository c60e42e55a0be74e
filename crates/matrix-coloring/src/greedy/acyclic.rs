//! Greedy acyclic colouring: adjacent vertices differ and every cycle has at least three colours.
//!
//! Called by `greedy` for symmetric problems by substitution, and with [`Rules`] for bicolouring (Gebremedhin, Tarafdar,
//! Manne, Pothen 2007, algorithm 3.1). Two-coloured trees are kept as disjoint sets of edges; masks of the colours
//! around each vertex tell where a cycle can close at all.

use super::rules::{Rules, get, join, lowest_zero, set};
use crate::algorithm::NEUTRAL;
use crate::graph::Graph;

/// Acyclic colours in the given order.
pub(crate) fn color(graph: &Graph, order: &[u32], rules: Rules) -> Vec<u32> {
    let ids = graph.edge_ids();
    masked::<1>(graph, &ids, order, rules)
        .or_else(|| masked::<2>(graph, &ids, order, rules))
        .or_else(|| masked::<4>(graph, &ids, order, rules))
        .or_else(|| masked::<16>(graph, &ids, order, rules))
        .unwrap_or_else(|| classic(graph, &ids, order, rules))
}

const NONE: u32 = u32::MAX;

/// Disjoint sets with path halving.
pub(crate) struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    pub(crate) fn new(len: usize) -> Sets {
        Sets { parent: (0..len as u32).collect() }
    }

    #[inline]
    pub(crate) fn find(&mut self, mut x: u32) -> u32 {
        loop {
            let up = self.parent[x as usize];
            if up == x {
                return x;
            }
            let next = self.parent[up as usize];
            self.parent[x as usize] = next;
            x = next;
        }
    }

    /// Joins two sets; returns whether they were separate.
    #[inline]
    pub(crate) fn union(&mut self, x: u32, y: u32) -> bool {
        let (x, y) = (self.find(x), self.find(y));
        // Linking to the older edge keeps paths short: trees grow from their first edge.
        self.parent[x.max(y) as usize] = x.min(y);
        x != y
    }
}

/// `None` when `64 W` colours do not suffice.
pub(super) fn masked<const W: usize>(graph: &Graph, ids: &[u32], order: &[u32], rules: Rules) -> Option<Vec<u32>> {
    let n = graph.vertices();
    let mut near = vec![[0u64; W]; n];
    let mut colors = vec![NEUTRAL; n];
    let mut trees = Sets::new(graph.edges());
    let mut seen = vec![(NONE, NONE); graph.edges()];
    let mut first = vec![(NONE, NONE); 64 * W];
    for &v in order {
        let range = graph.lines.range(v as usize);
        let around = graph.neighbors(v as usize);
        let (mut once, mut twice, mut colored) = ([0u64; W], [0u64; W], 0);
        for &w in around {
            let a = colors[w as usize];
            if a != NEUTRAL {
                let (word, bit) = (a as usize / 64, 1u64 << (a % 64));
                twice[word] |= once[word] & bit;
                once[word] |= bit;
                colored += 1;
            }
        }
        if rules.implicit && colored == around.len() {
            continue;
        }
        let mut forbidden = if rules.separate { [0; W] } else { once };
        if rules.implicit {
            for &w in around.iter().filter(|&&w| colors[w as usize] == NEUTRAL) {
                join(&mut forbidden, &near[w as usize]);
            }
        }
        if twice.iter().any(|&word| word != 0) {
            for &w in around {
                let a = colors[w as usize];
                // Only two neighbours of one colour can be the ends of a path that `v` would close.
                if a == NEUTRAL || !get(&twice, a) || (0..W).all(|k| near[w as usize][k] & !forbidden[k] == 0) {
                    continue;
                }
                for k in graph.lines.range(w as usize) {
                    let b = colors[graph.lines.indices[k] as usize];
                    if b == NEUTRAL || get(&forbidden, b) {
                        continue;
                    }
                    let root = trees.find(ids[k]) as usize;
                    if seen[root].0 != v {
                        seen[root] = (v, w);
                    } else if seen[root].1 != w {
                        set(&mut forbidden, b); // a second edge into the same tree
                    }
                }
            }
        }
        let c = lowest_zero(&forbidden)? as u32;
        colors[v as usize] = c;
        near[v as usize] = once;
        for (k, &w) in range.zip(around) {
            let a = colors[w as usize];
            if a == NEUTRAL {
                if rules.implicit {
                    set(&mut near[w as usize], c);
                }
                continue;
            }
            let (p, e) = first[a as usize];
            if p == v {
                trees.union(ids[k], e);
            } else {
                first[a as usize] = (v, ids[k]);
            }
            if get(&near[w as usize], c) {
                let twin = graph.lines.range(w as usize).find(|&k| {
                    let x = graph.lines.indices[k];
                    x != v && colors[x as usize] == c
                });
                if let Some(twin) = twin {
                    trees.union(ids[k], ids[twin]);
                }
            }
            set(&mut near[w as usize], c);
        }
    }
    Some(colors)
}

/// For any number of colours, in O(n d²).
pub(super) fn classic(graph: &Graph, ids: &[u32], order: &[u32], rules: Rules) -> Vec<u32> {
    let n = graph.vertices();
    let mut colors = vec![NEUTRAL; n];
    let mut mark = vec![NONE; n + 1];
    let mut trees = Sets::new(graph.edges());
    let mut seen = vec![(NONE, NONE); graph.edges()];
    let mut first = vec![(NONE, NONE); n + 1];
    let edges = |v: usize| graph.lines.range(v).map(|k| (graph.lines.indices[k], ids[k]));
    for &v in order {
        let around = graph.neighbors(v as usize);
        if rules.implicit && around.iter().all(|&w| colors[w as usize] != NEUTRAL) {
            continue;
        }
        for &w in around {
            let a = colors[w as usize];
            if a != NEUTRAL && !rules.separate {
                mark[a as usize] = v;
            } else if a == NEUTRAL && rules.implicit {
                for &x in graph.neighbors(w as usize) {
                    if colors[x as usize] != NEUTRAL {
                        mark[colors[x as usize] as usize] = v;
                    }
                }
            }
        }
        for &w in around.iter().filter(|&&w| colors[w as usize] != NEUTRAL) {
            for (x, e) in edges(w as usize) {
                let b = colors[x as usize];
                if b == NEUTRAL || mark[b as usize] == v {
                    continue;
                }
                let root = trees.find(e) as usize;
                if seen[root].0 != v {
                    seen[root] = (v, w);
                } else if seen[root].1 != w {
                    mark[b as usize] = v;
                }
            }
        }
        let c = (0..).find(|&c| mark[c as usize] != v).unwrap_or(0);
        colors[v as usize] = c;
        for (w, e) in edges(v as usize).filter(|&(w, _)| colors[w as usize] != NEUTRAL) {
            let a = colors[w as usize] as usize;
            if first[a].0 == v {
                trees.union(e, first[a].1);
            } else {
                first[a] = (v, e);
            }
            for (_, f) in edges(w as usize).filter(|&(x, _)| x != v && colors[x as usize] == c) {
                trees.union(e, f);
            }
        }
    }
    colors
}
