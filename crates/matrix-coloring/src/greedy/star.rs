//! Greedy star colouring: adjacent vertices differ and every path on four vertices has at least three colours.
//!
//! Called by `greedy` for symmetric direct problems, and with [`Rules`] for bicolouring. Two versions give the same
//! colours: sets of colours per vertex as bit masks (fast, up to 1024 colours), and the classic one of Gebremedhin,
//! Tarafdar, Manne, Pothen 2007 (algorithm 4.1), which follows stars edge by edge.

use super::rules::{Rules, get, join, lowest_zero, set};
use crate::algorithm::NEUTRAL;
use crate::graph::Graph;

/// Star colours in the given order.
pub(crate) fn color(graph: &Graph, order: &[u32], rules: Rules) -> Vec<u32> {
    masked::<1>(graph, order, rules)
        .or_else(|| masked::<2>(graph, order, rules))
        .or_else(|| masked::<4>(graph, order, rules))
        .or_else(|| masked::<16>(graph, order, rules))
        .unwrap_or_else(|| classic(graph, order, rules))
}

/// The colours around a vertex, as sets.
#[derive(Clone)]
struct Node<const W: usize> {
    /// Colours of its coloured neighbours.
    near: [u64; W],
    /// Colours `c` such that it is the centre of a star with leaves of colour `c`.
    hub: [u64; W],
    /// Colours of the centres of the stars in which it is a leaf.
    leaf: [u64; W],
}

/// `None` when `64 W` colours do not suffice.
pub(super) fn masked<const W: usize>(graph: &Graph, order: &[u32], rules: Rules) -> Option<Vec<u32>> {
    let n = graph.vertices();
    let mut nodes = vec![Node { near: [0u64; W], hub: [0u64; W], leaf: [0u64; W] }; n];
    let mut colors = vec![NEUTRAL; n];
    for &v in order {
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
        for &w in around {
            let a = colors[w as usize];
            let node = &nodes[w as usize];
            if a != NEUTRAL {
                let set = if get(&twice, a) { &node.near } else { &node.leaf };
                join(&mut forbidden, set);
            } else if rules.implicit {
                join(&mut forbidden, &node.near);
            }
        }
        let c = lowest_zero(&forbidden)? as u32;
        colors[v as usize] = c;
        let own = &mut nodes[v as usize];
        own.near = once;
        join(&mut own.hub, &twice);
        for &w in around {
            let a = colors[w as usize];
            if a == NEUTRAL {
                if rules.implicit {
                    set(&mut nodes[w as usize].near, c);
                }
                continue;
            }
            if get(&twice, a) {
                set(&mut nodes[w as usize].leaf, c);
            } else if get(&nodes[w as usize].near, c) {
                if !get(&nodes[w as usize].hub, c) {
                    // A single edge so far: its other end becomes a leaf of the star centred at `w`.
                    let other = graph.neighbors(w as usize).iter().find(|&&x| x != v && colors[x as usize] == c);
                    if let Some(&x) = other {
                        set(&mut nodes[x as usize].leaf, a);
                    }
                    set(&mut nodes[w as usize].hub, c);
                }
                set(&mut nodes[v as usize].leaf, a);
            }
            set(&mut nodes[w as usize].near, c);
        }
    }
    Some(colors)
}

/// For any number of colours, in O(n d²).
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
