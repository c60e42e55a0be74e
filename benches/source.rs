//! Source code emitted for the workloads: time of a call beside hand-written SIMD code, generation, compilation, length.
//!
//! `cargo bench -p differentiation-interface-benches --bench source -- --limit PROGRAM` emits every row as Rust, compiles it as the release
//! profile does with the machine's own instructions, checks its results against the derivative by hand, and runs it in turns with
//! the program of hand-written derivatives (`limit`, one JSON line a row). `--check` fails where a ratio misses by more than a tenth;
//! further arguments select rows. Without `--limit`, results are checked and times printed alone.

mod workloads;

use derivative_source::{Operator, Recording, Source};
use differentiation_interface::prelude::*;
use differentiation_interface::scalar::Real;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use workloads::Random;
use workloads::bundle::Bundle;
use workloads::grids::Brusselator;
use workloads::losses::{Loss, Objective};
use workloads::mixture::Mixture;
use workloads::sums::{Differences, Rosenbrock, Squares, Sum};
use workloads::systems::{Lorenz96, Quadrotor, System};

/// One row: a derivative at a point.
struct Row {
    name: String,
    /// Largest ratio to the limit, if one is asked for.
    most: Option<f64>,
    /// Records and emits.
    emit: Box<dyn Fn() -> Source>,
    inputs: Vec<Vec<f64>>,
    expected: Vec<f64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let limit = arguments.iter().position(|a| a == "--limit").map(|at| PathBuf::from(&arguments[at + 1]));
    let is_checked = arguments.iter().any(|argument| argument == "--check");
    let chosen: Vec<&String> = arguments.iter().filter(|argument| argument.starts_with('W')).collect();
    println!("row            lines  generate  compile    call, s   limit, s   ratio  at most");
    let mut missed = Vec::new();
    for row in rows() {
        if !chosen.is_empty() && !chosen.iter().any(|name| row.name.starts_with(name.as_str())) {
            continue;
        }
        let ratio = measured(&row, limit.as_deref());
        if let (Some(ratio), Some(most)) = (ratio, row.most)
            && ratio > 1.1 * most
        {
            missed.push(format!("{}: {ratio:.2}, at most {most}", row.name));
        }
    }
    if is_checked && !missed.is_empty() {
        eprintln!("missed by more than a tenth:\n{}", missed.join("\n"));
        std::process::exit(1);
    }
}

fn row(
    name: String,
    most: Option<f64>,
    inputs: &[&[f64]],
    expected: Vec<f64>,
    emit: impl Fn() -> Source + 'static,
) -> Row {
    Row { name, most, emit: Box::new(emit), inputs: inputs.iter().map(|x| x.to_vec()).collect(), expected }
}

