//! Masks of the wrong length, and what errors say where a mask decides which numbers count.

use differentiation_interface::prelude::*;

/// Σ xᵢ³.
struct Cubes;
impl<T: Real> Function<[T]> for Cubes {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x.iter().map(|v| *v * *v * *v).sum()
    }
}

/// The squares.
struct Squares;
impl<T: Real> Function<[T]> for Squares {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        x.iter().map(|v| *v * *v).collect()
    }
}

const FREE: [bool; 3] = [true, true, false];

/// Engines that have a program for the call from the first one on, from some call on, and never.
macro_rules! engines {
    ($backend:ident => $body:block) => {{
        every_engine!($backend => $body);
        let $backend = AutoFiniteDifferences::default();
        $body
    }};
}

/// What holds the derivatives of a point is another backend; errors name the one that the caller chose.
#[test]
fn errors_of_a_held_point_name_the_backend_of_the_caller() {
    let (x, short) = (vec![2.0, 3.0, 4.0], [true, true]);
    macro_rules! named {
        ($name:literal, $backend:expr) => {{
            let prepared = prepare_hvp_same_point(&Cubes, &$backend, Masked(&x, &short), [&[1.0; 2]]);
            let text = "the mask has 2 entries for 3 numbers; pass one for each number of the container";
            assert_eq!(prepared.map(drop).unwrap_err().to_string(), format!("hvp with {}: {text}", $name));
        }};
    }
    named!("forward_diff", AutoForwardDiff::default());
    named!("reverse_diff", AutoReverseDiff::default());
    named!("compiled_reverse_diff", AutoReverseDiff::compiled());
    named!("second_order", SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()));
}

#[test]
fn masks_of_another_length_are_refused_by_programs_too() {
    let (x, t, w) = (vec![2.0, 3.0, 4.0], [1.0, 1.0], [1.0, 1.0, 1.0]);
    let at = |mask| Masked(&x, mask);
    // As many free numbers as in the preparation.
    let wrong: [&[bool]; 2] = [&[true, true], &[true, true, false, false]];
    engines!(backend => {
        macro_rules! refused {
            ($prepare:expr, $p:ident, $mask:ident => $call:expr) => {{
                let mut $p = $prepare.unwrap();
                // The default engine has its program long before the last call.
                for _ in 0..100 {
                    let $mask = &FREE[..];
                    $call.unwrap();
                }
                for $mask in wrong {
                    let error = $call.map(drop).expect_err("the mask has another length than the point");
                    let kind = ErrorKind::MaskLength { expected: 3, found: $mask.len() };
                    assert_eq!(error.kind(), kind, "{error} ({backend:?})");
                }
                let $mask = &FREE[..];
                $call.unwrap()
            }};
        }
        refused!(prepare_gradient(&Cubes, &backend, at(&FREE)), p, mask => p.gradient(at(mask)));
        refused!(prepare_gradient(&Cubes, &backend, at(&FREE)), p, mask => p.value(at(mask)));
        let grad = &mut [0.0; 2];
        refused!(prepare_gradient(&Cubes, &backend, at(&FREE)), p, mask => p.gradient_into(&mut grad[..], at(mask)));
        refused!(prepare_jacobian(&Squares, &backend, at(&FREE)), p, mask => p.jacobian(at(mask)));
        refused!(prepare_jacobian(&Squares, &backend, at(&FREE)), p, mask => p.value(at(mask)));
        let jac = &mut Matrix::filled(3, 2, 0.0);
        refused!(prepare_jacobian(&Squares, &backend, at(&FREE)), p, mask => p.jacobian_into(jac, at(mask)));
        let sparse = AutoSparse::new(backend);
        refused!(prepare_jacobian(&Squares, &sparse, at(&FREE)), p, mask => p.jacobian(at(mask)));
        refused!(prepare_pushforward(&Squares, &backend, at(&FREE), [&t]), p, mask => p.pushforward(at(mask), [&t]));
        refused!(prepare_pullback(&Squares, &backend, at(&FREE), [&w]), p, mask => p.pullback(at(mask), [&w]));
        refused!(prepare_hessian(&Cubes, &backend, at(&FREE)), p, mask => p.hessian(at(mask)));
        refused!(prepare_hvp(&Cubes, &backend, at(&FREE), [&t]), p, mask => p.hvp(at(mask), [&t]));
    });
    let mut p = prepare_jet(&Cubes, &AutoTaylor, at(&FREE), t, Order::<2>).unwrap();
    assert_eq!(p.jet(at(wrong[0]), &t).unwrap_err().kind(), ErrorKind::MaskLength { expected: 3, found: 2 });
    // The mask is what is wrong, also where it has fewer free numbers than the preparation.
    let mut p = prepare_gradient(&Cubes, &AutoForwardDiff::default(), at(&FREE)).unwrap();
    let error = p.gradient(at(&[true])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MaskLength { expected: 3, found: 1 });
    assert_eq!(
        error.to_string(),
        "gradient with forward_diff: the mask has 1 entries for 3 numbers; pass one for each number of the container"
    );
}
