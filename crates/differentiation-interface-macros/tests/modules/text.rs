//! `#[differentiable] mod`: text beside active numbers: labels made from them, data read from other text.

use crate::dual::agrees;
use differentiation_interface_macros::differentiable;

both! {
    // Labels and maps made from active numbers, and data read from other text.
    mod labelled {
        use std::collections::HashMap;
        use std::fmt::Write;

        const DATA: &str = "1.0, 2.5\n0.5, -3.0";

        #[derive(Clone)]
        pub struct Sample {
            name: String,
            value: f64,
        }

        impl Sample {
            fn new(name: &str, value: f64) -> Sample {
                Sample { name: name.to_owned() + "!", value }
            }

            fn label(&self) -> String {
                format!("{} = {:.2}", self.name, self.value)
            }

            fn number(&self) -> f64 {
                self.name.trim_matches(|c: char| !c.is_numeric()).parse().unwrap_or(1.0)
            }
        }

        fn rows(text: &str) -> Vec<Vec<f64>> {
            text.lines().map(|line| line.split(',').map(|word| word.trim().parse().unwrap()).collect()).collect()
        }

        fn checked(x: f64) -> Result<f64, String> {
            if x < -1e9 { Err(format!("{x} is too small")) } else { Ok(x.sqrt()) }
        }

        fn log(text: &mut String, x: f64) {
            writeln!(text, "at {x:.3}").unwrap();
            text.push_str(&x.to_string());
        }

        pub fn energy(x: &[f64]) -> f64 {
            let mut report = String::with_capacity(100);
            let samples = [Sample::new("first 2", x[0]), Sample::new("second", x[1])];
            let mut total = 0.0;
            let mut by_name: HashMap<String, f64> = HashMap::new();
            for (row, sample) in rows(DATA).iter().zip(&samples) {
                log(&mut report, sample.value);
                report += &sample.label();
                total += row[0] * sample.value * sample.number() + row[1] * checked(x[0]).unwrap_or(0.0);
                by_name.insert(format!("{}-{}", sample.name, row[0]), sample.value * x[1]);
            }
            let words: Vec<String> = samples.iter().map(|s| s.label()).collect();
            let joined = words.join("; ");
            let kind = match samples[1].name.as_str() {
                "second!" => 2.0,
                _ => 0.0,
            };
            total + kind * by_name["second!-0.5"] * x[0] + (joined.len() + report.lines().count()) as f64
        }
    }
}

#[test]
fn labels_are_made_from_active_numbers_and_data_is_read_from_other_text() {
    agrees(labelled::Energy, plain::labelled::energy, [1.5, 1.2]);
    agrees(labelled::Energy, plain::labelled::energy, [0.25, -0.7]);
}
