//! Benchmarks of machine code alone: compilation with a listing, and what the compiler settings cost and gain.

use crate::turns::{Contender, in_turns, median};
use crate::workloads::Random;
use compiled_trace::native::{Compiled, Options};
use compiled_trace::{Limits, Program, Recorded, compile, record};
use std::hint::black_box;
use std::time::Instant;

/// Compiles a program; reports the size of the code and the compile time per instruction, or why there is no code.
pub(crate) fn compiled(name: &str, program: &Program) -> (Option<Compiled<f64>>, String) {
    let directory = std::env::var("LISTING").ok();
    let mut options = Options::default();
    options.listing = directory.is_some();
    let native = match Compiled::<f64>::new(program, options) {
        Ok(native) => native,
        Err(refused) => return (None, refused.to_string()),
    };
    if let Some(directory) = directory {
        let write = |suffix: String, content: &[u8]| {
            std::fs::write(format!("{directory}/{name}.{suffix}"), content).expect("the directory is writable");
        };
        write("program".into(), program.to_string().as_bytes());
        for (i, function) in native.listing().iter().enumerate() {
            write(format!("{i}.clif"), function.text.as_bytes());
            write(format!("{i}.bin"), &function.code);
        }
    }
    let times = (0..if program.instruction_count() > 5000 { 1 } else { 7 }).map(|_| {
        let start = Instant::now();
        let compiled = Compiled::<f64>::new(program, options).expect("it became machine code before");
        start.elapsed().as_nanos() as f64 / compiled.instructions() as f64
    });
    let time = median(times.collect());
    let columns = format!("{:7}  {:10}  {time:18.0}", native.instructions(), native.bytes());
    (Some(native), columns)
}

/// Irregular code, which stays one long body: what the two compiler settings cost and gain.
pub(crate) fn settings() {
    println!(
        "operations  emitted  quickly ns/instruction  well ns/instruction  quick ns  well/quick  interpreter/quick"
    );
    [100, 300, 1_000, 2_000, 4_000, 10_000].into_iter().for_each(setting);
}

fn setting(operations: usize) {
    let mut random = Random::new(17);
    let x: Vec<f64> = (0..20).map(|_| random.unit()).collect();
    let mut f = |x: &[Recorded], y: &mut Vec<Recorded>| {
        let mut v = x.to_vec();
        for _ in 0..operations / 2 {
            let mut pick = || (random.unit() * 20.0) as usize;
            let (i, j, k) = (pick(), pick(), pick());
            v[i] = if random.unit() < 0.5 { v[j] * v[k] } else { v[j] + v[k] } * (0.5 + random.unit() * 0.4);
        }
        y.push(v.into_iter().sum());
    };
    let graph = record(&x, &[], Limits::default(), |x, _, y| f(x, y)).expect("the function is recorded");
    let program = compile(&graph).expect("it compiles").adjoint(1).expect("it has an adjoint");
    let compiled = [0, usize::MAX].map(|optimised| {
        let mut options = Options::default();
        options.optimised = optimised;
        let start = Instant::now();
        let compiled = Compiled::<f64>::new(&program, options).expect("it becomes machine code");
        (start.elapsed().as_nanos() as f64 / compiled.instructions() as f64, compiled)
    });
    let executable = program.executable();
    let mut memory = executable.workspace::<f64>();
    let (mut quick_memory, mut good_memory) = (compiled[0].1.workspace(), compiled[1].1.workspace());
    let (mut y, mut grad, mut quick_y, mut quick_grad, mut good_y, mut good_grad) =
        ([0.0], vec![0.0; 20], [0.0], vec![0.0; 20], [0.0], vec![0.0; 20]);
    let inputs: [&[f64]; 3] = [&x, &[], &[1.0]];
    let mut contenders: [Contender; 3] = [
        Box::new(|| {
            black_box(compiled[0].1.run(&mut quick_memory, &inputs, &mut [&mut quick_y, &mut quick_grad]).is_ok());
        }),
        Box::new(|| {
            black_box(compiled[1].1.run(&mut good_memory, &inputs, &mut [&mut good_y, &mut good_grad]).is_ok());
        }),
        Box::new(|| {
            black_box(executable.run(&mut memory, &inputs, &mut [&mut y, &mut grad]).is_ok());
        }),
    ];
    let (quick, ratios) = in_turns(&mut contenders);
    drop(contenders);
    assert!(y == quick_y && y == good_y && grad == quick_grad && grad == good_grad, "all add in the same order");
    println!(
        "{operations:10}  {:7}  {:21.0}  {:20.0}  {quick:8.0}  {:10.2}  {:17.2}",
        compiled[0].1.instructions(),
        compiled[0].0,
        compiled[1].0,
        ratios[0],
        ratios[1],
    );
}
