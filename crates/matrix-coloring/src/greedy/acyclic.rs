//! Greedy acyclic colouring: adjacent vertices differ and every cycle has at least three colours.
//!
//! Called by `greedy` for symmetric problems by substitution, and with [`Rules`] for bicolouring (Gebremedhin, Tarafdar,
//! Manne, Pothen 2007, algorithm 3.1). Two-coloured trees are kept as disjoint sets of edges; masks of the colours
//! around each vertex tell where a cycle can close at all.

use super::rules::{Fixed, Growing, Mask, Rules};
use crate::algorithm::NEUTRAL;
use crate::graph::Graph;

/// Acyclic colours in the given order.
pub(crate) fn color(graph: &Graph, order: &[u32], rules: Rules) -> Vec<u32> {
    let ids = graph.edge_ids();
    masked::<Fixed<1>>(graph, &ids, order, rules)
        .or_else(|| masked::<Fixed<2>>(graph, &ids, order, rules))
        .or_else(|| masked::<Fixed<4>>(graph, &ids, order, rules))
        .or_else(|| masked::<Fixed<16>>(graph, &ids, order, rules))
        .or_else(|| masked::<Growing>(graph, &ids, order, rules))
        .expect("growing sets hold all colours")
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

/// `None` when the sets cannot hold the colours.
pub(super) fn masked<M: Mask>(graph: &Graph, ids: &[u32], order: &[u32], rules: Rules) -> Option<Vec<u32>> {
    let n = graph.vertices();
    let mut near = vec![M::default(); n];
    let mut colors = vec![NEUTRAL; n];
    let mut trees = Sets::new(graph.edges());
    let mut seen = vec![(NONE, NONE); graph.edges()];
    let mut first = vec![(NONE, NONE); M::LIMIT.unwrap_or(n)];
    for &v in order {
        let range = graph.lines.range(v as usize);
        let around = graph.neighbors(v as usize);
        let (mut once, mut twice, mut colored) = (M::default(), M::default(), 0);
        for &w in around {
            let a = colors[w as usize];
            if a != NEUTRAL {
                if once.put(a) {
                    twice.set(a);
                }
                colored += 1;
            }
        }
        if rules.implicit && colored == around.len() {
            continue;
        }
        let mut forbidden = if rules.separate { M::default() } else { once.clone() };
        if rules.implicit {
            for &w in around.iter().filter(|&&w| colors[w as usize] == NEUTRAL) {
                forbidden.join(&near[w as usize]);
            }
        }
        if !twice.is_empty() {
            for &w in around {
                let a = colors[w as usize];
                // Only two neighbours of one colour can be the ends of a path that `v` would close.
                if a == NEUTRAL || !twice.get(a) || near[w as usize].is_within(&forbidden) {
                    continue;
                }
                for k in graph.lines.range(w as usize) {
                    let b = colors[graph.lines.indices[k] as usize];
                    if b == NEUTRAL || forbidden.get(b) {
                        continue;
                    }
                    let root = trees.find(ids[k]) as usize;
                    if seen[root].0 != v {
                        seen[root] = (v, w);
                    } else if seen[root].1 != w {
                        forbidden.set(b); // a second edge into the same tree
                    }
                }
            }
        }
        let c = forbidden.lowest_zero()? as u32;
        colors[v as usize] = c;
        near[v as usize] = once;
        for (k, &w) in range.zip(around) {
            let a = colors[w as usize];
            if a == NEUTRAL {
                if rules.implicit {
                    near[w as usize].set(c);
                }
                continue;
            }
            let (p, e) = first[a as usize];
            if p == v {
                trees.union(ids[k], e);
            } else {
                first[a as usize] = (v, ids[k]);
            }
            if near[w as usize].get(c) {
                let twin = graph.lines.range(w as usize).find(|&k| {
                    let x = graph.lines.indices[k];
                    x != v && colors[x as usize] == c
                });
                if let Some(twin) = twin {
                    trees.union(ids[k], ids[twin]);
                }
            }
            near[w as usize].set(c);
        }
    }
    Some(colors)
}

/// The reference of tests, in O(n d²).
#[cfg(test)]
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
