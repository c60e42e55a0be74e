//! What the kit's scenarios do not show: loops with a state, matrices by products, parameters, other branches, work as an argument.

use crate::collect::Case;
use crate::compile::{Language, ran, run, test_folder};
use compiled_trace::Recorded;
use derivative_source::{Error, Operator, Precision, Recording, Source};
use differentiation_interface::container::Layout;
use differentiation_interface::prelude::*;
use differentiation_interface_core::scalar::Condition;
use std::process::Command;

/// Six coupled pendulums by 40 explicit steps: the angles at the end.
fn path<T: Real>(x: &[T]) -> Vec<T> {
    let (mut angles, mut rates) = (x.to_vec(), vec![T::constant(0.0); 6]);
    for _ in 0..40 {
        let pulls: Vec<T> = (0..6).map(|i| (angles[(i + 1) % 6] - angles[i]).sin() - 0.1 * rates[i]).collect();
        for i in 0..6 {
            angles[i] += 0.05 * rates[i];
            rates[i] += 0.05 * pulls[i];
        }
    }
    angles
}

fn energy<T: Real>(x: &[T]) -> T {
    path(x).into_iter().map(|v| v * v).sum()
}

/// Long sums with functions of every kind.
fn spread<T: Real>(x: &[T]) -> T {
    let sum: T = x.windows(3).map(|w| (w[0] * w[1]).sin() * w[2].powi(-4) + w[1].mul_add(w[0], w[2])).sum();
    sum.sqrt() * x.iter().map(|v| v.ln_gamma()).sum::<T>().tanh()
}

fn branch<T: Real>(x: &[T]) -> T {
    if x[0] < x[1] { x[0] * x[0] * x[1] } else { 5.0 * x[1] }
}

fn flat(matrix: &Matrix<f64>) -> Vec<f64> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| matrix[(i, j)]).collect()
}

#[test]
fn long_computations_give_matrices_by_loops_over_products() {
    let start = [0.3, -0.2, 2.0, 0.1, 0.7, -1.0];
    let point = [0.5, 0.1, 1.5, -0.3, 0.9, -0.4];
    let paths = Recording::new("path", &|x: &[_]| path(x), &&start).unwrap();
    let energies = Recording::new("energy", &|x: &[_]| energy(x), &&start).unwrap();
    let long: Vec<f64> = (0..120).map(|i| 1.2 + 0.01 * i as f64).collect();
    let spreads = Recording::new("spread", &|x: &[_]| spread(x), &&long).unwrap();
    let source = Source::new()
        .with(&paths, Operator::JACOBIAN.and_value())
        .and_then(|source| source.with(&energies, Operator::HESSIAN.and_value().and_first()))
        .and_then(|source| source.with(&energies, Operator::GRADIENT.and_value()))
        .and_then(|source| source.with(&spreads, Operator::HVP.and_value().and_first()))
        .unwrap();
    let text = source.rust().unwrap();
    assert!(text.matches("for i in 0..6 {").count() >= 2, "one loop over the seeds for each matrix");
    assert!(text.contains("_WORK: usize = "), "a path needs memory");

    let forward = AutoForwardDiff::default();
    let twice = SecondOrder(forward, forward);
    let (y, jac) = value_and_jacobian(&|x: &[_]| path(x), &forward, &point).unwrap();
    let (value, grad, hess) = value_gradient_and_hessian(&|x: &[_]| energy(x), &twice, &point).unwrap();
    let x: Vec<f64> = long.iter().map(|v| v + 0.05).collect();
    let seed: Vec<f64> = x.iter().map(|v| v.cos()).collect();
    let (height, slope, [product]) = value_gradient_and_hvp(&|x: &[_]| spread(x), &twice, &x, [&seed[..]]).unwrap();
    let of = |name: &str, answers: &[Vec<f64>]| Case::of(&source, name, &point, None, answers);
    let cases = [
        of("path_value_and_jacobian", &[y, flat(&jac)]),
        of("energy_value_gradient_and_hessian", &[vec![value], grad.clone(), flat(&hess)]),
        of("energy_value_and_gradient", &[vec![value], grad]),
        Case::of(&source, "spread_value_gradient_and_hvp", &x, Some(&seed), &[vec![height], slope, product]),
    ];
    for language in [Language::Rust, Language::C] {
        for (case, found) in cases.iter().zip(run(&source, &cases, language, "products")) {
            assert_eq!(case.wrong(&found), None, "{language:?}");
        }
    }
}

