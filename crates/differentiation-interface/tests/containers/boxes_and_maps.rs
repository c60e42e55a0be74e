//! Recursive types through boxes, and maps of parameters by name.

use differentiation_interface::container::Layout;
use differentiation_interface::prelude::*;
use std::collections::BTreeMap;

/// An expression with its parameters.
#[derive(Clone, Debug, PartialEq, Container)]
enum Expression<T = f64> {
    Constant(T),
    Product(Box<Expression<T>>, Box<Expression<T>>),
}
use Expression::{Constant as Leaf, Product};

fn value<T: Real>(expression: &Expression<T>) -> T {
    match expression {
        Leaf(x) => *x * *x,
        Product(a, b) => value(a) * value(b),
    }
}

fn product(a: Expression, b: Expression) -> Expression {
    Product(Box::new(a), Box::new(b))
}

/// Links and joints of a chain: two types that are recursive through each other.
#[derive(Clone, Debug, PartialEq, Container)]
struct Link<T = f64> {
    length: T,
    #[constant]
    count: u32,
    next: Option<Box<Joint<T>>>,
}

#[derive(Clone, Debug, PartialEq, Container)]
struct Joint<T = f64> {
    angle: T,
    link: Box<Link<T>>,
}

/// count · length · (1 + angle · rest).
fn reach<T: Real>(link: &Link<T>) -> T {
    let rest = link.next.as_ref().map_or(T::zero(), |joint| joint.angle * reach(&joint.link));
    link.length * (1.0 + rest) * f64::from(link.count)
}

fn chain(lengths: [f64; 2], angle: f64, count: u32) -> Link {
    let last = Link { length: lengths[1], count, next: None };
    let joint = Joint { angle, link: Box::new(last) };
    Link { length: lengths[0], count, next: Some(Box::new(joint)) }
}

type Named<T> = BTreeMap<String, T>;

fn total<T: Real>(p: &Named<T>) -> T {
    p.values().copied().sum()
}

/// a² b.
fn product_of<T: Real>(p: &Named<T>) -> T {
    p["a"] * p["a"] * p["b"]
}

fn named<T: Clone, const K: usize>(entries: [(&str, T); K]) -> Named<T> {
    entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

#[test]
fn boxes_are_what_they_hold() {
    let (two, three) = (product(Leaf(2.0), Leaf(3.0)), product(Leaf(2.0), product(Leaf(3.0), Leaf(1.0))));
    every_engine!(backend => {
        let f = |e: &Expression<_>| value(e);
        let mut prepared = prepare_gradient(&f, &backend, &three).unwrap();
        for _ in 0..2 {
            assert_eq!(prepared.gradient(&three).unwrap(), product(Leaf(36.0), product(Leaf(24.0), Leaf(72.0))));
            let other = product(product(Leaf(3.0), Leaf(1.0)), Leaf(2.0));
            assert_eq!(prepared.gradient(&other).unwrap(), product(product(Leaf(24.0), Leaf(72.0)), Leaf(36.0)));
        }
        assert_eq!(gradient(&f, &backend, &two).unwrap(), product(Leaf(36.0), Leaf(24.0)));
    });
    assert_eq!(to_flat(&three), [2.0, 3.0, 1.0]);
    assert_eq!(from_flat(&two, &[5.0, 7.0]).unwrap(), product(Leaf(5.0), Leaf(7.0)));
    // The order of the numbers is the same in another tree, but its shape is not.
    let mut wrong = product(product(Leaf(0.0), Leaf(0.0)), Leaf(0.0));
    let f = |e: &Expression<_>| value(e);
    let error = gradient_into(&f, &mut wrong, &AutoReverseDiff::default(), &three).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferShape);
}

#[test]
fn boxes_may_be_absent() {
    every_engine!(backend => {
        let f = |link: &Link<_>| reach(link);
        let long = chain([2.0, 5.0], 0.5, 3);
        let mut prepared = prepare_gradient(&f, &backend, &long).unwrap();
        for count in [3, 1, 3, 2] {
            let grad = prepared.gradient(&chain([2.0, 5.0], 0.5, count)).unwrap();
            let c = f64::from(count);
            assert_eq!(grad, chain([c * (1.0 + 2.5 * c), c * 2.0 * 0.5 * c], c * 2.0 * 5.0 * c, count));
        }
        let short = Link { length: 2.0, count: 7, next: None };
        assert_eq!(gradient(&f, &backend, &short).unwrap(), Link { length: 7.0, ..short });
    });
    let layout = Layout::of(&chain([1.0; 2], 1.0, 1));
    let hess = hessian(&|link: &Link<_>| reach(link), &AutoForwardDiff::default(), &chain([2.0, 5.0], 0.5, 1)).unwrap();
    assert_eq!(layout.block(&hess, "next.angle", "next.link.length").unwrap(), [[2.0]]);
}

