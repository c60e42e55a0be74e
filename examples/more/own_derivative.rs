//! Derivatives that another program and a formula on paper compute, as backends for `gradient`: the engines of the user.
//!
//! Run it: `cargo run -p differentiation-interface-examples --example own_derivative`. The program starts itself a second time as the server that
//! evaluates the model; in practice that is a legacy code, a simulator, or a script in another language.

use differentiation_interface::operators::GradientBackend;
use differentiation_interface::point::{At, Point, Slice};
use differentiation_interface::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A function whose author knows value and gradient: the one trait of this example for both engines.
trait KnownGradient {
    /// Returns the value at `x`, and writes the gradient.
    fn value_and_gradient(&self, x: &[f64], grad: &mut [f64]) -> Result<f64, ErrorKind>;
}

/// The backend for all such functions: one `impl`, and every variant of `gradient` works, prepared or not.
#[derive(Clone, Debug)]
struct Known;

/// The last value, and memory for the gradient of a call that needs the value alone.
type Memory = (f64, Vec<f64>);

impl<F: KnownGradient> GradientBackend<F, Slice<f64>, ()> for Known {
    const BACKEND: &'static str = "known";
    type State = Memory;

    fn unprepared<P: Point<Shape = Slice<f64>, Contexts = ()>>(&self, _: At<'_, P>) -> Result<Memory, Error> {
        Ok((f64::NAN, Vec::new()))
    }
    fn prepare<P: Point<Shape = Slice<f64>, Contexts = ()>>(
        &self,
        (_, memory): &mut Memory,
        _: &F,
        x: At<'_, P>,
    ) -> Result<(), Error> {
        memory.resize(x.coordinates().len(), 0.0);
        Ok(())
    }
    fn fill<P: Point<Shape = Slice<f64>, Contexts = ()>>(
        &self,
        (value, _): &mut Memory,
        f: &F,
        x: At<'_, P>,
        _with_value: bool,
        grad: &mut [f64],
    ) -> Result<(), Error> {
        *value = f.value_and_gradient(x.coordinates(), grad).map_err(|kind| named::<F>(kind))?;
        Ok(())
    }
    fn evaluate<P: Point<Shape = Slice<f64>, Contexts = ()>>(
        &self,
        (value, memory): &mut Memory,
        f: &F,
        x: At<'_, P>,
        y: &mut Vec<f64>,
    ) -> Result<(), Error> {
        memory.resize(x.coordinates().len(), 0.0);
        *value = f.value_and_gradient(x.coordinates(), memory).map_err(|kind| named::<F>(kind))?;
        y.clear();
        y.push(*value);
        Ok(())
    }
    fn value((value, _): &Memory) -> f64 {
        *value
    }
}

/// Names the operator in an error.
fn named<F: KnownGradient>(kind: ErrorKind) -> Error {
    Error::new(kind).during("gradient", <Known as GradientBackend<F, Slice<f64>, ()>>::BACKEND)
}

/// Σ k xᵢ² / 2 with the gradient k x, on paper.
struct Springs {
    stiffness: f64,
}

impl KnownGradient for Springs {
    fn value_and_gradient(&self, x: &[f64], grad: &mut [f64]) -> Result<f64, ErrorKind> {
        for (grad, x) in grad.iter_mut().zip(x) {
            *grad = self.stiffness * x;
        }
        Ok(x.iter().map(|x| 0.5 * self.stiffness * x * x).sum())
    }
}

/// A model in another program: a line with the point goes in, a line with value and gradient comes back.
struct Simulator {
    pipes: Mutex<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

impl Simulator {
    fn start(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Simulator { pipes: Mutex::new((child, input, BufReader::new(output))) }),
            _ => Err(std::io::Error::other("the process has no pipes")),
        }
    }
    fn pipes(&self) -> MutexGuard<'_, (Child, ChildStdin, BufReader<ChildStdout>)> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn ask(&self, x: &[f64]) -> std::io::Result<Vec<f64>> {
        let (_, input, output) = &mut *self.pipes();
        // `{:?}` of an `f64` reads back as the same number.
        let point: Vec<String> = x.iter().map(|x| format!("{x:?}")).collect();
        writeln!(input, "{}", point.join(" "))?;
        input.flush()?;
        let mut answer = String::new();
        output.read_line(&mut answer)?;
        answer.split_whitespace().map(|word| word.parse().map_err(std::io::Error::other)).collect()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let (child, ..) = &mut *self.pipes();
        // It has no more to do, whether or not it still runs.
        let _ = child.kill().and_then(|()| child.wait());
    }
}

impl KnownGradient for Simulator {
    /// An answer of another length, or none, is an error of the call; the next call asks again.
    fn value_and_gradient(&self, x: &[f64], grad: &mut [f64]) -> Result<f64, ErrorKind> {
        let answer = self.ask(x).unwrap_or_default();
        match answer.split_first() {
            Some((value, rest)) if rest.len() == grad.len() => {
                grad.copy_from_slice(rest);
                Ok(*value)
            }
            _ => Err(ErrorKind::OutputLength { expected: x.len() + 1, found: answer.len() }),
        }
    }
}

