//! Times a scenario with a backend, until the kit does.

use differentiation_interface_test::table::{Row, Table};
use differentiation_interface_test::{At, Call, Candidate, Driver, Facts, Task, Variant};
use std::time::Instant;

pub(crate) struct Measure<'a> {
    pub(crate) seconds: f64,
    pub(crate) table: &'a mut Table,
}

fn sample(seconds: f64, row: &mut Row, mut work: impl FnMut(usize) -> Result<(), String>) {
    let mut evals = 1;
    let result = (|| {
        loop {
            let start = Instant::now();
            work(evals)?;
            let elapsed = start.elapsed().as_secs_f64();
            if elapsed > (seconds / 30.0).min(1e-3) {
                break;
            }
            evals *= 2;
        }
        let mut times = Vec::new();
        let begin = Instant::now();
        while times.len() < 3 || begin.elapsed().as_secs_f64() < seconds {
            let start = Instant::now();
            work(evals)?;
            times.push(start.elapsed().as_secs_f64() / evals as f64);
        }
        times.sort_by(f64::total_cmp);
        Ok::<_, String>(times)
    })();
    match result {
        Ok(times) => {
            let at = |q: f64| times[((times.len() - 1) as f64 * q).round() as usize];
            (row.time, row.median, row.quantile_10, row.quantile_90) = (at(0.0), at(0.5), at(0.1), at(0.9));
            (row.samples, row.evals) = (times.len(), evals);
        }
        Err(error) => row.error = Some(error),
    }
}

impl Task for Measure<'_> {
    fn drive(&mut self, backend: &dyn Candidate, facts: &Facts, driver: &mut dyn Driver) {
        let new = |variant: Variant, prepared| Row {
            prepared,
            size: facts.inputs,
            ..Row::new(backend.label(), &facts.scenario, facts.operator, variant.entry(facts.operator))
        };
        for variant in [Variant::ValueAnd, Variant::Plain] {
            for call in [Call::Prepared, Call::OneShot] {
                let mut row = new(variant, Some(call == Call::Prepared));
                let _ = driver.prepare(At::Point, 1);
                let before = driver.calls();
                let _ = driver.call(call, variant, At::Point);
                row.calls = Some((driver.calls() - before) as f64);
                sample(self.seconds, &mut row, |n| driver.repeat(call, variant, n).map_err(|e| e.to_string()));
                self.table.rows.push(row);
            }
        }
        let mut row = new(Variant::Plain, None);
        sample(self.seconds, &mut row, |n| driver.prepare(At::Point, n).map_err(|e| e.to_string()));
        self.table.rows.push(row);
    }
    fn skip(&mut self, _: &dyn Candidate, _: &str, _: &'static str, _: &str) {}
}
