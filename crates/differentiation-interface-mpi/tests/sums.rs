//! Gradients and Hessian products of sums: closed forms, the same bits for any division, no allocation in prepared calls.

mod support;

use differentiation_interface::prelude::*;
use differentiation_interface_mpi::{Distributed, Ranks, Terms};
use differentiation_interface_test::{CountingAllocator, allocations};
use support::{bits, on_ranks};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// w·(k·x₀ + x₁)²·x₂, where `w` has no short binary fraction.
#[derive(Clone, Copy)]
struct Term {
    k: f64,
}

impl Term {
    fn weight(self) -> f64 {
        1.0 / (self.k + 3.0)
    }
}

impl<T: Real> Function<[T]> for Term {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.weight() * (self.k * x[0] + x[1]).powi(2) * x[2]
    }
}

/// x₀·x₁ in any precision.
struct Product;
impl<T: Scalar> Function<[T]> for Product {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        x[0] * x[1]
    }
}
impl<T: Scalar> Function<[T; 2]> for Product {
    type Output = T;
    fn call(&self, x: &[T; 2]) -> T {
        x[0] * x[1]
    }
}

/// The sum, its gradient and its Hessian times (1, -2, 3).
fn closed_form(count: usize, x: [f64; 3]) -> (f64, [f64; 3], [f64; 3]) {
    let mut all = (0.0, [0.0; 3], [0.0; 3]);
    for term in (0..count).map(|k| Term { k: k as f64 }) {
        let (w, k, u) = (term.weight(), term.k, term.k * x[0] + x[1]);
        all.0 += w * u * u * x[2];
        let grad = [2.0 * w * u * k * x[2], 2.0 * w * u * x[2], w * u * u];
        // u' = k - 2 along the tangent, x₂' = 3.
        let (du, dx) = (k - 2.0, 3.0);
        let hvp = [2.0 * w * k * (du * x[2] + u * dx), 2.0 * w * (du * x[2] + u * dx), 2.0 * w * u * du];
        for i in 0..3 {
            all.1[i] += grad[i];
            all.2[i] += hvp[i];
        }
    }
    all
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} instead of {b}");
    }
}

/// Terms of which each rank but the first holds two.
fn uneven(ranks: &Ranks, count: usize) -> Terms<Term> {
    let start = |rank: usize| if rank == 0 { 0 } else { count.saturating_sub(2 * (ranks.size() - rank)) };
    let end = if ranks.rank() + 1 == ranks.size() { count } else { start(ranks.rank() + 1) };
    Terms::held(ranks, (start(ranks.rank())..end).map(|k| Term { k: k as f64 }).collect()).unwrap()
}

fn main() {
    on_ranks("sums", |ranks, alone| {
        let x = [0.3, -1.7, 0.9];
        let tangents = [&[1.0, -2.0, 3.0][..], &[-1.0, 2.0, -3.0][..]];
        for count in [1, 2, 3, 7, 37, 100] {
            let (value, grad, hvp_1) = closed_form(count, x);
            let make = |k: usize| Term { k: k as f64 };
            let by_alone = Distributed::new(alone, AutoReverseDiff::default());
            let single = Terms::shared(alone, count, make);
            let (v, g) = value_and_gradient(&single, &by_alone, &x).unwrap();
            close(&[v], &[value]);
            close(&g, &grad);
            let [h, h_2] = hvp(&single, &by_alone, &x, tangents).unwrap();
            close(&h, &hvp_1);

            let backend = Distributed::new(ranks, AutoReverseDiff::default());
            for terms in [Terms::shared(ranks, count, make), uneven(ranks, count)] {
                assert_eq!(terms.count(), count);
                let held = ranks.sum(ranks.size(), 1, |_, held| held[0] = terms.own().len() as f64).unwrap();
                assert_eq!(held, [count as f64]);
                let found = value_and_gradient(&terms, &backend, &x).unwrap();
                assert_eq!((found.0.to_bits(), bits(&found.1)), (v.to_bits(), bits(&g)));
                assert_eq!(bits(&gradient(&terms, &backend, &x).unwrap()).len(), 3);
                let (value, grad, [first, second]) = value_gradient_and_hvp(&terms, &backend, &x, tangents).unwrap();
                assert_eq!(bits(&first), bits(&h));
                assert_eq!(bits(&second), bits(&h_2));
                close(&[value], &[v]);
                close(&grad, &g);
                let [plain, _] = hvp(&terms, &backend, &x, tangents).unwrap();
                assert_eq!(bits(&plain), bits(&h));

                let mut prepared = prepare_gradient(&terms, &backend, &[1.0; 3]).unwrap();
                let mut products = prepare_hvp(&terms, &backend, &[1.0; 3], tangents).unwrap();
                let mut grad = [0.0; 3];
                for _ in 0..2 {
                    let before = allocations();
                    let value = prepared.value_and_gradient_into(&mut grad, &x).unwrap();
                    prepared.gradient_into(&mut grad, &x).unwrap();
                    assert_eq!(allocations() - before, 0);
                    assert_eq!((value.to_bits(), bits(&grad)), (v.to_bits(), bits(&g)));
                    assert_eq!(prepared.value(&x).unwrap().to_bits(), v.to_bits());
                    let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
                    let before = allocations();
                    products.hvp_into([&mut a, &mut b], &x, tangents).unwrap();
                    assert_eq!(allocations() - before, 0);
                    assert_eq!(bits(&a), bits(&h));
                }
            }
            if ranks.rank() == 0 {
                println!("bits {:016x} {:x?} {:x?}", v.to_bits(), bits(&g), bits(&h));
            }
        }
        // No terms, fewer terms than ranks, single precision, an array by value.
        let none = Terms::shared(ranks, 0, |k| Term { k: k as f64 });
        let backend = Distributed::new(ranks, AutoForwardDiff::default());
        assert_eq!(value_and_gradient(&none, &backend, &x).unwrap(), (0.0, vec![0.0; 3]));
        let one = Terms::shared(ranks, 1, |_| Product);
        assert_eq!(gradient(&one, &backend, &[2.0_f32, 5.0]).unwrap(), [5.0, 2.0]);
        assert_eq!(gradient(&one, &backend, [2.0, 5.0]).unwrap(), [5.0, 2.0]);

        let sum = ranks.sum(5, 2, |k, term| term.copy_from_slice(&[k as f64, 1.0])).unwrap();
        assert_eq!(sum, [10.0, 5.0]);
        assert_eq!(ranks.sum(0, 2, |_, _| ()).unwrap(), [0.0, 0.0]);
    });
}