/// The server: Rosenbrock's function and its gradient, a line for a line. At a point with a NaN it answers nothing of use.
fn serve() -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let x: Vec<f64> = line?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if x.iter().any(|x| x.is_nan()) {
            println!("no");
            continue;
        }
        let (mut value, mut grad) = (0.0, vec![0.0; x.len()]);
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            value += a * a + 100.0 * b * b;
            grad[i] += -2.0 * a - 400.0 * x[i] * b;
            grad[i + 1] += 200.0 * b;
        }
        let words: Vec<String> = std::iter::once(&value).chain(&grad).map(|v| format!("{v:?}")).collect();
        println!("{}", words.join(" "));
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().any(|argument| argument == "--serve") {
        return Ok(serve()?);
    }

    // A formula on paper, in every variant.
    let springs = Springs { stiffness: 3.0 };
    assert_eq!(gradient(&springs, &Known, &[1.0, 2.0])?, [3.0, 6.0]);
    assert_eq!(value_and_gradient(&springs, &Known, &[1.0, 2.0])?, (7.5, vec![3.0, 6.0]));
    let mut prepared = prepare_gradient(&springs, &Known, &[0.0, 0.0])?;
    let mut grad = [0.0; 2];
    assert_eq!(prepared.value_and_gradient_into(&mut grad, &[2.0, -1.0])?, 7.5);
    assert_eq!((grad, prepared.value(&[2.0, 0.0])?), ([6.0, -3.0], 6.0));
    println!("{}", prepared.gradient(&[1.0]).expect_err("the length differs"));

    // Another program.
    let simulator = Arc::new(Simulator::start(Command::new(std::env::current_exe()?).arg("--serve"))?);
    let x = [-1.2, 1.0, 0.5];
    let mut prepared = prepare_gradient(&*simulator, &Known, &x)?;
    let (value, grad) = prepared.value_and_gradient(&x)?;
    fn rosenbrock<T: Real>(x: &[T]) -> T {
        x.windows(2).map(|w| (1.0 - w[0]).powi(2) + 100.0 * (w[1] - w[0] * w[0]).powi(2)).sum()
    }
    let (expected, exact) = value_and_gradient(&|x: &[_]| rosenbrock(x), &AutoForwardDiff::default(), &x)?;
    assert!((value / expected - 1.0).abs() < 1e-14);
    assert!(grad.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-12 * b.abs().max(1.0)));
    // An answer that is none is an error of this call; the next one is right.
    println!("{}", prepared.gradient(&[f64::NAN, 1.0, 1.0]).expect_err("the program refuses this point"));
    assert_eq!(prepared.gradient(&[1.0, 1.0, 1.0])?, [0.0, 0.0, 0.0]);

    // As the inner part of a Hessian: differences of the gradients.
    let gradients = {
        let simulator = Arc::clone(&simulator);
        move |x: &[f64]| gradient(&*simulator, &Known, x).unwrap_or_else(|_| vec![f64::NAN; x.len()])
    };
    let hess = jacobian(&gradients, &AutoFiniteDiff::central(), &[1.0, 1.0, 1.0])?;
    let exact = [[802.0, -400.0, 0.0], [-400.0, 1002.0, -400.0], [0.0, -400.0, 200.0]];
    println!("Hessian at the minimum: {hess:.3?}");
    for (i, row) in exact.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            assert!((hess[(i, j)] - entry).abs() < 1e-4);
        }
    }

    // As a part of a model that every backend differentiates: a rule whose pullback is this gradient.
    let (values, pullbacks) = (Arc::clone(&simulator), Arc::clone(&simulator));
    let rule = PlainRule::new("simulator", move |x: &[f64], y: &mut Vec<f64>| {
        y.clear();
        y.push(value_and_gradient(&*values, &Known, x).map_or(f64::NAN, |(value, _)| value));
    })
    .with_pullback(move |x: &[f64], _y: &[f64], dy: &[f64], dx: &mut [f64]| {
        match gradient_into(&*pullbacks, dx, &Known, x) {
            Ok(()) => dx.iter_mut().for_each(|entry| *entry *= dy[0]),
            Err(_) => dx.fill(f64::NAN),
        }
    });
    let simulated = Custom::new(rule);
    // exp(-f(x²)): a change of variables before, a function after the other program.
    fn around<T: Real>(x: &[T], f: impl Fn(&[T]) -> T) -> T {
        let squares: Vec<T> = x.iter().map(|&x| x * x).collect();
        (-f(&squares)).exp()
    }
    let x = [1.1_f64, 0.9];
    let exact = gradient(&|x: &[_]| around(x, rosenbrock), &AutoForwardDiff::default(), &x)?;
    let forward = gradient(&|x: &[_]| around(x, |s| simulated.number(s)), &AutoForwardDiff::default(), &x)?;
    let reverse = gradient(&|x: &[_]| around(x, |s| simulated.number(s)), &AutoReverseDiff::default(), &x)?;
    for grad in [&forward, &reverse] {
        let grad: &Vec<f64> = grad;
        assert!(grad.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs()), "{grad:?} {exact:?}");
    }
    println!("all numbers agree");
    Ok(())
}
