//! Generic code as users write it compiles against `Real` and runs on plain numbers.

use differentiation_interface_core::{Base, Real};

fn norm2<T: Real>(x: &[T]) -> T {
    x.iter().map(|v| v * v).sum()
}
fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(a, b)| a * b - a + b / a).sum()
}
fn scaled<T: Real>(x: &[T], k: f64) -> T {
    x.iter().map(|&v| 0.5 * k * v * v).sum()
}
fn weighted<T: Real>(x: &[T], w: &[f64]) -> T {
    let a: T = x.iter().zip(w).map(|(v, w)| w * v).sum();
    let b: T = x.iter().zip(w).map(|(v, w)| v * w + 2.0 * v - v * 3.0).sum();
    let c: f64 = w.iter().map(|a| a * a).sum::<f64>();
    let d: f64 = w.iter().zip(w).map(|(a, b)| a * b - b).sum();
    a + b * c - d * b
}
fn loops<T: Real>(x: &[T]) -> T {
    let h: f64 = 0.5 * 3.0;
    let mut s = x[0] * 2.0;
    for v in x {
        s += v.sin() * h;
        s += 1.0;
        s *= 2.0 * h;
        s -= v;
    }
    if s > 1e9 {
        return s;
    }
    if 1e9 < s {
        return -s;
    }
    let k = 1.0 < 2.0;
    let z = 1.5 * 2.0 + h;
    let v: Vec<f64> = vec![1.0, 2.0];
    let t: f64 = v.iter().map(|a| a * a).sum::<f64>();
    let m = x.iter().fold(T::neg_infinity(), |a, b| a.max(*b));
    let best = x.iter().copied().fold(x[0], T::min);
    if k { s * t * z - m } else { -s - x[1].powi(2) / 3.0 + best.powc(2.5).erf() }
}
fn any_base<B: Base, T: Real<B>>(x: &[T], k: B) -> T {
    x.iter().map(|v| *v * k + k * *v).sum()
}
fn single<T: Real<f32>>(x: T) -> T {
    2.0 * x + 1.0 - x / 2.0
}

#[test]
fn plain_numbers_mix_with_real_numbers() {
    assert_eq!(norm2(&[1.0, 2.0]), 5.0);
    assert_eq!(dot(&[1.0, 2.0], &[3.0, 4.0]), (3.0 - 1.0 + 3.0) + (8.0 - 2.0 + 2.0));
    assert_eq!(scaled(&[1.0, 2.0], 2.0), 5.0);
    assert_eq!(weighted(&[1.0], &[2.0]), 2.0 + (2.0 + 2.0 - 3.0) * 4.0 - (4.0 - 2.0) * 1.0);
    assert!(loops(&[1.0, 2.0]).is_finite());
    assert_eq!(any_base(&[1.0f32, 2.0], 0.5), 3.0);
    assert_eq!(any_base(&[1.0f64, 2.0], 0.5), 3.0);
    assert_eq!(single(2.0f32), 4.0);
}

#[test]
fn closures_are_functions_with_inferred_numbers() {
    use differentiation_interface_core::{Const, Function, FunctionWith, Work};
    fn at<X: ?Sized, F: Function<X>>(f: &F, x: &X) -> F::Output {
        f.call(x)
    }
    fn with<F>(f: &F, x: &[f64], k: &f64, w: &mut Vec<f64>) -> F::Output
    where
        F: FunctionWith<[f64], (Const<f64>, Work<Vec<f64>>)>,
    {
        f.call_with(x, (k, w))
    }
    let f = |x: &[_]| scaled(x, 2.0);
    assert_eq!(at(&f, &[1.0, 2.0][..]), 5.0);
    assert_eq!(at(&norm2, &[1.0, 2.0][..]), 5.0);
    assert_eq!(at(&|x| single(x), &2.0f32), 4.0);
    assert_eq!(at(&|x: &[_; 2]| norm2(x), &[1.0, 2.0]), 5.0);
    let g = |x: &[_], k: &f64, w: &mut Vec<_>| {
        w.clear();
        w.extend_from_slice(x);
        scaled(w, *k)
    };
    assert_eq!(with(&g, &[1.0, 2.0], &2.0, &mut vec![]), 5.0);
}
