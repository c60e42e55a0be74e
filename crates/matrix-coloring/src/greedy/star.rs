//! Greedy star colouring: adjacent vertices differ and every path on four vertices has at least three colours.
//!
//! Called by `greedy` for symmetric direct problems, and with [`Rules`] for bicolouring. Sets of colours per
//! vertex are bit masks, whose width grows with the colours. Tests compare it with the classic version of Gebremedhin, Tarafdar,
//! Manne, Pothen 2007 (algorithm 4.1), which follows stars edge by edge.

use super::rules::{Fixed, Growing, Mask, Rules};
use crate::algorithm::NEUTRAL;
use crate::graph::Graph;

/// Star colours in the given order.
pub(crate) fn color(graph: &Graph, order: &[u32], rules: Rules) -> Vec<u32> {
    masked::<Fixed<1>>(graph, order, rules)
        .or_else(|| masked::<Fixed<2>>(graph, order, rules))
        .or_else(|| masked::<Fixed<4>>(graph, order, rules))
        .or_else(|| masked::<Fixed<16>>(graph, order, rules))
        .or_else(|| masked::<Growing>(graph, order, rules))
        .expect("growing sets hold all colours")
}

/// The colours around a vertex, as sets.
#[derive(Clone, Default)]
struct Node<M> {
    /// Colours of its coloured neighbours.
    near: M,
    /// Colours `c` such that it is the centre of a star with leaves of colour `c`.
    hub: M,
    /// Colours of the centres of the stars in which it is a leaf.
    leaf: M,
}

/// `None` when the sets cannot hold the colours.
pub(super) fn masked<M: Mask>(graph: &Graph, order: &[u32], rules: Rules) -> Option<Vec<u32>> {
    let n = graph.vertices();
    let mut nodes = vec![Node::<M>::default(); n];
    let mut colors = vec![NEUTRAL; n];
    for &v in order {
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
        for &w in around {
            let a = colors[w as usize];
            let node = &nodes[w as usize];
            if a != NEUTRAL {
                let set = if twice.get(a) { &node.near } else { &node.leaf };
                forbidden.join(set);
            } else if rules.implicit {
                forbidden.join(&node.near);
            }
        }
        let c = forbidden.lowest_zero()? as u32;
        colors[v as usize] = c;
        let own = &mut nodes[v as usize];
        own.near = once;
        own.hub.join(&twice);
        for &w in around {
            let a = colors[w as usize];
            if a == NEUTRAL {
                if rules.implicit {
                    nodes[w as usize].near.set(c);
                }
                continue;
            }
            if twice.get(a) {
                nodes[w as usize].leaf.set(c);
            } else if nodes[w as usize].near.get(c) {
                if !nodes[w as usize].hub.get(c) {
                    // A single edge so far: its other end becomes a leaf of the star centred at `w`.
                    let other = graph.neighbors(w as usize).iter().find(|&&x| x != v && colors[x as usize] == c);
                    if let Some(&x) = other {
                        nodes[x as usize].leaf.set(a);
                    }
                    nodes[w as usize].hub.set(c);
                }
                nodes[v as usize].leaf.set(a);
            }
            nodes[w as usize].near.set(c);
        }
    }
    Some(colors)
}

/// The reference of tests, in O(n d²).
#[cfg(test)]
pub(super) fn classic(graph: &Graph, order: &[u32], rules: Rules) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = graph.vertices();
    let ids = graph.edge_ids();
    let mut colors = vec![NEUTRAL; n];
    // `mark[c] == v`: colour c is forbidden for v. `first[c]`: v, its first neighbour of colour c, and their edge.
    let mut mark = vec![NONE; n + 1];
    let mut first = vec![(NONE, NONE, NONE); n + 1];
    let mut treated = vec![NONE; n];
    let mut star_of: Vec<u32> = (0..graph.edges() as u32).collect();
    let mut hub = vec![NONE; graph.edges()]; // NONE: a star of one edge
    let edges = |v: usize| graph.lines.range(v).map(|k| (graph.lines.indices[k], ids[k] as usize));
    for &v in order {
        let around = graph.neighbors(v as usize);
        if rules.implicit && around.iter().all(|&w| colors[w as usize] != NEUTRAL) {
            continue;
        }
        let forbid_near = |w: u32, mark: &mut [u32], colors: &[u32]| {
            for &x in graph.neighbors(w as usize) {
                if colors[x as usize] != NEUTRAL {
                    mark[colors[x as usize] as usize] = v;
                }
            }
        };
        for (w, e) in edges(v as usize) {
            let a = colors[w as usize];
            if a == NEUTRAL {
                if rules.implicit {
                    forbid_near(w, &mut mark, &colors);
                }
                continue;
            }
            if !rules.separate {
                mark[a as usize] = v;
            }
            let (p, q, _) = first[a as usize];
            if p == v {
                for u in [q, w] {
                    if treated[u as usize] != v {
                        forbid_near(u, &mut mark, &colors);
                        treated[u as usize] = v;
                    }
                }
            } else {
                first[a as usize] = (v, w, e as u32);
                for (x, f) in edges(w as usize) {
                    if x != v && colors[x as usize] != NEUTRAL && hub[star_of[f] as usize] == x {
                        mark[colors[x as usize] as usize] = v;
                    }
                }
            }
        }
        let c = (0..).find(|&c| mark[c as usize] != v).unwrap_or(0);
        colors[v as usize] = c;
        for (w, e) in edges(v as usize) {
            let a = colors[w as usize];
            if a == NEUTRAL {
                continue;
            }
            let twin = edges(w as usize).find(|&(x, _)| x != v && colors[x as usize] == c);
            let (_, q, f) = first[a as usize];
            if let Some((_, f)) = twin {
                hub[star_of[f] as usize] = w;
                star_of[e] = star_of[f];
            } else if q != w {
                hub[star_of[f as usize] as usize] = v;
                star_of[e] = star_of[f as usize];
            }
        }
    }
    colors
}