/// The gradient of a sum.
fn sum<W: Sum + 'static>(row_name: &str, n: usize, most: f64) -> Row {
    let x = W::point(n);
    let mut grad = vec![0.0; n];
    W::by_hand(&mut grad, &x);
    row(format!("{row_name}.{n}"), Some(most), &[&x.clone()], grad, move || {
        let recording = Recording::new("f", &|x: &[_]| W::value(x), &&x);
        Source::new().with(&recording.expect("it can be recorded"), Operator::GRADIENT).expect("it has a gradient")
    })
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for n in [10, 100, 1000, 10_000, 100_000] {
        rows.push(sum::<Squares>("W1", n, if n == 10 { 1.3 } else { 2.0 }));
    }
    for n in [10, 100, 1000, 10_000, 100_000] {
        rows.push(sum::<Rosenbrock>("W2", n, if n == 10 { 1.3 } else { 2.0 }));
    }
    let n = 1000;
    let x = Differences::point(n);
    let mut differences = vec![0.0; 3 * n - 2];
    differences.iter_mut().enumerate().for_each(|(k, v)| *v = if k % 3 == 0 { 4.0 } else { -2.0 });
    (differences[0], differences[3 * n - 3]) = (2.0, 2.0);
    rows.push(row("W3.sparse".into(), Some(1.5), &[&x.clone()], differences, move || {
        let recording = Recording::new("f", &|x: &[_]| Differences::value(x), &&x).expect("it can be recorded");
        Source::new().with(&recording, Operator::SPARSE_HESSIAN).expect("it has a sparse Hessian")
    }));
    let x = Random::around(2, n, 0.0, 1.0);
    let mut values = Vec::new();
    for i in 0..n {
        if i > 0 {
            values.push(-400.0 * x[i - 1]);
        }
        let own = if i + 1 < n { 1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0 } else { 0.0 };
        values.push(own + if i > 0 { 200.0 } else { 0.0 });
        if i + 1 < n {
            values.push(-400.0 * x[i]);
        }
    }
    rows.push(row("W3.rosen".into(), None, &[&x.clone()], values, move || {
        let recording = Recording::new("f", &|x: &[_]| Rosenbrock::value(x), &&x).expect("it can be recorded");
        Source::new().with(&recording, Operator::SPARSE_HESSIAN).expect("it has a sparse Hessian")
    }));
    let n = 10_000;
    let (x, v) = (Random::around(3, n, 0.0, 1.0), Random::around(4, n, 0.0, 1.0));
    let product =
        hvp(&|x: &[_]| Rosenbrock::value(x), &AutoReverseDiff::compiled(), &x, [&v[..]]).expect("it has a Hessian");
    rows.push(row("W4.10000".into(), None, &[&x.clone(), &v], product[0].clone(), move || {
        let recording = Recording::new("f", &|x: &[_]| Rosenbrock::value(x), &&x).expect("it can be recorded");
        Source::new().with(&recording, Operator::HVP).expect("it has a Hessian")
    }));
    for side in [16, 64, 128] {
        let grid = Brusselator { side };
        let x = grid.point();
        let mut values = vec![0.0; grid.nnz()];
        grid.by_hand(&mut values, &x);
        rows.push(row(format!("W5.{side}"), Some(2.0), &[&x.clone()], values, move || {
            let f = in_place(grid, grid.size());
            let recording = Recording::new("f", &f, &&x).expect("it can be recorded");
            Source::new().with(&recording, Operator::SPARSE_JACOBIAN).expect("it has a sparse Jacobian")
        }));
    }
    rows.push(system::<Lorenz96>("W6.lorenz", 1.3));
    rows.push(system::<Quadrotor>("W6.rigid", 1.1));
    rows.push(mixture(10, 25));
    rows.push(bundle());
    let x = 0.7;
    let second =
        second_derivative(&|x: _| peak(x), &AutoForwardDiff::default(), x).expect("it has a second derivative");
    rows.push(row("W8.d2".into(), None, &[&[x]], vec![second], move || {
        let recording = Recording::new("f", &|x: _| peak(x), &x).expect("it can be recorded");
        Source::new().with_std().with(&recording, Operator::SECOND_DERIVATIVE).expect("it has a second derivative")
    }));
    rows
}

fn peak<T: Real>(x: T) -> T {
    x.sin().exp() * (x * x).ln_1p() / (2.0 + (3.0 * x).cos())
}

fn system<W: System + 'static>(name: &str, most: f64) -> Row {
    let x = W::point();
    let (mut y, mut jac) = (vec![0.0; W::SIZE], vec![0.0; W::SIZE * W::SIZE]);
    W::by_hand(&mut y, &mut jac, &x);
    row(name.into(), Some(most), &[&x.clone()], jac, move || {
        let f = in_place(|y: &mut [_], x: &[_]| W::value(y, x), W::SIZE);
        let recording = Recording::new("f", &f, &&x).expect("it can be recorded");
        Source::new().with_std().with(&recording, Operator::JACOBIAN).expect("it has a Jacobian")
    })
}