#[test]
fn another_branch_is_reported_with_its_line() {
    let line = include_str!("more.rs").lines().position(|line| line.contains("if x[0] < x[1]")).unwrap() + 1;
    let recording = Recording::new("branch", &|x: &[_]| branch(x), &&[1.0, 2.0]).unwrap();
    let source = Source::new().with(&recording, Operator::GRADIENT.and_value()).unwrap();
    assert!(source.functions().all(|function| function.has_branches()));

    let folder = test_folder("branch");
    source.write_rust(&folder, "emitted").unwrap();
    let main = format!(
        "include!(\"emitted.rs\");\nfn main() {{\n    let mut grad = [0.0; 2];\n    \
         assert_eq!(branch_value_and_gradient(&[3.0, 5.0], &mut grad), Ok(45.0));\n    \
         assert_eq!(grad, [30.0, 9.0]);\n    \
         for x in [[5.0, 3.0], [3.0, 3.0], [f64::NAN, 3.0]] {{\n        \
         assert_eq!(branch_value_and_gradient(&x, &mut grad), Err(BranchChanged {{ line: {line} }}));\n    }}\n}}\n"
    );
    std::fs::write(folder.join("main.rs"), main).unwrap();
    ran(Command::new("rustc").args(["--edition=2024", "-Dwarnings", "main.rs"]).current_dir(&folder));
    ran(&mut Command::new(folder.join("main")));

    source.write_c(&folder, "emitted").unwrap();
    let main = format!(
        "#include \"emitted.h\"\nint main(void)\n{{\n    double y, grad[2];\n    \
         const double same[2] = {{3, 5}}, other[2] = {{5, 3}};\n    \
         if (branch_value_and_gradient(same, &y, grad) != 0) return 1;\n    \
         if (y != 45 || grad[0] != 30 || grad[1] != 9) return 2;\n    \
         return branch_value_and_gradient(other, &y, grad) == {line} ? 0 : 3;\n}}\n"
    );
    std::fs::write(folder.join("main.c"), main).unwrap();
    let options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "c-main", "main.c", "emitted.c", "-lm"];
    ran(Command::new("cc").args(options).current_dir(&folder));
    ran(&mut Command::new(folder.join("c-main")));
}

fn printed(f: impl Fn(&[Recorded]) -> Recorded, x: &[f64], operator: Operator) -> String {
    let recording = Recording::new("f", &f, &x).unwrap();
    Source::new().with(&recording, operator).unwrap().rust().unwrap()
}

#[test]
fn constants_and_unused_inputs_have_zero_gradients() {
    let text = printed(|_| Recorded::constant(3.0), &[1.0, 2.0], Operator::GRADIENT.and_value());
    assert!(text.contains("grad.fill(0.0);\n    3.0\n}"), "{text}");
    let text = printed(|x| 2.0 * x[1], &[1.0, 2.0, 3.0], Operator::GRADIENT);
    assert!(text.contains("grad[1] = 2.0;") && text.contains("#[allow(unused_variables)]"), "{text}");
    let text = printed(|x| x.iter().copied().sum(), &[1.0], Operator::SPARSE_HESSIAN);
    assert!(text.contains("STARTS: [u32; 2] = [\n    0, 0,\n];") && text.contains("hess: &mut [f64; 0]"), "{text}");
}

#[test]
fn the_same_function_gives_the_same_bytes() {
    let print = || printed(spread, &[1.5; 40], Operator::HVP.and_value());
    assert_eq!(print(), print());
}

#[test]
fn the_gradient_of_a_stencil_is_a_sum_per_cell() {
    fn rosenbrock<T: Real>(x: &[T]) -> T {
        x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
    }
    let text = printed(rosenbrock, &[0.5; 1000], Operator::GRADIENT);
    assert!(!text.contains("+=") && text.contains("for i in 0..998 {"), "{text}");
    assert!(text.lines().count() <= 22, "{text}");
}

