//! The functions of the reference data, over any scalar.

use crate::generators::{brusselator, conv2d, euler, left, right};
use differentiation_interface_core::Real;

/// A constant.
fn c<T: Real>(value: f64) -> T {
    T::constant(value)
}

/// Runs the function `id` of the reference at `x`; a Hessian's function has one output.
pub(crate) fn call<T: Real>(id: &str, x: &[T]) -> Vec<T> {
    if let Some(name) = id.strip_prefix("sct.") {
        return sct(name, x);
    }
    if id.starts_with("h_") {
        return vec![scalar(id, x)];
    }
    vector(id, x)
}

fn vector<T: Real>(id: &str, x: &[T]) -> Vec<T> {
    let n = x.len();
    match id {
        "readme3" => vec![x[0].powi(2), 2.0 * x[0] * x[1].powi(2), x[2].sin()],
        "identity1" => vec![x[0]],
        "constant1" => vec![c(1.0)],
        "div_self" => {
            let y = x[0];
            vec![x[0] / y]
        }
        "mul2" => vec![x[0] * x[1]],
        "div2" => vec![x[0] / x[1]],
        "min2" => vec![x[0].min(x[1])],
        "ifelse_const_then" => vec![x[1].less_than(x[2]).select(c(1.0), x[2] * x[3])],
        "branch_ge_self" => vec![if x[0] >= x[1] { x[0] } else { x[1] }],
        "bool_times" => vec![x[0].greater_than(c(0.0)).select(c(1.0), c(0.0)) * x[1]],
        "ampgo07" => {
            let inside = x[0].at_most(c(0.0)).select(c(1.0), c(0.0));
            vec![
                inside * 1e300 + x[0].sin() + (10.0 / 3.0 * x[0]).sin() + num_traits::Float::abs(x[0]).ln()
                    - 0.84 * x[0]
                    + 3.0,
            ]
        }
        "clamp_const" => vec![num_traits::Float::clamp(x[0], c(0.0), c(1.0))],
        "clamp_hi" => vec![num_traits::Float::clamp(x[0], c(0.0), x[1])],
        "clamp_lohi" => vec![num_traits::Float::clamp(x[0], x[1], x[2])],
        "rounding_all" => vec![
            x[0].floor(),
            x[0].ceil(),
            x[0].round(),
            x[0].trunc(),
            num_traits::Float::signum(x[0]),
            x[0].fract(),
            num_traits::Float::abs(x[0]),
        ],
        "dot_const_with_zero" => vec![[1.0, 0.0, -2.0, 0.0].iter().zip(x).map(|(c, x)| c * x).sum()],
        "matmul_2x2" => {
            let (a, b) = x.split_at(4);
            (0..4).map(|k| a[k / 2 * 2] * b[k % 2] + a[k / 2 * 2 + 1] * b[2 + k % 2]).collect()
        }
        "matmul_chain" => {
            let a = [[x[0], c(0.0)], [x[1], x[2]]];
            // The literal zero of the matrix is a plain factor.
            let times = |v: [T; 2]| [a[0][0] * v[0] + v[1] * 0.0, a[1][0] * v[0] + a[1][1] * v[1]];
            let u = times(times([x[3], x[4]]));
            vec![u[0], u[1], x[5] * u[0]]
        }
        "det2" => vec![x[0] * x[3] - x[1] * x[2]],
        "det3_laplace" => vec![det3(x)],
        "inv_diag3" => x.iter().map(|v| 1.0 / v).collect(),
        "thomas_solve" => {
            let (a, c) = (-1.0, -1.0);
            let mut factors = vec![c / 4.0];
            let mut d = vec![x[0] / 4.0];
            for i in 1..n {
                let m = 4.0 - a * factors[i - 1];
                factors.push(c / m);
                d.push((x[i] - a * d[i - 1]) / m);
            }
            for i in (0..n - 1).rev() {
                d[i] = d[i] - factors[i] * d[i + 1];
            }
            d
        }
        "forward_subst" => {
            let mut y: Vec<T> = Vec::new();
            for i in 0..n {
                y.push((x[i] - if i > 0 { 0.5 * y[i - 1] } else { c(0.0) }) / 2.0);
            }
            y
        }
        "diff_n7" => (0..n - 1).map(|i| x[i + 1] - x[i]).collect(),
        "vector_any" => mirrored(x),
        "heat1d" => (0..n).map(|i| left(x, i) - 2.0 * x[i] + right(x, i)).collect(),
        "brusselator_3x3" => brusselator(x, 3),
        "euler_twice" => euler(&euler(x)),
        "robertson" => {
            let (slow, fast) = (0.04 * x[0], 1e4 * x[1] * x[2]);
            let last = 3e7 * x[1].powi(2);
            vec![fast - slow, slow - fast - last, last]
        }
        "cumprod" => scan(x),
        "prod_all" => vec![*scan(x).last().unwrap()],
        "dead_code" => {
            let _ = x[0] * x[1];
            vec![x[2] * x[3]]
        }
        "gather_perm" => [2, 0, 4, 1, 3, 0].iter().map(|&k| x[k]).collect(),
        "outer_product" => (0..6).map(|k| x[k / 3] * x[2 + k % 3]).collect(),
        "sort3_network" => {
            let (a, b) = (x[0].min(x[1]), x[0].max(x[1]));
            let (b, c) = (b.min(x[2]), b.max(x[2]));
            vec![a.min(b), a.max(b), c]
        }
        "bubble_sort5" => {
            let mut a = x.to_vec();
            for i in 0..5 {
                for j in 0..4 - i {
                    (a[j], a[j + 1]) = (a[j].min(a[j + 1]), a[j].max(a[j + 1]));
                }
            }
            a
        }
        "conv1d_valid" => (0..6).map(|i| 0.25 * x[i] + 0.5 * x[i + 1] + 0.25 * x[i + 2]).collect(),
        "conv2d_4x4_k3" => conv2d(x, 4, 4, 1, 1, 3),
        "maxpool2" => (0..3).map(|i| x[2 * i].max(x[2 * i + 1])).collect(),
        "butterfly_stage" => {
            let (a, b) = x.split_at(4);
            a.iter().zip(b).map(|(a, b)| a + b).chain(a.iter().zip(b).map(|(a, b)| a - b)).collect()
        }
        "softmax3" => {
            let e: Vec<T> = x.iter().map(|v| v.exp()).collect();
            let s: T = e.iter().sum();
            e.iter().map(|v| v / s).collect()
        }
        "norms" => {
            let a: Vec<T> = x.iter().map(|v| num_traits::Float::abs(*v)).collect();
            let square: T = x.iter().map(|v| v * v).sum();
            vec![a.iter().sum(), a[0].max(a[1]).max(a[2]), square.sqrt()]
        }
        "hypot_atan2_rem" => vec![x[0].hypot(x[1]), x[1].atan2(x[2]), x[0] % x[2]],
        "abs_self_minus" => {
            vec![num_traits::Float::abs(x[0]) - x[0], x[0].max(c(0.0)) + x[1].min(c(0.0))]
        }
        "newton_sqrt" => {
            let y = (0..4).fold(x[0], |y, _| 0.5 * (y + x[0] / y));
            vec![y, y * x[1]]
        }
        "table_lookup" => {
            let table = [0.0, 1.0, 4.0, 9.0];
            let k = x[0].to_i64().unwrap_or(0).clamp(0, 3);
            vec![table[k as usize] * x[1], x[2]]
        }
        "arrow_jac" => {
            let sum: T = x[1..].iter().sum();
            std::iter::once(sum + x[0]).chain(x[1..].iter().map(|v| x[0] * v)).collect()
        }
        "broyden_tridiag" => (0..n).map(|i| (3.0 - 2.0 * x[i]) * x[i] - left(x, i) - 2.0 * right(x, i) + 1.0).collect(),
        "empty_output_rows" => vec![c(1.0), x[1], c(2.0), x[0]],
        _ => panic!("no function for the case `{id}`"),
    }
}

