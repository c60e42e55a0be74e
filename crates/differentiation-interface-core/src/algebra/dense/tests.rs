//! Each rule by itself: pullbacks are the adjoints of pushforwards, and these are the slopes of the values.

use super::*;
use crate::custom::CustomRule;
use shapes::Structure;

fn numbers(count: usize, phase: f64) -> Vec<f64> {
    (0..count).map(|i| (1.7 * i as f64 + phase).sin()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ⟨dy, J dx⟩ = ⟨Jᵀ dy, dx⟩, and J dx is a central difference of the values.
fn check<R: CustomRule>(what: &str, rule: R, x: &[f64]) {
    let mut y = Vec::new();
    rule.value(x, &mut y);
    let (dx, dy) = (numbers(x.len(), 0.4), numbers(y.len(), 1.1));
    let (mut forward, mut back) = (vec![f64::NAN; y.len()], vec![f64::NAN; x.len()]);
    rule.pushforward(x, &y, &dx, &mut forward);
    rule.pullback(x, &y, &dy, &mut back);
    let (left, right) = (dot(&dy, &forward), dot(&back, &dx));
    assert!((left - right).abs() < 1e-12 * (1.0 + left.abs()), "{what}: {left} and {right}");
    let moved = |step: f64| {
        let mut y = vec![f64::NAN; 3];
        rule.value(&x.iter().zip(&dx).map(|(x, dx)| x + step * dx).collect::<Vec<_>>(), &mut y);
        y
    };
    for ((forward, after), before) in forward.iter().zip(moved(1e-5)).zip(moved(-1e-5)) {
        let slope = (after - before) / 2e-5;
        assert!((forward - slope).abs() < 1e-8 * (1.0 + slope.abs()), "{what}: {forward} and {slope}");
    }
}

#[test]
fn pullbacks_of_products_are_adjoint_for_all_transposes() {
    for flags in [(false, false), (false, true), (true, false), (true, true)] {
        let shape = Product::of(2, 3, 4).transposed(flags.0, flags.1);
        let (what, left, right) = (format!("{flags:?}"), numbers(6, 0.1), numbers(12, 0.7));
        check(&what, shape, &[&left[..], &right].concat());
        let with = |data: &[f64], data_is_left| product::WithData { shape, data: data.into(), data_is_left };
        check(&what, with(&left, true), &right);
        check(&what, with(&right, false), &left);
    }
}

#[test]
fn pullbacks_of_solutions_are_adjoint_for_all_structures() {
    let mut x = numbers(9 + 6, 0.2);
    (0..3).for_each(|i| x[4 * i] += 4.0);
    for structure in [Structure::General, Structure::Definite, Structure::Lower, Structure::Upper] {
        let system = Solve::new(3, 2, structure);
        for system in [system.transposed(), system] {
            check(&format!("{structure:?}"), system.clone(), &x);
            let matrix = x[..9].into();
            check(&format!("{structure:?} with data"), system::WithData { system, matrix }, &x[9..]);
        }
    }
}

#[test]
fn pullbacks_of_inverses_and_forms_are_adjoint() {
    let mut x = numbers(9 + 3, 0.2);
    (0..3).for_each(|i| x[4 * i] += 4.0);
    for structure in [Structure::General, Structure::Definite] {
        check("inverse", Inverse::new(3, structure), &x[..9]);
        check("determinant", Determinant::new(3, structure, false), &x[..9]);
        check("logarithm of the determinant", Determinant::new(3, structure, true), &x[..9]);
    }
    check("quadratic form", QuadraticForm { n: 3 }, &x);
}

/// Rules that the function makes anew are known again where all data are equal, and not where one differs.
#[test]
fn rules_are_equal_where_their_data_are() {
    fn identity(rule: &impl CustomRule) -> u64 {
        rule.identity().expect("rules of linear algebra have one")
    }
    let system = |n, columns, structure| system::Solve::new(n, columns, structure);
    let systems = || {
        [
            system(2, 1, Structure::General),
            system(2, 1, Structure::General).transposed(),
            system(2, 2, Structure::General),
            system(3, 1, Structure::General),
            system(2, 1, Structure::Definite),
        ]
    };
    let all = || {
        let mut all: Vec<u64> = systems().iter().map(identity).collect();
        let with = |matrix: [f64; 4]| system::WithData { system: systems()[0].clone(), matrix: matrix.into() };
        all.extend([with([1.0; 4]), with([2.0; 4])].iter().map(identity));
        let product = shapes::Product::of(2, 2, 2);
        let products =
            [product, product.transposed(true, false), product.transposed(false, true), shapes::Product::of(2, 2, 3)];
        all.extend(products.iter().map(identity));
        let data = |left, entry: f64| product::WithData { shape: product, data: [entry; 4].into(), data_is_left: left };
        all.extend([data(true, 1.0), data(false, 1.0), data(true, 2.0)].iter().map(identity));
        let determinants = |logarithm, structure| determinant::Determinant::new(2, structure, logarithm);
        let determinants = [
            determinants(false, Structure::General),
            determinants(true, Structure::General),
            determinants(true, Structure::Definite),
        ];
        all.extend(determinants.iter().map(identity));
        all
    };
    let first = all();
    assert_eq!(first, all());
    for (i, found) in first.iter().enumerate() {
        // A rule of another type may have the same number.
        let own = [0..5, 5..7, 7..11, 11..14, 14..17].into_iter().find(|own| own.contains(&i)).expect("there are 17");
        assert_eq!(first[own].iter().filter(|other| *other == found).count(), 1, "rule {i}");
    }
}
