//! Names of functions and arguments: those that would not compile are refused, and no other code is made of them.

use crate::compile::{ran, test_folder};
use compiled_trace::Recorded;
use derivative_source::{Error, Operator, Recording, Source};
use differentiation_interface::container::Layout;
use differentiation_interface::prelude::*;
use std::path::Path;
use std::process::Command;

fn recording(name: &str, f: impl Fn(&[Recorded]) -> Recorded, inputs: usize) -> Recording {
    Recording::new(name, &f, &&vec![0.5; inputs][..]).unwrap()
}

fn softplus<T: Real>(x: &[T]) -> T {
    x[0].softplus()
}
fn sine<T: Real>(x: &[T]) -> T {
    x[0].sin()
}
fn chain<T: Real>(x: &[T]) -> T {
    x.iter().fold(x[0], |y, x| (y + *x).sin())
}

/// Compiles the code as a crate and as C without a warning, and its header as C++.
fn compiles(source: &Source, name: &str) {
    let folder = test_folder(&format!("names-{name}"));
    source.clone().with_std().write_rust(&folder, "emitted").unwrap();
    std::fs::write(folder.join("lib.rs"), "//! Emitted code.\ninclude!(\"emitted.rs\");\n").unwrap();
    run(&folder, "rustc", &["--edition=2024", "--crate-type=rlib", "--emit=metadata", "-Dwarnings", "lib.rs"]);
    source.write_c(&folder, "emitted").unwrap();
    run(&folder, "cc", &["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-c", "emitted.c"]);
    std::fs::write(folder.join("main.cpp"), "#include \"emitted.h\"\n").unwrap();
    if Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        run(&folder, "c++", &["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "main.cpp"]);
    }
}

fn run(folder: &Path, command: &str, arguments: &[&str]) {
    ran(Command::new(command).args(arguments).current_dir(folder));
}

#[test]
fn words_with_a_meaning_are_no_arguments() {
    let f = recording("f", |x| x[0] * x[0], 1);
    for name in [
        "gen",
        "try",
        "class",
        "new",
        "delete",
        "this",
        "NAN",
        "DBL_EPSILON",
        "INT32_MAX",
        "linux",
        "unix",
        "None",
        "data_0",
    ] {
        let error = Error::Name { name: name.to_string() };
        assert_eq!(f.clone().with_argument(name).unwrap_err(), error);
        assert_eq!(f.clone().with_parameters(name).unwrap_err(), error);
        let text = format!(
            "source code: `{name}` is not an identifier of Rust, C and C++, has a meaning there, or is used twice; give another name"
        );
        assert_eq!(error.to_string(), text);
    }
    #[derive(Clone, Debug, Container)]
    struct Fields<T = f64> {
        class: T,
    }
    let layout = Layout::of(&Fields { class: 1.0 });
    assert_eq!(f.clone().with_fields(&layout).unwrap_err(), Error::Name { name: "class".to_string() });
    // Names of functions have an end, with which they are no such words.
    let named = ["class", "gen", "NAN", "linux", "sin", "softplus"].map(|name| recording(name, |x| x[0] * x[0], 1));
    let source = named.iter().try_fold(Source::new(), |source, f| source.with(f, Operator::GRADIENT)).unwrap();
    compiles(&source, "words");
    for name in ["classes", "news", "data_in", "m_PI", "null"] {
        let source = Source::new().with(&f.clone().with_argument(name).unwrap(), Operator::HVP.and_value()).unwrap();
        compiles(&source, name);
    }
}

#[test]
fn arguments_with_the_name_of_a_called_function_are_refused() {
    let of = |f: fn(&[Recorded]) -> Recorded, name: &str| {
        let recording = recording("f", f, 1).with_argument(name).unwrap();
        Source::new().with(&recording, Operator::GRADIENT.and_value()).unwrap()
    };
    let called = |name: &str| Error::Called { name: name.to_string() };
    let source = of(softplus, "softplus");
    assert_eq!((source.rust().unwrap_err(), source.c("f.h").unwrap_err()), (called("softplus"), called("softplus")));
    let text = "source code: the argument `softplus` has the name of a function that the code calls; give the argument another name";
    assert_eq!(called("softplus").to_string(), text);
    // Rust calls it by its path.
    let source = of(sine, "sin");
    assert_eq!(source.c("f.h").unwrap_err(), called("sin"));
    assert!(source.rust().is_ok());
    assert_eq!(of(|x| x[0] % 0.3, "fmod").c("f.h").unwrap_err(), called("fmod"));
    assert!(of(sine, "exp").c("f.h").is_ok());
    // A function that is not called can have its name.
    compiles(&of(|x| x[0] * x[0], "softplus"), "softplus");
    compiles(&of(|x| x[0] * x[0], "exp"), "exp");
}

#[test]
fn constants_of_two_functions_have_two_names() {
    let square = |x: &[Recorded]| x[0] * x[0] * x[1];
    let (small, large) = (recording("f", square, 2), recording("F", square, 2));
    let with = |source: Source, f: &Recording, operator| source.with(f, operator);
    let source = Source::new().with(&small, Operator::SPARSE_HESSIAN).unwrap();
    let twice = |name: &str, functions: [&str; 2]| Error::Twice {
        name: name.to_string(),
        functions: functions.map(str::to_string),
    };
    let error = with(source.clone(), &large, Operator::SPARSE_HESSIAN).unwrap_err();
    assert_eq!(error, twice("F_SPARSE_HESSIAN_STARTS", ["f_sparse_hessian", "F_sparse_hessian"]));
    let text = "source code: `f_sparse_hessian` and `F_sparse_hessian` both define `F_SPARSE_HESSIAN_STARTS`; give one of the recordings or arguments another name";
    assert_eq!(error.to_string(), text);
    // Another function of the same name has another matrix.
    let other = recording("f", |x| x[0] * x[0] * x[0], 2);
    let error = with(source.clone(), &other, Operator::SPARSE_HESSIAN.and_value()).unwrap_err();
    assert!(matches!(error, Error::Twice { .. }), "{error}");
    // An argument with the name of a constant.
    let named = recording("g", square, 2).with_argument("F_SPARSE_HESSIAN_STARTS").unwrap();
    let error = with(source.clone(), &named, Operator::GRADIENT).unwrap_err();
    assert_eq!(error, twice("F_SPARSE_HESSIAN_STARTS", ["f_sparse_hessian", "g_gradient"]));
    // Two arguments of one name.
    let scaled = |x: &[Recorded], k: &Recorded| x[0] * x[0] * *k;
    let named = Recording::new("h", &scaled, &(&[1.0, 2.0], Parameter(&3.0))).unwrap().with_argument("p").unwrap();
    let error = with(source, &named, Operator::GRADIENT).unwrap_err();
    assert_eq!(error, Error::Name { name: "p".to_string() });
    compiles(&with(Source::new(), &named.with_parameters("k").unwrap(), Operator::GRADIENT).unwrap(), "parameter");
    // Work spaces, whose lengths are constants.
    let [small, large] = ["g", "G"].map(|name| recording(name, chain, 100));
    let source = Source::new().with(&small, Operator::GRADIENT).unwrap();
    assert!(source.functions().all(|function| function.work().is_some()));
    let error = with(source, &large, Operator::GRADIENT).unwrap_err();
    assert_eq!(error, twice("G_GRADIENT_WORK", ["g_gradient", "G_gradient"]));
    // One pattern for several functions of a recording.
    let source = Source::new().with(&recording("f", square, 2), Operator::SPARSE_HESSIAN).unwrap();
    let source = with(source, &recording("f", square, 2), Operator::SPARSE_HESSIAN.and_value()).unwrap();
    compiles(&source, "shared");
}

#[test]
fn names_in_capital_letters_and_empty_matrices_compile_without_warnings() {
    let large = recording("Energy", |x| x.windows(2).map(|w| w[0] * w[1]).sum(), 400).with_argument("X").unwrap();
    let twice = recording("a__b", |x| x[0] * x[0] + x[1], 2);
    let linear = recording("linear", |x| x[0] * 2.0 + x[1], 2);
    let empty = Operator::SPARSE_HESSIAN.and_value().and_first();
    let source = Source::new()
        .with(&large, Operator::SPARSE_HESSIAN)
        .and_then(|source| source.with(&large, Operator::GRADIENT.and_value()))
        .and_then(|source| source.with(&twice, Operator::GRADIENT))
        .and_then(|source| source.with(&linear, empty))
        .unwrap();
    assert!(source.rust().unwrap().contains("pub fn Energy_sparse_hessian_pattern("));
    compiles(&source, "capitals");
    compiles(&source.with_slices(), "slices");
}

#[test]
fn the_command_stays_in_its_comment() {
    let f = recording("f", |x| x[0] * x[0], 1);
    let source = Source::new().with(&f, Operator::GRADIENT).unwrap();
    let source = source.made_by("a */ b \n fn c(){ /* \r d");
    assert!(source.rust().unwrap().lines().next().unwrap().ends_with("Renew it by: a */ b   fn c(){ /*   d"));
    assert!(source.header().lines().next().unwrap().ends_with("Renew it by: a * / b   fn c(){ / *   d */"));
    compiles(&source, "command");
}