#[test]
fn single_precision_is_chosen_or_follows_the_point() {
    let recording = Recording::new("f", &|x: &[Recorded]| x[0] * x[0] * 0.1, &&[1.0]).unwrap();
    let source = Source::new().with(&recording, Operator::GRADIENT).unwrap().over(Precision::Single);
    assert!(source.rust().unwrap().contains("x: &[f32; 1], grad: &mut [f32; 1]"));
    assert!(source.c("f.h").unwrap().contains("grad[0] = 0.2f * x[0];"));
    let recording = Recording::new("f", &|x: &[Recorded<f32>]| x[0] * x[0], &&[1.0f32]).unwrap();
    let source = Source::new().with(&recording, Operator::GRADIENT).unwrap();
    assert!(source.header().contains("void f_gradient(const float *restrict x, float *restrict grad);"));
}

/// √x for positive x, else 2 x.
fn chosen<T: Real>(x: &[T]) -> T {
    x[0].greater_than(T::constant(0.0)).select(x[0].sqrt(), 2.0 * x[0])
}

#[test]
fn absent_derivatives_are_zero_where_they_are_tracked() {
    // At 0, the side that is not taken has an infinite derivative.
    let recording = Recording::new("chosen", &|x: &[_]| chosen(x), &&[1.0]).unwrap();
    let source = Source::new().tracking_absent().with(&recording, Operator::GRADIENT.and_value()).unwrap();
    let of = |x: f64, y: f64, slope: f64| {
        Case::of(&source, "chosen_value_and_gradient", &[x], None, &[vec![y], vec![slope]])
    };
    let cases = [of(0.0, 0.0, 2.0), of(-3.0, -6.0, 2.0), of(4.0, 2.0, 0.25)];
    for language in [Language::Rust, Language::C] {
        for (case, found) in cases.iter().zip(run(&source, &cases, language, "absent")) {
            assert_eq!(case.wrong(&found), None, "{language:?}");
        }
    }
}

#[test]
fn what_cannot_be_emitted_is_refused_with_what_to_do() {
    let recording = Recording::new("f", &|x: &[Recorded]| vec![x[0], x[1]], &&[1.0, 2.0]).unwrap();
    let refused = |operator| Source::new().with(&recording, operator).unwrap_err().to_string();
    let text = "`gradient` needs a function that returns one number, the function has 2 inputs and 2 outputs; choose another operator";
    assert_eq!(refused(Operator::GRADIENT), text);
    assert!(refused(Operator::DERIVATIVE).starts_with("`derivative` needs a function of one number"));
    let twice = Source::new().with(&recording, Operator::VALUE).unwrap().with(&recording, Operator::VALUE);
    assert_eq!(twice.unwrap_err(), Error::Name { name: "f_value".to_string() });
    for name in ["", "1f", "for", "a b", "é"] {
        let named = Recording::new(name, &|x: &[Recorded]| x[0], &&[1.0]);
        assert_eq!(named.unwrap_err(), Error::Name { name: name.to_string() });
    }
}

