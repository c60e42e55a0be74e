//! Peak memory of preparing a compiled gradient of ten million recorded operations, each in a process of its own.

use super::irregular::RandomGraph;
use super::losses::{AsFunction, Loss, OfLength};
use super::sums::Rosenbrock;
use super::table::{check, timed, wanted};
use super::timing;
use compiled_trace::{Limits, record};
use differentiation_interface::prelude::*;
use std::process::Command;

/// The argument that starts this program as such a process.
const CHILD: &str = "--peak-of";

/// Starts a process for each function and prints its output.
pub(crate) fn report() {
    let operations = if timed() { 10_000_000 } else { 10_000 };
    let works = ["rosenbrock", "graph"].iter().filter(|work| wanted(&format!("memory {work}"), operations));
    for (i, work) in works.enumerate() {
        let program = std::env::current_exe().expect("this program has a path");
        let child = Command::new(program).args([CHILD, work, &operations.to_string()]).output();
        let output = child.expect("this program starts again");
        assert!(output.status.success(), "{work}: {}", String::from_utf8_lossy(&output.stderr));
        if timed() {
            if i == 0 {
                println!("\nmemory at the peak, of a process that prepares one compiled gradient and calls it");
            }
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

/// Whether this process was started by [`report`].
pub(crate) fn is_child() -> bool {
    std::env::args().any(|argument| argument == CHILD)
}

/// The work of such a process.
pub(crate) fn child() {
    let arguments: Vec<String> = std::env::args().skip_while(|argument| argument != CHILD).skip(1).collect();
    let operations: usize = arguments[1].parse().expect("the second argument is a number");
    // As many inputs or steps as give that many operations.
    match &arguments[0][..] {
        "rosenbrock" => measure(|size| OfLength(Rosenbrock, size), operations),
        _ => measure(RandomGraph::new, operations),
    }
}

fn recorded<L: Loss>(loss: &L) -> usize {
    let graph = record(&loss.point(), &[], Limits::default(), |x, _, y| y.push(loss.value(x)));
    graph.expect("it is recorded").nodes().len()
}

fn measure<L: Loss>(of_size: impl Fn(usize) -> L, operations: usize) {
    let size = (operations as f64 / recorded(&of_size(2000)) as f64 * 2000.0) as usize;
    let loss = of_size(size);
    let x = loss.point();
    let (mut memory, mut expected) = (loss.memory(), vec![0.0; x.len()]);
    loss.by_hand(&mut memory, &mut expected, &x);
    let mut grad = vec![f64::NAN; x.len()];
    let before = megabytes();
    let start = timing::now();
    let f = AsFunction(&loss);
    let mut prepared = prepare_gradient(&f, &AutoReverseDiff::compiled(), &x).expect("the backend takes this point");
    let (time, after) = (timing::now() - start, megabytes());
    prepared.gradient_into(&mut grad, &x).expect("the point is the prepared one");
    check(&loss.name(), &grad, &expected, 1e-9);
    println!(
        "{:<24} {size} inputs or steps, about {operations} operations: prepared in {:.2} s, {before} MB before, {after} MB with the preparation, {} MB with a call",
        loss.name(),
        time.as_secs_f64(),
        megabytes()
    );
}

/// The peak memory of this process, where the system reports it.
fn megabytes() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.map_or("?".into(), |kilobytes| format!("{:.0}", kilobytes / 1e3))
}
