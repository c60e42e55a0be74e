//! Tests of the program: its output, the files it writes, and its exit codes.

use assert_cmd::Command;
use differentiation_interface_test::table::Table;
use std::path::Path;

/// Runs the program; returns its exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("differentiation-interface-bench").unwrap().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn list_names_backends_operators_and_scenarios() {
    let (code, out, _) = run(&["--list"]);
    assert_eq!(code, 0);
    let backends = ["ForwardDiff", "ReverseDiff(compile=true)", "SecondOrder(outer, inner)"];
    for name in backends.into_iter().chain(["second_derivative", "pullback", "rosenbrock", "||x||²"]) {
        assert!(out.contains(name), "{name} is not in\n{out}");
    }
}

#[test]
fn misspelt_names_are_answered_with_what_was_meant() {
    for (arguments, answer) in [
        (["--backends", "ForwardDiff,RevrseDiff"], "did you mean `ReverseDiff`?"),
        (["--backends", "Sparse(ForwadDiff)"], "did you mean `ForwardDiff`?"),
        (["--backends", "ReverseDiff(compil=true)"], "did you mean `compile`?"),
        (["--backends", "FiniteDiff(scheme=centrl)"], "did you mean `central`?"),
        (["--operators", "gradient, hesian"], "unknown operator `hesian`; did you mean `hessian`?"),
        (["--scenarios", "rosenbrok"], "unknown scenario `rosenbrok`; did you mean `rosenbrock`?"),
        (["--sizes", "10,ten"], "`ten` is not a length of a point"),
        (["--seconds", "-1"], "from 0 to 3600"),
        (["--opertors", "gradient"], "'--operators'"),
    ] {
        let (code, _, errors) = run(&[&arguments.join("=")]);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(errors.contains(answer), "{errors}");
    }
}

#[test]
fn what_cannot_run_is_an_error() {
    let (code, _, errors) = run(&["--scenarios", "waves", "--operators", "gradient"]);
    assert_eq!(code, 2);
    assert!(errors.contains("no scenario has these names, operators and sizes"), "{errors}");
    let (code, _, errors) = run(&["--scenarios=lorenz96", "--operators=jacobian", "--sizes=5000"]);
    assert_eq!(code, 2);
    assert!(errors.contains("left out: jacobian of lorenz96, 5000: matrices are compared up to 1000"), "{errors}");
    let (code, _, errors) = run(&["--backends", "SecondOrder(ForwardDiff,ReverseDiff)", "--operators", "gradient"]);
    assert_eq!(code, 2);
    assert!(
        errors.contains("nothing could be run: SecondOrder(ForwardDiff, ReverseDiff): gradient (second order only)"),
        "{errors}"
    );
}

#[test]
fn a_chunk_that_is_too_large_is_named_as_the_cause() {
    let chunk = ["--backends=ForwardDiff(chunk=4)", "--operators=gradient", "--scenarios=norm2", "--sizes=2"];
    let (code, _, errors) = run(&chunk);
    assert_eq!(code, 2);
    let cause = "ForwardDiff(chunk=4): gradient (the fixed chunk is larger than the point)";
    assert!(errors.contains(cause), "{errors}");
}

#[test]
fn a_folder_that_takes_no_files_is_found_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for out in ["/proc/no/such/folder", file.to_str().unwrap()] {
        // A run would take minutes.
        let (code, printed, errors) = run(&["--seconds=60", "--out", out]);
        assert_eq!((code, &printed[..]), (2, ""), "{errors}");
        assert!(errors.contains(out), "{errors}");
    }
}

#[test]
fn what_is_given_twice_is_refused() {
    for argument in
        ["--backends=ForwardDiff,ForwardDiff", "--sizes=2,2,2", "--operators=hvp,hvp", "--scenarios=norm2, norm2"]
    {
        let (code, _, errors) = run(&[argument]);
        assert_eq!(code, 2, "{argument}");
        assert!(errors.contains("is given twice; give it once"), "{errors}");
    }
}

#[test]
fn deep_nesting_in_a_name_is_refused() {
    let (code, _, errors) = run(&["--backends", &"SecondOrder(".repeat(9000)]);
    assert_eq!(code, 2);
    assert!(errors.contains("`SecondOrder` inside `SecondOrder` at column 13"), "{errors}");
    assert!(errors.contains(&format!("`{}...`", &"SecondOrder(".repeat(7)[..80])), "{errors}");
}

