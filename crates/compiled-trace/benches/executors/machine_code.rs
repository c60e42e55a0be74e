//! Benchmarks of machine code alone: what making it costs, with a listing, and irregular code.

use crate::turns::{Contender, in_turns};
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
            write(format!("{i}.code"), function.text.as_bytes());
            write(format!("{i}.bin"), &function.code);
        }
    }
    let time = time_per_instruction(program, options);
    let columns = format!("{:7}  {:10}  {time:18.0}", native.instructions(), native.bytes());
    (Some(native), columns)
}

/// Least time to make machine code, per instruction of intermediate code. Every program has another constant that nothing uses, because code
/// of the same program is made once.
fn time_per_instruction(program: &Program, options: Options) -> f64 {
    let times = (0..7).map(|i| {
        let mut program = program.clone();
        program.constants.push(i as f64);
        let start = Instant::now();
        let compiled = Compiled::<f64>::new(&program, options).expect("it became machine code before");
        start.elapsed().as_nanos() as f64 / compiled.instructions() as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Irregular code, which stays one long body: what machine code costs and gains.
pub(crate) fn irregular() {
    println!("operations  emitted  compile ns/emitted  native ns  interpreter/native");
    [100, 300, 1_000, 2_000, 4_000, 10_000].into_iter().for_each(irregular_of);
}

fn irregular_of(operations: usize) {
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
    let compiled = Compiled::<f64>::new(&program, Options::default()).expect("it becomes machine code");
    let time = time_per_instruction(&program, Options::default());
    let executable = program.executable();
    let mut memory = executable.workspace::<f64>();
    let mut native_memory = compiled.workspace();
    let (mut y, mut grad, mut native_y, mut native_grad) = ([0.0], vec![0.0; 20], [0.0], vec![0.0; 20]);
    let inputs: [&[f64]; 3] = [&x, &[], &[1.0]];
    let mut contenders: [Contender; 2] = [
        Box::new(|| {
            black_box(compiled.run(&mut native_memory, &inputs, &mut [&mut native_y, &mut native_grad]).is_ok());
        }),
        Box::new(|| {
            black_box(executable.run(&mut memory, &inputs, &mut [&mut y, &mut grad]).is_ok());
        }),
    ];
    let (native, ratios) = in_turns(&mut contenders);
    drop(contenders);
    assert!(y == native_y && grad == native_grad, "both add in the same order");
    println!("{operations:10}  {:7}  {time:18.0}  {native:9.0}  {:18.2}", compiled.instructions(), ratios[0]);
}
