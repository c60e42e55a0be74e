//! Compiles emitted code with a program that calls every function, and runs it.

use crate::collect::{Case, Found};
use derivative_source::{Function, Source};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The language of the emitted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    C,
}

/// A folder for the files of a test.
pub(crate) fn test_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder of the test can be made");
    folder
}

/// Runs a command and returns its output.
pub(crate) fn ran(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    let start = |text: &str| text.chars().take(4000).collect::<String>();
    assert!(output.status.success(), "{command:?}:\n{}\n{}", start(&errors), start(&printed));
    String::from_utf8(output.stdout).expect("the program prints text")
}

/// The compiled crate `libm` that this test itself is linked with.
fn libm() -> PathBuf {
    let own = std::env::current_exe().expect("the test has a path");
    let folder = own.parent().expect("the test is in a folder");
    let files = std::fs::read_dir(folder).expect("the folder can be read");
    let is_libm = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("liblibm-") && name.ends_with(".rlib")
    };
    let found = files.filter_map(|file| Some(file.ok()?.path())).filter(is_libm);
    found.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok()).expect("the core depends on libm")
}

/// The results of all cases.
pub(crate) fn run(source: &Source, cases: &[Case], language: Language, name: &str) -> Vec<Found> {
    let folder = test_folder(&format!("{name}-{language:?}"));
    let program = folder.join("program");
    match language {
        Language::Rust => {
            source.write_rust(&folder, "emitted").expect("the code can be written");
            std::fs::write(folder.join("main.rs"), rust(source, cases)).expect("the program can be written");
            let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
            let mut library = std::ffi::OsString::from("libm=");
            library.push(libm());
            // The emitted code is a crate of its own, without std, and without a warning.
            let mut emitted = Command::new(&rustc);
            let lib = folder.join("libemitted.rlib");
            emitted.args(["--edition=2024", "--crate-type=rlib", "--crate-name=emitted", "-Dwarnings"]);
            emitted.args(["-Copt-level=1", "-Cdebug-assertions=on"]);
            emitted.arg("-o").arg(&lib).arg("--extern").arg(&library).arg(folder.join("lib.rs"));
            let head = "#![no_std]\n#![forbid(unsafe_code)]\n#![deny(missing_docs)]\n//! Emitted code.\n\ninclude!(\"emitted.rs\");\n";
            std::fs::write(folder.join("lib.rs"), head).expect("the crate can be written");
            ran(&mut emitted);
            // Clippy's driver is a compiler: it checks the same crate.
            if Command::new("clippy-driver").arg("--version").output().is_ok_and(|output| output.status.success()) {
                let mut clippy = Command::new("clippy-driver");
                clippy.args(["--edition=2024", "--crate-type=rlib", "--crate-name=emitted", "--emit=metadata"]);
                clippy.args(["-Dwarnings", "-Dclippy::all"]).arg("-o").arg(folder.join("checked.rmeta"));
                ran(clippy.arg("--extern").arg(&library).arg(folder.join("lib.rs")));
            }
            if Command::new("rustfmt").arg("--version").output().is_ok_and(|output| output.status.success()) {
                let configuration = folder.join("rustfmt.toml");
                std::fs::write(&configuration, "edition = \"2024\"\n").expect("the configuration can be written");
                let mut format = Command::new("rustfmt");
                ran(format.arg("--check").arg("--config-path").arg(configuration).arg(folder.join("emitted.rs")));
            }
            let mut main = Command::new(&rustc);
            main.args(["--edition=2024", "-Copt-level=0"]).arg("-o").arg(&program);
            let mut link = std::ffi::OsString::from("emitted=");
            link.push(&lib);
            let mut search = std::ffi::OsString::from("dependency=");
            search.push(libm().parent().expect("the library is in a folder"));
            main.arg("--extern").arg(link).arg("-L").arg(search).arg(folder.join("main.rs"));
            ran(&mut main);
        }
        Language::C => {
            source.write_c(&folder, "emitted").expect("the code can be written");
            std::fs::write(folder.join("main.c"), c(source, cases)).expect("the program can be written");
            let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
            let object = folder.join("emitted.o");
            let with = |arguments: &[&str]| {
                let mut command = Command::new(&cc);
                command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-pedantic"]);
                command.args(arguments);
                command
            };
            ran(with(&["-O1", "-c"]).arg("-o").arg(&object).arg(folder.join("emitted.c")));
            // The calls need no optimisation, which would take as long as that of the functions.
            ran(with(&["-O0"]).arg("-o").arg(&program).arg(folder.join("main.c")).arg(object).arg("-lm"));
        }
    }
    let text = ran(&mut Command::new(&program));
    let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("numbers are printed as bits"));
    text.lines().map(|line| Found { outputs: line.split_whitespace().map(number).collect() }).collect()
}