/// A cell of a grid that is refined where it is needed, and the forces on it.
#[derive(Clone, Debug, Default, PartialEq, Container)]
struct Cell<T = f64> {
    density: T,
    quarters: [Option<Box<Cell<T>>>; 4],
    forces: Vec<Box<Force<T>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Container)]
struct Force<T = f64>(T, T);

/// The squares of densities, times the depth, plus the products of forces.
fn energy<T: Real>(cell: &Cell<T>, depth: f64) -> T {
    let below: T = cell.quarters.iter().flatten().map(|quarter| energy(quarter, depth + 1.0)).sum();
    cell.density * cell.density * depth + below + cell.forces.iter().map(|force| force.0 * force.1).sum::<T>()
}

#[test]
fn arrays_and_vectors_of_boxes_are_what_they_hold() {
    let leaf = |density: f64| Some(Box::new(Cell { density, ..Cell::default() }));
    let forces = |x: f64, y: f64| vec![Box::new(Force(x, y))];
    let left = Cell { density: 5.0, quarters: [leaf(1.0), None, None, leaf(2.0)], forces: forces(3.0, 4.0) };
    let right = Cell { density: 5.0, quarters: [None, leaf(1.0), leaf(2.0), None], forces: vec![] };
    every_engine!(backend => {
        let f = |cell: &Cell<_>| energy(cell, 1.0);
        let mut prepared = prepare_gradient(&f, &backend, &left).unwrap();
        for _ in 0..2 {
            let grad = Cell { density: 10.0, quarters: [leaf(4.0), None, None, leaf(8.0)], forces: forces(4.0, 3.0) };
            assert_eq!(prepared.gradient(&left).unwrap(), grad);
        }
        let grad = Cell { density: 10.0, quarters: [None, leaf(4.0), leaf(8.0), None], forces: vec![] };
        assert_eq!(gradient(&f, &backend, &right).unwrap(), grad);
    });
    let layout = Layout::of(&left);
    let names: Vec<&str> = layout.blocks().iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"quarters[3].density") && names.contains(&"forces[0].1"), "{names:?}");
    let mut wrong = Cell { quarters: [leaf(0.0), leaf(0.0), None, None], forces: forces(0.0, 0.0), ..Cell::default() };
    let error = gradient_into(&|cell: &Cell<_>| energy(cell, 1.0), &mut wrong, &AutoReverseDiff::default(), &left);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::BufferShape);
}

#[test]
fn maps_are_points_outputs_and_results() {
    let x = named([("b", 5.0), ("a", 2.0)]);
    every_engine!(backend => {
        let f = |p: &Named<_>| product_of(p);
        let squares = |p: &Named<_>| p.iter().map(|(key, x)| (key.clone(), *x * *x)).collect::<Named<_>>();
        let mut prepared = prepare_gradient(&f, &backend, &x).unwrap();
        assert_eq!(prepared.gradient(&x).unwrap(), named([("a", 20.0), ("b", 4.0)]));
        let y = pushforward(&squares, &backend, &x, [&named([("a", 1.0), ("b", 10.0)])]).unwrap();
        assert_eq!(y, [named([("a", 4.0), ("b", 100.0)])]);
        let sum = |p: &Named<_>| total(p);
        assert_eq!(gradient(&sum, &backend, &Named::<f64>::new()).unwrap(), Named::new());
    });
    let hess = hessian(&|p: &Named<_>| product_of(p), &AutoForwardDiff::default(), &x).unwrap();
    assert_eq!(Layout::of(&x).block(&hess, "[\"a\"]", "[\"b\"]").unwrap(), [[4.0]]);
}