#[test]
fn the_example_of_the_main_page_is_that_of_the_crate_which_is_tested() {
    let block = |page: &str, start: &str| {
        let from = page.find(start).map(|at| at + start.len()).unwrap();
        let lines = page[from..].lines().take_while(|line| *line != "```").filter(|line| !line.starts_with("# "));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    let main = block(
        include_str!("../../../../README.md"),
        "For example, C code for the Rosenbrock function:\n\n```rust,ignore\n",
    );
    assert_eq!(main, block(include_str!("../../README.md"), "```rust\n"));
}

#[test]
fn fields_of_a_struct_are_arguments() {
    #[derive(Clone, Debug, Container)]
    struct Truss<T = f64> {
        stiffness: [T; 2],
        ends: [T; 3],
        load: T,
    }
    fn stored<T: Real>(truss: &Truss<T>) -> T {
        let Truss { stiffness, ends, load } = truss;
        stiffness[0] * ends[0] * ends[0] + stiffness[1] * ends[1] * ends[2] + *load * ends[2]
    }
    // A loop over all numbers reaches several fields.
    fn squares<T: Real>(truss: &Truss<T>) -> T {
        let Truss { stiffness, ends, load } = truss;
        stiffness.iter().chain(ends).chain([load]).map(|v| v.sin() * *v).sum()
    }
    let truss = Truss { stiffness: [2.0, 3.0], ends: [0.5, 1.5, -1.0], load: 4.0 };
    let layout = Layout::of(&truss);
    let stored_of = Recording::new("stored", &|truss: &Truss<_>| stored(truss), &&truss).unwrap();
    let squares_of = Recording::new("squares", &|truss: &Truss<_>| squares(truss), &&truss).unwrap();
    let source = Source::new()
        .with(&stored_of.with_fields(&layout).unwrap(), Operator::GRADIENT.and_value())
        .and_then(|source| source.with(&squares_of.clone().with_fields(&layout)?, Operator::HVP))
        .unwrap();
    let folder = test_folder("fields");
    source.clone().with_std().write_rust(&folder, "emitted").unwrap();
    // By hand: the gradient of the first; 2 cos x - x sin x times the direction 1 for the second.
    let main = "include!(\"emitted.rs\");\nfn main() {\n    let (stiffness, ends, load) = ([2.0, 3.0], [0.5, 1.5, -1.0], [4.0]);\n    \
        let mut grad = [0.0; 6];\n    \
        assert_eq!(stored_value_and_gradient(&stiffness, &ends, &load, &mut grad), -8.0);\n    \
        assert_eq!(grad, [0.25, -1.5, 2.0, -3.0, 8.5, -1.0]);\n    \
        squares_hvp(&stiffness, &ends, &load, &[1.0; 6], &mut grad);\n    \
        for (h, x) in grad.iter().zip([2.0f64, 3.0, 0.5, 1.5, -1.0, 4.0]) {\n        \
        assert!((h - (2.0 * x.cos() - x * x.sin())).abs() < 1e-14);\n    }\n}\n";
    std::fs::write(folder.join("main.rs"), main).unwrap();
    ran(Command::new("rustc").args(["--edition=2024", "-Dwarnings", "main.rs"]).current_dir(&folder));
    ran(&mut Command::new(folder.join("main")));

    // The same with slices, whose lengths are checked.
    source.with_std().with_slices().write_rust(&folder, "emitted").unwrap();
    let main = "include!(\"emitted.rs\");\nfn main() {\n    let (stiffness, ends, load) = (vec![2.0, 3.0], vec![0.5, 1.5, -1.0], [4.0]);\n    \
        let mut grad = vec![0.0; 6];\n    \
        assert_eq!(stored_value_and_gradient(&stiffness, &ends, &load, &mut grad), -8.0);\n    \
        assert_eq!(grad, [0.25, -1.5, 2.0, -3.0, 8.5, -1.0]);\n    \
        squares_hvp(&stiffness, &ends, &load, &[1.0; 6], &mut grad);\n    \
        let short = std::panic::catch_unwind(|| stored_value_and_gradient(&[1.0], &[1.0; 3], &[1.0], &mut [0.0; 6]));\n    \
        assert!(short.is_err());\n}\n";
    std::fs::write(folder.join("main.rs"), main).unwrap();
    ran(Command::new("rustc").args(["--edition=2024", "-Dwarnings", "main.rs"]).current_dir(&folder));
    ran(&mut Command::new(folder.join("main")));
    let other = Layout::of(&vec![1.0; 5]);
    assert_eq!(squares_of.with_fields(&other).unwrap_err(), Error::Fields { expected: 6, found: 0 });
}

/// Energies with loops of many shapes, each of 36 numbers or more.
fn structures<T: Real>() -> Vec<(&'static str, usize, fn(&[T]) -> T)> {
    fn square<T: Real>(v: T) -> T {
        v * v
    }
    fn sheet<T: Real>(x: &[T]) -> T {
        let at = |i: usize, j: usize| x[6 * i + j];
        let across: T =
            (0..6).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| square(at(i, j + 1) - at(i, j))).sum();
        let down: T =
            (0..5).flat_map(|i| (0..6).map(move |j| (i, j))).map(|(i, j)| (at(i + 1, j) * at(i, j)).sin()).sum();
        across + down
    }
    fn torus<T: Real>(x: &[T]) -> T {
        let at = |i: usize, j: usize| x[6 * (i % 6) + j % 6];
        let cells = (0..6).flat_map(|i| (0..6).map(move |j| (i, j)));
        cells.map(|(i, j)| (at(i + 1, j) + at(i + 5, j) + at(i, j + 1) - 3.0 * at(i, j)).exp() * at(i, j + 5)).sum()
    }
    fn wide<T: Real>(x: &[T]) -> T {
        (0..x.len() - 7).map(|i| square(x[i] - 2.0 * x[i + 3] + x[i + 7]) * x[i + 1]).sum()
    }
    fn strided<T: Real>(x: &[T]) -> T {
        (0..x.len() / 3 - 1)
            .map(|i| square(x[3 * i] * x[3 * i + 4] - x[3 * i + 3]).sqrt() + x[3 * i + 2].atan2(x[3 * i + 5]))
            .sum()
    }
    fn backwards<T: Real>(x: &[T]) -> T {
        let n = x.len();
        (0..n - 1).map(|i| x[n - 1 - i] * square(x[i]) / (2.0 + x[n - 2 - i] * x[n - 2 - i])).sum()
    }
    fn running<T: Real>(x: &[T]) -> T {
        let mut sum = T::constant(0.0);
        let mut total = T::constant(0.0);
        for v in x {
            sum = 0.9 * sum + *v;
            total += sum.tanh() * *v;
        }
        total
    }
    fn table<T: Real>(x: &[T]) -> T {
        (0..x.len()).map(|i| x[i] * square(x[(i * i + 5) % x.len()]) * (1.0 + (i % 7) as f64)).sum()
    }
    fn product<T: Real>(x: &[T]) -> T {
        (0..6).map(|i| square((0..6).map(|j| x[6 * i + j] * x[6 * j + i]).sum::<T>())).sum()
    }
    fn single<T: Real>(x: &[T]) -> T {
        x[0].ln_1p() * x[0].max(T::constant(0.25)) + x[0].cosh()
    }
    vec![
        ("sheet", 36, sheet),
        ("torus", 36, torus),
        ("wide", 40, wide),
        ("strided", 45, strided),
        ("backwards", 40, backwards),
        ("running", 50, running),
        ("table", 41, table),
        ("product", 36, product),
        ("single", 1, single),
    ]
}