/// W7, whose points are an argument of the code.
fn mixture(d: usize, k: usize) -> Row {
    let mixture = Mixture::new(d, k, 1000);
    let x = mixture.point();
    let mut grad = vec![0.0; x.len()];
    mixture.by_hand(&mut mixture.memory(), &mut grad, &x);
    let points = mixture.points().to_vec();
    row(format!("W7.gmm{d}x{k}"), Some(8.0), &[&x.clone(), &points.clone()], grad, move || {
        let f = |x: &[_], points: &Vec<_>| mixture.value_at(points, x);
        let recording = Recording::new("f", &f, &(&x[..], Parameter(&points))).expect("it can be recorded");
        Source::new().with_std().with(&recording, Operator::GRADIENT).expect("it has a gradient")
    })
}

fn bundle() -> Row {
    let bundle = Bundle::new(49, 7776, 31843);
    let x = bundle.point().to_vec();
    let (mut y, mut values) = (vec![0.0; bundle.outputs()], vec![0.0; bundle.nnz()]);
    bundle.by_hand(&mut y, &mut values, &x);
    row("W7.ba1".into(), Some(1.5), &[&x.clone()], values, move || {
        let f = in_place(&bundle, bundle.outputs());
        let recording = Recording::new("f", &f, &&x).expect("it can be recorded");
        Source::new().with_std().with(&recording, Operator::SPARSE_JACOBIAN).expect("it has a sparse Jacobian")
    })
}

/// Emits, compiles and runs a row. Returns the ratio to the limit.
fn measured(row: &Row, limit: Option<&Path>) -> Option<f64> {
    let folder = std::env::temp_dir().join(format!("differentiation-source-{}", row.name));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let start = Instant::now();
    let source = (row.emit)();
    source.write_rust(&folder, "emitted").expect("the code can be written");
    let generation = start.elapsed().as_secs_f64();
    let lines = std::fs::read_to_string(folder.join("emitted.rs")).expect("it was written").lines().count();
    for (i, input) in row.inputs.iter().enumerate() {
        let bytes: Vec<u8> = input.iter().flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(folder.join(format!("input{i}")), bytes).expect("the input can be written");
    }
    std::fs::write(folder.join("main.rs"), program(&source)).expect("the program can be written");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let options = ["--edition=2024", "-Copt-level=3", "-Ctarget-cpu=native"];
    std::fs::write(folder.join("lib.rs"), "//! Emitted.\ninclude!(\"emitted.rs\");\n")
        .expect("the crate can be written");
    let start = Instant::now();
    run(Command::new(&rustc)
        .args(options)
        .args(["--crate-type=rlib", "--crate-name=emitted", "lib.rs"])
        .current_dir(&folder));
    let compilation = start.elapsed().as_secs_f64();
    run(Command::new(&rustc)
        .args(options)
        .args(["main.rs", "--extern", "emitted=libemitted.rlib"])
        .current_dir(&folder));
    let mut best = f64::INFINITY;
    let mut limited = f64::INFINITY;
    for turn in 0..3 {
        if let Some(limit) = limit {
            limited = limited.min(of_limit(limit, &row.name));
        }
        let text = run(Command::new(folder.join("main")).current_dir(&folder));
        best = best.min(text.trim().parse().expect("the program prints seconds"));
        if turn == 0 {
            compare(row, &folder.join("output"));
        }
    }
    let ratio = limit.map(|_| best / limited);
    let shown = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2}"));
    println!(
        "{:12} {lines:7} {generation:8.3}s {compilation:7.2}s {best:10.2e} {limited:10.2e} {:>7} {:>8}",
        row.name,
        shown(ratio),
        shown(row.most)
    );
    ratio
}

fn compare(row: &Row, output: &Path) {
    let bytes = std::fs::read(output).expect("the program writes its output");
    let found: Vec<f64> = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    assert_eq!(found.len(), row.expected.len(), "{}: number of results", row.name);
    let largest = row.expected.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for (k, (found, expected)) in found.iter().zip(&row.expected).enumerate() {
        assert!((found - expected).abs() <= 1e-11 * largest, "{}: entry {k} is {found}, by hand {expected}", row.name);
    }
}