/// Runs the program with standard output closed by its reader, or on the given file.
#[cfg(target_os = "linux")]
fn run_into(out: std::process::Stdio, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("differentiation-interface-bench"));
    let output = command.args(arguments).stdout(out).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_is_closed_or_full_ends_the_program_quietly() {
    let check = ["--check-only", "--operators=gradient", "--sizes=2", "--scenarios=norm2"];
    for arguments in [&["--list"][..], &check, &["suite", "--operators=derivative", "--backends=ForwardDiff"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(run_into(writer.into(), arguments), (Some(2), String::new()));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, errors) = run_into(full.into(), arguments);
        assert_eq!(code, Some(2));
        assert!(errors.starts_with("error: standard output: No space left on device"), "{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn every_backend_has_right_derivatives_at_every_kind_of_size() {
    let backends = "ForwardDiff, ForwardDiff(chunk=2), ReverseDiff, FiniteDiff, FiniteDiff(scheme=central), \
                    SecondOrder(ForwardDiff, ReverseDiff), SecondOrder(ReverseDiff, FiniteDiff), Sparse(ForwardDiff), \
                    Sparse(ReverseDiff), Sparse(SecondOrder(ForwardDiff, ReverseDiff)), ReverseDiff(compile=true), \
                    SecondOrder(ForwardDiff, ReverseDiff(compile=true)), \
                    SecondOrder(ReverseDiff(compile=true), ReverseDiff), Sparse(ReverseDiff(compile=true))";
    let (code, out, errors) = run(&["--check-only", "--sizes", "2, 3, 4, 13, 30", "--backends", backends]);
    assert_eq!(code, 0, "{out}\n{errors}");
    assert!(out.contains("checks of derivatives, 0 failures"), "{out}");
    assert!(out.contains("skipped: SecondOrder(ForwardDiff, ReverseDiff): gradient, pushforward, pullback"), "{out}");
}

#[test]
fn wrong_derivatives_fail_and_are_in_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made/by/the/program");
    let arguments =
        ["--backends=FiniteDiff(relative_step=0.5),ReverseDiff", "--operators=gradient", "--scenarios=norm2"];
    let (code, printed, errors) =
        run(&[arguments.as_slice(), &["--sizes=4", "--seconds=0", "--out", out.to_str().unwrap()]].concat());
    assert_eq!(code, 1);
    assert!(errors.contains("error: 1 failures"), "{errors}");
    // (x + h)² - x² over h is 2x + h, and h is half of x at the first entry, which is 1.
    assert!(printed.contains("[0] is 2.49999") || printed.contains("[0] is 2.5,"), "{printed}");
    let table = Table::read_csv(out.join("rows.csv")).unwrap();
    assert_eq!(format!("{table:?}"), format!("{:?}", Table::read_json(out.join("rows.json")).unwrap()));
    let failures: Vec<_> = table.failures().map(|row| (row.backend.as_str(), row.size)).collect();
    assert_eq!(failures, [("FiniteDiff(relative_step=0.5)", 4)]);
    assert!(table.rows.iter().any(|row| row.backend == "ReverseDiff" && row.time > 0.0));
    for name in ["rows.md", "report.html"] {
        assert!(std::fs::read_to_string(out.join(name)).unwrap().contains("expected 2 "), "{name}");
    }
}

#[test]
fn one_size_is_drawn_as_bars() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, printed, errors) =
        run(&["--operators=jacobian", "--sizes=5", "--seconds=0", "--out", out, "--backends=Sparse(ForwardDiff)"]);
    assert_eq!(code, 0, "{printed}\n{errors}");
    let svg = std::fs::read_to_string(folder.path().join("lorenz96-jacobian_into.svg")).unwrap();
    assert!(
        svg.contains("lorenz96: jacobian_into, length 5") && svg.contains("Sparse(ForwardDiff), prepared"),
        "{svg}"
    );
}

#[test]
fn several_sizes_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (code, printed, errors) = run(&[
        "--operators=hvp",
        "--scenarios=norm2",
        "--sizes=2,5",
        "--seconds=0",
        "--out",
        out,
        "--backends=ForwardDiff",
    ]);
    assert_eq!(code, 0, "{printed}\n{errors}");
    let names = files(folder.path());
    for name in ["report.html", "rows.csv", "rows.json", "rows.md", "norm2-hvp_into.svg", "norm2-hvp_into.png"] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
        assert!(printed.contains(name), "{printed}");
    }
}

#[test]
fn figure2_is_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let (code, printed, errors) =
        run(&["figure2", "--sizes", "3, 7", "--seconds", "0", "--out", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{printed}\n{errors}");
    let svg = std::fs::read_to_string(folder.path().join("figure2.svg")).unwrap();
    for text in ["Gradient of f(x) = ||x||²", "ForwardDiff", "ReverseDiff", "FiniteDiff", "prepared", "unprepared"] {
        assert!(svg.contains(text), "{text}");
    }
    // Three backends, two sizes, two ways of calling, and two dots in the legend, each an inside and an edge.
    assert_eq!(svg.matches("<circle").count(), 2 * (3 * 2 * 2 + 2));
    assert!(std::fs::read(folder.path().join("figure2.png")).unwrap().starts_with(&[0x89, b'P', b'N', b'G']));
    let table = Table::read_json(folder.path().join("rows.json")).unwrap();
    assert!(table.rows.iter().all(|row| row.scenario == "norm2" && row.operator == "gradient" && !row.failed()));
    assert_eq!(table.group_by(|row| (row.backend.clone(), row.size)).len(), 6);
}

#[test]
fn suite_counts_scenarios_and_refuses_backends_without_all_operators() {
    let (code, out, errors) = run(&["suite", "--backends", "ReverseDiff", "--operators", "derivative, gradient"]);
    assert_eq!(code, 0, "{out}\n{errors}");
    assert!(out.starts_with("ReverseDiff: ") && out.contains("operator excluded"), "{out}");
    let scenarios: usize = out.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(scenarios >= 20, "{out}");
    let (code, out, errors) = run(&["suite", "--operators", "gradient", "--backends", "FiniteDiff(relative_step=0.5)"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("failed: FiniteDiff(relative_step=0.5): gradient of "), "{out}\n{errors}");
    let (code, _, errors) = run(&["suite", "--backends", "Sparse(ForwardDiff)"]);
    assert_eq!(code, 2);
    assert!(errors.contains("Sparse(ForwardDiff) does not have all operators"), "{errors}");
}
