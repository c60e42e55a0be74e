//! `#[differentiable] mod`: heaps, queues and lists of active numbers.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Shortest paths: a `BinaryHeap` of nodes with an order by `total_cmp`
    mod paths {
        use std::cmp::Ordering;
        use std::collections::BinaryHeap;
        #[derive(Clone, Copy, PartialEq)]
        struct Node {
            cost: f64,
            at: usize,
        }
        impl Eq for Node {}
        impl PartialOrd for Node {
            fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
                Some(self.cmp(o))
            }
        }
        impl Ord for Node {
            fn cmp(&self, o: &Self) -> Ordering {
                o.cost.total_cmp(&self.cost)
            }
        }
        struct Graph {
            edges: Vec<Vec<(usize, f64)>>,
        }
        impl Graph {
            fn shortest(&self, from: usize, to: usize) -> Option<f64> {
                let mut dist = vec![f64::INFINITY; self.edges.len()];
                let mut heap = BinaryHeap::new();
                dist[from] = 0.0;
                heap.push(Node { cost: 0.0, at: from });
                while let Some(Node { cost, at }) = heap.pop() {
                    if at == to {
                        return Some(cost);
                    }
                    if cost > dist[at] {
                        continue;
                    }
                    for &(next, w) in &self.edges[at] {
                        let new = cost + w;
                        if new < dist[next] {
                            dist[next] = new;
                            heap.push(Node { cost: new, at: next });
                        }
                    }
                }
                None
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let g =
                Graph { edges: vec![vec![(1, x[0]), (2, x[1] * x[1])], vec![(3, 1.0)], vec![(3, x[0] * x[1])], vec![]] };
            g.shortest(0, 3).unwrap_or(f64::NAN)
        }
    }

    // Heaps with `Reverse`, queues and linked lists
    mod queues {
        use std::cmp::{Ordering, Reverse};
        use std::collections::{BinaryHeap, LinkedList, VecDeque};
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        struct Cost(f64);
        impl Eq for Cost {}
        impl Ord for Cost {
            fn cmp(&self, o: &Self) -> Ordering {
                self.partial_cmp(o).unwrap_or(Ordering::Equal)
            }
        }
        fn merge(values: &[f64]) -> f64 {
            let mut heap: BinaryHeap<Reverse<Cost>> = values.iter().map(|v| Reverse(Cost(*v))).collect();
            let mut total = 0.0;
            while heap.len() > 1 {
                let Reverse(Cost(a)) = heap.pop().unwrap();
                let Reverse(Cost(b)) = heap.pop().unwrap();
                total += a + b;
                heap.push(Reverse(Cost(a + b)));
            }
            total
        }
        pub fn f(x: &[f64]) -> f64 {
            let mut list = LinkedList::new();
            list.push_back(x[0]);
            list.push_front(x[1]);
            list.push_back(2.0);
            let mut queue: VecDeque<(usize, f64)> = VecDeque::new();
            queue.push_back((0, x[0]));
            let mut s = 0.0;
            while let Some((depth, v)) = queue.pop_front() {
                s += v / (depth as f64 + 1.0);
                if depth < 2 {
                    queue.push_back((depth + 1, v * 0.5));
                    queue.push_back((depth + 1, v * v));
                }
            }
            let mut h = BinaryHeap::new();
            for (i, v) in x.iter().enumerate() {
                h.push((Cost(*v), i));
            }
            let (Cost(top), i) = *h.peek().unwrap();
            merge(&[x[0], x[1], 0.5, 2.0]) + list.iter().map(|v| v * v).sum::<f64>() + s + top * (i + 1) as f64
        }
    }
    // Comparisons with a constant of a type with numbers, on either side
    mod compared_constants {
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        pub struct Level(f64);
        impl Level {
            const TOP: Level = Level(4.0);
        }
        const LOW: Level = Level(0.5);
        pub fn f(x: &[f64]) -> f64 {
            let level = Level(x[0]);
            let k = if LOW < level && level < Level::TOP && &LOW <= &level { 2.0 } else { 3.0 };
            let other = if Level::TOP != level && LOW < Level::TOP { x[1] } else { 0.0 };
            level.0 * other * k
        }
    }
    // `Cell`s of tuples and structs: `set`, `replace`, `get`
    mod cells {
        use std::cell::Cell;
        #[derive(Clone, Copy)]
        pub struct State {
            a: f64,
            b: f64,
        }
        pub fn f(x: &[f64]) -> f64 {
            let pair = Cell::new((0.0, 1.0));
            pair.set((x[0], x[1]));
            let (a, b) = pair.replace((2.0, x[0]));
            let cell = Cell::new(State { a: 0.0, b: 1.0 });
            cell.set(State { a: x[0], b: 2.0 });
            let state = cell.replace(State { a: 1.0, b: x[1] });
            a * b + pair.get().1 + state.a * state.b * cell.get().b
        }
    }
    // References to places that are chosen, `if c { &mut a } else { &mut b }`, handed on, or returned
    mod chosen_places {
        fn pick<'a>(a: &'a mut f64, b: &'a mut f64, first: bool) -> &'a mut f64 {
            if first { a } else { b }
        }
        fn last(values: &mut [f64]) -> &mut f64 {
            match values {
                [.., last] => last,
                [] => panic!("there is one"),
            }
        }
        pub fn f(x: &[f64]) -> f64 {
            let (mut a, mut b, mut c, mut d) = (0.0, 1.0, 2.0, 3.0);
            let slot = if x[0] > 1.0 { &mut a } else { &mut b };
            *slot += x[0];
            *pick(&mut c, &mut d, x[1] > 1.0) += x[1];
            let mut rows = [[0.0, 1.0], [2.0, 3.0]];
            let row = match x.len() {
                2 => &mut rows[0],
                _ => &mut rows[1],
            };
            let same = row;
            same[1] *= x[1];
            let mut v = vec![1.0, 2.0];
            *last(&mut v) *= x[0];
            let end = v.last_mut().unwrap();
            let same = end;
            *same += x[1];
            a * b + c * d + rows[0][1] * rows[1][1] + v[1] * v[0]
        }
    }
}

#[test]
fn heaps_keep_their_numbers() {
    agrees(paths::F, plain::paths::f, [1.2, 0.7]);
    agrees(paths::F, plain::paths::f, [0.4, 1.7]);
    agrees(queues::F, plain::queues::f, [1.2, 0.7]);
    agrees(queues::F, plain::queues::f, [0.3, 0.9]);
}

#[test]
fn constants_are_compared_on_either_side() {
    agrees(compared_constants::F, plain::compared_constants::f, [1.3, 0.7]);
    agrees(compared_constants::F, plain::compared_constants::f, [0.3, 0.7]);
}

#[test]
fn cells_hold_tuples_and_structs() {
    agrees(cells::F, plain::cells::f, [1.3, 0.7]);
}

#[test]
fn chosen_places_are_written_through() {
    agrees(chosen_places::F, plain::chosen_places::f, [1.3, 0.7]);
    agrees(chosen_places::F, plain::chosen_places::f, [0.3, 1.7]);
}
