//! The orders that a greedy colouring tries, and the conditions under which it stops.
//!
//! Called by `GreedyColoring`. For every problem: runs the orders, keeps the fewest colours, stops at the lower bound, then
//! improves by iterated greedy and postprocessing. The choices follow measurements on the matrices of the test data.

use super::one_order::{distance2, graph_colors};
use super::options::{GreedyColoring, Palette};
use super::rules::Rules;
use crate::algorithm::{ColoringAlgorithm, Colors, DecompressionKind, NEUTRAL, ProblemKind, distinct};
use crate::error::Error;
use crate::graph::{Conflicts, Graph};
use crate::order::{Dynamic, Lcg, Order, sorted_by};
use crate::pattern::{Lines, Pattern};
use crate::postprocess;

pub(super) fn solve(config: &GreedyColoring, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error> {
    match problem {
        ProblemKind::Column => Ok(Colors { columns: one_sided(config, pattern, true)?, rows: Vec::new() }),
        ProblemKind::Row => Ok(Colors { columns: Vec::new(), rows: one_sided(config, pattern, false)? }),
        ProblemKind::Symmetric(decompression) => {
            let columns = symmetric(config, pattern, decompression == DecompressionKind::Substitution)?;
            Ok(Colors { columns, rows: Vec::new() })
        }
        ProblemKind::Bidirectional(decompression) => {
            bidirectional(config, pattern, decompression == DecompressionKind::Substitution)
        }
    }
}

/// Whether an order costs few enough visits of distance-2 neighbourhoods; the default leaves out orders beyond the limit.
fn affordable(conflicts: &Conflicts<'_>, nnz: usize) -> bool {
    conflicts.work() <= 50_000_000u64.max(40 * nnz as u64)
}

fn one_sided(config: &GreedyColoring, pattern: &Pattern, columns: bool) -> Result<Vec<u32>, Error> {
    let own: &Lines = if columns { pattern.columns() } else { pattern.rows() };
    let other = || if columns { pattern.rows() } else { pattern.columns() };
    let width = if columns { pattern.nrows() } else { pattern.ncols() };
    let run = |order: &[u32]| distance2(own, width, order, other);
    if let Some([Order::Natural]) = config.orders.as_deref()
        && config.passes == 0
    {
        let order: Vec<u32> = (0..own.len() as u32).collect();
        return Ok(run(&order)); // needs one orientation only
    }
    let conflicts = Conflicts::Lines { own, other: other() };
    let bound = other().longest().max(usize::from(own.len() > 0));
    let mut search = Search::new(bound);
    match &config.orders {
        Some(orders) => search.try_orders(orders, &conflicts, run)?,
        None => {
            use Order::*;
            search.try_orders(&[Natural, LargestFirstApprox], &conflicts, run)?;
            if !search.done() && affordable(&conflicts, pattern.nnz()) {
                search.try_orders(
                    &[SmallestLast, LargestFirst, IncidenceDegree, DynamicLargestFirst],
                    &conflicts,
                    run,
                )?;
            }
            search.try_orders(&random_orders(pattern.nnz()), &conflicts, run)?;
        }
    }
    search.iterate(config.passes, run);
    Ok(search.best)
}

/// Entries up to which the default tries random orders and more passes of iterated greedy, which cost next to nothing for
/// such small matrices.
const ENTRIES: usize = 500_000;

/// Entries that postprocessing of a symmetric colouring by substitution may visit, in a second or less.
const VISITS: usize = 50_000_000;

/// Random orders for small matrices.
fn random_orders(nnz: usize) -> Vec<Order> {
    (1..=(ENTRIES / nnz.max(1)).min(128) as u64).map(Order::Random).collect()
}

fn symmetric(config: &GreedyColoring, pattern: &Pattern, substitution: bool) -> Result<Vec<u32>, Error> {
    pattern.check_symmetric()?;
    let graph = Graph::adjacency(pattern);
    let conflicts = Conflicts::Graph(&graph);
    let run = |order: &[u32]| graph_colors(&graph, substitution, order, Rules::default());
    let mut search = Search::new(forest_bound(&graph));
    match &config.orders {
        Some(orders) => search.try_orders(orders, &conflicts, run)?,
        None => {
            use Order::*;
            // Hubs last (reverse smallest last, smallest first) gives far fewer colours on graphs with hubs, the others on meshes.
            let orders: &[Order] = if substitution {
                &[Natural, LargestFirst, SmallestLast, IncidenceDegree, ReverseSmallestLast]
            } else {
                &[Natural, SmallestLast, LargestFirst, ReverseSmallestLast, SmallestFirst, IncidenceDegree, Random(1)]
            };
            search.try_orders(orders, &conflicts, run)?;
            let closed = graph.with_loops();
            let distance_two = Conflicts::Lines { own: &closed, other: &closed };
            if !search.done() && affordable(&distance_two, pattern.nnz()) {
                search.try_orders(&[LargestFirst, SmallestLast, IncidenceDegree], &distance_two, run)?;
            }
            let flat = [Dynamic::SmallestLast, Dynamic::IncidenceDegree].map(FlatTies);
            search.try_orders(&flat, &conflicts, run)?;
            search.try_orders(&random_orders(pattern.nnz()), &conflicts, run)?;
        }
    }
    let more = if config.orders.is_none() { (ENTRIES / pattern.nnz().max(1)).min(400) } else { 0 };
    search.iterate(config.passes + more, run);
    let mut colors = search.best;
    if config.postprocess {
        if substitution {
            postprocess::substitution(pattern, None, &mut colors, VISITS);
        } else {
            postprocess::symmetric_direct(pattern, &mut colors);
        }
    }
    Ok(colors)
}

/// Lower bound for acyclic (hence star) colouring: any two of k classes induce a forest, so with n vertices that have
/// neighbours the number of edges is at most (k - 1) n - k (k - 1) / 2.
fn forest_bound(graph: &Graph) -> usize {
    let n = (0..graph.vertices()).filter(|&v| !graph.neighbors(v).is_empty()).count() as i128;
    let edges = graph.edges() as i128;
    let fits = |k: &i128| (k - 1) * n - k * (k - 1) / 2 >= edges;
    let k = (1..=n.max(1)).find(fits).unwrap_or(n.max(1)) as usize;
    if graph.vertices() == 0 { 0 } else { k }
}

/// Orders and palettes of the default for direct bicolouring, after plain column and row colouring.
const DIRECT: &[(Order, Palette)] = &[
    (Order::LargestFirst, Palette::Implicit),
    (Order::DynamicLargestFirst, Palette::Implicit),
    (Order::SmallestLast, Palette::Implicit),
    (Order::IncidenceDegree, Palette::Implicit),
    (Order::Random(1), Palette::Implicit),
    (Order::Random(1), Palette::Separate),
    (Order::IncidenceDegree, Palette::Separate),
    (Order::SmallestLast, Palette::Joint),
];

/// The same for bicolouring by substitution.
const SUBSTITUTION: &[(Order, Palette)] = &[
    (Order::LargestFirst, Palette::Implicit),
    (Order::DynamicLargestFirst, Palette::Implicit),
    (Order::SmallestLast, Palette::Implicit),
    (Order::IncidenceDegree, Palette::Implicit),
    (Order::Natural, Palette::Separate),
    (Order::NaturalRowsFirst, Palette::Separate),
    (Order::LargestFirst, Palette::Separate),
    (Order::SmallestLast, Palette::Separate),
    (Order::IncidenceDegree, Palette::Separate),
    (Order::DynamicLargestFirst, Palette::Separate),
    (Order::Random(1), Palette::Separate),
    (Order::IncidenceDegree, Palette::Joint),
];

fn bidirectional(config: &GreedyColoring, pattern: &Pattern, substitution: bool) -> Result<Colors, Error> {
    let (m, n) = (pattern.nrows(), pattern.ncols());
    // Every colour yields at most as many entries as the matrix is long.
    let bound = pattern.nnz().div_ceil(m.max(n).max(1));
    let trials = if config.orders.is_some() { usize::MAX } else { 1_000_000 };
    let mut best = Fewest { postprocess: config.postprocess, substitution, trials, best: None };
    if config.one_sided {
        best.keep(pattern, vec![NEUTRAL; m], one_sided(config, pattern, true)?);
        best.keep(pattern, one_sided(config, pattern, false)?, vec![NEUTRAL; n]);
    }
    let candidates: Vec<(Order, Palette)> = match &config.orders {
        Some(_) if config.one_sided => vec![(Order::LargestFirst, config.palette)],
        Some(orders) => orders.iter().map(|order| (order.clone(), config.palette)).collect(),
        None => {
            let random = random_orders(pattern.nnz()).into_iter().flat_map(|order| {
                let separate = substitution.then(|| (order.clone(), Palette::Separate));
                [(order, Palette::Implicit)].into_iter().chain(separate)
            });
            let named = if substitution { SUBSTITUTION } else { DIRECT };
            named.iter().cloned().chain(random).collect()
        }
    };
    let graph = Graph::bipartite(pattern);
    let conflicts = Conflicts::Graph(&graph);
    for (order, palette) in &candidates {
        if best.count() <= bound {
            break;
        }
        let rules = Rules { separate: *palette != Palette::Joint, implicit: *palette == Palette::Implicit };
        let order = order.compute(&conflicts, Some(n))?;
        let mut columns = graph_colors(&graph, substitution, &order, rules);
        let rows = columns.split_off(n);
        best.keep(pattern, rows, columns);
    }
    Ok(best.best.map(|(_, colors)| colors).unwrap_or_default())
}

/// The bicolouring with the fewest colours so far.
struct Fewest {
    postprocess: bool,
    substitution: bool,
    /// Entries that postprocessing may visit per candidate by substitution.
    trials: usize,
    best: Option<(usize, Colors)>,
}

impl Fewest {
    fn count(&self) -> usize {
        self.best.as_ref().map_or(usize::MAX, |(count, _)| *count)
    }

    fn keep(&mut self, pattern: &Pattern, mut rows: Vec<u32>, mut columns: Vec<u32>) {
        let count = postprocess::renumber(&mut rows) + postprocess::renumber(&mut columns);
        if self.best.is_some() && count > self.count() + self.count() / 4 + 1 {
            return; // too many colours for postprocessing to help
        }
        match (self.postprocess, self.substitution) {
            (true, true) => postprocess::substitution(pattern, Some(&mut rows), &mut columns, self.trials),
            (true, false) => postprocess::bidirectional_direct(pattern, &mut rows, &mut columns),
            _ => {}
        }
        let count = distinct(&rows) + distinct(&columns);
        if count < self.count() {
            self.best = Some((count, Colors { columns, rows }));
        }
    }
}

/// The fewest colours found so far.
struct Search {
    bound: usize,
    best: Vec<u32>,
    count: usize,
}

impl Search {
    fn new(bound: usize) -> Search {
        Search { bound, best: Vec::new(), count: usize::MAX }
    }

    fn done(&self) -> bool {
        self.count <= self.bound
    }

    fn keep(&mut self, colors: Vec<u32>, also_equal: bool) {
        let count = colors.iter().filter(|&&c| c != NEUTRAL).max().map_or(0, |&c| c as usize + 1);
        if count < self.count || (also_equal && count == self.count) {
            (self.best, self.count) = (colors, count);
        }
    }

    fn try_orders(
        &mut self,
        orders: &[Order],
        conflicts: &Conflicts<'_>,
        run: impl Fn(&[u32]) -> Vec<u32>,
    ) -> Result<(), Error> {
        for order in orders {
            if self.done() {
                break;
            }
            let order = order.compute(conflicts, None)?;
            self.keep(run(&order), false);
        }
        Ok(())
    }

    fn iterate(&mut self, passes: usize, run: impl Fn(&[u32]) -> Vec<u32>) {
        let mut random = Lcg(1);
        for pass in 0..passes {
            if self.done() {
                break;
            }
            let order = by_class(&self.best, self.count, pass, &mut random);
            self.keep(run(&order), true);
        }
    }
}

/// Vertices sorted by colour class; the classes reversed, largest first, or shuffled in turn.
fn by_class(colors: &[u32], count: usize, pass: usize, random: &mut Lcg) -> Vec<u32> {
    let mut members = vec![Vec::new(); count];
    for (v, &c) in colors.iter().enumerate() {
        members[c as usize].push(v as u32);
    }
    match pass % 3 {
        0 => members.reverse(),
        1 => random.shuffle(&mut members),
        _ => {
            let order = sorted_by(count, &|class| usize::MAX - members[class].len());
            members = order.into_iter().map(|class| std::mem::take(&mut members[class as usize])).collect();
        }
    }
    members.concat()
}

impl ColoringAlgorithm for GreedyColoring {
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, Error> {
        solve(self, pattern, problem)
    }

    fn is_correct_by_construction(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forest_bound_is_attained_by_bands_and_complete_graphs() {
        let bound = |p: &Pattern| forest_bound(&Graph::adjacency(p));
        for b in 0..6 {
            assert_eq!(bound(&Pattern::banded(50, b).unwrap()), b + 1);
        }
        assert_eq!(bound(&Pattern::dense(9, 9).unwrap()), 9);
        assert_eq!(bound(&Pattern::from_triplets(4, 4, []).unwrap()), 1);
        assert_eq!(bound(&Pattern::from_triplets(0, 0, []).unwrap()), 0);
    }
}
