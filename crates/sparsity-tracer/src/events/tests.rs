use super::*;
use std::collections::BTreeSet;

/// A linear congruential generator, so that tests repeat.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

fn arena(inputs: u32) -> (Sets, Events) {
    let (mut sets, mut events) = (Sets::new(), Events::new());
    sets.reset(inputs);
    events.reset();
    (sets, events)
}

#[test]
fn random_products_give_the_pairs_of_the_standard_library() {
    for (case, inputs) in (1..=60).chain([300, 700]).enumerate() {
        let (mut sets, mut events) = arena(inputs);
        let mut state = case as u64;
        let mut known: Vec<(Set, BTreeSet<u32>)> = (0..inputs).map(|i| (i + 1, BTreeSet::from([i]))).collect();
        let (mut root, mut expected) = (NONE, BTreeSet::new());
        let recent = 1 + draw(&mut state, 12);
        for _ in 0..60 {
            // Half of the operations continue a chain, as recurrences do.
            let last = known.len() - 1;
            let a = if draw(&mut state, 2) == 0 { last } else { last - draw(&mut state, recent.min(last + 1)) };
            let b = draw(&mut state, known.len());
            let union = known[a].1.union(&known[b].1).copied().collect();
            let set = sets.union(known[a].0, known[b].0);
            known.push((set, union));
            if draw(&mut state, 3) > 0 {
                let c = if draw(&mut state, 2) == 0 { known.len() - 1 } else { draw(&mut state, known.len()) };
                let d = if draw(&mut state, 2) == 0 { c } else { draw(&mut state, known.len()) };
                let product = events.product(known[c].0, known[d].0);
                root = events.union(root, product);
                for &i in &known[c].1 {
                    for &j in &known[d].1 {
                        expected.extend([(i, j), (j, i)]);
                    }
                }
            }
        }
        let mut indices = Vec::new();
        let pointers = events.rows(root, &mut sets, &mut indices).unwrap();
        let row = |i: u32| pointers[i as usize] as usize..pointers[i as usize + 1] as usize;
        let indices = indices.as_slice();
        let found: Vec<_> = (0..inputs).flat_map(|i| indices[row(i)].iter().map(move |&j| (i, j))).collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{inputs} inputs");
    }
}

#[test]
fn products_within_the_square_of_a_union_are_dropped() {
    let n = 100;
    let steps: [fn(&mut Sets, Set, Set) -> Set; 3] = [
        |sets, state, x| sets.union(state, x),
        // Long walks over few inputs become flat lists.
        |sets, state, x| {
            let sum = sets.union(state, x);
            sets.union(sum, state)
        },
        |sets, state, x| {
            let pair = sets.union(state, x.saturating_sub(1));
            let sum = sets.union(x, pair);
            sets.union(state, sum)
        },
    ];
    for step in steps {
        let (mut sets, mut events) = arena(n + 1);
        let (mut state, mut root) = (EMPTY, NONE);
        for x in 1..=n {
            let next = step(&mut sets, state, x);
            for product in [events.product(next, next), events.product(state, next)] {
                root = events.union(root, product);
            }
            state = next;
        }
        let mut indices = Vec::new();
        events.rows(root, &mut sets, &mut indices).unwrap();
        assert_eq!(indices.len(), (n * n) as usize);
        assert_eq!(events.work.products, [(state, state)]);
    }
}
