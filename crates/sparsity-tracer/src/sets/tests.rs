use super::*;
use std::collections::BTreeSet;

fn sorted(sets: &mut Sets, set: Set) -> Vec<u32> {
    let mut out = Vec::new();
    sets.sorted_members(set, &mut out);
    out
}

/// A linear congruential generator, so that tests repeat.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

#[test]
fn random_unions_are_those_of_the_standard_library() {
    for (inputs, operations, recent) in [(1, 50, 8), (7, 300, 4), (40, 2000, 10), (300, 3000, 30), (2000, 4000, 4000)] {
        let mut sets = Sets::new();
        sets.reset(inputs as u32);
        let mut known: Vec<(Set, BTreeSet<u32>)> = vec![(EMPTY, BTreeSet::new())];
        known.extend((0..inputs as u32).map(|i| (i + 1, BTreeSet::from([i]))));
        let mut state = inputs as u64;
        for _ in 0..operations {
            let from = known.len() - recent.min(known.len());
            let (a, b) = (from + draw(&mut state, known.len() - from), draw(&mut state, known.len()));
            let union = sets.union(known[a].0, known[b].0);
            let expected: BTreeSet<u32> = known[a].1.union(&known[b].1).copied().collect();
            known.push((union, expected));
        }
        for (set, expected) in known {
            assert_eq!(sorted(&mut sets, set), expected.into_iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn long_chain_over_few_inputs_becomes_a_flat_list() {
    let mut sets = Sets::new();
    sets.reset(1000);
    let mut chain = EMPTY;
    for k in 0..100_000 {
        chain = sets.union(chain, 1 + k * 7 % 100);
    }
    assert_eq!(sorted(&mut sets, chain).len(), 100);
    assert!(sets.measure(chain).length() <= 512, "{}", sets.measure(chain).length());
}

#[test]
fn equal_large_sets_become_one() {
    let n = 500;
    let mut sets = Sets::new();
    sets.reset(n);
    let mut layer: Vec<Set> = (1..=n).collect();
    for _ in 0..3 {
        layer = (0..n).map(|_| layer.iter().fold(EMPTY, |row, &set| sets.union(row, set))).collect();
    }
    assert_eq!(sorted(&mut sets, layer[7]).len(), n as usize);
    let (nodes, lists) = sets.size();
    assert!(nodes < 2 * (n * n) as usize && lists < 10 * n as usize, "{nodes} nodes, {lists} in lists");
}

#[test]
fn shared_child_becomes_an_increasing_list() {
    let mut sets = Sets::new();
    sets.reset(100);
    let chain = (0..20).fold(EMPTY, |chain, k| sets.union(chain, 1 + k * 7 % 13));
    assert_eq!(sets.measure(chain).length(), 20);
    let (a, b) = (sets.union(chain, 50), sets.union(chain, 60));
    assert_eq!((sets.long_child(a), sets.long_child(b)), (Some(chain), Some(chain)));
    sets.make_list(chain);
    assert_eq!((sets.long_child(a), sets.measure(chain).length()), (None, 13));
    let expected = |last: u32| (0..13).chain([last]).collect::<Vec<_>>();
    assert_eq!((sorted(&mut sets, a), sorted(&mut sets, b)), (expected(49), expected(59)));
    // Inputs, the empty set, short nodes and lists stay unchanged.
    let short = sets.union(1, 2);
    assert_eq!([EMPTY, 1, short, chain].map(|set| sets.long_child(set)), [None; 4]);
}