fn scalar<T: Real>(id: &str, x: &[T]) -> T {
    match id {
        "h_linear" => x[0] + 2.0 * x[1] + 3.0 * x[2],
        "h_readme4" => x[0] + x[1] * x[2] + 1.0 / x[3],
        "h_divisions" => x[0] / x[1] + x[2] / 1.0 + 1.0 / x[3],
        "h_prod_prod" => (x[0] * x[1]) * (x[2] * x[3]),
        "h_recip_sum" => 1.0 / (x[0] + x[1] + x[2] + x[3]),
        "h_bar5" => x[0] + x[1] * x[2] + 1.0 / x[3] + 1.0 * x[4] + x[1].powf(x[4]),
        "h_diff_cubed" => x.windows(2).map(|w| (w[1] - w[0]).powi(3)).sum(),
        "h_copysign" => (x[0] * x[1]).copysign(x[2] * x[3]),
        "h_floordiv" => (x[0] * x[1] / (x[2] * x[3])).floor(),
        "h_dead_end" => {
            let _ = x[0] * x[1];
            x[2] * x[3]
        }
        "h_ifelse" => x[0].greater_than(c(0.0)).select(x[0].powf(x[1]), x[2] * x[3]),
        "h_local_max" => x[0] + x[1] * x[2] + 1.0 / x[3] + x[1] * x[0].max(x[4]),
        "h_local_where" => x[1].less_than(x[2]).select(x[0] * x[1], x[2] * x[3]),
        "h_sq_times_zero" => x[0].powi(2) * 0.0,
        "h_rosenbrock" => x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0].powi(2)).powi(2)).sum(),
        "h_wood" => {
            100.0 * (x[1] - x[0].powi(2)).powi(2)
                + (1.0 - x[0]).powi(2)
                + 90.0 * (x[3] - x[2].powi(2)).powi(2)
                + (1.0 - x[2]).powi(2)
                + 10.0 * (x[1] + x[3] - 2.0).powi(2)
                + 0.1 * (x[1] - x[3]).powi(2)
        }
        "h_partially_separable_trig" => x.windows(2).map(|w| (w[0] * w[1]).sin()).sum(),
        "h_det2_log" => (x[0] * x[3] - x[1] * x[2]).ln(),
        "h_abs_linear" => num_traits::Float::abs(x[0] - x[1]) + num_traits::Float::abs(x[2]),
        "h_relu_sq" => x[0].max(c(0.0)).powi(2) + x[1].max(c(0.0)) * x[0],
        "h_exp_sum" => (x[0] + x[1]).exp() + x[2],
        "h_linear_then_sin" => (x[0] + x[1]).sin() * x[2] + x[3],
        "h_chain_dep" => (x[0] * x[1] + x[2]).exp() * x[3],
        "h_mul_self" => x[0] * x[0],
        "h_cubed_at_zero" => x[0].powi(3),
        _ => panic!("no function for the case `{id}`"),
    }
}

