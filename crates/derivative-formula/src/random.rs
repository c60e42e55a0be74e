//! Random formulas of array variables have, as they are written, the value of the recording.

use crate::{Formula, Variables};
use compiled_trace::{Limits, Recorded, record};
use num_traits::Float as _;

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) % count as u64) as usize
    }

    /// Products of these factors are exact for some and rounded for others.
    fn factor(&mut self) -> f64 {
        [0.1, 0.3, 0.5, 2.0, 3.0, 1.0, -0.7, -1.0, 7.0][self.below(9)]
    }

    /// A term of the element at `i`.
    fn term(&mut self, kind: usize, x: &[Recorded], i: usize) -> Recorded {
        match kind {
            0 => x[i],
            1 => x[i] * x[i],
            2 => x[i] * x[(i + 1) % x.len()],
            3 => x[i].sin(),
            4 => (x[i] * 0.3).exp() * x[i],
            _ => x[i].powi(3) * x[0],
        }
    }

    /// The sum of such terms with one factor, over a range of the array.
    fn sum(&mut self, x: &[Recorded]) -> Recorded {
        let (kind, factor) = (self.below(6), self.factor());
        let first = self.below(x.len() - 2);
        let last = first + 2 + self.below(x.len() - first - 1);
        (first..last).map(|i| self.term(kind, x, i) * factor).sum()
    }

    /// Sums, and sums, products and powers of them.
    fn formula(&mut self, x: &[Recorded], depth: usize) -> Recorded {
        if depth == 0 {
            return self.sum(x);
        }
        let (factor, a) = (self.factor(), self.formula(x, depth - 1));
        match self.below(7) {
            0 => factor * a,
            1 => factor * a + self.formula(x, depth - 1),
            2 => factor * a + self.factor() * self.formula(x, depth - 1),
            3 => factor * a * self.sum(x),
            4 => factor * (a * a) + self.sum(x),
            5 => (a * a).sqrt() * (a * a).sqrt() * factor + self.sum(x),
            _ => factor * a / (1.0 + self.sum(x).powi(2)),
        }
    }
}

#[test]
fn formulas_have_the_value_of_the_recording_as_they_are_written() {
    for seed in 0..2000 {
        let mut numbers = Numbers(seed);
        let inputs = 3 + numbers.below(5);
        let depth = 1 + numbers.below(3);
        let x: Vec<f64> = (0..inputs).map(|i| 0.6 + 0.2 * i as f64 - 0.05 * (i * i) as f64).collect();
        let function = |x: &[Recorded], _: &[Recorded], y: &mut Vec<Recorded>| y.push(numbers.formula(x, depth));
        let graph = record(&x, &[], Limits::default(), function).unwrap();
        let f = Formula::of(&graph, Variables::new().array("x", inputs)).unwrap();
        let slope = f.derivative("x_2").unwrap();
        for f in [f, slope] {
            let (found, expected) = (f.value_as_written(&x).unwrap(), f.value(&x).unwrap());
            assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{seed}: {found} for {expected}: {f}");
        }
    }
}