#[test]
fn loops_of_many_shapes_give_what_forward_mode_gives() {
    let forward = AutoForwardDiff::default();
    let twice = SecondOrder(forward, forward);
    let (mut source, mut cases) = (Source::new(), Vec::new());
    let mut add = Vec::new();
    for (((name, n, recorded), (_, _, once)), (_, _, nested)) in
        structures::<Recorded>().into_iter().zip(structures()).zip(structures())
    {
        let start: Vec<f64> = (0..n).map(|i| 0.6 + 0.3 * (i as f64).sin()).collect();
        let x: Vec<f64> = (0..n).map(|i| 0.5 + 0.4 * (1.3 * i as f64).cos()).collect();
        let v: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin()).collect();
        let recording = Recording::new(name, &|x: &[_]| recorded(x), &&start).unwrap();
        for operator in [
            Operator::GRADIENT,
            Operator::GRADIENT.and_value(),
            Operator::HVP.and_value().and_first(),
            Operator::HVP,
            Operator::SPARSE_HESSIAN,
            Operator::HESSIAN.and_first(),
        ] {
            source = source.with(&recording, operator).unwrap();
        }
        let (y, grad) = value_and_gradient(&|x: &[_]| once(x), &forward, &x).unwrap();
        let hess = hessian(&|x: &[_]| nested(x), &twice, &x).unwrap();
        let product: Vec<f64> = (0..n).map(|i| (0..n).map(|j| hess[(i, j)] * v[j]).sum()).collect();
        add.push((name, x, v, y, grad, hess, product));
    }
    for (name, x, v, y, grad, hess, product) in &add {
        let mut of = |operator: &str, seed: Option<&[f64]>, answers: &[Vec<f64>]| {
            cases.push(Case::of(&source, &format!("{name}_{operator}"), x, seed, answers));
        };
        of("gradient", None, std::slice::from_ref(grad));
        of("value_and_gradient", None, &[vec![*y], grad.clone()]);
        of("value_gradient_and_hvp", Some(v), &[vec![*y], grad.clone(), product.clone()]);
        of("hvp", Some(v), std::slice::from_ref(product));
        of("gradient_and_hessian", None, &[grad.clone(), flat(hess)]);
        let sparse = source.functions().find(|f| f.name() == format!("{name}_sparse_hessian")).unwrap();
        let places = sparse.pattern().unwrap();
        let entries = places.iter().map(|(i, j)| hess[(*i, *j)]).collect();
        let outside = |i: usize, j: usize| hess[(i, j)] != 0.0 && !places.contains(&(i, j));
        assert!((0..x.len()).all(|i| (0..x.len()).all(|j| !outside(i, j))), "{name}: an entry is missing");
        of("sparse_hessian", None, &[entries]);
    }
    for language in [Language::Rust, Language::C] {
        let found = run(&source, &cases, language, "structures");
        let wrong: Vec<String> = cases.iter().zip(&found).filter_map(|(case, found)| case.wrong(found)).collect();
        assert!(wrong.is_empty(), "{language:?}: {}", wrong.join("\n"));
    }
}