/// Seconds of a call by hand.
fn of_limit(program: &Path, row: &str) -> f64 {
    let text = run(Command::new(program).arg(row));
    let line = text.lines().find(|line| line.contains("\"limit\"") && line.contains(&format!("\"{row}\"")));
    let line = line.unwrap_or_else(|| panic!("the limit has no row {row}: {text}"));
    let at = line.find("\"min_s\":").expect("the limit prints the least time") + 8;
    let number: String = line[at..].chars().take_while(|c| !",}".contains(*c)).collect();
    number.trim().parse().expect("a time is a number")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("programs print text")
}

/// A program that calls the emitted function: writes its result, then times it as the limit does, and prints the least time.
fn program(source: &Source) -> String {
    let function = source.functions().next().expect("a function has been emitted");
    let mut text = String::from(
        "use std::hint::black_box;\nuse std::time::{Duration, Instant};\n\
         fn load<const N: usize>(name: &str) -> Box<[f64; N]> {\n\
         let bytes = std::fs::read(name).unwrap();\n\
         let numbers: Vec<f64> = bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();\n\
         numbers.into_boxed_slice().try_into().unwrap()\n}\n\
         fn room<const N: usize>() -> Box<[f64; N]> { vec![0.0; N].into_boxed_slice().try_into().unwrap() }\n\
         fn at<const N: usize>(memory: &mut [f64], offset: usize) -> &mut [f64; N] {\n\
         (&mut memory[offset..offset + N]).try_into().unwrap()\n}\n",
    );
    let inputs: Vec<(&str, usize)> = function.inputs().collect();
    let mut parameters = String::new();
    let mut body = String::new();
    let mut call = String::new();
    for (i, (_, length)) in inputs.iter().enumerate() {
        let _ = write!(parameters, "i{i}: &[f64; {length}], ");
        let _ = writeln!(body, "let i{i} = load::<{length}>(\"input{i}\");");
        let _ = write!(call, "black_box(&*i{i}), ");
    }
    let (_, length) = function.outputs().next().expect("a function has outputs");
    let names: String = (0..inputs.len()).map(|i| format!("i{i}, ")).collect();
    // Stores that cross cache lines take twice as long: the least time over the alignments of the output counts.
    let _ = writeln!(body, "let mut memory = vec![0.0f64; {length} + 8];");
    let mut inner = format!("emitted::{}({names}", function.name());
    let _ = write!(call, "black_box(at::<{length}>(&mut memory, offset))");
    let _ = write!(parameters, "o: &mut [f64; {length}]");
    if let Some(work) = function.work() {
        let _ = write!(parameters, ", w: &mut [f64; {work}]");
        let _ = writeln!(body, "let mut w = room::<{work}>();");
        call += ", black_box(&mut *w)";
    }
    if function.returns_number() {
        inner = format!("o[0] = {inner}");
    } else {
        inner += "o";
    }
    inner += if function.work().is_some() { ", w)" } else { ")" };
    let unwrap = if function.has_branches() { ".unwrap()" } else { "" };
    let _ = writeln!(text, "#[inline(never)]\nfn call({parameters}) {{ {inner}{unwrap}; }}");
    let _ = write!(
        text,
        "fn main() {{\n{body}let mut offset = 0;\ncall({call});\n\
         let bytes: Vec<u8> = memory[..{length}].iter().flat_map(|v| v.to_le_bytes()).collect();\n\
         std::fs::write(\"output\", bytes).unwrap();\n\
         let mut best = f64::INFINITY;\n\
         for next in 0..4 {{\noffset = next;\nlet mut loops = 1usize;\n\
         let mut sample = |loops: usize| {{ let start = Instant::now(); for _ in 0..loops {{ call({call}); }} start.elapsed() }};\n\
         loop {{ let time = sample(loops); if time >= Duration::from_micros(500) {{ break; }} loops *= 2; }}\n\
         let start = Instant::now();\nlet mut rounds = 0;\n\
         while rounds < 7 || (rounds < 101 && start.elapsed() < Duration::from_millis(250)) {{\n\
         best = best.min(sample(loops).as_secs_f64() / loops as f64);\n\
         rounds += 1;\n}}\n}}\nprintln!(\"{{best:e}}\");\n}}\n"
    );
    text
}