fn numbers(values: &[f64], is_single: bool) -> String {
    let text = |v: &f64| if is_single { format!("{:?}", *v as f32) } else { format!("{v:?}") };
    values.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The calls of a case: function, outputs, seed.
fn calls(case: &Case) -> Vec<(&str, Vec<usize>, Option<&[f64]>)> {
    let mut calls = Vec::new();
    let seeds: Vec<Option<&[f64]>> =
        if case.seeds.is_empty() { vec![None] } else { case.seeds.iter().map(|seed| Some(&seed[..])).collect() };
    for seed in seeds {
        calls.push((case.function.as_str(), case.lengths.clone(), seed));
        if case.plain.is_empty() {
            continue;
        }
        calls.push((case.plain.as_str(), vec![*case.lengths.last().expect("there is a result")], seed));
    }
    calls
}

fn rust(source: &Source, cases: &[Case]) -> String {
    let mut text = String::from(
        "use emitted::*;\ntrait Numbers { fn print(&self); }\nimpl Numbers for f64 { fn print(&self) { print!(\"{:x} \", self.to_bits()); } }\n\
         impl Numbers for f32 { fn print(&self) { print!(\"{:x} \", (*self as f64).to_bits()); } }\n\
         impl<T: Numbers> Numbers for [T] { fn print(&self) { self.iter().for_each(T::print); } }\n\
         impl<T: Numbers, const N: usize> Numbers for [T; N] { fn print(&self) { self.iter().for_each(T::print); } }\n\
         impl Numbers for () { fn print(&self) {} }\n\
         impl<T: Numbers, E: std::fmt::Debug> Numbers for Result<T, E> { fn print(&self) { self.as_ref().unwrap().print(); } }\n\
         fn main() {\n",
    );
    let functions: HashMap<&str, Function> = source.functions().map(|function| (function.name(), function)).collect();
    for i in 0..cases.len() {
        let _ = writeln!(text, "    case{i}();");
    }
    text += "}\n";
    for (i, case) in cases.iter().enumerate() {
        let float = if case.is_single { "f32" } else { "f64" };
        let _ = writeln!(text, "fn case{i}() {{");
        let _ =
            writeln!(text, "    let x: [{float}; {}] = [{}];", case.point.len(), numbers(&case.point, case.is_single));
        for (function, lengths, seed) in calls(case) {
            if let Some(seed) = seed {
                let _ =
                    writeln!(text, "    let seed: [{float}; {}] = [{}];", seed.len(), numbers(seed, case.is_single));
            }
            let seed = if seed.is_some() { ", &seed" } else { "" };
            let signature = functions[function];
            let mut outputs = String::new();
            let mut prints = String::new();
            for (k, length) in lengths.iter().enumerate() {
                if k == 0 && signature.returns_number() {
                    continue;
                }
                let _ = writeln!(text, "    let mut out{k} = [{float}::NAN; {length}];");
                outputs += &format!(", &mut out{k}");
                prints += &format!(" out{k}.print();");
            }
            if let Some(work) = signature.work() {
                let _ = writeln!(text, "    let mut work = [{float}::NAN; {work}];");
                outputs += ", &mut work";
            }
            let _ = writeln!(text, "    {function}(&x{seed}{outputs}).print();{prints}");
        }
        text += "    println!();\n}\n";
    }
    text
}

fn c(source: &Source, cases: &[Case]) -> String {
    let mut text = String::from(
        "#include \"emitted.h\"\n#include <inttypes.h>\n#include <math.h>\n#include <stdio.h>\n#include <string.h>\n\
         static void number(double x)\n{\n    uint64_t bits;\n    memcpy(&bits, &x, sizeof bits);\n    printf(\"%\" PRIx64 \" \", bits);\n}\n",
    );
    let functions: HashMap<&str, Function> = source.functions().map(|function| (function.name(), function)).collect();
    for (i, case) in cases.iter().enumerate() {
        let float = if case.is_single { "float" } else { "double" };
        let suffix = |values: &[f64]| {
            let list = numbers(values, case.is_single);
            if list.is_empty() { "0".to_string() } else { list }
        };
        let _ = writeln!(text, "static void case{i}(void)\n{{");
        let _ = writeln!(text, "    const {float} x[] = {{{}}};", suffix(&case.point));
        for (function, lengths, seed) in calls(case) {
            text += "    {\n";
            if let Some(seed) = seed {
                let _ = writeln!(text, "        const {float} seed[] = {{{}}};", suffix(seed));
            }
            let seed = if seed.is_some() { ", seed" } else { "" };
            let signature = functions[function];
            let mut outputs = String::new();
            for (k, length) in lengths.iter().enumerate() {
                let room = (*length).max(1);
                let _ = writeln!(
                    text,
                    "        {float} out{k}[{room}];\n        for (int i = 0; i < {room}; i++) out{k}[i] = NAN;"
                );
                outputs += &format!(", out{k}");
            }
            if let Some(work) = signature.work() {
                let _ = writeln!(
                    text,
                    "        {float} work[{work}];\n        for (int i = 0; i < {work}; i++) work[i] = NAN;"
                );
                outputs += ", work";
            }
            let _ = writeln!(text, "        (void){function}(x{seed}{outputs});");
            for (k, length) in lengths.iter().enumerate() {
                let _ = writeln!(text, "        for (int i = 0; i < {length}; i++) number(out{k}[i]);");
            }
            text += "    }\n";
        }
        text += "    printf(\"\\n\");\n}\n";
    }
    text += "int main(void)\n{\n";
    for i in 0..cases.len() {
        let _ = writeln!(text, "    case{i}();");
    }
    text + "    return 0;\n}\n"
}
