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

/// Lengths count the free numbers, which are fewer than those of the container that the caller passes.
#[test]
fn errors_of_lengths_say_what_counts_under_a_mask() {
    const COUNTS: &str = "; lengths of a masked point count free numbers only";
    let (x, w) = (vec![2.0, 3.0, 4.0], [1.0; 3]);
    let at = || Masked(&x, &FREE);
    #[track_caller]
    fn says<R>(result: Result<R, Error>, found: &str) {
        let text = result.map(drop).expect_err("a length is wrong").to_string();
        assert!(text.contains(found) && text.ends_with(COUNTS), "{text}");
    }
    engines!(backend => {
        let (seed, buffer) = ("seed 0 has length 3, expected 2", "the buffer has length 3, the result needs 2");
        let again = "prepared for 2 inputs, called with 3; prepare again";
        let matrix = &mut Matrix::filled(3, 3, 0.0);
        let size = |rows: usize| format!("the matrix is 3 x 3, the result is {rows} x 2");
        says(pushforward(&Squares, &backend, at(), [&x]), seed);
        says(hvp(&Cubes, &backend, at(), [&x]), seed);
        says(prepare_hvp_same_point(&Cubes, &backend, at(), [&x]), seed);
        says(gradient_into(&Cubes, &mut x.clone(), &backend, at()), buffer);
        says(pullback_into(&Squares, [&mut x.clone()], &backend, at(), [&w]), buffer);
        says(hvp_into(&Cubes, [&mut x.clone()], &backend, at(), [&[1.0; 2]]), buffer);
        says(jacobian_into(&Squares, matrix, &backend, at()), &size(3));
        says(value_and_jacobian_into(&Squares, matrix, &backend, at()), &size(3));
        says(hessian_into(&Cubes, matrix, &backend, at()), &size(2));
        let two = &mut Matrix::filled(2, 2, 0.0);
        says(value_gradient_and_hessian_into(&Cubes, &mut x.clone(), two, &backend, at()), buffer);
        let all = || Masked(&x, &[true; 3]);
        says(prepare_gradient(&Cubes, &backend, at()).unwrap().gradient(all()), again);
        says(prepare_gradient(&Cubes, &backend, at()).unwrap().value(all()), again);
        says(prepare_jacobian(&Squares, &backend, at()).unwrap().jacobian(all()), again);
        says(prepare_jacobian(&Squares, &backend, at()).unwrap().jacobian_into(matrix, at()), &size(3));
        says(prepare_hessian(&Cubes, &backend, at()).unwrap().hessian(all()), again);
        says(prepare_pushforward(&Squares, &backend, at(), [&[1.0; 2]]).unwrap().pushforward(all(), [&[1.0; 2]]), again);
        says(prepare_pullback(&Squares, &backend, at(), [&w]).unwrap().pullback(all(), [&w]), again);
        says(prepare_hvp(&Cubes, &backend, at(), [&[1.0; 2]]).unwrap().hvp(all(), [&[1.0; 2]]), again);
        // Cotangents and products of a pushforward are as long as the output, whatever the mask.
        for error in [
            pullback(&Squares, &backend, at(), [&[1.0; 2]]).map(drop),
            pushforward_into(&Squares, [&mut [1.0; 2]], &backend, at(), [&[1.0; 2]]),
            pushforward(&Squares, &backend, &x, [&[1.0; 2]]).map(drop),
        ] {
            let text = error.unwrap_err().to_string();
            assert!(!text.contains("masked"), "{text}");
        }
    });
    says(jet(&Cubes, &AutoTaylor, at(), &x, Order::<2>), "seed 0 has length 3, expected 2");
    let error = gradient_into(&Cubes, &mut x.clone(), &AutoForwardDiff::default(), at()).unwrap_err();
    let text = "gradient with forward_diff: the buffer has length 3, the result needs 2; pass a buffer of length 2";
    assert_eq!(error.to_string(), format!("{text}{COUNTS}"));
}