/// Keys decide what the function computes, so that a recording belongs to them.
#[test]
fn keys_belong_to_the_shape() {
    fn weighted<T: Real>(p: &Named<T>) -> T {
        p.iter().map(|(key, x)| *x * *x * key.len() as f64).sum()
    }
    every_engine!(backend => {
        let f = |p: &Named<_>| weighted(p);
        let mut prepared = prepare_gradient(&f, &backend, &named([("a", 1.0), ("b", 2.0)])).unwrap();
        for _ in 0..60 {
            assert_eq!(prepared.gradient(&named([("a", 1.0), ("b", 2.0)])).unwrap(), named([("a", 2.0), ("b", 4.0)]));
            assert_eq!(prepared.gradient(&named([("a", 1.0), ("bb", 2.0)])).unwrap(), named([("a", 2.0), ("bb", 8.0)]));
        }
        let mut wrong = named([("a", 0.0), ("c", 0.0)]);
        let error = prepared.gradient_into(&mut wrong, &named([("a", 1.0), ("b", 2.0)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BufferShape);
        assert_eq!(wrong, named([("a", 0.0), ("c", 0.0)]));
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rate {
    Birth,
    Death,
}

#[derive(Clone, Debug, PartialEq, Container)]
struct Model<T = f64> {
    rates: BTreeMap<Rate, T>,
    tables: BTreeMap<(u8, u8), Vec<T>>,
    by_number: BTreeMap<i32, Option<T>>,
}

fn model(birth: f64, death: f64) -> Model {
    Model {
        rates: [(Rate::Birth, birth), (Rate::Death, death)].into(),
        tables: [((0, 1), vec![1.0, 2.0]), ((1, 0), vec![])].into(),
        by_number: [(-1, Some(3.0)), (4, None)].into(),
    }
}

#[test]
fn any_ordered_key_names_an_entry() {
    fn growth<T: Real>(m: &Model<T>) -> T {
        let of_tables: T = m.tables.iter().map(|((a, b), x)| x.iter().copied().sum::<T>() * f64::from(a + 2 * b)).sum();
        (m.rates[&Rate::Birth] - m.rates[&Rate::Death]) * of_tables * m.by_number.values().flatten().copied().sum::<T>()
    }
    every_engine!(backend => {
        let f = |m: &Model<_>| growth(m);
        let mut prepared = prepare_gradient(&f, &backend, &model(2.0, 0.5)).unwrap();
        for birth in [2.0, 1.0, 4.0] {
            let (net, found) = (birth - 0.5, prepared.gradient(&model(birth, 0.5)).unwrap());
            assert_eq!(found.rates, [(Rate::Birth, 18.0), (Rate::Death, -18.0)].into());
            assert_eq!(found.tables, [((0, 1), vec![6.0 * net; 2]), ((1, 0), vec![])].into());
            assert_eq!(found.by_number, [(-1, Some(6.0 * net)), (4, None)].into());
        }
    });
    let layout = Layout::of(&model(1.0, 1.0));
    let names: Vec<&str> = layout.blocks().iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"rates[Birth]") && names.contains(&"by_number[-1]"), "{names:?}");
}

/// Keys that cannot be compared as plain data are seen by the function in every call.
#[test]
fn other_keys_are_those_of_the_call() {
    type Rates<T> = BTreeMap<Rate, T>;
    fn signed<T: Real>(rates: &Rates<T>) -> T {
        rates.iter().map(|(rate, x)| if *rate == Rate::Birth { *x * *x } else { -*x * *x }).sum()
    }
    let rates = |rate: Rate, x: f64| Rates::from([(rate, x)]);
    every_engine!(backend => {
        let f = |rates: &Rates<_>| signed(rates);
        let mut prepared = prepare_gradient(&f, &backend, &rates(Rate::Birth, 1.0)).unwrap();
        for call in 0..60 {
            let x = f64::from(call);
            assert_eq!(prepared.gradient(&rates(Rate::Birth, x)).unwrap(), rates(Rate::Birth, 2.0 * x));
            assert_eq!(prepared.gradient(&rates(Rate::Death, x)).unwrap(), rates(Rate::Death, -2.0 * x));
        }
        let mut other = rates(Rate::Death, 0.0);
        prepared.gradient_into(&mut other, &rates(Rate::Birth, 3.0)).unwrap();
        assert_eq!(other, rates(Rate::Death, 6.0));
    });
}

/// Their words in the check of shapes were equal.
#[test]
fn buffers_with_keys_that_are_far_away_are_refused() {
    let point: BTreeMap<i64, f64> = [(0, 3.0), (1, 5.0)].into();
    let mut wrong: BTreeMap<i64, f64> = [(i64::MIN, 0.0), (i64::MIN + 1, 0.0)].into();
    fn squares<T: Real>(map: &BTreeMap<i64, T>) -> T {
        map.values().map(|&v| v * v).sum()
    }
    let f = |map: &BTreeMap<i64, _>| squares(map);
    let error = gradient_into(&f, &mut wrong, &AutoForwardDiff::default(), &point);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::BufferShape);
    assert!(wrong.values().all(|v| *v == 0.0));
}
