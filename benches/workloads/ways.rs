//! Ways to compute one gradient beside each other: compared with the first one, timed in turns, and held to the ratios asked for.

use crate::workloads::timing;
use std::hint::black_box;

/// Ways to compute one gradient, by name.
pub(crate) type Ways<'a> = Vec<(&'a str, Box<dyn FnMut(&mut [f64]) + 'a>)>;

/// What is asked: the time of a way is at most so many times that of another.
pub(crate) struct Asked<'a> {
    pub(crate) way: &'a str,
    pub(crate) over: &'a str,
    pub(crate) most: f64,
}

/// The ratios that were missed by more than a tenth.
#[derive(Default)]
pub(crate) struct Missed(Vec<String>);

impl Missed {
    /// Prints them. With the argument `--check` the program ends with an error if there are some.
    pub(crate) fn report(self) {
        if self.0.is_empty() {
            return;
        }
        println!("missed by more than a tenth:\n{}", self.0.join("\n"));
        if std::env::args().any(|argument| argument == "--check") {
            std::process::exit(1);
        }
    }

    /// Compares the gradients of all ways, then prints their times, their ratios to the first, and what is asked. Without the argument
    /// `--bench`, nothing is timed.
    pub(crate) fn compare(&mut self, title: &str, length: usize, mut ways: Ways<'_>, asked: &[Asked<'_>]) {
        let mut expected = vec![f64::NAN; length];
        ways[0].1(&mut expected);
        let size = expected.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
        for (name, way) in &mut ways[1..] {
            let mut found = vec![f64::NAN; length];
            way(&mut found);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-11 * size, "{title}, {name}: {found} and {expected}");
            }
        }
        if !std::env::args().any(|argument| argument == "--bench") {
            return;
        }
        let mut grads = vec![vec![0.0; length]; ways.len()];
        let names: Vec<_> = ways.iter().map(|(name, _)| *name).collect();
        let mut contenders: Vec<Box<dyn FnMut() + '_>> = Vec::new();
        for ((_, way), grad) in ways.iter_mut().zip(&mut grads) {
            contenders.push(Box::new(move || {
                way(grad);
                black_box(&mut *grad);
            }));
        }
        let samples = timing::measure(&mut contenders);
        println!("{title}");
        for (k, name) in names.iter().enumerate() {
            println!("    {name:<34} {:10.1} us   {:8.2}", samples.time(k) / 1e3, samples.ratio(k, 0));
        }
        for Asked { way, over, most } in asked {
            let [way_at, over_at] =
                [way, over].map(|name| names.iter().position(|other| other == name).expect("a way"));
            let ratio = samples.ratio(way_at, over_at);
            println!("    {way} over {over}: {ratio:.3}, asked {most}");
            if ratio > 1.1 * most {
                self.0.push(format!("{title}: {way} over {over}: {ratio:.3}, asked {most}"));
            }
        }
    }
}

/// A way to compute a gradient at a point by a backend, prepared.
macro_rules! by {
    ($backend:expr, $x:expr, $f:expr) => {
        by!(after 0 calls: $backend, $x, $f)
    };
    (after $calls:literal calls: $backend:expr, $x:expr, $f:expr) => {{
        let point = $x;
        let mut prepared = prepare_gradient(Box::new($f), &$backend, point).expect("it has a gradient");
        let calls: usize = $calls;
        for _ in 0..calls {
            prepared.gradient(point).expect("it has a gradient");
        }
        Box::new(move |grad: &mut [f64]| prepared.gradient_into(grad, point).expect("it has a gradient"))
    }};
}
pub(crate) use by;