#[test]
fn rules_whose_code_is_not_known_are_refused_by_name() {
    let norm2 = PlainRule::new("norm2", |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(x.iter().map(|v| v * v).sum());
    });
    let norm2 = norm2.with_pullback(|x: &[f64], _: &[f64], dy: &[f64], dx: &mut [f64]| {
        dx.iter_mut().zip(x).for_each(|(dx, x)| *dx = 2.0 * x * dy[0]);
    });
    let norm2 = Custom::new(norm2);
    let recording = Recording::new("f", &|x: &[Recorded]| norm2.number(x) * x[0], &&[1.0, 2.0]).unwrap();
    for operator in [Operator::VALUE, Operator::GRADIENT, Operator::SPARSE_JACOBIAN, Operator::HESSIAN] {
        let error = Source::new().with(&recording, operator).unwrap_err();
        assert_eq!(error, Error::CustomRule { name: "plain rule".to_string() });
        assert!(error.to_string().ends_with("write it out on numbers"), "{error}");
    }
}

#[test]
fn a_number_compared_with_itself_equals_itself_unless_it_is_nan() {
    // At 1 the compared number, ln(x - 2), is NaN; at 2 it is -∞, at 3 it is 0.
    fn compared<T: Real>(x: &[T], of: impl Fn(T) -> Condition<T>) -> T {
        of((x[0] - 2.0).ln()).select(10.0 * x[0], 3.0 * x[0])
    }
    type Test = fn(Recorded) -> Condition<Recorded>;
    let relations: [(&str, Test, [f64; 3]); 5] = [
        ("less", |u| u.less_than(u), [3.0, 3.0, 3.0]),
        ("greater", |u| u.greater_than(u), [3.0, 3.0, 3.0]),
        ("at_most", |u| u.at_most(u), [3.0, 10.0, 10.0]),
        ("at_least", |u| u.at_least(u), [3.0, 10.0, 10.0]),
        ("equal", |u| u.equal_to(u), [3.0, 10.0, 10.0]),
    ];
    let (mut source, mut cases) = (Source::new(), Vec::new());
    for (name, of, slopes) in relations {
        let recording = Recording::new(name, &|x: &[Recorded]| compared(x, of), &&[3.0]).unwrap();
        let plain = Recording::new(
            &format!("{name}_plain"),
            &|x: &[Recorded]| of(x[0]).select(10.0 * x[0], 3.0 * x[0]),
            &&[3.0],
        );
        let plain = plain.unwrap();
        for recording in [&recording, &plain] {
            source = source.with(recording, Operator::GRADIENT.and_value()).unwrap();
        }
        for (x, slope) in [1.0, 2.0, 3.0].into_iter().zip(slopes) {
            let answers = [vec![slope * x], vec![slope]];
            cases.push(Case::of(&source, &format!("{name}_value_and_gradient"), &[x], None, &answers));
            let answers = [vec![slopes[2] * x], vec![slopes[2]]];
            cases.push(Case::of(&source, &format!("{name}_plain_value_and_gradient"), &[x], None, &answers));
        }
    }
    for language in [Language::Rust, Language::C] {
        let found = run(&source, &cases, language, "itself");
        let wrong: Vec<String> = cases.iter().zip(&found).filter_map(|(case, found)| case.wrong(found)).collect();
        assert!(wrong.is_empty(), "{language:?}: {}", wrong.join("\n"));
    }
}