fn sct<T: Real>(name: &str, x: &[T]) -> Vec<T> {
    let n = x.len();
    match name {
        "jac.1" => vector("readme3", x),
        "jac.zero_derivatives" => vec![x[0] * x[1], (x[0] * x[1]).ceil(), x[0] * x[1].round()],
        "jac.diff" => vector("diff_n7", x),
        "jac.ifelse" => vec![x[1].less_than(x[2]).select(x[0] + x[1], x[2] * x[3])],
        "jac.ifelse2" => vec![x[1].less_than(x[2]).select(x[0] + x[1], c(1.0))],
        "jac.clamp" | "local.clamp3" => vector("clamp_lohi", x),
        "jac.fma" => vec![c::<T>(1.0).mul_add(x[0], x[1]), x[0].mul_add(x[1], x[2])],
        "jac.dot" | "local.dot" => vec![x[0] * x[3] + x[1] * x[4]],
        "jac.mul_by_zero" => vec![0.0 * x[0], x[0] * 0.0],
        "jac.reverse_diff_squares" => mirrored(x),
        "jac.mixed" => vec![x[0], x[1] * x[2], x[0] + x[3]],
        "jac.branch_error" | "local.branch" => vec![if x[0] > x[1] { x[2] } else { x[3] }],
        "jac.iszero_error" => vec![if x[0].is_zero() || x[0].is_nan() { c(0.0) } else { x[0] }],
        "local.mul1" | "local.mul2" | "local.mul3" => vec![x[0] * x[1]],
        "local.div" => vec![x[0] / x[1]],
        "local.max0" | "local.max1" | "local.max2" => vec![x[0].max(x[1])],
        "local.clamp_out" => vector("clamp_const", x),
        "local.fma" => vec![x[0].mul_add(x[1], x[2])],
        "local.mod_bug" => vec![x[0] - x[1] * (x[0] / x[1]).floor()],
        "hess.readme" => vec![scalar("h_readme4", x)],
        "hess.foo" => vec![x[0] + x[1] * x[2] + 1.0 / x[3] + 1.0 * x[4]],
        "hess.bar" => vec![scalar("h_bar5", x)],
        "hess.div" => vec![scalar("h_divisions", x)],
        "hess.product4" => vec![scalar("h_prod_prod", x)],
        "hess.sums" => vec![(x[0] + x[1]) * (x[2] + x[3])],
        "hess.square_sum" => vec![x.iter().sum::<T>().powi(2)],
        "hess.diffcube" => vec![scalar("h_diff_cubed", x)],
        "hess.linear" => vec![(x[0] - x[1]) + (x[2] - 1.0) + (1.0 - x[3])],
        "hess.copysign" => vec![scalar("h_copysign", x)],
        "hess.dead_end" => vec![scalar("h_dead_end", x)],
        "hess.clamp" => vec![x[0] * num_traits::Float::clamp(x[0], x[1], x[2])],
        "hess.ifelse" => vec![scalar("h_ifelse", x)],
        "hess.alias" => {
            let a = x[0] * x[1];
            let _ = a + x[0] * x[2];
            vec![a]
        }
        "hess.local2" => vec![scalar("h_local_max", x)],
        // A diagonal matrix stores its diagonal only, so that is what the scalar loop computes.
        "det_diagonal" => vec![x[0] * x[4] * x[8]],
        "brusselator6" => brusselator(x, 6),
        "conv" => conv2d(x, 3, 3, 2, 1, 2),
        _ => panic!("no function for the case `sct.{name}` with {n} inputs"),
    }
}

fn mirrored<T: Real>(x: &[T]) -> Vec<T> {
    let n = x.len();
    (0..n - 1).map(|i| x[i + 1].powi(2) - x[i].powi(2) + x[n - 1 - i].powi(2) - x[n - 2 - i].powi(2)).collect()
}

fn det3<T: Real>(a: &[T]) -> T {
    a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6])
}

fn scan<T: Real>(x: &[T]) -> Vec<T> {
    let mut product = x[0];
    let mut all = vec![product];
    for v in &x[1..] {
        product *= v;
        all.push(product);
    }
    all
}
